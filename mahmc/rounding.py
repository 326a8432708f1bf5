"""Functions of numbers whose results are rounded correctly, so that they have the same bits on every processor.

The C library and NumPy choose their code by the processor, and the last bits of a logarithm depend on the code.
"""

from __future__ import annotations

from decimal import Context, Decimal

_EXACT = Context(prec=40)


def log(x: float) -> float:
    """log x for x > 0, rounded correctly.

    Parameters
    ----------
    x
        A number above zero.

    Returns
    -------
    float
        The number nearest to log x.

    Examples
    --------
    >>> mahmc.rounding.log(2.0)
    0.6931471805599453
    """
    return float(_EXACT.ln(Decimal(float(x))))
