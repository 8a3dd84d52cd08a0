"""Centring of kernel values, against scikit-learn's and the formula of the seeds."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer as Peer
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer as mc
from mercer.errors import InvalidInput


@parametrize_with_checks([mc.KernelCenterer()])
def test_it_is_a_citizen_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def values(rng):
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(7, 3))
    kernel = mc.Gaussian()
    return kernel(X), kernel(new, X)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_it_is_scikit_learns_with_its_attributes(values, dtype):
    K, rows = (part.astype(dtype) for part in values)
    mine, peer = mc.KernelCenterer().fit(K), Peer().fit(K)
    unit = 30 * np.finfo(dtype).eps  # sums of 30 values of at most one
    assert mine.transform(rows).dtype == dtype
    assert np.abs(mine.transform(rows) - peer.transform(rows)).max() < unit
    assert np.abs(mine.K_fit_rows_ - peer.K_fit_rows_).max() < unit
    assert abs(mine.K_fit_all_ - peer.K_fit_all_) < unit
    assert list(mine.get_feature_names_out()[:1]) == ["kernelcenterer0"]


def test_weights_are_repetitions(values, rng):
    K, rows = values
    weights = rng.integers(0, 3, size=30)
    places = np.repeat(np.arange(30), weights)
    one = mc.KernelCenterer().fit(K, sample_weight=weights)
    other = mc.KernelCenterer().fit(K[np.ix_(places, places)])
    assert np.allclose(one.transform(rows)[:, places], other.transform(rows[:, places]))
    assert np.allclose(one.transform(rows), mc.center(K, rows, weights))


def test_centred_values_are_inner_products_with_the_barycentre_taken_away(rng):
    X = rng.normal(size=(20, 3))
    moved = X - X.mean(axis=0)
    K = mc.KernelCenterer().fit_transform(mc.Linear()(X))
    assert np.abs(K - moved @ moved.T).max() < 1e-13
    assert np.abs(K.sum(axis=0)).max() < 1e-12


def test_what_is_given_is_kept_unless_no_copy_is_wanted(values):
    K, rows = values
    machine = mc.KernelCenterer().fit(K)
    before = rows.copy()
    kept = machine.transform(rows)
    assert np.array_equal(rows, before)
    assert machine.transform(rows, copy=False) is rows
    assert np.array_equal(rows, kept)


def test_it_stands_in_a_pipeline_before_precomputed_machines(values):
    K, rows = values
    y = np.arange(30) % 2
    pipe = make_pipeline(mc.KernelCenterer(), SVC(kernel="precomputed")).fit(K, y)
    assert pipe.predict(rows).shape == (7,)
    frame = make_pipeline(mc.KernelCenterer(), PCA(2)).set_output(transform="pandas")
    assert frame.fit_transform(K).shape == (30, 2)


def test_what_is_no_square_or_has_no_weight_is_refused(values):
    K, rows = values
    with pytest.raises(InvalidInput, match="7x30"):
        mc.KernelCenterer().fit(rows)
    with pytest.raises(ValueError, match="zero"):
        mc.KernelCenterer().fit(K, sample_weight=np.zeros(30))
