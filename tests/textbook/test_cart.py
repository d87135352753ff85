"""Growing by hand-made examples, by identities, and against scikit-learn where no ties exist."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboretum.textbook.cart import grow, predict, predict_proba, route, surrogates
from arboretum.textbook.impurities import CLASS_CRITERIA, CRITERIA
from arboretum.textbook.splits import Rules, candidates, choose

THEIRS = [c for c in CRITERIA if c != "error"]  # scikit-learn has no such criterion

NAN = np.nan


def make(seed, criterion, n=90, columns=3, n_outputs=1):
    """Random rows without ties: uneven weights give every partition a gain of its own.

    They are multiples of 1/64: all sums of weights are exact, and a pure node is exactly pure.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).astype(np.float32).astype(np.float64)
    w = rng.integers(20, 200, n) / 64
    signal = X[:, 0] * X[:, 1 % columns] + X[:, 2 % columns] + rng.normal(size=n)
    y = np.column_stack([signal + j * rng.normal(size=n) for j in range(n_outputs)])
    if criterion in CLASS_CRITERIA:
        y = np.digitize(y, [-0.6, 0.6])
    elif criterion == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    return X, y[:, 0] if n_outputs == 1 else y, w


def peer(criterion, **options):
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    # scikit-learn's friedman_mse is an alias of squared_error since 1.9
    name = "squared_error" if criterion == "friedman_mse" else criterion
    return model(criterion=name, random_state=0, **options)


def assert_same_tree(node, tree, i=0):
    assert len(node.rows) == tree.n_node_samples[i]
    assert_allclose(node.weight, tree.weighted_n_node_samples[i])
    assert_allclose(node.impurity, tree.impurity[i], atol=1e-9)
    assert_allclose(node.value, tree.value[i], atol=1e-9)
    assert node.is_leaf == (tree.children_left[i] == -1), node.path
    if node.is_leaf:
        assert node.chosen is None
        assert node.stop
        return
    assert node.chosen.feature == tree.feature[i], node.path
    assert node.chosen.threshold == tree.threshold[i]
    if node.chosen.missing_goes:
        assert (node.chosen.missing_goes == "left") == bool(tree.missing_go_to_left[i])
    assert_same_tree(node.left, tree, tree.children_left[i])
    assert_same_tree(node.right, tree, tree.children_right[i])


# ---------------------------------------------------------------------- scikit-learn
@pytest.mark.parametrize("criterion", THEIRS)
@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 3, "min_samples_leaf": 6},
        {"min_samples_split": 25, "min_samples_leaf": 4},
        {"max_leaf_nodes": 6, "min_samples_leaf": 5},
        {"min_impurity_decrease": 0.02, "min_samples_leaf": 5},
    ],
    ids=lambda options: next(iter(options)),
)
def test_same_tree_as_scikit_learn(criterion, options):
    X, y, w = make(0, criterion)
    model = peer(criterion, **options).fit(X, y, sample_weight=w)
    tree = grow(X, y, w, Rules(criterion, **options))
    assert model.get_n_leaves() > 3
    assert_same_tree(tree, model.tree_)
    fresh = make(1, criterion)[0]
    assert_allclose(predict(tree, fresh), model.predict(fresh), atol=1e-9)


@pytest.mark.parametrize("criterion", THEIRS)
def test_same_full_tree_as_scikit_learn_on_one_column(criterion):
    # with one column two cuts of a node never give the same partition: no ties down to the leaves
    X, y, w = make(2, criterion, n=60, columns=1)
    model = peer(criterion).fit(X, y, sample_weight=w)
    assert_same_tree(grow(X, y, w, Rules(criterion)), model.tree_)


def test_min_weight_leaf_as_scikit_learn():
    X, y, w = make(3, "gini")
    model = peer("gini", min_weight_fraction_leaf=0.08).fit(X, y, sample_weight=w)
    tree = grow(X, y, w, Rules("gini", min_weight_leaf=0.08 * w.sum()))
    assert_same_tree(tree, model.tree_)
    assert "min_weight_leaf" in {c.verdict for c in tree.candidates}


