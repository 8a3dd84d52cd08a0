"""The exponential, against numbers with more digits."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

from mercer.loops import profiles
from mercer.loops.tiles import COLUMNS as TILE_COLUMNS
from mercer.loops.tiles import ROWS as TILE_ROWS
from mercer.loops.vector import (
    BITS,
    ROWS,
    below,
    lowest_bit,
    roundings,
    run_length,
    sparse_wide,
    wide,
)

DTYPES = [np.float64, np.float32]


def exponential(x):
    """The compiled exponential: the Gaussian profile of -x."""
    out = np.empty_like(x)
    one, nothing = x.dtype.type(1), np.zeros(1, x.dtype)
    profiles.finish(-x, out, profiles.GAUSSIAN, one, one, 1, one - one, nothing)
    return out


def limits(dtype):
    """Between these the result is a normal number, with a margin at the lower end."""
    return (-707.7, 709.78) if dtype == np.float64 else (-86.6, 88.72)


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_is_right_to_one_unit_in_the_last_place(rng, dtype):
    low, high = limits(dtype)
    x = np.concatenate(
        [
            rng.uniform(low, high, 200_000),
            rng.uniform(-1, 1, 100_000),
            rng.normal(size=50_000) * np.exp(-rng.uniform(0, 40, 50_000)),
            # Half multiples of log(2), where the argument is reduced the other way.
            (np.arange(-120, 121) + 0.5) * np.log(2) * (1 + 1e-9 * rng.normal(size=241)),
            [0.0, -0.0, low, high],
        ]
    ).astype(dtype)
    x = x[(x >= low) & (x <= high)]
    exact = np.exp(x.astype(np.longdouble))
    off = np.abs(exponential(x) - exact) / np.spacing(exact.astype(dtype))
    # Half a unit for the last rounding, and as much for those before it.
    assert off.max() <= 1.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_at_its_limits(dtype):
    low, high = limits(dtype)
    tiny = np.finfo(dtype).tiny
    x = np.array([np.inf, -np.inf, high + 0.02, 1e30, -1e30, low * 1.01, 0.0, -0.0], dtype)
    assert exponential(x).tolist() == [np.inf, 0, np.inf, np.inf, 0, 0, 1, 1]
    # Zero is exact to the smallest normal number.
    below = np.linspace(low * 1.1, low, 1000).astype(dtype)
    exact = np.exp(below.astype(np.longdouble))
    assert np.all(np.abs(exponential(below) - exact) <= 2.1 * tiny)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length", [1, 2, 7, 8, 16, 33])
def test_exp_lets_nan_through_wherever_it_stands(dtype, length):
    for at in range(length):
        x = np.zeros(length, dtype)
        x[at] = np.nan
        assert np.flatnonzero(np.isnan(exponential(x))).tolist() == [at]


@pytest.mark.parametrize("dtype", DTYPES)
def test_exp_does_not_decrease(rng, dtype):
    # Within a unit in the last place, at arguments that follow one another closely.
    x = np.sort(rng.uniform(-5, 0, 100_000)).astype(dtype)
    y = exponential(x)
    assert np.all(y[1:] >= y[:-1] * (1 - 2 * np.finfo(dtype).eps))
    assert np.all(y <= 1)


@pytest.mark.parametrize("dtype", [np.dtype(dtype) for dtype in DTYPES])
def test_tiles_are_made_of_whole_register_tiles(dtype):
    assert TILE_ROWS % ROWS == 0
    assert TILE_COLUMNS % wide(dtype) == 0
    assert 9216 % wide(dtype) == 0
    assert sparse_wide(dtype) * dtype.itemsize in {128, 256, 512}


def test_roundings_of_a_sum():
    for width in [*range(200), 1023, 1024, 1025, 10**4, 10**6]:
        run = run_length(width)
        # The product, the sums of a run, and the sums of runs.
        assert roundings(width) == min(width, run) + max(-(-width // run), 1) - 1
        assert roundings(width) <= min(width, 6 * width**0.5)
        assert roundings(width) <= roundings(width + 1)


HOST = """
import numpy as np
from mercer.loops import CHI2, DOT, MINIMUM, Pairwise, Profile, dense, symmetric
from mercer.loops import vector
rng = np.random.default_rng(0)
X, Y = rng.random((19, 40)), rng.random((61, 40))
found = dense(Pairwise(X, Y, DOT, Profile()))
again = symmetric(Pairwise(Y, Y, DOT, Profile()))
print(vector._BYTES, np.allclose(found, X @ Y.T), np.allclose(again, Y @ Y.T))
"""


@pytest.mark.parametrize(("features", "size"), [("", 16), ("+avx,+avx2,+fma", 32)])
def test_register_tiles_follow_what_numba_compiles_for(tmp_path, features, size):
    # Two machines that share a cache of generic code must share the layout of packed points.
    if size > 16 and not {"avx2", "fma"} <= set(host_features()):
        pytest.skip("this processor has no AVX2")
    environment = os.environ | {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": features,
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    found = subprocess.run(
        [sys.executable, "-c", HOST],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment,
    )
    assert found.stdout.split() == [str(size), "True", "True"], found.stderr


def host_features():
    return [name for name, there in get_host_cpu_features().items() if there]


@numba.njit
def places_below(numbers, start, bar):
    """The places that `below` and `lowest_bit` name, one after the other."""
    found, bits = [], below(numbers, start, bar)
    while bits != 0:
        found.append(lowest_bit(bits))
        bits &= bits - 1
    return found


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_tell_which_numbers_are_below_a_bar(rng, dtype):
    numbers = rng.normal(size=3 * BITS).astype(dtype)
    numbers[rng.permutation(3 * BITS)[:30]] = np.repeat([np.nan, np.inf, -np.inf], 10)
    for bar in (*numbers[:40], dtype(-np.inf), dtype(np.inf), dtype(np.nan)):
        for start in (0, 7, 2 * BITS):
            found = places_below(numbers, start, bar)
            assert found == np.flatnonzero(numbers[start : start + BITS] < bar).tolist()
