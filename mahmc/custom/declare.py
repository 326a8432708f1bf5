"""Makes a target of a person's class: reads the declarations, compiles the functions, and builds the target.

    @mahmc.target
    class Funnel:
        dim: int = 10                     # a field with a value is a setting, which people can choose
        X: np.ndarray                     # a field without a value is data, which `data(self)` makes

        def variables(self): ...          # real("v"), real("x", n): q^H; discrete("s", n, values=(0, 1)): q^O
        def U(self, q, other): ...        # compiled; without `other` where there is no q^O
        def grad_U(self, q, other, grad): ...
        @update
        def flip(self, q, other, grad, rng): ...

Compiled functions read settings and data as `self.dim`, `self.X`. `OPTIONAL` lists other functions of a class.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from threading import Lock
from typing import Any, cast

import numpy as np
from numba.core import types
from numba.extending import overload

from mahmc import lanes
from mahmc.compiled import INLINED, comes_with_mahmc, implements, inlined, keep_apart
from mahmc.custom.check import CustomTarget, check
from mahmc.custom.data_classes import data_class
from mahmc.custom.given import NO_DATA, GivenData
from mahmc.custom.language import refuse_text
from mahmc.custom.mistakes import Mistake
from mahmc.custom.prepare import Prepared
from mahmc.custom.tools import U, grad_U
from mahmc.custom.variables import Variable, any_start, pack
from mahmc.custom.visits import any_visit, as_update, visited_by
from mahmc.glossary import Panel
from mahmc.parameters import InvalidInput, Parameter, choose
from mahmc.samplers import PARAMETERS, SAMPLERS
from mahmc.spec import EXTRA_QUANTITIES, RUN_PARAMETERS
from mahmc.targets import FAMILIES, TargetFamily
from mahmc.targets.base import (
    Density,
    Derived,
    Draws,
    KnownTruth,
    Model,
    Presentation,
    Quantity,
    Target,
    Views,
    potential,
    step_scale,
    update_where,
)
from mahmc.targets.base import visit as visit_where
from mahmc.targets.parts import USUAL_COST

LEAST, MOST = -(2**31), 2**31 - 1  # the smallest and the largest value of discrete variables
OPTIONAL = {
    "data": "data(self): a mapping with the fields that are declared without a value",
    "start": "start(self, rng): the start of a chain, by variable",
    "exact": "exact(self, rng, n): n independent draws, by variable",
    "truth": "truth(self): the known distributions, a Truth by scalar quantity",
    "prior": "prior(self, rng, n): n parameter sets, by variable",
    "simulate": "simulate(self, parameters, rng): the random data fields, given one parameter set",
    "small": "small(self): a mapping with settings and data of a small version, for checks",
    "derived": "derived(self): functions of the draws, by name",
    "compared": "compared(self): the quantities by which samplers are compared, functions of the draws by name",
    "step_scale": "step_scale(self, other): compiled; the factor of ε",
    "stable_epsilon": "stable_epsilon(self): the largest ε at which the leapfrog is stable",
}
_RESERVED = {
    "target", "sampler", "update", "outer", "schedule", "start", "keep", "data", "view", "follow", "out", "help",
}  # fmt: skip
_COMPILING = Lock()
_everywhere, _rows, _rows_where, _splat, _where = (
    cast(Any, part) for part in (lanes.everywhere, lanes.rows, lanes.rows_where, lanes.splat, lanes.where)
)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")


def setting(
    default: Any, low: float = -np.inf, high: float = np.inf, title: str = "", help: str = "", **more: Any
) -> Any:
    """Declare a setting of a custom target with its range and texts, for sliders and the command line.

    Parameters
    ----------
    default
        The default value: a number, True or False, or a tuple of numbers.
    low, high
        The smallest and the largest allowed value.
    title
        The name in words.
    help
        What the setting does, in one or two sentences.
    **more
        Other fields of `mahmc.Parameter`, such as `slider` and `symbol`.

    Returns
    -------
    Parameter
        The setting, as the value of a field: `dim: int = setting(10, 2, 1000, "Dimension", "…")`.

    Examples
    --------
    >>> mahmc.custom.setting(10, 2, 1000, "Dimension", "The number of variables.").default
    10
    """
    return Parameter("", more.pop("symbol", ""), title, help, low=low, high=high, default=default, **more)


def update(
    function: Callable[..., Any] | None = None,
    *,
    full_conditional: bool = False,
    reversible: bool = False,
    cost_in_leapfrogs: int = USUAL_COST,
    patience: int | None = None,
) -> Any:
    """Mark a function as an update of q^O. Samplers use the first update of a class by default.

    Parameters
    ----------
    function
        A method (self, q, other, grad, rng) that changes `other`, sets `grad` to the gradient at the new point, and
        returns ΔU = U after − U before. If a chain can reject, it returns (ΔU, accepted).
    full_conditional
        A promise that the update draws all of q^O from exp(−U(q, ·)), whatever the old q^O. The promise is checked.
    reversible
        A promise that the update alone satisfies detailed balance. One Metropolis step does; a sweep over sites in a
        fixed order does not. Detailed balance is then checked.
    cost_in_leapfrogs
        The number of leapfrogs that take about as long as the update. This number changes only the speed: with drawn
        schedules, some chains make up to this number of leapfrogs earlier than the others, so that all chains make
        the update together.
    patience
        The earlier name of `cost_in_leapfrogs`, deprecated.

    Returns
    -------
    callable
        The function, marked; or a decorator, if no function is given.

    Examples
    --------
    >>> @mahmc.custom.update(reversible=True, cost_in_leapfrogs=6)
    ... def flip(self, q, other, grad, rng): ...
    """
    if patience is not None:
        warnings.warn(
            "@update(patience=…) is deprecated: write @update(cost_in_leapfrogs=…).", DeprecationWarning, stacklevel=2
        )
        cost_in_leapfrogs = patience

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.full_conditional = full_conditional  # type: ignore[attr-defined]
        function.reversible = reversible or full_conditional  # type: ignore[attr-defined]
        function.cost_in_leapfrogs = cost_in_leapfrogs  # type: ignore[attr-defined]
        return function

    return mark(function) if function is not None else mark


def visit(function: Callable[..., Any]) -> Any:
    """Mark a function as a proposal for one discrete variable.

    M-HMC visits all discrete variables with this proposal. The proposal is also an update of one discrete variable,
    which is chosen at random.

    Parameters
    ----------
    function
        A method (self, site, q, other, rng) that returns a value for other[site]. It can return (value, delta_U) if
        this is cheaper than two evaluations of U. If the proposal is not symmetric, it returns (value, delta_U,
        log_ratio) with the ratio log Q(new | old) − log Q(old | new).

    Returns
    -------
    callable
        The function, marked.

    Examples
    --------
    >>> @mahmc.custom.visit
    ... def flip(self, site, q, other, rng):
    ...     return 1 - other[site]
    """
    marked = update(function, reversible=True)
    marked.visits = True
    return marked


def target(cls: type) -> TargetFamily:
    """Make a target of a class, and add the target to `targets.FAMILIES`.

    The target is checked when it is first built; see `mahmc.custom.check`.

    Parameters
    ----------
    cls
        The class; docs/custom-target.md describes its fields and functions.

    Returns
    -------
    TargetFamily
        The target, which settings can be passed to.

    Raises
    ------
    InvalidInput
        If a function is missing or wrong, or another target has the same name.

    Examples
    --------
    >>> @mahmc.target
    ... class StandardNormal:
    ...     def variables(self):
    ...         return mahmc.custom.real("x")
    ...     def U(self, q):
    ...         return q[0] ** 2 / 2
    ...     def grad_U(self, q, grad):
    ...         grad[0] = q[0]
    >>> StandardNormal.name
    'standard-normal'
    """
    declared = _Declared(cls)
    module = sys.modules.get(cls.__module__)
    file = "" if comes_with_mahmc(cls.__module__) else str(getattr(module, "__file__", None) or cls.__module__)
    family = TargetFamily(
        declared.name, declared.title, declared.about, declared.parameters, declared.build, declared.presets, file,
        panel=Panel(equation=str(getattr(cls, "equation", "")), good=str(getattr(cls, "good", ""))),
    )  # fmt: skip
    before = FAMILIES.get(family.name)
    if before is not None and (before.file != file or not file):
        where = f"in {before.file}" if before.file else "which comes with mahmc"
        raise InvalidInput(
            f"{cls.__name__}: there is a target {family.name!r} already, {where}. Give your target another name: name "
            "= '…'."
        )
    FAMILIES[family.name] = family
    return family


class _Declared:
    """The declarations of a class, checked as far as possible before a target is built."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.name = getattr(cls, "name", _hyphenated(cls.__name__))
        self.title = str(getattr(cls, "title", cls.__name__))
        self.about = (inspect.getdoc(cls) or cls.__name__).split("\n\n")[0].replace("\n", " ")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise self.wrong(f"name = {self.name!r} must be made of small letters, digits, - and _, at most 40")
        self.members: dict[str, Any] = {}  # with those of its base classes
        fields: dict[str, Any] = {}
        for base in reversed(cls.__mro__[:-1]) if isinstance(cls, type) else ():
            self.members |= vars(base)
            fields |= inspect.get_annotations(base)
        if not isinstance(cls, type) or "__init__" in self.members:
            raise self.wrong("a target has no __init__: declare settings as dim: int = 10, and data by data(self)")
        self.parameters = tuple(self._parameter(name, kind) for name, kind in fields.items() if name in self.members)
        self.data_names = tuple(name for name in fields if name not in self.members)
        if hidden := [name for name in self.data_names if name.startswith("_")]:
            raise self.wrong(f"data cannot be called {hidden[0]!r}: the name must begin with a letter")
        self.updates = {n: f for n, f in self.members.items() if hasattr(f, "full_conditional")}
        self.visits = tuple(name for name, function in self.updates.items() if hasattr(function, "visits"))
        self.presets = self._presets()
        self._refuse_bad_functions()
        self._refuse_half_a_model()
        self.compiled = Prepared(cls, [p.name for p in self.parameters] + list(self.data_names))
        self._data_class: type | None = None
        self._built = lru_cache(maxsize=16)(self._checked)
        self._reads: dict[tuple[Any, ...], tuple[str, ...]] = {}  # by settings: the names that derived quantities read

    def wrong(self, what: str) -> InvalidInput:
        """The error for a mistake in the class."""
        return InvalidInput(f"{self.cls.__name__}: {what}.")

    # ---------------------------------------------------------------------------------------- what it declares

    def _parameter(self, name: str, annotation: Any) -> Parameter:
        given = self.members[name]
        if name in (*PARAMETERS, *RUN_PARAMETERS, *_RESERVED):
            raise self.wrong(f"a setting cannot be called {name!r}: a parameter of samplers or runs has this name")
        if name.startswith("_"):
            raise self.wrong(f"a setting cannot be called {name!r}: the name must begin with a letter")
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
        wanted |= {name: ["self", "site", "q", "other", "rng"] for name in self.visits}
        wanted |= {name: _arguments(text) for name, text in OPTIONAL.items() if hasattr(self.cls, name)}
        for name, arguments in wanted.items():
            function = inspect.getattr_static(self.cls, name, None)
            text = f"{name}({', '.join(arguments)})"
            if not inspect.isfunction(function):
                near = [n for n in self.members if n.lower() == name.lower() and n != name]
                hint = f"; there is {near[0]!r}, with another spelling" if near else ""
                raise self.wrong(f"the class needs a function {text}{hint}")
            found = list(inspect.signature(function).parameters)
            if len(found) != len(arguments):
                because = " (there is no update of qᴼ, so no other)" if name in ("U", "grad_U") and not other else ""
                raise self.wrong(f"{name}({', '.join(found)}) must have the arguments {text}{because}")
        for name in self.updates:
            if name in ("none", "U", "grad_U") or not _NAME.fullmatch(name):
                raise self.wrong(
                    f"an update cannot be called {name!r}: use small letters, digits and _, but not 'none'"
                )
        if not comes_with_mahmc(self.cls.__module__):
            self._refuse_text()
        for name, function in self.updates.items():
            cost = function.cost_in_leapfrogs
            if not isinstance(cost, int) or isinstance(cost, bool) or cost < 0:
                raise self.wrong(f"{name} has cost_in_leapfrogs = {cost!r}: it must be a whole number, 0 or more")

    def _refuse_half_a_model(self) -> None:
        """`prior` and `simulate` belong together, and there must be data to simulate."""
        there = [name for name in ("prior", "simulate") if hasattr(self.cls, name)]
        if len(there) == 1:
            missing = "simulate" if there == ["prior"] else "prior"
            raise self.wrong(f"{there[0]} is of no use without {OPTIONAL[missing].partition(':')[0]}: add it")
        if there and not self.data_names:
            raise self.wrong(
                "simulate needs data to replace: declare the data as fields without a value, such as y: float"
            )
        for name in getattr(self.cls, "small_values", {}):
            choose(name, PARAMETERS, f"{self.cls.__name__}.small_values: parameter")

    # -------------------------------------------------------------------------------------- its compiled half

    def _roles(self) -> dict[str, str]:
        """The names of the functions that are compiled, with the role of each function."""
        roles = {"U": "U", "grad_U": "grad_U"} | dict.fromkeys(self.updates, "update")
        roles |= dict.fromkeys(self.visits, "visit")
        return roles | ({"step_scale": "step_scale"} if hasattr(self.cls, "step_scale") else {})

    def _refuse_text(self) -> None:
        """Refuse mistakes that can be seen in the text when the class is declared, before anything is compiled."""
        for name, role in self._roles().items():
            try:
                refuse_text(getattr(self.cls, name), role)
            except Mistake as mistake:
                raise self.not_compiled(name, mistake) from None

    def not_compiled(self, function: str, mistake: Mistake) -> InvalidInput:
        """The error for a function that cannot be compiled."""
        return InvalidInput(f"{self.cls.__name__}.{function} cannot be compiled: {mistake}")

    @property
    def data_class(self) -> type:
        """The NamedTuple class of settings and data, to which the compiled functions belong.

        The class is made when it is first needed: only then does everything exist that these functions use.
        """
        with _COMPILING:
            if self._data_class is None:
                self._data_class = self._compile()
            return self._data_class

    def _prepared(self) -> dict[str, Any]:
        functions = {}
        for name, role in self._roles().items():
            try:
                functions[name] = self.compiled.compiled(getattr(self.cls, name), role)
            except Mistake as mistake:
                raise self.not_compiled(name, mistake) from None
        return functions

    def _compile(self) -> type:
        cls: Any = self.cls
        self.compiled = Prepared(cls, self.compiled.fields)  # nothing of an attempt that failed is left
        functions = self._prepared()
        key = self.compiled.key_of(tuple(self._roles().items()))
        data, new = data_class(f"_{cls.__name__}_data", list(self.compiled.fields), key)
        self.compiled.belong_to(data)
        if not new:
            return data
        keep_apart(data, key)
        energy, gradient = functions["U"], functions["grad_U"]
        visits = {name: visited_by(functions[name]) for name in self.visits}
        updates = [as_update(visits[name]) if name in visits else functions[name].py_func for name in self.updates]
        if self.updates:
            implements(U, data)(lambda target, q, other: energy(target, q, other))
            implements(grad_U, data)(lambda target, q, other, grad: gradient(target, q, other, grad))
        else:
            implements(U, data)(lambda target, q, other: energy(target, q))
            implements(grad_U, data)(lambda target, q, other, grad: gradient(target, q, grad))
        if visits:
            numbers = {name: number for number, name in enumerate(self.updates)}
            implements(visit_where, data)(any_visit({numbers[name]: function for name, function in visits.items()}))
        implements(potential, data)(_potential)
        implements(update_where, data)(_any_of(updates))
        if hasattr(cls, "step_scale"):
            scale = functions["step_scale"]
            implements(step_scale, data)(lambda target, other: _splat(scale(target, _rows(other))))
        else:
            implements(step_scale, data)(_no_scale)
        return data

    # -------------------------------------------------------------------------------------------- building it

    def build(self, **chosen: Any) -> Target:
        """Build the target with these settings and data; it is checked when they are used for the first time."""
        known = {p.name: p for p in self.parameters}
        for name in chosen:
            choose(name, (*known, *self.data_names), f"{self.cls.__name__} setting")
        values = tuple((name, p.check(chosen.get(name, p.default))) for name, p in known.items())
        there = [name for name in self.data_names if chosen.get(name) is not None]
        given = {
            name: np.array(self._plain(name, chosen[name])) for name in there
        }  # copies: later changes are not seen
        return self._built(values, GivenData(given)).target

    def _checked(self, values: tuple[tuple[str, Any], ...], given: GivenData) -> CustomTarget:
        if comes_with_mahmc(self.cls.__module__):  # the tests of mahmc check its examples
            return self.custom(values, given=given)
        try:
            custom = self.custom(values, given=given)
            check(custom)
            return custom
        except InvalidInput:
            raise
        except Exception as error:  # in a function that a person wrote
            file = getattr(sys.modules.get(self.cls.__module__), "__file__", None)
            places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
            where = f", line {places[-1].lineno}, in {places[-1].name}" if places else ""
            raise self.wrong(f"{type(error).__name__}{where}: {error}") from error

    def custom(
        self,
        values: tuple[tuple[str, Any], ...],
        simulated: Mapping[str, Any] | None = None,
        given: GivenData = NO_DATA,
    ) -> CustomTarget:
        """The target with these settings, and what the class declares.

        The data are simulated data, or given data together with the data of `data(self)`.
        """
        me: Any = object.__new__(self.cls)
        vars(me).update(values)
        data = self._data(me, given) if simulated is None else simulated
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
        density = Density(
            data=self.data_class(**(fields or {"nothing": 0.0})),
            quantities=quantities,
            dim=dim,
            n_other=n_other,
            start=me.start if hasattr(me, "start") else lambda rng: any_start(variables, rng),
            pack=lambda draws: pack(variables, draws),
            updates=tuple(self.updates),
            default_update=next(iter(self.updates), "none"),
            sweeps=tuple(name for name, function in self.updates.items() if not function.reversible),
            cost_in_leapfrogs={name: function.cost_in_leapfrogs for name, function in self.updates.items()},
            stable_epsilon=me.stable_epsilon() if hasattr(me, "stable_epsilon") else None,
            sites=n_other if self.visits else 0,
            site_updates=self.visits,
            arrays=given.fields | {name: x for name, x in fields.items() if isinstance(x, np.ndarray)},
        )
        truth = KnownTruth(
            exact=getattr(me, "exact", None),
            make_scalars=getattr(me, "truth", dict),
            small=(lambda: self.build(**self._small(me, given))) if hasattr(me, "small") else None,
            small_values=dict(getattr(me, "small_values", {})),
            model=self._model(me, values, data) if hasattr(me, "prior") else None,
        )
        presentation = Presentation(
            self.title,
            self.about,
            main_quantity=getattr(me, "watch", names[0]),
            views=getattr(me, "views", Views()),
            derived=self._derived(me, "derived", values, quantities),
            compared=self._derived(me, "compared", values, quantities),
            coefficients=self._coefficients(quantities),
            budget=getattr(me, "budget", Presentation.budget),
            full_budget=getattr(me, "full_budget", Presentation.full_budget),
        )
        if hasattr(me, "small"):
            self._small(me, given)  # raises InvalidInput for a wrong small version
        fingerprint = given.fingerprint if simulated is None else "simulated"
        built = Target(self.name, dict(values), density, truth, presentation, fingerprint)
        return CustomTarget(built, variables, self.updates, self.cls, self.compiled)

    def _coefficients(self, quantities: tuple[Quantity, ...]) -> str:
        """The vector whose means are shown against their true values, if the class names one."""
        name = getattr(self.cls, "coefficients", "")
        known = [quantity.name for quantity in quantities if quantity.vector]
        return choose(name, known, f"{self.cls.__name__}.coefficients: vector") if name else ""

    def _derived(
        self, me: Any, function: str, values: tuple[tuple[str, Any], ...], quantities: tuple[Quantity, ...]
    ) -> dict[str, Derived]:
        """The functions of `derived` or `compared`, with the names that each function reads, which are found once."""
        given = dict(getattr(me, function)()) if hasattr(me, function) else {}
        for name, plain in given.items():
            if (function, name, values) not in self._reads:
                try:
                    self._reads[function, name, values] = Derived.inferred(plain, quantities).reads
                except Exception as error:
                    raise InvalidInput(
                        f"{self.cls.__name__}.{function} [{name!r}] cannot be computed from the draws: {error!r}."
                    ) from error
        return {name: Derived(plain, self._reads[function, name, values]) for name, plain in given.items()}

    def _small(self, me: Any, given: GivenData) -> dict[str, Any]:
        """The settings and data of the small version: those of this target, except for those that `small` returns."""
        known = {p.name: p for p in self.parameters}
        chosen = dict(me.small())
        for name, value in chosen.items():
            if choose(name, (*known, *self.data_names), f"{self.cls.__name__}.small: setting") in known:
                known[name].check(value)
        return {name: getattr(me, name) for name in known} | given.fields | chosen

    def _model(self, me: Any, values: tuple[tuple[str, Any], ...], made: Mapping[str, Any]) -> Model:
        def simulate(parameters: Draws, rng: np.random.Generator) -> dict[str, np.ndarray]:
            n = len(next(iter(parameters.values())))
            sets = [{name: x[i] for name, x in parameters.items()} for i in range(n)]
            rows = [self._simulated(me.simulate(one, rng), made) for one in sets]
            return {name: np.array([row[name] for row in rows]) for name in rows[0]}

        def with_data(fields: Mapping[str, Any]) -> Target:
            return self.custom(values, {**made, **self._simulated(fields, made)}).target

        return Model(me.prior, simulate, with_data)

    def _simulated(self, fields: Any, made: Mapping[str, Any]) -> dict[str, Any]:
        """Simulated data for kernels: numbers with the shape and type of those that `data(self)` makes."""
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

    def _data(self, me: Any, given: GivenData) -> dict[str, Any]:
        """The fields without a value: given data, and the data that `data(self)` makes, which can read given data."""
        vars(me).update({name: self._plain(name, value) for name, value in given.fields.items()})
        made = (deepcopy(dict(me.data())) if hasattr(me, "data") else {}) | given.fields
        if set(made) != set(self.data_names):
            missing, more = sorted(set(self.data_names) - set(made)), sorted(set(made) - set(self.data_names))
            example = ", ".join(f"{name}=…" for name in missing)
            raise self.wrong(
                "data(self) must return all fields that are declared without a value"
                + (f"; {', '.join(missing)} is missing" if missing else "")
                + (f"; {', '.join(more)} is not declared" if more else "")
                + (f". Or pass the missing data: {self.cls.__name__}({example})" if missing else "")
            )
        return {name: self._plain(name, value) for name, value in made.items()}

    def _plain(self, name: str, value: Any) -> Any:
        """A number or a contiguous array of numbers, for kernels."""
        if isinstance(value, bool | int | float):
            return value
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise self.wrong(f"data {name!r} must be numbers or arrays of numbers, not {type(value).__name__}")
        kind: Any = {"f": np.float64, "b": np.bool_}.get(array.dtype.kind, np.int64)
        array = np.asarray(array, kind, order="C")
        if not np.isfinite(array).all():
            raise self.wrong(f"data {name!r} has values that are not finite")
        return array if array.ndim else array.item()

    def _variables(self, me: Any) -> tuple[Variable, ...]:
        declared = me.variables()
        declared = (declared,) if isinstance(declared, Variable) else tuple(declared)
        names = set(EXTRA_QUANTITIES)
        for v in declared:
            if not isinstance(v, Variable):
                raise self.wrong(f"variables(self) returns {v!r}: make each by real(name, size), discrete(name, size)")
            self._refuse_bad_name(v, names)
            self._refuse_bad_variable(v)
            names.add(v.name)
        self._refuse_bad_sides(declared, hasattr(me, "start"))
        placed, used = [], {False: 0, True: 0}
        for v in declared:
            placed.append(replace(v, first=used[v.other], values=tuple(sorted(int(x) for x in v.values))))
            used[v.other] += v.rows
        return tuple(placed)

    def _refuse_bad_name(self, v: Variable, names: set[str]) -> None:
        if not isinstance(v.name, str) or not v.name.isidentifier():
            raise self.wrong(f"a variable cannot be called {v.name!r}: use a valid Python name")
        if v.name in names:
            reason = "is recorded for every target" if v.name in EXTRA_QUANTITIES else "is declared twice"
            raise self.wrong(f"variable {v.name!r} {reason}; choose another name")

    def _refuse_bad_variable(self, v: Variable) -> None:
        if v.size is not None and (not isinstance(v.size, int | np.integer) or v.size < 1):
            raise self.wrong(f"variable {v.name!r} has size {v.size!r}: it must be a whole number of at least 1")
        if not v.low < v.high or (not v.other and (v.low, v.high) != (-np.inf, np.inf)):
            raise self.wrong(
                f"variable {v.name!r} has bounds {v.low:g}, {v.high:g}: only a real variable of qᴼ can have bounds, "
                "and low must be below high"
            )
        if v.values and (len(set(v.values)) < 2 or not all(x == int(x) and LEAST <= x <= MOST for x in v.values)):
            raise self.wrong(
                f"variable {v.name!r} has values {str(v.values)[:60]}: "
                f"give two or more whole numbers from {LEAST} to {MOST}"
            )

    def _refuse_bad_sides(self, declared: tuple[Variable, ...], has_start: bool) -> None:
        """Refuse variables of q^H and q^O that do not fit to each other, to the updates, or to `start`."""
        if not any(not v.other for v in declared):
            raise self.wrong("variables(self) has no real(…) of qᴴ, so leapfrogs have nothing to move")
        if any(v.other for v in declared) != bool(self.updates):
            raise self.wrong(
                "there is a variable of qᴼ, but no update: mark a function with @update"
                if not self.updates
                else f"there is an update, {next(iter(self.updates))}, but no variable of qᴼ for it"
            )
        real_others = [v.name for v in declared if v.other and not v.values]
        if self.visits and real_others:
            raise self.wrong(
                f"{self.visits[0]} visits discrete variables one by one, and {real_others[0]} of qᴼ is real: mark it "
                "with @update, or make all of qᴼ discrete"
            )
        if real_others and not has_start:
            raise self.wrong(f"the start of {real_others[0]} is not known: write start(self, rng)")


