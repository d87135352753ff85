"""`arboretum demo`: a short session on a table that comes with the package.

Every step is a command that a person could have typed; it is printed before it runs.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from arboretum.cli import seedlings
from arboretum.cli.commands.evaluate import evaluate
from arboretum.cli.commands.show import save_picture, show
from arboretum.cli.commands.train import train
from arboretum.cli.files import load_model
from arboretum.cli.guard import UsageError
from arboretum.cli.screen import heading, print_note, print_table
from arboretum.cli.summary import importances
from arboretum.cli.training import Training
from arboretum.engine.compiler.signatures import DEMO
from arboretum.engine.compiler.warmup import warmup

__all__ = ["demo"]

_EVERY = 4  # every fourth row is held out to evaluate the model


def demo(directory: Path, force: bool = False) -> None:
    """Run the command; files go to ``directory``, which is made if needed."""
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"{str(directory)!r} is a file: -o takes a directory")
    directory.mkdir(parents=True, exist_ok=True)
    training, test = directory / "train.csv", directory / "test.csv"
    model, picture = directory / "model.arb", directory / "tree.png"
    texts = dict(zip((training, test), _data()))
    if not force:
        _check_files(texts, (model, picture))
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    warmup(DEMO)
    target = seedlings.TARGET

    _run("train", training, "--target", target, "--prune-cv", "--rule", "1se", "-o", model)
    train(Training(training, target, model, prune_cv=True, rule="1se"))
    _run("evaluate", model, test)
    evaluate(model, test, target=None, weight=None)
    _run("show", model)
    show(model, None, None, None)
    _run("show", model, "-o", picture)
    drawn = _draw(model, picture)
    _print_importances(model)
    files = [
        (str(training), "450 seedlings for training"),
        (str(test), "150 others for evaluation"),
        (str(model), "the model"),
    ]
    if drawn:
        files.append((str(picture), "the tree as a picture"))
    print_table("Files", ("file", "contents"), files)
    heading("Try next")
    for words in (
        ("report", model, test, "--train", training, "-o", directory / "model.html"),
        ("predict", model, test, "--proba"),
        ("show", model, "--format", "rules"),
        ("describe", model),
        ("train", "your.csv", "--target", "column", "-o", "your.arb"),
    ):
        print(f"  {_command(*words)}")


def _data() -> tuple[str, str]:
    """Return the training rows and the evaluation rows, as CSV."""
    header, *rows = seedlings.PATH.read_text(encoding="utf-8").splitlines()
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


def _draw(model: Path, picture: Path) -> bool:
    try:
        save_picture(load_model(model), picture)
    except ImportError as error:
        print_note(str(error))
        return False
    print(f"{picture} written")
    return True


def _print_importances(model: Path) -> None:
    fitted = load_model(model)
    shares = sorted(zip(importances(fitted) or (), fitted.schema_.names), reverse=True)
    longest = 30
    rows = [
        (name, f"{share:.3f}", "█" * round(share / shares[0][0] * longest) if share else "")
        for share, name in shares
    ]
    print_table("Which columns matter", ("column", "importance", ""), rows, right=[1])


def _command(*words: object) -> str:
    return " ".join(["arboretum", *(shlex.quote(str(word)) for word in words)])


def _run(*words: object) -> None:
    print()
    heading(f"$ {_command(*words)}")
