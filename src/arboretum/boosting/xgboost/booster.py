"""The result of `get_booster()`: the trees of a model, with the interface of XGBoost's Booster."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.second_order.boosted_model import squeezed
from arboretum.boosting.xgboost.config import config_of
from arboretum.boosting.xgboost.dumps import DUMPS, cells, names_of_map
from arboretum.boosting.xgboost.recipe import evaluated
from arboretum.errors import DataError, ParameterError
from arboretum.structure.cuts import cut_histogram
from arboretum.structure.tree import Tree

if TYPE_CHECKING:
    from arboretum.base.anatomy import Anatomy
    from arboretum.boosting.xgboost.model import XGBModel

__all__ = ["XGBBooster"]

IMPORTANCES = ("weight", "gain", "cover", "total_gain", "total_cover")

# Methods of XGBoost's Booster that are missing here -> what to use.
_MISSING = {
    "save_raw": "use save_model(file), or pickle",
    "load_model": "use load_model of the estimator, or arboretum.load",
    "load_config": "use set_params of the estimator",
    "update": "fit the estimator again with xgb_model=",
    "boost": "give the estimator objective= a function",
    "get_categories": "use schema_.columns of the estimator",
    "get_quantile_cut": "use trees_to_dataframe() for the cuts that are used",
    "reset": "there is nothing to free",
}


class XGBBooster:
    """The trees of a fitted model.

    ``len``, slices and iteration count rounds: ``booster[:10]`` has the first ten.
    """

    def __init__(self, model: XGBModel) -> None:
        self.model = model

    def _anatomy(self) -> Anatomy:
        return self.model._anatomy()

    def __getattr__(self, name: str) -> Any:
        if name in ("best_iteration", "best_score"):
            return getattr(self.model, name)
        why = f": {_MISSING[name]}" if name in _MISSING else ""
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{why}")

    # ------------------------------------------------------------------ rounds
    def num_boosted_rounds(self) -> int:
        """Return the number of rounds."""
        return self.model.ensemble_.n_rounds

    def __len__(self) -> int:
        return self.num_boosted_rounds()

    def __getitem__(self, rounds: int | slice) -> XGBBooster:
        n = len(self)
        if not isinstance(rounds, slice):
            if not -n <= rounds < n:
                raise IndexError(f"there are {n} rounds, not a round {rounds}")
            start = int(rounds) % n
            rounds = slice(start, start + 1)
        start, stop, step = rounds.indices(n)
        if step != 1 or start >= stop:
            raise ParameterError(f"a slice must have consecutive rounds of the {n}, got {rounds}")
        part = copy.copy(self.model)
        part.ensemble_, part._best = self.model.ensemble_.rounds(start, stop), None
        return XGBBooster(part)

    def __iter__(self) -> Iterator[XGBBooster]:
        return (self[m] for m in range(len(self)))

    def copy(self) -> XGBBooster:
        """Return a booster of the same trees."""
        return self[:]

    # ------------------------------------------------------------------ columns
    def num_features(self) -> int:
        """Return the number of columns."""
        return self.model.n_features_in_

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns, f0, f1 … if the table had none; dumps and scores have what is set here."""
        schema = self.model.schema_
        own = [f"f{f}" for f in range(schema.n_features)]
        return list(self.model._shown_names or (schema.names if schema.named else own))

    @feature_names.setter
    def feature_names(self, names: Sequence[str] | None) -> None:
        if names is not None and len(names) != self.num_features():
            raise ParameterError(f"{len(names)} feature_names for {self.num_features()} columns")
        self.model._shown_names = None if names is None else [str(name) for name in names]

    @property
    def feature_types(self) -> list[str] | None:
        """Kinds of the columns, "c" for categories; None for an array of numbers."""
        if self.model.feature_types is not None:
            return list(self.model.feature_types)
        schema = self.model.schema_
        kinds = ["c" if one.kind == "categorical" else "float" for one in schema.columns]
        return kinds if schema.named or "c" in kinds else None

    def _names(self, fmap: Any) -> list[str]:
        """Return the names of the columns, by a file of lines "number name type" if there is one."""
        names = self.feature_names
        if fmap and not os.path.exists(fmap):
            raise ParameterError(f"fmap must be a file of names of columns, got {fmap!r}")
        for number, name in (names_of_map(fmap) if fmap else {}).items():
            names[number] = name
        return names

    # ------------------------------------------------------------------ attributes
    def attributes(self) -> dict[str, str]:
        """Return the texts that belong to the model: its best round, and what `set_attr` has set."""
        best = self.model._best
        found = {} if best is None else {"best_iteration": str(best[0]), "best_score": str(best[1])}
        return {**found, **self.model._texts}

    def attr(self, key: str) -> str | None:
        """Return one of the texts, or None."""
        return self.attributes().get(key)

    def set_attr(self, **texts: Any) -> None:
        """Keep texts with the model, also in its file; None removes one."""
        new = {**self.model._texts, **texts}
        self.model._texts = {key: str(text) for key, text in new.items() if text is not None}

    def set_param(self, params: Any, value: Any = None) -> None:
        """Set parameters of the estimator, which the next fit uses."""
        given = {params: value} if isinstance(params, str) else dict(params)
        self.model.set_params(**given)

    def save_config(self) -> str:
        """Return parameters and outline of the model as JSON, as XGBoost names them."""
        return json.dumps(config_of(self.model))

    # ------------------------------------------------------------------ predictions
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
        strict_shape: bool = False,
    ) -> np.ndarray:
        """Predict, as XGBoost's Booster does: numbers, probabilities, leaves or contributions.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Or a DMatrix of XGBoost, whose data and margins are read.
        output_margin : bool, default=False
            Return the sums of the trees' values.
        pred_leaf : bool, default=False
            Return the leaf each row reaches in each tree.
        pred_contribs : bool, default=False
            Return the contribution of every column to the margin (SHAP values), and last their base:
            (rows, columns + 1), for several outputs (rows, outputs, columns + 1).
        approx_contribs : bool, default=False
            With ``pred_contribs``, credit each split on a row's path with the change it makes (Saabas):
            not SHAP values, but the same sum. Interactions are always exact.
        pred_interactions : bool, default=False
            The same for pairs of columns: symmetric tables whose rows sum to the contributions.
        validate_features : bool, default=True
            Match columns by name; else take them in order.
        iteration_range : (int, int), default=(0, 0)
            The rounds to use; (0, 0) are all.
        strict_shape : bool, default=False
            Keep the axis of outputs if there is one; leaves get the shape (rows, rounds, outputs, trees).
        """
        requested = {
            "pred_leaf": pred_leaf,
            "pred_contribs": pred_contribs,
            "pred_interactions": pred_interactions,
        }
        if sum(map(bool, requested.values())) > 1:
            both = " and ".join(name for name, wanted in requested.items() if wanted)
            raise ParameterError(f"{both} exclude each other: request one of them")
        if approx_contribs and not (pred_contribs or pred_interactions):
            raise ParameterError(
                "approx_contribs sets how pred_contribs are computed: set pred_contribs=True too"
            )
        model, (X, base_margin) = self.model, self._table_of(X)
        X = X if validate_features else model._in_order(X)
        rounds = model._range(iteration_range)
        if pred_leaf:
            leaves, kept = model._leaves(X, *rounds), model.ensemble_
            shape = len(leaves), -1, kept.n_outputs, kept.n_parallel
            return leaves.reshape(shape) if strict_shape else leaves
        if pred_contribs or pred_interactions:
            found = model._contributions_of(
                X, *rounds, pairs=pred_interactions, approximate=approx_contribs and pred_contribs
            )
            return found if strict_shape else squeezed(found)
        margin = model._margin(X, *rounds, base_margin)
        return self._answers(margin, margin=output_margin, strict_shape=strict_shape)

    def _table_of(self, data: Any) -> tuple[Any, Any]:
        """Return the columns, in their order, and the margins of a DMatrix; a table and None."""
        if not hasattr(data, "get_base_margin"):
            return data, None
        margin = data.get_base_margin()
        return self.model._in_order(data.get_data()), margin if len(margin) else None

    def inplace_predict(
        self,
        data: Any,
        *,
        iteration_range: tuple[int, int] = (0, 0),
        predict_type: str = "value",
        validate_features: bool = True,
        base_margin: Any = None,
        strict_shape: bool = False,
    ) -> np.ndarray:
        """Predict a table: its ``"value"``, or the ``"margin"``, the sum of the trees."""
        if predict_type not in ("value", "margin"):
            raise ParameterError(f"predict_type must be 'value' or 'margin', got {predict_type!r}")
        data = data if validate_features else self.model._in_order(data)
        margin = self.model._margin(data, *self.model._range(iteration_range), base_margin)
        return self._answers(margin, margin=predict_type == "margin", strict_shape=strict_shape)

    def _answers(self, sums: np.ndarray, *, margin: bool, strict_shape: bool) -> np.ndarray:
        values = squeezed(sums) if margin else self.model._objective.predict(sums)
        return values.reshape(len(sums), -1) if strict_shape else values

    def eval(self, data: Any, name: str = "eval", iteration: int = 0) -> str:
        """Return the metrics of a DMatrix of XGBoost as a line of text."""
        return self.eval_set([(data, name)], iteration)

    def eval_set(self, evals: Sequence[tuple[Any, str]], iteration: int = 0) -> str:
        """Return the metrics of several of them, ``"[0]\\ttrain-rmse:0.5"``."""
        line = [f"[{iteration}]"]
        for data, name in evals:
            X, margin = self._table_of(data)
            if X is data:
                raise DataError("eval needs labels: use score or evals_result() of the estimator")
            pointers = data.get_uint_info("group_ptr")
            groups = np.diff(pointers.astype(np.int64)) if len(pointers) else None
            weight = data.get_weight() if len(data.get_weight()) else None
            found = evaluated(self.model, X, data.get_label(), weight, groups, margin)
            line += [f"{name}-{one.name}:{one.value:.17g}" for one in found]
        return "\t".join(line)

    # ------------------------------------------------------------------ trees
    def get_score(self, fmap: Any = "", importance_type: str = "weight") -> dict[str, float]:
        """Return the importance of the columns with splits, by name."""
        if importance_type not in IMPORTANCES:
            raise ParameterError(
                f"importance_type must be one of {', '.join(IMPORTANCES)}, got {importance_type!r}"
            )
        importance = self.model._importance()
        used = np.flatnonzero(importance["weight"])
        names = self._names(fmap)
        return {names[f]: float(importance[importance_type][f]) for f in used}

    def get_fscore(self, fmap: Any = "") -> dict[str, float]:
        """Return the number of splits on every column that has some."""
        return self.get_score(fmap)

    def get_split_value_histogram(
        self, feature: str, fmap: Any = "", bins: int | None = None, as_pandas: bool = True
    ) -> Any:
        """Return how many splits on a column lie in each of some ranges: upper ends and counts."""
        names, kinds = self._names(fmap), self.feature_types
        if feature in names and kinds is not None and kinds[names.index(feature)] == "c":
            raise ParameterError(f"{feature!r} holds categories, which this histogram doesn't show")
        f = names.index(feature) if feature in names else -2  # of no node
        counts, ends = cut_histogram(self.model.trees_, f, bins or None)
        found = np.column_stack([ends[1:], counts])[counts > 0]
        if not as_pandas:
            return found
        import pandas as pd

        return pd.DataFrame(found, columns=["SplitValue", "Count"])

    def get_dump(
        self, fmap: Any = "", with_stats: bool = False, dump_format: str = "text"
    ) -> list[str]:
        """Return every tree as text, JSON or dot."""
        if dump_format not in DUMPS:
            raise ParameterError(
                f"dump_format must be 'text', 'json' or 'dot', got {dump_format!r}"
            )
        show, names = DUMPS[dump_format], self._names(fmap)
        return [show(tree, names, with_stats) for tree in self._trees()]

    def dump_model(
        self, fout: Any, fmap: Any = "", with_stats: bool = False, dump_format: str = "text"
    ) -> None:
        """Write every tree to a file as text or JSON."""
        trees = self.get_dump(fmap, with_stats, dump_format)
        if dump_format == "json":
            text = "[\n" + ",\n".join(trees) + "\n]"
        else:
            text = "".join(f"booster[{t}]:\n{tree}" for t, tree in enumerate(trees))
        Path(fout).write_text(text)

    def _trees(self) -> list[tuple[Tree, float]]:
        ensemble = self.model.ensemble_
        return list(zip(ensemble.trees, ensemble.weights.tolist(), strict=True))

    def trees_to_dataframe(self, fmap: Any = "") -> Any:
        """Return all nodes as a pandas table; Gain is the value at a leaf."""
        import pandas as pd

        names, rows = self._names(fmap), []
        for t, (tree, weight) in enumerate(self._trees()):
            for node in range(len(tree)):
                rows.append((t, node, f"{t}-{node}", *cells(tree, t, node, weight, names)))
        columns = (
            "Tree", "Node", "ID", "Feature", "Split", "Yes", "No", "Missing", "Gain", "Cover", "Category",
        )  # fmt: skip
        return pd.DataFrame(rows, columns=list(columns))

    def save_model(self, fname: Any) -> None:
        """Write the model to a file in arboretum's own format."""
        self.model.save_model(fname)
