"""ID3, C4.5 and its rules from the command line, and the page that documents them."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arboretum import C45Classifier, C45Rules, ID3Classifier, export_text, load
from tests.cli.cli_helpers import fails, ok, run

ROOT = Path(__file__).resolve().parents[2]
TABLES = ROOT / "tests" / "data" / "c45"
LABOR, TENNIS, VOTE = (TABLES / f"{name}.csv" for name in ("labor", "weather-nominal", "vote"))


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One model file per kind, trained with the command."""
    folder = tmp_path_factory.mktemp("c45")
    ok("train", LABOR, "-t", "class", "--model", "c45", "-o", folder / "c45.arb")
    ok("train", VOTE, "-t", "Class", "--model", "id3", "-o", folder / "id3.arb")
    ok("train", VOTE, "-t", "Class", "--model", "c45rules", "-o", folder / "c45rules.arb")
    return folder


# ---------------------------------------------------------------------- training
def test_parameters_are_set_like_those_of_cart(tmp_path):
    words = ["confidence=0.4", "subtree_raising=False", "pruning=None", "error_limit=weka"]
    settings = [word for setting in words for word in ("--set", setting)]
    output = ok(
        "train", LABOR, "-t", "class", "--model", "c45", *settings, "-o", tmp_path / "m.arb"
    )
    model = load(tmp_path / "m.arb")
    assert type(model) is C45Classifier
    assert (model.confidence, model.subtree_raising, model.pruning) == (0.4, False, None)
    assert model.error_limit == "weka"
    assert "confidence=0.4" in output


def test_the_model_is_that_of_the_library(models):
    frame = pd.read_csv(LABOR)
    y = frame.pop("class")
    assert export_text(load(models / "c45.arb")) == export_text(C45Classifier().fit(frame, y))


def test_held_out_rows_and_weights(tmp_path):
    frame = pd.read_csv(VOTE).assign(w=lambda f: np.arange(len(f)) % 3 + 0.5)
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("-t", "Class", "--model", "c45", "--weight", "w", "--test-size", "0.3")
    output = ok("train", tmp_path / "t.csv", *words, "-o", tmp_path / "m.arb")
    assert re.search(r"accuracy +0\.9", output)
    share = float(load(tmp_path / "m.arb").tree_.weight[0]) / frame["w"].sum()
    assert 0.6 < share < 0.8


def test_reduced_error_pruning_is_drawn_with_the_seed(tmp_path):
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        ok("train", VOTE, "-t", "Class", "--model", "c45", "--set", "pruning=reduced_error",
           "--seed", seed, "-o", tmp_path / f"{name}.arb")  # fmt: skip
    first, again, other = ((tmp_path / f"{name}.arb").read_bytes() for name in "abc")
    assert first == again
    assert first != other


# ---------------------------------------------------------------------- using
@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [("c45", LABOR, C45Classifier), ("id3", VOTE, ID3Classifier), ("c45rules", VOTE, C45Rules)],
)
def test_every_command_takes_every_model(models, tmp_path, name, data, kind):
    file = models / f"{name}.arb"
    model = load(file)
    assert type(model) is kind
    frame = pd.read_csv(data)
    truth = frame.pop(frame.columns[-1]).to_numpy()
    evaluated = ok("evaluate", file, data)
    accuracy = float((model.predict(frame) == truth).mean())
    assert f"{accuracy:.4f}" in evaluated
    ok("predict", file, data, "--proba", "-o", tmp_path / "p.csv")
    answers = pd.read_csv(tmp_path / "p.csv")
    assert answers["prediction"].tolist() == model.predict(frame).tolist()
    np.testing.assert_allclose(answers.iloc[:, 1:], model.predict_proba(frame))
    described = ok("describe", file)
    assert kind.__name__ in described
    assert f"{len(frame)} rows" in described
    document = json.loads(ok("describe", file, "--json"))
    assert document["model"] == kind.__name__
    assert (document["columns"][0].get("importance") is None) is (name == "c45rules")


def test_a_tree_is_shown_in_every_format(models, tmp_path):
    file = models / "c45.arb"
    assert ok("show", file) == export_text(load(file))
    assert "A missing value goes down every branch" in ok("show", file)
    assert "digraph" in ok("show", file, "--format", "dot")
    assert ok("show", file, "--format", "rules").startswith("IF ")
    ok("show", file, "-o", tmp_path / "tree.png")
    assert (tmp_path / "tree.png").read_bytes().startswith(b"\x89PNG")


