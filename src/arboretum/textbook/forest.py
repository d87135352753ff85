"""Random forests: many trees, each grown on randomly drawn rows and columns, which predict together.

    bootstrap             n draws with replacement: a row is left out with (1 - 1/n)^n ≈ 0.37
    grow_forest           tree after tree, from (seed, number of the tree) alone
      draw_candidates       max_features columns, drawn afresh at every node; the best split of these
      random_question       ExtraTrees: one random threshold per drawn column instead of all of them
    predict_forest        the mean of the trees' answers, or their majority vote

Step 1, the bag, step 2, the tree on columns drawn at every node, and step 3, again until there are
``n_trees``, are marked in `grow_forest`. A drawn column stays available further down: every node draws
from all columns.

The figures on the way are arrays with the trees first:

    in_bag    (n_trees, n)              how often a tree drew a row; 0 is out of bag
    answers   (n_trees, n, n_values)    the class shares or the number a tree gives a row
    leaves    (n_trees, n)              the number of the leaf a row ends in

What can be read off them (errors, importance, quantiles, variance) is in forest_figures.py, what two
rows in the same leaf have in common in proximities.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from arboretum.textbook.cart import (
    EPSILON,
    TIE,
    TextbookNode,
    predict_proba,
    reason_to_stop,
    route,
)
from arboretum.textbook.impurities import CLASS_CRITERIA
from arboretum.textbook.questions import Question
from arboretum.textbook.splits import (
    UNBOUNDED,
    Candidate,
    Rules,
    Sample,
    choose,
    gather,
    judge_all,
)

__all__ = [
    "EXTRA_TREES",
    "RANDOM_FOREST",
    "Bag",
    "ForestRules",
    "TextbookForest",
    "bootstrap",
    "decide",
    "draw_candidates",
    "forest_leaves",
    "grow_forest",
    "grow_random_tree",
    "predict_forest",
    "predict_proba_forest",
    "random_question",
    "tree_answers",
    "tree_votes",
]


# ---------------------------------------------------------------------- rows drawn by chance
@dataclass(frozen=True, eq=False)
class Bag:
    """The rows one tree is given."""

    draws: np.ndarray = field(repr=False)  # row numbers, in the order they were drawn
    counts: np.ndarray  # how often each row was drawn

    @property
    def share_left_out(self) -> float:
        return float(np.mean(self.counts == 0))

    @property
    def expected_share(self) -> float:
        """(1 - 1/n)^draws, the chance of a row never to be drawn; tends to 1/e = 0.368."""
        return float((1 - 1 / len(self.counts)) ** len(self.draws))


def bootstrap(n_rows: int, numbers: ArrayLike | np.random.Generator) -> Bag:
    """Draw rows with replacement: the number u in [0, 1) draws row ⌊u n⌋; a generator draws n rows.

    >>> bag = bootstrap(5, [0.1, 0.5, 0.9, 0.55, 0.95])
    >>> bag.draws.tolist(), bag.counts.tolist(), bag.share_left_out, round(bag.expected_share, 3)
    ([0, 2, 4, 2, 4], [1, 0, 2, 0, 2], 0.4, 0.328)
    """
    if isinstance(numbers, np.random.Generator):
        numbers = numbers.random(n_rows)
    u = np.asarray(numbers, dtype=np.float64)
    if u.ndim != 1 or not len(u) or not np.all((u >= 0) & (u < 1)):
        raise ValueError(
            "bootstrap needs a list of random numbers u, 0 ≤ u < 1, one for every draw"
        )
    draws = np.floor(u * n_rows).astype(np.int64)
    return Bag(draws, np.bincount(draws, minlength=n_rows))


# ---------------------------------------------------------------------- growing
@dataclass(frozen=True)
class ForestRules:
    """What is drawn by chance; how a tree is grown otherwise is the business of ``Rules``."""

    n_trees: int = 100
    max_features: int | str | None = "sqrt"  # columns per node; "sqrt": ⌊√M⌋; None: all M
    bootstrap: bool = True  # or every tree sees every row once
    max_samples: int | None = None  # draws per tree; as many as there are rows by default
    random_splits: bool = False  # one random question per column, not all of them
    seed: int = 0

    def columns_per_node(self, n_columns: int) -> int:
        wanted = n_columns if self.max_features is None else self.max_features
        wanted = max(1, int(n_columns**0.5)) if wanted == "sqrt" else wanted
        if isinstance(wanted, str) or not 1 <= wanted <= n_columns:
            raise ValueError(
                f'max_features must be "sqrt", None or 1 to {n_columns}, got {self.max_features!r}'
            )
        return wanted


RANDOM_FOREST = ForestRules()
EXTRA_TREES = ForestRules(bootstrap=False, random_splits=True)
FOREST_TREE = Rules(category_penalty=1.6)  # RandomForest charges more than CART


@dataclass(frozen=True, eq=False)
class TextbookForest:
    """The trees and the rows they were grown on."""

    trees: tuple[TextbookNode, ...] = field(repr=False)
    in_bag: np.ndarray = field(repr=False)  # (n_trees, n)
    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)  # class indices or numbers
    rules: Rules

    @property
    def classifies(self) -> bool:
        return self.rules.criterion in CLASS_CRITERIA


def random_question(
    feature: int, x: np.ndarray, kind: str, rng: np.random.Generator
) -> Question | None:
    """Return one question drawn by chance, None for a column of one value (none may be missing).

    A threshold is uniform between the smallest and the largest value. Categories toss a coin each;
    if all fall on the same side, the lowest code alone goes left.

    >>> rng = np.random.default_rng(0)
    >>> question = random_question(0, np.array([2.0, 5.0, 2.0]), "numeric", rng)
    >>> round(question.threshold, 3)
    3.911
    """
    values = np.unique(x)
    if len(values) < 2:
        return None
    if kind == "categorical":
        heads = rng.random(len(values)) < 0.5
        heads = values == values[0] if heads.all() or not heads.any() else heads
        left, right = (
            frozenset(side.astype(int).tolist()) for side in (values[heads], values[~heads])
        )
        return Question(feature, "subset", np.nan, left, right)
    low, high, u = values[0], values[-1], rng.random()
    drawn = low * (1 - u) + high * u
    drawn = np.clip(drawn, low, np.nextafter(high, low))  # rounding may not empty a side
    if kind == "ordinal":
        drawn = values[values <= drawn][-1]  # thresholds are ranks
    return Question(feature, "threshold", float(drawn))


@dataclass(frozen=True)
class _OneQuestion(Sample):
    """A sample that asks one random question per column."""

    rng: np.random.Generator = field(default_factory=np.random.default_rng)

    def questions(self, feature: int) -> list[Question]:
        x = self.X[:, feature]
        question = random_question(feature, x[~np.isnan(x)], self.kinds[feature], self.rng)
        return [question] if question else []

    def charge(self, feature: int, before: float) -> float:
        return 0.0  # one question has no order to choose


def draw_candidates(
    sample: Sample, rng: np.random.Generator, recipe: ForestRules = RANDOM_FOREST
) -> list[Candidate]:
    """Return the candidates of a node on columns drawn for it alone.

    Columns that are constant here count as drawn, but the drawing goes on until one is not.

    >>> sample = gather([[1, 7, 1], [2, 7, 1], [3, 7, 2.]], [0, 0, 1], None, FOREST_TREE)
    >>> found = draw_candidates(sample, np.random.default_rng(0), ForestRules(max_features=1))
    >>> [(c.feature, c.threshold, round(c.gain, 3)) for c in found]
    [(2, 1.5, 0.444)]
    """
    n_columns = sample.X.shape[1]
    wanted = recipe.columns_per_node(n_columns)
    table: list[Candidate] = []
    for turn, feature in enumerate(rng.permutation(n_columns).tolist()):
        if turn >= wanted and table:
            break
        kinds, signs = (sample.kinds[feature],), (sample.signs[feature],)
        charged = (sample.charged[feature],)
        column = replace(
            sample, X=sample.X[:, [feature]], kinds=kinds, signs=signs, charged=charged
        )
        if recipe.random_splits:
            column = _OneQuestion(**vars(column), rng=rng)
        table += [replace(candidate, feature=feature) for candidate in judge_all(column)]
    return table


def grow_random_tree(
    X: ArrayLike,
    y: ArrayLike,
    w: ArrayLike | None,
    rng: np.random.Generator,
    rules: Rules = FOREST_TREE,
    recipe: ForestRules = RANDOM_FOREST,
) -> TextbookNode:
    """Grow a tree that draws its columns at every node, and return its root.

    ``w`` holds how often each row was drawn: a bootstrap is a weighting, not a copy. With all columns
    and all questions it is the tree of ``cart.grow``.

    >>> rng = np.random.default_rng(0)
    >>> tree = grow_random_tree([[1, 9], [2, 9], [3, 8.]], [0, 0, 1], [1, 2, 0], rng)
    >>> tree.rows.tolist(), tree.weight, tree.stop
    ([0, 1], 3.0, 'pure')
    """
    if rules.max_leaf_nodes is not None or rules.surrogates or any(rules.monotonic_cst or ()):
        raise ValueError(
            "max_leaf_nodes, surrogates and monotonic_cst are for single trees (cart.grow); leave"
            " them out of a forest's rules"
        )
    whole = gather(X, y, w, rules)

    def leaf(rows: np.ndarray, path: str) -> TextbookNode:
        weight, mixed = float(whole.w[rows].sum()), whole.impurity(rows)
        value = whole.value(rows)
        return TextbookNode(path, rows, weight, value, mixed, UNBOUNDED, rules.criterion)

    root = leaf(np.flatnonzero(whole.w > 0), "")
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.stop = reason_to_stop(node, rules)
        if node.stop:
            continue
        rows = node.rows
        here = replace(whole, X=whole.X[rows], y=whole.y[rows], w=whole.w[rows])
        node.candidates = draw_candidates(here, rng, recipe)
        best = choose(node.candidates, TIE * node.impurity * node.weight / whole.total)
        if best is None:
            node.stop = "no admissible split"
        elif best.gain + EPSILON < rules.min_impurity_decrease:
            node.stop = "min_impurity_decrease"
        else:
            node.chosen = best
            node.left = leaf(rows[best.left], node.path + "L")
            node.right = leaf(rows[~best.left], node.path + "R")
            waiting += node.children
    return root


def grow_forest(
    X: ArrayLike,
    y: ArrayLike,
    rules: Rules = FOREST_TREE,
    recipe: ForestRules = RANDOM_FOREST,
    bags: ArrayLike | None = None,
) -> TextbookForest:
    """Grow a forest: ``RANDOM_FOREST`` by default, or ``EXTRA_TREES``, or rules of your own.

    Every tree has a generator of its own, made from the seed and the tree's number: the first ten
    trees of a hundred are the forest of ten.

    Parameters
    ----------
    X : array of shape (n, n_columns)
        Categorical columns hold codes 0, 1, ...; NaN is missing.
    y : array of shape (n,)
        Class indices 0, 1, ... or numbers.
    rules : Rules
        How to grow one tree.
    recipe : ForestRules
        How many trees, and what is drawn by chance.
    bags : array of shape (n_trees, n), optional
        How often every tree has every row, instead of a draw: with the bags of another program's
        forest, its trees can be grown again.

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [7.0], [8.0], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> forest = grow_forest(X, y, recipe=ForestRules(n_trees=20))
    >>> forest.in_bag.shape, predict_forest(forest, [[2.5], [7.5]]).tolist()
    ((20, 6), [0, 1])
    """
    whole = gather(X, y, None, rules)
    n = len(whole.y)
    given = None if bags is None else np.asarray(bags, dtype=np.int64)
    if given is not None:
        if given.ndim != 2 or given.shape[1] != n or np.any(given < 0):
            raise ValueError(f"bags needs a line of {n} counts ≥ 0 per tree, got {given.shape}")
        recipe = replace(recipe, n_trees=len(given))
    n_draws = n if recipe.max_samples is None else recipe.max_samples
    if whole.y.shape[1] > 1 or recipe.n_trees < 1 or n_draws < 1:
        raise ValueError("a forest needs one target per row, n_trees ≥ 1 and max_samples ≥ 1")
    if n_draws != n and not recipe.bootstrap:
        raise ValueError("max_samples counts bootstrap draws; leave it out, or set bootstrap=True")
    # a bag may lack a class or a category
    rules = replace(rules, n_classes=whole.n_classes, charged=whole.charged)
    trees, in_bag = [], []
    for number in range(recipe.n_trees):  # step 3: again and again
        rng = np.random.default_rng([recipe.seed, number])
        counts = np.ones(n, dtype=np.int64) if given is None else given[number]
        if recipe.bootstrap and given is None:
            counts = bootstrap(n, rng.random(n_draws)).counts  # step 1
        # step 2
        trees.append(grow_random_tree(whole.X, whole.y, counts, rng, rules, recipe))
        in_bag.append(counts)
    return TextbookForest(tuple(trees), np.array(in_bag), whole.X, whole.y[:, 0], rules)


# ---------------------------------------------------------------------- prediction
def tree_answers(forest: TextbookForest, X: ArrayLike) -> np.ndarray:
    """Return every tree's prediction of every row, of shape (n_trees, n, n_values).

    >>> forest = grow_forest([[1.0], [3.0]], [0, 1], recipe=ForestRules(2, bootstrap=False))
    >>> tree_answers(forest, [[0.0]]).tolist()
    [[[1.0, 0.0]], [[1.0, 0.0]]]
    """
    return np.stack([predict_proba(tree, X) for tree in forest.trees])


def tree_votes(answers: np.ndarray) -> np.ndarray:
    """Return answers in which every tree gives all to its largest class, ties to the smallest.

    >>> tree_votes(np.array([[[0.3, 0.7]], [[0.5, 0.5]], [[0.0, 1.0]]])).sum(axis=0).tolist()
    [[1.0, 2.0]]
    """
    return np.eye(answers.shape[-1])[answers.argmax(axis=-1)]


def predict_proba_forest(forest: TextbookForest, X: ArrayLike, voting: str = "soft") -> np.ndarray:
    """Return the mean of the trees' answers (soft), or the share of their votes (hard).

    >>> X, y = [[1.0], [2.0], [2.0], [2.0]], [0, 0, 1, 1]
    >>> forest = grow_forest(X, y, recipe=ForestRules(3, bootstrap=False))
    >>> [predict_proba_forest(forest, [[2.0]], v).round(3).tolist() for v in ("soft", "hard")]
    [[[0.333, 0.667]], [[0.0, 1.0]]]
    """
    if voting not in ("soft", "hard"):
        raise ValueError(f'voting must be "soft" or "hard", got {voting!r}')
    answers = tree_answers(forest, X)
    hard = voting == "hard" and forest.classifies  # numbers have only a mean
    return (tree_votes(answers) if hard else answers).mean(axis=0)


def predict_forest(forest: TextbookForest, X: ArrayLike, voting: str = "soft") -> np.ndarray:
    """Return class indices (ties to the smallest) or numbers.

    >>> rules, recipe = Rules("squared_error"), ForestRules(2, bootstrap=False)
    >>> predict_forest(grow_forest([[1.0], [3.0]], [5.0, 7.0], rules, recipe), [[0.0]]).tolist()
    [5.0]
    """
    return decide(predict_proba_forest(forest, X, voting), forest.classifies)


def decide(means: np.ndarray, classes: bool) -> np.ndarray:
    """Return the class with the largest mean share (ties to the smallest), or the mean number.

    >>> decide(np.array([[0.2, 0.4, 0.4]]), classes=True).tolist()
    [1]
    """
    # twelve digits: shares added up in another order are the same shares
    return means.round(12).argmax(axis=-1) if classes else means[..., 0]


def forest_leaves(forest: TextbookForest, X: ArrayLike) -> np.ndarray:
    """Return the number of every row's leaf in every tree, counted left to right: (n_trees, n).

    >>> forest = grow_forest([[1.0], [3.0]], [0, 1], recipe=ForestRules(2, bootstrap=False))
    >>> forest_leaves(forest, [[0.0], [9.0], [2.0]]).tolist()
    [[0, 1, 0], [0, 1, 0]]
    """
    X = np.asarray(X, dtype=np.float64)
    found = np.empty((len(forest.trees), len(X)), dtype=np.int64)
    for leaf_of, tree in zip(found, forest.trees):
        for number, rows in enumerate(_parts(tree, X, np.arange(len(X)))):
            leaf_of[rows] = number
    return found


def _parts(node: TextbookNode, X: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    if node.left is None or node.right is None or node.chosen is None:
        yield rows
        return
    goes_left = route(node.chosen, node.surrogates, X[rows])
    yield from _parts(node.left, X, rows[goes_left])
    yield from _parts(node.right, X, rows[~goes_left])
