"""One budget for the whole page: bytes are kept, work is counted, and what is left out is said."""

import json
import re

import numpy as np
import pytest

import arboretum as arb
from arboretum.explain.report import panels
from arboretum.explain.report.budget import Budget
from arboretum.explain.report.page import fixed_size
from arboretum.explain.report.report import report
from tests.explain.report.report_models import table

_BYTES = fixed_size() + 206_000


@pytest.fixture
def small_page(monkeypatch):
    monkeypatch.setattr(panels, "PAGE_BYTES", _BYTES)
    monkeypatch.setattr(panels, "_LEAST_ROOM", 10_000)
    monkeypatch.setattr(panels, "_RESERVED", 5_000)


def _trees(model):
    return list(model._anatomy().all_trees())


def _forest(n_trees):
    X, _, _, y = table()
    return arb.RandomForestRegressor(n_trees, random_state=0).fit(X, y), X, y


def _payload(page):
    return json.loads(
        re.search(r'<script id="payload"[^>]*>(.*?)</script>', page.html, re.S).group(1)
    )


def test_a_page_keeps_to_its_bytes_and_says_what_is_left_out(small_page):
    model, X, y = _forest(50)
    page = report(model, X, y)
    assert fixed_size() < len(page.html.encode()) <= _BYTES
    payload = _payload(page)
    cut = payload["trees"]["cut"]
    shown, total = map(int, re.match(r"The page shows (\d+) of (\d+) trees\.", cut).groups())
    assert 0 < shown < total == 50
    assert cut in payload["left_out"]
    assert any("trees have tables of candidate splits" in line for line in payload["left_out"])
    assert f"<li>{cut}</li>" in page.html


def test_a_forest_that_is_too_large_is_not_walked(small_page):
    model, X, y = _forest(150)
    page = report(model, X, y)
    assert len(page.html.encode()) <= _BYTES
    payload = _payload(page)
    assert not payload["trees"]["walkable"]
    assert any(line.startswith("There is no What if") for line in payload["left_out"])
    assert 0 < len(payload["trees"]["titles"]) < 150


def test_nothing_is_left_out_of_a_small_model():
    model, X, y = _forest(5)
    page = report(model, X, y)
    assert _payload(page)["left_out"] == []
    assert "left-out" not in page.html


def test_the_same_model_has_the_same_page(small_page):
    pages = []
    for _ in range(2):
        model, X, y = _forest(50)
        payload = _payload(report(model, X, y))
        payload.pop("seconds")
        payload["overview"].pop("fit_seconds", None)
        pages.append({k: v for k, v in payload.items() if k != "overview"})
    assert pages[0] == pages[1]


def test_rows_are_fewer_where_a_model_is_large():
    """Half of the work that is left, never fewer than fifty rows, and all where it is nearly all."""
    budget = Budget(_trees(_forest(5)[0]))
    assert budget.shap_row > 0
    assert budget.walk_row > 0
    before = budget.work
    assert budget.rows("curves", 1_000, before / 4_000) == 1_000
    assert budget.work == pytest.approx(0.75 * before)
    assert budget.rows("curves", 1_000, before / 1_000) == 375
    assert budget.rows("maps", 1_000, before) == 50
    assert budget.work == 0
    assert budget.left_out == [
        "The curves are computed from 375 rows instead of 1,000.",
        "The maps are computed from 50 rows instead of 1,000.",
    ]
    assert (
        Budget(_trees(_forest(5)[0])).rows("curves", 1_000, before / 1_800) == 1_000
    )  # 900 are nearly all


def test_the_work_counts_leaves_classes_and_members():
    X, y = table()[:2]
    one = arb.RandomForestClassifier(4, random_state=0).fit(X, y)
    two = arb.RandomForestClassifier(8, random_state=0).fit(X, y)
    assert Budget(_trees(two)).shap_row > 1.5 * Budget(_trees(one)).shap_row
    assert Budget(_trees(two)).walk_row > 1.5 * Budget(_trees(one)).walk_row
    vote = arb.VotingClassifier([("a", one), ("b", two)], voting="soft").fit(X, y)
    np.testing.assert_allclose(
        Budget(_trees(vote)).walk_row,
        Budget(_trees(one)).walk_row + Budget(_trees(two)).walk_row,
        rtol=0.2,
    )
    assert Budget([]).rows("curves", 7, 0.0) == 7
