"""Models of every family on a small table with words and gaps, and their trees in the textbook's words."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

import arboretum as ab
from arboretum.structure.tree import MULTIWAY, SUBSET, THRESHOLD, Tree
from arboretum.textbook import Branching

NAMES = ("size", "age", "word", "sort")


@cache
def table(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return numbers and words, both with gaps."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "age": rng.integers(0, 9, n).astype(float),
            "word": np.array(list("pqrstuv"), object)[rng.integers(0, 7, n)],
            "sort": np.array(["x", "y", "z"], object)[rng.integers(0, 3, n)],
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.12, name] = None
    return frame


@cache
def targets() -> dict[str, np.ndarray]:
    frame = table()
    s = frame["size"].fillna(0) + 2 * (frame["word"] == "p")
    s = (s + frame["age"].fillna(3) * (frame["sort"] == "x")).to_numpy(float)
    return {
        "number": s,
        "two": np.where(s > np.median(s), "yes", "no"),
        "three": np.digitize(s, np.quantile(s, [0.3, 0.7])),
        "several": np.column_stack([s, -2 * s + frame["age"].fillna(0)]),
        "labels": np.column_stack([s > 0, s > 2]).astype(int),
    }


MODELS = {
    "CART": (lambda: ab.CARTClassifier(max_depth=5), "three"),
    "CART of numbers": (lambda: ab.CARTRegressor(max_depth=6), "number"),
    "CART with surrogates": (lambda: ab.CARTRegressor(max_depth=5, surrogates=2), "number"),
    "CART of several outputs": (lambda: ab.CARTRegressor(max_depth=4), "several"),
    "forest of several outputs": (
        lambda: ab.RandomForestClassifier(2, max_depth=3, random_state=0),
        "labels",
    ),
    "ID3": (lambda: ab.ID3Classifier(discretize="quantile", n_bins=3, max_depth=3), "three"),
    "forest": (lambda: ab.RandomForestClassifier(3, random_state=0), "three"),
    "extra trees": (lambda: ab.ExtraTreesRegressor(3, random_state=0), "number"),
    "bagging": (lambda: ab.BaggingRegressor(n_estimators=2, random_state=0), "number"),
    "AdaBoost": (lambda: ab.AdaBoostClassifier(n_estimators=3), "three"),
    "AdaBoost, discrete": (
        lambda: ab.AdaBoostClassifier(n_estimators=3, algorithm="discrete"),
        "two",
    ),
    "AdaBoost, mean": (lambda: ab.AdaBoostRegressor(n_estimators=3, combine="mean"), "number"),
    "coordinate descent": (lambda: ab.CoordinateBoostingClassifier(max_iter=8), "two"),
    "gradient boosting": (lambda: ab.GradientBoostingClassifier(n_estimators=3), "two"),
    "gradient boosting of classes": (
        lambda: ab.GradientBoostingClassifier(n_estimators=2),
        "three",
    ),
    "XGB": (lambda: ab.XGBClassifier(n_estimators=3), "two"),
    "XGB of classes": (lambda: ab.XGBClassifier(n_estimators=2, max_depth=3), "three"),
    "XGB symmetric": (lambda: ab.XGBClassifier(n_estimators=3, grow_policy="symmetric"), "two"),
    "XGB of counts": (
        lambda: ab.XGBRegressor(n_estimators=3, objective="count:poisson"),
        "count",
    ),
    "LGBM": (lambda: ab.LGBMRegressor(n_estimators=3, min_child_samples=5), "number"),
    "LGBM forest": (
        lambda: ab.LGBMClassifier(
            n_estimators=2, boosting_type="rf", subsample=0.7, subsample_freq=1, random_state=0
        ),
        "three",
    ),
}


@cache
def fitted(name: str):
    make, target = MODELS[name]
    y = np.abs(np.round(targets()["number"])) if target == "count" else targets()[target]
    return make().fit(table(), y)


def new_rows(n: int = 6) -> pd.DataFrame:
    """Return rows that models have not seen; a word of the first they have never met."""
    rows = table(40, 1).iloc[:n].copy()
    rows.loc[rows.index[0], "word"] = None
    return rows


def textbook_trees(form) -> list[Branching]:
    """Return the trees of an additive form in the textbook's words, by plain Python."""
    return [
        _branching(tree, value, int(first), form.n_outputs, 0)
        for tree, value, first in zip(form.terms.trees, form.values, form.columns, strict=True)
    ]


def _branching(
    tree: Tree, value: np.ndarray, first: int, n_outputs: int, node: int, cover: str = "weight"
) -> Branching:
    weight = float(getattr(tree, cover)[node])
    if tree.is_leaf[node]:
        said = np.zeros(n_outputs)
        said[first : first + value.shape[1]] = value[node]
        return Branching(said, weight)
    children = tree.first_child[node] + np.arange(tree.n_children[node])
    return Branching(
        weight=weight,
        column=int(tree.feature[node]),
        goes=lambda row: _goes(tree, node, row),
        branches=[_branching(tree, value, first, n_outputs, int(c), cover) for c in children],
    )


def _side(kind: int, x: float, threshold: float, tree: Tree, start: int, n: int) -> int | None:
    if np.isnan(x):
        return None
    if kind == THRESHOLD:
        return int(x > threshold)
    code = int(x)
    if not 0 <= code < n:
        return None
    if kind == MULTIWAY:
        return code
    assert kind == SUBSET
    return 1 - (int(tree.bits[start + code // 32]) >> (code % 32) & 1)


def _goes(tree: Tree, node: int, row: np.ndarray) -> int:
    def ask(kind: int, f: int, threshold: float, start: int) -> int | None:
        n = len(tree.schema.columns[f].categories or ())
        return _side(kind, row[f], threshold, tree, start, n)

    f = int(tree.feature[node])
    side = ask(int(tree.kind[node]), f, tree.threshold[node], int(tree.bits_start[node]))
    s = tree.surrogates
    if side is None and s is not None:
        for k in range(s.start[node], s.start[node + 1]):
            side = ask(int(s.kind[k]), int(s.feature[k]), s.threshold[k], int(s.bits_start[k]))
            if side is not None:
                return side ^ int(s.reverse[k])
    return int(tree.missing_child[node]) if side is None else side
