"""A predictor answers as the model does, bit by bit, whatever becomes of the model."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

import arboretum as A
from arboretum.errors import DataError, ParameterError

N = 160


def table(words: bool) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 4)).round(1), columns=list("abcd"))
    if words:
        frame["city"] = rng.choice([f"c{k:02}" for k in range(40)], N)
        frame["color"] = rng.choice(["red", "green", "blue"], N)
    return frame.mask(rng.random(frame.shape) < 0.1)


def target(kind: str) -> np.ndarray:
    rng = np.random.default_rng(1)
    x = table(False).fillna(0.0).to_numpy() @ [1.0, -1.0, 0.5, 2.0] + rng.normal(size=N)
    if kind == "numbers":
        return x
    if kind == "several":
        return np.column_stack([x, -x + rng.normal(size=N)])
    if kind == "several classes":
        return np.column_stack([np.digitize(x, [-1, 1]), x > 0])
    return np.digitize(x, [0.0] if kind == "two" else [-1.0, 1.0])


ONE, BOTH = ["predict"], ["predict", "predict_proba"]
ALL = [*BOTH, "decision_function"]
RF = {"boosting_type": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}
NINE = {"n_estimators": 9, "random_state": 0}
CASES = {
    "cart": (A.CARTClassifier(max_depth=4), "three", BOTH),
    "cart numbers": (A.CARTRegressor(max_depth=4), "numbers", ONE),
    "cart several": (A.CARTRegressor(max_depth=4), "several", ONE),
    "cart several classes": (A.CARTClassifier(max_depth=4), "several classes", BOTH),
    "surrogates": (A.CARTClassifier(max_depth=4, surrogates=2), "three", BOTH),
    "extra tree": (A.ExtraTreeClassifier(max_depth=4, random_state=0), "two", ["predict_proba"]),
    "c45": (A.C45Classifier(), "three", BOTH),
    "forest": (A.RandomForestClassifier(**NINE), "three", BOTH),
    "forest several": (A.RandomForestRegressor(**NINE), "several", ONE),
    "forest several classes": (A.RandomForestClassifier(**NINE), "several classes", BOTH),
    "votes": (A.RandomForestClassifier(voting="hard", **NINE), "two", BOTH),
    "extra trees": (A.ExtraTreesRegressor(**NINE), "numbers", ONE),
    "bagging": (A.BaggingClassifier(**NINE), "three", BOTH),
    "bagging numbers": (A.BaggingRegressor(**NINE), "numbers", ONE),
    "adaboost": (A.AdaBoostClassifier(**NINE), "three", ALL),
    "adaboost two": (A.AdaBoostClassifier(**NINE), "two", ALL),
    "r2": (A.AdaBoostRegressor(**NINE), "numbers", ONE),
    "gbm": (A.GradientBoostingClassifier(**NINE), "three", ALL),
    "gbm two": (A.GradientBoostingClassifier(**NINE), "two", ALL),
    "gbm numbers": (A.GradientBoostingRegressor(loss="huber", **NINE), "numbers", ONE),
    "xgb": (A.XGBClassifier(**NINE), "three", ALL),
    "xgb two": (A.XGBClassifier(**NINE), "two", ALL),
    "xgb numbers": (A.XGBRegressor(objective="reg:pseudohubererror", **NINE), "numbers", ONE),
    "lgbm": (A.LGBMClassifier(min_child_samples=5, **NINE), "three", ALL),
    "lgbm rf": (
        A.LGBMRegressor(**RF, **NINE),
        "numbers",
        ONE,
    ),
}


def assert_same(answer, expected):
    if isinstance(expected, list):
        assert len(answer) == len(expected)
        for one, other in zip(answer, expected, strict=True):
            assert_same(one, other)
        return
    assert answer.dtype == expected.dtype
    assert answer.shape == expected.shape
    assert answer.tobytes() == np.ascontiguousarray(expected).tobytes()


@pytest.mark.parametrize("words", [False, True], ids=["numbers", "words"])
@pytest.mark.parametrize("name", CASES)
def test_it_answers_as_the_model_does(name, words):
    model, kind, methods = CASES[name]
    frame = table(words)
    if words and name.startswith(("xgb", "lgbm")):
        model = model.__class__(**{**model.get_params(), "categorical_features": ["city", "color"]})
    model.fit(frame, target(kind))
    for method in methods:
        predictor = model.predictor(method)
        rows = predictor.encode(frame)
        for n in (1, 7, 40, N):
            assert_same(predictor(rows[:n]), getattr(model, method)(frame[:n]))
        again = pickle.loads(pickle.dumps(predictor))
        assert_same(again(rows[:9]), getattr(model, method)(frame[:9]))
    assert repr(predictor).startswith(f"Predictor({type(model).__name__}.")


def fitted(**how):
    X, y = table(False).to_numpy(), target("two")
    return A.XGBClassifier(n_estimators=5, **how).fit(X, y), X


def test_any_layout_of_numbers_is_taken():
    model, X = fitted()
    predictor, expected = model.predictor("predict_proba"), model.predict_proba(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    for given in (np.asfortranarray(X), X[::-1][::-1], frozen, X.tolist()):
        assert_same(predictor(given), expected)
    assert_same(predictor(X[3]), expected[3:4])
    single = X.astype(np.float32)
    assert_same(predictor(single), model.predict_proba(single))
    assert len(predictor(X[:0])) == 0


def test_it_is_frozen():
    model, X = fitted()
    predictor, before = model.predictor(), model.predict(X)
    model.fit(X, 1 - before)
    assert_array_equal(predictor(X), before)
    for attempt in (
        lambda: setattr(predictor, "method", "predict_proba"),
        lambda: delattr(predictor, "method"),
    ):
        with pytest.raises(AttributeError, match="cannot be changed"):
            attempt()


def test_threads_may_share_it():
    model, X = fitted()
    predictor, expected = model.predictor("decision_function"), model.decision_function(X)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: predictor(X[i % N : i % N + 1])[0], range(2000)))
    assert_array_equal(found, expected[np.arange(2000) % N])


def test_early_stopping_and_another_missing_value_count():
    X, y = np.nan_to_num(table(False).to_numpy(), nan=-999.0), target("two")
    model = A.XGBClassifier(n_estimators=30, early_stopping_rounds=2, missing=-999.0)
    model.fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])], verbose=False)
    assert model.best_iteration + 1 < len(model.trees_)
    assert_same(model.predictor("predict_proba")(X), model.predict_proba(X))


@pytest.mark.parametrize("shape", [(5,), (3, 5), (2, 2, 4), ()])
def test_a_wrong_shape_is_refused(shape):
    predictor = fitted()[0].predictor()
    with pytest.raises(DataError, match=r"the predictor takes \(rows, 4\) or one row of 4"):
        predictor(np.zeros(shape))


@pytest.mark.parametrize(
    ("model", "method", "words"),
    [
        (A.CARTRegressor(), "predict_proba", r"method of predictor must be one of \['predict'\]"),
        (A.RandomForestClassifier(2), "apply", "must be one of"),
        (A.ID3Classifier(discretize="mdl"), "predict", "ID3Classifier .* has no predictor"),
        (A.C45Rules(), "predict", "C45Rules .* has no predictor"),
        (A.CoordinateBoostingClassifier(), "predict", "has no predictor"),
        (A.VotingClassifier([("a", A.CARTClassifier())]), "predict", "has no predictor"),
        (A.BaggingClassifier(A.C45Classifier(), 2), "predict", "has no predictor"),
        (
            A.GradientBoostingRegressor(n_estimators=2, init=A.CARTRegressor()),
            "predict",
            "init estimator",
        ),
    ],
)
def test_what_cannot_be_asked_says_so(model, method, words):
    X, y = table(False).to_numpy(), target("two")
    model.fit(X, y)
    with pytest.raises(ParameterError, match=words):
        model.predictor(method)


NO_PLACES = (40.0, 41.0, 100.0, -1.0, 1e9, -1e6, 1e300, -1e300, np.inf, -np.inf)


@pytest.mark.parametrize("name", [*CASES, "c45 groups", "c45 whole"])
def test_a_code_that_is_no_category_goes_where_missing_values_go(name):
    more = {"c45 groups": A.C45Classifier(subset=True), "c45 whole": A.C45Classifier(pruning=None)}
    model, kind, methods = CASES.get(name) or (more[name], "three", BOTH)
    frame = table(True)
    frame["city"] = frame["city"].where(frame["a"] > 0)  # missing rows everywhere
    model = clone(model).fit(frame, target(kind))
    predictor = model.predictor(methods[-1])
    rows = predictor.encode(frame)[:20]
    gone = rows.copy()
    gone[:, 4:] = np.nan
    expected = predictor(gone)
    for code in NO_PLACES:
        rows[:, 4:] = code
        assert_same(predictor(rows), expected)


@pytest.mark.parametrize("name", CASES)
def test_no_rows(name):
    model, kind, methods = CASES[name]
    model = clone(model).fit(table(False), target(kind))
    answer = model.predictor(methods[0])(np.empty((0, 4)))
    assert len(answer) == 0


@pytest.mark.parametrize(
    "X", ["abc", table(True), sp.csr_array(np.zeros((2, 4))), {"a": 1}, [["red", 1, 2, 3]], None]
)
def test_what_is_no_array_of_numbers(X):
    predictor = A.CARTRegressor().fit(table(False), target("numbers")).predictor()
    with pytest.raises(DataError, match=r"takes an array of numbers|has the shape"):
        predictor(X)
