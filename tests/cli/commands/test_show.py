"""`arboretum show`: every format, to stdout or to a file."""

import sys

import pytest

from arboretum import export_text, load, to_rules
from tests.cli.cli_helpers import fails, ok, run


def test_text_and_rules_are_those_of_the_library(shelf):
    model = load(shelf / "fate.arb")
    assert ok("show", shelf / "fate.arb") == export_text(model)
    assert ok("show", shelf / "fate.arb", "--format", "text") == export_text(model)
    assert ok("show", shelf / "fate.arb", "--format", "rules") == f"{to_rules(model)}\n"


def test_max_depth_cuts(shelf):
    text = ok("show", shelf / "fate.arb", "--max-depth", "0")
    assert text == export_text(load(shelf / "fate.arb"), max_depth=0)
    assert "truncated" in text
    dot = ok("show", shelf / "fate.arb", "--format", "dot")
    assert len(ok("show", shelf / "fate.arb", "--format", "dot", "--max-depth", "0")) < len(dot)
    assert dot.startswith("digraph Tree {")


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("tree.txt", b"|--- "),
        ("tree.dot", b"digraph"),
        ("tree.gv", b"digraph"),
        ("tree.PNG", b"\x89PNG"),
        ("tree.svg", b"<?xml"),
        ("tree.pdf", b"%PDF"),
    ],
)
def test_the_name_of_the_file_tells_the_format(shelf, tmp_path, name, start):
    result = run("show", shelf / "fate.arb", "-o", tmp_path / name)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert f"in {tmp_path / name} (" in result.stderr
    assert (tmp_path / name).read_bytes().startswith(start)


def test_the_format_wins_over_the_name(shelf, tmp_path):
    ok("show", shelf / "fate.arb", "--format", "svg", "-o", tmp_path / "tree.png")
    assert (tmp_path / "tree.png").read_bytes().startswith(b"<?xml")
    ok("show", shelf / "fate.arb", "--format", "rules", "-o", tmp_path / "rules")
    assert (tmp_path / "rules").read_text(encoding="utf-8").startswith("IF ")


def test_max_depth_makes_a_smaller_picture(shelf, tmp_path):
    ok("show", shelf / "fate.arb", "-o", tmp_path / "all.svg")
    assert "<!-- DecisionTreeClassifier of fate -->" in (tmp_path / "all.svg").read_text("utf-8")
    ok("show", shelf / "fate.arb", "-o", tmp_path / "top.svg", "--max-depth", "0")
    assert (tmp_path / "top.svg").stat().st_size < (tmp_path / "all.svg").stat().st_size


def test_without_matplotlib_the_way_out_is_told(shelf, tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    code, line = fails("show", shelf / "fate.arb", "-o", tmp_path / "tree.png")
    assert code == 1
    assert "pip install arboretum-trees[plot]" in line


BAD = [
    (["--format", "png"], "a picture needs a file: add -o tree.png"),
    (["--format", "rules", "--max-depth", "2"], "--max-depth does not go with rules"),
    (["--format", "gif"], "invalid value for '--format'"),
    (["--max-depth", "-1"], "invalid value for '--max-depth'"),
    (["-o", "tree.gif"], "the name 'tree.gif' does not give the format: add --format"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_wrong_options_are_one_line(shelf, words, message):
    code, line = fails("show", shelf / "fate.arb", *words)
    assert code == 2
    assert message in line


# ---------------------------------------------------------------------- boosters
@pytest.fixture(scope="module")
def booster(shelf, tmp_path_factory):
    file = tmp_path_factory.mktemp("show") / "b.arb"
    how = ["--set", "n_estimators=2", "--set", "max_depth=2"]
    ok("train", shelf / "few.csv", "-t", "fate", "--model", "xgb", *how, "-o", file)
    return file


def test_a_tree_of_a_booster_says_whose_it_is_and_what_it_gains(booster):
    text = ok("show", booster, "--tree", 4)
    assert text.startswith("tree 4 of 6: round 1, class survives\n")
    assert "(gain: " in text
    assert " cover: " in text
    assert text.endswith("(The value is added to the margin of class survives.)\n")


def test_decimals(booster, tmp_path):
    text = ok("show", booster, "--tree", 0, "--decimals", 5)
    assert text == export_text(load(booster), tree=0, decimals=5)
    values = [word for word in text.split() if word.startswith("[")]
    assert all(len(word.strip("[]").partition(".")[2]) == 5 for word in values)
    dot = ok("show", booster, "--format", "dot", "--decimals", 1)
    assert dot != ok("show", booster, "--format", "dot")
    ok("show", booster, "-o", tmp_path / "tree.svg", "--decimals", 1)
    assert "six digits" in fails("show", booster, "--format", "rules", "--decimals", 2)[1]
