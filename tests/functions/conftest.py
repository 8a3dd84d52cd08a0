"""Kernels of every kind with points for each, and how exact their numbers can be."""

import numpy as np
import pytest

import mercer as mc

# What a kernel promises is 2^-40 of sqrt(k(x, x) k(y, y)); sums of some hundred terms, and the
# few operations around them, take the rest.
DELTA = 2.0**-38


def vectors(rng, count):
    return rng.normal(size=(count, 2))


def numbers(rng, count):
    return rng.uniform(0.1, 3.0, count)


def sets(rng, count):
    return [set(np.flatnonzero(row)) for row in rng.random((count, 5)) < 0.5]


def words(rng, count):
    return list(rng.choice(["ape", "bee", "cat", "dog", "eel", "fox", "gnu"], count))


def records(rng, count):
    return [
        {"age": float(a), "pet": str(p)}
        for a, p in zip(numbers(rng, count), words(rng, count), strict=True)
    ]


CASES = {
    "gaussian": (mc.Gaussian(0.7), vectors),
    "linear": (mc.Linear(), vectors),
    "polynomial": (mc.Polynomial(degree=3, offset=0.5), vectors),
    "sum": (2 * mc.Gaussian() + mc.Linear() * mc.Matern(2.5), vectors),
    "min": (mc.Min(), numbers),
    "set_power": (mc.SetPower(), sets),
    "delta": (mc.Delta(), words),
    "records": (mc.Gaussian().on("age") + 0.5 * mc.Delta().on("pet"), records),
}


@pytest.fixture(params=CASES)
def case(request):
    """A kernel, and a function (rng, count) that draws points of its domain."""
    return CASES[request.param]


def size_of(f):
    """The sum of the lengths of the terms of f, one number an output."""
    lengths = np.sqrt(f.kernel.diag(f.anchors).astype(float))
    return lengths @ np.abs(f.coefficients)


@pytest.fixture
def slack():
    """How far rounding can move the inner product of two functions."""
    return lambda f, g: DELTA * size_of(f) * size_of(g)


@pytest.fixture
def blur():
    """How far rounding can move a length: by the root of what it moves the square."""
    return lambda f: np.sqrt(DELTA) * size_of(f)
