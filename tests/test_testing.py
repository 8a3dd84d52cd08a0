"""`check_kernel` lets every kernel of mercer's pass, and no broken one."""

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import Numbers, Vectors
from mercer.errors import InvalidInput, MercerError
from mercer.loops import Blocks
from mercer.testing import BrokenLaw, check_kernel
from mercer.testing.check import ALL
from mercer.testing.rounding import rounding

X = [[0.0, 1.0], [1.0, -0.5], [0.25, 0.75], [2.0, 1.0], [0.0, 1.0], [-1.0, 0.5]]
SETS = [{1, 2}, set(), {2, 3, 4}, {1, 2}, {5}, {1, 2, 3, 4, 5}]
PARTS = [[0.0, 1.0], [1.0, 0.5], [0.25, 0.75], [2.0, 1.0], [0.0, 1.0], [3.0, 0.0]]
RECORDS = {"age": [1.0, 2.0, 1.0, 4.0], "city": ["Oslo", "Rome", "Oslo", None]}

EVERY = [
    *(
        (k, X)
        for k in (
            mc.Linear(),
            mc.Linear(metric=[[2.0, 0.5], [0.5, 1.0]]),
            mc.Polynomial(),
            mc.Polynomial(3, 0.5, 2.0),
            mc.Polynomial(4, 0, (1.0, 0.5)),
            mc.Cosine(),
            mc.Tanimoto(),
            mc.Gaussian(),
            mc.Gaussian((0.5, 2.0)),
            mc.Gaussian(metric=[[1.0, 1.0], [1.0, 1.0]]),
            mc.Exponential(0.5),
            mc.Matern(),
            mc.Matern(0.5),
            mc.Matern(2.5, (1.0, 2.0)),
            mc.Matern(0.75),
            mc.Matern(1.7, 0.5),
            mc.RationalQuadratic(),
            mc.Laplacian((1.0, 2.0)),
            mc.RationalQuadratic((0.5, 1.0), 0.25),
            mc.Periodic(),
            mc.Periodic((1.5, 3.0), 0.7),
            *(mc.Wendland(n, 2.5, d) for n in range(4) for d in (2, 5)),
            mc.GeneralizedGaussian(),
            mc.GeneralizedGaussian(1.0, 1.5, 0.5),
            mc.White(),
            mc.Bias(),
            mc.Delta(),
            mc.Gaussian().on(1) + mc.Linear().on(0),
            mc.Gaussian() ** 0.5,
            mc.Linear().exp(),
            mc.Schoenberg(0.5, mc.Polynomial()),
            mc.Linear().normalized(),
            mc.series(mc.Linear(), (0.5, 0.0, 2.0)),
            0 * mc.Gaussian(),
            mc.Gaussian() + 2,
        )
    ),
    *(
        (k, PARTS)
        for k in (
            mc.Chi2(),
            mc.Chi2((0.5, 2.0)),
            mc.AdditiveChi2(),
            mc.Intersection(),
            mc.Tanimoto(),
        )
    ),
    *((k, [0.0, 1.0, 2.5, 1.0, 4.0]) for k in (mc.Min(), mc.CosineDifference(0.7))),
    (mc.MinOverMax(), [0.5, 1.0, 2.5, 1.0]),
    *((k, [-2.0, 0.5, 2.5, 0.5]) for k in (mc.ProductPower(), mc.SumPower(0.5))),
    (mc.Geometric(), [-0.9, 0.0, 0.5, 0.5, 0.99]),
    *((k, [1, 2, 3, 4, 6, 6, 12]) for k in (mc.GCD(), mc.GCDOverLCM())),
    *(
        (k, SETS)
        for k in (
            mc.SetIntersection(),
            mc.SetPower(),
            mc.SetPower(1.5).normalized(),
            mc.Jaccard(),
        )
    ),
    (mc.Delta(), ["a", "b", "a", None]),
    (mc.Gaussian().on("age") + mc.Delta().on("city"), RECORDS),
    (mc.Gaussian().on("age") * mc.Delta().on("city"), RECORDS),
]


@pytest.mark.parametrize(("kernel", "points"), EVERY, ids=lambda value: str(value)[:60])
def test_every_kernel_keeps_the_laws(kernel, points):
    report = check_kernel(kernel, points)
    assert len(report.checked) + len(report.skipped) == len(ALL)


