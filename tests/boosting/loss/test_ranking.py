"""LambdaMART against a textbook in O(n²), XGBoost and LightGBM."""

import numpy as np
import pytest

from arboretum.boosting.names.find import find_metrics, find_objective
from arboretum.errors import DataError, ParameterError
from tests.boosting.loss.objective_cases import (
    derivatives,
    labels,
    leaves,
    lightgbm_leaves,
    margins,
    weights,
    xgboost_leaves,
)

GROUPS = np.array([17, 1, 25, 2, 15])


# ---------------------------------------------------------------------- the textbook
def _figure(kind, gain, k):
    """Return NDCG@k or average precision of gains in an order."""
    if kind == "pairwise":
        return None
    if kind == "map":
        hits = np.cumsum(gain)
        return (gain * hits / np.arange(1, len(gain) + 1)).sum() / max(gain.sum(), 1)
    discount = 1 / np.log2(np.arange(len(gain)) + 2)
    return (gain * discount).sum() / max((np.sort(gain)[::-1] * discount)[:k].sum(), 1e-300)


def textbook(kind, gain, score, k, sigma=1.0, factor=1.0, by_score=True, by_sum=True):
    """Return g and h of one list: every pair is swapped and the figure computed anew."""
    n = len(gain)
    g, h, size = np.zeros(n), np.zeros(n), 0.0
    order = np.argsort(-score, kind="stable")
    before = _figure(kind, gain[order], k)
    for a in range(min(k, n)):
        for b in range(a + 1, n):
            i, j = order[a], order[b]
            if gain[i] == gain[j]:
                continue
            swapped = order.copy()
            swapped[[a, b]] = swapped[[b, a]]
            change = 1.0 if before is None else abs(before - _figure(kind, gain[swapped], k))
            better, worse = (i, j) if gain[i] > gain[j] else (j, i)
            apart = score[better] - score[worse]
            if by_score and score.max() != score.min():
                change /= 0.01 + abs(apart)
            rho = 1 / (1 + np.exp(sigma * apart))
            g[better] -= sigma * rho * change
            g[worse] += sigma * rho * change
            h[[better, worse]] += factor * sigma**2 * rho * (1 - rho) * change
            size += 2 * sigma * rho * change
    norm = np.log2(1 + size) / size if by_sum and size > 0 else 1.0
    return g * norm, h * norm


def _by_list(kind, gain, score, **rules):
    g, h = np.zeros(len(gain)), np.zeros(len(gain))
    ends = np.cumsum(GROUPS)
    for lo, hi in zip(ends - GROUPS, ends):
        g[lo:hi], h[lo:hi] = textbook(kind, gain[lo:hi], score[lo:hi], **rules)
    return g, h


