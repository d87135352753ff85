"""Gradient boosting: against the textbook, against scikit-learn, and by the laws it keeps."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import ensemble
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from arboretum import (
    CARTRegressor,
    DataError,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    ParameterError,
    load,
)
from arboretum.textbook.gbm import staged_gbm
from arboretum.textbook.gbm_losses import NewtonLoss
from arboretum.textbook.splits import Rules
from tests.boosting.friedman.gbm_cases import (
    CLASS_LOSSES,
    LOSSES,
    LogCosh,
    boost,
    make,
    mixed_table,
    quietly,
    raw,
    saved,
    textbook,
)

SMALL = {"n_estimators": 8, "max_depth": 2, "min_samples_leaf": 5}
TREES = Rules("friedman_mse", max_depth=2, min_samples_leaf=5)


# ---------------------------------------------------------------------- against the textbook
@pytest.mark.parametrize(
    ("step", "weighted"),
    [("leaf", False), ("leaf", True), ("line_search", True), ("gradient", True)],
)
@pytest.mark.parametrize(("loss", "K"), LOSSES)
def test_the_engine_is_the_textbook(loss, K, step, weighted):
    X, y, w = make(loss=loss, n_classes=K)
    w = w if weighted else None
    mine = boost(loss, X, y, w, step=step, **{**SMALL, "n_estimators": 4})
    rules = {"n_rounds": 4, "learning_rate": 0.1, "step": step, "tree": TREES}
    theirs = textbook(loss, X, y, w, **rules)
    unseen = make(99)[0]
    stages = list(staged_gbm(theirs, unseen))[1:]
    assert_allclose(list(mine._staged_raw(unseen)), stages, rtol=0, atol=1e-9)
    assert_allclose(mine.train_score_, mine.loss_.factor * theirs.train_score)
    trees = [tree for round_ in theirs.rounds for tree in round_.trees]
    assert [t.n_leaves for t in mine.trees_] == [len(t.leaves) for t in trees]


def _watch(bags, sums):
    """Return a monitor that writes down the bags and the sums of the training rows."""

    def watch(i, model, state):
        bags.append(state["sample_mask"])
        sums.append(state["F"].copy())

    return watch


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["squared_error", "absolute_error", "log_loss", "poisson"]),
    depth=st.integers(1, 4),
    least=st.integers(1, 6),
    missing=st.floats(0, 0.4),
    share=st.sampled_from([1.0, 0.6]),
)
def test_random_data_missing_values_and_bags(seed, loss, depth, least, missing, share):
    X, y, w = make(seed, n=40, loss=loss)
    rng = np.random.default_rng(seed)
    X[rng.random(X.shape) < missing] = np.nan
    options = {"n_estimators": 3, "max_depth": depth, "min_samples_leaf": least, "subsample": share}
    bags, sums = [], []
    kind = GradientBoostingClassifier if loss in CLASS_LOSSES else GradientBoostingRegressor
    model = kind(loss=loss, random_state=seed, **options)
    model.fit(X, y, w, monitor=_watch(bags, sums))
    tree = Rules("friedman_mse", max_depth=depth, min_samples_leaf=least)
    theirs = textbook(loss, X, y, w, bags, tree, n_rounds=3)
    assert_allclose(raw(model, X), theirs.rounds[-1].F, rtol=0, atol=1e-8)
    assert_array_equal(raw(model, X), sums[-1])  # rows out of the bag found their leaves too


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    loss=st.sampled_from(["squared_error", "log_loss", "poisson"]),
    depth=st.integers(1, 3),
    missing=st.floats(0, 0.3),
    share=st.sampled_from([1.0, 0.6]),
    penalty=st.sampled_from([0.0, 1.0, 3.0]),
)
# five categories in the table, four in a bag of its rows
@example(seed=257, loss="squared_error", depth=1, missing=0.0, share=0.6, penalty=3.0)
def test_random_categories(seed, loss, depth, missing, share, penalty):
    """Categories of equal mean may be taken in any order; limits of rows would tell."""
    X, y, w = make(seed, n=40, loss=loss)
    rng = np.random.default_rng(seed)
    X[:, 0] = rng.integers(0, 5, 40)
    X[:, 2] = rng.integers(0, 3, 40)
    X[rng.random(X.shape) < missing] = np.nan
    bags, sums = [], []
    kind = GradientBoostingClassifier if loss in CLASS_LOSSES else GradientBoostingRegressor
    model = kind(
        loss=loss,
        random_state=seed,
        n_estimators=3,
        max_depth=depth,
        subsample=share,
        categorical_features=[0, 2],
        category_penalty=penalty,
    )
    model.fit(X, y, w, monitor=_watch(bags, sums))
    kinds = ("categorical", "numeric", "categorical")
    codes = X.copy()
    for f in (0, 2):  # as the schema numbers them: by the values met
        known = ~np.isnan(X[:, f])
        codes[known, f] = np.unique(X[known, f], return_inverse=True)[1]
    tree = Rules(
        "friedman_mse", max_depth=depth, kinds=kinds, exhaustive=False, category_penalty=penalty,
        two_classes=getattr(model, "n_classes_", None) == 2,
    )  # fmt: skip
    theirs = textbook(loss, codes, y, w, bags, tree, n_rounds=3)
    assert_allclose(raw(model, X), theirs.rounds[-1].F, rtol=0, atol=1e-8)
    assert_array_equal(raw(model, X), sums[-1])  # rows out of the bag found their leaves too


@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 5, "max_depth": None}])
def test_categories_and_missing_values_are_carts(options, penalty):
    """The first tree from zero is CART's tree on y, with the learning rate."""
    frame, y = mixed_table()
    model = GradientBoostingRegressor(
        init="zero", n_estimators=1, learning_rate=1, category_penalty=penalty, **options
    )
    tree = CARTRegressor(**{"max_depth": 3, "category_penalty": penalty, **options}).fit(frame, y)
    assert_allclose(model.fit(frame, y).predict(frame), tree.predict(frame), atol=1e-12)
    for name in ("kind", "feature", "missing_child", "count"):
        assert_array_equal(getattr(model.trees_[0], name), getattr(tree.trees_[0], name))
    numbers = frame[["size", "count"]]
    tree = CARTRegressor(**{"max_depth": 3, **options}).fit(numbers, y)
    model.fit(numbers, y)
    assert_allclose(model.predict(numbers), tree.predict(numbers), atol=1e-12)
    for name in ("feature", "missing_child", "count"):
        assert_array_equal(getattr(model.trees_[0], name), getattr(tree.trees_[0], name))
    for name in ("threshold", "gain", "impurity", "weight"):
        assert_allclose(getattr(model.trees_[0], name), getattr(tree.trees_[0], name), atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [
        {"max_features": 1},
        {"max_features": 2, "min_samples_leaf": 4},
        {"min_weight_fraction_leaf": 0.2},
        {"min_samples_split": 0.5},
        {"min_impurity_decrease": 0.05},
        {"ccp_alpha": 0.05},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_limits_are_carts(options, weighted):
    X, y, w = make(n=120, columns=4)
    X[:, 3] = 1.0  # a constant: nodes that draw it draw again
    X[::7, 1] = np.nan
    w = w if weighted else None
    model = GradientBoostingRegressor(
        init="zero", n_estimators=1, learning_rate=1, random_state=0, **options
    ).fit(X, y, w)
    if "max_features" in options:
        tree = model.trees_[0]
        assert tree.n_leaves > 2
        assert 3 not in tree.feature
        again = GradientBoostingRegressor(
            init="zero",
            n_estimators=1,
            learning_rate=1,
            random_state=0,
            max_leaf_nodes=8,
            **options,
        ).fit(X, y, w)  # grown by CART: the same columns are drawn
        assert_allclose(model.predict(X), again.predict(X), atol=1e-12)
        return
    tree = CARTRegressor(max_depth=3, **options).fit(X, y, w)
    assert_allclose(model.predict(X), tree.predict(X), atol=1e-12)


def test_categories_that_mean_nothing_lose_against_a_number():
    rng = np.random.default_rng(0)
    n = 200
    X = np.column_stack([rng.integers(0, 60, n), rng.normal(size=n)]).astype(float)
    y = np.where(X[:, 1] > 0, 0.3, -0.3) + rng.normal(size=n)
    options = {"n_estimators": 1, "max_depth": 1, "categorical_features": [0]}
    exact = GradientBoostingRegressor(category_penalty=0, **options).fit(X, y)
    charged = GradientBoostingRegressor(**options).fit(X, y)
    assert exact.trees_[0].feature[0] == 0
    assert charged.trees_[0].feature[0] == 1
    assert 0 < charged.trees_[0].gain[0] < exact.trees_[0].gain[0]


def test_ranks_are_cut_at_a_rank():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (60, 2)).astype(float)
    y = X[:, 0] ** 2 + rng.normal(size=60)
    model = GradientBoostingRegressor(n_estimators=2, ordinal_features=[0]).fit(X, y)
    for tree in model.trees_:
        cut = tree.threshold[tree.feature == 0]
        assert_array_equal(cut, np.floor(cut))


# ---------------------------------------------------------------------- against scikit-learn
THEIRS = {"max_depth": 3, "n_estimators": 20, "random_state": 0}


@pytest.mark.parametrize("criterion", ["friedman_mse", "squared_error"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_regression_is_scikit_learns(loss, criterion):
    """Nodes whose residuals are all equal would be the exception: by rounding, they divide some."""
    X, y, w = make(n=300, columns=5)
    options = {"loss": loss, "alpha": 0.8, "criterion": criterion, **THEIRS}
    options |= {"min_samples_leaf": 5}
    if loss == "absolute_error":
        options |= {"max_depth": 2, "n_estimators": 8}
    theirs = quietly(ensemble.GradientBoostingRegressor(**options).fit, X, y, w)
    mine = GradientBoostingRegressor(**options).fit(X, y, w)
    unseen = make(99, n=200, columns=5)[0]
    assert_allclose(
        list(mine.staged_predict(unseen)), list(theirs.staged_predict(unseen)), rtol=0, atol=1e-6
    )
    assert_allclose(mine.train_score_, theirs.train_score_)
    assert_allclose(mine.feature_importances_, theirs.feature_importances_, atol=1e-9)
    assert_array_equal(mine.estimators_.shape, theirs.estimators_.shape)
    assert mine.apply(X).shape == theirs.apply(X).shape


@pytest.mark.parametrize(("loss", "K"), [("log_loss", 2), ("log_loss", 3), ("exponential", 2)])
def test_classification_is_scikit_learns(loss, K):
    X, y, w = make(n=300, loss="log_loss", n_classes=K, columns=5)
    y = np.array(["a", "b", "c"])[y]
    options = {"loss": loss, "min_samples_leaf": 5, **THEIRS}
    theirs = ensemble.GradientBoostingClassifier(**options).fit(X, y, w)
    mine = GradientBoostingClassifier(**options).fit(X, y, w)
    unseen = make(99, n=200, columns=5)[0]
    assert_allclose(
        list(mine.staged_decision_function(unseen)),
        np.squeeze(list(theirs.staged_decision_function(unseen))),
        rtol=0,
        atol=1e-6,
    )
    assert_allclose(mine.predict_proba(unseen), theirs.predict_proba(unseen), atol=1e-6)
    assert_allclose(
        list(mine.staged_predict_proba(unseen)),
        list(theirs.staged_predict_proba(unseen)),
        atol=1e-6,
    )
    assert_array_equal(mine.predict(unseen), theirs.predict(unseen))
    assert_array_equal(list(mine.staged_predict(unseen))[-1], theirs.predict(unseen))
    assert_allclose(mine.train_score_, theirs.train_score_)
    assert mine.estimators_.shape == theirs.estimators_.shape
    assert mine.apply(X).shape == theirs.apply(X).shape
    assert_array_equal(mine.classes_, theirs.classes_)


@pytest.mark.parametrize("max_depth", [5, 8, 11, None])
def test_deep_trees_are_scikit_learns(max_depth):
    X, y, w = make(n=400, columns=4)
    options = {**THEIRS, "max_depth": max_depth, "n_estimators": 4, "min_samples_leaf": 3}
    theirs = quietly(ensemble.GradientBoostingRegressor(**options).fit, X, y, w)
    mine = GradientBoostingRegressor(**options).fit(X, y, w)
    assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-6)


@pytest.mark.parametrize("init", [None, "zero", LinearRegression(), DummyRegressor()])
def test_starts_are_scikit_learns(init):
    X, y, w = make(n=200)
    theirs = quietly(ensemble.GradientBoostingRegressor(init=init, **THEIRS).fit, X, y, w)
    mine = GradientBoostingRegressor(init=init, **THEIRS).fit(X, y, w)
    assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-6)
    codes = np.digitize(y, [-0.5, 0.5])
    init = LogisticRegression() if isinstance(init, LinearRegression | DummyRegressor) else init
    theirs = ensemble.GradientBoostingClassifier(init=init, **THEIRS).fit(X, codes, w)
    mine = GradientBoostingClassifier(init=init, **THEIRS).fit(X, codes, w)
    atol = 1e-4 if isinstance(init, LogisticRegression) else 1e-6  # they fit it on float32
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=atol)