@pytest.mark.parametrize("kernel", [k for k, points in EVERY if points is X], ids=str)
@pytest.mark.parametrize("form", [np.float32, sp.csr_array])
def test_every_kernel_keeps_the_laws_in_float32_and_sparse(kernel, form):
    points = np.asarray(X, np.float32) if form is np.float32 else sp.csr_array(np.asarray(X))
    check_kernel(kernel, points)


CLUSTERS = np.array([[1e6, 1e6], [-1e6, -1e6]]).repeat(3, axis=0) + 1e-3 * np.array(
    [[0.3, 1.1], [-0.8, 0.2], [1.9, -1.4], [0.1, -0.6], [-1.2, 0.9], [0.7, 1.6]]
)
"""Two clusters, far from zero, and farther from each other than they are wide."""


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Gaussian(),
        mc.Gaussian().on(1) + mc.Linear().on(0),
        mc.Schoenberg(0.5, mc.Polynomial()),
        mc.Matern(2.5) * mc.Polynomial(),
    ],
    ids=str,
)
def test_steps_are_as_short_as_the_clusters_ask_for(kernel):
    report = check_kernel(kernel, CLUSTERS)
    assert "k.gradient(X, Y) is the slope in x" in report.checked


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (mc.Linear() * mc.Gaussian(), 1e100 * np.asarray(X)),
        (mc.Periodic(0.7), np.vstack([1e8 * np.pi * np.asarray(X), np.asarray(X)])),
        (mc.Cosine(), 1e-310 * np.asarray(X)),
        (mc.Cosine() * mc.Gaussian(), sp.csr_array(1e-310 * np.asarray(X))),
    ],
    ids=lambda value: str(value)[:40],
)
def test_slopes_that_no_difference_shows_are_no_broken_law(kernel, points):
    check_kernel(kernel, points)


def test_a_square_that_underflows_is_no_broken_law():
    points = np.array([[1e-12, 0.0], [1e4, 1.0], [0.0, 0.0], [1.0, -1.0]], np.float32)
    k = mc.Polynomial(degree=4, offset=0)
    # In single precision k(x, x) and the features of x are zero, and k(x, y) is not.
    assert k(points)[0, 0] == 0 < k(points)[0, 1]
    check_kernel(k, points)


def test_one_point_is_enough():
    report = check_kernel(mc.Gaussian(), [[1.0]])
    assert "k is positive semidefinite" in report.checked


def test_the_report_says_what_was_checked_and_what_not():
    report = check_kernel(mc.Gaussian() + 2 * mc.Linear(), X)
    text = str(report)
    assert text.startswith("gaussian + 2.0 * linear keeps 21 laws on 6 points")
    assert all(law in text for law in (*report.checked, *report.skipped))
    assert report.points == 6
    assert report.error == 2.0**-40


def test_user_code_is_checked_as_far_as_it_goes():
    report = check_kernel(mc.from_function(lambda x, y: float(x[0] * y[0])), X)
    assert set(report.skipped) == {
        "k(x, x) = 1 exactly, where proved",
        "k(x, y) >= 0, where proved",
        "the features Phi give k(X) = Phi Phi'",
        "mercer.kernel(str(k)) == k",
        "repr(k) can be pasted",
        "k can be pickled",
        "k.gradient(X, Y) is the slope in x",
        "k.parameter_gradient(X, Y) is the slope in log-parameters",
    }
    assert "code" in report.skipped["mercer.kernel(str(k)) == k"]
    assert "pickle" in report.skipped["k can be pickled"]
    assert "features" in {
        law.split()[1] for law in check_kernel(mc.FeatureKernel(abs_all), X).checked
    }


def abs_all(x):
    return np.abs(x)


def test_a_function_that_can_be_imported_is_pickled():
    assert "k can be pickled" in check_kernel(mc.Linear().map(abs_all), X).checked
    assert "k can be pickled" in check_kernel(mc.Linear().weighted(np.sum), X).checked


def test_bad_points_are_an_error_of_the_points():
    with pytest.raises(InvalidInput):
        check_kernel(mc.Gaussian(), [[np.nan]])
    with pytest.raises(InvalidInput):
        check_kernel(mc.Gaussian(), np.empty((0, 2)))


# ------------------------------------------------------- functions that are no kernels

