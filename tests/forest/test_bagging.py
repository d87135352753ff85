"""Bagging: bags from (seed, number), any base, any table, out-of-bag answers."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import BaggingClassifier as TheirClassifier
from sklearn.ensemble import BaggingRegressor as TheirRegressor
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from arboretum import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    DataError,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
    load,
)
from arboretum.base.sampling import BagRules
from arboretum.data.slices import take_columns, take_rows
from tests.forest.forest_cases import Recorder, answers, data, mixed_table

BASES = [
    None,
    CARTClassifier(max_depth=3),
    CARTClassifier(class_weight="balanced"),  # not grown together
    ExtraTreeClassifier(),
    C45Classifier(),
    LogisticRegression(),
    KNeighborsClassifier(),
    LinearSVC(),
    make_pipeline(StandardScaler(), KNeighborsClassifier()),
]


X0, Y0, N0 = data(n=30)


# ---------------------------------------------------------------------- bags
def test_bags_are_rows_and_columns():
    bags = BagRules(5, 50, 8, draws=50, columns=3, replace=True, replace_columns=False)
    assert all(bags.counts(t).sum() == 50 for t in range(20))
    assert all(len(set(bags.features(t))) == 3 for t in range(20))
    assert len({tuple(bags.features(t)) for t in range(40)}) > 10
    assert len({bags.counts(t).tobytes() for t in range(20)}) == 20
    left_out = np.mean([bags.counts(t) == 0 for t in range(200)])
    assert abs(left_out - (1 - 1 / 50) ** 50) < 0.02
    subset = BagRules(5, 50, 8, draws=20, columns=8, replace=False, replace_columns=True)
    assert set(subset.counts(3)) == {0.0, 1.0}
    assert subset.counts(3).sum() == 20
    assert len(subset.features(3)) == 8
    assert any(len(set(subset.features(t))) < 8 for t in range(5))


@pytest.mark.parametrize("replace", [True, False])
def test_rows_are_drawn_in_proportion_to_weight(replace):
    weight = np.array([0.0, 1.0, 1.0, 4.0, 0.0, 2.0])
    bags = BagRules(1, 6, 1, 1, 1, replace, False, weight=weight, by_weight=True)
    share = np.mean([bags.counts(t) for t in range(4000)], axis=0)
    assert_allclose(share, weight / weight.sum(), atol=0.03)


def test_rows_of_weight_zero_are_never_drawn():
    weight = np.array([0.0, 1.0, 3.0, 0.0])
    bags = BagRules(1, 4, 1, draws=2, columns=1, replace=True, replace_columns=False, weight=weight)
    for t in range(50):
        assert bags.counts(t)[[0, 3]].sum() == 0
        assert bags.counts(t).sum() == 2
        assert_array_equal(bags.weights(t), bags.counts(t) * weight)


# ---------------------------------------------------------------------- an estimator is (seed, number)
@pytest.mark.parametrize("base", BASES, ids=str)
def test_any_base_any_number_of_threads(base):
    X, y, _ = data()
    options = {"n_estimators": 4, "random_state": 0, "max_samples": 0.8}
    one = BaggingClassifier(base, n_jobs=1, **options).fit(X, y)
    two = BaggingClassifier(base, n_jobs=2, **options).fit(X, y)
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert one.score(X, y) > 0.5
    assert_allclose(one.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("base", BASES, ids=str)
@pytest.mark.parametrize("columns", [{}, {"max_features": 0.6}], ids=["all", "some"])
def test_ten_and_ten_more_are_twenty(base, columns):
    X, y, _ = data(n=60)
    grown = BaggingClassifier(base, 5, random_state=0, warm_start=True, **columns).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    at_once = BaggingClassifier(base, 9, random_state=0, **columns).fit(X, y)
    assert len(grown) == len(at_once) == 9
    assert_array_equal(grown.predict_proba(X), at_once.predict_proba(X))


@pytest.mark.parametrize("base", [CARTRegressor(), ExtraTreeRegressor(), KNeighborsRegressor()])
def test_the_mean_of_regressors(base):
    X, _, number = data()
    model = BaggingRegressor(base, 6, random_state=0).fit(X, number)
    each = [e.predict(X) for e in model.estimators_]
    assert_allclose(model.predict(X), np.mean(each, axis=0), atol=1e-12)
    two = np.column_stack([number, -number])
    both = BaggingRegressor(base, 6, random_state=0).fit(X, two)
    assert both.predict(X).shape == (120, 2)
    assert both.score(X, two) > 0.5


# ---------------------------------------------------------------------- what an estimator is given
def test_trees_grown_together_are_those_fitted_alone():
    X, y, number = data(n=80, features=3)
    for model, target in (
        (BaggingClassifier(n_estimators=5, random_state=0), y),
        (BaggingRegressor(CARTRegressor(max_depth=4), 5, random_state=0), number),
        (BaggingClassifier(CARTClassifier(max_leaf_nodes=7), 5, random_state=0), y),
    ):
        model.fit(X, target)
        for rows, member in zip(model.estimators_samples_, model.estimators_, strict=True):
            counts = np.bincount(rows, minlength=len(X))
            alone = clone(member).fit(X, target, sample_weight=counts)
            assert alone.tree_.n_leaves == member.tree_.n_leaves
            assert_allclose(answers(alone, X[rows]), answers(member, X[rows]), atol=1e-9)
            assert_allclose(alone.tree_.gain.sum(), member.tree_.gain.sum(), atol=1e-6)


class WeighingRecorder(Recorder):
    def fit(self, X, y, sample_weight=None):
        self.weight_ = sample_weight
        return super().fit(X, y)


def test_rows_are_resampled_for_a_base_that_cannot_weigh():
    X, y, _ = data(n=40)
    names = np.array(["a", "b", "c"])[y]
    model = BaggingClassifier(Recorder(), 3, random_state=0, max_features=2).fit(X, names)
    for member, rows, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        assert_array_equal(member.X_, X[rows][:, columns])
        assert_array_equal(member.y_, y[rows])  # the number of the class
    weight = np.where(y == 2, 0.0, 1.0)
    model.fit(X, names, sample_weight=weight)
    assert all(set(member.y_) <= {0, 1} for member in model.estimators_)


def test_a_bag_is_a_weight_for_a_base_that_can_weigh():
    X, y, _ = data(n=40)
    weight = np.random.default_rng(0).integers(0, 3, 40).astype(float)
    model = BaggingClassifier(WeighingRecorder(), 3, random_state=0).fit(X, y, weight)
    for t, member in enumerate(model.estimators_):
        assert member.X_ is model.estimators_[0].X_ or len(member.X_) == 40
        counts = np.bincount(model.estimators_samples_[t], minlength=40)
        assert_array_equal(member.weight_, counts)
        assert not counts[weight == 0].any()


def test_a_base_without_probabilities_votes():
    X, y, _ = data()
    model = BaggingClassifier(LinearSVC(), 7, random_state=0).fit(X, y)
    votes = np.array([e.predict(X)[:, None] == np.arange(3) for e in model.estimators_])
    assert_allclose(model.predict_proba(X), votes.mean(axis=0))
    assert_array_equal(model.predict(X), votes.mean(axis=0).argmax(axis=1))
    each = [e.decision_function(X) for e in model.estimators_]
    assert_allclose(model.decision_function(X), np.mean(each, axis=0))
    assert not hasattr(BaggingClassifier(), "decision_function")


class TakesCodes(KNeighborsClassifier):
    """Refuses labels other than 0 to K-1, as XGBoost's classifiers do."""

    def fit(self, X, y):
        assert_array_equal(np.unique(y), np.arange(3))
        return super().fit(X, y)


