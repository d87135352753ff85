"""Partial dependence and curves of single rows (ICE), exactly from the trees.

What would the model predict if every row had this value? scikit-learn predicts the whole table again for
every value of a grid. With trees, rows and grid points can go down together (engine/predict/open_walk.py), so
all points cost about as much as one prediction.

    average       mean over the rows, for every grid point      individual     every row's own curve

The numbers equal those of brute force, in the same format: `sklearn.inspection.PartialDependenceDisplay`
draws them. Models that are not a sum of trees (C4.5's fractional cases, stacking, medians) predict the table
point by point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from arboretum.data.checks import did_you_mean
from arboretum.data.target import weights
from arboretum.engine import parallel
from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.model_function import ModelFunction
from arboretum.explain.dependence.open_states import OpenCoding, open_states
from arboretum.explain.pipeline import anatomy_of, takes_pipelines
from arboretum.predict.additive import AdditiveForm, NoAdditiveForm
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.sum import Terms
from arboretum.structure.joined import JoinedTrees, join_trees

if TYPE_CHECKING:
    from arboretum.base.anatomy import Anatomy
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.engine.predict.open_walk import OpenWalk

__all__ = ["Grid", "as_sum", "curves", "grid_of", "partial_dependence", "place_of"]

_CELLS = 1 << 16  # rows times points times outputs of a block: half a megabyte
_LOOKED_UP_CELLS = 1 << 18  # the same if curves are looked up: most of the block is not touched
_MOST_ROWS = 4096  # of a block if only its sum is kept
_MOST_CODES = 1 << 16  # of a column


class Grid(NamedTuple):
    """Values of some columns: `points` has every combination of the `axes`; the first axis varies slowest."""

    features: list[int]
    axes: list[np.ndarray]  # encoded, as in the model
    values: list[np.ndarray]  # as the table has them: words for categories
    points: np.ndarray  # (columns, points)


@takes_pipelines
def partial_dependence(
    model: Any,
    X: Any,
    features: Any,
    *,
    kind: str = "average",
    response: str = "auto",
    grid_resolution: int = 100,
    percentiles: tuple[float, float] = (0.05, 0.95),
    custom_values: dict[Any, Any] | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> Any:
    """Return the predictions of the model if all rows had the same value in a column.

    Parameters
    ----------
    model : fitted estimator of this library, or a Pipeline that ends with one
    X : table
        The rows; their other columns stay as they are.
    features : name or index of a column, or a list of them
        Several columns are varied together: a grid of all combinations.
    kind : {"average", "individual", "both"}, default="average"
        The mean over the rows, every row's own curve (ICE), or both.
    response : {"auto", "raw"}, default="auto"
        "auto": probabilities of classes (for two classes, of the second), or numbers. "raw": the sum of
        the trees before the link, to which SHAP values add up; only for models that are such a sum.
    grid_resolution : int, default=100
        Number of points for a column of numbers; a column with fewer values gets one point for each.
    percentiles : pair, default=(0.05, 0.95)
        The range of the points of a column of numbers.
    custom_values : dict from name or index to values, optional
        Points of your own; None or NaN among them stand for a missing value.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows in the mean.
    n_jobs : int, optional
        Threads; None: all cores. The result does not depend on it.

    Returns
    -------
    Bunch
        ``grid_values``, one array per column; ``average``, (outputs, points of the first column, …), the
        outputs of several targets one after another;
        ``individual``, (outputs, rows, points of the first column, …). The format is that of
        scikit-learn's function.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(20, random_state=0).fit(X, y == 2)
    >>> found = partial_dependence(forest, X, "petal width (cm)", grid_resolution=5)
    >>> found.average.shape, bool(found.average[0, 0] < found.average[0, -1])
    ((1, 5), True)
    """
    from sklearn.utils import Bunch

    if kind not in ("average", "individual", "both"):
        raise ParameterError(f"kind must be 'average', 'individual' or 'both', got {kind!r}")
    if response not in ("auto", "raw"):
        raise ParameterError(f"response must be 'auto' or 'raw', got {response!r}")
    columns = anatomy_of(model, "partial_dependence").columns
    matrix = columns.numbers(X)
    grid = grid_of(
        columns.schema, matrix, features, grid_resolution, percentiles, custom_values or {}
    )
    w = weights(sample_weight, matrix.n_rows)
    average, individual = curves(
        model, matrix, grid, response=response, weight=w, each=kind != "average", n_jobs=n_jobs
    )
    shape = tuple(len(axis) for axis in grid.axes)
    found = Bunch(grid_values=grid.values)
    if kind != "individual":
        found["average"] = average.reshape(-1, *shape)
    if individual is not None:
        found["individual"] = individual.reshape(len(individual), matrix.n_rows, *shape)
    return found


# ---------------------------------------------------------------------- the grid
def grid_of(
    schema: Schema,
    matrix: Matrix,
    features: Any,
    resolution: int = 100,
    percentiles: tuple[float, float] = (0.05, 0.95),
    custom: dict[Any, Any] | None = None,
) -> Grid:
    """Return the points of the grid."""
    if not isinstance(resolution, int | np.integer) or resolution < 2:
        raise ParameterError(f"grid_resolution must be an int of at least 2, got {resolution!r}")
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ParameterError(
            f"percentiles must be two increasing numbers between 0 and 1, got {percentiles!r}"
        )
    several = isinstance(features, list | tuple | np.ndarray)
    wanted = [place_of(schema, one) for one in (features if several else [features])]
    if not wanted or len(set(wanted)) < len(wanted):
        raise ParameterError(f"features must be one or several different columns, got {features!r}")
    own = {place_of(schema, name): values for name, values in (custom or {}).items()}
    axes, values = [], []
    for f in wanted:
        column = schema.columns[f]
        axis = (
            _coded(column, own[f])
            if f in own
            else _axis(matrix.column(f), column, resolution, low, high)
        )
        axes.append(axis)
        values.append(_words(column, axis))
    mesh = np.meshgrid(*axes, indexing="ij")
    return Grid(wanted, axes, values, np.array([one.ravel() for one in mesh]))


def place_of(schema: Schema, name: Any) -> int:
    """Return the number of a column, given its number or name."""
    if isinstance(name, int | np.integer) and not isinstance(name, bool):
        if not 0 <= name < schema.n_features:
            raise ParameterError(f"there is no column {name}: the model has {schema.n_features}")
        return int(name)
    if name not in schema.names:
        hint = did_you_mean(str(name), schema.names)
        raise ParameterError(f"the model has no column {name!r}{hint}")
    return schema.names.index(name)


def _axis(x: np.ndarray, column: Any, resolution: int, low: float, high: float) -> np.ndarray:
    from scipy.stats.mstats import mquantiles

    present = x[~np.isnan(x)]
    if not len(present):
        raise DataError(f"column {column.name!r} has no value in X to make a grid of")
    unique = np.unique(present)
    if column.categories is not None or len(unique) < resolution:
        return unique
    ends = np.asarray(mquantiles(present, prob=(low, high)), np.float64)
    if np.allclose(ends[0], ends[1]):  # most rows have the same value: use the whole range
        ends = unique[[0, -1]]
    return np.linspace(ends[0], ends[1], resolution)


def _coded(column: Any, values: Any) -> np.ndarray:
    """Return the user's own points, encoded as in the model."""
    if column.categories is None:
        return np.array(
            [np.nan if v is None else v for v in np.asarray(values, object)], np.float64
        )
    known = {word: code for code, word in enumerate(column.categories)}
    missing = [v for v in values if v is not None and v == v and v not in known]
    if missing:
        hint = did_you_mean(str(missing[0]), [str(word) for word in known])
        raise ParameterError(f"column {column.name!r} has no category {missing[0]!r}{hint}")
    return np.array([known.get(v, np.nan) for v in values], np.float64)


