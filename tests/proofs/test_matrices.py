"""Verdicts on matrices, against exact determinants and plain double loops in fractions."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from fractions import Fraction

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from mercer.errors import InvalidInput, InvalidParameter, InvalidProof, InvalidType
from mercer.proofs.matrices import UNIT, eliminate, is_definite, judge, quadratic_form, whole

PAIR = np.array([[1.0, 2.0], [2.0, 1.0]])


def determinant(rows):
    """Of fractions, by the first row: for a matrix of a few rows."""
    if not rows:
        return Fraction(1)
    minors = ([row[:j] + row[j + 1 :] for row in rows[1:]] for j in range(len(rows)))
    return sum((-1) ** j * rows[0][j] * determinant(m) for j, m in enumerate(minors))


def is_psd(K):
    """No principal minor is negative (Sylvester's criterion for semidefinite matrices)."""
    rows = [[Fraction(v) for v in row] for row in K.tolist()]
    n = range(len(rows))
    parts = (c for size in range(1, len(rows) + 1) for c in itertools.combinations(n, size))
    return all(determinant([[rows[i][j] for j in c] for i in c]) >= 0 for c in parts)


def form(K, x):
    pairs = itertools.product(range(len(x)), repeat=2)
    return sum(x[i] * x[j] * Fraction(K.item(i, j)) for i, j in pairs)


def mirrored(entries, most=4):
    """Symmetric matrices with such entries on and above the diagonal."""
    shapes = st.integers(1, most).map(lambda n: (n, n))
    return hnp.arrays(object, shapes, elements=entries).map(
        lambda A: np.array(
            [[A[min(i, j), max(i, j)] for j in range(len(A))] for i in range(len(A))]
        )
    )


def gaussian_gram(rng, n, spread=1.0):
    X = spread * rng.normal(size=(n, 2))
    return np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / 2)


def verify(evidence):
    """What every verdict owes, whatever the matrix."""
    evidence.check()
    K, x = evidence.matrix, evidence.weights
    assert (x is not None) or evidence.status != "not_pd"
    if x is not None:
        assert form(K, x) == evidence.value < 0
        assert all(weight.denominator == 1 for weight in x)
    assert (evidence.factor is None) == (evidence.status == "not_pd")
    assert evidence.residual <= evidence.bound
    assert len(str(evidence).splitlines()) <= 10


@given(mirrored(st.integers(-3, 5)))
def test_whole_numbers_are_always_decided(K):
    evidence = judge(K)
    verify(evidence)
    assert evidence.status == ("pd" if is_psd(K) else "not_pd")
    assert evidence.strict == (is_psd(K) and determinant(K.astype(object).tolist()) != 0)


@given(mirrored(st.floats(allow_nan=False, allow_infinity=False)))
def test_no_floats_are_judged_wrongly(K):
    evidence = judge(K)
    verify(evidence)
    assert evidence.status != "pd" or is_psd(K)
    # A handful of rows can be eliminated in whole numbers: unknown means rounding.
    assert evidence.status != "unknown" or (evidence.weights and not is_psd(K))


@given(mirrored(st.fractions(-2, 2, max_denominator=30)))
def test_fractions_are_exact(K):
    evidence = judge(K)
    verify(evidence)
    assert evidence.status == ("pd" if is_psd(K) else "not_pd")


@given(
    hnp.arrays(
        float, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.floats(-4, 4)
    ),
    st.lists(st.integers(-400, 400), min_size=8, max_size=8),
)
def test_a_gram_matrix_is_never_called_indefinite_whatever_the_units(X, powers):
    # Each entry of X X' is off by at most d u |x| |y|, far below what is allowed for.
    X = np.ldexp(X, np.array(powers[: len(X)])[:, None])
    K = X @ X.T
    evidence = judge((K + K.T) / 2)
    verify(evidence)
    assert evidence.status == "pd" or evidence.numerical


@given(
    hnp.arrays(float, (6, 3), elements=st.integers(-9, 9)),
    st.lists(st.integers(-30, 30), min_size=6, max_size=6),
)
def test_cholesky_never_certifies_a_singular_matrix(X, powers):
    D = np.ldexp(1.0, powers)
    assert not is_definite(D[:, None] * (X @ X.T) * D)


@pytest.mark.parametrize("n", [2, 20, 200])
def test_cholesky_certifies_down_to_its_own_rounding(rng, n):
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    # Rump's shift is below gamma_(2n + 16) tr K, and the matrix itself is known to n u |K|.
    least = 4 * (2 * n + 16) * UNIT * n
    K = Q @ np.diag([least, *np.ones(n - 1)]) @ Q.T
    assert is_definite((K + K.T) / 2)


