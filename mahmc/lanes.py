"""Eight chains side by side: a compiled type for one quantity of eight chains, and its arithmetic.

All samplers here take the same number of steps for every chain, so chains run in lockstep and whatever is known of
one chain is known of eight: a *block*. Inside compiled code the value of a quantity in all lanes of a block is one
`Lanes` value, which LLVM keeps in a vector register. Targets and kernels are then written as their equations:

    u, v = load(q, 0), load(q, 1)
    store(grad, 0, u - (v - u) / sd**2 + n * sigmoid(u) - zeros)

and no loop over chains, no branch by chain: `where(mask, a, b)` chooses by lane. Left to itself, the compiler
turned such loops into vector code only now and then; written this way it always does.

In memory a block's quantities are rows of arrays of shape (rows, LANES), and `load` and `store` move a row. `rows(q)`
is the same array seen as a sequence of such values: q[0] loads and grad[0] = … stores, as equations have it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, overload, register_model

from mahmc.compiled import INLINED, inlined

LANES = 8

_F64, _I64, _I1 = ir.DoubleType(), ir.IntType(64), ir.IntType(1)


def _vector_type(name: str, element: ir.Type) -> tuple[type, types.Type]:
    """A numba type whose values are LLVM vectors of LANES elements."""
    cls = type(f"{name}Type", (types.Type,), {"__init__": lambda self: types.Type.__init__(self, name=name)})
    cls.__module__ = __name__

    @register_model(cls)
    class Model(models.PrimitiveModel):
        def __init__(self, dmm: Any, fe_type: types.Type) -> None:
            super().__init__(dmm, fe_type, ir.VectorType(element, LANES))

    return cls, cls()


LanesType, lanes = _vector_type("Lanes", _F64)  # a real number a lane
WordsType, words = _vector_type("Words", _I64)  # 64 random bits, or a counter, a lane
MaskType, mask = _vector_type("Mask", _I1)  # yes or no a lane


def _from_number(self: types.Type, typing_context: Any, other: types.Type) -> Conversion | None:
    return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


def _with_number(self: types.Type, typing_context: Any, other: types.Type) -> types.Type | None:
    return lanes if isinstance(other, types.Float | types.Integer) else None


# A variable that is a number at first and lanes later (total = 0.0; total += q[i]) is lanes all along.
LanesType.can_convert_from, LanesType.unify = _from_number, _with_number  # type: ignore[attr-defined]


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def _number_to_lanes(context: Any, builder: ir.IRBuilder, source: Any, target: Any, value: ir.Value) -> ir.Value:
    return _splat(builder, context.cast(builder, value, source, types.float64), _F64)


def _splat(builder: ir.IRBuilder, value: ir.Value, element: ir.Type) -> ir.Value:
    """The scalar in every lane; a vector stays what it is."""
    if isinstance(value.type, ir.VectorType):
        return value
    vector = ir.VectorType(element, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _operator(op: Callable, cls: type, own: types.Type, scalar: types.Type, result: types.Type, emit: Any) -> None:
    """Teach numba `op` between vectors of `cls`, and between such a vector and a scalar."""
    element = {lanes: _F64, words: _I64, mask: _I1}[own]

    @infer_global(op)
    class Template(AbstractTemplate):
        def generic(self, args: tuple, kws: dict) -> Any:
            if len(args) != 2 or own not in args:
                return None
            if not all(a == own or isinstance(a, types.Number | types.Boolean) for a in args):
                return None
            return signature(result, *(own if a == own else scalar for a in args))

    def lower(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
        return emit(builder, *(_splat(builder, a, element) for a in args))

    for signature_types in ((cls, cls), (cls, type(scalar)), (type(scalar), cls)):
        lower_builtin(op, *signature_types)(lower)


_Operators = tuple[tuple[tuple[Callable, ...], Any], ...]
_lanes_operators: _Operators = (
    ((operator.add, operator.iadd), ir.IRBuilder.fadd),
    ((operator.sub, operator.isub), ir.IRBuilder.fsub),
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
for _op, _emit in ((operator.and_, ir.IRBuilder.and_), (operator.or_, ir.IRBuilder.or_)):
    _operator(_op, MaskType, mask, types.boolean, mask, _emit)


@infer_global(operator.neg)
class _Negation(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        return signature(lanes, lanes) if args == (lanes,) else None


@lower_builtin(operator.neg, LanesType)
def _lower_negation(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
    return builder.fneg(args[0])


@overload(operator.pow, jit_options=INLINED, strict=False)
def _whole_power(x, n):
    """x**n for a whole n; where n is written out, the loop is unrolled."""
    if x != lanes or not isinstance(n, types.Integer):
        return None

    def power(x, n):
        product = splat(1.0)
        for _ in range(abs(n)):
            product *= x
        return product if n >= 0 else 1.0 / product

    return power


@infer_global(operator.invert)
class _Not(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        return signature(mask, mask) if args == (mask,) else None


@lower_builtin(operator.invert, MaskType)
def _lower_not(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
    return builder.not_(args[0])


# ------------------------------------------------------------------------------------------- memory and lanes


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
    """Row `row` of an array of shape (rows, LANES), as one value."""
    vector = _vector_of(array)
    if vector is None:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
        return builder.load(_row_pointer(context, builder, sig.args[0], args[0], args[1]), align=8)

    return vector(array, types.int64), codegen


@intrinsic
def store(typing_context: Any, array: Any, row: Any, value: Any) -> Any:
    """Write one value to row `row` of an array of shape (rows, LANES)."""
    vector = _vector_of(array)
    if vector is None:
        return None

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
        builder.store(args[2], _row_pointer(context, builder, sig.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.none(array, types.int64, vector), codegen


class RowsType(types.Type):
    """An array of shape (rows, LANES) as a sequence of lanes; with a mask, other lanes are never written."""

    def __init__(self, masked: bool) -> None:
        self.masked = masked
        super().__init__(name="MaskedRows" if masked else "Rows")


@register_model(RowsType)
class _RowsModel(models.StructModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        members = [("data", types.CPointer(types.float64)), ("size", types.intp)]
        super().__init__(dmm, fe_type, members + [("mask", mask)] * fe_type.masked)


def _made_rows(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
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
    """The same; what is written to a row changes it only in the lanes where the condition holds."""
    return (RowsType(True)(array, mask), _made_rows) if _vector_of(array) == lanes and condition == mask else None


@infer_global(len)
class _RowsLength(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        return signature(types.intp, *args) if isinstance(args[0], RowsType) else None


@infer_global(operator.getitem)
class _RowsGet(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        whole = len(args) == 2 and isinstance(args[0], RowsType) and isinstance(args[1], types.Integer)
        return signature(lanes, args[0], types.intp) if whole else None


@infer_global(operator.setitem)
class _RowsSet(AbstractTemplate):
    def generic(self, args: tuple, kws: dict) -> Any:
        whole = len(args) == 3 and isinstance(args[0], RowsType) and isinstance(args[1], types.Integer)
        return signature(types.none, args[0], types.intp, lanes) if whole else None


@lower_builtin(len, RowsType)
def _lower_length(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0]).size


def _row(builder: ir.IRBuilder, view: Any, index: ir.Value) -> ir.Value:
    """Where row `index` is; from the end, if negative."""
    negative = builder.icmp_signed("<", index, ir.Constant(index.type, 0))
    index = builder.select(negative, builder.add(index, view.size), index)
    first = builder.gep(view.data, [builder.mul(index, ir.Constant(index.type, LANES))])
    return builder.bitcast(first, ir.VectorType(_F64, LANES).as_pointer())


@lower_builtin(operator.getitem, RowsType, types.Integer)
def _lower_get(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    return builder.load(_row(builder, view, args[1]), align=8)


@lower_builtin(operator.setitem, RowsType, types.Integer, LanesType)
def _lower_set(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, value=args[0])
    row, value = _row(builder, view, args[1]), args[2]
    if sig.args[0].masked:
        value = builder.select(view.mask, value, builder.load(row, align=8))
    builder.store(value, row, align=8)
    return context.get_dummy_value()


@intrinsic
def splat(typing_context: Any, value: Any) -> Any:
    """The same number in every lane; lanes stay what they are."""
    own = lanes if value == lanes else types.float64
    return lanes(own), lambda context, builder, sig, args: _splat(builder, args[0], _F64)


@intrinsic
def everywhere(typing_context: Any, condition: Any) -> Any:
    """The same yes or no in every lane; a mask stays what it is."""
    own = mask if condition == mask else types.boolean
    return mask(own), lambda context, builder, sig, args: _splat(builder, args[0], _I1)


@intrinsic
def where(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """By lane: `yes` where the condition holds, else `no`."""
    own = words if words in (yes, no) else lanes
    scalar, element = (types.int64, _I64) if own == words else (types.float64, _F64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
        return builder.select(args[0], _splat(builder, args[1], element), _splat(builder, args[2], element))

    return own(mask, *(own if x == own else scalar for x in (yes, no))), codegen


@intrinsic
def as_count(typing_context: Any, condition: Any) -> Any:
    """One in the lanes where the condition holds, zero elsewhere: to be added to a row of counters."""
    return words(mask), lambda context, builder, sig, args: builder.zext(args[0], ir.VectorType(_I64, LANES))


@intrinsic
def bits_of(typing_context: Any, value: Any) -> Any:
    """The bits of float64 numbers."""
    return words(lanes), lambda context, builder, sig, args: builder.bitcast(args[0], ir.VectorType(_I64, LANES))


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """The float64 numbers that have these bits."""
    return lanes(words), lambda context, builder, sig, args: builder.bitcast(args[0], ir.VectorType(_F64, LANES))


def _elementary(name: str) -> Any:
    def typed(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple) -> ir.Value:
            vector = ir.VectorType(_F64, LANES)
            function = ir.FunctionType(vector, [vector])
            declared = cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.v{LANES}f64")
            return builder.call(declared, args)

        return lanes(lanes), codegen

    return intrinsic(typed)


sqrt = _elementary("sqrt")
absolute = _elementary("fabs")
floor = _elementary("floor")


# ------------------------------------------------------------------------------- functions, as polynomials

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # the first has 21 trailing zeros
_ROUND = 6755399441055744.0  # 1.5·2⁵²: adding it leaves the nearest integer in the low bits


@inlined
def maximum(a, b):
    return where(a > b, a, b)


@inlined
def is_finite(x):
    """True where x is neither infinite nor NaN: only then is x − x zero."""
    return x - x == 0.0


@inlined
def exp(x):
    """e^x = 2^k e^r with |r| ≤ ln 2 / 2; e^r by its Chebyshev polynomial, in Estrin's order for short latency."""
    shifted = x * _LOG2_E + _ROUND
    k = shifted - _ROUND
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    low = (1.0 + r) + r2 * (0.5000000000000019 + 0.1666666666666668 * r)
    middle = (0.04166666666648666 + 0.00833333333331949 * r) + r2 * (0.0013888888952696516 + 0.00019841269890340666 * r)
    high = (2.4801485074105115e-05 + 2.7557240604663896e-06 * r) + r2 * (
        2.763279054211718e-07 + 2.511015364692893e-08 * r
    )
    power = float_of((bits_of(shifted) + 1023) << 52)
    value = (low + r4 * (middle + r4 * high)) * power
    value = where(x > 709.4, np.inf, where(x < -708.0, 0.0, value))  # beyond, the value is meaningless, not unsafe
    return where(x == x, value, x)


