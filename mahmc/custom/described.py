"""Names and docstrings of the elementary functions in `tools`, which are all made by the same two functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# What the function computes, and an example: arguments and the rounded result.
ABOUT = {
    "absolute": ("|x|", "-0.5", 0.5),
    "arccos": ("The inverse of cos, on [0, π]", "0.5", 1.047198),
    "arccosh": ("The inverse of cosh, at least 0", "1.5", 0.962424),
    "arcsin": ("The inverse of sin, on [−π/2, π/2]", "0.5", 0.523599),
    "arcsinh": ("The inverse of sinh", "0.5", 0.481212),
    "arctan": ("The inverse of tan, on [−π/2, π/2]", "0.5", 0.463648),
    "arctan2": ("The angle of the point (b, a), on [−π, π]", "3.0, 4.0", 0.643501),
    "arctanh": ("The inverse of tanh", "0.5", 0.549306),
    "ceil": ("The smallest whole number that is not below x", "0.5", 1.0),
    "cos": ("The cosine of x radians", "0.5", 0.877583),
    "cosh": ("(e^x + e^−x)/2", "0.5", 1.127626),
    "digamma": ("ψ(x), the derivative of lgamma", "0.5", -1.96351),
    "erf": ("The error function, 2/√π ∫ e^(−t²) dt from 0 to x", "0.5", 0.5205),
    "erfc": ("1 − erf(x), accurate also where erf(x) is near 1", "0.5", 0.4795),
    "exp": ("e^x", "0.5", 1.648721),
    "expm1": ("e^x − 1, accurate also near 0", "0.5", 0.648721),
    "floor": ("The largest whole number that is not above x", "0.5", 0.0),
    "hypot": ("√(a² + b²)", "3.0, 4.0", 5.0),
    "lgamma": ("log |Γ(x)|", "0.5", 0.572365),
    "log": ("The natural logarithm", "0.5", -0.693147),
    "log1p": ("log(1 + x), accurate also near 0", "0.5", 0.405465),
    "logaddexp": ("log(e^a + e^b), without overflow", "3.0, 4.0", 4.313262),
    "logit": ("log(x/(1 − x)), the inverse of sigmoid", "0.5", 0.0),
    "maximum": ("The larger of two values; NaN if one of them is NaN", "3.0, 4.0", 4.0),
    "minimum": ("The smaller of two values; NaN if one of them is NaN", "3.0, 4.0", 3.0),
    "sigmoid": ("1/(1 + e^−x)", "0.5", 0.622459),
    "sin": ("The sine of x radians", "0.5", 0.479426),
    "sinh": ("(e^x − e^−x)/2", "0.5", 0.521095),
    "softplus": ("log(1 + e^x), without overflow", "0.5", 0.974077),
    "sqrt": ("The square root", "0.5", 0.707107),
    "tan": ("The tangent of x radians", "0.5", 0.546302),
    "tanh": ("The hyperbolic tangent", "0.5", 0.462117),
}
_DOCSTRING = """{about}.

Parameters
----------
{names}
    {given}; in Python also {arrays}.

Returns
-------
quantity, float or numpy.ndarray
    One value for each chain or element.

Examples
--------
>>> round(float(mahmc.custom.{name}({example})), 6)
{result}
"""


def describe(functions: Mapping[str, Any]) -> None:
    """Give each elementary function its name and a docstring."""
    for name, (about, example, result) in ABOUT.items():
        function = functions[name]
        two = "," in example
        function.__name__ = function.__qualname__ = name
        function.__doc__ = _DOCSTRING.format(
            about=about, name=name, names="a, b" if two else "x", example=example, result=result,
            given="Quantities of chains or numbers" if two else "A quantity of chains or a number",
            arrays="arrays" if two else "an array",
        )  # fmt: skip
