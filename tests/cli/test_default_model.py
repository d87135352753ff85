"""Without --model, `train` fits boosted trees; options of other models name these models."""

import json
import shutil

import pytest

import arboretum
from arboretum.cli import seedlings, training
from tests.cli.cli_helpers import fact, run_as_typed


@pytest.fixture
def data(tmp_path, monkeypatch):
    header, *rows = seedlings.PATH.read_text(encoding="utf-8").splitlines()
    (tmp_path / "d.csv").write_text("\n".join([header, *rows[:80]]) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("target", "kind"),
    [("fate", "BoostedTreesClassifier"), ("height_cm", "BoostedTreesRegressor")],
)
def test_boosted_trees_are_the_default(data, target, kind):
    result = run_as_typed("train", "d.csv", "-t", target, "-o", "m.arb", "--test-size", 20)
    assert result.exit_code == 0, result.output
    assert fact(result.stdout, "model").startswith(f"{kind}(random_state=0), the default")
    assert type(arboretum.load("m.arb")).__name__ == kind
    shown = run_as_typed("describe", "m.arb")
    assert "What the fit tried" in shown.stdout
    document = json.loads(run_as_typed("describe", "m.arb", "--json").stdout)
    assert {line[0] for line in document["choices"]} >= {"settings", "kind", "members"}
    named = run_as_typed("train", "d.csv", "-t", target, "-o", "n.arb", "--model", "boosted")
    assert "the default" not in named.stdout


def test_files_beyond_memory_are_for_lgbm(data, monkeypatch):
    monkeypatch.setattr(training, "is_streamed", lambda path: True)
    options = training.Training("d.csv", "fate", "m.arb", early_stopping=3)
    assert training.with_model(options).model == "lgbm"


def test_the_default_of_several_files_is_named(data):
    shutil.copy("d.csv", "e.csv")
    result = run_as_typed("train", "?.csv", "-t", "fate", "-o", "m.arb")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("--model is lgbm: boosted trees, the default, need the table") == 1
    named = run_as_typed("train", "?.csv", "-t", "fate", "-o", "n.arb", "--model", "lgbm")
    assert "the default" not in named.stderr


@pytest.mark.parametrize(
    ("words", "models"),
    [
        (["--prune-cv"], "--prune-cv belongs to --model cart"),
        (["--early-stopping", 3, "--test-size", 20], "--model xgb, lgbm or gbm"),
        (["--curve", "c.png", "--test-size", 20], "--model xgb or lgbm"),
        (["--set", "num_leaves=3"], "--set num_leaves=… belongs to --model lgbm: "),
        (["--set", "no_such=3"], "has no parameter 'no_such'"),
    ],
)
def test_an_option_of_another_model_names_that_model(data, words, models):
    result = run_as_typed("train", "d.csv", "-t", "fate", "-o", "m.arb", *words)
    assert result.exit_code in (1, 2)
    assert models in result.stderr


def test_the_parameters_listed_are_those_of_the_default(data):
    result = run_as_typed("train", "d.csv", "-t", "fate", "-o", "m.arb", "--set", "help")
    assert "quality : " in result.stdout
