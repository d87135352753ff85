"""AdaBoost for classes: against the textbook, against scikit-learn, and trees of one presort against CART."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier as Theirs
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from arboretum import AdaBoostClassifier, C45Classifier, CARTClassifier, CARTRegressor, load
from arboretum.boosting.adaboost.formulas import (
    SMALLEST_WEIGHT,
    weigh_by_deviations,
    weigh_by_mistakes,
)
from arboretum.boosting.adaboost.learners import draws_of
from arboretum.data.schema import learn_schema
from arboretum.grow import choose
from arboretum.grow.cart import CartGrower
from arboretum.grow.presorted.grower import PresortedGrower
from arboretum.grow.stumps import StumpGrower
from arboretum.textbook.adaboost import (
    AdaRules,
    discrete_adaboost,
    predict_adaboost,
    samme,
    samme_r,
    votes_adaboost,
)
from arboretum.textbook.splits import Rules
from arboretum.textbook.weak_learners import tree_learner
from tests.boosting.adaboost.ada_cases import mixed, numbers, saved, with_holes
from tests.grow.reweighted import Reweighted

FIELDS = (
    "kind", "feature", "threshold", "first_child", "missing_child", "value", "impurity", "gain", "weight",
    "count",
)  # fmt: skip


def same_tree(one, other):
    for name in FIELDS:  # numbers are added up in other orders
        assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-13, err_msg=name
        )
    assert sets_of(one) == sets_of(other)


def sets_of(tree):
    """Return the categories that go left at every node."""
    words = [-(-len(column.categories or ()) // 32) for column in tree.schema.columns]
    return [
        None if first < 0 else tuple(tree.bits[first : first + words[tree.feature[i]]])
        for i, first in enumerate(tree.bits_start)
    ]


def as_large_tables():
    """Grow CART level by level: ties fall as in stumps, which are searched alike."""
    return patch.object(choose, "FEW_ROWS", 0)


# ---------------------------------------------------------------------- one presort, many weights
def stumps_of(matrix, schema, y, classes, penalty=1.0):
    base = CARTClassifier(max_depth=1, category_penalty=penalty)
    stumps = Reweighted(base, matrix, schema, y, classes)
    assert isinstance(stumps.grower, StumpGrower)
    return stumps


def odd_weights(n, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "whole":
        return rng.integers(1, 5, n).astype(float)
    if kind == "zeros":
        return rng.integers(0, 3, n) * rng.random(n)
    return rng.random(n) ** 4 + 1e-9


@pytest.mark.parametrize("kind", ["real", "whole", "zeros"])
@pytest.mark.parametrize("make", [numbers, with_holes])
@pytest.mark.parametrize("seed", range(4))
def test_a_stump_is_the_tree_of_depth_one(make, kind, seed):
    X, y = make(n=60, seed=seed)
    schema, matrix = learn_schema(X)
    stumps = stumps_of(matrix, schema, y, 2)
    for again in range(3):
        w = odd_weights(len(y), 10 * seed + again, kind)
        theirs = CARTClassifier(max_depth=1).fit(X, y, w)
        grown = stumps.grow(w)
        same_tree(grown.tree, theirs.trees_[0])
        assert_array_equal(grown.leaf_of_row, theirs.apply(X))


@pytest.mark.parametrize("classes", [3, 7])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_a_stump_of_many_classes_is_the_tree_of_depth_one(classes, holes, seed):
    X, y = numbers(300, 4, classes, seed)
    if holes:
        X = np.where(np.random.default_rng(seed).random(X.shape) < 0.2, np.nan, X)
    schema, matrix = learn_schema(X)
    stumps = stumps_of(matrix, schema, y, classes)
    for again in range(3):
        w = odd_weights(len(y), 10 * seed + again, "zeros" if again == 2 else "real")
        grown, theirs = stumps.grow(w), CARTClassifier(max_depth=1).fit(X, y, w)
        same_tree(grown.tree, theirs.trees_[0])
        assert_array_equal(grown.leaf_of_row, theirs.apply(X))


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", ["real", "whole", "zeros"])
@pytest.mark.parametrize("only_words", [False, True])
def test_a_stump_on_words_is_the_tree_of_depth_one(classes, kind, only_words):
    rng = np.random.default_rng(classes)
    X = rng.normal(size=(80, 4))
    X[:, 1] = rng.integers(0, 6, 80)
    X[:, 3] = rng.integers(0, 14, 80)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = ((X[:, 1] % 2 > 0) + rng.integers(0, classes, 80)).astype(np.int64) % classes
    columns, words = ([1, 3], [0, 1]) if only_words else ([0, 1, 2, 3], [1, 3])
    X = X[:, columns]
    schema, matrix = learn_schema(X, categorical_features=words)
    penalty = 0.0 if kind == "whole" else 0.5
    stumps, asked = stumps_of(matrix, schema, y, classes, penalty), set()
    for again in range(4):
        w = odd_weights(len(y), again, kind)
        grown = stumps.grow(w)
        theirs = CARTClassifier(max_depth=1, categorical_features=words, category_penalty=penalty)
        with as_large_tables():
            theirs.fit(X, y, w)
        same_tree(grown.tree, theirs.trees_[0])
        assert_array_equal(grown.leaf_of_row, theirs.apply(X))
        asked |= {int(grown.tree.feature[0])}
    assert asked & set(words)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_stump_of_few_values_is_the_tree_of_depth_one(data):
    n = data.draw(st.integers(2, 12))
    cell = st.sampled_from([0.0, 1.0, 2.0, -0.0, np.nan, 1e300])
    X = np.array(
        data.draw(st.lists(st.lists(cell, min_size=2, max_size=2), min_size=n, max_size=n))
    )
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    w = np.array(data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    w /= 8  # sums are exact: of two sides that weigh alike, neither is heavier by a last bit
    y[0] = 0
    y[-1] = 1
    schema, matrix = learn_schema(X)
    with as_large_tables():
        theirs = CARTClassifier(max_depth=1).fit(X, y, w)
    same_tree(stumps_of(matrix, schema, y, 2).grow(w).tree, theirs.trees_[0])


def test_ranks_are_cut_at_a_rank():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    schema, matrix = learn_schema(X, ordinal_features=[0])
    grown = stumps_of(matrix, schema, np.array([0, 0, 1, 1]), 2).grow(np.ones(4))
    assert grown.tree.threshold[0] == 1.0


@pytest.mark.parametrize(
    "base",
    [
        CARTClassifier(max_depth=2),
        CARTClassifier(max_depth=3, min_samples_leaf=4, criterion="entropy"),
        CARTClassifier(max_depth=1),
        CARTClassifier(max_leaf_nodes=5),
        CARTClassifier(max_depth=2, surrogates=2),
        CARTClassifier(max_depth=4, ccp_alpha=0.02),
        CARTClassifier(max_depth=2, min_weight_fraction_leaf=0.2),
    ],
)
@pytest.mark.parametrize("kind", ["real", "zeros"])
def test_trees_of_one_presort_are_those_of_cart(base, kind):
    frame, words = mixed()
    y = (words == "yes").astype(np.int32)
    schema, matrix = learn_schema(frame)
    trees = Reweighted(base, matrix, schema, y, 2, CartGrower)
    for again in range(3):
        w = odd_weights(len(y), again, kind)
        grown = trees.grow(w)
        with as_large_tables():
            theirs = base.fit(frame, y, w)
        same_tree(grown.tree, theirs.trees_[0])
        assert_array_equal(grown.leaf_of_row, theirs.apply(frame))


@pytest.mark.parametrize(
    "options", [{}, {"max_depth": 6, "min_samples_leaf": 4}, {"ccp_alpha": 0.1}]
)
@pytest.mark.parametrize("kind", ["real", "zeros"])
def test_level_wise_trees_are_those_of_cart(options, kind):
    frame, _ = mixed()
    y = np.random.default_rng(0).normal(size=len(frame))
    base = CARTRegressor(**{"max_depth": 3, **options})
    schema, matrix = learn_schema(frame)
    trees = Reweighted(base, matrix, schema, y)
    assert isinstance(trees.grower, PresortedGrower)
    for again in range(3):
        w = odd_weights(len(y), again, kind)
        grown, theirs = trees.grow(w), base.fit(frame, y, w)
        for name in FIELDS:
            one, other = getattr(grown.tree, name), getattr(theirs.trees_[0], name)
            assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)
        assert_array_equal(grown.leaf_of_row, theirs.apply(frame))


def test_regression_trees_of_one_presort_are_those_of_cart():
    X, _ = with_holes()
    y = np.random.default_rng(0).normal(size=(len(X), 1))
    schema, matrix = learn_schema(X)
    base = CARTRegressor(max_depth=3)
    trees = Reweighted(base, matrix, schema, y, None, CartGrower)
    for again in range(3):
        w = odd_weights(len(y), again, "zeros")
        same_tree(trees.grow(w).tree, base.fit(X, y[:, 0], w).trees_[0])


# ---------------------------------------------------------------------- the textbook
def stump(n_classes, **more):
    return tree_learner(Rules("gini", n_classes=n_classes, max_depth=1), **more)


def same_rounds(model, book):
    """Compare; where the book goes on with learners as good as a coin, the model has stopped."""
    k = len(model)
    assert k == len(book.rounds) or (
        k < len(book.rounds) and model.stop_ == "no better than chance"
    )
    assert_allclose(model.estimator_errors_, book.errors[:k], rtol=1e-9, atol=1e-12)
    assert_allclose(model.estimator_weights_, book.says[:k], rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("classes", [2, 3])
def test_samme_is_the_textbooks(classes, rate, seed):
    X, y = numbers(60, 3, classes, seed)
    w = np.random.default_rng(seed).random(60)
    model = AdaBoostClassifier(n_estimators=12, learning_rate=rate).fit(X, y, w)
    book = samme(X, y, w, AdaRules(12, rate), stump(classes))
    same_rounds(model, book)
    new = numbers(40, 3, classes, seed + 50)[0]
    assert_array_equal(model.predict(new), predict_adaboost(book, new))


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("make", [numbers, with_holes])
@pytest.mark.parametrize("seed", range(4))
def test_discrete_is_the_textbooks(make, seed):
    X, y = make(70, seed=seed)
    model = AdaBoostClassifier(n_estimators=12, algorithm="discrete").fit(X, y)
    book = discrete_adaboost(X, y, None, AdaRules(12, coding="zero_one"), stump(2))
    same_rounds(model, book)
    assert_allclose(model.decision_function(X), votes_adaboost(book, X), rtol=1e-9)
    F = model.decision_function(X)
    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-2 * F)))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_samme_r_is_the_textbooks(classes, seed):
    X, y = numbers(60, 3, classes, seed)
    model = AdaBoostClassifier(n_estimators=8, algorithm="SAMME.R", learning_rate=0.7).fit(X, y)
    book = samme_r(X, y, None, AdaRules(8, 0.7), stump(classes, shares=True))
    same_rounds(model, book)
    votes = votes_adaboost(book, X) / len(model)
    mine = model.decision_function(X)
    assert_allclose(mine, votes[:, 1] - votes[:, 0] if classes == 2 else votes, atol=1e-8)


@pytest.mark.filterwarnings("ignore:boosting ended")
@pytest.mark.parametrize("seed", range(3))
def test_drawing_rows_by_weight_is_the_textbooks(seed):
    X, y = numbers(80, 3, seed=seed)
    model = AdaBoostClassifier(n_estimators=10, sampling="resample", random_state=seed).fit(X, y)
    draws = np.array([draws_of(model.seed_, t, 80) for t in range(10)])
    same_rounds(model, samme(X, y, None, AdaRules(10), stump(2), draws))
    again = AdaBoostClassifier(
        CARTClassifier(max_depth=1, class_weight={0: 1, 1: 1}),  # not grown from one presort
        n_estimators=10,
        sampling="resample",
        random_state=seed,
    ).fit(X, y)
    assert_allclose(again.estimator_errors_, model.estimator_errors_, rtol=1e-9)


def test_two_classes_have_twice_the_say_in_samme():
    X, y = load_breast_cancer(return_X_y=True)
    one, two = (
        AdaBoostClassifier(n_estimators=20, algorithm=a).fit(X, y) for a in ("discrete", "SAMME")
    )
    assert_allclose(two.estimator_weights_, 2 * one.estimator_weights_)
    assert_array_equal(one.predict(X), two.predict(X))


def test_half_the_learning_rate_is_the_form_of_the_notes():
    """Some texts multiply the weights of wrong rows by e^β for labels 0 and 1; e^(2β) is right."""
    X, y = numbers(80, 3)
    model = AdaBoostClassifier(n_estimators=10, learning_rate=0.5).fit(X, y)
    book = discrete_adaboost(X, y, None, AdaRules(10, coding="zero_one_note"), stump(2))
    same_rounds(model, book)


# ---------------------------------------------------------------------- scikit-learn
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine])
@pytest.mark.parametrize("weighted", [False, True])
def test_on_real_data_it_is_scikit_learns(load, weighted):
    """Ties between columns would be broken by chance there: a little noise leaves none."""
    X, y = load(return_X_y=True)
    X = np.float32(X + 1e-3 * np.random.default_rng(0).normal(size=X.shape)).astype(float)
    w = np.random.default_rng(1).random(len(y)) if weighted else None
    theirs = Theirs(n_estimators=25, random_state=0).fit(X, y, w)
    ours = AdaBoostClassifier(n_estimators=25).fit(X, y, w)
    k = len(ours)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:k], rtol=1e-9)
    assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:k], rtol=1e-9)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-9, atol=1e-12)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    if load is not load_iris:  # where two columns part the first class equally well
        assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-9)
    for mine, their in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X)):
        assert_allclose(mine, their, rtol=1e-9)
    staged = list(ours.staged_decision_function(X))
    assert_allclose(staged[-1], ours.decision_function(X), rtol=1e-12, atol=1e-12)
    assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))


@pytest.mark.parametrize("base", [GaussianNB(), LogisticRegression(max_iter=500)])
def test_any_base_gives_what_it_gives_there(base):
    X, y = numbers(120, 4, 3)
    theirs = Theirs(base, n_estimators=5, random_state=0).fit(X, y)
    ours = AdaBoostClassifier(base, n_estimators=5, random_state=0).fit(X, y)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[: len(ours)], rtol=1e-6)
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_bases_of_many_kinds():
    frame, y = mixed()
    deep = AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=10).fit(frame, y)
    assert deep.score(frame, y) > 0.9
    assert AdaBoostClassifier(C45Classifier(), n_estimators=3).fit(frame, y).score(frame, y) > 0.8
    X, z = numbers()
    near = AdaBoostClassifier(KNeighborsClassifier(), n_estimators=3, sampling="resample").fit(X, z)
    assert near.score(X, z) > 0.7
    drawn = CARTClassifier(max_depth=2, max_features=1)
    models = [
        AdaBoostClassifier(drawn, n_estimators=5, random_state=r).fit(X, z) for r in (0, 0, 1)
    ]
    assert_array_equal(models[0].estimator_errors_, models[1].estimator_errors_)
    assert not np.array_equal(models[0].estimator_errors_, models[2].estimator_errors_)


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
def test_the_number_of_threads_changes_nothing(sampling, monkeypatch):
    monkeypatch.setattr("arboretum.engine.parallel._WORTH", 0)
    X, y = with_holes(400)
    models = [
        AdaBoostClassifier(n_estimators=10, sampling=sampling, random_state=0, n_jobs=j).fit(X, y)
        for j in (1, 3)
    ]
    assert_array_equal(models[0].estimator_weights_, models[1].estimator_weights_)
    assert_array_equal(models[0].decision_function(X), models[1].decision_function(X))
    for one, other in zip(models[0].estimators_, models[1].estimators_):
        same_tree(one.trees_[0], other.trees_[0])


@pytest.mark.parametrize("scale", [1e-90, 1e-5, 1e90])
def test_the_scale_of_the_weights_changes_nothing(scale):
    X, y = with_holes()
    w = np.random.default_rng(0).random(len(y))
    one, other = (AdaBoostClassifier(n_estimators=10).fit(X, y, v) for v in (w, scale * w))
    assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=1e-9)
    assert_array_equal(one.predict(X), other.predict(X))


def test_a_perfect_first_learner_ends_it():
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    for algorithm in ("SAMME", "discrete", "SAMME.R"):
        model = AdaBoostClassifier(algorithm=algorithm).fit(X, y)
        assert (len(model), model.stop_) == (1, "perfect")
        assert model.estimator_errors_.tolist() == [0.0]
        assert model.estimator_weights_.tolist() == [1.0]
        assert model.predict(X).tolist() == y


def test_one_class_is_always_the_answer():
    model = AdaBoostClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.predict([[5.0]]).tolist() == ["a"]
    assert model.predict_proba([[5.0]]).tolist() == [[1.0]]


def test_columns_of_a_frame_are_matched_by_name():
    frame, y = mixed()
    model = AdaBoostClassifier(n_estimators=5).fit(frame, y)
    assert_array_equal(model.predict(frame[["age", "color", "size"]]), model.predict(frame))
    foreign = AdaBoostClassifier(GaussianNB(), n_estimators=3).fit(frame[["size"]].assign(b=1.0), y)
    turned = frame[["size"]].assign(b=1.0)[["b", "size"]]
    assert_array_equal(foreign.predict(turned), foreign.predict(turned[["size", "b"]]))


@pytest.mark.parametrize("seed", range(20))
def test_weights_and_repeated_rows_give_the_same_stumps_where_cuts_tie(seed):
    rng = np.random.default_rng(seed)
    X, y, w = rng.random((15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    weighted = AdaBoostClassifier().fit(X, y, w)
    repeated = AdaBoostClassifier().fit(X.repeat(w, axis=0), y.repeat(w))
    cuts = [[(t.feature[0], t.threshold[0]) for t in m.trees_] for m in (weighted, repeated)]
    assert cuts[0] == cuts[1]
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-10)


# ---------------------------------------------------------------------- large learning rates
@pytest.mark.parametrize("rate", [1.5, 2.0, 3.0, 20.0])
@pytest.mark.parametrize("load_table", [load_wine, load_breast_cancer])
def test_rows_of_tiny_weight_are_not_lost_at_large_rates(load_table, rate):
    X, y = load_table(return_X_y=True)
    how = {"n_estimators": 60, "learning_rate": rate, "random_state": 0}
    model = AdaBoostClassifier(**how).fit(X, y)
    theirs = Theirs(**how).fit(X, y)
    assert len(model) == len(theirs.estimators_)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > theirs.score(X, y) - 0.02
    assert_array_equal(load(saved(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("kind", ["SAMME", "discrete"])
def test_weights_without_a_number_end_boosting_with_a_warning(kind):
    X, y = load_breast_cancer(return_X_y=True)
    model = AdaBoostClassifier(n_estimators=30, learning_rate=300.0, algorithm=kind)
    with pytest.warns(
        UserWarning, match=r"have reached infinite values, in round .* smaller learning_rate"
    ):
        model.fit(X, y)
    assert model.stop_ == "overflow"
    assert 1 <= len(model) < 30
    assert np.isfinite(model.estimator_weights_).all()
    assert np.isfinite(model.predict_proba(X)).all()
    assert load(saved(model)).stop_ == "overflow"
    if kind == "SAMME":
        with pytest.warns(UserWarning, match="infinite values"), np.errstate(over="ignore"):
            theirs = Theirs(n_estimators=30, learning_rate=300.0).fit(X, y)
        assert len(theirs.estimators_) == len(model)


def test_a_row_keeps_the_smallest_weight_unless_it_never_had_one():
    w = np.array([0.5, 0.5, 0.0])
    wrong = np.array([True, False, False])
    for rate in (60.0, 1e4):
        verdict = weigh_by_mistakes(w * [1e-4, 2 - 1e-4, 0], wrong, "SAMME", 2, rate)
        if not verdict.overflown:
            assert verdict.weights.tolist() == [1.0, SMALLEST_WEIGHT, 0.0]
    assert verdict.overflown
    beaten = weigh_by_deviations(np.full(3, 1 / 3), np.array([0.0, 0.0, 2.0]), "exponential", 1e5)
    assert beaten.overflown
