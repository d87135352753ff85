"""Proximities, what is seen in them, and missing values filled by them: by hand and by laws."""

import doctest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum.textbook import filling as filling_module
from arboretum.textbook import proximities as proximity_module
from arboretum.textbook.filling import (
    fill_missing,
    fill_rows,
    first_guess,
    guess_category,
    guess_number,
    predict_copies,
    refill,
)
from arboretum.textbook.forest import ForestRules, forest_leaves, grow_forest
from arboretum.textbook.proximities import (
    class_outliers,
    class_prototypes,
    distance,
    mds_of_distances,
    mode,
    proximity_counts,
    proximity_of_leaves,
)
from arboretum.textbook.splits import Rules

NAN = np.nan


@pytest.mark.parametrize("module", [proximity_module, filling_module])
def test_examples_in_the_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


def blobs(seed=0, n=20):
    """Two classes, far apart in both of two numbers that go together."""
    rng = np.random.default_rng(seed)
    y = np.arange(2 * n) % 2
    x = rng.normal(size=2 * n) + 8 * y
    return np.column_stack([x, 10 * x + rng.normal(size=2 * n)]), y


@pytest.fixture(scope="module")
def forest():
    X, y = blobs()
    X[5] = X[3]  # a duplicate
    return grow_forest(X, y, Rules(min_samples_leaf=3), ForestRules(12))


# ---------------------------------------------------------------------- proximities
LEAVES = np.array([[0, 0, 3, 0], [2, 2, 1, 1], [1, 0, 0, 0]])  # 3 trees, 4 rows
IN_BAG = np.array([[0, 0, 0, 4], [0, 2, 2, 0], [1, 0, 0, 3]])


def test_proximities_by_hand():
    expected = np.array([[3, 2, 0, 1], [2, 3, 1, 2], [0, 1, 3, 2], [1, 2, 2, 3]])
    together, asked = proximity_counts(LEAVES)
    assert_array_equal(together, expected)
    assert (asked == 3).all()
    assert_allclose(proximity_of_leaves(LEAVES), expected / 3)
    assert_allclose(distance(proximity_of_leaves(LEAVES)), 1 - expected / 3)


def test_out_of_bag_proximities_by_hand():
    together, asked = proximity_counts(LEAVES, IN_BAG)
    assert_array_equal(asked, [[2, 1, 1, 1], [1, 2, 2, 0], [1, 2, 2, 0], [1, 0, 0, 1]])
    assert_array_equal(together, [[2, 1, 0, 0], [1, 2, 1, 0], [0, 1, 2, 0], [0, 0, 0, 1]])
    expected = [[1, 1, 0, 0], [1, 1, 0.5, 0], [0, 0.5, 1, 0], [0, 0, 0, 1]]
    assert_allclose(proximity_of_leaves(LEAVES, IN_BAG), expected)


def test_a_row_that_is_always_in_bag_is_near_itself_only():
    in_bag = np.array([[1, 0, 0, 0]] * 3)
    assert proximity_of_leaves(LEAVES, in_bag)[0].tolist() == [1, 0, 0, 0]


def test_new_rows_by_hand():
    new = np.array([[0, 9], [1, 9], [0, 9]])
    assert_allclose(
        proximity_of_leaves(LEAVES, new=new), np.array([[1, 2, 2, 3], [0, 0, 0, 0]]) / 3
    )
    # only trees that never saw the training row are asked: two each for the first three, then one
    assert_allclose(proximity_of_leaves(LEAVES, IN_BAG, new)[0], [1 / 2, 2 / 2, 1 / 2, 1 / 1])


@pytest.mark.parametrize("out_of_bag", [False, True])
def test_laws(forest, out_of_bag):
    leaves, in_bag = forest_leaves(forest, forest.X), forest.in_bag
    P = proximity_of_leaves(leaves, in_bag if out_of_bag else None)
    assert_array_equal(P, P.T)
    assert (np.diag(P) == 1).all()
    assert ((P >= 0) & (P <= 1)).all()
    assert P[3, 5] == 1  # the same values
    assert 0 < P.mean() < 1
    order = np.random.default_rng(0).permutation(len(leaves))
    again = proximity_of_leaves(leaves[order], in_bag[order] if out_of_bag else None)
    assert_array_equal(again, P)
    renamed = proximity_of_leaves(100 - 3 * leaves, in_bag if out_of_bag else None)
    assert_array_equal(renamed, P)
    rows = np.random.default_rng(1).permutation(leaves.shape[1])
    moved = proximity_of_leaves(leaves[:, rows], in_bag[:, rows] if out_of_bag else None)
    assert_array_equal(moved, P[np.ix_(rows, rows)])


