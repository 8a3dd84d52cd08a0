"""The theorems about an RKHS, tested on functions of every kind of kernel."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mercer as mc
from mercer.errors import (
    DomainMismatch,
    InvalidInput,
    InvalidParameter,
    InvalidType,
    NoFeatureMap,
    NotPositiveDefinite,
    NotSmooth,
)
from mercer.functions import expansion


def draw(case, rng, count=9):
    kernel, points = case
    return mc.Function(kernel, points(rng, count), rng.normal(size=count))


# The reproducing property and the inner product


def test_reproducing_property(case, rng, slack):
    f, x = draw(case, rng), case[1](rng, 4)
    for at, value in enumerate(f(x)):
        K_x = mc.section(f.kernel, x[at])
        assert abs(f @ K_x - value) <= slack(f, K_x)


def test_sections_have_kernel_values_as_inner_products(case, rng, slack):
    kernel, points = case
    x, y = points(rng, 2)
    K_x, K_y = mc.section(kernel, x), mc.section(kernel, y)
    assert K_x @ K_y == pytest.approx(kernel.pair(x, y), abs=slack(K_x, K_y))
    assert K_x([y])[0] == pytest.approx(kernel.pair(x, y), abs=slack(K_x, K_y))
    assert (K_x - K_y).norm() == pytest.approx(kernel.distance([x], [y])[0, 0], abs=1e-6)


def test_inner_product_is_the_plain_double_sum(case, rng, slack):
    f, g = draw(case, rng, 5), draw(case, rng, 7)
    X, Y = f.anchors.raw(), g.anchors.raw()
    terms = (
        a * b * f.kernel.pair(x, y)
        for a, x in zip(f.coefficients, X, strict=True)
        for b, y in zip(g.coefficients, Y, strict=True)
    )
    assert abs(f @ g - sum(terms)) <= slack(f, g)
    assert abs(f @ g - g @ f) <= 2 * slack(f, g)


def test_inner_product_is_bilinear(case, rng, slack):
    f, g, h = (draw(case, rng) for _ in range(3))
    left, right = (2 * f - 3 * g) @ h, 2 * (f @ h) - 3 * (g @ h)
    assert abs(left - right) <= 2 * (2 * slack(f, h) + 3 * slack(g, h))


# Independence of the expansion


def test_an_expansion_with_repeated_anchors_is_the_same_function(case, rng, slack, blur):
    kernel, points = case
    X, c, g = points(rng, 6), rng.normal(size=6), draw(case, rng)
    f = mc.Function(kernel, X, c)
    twice = mc.Function(kernel, [*X, *X], np.concatenate([0.3 * c, 0.7 * c]))
    assert abs(f @ g - twice @ g) <= 2 * slack(f, g)
    assert f.distance(twice) <= blur(f) + blur(twice)
    # Equal anchors are merged, so nothing is left but the rounding of 0.3 c + 0.7 c.
    assert np.abs((f - twice).coefficients).max() <= 4e-16 * np.abs(c).sum()


@pytest.mark.parametrize("kernel", [mc.Linear(), mc.Polynomial(degree=2, offset=1.0)])
def test_a_null_vector_of_the_gram_matrix_is_the_zero_function(kernel, rng, slack, blur):
    X = rng.normal(size=(10, 2))  # the spaces have 2 and 6 dimensions
    _, vectors = np.linalg.eigh(kernel(X))
    epsilon = vectors[:, 0]
    zero = mc.Function(kernel, X, epsilon)
    assert zero.norm() <= blur(zero)
    f, g = mc.Function(kernel, X, rng.normal(size=10)), mc.Function(kernel, X[:3], np.ones(3))
    same = mc.Function(kernel, X, f.coefficients + epsilon)
    assert abs(f @ g - same @ g) <= slack(f, g) + slack(same, g)
    new = rng.normal(size=(5, 2))
    room = slack(f, mc.Function(kernel, new, np.ones(5))) * 2
    np.testing.assert_allclose(same(new), f(new), rtol=0, atol=room)


def test_dependent_sections_of_the_linear_kernel():
    k = mc.Linear()
    f = mc.section(k, [1.0, 2.0])
    g = mc.Function(k, [[1.0, 0.0], [0.0, 1.0], [5.0, 5.0]], [1.0, 2.0, 0.0])
    assert f.distance(g) == 0.0
    assert f.norm() == g.norm() == np.sqrt(5)


# The norm controls the function


def test_values_are_bounded_by_the_norm(case, rng, slack):
    f, X = draw(case, rng), case[1](rng, 20)
    bound = f.norm() * np.sqrt(f.kernel.diagonal(X))
    room = max(slack(f, mc.section(f.kernel, x)) for x in X)
    assert (np.abs(f(X)) <= bound + room).all()


def test_the_norm_is_a_lipschitz_constant_in_the_metric_of_the_kernel(case, rng, slack):
    f, X = draw(case, rng), case[1](rng, 15)
    values = f(X)
    slopes = np.abs(values[:, None] - values)
    room = 2 * max(slack(f, mc.section(f.kernel, x)) for x in X)
    assert f.lipschitz() == f.norm()
    assert (slopes <= f.lipschitz() * f.kernel.distance(X) * (1 + 1e-12) + room).all()


def test_a_section_attains_both_bounds():
    # |f(x)| <= ||f|| sqrt(k(x, x)) holds with equality for f = K_x, and the slope between x
    # and y for f = K_x - K_y.
    k, x, y = mc.Gaussian(), [0.0, 1.0], [2.0, 0.0]
    K_x, K_y = mc.section(k, x), mc.section(k, y)
    assert K_x([x])[0] == K_x.norm() == 1.0
    f = K_x - K_y
    # A few roundings of numbers of size 1.
    assert f([x])[0] - f([y])[0] == pytest.approx(f.norm() * k.distance([x], [y])[0, 0], 1e-14)


def test_convergence_in_the_space_is_convergence_at_every_point(case, rng, slack):
    f, g, X = draw(case, rng), draw(case, rng), case[1](rng, 10)
    length = np.sqrt(f.kernel.diagonal(X))
    room = 2 * max(slack(f + g, mc.section(f.kernel, x)) for x in X)
    for n in range(0, 20, 4):
        member = f + g / 2.0**n
        apart = member.distance(f)
        # f.distance merges equal anchors, so what is left is g / 2^n, without cancellation.
        assert apart == pytest.approx(g.norm() / 2**n, rel=1e-6, abs=np.sqrt(room) * 2e-5)
        assert (np.abs(member(X) - f(X)) <= apart * length + room).all()


@given(
    hnp.arrays(float, (6, 2), elements=st.floats(-3, 3, width=32)),
    hnp.arrays(float, 6, elements=st.floats(-100, 100, width=32)),
    st.sampled_from([mc.Gaussian(0.5), mc.Laplacian(), mc.Polynomial(2), mc.Exponential()]),
)
def test_cauchy_schwarz(X, c, k):
    f, g = mc.Function(k, X[:4], c[:4]), mc.Function(k, X[2:], c[2:])
    sizes = [np.abs(h.coefficients) @ np.sqrt(k.diag(h.anchors)) for h in (f, g)]
    # Each norm and the product are off by 2^-38 of the sizes (see conftest), the norms as
    # squares: sqrt(a + e) <= sqrt(a) + sqrt(e).
    blur = [np.sqrt(2.0**-38) * size for size in sizes]
    assert abs(f @ g) <= (f.norm() + blur[0]) * (g.norm() + blur[1])
    assert (f + g).norm() <= f.norm() + g.norm() + 2 * sum(blur)


def test_a_kernel_that_is_none_has_no_norm():
    wrong = mc.from_function(lambda x, y: float(max(x, y)))
    f = mc.Function(wrong, [1.0, 2.0], [1.0, -1.0])  # 1 - 2 * 2 + 2 = -1
    with pytest.raises(NotPositiveDefinite, match="-1"):
        f.norm()


# The vector space


def test_the_operations_are_those_of_functions(case, rng):
    f, g, X = draw(case, rng), draw(case, rng), case[1](rng, 5)
    # Sums of the same terms in another order.
    close = {"rtol": 1e-12, "atol": 1e-12 * np.abs(f.coefficients).sum() * 1e2}
    np.testing.assert_allclose((f + g)(X), f(X) + g(X), **close)
    np.testing.assert_allclose((f - g)(X), f(X) - g(X), **close)
    np.testing.assert_allclose(sum([f, g])(X), (f + g)(X), **close)
    for scaled, factor in (
        (2 * f, 2),
        (f * 2, 2),
        (np.float64(2) * f, 2),
        (-f, -1),
        (f / 2, 0.5),
    ):
        np.testing.assert_array_equal(scaled(X), factor * f(X))  # exact: powers of two


def test_parallelogram_law(case, rng, slack):
    f, g = draw(case, rng), draw(case, rng)
    left = (f + g).norm() ** 2 + (f - g).norm() ** 2
    right = 2 * f.norm() ** 2 + 2 * g.norm() ** 2
    # Four squared norms of functions of at most the size of both together.
    assert abs(left - right) <= 4 * (slack(f, f) + 2 * slack(f, g) + slack(g, g))


def test_equal_anchors_are_merged_when_functions_are_added(rng):
    k, X = mc.Gaussian(), rng.normal(size=(5, 2))
    f, g = mc.Function(k, X, rng.normal(size=5)), mc.Function(k, X[::-1], rng.normal(size=5))
    total = f + g
    np.testing.assert_array_equal(total.anchors.values, X)
    np.testing.assert_array_equal(total.coefficients, f.coefficients + g.coefficients[::-1])
    assert len((total + f + g - f).anchors) == 5
    assert (f - f).norm() == 0.0
    assert (f + (g - f) - g).norm() <= 1e-15 * np.abs(f.coefficients).sum()


def test_several_outputs_are_several_functions(rng):
    k, X = mc.Gaussian(), rng.normal(size=(8, 2))
    c, d = rng.normal(size=(8, 3)), rng.normal(size=(8, 2))
    F, G = mc.Function(k, X, c), mc.Function(k, X[::-1], d)
    f = [mc.Function(k, X, column) for column in c.T]
    g = [mc.Function(k, X[::-1], column) for column in d.T]
    new = rng.normal(size=(4, 2))
    # The same sums, grouped in another way.
    close = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(F(new), np.column_stack([h(new) for h in f]), **close)
    np.testing.assert_allclose(F @ G, [[a @ b for b in g] for a in f], **close)
    np.testing.assert_allclose(F @ g[0], [a @ g[0] for a in f], **close)
    np.testing.assert_allclose(g[0] @ F, [g[0] @ a for a in f], **close)
    np.testing.assert_allclose(F.norm(), [a.norm() for a in f], **close)
    np.testing.assert_allclose(F.distance(2 * F), F.norm(), **close)
    np.testing.assert_allclose(
        F.gradient(new), np.stack([h.gradient(new) for h in f], axis=-1), **close
    )
    np.testing.assert_allclose(F @ mc.section(k, new[0]), F(new[:1])[0], **close)
    assert F.project(new).coefficients.shape == (4, 3)
    assert F.compress(3).coefficients.shape == (3, 3)


# Gradient


@pytest.mark.parametrize(
    "kernel", [mc.Gaussian(0.8), mc.Polynomial(3), mc.Matern(2.5), mc.Linear() * mc.Gaussian()]
)
def test_gradient_is_that_of_finite_differences(kernel, rng):
    f = mc.Function(kernel, rng.normal(size=(6, 2)), rng.normal(size=6))
    X, h = rng.normal(size=(4, 2)), 1e-5
    for axis, step in enumerate(h * np.eye(2)):
        slope = (f(X + step) - f(X - step)) / (2 * h)
        # Third derivatives of order 100 times h^2, and rounding 1e-14 / h.
        np.testing.assert_allclose(f.gradient(X)[:, axis], slope, rtol=0, atol=2e-7)


def test_gradient_in_pieces_is_the_same(rng, monkeypatch):
    f = mc.Function(mc.Gaussian(), rng.normal(size=(30, 2)), rng.normal(size=30))
    X = rng.normal(size=(11, 2))
    whole = f.gradient(X)
    monkeypatch.setattr(expansion, "PAIRS", 7)
    # The same 30 terms of size 1 in another order.
    np.testing.assert_allclose(f.gradient(X), whole, rtol=0, atol=1e-13)


def test_a_kernel_with_a_cusp_has_no_gradient():
    with pytest.raises(NotSmooth):
        mc.section(mc.Exponential(), [0.0]).gradient([[1.0]])


# Projection: the proof of the representer theorem


def test_projection_and_pythagoras(case, rng, blur):
    f, anchors = draw(case, rng, 12), case[1](rng, 5)
    inside = f.project(anchors)
    outside = f - inside
    # Directions that were dropped as rounding have lengths below the root of
    # n u n (see `orthonormal`), far below the root of 2^-38; so each residual value is
    # at most ||f|| times that, times the length of the section.
    room = blur(f) + blur(inside)
    lengths = np.sqrt(f.kernel.diagonal(anchors))
    assert (np.abs(outside(anchors)) <= room * lengths).all()
    assert abs(inside @ outside) <= room * inside.norm() + room**2
    gap = f.norm() ** 2 - inside.norm() ** 2 - outside.norm() ** 2
    assert abs(gap) <= 2 * room * f.norm() + room**2


def test_the_projection_is_the_closest_of_the_span(rng):
    k, X = mc.Gaussian(), rng.normal(size=(20, 2))
    f = mc.Function(k, X, rng.normal(size=20))
    inside = f.project(X[:6])
    for _ in range(20):
        other = mc.Function(k, X[:6], inside.coefficients + 0.1 * rng.normal(size=6))
        assert f.distance(inside) < f.distance(other)


def test_representer_theorem(rng):
    # An orthogonal part leaves the values at the anchors and makes the norm larger, so no
    # minimiser of a risk of these values and the norm has one.
    k, X, c = mc.Gaussian(), rng.normal(size=(6, 2)), rng.normal(size=6)
    f = mc.Function(k, X, c)
    stranger = mc.section(k, [0.3, -0.2])
    orthogonal = stranger - stranger.project(X)
    # The Gram matrix of six scattered points has no small eigenvalue: all is rounding.
    np.testing.assert_allclose((f + orthogonal)(X), f(X), rtol=0, atol=1e-10)
    assert (f + orthogonal).norm() > f.norm()
    longer = np.hypot(f.norm(), orthogonal.norm())
    assert (f + orthogonal).norm() == pytest.approx(longer, rel=1e-10)


def test_projection_on_dependent_sections(rng):
    k, w = mc.Linear(), np.array([3.0, -1.0, 2.0])
    # Ten points in a plane, each twice: the span has two dimensions.
    X = rng.normal(size=(10, 2)) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    inside = mc.section(k, w).project(np.concatenate([X, X]))
    expected = X.T @ np.linalg.lstsq(X.T, w, rcond=None)[0]
    # A well-conditioned problem of three dimensions.
    np.testing.assert_allclose(inside.to_features(), expected, rtol=0, atol=1e-12)


def test_projection_on_what_f_is_made_of_is_f(case, rng, blur):
    f = draw(case, rng)
    again = f.project(f.anchors)
    assert f.distance(again) <= blur(f) + blur(again)
    assert len(again.anchors) == len(f.anchors)


def test_projection_does_not_mind_the_lengths_of_the_sections(rng):
    # k(x, x) is between 1e-12 and 1e12 here.
    k, X = mc.Linear(), np.diag([1e-6, 1.0, 1e6])
    np.testing.assert_allclose(
        mc.section(k, [1.0, 2.0, 3.0]).project(X).to_features(), [1, 2, 3], rtol=1e-14
    )


def test_projection_on_the_zero_section():
    inside = mc.section(mc.Linear(), [1.0, 2.0]).project([[0.0, 0.0]])
    assert inside.norm() == 0.0


# Compression


def test_compression_is_as_close_as_it_says(rng):
    f = mc.Function(mc.Gaussian(), rng.normal(size=(60, 2)), rng.normal(size=60))
    errors = []
    for m in (1, 5, 15, 30, 59):
        small = f.compress(m)
        assert len(small.anchors) == m
        errors.append(f.distance(small))
        # It is a projection on anchors of f, so Pythagoras holds up to rounding.
        assert errors[-1] == pytest.approx(
            np.sqrt(max(f.norm() ** 2 - small.norm() ** 2, 0)), abs=1e-4
        )
    assert errors == sorted(errors, reverse=True)
    assert errors[2] < 0.1 * f.norm()
    assert f.compress(60) is f


def test_compression_finds_the_dimension(rng, blur):
    f = mc.Function(mc.Polynomial(2), rng.normal(size=(50, 2)), rng.normal(size=50))
    small = f.compress(40)
    assert len(small.anchors) == 6  # 1, x, y, x^2, xy, y^2
    assert f.distance(small) <= blur(f) + blur(small)


def test_compression_of_zero():
    k = mc.Gaussian()
    zero = mc.Function(k, [[0.0], [1.0], [2.0]], [0.0, 0.0, 0.0])
    assert len(zero.compress(2).anchors) == 1
    assert zero.compress(2).norm() == 0.0


# Feature weights


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (mc.Linear(), [[1.0, 2.0], [0.5, -1.0], [2.0, 2.0]]),
        (mc.Polynomial(degree=3), [[1.0, 2.0], [0.5, -1.0], [2.0, 2.0]]),
        (mc.SetPower(), np.array([[1, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 0]])),
        (mc.Linear() + mc.Linear(), [[1.0, 2.0], [0.5, -1.0], [2.0, 2.0]]),
    ],
)
def test_feature_weights_give_the_function_and_its_norm(kernel, X, rng, slack):
    f = mc.Function(kernel, X, rng.normal(size=3))
    w = f.to_features()
    np.testing.assert_allclose(kernel.features(X) @ w, f(X), rtol=1e-12, atol=1e-12)
    assert w @ w == pytest.approx(f.norm() ** 2, abs=slack(f, f))


def test_the_weights_are_the_shortest_of_all_that_give_the_function():
    # Two equal features: f = (w1 + w2) x, and |w| >= |w1 + w2| / sqrt(2) = ||f||.
    f = 3 * mc.section(mc.Linear() + mc.Linear(), [1.0])
    w = f.to_features()
    np.testing.assert_array_equal(w, [3.0, 3.0])
    assert f.norm() == pytest.approx(np.linalg.norm(w), rel=1e-15)
    assert np.linalg.norm([6.0, 0.0]) > f.norm()  # the same function


def test_a_kernel_without_features_says_so():
    with pytest.raises(NoFeatureMap, match="embed"):
        mc.section(mc.Gaussian(), [0.0]).to_features()


# As a value


def test_a_function_is_immutable_and_travels(rng):
    c = rng.normal(size=4)
    f = mc.Function("gaussian(0.5)", rng.normal(size=(4, 2)), c)
    c[0] = 99
    assert f.coefficients[0] != 99
    with pytest.raises(ValueError, match="read-only"):
        f.coefficients[0] = 1
    with pytest.raises(AttributeError):
        f.kernel = mc.Linear()
    for twin in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        assert twin.distance(f) == 0.0
    assert repr(f) == "Function(gaussian(0.5), 4 anchors)"
    assert "2 outputs" in repr(mc.Function(mc.Linear(), [[1.0]], [[1.0, 2.0]]))


def test_single_precision_stays_close(rng):
    X, c = rng.normal(size=(50, 3)).astype(np.float32), rng.normal(size=50)
    f, g = mc.Function(mc.Gaussian(), X, c), mc.Function(mc.Gaussian(), X.astype(float), c)
    # Entries are right to 2^-15 by promise, and to a few 2^-24 on such tame points.
    np.testing.assert_allclose(f(X), g(X), rtol=0, atol=1e-6 * np.abs(c).sum())
    assert f.norm() == pytest.approx(g.norm(), rel=1e-4)
    assert (f - f).norm() == 0


def test_evaluation_does_not_store_the_matrix(rng):
    X = rng.normal(size=(5000, 3))
    f = mc.Function(mc.Gaussian(), X, np.ones(5000))
    f(X[:10])
    tracemalloc.start()
    f(X)
    f.norm()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5000 * 5000 * 8 / 10


# Bad input


@pytest.mark.parametrize(
    ("coefficients", "error"),
    [
        ([1.0], InvalidInput),
        ([[[1.0]], [[2.0]]], InvalidInput),
        (3.0, InvalidInput),
        ([1.0, np.nan], InvalidInput),
        (["a", "b"], InvalidType),
        ([[1.0], [1.0, 2.0]], InvalidType),
        (np.empty((2, 0)), InvalidInput),
    ],
)
def test_coefficients_must_be_numbers_one_an_anchor(coefficients, error):
    with pytest.raises(error):
        mc.Function(mc.Linear(), [[1.0], [2.0]], coefficients)


def test_functions_of_different_spaces_do_not_mix():
    f, g = mc.section(mc.Gaussian(1.0), [0.0]), mc.section(mc.Gaussian(2.0), [0.0])
    for combine in (f.__add__, f.__sub__, f.__matmul__, f.distance):
        with pytest.raises(DomainMismatch, match="space"):
            combine(g)
    with pytest.raises(InvalidInput, match="outputs"):
        f + mc.Function(f.kernel, [[0.0]], [[1.0, 2.0]])
    with pytest.raises(InvalidInput):
        f + mc.section(mc.Gaussian(1.0), [0.0, 1.0])  # another width


def test_other_operands_are_refused():
    f = mc.section(mc.Gaussian(), [0.0])
    for wrong in (lambda: f + 1, lambda: f * f, lambda: f @ 2, lambda: f * "2", lambda: 1 - f):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(InvalidParameter, match="0"):
        f / 0
    with pytest.raises(InvalidParameter):
        f.compress(0)
    with pytest.raises(InvalidParameter):
        f.compress(1.5)


def test_a_section_is_of_one_point():
    sparse = pytest.importorskip("scipy.sparse")
    row = sparse.csr_array([[0.0, 2.0]])
    assert mc.section(mc.Linear(), row)(row)[0] == 4.0
    with pytest.raises(InvalidInput, match="one point"):
        mc.section(mc.Linear(), sparse.csr_array(np.eye(2)))


# ------------------------------------------------------------------ numbers out of the ordinary


@pytest.mark.parametrize("power", [-1000, -500, 500, 1000])
def test_a_multiple_has_the_multiple_of_the_norm_as_far_as_numbers_reach(power, rng):
    X, c = rng.normal(size=(5, 2)), rng.normal(size=5)
    f = mc.Function(mc.Gaussian(), X, c)
    far = mc.Function(mc.Gaussian(), X, np.ldexp(c, power))
    assert far.norm() == np.ldexp(f.norm(), power)  # a power of two has no rounding
    chosen = f.compress(2).anchors.values
    np.testing.assert_array_equal(far.compress(2).anchors.values, chosen)


def test_large_points_have_a_norm():
    f = mc.Function(mc.Linear(), [[1e150, 0.0], [0.0, 1e150]], [3e10, -4e10])
    assert f.norm() == pytest.approx(5e160)


BIG = mc.Function(mc.Gaussian(), [[0.0], [0.1]], [1.5e308, 1.5e308])


@pytest.mark.parametrize(
    "overflow",
    [
        lambda: BIG([[0.05]]),
        lambda: BIG.gradient([[1.0]]) + 10 * BIG.gradient([[1.0]]),
        lambda: BIG @ BIG,
        lambda: BIG @ -BIG,
        BIG.norm,
        lambda: BIG + BIG,
        lambda: BIG + mc.Function(mc.Gaussian(), [[0.1]], [1.5e308]),
        lambda: 10 * BIG,
        lambda: BIG / 1e-300,
        lambda: mc.Function(mc.Linear(), [[1e10]], [1.5e308]).to_features(),
    ],
    ids=[
        "value",
        "gradient",
        "f @ f",
        "f @ -f",
        "norm",
        "f + f",
        "f + g",
        "c f",
        "f / c",
        "features",
    ],
)
def test_what_overflows_is_told(overflow):
    with pytest.raises(InvalidInput, match=r"overflows|finite"):
        overflow()


def test_complex_coefficients_are_refused():
    for coefficients in (np.array([1j]), [1 + 0j]):
        with pytest.raises(InvalidType, match="coefficients must be numbers"):
            mc.Function(mc.Linear(), [[1.0]], coefficients)


def test_a_kernel_that_is_none_has_no_projection():
    saddle = mc.from_function(lambda x, y: float(x[0] + y[0]))
    f = mc.section(saddle, [1.0])
    with pytest.raises(NotPositiveDefinite, match="Cauchy-Schwarz"):
        f.project([[0.0], [1.0]])
    with pytest.raises(NotPositiveDefinite, match="k\\(x, x\\) = -2"):
        f.project([[-1.0], [1.0]])


def test_a_zero_on_the_diagonal_may_have_rounding_beside_it():
    end = 0.7  # a Brownian bridge ends at zero, here up to the last digits
    bridge = mc.from_function(lambda x, y: min(x[0], y[0]) - x[0] * y[0] / end)
    X = np.linspace(0.1, end, 13)[:, None]
    f = mc.Function(bridge, X, np.ones(13))
    assert f.project(X).norm() == pytest.approx(f.norm())


def test_projection_on_points_too_short_for_a_square():
    f = mc.Function(mc.Linear(), [[1.0, 0.0], [0.0, 1.0]], [3.0, 4.0])
    assert f.project([[1e-170, 0.0], [1e-160, 0.0]]).norm() == 0
    assert f.project([[1e-150, 0.0]]).norm() == pytest.approx(3)
