"""What must hold for any table: laws a correct tree obeys, whatever the tree is.

A law compares two fits of the engine with each other: shuffled rows, repeated rows, other threads, other
containers, other scales. "The same tree" means bit for bit the same questions; only sums of floats
(values, impurities), which depend on the order of the rows, may differ in their last digits.
"""

from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import arboretum
from arboretum import CARTClassifier, CARTRegressor, DataError
from arboretum.structure.tree import LEAF
from arboretum.textbook import Rules, grow
from tests.cart.law_cases import (
    CLASSES,
    MIXED,
    NUMBERS,
    RANDOM,
    Case,
    assert_same_questions,
    assert_same_tree,
    cases,
    cases_without,
    proba,
    saved,
    settled_cases,
)

few = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=10,
    suppress_health_check=list(HealthCheck),
)


# ---------------------------------------------------------------------- rows
@cases
def test_the_order_of_the_rows_does_not_matter(case):
    X, y, w = case.table()
    order = np.random.default_rng(1).permutation(len(X))
    for weight in (None, w, w / 8):  # every row 1; whole numbers; fractions
        first = case.model().fit(X, y, weight)
        shuffled = None if weight is None else weight[order]
        again = case.model().fit(X[order], y[order], shuffled)
        assert first.get_n_leaves() > 5
        assert_same_tree(first.tree_, again.tree_)
        assert_array_equal(first.tree_.count, again.tree_.count)
        assert_array_equal(first.apply(X), again.apply(X))


@cases_without("min_samples_leaf", "max_bins", "surrogates")  # these count rows
def test_repeating_rows_is_weighing_them(case):
    X, y, w = case.table()
    times = w.astype(int)
    model = case.model(category_penalty=0.0)  # what chance gains depends on the number of rows
    weighed = clone(model).fit(X, y, w)
    repeated = model.fit(np.repeat(X, times, axis=0), np.repeat(y, times, axis=0))
    assert_same_tree(weighed.tree_, repeated.tree_)


@cases
def test_rows_of_weight_zero_are_not_there(case):
    X, y, w = case.table()
    w[::5] = 0.0
    if case.classes:
        w[np.unique(np.atleast_2d(y.T)[0], return_index=True)[1]] = 1.0
    kept = w > 0
    weighed = case.model().fit(X, y, w)
    assert_same_tree(weighed.tree_, case.model().fit(X[kept], y[kept], w[kept]).tree_)


@cases_without("entropy", "log_loss")  # logarithms round: the last digit decides between equals
def test_the_unit_of_the_weights_does_not_matter(case):
    X, y, w = case.table()
    first = case.model().fit(X, y, w)
    # many classes: fractions are scanned by another formula, whose last digit differs between equals
    for unit in (4.0,) if case.classes > 2 else (4.0, 2.0**-30):
        again = case.model().fit(X, y, w * unit)
        assert_same_questions(first.tree_, again.tree_)
        assert_allclose(again.tree_.weight, first.tree_.weight * unit, rtol=1e-12)
        assert_allclose(again.tree_.value, first.tree_.value, rtol=1e-12, atol=1e-12)


# ---------------------------------------------------------------------- columns
@settled_cases
def test_an_increasing_transform_of_a_column_leaves_the_partition(case):
    X, y, w = case.table()
    model = case.model().fit(X, y, w)
    curved = X.copy()
    curved[:, 0] = np.exp(X[:, 0])
    curved[:, 1] = 3 * X[:, 1] - 7
    curved[:, 4] = X[:, 4] ** 3
    again = case.model().fit(curved, y, w)
    assert_array_equal(model.tree_.feature, again.tree_.feature)
    assert_array_equal(model.tree_.missing_child, again.tree_.missing_child)
    assert_array_equal(model.apply(X), again.apply(curved))


@settled_cases
def test_a_constant_column_or_a_copy_changes_nothing(case):
    X, y, w = case.table()
    first = case.model().fit(X, y, w)
    signs = case.options.get("monotonic_cst", [0] * 6)
    for column, sign in ((np.full(len(X), 3.5), 0), (X[:, 0], signs[0])):
        if sign == signs[0] and "surrogates" in case.options:
            continue  # a copy is a perfect surrogate
        again = case.model()
        if any(signs):
            again.set_params(monotonic_cst=[*signs, sign])
        again.fit(np.column_stack([X, column]), y, w)
        assert_same_tree(first.tree_, again.tree_)


