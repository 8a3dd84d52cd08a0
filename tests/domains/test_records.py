import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from mercer.domains import (
    NATURALS,
    REALS,
    Anything,
    Categories,
    CategoryBatch,
    DenseBatch,
    Domain,
    Numbers,
    ObjectBatch,
    Positions,
    RecordBatch,
    Records,
    SetBatch,
    Sets,
    SparseBatch,
    Vectors,
    distinct,
    of_one_kind,
)
from mercer.errors import DomainMismatch, InvalidInput, InvalidParameter, InvalidType

TABLE = {
    "age": [31.0, None, 45.0],
    "height": [1.5, 1.25, 2.0],
    "rooms": [1, 2, 3],
    "city": ["Rome", "Oslo", None],
    "basket": [{"milk"}, set(), {"bread"}],
    "smoker": [True, False, True],
    "tags": [("a", 1), ("b", 2), ("a", 1)],
}
table = Records().encode(TABLE)
rows = st.lists(
    st.fixed_dictionaries(
        {"x": st.sampled_from([0.0, -0.0, 1.0, None]), "c": st.sampled_from(["a", "b", None])}
    ),
    min_size=1,
    max_size=10,
)


@given(rows, st.data())
def test_slicing_commutes_with_encoding(points, data):
    chosen = np.array(data.draw(st.lists(st.integers(0, len(points) - 1), min_size=1)))
    late = _encode(points)[chosen]
    assert len(late) == len(chosen)
    np.testing.assert_array_equal(
        late.columns["x"].values[:, 0],
        np.array([points[at]["x"] for at in chosen], dtype=float),
    )
    assert late.columns["c"].raw() == [points[at]["c"] for at in chosen]


@given(rows, st.data())
def test_labels_depend_on_the_values_alone(points, data):
    order = data.draw(st.permutations(range(len(points))))
    order = [*order, order[0]]
    (plain,) = _encode(points).identify()
    left, right = _encode(points).identify(_encode([points[at] for at in order]))
    assert left.tolist() == plain.tolist()
    assert right.tolist() == plain[order].tolist()
    for i, a in enumerate(points):
        for j, b in enumerate(points):
            assert (plain[i] == plain[j]) == (a == b)


def _encode(points):
    return Records().encode(
        {
            "x": np.array([row["x"] for row in points], dtype=float),
            "c": [row["c"] for row in points],
        }
    )


def test_a_column_encoded_in_two_ways_is_still_compared():
    one, two = Records().encode({"a": [1, None]}), Records().encode({"a": [None, None]})
    left, right = one.identify(two)
    assert right.tolist() == [left[1], left[1]]
    assert left[0] != left[1]


def test_equal_rows_are_one_point():
    once = distinct(Records().encode({"a": [1, None, 1, None], "b": ["x", "y", "x", "y"]}))
    assert once.weights.tolist() == [2.0, 2.0]


def test_vectors_from_several_columns():
    batch = table.select(["rooms", "height", "smoker"], Vectors())
    assert batch.values.tolist() == [[1, 1.5, 1], [2, 1.25, 0], [3, 2, 1]]
    assert batch.columns == ("rooms", "height", "smoker")
    assert batch.values.flags.c_contiguous


def test_single_precision_is_kept_where_all_columns_have_it():
    parts = {"a": np.ones(2, np.float32), "b": np.ones(2, np.float32), "c": np.ones(2)}
    batch = Records().encode(parts)
    assert batch.select(["a", "b"], Vectors()).values.dtype == np.float32
    assert batch.select(["a", "c"], Vectors()).values.dtype == np.float64


def test_one_column_for_one_domain():
    assert table.select(["rooms"], NATURALS).values.ravel().tolist() == [1, 2, 3]
    assert table.select(["city"], Categories()) is table.columns["city"]
    assert table.select(["basket"], Sets()) is table.columns["basket"]
    assert table.select(["rooms"], Categories()).levels == (1, 2, 3)
    assert table.select(["age"], Categories()).levels == (None, 31, 45)
    assert isinstance(table.select(["tags"], Categories()), CategoryBatch)
    words = Records().encode({"words": [("a", "b"), ("c",)]})
    with pytest.raises(InvalidType, match="column 'words': row 0 holds a tuple"):
        words.select(["words"], Sets())


def test_columns_that_are_vectors_themselves():
    parts = Records().encode({"image": np.ones((2, 3)), "x": [1, 2], "words": sp.eye_array(2)})
    batch = parts.select(["image", "x"], Vectors())
    assert batch.width == 4
    assert batch.columns == ("image[0]", "image[1]", "image[2]", "x")
    assert parts.select(["words"], Vectors()) is parts.columns["words"]
    assert len(parts.raw()[0]["image"]) == 3


def test_anything_reads_any_columns():
    assert table.select(["tags"], Anything()) is table.columns["tags"]
    pairs = table.select(["rooms", "city"], Anything())
    assert isinstance(pairs, ObjectBatch)
    assert pairs.items == ((1, "Rome"), (2, "Oslo"), (3, None))


