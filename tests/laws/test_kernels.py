"""The laws of kernels, on random expressions over every kind of point."""

import copy
import pickle
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import mercer as mc
from mercer.domains import Vectors
from mercer.errors import InvalidInput, NotAKernel, NotSmooth
from mercer.testing import check_kernel

scales = st.floats(0.25, 4.0)
lengths = scales | st.tuples(scales, scales)
weights = st.just(0.0) | st.floats(1e-3, 5.0)
metrics = st.sampled_from([((2.0, 0.5), (0.5, 1.0)), ((1.0, 1.0), (1.0, 1.0))])
bases = st.floats(1.0, 3.0)

VECTORS = (
    st.builds(mc.Gaussian, lengths)
    | st.builds(mc.Gaussian, scales, metrics)
    | st.builds(mc.Laplacian, lengths)
    | st.builds(mc.Exponential, lengths)
    | st.builds(mc.Matern, st.sampled_from([0.5, 1.5, 2.5, 0.75, 3.0]), lengths)
    | st.builds(mc.RationalQuadratic, lengths, scales)
    | st.builds(mc.Periodic, scales, lengths)
    | st.builds(mc.GeneralizedGaussian, lengths, st.floats(1.0, 2.0), st.floats(0.25, 1.0))
    | st.builds(mc.Wendland, st.integers(0, 3), lengths, st.integers(2, 4))
    | st.builds(mc.Linear, st.none() | metrics)
    | st.builds(mc.Polynomial, st.integers(1, 3), weights, lengths)
    | st.sampled_from([mc.Cosine(), mc.Tanimoto(), mc.White(), mc.Bias(), mc.Delta()])
)
NUMBERS = (
    st.sampled_from([mc.Min(), mc.MinOverMax(), mc.GCD(), mc.GCDOverLCM(), mc.Delta()])
    | st.builds(mc.ProductPower, st.floats(1.0, 1.5))
    | st.builds(mc.SumPower, st.floats(0.5, 1.5))
    | st.builds(mc.CosineDifference, st.floats(-3, 3))
    | st.builds(mc.Gaussian, scales)
    | st.builds(mc.Chi2, scales)
)
SETS = st.sampled_from([mc.SetIntersection(), mc.Jaccard(), mc.Delta(), mc.Bias()]) | st.builds(
    mc.SetPower, bases
)
CATEGORIES = st.sampled_from([mc.Delta(), mc.Bias()])
RECORDS = (
    st.builds(lambda k: k.on("age"), st.builds(mc.Gaussian, scales) | st.just(mc.MinOverMax()))
    | st.builds(lambda k: k.on("city"), CATEGORIES)
    | st.builds(lambda k: k.on("tags"), SETS)
    | st.builds(
        lambda k: k.on("age", "height"), st.builds(mc.Gaussian, lengths) | st.just(mc.Linear())
    )
)


def divisible_power(kernel, exponent):
    """A power that need not be whole, where there is one."""
    return kernel**exponent if "infinitely divisible" in kernel.proof().facts else kernel


def combined(parts, *, columns=()):
    rules = (
        st.builds(lambda a, b: a + b, parts, parts)
        | st.builds(lambda a, b: a * b, parts, parts)
        | st.builds(lambda w, a: w * a, weights, parts)
        | st.builds(lambda a, n: a**n, parts, st.integers(1, 3))
        | st.builds(divisible_power, parts, st.floats(0.25, 2.0))
        | st.builds(lambda a: a.normalized(), parts)
        | st.builds(lambda a: (0.25 * a).exp(), parts)
        | st.builds(lambda a: a.exp().normalized(), parts)
        | st.builds(mc.Schoenberg, st.floats(0.1, 2.0), parts)
        | st.builds(
            lambda c, a: mc.series(a, c), st.lists(weights, min_size=1, max_size=4), parts
        )
    )
    for places in columns:
        rules |= st.builds(lambda a, p=places: a.on(*p), parts)
    return rules


def expressions(leaves, max_leaves=4, columns=()):
    return st.recursive(
        leaves, lambda parts: combined(parts, columns=columns), max_leaves=max_leaves
    )


