"""Repaired matrices: positive semidefinite, nearest where that is promised, rows and all."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.errors import InvalidInput, InvalidParameter, InvalidType, NotConverged
from mercer.proofs.matrices import UNIT, judge
from mercer.proofs.repair import repair

ROOM = sys.modules["mercer.proofs.repair"]  # in the package the name is that of the function
HOWS = ("clip", "flip", "shift", "nearest")
PAIR = np.array([[1.0, 2.0], [2.0, 1.0]])

square = st.integers(1, 7).map(lambda n: (n, n))
# A diagonal of entries that are smaller than others by 1e6 and more, and not zero, may be out
# of reach for "nearest": that has a test of its own.
entries = st.floats(-5, 5).map(lambda v: v if abs(v) > 1e-3 else 0.0)


def symmetrized(A):
    return (A + A.T) / 2


def with_positive_diagonal(A):
    K = symmetrized(A)
    np.fill_diagonal(K, np.abs(np.diag(K)))
    return K


matrices = hnp.arrays(float, square, elements=entries).map(with_positive_diagonal)


def error(K, steps=4):
    """What a few decompositions and products of matrices as large as K may lose: n u |K|."""
    return steps * len(K) * UNIT * max(np.linalg.norm(K), 1e-300)


def lowest(K):
    return np.linalg.eigvalsh(K)[0]


def random_psd(rng, like):
    """Positive semidefinite matrices around this one: near, far, of low rank and of full."""
    n = len(like)
    values, V = np.linalg.eigh(like)
    B = rng.normal(size=(n, rng.integers(1, n + 1)))
    return (V * np.maximum(values, 0)) @ V.T + 10.0 ** rng.uniform(-6, 1) * B @ B.T


@given(matrices, st.sampled_from(HOWS))
def test_what_comes_out_is_symmetric_and_positive_semidefinite(K, how):
    mended = repair(K, how)
    assert np.array_equal(mended.matrix, mended.matrix.T)
    # "nearest" decomposes K + Diag(y), where y may be much larger than K.
    size = np.linalg.norm(mended.matrix - K) + np.linalg.norm(K)
    if how == "nearest":
        size = max(size, largest_of_dual(K))
    assert lowest(mended.matrix) >= -4 * len(K) * UNIT * size
    assert mended.how == how
    np.testing.assert_allclose(
        mended.change, np.linalg.norm(mended.matrix - K), rtol=100 * UNIT
    )
    np.testing.assert_allclose(mended.eigenvalues, np.linalg.eigvalsh(K), atol=error(K))
    # Nothing is left to mend, on the scale of small points as well.
    assert judge(mended.matrix).status != "not_pd"


def largest_of_dual(K):
    live = np.diag(K) > 0
    A = K[np.ix_(live, live)]
    return np.abs(ROOM._keeping(A).values).max(initial=0.0) if live.any() else 0.0


@given(matrices, st.sampled_from(HOWS))
def test_a_matrix_that_is_fine_is_returned_bit_by_bit(B, how):
    K = symmetrized(B @ B.T)
    mended = repair(K, how)
    if judge(K).status == "pd":
        assert np.array_equal(mended.matrix, K)
        assert mended.change == 0
        assert np.array_equal(mended.transform(B), B)
    assert mended.change <= error(K) * len(K)


@given(matrices)
def test_training_rows_become_the_rows_of_the_matrix(K):
    for how in ("clip", "flip"):
        mended = repair(K, how)
        np.testing.assert_allclose(mended.transform(K), mended.matrix, atol=error(K))
        np.testing.assert_allclose(mended.transform(K[0]), mended.matrix[0], atol=error(K))
    for how in HOWS:
        mended = repair(K, how)
        assert np.array_equal(mended.transform(K, same=np.arange(len(K))), mended.matrix)


@given(matrices, st.integers(0, 2**32))
def test_clip_is_nearest_of_all(K, seed):
    rng, mended = np.random.default_rng(seed), repair(K)
    for _ in range(20):
        other = random_psd(rng, K)
        assert mended.change <= np.linalg.norm(other - K) + error(K)
    # Its distance is known: the norm of the negative eigenvalues.
    negative = np.minimum(np.linalg.eigvalsh(K), 0)
    np.testing.assert_allclose(mended.change, np.linalg.norm(negative), atol=error(K))


@given(matrices, st.integers(0, 2**32))
def test_nearest_is_nearest_of_all_with_the_diagonal(K, seed):
    rng, mended = np.random.default_rng(seed), repair(K, "nearest")
    assert np.array_equal(np.diag(mended.matrix), np.diag(K))
    for _ in range(20):
        other = random_psd(rng, mended.matrix)
        own = np.diag(other)
        scale = np.sqrt(np.divide(np.diag(K), own, out=np.zeros_like(own), where=own > 0))
        other = other * np.outer(scale, scale)
        np.fill_diagonal(other, np.diag(K))
        # A diagonal that is off by n u |K| may move an entry by the root of it.
        allowed = len(K) * np.sqrt(error(K) * max(np.diag(K).max(), 1e-300))
        assert mended.change <= np.linalg.norm(other - K) + allowed


@pytest.mark.parametrize("n", [3, 5, 12])
def test_nearest_agrees_with_alternating_projections(rng, n):
    K = np.clip(symmetrized(rng.normal(size=(n, n))), -1, 1)
    np.fill_diagonal(K, 1)
    # Higham 2002, with Dykstra's correction.
    Y, correction = K, np.zeros_like(K)
    for _ in range(5000):
        R = Y - correction
        values, V = np.linalg.eigh(R)
        X = (V * np.maximum(values, 0)) @ V.T
        correction, Y = X - R, X.copy()
        np.fill_diagonal(Y, 1)
    # They converge linearly: the last step is no more than rounding. The dual has slopes above
    # 1e-3 here, so what is left of the diagonal moves the matrix by no more than its inverse.
    assert np.abs(X - Y).max() < error(K)
    np.testing.assert_allclose(repair(K, "nearest").matrix, X, atol=1e3 * error(K))


def test_nearest_of_the_example_of_higham():
    K = np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]])
    # Higham 2002, section 4: 0.7607 and 0.1573, to four digits; the distance is 0.5278.
    mended = repair(K, "nearest")
    expected = [[1, 0.7607, 0.1573], [0.7607, 1, 0.7607], [0.1573, 0.7607, 1]]
    np.testing.assert_allclose(mended.matrix, expected, atol=5e-5)
    np.testing.assert_allclose(mended.change, 0.5278, atol=5e-5)


@pytest.mark.parametrize("n", [2, 30, 150])
def test_nearest_in_closed_form(n):
    # By symmetry the answer is constant beside the diagonal: singular at -1 / (n - 1).
    K = np.where(np.eye(n) > 0, 1.0, -1.0)
    expected = np.where(np.eye(n) > 0, 1.0, -1 / (n - 1))
    np.testing.assert_allclose(repair(K, "nearest").matrix, expected, atol=error(K))


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 1e300])
@pytest.mark.parametrize("how", HOWS)
def test_units_do_not_matter(rng, how, scale):
    K = with_positive_diagonal(rng.normal(size=(6, 6)))
    # The scale rounds each entry, and the slopes of the dual are above 1e-3 here.
    plain, scaled = repair(K, how), repair(K * scale, how)
    np.testing.assert_allclose(scaled.matrix / scale, plain.matrix, atol=1e3 * error(K))
    np.testing.assert_allclose(scaled.change / scale, plain.change, atol=1e3 * error(K))


@pytest.mark.parametrize("how", HOWS)
def test_small_points_do_not_hide_behind_large_ones(how):
    K = np.zeros((3, 3))
    K[0, 0], K[1:, 1:] = 3e17, PAIR / 3
    assert judge(K).status == "not_pd"
    assert judge(repair(K, how).matrix).status != "not_pd"


def test_flip_has_the_absolute_eigenvalues(rng):
    K = symmetrized(rng.normal(size=(9, 9)))
    flipped = np.linalg.eigvalsh(repair(K, "flip").matrix)
    expected = np.sort(np.abs(np.linalg.eigvalsh(K)))
    np.testing.assert_allclose(flipped, expected, atol=error(K))


def test_shift_changes_the_diagonal_alone(rng):
    K = symmetrized(rng.normal(size=(9, 9)))
    mended = repair(K, "shift")
    off = ~np.eye(9, dtype=bool)
    assert np.array_equal(mended.matrix[off], K[off])
    np.testing.assert_allclose(np.diag(mended.matrix - K), -lowest(K), atol=error(K))
    rows = rng.normal(size=(4, 9))
    assert np.array_equal(mended.transform(rows), rows)
    known = mended.transform(rows, same=[-1, 3, -1, 0])
    assert np.array_equal(known[[0, 2]], rows[[0, 2]])
    assert np.array_equal(known[[1, 3]], mended.matrix[[3, 0]])


@pytest.mark.parametrize("how", ["clip", "nearest"])
def test_new_rows_lie_in_the_range_of_the_matrix(rng, how):
    # Without that, no similarity of a point to itself would make it a kernel again.
    K = with_positive_diagonal(rng.normal(size=(8, 8)))
    mended = repair(K, how)
    rows = mended.transform(rng.normal(size=(3, 8)))
    values, V = np.linalg.eigh(mended.matrix)
    outside = V[:, values <= error(K)]
    assert outside.shape[1] > 0
    # The range is known up to the error over the smallest eigenvalue that belongs to it.
    allowed = error(K) / values[values > error(K)][0] * np.linalg.norm(rows) + error(K)
    assert np.abs(rows @ outside).max() <= allowed


def test_small_cases():
    for how in HOWS:
        assert repair([[2.0]], how).matrix.tolist() == [[2.0]]
        assert repair(np.zeros((3, 3)), how).matrix.tolist() == np.zeros((3, 3)).tolist()
    assert repair([[-2.0]], "clip").matrix.tolist() == [[0.0]]
    # The square of a root: two roundings.
    assert abs(repair([[-2.0]], "flip").matrix[0, 0] - 2) <= 4 * UNIT
    # The shift is more than the eigenvalue by the error of computing it.
    assert 0 <= repair([[-2.0]], "shift").matrix[0, 0] <= 4 * UNIT
    assert repair([[0, 1], [1, 4]], "nearest").matrix.tolist() == [[0, 0], [0, 4]]


def test_the_text_says_what_was_done():
    assert str(repair(PAIR)) == (
        "2 x 2, how='clip': 1 negative eigenvalues, from -1; changed by 1 in the Frobenius norm"
    )
    assert str(repair(np.eye(2))) == "2 x 2: nothing to mend"


@pytest.mark.parametrize(
    ("K", "how", "error", "words"),
    [
        (PAIR, "zero", InvalidParameter, "'clip', 'flip', 'shift' and 'nearest'"),
        (PAIR, ["clip"], InvalidParameter, "not"),
        (np.ones((2, 3)), "clip", InvalidInput, "square"),
        ([[np.nan]], "clip", InvalidInput, "nan"),
        ([[1.0, 2.0], [0.0, 1.0]], "clip", InvalidInput, "not symmetric"),
        (np.ones((0, 0)), "clip", InvalidInput, "not empty"),
        ([["a"]], "clip", InvalidType, "real numbers"),
        ([[1.0, 2.0], [2.0, -1.0]], "nearest", InvalidInput, r"K\[1, 1\] is negative"),
    ],
)
def test_bad_input_is_named(K, how, error, words):
    with pytest.raises(error, match=words):
        repair(K, how)


@pytest.mark.parametrize(
    ("rows", "same", "words"),
    [
        (np.ones((3, 3)), None, "2 training points"),
        (np.ones((1, 2, 2)), None, "2 training points"),
        (1.0, None, "2 training points"),
        ([[1.0, np.nan]], None, "NaN"),
        (PAIR, [0], "`same`"),
        (PAIR, [0, 2], "`same`"),
        (PAIR, [0.5, 1], "`same`"),
    ],
)
def test_bad_rows_are_named(rows, same, words):
    with pytest.raises(InvalidInput, match=words):
        repair(PAIR).transform(rows, same)


def test_a_diagonal_that_is_not_reached_is_an_error(monkeypatch):
    monkeypatch.setattr(ROOM, "MOST_STEPS", 1)
    with pytest.raises(NotConverged, match="Rescale"):
        repair(np.array([[1.0, 1, 0], [1, 1, 1], [0, 1, 1]]), "nearest")


def test_a_step_that_does_not_help_is_replaced_by_a_projection():
    here = ROOM._Dual.at(PAIR, np.zeros(2))
    stuck = SimpleNamespace(
        A=PAIR, y=here.y, gradient=here.gradient, objective=here.objective,
        newton=lambda: 1e6 * here.gradient,
    )  # fmt: skip
    there = ROOM._downhill(stuck)
    np.testing.assert_array_equal(there.y, -here.gradient)
    assert there.objective < here.objective
