"""Vector instructions that Numba does not offer: an exponential, and register tiles.

`exp(x)` is a function without a branch, so LLVM turns a loop over it into vector code. It is
right to one unit in the last place, zero below the smallest normal number, and it lets NaN
through.

The `tile_*` intrinsics do the inner work of every Gram matrix: `ROWS` rows against
`wide(dtype)` columns, all sums held in registers while the coordinates go by. A loop over
arrays cannot say this, so the few instructions are written out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils, config
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic, overload

from mercer.loops.compiled import CONTRACT

# What Numba compiles for, which may be less than this processor can: machine code on disk is
# told apart by it, so two machines that share the code share the layout of its points.
_NAMED = config.CPU_FEATURES
_FEATURES = set((get_host_cpu_features() if _NAMED is None else _NAMED).split(","))
_AVX512 = "+avx512f" in _FEATURES
_BYTES = 64 if _AVX512 else 32 if "+avx" in _FEATURES else 16
_VECTORS = 3

ROWS = 8 if _AVX512 or _BYTES == 16 else 4
"""Rows of a register tile: with three vectors of columns they fill the register file."""


def wide(dtype: np.dtype[Any]) -> int:
    """Columns of a register tile."""
    return _VECTORS * _BYTES // dtype.itemsize


RUN = 32
"""Terms that are added up one by one, at least, before their sum is added to the others."""


def run_length(width: int) -> int:
    """How many terms of a sum are added up one by one."""
    return max(RUN, math.isqrt(width))


def roundings(width: int) -> int:
    """The roundings that a term of a sum of so many goes through, at most.

    One for the product, then those of its run, then those of the sums of runs. A sum in one
    run has `width` of them, and where the terms are alike all may go the same way.
    """
    run = run_length(width)
    return min(width, run) + max(-(-width // run), 1) - 1


def _float_bits(width: int) -> tuple[ir.Type, ir.Type]:
    return (
        (ir.DoubleType(), ir.IntType(64)) if width == 64 else (ir.FloatType(), ir.IntType(32))
    )


@intrinsic
def _as_bits(_context: Any, x: Any) -> Any:
    """The bits of a float, as an integer of the same width."""
    result = types.int64 if x == types.float64 else types.int32

    def build(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _float_bits(result.bitwidth)[1])

    return result(x), build


@intrinsic
def _power_of_two(_context: Any, bits: Any) -> Any:
    """The float 2**(n-1), from the bits of n + 1.5 * 2**52 (or 2**23): the low bits hold n."""
    result = types.float64 if bits == types.int64 else types.float32
    mantissa, bias = (52, 1022) if bits == types.int64 else (23, 126)

    def build(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        kind, whole = _float_bits(bits.bitwidth)
        exponent = builder.shl(
            builder.add(args[0], ir.Constant(whole, bias)), ir.Constant(whole, mantissa)
        )
        return builder.bitcast(exponent, kind)

    return result(bits), build


@intrinsic
def full_width(_context: Any) -> Any:
    """Ask for the widest vectors in the loops of the function that calls this.

    LLVM keeps to half of a 512-bit register by itself, for code that has few vectors among
    much else. These loops have nothing else.
    """

    def build(context: Any, builder: Any, _sig: Any, _args: Any) -> Any:
        if _AVX512:
            # llvmlite knows only some of the attributes, and `add` of theirs refuses others.
            set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), build


def exp(x: float) -> float:
    """The exponential of a number, inside compiled loops."""
    return float(np.exp(x))


def _exp64(x: Any) -> Any:
    # 707.7 keeps 2**(n-1) normal; 709.79 is just above log(largest double).
    z = -707.7 if x < -707.7 else x
    z = 709.79 if z > 709.79 else z
    # Adding 1.5 * 2**52 rounds to a whole number n and leaves it in the low bits.
    shifted = z * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    # log(2) in two parts, the first short enough that n * part is exact.
    r = z - n * 0.6931471803691238
    r = r - n * 1.9082149292705877e-10
    # Taylor to degree 13: |r| <= log(2)/2, so the rest is below 0.35**14 / 14! < 5e-18.
    p = r * 1.6059043836821613e-10 + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 1.984126984126984e-04
    p = p * r + 1.3888888888888889e-03
    p = p * r + 8.333333333333333e-03
    p = p * r + 4.1666666666666664e-02
    p = p * r + 1.6666666666666666e-01
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    value = (p * _power_of_two(_as_bits(shifted))) * 2.0
    return 0.0 if x < -707.7 else value


def _exp32(x: Any) -> Any:
    z = np.float32(-86.6) if x < np.float32(-86.6) else x
    z = np.float32(88.8) if z > np.float32(88.8) else z
    shifted = z * np.float32(1.4426950408889634) + np.float32(12582912.0)
    n = shifted - np.float32(12582912.0)
    r = z - n * np.float32(0.693145751953125)
    r = r - n * np.float32(1.428606765330187e-06)
    # Taylor to degree 7: the rest is below 0.35**8 / 8! < 6e-9.
    p = r * np.float32(1.984126984126984e-04) + np.float32(1.3888888888888889e-03)
    p = p * r + np.float32(8.333333333333333e-03)
    p = p * r + np.float32(4.1666666666666664e-02)
    p = p * r + np.float32(1.6666666666666666e-01)
    p = p * r + np.float32(0.5)
    p = p * r + np.float32(1.0)
    p = p * r + np.float32(1.0)
    value = (p * _power_of_two(_as_bits(shifted))) * np.float32(2.0)
    return np.float32(0.0) if x < np.float32(-86.6) else value


@overload(exp, jit_options={"fastmath": set(CONTRACT)})
def _exp(x: Any) -> Callable[..., Any] | None:
    if x == types.float64:
        return _exp64
    if x == types.float32:
        return _exp32
    return None


def _spread(builder: Any, kind: Any, scalar: Any) -> Any:
    """A vector of one number, again and again."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.IntType(32)(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, undefined, mask)


