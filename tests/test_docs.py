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


@pytest.mark.parametrize("page", [DOCS / "explain.md", ROOT / "README.md"], ids=lambda p: p.name)
def test_the_page_shows_what_is_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = _FENCE.findall(page.read_text(encoding="utf-8"))
    at = next(i for i, (language, _) in enumerate(blocks) if language == "python")
    source, shown = blocks[at][1], blocks[at + 1][1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(source, {})
    assert printed.getvalue().strip() == shown.strip()


_COMMAND = re.compile(
    r"^ *(?:zcat (\S+) \| )?(arboretum (?:train|show|predict|evaluate|describe) .*)$", re.MULTILINE
)
COMMANDS = [page for page in PAGES if _COMMAND.search(page.read_text(encoding="utf-8"))]


@pytest.fixture(scope="module")
def folder_of_commands(tmp_path_factory):
    """A folder with the tables and the model that the pages tell of."""
    import gzip

    import pandas as pd

    from arboretum import CARTClassifier, RandomForestClassifier, StackingClassifier
    from arboretum.cli.data import seedlings

    folder = tmp_path_factory.mktemp("commands")
    (folder / "tests").symlink_to(ROOT / "tests")
    table = pd.read_csv(seedlings.PATH)
    table = table.assign(price=table["height_cm"] * 1.5, y=(table["watered"] == "yes").astype(int))
    table[:300].to_csv(folder / "data.csv", index=False)
    table[300:400].to_csv(folder / "other.csv", index=False)
    table[400:420].to_csv(folder / "new.csv", index=False)
    n = 60
    shop = {
        "customer_id": [f"k{i}" for i in range(n)],
        "income": [f"$1,{i:03d}.50" for i in range(n)],
        "when": [f"{i % 28 + 1}/12/2023" for i in range(n)],
        "bought": ["yes" if i * 7 % 5 > 2 else "no" for i in range(n)],
    }
    pd.DataFrame(shop).to_csv(folder / "shop.csv", index=False)
    with gzip.open(folder / "new.csv.gz", "wt") as file:
        pd.DataFrame(shop)[:9].to_csv(file, index=False)
    models = [("random_forest", RandomForestClassifier(2, max_depth=2, random_state=0))]
    stack = StackingClassifier(models, CARTClassifier(max_depth=1), cv=2)
    stack.fit(table[["ph", "height_cm"]], table["fate"]).save(folder / "stack.arb")
    return folder


@pytest.mark.parametrize("page", COMMANDS, ids=lambda page: page.name)
def test_commands_run_as_written(page, folder_of_commands, monkeypatch):
    """The commands of a page, in their order."""
    import gzip
    import shlex

    from typer.testing import CliRunner

    from arboretum.cli.app import app

    monkeypatch.chdir(folder_of_commands)
    text = page.read_text(encoding="utf-8")
    indented = re.findall(r"^    arboretum .*$", text, re.MULTILINE)
    blocks = [source for language, source in _FENCE.findall(text) if not language]
    for piped, command in _COMMAND.findall("\n".join([*indented, *blocks])):
        given = gzip.decompress(Path(piped).read_bytes()).decode() if piped else None
        words = shlex.split(command, comments=True)[1:]
        result = CliRunner().invoke(app, words, input=given)
        assert result.exit_code == 0, f"{command}\n{result.output}"


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
