"""`arboretum show`: a tree as text, rules, Graphviz source or a picture; rules and forests as text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from arboretum.cli.files import check_output, load_model
from arboretum.cli.forests import (
    describe_forest,
    is_forest,
    member_of,
    parse_tree,
    refuse_joined,
)
from arboretum.cli.guard import UsageError
from arboretum.cli.screen import file_size, print_note, stage
from arboretum.cli.summary import importances, is_rules
from arboretum.explain.pick_tree import pick_tree

__all__ = ["FORMATS", "save_picture", "show"]

PICTURES = ("png", "svg", "pdf", "jpg")
FORMATS = ("text", "rules", "dot", *PICTURES)
_SUFFIXES = {
    ".txt": "text",
    ".dot": "dot",
    ".gv": "dot",
    ".jpeg": "jpg",
    **{f".{p}": p for p in PICTURES},
}


def show(
    model_file: Path,
    form: str | None,
    output: Path | None,
    max_depth: int | None,
    tree: str | None = None,
    decimals: int | None = None,
    member: str | None = None,
    force: bool = False,
) -> None:
    """Run the command.

    Parameters
    ----------
    form : str or None
        One of `FORMATS`; None goes by the output's name.
    output : Path or None
        None writes to stdout, which pictures cannot.
    max_depth : int or None
        Deeper splits are cut off.
    tree : str or None
        A tree of an ensemble: "7", or "3,1" for round 3 and class 1. None describes the ensemble if
        the format is text, and shows tree 0 otherwise.
    decimals : int or None
        Decimals of thresholds and values; None: 2 in text, 3 in pictures and Graphviz source.
    member : str or None
        A model of a stack or a vote.
    """
    form = form or _guess(output)
    number = 0 if tree is None else parse_tree(tree)
    if form == "rules" and max_depth is not None:
        raise UsageError("--max-depth does not go with rules: a rule is the path to a leaf")
    if form == "rules" and decimals is not None:
        raise UsageError("--decimals does not go with rules: they have six digits")
    if form in PICTURES and output is None:
        raise UsageError(f"a picture needs a file: add -o tree.{form}")
    if output is not None:
        kind = "picture" if form in PICTURES else "text"
        check_output(output, kind, {"the model file": model_file}, force=force)
    model = load_model(model_file)
    if member is not None:
        model = member_of(model, member)
    as_a_whole = is_forest(model) and tree is None and form == "text" and max_depth is None
    if is_rules(model):
        form = _form_of_rules(model, form, max_depth, tree)
    elif not as_a_whole:
        refuse_joined(model)
        pick_tree(model, number, "--tree")  # errors in terms of the command line
    if form in PICTURES:
        assert output is not None
        save_picture(model, output, form, max_depth, number, decimals)
    else:
        if as_a_whole:
            text = describe_forest(model, importances(model))
        else:
            text = _text(model, form, max_depth, number, decimals)
        if output is None:
            sys.stdout.write(text)
        else:
            output.write_text(text, encoding="utf-8")
    if output is not None:
        print_note(f"{form} in {output} ({file_size(output.stat().st_size)})")


def _guess(output: Path | None) -> str:
    if output is None:
        return "text"
    suffix = output.suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(
            f"the name {output.name!r} does not give the format: add --format, one of "
            f"{', '.join(FORMATS)}"
        )
    return _SUFFIXES[suffix]


def _form_of_rules(model: Any, form: str, max_depth: int | None, tree: str | None) -> str:
    if form not in ("text", "rules") or tree is not None:
        raise UsageError(
            f"{type(model).__name__} is a list of rules, there is no tree to show: use --format text"
        )
    if max_depth is not None:
        raise UsageError("--max-depth does not go with rules: they have no depth")
    return "rules"


def _text(model: Any, form: str, max_depth: int | None, tree: Any, decimals: int | None) -> str:
    from arboretum.explain.graphviz import export_graphviz
    from arboretum.explain.rules import to_rules
    from arboretum.explain.text import export_text

    if form == "rules":
        return f"{model.to_text() if is_rules(model) else to_rules(model, tree=tree)}\n"
    if form == "dot":
        precision = 3 if decimals is None else decimals
        source = export_graphviz(
            model, tree=tree, max_depth=max_depth, filled=True, rounded=True, precision=precision
        )
        return str(source)
    digits = 2 if decimals is None else decimals
    return export_text(model, tree=tree, max_depth=max_depth, decimals=digits)


def save_picture(
    model: Any,
    output: Path,
    form: str = "png",
    max_depth: int | None = None,
    tree: Any = 0,
    decimals: int | None = None,
) -> None:
    """Draw the tree into a file; ImportError without matplotlib."""
    from arboretum.explain.mpl import require_pyplot
    from arboretum.explain.plot import plot_tree

    plt = require_pyplot("a picture of the tree")
    plt.switch_backend("Agg")  # no window, wherever this runs
    with stage("drawing"):
        precision = 3 if decimals is None else decimals
        ax = plot_tree(model, tree=tree, max_depth=max_depth, precision=precision)
        figure: Any = ax.figure
        if not ax.get_title() and "target" in getattr(model, "notes_", {}):
            ax.set_title(f"{type(model).__name__} of {model.notes_['target']}", parse_math=False)
        figure.savefig(output, format=form, dpi=150)
        plt.close(figure)
