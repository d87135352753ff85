"""Fixed dictionaries of weak classifiers g_j with predictions -1 and 1; each has one coefficient.

    StumpDictionary       every stump on the codes of a table
    MemberDictionary      given fitted classifiers

A stump and its opposite are one coordinate: the opposite has a coefficient below 0. The stumps are

    always 1                       one
    x > t ? 1 : -1                 one per cut of a numeric or ordinal column; where values are missing, one
                                   with the missing rows on either side, and one for "is it missing?"
    x = c ? 1 : -1                 one per category; missing is a category of its own

All edges of a column's stumps come from one count of v·y per code (v: weights), so a dictionary of a
million stumps is never written out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.boosting.adaboost.learners import places_of
from arboretum.cart.cart import CARTClassifier
from arboretum.data.schema import Schema
from arboretum.errors import ModelFileError
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link
from arboretum.structure.build import build_tree, leaves
from arboretum.structure.tree import SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["Dictionary", "MemberDictionary", "StumpDictionary"]

CONSTANT, CUT, EQUALS = 0, 1, 2  # kinds of stumps
_LINK = Link("logit", 2.0)  # the exponential loss is least at half the log odds
_FIELDS = {"kind": np.uint8, "feature": np.int32, "value": np.float64, "missing": np.int8}


class Dictionary(ABC):
    """Weak classifiers with their predictions of the training rows."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def sums(self, signed: np.ndarray) -> np.ndarray:
        """Return Σ_i signed_i g_j(x_i) over the training rows, for all j."""

    @abstractmethod
    def answers(self, j: int) -> np.ndarray:
        """Return the predictions of g_j for the training rows."""

    @abstractmethod
    def combine(self, used: np.ndarray, sizes: np.ndarray, X: Any) -> np.ndarray:
        """Return Σ_j λ_j g_j(x) for new rows, over the classifiers ``used`` with these coefficients."""

    @abstractmethod
    def describe(self, j: int) -> str:
        """Return g_j in words."""

    @abstractmethod
    def ensemble(self, used: np.ndarray, sizes: np.ndarray, schema: Schema) -> Ensemble | None:
        """Return Σ_j λ_j g_j as trees over the columns of a schema; None if these are none."""