@pytest.mark.parametrize("criterion", ["entropy", "squared_error", "absolute_error"])
def test_several_targets_as_scikit_learn(criterion):
    X, y, w = make(4, criterion, n_outputs=2)
    options = {"max_depth": 3, "min_samples_leaf": 6}
    model = peer(criterion, **options).fit(X, y, sample_weight=w)
    tree = grow(X, y, w, Rules(criterion, **options))
    assert_same_tree(tree, model.tree_)
    assert_allclose(predict(tree, X), model.predict(X))
    if criterion == "entropy":
        proba = np.stack(model.predict_proba(X), axis=1)
        assert_allclose(predict_proba(tree, X), proba, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "poisson"])
def test_missing_values_as_scikit_learn(criterion):
    X, y, w = make(5, criterion)
    rng = np.random.default_rng(6)
    X[rng.random(X.shape) < 0.25] = NAN
    X[X[:, 0] > 1, 0] = NAN  # being missing says something
    options = {"max_depth": 4, "min_samples_leaf": 6}
    model = peer(criterion, **options).fit(X, y, sample_weight=w)
    tree = grow(X, y, w, Rules(criterion, **options))
    assert_same_tree(tree, model.tree_)
    assert {node.chosen.missing_goes for node in tree if node.chosen} >= {"left", "right"}


@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("signs", [(1, 0, -1), (-1, 1, 0)])
def test_monotone_constraints_as_scikit_learn(criterion, signs):
    X, y, w = make(7, criterion)
    y = (y > 0).astype(int) if criterion == "gini" else y
    options = {"max_depth": 4, "min_samples_leaf": 5, "monotonic_cst": signs}
    model = peer(criterion, **options).fit(X, y, sample_weight=w)
    tree = grow(X, y, w, Rules(criterion, **options))
    assert_same_tree(tree, model.tree_)
    assert "monotone constraint" in {c.verdict for node in tree for c in node.candidates}


def test_rows_of_weight_zero_are_left_out():
    X, y, w = make(8, "gini")
    w[::3] = 0.0
    options = {"max_depth": 3, "min_samples_leaf": 5}
    model = peer("gini", **options).fit(X, y, sample_weight=w)
    assert_same_tree(grow(X, y, w, Rules("gini", **options)), model.tree_)


# ---------------------------------------------------------------------- ties
def test_ties_go_to_the_lowest_column_then_threshold_then_missing_right():
    X = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]])
    tree = grow(X, [0, 1, 0, 1])
    assert (tree.chosen.feature, tree.chosen.threshold) == (0, 1.5)  # 1.5 and 3.5 tie
    table = candidates([[NAN], [1.0], [2.0], [3.0]], [1, 0, 1, 0])
    twins = [c for c in table if c.threshold == 1.5]
    assert [c.missing_goes for c in twins] == ["right", "left"]
    level = candidates([[NAN], [NAN], [1.0], [1.0], [2.0], [2.0]], [0, 1, 0, 1, 0, 1])
    assert choose(level).missing_goes == "right"


def test_gains_that_differ_by_rounding_are_ties():
    rng = np.random.default_rng(13)
    differed = 0
    for _ in range(30):
        # rows k and k + 8 are twins; column 1 swaps them, which changes only the order of the sums
        y, w = np.tile(rng.normal(size=8), 2), np.tile(rng.uniform(0.1, 1, 8), 2)
        x = y + rng.normal(size=16)
        X = np.column_stack([x, np.roll(x, 8)])
        tree = grow(X, y, w, Rules("squared_error", max_depth=1))
        assert tree.chosen.feature == 0
        top = max(tree.candidates, key=lambda c: c.gain)
        differed += top.feature == 1  # by the bare numbers column 1 would have won
    assert differed > 0