def test_a_part_of_the_table_is_a_table():
    part = table.select(["rooms", "city"], Records())
    assert list(part.columns) == ["rooms", "city"]
    assert part.raw()[0] == {"rooms": 1.0, "city": "Rome"}


def test_other_domains_read_several_numbers_as_a_matrix():
    indicators = Records().encode({"a": [1, 0], "b": [1, 1]})
    batch = indicators.select(["a", "b"], Sets())
    assert isinstance(batch, SetBatch)
    assert batch.raw() == [{0, 1}, {1}]


def test_a_batch_of_a_domain_unknown_here_is_read_by_that_domain():
    class Words(Domain):
        name = "words"

        def encode(self, raw):
            if isinstance(raw, DenseBatch | CategoryBatch):
                raise self.misread(raw)
            return Anything().encode([str(value).upper() for value in raw])

    assert table.select(["city"], Words()).items == ("ROME", "OSLO", "NONE")


@pytest.mark.parametrize(
    ("names", "domain", "error", "message"),
    [
        (["hight"], Vectors(), InvalidInput, "no column 'hight'.*\nDid you mean 'height'"),
        (
            ["zzz"],
            Vectors(),
            InvalidInput,
            "no column 'zzz'.*\nThe columns are 'age', 'height'",
        ),
        ([99], Vectors(), InvalidInput, "no column 99"),
        (["age"], Vectors(), InvalidInput, "'age' has 1 of 3 values missing.*row 1.*\nImpute"),
        (
            ["rooms", "age"],
            Vectors(),
            InvalidInput,
            "columns 'rooms', 'age': column 'age' has 1",
        ),
        (["city"], Vectors(), InvalidInput, "column 'city' holds labels"),
        (["basket"], Numbers(), InvalidInput, "column 'basket' holds sets"),
        (["tags"], Vectors(), InvalidInput, "column 'tags' holds objects"),
        (["height"], Numbers(high=1), InvalidInput, "column 'height': the number 1.5 at row 0"),
        (["height"], Numbers(whole=True), InvalidInput, "column 'height': .*not whole"),
        (
            ["height", "rooms"],
            Numbers(),
            InvalidInput,
            "'height', 'rooms': the points have 2 col",
        ),
        (["height", "rooms"], Categories(), InvalidInput, "the points have 2 columns"),
        (["city"], Sets(), InvalidType, "column 'city': row 0 holds the text"),
        (["age", "rooms"], Vectors(max_width=1), InvalidInput, "column 'age' has 1 of 3"),
        (["height", "rooms"], Vectors(max_width=1), InvalidInput, "wider than the 1"),
    ],
)
def test_columns_that_do_not_suit_the_kernel(names, domain, error, message):
    with pytest.raises(error, match=message):
        table.select(names, domain)


def test_infinite_values_and_negative_ones():
    batch = Records().encode({"a": [1.0, np.inf], "b": [-1.0, 2.0]})
    with pytest.raises(InvalidInput, match=r"column 'a' has 1 of 2 values infinite \(inf\)"):
        batch.select(["a"], Vectors())
    with pytest.raises(InvalidInput, match=r"column 'b': Negative values.*\('b'\)"):
        batch.select(["b"], Vectors(nonnegative=True))


def test_columns_by_position():
    batch = Records(columns=(0, 2)).encode(np.arange(6.0).reshape(2, 3))
    assert batch.select([2, 0], Vectors()).values.tolist() == [[2, 0], [5, 3]]
    assert table.column(3) is table.columns["city"]


def test_required_columns():
    assert Records(columns=("age",)).encode(TABLE).length == 3
    assert Records(columns=("age",)).encode(table) is table
    with pytest.raises(InvalidInput, match=r"no column 'agee'.*\nDid you mean 'age'"):
        Records(columns=("agee",)).encode(pl.DataFrame({"age": [1]}))
    with pytest.raises(InvalidType, match="already encoded, as a DenseBatch"):
        Records().encode(Vectors().encode([[1]]))


def test_names_of_columns_are_a_tuple():
    assert Records(["a"]) == Records(("a",))
    with pytest.raises(InvalidParameter, match="'age' is one name"):
        Records("age")
    with pytest.raises(InvalidInput, match="no columns reads nothing"):
        table.select([], Vectors())


def test_records_meet_in_all_their_columns():
    assert Records(("a", "b")).meet(Records(("b", "c"))) == Records(("a", "b", "c"))
    assert Records(("a",)).name == "records with column 'a'"
    assert Records(("a", "b")).name == "records with columns 'a', 'b'"
    assert Records().name == "records"


def test_tables_of_different_columns():
    one, two = Records().encode({"a": [1], "b": [1]}), Records().encode({"a": [1], "c": [1]})
    with pytest.raises(InvalidInput, match="only one of them has columns 'b', 'c'"):
        one.identify(two)


