"""`arboretum report`: a page of a model file and a data file."""

import pytest

from tests.cli.cli_helpers import fails, run


def test_a_page_is_written(shelf, tmp_path):
    page = tmp_path / "fate.html"
    result = run(
        "report", shelf / "fate.arb", shelf / "seedlings.csv", "-o", page, "--train",
        shelf / "seedlings.csv", "--title", "Seedlings", "--rows", 5,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "open it in a browser" in result.stderr
    text = page.read_text("utf-8")
    assert "<title>Seedlings</title>" in text
    assert '"target":"fate"' in text


def test_numbers_have_a_page_too(shelf, tmp_path):
    page = tmp_path / "height.html"
    assert run("report", shelf / "height.arb", shelf / "seedlings.csv", "-o", page).exit_code == 0
    assert '"task":"regression"' in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--rows", "some"], "--rows must be sample, none or a number"),
        (["--target", "nonsense"], "nonsense"),
        (["-o", "no/such/folder/x.html"], "does not exist"),
    ],
)
def test_what_is_wrong_is_said(shelf, words, says):
    _, line = fails("report", shelf / "fate.arb", shelf / "seedlings.csv", *words)
    assert says in line
