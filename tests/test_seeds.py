"""The lectures, statement by statement: what they call a kernel is one here, by the rule they
name, with the values of their formula; and what they call none cannot be built.

Tolerances. A leaf is off by at most 2^-40 sqrt(k(x, x) k(y, y)), which a sum keeps, a product
adds up, and an exponential multiplies by its exponent, at most 8 here. No kernel below takes
more than 16 such errors together, so each value has E = 2^-36 of its size, and each eigenvalue
of a Gram matrix K an error below E trace(K).
"""

import itertools
import math

import numpy as np
import pytest

import mercer as mc
from mercer.errors import NotAKernel, NoTextForm

E = 2.0**-36

NUMBERS = [0.5, 1.0, 1.5, 2.0, 3.5]
NATURALS = [1, 2, 3, 4, 6, 8, 9, 12]
SETS = [set(), {"a"}, {"a", "b"}, {"b", "c", "d"}, {"a", "b", "c", "d"}, {"e"}]


@pytest.fixture
def X(rng):
    return rng.uniform(-1, 1, size=(9, 2))


@pytest.fixture
def Z(rng):
    return rng.uniform(-1, 1, size=(5, 2))


def dot(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def rbf(x, z, scale=1.0):
    return math.exp(-sum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * scale**2))


def check(k, formula, points, others, rule):
    """The kernel has the values of the formula, no negative eigenvalue, and this proof."""
    K = k(points)
    size = np.sqrt(np.outer(np.diag(K), np.diag(k(others))))
    wanted = np.array([[formula(x, z) for z in others] for x in points])
    assert (np.abs(k(points, others) - wanted) <= E * size).all()
    assert (K == K.T).all()
    assert np.linalg.eigvalsh(K)[0] >= -E * np.trace(K)
    proof = k.proof()
    proof.check()
    assert proof.rule == rule
    assert rule in str(proof)


def indefinite(formula, points, weights):
    """The quadratic form with these weights on these points."""
    pairs = itertools.product(zip(points, weights, strict=True), repeat=2)
    return sum(a * b * formula(x, z) for (x, a), (z, b) in pairs)


# ------------------------------------------------------------ three ways to build a kernel


def square_features(x):
    return [x[0] ** 2, math.sqrt(2) * x[0] * x[1], x[1] ** 2]


def test_a_kernel_from_a_feature_map(X, Z):
    k = mc.FeatureKernel(square_features)
    check(k, lambda x, z: dot(square_features(x), square_features(z)), X, Z, "feature map")


def test_a_kernel_directly(X, Z):
    k = mc.Polynomial(degree=2, offset=0)
    check(k, lambda x, z: dot(x, z) ** 2, X, Z, "power series")
    # (x'z)^2 is the inner product of (x1^2, sqrt 2 x1 x2, x2^2), and of nothing wider.
    assert k.features(X).shape[1] == 3
    np.testing.assert_allclose(np.abs(k.features(X)), np.abs([square_features(x) for x in X]))
    np.testing.assert_allclose(k(X, Z), mc.FeatureKernel(square_features)(X, Z), atol=E)


def test_a_kernel_from_simpler_ones(X, Z):
    """Bishop's chain to the Gaussian: a multiple of the linear kernel, its exponential, and
    that weighted by f(x) = exp(-|x|^2 / 2 s^2).
    """
    s = 0.8
    multiple = mc.Linear() / s**2
    exponential = multiple.exp()
    k = exponential.weighted(lambda x: math.exp(-(x @ x) / (2 * s**2)))

    check(multiple, lambda x, z: dot(x, z) / s**2, X, Z, "non-negative multiple")
    check(exponential, lambda x, z: math.exp(dot(x, z) / s**2), X, Z, "power series")
    check(k, lambda x, z: rbf(x, z, s), X, Z, "weighting")
    assert (np.abs(k(X, Z) - mc.Gaussian(scale=s)(X, Z)) <= 2 * E).all()

    chain = [step.rule for step in k.proof().walk()]
    assert chain == ["weighting", "power series", "non-negative multiple", "feature map"]


# ------------------------------------------------------------------------ the rules, by number

