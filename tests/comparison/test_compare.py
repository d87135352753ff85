"""`compare`: its scores are those of scikit-learn on the same folds; what fails is a row with a reason."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from arboretum import CARTClassifier, compare
from arboretum.comparison import running
from arboretum.data.checks import members_silent
from arboretum.errors import DataError, ParameterError
from tests.comparison.comparison_tables import CHEAP, of_classes, of_numbers, table


@pytest.mark.parametrize(
    ("make", "figures"),
    [
        (of_classes, {"loss": "neg_log_loss", "accuracy": "accuracy", "auc": "roc_auc"}),
        (of_numbers, {"loss": "neg_root_mean_squared_error", "r2": "r2", "mae": "neg_mean_absolute_error"}),
    ],
)  # fmt: skip
def test_scores_are_those_of_cross_val_score(make, figures):
    result = make()
    X, y = result.question.X, result.question.y
    for entry in result.ranked:
        model = entry.candidate.fresh(1, 0)
        for key, scoring in figures.items():
            with members_silent():
                theirs = cross_val_score(model, X, y, cv=result.folds, scoring=scoring)
            sign = -1 if scoring.startswith("neg") else 1
            np.testing.assert_allclose(entry.scores(key), sign * theirs, rtol=1e-12, atol=1e-12)


def test_the_table_is_ranked_and_baselines_cannot_win():
    result = of_classes()
    frame = result.table
    assert list(frame.index) == [entry.name for entry in result.ranked]
    assert frame["loss"].is_monotonic_increasing
    assert (frame["loss_low"] <= frame["loss"]).all()
    assert (frame["loss"] <= frame["loss_high"]).all()
    assert result.winner == frame.index[frame["kind"] == "model"][0]
    assert type(result.best) is type(result.entry(result.winner).candidate.estimator)
    assert result.best is result.best
    assert result.best.n_features_in_ == 3
    assert result.best.classes_.tolist() == ["no", "yes"]


def test_a_baseline_that_is_as_good_is_not_ahead():
    X = pd.DataFrame({"a": np.arange(40.0)})
    result = compare(X, X["a"] > 19, models=["CART"], folds=4, progress_bar=False)
    assert next(entry.name for entry in result.ranked) == "CART"
    assert "ahead of every model" not in repr(result)


def test_the_simplest_is_small_and_nearly_as_good():
    result = of_classes()
    best = result.estimate(result.winner, "loss")
    near = result.estimate(result.simplest_name, "loss")
    assert near.value <= best.value + best.error
    assert (
        result.estimate(result.simplest_name, "size").value
        <= result.estimate(result.winner, "size").value
    )
    result.simplest.predict(result.question.X)


def test_frames_agree_with_each_other():
    result = of_numbers()
    folds = result.to_frame()
    assert len(folds) == 4 * len(result.ranked)
    means = folds.groupby("model")["loss"].mean()
    np.testing.assert_allclose(result.table["loss"], means[result.table.index], rtol=1e-12)
    pairs = result.differences
    assert len(pairs) == len(result.ranked) * (len(result.ranked) - 1) / 2
    one = pairs.iloc[0]
    assert one["difference"] == pytest.approx(means[one["first"]] - means[one["second"]])
    assert (pairs["p_adjusted"] >= pairs["p"]).all()


def test_a_comparison_reads_well_in_a_terminal():
    text = repr(of_classes())
    assert max(map(len, text.split("\n"))) <= 80
    assert text.startswith("On 160 rows ")
    assert "always answering “" in text.replace("\n", " ")
    assert "4-fold cross-validation" in text
    assert of_classes()._repr_html_().startswith("<pre>On 160 rows")


def test_suspicious_columns_are_named():
    X, y, _ = table()
    leak = X.assign(code=np.where(y == "yes", 1.0, 2.0), number=np.arange(len(X)))
    text = repr(compare(leak, y, models=["CART"], folds=2, progress_bar=False)).replace("\n", " ")
    assert "Suspicious: column 'code' holds values that determine the target" in text
    assert "Suspicious: column 'number' holds row numbers" in text


def test_the_picture_has_a_line_for_every_model():
    result = of_classes()
    ax = result.plot()
    assert [one.get_text() for one in ax.get_yticklabels()] == [one.name for one in result.ranked]
    assert len(ax.lines) == 2 * len(result.ranked)
    assert result.plot(ax) is ax


def test_the_same_result_for_any_number_of_threads_and_form_of_the_table():
    X, y, _ = table()
    frames = [
        compare(given, y, models=["RandomForest"], folds=3, n_jobs=n_jobs, progress_bar=False).to_frame()
        for given, n_jobs in ((X, 1), (X, 2), (pl.from_pandas(X), 1))
    ]  # fmt: skip
    for other in frames[1:]:
        kept = [name for name in other if not name.endswith("seconds")]
        pd.testing.assert_frame_equal(other[kept], frames[0][kept])


# ---------------------------------------------------------------------- models of the caller
def test_estimators_of_other_libraries_take_part():
    X, y, _ = table()
    numbers = X[["age"]]
    pipe = make_pipeline(StandardScaler(), LogisticRegression())
    result = compare(
        numbers, y, models=["cart", ("logistic", pipe)], folds=3, by="accuracy", progress_bar=False
    )
    theirs = cross_val_score(pipe, numbers, y, cv=result.folds)
    np.testing.assert_allclose(result.entry("logistic").scores("accuracy"), theirs)
    assert result.estimate("logistic", "size").value != result.estimate("logistic", "size").value


class _Certain(ClassifierMixin, BaseEstimator):
    """Has no probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class _Fails(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        raise ValueError("no luck\nwith details")


def test_a_model_that_fails_is_a_row_with_its_reason():
    X, y, _ = table()
    models = {"certain": _Certain(), "fails": _Fails(), "CART": CARTClassifier(max_depth=2)}
    models["fails"].predict = None
    result = compare(X, y, models=models, folds=3, progress_bar=False)
    assert result.entry("fails").reason == "ValueError: no luck"
    assert result.table.loc["fails", "reason"] == "ValueError: no luck"
    assert "fails: ValueError: no luck" in repr(result)
    share = np.mean([np.mean(y.iloc[test] == "no") for _, test in result.folds])
    assert result.estimate("certain", "accuracy").value == pytest.approx(share)


def test_a_model_that_does_not_suit_the_table_leaves_the_others():
    X, _, _ = table()
    y = np.arange(len(X)) % 3
    result = compare(X, y, models=["CoordinateBoosting", "CART"], folds=2, progress_bar=False)
    assert "two classes" in result.entry("CoordinateBoosting").reason
    assert result.winner == "CART"


# ---------------------------------------------------------------------- folds
def test_groups_time_and_given_folds():
    X, y, _ = table()
    groups = np.repeat(np.arange(20), 8)
    for options in ({"groups": groups}, {"groups": groups, "folds": GroupKFold(4)}):
        result = compare(X, y, models=["CART"], progress_bar=False, **options)
        for train, test in result.folds:
            assert not set(groups[train]) & set(groups[test])
    result = compare(X, y, models=["CART"], folds="time", progress_bar=False)
    assert all(train.max() < test.min() for train, test in result.folds)
    pairs = list(KFold(3).split(X))
    result = compare(X, y, models=["CART"], folds=pairs, progress_bar=False)
    assert all(np.array_equal(a, b) for a, b in zip(result.folds[1], pairs[1]))


def test_task_and_name_of_the_target_can_be_given(tmp_path):
    X, y, _ = table()
    grades = (y == "yes").astype(int).to_numpy()
    options = {"models": ["CART"], "folds": 2, "progress_bar": False}
    assert "accuracy" in compare(X, grades, **options).to_frame()
    numbers = compare(X, grades, task="regression", target="passed", **options)
    assert "accuracy" not in numbers.to_frame()
    assert not hasattr(numbers.best, "predict_proba")
    numbers.report(tmp_path / "page.html")
    assert "Which model for passed?" in (tmp_path / "page.html").read_text()


def test_a_test_table_of_its_own():
    X, y, _ = table()
    test = X[100:], y[100:]
    result = compare(X[:100], y[:100], models=["CART"], test=test, progress_bar=False)
    model = CARTClassifier(random_state=0).fit(X[:100], y[:100])
    assert result.estimate("CART", "accuracy").value == pytest.approx(model.score(*test))
    assert len(result.entry("CART").trials) == 1
    assert len(result.entry("CART").scores("loss")) == 10
    with pytest.raises(DataError, match="'maybe', which is not a class"):
        compare(X[:100], y[:100], test=(X[100:], y[100:].replace("no", "maybe")))
    with pytest.raises(ParameterError, match="replaces folds and groups"):
        compare(X, y, test=(X, y), folds=3)


# ---------------------------------------------------------------------- time and Ctrl-C
def test_a_time_limit_leaves_out_dear_models_and_gives_the_reason():
    X, y, _ = table()
    result = compare(X, y, models=CHEAP, folds=2, time_limit=1e-6, progress_bar=False)
    assert len(result.ranked) == 5
    assert result.winner == "CART"
    assert "time limit" in result.entry("LGBM").reason


def test_ctrl_c_returns_finished_models(monkeypatch):
    X, y, _ = table()

    class Stops(CARTClassifier):
        def fit(self, X, y):
            raise KeyboardInterrupt

    models = {"stops": Stops(), "later": CARTClassifier()}
    result = compare(X, y, models=models, folds=2, progress_bar=False)
    assert result.interrupted
    assert "interrupted" in result.entry("later").reason
    assert [entry.name for entry in result.ranked if entry.candidate.kind != "baseline"] == []
    monkeypatch.setattr(running, "shares_of", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        compare(X, y, models=["CART"], folds=2, progress_bar=False)


def test_progress_without_a_terminal_is_silent_when_quick(capsys):
    X, y, _ = table()
    compare(X, y, models=["CART"], folds=2, progress_bar=False)
    assert capsys.readouterr().err == ""
    compare(X, y, models=["CART"], folds=2, progress_bar=True)
    assert "compare" in capsys.readouterr().out


# ---------------------------------------------------------------------- bad input
ROWS = [[float(i), float(i % 7)] for i in range(40)]
BAD = {
    "one class": (ROWS, ["yes"] * 40, {}, "same class in all 40 rows"),
    "one number": (ROWS, [1.5] * 40, {}, "y is 1.5 in all 40 rows"),
    "few rows": (ROWS[:5], ["a", "b"] * 2 + ["a"], {}, "X has 5 rows"),
    "gaps": (ROWS, ["a", None] * 20, {}, "contains NaN"),
    "words that identify": (ROWS, [f"id{i}" for i in range(40)], {}, "identifies rows"),
    "row numbers": (ROWS, list(range(40)), {}, "it numbers the rows"),
    "numbers as words": (ROWS, [f"{i}.5" for i in range(40)], {}, "numbers written as words"),
    "other length": (ROWS, ["a", "b"], {}, "inconsistent numbers of samples"),
    "two targets": (ROWS, [[1.0, 2.0]] * 40, {}, "y has 2 columns"),
    "a folder": (".", ["a", "b"] * 20, {}, "is a directory"),
    "task": (ROWS, ["a", "b"] * 20, {"task": "ranking"}, "task of compare must be"),
    "by": (ROWS, ["a", "b"] * 20, {"by": "accuracies"}, "did you mean 'accuracy'"),
    "one fold": (ROWS, ["a", "b"] * 20, {"folds": 1}, "a number from 2 to 20"),
    "no folds": (ROWS, ["a", "b"] * 20, {"folds": "dates"}, "folds of compare must be"),
    "groups": (ROWS, ["a", "b"] * 20, {"groups": [1, 2]}, "groups of compare has 2 entries"),
    "unknown model": (ROWS, ["a", "b"] * 20, {"models": ["CARD"]}, "did you mean 'CART'"),
    "no model": (ROWS, ["a", "b"] * 20, {"models": [3]}, "an estimator with fit and predict"),
    "other task": (ROWS, [0.5, 1.0] * 20, {"models": [CARTClassifier()]}, "is a classifier"),
    "twice": (ROWS, ["a", "b"] * 20, {"models": ["CART", "cart"]}, "holds 'CART' twice"),
    "limit": (ROWS, ["a", "b"] * 20, {"time_limit": 0}, "time_limit of compare"),
    "test": (ROWS, ["a", "b"] * 20, {"test": 0.2}, "test of compare must be a pair"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence(case):
    X, y, options, message = BAD[case]
    with pytest.raises((DataError, ParameterError), match=message):
        compare(X, y, progress_bar=False, **options)