def test_training_rows_as_new_rows(forest):
    leaves = forest_leaves(forest, forest.X)
    assert_array_equal(
        proximity_of_leaves(leaves, new=leaves[:, :4]), proximity_of_leaves(leaves)[:4]
    )


# ---------------------------------------------------------------------- map
def test_mds_finds_points_again():
    points = np.random.default_rng(0).normal(size=(9, 2))
    D = np.linalg.norm(points[:, None] - points[None], axis=-1)
    found = mds_of_distances(D, 2)
    again = np.linalg.norm(found.coordinates[:, None] - found.coordinates[None], axis=-1)
    assert_allclose(again, D, atol=1e-9)
    assert_allclose(found.coordinates.mean(axis=0), 0, atol=1e-9)
    assert found.share == pytest.approx(1)
    assert mds_of_distances(D, 1).share < 0.99
    assert (np.diff(found.eigenvalues) <= 1e-9).all()


def test_roots_of_the_distances_are_euclidean(forest):
    P = proximity_of_leaves(forest_leaves(forest, forest.X))
    found = mds_of_distances(np.sqrt(distance(P)), len(P))
    assert found.eigenvalues.min() > -1e-9
    squares = np.sum((found.coordinates[:, None] - found.coordinates[None]) ** 2, axis=-1)
    assert_allclose(squares, 1 - P, atol=1e-9)


def test_classes_far_apart_are_apart_on_the_map(forest):
    found = mds_of_distances(distance(proximity_of_leaves(forest_leaves(forest, forest.X))))
    first = found.coordinates[:, 0]
    one, two = first[forest.y == 0], first[forest.y == 1]
    assert one.max() < two.min() or two.max() < one.min()


# ---------------------------------------------------------------------- outliers and prototypes
def test_outlier_scores_by_hand():
    P = np.eye(6)
    P[0, 1] = P[1, 0] = P[0, 2] = P[2, 0] = 0.5
    P[2, 5] = P[5, 2] = 1.0  # of another class: counts nowhere
    scores, raw = class_outliers(P, [0, 0, 0, 0, 1, 1])
    assert_allclose(raw, [6 / 1.5, 6 / 1.25, 6 / 1.25, 6, 6, 6])
    # class 0: median 4.8, deviations .8, 0, 0, 1.2, median deviation .4; class 1: no spread
    assert_allclose(scores, [-2, 0, 0, 3, 0, 0])


def test_a_class_of_equals_with_one_stranger():
    P = np.ones((5, 5))
    P[4, :4] = P[:4, 4] = 0
    scores, raw = class_outliers(P, np.zeros(5))
    assert_allclose(raw, [5 / 4] * 4 + [5])
    assert_allclose(scores, [0, 0, 0, 0, 5])  # 3.75 over the mean deviation .75


def test_a_mislabelled_row_stands_out():
    X, y = blobs()
    wrong = y.copy()
    wrong[0] = 1 - wrong[0]
    found = grow_forest(X, wrong, Rules(min_samples_leaf=3), ForestRules(25))
    scores, _ = class_outliers(proximity_of_leaves(forest_leaves(found, X)), wrong)
    assert scores.argmax() == 0
    assert scores[0] > 10


def test_prototypes_by_hand():
    # class 0: rows 0-3, class 1: rows 4, 5; row 1 has 0, 2 and 3 around it, the others 4 as well
    P = np.eye(6)
    for i, j, near in [(1, 0, 0.9), (1, 2, 0.8), (1, 3, 0.7), (0, 4, 0.5), (2, 4, 0.5),
                       (3, 4, 0.6), (4, 5, 0.9), (0, 2, 0.3), (0, 3, 0.1)]:  # fmt: skip
        P[i, j] = P[j, i] = near
    X = np.array([[1.0, 0], [99, 9], [3, 2], [8, 2], [50, 5], [NAN, 6]])
    first, second = class_prototypes(P, X, [0, 0, 0, 0, 1, 1], 3, ("numeric", "categorical"))
    assert (first.label, first.row, first.mates.tolist()) == (0, 1, [0, 2, 3])
    assert first.value.tolist() == [3, 2]
    assert first.low.tolist() == [2, 2]
    assert first.high.tolist() == [5.5, 2]
    assert (second.label, second.row, second.mates.tolist()) == (1, 4, [5])  # a tie: the lower row
    assert_array_equal(second.value, [NAN, 6])


