"""The doors for user code."""

import pickle
import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import NONNEGATIVE, Vectors
from mercer.errors import InvalidInput, NoTextForm
from mercer.testing import check_kernel

WORDS = ["data", "gala", "", "banana", "data"]


def counts(word):
    return [len(word), word.count("a"), 1.0]


def overlap(x, y):
    return float(len(set(x) & set(y)))


def test_a_feature_map():
    kernel = mc.FeatureKernel(counts)
    phi = np.array([counts(word) for word in WORDS], float)
    np.testing.assert_array_equal(kernel.features(WORDS), phi)
    np.testing.assert_allclose(kernel(WORDS), phi @ phi.T)
    np.testing.assert_allclose(kernel(WORDS, WORDS[:2]), phi @ phi[:2].T)
    np.testing.assert_allclose(kernel.diagonal(WORDS), (phi**2).sum(axis=1))
    assert not kernel.is_assumed
    report = check_kernel(kernel, WORDS)
    assert "k can be pickled" in report.checked
    assert "the features Phi give k(X) = Phi Phi'" in report.checked


def test_a_feature_map_of_one_number():
    assert mc.FeatureKernel(len).pair("ab", "abc") == 6.0
    assert mc.FeatureKernel(lambda x: x**2, points=NONNEGATIVE).pair(2.0, 3.0) == 36.0


def test_a_vectorized_feature_map(rng):
    X = rng.normal(size=(12, 3))
    kernel = mc.FeatureKernel(
        lambda A: np.tanh(A @ np.ones((3, 4))), vectorized=True, points=Vectors()
    )
    phi = np.tanh(X @ np.ones((3, 4)))
    np.testing.assert_allclose(kernel(X), phi @ phi.T)
    check_kernel(kernel, X)
    words = mc.FeatureKernel(lambda ws: [[len(w)] for w in ws], vectorized=True)
    assert words(["a", "bb"]).tolist() == [[1, 2], [2, 4]]


def test_a_function():
    kernel = mc.from_function(overlap)
    assert kernel(WORDS).tolist() == [[overlap(x, y) for y in WORDS] for x in WORDS]
    assert kernel.is_assumed
    assert kernel.pair("ab", "bc") == 1.0
    check_kernel(kernel, WORDS)
    assert kernel == mc.from_function(overlap) == mc.FunctionKernel(overlap)
    assert kernel != mc.from_function(counts)
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_a_vectorized_function(rng):
    X = rng.normal(size=(200, 2))
    kernel = mc.from_function(
        lambda A, B: np.exp(-((A[:, None] - B[None]) ** 2).sum(-1) / 2),
        vectorized=True,
        domain=Vectors(),
    )
    np.testing.assert_allclose(kernel(X), mc.Gaussian()(X), atol=1e-12)
    check_kernel(kernel, X[:20])
    A = mc.operator(kernel, X, plan="blocked")
    np.testing.assert_allclose(A @ np.ones(200), mc.Gaussian()(X).sum(axis=1))


def test_points_as_the_user_gave_them():
    seen = []

    def spy(x, y):
        seen.append((type(x), type(y)))
        return 1.0

    mc.from_function(spy)([1, 2])
    mc.from_function(spy)(["a"])
    mc.from_function(spy)([{"a": 1}])
    mc.from_function(spy)([[1.0, 2.0]])
    mc.from_function(spy)(np.zeros((1, 2)))
    mc.from_function(spy, domain=Vectors())([[1.0, 2.0]])
    assert {first for first, _ in seen} == {int, str, dict, list, np.ndarray}


@pytest.mark.parametrize("domain", [None, Vectors()])
def test_sparse_rows_are_arrays_and_all_of_them_a_sparse_matrix(domain):
    X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    S = sp.csr_array(X)
    points = Vectors() if domain is None else domain
    one = mc.from_function(lambda x, y: x[1] * y[1] + x[2] * y[2], domain=domain)
    np.testing.assert_array_equal(one(S), X[:, 1:] @ X[:, 1:].T)
    many = mc.from_function(lambda A, B: A @ B.T, vectorized=True, domain=domain)
    np.testing.assert_array_equal(many(S), X @ X.T)
    np.testing.assert_array_equal(many.diagonal(S), (X**2).sum(axis=1))
    feature = mc.FeatureKernel(lambda x: x[1:], points=points)
    np.testing.assert_array_equal(feature.features(S), X[:, 1:])
    features = mc.FeatureKernel(lambda A: A[:, [1, 2]], vectorized=True, points=points)
    np.testing.assert_array_equal(features.features(S), X[:, 1:])