def test_rules_are_shown_as_text(models):
    file = models / "c45rules.arb"
    text = f"{load(file).to_text()}\n"
    assert ok("show", file) == ok("show", file, "--format", "rules") == text
    assert f"{len(load(file).rules_)} rule" in ok("describe", file)
    size = json.loads(ok("describe", file, "--json"))["rules"]
    assert size == {"rules": len(load(file).rules_), "default": load(file).default_, "rows": 435}


def test_missing_and_unseen_values_are_predicted(models, tmp_path):
    blank = pd.read_csv(LABOR).iloc[:2].drop(columns="class")
    blank.iloc[0] = np.nan
    blank["pension"] = ["", "never heard of"]
    blank.to_csv(tmp_path / "blank.csv", index=False)
    result = run("predict", models / "c45.arb", tmp_path / "blank.csv", "--proba")
    assert result.exit_code == 0
    assert "never heard of" in result.stderr
    shares = pd.read_csv(io.StringIO(result.stdout)).iloc[:, 1:]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert 0 < shares.iloc[0].max() < 1  # several leaves answer


# ---------------------------------------------------------------------- what is wrong
BAD = [
    (
        "c45",
        ["--set", "confidence=0.7"],
        "'confidence' parameter of C45Classifier must be a number in (0, 0.5]",
    ),
    ("c45", ["--set", "subset=maybe"], "'subset' parameter of C45Classifier must be True or False"),
    ("c45", ["--set", "confidenc=0.1"], "no parameter 'confidenc': did you mean 'confidence'?"),
    ("c45", ["--prune-cv"], "C45Classifier has no pruning path"),
    ("c4", [], "--model 'c4' is unknown: did you mean 'c45'?"),
    ("c45", ["--task", "regression"], "does not support regression: choose --model cart or rf"),
    ("id3", ["--task", "regression"], "the model 'id3' does not support regression"),
]


@pytest.mark.parametrize(("model", "words", "message"), BAD)
def test_a_wrong_command_is_one_line(tmp_path, model, words, message):
    code, line = fails(
        "train", TENNIS, "-t", "play", "--model", model, *words, "-o", tmp_path / "m.arb"
    )
    assert code == 2
    assert message in line
    assert not (tmp_path / "m.arb").exists()


@pytest.mark.parametrize("model", ["id3", "c45", "c45rules"])
def test_a_target_of_quantities_is_one_line(csv, tmp_path, model):
    table = csv("x,y\n1,1.5\n2,2.5\n3,3.25\n")
    code, line = fails("train", table, "-t", "y", "--model", model, "-o", tmp_path / "m.arb")
    assert code == 2
    assert f"the model {model!r} does not support regression: choose --model cart" in line


def test_numbers_for_id3_are_named_with_the_way_out(csv, tmp_path):
    table = csv("a,b,y\n1,x,p\n2,x,q\n3,z,p\n4,z,q\n")
    words = ("train", table, "-t", "y", "--model", "id3", "-o", tmp_path / "m.arb")
    code, line = fails(*words)
    assert code == 1
    assert "'a'" in line
    assert "discretize='mdl'" in line
    ok(*words, "--set", "discretize=quantile", "--set", "n_bins=2")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "dot"], "C45Rules is a list of rules, there is no tree to show"),
        (["-o", "x.png"], "there is no tree to show: use --format text"),
        (["--tree", "0"], "C45Rules is a list of rules, there is no tree to show"),
        (["--max-depth", "1"], "--max-depth does not go with rules"),
    ],
)
def test_rules_cannot_be_drawn(models, words, message):
    code, line = fails("show", models / "c45rules.arb", *words)
    assert code == 2
    assert message in line


# ---------------------------------------------------------------------- the page is true
PAGE = (ROOT / "docs" / "c45.md").read_text(encoding="utf-8")


def test_the_example_of_the_page_prints_what_it_says(monkeypatch):
    code, printed = re.search(r"```python\n(.*?)```\n```\n(.*?)```", PAGE, re.DOTALL).groups()
    monkeypatch.chdir(ROOT)
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, {})
    assert out.getvalue() == printed


def test_the_commands_of_the_page_print_what_it_says(monkeypatch, tmp_path):
    pattern = r"```\narboretum (train .*?)\narboretum (show .*?)\n```\n```\n(.*?)```"
    train, show, printed = re.search(pattern, PAGE, re.DOTALL).groups()
    monkeypatch.chdir(ROOT)
    for command in (train, show):
        output = ok(*command.replace("tennis.arb", str(tmp_path / "tennis.arb")).split())
    assert output == printed
