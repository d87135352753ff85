"""The worked examples and corrected formulas every implementation must reproduce.

Each test carries the name of its fact. The textbook shows the arithmetic; where a fact is also something
a fitted tree can be asked, the engine is asked too.
"""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from arboretum import CARTClassifier, CARTRegressor
from arboretum.structure.tree import LEAF
from arboretum.textbook import (
    Rules,
    candidates,
    choose,
    entropy,
    gini,
    grow,
    information_gain,
    tree_score,
)

# ---------------------------------------------------------------------- NBA players
NBA = pd.DataFrame(
    {
        "tall": ["yes", "no", "yes", "no", "yes"],
        "player": ["yes", "yes", "no", "no", "yes"],
    }
)


def test_nba_information_gain_by_the_textbook():
    figures = information_gain(NBA["player"], NBA["tall"])
    by_value = {branch.value: branch.entropy for branch in figures.branches}
    assert_allclose(figures.entropy, 0.971, atol=5e-4)
    assert_allclose([by_value["yes"], by_value["no"]], [0.918, 1.0], atol=5e-4)
    assert_allclose(figures.gain, 0.01997, atol=5e-6)


def test_nba_information_gain_by_a_fitted_tree():
    # of a column with two values CART's only split is the one the information gain speaks of
    model = CARTClassifier(criterion="entropy").fit(NBA[["tall"]], NBA["player"])
    root = model.tree_[0]
    assert_allclose(root.impurity, 0.971, atol=5e-4)
    assert_allclose(root.gain, 0.01997, atol=5e-6)
    assert sorted(round(child.impurity, 3) for child in root.children) == [0.918, 1.0]


# ---------------------------------------------------------------------- play tennis
TENNIS = pd.DataFrame(
    [
        ("sunny", "hot", "high", "weak", "no"),
        ("sunny", "hot", "high", "strong", "no"),
        ("overcast", "hot", "high", "weak", "yes"),
        ("rain", "mild", "high", "weak", "yes"),
        ("rain", "cool", "normal", "weak", "yes"),
        ("rain", "cool", "normal", "strong", "no"),
        ("overcast", "cool", "normal", "strong", "yes"),
        ("sunny", "mild", "high", "weak", "no"),
        ("sunny", "cool", "normal", "weak", "yes"),
        ("rain", "mild", "normal", "weak", "yes"),
        ("sunny", "mild", "normal", "strong", "yes"),
        ("overcast", "mild", "high", "strong", "yes"),
        ("overcast", "hot", "normal", "weak", "yes"),
        ("rain", "mild", "high", "strong", "no"),
    ],
    columns=["outlook", "temperature", "humidity", "wind", "play"],
)


@pytest.mark.parametrize(
    ("attribute", "gain"),
    [("outlook", 0.247), ("humidity", 0.152), ("wind", 0.048), ("temperature", 0.029)],
)
def test_play_tennis_gains(attribute, gain):
    figures = information_gain(TENNIS["play"], TENNIS[attribute])
    assert_allclose(figures.entropy, 0.940, atol=5e-4)
    assert_allclose(figures.gain, gain, atol=6e-4)
    if len(figures.branches) == 2:
        model = CARTClassifier(criterion="entropy", max_depth=1)
        tree = model.fit(TENNIS[[attribute]], TENNIS["play"]).tree_
        assert_allclose(tree.gain[0], figures.gain, rtol=1e-12)


def test_play_tennis_gain_ratio_divides_by_the_split_information():
    # not by H(D), as some texts have it: .247 / .940 would be .262
    figures = information_gain(TENNIS["play"], TENNIS["outlook"])
    assert_allclose(figures.ratio, 0.156, atol=5e-4)
    assert_allclose(figures.split_information, 1.577, atol=5e-4)


