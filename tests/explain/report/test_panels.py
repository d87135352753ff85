"""What single panels show: unseen categories, digits, units, duplicates, ids, lists that scroll."""

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum import report
from arboretum.errors import DataError
from arboretum.explain.report.data_sheet import duplicates_of
from tests.explain.report.report_models import fitted, new_rows, table
from tests.explain.report.test_browser import Opened, browser, folder, pytestmark
from tests.explain.report.test_report import made, parts

__all__ = ["browser", "folder"]  # fixtures

RNG = np.random.default_rng(2)
N = 400
X = pd.DataFrame(
    {
        "minutes": RNG.normal(200, 50, N).round(1),
        "city": RNG.choice(["Bern", "Lima", "Oslo"], N),
        "longitude": RNG.uniform(-121.6, -121.2, N).round(4),
        "unused": np.zeros(N),
    }
)
X["charge"] = (X["minutes"] * 0.045).round(2)
X["country"] = X["city"].map({"Bern": "CH", "Lima": "PE", "Oslo": "NO"})
NUMBER = 12.5 + 0.002 * X["minutes"] + 0.1 * (X["city"] == "Lima") + RNG.normal(0, 0.02, N)
TWO = np.where(X["minutes"] + 40 * (X["city"] == "Lima") + RNG.normal(0, 20, N) > 220, "Yes", "No")


def strange_rows():
    """Return rows with a gap and two categories that the model has not seen."""
    new = X.drop(columns="unused").iloc[:60].copy()
    new.loc[[3, 4, 5], "city"] = ["Quito", "Quito", "Nuuk"]
    new.loc[6, "city"] = None
    return new


def unseen_page(**options):
    model = arb.LGBMClassifier(n_estimators=5, verbose=-1).fit(X.drop(columns="unused"), TWO)
    with pytest.warns(arb.UnseenCategoryWarning):
        return report(model, strange_rows(), TWO[:60], rows=60, **options)


# ---------------------------------------------------------------------- unseen categories
def test_unseen_categories_are_not_missing():
    payload, _ = parts(unseen_page())
    city = next(one for one in payload["columns"] if one["name"] == "city")
    assert city["missing"] == 1
    assert city["unseen"] == [3, 2, ["Quito", "Nuuk"]]
    f = payload["columns"].index(city)
    found = payload["rows"]["unseen"]
    assert [found[i].get(str(f)) for i in (3, 4, 5, 6)] == ["Quito", "Quito", "Nuuk", None]


@pytestmark
def test_the_page_calls_them_unseen(browser, folder):
    path = folder / "unseen.html"
    unseen_page().save(path)
    opened = Opened(browser, path)
    sheet = opened.page.inner_text("#data")
    assert "city: 2 unseen categories in 3 rows (Quito, Nuuk)" in sheet
    assert "5.0 %" in sheet  # unseen
    for row, text in ((5, "Nuuk (unseen)"), (6, "missing")):
        opened.page.select_option("#row select", str(row))
        values = opened.page.inner_text("#row table")
        assert f"city\t{text}" in values
    assert opened.problems == []
    opened.page.close()


def test_a_page_without_rows_names_no_unseen_category():
    model = arb.LGBMClassifier(n_estimators=5, verbose=-1).fit(X.drop(columns="unused"), TWO)
    with pytest.warns(arb.UnseenCategoryWarning):
        page = report(model, strange_rows(), TWO[:60], rows="none")
    assert "Quito" not in page.html
    assert "Nuuk" not in page.html


# ---------------------------------------------------------------------- columns
def test_columns_with_the_same_information_are_named():
    with pytest.warns(UserWarning, match="unused"):
        model = arb.CARTRegressor(max_depth=2).fit(X, NUMBER)
    payload, _ = parts(report(model, X, NUMBER))
    names = [[X.columns[f] for f in group] for group in payload["duplicates"]]
    assert names == [["minutes", "charge"], ["city", "country"]]


