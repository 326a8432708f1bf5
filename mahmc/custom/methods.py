"""Methods of custom targets in compiled code: self.name(…), where self is the data of a target.

numba's `overload_method` cannot be used here: it keeps one function for each name and numba type of self, and a second
target with a method of the same name would not compile. Here a method is looked up by the data class and the name.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr

_METHODS: dict[type, dict[str, Any]] = {}  # by data class: the compiled methods by name
_lowered: set[str] = set()


def offer_methods(data: type, methods: dict[str, Any]) -> None:
    """Make these methods known to compiled code as self.name(…), where self has this data class."""
    _METHODS.setdefault(data, methods)


def lower_calls(name: str) -> None:
    """Make code generation for calls of methods of this name possible. It is needed once for each name."""
    if name in _lowered:
        return
    _lowered.add(name)

    @lower_builtin((types.BaseNamedTuple, name), types.BaseNamedTuple, types.VarArg(types.Any))
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        method = _METHODS[sig.args[0].instance_class][name]
        call = context.get_function(types.Dispatcher(method), sig)
        result = call(builder, args)
        context.add_linking_libs(getattr(call, "libs", ()))
        return result


@infer_getattr
class _Methods(AttributeTemplate):
    key = types.BaseNamedTuple

    def generic_resolve(self, typ: Any, attr: str) -> Any:  # type: ignore[override]
        """The method of this name. A field of the same name, as in the kernels' own tuples, comes first."""
        method = _METHODS.get(typ.instance_class, {}).get(attr)
        if method is None or attr in typ.fields:
            return None
        callee = types.Dispatcher(method)

        class Call(AbstractTemplate):
            key = (types.BaseNamedTuple, attr)

            def generic(self, args: Any, kws: Any) -> Any:
                signature = callee.get_call_type(self.context, (typ, *args), kws)
                return signature and signature.as_method()

        return types.BoundFunction(Call, typ)
