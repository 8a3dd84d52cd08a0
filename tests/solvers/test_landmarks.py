"""Least squares over landmarks, against the same minimised directly."""

import numpy as np
import pytest

import mercer as mc
from mercer.solvers.landmarks import Landmarks, landmarks, whitening


def task(K_nm, K_mm, Y, weights, shift, has_offset, size=37):
    def blocks():
        for start in range(0, len(K_nm), size):
            rows = slice(start, start + size)
            yield rows, K_nm[rows]

    return Landmarks(blocks, K_mm, Y, weights, shift, has_offset)


@pytest.mark.parametrize("has_offset", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_minimises_the_objective_over_the_span(rng, has_offset, weighted):
    n, m, shift = 200, 30, 0.05
    X, Y = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) + 3
    weights = rng.uniform(0.2, 3, n) if weighted else np.ones(n)
    k = mc.Gaussian(0.6)
    K_nm, K_mm = k(X, X[:m]), k(X[:m])
    found = landmarks(task(K_nm, K_mm, Y, weights, shift, has_offset), tolerance=1e-11)
    # Sum of w |y - K_nm c - b|^2 + shift c' K_mm c, as one least-squares problem.
    L = np.linalg.cholesky(K_mm)
    roots = np.sqrt(weights)[:, None]
    ones = roots if has_offset else np.zeros((n, 0))
    design = np.vstack(
        [np.hstack([roots * K_nm, ones]), np.hstack([np.sqrt(shift) * L.T, ones[:m] * 0])]
    )
    wanted = np.linalg.lstsq(design, np.vstack([roots * Y, np.zeros((m, 2))]), rcond=None)[0]
    values = K_nm @ wanted[:m] + (wanted[m] if has_offset else 0.0)
    np.testing.assert_allclose(K_nm @ found.coefficients + found.offset, values, atol=1e-7)
    assert found.converged
    assert found.residual <= 1e-11


def test_the_landmarks_precondition(rng):
    X, y = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    k = mc.Gaussian()
    problem = task(k(X, X[:60]), k(X[:60]), y, np.ones(400), 0.1, True)
    matrix = problem.apply(np.eye(problem.turn.shape[1]))
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-9)
    inverse = problem.preconditioner()(np.eye(len(matrix)))
    values = np.linalg.eigvals(inverse @ matrix).real
    assert np.linalg.cond(matrix) > 300
    assert values.max() / values.min() < np.linalg.cond(matrix) / 5


def test_whitening_leaves_out_what_the_matrix_does_not_span(rng):
    F = rng.normal(size=(8, 3))
    T = whitening(F @ F.T)
    assert T.shape == (8, 3)
    np.testing.assert_allclose(T.T @ F @ F.T @ T, np.eye(3), atol=1e-10)