def test_columns_that_only_resemble_each_other_are_not_duplicates():
    a = RNG.normal(size=500)
    schema = arb.CARTRegressor().fit(np.column_stack([a, a, a, a]), RNG.normal(size=500)).schema_
    rows = np.column_stack([a, a + RNG.normal(0, 0.05, 500), -3 * a, a**3])
    assert duplicates_of(schema, rows) == [[0, 2, 3]]


@pytestmark
def test_unused_columns_are_folded_and_duplicates_stand_below(browser, folder):
    model = arb.LGBMRegressor(n_estimators=8, verbose=-1)
    with pytest.warns(UserWarning, match="unused"):
        model.fit(X, NUMBER)
    path = report(model, X, NUMBER, folder / "importances.html", target="log price").path
    opened = Opened(browser, path)
    opened.page.click("#importances button:text-is('Gain')")
    text = opened.page.inner_text("#importances")
    assert "not used" in text
    labels = opened.page.locator("#importances .bars .label").all_inner_texts()
    assert "unused" not in labels
    assert "minutes and charge" in text
    assert opened.problems == []
    opened.page.close()


# ---------------------------------------------------------------------- digits
@pytestmark
def test_digits_follow_the_spread(browser, folder):
    """A map of values between 12.5 and 13.3 tells its cells apart, and so do its headings."""
    model = arb.LGBMRegressor(n_estimators=40, verbose=-1).fit(X[["minutes", "longitude"]], NUMBER)
    path = report(model, X[["minutes", "longitude"]], NUMBER, folder / "digits.html").path
    opened = Opened(browser, path)
    cells = opened.page.locator("#pairs .cell").all_inner_texts()
    assert len(set(cells)) > 25  # not two
    sides = [opened.page.locator(f"#pairs .heat {one}").all_inner_texts() for one in ("th", "td.l")]
    for side in sides:
        assert len(set(side)) == len(side)
    assert opened.problems == []
    opened.page.close()


NUMBERS = [
    ("fmt(2113)", "2,113"),
    ("fmt(10598)", "10,598"),
    ("fmt(77963786492.43, 5)", "77,964,000,000"),
    ("fmt(1.21637e-10, 5)", "1.216 × 10⁻¹⁰"),
    ("fmt(-0.5)", "−0.5"),
    ("neat('77963786492.43 <= 1.21637e-10')", "77,963,800,000 ≤ 1.2164 × 10⁻¹⁰"),
    ("neat('4.47e-06² / 473.958')", "(4.47 × 10⁻⁶)² / 473.958"),
    ("neat('x1 <= 2.5 in 1509 rows')", "x1 ≤ 2.5 in 1509 rows"),
    ("formatOf([12.01, 12.19])(12.0512)", "12.051"),
    ("formatOf([180000, 250000])(181233.7)", "181,234"),
    ("axisFormat([12.05, 12.1, 12.15])(12.1)", "12.10"),
    ("valueOf({whole: true, range: [1990, 2024]}, 2011)", "2011"),
    ("valueOf({}, 1e-35)", "0"),
    ("compared({}, 0, 1e-35) + ' ' + compared({}, 1, 1e-35)", "≤ 0 > 0"),
    ("compared({}, 0, -1e-35) + ' ' + compared({}, 1, -1e-35)", "< 0 ≥ 0"),
    ("valueOf({words: ['a']}, null, 'b')", "b (unseen)"),
    ("valueOf({words: ['a']}, null)", "missing"),
]


@pytestmark
def test_one_rule_for_numbers(browser, folder):
    X_, y = new_rows("CART")
    opened = Opened(browser, report(fitted("CART"), X_, y, folder / "numbers.html").path)
    for code, text in NUMBERS:
        assert opened.page.evaluate(code) == text, code
    opened.page.close()


# ---------------------------------------------------------------------- units
@pytestmark
def test_a_waterfall_has_a_unit_and_probabilities(browser, folder):
    model = fitted("XGB")
    X_, y = new_rows("XGB")
    opened = Opened(browser, report(model, X_, y, folder / "waterfall.html", rows=12).path)
    payload = opened.page.evaluate("report.payload.rows")
    order = np.argsort(-np.array(payload["loss"]), kind="stable")[0]
    text = opened.page.inner_text("#row")
    assert "in log-odds" in text
    labels = " ".join(opened.page.locator("#row svg[role=img] text").all_text_contents())
    base = 1 / (1 + np.exp(-payload["shap_base"][0]))
    assert f"· {100 * base:.1f} %" in labels
    share = 100 * payload["predicted"][order][1]
    assert f"· {share:.1f} %" in labels
    assert f"is a probability of {share:.1f} %" in text
    opened.page.close()


