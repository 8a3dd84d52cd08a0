r"""Arrangements of points that are worth trying, for each space, the cheap ones first.

Every arrangement is an array with one row a point; a batch holds several of one size, along its
first axis. A larger Gram matrix has the smaller eigenvalue, so small sets need no list of their
own: what is refuted by three points is refuted by any thirty that contain them.

>>> batch = next(arrangements(space("naturals"), None, np.random.default_rng(0)))
>>> batch.shape, batch[0, :5]
((1, 60), array([1., 2., 3., 4., 5.]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mercer.proofs.floating import Floats
from mercer.proofs.spaces import Space, space

__all__ = ["arrangements", "designs", "random_batches", "simple_points", "space"]

Rng = np.random.Generator

_STEPS = 2.0 ** np.arange(-12, 9)
"""Steps of progressions: from where every smooth function is a parabola to far apart."""

_SCALES = 2.0 ** (np.arange(-24, 21) / 4)
"""Sizes of designs, close together: a function of compact support sees the lengths exactly."""


def simple_points(where: Space, dimension: int | None) -> NDArray[Any]:
    """A dozen points that are easy to write, the easiest first."""
    if where.points_are == "set":
        return np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 0], [0, 1, 1], [1, 1, 1]]) > 0
    if where.kind == "sphere":
        basis = np.eye(dimension or 2)[:4]
        return np.concatenate([basis, -basis[:2], [0.6 * basis[0] + 0.8 * basis[1]]])
    if where.points_are == "vector":
        basis = np.eye(dimension or 1)[:2]
        steps = np.concatenate([[0 * basis[0]], basis, -basis, 2 * basis, [basis.sum(axis=0)]])
        return np.asarray(np.concatenate([steps, basis / 2, -2 * basis, 3 * basis]))
    return _simple_numbers(where)


def _simple_numbers(where: Space) -> Floats:
    line = np.array([0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 0.25, 4, 1.5, 10])
    if where.kind == "naturals":
        return np.arange(1.0, 13)
    if where.kind == "circle":
        return np.array([0, 1, 2, 3, 4, 5, 6, 0.5, 1.5, 2.5])
    if where.kind == "interval" and where.low is not None and where.high is not None:
        low, high = float(where.low), float(where.high)
        inner = low + (high - low) * np.array([4, 2, 6, 1, 7, 3, 5]) / 8
        return np.concatenate([line[(line > low) & (line < high)], inner])
    return line if where.kind == "reals" else line[line >= (where.kind == "positive") / 8]


def arrangements(where: Space, dimension: int | None, rng: Rng) -> Iterator[NDArray[Any]]:
    """Batches of arrangements with a structure, a finite list.

    Args:
        where: The space of the points.
        dimension: The number of coordinates, for vectors.
        rng: The source of chance; what has a structure is drawn a little out of place too.
    """
    if where.points_are == "set":
        yield from _sets()
    elif where.kind == "naturals":
        yield from _naturals(rng)
    elif where.kind == "circle":
        yield from _circle()
    elif where.kind == "sphere":
        yield from _sphere(dimension or 3, rng)
    elif where.points_are == "vector":
        yield from _vectors(dimension or 1)
    else:
        yield from _numbers(where)


def random_batches(where: Space, dimension: int | None, rng: Rng) -> Iterator[NDArray[Any]]:
    """Batches of random clouds at many scales, without end."""
    draw = _clouds(where, dimension or 1)
    sizes = (4, 8, 16, 30)
    while True:
        for size in sizes:
            yield np.stack([draw(rng, size) for _ in range(max(4, 240 // size))])


def _clouds(where: Space, dimension: int) -> Callable[[Rng, int], NDArray[Any]]:
    """How one random cloud of so many points is drawn."""
    if where.points_are == "set":
        return _random_sets
    if where.kind == "naturals":
        return _random_naturals
    if where.kind == "circle":
        return lambda rng, n: np.mod(_random_numbers(rng, n), 6.283)
    if where.kind == "sphere":
        return lambda rng, n: _random_directions(rng, n, dimension)
    if where.points_are == "vector":
        return lambda rng, n: _random_vectors(rng, n, dimension)
    return lambda rng, n: _into(where, _random_numbers(rng, n))


# --------------------------------------------------------------------------------- numbers


def _numbers(where: Space) -> Iterator[Floats]:
    simple = {p / q for q in (1, 2, 3, 4, 5, 10) for p in range(-10, 11) if abs(p) <= 5 * q}
    if where.kind == "interval" and where.low is not None and where.high is not None:
        low, width = float(where.low), float(where.high - where.low)
        yield np.array([[low + width * k / 32 for k in range(1, 32)]])
        small = width * 2.0 ** -np.arange(1, 14)
        yield np.sort(np.stack([low + small, low + width - small]), axis=1)
        inner = sorted(v for v in simple if low < v < low + width)
        yield np.array([inner])
        middle = low + width / 2
        spread = (np.arange(16) - 7.5) / 16
        yield middle + width * spread * 2.0 ** -np.arange(13)[:, None]
        yield low + width * (1 - 2.0 ** -np.arange(1, 12)[:, None] * np.arange(16, 0, -1) / 16)
        return
    counted, start = np.arange(20.0), 0.0
    if where.kind != "reals":
        simple = {v for v in simple if v > 0 or (v == 0 and where.kind == "nonnegative")}
        start = 0.0 if where.kind == "nonnegative" else 1.0
    yield np.array([sorted(simple)])
    if where.kind == "reals":
        yield _STEPS[:, None] * (counted - 10)
        yield np.concatenate([c + _STEPS[::2, None] * (counted - 10) for c in (0.5, 1, 10)])
        powers = np.array([2.0, 1.5, 1.1, 4.0])[:, None] ** (np.arange(10) - 5)
        yield np.concatenate([-powers, powers], axis=1)
        return
    yield _STEPS[:, None] * (counted + start)
    yield np.concatenate([c + _STEPS[::2, None] * counted for c in (0.1, 1, 10)])
    ratios = np.array([2.0, 1.5, 1.1, 1.01, 1.001, 3.0, 10.0])[:, None]
    yield ratios ** (counted - 10)


def _random_numbers(rng: Rng, n: int) -> Floats:
    """Numbers about a centre, of one scale or of many."""
    scale = 10.0 ** rng.uniform(-3, 2)
    kind = rng.integers(4)
    if kind == 0:
        cloud = rng.standard_normal(n)
    elif kind == 1:
        cloud = rng.uniform(-1, 1, n)
    elif kind == 2:
        cloud = rng.standard_normal(n) * 10.0 ** rng.uniform(-2, 1, n)
    else:
        cloud = np.arange(n) - n / 2 + rng.uniform(-0.2, 0.2, n)
    return np.asarray(cloud * scale + rng.integers(2) * rng.standard_normal())


def _into(where: Space, cloud: Floats) -> Floats:
    """Numbers of the line, brought into a part of it."""
    if where.kind == "interval" and where.low is not None and where.high is not None:
        low, high = float(where.low), float(where.high)
        return np.asarray(low + (high - low) * (0.5 + np.arctan(cloud) / np.pi))
    if where.kind in ("positive", "nonnegative"):
        return np.asarray(np.exp(np.clip(cloud, -20, 20)) if cloud[0] < 0 else np.abs(cloud))
    return cloud


def _naturals(rng: Rng) -> Iterator[Floats]:
    yield np.arange(1.0, 61)[None]
    for number in (30, 60, 210, 720, 2310):
        yield np.array([[k for k in range(1, number + 1) if number % k == 0]], dtype=np.float64)
    steps = np.arange(20.0)
    starts = (2.0, 3, 5, 10, 30, 100, 1000)
    yield np.stack([c + s * steps for c in starts for s in (1, 2, 3, 6)])
    yield np.stack([(steps + 1) ** p for p in (2, 3)])
    yield np.array([[2.0**k for k in range(12)], [3.0**k for k in range(12)]])
    for _ in range(3):
        yield np.stack([_random_naturals(rng, 20) for _ in range(12)])


def _random_naturals(rng: Rng, n: int) -> Floats:
    top = int(10 ** rng.uniform(np.log10(n + 3), 4))
    return np.asarray(rng.choice(top, size=n, replace=False) + 1.0)


def _circle() -> Iterator[Floats]:
    for n in (*range(2, 13), 15, 16, 20, 24, 32, 48, 64):
        yield (6.28318 * np.arange(n) / n)[None]
    yield 3 + 2.0 ** -np.arange(12)[:, None] * (np.arange(16) - 7.5) / 2.5


# --------------------------------------------------------------------------------- vectors


def designs(d: int) -> Iterator[Floats]:
    """Symmetric arrangements of vectors about the origin, the small ones first."""
    zero, basis = np.zeros((1, d)), np.eye(d)
    yield _padded(np.arange(-6.0, 7)[:, None], d)
    cross = np.concatenate([zero, basis, -basis])
    yield np.concatenate([zero, basis])
    yield cross
    if d == 1:
        return
    for n in (3, 5, 6, 8, 12):
        yield _padded(np.concatenate([np.zeros((1, 2)), _polygon(n)]), d)
    yield _padded(_grid(5, 2), d)
    yield _padded(_hexagons(2.1), d)
    yield _padded(_grid(7, 2), d)
    if d > 2:
        yield _padded(_grid(3, 3), d)
    if 1 < d <= 7:
        corners = np.array(list(product((-1.0, 1.0), repeat=d)))
        yield np.concatenate([zero, corners])
        yield np.concatenate([cross, corners])
        yield np.array(list(product((0.0, 1.0), repeat=d)))
    if d <= 12:
        pairs = product(combinations(range(d), 2), (-1, 1), (-1, 1))
        roots = [s * basis[i] + t * basis[j] for (i, j), s, t in pairs]
        yield np.concatenate([zero, np.array(roots)])
    if d > 2:
        yield _padded(_grid(5, 3), d)
    if 3 < d <= 5:
        yield _grid(3, d)


def _polygon(n: int) -> Floats:
    turn = 2 * np.pi * np.arange(n) / n
    return np.stack([np.cos(turn), np.sin(turn)], axis=1)


def _padded(points: Floats, d: int) -> Floats:
    """Vectors with zeros for the coordinates that they lack."""
    return np.asarray(np.pad(points, ((0, 0), (0, d - points.shape[1]))))


def _grid(n: int, d: int) -> Floats:
    return np.array(list(product(np.arange(n) - (n - 1) / 2, repeat=d)))


def _hexagons(radius: float) -> Floats:
    """The lattice of equilateral triangles, within a radius."""
    cells = np.array(list(product(range(-5, 6), repeat=2)), dtype=np.float64)
    points = cells @ np.array([[1.0, 0.0], [0.5, 0.75**0.5]])
    return np.asarray(points[np.hypot(*points.T) < radius])


def _vectors(d: int) -> Iterator[Floats]:
    for design in designs(d):
        yield _SCALES[:, None, None] * design


def _random_vectors(rng: Rng, n: int, d: int) -> Floats:
    scale = 10.0 ** rng.uniform(-2, 1.5)
    kind = rng.integers(4)
    if kind == 0:
        cloud = rng.standard_normal((n, d))
    elif kind == 1:
        cloud = rng.uniform(-1, 1, (n, d))
    elif kind == 2:
        cloud = rng.integers(-2, 3, (n, d)) + rng.integers(2) * rng.uniform(-0.1, 0.1, (n, d))
    else:
        cloud = _random_directions(rng, n, d) if d > 1 else rng.standard_normal((n, d))
    return np.asarray(cloud * scale + rng.integers(2) * rng.standard_normal(d))


# --------------------------------------------------------------------------------- spheres


def _sphere(d: int, rng: Rng) -> Iterator[Floats]:
    basis = np.eye(d)
    yield np.concatenate([basis, -basis])[None]
    for n in (3, 5, 7, 8, 12, 16, 24):
        yield _padded(_polygon(n), d)[None]
    for design in designs(d):
        size = np.linalg.norm(design, axis=1)
        away = design[size > 0.1] / size[size > 0.1, None]
        yield np.unique(np.round(away, 12), axis=0)[None]
    for design in designs(d - 1):
        if len(design) < 30:
            # The design on the plane that touches the sphere, drawn onto the sphere.
            near = _SCALES[:32:4, None, None] * design
            yield _unit(np.pad(near, ((0, 0), (0, 0), (1, 0)), constant_values=1))
    for n in (30, 60, 150):
        yield np.stack([_random_directions(rng, n, d) for _ in range(3)])


def _unit(points: Floats) -> Floats:
    return np.asarray(points / np.linalg.norm(points, axis=-1, keepdims=True))


def _random_directions(rng: Rng, n: int, d: int) -> Floats:
    """Unit vectors, all over the sphere or in a cap of it."""
    spread = rng.choice([0.0, 1.0]) * 10.0 ** rng.uniform(-1, 1)
    return _unit(rng.standard_normal((n, d)) + spread * np.eye(d)[0])


# ------------------------------------------------------------------------------------ sets


def _sets() -> Iterator[NDArray[np.bool_]]:
    for size in range(1, 7):
        yield np.array(list(product((False, True), repeat=size)))[None]
    chain = np.tri(12, dtype=bool)
    yield chain[None]
    yield np.concatenate([np.eye(12, dtype=bool), ~np.eye(12, dtype=bool), chain])[None]
    pairs = np.zeros((45, 10), dtype=bool)
    for row, (i, j) in enumerate(combinations(range(10), 2)):
        pairs[row, [i, j]] = True
    yield pairs[None]
    yield np.concatenate([pairs, ~pairs, np.eye(10, dtype=bool)])[None]


def _random_sets(rng: Rng, n: int) -> NDArray[np.bool_]:
    some = rng.random((n, 12)) < rng.uniform(0.1, 0.9)
    some[:, rng.integers(4, 13) :] = False
    return np.asarray(some)
