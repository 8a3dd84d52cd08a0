"""Batches one after the other hold the points of both, whatever the points are."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import (
    REALS,
    Anything,
    Categories,
    DenseBatch,
    Records,
    Sets,
    SparseBatch,
    Vectors,
)
from mercer.errors import InvalidInput
from mercer.functions.batches import concatenate, merge

PARTS = {
    "numbers": (REALS, [1.0, 2.0], [2.0, 3.0]),
    "vectors": (Vectors(), [[1.0, 2.0]], [[3.0, 4.0], [1.0, 2.0]]),
    "sparse": (Vectors(), sp.csr_array([[0.0, 1.0]]), sp.csr_array([[1.0, 0.0], [0.0, 1.0]])),
    "sets": (Sets(), [{"a", "c"}, set()], [{"b"}, {"c", "a"}]),
    "indicators": (Sets(), np.array([[1, 0], [0, 0]]), np.array([[1, 1]])),
    "categories": (Categories(), ["red", None], ["blue", "red", "green"]),
    "objects": (Anything(), ["x", (1, 2)], [[1.0], "x"]),
    "records": (
        Records(),
        {"age": [1.0, np.nan], "pet": ["cat", "dog"]},
        {"pet": ["eel"], "age": [3.0]},
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_the_points_of_both_in_order(name):
    domain, first, second = PARTS[name]
    A, B = domain.encode(first), domain.encode(second)
    both = concatenate(A, B)
    assert type(both) is type(A)
    assert len(both) == len(A) + len(B)
    # Equality of points is the same as between the parts.
    whole, (left, right) = both.identify()[0], A.identify(B)
    np.testing.assert_array_equal(whole, np.concatenate([left, right]))
    # And they are the points themselves.
    labels = both.identify(A, B)
    np.testing.assert_array_equal(labels[0], np.concatenate(labels[1:]))


@pytest.mark.parametrize("kernel", [mc.Gaussian(), mc.Linear()])
def test_dense_and_sparse_vectors(kernel, rng):
    X = rng.normal(size=(4, 3)) * (rng.random((4, 3)) < 0.5)
    dense, sparse = Vectors().encode(X[:2]), Vectors().encode(sp.csr_array(X[2:]))
    for both in (
        concatenate(dense, sparse),
        concatenate(sparse, dense)[np.array([2, 3, 0, 1])],
    ):
        assert isinstance(both, SparseBatch)
        # The same numbers by another loop.
        np.testing.assert_allclose(kernel.square(both), kernel(X), rtol=0, atol=1e-14)


def test_names_of_columns_stay_where_they_agree():
    A = DenseBatch(np.ones((1, 2)), ("a", "b"))
    assert concatenate(A, A).columns == ("a", "b")
    assert concatenate(A, DenseBatch(np.ones((1, 2)))).columns is None


def test_the_more_precise_type_wins():
    A, B = DenseBatch(np.ones((1, 1), np.float32)), DenseBatch(np.ones((1, 1)))
    assert concatenate(A, A).values.dtype == np.float32
    assert concatenate(A, B).values.dtype == np.float64


def test_sets_of_different_universes():
    A, B = Sets().encode([{1, "x"}]), Sets().encode([{2}, {"x"}])
    assert concatenate(A, B).raw() == [{1, "x"}, {2}, {"x"}]


def test_a_column_of_two_kinds_is_read_again():
    A = Records().encode({"age": [1.0, 2.0]})
    B = Records().encode({"age": [True, False]})  # labels, for lack of other numbers
    k = mc.Gaussian().on("age")
    together = k({"age": [1.0, 2.0, 1.0, 0.0]})
    np.testing.assert_array_equal(k.square(concatenate(A, B)), together)


def test_points_of_two_kinds_are_objects():
    both = concatenate(Anything().encode(["a"]), Vectors().encode([[1.0, 2.0]]))
    assert len(both) == 2
    assert both.raw()[0] == "a"


def test_what_does_not_fit():
    with pytest.raises(InvalidInput, match="coordinates"):
        concatenate(Vectors().encode([[1.0]]), Vectors().encode([[1.0, 2.0]]))
    with pytest.raises(InvalidInput, match="columns"):
        concatenate(Records().encode({"a": [1]}), Records().encode({"b": [1]}))


def test_merging_adds_up_and_keeps_the_order():
    batch = REALS.encode([3.0, 1.0, 3.0, 2.0, 1.0])
    once, sums = merge(batch, np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    np.testing.assert_array_equal(once.values[:, 0], [3.0, 1.0, 2.0])
    np.testing.assert_array_equal(sums, [5.0, 18.0, 8.0])


def test_merging_leaves_alone_what_it_cannot_tell_apart():
    class Odd:
        __hash__ = None

        def __reduce__(self):
            raise TypeError

    batch = Anything().encode([Odd(), Odd()])
    once, sums = merge(batch, np.ones(2))
    assert once is batch
    assert len(sums) == 2


def test_dense_and_sparse_columns():
    A, B = (Records().encode({"x": x}) for x in (np.eye(2), sp.csr_array(np.eye(2))))
    assert isinstance(concatenate(A, B).columns["x"], SparseBatch)


def test_rows_of_tables_keep_the_names_of_their_columns():
    frame = pd.DataFrame({"a": [1], "b": ["x"]})
    A = Anything().encode(frame)
    assert concatenate(A, A).columns == ("a", "b")
    assert concatenate(A, Anything().encode([(2, "y")])).columns is None
    with pytest.raises(InvalidInput, match="'a' in one table"):
        concatenate(A, Anything().encode(frame[["b", "a"]]))