@few
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_columns_matters_only_for_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(120, 5)), rng.normal(size=120)
    order = rng.permutation(5)
    model = CARTRegressor(min_samples_leaf=8).fit(X, y)
    again = CARTRegressor(min_samples_leaf=8).fit(X[:, order], y)
    assert_array_equal(model.tree_.threshold, again.tree_.threshold)
    inner = model.tree_.kind != LEAF
    assert_array_equal(model.tree_.feature[inner], order[again.tree_.feature[inner]])


def test_codes_of_categories_do_not_matter():
    # two classes: the categories are sorted by their share, so their names play no part
    case = Case("gini", categories=True, classes=2)
    X, y, w = case.table()
    renamed = X.copy()
    names = np.random.default_rng(0).permutation(14)
    renamed[:, 3] = names[X[:, 3].astype(int)]
    first, again = case.model().fit(X, y, w), case.model().fit(renamed, y, w)
    assert_allclose(first.tree_.gain[0], again.tree_.gain[0], rtol=1e-12)
    assert first.tree_.feature[0] == again.tree_.feature[0]


# ---------------------------------------------------------------------- threads
@cases
def test_the_number_of_threads_does_not_matter(case):
    X, y, w = case.table(n=6000)  # enough work for the threads to be used
    one, *others = [
        saved(case.model().set_params(n_jobs=n, max_depth=6).fit(X, y, w).set_params(n_jobs=1))
        for n in (1, 2, 3, 8)
    ]
    assert len(one) > 2000
    assert all(other == one for other in others)


def test_threads_agree_on_predictions():
    case = Case("gini-3", classes=3, **MIXED)
    X, y, _ = case.table(n=3000)
    model = case.model(n_jobs=1).fit(X, y)
    many = np.tile(X, (20, 1))
    one = model.predict_proba(many), model.apply(many)
    model.set_params(n_jobs=3)
    assert_array_equal(one[0], model.predict_proba(many))
    assert_array_equal(one[1], model.apply(many))
    assert_array_equal(model.predict_proba(many)[: len(X)], model.predict_proba(X))


# ---------------------------------------------------------------------- keeping
@cases
def test_a_kept_model_is_the_same_model(case, tmp_path):
    X, y, w = case.table()
    model = case.model().fit(X, y, w)
    fresh = case.table(seed=9)[0]
    path = tmp_path / "model.arb"
    model.save(path)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (
        arboretum.load(path),
        arboretum.load(io.BytesIO(saved(model))),
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        clone(model).fit(X, y, w),
    ):
        assert type(copy) is type(model)
        assert copy.get_params() == model.get_params()
        assert_same_tree(copy.tree_, model.tree_)
        assert_array_equal(copy.apply(fresh), model.apply(fresh))
        assert_array_equal(proba(copy, fresh), proba(model, fresh))
        assert saved(copy) == saved(model)


# ---------------------------------------------------------------------- containers
NAMES = ["größe", "b", "c", "d", "e", "f"]


def containers(X: np.ndarray) -> dict:
    """The same numbers in every kind of box."""
    wide = np.zeros((len(X), 2 * X.shape[1]))
    wide[:, ::2] = X
    frozen = X.copy()
    frozen.setflags(write=False)
    return {
        "fortran": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "backwards": X[::-1].copy()[::-1],
        "read-only": frozen,
        "float32": X.astype(np.float32),
        "big-endian": X.astype(">f8"),
        "list": X.tolist(),
        "pandas": pd.DataFrame(X, columns=NAMES),
        "pandas-float32": pd.DataFrame(X.astype(np.float32), columns=NAMES),
        "polars": pl.DataFrame(X, schema=NAMES),
        "arrow": pa.table({name: X[:, f] for f, name in enumerate(NAMES)}),
        "csr": sparse.csr_matrix(X),
        "csc": sparse.csc_array(X),
        "coo": sparse.coo_array(X),
    }


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", containers(np.zeros((1, 6))))
def test_the_container_does_not_matter(kind, missing):
    case = Case("gini-3", classes=3, missing=missing)
    X, y, w = case.table()
    X = X.astype(np.float32).astype(np.float64)
    X[:, 5] *= np.abs(X[:, 5]) > 0.5  # zeros, for the sparse ones
    first = CARTClassifier().fit(X, y, w)
    box = containers(X)[kind]
    model = CARTClassifier().fit(box, y, w)
    assert_same_tree(first.tree_, model.tree_)
    assert_array_equal(model.predict_proba(box), first.predict_proba(X))
    assert_array_equal(model.apply(box), first.apply(X))


