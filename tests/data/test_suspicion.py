"""Suspicious columns: one warning for each, with what to do; none for honest ones, and none twice."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import arboretum as ar
from arboretum import SuspiciousColumnWarning
from arboretum.data.checks import told_once
from arboretum.data.schema import learn_schema
from arboretum.data.suspicion import warn_of_columns

N = 300


def honest(rng, n=N):
    """A table with nothing to complain of, and a target that its columns tell in part."""
    X = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "year": rng.integers(1990, 2020, n),
            "town": rng.choice(["Bern", "Oslo", "Rome"], n),
            "code": rng.choice(["8001", "8002", "9000"], n),
            "flag": rng.random(n) > 0.5,
        }
    )
    return X, np.where(X["age"] + rng.normal(size=n) > 0, "yes", "no")


@pytest.fixture
def table():
    return honest(np.random.default_rng(0))


def told(X, y, model=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (ar.CARTClassifier(max_depth=2) if model is None else model).fit(X, y)
    return [str(w.message) for w in caught if issubclass(w.category, SuspiciousColumnWarning)]


COLUMNS = {
    "names of rows": (lambda r: [f"C{i:05d}" for i in r.permutation(N)], "a different word in "
    "nearly every row"),
    "nearly all names": (lambda r: [f"C{min(i, N - 9)}" for i in range(N)], "a different word in "
    "nearly every row"),
    "one word": (lambda r: ["same"] * N, "the same value in every row"),
    "one number": (lambda r: np.ones(N), "the same value in every row"),
    "no value": (lambda r: np.full(N, np.nan), "the same value in every row"),
    "row numbers": (lambda r: np.arange(1, N + 1), "the numbers of rows"),
    "row numbers, shuffled": (lambda r: r.permutation(N), "the numbers of rows"),
    "row numbers of a sample": (lambda r: r.permutation(450)[:N], "the numbers of rows"),
    "decimal commas": (lambda r: [f"{v:.2f}".replace(".", ",") for v in r.normal(size=N)], "numbers written"),
    "euros": (lambda r: [f"{v:,.2f} €" for v in 5000 * r.random(N)], "numbers written as words"),
    "dollars": (lambda r: [f"${v:,.2f}" for v in 5000 * r.random(N)], "numbers written as words"),
    "percent": (lambda r: [f"{v}%" for v in r.integers(0, 100, N)], "numbers written as words"),
    "decimal points as words": (lambda r: [f"{v:.1f}" for v in r.normal(size=N)], "numbers written as words"),
    "dates, day first": (lambda r: [f"{d:02d}/03/2024" for d in r.integers(1, 29, N)], "dates written"),
    "ISO dates": (lambda r: [f"2024-03-{d:02d}" for d in r.integers(1, 29, N)], "dates written as words"),
    "dates with names": (lambda r: [f"{d} Mar 2024" for d in r.integers(1, 29, N)], "dates written"),
}  # fmt: skip


@pytest.mark.parametrize("case", COLUMNS)
def test_a_suspicious_column_is_told_with_what_to_do(table, case):
    make, what = COLUMNS[case]
    X, y = table
    messages = told(X.assign(odd=make(np.random.default_rng(1))), y)
    assert len(messages) == 1
    assert "column 'odd' holds" in messages[0]
    assert what in messages[0]
    assert "leave it out" in messages[0] or "first (" in messages[0]


def test_honest_columns_are_not_told(table):
    assert told(*table) == []


@pytest.mark.parametrize("regression", [False, True])
def test_a_column_that_tells_all(table, regression):
    X, y = table
    known = np.where(y == "yes", "paid", "open")
    if regression:
        y = X["age"].to_numpy() * 3 + np.random.default_rng(2).normal(size=N)
        known = np.exp(y / 10)
    model = ar.CARTRegressor() if regression else ar.CARTClassifier()
    (message,) = told(X.assign(later=known), y, model)
    assert "column 'later' holds what alone tells the target of every row" in message
    almost = pd.Series(known).copy()
    if regression:
        almost.iloc[7], almost.iloc[9] = almost.iloc[9], almost.iloc[7]
    else:
        almost.iloc[5] = "paid" if y[5] == "no" else "open"
    assert told(X.assign(later=almost), y, model) == []


def test_rare_classes_do_not_make_columns_look_as_if_they_told_all(table):
    X, _ = table
    assert told(X, np.arange(N) == 17) == []


def test_small_tables_arrays_and_single_columns_are_left_alone(table):
    X, y = table
    odd = X.assign(odd=[f"C{i}" for i in range(N)])
    assert told(odd[:19], y[:19]) == []
    assert told(np.ones((N, 2)), y) == []  # constants of an array without names
    assert told(np.arange(N)[:, None], y) == []  # the only thing there is to learn from


def test_many_columns_share_a_warning(table):
    X, y = table
    X = X.assign(**{f"c{j}": 1.0 for j in range(10)})
    (message,) = told(X, y)
    assert "columns 'c0', 'c1', 'c2', 'c3', 'c4', … and 5 more hold" in message


FAMILIES = [
    ar.CARTClassifier, ar.ID3Classifier, ar.C45Classifier, ar.C45Rules, ar.RandomForestClassifier,
    ar.ExtraTreesClassifier, ar.BaggingClassifier, ar.GradientBoostingClassifier, ar.AdaBoostClassifier,
    ar.CoordinateBoostingClassifier, ar.XGBClassifier, ar.LGBMClassifier, ar.VotingClassifier,
    ar.StackingClassifier,
]  # fmt: skip


@pytest.mark.parametrize("Model", FAMILIES, ids=lambda m: m.__name__)
def test_every_family_tells_once(table, Model):
    X, y = table
    model = Model(discretize="quantile") if Model is ar.ID3Classifier else Model()
    if "n_estimators" in model.get_params():
        model.set_params(n_estimators=3)
    messages = told(X[["age", "town"]].assign(id=[f"C{i}" for i in range(N)]), y, model)
    assert len(messages) == 1
    assert "'id'" in messages[0]


def test_members_that_are_fitted_by_themselves_say_nothing_more(table):
    X, y = table
    odd = X[["age"]].assign(rownames=np.arange(N))
    members = ar.BaggingClassifier(ar.C45Classifier(), n_estimators=3)
    assert len(told(odd, y, members)) == 1
    assert told(odd, y, ar.BaggingClassifier(LogisticRegression(), n_estimators=2)) != []


def test_told_once_keeps_quiet_inside():
    X = pd.DataFrame({"id": [f"C{i}" for i in range(50)], "x": np.arange(50.0) % 7})
    schema, matrix = learn_schema(X)
    y = np.arange(50) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with told_once():
            warn_of_columns(schema, matrix, y, classes=True)
        with pytest.raises(SuspiciousColumnWarning):
            warn_of_columns(schema, matrix, y, classes=True)


def test_a_class_for_every_row_is_told(table):
    X, _ = table
    (message,) = told(X, [f"${i}.46" for i in range(N)])
    assert "y holds 300 classes in 300 rows, e.g. '$0.46'" in message
    assert "use a regressor" in message


def test_the_warning_can_be_filtered_and_names_the_callers_line(table):
    X, y = table
    X = X.assign(id=[f"C{i}" for i in range(N)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", SuspiciousColumnWarning)
        ar.CARTClassifier().fit(X, y)
    assert caught == []
    with pytest.warns(SuspiciousColumnWarning) as record:
        ar.CARTClassifier().fit(X, y)
    assert record[0].filename == __file__


@pytest.mark.parametrize(
    "Model",
    [ar.CARTClassifier, ar.BaggingClassifier, ar.GradientBoostingClassifier, ar.AdaBoostClassifier],
    ids=lambda m: m.__name__,
)
def test_names_of_rows_do_not_ruin_a_model(Model):
    """They did: .62 instead of .89, one split on the name of the row."""
    rng = np.random.default_rng(3)
    a, b, n = rng.normal(size=600), rng.normal(size=600), 300
    y = np.where(a + b / 2 + 0.4 * rng.normal(size=600) > 0, "yes", "no")
    X = pd.DataFrame({"id": [f"C{i:05d}" for i in rng.permutation(600)], "a": a, "b": b})
    model = Model(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named = model.fit(X[:n], y[:n]).score(X[n:], y[n:])
        share = model.feature_importances_[0]
        free = model.fit(X[["a", "b"]][:n], y[:n]).score(X[["a", "b"]][n:], y[n:])
    assert named > free - 0.03
    assert share < 0.1
