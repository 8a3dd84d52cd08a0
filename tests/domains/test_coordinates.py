import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mercer.domains import DenseBatch, SparseBatch, Vectors, same_width
from mercer.domains.coordinates import csr, stored
from mercer.errors import InvalidInput

encode = Vectors().encode
matrices = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 10), st.integers(1, 3)),
    elements=st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5]),
)
storages = st.sampled_from([np.asarray, sp.csr_array, sp.coo_matrix])


@given(matrices, storages, st.data())
def test_slicing_commutes_with_encoding(X, storage, data):
    index = data.draw(
        st.lists(st.integers(0, len(X) - 1), min_size=1).map(np.array)
        | st.slices(len(X)).filter(lambda part: len(X[part]) > 0)
        | hnp.arrays(bool, len(X)).filter(np.any)
    )
    late, early = encode(storage(X))[index], encode(storage(X[index]))
    assert type(late) is type(early)
    assert len(late) == len(early) == len(X[index])
    assert np.array_equal(_dense(late), _dense(early))
    assert stored(late).dtype == X.dtype
    if isinstance(late, DenseBatch):
        assert late.values.flags.c_contiguous


def _dense(batch):
    return batch.values if isinstance(batch, DenseBatch) else batch.matrix.toarray()


@given(matrices, storages, storages, st.data())
def test_labels_depend_on_the_values_alone(X, one, two, data):
    order = np.array(data.draw(st.permutations(range(len(X)))))
    again = np.concatenate([order, order[:1]])
    (plain,) = encode(X).identify()
    (moved,) = encode(two(X[again].astype(np.float64))).identify()
    assert moved.tolist() == plain[again].tolist()
    left, right = encode(one(X)).identify(encode(two(X[again].astype(np.float64))))
    assert left.tolist() == plain.tolist()
    assert right.tolist() == plain[again].tolist()


def test_zero_has_no_sign():
    assert encode([[0.0]]).identify(encode([[-0.0]]))[1].tolist() == [0]


def test_names_of_columns_stay_with_slices():
    batch = DenseBatch(np.ones((3, 2)), ("a", "b"))
    assert batch[1:].columns == ("a", "b")
    assert SparseBatch(csr(np.eye(2)), ("a", "b"))[:1].columns == ("a", "b")


def test_raw_points_are_rows():
    assert encode([[1, 2], [3, 4]]).raw()[1].tolist() == [3.0, 4.0]
    sparse = encode(sp.csr_array(np.array([[0, 2], [3, 0]], np.float32))).raw()
    assert [point.tolist() for point in sparse] == [[0.0, 2.0], [3.0, 0.0]]
    assert sparse[-1].tolist() == sparse[1:][0].tolist() == [3.0, 0.0]
    assert sparse[0].dtype == np.float32
    with pytest.raises(IndexError):
        sparse[2]


def test_raw_points_of_a_sparse_matrix_are_made_one_by_one():
    wide = encode(sp.eye_array(1 << 15, format="csr")).raw()  # 8 GB, if all were there
    assert wide[7].sum() == wide[7][7] == 1


def test_widths_must_agree():
    with pytest.raises(InvalidInput, match="vectors of 2 and of 3 coordinates"):
        same_width(encode(np.ones((1, 2))), encode(sp.eye_array(3)))
    with pytest.raises(InvalidInput, match="vectors of 2 and of 3 coordinates"):
        encode(np.ones((1, 2))).identify(encode(np.ones((1, 3))))
    same_width(encode(np.ones((1, 2))), encode(sp.eye_array(2)))


def test_a_canonical_matrix_is_shared_and_another_is_copied():
    good = sp.csr_matrix(np.eye(3))
    assert np.shares_memory(csr(good).data, good.data)
    bad = sp.csr_matrix((np.array([1.0, 0.0, 2.0]), [2, 1, 2], [0, 3]), shape=(1, 3))
    before = bad.data.copy(), bad.indices.copy()
    assert csr(bad).data.tolist() == [3.0]
    assert np.array_equal(bad.data, before[0])
    assert np.array_equal(bad.indices, before[1])


def test_sparse_matrices_of_complex_numbers():
    with pytest.raises(InvalidInput, match="Complex data not supported"):
        csr(sp.csr_array(np.array([[1j]])))


def test_tables_with_columns_in_another_order_are_not_compared():
    A = DenseBatch(np.ones((1, 2)), ("age", "height"))
    B = DenseBatch(np.ones((1, 2)), ("height", "age"))
    with pytest.raises(InvalidInput, match="column 0 is 'age' in one table and 'height'"):
        same_width(A, B)
    with pytest.raises(InvalidInput, match="the same order"):
        A.identify(B)
    same_width(A, A)
    same_width(A, DenseBatch(np.ones((1, 2))))


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array])
def test_entries_of_one_place_add_up_without_wrapping(form):
    places = np.array([0, 0]), np.array([0, 0])
    hundreds = sp.coo_array((np.array([100, 100], np.int8), places), (1, 1))
    assert csr(hundreds).toarray() == [[200.0]]
    repeated = sp.csr_array((np.array([100, 100], np.int8), [0, 0], [0, 2]), (1, 1))
    assert csr(repeated).toarray() == [[200.0]]
    yes = sp.csr_array((np.array([True, True]), [0, 0], [0, 2]), (1, 1))
    assert csr(form(yes)).toarray() == [[1.0]]


def test_long_doubles_beyond_the_floats_are_infinite():
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("long double is double here")
    huge = sp.csr_array(np.array([[np.longdouble("1e400")]]))
    with pytest.raises(InvalidInput, match="infinite"):
        encode(huge)
