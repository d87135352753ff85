"""Files the command line is tried on."""

import gzip
from pathlib import Path

import pytest

from arboretum.cli import seedlings
from tests.cli.cli_helpers import run


@pytest.fixture(scope="session")
def shelf(tmp_path_factory) -> Path:
    """A directory of files nobody writes to: data, and a model of each task."""
    shelf = tmp_path_factory.mktemp("shelf")
    header, *rows = seedlings.PATH.read_text(encoding="utf-8").splitlines()
    table = shelf / "seedlings.csv"
    table.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    (shelf / "few.csv").write_text("\n".join([header, *rows[:40]]) + "\n", encoding="utf-8")
    with gzip.open(shelf / "few.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([header, *rows[:40]]) + "\n")
    for name, target, extra in (
        ("fate", "fate", ["--set", "max_depth=3"]),
        ("height", "height_cm", ["--set", "max_depth=4"]),
        ("watered", "watered", ["--set", "max_depth=2"]),
    ):
        result = run("train", table, "--target", target, "-o", shelf / f"{name}.arb", *extra)
        assert result.exit_code == 0, result.output
    return shelf


@pytest.fixture
def csv(tmp_path):
    """Return a function that writes a small CSV file and returns its path."""

    def write(text: str, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
