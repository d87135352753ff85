"""Files that are read batch by batch: the models and predictions are those of the same rows in one file."""

import re

import numpy as np
import pandas as pd
import pytest

from arboretum import load
from arboretum.cli import streaming
from tests.cli.cli_helpers import fact, fails, ok


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table as a file, and in parts; another one to evaluate on."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "parts").mkdir()
    rng = np.random.default_rng(0)
    frames = []
    for n in (500, 200):
        frame = pd.DataFrame({"x": rng.normal(size=n), "city": rng.choice(list("abcd"), n)})
        frame["y"] = frame["x"] * 2 + (frame["city"] == "a") + rng.normal(size=n)
        frame["kind"] = np.where(frame["y"] > 0.5, "high", "low")
        frame["w"] = rng.integers(1, 4, n)
        frames.append(frame)
    train, valid = frames
    train.to_csv(folder / "train.csv", index=False)
    valid.to_csv(folder / "valid.csv", index=False)
    train[:300].to_parquet(folder / "parts" / "a.parquet")
    train[300:].to_parquet(folder / "parts" / "b.parquet")
    return folder


WORDS = ["-t", "kind", "--drop", "y", "--weight", "w", "--set", "n_estimators=5"]


@pytest.mark.parametrize("name", ["lgbm", "xgb"])
def test_a_pattern_of_files_gives_the_model_of_one_file(folder, name):
    one, parts = folder / "one.arb", folder / "parts.arb"
    ok("train", folder / "train.csv", *WORDS, "--model", name, "-o", one)
    text = ok("train", folder / "parts" / "*.parquet", *WORDS, "--model", name, "-o", parts)
    assert fact(text, "data").endswith("500 rows, read batch by batch")
    assert load(one).notes_["target"] == load(parts).notes_["target"] == "kind"
    expected = ok("predict", one, folder / "valid.csv", "--proba")
    assert ok("predict", parts, folder / "valid.csv", "--proba") == expected


def test_a_large_file_is_streamed_and_so_it_says(folder, monkeypatch):
    words = ["-t", "y", "--drop", "kind,w", "--set", "n_estimators=20", "--model", "xgb"]
    words += ["--valid", folder / "valid.csv", "--early-stopping", "3", "-o"]
    whole = ok("train", folder / "train.csv", *words, folder / "a.arb")
    expected = ok("predict", folder / "a.arb", folder / "valid.csv")
    monkeypatch.setattr(streaming, "memory_size", lambda: 10_000)
    text = ok("train", folder / "train.csv", *words, folder / "b.arb")
    assert fact(text, "data").endswith("read batch by batch")
    assert fact(text, "best round") == fact(whole, "best round")
    assert "R²" in text
    out = folder / "out.csv"
    ok("predict", folder / "b.arb", folder / "valid.csv", "-o", out)
    assert out.read_text() == expected
    ok("predict", folder / "b.arb", folder / "parts" / "*.parquet", "-o", folder / "out.parquet")
    assert len(pd.read_parquet(folder / "out.parquet")) == 500


BAD = {
    "a share of the rows": (["--model", "lgbm", "--test-size", "0.2"], "--test-size .*give --valid"),
    "a model that needs the table": (["--model", "rf"], "RandomForestClassifier needs the table in memory"),
    "a column that is not there": (["--model", "lgbm", "--drop", "z"], "no column 'z' for --drop"),
    "a format": (["--model", "lgbm", "--sep", ";"], "format of a text file needs a file .* as a whole"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_streams_cannot_do_is_refused(folder, case):
    words, message = BAD[case]
    pattern, model = folder / "parts" / "*.parquet", folder / "bad.arb"
    _, line = fails("train", pattern, "-t", "kind", "-o", model, *words)
    assert re.search(message, line)
    assert not model.exists()


def test_predictions_of_a_stream_need_a_file(folder):
    model = folder / "c.arb"
    ok("train", folder / "train.csv", *WORDS, "--model", "lgbm", "-o", model)
    pattern = folder / "parts" / "*.parquet"
    assert "give -o predictions.csv or .parquet" in fails("predict", model, pattern)[1]
    line = fails("predict", model, pattern, "-o", folder / "x.csv", "--id", "x")[1]
    assert "--id needs a file" in line