def test_stopping_early_follows_scikit_learns_rule():
    X, y, _ = make(n=300)
    options = {"n_estimators": 300, "learning_rate": 0.5, "random_state": 0}
    model = GradientBoostingRegressor(n_iter_no_change=3, tol=1e-3, **options).fit(X, y)
    assert 3 < model.n_estimators_ < 300
    assert len(model.train_score_) == model.n_estimators_ == len(model.estimators_)
    full = GradientBoostingRegressor(**options).fit(X, y)
    assert full.n_estimators_ == 300


# ---------------------------------------------------------------------- laws
def test_the_worked_example_88_76_56():
    X, y = [[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0]
    model = GradientBoostingRegressor(n_estimators=2, learning_rate=0.1).fit(X, y)
    assert_allclose(model.init_.predict(X), 73.33, atol=0.005)
    first = next(model.staged_predict(X))
    assert_allclose(first, [74.2, 74.2, 71.6], atol=1e-9)
    assert_allclose(np.array(y) - first, [13.8, 1.8, -15.6], atol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
@pytest.mark.parametrize(
    "options", [{}, {"subsample": 0.7, "max_features": 2}, {"max_depth": None}]
)
def test_the_model_does_not_depend_on_the_number_of_threads(loss, options):
    X, y, w = make(n=4000, loss=loss, columns=20)
    one, four = (
        boost(loss, X, y, w, n_estimators=4, random_state=1, n_jobs=n, **options) for n in (1, 4)
    )
    assert saved(one.set_params(n_jobs=None)) == saved(four.set_params(n_jobs=None))
    assert_array_equal(raw(one, X), raw(four.set_params(n_jobs=3), X))


@pytest.mark.parametrize("loss", ["squared_error", "huber", "log_loss"])
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_50_rounds_and_50_more_are_100(loss, subsample):
    X, y, w = make(n=200, loss=loss, n_classes=3)
    options = {"random_state": 0, "subsample": subsample, "max_features": 2, "max_depth": 2}
    whole = boost(loss, X, y, w, n_estimators=100, **options)
    parts = boost(loss, X, y, w, n_estimators=50, warm_start=True, **options)
    parts.set_params(n_estimators=100).fit(X, y, w)
    assert_array_equal(raw(whole, X), raw(parts, X))
    assert_array_equal(whole.train_score_, parts.train_score_)
    if subsample < 1:
        assert_array_equal(whole.oob_improvement_, parts.oob_improvement_)
        assert whole.oob_score_ == whole.oob_scores_[-1]
        assert whole.oob_improvement_[:10].mean() > 0
    assert saved(whole) == saved(parts.set_params(warm_start=False))


def test_a_warm_start_keeps_the_rates_of_its_rounds():
    X, y, _ = make()
    model = GradientBoostingRegressor(n_estimators=5, warm_start=True).fit(X, y)
    before = model.predict(X)
    model.set_params(learning_rate=0.5)
    assert_array_equal(model.predict(X), before)
    model.set_params(n_estimators=6).fit(X, y)
    assert_array_equal(list(model.staged_predict(X))[4], before)


def test_weights_are_copies():
    X, y, _ = make(n=60)
    w = np.random.default_rng(0).integers(0, 3, 60)
    weighted = GradientBoostingRegressor(**{**SMALL, "min_samples_leaf": 1}).fit(X, y, w)
    copies = GradientBoostingRegressor(**{**SMALL, "min_samples_leaf": 1}).fit(
        np.repeat(X, w, axis=0), np.repeat(y, w)
    )
    assert_allclose(weighted.predict(X), copies.predict(X), atol=1e-9)


def test_a_loss_of_ones_own():
    class Book(NewtonLoss):
        def start(self, y, w):
            return np.array(0.5)

        def value(self, y, F):
            return np.log(np.cosh(y - F))

        def residuals(self, y, F):
            return np.tanh(y - F)

        def hessian(self, y, F):
            return 1 - np.tanh(y - F) ** 2

    class Mine(LogCosh):
        def start(self, y, w):
            return 0.5

    X, y, w = make()
    mine = GradientBoostingRegressor(loss=Mine(), **SMALL).fit(X, y, w)
    theirs = textbook(Book(), X, y, w, tree=TREES, n_rounds=8)
    assert_allclose(mine.predict(X), theirs.rounds[-1].F, atol=1e-9)
    assert_allclose(mine.train_score_, theirs.train_score)
    found = GradientBoostingRegressor(loss=LogCosh(), n_estimators=1).fit(X, y)
    slope = np.tanh(found.init_.raw - y).sum()  # of the best constant
    assert abs(slope) < 1e-9


def test_a_classification_loss_of_ones_own():
    class Logistic:
        def gradient(self, y, F):
            return 1 / (1 + np.exp(-F)) - y

        def hessian(self, y, F):
            p = 1 / (1 + np.exp(-F))
            return p * (1 - p)

    X, y, w = make(loss="log_loss")
    mine = GradientBoostingClassifier(loss=Logistic(), **SMALL).fit(X, y, w)
    theirs = GradientBoostingClassifier(**SMALL).fit(X, y, w)
    assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    assert np.isnan(mine.train_score_).all()


def test_rows_out_of_the_bag_have_no_say():
    X, y, _ = make(n=100)
    masks = []
    options = {"n_estimators": 1, "subsample": 0.5, "random_state": 3, "init": "zero"}
    model = GradientBoostingRegressor(**options)
    model.fit(X, y, monitor=lambda i, m, state: masks.append(state["sample_mask"]))
    assert masks[0].sum() == 50
    other = GradientBoostingRegressor(**options).fit(X, np.where(masks[0], y, 100.0))
    assert_array_equal(model.predict(X), other.predict(X))
    assert model.oob_scores_[0] < other.oob_scores_[0]


def test_a_perfect_fit_stays():
    X, y = np.arange(8.0)[:, None], np.repeat([1.0, 2.0], 4)
    model = GradientBoostingRegressor(n_estimators=3, learning_rate=1.0).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert [tree.n_leaves for tree in model.trees_] == [2, 1, 1]
    constant = GradientBoostingRegressor(n_estimators=2).fit(X, np.full(8, 3.0))
    assert_array_equal(constant.predict(X), np.full(8, 3.0))
    assert_array_equal(constant.feature_importances_, [0.0])


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e9, 1e90])
def test_the_scale_of_y_does_not_matter(scale):
    X, y, _ = make()
    one = GradientBoostingRegressor(**SMALL).fit(X, y)
    other = GradientBoostingRegressor(**SMALL).fit(X, y * scale)
    assert_allclose(other.predict(X) / scale, one.predict(X), rtol=1e-9, atol=1e-9)


