"""The explicit RKHS of linear and polynomial kernels."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.errors import InvalidInput, NoFeatureMap
from mercer.functions.spaces import monomials


def test_linear_functions_have_the_norm_of_their_weights(rng):
    X, c = rng.normal(size=(5, 3)), rng.normal(size=5)
    f = mc.Function(mc.Linear(), X, c)
    p = mc.explicit(f)
    np.testing.assert_allclose(p.weights, X.T @ c, rtol=1e-13)
    assert p.names == ("x0", "x1", "x2")
    assert p.norm() == pytest.approx(f.norm(), rel=1e-12)
    g = mc.section(mc.Linear(), [1.0, 2.0, 3.0])
    assert f @ g == pytest.approx(p.weights @ [1, 2, 3], rel=1e-12)


# Quadratic forms


def quadratic(S):
    """The function x'Sx of the RKHS of (x'y)^2: every symmetric S is a sum of c z z'."""
    values, vectors = np.linalg.eigh(S)
    return mc.Function(mc.Polynomial(degree=2, offset=0), vectors.T, values)


def test_quadratic_forms_have_the_frobenius_norm(rng):
    A, B = rng.normal(size=(2, 4, 4))
    S, T = A + A.T, B + B.T
    f, g, X = quadratic(S), quadratic(T), rng.normal(size=(6, 4))
    np.testing.assert_allclose(f(X), np.einsum("ni,ij,nj->n", X, S, X), rtol=0, atol=1e-12)
    assert f.norm() == pytest.approx(np.linalg.norm(S), rel=1e-12)
    assert f @ g == pytest.approx((S * T).sum(), rel=1e-10, abs=1e-12)
    np.testing.assert_allclose(mc.explicit(f).matrix(), S, rtol=0, atol=1e-13)


def test_why_the_matrix_must_be_symmetric(rng):
    A = rng.normal(size=(3, 3))
    S = (A + A.T) / 2
    f, X = quadratic(S), rng.normal(size=(6, 3))
    # A is the same function and a longer matrix: its norm is not that of the function.
    np.testing.assert_allclose(f(X), np.einsum("ni,ij,nj->n", X, A, X), rtol=0, atol=1e-12)
    assert np.linalg.norm(A) > np.linalg.norm(S) == pytest.approx(f.norm(), rel=1e-12)
    parts = np.hypot(np.linalg.norm(S), np.linalg.norm(A - S))
    assert np.linalg.norm(A) == pytest.approx(parts, rel=1e-14)
    # What is left over, A - S, is antisymmetric: the zero function, orthogonal to every xx'.
    np.testing.assert_allclose(np.einsum("ni,ij,nj->n", X, A - S, X), 0, atol=1e-14)


def test_a_section_is_a_matrix_of_rank_one():
    p = mc.explicit(mc.section(mc.Polynomial(degree=2, offset=0), [1.0, -2.0]))
    np.testing.assert_array_equal(p.matrix(), [[1, -2], [-2, 4]])


def test_only_quadratic_forms_have_a_matrix():
    for kernel in (mc.Polynomial(2, offset=1), mc.Polynomial(3, offset=0), mc.Linear()):
        with pytest.raises(InvalidInput, match="quadratic"):
            mc.explicit(mc.section(kernel, [1.0, 2.0])).matrix()


# Polynomials of any degree and offset

POLYNOMIALS = [
    mc.Polynomial(degree, offset=offset, scale=scale)
    for degree in (1, 2, 3, 5)
    for offset in (0.0, 0.5, 2.0)
    for scale in (1.0, (0.5, 2.0))
]
COMPOSED = [
    mc.Linear() ** 3,
    2 * mc.Linear() + mc.Polynomial(2),
    mc.Linear() * mc.Polynomial(2, offset=0),
    mc.Linear() + 3,
    mc.series(mc.Linear(), (1.0, 0.0, 0.5, 2.0)),
    mc.Linear(metric=((2.0, 0.0), (0.0, 0.5))),
    0 * mc.Linear() + mc.Bias(),
]


