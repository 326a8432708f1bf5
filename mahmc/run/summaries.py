"""Estimates of a run's quantities as a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mahmc import diagnostics
from mahmc.parameters import InvalidInput
from mahmc.run.problems import MOST_RHAT, least_ess

if TYPE_CHECKING:
    import pandas as pd

    from mahmc.run.results import Results


class Statistics(NamedTuple):
    """Estimates of a scalar quantity, NaN where undefined, and its true mean, None where unknown."""

    mean: float
    sd: float
    mcse: float
    ess_bulk: float
    ess_tail: float
    r_hat: float
    truth: float | None

    def warning(self, chains: int) -> str:
        """Reasons not to trust the estimates, in a few words."""
        if math.isnan(self.ess_bulk):
            return "never changed, or too few draws"
        found = [f"R-hat above {MOST_RHAT}"] if self.r_hat > MOST_RHAT else []
        if min(self.ess_bulk, self.ess_tail) < least_ess(chains):
            found.append(f"ESS below {least_ess(chains):,}")
        return ", ".join(found)


def statistics(run: Results, names: Sequence[str]) -> list[Statistics]:
    """The estimates of these scalar quantities."""
    x = {name: run.get(name) for name in names}
    found = diagnostics.of_each(x, ("mcse_mean", "ess_bulk", "ess_tail", "rhat"))
    truths = {name: run.target.truth.of(name) for name in names}
    return [
        Statistics(
            mean=float(x[name].mean()),
            sd=float(x[name].std()),
            mcse=found[name]["mcse_mean"],
            ess_bulk=found[name]["ess_bulk"],
            ess_tail=found[name]["ess_tail"],
            r_hat=found[name]["rhat"],
            truth=float(truth.mean) if truth else None,
        )
        for name, truth in truths.items()
    ]


def summary(run: Results, names: Iterable[str] | None) -> pd.DataFrame:
    """A row of estimates for each quantity; see `Results.summary`."""
    import pandas as pd

    if run.draws_done == 0:
        raise InvalidInput("there are no draws after the warm-up yet, so there is no summary.")
    chosen = list(run.names if names is None else names)
    for name in chosen:
        if run.get(name).ndim > 2:
            raise InvalidInput(f"{name} is a vector: name its elements, as {name}[0], or leave names out for all.")
    found = statistics(run, chosen)
    frame = pd.DataFrame(found, index=pd.Index(chosen, name="quantity"), columns=Statistics._fields)
    frame["truth"] = frame["truth"].astype(float)
    frame["warning"] = [one.warning(run.spec.chains) for one in found]
    frame.attrs["warnings"] = run.warnings
    return frame
