"""A tree as an object of the graphviz package, as XGBoost's and LightGBM's functions return it.

    to_graphviz(model)            graphviz.Source    nodes 0, 1, 2 …      "f0 <= 2.5"       "leaf=0.4"
    create_tree_digraph(model)    graphviz.Digraph   split0, leaf0 …      "Column_0 ≤ 2.5"  "leaf 0: 0.4"

Every model of trees is taken, not boosters alone. Without the package both return a `TreeSource`, which holds
the same text and cannot draw it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from arboretum.boosting.lightgbm.booster import LGBMBooster, leaf_numbers
from arboretum.boosting.second_order.constraints import monotone_signs
from arboretum.boosting.xgboost.booster import XGBBooster
from arboretum.explain.boxes import BoxStyle, info_lines
from arboretum.explain.graphviz import escape_html, quoted_label
from arboretum.explain.labels import Labels, Wording, check_int, clean, labels_of
from arboretum.explain.look import TreeLook, path_of
from arboretum.explain.other_names import booster_of, names_of_booster, takes_other_names
from arboretum.explain.pick_tree import Picked, pick_tree
from arboretum.explain.pipeline import takes_pipelines
from arboretum.structure.tree import GROUPS, MULTIWAY, Tree

__all__ = ["TreeSource", "create_tree_digraph", "to_graphviz"]

_YES, _NO = "#0000FF", "#FF0000"
_RISING, _FALLING = "#ddffdd", "#ffdddd"
_LEGEND = (
    'legend [label=<<table border="0" cellborder="1" cellspacing="0" cellpadding="4">'
    '<tr><td colspan="2"><b>monotone constraints</b></td></tr>'
    f'<tr><td>rising</td><td bgcolor="{_RISING}"></td></tr>'
    f'<tr><td>falling</td><td bgcolor="{_FALLING}"></td></tr></table>> shape=rectangle color=white]'
)


class TreeSource:
    """DOT source where the graphviz package is not installed.

    Attributes
    ----------
    source : str
    """

    def __init__(self, source: str) -> None:
        self.source = source

    def __str__(self) -> str:
        return self.source

    def save(self, filename: Any) -> str:
        """Write the source to a file, for `dot -Tsvg`."""
        Path(filename).write_text(self.source, encoding="utf-8")
        return str(filename)

    def render(self, *arguments: Any, **named: Any) -> Any:
        """Raise an error that names the package which draws."""
        raise ImportError(
            "the graphviz package draws DOT source: pip install graphviz, or use plot_tree, which draws "
            "with matplotlib; source and save() have the text"
        )

    pipe = view = render


@takes_other_names
@takes_pipelines
def to_graphviz(
    model: Any,
    *,
    tree: int | tuple[Any, Any] = 0,
    feature_names: Any = None,
    rankdir: str | None = None,
    yes_color: str | None = None,
    no_color: str | None = None,
    condition_node_params: Mapping[str, Any] | None = None,
    leaf_node_params: Mapping[str, Any] | None = None,
    with_stats: bool = False,
    **graph_attributes: Any,
) -> Any:
    """Return a tree for Graphviz in XGBoost's form.

    Parameters
    ----------
    model : fitted estimator, booster, Tree or Pipeline
    tree : int or (int, int), default 0
        Which tree of an ensemble; XGBoost's ``tree_idx`` and ``num_trees`` are the same.
    feature_names : list of str, optional
        Names to show; XGBoost's ``fmap`` names a file of them.
    rankdir : {"TB", "LR"}, optional
        Where the tree grows: down, or to the right.
    yes_color, no_color : str, optional
        Colours of the edges.
    condition_node_params, leaf_node_params : dict, optional
        Graphviz's attributes of splits and leaves.
    with_stats : bool, default False
        Show gains and covers.
    **graph_attributes
        Other attributes of the graph, such as ``bgcolor="white"``.

    Returns
    -------
    graphviz.Source
        A `TreeSource` if the graphviz package is not installed.

    Examples
    --------
    >>> from arboretum import XGBRegressor
    >>> model = XGBRegressor(n_estimators=1, max_depth=1).fit([[0], [1]], [0, 4])
    >>> print(to_graphviz(model).source.splitlines()[2])
        0 [label="f0 <= 0.5"]
    """
    labels = _labels(model, pick_tree(model, tree, "to_graphviz"), feature_names, tree)
    look = TreeLook(
        yes_color or _YES, no_color or _NO, condition_node_params or {}, leaf_node_params or {}
    )
    wording = Wording(6)
    one = labels.tree
    stats = {"gain": one.gain, "cover": one.weight} if with_stats else {}

    def box(node: int) -> str:
        leaf = bool(one.is_leaf[node])
        prediction = f"leaf={labels.prediction(node, wording)}"
        head = prediction if leaf else labels.question(node, wording)
        rest = [f"{k}={v[node]:.9g}" for k, v in stats.items() if not (leaf and k == "gain")]
        return _attributes(look.box(one, node), quoted_label([head, *rest]))

    def edge(node: int, answer: str) -> str:
        text = answer.replace(" or missing", ", missing")
        return _attributes({"color": look.edge(one, node)}, quoted_label([text]))

    graph = _attributes({"rankdir": rankdir or "TB", **graph_attributes})
    lines = [f"graph {graph}", *_statements(labels, wording, str, box, edge)]
    source = "\n    ".join(["digraph {", *lines]) + "\n}\n"
    try:
        from graphviz import Source
    except ImportError:
        return TreeSource(source)
    return Source(source)


@takes_other_names
@takes_pipelines
def create_tree_digraph(
    model: Any,
    tree: int | tuple[Any, Any] = 0,
    show_info: Sequence[str] | None = None,
    precision: int | None = 3,
    rotate: bool = True,
    example_case: Any = None,
    max_category_values: int = 10,
    **digraph: Any,
) -> Any:
    """Return a tree for Graphviz in LightGBM's form.

    Parameters
    ----------
    model : fitted estimator, booster, Tree or Pipeline
    tree : int or (int, int), default 0
        Which tree of an ensemble; LightGBM's ``tree_index`` is the same.
    show_info : list of str, optional
        Lines to show: "split_gain", "internal_value", "internal_weight", "internal_count", "leaf_weight",
        "leaf_count", "data_percentage".
    precision : int or None, default 3
        Decimals of numbers; None: all.
    rotate : bool, default True
        Grow from left to right; LightGBM's ``orientation="vertical"`` is False.
    example_case : table of one row, optional
        Its path is blue.
    max_category_values : int, default 10
        Categories that a box lists.
    **digraph
        Arguments of ``graphviz.Digraph``, such as ``name`` and ``node_attr``.

    Returns
    -------
    graphviz.Digraph
        A `TreeSource` if the graphviz package is not installed.

    Examples
    --------
    >>> from arboretum import LGBMRegressor
    >>> model = LGBMRegressor(n_estimators=1, min_child_samples=1).fit([[0], [1]], [0, 4])
    >>> "leaf1 [label=<leaf 1: <B>2.200</B>>" in create_tree_digraph(model).source
    True
    """
    caller = "create_tree_digraph"
    check_int(max_category_values, f"max_category_values of {caller}", 1)
    wording = Wording(17 if precision is None else precision, trim=precision is None, at_most="≤")
    info = BoxStyle.checked(caller, "all", True, False, False, wording, show_info or ()).info or ()
    picked = pick_tree(model, tree, caller)
    labels, one = _labels(model, picked, None, tree), picked.tree
    look = TreeLook(path=path_of(picked.anatomy, one, example_case))
    splits, leaves = leaf_numbers(one)
    fills = _fills(model, picked)

    def name(node: int) -> str:
        return f"leaf{leaves[node]}" if one.is_leaf[node] else f"split{splits[node]}"

    def lines_of(node: int) -> dict[str, Any]:
        marked = node in look.path
        return {"color": "blue" if marked else "black", "penwidth": 3 if marked else 1}

    def box(node: int) -> str:
        if one.is_leaf[node]:
            head = f"leaf {leaves[node]}: <B>{escape_html(labels.prediction(node, wording))}</B>"
            fill = {"fillcolor": "white", "shape": "ellipse"}
        else:
            head = _question(labels, node, wording, max_category_values)
            fill = {"fillcolor": fills.get(int(one.feature[node]), "white"), "shape": "rectangle"}
            fill |= {"style": "filled"} if fills else {}
        text = "<br/>".join([head, *info_lines(labels, node, info, wording)])
        return _attributes({**lines_of(node), **fill}, f"<{text}>")

    def edge(node: int, answer: str) -> str:
        return _attributes(lines_of(node), quoted_label([answer.removesuffix(" or missing")]))

    graph = _attributes({"nodesep": 0.05, "ranksep": 0.3, "rankdir": "LR" if rotate else "TB"})
    lines = [f"graph {graph}", *_statements(labels, wording, name, box, edge)]
    return _digraph([*lines, *([_LEGEND] if fills else [])], digraph)


# ---------------------------------------------------------------------- what a tree shows
def _labels(model: Any, picked: Picked, feature_names: Any, tree: Any) -> Labels:
    """Return labels with the names and the leaf values that the peer's dump of a booster has."""
    booster = booster_of(model)
    if feature_names is None:
        feature_names = names_of_booster(booster)
    labels = labels_of(picked, "the picture of a tree", feature_names)
    ensemble = picked.anatomy.ensemble
    if picked.kind != "gradients" or ensemble is None:
        return labels
    number = next(t for t, one in enumerate(picked.anatomy.trees) if one is picked.tree)
    value = ensemble.values_of(number, with_base=isinstance(booster, LGBMBooster))
    return replace(labels, tree=replace(picked.tree, value=value))


