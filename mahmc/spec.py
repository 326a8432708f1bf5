"""RunSpec: everything that determines the draws of a run, as plain values. They are validated here, and only here."""

from __future__ import annotations

import ast
import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from mahmc import schedules, targets
from mahmc.glossary import TERMS
from mahmc.parameters import InvalidInput, Parameter, choose
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, Sampler
from mahmc.schedules import Schedule
from mahmc.targets import FAMILIES, Target

RUN_PARAMETERS = {
    p.name: p
    for p in (
        Parameter(
            "chains", "", *TERMS["chains"],
            kind="int", low=1, high=10**7, slider=(1, 64), default=16,
        ),
        Parameter(
            "draws", "", *TERMS["draws"],
            kind="int", low=1, high=10**9, slider=(100, 1_000_000), log=True, default=2_000,
        ),
        Parameter(
            "warmup", "", *TERMS["warmup"],
            kind="int", low=0, high=10**9, slider=(0, 100_000), default=200,
        ),
        Parameter(
            "thin", "", *TERMS["thin"],
            kind="int", low=1, high=10**6, slider=(1, 100), default=1,
        ),
        Parameter(
            "seed", "", *TERMS["seed"],
            kind="int", low=0, high=2**53 - 1, default=0,
        ),
    )
}  # fmt: skip
NEW_SEEDS = 10**9  # a new seed is smaller: short enough to read and type
STARTS = ("default", "exact")
EXTRA_QUANTITIES = ("energy", "momentum", "slice")
ALTERNATE, NONE = "alternate", "none"
MOST_WORDS = 60  # letters of a schedule in a summary
_CHOICES = ("target", "sampler", "update", "outer", "schedule", "start", "keep", "data")
OF_ALTERNATE = ("L", "n_u")  # parameters that another schedule replaces


