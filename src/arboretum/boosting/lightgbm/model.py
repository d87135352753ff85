"""What LightGBM's three estimators share: parameters, what they mean to a fit, and questions to a model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base.parameters import Parameter
from arboretum.boosting.dialect.find import default_metric, find_metrics, find_objective
from arboretum.boosting.lightgbm import plan as plans
from arboretum.boosting.lightgbm.booster import LGBMBooster, leaf_numbers
from arboretum.boosting.lightgbm.parameters import ALIASES, RULES, NativeNames
from arboretum.boosting.lightgbm.rounds import LGBMRounds
from arboretum.boosting.lightgbm.tables import (
    Asked,
    categories_asked,
    column_names,
    metric_names,
    user_judge,
)
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.second_order.boosted_model import BoostedModel, Given, Request
from arboretum.boosting.second_order.boosted_targets import BoostedRanker
from arboretum.boosting.watch.callbacks import Calls, EarlyStopping, early_stopping
from arboretum.boosting.watch.watching import Judge, Patience, Watch, named_judge
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.grow.bins.categories import frequent_categories
from arboretum.grow.bins.find import find_bins

if TYPE_CHECKING:
    from arboretum.boosting.loss.objective import Objective
    from arboretum.boosting.second_order.booster import Plan, Training
    from arboretum.boosting.second_order.open_booster import OpenBooster
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.grow.bins.find import Bins

__all__ = ["LGBMModel"]


class LGBMModel(NativeNames, BoostedModel):
    """What LightGBM's three estimators share."""

    dialect: ClassVar[str] = "lightgbm"
    _aliases: ClassVar = ALIASES
    _parameters: ClassVar = {name: Parameter(rule) for name, rule in RULES.items()}
    _usual_objective: ClassVar[str]  # unless one is asked for
    _usual_metric: ClassVar[str]  # of a user's objective

    bundles_: list[list[str]]
    best_score_: dict[str, dict[str, float]]

    def __init__(  # one argument per parameter: scikit-learn reads the signature
        self,
        *,
        boosting_type: str = "gbdt",
        num_leaves: int = 31,
        max_depth: int = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample_for_bin: int = 200_000,
        objective: str | Callable | None = None,
        class_weight: dict | str | None = None,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        importance_type: str = "split",
        data_sample_strategy: str = "bagging",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        pos_bagging_fraction: float = 1.0,
        neg_bagging_fraction: float = 1.0,
        bagging_by_query: bool = False,
        feature_fraction_bynode: float = 1.0,
        bagging_seed: int | None = None,
        feature_fraction_seed: int | None = None,
        data_random_seed: int | None = None,
        drop_rate: float = 0.1,
        skip_drop: float = 0.5,
        max_drop: int = 50,
        uniform_drop: bool = False,
        xgboost_dart_mode: bool = False,
        drop_seed: int = 4,
        max_bin: int = 255,
        min_data_in_bin: int = 3,
        enable_bundle: bool = True,
        max_delta_step: float = 0.0,
        path_smooth: float = 0.0,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_cat_threshold: int = 32,
        max_cat_to_onehot: int = 4,
        min_data_per_group: int = 100,
        monotone_constraints: Any = None,
        monotone_constraints_method: str = "basic",
        interaction_constraints: Any = None,
        boost_from_average: bool = True,
        scale_pos_weight: float = 1.0,
        is_unbalance: bool = False,
        sigmoid: float = 1.0,
        alpha: float = 0.9,
        fair_c: float = 1.0,
        poisson_max_delta_step: float = 0.7,
        tweedie_variance_power: float = 1.5,
        num_class: int | None = None,
        lambdarank_truncation_level: int = 30,
        lambdarank_norm: bool = True,
        label_gain: Sequence[float] | None = None,
        metric: str | Sequence[str] | None = None,
        eval_at: Any = None,
        multi_error_top_k: int = 1,
        early_stopping_round: int | None = None,
        early_stopping_min_delta: float = 0.0,
        first_metric_only: bool = False,
        deterministic: bool = False,
        force_col_wise: bool = False,
        force_row_wise: bool = False,
        verbosity: int | None = None,
    ) -> None:
        for name, value in locals().items():
            if name != "self":
                setattr(self, name, value)

    # ------------------------------------------------------------------ fitting
    def _boost_on(self, training: Given, held_out: list[Given], asked: Asked) -> Self:
        """Learn from a table as LightGBM would."""
        self._check_parameters()
        if plans.is_forest(self) and training.base_margin is not None:
            raise ParameterError("boosting_type='rf' takes no init_score")
        changing = plans.Changing(self)
        others = [one for one in asked.callbacks or () if not isinstance(one, EarlyStopping)]
        named = self.get_params(deep=False) if others else {}  # nobody else looks at them
        calls = Calls(others, named, self._rounds(), changing)
        self._asked = asked
        try:
            self._fit(
                Request(
                    training,
                    held_out,
                    self._judges,
                    self._patience(training, held_out, asked),
                    [calls],
                    asked.init_model,
                    asked.snapshot,
                    (self.verbosity or 0) >= 2,
                )
            )
        finally:
            del self._asked
        if calls.stopped is not None:
            best, figure = calls.stopped
            self._best = min(best, self.ensemble_.n_rounds - 1), figure
        self.best_score_ = self._best_figures()
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        plans.check_together(self)
        if self.class_weight is not None and not hasattr(self, "predict_proba"):
            raise ParameterError(
                f"class_weight of {type(self).__name__} must be None: it has no classes"
            )
        if self.bagging_by_query and not isinstance(self, BoostedRanker):
            raise ParameterError("bagging_by_query draws groups of rows: it is for LGBMRanker")

    def _earlier(self, given: Any) -> BoostedModel | None:
        found = super()._earlier(given)
        if found is not None and not isinstance(found, LGBMModel):
            raise ParameterError(
                f"{type(self).__name__} goes on from models of its own kind, not {type(found).__name__}"
            )
        return found

    def _patience(self, training: Given, held_out: list[Given], asked: Asked) -> list[Patience]:
        """Return what early stopping follows."""
        wanted = [one for one in asked.callbacks or () if isinstance(one, EarlyStopping)]
        if (self.early_stopping_round or 0) > 0:
            shown = self.verbosity is None or self.verbosity > 0
            wanted.append(
                early_stopping(
                    int(self.early_stopping_round or 0), self.first_metric_only, shown,
                    self.early_stopping_min_delta,
                )
            )  # fmt: skip
        if not wanted:
            return []
        if not held_out:
            raise ParameterError("early stopping needs tables to judge by: give eval_set to fit")
        own = [table.name for table in held_out if table.X is training.X]
        reason = ""
        if self.boosting_type == "dart":
            reason = "early stopping is not available in dart mode: earlier trees still change"
        elif len(own) == len(held_out):
            reason = "early stopping does not follow the training rows: give other tables"
        if reason:
            if self.verbosity is None or self.verbosity >= 0:
                warnings.warn(reason, stacklevel=4)
            return []
        return [one.patience(own) for one in wanted]

    def _best_figures(self) -> dict[str, dict[str, float]]:
        """Return the figures of the best round, else of the last."""
        at = -1 if self._best is None else self._best[0] - self._first_round
        return {
            table: {name: values[at] for name, values in by_name.items()}
            for table, by_name in self.evals_result_.items()
        }

    def _keep(self, watch: Watch, *arguments: Any) -> None:
        super()._keep(watch, *arguments)
        self._first_round = watch.first

    def _rounds(self) -> int:
        return int(self.n_estimators)

    def _seed(self) -> int:
        from arboretum.engine.random import seed_from

        if self.random_state is None or isinstance(self.random_state, int | np.integer):
            return int(self.random_state or 0)
        return seed_from(self.random_state)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs or None)

    def _not_kept(self) -> set[str]:
        layout = {"deterministic", "force_col_wise", "force_row_wise"}
        return super()._not_kept() | layout | {"verbosity", "importance_type"}

    # ------------------------------------------------------------------ what is learned
    def _allowed_objective(self, name: str) -> str:
        """Return an objective that fits the kind of estimator, or refuse it."""
        raise NotImplementedError

    def _usual(self, n_classes: int | None) -> str:
        return self._usual_objective

    def _find_objective(self, n_classes: int | None) -> Objective:
        if self.num_class not in (None, 1, n_classes):
            raise DataError(f"num_class is {self.num_class}, y holds {n_classes or 1} classes")
        name = self.objective or self._usual(n_classes)
        if not callable(name):
            name = self._allowed_objective(name)
        return find_objective(name, "lightgbm", n_classes, **plans.objective_settings(self))

    def _judges(self, objective: Objective) -> list[Judge]:
        """Return what figures are made by: metrics asked for in fit, those of the model, functions."""
        settings = plans.metric_settings(self)
        if self._asked.eval_at is not None:
            settings["eval_at"] = self._asked.eval_at
        asked, functions = metric_names(self._asked.eval_metric)
        asked = [self._metric_name(one, objective) for one in asked]
        named, more = metric_names(self.metric)
        if more:
            raise ParameterError("metric must hold names: give functions to fit as eval_metric")
        if not [one for one in named if one]:
            named = [self._default_metric(objective, settings)]
        names = [one for one in asked if one not in named] + named
        metrics = find_metrics([one for one in names if one], "lightgbm", **settings)
        return [named_judge(metrics), *(user_judge(one) for one in functions)]

    def _metric_name(self, name: str, objective: Objective) -> str:
        return name

    def _default_metric(self, objective: Objective, settings: dict[str, Any]) -> str:
        if isinstance(objective, UserObjective):
            return self._usual_metric
        return default_metric(objective.name, "lightgbm", **settings)

    def _start(self, objective: Objective, y: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
        if not self.boost_from_average:
            return np.zeros(objective.n_outputs)
        return super()._start(objective, y, weight)

    def _base(self, objective: Objective, rows: Any, earlier: BoostedModel | None) -> np.ndarray:
        if earlier is None and rows.base_margin is not None:  # no part of the model, as in LightGBM
            return np.zeros(objective.n_outputs)
        return super()._base(objective, rows, earlier)

    # ------------------------------------------------------------------ how it is learned
    def _columns(self) -> dict[str, Any]:
        return categories_asked(self._asked.categorical_feature, self._asked.feature_name)

    def _plan(self, objective: Objective, schema: Schema, seed: int) -> Plan:
        self._column_names = column_names(self._asked.feature_name, schema.n_features)
        return plans.make_plan(self, schema, seed, self._threads())

    def _bins(self, matrix: Matrix, schema: Schema, weight: np.ndarray | None, seed: int) -> Bins:
        found = find_bins(
            matrix,
            schema,
            int(self.max_bin),
            sample=int(self.subsample_for_bin),
            seed=seed if self.data_random_seed is None else int(self.data_random_seed),
            min_data_in_bin=int(self.min_data_in_bin),
            n_jobs=self._threads(),
            bundle=bool(self.enable_bundle),
            categories=partial(
                frequent_categories,
                max_bin=int(self.max_bin),
                min_data_in_bin=int(self.min_data_in_bin),
            ),
            zero_apart=True,
        )
        names = self.feature_name_
        self.bundles_ = [[names[f] for f in sorted(group)] for group in found.bundles()]
        return found

    def _make_booster(
        self, plan: Plan, objective: Objective, data: Training, matrix: Matrix
    ) -> OpenBooster:
        draws = plans.make_draws(self, data.schema, plan.seed, data.y, objective.name)
        return LGBMRounds(plan, objective, data, matrix, draws)

    # ------------------------------------------------------------------ asking
    def _last_round(self, num_iteration: int | None, start: int = 0) -> int | None:
        """Return the round to end before; None: all rounds."""
        if num_iteration is None:
            return self.best_iteration_ or None if start <= 0 else None
        if isinstance(num_iteration, bool) or not isinstance(num_iteration, int | np.integer):
            raise ParameterError(f"num_iteration must be an int or None, got {num_iteration!r}")
        return max(start, 0) + int(num_iteration) if num_iteration > 0 else None

    def _answer(
        self,
        X: Any,
        turn: Callable[[np.ndarray], np.ndarray],
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
    ) -> np.ndarray:
        """Return raw scores, leaves, or what ``turn`` makes of the scores."""
        self._check_fitted()
        if pred_contrib:
            raise ParameterError(
                "pred_contrib is not supported: the contributions of columns are not computed"
            )
        if isinstance(start_iteration, bool) or not isinstance(start_iteration, int | np.integer):
            raise ParameterError(f"start_iteration must be an int, got {start_iteration!r}")
        start = max(int(start_iteration), 0)
        end = self._last_round(num_iteration, start)
        if validate_features:
            self._check_names(X)
        if pred_leaf:
            numbers = [leaf_numbers(tree)[1] for tree in self._part(start, end).trees]
            found = self._leaves(X, start, end)
            return np.column_stack([own[found[:, t]] for t, own in enumerate(numbers)])
        margin = self._margin(X, start, end)
        if start and not self.ensemble_.averaged:  # the first tree carries the base, as in LightGBM
            margin = margin - self.ensemble_.base
        if raw_score:
            return margin[:, 0] if margin.shape[1] == 1 else margin
        return turn(margin)

    def _check_names(self, X: Any) -> None:
        given = [str(name) for name in getattr(X, "columns", ())]
        if given and self.schema_.named and given != list(self.schema_.names):
            raise DataError(
                f"the columns are {given}, those of training were {list(self.schema_.names)}"
            )

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
    ) -> np.ndarray:
        """Predict.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        raw_score : bool, default=False
            Return the scores before they are turned into predictions.
        start_iteration, num_iteration : int
            The first round to use, and how many; None: up to the best one if there was early stopping,
            else all, as do numbers below 1.
        pred_leaf : bool, default=False
            Return the number of the leaf that every row reaches in every tree.
        pred_contrib : bool, default=False
            Not supported.
        validate_features : bool, default=False
            Refuse a table whose columns have other names, or another order, than in training.
        """
        return self._answer(
            X, self._predicted, raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib,
            validate_features,
        )  # fmt: skip

    def _predicted(self, margin: np.ndarray) -> np.ndarray:
        return self.objective_.predict(margin)

    @property
    def best_iteration_(self) -> int:
        """The best round, counted from 1; 0 without early stopping."""
        self._check_fitted()
        return 0 if self._best is None else self._best[0] + 1

    @property
    def n_iter_(self) -> int:
        """Rounds that predictions use."""
        return self.best_iteration_ or self.ensemble_.n_rounds

    @property
    def n_estimators_(self) -> int:
        """Rounds that predictions use."""
        return self.n_iter_

    @property
    def n_features_(self) -> int:
        """Number of columns."""
        self._check_fitted()
        return self.n_features_in_

    @property
    def feature_name_(self) -> list[str]:
        """Names of the columns; Column_0, … if they have none."""
        if self._column_names is not None:
            return self._column_names
        if self.schema_.named:
            return list(self.schema_.names)
        return [f"Column_{f}" for f in range(self.schema_.n_features)]

    @property
    def feature_importances_(self) -> np.ndarray:
        """What every column is worth, by ``importance_type``."""
        self._check_fitted()
        return self.booster_.feature_importance(self.importance_type)

    @property
    def booster_(self) -> LGBMBooster:
        """The trees."""
        self._check_fitted()
        return LGBMBooster(self)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "column_names": self._column_names,
            "bundles": self.bundles_,
            "best_score": self.best_score_,
            "first_round": self._first_round,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from arboretum.io.checked import whole

        model = super()._from_fitted_state(parameters, schema, state)
        names, bundles = state["column_names"], state["bundles"]
        if names is not None and len(names) != schema.n_features:
            raise ModelFileError("its names do not fit its columns")
        if not isinstance(bundles, list) or not isinstance(state["best_score"], dict):
            raise ModelFileError("its bundles or figures are damaged")
        model._column_names, model.bundles_ = names, bundles
        model.best_score_ = state["best_score"]
        model._first_round = whole(state, "first_round", 0)
        return model
