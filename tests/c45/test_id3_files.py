"""ID3 kept in files, damaged files, scikit-learn's contract, and bad input: one clear error each."""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboretum import DataError, ID3Classifier, ModelFileError, ParameterError, export_text, load
from arboretum.io.container import read, write
from arboretum.structure.tree import LEAF
from tests.c45.id3_cases import PLAY, WEATHER, mixed, saved

NAN = np.nan


# ---------------------------------------------------------------------- files
def fitted(**options) -> tuple[ID3Classifier, pd.DataFrame]:
    columns, y = mixed()
    X = pd.DataFrame(columns)
    X.loc[::9, "number"] = NAN
    return ID3Classifier(discretize="quantile", **options).fit(X, y), X


@pytest.mark.parametrize("named", [True, False])
def test_a_file_keeps_the_cuts_and_the_answers(named):
    model, X = fitted(n_bins=7, laplace=True)
    if not named:
        X = X.to_numpy()
        model.fit(X, np.arange(80) % 3)
    again = load(saved(model))
    assert saved(again) == saved(model)
    assert list(again.bins_) == list(model.bins_) == ["number" if named else 0]
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.tree_.schema == model.tree_.schema
    assert again.schema_ == model.schema_
    assert export_text(again) == export_text(model)


def test_a_file_without_bins():
    model = ID3Classifier().fit(WEATHER, PLAY)
    again = load(saved(model))
    assert again.bins_ == {}
    assert_array_equal(again.predict_proba(WEATHER), model.predict_proba(WEATHER))


def damaged(change) -> bytes:
    document = read(saved(fitted()[0]))
    change(document)
    file = io.BytesIO()
    write(file, document)
    return file.getvalue()


def _set_bins(value):
    return lambda document: document["state"].update(bins=value)


def _set_cuts(change):
    def edit(document):
        bins = document["state"]["bins"]
        bins["number"] = change(bins["number"])

    return edit


def _first_node(**entries):
    def edit(document):
        tree = document["state"]["tree"]
        for name, value in entries.items():
            if tree[name] is None:
                tree[name] = np.full(len(tree["feature"]), -1)
            tree[name][0] = value

    return edit