def test_columns_are_found_by_name():
    case = Case("squared_error", missing=True)
    X, y, w = case.table()
    frame = pd.DataFrame(X, columns=NAMES)
    model = CARTRegressor().fit(frame, y, w)
    turned = frame[NAMES[::-1]]
    assert_array_equal(model.predict(turned), model.predict(frame))
    assert_array_equal(model.predict(pl.from_pandas(turned)), model.predict(frame))
    for wrong, word in (
        (frame.rename(columns={"größe": "grosse"}), "größe"),
        (frame.drop(columns="c"), "'c'"),
        (frame.assign(extra=1.0), "'extra'"),
    ):
        with pytest.raises(DataError, match=word):
            model.predict(wrong)


@pytest.mark.parametrize("kind", ["str", "category", "enum", "bool"])
def test_words_are_categories(kind):
    rng = np.random.default_rng(0)
    words = np.array(["no", "yes"] if kind == "bool" else ["oak", "fir", "ash", "elm"])
    code = rng.integers(0, len(words), 200)
    y = (code % 2) + rng.normal(size=200)
    x = rng.normal(size=200)
    by_code = CARTRegressor(max_depth=4, categorical_features=[0]).fit(
        np.column_stack([np.argsort(np.argsort(words))[code], x]), y
    )
    frames = {
        "str": pd.DataFrame({"a": words[code], "x": x}),
        "category": pd.DataFrame({"a": pd.Categorical(words[code]), "x": x}),
        "enum": pl.DataFrame({"a": pl.Series(words[code], dtype=pl.Enum(sorted(words))), "x": x}),
        "bool": pd.DataFrame({"a": code == 1, "x": x}),
    }
    model = CARTRegressor(max_depth=4).fit(frames[kind], y)
    assert model.tree_.feature[0] == 0
    assert_same_tree(model.tree_, by_code.tree_)


# ---------------------------------------------------------------------- targets
@cases_without(of=NUMBERS)
@pytest.mark.parametrize("power", [-40, 3, 90])
def test_the_unit_of_the_targets_does_not_matter(case, power):
    X, y, w = case.table()
    first = case.model().fit(X, y, w)
    again = case.model().fit(X, y * 2.0**power, w)
    assert_same_questions(first.tree_, again.tree_)
    assert_array_equal(again.tree_.value, first.tree_.value * 2.0**power)
    square = 1 if case.options.get("criterion") in ("poisson", "absolute_error") else 2
    assert_allclose(again.tree_.gain, first.tree_.gain * 2.0 ** (square * power), rtol=1e-12)


@cases_without("poisson", of=NUMBERS)
def test_the_origin_of_the_targets_does_not_matter(case):
    X, y, w = case.table()
    first = case.model().fit(X, y, w)
    again = case.model().fit(X, y + 1024.0, w)
    assert_same_questions(first.tree_, again.tree_)
    assert_allclose(again.tree_.value, first.tree_.value + 1024.0, rtol=1e-12)


@cases_without(of=CLASSES)
def test_names_of_classes_do_not_matter(case):
    X, y, w = case.table()
    names = np.array(["ash", "birch", "cedar", "douglas"])
    model, named = case.model().fit(X, y, w), case.model().fit(X, names[y], w)
    assert_same_tree(model.tree_, named.tree_)
    assert_array_equal(named.predict(X), names[model.predict(X)])


# ---------------------------------------------------------------------- limits that do not bite
@cases
def test_limits_that_do_not_bite_change_nothing(case):
    X, y, w = case.table()
    first = case.model().fit(X, y, w)
    if "max_leaf_nodes" not in case.options:
        many = case.model(max_leaf_nodes=10_000).fit(X, y, w)
        assert_same_tree(first.tree_, many.tree_)
    if "max_depth" not in case.options:
        deep = case.model(max_depth=10_000).fit(X, y, w)
        assert_same_tree(first.tree_, deep.tree_)
    if "max_bins" not in case.options:
        # grown another way, in which equally good divisions of small nodes may fall differently
        large = case.model(min_samples_split=24).fit(X, y, w)
        binned = case.model(min_samples_split=24, max_bins=len(X)).fit(X, y, w)
        assert_same_tree(large.tree_, binned.tree_)
    assert_same_tree(first.tree_, case.model(ccp_alpha=1e-300).fit(X, y, w).tree_)


