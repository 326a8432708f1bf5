"""Lanes in memory: rows of arrays of shape (rows, LANES), loaded and stored one by one or used as a sequence."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.cpython import slicing
from numba.extending import intrinsic, register_model

from mahmc.lanes.types import F64, LANES, LanesType, lanes, mask, words


def _row_pointer(context: Any, builder: ir.IRBuilder, array_type: Any, array: ir.Value, row: ir.Value) -> ir.Value:
    view = context.make_array(array_type)(context, builder, array)
    first = builder.gep(view.data, [builder.mul(row, ir.Constant(row.type, LANES))])
    element = context.get_data_type(array_type.dtype)
    return builder.bitcast(first, ir.VectorType(element, LANES).as_pointer())


def _vector_of(array: Any) -> types.Type | None:
    if not (isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"):
        return None
    return {types.float64: lanes, types.uint64: words, types.int64: words}.get(array.dtype)


@intrinsic
def load(typing_context: Any, array: Any, row: Any) -> Any:
    """Row `row` of an array of shape (rows, LANES), as one lanes value."""
    vector = _vector_of(array)
    if vector is None:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        return builder.load(_row_pointer(context, builder, sig.args[0], args[0], args[1]), align=8)

    return vector(array, types.int64), codegen


@intrinsic
def store(typing_context: Any, array: Any, row: Any, value: Any) -> Any:
    """Write one lanes value to row `row` of an array of shape (rows, LANES)."""
    vector = _vector_of(array)
    if vector is None:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        builder.store(args[2], _row_pointer(context, builder, sig.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, vector), codegen


class RowsType(types.Type):
    """An array of shape (rows, LANES) as a sequence of lanes. If it is masked, only lanes in the mask are written."""

    def __init__(self, masked: bool) -> None:
        self.masked = masked
        super().__init__(name="MaskedRows" if masked else "Rows")


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("data", types.CPointer(types.float64)), ("size", types.intp)]
        super().__init__(dmm, fe_type, members + [("mask", mask)] * fe_type.masked)


def _made_rows(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    view = context.make_array(sig.args[0])(context, builder, args[0])
    made = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    made.data = view.data
    made.size = builder.extract_value(view.shape, 0)
    if sig.return_type.masked:
        made.mask = args[1]
    return made._getvalue()


@intrinsic
def rows(typing_context: Any, array: Any) -> Any:
    """The array of shape (rows, LANES) as a sequence of its rows."""
    return (RowsType(False)(array), _made_rows) if _vector_of(array) == lanes else None


@intrinsic
def rows_where(typing_context: Any, array: Any, condition: Any) -> Any:
    """The array as a sequence of its rows, where writing changes only the lanes in which the condition holds."""
    return (RowsType(True)(array, mask), _made_rows) if _vector_of(array) == lanes and condition == mask else None


@infer_global(len)
class _RowsLength(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], RowsType) else None


@infer_global(operator.getitem)
class _RowsGet(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        whole = len(args) == 2 and isinstance(args[0], RowsType) and isinstance(args[1], types.Integer)
        return signature(lanes, args[0], types.intp) if whole else None


@infer_global(operator.setitem)
class _RowsSet(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        whole = len(args) == 3 and isinstance(args[0], RowsType) and isinstance(args[1], types.Integer)
        return signature(types.none, args[0], types.intp, lanes) if whole else None  # casts a mask or a number


@lower_builtin(len, RowsType)
def _lower_length(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).size


@infer_global(operator.getitem)
class _RowsSlice(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        of_rows = len(args) == 2 and isinstance(args[0], RowsType) and args[1] == types.slice2_type
        return signature(args[0], *args) if of_rows else None


@lower_builtin(operator.getitem, RowsType, types.slice2_type)
def _lower_slice(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    """A slice of rows is a sequence of rows: q[1:] begins with q[1]."""
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    chosen = context.make_helper(builder, sig.args[1], args[1])
    slicing.fix_slice(builder, chosen, view.size)
    view.data = builder.gep(view.data, [builder.mul(chosen.start, ir.Constant(chosen.start.type, LANES))])
    view.size = slicing.get_slice_length(builder, chosen)
    return view._getvalue()


def _row(builder: ir.IRBuilder, view: Any, index: ir.Value) -> ir.Value:
    """The address of row `index`, counted from the end if negative."""
    negative = builder.icmp_signed("<", index, ir.Constant(index.type, 0))
    index = builder.select(negative, builder.add(index, view.size), index)
    first = builder.gep(view.data, [builder.mul(index, ir.Constant(index.type, LANES))])
    return builder.bitcast(first, ir.VectorType(F64, LANES).as_pointer())


@lower_builtin(operator.getitem, RowsType, types.Integer)
def _lower_get(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    return builder.load(_row(builder, view, args[1]), align=8)


@lower_builtin(operator.setitem, RowsType, types.Integer, LanesType)
def _lower_set(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    row, value = _row(builder, view, args[1]), args[2]
    if sig.args[0].masked:
        value = builder.select(view.mask, value, builder.load(row, align=8))
    builder.store(value, row, align=8)
    return context.get_dummy_value()