class _Registers:
    """Emits vector instructions for one element type."""

    flags = ("contract",)

    def __init__(self, builder: Any, element: Any) -> None:
        self.builder = builder
        self.size = element.bitwidth // 8
        self.lanes = _BYTES // self.size
        self.kind = ir.VectorType(_float_bits(element.bitwidth)[0], self.lanes)
        self.zero = ir.Constant(self.kind, [0.0] * self.lanes)

    def load(self, base: Any, offset: Any) -> Any:
        pointer = self.builder.bitcast(self.builder.gep(base, [offset]), self.kind.as_pointer())
        value = self.builder.load(pointer)
        value.align = self.size
        return value

    def store(self, value: Any, base: Any, offset: Any) -> None:
        pointer = self.builder.bitcast(self.builder.gep(base, [offset]), self.kind.as_pointer())
        self.builder.store(value, pointer).align = self.size

    def spread(self, scalar: Any) -> Any:
        return _spread(self.builder, self.kind, scalar)

    def add(self, a: Any, b: Any) -> Any:
        return self.builder.fadd(a, b, flags=self.flags)

    def multiply(self, a: Any, b: Any) -> Any:
        return self.builder.fmul(a, b, flags=self.flags)

    def sum(self, add: Any, terms: tuple[Any, Any, Any], base: Any, places: Any) -> None:
        """Set the vectors at these places: `add(k, totals)` adds the k-th terms to registers.

        `terms` are the first k, the one after the last, and how many make a run. The sums of
        the runs are added up in memory.
        """
        builder, (first, stop, run) = self.builder, terms
        one = ir.Constant(first.type, 1)
        totals = [cgutils.alloca_once(builder, self.kind) for _ in places]
        # One run at least: a sum of no terms is zero.
        some = builder.icmp_signed(">", stop, first)
        past = builder.select(some, stop, builder.add(first, one))
        with cgutils.for_range_slice(builder, first, past, run, first.type) as (start, _):
            for total in totals:
                builder.store(self.zero, total)
            end = builder.add(start, run)
            end = builder.select(builder.icmp_signed("<", end, stop), end, stop)
            with cgutils.for_range_slice(builder, start, end, one, first.type) as (k, _):
                add(k, totals)
            fresh = builder.icmp_signed("==", start, first)
            for total, place in zip(totals, places, strict=True):
                value = builder.load(total)
                both = self.add(self.load(base, place), value)
                self.store(builder.select(fresh, value, both), base, place)

    def dot(self, total: Any, x: Any, y: Any) -> Any:
        return self.add(total, self.multiply(x, y))

    def squared(self, total: Any, x: Any, y: Any) -> Any:
        gap = self.builder.fsub(x, y)
        return self.add(total, self.multiply(gap, gap))

    def manhattan(self, total: Any, x: Any, y: Any) -> Any:
        gap = self.builder.fsub(x, y)
        negative = self.builder.fcmp_ordered("<", gap, self.zero)
        return self.add(total, self.builder.select(negative, self.builder.fneg(gap), gap))

    def minimum(self, total: Any, x: Any, y: Any) -> Any:
        # One instruction. NaN in y goes through, NaN in x does not: `Pairwise` sees to it.
        return self.add(total, self.builder.select(self.builder.fcmp_ordered("<", x, y), x, y))

    def chi2(self, total: Any, x: Any, y: Any) -> Any:
        # (x - y)^2 / (x + y), where 0/0 counts as 0.
        gap, both = self.builder.fsub(x, y), self.builder.fadd(x, y)
        empty = self.builder.fcmp_ordered("==", both, self.zero)
        one = ir.Constant(self.kind, [1.0] * self.lanes)
        ratio = self.builder.fdiv(
            self.multiply(gap, gap), self.builder.select(empty, one, both)
        )
        return self.add(total, ratio)


