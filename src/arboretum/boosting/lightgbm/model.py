"""`LGBMModel`, the base of LightGBM's estimators: parameters, and their effect on a fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.boosting.callbacks.lightgbm_callbacks import Calls, early_stopping, own_callback
from arboretum.boosting.lightgbm import recipe as recipes
from arboretum.boosting.lightgbm.answers import LGBMAnswers
from arboretum.boosting.lightgbm.parameters import ALIASES, ATTRIBUTES, PARAMETERS, PASSED
from arboretum.boosting.lightgbm.tables import FitArguments, category_settings
from arboretum.boosting.second_order.fit import FitRequest, GivenTable, requested_snapshot, seed_of
from arboretum.data.checks import warn_caller
from arboretum.data.target import numbers
from arboretum.errors import ParameterError

if TYPE_CHECKING:
    from arboretum.boosting.callbacks.lightgbm_callbacks import FollowAll
    from arboretum.boosting.second_order.boosted_model import BoostedModel

__all__ = ["LGBMModel"]


class LGBMModel(LGBMAnswers):
    """The base of LightGBM's estimators, and a model of any objective.

    As an estimator of its own it takes ``y`` as numbers and needs an ``objective``; classes are numbered from
    0, and more than two need ``num_class``. `predict` returns what the objective predicts, such as
    probabilities.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10
    >>> LGBMModel(objective="binary", n_estimators=50).fit(X, y).predict([[1.5], [3.5]]).round(1)
    array([0., 1.])
    """

    dialect: ClassVar[str] = "lightgbm"
    target: ClassVar[str] = "any"  # "classes", "numbers" or "orders"
    usual_objective: ClassVar[str] = ""
    _cover: ClassVar[str] = "count"  # of rows, not their weights, in contributions
    _aliases: ClassVar = ALIASES
    _passed: ClassVar = PASSED
    _later: ClassVar = {
        "objective_seed": 5,
        "pred_early_stop": False,
        "pred_early_stop_freq": 10,
        "pred_early_stop_margin": 10.0,
        "zero_as_missing": False,
    }
    _parameters: ClassVar = PARAMETERS
    _attributes: ClassVar = ATTRIBUTES
    _free_to_change: ClassVar = frozenset({
        "deterministic", "force_col_wise", "force_row_wise", "histogram_pool_size", "importance_type",
        "unseen",
    })  # fmt: skip

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
        zero_as_missing: bool = False,
        objective_seed: int = 5,
        pred_early_stop: bool = False,
        pred_early_stop_freq: int = 10,
        pred_early_stop_margin: float = 10.0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        **kwargs: Any,
    ) -> None:
        p.take_arguments(locals())  # kwargs are other names, translated before

    # ------------------------------------------------------------------ fitting
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        group: Any = None,
        eval_set: Sequence[tuple[Any, Any]] | None = None,
        eval_names: Sequence[str] | None = None,
        eval_sample_weight: Sequence[Any] | None = None,
        eval_init_score: Sequence[Any] | None = None,
        eval_group: Sequence[Any] | None = None,
        eval_metric: Any = None,
        feature_name: Any = "auto",
        categorical_feature: Any = "auto",
        callbacks: Sequence[Callable[..., Any]] | None = None,
        init_model: Any = None,
        *,
        eval_X: Any = None,
        eval_y: Any = None,
    ) -> Self:
        """Boost.

        Parameters
        ----------
        group, eval_group : arrays
            As for `LGBMRanker.fit`.
        X, y, …
            As for `LGBMRegressor.fit`.
        """
        if self.objective is None:
            raise ParameterError(
                "LGBMModel has no usual objective: give objective=, or use LGBMRegressor, LGBMClassifier or "
                "LGBMRanker"
            )
        return self._boost(locals())

    def _labels(self, y: Any, n_rows: int) -> np.ndarray:
        values, _ = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        return np.ascontiguousarray(values[:, 0])

    def _boost(self, given: dict[str, Any]) -> Self:
        """Check the arguments of `fit`, learn, and keep LightGBM's attributes of a fit."""
        arguments = FitArguments(**{name: one for name, one in given.items() if name != "self"})
        training = arguments.training(self.class_weight)
        held_out = arguments.held_out(training)
        self._warn_of_other_names()
        self._check_parameters()
        if recipes.is_forest(self) and training.base_margin is not None:
            raise ParameterError("boosting_type='rf' takes no init_score")
        callbacks = [own_callback(one) for one in arguments.callbacks or ()]
        arguments = replace(arguments, callbacks=callbacks)
        others = [one for one in callbacks if not isinstance(one, early_stopping)]
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
                    absent=0.0 if self.zero_as_missing else None,
                    snapshot=requested_snapshot(
                        arguments.save_snapshot, arguments.snapshot_every, arguments.resume
                    ),
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
        self.best_score_ = calls.best_score or self._best_metrics()
        self._set_by_callbacks = calls.noted
        return self._end_fit(self.interrupted_)

    def _warn_of_other_names(self) -> None:
        """Warn as LightGBM does of other names that count instead of an argument."""
        used = [name for name in self._other_names if ALIASES[name] in ("objective", "eval_at")]
        if self.target == "orders" and self.eval_at is not None and not used:
            used = ["eval_at"]
        for name in used:
            own = ALIASES.get(name, name)
            warn_caller(f"Found {name!r} in params. Will use it instead of {own!r} argument")

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
        if self.bagging_by_query and self.target not in ("orders", "any"):
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
