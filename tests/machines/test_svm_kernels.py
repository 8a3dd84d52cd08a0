"""The kernels that scikit-learn calls by a word."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import pairwise_kernels

from mercer.domains import Vectors
from mercer.machines.svm_kernels import gamma_of, kernel_called, variance


@pytest.mark.parametrize("word", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize(("gamma", "degree", "coef0"), [(0.3, 3, 0.0), (2.0, 2, 1.0)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_values_are_those_of_scikit_learn(rng, word, gamma, degree, coef0, form):
    X, Y = rng.normal(size=(20, 3)), rng.normal(size=(7, 3))
    known = {"gamma": gamma, "degree": degree, "coef0": coef0}
    kernel = kernel_called(word, gamma, degree, coef0)
    wanted = pairwise_kernels(X, Y, metric=word, filter_params=True, **known)
    np.testing.assert_allclose(kernel(form(X), form(Y)), wanted, rtol=1e-12, atol=1e-13)
    own = pairwise_kernels(X, metric=word, filter_params=True, **known)
    np.testing.assert_allclose(kernel.diagonal(form(X)), np.diagonal(own), rtol=1e-12)
    assert kernel.is_assumed == (word == "sigmoid")


@pytest.mark.parametrize(
    ("word", "gamma", "degree", "coef0", "formula"),
    [
        ("rbf", 0.0, 3, 0.0, np.ones_like),
        ("poly", 0.0, 3, 2.0, lambda S: np.full_like(S, 8.0)),
        ("poly", 0.5, 0, 0.0, np.ones_like),
        ("poly", 0.5, 2, -1.0, lambda S: (0.5 * S - 1) ** 2),
    ],
)
def test_odd_parameters_are_read_as_the_formula_says(rng, word, gamma, degree, coef0, formula):
    X = rng.normal(size=(9, 3))
    kernel = kernel_called(word, gamma, degree, coef0)
    np.testing.assert_allclose(kernel(X), formula(X @ X.T), rtol=1e-12, atol=1e-13)


def test_the_variance_is_that_of_all_coordinates_with_the_weights_of_their_rows(rng):
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.5) + [0, 0, 0, 3]
    times = rng.integers(0, 4, 30)
    wanted = np.repeat(X, times, axis=0).var()
    for form in (np.asarray, sp.csr_array):
        batch = Vectors().encode(form(X))
        assert variance(batch, times.astype(float)) == pytest.approx(wanted, rel=1e-12)
    assert gamma_of("scale", Vectors().encode(np.ones((3, 2))), np.ones(3)) == 1.0
