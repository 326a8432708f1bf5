"""P^D: the order of leapfrogs and updates of q^O in a trajectory, and the probability of each order.

See Sec. 3 and Algo. 3 of the paper.

    schedules.alternate(10, 4)                      # 10 leapfrogs, update, 10 leapfrogs, ...: always the same
    schedules.iid(100, leapfrog=0.9)                # each of 100 steps is drawn: a leapfrog, or an update
    schedules.iid(100, 0.8, updates=(0.1, 0.1))     # two kinds of update
    schedules.sequences(["0001000", "5x0 1 0", "0 1 5x0"], weights=[0.4, 0.3, 0.3])

A sequence D has a digit for each step: 0 is a leapfrog, i is the i-th update that the run names. Text may contain
runs, "10x0 1 10x0". Every schedule is a frozen value; `str` writes a schedule as text and `parse` reads the text.

**D and its mirror image.** Algorithm 3 proposes by D, and the reverse move goes by D⁻¹, so the test has the factor
P(D⁻¹)/P(D). If D⁻¹ is never drawn this factor is zero, and such schedules are refused.

**Lockstep and independence.** The chains of a block make their steps together, and yet they must be independent. To
share D would be wrong: given D, one iteration of Algorithm 3 leaves π invariant only on average over D and D⁻¹, so
chains that share D would have the same error, and would be dependent. Instead, a block draws the *unordered* pair
{D, D⁻¹} with probability P(D) + P(D⁻¹), from its own stream. Each chain draws whether it follows D or D⁻¹: it follows D
with probability P(D)/(P(D) + P(D⁻¹)), and uses its own factor P(D⁻¹)/P(D). Given the pair, an iteration is Algorithm 3
with a P^D on two sequences: for every pair, each chain's kernel is reversible with respect to π. So the pair, and the
other chains, say nothing about a chain that has reached π: such chains are independent. The cost is small: D and D⁻¹
have the same number of leapfrogs, so all chains make all leapfrogs together. Only some chains make an update if its
places in D and D⁻¹ differ. If D = D⁻¹, a palindrome, there is no choice.

**Steps that are drawn.** The same argument holds for a list of pairs: for every list, drawing from the list leaves π
invariant. So with `iid` a block keeps up to 32 pairs, and each iteration takes one of these pairs at random. The first
iterations draw a new pair each, until the list is full; from then on every sixteenth iteration replaces the oldest
pair. The D of every iteration has exactly the probability P(D). A pair is used sixteen times on average, within 512
iterations. On GMM, drawing a new pair in every iteration would take a fifth of the time of a trajectory of 100
leapfrogs, and two fifths of the time of a trajectory of 15 leapfrogs.

`steps`: one sequence D, as digits and as text. `laws`: the schedules, with their probabilities and mean numbers of
steps. `constructors`: schedules from numbers that people give. `text`: schedules from text. `plans`: schedules as
kernels read them.
"""

from mahmc.schedules.constructors import alternate, arrivals, iid, mirrored, same_mean, sequences
from mahmc.schedules.laws import IID, Alternate, Arrivals, Asymmetric, Schedule, Sequences, deterministic
from mahmc.schedules.steps import MOST_KINDS, MOST_STEPS, Steps
from mahmc.schedules.text import FORMS, parse, weighted

__all__ = [
    "FORMS", "IID", "MOST_KINDS", "MOST_STEPS", "Alternate", "Arrivals", "Asymmetric", "Schedule", "Sequences", "Steps",
    "alternate", "arrivals", "deterministic", "iid", "mirrored", "parse", "same_mean", "sequences", "weighted",
]  # fmt: skip
