"""The library as its users expect it: in one line, in notebooks, as a table, with a bar, warnings and signatures."""

from __future__ import annotations

import doctest
import inspect
import os
import pty
import re
import sys
import termios
import warnings
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tqdm.auto
import tqdm.notebook

import mahmc
from mahmc import (
    InvalidInput,
    Run,
    RunSpec,
    SamplingWarning,
    checks,
    cli,
    compiled,
    custom,
    diagnostics,
    kernels,
    parameters,
    progress,
    schedules,
    streams,
    targets,
)
from mahmc.checks import new_cell
from mahmc.checks.cells import CASES, Case, Cell
from mahmc.checks.resolution import checked_resolution
from mahmc.custom import described
from mahmc.diagnostics import arviz
from mahmc.run import problems
from mahmc.samplers import PARAMETERS, Sampler
from mahmc.spec import RUN_PARAMETERS
from mahmc.targets import Target

EVIL = "<script>alert(1)</script>"
FINISHED: dict[str, Any] = {"chains": 4, "draws": 400, "seed": 7}


@pytest.fixture(scope="module")
def run() -> Run:
    return mahmc.sample("mdc", "mahmc", **FINISHED)


@pytest.fixture(scope="module")
def comparison() -> mahmc.Comparison:
    return mahmc.compare("gmm", ["hmc", "mahmc"], gradients=64_000, replicates=2, chains=4)


@pytest.fixture(scope="module")
def cell() -> Cell:
    return mahmc.check("gmm", "naive")


# ----------------------------------------------------------------------------------------------------- in one line


def test_a_run_in_one_line(run: Run) -> None:
    assert repr(run) == (
        "<Run of MAHMC on mdc (epsilon 0.04, L 10, n_u 10, seed 7): 4 chains, 400 of 400 draws, "
        f"acceptance {run.acceptance:.3f}>"
    )
    new = Run(RunSpec.of("gmm", "mahmc", draws=5_000, schedule="iid(9, 0.9)"))
    said = "<Run of MAHMC on gmm (epsilon 0.3, iid(9, 0.9), seed 0): 16 chains, 0 of 5,000 draws, nothing tested yet>"
    assert repr(new) == said


def test_a_comparison_in_one_line(comparison: mahmc.Comparison) -> None:
    budget = f"{comparison.budget:,}"
    assert repr(comparison) == f"<Comparison of hmc, mahmc on gmm: 4 of 4 replicates of {budget} leapfrogs, seed 0>"


def test_a_cell_in_one_line(cell: Cell) -> None:
    found = repr(cell)
    assert re.fullmatch(r"<Cell of naive on gmm: wrong by [a-z, ]+>", found)
    assert "marginals" in found
    new = new_cell(CASES["mdc"], "hmc")
    assert repr(new) == f"<Cell of hmc on mdc: 0 of {len(new.checks)} checks are done>"


def test_a_target_in_one_line(any_target: Target) -> None:
    found = repr(any_target)
    assert "\n" not in found
    assert len(found) < 240
    assert found.startswith(f"<Target {any_target.name}(")
    for word in (*(q.name for q in any_target.density.quantities), *any_target.density.updates):
        assert word in found
    assert repr(mahmc.targets.mdc()) == "<Target mdc(n_w=20, sd=0.04): u, v, w; gibbs, metropolis, block for qᴼ>"
    own = mahmc.targets.blr(np.eye(4), [0, 1, 0, 1])
    assert f"data {own.fingerprint}>" in repr(own)
    assert "no qᴼ" in repr(mahmc.targets.build("neals-funnel"))


# ---------------------------------------------------------------------------------------------------- in notebooks


