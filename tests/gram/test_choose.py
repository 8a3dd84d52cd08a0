"""What is chosen for a Gram matrix follows the plan, and says why."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import mercer as mc
from mercer.errors import BudgetExceeded, InvalidInput, InvalidParameter

X = np.linspace(0, 1, 60).reshape(20, 3)
MANY = np.linspace(0, 1, 3000).reshape(1000, 3)


def test_stored_if_it_fits():
    fits = mc.operator(mc.Gaussian(), MANY, plan=mc.Plan(memory=1000 * 1000 * 8))
    assert fits.plan_.method == "dense"
    assert "fits" in fits.plan_.why
    too_large = mc.operator(mc.Gaussian(), MANY, plan=mc.Plan(memory=1000 * 1000 * 8 - 1))
    assert too_large.plan_.method == "blocked"
    assert "does not fit" in too_large.plan_.why
    assert mc.operator(mc.Gaussian(), X, X[:3]).plan_.method == "dense"


def test_float32_takes_half_the_memory():
    plan = mc.Plan(memory=1000 * 1000 * 4)
    assert mc.operator(mc.Gaussian(), MANY, plan=plan).plan_.method == "blocked"
    single = mc.operator(mc.Gaussian(), MANY.astype(np.float32), plan=plan)
    assert single.plan_.method == "dense"
    assert single.plan_.memory == 1000 * 1000 * 4


def test_tiles_count_too():
    # A tile of 144 rows a thread: that is the least a product can do with.
    one = mc.operator(mc.Gaussian(), MANY, plan=mc.Plan(memory=144 * 1000 * 8, threads=1))
    assert one.plan_.memory == 144 * 1000 * 8
    assert (one @ np.ones(1000)).shape == (1000,)
    with pytest.raises(BudgetExceeded, match="a tile alone"):
        mc.operator(mc.Gaussian(), MANY, plan=mc.Plan(memory=144 * 1000 * 8 - 1, threads=1))


def test_no_more_threads_than_there_is_room_for_tiles():
    tile = 144 * 1000 * 8
    for budget, threads in ((tile, 1), (3 * tile, 1), (4 * tile, 2), (40 * tile, 3)):
        plan = mc.Plan(method="blocked", memory=budget, threads=3)
        chosen = mc.operator(mc.Gaussian(), MANY, plan=plan).plan_
        assert chosen.threads == threads
        assert chosen.memory == threads * tile
        assert chosen.memory + chosen.room <= budget


def test_a_method_that_was_asked_for():
    for method in ("dense", "blocked"):
        chosen = mc.operator(mc.Gaussian(), X, plan=method).plan_
        assert (chosen.method, chosen.why) == (method, "as asked")
    with pytest.raises(BudgetExceeded) as caught:
        mc.operator(mc.Gaussian(), X, plan=mc.Plan(method="dense", memory=100))
    assert isinstance(caught.value, MemoryError)
    assert "3.2 KB" in str(caught.value)
    assert "100 bytes" in str(caught.value)


def test_the_plan_can_be_printed():
    chosen = mc.operator(mc.Gaussian(), X, plan=mc.Plan(memory="1 MB", threads=2)).plan_
    assert str(chosen) == (
        "dense: 20 x 20 float64 entries take 3.2 KB, which fits; 3.2 KB of 1 MB allowed"
    )
    assert chosen.threads == 2
    assert chosen.tolerance == 1e-8


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_precision(form):
    for given, wanted in (("float32", np.float32), ("float64", np.float64)):
        plan = mc.Plan(precision=given)
        for points in (form(X), form(X.astype(np.float32))):
            A = mc.operator(
                mc.Gaussian(), points, points[:3] if form is np.asarray else None, plan=plan
            )
            assert A.dtype == wanted
            assert A.to_dense().dtype == wanted


def test_precision_is_for_vectors():
    with pytest.raises(InvalidParameter, match="sets"):
        mc.operator(mc.Jaccard(), [{1}], plan=mc.Plan(precision="float32"))
    table = pd.DataFrame({"age": [1.0, 2.0]})
    with pytest.raises(InvalidParameter, match="records"):
        mc.operator(mc.Gaussian().on("age"), table, plan=mc.Plan(precision="float64"))
    assert (
        mc.operator(mc.Jaccard(), [{1}], plan=mc.Plan(precision="float64")).dtype == np.float64
    )


def test_a_kernel_may_be_a_text():
    A = mc.operator("2 * gaussian(0.5) + linear", X)
    np.testing.assert_array_equal(A.to_dense(), (2 * mc.Gaussian(0.5) + mc.Linear())(X))


def test_the_same_object_twice_is_a_symmetric_matrix():
    assert mc.operator(mc.Gaussian(), X, X).is_symmetric
    assert not mc.operator(mc.Gaussian(), X, X.copy()).is_symmetric


def test_values_that_overflow_are_found_before_the_work():
    for method in ("dense", "blocked"):
        with pytest.raises(InvalidInput, match="overflows"):
            mc.operator(mc.Linear().exp(), [[1.0], [100.0]], plan=method)
        with pytest.raises(InvalidInput, match="overflows"):
            mc.operator(mc.Linear().exp(), [[1.0]], [[100.0]], plan=method)


@pytest.mark.parametrize(
    ("kernel", "points"),
    [
        (mc.Jaccard(), [{1, 2}, {2}, set()]),
        (mc.Delta(), ["a", "b", "a"]),
        (
            mc.Gaussian().on("age") + mc.Delta().on("city"),
            {"age": [1.0, 2.0], "city": ["a", "b"]},
        ),
        (mc.Min(), [1.0, 2.0, 3.0]),
        (mc.from_function(lambda x, y: float(len(x) * len(y))), ["a", "bb"]),
    ],
    ids=str,
)
def test_every_domain(kernel, points):
    K = kernel(points)
    for method in ("dense", "blocked"):
        A = mc.operator(kernel, points, plan=method)
        np.testing.assert_array_equal(A.to_dense(), K)
        np.testing.assert_allclose(A @ np.ones(len(K)), K.sum(axis=1))
