"""Kernel PCA, against scikit-learn's PCA and KernelPCA and the definition in the seeds."""

import pickle
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.decomposition import KernelPCA as Peer
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import (
    BudgetExceeded,
    InvalidInput,
    InvalidParameter,
    NotPositiveDefinite,
)

MACHINES = [
    mc.KernelPCA(),
    mc.KernelPCA(2, kernel=mc.Linear()),
    mc.KernelPCA(0.9, kernel=mc.Gaussian(scale=2.0)),
    mc.KernelPCA(1, plan="spectral"),
]


@parametrize_with_checks(MACHINES)
def test_it_is_a_citizen_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def X(rng):
    return rng.normal(size=(70, 4)) * [3.0, 2.0, 1.0, 0.5] + 5.0


def apart(A, B):
    """How far columns are from each other, up to their signs."""
    signs = np.sign((A * B).sum(axis=0))
    return np.abs(A - signs * B).max()


@pytest.mark.parametrize("plan", ["auto", "spectral", "primal"])
def test_the_linear_kernel_gives_pca(X, rng, plan):
    mine = mc.KernelPCA(3, kernel=mc.Linear(), plan=plan).fit(X)
    peer = PCA(3).fit(X)
    new = rng.normal(size=(9, 4)) * 3
    # Both are decompositions of numbers below 10: a few hundred units of rounding.
    assert apart(mine.transform(new), peer.transform(new)) < 1e-11
    assert np.allclose(mine.eigenvalues_ / 69, peer.explained_variance_, rtol=1e-12)
    assert np.allclose(mine.explained_variance_ratio_, peer.explained_variance_ratio_)
    back = mine.inverse_transform(mine.transform(new))
    assert np.abs(back - peer.inverse_transform(peer.transform(new))).max() < 1e-11


@pytest.mark.parametrize("plan", ["spectral", "lanczos", "blocked", "dense", "auto"])
def test_it_equals_scikit_learns_up_to_signs(rng, plan):
    X, new = rng.normal(size=(560, 3)), rng.normal(size=(20, 3))
    mine = mc.KernelPCA(5, kernel=mc.Gaussian(scale=2.0), plan=plan, random_state=1).fit(X)
    peer = Peer(5, kernel="rbf", gamma=0.125, eigen_solver="dense").fit(X)
    assert np.abs(mine.eigenvalues_ / peer.eigenvalues_ - 1).max() < 1e-8
    # Directions are as exact as the residual over the gap: 1e-8 over about 1e-2.
    assert apart(mine.transform(new), peer.transform(new)) < 1e-6
    assert apart(mine.eigenvectors_, peer.eigenvectors_) < 1e-6


def test_the_functions_are_orthonormal_and_their_values_the_projections(X, rng):
    machine = mc.KernelPCA(6, kernel=mc.Gaussian(scale=3.0)).fit(X)
    f = machine.functions_
    assert np.abs(f @ f - np.eye(6)).max() < 1e-9
    assert np.allclose(f.norm(), 1)
    new = rng.normal(size=(7, 4)) + 5
    mean = mc.barycenter(mc.Gaussian(scale=3.0), X)
    assert np.allclose(machine.means_, f @ mean)
    # <f, k(x, .) - mu>, by the reproducing property.
    assert np.allclose(machine.transform(new), f(new) - f @ mean)
    assert np.allclose(machine.fit_transform(X), machine.transform(X), atol=1e-10)


def test_the_coefficients_are_eigenvectors_over_the_roots_of_eigenvalues(X):
    kernel = mc.Gaussian(scale=3.0)
    machine = mc.KernelPCA(4, kernel=kernel).fit(X)
    centred = mc.center(kernel(X))
    values, vectors = np.linalg.eigh(centred)
    alpha = vectors[:, ::-1][:, :4] / np.sqrt(values[::-1][:4])
    assert apart(machine.fit_transform(X), centred @ alpha) < 1e-10
    assert np.isclose(machine.explained_variance_ratio_[0], values[-1] / np.trace(centred))


def test_no_unit_function_has_more_variance(X, rng):
    kernel = mc.Gaussian(scale=3.0)
    machine = mc.KernelPCA(1, kernel=kernel).fit(X)
    for _ in range(20):
        f = mc.Function(kernel, X, rng.normal(size=70))
        assert np.var(f(X)) / f.norm() ** 2 <= machine.explained_variance_[0] * (1 + 1e-9)


def test_weights_are_repetitions_and_the_order_does_not_matter(X, rng):
    weights = rng.integers(0, 4, size=70)
    rows = rng.permutation(np.repeat(np.arange(70), weights))
    one = mc.KernelPCA(4).fit(X, sample_weight=weights)
    other = mc.KernelPCA(4).fit(X[rows])
    assert np.allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-12)
    assert np.allclose(one.transform(X), other.transform(X), atol=1e-10)
    # Eigenvectors are told for the rows as they came, and have unit norm there.
    for machine in (one, other):
        assert np.allclose((machine.eigenvectors_**2).sum(axis=0), 1)
    again = mc.KernelPCA(4)
    assert np.allclose(again.fit_transform(X, sample_weight=weights), one.transform(X))