def test_the_pair_of_the_lecture():
    evidence = judge(PAIR)
    assert evidence.status == "not_pd"
    assert evidence.weights == (1, -1)
    assert evidence.value == -2
    assert evidence.rows == (0, 1)
    np.testing.assert_allclose(evidence.eigenvalues, [-1, 3], atol=2 * UNIT * 3)


def test_a_bad_pair_is_found_among_many_points(rng):
    K = gaussian_gram(rng, 300) + np.eye(300)
    K[7, 123] = K[123, 7] = -2.5
    evidence = judge(K)
    assert evidence.status == "not_pd"
    assert evidence.rows == (7, 123)
    assert evidence.weights[7] == evidence.weights[123] == 1


def test_a_bad_triple_that_no_pair_shows(rng):
    K = np.eye(50)
    bad = np.ix_([3, 14, 15], [3, 14, 15])
    K[bad] = [[1, -0.75, -0.75], [-0.75, 1, -0.75], [-0.75, -0.75, 1]]
    evidence = judge(K)
    assert evidence.rows == (3, 14, 15)
    assert evidence.weights[3] == evidence.weights[14] == evidence.weights[15] == 1
    assert evidence.value == Fraction(-3, 2)


def test_no_weight_can_be_spared(rng):
    X = rng.normal(size=(40, 2))
    K = np.tanh(X @ X.T + np.eye(40) - 1)
    rows = np.array(judge(K).rows)
    for row in rows:
        fewer = rows[rows != row]
        part = K[np.ix_(fewer, fewer)]
        # Rounding of the entries, and of the decomposition, which is much less.
        assert not len(part) or np.linalg.eigvalsh(part)[0] >= -(2.0**-37) * np.trace(part)


def test_a_numerical_failure_is_told_from_a_structural_one(rng):
    numerical = judge(gaussian_gram(rng, 200))
    verify(numerical)
    assert (numerical.status, numerical.numerical) == ("unknown", True)
    assert "up to rounding" in str(numerical)
    mended = numerical.matrix + numerical.jitter * np.eye(200)
    assert judge(mended).status == "pd"
    structural = judge(numerical.matrix - 1e-6 * np.eye(200))
    verify(structural)
    assert (structural.status, structural.numerical) == ("not_pd", False)


def test_what_counts_as_rounding_can_be_said():
    # Its smallest eigenvalue is -e, about -9e-13: below what kernels promise, above u.
    K = np.array([[1, 1 + 2.0**-40], [1 + 2.0**-40, 1]]) / 3
    assert judge(K).numerical
    assert judge(K).weights is not None
    assert judge(K, rounding=2.0**-52).status == "not_pd"
    assert judge(K.astype(np.float32)).status == "pd"


def test_small_points_do_not_hide_behind_large_ones():
    # Relative to the largest entry this is far below rounding.
    K = np.zeros((3, 3))
    K[0, 0], K[1:, 1:] = 3e15, PAIR / 3
    assert judge(K).rows == (1, 2)


def test_a_zero_on_the_diagonal_with_anything_beside_it():
    evidence = judge(np.array([[0.0, 0.3], [0.3, 1e300]]))
    verify(evidence)
    assert evidence.status == "not_pd"
    # A zero may be what underflow left of 1e-900.
    assert judge(np.array([[0.0, 1e-300], [1e-300, 0.3]])).numerical


def test_exact_numbers_go_beyond_floats():
    tiny = Fraction(1, 10**40)
    assert judge([[1, 1 + tiny], [1 + tiny, 1]]).status == "not_pd"
    assert judge([[1, 1], [1, 1 + tiny]]).strict
    large = 2**62
    assert judge(np.array([[large, large + 1], [large + 1, large + 1]])).status == "not_pd"
    assert judge([[10**30, 10**30], [10**30, 10**30]]).status == "pd"


def test_low_rank_is_certified_exactly(rng):
    X = rng.integers(-9, 10, size=(200, 3))
    evidence = judge(X @ X.T)
    verify(evidence)
    assert (evidence.status, evidence.strict) == ("pd", False)
    assert evidence.factor.shape == (3, 200)


