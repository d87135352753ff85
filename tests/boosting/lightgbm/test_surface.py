"""What scripts call on LightGBM's estimators: their base, answers, callbacks and attributes."""

from __future__ import annotations

import inspect
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import arboretum as lgb
from arboretum import LGBMClassifier, LGBMModel, LGBMRanker, LGBMRegressor, ParameterError
from arboretum.boosting.callbacks.lightgbm_callbacks import EarlyStopException
from tests.boosting.lightgbm.lgbm_cases import groups, numbers, two_classes

X, Y = two_classes()
A, B = numbers()
EVEN = np.arange(len(Y)) % 2 == 0
HELD_OUT = {"eval_set": [(X[EVEN], Y[EVEN])]}


# ---------------------------------------------------------------------- the base
def test_the_base_is_a_model_of_any_objective():
    for kind in (LGBMClassifier, LGBMRegressor, LGBMRanker):
        assert issubclass(kind, LGBMModel)
        assert kind().get_params() == LGBMModel().get_params()
        spec = inspect.getfullargspec(kind.__init__)
        assert (spec.args, spec.varargs, spec.varkw) == (["self"], None, "kwargs")
    model = LGBMModel(objective="binary", n_estimators=5).fit(X, Y)
    classes = LGBMClassifier(n_estimators=5).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), classes.predict_proba(X)[:, 1])
    three = np.digitize(B, [0, 2])
    model = LGBMModel(objective="multiclass", num_class=3, n_estimators=5).fit(A, three)
    classes = LGBMClassifier(n_estimators=5).fit(A, three)
    np.testing.assert_array_equal(model.predict(A), classes.predict_proba(A))
    R, grades, sizes = groups()
    table = {"group": sizes, "eval_set": [(R, grades)], "eval_group": [sizes]}
    model = LGBMModel(objective="lambdarank", n_estimators=3).fit(R, grades, **table)
    ranker = LGBMRanker(n_estimators=3).fit(R, grades, **table)
    assert model.evals_result_ == ranker.evals_result_
    with pytest.raises(ParameterError, match="LGBMModel has no usual objective"):
        LGBMModel().fit(X, Y)


class Extended(LGBMClassifier):
    def __init__(self, *, extra="more", **kwargs):
        self.extra = extra
        super().__init__(**kwargs)


def test_a_subclass_passes_other_names_on():
    model = Extended(eta=0.2, n_estimators=3).fit(X, Y)
    assert model.get_params()["eta"] == model.learning_rate == 0.2
    assert model.get_params()["extra"] == "more"
    plain = LGBMClassifier(learning_rate=0.2, n_estimators=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))


def test_names_that_count_instead_of_an_argument_are_named():
    with pytest.warns(UserWarning, match="Found 'app' in params. Will use it instead of 'objec"):
        LGBMRegressor(app="mape", n_estimators=1).fit(A, B)
    R, y, sizes = groups()
    ranker = LGBMRanker(ndcg_at=[2], n_estimators=1)
    with pytest.warns(UserWarning, match="Found 'ndcg_at' in params"):
        ranker.fit(R, y, group=sizes, eval_set=[(R, y)], eval_group=[sizes], eval_at=[3])
    assert list(ranker.evals_result_["training"]) == ["ndcg@2"]


# ---------------------------------------------------------------------- answers
def test_rows_with_a_clear_score_take_fewer_trees():
    model = LGBMClassifier(n_estimators=20).fit(X, Y)
    stages = np.array(list(model.staged_decision_function(X)))
    whole, few = (
        stages[-1],
        model.predict(
            X,
            raw_score=True,
            pred_early_stop=True,
            pred_early_stop_freq=5,
            pred_early_stop_margin=2.0,
        ),
    )
    for row, score in enumerate(few):
        looks = [m for m in (4, 9, 14) if 2 * abs(stages[m, row]) > 2.0]
        assert score == pytest.approx(stages[looks[0], row] if looks else whole[row])
    assert (few != whole).any()
    stopped = model.set_params(
        pred_early_stop=True, pred_early_stop_freq=5, pred_early_stop_margin=2.0
    )
    np.testing.assert_array_equal(stopped.predict(X, raw_score=True), few)
    full = model.predict(X, raw_score=True, pred_early_stop=False)
    np.testing.assert_allclose(full, whole)
    with pytest.raises(ParameterError, match="pred_early_stop_freq must be an int"):
        model.predict(X, pred_early_stop_freq=0)