class Tags(HTMLParser):
    """Opening tags less closing ones, and all tags that there are."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_tidy(html: str) -> None:
    found = Tags(html)
    assert found.open == []
    assert found.names <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}


def test_notebooks_show_a_run(run: Run) -> None:
    html = run._repr_html_()
    assert_tidy(html)
    for part in ("MAHMC on MDC", "epsilon 0.04", "400 of 400 on each of 4 chains", f"acceptance {run.acceptance:.3f}"):
        assert part in html
    slow = mahmc.sample("mdc", "mala", **FINISHED)
    assert all(text.replace("&", "&amp;") in slow._repr_html_() for text in slow.warnings)
    assert slow.warnings


def test_notebooks_show_a_comparison(comparison: mahmc.Comparison) -> None:
    html = comparison._repr_html_()
    assert_tidy(html)
    assert str(comparison.figure("mahmc")) in html
    assert html.count("<tr>") == 3
    assert_tidy(mahmc.Comparison("gmm", ["hmc"], gradients=64_000, chains=4)._repr_html_())


def test_notebooks_show_a_cell(cell: Cell) -> None:
    html = cell._repr_html_()
    assert_tidy(html)
    assert "wrong" in html
    assert html.count("<tr>") == len(cell.findings)


def test_what_a_person_named_is_escaped(comparison: mahmc.Comparison, cell: Cell, run: Run) -> None:
    named = mahmc.compare("gmm", {EVIL: {"sampler": "hmc"}}, gradients=64_000, replicates=2, chains=4)
    case = Case("mine", EVIL, "gmm")
    judged = Cell(case, cell.sampler, cell.chosen, cell.target, cell.checks, cell.findings)
    for html in (named._repr_html_(), judged._repr_html_()):
        assert_tidy(html)
        assert "&lt;script&gt;" in html


# --------------------------------------------------------------------------------------------------- as a table


@pytest.mark.quick
def test_the_summary_has_what_the_run_says(run: Run) -> None:
    found = run.summary()
    assert list(found.index) == list(run.names)
    assert list(found.columns) == ["mean", "sd", "mcse", "ess_bulk", "ess_tail", "r_hat", "truth", "warning"]
    for name in ("u", "w[3]", "ones", "energy"):
        row = found.loc[name]
        assert row["mean"] == pytest.approx(run.get(name).mean())
        assert row["sd"] == pytest.approx(run.get(name).std())
        assert (row["mcse"], row["ess_bulk"]) == (run.mcse(name), run.ess(name))
        assert (row["ess_tail"], row["r_hat"]) == (run.ess(name, "tail"), run.rhat(name))
    assert found.loc["u", "truth"] == pytest.approx(0.0)
    assert found.attrs["warnings"] == run.warnings
    assert {str(found[name].dtype) for name in found.columns[:7]} == {"float64"}
    assert list(run.summary(["ones", "u"]).index) == ["ones", "u"]


def test_the_summary_says_which_quantities_are_not_to_be_trusted() -> None:
    found = mahmc.sample("mdc", "mala", chains=4, draws=400).summary()
    assert "R-hat above 1.01" in found.loc["u", "warning"]
    assert "ESS below 400" in found.loc["u", "warning"]
    stuck = mahmc.sample("gmm", "hmc", epsilon=99.0, draws=50, weights=[1.0], means=[0.0], sds=[1.0]).summary()
    assert stuck.loc["q", "warning"] == "never changed, or too few draws"
    assert np.isnan(stuck.loc["q", "ess_bulk"])
    good = mahmc.sample("gmm", "mahmc", weights=[1.0], means=[0.0], sds=[1.0], epsilon=0.5, L=3, draws=4000)
    assert good.summary(["q"]).loc["q", "warning"] == ""
    assert good.summary().attrs["warnings"] == []


def test_a_summary_that_cannot_be_made_is_refused(run: Run) -> None:
    with pytest.raises(InvalidInput, match="There are: u, v"):
        run.summary(["x"])
    with pytest.raises(InvalidInput, match=r"w is a vector: name its elements, as w\[0\]"):
        run.summary(["w"])
    with pytest.raises(InvalidInput, match="no draws after the warm-up yet"):
        Run(run.spec).summary()
    assert isinstance(mahmc.sample("gmm", "hmc", draws=3).summary(), pd.DataFrame)


# -------------------------------------------------------------------------------------------------------- warnings


def warned(**chosen: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        mahmc.sample(**{"target": "mdc", "sampler": "mahmc", **FINISHED, **chosen})
    assert {one.category for one in found} <= {SamplingWarning}
    assert {one.filename for one in found} <= {__file__}, "a warning points at the call"
    return [str(one.message) for one in found]


BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "R-hat": ({"sampler": "mala-p"}, ["R-hat of u is 1.", "ESS of u is"]),
    "not finite": ({"sampler": "hmc", "epsilon": 50.0}, ["proposals had an energy that is not finite"]),
    "stuck": ({"sampler": "hmc", "epsilon": 50.0}, ["Only 0 % of the proposals are accepted", "u never changed"]),
    "in modes": ({"target": "gmm", "sampler": "hmc", "chains": 16}, ["Chains have different means of q"]),
}


@pytest.mark.parametrize(("chosen", "words"), BAD.values(), ids=BAD)
def test_a_run_warns_of_what_speaks_against_it(chosen: dict[str, Any], words: list[str]) -> None:
    said = warned(**chosen)
    for part in words:
        assert len([text for text in said if text.startswith(part) or part in text]) == 1
    assert warned(**chosen, warn=False) == []


def test_a_good_run_and_one_too_short_to_be_judged_warn_of_nothing() -> None:
    assert warned(draws=4000) == []
    assert warned(sampler="mala", draws=diagnostics.FEWEST_DRAWS - 1) == []
    assert warned(sampler="mala", keep=("v",)) == [], "only the main quantity is looked at"


def test_warnings_of_long_and_of_many_chains_look_at_few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ...]] = []

    def look(x: np.ndarray) -> float:
        seen.append(x.shape)
        return 1.0

    monkeypatch.setattr(diagnostics, "ess", look)
    monkeypatch.setattr(diagnostics, "rhat", look)
    for chains, draws in ((2, 50_000), (400, 60), (1600, 8), (3, 9), (120, 900)):
        run = mahmc.sample("mdc", "hmc", L=1, chains=chains, draws=draws, warmup=0, keep=("u",), warn=False)
        seen.clear()
        said = run.warnings
        (n, m), again = seen
        assert (n, m) == again
        assert n * m <= problems.MOST_VALUES
        assert n >= min(chains, problems.MOST_CHAINS // 2)
        assert m >= diagnostics.FEWEST_DRAWS
        assert (n, m) == (chains, draws) or chains > problems.MOST_CHAINS or n * m > problems.MOST_VALUES // 2
        assert ("one draw in 5" in said[-1]) == (draws == 50_000)


def test_many_short_chains_are_not_called_rough() -> None:
    """Each has fewer than 100 draws, and together they have many thousand effective ones."""
    size: dict[str, Any] = {"target": "gmm", "sampler": "hmc", "draws": 60, "epsilon": 0.5, "L": 3}
    size |= {"weights": [1.0], "means": [0.0], "sds": [1.0]}
    assert not [text for text in warned(**size | {"draws": 20}, chains=800) if "rough" in text]
    assert "below 1,600: estimates are rough" in warned(**size, chains=17)[-1]
    assert "below 100 for each of 16 chains" in warned(**size, chains=16)[-1]


def test_the_command_line_has_the_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sample", "mdc", "mala", "--draws", "400", "--chains", "4", "--seed", "7"]
    assert cli.main(arguments) == 0
    said = mahmc.sample("mdc", "mala", **FINISHED).warnings
    assert len(said) == 2
    printed, errors = capsys.readouterr()
    assert [line.removeprefix("warning: ") for line in printed.splitlines() if line.startswith("warning:")] == said
    assert errors == ""


# ---------------------------------------------------------------------------------------------------- the progress bar


class Bar:
    """In the place of tqdm's: notes what is asked of it."""

    made: list[Bar]

    def __init__(self, **options: Any) -> None:
        self.options, self.n, self.disable, self.delay = options, 0, bool(options["disable"]), options["delay"]
        Bar.made.append(self)

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def set_postfix_str(self, words: str, refresh: bool) -> None:
        pass

    def update(self, n: int) -> None:
        self.n += n

    def refresh(self) -> None:
        pass


