"""No command writes over its inputs, nor over files of another kind."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from arboretum.cli.files import TABLE, check_output
from arboretum.cli.guard import UsageError
from tests.cli.cli_helpers import fails, ok, run

# the words of a command; {} is the file it writes, the last ones are its inputs
_COMMANDS = {
    "train": (["train", "d.csv", "-t", "fate", "--valid", "v.csv", "-o"], ["d.csv", "v.csv"]),
    "curve": (
        ["train", "d.csv", "-t", "fate", "--model", "xgb", "--valid", "v.csv", "-o", "n.arb", "--curve"],
        ["d.csv", "v.csv", "n.arb"],
    ),
    "predict": (["predict", "m.arb", "d.csv", "-o"], ["m.arb", "d.csv"]),
    "show": (["show", "m.arb", "--format", "text", "-o"], ["m.arb"]),
    "picture": (["show", "m.arb", "--format", "png", "-o"], ["m.arb"]),
    "report": (
        ["report", "m.arb", "d.csv", "--train", "v.csv", "-o"],
        ["m.arb", "d.csv", "v.csv"],
    ),
    "explain": (["explain", "m.arb", "d.csv", "--shap"], ["m.arb", "d.csv"]),
    "impute": (["impute", "d.csv", "-o"], ["d.csv"]),
}  # fmt: skip
_SPELLINGS = ("same", "relative", "symlink", "hard link")


@pytest.fixture
def room(shelf, tmp_path, monkeypatch):
    """A directory with a model and two data files."""
    (tmp_path / "sub").mkdir()
    for name in ("d.csv", "v.csv"):
        shutil.copy(shelf / "few.csv", tmp_path / name)
    for name in ("m.arb", "n.arb"):
        shutil.copy(shelf / "fate.arb", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _spelled(name, how):
    if how == "same":
        return name
    if how == "relative":
        return f"sub/../{name}"
    link = f"link-{name}"
    (os.symlink if how == "symlink" else os.link)(name, link)
    return link


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("how", _SPELLINGS)
@pytest.mark.parametrize(
    ("command", "name"),
    [(command, name) for command, (_, names) in _COMMANDS.items() for name in names],
)
def test_inputs_are_never_overwritten(room, command, name, how, force):
    before = (room / name).read_bytes()
    words, output = list(_COMMANDS[command][0]), _spelled(name, how)
    code, line = fails(*words, output, *(["--force"] if force else []))
    assert code == 2
    assert f"cannot write {output!r}: it is the " in line
    assert (room / name).read_bytes() == before


_OTHERS = {
    "page.html": b"<!doctype html><title>x</title>",
    "model.arb": b"ARBORETM....",
    "table.csv": b"a,b\n1,2\n",
    "notes.md": b"# notes\n",
    "script.py": b"print(1)\n",
    "tree.txt": b"|--- x <= 1\n",
    "picture.png": b"\x89PNG....",
    "table.parquet": b"PAR1....",
    "program": b"\x7fELF\0\0",
}


_MAY = {  # what a command may replace: a file of the kind it writes
    "train": ["model.arb"], "curve": ["picture.png"], "report": ["page.html"],
    "show": ["tree.txt"], "picture": ["picture.png"], "impute": ["table.csv"],
    "predict": ["table.csv", "tree.txt", "table.parquet"], "explain": ["table.csv", "tree.txt"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name"),
    [(command, name) for command in _COMMANDS for name in _OTHERS if name not in _MAY[command]],
)
def test_files_of_another_kind_need_force(room, command, name):
    (room / name).write_bytes(_OTHERS[name])
    code, line = fails(*_COMMANDS[command][0], name)
    assert code == 2
    assert "--force" in line or "--curve draws" in line or "name it *.csv" in line
    assert (room / name).read_bytes() == _OTHERS[name]


def test_force_replaces_other_kinds_and_the_same_kind_needs_none(room):
    (room / "notes.md").write_text("# notes\n")
    ok("train", "d.csv", "-t", "fate", "-o", "notes.md", "--force")
    ok("train", "d.csv", "-t", "fate", "-o", "notes.md")
    ok("predict", "m.arb", "d.csv", "-o", "p.csv")
    ok("predict", "m.arb", "d.csv", "-o", "p.csv")
    (room / "empty.arb").touch()
    ok("train", "d.csv", "-t", "fate", "-o", "empty.arb")


@pytest.mark.parametrize("name", ["train.csv", "test.csv", "model.arb", "compare.html"])
def test_demo_leaves_files_of_its_users_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    code, line = fails("demo", "-o", tmp_path)
    assert code == 2
    assert "is not the demo's" in line
    assert (tmp_path / name).read_text() == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_demo_runs_twice_in_one_place(tmp_path, monkeypatch):
    monkeypatch.setattr("arboretum.cli.commands.demo._SECONDS", 1.0)
    for _ in range(2):
        assert run("demo", "-o", tmp_path / "demo").exit_code == 0


@pytest.mark.parametrize("how", _SPELLINGS)
def test_the_file_on_standard_input_is_never_overwritten(room, how, monkeypatch):
    output = _spelled("d.csv", how)
    with (room / "d.csv").open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(UsageError, match="it is the data file"):
            check_output(output, TABLE, {"the data file": Path("-")}, force=True)
        check_output("new.csv", TABLE, {"the data file": Path("-")})
        check_output("v.csv", TABLE, {"the data file": Path("-")})


def test_all_54_combinations_of_the_report_are_here():
    inputs = {command: len(names) for command, (_, names) in _COMMANDS.items()}
    assert inputs == {
        "train": 2, "curve": 3, "predict": 2, "show": 1, "picture": 1, "report": 3, "explain": 2, "impute": 1,
    }  # fmt: skip
    assert sum(inputs.values()) * len(_SPELLINGS) >= 54
