"""Forests by hand, by the laws they keep, and against scikit-learn where nothing is drawn."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeRegressor

from arboretum.textbook import forest as forest_module
from arboretum.textbook import forest_figures
from arboretum.textbook.cart import grow
from arboretum.textbook.forest import (
    EXTRA_TREES,
    RANDOM_FOREST,
    ForestRules,
    bootstrap,
    decide,
    draw_candidates,
    forest_leaves,
    grow_forest,
    grow_random_tree,
    predict_forest,
    predict_proba_forest,
    random_question,
    tree_answers,
    tree_votes,
)
from arboretum.textbook.forest_figures import (
    Importance,
    ij_variance,
    leaf_weights,
    mdi,
    oob_curve,
    out_of_bag,
    permutation_importance,
    quantiles,
)
from arboretum.textbook.splits import DEFAULT, Rules, gather

NAN = np.nan
NUMBERS = Rules("squared_error")


def make(seed=0, n=60, columns=4, numbers=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    signal = X[:, 0] + X[:, 1] * X[:, 0] + 0.3 * rng.normal(size=n)
    return X, signal if numbers else np.digitize(signal, [-0.5, 0.5])


def shape(tree):
    return [
        (node.path, node.chosen and (node.chosen.parts, node.chosen.missing_goes),
         node.value.round(12).tolist(), node.stop)
        for node in tree
    ]  # fmt: skip


@pytest.mark.parametrize("module", [forest_module, forest_figures])
def test_examples_in_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


# ---------------------------------------------------------------------- bootstrap
def test_a_third_of_the_rows_is_left_out():
    rng = np.random.default_rng(0)
    bags = [bootstrap(500, rng) for _ in range(200)]
    assert all(bag.counts.sum() == len(bag.draws) == 500 for bag in bags)
    assert bags[0].expected_share == pytest.approx((499 / 500) ** 500)
    shares = [bag.share_left_out for bag in bags]
    assert np.mean(shares) == pytest.approx(0.368, abs=0.004)
    assert np.mean(shares) == pytest.approx(bags[0].expected_share, abs=0.004)


def test_the_numbers_decide_the_draw():
    bag = bootstrap(4, [0.0, 0.2499, 0.25, 0.999999, 0.5, 0.5])
    assert bag.draws.tolist() == [0, 0, 1, 3, 2, 2]
    assert bag.counts.tolist() == [2, 1, 2, 1]
    assert bag.share_left_out == 0
    assert bag.expected_share == pytest.approx(0.75**6)


# ---------------------------------------------------------------------- growing
@pytest.mark.parametrize("rules", [Rules(min_samples_leaf=2), Rules("entropy", max_depth=3),
                                   Rules("squared_error", min_impurity_decrease=0.01)])  # fmt: skip
def test_with_all_columns_and_questions_it_is_cart(rules):
    X, y = make(numbers=rules.criterion == "squared_error")
    X[::7, 2] = NAN
    counts = bootstrap(len(y), np.random.default_rng(1)).counts
    recipe = ForestRules(max_features=None)
    drawn = grow_random_tree(X, y, counts, np.random.default_rng(2), rules, recipe)
    assert shape(drawn) == shape(grow(X, y, counts, rules))
    assert len(list(drawn)) > 5


def test_a_bootstrap_weighting_is_a_bootstrap_sample():
    X, y = make()
    forest = grow_forest(X, y, recipe=ForestRules(5, max_features=None))
    for tree, counts in zip(forest.trees, forest.in_bag):
        copied = grow(np.repeat(X, counts, axis=0), np.repeat(y, counts), None,
                      Rules(n_classes=3))  # fmt: skip
        assert [node.weight for node in tree] == [node.weight for node in copied]
        # a row drawn twice is still one row to the rules that count rows, so the stops differ
        assert [part[:3] for part in shape(tree)] == [part[:3] for part in shape(copied)]


def test_columns_are_drawn_at_every_node():
    X, y = make(n=80)
    forest = grow_forest(X, y, recipe=ForestRules(8, max_features=2))
    looked_at = [frozenset(c.feature for c in node.candidates)
                 for tree in forest.trees for node in tree if node.chosen]  # fmt: skip
    assert {len(columns) for columns in looked_at} == {2}
    assert len(set(looked_at)) == 6  # every pair of four
    per_tree = [{frozenset(c.feature for c in node.candidates) for node in tree if node.chosen}
                for tree in forest.trees]  # fmt: skip
    assert min(map(len, per_tree)) > 1  # not one pair for a whole tree


def test_drawing_goes_on_past_constant_columns():
    X = np.column_stack([np.ones(6), np.full(6, NAN), np.arange(6.0), np.ones(6)])
    sample = gather(X, [0, 0, 0, 1, 1, 1], None, DEFAULT)
    for seed in range(10):
        found = draw_candidates(sample, np.random.default_rng(seed), ForestRules(max_features=1))
        assert {c.feature for c in found} == {2}


def test_a_tree_depends_on_the_seed_and_its_number_alone():
    X, y = make()
    few, more = (grow_forest(X, y, recipe=ForestRules(n, seed=7)) for n in (3, 6))
    assert [shape(tree) for tree in few.trees] == [shape(tree) for tree in more.trees[:3]]
    assert_array_equal(few.in_bag, more.in_bag[:3])
    other = grow_forest(X, y, recipe=ForestRules(3, seed=8))
    assert shape(other.trees[0]) != shape(few.trees[0])
    assert shape(few.trees[0]) != shape(few.trees[1])


def test_a_class_lost_in_a_bag_keeps_its_place():
    X, y = np.arange(12.0)[:, None], np.r_[np.zeros(5), np.ones(6), 2].astype(int)
    forest = grow_forest(X, y, recipe=ForestRules(10))
    lost = forest.in_bag[:, -1] == 0
    assert lost.any()
    assert not lost.all()
    assert tree_answers(forest, X).shape == (10, 12, 3)
    assert (tree_answers(forest, X)[lost, :, 2] == 0).all()


def test_max_samples_counts_draws():
    X, y = make()
    forest = grow_forest(X, y, recipe=ForestRules(4, max_samples=10))
    assert (forest.in_bag.sum(axis=1) == 10).all()
    assert [tree.weight for tree in forest.trees] == [10.0] * 4


@pytest.mark.parametrize(
    ("n_columns", "max_features", "expected"),
    [(9, "sqrt", 3), (3, "sqrt", 1), (1, "sqrt", 1), (5, None, 5), (5, 2, 2)],
)
def test_columns_per_node(n_columns, max_features, expected):
    assert ForestRules(max_features=max_features).columns_per_node(n_columns) == expected


# ---------------------------------------------------------------------- ExtraTrees
def test_extra_trees_ask_one_question_per_column_and_see_every_row():
    X, y = make(n=80)
    forest = grow_forest(X, y, recipe=ForestRules(5, 3, bootstrap=False, random_splits=True))
    assert (forest.in_bag == 1).all()
    for tree in forest.trees:
        for node in tree:
            if not node.chosen:
                continue
            assert sorted({c.feature for c in node.candidates}) == sorted(
                c.feature for c in node.candidates
            )
            for c in node.candidates:
                x = X[node.rows, c.feature]
                assert x.min() <= c.threshold < x.max()
    assert_array_equal(predict_forest(forest, X), y)  # grown out on distinct rows
    assert not EXTRA_TREES.bootstrap
    assert EXTRA_TREES.random_splits
    assert ForestRules() == RANDOM_FOREST


def test_a_random_threshold_is_uniform():
    rng = np.random.default_rng(0)
    x = np.array([2.0, 2.1, 10.0, 3.0])
    drawn = np.array([random_question(0, x, "numeric", rng).threshold for _ in range(4000)])
    assert drawn.min() >= 2
    assert drawn.max() < 10
    assert_allclose(np.quantile(drawn, [0.25, 0.5, 0.75]), [4, 6, 8], atol=0.25)


def test_random_questions_about_codes():
    rng = np.random.default_rng(0)
    ranks = {random_question(0, np.array([0.0, 3, 5]), "ordinal", rng).threshold for _ in range(99)}
    assert ranks == {0.0, 3.0}
    sides = [random_question(0, np.array([1.0, 4, 7]), "categorical", rng) for _ in range(400)]
    assert all(q.left_categories | q.right_categories == {1, 4, 7} for q in sides)
    share = {left: np.mean([q.left_categories == left for q in sides])
             for left in {q.left_categories for q in sides}}  # fmt: skip
    assert len(share) == 6  # never all on one side
    assert share[frozenset({1})] == pytest.approx(3 / 8, abs=0.08)  # and for all-alike tosses
    assert share[frozenset({4, 7})] == pytest.approx(1 / 8, abs=0.06)


def test_neighbouring_floats_can_be_parted():
    a = 1.0
    b = np.nextafter(a, 2)
    for seed in range(20):
        question = random_question(0, np.array([a, b]), "numeric", np.random.default_rng(seed))
        assert question.threshold == a


def test_missing_values_are_tried_on_both_sides_and_asked_for():
    X = np.array([[1.0], [2], [3], [NAN], [NAN]])
    sample = gather(X, [0, 0, 1, 1, 1], None, DEFAULT)
    found = draw_candidates(sample, np.random.default_rng(0), EXTRA_TREES)
    assert [c.missing_goes for c in found] == ["right", "left", "right"]
    assert found[-1].threshold == np.inf


# ---------------------------------------------------------------------- prediction
def test_soft_and_hard_votes_can_differ():
    answers = np.array([[[0.6, 0.4]], [[0.6, 0.4]], [[0.0, 1.0]]])
    assert tree_votes(answers).sum(axis=0).tolist() == [[2, 1]]
    assert decide(tree_votes(answers).mean(axis=0), True).tolist() == [0]
    assert decide(answers.mean(axis=0), True).tolist() == [1]


def test_soft_hard_and_mean():
    X, y = make(n=80)
    fresh = make(1)[0]
    forest = grow_forest(X, y, Rules(min_samples_leaf=8), ForestRules(15))
    answers = tree_answers(forest, fresh)
    soft, hard = (predict_proba_forest(forest, fresh, v) for v in ("soft", "hard"))
    assert_allclose(soft, sum(answers) / 15)
    counts = [[np.sum(answers[:, i].argmax(axis=1) == k) for k in range(3)] for i in range(60)]
    assert_allclose(hard * 15, counts, atol=1e-9)
    assert_array_equal(predict_forest(forest, fresh, "hard"), np.argmax(counts, axis=1))
    X, y = make(numbers=True)
    forest = grow_forest(X, y, NUMBERS, ForestRules(5))
    assert_allclose(predict_forest(forest, fresh), tree_answers(forest, fresh)[..., 0].mean(axis=0))
    assert_array_equal(predict_forest(forest, fresh), predict_forest(forest, fresh, "hard"))


def test_ties_go_to_the_smallest_class_whatever_the_rounding():
    shares = np.array([[0.1 + 0.2, 0.3], [0.3, 0.1 + 0.2]])
    assert decide(shares, True).tolist() == [0, 0]


def test_rows_of_a_leaf_have_its_number():
    X, y = make()
    forest = grow_forest(X, y, recipe=ForestRules(4))
    leaves = forest_leaves(forest, X)
    for leaf_of, tree in zip(leaves, forest.trees):
        for number, leaf in enumerate(node for node in tree if node.is_leaf):
            assert (leaf_of[leaf.rows] == number).all()


# ---------------------------------------------------------------------- out of bag
# five rows and three trees; row 4 is drawn by all of them, row 3 by none
IN_BAG = np.array([[2, 0, 1, 0, 2], [0, 0, 4, 0, 1], [1, 3, 0, 0, 1]])
SHARES = np.array(  # of class 1
    [[0.9, 0.6, 0.2, 0.7, 1.0], [0.4, 0.7, 0.1, 0.4, 1.0], [0.3, 0.2, 0.8, 0.1, 1.0]]
)
ANSWERS = np.stack([1 - SHARES, SHARES], axis=-1)
Y = np.array([0, 1, 1, 1, 0])


def test_out_of_bag_by_hand():
    oob = out_of_bag(ANSWERS, IN_BAG)
    assert oob.n_trees.tolist() == [1, 2, 1, 3, 0]
    assert oob.covered.tolist() == [True, True, True, True, False]
    assert_allclose(oob.total[:, 1], [0.4, 0.6 + 0.7, 0.8, 0.7 + 0.4 + 0.1, 0])
    assert_allclose(oob.decision[:, 1], [0.4, 0.65, 0.8, 0.4, NAN])
    assert oob.prediction.tolist() == [0, 1, 1, 0, -1]
    assert oob.error(Y) == 1 / 4  # row 3 of four; row 4 is in neither number
    assert oob.score(Y) == 3 / 4


def test_out_of_bag_votes_by_hand():
    oob = out_of_bag(tree_votes(ANSWERS), IN_BAG)
    assert oob.total.tolist() == [[1, 0], [0, 2], [0, 1], [2, 1], [0, 0]]
    assert oob.prediction.tolist() == [0, 1, 1, 0, -1]


def test_the_error_curve_by_hand():
    steps = oob_curve(ANSWERS, IN_BAG, Y)
    assert [step.covered for step in steps] == [2, 3, 4]
    # rows 1, 3 right; then 0 and (0.7 + 0.4) / 2 right too; then row 3 turns wrong
    assert [step.error for step in steps] == [0, 0, 1 / 4]
    assert steps[-1].error == out_of_bag(ANSWERS, IN_BAG).error(Y)


def test_out_of_bag_numbers_by_hand():
    t = np.array([[1.0, 2, 3, 4, 5], [3, 4, 5, 6, 7], [5, 6, 7, 8, 9]])[..., None]
    y = np.array([3.0, 5, 7, 6, 0])
    oob = out_of_bag(t, IN_BAG, classes=False)
    assert_allclose(oob.prediction, [3, 3, 7, 6, NAN])
    assert oob.error(y) == 1.0
    assert oob.score(y) == pytest.approx(1 - 4 / np.sum((y[:4] - 5.25) ** 2))
    flat = out_of_bag(np.full((3, 5, 1), 2.0), IN_BAG, classes=False)
    assert (flat.score(np.full(5, 2.0)), flat.score(np.full(5, 3.0))) == (1, 0)


def test_without_rows_out_of_bag_there_is_no_error():
    seen = np.ones((3, 5), dtype=int)
    assert np.isnan(out_of_bag(ANSWERS, seen).score(Y))
    assert np.isnan(out_of_bag(ANSWERS[..., :1], seen, classes=False).score(Y))
    assert [step.covered for step in oob_curve(ANSWERS, seen, Y)] == [0, 0, 0]
    assert np.isnan([step.error for step in oob_curve(ANSWERS, seen, Y)]).all()


@pytest.mark.parametrize("numbers", [False, True])
def test_out_of_bag_figures_are_those_of_scikit_learn(numbers):
    X, y = make(n=90, numbers=numbers)
    model = (RandomForestRegressor if numbers else RandomForestClassifier)(
        30, oob_score=True, random_state=0, min_samples_leaf=3
    ).fit(X, y)
    ask = [tree.predict if numbers else tree.predict_proba for tree in model.estimators_]
    answers = np.stack([f(X).reshape(len(y), -1) for f in ask])
    in_bag = np.array([np.bincount(drawn, minlength=len(y)) for drawn in model.estimators_samples_])
    oob = out_of_bag(answers, in_bag, classes=not numbers)
    assert oob.covered.all()
    theirs = model.oob_prediction_[:, None] if numbers else model.oob_decision_function_
    assert_allclose(oob.decision, theirs)
    assert oob.score(y) == pytest.approx(model.oob_score_)


def test_the_order_of_the_trees_does_not_matter():
    order = [2, 0, 1]
    one, two = out_of_bag(ANSWERS, IN_BAG), out_of_bag(ANSWERS[order], IN_BAG[order])
    assert_allclose(one.total, two.total)
    assert_array_equal(one.prediction, two.prediction)


# ---------------------------------------------------------------------- importance
def test_mdi_of_a_full_tree_is_that_of_scikit_learn():
    X, y = make(n=90, numbers=True)
    rules = Rules("squared_error", min_samples_leaf=5)
    worth = mdi(grow_forest(X, y, rules, ForestRules(1, None, bootstrap=False)))
    peer = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, y)
    assert_allclose(worth.mean, peer.feature_importances_)


def test_mdi_from_the_gains():
    X, y = make(n=50)
    X[:, 3] = 0
    forest = grow_forest(X, y, recipe=ForestRules(6))
    worth = mdi(forest)
    assert_allclose(worth.per_tree.sum(axis=1), 1)
    assert worth.mean[3] == 0
    assert worth.mean[0] == worth.mean.max()
    tree = forest.trees[4]
    total = sum(node.chosen.gain for node in tree if node.chosen)
    assert total == pytest.approx(tree.impurity)  # grown until pure
    gained = sum(node.chosen.gain for node in tree if node.chosen and node.chosen.feature == 1)
    assert worth.per_tree[4, 1] == pytest.approx(gained / total)


def test_a_forest_of_leaves_knows_of_no_importance():
    worth = mdi(grow_forest([[1.0], [2.0]], [0, 0], recipe=ForestRules(3)))
    assert worth.mean.tolist() == [0]
    assert np.isnan(worth.standard_error).all()


@pytest.mark.parametrize("numbers", [False, True])
def test_permutation_importance(numbers):
    X, y = make(n=80, numbers=numbers)
    y = X[:, 0] if numbers else (X[:, 0] > 0).astype(int)
    forest = grow_forest(X, y, NUMBERS if numbers else DEFAULT, ForestRules(12, 2))
    worth = permutation_importance(forest, np.random.default_rng(0))
    assert worth.per_tree.shape == (12, 4)
    assert worth.mean[0] > 4 * worth.standard_error[0] > 0
    assert worth.mean[0] > 5 * np.abs(worth.mean[1:]).max()


def test_a_column_that_a_tree_does_not_use_is_worth_nothing_to_it():
    X, y = make(n=40)
    forest = grow_forest(X, y, Rules(max_depth=1), ForestRules(6, 1))
    worth = permutation_importance(forest, np.random.default_rng(0))
    for figures, tree in zip(worth.per_tree, forest.trees):
        assert (np.delete(figures, tree.chosen.feature) == 0).all()


def test_standard_errors_by_hand():
    worth = Importance(np.array([[1.0, 0.0], [3.0, 0.0], [5.0, 0.0]]))
    assert worth.mean.tolist() == [3, 0]
    assert_allclose(worth.standard_error, [np.std([1, 3, 5], ddof=1) / np.sqrt(3), 0])


# ---------------------------------------------------------------------- quantiles
def test_one_leaf_gives_the_ordinary_quantiles():
    rng = np.random.default_rng(0)
    X, y, q = rng.normal(size=(41, 2)), rng.normal(size=41), [0, 0.05, 0.25, 0.5, 0.9, 1]
    recipe = ForestRules(3, bootstrap=False)
    forest = grow_forest(X, y, Rules("squared_error", max_depth=0), recipe)
    leaves = forest_leaves(forest, X)
    weights = leaf_weights(leaves, forest.in_bag, forest_leaves(forest, X[:2]))
    assert_allclose(weights, 1 / 41)
    expected = np.quantile(y, q, method="inverted_cdf")
    assert_allclose(quantiles(y, weights, q), [expected, expected])


def test_weights_are_a_number_of_rows():
    rng = np.random.default_rng(1)
    y, counts, q = rng.normal(size=30), rng.integers(0, 5, 30), np.linspace(0, 1, 21)
    expected = np.quantile(np.repeat(y, counts), q, method="inverted_cdf")
    assert_allclose(quantiles(y, counts, q), [expected])
    assert_allclose(quantiles(y, counts / 7, q), [expected])


def test_the_weights_behind_a_prediction():
    X, y = make(numbers=True)
    forest = grow_forest(X, y, Rules("squared_error", min_samples_leaf=3), ForestRules(10))
    fresh = make(3)[0]
    leaves, new = forest_leaves(forest, X), forest_leaves(forest, fresh)
    weights = leaf_weights(leaves, forest.in_bag, new)
    assert_allclose(weights.sum(axis=1), 1)
    assert_allclose(weights @ y, predict_forest(forest, fresh))
    low, middle, high = quantiles(y, weights, [0.1, 0.5, 0.9]).T
    assert ((low <= middle) & (middle <= high)).all()
    assert (low < high).any()
    order = np.random.default_rng(0).permutation(10)
    assert_allclose(leaf_weights(leaves[order], forest.in_bag[order], new[order]), weights)


# ---------------------------------------------------------------------- variance
def test_ij_variance_from_the_formula():
    rng = np.random.default_rng(0)
    n_trees, n, n_new = 25, 7, 3
    counts = np.array([bootstrap(n, rng).counts for _ in range(n_trees)])
    t = rng.normal(size=(n_trees, n_new))
    found = ij_variance(counts, t)
    for j in range(n_new):
        mean = sum(t[:, j]) / n_trees
        raw = 0.0
        for i in range(n):
            c = sum((counts[b, i] - 1) * (t[b, j] - mean) for b in range(n_trees)) / n_trees
            assert found.covariances[i, j] == pytest.approx(c)
            raw += c**2
        noise = n / n_trees**2 * sum((t[b, j] - mean) ** 2 for b in range(n_trees))
        assert found.raw[j] == pytest.approx(raw)
        assert found.variance[j] == pytest.approx(raw - noise)


@pytest.mark.parametrize("n_draws", [20, 10])
def test_ij_variance_of_a_mean_is_the_variance_of_a_mean(n_draws):
    """A bagged mean is the mean: its variance is known, Σ (y_i - ȳ)² / n², and C_i = (y_i - ȳ)/n."""
    rng = np.random.default_rng(0)
    y, n_trees = rng.normal(size=20), 20_000
    counts = rng.multinomial(n_draws, np.full(20, 1 / 20), size=n_trees)
    found = ij_variance(counts, counts @ y[:, None] / n_draws)
    assert_allclose(found.covariances[:, 0], (y - y.mean()) / 20, atol=0.01)
    truth = np.var(y) / 20
    assert found.variance[0] == pytest.approx(truth, rel=0.05)
    few = [ij_variance(c, c @ y[:, None] / n_draws) for c in counts.reshape(400, 50, 20)]
    assert np.mean([f.raw[0] for f in few]) > 1.3 * truth  # fifty trees leave noise,
    assert np.mean([f.variance[0] for f in few]) == pytest.approx(truth, rel=0.1)  # taken off


# ---------------------------------------------------------------------- bad input
X2, Y2 = np.arange(8.0).reshape(4, 2), np.array([0, 0, 1, 1])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bootstrap(3, [0.2, 1.0]), "0 ≤ u < 1"),
        (lambda: bootstrap(3, []), "one for every draw"),
        (lambda: grow_forest(X2, Y2, recipe=ForestRules(0)), "n_trees ≥ 1"),
        (lambda: grow_forest(X2, Y2, recipe=ForestRules(max_samples=0)), "max_samples ≥ 1"),
        (lambda: grow_forest(X2, np.c_[Y2, Y2]), "one target per row"),
        (lambda: grow_forest(X2, Y2, recipe=ForestRules(bootstrap=False, max_samples=2)), "set boot"),
        (lambda: grow_forest(X2, Y2, recipe=ForestRules(max_features=3)), "None or 1 to 2, got 3"),
        (lambda: grow_forest(X2, Y2, recipe=ForestRules(max_features="log")), "max_features must"),
        (lambda: grow_forest(X2, Y2, Rules(max_leaf_nodes=3)), "leave them out"),
        (lambda: grow_forest(X2, Y2, Rules(surrogates=1)), "leave them out"),
        (lambda: grow_forest(X2, Y2, Rules(monotonic_cst=(1, 0))), "leave them out"),
        (lambda: predict_forest(grow_forest(X2, Y2), X2, "loud"), '"soft" or "hard"'),
        (lambda: out_of_bag(ANSWERS, IN_BAG[:2]), "trees first"),
        (lambda: permutation_importance(grow_forest(X2, Y2, DEFAULT, EXTRA_TREES),
                                        np.random.default_rng(0)), "bootstrap=True"),
        (lambda: quantiles([1.0], [1.0], [50]), "between 0 and 1"),
        (lambda: ij_variance(IN_BAG, np.ones((2, 1))), "one row per tree"),
        (lambda: ij_variance(np.ones((3, 5)), np.ones((3, 1))), "use a bootstrap"),
    ],
)  # fmt: skip
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
