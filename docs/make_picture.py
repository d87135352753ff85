"""Make the pictures in the README: docs/compare.png, in light and dark, and docs/report.png.

    python docs/make_picture.py

It needs Chromium and the test extra (Playwright). The comparison is of the demo's table; the report shows
the worksheet of a node of the model in the README's example.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pandas as pd
from playwright.sync_api import Locator, Page, sync_playwright
from sklearn.model_selection import train_test_split

from arboretum import XGBClassifier, compare
from arboretum.cli import census, seedlings

FOLDER = Path(__file__).parent
REPORT = FOLDER / "report.png"
COMPARISONS: dict[Literal["light", "dark"], Path] = {
    "light": FOLDER / "compare.png",
    "dark": FOLDER / "compare-dark.png",
}
WIDTH, HEIGHT = 1300, 1500


def write_comparison(path: Path) -> None:
    """Compare all models on the table of the demo; write the page."""
    table = pd.read_csv(census.PATH)
    y = table.pop(census.TARGET)
    compare(table, y).report(path, title="Who earns more than 50,000 dollars?")


def write_report(path: Path) -> None:
    """Fit the model and write its report."""
    table = pd.read_csv(seedlings.PATH, parse_dates=["planted"])
    X, y = table.drop(columns="fate"), table["fate"] == "dies"
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = XGBClassifier(n_estimators=20, max_depth=2).fit(X_train, y_train)
    model.report(X_test, y_test, path, train=(X_train, y_train), title="Will it die?")


@contextmanager
def opened(page_path: Path, look: Literal["light", "dark"] = "light") -> Iterator[Page]:
    """Open a page in a browser."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("no chromium: install it (Debian: apt-get install chromium)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=look)
        page.goto(page_path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.wait_for_selector(".chart:not(:has(*))", state="detached")
        yield page
        browser.close()


def save(page: Page, last: Locator, path: Path) -> None:
    """Save the page from its top to the end of an element."""
    page.mouse.move(1, 1)  # no tooltip
    page.wait_for_timeout(300)
    box = last.bounding_box()
    bottom = HEIGHT if box is None else box["y"] + box["height"] + 12
    page.screenshot(path=path, clip={"x": 0, "y": 0, "width": WIDTH, "height": bottom})
    print(f"{path}: {path.stat().st_size // 1000} kB")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        comparison, report = Path(folder) / "compare.html", Path(folder) / "model.html"
        write_comparison(comparison)
        for look, path in COMPARISONS.items():
            with opened(comparison, look) as page:
                save(page, page.locator("#cost"), path)
        write_report(report)
        with opened(report) as page:
            page.click("#trees .node[data-node='0']")
            page.evaluate("document.querySelector('#trees').scrollIntoView()")
            save(page, page.locator("#trees .worksheet table").first, REPORT)


if __name__ == "__main__":
    main()
