"""Suspicious columns and unseen categories: one warning for each kind, with what to do, and none twice."""

import inspect
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

import arboretum as ar
from arboretum import SuspiciousColumnWarning
from arboretum.data.checks import members_silent
from arboretum.data.column_warnings import warn_of_columns
from arboretum.data.schema import learn_schema

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
    "row numbers": (lambda r: np.arange(1, N + 1), "holds row numbers"),
    "row numbers, shuffled": (lambda r: r.permutation(N), "holds row numbers"),
    "row numbers of a sample": (lambda r: r.permutation(450)[:N], "holds row numbers"),
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
    assert "column 'later' holds values that determine the target of every row" in message
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


def test_columns_of_one_kind_share_a_warning(table):
    X, y = table
    X = X.assign(**{f"c{j}": 1.0 for j in range(10)})
    (message,) = told(X, y)
    assert "columns 'c0', 'c1', 'c2', 'c3', 'c4', … and 5 more hold" in message
    (message,) = told(X.drop(columns=[f"c{j}" for j in range(2, 10)]), y)
    assert "columns 'c0', 'c1' hold the same value in every row" in message


def test_blanks_that_make_two_categories_of_one(table):
    X, y = table
    sex = np.random.default_rng(1).choice(["female", "female ", "male"], N)
    (message,) = told(X.assign(sex=sex), y)
    assert "column 'sex' holds categories that differ only by leading or trailing blanks" in message
    assert "e.g. 'female' and 'female '" in message
    padded = np.random.default_rng(1).choice([" female", "Female", "male "], N)
    assert told(X.assign(sex=padded), y) == []  # nothing is there twice


# ---------------------------------------------------------------------- constant targets
@pytest.mark.parametrize(
    "Model",
    [ar.LGBMRegressor, ar.XGBRegressor, ar.CARTRegressor, ar.RandomForestRegressor,
     ar.GradientBoostingRegressor, ar.AdaBoostRegressor, ar.BaggingRegressor, ar.VotingRegressor],
    ids=lambda m: m.__name__,
)  # fmt: skip
def test_a_constant_target_is_called_constant(Model):
    X = np.random.default_rng(0).normal(size=(50, 3))
    (message,) = told(X, np.zeros(50), Model())
    assert message.startswith("y is constant (0.0 in all 50 rows): ")
    assert "predicts this value for every row" in message


@pytest.mark.parametrize(
    "Model",
    [ar.CARTClassifier, ar.C45Classifier, ar.C45Rules, ar.RandomForestClassifier, ar.BaggingClassifier,
     ar.AdaBoostClassifier, ar.XGBClassifier, ar.LGBMClassifier],
    ids=lambda m: m.__name__,
)  # fmt: skip
def test_a_single_class_is_called_constant(table, Model):
    X, _ = table
    (message,) = told(X.assign(id=[f"C{i}" for i in range(N)]), ["no"] * N, Model())
    assert message.startswith("y is constant ('no' in all 300 rows): ")


# ---------------------------------------------------------------------- unseen categories
@pytest.fixture
def words():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.choice(["a", "b", "c"], 60) for name in ("town", "street", "shop")})
    return X, rng.choice([0, 1], 60)


def unseen_of(call, *given, action="always"):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        call(*given)
    return [str(w.message) for w in caught if w.category is ar.UnseenCategoryWarning]


def test_all_columns_with_unseen_categories_share_a_warning(words):
    X, y = words
    model = ar.CARTClassifier().fit(X, y)
    (message,) = unseen_of(model.predict, X.assign(town=list("vwxyz") * 12, shop="new"))
    assert message == (
        "2 columns hold categories unseen at fit: 'town' ('v', 'w', 'x', … and 2 more), 'shop' ('new'); "
        "they are treated as missing values (unseen='ignore' suppresses this warning, unseen='error' "
        "makes it an error)"
    )
    many = pd.DataFrame({f"c{j}": ["a", "b"] * 30 for j in range(9)})
    (message,) = unseen_of(ar.CARTClassifier().fit(many, y).predict, many.replace("a", "z"))
    assert message.startswith("9 columns hold categories unseen at fit: 'c0' ('z'), ")
    assert "'c4' ('z'), … and 4 more; they" in message


def test_unseen_categories_can_be_ignored_and_filtered(words):
    X, y = words
    new = X.assign(town="z")
    silent = ar.CARTClassifier(unseen="ignore").fit(X, y)
    assert unseen_of(silent.predict, new) == []
    loud = ar.CARTClassifier().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ar.UnseenCategoryWarning)
        np.testing.assert_array_equal(loud.predict_proba(new), silent.predict_proba(new))
    assert issubclass(ar.UnseenCategoryWarning, UserWarning)


TAKES_UNSEEN = sorted(
    name
    for name in ar.ESTIMATORS
    if "unseen" in inspect.signature(getattr(ar, name).__init__).parameters
)