# ------------------------------------------------------------------------------------------------ compiled parts


def _potential(target, q, other, grad, scratch):
    """Write ∇U and return U. If the caller uses only ∇U, the compiler leaves out the computation of U."""
    grad_U(target, _rows(q), _rows(other), _rows(grad))
    return _splat(U(target, _rows(q), _rows(other)))


def _no_scale(target, other):
    return _splat(1.0)


def _outcome(result):
    """(ΔU, accepted) for each lane, from ΔU or from (ΔU, accepted)."""
    raise NotImplementedError("compiled code only")


@overload(_outcome, jit_options=INLINED, strict=False)
def _choose_outcome(result):
    if isinstance(result, types.BaseTuple):
        return lambda result: (_splat(result[0]), _everywhere(result[1]))
    return lambda result: (_splat(result), _everywhere(True))


def _any_of(functions: list[Callable[..., Any]]) -> Callable[..., Any]:
    """Make `update_where` from the updates: it makes the update number `index` in the selected lanes."""
    if not functions:
        return lambda target, index, selected, point, backup: (_splat(0.0), _everywhere(False))
    function, number = inlined(functions[-1]), len(functions) - 1

    def last(target, index, selected, point, backup):
        q, other, grad, rng = point
        if not selected.partial:
            return _outcome(function(target, _rows(q), _rows(other), _rows(grad), rng))
        mask = selected.mask
        result = function(target, _rows(q), _rows_where(other, mask), _rows_where(grad, mask), rng)
        delta_U, accepted = _outcome(result)
        return _where(mask, delta_U, 0.0), accepted & mask

    if number == 0:
        return last
    this, others = inlined(last), inlined(_any_of(functions[:-1]))

    def chosen(target, index, selected, point, backup):
        if index == number:
            return this(target, index, selected, point, backup)
        return others(target, index, selected, point, backup)

    return chosen


# ---------------------------------------------------------------------------------------------------- small parts


def _hyphenated(name: str) -> str:
    """The name of a target from the name of its class: "spike-slab" for SpikeSlab."""
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
    """The default range of a slider: from a tenth of the default value to ten times the default value."""
    value = parameter.default
    low, high = (value / 10, value * 10) if value > 0 else (value - 10, value + 10)
    if parameter.kind == "int":
        low, high = np.floor(low), np.ceil(high)
    return float(max(low, parameter.low)), float(min(high, parameter.high))
