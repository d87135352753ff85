"""What XGBoost's three estimators share: their parameters, fit, predict and what can be asked of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base.parameters import Parameter
from arboretum.boosting.dialect.find import default_metric, find_metrics, find_objective
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.second_order.boosted_model import BoostedModel, Given, Request
from arboretum.boosting.second_order.open_booster import ExactBooster, OpenBooster, RebinningBooster
from arboretum.boosting.second_order.snapshot import Snapshot
from arboretum.boosting.watch.watching import EvaluationMonitor, Judge, Patience, named_judge
from arboretum.boosting.xgboost import parameters as xgb
from arboretum.boosting.xgboost.arguments import (
    entries_with_nan,
    function_judge,
    in_order,
    is_raw,
    judge_of_shares,
    refuse_feature_weights,
    tables_of,
    with_nan,
)
from arboretum.boosting.xgboost.booster import XGBBooster
from arboretum.data.matrix import DenseMatrix, FrameMatrix, Matrix, SparseMatrix
from arboretum.errors import ParameterError
from arboretum.grow.bins.find import Bins, find_bins

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.booster import Plan, Training
    from arboretum.data.schema import Schema

__all__ = ["XGBModel", "with_objective"]

_INSTEAD = {1: "reg:squarederror", 2: "binary:logistic", 3: "multi:softprob"}  # by classes


class XGBModel(BoostedModel):
    """What XGBoost's three estimators share."""

    dialect: ClassVar[str] = "xgboost"
    _aliases: ClassVar = xgb.ALIASES
    _parameters: ClassVar = {name: Parameter(rule) for name, rule in xgb.RULES.items()}

    def __init__(  # one argument per parameter: scikit-learn reads the signature
        self,
        *,
        objective: str | Callable | None = None,
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
        feature_weights: None = None,
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
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    # ------------------------------------------------------------------ fitting
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
        feature_weights: None = None,
        save_snapshot: Any = None,
        snapshot_every: int = 10,
        resume: Any = False,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values, and what a sparse matrix does not store.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        base_margin : array-like of shape (n_samples,) or (n_samples, n_outputs), or None
            Margins to begin with, instead of one for all rows.
        eval_set : list of (X, y) or None
            Tables to judge every round by.
        verbose : bool or int, default=True
            Print the figures of every round, or of every so many.
        xgb_model : fitted model, its booster, path or None
            Go on from these trees.
        sample_weight_eval_set, base_margin_eval_set : lists, one entry per table
        feature_weights : None
            Columns are drawn with equal probability.
        save_snapshot : path or None
            Keep the state of the fit there, every ``snapshot_every`` rounds.
        resume : bool or path
            Go on from the snapshot if there is one; the model is the same as without the break.

        Returns
        -------
        self
        """
        refuse_feature_weights(feature_weights)
        held_out = tables_of(
            eval_set, sample_weight_eval_set, base_margin_eval_set, [None] * len(eval_set or ())
        )
        training = Given(X, y, sample_weight, base_margin)
        snapshot = Snapshot.asked(save_snapshot, snapshot_every, resume)
        return self._fit(self._request(training, held_out, verbose, xgb_model, snapshot))

    def _request(
        self,
        training: Given,
        held_out: list[Given],
        verbose: bool | int | None,
        earlier: Any,
        snapshot: Snapshot | None,
    ) -> Request:
        self._check_parameters()
        callbacks, patience = list(self.callbacks or ()), []
        if held_out and verbose:
            callbacks.append(EvaluationMonitor(int(verbose)))
        if self.early_stopping_rounds is not None:
            if not held_out:
                raise ParameterError(
                    "early_stopping_rounds needs tables to judge by: give eval_set to fit"
                )
            patience = [Patience(self.early_stopping_rounds)]
        return Request(
            training,
            held_out,
            self._judges,
            patience,
            callbacks,
            earlier=earlier,
            snapshot=snapshot,
            bar=xgb.value(self, "verbosity") >= 2,
        )

    def _rounds(self) -> int:
        return int(xgb.value(self, "n_estimators"))

    def _seed(self) -> int:
        from arboretum.engine.random import seed_from

        if self.random_state is None or isinstance(self.random_state, int | np.integer):
            return int(self.random_state or 0)
        return seed_from(self.random_state)

    def _not_kept(self) -> set[str]:
        return super()._not_kept() | {"verbosity", "importance_type"}

    def _objective_name(self, n_classes: int | None) -> str | Callable:
        raise NotImplementedError

    def _find_objective(self, n_classes: int | None) -> Objective:
        name = self._objective_name(n_classes)
        settings = xgb.objective_settings(self, self._seed())
        return find_objective(name, "xgboost", n_classes, **settings)

    def _judges(self, objective: Objective) -> list[Judge]:
        """Return what figures are made by: the metrics asked for, or that of the objective."""
        settings, asked = xgb.metric_settings(self), self.eval_metric
        if asked is None:
            name = objective.name
            if isinstance(objective, UserObjective):  # judged as what it stands instead of
                name = _INSTEAD[min(objective.n_classes or 1, 3)]
            asked = default_metric(name, "xgboost", **settings)
        each = asked if isinstance(asked, list | tuple) else [asked]
        judges = [
            function_judge(one)
            if callable(one)
            else named_judge(find_metrics(one, "xgboost", **settings))
            for one in each
        ]
        return [judge_of_shares(judge) for judge in judges] if is_raw(objective) else judges

    def _start(self, objective: Objective, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if self.base_score is None:
            return super()._start(objective, y, weight)
        given = np.atleast_1d(np.asarray(self.base_score, np.float64))
        if len(given) not in (1, objective.n_outputs):
            raise ParameterError(
                f"base_score has {len(given)} numbers, the model {objective.n_outputs} outputs: give one, "
                "or one for each"
            )
        margins = [objective.margin_of(float(score)) for score in given]
        return np.array(np.broadcast_to(margins, objective.n_outputs))

    # ------------------------------------------------------------------ the table
    def _columns(self) -> dict[str, Any]:
        if self.feature_types is None:
            return {}
        known = ("q", "float", "int", "i", "c")
        odd = [kind for kind in self.feature_types if kind not in known]
        if odd:
            raise ParameterError(f"feature_types must hold {', '.join(known)}, got {odd[0]!r}")
        return {"categorical_features": [kind == "c" for kind in self.feature_types]}

    def _clean(self, matrix: Matrix) -> Matrix:
        """Make the values that stand for missing ones NaN; a sparse table has not what it does not store."""
        absent = float(self.missing)
        coded = [column.categories is not None for column in self.schema_.columns]
        if isinstance(matrix, SparseMatrix):
            fill = np.full(matrix.n_columns, np.nan)
            if matrix.fill is not None:
                fill = np.where(coded, matrix.fill, np.nan)
            return SparseMatrix(entries_with_nan(matrix.by_row, absent), fill)
        if np.isnan(absent):
            return matrix
        if isinstance(matrix, DenseMatrix):
            return DenseMatrix(with_nan(matrix.values, absent))
        columns = [matrix.column(f) for f in range(matrix.n_columns)]
        return FrameMatrix(
            [x if known else with_nan(x, absent) for x, known in zip(columns, coded, strict=True)]
        )

    def _plan(self, objective: Objective, schema: Schema, seed: int) -> Plan:
        return xgb.make_plan(self, objective, schema, seed, self._threads())

    def _bins(
        self, matrix: Matrix, schema: Schema, weight: np.ndarray | None, seed: int
    ) -> Bins | None:
        if xgb.method_for(self, matrix.n_rows, schema) == "exact":
            self._check_exact(schema)
            return None
        rows = weight if weight is not None and len(weight) == matrix.n_rows else None
        return find_bins(
            matrix, schema, int(xgb.value(self, "max_bin")), seed=seed, min_data_in_bin=1, weight=rows,
            n_jobs=self._threads(),
        )  # fmt: skip

    def _check_exact(self, schema: Schema) -> None:
        words = [column.name for column in schema.columns if column.kind == "categorical"]
        if words:
            raise ParameterError(
                f"tree_method='exact' cuts numbers, {words[0]!r} holds categories: use 'hist' or 'approx'"
            )
        if xgb.value(self, "grow_policy") == "lossguide" or xgb.value(self, "max_leaves"):
            raise ParameterError(
                "tree_method='exact' grows level by level: use 'hist' for lossguide and max_leaves"
            )

    def _make_booster(
        self, plan: Plan, objective: Objective, data: Training, matrix: Matrix
    ) -> OpenBooster:
        """Return the booster of a tree_method."""
        method = xgb.method_for(self, matrix.n_rows, data.schema)
        max_bin = int(xgb.value(self, "max_bin"))
        if method == "exact":
            return ExactBooster(plan, objective, data, matrix)
        if method != "approx":
            return OpenBooster(plan, objective, data, matrix)

        def propose(hessian: np.ndarray) -> Bins:
            from arboretum.grow.bins.sketch import sketch_bins

            return sketch_bins(matrix, data.schema, hessian, max_bin, n_jobs=plan.n_jobs)

        every = xgb.value(self, "proposals") == "iteration"
        return RebinningBooster(plan, objective, data, matrix, propose, every=every)

    # ------------------------------------------------------------------ asking
    def _range(self, iteration_range: Any) -> tuple[int, int | None]:
        """Return the rounds to ask: those given, else all up to the best one."""
        if iteration_range is None or tuple(iteration_range) == (0, 0):
            return 0, None if self._best is None or iteration_range else self._best[0] + 1
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

    def _asked_margin(
        self, X: Any, base_margin: Any, iteration_range: Any, validate_features: bool = True
    ) -> np.ndarray:
        self._check_fitted()
        X = X if validate_features else in_order(X, self.schema_)
        return self._margin(X, *self._range(iteration_range), base_margin)

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
            Return the sums of the trees' answers, not what they mean.
        validate_features : bool, default=True
            Match columns by name; else take them in order.
        base_margin : array-like or None
            Margins to begin with.
        iteration_range : (int, int) or None
            Use the trees of some rounds only; None: up to the best one if there was early stopping.
        """
        margin = self._asked_margin(X, base_margin, iteration_range, validate_features)
        if output_margin:
            return margin[:, 0] if margin.shape[1] == 1 else margin
        return self._answer(margin)

    def _answer(self, margin: np.ndarray) -> np.ndarray:
        return self.objective_.predict(margin)

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the predictions after every round."""
        for margin in self._staged(X):
            yield self._answer(margin)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> np.ndarray:
        """Return the leaf each row reaches in each tree, (rows, trees)."""
        self._check_fitted()
        return self._leaves(X, *self._range(iteration_range))

    # ------------------------------------------------------------------ what was learned
    def evals_result(self) -> dict[str, dict[str, list[float]]]:
        """Return the figures of every round, by table and metric."""
        self._check_fitted()
        if not self.evals_result_:
            raise ParameterError("there are no figures: fit was given no eval_set")
        return self.evals_result_

    @property
    def best_iteration(self) -> int:
        """The round that was best, counted from 0."""
        return self._best_of("best_iteration")[0]

    @property
    def best_score(self) -> float:
        """The figure of the best round."""
        return self._best_of("best_score")[1]

    def _best_of(self, name: str) -> tuple[int, float]:
        best = getattr(self, "_best", None)
        if best is None:
            raise AttributeError(f"{name} is only there after early stopping")
        return best

    @property
    def feature_importances_(self) -> np.ndarray:
        """The columns' shares of what `importance_type` counts."""
        found = self._importance()[xgb.value(self, "importance_type")]
        return found / found.sum() if found.sum() > 0 else found

    def get_booster(self) -> XGBBooster:
        """Return the trees in the words of XGBoost's Booster."""
        self._check_fitted()
        return XGBBooster(self)

    def get_num_boosting_rounds(self) -> int:
        """Return how many rounds are wanted."""
        return self._rounds()

    def save_model(self, path: Any) -> None:
        """Write the model to a file, in arboretum's own format."""
        self.save(path)

    def load_model(self, path: Any) -> None:
        """Become the model that a file holds."""
        from arboretum.io.native import load

        other = load(path)
        if type(other) is not type(self):
            raise ParameterError(
                f"the file holds a {type(other).__name__}, not a {type(self).__name__}"
            )
        self.__dict__.clear()
        self.__dict__.update(other.__dict__)


def with_objective(objective: str) -> Callable[..., None]:
    """Return XGBModel's constructor with another default of `objective`."""

    def __init__(self: Any, **parameters: Any) -> None:
        XGBModel.__init__(self, **{"objective": objective, **parameters})

    shape = inspect.signature(XGBModel.__init__)
    found = [
        p.replace(default=objective) if p.name == "objective" else p
        for p in shape.parameters.values()
    ]
    __init__.__signature__ = shape.replace(parameters=found)  # type: ignore[attr-defined]
    return __init__
