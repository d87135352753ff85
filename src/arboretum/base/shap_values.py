"""`shap_values` and `explain`: the contributions of columns to predictions, for all models of trees.

model.shap_values(X)                    contributions of the columns, path-dependent
model.shap_values(X, background=B)      against the rows of B
model.shap_base_value()                 the base to which they are added
model.explain(X)                        both, with the rows and the names: shap.Explanation

SHAP values of a mean of models are the mean of their SHAP values: a column's contribution to ½ (a + b) is
half of its contribution to a and half of that to b, so models that predict the mean of others, votes and
bags, have SHAP values as exact as theirs:

    vote of a forest and a booster of numbers      values of each, weighted like their predictions
    bag whose members see some columns             a member's values stand at its columns, 0 elsewhere

Class probabilities are averaged, not margins: a member with a nonlinear link (a booster) needs a background.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from arboretum.data.slices import take_columns
from arboretum.errors import DataError, ParameterError
from arboretum.predict.additive import NoAdditiveForm

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.predict.ensemble import Ensemble
    from arboretum.predict.shap.values import Contributions

    Array = np.ndarray

__all__ = ["Explained", "Explains", "Member", "joined", "joined_base"]


# ---------------------------------------------------------------------- means of models
class Member(NamedTuple):
    """One of the models whose predictions are averaged."""

    model: Explains
    weight: float = 1.0
    columns: np.ndarray | None = None  # of the whole table; None: all of them


def joined(
    whole: Explains, members: list[Member], X: Any, background: Any, pairs: bool, output: str
) -> Explained:
    """Return the weighted mean of the members' SHAP values."""

    _check_output(whole, output)
    n_features, n_classes = whole.schema_.n_features, _classes(whole)
    X = whole._table_for_members(X)
    background = None if background is None else whole._table_for_members(background)
    values: Any = 0.0
    base: Any = 0.0
    for member in members:
        wanted = _output_of(whole, member, background)
        try:
            found = member.model._explained(
                _own(X, member), _own(background, member), pairs, wanted, None
            )
        except NoAdditiveForm as error:
            raise NoAdditiveForm(f"{type(whole).__name__} is a mean of models: {error}") from error
        spread = _by_column(found.values, member, n_features, pairs)
        values = values + member.weight * _by_class(spread, n_classes, 2 + pairs)
        base = base + member.weight * _by_class(found.base, n_classes, 0, of=1.0)
    total = sum(member.weight for member in members)
    return Explained(values / total, base / total)


def joined_base(whole: Explains, members: list[Member]) -> Any:
    """Return the weighted mean of the members' base values, without a background."""
    n_classes = _classes(whole)
    base: Any = 0.0
    for member in members:
        _output_of(whole, member, None)
        own = np.asarray(member.model.shap_base_value())  # class probabilities are sums here
        base = base + member.weight * _by_class(own, n_classes, 0, of=1.0)
    return base / sum(member.weight for member in members)


def _check_output(whole: Explains, output: str) -> None:
    name = type(whole).__name__
    if output == "loss":
        raise ParameterError(
            f"output='loss' is for one sum of trees, {name} joins models: explain them one by one"
        )
    if output == "probability" and _classes(whole) is None:
        raise ParameterError(
            f"output='probability' is for classifiers, {name} predicts numbers: use output='raw'"
        )


def _output_of(whole: Explains, member: Member, background: Any) -> str:
    """Return the output that is explained for a member: its part of the average."""
    own = member.model
    name = type(own).__name__
    if own._members() is not None:
        return "raw"  # a mean itself
    bent = own._summed_trees().link.name != "identity"
    if _classes(whole) is None:
        if bent:
            raise NoAdditiveForm(
                f"{type(whole).__name__} averages numbers, and those of its {name} are a function of a "
                "sum: explain its models one by one (estimators_); scikit-learn's "
                "permutation_importance works with any model"
            )
        return "raw"
    if bent and background is None:
        raise ParameterError(
            f"{type(whole).__name__} averages probabilities, and those of its {name} are no sums: give a "
            "background, a table of rows to compare with, a sample of the training rows, say"
        )
    return "probability"