@pytest.mark.parametrize("kernel", POLYNOMIALS + COMPOSED, ids=str)
def test_functions_are_polynomials_with_the_same_norm(kernel, rng):
    f = mc.Function(kernel, rng.normal(size=(6, 2)), rng.normal(size=6))
    p, X = mc.explicit(f), rng.normal(size=(7, 2))
    # Sums of terms of this size, of which each way is right to some 2^-53.
    size = np.abs(f.coefficients) @ np.sqrt(kernel.diag(f.anchors))
    room = 1e-13 * size
    assert (np.abs(p(X) - f(X)) <= room * np.sqrt(kernel.diagonal(X))).all()
    assert p.norm() ** 2 == pytest.approx(f.norm() ** 2, abs=room * size)
    assert len(p.names) == len(set(p.names)) == len(p.exponents)


@pytest.mark.parametrize("kernel", POLYNOMIALS, ids=str)
def test_the_kernel_is_the_sum_of_its_monomials(kernel, rng):
    x, y = rng.normal(size=(2, 2))
    found = sum(
        a * np.prod(x**row) * np.prod(y**row) for row, a in monomials(kernel, 2).items()
    )
    assert found == pytest.approx(kernel.pair(x, y), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_dimension_of_the_space(degree, width):
    # Monomials of degree n in d variables, or of at most degree n: one variable more.
    homogeneous = monomials(mc.Polynomial(degree, offset=0), width)
    assert len(homogeneous) == math.comb(width + degree - 1, degree)
    assert len(monomials(mc.Polynomial(degree), width)) == math.comb(width + degree, degree)


def test_weights_are_those_of_the_feature_map(rng):
    # The kernel's own map has the same features in another order.
    k = mc.Polynomial(3, offset=0.7)
    f = mc.Function(k, rng.normal(size=(4, 2)), rng.normal(size=4))
    left, right = np.sort(np.abs(f.to_features())), np.sort(np.abs(mc.explicit(f).weights))
    np.testing.assert_allclose(left, right, rtol=1e-11, atol=1e-12)


def test_the_inner_product_of_monomials(rng):
    # sqrt(a) x^alpha is an orthonormal basis, so <f, g> is the product of the weights.
    k = mc.Polynomial(3)
    f, g = (mc.Function(k, rng.normal(size=(4, 2)), rng.normal(size=4)) for _ in range(2))
    found = mc.explicit(f).weights @ mc.explicit(g).weights
    assert found == pytest.approx(f @ g, rel=1e-9, abs=1e-9)


def test_several_outputs_and_sparse_points(rng):
    X, c = rng.normal(size=(4, 2)), rng.normal(size=(4, 3))
    F = mc.Function(mc.Polynomial(2), sp.csr_array(X), c)
    p = mc.explicit(F)
    assert p.coefficients.shape == (6, 3)
    np.testing.assert_allclose(p(X), F(X), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(p(sp.csr_array(X)), p(X), rtol=1e-14)
    np.testing.assert_allclose(p.norm(), F.norm(), rtol=1e-11)
    assert "3 polynomials" in str(p)


def test_in_words():
    f = mc.Function(mc.Polynomial(2, offset=1), [[1.0, 0.0]], [0.5])  # (1 + x)^2 / 2
    p = mc.explicit(f)
    assert str(p) == "0.5 + 1 x0 + 0.5 x0^2"
    assert repr(p) == "Explicit(0.5 + 1 x0 + 0.5 x0^2)"
    assert p.names == ("1", "x0", "x1", "x0^2", "x0 x1", "x1^2")
    assert str(mc.explicit(f - f)) == "0"


def test_what_is_no_polynomial():
    for kernel in (mc.Gaussian(), mc.Linear() + mc.Gaussian(), mc.Cosine()):
        with pytest.raises(NoFeatureMap, match="polynomial"):
            mc.explicit(mc.section(kernel, [1.0, 2.0]))
    with pytest.raises(NoFeatureMap):
        mc.explicit(mc.section(mc.SetPower(), {1}))
    with pytest.raises(NoFeatureMap, match="metric"):
        mc.explicit(mc.section(mc.Linear(metric=((2.0, 1.0), (1.0, 2.0))), [1.0, 2.0]))
    with pytest.raises(NoFeatureMap, match="monomials"):
        mc.explicit(mc.section(mc.Polynomial(4), np.ones(60)))
    with pytest.raises(InvalidInput, match="variables"):
        mc.explicit(mc.section(mc.Linear(), [1.0, 2.0]))([[1.0]])
