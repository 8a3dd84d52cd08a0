"""Parts of the data that are held out in turn."""

import numpy as np
import pytest
from sklearn.model_selection import ShuffleSplit, StratifiedKFold

from mercer.errors import InvalidInput, InvalidParameter
from mercer.selection.folds import count_of, folds_of, interleaved


def test_each_row_is_held_out_once_and_learned_from_otherwise(rng):
    codes = rng.integers(0, 3, 100)
    folds = interleaved(100, 7, codes)
    tests = np.concatenate([fold.test for fold in folds])
    assert sorted(tests) == list(range(100))
    for fold in folds:
        assert sorted([*np.flatnonzero(fold.train), *fold.test]) == list(range(100))


def test_classes_and_sizes_are_spread_evenly(rng):
    codes = rng.integers(0, 3, 100)
    folds = interleaved(100, 7, codes)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for code in range(3):
        shares = [int((codes[fold.test] == code).sum()) for fold in folds]
        assert max(shares) - min(shares) <= 1


def test_folds_of_scikit_learn_are_taken_as_they_are(rng):
    y = rng.integers(0, 2, 40)
    X = rng.normal(size=(40, 2))
    for splitter in (StratifiedKFold(4), ShuffleSplit(3, test_size=0.2, random_state=0)):
        expected = list(splitter.split(X, y))
        for given in (expected, splitter):
            for fold, (train, test) in zip(folds_of(given, 40, y), expected, strict=True):
                assert set(np.flatnonzero(fold.train)) == set(train)
                assert fold.test.tolist() == test.tolist()


def test_masks_and_negative_indices_name_rows_too():
    mask = np.array([True, False, True, False])
    (fold,) = folds_of([(mask, [-1])], 4)
    assert fold.train.tolist() == mask.tolist()
    assert fold.test.tolist() == [3]


@pytest.mark.parametrize("given", [3.5, "three", [], [(1, 2, 3)], [([], [1])], [([0.5], [1])]])
def test_what_are_no_folds_is_refused(given):
    with pytest.raises(InvalidParameter, match=r"fold|folds"):
        folds_of(given, 10)


def test_rows_that_are_not_there_are_refused():
    with pytest.raises(InvalidInput, match="a row that is not there: there are 10"):
        folds_of([([0, 1], [10])], 10)


@pytest.mark.parametrize("count", [0, 1, 11, -3])
def test_numbers_that_make_no_sense_are_refused(count):
    with pytest.raises(InvalidParameter, match="from 2 to"):
        count_of(count, 10)