coordinates = st.floats(-3, 3, width=16)
planes = hnp.arrays(float, st.tuples(st.integers(1, 7), st.just(2)), elements=coordinates)
naturals = st.lists(st.integers(1, 12), min_size=1, max_size=7)
families = st.lists(st.frozensets(st.integers(0, 5), max_size=5), min_size=1, max_size=6)
words = st.lists(st.sampled_from(["a", "b", "c", None, ""]), min_size=1, max_size=6)
rows = st.fixed_dictionaries(
    {
        "age": st.integers(1, 9).map(float),
        "height": st.floats(0.5, 2, width=16),
        "city": st.sampled_from(["Oslo", "Rome", "Pisa"]),
        "tags": st.frozensets(st.integers(0, 3), max_size=3),
    }
)
tables = st.lists(rows, min_size=1, max_size=5)


@contextmanager
def unless_it_overflows():
    """An honest refusal is no counter-example."""
    try:
        yield
    except InvalidInput as error:
        assume("overflows" not in str(error))
        raise


@unless_it_overflows()
def check(kernel, points):
    check_kernel(kernel, points)


@settings(max_examples=100)
@given(expressions(VECTORS, columns=[(0, 1), (1, 0)]), planes)
def test_every_expression_over_vectors_keeps_the_laws(kernel, X):
    check(kernel, X)


@settings(max_examples=30)
@given(expressions(VECTORS), planes)
def test_every_expression_keeps_the_laws_in_float32(kernel, X):
    check(kernel, X.astype(np.float32))


@settings(max_examples=40)
@given(expressions(NUMBERS), naturals)
def test_every_expression_over_numbers_keeps_the_laws(kernel, points):
    check(kernel, np.array(points, float)[:, None])


@settings(max_examples=40)
@given(expressions(SETS), families)
def test_every_expression_over_sets_keeps_the_laws(kernel, points):
    check(kernel, points)


@settings(max_examples=20)
@given(expressions(CATEGORIES), words)
def test_every_expression_over_categories_keeps_the_laws(kernel, points):
    check(kernel, points)


@settings(max_examples=30)
@given(expressions(RECORDS), tables)
def test_every_expression_over_records_keeps_the_laws(kernel, points):
    check(kernel, points)


@settings(max_examples=20)
@given(
    st.builds(mc.Chi2, lengths) | st.sampled_from([mc.AdditiveChi2(), mc.Intersection()]),
    planes,
)
def test_kernels_on_histograms_keep_the_laws(kernel, X):
    check(kernel, np.abs(X))


@settings(max_examples=20)
@given(expressions(st.sampled_from([mc.Geometric(), mc.CosineDifference(2.0)])),
       st.lists(st.floats(-0.875, 0.875, width=16), min_size=1, max_size=6))  # fmt: skip
def test_the_geometric_kernel_keeps_the_laws(kernel, points):
    check(kernel, np.array(points)[:, None])


# --------------------------------------------------------- combinations are their formulas


@settings(max_examples=60)
@given(expressions(VECTORS, 2), expressions(VECTORS, 2), planes, planes, st.floats(0, 3))
@unless_it_overflows()
@np.errstate(over="ignore", invalid="ignore")
def test_combinations_are_their_formulas(a, b, X, Y, w):
    A, B = a(X, Y), b(X, Y)
    da, db, ea, eb = a.diagonal(X), b.diagonal(X), a.diagonal(Y), b.diagonal(Y)
    for kernel, values, own, other in (
        (a + b, A + B, da + db, ea + eb),
        (a * b, A * B, da * db, ea * eb),
        (w * a, w * A, w * da, w * ea),
        (a * w, w * A, w * da, w * ea),
        (a + w, A + w, da + w, ea + w),
        (a**3, A**3, da**3, ea**3),
        (sum([a, b]), A + B, da + db, ea + eb),
        (a / 4, A / 4, da / 4, ea / 4),
        (mc.series(a, (1.0, 0.0, w)), 1 + w * A**2, 1 + w * da**2, 1 + w * ea**2),
    ):
        size = np.outer(np.sqrt(own), np.sqrt(other))
        # Both sides round the same few operations.
        assert np.all(np.abs(kernel(X, Y) - values) <= 2e-14 * size + 1e-300)
        assert np.allclose(kernel.diagonal(X), own, rtol=2e-14, atol=0)