def test_further_prototypes_come_from_the_rows_left_over():
    P = np.kron(np.eye(2), np.full((3, 3), 0.9)) + 0.1 * np.eye(6)
    X = np.array([[1.0], [1], [1], [5], [5], [5]])
    one, two = class_prototypes(P, X, np.zeros(6), k=2, n_prototypes=2)
    assert (one.row, one.mates.tolist(), one.value.tolist()) == (0, [1, 2], [1])
    assert (two.row, two.mates.tolist(), two.value.tolist()) == (3, [4, 5], [5])
    assert len(class_prototypes(P, X, np.zeros(6), k=2, n_prototypes=9)) == 2


def test_a_class_without_company_has_no_prototype():
    assert [p.label for p in class_prototypes(np.eye(3), np.ones((3, 1)), [0, 0, 1], k=1)] == [0]


def test_prototypes_of_blobs_are_near_their_centres(forest):
    P = proximity_of_leaves(forest_leaves(forest, forest.X))
    found = class_prototypes(P, forest.X, forest.y, k=8)
    assert [p.label for p in found] == [0, 1]
    for p in found:
        assert_allclose(p.value, forest.X[forest.y == p.label].mean(axis=0), atol=8)
        assert (forest.y[p.mates] == p.label).all()
        assert p.row not in p.mates
        assert ((p.low <= p.value) & (p.value <= p.high)).all()


def test_mode_ties_go_to_the_smallest():
    assert mode([2, 1, 2, 1, 7]) == 1


# ---------------------------------------------------------------------- guesses
# chest pain, good circulation, blocked arteries, weight; the last row misses two values
HEART = np.array([[0, 0, 0, 125], [1, 1, 1, 180], [1, 1, 0, 210], [1, 1, NAN, NAN]])
DISEASE = np.array([0, 1, 0, 0])
KINDS = ("categorical", "categorical", "categorical", "numeric")
NEAR = np.array([0.1, 0.1, 0.8, 1.0])  # proximities to the last row


def test_the_worked_example():
    first = first_guess(HEART, DISEASE, KINDS)
    assert first[3].tolist() == [1, 1, 0, 167.5]  # median(125, 210)
    weight = guess_number(HEART[:, 3], NEAR)
    assert weight.value == pytest.approx(198.5, abs=1e-12)  # 125·.1 + 180·.1 + 210·.8
    assert_allclose(weight.weights, [0.1, 0.1, 0.8, 0])
    blocked = guess_category(HEART[:, 2], NEAR)
    assert blocked.value == 0
    assert blocked.shares == {0: pytest.approx(0.9), 1: pytest.approx(0.1)}
    # the notes multiply by the plain frequencies once more: 2/3 · .9 = 3/5 beats 1/3 · .1 = 1/30
    assert 2 / 3 * blocked.shares[0] == pytest.approx(3 / 5)
    assert 1 / 3 * blocked.shares[1] == pytest.approx(1 / 30)
    P = np.tile(NEAR, (4, 1))
    filled, fallbacks = refill(HEART, P, HEART, first, KINDS)
    assert_allclose(filled[3], [1, 1, 0, 198.5])
    assert_array_equal(filled[:3], HEART[:3])
    assert fallbacks == 0


def test_weights_need_not_add_up_to_one():
    assert guess_number([1.0, 4.0, NAN], [0.2, 0.1, 1.0]).value == pytest.approx(2.0)


def test_a_few_near_rows_outweigh_many_far_ones():
    values, near = np.r_[np.zeros(8), 1, 1], np.r_[np.full(8, 0.1), 0.5, 0.5]
    assert guess_category(values, near).value == 1
    assert guess_category([3, 5, 5, NAN], [0.2, 0.1, 0.1, 1]).value == 3  # a tie: the smallest


def test_nobody_near():
    number = guess_number([1.0, 2, 9, NAN], [0, 0, 0, 1])
    assert (number.value, number.fell_back) == (2, True)  # never from the row itself
    assert guess_number([1.0, 2, 9, NAN], [0, 0, 0, 1], fallback=7.0).value == 7
    code = guess_category([1.0, 2, 2, NAN], [0, 0, 0, 1])
    assert (code.value, code.fell_back) == (2, True)
    assert guess_category([1.0, 2, 2, NAN], [0, 0, 0, 1], fallback=1.0).value == 1


