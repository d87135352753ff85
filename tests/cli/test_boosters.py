"""Boosters from the command line: parameters, held-out rows, early stopping, learning curves."""

import numpy as np
import pandas as pd
import pytest

from arboretum import load
from tests.cli.cli_helpers import fact, fails, ok


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two tables of one kind, with words, numbers and a weight."""
    folder = tmp_path_factory.mktemp("boosters")
    rng = np.random.default_rng(0)
    for name, n in (("train.csv", 600), ("valid.csv", 300)):
        frame = pd.DataFrame({"x": rng.normal(size=n), "city": rng.choice(list("abcd"), n)})
        noise = rng.normal(size=n)
        frame["y"] = frame["x"] * 2 + (frame["city"] == "a") + noise
        frame["kind"] = np.where(frame["y"] > 0.5, "high", "low")
        frame["w"] = rng.integers(1, 4, n)
        frame.to_csv(folder / name, index=False)
    return folder


def _train(files, *words, target="y", drop="kind"):
    return ok(
        "train", files / "train.csv", "-t", target, "--drop", drop, "--model", "xgb",
        "--set", "n_estimators=60", "-o", files / "model.arb", *words,
    )  # fmt: skip


def test_a_booster_is_trained_judged_and_shown(files):
    text = _train(files, "--set", "max_depth=2", "--set", "eta=0.1", "--drop", "w")
    assert "XGBRegressor(learning_rate=0.1, max_depth=2" in fact(text, "model")
    assert "60 trees" in fact(text, "size")
    model = load(files / "model.arb")
    assert (model.max_depth, model.learning_rate, model.random_state) == (2, 0.1, 0)
    assert "R²" in ok("evaluate", files / "model.arb", files / "valid.csv")
    assert "600 rows" in ok("describe", files / "model.arb")
    assert "60" in ok("show", files / "model.arb")
    assert "x" in ok("show", files / "model.arb", "--tree", "3")
    found = ok("predict", files / "model.arb", files / "valid.csv").splitlines()
    answers = np.array([float(line) for line in found[1:]])
    table = pd.read_csv(files / "valid.csv")[["x", "city"]]
    np.testing.assert_allclose(answers, model.predict(table), rtol=1e-6)


def test_a_tree_is_shown_by_round_and_class(files):
    table = files / "three.csv"
    frame = pd.read_csv(files / "train.csv")
    frame["level"] = np.array(["low", "mid", "high"])[np.digitize(frame["y"], [-0.5, 1.0])]
    frame[["x", "city", "level"]].to_csv(table, index=False)
    model = files / "three.arb"
    for name in ("xgb", "gbm"):
        ok("train", table, "-t", "level", "--model", name, "--set", "n_estimators=4",
           "--set", "max_depth=2", "-o", model)  # fmt: skip
        assert "--tree 0 … 11, or by round and class --tree 0,0 … 3,2" in ok("show", model)
        text = ok("show", model, "--tree", "3,1")
        assert text.startswith("tree 10 of 12: round 3, class low\n")
        assert "class:" not in text
        assert text == ok("show", model, "--tree", "10") == ok("show", model, "--tree", "-1,low")
        _, line = fails("show", model, "--tree", "4,1")
        assert "--tree: there is no round 4" in line
        _, line = fails("show", model, "--tree", "0,highest")
        assert "there is no class 'highest'" in line


def test_held_out_rows_stop_boosting_and_draw_its_curve(files):
    curve = files / "curve.svg"
    text = _train(
        files, "--valid", files / "valid.csv", "--weight", "w", "--early-stopping", "5", "--curve", curve,
        target="kind", drop="y",
    )  # fmt: skip
    model = load(files / "model.arb")
    found = model.evals_result()["validation_1"]["logloss"]
    assert len(found) == model.best_iteration + 6 < 60
    assert f"{model.best_iteration + 1} of {len(found)} rounds" in fact(text, "best round")
    assert "held-out rows" in curve.read_text() or curve.stat().st_size > 1000
    assert "Scores on 300 rows" in text
    _train(files, "--test-size", "0.25", "--drop", "w", "--curve", files / "curve.png")
    assert (files / "curve.png").read_bytes()[:4] == b"\x89PNG"
    assert len(load(files / "model.arb").evals_result()["validation_1"]["rmse"]) == 60


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--early-stopping", "3"], "needs held-out rows"),
        (["--curve", "c.png"], "needs held-out rows"),
        (["--test-size", "0.3", "--curve", "c.txt"], ".png, .svg, .pdf"),
        (
            ["--test-size", "0.3", "--early-stopping", "3", "--set", "early_stopping_rounds=4"],
            "same",
        ),
        (["--set", "max_dept=3"], "did you mean 'max_depth'"),
        (["--set", "booster=gblinear"], "gblinear"),
    ],
)
def test_what_cannot_be_done_is_said(files, words, message):
    _, line = fails(
        "train", files / "train.csv", "-t", "y", "--model", "xgb", "-o", files / "no.arb", *words
    )
    assert message in line


def test_other_models_are_not_watched(files):
    for words in (["--early-stopping", "3"], ["--curve", "c.png"]):
        _, line = fails(
            "train",
            files / "train.csv",
            "-t",
            "y",
            "--test-size",
            "0.3",
            "-o",
            files / "no.arb",
            *words,
        )
        assert f"{words[0]} needs --model xgb" in line


@pytest.mark.parametrize(
    ("model", "name"), [("xgb", "early_stopping_rounds"), ("lgbm", "early_stopping_round")]
)
def test_early_stopping_is_asked_for_once(files, model, name):
    words = ("--test-size", "0.3", "--early-stopping", "3", "--set", f"{name}=2")
    _, line = fails(
        "train", files / "train.csv", "-t", "y", "--model", model, "-o", files / "no.arb", *words
    )
    assert name in line


def test_gradient_boosting_stops_early_by_rows_of_its_own(tmp_path):
    data = tmp_path / "d.csv"
    data.write_text("x,y\n" + "".join(f"{i % 17},{'ab'[i % 3 == 0]}\n" for i in range(120)))
    words = ["-t", "y", "--model", "gbm", "--early-stopping", "3", "-o", tmp_path / "m.arb"]
    output = ok("train", data, *words)
    assert "n_iter_no_change=3" in output
    _, line = fails("train", data, *words, "--set", "n_iter_no_change=5")
    assert "mean the same" in line
