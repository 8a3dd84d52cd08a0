"""MMD and HSIC against plain double loops, and what they are known to be."""

from itertools import permutations

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidInput


def plain_mmd(k, X, Y):
    def mean(A, B):
        return sum(k.pair(a, b) for a in A for b in B) / (len(A) * len(B))

    return mean(X, X) + mean(Y, Y) - 2 * mean(X, Y)


def plain_unbiased_mmd(k, X, Y):
    def others(A):
        pairs = [k.pair(a, b) for i, a in enumerate(A) for j, b in enumerate(A) if i != j]
        return sum(pairs) / len(pairs)

    cross = sum(k.pair(x, y) for x in X for y in Y) / (len(X) * len(Y))
    return others(X) + others(Y) - 2 * cross


# Squares are sums of some hundred kernel values, of which the largest here is below 1e3, each
# way right to 1e-14 of their size.
CLOSE = 1e-11


def test_mmd_is_the_plain_double_loop(case, rng):
    kernel, points = case
    X, Y = points(rng, 6), points(rng, 4)
    assert mc.mmd(kernel, X, Y) ** 2 == pytest.approx(plain_mmd(kernel, X, Y), abs=CLOSE)
    found = mc.mmd(kernel, X, Y, unbiased=True)
    assert found == pytest.approx(plain_unbiased_mmd(kernel, X, Y), abs=CLOSE)


def test_mmd_of_a_sample_with_itself_is_zero(case, rng):
    kernel, points = case
    X = points(rng, 6)
    assert mc.mmd(kernel, X, X) == 0.0
    assert mc.mmd(kernel, X, X[::-1]) == 0.0


def test_mmd_of_the_linear_kernel_is_the_distance_of_the_means(rng):
    X, Y = rng.normal(size=(20, 3)), 1 + rng.normal(size=(30, 3))
    expected = np.linalg.norm(X.mean(axis=0) - Y.mean(axis=0))
    assert mc.mmd(mc.Linear(), X, Y) == pytest.approx(expected, rel=1e-12)


def test_mmd_is_the_largest_difference_of_means(rng):
    k = mc.Gaussian()
    X, Y = rng.normal(size=(15, 2)), 0.5 + rng.normal(size=(10, 2))
    witness = mc.barycenter(k, X) - mc.barycenter(k, Y)
    witness = witness / witness.norm()
    gain = witness(X).mean() - witness(Y).mean()
    assert gain == pytest.approx(mc.mmd(k, X, Y), rel=1e-10)
    for _ in range(20):
        f = mc.Function(k, rng.normal(size=(5, 2)), rng.normal(size=5))
        assert (f(X).mean() - f(Y).mean()) / f.norm() <= gain


def test_the_estimate_without_bias_has_none(rng):
    # All splits of six numbers into two samples of three: by symmetry the mean of the
    # unbiased estimates is zero, and that of the biased ones is not.
    Z = rng.normal(size=(6, 1))
    k = mc.Gaussian()
    splits = [list(order) for order in permutations(range(6)) if order[:3] < order[3:]]
    pairs = [(Z[order[:3]], Z[order[3:]]) for order in splits[::7]]
    unbiased = np.array([mc.mmd(k, X, Y, unbiased=True) for X, Y in pairs])
    biased = np.array([mc.mmd(k, X, Y) ** 2 for X, Y in pairs])
    assert unbiased.min() < 0 < unbiased.max()
    # For samples of size n the bias of the square is 2 (1 - mean of k over pairs) / n here.
    K = k(Z)
    among = (K.sum() - 6) / 30
    everything = [mc.mmd(k, Z[list(o[:3])], Z[list(o[3:])], unbiased=True) for o in splits]
    assert np.mean(everything) == pytest.approx(0, abs=1e-14)
    assert biased.mean() - unbiased.mean() == pytest.approx(
        np.mean([_bias(k, X) + _bias(k, Y) for X, Y in pairs]), abs=1e-13
    )
    assert among < 1


def _bias(k, X):
    K, n = k(X), len(X)
    return K.mean() - (K.sum() - np.trace(K)) / (n * (n - 1))


def test_unbiased_mmd_needs_two_rows_a_sample():
    with pytest.raises(InvalidInput, match="two rows"):
        mc.mmd(mc.Linear(), [[1.0]], [[1.0], [2.0]], unbiased=True)


