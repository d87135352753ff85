"""Pages of rankers: judged by the order inside groups."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import ndcg_score

import arboretum as arb
from arboretum import report
from arboretum.errors import DataError
from arboretum.explain.report.inputs import whole_groups
from arboretum.explain.report.ranked import Ranked
from tests.explain.report.test_browser import Opened, browser, folder, pytestmark

__all__ = ["browser", "folder", "pytestmark"]  # fixtures, and where there is no browser

RNG = np.random.default_rng(4)
X = pd.DataFrame(RNG.normal(size=(240, 3)).round(2), columns=list("abc"))
X["kind"] = RNG.choice(["inn", "hotel"], 240)
GRADE = np.digitize(X["a"] + (X["kind"] == "inn") + RNG.normal(size=240), [0, 1, 2])
SIZES = np.full(24, 10)


def test_figures_are_scikit_learns():
    told = RNG.normal(size=240)
    judged = Ranked(GRADE.astype(float), told[:, None], SIZES)
    found = {one["name"]: one for one in judged.figures()}
    gains = np.exp2(GRADE.reshape(24, 10)) - 1
    known = gains.max(axis=1) > 0
    told = told.reshape(24, 10)
    assert found["NDCG"]["value"] == pytest.approx(ndcg_score(gains[known], told[known]))
    pairs = [
        (told[g, i] > told[g, j]) for g in range(24) for i in range(10) for j in range(10)
        if gains[g, i] > gains[g, j]
    ]  # fmt: skip
    assert found["pairs in order"]["value"] == pytest.approx(np.mean(pairs), abs=0.03)
    assert all(one["low"] < one["value"] < one["high"] for one in found.values())


def test_perfect_order_and_rows_off_their_place():
    judged = Ranked(
        np.array([2.0, 1.0, 0.0, 0.0, 5.0]), np.array([[9.0], [5], [1], [8], [3]]), [3, 2]
    )
    assert judged.figures()[0]["value"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert judged.losses().tolist() == [0, 0, 0, 1, 1]


def test_some_groups_are_whole_groups():
    sizes = RNG.integers(1, 9, 40)
    rows, kept = whole_groups(sizes, 50, seed=1)
    assert len(rows) == kept.sum() <= 50
    group = np.repeat(np.arange(40), sizes)
    assert all((group[rows] == g).sum() == sizes[g] for g in np.unique(group[rows]))


@pytest.mark.parametrize("kind", [arb.XGBRanker, arb.LGBMRanker])
def test_the_page_of_a_ranker(browser, folder, kind):
    model = kind(n_estimators=5).fit(X, GRADE, group=SIZES)
    page = report(model, X, GRADE, folder / "ranker.html", group=SIZES)
    opened = Opened(browser, page.path)
    ids = opened.page.evaluate("[...document.querySelectorAll('section')].map(s => s.id)")
    assert "residuals" not in ids
    assert "NDCG@10" in opened.page.inner_text("#overview")
    assert "Best split of every column" in opened.page.inner_text("#trees")
    assert opened.problems == []
    opened.page.close()


def test_a_page_of_weighted_rows_has_worksheets(tmp_path):
    weight = RNG.random(240)
    model = arb.CARTClassifier(max_depth=2).fit(X, GRADE, sample_weight=weight)
    with_them = report(model, X, GRADE, sample_weight=weight, rows="none")
    assert len(with_them.html) > len(report(model, X, GRADE, rows="none").html) + 1_000


def test_groups_are_asked_for():
    ranker = arb.XGBRanker(n_estimators=2).fit(X, GRADE, group=SIZES)
    with pytest.raises(DataError, match="give group="):
        report(ranker, X, GRADE)
    with pytest.raises(DataError, match="add up to 240"):
        report(ranker, X, GRADE, group=[3, 4])
    with pytest.raises(DataError, match="does not rank"):
        report(arb.CARTClassifier(max_depth=1).fit(X, GRADE), X, GRADE, group=SIZES)
