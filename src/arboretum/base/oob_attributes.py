"""What an ensemble shows of its out-of-bag answers: ``oob_score_`` and its companions.

Forests and bags keep one `OutOfBag`; classifiers show it as class shares, regressors as numbers. None of
the attributes exists unless the model was fitted with ``oob_score``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base.anatomy import Anatomy
from arboretum.predict.out_of_bag import OutOfBag, check_coverage

if TYPE_CHECKING:
    from arboretum.base.estimator import Estimator
    from arboretum.base.sampling import BagRules, Bootstrap

    class _OfEstimator(Estimator): ...

else:
    _OfEstimator = object

__all__ = ["ClassesOutOfBag", "NumbersOutOfBag", "OutOfBagAttributes"]


class OutOfBagAttributes(_OfEstimator):
    """What classifiers and regressors show alike, and keep in files."""

    _bags: Bootstrap | BagRules
    _usual_measure: ClassVar[str]
    oob_score: bool | Callable[[Any, Any], Any]
    oob_score_: Any
    _oob: OutOfBag | None = None

    def _take_oob(self, found: OutOfBag, y: np.ndarray, what: str) -> None:
        """Keep the answers and measure them; y is (rows, outputs), class codes or numbers."""
        check_coverage(found, what)
        self._oob = found
        self.oob_score_ = self._measure(y[found.rows], found.mean[found.rows])

    def _measure(self, truth: np.ndarray, mean: np.ndarray) -> Any:
        raise NotImplementedError

    def _found(self, name: str) -> OutOfBag:
        if self._oob is None:
            raise AttributeError(
                f"this {type(self).__name__} has no {name!r}: fit it with oob_score=True"
            )
        return self._oob

    @property
    def oob_n_trees_(self) -> np.ndarray:
        """How many estimators have not seen each row; rows with 0 have no out-of-bag answer."""
        return self._found("oob_n_trees_").n_trees

    @property
    def oob_error_curve_(self) -> np.ndarray:
        """Out-of-bag error after each estimator."""
        return self._found("oob_error_curve_").curve

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        history = replace(found.history, n_rows=self._bags.n_rows)
        if self._oob is not None:
            history = replace(
                history,
                oob_score=self.oob_score_,
                oob_measure="" if callable(self.oob_score) else self._usual_measure,
                oob_curve=self._oob.curve,
            )
        return replace(found, bags=self._bags, history=history)

    # ------------------------------------------------------------------ keeping
    def _oob_state(self) -> dict[str, Any] | None:
        if self._oob is None:
            return None
        return {"answers": self._oob.to_state(), "score": self.oob_score_}

    def _read_oob(self, state: Any, shape: tuple[int, int, int], n_estimators: int) -> None:
        """Take what a file has; ``shape`` is (rows, outputs, values)."""
        if state is not None:
            self._oob = OutOfBag.from_state(state["answers"], shape, n_estimators)
            self.oob_score_ = state["score"]  # anything: a function may have made it


class ClassesOutOfBag(OutOfBagAttributes):
    """Out-of-bag answers of a classifier."""

    _usual_measure: ClassVar = "accuracy"
    classes_: Any  # an array, or a list of them for several outputs

    def _measure(self, truth: np.ndarray, mean: np.ndarray) -> Any:
        best = mean.argmax(axis=2)
        if not callable(self.oob_score):
            return float((best == truth).all(axis=1).mean())  # as `score` counts
        if isinstance(self.classes_, np.ndarray):
            return self.oob_score(self.classes_[truth[:, 0]], self.classes_[best[:, 0]])
        true, said = (
            np.column_stack([c[codes[:, o]] for o, c in enumerate(self.classes_)])
            for codes in (truth, best)
        )
        return self.oob_score(true, said)

    @property
    def oob_decision_function_(self) -> np.ndarray:
        """Class shares, or votes, of those that have not seen a row, (rows, classes); NaN if all have.

        With several outputs (rows, classes, outputs).
        """
        mean = self._found("oob_decision_function_").mean
        return mean[:, 0] if isinstance(self.classes_, np.ndarray) else np.moveaxis(mean, 1, 2)


class NumbersOutOfBag(OutOfBagAttributes):
    """Out-of-bag answers of a regressor."""

    _usual_measure: ClassVar = "R²"
    _one_output: bool

    def _measure(self, truth: np.ndarray, mean: np.ndarray) -> Any:
        from sklearn.metrics import r2_score

        score = self.oob_score if callable(self.oob_score) else r2_score
        return score(self._shaped(truth), self._shaped(mean[:, :, 0]))

    @property
    def oob_prediction_(self) -> np.ndarray:
        """Mean of those that have not seen a row; NaN if all have."""
        return self._shaped(self._found("oob_prediction_").mean[:, :, 0])

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, 0] if self._one_output else values
