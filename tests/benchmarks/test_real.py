"""The benchmark on real tables: peers get what they need, ratios mean what they say."""

import json
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from benchmarks import real
from benchmarks.__main__ import main
from benchmarks.harness import Options
from benchmarks.real_losses import guess, loss, relative_loss
from benchmarks.real_models import MODELS, Categories, Codes, FilledCodes, available
from benchmarks.real_plot import draw_tables
from benchmarks.real_report import plain_tables, print_tables
from benchmarks.real_results import Contender, Pair, TableResult, summaries
from benchmarks.real_tables import RealTable, table_names

PEERS = [model for model in MODELS.values() if available(model) and model.name != "ydf"]


def tiny(name="tiny", task="binary", n=90):
    """A small table of numbers, words and gaps."""
    rng = np.random.default_rng(0)
    number = rng.normal(size=n)
    word = rng.choice(["red", "green", "blue"], n).astype(object)
    y = (number > 0).astype(int) + (word == "red") * (task == "classes")
    number[::9], word[::8] = np.nan, None
    X = pd.DataFrame({"a number, [really]": number, "colour": word, "whole": np.arange(n) % 5})
    y = pd.Series(y * 1.5 if task == "regression" else y)
    return RealTable(name, X, y, task, 1, "made up")


def pair(model="cart", fit=2.0, ratio=1.0, threads=None):
    """A made-up pair: how many times as fast, and how much more loss."""
    ours = Contender(1.0, 1.0, 0.5, (0.2 * ratio,))
    theirs = Contender(fit, 3.0, 0.5, (0.2,), prepare=1.0, prepare_rows=1.0)
    return Pair(model, ours, theirs, (1e-9,), cold=1.25, threads=threads)


def table(name, *pairs, rows=1_000, words=1):
    return TableResult(name, rows, 4, words, 3, "binary", "made up", 5, pairs)


# ---------------------------------------------------------------------- losses
def test_losses_are_those_of_the_textbook():
    y = np.array([0, 2, 1])
    sure = np.eye(3)[y]
    assert loss("log", y, sure) == 0
    assert loss("brier", y, sure) == 0
    assert loss("log", y, np.full((3, 3), 1 / 3)) == pytest.approx(np.log(3))
    assert loss("brier", y, np.full((3, 3), 1 / 3)) == pytest.approx(np.sqrt(2 / 3))
    assert loss("log", y, 1 - sure) == pytest.approx(-np.log(1e-6))  # clipped
    assert guess("log", y, y, regression=False) == pytest.approx(np.log(3))
    assert guess("brier", np.array([0.0, 2.0]), np.array([1.0, 3.0]), True) == pytest.approx(2**0.5)


def test_ratios_of_losses_that_are_all_but_nought_are_near_one():
    assert relative_loss([1e-8], [1e-12], [0.7]) == pytest.approx(1, abs=1e-4)
    assert relative_loss([0.3], [0.2], [0.7]) == pytest.approx(1.5, abs=0.01)


# ---------------------------------------------------------------------- what peers are given
def test_codes_keep_gaps_and_know_words_they_never_saw():
    table = tiny()
    codes = Codes()
    train = codes.training(table.X, table.y)
    assert train.dtype == np.float32
    assert np.isnan(train[0]).sum() == 2  # the first row lacks both
    strange = table.X.iloc[[1, 2]].assign(colour=["violet", None])
    rows = codes.rows(strange)
    assert rows[0, -1] == -1
    assert np.isnan(rows[1, -1])


def test_filled_codes_have_no_gaps():
    table = tiny()
    codes = FilledCodes()
    train = codes.training(table.X, table.y)
    assert not np.isnan(train).any()
    assert train[0, 0] == pytest.approx(np.nanmedian(table.X.iloc[:, 0]), rel=1e-6)
    assert train[0, -1] == -2


def test_categories_are_those_of_the_training_rows():
    table = tiny()
    categories = Categories()
    train = categories.training(table.X, table.y)
    assert list(train) == ["c0", "c1", "c2"]
    assert train["c1"].dtype == "category"
    rows = categories.rows(table.X.assign(colour="violet"))
    assert rows["c1"].isna().all()
    assert rows["c1"].dtype == train["c1"].dtype


@pytest.mark.parametrize("task", ["binary", "classes", "regression"])
@pytest.mark.parametrize("model", PEERS, ids=lambda model: model.name)
def test_every_peer_takes_its_preparation_and_answers(model, task):
    table = tiny(task=task)
    preparation = model.preparation()
    ready = preparation.training(table.X, table.y)
    peer = model.make_peer(task == "regression", 0).set_params(
        **({} if model.name == "cart" else {"n_estimators": 2})
    )
    peer.fit(ready, table.y)
    answer = real._answer(peer, preparation.rows(table.X), task == "regression")
    assert np.isfinite(loss(model.loss, table.y.to_numpy(), answer))
    if task != "regression":
        assert answer.shape == (90, table.y.nunique())


# ---------------------------------------------------------------------- measuring
@pytest.mark.parametrize("task", ["classes", "regression"])
def test_a_table_is_measured_on_every_split(task):
    case = real.RealCase("tiny", lambda name: tiny(name, task))
    got = case.measure(Options(repeat=2, jobs=2, models=("cart",)), lambda what: None)
    assert (got.rows, got.words, got.levels, got.splits, got.failed) == (90, 1, 3, 10, {})
    (one,) = got.pairs
    assert len(one.ours.losses) == len(one.theirs.losses) == len(one.guessing) == 10
    assert min(one.ours.fit, one.theirs.fit, one.theirs.prepare, one.cold, one.threads) > 0
    assert max(one.ours.losses) < 2 * max(one.guessing)


