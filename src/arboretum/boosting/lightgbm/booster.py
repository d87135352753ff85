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
from arboretum.structure.tree import SUBSET

if TYPE_CHECKING:
    import pandas as pd

    from arboretum.base.anatomy import Anatomy
    from arboretum.structure.tree import Tree

__all__ = ["LGBMBooster", "leaf_numbers"]


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

    def predict(self, X: Any, **arguments: Any) -> np.ndarray:
        """Return numbers or probabilities; for two classes that of the second.

        Arguments as for `predict` of the model.
        """
        return self.model._answer(X, self.model.objective_.predict, **arguments)

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

    def _lines(self, t: int) -> list[dict[str, Any]]:
        ensemble = self.model.ensemble_
        tree, output = ensemble.trees[t], ensemble.output_of(t)
        base = ensemble.base[output] if ensemble.averaged or t < ensemble.per_round else 0.0
        value = tree.value[:, 0, 0] * ensemble.weights[t] + base
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
            line |= {"value": value[node], "weight": tree.weight[node], "count": tree.count[node]}
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
            start = int(tree.bits_start[node])
            known = enumerate(column.categories or ())
            members = [c for k, c in known if tree.bits[start + (k >> 5)] >> np.uint32(k & 31) & 1]
            threshold = "||".join(str(one) for one in members)
        side = "left" if tree.missing_child[node] == 0 else "right"
        return {
            "split_feature": self.model.feature_name_[f],
            "split_gain": float(tree.gain[node]),
            "threshold": threshold,
            "decision_type": "==" if by_set else "<=",
            "missing_direction": side,
            "missing_type": "NaN" if column.has_missing else "None",
        }
