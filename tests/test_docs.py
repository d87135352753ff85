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
    DOCS / "notes" / "README.md",
    *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG", "SECURITY")),
]
FILES = [
    *(
        path
        for folder in ("src", "tests", "benchmarks", "docs")
        for path in (ROOT / folder).rglob("*.*")
    ),
    *ROOT.glob("*.*"),
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rows_of_a_table_have_the_cells_of_its_head(page):
    cells = 0
    for line in _FENCE.sub("", page.read_text(encoding="utf-8")).split("\n"):
        found = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        assert found == cells or 0 in (found, cells), line
        cells = found


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


SHOWN = [DOCS / "explain.md", DOCS / "boosted_trees.md", ROOT / "README.md"]


@pytest.mark.parametrize("page", SHOWN, ids=lambda p: p.name)
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
    from arboretum.cli import seedlings

    folder = tmp_path_factory.mktemp("commands")
    (folder / "tests").symlink_to(ROOT / "tests")
    table = pd.read_csv(seedlings.PATH)
    table = table.assign(price=table["height_cm"] * 1.5, y=(table["watered"] == "yes").astype(int))
    table[:300].to_csv(folder / "data.csv", index=False)
    for name in ("data", "new"):
        (folder / name).mkdir()
        table[:300].to_parquet(folder / name / "a.parquet", index=False)
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
    rows = re.findall(r"^\| `([a-z]+)", page, re.MULTILINE)
    assert sorted(rows) == sorted(command.name for command in app.registered_commands)
    listed = re.search(r"`--model` is one of (.*?); names such as", page, re.DOTALL)
    assert listed is not None
    models = re.sub(r"\[.*?\]\(.*?\)", "", listed[1])  # links, then the remarks that had them
    models = re.sub(r"\s*\(.*?\)", "", models, flags=re.DOTALL)
    assert sorted(re.split(r",\s*|\s+and\s+", models)) == sorted(MODELS)


# ---------------------------------------------------------------------- concordance
def _concordance():
    """Return the rows of docs/concordance.md, as lists of five cells."""
    rows = []
    for line in (DOCS / "concordance.md").read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.replace("\\|", "∣").split("|")[1:-1]]
        if len(cells) == 5 and cells[0] not in ("algorithm", "---"):
            rows.append(cells)
    return rows


@pytest.mark.parametrize("row", _concordance(), ids=lambda row: row[0])
def test_the_concordance_names_what_exists(row):
    import inspect

    import arboretum
    import arboretum.textbook as book

    _, formula, textbook, estimator, test = row
    assert formula
    for name in re.findall(r"`(\w+)`", textbook):
        assert hasattr(book, name), name
    classes = [getattr(arboretum, name) for name in re.findall(r"`([A-Z]\w+)", estimator)]
    for name, options in re.findall(r"`([A-Z]\w+)\((.*?)\)`", estimator):
        known = inspect.signature(getattr(arboretum, name)).parameters
        assert set(re.findall(r"(\w+)=", options)) <= set(known), row
    for name in re.findall(r"`([a-z]\w*)`", estimator):
        of_classes = any(_has(one, name) for one in classes)
        assert of_classes or name in arboretum.__all__, name
    paths = re.findall(r"tests/[\w/]+\.py", test)
    assert paths
    for path in paths:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert all(f"def {name}(" in source for name in re.findall(r"`(test_\w+)`", test)), test


def _has(estimator, name):
    """Return whether an estimator has an attribute, a method, or an attribute once it is fitted."""
    fitted = ", ".join(getattr(estimator, "_attributes", {}))
    return hasattr(estimator, name) or bool(re.search(rf"\b{name}\b", fitted))


@pytest.mark.parametrize("step", ["leaf", "line_search", "gradient"])
def test_the_values_that_the_concordance_gives_are_allowed(step):
    from arboretum import GradientBoostingRegressor

    assert f'step="{step}"' in (DOCS / "concordance.md").read_text(encoding="utf-8")
    GradientBoostingRegressor(n_estimators=1, step=step).fit([[0.0], [1.0]], [0.0, 1.0])


# ---------------------------------------------------------------------- names of files
_FILE = re.compile(r"`((?:[\w.]+/)*)(\w+\.(?:py|md|json|toml))`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    """A name with folders ends some path; a bare one is in a folder that its paragraph names, if any."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for paragraph in text.split("\n\n"):
        links = [(page.parent / target).resolve() for target in _LINK.findall(paragraph)]
        folders = {path if path.is_dir() else path.parent for path in links} - {DOCS, ROOT}
        names = _FILE.findall(paragraph)
        folders |= {
            path.parent for folder, name in names if folder for path in _ending(folder + name)
        }
        for folder, name in names:
            found = _ending(folder + name)
            if not folder and folders and name.endswith(".py"):
                found = [path for path in found if path.parent in folders]
            assert found, f"{folder}{name} in: {paragraph[:200]}"


def _ending(name):
    return [path for path in FILES if ("/" + path.as_posix()).endswith("/" + name)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_anchors_are_headings(page):
    text = page.read_text(encoding="utf-8")
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)", text):
        other = (page.parent / target) if target else page
        headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.MULTILINE)
        slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings]
        assert anchor in slugs, f"{target}#{anchor}"


# ---------------------------------------------------------------------- figures that are constants
def test_the_design_page_has_the_sizes_of_the_walks():
    from arboretum.engine.predict.packed_walk import SIDE_BY_SIDE
    from arboretum.predict.engines import costs

    page = (DOCS / "design.md").read_text(encoding="utf-8")
    assert SIDE_BY_SIDE == 12
    assert "one call walks all trees, which are one array, twelve side by side" in page
    assert f"| tournament | thresholds, up to {costs.PLAYED_LEAVES} leaves |" in page
    assert f"| masks | up to {costs.MASKED_LEAVES} leaves, also sets" in page
