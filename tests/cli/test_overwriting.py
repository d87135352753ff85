"""No command writes over its inputs, nor over files of another kind."""

import os
import shutil

import pytest

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
    if command == "impute" and not output.endswith(".csv"):
        return
    code, line = fails(*words, output, *(["--force"] if force else []))
    assert code == 2
    assert f"cannot write {output!r}: it is the " in line
    assert (room / name).read_bytes() == before


_OTHERS = {
    "page.html": b"<!doctype html><title>x</title>",
    "model.arb": b"ARBORETM....",
    "table.csv": b"a,b\n1,2\n",
    "notes.md": b"# notes\n",
    "picture.png": b"\x89PNG....",
    "table.parquet": b"PAR1....",
    "program": b"\x7fELF\0\0",
}


@pytest.mark.parametrize("name", _OTHERS)
@pytest.mark.parametrize("command", _COMMANDS)
def test_files_of_another_kind_need_force(room, command, name):
    may = {
        "train": ["model.arb"], "curve": ["picture.png"], "report": ["page.html"],
        "show": ["notes.md"], "impute": ["table.csv"],
        "predict": ["table.csv", "notes.md", "table.parquet"], "explain": ["table.csv", "notes.md"],
    }[command]  # fmt: skip
    if name in may or (command == "impute" and not name.endswith(".csv")):
        return
    (room / name).write_bytes(_OTHERS[name])
    code, line = fails(*_COMMANDS[command][0], name)
    assert code == 2
    assert "--force" in line or "--curve draws" in line
    assert (room / name).read_bytes() == _OTHERS[name]


def test_force_replaces_other_kinds_and_the_same_kind_needs_none(room):
    (room / "notes.md").write_text("# notes\n")
    ok("train", "d.csv", "-t", "fate", "-o", "notes.md", "--force")
    ok("train", "d.csv", "-t", "fate", "-o", "notes.md")
    ok("predict", "m.arb", "d.csv", "-o", "p.csv")
    ok("predict", "m.arb", "d.csv", "-o", "p.csv")
    (room / "empty.arb").touch()
    ok("train", "d.csv", "-t", "fate", "-o", "empty.arb")


@pytest.mark.parametrize("name", ["train.csv", "test.csv", "model.arb", "tree.png"])
def test_demo_leaves_files_of_its_users_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    code, line = fails("demo", "-o", tmp_path)
    assert code == 2
    assert "is not the demo's" in line
    assert (tmp_path / name).read_text() == "mine"
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_demo_runs_twice_in_one_place(tmp_path):
    for _ in range(2):
        assert run("demo", "-o", tmp_path / "demo").exit_code == 0
