"""docs/errata.md: scales that differ, every figure of the page, and that its tests exist."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from arboretum import (
    AdaBoostClassifier,
    CARTClassifier,
    CARTRegressor,
    RandomForestClassifier,
    XGBClassifier,
    XGBRegressor,
)
from arboretum.textbook import (
    GBMRules,
    XGBSettings,
    entropy,
    grow_gbm,
    guess_category,
    information_gain,
    margin_bound,
    similarity,
    softmax,
    tree_score,
    uniform_margin_bound,
)
from tests.test_spec_examples import TENNIS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


# ---------------------------------------------------------------------- scales that differ
def numbers(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return X, 30 * (X[:, 0] > 0.5) + 10 * rng.normal(size=n)


def two_classes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("alpha", [100.0, 1000.0, 5000.0])
def test_ccp_alpha_is_alpha_of_the_tree_score_per_row(alpha):
    X, y = numbers()
    path = CARTRegressor().cost_complexity_pruning_path(X, y)
    by_sum = tree_score(len(y) * path.impurities, alpha, path.n_leaves)  # SSR + α·leaves
    pruned = CARTRegressor(ccp_alpha=alpha / len(y)).fit(X, y)
    assert pruned.get_n_leaves() == path.n_leaves[by_sum.argmin()]
    assert 1 < pruned.get_n_leaves() < path.n_leaves[0]


def test_gamma_is_twice_that_of_the_formula_with_a_half():
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([1.0, 1.0, -1.0, -1.0])
    plain = XGBSettings(reg_lambda=0)
    half = 0.5 * (similarity(-2.0, 2.0, plain) + similarity(2.0, 2.0, plain))  # the node's own is 0
    for gamma, leaves in ((0.99 * half, 2), (1.01 * half, 1)):
        given = {"reg_lambda": 0, "base_score": 0, "n_estimators": 1, "gamma": 2 * gamma}
        assert XGBRegressor(**given).fit(X, y).trees_[0].n_leaves == leaves


def test_the_says_of_samme_are_twice_as_large():
    X, y = two_classes()
    samme, discrete = (
        AdaBoostClassifier(n_estimators=8, algorithm=name).fit(X, y)
        for name in ("SAMME", "discrete")
    )
    assert_allclose(samme.estimator_weights_, 2 * discrete.estimator_weights_)
    assert_array_equal(samme.predict(X), discrete.predict(X))


def test_half_the_learning_rate_is_the_form_for_labels_0_and_1():
    X, y = two_classes()
    model = AdaBoostClassifier(
        n_estimators=2, algorithm="SAMME", learning_rate=0.5, keep_weights=True
    ).fit(X, y)
    first, second = model.sample_weights_[:2]
    error = model.estimator_errors_[0]
    wrong = model.estimators_[0].predict(X) != y
    say = 0.5 * np.log((1 - error) / error)
    expected = first * np.where(wrong, np.exp(say), 1.0)
    assert_allclose(second, expected / expected.sum())


def test_base_score_is_a_prediction_not_a_margin():
    X, y = two_classes()
    still = {"n_estimators": 1, "reg_lambda": 1e15}  # its leaves are 0
    model = XGBClassifier(**still, base_score=0.5).fit(X, y)
    assert_allclose(model.predict(X, output_margin=True), 0.0, atol=1e-9)
    counts = np.random.default_rng(0).poisson(4, len(X))
    model = XGBRegressor(**still, base_score=4.0, objective="count:poisson").fit(X, counts)
    assert_allclose(model.predict(X), 4.0, rtol=1e-6)
    assert_allclose(model.predict(X, output_margin=True), np.log(4.0), rtol=1e-6)


def test_entropy_is_in_bits_and_log_loss_in_nats():
    X, y = np.zeros((10, 1)), np.repeat([0, 1], 5)
    trees = [CARTClassifier(criterion=name).fit(X, y).tree_ for name in ("entropy", "log_loss")]
    assert entropy([5, 5]) == 1.0
    assert trees[0].impurity[0] == 1.0
    loss = -np.mean(np.log(np.full(10, 0.5)))
    assert f"1 bit = {loss:.3f} nats" in PAGE


# ---------------------------------------------------------------------- figures
def written() -> list[str]:
    """The figures of the page, as it writes them."""
    tennis = information_gain(TENNIS["play"], TENNIS["outlook"])
    shares = guess_category([1.0, 0.0, 0.0], [0.1, 0.1, 0.8]).shares
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(100, oob_score=True, random_state=0).fit(X, y)
    model = grow_gbm([[1.0], [1.0], [0.0]], [88.0, 76.0, 56.0], rules=GBMRules(n_rounds=2))
    first, second = model.rounds
    steps = sorted({leaf.step for leaf in first.trees[0].leaves})
    F, r = first.F.ravel(), second.trees[0].residuals
    logits = np.array([0.05, -0.02, -0.02])
    p = softmax(logits)
    g, d = tennis.gain, tennis.split_information
    one, four = (
        1 - float(similarity(n, n, XGBSettings(reg_lambda=1)) / similarity(n, n, XGBSettings(reg_lambda=0)))
        for n in (1.0, 4.0)
    )  # fmt: skip
    return [
        f"{g:.3f} / {d:.3f} = {g / d:.3f}, not {g:.3f} / {tennis.entropy:.3f} = {g / tennis.entropy:.3f}",
        f"on iris {forest.score(X, y):.3f} instead of {forest.oob_score_:.3f}",
        f"{shares[0.0]:.1f} against {shares[1.0]:.1f}",
        f"γ = 0.02, θ = 0.3, ten rounds of ε = 0.4: {margin_bound([0.4] * 10, 0.3):.3f} on the left, "
        f"{uniform_margin_bound(0.02, 0.3, 10):.3f} on the right",
        f"leaf {{88, 76}}: {steps[1]:.2f}, F_1 = {F[0]:.1f}; leaf {{56}}: {steps[0]:.2f}, F_1 = {F[2]:.1f}; "
        f"then r = {r[0]:.1f}, {r[1]:.1f}, {r[2]:.1f}",
        f"Z ≈ {np.exp(logits).sum():.4f} | the probabilities {p[0]:.3f}, {p[1]:.3f}, {p[2]:.3f}",
        f"λ = 1: {100 * one:.0f} % of one residual, {100 * four:.0f} % of four; "
        f"proportional to 1/n it would be {100 * one / 4:.1f} %",
        f"1 bit = {np.log(2):.3f} nats",
        f"of 101 rows means 30 rows | the share is rounded up: {np.ceil(0.3 * 101):.0f}",
    ]


_QUOTED = (  # numbers that are given, not computed
    "`min_samples_leaf=0.3`",
    "30 rows are less than 0.3 of 101",
    "leaf value -17.3 for 88, F_1 = 74.6",
    "softmax of 0.05, -0.02, -0.02: Z ≈ 1.143",
    "the first prediction is 0.5,",
    "`base_score=0.5`",
    "0.5 is a probability, so a sum of 0",
    "`learning_rate=0.5`",
)


def test_every_figure_of_the_page_is_computed():
    rest = PAGE.replace("C4.5", "")
    for figures in written():
        assert figures in PAGE, figures
        rest = rest.replace(figures, "")
    for quoted in _QUOTED:
        assert quoted in PAGE, quoted
        rest = rest.replace(quoted, "")
    assert re.findall(r"\d*\.\d+|\d+ ?%", rest) == []


# ---------------------------------------------------------------------- tests of the page
def test_every_line_has_its_test():
    rows = [line for line in PAGE.split("\n") if line.startswith("| ")]
    rows = [line for line in rows if not line.startswith(("| in print", "| elsewhere"))]
    assert len(rows) > 50
    for line in rows:
        cell = line.replace("\\|", "").rstrip(" |").split("|")[-1]
        (name,) = re.findall(r"`(test_\w+)`", cell)
        files = re.findall(r"\((\w+\.py)\)", cell) or ["test_notes.py", "test_errata.py"]
        there = "".join((ROOT / "tests" / file).read_text(encoding="utf-8") for file in files)
        assert f"def {name}(" in there, name