@inlined
def log(x):
    """log(2^k m) = k ln 2 + log m, m in [√½, √2); log m = 2s + s³·P(s²), s = (m − 1)/(m + 1)."""
    k = (bits_of(x) - 0x3FE6A09E667F3BCD) >> 52  # that number has the bits of √½
    exponent = float_of((k ^ 0x800) | 0x4330000000000000) - 4503599627372544.0  # k, of 12 bits and signed
    m = float_of(bits_of(x) - (k << 52))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    z2 = z * z
    z4 = z2 * z2
    low = (0.6666666666666666 + 0.4000000000000088 * z) + z2 * (0.28571428570801954 + 0.22222222392089008 * z)
    high = (0.18181795600060793 + 0.15386241881938595 * z) + z2 * (0.13268714792348096 + 0.1308723619665962 * z)
    value = exponent * _LN2_HIGH + (2.0 * s + (s * z * (low + z4 * high) + exponent * _LN2_LOW))
    value = where(x > 0.0, where(x < np.inf, value, np.inf), where(x == 0.0, -np.inf, np.nan))
    return where(x == x, value, x)


@inlined
def sigmoid(x):
    """1 / (1 + e^−x)."""
    return 1.0 / (1.0 + exp(-x))


@inlined
def sigmoid_softplus(x):
    """1 / (1 + e^−x) and log(1 + e^x), from one exponential and without overflow."""
    small = exp(-absolute(x))
    return where(x > 0.0, 1.0, small) / (1.0 + small), maximum(x, splat(0.0)) + log(1.0 + small)