@few
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_bins_hold_about_as_many_rows_and_are_never_parted(max_bins, seed):
    rng = np.random.default_rng(seed)
    x = rng.exponential(size=200)
    # a column that predicts itself is cut wherever it can be: a leaf for every bin
    tree = CARTRegressor(max_bins=max_bins).fit(x[:, None], x).tree_
    assert tree.n_leaves == max_bins
    assert tree.count[tree.leaves].max() <= 200 / max_bins + 1
    exact = CARTRegressor(max_depth=1).fit(x[:, None], x).tree_
    assert tree.gain[0] <= exact.gain[0] * (1 + 1e-12)


# ---------------------------------------------------------------------- best first
@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "friedman_mse"])
def test_best_first_is_what_a_naive_queue_does(criterion, max_leaf_nodes):
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(90, 3)), rng.normal(size=90)
    w = rng.integers(20, 200, 90) / 64
    rules = Rules(criterion, max_leaf_nodes=max_leaf_nodes, min_samples_leaf=3)
    naive = grow(X, y, w, rules)
    model = CARTRegressor(
        criterion=criterion, max_leaf_nodes=max_leaf_nodes, min_samples_leaf=3
    ).fit(X, y, w)
    paths, tree = {0: ""}, model.tree_
    for node in np.flatnonzero(tree.kind != LEAF):
        for side in (0, 1):
            paths[tree.first_child[node] + side] = paths[node] + "LR"[side]
    assert model.get_n_leaves() == max_leaf_nodes
    asked = {paths[i]: (tree.feature[i], tree.threshold[i]) for i in np.flatnonzero(tree.kind)}
    assert asked == {n.path: (n.chosen.feature, n.chosen.threshold) for n in naive if n.chosen}


@cases_without("max_leaf_nodes")
def test_best_first_trees_are_nested(case):
    X, y, w = case.table()
    before: set = set()
    for max_leaf_nodes in (2, 4, 9, 20):
        model = case.model(max_leaf_nodes=max_leaf_nodes).fit(X, y, w)
        rows = model.decision_path(X).toarray().T
        parts = {row.tobytes() for row in rows}
        assert before <= parts
        before = parts


# ---------------------------------------------------------------------- monotone constraints
@pytest.mark.parametrize("surrogates", [0, 2])
@pytest.mark.parametrize("max_leaf_nodes", [None, 12])
@pytest.mark.parametrize(
    "criterion", ["gini", "entropy", "squared_error", "absolute_error", "poisson"]
)
def test_a_monotone_tree_never_falls(criterion, max_leaf_nodes, surrogates):
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(150, 3))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=150)
    classes = criterion in ("gini", "entropy")
    y = (y > 0).astype(int) if classes else y
    y = np.floor(np.exp(y)) if criterion == "poisson" else y
    X[rng.random(X.shape) < 0.25] = np.nan
    options = {"criterion": criterion, "max_leaf_nodes": max_leaf_nodes, "surrogates": surrogates}
    model = CARTClassifier if classes else CARTRegressor
    line = np.linspace(-2, 2, 60)

    def along(fitted, rest):
        answer = proba(fitted, np.column_stack([line, np.tile(rest, (60, 1))]))
        return answer[:, 1] if classes else answer

    rests = [(0.5, 0.5), (-1.0, 1.5), (np.nan, 0.5), (0.5, np.nan), (np.nan, np.nan)]
    for sign in (1, -1):
        bound = model(**options, monotonic_cst=[sign, 0, 0]).fit(X, y, rng.uniform(0.2, 2, 150))
        assert all(np.all(sign * np.diff(along(bound, rest)) >= -1e-12) for rest in rests)
    free = model(criterion=criterion).fit(X, y)
    assert any(np.any(np.diff(along(free, rest)) < 0) for rest in rests)


