"""The documentation: every page is in the index, every link leads somewhere, every example is Python."""

import ast
import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG")),
]
_LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_are_python(page):
    for language, source in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "python" and not source.startswith(">>>"):
            ast.parse(source)


def test_every_page_is_in_the_index():
    linked = set(_LINK.findall((DOCS / "README.md").read_text(encoding="utf-8")))
    assert {page.name for page in DOCS.glob("*.md")} - {"README.md"} <= linked


def test_the_page_on_looking_shows_what_is_printed():
    blocks = _FENCE.findall((DOCS / "explain.md").read_text(encoding="utf-8"))
    source, shown = blocks[0][1], blocks[1][1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {})
    assert printed.getvalue().strip() == shown.strip()


def test_the_command_line_page_names_every_model_and_command():
    from arboretum.cli.app import app
    from arboretum.cli.registry import MODELS

    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    commands = [command.name for command in app.registered_commands]
    assert all(f"`{name}" in page for name in commands)
    for name in MODELS:
        assert re.search(rf"\b{name}\b", page), name


def test_the_callbacks_of_the_boosting_page_work():
    import numpy as np

    page = (DOCS / "boosting.md").read_text(encoding="utf-8")
    (source,) = [s for _, s in _FENCE.findall(page) if "arboretum.callback" in s]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    known = {"X": X[:120], "y": y[:120], "X_valid": X[120:], "y_valid": y[120:]}
    exec("from arboretum import XGBClassifier\n" + source, known)
    assert len(known["model"].trees_) == known["model"].best_iteration + 1