@dataclass(frozen=True)
class RunSpec:
    """A run: target, sampler, their parameters and the numbers of chains and draws. `RunSpec.of` fills in defaults.

    A spec is flat, frozen and hashable. `to_json`, `to_query` and `to_python` write it; `from_…` read it back.
    """

    target: str
    sampler: str
    chains: int
    draws: int
    warmup: int
    thin: int
    seed: int
    update: str  # the target's updates that D may have, separated by commas; its digits count them from 1
    outer: str  # the update after a trajectory, or "none"
    start: str
    keep: tuple[str, ...]
    parameters: tuple[tuple[str, Any], ...]  # the sampler's, in its order
    settings: tuple[tuple[str, Any], ...]  # the target's, in its order
    sites: int = 0  # the target's discrete variables that can be visited one by one; the other fields determine it
    schedule: str = ""  # P^D as text, for samplers with a schedule; "alternate" means that L and n_u define it
    data: str = ""  # fingerprint of a user's own data; empty for the usual data of the target

    # ------------------------------------------------------------------------------------------ building

    @classmethod
    def of(cls, target: str | Target, sampler: str, **chosen: Any) -> RunSpec:
        """The spec with these choices. Everything else has the paper's best value, or the default.

        Parameters
        ----------
        target
            A target by name, or a built target.
        sampler
            A sampler by name.
        **chosen
            Parameters of the sampler and of the run, as `mahmc.sample` takes them, and settings of a target that is
            given by name.

        Returns
        -------
        RunSpec
            The validated spec.

        Raises
        ------
        InvalidInput
            If a choice is unknown or not allowed. The message says what is allowed.

        Examples
        --------
        >>> mahmc.RunSpec.of("gmm", "mahmc", epsilon=0.2, draws=500).values["epsilon"]
        0.2
        """
        built, rest = built_target(target, chosen)
        method = EVERY_SAMPLER[choose(sampler, EVERY_SAMPLER, "sampler")]
        _refuse_target(built, method)
        schedule = _checked_schedule(rest, method)
        names = tuple(n for n in method.parameters if schedule in ("", ALTERNATE) or n not in OF_ALTERNATE)
        _refuse_unknown(rest, built, method, names, schedule)
        parameters = method.defaults(built.name)
        for name in names:
            parameters[name] = PARAMETERS[name].check(_given(rest, name, parameters[name]))
        run = {name: p.check(_given(rest, name, p.default)) for name, p in RUN_PARAMETERS.items()}
        run["seed"] = checked_seed(rest.get("seed", 0))
        updates = _checked_updates(rest.get("update"), built, method)
        outer = _checked_outer(rest.get("outer"), updates, built, method)
        start = choose(_given(rest, "start", "default"), STARTS, "start")
        if start == "exact" and built.truth.exact is None:
            raise InvalidInput(f"start = 'exact' is not possible: {built.name} has no exact sampler. Use 'default'.")
        spec = cls(
            target=built.name,
            sampler=method.name,
            **run,
            update=",".join(updates) or NONE,
            outer=outer,
            start=start,
            keep=_checked_keep(rest.get("keep"), built),
            parameters=tuple((name, parameters[name]) for name in names),
            settings=tuple(built.settings.items()),
            sites=built.density.sites,
            schedule=schedule,
            data=built.fingerprint,
        )
        _refuse_unmatched(spec)
        return spec

    def with_(self, **changes: Any) -> RunSpec:
        """The spec with some values changed, validated anew.

        Parameters
        ----------
        **changes
            The new values by name. A new target or sampler brings its own defaults.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If a name is unknown or a value is not allowed.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.with_(L=5).values
        {'epsilon': 0.03, 'L': 5}
        """
        old, dropped = self.to_dict(), set()
        if changes.get("target", self.target) != self.target:
            dropped = {*dict(self.settings), *dict(self.parameters), "update", "outer", "schedule", "keep"}
        elif changes.get("sampler", self.sampler) != self.sampler:
            dropped = {*dict(self.parameters), "outer", "schedule"} | ({"update"} if "," in self.update else set())
        if changes.get("schedule", self.schedule) != self.schedule:
            dropped |= set(OF_ALTERNATE)
        if "update" in changes and (self.outer,) == self.updates[:1]:
            dropped |= {"outer"}
        return RunSpec.from_dict({name: value for name, value in old.items() if name not in dropped} | changes)

    def on(self, target: Target, **changes: Any) -> RunSpec:
        """The spec with some values changed, on a built target.

        Parameters
        ----------
        target
            The target. It may have other settings or other data.
        **changes
            The new values by name.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If a name is unknown or a value is not allowed.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.on(mahmc.targets.mdc(n_w=3)).settings
        (('n_w', 3), ('sd', 0.04))
        """
        names = (*RUN_PARAMETERS, "update", "outer", "schedule", "start", "keep")
        return RunSpec.of(target, self.sampler, **self.values | {n: getattr(self, n) for n in names} | changes)

    def build_target(self) -> Target:
        """Build the target that this spec names.

        Returns
        -------
        Target
            The target with the settings of the spec.

        Raises
        ------
        InvalidInput
            If the run used a user's data, which the spec does not contain.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.build_target().name
        'mdc'
        """
        if self.data:
            raise InvalidInput(
                f"this run of {self.target} used a user's data (fingerprint {self.data}): pass the target itself, "
                "built with the same X and y."
            )
        return targets.build(self.target, **dict(self.settings))

    # ------------------------------------------------------------------------------------------- reading it

    @property
    def method(self) -> Sampler:
        return EVERY_SAMPLER[self.sampler]

    @property
    def subject(self) -> str:
        """The sampler and the target by their titles: "MALA-PN on MDC"."""
        return f"{self.method.title} on {FAMILIES[self.target].short_title}"

    @property
    def values(self) -> dict[str, Any]:
        """The sampler's parameters by name."""
        return dict(self.parameters)

    @property
    def chosen(self) -> dict[str, Any]:
        """The choices for the sampler: its parameters, the updates, and the schedule if the sampler has one."""
        schedule = {"schedule": self.schedule} if self.schedule else {}
        return {**self.values, "update": self.update, "outer": self.outer, **schedule}

    @property
    def is_of_the_paper(self) -> bool:
        """Whether data, settings of the target, schedule and updates are the paper's. Parameters may differ."""
        if self.data or self.target not in self.method.paper_ess:
            return False
        paper = RunSpec.of(self.target, self.sampler, **self.values)
        return (self.settings, self.chosen) == (paper.settings, paper.chosen)

    @property
    def paper_ess(self) -> float | None:
        """The paper's ESS per leapfrog with exactly these settings; None if the paper has no figure for them."""
        at_best = self.thin == 1 and self.values == self.method.defaults(self.target)
        return self.method.paper_ess[self.target] if at_best and self.is_of_the_paper else None

    @property
    def summary(self) -> str:
        """The choices for the sampler in a few words: its parameters, and other choices that are not the defaults."""
        words = [f"{name} {value:g}" for name, value in self.parameters]
        if self.schedule not in ("", ALTERNATE):
            text = re.sub(r"\d*\.\d{4,}", lambda number: f"{float(number[0]):.3g}", self.schedule)
            words.append(text if len(text) <= MOST_WORDS else f"{text[: MOST_WORDS - 1]}…")
        method = self.method
        if self.updates and self.updates != method.updates(FAMILIES[self.target].build())[:1]:
            words.append(f"update {self.update}")
        if self.outer != usual_outer(self.updates, method):
            words.append(f"outer {self.outer}")
        return ", ".join(words)

    @property
    def updates(self) -> tuple[str, ...]:
        """The names of the updates that D may have."""
        return () if self.update == NONE else tuple(self.update.split(","))

    @property
    def law(self) -> Schedule:
        """P^D, the law of a trajectory's sequence of steps."""
        own = self.schedule not in ("", ALTERNATE)
        return schedules.parse(self.schedule) if own else self.method.law(self.values | {"sites": self.sites})

    @property
    def slots(self) -> int:
        """Recorded draws of each chain, including the warm-up."""
        return self.warmup + self.draws

    @property
    def leapfrogs_per_draw(self) -> float:
        """Leapfrogs between two recorded draws; their mean if the schedule is random."""
        return self.law.leapfrogs * self.thin

    # ------------------------------------------------------------------------------------------ round trips

    def to_dict(self) -> dict[str, Any]:
        """One flat mapping of plain values.

        Returns
        -------
        dict
            The values by name; `from_dict` reads the mapping.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.to_dict()["epsilon"]
        0.03
        """
        derived = ("parameters", "settings", "sites")
        flat = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in derived}
        flat |= dict(self.parameters) | dict(self.settings)
        return {name: value for name, value in flat.items() if value != "" or name not in ("schedule", "data")}

    @classmethod
    def from_dict(cls, flat: Mapping[str, Any]) -> RunSpec:
        """Make the spec from a flat mapping, as `to_dict` makes it.

        Parameters
        ----------
        flat
            The values by name. Only `target` and `sampler` are needed.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If a value is missing, unknown or not allowed, or the run used a user's data.

        Examples
        --------
        >>> mahmc.RunSpec.from_dict({"target": "mdc", "sampler": "hmc"}) == mahmc.RunSpec.of("mdc", "hmc")
        True
        """
        chosen = dict(flat)
        for name in ("target", "sampler"):
            if name not in chosen:
                raise InvalidInput(f"{name} is missing: a run needs a target and a sampler.")
        if chosen.pop("data", ""):
            raise InvalidInput(
                "this run used a user's data, which is not stored with the spec: build the target with the same data."
            )
        return cls.of(chosen.pop("target"), chosen.pop("sampler"), **chosen)

    def to_json(self) -> str:
        """The spec as JSON.

        Returns
        -------
        str
            The text; `from_json` reads it.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> mahmc.RunSpec.from_json(spec.to_json()) == spec
        True
        """
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> RunSpec:
        """Make the spec from JSON, as `to_json` makes it.

        Parameters
        ----------
        text
            A JSON object with target, sampler and their parameters.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If the text is not such an object, or a value is not allowed.

        Examples
        --------
        >>> mahmc.RunSpec.from_json('{"target": "mdc", "sampler": "hmc", "L": 5}').values["L"]
        5
        """
        try:
            flat = json.loads(text)
        except ValueError as error:
            raise InvalidInput(f"not JSON: {error}") from None
        if not isinstance(flat, dict):
            raise InvalidInput("not a run: a JSON object with target, sampler and their parameters is needed.")
        return cls.from_dict(flat)

    def to_query(self) -> str:
        """The spec as the query of a URL, such as target=mdc&sampler=hmc&epsilon=0.035.

        Returns
        -------
        str
            The query, without a question mark; `from_query` reads it.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.to_query().startswith("target=mdc&sampler=hmc")
        True
        """
        return urlencode({name: _as_text(value) for name, value in self.to_dict().items()})

    @classmethod
    def from_query(cls, query: str | Mapping[str, str]) -> RunSpec:
        """Make the spec from the query of a URL.

        Parameters
        ----------
        query
            The query, as text or already split into a mapping.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If a name is unknown, or a value cannot be read or is not allowed.

        Examples
        --------
        >>> mahmc.RunSpec.from_query("target=mdc&sampler=hmc&draws=1e4").draws
        10000
        """
        texts = dict(parse_qsl(query.lstrip("?"), keep_blank_values=True)) if isinstance(query, str) else dict(query)
        known = described(texts.get("target", ""))
        return cls.from_dict({name: _from_text(name, text, known) for name, text in texts.items()})

    def to_python(self) -> str:
        """The line of Python that makes this run.

        Returns
        -------
        str
            The line. For a user's data, the line needs the built target as `target`.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> spec.to_python()[:40]
        "run = mahmc.sample('mdc', 'hmc', chains="
        """
        flat = self.to_dict()
        target, sampler = repr(flat.pop("target")), flat.pop("sampler")
        if flat.pop("data", ""):
            target, flat = "target", {name: v for name, v in flat.items() if name not in dict(self.settings)}
        arguments = ", ".join(f"{name}={value!r}" for name, value in flat.items())
        return f"run = mahmc.sample({target}, {sampler!r}, {arguments})"

    @classmethod
    def from_python(cls, line: str) -> RunSpec:
        """Make the spec from a line of `to_python`. The line is parsed, never executed.

        Parameters
        ----------
        line
            The line of Python.

        Returns
        -------
        RunSpec
            The spec.

        Raises
        ------
        InvalidInput
            If the text is not such a line, or a value is not allowed.

        Examples
        --------
        >>> spec = mahmc.RunSpec.of("mdc", "hmc", epsilon=0.03)
        >>> mahmc.RunSpec.from_python(spec.to_python()) == spec
        True
        """
        try:
            statement = ast.parse(line.strip()).body[0]
            call = statement.value  # type: ignore[attr-defined]
            target, sampler = (ast.literal_eval(argument) for argument in call.args)
            chosen = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords}
        except (SyntaxError, ValueError, AttributeError, IndexError, TypeError):
            raise InvalidInput("not a line of the form run = mahmc.sample('mdc', 'hmc', epsilon=0.035, …)") from None
        return cls.from_dict({"target": target, "sampler": sampler, **chosen})


