"""The yardstick of the peers' own tests: which fail, why, and which are listed."""

import pytest

from benchmarks.peers import (
    LIST,
    SUITES,
    Outcome,
    Suite,
    deliberate,
    first_line,
    main,
    reason_of,
    run,
)

TEST = """
from sklearn.tree import DecisionTreeClassifier
import pytest


def test_the_class_is_swapped():
    assert DecisionTreeClassifier.__module__.startswith("arboretum.")


def test_that_makes_a_model():
    DecisionTreeClassifier()


@pytest.mark.parametrize("n", [1, 2])
def test_that_fails(n):
    raise ValueError("no answer\\nfor this")


@pytest.mark.skip
def test_that_is_left_out():
    pass
"""


@pytest.mark.parametrize("names", [None, ("DecisionTreeClassifier",)])
def test_a_suite_runs_with_the_names_swapped(tmp_path, names):
    (tmp_path / "test_one.py").write_text(TEST)
    suite = Suite({"sklearn.tree": names})
    found = run(suite, tmp_path, [], jobs=1)
    assert [(one.file, one.test) for one in found] == [
        ("test_one", "test_the_class_is_swapped"),
        ("test_one", "test_that_makes_a_model"),
        ("test_one", "test_that_fails[1]"),
        ("test_one", "test_that_fails[2]"),
    ]
    assert [one.error for one in found] == ["", "", *["ValueError: no answer"] * 2]
    assert [one.test for one in found if one.reached] == ["test_that_makes_a_model"]


def test_a_cause_is_the_line_that_says_it():
    message = "arboretum.errors.DataError: y is sparse\nassert 3 == 4"
    assert first_line(message) == "arboretum.errors.DataError: y is sparse"
    assert first_line("\n assert 3 == 4\n +  where 3") == "assert 3 == 4"


def test_the_list_covers_a_test_with_or_without_its_parameters():
    reasons = deliberate("| sklearn | `a::b` | float64 |\n| other | `a::c` | no |", "sklearn")
    assert reasons == {"a::b": "float64"}
    assert reason_of(Outcome("a", "b[3]", "wrong"), reasons) == "float64"
    assert reason_of(Outcome("a", "c", "wrong"), reasons) == ""


def test_the_list_names_known_suites():
    text = LIST.read_text()
    named = sum(len(deliberate(text, peer)) for peer in SUITES)
    assert named == text.count("::test_")


def test_suites_without_installed_tests_need_a_folder(capsys):
    with pytest.raises(SystemExit):
        main(["xgboost"])
    assert "--source" in capsys.readouterr().err
