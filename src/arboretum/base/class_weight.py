"""Class weights multiply the sample weights: a number per class, or "balanced": equal weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base.parameters import real
from arboretum.data.checks import list_names
from arboretum.errors import ParameterError

__all__ = ["with_class_weight"]


def with_class_weight(
    class_weight: Any, classes: list[np.ndarray], codes: np.ndarray, w: np.ndarray | None
) -> np.ndarray:
    """Return sample weights times the weights of the rows' classes (scikit-learn's rules)."""
    rules = class_weight if isinstance(class_weight, list) else [class_weight] * len(classes)
    if len(rules) != len(classes) or (isinstance(class_weight, dict) and len(classes) > 1):
        raise ParameterError(
            f"class_weight must be 'balanced' or a list of one dict for each of the {len(classes)} "
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