def checked_seed(seed: int | None) -> int:
    """The seed. None gives a new random seed, which the results keep, so they can be reproduced."""
    return secrets.randbelow(NEW_SEEDS) if seed is None else int(RUN_PARAMETERS["seed"].check(seed))


def described(target: str) -> dict[str, Parameter]:
    """All parameters by name. If several targets have a parameter of the same name, it is the one of this target."""
    families = [*FAMILIES.values(), *([FAMILIES[target]] if target in FAMILIES else [])]
    return {p.name: p for family in families for p in family.parameters} | PARAMETERS | RUN_PARAMETERS


def built_target(target: str | Target, chosen: Mapping[str, Any]) -> tuple[Target, dict[str, Any]]:
    """The target, and the choices that are not settings of the target."""
    if isinstance(target, Target):
        return target, dict(chosen)
    family = targets.family(target)
    own = {p.name for p in family.parameters}
    settings = {name: value for name, value in chosen.items() if name in own and value is not None}
    return family.build(**settings), {name: value for name, value in chosen.items() if name not in own}


def _given(chosen: Mapping[str, Any], name: str, default: Any) -> Any:
    """The choice, or the default where there is none or it is None."""
    value = chosen.get(name)
    return default if value is None else value


def _refuse_unknown(
    chosen: Mapping[str, Any], target: Target, method: Sampler, names: Sequence[str], schedule: str
) -> None:
    known = [*names, *RUN_PARAMETERS, "update", "outer", "schedule", "start", "keep"]
    described_somewhere = described(target.name)
    for name, value in chosen.items():
        if name in known or (value is None and name in described_somewhere):
            continue
        if name in method.parameters:
            raise InvalidInput(
                f"{name} cannot be given with schedule = {schedule:.60}, which determines the leapfrogs and updates. "
                f"Leave {name} out, or take schedule = {ALTERNATE}."
            )
        if name in target.settings:
            raise InvalidInput(
                f"{name} is a setting of {target.name}, which is already built: choose it when you build the target."
            )
        if name in described_somewhere:
            raise InvalidInput(
                f"{name} is not a parameter of {method.name} on {target.name}. "
                f"{method.name} has {', '.join(method.parameters)}; {target.name} has {', '.join(target.settings)}."
            )
        choose(name, [*known, *target.settings], "parameter")


