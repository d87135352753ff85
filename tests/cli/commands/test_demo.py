"""`arboretum demo`: the whole tour, and the table it is made on."""

import shlex
import sys

from arboretum import load
from arboretum.cli import seedlings
from tests.cli.cli_helpers import cells, ok, run


def test_the_table_follows_its_recipe():
    lines = [",".join(row) for row in (seedlings.COLUMNS, *seedlings.recipe())]
    assert seedlings.PATH.read_text(encoding="utf-8").splitlines() == lines


def test_the_tour(tmp_path):
    directory = tmp_path / "new" / "demo dir"
    output = ok("demo", "-o", directory)
    assert sorted(path.name for path in directory.iterdir()) == [
        "model.arb",
        "test.csv",
        "train.csv",
        "tree.png",
    ]
    assert (directory / "tree.png").read_bytes().startswith(b"\x89PNG")
    # nothing is lost and nothing is judged by what was learned from
    parts = [(directory / f"{p}.csv").read_text().splitlines()[1:] for p in ("train", "test")]
    assert [len(part) for part in parts] == [450, 150]
    assert sorted(parts[0] + parts[1]) == sorted(seedlings.PATH.read_text().splitlines()[1:])
    # the tree finds the recipe again
    model = load(directory / "model.arb")
    assert 6 <= model.get_n_leaves() <= 12
    assert float(cells(output, "accuracy")[0]) > 0.8
    assert "height_cm <= 34." in output
    assert "species in {fig, maple, walnut}" in output
    assert cells(output[output.index("Which columns matter") :], "height_cm")[1].startswith("█")
    assert output.count("$ arboretum ") == 4
    # what it proposes works
    proposals = output[output.index("Try next") :].splitlines()[1:]
    assert len(proposals) == 5
    for line in proposals[:-1]:
        command, *words = shlex.split(line)
        assert command == "arboretum"
        assert run(*words).exit_code == 0


def test_without_matplotlib_the_tour_goes_on(tmp_path, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    result = run("demo", "-o", tmp_path)
    assert result.exit_code == 0
    assert "pip install arboretum-trees[plot]" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "Try next" in result.stdout
    assert "tree.png " not in result.stdout[result.stdout.index("Files") :]
    assert not (tmp_path / "tree.png").exists()


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "demo").write_text("")
    result = run("demo", "-o", tmp_path / "demo")
    assert result.exit_code == 2
    assert result.stderr.endswith("is a file: -o takes a directory\n")
    assert len(result.stderr.splitlines()) == 1
