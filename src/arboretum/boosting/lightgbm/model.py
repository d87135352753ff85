"""What LightGBM's three estimators share: parameters, their effect on a fit, and predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.callbacks.lightgbm_callbacks import Calls, early_stopping
from arboretum.boosting.lightgbm import recipe as recipes
from arboretum.boosting.lightgbm.booster import LGBMBooster, leaf_numbers
from arboretum.boosting.lightgbm.parameters import ALIASES, ATTRIBUTES, PARAMETERS, PASSED
from arboretum.boosting.lightgbm.tables import FitArguments, category_settings
from arboretum.boosting.names.passed import PeerNames
from arboretum.boosting.second_order.boosted_model import BoostedModel, squeezed
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, requested_snapshot, seed_of
from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import whole

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.lightgbm_callbacks import FollowAll

__all__ = ["LGBMModel"]


class LGBMModel(PeerNames, BoostedModel):
    """What LightGBM's three estimators share."""

    dialect: ClassVar[str] = "lightgbm"
    target: ClassVar[str]  # "classes", "numbers" or "orders"
    usual_objective: ClassVar[str]
    _cover: ClassVar[str] = (
        "count"  # LightGBM's contributions use counts of rows, not their weights
    )
    _aliases: ClassVar = ALIASES
    _passed: ClassVar = PASSED
    _parameters: ClassVar = PARAMETERS
    _attributes: ClassVar = ATTRIBUTES
    _free_to_change: ClassVar = frozenset(
        {
            "deterministic",
            "force_col_wise",
            "force_row_wise",
            "histogram_pool_size",
            "importance_type",
            "unseen",
        }
    )

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
        objective: str | Callable[..., Any] | None = None,
        class_weight: dict[Any, float] | str | None = None,
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
        extra_trees: bool = False,
        extra_seed: int = 6,
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
        max_conflict_rate: float = 0.0,
        histogram_pool_size: float | None = None,
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
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def _boost(
        self, training: GivenTable, held_out: list[GivenTable], arguments: FitArguments
    ) -> Self:
        """Check the arguments, learn, and keep LightGBM's attributes of a fit."""
        self._check_parameters()
        if recipes.is_forest(self) and training.base_margin is not None:
            raise ParameterError("boosting_type='rf' takes no init_score")
        others = [one for one in arguments.callbacks or () if not isinstance(one, early_stopping)]
        named = self.get_params(deep=False) if others else {}  # only callbacks read them
        calls = Calls(others, named, int(self.n_estimators), recipes.Changing(self))
        recipe = partial(
            recipes.make_recipe, self, arguments, n_jobs=self._threads(), evaluates=bool(held_out)
        )
        from arboretum.engine.compiler.log import quiet

        with quiet() if (self.verbosity or 0) < 0 else nullcontext():
            watch = self._fit(
                FitRequest(
                    training,
                    recipe,
                    seed_of(self.random_state),
                    held_out,
                    self._columns(arguments),
                    self._stopping(training, held_out, arguments),
                    callbacks=[calls],
                    earlier=self._earlier(arguments.init_model),
                    snapshot=requested_snapshot(*arguments.snapshot),
                    sample=recipes.bin_sample(self, seed_of(self.random_state)),
                    bar=(self.verbosity or 0) >= 2,
                )
            )
        if calls.stopped is not None:
            best, score = calls.stopped
            self._best = min(best, self.ensemble_.n_rounds - 1), score
        self._column_names, self._first_round = watch.booster.recipe.names, watch.first
        names, bins = self.feature_name_, watch.booster.table.bins
        assert bins is not None
        self.bundles_ = [[names[f] for f in sorted(group)] for group in bins.bundles()]
        self.best_score_ = self._best_metrics()
        return self._end_fit(self.interrupted_)

    def _columns(self, arguments: FitArguments) -> dict[str, Any]:
        """Return the user's settings of the columns, as `learn_schema` takes them."""
        settings = category_settings(arguments.categorical_feature, arguments.feature_name)
        if settings and self.categorical_features is not None:
            raise ParameterError(
                "categorical_feature of fit and categorical_features of the model mean the same: give one of "
                "them"
            )
        return {**self._column_kinds(), **settings}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        recipes.check_together(self)
        if self.class_weight is not None and self.target != "classes":
            raise ParameterError(
                f"class_weight of {type(self).__name__} must be None: it has no classes"
            )
        if self.bagging_by_query and self.target != "orders":
            raise ParameterError("bagging_by_query draws groups of rows: it is only for LGBMRanker")

    def _earlier(self, given: Any) -> BoostedModel | None:
        found = super()._earlier(given)
        if found is not None and not isinstance(found, LGBMModel):
            raise ParameterError(
                f"{type(self).__name__} continues only models of its own class, not {type(found).__name__}"
            )
        return found

    def _stopping(
        self, training: GivenTable, held_out: list[GivenTable], arguments: FitArguments
    ) -> list[FollowAll]:
        """Return the rule of early stopping."""
        given = [one for one in arguments.callbacks or () if isinstance(one, early_stopping)]
        wanted = [one for one in given if one.enabled]
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
            raise ParameterError("early stopping needs tables for evaluation: give eval_set to fit")
        own = [table.name for table in held_out if table.X is training.X]
        reason = ""
        if self.boosting_type == "dart":
            reason = "early stopping is not available in dart mode: earlier trees still change"
        elif len(own) == len(held_out):
            reason = "early stopping does not follow the training rows: give other tables"
        if reason:
            if self.verbosity is None or self.verbosity >= 0:
                warn_caller(reason)
            return []
        return [one.rule(own) for one in wanted]

    def _best_metrics(self) -> dict[str, dict[str, float]]:
        """Return the metrics of the best round, or else of the last."""
        at = -1 if self._best is None else self._best[0] - self._first_round
        return {
            table: {name: values[at] for name, values in by_name.items()}
            for table, by_name in self.evals_result_.items()
        }

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(self.n_jobs or None)

    # ------------------------------------------------------------------ predictions
    def _last_round(self, num_iteration: int | None, start: int = 0) -> int | None:
        """Return the end of the rounds to use; None: all rounds."""
        if num_iteration is None:
            return self._best_end if start <= 0 else None
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
        """Return raw scores, leaves, or the result of ``turn`` on the scores."""
        self._check_fitted()
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
        if pred_contrib:
            found = self._contributions_of(X, start, end)
            if start and not self.ensemble_.averaged:
                found[:, :, -1] -= self.ensemble_.base
            return found.reshape(len(found), -1)
        margin = self._margin(X, start, end)
        if (
            start and not self.ensemble_.averaged
        ):  # the first tree includes the base, as in LightGBM
            margin = margin - self.ensemble_.base
        return squeezed(margin) if raw_score else turn(margin)

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
            Return the raw scores of the trees.
        start_iteration, num_iteration : int
            The first round to use, and how many; None and numbers below 1: up to the best one after
            early stopping, else all.
        pred_leaf : bool, default=False
            Return the number of the leaf that each row reaches in each tree.
        pred_contrib : bool, default=False
            Return the contribution of every column to the score (SHAP values) and last their base, one
            class behind the other: (rows, (columns + 1) · outputs). `shap_values` has more options.
        validate_features : bool, default=False
            Refuse a table whose columns have other names, or another order, than in training.
        """
        return self._answer(
            X, self._predicted, raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib,
            validate_features,
        )  # fmt: skip

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
        """The importance of every column, by ``importance_type``."""
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

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        names, bundles = state["column_names"], state["bundles"]
        if names is not None and len(names) != self.n_features_in_:
            raise ModelFileError("its names do not fit its columns")
        if not isinstance(bundles, list) or not isinstance(state["best_score"], dict):
            raise ModelFileError("its bundles or metrics are damaged")
        self._column_names, self.bundles_ = names, bundles
        self.best_score_ = state["best_score"]
        self._first_round = whole(state, "first_round", 0)
