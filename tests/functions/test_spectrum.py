"""Mercer's expansion against the kernels whose eigenfunctions are known."""

import numpy as np
import pytest
from scipy.optimize import brentq

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter

J = np.arange(1, 11)


@pytest.fixture(scope="module")
def brownian():
    return mc.mercer_expansion(mc.Min(), terms=10)


def test_eigenvalues_of_min(brownian):
    # The integrals are exact for min, and the sine of 9.5 periods on 32 panels is a
    # polynomial of degree 7 up to 1e-9; eigenvalues are right to the square of that.
    np.testing.assert_allclose(brownian.eigenvalues, 1 / ((J - 0.5) * np.pi) ** 2, rtol=1e-12)


def test_eigenfunctions_of_min(brownian):
    x = np.linspace(0, 1, 301)
    expected = np.sqrt(2) * np.sin((J - 0.5) * np.pi * x[:, None])
    # The polynomial of degree 7 on panels of 1/32: (9.5 pi / 64)^8 / (2^7 8!) is 4e-10, times
    # the size sqrt 2 and a small factor for the projection.
    np.testing.assert_allclose(brownian.eigenfunctions(x), expected, rtol=0, atol=1e-8)


def test_the_remainder_is_the_rest_of_the_trace(brownian):
    # The integral of min(x, x) = x is 1/2, and so is the sum of all eigenvalues.
    assert brownian.remainder == pytest.approx(0.5 - brownian.eigenvalues.sum(), abs=1e-14)
    fewer = mc.mercer_expansion(mc.Min(), terms=3)
    assert fewer.remainder > brownian.remainder


def test_more_nodes_are_more_exact():
    errors = []
    for nodes in (16, 32, 64):
        found = mc.mercer_expansion(mc.Min(), terms=10, nodes=nodes).eigenvalues
        errors.append(np.abs(found * ((J - 0.5) * np.pi) ** 2 - 1).max())
    assert errors[0] > 1e3 * errors[1] > 1e6 * errors[2]


def test_eigenvalues_of_the_exponential_kernel():
    # On [-1, 1] they are 2 / (1 + w^2), where w tan w = 1 or w = -tan w by turns.
    even = [
        brentq(lambda w: np.cos(w) - w * np.sin(w), n * np.pi, n * np.pi + 1.5)
        for n in range(3)
    ]
    odd = [
        brentq(lambda w: np.sin(w) + w * np.cos(w), (n + 0.5) * np.pi, (n + 1) * np.pi)
        for n in range(3)
    ]
    w = np.sort(even + odd)
    found = mc.mercer_expansion(mc.Exponential(), (-1, 1), terms=6).eigenvalues
    # The kernel is smooth on either side of the diagonal, and waves are slower than above.
    np.testing.assert_allclose(found, 2 / (1 + w**2), rtol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "interval"),
    [
        (mc.Gaussian(0.5), (-1, 2)),
        (mc.Min(), (0, 1)),
        (mc.Matern(1.5), (0, 3)),
        (mc.Min(), (2, 5)),
    ],
)
def test_eigenfunctions_are_orthonormal_and_diagonalise(kernel, interval):
    expansion = mc.mercer_expansion(kernel, interval, terms=5)
    # A Gauss rule of its own, with 300 nodes.
    nodes, weights = np.polynomial.legendre.leggauss(300)
    half = (interval[1] - interval[0]) / 2
    x, w = interval[0] + half * (nodes + 1), half * weights
    phi = expansion.eigenfunctions(x)
    # The functions jump by 1e-9 from panel to panel; the rule is wrong there by as much.
    np.testing.assert_allclose(phi.T @ (w[:, None] * phi), np.eye(5), rtol=0, atol=1e-7)
    K = kernel(x[:, None])
    # For a kernel with a kink the plain rule errs by (half / 300)^2 or so.
    image, expected = K @ (w[:, None] * phi), phi * expansion.eigenvalues
    np.testing.assert_allclose(image, expected, rtol=0, atol=5e-4)


def test_the_sum_of_the_terms_tends_to_the_kernel():
    k = mc.Gaussian(0.3)
    x, y = np.linspace(0, 1, 20), np.linspace(0, 1, 15)
    errors = []
    for terms in (2, 5, 10, 20):
        expansion = mc.mercer_expansion(k, terms=terms)
        errors.append(np.abs(expansion(x, y) - k(x[:, None], y[:, None])).max())
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-9
    np.testing.assert_array_equal(expansion(x), expansion(x).T)
    features = expansion.features(x)
    np.testing.assert_allclose(features @ features.T, expansion(x))


def test_the_norm_by_the_expansion(brownian):
    # ||f||^2 = sum_j <f, phi_j>^2 / lambda_j. For K_x it is k(x, x), and the terms
    # are lambda_j phi_j(x)^2.
    x = 0.3
    terms = brownian.eigenvalues * brownian.eigenfunctions([x])[0] ** 2
    norm = mc.section(mc.Min(), x).norm() ** 2
    # The rest is at most 2 sum_(j > 10) lambda_j, and not negative.
    assert 0 <= norm - terms.sum() <= 2 * brownian.remainder


def test_a_kernel_of_finite_rank_has_few_terms():
    expansion = mc.mercer_expansion(mc.Linear(), (-1, 1), terms=10)
    np.testing.assert_allclose(expansion.eigenvalues, [2 / 3], rtol=1e-14)
    assert expansion.eigenfunctions([[1.0]]).shape == (1, 1)
    assert mc.mercer_expansion(mc.Polynomial(3)).eigenvalues.size == 4


def test_bad_input(brownian):
    for interval in ((1, 0), (0, np.inf), 3, (0, 1, 2), ("a", "b")):
        with pytest.raises(InvalidParameter, match="interval"):
            mc.mercer_expansion(mc.Gaussian(), interval)
    with pytest.raises(InvalidParameter, match="terms"):
        mc.mercer_expansion(mc.Gaussian(), terms=0)
    with pytest.raises(InvalidParameter, match="nodes"):
        mc.mercer_expansion(mc.Gaussian(), terms=20, nodes=10)
    with pytest.raises(InvalidInput, match="live on"):
        brownian.eigenfunctions([1.5])
    with pytest.raises(InvalidInput):
        mc.mercer_expansion(mc.Min(), (-1, 1))
    for kernel in (mc.Jaccard(), mc.Gaussian().on("age")):
        with pytest.raises(InvalidInput, match="an interval holds numbers"):
            mc.mercer_expansion(kernel)
    assert repr(brownian) == "MercerExpansion(min, [0, 1], 10 terms)"
