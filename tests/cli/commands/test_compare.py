"""`arboretum compare`: a table on the screen and a page."""

import pytest

from tests.cli.cli_helpers import cells, fails, ok, run

FEW = ["--model", "cart", "--folds", 2]


def test_models_are_compared_and_a_page_is_written(shelf, tmp_path):
    page = tmp_path / "compare.html"
    result = run("compare", shelf / "seedlings.csv", "-t", "fate", *FEW, "-o", page)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("On 600 rows CART is right in ")
    assert "tree of 8 leaves*" in result.stdout
    assert "<title>Which model for fate?</title>" in page.read_text("utf-8")
    assert "open it in a browser" in result.stderr
    assert max(map(len, result.stdout.split("\n"))) <= 80


def test_numbers_in_the_order_of_time(shelf):
    text = ok("compare", shelf / "seedlings.csv", "-t", "height_cm", "--time", "planted",
              "--as-date", "planted", "--model", "cart", "--by", "mae")  # fmt: skip
    assert "5 folds in the order of time" in text
    assert "RMSE" in text


def test_the_winner_is_saved_with_what_predict_needs(shelf, tmp_path):
    model = tmp_path / "winner.arb"
    result = run("compare", shelf / "seedlings.csv", "-t", "fate", *FEW, "--save", model)
    assert result.exit_code == 0, result.output
    assert "CART on all rows" in result.stderr
    assert "accuracy" in ok("evaluate", model, shelf / "seedlings.csv")


def test_groups_are_no_feature_and_stay_together(shelf):
    text = ok("compare", shelf / "seedlings.csv", "-t", "fate", "--groups", "species", *FEW)
    assert "groups kept together" in text


def test_another_file_tests(shelf):
    text = ok(
        "compare",
        shelf / "seedlings.csv",
        "-t",
        "fate",
        "--test",
        shelf / "few.csv",
        "--model",
        "cart",
    )
    assert "tested on 40 other rows" in " ".join(text.split())
    assert cells(text, "mean") if "mean*" in text else True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--model", "card"], "did you mean"),
        (["--by", "luck"], "by of compare must be one of"),
        (["--time", "species"], "have no order in time"),
        (["--time", "ph", "--folds", 3], "makes folds of its own"),
        (["--groups", "nonsense"], "nonsense"),
        (["--time-limit", 0], "time_limit"),
        (["-o", "no/such/folder/x.html"], "does not exist"),
    ],
)
def test_what_is_wrong_is_one_line(shelf, words, message):
    _, line = fails("compare", shelf / "seedlings.csv", "-t", "fate", *words)
    assert message in line


def test_a_folder_is_not_a_table(tmp_path):
    _, line = fails("compare", tmp_path, "-t", "y")
    assert "is a directory" in line
