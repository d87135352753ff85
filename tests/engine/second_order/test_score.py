"""Answers and scores against their formulas."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine.compiler.decorators import kernel
from arboretum.engine.second_order import score
from arboretum.engine.second_order.score import SplitRules

RULES = SplitRules(
    0.0, 1.0, 0.0, 0.0, 0.0, True, 1.0, 0.0, 0.0, 0.0, 0.0, 0, 0, 0.0, 6, 64, True, 0, 0
)  # fmt: skip


@kernel
def _judge(g, h, rows, parent, lower, upper, rules):
    b = score.answer(g, h, rows, parent, lower, upper, rules.l2, rules)
    return b, score.score(g, h, b, rules.l2, rules)


@kernel
def _plain_gain(a, c, g, h, rules):
    return score.plain_gain(a, c, g, h, g * g / (h + rules.l2), rules.l2, rules.min_weight)


def _of(g=6.0, h=2.0, rows=4.0, parent=0.5, lower=-np.inf, upper=np.inf, **rules):
    return _judge(g, h, rows, parent, lower, upper, RULES._replace(**rules))


def test_newton_step_and_what_it_saves():
    assert _of() == (-2.0, 12.0)  # -G / (H + 1), G² / (H + 1)
    assert _of(l1=2.0)[0] == pytest.approx(-4 / 3)
    assert _of(l1=2.0)[1] == pytest.approx(16 / 3)
    assert _of(g=1.0, l1=2.0) == (0.0, 0.0)


def test_answers_are_clipped_and_lean_on_the_parent():
    assert _of(max_delta_step=0.5)[0] == -0.5
    assert _of(lower=-1.0)[0] == -1.0
    assert _of(path_smooth=4.0)[0] == pytest.approx((-2.0 + 0.5) / 2)
    assert _of(path_smooth=4.0, parent=np.nan)[0] == -2.0  # the root leans on nobody
    assert _of(max_delta_step=0.5)[1] == pytest.approx(2 * 6 * 0.5 - 3 * 0.25)


def test_a_gain_is_what_both_sides_save_more():
    gain = _plain_gain(4.0, 3.0, 1.0, 8.0, RULES)
    assert gain == pytest.approx(16 / 4 + 9 / 6 - 1 / 9)
    assert _plain_gain(4.0, 0.5, 1.0, 8.0, RULES) == -np.inf  # too little cover on one side
    for c in (1.0, 7.0):  # just enough on one side
        assert _plain_gain(4.0, c, 1.0, 8.0, RULES) > 0