def test_rows_in_a_line_of_ties():
    """Few values, many equal: cuts only fall between different values of the node."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (80, 3)).astype(float)
    y = X[:, 0] * X[:, 1] + rng.normal(size=80)
    w = rng.uniform(0.5, 2, 80)
    for depth in (
        2,
        6,
    ):  # nodes in the depth have one value in every column: no cut, but rows enough
        mine = GradientBoostingRegressor(n_estimators=4, max_depth=depth).fit(X, y, w)
        tree = Rules("friedman_mse", max_depth=depth)
        theirs = textbook("squared_error", X, y, w, tree=tree, n_rounds=4)
        assert_allclose(mine.predict(X), theirs.rounds[-1].F, atol=1e-9)


def test_the_trees_as_estimators_tell_what_they_were_grown_with():
    X, y = np.random.default_rng(0).normal(size=(80, 3)), np.arange(80.0)
    how = {"min_samples_leaf": 7, "max_leaf_nodes": 5, "min_impurity_decrease": 0.1}
    model = GradientBoostingRegressor(n_estimators=2, warm_start=True, **how).fit(X, y)
    first = model.estimators_[0, 0]
    assert {name: first.get_params()[name] for name in how} == how
    assert model.estimators_[0, 0] is first
    model.set_params(n_estimators=3, min_samples_leaf=2).fit(X, y)
    assert [one.min_samples_leaf for one in model.estimators_[:, 0]] == [7, 7, 2]
    assert_array_equal(model.estimators_[2, 0].tree_.value, model.trees_[2].value)


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_a_warm_start_may_switch_subsample_on_and_off(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), rng.integers(0, 2, 100)
    model = kind(n_estimators=5, warm_start=True, max_depth=1, random_state=0).fit(X, y)
    model.set_params(n_estimators=8, subsample=0.5).fit(X, y)
    assert_array_equal(model.oob_scores_[:5], np.zeros(5))
    assert_array_equal(model.oob_improvement_[:5], np.zeros(5))
    assert (model.oob_scores_[5:] > 0).all()
    assert (np.abs(model.oob_improvement_[5:]) < 0.5).all()  # not from 0 to the loss
    model.set_params(n_estimators=10, subsample=1.0).fit(X, y)
    assert_array_equal(model.oob_scores_[8:], [0.0, 0.0])
    again = load(saved(model))
    assert_array_equal(again.oob_scores_, model.oob_scores_)
    assert len(model) == 10


def test_an_init_needs_the_method_that_boosting_reads():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    for init in (LinearRegression(), LogisticRegression, "one"):
        with pytest.raises(ParameterError, match="implementing 'fit' and 'predict_proba', got"):
            GradientBoostingClassifier(init=init).fit(X, y)
    assert GradientBoostingClassifier(init=LogisticRegression()).fit(X, y).score(X, y) == 1
    words = np.array(["rare", *["usual"] * 7])
    with pytest.raises(DataError, match=r"too few members are: .*rare"):
        GradientBoostingClassifier(n_iter_no_change=2).fit(X, words)
