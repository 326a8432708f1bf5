"""Anybody's sampler on the command line, in a file, in a test, as JSON and HTML, and on the page Checks."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard import __main__ as serving
from dashboard.settings import checks as settings
from mahmc import InvalidInput, cli
from mahmc.checks import check_sampler, report
from mahmc.custom import samplers

ROOT = Path(__file__).parent.parent
FILE = '''
import numpy as np

W, M, S = np.array([0.3, 0.4, 0.3]), np.array([-1.0, 0.0, 1.5]), np.array([0.4, 1.0, 0.5])


def U(q, c):
    return 0.5 * ((q - M[c]) / S[c]) ** 2 + np.log(S[c]) - np.log(W[c])


def gibbs(q, rng):
    weights = np.exp(-np.stack([U(q, k) for k in range(3)]))
    return (rng.random(q.shape) > (weights / weights.sum(axis=0)).cumsum(axis=0)[:2]).sum(axis=0)


def step(states, rng):
    q, c = states["q"], states["component"].astype(int)
    new = q + 1.2 * rng.standard_normal(q.shape)
    q = np.where(rng.random(q.shape) < np.exp(U(q, c) - U(new, c)), new, q)
    return {"q": q, "component": gibbs(q, rng)}


def always(states, rng):
    """Accepts every step."""
    q = states["q"] + 1.2 * rng.standard_normal(states["q"].shape)
    return {"q": q, "component": gibbs(q, rng)}
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my_sampler.py"
    path.write_text(FILE)
    return path


@pytest.fixture(autouse=True)
def loaded() -> Iterator[None]:
    """What a test loads is forgotten after it."""
    yield
    samplers.LOADED.clear()
    settings._templates.cache_clear()


def test_the_command_says_right_and_wrong_by_its_exit_code(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check-sampler", f"{file}:step"]) == 0
    assert "step     GMM, overlapping    right" in capsys.readouterr().out
    assert cli.main(["check-sampler", f"{file}:always", "--budget", "0.05", "--seed", "3"]) == 1
    assert cli.main(["check-sampler", f"{file}:step", "--budget", "0.01"]) == 3
    assert cli.main(["check-sampler", f"{file}:stepp"]) == 2
    assert "Did you mean 'step'?" in capsys.readouterr().err
    assert cli.main(["check-sampler", f"{file}:step", "--target", "blr"]) == 2
    assert "blr has no exact draws" in capsys.readouterr().err


def test_json_and_html_say_the_same(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.html"
    command = ["check-sampler", f"{file}:always", "--budget", "0.05", "--json", "--html", str(page)]
    assert cli.main(command) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["sampler"], found["target"], found["verdict"]) == ("always", "gmm-overlapping", "wrong")
    checks = found["checks"]
    assert set(checks) == {"marginals", "invariance", "independence"}
    worst = checks["invariance"]["smallest"][0]
    assert worst["corrected"] == checks["invariance"]["p_value"] < checks["invariance"]["level"]
    text = page.read_text()
    assert "always on GMM, overlapping" in text
    assert checks["invariance"]["words"].replace("'", "&#x27;") in text
    assert cli.main([*command[:-1], str(tmp_path / "missing" / "report.html")]) == 2


def test_our_own_samplers_have_json_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["check", "gmm", "naive", "--budget", "0.05", "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert found["settings"]["epsilon"] == 0.3
    assert found["checks"]["gradient"]["verdict"] == "right"


def test_a_name_is_escaped_in_the_report(file: Path) -> None:
    _, step = samplers.find_sampler(f"{file}:step")
    cell = check_sampler(step, "gmm-overlapping", name="<b>mine</b>", budget=0.01)
    assert "<b>mine</b>" not in report.as_html([cell])


def test_what_a_file_offers(tmp_path: Path, file: Path) -> None:
    assert list(samplers.load_samplers(str(file))) == ["my-sampler"]
    several = tmp_path / "several.py"
    several.write_text(f"{FILE}\nSAMPLERS = {{'one': step, 'two': always}}\n")
    assert list(samplers.load_samplers(str(several))) == ["one", "two"]
    assert list(samplers.load_samplers(f"{several}:two")) == ["two"]
    for content, said in (
        ("x = 1", "offers no sampler"), ("SAMPLERS = []", "must be a mapping"), ("SAMPLERS = {'a b': 1}", "cannot be"),
        ("SAMPLERS = {'hmc': 1}", "is the name of a sampler of mahmc"), ("1 / 0", "line 1 cannot be loaded"),
    ):  # fmt: skip
        several.write_text(content)
        with pytest.raises(InvalidInput, match=said):
            samplers.load_samplers(str(several))
    with pytest.raises(InvalidInput, match="there is no file"):
        samplers.load_samplers(str(tmp_path / "nothing.py"))


def test_a_sampler_of_whoever_starts_the_server_has_a_row(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamlit.web.cli.main", lambda: 0)
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    assert serving.main(["--samplers", f"{file}:step"]) == 0
    assert settings.rows()[-1] == "step"
    cells = {cell.key for cell in settings.CheckSettings().cells({})[0]}
    assert {case for sampler, case in cells if sampler == "step"} == {"gmm-overlapping"}  # it knows no other target
    assert serving.main(["--samplers", str(file.with_name("missing.py"))]) == 2


def test_the_fixture_of_pytest(tmp_path: Path, file: Path) -> None:
    """A right sampler passes, and one that accepts everything fails with the words of the checks."""
    test = tmp_path / "test_mine.py"
    test.write_text(
        "from my_sampler import always, step\n\n"
        "def test_right(mcmc_check):\n    assert mcmc_check(step).verdict == 'right'\n\n"
        "def test_wrong(mcmc_check):\n    mcmc_check(always, budget=0.05)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(test)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "always on GMM, overlapping: wrong" in done.stdout
