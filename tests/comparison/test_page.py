"""The page of a comparison in a browser: it draws itself, asks for nothing, and can be sorted."""

import shutil

import pytest

from arboretum.comparison.page import _payload
from tests.comparison.comparison_tables import of_classes, of_numbers

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None
)
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


def test_a_page_is_one_file_with_its_data():
    made = of_classes().report(title="<b>Paid?</b>")
    assert made.html.startswith("<!doctype html>")
    assert "&lt;b&gt;Paid?" in made.html
    assert "<b>Paid?" not in made.html
    assert "http://" not in made.html.replace("http://www.w3.org", "")
    assert len(made.html) < 300_000
    assert made.path is None


def test_the_small_tree_has_worksheets_of_all_its_splits():
    result = of_classes()
    payload = _payload(result, 0)
    tree = result.fitted("tree of 8 leaves").tree_
    assert len(payload["sheets"]) == tree.n_leaves - 1
    assert payload["sheets"][0]["facts"]["rows"] == 160
    assert payload["hard"]["rows"] == []


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("no chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"], timeout=60_000
        )
        yield found
        found.close()


@pytest.mark.parametrize(("width", "look"), [(400, "dark"), (1400, "light")])
@pytest.mark.parametrize("make", [of_classes, of_numbers])
def test_every_panel_is_drawn_at_any_width(browser, tmp_path, make, width, look):
    path, problems = make().report(tmp_path / "page.html").path, []
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=look)
    page.on("console", lambda m: problems.append(m.text))
    page.on("pageerror", lambda e: problems.append(str(e)))
    page.on("request", lambda r: r.url.startswith("file:") or problems.append(r.url))
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=20_000)
    page.wait_for_selector(".chart:not(:has(*))", state="detached", timeout=20_000)
    texts = page.evaluate("[...document.querySelectorAll('section')].map(s => s.innerText)")
    for text in texts:
        assert len(text) > 60
        for word in ("NaN", "undefined", "[object"):
            assert word not in text
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    cut = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1)"
    assert page.evaluate(f"{cut}.map(s => s.closest('section').id)") == []
    assert problems == []
    page.close()


def test_the_table_is_sorted_by_the_chosen_figure(browser, tmp_path):
    result = of_classes()
    page = browser.new_page()
    page.goto(result.report(tmp_path / "page.html").path.as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=20_000)
    first = "document.querySelector('#models tbody td').firstChild.textContent"
    assert page.evaluate(first) == result.ranked[0].name
    page.click("#models .sort:has-text('leaves')")
    sizes = {one.name: result.estimate(one.name, "size").value for one in result.ranked}
    known = {name: size for name, size in sizes.items() if size == size}
    assert page.evaluate(first) == min(known, key=known.get)
    page.close()