@pytestmark
@pytest.mark.parametrize(("name", "weighted"), [("XGB", False), ("gradient", True)])
def test_a_weight_of_trees_is_named_only_where_there_is_one(browser, folder, name, weighted):
    X_, y = new_rows(name)
    opened = Opened(browser, report(fitted(name), X_, y, folder / f"{name} weight.html").path)
    legend = opened.page.inner_text("#trees .legend")
    assert ("before the weight of the tree" in legend) == weighted
    assert "tree 1 of" in opened.page.inner_text("#trees .controls")
    opened.page.close()


# ---------------------------------------------------------------------- learning curves, forests
@pytest.mark.parametrize("name", ["LGBM", "XGB numbers", "gradient", "AdaBoost"])
def test_training_rows_and_these_rows_share_a_chart(name):
    X_, *targets = table()
    y = targets[{"LGBM": 1, "gradient": 1, "XGB numbers": 2, "AdaBoost": 0}[name]]
    payload, _ = parts(made(name, train=(X_[:260], y[:260])))
    lines = payload["learning"]["lines"]
    units = {one["unit"] for one in lines}
    wanted = {"XGB numbers": {"RMSE"}, "AdaBoost": {"error"}}
    assert units == wanted.get(name, {"log loss", "error"})
    for unit in units:
        names = [one["name"] for one in lines if one["unit"] == unit]
        assert names == ["these rows", "training rows"]
    figures = {one["name"]: one["value"] for one in payload["figures"]}
    last = {one["unit"]: one["y"][-1] for one in lines if one["name"] == "these rows"}
    if "RMSE" in last:
        assert last["RMSE"] == pytest.approx(figures["RMSE"], rel=1e-4)
    else:
        assert last["error"] == pytest.approx(1 - figures["accuracy"], rel=1e-4)
    if "log loss" in last:
        assert last["log loss"] == pytest.approx(figures["log loss"], rel=1e-4)


@pytest.mark.parametrize("classes", [2, 3])
def test_losses_that_friedmans_boosting_keeps_are_log_losses(classes):
    y = TWO if classes == 2 else np.digitize(NUMBER, [12.8, 13.0])
    model = arb.GradientBoostingClassifier(n_estimators=4).fit(X[["minutes"]], y)
    lines = parts(report(model, X[["minutes"]], y))[0]["learning"]["lines"]
    kept, staged = (
        next(one["y"] for one in lines if (one["name"], one["unit"]) == (name, "log loss"))
        for name in ("training rows", "these rows")
    )
    assert kept == pytest.approx(staged, rel=1e-3)


def test_a_forest_is_compared_with_its_out_of_bag_predictions():
    forest = arb.RandomForestClassifier(30, oob_score=True, random_state=0)
    forest.fit(X[["minutes", "city"]][:300], TWO[:300])
    train = (X[["minutes", "city"]][:300], TWO[:300])
    payload, _ = parts(report(forest, X[["minutes", "city"]][300:], TWO[300:], train=train))
    found = {one["name"]: one["value"] for one in payload["train_figures"]}
    assert payload["overview"]["oob_figures"] == 300
    assert found["accuracy"] == pytest.approx(forest.oob_score_)
    assert found["accuracy"] < forest.score(*train)
    lonely, _ = parts(report(forest, X[["minutes", "city"]][300:], TWO[300:]))
    assert lonely["overview"]["oob_name"] == "accuracy"


def test_a_forest_without_bags_is_compared_with_its_training_rows():
    forest = arb.ExtraTreesRegressor(4, random_state=0).fit(X[["minutes"]], NUMBER)
    payload, _ = parts(report(forest, X[["minutes"]], NUMBER, train=(X[["minutes"]], NUMBER)))
    assert "oob_figures" not in payload["overview"]
    assert payload["train_figures"][0]["value"] == pytest.approx(payload["figures"][0]["value"])


