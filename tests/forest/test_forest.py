"""Random forests and ExtraTrees: laws, the textbook's figures, as good as scikit-learn's."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    load_iris,
    load_wine,
    make_multilabel_classification,
)
from sklearn.ensemble import ExtraTreesClassifier as TheirExtraTrees
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.ensemble import RandomForestRegressor as TheirRegressor
from sklearn.model_selection import cross_val_score

from arboretum import (
    CARTClassifier,
    CARTRegressor,
    DataError,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboretum.base.sampling import Bootstrap
from arboretum.data.schema import learn_schema
from arboretum.engine import parallel
from arboretum.engine.split.statistic import ENTROPY, GINI, SQUARED
from arboretum.grow.cart import CartGrower
from arboretum.grow.depth_first.grower import DepthFirstGrower
from arboretum.grow.grower import GrowTarget
from arboretum.grow.settings import Growth
from arboretum.textbook.forest_figures import oob_curve
from arboretum.textbook.forest_figures import out_of_bag as textbook_oob
from tests.forest.forest_cases import (
    ALL,
    CLASSIFIERS,
    answers,
    data,
    fitted,
    mixed_table,
    same_trees,
)


# ---------------------------------------------------------------------- a tree is (seed, number)
@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("options", [{}, {"max_leaf_nodes": 6}], ids=["fast", "levels"])
def test_the_forest_does_not_depend_on_the_number_of_threads(kind, options, monkeypatch):
    monkeypatch.setattr("arboretum.engine.parallel._WORTH", 0)  # also where there is little to do
    one = fitted(kind, n_jobs=1, **options)
    for jobs in (2, 3):
        same_trees(one, fitted(kind, n_jobs=jobs, **options))


@pytest.mark.parametrize("kind", [RandomForestClassifier, ExtraTreesClassifier])
def test_threads_are_not_woken_for_little_work(kind, monkeypatch):
    def asked(*_):
        raise RuntimeError("a thread was asked for")

    monkeypatch.setattr(parallel, "_get_pool", asked)
    small, large = load_iris(return_X_y=True), load_breast_cancer(return_X_y=True)
    kind(n_jobs=2, random_state=0).fit(*small)
    with pytest.raises(RuntimeError, match="asked for"):
        kind(n_jobs=2, random_state=0).fit(*large)


@pytest.mark.parametrize("kind", ALL)
def test_ten_trees_and_ten_more_are_twenty(kind):
    X, y, number = data()
    y = y if kind in CLASSIFIERS else number
    bootstrap = {"bootstrap": True, "oob_score": True}
    grown = kind(10, random_state=5, warm_start=True, **bootstrap)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grown.fit(X, y)
        grown.set_params(n_estimators=20).fit(X, y)
        at_once = kind(20, random_state=5, **bootstrap).fit(X, y)
    same_trees(grown, at_once)
    assert grown.oob_score_ == at_once.oob_score_
    assert_array_equal(grown.oob_error_curve_, at_once.oob_error_curve_)


def test_trees_differ_and_so_do_seeds():
    model = fitted(RandomForestClassifier)
    assert len({tree.threshold.tobytes() for tree in model.trees_}) == 10
    other = RandomForestClassifier(10, random_state=4).fit(*data()[:2])
    assert model.trees_[0].threshold.tobytes() != other.trees_[0].threshold.tobytes()


@pytest.mark.parametrize("options", [{}, {"criterion": "entropy"}, None], ids=str)
def test_one_tree_of_all_rows_and_columns_is_cart(options):
    """Leaves are large, so that no two columns cut a node alike."""
    X, y, number = data(n=300, seed=8, features=3)
    limits = {"min_samples_leaf": 12, **(options or {})}
    forest, cart, y = (
        (RandomForestRegressor, CARTRegressor, number)
        if options is None
        else (RandomForestClassifier, CARTClassifier, y)
    )
    model = forest(1, bootstrap=False, max_features=None, **limits).fit(X, y)
    plain = cart(**limits).fit(X, y)
    tree = model.trees_[0]
    assert tree.n_leaves == plain.tree_.n_leaves > 8
    assert_allclose(np.sort(tree.gain), np.sort(plain.tree_.gain), atol=1e-9)
    grid = np.random.default_rng(1).normal(size=(500, 3))
    assert_allclose(answers(model, grid), answers(plain, grid), atol=1e-9)


# ---------------------------------------------------------------------- two ways to grow
GROWTHS = [
    Growth(criterion=GINI, seed=7, max_features=2),
    Growth(criterion=ENTROPY, seed=7, max_features=2),
    Growth(criterion=SQUARED, seed=7, max_features=2),
    Growth(criterion=GINI, seed=9),
    Growth(criterion=SQUARED, seed=9, max_depth=4, min_samples_leaf=5, min_samples_split=12),
    Growth(criterion=GINI, seed=1, random_splits=True, max_features=3),
    Growth(criterion=SQUARED, seed=1, random_splits=True),
    Growth(criterion=ENTROPY, seed=2, min_impurity_decrease=0.01, max_features=2),
]


def compare(fast, level):
    """Walk down two trees at once; return how many nodes were compared, and how many were ties.

    Where columns cut a node equally well, each way may take another of them: below such a node the
    trees have nothing to do with each other.
    """
    compared = ties = 0
    todo = [(0, 0)]
    while todo:
        a, b = todo.pop()
        compared += 1
        assert_allclose(fast.value[a], level.value[b], atol=1e-9)
        assert_allclose(fast.weight[a], level.weight[b])
        assert_allclose(fast.impurity[a], level.impurity[b], atol=1e-9)
        assert_allclose(fast.gain[a], level.gain[b], atol=1e-6)
        assert fast.count[a] == level.count[b]
        assert (fast.feature[a] < 0) == (level.feature[b] < 0)
        if fast.feature[a] < 0:
            continue
        if fast.feature[a] != level.feature[b] or not np.isclose(
            fast.threshold[a], level.threshold[b], rtol=1e-12
        ):
            ties += 1
            continue
        assert fast.missing_child[a] == level.missing_child[b]
        todo += [(fast.first_child[a] + k, level.first_child[b] + k) for k in range(2)]
    return compared, ties


@pytest.mark.parametrize("how", GROWTHS, ids=str)
@pytest.mark.parametrize("missing", [False, True], ids=["full", "missing"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_fast_growth_is_level_wise_growth(how, missing, weighted):
    rng = np.random.default_rng(11)
    X, y, number = data(n=200, classes=3, seed=11)
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    regression = how.criterion == SQUARED
    values = number[:, None] if regression else y[:, None].astype(np.int32)
    classes = None if regression else np.array([3])
    weight = Bootstrap(3, len(X), len(X)).counts(0) * (rng.random(len(X)) + 0.5 if weighted else 1)
    schema, matrix = learn_schema(X)
    target = GrowTarget(values, classes, weight)
    fast, level = (
        Grower(matrix, schema, how).grow_trees(target, weight[None], [how.seed])[0]
        for Grower in (DepthFirstGrower, CartGrower)
    )
    compared, ties = compare(fast, level)
    assert compared > 0.5 * len(level)
    assert ties <= 0.2 * compared
    if how.max_depth is None and how.min_impurity_decrease == 0:  # leaves are pure: all is gained
        assert_allclose(fast.gain.sum(), level.gain.sum(), atol=1e-6)


def test_fast_growth_with_ties_gains_as_much():
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (300, 6)).astype(float)
    y = (X[:, 0] + X[:, 1] > 3).astype(np.int32)[:, None]
    schema, matrix = learn_schema(X)
    how = Growth(criterion=GINI)
    target = GrowTarget(y, np.array([2]), np.empty(0))
    fast, level = (
        Grower(matrix, schema, how).grow_trees(target, np.ones((1, 300)), [0])[0]
        for Grower in (DepthFirstGrower, CartGrower)
    )
    assert_allclose(fast.gain.sum(), level.gain.sum(), atol=1e-6)


# ---------------------------------------------------------------------- out of bag
@pytest.mark.parametrize("kind", ALL)
def test_out_of_bag_is_the_textbooks(kind):
    X, y, number = data(n=60)
    y = y if kind in CLASSIFIERS else number
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(6, bootstrap=True, oob_score=True, random_state=1).fit(X, y)
    leaves = model.apply(X)
    said = np.array([tree.value[leaves[:, t], 0] for t, tree in enumerate(model.trees_)])
    in_bag = np.array([model._bags.counts(t) for t in range(6)])
    classes = kind in CLASSIFIERS
    expected = textbook_oob(said, in_bag, classes)
    found = model.oob_decision_function_ if classes else model.oob_prediction_[:, None]
    assert_allclose(found, expected.decision, atol=1e-12)
    assert_array_equal(model.oob_n_trees_, expected.n_trees)
    assert_allclose(model.oob_score_, expected.score(y), atol=1e-12)
    curve = [step.error for step in oob_curve(said, in_bag, y, classes)]
    assert_allclose(model.oob_error_curve_, curve, atol=1e-12)


def test_rows_never_out_of_bag_are_left_out_and_counted():
    X, y, _ = data(n=40)
    with pytest.warns(UserWarning, match=r"(\d+) of 40 rows are in the bag") as caught:
        model = RandomForestClassifier(2, oob_score=True, random_state=0).fit(X, y)
    never = int(np.sum(model.oob_n_trees_ == 0))
    assert never > 0
    assert f"{never} of 40 rows" in str(caught[0].message)
    assert_array_equal(np.isnan(model.oob_decision_function_[:, 0]), model.oob_n_trees_ == 0)
    met = model.oob_n_trees_ > 0
    right = model.oob_decision_function_[met].argmax(axis=1) == y[met]
    assert model.oob_score_ == right.mean()


def test_a_function_scores_out_of_bag():
    X, y, number = data()
    seen = []

    def count_wrong(truth, said):
        seen.append((truth, said))
        return float(np.sum(truth != said))

    names = np.array(["a", "b", "c"])[y]
    model = RandomForestClassifier(30, oob_score=count_wrong, random_state=0).fit(X, names)
    assert set(seen[0][1]) <= {"a", "b", "c"}
    assert model.oob_score_ == np.sum(seen[0][0] != seen[0][1])
    error = RandomForestRegressor(
        30, oob_score=lambda t, p: float(np.abs(t - p).max()), random_state=0
    ).fit(X, number)
    assert error.oob_score_ == np.abs(number - error.oob_prediction_).max()


def test_out_of_bag_votes_are_votes():
    X, y, _ = data()
    model = RandomForestClassifier(60, max_depth=2, voting="hard", oob_score=True, random_state=0)
    model.fit(X, y)
    leaves = model.apply(X)
    votes = np.array([tree.value[leaves[:, t], 0] for t, tree in enumerate(model.trees_)])
    votes = (votes.argmax(axis=2)[:, :, None] == np.arange(3)).astype(float)
    expected = textbook_oob(votes, np.array([model._bags.counts(t) for t in range(60)]), True)
    assert_allclose(model.oob_decision_function_, expected.decision, atol=1e-12)
    assert_allclose(model.oob_score_, expected.score(y), atol=1e-12)
    soft = clone(model).set_params(voting="soft").fit(X, y)
    assert not np.allclose(soft.oob_decision_function_, model.oob_decision_function_)


# ---------------------------------------------------------------------- votes
def test_soft_and_hard_votes():
    X, y, _ = data()
    soft = RandomForestClassifier(9, max_depth=2, random_state=0).fit(X, y)
    hard = clone(soft).set_params(voting="hard").fit(X, y)
    leaves = soft.apply(X)
    each = np.array([tree.value[leaves[:, t], 0] for t, tree in enumerate(soft.trees_)])
    assert_allclose(soft.predict_proba(X), each.mean(axis=0), atol=1e-12)
    votes = (each.argmax(axis=2)[:, :, None] == np.arange(3)).sum(axis=0)
    assert_array_equal(hard.predict_votes(X), votes)
    assert_array_equal(soft.predict_votes(X), votes)
    assert_allclose(hard.predict_proba(X), votes / 9)
    assert_array_equal(hard.predict(X), votes.argmax(axis=1))
    assert not np.array_equal(hard.predict(X), soft.predict(X))
    with np.errstate(divide="ignore"):
        assert_allclose(hard.predict_log_proba(X), np.log(votes / 9))


# ---------------------------------------------------------------------- weights
def test_class_weight_is_weight_on_rows():
    X, y, _ = data()
    by_class = RandomForestClassifier(8, class_weight={0: 5, 1: 1, 2: 0.5}, random_state=0)
    by_row = RandomForestClassifier(8, random_state=0)
    by_class.fit(X, y)
    by_row.fit(X, y, sample_weight=np.array([5, 1, 0.5])[y])
    same_trees(by_class, by_row)


def test_balanced_subsample_balances_every_bag():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (rng.random(300) < 0.1).astype(int)
    model = RandomForestClassifier(5, class_weight="balanced_subsample", random_state=0).fit(X, y)
    for t, tree in enumerate(model.trees_):
        assert_allclose(tree.value[0, 0], [0.5, 0.5])  # the root of a balanced bag
        assert_allclose(tree.weight[0], model._bags.counts(t).sum())
    balanced = RandomForestClassifier(5, class_weight="balanced", random_state=0).fit(X, y)
    share = np.array([tree.value[0, 0, 1] for tree in balanced.trees_])
    assert 0.3 < share.mean() < 0.7
    assert share.std() > 0  # balanced over all rows, not in every bag


@pytest.mark.parametrize("kind", ALL)
def test_weight_zero_takes_no_part(kind):
    X, y, number = data()
    y = y if kind in CLASSIFIERS else number
    weight = np.ones(len(X))
    weight[60:] = 0
    poisoned = X.copy()
    poisoned[60:] = 1e6
    options = {"bootstrap": False, "random_state": 0}
    kept = kind(5, **options).fit(X[:60], y[:60])
    weighed = kind(5, **options).fit(poisoned, y, sample_weight=weight)
    assert_allclose(answers(kept, X), answers(weighed, X))


@pytest.mark.parametrize("kind", ALL)
def test_whole_weights_are_repeated_rows(kind):
    X, y, number = data(n=60)
    y = y if kind in CLASSIFIERS else np.round(number * 8) / 8
    weight = np.random.default_rng(0).integers(1, 4, 60)
    options = {"bootstrap": False, "random_state": 0, "max_depth": 4}
    weighed = kind(5, **options).fit(X, y, sample_weight=weight)
    repeated = kind(5, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(answers(weighed, X), answers(repeated, X), atol=1e-9)


def test_a_bag_multiplies_weights():
    X, y, _ = data()
    weight = np.random.default_rng(0).random(len(X)) + 0.1
    model = RandomForestClassifier(4, random_state=0).fit(X, y, sample_weight=weight)
    for t, tree in enumerate(model.trees_):
        counts = model._bags.counts(t)
        assert_allclose(tree.weight[0], (counts * weight).sum())
        assert tree.count[0] == np.count_nonzero(counts)


# ---------------------------------------------------------------------- tables
@pytest.mark.parametrize("kind", ALL)
def test_categories_and_missing_values(kind):
    frame, y = mixed_table()
    target = y if kind in CLASSIFIERS else (y == "yes").astype(float)
    model = kind(20, random_state=0, oob_score=True, bootstrap=True).fit(frame, target)
    assert [c.kind for c in model.schema_.columns] == ["categorical", "numeric", "numeric"]
    assert model.oob_score_ > (0.75 if kind in CLASSIFIERS else 0.3)
    shuffled = frame[["count", "color", "size"]]
    assert_array_equal(answers(model, frame), answers(model, shuffled))
    new = frame.assign(color="mauve")
    with pytest.warns(UserWarning, match="mauve"):
        unknown = answers(model, new)
    assert_allclose(unknown, answers(model, frame.assign(color=None)))
    with pytest.raises(DataError, match="mauve"):
        answers(clone(model).set_params(unseen="error").fit(frame, target), new)


@pytest.mark.parametrize("kind", ALL)
def test_missing_values_alone_use_both_ways_alike(kind):
    X, y, number = data(n=200)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    y = y if kind in CLASSIFIERS else number
    model = kind(20, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.7
    assert np.isfinite(answers(model, np.full((1, 5), np.nan))).all()


def test_out_of_bag_scores_of_several_labels_count_rows_that_are_right_in_all():
    X, y = make_multilabel_classification(120, random_state=0)
    model = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, y)
    said = np.argmax(model.oob_decision_function_, axis=1)
    assert model.oob_score_ == (said == y).all(axis=1).mean()
    theirs = TheirForest(40, oob_score=True, random_state=0).fit(X, y)
    assert abs(model.oob_score_ - theirs.oob_score_) < 0.12


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_several_outputs():
    X, y, number = data()
    two = np.column_stack([np.array(["a", "b", "c"])[y], np.array(["u", "v", "u"])[y]])
    model = RandomForestClassifier(10, random_state=0, oob_score=True).fit(X, two)
    assert model.predict(X).shape == two.shape
    assert [p.shape for p in model.predict_proba(X)] == [(120, 3), (120, 2)]
    assert model.oob_decision_function_.shape == (120, 3, 2)
    assert (model.predict(X) == two).mean() > 0.9
    Y = np.column_stack([number, -number])
    regressor = RandomForestRegressor(10, random_state=0, oob_score=True).fit(X, Y)
    assert_allclose(regressor.predict(X)[:, 0], -regressor.predict(X)[:, 1])
    assert regressor.oob_prediction_.shape == (120, 2)


def test_monotone_forests_are_monotone():
    X, _, number = data()
    model = RandomForestRegressor(10, monotonic_cst=[1, 0, 0, 0, -1], random_state=0).fit(X, number)
    grid = np.repeat(X[:20], 30, axis=0)
    for column, sign in ((0, 1), (4, -1)):
        line = grid.copy()
        line[:, column] = np.tile(np.linspace(-3, 3, 30), 20)
        steps = np.diff(model.predict(line).reshape(20, 30), axis=1)
        assert (sign * steps >= -1e-12).all()


@pytest.mark.parametrize("kind", ALL)
def test_limits_of_growth(kind):
    assert all(tree.n_leaves <= 6 for tree in fitted(kind, max_leaf_nodes=6).trees_)
    assert all(tree.max_depth <= 2 for tree in fitted(kind, max_depth=2).trees_)
    full, pruned = fitted(kind), fitted(kind, ccp_alpha=0.02)
    assert sum(t.n_leaves for t in pruned.trees_) < sum(t.n_leaves for t in full.trees_)
    leafy = fitted(kind, min_samples_leaf=7)
    for tree in leafy.trees_:
        assert tree.count[tree.first_child < 0].min() >= 7 or len(tree) == 1


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_input_is_dense_input(kind, form):
    X, y, number = data()
    X[np.abs(X) < 0.7] = 0
    y = y if kind in CLASSIFIERS else number
    dense = kind(5, random_state=0).fit(X, y)
    thin = kind(5, random_state=0).fit(form(X), y)
    same_trees(dense, thin)
    assert_array_equal(answers(dense, X), answers(thin, form(X)))


@pytest.mark.parametrize("share", [0.3, 10, None])
def test_max_samples_is_the_size_of_a_bag(share):
    model = fitted(RandomForestClassifier, max_samples=share)
    expected = {0.3: 36, 10: 10, None: 120}[share]
    assert all(tree.weight[0] == expected for tree in model.trees_)


# ---------------------------------------------------------------------- as good as scikit-learn's
@pytest.mark.parametrize("make", [load_breast_cancer, load_wine])
def test_classification_is_as_good_as_scikit_learns(make):
    X, y = make(return_X_y=True)
    options = {"n_estimators": 60, "random_state": 0, "n_jobs": 2}
    ours = RandomForestClassifier(oob_score=True, **options).fit(X, y)
    theirs = TheirForest(oob_score=True, **options).fit(X, y)
    noise = 3 * np.sqrt(theirs.oob_score_ * (1 - theirs.oob_score_) / len(y)) + 0.01
    assert abs(ours.oob_score_ - theirs.oob_score_) < noise
    for mine, other in (
        (RandomForestClassifier, TheirForest),
        (ExtraTreesClassifier, TheirExtraTrees),
    ):
        first = cross_val_score(mine(**options), X, y, cv=4).mean()
        second = cross_val_score(other(**options), X, y, cv=4).mean()
        assert abs(first - second) < 0.025
    order = np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1]
    assert order > 0.8


def test_regression_is_as_good_as_scikit_learns():
    X, y = load_diabetes(return_X_y=True)
    options = {"n_estimators": 60, "random_state": 0, "n_jobs": 2}
    ours = RandomForestRegressor(oob_score=True, **options).fit(X, y)
    theirs = TheirRegressor(oob_score=True, **options).fit(X, y)
    assert abs(ours.oob_score_ - theirs.oob_score_) < 0.04
    first = cross_val_score(RandomForestRegressor(**options), X, y, cv=4).mean()
    second = cross_val_score(TheirRegressor(**options), X, y, cv=4).mean()
    assert abs(first - second) < 0.04
    assert np.corrcoef(ours.feature_importances_, theirs.feature_importances_)[0, 1] > 0.95
