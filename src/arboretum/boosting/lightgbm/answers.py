"""What a fitted LightGBM estimator answers: predictions, LightGBM's attributes, and its part of a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.boosting.lightgbm.booster import LGBMBooster, leaf_numbers
from arboretum.boosting.loss.user import UserObjective
from arboretum.boosting.names.lightgbm import LIGHTGBM
from arboretum.boosting.names.passed import PeerNames
from arboretum.boosting.second_order.boosted_model import BoostedModel, squeezed
from arboretum.errors import LightGBMError, ModelFileError, ParameterError
from arboretum.io.values import whole

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble

__all__ = ["LGBMAnswers"]

# objectives whose trees may be left out where the prediction is clear: only the order of scores counts
_ORDERED = {"binary", "multiclass", "multiclassova", "lambdarank", "rank_xendcg"}


class LGBMAnswers(PeerNames, BoostedModel):
    """A fitted model with LightGBM's methods and attributes."""

    bundles_: list[list[str]]
    best_score_: dict[str, dict[str, float]]
    _by_position: ClassVar[bool] = True  # columns with other names than in training

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
    @property
    def _absent(self) -> float:
        return 0.0 if self.zero_as_missing else np.nan

    def _encode(self, X: Any) -> Matrix:
        return self._matrix(X, 0.0 if self.zero_as_missing else None)

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
        **options: Any,
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
        # the first tree includes the base, as in LightGBM
        shift = self.ensemble_.base if start and not self.ensemble_.averaged else 0.0
        looks = self._early_stop(**options)
        if looks is None:
            margin = self._margin(X, start, end) - shift
        else:
            margin = self._until_clear(self._encode(X), self._part(start, end), shift, *looks)
        return squeezed(margin) if raw_score else turn(margin)

    def _early_stop(
        self,
        pred_early_stop: bool | None = None,
        pred_early_stop_freq: int | None = None,
        pred_early_stop_margin: float | None = None,
    ) -> tuple[int, float] | None:
        """Return the rounds between two looks at the scores, and how clear they must be; None: no looks."""
        given = {
            "pred_early_stop": pred_early_stop,
            "pred_early_stop_freq": pred_early_stop_freq,
            "pred_early_stop_margin": pred_early_stop_margin,
        }
        found = {key: getattr(self, key) if v is None else v for key, v in given.items()}
        for name, value in found.items():
            rule = self._parameters[name].rule
            if not rule.allows(value):
                raise ParameterError(f"{name} must be {rule.phrase}, got {value!r}")
        known = LIGHTGBM.objective_names.get(self._objective.name)
        by_function = isinstance(self._objective, UserObjective)
        stop, every, enough = found.values()
        if not stop or known not in _ORDERED or by_function or self.ensemble_.averaged:
            return None
        return int(every), float(enough)

    def _until_clear(
        self, matrix: Matrix, part: Ensemble, shift: Any, every: int, enough: float
    ) -> np.ndarray:
        """Return scores for which a row takes no more trees once its score is far from the next class's.

        After every few rounds a row ends if its score is more than ``enough`` above that of the second class;
        of two classes, if twice its size is.
        """
        total = np.tile(part.base - shift, (matrix.n_rows, 1))
        rows = np.arange(matrix.n_rows)
        for first in range(0, part.n_rounds, every):
            now = part.rounds(first, first + every)
            total[rows] = found = now.answers(matrix.take(rows), self._threads(), total[rows])
            best = np.sort(found, axis=1)
            gap = best[:, -1] - best[:, -2] if found.shape[1] > 1 else 2.0 * np.abs(best[:, 0])
            rows = rows[gap <= enough]
            if not len(rows):
                break
        return total

    def _check_names(self, X: Any) -> None:
        given = [str(name) for name in getattr(X, "columns", ())]
        if not (given and self.schema_.named):
            return
        for place, (expected, found) in enumerate(zip(self.schema_.names, given, strict=False)):
            if expected != found:
                raise LightGBMError(
                    f"Expected {expected!r} at position {place} but found {found!r}"
                )
        if len(given) != self.n_features_in_:
            raise LightGBMError(f"X has {len(given)} columns, training had {self.n_features_in_}")

    def predict(
        self,
        X: Any,
        raw_score: bool = False,
        start_iteration: int = 0,
        num_iteration: int | None = None,
        pred_leaf: bool = False,
        pred_contrib: bool = False,
        validate_features: bool = False,
        **options: Any,
    ) -> np.ndarray:
        """Predict.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns are matched by their names; if some are other names, by position with a warning.
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
        **options
            ``pred_early_stop``, ``pred_early_stop_freq``, ``pred_early_stop_margin``: instead of the
            parameters of the model.
        """
        return self._answer(
            X, self._predicted, raw_score, start_iteration, num_iteration, pred_leaf, pred_contrib,
            validate_features, **options,
        )  # fmt: skip

    @property
    def objective_(self) -> Any:
        """The objective: its name, or the function that was given."""
        self._check_fitted()
        function = getattr(self._objective, "function", None)
        return self._objective.name if function is None else function

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
        booster = LGBMBooster(self)
        vars(booster).update(vars(self).get("_set_by_callbacks", {}))
        return booster

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels = True
        return tags

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