@settings(max_examples=40)
@given(expressions(VECTORS, 2), planes, planes, st.floats(0.1, 2))
@unless_it_overflows()
@np.errstate(over="ignore", invalid="ignore")
def test_lifts_are_their_formulas(k, X, Y, rate):
    K, a, b = k(X, Y), k.diagonal(X), k.diagonal(Y)
    size = np.outer(np.sqrt(a), np.sqrt(b))
    d2 = a[:, None] + b[None, :] - 2 * K
    allowed = 1e-13 * (1 + a.max() + b.max())
    assert np.allclose(k.distance(X, Y) ** 2, np.maximum(d2, 0), rtol=0, atol=allowed)
    bent = np.exp(-rate * np.maximum(d2, 0))
    assert np.allclose(mc.Schoenberg(rate, k)(X, Y), bent, rtol=0, atol=rate * allowed)
    if size.min() > 0:
        assert np.allclose(k.normalized()(X, Y), K / size, rtol=0, atol=1e-14)
    if max(a.max(), b.max()) < 100:
        assert np.allclose(k.exp()(X, Y), np.exp(K), rtol=1e-12, atol=0)


# ------------------------------------------------------------------- the algebra is closed


@settings(max_examples=60)
@given(expressions(VECTORS, 3), expressions(VECTORS, 2), st.floats(1e-6, 1e6))
def test_what_may_leave_the_cone_is_not_built(a, b, w):
    for attempt in (
        lambda: a - b,
        lambda: a - w,
        lambda: w - a,
        lambda: -a,
        lambda: -w * a,
        lambda: a * -w,
        lambda: np.float64(-w) * a,
        lambda: a + -w,
        lambda: a / -w,
        lambda: a / b,
        lambda: w / a,
        lambda: a**-1,
        lambda: a**0,
        lambda: a**b,
        lambda: a ** float("nan"),
        lambda: a ** float("inf"),
        lambda: float("nan") * a,
        lambda: float("inf") * a,
        lambda: mc.series(a, (1.0, -w)),
        lambda: mc.Schoenberg(-w, a),
    ):
        with pytest.raises(NotAKernel) as caught:
            attempt()
        assert len(str(caught.value)) > 30


@settings(max_examples=60)
@given(expressions(VECTORS, 3), st.sampled_from([0.5, 1.5, 2.5, 1e-3]))
def test_other_powers_are_for_infinitely_divisible_kernels(kernel, exponent):
    if "infinitely divisible" in kernel.proof().facts:
        assert (kernel**exponent).proof().check() is None
    else:
        with pytest.raises(NotAKernel, match="whole powers"):
            kernel**exponent


# ------------------------------------------------------------------------ kernels are values

positive = st.floats(1e-100, 1e100)
names = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable())
exact_leaves = (
    st.builds(mc.Gaussian, positive | st.lists(positive, min_size=1, max_size=4).map(tuple))
    | st.builds(mc.Polynomial, st.integers(1, 10**6), positive, positive)
    | st.builds(mc.Matern, positive, positive)
    | st.builds(mc.RationalQuadratic, positive, positive)
    | st.builds(mc.Laplacian, positive)
    | st.sampled_from(
        [mc.Linear(), mc.Bias(), mc.White(), mc.Linear([[0.1, 0.0], [0.0, 1 / 3]])]
    )
)
exact = st.recursive(
    exact_leaves,
    lambda k: (
        st.builds(lambda a, b: a + b, k, k)
        | st.builds(lambda a, b: a * b, k, k)
        | st.builds(lambda w, a: w * a, positive | st.just(0.0), k)
        | st.builds(lambda a, n: a**n, k, st.integers(1, 10**9))
        | st.builds(divisible_power, k, st.floats(1e-10, 1e10))
        | st.builds(lambda a: a.normalized(), k)
        | st.builds(lambda a: a.exp(), k)
        | st.builds(mc.Schoenberg, positive, k)
        | st.builds(lambda c, a: mc.series(a, c), st.lists(positive, min_size=1, max_size=3), k)
    ),
    max_leaves=6,
)
named = st.recursive(
    st.builds(
        lambda k, n: k.on(*dict.fromkeys(n)), exact, st.lists(names, min_size=1, max_size=3)
    ),
    lambda k: st.builds(lambda a, b: a + b, k, k) | st.builds(lambda w, a: w * a, positive, k),
    max_leaves=3,
)


@settings(max_examples=200)
@given(exact | named)
def test_text_and_repr_keep_every_digit(kernel):
    assert mc.kernel(str(kernel)) == kernel
    assert mc.kernel(kernel.text()) == kernel
    assert mc.kernel(f"  {kernel}\n") == kernel
    assert eval(repr(kernel), vars(mc)) == kernel