@pytest.mark.parametrize("vectorized", [False, True])
def test_tables_whose_columns_stand_in_another_order(vectorized):
    table = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    function = mc.from_function(
        lambda x, y: np.asarray(x)[..., :1] @ np.asarray(y)[..., :1].T,
        vectorized=vectorized,
        domain=Vectors(),
    )
    feature = mc.FeatureKernel(lambda x: x[..., :1], vectorized=vectorized, points=Vectors())
    for kernel in (function, feature):
        np.testing.assert_array_equal(kernel(table, table.copy()), [[1, 2], [2, 4]])
        with pytest.raises(InvalidInput, match="'a' in one table and 'b' in the other"):
            kernel(table, table[["b", "a"]])
        with pytest.raises(InvalidInput, match="of 2 and of 1 coordinates"):
            kernel(table, table[["a"]])


def test_the_status_stays_visible_in_every_combination():
    assumed = mc.from_function(lambda x, y: 1.0, domain=Vectors())
    for kernel in (
        assumed + mc.Gaussian(),
        mc.Gaussian() * assumed,
        2 * assumed,
        assumed**2,
        assumed.exp(),
        assumed.normalized(),
        assumed.on(0),
        mc.series(assumed, (1.0, 1.0)),
        mc.Schoenberg(1.0, assumed),
        assumed.weighted(len),
        assumed.map(len),
    ):
        assert kernel.is_assumed
        assert "assumed" in kernel.proof().facts
        assert "assumed" in str(kernel.proof())
        kernel.proof().check()


def test_no_text_form_for_code():
    for kernel in (
        mc.from_function(overlap),
        mc.FeatureKernel(counts) + 1,
        mc.Linear().map(counts),
        mc.Linear().weighted(len),
    ):
        with pytest.raises(NoTextForm, match="user code"):
            kernel.text()
        assert isinstance(str(kernel), str)
        with pytest.raises(NoTextForm):
            mc.kernel(str(kernel))


def test_messages_name_the_points():
    with pytest.raises(InvalidInput, match="points 0 and 2"):
        mc.from_function(lambda x, y: np.nan if "c" in (x, y) and x != y else 1.0)(
            ["a", "b", "c"]
        )
    with pytest.raises(InvalidInput, match="row 1"):
        mc.FeatureKernel(lambda x: [x])([1.0, np.inf])
    with pytest.raises(InvalidInput, match="row 1"):
        mc.Bias().weighted(lambda x: np.nan if x == "b" else 1.0)(["a", "b"])
    with pytest.raises(InvalidInput, match="width"):
        mc.FeatureKernel(lambda x: [1.0] * len(x))(["a", "ab"])
    with pytest.raises(InvalidInput, match="width"):
        mc.FeatureKernel(lambda x: [1.0] * len(x))(["a"], ["ab"])


@pytest.mark.parametrize("vectorized", [True, False])
def test_an_error_in_user_code_is_the_users(vectorized):
    class Mine(Exception):
        pass

    def broken(*args):
        raise Mine("here")

    for kernel in (mc.from_function(broken, vectorized), mc.FeatureKernel(broken, vectorized)):
        with pytest.raises(Mine, match="here"):
            kernel(WORDS)
    for kernel in (mc.Bias().map(broken), mc.Bias().weighted(broken)):
        with pytest.raises(Mine, match="here"):
            kernel(WORDS)


def test_a_user_function_is_called_from_one_thread_at_a_time():
    # 300 x 300 entries are enough for several threads, and here there must be one.
    callers = set()

    def function(x, y):
        callers.add(threading.get_ident())
        return float(x[0] * y[0])

    X = np.arange(1.0, 301.0).reshape(-1, 1)
    k = mc.from_function(function)
    for kernel in (k, 2 * k + mc.Gaussian(), k.normalized()):
        kernel(X, X[:299])
        mc.operator(kernel, X, plan=mc.Plan(method="blocked", threads=3)) @ np.ones(300)
    assert callers == {threading.get_ident()}


@pytest.mark.parametrize(
    "kernel",
    [
        mc.FeatureKernel(lambda x: np.array([1 + 2j])),
        mc.FeatureKernel(lambda x: "3"),
        mc.from_function(lambda x, y: np.complex128(1j)),
        mc.from_function(lambda X, Y: 1j * np.ones((len(X), len(Y))), vectorized=True),
    ],
)
def test_values_are_real_numbers(kernel):
    with pytest.raises(InvalidInput, match="not real numbers"):
        kernel([[1.0], [2.0]])