def test_where_nobody_is_near_the_first_guess_stands():
    filled, fallbacks = refill(HEART, np.eye(4), HEART, first_guess(HEART, DISEASE, KINDS), KINDS)
    assert filled[3].tolist() == [1, 1, 0, 167.5]
    assert fallbacks == 2


def test_first_guesses():
    X = np.array([[1, 0], [3, 1], [NAN, NAN], [8, 2], [NAN, 2], [6, 0]])
    y, kinds = [0, 0, 0, 1, 1, 2], ("numeric", "ordinal")
    assert first_guess(X, y, kinds)[[2, 4]].tolist() == [[2, 0], [8, 2]]
    assert first_guess(X, None, kinds)[[2, 4]].tolist() == [[4.5, 0], [4.5, 2]]
    # a class in which nobody has the value takes that of all
    lonely = first_guess([[1.0], [3.0], [NAN]], [0, 0, 1])
    assert lonely[2].tolist() == [2]


# ---------------------------------------------------------------------- until they settle
def test_filling_converges_and_finds_the_values():
    rng = np.random.default_rng(0)
    group = np.arange(45) % 3  # 0 and 2 are one class, either side of the other
    x = 8 * group + rng.normal(size=45)
    X, y = np.column_stack([x, 10 * x + rng.normal(size=45)]), group % 2
    holes = X.copy()
    holes[[2, 6, 13], 1] = NAN
    holes[[5, 9], 0] = NAN
    found = fill_missing(holes, y, recipe=ForestRules(15), tol=1e-6)
    assert found.converged
    assert len(found.steps) >= 2
    assert [step.number for step in found.steps] == list(range(1, len(found.steps) + 1))
    assert found.steps[-1].moved <= 1e-6 < found.steps[0].moved
    missing = np.isnan(holes)
    assert_array_equal(found.X[~missing], X[~missing])
    assert_array_equal(found.X[missing], found.steps[-1].values)
    error, first = (np.abs((F - X) / X.std(axis=0))[missing] for F in (found.X, found.first))
    assert error.mean() < first.mean() / 2
    again = fill_missing(holes, y, recipe=ForestRules(15), tol=1e-6)
    assert_array_equal(again.X, found.X)


def test_a_fixed_point_is_one():
    X, y = blobs(1)
    holes = X.copy()
    holes[::6, 1] = NAN
    rules, recipe = Rules(min_samples_leaf=4), ForestRules(10)
    found = fill_missing(holes, y, rules, recipe, tol=0, max_iter=30)
    assert found.converged
    leaves = forest_leaves(grow_forest(found.X, y, rules, recipe), found.X)
    assert_allclose(refill(holes, proximity_of_leaves(leaves), holes, found.first)[0], found.X)


def test_codes_are_filled_and_counted():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 40)
    colour = np.where(rng.random(40) < 0.9, y * 2, 1).astype(float)
    X = np.column_stack([y * 3 + rng.normal(size=40), colour])
    holes = X.copy()
    holes[:6, 1] = NAN
    rules = Rules(kinds=("numeric", "categorical"), min_samples_leaf=3)
    found = fill_missing(holes, y, rules, ForestRules(10))
    assert found.converged
    assert found.steps[-1].changed == 0
    assert set(found.X[:6, 1]) <= {0, 1, 2}
    assert_array_equal(found.X[:6, 1], 2 * y[:6])


def test_numbers_are_filled_without_their_target():
    X, _ = blobs()
    y = 3 * X[:, 0]
    holes = X.copy()
    holes[[1, 2], 1] = NAN
    found = fill_missing(holes, y, Rules("squared_error", min_samples_leaf=3), ForestRules(10))
    assert_allclose(found.first[[1, 2], 1], np.nanmedian(holes[:, 1]))
    assert (np.abs(found.X - X)[[1, 2], 1] < np.abs(found.first - X)[[1, 2], 1]).all()


def test_nothing_missing_is_nothing_to_do():
    X, y = blobs(n=6)
    found = fill_missing(X, y, recipe=ForestRules(3))
    assert found.converged
    assert [(step.changed, step.moved) for step in found.steps] == [(0, 0)]
    assert_array_equal(found.X, X)


def test_rounds_are_limited():
    X, y = blobs()
    X[::3, 1] = NAN
    found = fill_missing(X, y, recipe=ForestRules(5), tol=0, max_iter=1)
    assert not found.converged
    assert len(found.steps) == 1
    assert not np.isnan(found.X).any()