def test_rows_of_several_classes_end_by_the_gap_of_the_first_two():
    three = np.digitize(B, [0, 2])
    model = LGBMClassifier(n_estimators=12).fit(A, three)
    few = model.predict(A, raw_score=True, pred_early_stop=True, pred_early_stop_margin=0.5)
    tenth = np.sort(model.predict(A, raw_score=True, num_iteration=10))
    clear = tenth[:, -1] - tenth[:, -2] > 0.5
    assert 0 < clear.sum() < len(clear)
    same = (few == model.predict(A, raw_score=True, num_iteration=10)).all(axis=1)
    np.testing.assert_array_equal(same, clear)


def test_numbers_take_all_trees():  # every tree counts: LightGBM ignores it, too
    model = LGBMRegressor(n_estimators=12, pred_early_stop=True, pred_early_stop_margin=0.0)
    np.testing.assert_array_equal(
        model.fit(A, B).predict(A), LGBMRegressor(n_estimators=12).fit(A, B).predict(A)
    )


def test_columns_with_other_names_are_matched_by_position():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(A, columns=list("abcde"))
    model = LGBMRegressor(n_estimators=3).fit(frame, B)
    with pytest.warns(UserWarning, match="unseen at fit: 'z'; columns are matched by position"):
        found = model.predict(frame.rename(columns={"b": "z"}))
    np.testing.assert_array_equal(found, model.predict(frame))
    with pytest.raises(lgb.DataError, match="lacks columns"):
        model.predict(frame[list("abcd")].rename(columns={"b": "z"}))


def test_zeros_may_be_missing():
    Z = np.maximum(A, 0.0)
    model = LGBMRegressor(n_estimators=5, zero_as_missing=True).fit(Z, B)
    gaps = np.where(Z == 0, np.nan, Z)
    plain = LGBMRegressor(n_estimators=5).fit(gaps, B)
    np.testing.assert_array_equal(model.predict(Z), plain.predict(gaps))
    np.testing.assert_array_equal(model.predict(gaps), plain.predict(gaps))
    sparse = LGBMRegressor(n_estimators=5, zero_as_missing=True).fit(sp.csr_matrix(Z), B)
    np.testing.assert_array_equal(sparse.predict(sp.csr_matrix(Z)), plain.predict(gaps))
    np.testing.assert_array_equal(model.predictor()(Z), model.predict(Z))


# ---------------------------------------------------------------------- attributes
def _squares(y, score):
    return score - y, np.ones(len(y))


def test_the_objective_is_a_name_or_the_function():
    assert LGBMClassifier(n_estimators=1).fit(X, Y).objective_ == "binary"
    assert LGBMRegressor(n_estimators=1, objective="mae").fit(A, B).objective_ == "mae"
    assert LGBMRegressor(n_estimators=1, objective=_squares).fit(A, B).objective_ is _squares


def test_a_function_of_classes_is_followed_by_its_log_loss():
    model = LGBMClassifier(n_estimators=30, objective=_squares, verbose=-1)
    model.fit(X[~EVEN], Y[~EVEN], **HELD_OUT, callbacks=[lgb.early_stopping(5, verbose=False)])
    assert list(model.evals_result_["valid_0"]) == ["binary_logloss"]
    assert 0 < model.best_iteration_ < 30


def test_a_figure_that_is_nan_gives_a_warning():
    model = LGBMRegressor(n_estimators=3, learning_rate=0.9)
    with pytest.warns(UserWarning, match="gamma of 'valid_0' is NaN"):
        model.fit(A, B, eval_set=[(A, B + 9)], eval_metric="gamma")
    assert np.isnan(model.evals_result_["valid_0"]["gamma"][0])
    assert model.n_iter_ == 3


def test_arguments_of_evaluation_are_checked_in_lightgbm_s_words():
    model, words = LGBMRegressor(n_estimators=1), "Specify either 'eval_set' or 'eval_X'"
    with pytest.raises(ParameterError, match=words):
        model.fit(A, B, eval_set=[(A, B)], eval_X=A)
    with pytest.raises(ParameterError, match="eval_X and eval_y, not just one"):
        model.fit(A, B, eval_X=A)
    with pytest.raises(ParameterError, match="must be a tuple of same length"):
        model.fit(A, B, eval_X=(A, A), eval_y=B)
    R, y, sizes = groups()
    with pytest.raises(lgb.DataError, match="eval_group cannot be None"):
        LGBMRanker(n_estimators=1).fit(R, y, group=sizes, eval_X=R)
    with pytest.raises(ParameterError, match=r"Length of eval_names \(1\) not equal"):
        model.fit(A, B, eval_set=[(A, B), (A[:9], B[:9])], eval_names="one")
    assert "one" in model.fit(A, B, eval_set=[(A[:9], B[:9])], eval_names="one").evals_result_


