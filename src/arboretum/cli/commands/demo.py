"""`arboretum demo`: a short session on a real table that comes with the package.

Every step is a command that a person could have typed; it is printed before it runs.
"""

from __future__ import annotations

import os
import shlex
import sys
import webbrowser
from pathlib import Path

from arboretum.cli import census
from arboretum.cli.commands.compare import Comparing, compare
from arboretum.cli.commands.evaluate import evaluate
from arboretum.cli.commands.report import report
from arboretum.cli.guard import UsageError
from arboretum.cli.screen import heading, print_table
from arboretum.engine.compiler.signatures import DEMO
from arboretum.engine.compiler.warmup import warmup

__all__ = ["demo"]

_EVERY = 5  # every fifth row is held out to evaluate the winner
_SECONDS = 30.0  # for the comparison


def demo(directory: Path, force: bool = False) -> None:
    """Run the command; files go to ``directory``, which is made if needed."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{str(directory)!r} is a file: -o takes a directory")
    directory.mkdir(parents=True, exist_ok=True)
    training, test = directory / "train.csv", directory / "test.csv"
    page, model, about = (directory / name for name in ("compare.html", "model.arb", "model.html"))
    texts = dict(zip((training, test), _data()))
    if not force:
        _check_files(texts, (page, model, about))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    warmup(DEMO)
    target = census.TARGET

    limit = f"{_SECONDS:g}"
    _run("compare", training, "-t", target, "--time-limit", limit, "-o", page, "--save", model)
    compare(Comparing(training, target, page, model, time_limit=_SECONDS))
    _run("evaluate", model, test)
    evaluate(model, test, target=None, weight=None)
    _run("report", model, test, "--train", training, "-o", about)
    report(model, test, about, None, training)
    files = [
        (training.name, "1,200 people for training"),
        (test.name, "300 others for evaluation"),
        (page.name, "which model, and why"),
        (model.name, "the winner"),
        (about.name, "the winner, looked into"),
    ]
    print()
    print_table(f"Files in {directory}", ("file", "contents"), files)
    heading("Try next")
    for words in (
        ("predict", model, test, "--proba"),
        ("describe", model),
        ("explain", model, test, "--row", 17),
        ("compare", "your.csv", "-t", "column", "-o", "compare.html"),
    ):
        print(f"  {_command(*words)}")
    _open(page, about)


def _data() -> tuple[str, str]:
    """Return the training rows and the evaluation rows, as CSV."""
    header, *rows = census.PATH.read_text(encoding="utf-8").splitlines()
    held_out = rows[_EVERY - 1 :: _EVERY]
    kept = [row for i, row in enumerate(rows) if i % _EVERY != _EVERY - 1]
    training, test = ("\n".join([header, *part]) + "\n" for part in (kept, held_out))
    return training, test


def _check_files(texts: dict[Path, str], made: tuple[Path, ...]) -> None:
    """Raise if the directory has files of these names that are not from the demo."""
    if all(path.exists() and path.read_bytes() == text.encode() for path, text in texts.items()):
        return  # it ran here before
    for path in (*texts, *made):
        if path.exists():
            raise UsageError(
                f"{str(path)!r} exists and is not the demo's: choose another directory with -o, or "
                "replace it with --force"
            )


def _open(*pages: Path) -> None:
    """Open pages in a browser if there is a display and a person in front of it."""
    has_display = sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )
    if has_display and sys.stdout.isatty():
        for path in pages:
            webbrowser.open(path.resolve().as_uri())


def _command(*words: object) -> str:
    return " ".join(["arboretum", *(shlex.quote(str(word)) for word in words)])


def _run(*words: object) -> None:
    print()
    heading(f"$ {_command(*words)}")
