"""Sequential minimal optimisation inside a working set, and what surrounds it.

A dual variable is written with its sign, $b_i = y_i a_i$, so all variables have one form: a
box, and a slope $h_i$ of the objective. The best pair raises one variable and lowers another.
What may not be raised, or lowered, has an infinite penalty in an array of its own, so the
searches have no branches and run in vectors. The compiler does not do that by itself for the
place of a minimum, so these two searches are written out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from mercer.loops.compiled import compiled
from mercer.loops.threads import run
from mercer.loops.tiles import pieces
from mercer.loops.vector import _Registers, full_width, lanes
from mercer.types import Array, Indices

STRIP = 4096
"""Sums that stay in the first cache while rows go by."""

COMPRESSES = lanes(np.dtype(np.float32)) == 16
"""Whether the processor puts marked numbers of a vector close up in one instruction."""

LANES = max(lanes(np.dtype(np.float32)), lanes(np.dtype(np.float64)))
"""Numbers to which the parts of a working set are filled up."""


class _Search:
    """A place and its value, in each lane: the first of the best so far."""

    def __init__(self, builder: Any, registers: _Registers, worst: float) -> None:
        self.builder, self.registers = builder, registers
        self.whole = ir.IntType(8 * registers.size)
        self.places = ir.VectorType(self.whole, registers.lanes)
        self.best = cgutils.alloca_once(builder, registers.kind)
        self.where = cgutils.alloca_once(builder, self.places)
        builder.store(ir.Constant(registers.kind, [worst] * registers.lanes), self.best)
        builder.store(ir.Constant(self.places, [0] * registers.lanes), self.where)

    def place(self, at: Any) -> Any:
        """The places of a vector that begins here."""
        builder, count = self.builder, self.registers.lanes
        first = builder.trunc(at, self.whole) if self.whole.width < 64 else at
        undefined = ir.Constant(self.places, ir.Undefined)
        filled = builder.insert_element(undefined, first, ir.IntType(32)(0))
        mask = ir.Constant(ir.VectorType(ir.IntType(32), count), [0] * count)
        spread = builder.shuffle_vector(filled, undefined, mask)
        return builder.add(spread, ir.Constant(self.places, list(range(count))))

    def offer(self, sign: str, values: Any, at: Any) -> None:
        """Take what is better than the best so far, lane by lane."""
        builder = self.builder
        best, where = builder.load(self.best), builder.load(self.where)
        better = builder.fcmp_ordered(sign, values, best)
        builder.store(builder.select(better, values, best), self.best)
        builder.store(builder.select(better, self.place(at), where), self.where)

    def first(self, reduction: str) -> tuple[Any, Any]:
        """The best of all lanes, and the first place where it is."""
        builder, kind = self.builder, self.registers.kind
        tag = f"v{self.registers.lanes}"
        best, where = builder.load(self.best), builder.load(self.where)
        number = f"{tag}f{8 * self.registers.size}"
        least = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.{reduction}.{number}",
            fnty=ir.FunctionType(kind.element, [kind]),
        )
        value = builder.call(least, [best])
        same = builder.fcmp_ordered("==", best, self.registers.spread(value))
        far = ir.Constant(self.places, [2**31 - 1] * self.registers.lanes)
        first = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.umin.{tag}i{self.whole.width}",
            fnty=ir.FunctionType(self.whole, [self.places]),
        )
        place = builder.call(first, [builder.select(same, where, far)])
        return value, builder.zext(place, ir.IntType(64)) if self.whole.width < 64 else place


def _reciprocal(registers: _Registers, vector: Any) -> Any:
    """One over numbers, to 14 bits where that is faster: enough to tell gains apart."""
    builder, kind = registers.builder, registers.kind
    if not COMPRESSES:
        return builder.fdiv(ir.Constant(kind, [1.0] * registers.lanes), vector)
    mask = ir.IntType(registers.lanes)
    rough = builder.module.declare_intrinsic(
        f"llvm.x86.avx512.rcp14.p{'s' if registers.size == 4 else 'd'}.512",
        fnty=ir.FunctionType(kind, [kind, kind, mask]),
    )
    every = ir.Constant(mask, 2**registers.lanes - 1)
    return builder.call(rough, [vector, vector, every])


def _pointer(context: Any, builder: Any, sig: Any, args: Any, i: int) -> Any:
    return context.make_array(sig.args[i])(context, builder, args[i]).data


@intrinsic
def move_and_find(
    _context: Any, H: Any, A: Any, a: Any, b: Any, x: Any, y: Any, E: Any, start: Any, stop: Any
) -> Any:
    """`H[t] += x A[a + t] + y A[b + t]` from start to stop, and the first t with the least
    `H[t] + E[t]`. The range is a multiple of the lanes.
    """

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, H.dtype)
        index = ir.IntType(64)
        h, matrix, penalty = (_pointer(context, builder, sig, args, i) for i in (0, 1, 6))
        left, right = builder.gep(matrix, [args[2]]), builder.gep(matrix, [args[3]])
        up, down = registers.spread(args[4]), registers.spread(args[5])
        search = _Search(builder, registers, np.inf)
        step = index(registers.lanes)
        with cgutils.for_range_slice(builder, args[7], args[8], step, index) as (t, _):
            value = registers.load(h, t)
            value = registers.add(value, registers.multiply(up, registers.load(left, t)))
            value = registers.add(value, registers.multiply(down, registers.load(right, t)))
            registers.store(value, h, t)
            search.offer("<", registers.add(value, registers.load(penalty, t)), t)
        return search.first("fmin")[1]

    whole = types.int64
    return whole(H, A, whole, whole, H.dtype, H.dtype, E, whole, whole), build


@intrinsic
def find_partner(
    _context: Any, H: Any, A: Any, a: Any, D: Any, E: Any, least: Any, own: Any, tau: Any,
    start: Any, stop: Any, top: Any,
) -> Any:  # fmt: skip
    """The t from start to stop that gains most with one that has the slope `least`:

    the largest `gap**2 / max(own + D[t] - 2 A[a + t], tau)` with `gap = H[t] + E[t] - least`
    above 0. The largest `H[t] + E[t]` is written to `top[0]`, the largest gain to `top[1]`.
    """

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, H.dtype)
        index = ir.IntType(64)
        h, matrix, diagonal, penalty, out = (
            _pointer(context, builder, sig, args, i) for i in (0, 1, 3, 4, 10)
        )
        row = builder.gep(matrix, [args[2]])
        least, own, tau = (registers.spread(args[i]) for i in (5, 6, 7))
        search = _Search(builder, registers, 0.0)
        largest = cgutils.alloca_once(builder, registers.kind)
        builder.store(ir.Constant(registers.kind, [-np.inf] * registers.lanes), largest)
        step = index(registers.lanes)
        with cgutils.for_range_slice(builder, args[8], args[9], step, index) as (t, _):
            value = registers.add(registers.load(h, t), registers.load(penalty, t))
            high = builder.load(largest)
            builder.store(
                builder.select(builder.fcmp_ordered(">", value, high), value, high), largest
            )
            gap = builder.fsub(value, least)
            entry = registers.load(row, t)
            curve = builder.fsub(
                registers.add(own, registers.load(diagonal, t)), registers.add(entry, entry)
            )
            curve = builder.select(builder.fcmp_ordered(">", curve, tau), curve, tau)
            gain = registers.multiply(
                registers.multiply(gap, gap), _reciprocal(registers, curve)
            )
            positive = builder.fcmp_ordered(">", gap, registers.zero)
            search.offer(">", builder.select(positive, gain, registers.zero), t)
        gain, place = search.first("fmax")
        largest_of = builder.module.declare_intrinsic(
            f"llvm.vector.reduce.fmax.v{registers.lanes}f{8 * registers.size}",
            fnty=ir.FunctionType(registers.kind.element, [registers.kind]),
        )
        builder.store(builder.call(largest_of, [builder.load(largest)]), out)
        builder.store(gain, builder.gep(out, [index(1)]))
        return place

    whole = types.int64
    return whole(H, A, whole, D, E, H.dtype, H.dtype, H.dtype, whole, whole, top), build


@compiled()
def solve_within(
    tile: Any, stride: Any, D: Any, H: Any, up: Any, down: Any, b: Any, low: Any, high: Any,
    edges: Any, tau: Any, goal: Any, steps: Any, blocked: Any, top: Any,
) -> Any:  # fmt: skip
    """Move pairs of a working set until none violates by `goal`; how many moved.

    Args:
        tile: The kernel values of the working set, flat, rows `stride` apart.
        stride: The distance of its rows.
        D: Its diagonal.
        H: The slopes, which follow the moves.
        up: 0 for what may be raised, `blocked` for what may not.
        down: 0 for what may be lowered, `-blocked` for what may not.
        b: The variables, in float64.
        low: Their lower bounds.
        high: Their upper bounds.
        edges: Where the groups begin, and the end: multiples of the lanes. Both variables of a
            pair belong to one group.
        tau: The least curvature that counts as such.
        goal: The largest violation that is left.
        steps: The most pairs to move.
        blocked: Infinity, in the type of the slopes.
        top: Room for two numbers in the type of the slopes.
    """
    full_width()
    groups = len(edges) - 1
    zero = tau - tau
    firsts = np.empty(groups, np.int64)
    for g in range(groups):
        firsts[g] = move_and_find(H, tile, 0, 0, zero, zero, up, edges[g], edges[g + 1])
    for step in range(steps):
        most, worst = zero, zero
        i = j = -1
        for g in range(groups):
            first = firsts[g]
            least = H[first] + up[first]
            if not least < blocked:
                continue
            second = find_partner(
                H, tile, first * stride, D, down, least, D[first], tau, edges[g],
                edges[g + 1], top,
            )  # fmt: skip
            worst = max(worst, top[0] - least)
            if top[1] > most:
                most, i, j = top[1], first, second
        if i < 0 or worst < goal:
            return step
        curve = D[i] + D[j] - 2 * tile[i * stride + j]
        if not curve > tau:
            curve = tau
        move = np.float64(H[j] - H[i]) / np.float64(curve)
        room, fall = high[i] - b[i], b[j] - low[j]
        move = min(move, room, fall)
        b[i] = high[i] if move == room else b[i] + move
        b[j] = low[j] if move == fall else b[j] - move
        up[i] = blocked if b[i] >= high[i] else zero
        down[i] = zero
        up[j] = zero
        down[j] = -blocked if b[j] <= low[j] else zero
        for g in range(groups):
            firsts[g] = move_and_find(
                H, tile, i * stride, j * stride, move, -move, up, edges[g], edges[g + 1]
            )
    return steps


@compiled()
def add_rows(
    store: Any, stride: Any, rows: Any, factors: Any, start: Any, stop: Any, out: Any
) -> None:
    """`out[c] += sum_r factors[r] * store[rows[r]*stride + c]`, c from start to stop.

    The sums are in the type of `out`: float64, whatever the rows are.
    """
    full_width()
    count = len(rows)
    four = count // 4 * 4
    for c in range(start, stop, STRIP):
        end = min(c + STRIP, stop)
        width = end - c
        sums = out[c:end]
        for r in range(0, four, 4):
            at = rows[r] * stride + c
            one = store[at : at + width]
            at = rows[r + 1] * stride + c
            two = store[at : at + width]
            at = rows[r + 2] * stride + c
            three = store[at : at + width]
            at = rows[r + 3] * stride + c
            last = store[at : at + width]
            x, y, z, w = factors[r], factors[r + 1], factors[r + 2], factors[r + 3]
            for t in range(width):
                sums[t] += x * one[t] + y * two[t] + z * three[t] + w * last[t]
        for r in range(four, count):
            at = rows[r] * stride + c
            one, x = store[at : at + width], factors[r]
            for t in range(width):
                sums[t] += x * one[t]


@intrinsic
def _squeeze(
    _context: Any, A: Any, a: Any, masks: Any, counts: Any, out: Any, start: Any, vectors: Any
) -> Any:
    """Write the numbers of A from a on that are marked to `out`, from `start` on, close up.

    A mask has a bit for each number of a vector. A whole vector is written each time, so what
    follows the last number is overwritten.
    """

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, A.dtype)
        index, many = ir.IntType(64), registers.lanes
        source, mask, count, target = (
            _pointer(context, builder, sig, args, i) for i in (0, 2, 3, 4)
        )
        source = builder.gep(source, [args[1]])
        at = cgutils.alloca_once_value(builder, args[5])
        bits = ir.VectorType(ir.IntType(1), many)
        compress = builder.module.declare_intrinsic(
            f"llvm.experimental.vector.compress.v{many}f{8 * registers.size}",
            fnty=ir.FunctionType(registers.kind, [registers.kind, bits, registers.kind]),
        )
        nothing = ir.Constant(registers.kind, ir.Undefined)
        with cgutils.for_range(builder, args[6]) as loop:
            number = builder.trunc(
                builder.load(builder.gep(mask, [loop.index])), ir.IntType(many)
            )
            vector = registers.load(source, builder.mul(loop.index, index(many)))
            close = builder.call(compress, [vector, builder.bitcast(number, bits), nothing])
            place = builder.load(at)
            registers.store(close, target, place)
            builder.store(
                builder.add(place, builder.load(builder.gep(count, [loop.index]))), at
            )
        return context.get_dummy_value()

    whole = types.int64
    return types.void(A, whole, masks, counts, out, whole, whole), build


@compiled()
def _squeeze_rows(
    store: Any, stride: Any, rows: Any, masks: Any, counts: Any, start: Any, stop: Any,
    out: Any, step: Any,
) -> None:  # fmt: skip
    full_width()
    for r in range(start, stop):
        _squeeze(store, rows[r] * stride, masks, counts, out, r * step, len(masks))


def pick_square(store: Array, stride: int, chosen: Indices, out: Array, threads: int) -> None:
    """`out[r*m + c] = store[chosen[r]*stride + chosen[c]]` for m ascending places.

    `LANES` numbers more than the last row has can be read from the store, and as many more
    than m * m written to `out`.
    """
    count, many = len(chosen), lanes(store.dtype)
    marked = np.zeros(-(-stride // many) * many, np.bool_)
    marked[chosen] = True
    bits = marked.reshape(-1, many)
    masks = (bits * (1 << np.arange(many))).sum(axis=1).astype(np.uint64)
    counts = bits.sum(axis=1)

    def work(part: tuple[int, int], _: None) -> None:
        start, stop = part
        # The last row of a part would be followed by what another thread writes.
        last = stop - 1 if COMPRESSES else start
        _squeeze_rows(store, stride, chosen, masks, counts, start, last, out, count)
        pick(store, stride, chosen, chosen, last, stop, out, count)

    run(work, pieces(count, -(-count // threads) or 1), threads, lambda: None)


@compiled()
def pick(store: Any, stride: Any, rows: Any, columns: Any, start: Any, stop: Any, out: Any,
    step: Any,
) -> None:  # fmt: skip
    """`out[r*step + c] = store[rows[r]*stride + columns[c]]`, r from start to stop."""
    for r in range(start, stop):
        at = rows[r] * stride
        line = out[r * step : r * step + len(columns)]
        for c in range(len(columns)):
            line[c] = store[at + columns[c]]