def _classes(whole: Explains) -> int | None:
    labels = getattr(whole, "classes_", None)
    return len(labels) if isinstance(labels, np.ndarray) else None


def _own(X: Any, member: Member) -> Any:
    return X if X is None or member.columns is None else take_columns(X, member.columns)


def _by_column(values: np.ndarray, member: Member, n_features: int, pairs: bool) -> np.ndarray:
    """Return values with the columns of the whole table; a column given twice has the sum of both."""
    if member.columns is None:
        return values
    for axis in range(1, 2 + pairs):
        moved = np.moveaxis(values, axis, 0)
        spread = np.zeros((n_features, *moved.shape[1:]))
        np.add.at(spread, member.columns, moved)
        values = np.moveaxis(spread, 0, axis)
    return values


def _by_class(
    values: np.ndarray, n_classes: int | None, axes: int, *, of: float = 0.0
) -> np.ndarray:
    """Return values with a last axis of classes; two classes with one number become two, of sum ``of``."""
    if n_classes is None or values.ndim > axes:
        return values
    return np.stack([of - values, values], axis=-1)


_OUTPUTS = ("raw", "probability", "loss")
_NO_SLOPE = {  # links without a slope, or whose predictions have no loss
    "own": "a function of yours",
    "step": "a step, without a slope",
    "isolation": "for scores, which have no actual values",
}
_INSTEAD = "scikit-learn's permutation_importance works with any model"


class Explained(NamedTuple):
    """SHAP values and the base to which they are added."""

    values: np.ndarray  # (rows, columns, ...) as `shap_values` returns them
    base: np.ndarray  # (...) or, for a loss, (rows,)


