"""Forests against scikit-learn's, against YDF's, and imputation by proximity against other ways.

    fits            random forest and ExtraTrees, from iris to 1,000,000 rows, defaults of both sides
    ydf             the same forest by YDF, where it is installed
    out-of-bag      a fit with `oob_score=True`; the score is the out-of-bag one
    predict         predict_proba
    isolation       fit and scores of an isolation forest; the score: how well they order planted anomalies
    proximity       the 50 nearest rows of every row; the peer: leaves as a sparse matrix × itself
    impute-…        values knocked out at random and guessed; the score is an error: lower is better

Both sides get the same number of threads. Beside the leaves of all trees, the results tell the size of
the pickled model. The forests of `predict` and `proximity` are grown beforehand.
"""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks import data
from benchmarks.harness import Case, CaseResult, Job, Make, Measurement, Options, Say

__all__ = ["Imputation", "experiments"]

OURS, PEER, PEER_ALONE, YDF = "arboretum", "scikit-learn", "scikit-learn, 1 thread", "YDF"
OURS_UNLABELLED, MEDIAN, KNN = "arboretum, without y", "median", "KNNImputer, scaled"
ITERATIVE, MISS_FOREST = "IterativeImputer", "IterativeImputer, ExtraTrees"

_NEAREST = 50  # rows kept by the proximity case
_BLOCK = 500  # rows the peer compares at once
_SHARES = (0.05, 0.10, 0.20, 0.30)  # of the values, knocked out


@dataclass(frozen=True)
class _Fit:
    """A case of fitting: the same parameters for both sides."""

    name: str
    title: str
    model: str = "RandomForestClassifier"
    rows: int = 100_000
    quick_rows: int = 3_000
    columns: int = 28
    parameters: Mapping[str, Any] = field(default_factory=dict)
    goal: float | None = None


_FITS = (
    _Fit("random-forest", "fit, 28 columns, 100 trees", goal=5.0),
    _Fit("extra-trees", "fit, 28 columns, 100 trees", "ExtraTreesClassifier", goal=4.0),
    _Fit(
        "random-forest-1m",
        "fit, 28 columns, 20 trees",
        rows=1_000_000,
        quick_rows=10_000,
        parameters={"n_estimators": 20},
    ),
    _Fit("wide", "fit, 500 columns, 100 trees", rows=20_000, quick_rows=500, columns=500),
    _Fit("small", "fit, 20 columns, 100 trees", rows=5_000, quick_rows=1_000, columns=20),
    _Fit(
        "regression",
        "fit, 28 columns, 100 trees",
        "RandomForestRegressor",
        rows=20_000,
        quick_rows=1_000,
    ),
)


# ---------------------------------------------------------------------- contenders
def _ours(model: str, jobs: int, **parameters: Any) -> Make:
    def make() -> Any:
        import arboretum

        return getattr(arboretum, model)(random_state=0, n_jobs=jobs, **parameters)

    return make


def _peer(model: str, jobs: int, **parameters: Any) -> Make:
    def make() -> Any:
        from sklearn import ensemble

        return getattr(ensemble, model)(random_state=0, n_jobs=jobs, **parameters)

    return make


def _both(model: str, jobs: int, **parameters: Any) -> dict[str, Make]:
    return {OURS: _ours(model, jobs, **parameters), PEER: _peer(model, jobs, **parameters)}


class YDFForest:
    """YDF's random forest for two classes, grown like ours: as deep as it goes, nothing besides."""

    def __init__(self, jobs: int, n_estimators: int = 100) -> None:
        self.jobs = jobs
        self.n_estimators = n_estimators

    @staticmethod
    def _columns(X: np.ndarray) -> dict[str, np.ndarray]:
        return {f"x{k}": column for k, column in enumerate(X.T)}

    def fit(self, X: np.ndarray, y: np.ndarray) -> YDFForest:
        import ydf

        ydf.verbose(0)
        learner = ydf.RandomForestLearner(
            label="y",
            num_trees=self.n_estimators,
            max_depth=-1,
            min_examples=1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=self.jobs,
            random_seed=0,
        )
        self.model_ = learner.train({**self._columns(X), "y": y})
        return self

    def score(self, X: np.ndarray, y: np.ndarray) -> float:
        """Return the accuracy; the model tells the probability of the second class."""
        first, second = self.model_.label_classes()
        likely = self.model_.predict(self._columns(X)) > 0.5
        return float((np.where(likely, second, first) == y.astype(str)).mean())


