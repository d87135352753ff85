"""Reading single values of a model file: each is valid, or a ModelFileError is raised."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np

from arboretum.errors import ModelFileError

__all__ = ["flag_of", "labels_of", "numbers_of", "whole"]


def whole(state: dict[str, Any], name: str, least: int) -> int:
    """Return an integer of at least ``least``.

    >>> whole({"seed": 7}, "seed", 0)
    7
    """
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelFileError(f"{name} must be an int ≥ {least}, got {value!r}")
    return value


def flag_of(state: dict[str, Any], name: str) -> bool:
    """Return True or False."""
    value = state[name]
    if value is not True and value is not False:
        raise ModelFileError(f"{name} must be True or False, got {value!r}")
    return value


def labels_of(value: Any, least: int = 1) -> np.ndarray:
    """Return class labels."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < least:
        raise ModelFileError(f"the classes are not a list of labels, at least {least}")
    if not np.all(value[:-1] < value[1:]):
        raise ModelFileError("the classes are not different labels in their order")
    if any(isinstance(label, float) and not isfinite(label) for label in value.tolist()):
        raise ModelFileError("one of the classes is NaN or infinite")
    return value


def numbers_of(state: dict[str, Any], name: str, size: int | None = None) -> np.ndarray:
    """Return finite numbers; ``size`` of them, or at least one."""
    value = state[name]
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 1:
        raise ModelFileError(f"its {name!r} is not an array of numbers")
    if not len(value) or not np.isfinite(value).all():
        raise ModelFileError(f"its {name!r} is empty or not finite")
    if size is not None and len(value) != size:
        raise ModelFileError(f"its {name!r} holds {len(value)} numbers, there must be {size}")
    return value
