"""`booster_` of a LightGBM estimator: the number of trees, their splits, the importances of columns.

Leaves and splits are numbered as in LightGBM: splits in the order they were made; when a leaf is
split, the left side keeps its number and the right side gets the next one.

            S0                    S0 splits L0 into L0 and L1,
           /  \\                  S1 splits L1 into L1 and L2
         L0    S1
              /  \\
            L1    L2
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.errors import ParameterError
from arboretum.structure.cuts import cut_histogram
from arboretum.structure.tree import SUBSET

if TYPE_CHECKING:
    import pandas as pd

    from arboretum.base.anatomy import Anatomy
    from arboretum.structure.tree import Tree

__all__ = ["LGBMBooster", "leaf_numbers"]

_TEXT = "save_model writes a file that arboretum.load reads, dump_model returns the trees as dicts"
_ROUNDS = "call fit of the estimator, with init_model to go on from this model"
_FIGURES = "give tables to fit as eval_set, their figures are in evals_result_ of the estimator"
_MISSING = {
    "model_to_string": _TEXT,
    "model_from_string": _TEXT,
    "update": _ROUNDS,
    "rollback_one_iter": _ROUNDS,
    "reset_parameter": _ROUNDS,
    "set_leaf_output": "refit returns the same trees with other values",
    **dict.fromkeys(("add_valid", "eval", "eval_train", "eval_valid"), _FIGURES),
}


def leaf_numbers(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """Return LightGBM's numbers of every node: as a split, and as the leaf it is or was.

    Returns
    -------
    split : int32 array
        -1 at a leaf.
    leaf : int32 array
    """
    nodes = tree.node_count
    split, leaf = np.full(nodes, -1, np.int32), np.zeros(nodes, np.int32)
    inner = np.flatnonzero(tree.first_child >= 0)
    for k, node in enumerate(inner[np.argsort(tree.first_child[inner], kind="stable")]):
        left = tree.first_child[node]
        split[node] = k
        leaf[left], leaf[left + 1] = leaf[node], k + 1
    return split, leaf


class LGBMBooster:
    """The trees of a fitted model.

    Attributes
    ----------
    model : fitted estimator
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    def _anatomy(self) -> Anatomy:
        return self.model._anatomy()

    def __repr__(self) -> str:
        return f"LGBMBooster({self.num_trees()} trees, {self.num_feature()} columns)"

    def num_trees(self) -> int:
        """Return the number of trees, over all rounds and outputs."""
        return len(self.model.ensemble_.trees)

    def num_model_per_iteration(self) -> int:
        """Return the number of trees of a round."""
        return self.model.ensemble_.per_round

    def current_iteration(self) -> int:
        """Return the number of rounds."""
        return self.model.ensemble_.n_rounds

    def num_feature(self) -> int:
        """Return the number of columns."""
        return int(self.model.n_features_in_)

    def feature_name(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.model.feature_name_)

    @property
    def best_iteration(self) -> int:
        """The best round, counted from 1; 0 without early stopping."""
        return self.model.best_iteration_

    @property
    def best_score(self) -> dict[str, dict[str, float]]:
        """The figures of the best round, or of the last."""
        return self.model.best_score_

    def feature_importance(
        self, importance_type: str = "split", iteration: int | None = None
    ) -> np.ndarray:
        """Return how often trees split on every column, or the total gain of these splits.

        Parameters
        ----------
        importance_type : {"split", "gain"}
        iteration : int or None
            The rounds to count; None and numbers below 1: up to the best one
            after early stopping, else all.
        """
        if importance_type not in ("split", "gain"):
            raise ParameterError(
                f"importance_type must be 'split' or 'gain', got {importance_type!r}"
            )
        end = self.model._last_round(iteration)
        importance = self.model._importance(end)
        if importance_type == "gain":
            return importance["total_gain"]
        return importance["weight"].astype(np.int32)

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the model, also by other names under which they were given."""
        return self.model.get_params(deep=False)

    def get_leaf_output(self, tree_id: int, leaf_id: int) -> float:
        """Return the value that a leaf of a tree adds to the score, by LightGBM's number of the leaf."""
        tree, value = self._tree(tree_id)
        split, leaf = leaf_numbers(tree)
        found = np.flatnonzero((split < 0) & (leaf == leaf_id))
        if not len(found):
            leaves = int((split < 0).sum())
            raise ParameterError(f"tree {tree_id} has leaves 0 to {leaves - 1}, got {leaf_id}")
        return float(value[found[0]])

    def get_split_value_histogram(
        self, feature: int | str, bins: int | str | None = None, xgboost_style: bool = False
    ) -> Any:
        """Return how often thresholds of a column lie in each bin: counts and edges as `numpy.histogram`.

        Parameters
        ----------
        feature : int or str
        bins : int, str or None
            As for `numpy.histogram`; None, or more bins than thresholds: one bin for each threshold.
        xgboost_style : bool
            Return a table with the columns SplitValue and Count, without empty bins.
        """
        f = self.feature_name().index(feature) if isinstance(feature, str) else int(feature)
        if self.model.schema_.columns[f].kind == "categorical":
            raise ParameterError(f"{feature!r} is a category: its splits have no thresholds")
        counts, edges = cut_histogram(self.model.ensemble_.trees, f, bins)
        if not xgboost_style:
            return counts, edges
        import pandas as pd

        table = pd.DataFrame({"SplitValue": edges[1:], "Count": counts})
        return table[table["Count"] > 0]

    def refit(
        self,
        data: Any,
        label: Any,
        decay_rate: float = 0.9,
        *,
        weight: Any = None,
        group: Any = None,
        init_score: Any = None,
    ) -> LGBMBooster:
        """Return the same trees with values that follow other rows.

        Parameters
        ----------
        data, label : table and its labels
        decay_rate : float between 0 and 1
            A value becomes ``decay_rate`` times the old one and the rest of the one that these rows give.
        weight, group, init_score : arrays
            As ``sample_weight``, ``group`` and ``init_score`` of `fit`.
        """
        from arboretum.boosting.lightgbm.refit import refitted

        return LGBMBooster(refitted(self.model, data, label, decay_rate, weight, group, init_score))

    def predict(self, X: Any, **arguments: Any) -> np.ndarray:
        """Return numbers or probabilities; for two classes that of the second.

        Arguments as for `predict` of the model.
        """
        return self.model._answer(X, self.model._objective.predict, **arguments)

    def save_model(self, path: Any) -> LGBMBooster:
        """Write the model to a file that `arboretum.load` reads."""
        self.model.save(path)
        return self

    def trees_to_dataframe(self) -> pd.DataFrame:
        """Return a line for every node, the nodes of a tree from the top, left before right.

        ``value`` is a node's contribution to the raw score; as in LightGBM, the first tree of an output
        (every one in a forest) includes the score before all trees.
        """
        import pandas as pd

        lines = [line for t in range(self.num_trees()) for line in self._lines(t)]
        return pd.DataFrame(lines)

    def dump_model(
        self,
        num_iteration: int | None = None,
        start_iteration: int = 0,
        importance_type: str = "split",
    ) -> dict[str, Any]:
        """Return the trees as nested dicts, as LightGBM does.

        Parameters
        ----------
        num_iteration, start_iteration : int
            How many rounds, and the first one; None and numbers below 1: up to the best one after early
            stopping, else all.
        importance_type : {"split", "gain"}
        """
        start, per_round = max(start_iteration, 0), self.num_model_per_iteration()
        end = self.model._last_round(num_iteration, start)
        trees = range(self.num_trees())[
            start * per_round : None if end is None else end * per_round
        ]
        names, ensemble = self.feature_name(), self.model.ensemble_
        worth = self.feature_importance(importance_type, num_iteration).tolist()
        return {
            "name": "tree",
            "num_class": ensemble.n_outputs,
            "num_tree_per_iteration": per_round,
            "max_feature_idx": len(names) - 1,
            "objective": self.model._objective.name,
            "average_output": ensemble.averaged,
            "feature_names": names,
            "feature_importances": {name: value for name, value in zip(names, worth) if value},
            "pandas_categorical": self.pandas_categorical,
            "tree_info": [self._dumped(t) for t in trees],
        }

    @property
    def pandas_categorical(self) -> list[list[Any]]:
        """The categories of every column that has some."""
        columns = self.model.schema_.columns
        return [list(one.categories) for one in columns if one.categories is not None]

    def _dumped(self, t: int) -> dict[str, Any]:
        lines = {line["node_index"]: line for line in self._lines(t)}
        names = self.feature_name()

        def nested(name: str) -> dict[str, Any]:
            line, number = lines[name], int(name.rpartition("-")[2][1:])
            kind = "leaf" if line["left_child"] is None else "internal"
            known = {f"{kind}_{key}": line[key] for key in ("value", "weight", "count")}
            if kind == "leaf":
                return {"leaf_index": number, **known}
            return {
                "split_index": number,
                "split_feature": names.index(line["split_feature"]),
                **{
                    k: line[k] for k in ("split_gain", "threshold", "decision_type", "missing_type")
                },
                "default_left": line["missing_direction"] == "left",
                **known,
                "left_child": nested(line["left_child"]),
                "right_child": nested(line["right_child"]),
            }

        return {
            "tree_index": t,
            "num_leaves": sum(line["left_child"] is None for line in lines.values()),
            "num_cat": sum(line["decision_type"] == "==" for line in lines.values()),
            "tree_structure": nested(next(iter(lines))),
        }

    def __getattr__(self, name: str) -> Any:
        hint = f": {_MISSING[name]}" if name in _MISSING else ""
        raise AttributeError(f"booster_ has no {name}{hint}", name=name, obj=self)

    def _tree(self, t: int) -> tuple[Tree, np.ndarray]:
        """Return a tree and what each of its nodes adds to the score."""
        ensemble = self.model.ensemble_
        return ensemble.trees[t], ensemble.values_of(t, with_base=True)[:, 0, 0]

    def _lines(self, t: int) -> list[dict[str, Any]]:
        tree, value = self._tree(t)
        split, leaf = leaf_numbers(tree)
        names = [
            f"{t}-S{split[n]}" if split[n] >= 0 else f"{t}-L{leaf[n]}" for n in range(len(split))
        ]
        lines = []
        waiting: list[tuple[int, int, str | None]] = [(0, 1, None)]
        while waiting:
            node, depth, parent = waiting.pop()
            line = {"tree_index": t, "node_depth": depth, "node_index": names[node]}
            line |= {"left_child": None, "right_child": None, "parent_index": parent}
            line |= self._question(tree, node)
            if split[node] >= 0:
                left = int(tree.first_child[node])
                line |= {"left_child": names[left], "right_child": names[left + 1]}
                waiting += [(left + 1, depth + 1, names[node]), (left, depth + 1, names[node])]
            line |= {"value": float(value[node]), "weight": float(tree.weight[node])}
            line["count"] = int(tree.count[node])
            lines.append(line)
        return lines

    def _question(self, tree: Tree, node: int) -> dict[str, Any]:
        keys = (
            "split_feature", "split_gain", "threshold", "decision_type", "missing_direction",
            "missing_type",
        )  # fmt: skip
        f = int(tree.feature[node])
        if f < 0:
            return dict.fromkeys(keys)
        column = tree.schema.columns[f]
        by_set = tree.kind[node] == SUBSET
        threshold: Any = float(tree.threshold[node])
        if by_set:
            threshold = "||".join(map(str, tree.categories_of(int(tree.bits_start[node]), f)[0]))
        side = "left" if tree.missing_child[node] == 0 else "right"
        return {
            "split_feature": self.model.feature_name_[f],
            "split_gain": float(tree.gain[node]),
            "threshold": threshold,
            "decision_type": "==" if by_set else "<=",
            "missing_direction": side,
            "missing_type": "NaN" if column.has_missing else "None",
        }