class StumpDictionary(Dictionary):
    """Every stump on a table.

    Attributes
    ----------
    kind : uint8 array
        CONSTANT, CUT or EQUALS.
    feature : int32 array
    value : float64 array
        The threshold of a cut (+inf tests "is it missing?"); a category's code, -1 for missing.
    missing : int8 array
        The prediction for a missing value.

    Examples
    --------
    >>> from arboretum.data.schema import learn_schema
    >>> schema, matrix = learn_schema([[1.0], [3.0], [3.0]])
    >>> stumps = StumpDictionary.of(matrix, schema)
    >>> [stumps.describe(j) for j in range(len(stumps))]
    ['always 1', 'x0 > 2']
    >>> stumps.answers(1), stumps.sums(np.array([0.5, 0.25, 0.25]))
    (array([-1.,  1.,  1.]), array([1., 0.]))
    """

    def __init__(self, schema: Schema, arrays: dict[str, np.ndarray]) -> None:
        self.schema = schema
        self.kind, self.feature = arrays["kind"], arrays["feature"]
        self.value, self.missing = arrays["value"], arrays["missing"]
        self._codes = self._n_codes = np.zeros((0, 0), np.int64)  # of training rows

    @classmethod
    def of(
        cls, matrix: Matrix, schema: Schema, max_bins: int | None = None, n_jobs: int = 1
    ) -> StumpDictionary:
        """Return all stumps on the codes of a table."""
        from arboretum.grow.columns import store_columns

        store = store_columns(
            matrix, schema.columns, all_codes=True, max_bins=max_bins, n_jobs=n_jobs
        )
        parts: list[tuple[Any, ...]] = [
            (np.array([CONSTANT]), 0, np.array([np.nan]), np.array([1]))
        ]
        for f in range(schema.n_features):
            n_codes, first = int(store.n_codes[f]), store.values.start[f]
            has_missing = bool((store.codes[f] == n_codes).any())
            if store.categorical[f]:
                codes = np.arange(n_codes if n_codes > 2 or has_missing else min(n_codes, 1))
                value = np.append(codes, -1.0) if has_missing else codes.astype(np.float64)
                missing = np.where(value < 0, 1, -1)
                parts.append((np.full(len(value), EQUALS), f, value, missing))
                continue
            low = store.values.low[first : first + n_codes]
            high = store.values.high[first : first + n_codes]
            cuts = _between(high[:-1], low[1:], schema.columns[f].kind == "ordinal")
            value = np.concatenate([np.repeat(cuts, 2), [np.inf]]) if has_missing else cuts
            missing = np.ones(len(value), np.int64)
            if has_missing:
                missing[:-1:2] = -1
            parts.append((np.full(len(value), CUT), f, value, missing))
        names = ("kind", "value", "missing")
        columns = {
            name: np.concatenate([part[k] for part in parts]) for k, name in zip((0, 2, 3), names)
        }
        columns["feature"] = np.concatenate([np.full(len(part[0]), part[1]) for part in parts])
        stumps = cls(schema, {name: columns[name].astype(_FIELDS[name]) for name in _FIELDS})
        stumps._codes, stumps._n_codes = store.codes, store.n_codes
        return stumps

    def __len__(self) -> int:
        return len(self.kind)

    # ------------------------------------------------------------------ training rows
    def _places(self) -> np.ndarray:
        """Return the first stump of every feature, and the end."""
        return np.searchsorted(self.feature[1:], np.arange(self.schema.n_features + 1)) + 1

    def sums(self, signed: np.ndarray) -> np.ndarray:
        total = float(signed.sum())
        out = np.empty(len(self))
        out[0] = total
        starts = self._places()
        for f, (lo, hi) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist())):
            if lo == hi:
                continue
            n_codes = int(self._n_codes[f])
            each = np.bincount(self._codes[f], signed, minlength=n_codes + 1)
            if self.kind[lo] == EQUALS:
                place = self.value[lo:hi].astype(np.int64)
                out[lo:hi] = 2 * each[np.where(place < 0, n_codes, place)] - total
                continue
            left = np.cumsum(each[: n_codes - 1])  # of each cut, without the missing
            if hi - lo > len(left):
                missing = each[n_codes]
                both = np.column_stack([left + missing, left]).ravel()
                left = np.append(both, total - missing)
            out[lo:hi] = total - 2 * left
        return out

    def answers(self, j: int) -> np.ndarray:
        if self.kind[j] == CONSTANT:
            return np.ones(self._codes.shape[1])
        f = int(self.feature[j])
        codes, missing = self._codes[f].astype(np.int64), int(self._n_codes[f])
        if self.kind[j] == EQUALS:
            wanted = missing if self.value[j] < 0 else int(self.value[j])
            return np.where(codes == wanted, 1.0, -1.0)
        first = int(self._places()[f])
        has_missing = not np.isfinite(self.value[self._places()[f + 1] - 1])
        cut = (j - first) // 2 if has_missing else j - first
        answers = np.where(codes > cut, 1.0, -1.0)
        answers[codes == missing] = self.missing[j]
        if not np.isfinite(self.value[j]):
            answers[codes != missing] = -1.0
        return answers

    # ------------------------------------------------------------------ new rows
    def combine(self, used: np.ndarray, sizes: np.ndarray, X: Any) -> np.ndarray:
        constant = self.kind[used] == CONSTANT
        f = np.full(X.n_rows, sizes[constant].sum())
        for feature in np.unique(self.feature[used[~constant]]):
            here = ~constant & (self.feature[used] == feature)
            f += self._combine_column(used[here], sizes[here], X.column(int(feature)))
        return f

    def _combine_column(self, here: np.ndarray, size: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the sum of the stumps on one column: a step function of its value."""
        value, is_missing = self.value[here], np.isnan(x)
        if self.kind[here[0]] == EQUALS:
            n_codes = len(self.schema.columns[int(self.feature[here[0]])].categories or ())
            table = np.full(n_codes + 1, -size.sum())  # the last: missing
            np.add.at(table, np.where(value < 0, n_codes, value).astype(np.int64), 2 * size)
            return table[np.where(is_missing, n_codes, x).astype(np.int64)]
        order = np.argsort(value, kind="stable")
        steps = np.concatenate([[0.0], np.cumsum(size[order])])
        below = np.searchsorted(value[order], np.where(is_missing, 0.0, x), side="left")
        return np.where(is_missing, (size * self.missing[here]).sum(), 2 * steps[below] - steps[-1])

    def describe(self, j: int) -> str:
        if self.kind[j] == CONSTANT:
            return "always 1"
        column = self.schema.columns[int(self.feature[j])]
        if self.value[j] in (-1.0, np.inf) and (self.kind[j] == EQUALS or np.isinf(self.value[j])):
            return f"{column.name} is missing"
        if self.kind[j] == EQUALS:
            return f"{column.name} = {(column.categories or ())[int(self.value[j])]}"
        shown: Any = self.value[j]
        if column.categories:  # ranks
            shown = column.categories[int(shown)]
        text = f"{column.name} > {shown if column.categories else format(shown, 'g')}"
        return f"{text} or missing" if column.has_missing and self.missing[j] > 0 else text

    # ------------------------------------------------------------------ as trees
    def ensemble(self, used: np.ndarray, sizes: np.ndarray, schema: Schema) -> Ensemble:
        splits = self.kind[used] != CONSTANT
        trees = [self.tree(j) for j in used[splits].tolist()]
        return Ensemble(trees, sizes[splits], sizes[~splits].sum(keepdims=True), link=_LINK)

    def tree(self, j: int) -> Tree:
        """Return a stump with a split as a tree whose leaves predict -1 and 1."""
        f = int(self.feature[j])
        bits, answers, goes_right = np.zeros(0, np.uint32), (0.0, -1.0, 1.0), self.missing[j] > 0
        if self.kind[j] == EQUALS:  # categories in the set go left
            n_codes, code = len(self.schema.columns[f].categories or ()), int(self.value[j])
            bits, answers = np.zeros((n_codes + 31) // 32, np.uint32), (0.0, 1.0, -1.0)
            goes_right = not goes_right
            if code >= 0:
                bits[code >> 5] = np.uint32(1 << (code & 31))
        splits, nothing = leaves(3), np.zeros(3)
        splits["kind"][0], splits["feature"][0] = (SUBSET, f) if len(bits) else (THRESHOLD, f)
        splits["threshold"][0] = np.nan if len(bits) else self.value[j]
        splits["bits_start"][0] = 0 if len(bits) else -1
        splits["first_child"][0], splits["n_children"][0] = 1, 2
        splits["missing_child"][0] = int(goes_right)
        value, count = np.array(answers).reshape(3, 1, 1), np.zeros(3, np.int64)
        return build_tree(
            self.schema, bits=bits, value=value, impurity=nothing, weight=nothing, count=count, **splits
        )  # fmt: skip

    # ------------------------------------------------------------------ keeping
    def to_state(self) -> dict[str, Any]:
        """Return the stumps as plain values."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_state(cls, schema: Schema, state: Any) -> StumpDictionary:
        """Build stumps from the result of `to_state`; raise a ModelFileError if it is invalid."""
        arrays = {name: state[name] for name in _FIELDS}
        n = len(arrays["kind"])
        for name, dtype in _FIELDS.items():
            array = arrays[name]
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.shape != (n,):
                raise ModelFileError("its stumps are damaged")
        kind, feature, value = arrays["kind"], arrays["feature"], arrays["value"]
        good = (
            np.isin(kind, (CONSTANT, CUT, EQUALS)).all()
            and np.isin(arrays["missing"], (-1, 1)).all()
        )
        good = good and (feature >= 0).all() and (feature < schema.n_features).all()
        if not good or np.isnan(value[kind != CONSTANT]).any():
            raise ModelFileError("its stumps do not fit its columns")
        n_codes = np.array([len(c.categories or ()) for c in schema.columns])[feature]
        category = np.array([c.kind == "categorical" for c in schema.columns])[feature]
        wrong = (kind != CONSTANT) & (category != (kind == EQUALS))
        wrong |= (kind == EQUALS) & ((value < -1) | (value >= n_codes) | (value != np.floor(value)))
        ranked = (kind == CUT) & (n_codes > 0) & np.isfinite(value)
        wrong |= ranked & ((value < 0) | (value >= n_codes) | (value != np.floor(value)))
        wrong |= (kind == CUT) & (value == -np.inf)
        if wrong.any():
            raise ModelFileError("its stumps do not fit its columns")
        return cls(schema, arrays)


def _between(high: np.ndarray, low: np.ndarray, ordinal: bool) -> np.ndarray:
    from arboretum.grow.apply_split import midpoint

    return high if ordinal else midpoint(high, low)


class MemberDictionary(Dictionary):
    """Fitted classifiers of two classes."""

    def __init__(self, members: list[Any], names: list[str], classes: np.ndarray) -> None:
        self.members, self.names, self.classes = members, names, classes
        self._table = np.zeros((0, 0))

    def learn(self, X: Any) -> None:
        """Predict the training rows with all members."""
        self._table = np.column_stack([self._predict(member, X) for member in self.members])

    def _predict(self, member: Any, X: Any) -> np.ndarray:
        return 2.0 * places_of(member, X, self.classes) - 1.0

    def __len__(self) -> int:
        return len(self.members)

    def sums(self, signed: np.ndarray) -> np.ndarray:
        return (signed[:, None] * self._table).sum(axis=0)

    def answers(self, j: int) -> np.ndarray:
        return self._table[:, j]

    def combine(self, used: np.ndarray, sizes: np.ndarray, X: Any) -> np.ndarray:
        total: Any = 0.0
        for j, size in zip(used.tolist(), sizes.tolist(), strict=True):
            total = total + size * self._predict(self.members[j], X)
        return total

    def describe(self, j: int) -> str:
        return self.names[j]

    def ensemble(self, used: np.ndarray, sizes: np.ndarray, schema: Schema) -> Ensemble | None:
        members = [self.members[j] for j in used]
        for member in members:
            ours = isinstance(member, CARTClassifier) and member.schema_ == schema
            if not ours or not np.array_equal(member.classes_, self.classes):
                return None
        trees = [member._kept_tree for member in members]
        return Ensemble(trees, sizes, np.zeros(1), reading="sign", link=_LINK)
