"""Every parameter of XGBoost's front door does something, and what it should."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from arboretum import XGBClassifier, XGBRanker, XGBRegressor
from arboretum.callback import EarlyStopping, LearningRateScheduler, TrainingCallback
from tests.boosting.xgboost.xgb_cases import halves, mixed, numbers, saved, thirds

X, Y = mixed()
N = numbers()[0]
ALIVE = {
    "n_estimators": 3,
    "max_depth": 2,
    "max_leaves": 5,
    "max_bin": 6,
    "grow_policy": ("lossguide", {"max_leaves": 6}),
    "learning_rate": 0.1,
    "booster": ("dart", {"rate_drop": 0.5}),
    "tree_method": ("approx", {"max_bin": 6, "objective": "reg:gamma"}),
    "gamma": 5.0,
    "min_child_weight": 20.0,
    "max_delta_step": 0.05,
    "subsample": 0.5,
    "colsample_bytree": 0.4,
    "colsample_bylevel": 0.4,
    "colsample_bynode": 0.4,
    "reg_alpha": 3.0,
    "reg_lambda": 9.0,
    "base_score": 0.2,
    "random_state": (8, {"subsample": 0.5}),
    "num_parallel_tree": (3, {"subsample": 0.5}),
    "monotone_constraints": {"age": -1},
    "interaction_constraints": [["city"], ["colour", "age"]],
    "feature_types": ["c", "c", "c"],
    "feature_weights": ([0, 1, 1], {"colsample_bytree": 0.4}),
    "max_cat_to_onehot": 20,
    "max_cat_threshold": 1,
    "rate_drop": (0.9, {"booster": "dart"}),
    "skip_drop": (0.9, {"booster": "dart", "rate_drop": 0.9}),
    "one_drop": (True, {"booster": "dart", "rate_drop": 0.01}),
    "sample_type": ("weighted", {"booster": "dart", "rate_drop": 0.5, "n_estimators": 9}),
    "normalize_type": ("forest", {"booster": "dart", "rate_drop": 0.5}),
    "huber_slope": (3.0, {"objective": "reg:pseudohubererror"}),
    "quantile_alpha": (0.9, {"objective": "reg:quantileerror"}),
    "tweedie_variance_power": (1.9, {"objective": "reg:tweedie"}),
    "objective": "reg:gamma",
    "proposals": ("fit", {"tree_method": "approx", "max_bin": 6, "objective": "reg:gamma"}),
    "sketch_eps": (0.3, {"tree_method": "approx"}),
    "missing": 30.0,
}
ELSEWHERE = {  # tested by name below, in test_xgb.py or in test_xgb_input.py
    *("verbosity", "n_jobs", "sampling_method", "scale_pos_weight", "importance_type", "device"),
    *("validate_parameters", "enable_categorical", "multi_strategy"),
    *("eval_metric", "early_stopping_rounds", "callbacks", "lambdarank_pair_method"),
    *("lambdarank_num_pair_per_sample", "lambdarank_normalization", "ndcg_exp_gain"),
    *("lambdarank_score_normalization", "lambdarank_unbiased"),
    *("categorical_features", "ordinal_features", "unseen"),  # second_order/test_boosted_model.py
}


def test_no_parameter_is_forgotten():
    assert set(XGBRegressor().get_params()) == set(ALIVE) | ELSEWHERE


@pytest.mark.parametrize("name", ALIVE)
def test_a_parameter_changes_the_model(name):
    value, more = ALIVE[name] if isinstance(ALIVE[name], tuple) else (ALIVE[name], {})
    before = {"quantile_alpha": 0.3} if name == "quantile_alpha" else {}
    common = {"n_estimators": 5, **more}
    plain = XGBRegressor(**{**common, **before}).fit(X, np.abs(Y) + 0.1)
    other = XGBRegressor(**{**common, name: value}).fit(X, np.abs(Y) + 0.1)
    assert not np.array_equal(plain.predict(X), other.predict(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [("sampling_method", "uniform"), ("device", "cpu"), ("validate_parameters", True),
     ("enable_categorical", True), ("multi_strategy", "one_output_per_tree"),
     ("tree_method", "hist"), ("tree_method", "auto"), ("max_depth", 6), ("max_leaves", 0),
     ("learning_rate", 0.3), ("random_state", 0)],
)  # fmt: skip
def test_what_is_the_default_anyway_changes_nothing(name, value):
    how = {"n_estimators": 4, "subsample": 0.7}
    plain, other = XGBRegressor(**how).fit(X, Y), XGBRegressor(**how, **{name: value}).fit(X, Y)
    assert np.array_equal(plain.predict(X), other.predict(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [("lambdarank_pair_method", "mean"), ("lambdarank_num_pair_per_sample", 1),
     ("lambdarank_normalization", False), ("ndcg_exp_gain", False),
     ("lambdarank_score_normalization", False), ("objective", "rank:pairwise")],
)  # fmt: skip
def test_parameters_of_ranking_change_the_model(name, value):
    how = {"n_estimators": 5}
    grades = thirds(Y)
    plain = XGBRanker(**how).fit(X, grades, group=[100] * 4)
    other = XGBRanker(**how, **{name: value}).fit(X, grades, group=[100] * 4)
    assert not np.array_equal(plain.predict(X), other.predict(X))


def test_rows_of_the_second_class_may_count_more():
    labels = halves(Y)
    plain = XGBClassifier(n_estimators=5, max_depth=2).fit(X, labels)
    heavy = XGBClassifier(n_estimators=5, max_depth=2, scale_pos_weight=4.0).fit(X, labels)
    assert heavy.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.05


def test_constraints_hold():
    model = XGBRegressor(n_estimators=20, monotone_constraints={"age": 1}).fit(X, Y)
    for city in "abc":
        grid = X.iloc[np.zeros(40, int)].assign(city=city, age=np.linspace(18, 60, 40))
        assert np.diff(model.predict(grid)).min() >= 0
    model = XGBRegressor(n_estimators=20, interaction_constraints=[["city", "age"]]).fit(X, Y)
    for tree in model.trees_:
        for leaf in tree.leaves:
            asked, node = set(), leaf
            while (node := tree.parent[node]) >= 0:
                asked.add(int(tree.feature[node]))
            assert asked <= {0, 2} or asked == {1}


def test_growth_is_bounded():
    for how in ({"max_depth": 3}, {"max_leaves": 5, "grow_policy": "lossguide"}, {"max_leaves": 5}):
        model = XGBRegressor(n_estimators=4, **how).fit(X, Y)
        assert max(tree.max_depth for tree in model.trees_) <= how.get("max_depth", 6)
        assert max(tree.n_leaves for tree in model.trees_) <= how.get("max_leaves", 64)


def test_a_bar_is_shown_when_it_is_asked_for(capsys):
    XGBRegressor(n_estimators=2, verbosity=2).fit(X, Y)
    assert "XGBRegressor" in capsys.readouterr().out
    XGBRegressor(n_estimators=2).fit(X, Y)
    assert capsys.readouterr().out == ""


# ---------------------------------------------------------------------- watching
def test_figures_are_printed_as_the_peer_prints_them(capsys):
    peer = pytest.importorskip("xgboost")
    labels = halves(Y)
    for make in (XGBClassifier, peer.XGBClassifier):
        model = make(n_estimators=4, max_depth=2, eval_metric=["error", "auc"])
        model.fit(N, labels, eval_set=[(N, labels), (N[:50], labels[:50])], verbose=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[0]\tvalidation_0-error:0.")
    mine, theirs = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    shape = [[part.split(":")[0] for part in line.split("\t")] for line in mine]
    assert shape == [[part.split(":")[0] for part in line.split("\t")] for line in theirs]


def _split():
    X, y = numbers(600, seed=3)
    y = y + np.random.default_rng(9).normal(size=600) * 3
    return (X[:400], y[:400]), (X[400:], y[400:])


def test_early_stopping_waits_and_predicts_by_the_best_round():
    train, valid = _split()
    model = XGBRegressor(n_estimators=200, early_stopping_rounds=5, eval_metric=["mae", "rmse"])
    model.fit(*train, eval_set=[train, valid], verbose=False)
    curve = model.evals_result()["validation_1"]["rmse"]
    assert model.best_iteration == int(np.argmin(curve))
    assert model.best_score == min(curve)
    assert len(curve) == model.best_iteration + 1 + 5 == model.get_booster().num_boosted_rounds()
    best = (0, model.best_iteration + 1)
    assert np.array_equal(model.predict(valid[0]), model.predict(valid[0], iteration_range=best))
    everything = model.predict(valid[0], iteration_range=(0, 0))
    assert not np.array_equal(model.predict(valid[0]), everything)
    root = np.sqrt(np.mean((model.predict(valid[0]) - valid[1]) ** 2))
    assert root == pytest.approx(model.best_score)


def test_larger_may_be_better():
    train, valid = _split()
    labels = [(x, (y > 0).astype(int)) for x, y in (train, valid)]
    model = XGBClassifier(n_estimators=60, early_stopping_rounds=4, eval_metric="auc")
    model.fit(*labels[0], eval_set=[labels[1]], verbose=False)
    curve = model.evals_result()["validation_0"]["auc"]
    assert model.best_iteration == int(np.argmax(curve))


def test_callbacks_watch_change_and_stop():
    class Watcher(TrainingCallback):
        def __init__(self):
            self.seen = []

        def before_training(self, model):
            self.seen.append("begin")

        def after_iteration(self, model, epoch, evals_log):
            self.seen.append((epoch, len(evals_log["validation_0"]["rmse"])))
            return epoch == 2

        def after_training(self, model):
            self.seen.append(model.num_boosted_rounds())

    watcher = Watcher()
    model = XGBRegressor(n_estimators=9, callbacks=[watcher])
    model.fit(X, Y, eval_set=[(X, Y)], verbose=False)
    assert watcher.seen == ["begin", (0, 1), (1, 2), (2, 3), 3]
    falling = XGBRegressor(
        n_estimators=3, callbacks=[LearningRateScheduler(lambda m: 0.3 if m == 0 else 1e-9)]
    ).fit(X, Y)
    first = XGBRegressor(n_estimators=1).fit(X, Y)
    np.testing.assert_allclose(falling.predict(X), first.predict(X), atol=1e-6)


def test_early_stopping_as_a_callback_can_keep_the_best_rounds_only():
    train, valid = _split()
    stop = EarlyStopping(rounds=5, save_best=True, metric_name="mae", data_name="validation_0")
    model = XGBRegressor(n_estimators=200, eval_metric=["mae", "rmse"], callbacks=[stop])
    model.fit(*train, eval_set=[valid, train], verbose=False)
    curve = model.evals_result()["validation_0"]["mae"]
    assert len(model) == model.best_iteration + 1 == int(np.argmin(curve)) + 1
    never = EarlyStopping(rounds=2, min_delta=1e9)
    model = XGBRegressor(n_estimators=20, callbacks=[never])
    model.fit(*train, eval_set=[train], verbose=False)
    assert len(model) == 3


@pytest.mark.parametrize("more", [{}, {"booster": "dart", "rate_drop": 0.5}])
def test_figures_are_those_of_the_model(more):
    train, valid = _split()
    w = np.random.default_rng(2).random(200)
    model = XGBRegressor(n_estimators=8, **more)
    model.fit(*train, eval_set=[valid, train], sample_weight_eval_set=[w, None], verbose=False)
    for name, (x, y), weight in zip(model.evals_result(), (valid, train), (w, None), strict=True):
        error = np.average((model.predict(x) - y) ** 2, weights=weight) ** 0.5
        assert model.evals_result()[name]["rmse"][-1] == pytest.approx(error)


# ---------------------------------------------------------------------- scikit-learn
# Two splits of equal gain are told apart by rounding in histograms, and rows that are repeated are not
# rounded as one row of more weight is: min_child_weight=3 leaves the tables of these checks without ties. And
# margins near zero must agree in seven digits, so the first begins with a score that is not rounded.
MODELS = [
    XGBClassifier(n_estimators=5, base_score=0.5),
    XGBRegressor(n_estimators=5),
    XGBClassifier(n_estimators=5, tree_method="hist", min_child_weight=3),
    XGBRegressor(n_estimators=5, booster="dart", rate_drop=0.3, tree_method="hist"),
]


def _checks():
    for k, model in enumerate(MODELS):
        for copy, check in estimator_checks_generator(model):
            name = getattr(check, "func", check).__name__
            yield pytest.param(copy, check, id=f"{k}-{name}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("model", "check"), list(_checks()))
def test_scikit_learns_contract(model, check):
    check(model)


def test_tiny_tables_have_the_splits_of_histograms_without_their_rounding():
    x, y = numbers(100, missing=0.0)
    how = {"n_estimators": 4, "max_depth": 2, "min_child_weight": 10.0}
    auto, hist = (XGBRegressor(**how, tree_method=m).fit(x, y) for m in ("auto", "hist"))
    exact = XGBRegressor(**how, tree_method="exact").fit(x, y)
    assert np.array_equal(auto.predict(x), exact.predict(x))
    np.testing.assert_allclose(auto.predict(x), hist.predict(x), rtol=1e-6)


def test_a_weight_counts_as_often_as_the_row():
    x, y = numbers(200)
    w = np.random.default_rng(4).integers(0, 4, 200)
    heavy = XGBRegressor(n_estimators=4, max_depth=3, min_child_weight=15).fit(
        x, y, sample_weight=w
    )
    often = XGBRegressor(n_estimators=4, max_depth=3, min_child_weight=15)
    often.fit(x.repeat(w, axis=0), y.repeat(w))
    np.testing.assert_allclose(heavy.predict(x), often.predict(x), atol=1e-5)
    assert saved(heavy) != saved(often)