def _words(column: Any, axis: np.ndarray) -> np.ndarray:
    if column.categories is None:
        return axis
    words = np.empty(len(axis), object)
    words[:] = [None if code != code else column.categories[int(code)] for code in axis]
    return words


# ---------------------------------------------------------------------- the curves
def curves(
    model: Any,
    matrix: Matrix,
    grid: Grid,
    *,
    response: str = "auto",
    weight: np.ndarray | None = None,
    each: bool = False,
    n_jobs: int | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the average, (outputs, points), and with ``each`` every row's curve, (outputs, rows, points)."""
    w = np.ones(matrix.n_rows) if weight is None else weight
    anatomy = anatomy_of(model, "partial_dependence")
    whole = as_sum(anatomy)
    if whole is None:
        if response == "raw":
            raise ParameterError(
                f"this {type(model).__name__} is not a sum of trees, so it has no raw response: "
                "leave response='auto'"
            )
        return _brute(model, matrix, grid, w, each)
    meaning, linear = _meaning(anatomy, whole[0], response)
    work = _OpenForm(whole[1], grid, meaning, linear, each)
    threads = parallel.effective_jobs(n_jobs)
    total, individual = work.run(matrix, grid.points, w, each, threads)
    return total / w.sum(), individual


def as_sum(anatomy: Anatomy) -> tuple[Ensemble, AdditiveForm] | None:
    """Return the trees of a model and its additive form; None if it is not a plain sum of plain trees."""
    ensemble = anatomy.used
    if not anatomy.is_sum or ensemble is None:
        return None
    try:
        form = ensemble.additive()
    except NoAdditiveForm:
        return None
    if not form.terms.trees or join_trees(form.terms.trees) is None:
        return None
    return ensemble, form


def _meaning(anatomy: Anatomy, ensemble: Ensemble, response: str) -> tuple[Any, bool]:
    """Return a function from sums, (n, outputs), to predictions, and True if it is linear."""
    if response == "raw":
        return (lambda sums: sums), True
    classes, boosted = anatomy.classes, anatomy.leaves != "answers"
    method = "predict" if classes is None else "predict_proba"
    turn, shape = anatomy.answers[method], ensemble.base.shape
    if boosted and ensemble.link.name == "logit" and classes is not None and len(classes[0]) == 2:
        sigma = float(ensemble.link.sigma)

        def share(sums: np.ndarray) -> np.ndarray:
            """Return the probability of the second class, in the array of the sums."""
            from arboretum.engine.predict.open_walk import turn_to_shares

            turn_to_shares(sums.reshape(-1), sigma)
            return sums

        return share, False
    plain = ensemble.link.name == "identity" and (classes is None or ensemble.rule == "mean")

    def meaning(sums: np.ndarray) -> np.ndarray:
        answers = turn(sums.reshape(len(sums), *shape))
        if classes is None:
            return np.asarray(answers).reshape(len(sums), -1)
        each = answers if isinstance(answers, list) else [np.asarray(answers)]  # by target
        pairs = zip(each, classes, strict=True)
        return np.hstack([_second_or_all(shares, len(labels)) for shares, labels in pairs])

    return meaning, plain


def _second_or_all(shares: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the probabilities of one target: the second class's if there are two, else all."""
    return shares[:, 1:2] if n_classes == 2 else shares[:, :n_classes]


class _OpenForm:
    """A sum of trees with some columns left open; trees that do not use these are computed once per row."""

    def __init__(
        self, form: AdditiveForm, grid: Grid, meaning: Any, linear: bool, each: bool
    ) -> None:
        self.form, self.meaning, self.linear = form, meaning, linear
        self.place = np.full(form.terms.trees[0].n_features, -1, np.int64)
        self.place[grid.features] = np.arange(len(grid.features))
        uses_open = [
            bool(np.any(self.place[tree.feature[~tree.is_leaf]] >= 0)) for tree in form.terms.trees
        ]
        self.closed = replace(form, terms=_some(form.terms, [not a for a in uses_open]))
        terms = _some(form.terms, uses_open)
        self.nodes: JoinedTrees | None = join_trees(terms.trees) if terms.trees else None
        if self.nodes is not None:
            self.value = np.concatenate(terms.values)
            self.columns = terms.columns
            self.height = max(map(len, terms.trees)) + 1
        self.states = None
        if self.nodes is not None and (each or not linear):
            self.states = open_states(terms.trees, terms.values, self.place, grid.points)
        if self.nodes is not None and self.states is not None:
            self.coding = OpenCoding(self.nodes, self.place)
            if self.coding.most >= _MOST_CODES:
                self.states = None

    def run(
        self, matrix: Matrix, points: np.ndarray, w: np.ndarray, each: bool, n_jobs: int
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """Return sums over the rows, (outputs, points), and with ``each`` single curves."""
        from arboretum.engine.compiler.decorators import writable

        base = self.closed.sums(matrix, n_jobs)
        outputs, n_points = self.form.n_outputs, points.shape[1]
        short = self.linear and not each
        cells = _CELLS if self.states is None else _LOOKED_UP_CELLS
        step = _MOST_ROWS if short else min(_MOST_ROWS, max(16, cells // (n_points * outputs)))
        blocks = list(_blocks(matrix.n_rows, step))
        parts: list[Any] = [None] * len(blocks)
        grid = writable(points)

        def work(number: int) -> None:
            lo, hi = blocks[number]
            block = matrix.rows(lo, hi)
            take = self._sums if short else self._each
            parts[number] = take(block, base[lo:hi], w[lo:hi], grid, each)

        parallel.run(work, range(len(blocks)), n_jobs if len(blocks) > 1 else 1)
        total = parts[0][0]
        for part in parts[1:]:  # in order, so that the sum does not depend on the number of threads
            total = total + part[0]
        if not each:
            return total, None
        return total, np.concatenate([part[1] for part in parts], axis=1)

    def _sums(
        self, block: np.ndarray, base: np.ndarray, w: np.ndarray, grid: np.ndarray, each: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        from arboretum.engine.predict.open_walk import add_open_sums

        total = np.repeat((w @ base)[:, None], grid.shape[1], axis=1)
        if self.nodes is not None:
            add_open_sums(self._walk(block, grid), np.ascontiguousarray(w), total)
        return (self.meaning(total.T).T if self.linear else total), None

    def _each(
        self, block: np.ndarray, base: np.ndarray, w: np.ndarray, grid: np.ndarray, each: bool
    ) -> tuple[np.ndarray, np.ndarray | None]:
        from arboretum.engine.predict.open_walk import sum_steps

        rows, points, outputs = len(block), grid.shape[1], self.form.n_outputs
        steps = np.zeros((outputs, points, rows))
        steps[:, 0] = base.T
        self._add_steps(block, grid, steps)
        sum_steps(steps)
        flat = steps.reshape(outputs, points * rows).T  # one row for every pair of row and point
        predicted = self.meaning(flat).reshape(points, rows, -1)
        summed = np.array([predicted[:, :, k] @ w for k in range(predicted.shape[2])])
        return summed, np.ascontiguousarray(predicted.transpose(2, 1, 0)) if each else None

    def _add_steps(self, block: np.ndarray, grid: np.ndarray, steps: np.ndarray) -> None:
        """Add the jumps of every row's curve, (outputs, points, rows)."""
        from arboretum.engine.compiler.decorators import writable

        if self.nodes is None:
            return
        if self.states is None:
            from arboretum.engine.predict.open_walk import add_open

            add_open(self._walk(block, grid), steps)
        else:
            from arboretum.engine.predict.open_codes import ROWS, add_states

            coding = self.coding
            add_states(
                self.nodes, self.states, coding.questions(), coding.coder(), self.columns,
                writable(block), self.place, np.empty((self.height, ROWS), np.uint16), steps,
            )  # fmt: skip

    def _walk(self, block: np.ndarray, grid: np.ndarray) -> OpenWalk:
        """Return the arguments of the kernel for a block of rows, with scratch."""
        from arboretum.engine.compiler.decorators import writable
        from arboretum.engine.predict.open_walk import OpenWalk

        assert self.nodes is not None
        return OpenWalk(
            self.nodes, self.value, self.columns, writable(block.T), grid, self.place,
            np.arange(len(block)), np.arange(grid.shape[1]), np.empty((self.height, 5), np.int64),
        )  # fmt: skip


def _some(terms: Terms, kept: Sequence[bool]) -> Terms:
    chosen = np.flatnonzero(kept)
    return Terms(
        [terms.trees[t] for t in chosen], [terms.values[t] for t in chosen], terms.columns[chosen]
    )


def _blocks(n: int, step: int) -> Iterator[tuple[int, int]]:
    return ((lo, min(lo + step, n)) for lo in range(0, n, step))


def _brute(
    model: Any, matrix: Matrix, grid: Grid, w: np.ndarray, each: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Predict the whole table at every point."""
    function = ModelFunction(model, "partial_dependence")
    rows = np.array(matrix.rows(0, matrix.n_rows))
    second = function.n_outputs == 2 and function.labels is not None
    average, lines = [], []
    for point in grid.points.T:
        rows[:, grid.features] = point
        predicted = function(rows)
        predicted = predicted[:, 1:] if second else predicted
        average.append(w @ predicted / w.sum())
        if each:
            lines.append(predicted)
    found = np.ascontiguousarray(np.array(lines).transpose(2, 1, 0)) if each else None
    return np.array(average).T, found