@inlined
def cos_sin_turns(turns):
    """cos and sin of 2π·turns, for turns in [0, 1]: the nearest quarter turn, and a polynomial for what is left."""
    quarter = floor(4.0 * turns + 0.5)
    r = turns - 0.25 * quarter
    z = r * r
    z2 = z * z
    z4 = z2 * z2
    sine = r * (
        ((6.283185307179586 - 41.34170224039976 * z) + z2 * (81.60524927607493 - 76.70585975299812 * z))
        + z4 * ((42.05869392898878 - 15.094640403891546 * z) + z2 * (3.8197881201632113 - 0.7116358090781666 * z))
    )
    cosine = ((1.0 - 19.739208802178716 * z) + z2 * (64.93939402266795 - 85.45681720652271 * z)) + z4 * (
        (60.244641328867296 - 26.426250908622137 * z) + z2 * (7.903091687751697 - 1.6968494702918826 * z)
    )
    odd = (quarter == 1.0) | (quarter == 3.0)
    a, b = where(odd, sine, cosine), where(odd, cosine, sine)
    cos_negative = (quarter == 1.0) | (quarter == 2.0)
    sin_negative = (quarter == 2.0) | (quarter == 3.0)
    return where(cos_negative, -a, a), where(sin_negative, -b, b)


