"""`check_machine`: all machines on sets and records, and machines that break their word."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import NotFittedError

import mercer as mc
from mercer.testing import BrokenLaw, check_machine

RNG = np.random.default_rng(0)
BASKETS = [
    {str(item) for item in RNG.choice(8, RNG.integers(1, 5), replace=False)} for _ in range(24)
]
TABLE = pd.DataFrame(
    {
        "age": RNG.uniform(20, 70, 24).round(1),
        "city": RNG.choice(["Oslo", "Rome", "Lima"], 24),
        "member": RNG.random(24) > 0.5,
    }
)
RECORDS = mc.Gaussian(20.0).on("age") * mc.Delta().on("city") + mc.Delta().on("member")
AMOUNT = TABLE["age"] / 10 + RNG.normal(size=24)
SIDE = np.where(TABLE["age"] > 45, "old", "young")

DATA = {
    "sets": (mc.Jaccard(), BASKETS),
    "records": (RECORDS, TABLE),
    "columns": (RECORDS, TABLE.to_dict("list")),
    "rows": (RECORDS, TABLE.to_dict("records")),
}
REGRESSORS = [
    mc.KernelRidge,
    lambda k: mc.KernelRidge(k, 0.01),
    lambda k: mc.KernelRegressor(k, "huber", 0.01),
    lambda k: mc.KernelRegressor(k, "absolute", 0.01),
    lambda k: mc.KernelNeighborsRegressor(kernel=k, n_neighbors=3),
]
CLASSIFIERS = [
    mc.KernelLogisticRegression,
    lambda k: mc.KernelClassifier(k, "squared_hinge", 0.01),
    mc.KernelPerceptron,
    lambda k: mc.KernelNeighborsClassifier(kernel=k, n_neighbors=3),
    mc.NearestBarycenter,
]
OTHERS = [
    lambda k: mc.KernelPCA(kernel=k, n_components=2),
    lambda k: mc.KernelKMeans(kernel=k, n_clusters=2),
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("make", REGRESSORS)
def test_regressors_keep_their_word(make, data):
    kernel, points = DATA[data]
    report = check_machine(make(kernel), points, AMOUNT)
    assert len(report.checked) >= 11


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_classifiers_keep_their_word(make, data):
    kernel, points = DATA[data]
    check_machine(make(kernel), points, SIDE)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("make", OTHERS)
def test_machines_without_targets_keep_their_word(make, data):
    kernel, points = DATA[data]
    check_machine(make(kernel), points)


@pytest.mark.parametrize("make", [mc.KernelRidge, mc.KernelLogisticRegression])
@pytest.mark.parametrize("points", [BASKETS, TABLE], ids=["sets", "records"])
def test_a_kernel_is_found_for_every_domain(make, points):
    check_machine(make(random_state=0), points, AMOUNT if make is mc.KernelRidge else SIDE)


class Honest(RegressorMixin, BaseEstimator):
    """The mean of the targets."""

    def fit(self, X, y, sample_weight=None):
        if len(X) == 0 or y is None or len(X) != len(y):
            raise ValueError("as many points as targets, at least one")
        self.mean_ = float(np.average(y, weights=sample_weight))
        return self

    def predict(self, X):
        if not hasattr(self, "mean_"):
            raise NotFittedError
        return np.full(len(X), self.mean_)


def test_a_machine_of_ones_own_can_be_checked():
    report = check_machine(Honest(), BASKETS, AMOUNT)
    assert "weights are repetitions" in report.checked
    assert "no function_" in report.skipped["function_ is an element of an RKHS"]
    assert "keeps" in str(report)


class Forgets(Honest):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


class Counts(Honest):
    def predict(self, X):
        return super().predict(X) + len(X)


class First(Honest):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)
        self.mean_ = float(np.asarray(y)[0])
        return self


class Unweighted(Honest):
    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y)


class Adds(Honest):
    def fit(self, X, y, sample_weight=None):
        before = getattr(self, "mean_", 0.0)
        super().fit(X, y, sample_weight)
        self.mean_ += before
        return self


class Silent(Honest):
    def predict(self, X):
        return np.full(len(X), getattr(self, "mean_", 0.0))


class Infinite(Honest):
    def predict(self, X):
        return super().predict(X) * np.inf


@pytest.mark.parametrize(
    ("machine", "law"),
    [
        (Forgets(), "fit returns the machine"),
        (Counts(), "answered for by itself"),
        (First(), "order of the rows"),
        (Unweighted(), "weights are repetitions"),
        (Adds(), "second fit"),
        (Silent(), "clone"),
        (Infinite(), "finite"),
    ],
)
def test_a_broken_word_is_named(machine, law):
    with pytest.raises(BrokenLaw, match=law):
        check_machine(machine, BASKETS, AMOUNT)
