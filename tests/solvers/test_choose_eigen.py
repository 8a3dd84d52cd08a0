"""Which method finds eigenpairs: the choice, its reason and its memory."""

import pytest

from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.plan import Plan
from mercer.solvers.choose_eigen import DENSE, METHODS, WIDEST, choose_eigen
from mercer.solvers.krylov import largest, suits

LARGE = Plan(memory="100 GB")


def test_few_rows_and_many_components_take_all_eigenvectors():
    assert choose_eigen(LARGE, DENSE, 3, width=None).method == "spectral"
    assert choose_eigen(LARGE, 5_000, None, width=None).method == "spectral"
    assert choose_eigen(LARGE, 5_000, 2_000, width=None).method == "spectral"


def test_few_components_of_many_rows_are_iterated_on_a_stored_matrix():
    chosen = choose_eigen(LARGE, 10_000, 10, width=None)
    assert chosen.method == "lanczos"
    assert chosen.stores
    assert 8e8 < chosen.memory < 9e8
    assert "10000 x 10000 matrix is stored" in str(chosen)
    single = choose_eigen(LARGE, 10_000, 10, width=None, entry=4)
    assert 4e8 < single.memory < 5e8


def test_a_matrix_that_does_not_fit_is_computed_anew():
    chosen = choose_eigen(Plan(memory="1 GB"), 80_000, 10, width=None)
    assert not chosen.stores
    assert chosen.memory < 3e8
    assert "computed anew" in chosen.why
    # Many components of a matrix that has no room for all of them.
    assert choose_eigen(Plan(memory="1.5 GB"), 10_000, 2_200, width=None).method == "lanczos"


def test_narrow_features_are_decomposed_themselves():
    assert choose_eigen(LARGE, 10_000, 10, width=20).method == "primal"
    assert choose_eigen(LARGE, 30, 10, width=20).method == "spectral"
    assert choose_eigen(LARGE, 10_000, 10, width=WIDEST + 1).method == "lanczos"
    assert choose_eigen(Plan("primal"), 30, 10, width=20).method == "primal"
    assert choose_eigen(Plan("primal"), 30, 10, width=None).method == "spectral"


def test_a_loose_tolerance_takes_a_few_random_products():
    chosen = choose_eigen(Plan(tolerance=0.01, memory="9 GB"), 9_000, 5, width=None)
    assert chosen.method == "randomized"
    assert "0.01" in chosen.why


@pytest.mark.parametrize("method", ["lanczos", "randomized", "spectral"])
def test_what_is_asked_for_is_done_where_it_can_be(method):
    assert choose_eigen(Plan(method), 900, 3, width=5).method == method
    assert choose_eigen(Plan(method), 40, 3, width=5).method == "spectral"


def test_storage_is_as_asked():
    assert not choose_eigen(Plan("blocked"), 900, 3, width=5).stores
    with pytest.raises(BudgetExceeded, match="Plan"):
        choose_eigen(Plan("dense", memory="10 MB"), 9_000, 3, width=None)
    with pytest.raises(BudgetExceeded, match="n_components=10"):
        choose_eigen(Plan(memory="10 MB"), 9_000, None, width=None)


def test_methods_for_other_problems_are_refused():
    assert "cholesky" not in METHODS
    with pytest.raises(InvalidParameter, match="'cholesky'"):
        choose_eigen(Plan("cholesky"), 900, 3, width=None)


def test_a_basis_is_at_most_half_as_wide_as_the_matrix():
    for rows in (100, 700, 1_500, 10_000):
        count = largest(rows)
        assert suits(rows, count) or count == 1
        assert not suits(rows, count + 1)
