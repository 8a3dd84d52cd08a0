"""Spectra and components are those of the matrix, and of the machine."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from sklearn.decomposition import PCA

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter
from mercer.plots import ComponentsDisplay, SpectrumDisplay

K = mc.Gaussian(scale=1.0)


@pytest.fixture(autouse=True)
def _no_figure_stays():
    yield
    plt.close("all")


@pytest.fixture
def X(rng):
    return rng.normal(size=(25, 3))


# ---------------------------------------------------------------------------------- spectra


def test_the_eigenvalues_of_a_gram_matrix_are_squared_singular_values(X):
    # Those of X X' are the squares of the singular values of X, and zeros.
    display = SpectrumDisplay.from_kernel(mc.Linear(), X)
    wanted = np.linalg.svd(X, compute_uv=False) ** 2
    np.testing.assert_allclose(display.eigenvalues[:3], wanted, rtol=1e-12)
    # Of the others each is below n eps times the largest, and the line says so.
    assert (abs(display.eigenvalues[3:]) <= display.rounding).all()
    assert display.rounding == pytest.approx(25 * 2.0**-52 * wanted[0])


def test_centring_is_told(X):
    display = SpectrumDisplay.from_kernel("linear", X, centred=True)
    wanted = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    np.testing.assert_allclose(display.eigenvalues[:3], wanted, rtol=1e-12)


def test_what_is_not_positive_has_no_place_on_the_scale(X):
    display = SpectrumDisplay(np.array([2.0, 1.0, 0.0, -1e-18])).plot()
    np.testing.assert_array_equal(display.ax_.lines[0].get_xdata(), [1, 2])
    np.testing.assert_array_equal(display.ax_.lines[0].get_ydata(), [2.0, 1.0])
    SpectrumDisplay.from_kernel(mc.Linear(), np.zeros((3, 2))).ax_.figure.canvas.draw()


def test_the_spectrum_of_a_machine(X):
    pca = mc.KernelPCA(4, K).fit(X)
    display = SpectrumDisplay.from_estimator(pca)
    np.testing.assert_array_equal(display.eigenvalues, pca.eigenvalues_)
    assert display.title == "KernelPCA, gaussian"
    # They are the first of the centred Gram matrix.
    whole = SpectrumDisplay.from_kernel(K, X, centred=True).eigenvalues
    np.testing.assert_allclose(display.eigenvalues, whole[:4], rtol=1e-10)


def test_a_machine_without_eigenvalues_is_told(X):
    with pytest.raises(InvalidInput, match="no eigenvalues_"):
        SpectrumDisplay.from_estimator(mc.KernelRidge(K, 1.0).fit(X, X[:, 0]))


# ------------------------------------------------------------------------------- components


def test_the_components_of_the_linear_kernel_are_those_of_pca(X):
    display = ComponentsDisplay.from_estimator(mc.KernelPCA(2, mc.Linear()).fit(X), X)
    peer = PCA(2).fit(X)
    np.testing.assert_allclose(abs(display.projections), abs(peer.transform(X)), atol=1e-10)
    shares = [f"({100 * share:.0f} %)" for share in peer.explained_variance_ratio_]
    assert [name.split(" ", 2)[2] for name in display.names] == shares


def test_labels_give_groups_in_order(X):
    labels = ["b", "a"] * 12 + ["b"]
    pca = mc.KernelPCA(3, K).fit(X)
    display = ComponentsDisplay.from_estimator(pca, X, labels, components=(2, 0))
    np.testing.assert_array_equal(display.projections, pca.transform(X)[:, [2, 0]])
    (first, rows), (second, others) = display.groups
    assert (first, second) == ("a", "b")
    np.testing.assert_array_equal(rows, np.arange(1, 25, 2))
    np.testing.assert_array_equal(others, np.arange(0, 25, 2))
    assert display.names[0].startswith("component 3 (")
    for line, group in zip(display.ax_.lines, (rows, others), strict=True):
        shown = np.transpose(line.get_data())
        np.testing.assert_array_equal(shown, display.projections[group])


def test_sets_have_components():
    baskets = [{"a"}, {"a", "b"}, {"c"}, {"c", "d"}, {"a", "d"}]
    pca = mc.KernelPCA(2, mc.Jaccard()).fit(baskets)
    display = ComponentsDisplay.from_estimator(pca, baskets)
    assert display.projections.shape == (5, 2)
    assert display.ax_.get_legend() is None


@pytest.mark.parametrize("components", [(0, 3), (-1, 0), (0,)])
def test_components_are_counted(X, components):
    pca = mc.KernelPCA(3, K).fit(X)
    with pytest.raises(InvalidParameter, match="from 0 to 2"):
        ComponentsDisplay.from_estimator(pca, X, components=components)


def test_each_point_has_a_label(X):
    pca = mc.KernelPCA(2, K).fit(X)
    with pytest.raises(InvalidInput, match="25 points need 25 labels, got 3"):
        ComponentsDisplay.from_estimator(pca, X, ["a"] * 3)
