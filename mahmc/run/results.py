"""Results of chains: draws, the precision of estimates, and reasons not to trust them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mahmc import diagnostics
from mahmc.parameters import InvalidInput
from mahmc.run.display import as_html, in_one_line
from mahmc.run.measures import Measured
from mahmc.run.problems import problems
from mahmc.run.recording import Recording
from mahmc.run.summaries import summary
from mahmc.spec import RunSpec
from mahmc.targets import Target, elements

if TYPE_CHECKING:
    import pandas as pd


def scalar_names(spec: RunSpec, target: Target) -> tuple[str, ...]:
    """The names of all scalar quantities that a run of this spec records, or that can be computed from them."""
    kept = spec.keep
    recorded = [e for q in target.density.quantities if q.name in kept for e in elements(q)]
    derived = [n for n, function in target.presentation.derived.items() if set(function.reads) <= set(kept)]
    momentum = [f"momentum[{i}]" for i in range(target.density.dim)] if "momentum" in kept else []
    return (*recorded, *derived, *(n for n in ("energy", "slice") if n in kept), *momentum)


class Results(Measured):
    """The results of chains so far. `Run` adds methods that advance the chains.

    Results may be read at any time, from another thread too: finished draws do not change.
    """

    seconds: float
    _recording: Recording

    @property
    def done(self) -> int:
        """Recorded draws of every chain so far, the warm-up's included."""
        raise NotImplementedError

    # ----------------------------------------------------------------------------------------------- draws

    @property
    def draws(self) -> dict[str, np.ndarray]:
        """The draws after the warm-up, by quantity: (chains, draws), or (chains, draws, size)."""
        return self._recording.quantities(self.spec.warmup, max(self.done, self.spec.warmup))

    @property
    def warmup_draws(self) -> dict[str, np.ndarray]:
        """The draws of the warm-up, in the same form."""
        return self._recording.quantities(0, min(self.done, self.spec.warmup))

    @property
    def draws_done(self) -> int:
        """The number of draws of each chain after the warm-up."""
        return max(0, self.done - self.spec.warmup)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all scalar quantities that were recorded, or that can be computed from them."""
        return scalar_names(self.spec, self.target)

    def get(self, name: str, warmup: bool = False) -> np.ndarray:
        """The draws of one quantity: recorded ("w"), an element ("w[3]"), or computed from recorded ones ("ones").

        Parameters
        ----------
        name
            The quantity; `run.names` lists the scalar ones.
        warmup
            Whether to return the draws of the warm-up instead of the draws after it.

        Returns
        -------
        numpy.ndarray
            An array (chains, draws), or (chains, draws, size) for a vector.

        Raises
        ------
        InvalidInput
            If the quantity was not recorded.

        Examples
        --------
        >>> mahmc.sample("mdc", "hmc", chains=4, draws=50, warn=False).get("ones").shape
        (4, 50)
        """
        draws = self.warmup_draws if warmup else self.draws
        if name in draws:
            return draws[name]
        if name in self.target.presentation.derived:
            try:
                return self.target.presentation.derived[name](draws)
            except KeyError as missing:
                raise InvalidInput(f"{name} needs {missing}, which was not recorded: add it to keep.") from None
        base, bracket, index = name.partition("[")
        if bracket and base in draws and index[:-1].isdigit() and int(index[:-1]) < draws[base].shape[-1]:
            return draws[base][..., int(index[:-1])]
        raise InvalidInput(f"{name!r} was not recorded. There are: {', '.join(self.names)}.")

    # ----------------------------------------------------------------------------------------- diagnostics

    def ess(self, name: str, kind: str = "bulk") -> float | np.ndarray:
        """Effective sample size by ArviZ.

        Parameters
        ----------
        name
            A quantity, as `get` takes it.
        kind
            "bulk", "tail", or another method of ArviZ.

        Returns
        -------
        float or numpy.ndarray
            One value, or for a vector one value for each element; NaN (undefined) if chains never moved.

        Examples
        --------
        >>> run = mahmc.sample("mdc", "mahmc", draws=1_000)
        >>> run.ess("u") > 1_000
        True
        """
        return diagnostics.by_element(diagnostics.ess, self.get(name), kind)

    def rhat(self, name: str) -> float | np.ndarray:
        """Rank-normalised split R-hat by ArviZ.

        Parameters
        ----------
        name
            A quantity, as `get` takes it.

        Returns
        -------
        float or numpy.ndarray
            One value, or for a vector one value for each element; NaN where undefined. Above 1.01, chains do not agree.

        Examples
        --------
        >>> run = mahmc.sample("mdc", "mahmc", draws=1_000)
        >>> run.rhat("u") < 1.01
        True
        """
        return diagnostics.by_element(diagnostics.rhat, self.get(name))

    def mcse(self, name: str, kind: str = "mean") -> float | np.ndarray:
        """Monte Carlo standard error by ArviZ.

        Parameters
        ----------
        name
            A quantity, as `get` takes it.
        kind
            The estimate whose error is wanted: "mean" or "sd".

        Returns
        -------
        float or numpy.ndarray
            One value, or for a vector one value for each element; NaN where undefined.

        Examples
        --------
        >>> run = mahmc.sample("mdc", "mahmc", draws=1_000)
        >>> run.mcse("u") < 0.05
        True
        """
        return diagnostics.by_element(diagnostics.mcse, self.get(name), kind)

    def ess_per_gradient(self, name: str) -> float | np.ndarray:
        """The paper's measure: bulk ESS divided by the leapfrogs that the draws after the warm-up took.

        Parameters
        ----------
        name
            A quantity, as `get` takes it.

        Returns
        -------
        float or numpy.ndarray
            One value, or for a vector one value for each element; NaN where undefined.

        Examples
        --------
        >>> 0.01 < mahmc.sample("mdc", "mahmc", draws=1_000).ess_per_gradient("u") < 0.03
        True
        """
        return self.ess(name) / self.drawing["leapfrogs"]

    @property
    def warnings(self) -> list[str]:
        """Reasons not to trust the draws. Each text says what to do; the rules are in `mahmc.run.problems`."""
        return problems(self)

    def summary(self, names: Iterable[str] | None = None) -> pd.DataFrame:
        """Estimates of scalar quantities and their precision, as a pandas table.

        Parameters
        ----------
        names
            Scalar quantities; by default all of `run.names`.

        Returns
        -------
        pandas.DataFrame
            A row for each quantity: mean, sd, mcse (of the mean), ess_bulk, ess_tail, r_hat, truth (the exact mean or
            that of a reference, if known) and warning. Undefined values are NaN. `attrs["warnings"]` has the warnings
            about the whole run, as in `run.warnings`.

        Raises
        ------
        InvalidInput
            If a quantity was not recorded, or if there are no draws yet.

        Examples
        --------
        >>> mahmc.sample("gmm", "mahmc", draws=500).summary().columns.tolist()
        ['mean', 'sd', 'mcse', 'ess_bulk', 'ess_tail', 'r_hat', 'truth', 'warning']
        """
        return summary(self, names)

    def to_arviz(self) -> Any:
        """The run as a container of ArviZ: InferenceData for ArviZ 0.x, DataTree for 1.0 and later.

        Returns
        -------
        arviz.InferenceData or xarray.DataTree
            The groups are `posterior`, `sample_stats` and, if there is a warm-up, `warmup_posterior` and
            `warmup_sample_stats`; see `mahmc.diagnostics.to_arviz`.

        Examples
        --------
        >>> data = mahmc.sample("gmm", "mahmc", chains=4, draws=100, warn=False).to_arviz()
        >>> dict(data["posterior"].sizes)
        {'chain': 4, 'draw': 100}
        """
        return diagnostics.to_arviz(self)

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Write draws, warm-up, acceptance and the spec to a NetCDF file that ArviZ opens.

        This file is for analysing draws. To go on with a run later, use `run.save`.

        Parameters
        ----------
        path
            The file. An existing file is replaced.

        Examples
        --------
        >>> mahmc.sample("gmm", "mahmc", draws=100, warn=False).to_netcdf("draws.nc")
        """
        self.to_arviz().to_netcdf(os.fspath(path), engine="h5netcdf")

    # ---------------------------------------------------------------------------------------------- display

    def __repr__(self) -> str:
        return in_one_line(self)

    def _repr_html_(self) -> str:
        return as_html(self)