@pytest.mark.parametrize("base", [TakesCodes(), make_pipeline(StandardScaler(), LinearSVC())])
def test_bases_of_other_libraries_learn_codes(base):
    X, y, _ = data(classes=3)
    names = np.array(["ash", "birch", "cedar"])[y]
    named = BaggingClassifier(base, 4, oob_score=True, random_state=0).fit(X, names)
    coded = BaggingClassifier(base, 4, oob_score=True, random_state=0).fit(X, y)
    assert_array_equal(named.estimators_[0].classes_, [0, 1, 2])
    assert_array_equal(named.classes_[coded.predict(X)], named.predict(X))
    assert_array_equal(named.predict_proba(X), coded.predict_proba(X))
    assert named.oob_score_ == coded.oob_score_
    own = BaggingClassifier(C45Classifier(), 2, random_state=0).fit(X, names)
    assert_array_equal(own.estimators_[0].classes_, ["ash", "birch", "cedar"])


def test_a_class_lost_in_a_bag():
    X, y, _ = data(classes=3)
    model = BaggingClassifier(KNeighborsClassifier(1), 8, max_samples=3, random_state=0).fit(X, y)
    assert min(len(e.classes_) for e in model.estimators_) < 3
    shares = model.predict_proba(X)
    assert shares.shape == (120, 3)
    assert_allclose(shares.sum(axis=1), 1)
    with pytest.raises(DataError, match="lacks a class"):
        BaggingClassifier(LinearSVCOfBag(), 8, max_samples=4, random_state=0).fit(
            X, y
        ).decision_function(X)


