"""Eight chains side by side: a compiled type for one quantity of eight chains, and its arithmetic.

All samplers here take the same number of steps for every chain. So eight chains run in lockstep: they are the *lanes*
of a *block*. In compiled code, a quantity in all lanes of a block is one `Lanes` value, which LLVM keeps in a vector
register. Targets and kernels are then written as their equations:

    u, v = load(q, 0), load(q, 1)
    store(grad, 0, u - (v - u) / sd**2 + n * sigmoid(u) - zeros)

There is no loop over chains and no branch by chain: `where(mask, a, b)` chooses by lane. The compiler made vector code
of loops over chains only sometimes; of lanes values it always makes vector code.

In memory, the quantities of a block are rows of arrays of shape (rows, LANES). `load` and `store` move one row.
`rows(q)` is the same array as a sequence of lanes values: q[0] loads a row, and grad[0] = … stores a row.

`types`: the compiled types. `operators`, `values`: arithmetic. `memory`: rows of arrays. `functions`: exp, log and
others, as polynomials. `library`: sin, lgamma and others, one lane after the other. `lookup`: arrays indexed by lanes,
and sums of rows. `matrices`: a matrix of numbers times rows.
"""

from mahmc.lanes import library, lookup, operators  # noqa: F401  (they define operators and indices for numba)
from mahmc.lanes.functions import (
    cos_sin_turns,
    exp,
    exp_of_number,
    expm1,
    is_finite,
    log,
    log1p,
    log_of_number,
    maximum,
    sigmoid,
    sigmoid_softplus,
    tanh,
)
from mahmc.lanes.matrices import multiply
from mahmc.lanes.memory import RowsType, load, rows, rows_where, store
from mahmc.lanes.types import LANES, LanesType, MaskType, WordsType, lanes, mask, words
from mahmc.lanes.values import absolute, as_count, bits_of, everywhere, float_of, floor, lane_value, splat, sqrt, where

__all__ = [
    "LANES", "LanesType", "MaskType", "RowsType", "WordsType", "absolute", "as_count", "bits_of", "cos_sin_turns",
    "everywhere", "exp", "exp_of_number", "expm1", "float_of", "floor", "is_finite", "lane_value", "lanes", "load",
    "log", "log1p", "log_of_number", "mask", "maximum", "multiply", "rows", "rows_where", "sigmoid",
    "sigmoid_softplus", "splat", "sqrt", "store", "tanh", "where", "words",
]  # fmt: skip
