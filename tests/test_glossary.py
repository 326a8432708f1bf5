"""Each word is explained once, and each sampler and target says why it is worth a look."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mahmc.glossary import TERMS, Panel
from mahmc.samplers import EVERY_SAMPLER, PARAMETERS, SAMPLERS
from mahmc.spec import RUN_PARAMETERS
from mahmc.targets import FAMILIES
from tests.support.pages import opened

pytestmark = pytest.mark.usefixtures("pages_of_one_test")
ROOT = Path(__file__).parents[1]
PANELS = {name: it.panel for name, it in EVERY_SAMPLER.items()} | {name: it.panel for name, it in FAMILIES.items()}


@pytest.mark.parametrize("panel", PANELS.values(), ids=PANELS)
def test_every_sampler_and_every_target_has_an_equation_and_a_sentence(panel: Panel) -> None:
    assert panel.good.endswith(".")
    assert panel.equation
    assert panel.equation.count("{") == panel.equation.count("}")
    assert panel.equation.count("begin{aligned}") == panel.equation.count("end{aligned}")


def test_what_is_of_the_paper_names_its_section() -> None:
    of_paper = {name for sampler in SAMPLERS.values() for name in sampler.paper_ess} | set(EVERY_SAMPLER)
    assert {name for name in of_paper if re.match(r"Sec\. \d", PANELS[name].paper)} == of_paper


def test_help_of_parameters_is_that_of_the_glossary() -> None:
    for parameter in (*PARAMETERS.values(), *RUN_PARAMETERS.values()):
        assert (parameter.title, parameter.help) == TERMS[parameter.name]


def test_no_text_of_the_glossary_is_written_a_second_time() -> None:
    """A second copy would be changed without the first."""
    files = [*(ROOT / "mahmc").rglob("*.py"), *(ROOT / "dashboard").rglob("*.py")]
    sources = {file: re.sub(r'"\s*\n\s*[fr]?"', "", file.read_text()) for file in files}
    for name, term in TERMS.items():
        found = [file.name for file, source in sources.items() if f'"{term.long[:60]}' in source]
        assert found == ["glossary.py"], name


@pytest.mark.parametrize("target", FAMILIES)
def test_each_target_says_which_variables_are_which(target: str) -> None:
    """Where qᴴ and qᴼ are read first, below the target; and in the help of a slider that mentions qᴼ."""
    page = opened(target=target)
    built = FAMILIES[target].build()
    captions = " ".join(caption.value for caption in page.app.caption).replace("\\", "")
    assert f"On {FAMILIES[target].short_title}, {built.roles}." in captions
    assert built.roles in page.widget("L Leapfrogs").help
    assert (" within Gibbs" in page.words) == bool(built.density.updates)


def test_roles_of_the_papers_examples() -> None:
    roles = {name: FAMILIES[name].build().roles for name in ("mdc", "blr", "neals-funnel")}
    assert roles == {"mdc": "qᴴ is (u, v), qᴼ is w", "blr": "qᴴ is β, qᴼ is τ",
                     "neals-funnel": "qᴴ is (v, x), and there is no qᴼ"}  # fmt: skip


def test_the_panel_shows_both_equations_and_where_the_paper_has_them() -> None:
    page = opened(target="gmm", sampler="mala-pn")
    label, texts = "Why it works: MALA-PN on GMM", [latex.value for latex in page.app.latex]
    assert label in {expander.label for expander in page.app.expander}
    assert len(texts) == 2
    assert r"\bmod 2" in texts[1]
    assert "Sec. 4.3." in page.words
    assert "](https://scholar.google.com/scholar?q=%22Metropolis+Augmented+Hamiltonian+Monte+Carlo%22)" in page.words
    assert "Algorithm 2, MALA-PN." in page.words
    page.set("Sampler", "naive")
    assert "punished twice" in page.words