def _register_tile(operation: str) -> Any:
    """An intrinsic `(X, x, Y, y, S, s, stride, width, run)` that sets, for flat packed arrays,

    `S[s + r*stride + c] = sum_k operation(X[x + k*ROWS + r], Y[y + k*wide + c])`.
    """

    @intrinsic
    def tile(
        _context: Any, X: Any, x: Any, Y: Any, y: Any, S: Any, s: Any, stride: Any, width: Any,
        run: Any,
    ) -> Any:  # fmt: skip
        def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            registers = _Registers(builder, X.dtype)
            index = ir.IntType(64)
            left, right, out = (
                builder.gep(
                    context.make_array(sig.args[i])(context, builder, args[i]).data,
                    [args[i + 1]],
                )
                for i in (0, 2, 4)
            )
            lanes = registers.lanes
            step = getattr(registers, operation)
            places = [
                builder.add(builder.mul(args[6], index(r)), index(v * lanes))
                for r in range(ROWS)
                for v in range(_VECTORS)
            ]

            def add(k: Any, totals: Sequence[Any]) -> None:
                row_at = builder.mul(k, index(ROWS))
                column_at = builder.mul(k, index(_VECTORS * lanes))
                columns = [
                    registers.load(right, builder.add(column_at, index(v * lanes)))
                    for v in range(_VECTORS)
                ]
                for r in range(ROWS):
                    scalar = builder.load(builder.gep(left, [builder.add(row_at, index(r))]))
                    spread = registers.spread(scalar)
                    row = totals[r * _VECTORS : (r + 1) * _VECTORS]
                    for total, column in zip(row, columns, strict=True):
                        builder.store(step(builder.load(total), spread, column), total)

            registers.sum(add, (index(0), args[7], args[8]), out, places)
            return context.get_dummy_value()

        whole = types.int64
        return types.void(X, whole, Y, whole, S, whole, whole, whole, whole), build

    return tile


tile_dot = _register_tile("dot")
tile_squared = _register_tile("squared")
tile_manhattan = _register_tile("manhattan")
tile_minimum = _register_tile("minimum")
tile_chi2 = _register_tile("chi2")