def test_a_share_of_variance_takes_as_many_as_explain_it(rng):
    X = rng.normal(size=(800, 2))
    kernel = mc.Gaussian(scale=2.0)
    every = mc.KernelPCA(kernel=kernel, plan="spectral").fit(X)
    held = np.cumsum(every.explained_variance_ratio_)
    assert np.isclose(held[-1], 1)
    for share in (0.5, 0.9, 0.99):
        machine = mc.KernelPCA(share, kernel=kernel, random_state=0).fit(X)
        assert machine.n_components_ == int((held < share).sum()) + 1
        assert machine.plan_.method == "lanczos"
    most = mc.KernelPCA(0.9, kernel=mc.Laplacian(scale=0.1)).fit(X)
    assert most.plan_.method == "spectral"  # nearly all of them were needed


def test_the_plan_says_what_was_chosen_and_why(rng):
    X = rng.normal(size=(1300, 3))
    gaussian = mc.Gaussian(scale=2.0)
    cases = {
        "lanczos": {"n_components": 3},
        "primal": {"n_components": 3, "kernel": mc.Linear()},
        "spectral": {"n_components": 800},
        "randomized": {"n_components": 3, "plan": mc.Plan(tolerance=0.01)},
    }
    for method, parameters in cases.items():
        machine = mc.KernelPCA(**{"kernel": gaussian, "random_state": 0} | parameters).fit(X)
        assert machine.plan_.method == method
        assert str(machine.plan_).startswith(method)
        assert "distinct rows" in str(machine.plan_)
    exact = mc.KernelPCA(3, kernel=gaussian, plan="spectral").fit(X)
    # The rough one is not tested against its tolerance, but it is told what it reached.
    assert machine.solution_.residual < 0.01
    assert np.abs(machine.eigenvalues_ / exact.eigenvalues_ - 1).max() < 1e-3


def test_many_rows_take_no_square_matrix(rng):
    X = rng.normal(size=(6000, 2))
    plan = mc.Plan(memory="60 MB")  # the matrix takes 288 MB
    mc.KernelPCA(2, kernel=mc.Gaussian(), plan="blocked").fit(X[:600])  # compiles
    tracemalloc.start()
    machine = mc.KernelPCA(2, kernel=mc.Gaussian(scale=2.0), plan=plan, random_state=0).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "computed anew" in str(machine.plan_)
    assert peak <= 60e6
    assert machine.solution_.residual <= 1e-8
    with pytest.raises(BudgetExceeded, match="n_components=10"):
        mc.KernelPCA(plan=plan).fit(X)


def test_an_indefinite_matrix_is_an_error_that_offers_the_repair(rng):
    K = mc.Gaussian()(rng.normal(size=(30, 2)))
    K -= 2 * np.eye(30)
    with pytest.raises(NotPositiveDefinite, match=r"mercer\.repair"):
        mc.KernelPCA(2, kernel="precomputed").fit(K)
    mended = mc.repair(K).matrix if hasattr(mc.repair(K), "matrix") else mc.repair(K)
    values = mc.KernelPCA(kernel="precomputed").fit_transform(np.asarray(mended))
    assert np.isfinite(values).all()


def test_values_in_single_precision_lose_the_components_below_their_rounding(rng):
    K = mc.Gaussian(scale=3.0)(rng.normal(size=(40, 2)))
    rounded = mc.KernelPCA(kernel="precomputed").fit(K.astype(np.float32))
    assert rounded.n_components_ < 39
    assert rounded.eigenvalues_.min() > 0
    assert np.isfinite(rounded.fit_transform(K.astype(np.float32))).all()


def test_precomputed_values_give_what_their_kernel_gives(X, rng):
    kernel, new = mc.Gaussian(scale=3.0), rng.normal(size=(6, 4)) + 5
    one = mc.KernelPCA(3, kernel=kernel).fit(X)
    other = mc.KernelPCA(3, kernel="precomputed").fit(kernel(X))
    assert apart(one.transform(new), other.transform(kernel(new, X))) < 1e-10
    with pytest.raises(InvalidParameter):
        other.inverse_transform(np.zeros((1, 3)))


def test_points_far_away_keep_their_components(rng):
    X = rng.normal(size=(50, 3))
    near = mc.KernelPCA(2, kernel=mc.Linear()).fit(X)
    far = mc.KernelPCA(2, kernel=mc.Linear()).fit(X + 1e6)
    # The data themselves are rounded to 1e6 times a unit, about 1e-10.
    assert np.allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-8)
    assert apart(far.fit_transform(X + 1e6), near.fit_transform(X)) < 1e-7


