"""Tables as they come: what raw data are when nobody says it, and learning from them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.domains import DenseBatch, RecordBatch, SetBatch, Vectors
from mercer.domains.natural import looks_like_vectors, natural
from mercer.errors import InvalidInput, InvalidType

NAN = float("nan")


def table(rng, rows=50):
    return pd.DataFrame(
        {
            "age": np.where(rng.random(rows) < 0.2, NAN, rng.normal(40, 10, rows)),
            "size": rng.normal(size=rows),
            "city": rng.choice(["Oslo", "Rome", None], rows),
        }
    )


@pytest.mark.parametrize(
    "raw",
    [
        [[1.0, 2.0]],
        np.ones((2, 2)),
        np.array([[1.0, NAN]]),  # scikit-learn says what it thinks of NaN in arrays
        sp.eye(2),
        pd.DataFrame({"a": [1.0, 2.0]}),
        pl.DataFrame({"a": [1, 2], "b": [True, False]}),
    ],
)
def test_rows_of_numbers_are_vectors(raw):
    assert looks_like_vectors(raw)


@pytest.mark.parametrize(
    "raw",
    [
        [{"a"}, {"b"}],
        [{"a": 1.0}],
        {"a": [1.0]},
        pd.DataFrame({"a": [1.0, NAN]}),
        pd.DataFrame({"a": ["x", "y"]}),
        pl.DataFrame({"a": [1.0, None]}),
        pl.DataFrame({"a": [1.0, NAN]}),
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}),
        Vectors().encode([[1.0]]),
    ],
)
def test_other_data_are_not(raw):
    assert not looks_like_vectors(raw)


def test_points_go_to_the_domain_that_suits_them():
    assert isinstance(natural([{"a"}, set()]), SetBatch)
    assert isinstance(natural(pd.DataFrame({"a": [1.0, NAN]})), RecordBatch)
    assert isinstance(natural({"a": [1.0, 2.0], "b": ["x", "y"]}), RecordBatch)
    assert isinstance(natural(np.ones((2, 2))), DenseBatch)
    with pytest.raises(InvalidType, match="texts"):
        natural(["a", "b"])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas])
def test_numbers_with_gaps_and_labels_just_work(rng, frame):
    train, new = table(rng), table(rng)
    y = train["size"].to_numpy() + (train.city == "Rome")
    model = mc.KernelRidge().fit(frame(train), y)
    wanted = new["size"] + (new.city == "Rome")
    error = np.mean((model.predict(frame(new)) - wanted) ** 2)
    assert error < 0.5 * wanted.var()


def test_a_table_of_numbers_with_gaps_just_works(rng):
    numbers = table(rng)[["age", "size"]]
    model = mc.KernelRidge().fit(numbers, numbers["size"])
    assert "missing.on('age')" in str(model.kernel_)
    assert np.isfinite(model.predict(numbers)).all()


def test_arrays_with_nan_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match="NaN"):
        mc.KernelRidge().fit(np.array([[1.0], [NAN]]), [1.0, 2.0])


def test_a_gap_that_only_new_rows_have_is_filled_by_the_mean(rng):
    train = table(rng)
    model = mc.KernelRidge().fit(train, train["size"])
    new, mean = train.iloc[:3].copy(), train.iloc[:3].copy()
    new["size"] = NAN
    mean["size"] = train["size"].mean()
    # The kernel keeps six digits of the mean.
    np.testing.assert_allclose(model.predict(new), model.predict(mean), rtol=1e-3, atol=1e-4)


def test_infinity_in_a_table_is_named(rng):
    bad = table(rng)
    bad.loc[7, "size"] = np.inf
    with pytest.raises(InvalidInput, match=r"column 'size': .*infinite.*row 7"):
        mc.KernelRidge().fit(bad, np.arange(50.0))


def test_a_gap_among_new_vectors_is_named(rng):
    train = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
    model = mc.KernelRidge().fit(train, train.a)
    new = train.iloc[:2].copy()
    new.loc[1, "b"] = NAN
    with pytest.raises(InvalidInput, match=r"NaN.*row 1, column 1 \('b'\)"):
        model.predict(new)


def test_a_label_that_was_never_seen_is_unlike_all(rng):
    train = table(rng)
    model = mc.KernelRidge().fit(train, train["size"])
    new = train.iloc[:4].copy()
    new["city"] = ["Lima", None, "Oslo", "Bern"]
    assert np.isfinite(model.predict(new)).all()


def test_missing_columns_are_an_error_and_so_are_more_columns(rng):
    train = table(rng)
    model = mc.KernelRidge().fit(train, train["size"])
    with pytest.raises(ValueError, match="age"):
        model.predict(train[["size", "city"]])
    with pytest.raises(ValueError, match="more"):
        model.predict(train.assign(more=1.0))


def test_an_all_missing_column_of_new_rows_is_filled(rng):
    train = table(rng)
    model = mc.KernelRidge().fit(train, train["size"])
    new = train.iloc[:3].assign(age=None, city=None)
    assert np.isfinite(model.predict(new)).all()


def test_labels_as_categories_and_as_texts_are_the_same(rng):
    texts = table(rng)
    labels = texts.assign(city=texts.city.astype("category"))
    first, second = (mc.KernelRidge().fit(X, texts["size"]) for X in (texts, labels))
    assert first.kernel_ == second.kernel_
    assert (first.predict(texts) == second.predict(labels)).all()


def test_classes_of_a_table(rng):
    train = table(rng, 80)
    y = np.where(train.city == "Rome", "yes", "no")
    model = mc.KernelLogisticRegression().fit(train, y)
    assert model.score(train, y) > 0.95
