"""What a model predicts: classes or numbers, one column of them or several.

    y = ["no", "yes", "no"]     ──►   classes_ = ["no", "yes"], codes 0 1 0    ──►   "no", class probabilities
    y = [1.5, 2.0, 7.5]         ──►   the numbers themselves

A classifier and a regressor of one family differ only in these classes: how a target becomes numbers, how
numbers become predictions, and what a file keeps of it.

Class weights multiply the sample weights: a number per class, or "balanced", which makes all classes weigh
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from arboretum.base.parameters import real
from arboretum.data.checks import check_counts, check_scale, check_weights, list_names
from arboretum.data.column_warnings import warn_of_classes
from arboretum.data.target import check_target_count, encode_classes, numbers, weights
from arboretum.engine.elementwise import log
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import flag_of, labels_of, whole
from arboretum.predict.link import largest_share, shares
from arboretum.predict.soundness import prove_shares

if TYPE_CHECKING:
    from arboretum.base.estimator import Estimator
    from arboretum.grow.grower import GrowTarget

    class _Base(Estimator): ...

else:
    _Base = object

__all__ = ["Classes", "Numbers", "with_class_weight"]


# ---------------------------------------------------------------------- class weights
def with_class_weight(
    class_weight: Any, classes: list[np.ndarray], codes: np.ndarray, w: np.ndarray | None
) -> np.ndarray:
    """Return sample weights times the weights of the rows' classes (scikit-learn's rules)."""
    rules = class_weight if isinstance(class_weight, list) else [class_weight] * len(classes)
    if len(rules) != len(classes) or (isinstance(class_weight, dict) and len(classes) > 1):
        raise ParameterError(
            "number of elements in class_weight should match number of outputs. "
            f"It must be 'balanced' or a list of one dict for each of the {len(classes)} "
            f"outputs, got {class_weight!r}"
        )
    product = np.ones(len(codes)) if w is None else w.copy()
    for output, rule in enumerate(rules):
        code = codes[:, output]
        product *= _weight_of_classes(rule, classes[output], code)[code]
    if not product.any():
        raise ParameterError(f"class_weight leaves no row a weight, got {class_weight!r}")
    return product


def _weight_of_classes(rule: Any, classes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    if isinstance(rule, str) and rule == "balanced":
        return len(codes) / (len(classes) * np.bincount(codes, minlength=len(classes)))
    if not isinstance(rule, dict):
        raise ParameterError(f"class_weight must hold dicts or 'balanced', got {rule!r}")
    result = np.ones(len(classes))
    position = {label: i for i, label in enumerate(classes.tolist())}
    unknown = [label for label in rule if label not in position]
    # the weights name more classes than y has: a subset that lacks a rare class, as in cross-validation
    if unknown and len(rule) - len(unknown) < len(classes):
        raise ParameterError(
            f"class_weight names the classes {list_names(unknown)}, which y does not hold; it "
            f"holds {list_names(classes.tolist())}"
        )
    for label, weight in rule.items():
        if not real(0).allows(weight):
            raise ParameterError(
                f"class_weight must give every class a number ≥ 0, got {weight!r} for {label!r}"
            )
        if label in position:
            result[position[label]] = weight
    return result


class _Target(_Base):
    """What classes and numbers share."""

    n_outputs_: int

    def _refuse_several(self, n_columns: int) -> None:
        """Raise if there are several targets where one is supported."""
        if n_columns > 1 and not self._several_outputs:
            name = type(self).__name__
            raise DataError(
                f"y should be a 1d array: {name} predicts one target, but y has {n_columns} columns; fit one "
                "model for each (sklearn.multioutput), or use a CART tree or a random forest, which "
                "support several"
            )

    def _learn_weights(self, sample_weight: Any, n_rows: int) -> np.ndarray | None:
        """Return checked weights of rows."""
        w = weights(sample_weight, n_rows)
        if w is not None:
            check_weights(w)
        return w

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[GrowTarget, Any]:
        """Return the target as growers take it, and the weights of the rows."""
        raise NotImplementedError

    def _read_n_outputs(self, state: dict[str, Any]) -> None:
        self.n_outputs_ = whole(state, "n_outputs", 1) if self._several_outputs else 1

    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        if self._several_outputs:
            state["n_outputs"] = self.n_outputs_
        return state

    @property
    def _leaf_shape(self) -> tuple[int, int]:
        """Number of outputs, and of values that a leaf has for each."""
        raise NotImplementedError


class Classes(ClassifierMixin, _Target):
    """A model that predicts classes, whatever their labels; internally they are 0 to K-1."""

    classes_: Any  # an array, or a list of them for several outputs
    n_classes_: Any
    class_weight: Any = None
    _fewest_classes: ClassVar[int] = 1
    # leaf values are the probabilities of these classes
    _leaves_hold_probabilities: ClassVar[bool] = False
    _attributes: ClassVar[Mapping[str, str]] = {
        "classes_ : array, or list of arrays for several outputs": "The class labels, sorted.",
        "n_classes_ : int, or list of ints": "",
    }

    def _learn_classes(self, y: Any, n_rows: int) -> np.ndarray:
        """Learn the labels; return codes of shape (rows, outputs)."""
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=type(self).__name__)
        self._refuse_several(len(classes))
        self.n_outputs_ = codes.shape[1]
        self._take_classes(classes[0] if one else classes)
        warn_of_classes(len(classes[0]), len(codes), classes[0][0])
        return codes

    def _take_classes(self, classes: Any) -> None:
        one = isinstance(classes, np.ndarray)
        self.classes_ = classes
        self.n_classes_ = len(classes) if one else [len(each) for each in classes]

    @property
    def _each_classes(self) -> list[np.ndarray]:
        """The labels of every output."""
        return [self.classes_] if isinstance(self.classes_, np.ndarray) else list(self.classes_)

    @property
    def _leaf_shape(self) -> tuple[int, int]:
        each = self._each_classes
        return len(each), max(len(classes) for classes in each)

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[GrowTarget, Any]:
        from arboretum.grow.grower import make_target

        codes = self._learn_classes(y, n_rows)
        w = weights(sample_weight, n_rows)
        if self.class_weight not in (None, "balanced_subsample"):  # forests apply this bag by bag
            w = with_class_weight(self.class_weight, self._each_classes, codes, w)
        if w is not None:
            check_weights(w)
        return make_target(codes, np.array([len(c) for c in self._each_classes]), w), w

    # ------------------------------------------------------------------ answers
    def _labels_of(self, best: np.ndarray) -> np.ndarray:
        """Return the labels for class codes, (rows, outputs)."""
        if isinstance(self.classes_, np.ndarray):
            return self.classes_[best[:, 0]]
        return np.column_stack([c[best[:, o]] for o, c in enumerate(self.classes_)])

    def _label_of_two(self, second: np.ndarray, bound: float) -> np.ndarray:
        """Return the second label where a row's number is above the bound, else the first."""
        if len(second) == 1:  # a slice takes a fifth of the time of indexing
            code = int(second.item() > bound)
            return self.classes_[code : code + 1].copy()
        return self.classes_[(second > bound).astype(np.intp)]

    def _probabilities_of(self, value: np.ndarray) -> np.ndarray | list[np.ndarray]:
        """Return the class probabilities in (rows, outputs, classes) as scikit-learn shapes them."""
        if isinstance(self.classes_, np.ndarray):
            return value[:, 0]
        return [value[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        meanings: dict[str, Callable[[np.ndarray], Any]] = {
            **super()._meanings(),
            "predict": lambda shares: self._labels_of(shares.argmax(axis=2)),
            "predict_proba": self._probabilities_of,
        }
        if isinstance(self.classes_, np.ndarray):
            meanings["predict"] = largest_share(meanings["predict"], self.classes_)
            meanings["predict_proba"] = shares(self._probabilities_of, len(self.classes_))
        return meanings

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the logarithms of `predict_proba`."""
        proba = self.predict_proba(X)
        return [log(s) for s in proba] if isinstance(proba, list) else log(proba)

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        if not self._several_outputs:
            return {**state, "classes": self.classes_}
        one = isinstance(self.classes_, np.ndarray)
        return {**state, "classes": self._each_classes, "one_output": one}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        self._read_n_outputs(state)
        if not self._several_outputs:
            self._take_classes(labels_of(state["classes"], self._fewest_classes))
        else:
            classes, one = state["classes"], flag_of(state, "one_output")
            if not isinstance(classes, list) or len(classes) != self.n_outputs_:
                raise ModelFileError("the classes do not fit the model's outputs")
            if one and len(classes) != 1:
                raise ModelFileError("a model of one output has several lists of classes")
            each = [labels_of(labels) for labels in classes]
            self._take_classes(each[0] if one else each)
        super()._read_fitted_state(state)

    def _prove_sound(self) -> None:
        super()._prove_sound()
        if self._leaves_hold_probabilities:
            prove_shares(self.trees_, [len(labels) for labels in self._each_classes])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self._several_outputs
        return tags


class Numbers(RegressorMixin, _Target):
    """A model that predicts numbers."""

    _one_output: bool = True  # y had one dimension

    def _learn_numbers(self, y: Any, n_rows: int | None) -> np.ndarray:
        """Learn the shape of the target; return numbers of shape (rows, outputs)."""
        values, one = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        self._refuse_several(values.shape[1])
        check_scale(values)
        self.n_outputs_ = values.shape[1]
        if self._several_outputs:
            self._one_output = one
        return values

    @property
    def _leaf_shape(self) -> tuple[int, int]:
        return self.n_outputs_, 1

    def _learn_target(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[GrowTarget, Any]:
        from arboretum.grow.grower import make_target

        values = self._learn_numbers(y, None)  # what y holds is checked before its length
        if self.criterion == "poisson":
            check_counts(values)
        check_target_count(len(values), n_rows)
        w = self._learn_weights(sample_weight, n_rows)
        return make_target(values, None, w), w

    # ------------------------------------------------------------------ answers
    def _numbers_of(self, value: np.ndarray) -> np.ndarray:
        """Return numbers in (rows, outputs) as scikit-learn shapes them."""
        return value[:, 0] if self._one_output else value

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return {
            **super()._meanings(),
            "predict": lambda value: self._numbers_of(value[:, :, 0]),
        }

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        return {**state, "one_output": self._one_output} if self._several_outputs else state

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        self._read_n_outputs(state)
        if self._several_outputs:
            self._one_output = flag_of(state, "one_output")
            if self._one_output and self.n_outputs_ != 1:
                raise ModelFileError("a model of one output has several")
        super()._read_fitted_state(state)