def test_a_model_that_fails_does_not_stop_the_others(monkeypatch):
    def broken(*arguments):
        raise ValueError("no such luck")

    monkeypatch.setattr(real, "_pair", broken)
    got = real.RealCase("tiny", tiny).measure(Options(models=("cart",)), lambda what: None)
    assert got.failed == {"cart": "ValueError: no such luck"}


def test_small_tables_are_split_more_often():
    assert [real._n_splits(n) for n in (150, 2_000, 10_000, 40_000)] == [10, 5, 2, 1]


def test_quick_tables_exist():
    assert set(real.QUICK_CASES) < set(table_names())


# ---------------------------------------------------------------------- what it comes to
def test_ratios_are_read_as_they_should():
    one = pair(fit=2.0, ratio=1.5)
    assert (one.fit_speed, one.fit_speed_from_frame) == (2.0, 3.0)
    assert (one.predict_speed, one.predict_speed_from_frame, one.predict_few_speed) == (
        3.0,
        4.0,
        1.0,
    )
    assert one.loss == pytest.approx(1.5)


def test_summaries_tell_words_from_numbers_and_name_the_worst():
    results = [
        table("a", pair(fit=1.0, ratio=0.9), words=0),
        table("b", pair(fit=4.0, ratio=1.2)),
        table("c", pair(fit=0.5, ratio=1.001)),
        table("d", pair(fit=0.5, ratio=2.0), rows=100),
    ]
    (numbers,), (words,), (every,) = (summaries(results, w) for w in (False, True, None))
    assert [len(s.pairs) for s in (numbers, words, every)] == [1, 3, 4]
    assert words.mean("fit_speed") == pytest.approx(1.0)
    assert every.worst("fit_speed", 2) == [("c", 0.5), ("d", 0.5)]
    assert every.worst("loss")[0][0] == "d"
    assert (every.won, every.lost) == (1, 2)
    assert [name for name, _ in every.far] == ["b"]  # d is too small to be held to it


def test_report_names_tables_threads_and_failures():
    results = [
        table("fast", pair(fit=9.0, threads=1.5), pair("lgbm"), words=0),
        table("slow", pair(fit=0.25, ratio=1.3, threads=0.5)),
        TableResult("sad", 10, 2, 0, 0, "binary", "x", 1, (), {"forest": "ValueError: no"}),
    ]
    out = StringIO()
    print_tables(results, Console(file=out, width=200))
    text = out.getvalue()
    for told in ("3 tables, 1 of them with words", "DecisionTree, scikit-learn", "slow 0.25×",
                 "slow 1.300", "slower on slow 0.50×", "failed sad, RandomForest: ValueError: no",
                 "LGBM, LightGBM"):  # fmt: skip
        assert told in text
    plain = json.loads(json.dumps(plain_tables(results)))
    assert plain["summary"]["words"]["cart"]["mean"]["fit_speed"] == pytest.approx(0.25)
    assert plain["tables"][0]["pairs"][0]["ratios"]["fit_speed"] == 9.0


def test_picture_has_a_row_per_model():
    pytest.importorskip("matplotlib")
    results = [table("a", pair(), pair("lgbm", ratio=3.0), words=0), table("b", pair(fit=0.1))]
    speed, losses = draw_tables(results).axes
    assert len(speed.get_yticks()) == 2
    assert speed.get_xscale() == losses.get_xscale() == "log"


def test_command_takes_tables_and_models(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(real, "experiments", lambda jobs: {"tiny": real.RealCase("tiny", tiny)})
    asked = "real --quick --repeat 1 --jobs 1 --models cart --case tiny --out"
    assert main([*asked.split(), str(tmp_path)]) == 0
    assert {p.name for p in tmp_path.iterdir()} == {"real-part-quick.json", "real-part-quick.png"}
    plain = json.loads((tmp_path / "real-part-quick.json").read_text(encoding="utf-8"))
    assert [t["name"] for t in plain["real"]["tables"]] == ["tiny"]
    assert "DecisionTree, scikit-learn" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["real", "--models", "forrest"], "unknown model 'forrest': did you mean forest?"),
        (["cart", "--models", "forest"], "cart has none"),
        (["real", "--case", "titanik"], "unknown case 'titanik': did you mean titanic?"),
    ],
)
def test_wrong_names_are_one_clear_line(arguments, message, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("task", ["binary", "classes", "regression"])
def test_ydf_answers_in_the_order_of_the_classes(task):
    pytest.importorskip("ydf")
    table = tiny(task=task, n=400)
    if task == "binary":
        table = RealTable("more", table.X, (table.X.iloc[:, 0] > -1).astype(int), task, 1, "")
    model = MODELS["ydf"]
    preparation = model.preparation()
    ready = preparation.training(table.X, table.y)
    peer = model.make_peer(task == "regression", 0).fit(ready, table.y)
    answer = real._answer(peer, preparation.rows(table.X), task == "regression")
    y = table.y.to_numpy()
    assert loss("brier", y, answer) < 0.6 * guess("brier", y, y, task == "regression")
