"""The threshold panel counts exactly: what the slider shows is what `predict_proba` gives."""

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum import report
from arboretum.explain.report.judged import Judged
from tests.explain.report.report_models import FAMILIES, fitted, new_rows
from tests.explain.report.test_browser import Opened, browser, folder, pytestmark
from tests.explain.report.test_report import made, parts

__all__ = ["browser", "folder"]  # fixtures

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(2_400, 5)).round(2), columns=list("abcde"))
Y = np.where(X["a"] + RNG.normal(size=2_400) > 0.4, "leaves", "stays")
MODELS = {
    "LGBM": arb.LGBMClassifier(n_estimators=40, verbose=-1),
    "forest": arb.RandomForestClassifier(
        4, min_samples_leaf=20, random_state=0
    ),  # many ties at 0.5
    "CART": arb.CARTClassifier(max_depth=6),
}
PLACES = [0.0, 0.03, 0.11, 0.29, 0.3, 0.5, 0.58, 0.77, 0.97, 1.0]


def shown(page, table=".thresholds .heat"):
    """Return the counts of a table of the page."""
    cells = page.locator(f"#confusion {table}").first.locator(".cell").all_inner_texts()
    return [int(text.split(" · ")[0].replace(",", "")) for text in cells]


def counted(actual, predicted_second):
    """Return [[no predicted no, no predicted yes], [yes predicted no, yes predicted yes]], flat."""
    second = actual == "stays"
    return [
        int(np.sum(who & guess))
        for who in (~second, second)
        for guess in (~predicted_second, predicted_second)
    ]


@pytestmark
@pytest.mark.parametrize("name", MODELS)
def test_the_slider_shows_the_counts_of_predict_proba(browser, folder, name):
    model = MODELS[name].fit(X[:1_200], Y[:1_200])
    test, actual = X[1_200:], Y[1_200:]
    opened = Opened(browser, report(model, test, actual, folder / f"{name}.html").path)
    page, probability = opened.page, model.predict_proba(test)[:, 1]
    slider = page.locator("#confusion .thresholds input[type=range]")
    for place in PLACES:
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", place)
        assert shown(page) == counted(actual, probability > place), place
        if place == 0.5:  # both tables of the page, and `predict`
            assert shown(page) == shown(page, ".heat")
            assert shown(page) == counted(actual, model.predict(test) == "stays")
    assert opened.problems == []
    for cost in ((1, 1), (1, 5), (7, 2)):
        numbers = page.locator("#confusion .thresholds input[type=number]")
        numbers.nth(0).fill(str(cost[0]))
        numbers.nth(1).fill(str(cost[1]))
        page.click("#confusion .thresholds button")
        table = shown(page)
        prices = []
        for i in range(101):
            _, alarms, misses, _ = counted(actual, probability > i / 100)
            prices.append(cost[0] * alarms + cost[1] * misses)
        assert cost[0] * table[1] + cost[1] * table[2] == min(prices)
    page.close()


@pytest.mark.parametrize("name", [name for name, (_, kind) in FAMILIES.items() if kind == 1])
def test_two_tables_of_one_page_agree(name):
    """At 0.5 the panel counts what the confusion matrix counts, and both what `predict` gives."""
    payload, _ = parts(made(name))
    above, confusion = payload["thresholds"], payload["confusion"]
    test, actual = new_rows(name)
    predicted = np.asarray(fitted(name).predict(test))
    assert [[rows[-1] - rows[50], rows[50]] for rows in above] == confusion
    assert confusion == [
        [int(np.sum((actual == a) & (predicted == b))) for b in ("no", "yes")]
        for a in ("no", "yes")
    ]
    assert all(len(rows) == 102 for rows in above)
    assert all(isinstance(count, int) for rows in above for count in rows)


def test_other_labels_have_a_line_of_their_own():
    answers = np.array([[0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    judged = Judged(np.array([0, -1, 1]), answers, ["a", "b"])
    above = judged.thresholds()
    assert [rows[50] for rows in above] == [0, 1, 1]
    assert [rows[-1] for rows in above] == [1, 1, 1]
    assert judged.confusion() == [[1, 0], [0, 1], [0, 1]]


def test_probabilities_that_do_not_add_up_to_one_are_counted_as_predict_does():
    answers = np.array([[0.49999999999999994, 0.5], [0.5, 0.5], [0.5, 0.49999999999999994]])
    judged = Judged(np.array([1, 1, 1]), answers, ["a", "b"])
    assert judged.thresholds()[1][50] == 1 == judged.confusion()[1][1]
