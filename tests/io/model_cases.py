"""A small fitted model of every estimator, and all that can be asked of it."""

import io
import warnings
from functools import cache

import numpy as np
import pandas as pd

import arboretum as A

RNG = np.random.default_rng(7)
N = 48


def mixed_table(n=N, seed=7):
    """Words, a rank, numbers and gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "word": pd.Categorical(rng.choice(list("abcde"), n), categories=list("abcde")),
            "rank": pd.Categorical(
                rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True
            ),
            "number": rng.normal(size=n),
            "count": rng.integers(0, 9, n).astype(float),
        }
    )
    frame.loc[::7, "number"] = np.nan
    return frame


X = mixed_table()
NUMBERS = (X["number"].fillna(0.3) + (X["word"] == "b") * 2.0).to_numpy()
THREE = np.digitize(NUMBERS, [-0.3, 0.9])
TWO = np.array(["no", "yes"])[(NUMBERS > 0.2).astype(int)]
GROUPS = [N // 2, N - N // 2]

_SMALL = {"n_estimators": 3, "random_state": 1}
_TREES = [("cart", A.CARTClassifier(max_depth=2)), ("c45", A.C45Classifier())]
_NUMBER_TREES = [("cart", A.CARTRegressor(max_depth=2)), ("forest", A.RandomForestRegressor(2))]

# name -> (model, y, further arguments of fit)
MAKERS = {
    "CARTClassifier": (A.CARTClassifier(max_depth=4), THREE, {}),
    "CARTClassifier surrogates": (A.CARTClassifier(max_depth=3, surrogates=2), TWO, {}),
    "CARTClassifier outputs": (A.CARTClassifier(max_depth=3), np.c_[THREE, NUMBERS > 0], {}),
    "CARTRegressor": (A.CARTRegressor(max_depth=4), NUMBERS, {}),
    "ExtraTreeClassifier": (A.ExtraTreeClassifier(random_state=0), THREE, {}),
    "ExtraTreeRegressor": (A.ExtraTreeRegressor(random_state=0), NUMBERS, {}),
    "ID3Classifier": (A.ID3Classifier(discretize="quantile", n_bins=3), THREE, {}),
    "C45Classifier": (A.C45Classifier(min_cases=1, pruning=None), THREE, {}),
    "C45Classifier subset": (A.C45Classifier(min_cases=1, subset=True, pruning=None), TWO, {}),
    "C45Rules": (A.C45Rules(), THREE, {}),
    "RandomForestClassifier": (
        A.RandomForestClassifier(**_SMALL, oob_score=True, keep_leaves=True), THREE, {}
    ),
    "RandomForestRegressor": (A.RandomForestRegressor(**_SMALL, keep_leaves=True), NUMBERS, {}),
    "ExtraTreesClassifier": (A.ExtraTreesClassifier(**_SMALL, bootstrap=True), TWO, {}),
    "ExtraTreesRegressor": (A.ExtraTreesRegressor(**_SMALL), np.c_[NUMBERS, -NUMBERS], {}),
    "BaggingClassifier": (A.BaggingClassifier(**_SMALL, oob_score=True), THREE, {}),
    "BaggingClassifier columns": (
        A.BaggingClassifier(**_SMALL, max_features=2, bootstrap_features=True), THREE, {}
    ),
    "BaggingClassifier C4.5": (A.BaggingClassifier(A.C45Classifier(), **_SMALL), TWO, {}),
    "BaggingRegressor": (A.BaggingRegressor(**_SMALL, max_samples=0.7), NUMBERS, {}),
    "AdaBoostClassifier": (A.AdaBoostClassifier(**_SMALL), THREE, {}),
    "AdaBoostClassifier SAMME.R": (
        A.AdaBoostClassifier(A.CARTClassifier(max_depth=2), **_SMALL, algorithm="SAMME.R"), THREE, {}
    ),
    "AdaBoostClassifier C4.5": (A.AdaBoostClassifier(A.C45Classifier(), **_SMALL), TWO, {}),
    "AdaBoostRegressor": (A.AdaBoostRegressor(**_SMALL), NUMBERS, {}),
    "CoordinateBoostingClassifier": (A.CoordinateBoostingClassifier(max_iter=6), TWO, {}),
    "CoordinateBoostingClassifier trees": (
        A.CoordinateBoostingClassifier([A.CARTClassifier(max_depth=d) for d in (1, 2)], max_iter=4),
        TWO,
        {},
    ),
    "GradientBoostingClassifier": (A.GradientBoostingClassifier(**_SMALL, subsample=0.8), THREE, {}),
    "GradientBoostingRegressor": (A.GradientBoostingRegressor(**_SMALL), NUMBERS, {}),
    "XGBClassifier": (A.XGBClassifier(**_SMALL, max_depth=3), THREE, {}),
    "XGBRegressor": (A.XGBRegressor(**_SMALL, booster="dart", rate_drop=0.5), NUMBERS, {}),
    "XGBRegressor symmetric": (A.XGBRegressor(**_SMALL, grow_policy="symmetric"), NUMBERS, {}),
    "XGBRegressor targets": (A.XGBRegressor(**_SMALL), np.c_[NUMBERS, -NUMBERS], {}),
    "XGBRFClassifier": (A.XGBRFClassifier(**_SMALL), THREE, {}),
    "XGBRFRegressor": (A.XGBRFRegressor(**_SMALL), NUMBERS, {}),
    "XGBRanker": (A.XGBRanker(**_SMALL), THREE, {"group": GROUPS}),
    "LGBMClassifier": (A.LGBMClassifier(**_SMALL, min_child_samples=3, verbosity=-1), THREE, {}),
    "LGBMRegressor": (A.LGBMRegressor(**_SMALL, min_child_samples=3, verbosity=-1), NUMBERS, {}),
    "LGBMRanker": (
        A.LGBMRanker(**_SMALL, min_child_samples=3, verbosity=-1), THREE, {"group": GROUPS}
    ),
    "HistGradientBoostingClassifier": (
        A.HistGradientBoostingClassifier(
            max_iter=3, min_samples_leaf=3, early_stopping=True, random_state=1
        ),
        THREE,
        {},
    ),
    "HistGradientBoostingRegressor": (
        A.HistGradientBoostingRegressor(loss="quantile", quantile=0.7, max_iter=3, min_samples_leaf=3),
        NUMBERS,
        {},
    ),
    "StackingClassifier": (
        A.StackingClassifier(_TREES, A.CARTClassifier(max_depth=2), cv=2), THREE, {}
    ),
    "StackingRegressor": (
        A.StackingRegressor(_NUMBER_TREES, A.CARTRegressor(max_depth=2), cv=2), NUMBERS, {}
    ),
    "VotingClassifier": (A.VotingClassifier(_TREES, voting="soft"), THREE, {}),
    "VotingRegressor": (A.VotingRegressor(_NUMBER_TREES), NUMBERS, {}),
    "IsolationForest": (A.IsolationForest(**_SMALL, contamination=0.2), THREE, {}),
    "IsolationForest columns": (A.IsolationForest(**_SMALL, max_features=2, bootstrap=True), THREE, {}),
    "RandomTreesEmbedding": (A.RandomTreesEmbedding(**_SMALL, max_depth=3), THREE, {}),
    "ProximityImputer": (A.ProximityImputer(n_estimators=4, max_iter=1, random_state=0), THREE, {}),
}  # fmt: skip

_METHODS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "decision_path",
    "score_samples", "transform", "predict_quantiles", "predict_variance",
)  # fmt: skip
_STAGED = ("staged_predict", "staged_predict_proba", "staged_decision_function")


@cache
def fitted(name):
    model, y, arguments = MAKERS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, **arguments)


def saved(model) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()


def answers(model, table) -> dict[str, object]:
    """Return all that a model says of a table, method by method."""
    found: dict[str, object] = {}
    for name in _METHODS:
        if name in ("apply", "decision_path") and not hasattr(model, "trees_"):
            continue  # a bag of other estimators than trees
        if hasattr(model, name):
            found[name] = getattr(model, name)(table)
    for name in _STAGED:
        if hasattr(model, name):
            found[name] = list(getattr(model, name)(table))
    if hasattr(model, "feature_importances_"):
        found["feature_importances_"] = model.feature_importances_
    return found


def same_bits(one, other) -> bool:
    """Tell whether two answers are the same to the last bit."""
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    if isinstance(one, pd.DataFrame):
        return one.equals(other)
    if hasattr(one, "toarray"):
        one, other = one.toarray(), other.toarray()
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind == "O":
        return one.tolist() == other.tolist()
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )
