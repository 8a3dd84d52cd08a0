"""Kernels for data with gaps."""

import pickle

import hypothesis.extra.numpy as hnp
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer as mc
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter
from mercer.testing import check_kernel

NAN = float("nan")
GAPPY = np.array([[1.0, NAN], [NAN, NAN], [3.0, 2.0], [1.0, 5.0]])

points = hnp.arrays(
    float, st.tuples(st.integers(1, 8), st.just(2)), elements=st.floats(-3, 3) | st.just(NAN)
)


def by_hand(kernel, fill, X, Y):
    """Fill each point, then compare each pair."""

    def filled(x):
        return [f if np.isnan(a) else a for a, f in zip(x, fill, strict=True)]

    return np.array([[kernel.pair(filled(x), filled(y)) for y in Y] for x in X])


@settings(max_examples=50, deadline=None)
@given(points, points)
def test_a_gap_counts_as_the_number_that_fills_it(X, Y):
    inner = mc.Gaussian((0.5, 2.0)) + mc.Linear()
    kernel = mc.Filled((1.0, -2.0), inner)
    # Both compute the same expression, up to the rounding of sums of a few terms below 25.
    np.testing.assert_allclose(kernel(X, Y), by_hand(inner, (1.0, -2.0), X, Y), atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(points)
def test_no_eigenvalue_is_negative(X):
    kernel = mc.Filled(0.5, mc.Exponential()) * mc.Schoenberg(0.3, mc.Missing())
    K = kernel(X)
    assert (K == K.T).all()
    # Rounding moves an eigenvalue by at most n eps times the trace n.
    assert np.linalg.eigvalsh(K)[0] >= -(len(X) ** 2) * np.finfo(float).eps


def test_one_number_fills_every_feature():
    one, each = mc.Filled(2.0, mc.Linear()), mc.Filled((2.0, 2.0), mc.Linear())
    assert (one(GAPPY) == each(GAPPY)).all()


def test_without_gaps_nothing_changes():
    X = np.arange(6.0).reshape(3, 2)
    assert (mc.Filled(9.0, mc.Matern(1.5))(X) == mc.Matern(1.5)(X)).all()


@pytest.mark.parametrize(
    "column", [[1.0, None, NAN, 2.0], ["a", None, NAN, "b"], [(1,), None, NAN, (2,)]]
)
def test_gaps_are_alike_and_so_are_points_that_are_there(column):
    wanted = np.array([[1, 0, 0, 1], [0, 1, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    table = pd.DataFrame({"a": pd.Series(column, dtype=object)})
    assert (mc.Missing().on("a")(table) == wanted).all()


def test_the_features_of_missing_give_its_values():
    kernel = mc.Missing()
    phi = kernel.features(["a", None, "b"])
    assert (phi @ phi.T == kernel(["a", None, "b"])).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_of_any_table_may_have_gaps(make):
    table = make(
        {"age": [30.0, None, 50.0], "size": [1.0, 2.0, None], "city": ["x", "y", None]}
    )
    kernel = mc.Filled((40.0, 0.0), mc.Gaussian(10.0)).on("age", "size")
    wanted = mc.Gaussian(10.0)([[30.0, 1.0], [40.0, 2.0], [50.0, 0.0]])
    assert (kernel(table) == wanted).all()


def test_a_kernel_that_fills_no_gaps_still_refuses_them():
    table = pd.DataFrame({"age": [30.0, NAN]})
    with pytest.raises(InvalidInput, match=r"'age' has 1 of 2 values missing.*row 1"):
        mc.Gaussian().on("age")(table)


def test_text_proof_and_pickle():
    kernel = mc.Filled((1.0, 2.5), mc.Gaussian((1.0, 3.0))).on("a", "b") * mc.Schoenberg(
        0.3, 0.5 * mc.Missing().on("a") + mc.Delta().on("c")
    )
    assert mc.kernel(str(kernel)) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    kernel.proof().check()
    assert {"unit", "infinitely divisible"} <= kernel.proof().facts
    assert not kernel.is_strict  # a gap and the number that fills it are one point to a part


def test_check_kernel_agrees():
    check_kernel(mc.Missing(), ["a", None, "b", None])
    check_kernel(mc.Filled(0.5, mc.Gaussian()), [[0.0, 1.0], [2.0, 0.5]])


def test_a_gap_cannot_move():
    kernel = mc.Filled((1.0, 2.0), mc.Gaussian(1.5))
    slope = kernel.gradient(GAPPY)
    assert (slope[1] == 0).all()
    step = 1e-6
    move = np.array([step, 0.0])
    change = (kernel(GAPPY + move, GAPPY) - kernel(GAPPY - move, GAPPY)) / (2 * step)
    # Central differences: the error is step^2 over 6 times a third derivative below 3, and
    # rounding over the step.
    np.testing.assert_allclose(slope[..., 0], change, atol=1e-9)


@pytest.mark.parametrize("fill", [(), NAN, float("inf"), "0", (1.0, None)])
def test_what_fills_is_a_number(fill):
    with pytest.raises(InvalidParameter, match="Filled"):
        mc.Filled(fill, mc.Gaussian())


def test_what_fills_must_fit_the_points():
    with pytest.raises(InvalidInput, match="fills 3 features, and the points have 2"):
        mc.Filled((1.0, 2.0, 3.0), mc.Gaussian())(GAPPY)


def test_only_a_kernel_on_vectors_can_be_filled():
    with pytest.raises(DomainMismatch, match="sets"):
        mc.Filled(0.0, mc.Jaccard())


def test_infinity_is_no_gap():
    with pytest.raises(InvalidInput, match="infinite"):
        mc.Filled(0.0, mc.Gaussian())([[np.inf, 1.0]])


def test_the_domain_keeps_what_the_kernel_asks_for():
    with pytest.raises(InvalidInput, match=r"[Nn]egative"):
        mc.Filled(0.0, mc.Chi2())([[-1.0, NAN]])
