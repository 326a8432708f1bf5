"""Numbers in messages. Advice is rounded to the safe side, so that a limit is never shown larger than it is."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal


def exact(number: float) -> str:
    """A number in few digits if these are all its digits, else in full.

    Parameters
    ----------
    number
        The number.

    Returns
    -------
    str
        The text, which reads back as the same number.

    Examples
    --------
    >>> from mahmc.numerals import exact
    >>> exact(1e7), exact(2**53 - 1), exact(0.123456789)
    ('1e+07', '9007199254740991', '0.123456789')
    """
    text = f"{number:g}"
    return text if float(text) == number else repr(int(number) if float(number).is_integer() else float(number))


def rounded_down(number: float, digits: int = 3) -> str:
    """A number with so many significant digits, never above the number itself: for "take less than …".

    Parameters
    ----------
    number
        The number.
    digits
        The number of significant digits.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> mahmc.numerals.rounded_down(0.05657), mahmc.numerals.rounded_down(0.6)
    ('0.0565', '0.6')
    """
    return _rounded(number, digits, ROUND_FLOOR)


def rounded_up(number: float, digits: int = 3) -> str:
    """A number with so many significant digits, never below the number itself: for "take more than …".

    Parameters
    ----------
    number
        The number.
    digits
        The number of significant digits.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> mahmc.numerals.rounded_up(1.01004), mahmc.numerals.rounded_up(1.01004, 4)
    ('1.02', '1.011')
    """
    return _rounded(number, digits, ROUND_CEILING)


def _rounded(number: float, digits: int, rounding: str) -> str:
    whole = Decimal(repr(float(number)))
    if not whole.is_finite() or not whole:
        return f"{number:g}"
    return f"{float(whole.quantize(Decimal(1).scaleb(whole.adjusted() - digits + 1), rounding)):.{digits}g}"
