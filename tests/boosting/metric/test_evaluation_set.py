"""Metrics against the peers' own figures for fitted models, against brute force, and at the edges."""

import pickle

import numpy as np
import pytest

from arboretum.boosting.metric.evaluation_set import EvaluationSet
from arboretum.boosting.names.find import default_metric, find_metrics
from arboretum.boosting.names.lightgbm import LIGHTGBM as LIGHTGBM_TABLE
from arboretum.boosting.names.lightgbm import METRIC_NAMES
from arboretum.boosting.names.xgboost import XGBOOST as XGBOOST_TABLE
from arboretum.errors import DataError

N = 300


def _data(seed: int = 0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4)).round(2)
    signal = X[:, 0] + 0.5 * X[:, 1] ** 2 + rng.normal(size=N)
    return X, signal, rng.integers(0, 4, N) * rng.random(N)  # weights, a quarter of them 0


def _target(kind: str, signal: np.ndarray) -> np.ndarray:
    return {
        "real": signal,
        "positive": np.exp(signal) + 0.1,
        "count": np.floor(np.exp(signal)),
        "binary": (signal > 0.5).astype(float),
        "share": 1 / (1 + np.exp(-signal)),
        "classes": np.digitize(signal, [-0.5, 0.5, 1.5]).astype(float),
    }[kind]


# ---------------------------------------------------------------------- XGBoost
def _xgboost(X, y, objective, names, weight=None, groups=None, **parameters):
    """Return XGBoost's figures after three rounds, and its predictions."""
    xgb = pytest.importorskip("xgboost")
    data = xgb.DMatrix(X, y)
    if groups is not None:
        data.set_group(groups)
    if weight is not None:
        data.set_weight(weight)
    settings = {"objective": objective, "max_depth": 3, "nthread": 1, **parameters}
    settings |= {"eval_metric": names} if names else {}
    results: dict = {}
    booster = xgb.train(
        settings, data, 3, evals=[(data, "d")], evals_result=results, verbose_eval=False
    )
    return {name: values[-1] for name, values in results["d"].items()}, booster.predict(data)