def _question(labels: Labels, node: int, wording: Wording, most: int) -> str:
    """Return the question of a split in LightGBM's words."""
    condition = labels.condition(node, 0)
    name, operator, right = (escape_html(text) for text in labels.terms(condition, wording))
    if labels.tree.kind[node] in (MULTIWAY, GROUPS):
        return f"<B>{name}</B>"
    if condition.operator == "in":
        values = [escape_html(clean(value)) for value in condition.values]
        values = values if len(values) <= most else [*values[:2], "...", values[-1]]
        operator, right = "=", "||".join(values)
    return f"<B>{name}</B> {operator}<B>{right}</B>"


def _fills(model: Any, picked: Picked) -> dict[int, str]:
    """Return the colour of the splits on every column with a monotone constraint."""
    given = model.model if isinstance(model, LGBMBooster | XGBBooster) else model
    parameters = {} if isinstance(given, Tree) else given.get_params(deep=False)
    names = ("monotone_constraints", "monotonic_cst")
    found = next((parameters[name] for name in names if parameters.get(name) is not None), None)
    signs = monotone_signs(found, picked.tree.schema)
    if signs is None:
        return {}
    return {int(f): _RISING if signs[f] > 0 else _FALLING for f in np.flatnonzero(signs)}


# ---------------------------------------------------------------------- DOT
def _statements(
    labels: Labels,
    wording: Wording,
    name: Callable[[int], str],
    box: Callable[[int], str],
    edge: Callable[[int, str], str],
) -> Iterator[str]:
    """Yield a statement for every node and for the edge above it, parents before children."""
    tree = labels.tree
    for node in range(len(tree)):
        yield f"{name(node)} {box(node)}"
        above = int(tree.parent[node])
        if above >= 0:
            answer = labels.answer(above, node - int(tree.first_child[above]), wording)
            yield f"{name(above)} -> {name(node)} {edge(node, answer)}"


def _attributes(given: Mapping[str, Any], label: str = "") -> str:
    """Return attributes in brackets; ``label`` is quoted already.

    >>> _attributes({"rankdir": "LR", "color": "#ff0000", "style": "filled,rounded"})
    '[rankdir=LR color="#ff0000" style="filled,rounded"]'
    """
    texts = [f"label={label}"] if label else []
    for name, value in given.items():
        word = str(value)
        plain = word.isalnum() or word.replace(".", "", 1).isdigit()
        texts.append(f"{name}={word if plain else quoted_label([word])}")
    return "[" + " ".join(texts) + "]"


def _digraph(lines: Sequence[str], given: Mapping[str, Any]) -> Any:
    """Return a `graphviz.Digraph` with these statements, or their text if there is no such package."""
    body = [f"\t{line}\n" for line in lines]
    try:
        from graphviz import Digraph
    except ImportError:
        kinds = ("graph", "node", "edge")
        looks = ((kind, given.get(f"{kind}_attr")) for kind in kinds)
        head = [f"\t{kind} {_attributes(look)}\n" for kind, look in looks if look]
        name = given.get("name") or ""
        return TreeSource("".join([f"digraph {name} {{\n", *head, *body, "}\n"]))
    return Digraph(body=body, **given)