def test_sampling_moves_a_bar_unless_it_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tqdm.auto, "tqdm", Bar)
    Bar.made = []
    mahmc.sample("gmm", "hmc", draws=3000, warmup=50)
    mahmc.sample("gmm", "hmc", draws=300, progress=False)
    wanted, unwanted = Bar.made
    assert (wanted.n, wanted.options["total"], wanted.options["disable"]) == (3050, 3050, None)
    assert (wanted.options["delay"], wanted.options["leave"]) == (1.0, False)
    assert unwanted.disable


@pytest.mark.parametrize(
    ("delay", "more", "is_shown"),
    [(0.0, {}, True), (0.0, {"progress": False}, False), (3600.0, {}, False)],
)
def test_a_bar_on_a_terminal(
    delay: float,
    more: dict[str, Any],
    is_shown: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On the error output, and only after a while."""
    monkeypatch.setattr(progress, "DELAY", delay)
    screen, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 80))
    with os.fdopen(end, "w") as error:
        monkeypatch.setattr(sys, "stderr", error)
        mahmc.sample("gmm", "hmc", draws=300, chains=8, **more)
        print("end", file=error, flush=True)
        found = ""
        while not found.endswith("end\r\n"):
            found += os.read(screen, 100_000).decode()
    os.close(screen)
    assert ("0.00/500" in found) == is_shown
    assert capsys.readouterr().out == ""


def test_a_bar_in_a_notebook_gets_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """tqdm's bar for notebooks shows itself when it is refreshed while it still has a delay."""
    shown: list[float] = []

    class Notebook(Bar):
        def refresh(self) -> None:
            shown.append(self.delay)

    monkeypatch.setattr(tqdm.auto, "tqdm", Notebook)
    Bar.made = []
    with progress.progress(10, "steps", quiet=False) as bar:
        bar.show()
    assert shown == [1.0]
    source = inspect.getsource(tqdm.notebook.tqdm_notebook.display)
    assert "self.delay > 0 and not self.displayed" in source, "tqdm shows its bar for notebooks in another way now"


# ------------------------------------------------------------------------------------------------------ signatures

OF_SAMPLERS = {*PARAMETERS, "update", "outer", "schedule"}


def named(function: Callable[..., Any]) -> dict[str, Any]:
    """Parameters that are given by name, with their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def test_everything_that_can_be_chosen_has_a_name_in_the_signature() -> None:
    sample, check = named(mahmc.sample), named(mahmc.check)
    assert OF_SAMPLERS | {*RUN_PARAMETERS, "start", "keep", "init", "threads", "progress", "warn"} == set(sample)
    assert OF_SAMPLERS | {"budget", "level", "seed", "resolution"} == set(check)
    assert {sample[name] for name in OF_SAMPLERS} == {check[name] for name in OF_SAMPLERS} == {None}
    assert {name: sample[name] for name in RUN_PARAMETERS} == {p.name: p.default for p in RUN_PARAMETERS.values()}


def test_parameters_and_settings_reach_the_spec() -> None:
    run = mahmc.sample("mdc", "mala-pn", epsilon=0.02, L=3, alpha=0.5, delta=0.1, n_w=4, update="metropolis",
                       outer="gibbs", chains=3, draws=20, warmup=5, thin=2, start="exact", keep="u,w")  # fmt: skip
    assert run.spec == RunSpec.of(
        "mdc", "mala-pn", epsilon=0.02, L=3, alpha=0.5, delta=0.1, n_w=4, update="metropolis", outer="gibbs", chains=3,
        draws=20, warmup=5, thin=2, start="exact", keep=("u", "w"), seed=0,
    )  # fmt: skip
    assert mahmc.sample("mdc", "m-hmc", T=2.0, visits=7, draws=3).spec.values["visits"] == 7
    assert mahmc.sample("mdc", "mahmc", L=4, schedule="alternate(4, 3)", draws=3).spec.values["n_u"] == 3
    assert mahmc.sample("mdc", "hmc", chains=None, draws=3, seed=None).spec.chains == 16
    with pytest.raises(InvalidInput, match="n_u"):
        mahmc.sample("mdc", "hmc", n_u=3)
    with pytest.raises(InvalidInput, match="Did you mean 'epsilon'"):
        mahmc.sample("mdc", "hmc", epsilom=0.1)


def test_initial_values_reach_the_chains() -> None:
    init = {"u": np.linspace(0.0, 1.0, 4), "v": np.zeros(4), "w": np.ones((4, 3))}
    frozen: dict[str, Any] = {"n_w": 3, "chains": 4, "draws": 1, "warmup": 0, "epsilon": 1e-12, "L": 1, "outer": "none"}
    assert np.allclose(mahmc.sample("mdc", "hmc", init=init, **frozen).draws["u"][:, 0], init["u"], atol=1e-9)


# ------------------------------------------------------------------------------------------------- NetCDF and ArviZ


@pytest.mark.quick
@pytest.mark.parametrize("keep", [None, ("w",), ("energy",)])
def test_the_file_has_warmup_acceptance_and_what_made_it(keep: Any, tmp_path: Any) -> None:
    run = mahmc.sample("mdc", "mahmc", chains=3, draws=30, warmup=12, keep=keep, update="metropolis", outer="none")
    run.to_netcdf(tmp_path / "draws.nc")
    opened = arviz().from_netcdf(str(tmp_path / "draws.nc"))
    for group, draws in (("posterior", run.draws), ("warmup_posterior", run.warmup_draws)):
        for name in draws:
            apart = name == "energy" and len(draws) > 1
            found = opened[group.replace("posterior", "sample_stats") if apart else group][name]
            assert np.array_equal(found.values, draws[name])
    for kind in ("trajectory", "inner"):
        found = opened["sample_stats"][f"acceptance_{kind}"]
        assert found.dims == ("chain",)
        assert np.array_equal(found.values, run.acceptances[kind].by_chain)
    assert "acceptance_outer" not in opened["sample_stats"]
    about = opened["posterior"].attrs
    assert RunSpec.from_json(about["spec"]) == run.spec
    assert about["acceptance"] == run.acceptance
    assert (about["inference_library"], about["inference_library_version"]) == ("mahmc", mahmc.__version__)
    if "w" in run.draws:
        assert opened["posterior"]["w"].dims == ("chain", "draw", "w_dim")


def test_without_a_warmup_there_is_no_group_for_it(tmp_path: Any) -> None:
    data = mahmc.sample("mdc", "mahmc", chains=3, draws=30, warmup=0).to_arviz()
    groups = data.groups if isinstance(data.groups, tuple) else tuple(data.groups())
    assert {group.strip("/") for group in groups} - {""} == {"posterior", "sample_stats"}


def test_arviz_works_on_the_container(run: Run) -> None:
    data = run.to_arviz()
    found = arviz().summary(data, var_names=["u"])
    assert float(found["ess_bulk"].iloc[0]) == pytest.approx(float(run.ess("u")), abs=1.0)


# ------------------------------------------------------------------------------------------------------- docstrings

PUBLIC: list[Any] = [
    mahmc.sample, mahmc.load, mahmc.compare, mahmc.check, mahmc.check_sampler, mahmc.Run, mahmc.Comparison,
    mahmc.trajectory, mahmc.Trajectory.to_dict, mahmc.Trajectory.to_json, Run.replay,
    Run.advance, Run.advance_all, Run.step, Run.stop, Run.extend, Run.save, Run.get, Run.ess_per_gradient,
    Run.ess, Run.rhat, Run.mcse, Run.summary, Run.to_arviz, Run.to_netcdf,
    mahmc.Comparison.figure, mahmc.Comparison.ratio, mahmc.Comparison.advance_all, mahmc.Comparison.stop,
    mahmc.Comparison.snapshot, diagnostics.ess, diagnostics.rhat, diagnostics.mcse,
    diagnostics.ess_interval, diagnostics.of_each, diagnostics.to_arviz, mahmc.tables.rows, mahmc.tables.table,
    mahmc.tables.headline, mahmc.tables.paper_figure, mahmc.tables.titled, diagnostics.defined, diagnostics.by_element,
    mahmc.run.memory_needed, RunSpec.of, RunSpec.with_, RunSpec.on, RunSpec.build_target, RunSpec.to_dict,
    RunSpec.from_dict, RunSpec.to_json, RunSpec.from_json, RunSpec.to_query, RunSpec.from_query, RunSpec.to_python,
    RunSpec.from_python, mahmc.Checking, mahmc.Checking.of, mahmc.Checking.advance_all, mahmc.Checking.stop,
    mahmc.Checking.agreement, checks.new_cell, checks.custom_cell, checks.invariance, checks.independence,
    checks.marginals, checks.calibration, checks.detailed_balance, checks.joint_distribution, checks.agreement,
    checks.compare_samples,
    checked_resolution,
]  # fmt: skip
ENGINE: list[Any] = [
    mahmc.Parameter, mahmc.Parameter.check, mahmc.Parameter.parse, parameters.choose, parameters.nearest,
    parameters.whole_number, compiled.cache_root, streams.Seeds, streams.seeded, streams.seed_words, kernels.new_state,
    kernels.new_counts, kernels.energies, Sampler.defaults, Target, Target.scalar, targets.family, targets.build,
    targets.mdc, targets.blr, targets.gmm, targets.elements, custom.mass_truth, schedules.alternate, schedules.iid,
    schedules.sequences, schedules.same_mean, schedules.mirrored, schedules.arrivals, schedules.parse,
    schedules.weighted, schedules.deterministic, schedules.Schedule.plan, schedules.Schedule.log_probability,
    schedules.Schedule.log_ratio, schedules.Schedule.draw, schedules.Schedule.examples, targets.KnownTruth.of,
    custom.setting, custom.update, custom.visit, mahmc.target, mahmc.load_targets, custom.find, custom.real,
    custom.discrete, custom.grad_U, custom.where,
]  # fmt: skip
ELEMENTARY: list[Any] = [getattr(custom, name) for name in described.ABOUT]
DESCRIBED = [*PUBLIC, *ENGINE, *ELEMENTARY]
PAGES_OF_HELP = (mahmc, checks, custom, diagnostics, schedules, mahmc.tables, targets)
FOR_OTHER_MODULES = [Run.at, Run.arrays, Run.put_back]  # of mahmc


def own(thing: Any) -> list[str]:
    """Public names of a module, of its `__all__` or of what it defines; or of a class, without inherited names."""
    if hasattr(thing, "__all__"):
        return list(thing.__all__)
    name = getattr(thing, "__module__", thing.__name__)
    return [n for n, x in vars(thing).items() if n[0] != "_" and getattr(x, "__module__", name) == name]


def test_every_public_function_is_described() -> None:
    """Functions of the modules that people import, and methods of the classes that `mahmc` itself has."""
    found = {f"{m.__name__}.{n}": getattr(m, n) for m in PAGES_OF_HELP for n in own(m)}
    classes = [getattr(mahmc, name) for name in mahmc.__all__ if inspect.isclass(getattr(mahmc, name))]
    found |= {f"{c.__name__}.{n}": getattr(c, n) for c in classes if c is not Target for n in own(c)}
    functions = {name: x for name, x in found.items() if inspect.isfunction(x) or inspect.ismethod(x)}
    assert len(functions) > 100
    listed = [*DESCRIBED, *FOR_OTHER_MODULES]
    assert [name for name, x in functions.items() if x not in listed] == []


def sections(thing: Any) -> dict[str, str]:
    """The sections of a NumPy-style docstring."""
    parts = re.split(r"^(\w+)\n-+$", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("thing", DESCRIBED, ids=lambda thing: thing.__qualname__)
def test_docstrings_say_what_goes_in_and_what_comes_out(thing: Any) -> None:
    found = sections(thing)
    signature = inspect.signature(thing)
    taken = {name for name in signature.parameters if name != "self"}
    headings = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)$", found.get("Parameters", ""), re.MULTILINE)
    assert {name.strip("*") for line in headings for name in line.split(", ")} == taken
    if not inspect.isclass(thing) and signature.return_annotation != "None":
        assert found.keys() & {"Returns", "Yields"}
    if "raise InvalidInput" in inspect.getsource(thing):
        assert "InvalidInput" in found["Raises"]
    assert ">>>" in found["Examples"]


@pytest.mark.parametrize("thing", DESCRIBED, ids=lambda thing: thing.__qualname__)
def test_examples_in_docstrings_run(thing: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    families = dict(targets.FAMILIES)
    example = doctest.DocTestParser().get_doctest(
        inspect.getdoc(thing) or "", {"mahmc": mahmc, "np": np, "schedules": schedules}, thing.__qualname__, None, None
    )
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = doctest.DocTestRunner().run(example, out=said.append)
    targets.FAMILIES.clear()
    targets.FAMILIES.update(families)  # without the target that an example declares
    assert result.attempted > 0
    assert result.failed == 0, "".join(said)


@pytest.mark.quick
def test_small_whole_numbers_of_wide_range_have_an_ess() -> None:
    """Their difference does not fit into their type: chains that moved were taken for constant."""
    x = np.random.default_rng(5).choice(np.array([-100, 0, 100], np.int8), (4, 400))
    assert diagnostics.ess(x) == diagnostics.ess(x.astype(float)) > 1000
    assert np.isfinite(diagnostics.rhat(x))


@pytest.mark.quick
def test_a_target_without_data_has_no_x() -> None:
    assert not hasattr(targets.mdc(), "X")
    with pytest.warns(DeprecationWarning, match="density.arrays"):
        assert targets.blr().X.shape == (569, 31)  # type: ignore[attr-defined]  # added when the class is made