def test_a_gaussian_preimage_comes_back_near_the_data(rng):
    angles = rng.uniform(0, 2 * np.pi, size=120)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    noisy = ring + 0.05 * rng.normal(size=ring.shape)
    machine = mc.KernelPCA(4, kernel=mc.Gaussian(scale=0.7)).fit(noisy)
    back = machine.inverse_transform(machine.transform(noisy[:10]))
    # Four components hold the ring and not the noise.
    assert np.abs(np.linalg.norm(back, axis=1) - 1).max() < 0.1


@pytest.mark.parametrize("n_components", [0, -1, 1.0, 1.5, 0.0, "all", True, np.nan])
def test_a_number_of_components_that_means_nothing_is_refused(X, n_components):
    with pytest.raises(InvalidParameter, match="n_components"):
        mc.KernelPCA(n_components).fit(X)


def test_what_has_no_variance_is_refused(X):
    with pytest.raises(InvalidInput, match="n_samples=1"):
        mc.KernelPCA().fit(np.ones((5, 2)))
    with pytest.raises(InvalidInput, match="no variance"):
        mc.KernelPCA(kernel=mc.Bias()).fit(X)
    machine = mc.KernelPCA(4).fit(X)
    with pytest.raises(InvalidInput, match="4 columns"):
        machine.inverse_transform(np.zeros((2, 3)))
    with pytest.raises(InvalidParameter, match="cholesky"):
        mc.KernelPCA(plan="cholesky").fit(X)


def test_fewer_directions_than_were_asked_for_are_kept(rng):
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5))
    machine = mc.KernelPCA(4, kernel=mc.Linear()).fit(X)
    assert machine.n_components_ == machine.transform(X).shape[1] == 2
    assert list(machine.get_feature_names_out()) == ["kernelpca0", "kernelpca1"]


def test_sets_records_and_sparse_rows(rng):
    sets = [set("abc"), set("bcd"), set("xyz"), set("xy"), set("abcd")]
    found = mc.KernelPCA(2).fit_transform(sets)
    assert found[:2, 0].mean() * found[2:4, 0].mean() < 0  # the letters tell them apart
    table = {"age": rng.normal(size=40), "city": list(rng.choice(["a", "b"], 40))}
    kernel = mc.Gaussian().on("age") + mc.Delta().on("city")
    for data in (table, pd.DataFrame(table)):
        machine = mc.KernelPCA(2, kernel=kernel).fit(data)
        assert machine.transform(data).shape == (40, 2)
        twin = mc.KernelPCA(2, kernel="precomputed").fit_transform(kernel(data))
        assert apart(machine.transform(data), twin) < 1e-10
    rows = sp.random_array((40, 6), density=0.4, rng=rng, format="csr")
    for kernel in (mc.Linear(), mc.Gaussian()):
        one = mc.KernelPCA(3, kernel=kernel).fit(rows)
        other = mc.KernelPCA(3, kernel=kernel).fit(rows.toarray())
        assert apart(one.transform(rows), other.transform(rows.toarray())) < 1e-9


def test_pipelines_grids_copies_and_frames(X):
    y = X[:, 0] ** 2
    pipe = make_pipeline(mc.KernelPCA(8, kernel=mc.Gaussian(scale=0.01)), Ridge(1e-3))
    grid = GridSearchCV(pipe, {"kernelpca__kernel__scale": [0.01, 5.0]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"kernelpca__kernel__scale": 5.0}
    frame = pd.DataFrame(X, columns=list("abcd"))
    machine = mc.KernelPCA(2).set_output(transform="pandas").fit(frame)
    assert list(machine.transform(frame).columns) == ["kernelpca0", "kernelpca1"]
    assert list(machine.feature_names_in_) == list("abcd")
    copy = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(copy.transform(frame), machine.transform(frame))
    again = clone(machine).fit(frame)
    assert np.array_equal(again.transform(frame), machine.transform(frame))


def test_one_seed_gives_one_result_for_any_number_of_threads(rng):
    X = rng.normal(size=(700, 3))
    found = [
        mc.KernelPCA(
            3, kernel=mc.Gaussian(), plan=mc.Plan("lanczos", threads=t), random_state=0
        )
        .fit(X)
        .transform(X[:5])
        for t in (1, 2)
    ]
    assert np.abs(found[0] - found[1]).max() < 1e-7  # the tolerance, over the gaps


@pytest.mark.parametrize("method", ["lanczos", "randomized"])
def test_methods_for_eigenvectors_solve_no_equations(X, method):
    with pytest.raises(InvalidParameter, match="finds eigenvectors"):
        mc.KernelRidge(plan=method).fit(X, X[:, 0])