# ---------------------------------------------------------------------- work
class _Scale:
    """A file that keeps nothing but the number of bytes written."""

    def __init__(self) -> None:
        self.n_bytes = 0

    def write(self, block: Any) -> int:
        n = memoryview(block).nbytes
        self.n_bytes += n
        return n


def _trees(model: Any) -> list[Any]:
    """Return the trees of either side's forest; both know their leaves and depth."""
    return getattr(model, "trees_", None) or [member.tree_ for member in model.estimators_]


def _size(model: Any) -> dict[str, int]:
    """Return what can be told about a grown forest; leaves are those of all trees."""
    if isinstance(model, YDFForest):
        return {}
    scale, trees = _Scale(), _trees(model)
    pickle.Pickler(scale, protocol=5).dump(model)
    return {
        "leaves": sum(int(tree.n_leaves) for tree in trees),
        "depth": max(int(tree.max_depth) for tree in trees),
        "model kB": round(scale.n_bytes / 1e3),
    }


def growing(make: Make, split: data.Split) -> Job:
    """Return the job of growing a forest; its score is accuracy or R² on held-out rows."""
    return Job(
        run=lambda: make().fit(split.X, split.y),
        score=lambda model: float(model.score(split.X_test, split.y_test)),
        facts=_size,
    )


def judging_itself(make: Make, split: data.Split) -> Job:
    """Return the job of growing a forest with its out-of-bag score."""
    return Job(
        run=lambda: make().fit(split.X, split.y),
        score=lambda model: float(model.oob_score_),
        facts=_size,
    )


def giving_shares(make: Make, split: data.Split) -> Job:
    """Return the job of predicting the classes' shares of the held-out rows."""
    model = make().fit(split.X, split.y)
    return Job(
        run=lambda: model.predict_proba(split.X_test),
        score=lambda shares: float((model.classes_[shares.argmax(1)] == split.y_test).mean()),
    )


def finding_neighbours(make: Make, split: data.Split) -> Job:
    """Return the job of finding each row's nearest; its score: how many share the row's class."""
    model = make().fit(split.X, split.y)

    def nearest() -> csr_matrix:
        if hasattr(model, "proximity"):
            return model.proximity(split.X, top_k=_NEAREST)
        return _nearest_by_product(model.apply(split.X), _NEAREST)

    def same_class(found: csr_matrix) -> float:
        pairs = found.tocoo()
        others = pairs.row != pairs.col
        return float((split.y[pairs.row[others]] == split.y[pairs.col[others]]).mean())

    return Job(run=nearest, score=same_class, facts=lambda found: {"entries": int(found.nnz)})


def finding_anomalies(make: Make, split: data.Split) -> Job:
    """Return the job of growing an isolation forest and scoring the rows; its score is the AUC."""
    from sklearn.metrics import roc_auc_score

    return Job(
        run=lambda: make().fit(split.X).score_samples(split.X),
        score=lambda scores: float(roc_auc_score(split.y, -scores)),
    )


def _nearest_by_product(leaves: np.ndarray, top_k: int) -> csr_matrix:
    """Return the proximities of each row's nearest others, block by block, by SciPy alone.

    A row is a sparse vector with a one for each leaf it reached; products count common leaves.
    """
    n, n_trees = leaves.shape
    starts = np.concatenate([[0], np.cumsum(leaves.max(axis=0) + 1)])
    reached = (leaves + starts[:-1]).ravel()
    rows = np.arange(n + 1) * n_trees
    marks = csr_matrix((np.ones(len(reached), np.float32), reached, rows), (n, int(starts[-1])))
    turned = marks.T.tocsr()
    columns, values, ends = [], [], [0]
    for start in range(0, n, _BLOCK):
        block = (marks[start : start + _BLOCK] @ turned).tocsr()
        for k, (low, high) in enumerate(zip(block.indptr[:-1], block.indptr[1:])):
            others, common = block.indices[low:high], block.data[low:high]
            common = np.where(others == start + k, np.inf, common)  # itself is always kept
            if len(others) > top_k + 1:
                best = np.argpartition(-common, top_k)[: top_k + 1]
                others, common = others[best], common[best]
            columns.append(others)
            values.append(np.minimum(common, n_trees) / n_trees)
            ends.append(ends[-1] + len(others))
    return csr_matrix((np.concatenate(values), np.concatenate(columns), ends), (n, n))