XGBOOST = {
    "reg:squarederror": ("real", "rmse mae mape"),
    "reg:absoluteerror": ("real", "mae"),
    "reg:pseudohubererror": ("real", "mphe rmse"),
    "reg:quantileerror": ("real", "quantile"),
    "reg:squaredlogerror": ("positive", "rmsle"),
    "reg:logistic": ("share", "rmse logloss error@0.4 auc"),
    "binary:logistic": ("binary", "logloss error error@0.7 error@0.25 auc aucpr"),
    "multi:softprob": ("classes", "mlogloss merror auc aucpr"),
    "count:poisson": ("count", "poisson-nloglik rmse"),
    "reg:gamma": ("positive", "gamma-nloglik gamma-deviance"),
    "reg:tweedie": ("count", "tweedie-nloglik@1.5 tweedie-nloglik@1.2"),
}
XGBOOST_SETTINGS = {
    "reg:pseudohubererror": {"huber_slope": 0.7},
    "reg:quantileerror": {"quantile_alpha": [0.2, 0.5, 0.9]},
    "multi:softprob": {"num_class": 4},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", XGBOOST)
def test_xgboost_agrees(objective, weighted):
    kind, names = XGBOOST[objective]
    X, signal, weight = _data()
    y, settings = _target(kind, signal), XGBOOST_SETTINGS.get(objective, {})
    weight = weight if weighted else None
    theirs, prediction = _xgboost(X, y, objective, names.split(), weight, **settings)
    ours = {k: v for k, v in settings.items() if k != "num_class"}
    found = find_metrics(names.split(), "xgboost", **ours)
    figures = EvaluationSet(y, weight).evaluate(found, prediction)
    assert list(figures) == list(theirs) == names.split()
    assert figures == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    default, _ = _xgboost(X, y, objective, None, **settings)
    assert [default_metric(objective, "xgboost")] == list(default)


GROUPS = np.array([7, 1, 40, 2, 30, 20, 50, 64, 65, 21])
LISTS = ["ndcg", "ndcg@1", "ndcg@5", "ndcg@5-", "ndcg@1000", "ndcg-"]
LISTS += ["map", "map@3", "map@3-", "map-", "pre", "pre@1", "pre@10"]


@pytest.mark.parametrize("exponential", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_xgboost_ranking_agrees(weighted, exponential):
    X, signal, _ = _data(1)
    weight = np.linspace(0.5, 3, len(GROUPS)) if weighted else None
    grades = _target("classes", signal)
    for y, names in ((grades, LISTS[:6]), (_target("binary", signal), LISTS)):
        y[48:50] = [0, 1]  # every group has something to find, see the next test
        y[7] = 1
        theirs, score = _xgboost(
            X, y, "rank:ndcg", names, weight, GROUPS, ndcg_exp_gain=exponential
        )
        found = find_metrics(names, "xgboost", ndcg_exp_gain=exponential)
        ours = EvaluationSet(y, weight, GROUPS).evaluate(found, score)
        assert list(ours) == names
        assert ours == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("dialect", ["xgboost", "lightgbm"])
def test_a_group_without_relevant_rows_keeps_its_weight(dialect):
    """The peers give such a group weight 1 in the numerator of NDCG: a constant, not a mean."""
    X, signal, _ = _data(2)
    y, weight = _target("binary", signal), np.linspace(0.5, 3, len(GROUPS))
    y[8:48], y[50:80] = 0, 0  # the third group and the fifth
    y[[0, 7, 48]] = 1
    if dialect == "xgboost":
        theirs, score = _xgboost(X, y, "rank:ndcg", ["ndcg@4", "map@4"], weight, GROUPS)
    else:
        theirs, score = _lightgbm(
            X, y, "lambdarank", "ndcg,map", np.repeat(weight, GROUPS), GROUPS, eval_at=[4]
        )
    figures = EvaluationSet(y, weight, GROUPS).evaluate(
        find_metrics(["ndcg@4", "map@4"], dialect), score
    )
    shift = ((weight[[2, 4]] - 1) / weight.sum()).sum()
    assert abs(shift) > 0.01
    assert figures["ndcg@4"] == pytest.approx(theirs["ndcg@4"] + shift, abs=1e-6)
    assert figures["map@4"] == pytest.approx(theirs["map@4"], abs=1e-6)


def test_xgboost_areas_of_lists_agree():
    """Their pairs are ours where no two labels of a list are equal."""
    X, _, _ = _data(3)
    sizes = np.full(N // 6, 6)
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.permutation(6) for _ in sizes]).astype(float)
    weight = rng.random(len(sizes)) + 0.5  # which their areas of lists do not use, nor ours
    theirs, score = _xgboost(X, y, "rank:pairwise", ["auc"], weight, sizes)
    assert len(np.unique(score)) < N  # there are ties
    ours = find_metrics("auc", "xgboost")[0].evaluate(y, score, weight, sizes)
    assert ours == pytest.approx(theirs["auc"], abs=1e-6)
    binary = (y > 3).astype(float)
    theirs, score = _xgboost(X, binary, "rank:pairwise", ["aucpr"], None, sizes)
    ours = find_metrics("aucpr", "xgboost")[0].evaluate(binary, score, None, sizes)
    assert ours == pytest.approx(theirs["aucpr"], abs=1e-6)


@pytest.mark.parametrize("objective", ["rank:ndcg", "rank:map", "rank:pairwise"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lambdarank_num_pair_per_sample": 7},
        {"lambdarank_pair_method": "mean", "lambdarank_num_pair_per_sample": 2},
    ],
)
def test_default_metric_of_xgboost_lists(objective, settings):
    X, signal, _ = _data()
    theirs, _ = _xgboost(X, _target("binary", signal), objective, None, groups=GROUPS, **settings)
    assert [default_metric(objective, "xgboost", **settings)] == list(theirs)


def test_other_defaults_of_xgboost():
    X, signal, _ = _data()
    for objective in ("binary:logitraw", "binary:hinge"):
        y = _target("binary", signal)
        theirs, prediction = _xgboost(X, y, objective, None)
        name = default_metric(objective, "xgboost")
        assert find_metrics(name, "xgboost")[0].evaluate(y, prediction) == pytest.approx(
            theirs[name]
        )
    assert default_metric("reg:tweedie", "xgboost", tweedie_variance_power=1.3) == (
        "tweedie-nloglik@1.3"
    )


# ---------------------------------------------------------------------- LightGBM
def _lightgbm(X, y, objective, names, weight=None, groups=None, **parameters):
    """Return LightGBM's figures after three rounds, and its predictions."""
    lgb = pytest.importorskip("lightgbm")
    settings = {"objective": objective, "num_leaves": 7, "verbose": -1, "num_threads": 1}
    settings |= {"min_data_in_leaf": 5, **parameters, **({"metric": names} if names else {})}
    train = lgb.Dataset(X, y, group=groups)
    held_out = lgb.Dataset(X, y, weight=weight, group=groups, reference=train)
    results: dict = {}
    booster = lgb.train(
        settings, train, 3, valid_sets=[held_out], callbacks=[lgb.record_evaluation(results)]
    )
    return {name: v[-1] for name, v in results["valid_0"].items()}, booster.predict(X)


LIGHTGBM = {
    "regression": ("real", "l2,l1,rmse,quantile,mape,huber,fair,r2"),
    "regression_l1": ("real", "l1"),
    "huber": ("real", "huber"),
    "fair": ("real", "fair"),
    "quantile": ("real", "quantile"),
    "mape": ("positive", "mape"),
    "poisson": ("count", "poisson"),
    "gamma": ("positive", "gamma,gamma_deviance"),
    "tweedie": ("count", "tweedie"),
    "binary": ("binary", "binary_logloss,binary_error,auc,average_precision,cross_entropy"),
    "cross_entropy": ("share", "cross_entropy,kullback_leibler"),
    "multiclass": ("classes", "multi_logloss,multi_error"),
    "multiclassova": ("classes", "multi_logloss,multi_error"),
}
LIGHTGBM_SETTINGS = {
    "regression": {"alpha": 0.3, "fair_c": 2.5},
    "tweedie": {"tweedie_variance_power": 1.2},
    "multiclass": {"multi_error_top_k": 2},
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("objective", LIGHTGBM)
def test_lightgbm_agrees(objective, weighted):
    kind, names = LIGHTGBM[objective]
    X, signal, weight = _data()
    y, settings = _target(kind, signal), LIGHTGBM_SETTINGS.get(objective, {})
    weight = weight if weighted else None
    classes = {"num_class": 4} if kind == "classes" else {}
    theirs, prediction = _lightgbm(X, y, objective, names, weight, **settings, **classes)
    ours = EvaluationSet(y, weight).evaluate(
        find_metrics(names, "lightgbm", **settings), prediction
    )
    assert len(ours) == len(names.split(","))
    assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)
    default, _ = _lightgbm(X, y, objective, None, **classes)
    assert [default_metric(objective, "lightgbm")] == list(default)


@pytest.mark.parametrize(
    ("asked", "settings"),
    [
        ("ndcg,map", {}),
        ("ndcg,map,auc", {"eval_at": [5, 1, 5]}),
        ("ndcg", {"eval_at": [3, 1000], "label_gain": [0, 1, 2, 5]}),
        ("map", {"map_at": "2,7"}),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_ranking_agrees(asked, settings, weighted):
    X, signal, weight = _data(1)
    y = _target("classes", signal)
    y[[7, 48]] = 1
    weight = weight + 0.1 if weighted else None
    theirs, score = _lightgbm(X, y, "lambdarank", asked, weight, GROUPS, **settings)
    found = find_metrics(asked, "lightgbm", **settings)
    ours = EvaluationSet(y, weight, GROUPS).evaluate(found, score)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert all(metric.larger_is_better for metric in found)


def test_lightgbm_aliases_and_default_names():
    """An alias is the same metric to the peer, and an objective's name finds the same default."""
    lgb = pytest.importorskip("lightgbm")
    X, signal, _ = _data()
    y = np.abs(np.round(signal)).clip(0, 1)
    for alias, printed in METRIC_NAMES.items():
        if alias == printed:
            continue
        if printed == "multi_logloss":
            theirs, _ = _lightgbm(X, y, "multiclass", alias, num_class=2)
        else:
            ranks = printed in ("ndcg", "map")
            objective = "lambdarank" if ranks else "cross_entropy"
            theirs, _ = _lightgbm(X, y, objective, alias, groups=GROUPS if ranks else None)
        assert [m.name for m in find_metrics(alias, "lightgbm")] == list(theirs), alias
    for objective in LIGHTGBM_TABLE.objective_names:
        name = default_metric(objective, "lightgbm")
        settings = {"num_class": 2} if name == "multi_logloss" else {}
        groups = GROUPS if name == "ndcg" else None
        theirs, _ = _lightgbm(X, y + (name == "gamma"), objective, None, groups=groups, **settings)
        assert [m.name for m in find_metrics(name, "lightgbm")] == list(theirs), objective
    for nothing in ("None", "na", "null", "custom"):
        assert find_metrics(nothing, "lightgbm") == []
    assert lgb


# ---------------------------------------------------------------------- by hand and brute force
def _pairs(y, score, weight=None):
    """Return the share of pairs in order, pair by pair."""
    weight = np.ones(len(y)) if weight is None else weight
    right = total = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if y[i] > y[j]:
                product = weight[i] * weight[j]
                total += product
                right += product * ((score[i] > score[j]) + 0.5 * (score[i] == score[j]))
    return right / total


@pytest.mark.parametrize("shift", [0.0, -0.5], ids=["packed", "sorted"])
@pytest.mark.parametrize("seed", range(5))
def test_auc_counts_pairs(seed, shift):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, 2, 40), rng.integers(0, 8, 40) / 8 + shift
    y[:2] = 0, 1
    weight = rng.integers(0, 3, 40) + (np.arange(40) < 2)
    score[3] = -0.0
    for dialect in ("xgboost", "lightgbm"):
        auc = find_metrics("auc", dialect)[0]
        assert auc.evaluate(y, score) == pytest.approx(_pairs(y, score))
        assert auc.evaluate(y, score, weight) == pytest.approx(_pairs(y, score, weight))
        repeated = np.repeat(np.arange(40), weight)
        assert auc.evaluate(y, score, weight) == pytest.approx(
            auc.evaluate(y[repeated], score[repeated])
        )


def test_auc_of_lists_counts_pairs_of_unlike_labels():
    rng = np.random.default_rng(0)
    sizes = [1, 2, 5, 9, 3, 17, 2]
    y, score = rng.integers(0, 4, sum(sizes)), rng.integers(0, 5, sum(sizes))
    y[17:20] = 2  # a list of equals
    lists = np.split(np.arange(len(y)), np.cumsum(sizes)[:-1])
    each = [_pairs(y[rows], score[rows]) for rows in lists if len(np.unique(y[rows])) > 1]
    assert 0 < len(each) < len(sizes)
    found = find_metrics("auc", "xgboost")[0].evaluate(y, score, groups=sizes)
    assert found == pytest.approx(np.mean(each))


def test_areas_agree_with_scikit_learn():
    from sklearn.metrics import average_precision_score, ndcg_score

    rng = np.random.default_rng(0)
    y, score, weight = rng.integers(0, 2, 200), rng.random(200).round(1), rng.random(200)
    found = find_metrics("average_precision", "lightgbm")[0].evaluate(y, score, weight)
    assert found == pytest.approx(average_precision_score(y, score, sample_weight=weight))
    grades, score = rng.integers(0, 5, (20, 10)), rng.random((20, 10))
    found = find_metrics("ndcg@4", "xgboost", ndcg_exp_gain=False)[0].evaluate(
        grades.ravel(), score.ravel(), groups=[10] * 20
    )
    assert found == pytest.approx(ndcg_score(grades, score, k=4))


def test_pr_area_is_the_integral_of_the_interpolated_curve():
    """Between thresholds fp is linear in tp: integrate precision over recall in small steps."""
    y, score = np.array([0, 1, 1, 0, 1, 0, 0, 1]), np.array([9, 8, 7, 7, 6, 5, 4, 4.0])
    weight = np.array([1, 2, 1, 0.5, 3, 1, 1, 2])
    tp = np.r_[0, [np.sum((weight * y)[score >= s]) for s in np.unique(score)[::-1]]]
    fp = np.r_[0, [np.sum((weight * (1 - y))[score >= s]) for s in np.unique(score)[::-1]]]
    area = 0.0
    for a, b in zip(range(len(tp)), range(1, len(tp))):
        t = np.linspace(0, 1, 20001)
        t = (t[1:] + t[:-1]) / 2
        tps, fps = tp[a] + t * (tp[b] - tp[a]), fp[a] + t * (fp[b] - fp[a])
        area += np.mean(tps / (tps + fps)) * (tp[b] - tp[a]) / tp[-1]
    assert find_metrics("aucpr", "xgboost")[0].evaluate(y, score, weight) == pytest.approx(area)


def test_lists_of_any_length_are_ordered_as_one_sort_would():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 40, 50)
    score = rng.integers(-3, 4, sizes.sum()).astype(float)
    score[:5] = -np.inf
    group = np.repeat(np.arange(50), sizes)
    queries = EvaluationSet(np.zeros(len(score)), None, sizes).queries
    np.testing.assert_array_equal(queries.order(score), np.lexsort((-score, group)))


# ---------------------------------------------------------------------- edges
@pytest.mark.parametrize(
    ("dialect", "name", "expected"),
    [
        ("xgboost", "logloss", -np.log(1e-16) / 2),
        ("lightgbm", "binary_logloss", -np.log(1e-15) / 2),
        ("lightgbm", "cross_entropy", -np.log(1e-12) / 2),
        ("xgboost", "error", 0.5),
        ("lightgbm", "binary_error", 0.5),
    ],
)
def test_certain_predictions(dialect, name, expected):
    found = find_metrics(name, dialect)[0].evaluate([0, 1, 0, 1], [0, 1, 1, 0])
    assert found == pytest.approx(expected)


def test_certain_predictions_of_classes_and_means():
    p = np.array([[0.0, 1.0], [0.0, 1.0]])
    for name, dialect, least in (
        ("mlogloss", "xgboost", 1e-16),
        ("multi_logloss", "lightgbm", 1e-15),
    ):
        found = find_metrics(name, dialect)[0].evaluate([0, 1], p)
        assert found == pytest.approx(-np.log(least) / 2)
    for name in ("poisson-nloglik", "gamma-nloglik", "gamma-deviance"):
        assert np.isfinite(find_metrics(name, "xgboost")[0].evaluate([2.0, 1.0], [0.0, 1.0]))
    assert find_metrics("tweedie-nloglik@1.5", "xgboost")[0].evaluate([2.0], [0.0]) == np.inf
    assert np.isfinite(find_metrics("tweedie", "lightgbm")[0].evaluate([2.0], [0.0]))


def test_one_class_only():
    score = [0.1, 0.7, 0.3]
    for y in ([0, 0, 0], [1, 1, 1]):
        for weight in (None, [1.0, 0.3, 0.2]):
            assert np.isnan(find_metrics("auc", "xgboost")[0].evaluate(y, score, weight))
            assert np.isnan(find_metrics("aucpr", "xgboost")[0].evaluate(y, score, weight))
            assert find_metrics("auc", "lightgbm")[0].evaluate(y, score, weight) == 1
            assert find_metrics("average_precision", "lightgbm")[0].evaluate(y, score, weight) == 1
    weighed_out = find_metrics("auc", "xgboost")[0].evaluate([0, 1, 0], score, [1, 0, 1])
    assert np.isnan(weighed_out)
    p = np.full((3, 3), 1 / 3)
    assert np.isnan(find_metrics("auc", "xgboost")[0].evaluate([0, 1, 1], p))  # no row of class 2


def test_equal_scores_are_worth_one_half():
    y = [0, 1, 1, 0]
    assert find_metrics("auc", "xgboost")[0].evaluate(y, [0.5] * 4) == 0.5
    assert find_metrics("aucpr", "xgboost")[0].evaluate(y, [0.5] * 4) == 0.5
    assert find_metrics("average_precision", "lightgbm")[0].evaluate(y, [0.5] * 4) == 0.5
    p = np.full((4, 2), 0.5)
    assert find_metrics("merror", "xgboost")[0].evaluate(y, p) == 0.5  # the first class is taken
    assert find_metrics("multi_error", "lightgbm")[0].evaluate(y, p) == 1
    assert find_metrics("multi_error@2", "lightgbm")[0].evaluate(y, p) == 0


def test_lists_of_equal_labels():
    y, score, groups = [0, 0, 1, 1], [1, 2, 3, 4], [2, 2]
    expected = {"ndcg": 1, "ndcg-": 0.5, "map": 1, "map-": 0.5, "pre": 0.5, "auc": np.nan}
    expected |= {"aucpr": np.nan, "ndcg@1-": 0.5, "pre@1": 0.5}
    found = EvaluationSet(y, None, groups).evaluate(find_metrics(list(expected), "xgboost"), score)
    assert found == pytest.approx(expected, nan_ok=True)


def test_weights_of_zero():
    y, p = np.array([0.0, 1.0, 4.0]), np.array([1.0, 1.5, 2.0])
    for dialect, name in (("xgboost", "rmse"), ("lightgbm", "l2"), ("xgboost", "mape")):
        assert np.isnan(find_metrics(name, dialect)[0].evaluate(y, p, np.zeros(3)))
    assert find_metrics("mape", "xgboost")[0].evaluate(y, p) == np.inf
    assert find_metrics("mape", "xgboost")[0].evaluate(y, p, [0, 1, 1]) == 0.5
    assert find_metrics("r2", "lightgbm")[0].evaluate([2, 2], [1, 3]) == 0


def test_a_list_is_all_rows_unless_groups_are_given():
    y, score = [0, 1, 1, 0, 1], [5, 4, 3, 2, 1]
    for name in ("ndcg", "map@3", "pre@2"):
        metric = find_metrics(name, "xgboost")[0]
        assert metric.evaluate(y, score) == metric.evaluate(y, score, groups=[5])


def test_tweedie_at_a_power_of_one_is_poisson():
    y, p = [0.0, 2.0, 5.0], [0.5, 2.0, 3.0]
    one = find_metrics("tweedie", "lightgbm", tweedie_variance_power=1)[0].evaluate(y, p)
    assert one == find_metrics("poisson", "lightgbm")[0].evaluate(y, p)


def test_settings_change_the_figure():
    y, p = [0.0, 1.0, 3.0], [1.0, 1.5, 0.5]
    for dialect, name, settings in (
        ("xgboost", "mphe", {"huber_slope": 3}),
        ("xgboost", "tweedie-nloglik", {"tweedie_variance_power": 1.2}),
        ("lightgbm", "huber", {"alpha": 2}),
        ("lightgbm", "quantile", {"alpha": 0.1}),
        ("lightgbm", "fair", {"fair_c": 2}),
        ("lightgbm", "ndcg@2", {"label_gain": [0, 9, 9, 10]}),
        ("xgboost", "ndcg@2", {"ndcg_exp_gain": False}),
    ):
        usual, other = find_metrics(name, dialect)[0], find_metrics(name, dialect, **settings)[0]
        assert usual.evaluate(y, p) != other.evaluate(y, p), name
        nothing = find_metrics(name, dialect, **dict.fromkeys(settings))[0]  # None is the default
        assert nothing.evaluate(y, p) == usual.evaluate(y, p)


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("rmse", ([], []), "at least one row"),
        ("rmse", ([1, 2], [1]), "2 rows need one prediction each"),
        ("rmse", ([1, 2], [[1, 2], [1, 2]]), "one number per row"),
        ("mlogloss", ([0, 1], [1, 2]), "one column per class"),
        ("mlogloss", ([0, 2], np.eye(2)), r"classes must be 0\.\.1, got 0\.\.2"),
        ("rmse", ([1, 2], [1, 2], [1, 2, 3]), "weight has shape .* 2 numbers, one per row$"),
        ("ndcg", ([1, 2], [1, 2], [1, 2, 3], [2]), "or 1, one per group"),
        ("ndcg", ([1, 2], [1, 2], None, [1, 2]), "add up to 2, got 2 of them with a sum of 3"),
        ("ndcg", ([1, 2], [1, 2], None, [2, 0]), "positive numbers of rows"),
        ("ndcg", ([1, 2], [1, 2], None, [[2]]), "positive numbers of rows"),
        ("ndcg", ([1, 99], [1, 2]), "whole numbers from 0 to 31"),
        ("ndcg", ([1, -1], [1, 2]), "must not be negative"),
        ("map", ([1, 2], [1, 2]), "labels of 0 and 1"),
        ("pre@1", ([1, 2], [1, 2]), "labels of 0 and 1"),
        ("auc", ([1, 2], [1, 2]), "labels from 0 to 1, or groups"),
        ("aucpr", ([1, 2], [1, 2], None, [2]), "labels of 0 and 1"),
        ("quantile", ([1, 2], [1, 2]), "2 quantiles need as many columns, got 1"),
    ],
)
def test_bad_data(name, arguments, message):
    metric = find_metrics(name, "xgboost", quantile_alpha=[0.2, 0.8])[0]
    with pytest.raises(DataError, match=message):
        metric.evaluate(*arguments)


def test_metrics_can_be_pickled():
    names = [name for name in XGBOOST_TABLE.metrics if name != "quantile"]
    found = find_metrics(names, "xgboost") + find_metrics(list(LIGHTGBM_TABLE.metrics), "lightgbm")
    again = pickle.loads(pickle.dumps(found))
    assert [metric.name for metric in again] == [metric.name for metric in found]
    assert again[0].evaluate([1.0], [3.0]) == 2
