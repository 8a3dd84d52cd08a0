"""What a table is made of."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import Records, Sets, Vectors
from mercer.selection.parts import FAMILIES, parts_of

NAN = float("nan")


def test_means_and_spreads_are_weighted_and_of_what_is_there(rng):
    values = rng.normal(size=20)
    values[4] = NAN
    weights = rng.uniform(0.5, 2, 20)
    table = pd.DataFrame({"x": values, "c": list("ab") * 10})
    numbers = parts_of(Records().encode(table), weights).numbers
    there = np.arange(20) != 4
    mean = np.average(values[there], weights=weights[there])
    spread = np.sqrt(np.average((values[there] - mean) ** 2, weights=weights[there]))
    assert numbers.fills[0] == pytest.approx(mean, rel=1e-12)
    assert numbers.spreads[0] == pytest.approx(spread, rel=1e-12)
    assert numbers.values[4, 0] == numbers.fills[0]


def test_what_is_left_out_says_why():
    table = pd.DataFrame(
        {"x": [1.0, 2, 3], "one": 5.0, "same": "s", "none": NAN, "id": ["a", "b", "c"]}
    )
    parts = parts_of(Records().encode(table), np.ones(3))
    assert dict(parts.ignored) == {
        "one": "constant",
        "same": "constant",
        "none": "nothing but gaps",
        "id": "different in every row",
    }
    assert parts.moving == 1


def test_a_number_that_is_there_or_not_is_compared_even_if_it_never_moves():
    table = pd.DataFrame({"x": [7.0, NAN, 7.0], "y": [1.0, 2.0, 3.0]})
    parts = parts_of(Records().encode(table), np.ones(3))
    assert [(part.name, part.leaf) for part in parts.compared] == [("x", mc.Missing())]


@pytest.mark.parametrize("family", FAMILIES)
def test_all_lengths_are_alike_at_the_start(rng, family):
    X = rng.normal(size=(30, 4)) * [1.0, 10.0, 1e-3, 1e5]
    parts = parts_of(Vectors().encode(X), np.ones(30))
    scale = np.array(parts.kernel(family, parts.start(family, 0.0)).scale) / X.std(axis=0)
    # Four digits of each length are kept.
    np.testing.assert_allclose(scale, scale[0], rtol=1e-3)
    doubled = np.array(parts.kernel(family, parts.start(family, 1.0)).scale) / X.std(axis=0)
    np.testing.assert_allclose(doubled, 2 * scale, rtol=1e-3)


def test_the_gaussian_of_a_table_is_that_of_its_ones_and_zeros(rng):
    table = pd.DataFrame(
        {"a": rng.normal(size=12), "b": rng.normal(size=12), "c": list("xyz") * 4}
    )
    parts = parts_of(Records().encode(table), np.ones(12))
    kernel = parts.kernel("gaussian", parts.start("gaussian", 0.0))
    scaled = table[["a", "b"]].to_numpy() / table[["a", "b"]].std(ddof=0).to_numpy()
    hot = np.stack([table.c == level for level in "xyz"], axis=1).astype(float)
    # Three columns, so the length is sqrt(3) spreads and the rate is 1/3: labels that differ
    # give exp(-2/3), as columns of zeros and sqrt(2) do. Four digits are kept of each.
    points = np.hstack([scaled, np.sqrt(2) * hot]) / np.sqrt(3)
    np.testing.assert_allclose(kernel(table), mc.Gaussian()(points), atol=2e-4)


def test_sparse_columns_and_other_points():
    matrix = sp.random(10, 5, 0.5, random_state=0, format="csr")
    parts = parts_of(Records().encode({"words": matrix, "x": np.arange(10.0)}), np.ones(10))
    assert [part.leaf for part in parts.compared] == [mc.Linear()]
    variances = matrix.toarray().var(axis=0).sum()
    assert parts.compared[0].unit == pytest.approx(2 * variances, rel=1e-9)
    assert parts_of(Sets().encode([{1}, {2}]), np.ones(2)) is None