class LinearSVCOfBag(Recorder):
    def decision_function(self, X):
        return np.zeros((len(X), len(self.classes_)))


def test_a_base_that_fails_says_which_bag():
    X, y, _ = data(n=30)

    class Fails(Recorder):
        def fit(self, X, y):
            raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        BaggingClassifier(Fails(), 2).fit(X, y)
    assert "estimator 0 of the bag, a Fails" in "".join(caught.value.__notes__)


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize(
    "convert", [pd.DataFrame, pl.from_pandas, lambda f: pl.from_pandas(f).to_arrow()]
)
@pytest.mark.parametrize(
    "options", [{}, {"max_features": 2}, {"bootstrap_features": True}], ids=str
)
def test_dataframes_categories_and_missing_values(convert, options):
    frame, y = mixed_table()
    table = convert(frame)
    model = BaggingClassifier(n_estimators=15, random_state=0, oob_score=True, **options)
    model.fit(table, y)
    assert list(model.feature_names_in_) == ["color", "size", "count"]
    assert model.oob_score_ > 0.6
    kinds = [column.kind for e in model.estimators_ for column in e.schema_.columns]
    assert {"categorical", "numeric"} == set(kinds)
    again = convert(frame[["count", "size", "color"]])
    assert_array_equal(model.predict_proba(again), model.predict_proba(table))
    with pytest.warns(UserWarning, match="mauve"):
        model.predict(convert(frame.assign(color="mauve")))


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_columns_drawn_twice_answer_alike_after_loading(kind, tmp_path):
    X = np.random.RandomState(0).normal(size=(100, 4))
    y = X[:, 0] + 2 * X[:, 1]
    y = (y > 0).astype(int) if kind is BaggingClassifier else y
    model = kind(n_estimators=3, random_state=5, bootstrap_features=True).fit(X, y)
    model.save(tmp_path / "bag.arb")
    assert_array_equal(load(tmp_path / "bag.arb").predict(X), model.predict(X))


def test_a_frame_reaches_a_base_of_another_library_as_it_is():
    frame, y = mixed_table()
    frame["color"] = frame["color"].astype("category")
    base = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    model = BaggingClassifier(base, 3, random_state=0).fit(frame, y)
    assert model.score(frame, y) > 0.8
    some = BaggingClassifier(base, 5, random_state=0, max_features=2).fit(frame, y)
    for member, columns in zip(some.estimators_, some.estimators_features_, strict=True):
        assert list(member.feature_names_in_) == [frame.columns[f] for f in columns]


def test_what_is_said_of_columns_is_said_of_the_columns_of_a_bag():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 4, 100), rng.normal(size=100), rng.integers(0, 3, 100)])
    y = (X[:, 0] % 2 + X[:, 1] > 0.5).astype(int)
    base = CARTClassifier(categorical_features=[0], ordinal_features=[2], monotonic_cst=[0, 1, 0])
    model = BaggingClassifier(base, 8, max_features=2, random_state=0).fit(X, y)
    kinds = ["categorical", "numeric", "ordinal"]
    for member, columns in zip(model.estimators_, model.estimators_features_, strict=True):
        assert [c.kind for c in member.schema_.columns] == [kinds[f] for f in columns]
        assert list(member.monotonic_cst) == [int(f == 1) for f in columns]


@pytest.mark.parametrize(
    "base", [None, CARTClassifier(class_weight="balanced"), LogisticRegression()]
)
def test_sparse_tables(base):
    X, y, _ = data()
    X[np.abs(X) < 0.7] = 0
    options = {"n_estimators": 4, "random_state": 0, "max_features": 3}
    dense = BaggingClassifier(base, **options).fit(X, y)
    thin = BaggingClassifier(base, **options).fit(sparse.csr_matrix(X), y)
    assert_allclose(dense.predict_proba(X), thin.predict_proba(sparse.csc_matrix(X)), atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"max_features": 2}], ids=["all", "some"])
