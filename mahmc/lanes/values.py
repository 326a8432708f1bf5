"""Operations on lanes that are one instruction: copy a number into all lanes, choose by lane, convert, round."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from mahmc.lanes.types import F64, I1, I64, LANES, lanes, mask, splatted, words


@intrinsic
def splat(typing_context: Any, value: Any) -> Any:
    """The same number in every lane; lanes are returned unchanged."""
    argument = lanes if value == lanes else types.float64
    return lanes(argument), lambda context, builder, sig, args: splatted(builder, args[0], F64)


@intrinsic
def everywhere(typing_context: Any, condition: Any) -> Any:
    """The same truth value in every lane; a mask is returned unchanged."""
    argument = mask if condition == mask else types.boolean
    return mask(argument), lambda context, builder, sig, args: splatted(builder, args[0], I1)


@intrinsic
def where(typing_context: Any, condition: Any, yes: Any, no: Any) -> Any:
    """For each lane: `yes` where the condition holds, else `no`."""
    vector = words if words in (yes, no) else lanes
    scalar, element = (types.int64, I64) if vector == words else (types.float64, F64)

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        return builder.select(args[0], splatted(builder, args[1], element), splatted(builder, args[2], element))

    return vector(mask, *(vector if x == vector else scalar for x in (yes, no))), codegen


@intrinsic
def as_count(typing_context: Any, condition: Any) -> Any:
    """1 in the lanes where the condition holds, 0 in the others; can be added to a row of counters."""
    return words(mask), lambda context, builder, sig, args: builder.zext(args[0], ir.VectorType(I64, LANES))


@intrinsic
def bits_of(typing_context: Any, value: Any) -> Any:
    """The bits of float64 numbers."""
    return words(lanes), lambda context, builder, sig, args: builder.bitcast(args[0], ir.VectorType(I64, LANES))


@intrinsic
def float_of(typing_context: Any, bits: Any) -> Any:
    """The float64 numbers that have these bits."""
    return lanes(words), lambda context, builder, sig, args: builder.bitcast(args[0], ir.VectorType(F64, LANES))


@intrinsic
def lane_value(typing_context: Any, value: Any, lane: Any) -> Any:
    """The number in one lane."""
    return types.float64(lanes, types.intp), lambda context, builder, sig, args: builder.extract_element(*args)


@intrinsic
def with_lane(typing_context: Any, value: Any, lane: Any, number: Any) -> Any:
    """A copy of the lanes with another number in one lane."""

    def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
        vector, lane, number = args
        return builder.insert_element(vector, number, lane)

    return lanes(lanes, types.intp, types.float64), codegen


def _elementary(name: str) -> Any:
    def typed(typing_context: Any, value: Any) -> Any:
        def codegen(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> ir.Value:
            vector = ir.VectorType(F64, LANES)
            function = ir.FunctionType(vector, [vector])
            declared = cgutils.get_or_insert_function(builder.module, function, f"llvm.{name}.v{LANES}f64")
            return builder.call(declared, args)

        return lanes(lanes), codegen

    return intrinsic(typed)


sqrt = _elementary("sqrt")
absolute = _elementary("fabs")
floor = _elementary("floor")
ceil = _elementary("ceil")
trunc = _elementary("trunc")
rint = _elementary("rint")
