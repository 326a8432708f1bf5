"""From a class that a person wrote to a target: what it declares, its compiled half, and how it is built.

    @mahmc.target
    class Funnel:
        dim: int = 10                     # with a value: a setting, which people may choose
        X: np.ndarray                     # without: data, which `data(self)` makes from the settings

        def variables(self): ...          # real("v"), real("x", n): q^H; discrete("s", n, values=(0, 1)): q^O
        def U(self, q, other): ...        # compiled; without `other` where there is no q^O
        def grad_U(self, q, other, grad): ...
        @update
        def flip(self, q, other, grad, rng): ...

Compiled functions see settings and data as `self.dim`, `self.X`. What else a class may have is in `OPTIONAL`.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections import namedtuple
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.extending import overload

from mahmc import lanes
from mahmc.compiled import INLINED, implements, inlined, kept
from mahmc.own.check import Own, check
from mahmc.own.tools import U, grad_U
from mahmc.own.variables import Variable, any_start, pack
from mahmc.parameters import InvalidInput, Parameter, choose
from mahmc.samplers import PARAMETERS, SAMPLERS
from mahmc.spec import EXTRA_QUANTITIES, RUN_PARAMETERS
from mahmc.targets import FAMILIES, TargetFamily
from mahmc.targets.base import (
    USUAL_PATIENCE,
    Draws,
    Model,
    Quantity,
    Target,
    Views,
    potential,
    step_scale,
    update_where,
)

OPTIONAL = {
    "data": "data(self): a mapping with the fields that are declared without a value",
    "start": "start(self, rng): where a chain begins, by variable",
    "exact": "exact(self, rng, n): n independent draws, by variable",
    "truth": "truth(self): what is known, a Truth by scalar quantity",
    "prior": "prior(self, rng, n): n parameter sets, by variable",
    "simulate": "simulate(self, parameters, rng): the random data fields, given one parameter set",
    "small": "small(self): a mapping with settings of a small version, for checks",
    "derived": "derived(self): functions of the draws, by name",
    "compared": "compared(self): what samplers are compared by, functions of the draws by name",
    "step_scale": "step_scale(self, other): compiled; what ε is multiplied with",
    "stable_epsilon": "stable_epsilon(self): beyond it the leapfrog diverges",
}
_RESERVED = {
    "target", "sampler", "update", "outer", "schedule", "start", "keep", "data", "view", "follow", "out", "help",
}  # fmt: skip
_numbers = count(1)
_everywhere, _rows, _rows_where, _splat, _where = (
    cast(Any, part) for part in (lanes.everywhere, lanes.rows, lanes.rows_where, lanes.splat, lanes.where)
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def setting(
    default: Any, low: float = -np.inf, high: float = np.inf, title: str = "", help: str = "", **more: Any
) -> Any:
    """A setting with its range and words, for validation, sliders and the command line."""
    return Parameter("", more.pop("symbol", ""), title, help, low=low, high=high, default=default, **more)


def update(
    function: Callable | None = None,
    *,
    full_conditional: bool = False,
    reversible: bool = False,
    patience: int = USUAL_PATIENCE,
) -> Any:
    """Mark a function as an update of q^O. The first of a class is the one that samplers use unless told otherwise.

    It returns ΔU = U after − U before, or (ΔU, accepted) where a chain may refuse. `full_conditional` promises that it
    draws all of q^O from exp(−U(q, ·)), whatever q^O was; that is then checked. `reversible` promises that the update
    by itself satisfies detailed balance, as one Metropolis step does and a sweep over sites in a fixed order does not;
    then the check of detailed balance applies. `patience` is for speed only: how many leapfrogs take about as long.
    With schedules that are drawn, chains wait so many for each other, to update together.
    """

    def mark(function: Callable) -> Callable:
        function.full_conditional = full_conditional  # type: ignore[attr-defined]
        function.reversible = reversible or full_conditional  # type: ignore[attr-defined]
        function.patience = patience  # type: ignore[attr-defined]
        return function

    return mark(function) if function is not None else mark


def target(cls: type) -> TargetFamily:
    """Make a class a target, and one of `targets.FAMILIES`. It is checked when it is first built; see `own.check`."""
    declared = _Declared(cls)
    module = sys.modules.get(cls.__module__)
    file = "" if kept(declared.data_class) else str(getattr(module, "__file__", None) or cls.__module__)
    family = TargetFamily(
        declared.name, declared.title, declared.about, declared.parameters, declared.build, declared.presets, file
    )
    before = FAMILIES.get(family.name)
    if before is not None and (before.file != file or not file):
        where = f"in {before.file}" if before.file else "which comes with mahmc"
        raise InvalidInput(
            f"{cls.__name__}: there is a target {family.name!r} already, {where}. Give yours another one: name = '…'."
        )
    FAMILIES[family.name] = family
    return family


class _Declared:
    """What a class says, checked as far as that is possible before it is built."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.name = getattr(cls, "name", _hyphenated(cls.__name__))
        self.title = str(getattr(cls, "title", cls.__name__))
        self.about = (inspect.getdoc(cls) or cls.__name__).split("\n\n")[0].replace("\n", " ")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise self.wrong(f"name = {self.name!r} must be made of small letters, digits, - and _, at most 40")
        if not isinstance(cls, type) or "__init__" in vars(cls):
            raise self.wrong("a target has no __init__: declare settings as dim: int = 10, and data by data(self)")
        fields = inspect.get_annotations(cls)
        self.parameters = tuple(self._parameter(name, kind) for name, kind in fields.items() if name in vars(cls))
        self.data_names = tuple(name for name in fields if name not in vars(cls))
        if hidden := [name for name in self.data_names if name.startswith("_")]:
            raise self.wrong(f"data cannot be called {hidden[0]!r}: begin it with a letter")
        self.updates = {n: f for n, f in vars(cls).items() if hasattr(f, "full_conditional")}
        self.presets = self._presets()
        self._refuse_bad_functions()
        self._refuse_half_a_model()
        self.data_class = self._data_class([p.name for p in self.parameters] + list(self.data_names))
        self._compile()
        self._built = lru_cache(maxsize=16)(self._checked)

    def wrong(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self.cls.__name__}: {what}.")

    # ---------------------------------------------------------------------------------------- what it declares

    def _parameter(self, name: str, annotation: Any) -> Parameter:
        given = vars(self.cls)[name]
        if name in (*PARAMETERS, *RUN_PARAMETERS, *_RESERVED):
            raise self.wrong(f"a setting cannot be called {name!r}, as a parameter of samplers or runs is")
        if name.startswith("_"):
            raise self.wrong(f"a setting cannot be called {name!r}: begin it with a letter")
        parameter = given if isinstance(given, Parameter) else setting(given)
        kind = _kind(parameter.default, annotation)
        if kind is None:
            raise self.wrong(
                f"{name} = {parameter.default!r}: a setting is a number, True or False, or a tuple of numbers"
            )
        title = parameter.title or name.replace("_", " ").capitalize()
        words = parameter.help or f"{title}, a setting of {self.title}."
        default = tuple(parameter.default) if kind == "floats" else parameter.default
        full = replace(parameter, name=name, kind=kind, title=title, help=words, default=default)
        if kind in ("int", "float") and full.slider is None:
            full = replace(full, slider=_slider(full), log=kind == "float" and full.default > 0)
        full.check(default)
        return full

    def _presets(self) -> dict[str, dict[str, float]]:
        given = getattr(self.cls, "presets", {})
        for sampler, values in given.items():
            method = SAMPLERS[choose(sampler, SAMPLERS, f"{self.cls.__name__}.presets: sampler")]
            for name, value in values.items():
                choose(name, method.parameters, f"{self.cls.__name__}.presets[{sampler!r}]: parameter")
                PARAMETERS[name].check(value)
        return {sampler: dict(values) for sampler, values in given.items()}

    def _refuse_bad_functions(self) -> None:
        other = ["other"] if self.updates else []
        wanted = {"U": ["self", "q", *other], "grad_U": ["self", "q", *other, "grad"], "variables": ["self"]}
        wanted |= {name: ["self", "q", "other", "grad", "rng"] for name in self.updates}
        wanted |= {name: _arguments(text) for name, text in OPTIONAL.items() if hasattr(self.cls, name)}
        for name, arguments in wanted.items():
            function = inspect.getattr_static(self.cls, name, None)
            text = f"{name}({', '.join(arguments)})"
            if not inspect.isfunction(function):
                near = [n for n in vars(self.cls) if n.lower() == name.lower() and n != name]
                hint = f"; there is {near[0]!r}, which is spelled otherwise" if near else ""
                raise self.wrong(f"it needs a function {text}{hint}")
            found = list(inspect.signature(function).parameters)
            if len(found) != len(arguments):
                because = " (there is no update of qᴼ, so no other)" if name in ("U", "grad_U") and not other else ""
                raise self.wrong(f"{name}({', '.join(found)}) must have the arguments {text}{because}")
        for name in self.updates:
            if name in ("none", "U", "grad_U") or not _NAME.fullmatch(name):
                raise self.wrong(f"an update cannot be called {name!r}: small letters, digits and _, and not 'none'")
        for name, function in self.updates.items():
            patience = function.patience
            if not isinstance(patience, int) or isinstance(patience, bool) or patience < 0:
                raise self.wrong(f"{name} has patience = {patience!r}: it is a whole number of leapfrogs, 0 or more")

    def _refuse_half_a_model(self) -> None:
        """`prior` and `simulate` belong together, and there must be data to simulate."""
        there = [name for name in ("prior", "simulate") if hasattr(self.cls, name)]
        if len(there) == 1:
            missing = "simulate" if there == ["prior"] else "prior"
            raise self.wrong(f"{there[0]} is of no use without {OPTIONAL[missing].partition(':')[0]}: add it")
        if there and not self.data_names:
            raise self.wrong("simulate needs data to replace: declare the data as fields without a value, as y: float")
        for name in getattr(self.cls, "small_values", {}):
            choose(name, PARAMETERS, f"{self.cls.__name__}.small_values: parameter")

    # -------------------------------------------------------------------------------------- its compiled half

    def _data_class(self, fields: list[str]) -> type:
        """A NamedTuple class of its own, which the cache of kernels finds again by its module and name.

        Elsewhere its name is a new one each time: by its name alone numba tells it from others.
        """
        fields = fields or ["nothing"]  # numba knows no tuple without fields
        name, module = f"_{self.cls.__name__}_data", sys.modules.get(self.cls.__module__)
        made: type = namedtuple(name, fields, module=self.cls.__module__)  # type: ignore[misc]
        if not kept(made):
            return namedtuple(f"{name}_{next(_numbers)}", fields, module=self.cls.__module__)
        setattr(module, name, made)
        return made

    def _compile(self) -> None:
        cls: Any = self.cls
        data = self.data_class
        energy, gradient = inlined(cls.U), inlined(cls.grad_U)
        if self.updates:
            implements(U, data)(lambda target, q, other: energy(target, q, other))
            implements(grad_U, data)(lambda target, q, other, grad: gradient(target, q, other, grad))
        else:
            implements(U, data)(lambda target, q, other: energy(target, q))
            implements(grad_U, data)(lambda target, q, other, grad: gradient(target, q, grad))
        implements(potential, data)(_potential)
        implements(update_where, data)(_any_of(list(self.updates.values())))
        if hasattr(cls, "step_scale"):
            scale = inlined(cls.step_scale)
            implements(step_scale, data)(lambda target, other: _splat(scale(target, _rows(other))))
        else:
            implements(step_scale, data)(_no_scale)

    # -------------------------------------------------------------------------------------------- building it

    def build(self, **settings: Any) -> Target:
        """The target with these settings, checked when they are used for the first time."""
        known = {p.name: p for p in self.parameters}
        for name in settings:
            choose(name, known, f"{self.cls.__name__} setting")
        values = tuple((name, p.check(settings.get(name, p.default))) for name, p in known.items())
        return self._built(values).target

    def _checked(self, values: tuple[tuple[str, Any], ...]) -> Own:
        if kept(self.data_class):  # those that come with mahmc are checked by its tests
            return self.own(values)
        try:
            own = self.own(values)
            check(own)
            return own
        except InvalidInput:
            raise
        except Exception as error:  # in a function that a person wrote
            file = getattr(sys.modules.get(self.cls.__module__), "__file__", None)
            places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
            where = f", line {places[-1].lineno}, in {places[-1].name}" if places else ""
            raise self.wrong(f"{type(error).__name__}{where}: {error}") from error

    def own(self, values: tuple[tuple[str, Any], ...], simulated: Mapping[str, Any] | None = None) -> Own:
        """The target with these settings, and what the class declares; on simulated data, or those of `data(self)`."""
        me: Any = object.__new__(self.cls)
        vars(me).update(values)
        data = self._data(me) if simulated is None else simulated
        vars(me).update(data)
        fields = {p.name: getattr(me, p.name) for p in self.parameters}
        fields = {name: np.array(v) if isinstance(v, tuple) else v for name, v in fields.items()}
        fields |= {name: getattr(me, name) for name in self.data_names}
        variables = self._variables(me)
        quantities = tuple(
            Quantity(v.name, "other" if v.other else "q", v.first, v.rows, bool(v.values), v.size is not None, v.values)
            for v in variables
        )
        dim, n_other = (sum(v.rows for v in variables if v.other == other) for other in (False, True))
        names = [name for q in quantities for name in ([q.name] if not q.vector else [f"{q.name}[0]"])]
        built = Target(
            name=self.name,
            title=self.title,
            about=self.about,
            data=self.data_class(**(fields or {"nothing": 0.0})),
            settings=dict(values),
            quantities=quantities,
            dim=dim,
            n_other=n_other,
            n_scratch=1,
            updates=tuple(self.updates),
            sweeps=tuple(name for name, function in self.updates.items() if not function.reversible),
            patience={name: function.patience for name, function in self.updates.items()},
            default_update=next(iter(self.updates), "none"),
            paper_quantity=getattr(me, "watch", names[0]),
            start=me.start if hasattr(me, "start") else lambda rng: any_start(variables, rng),
            pack=lambda draws: pack(variables, draws),
            derived=dict(me.derived()) if hasattr(me, "derived") else {},
            compared=dict(me.compared()) if hasattr(me, "compared") else {},
            budget=getattr(me, "budget", Target.budget),
            full_budget=getattr(me, "full_budget", Target.full_budget),
            views=getattr(me, "views", Views()),
            exact=getattr(me, "exact", None),
            known=getattr(me, "truth", dict),
            small=(lambda: self.build(**self._small(me))) if hasattr(me, "small") else None,
            small_values=dict(getattr(me, "small_values", {})),
            model=self._model(me, values, data) if hasattr(me, "prior") else None,
            stable_epsilon=me.stable_epsilon() if hasattr(me, "stable_epsilon") else None,
            fingerprint="" if simulated is None else "simulated",
            extras={name: x for name, x in fields.items() if isinstance(x, np.ndarray)},
        )
        if hasattr(me, "small"):
            self._small(me)  # refuses what is wrong
        return Own(built, variables, self.updates, self.cls)

    def _small(self, me: Any) -> dict[str, Any]:
        """The settings of the small version: this one's, but for those that `small` names."""
        known = {p.name: p for p in self.parameters}
        chosen = dict(me.small())
        for name, value in chosen.items():
            known[choose(name, known, f"{self.cls.__name__}.small: setting")].check(value)
        return {name: getattr(me, name) for name in known} | chosen

    def _model(self, me: Any, values: tuple[tuple[str, Any], ...], made: Mapping[str, Any]) -> Model:
        def simulate(parameters: Draws, rng: np.random.Generator) -> dict[str, np.ndarray]:
            n = len(next(iter(parameters.values())))
            sets = [{name: x[i] for name, x in parameters.items()} for i in range(n)]
            rows = [self._simulated(me.simulate(one, rng), made) for one in sets]
            return {name: np.array([row[name] for row in rows]) for name in rows[0]}

        def with_data(fields: Mapping[str, Any]) -> Target:
            return self.own(values, {**made, **self._simulated(fields, made)}).target

        return Model(me.prior, simulate, with_data)

    def _simulated(self, fields: Any, made: Mapping[str, Any]) -> dict[str, Any]:
        """Simulated data as kernels take them: numbers of the shape and kind that `data(self)` makes."""
        if not isinstance(fields, Mapping) or not fields:
            raise self.wrong(f"simulate returns {str(fields)[:40]!r}: return a mapping with the random data fields")
        found = {}
        for name, value in fields.items():
            before = np.asarray(made[choose(name, made, f"{self.cls.__name__}.simulate: data field")])
            array = np.asarray(self._plain(name, value))
            if array.shape != before.shape:
                raise self.wrong(f"simulate gives {name} of shape {array.shape}; data(self) makes it {before.shape}")
            if before.dtype.kind != "f" and not np.array_equal(array, array.astype(before.dtype)):
                raise self.wrong(f"simulate gives {name} = {array.ravel()[:4]}; data(self) makes whole numbers")
            array = array.astype(before.dtype)
            found[name] = array if array.ndim else array.item()
        return found

    def _data(self, me: Any) -> dict[str, Any]:
        made = dict(me.data()) if hasattr(me, "data") else {}
        if set(made) != set(self.data_names):
            missing, more = sorted(set(self.data_names) - set(made)), sorted(set(made) - set(self.data_names))
            raise self.wrong(
                "data(self) must make what is declared without a value"
                + (f"; {', '.join(missing)} is missing" if missing else "")
                + (f"; {', '.join(more)} is not declared" if more else "")
            )
        return {name: self._plain(name, value) for name, value in made.items()}

    def _plain(self, name: str, value: Any) -> Any:
        """A number or a contiguous array of numbers, as kernels take it."""
        if isinstance(value, bool | int | float):
            return value
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise self.wrong(f"data {name!r} must be numbers or arrays of numbers, not {type(value).__name__}")
        array = np.asarray(array, np.float64 if array.dtype.kind == "f" else np.int64, order="C")
        if not np.isfinite(array).all():
            raise self.wrong(f"data {name!r} has values that are not finite")
        return array if array.ndim else array.item()

    def _variables(self, me: Any) -> tuple[Variable, ...]:
        given = me.variables()
        given = (given,) if isinstance(given, Variable) else tuple(given)
        taken = {*EXTRA_QUANTITIES}
        for v in given:
            if not isinstance(v, Variable):
                raise self.wrong(f"variables(self) returns {v!r}: make each by real(name, size), discrete(name, size)")
            if not isinstance(v.name, str) or not v.name.isidentifier():
                raise self.wrong(f"a variable cannot be called {v.name!r}: take a name as Python has them")
            if v.name in taken:
                reason = "is recorded of every target" if v.name in EXTRA_QUANTITIES else "is there twice"
                raise self.wrong(f"variable {v.name!r} {reason}; give it another name")
            if v.size is not None and (not isinstance(v.size, int | np.integer) or v.size < 1):
                raise self.wrong(f"variable {v.name!r} has size {v.size!r}: it must be a whole number of at least 1")
            if not v.low < v.high or (not v.other and (v.low, v.high) != (-np.inf, np.inf)):
                raise self.wrong(
                    f"variable {v.name!r} has bounds {v.low:g}, {v.high:g}: only a real of qᴼ has any, low below high"
                )
            if v.values and (len(set(v.values)) < 2 or not all(abs(x) < 128 and x == int(x) for x in v.values)):
                raise self.wrong(f"variable {v.name!r} has values {v.values}: two or more whole numbers within ±127")
            taken.add(v.name)
        if not any(not v.other for v in given):
            raise self.wrong("variables(self) has no real(…) of qᴴ, so leapfrogs have nothing to move")
        if any(v.other for v in given) != bool(self.updates):
            raise self.wrong(
                "there is a variable of qᴼ, but no update of it: mark one with @update"
                if not self.updates
                else f"there is an update, {next(iter(self.updates))}, but no variable of qᴼ for it"
            )
        unstarted = [v.name for v in given if v.other and not v.values]
        if unstarted and not hasattr(me, "start"):
            raise self.wrong(f"where {unstarted[0]} starts is not known: write start(self, rng)")
        placed, used = [], {False: 0, True: 0}
        for v in given:
            placed.append(replace(v, first=used[v.other], values=tuple(sorted(int(x) for x in v.values))))
            used[v.other] += v.rows
        return tuple(placed)


