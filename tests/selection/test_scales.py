"""Which kernel, when none is given."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import Categories, Records, Sets, Vectors, distinct
from mercer.errors import InvalidType
from mercer.selection.scales import start, subset, tune

NAN = float("nan")


def chance():
    return np.random.RandomState(0)


def found(table, y, weights=None):
    """The kernel for a table, tuned."""
    points = Records().encode(table)
    weights = np.ones(len(points)) if weights is None else weights
    targets = np.asarray(y, dtype=float).reshape(len(points), -1)
    return tune(start(points, weights).kernel, points, targets, weights, chance())


def people(rng, rows=60):
    return pd.DataFrame(
        {
            "age": rng.normal(40, 10, rows),
            "income": rng.lognormal(10, 1, rows),
            "city": rng.choice(["Oslo", "Rome", "Bonn"], rows),
            "owner": rng.random(rows) < 0.5,
        }
    )


def test_units_do_not_matter(rng):
    X = rng.normal(size=(50, 3))
    y = np.sin(X[:, :1]) + X[:, 1:2]
    units = np.array([1e-6, 1.0, 1e9])
    ones = np.ones(50)
    plain, scaled = (
        tune(start(points, ones).kernel, points, y, ones, chance())
        for points in map(Vectors().encode, (X, (X + 5) * units))
    )
    assert type(plain) is type(scaled)
    # Four digits are kept, and the search may end a hair apart.
    np.testing.assert_allclose(np.array(scaled.scale) / units, plain.scale, rtol=2e-2)


@pytest.mark.parametrize("task", ["smooth", "rough"])
def test_the_error_is_no_larger_than_that_of_any_common_factor(rng, task):
    X = rng.normal(size=(80, 2))
    y = np.sin(2 * X[:, 0]) if task == "smooth" else np.sign(X[:, 0]) + np.sign(X[:, 1])
    auto = mc.KernelRidge().fit(X, y).loo_errors_.min()
    by_hand = [
        mc.KernelRidge(mc.Gaussian(tuple(f * X.std(axis=0)))).fit(X, y).loo_errors_.min()
        for f in (0.5, 1.0, 2.0, 4.0)
    ]
    assert auto <= min(by_hand) * 1.05  # the prior on the lengths may cost a little


def test_a_kernel_for_each_kind_of_column(rng):
    table = people(rng)
    table.loc[4, "age"] = NAN
    table["likes"] = [set(rng.choice(4, 2).tolist()) for _ in range(60)]
    kernel = found(table, rng.normal(size=60))
    text = str(kernel)
    assert text.startswith("filled(")
    assert ".on('age', 'income')" in text
    for part in (
        "missing.on('age')",
        "delta.on('city')",
        "delta.on('owner')",
        "jaccard.on('likes')",
    ):
        assert part in text
    assert mc.kernel(text) == kernel
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    kernel.proof().check()
    assert not kernel.is_assumed


def test_columns_that_tell_nothing_are_left_out(rng):
    table = people(rng)
    table["one"], table["same"], table["none"] = 3.0, "x", NAN
    table["nothing"] = None
    table["id"] = [f"user {k}" for k in range(60)]
    text = str(found(table, rng.normal(size=60)))
    for name in ("one", "same", "none", "nothing", "id"):
        assert f"'{name}'" not in text


@pytest.mark.parametrize("value", [3.0, "x", None, NAN, True])
def test_a_table_that_tells_nothing_has_the_constant_kernel(value):
    table = pd.DataFrame({"a": [value] * 5, "b": [1.0] * 5})
    model = mc.KernelRidge().fit(table, np.arange(5.0))
    # All rows are one point, and its prediction is the mean.
    np.testing.assert_allclose(model.predict(table), 2.0)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_few_rows_are_enough(rows):
    table = pd.DataFrame({"a": np.arange(rows) + 0.5, "c": list("xyz")[:rows]})
    assert np.isfinite(mc.KernelRidge().fit(table, np.arange(rows)).predict(table)).all()


def test_a_constant_target_changes_nothing(rng):
    points, ones = Vectors().encode(rng.normal(size=(20, 2))), np.ones(20)
    chosen = start(points, ones).kernel
    assert tune(chosen, points, np.full((20, 1), 1e9), ones, chance()) == chosen


def test_a_constant_feature_gets_a_length_like_the_others(rng):
    X = rng.normal(size=(40, 3))
    X[:, 1] = 7.0
    points, ones = Vectors().encode(X), np.ones(40)
    kernel = tune(start(points, ones).kernel, points, X[:, :1], ones, chance())
    assert min(kernel.scale) <= kernel.scale[1] <= max(kernel.scale)


def test_weights_are_repetition(rng):
    table = people(rng, 40)
    table.loc[3, "age"] = NAN
    y = rng.normal(size=40)
    times = rng.integers(0, 3, 40)
    rows = np.repeat(np.arange(40), times)
    weighted = mc.KernelRidge().fit(table, y, sample_weight=times)
    repeated = mc.KernelRidge().fit(table.iloc[rows].reset_index(drop=True), y[rows])
    assert weighted.kernel_ == repeated.kernel_


def test_the_order_of_rows_does_not_matter(rng):
    table, y = people(rng), rng.normal(size=60)
    order = rng.permutation(60)
    first = mc.KernelRidge().fit(table, y).kernel_
    second = mc.KernelRidge().fit(table.iloc[order].reset_index(drop=True), y[order]).kernel_
    assert first == second


def test_one_seed_gives_one_kernel_where_rows_are_drawn(rng, monkeypatch):
    monkeypatch.setattr("mercer.selection.scales.ROWS", 60)
    X, ones = rng.normal(size=(200, 2)), np.ones(200)
    points, y = Vectors().encode(X), np.sin(X[:, :1])
    chosen = start(points, ones).kernel
    first, second, other = (
        tune(chosen, points, y, ones, np.random.RandomState(seed)) for seed in (3, 3, 4)
    )
    assert first == second
    assert first != other


def test_vectors_without_gaps_get_a_plain_kernel_with_gradients(rng):
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    model = mc.KernelRidge().fit(frame, frame.a)
    assert model.kernel_.domain == Vectors()
    assert not model.kernel_.children()


def test_sparse_rows_and_sets_have_a_start(rng):
    matrix = sp.random(30, 8, 0.3, random_state=1, format="csr")
    model = mc.KernelRidge().fit(matrix, rng.normal(size=30))
    assert len(model.kernel_.scale) == 8
    assert start(Sets().encode([{1}, {2}]), np.ones(2)).kernel == mc.Jaccard()
    assert start(Categories().encode(["a", "b"]), np.ones(2)).kernel == mc.Delta()


def test_columns_without_texts_for_names_are_read_by_position(rng):
    frame = pd.DataFrame({0: rng.normal(size=30), 1: list("ab") * 15})
    kernel = found(frame, frame[0])
    assert "on(0)" in str(kernel)
    assert "on(1)" in str(kernel)


def test_what_has_no_kernel_is_named(rng):
    table = people(rng, 5)
    table["when"] = pd.date_range("2020-01-01", periods=5)
    with pytest.raises(InvalidType, match=r"'when' holds[^\n]*\n[^\n]*days since"):
        found(table, np.arange(5.0))


@pytest.mark.parametrize("unit", [1e-100, 1e-6, 1.0, 1e100])
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_no_scale_is_too_small_or_too_large_and_no_offset_too_far(rng, unit, offset):
    X = unit * (offset + rng.normal(size=(30, 1)))
    table = pd.DataFrame({"x": X[:, 0], "c": list("abc") * 10})
    assert "on('x')" in str(start(Records().encode(table), np.ones(30)).kernel)
    (length,) = np.atleast_1d(start(Vectors().encode(X), np.ones(30)).kernel.scale)
    assert 0.5 < length / unit < 2


def test_a_subset_is_drawn_without_replacement_and_sorted():
    rows = subset(100, chance(), 30)
    assert len(set(rows.tolist())) == 30
    assert (np.diff(rows) > 0).all()
    assert (subset(5, chance(), 30) == np.arange(5)).all()


def test_distinct_points_are_what_is_described(rng):
    # Repeated labels merge: an identifier of each distinct row is still one.
    once = distinct(Records().encode({"id": ["a", "b", "c", "a"], "x": [1.0, 2.0, 3.0, 1.0]}))
    kernel = start(once.points, once.weights).kernel
    assert "'id'" not in str(kernel)
