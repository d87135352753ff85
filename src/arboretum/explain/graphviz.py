"""A tree as DOT source, the language of Graphviz.

`export_graphviz` only writes text; `dot -Tsvg tree.dot -o tree.svg` draws it. Names are
escaped for the place where they are written: quotes and backslashes in quoted labels, markup in
HTML labels, and ampersands in both (Graphviz reads `&lt;` in either). Leaves that no training case
reached are drawn lightly.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any

from arboretum.explain.boxes import BoxStyle, box_text, visible_nodes
from arboretum.explain.colors import CUT, node_colors
from arboretum.explain.labels import Labels, Wording, check_int, read_model
from arboretum.explain.pipeline import takes_pipelines

__all__ = ["escape_html", "export_graphviz", "html_label", "quoted_label"]

_FAINT, _FAINT_TEXT = 'style="dashed", color="#b8bfc6"', "#7c868f"  # a leaf without cases


@takes_pipelines
def export_graphviz(
    model: Any,
    out_file: str | PathLike[str] | IO[str] | None = None,
    *,
    tree: int | tuple[Any, Any] = 0,
    max_depth: int | None = None,
    feature_names: Any = None,
    class_names: Any = None,
    label: str = "all",
    filled: bool = False,
    leaves_parallel: bool = False,
    impurity: bool = True,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = False,
    special_characters: bool = False,
    precision: int = 3,
    fontname: str = "helvetica",
) -> str | None:
    """Write a tree as DOT source for Graphviz.

    Parameters
    ----------
    model : fitted estimator, Tree, or fitted Pipeline that ends with an estimator
    out_file : path or text file, optional
        Where to write (UTF-8); without it the source is returned.
    tree : int or (int, int), default 0
        Which tree of an ensemble: an index, -1 for the last; for boosters also (round, class).
    max_depth : int, optional
        Splits deeper than this are folded into one grey box; the root has depth 0.
    feature_names, class_names : list of str, optional
        Names to show instead of the model's own.
    label : {"all", "root", "none"}, default "all"
        Where numbers have names, such as "samples =".
    filled : bool, default False
        Colour nodes by class and purity, or by value.
    leaves_parallel : bool, default False
        Draw all leaves at the bottom.
    impurity, node_ids : bool
        Show the impurity, or the gain of second-order boosting; show node numbers.
    proportion : bool, default False
        Show shares instead of counts and weights.
    rotate : bool, default False
        Grow from left to right.
    rounded : bool, default False
        Round the corners of boxes.
    special_characters : bool, default False
        Use HTML labels with ≤; otherwise only names can contain characters beyond ASCII.
    precision : int, default 3
        Decimals of impurity, thresholds and values.
    fontname : str, default "helvetica"

    Returns
    -------
    str or None
        The source, or None if it went to ``out_file``.

    Examples
    --------
    >>> from arboretum import CARTClassifier, export_graphviz
    >>> from sklearn.datasets import load_iris
    >>> model = CARTClassifier(max_depth=1).fit(*load_iris(return_X_y=True))
    >>> print(export_graphviz(model, impurity=False).splitlines()[3])
    0 [label="x2 <= 2.45\\nsamples = 150\\nvalue = [50, 50, 50]\\nclass = 0"] ;
    """
    caller = "export_graphviz"
    check_int(max_depth, f"max_depth of {caller}", 0, none=True)
    labels = read_model(model, caller, feature_names, class_names, tree)
    wording = Wording(
        precision,
        at_most="≤" if special_characters else "<=",
        ellipsis="…" if special_characters else "...",
    )
    style = BoxStyle.checked(caller, label, impurity, node_ids, proportion, wording)
    quote = html_label if special_characters else quoted_label
    lines = _header(filled, rounded, rotate, leaves_parallel, fontname)
    lines += _body(labels, style, max_depth, filled, quote)
    if leaves_parallel:
        shown, folded = visible_nodes(labels.tree, max_depth)
        ends = [str(node) for node in shown if labels.tree.is_leaf[node] or node in folded]
        lines.append("{rank=same ; " + " ; ".join(ends) + "} ;")
    words = [text for text in (labels.title, labels.note) if text]
    if words:
        lines.append(f"label={quote(words)} ; labelloc={'t' if labels.title else 'b'} ;")
    source = "\n".join([*lines, "}"]) + "\n"
    if out_file is None:
        return source
    if isinstance(out_file, (str, PathLike)):
        Path(out_file).write_text(source, encoding="utf-8")
    else:
        out_file.write(source)
    return None


def _header(
    filled: bool, rounded: bool, rotate: bool, leaves_parallel: bool, fontname: str
) -> list[str]:
    look = [word for word, wanted in (("filled", filled), ("rounded", rounded)) if wanted]
    font = f"fontname={quoted_label([fontname])}"
    style = f', style="{", ".join(look)}"' if look else ""
    lines = ["digraph Tree {", f"node [shape=box{style}, {font}] ;", f"edge [{font}] ;"]
    if leaves_parallel:
        lines.append("graph [ranksep=equally, splines=polyline] ;")
    if rotate:
        lines.append("rankdir=LR ;")
    return lines


def _body(
    labels: Labels,
    style: BoxStyle,
    max_depth: int | None,
    filled: bool,
    quote: Callable[[list[str]], str],
) -> list[str]:
    """Return one line per box and one per edge, parents before children."""
    tree = labels.tree
    colors = node_colors(labels) if filled else None
    shown, folded = visible_nodes(tree, max_depth)
    lines = []
    for node in shown:
        head, rest = box_text(labels, node, style, folded.get(node))
        fill = ""
        if colors is not None:
            fill = f', fillcolor="{CUT if node in folded else colors[node]}"'
        empty = labels.is_empty(node)
        if empty:
            fill = f', {_FAINT}, fontcolor="{_FAINT_TEXT}"'
        lines.append(f"{node} [label={quote(head + rest)}{fill}] ;")
        above = int(tree.parent[node])
        if above >= 0:
            answer = labels.answer(above, node - int(tree.first_child[above]), style.wording)
            look = f", {_FAINT}" if empty else ""
            lines.append(f"{above} -> {node} [label={quote([answer])}{look}] ;")
    return lines


def quoted_label(lines: list[str]) -> str:
    """Return lines as a DOT string; an ampersand would start an entity, a backslash an escape."""

    def escape(text: str) -> str:
        return text.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')

    return '"' + "\\n".join(escape(line) for line in lines) + '"'


def html_label(lines: list[str]) -> str:
    """Return lines as an HTML-like DOT label."""
    # Graphviz reports an empty HTML label as a syntax error, so there is always a space.
    return "<" + ("<br/>".join(escape_html(line) for line in lines) or " ") + ">"


def escape_html(text: str) -> str:
    """Return text without markup of HTML."""
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, entity)
    return text