def test_play_tennis_root_of_a_binary_tree():
    # CART asks yes or no: of the three ways to part the outlook, overcast against the rest is best
    model = CARTClassifier(criterion="entropy").fit(TENNIS.drop(columns="play"), TENNIS["play"])
    root = model.tree_[0]
    assert root.name == "outlook"
    sides = {frozenset(root.condition(k).values) for k in (0, 1)}
    assert sides == {frozenset({"overcast"}), frozenset({"rain", "sunny"})}
    code = TENNIS["outlook"].astype("category").cat.codes.to_numpy(float)[:, None]
    y = (TENNIS["play"] == "yes").to_numpy(int)
    best = choose(candidates(code, y, rules=Rules("entropy", kinds=("categorical",))))
    assert_allclose(root.gain, best.gain, rtol=1e-12)
    assert_allclose(
        root.gain, 0.940286 - 10 / 14 * 1.0, atol=1e-6
    )  # overcast is pure, the rest 5:5
    assert (model.predict(TENNIS.drop(columns="play")) == TENNIS["play"]).all()


# ---------------------------------------------------------------------- CART
def test_gini_before_the_split_is_gini_not_a_mean_squared_error():
    y = np.array([0] * 5 + [1] * 3 + [2] * 2)
    expected = 1 - 0.5**2 - 0.3**2 - 0.2**2
    assert_allclose(gini(np.bincount(y)), expected)
    assert_allclose(CARTClassifier().fit(np.arange(10.0)[:, None], y).tree_.impurity[0], expected)


def test_tree_score_543_8_and_four_leaves_at_alpha_10000():
    assert tree_score(543.8, 10000, 4) == 40543.8


def test_a_pruned_tree_has_the_best_score_of_its_path():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    y = 30 * (X[:, 0] > 0.5) + 10 * rng.normal(size=60)
    path = CARTRegressor().cost_complexity_pruning_path(X, y)
    for alpha in (0.5, 2.0, 8.0, 50.0):
        tree = CARTRegressor(ccp_alpha=alpha).fit(X, y).tree_
        risk = (tree.impurity * tree.weight / tree.weight[0])[tree.leaves].sum()
        score = tree_score(risk, alpha, tree.n_leaves)
        every = tree_score(path.impurities, alpha, path.n_leaves)
        assert_allclose(score, every.min(), rtol=1e-9)


def test_a_fraction_of_rows_is_rounded_up_0_3_of_101_is_31():
    X = np.arange(101.0)[:, None]
    y = (X[:, 0] < 30).astype(float)  # the perfect split has 30 rows on its left
    assert CARTRegressor(max_depth=1, min_samples_leaf=30).fit(X, y).tree_.count[1] == 30
    assert CARTRegressor(max_depth=1, min_samples_leaf=0.3).fit(X, y).tree_.count[1] == 31
    # a node of 30 rows is too small to be divided, one of 31 is not
    for first, divided in ((30, False), (31, True)):
        y = np.where(X[:, 0] < first, 100.0, 0.0) + (X[:, 0] == 3)
        tree = CARTRegressor(min_samples_split=0.3).fit(X, y).tree_
        assert tree.count[1] == first
        assert (tree.kind[1] != LEAF) == divided


def test_splitter_random_draws_thresholds_not_columns():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 4))
    y = 10 * X[:, 2] + 0.01 * rng.normal(size=80)
    roots = [
        CARTRegressor(splitter="random", max_depth=1, random_state=seed).fit(X, y).tree_
        for seed in range(40)
    ]
    # every column takes part, so the one that matters wins nearly always; where it is cut is chance
    assert np.mean([tree.feature[0] == 2 for tree in roots]) > 0.8
    assert len({tree.threshold[0] for tree in roots}) == 40
    drawn = [
        CARTRegressor(max_features=1, max_depth=1, random_state=seed).fit(X, y).tree_
        for seed in range(40)
    ]
    assert {tree.feature[0] for tree in drawn} == {0, 1, 2, 3}
    assert len({tree.threshold[0] for tree in drawn if tree.feature[0] == 2}) == 1


