"""One value of a page's settings: its kind (how text becomes a value and back), the value now, and its default."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, Self

from mahmc import InvalidInput, Parameter, schedules
from mahmc.spec import ALTERNATE

MOST_LISTED = 12  # options that a message names


class Kind(Protocol):
    """How a value is read from text and written as text. `allowed` completes "must be …"."""

    @property
    def allowed(self) -> str: ...

    def parse(self, text: str) -> Any: ...

    def text(self, value: Any) -> str: ...


@dataclass(frozen=True)
class Number:
    """A number, a list of numbers, or yes or no, as the engine's registry describes it."""

    parameter: Parameter

    @property
    def allowed(self) -> str:
        return self.parameter.range

    def parse(self, text: str) -> Any:
        return self.parameter.parse(text)

    def text(self, value: Any) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, tuple):
            return ",".join(self.text(item) for item in value)
        return repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class OneOf:
    """One of several names."""

    options: Sequence[str]

    @property
    def allowed(self) -> str:
        return f"one of {_listed(self.options)}"

    def parse(self, text: str) -> str:
        if text not in self.options:
            raise InvalidInput(f"must be {self.allowed}")
        return text

    def text(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class SomeOf:
    """Any of several names, separated by commas, in the order that was chosen."""

    options: Sequence[str]

    @property
    def allowed(self) -> str:
        return f"some of {_listed(self.options)}"

    def parse(self, text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name for name in text.split(",") if name))
        if not set(names) <= set(self.options):
            raise InvalidInput(f"must be {self.allowed}")
        return names

    def text(self, value: Sequence[str]) -> str:
        return ",".join(value)


@dataclass(frozen=True)
class Name:
    """The name of a quantity, as "u" or "beta[3]". A page checks later whether its run has this quantity."""

    allowed = "the name of a quantity"

    def parse(self, text: str) -> str:
        if not re.fullmatch(r"[A-Za-z_]\w{0,40}(\[\d{1,6}\])?", text, re.ASCII):
            raise InvalidInput(f"must be {self.allowed}")
        return text

    def text(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Flag:
    """Yes or no."""

    allowed = "0 or 1"

    def parse(self, text: str) -> bool:
        if text not in ("0", "1"):
            raise InvalidInput(f"must be {self.allowed}")
        return text == "1"

    def text(self, value: bool) -> str:
        return str(int(value))


@dataclass(frozen=True)
class ScheduleText:
    """A schedule P^D as text."""

    allowed = "a schedule that can be read, with each sequence's mirror image: " + schedules.FORMS

    def parse(self, text: str) -> str:
        return text if text == ALTERNATE else str(schedules.parse(text))

    def text(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Fingerprint:
    """Uploaded data by fingerprint. A link does not contain data: the reader must have uploaded the same file."""

    allowed = "data that were uploaded in this tab"

    def parse(self, text: str) -> str:
        return text

    def text(self, value: str) -> str:
        return value


@dataclass(frozen=True)
class Entry:
    """One value: its kind, the value now, its default, and where the settings keep it.

    `at` is a field's name, or the names of nested fields, or ("choices", "chosen", *path).
    """

    kind: Kind
    value: Any
    default: Any
    at: tuple[str, ...]


class Refused(NamedTuple):
    """A number that was typed and is not allowed, and why."""

    typed: float
    reason: str


@dataclass(frozen=True)
class Settings:
    """The base of all pages' settings: frozen dataclasses that are changed entry by entry.

    `refused` are the numbers of fields on the screen that are not allowed. Nothing runs until they are mended, because
    the fields show other numbers than a run would have. Links do not have them.
    """

    refused: Mapping[str, Refused] = field(default_factory=dict, kw_only=True)  # by field

    @property
    def unusable(self) -> str:
        """Why these settings cannot be run: what is wrong with the fields; "" if nothing is."""
        return " ".join(refused.reason for refused in self.refused.values())

    def refusing(self, field: str, refused: Refused) -> Self:
        """The settings with a number that is not allowed in this field."""
        return replace(self, refused={**self.refused, field: refused})

    def mended(self, *fields: str) -> Self:
        """The settings without the refused numbers of these fields."""
        return replace(self, refused={name: it for name, it in self.refused.items() if name not in fields})

    def require_usable(self) -> None:
        """Raise InvalidInput if a field shows a number that is not allowed."""
        if self.unusable:
            raise InvalidInput(self.unusable)

    @property
    def subject(self) -> str:
        """What the page is about with these settings, for the title of the browser's tab."""
        return ""

    def entries(self) -> dict[str, Entry]:
        """All values by their name in a link. An entry that others depend on comes first."""
        return {}

    def renamed(self, query: Mapping[str, str]) -> dict[str, str]:
        """A query with the names of earlier versions replaced by the present names."""
        return dict(query)

    def check(self) -> None:
        """Raise InvalidInput if the values do not fit together."""

    def plain(self) -> Self:
        """The settings without the chosen values of target and sampler, for values that do not fit together."""
        return self

    def named(self, *path: str) -> str:
        """The name in links of the entry at this path of `choices.chosen`."""
        return next(name for name, entry in self.entries().items() if entry.at[2:] == path)

    def with_(self, name: str, value: Any) -> Self:
        """The settings with one entry changed."""
        entry = self.entries()[name]
        changed: Self = _changed(self, entry.at, value, value == entry.default)
        return changed


def _changed(holder: Any, at: Sequence[str], value: Any, is_default: bool) -> Any:
    """`holder` with the value at this place changed. `chosen` does not keep a value that is the default."""
    first, *rest = at
    if first == "chosen":
        kept = {path: v for path, v in holder.chosen.items() if path != tuple(rest)}
        return replace(holder, chosen=kept if is_default else kept | {tuple(rest): value})
    if rest:
        return replace(holder, **{first: _changed(getattr(holder, first), rest, value, is_default)})
    return replace(holder, **{first: value})


def _listed(options: Sequence[str]) -> str:
    shown = ", ".join(options[:MOST_LISTED])
    return f"{shown} and {len(options) - MOST_LISTED} more" if len(options) > MOST_LISTED else shown
