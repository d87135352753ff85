"""An explanation of rows: what every column adds, the base, and the values; with the fields of shap's own.

Where the package ``shap`` is installed, its `Explanation` is returned, and all of its plots take it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

__all__ = ["Explanation", "make_explanation"]


@dataclass(frozen=True, eq=False)
class Explanation:
    """SHAP values of rows, as `shap.Explanation` names them.

    Attributes
    ----------
    values : float array of shape (rows, columns) or (rows, columns, outputs)
        With a second axis of columns for pairs.
    base_values : float array of shape (rows,) or (rows, outputs)
        ``base_values + values.sum(axis=1)`` is the model's output.
    data : float array of shape (rows, columns)
        The explained rows as the model sees them: categories as their indices.
    feature_names : list of str
    output_names : list of str or None
    display_data : array of shape (rows, columns) or None
        The same with the categories themselves, "missing" for missing ones; None if all columns are numeric.

    Examples
    --------
    >>> one = Explanation(np.array([[1.0, -2.0]]), np.array([5.0]), np.array([[0, 1]]), ["a", "b"])
    >>> one[0].values, len(one)
    (array([ 1., -2.]), 1)
    """

    values: np.ndarray
    base_values: np.ndarray
    data: np.ndarray
    feature_names: list[str]
    output_names: list[str] | None = None
    display_data: np.ndarray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Explanation:
        """Return the explanation of one row, or of some."""
        shown = None if self.display_data is None else self.display_data[rows]
        return replace(
            self, values=self.values[rows], base_values=self.base_values[rows],
            data=self.data[rows], display_data=shown,
        )  # fmt: skip


def make_explanation(
    values: np.ndarray,
    base: np.ndarray,
    data: np.ndarray,
    names: list[str],
    outputs: list[str] | None,
    shown: np.ndarray | None,
) -> Any:
    """Return shap's own explanation if shap is installed, else ours; ``shown`` is its display_data."""
    try:
        import shap
    except ImportError:
        return Explanation(values, base, data, names, outputs, shown)
    return shap.Explanation(
        values, base_values=base, data=data, display_data=shown, feature_names=names,
        output_names=outputs,
    )  # fmt: skip