# ---------------------------------------------------------------------- growing
def test_xor_is_split_though_the_first_gain_is_zero():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=float)
    y = np.array([0, 1, 1, 0] * 3)
    tree = grow(X, y)
    assert_allclose([c.gain for c in tree.candidates], 0.0, atol=1e-15)
    assert (tree.chosen.feature, tree.left.chosen.feature, tree.right.chosen.feature) == (0, 1, 1)
    assert_array_equal(predict(tree, X), y)


def test_a_gain_equal_to_min_impurity_decrease_is_enough():
    X, y = np.arange(4.0)[:, None], [0, 0, 1, 1]
    assert not grow(X, y, rules=Rules(min_impurity_decrease=0.5)).is_leaf
    assert grow(X, y, rules=Rules(min_impurity_decrease=0.5 + 1e-9)).is_leaf


def test_why_a_leaf_is_a_leaf():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 0, 1, 1, 1])
    cases = {
        "max_depth": {"max_depth": 0},
        "min_samples_split": {"min_samples_split": 9},
        "min_samples_leaf": {"min_samples_leaf": 5},
        "min_weight_leaf": {"min_weight_leaf": 4.5},
        "min_impurity_decrease": {"min_impurity_decrease": 0.9},
    }
    for stop, options in cases.items():
        tree = grow(X, y, rules=Rules(**options))
        assert (tree.stop, tree.is_leaf) == (stop, True)
    assert grow(X, y * 0).stop == "pure"
    assert grow(X * 0, y).stop == "no admissible split"
    kept = grow(X, y, rules=Rules(max_leaf_nodes=2))
    assert [node.stop for node in kept if node.is_leaf].count("max_leaf_nodes") >= 1


def test_best_first_growth_splits_the_largest_gain_first():
    X, y, w = make(10, "squared_error")
    rules = Rules("squared_error", min_samples_leaf=5)
    full = grow(X, y, w, rules)
    gains = {node.path: node.chosen.gain for node in full if node.chosen}
    few = grow(X, y, w, Rules("squared_error", min_samples_leaf=5, max_leaf_nodes=5))
    expected, waiting = [], {""}
    for _ in range(4):
        best = max(waiting, key=lambda path: gains.get(path, -1.0))
        expected.append(best)
        waiting = waiting - {best} | {best + "L", best + "R"}
    assert {node.path for node in few if not node.is_leaf} == set(expected)
    assert {node.path for node in few if node.stop == "max_leaf_nodes"} == waiting & set(gains)


# ---------------------------------------------------------------------- missing values
def test_missing_rows_take_the_side_that_suits_them():
    X = np.array([[1.0], [2.0], [8.0], [9.0], [NAN], [NAN]])
    y = np.array([0, 0, 1, 1, 0, 0])
    tree = grow(X, y)
    assert (tree.chosen.threshold, tree.chosen.missing_goes) == (5.0, "left")
    assert sorted(tree.left.rows) == [0, 1, 4, 5]
    assert_array_equal(predict(tree, [[NAN], [0.0], [10.0]]), [0, 0, 1])
    # each of the 3 cuts twice, and present versus missing
    assert len(tree.candidates) == 7
    assert (tree.candidates[-1].threshold, tree.candidates[-1].n_left) == (np.inf, 4)


def test_present_versus_missing_is_a_split_of_its_own():
    X = np.array([[1.0], [5.0], [3.0], [NAN], [NAN]])
    for kind in ("numeric", "ordinal"):
        tree = grow(X, [0, 0, 0, 1, 1], rules=Rules(kinds=(kind,)))
        assert (tree.chosen.kind, tree.chosen.threshold) == ("threshold", np.inf)
        assert_array_equal(tree.chosen.left, ~np.isnan(X[:, 0]))
        assert_array_equal(predict(tree, [[2.0], [99.0], [NAN]]), [0, 0, 1])
    tree = grow(X, [0, 0, 0, 1, 1], rules=Rules(kinds=("categorical",)))
    assert (tree.chosen.left_categories, tree.chosen.right_categories) == ({1, 3, 5}, set())
    assert_array_equal(predict(tree, [[3.0], [2.0], [NAN]]), [0, 1, 1])  # 2 is not met: as missing


