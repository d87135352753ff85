"""Cost-complexity pruning: the worked example, scikit-learn's path, and every subtree by force."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from arboretum.textbook.cart import grow, predict
from arboretum.textbook.impurities import CLASS_CRITERIA, CRITERIA
from arboretum.textbook.pruning import (
    AlphaFigures,
    _select,
    choose_alpha,
    leaves,
    links,
    prune,
    pruning_path,
    risk,
    tree_score,
)
from arboretum.textbook.splits import Rules

THEIRS = [c for c in CRITERIA if c != "error"]  # scikit-learn has no such criterion


def make(seed, criterion, n=70):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)).astype(np.float32).astype(np.float64)
    w = rng.integers(20, 200, n) / 64  # exact sums, no ties
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.7 * rng.normal(size=n)
    if criterion in CLASS_CRITERIA:
        y = np.digitize(y, [-0.5, 0.5])
    elif criterion == "poisson":
        y = rng.poisson(np.exp(y / 2)).astype(float)
    return X, y, w


def peer(criterion, **options):
    model = DecisionTreeClassifier if criterion in CLASS_CRITERIA else DecisionTreeRegressor
    name = "squared_error" if criterion == "friedman_mse" else criterion
    return model(criterion=name, random_state=0, **options)


def test_tree_score_543_8():
    assert tree_score(543.8, 10000, 4) == 40543.8


def test_every_figure_of_a_small_path():
    # y = 1, 1 | 5, 7: cutting the right branch costs 2/4 of risk, cutting the root 25/4 more
    tree = grow([[1.0], [2.0], [3.0], [4.0]], [1, 1, 5, 7], rules=Rules("squared_error"))
    root, right = links(tree)
    assert (root.path, root.as_leaf, root.as_branch, root.n_leaves) == ("", 6.75, 0.0, 3)
    assert (right.path, right.as_leaf, right.as_branch, right.n_leaves) == ("R", 0.5, 0.0, 2)
    assert (root.g, right.g) == (3.375, 0.5)
    full, first, last = pruning_path(tree)
    assert (full.alpha, full.n_leaves, full.risk, full.cut, full.links) == (0.0, 3, 0.0, None, ())
    assert (first.alpha, first.n_leaves, first.risk, first.cut) == (0.5, 2, 0.5, "R")
    assert first.links == (root, right)
    assert (last.alpha, last.n_leaves, last.risk, last.cut) == (6.25, 1, 6.75, "")
    assert [step.leaves_removed for step in (full, first, last)] == [0, 1, 1]


@pytest.mark.parametrize("criterion", THEIRS)
def test_path_as_scikit_learn(criterion):
    X, y, w = make(0, criterion)
    options = {"min_samples_leaf": 4}
    theirs = peer(criterion, **options).cost_complexity_pruning_path(X, y, sample_weight=w)
    path = pruning_path(grow(X, y, w, Rules(criterion, **options)))
    assert len(path) > 4
    assert_allclose([step.alpha for step in path], theirs.ccp_alphas, atol=1e-12)
    assert_allclose([step.risk for step in path], theirs.impurities, atol=1e-12)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_pruned_tree_as_scikit_learn(criterion):
    X, y, w = make(1, criterion)
    tree = grow(X, y, w, Rules(criterion, min_samples_leaf=4))
    path = pruning_path(tree)
    for one, two in itertools.pairwise(path):
        alpha = (one.alpha + two.alpha) / 2
        model = peer(criterion, min_samples_leaf=4, ccp_alpha=alpha).fit(X, y, sample_weight=w)
        pruned = prune(tree, alpha)
        assert len(leaves(pruned)) == model.get_n_leaves() == one.n_leaves
        assert_allclose(predict(pruned, X), model.predict(X))


def subtrees(node):
    """All the ways to prune a branch, as lists of the nodes left as leaves."""
    ways = [[node]]
    if not node.is_leaf:
        below = itertools.product(subtrees(node.left), subtrees(node.right))
        ways += [left + right for left, right in below]
    return ways


def test_prune_gives_the_best_score_of_all_subtrees():
    X, y, w = make(2, "squared_error", n=40)
    tree = grow(X, y, w, Rules("squared_error", max_depth=4, min_samples_leaf=3))
    every = subtrees(tree)
    assert len(every) > 20
    for alpha in [0.001, 0.01, 0.03, 0.1, 0.3, 1.0]:
        scores = [
            tree_score(sum(n.impurity * n.weight for n in way) / tree.weight, alpha, len(way))
            for way in every
        ]
        pruned = prune(tree, alpha)
        score = tree_score(risk(pruned), alpha, len(leaves(pruned)))
        assert_allclose(score, min(scores), rtol=1e-12)


def test_path_properties():
    X, y, w = make(3, "gini")
    tree = grow(X, y, w)
    before = [node.path for node in tree]
    path = pruning_path(tree)
    assert [node.path for node in tree] == before  # the tree itself is left as it is
    assert np.all(np.diff([step.alpha for step in path]) >= 0)
    assert np.all(np.diff([step.risk for step in path]) >= -1e-12)
    assert all(a.n_leaves - b.leaves_removed == b.n_leaves for a, b in itertools.pairwise(path))
    assert (path[0].n_leaves, path[-1].n_leaves) == (len(leaves(tree)), 1)
    for step in path[1:]:
        assert min(link.g for link in step.links) == {k.path: k.g for k in step.links}[step.cut]
    ends = [step.alpha for step in path[1:]] + [np.inf]
    for step, end in zip(path, ends):
        if step.alpha < end:  # of equal α only the last tree is the answer
            assert len(leaves(prune(tree, step.alpha))) == step.n_leaves
    assert prune(tree, np.inf).stop == "pruned"


def test_a_single_leaf_has_nothing_to_prune():
    tree = grow([[1.0], [2.0]], [1, 1])
    [step] = pruning_path(tree)
    assert (step.alpha, step.n_leaves, step.cut) == (0.0, 1, None)


# ---------------------------------------------------------------------- cross-validation
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
def test_choose_alpha_against_scikit_learn_fold_by_fold(criterion):
    X, y, w = make(4, criterion, n=80)
    fold_of = np.arange(80) % 4
    rules = Rules(criterion, min_samples_leaf=5)
    choice = choose_alpha(X, y, w, rules, folds=fold_of)
    path = pruning_path(grow(X, y, w, rules))
    starts = np.array([row.start for row in choice.table])
    assert_array_equal(starts, np.unique([step.alpha for step in path]))
    tried = [row.alpha for row in choice.table]
    assert_allclose(tried[:-1], np.sqrt(starts[:-1] * starts[1:]))
    assert tried[-1] == np.inf
    for row in choice.table[1:-1]:
        for k, error in enumerate(row.fold_errors):
            out = fold_of == k
            model = peer(criterion, min_samples_leaf=5, ccp_alpha=row.alpha)
            model.fit(X[~out], y[~out], sample_weight=w[~out])
            off = model.predict(X[out]) - y[out]
            loss = {"gini": off != 0, "absolute_error": np.abs(off)}.get(criterion, off**2)
            assert_allclose(error, np.average(loss, weights=w[out]), atol=1e-12)
    errors = [row.mean_error for row in choice.table]
    assert choice.alpha == max(a for a, e in zip(tried, errors) if e == min(errors))
    chosen = tried.index(choice.alpha)
    assert len(leaves(choice.tree)) == choice.table[chosen].n_leaves


def test_the_two_rules():
    def row(alpha, n_leaves, *errors):
        return AlphaFigures(alpha, alpha, n_leaves, errors)

    table = [
        row(0.0, 9, 4.0, 6.0),
        row(0.1, 5, 2.0, 4.0),  # the smallest mean, 3 ± 1
        row(0.2, 3, 3.0, 5.0),  # within one standard error
        row(0.3, 2, 4.0, 5.0),
    ]
    assert (table[1].mean_error, table[1].standard_error) == (3.0, 1.0)
    assert _select(table, "min").alpha == 0.1
    assert _select(table, "1se").alpha == 0.2
    assert _select([row(0.0, 9, 1.0, 1.0), row(0.5, 4, 1.0, 1.0)], "min").alpha == 0.5


def test_one_se_tree_is_no_larger_and_noise_is_pruned_away():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(60, 2))
    y = 5.0 * (X[:, 0] > 0.5) + rng.normal(size=60)
    rules = Rules("squared_error", min_samples_leaf=2)
    smallest, simplest = (choose_alpha(X, y, rules=rules, rule=r) for r in ("min", "1se"))
    assert smallest.table == simplest.table
    assert 2 <= len(leaves(simplest.tree)) <= len(leaves(smallest.tree)) < 20
    assert simplest.tree.chosen.feature == 0


def test_a_fold_without_the_last_class():
    x, y = np.arange(12.0)[:, None], np.array([0] * 5 + [1] * 5 + [2] * 2)
    choice = choose_alpha(x, y, folds=np.array([0, 1] * 5 + [1, 1]))
    assert choice.tree.value.shape == (1, 3)
    assert len(choice.table[0].fold_errors) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rule": "2se"}, "'min' or '1se'"),
        ({"folds": 1}, "between 2 and the 4 rows"),
        ({"folds": 5}, "between 2 and the 4 rows"),
        ({"folds": [0, 1]}, "the fold of each of the 4 rows"),
        ({"folds": [0, 0, 0, 0]}, "at least two"),
    ],
)
def test_bad_input(options, words):
    with pytest.raises(ValueError, match=words):
        choose_alpha([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1], **options)
