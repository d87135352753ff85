"""The benchmark of defaults: tables are held out by a rule, runs are made once, comparisons count right."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import best, best_tables
from benchmarks.best_peers import PEERS, FewCategories
from benchmarks.real_tables import RealTable, table_names


def tiny(name):
    """A small table of numbers, words and gaps."""
    rng = np.random.default_rng(0)
    number, word = rng.normal(size=90), rng.choice(["red", "green"], 90).astype(object)
    y = (number > 0).astype(int)
    number[::9], word[::8] = np.nan, None
    X = pd.DataFrame({"a number": number, "colour": word})
    return RealTable(name, X, pd.Series(y), "binary", 1, "made up")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Results go to a folder of their own; every table is the tiny one."""
    monkeypatch.setattr(best, "_table", tiny)
    monkeypatch.setattr(best, "_PEERS_FILE", tmp_path / "peers.jsonl")
    monkeypatch.setattr(best, "_OURS_FILE", tmp_path / "results" / "ours.jsonl")
    return tmp_path


def test_a_third_of_the_tables_is_held_out_as_drawn():
    assert best_tables.draw(table_names()) == best_tables.HELD_OUT
    assert len(best_tables.HELD_OUT) == len(table_names()) // 3
    assert not set(best_tables.HELD_OUT) & set(best_tables.DEVELOPMENT)
    assert set(best_tables.HELD_OUT) | set(best_tables.DEVELOPMENT) == set(table_names())


def test_runs_are_made_once_and_compared(folder, capsys):
    words = ["--tables", "one", "two", "--splits", "2"]
    best.main(["peers", "lightgbm", *words])
    best.main(["run", "ours", "LGBM", "n_estimators=5", *words])
    lines = (folder / "peers.jsonl").read_text().splitlines()
    assert {(run["table"], run["split"]) for run in map(json.loads, lines)} == {
        ("one", 0), ("one", 1), ("two", 0), ("two", 1),
    }  # fmt: skip
    assert not any(json.loads(line)["error"] for line in lines)
    best.main(["peers", "lightgbm", *words])
    assert (folder / "peers.jsonl").read_text().splitlines() == lines
    capsys.readouterr()
    best.main(["compare", "ours", "lightgbm", *words])
    assert "| lightgbm | all | 2 | " in capsys.readouterr().out
    best.main(["table", "ours", "lightgbm", *words])
    assert "| two | 60 | " in capsys.readouterr().out


def test_a_failed_run_has_the_reason_and_does_not_count(folder, capsys):
    best.main(["run", "bad", "LGBM", "num_leaves=-1", "--tables", "one", "--splits", "1"])
    (line,) = (folder / "results" / "ours.jsonl").read_text().splitlines()
    assert "num_leaves" in json.loads(line)["error"]
    best.main(["compare", "bad", "bad", "--tables", "one"])
    assert "bad" not in capsys.readouterr().out.split("\n", 3)[-1]


def test_wins_are_counted_beyond_half_a_percent(folder, capsys):
    runs = [
        best.Run(model, "1", table, 0, 60, loss, 1.0, 0.1, 2.0, 0.1)
        for model, losses in {"a": (0.5, 0.5, 0.5), "b": (0.6, 0.501, 0.4)}.items()
        for table, loss in zip(("one", "two", "three"), losses)
    ]
    text = "\n".join(json.dumps(vars(run)) for run in runs)
    (folder / "peers.jsonl").write_text(text)
    best.main(["compare", "a", "b", "--tables", "one", "two", "three"])
    assert "| b | all | 3 | 1-1 | 1.000 |" in capsys.readouterr().out


def test_sign_test_and_calibration():
    assert best.sign_test(0, 5) == pytest.approx(2 / 32)
    assert best.sign_test(3, 3) == 1.0
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20_000)
    y = (rng.uniform(size=20_000) < p).astype(int)
    assert best.calibration_error(y, np.column_stack([1 - p, p])) < 0.01
    assert best.calibration_error(y, np.column_stack([p, 1 - p])) > 0.3


def test_columns_of_many_levels_become_codes_where_categories_are_limited():
    X = pd.DataFrame({"few": ["a", "b"] * 200, "many": [f"w{i}" for i in range(400)]}, dtype=object)
    preparation = FewCategories()
    ready = preparation.training(X, pd.Series(np.zeros(400)))
    assert ready.dtypes.iloc[0] == "category"
    assert ready.dtypes.iloc[1].kind == "f"
    other = preparation.rows(pd.DataFrame({"few": ["c"], "many": ["new"]}, dtype=object))
    assert other.isna().all(axis=None)


@pytest.mark.parametrize("name", ["xgboost", "hgb"])
def test_peers_take_the_tables(name, folder):
    best.main(["peers", name, "--tables", "one", "--splits", "1"])
    (line,) = (folder / "peers.jsonl").read_text().splitlines()
    assert json.loads(line)["error"] == ""
    assert 0 < json.loads(line)["loss"] < json.loads(line)["guess"]
    assert PEERS[name].version == json.loads(line)["version"]
