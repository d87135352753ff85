"""Trees that other libraries have grown, as an `Ensemble`: so that peers are asked about the same trees."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from arboretum.data.schema import Schema, learn_schema
from arboretum.predict.ensemble import Ensemble
from arboretum.structure.tree import LEAF, THRESHOLD, Tree

__all__ = ["ensemble_of_forest", "ensemble_of_lightgbm", "ensemble_of_xgboost"]


def _tree(nodes: list[dict[str, Any]], schema: Schema) -> Tree:
    """Return a tree of nodes as {left, right, feature, threshold, missing_left, value, cover}, root first."""
    order, first = [0], np.full(len(nodes), -1, np.int32)
    for new, old in enumerate(order):  # grows while it is read: level by level
        if nodes[old]["left"] >= 0:
            first[new] = len(order)
            order += [nodes[old]["left"], nodes[old]["right"]]
    found = [nodes[old] for old in order]
    n, leaf = len(found), first < 0
    cover = np.array([one["cover"] for one in found], np.float64)
    return Tree(
        kind=np.where(leaf, LEAF, THRESHOLD).astype(np.uint8),
        feature=np.array([one["feature"] for one in found], np.int32),
        threshold=np.array([one["threshold"] for one in found]),
        first_child=first,
        n_children=np.where(leaf, 0, 2).astype(np.int32),
        missing_child=np.array(
            [-1 if one["left"] < 0 else 1 - bool(one["missing_left"]) for one in found], np.int32
        ),
        bits_start=np.full(n, -1, np.int64),
        bits=np.zeros(0, np.uint32),
        value=np.array([one["value"] for one in found], np.float64).reshape(n, 1, 1),
        impurity=np.zeros(n),
        gain=np.zeros(n),
        weight=cover,
        count=np.round(cover).astype(np.int64),
        schema=schema,
    )


def _schema(n_columns: int) -> Schema:
    return learn_schema(np.array([[np.nan] * n_columns, [0.0] * n_columns, [1.0] * n_columns]))[0]


_END = {"left": -1, "right": -1, "feature": -1, "threshold": np.nan, "missing_left": False}


def ensemble_of_lightgbm(booster: Any) -> Ensemble:
    """Return the trees of a LightGBM booster of numbers."""
    dump = booster.dump_model()
    schema = _schema(dump["max_feature_idx"] + 1)

    def read(node: dict[str, Any], nodes: list[dict[str, Any]]) -> int:
        at = len(nodes)
        nodes.append(
            {**_END, "value": node.get("leaf_value"), "cover": node.get("leaf_count", 1.0)}
        )
        if "split_feature" in node:
            nodes[at] = {
                "left": read(node["left_child"], nodes),
                "right": read(node["right_child"], nodes),
                "feature": node["split_feature"],
                "threshold": node["threshold"],
                "missing_left": node["default_left"],
                "value": 0.0,
                "cover": node["internal_count"],
            }
        return at

    trees = []
    for one in dump["tree_info"]:
        nodes: list[dict[str, Any]] = []
        read(one["tree_structure"], nodes)
        trees.append(_tree(nodes, schema))
    return Ensemble(trees, np.ones(len(trees)), np.zeros(dump["num_tree_per_iteration"]))


def ensemble_of_xgboost(booster: Any) -> Ensemble:
    """Return the trees of an XGBoost booster of one output; its base score is left out."""
    dump = json.loads(bytes(booster.save_raw("json")))["learner"]["gradient_booster"]["model"]
    schema = _schema(booster.num_features())
    trees = []
    for one in dump["trees"]:
        cut = np.array(one["split_conditions"], np.float32)
        below = np.nextafter(cut, np.float32(-np.inf)).astype(np.float64)  # x < cut
        nodes = [
            {**_END, "value": float(cut[k]), "cover": one["sum_hessian"][k]}
            if left < 0
            else {
                "left": left,
                "right": one["right_children"][k],
                "feature": one["split_indices"][k],
                "threshold": below[k],
                "missing_left": one["default_left"][k],
                "value": 0.0,
                "cover": one["sum_hessian"][k],
            }
            for k, left in enumerate(one["left_children"])
        ]
        trees.append(_tree(nodes, schema))
    return Ensemble(trees, np.ones(len(trees)), np.zeros(1))


def ensemble_of_forest(forest: Any) -> Ensemble:
    """Return the trees of a scikit-learn forest of one number."""
    schema, trees = _schema(forest.n_features_in_), []
    for member in forest.estimators_:
        t = member.tree_
        trees.append(
            _tree(
                [
                    {
                        "left": int(t.children_left[k]),
                        "right": int(t.children_right[k]),
                        "feature": int(max(t.feature[k], -1)),
                        "threshold": float(t.threshold[k]) if t.feature[k] >= 0 else np.nan,
                        "missing_left": bool(t.missing_go_to_left[k]),
                        "value": float(t.value[k, 0, 0]),
                        "cover": float(t.weighted_n_node_samples[k]),
                    }
                    for k in range(t.node_count)
                ],
                schema,
            )
        )
    return Ensemble(trees, np.ones(len(trees)), np.zeros((1, 1)), rule="mean")
