"""The page in a real browser: it draws itself, asks for nothing, and its numbers are those of `predict`.

One browser serves all tests; a page is opened once for every family and looked at in several ways.
"""

import shutil
import warnings

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum import report
from arboretum.explain.dependence.model_function import ModelFunction
from arboretum.explain.report.inputs import one_target
from arboretum.explain.report.page import fixed_size
from tests.explain.report.report_models import FAMILIES, fitted, new_rows, random_rows, table

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None
)
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
WAIT = 20_000  # milliseconds
A4 = 718  # pixels between margins of a centimetre

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS, timeout=60_000)
        yield found
        found.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


class Opened:
    """A page and everything it complained of or asked for."""

    def __init__(self, browser, path, width=1400, look="light"):
        self.page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=look)
        self.problems: list[str] = []
        self.page.on("console", lambda m: self.problems.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.problems.append(f"error: {e}"))
        self.page.on("request", self._asked)
        self.page.goto(path.as_uri())
        # selectors, because the page allows no text to be run as code
        self.page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
        self.page.wait_for_selector(".chart:not(:has(*))", state="detached", timeout=WAIT)

    def _asked(self, request):
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.problems.append(f"asked for {request.url}")


def made(folder, name, **options):
    X, y = new_rows(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return report(
            fitted(name), X, y, folder / f"{abs(hash((name, str(options))))}.html", **options
        ).path


@pytest.mark.parametrize("name", FAMILIES)
def test_every_panel_is_drawn_and_what_if_is_predict(browser, folder, name):
    opened = Opened(browser, made(folder, name, rows=12))
    page, model = opened.page, fitted(name)
    drawn = page.evaluate(
        "[...document.querySelectorAll('section')].map(s => [s.id, s.children.length, s.innerText])"
    )
    ids = [one[0] for one in drawn]
    wanted = {"overview", "data", "importances", "dependence", "row", "whatif"}
    wanted |= {"confusion", "curves"} if hasattr(model, "classes_") else {"residuals"}
    assert wanted <= set(ids)
    assert ("rules" in ids) == (name == "rules")
    assert ("trees" in ids) == (name != "rules")
    for number, children, text in drawn:
        assert children >= 3, number
        for word in ("NaN", "undefined", "[object"):
            assert word not in text, f"{word} in panel {number}"
    rows = random_rows(model, 200)
    told = np.array(page.evaluate("rows => rows.map(report.predict)", _plain(rows)))
    assert np.abs(told - ModelFunction(model)(rows)).max() < 1e-12
    assert opened.problems == []
    page.close()


def _plain(rows):
    return [[None if v != v else v for v in row] for row in rows.tolist()]


@pytest.mark.parametrize("look", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", ["forest", "XGB", "AdaBoost"])
def test_the_page_fits_its_width(browser, folder, name, width, look):
    opened = Opened(browser, made(folder, name, rows=12), width, look)
    wide = opened.page.evaluate(
        "[document.documentElement.scrollWidth, ...[...document.querySelectorAll('section')]"
        ".map(s => s.getBoundingClientRect().right)]"
    )
    assert max(wide) <= width
    opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    cut = opened.page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)"
        ".map(s => s.closest('section').id)"
    )
    assert cut == []  # nothing is read by moving sideways
    paper = opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(","))) < 200) == (look == "dark")
    assert opened.problems == []
    opened.page.close()


def test_nothing_is_cut_off_on_paper(browser, folder):
    rng = np.random.default_rng(0)
    words = np.array(["married, spouse elsewhere", "never married", "separated, not divorced"])
    X = pd.DataFrame(
        rng.lognormal(8, 2, (300, 6)).round(2), columns=[f"income of {c}" for c in "abcdef"]
    )
    X["state of the marriage"] = words[rng.integers(0, 3, 300)]
    X["trade"] = words[rng.integers(0, 3, 300)]
    y = X["income of a"] * (X["trade"] == words[0]) + X["income of b"]
    for model in (arb.LGBMRegressor(n_estimators=8), arb.GradientBoostingRegressor(n_estimators=8)):
        opened = Opened(browser, report(model.fit(X, y), X, y, folder / "paper.html").path, A4)
        opened.page.emulate_media(media="print")
        opened.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        outside = opened.page.evaluate(
            "[...document.querySelectorAll('main table, main svg, main .bars')]"
            f".filter(e => !e.closest('.canvas') && e.getBoundingClientRect().right > {A4} + 1)"
            ".map(e => [e.closest('section').id, e.getBoundingClientRect().right, e.innerText])"
        )
        assert outside == []
        opened.page.close()


