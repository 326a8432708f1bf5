"""The compiled types: eight real numbers, eight words of 64 bits, and eight truth values."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.datamodel import models
from numba.core.imputils import lower_cast
from numba.core.typeconv import Conversion
from numba.extending import register_model

LANES = 8

F64, I64, I1 = ir.DoubleType(), ir.IntType(64), ir.IntType(1)


def _vector_type(name: str, element: ir.Type) -> tuple[type, types.Type]:
    """A numba type whose values are LLVM vectors of LANES elements."""
    cls = type(f"{name}Type", (types.Type,), {"__init__": lambda self: types.Type.__init__(self, name=name)})
    cls.__module__ = __name__

    @register_model(cls)
    class Model(models.PrimitiveModel):
        def __init__(self, dmm: Any, fe_type: types.Type) -> None:
            super().__init__(dmm, fe_type, ir.VectorType(element, LANES))

    return cls, cls()


LanesType, lanes = _vector_type("Lanes", F64)  # a real number for each lane
WordsType, words = _vector_type("Words", I64)  # 64 random bits, or a counter, for each lane
MaskType, mask = _vector_type("Mask", I1)  # true or false for each lane


def _from_number(self: types.Type, typing_context: Any, other: types.Type) -> Conversion | None:
    return Conversion.safe if isinstance(other, types.Float | types.Integer) else None


def _with_number(self: types.Type, typing_context: Any, other: types.Type) -> types.Type | None:
    return lanes if isinstance(other, types.Float | types.Integer) else None


# If a variable is first a number and later lanes (total = 0.0; total += q[i]), its type is lanes from the beginning.
LanesType.can_convert_from, LanesType.unify = _from_number, _with_number  # type: ignore[attr-defined]


@lower_cast(types.Float, LanesType)
@lower_cast(types.Integer, LanesType)
def _number_to_lanes(context: Any, builder: ir.IRBuilder, source: Any, target: Any, value: ir.Value) -> ir.Value:
    return splatted(builder, context.cast(builder, value, source, types.float64), F64)


@lower_cast(MaskType, LanesType)
def _mask_to_lanes(context: Any, builder: ir.IRBuilder, source: Any, target: Any, value: ir.Value) -> ir.Value:
    """1 where the condition holds, else 0."""
    return builder.uitofp(value, ir.VectorType(F64, LANES))


def splatted(builder: ir.IRBuilder, value: ir.Value, element: ir.Type) -> ir.Value:
    """The scalar in every lane; a vector is returned unchanged."""
    if isinstance(value.type, ir.VectorType):
        return value
    vector = ir.VectorType(element, LANES)
    first = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))