def test_impurity_decrease_is_weighted_by_the_share_of_the_rows():
    X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 2, 2])
    tree, book = (
        CARTClassifier(criterion="entropy").fit(X, y).tree_,
        grow(X, y, rules=Rules("entropy")),
    )
    # the second split halves 4 of 8 rows: 4/8 · (1 bit - 0)
    assert_allclose([tree.gain[0], tree.gain[2]], [entropy([4, 2, 2]) - 0.5, 0.5])
    assert_allclose([book.chosen.gain, book.right.chosen.gain], [tree.gain[0], tree.gain[2]])


# ---------------------------------------------------------------------- other examples
def test_lambda_1_takes_half_of_one_residual_and_a_fifth_of_four():
    from arboretum.textbook import XGBSettings, similarity

    without, one = XGBSettings(reg_lambda=0.0), XGBSettings(reg_lambda=1.0)
    for n, left in ((1, 0.5), (4, 0.8)):
        ratio = similarity(-6.0 * n, float(n), one) / similarity(-6.0 * n, float(n), without)
        assert_allclose(ratio, left)


def test_weight_by_proximity_198_5_and_first_guess_167_5():
    from arboretum.textbook import first_guess, guess_number

    assert guess_number([125.0, 180.0, 210.0], [0.1, 0.1, 0.8]).value == pytest.approx(198.5)
    weight = [[125.0], [180.0], [210.0], [np.nan]]
    assert first_guess(weight, [0, 1, 0, 0])[3, 0] == 167.5


@pytest.mark.parametrize(("error", "say"), [(0.5, 0.0), (0.1, 1.0986), (0.9, -1.0986)])
def test_amount_of_say_is_symmetric_in_odds(error, say):
    from arboretum.textbook import amount_of_say

    assert_allclose(amount_of_say(error), say, atol=5e-5)
    assert amount_of_say(1 - 1e-9) < -10


def test_learning_rate_example_1_and_a_tenth_of_a_half_is_1_05():
    from arboretum.textbook import AdaRules, amount_of_say, samme

    X, y = np.arange(10.0)[:, None], np.array([0, 0, 0, 0, 1, 0, 1, 1, 1, 1])
    full, tenth = (samme(X, y, rules=AdaRules(1, rate)) for rate in (1.0, 0.1))
    assert_allclose(1 + 0.1 * 0.5, 1.05)
    assert_allclose(tenth.says[0], 0.1 * full.says[0])
    assert_allclose(full.says[0], amount_of_say(full.errors[0], n_classes=2))


def test_odds_of_7_to_3_and_log_odds_that_mirror():
    p = 0.7
    assert_allclose(p / (1 - p), 7 / 3)
    assert_allclose(-np.log(p / (1 - p)), np.log((1 - p) / p))
    from arboretum.textbook import sigmoid

    assert_allclose(sigmoid(np.log(7 / 3)), p)


def test_eighty_of_a_hundred_votes_decide():
    from arboretum.textbook.forest import decide

    votes = np.array([[0.2, 0.8]])
    assert decide(votes, True).tolist() == [1]


def test_of_copies_with_80_and_60_votes_for_themselves_the_first_wins():
    from arboretum.forest.filling import Copies

    votes = np.array([[[40, 60], [20, 80]]])  # as if not a player: 40 against; as if one: 80 for
    copies = Copies(np.array([1]), np.array([0, 1]), votes, [])
    assert copies.own_votes.tolist() == [[40, 80]]
    votes = np.array([[[60, 40], [20, 80]]])
    assert Copies(np.array([1]), np.array([0, 1]), votes, []).own_votes.argmax() == 1


def test_k_columns_of_n_values_have_k_times_n_less_1_cuts():
    from arboretum.textbook import split_candidates

    X = np.random.default_rng(0).normal(size=(9, 3))
    assert len(split_candidates(X, np.arange(9.0) - 4, np.ones(9))) == 3 * (9 - 1)
