"""The operators of lanes, words and masks: + − * / // % **, comparisons, bits.

A product that an expression adds or subtracts is one instruction with the sum: a·b + c is rounded once. The operators
say so themselves (`llvm.fma`), and the compiler may fuse nothing else. So the bits of a result depend only on the
source, not on the processor, nor on the function into which the compiler inlines the expression. A processor without
this instruction calls the C library, which gives the same bits and is much slower. In a·b + c·d the first product is
fused.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import overload

from mahmc.compiled import INLINED, Function
from mahmc.lanes.types import F64, I1, I64, LANES, LanesType, MaskType, WordsType, lanes, mask, splatted, words
from mahmc.lanes.values import floor, splat, where


def _operator(op: Function, cls: type, vector: types.Type, scalar: types.Type, result: types.Type, emit: Any) -> None:
    """Define `op` for numba between vectors of class `cls`, and between a vector and a scalar."""
    element = {lanes: F64, words: I64, mask: I1}[vector]

    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
            if len(args) != 2 or vector not in args:
                return None
            if not all(a == vector or isinstance(a, types.Number | types.Boolean) for a in args):
                return None
            return signature(result, *(vector if a == vector else scalar for a in args))

    def lower(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        return emit(builder, *(splatted(builder, a, element) for a in args))

    for signature_types in ((cls, cls), (cls, type(scalar)), (type(scalar), cls)):
        lower_builtin(op, *signature_types)(lower)


def _is_product(x: ir.Value) -> bool:
    return isinstance(x, ir.Instruction) and x.opname == "fmul"


def _fused(builder: ir.IRBuilder, factors: Sequence[ir.Value], c: ir.Value) -> ir.Value:
    """a·b + c for the factors a and b, rounded once."""
    function = ir.FunctionType(c.type, [c.type] * 3)
    declared = cgutils.get_or_insert_function(builder.module, function, f"llvm.fma.v{LANES}f64")
    return builder.call(declared, (*factors, c))


def _sum(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """x + y, fused if one of them is a product."""
    if _is_product(x):
        return _fused(builder, x.operands, y)
    return _fused(builder, y.operands, x) if _is_product(y) else builder.fadd(x, y)


def _difference(builder: ir.IRBuilder, x: ir.Value, y: ir.Value) -> ir.Value:
    """x − y, fused if one of them is a product."""
    if _is_product(x):
        return _fused(builder, x.operands, builder.fneg(y))
    if _is_product(y):
        a, b = y.operands
        return _fused(builder, (builder.fneg(a), b), x)
    return builder.fsub(x, y)


_Operators = tuple[tuple[tuple[Function, ...], Any], ...]
_lanes_operators: _Operators = (
    ((operator.add, operator.iadd), _sum),
    ((operator.sub, operator.isub), _difference),
    ((operator.mul, operator.imul), ir.IRBuilder.fmul),
    ((operator.truediv, operator.itruediv), ir.IRBuilder.fdiv),
)
for _ops, _emit in _lanes_operators:
    for _op in _ops:
        _operator(_op, LanesType, lanes, types.float64, lanes, _emit)
for _op, _symbol in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
):
    _operator(_op, LanesType, lanes, types.float64, mask, lambda b, x, y, s=_symbol: b.fcmp_ordered(s, x, y))
_operator(operator.ne, LanesType, lanes, types.float64, mask, lambda b, x, y: b.fcmp_unordered("!=", x, y))
_words_operators: _Operators = (
    ((operator.add, operator.iadd), ir.IRBuilder.add),
    ((operator.sub, operator.isub), ir.IRBuilder.sub),
    ((operator.xor, operator.ixor), ir.IRBuilder.xor),
    ((operator.or_, operator.ior), ir.IRBuilder.or_),
    ((operator.lshift,), ir.IRBuilder.shl),
    ((operator.rshift,), ir.IRBuilder.lshr),
)
for _ops, _emit in _words_operators:
    for _op in _ops:
        _operator(_op, WordsType, words, types.int64, words, _emit)
for _op, _emit in (
    (operator.and_, ir.IRBuilder.and_),
    (operator.iand, ir.IRBuilder.and_),
    (operator.or_, ir.IRBuilder.or_),
    (operator.ior, ir.IRBuilder.or_),
    (operator.xor, ir.IRBuilder.xor),
):
    _operator(_op, MaskType, mask, types.boolean, mask, _emit)


@infer_global(operator.neg)
class _Negation(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return signature(lanes, lanes) if args == (lanes,) else None


@lower_builtin(operator.neg, LanesType)
def _lower_negation(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    return builder.fneg(args[0])


def whole_power(x, n):
    """x**n for a whole number n; if n is a constant, the compiler unrolls the loop."""
    product = splat(1.0)
    for _ in range(abs(n)):
        product *= x
    return product if n >= 0 else 1.0 / product


@overload(operator.pow, jit_options=INLINED, strict=False)
def _whole_power(x, n):
    if x == lanes and isinstance(n, types.Boolean):
        return lambda x, n: x if n else splat(1.0)
    return whole_power if x == lanes and isinstance(n, types.Integer) else None


def _numbers_of(op: Function) -> None:
    """Let `op` take a mask as lanes: 1 in the lanes where the condition holds, 0 in the others."""

    def choose(x, y):
        if mask not in (x, y) or not all(z in (lanes, mask) or isinstance(z, types.Number) for z in (x, y)):
            return None
        if x == mask and y == mask:
            return lambda x, y: op(where(x, 1.0, 0.0), where(y, 1.0, 0.0))
        if x == mask:
            return lambda x, y: op(where(x, 1.0, 0.0), y)
        return lambda x, y: op(x, where(y, 1.0, 0.0))

    overload(op, jit_options=INLINED, strict=False)(choose)


for _op in (operator.add, operator.iadd, operator.sub, operator.isub, operator.mul, operator.imul):
    _numbers_of(_op)


@overload(operator.floordiv, jit_options=INLINED, strict=False)
def _floor_division(x, y):
    return (lambda x, y: floor(x / y)) if lanes in (x, y) else None


@overload(operator.mod, jit_options=INLINED, strict=False)
def _remainder(x, y):
    """The remainder of floor division; its sign is the sign of y, as in Python."""
    return (lambda x, y: x - y * floor(x / y)) if lanes in (x, y) else None


@overload(operator.pos, jit_options=INLINED, strict=False)
def _itself(x):
    return (lambda x: x) if x == lanes else None


@infer_global(operator.invert)
class _Not(AbstractTemplate):
    def generic(self, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        return signature(mask, mask) if args == (mask,) else None


@lower_builtin(operator.invert, MaskType)
def _lower_not(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
    return builder.not_(args[0])