k1, k2 = mc.Gaussian(), mc.Polynomial(degree=2)
METRIC = [[2.0, 1.0], [1.0, 2.0]]


def v1(x, z):
    return rbf(x, z)


def v2(x, z):
    return (dot(x, z) + 1) ** 2


def sine(x):
    return math.sin(3 * x[0])


def form(x, z):
    return sum(x[i] * METRIC[i][j] * z[j] for i in range(2) for j in range(2))


WEINBERGER = {
    "1: x'z": (mc.Linear(), dot, "feature map"),
    "2: c k1": (3 * k1, lambda x, z: 3 * v1(x, z), "non-negative multiple"),
    "3: k1 + k2": (k1 + k2, lambda x, z: v1(x, z) + v2(x, z), "sum"),
    "4: g(k1)": (mc.series(k1, [1, 0, 3]), lambda x, z: 1 + 3 * v1(x, z) ** 2, "power series"),
    "4: k1^3": (k1**3, lambda x, z: v1(x, z) ** 3, "schur product"),
    "5: k1 k2": (k1 * k2, lambda x, z: v1(x, z) * v2(x, z), "schur product"),
    "6: f k1 f": (
        k1.weighted(sine),
        lambda x, z: sine(x) * v1(x, z) * sine(z),
        "weighting",
    ),
    "7: exp k1": (k1.exp(), lambda x, z: math.exp(v1(x, z)), "power series"),
    "8: x'Az": (mc.Linear(metric=METRIC), form, "feature map"),
}

BISHOP = {
    "6.13": (0.5 * k2, lambda x, z: 0.5 * v2(x, z), "non-negative multiple"),
    "6.14": (k2.weighted(sine), lambda x, z: sine(x) * v2(x, z) * sine(z), "weighting"),
    "6.15": (
        mc.series(k2, [0, 2, 1]),
        lambda x, z: 2 * v2(x, z) + v2(x, z) ** 2,
        "power series",
    ),
    "6.16": ((0.5 * k2).exp(), lambda x, z: math.exp(0.5 * v2(x, z)), "power series"),
    "6.17": (k1 + mc.Linear(), lambda x, z: v1(x, z) + dot(x, z), "sum"),
    "6.18": (k1 * mc.Linear(), lambda x, z: v1(x, z) * dot(x, z), "schur product"),
    "6.19": (
        mc.Laplacian(scale=2.0).map(square_features),
        lambda x, z: math.exp(
            -sum(
                abs(a - b) for a, b in zip(square_features(x), square_features(z), strict=True)
            )
            / 2
        ),
        "pullback",
    ),
    "6.20": (mc.Linear(metric=np.diag([1.0, 0.0])), lambda x, z: x[0] * z[0], "feature map"),
    "6.21": (
        k1.on(0) + mc.Laplacian().on(1),
        lambda x, z: rbf(x[:1], z[:1]) + math.exp(-abs(x[1] - z[1])),
        "sum",
    ),
    "6.22": (
        k1.on(0) * mc.Laplacian().on(1),
        lambda x, z: rbf(x[:1], z[:1]) * math.exp(-abs(x[1] - z[1])),
        "schur product",
    ),
}


@pytest.mark.parametrize("rule", WEINBERGER)
def test_a_rule_of_weinbergers(rule, X, Z):
    k, formula, name = WEINBERGER[rule]
    check(k, formula, X, Z, name)


@pytest.mark.parametrize("rule", BISHOP)
def test_a_rule_of_bishops(rule, X, Z):
    k, formula, name = BISHOP[rule]
    check(k, formula, X, Z, name)


@pytest.mark.parametrize(
    "combine",
    [
        lambda: -2 * k1,
        lambda: k1 - k2,
        lambda: mc.series(k1, [1, -1]),
        lambda: mc.Linear(metric=[[1.0, 0.0], [0.0, -1.0]]),
        lambda: mc.Linear(metric=[[0.0, 1.0], [1.0, 0.0]]),
        lambda: k2**0.5,
        lambda: k1 / k2,
        lambda: 1 / k2,
    ],
    ids=["c < 0", "difference", "series", "metric", "saddle", "root", "quotient", "inverse"],
)
def test_a_rule_without_its_condition_builds_nothing(combine):
    with pytest.raises(NotAKernel):
        combine()