REALS = Numbers()


@pytest.mark.parametrize(
    ("function", "points"),
    [
        (lambda x, y: np.exp(-(np.abs(x - y.T) ** 3)), np.linspace(0, 3, 12)),
        (lambda x, y: np.tanh(x @ y.T - 1), np.linspace(-2, 2, 5)),
        (lambda x, y: np.tanh(x @ y.T), np.linspace(0.1, 4, 30)),
        (lambda x, y: np.maximum(x, y.T), [0.5, 1.0]),
        (lambda x, y: np.cos(x + y.T), [0.0, 1.5, 3.0]),
        (lambda x, y: np.log1p(x * y.T), np.geomspace(0.1, 30, 20)),
        (lambda x, y: -np.exp(-((x - y.T) ** 2)), [0.0, 1.0]),
        (lambda x, y: (np.abs(x - y.T) <= 1.0).astype(float), [0.0, 0.75, 1.5]),
        # A little of the identity hides most of it, but not all.
        (lambda x, y: 0.99 * (x == y.T) + 0.01 * np.cos(x + y.T) - 0.99, [0.0, 1.0]),
        # Points of very different norms: the small ones are indefinite among themselves.
        (
            lambda x, y: (
                x * y.T * np.where(np.minimum(x, y.T) < 2, np.sign(0.6 - abs(x - y.T)), 1)
            ),
            [1.0, 1.5, 1.9, 1e9],
        ),
    ],
)
def test_indefinite_functions_are_refuted(function, points):
    with pytest.raises(BrokenLaw, match=r"not positive definite|squared norm is not negative"):
        check_kernel(mc.from_function(function, vectorized=True, domain=REALS), points)


def test_the_message_shows_weights_that_prove_it():
    kernel = mc.from_function(np.maximum)
    with pytest.raises(BrokenLaw) as caught:
        check_kernel(kernel, [1.0, 2.0])
    message = str(caught.value)
    assert "breaks a law: k is positive semidefinite" in message
    shown = {int(row): float(c) for c, row in re.findall(r"(\S+) on row (\d)", message)}
    c, points = np.array([shown[0], shown[1]]), np.array([1.0, 2.0])
    assert c @ np.maximum.outer(points, points) @ c < 0


# ----------------------------------------------------------- a broken kernel for each law


@dataclass(frozen=True)
class Sound(mc.Gaussian):
    """A kernel of one's own that is right: what is broken below is broken on purpose."""


def values(function: Callable[..., Any], kernel: type = Sound) -> type:
    """A class whose Gram matrices are a function of two batches of coordinates."""

    def tiles(self, A, B):
        table = function(A.values, B.values)
        return Blocks(table.shape, table.dtype, lambda rows, columns: table[rows, columns])

    return type("Broken", (kernel,), {"tiles": tiles})


def gauss(x, y):
    return np.exp(-0.5 * ((x[:, None] - y[None, :]) ** 2).sum(axis=-1))


def with_methods(**methods: Any) -> type:
    return type("Broken", (Sound,), methods)


def off_in_the_last_digit(self, A, out=None):
    matrix = np.array(mc.Gaussian().square(A))
    matrix[0, 1] *= 1 + 2.0**-50
    return matrix


def nan_in_the_corner(self, A, out=None):
    matrix = np.array(mc.Gaussian().square(A))
    matrix[-1, -1] = np.nan
    return matrix


def by_place(x, y):
    weights = 1.0 + np.arange(max(len(x), len(y)))
    return gauss(x, y) * np.outer(weights[: len(x)], weights[: len(y)])


def forgetful(self, A, B):
    return (
        values(gauss)().tiles if A is B else values(lambda x, y: gauss(x, y) * 0.5)().tiles
    )(A, B)


def refuse(self, *args):
    raise TypeError("not today")


class Settable(mc.Gaussian):
    __setattr__ = object.__setattr__


class Equal(mc.Gaussian):
    __hash__ = mc.Gaussian.__hash__

    def __eq__(self, other):
        return True


class Unequal(mc.Gaussian):
    __hash__ = mc.Gaussian.__hash__

    def __eq__(self, other):
        return self is other


class Rounding(mc.Gaussian):
    """A text form that loses digits, in the name of mercer."""

    __module__ = "mercer.kernels.radial"

    def __str__(self):
        return f"gaussian({self.scale:.2g})"