# ---------------------------------------------------------------------- callbacks
def test_what_a_callback_sets_on_the_model_is_kept():
    def note(env):
        env.model.seen = env.iteration

    model = LGBMRegressor(n_estimators=4).fit(A, B, callbacks=[note])
    assert model.booster_.seen == 3
    assert not hasattr(model.fit(A, B).booster_, "seen")


def test_the_figures_of_a_callback_s_stop_are_the_best():
    def stop(env):
        if env.iteration == 3:
            raise EarlyStopException(1, env.evaluation_result_list)

    model = LGBMClassifier(n_estimators=9).fit(X[~EVEN], Y[~EVEN], **HELD_OUT, callbacks=[stop])
    figures = model.evals_result_["valid_0"]["binary_logloss"]
    assert len(figures) == 4
    assert model.best_iteration_ == 2
    assert model.best_score_ == {"valid_0": {"binary_logloss": figures[3]}}


def test_lightgbm_s_own_callbacks_work():
    theirs = pytest.importorskip("lightgbm")
    models, notes = [], []
    for kind in (lgb, theirs):
        notes.append({})
        callbacks = [
            kind.early_stopping(3, verbose=False), kind.record_evaluation(notes[-1]),
            kind.reset_parameter(learning_rate=lambda m: 0.3 * 0.9**m), kind.log_evaluation(0),
        ]  # fmt: skip
        model = LGBMClassifier(n_estimators=60, verbose=-1)
        model.fit(
            X[~EVEN], Y[~EVEN], eval_set=[(X[~EVEN], Y[~EVEN]), *HELD_OUT["eval_set"]],
            callbacks=callbacks,
        )  # fmt: skip
        models.append(model)
    assert models[0].best_iteration_ == models[1].best_iteration_ < 57
    assert notes[0] == notes[1] == models[1].evals_result_
    off = LGBMClassifier(n_estimators=9).fit(X, Y, callbacks=[theirs.early_stopping(0)])
    assert off.best_iteration_ == 0


def test_early_stopping_is_off_at_zero_and_below():
    for rounds in (0, -1):
        callback = lgb.early_stopping(rounds)
        assert not callback.enabled
        model = LGBMClassifier(n_estimators=9).fit(X[~EVEN], Y[~EVEN], callbacks=[callback])
        assert (model.best_iteration_, model.n_iter_) == (0, 9)
    assert len({lgb.early_stopping(3, min_delta=[0.1]), lgb.record_evaluation({})}) == 2  # hashable


@pytest.mark.parametrize(("given", "same"), [([], 0.0), ([0.02], 0.02)])
def test_a_short_list_of_differences_counts_for_all_metrics(given, same):
    found = [
        LGBMClassifier(n_estimators=40)
        .fit(
            X[~EVEN], Y[~EVEN], **HELD_OUT, eval_metric="auc",
            callbacks=[lgb.early_stopping(4, verbose=False, min_delta=one)],
        )
        .best_iteration_
        for one in (given, same)
    ]  # fmt: skip
    assert found[0] == found[1]


class Pruned(Exception):
    pass


class PruningCallback:
    """Of the shape of Optuna's LightGBMPruningCallback."""

    def __init__(self, trial, metric, valid_name="valid_0"):
        self.trial, self.metric, self.valid_name = trial, metric, valid_name

    def __call__(self, env):
        assert len(env.evaluation_result_list[0]) == 4  # 5 in a cross-validation
        for name, metric, score, larger in (one[:4] for one in env.evaluation_result_list):
            if (name, metric) == (self.valid_name, self.metric):
                assert not larger
                self.trial.reports.append((env.iteration, score))
        if env.iteration == 4:
            raise Pruned


def test_a_pruning_callback_ends_the_fit():
    trial = SimpleNamespace(reports=[])
    model = LGBMClassifier(n_estimators=9)
    with pytest.raises(Pruned):
        model.fit(
            X[~EVEN], Y[~EVEN], **HELD_OUT, callbacks=[PruningCallback(trial, "binary_logloss")]
        )
    assert [m for m, _ in trial.reports] == [0, 1, 2, 3, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figures = model.fit(X[~EVEN], Y[~EVEN], **HELD_OUT).evals_result_["valid_0"]
    assert figures["binary_logloss"][:5] == [score for _, score in trial.reports]
