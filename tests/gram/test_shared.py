"""Parts of one Gram matrix."""

import numpy as np
import pytest

import mercer as mc
from mercer.gram.rows import KernelRows
from mercer.gram.shared import SharedRows


@pytest.mark.parametrize("memory", ["1 GB", 40 * 60 * 4])
@pytest.mark.parametrize("sharp", [False, True])
def test_a_part_has_the_rows_and_columns_of_its_points(rng, memory, sharp):
    kernel, X = mc.Gaussian(1.5), rng.normal(size=(60, 3))
    plan = mc.Plan(memory=memory, threads=1)
    batch = kernel.domain.encode(X)
    places = np.flatnonzero(rng.random(60) < 0.5)
    part = SharedRows(kernel, batch, plan, sharp=sharp).part(places, plan)
    wanted = kernel(X[places])
    unit = part.unit
    assert unit == np.finfo(np.float64 if sharp else np.float32).eps
    b, out = rng.normal(size=len(places)), np.zeros(len(places))
    part.add(np.arange(len(places)), b, out)
    # A row has len(places) values, each at most 1 and off by a few units.
    np.testing.assert_allclose(out, wanted @ b, atol=16 * unit * np.abs(b).sum())
    np.testing.assert_allclose(part.product(b), wanted @ b, rtol=1e-12, atol=1e-13)
    flat, stride = part.tile(np.arange(len(places)))
    own = np.lib.stride_tricks.as_strided(
        flat, (len(places), len(places)), (stride * flat.itemsize, flat.itemsize)
    )
    np.testing.assert_allclose(own, wanted, atol=16 * unit)


def test_a_part_of_what_is_stored_computes_nothing(rng):
    kernel, X = mc.Matern(1.3), rng.normal(size=(50, 3))
    plan = mc.Plan(memory="1 GB", threads=1)
    shared = SharedRows(kernel, kernel.domain.encode(X), plan, sharp=False)
    part = shared.part(np.arange(0, 50, 2), plan)
    assert shared.is_whole
    assert part.is_whole
    assert not KernelRows(kernel, kernel.domain.encode(X[::2]), plan).is_whole