def test_many_columns_are_not_all_listed():
    wide = Records().encode({f"c{at}": [1] for at in range(30)})
    with pytest.raises(InvalidInput, match=r"'c19', \.\.\."):
        wide.column("q")


def test_the_columns_of_the_user_stay():
    ages = np.array([1.0, np.nan])
    ages.flags.writeable = False
    Records().encode({"age": ages}).select(["age"], Categories())
    assert np.isnan(ages[1])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(bool)])
def test_indicator_matrices_are_columns_of_sets(form):
    table = Records().encode({"basket": form(np.array([[1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]))})
    assert table.select(["basket"], Sets()).raw() == [{0, 2}, set()]


def test_labels_that_are_numbers_are_read_as_numbers():
    table = Records().encode({"id": [2**60, 2**60 + 1], "mixed": [True, 2.5]})
    assert table.select(["mixed"], Vectors()).values.tolist() == [[1.0], [2.5]]
    assert table.select(["id"], Vectors()).values.tolist() == [[2.0**60]] * 2
    with pytest.raises(InvalidInput, match="column 'a': row 0 holds a number beyond 1e308"):
        Records().encode({"a": [10**400, 1]}).select(["a"], Vectors())


def test_missing_entries_of_a_sparse_column():
    table = Records().encode({"words": sp.csr_array([[1.0, np.nan]])})
    with pytest.raises(InvalidInput, match="column 'words': 1 of 2 values is NaN"):
        table.select(["words"], Vectors())


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([None, 1j], r"^column 'a' holds objects \(such as a complex\)"),
        (sp.eye_array(2, format="csr"), "'a' holds a sparse matrix"),
        (["x", "y"], "^column 'a' holds labels"),
    ],
)
def test_messages_say_what_a_column_holds_and_name_it_once(values, words):
    table = Records().encode({"a": values, "b": [1.0, 2.0]})
    columns = ["a", "b"] if sp.issparse(values) else ["a"]
    with pytest.raises(InvalidInput, match=words) as caught:
        table.select(columns, Vectors())
    assert "column 'a': column 'a'" not in str(caught.value)


def test_batches_that_were_encoded_in_two_ways():
    numbers, labels = REALS.encode([1.0, 0.0]), Categories().encode([True, None])
    left, right = of_one_kind((numbers, labels))
    first, second = left.identify(right)
    assert (first[:, None] == second).tolist() == [[True, False], [False, False]]
    dense, sparse = Vectors().encode(np.eye(2)), Vectors().encode(sp.csr_array(np.eye(2)))
    assert of_one_kind((dense, sparse)) == (dense, sparse)


def test_a_table_of_dense_and_of_sparse_columns():
    A, B = Records().encode({"x": np.eye(2)}), Records().encode({"x": sp.csr_array(np.eye(2))})
    assert [labels.tolist() for labels in A.identify(B)] == [[1, 0], [1, 0]]


def test_points_with_a_sparse_part_are_made_one_by_one():
    wide = Records().encode({"x": sp.eye_array(1 << 15, format="csr"), "n": range(1 << 15)})
    assert wide.raw()[7]["x"][7] == 1
    assert wide.raw()[7]["n"] == 7


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ([[1, 2]], DenseBatch),
        (np.array([[1, 2.5]], object), DenseBatch),
        (sp.csr_array(np.eye(2)), SparseBatch),
        (pd.DataFrame({"a": [1], "b": [True]}), DenseBatch),
        (pd.DataFrame({"a": [1], "b": ["x"]}), RecordBatch),
        (np.array([["a", "b"]]), RecordBatch),
        ({"a": [1]}, RecordBatch),
        ([{"a": 1}], RecordBatch),
        ([pd.Series({"a": 1})], RecordBatch),
        (np.array([(1, "x")], [("a", int), ("b", "U1")]), RecordBatch),
    ],
)
def test_points_with_positions(raw, kind):
    batch = Positions().encode(raw)
    assert isinstance(batch, kind)
    assert Positions().encode(batch) is batch


def test_where_positions_meet_other_domains():
    for other in (Vectors(), Vectors(nonnegative=True), Records(("a",)), Anything()):
        both = Positions() if isinstance(other, Anything) else other
        assert Positions().meet(other) == other.meet(Positions()) == both
    with pytest.raises(DomainMismatch):
        Positions().meet(Sets())
    with pytest.raises(InvalidType, match="already encoded"):
        Positions().encode(Categories().encode(["a"]))


def test_a_number_that_names_one_column_and_counts_to_another():
    swapped = Records().encode({1: ["a"], 0: ["b"]})
    with pytest.raises(InvalidInput, match=r"called 0 or the one at position 0.*called 1"):
        swapped.column(0)
    assert Records().encode({5: ["a"]}).column(5).raw() == ["a"]
    assert Records().encode({5: ["a"]}).column(0).raw() == ["a"]