@inlined
def _eight_rows(a, b, out, i):
    """Rows i to i + 7 of a·b: eight sums side by side keep the multipliers busy."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = splat(0.0)
    for j in range(a.shape[1]):
        x = load(b, j)
        s0 += a[i, j] * x
        s1 += a[i + 1, j] * x
        s2 += a[i + 2, j] * x
        s3 += a[i + 3, j] * x
        s4 += a[i + 4, j] * x
        s5 += a[i + 5, j] * x
        s6 += a[i + 6, j] * x
        s7 += a[i + 7, j] * x
    store(out, i, s0)
    store(out, i + 1, s1)
    store(out, i + 2, s2)
    store(out, i + 3, s3)
    store(out, i + 4, s4)
    store(out, i + 5, s5)
    store(out, i + 6, s6)
    store(out, i + 7, s7)


@inlined
def multiply(a, b, out):
    """out ← a·b for a matrix of numbers and rows of lanes. The last eight rows may be worked out twice."""
    rows = a.shape[0]
    for i in range(0, rows - 7, 8):
        _eight_rows(a, b, out, i)
    if rows >= 8 and rows % 8 > 0:
        _eight_rows(a, b, out, rows - 8)
    elif rows < 8:
        for i in range(rows):
            total = splat(0.0)
            for j in range(a.shape[1]):
                total += a[i, j] * load(b, j)
            store(out, i, total)
