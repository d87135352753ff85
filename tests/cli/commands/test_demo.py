"""`arboretum demo`: the whole tour, and the tables that come with the package."""

import shlex
import webbrowser
from pathlib import Path

import pandas as pd
import pytest

from arboretum import load
from arboretum.cli import census, seedlings
from arboretum.cli.commands import demo as module
from tests.cli.cli_helpers import cells, ok, run


def test_the_table_of_seedlings_follows_its_recipe():
    lines = [",".join(row) for row in (seedlings.COLUMNS, *seedlings.recipe())]
    assert seedlings.PATH.read_text(encoding="utf-8").splitlines() == lines


def test_the_table_of_people_is_small_and_names_its_licence():
    table = pd.read_csv(census.PATH)
    assert table.shape == (1500, 15)
    assert table.isna().sum().sum() > 100
    assert set(table[census.TARGET]) == {"<=50K", ">50K"}
    assert census.PATH.stat().st_size <= 200_000
    assert "Creative Commons Attribution 4.0" in census.__doc__


@pytest.fixture
def quick(monkeypatch):
    """Leave out what takes long: baselines and the cheapest models remain."""
    monkeypatch.setattr(module, "_SECONDS", 2.0)


def test_the_tour(tmp_path, monkeypatch, quick):
    monkeypatch.chdir(tmp_path)
    directory = Path("new", "demo dir")
    output = ok("demo", "-o", directory)
    assert sorted(path.name for path in directory.iterdir()) == [
        "compare.html", "model.arb", "model.html", "test.csv", "train.csv",
    ]  # fmt: skip
    # nothing is lost and nothing is judged by what was learned from
    parts = [(directory / f"{p}.csv").read_text().splitlines()[1:] for p in ("train", "test")]
    assert [len(part) for part in parts] == [1200, 300]
    assert sorted(parts[0] + parts[1]) == sorted(census.PATH.read_text().splitlines()[1:])
    assert float(cells(output, "accuracy")[0]) > 0.7
    assert load(directory / "model.arb").notes_["target"] == "income"
    assert output.count("$ arboretum ") == 3
    assert [x for x in output.splitlines() if len(x) > 80 and not x.startswith("$ ")] == []
    # what it proposes works
    proposals = output[output.index("Try next") :].splitlines()[1:]
    assert len(proposals) == 4
    for line in proposals[:-1]:
        command, *words = shlex.split(line)
        assert command == "arboretum"
        assert run(*words).exit_code == 0


def test_pages_are_opened_only_for_a_person_with_a_display(monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    module._open(Path("a.html"))
    assert opened == []  # output goes to a program
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    module._open(Path("a.html"))
    assert len(opened) == 1
    assert opened[0].startswith("file://")


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "demo").write_text("")
    result = run("demo", "-o", tmp_path / "demo")
    assert result.exit_code == 2
    assert result.stderr.endswith("is a file: -o takes a directory\n")
    assert len(result.stderr.splitlines()) == 1


def test_foreign_files_stay(tmp_path):
    (tmp_path / "model.html").write_text("mine")
    result = run("demo", "-o", tmp_path)
    assert result.exit_code == 2
    assert "is not the demo's" in result.stderr
    assert (tmp_path / "model.html").read_text() == "mine"