@intrinsic
def transpose(
    _context: Any, source: Any, s: Any, stride: Any, target: Any, t: Any, step: Any
) -> Any:
    """Transpose a square of `lanes(dtype)` rows: `target[t + c*step + r]` becomes
    `source[s + r*stride + c]`.

    By swapping blocks of half the size, then of a quarter, and so on (Eklundh), in registers.
    """

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, source.dtype)
        index = ir.IntType(64)
        lanes = registers.lanes
        read, write = (
            builder.gep(
                context.make_array(sig.args[i])(context, builder, args[i]).data, [args[i + 1]]
            )
            for i in (0, 3)
        )
        rows = [registers.load(read, builder.mul(args[2], index(r))) for r in range(lanes)]
        whole = ir.IntType(32)
        size = 1
        while size < lanes:
            kept = [j if not j & size else lanes + j - size for j in range(lanes)]
            swapped = [j + size if not j & size else lanes + j for j in range(lanes)]
            for r in (r for r in range(lanes) if not r & size):
                pair = rows[r], rows[r + size]
                for at, mask in ((r, kept), (r + size, swapped)):
                    picks = ir.Constant(ir.VectorType(whole, lanes), mask)
                    rows[at] = builder.shuffle_vector(*pair, picks)
            size *= 2
        for c, column in enumerate(rows):
            registers.store(column, write, builder.mul(args[5], index(c)))
        return context.get_dummy_value()

    whole = types.int64
    return types.void(source, whole, whole, target, whole, whole), build


BITS = 64
"""Numbers that are compared together."""


@intrinsic
def below(_context: Any, source: Any, s: Any, bar: Any) -> Any:
    """Which of `source[s : s + BITS]` are below a bar: a bit each, the first one the lowest."""

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.VectorType(_float_bits(source.dtype.bitwidth)[0], BITS)
        base = context.make_array(sig.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(base, [args[1]]), kind.as_pointer())
        numbers = builder.load(pointer)
        numbers.align = source.dtype.bitwidth // 8
        found = builder.fcmp_ordered("<", numbers, _spread(builder, kind, args[2]))
        return builder.bitcast(found, ir.IntType(BITS))

    return types.int64(source, types.int64, source.dtype), build


@intrinsic
def lowest_bit(_context: Any, bits: Any) -> Any:
    """The place of the lowest bit of a number that is not 0."""

    def build(_ctx: Any, builder: Any, _sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


def lanes(dtype: np.dtype[Any]) -> int:
    """Numbers in one vector."""
    return _BYTES // dtype.itemsize


@intrinsic
def row_dot(
    _context: Any,
    indices: Any,
    data: Any,
    start: Any,
    stop: Any,
    Y: Any,
    y: Any,
    S: Any,
    s: Any,
    run: Any,
) -> Any:
    """One sparse row against eight vectors of packed columns:

    `S[s + c] = sum_k data[k] * Y[y + indices[k]*width + c]`, k from start to stop.
    """

    def build(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        registers = _Registers(builder, Y.dtype)
        index = ir.IntType(64)
        which, values, right, out = (
            context.make_array(sig.args[i])(context, builder, args[i]).data
            for i in (0, 1, 4, 6)
        )
        right, out = builder.gep(right, [args[5]]), builder.gep(out, [args[7]])
        lanes = registers.lanes

        def add(k: Any, totals: Sequence[Any]) -> None:
            column = builder.load(builder.gep(which, [k]))
            at = builder.mul(builder.sext(column, index), index(SPARSE_VECTORS * lanes))
            spread = registers.spread(builder.load(builder.gep(values, [k])))
            for v, total in enumerate(totals):
                y = registers.load(right, builder.add(at, index(v * lanes)))
                builder.store(registers.dot(builder.load(total), spread, y), total)

        places = [index(v * lanes) for v in range(SPARSE_VECTORS)]
        registers.sum(add, (args[2], args[3], args[8]), out, places)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(indices, data, whole, whole, Y, whole, S, whole, whole), build


SPARSE_VECTORS = 8


def sparse_wide(dtype: np.dtype[Any]) -> int:
    """Columns that one sparse row meets at a time."""
    return SPARSE_VECTORS * _BYTES // dtype.itemsize