@pytest.mark.parametrize(("y", "side"), [([0, 0, 0, 1], 0), ([0, 1, 1, 1], 1), ([0, 0, 1, 1], 0)])
def test_missing_goes_to_the_larger_child_where_training_saw_none(y, side):
    tree = grow([[1.0], [2.0], [3.0], [4.0]], y)
    assert tree.chosen.missing_goes is None
    assert predict(tree, [[NAN]]).tolist() == [side]


# ---------------------------------------------------------------------- categories
def test_category_subset_splits_and_predicts():
    x = np.array([0, 1, 2, 3, 0, 1, 2, 3], dtype=float)[:, None]
    y = np.array([5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0])
    tree = grow(x, y, rules=Rules("squared_error", kinds=("categorical",)))
    assert tree.chosen.left_categories == {0, 2}
    assert np.isnan(tree.chosen.threshold)
    assert_array_equal(predict(tree, [[0.0], [1.0], [2.0], [3.0]]), [5, 1, 5, 1])
    assert tree.chosen.right_categories == {1, 3}
    # neither a missing value nor category 7 was met; the children weigh the same: left
    assert_array_equal(predict(tree, [[7.0], [NAN]]), [5.0, 5.0])


def test_a_category_not_met_goes_where_missing_values_go():
    x = np.array([0, 1, 1, 2, 2, 2, NAN, NAN])[:, None]
    y = np.array([1, 1, 1, 0, 0, 0, 1, 1])
    rules = Rules(kinds=("categorical",))
    learned = choose(candidates(x, y, rules=rules))
    assert (learned.left_categories, learned.missing_goes) == ({0, 1}, "left")
    assert_array_equal(route(learned, [], np.array([[9.0], [2.0], [NAN]])), [True, False, True])
    for w, side in (([1, 1, 1, 1, 1, 1], True), ([1, 1, 1, 2, 1, 1], False)):
        heavier = choose(candidates(x[:6], y[:6], w, rules))
        assert heavier.missing_goes is None
        assert_array_equal(route(heavier, [], np.array([[9.0], [NAN]])), [side, side])
    # the same holds for a surrogate: it asks no further
    X = np.column_stack([[1.0, 2, 3, 4, 7, 8, 9], [0.0, 0, 1, 1, 2, 2, 2], [1.0, 2, 3, 4, 7, 8, 9]])
    kinds = ("numeric", "categorical", "numeric")
    split = candidates(X, [0, 0, 0, 0, 1, 1, 1], rules=Rules(kinds=kinds, surrogates=2))[3]
    table = surrogates(X, np.ones(7), split, kinds)
    assert [s.feature for s in table] == [1, 2]
    rows = np.array([[NAN, 9.0, 9.0], [NAN, NAN, 9.0], [NAN, 2.0, 1.0]])
    assert_array_equal(route(split, table, rows), [True, False, False])