# ---------------------------------------------------------------------- reading the tree
@cases
def test_apply_and_decision_path_tell_the_same_story(case):
    X, y, w = case.table()
    model = case.model().fit(X, y, w)
    fresh = case.table(seed=3)[0]
    leaf, path = model.apply(fresh), model.decision_path(fresh)
    tree = model.tree_
    assert np.all(tree.kind[leaf] == LEAF)
    for row in range(len(fresh)):
        passed = path.indices[path.indptr[row] : path.indptr[row + 1]]
        assert (passed[0], passed[-1]) == (0, leaf[row])
        assert_array_equal(tree.parent[passed[1:]], passed[:-1])
    counted = np.bincount(model.apply(X), minlength=len(tree))[tree.leaves]
    assert_array_equal(counted, tree.count[tree.leaves])
    assert_allclose(tree.feature_importances().sum(), 1.0)


@cases
def test_children_add_up_to_their_parents(case):
    X, y, w = case.table()
    tree = case.model().fit(X, y, w).tree_
    inner = np.flatnonzero(tree.kind != LEAF)
    left, right = tree.first_child[inner], tree.first_child[inner] + 1
    assert_array_equal(tree.count[inner], tree.count[left] + tree.count[right])
    assert_allclose(tree.weight[inner], tree.weight[left] + tree.weight[right], rtol=1e-12)
    if "surrogates" not in case.options and case.name != "friedman_mse":
        risk = tree.impurity * tree.weight / tree.weight[0]
        assert_allclose(tree.gain[inner], risk[inner] - risk[left] - risk[right], atol=1e-9)


# ---------------------------------------------------------------------- chance
@cases_without(of=RANDOM)
def test_chance_depends_on_random_state_alone(case):
    X, y, w = case.table()
    np.random.seed(1)
    first = case.model().fit(X, y, w)
    np.random.seed(2)
    again = case.model().fit(X, y, w)
    assert_same_tree(first.tree_, again.tree_)
    other = case.model().set_params(random_state=77).fit(X, y, w)
    assert not np.array_equal(other.tree_.threshold[:5], first.tree_.threshold[:5])
    for seed in (np.random.RandomState(4), np.random.default_rng(4)):
        case.model().set_params(random_state=seed).fit(X, y, w)


@settled_cases
def test_without_chance_random_state_means_nothing(case):
    X, y, w = case.table()
    one, two = (case.model(random_state=seed).fit(X, y, w) for seed in (0, None))
    assert_same_tree(one.tree_, two.tree_)


@few
@given(st.integers(0, 2**32 - 1))
def test_random_cuts_lie_inside_the_node_and_are_spread_evenly(seed):
    rng = np.random.default_rng(seed)
    X = rng.exponential(size=(60, 1))
    y = rng.normal(size=60)
    low, high = X.min(), X.max()
    drawn = np.array(
        [
            CARTRegressor(splitter="random", max_depth=1, random_state=s)
            .fit(X, y)
            .tree_.threshold[0]
            for s in range(60)
        ]
    )
    share = (drawn - low) / (high - low)
    assert np.all((share >= 0) & (share < 1))
    assert len(np.unique(drawn)) == 60
    assert 0.3 < share.mean() < 0.7  # uniform over the range, not over the rows


@few
@given(st.integers(0, 2**32 - 1), st.sampled_from(["best", "random"]))
def test_columns_are_drawn_until_one_is_not_constant(seed, splitter):
    rng = np.random.default_rng(seed)
    X = np.full((40, 6), 2.5)
    useful = int(rng.integers(0, 6))
    X[:, useful] = rng.normal(size=40)
    y = rng.integers(0, 2, 40)
    y[:2] = 0, 1
    model = CARTClassifier(max_features=1, splitter=splitter, random_state=seed).fit(X, y)
    assert set(model.tree_.feature[model.tree_.kind != LEAF]) == {useful}
    assert_array_equal(model.predict(X), y)  # grown to the end in spite of the constant columns


def test_every_column_is_drawn_as_often():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 5)), rng.normal(size=50)
    roots = [
        CARTRegressor(max_features=1, max_depth=1, random_state=s).fit(X, y).tree_.feature[0]
        for s in range(300)
    ]
    assert np.bincount(roots, minlength=5).min() > 35  # 60 expected, standard deviation 7
