"""rank_xendcg against a loop over its formula, list by list."""

import numpy as np
import pytest

from arboretum import LGBMRanker
from arboretum.boosting.names.find import find_objective
from arboretum.engine.keys import key_of, uniform_array
from arboretum.errors import DataError
from tests.boosting.lightgbm.lgbm_cases import groups
from tests.boosting.loss.objective_cases import derivatives, labels, weights

SIZES = [1, 30, 7, 2]


def _by_loop(y, score, u):
    """Return the derivatives of one list as LightGBM computes them."""
    if len(y) < 2:
        return np.zeros(len(y)), np.zeros(len(y))
    rho = np.exp(score) / np.exp(score).sum()
    drawn = 2.0**y - u
    first = rho - drawn / drawn.sum()
    part = first / (1 - rho)
    second = np.array([rho[i] * sum(np.delete(part, i)) for i in range(len(y))])
    part = second / (1 - rho)
    third = np.array([rho[i] * sum(np.delete(part, i)) for i in range(len(y))])
    return first + second + third, rho * (1 - rho)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_derivatives_are_those_of_the_formula(weighted):
    n, m = sum(SIZES), 3
    objective = find_objective("xendcg", "lightgbm", objective_seed=11)
    y, score = labels("grades", n), np.random.default_rng(1).normal(size=n)
    weight = weights(n) if weighted else None
    u = uniform_array(key_of(11, m), n)
    g, h = np.empty((1, n), np.float32), np.empty((1, n), np.float32)
    objective.derivatives(y, score[:, None], weight, g, h, iteration=m, groups=SIZES)
    start = 0
    for size in SIZES:
        rows = slice(start, start + size)
        own = np.ones(size) if weight is None else weight[rows]
        for found, wanted in zip((g, h), _by_loop(y[rows], score[rows], u[rows])):
            np.testing.assert_allclose(found[0, rows], wanted * own, rtol=1e-5, atol=1e-6)
        start += size


def test_a_sure_list_has_finite_derivatives():
    objective = find_objective("rank_xendcg", "lightgbm")
    g, h = derivatives(objective, np.array([1.0, 0.0]), np.array([[900.0], [-900.0]]))
    assert np.isfinite(g).all()
    assert np.isfinite(h).all()


def test_it_learns_the_order():
    X, y, sizes = groups()
    table = {"eval_set": [(X, y)], "eval_group": [sizes], "eval_at": [5]}
    model = LGBMRanker(objective="rank_xendcg", n_estimators=40).fit(X, y, group=sizes, **table)
    figures = model.evals_result_["training"]["ndcg@5"]
    assert figures[-1] > 0.95 > figures[0]
    assert model.objective_ == "rank_xendcg"
    with pytest.raises(DataError, match="0 or more"):
        LGBMRanker(objective="rank_xendcg").fit(X, -y, group=sizes)