# ---------------------------------------------------------------------- surrogates
def test_surrogates_by_hand():
    #             split  numeric   reversed   constant  category   poor
    X = np.array(
        [
            [1.0, 10.0, 9.0, 1.0, 0.0, 1.0],
            [2.0, 11.0, 8.0, 1.0, 0.0, 2.0],
            [3.0, 12.0, 7.0, 1.0, 2.0, 1.0],
            [4.0, 32.5, NAN, 1.0, 2.0, 2.0],
            [6.0, 31.0, 3.0, 1.0, 1.0, 1.0],
            [7.0, 32.0, 2.0, 1.0, 1.0, 2.0],
            [8.0, 33.0, 1.0, 1.0, 1.0, 1.0],
            [9.0, 34.0, 4.0, 1.0, 1.0, 2.0],
            [NAN, 10.5, 5.0, 1.0, 0.0, 1.0],
        ]
    )
    kinds = ("numeric", "numeric", "numeric", "numeric", "categorical", "numeric")
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0])
    rules = Rules(kinds=kinds, surrogates=5)
    split = next(c for c in candidates(X, y, rules=rules) if c.threshold == 5.0)
    assert (split.n_left, split.n_right, split.missing_goes) == (4, 4, None)
    table = surrogates(X, np.ones(9), split, kinds)
    assert [s.feature for s in table] == [4, 1, 2]
    category, numeric, reverse = table
    assert (category.left_categories, category.agreement) == ({0, 2}, 1.0)
    assert (numeric.threshold, numeric.reverse, numeric.agreement) == (21.5, False, 7 / 8)
    assert (numeric.n_left, numeric.n_right, numeric.agreeing, numeric.majority) == (3, 5, 7.0, 4.0)
    # row 3 misses column 2: a disagreement, though all 7 rows that have it agree
    assert (reverse.threshold, reverse.reverse, reverse.agreement) == (5.5, True, 7 / 8)
    assert (reverse.n_left, reverse.n_right) == (3, 4)
    assert [s.feature for s in surrogates(X, np.ones(9), split, kinds, keep=1)] == [4]


def test_a_surrogate_needs_two_rows_each_way_and_must_beat_the_majority():
    X = np.array([[1.0, 1.0], [2.0, 5.0], [3.0, 6.0], [4.0, 7.0], [5.0, 8.0], [6.0, 9.0]])
    one_left = candidates(X[:, :1], [0, 1, 1, 1, 1, 1])[0]
    assert one_left.n_left == 1
    assert (
        surrogates(X, np.ones(6), one_left, ("numeric", "numeric")) == []
    )  # 1 | 5 would be perfect
    alternating = np.column_stack([np.arange(8.0), np.arange(8) % 2])
    half = candidates(alternating[:, :1], [0, 0, 0, 0, 1, 1, 1, 1])[3]
    assert surrogates(alternating, np.ones(8), half, ("numeric", "numeric")) == []


def test_surrogates_place_the_rows_the_split_cannot_ask():
    X = np.array([[1, 1], [2, 1], [3, 2], [7, 8], [8, 9], [9, 9], [NAN, 1], [NAN, 9], [NAN, NAN]])
    y = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1])
    tree = grow(X, y, rules=Rules(surrogates=5, max_depth=1))
    assert tree.chosen.feature == 1  # 8 of 9 rows answer; column 0 asks only 6
    # the gain is the decrease among the 8 rows that answer, times 8/9
    assert_allclose(tree.chosen.gain, 8 / 9 * 0.5)
    only = grow(X[:8], y[:8], rules=Rules(surrogates=5, kinds=("numeric", "numeric")))
    first = candidates(X, y, rules=Rules(surrogates=5))
    best = next(c for c in first if c.feature == 0 and c.threshold == 5.0)
    assert_allclose(best.gain, 6 / 9 * 0.5)
    assert len(only.surrogates) == 1
    assert_array_equal(predict(only, [[1.0, NAN], [9.0, NAN]]), [0, 1])
    assert sorted(tree.left.rows) == [0, 1, 2, 6, 8]  # row 8 answers nothing: larger side, left


def test_a_constrained_column_never_stands_in():
    X = np.array([[1, 1], [2, 2], [3, 3], [7, 7], [8, 8], [9, 9.0]])
    split = candidates(X, [5, 5, 5, 0, 0, 0], rules=Rules("squared_error", surrogates=1))[2]
    assert len(surrogates(X, np.ones(6), split, ("numeric", "numeric"))) == 1
    assert surrogates(X, np.ones(6), split, ("numeric", "numeric"), signs=(0, 1)) == []
    # it would let the answer fall with column 1
    rules = Rules("squared_error", surrogates=1, monotonic_cst=(0, 1), max_depth=1)
    tree = grow(X, [5, 5, 5, 0, 0, 0], rules=rules)
    assert (tree.chosen.feature, tree.surrogates) == (0, [])