def test_stumps_say_why_they_have_no_pairs():
    assert "no two of them have a joint effect" in parts(made("AdaBoost"))[0]["pairs"]["why"]
    assert parts(made("XGB"))[0]["pairs"]["why"] == ""


# ---------------------------------------------------------------------- names of rows
@pytest.mark.parametrize(
    ("index", "ids", "first"),
    [
        (None, None, None),
        (np.arange(1_000, 1_120), None, "row 1000"),
        ([f"c{i}" for i in range(120)], None, "row c0"),
        (pd.Index(range(120, 0, -1), name="client"), None, "client 120"),
        (None, np.arange(120) * 7, "0"),
    ],
)
def test_rows_have_names(index, ids, first):
    X_, y = new_rows("XGB numbers")
    frame = X_.reset_index(drop=True)
    if index is not None:
        frame.index = index
    payload, _ = parts(report(fitted("XGB numbers"), frame, y, ids=ids, rows=120))
    assert payload["rows"].get("name", [None])[0] == first
    assert payload["residuals"].get("name", [None])[0] == first


def test_a_column_of_ids_need_not_be_a_column_of_the_model():
    X_, y = new_rows("CART")
    named = X_.assign(customer=[f"{i:04d}-A" for i in range(len(X_))])
    whole, *targets = table()
    train = (whole[:260].assign(customer="?"), targets[0][:260])
    payload, _ = parts(report(fitted("CART"), named, y, ids="customer", rows=120, train=train))
    assert payload["rows"]["name"][:2] == ["customer 0000-A", "customer 0001-A"]
    assert "train_figures" in payload
    with pytest.raises(DataError, match="no column 'nobody'"):
        report(fitted("CART"), X_, y, ids="nobody")
    with pytest.raises(DataError, match="2 ids for 120 rows"):
        report(fitted("CART"), X_, y, ids=["a", "b"])


# ---------------------------------------------------------------------- lists that scroll
@pytestmark
def test_lists_that_scroll_say_so(browser, folder):
    wide = pd.DataFrame(RNG.normal(size=(120, 40)), columns=[f"column {i}" for i in range(40)])
    y = wide["column 3"] + RNG.normal(size=120)
    model = arb.CARTRegressor(max_depth=3).fit(wide, y)
    opened = Opened(browser, report(model, wide, y, folder / "tall.html").path)
    sign = opened.page.locator("#data .more")
    assert sign.inner_text() == "↓ 40 columns: scroll for more"
    assert sign.is_visible()
    assert opened.page.locator("#row .more").first.is_visible()
    opened.page.locator("#data .tall").evaluate("e => { e.scrollTop = e.scrollHeight; }")
    sign.wait_for(state="hidden", timeout=5_000)
    opened.page.close()


@pytestmark
def test_all_rules_are_in_sight(browser, folder):
    X_, y = new_rows("rules")
    opened = Opened(browser, report(fitted("rules"), X_, y, folder / "rules.html").path)
    rules = opened.page.locator("#rules")
    assert rules.locator(".tall").count() == 0
    assert rules.locator(".rule").last.inner_text().startswith("else")
    assert "<=" not in opened.page.inner_text("main")
    opened.page.close()


@pytestmark
def test_long_names_fit_a_telephone(browser, folder):
    long = {"minutes": "minutes_of_calls_in_the_evening", "city": "city_of_the_customer"}
    frame = X.drop(columns="unused").rename(columns=long)
    model = arb.LGBMClassifier(n_estimators=6, verbose=-1).fit(frame, TWO)
    opened = Opened(browser, report(model, frame, TWO, folder / "narrow.html").path, 400)
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400
    outside = opened.page.evaluate(
        "[...document.querySelectorAll('#row td, #row svg text, #pairs td, #importances span')]"
        ".filter(e => e.getBoundingClientRect().right > e.closest('section')"
        ".getBoundingClientRect().right).map(e => e.textContent)"
    )
    assert outside == []
    opened.page.close()