@settings(max_examples=100)
@given(exact | named, exact | named)
def test_kernels_are_equal_and_hashed_by_value(a, b):
    again = pickle.loads(pickle.dumps(a))
    assert again == a
    assert hash(again) == hash(a)
    assert (a == b) == (repr(a) == repr(b))
    assert a != b or hash(a) == hash(b)
    assert copy.deepcopy([a])[0] is a
    assert a.replace(**a.parameters()) == a
    assert a.proof().claim == a.term()
    assert a.proof().check() is None


@settings(max_examples=60)
@given(exact, st.data())
def test_replace_changes_one_parameter(kernel, data):
    given_values = {n: v for n, v in kernel.parameters().items() if isinstance(v, float)}
    assume(given_values)
    name = data.draw(st.sampled_from(sorted(given_values)))
    changed = kernel.replace(**{name: 2.0})
    wanted = kernel.parameters() | {name: 2.0}
    assert changed.parameters() == wanted
    assert (changed == kernel) == (given_values[name] == 2.0)


# ---------------------------------------------------------------------------- facts are true

MILD = st.recursive(
    VECTORS,
    lambda k: (
        st.builds(lambda a, b: a + b, k, k)
        | st.builds(lambda a, b: a * b, k, k)
        | st.builds(lambda w, a: w * a, st.floats(0.5, 2), k)
        | st.builds(lambda a: a**2, k)
        | st.builds(lambda a: a.normalized(), k)
        | st.builds(lambda a: mc.Schoenberg(0.5, a), k)
        | st.builds(lambda a: mc.series(a, (0.5, 1.0)), k)
    ),
    max_leaves=3,
)
places = st.tuples(*[st.integers(-3, 3)] * 2).map(lambda point: [point[0] / 2, point[1] / 2])


@settings(max_examples=100)
@given(MILD, st.lists(places, min_size=2, max_size=2, unique_by=tuple))
def test_strict_kernels_tell_points_apart(kernel, points):
    facts = kernel.proof().facts
    K = kernel(points)
    if "separating" in facts:
        assert kernel.distance(points)[0, 1] > 0
    if "strict" in facts:
        assert kernel.is_strict
        # Half a step apart, at scales of at most 4, no two features are nearly parallel.
        assert K[0, 0] * K[1, 1] - K[0, 1] ** 2 > 1e-11 * K[0, 0] * K[1, 1]
    if "positive diagonal" in facts:
        assert K.diagonal().min() > 0


@settings(max_examples=60)
@given(MILD, st.lists(places, min_size=1, max_size=5), places)
def test_stationary_and_isotropic_kernels(kernel, points, shift):
    X = np.array(points)
    K = kernel(X)
    allowed = 1e-10 * max(1, K.max())
    if kernel.is_stationary:
        assert np.allclose(kernel(X + shift), K, rtol=0, atol=allowed)
    if kernel.is_isotropic:
        assert np.allclose(kernel(X[:, ::-1] * [1, -1]), K, rtol=0, atol=allowed)


@settings(max_examples=60)
@given(MILD, planes)
def test_smooth_kernels_have_gradients(kernel, plane):
    X = Vectors().encode(plane)
    if "smooth" in kernel.proof().facts and kernel.diagonal(X).min() > 0:
        assert kernel.gradient(X).shape == (len(X), len(X), 2)
    else:
        with suppress(NotSmooth):
            assert np.isfinite(kernel.gradient(X)).all()


# ------------------------------------------------------------------------------------- sets


powers_of_sets = st.recursive(
    st.builds(mc.SetPower, st.floats(1, 1e6)),
    lambda k: (
        st.builds(lambda a: a.normalized(), k)
        | st.builds(lambda a, n: a.normalized() ** n, k, st.integers(1, 3))
    ),
    max_leaves=2,
)


@settings(max_examples=40)
@given(powers_of_sets, st.lists(st.integers(0, 3000), min_size=2, max_size=5))
def test_powers_of_large_sets_have_a_normalized_form(kernel, sizes):
    points = [frozenset(range(size, 2 * size + 1)) for size in sizes]
    K = kernel.normalized()(points)
    assert np.isfinite(K).all()
    assert (K.diagonal() == 1).all()
    check_kernel(kernel.normalized(), points)