def test_rows_placed_by_surrogates_cannot_turn_a_monotone_split_round():
    rng = np.random.default_rng(14)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 2 * X[:, 1] + rng.normal(size=40)
    X[rng.random(X.shape) < 0.4] = NAN
    tree = grow(X, y, rules=Rules("squared_error", surrogates=2, monotonic_cst=(1, 0, 0)))
    line = np.linspace(-3, 3, 40)
    for other in ((0.0, 0.0), (NAN, 1.0), (-1.0, NAN), (NAN, NAN)):
        answers = predict(tree, np.column_stack([line, np.tile(other, (40, 1))]))
        assert np.all(np.diff(answers) >= -1e-12)


# ---------------------------------------------------------------------- monotone constraints
def test_monotone_tree_never_falls():
    rng = np.random.default_rng(12)
    X = rng.uniform(size=(80, 2))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=80)
    rules = Rules("squared_error", monotonic_cst=(1, 0), max_depth=5)
    tree = grow(X, y, rules=rules)
    line = np.linspace(0, 1, 60)
    for other in (0.1, 0.5, 0.9):
        answers = predict(tree, np.column_stack([line, np.full(60, other)]))
        assert np.all(np.diff(answers) >= 0)
    free = grow(X, y, rules=Rules("squared_error", max_depth=5))
    assert np.any(np.diff(predict(free, np.column_stack([line, np.full(60, 0.5)]))) < 0)


def test_children_are_bounded_by_the_middle_of_their_values():
    X, y = np.arange(6.0)[:, None], np.array([0.0, 1.0, 2.0, 6.0, 7.0, 8.0])
    tree = grow(X, y, rules=Rules("squared_error", monotonic_cst=(1,), max_depth=1))
    assert tree.left.bounds == (-np.inf, 4.0)
    assert tree.right.bounds == (4.0, np.inf)
    down = grow(X, -y, rules=Rules("squared_error", monotonic_cst=(-1,), max_depth=1))
    assert down.left.bounds == (-4.0, np.inf)


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("rules", "y", "w", "words"),
    [
        (Rules("ginni"), [0, 1, 1], None, "criterion must be one of"),
        (Rules(), [0, 1], None, "same number of rows"),
        (Rules(), [0, 1, 1], [0, 0, 0], "one weight > 0"),
        (Rules(), [0, 1, 1], [1, -1, 1], "weights ≥ 0"),
        (Rules(), [0.5, 1, 1], None, "class indices"),
        (Rules(), [-1, 1, 1], None, "class indices"),
        (Rules(kinds=("numeric", "numeric")), [0, 1, 1], None, "one entry per column"),
        (Rules(kinds=("nominal",)), [0, 1, 1], None, "one entry per column"),
        (Rules(monotonic_cst=(1,)), [0, 1, 2], None, "two classes"),
        (Rules(monotonic_cst=(1,), kinds=("categorical",)), [0, 1, 1], None, "no order"),
        (Rules("poisson"), [-1, 1, 1], None, "y ≥ 0"),
    ],
)
def test_bad_input(rules, y, w, words):
    with pytest.raises(ValueError, match=words):
        grow([[1.0], [2.0], [3.0]], y, w, rules)


def test_too_many_subsets_and_weightless_rows_are_refused():
    many = np.arange(25.0)[:, None]
    with pytest.raises(ValueError, match="exhaustive=False"):
        grow(many, np.arange(25) % 2, rules=Rules(kinds=("categorical",)))
    scan = grow(many, np.arange(25) % 2, rules=Rules(kinds=("categorical",), exhaustive=False))
    assert scan.chosen.gain == pytest.approx(scan.impurity)
    with pytest.raises(ValueError, match="leave them out"):
        candidates([[1.0], [2.0]], [0, 1], [1.0, 0.0])