@pytest.mark.parametrize("base", [None, CARTClassifier(class_weight="balanced")], ids=str)
def test_files_and_lists_are_tables(tmp_path, base, options):
    frame, y = mixed_table()
    frame.to_csv(tmp_path / "t.csv", index=False)
    model = BaggingClassifier(base, 8, random_state=0, oob_score=True, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        in_memory = clone(model).fit(frame, y)
        model.fit(tmp_path / "t.csv", y)
        as_list = clone(model).fit(X0.tolist(), Y0.tolist())
        as_array = clone(model).fit(X0, Y0)
    assert model.oob_score_ == in_memory.oob_score_
    assert_array_equal(model.predict_proba(str(tmp_path / "t.csv")), in_memory.predict_proba(frame))
    assert_array_equal(as_list.predict(X0.tolist()), as_array.predict(X0))


def test_parts_of_tables():
    frame = pd.DataFrame({"a": [1, 2, 3], "b": list("xyz")})
    twice = take_columns(frame, np.array([1, 1, 0]))
    assert list(twice.columns) == ["b", "b (2)", "a"]
    assert twice["b (2)"].tolist() == list("xyz")
    assert take_columns(pl.from_pandas(frame), np.array([1, 1])).columns == ["b", "b (2)"]
    assert take_rows(pl.from_pandas(frame), np.array([2, 2]))["b"].to_list() == ["z", "z"]
    assert list(frame.columns) == ["a", "b"]


# ---------------------------------------------------------------------- out of bag
@pytest.mark.parametrize(
    "base", [None, CARTClassifier(class_weight="balanced"), KNeighborsClassifier()]
)
def test_out_of_bag_answers_come_from_estimators_that_have_not_seen_the_row(base):
    X, y, _ = data(n=60)
    model = BaggingClassifier(base, 4, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match=r"\d+ of 60 rows are in the bag of every"):
        model.fit(X, y)
    total, asked = np.zeros((60, 3)), np.zeros(60)
    for rows, member in zip(model.estimators_samples_, model.estimators_, strict=True):
        away = np.setdiff1d(np.arange(60), rows)
        found = np.zeros((len(away), 3))
        found[:, member.classes_] = member.predict_proba(X[away])
        total[away] += found
        asked[away] += 1
    assert_array_equal(model.oob_n_trees_, asked)
    with np.errstate(invalid="ignore"):
        assert_allclose(model.oob_decision_function_, total / asked[:, None])
    met = asked > 0
    assert model.oob_score_ == np.mean(total[met].argmax(axis=1) == y[met])
    assert_allclose(model.oob_error_curve_[-1], 1 - model.oob_score_)
    scored = clone(model).set_params(oob_score=lambda t, p: float(np.sum(t != p)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert scored.fit(X, y).oob_score_ == np.sum(total[met].argmax(axis=1) != y[met])


@pytest.mark.parametrize("base", [None, KNeighborsRegressor()])
def test_out_of_bag_numbers(base):
    X, _, number = data(n=60)
    model = BaggingRegressor(base, 30, oob_score=True, random_state=0).fit(X, number)
    error = np.mean((model.oob_prediction_ - number) ** 2)
    assert_allclose(model.oob_score_, 1 - error / number.var())
    assert_allclose(model.oob_error_curve_[-1], error)


def test_without_replacement_rows_left_out_are_out_of_bag():
    X, y, _ = data()
    model = BaggingClassifier(
        n_estimators=20, bootstrap=False, max_samples=0.5, oob_score=True, random_state=0
    ).fit(X, y)
    assert all(len(set(rows)) == len(rows) == 60 for rows in model.estimators_samples_)
    assert model.oob_score_ > 0.5


# ---------------------------------------------------------------------- as good as scikit-learn's
@pytest.mark.parametrize("make", [load_breast_cancer, load_wine])
def test_classification_is_as_good_as_scikit_learns(make):
    X, y = make(return_X_y=True)
    options = {"n_estimators": 30, "random_state": 0}
    ours = BaggingClassifier(oob_score=True, **options).fit(X, y)
    theirs = TheirClassifier(oob_score=True, **options).fit(X, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.035
    first = cross_val_score(BaggingClassifier(**options), X, y, cv=4).mean()
    second = cross_val_score(TheirClassifier(**options), X, y, cv=4).mean()
    assert abs(first - second) < 0.03


def test_regression_is_as_good_as_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    options = {"n_estimators": 40, "random_state": 0}
    ours = BaggingRegressor(oob_score=True, **options).fit(X, y)
    theirs = TheirRegressor(oob_score=True, **options).fit(X, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.06
