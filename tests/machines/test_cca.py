"""Kernel canonical correlation, against scikit-learn's CCA and the definition."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter

MACHINES = [
    mc.KernelCCA(),
    mc.KernelCCA(1, kernel=mc.Linear(), kernel_y=mc.Linear()),
    mc.KernelCCA(1, kernel=mc.Gaussian(), kernel_y=mc.Gaussian(), penalty=0.1),
]


@parametrize_with_checks(MACHINES)
def test_it_is_a_citizen_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def views(rng):
    """Two views that share two hidden numbers."""
    hidden = rng.normal(size=(200, 2))
    X = hidden @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(200, 5))
    Y = hidden @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(200, 4))
    return X, Y


def correlations(A, B):
    return np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(A.T, B.T, strict=True)])


def test_linear_kernels_and_a_tiny_penalty_give_cca(views, rng):
    X, Y = views
    mine = mc.KernelCCA(2, kernel=mc.Linear(), kernel_y=mc.Linear(), penalty=1e-12).fit(X, Y)
    peer = CCA(2, scale=False, tol=1e-14, max_iter=10_000).fit(X, Y)
    one, other = peer.transform(X, Y)
    assert np.allclose(mine.correlations_, correlations(one, other), atol=1e-7)
    assert np.allclose(mine.canonical_correlations_, mine.correlations_, atol=1e-9)
    # Directions, up to their lengths and signs: their values correlate perfectly.
    first, second = mine.transform(X, Y)
    assert np.allclose(np.abs(correlations(first, one)), 1, atol=1e-9)
    assert np.allclose(np.abs(correlations(second, other)), 1, atol=1e-9)
    new = rng.normal(size=(20, 5))
    assert np.allclose(np.abs(correlations(mine.transform(new), peer.transform(new))), 1)


@pytest.mark.parametrize("penalty", [1e-3, 0.1, 10.0])
def test_it_solves_the_equations_of_its_definition(rng, penalty):
    X, Y = rng.normal(size=(40, 2)), rng.normal(size=(40, 1))
    Y += X[:, :1] ** 2
    k, other = mc.Gaussian(), mc.Laplacian()
    machine = mc.KernelCCA(3, kernel=k, kernel_y=other, penalty=penalty).fit(X, Y)
    K, L = mc.center(k(X)), mc.center(other(Y))
    # max a'KLb/n over a'(KK/n + penalty K)a = b'(LL/n + penalty L)b = 1, as a general
    # eigenproblem; a tiny multiple of I makes the right-hand side definite.
    zero = np.zeros_like(K)
    left = np.block([[zero, K @ L], [L @ K, zero]]) / 40
    right = scipy.linalg.block_diag(K @ K / 40 + penalty * K, L @ L / 40 + penalty * L)
    values = scipy.linalg.eigh(left, right + 1e-11 * np.eye(80), eigvals_only=True)[::-1]
    assert np.allclose(machine.canonical_correlations_, values[:3], atol=1e-6)


def test_the_functions_have_the_variances_penalties_and_correlations_they_promise(rng):
    X, Y = rng.normal(size=(80, 2)), rng.normal(size=(80, 2))
    Y[:, 0] += np.sin(2 * X[:, 0])
    machine = mc.KernelCCA(3, kernel=mc.Gaussian(), kernel_y=mc.Gaussian(), penalty=0.01)
    machine.fit(X, Y)
    f, g = machine.functions_, machine.functions_y_
    first, second = machine.transform(X, Y)
    assert np.abs(first.mean(axis=0)).max() < 1e-10
    for values, function in ((first, f), (second, g)):
        inner = values.T @ values / 80 + 0.01 * (function @ function)
        assert np.abs(inner - np.eye(3)).max() < 1e-8
    across = first.T @ second / 80
    assert np.abs(across - np.diag(machine.canonical_correlations_)).max() < 1e-8
    assert np.allclose(machine.correlations_, correlations(first, second))
    assert np.array_equal(machine.transform_y(Y), second)


def test_no_other_pair_of_functions_does_better(rng):
    X = rng.normal(size=(50, 2))
    Y = np.abs(X) + 0.1 * rng.normal(size=(50, 2))
    k = mc.Gaussian()
    machine = mc.KernelCCA(1, kernel=k, kernel_y=k, penalty=0.05).fit(X, Y)
    for _ in range(30):
        f, g = (mc.Function(k, Z, rng.normal(size=50)) for Z in (X, Y))
        covariance = np.cov(f(X), g(Y), ddof=0)
        size = (covariance[0, 0] + 0.05 * f.norm() ** 2) * (
            covariance[1, 1] + 0.05 * g.norm() ** 2
        )
        best = machine.canonical_correlations_[0] * (1 + 1e-9)
        assert abs(covariance[0, 1]) / np.sqrt(size) <= best


def test_a_penalty_keeps_noise_from_correlating(rng):
    X, Y, new, other = rng.normal(size=(4, 100, 3))
    kernels = {"kernel": mc.Gaussian(), "kernel_y": mc.Gaussian()}
    loose = mc.KernelCCA(1, penalty=1e-9, **kernels).fit(X, Y)
    tight = mc.KernelCCA(1, penalty=1.0, **kernels).fit(X, Y)
    assert loose.correlations_[0] > 0.999  # noise, learnt by heart
    assert tight.canonical_correlations_[0] < 0.2
    assert abs(loose.score(new, other)) < 0.5


def test_weights_are_repetitions_and_the_order_does_not_matter(views, rng):
    X, Y = views
    weights = rng.integers(0, 3, size=200)
    rows = rng.permutation(np.repeat(np.arange(200), weights))
    one = mc.KernelCCA(2).fit(X, Y, sample_weight=weights)
    other = mc.KernelCCA(2).fit(X[rows], Y[rows])
    assert np.allclose(one.canonical_correlations_, other.canonical_correlations_)
    assert np.allclose(np.abs(correlations(one.transform(X), other.transform(X))), 1)


def test_views_of_other_domains(rng):
    sets = [set("ab") if flag else set("xyz") for flag in rng.random(60) < 0.5]
    sets = [s | {rng.choice(list("pqrs"))} for s in sets]
    table = {
        "size": [len(s) + 0.1 * rng.normal() for s in sets],
        "kind": ["left" if "a" in s else "right" for s in sets],
    }
    mixed = mc.Gaussian().on("size") + mc.Delta().on("kind")
    machine = mc.KernelCCA(1, kernel=mc.Jaccard(), kernel_y=mixed, penalty=0.01)
    for second in (table, pd.DataFrame(table)):
        machine.fit(sets, second)
        assert machine.correlations_[0] > 0.95
        assert machine.score(sets, second) > 0.95
    X, Y = rng.normal(size=(2, 30, 2))
    k = mc.Gaussian()
    one = mc.KernelCCA(2, kernel=k, kernel_y=k).fit(X, Y)
    other = mc.KernelCCA(2, kernel="precomputed", kernel_y="precomputed").fit(k(X), k(Y))
    assert np.allclose(one.correlations_, other.correlations_)
    both = other.transform(k(X[:4], X), k(Y[:4], Y))
    assert np.allclose(np.abs(both[0]), np.abs(one.transform(X[:4])), atol=1e-8)


def test_pipelines_grids_copies_and_frames(views):
    X, Y = views
    machine = mc.KernelCCA(1, kernel=mc.Gaussian(), kernel_y=mc.Gaussian(), penalty=0.1)
    grid = GridSearchCV(
        machine, {"kernel__scale": [0.01, 5.0], "kernel_y__scale": [0.01, 5.0]}, cv=3
    ).fit(X, Y)
    assert grid.best_params_ == {"kernel__scale": 5.0, "kernel_y__scale": 5.0}
    assert machine.kernel_y.scale == 1.0  # untouched
    pipe = make_pipeline(StandardScaler(), mc.KernelCCA(2)).set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=list("abcde"))
    assert list(pipe.fit(frame, Y).transform(frame)) == ["kernelcca0", "kernelcca1"]
    machine.fit(frame, Y)
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.transform_y(Y), machine.transform_y(Y))
    again = clone(machine).fit(frame, Y)
    assert np.array_equal(again.transform(frame), machine.transform(frame))


def test_what_means_nothing_is_refused(views):
    X, Y = views
    for parameters in ({"penalty": 0}, {"penalty": np.nan}, {"n_components": 0}):
        with pytest.raises(InvalidParameter):
            mc.KernelCCA(**parameters).fit(X, Y)
    with pytest.raises(InvalidParameter, match="kernel_y"):
        mc.KernelCCA().set_params(kernel_y__scale=2.0)
    with pytest.raises(ValueError, match="inconsistent"):
        mc.KernelCCA().fit(X, Y[:-1])
    with pytest.raises(InvalidInput, match="n_samples=1"):
        mc.KernelCCA().fit(np.ones((4, 2)), np.ones((4, 2)))
    with pytest.raises(InvalidInput, match="does not vary"):
        mc.KernelCCA().fit(X, np.ones(200))