# HSIC


def plain_hsic(K, L):
    n = len(K)
    first = sum(K[i, j] * L[i, j] for i in range(n) for j in range(n)) / n**2
    second = K.mean() * L.mean()
    third = sum(K[i].mean() * L[i].mean() for i in range(n)) / n
    return first + second - 2 * third


def plain_unbiased_hsic(K, L):
    """A mean over all ordered quadruples of different rows (Song et al. 2012)."""
    terms = [
        K[i, j] * (L[i, j] + L[q, r] - 2 * L[i, q])
        for i, j, q, r in permutations(range(len(K)), 4)
    ]
    return np.mean(terms)


KINDS = [
    (mc.Gaussian(), mc.Gaussian(0.5)),
    (mc.Linear(), mc.Polynomial(2)),
    (mc.Laplacian(), mc.Linear()),
]


@pytest.mark.parametrize(("k", "l"), KINDS)
def test_hsic_is_the_plain_double_loop(k, l, rng):  # noqa: E741
    X = rng.normal(size=(7, 2))
    Y = X[:, :1] ** 2 + 0.1 * rng.normal(size=(7, 1))
    K, L = k(X), l(Y)
    # Products of kernel values below 1e4, each way right to 1e-14 of their size.
    assert mc.hsic(k, l, X, Y) == pytest.approx(plain_hsic(K, L), abs=1e-10)
    found = mc.hsic(k, l, X, Y, unbiased=True)
    assert found == pytest.approx(plain_unbiased_hsic(K, L), abs=1e-10)


def test_hsic_is_a_product_of_centred_matrices_beyond_one_tile(rng):
    X, Y = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    k, l = mc.Gaussian(), mc.Gaussian(0.3)  # noqa: E741
    expected = (mc.center(k(X)) * mc.center(l(Y))).sum() / 400**2
    # Sums of 160 000 terms below 1, divided by their number.
    assert mc.hsic(k, l, X, Y) == pytest.approx(expected, abs=1e-14)


def test_hsic_of_linear_kernels_is_the_squared_covariance(rng):
    X, Y = 5 + rng.normal(size=(30, 2)), rng.normal(size=(30, 3)) - 9
    covariance = (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / 30
    found = mc.hsic(mc.Linear(), mc.Linear(), X, Y)
    assert found == pytest.approx((covariance**2).sum(), rel=1e-10)


def test_hsic_between_different_domains(rng):
    words = ["cat", "dog", "cat", "eel", "dog", "cat"]
    numbers = np.array([1.0, 5.0, 1.1, 9.0, 5.2, 0.9])
    k, l = mc.Delta(), mc.Min()  # noqa: E741
    dependent = mc.hsic(k, l, words, numbers)
    assert dependent == pytest.approx(plain_hsic(k(words), l(numbers)), abs=1e-13)
    assert dependent > mc.hsic(k, l, words, np.sort(numbers))


def test_hsic_with_a_constant_is_zero(rng):
    X = rng.normal(size=(10, 2))
    assert mc.hsic(mc.Gaussian(), mc.Gaussian(), X, np.ones((10, 1))) == pytest.approx(
        0, abs=1e-30
    )
    assert mc.hsic(mc.Gaussian(), mc.Linear(), X[:1], X[:1]) == 0.0


def test_hsic_compares_rows_in_pairs():
    with pytest.raises(InvalidInput, match="pairs"):
        mc.hsic(mc.Linear(), mc.Linear(), [[1.0]], [[1.0], [2.0]])
    with pytest.raises(InvalidInput, match="at least 4"):
        mc.hsic(mc.Linear(), mc.Linear(), [[1.0]] * 3, [[1.0]] * 3, unbiased=True)


def test_estimates_beyond_the_range_of_numbers_are_told():
    far = [[1e154], [1e154], [0.0], [-1e154]]
    k = mc.Linear()
    with pytest.raises(InvalidInput, match="overflows"):
        mc.mmd(k, far, far[::-1], unbiased=True)
    with pytest.raises(InvalidInput, match="overflows"):
        mc.hsic(k, k, [[1e100], [0.0]], [[1e100], [0.0]])
