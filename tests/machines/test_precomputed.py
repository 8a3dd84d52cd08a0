"""Kernel values instead of points."""

import pickle

import numpy as np
import pytest

import mercer as mc
from mercer.errors import InvalidInput, InvalidParameter, InvalidType
from mercer.machines.precomputed import Crossed, Precomputed

MATRIX = mc.Gaussian(1.0)(np.random.default_rng(0).normal(size=(9, 2)))


def test_training_rows_and_new_points_have_their_values():
    k = Precomputed.of(MATRIX)
    every, new = k.every, k.domain.encode(MATRIX[:3] / 2)
    assert isinstance(new, Crossed)
    assert len(new) == 3
    np.testing.assert_array_equal(k.square(every), MATRIX)
    np.testing.assert_array_equal(k.diag(every), np.diagonal(MATRIX))
    np.testing.assert_array_equal(k.block(new, every), MATRIX[:3] / 2)
    np.testing.assert_array_equal(k.block(every[np.array([4, 1])], new), MATRIX[[4, 1], :3] / 2)
    np.testing.assert_array_equal(k.block(new[1:], every[2:5]), MATRIX[1:3, 2:5] / 2)


def test_each_row_is_a_point_of_its_own():
    k = Precomputed.of(np.ones((3, 3)))
    (labels,) = k.every.identify()
    assert sorted(labels) == [0, 1, 2]
    mine, yours = k.every[np.array([2, 0])].identify(k.every[np.array([0, 1])])
    assert mine[1] == yours[0] != mine[0]


def test_what_nobody_knows_is_refused():
    k = Precomputed.of(MATRIX)
    new = k.domain.encode(MATRIX)
    with pytest.raises(InvalidParameter, match="between new points"):
        k.block(new, new)
    with pytest.raises(InvalidParameter, match="of a new point"):
        k.diag(new)
    with pytest.raises(InvalidParameter, match="equal"):
        new.identify()
    with pytest.raises(InvalidType, match="already encoded"):
        k.domain.encode(mc.domains.Vectors().encode(MATRIX))


def test_it_is_assumed_and_can_be_pickled():
    k = Precomputed.of(MATRIX)
    assert k.is_assumed
    again = pickle.loads(pickle.dumps(k))
    np.testing.assert_array_equal(again.square(again.every), MATRIX)


@pytest.mark.parametrize("machine", [mc.KernelRidge, mc.KernelRegressor])
def test_machines_say_the_same_of_values_and_of_points(machine):
    rng = np.random.default_rng(1)
    X, Z, k = rng.normal(size=(30, 2)), rng.normal(size=(5, 2)), mc.Gaussian(1.0)
    y = X[:, 0]
    points = machine(k, penalty=0.01).fit(X, y).predict(Z)
    values = machine("precomputed", penalty=0.01).fit(k(X), y).predict(k(Z, X))
    np.testing.assert_allclose(values, points, rtol=1e-6)
    with pytest.raises(InvalidInput, match="square"):
        machine("precomputed").fit(k(X, Z), y)
    with pytest.raises(ValueError, match="30 features"):
        machine("precomputed", penalty=0.01).fit(k(X), y).predict(k(Z))