def test_a_node_opens_its_worksheet_and_keys_walk_the_tree(browser, folder):
    X, y, *_ = table()
    X, y = X[:260], y[:260]
    model = fitted("CART")
    path = report(model, X, y, folder / "worksheet.html").path
    opened = Opened(browser, path)
    page = opened.page
    page.click(".node[data-node='0']")
    text = page.inner_text("#trees .worksheet")
    assert "Worksheet" in text
    assert "Best split of every column" in text
    gain = float(model.tree_.gain[0])
    assert f"{gain:.4g}"[:5] in text
    page.keyboard.press("ArrowDown")
    first = page.evaluate("document.activeElement.dataset.node")
    assert int(first) == model.tree_.first_child[0]
    page.keyboard.press("ArrowRight")
    assert int(page.evaluate("document.activeElement.dataset.node")) == int(first) + 1
    before = page.locator(".node").count()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")  # closes the root
    assert page.locator(".node").count() == 1 < before
    assert opened.problems == []
    page.close()


# Every kind of tree a page can show: single, many, weighted, boosted, of members.
CLICKED = [
    "CART",
    "C4.5",
    "forest",
    "extra trees",
    "AdaBoost",
    "gradient",
    "XGB",
    "LGBM",
    "stacking",
]


@pytest.mark.parametrize("name", CLICKED)
def test_every_node_that_can_be_clicked_answers(browser, folder, name):
    """All nodes of all trees have a formula with numbers; splits have their candidates, the winner first."""
    X, *targets = table()
    model, y = fitted(name), targets[FAMILIES[name][1] - 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = report(
            model, X[260:], y[260:], folder / f"clicked {name}.html", train=(X[:260], y[:260])
        ).path
    opened = Opened(browser, path)
    found = opened.page.evaluate(
        """() => { const M = report.model, P = report.payload, S = M.sheets, out = [];
        M.trees.forEach((tree, t) => { Walk.open(tree); for (let n = 0; n < tree.k.length; n++) {
          const leaf = Walk.isLeaf(tree, n), sheet = S.nodes[`${t}:${n}`] || Outline.sheet(P, M, t, n);
          const tables = sheet ? sheet.tables.filter(x => x.rows.length) : [];
          const said = sheet ? sheet.formulas.filter(f => f.value !== null).length : 0;
          out.push([leaf, said, leaf ? 1 : tables.length ? tables[0].rows.length : 0]);
        } }); return out; }"""
    )
    assert len(found) > 2
    formulas = [n for leaf, n, _ in found]
    assert min(formulas) > 0
    assert all(candidates > 0 for _, _, candidates in found)
    opened.page.evaluate("report.trees.open(report.model.trees.length - 1)")
    opened.page.click("#trees .node[data-node='0']")
    text = opened.page.inner_text("#trees .worksheet")
    assert "wins" in text or "chosen" in text
    assert "<=" not in text
    for word in ("NaN", "undefined", "[object"):
        assert word not in text
    assert opened.problems == []
    opened.page.close()


def test_the_page_writes_the_worksheets_own_numbers(browser, folder):
    """What JavaScript writes for a node is what the worksheet says: candidates, gain, a leaf's value."""
    import arboretum

    X, *targets = table()
    X, y = X[:260], targets[FAMILIES["XGB"][1] - 1][:260]
    model = fitted("XGB")
    book = arboretum.worksheet(model, X, y)
    opened = Opened(browser, report(model, X, y, folder / "numbers.html").path)
    for t, tree in enumerate(model.trees_[:4]):
        sheets = opened.page.evaluate(
            "([t, n]) => Array.from({length: n}, (_, k) => "
            "Outline.sheet(report.payload, report.model, t, k))",
            [t, len(tree)],
        )
        for node, sheet in enumerate(sheets):
            formulas = {one["name"]: one["value"] for one in sheet["formulas"]}
            if tree.is_leaf[node]:
                np.testing.assert_allclose(formulas["value"], tree.value[node, 0, 0], rtol=1e-5)
                continue
            whole = book.node(t, node)
            np.testing.assert_allclose(formulas["gain"], whole.value("gain"), rtol=1e-4)
            wanted = whole.table("Best split")
            gains = [row[-2] for row in sheet["tables"][0]["rows"]]
            np.testing.assert_allclose(
                gains, wanted.column("gain")[: len(gains)], rtol=1e-4, atol=1e-4
            )
    assert opened.problems == []
    opened.page.close()


@pytest.mark.parametrize("name", ["XGB", "gradient", "AdaBoost", "coordinate"])
def test_the_slider_goes_over_all_rounds(browser, folder, name):
    X, *targets = table()
    y = targets[FAMILIES[name][1] - 1]
    path = report(
        fitted(name), X[260:], y[260:], folder / f"rounds {name}.html", train=(X[:260], y[:260])
    ).path
    opened = Opened(browser, path)
    count = opened.page.evaluate("report.model.sheets.rounds.count")
    lines = opened.page.evaluate("report.model.sheets.rounds.lines.map(l => l[1].length)")
    assert lines
    assert set(lines) == {count}
    slider = opened.page.locator("#rounds input[type=range]")
    for m in range(count):
        slider.evaluate("(s, m) => { s.value = m; s.dispatchEvent(new Event('input')); }", m + 1)
        text = opened.page.inner_text("#rounds")
        assert f"Round {m + 1} of {count}" in text
        for word in ("NaN", "undefined", "[object"):
            assert word not in text
    assert opened.problems == []
    opened.page.close()


def test_a_menu_changes_the_target(browser, folder):
    import arboretum as arb

    X, *_ = table()
    Y = np.column_stack([X["age"], X["owns"] * 2.0])
    model = arb.CARTRegressor(max_depth=3).fit(X[:260], Y[:260])
    opened = Opened(browser, report(model, X[260:], Y[260:], folder / "targets.html", rows=12).path)
    rows = random_rows(model, 20)
    for k in (0, 1):
        opened.page.select_option("#targets select", str(k))
        told = np.array(opened.page.evaluate("rows => rows.map(report.predict)", _plain(rows)))
        assert np.abs(told[:, 0] - ModelFunction(one_target(model, k))(rows)[:, 0]).max() < 1e-12
        assert f"target {k + 1} of 2" in opened.page.inner_text("#lead")
    assert opened.page.locator("section").count() == opened.page.locator("nav a").count()
    assert opened.problems == []
    opened.page.close()


def test_what_if_follows_its_fields(browser, folder):
    opened = Opened(browser, made(folder, "XGB", rows=12))
    page, model = opened.page, fitted("XGB")

    def told():
        found = page.evaluate("[report.payload.whatIf.row, report.payload.whatIf.answer]")
        row = np.array([[np.nan if v is None else v for v in found[0]]])
        assert np.abs(ModelFunction(model)(row)[0] - found[1]).max() < 1e-12
        return row[0]

    page.fill("#whatif input[type=number][aria-label='age']", "71.5")
    assert told()[0] == 71.5
    page.select_option("#whatif select[aria-label='city']", label="Lima")
    assert told()[3] == 1
    page.check("#whatif input[aria-label='age missing']")
    assert np.isnan(told()[0])
    assert "yes" in page.inner_text("#whatif .answer")
    page.click("#whatif button")  # back to the start
    assert not np.isnan(told()[0])
    assert opened.problems == []
    page.close()


def test_names_that_are_html_stay_names(browser, folder):
    rng = np.random.RandomState(0)
    evil = "<script>window.hit=1</script>"
    import pandas as pd

    X = pd.DataFrame(
        {
            evil: rng.normal(size=80),
            "</script><img src=x onerror=hit=2>": rng.choice(["<i>", "&amp;"], 80),
        }
    )
    y = np.where(X[evil] > 0, "<b>up</b>", "</script><script>window.hit=3</script>")
    from arboretum import CARTClassifier

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column tells all
        model = CARTClassifier(max_depth=2).fit(X, y)
    opened = Opened(
        browser, report(model, X, y, folder / "evil.html", title=evil, target=evil).path
    )
    page = opened.page
    assert page.evaluate("window.hit === undefined")
    assert (
        page.evaluate(
            "document.querySelectorAll('main script, main img, main i:not(.legend i)').length"
        )
        == 0
    )
    assert evil in page.inner_text("h1")
    assert "<b>up</b>" in page.inner_text("#confusion")
    assert opened.problems == []
    page.close()


def test_a_notebook_shows_the_page_inside_a_frame(browser, folder):
    X, y = new_rows("CART numbers")
    shown = report(fitted("CART numbers"), X, y, rows=5)._repr_html_()
    path = folder / "notebook.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><body>{shown}</body>", "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("html[data-ready=yes]").wait_for(timeout=WAIT, state="attached")
    assert "Regression" in frame.locator("#lead").inner_text()
    page.close()


def test_the_printed_page_is_light_and_has_no_buttons(browser, folder):
    opened = Opened(browser, made(folder, "forest", rows=12), look="dark")
    opened.page.emulate_media(media="print")
    assert (
        opened.page.evaluate("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    assert not opened.page.is_visible("nav")
    opened.page.close()


def _odd(kind):
    """Return a model and a table as one rarely sees them."""
    import pandas as pd

    import arboretum as arb

    rng = np.random.RandomState(1)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    if kind == "dates and a column without values":
        X = X.assign(d=pd.date_range("2020-01-01", periods=90), e=np.nan)
        return arb.LGBMRegressor(n_estimators=3, verbose=-1), X, X["a"].to_numpy()
    if kind == "one class":
        return arb.CARTClassifier(), X, np.zeros(90, int)
    if kind == "a single leaf":
        return arb.CARTRegressor(), X, np.ones(90)
    return arb.RandomForestClassifier(3, random_state=0), X, np.arange(90) % 30


@pytest.mark.parametrize(
    "kind", ["dates and a column without values", "one class", "a single leaf", "thirty classes"]
)
def test_odd_models_have_a_page(browser, folder, kind):
    model, X, y = _odd(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = report(model.fit(X, y), X, y, folder / f"{kind}.html").path
    opened = Opened(browser, path, 400)
    assert "NaN" not in opened.page.inner_text("main")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert opened.problems == []
    opened.page.close()


@pytest.mark.parametrize("walked", [True, False])
def test_a_page_without_room_for_all_trees_is_whole(browser, folder, monkeypatch, walked):
    """Trees without figures are walked, not offered; a forest that is not walked shows its first trees."""
    for name, value in (("PAGE_BYTES", fixed_size() + 250_000), ("_LEAST_ROOM", 10_000)):
        monkeypatch.setattr(f"arboretum.explain.report.panels.{name}", value)
    X, _, _, y = table()
    model = arb.RandomForestRegressor(50 if walked else 200, random_state=0).fit(X, y)
    made = report(model, X, y, folder / f"cut {walked}.html")
    opened = Opened(browser, made.path)
    page = opened.page
    shown = page.evaluate("report.model.trees.filter(tree => tree.d).length")
    assert page.evaluate("report.model.trees.length") == (50 if walked else shown)
    assert 0 < shown < 50
    last = int(page.locator("#trees input[type=range]").first.get_attribute("max"))
    assert last in (shown - 1, shown)
    assert f"The page shows {shown} of" in page.inner_text("#trees")
    assert f"The page shows {shown} of" in page.inner_text("#left-out")
    if walked:
        rows = random_rows(model, 20)
        told = np.array(page.evaluate("rows => rows.map(report.predict)", _plain(rows)))
        assert np.abs(told - ModelFunction(model)(rows)).max() < 1e-12
        page.locator('#row a[href="#trees"]').nth(shown + 1).click()  # has no figures
    assert opened.problems == []
    page.close()
