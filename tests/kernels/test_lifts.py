"""Functions of a kernel, and kernels of functions of a point."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, NoFeatureMap, NotAKernel, NotSmooth
from mercer.testing import check_kernel

g, p, line = mc.Gaussian(0.7), mc.Polynomial(2), mc.Linear()


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 3))


def all_slopes(kernel, X):
    skipped = check_kernel(kernel, X[:6]).skipped
    return not [law for law in skipped if "slope" in law]


# ------------------------------------------------------------------------------ exponential


def test_exp(X):
    np.testing.assert_allclose(line.exp()(X), np.exp(line(X)), rtol=1e-12)
    np.testing.assert_allclose(line.exp().diagonal(X), np.exp(line.diagonal(X)), rtol=1e-15)
    assert all_slopes((line + g).exp(), X)


def test_exp_that_overflows_is_an_error_and_its_normalized_form_is_not():
    X = np.array([[0.0], [30.0], [31.0], [-30.0]])
    with pytest.raises(InvalidInput, match=r"overflows.*row 1"):
        line.exp()(X)
    K = line.exp().normalized()(X)
    np.testing.assert_allclose(K, mc.Gaussian()(X), rtol=1e-10, atol=1e-300)
    for sure in (
        line.exp().exp().normalized(),
        (line.exp() + 1).normalized(),
        line.exp().exp(),
    ):
        with pytest.raises(InvalidInput, match="overflows"):
            sure(X)
    on = line.on(0).exp().normalized()
    np.testing.assert_allclose(on(X), K)
    np.testing.assert_allclose(line.exp().normalized().normalized()(X), K)
    np.testing.assert_allclose(line.exp().on(0).normalized()(X), K)


def test_a_part_that_overflows_is_found_inside_what_does_not():
    X = np.array([[1.0], [100.0]])
    large = line.exp()
    for kernel in (
        mc.Schoenberg(1.0, large),
        g + mc.Schoenberg(1.0, large),
        2 * mc.Schoenberg(1.0, large) ** 2,
        mc.series(large, (1.0,)),
        mc.series(large, (1.0,)).on(0) * g,
        mc.Schoenberg(1.0, large).exp().weighted(np.sum),
        g.map(lambda x: x) + mc.Schoenberg(1.0, large).map(lambda x: x),
    ):
        for call in (kernel, kernel.distance, kernel.diagonal, lambda Z, k=kernel: k(Z, X[:1])):
            with pytest.raises(InvalidInput, match="overflows"):
                call(X)


def test_exp_of_the_linear_kernel_is_the_gaussian_when_normalized(X):
    np.testing.assert_allclose((line / 0.49).exp().normalized()(X), g(X), rtol=1e-11)


# ----------------------------------------------------------------------------------- series


def test_series(X):
    L = line(X)
    np.testing.assert_allclose(
        mc.series(line, (1.0, 2.0, 1.0))(X), (1 + L) ** 2, rtol=1e-12, atol=1e-12
    )
    assert (mc.series(line, (3.0,))(X) == 3).all()
    np.testing.assert_allclose(mc.series(line, (0.0, 0.0, 0.5))(X), L**2 / 2, atol=1e-14)
    taylor = [1 / math.factorial(n) for n in range(30)]
    np.testing.assert_allclose(mc.series(g, taylor)(X), g.exp()(X), rtol=1e-14)
    assert all_slopes(mc.series(line + g, (0.5, 0.0, 2.0)), X)
    assert (
        mc.series(line, [1, 2])
        == mc.Series((1.0, 2.0), line)
        == mc.series(line, np.array([1.0, 2.0]))
    )


def test_features_of_a_series(X):
    for coefficients in ((1.0, 2.0, 1.0), (0.0, 1.0), (2.0,), (0.0, 0.0, 0.0, 0.5)):
        kernel = mc.series(line, coefficients)
        phi = kernel.features(X)
        np.testing.assert_allclose(phi @ phi.T, kernel(X), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "wrong", [(), (1.0, -1e-300), (float("nan"),), (float("inf"), 1.0), ("a",)]
)
def test_series_with_wrong_coefficients(wrong):
    with pytest.raises(InvalidParameter):
        mc.series(line, wrong)


# ------------------------------------------------------------------------------- normalized


def test_normalized(X):
    norms = np.sqrt(p.diagonal(X))
    np.testing.assert_allclose(p.normalized()(X), p(X) / np.outer(norms, norms), rtol=1e-13)
    assert (p.normalized()(X).diagonal() == 1).all()
    assert all_slopes(p.normalized(), X)
    assert all_slopes((2 * g + line).normalized(), X)
    phi = p.normalized().features(X)
    np.testing.assert_allclose(phi @ phi.T, p.normalized()(X), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_zero_features_are_like_themselves_and_unlike_others(form):
    X = form(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]]))
    kernel = line.normalized()
    r = 0.5**0.5
    wanted = [[1, 0, 1, 0], [0, 1, 0, r], [1, 0, 1, 0], [0, r, 0, 1]]
    np.testing.assert_allclose(kernel(X), wanted)
    np.testing.assert_allclose(kernel(X, X.copy()), wanted)
    with pytest.raises(NoFeatureMap):
        kernel.features(X)
    with pytest.raises(NotSmooth, match="k\\(x, x\\) = 0"):
        kernel.gradient(X)
    with pytest.raises(NotSmooth, match="k\\(x, x\\) = 0"):
        (2 * line).normalized().parameter_gradient(X)
    check_kernel(kernel, X)


def test_points_that_differ_where_features_vanish():
    K = (0 * line).normalized()([[1.0], [2.0], [1.0]])
    assert K.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]


def test_zeros_over_many_tiles(rng):
    X = rng.integers(0, 2, size=(1300, 2)).astype(float)
    K = line.normalized()(X)
    np.testing.assert_allclose(K, line.normalized()(X, X.copy()), rtol=1e-15)
    np.testing.assert_array_equal(K, K.T)


def test_normalizing_twice_is_normalizing_once(X):
    np.testing.assert_allclose(p.normalized().normalized()(X), p.normalized()(X), rtol=1e-14)
    np.testing.assert_allclose(g.normalized()(X), g(X), rtol=1e-14)


# ------------------------------------------------------------------------------- schoenberg


def test_schoenberg(X):
    np.testing.assert_allclose(mc.Schoenberg(0.5, line)(X), mc.Gaussian()(X), rtol=1e-13)
    np.testing.assert_allclose(
        mc.Schoenberg(2.0, p)(X), np.exp(-2 * p.distance(X) ** 2), rtol=1e-9, atol=1e-12
    )
    assert all_slopes(mc.Schoenberg(0.3, p + g), X)
    assert mc.Schoenberg(1, line) == mc.Schoenberg(1.0, line)
    assert "conditionally negative definite" in str(mc.Schoenberg(1.0, line).proof())


def test_schoenberg_of_equal_points_is_exactly_one(rng):
    X = 1e3 + rng.normal(size=(300, 3))
    for inner in (line, p, line + g, 3 * p, line**3, mc.Exponential() * line):
        assert (mc.Schoenberg(5.0, inner)(X).diagonal() == 1).all()


@pytest.mark.parametrize("rate", [0, -1.0, float("nan"), float("inf"), "1", None, True])
def test_schoenberg_needs_a_positive_rate(rate):
    with pytest.raises(InvalidParameter):
        mc.Schoenberg(rate, line)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rate", [1e-300, 1e-40, 1e40, 1e300])
def test_schoenberg_of_extreme_rates(rate, dtype):
    X = np.array([[0.0], [1.0], [0.0]], dtype)
    K = mc.Schoenberg(rate, line)(X)
    assert K[0, 2] == 1
    assert K[0, 1] == (0 if rate > 1 else 1)


# ------------------------------------------------------------- weights, maps, parts of points


def test_weighted(X):
    def weight(x):
        return np.exp(-x[0]) - 1

    f = np.array([weight(x) for x in X])
    kernel = p.weighted(weight)
    np.testing.assert_allclose(kernel(X), np.outer(f, f) * p(X), rtol=1e-12)
    np.testing.assert_allclose(kernel(X, X[:3]), np.outer(f, f[:3]) * p(X, X[:3]), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X), f**2 * p.diagonal(X), rtol=1e-12)
    phi = kernel.features(X)
    np.testing.assert_allclose(phi @ phi.T, kernel(X), rtol=1e-9, atol=1e-12)
    check_kernel(kernel, X)
    check_kernel(g.weighted(weight), X.astype(np.float32))


def test_map():
    words = ["kernel", "Mercer", "", "aaa", "kernel"]
    kernel = mc.Gaussian(2.0).map(lambda word: [len(word), word.count("e")])
    check_kernel(kernel, words)
    assert kernel.pair("kernel", "Mercer") == 1.0
    nested = (mc.Jaccard() + mc.SetPower()).map(set)
    check_kernel(nested, words)
    assert nested.pair("aaa", "a") == 3.0
    twice = mc.Linear().map(lambda n: [n]).map(len)
    assert twice.pair("abc", "ab") == 6.0
    assert "pullback" in str(kernel.proof())


def test_on_positions(X):
    kernel = mc.Gaussian((1.0, 2.0)).on(2, 0)
    np.testing.assert_allclose(kernel(X), mc.Gaussian((1.0, 2.0))(X[:, [2, 0]]))
    np.testing.assert_allclose(kernel(sp.csr_array(X)), kernel(X), atol=2.0**-40)
    both = kernel + line.on(1)
    assert all_slopes(both, X)
    slope = kernel.gradient(X)
    assert (slope[:, :, 1] == 0).all()
    assert kernel.replace(columns=(0, 1)) == mc.Gaussian((1.0, 2.0)).on(0, 1)
    product = g.on(0) * g.on(1) * g.on(2)
    np.testing.assert_allclose(product(X), g(X), rtol=1e-12)
    np.testing.assert_allclose((line.on(0) + line.on(1) + line.on(2))(X), line(X), atol=1e-14)


TABLE = {"age": [30.0, 40.0, 30.0], "city": ["Oslo", "Rome", "Oslo"], "height": [1.7, 1.8, 1.6]}


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame,
     lambda t: [dict(zip(t, row, strict=True)) for row in zip(*t.values(), strict=True)]],
)  # fmt: skip
def test_on_names(make):
    table = make(TABLE)
    kernel = mc.Gaussian(10.0).on("age") + mc.Delta().on("city") * line.on("height")
    age, height = np.array(TABLE["age"]), np.array(TABLE["height"])
    same = np.array(TABLE["city"])[:, None] == np.array(TABLE["city"])
    wanted = np.exp(-((age[:, None] - age) ** 2) / 200) + same * np.outer(height, height)
    np.testing.assert_allclose(kernel(table), wanted, rtol=1e-13)
    check_kernel(kernel, table)
    with pytest.raises(NotSmooth, match="table"):
        g.on("age").gradient(table)
    several = mc.Gaussian((10.0, 0.1)).on("age", "height")
    np.testing.assert_allclose(
        several(table), mc.Gaussian((10.0, 0.1))(np.stack([age, height], 1))
    )


def test_columns_are_what_the_kernel_says():
    with pytest.raises(InvalidInput, match="there is no column 'town'"):
        mc.Delta().on("town")(TABLE)
    with pytest.raises(InvalidInput, match="column 3"):
        line.on(3)(np.zeros((2, 3)))
    assert str(line.on("a", "b")) == "linear.on('a', 'b')"
    assert line.on("age").on("age") == line.on("age").on("age")


FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})


@pytest.mark.parametrize("kernel", [line, mc.Min(), mc.Delta(), g + line], ids=str)
@pytest.mark.parametrize("frame", [FRAME, FRAME.assign(c=["x", "y"])], ids=["numbers", "mixed"])
def test_positions_are_the_same_columns_on_both_sides(kernel, frame):
    first = kernel.on(0)
    with pytest.raises(InvalidInput, match="'a' in one table and 'b' in the other"):
        first(frame, frame[["b", *frame.columns.drop("b")]])
    np.testing.assert_array_equal(first(frame, frame.copy()), first(frame))
    np.testing.assert_array_equal(first(frame, FRAME.to_numpy()), first(frame))


def test_sets_at_positions():
    X = np.array([[1, 0, 9], [1, 1, 9]])
    wanted = [[1.0, 0.5], [0.5, 1.0]]
    kernel = mc.Jaccard().on(0, 1)
    names = {"a": X[:, 0], "b": X[:, 1]}
    assert kernel(X).tolist() == kernel(sp.csr_array(X)).tolist() == wanted
    assert kernel(pd.DataFrame(names)).tolist() == kernel(names).tolist() == wanted
    assert mc.Jaccard().on("a", "b")(names).tolist() == wanted
    check_kernel(kernel, X)


MIXED = pd.DataFrame([[1.0, "x"], [2.0, "y"], [1.0, "y"]])


@pytest.mark.parametrize(
    "table",
    [
        MIXED,
        MIXED.rename(columns={0: "age", 1: "city"}),
        pl.DataFrame({"age": [1.0, 2.0, 1.0], "city": ["x", "y", "y"]}),
        MIXED.to_numpy(),
        {0: [1.0, 2.0, 1.0], 1: ["x", "y", "y"]},
        [{"age": 1.0, "city": "x"}, {"age": 2.0, "city": "y"}, {"age": 1.0, "city": "y"}],
        MIXED.rename(columns=str).to_records(index=False),
    ],
    ids=["frame", "named", "polars", "array", "dict", "rows", "structured"],
)
def test_positions_in_a_table(table):
    kernel = mc.Gaussian().on(0) + mc.Delta().on(1)
    bell = np.exp(-0.5)
    wanted = [[2, bell, 1], [bell, 2, 1 + bell], [1, 1 + bell, 2]]
    np.testing.assert_allclose(kernel(table), wanted, rtol=1e-15)
    check_kernel(kernel, table)
    with pytest.raises(InvalidInput, match="there is no column 2"):
        g.on(2)(table)


def test_positions_and_names_together():
    table = {"age": [1.0, 2.0], "city": ["x", "x"]}
    both = g.on(0) + mc.Delta().on("city")
    np.testing.assert_array_equal(both(table), g.on("age")(table) + 1)
    numbers = line.on(0) + line  # all of it: a vector
    np.testing.assert_array_equal(numbers(FRAME), [[11, 19], [19, 33]])
    np.testing.assert_array_equal(line.on(0).gradient(FRAME)[0, 0], [1, 0])
    assert line.on(0)(FRAME.to_numpy(np.float32)).dtype == np.float32


@pytest.mark.parametrize("make", [np.array, pd.DataFrame])
def test_large_ids_at_positions(make):
    ids = [[2**60, 1], [2**60 + 1, 1]]  # one float
    np.testing.assert_array_equal(mc.Delta().on(0)(make(ids)), np.eye(2))
    np.testing.assert_array_equal(line.on(1)(make(ids)), np.ones((2, 2)))


def test_a_number_that_names_one_column_and_counts_to_another():
    table = {1: [1.0, 2.0], 0: ["x", "y"]}
    with pytest.raises(InvalidInput, match="called 0 or the one at position 0"):
        mc.Delta().on(0)(table)
    np.testing.assert_array_equal(mc.Delta().on(7)({7: ["x", "y"]}), np.eye(2))


ROWS = pd.DataFrame({"age": [30.0, 31.0], "city": ["Oslo", "Rome"]}, index=["p", "q"])


def test_rows_of_a_frame_are_points():
    kernel = g.on("age") + mc.Delta().on("city")
    first, second = (row for _, row in ROWS.iterrows())
    assert kernel.pair(first, second) == kernel(ROWS)[0, 1]
    np.testing.assert_array_equal(mc.section(kernel, ROWS.iloc[0])(ROWS), kernel(ROWS)[0])
    np.testing.assert_array_equal(kernel([second, dict(first)], ROWS), kernel(ROWS)[::-1])
    whole = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    same = mc.Delta().on("a", "b")
    assert same(whole, [whole.iloc[1]]).tolist() == [[0], [1]]


def test_tables_whose_columns_stand_in_another_order():
    back = FRAME[["b", "a"]]
    for kernel in (line.map(lambda x: x[:1]), line.weighted(lambda x: x[0]),
                   mc.Bias().weighted(lambda x: x[0])):  # fmt: skip
        with pytest.raises(InvalidInput, match="'a' in one table and 'b' in the other"):
            kernel(FRAME, back)
        np.testing.assert_array_equal(kernel(FRAME, FRAME.copy()), kernel(FRAME))
    with pytest.raises(InvalidInput, match="rows of 2 and of 1 columns"):
        line.map(lambda x: x[:1])(FRAME, FRAME[["a"]])


def test_functions_of_a_sparse_row_get_an_array():
    X = np.array([[1.0, 0.0], [2.0, 3.0]])
    for kernel in (line.map(lambda x: [x[1]]), line.weighted(lambda x: x[1] + x.sum())):
        np.testing.assert_array_equal(kernel(sp.csr_array(X)), kernel(X))


def test_facts_of_lifts():
    assert g.exp().is_strict
    assert line.exp().is_strict
    assert not mc.Polynomial(2, 0).exp().is_strict
    assert g.normalized().is_stationary
    assert g.on(0).is_stationary
    assert not g.on(0).is_isotropic
    assert not g.on(0).is_strict
    assert mc.Schoenberg(1.0, line).is_strict
    assert not g.map(lambda x: x).is_stationary
    with pytest.raises(NotAKernel):
        line.normalized() ** 0.5
    (line.exp() ** 0.5).proof().check()


# ------------------------------------------------------------------ digits that would be lost


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Schoenberg(0.5, line),
        mc.Schoenberg(0.25, 2 * line),
        mc.Schoenberg(0.5, mc.Linear(np.eye(2))),
        mc.Schoenberg(0.5, line.on(0) + line.on(1)),
        mc.Schoenberg(0.5, line + mc.Bias()),
        line.exp().normalized(),
    ],
    ids=str,
)
def test_gaussians_of_features_on_a_cluster_far_away(rng, kernel, form):
    X = 1e6 + rng.normal(size=(20, 2))
    gaps = X[:, None] - X
    exact = np.exp(-(gaps**2).sum(axis=-1) / 2)
    K = kernel(form(X))
    assert np.abs(K - exact).max() <= 1e-9
    assert np.linalg.eigvalsh(K)[0] >= -1e-12
    assert (K.diagonal() == 1).all()


def test_the_cosine_of_vectors_whose_squares_vanish():
    X = np.array([[1e-200, 0.0], [2e-200, 0.0], [1e-160, 1e-160], [0.0, 0.0]])
    half = 0.5**0.5
    exact = [[1, 1, half, 0], [1, 1, half, 0], [half, half, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(line.normalized()(X), exact, rtol=1e-12)
    np.testing.assert_allclose(line.normalized()(1e200 * X[:3] * 1e200)[0, 2], half)
    for power in (mc.Polynomial(2, 0.0), mc.Polynomial(1, 0.0) ** 3, mc.Polynomial(3, 0.0)):
        cosines = power.normalized()(X[:3])
        degree = getattr(power, "degree", None) or power.exponent
        np.testing.assert_allclose(cosines, np.array(exact)[:3, :3] ** degree, rtol=1e-12)
    with pytest.raises(InvalidInput, match="underflows"):
        (mc.Linear() * mc.Linear()).normalized()(1e-80 * np.ones((2, 2)))


def test_a_function_that_is_no_kernel_has_no_cosine():
    with pytest.raises(NotAKernel, match=r"k\(x, x\) = -1\.0 < 0"):
        mc.from_function(lambda x, y: -1.0).normalized()([[1.0], [2.0]])


def test_weights_keep_the_type_of_the_kernel(X):
    kernel, points = g.weighted(lambda x: 0.1), X.astype(np.float32)
    assert kernel.diagonal(points).dtype == np.float32
    np.testing.assert_array_equal(kernel(points).diagonal(), kernel.diagonal(points))
    with pytest.raises(InvalidInput, match="overflows"):
        g.weighted(lambda x: 1e30)(points)


def test_weights_are_real():
    with pytest.raises(InvalidInput, match="not real"):
        g.weighted(lambda x: np.complex128(1j))([[1.0]])


def test_a_series_needs_coefficients():
    with pytest.raises(InvalidParameter, match="coefficients"):
        mc.Series(5, line)


def test_columns_are_plain_values():
    assert g.on(np.int64(1)) == g.on(1)
    assert repr(g.on(np.str_("age"))) == repr(g.on("age"))
    for wrong in (5.5, None, True):
        with pytest.raises(InvalidParameter):
            mc.Column(wrong, g)


@pytest.mark.parametrize("size", [1e-3, 1e-1, 1.0, 30.0])
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Linear() ** 1000,
        mc.Polynomial(1000, offset=0.0),
        mc.Polynomial(300, offset=0.5, scale=0.1),
        3 * mc.Linear() ** 7,
        (mc.Linear() + mc.Gaussian()) ** 400,
    ],
    ids=str,
)
def test_normalised_powers_neither_overflow_nor_underflow(rng, kernel, size):
    points = size * (1 + 1e-2 * rng.normal(size=(5, 2)))
    points[3] = -points[0]
    K = kernel.normalized()(points)
    power, base = (
        (kernel.degree, kernel.replace(degree=1))
        if isinstance(kernel, mc.Polynomial)
        else (kernel.exponent, kernel.kernel)
        if isinstance(kernel, mc.Power)
        else (7, mc.Linear())
    )
    once, own = base(points), base.diagonal(points)
    wanted = (once / np.sqrt(np.outer(own, own))) ** power
    # A few roundings of the cosine, times the power.
    np.testing.assert_allclose(K, wanted, rtol=0, atol=power * 2.0**-48)
    assert (K.diagonal() == 1).all()
    assert np.linalg.eigvalsh(K)[0] > -5 * power * 2.0**-48


def test_features_that_overflow_are_told():
    for kernel in (mc.Polynomial(200), mc.Polynomial(200).normalized(), mc.Linear() ** 200):
        with pytest.raises(InvalidInput, match="overflows"):
            kernel.features([[100.0]])
