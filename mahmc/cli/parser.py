"""Reading the command line: a parser with helpful refusals, numbers as people write them, and files as targets.

A target may be the name of a target, or file.py:Class for a custom target. file.py is enough if the file has only one
class.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from mahmc.custom import find
from mahmc.parameters import InvalidInput, nearest, whole_number

JSON, QUIET = "--json", ("-q", "--quiet")
_WITHOUT_VALUE = ("-h", "--help", JSON, *QUIET)
_IN_A_FILE = re.compile(r".+\.py(:\w+)?")


class Parser(argparse.ArgumentParser):
    """argparse's parser, except that a mistake is an InvalidInput: one line with the command to type for help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, **options)
        # A word that begins like a number is a value, not an option, as in --means -1,1.
        self._negative_number_matcher = re.compile(r"^-[\d.]")

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        raise InvalidInput(f"{message}. For help: {self.prog} --help")

    def refuse_unknown(self, words: Sequence[str]) -> None:
        """Refuse the words of a command line that no option or argument has taken."""
        for word in words:
            if word.startswith("-"):
                name = word.partition("=")[0]
                near = nearest(name.strip("-"), (option.strip("-") for option in self._option_string_actions))
                hint = f"Did you mean --{near}? " if near else ""
                raise InvalidInput(f"option {name:.60} is unknown. {hint}For help: {self.prog} --help")
            self.error(f"{word!r:.60} is one word too many")


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option that prints results as JSON."""
    parser.add_argument(JSON, action="store_true", help=f"print {what} as JSON, and nothing else")


def add_quiet(parser: argparse.ArgumentParser) -> None:
    """Add the option that hides the progress bar."""
    text = "show no progress bar; a bar needs a terminal in any case"
    parser.add_argument(*QUIET, action="store_true", help=text)


def whole(text: str) -> int:
    """A whole number, as an option's value."""
    try:
        return whole_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r:.60} is not a whole number: write it as 1000000, 1_000_000 or 1e6"
        ) from None


def decimal(text: str) -> float:
    """A number, as an option's value."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a number: write it as 0.5 or 5e-1") from None


def named(target: str) -> str:
    """The name of a target. A target in a file is loaded first."""
    return find(target).name if _IN_A_FILE.fullmatch(target) else target


def with_named_target(arguments: Sequence[str]) -> list[str]:
    """The arguments with a name in place of the target's file, which is loaded because its settings are options.

    The target is the first word that is neither the command, nor an option, nor an option's value.
    """
    words = list(arguments)
    for index in range(1, len(words)):
        before = words[index - 1]
        is_value = before.startswith("-") and "=" not in before and before not in _WITHOUT_VALUE
        if not is_value and not words[index].startswith("-"):
            words[index] = named(words[index])
            break
    return words
