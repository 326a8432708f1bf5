"""Look-up by lane: arrays and rows that are indexed by lanes; and sums, products, maxima and minima of rows.

In a lane whose index is outside the array, reading gives NaN and writing does nothing. So no lane reads or writes
memory outside the array.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic, overload

from mahmc.compiled import INLINED, inlined
from mahmc.lanes.memory import RowsType
from mahmc.lanes.types import LANES, lanes
from mahmc.lanes.values import lane_value, splat, where, with_lane


def _place(context: Any, builder: ir.IRBuilder, rows_type: Any, args: tuple[Any, ...]) -> tuple[Any, ir.Value]:
    """The view of the rows, and the address of the number in one row and lane."""
    view = cgutils.create_struct_proxy(rows_type)(context, builder, value=args[0])
    row = builder.mul(args[1], ir.Constant(args[1].type, LANES))
    return view, builder.gep(view.data, [builder.add(row, args[2])])


@intrinsic
def _number_at(typing_context: Any, rows: Any, row: Any, lane: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        return builder.load(_place(context, builder, sig.args[0], args)[1])

    return types.float64(rows, types.intp, types.intp), codegen


@intrinsic
def _put_number_at(typing_context: Any, rows: Any, row: Any, lane: Any, number: Any) -> Any:
    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        view, place = _place(context, builder, sig.args[0], args)
        number = args[3]
        if sig.args[0].masked:
            number = builder.select(builder.extract_element(view.mask, args[2]), number, builder.load(place))
        builder.store(number, place)
        return context.get_dummy_value()

    return types.none(rows, types.intp, types.intp, types.float64), codegen


@inlined
def _index(value, size):
    """The number as an index, counted from the end if negative; −1 if the index is outside."""
    if not (value >= -size and value < size):  # also if it is NaN
        return -1
    whole = math.floor(value)
    return whole + size if whole < 0 else whole


def _of_lane(index, c):
    """The index of one lane, from lanes or from one number for all lanes."""
    raise NotImplementedError("compiled code only")


@overload(_of_lane, jit_options=INLINED, strict=False)
def _choose_of_lane(index, c):
    return (lambda index, c: lane_value(index, c)) if index == lanes else (lambda index, c: float(index))


@overload(operator.getitem, jit_options=INLINED, strict=False)
def _look_up(values, index):
    if isinstance(values, RowsType) and index == lanes:
        return _row_by_lane
    if not isinstance(values, types.Array):
        return None
    if values.ndim == 1 and index == lanes:
        return _element_by_lane
    pair = values.ndim == 2 and isinstance(index, types.BaseTuple) and len(index) == 2 and lanes in index
    return _cell_by_lane if pair and all(i == lanes or isinstance(i, types.Integer) for i in index) else None


def _row_by_lane(values, index):
    result = splat(np.nan)
    for c in range(LANES):
        row = _index(lane_value(index, c), len(values))
        if row >= 0:
            result = with_lane(result, c, _number_at(values, row, c))
    return result


def _element_by_lane(values, index):
    result = splat(np.nan)
    for c in range(LANES):
        i = _index(lane_value(index, c), len(values))
        if i >= 0:
            result = with_lane(result, c, values[i] * 1.0)
    return result


def _cell_by_lane(values, index):
    result = splat(np.nan)
    for c in range(LANES):
        i = _index(_of_lane(index[0], c), values.shape[0])
        j = _index(_of_lane(index[1], c), values.shape[1])
        if i >= 0 and j >= 0:
            result = with_lane(result, c, values[i, j] * 1.0)
    return result


@overload(operator.setitem, jit_options=INLINED, strict=False)
def _write_by_lane(values, index, number):
    if not isinstance(values, RowsType) or index != lanes:
        return None

    def write(values, index, number):
        wide = splat(number)
        for c in range(LANES):
            row = _index(lane_value(index, c), len(values))
            if row >= 0:
                _put_number_at(values, row, c, lane_value(wide, c))

    return write


@inlined
def rows_sum(rows):
    """The sum of all rows, for each lane."""
    total = splat(0.0)
    for i in range(len(rows)):
        total += rows[i]
    return total


@inlined
def product_of(numbers, rows):
    """Σ_i numbers[i]·rows[i], where `numbers` is an array of numbers or rows; NaN if the lengths differ."""
    total = splat(0.0 if len(numbers) == len(rows) else np.nan)
    for i in range(min(len(numbers), len(rows))):
        total += numbers[i] * rows[i]
    return total


@inlined
def rows_max(rows):
    """The maximum of all rows, for each lane."""
    largest = rows[0]
    for i in range(1, len(rows)):
        largest = where(rows[i] > largest, rows[i], largest)
    return largest


@inlined
def rows_min(rows):
    """The minimum of all rows, for each lane."""
    least = rows[0]
    for i in range(1, len(rows)):
        least = where(rows[i] < least, rows[i], least)
    return least


@overload(operator.matmul, jit_options=INLINED, strict=False)
def _inner_product(a, b):
    """a @ b for two sequences of rows, or for an array of numbers and rows, of equal length."""
    if isinstance(b, RowsType) and _sequence(a):
        return lambda a, b: product_of(a, b)
    return (lambda a, b: product_of(b, a)) if isinstance(a, RowsType) and _sequence(b) else None


def _sequence(numba_type: Any) -> bool:
    return isinstance(numba_type, RowsType) or (isinstance(numba_type, types.Array) and numba_type.ndim == 1)