def _checked_schedule(chosen: dict[str, Any], method: Sampler) -> str:
    """The schedule as text. An alternating schedule becomes L and n_u, which are added to `chosen`."""
    schedule = chosen.get("schedule")
    if not method.takes_schedule:
        if schedule:
            able = ", ".join(name for name, other in EVERY_SAMPLER.items() if other.takes_schedule)
            raise InvalidInput(f"{method.name} takes no schedule: leave it out, or take one of the samplers {able}.")
        return ""
    if schedule in (None, "", ALTERNATE):
        return ALTERNATE
    law = schedule if isinstance(schedule, Schedule) else schedules.parse(str(schedule))
    if isinstance(law, schedules.Alternate):
        for name in OF_ALTERNATE:
            if chosen.setdefault(name, getattr(law, name)) != getattr(law, name):
                raise InvalidInput(f"{name} = {chosen[name]!r:.40} and schedule = {law} differ: give one of the two.")
        return ALTERNATE
    return str(law)


def _refuse_target(target: Target, method: Sampler) -> None:
    if not method.takes(target):
        raise InvalidInput(
            f"{method.name} cannot sample {target.name}: it visits discrete variables one by one, and in the qᴼ of "
            f"{target.name} there are none. Take mahmc, whose updates of qᴼ may be of any kind."
        )