def test_a_limit_of_kernels_is_a_kernel(X, Z):
    """The proof of the lecture that exp k is a kernel: its partial sums are, and converge."""
    for n in (1, 4, 16):
        partial = mc.series(k1, [1 / math.factorial(i) for i in range(n + 1)])
        check(
            partial,
            lambda x, z, n=n: sum(v1(x, z) ** i / math.factorial(i) for i in range(n + 1)),
            X,
            Z,
            "power series",
        )
        # The rest of the series of e^t, for 0 <= t <= 1.
        left = k1.exp()(X, Z) - partial(X, Z)
        assert left.max() <= math.e / math.factorial(n + 1) + 16 * E


def test_the_feature_of_a_product_is_a_matrix_of_rank_one(X):
    """<x y', x' y'>_F = (x'x)(y'y): the lecture's proof that products are kernels."""
    one, two = mc.Linear().features(X), k2.features(X)
    matrices = one[:, :, None] * two[:, None, :]
    both = mc.Linear() * k2
    frobenius = np.einsum("iab,jab->ij", matrices, matrices)
    size = np.sqrt(np.outer(both.diagonal(X), both.diagonal(X)))
    assert (np.abs(frobenius - both(X)) <= E * size).all()
    assert both.features(X).shape[1] == one.shape[1] * two.shape[1]


# -------------------------------------------------------------------- one space, one kernel


def test_the_space_does_not_depend_on_the_feature_map(X, Z, rng):
    """A kernel has one RKHS: two feature maps of it give the same functions and norms."""
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one = mc.FeatureKernel(square_features)
    two = mc.FeatureKernel(lambda x: turn @ square_features(x))
    c = rng.normal(size=len(X))
    f, g = mc.Function(one, X, c), mc.Function(two, X, c)
    size = (np.sqrt(one.diagonal(X)) @ np.abs(c)) ** 2
    assert (np.abs(f(Z) - g(Z)) <= E * np.sqrt(size * one.diagonal(Z))).all()
    assert abs(f.norm() ** 2 - g.norm() ** 2) <= E * size
    # The weights differ, and have one length.
    assert not np.allclose(f.to_features(), g.to_features())
    assert abs(f.to_features() @ f.to_features() - f.norm() ** 2) <= E * size


def test_evaluation_is_continuous_with_the_section_as_its_gradient(X, rng):
    """|f(x)| <= |f| sqrt(k(x, x)), attained by K_x: the norm of evaluation at x is |K_x|."""
    for x in X:
        at = mc.section(k2, x)
        assert at([x])[0] == pytest.approx(at.norm() * math.sqrt(k2.pair(x, x)), rel=E)
        others = mc.Function(k2, X, rng.normal(size=len(X)))
        assert abs(others([x])[0]) <= others.norm() * at.norm() * (1 + E)


# ------------------------------------------------------------------------------------- sets


@pytest.mark.parametrize("base", [2, math.e])
def test_powers_of_the_number_of_common_elements(base):
    k = mc.SetPower(base=base)
    check(k, lambda A, B: base ** len(A & B), SETS, SETS[::-1], "feature map")


def test_the_quiz_on_sets_by_rules_one_and_seven():
    """A set is its indicator, an intersection an inner product: e^|A & B| is an exponential."""
    k = mc.SetIntersection().exp()
    check(k, lambda A, B: math.exp(len(A & B)), SETS, SETS[::-1], "power series")
    universe = sorted(set().union(*SETS))
    indicators = np.array([[float(item in A) for item in universe] for A in SETS])
    np.testing.assert_allclose(k(SETS), mc.Linear().exp()(indicators), rtol=E)
    np.testing.assert_allclose(k(SETS), mc.SetPower(base=math.e)(SETS), rtol=E)


def test_two_to_the_common_elements_counts_common_subsets():
    def subsets(A):
        return {
            part
            for size in range(len(A) + 1)
            for part in itertools.combinations(sorted(A), size)
        }

    counts = [[len(subsets(A) & subsets(B)) for B in SETS] for A in SETS]
    assert (mc.SetPower(base=2)(SETS) == counts).all()


