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


RUN = [
    page
    for page in PAGES
    if any(language == "python" for language, _ in _FENCE.findall(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.name)
def test_blocks_run_as_written(page, tmp_path, monkeypatch):
    """The Python blocks of a page, in their order, in a folder that has the tables of the tests."""
    import doctest
    import warnings

    import matplotlib

    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    known: dict = {"__name__": "page"}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for language, source in _FENCE.findall(page.read_text(encoding="utf-8")):
            if language != "python":
                continue
            if source.startswith(">>>"):
                test = doctest.DocTestParser().get_doctest(source, known, page.name, None, 0)
                assert doctest.DocTestRunner().run(test).failed == 0
            else:
                exec(compile(source, page.name, "exec"), known)


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


def test_every_erratum_has_its_test_and_every_note_its_place():
    names = re.findall(r"`(test_\w+)`", (DOCS / "errata.md").read_text(encoding="utf-8"))
    assert len(names) >= 29
    there = "".join(
        (ROOT / "tests" / f).read_text() for f in ("test_notes.py", "test_spec_examples.py")
    )
    assert [name for name in names if f"def {name}(" not in there] == []
    page = (DOCS / "notes.md").read_text(encoding="utf-8")
    import arboretum.textbook as book

    for line in page.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and cells[1] not in ("section", "---"):
            for name in re.findall(r"`([A-Za-z]\w*)", cells[2]):
                assert hasattr(book, name), name
            for path in re.findall(r"(tests/[\w/]+(?:\.py)?)", cells[4]):
                assert (ROOT / path).exists(), path
