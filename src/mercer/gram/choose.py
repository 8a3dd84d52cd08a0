"""Which storage for a Gram matrix, and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mercer.domains import Batch, DenseBatch, RecordBatch, SparseBatch
from mercer.errors import BudgetExceeded, InvalidParameter
from mercer.gram.operator import GramPlan, Operator
from mercer.kernels import Kernel, kernel
from mercer.loops import COLUMNS, ROWS, Stored, Tiles, dense, symmetric
from mercer.plan import Plan, as_plan, readable
from mercer.types import Array


def operator(k: Kernel | str, X: Any, Y: Any = None, plan: Plan | str = "auto") -> Operator:
    """The Gram matrix of X, or the block between X and Y, as an operator.

    `A @ V` multiplies. Whether the matrix is stored or its tiles are filled anew in each
    product is the plan's choice: it is stored if it fits in the memory budget.

    Args:
        k: A kernel, or its text.
        X: Points of the kernel's domain.
        Y: Other points; by default X itself.
        plan: A `Plan`, or the name of a method: "auto", "dense", "blocked".

    Example:
        >>> import mercer as mc
        >>> A = mc.operator(mc.Gaussian(), [[0.0], [1.0], [2.0]], plan="blocked")
        >>> (A @ [1.0, 1.0, 1.0]).round(4)
        array([1.7419, 2.2131, 1.7419])
        >>> print(A.plan_.method)
        blocked
    """
    k = kernel(k)
    wanted = as_plan(plan)
    A = _cast(k.domain.encode(X), wanted.precision)
    B = A if Y is None or Y is X else _cast(k.domain.encode(Y), wanted.precision)
    for batch in {id(A): A, id(B): B}.values():
        k.check_finite(batch)
    tiles = k.tiles(A, B)
    chosen = _choose(wanted, tiles)
    own = k.diag(A) if A is B else None
    source: Callable[[], Tiles] = partial(k.tiles, A, B)
    turned: Callable[[], Tiles] = partial(k.tiles, B, A)
    if chosen.method == "dense":
        matrix = (symmetric if A is B else dense)(tiles, threads=chosen.threads)
        tiles = Stored(matrix)
        source, turned = partial(Stored, matrix), partial(_transposed, matrix)
    return Operator(
        tiles, chosen, source=source, diagonal=own, turned=None if A is B else turned
    )


def _transposed(matrix: Array) -> Tiles:
    return Stored(matrix.T)


def _choose(plan: Plan, tiles: Tiles) -> GramPlan:
    (rows, columns), dtype = tiles.shape, tiles.dtype
    size, budget = rows * columns * dtype.itemsize, plan.budget()
    matrix = f"{rows} x {columns} {dtype.name} entries take {readable(size)}"
    if plan.method == "dense" and size > budget:
        raise BudgetExceeded(
            f'{matrix}, and {readable(budget)} are allowed.\nUse plan="blocked", which stores '
            "no matrix, or allow more: mercer.Plan(memory=...)."
        )
    asked = plan.method in ("dense", "blocked")
    store = plan.method == "dense" or (not asked and size <= budget)
    why = "as asked" if asked else f"{matrix}, which {'fits' if store else 'does not fit'}"
    tolerance = 1e-8 if plan.tolerance == "auto" else float(plan.tolerance)
    method = "dense" if store else "blocked"
    if store:
        return GramPlan(method, why, size, budget, budget - size, plan.crew(), tolerance)
    entries = min(rows, ROWS) * min(columns, COLUMNS)
    tile = entries * dtype.itemsize + tiles.scratch(entries)
    if tile > budget:
        raise BudgetExceeded(
            f"{matrix}, and a tile alone {readable(tile)}; {readable(budget)} are allowed.\n"
            "Allow more: mercer.Plan(memory=...)."
        )
    # Sums are added up in an order that follows from the room they have. So that room must
    # not depend on the threads: they share the other half of the budget, a tile each.
    room = budget - max(budget // 2, tile)
    wanted = min(tiles.crew(rows * columns, plan.crew()), -(-rows // ROWS))
    crew = min(wanted, (budget - room) // tile)
    threads = plan.crew() if crew == wanted else crew
    return GramPlan(method, why, crew * tile, budget, room, threads, tolerance)


def _cast(batch: Batch, precision: str) -> Batch:
    """The points in the precision that the plan asks for."""
    if precision == "auto":
        return batch
    if isinstance(batch, DenseBatch):
        return DenseBatch(batch.values.astype(precision, copy=False), batch.columns)
    if isinstance(batch, SparseBatch):
        return SparseBatch(batch.matrix.astype(precision, copy=False), batch.columns)
    if isinstance(batch, RecordBatch) or precision == "float32":
        raise InvalidParameter(
            f"precision={precision!r} is for vectors; these points are "
            f'{type(batch).__name__.removesuffix("Batch").lower()}s. Leave it on "auto".'
        )
    return batch