@pytest.mark.parametrize("name", TAKES_UNSEEN)
def test_every_estimator_takes_the_policy(name):
    getattr(ar, name)(unseen="ignore")._check_parameters()
    with pytest.raises(ar.ParameterError, match="'missing', 'ignore'"):
        getattr(ar, name)(unseen="what")._check_parameters()


def test_a_dummy_that_was_the_same_in_every_training_row(words):
    _, y = words
    town = pd.get_dummies(pd.Series(["a", "b"] * 30, dtype=pd.CategoricalDtype(["a", "b", "z"])))
    assert town["z"].dtype == bool
    model = ar.CARTClassifier()
    told(town, y, model)
    (message,) = unseen_of(model.predict, town.assign(z=[True] + [False] * 59))
    assert "'z' holds categories unseen at fit: True, where every training row has False" in message


MEMBERS = {
    "voting": lambda: ar.VotingClassifier(PAIR),
    "hard voting": lambda: ar.VotingClassifier(PAIR, voting="hard"),
    "stacking": lambda: ar.StackingClassifier(PAIR, cv=2),
    "bagging": lambda: ar.BaggingClassifier(ar.C45Classifier(), n_estimators=4),
    "bagging, two columns each": lambda: ar.BaggingClassifier(max_features=2, n_estimators=6),
    "AdaBoost": lambda: ar.AdaBoostClassifier(ar.C45Classifier(max_depth=1), n_estimators=4),
    "forest": lambda: ar.RandomForestClassifier(n_estimators=3),
    "LightGBM": lambda: ar.LGBMClassifier(n_estimators=3),
}
PAIR = [("tree", ar.CARTClassifier()), ("c45", ar.C45Classifier())]


@pytest.mark.filterwarnings("ignore:boosting ended after")
@pytest.mark.parametrize("kind", MEMBERS)
def test_members_do_not_multiply_the_warning(words, kind):
    X, y = words
    model = MEMBERS[kind]().fit(X, y)
    new = X.assign(town="z", street="z", shop="z")
    (message,) = unseen_of(model.predict, new)
    assert message.startswith("3 columns hold")
    with pytest.warns(ar.UnseenCategoryWarning) as record:
        model.predict(new)
    assert record[0].filename == __file__
    assert len(unseen_of(model.score, new, y)) == 1


def test_calls_that_read_several_tables_warn_once(words):
    X, y = words
    new = X.assign(town=["z", *X["town"][1:]], shop=["z", *X["shop"][1:]])
    model = ar.LGBMClassifier(n_estimators=2)
    sets = [(new, y), (new[:30], y[:30])]
    assert len(unseen_of(lambda: model.fit(X, y, eval_set=sets))) == 1
    voting = ar.VotingClassifier(PAIR).fit(X, y)
    assert len(unseen_of(lambda: voting.report(new, y, rows="none"))) == 1


def test_folds_inside_a_fit_do_not_warn(words):
    X, y = words
    X = X.assign(town=[f"t{i // 2}" for i in range(60)])
    assert unseen_of(ar.StackingClassifier(PAIR, cv=3).fit, X, y) == []


# ---------------------------------------------------------------------- many fits in one call
SEARCH = """
import numpy as np, pandas as pd
from sklearn.model_selection import GridSearchCV
from arboretum import LGBMRegressor
rng = np.random.default_rng(0)
n = 200
X = pd.DataFrame({
    "x": rng.normal(size=n), "town": rng.choice([f"t{i}" for i in range(90)], n),
    "street": rng.choice([f"s{i}" for i in range(70)], n), "id": [f"C{i:05d}" for i in range(n)],
    "same": 1.0, "rare": ["u"] * (n - 1) + ["v"], "row": np.arange(n),
})
y = np.where(np.arange(n) < 40, X["x"], 0.0)
GridSearchCV(LGBMRegressor(n_estimators=2), {"num_leaves": [2, 3, 4, 5, 6, 7]}, cv=5).fit(X, y)
"""


def test_a_search_shows_a_line_per_kind(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(SEARCH)
    shown = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    lines = [line for line in shown.stderr.splitlines() if "Warning: " in line]
    kinds = ["the same value", "a different word", "row numbers", "y is constant", "unseen at fit"]
    assert [sum(kind in line for line in lines) for kind in kinds] == [1] * len(kinds)
    assert len(lines) == len(kinds)


def test_filters_decide_what_a_search_shows(words):
    X, y = words
    X = X.assign(town=[f"t{i // 2}" for i in range(60)])

    def search():
        cross_val_score(ar.CARTClassifier(max_depth=1), X, y, cv=5)

    assert [len(unseen_of(search, action=how)) for how in ("default", "always")] == [1, 5]
    assert unseen_of(search, action="ignore") == []
    with pytest.warns(ar.UnseenCategoryWarning):
        search()


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


def test_members_silent_keeps_quiet_inside():
    X = pd.DataFrame({"id": [f"C{i}" for i in range(50)], "x": np.arange(50.0) % 7})
    schema, matrix = learn_schema(X)
    y = np.arange(50) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with members_silent():
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
