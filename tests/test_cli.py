"""The command line: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mahmc import Run, RunSpec, cli, progress
from mahmc.checks import CHOSEN_BY_CHECKS
from mahmc.cli import exits
from mahmc.cli.parser import with_named_target
from mahmc.diagnostics import arviz
from mahmc.run import Block
from mahmc.samplers import EVERY_SAMPLER
from mahmc.targets import FAMILIES


@pytest.mark.quick
def test_sample_prints_a_summary_and_writes_draws(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "draws.nc"
    code = cli.main(["sample", "mdc", "mahmc", "--draws", "300", "--chains", "4", "--seed", "7", "--out", str(out)])
    printed = capsys.readouterr().out
    assert code == 0
    assert "acceptance: trajectory 0.9" in printed
    assert "ESS of u per draw and leapfrog" in printed
    assert "undefined" not in printed
    assert arviz().from_netcdf(str(out))["posterior"]["u"].shape == (4, 300)


def test_parameters_of_the_target(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--weights", "0.5,0.5", "--means", "-1,1", "--sds", "1,1", "--draws", "50"]
    assert cli.main(["sample", "gmm", "mahmc", *arguments]) == 0
    assert cli.main(["sample", "blr", "hmc", "--prior-only", "true", "--draws", "20"]) == 0
    assert "log_tau" in capsys.readouterr().out


def test_schedule_updates_and_outer(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--schedule", "iid(20, 0.8, 0.1, 0.1)", "--update", "gibbs,metropolis", "--outer", "none"]
    assert cli.main(["sample", "mdc", "mahmc", *arguments, "--draws", "200"]) == 0
    printed = capsys.readouterr().out
    assert "schedule iid(20, 0.8, 0.1, 0.1); update gibbs,metropolis, outer none" in printed
    assert "gibbs 1.0000, metropolis 0." in printed
    assert "outer 1" not in printed
    assert cli.main(["sample", "gmm", "m-hmc", "--visits", "5", "--update", "neighbour", "--draws", "50"]) == 0


def test_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    printed = capsys.readouterr().out
    for word in ("mdc", "blr", "gmm", "mala-pn", "mahmc", "epsilon", "n_u", "(0, 100]", "warmup", "prior_only",
                 "m-hmc", "visits", "iid(100, 0.9)", "gibbs, metropolis, block", "outer"):  # fmt: skip
        assert word in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mcd", "hmc"], "Did you mean 'mdc'?"),
        (["mdc", "hcm"], "Did you mean 'hmc'?"),
        (["mdc", "hmc", "--epsilon", "0"], "epsilon = 0.0"),
        (["mdc", "hmc", "--epsilon", "big"], "epsilon = 'big'"),
        (["mdc", "hmc", "--n-u", "3"], "n_u is not a parameter of hmc"),
        (["mdc", "hmc", "--weights", "1"], "weights is not a parameter"),
        (["mdc", "hmc", "--draws", "1.5"], "draws = '1.5' is not allowed: draws must be a whole number"),
        (["mdc", "hmc", "--out", "/nowhere/at/all.nc"], "make it first"),
        (["mdc", "hmc", "--keep", "u,zz"], "quantity in keep 'zz'"),
        (["mdc", "mahmc", "--schedule", "sequences(01)"], "P(D⁻¹)/P(D) is zero"),
        (["mdc", "mahmc", "--outer", "gibs"], "Did you mean 'gibbs'?"),
        (["blr", "m-hmc"], "m-hmc cannot sample blr"),
        (["mdc"], "the following arguments are required: SAMPLER. For help: mahmc sample --help"),
        (["mdc", "hmc", "--epsilom", "1"], "option --epsilom is unknown. Did you mean --epsilon?"),
        (["mdc", "hmc", "1"], "'1' is one word too many"),
    ],
)
def test_bad_input_exits_with_2_and_says_what_to_do(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["sample", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_ctrl_c_keeps_what_was_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A real interrupt, sent in the midst of a chunk; the chunk goes on when the run has been told to stop.

    An interrupt that comes just before the main thread starts to wait would be noticed when the chunk ends, and here
    the chunk does not end: so interrupts are sent until one is noticed, and the first one counts.
    """
    drawn: list[int] = []
    noticed = itertools.count()

    def interrupt(*_: object) -> None:
        if next(noticed) == 0:
            raise KeyboardInterrupt

    class Interrupted(Run):
        told = threading.Event()

        def stop(self) -> None:
            super().stop()
            self.told.set()

        def _advance_block(self, block: Block, goal: int) -> None:
            if self.done > self.spec.warmup and not drawn:
                drawn.append(self.done - self.spec.warmup)
                for _ in range(1200):
                    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
                    if self.told.wait(0.1):
                        break
            super()._advance_block(block, goal)

    monkeypatch.setattr(cli.sample, "Run", Interrupted)
    before = signal.signal(signal.SIGINT, interrupt)  # whatever the handler is where the tests were started
    out = tmp_path / "part.nc"
    try:
        code = cli.main(["sample", "blr", "hmc", "--draws", "100000", "--chains", "2", "--out", str(out)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert Interrupted.told.is_set(), "the interrupt did not reach the run"
    assert code == exits.STOPPED
    assert f"2 chains x {drawn[0]} draws" in capsys.readouterr().out
    assert arviz().from_netcdf(str(out))["posterior"]["tau"].shape == (2, drawn[0])


def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(cli.sample, "Run", refused)  # so it is not made
    assert cli.main(["sample", "mdc", "mahmc", "--out", str(tmp_path / "draws.nc")]) == 2
    assert "cannot be written (Permission denied): choose another place" in capsys.readouterr().err


def test_draws_that_cannot_be_written_in_the_end_are_kept_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, write = tmp_path / "draws.nc", Run.to_netcdf

    def disk_is_full(run: Run, path: Path) -> None:
        if path == out:
            raise OSError(28, "No space left on device")
        write(run, path)

    monkeypatch.setattr(Run, "to_netcdf", disk_is_full)
    assert cli.main(["sample", "mdc", "mahmc", "--draws", "50", "--chains", "4", "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    rescued = Path(said.partition("The draws are in ")[2].strip().rstrip("."))
    assert arviz().from_netcdf(str(rescued))["posterior"]["u"].shape == (4, 50)


def test_check_says_wrong_right_or_not_enough_by_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    mixture = ["--weights", "0.3,0.4,0.3", "--means", "-1,0,1.5", "--sds", "0.4,1,0.5", "--update", "metropolis"]
    hard = [*mixture, "--epsilon", "0.75", "--L", "1"]
    assert cli.main(["check", "gmm", "asymmetric", *hard, "--n-u", "2", "--budget", "0.1"]) == 1
    shown = capsys.readouterr().out
    assert "Wrong: the smallest p-value of" in shown
    assert "wrong on purpose" in shown
    assert cli.main(["check", "gmm", "hmc", *hard]) == 0
    assert "This check would have caught errors of" in capsys.readouterr().out
    assert cli.main(["check", "gmm", "hmc", *hard, "--budget", "0.01"]) == 3
    assert "not enough draws to tell" in capsys.readouterr().out
    assert cli.main(["check", "gmm-overlapping", "hmc", "--budget", "0.01"]) == 3


@pytest.mark.parametrize(("command", "has_them"), [("sample", True), ("check", False)])
def test_the_help_of_check_leaves_out_what_it_refuses(
    command: str, has_them: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    options = re.findall(r"^ +(?:-\w, )?--([\w-]+)", capsys.readouterr().out, re.MULTILINE)
    assert {"epsilon", "seed", "update"} <= set(options)
    assert {name for name in CHOSEN_BY_CHECKS if name in options} == ({*CHOSEN_BY_CHECKS} if has_them else set())


def test_check_refuses_what_it_cannot_use(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, said in (
        (["gmm", "hmc", "--draws", "7"], "use --budget"),
        (["gmm", "hmc", "--budget", "0"], "budget"),
        (["gmm", "hmc", "--level", "1"], "level"),
        (["gmm", "hmc", "--weights", "0.5,0.1", "--means", "0,1", "--sds", "1,1"], "sum to 0.6"),
        (["gmmm"], "Did you mean 'gmm'"),
    ):
        assert cli.main(["check", *arguments]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["sampel"], "command 'sampel' is unknown. Did you mean 'sample'? Choose from: sample, check,"),
        (["--jsn"], "option --jsn is unknown. For help: mahmc --help"),
        ([], "exit codes:"),
        (["table", "--gradients", "many"], "'many' is not a whole number: write it as 1000000, 1_000_000 or 1e6"),
        (["check", "--budget", "half"], "'half' is not a number: write it as 0.5 or 5e-1"),
        (["app", "--port", "0"], "port = 0 is not allowed: port must be a whole number in [1, 65535]"),
    ],
)
def test_what_is_unknown_gets_a_hint(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_help_lists_all_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["--help"])
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert all(f"\n    {command}" in printed for command in cli.COMMANDS)
    codes = {value for name, value in vars(exits).items() if name.isupper() and isinstance(value, int)}
    assert {int(line.split()[0]) for line in printed.partition("exit codes:\n")[2].splitlines()} == codes


# ------------------------------------------------------------------------------------------------------ for programs


def test_sample_prints_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The spec makes the same run again; what is undefined is null; where draws were written is said elsewhere."""
    out = tmp_path / "draws.nc"
    arguments = ["sample", "mdc", "mahmc", "--draws", "1e2", "--chains", "4", "--n-w", "3", "--seed", "1_000"]
    assert cli.main([*arguments, "--json", "--out", str(out)]) == 0
    found = json.loads(capsys.readouterr().out)
    spec = RunSpec.of("mdc", "mahmc", draws=100, chains=4, n_w=3, seed=1000)
    run = Run(RunSpec.from_dict(found["spec"])).advance_all()
    assert run.spec == spec
    assert (found["draws"], found["finished"], found["leapfrogs"]) == (100, True, run.leapfrogs)
    assert found["acceptance"]["trajectory"] == run.acceptance
    assert list(found["quantities"]) == list(run.names)
    u = found["quantities"]["u"]
    assert (u["mean"], u["ess_bulk"], u["truth"]) == (float(run.get("u").mean()), float(run.ess("u")), 0.0)
    assert out.is_file()
    assert cli.main(["sample", "mdc", "hmc", "--epsilon", "50", "--draws", "20", "--json"]) == 0
    stuck = json.loads(capsys.readouterr().out)
    assert stuck["acceptance"]["trajectory"] == 0
    assert stuck["quantities"]["u"]["ess_bulk"] is None


def test_table_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The same as CSV has."""
    arguments = ["table", "--targets", "mdc", "--gradients", "6.4e5", "--replicates", "2"]
    assert cli.main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert cli.main([*arguments, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [row["sampler"] for row in found] == [row["sampler"] for row in rows]
    for ours, theirs in zip(found, rows, strict=True):
        assert [repr(ours["ours"][part]) for part in ("value", "low", "high")] == [
            theirs["ours"], theirs["ours low"], theirs["ours high"]
        ]  # fmt: skip
        assert (ours["paper"], ours["replicates"]) == (float(theirs["paper"]), int(theirs["replicates"]))


def test_list_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samplers"].keys() == EVERY_SAMPLER.keys()
    assert found["targets"].keys() == FAMILIES.keys()
    assert found["targets"]["blr"]["parameters"]["shape"]["low_is_allowed"] is False
    assert found["samplers"]["hmc"]["defaults"]["mdc"] == {"epsilon": 0.035, "L": 40}
    assert "final test counts the same change of the energy" in found["samplers"]["naive"]["wrong_because"]
    assert found["samplers"]["hmc"]["wrong_because"] is None


def test_a_fault_of_ours_is_no_verdict(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 says that a sampler is wrong, so an error that nobody foresaw must have another one."""

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(cli.check, "verdicts", broken)
    assert cli.main(["check", "gmm", "hmc"]) == exits.FAILED
    said = capsys.readouterr().err
    assert "RuntimeError: broken" in said
    assert "this looks like a fault in mahmc" in said

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.check, "verdicts", interrupted)
    assert cli.main(["check", "gmm", "hmc"]) == exits.STOPPED


@pytest.mark.parametrize("words", ["list", "sample gmm hmc --draws 20"])  # more than a buffer holds, and less
def test_a_reader_may_leave(words: str) -> None:
    """As in `mahmc list | head -1`: no traceback."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mahmc", *words.split()],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert (process.wait(), process.stderr.read()) == (exits.CLOSED, "")


# --------------------------------------------------------------------------------------------------- targets in files

TARGET = """
import mahmc
from mahmc.custom import real


@mahmc.target
class {name}:
    def variables(self):
        return (real("x"),)

    def U(self, q):
        return q[0] * q[0] / 2

    def grad_U(self, q, grad):
        grad[0] = q[0]
"""


@pytest.mark.usefixtures("families_as_before")
def test_the_only_target_of_a_file_needs_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two, none = tmp_path / "one.py", tmp_path / "two.py", tmp_path / "none.py"
    one.write_text(TARGET.format(name="Plum"))
    two.write_text(TARGET.format(name="Pear") + TARGET.format(name="Fig"))
    none.write_text("x = 1\n")
    assert cli.main(["sample", "--draws", "20", str(one), "hmc"]) == 0
    assert "x " in capsys.readouterr().out
    assert cli.main(["sample", str(two), "hmc"]) == 2
    assert f"two.py has 2 targets: Pear, Fig. Choose a target, as {two}:Fig." in capsys.readouterr().err
    assert with_named_target(["sample", "--quiet", f"{two}:Pear", "hmc"]) == ["sample", "--quiet", "pear", "hmc"]
    assert cli.main(["check", str(none), "hmc"]) == 2
    assert "none.py has no targets" in capsys.readouterr().err
    assert cli.main(["table", "--targets", f"mdc,{two}"]) == 2
    assert "two.py has 2 targets" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["sample", "--out", "draws.py", "gmm", "hmc"],
        ["check", "gmm", "hmc", "--html", "report.py"],
        ["check", "-q", "gmm", "hmc.py"],
        ["sample", "--draws=5", "gmm", "hmc"],
        ["check"],
    ],
)
def test_only_a_target_is_looked_for_in_a_file(arguments: list[str]) -> None:
    """No other file is run."""
    assert with_named_target(arguments) == arguments


# -------------------------------------------------------------------------------------------------- the progress bar

SHORT = ["sample", "gmm", "hmc", "--draws", "200", "--chains", "8"]


@contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """The error output is a terminal; gives what was written there since the last call, once it has these words.

    A terminal hands text over in pieces. Not a fixture: pytest gives each phase of a test another error output.
    """
    screen, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 80))

    def read(words: str) -> str:
        found = ""
        while words not in found:
            assert select.select([screen], [], [], 120)[0], f"{words!r} is not in {found!r}"
            found += os.read(screen, 100_000).decode()
        return found

    with os.fdopen(end, "w") as error, monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", error)
        yield read
    os.close(screen)


def shown(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> str:
    """All that a command shows on a terminal, beside its results."""
    with terminal(monkeypatch) as read:
        assert cli.main(arguments) == 0
        print("end", file=sys.stderr, flush=True)
        return read("end\r\n")


def test_a_bar_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    found = shown(monkeypatch, SHORT)
    assert "0.00/400" in found
    assert found.endswith("\rend\r\n"), "the bar is taken away"


@pytest.mark.parametrize(("delay", "more"), [(0.0, ["--quiet"]), (0.0, ["-q"]), (3600.0, [])])
def test_no_bar_is_shown(monkeypatch: pytest.MonkeyPatch, delay: float, more: list[str]) -> None:
    """Where it is not wanted, and where the work is done before it would be shown."""
    monkeypatch.setattr(progress, "DELAY", delay)
    assert shown(monkeypatch, [*SHORT, *more]) == "end\r\n"


def test_no_bar_is_shown_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "DELAY", 0.0)
    assert cli.main(SHORT) == 0
    assert capsys.readouterr().err == ""


def test_the_bar_does_not_wait_for_the_first_step(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As while a target is compiled; and lines are printed above the bar."""
    monkeypatch.setattr(progress, "DELAY", 0.01)
    with terminal(monkeypatch) as read:
        with progress.progress(10, "steps", quiet=False, title="mine") as bar:
            read("mine:   0%")
            bar.say("a line")
            bar.reach(5, "half")
        print("end", file=sys.stderr, flush=True)
        assert read("end\r\n").endswith("\rend\r\n"), "the bar is taken away"
    assert capsys.readouterr().out == "a line\n"
