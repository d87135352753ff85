"""Make docs/report.png, the picture in the README: a report with the worksheet of a node open.

    python docs/make_picture.py

It needs Chromium and the test extra (Playwright). The model is the one in the README's example.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pandas as pd
from playwright.sync_api import sync_playwright
from sklearn.model_selection import train_test_split

from arboretum import XGBClassifier
from arboretum.cli import seedlings

PICTURE = Path(__file__).with_name("report.png")
WIDTH, HEIGHT = 1300, 1500


def write_report(path: Path) -> None:
    """Fit the model and write its report."""
    table = pd.read_csv(seedlings.PATH, parse_dates=["planted"])
    X, y = table.drop(columns="fate"), table["fate"] == "dies"
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = XGBClassifier(n_estimators=20, max_depth=2).fit(X_train, y_train)
    model.report(X_test, y_test, path, train=(X_train, y_train), title="Will it die?")


def take_picture(page_path: Path) -> None:
    """Click the root of the first tree; save its panel down to the splits of all columns."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise SystemExit("no chromium: install it (Debian: apt-get install chromium)")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
        page.goto(page_path.as_uri())
        page.wait_for_selector("html[data-ready]", state="attached")
        page.click("#trees .node[data-node='0']")
        page.evaluate("document.querySelector('#trees').scrollIntoView()")
        page.mouse.move(1, 1)  # no tooltip
        page.wait_for_timeout(300)
        table = page.locator("#trees .worksheet table").first.bounding_box()
        bottom = HEIGHT if table is None else table["y"] + table["height"] + 12
        page.screenshot(path=PICTURE, clip={"x": 0, "y": 0, "width": WIDTH, "height": bottom})
        browser.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.html"
        write_report(path)
        take_picture(path)
    print(f"{PICTURE}: {PICTURE.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
