"""The result of `get_booster()`: the trees of a model, with the interface of XGBoost's Booster."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.structure.tree import SUBSET, Tree

if TYPE_CHECKING:
    from arboretum.base.anatomy import Anatomy
    from arboretum.boosting.second_order.boosted_model import BoostedModel

__all__ = ["XGBBooster"]

IMPORTANCES = ("weight", "gain", "cover", "total_gain", "total_cover")


class XGBBooster:
    """The trees of a fitted model.

    A node tests ``x <= split`` where XGBoost tests ``x < split``: the splits lie between the same values.
    """

    def __init__(self, model: BoostedModel) -> None:
        self.model = model

    def _anatomy(self) -> Anatomy:
        return self.model._anatomy()

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns; f0, f1 … if the table had none."""
        schema = self.model.schema_
        if schema.named:
            return list(schema.names)
        return [f"f{f}" for f in range(schema.n_features)]

    def num_boosted_rounds(self) -> int:
        """Return the number of rounds."""
        return self.model.ensemble_.n_rounds

    def num_features(self) -> int:
        """Return the number of columns."""
        return self.model.n_features_in_

    @property
    def best_iteration(self) -> int:
        """The best round, if there was early stopping."""
        return self.model.best_iteration

    @property
    def best_score(self) -> float:
        """The metric of the best round."""
        return self.model.best_score

    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        pred_leaf: bool = False,
        pred_contribs: bool = False,
        approx_contribs: bool = False,
        pred_interactions: bool = False,
        validate_features: bool = True,
        iteration_range: tuple[int, int] = (0, 0),
    ) -> np.ndarray:
        """Predict, as XGBoost's Booster does: numbers, probabilities, leaves or contributions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            XGBoost takes a DMatrix here.
        output_margin : bool, default=False
            Return the sums of the trees' values.
        pred_leaf : bool, default=False
            Return the leaf each row reaches in each tree.
        pred_contribs : bool, default=False
            Return the contribution of every column to the margin (SHAP values), and last their base:
            (rows, columns + 1), for several outputs (rows, outputs, columns + 1).
        approx_contribs : bool, default=False
            With ``pred_contribs``, credit each split on a row's path with the change it makes (Saabas):
            not SHAP values, but the same sum.
        pred_interactions : bool, default=False
            The same for pairs of columns: symmetric tables whose rows sum to the contributions.
        validate_features : bool, default=True
            Match columns by name; else take them in order.
        iteration_range : (int, int), default=(0, 0)
            The rounds to use; (0, 0) are all.
        """
        requested = {
            "pred_leaf": pred_leaf,
            "pred_contribs": pred_contribs,
            "pred_interactions": pred_interactions,
        }
        if sum(map(bool, requested.values())) > 1:
            both = " and ".join(name for name, wanted in requested.items() if wanted)
            raise ParameterError(f"{both} exclude each other: request one of them")
        if approx_contribs and not pred_contribs:
            raise ParameterError(
                "approx_contribs sets how pred_contribs are computed: set pred_contribs=True too"
            )
        model = self.model
        X = X if validate_features else model._in_order(X)
        rounds = model._range(iteration_range)
        if pred_leaf:
            return model._leaves(X, *rounds)
        if pred_contribs or pred_interactions:
            found = model._contributions_of(
                X, *rounds, pairs=pred_interactions, approximate=approx_contribs
            )
            return found[:, 0] if found.shape[1] == 1 else found
        margin = model._margin(X, *rounds)
        if output_margin:
            return margin[:, 0] if margin.shape[1] == 1 else margin
        return model.objective_.predict(margin)

    def get_score(self, importance_type: str = "weight") -> dict[str, float]:
        """Return the importance of the columns with splits, by name."""
        if importance_type not in IMPORTANCES:
            raise ParameterError(
                f"importance_type must be one of {', '.join(IMPORTANCES)}, got {importance_type!r}"
            )
        importance = self.model._importance()
        used = np.flatnonzero(importance["weight"])
        names = self.feature_names
        return {names[f]: float(importance[importance_type][f]) for f in used}

    def get_dump(self, with_stats: bool = False, dump_format: str = "text") -> list[str]:
        """Return every tree as text or JSON."""
        if dump_format not in ("text", "json"):
            raise ParameterError(f"dump_format must be 'text' or 'json', got {dump_format!r}")
        show = _text if dump_format == "text" else _json
        trees = self._trees()
        return [show(tree, self.feature_names, with_stats) for tree in trees]

    def _trees(self) -> list[tuple[Tree, float]]:
        ensemble = self.model.ensemble_
        return list(zip(ensemble.trees, ensemble.weights.tolist(), strict=True))

    def trees_to_dataframe(self) -> Any:
        """Return all nodes as a pandas table; Gain is the value at a leaf."""
        import pandas as pd

        rows = []
        for t, (tree, weight) in enumerate(self._trees()):
            for node in range(len(tree)):
                rows.append(
                    (t, node, f"{t}-{node}", *_cells(tree, t, node, weight, self.feature_names))
                )
        columns = (
            "Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover", "Category",
        )  # fmt: skip
        return pd.DataFrame(rows, columns=list(columns))

    def save_model(self, path: Any) -> None:
        """Write the model to a file in arboretum's own format."""
        self.model.save(path)


