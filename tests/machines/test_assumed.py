"""Kernels that nobody has proved: every machine finds out which are none."""

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidInput, NotPositiveDefinite
from mercer.machines.assumed import check_assumed
from mercer.machines.precomputed import Precomputed

MACHINES = [
    mc.KernelRidge, mc.KernelRegressor, mc.KernelClassifier, mc.KernelLogisticRegression,
    mc.KernelPerceptron, mc.KernelNeighborsClassifier, mc.KernelNeighborsRegressor,
    mc.NearestBarycenter, mc.KernelPCA, mc.KernelKMeans, mc.KernelCCA,
]  # fmt: skip

UNSOLVED = [
    mc.KernelPerceptron, mc.KernelNeighborsClassifier, mc.KernelNeighborsRegressor,
    mc.NearestBarycenter, mc.KernelKMeans,
]  # fmt: skip
"""They solve no equations, and take any matrix: scikit-learn's checks ask for that."""


@pytest.fixture
def data():
    X = np.random.default_rng(0).normal(size=(40, 2))
    return X, (X[:, 0] > 0).astype(int)


def wrong(x, z):
    return float(np.tanh(x @ z - 1))


@pytest.mark.parametrize("machine", MACHINES)
def test_every_machine_names_what_is_no_kernel_and_offers_the_repair(machine, data):
    X, y = data
    with pytest.raises(NotPositiveDefinite, match=r"not positive definite(.|\n)*repair"):
        machine(kernel=wrong).fit(X, y)
    if machine in UNSOLVED:
        return
    matrix = np.tanh(X @ X.T - 1)
    with pytest.raises(NotPositiveDefinite, match=r"not positive definite(.|\n)*repair"):
        machine(kernel="precomputed").fit(matrix, y)
    machine(kernel="precomputed").fit(mc.repair(matrix).matrix, y)


def test_what_is_not_symmetric_is_named(data):
    X, y = data
    with pytest.raises(NotPositiveDefinite, match="not even symmetric"):
        mc.KernelPerceptron(lambda x, z: float(x[0] * z[1])).fit(X, y)
    K = Precomputed.of(X @ X.T + np.eye(40, k=1))
    with pytest.raises(NotPositiveDefinite, match=r"the precomputed matrix .* symmetric"):
        check_assumed(K, K.every)


def test_values_in_single_precision_are_still_those_of_a_kernel(data):
    X, y = data
    rounded = mc.Gaussian(2.0)(X).astype(np.float32)
    mc.NearestBarycenter("precomputed").fit(rounded, y)
    K = Precomputed.of(rounded.astype(float))
    check_assumed(K, K.every)


def test_a_value_that_is_missing_is_named_by_row_and_column(data):
    X, y = data
    matrix = X @ X.T
    matrix[2, 5] = np.nan
    with pytest.raises(InvalidInput, match="row 2, column 5"):
        mc.KernelRidge("precomputed").fit(matrix, y)
    with pytest.raises(InvalidInput, match="first in row 3"):
        mc.KernelNeighborsRegressor("linear").fit(X, np.where(np.arange(40) == 3, np.inf, 0.0))


def test_labels_without_an_order_are_refused_with_the_reason(data):
    X, _ = data
    with pytest.raises(InvalidInput, match="no common order"):
        mc.KernelPerceptron("linear").fit(X, ["a", None] * 20)
