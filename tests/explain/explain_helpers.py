"""Trees for the tests of explain: converted from scikit-learn, or written down by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from arboretum.data.schema import Column, Schema
from arboretum.explain.pipeline import anatomy_of
from arboretum.structure.tree import LEAF, MULTIWAY, SUBSET, THRESHOLD, Tree


class StandIn:
    """An estimator that has a tree and the anatomy of a single tree, and nothing else."""

    def __init__(self, tree, criterion="gini", classes=None):
        self.tree_, self.schema_, self.criterion, self.classes_ = (
            tree,
            tree.schema,
            criterion,
            classes,
        )

    def _anatomy(self):
        each = self.classes_ if isinstance(self.classes_, list) else [self.classes_]
        bare = anatomy_of(self.tree_, "test")
        return replace(
            bare,
            family="tree",
            classes=None if self.classes_ is None else tuple(map(np.asarray, each)),
            recipe=replace(bare.recipe, criterion=self.criterion),
        )


def numeric(name, has_missing=False):
    return Column(name, "numeric", None, has_missing, "float64")


def categorical(name, categories, has_missing=False):
    return Column(name, "categorical", tuple(categories), has_missing, "str")


def ordinal(name, words, has_missing=False):
    return Column(name, "ordinal", tuple(words), has_missing, "category")


def from_sklearn(fitted, names=None, has_missing=False):
    """Return a stand-in estimator with the tree of a fitted scikit-learn tree."""
    source = fitted.tree_
    named = names is not None
    names = names if named else [f"x{i}" for i in range(fitted.n_features_in_)]
    order = [0]  # level order, children of a node next to each other
    for node in order:
        if source.children_left[node] != -1:
            order += [int(source.children_left[node]), int(source.children_right[node])]
    place = {old: new for new, old in enumerate(order)}
    inner = source.children_left[order] != -1
    first = [place[int(source.children_left[o])] if i else -1 for o, i in zip(order, inner)]
    left_missing = source.missing_go_to_left[order].astype(bool)
    tree = Tree(
        kind=np.where(inner, THRESHOLD, LEAF).astype(np.uint8),
        feature=np.where(inner, source.feature[order], -1).astype(np.int32),
        threshold=np.where(inner, source.threshold[order], np.nan),
        first_child=np.array(first, dtype=np.int32),
        n_children=np.where(inner, 2, 0).astype(np.int32),
        missing_child=np.where(inner, np.where(left_missing, 0, 1), -1).astype(np.int32),
        bits_start=np.full(len(order), -1, dtype=np.int64),
        bits=np.empty(0, dtype=np.uint32),
        value=source.value[order],
        impurity=source.impurity[order],
        gain=np.zeros(len(order)),
        weight=source.weighted_n_node_samples[order],
        count=source.n_node_samples[order].astype(np.int64),
        schema=Schema(tuple(numeric(n, has_missing) for n in names), named),
    )
    return StandIn(tree, fitted.criterion, getattr(fitted, "classes_", None))


def leaf(*value, count=10):
    """A leaf for `by_hand`: class counts (or one number)."""
    return {"value": value, "count": count}


def split(feature, *children, threshold=None, inside=None, missing=0):
    """A split for `by_hand`: a threshold, a set of codes, or neither for multiway."""
    return {
        "feature": feature,
        "children": children,
        "threshold": threshold,
        "inside": inside,
        "missing": missing,
    }


def by_hand(root, columns, classes=None):
    """Return a stand-in estimator with the tree that nested `split` and `leaf` describe."""
    nodes, first = [root], []
    for node in nodes:
        first.append(len(nodes) if "children" in node else -1)
        nodes += node.get("children", ())
    bits, bits_start, kind = [], [], []
    for node in nodes:
        start = -1
        if "children" not in node:
            kind.append(LEAF)
        elif node["inside"] is not None:
            kind.append(SUBSET)
            start = len(bits)
            words = [0] * (len(columns[node["feature"]].categories) // 32 + 1)
            for code in node["inside"]:
                words[code >> 5] |= 1 << (code & 31)
            bits += words
        else:
            kind.append(MULTIWAY if node["threshold"] is None else THRESHOLD)
        bits_start.append(start)
    value, count = _sum_up(nodes, first, classes)
    inner = np.array(kind) != LEAF
    tree = Tree(
        kind=np.array(kind, dtype=np.uint8),
        feature=np.array([n.get("feature", -1) for n in nodes], dtype=np.int32),
        threshold=np.array(
            [np.nan if n.get("threshold") is None else n["threshold"] for n in nodes]
        ),
        first_child=np.array(first, dtype=np.int32),
        n_children=np.array([len(n.get("children", ())) for n in nodes], dtype=np.int32),
        missing_child=np.array([n.get("missing", -1) for n in nodes], dtype=np.int32),
        bits_start=np.array(bits_start, dtype=np.int64),
        bits=np.array(bits, dtype=np.uint32),
        value=value[:, None, :],
        impurity=1.0 - (value**2).sum(axis=1) if classes is not None else value[:, 0] * 0.1,
        gain=np.where(inner, 0.1, 0.0),
        weight=count.astype(float),
        count=count,
        schema=Schema(tuple(columns), named=True),
    )
    return StandIn(tree, "gini", None if classes is None else np.array(classes))


def _sum_up(nodes, first, classes):
    """Return values and counts of all nodes from those of the leaves."""
    width = 1 if classes is None else len(classes)
    total = np.zeros((len(nodes), width))
    count = np.zeros(len(nodes), dtype=np.int64)
    for i in reversed(range(len(nodes))):
        node = nodes[i]
        if "children" in node:
            below = slice(first[i], first[i] + len(node["children"]))
            total[i], count[i] = total[below].sum(axis=0), count[below].sum()
        elif classes is None:
            total[i], count[i] = node["value"][0] * node["count"], node["count"]
        else:
            total[i], count[i] = node["value"], sum(node["value"])
    return total / count[:, None], count


def walk(tree, matrix):
    """Return the leaf of every row of an encoded matrix: the slow, obvious way down."""
    found = []
    for row in np.asarray(matrix, dtype=float):
        node = 0
        while tree.kind[node] != LEAF:
            value = row[tree.feature[node]]
            if np.isnan(value):
                child = tree.missing_child[node]
            elif tree.kind[node] == THRESHOLD:
                child = 0 if value <= tree.threshold[node] else 1
            elif tree.kind[node] == MULTIWAY:
                child = int(value)
            else:
                word = int(tree.bits[tree.bits_start[node] + (int(value) >> 5)])
                child = 0 if (word >> (int(value) & 31)) & 1 else 1
            node = int(tree.first_child[node] + child)
        found.append(node)
    return np.array(found)


def with_columns(model, columns):
    """Return the model with other columns, for odd names."""
    schema = Schema(tuple(columns), named=True)
    tree = replace(getattr(model, "trees_", [model.tree_])[0], schema=schema)
    return StandIn(tree, model.criterion, model.classes_)