# ---------------------------------------------------------------------- imputation
@dataclass(frozen=True)
class Imputation:
    """Values of a table of scikit-learn's knocked out at random, and guessed in several ways.

    Columns are standardised beforehand, so errors are in standard deviations and distances between
    rows mean something. Every round knocks out other values; the score is the root of the mean
    squared error over these, averaged over the rounds. Proximity learns from the target too, as it is
    meant to; the line without it shows what that is worth.
    """

    name: str
    table: str  # what follows `load_` in sklearn.datasets
    task: str
    share: float
    quick_rows: int = 100

    def measure(self, options: Options, say: Say) -> CaseResult:
        """Fill the table in all ways, once per round."""
        X, y = self._load(self.quick_rows if options.quick else None)
        fillers = _fillers(self.task, options)
        seconds: dict[str, list[float]] = {name: [] for name in fillers}
        errors: dict[str, list[float]] = {name: [] for name in fillers}
        say("warming up")
        for fill in fillers.values():  # loads libraries and compiled code
            fill(knocked_out(X[:50, :3], 0.1, seed=0), y[:50])
        for number in range(1 if options.quick else options.repeat):
            holes = knocked_out(X, self.share, seed=number)
            lost = np.isnan(holes)
            for name, fill in fillers.items():
                say(f"round {number + 1}, {name}")
                start = time.perf_counter()
                filled = fill(holes, y)
                seconds[name].append(time.perf_counter() - start)
                errors[name].append(float(np.sqrt(np.mean((filled - X)[lost] ** 2))))
        error = {name: float(np.mean(found)) for name, found in errors.items()}
        against = f"{error[OURS] / error[MEDIAN]:.0%} of the median's"
        return CaseResult(
            name=self.name,
            title=f"{self.table}, {self.share:.0%} missing; score: RMSE in sd, ours {against}",
            rows=len(X),
            score_name="RMSE in standard deviations",
            baseline=MISS_FOREST,
            goal=None,
            measurements=tuple(
                Measurement(name, tuple(seconds[name]), error[name], {}) for name in fillers
            ),
        )

    def _load(self, n: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the standardised table and its target; ``n`` rows of it, well mixed."""
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{self.table}")(return_X_y=True)
        order = np.random.default_rng(0).permutation(len(X))[:n]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        return X[order], y[order]


Experiment = Case | Imputation
Fill = Callable[[np.ndarray, np.ndarray], np.ndarray]  # table with holes, target → table


def knocked_out(X: np.ndarray, share: float, seed: int) -> np.ndarray:
    """Return a copy in which this share of every column's values is missing, at random.

    Examples
    --------
    >>> np.isnan(knocked_out(np.ones((40, 3)), 0.1, seed=0)).sum(axis=0)
    array([4, 4, 4])
    """
    rank = np.random.default_rng(seed).random(X.shape).argsort(axis=0)
    return np.where(rank < max(1, round(share * len(X))), np.nan, X)


def _fillers(task: str, options: Options) -> dict[str, Fill]:
    """Return every way to fill a table; quick runs grow fewer trees and go fewer rounds."""
    n_trees, n_rounds = (10, 1) if options.quick else (100, 3)

    def ours(labelled: bool, holes: np.ndarray, y: np.ndarray) -> np.ndarray:
        from arboretum.forest.imputer import ProximityImputer

        imputer = ProximityImputer(n_trees, task=task, random_state=0, n_jobs=options.jobs)
        return imputer.fit_transform(holes, y if labelled else None)

    def simple(imputer: str, parameters: dict, holes: np.ndarray, y: np.ndarray) -> np.ndarray:
        from sklearn import impute

        return getattr(impute, imputer)(**parameters).fit_transform(holes)

    def iterative(trees: bool, holes: np.ndarray, y: np.ndarray) -> np.ndarray:
        from sklearn.ensemble import ExtraTreesRegressor
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        forest = ExtraTreesRegressor(
            n_trees // 2, max_features="sqrt", n_jobs=options.jobs, random_state=0
        )
        parameters = {"estimator": forest, "max_iter": n_rounds} if trees else {"max_iter": 10}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few rounds are meant
            return IterativeImputer(random_state=0, **parameters).fit_transform(holes)

    return {
        OURS: partial(ours, True),
        OURS_UNLABELLED: partial(ours, False),
        MEDIAN: partial(simple, "SimpleImputer", {"strategy": "median"}),
        KNN: partial(simple, "KNNImputer", {}),
        ITERATIVE: partial(iterative, False),
        MISS_FOREST: partial(iterative, True),
    }


# ---------------------------------------------------------------------- experiments
def _fit_cases(jobs: int) -> Iterator[Case]:
    for fit in _FITS:
        regression = fit.model.endswith("Regressor")
        make_data = data.regression if regression else data.classification
        yield Case(
            benchmark="forest",
            name=fit.name,
            title=fit.title,
            data=partial(make_data, n_columns=fit.columns),
            rows=fit.rows,
            quick_rows=fit.quick_rows,
            work=growing,
            contenders=_both(fit.model, jobs, **fit.parameters),
            baseline=PEER,
            score_name="R²" if regression else "accuracy",
            goal=fit.goal,
        )
    alone = {PEER_ALONE: _peer("RandomForestClassifier", 1)} if jobs != 1 else {}
    yield Case(
        benchmark="forest",
        name="iris",
        title="fit, iris, 100 trees",
        data=data.iris,
        rows=120,
        quick_rows=120,
        work=growing,
        contenders={**_both("RandomForestClassifier", jobs), **alone},
        baseline=PEER,
        calls=5,
        goal=1.0,
    )
    yield Case(
        benchmark="forest",
        name="ydf",
        title="fit, 28 columns, 100 trees of unlimited depth",
        data=data.classification,
        rows=100_000,
        quick_rows=3_000,
        work=growing,
        contenders={
            OURS: _ours("RandomForestClassifier", jobs),
            YDF: partial(YDFForest, jobs),
        },
        baseline=YDF,
        goal=5.0,
        needs=("ydf",),
    )


def _predict_data(rows: int) -> data.Split:
    """A fifth of the rows to grow on, all of them to predict."""
    return data.classification(rows // 5, n_test=rows)


def _anomalies(rows: int) -> data.Split:
    """Normal numbers, of which one row in a hundred is twice as far out; y marks those."""
    rng = np.random.default_rng(0)
    y = np.arange(rows) % 100 == 0
    X = rng.normal(size=(rows, 20)) * (1 + y)[:, None]
    return data.Split(X, y, X[:200], y[:200])


def _other_cases(jobs: int) -> Iterator[Case]:
    yield Case(
        benchmark="forest",
        name="out-of-bag",
        title="fit with oob_score=True, 100 trees; score: out of bag",
        data=data.classification,
        rows=20_000,
        quick_rows=1_000,
        work=judging_itself,
        contenders=_both("RandomForestClassifier", jobs, oob_score=True),
        baseline=PEER,
        score_name="out-of-bag accuracy",
    )
    yield Case(
        benchmark="forest",
        name="predict",
        title="predict_proba, 100 trees grown on a fifth as many rows",
        data=_predict_data,
        rows=100_000,
        quick_rows=5_000,
        work=giving_shares,
        contenders=_both("RandomForestClassifier", jobs),
        baseline=PEER,
        goal=3.0,
    )
    yield Case(
        benchmark="forest",
        name="isolation",
        title="fit and scores, 20 columns, 100 trees",
        data=_anomalies,
        rows=100_000,
        quick_rows=2_000,
        work=finding_anomalies,
        contenders=_both("IsolationForest", jobs),
        baseline=PEER,
        score_name="AUC",
        goal=1.0,
    )
    yield Case(
        benchmark="forest",
        name="proximity",
        title=f"the {_NEAREST} nearest of every row, 100 trees; to stay under 60 s and 2 GB",
        data=data.classification,
        rows=50_000,
        quick_rows=1_000,
        work=finding_neighbours,
        contenders=_both("RandomForestClassifier", jobs),
        baseline=PEER,
        score_name="share of neighbours of the same class",
    )


def _imputations() -> Iterator[Imputation]:
    tables = {
        "breast_cancer": "classification",
        "diabetes": "regression",
        "wine": "classification",
    }
    for table, task in tables.items():
        for share in _SHARES:
            yield Imputation(f"impute-{table}-{100 * share:.0f}", table, task, share)


def experiments(jobs: int) -> dict[str, Experiment]:
    """Return every experiment by name, in the order in which they run."""
    every: list[Experiment] = [*_fit_cases(jobs), *_other_cases(jobs), *_imputations()]
    return {experiment.name: experiment for experiment in every}