DAMAGE = {
    "no bins": (lambda d: d["state"].pop("bins"), "bins"),
    "bins of nothing": (_set_bins({}), "bins are not those of the columns of numbers"),
    "bins of a word": (
        lambda d: d["state"]["bins"].update(word=np.array([1.0])),
        "bins are not those of the columns",
    ),
    "bins that are a list": (_set_bins([1.0]), "bins are not those of the columns"),
    "bins though none were asked for": (
        lambda d: d["parameters"].update(discretize=None),
        "bins are not those of the columns",
    ),
    "cuts of text": (_set_cuts(lambda c: "1"), "cut points of column 'number' are no numbers"),
    "cuts of ints": (_set_cuts(lambda c: np.arange(len(c))), "are no numbers"),
    "cuts in two dimensions": (_set_cuts(lambda c: c[:, None]), "are no numbers"),
    "falling": (_set_cuts(lambda c: c[::-1].copy()), "'number' are not finite and rising"),
    "twice": (_set_cuts(lambda c: np.repeat(c, 2)), "not finite and rising"),
    "nan": (_set_cuts(lambda c: c * NAN), "not finite and rising"),
    "infinite": (_set_cuts(lambda c: np.append(c, np.inf)), "not finite and rising"),
    "a cut too many": (
        _set_cuts(lambda c: np.append(c, c[-1] + 1)),
        "not have one branch per value",
    ),
    "a cut too few": (_set_cuts(lambda c: c[:-1]), "one child per category"),
    "an unknown way": (
        lambda d: d["parameters"].update(discretize="mean"),
        "'discretize' parameter of ID3",
    ),
    "a subset": (_first_node(kind=2), "binary split but has not two children"),
    "groups": (_first_node(kind=4, bits_start=0), "beyond the stored bits"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_files(name):
    change, words = DAMAGE[name]
    with pytest.raises(ModelFileError, match=words):
        load(damaged(change))


def test_other_kinds_of_nodes_are_no_id3():
    X = pd.DataFrame({"a": ["u", "v"] * 3})
    document = read(saved(ID3Classifier().fit(X, [0, 1] * 3)))
    tree = document["state"]["tree"]
    tree["kind"] = np.where(tree["kind"] == LEAF, LEAF, 2).astype(np.uint8)
    tree["bits_start"], tree["missing_child"] = np.array([0]), np.array([0])
    tree["bits"], tree["n_bits"] = np.array([1], np.uint32), np.array([1])
    file = io.BytesIO()
    write(file, document)
    with pytest.raises(ModelFileError, match="not have one branch per value"):
        load(file.getvalue())


# ---------------------------------------------------------------------- scikit-learn's contract
# Its tables hold numbers, so there must be bins. One check weighs a class of a noisy table by ten
# million and wants its rows everywhere: with more bins, some of the cells have none of them.
@parametrize_with_checks(
    [ID3Classifier(discretize="mdl"), ID3Classifier(discretize="quantile", n_bins=4)]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_nothing_is_predicted_before_fit():
    for method in ("predict", "predict_proba", "predict_log_proba", "apply", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(ID3Classifier(), method)(WEATHER)
    with pytest.raises(NotFittedError):
        ID3Classifier().get_depth()


# ---------------------------------------------------------------------- bad and odd input
BAD_TABLES = {
    "numbers": (
        np.array([[1.5, 2.0], [3.0, 4.0]]),
        r"categories, but these columns hold numbers or dates: 'x0', 'x1'; cut them into bins by "
        r"discretize='mdl' or discretize='quantile', name those that stand for categories in "
        r"categorical_features, or use C45Classifier or CARTClassifier",
    ),
    "one number": (pd.DataFrame({"a": ["u", "v"], "age": [3, 4]}), r"dates: 'age'; cut"),
    "numbers with gaps": (pd.DataFrame({"age": [NAN, 4.0]}), "'age'"),
    "ranks that are numbers": (pd.DataFrame({"grade": [1, 2]}), "'grade'"),
    "durations": (pd.DataFrame({"d": pd.to_timedelta([1, 2], "h")}), "'d'"),
    "sparse": (sp.csr_array([[0.0, 1.0], [1.0, 0.0]]), "'x0', 'x1'"),
    "many": (np.zeros((2, 9)), r"'x4', … and 4 more"),
    "infinite": (np.array([[np.inf], [1.0]]), "infinite"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_tables(name):
    X, words = BAD_TABLES[name]
    options = {"ordinal_features": ["grade"]} if name == "ranks that are numbers" else {}
    with pytest.raises(DataError, match=words):
        ID3Classifier(**options).fit(X, [0, 1])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"epsilon": -0.1}, "'epsilon' parameter of ID3Classifier must be a number ≥ 0, got -0.1"),
        ({"epsilon": NAN}, "epsilon"),
        ({"max_depth": 0}, "'max_depth' parameter of ID3Classifier must be an int ≥ 1 or None"),
        ({"min_samples_split": 1}, "min_samples_split"),
        (
            {"discretize": "mean"},
            "'discretize' parameter of ID3Classifier must be 'mdl', 'quantile' or None",
        ),
        ({"discretize": True}, "discretize"),
        ({"n_bins": 1}, "'n_bins' parameter of ID3Classifier must be an int ≥ 2"),
        ({"n_bins": 2.5}, "n_bins"),
        ({"laplace": 1}, "laplace"),
        ({"class_weight": "even"}, "class_weight"),
        ({"unseen": "skip"}, "unseen"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"categorical_features": ["colour"]}, "colour"),
    ],
)
def test_bad_parameters(parameters, words):
    with pytest.raises(ParameterError, match=words):
        ID3Classifier(**parameters).fit(WEATHER, PLAY)


@pytest.mark.parametrize(
    ("y", "w", "words"),
    [
        (PLAY, np.zeros(14), "weight"),
        (PLAY, -np.ones(14), "weight"),
        (PLAY, np.ones(3), "14"),
        (PLAY[:5], None, "5"),
        (np.zeros((14, 2), int), None, "one target, but y has 2 columns"),
    ],
)
def test_bad_targets_and_weights(y, w, words):
    with pytest.raises(DataError, match=words):
        ID3Classifier().fit(WEATHER, y, w)


def test_a_failed_fit_leaves_the_last_model_whole():
    model = ID3Classifier().fit(WEATHER, PLAY)
    with pytest.raises(DataError):
        model.fit(np.zeros((2, 1)), [0, 1])
    assert_array_equal(model.predict(WEATHER), PLAY)


def test_one_class_or_one_row_is_one_leaf():
    for X, y in ((WEATHER, ["yes"] * 14), (WEATHER[:1], ["no"])):
        model = ID3Classifier().fit(X, y)
        assert model.get_n_leaves() == 1
        assert_array_equal(model.predict(X), y)
        assert model.predict_proba(X).tolist() == [[1.0]] * len(X)


def test_many_bins_and_many_categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"i{i}" for i in range(700)], "x": rng.normal(size=700)})
    y = rng.integers(0, 2, 700)
    model = ID3Classifier(discretize="quantile", n_bins=600).fit(X, y)
    assert len(model.bins_["x"]) == 599
    assert model.tree_[0].name == "id"  # the gain favours many values: C4.5's ratio does not
    assert_array_equal(load(saved(model)).predict(X), y)