def _checked_updates(update: Any, target: Target, method: Sampler) -> tuple[str, ...]:
    """The names of the updates that D may have."""
    if not target.density.updates:
        if update not in (None, "", NONE, ()):
            raise InvalidInput(f"update = {update!r:.40}: {target.name} has no updates of qᴼ. Leave it out.")
        return ()
    known = method.updates(target)
    names = known[:1] if update is None else update.split(",") if isinstance(update, str) else [*update]
    found = tuple(choose(name.strip() if isinstance(name, str) else name, known, "update") for name in names)
    if len(set(found)) < len(found):
        raise InvalidInput(f"update = {','.join(found):.60} names an update twice: name each update once.")
    return found


def usual_outer(updates: Sequence[str], method: Sampler) -> str:
    """The default update after a trajectory: the first of the updates inside, or none."""
    return updates[0] if updates and method.outer else NONE


def _checked_outer(outer: Any, updates: tuple[str, ...], target: Target, method: Sampler) -> str:
    default = usual_outer(updates, method)
    return choose(default if outer in (None, "") else outer, (*target.density.updates, NONE), "outer")


def _refuse_unmatched(spec: RunSpec) -> None:
    """Refuse a number of updates that differs from the number of kinds in the schedule. One may stay unused."""
    used, named = len(spec.law.updates), len(spec.updates)
    missing = used > named and spec.schedule not in ("", ALTERNATE)
    if missing or named > max(1, used):
        schedule = f"schedule = {spec.schedule:.60}" if spec.schedule else spec.sampler
        raise InvalidInput(
            f"update = {spec.update:.60} names {named}, and {schedule} has {used} kinds of update: name {used}, in the "
            "order of the digits of the schedule."
        )


def _checked_keep(keep: Any, target: Target) -> tuple[str, ...]:
    """The quantities to record; by default all quantities of the target and the energy."""
    usual = (*(q.name for q in target.density.quantities), "energy")
    if keep is None:
        return usual
    if isinstance(keep, str):
        keep = [item for item in keep.split(",") if item]
    chosen = tuple(dict.fromkeys(choose(name, (*usual, *EXTRA_QUANTITIES[1:]), "quantity in keep") for name in keep))
    if not chosen:
        raise InvalidInput(f"keep is empty: choose at least one of {', '.join(usual)}.")
    return chosen


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(_as_text(item) for item in value)
    return repr(value) if isinstance(value, float) else str(value)


def _from_text(name: str, text: str, known: Mapping[str, Parameter]) -> Any:
    if name in _CHOICES:
        return text
    if name in known:
        return known[name].parse(text)
    choose(name, [*_CHOICES, *known], "parameter")
    return text
