"""Levels of symmetric trees: read from the nodes, and shown with their sums of gains."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum import XGBRegressor, worksheet
from arboretum.explain.worksheet.families.second_order.levels import levels_of, nodes_at, takers
from tests.boosting.xgboost.xgb_cases import mixed


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed(300)
    how = {"grow_policy": "symmetric", "max_depth": 5, "gamma": 0.3, "min_child_weight": 4}
    model = XGBRegressor(n_estimators=3, n_jobs=1, random_state=0, **how).fit(X, y)
    return model, worksheet(model, X, y)


def test_levels_split_rows_that_are_there(fitted):
    for tree in fitted[0].trees_:
        level = levels_of(tree)
        assert level[0] == 0
        for number in range(int(level.max())):
            nodes = nodes_at(tree, number)
            assert set(takers(tree, number)) <= set(nodes)
            assert tree.count[nodes].sum() == tree.count[0]
        inner = np.flatnonzero(~tree.is_leaf)
        assert all(level[tree.parent[node]] < level[node] for node in inner[1:])


def test_a_level_has_the_sum_of_the_gains_of_its_nodes(fitted):
    model, sheets = fitted
    tree = model.trees_[1]
    stays = 0
    for number in range(int(levels_of(tree).max())):
        some = takers(tree, number)
        sheet = sheets.node(1, some[0])
        assert sheet.facts["level"] == number
        assert sheet.value("gain of the level") == pytest.approx(tree.gain[some].sum(), rel=1e-3)
        shown = sheet.table("The cut of level")
        takes = [
            node
            for node, what in zip(shown.column("node"), shown.column("verdict"))
            if "takes" in what
        ]
        assert takes == some
        stays += len(shown.column("node")) - len(some)
        best = sheet.table("Best cut of every column for the level")
        assert best.column("verdict")[0] == "wins"
        assert best.column("sum of gains")[0] == max(best.column("sum of gains"))
    assert stays > 0


def test_a_leaf_sheet_has_the_reason_why_it_stayed_whole(fitted):
    model, sheets = fitted
    tree = model.trees_[0]
    level, end = levels_of(tree), int(levels_of(tree).max())
    for leaf in np.flatnonzero(tree.is_leaf).tolist():
        notes = " ".join(sheets.leaf(0, leaf).notes)
        if level[leaf] == 5:
            assert "max_depth=5 is reached" in notes
        elif level[leaf] < end:
            assert "may not split it, or would gain too little" in notes