class Explains:
    """A model that computes the contributions of columns to its predictions."""

    schema_: Schema
    # the attribute of a tree whose ratios give the probabilities of branches
    _cover: ClassVar[str] = "weight"

    def shap_values(
        self,
        X: Any,
        *,
        background: Any = None,
        interactions: bool = False,
        output: str = "raw",
        y: Any = None,
    ) -> np.ndarray:
        """Return the contribution of every column to every prediction: exact SHAP values.

        They add up to the model's raw prediction of a row minus `shap_base_value`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        background : table or None
            None: a row with an unknown column goes down all branches of a split on it, weighted by their
            training weight (path-dependent). A table: unknown values are taken from the rows of the table,
            and results averaged over them (interventional).
        interactions : bool, default=False
            Return the contributions of pairs: a symmetric table whose rows add up to the values; each of the
            two entries of a pair holds half of the joint effect.
        output : {"raw", "probability", "loss"}, default="raw"
            What is explained: the sum of the trees (class probabilities of trees and forests, margins of
            boosters), the probabilities computed from it, or the loss of every row (log loss for classes,
            squared error for numbers, e^m - y m for log links). The last two need a background, unless the
            sum is a probability itself: the values against each background row are scaled by the ratio in
            which the link changes the difference between the two sums.
        y : array-like or None
            The actual values, for ``output="loss"``.

        Returns
        -------
        float array of shape (n_samples, n_features)
            (n_samples, n_features, n_outputs) for several outputs or classes, and (n_samples, n_features,
            n_outputs, n_classes) for several outputs with several classes. Interactions have n_features
            twice.

        Raises
        ------
        NoAdditiveForm
            The prediction of the model is not a sum over the leaves of trees.
        """
        return self._explained(X, background, interactions, output, y).values

    def shap_base_value(
        self, *, background: Any = None, output: str = "raw", X: Any = None, y: Any = None
    ) -> Any:
        """Return the base of SHAP values: the mean over the background, or over the leaves by weight.

        Parameters
        ----------
        background, output
            As for `shap_values`.
        X, y : table and labels, or None
            For ``output="loss"``: its base differs from row to row.

        Returns
        -------
        float, or float array of shape (n_outputs,); (n_samples,) for "loss"
        """
        if output != "loss" and X is None:
            self._check_fitted()
            members = self._members()
            if members is not None and background is None:
                return _plain(joined_base(self, members))
            if background is None and output == "raw":
                ensemble = self._summed_trees()
                return _plain(_shaped(self._contributions(ensemble).base, ensemble))
            X = background
        base = self._explained(X, background, False, output, y).base
        return _plain(base)

    def explain(
        self,
        X: Any,
        *,
        background: Any = None,
        interactions: bool = False,
        output: str = "raw",
        y: Any = None,
    ) -> Any:
        """Return SHAP values with their base, the rows, and the names of the columns.

        Arguments as for `shap_values`.

        Returns
        -------
        shap.Explanation
            If the package shap is installed; all of its plots accept it. Otherwise our own `Explanation` with
            attributes ``values``, ``base_values``, ``data``, ``feature_names``, ``output_names``, and
            ``display_data``: the rows with words in place of the codes of categories.
        """
        from arboretum.predict.shap.explanation import make_explanation

        found = self._explained(X, background, interactions, output, y)
        matrix = self._encode(X)
        base = found.base
        if output != "loss":
            base = np.broadcast_to(base, (matrix.n_rows, *np.shape(base))).copy()
        summed = self._members() is None and self._has_summed_trees()
        schema = self._summed_trees().trees[0].schema if summed else self.schema_
        names = None
        several = found.values.ndim > 2 + bool(interactions)
        if several and isinstance(getattr(self, "classes_", None), np.ndarray):
            names = [str(label) for label in self.classes_]  # type: ignore[attr-defined]
        rows = np.array(matrix.rows(0, matrix.n_rows))
        return make_explanation(
            found.values, base, rows, list(schema.names), names, _words(rows, schema)
        )

    # ------------------------------------------------------------------ how they are computed
    def _members(self) -> list[Member] | None:
        """Return the models whose mean is predicted; None if the prediction is itself a sum of trees."""
        return None

    def _table_for_members(self, X: Any) -> Any:
        """Return a table from which members can take their columns."""
        return X

    def _summed_trees(self) -> Ensemble:
        """Return the trees whose sum is explained; raise if the model is not such a sum."""
        raise NoAdditiveForm(
            f"{type(self).__name__} is not a sum of trees over the columns of its table, so it has no SHAP "
            f"values: explain its models one by one (estimators_); {_INSTEAD}"
        )

    def _has_summed_trees(self) -> bool:
        return bool(self._summed_trees().trees)

    def _contributions(self, ensemble: Ensemble) -> Contributions:
        from arboretum.predict.shap.values import contributions_of

        try:
            return contributions_of(ensemble, self.schema_.n_features, self._cover)
        except NoAdditiveForm as error:
            raise NoAdditiveForm(
                f"{type(self).__name__} has no SHAP values: {error}; {_INSTEAD}"
            ) from error

    def _explained(
        self, X: Any, background: Any, interactions: bool, output: str, y: Any
    ) -> Explained:
        """Return values and base in the shapes of the API."""
        from arboretum.predict.shap.rescaled import loss_curve, probability_curve, rescaled_values

        if output not in _OUTPUTS:
            raise ParameterError(f"output must be one of {_OUTPUTS}, got {output!r}")
        if not isinstance(interactions, bool | np.bool_):
            raise ParameterError(f"interactions must be True or False, got {interactions!r}")
        if (y is not None) != (output == "loss"):
            raise ParameterError(
                "output='loss' needs y, the actual values of the rows"
                if y is None
                else f"y is for output='loss', and output is {output!r}"
            )
        self._check_fitted()
        members = self._members()
        if members is not None:
            return joined(self, members, X, background, bool(interactions), output)
        ensemble = self._summed_trees()
        contributions = self._contributions(ensemble)
        matrix = self._encode(X)
        others = None if background is None else self._encode(background)
        pairs, n_jobs = bool(interactions), self._threads()
        bends = self._bends(ensemble, output)
        if not bends:
            values = contributions.values(matrix, others, pairs=pairs, n_jobs=n_jobs)
            base = contributions.base
            if others is not None:
                base = ensemble.additive().sums(others, n_jobs).mean(axis=0)
            return Explained(
                _columns_first(_shaped(values, ensemble, 1), pairs), _shaped(base, ensemble)
            )
        if others is None:
            raise ParameterError(
                f"output={output!r} needs a background, a table of rows to compare with: "
                "for example some training rows. Without one, only output='raw' can be explained"
            )
        form = ensemble.additive()
        sums = form.sums(matrix, n_jobs), form.sums(others, n_jobs)
        if output == "probability":
            curve = probability_curve(ensemble.link)
        else:
            truth, classes = self._truth(y, matrix.n_rows)
            curve = loss_curve(ensemble.link, truth, classes=classes)
        values, base = rescaled_values(
            contributions, matrix, others, sums, curve, pairs=pairs, n_jobs=n_jobs
        )
        if output == "loss":
            return Explained(values[:, 0], base[:, 0])
        return Explained(
            _columns_first(_shaped(values, ensemble, 1), pairs), _shaped(base[0], ensemble)
        )

    def _bends(self, ensemble: Ensemble, output: str) -> bool:
        """Return True if the output is not the sum itself; raise if it is not defined."""
        if output == "raw":
            return False
        name, link = type(self).__name__, ensemble.link.name
        if link in _NO_SLOPE:
            raise ParameterError(
                f"output={output!r} needs a differentiable link, and the link of this {name} is "
                f"{_NO_SLOPE[link]}; use output='raw'"
            )
        if output == "loss":
            return True
        if not hasattr(self, "classes_"):
            raise ParameterError(
                f"output='probability' is for classifiers, {name} predicts numbers: use output='raw'"
            )
        return link != "identity"

    def _truth(self, y: Any, n_rows: int) -> tuple[np.ndarray, bool]:
        """Return actual values as class codes or numbers, and whether they are classes."""
        from arboretum.data.target import numbers

        labels, name = getattr(self, "classes_", None), type(self).__name__
        if labels is None:
            values, _ = numbers(y, n_rows=n_rows, estimator_name=name)
            return values, False
        if isinstance(labels, list):
            raise ParameterError(
                f"output='loss' is for one target, this {name} has {len(labels)}: fit one model for each"
            )
        place = {label: code for code, label in enumerate(labels.tolist())}
        given = np.asarray(y).tolist()
        if np.ndim(y) != 1 or len(given) != n_rows:
            raise DataError(f"y must be one label for each of the {n_rows} rows of X")
        unknown = [label for label in given if label not in place]
        if unknown:
            raise DataError(f"y holds {unknown[0]!r}, which is not a class of this {name}")
        return np.array([place[label] for label in given]), True

    if TYPE_CHECKING:

        def _check_fitted(self) -> None: ...
        def _encode(self, X: Any) -> Matrix: ...
        def _threads(self) -> int: ...