# ---------------------------------------------------------------------- new rows
def test_new_rows_are_filled_by_their_neighbours(forest):
    new = np.array([[0.3, NAN], [8.2, NAN], [1.0, 2.0]])
    found = fill_rows(new, forest.X, forest)
    assert found.converged
    assert_array_equal(found.X[~np.isnan(new)], new[~np.isnan(new)])
    assert abs(found.X[0, 1] - 3) < 15
    assert abs(found.X[1, 1] - 82) < 15
    P = proximity_of_leaves(forest_leaves(forest, forest.X), new=forest_leaves(forest, found.X))
    assert found.X[0, 1] == pytest.approx(P[0] @ forest.X[:, 1] / P[0].sum(), abs=0.1)


def test_only_observed_values_of_the_class_are_taken(forest):
    X = forest.X.copy()
    X[forest.y == 1, 1] = NAN
    X[1, 1] = 77.0  # the only row of class 1 that has the value
    found = fill_rows([[8.0, NAN]], X, forest, label=1)
    assert found.X.tolist() == [[8.0, 77.0]]
    X[1, 1] = NAN  # now there is none: the median of all stands
    found = fill_rows([[8.0, NAN]], X, forest, label=1)
    assert found.X[0, 1] == np.nanmedian(X[:, 1])
    assert found.steps[-1].fallbacks == 1


@pytest.mark.parametrize(("row", "label"), [([0.2, NAN], 0), ([8.1, NAN], 1), ([NAN, 79.0], 1)])
def test_copies_per_class(forest, row, label):
    said, copies = predict_copies(row, forest.X, forest)
    assert said == label
    assert [copy.label for copy in copies] == [0, 1]
    assert [copy.votes.sum() for copy in copies] == [12, 12]
    own = [copy.own_votes for copy in copies]
    assert own[label] == max(own) > min(own)
    means = [forest.X[forest.y == k].mean(axis=0) for k in (0, 1)]
    column = int(np.isnan(row).argmax())
    for copy in copies:  # each is filled as its class would be
        assert_allclose(copy.filling.X[0, column], means[copy.label][column], atol=2 + 18 * column)


def test_a_row_without_gaps_is_its_own_copies(forest):
    said, copies = predict_copies([8.0, 80.0], forest.X, forest)
    assert said == 1
    assert copies[0].votes.tolist() == copies[1].votes.tolist()


# ---------------------------------------------------------------------- bad input
X2, Y2 = np.array([[1.0, 2], [3, 4], [NAN, 5]]), np.array([0, 1, 1])
NUMBERS = grow_forest([[1.0], [2.0]], [1.0, 2.0], Rules("squared_error"), ForestRules(2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: proximity_of_leaves(LEAVES, IN_BAG[:2]), "same trees"),
        (lambda: proximity_of_leaves(LEAVES, new=LEAVES[:2]), "same trees"),
        (lambda: proximity_of_leaves([0, 1]), "same trees"),
        (lambda: mds_of_distances([[0, 1], [2, 0]]), "symmetric"),
        (lambda: mds_of_distances([[0, 1]]), "symmetric"),
        (lambda: mds_of_distances([[0, 1], [1, 0]], 3), "1 to 2, got 3"),
        (lambda: class_prototypes(np.eye(3), np.ones((3, 1)), [0, 0, 1], k=3), "1 to 2 other rows"),
        (lambda: guess_number([NAN, NAN], [1, 1]), "one value that is not missing"),
        (lambda: guess_category([1, 2], [1]), "one proximity per value"),
        (lambda: first_guess([[1, NAN], [2, NAN]]), r"columns \[1\] have no value"),
        (lambda: fill_missing([[1, NAN], [2, NAN]], [0, 1]), r"columns \[1\] have no value"),
        (lambda: fill_missing(X2, Y2, max_iter=0), "max_iter must be ≥ 1"),
        (lambda: fill_missing(X2, Y2, tol=-1), "tol ≥ 0"),
        (lambda: fill_missing([1.0, 2.0], [0, 1]), "rows and columns"),
        (lambda: fill_rows([[NAN]], [[1.0]], NUMBERS), "must be the rows of the forest"),
        (lambda: fill_rows([[NAN]], [[NAN], [NAN]], NUMBERS), r"columns \[0\] have no value"),
        (lambda: predict_copies([NAN], [[1.0], [2.0]], NUMBERS), "use fill_rows"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()