# --------------------------------------------------------------------------------- the quiz

QUIZ = {
    "1 / (1 - x y)": (
        mc.Geometric(),
        lambda x, y: 1 / (1 - x * y),
        [-0.9, -0.3, 0.0, 0.5, 0.8],
    ),
    "2^(x + y)": (mc.SumPower(base=2), lambda x, y: 2.0 ** (x + y), [1, 2, 3, 5]),
    "2^(x y)": (mc.ProductPower(base=2), lambda x, y: 2.0 ** (x * y), [1, 2, 3, 5]),
    "cos(x - y)": (mc.CosineDifference(), lambda x, y: math.cos(x - y), [-2.0, 0.0, *NUMBERS]),
    "min": (mc.Min(), min, [0.0, *NUMBERS]),
    "min / max": (mc.MinOverMax(), lambda x, y: min(x, y) / max(x, y), NUMBERS),
    "gcd": (mc.GCD(), math.gcd, NATURALS),
    "gcd / lcm": (mc.GCDOverLCM(), lambda x, y: math.gcd(x, y) / math.lcm(x, y), NATURALS),
}
RULE = {
    "1 / (1 - x y)": "power series",
    "2^(x + y)": "feature map",
    "2^(x y)": "power series",
    "cos(x - y)": "bochner",
    "min": "feature map",
    "min / max": "schoenberg",
    "gcd": "feature map",
    "gcd / lcm": "feature map",
}


@pytest.mark.parametrize("name", QUIZ)
def test_what_the_quiz_says_is_a_kernel(name):
    k, formula, points = QUIZ[name]
    check(k, formula, points, points[::-1], RULE[name])


def test_the_gaussian_of_the_quiz():
    k = mc.Gaussian(scale=2**-0.5)  # exp(-|x - y|^2)
    points = [[x] for x in (-2.0, 0.0, *NUMBERS)]
    check(k, lambda x, y: math.exp(-((x[0] - y[0]) ** 2)), points, points, "bochner")


def test_the_logarithm_of_the_quiz_is_none():
    # The form is 9 ln 2 - 12 ln 3 + 4 ln 5 = ln(2^9 5^4 / 3^12), in whole numbers below ln 1.
    assert 2**9 * 5**4 < 3**12
    assert indefinite(lambda x, y: math.log(1 + x * y), [1, 2], [3, -2]) < -0.5


def test_the_cosine_of_a_sum_is_none():
    assert indefinite(lambda x, y: math.cos(x + y), [math.pi / 2], [1]) == -1


def test_the_maximum_is_none():
    assert indefinite(max, [0, 1], [1, -1]) == -1


def test_the_least_common_multiple_is_none():
    assert indefinite(math.lcm, [1, 2], [2, -1]) == -2


cosine = mc.Bias().weighted(math.cos)
sinus = mc.Bias().weighted(math.sin)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: mc.series(mc.Linear(), [0, 1, -1 / 2, 1 / 3]),  # log(1 + x y)
        lambda: cosine - sinus,  # cos(x + y) = cos x cos y - sin x sin y
        lambda: -1 * sinus,
        lambda: mc.SumPower() - mc.Min(),  # max(x, y) = x + y - min(x, y)
        lambda: mc.Linear() / mc.GCD(),  # lcm(x, y) = x y / gcd(x, y)
        lambda: mc.GCD() ** -1,
    ],
    ids=["log(1 + xy)", "cos(x + y)", "-sin sin", "max", "lcm", "1 / gcd"],
)
def test_the_algebra_does_not_build_them(attempt):
    with pytest.raises(NotAKernel):
        attempt()


@pytest.mark.parametrize("name", ["max", "lcm", "log", "cos"])
def test_no_text_names_them(name):
    with pytest.raises(NoTextForm):
        mc.kernel(name)


def test_who_insists_is_told():
    """The one door for what is not proved leaves its mark on whatever is built with it."""
    largest = mc.from_function(max)
    assert (largest + mc.Min()).is_assumed
    assert "assumed" in str((2 * largest).proof())
    f = mc.Function(largest, [0.0, 1.0], [1.0, -1.0])
    with pytest.raises(mc.errors.NotPositiveDefinite):
        f.norm()