class Misprinted(mc.Gaussian):
    def __repr__(self):
        return "Misprinted(scale=2.0)"


class Abrupt(mc.Gaussian):
    """Its pickle loses the parameter."""

    def __reduce__(self):
        return (Abrupt, ())


own = Vectors()
BROKEN = {
    "values are finite": [with_methods(square=nan_in_the_corner)()],
    "k(x, y) = k(y, x), exactly in k(X)": [
        with_methods(square=off_in_the_last_digit)(),
        values(lambda x, y: gauss(x, y) * (1 + 1e-9 * (x[:, None, 0] > y[None, :, 0])))(),
        mc.from_function(
            lambda x, y: gauss(x, y) * (1 + 0.1 * (x[:, :1] > y[:, :1].T)), True, own
        ),
    ],
    "k.diagonal(X) is the diagonal of k(X)": [
        with_methods(diag=lambda self, A: np.full(len(A), 1 + 1e-9))(),
        with_methods(diag=lambda self, A: np.ones(1))(),
        with_methods(diag=lambda self, A: np.full(len(A), np.nan if A.values[0, 0] else 2.0))(),
    ],
    "k is positive semidefinite": [
        mc.from_function(lambda x, y: np.exp(-(np.abs(x[:, :1] - y[:, :1].T) ** 3)), True, own),
        mc.from_function(lambda x, y: np.tanh(x @ y.T - 1), True, own),
        # Just beyond what rounding explains.
        mc.from_function(
            lambda x, y: 1 - 1e-9 + 1e-9 * np.cos(x[:, :1] + y[:, :1].T), True, own
        ),
    ],
    "|k(x, y)|^2 <= k(x, x) k(y, y)": [
        mc.from_function(lambda x, y: np.abs(x[:, :1] - y[:, :1].T), True, own),
    ],
    "k(x, x) = 1 exactly, where proved": [
        values(lambda x, y: gauss(x, y) * (1 - 2.0**-53))(),
        with_methods(diag=lambda self, A: np.full(len(A), 1 - 2.0**-53))(),
    ],
    "k(x, y) >= 0, where proved": [values(lambda x, y: np.cos(x[:, :1] - y[:, :1].T))()],
    "k(X) = k(X, Y) where Y is a copy of X": [with_methods(tiles=forgetful)()],
    "rows and parts of X are rows and parts of k(X)": [
        type(
            "Broken",
            (mc.Linear,),
            {
                "tiles": values(by_place).tiles,
                "diag": lambda self, A: (1.0 + np.arange(len(A))) ** 2,
            },
        )(),
        # Centring on the points at hand: a kernel looks at two points, not at their neighbours.
        type(
            "Broken",
            (mc.Linear,),
            {
                "tiles": values(lambda x, y: (x - x.mean(0)) @ (y - y.mean(0)).T).tiles,
                "diag": lambda self, A: ((A.values - A.values.mean(0)) ** 2).sum(1),
            },
        )(),
    ],
    "equal points have equal values": [mc.from_function(lambda x, y: float(x is y) + 1e-3)],
    "k.pair(x, y) is an entry of k(X, Y)": [with_methods(pair=lambda self, x, y: 1.0)()],
    "out= is written in place": [
        with_methods(square=lambda self, A, out=None: mc.Gaussian().square(A))(),
        with_methods(block=lambda self, A, B, out=None: mc.Gaussian().block(A, B))(),
        with_methods(
            block=lambda self, A, B, out=None: mc.Gaussian().block(A, B) if out is None else out
        )(),
    ],
    "the features Phi give k(X) = Phi Phi'": [
        with_methods(feature_map=lambda self, A: A.values)(),
        type("Broken", (mc.Linear,), {"feature_map": lambda self, A: A.values * (1 + 1e-9)})(),
        type("Broken", (mc.Linear,), {"feature_map": lambda self, A: A.values[:1]})(),
    ],
    "k.distance(X) is the distance of the features": [
        with_methods(distance=lambda self, X, Y=None: np.sqrt(np.full((6, 6), -1.0)))(),
        with_methods(distance=lambda self, X, Y=None: 2 - 2 * self(X, X if Y is None else Y))(),
        with_methods(distance=lambda self, X, Y=None: -mc.Gaussian().distance(X, Y))(),
    ],
    "the proof is there and holds": [
        with_methods(proof=lambda self: mc.Proof("schur product", self.term()))(),
        with_methods(proof=lambda self: mc.Proof("because I say so", self.term()))(),
        with_methods(proof=lambda self: "trust me")(),
        with_methods(proof=lambda self: mc.Linear().proof())(),
        with_methods(word="unheard_of")(),
    ],
    "mercer.kernel(str(k)) == k": [Rounding(0.123456789)],
    "repr(k) can be pasted": [Misprinted(), type("A b", (mc.Gaussian,), {})()],
    "k can be pickled": [Abrupt(3.0), with_methods(__reduce__=refuse)()],
    "k is its own copy": [
        with_methods(__deepcopy__=lambda self, memo: replace(self))(),
        with_methods(__copy__=replace)(),
    ],
    "k is immutable": [Settable()],
    "k is equal and hashed by value": [Equal()],
    "k.replace(**k.parameters()) == k": [
        with_methods(parameters=lambda self: {"scale": 3.0})(),
        with_methods(__hash__=id)(),
        Unequal(),
    ],
    "k.gradient(X, Y) is the slope in x": [
        with_methods(gradient_block=lambda self, A, B: -mc.Gaussian().gradient_block(A, B))(),
        with_methods(
            gradient_block=lambda self, A, B: mc.Gaussian().gradient_block(A, B) * (1 + 1e-5)
        )(),
        with_methods(gradient_block=lambda self, A, B: np.zeros((len(A), len(B))))(),
        with_methods(gradient_block=lambda self, A, B: np.full((len(A), len(B), 2), np.nan))(),
    ],
    "k.parameter_gradient(X, Y) is the slope in log-parameters": [
        with_methods(
            parameter_block=lambda self, A, B: {"scale": np.zeros((len(A), len(B)))}
        )(),
        with_methods(
            parameter_block=lambda self, A, B: {"length": np.zeros((len(A), len(B)))}
        )(),
        with_methods(parameter_block=lambda self, A, B: {"scale": np.zeros(3)})(),
    ],
}