def _children(tree: Tree, node: int) -> tuple[int, int, int]:
    """Return the children for yes, no and missing."""
    first = int(tree.first_child[node])
    return first, first + 1, first + int(tree.missing_child[node])


def _categories(tree: Tree, node: int) -> list[Any]:
    inside, _ = tree.categories_of(int(tree.bits_start[node]), int(tree.feature[node]))
    return inside


def _cells(tree: Tree, t: int, node: int, weight: float, names: list[str]) -> tuple[Any, ...]:
    cover = float(tree.weight[node])
    if tree.feature[node] < 0:
        answer = float(tree.value[node, 0, 0]) * weight
        return "Leaf", np.nan, None, None, None, answer, cover, None
    yes, no, missing = (f"{t}-{child}" for child in _children(tree, node))
    by_set = tree.kind[node] == SUBSET
    split = np.nan if by_set else float(tree.threshold[node])
    members = _categories(tree, node) if by_set else None
    name = names[tree.feature[node]]
    return name, split, yes, no, missing, float(tree.gain[node]), cover, members


def _question(tree: Tree, node: int, names: list[str]) -> str:
    name = names[tree.feature[node]]
    if tree.kind[node] == SUBSET:
        return f"{name}:{{{','.join(map(str, _categories(tree, node)))}}}"
    return f"{name}<={tree.threshold[node]:.9g}"


def _text(item: tuple[Tree, float], names: list[str], with_stats: bool) -> str:
    tree, weight = item
    lines = []
    waiting = [0]
    while waiting:  # depth first, yes before no
        node = waiting.pop()
        depth = "\t" * int(tree.depth[node])
        if tree.feature[node] < 0:
            stats = f",cover={tree.weight[node]:.9g}" if with_stats else ""
            lines.append(f"{depth}{node}:leaf={tree.value[node, 0, 0] * weight:.9g}{stats}")
            continue
        yes, no, missing = _children(tree, node)
        stats = f",gain={tree.gain[node]:.9g},cover={tree.weight[node]:.9g}" if with_stats else ""
        question = _question(tree, node, names)
        lines.append(f"{depth}{node}:[{question}] yes={yes},no={no},missing={missing}{stats}")
        waiting += [no, yes]
    return "\n".join(lines) + "\n"


def _json(item: tuple[Tree, float], names: list[str], with_stats: bool) -> str:
    tree, weight = item
    built: list[dict[str, Any]] = [{} for _ in range(len(tree))]
    for node in reversed(range(len(tree))):  # children come after their parents
        entry = built[node]
        entry["nodeid"] = node
        if tree.feature[node] < 0:
            entry["leaf"] = float(tree.value[node, 0, 0]) * weight
        else:
            yes, no, missing = _children(tree, node)
            by_set = tree.kind[node] == SUBSET
            entry["depth"] = int(tree.depth[node])
            entry["split"] = names[tree.feature[node]]
            condition = _categories(tree, node) if by_set else float(tree.threshold[node])
            entry["split_condition"] = condition
            entry["yes"], entry["no"], entry["missing"] = yes, no, missing
            entry["children"] = [built[yes], built[no]]
            if with_stats:
                entry["gain"] = float(tree.gain[node])
        if with_stats:
            entry["cover"] = float(tree.weight[node])
    return json.dumps(built[0], default=str)
