"""The usual final models of stacks in files: scikit-learn's linear models as their coefficients.

Other estimators of other libraries have no place in a model file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from arboretum.base.members import member_from_state, member_to_state
from arboretum.errors import ModelFileError

__all__ = ["final_from_state", "final_to_state"]

_LEARNED = {
    "LogisticRegression": ("coef_", "intercept_", "classes_", "n_iter_"),
    "RidgeCV": ("coef_", "intercept_", "alpha_", "best_score_"),
}


def _is_linear(model: Any) -> bool:
    return (
        type(model).__name__ in _LEARNED
        and type(model).__module__.startswith("sklearn.")
        and model.get_params() == type(model)().get_params()
    )


def final_to_state(model: Any) -> dict[str, Any]:
    """Return what is kept of a fitted final model.

    >>> from sklearn.linear_model import LogisticRegression
    >>> sorted(final_to_state(LogisticRegression().fit([[0.0], [1.0]], [0, 1]))["linear"])
    ['classes_', 'coef_', 'intercept_', 'n_iter_']
    """
    if not _is_linear(model):
        return member_to_state(model)
    names = _LEARNED[type(model).__name__]
    return {"linear": {name: np.asarray(getattr(model, name)) for name in names}}


def final_from_state(base: Any, kept: Any) -> Any:
    """Return the fitted final model that was kept; raise a ModelFileError if it is invalid."""
    if "linear" not in kept:
        return member_from_state(base, kept)
    names, values = _LEARNED.get(type(base).__name__, ()), kept["linear"]
    if not _is_linear(base) or not isinstance(values, dict) or set(values) != set(names):
        raise ModelFileError("its final model is not the linear one of its parameters")
    for value in values.values():
        good = isinstance(value, np.ndarray) and value.dtype.kind in "if"
        if not good or not np.isfinite(value).all():
            raise ModelFileError("the coefficients of its final model are not numbers")
    coef, intercept, classes = values["coef_"], values["intercept_"], values.get("classes_")
    rows = 1 if classes is None or len(classes) == 2 else len(classes)
    shape = coef.shape[-1:] if classes is None else (rows, *coef.shape[-1:])
    if coef.ndim == 0 or coef.shape != shape or intercept.size != rows:
        raise ModelFileError("the coefficients of its final model do not fit each other")
    from sklearn.base import clone

    model = clone(base)
    for name, value in values.items():
        setattr(model, name, value if value.ndim else value.item())
    model.n_features_in_ = coef.shape[-1]
    return model