def test_there_is_a_broken_kernel_for_each_law():
    assert set(BROKEN) == set(ALL)


@pytest.mark.parametrize(
    ("law", "kernel"), [(law, kernel) for law, kernels in BROKEN.items() for kernel in kernels]
)
def test_a_broken_law_is_found(law, kernel, monkeypatch):
    # The later laws often follow from earlier ones: each has to see its own breach.
    monkeypatch.setattr("mercer.testing.check.ALL", {law: ALL[law]})
    with np.errstate(all="ignore"), pytest.raises(BrokenLaw) as caught:
        check_kernel(kernel, X)
    assert f"breaks a law: {law}" in str(caught.value)
    assert isinstance(caught.value, AssertionError)
    assert isinstance(caught.value, MercerError)
    assert check_kernel(Sound(), X).checked in ((law,), ())


def test_a_kernel_without_a_proof_is_told_just_that():
    for kernel in (with_methods(word="unheard_of")(), with_methods(proof=lambda self: "yes")()):
        with pytest.raises(BrokenLaw, match="breaks a law: the proof is there and holds"):
            check_kernel(kernel, [[0.0, 1.0], [2.0, 0.5]])


def test_the_sound_kernel_of_ones_own_passes():
    report = check_kernel(Sound(), X)
    assert (
        "Sound is not a kernel of mercer's own" in report.skipped["mercer.kernel(str(k)) == k"]
    )
    assert {field.name for field in fields(Sound)} == {"scale", "metric"}


def test_an_error_inside_a_law_breaks_it():
    def capricious(x, y):
        if x is y:
            raise RuntimeError("I do not compare a point with itself twice")
        return 1.0

    kernel = with_methods(distance=lambda self, X, Y=None: 1 / 0)()
    with pytest.raises(BrokenLaw, match="ZeroDivisionError"):
        check_kernel(kernel, X)
    with pytest.raises(RuntimeError, match="twice"):
        check_kernel(mc.from_function(capricious), X)


def test_wide_points_are_allowed_what_runs_of_terms_lose():
    wide = Vectors().encode(np.ones((1, 10_000), np.float32))
    assert rounding(mc.Linear(), wide, np.dtype(np.float32)) == 2.0**-15
