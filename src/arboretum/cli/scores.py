"""The quality of predictions: metrics, a table per class and the confusion matrix.

    classification   accuracy, balanced accuracy, log loss, ROC AUC (two classes)
    regression       R², RMSE, MAE

Classes are compared as codes: the model's classes first, then those that only occur in the data, which
count as errors.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from arboretum.cli.files import Data
from arboretum.cli.screen import fits_screen, number, plural, print_facts, print_table
from arboretum.data.checks import list_names
from arboretum.data.target import encode_classes
from arboretum.errors import DataError

__all__ = ["Scores", "is_classifier", "print_scores", "score"]

_LARGEST_MATRIX = 12  # classes: a wider confusion matrix does not fit on a screen
_MOST_CONFUSED = 10


@dataclass(frozen=True)
class Scores:
    """The result of `score`.

    Attributes
    ----------
    values : dict
        Name of a measure -> its value.
    classes : list of str
        Empty for regression.
    per_class : float array of shape (classes, 4)
        Precision, recall, F1 and number (or weight) of rows.
    confusion : float array of shape (classes, classes)
        Rows are actual classes, columns predicted ones.
    remarks : list of str
        Remarks on the values for the reader.
    """

    values: dict[str, float]
    classes: list[str] = field(default_factory=list)
    per_class: np.ndarray = field(default_factory=lambda: np.empty((0, 4)))
    confusion: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    remarks: list[str] = field(default_factory=list)


def is_classifier(model: Any) -> bool:
    """Return True if a fitted model predicts classes."""
    return hasattr(model, "classes_")


def score(model: Any, features: Data, y: np.ndarray, weight: np.ndarray | None) -> Scores:
    """Compare a model's predictions with the actual values.

    Parameters
    ----------
    model : fitted estimator of one output
    features : Data
        The columns the model was trained on.
    y : array
        The actual values, from `target_values`.
    weight : array or None
        Weights of the rows.
    """
    if model.n_outputs_ > 1:
        raise DataError(
            f"the model predicts {model.n_outputs_} targets at once: evaluate it in Python, with "
            "model.score or sklearn.metrics"
        )
    if weight is not None and not weight.any():
        raise DataError("every row of the evaluation has weight 0")
    with warnings.catch_warnings():  # undefined scores are printed as such
        warnings.filterwarnings("ignore", module="sklearn")
        if is_classifier(model):
            return _classification(model, features, y, weight)
        return _regression(model, features, y, weight)


def _regression(model: Any, features: Data, y: np.ndarray, weight: np.ndarray | None) -> Scores:
    from sklearn import metrics

    prediction = model.predict(features.table)
    y = np.asarray(y, dtype=np.float64)
    values = {
        "R²": metrics.r2_score(y, prediction, sample_weight=weight) if len(y) > 1 else np.nan,
        "RMSE": metrics.root_mean_squared_error(y, prediction, sample_weight=weight),
        "MAE": metrics.mean_absolute_error(y, prediction, sample_weight=weight),
    }
    remarks = ["R² needs at least two rows"] if len(y) < 2 else []
    return Scores({name: float(value) for name, value in values.items()}, remarks=remarks)


def _classification(model: Any, features: Data, y: np.ndarray, weight: np.ndarray | None) -> Scores:
    from sklearn import metrics

    share = model.predict_proba(features.table)
    guess = share.argmax(axis=1)
    truth, names, remarks = _truth_codes(y, model.classes_)
    codes, n_known = np.arange(len(names)), share.shape[1]
    values = {
        "accuracy": metrics.accuracy_score(truth, guess, sample_weight=weight),
        "balanced accuracy": metrics.balanced_accuracy_score(truth, guess, sample_weight=weight),
    }
    if len(names) == n_known:
        values["log loss"] = metrics.log_loss(
            truth, share, labels=codes, sample_weight=weight
        ) if n_known > 1 else 0.0  # fmt: skip
        if n_known == 2:
            both = len(np.unique(truth)) == 2
            area = metrics.roc_auc_score(truth, share[:, 1], sample_weight=weight) if both else None
            values["ROC AUC"] = np.nan if area is None else area
            if not both:
                remarks.append("ROC AUC needs rows of both classes")
    per_class = metrics.precision_recall_fscore_support(
        truth, guess, labels=codes, zero_division=0, sample_weight=weight
    )
    confusion = metrics.confusion_matrix(truth, guess, labels=codes, sample_weight=weight)
    return Scores(
        {name: float(value) for name, value in values.items()},
        names,
        np.column_stack(per_class),
        confusion,
        remarks,
    )


def _truth_codes(y: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, list[str], list[str]]:
    """Return actual classes as positions in the list of classes, that list, and remarks."""
    (held,), codes, _ = encode_classes(y)
    position = {label: i for i, label in enumerate(known.tolist())}
    strangers = [label for label in held.tolist() if label not in position]
    if len(strangers) == len(held):
        raise DataError(
            f"the target holds {list_names(strangers)}, the model has the classes "
            f"{list_names(known.tolist())}: is this the right column?"
        )
    remarks = []
    if strangers:
        remarks.append(
            f"the model was trained without {'the class' if len(strangers) == 1 else 'the classes'} "
            f"{list_names(strangers)}: such rows count as errors, and there is no log loss"
        )
    for label in strangers:
        position[label] = len(position)
    place = np.array([position[label] for label in held.tolist()])
    return place[codes[:, 0]], [str(label) for label in position], remarks


# --------------------------------------------------------------------------- printing
def print_scores(scores: Scores, title: str) -> None:
    """Print all results of `score`."""
    values = [(name, number(value)) for name, value in scores.values.items()]
    print_table(title, ("measure", "value"), values, right=[1])
    if scores.classes:
        rows = [
            (name, *(f"{value:.3f}" for value in row[:3]), f"{row[3]:,.10g}")
            for name, row in zip(scores.classes, scores.per_class)
        ]
        header = ("class", "precision", "recall", "F1", "rows")
        print_table("Class by class", header, rows, right=range(1, 5))
        _print_confusion(scores)
    if scores.remarks:
        print_facts([("note", remark) for remark in scores.remarks])


def _print_confusion(scores: Scores) -> None:
    counts = scores.confusion
    header = ("actual \\ predicted", *scores.classes)
    rows: list[tuple[str, ...]] = [
        (name, *(f"{count:,.6g}" for count in row)) for name, row in zip(scores.classes, counts)
    ]
    if len(counts) <= _LARGEST_MATRIX and fits_screen(header, rows):
        print_table("Confusion matrix", header, rows, right=range(1, len(header)))
        return
    wrong = counts * (1 - np.eye(len(counts)))
    worst = np.argsort(-wrong, axis=None, kind="stable")[:_MOST_CONFUSED]
    places = [divmod(int(cell), len(counts)) for cell in worst if wrong.flat[cell] > 0]
    rows = [(scores.classes[i], scores.classes[j], f"{counts[i, j]:,.6g}") for i, j in places]
    title = f"Most frequent confusions among {plural(len(counts), 'class', 'classes')}"
    print_table(title, ("actual", "predicted", "rows"), rows, right=[2])
