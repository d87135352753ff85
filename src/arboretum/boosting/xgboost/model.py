"""`XGBModel`, what XGBoost's estimators share: their parameters, fit, predict and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from os import PathLike
from types import MappingProxyType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.callbacks.watching import StoppingRule
from arboretum.boosting.callbacks.xgboost_callbacks import (
    EarlyStopping,
    EvaluationMonitor,
    own_callback,
)
from arboretum.boosting.names.passed import PeerNames
from arboretum.boosting.second_order.boosted_model import BoostedModel, squeezed
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, requested_snapshot, seed_of
from arboretum.boosting.xgboost.arguments import by_position, n_columns, tables_of
from arboretum.boosting.xgboost.booster import XGBBooster
from arboretum.boosting.xgboost.config import intercepts
from arboretum.boosting.xgboost.parameters import (
    ALIASES,
    ATTRIBUTES,
    DEFAULTS,
    PARAMETERS,
    PASSED,
    WRAPPER_ONLY,
)
from arboretum.boosting.xgboost.recipe import make_recipe, value
from arboretum.data.checks import check_scale, warn_caller
from arboretum.data.target import numbers
from arboretum.errors import DataError, ModelFileError, ParameterError, UnsupportedError
from arboretum.grow.bins.learn import BinRules

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.watching import Watch
    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble

__all__ = ["XGBModel", "with_defaults"]


class XGBModel(PeerNames, BoostedModel):
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
    _is_forest: ClassVar[bool] = False  # n_estimators are the trees of one round
    _learned: ClassVar = (*BoostedModel._learned, "_shown_names", "_texts")
    _shown_names: list[str] | None = None  # of columns, in dumps
    _texts: Mapping[str, str] = MappingProxyType({})  # see `XGBBooster.set_attr`
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
            Every column has trees of its own; columns of a classifier hold 0 and 1 (labels of which a row may
            have several).
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

    @property
    def _n_parallel(self) -> int:
        """The number of trees of a round, for every output."""
        return int(value(self, "n_estimators" if self._is_forest else "num_parallel_tree"))

    # ------------------------------------------------------------------ predictions
    def _encode(self, X: Any) -> Matrix:
        return self._matrix(X, float(self.missing))

    @property
    def _absent(self) -> float:
        return float(self.missing)

    def _range(self, iteration_range: Any) -> tuple[int, int | None]:
        """Return the rounds to use: the given ones, else all up to the best one."""
        if iteration_range is None or tuple(iteration_range) == (0, 0):
            return 0, None if iteration_range else self._best_end
        whole = [
            isinstance(v, int | np.integer) and not isinstance(v, bool) for v in iteration_range
        ]
        if len(whole) != 2 or not all(whole):
            raise ParameterError(f"iteration_range must be two ints, got {iteration_range!r}")
        start, end = (int(v) for v in iteration_range)
        n = self.ensemble_.n_rounds
        if end == 0:
            end = n
        if not 0 <= start < end <= n:
            raise ParameterError(
                f"iteration_range must lie within the {n} rounds of the model, got ({start}, {end})"
            )
        return start, end

    def _requested_margin(
        self, X: Any, base_margin: Any, iteration_range: Any, validate_features: bool = True
    ) -> np.ndarray:
        self._check_fitted()
        X = X if validate_features else self._in_order(X)
        return self._margin(X, *self._range(iteration_range), base_margin)

    def _in_order(self, X: Any) -> Any:
        """Return a table whose columns are taken in order, whatever their names."""
        from arboretum.data.table import Table, read_table

        table = read_table(X)
        schema = self.schema_
        if len(table.names) != schema.n_features:
            return X
        return Table(schema.names, schema.named, table.n_rows, table.body)

    def predict(
        self,
        X: Any,
        *,
        output_margin: bool = False,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> np.ndarray:
        """Predict.

        Parameters
        ----------
        X : table
        output_margin : bool, default=False
            Return the sums of the trees instead of predictions.
        validate_features : bool, default=True
            Match columns by name; else take them in order.
        base_margin : array-like or None
            Margins to start from.
        iteration_range : (int, int) or None
            Use the trees of some rounds only; None: up to the best one if there was early stopping.
        """
        margin = self._requested_margin(X, base_margin, iteration_range, validate_features)
        return squeezed(margin) if output_margin else self._predicted(margin)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        self._check_fitted()
        return self._leaves(X, *self._range(iteration_range))

    # ------------------------------------------------------------------ attributes
    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """Return the metrics of every round, by table and name."""
        self._check_fitted()
        if not self.evals_result_:
            raise ParameterError("there are no metrics: fit was given no eval_set")
        return self.evals_result_

    @property
    def best_iteration(self) -> int:
        """The round that was best, counted from 0."""
        return self._best_of("best_iteration")[0]

    @property
    def best_score(self) -> float:
        """The metric of the best round."""
        return self._best_of("best_score")[1]

    def _best_of(self, name: str) -> tuple[int, float]:
        best = getattr(self, "_best", None)
        if best is None:
            raise AttributeError(f"`{name}` is only defined when early stopping is used")
        return best

    @property
    def feature_importances_(self) -> np.ndarray:
        """The columns' shares of the importance named by `importance_type`."""
        kind, known = value(self, "importance_type"), self._importance()
        if kind not in known:
            raise ParameterError(f"importance_type must be one of {list(known)}, got {kind!r}")
        found = known[kind]
        return found / found.sum() if found.sum() > 0 else found

    def _in_effect(self) -> dict[str, Any]:
        given = super()._in_effect()
        return {name: DEFAULTS.get(name) if x is None else x for name, x in given.items()}

    def get_booster(self) -> XGBBooster:
        """Return the trees with the interface of XGBoost's Booster."""
        self._check_fitted()
        return XGBBooster(self)

    def get_num_boosting_rounds(self) -> int:
        """Return the number of requested rounds."""
        return 1 if self._is_forest else int(value(self, "n_estimators"))

    def get_xgb_params(self) -> dict[str, Any]:
        """Return the parameters that XGBoost's own `train` would get."""
        given = self.get_params(deep=False)
        found = {k: v for k, v in given.items() if k not in WRAPPER_ONLY and not callable(v)}
        if not isinstance(self.random_state, int | NoneType):
            found["random_state"] = seed_of(self.random_state)
        if self._is_forest:
            found["num_parallel_tree"] = self._n_parallel
        return found

    @property
    def intercept_(self) -> np.ndarray:
        """The prediction before the first tree, one per output; of several classes the margins."""
        self._check_fitted()
        return intercepts(self).astype(np.float32)

    @property
    def coef_(self) -> np.ndarray:
        """Missing: trees have no coefficients."""
        raise AttributeError("coef_ is not defined: trees have no coefficients")

    def save_model(self, fname: Any) -> None:
        """Write the model to a file, in arboretum's own format whatever the file is called."""
        if isinstance(fname, str | PathLike) and str(fname).endswith((".json", ".ubj")):
            warn_caller(
                f"{fname} gets arboretum's own format: load_model of arboretum reads it, XGBoost cannot"
            )
        self.save(fname)

    def load_model(self, fname: Any) -> None:
        """Replace this model by that of a file that `save_model` has written."""
        from arboretum.io.native import load

        try:
            other = load(fname)
        except ModelFileError as error:
            raise ModelFileError(f"{error} (files of XGBoost cannot be read)") from error
        if not isinstance(other, XGBModel) or other.target != self.target:
            raise ParameterError(
                f"the file holds a {type(other).__name__}, not a {type(self).__name__}"
            )
        self.__dict__ = other.__dict__

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        texts = {"texts": dict(self._texts)} if self._texts else {}
        return {**super()._get_fitted_state(), **texts}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        texts = state.get("texts", {})
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise ModelFileError("its texts are damaged")
        self._texts = texts


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