def _shaped(values: np.ndarray, ensemble: Ensemble, axis: int = 0) -> np.ndarray:
    """Return values whose axis of outputs is split into the ensemble's outputs and classes, if several."""
    shape = tuple(size for size in ensemble.base.shape if size > 1)
    return values.reshape((*values.shape[:axis], *shape, *values.shape[axis + 1 :]))


def _columns_first(values: np.ndarray, pairs: bool) -> np.ndarray:
    """Return (rows, outputs …, columns) as (rows, columns, outputs …)."""
    axes = [-2, -1] if pairs else [-1]
    return np.ascontiguousarray(np.moveaxis(values, axes, range(1, 1 + len(axes))))


def _plain(base: np.ndarray) -> Any:
    return float(base) if np.ndim(base) == 0 else base


def _words(rows: np.ndarray, schema: Schema) -> np.ndarray | None:
    """Return rows with words in place of codes; None if there are no categories."""
    if all(column.categories is None for column in schema.columns):
        return None
    shown = rows.astype(object)
    for f, column in enumerate(schema.columns):
        if column.categories is not None:
            words = np.array([*map(str, column.categories), "missing"], dtype=object)
            known = ~np.isnan(rows[:, f])
            codes = np.where(known, rows[:, f], len(words) - 1).astype(np.int64)
            shown[:, f] = words[np.clip(codes, 0, len(words) - 1)]
    return shown
