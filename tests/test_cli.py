"""The command line: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import itertools
import signal
import threading
from pathlib import Path

import pytest

from mahmc import Run, cli
from mahmc.diagnostics import arviz
from mahmc.run import Block


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
        (["mdc", "hmc", "--n-u", "3"], "n_u is no parameter of hmc"),
        (["mdc", "hmc", "--weights", "1"], "weights is no parameter"),
        (["mdc", "hmc", "--out", "/nowhere/at/all.nc"], "make it first"),
        (["mdc", "hmc", "--keep", "u,zz"], "quantity in keep 'zz'"),
        (["mdc", "mahmc", "--schedule", "sequences(01)"], "P(D⁻¹)/P(D) is zero"),
        (["mdc", "mahmc", "--outer", "gibs"], "Did you mean 'gibbs'?"),
        (["blr", "m-hmc"], "m-hmc cannot sample blr"),
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

    monkeypatch.setattr(cli, "Run", Interrupted)
    before = signal.signal(signal.SIGINT, interrupt)  # whatever the handler is where the tests were started
    out = tmp_path / "part.nc"
    try:
        code = cli.main(["sample", "blr", "hmc", "--draws", "100000", "--chains", "2", "--out", str(out)])
    finally:
        signal.signal(signal.SIGINT, before)
    assert Interrupted.told.is_set(), "the interrupt did not reach the run"
    assert code == cli.STOPPED
    assert f"2 chains x {drawn[0]} draws" in capsys.readouterr().out
    assert arviz().from_netcdf(str(out))["posterior"]["tau"].shape == (2, drawn[0])


def test_a_place_that_cannot_be_written_is_refused_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: object, **named: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refused)
    monkeypatch.setattr(cli, "Run", refused)  # so it is not made
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
    assert "Wrong: of" in shown
    assert "wrong on purpose" in shown
    assert cli.main(["check", "gmm", "hmc", *hard]) == 0
    assert "This check would have caught errors of" in capsys.readouterr().out
    assert cli.main(["check", "gmm", "hmc", *hard, "--budget", "0.01"]) == 3
    assert "not enough draws to tell" in capsys.readouterr().out
    assert cli.main(["check", "gmm-overlapping", "hmc", "--budget", "0.01"]) == 3


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