@pytest.mark.parametrize("n", [1, 5, 60])
def test_the_factor_is_one(rng, n):
    K = np.cov(rng.normal(size=(n, 3 * n))).reshape(n, n)
    evidence = judge(K)
    sizes = np.sqrt(np.outer(np.diag(K), np.diag(K)))
    # The product here has an error of gamma_n as well.
    allowed = evidence.bound + 2 * n * UNIT
    assert (np.abs(evidence.factor.T @ evidence.factor - K) <= allowed * sizes).all()


def test_elimination_gives_up_in_time(rng):
    X = rng.normal(size=(200, 200))
    N, _ = whole(X @ X.T)
    start = time.perf_counter()
    assert eliminate(N) is None
    # The budget is about half a second; ten times that on a slow machine.
    assert time.perf_counter() - start < 5


@given(mirrored(st.integers(-4, 4)), st.data())
def test_the_form_is_exact(K, data):
    n = len(K)
    x = data.draw(st.lists(st.fractions(-3, 3), min_size=n, max_size=n))
    value, worst = quadratic_form(K.astype(float), x, 0.5)
    assert value == form(K, x)
    lengths = np.sqrt(np.abs(np.diag(K)))
    sizes = np.maximum(np.abs(K), np.outer(lengths, lengths))
    slack = form(sizes, [abs(weight) for weight in x]) / 2
    # What is added is rounded up, by a few units of 2^-48, and what underflow may cost.
    most = slack * (1 + Fraction(1, 2**46)) + Fraction(1, 2**1000)
    assert value + slack <= worst <= value + most


def test_entries_that_differ_by_rounding_are_symmetric(rng):
    K = gaussian_gram(rng, 20) + np.eye(20)
    assert judge(K * (1 + 4 * UNIT * rng.random((20, 20)))).status == "pd"
    assert judge(PAIR * [[1, 1 + 2 * UNIT], [1, 1]]).weights == (1, -1)


@pytest.mark.parametrize(
    ("K", "error", "words"),
    [
        (np.ones((2, 3)), InvalidInput, r"shape \(2, 3\)"),
        (np.ones(4), InvalidInput, "square"),
        (np.ones((0, 0)), InvalidInput, "not empty"),
        ([[1.0, np.nan], [np.nan, 1.0]], InvalidInput, r"K\[0, 1\] is nan"),
        ([[np.inf]], InvalidInput, r"K\[0, 0\] is inf"),
        ([[Fraction(1), np.nan], [np.nan, 1]], InvalidInput, "finite"),
        ([[1, 2], [3]], InvalidInput, "one length"),
        ([[1.0, 2.0], [3.0, 9.0]], InvalidInput, r"K\[0, 1\] = 2.0 and K\[1, 0\] = 3.0"),
        ([[1, 2], [3, 9]], InvalidInput, r"\(K \+ K.T\) / 2"),
        ([[1, 2**60], [2**60 + 1, 1]], InvalidInput, "not symmetric"),
        ([["a"]], InvalidType, "real numbers"),
        ([[1j]], InvalidType, "real numbers"),
        ([[None]], InvalidType, "None"),
        (sparse.eye(3), InvalidType, "toarray"),
        ([[10**400]], InvalidInput, "finite"),
    ],
)
def test_bad_input_is_named(K, error, words):
    with pytest.raises(error, match=words):
        judge(K)


@pytest.mark.parametrize("rounding", [-1, 1, np.nan])
def test_a_rounding_is_a_small_number(rounding):
    with pytest.raises(InvalidParameter, match="rounding"):
        judge(PAIR, rounding=rounding)


def test_a_changed_certificate_is_found_out():
    evidence = judge(PAIR)
    for change in (
        {"weights": (Fraction(1), Fraction(1))},
        {"value": Fraction(-3)},
        {"matrix": np.eye(2)},
        {"weights": None, "status": "pd"},
    ):
        with pytest.raises(InvalidProof, match="does not hold"):
            replace(evidence, **change).check()


def test_the_text_can_be_read():
    assert str(judge(np.eye(2))).startswith("positive definite: 2 x 2")
    assert str(judge(np.ones((2, 2)))).startswith("positive semidefinite: 2 x 2")
    assert "x'Kx = -2 for x[0] = 1, x[1] = -1" in str(judge(PAIR))
    assert repr(judge(PAIR)) == "MatrixEvidence(2 x 2, 'not_pd', numerical=False)"


def test_the_matrix_is_kept_as_it_was():
    K = PAIR.copy()
    evidence = judge(K)
    K[0, 0] = 5
    evidence.check()
    with pytest.raises(ValueError, match="read-only"):
        evidence.matrix[0, 0] = 5
