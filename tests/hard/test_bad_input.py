"""Data that are no points: an error of mercer's that says what, where and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.errors import (
    BudgetExceeded,
    DomainMismatch,
    InvalidInput,
    InvalidParameter,
    InvalidType,
    MercerError,
    NotAKernel,
)

NAN, INF = float("nan"), float("inf")
GOOD = [[1.0, 2.0], [3.0, 4.0]]

BAD_VECTORS = {
    "nan": ([[1.0, 2.0], [NAN, 4.0]], "row 1, column 0"),
    "inf": ([[1.0, INF], [3.0, 4.0]], "row 0, column 1"),
    "minus inf": ([[1.0, 2.0], [3.0, -INF]], "infinite"),
    "None": ([[1.0, None], [3.0, 4.0]], "NaN"),
    "sparse nan": (sp.csr_array([[0.0, 1.0], [NAN, 0.0]]), "row 1, column 0"),
    "float32 inf": (np.array([[1.0, INF]], np.float32), "row 0, column 1"),
    "empty list": ([], "0 sample"),
    "no rows": (np.empty((0, 2)), "0 sample"),
    "no columns": (np.empty((3, 0)), "0 feature"),
    "one-dimensional": ([1.0, 2.0, 3.0], "reshape"),
    "a number": (3.0, "point"),
    "three axes": (np.zeros((2, 2, 2)), "axes"),
    "ragged": ([[1.0, 2.0], [3.0]], ""),
    "text": ([["a", "b"], ["c", "d"]], ""),
    "a string": ("hello", ""),
    "objects": (np.array([[object(), 1.0]], dtype=object), ""),
    "dicts": ([{"a": 1}], ""),
    "sets": ([{1, 2}], ""),
    "complex": (np.array([[1j, 2.0]]), "omplex"),
    "datetime": (np.array([["2020-01-01"]], "datetime64[D]"), ""),
    "frame with nan": (pd.DataFrame({"age": [1.0, NAN]}), "age"),
    "frame with text": (pl.DataFrame({"age": [1.0], "city": ["Oslo"]}), "city"),
    "none at all": (None, ""),
}


@pytest.mark.parametrize("name", BAD_VECTORS)
@pytest.mark.parametrize(
    "kernel",
    [
        mc.Gaussian(),
        mc.Linear(),
        mc.Laplacian(),
        mc.Gaussian() + mc.Linear() * mc.White(),
        (2 * mc.Polynomial()).normalized(),
        mc.Linear().exp(),
    ],
    ids=str,
)
def test_what_is_no_matrix_of_numbers(kernel, name):
    raw, words = BAD_VECTORS[name]
    for call in (
        lambda: kernel(raw),
        lambda: kernel(GOOD, raw) if raw is not None else kernel(raw),
        lambda: kernel(raw, GOOD),
        lambda: kernel.diagonal(raw),
        lambda: kernel.distance(raw),
        lambda: kernel.gradient(raw),
        lambda: kernel.features(raw),
        lambda: mc.operator(kernel, raw),
    ):
        with pytest.raises((InvalidInput, InvalidType)) as caught:
            call()
        message = str(caught.value)
        assert words in message
        assert len(message) > 30
        assert isinstance(caught.value, ValueError | TypeError)


WIDTHS = [
    (mc.Gaussian(), GOOD, [[1.0]]),
    (mc.Linear(), sp.csr_array(GOOD), [[1.0, 2.0, 3.0]]),
    (mc.Laplacian(), GOOD, sp.csr_array([[1.0]])),
    (mc.Tanimoto(), GOOD, [[1.0]]),
    (mc.White(), GOOD, [[1.0]]),
    (mc.Gaussian() * mc.Linear(), GOOD, [[1.0]]),
    (mc.Linear().normalized(), GOOD, [[1.0]]),
]


@pytest.mark.parametrize(("kernel", "X", "Y"), WIDTHS, ids=lambda value: str(value)[:20])
def test_points_of_different_widths(kernel, X, Y):
    for call in (
        lambda: kernel(X, Y),
        lambda: mc.operator(kernel, X, Y),
        lambda: kernel.distance(X, Y),
    ):
        with pytest.raises(InvalidInput, match=r"coordinates|features|columns"):
            call()


@pytest.mark.parametrize(
    "kernel",
    [
        mc.Gaussian((1.0, 2.0, 3.0)),
        mc.Laplacian((1.0,)),
        mc.Polynomial(scale=(1.0, 2.0, 3.0)),
        mc.Periodic((1.0, 1.0, 1.0)),
        mc.Gaussian(metric=[[1.0]]),
        mc.Linear([[1.0]]),
        mc.Matern(scale=(1.0,)).on(0, 1),
        mc.Wendland(dimension=1),
        mc.Chi2((1.0,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_parameters_of_another_width(kernel, form):
    with pytest.raises(InvalidInput, match=r"feature|coordinate|wider|scales|rows"):
        kernel(form(np.array(GOOD)))
    with pytest.raises(InvalidInput):
        kernel.diagonal(form(np.array(GOOD)))


@pytest.mark.parametrize(
    ("kernel", "points", "words"),
    [
        (mc.Chi2(), [[1.0, -2.0]], "Negative"),
        (mc.Intersection(), sp.csr_array([[1.0, -2.0]]), "Negative"),
        (mc.AdditiveChi2(), [[-1e-300]], "Negative"),
        (mc.Min(), [1.0, -1.0], "-1.0 at row 1"),
        (mc.MinOverMax(), [1.0, 0.0], "0.0 at row 1"),
        (mc.Geometric(), [0.5, 1.0], "1.0 at row 1"),
        (mc.Geometric(), [-1.0], "-1.0 at row 0"),
        (mc.GCD(), [1, 2, 0], "0.0 at row 2"),
        (mc.GCD(), [1.0, 2.5], "not whole"),
        (mc.GCDOverLCM(), [2.0**60], "too large"),
        (mc.Min(), [[1.0, 2.0]], "2 columns"),
        (mc.Gaussian() * mc.Min(), [[-1.0]], "-1.0"),
        (mc.Jaccard(), ["abc"], "not a set of letters"),
        (mc.Jaccard(), [[1, 2]], "set"),
        (mc.Jaccard(), {1, 2}, "list of points"),
        (mc.SetIntersection(), [{1}, 3], "row 1"),
        (mc.SetPower(), np.array([[0.0, 2.0]]), "zeros and ones"),
        (mc.Delta(), [], "0 sample"),
        (mc.Delta(), "abc", "list of points"),
        (mc.Delta().on("city"), {"city": []}, "0 sample"),
        (mc.Delta().on("city"), {"town": ["Oslo"]}, "there is no column 'city'"),
        (mc.Gaussian().on("aeg"), pd.DataFrame({"age": [1.0]}), "Did you mean 'age'"),
        (mc.Gaussian().on("age"), {"age": [1.0, NAN]}, "column 'age'"),
        (mc.Gaussian().on("age"), {"age": [1.0, INF]}, "column 'age'"),
        (mc.Gaussian().on("age"), {"age": ["old", "young"]}, "column 'age'"),
        (mc.Min().on("age"), {"age": [-1.0]}, "column 'age'"),
        (mc.Jaccard().on("tags"), {"tags": [1.0, 2.0]}, "column 'tags'"),
        (mc.Gaussian().on("age"), {"age": [1.0, 2.0], "city": ["Oslo"]}, "rows"),
        (mc.Gaussian().on(2), GOOD, "column 2"),
        (mc.Gaussian().on(0), [1.0, 2.0], "reshape"),
    ],
)
def test_points_outside_of_the_domain(kernel, points, words):
    with pytest.raises((InvalidInput, InvalidType)) as caught:
        kernel(points)
    assert words in str(caught.value)
    with pytest.raises((InvalidInput, InvalidType)):
        kernel.diagonal(points)


@pytest.mark.parametrize(
    "combine",
    [
        lambda: mc.Gaussian() + mc.Jaccard(),
        lambda: mc.Jaccard() * mc.Min(),
        lambda: mc.Gaussian().on("age") + mc.Linear(),
        lambda: mc.MinOverMax() + mc.from_function(max, domain=mc.Geometric().domain).on("x"),
        lambda: mc.Jaccard().on("tags") + mc.Jaccard(),
    ],
)
def test_kernels_without_a_common_point(combine):
    with pytest.raises(DomainMismatch, match=r"point|column"):
        combine()


@pytest.mark.parametrize(
    "make",
    [
        lambda: mc.Gaussian(0),
        lambda: mc.Gaussian(-1),
        lambda: mc.Gaussian(NAN),
        lambda: mc.Gaussian(INF),
        lambda: mc.Gaussian("auto"),
        lambda: mc.Gaussian(()),
        lambda: mc.Gaussian((1.0, -1.0)),
        lambda: mc.Gaussian(True),
        lambda: mc.Gaussian(1e200),
        lambda: mc.Gaussian(1e-200),
        lambda: mc.Gaussian(None),
        lambda: mc.Gaussian([[1.0]]),
        lambda: mc.Gaussian(metric=[[1.0, 2.0], [2.0, 1.0]]),
        lambda: mc.Gaussian(metric=[[1, 2]]),
        lambda: mc.Gaussian(metric=[[1.0, 0.5], [0.0, 1.0]]),
        lambda: mc.Gaussian(metric=[[NAN]]),
        lambda: mc.Gaussian((1.0, 2.0), metric=np.eye(2)),
        lambda: mc.Linear([[-1.0]]),
        lambda: mc.Polynomial(2.5),
        lambda: mc.Polynomial(0),
        lambda: mc.Polynomial(offset=-1),
        lambda: mc.Polynomial(True),
        lambda: mc.Matern(0),
        lambda: mc.Matern(-1.5),
        lambda: mc.RationalQuadratic(alpha=0),
        lambda: mc.GeneralizedGaussian(p=2.5),
        lambda: mc.GeneralizedGaussian(p=1.0, power=2.0),
        lambda: mc.Wendland(4),
        lambda: mc.Wendland(dimension=0),
        lambda: mc.Wendland(1.5),
        lambda: mc.Periodic(0),
        lambda: mc.SetPower(0.5),
        lambda: mc.ProductPower(0.9),
        lambda: mc.SumPower(0),
        lambda: mc.CosineDifference(INF),
        lambda: mc.Scaled(-1, mc.Linear()),
        lambda: mc.Schoenberg(0, mc.Linear()),
        lambda: mc.series(mc.Linear(), ()),
        lambda: mc.series(mc.Linear(), (1.0, -1.0)),
        lambda: mc.Linear() / 0,
        lambda: mc.from_function(3),
        lambda: mc.FeatureKernel("f"),
        lambda: mc.Linear().map(3),
        lambda: mc.Linear().weighted(None),
        lambda: mc.Linear().on(),
        lambda: mc.Linear().on(-1),
        lambda: mc.Linear().on("a", 1),
        lambda: mc.Linear().on("a", "a"),
        lambda: mc.Linear().on(0.5),
        lambda: mc.Linear().on(True),
        lambda: mc.Gaussian().replace(width=1.0),
        lambda: mc.Gaussian().replace(scale__x=1.0),
        lambda: mc.Gaussian().replace(scale=-1.0),
    ],
)
def test_parameters_that_make_no_kernel(make):
    with pytest.raises(InvalidParameter) as caught:
        make()
    assert len(str(caught.value)) > 25
    assert isinstance(caught.value, ValueError)


def test_operators_reject_what_does_not_fit():
    A = mc.operator(mc.Gaussian(), GOOD)
    for wrong in ([NAN, 1.0], [INF, 0.0]):
        with pytest.raises(InvalidInput, match="NaN or infinite"):
            A @ np.array(wrong)
    with pytest.raises(ValueError, match=r"mismatch|shape"):
        A @ np.ones(3)
    with pytest.raises(InvalidInput):
        A.solve([1.0, NAN])
    with pytest.raises(BudgetExceeded, match="blocked"):
        mc.operator(
            mc.Gaussian(), np.zeros((100, 1)), plan=mc.Plan(method="dense", memory=1000)
        )
    with pytest.raises(InvalidParameter):
        mc.operator(mc.Gaussian(), GOOD, plan="fast")
    with pytest.raises(MercerError):
        mc.operator("gaussian(-1)", GOOD)
    with pytest.raises(InvalidParameter):
        mc.operator(mc.Jaccard(), [{1}], plan=mc.Plan(precision="float32"))


def test_functions_that_misbehave():
    for function in (
        lambda x, y: NAN,
        lambda x, y: INF,
        lambda x, y: [1.0, 2.0],
        lambda x, y: "one",
        lambda x, y: None,
    ):
        with pytest.raises(MercerError):
            mc.from_function(function)(GOOD)
    for function in (
        lambda A, B: np.ones(3),
        lambda A, B: 1.0,
        lambda A, B: np.full((2, 2), NAN),
    ):
        with pytest.raises(MercerError):
            mc.from_function(function, vectorized=True)(GOOD)
    for function in (
        lambda x: [NAN],
        lambda x: ["a"],
        lambda x: [1.0] * int(x[0]),
        lambda x: [[1.0]],
    ):
        with pytest.raises(MercerError):
            mc.FeatureKernel(function)(GOOD)
    for function in (lambda x: NAN, lambda x: [1.0, 2.0], lambda x: "a"):
        with pytest.raises(MercerError):
            mc.Linear().weighted(function)(GOOD)
    with pytest.raises(MercerError):
        mc.Linear().map(lambda x: "text")(GOOD)
    with pytest.raises(MercerError):
        mc.Linear().map(lambda x: [1.0] * int(x[0]))(GOOD)


def test_a_difference_of_kernels_says_what_to_do():
    with pytest.raises(NotAKernel, match="cone"):
        mc.Gaussian() - mc.Linear()