# ------------------------------------------------------------------------------------------------ compiled parts


def _potential(target, q, other, grad, scratch):
    """∇U is written, and U returned; where only the gradient is used, the compiler leaves out what U alone needs."""
    grad_U(target, _rows(q), _rows(other), _rows(grad))
    return _splat(U(target, _rows(q), _rows(other)))


def _no_scale(target, other):
    return _splat(1.0)


def _outcome(result):
    """(ΔU, accepted) by lane, from ΔU alone or from both."""
    raise NotImplementedError("compiled code only")


@overload(_outcome, jit_options=INLINED, strict=False)
def _choose_outcome(result):
    if isinstance(result, types.BaseTuple):
        return lambda result: (_splat(result[0]), _everywhere(result[1]))
    return lambda result: (_splat(result), _everywhere(True))


def _any_of(functions: list[Callable]) -> Callable:
    """One compiled function that does the update number `which` of these, in the lanes where it is `theirs`."""
    if not functions:
        return lambda target, which, theirs, some, q, other, grad, rng, aside: (_splat(0.0), _everywhere(False))
    first, number = inlined(functions[-1]), len(functions) - 1

    def last(target, which, theirs, some, q, other, grad, rng, aside):
        if not some:
            return _outcome(first(target, _rows(q), _rows(other), _rows(grad), rng))
        result = first(target, _rows(q), _rows_where(other, theirs), _rows_where(grad, theirs), rng)
        delta_U, accepted = _outcome(result)
        return _where(theirs, delta_U, 0.0), accepted & theirs

    if number == 0:
        return last
    mine, rest = inlined(last), inlined(_any_of(functions[:-1]))

    def chosen(target, which, theirs, some, q, other, grad, rng, aside):
        if which == number:
            return mine(target, which, theirs, some, q, other, grad, rng, aside)
        return rest(target, which, theirs, some, q, other, grad, rng, aside)

    return chosen


# ---------------------------------------------------------------------------------------------------- small parts


def _hyphenated(name: str) -> str:
    """ "SpikeSlab" → "spike-slab"."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _arguments(text: str) -> list[str]:
    """The names in "exact(self, rng, n): …"."""
    return text.partition("(")[2].partition(")")[0].split(", ")


def _kind(default: Any, annotation: Any) -> str | None:
    if isinstance(default, bool):
        return "bool"
    if isinstance(default, int | np.integer):
        return "float" if annotation in (float, "float") else "int"
    if isinstance(default, float):
        return "float"
    numbers = isinstance(default, tuple | list) and all(isinstance(x, int | float) for x in default)
    return "floats" if numbers else None


def _slider(parameter: Parameter) -> tuple[float, float]:
    """What a slider shows of a setting whose author did not say: a tenth to ten times the default or so."""
    value = parameter.default
    low, high = (value / 10, value * 10) if value > 0 else (value - 10, value + 10)
    if parameter.kind == "int":
        low, high = np.floor(low), np.ceil(high)
    return float(max(low, parameter.low)), float(min(high, parameter.high))