XGBOOST = {
    "rank:ndcg": ("grades", {}),
    "rank:ndcg, labels as gains": ("positive", {"ndcg_exp_gain": False}),
    "rank:ndcg, short": ("grades", {"lambdarank_num_pair_per_sample": 4}),
    "rank:ndcg, plain": (
        "grades",
        {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
    ),
    "rank:map": ("binary", {}),
    "rank:map, short": ("binary", {"lambdarank_num_pair_per_sample": 5}),
    "rank:pairwise": ("grades", {}),
    "rank:pairwise, plain": (
        "grades",
        {"lambdarank_normalization": False, "lambdarank_score_normalization": False},
    ),
}
LIGHTGBM = {
    "lambdarank": {},
    "lambdarank, short": {"lambdarank_truncation_level": 4},
    "lambdarank, plain": {"lambdarank_norm": False, "sigmoid": 1.6},
    "lambdarank, gains": {"label_gain": [0.0, 2.0, 5.0, 5.5]},
}


@pytest.mark.parametrize("case", XGBOOST)
def test_textbook_gives_xgboosts_derivatives(case):
    kind, parameters = XGBOOST[case]
    name, y, score = case.split(",")[0], labels(kind), margins()
    objective = find_objective(name, "xgboost", **parameters)
    objective.check(y, None, GROUPS)
    g, h = derivatives(objective, y, score, groups=GROUPS)
    doubled = name == "rank:ndcg" and parameters.get("ndcg_exp_gain", True)
    wanted = _by_list(
        name[5:],
        2**y - 1 if doubled else y,
        score[:, 0],
        k=parameters.get("lambdarank_num_pair_per_sample", 32),
        factor=2.0,
        by_score=parameters.get("lambdarank_score_normalization", True),
        by_sum=parameters.get("lambdarank_normalization", True),
    )
    np.testing.assert_allclose(g[0], wanted[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h[0], wanted[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", LIGHTGBM)
def test_textbook_gives_lightgbms_derivatives(case):
    parameters, y, score = LIGHTGBM[case], labels("grades"), margins()
    objective = find_objective("lambdarank", "lightgbm", **parameters)
    g, h = derivatives(objective, y, score, weights(), groups=GROUPS)
    gains = np.array(parameters.get("label_gain", [0.0, 1.0, 3.0, 7.0]))
    wanted = _by_list(
        "ndcg",
        gains[y.astype(int)],
        score[:, 0],
        k=parameters.get("lambdarank_truncation_level", 30),
        sigma=parameters.get("sigmoid", 1.0),
        by_score=parameters.get("lambdarank_norm", True),
        by_sum=parameters.get("lambdarank_norm", True),
    )
    np.testing.assert_allclose(g[0], weights() * wanted[0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(h[0], weights() * wanted[1], rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------- the peers
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", XGBOOST)
def test_xgboost_has_the_same_derivatives(case, weighted):
    pytest.importorskip("xgboost")
    kind, parameters = XGBOOST[case]
    name, y, score = case.split(",")[0], labels(kind), margins()
    weight = np.array([1.0, 3.0, 0.5, 2.0, 1.5]) if weighted else None
    objective = find_objective(name, "xgboost", **parameters)
    g, h = derivatives(objective, y, score, weight, groups=GROUPS)
    for reg in (0.02, 0.3):
        theirs, leaf = xgboost_leaves(name, y, score, weight, GROUPS, reg, **parameters)
        np.testing.assert_allclose(theirs, leaves(g, h, leaf, reg), rtol=1e-3, atol=1e-5)
        assert len(np.unique(leaf)) > 4


@pytest.mark.parametrize("case", LIGHTGBM)
def test_lightgbm_has_the_same_derivatives(case):
    pytest.importorskip("lightgbm")
    parameters, y, score = LIGHTGBM[case], labels("grades"), margins()
    objective = find_objective("lambdarank", "lightgbm", **parameters)
    g, h = derivatives(objective, y, score, weights(), groups=GROUPS)
    for reg in (0.02, 0.3):
        theirs, leaf = lightgbm_leaves("lambdarank", y, score, weights(), GROUPS, reg, **parameters)
        # Its sigmoid comes from a table, good to about 1e-3
        np.testing.assert_allclose(theirs, leaves(g, h, leaf, reg), rtol=5e-3, atol=1e-4)
        assert len(np.unique(leaf)) > 4


# ---------------------------------------------------------------------- drawn pairs
def test_drawn_pairs_are_pairs_of_unlike_labels_and_repeat_by_seed_and_round():
    y, score = labels("grades"), margins()

    def drawn(iteration, **more):
        objective = find_objective(
            "rank:pairwise", "xgboost", lambdarank_pair_method="mean", **more
        )
        return derivatives(objective, y, score, groups=GROUPS, iteration=iteration)[0]

    first = drawn(0)
    np.testing.assert_array_equal(first, drawn(0))
    assert (drawn(1) != first).any()
    assert (drawn(0, seed=7) != first).any()
    ends = np.cumsum(GROUPS)
    np.testing.assert_allclose([g.sum() for g in np.split(first[0], ends[:-1])], 0, atol=1e-5)
    assert first[0, 17] == 0  # alone in its list


def test_many_drawn_pairs_become_all_pairs():
    """Row i meets j from both sides: 1 / (rows unlike i) + 1 / (rows unlike j) times on average."""
    y, score = labels("grades")[:20], margins(n=20)
    plain = {"lambdarank_score_normalization": False, "lambdarank_pair_method": "mean"}
    objective = find_objective(
        "rank:pairwise", "xgboost", lambdarank_num_pair_per_sample=20_000, **plain
    )
    g, h = derivatives(objective, y, score)
    unlike = y[:, None] != y
    often = (1 / unlike.sum(axis=1)[:, None] + 1 / unlike.sum(axis=1)) * unlike
    apart = score - score[:, 0]
    sign = np.sign(y[:, None] - y)
    rho = 1 / (1 + np.exp(sign * apart))
    np.testing.assert_allclose(g[0], -(often * sign * rho).sum(axis=1), atol=0.03)
    np.testing.assert_allclose(h[0], (2 * often * rho * (1 - rho)).sum(axis=1), atol=0.03)


# ---------------------------------------------------------------------- what it is for
@pytest.mark.parametrize(
    ("dialect", "name", "metric"),
    [
        ("xgboost", "rank:ndcg", "ndcg"),
        ("xgboost", "rank:pairwise", "ndcg"),
        ("xgboost", "rank:map", "map"),
        ("lightgbm", "lambdarank", "ndcg@5"),
    ],
)
def test_newton_steps_put_lists_in_order(dialect, name, metric):
    y, score = labels("binary" if metric == "map" else "grades"), margins()
    objective, figure = find_objective(name, dialect), find_metrics(metric, dialect)[0]
    before = figure.evaluate(y, score[:, 0], groups=GROUPS)
    for iteration in range(60):
        g, h = derivatives(objective, y, score, groups=GROUPS, iteration=iteration)
        score = score - 0.3 * (g / (h + 0.1)).T
    assert figure.evaluate(y, objective.predict(score), groups=GROUPS) > max(before, 0.99)


def test_bits_do_not_depend_on_threads(monkeypatch):
    monkeypatch.setattr("arboretum.boosting.loss.ranking._ROWS_AT_ONCE", 50)
    rng = np.random.default_rng(3)
    groups = rng.integers(1, 40, 60)
    n = groups.sum()
    y, score = rng.integers(0, 5, n) * 1.0, rng.normal(size=(n, 1))
    objective = find_objective("rank:ndcg", "xgboost")
    found = set()
    for n_jobs in (1, 2, 3):
        g, h = np.empty((1, n), np.float32), np.empty((1, n), np.float32)
        objective.derivatives(y, score, None, g, h, n_jobs, groups=groups)
        found.add(g.tobytes() + h.tobytes())
    assert len(found) == 1


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("rank:ndcg", {"groups": [30, 20]}, "add up to 60"),
        ("rank:ndcg", {"groups": [60, 0]}, "positive numbers of rows"),
        ("rank:ndcg", {"y": {3: -1.0}}, "row 3 of y holds others, first -1"),
        ("rank:ndcg", {"y": {3: 0.5}}, "whole numbers"),
        ("rank:ndcg", {"y": {3: 32.0, 9: 40.0}}, "rows 3, 9 of y hold more, first 32; Set `ndcg_exp"),
        ("rank:map", {"y": {8: 2.0}}, "labels that are 0 or 1: row 8"),
        ("rank:pairwise", {"y": {0: np.nan}}, "finite numbers: row 0"),
        ("rank:ndcg", {"weight": np.ones(7)}, "60 numbers, one per row"),
        ("rank:ndcg", {"weight": np.arange(60.0)}, "weighs whole lists"),
        ("rank:ndcg", {"weight": np.array([1.0, -1, 1, 1, 1])}, "weights must be finite .* row 1"),
        ("rank:ndcg", {"weight": np.zeros(5)}, "all weights are 0"),
    ],
)  # fmt: skip
def test_bad_data(name, change, message):
    y = labels("binary")
    for row, value in change.get("y", {}).items():
        y[row] = value
    objective = find_objective(name, "xgboost")
    with pytest.raises(DataError, match=message):
        objective.check(y, change.get("weight"), change.get("groups", GROUPS))


@pytest.mark.parametrize(
    ("dialect", "name", "parameters", "message"),
    [
        ("xgboost", "rank:ndcg", {"lambdarank_unbiased": True}, "must be False"),
        ("xgboost", "rank:ndcg", {"lambdarank_pair_method": "top"}, "'topk' or 'mean'"),
        ("xgboost", "rank:ndcg", {"lambdarank_num_pair_per_sample": 0}, "an int ≥ 1"),
        ("xgboost", "rank:ndgc", {}, "did you mean 'rank:ndcg'"),
        ("lightgbm", "lambdarank", {"label_gain": []}, "a list"),
        ("lightgbm", "lambdarank", {"lambdarank_truncation_level": 1.5}, "an int"),
        ("lightgbm", "lambdarank", {"truncation": 3}, "have no parameter 'truncation'"),
    ],
)
def test_bad_parameters(dialect, name, parameters, message):
    with pytest.raises(ParameterError, match=message):
        find_objective(name, dialect, **parameters)


def test_row_weights_of_xgboost_may_be_spread_over_the_lists():
    y, score, per_list = labels("grades"), margins(), np.array([1.0, 3.0, 0.5, 2.0, 1.5])
    objective = find_objective("rank:ndcg", "xgboost")
    some = derivatives(objective, y, score, per_list, groups=GROUPS)
    same = derivatives(objective, y, score, np.repeat(per_list, GROUPS), groups=GROUPS)
    np.testing.assert_array_equal(some, same)
