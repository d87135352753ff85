"""`XGBModel`, the base of XGBoost's estimators: parameters, and their effect on a fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.callbacks.watching import StoppingRule
from arboretum.boosting.callbacks.xgboost_callbacks import (
    EarlyStopping,
    EvaluationMonitor,
    own_callback,
)
from arboretum.boosting.second_order.boosted_model import BoostedModel
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, requested_snapshot, seed_of
from arboretum.boosting.xgboost.answers import XGBAnswers
from arboretum.boosting.xgboost.arguments import by_position, n_columns, tables_of
from arboretum.boosting.xgboost.parameters import ALIASES, ATTRIBUTES, PARAMETERS, PASSED
from arboretum.boosting.xgboost.recipe import make_recipe, value
from arboretum.data.checks import check_scale
from arboretum.data.target import numbers
from arboretum.errors import DataError, ParameterError, UnsupportedError
from arboretum.grow.bins.learn import BinRules

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import Watch
    from arboretum.predict.ensemble import Ensemble

__all__ = ["XGBModel", "with_defaults"]


class XGBModel(XGBAnswers):
    """The base of XGBoost's estimators, for ``isinstance`` and for classes of your own.

    Itself it predicts numbers, without scikit-learn's interface of a regressor.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from arboretum import XGBClassifier
    >>> isinstance(XGBClassifier(), XGBModel), XGBModel(max_depth=2).get_xgb_params()["max_depth"]
    (True, 2)
    """

    dialect: ClassVar[str] = "xgboost"
    target: ClassVar[str] = "numbers"  # or "classes", "orders"
    usual_objective: ClassVar[str] = "reg:squarederror"
    _aliases: ClassVar = ALIASES
    _passed: ClassVar = PASSED
    _parameters: ClassVar = PARAMETERS
    _attributes: ClassVar = ATTRIBUTES
    _free_to_change: ClassVar = frozenset({"importance_type", "unseen"})

    def __init__(  # one argument per parameter: scikit-learn reads the signature
        self,
        *,
        objective: str | Callable[..., Any] | None = None,
        max_depth: int | None = None,
        max_leaves: int | None = None,
        max_bin: int | None = None,
        grow_policy: str | None = None,
        learning_rate: float | None = None,
        n_estimators: int | None = None,
        verbosity: int | None = None,
        booster: str | None = None,
        tree_method: str | None = None,
        n_jobs: int | None = None,
        gamma: float | None = None,
        min_child_weight: float | None = None,
        max_delta_step: float | None = None,
        subsample: float | None = None,
        sampling_method: str | None = None,
        colsample_bytree: float | None = None,
        colsample_bylevel: float | None = None,
        colsample_bynode: float | None = None,
        reg_alpha: float | None = None,
        reg_lambda: float | None = None,
        scale_pos_weight: float | None = None,
        base_score: Any = None,
        random_state: Any = None,
        missing: float = np.nan,
        num_parallel_tree: int | None = None,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        importance_type: str | None = None,
        device: str | None = None,
        validate_parameters: bool | None = None,
        enable_categorical: bool = False,
        feature_types: Sequence[str] | None = None,
        feature_weights: Any = None,
        max_cat_to_onehot: int | None = None,
        max_cat_threshold: int | None = None,
        multi_strategy: str | None = None,
        eval_metric: Any = None,
        early_stopping_rounds: int | None = None,
        callbacks: Sequence[Any] | None = None,
        rate_drop: float | None = None,
        skip_drop: float | None = None,
        one_drop: bool | None = None,
        sample_type: str | None = None,
        normalize_type: str | None = None,
        huber_slope: float | None = None,
        quantile_alpha: Any = None,
        tweedie_variance_power: float | None = None,
        lambdarank_pair_method: str | None = None,
        lambdarank_num_pair_per_sample: int | None = None,
        lambdarank_normalization: bool | None = None,
        lambdarank_score_normalization: bool | None = None,
        lambdarank_unbiased: bool | None = None,
        ndcg_exp_gain: bool | None = None,
        proposals: str | None = None,
        sketch_eps: float | None = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    @by_position
    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        base_margin: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        verbose: bool | int | None = True,
        xgb_model: Any = None,
        sample_weight_eval_set: Sequence[Any] | None = None,
        base_margin_eval_set: Sequence[Any] | None = None,
        feature_weights: Any = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values, and so are entries a sparse matrix does not store.
            Files and streams larger than memory: see docs/scale.md.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), or the name of a column of X
            Each column has its own trees. The columns of a classifier hold 0 and 1: a row may have several
            labels.
        sample_weight : array-like of shape (n_samples,) or None
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
            Margins to start from, instead of one for all rows.
        eval_set : list of (X, y) or None
            Tables for the evaluation of every round.
        verbose : bool or int, default=True
            Print the metrics of every round, or of every n-th round.
        xgb_model : fitted model, its booster, path or None
            Continue from these trees.
        sample_weight_eval_set, base_margin_eval_set : lists, one entry per table
        feature_weights : array-like of shape (n_features,) or None
            As the parameter of the same name, which XGBoost prefers.
        save_snapshot : path or None
            File for the state of the fit, written every ``snapshot_every`` rounds.
        resume : bool or path
            Continue from the snapshot if there is one; the model is the same as without the interruption.

        Returns
        -------
        self
        """
        held_out = tables_of(
            eval_set, sample_weight_eval_set, base_margin_eval_set, [None] * len(eval_set or ())
        )
        return self._boost(
            GivenTable(X, y, sample_weight, base_margin), held_out, verbose, xgb_model, feature_weights,
            (save_snapshot, snapshot_every, resume),
        )  # fmt: skip

    def _boost(
        self,
        training: GivenTable,
        held_out: list[GivenTable],
        verbose: bool | int | None,
        earlier: Any,
        feature_weights: Any,
        snapshot: tuple[Any, Any, Any],
    ) -> Self:
        """Check the arguments, and learn."""
        self._check_parameters()
        if feature_weights is not None and self.feature_weights is not None:
            raise ParameterError(
                "feature_weights are given to fit and to the constructor. Use the one in the constructor"
            )
        if self._is_forest and (self.early_stopping_rounds, self.callbacks) != (None, None):
            raise UnsupportedError(
                f"{type(self).__name__} grows all trees in one round: early_stopping_rounds and callbacks, "
                "which act between rounds, are for XGBClassifier and XGBRegressor"
            )
        callbacks = [own_callback(one) for one in self.callbacks or ()]
        if held_out and verbose:
            callbacks.append(EvaluationMonitor(int(verbose)))
        stops = [one for one in callbacks if isinstance(one, EarlyStopping)]
        stopping = [one.rule() for one in stops]
        if self.early_stopping_rounds is not None:
            if not held_out:
                raise ParameterError(
                    "early_stopping_rounds needs tables for evaluation: give eval_set to fit"
                )
            stopping.insert(0, StoppingRule(self.early_stopping_rounds))
        from arboretum.engine.compiler.log import quiet

        recipe = partial(
            make_recipe, self, n_jobs=self._threads(), evaluates=bool(held_out),
            column_weights=self.feature_weights if feature_weights is None else feature_weights,
        )  # fmt: skip
        with quiet() if value(self, "verbosity") == 0 else nullcontext():
            self._fit(
                FitRequest(
                    training,
                    recipe,
                    seed_of(self.random_state),
                    held_out,
                    self._columns(),
                    stopping,
                    any(one.save_best for one in stops),
                    callbacks,
                    self._earlier(earlier),
                    float(self.missing),
                    requested_snapshot(*snapshot),
                    (BinRules.sample, seed_of(self.random_state)),
                    bar=value(self, "verbosity") >= 2,
                )
            )
        return self._end_fit(self.interrupted_)

    def _columns(self) -> dict[str, Any]:
        """Return the user's settings of the columns, as `learn_schema` takes them."""
        if self.feature_types is None:
            return self._column_kinds()
        if self.categorical_features is not None:
            raise ParameterError(
                "feature_types and categorical_features mean the same: give one of them"
            )
        known = ("q", "float", "int", "i", "c")
        odd = [kind for kind in self.feature_types if kind not in known]
        if odd:
            raise ParameterError(f"feature_types must hold {', '.join(known)}, got {odd[0]!r}")
        categories = [kind == "c" for kind in self.feature_types]
        return {**self._column_kinds(), "categorical_features": categories}

    def _take_rounds(self, watch: Watch, ensemble: Ensemble) -> None:
        super()._take_rounds(watch, ensemble)
        self._texts = {key: str(text) for key, text in watch.texts.items() if text is not None}
        best = self._texts.get("best_iteration"), self._texts.get("best_score")
        if self._best is None and None not in best:  # XGBoost's stopping callbacks write it there
            self._best = int(best[0]), float(best[1])  # type: ignore[arg-type]

    def _learn_labels(self, y: Any, n_rows: int, earlier: BoostedModel | None) -> np.ndarray:
        self.n_outputs_ = n_columns(y)
        return self._labels(y, n_rows)

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        if values.shape[1] != self.n_outputs_:
            raise DataError(f"y has {values.shape[1]} columns, the model {self.n_outputs_} targets")
        check_scale(values)
        return values if self.n_outputs_ > 1 else np.ascontiguousarray(values[:, 0])


def with_defaults(**defaults: Any) -> Callable[..., None]:
    """Return XGBModel's constructor with other defaults."""

    def __init__(self: Any, **parameters: Any) -> None:
        XGBModel.__init__(self, **{**defaults, **parameters})

    shape = inspect.signature(XGBModel.__init__)
    found = [
        one.replace(default=defaults.get(one.name, one.default)) if one.name != "self" else one
        for one in shape.parameters.values()
    ]
    __init__.__signature__ = shape.replace(parameters=found)  # type: ignore[attr-defined]
    return by_position(__init__)
