"""The boosters of other projects at their defaults, one thread: what a model without tuning is compared with.

A peer takes the rows in the form its own manual recommends, words included; that preparation is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.real_models import MODELS, Categories, YdfData, YdfForest
from benchmarks.real_tables import is_words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PEERS", "Contestant", "Frame"]

_MOST_LEVELS = 254  # of scikit-learn's categories


class Frame:
    """The frame as it is."""

    def training(self, X: pd.DataFrame, y: pd.Series) -> Any:
        return X

    def rows(self, X: pd.DataFrame) -> Any:
        return X


class Strings:
    """Words as strings, a gap as one of its own."""

    def training(self, X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
        self.words = [c for c in X if is_words(X[c])]
        return self.rows(X)

    def rows(self, X: pd.DataFrame) -> pd.DataFrame:
        filled = {c: X[c].astype(object).where(X[c].notna(), "(missing)") for c in self.words}
        return X.assign(**filled)


class FewCategories(Categories):
    """Categories; columns of more levels than scikit-learn takes become codes."""

    def rows(self, X: pd.DataFrame) -> pd.DataFrame:
        frame = super().rows(X)
        many = [c for c, kind in self.kinds.items() if len(kind.categories) > _MOST_LEVELS]
        codes = {c: frame[c].cat.codes.astype(float).replace(-1.0, np.nan) for c in many}
        return frame.assign(**codes)

    def training(self, X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
        super().training(X, y)
        return self.rows(X)


# ---------------------------------------------------------------------- models
class _WithWords:
    """A model whose fit takes the names of the columns of words."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: pd.DataFrame, y: Any) -> _WithWords:
        words = [c for c in X if is_words(X[c])]
        self.model.fit(X, y, cat_features=words or None)
        return self

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict(X), dtype=float)

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        return np.asarray(self.model.predict_proba(X), dtype=float)


class _YdfBoosting(YdfForest):
    """YDF's gradient boosting in scikit-learn's clothes."""

    def fit(self, data: Any, y: Any) -> _YdfBoosting:
        import ydf

        task = ydf.Task.REGRESSION if self.regression else ydf.Task.CLASSIFICATION
        learner = ydf.GradientBoostedTreesLearner(
            label="label", task=task, num_threads=1, random_seed=self.seed
        )
        self.model = learner.train(data, verbose=0)
        return self


def _catboost(regression: bool, seed: int) -> Any:
    import catboost

    kind = catboost.CatBoostRegressor if regression else catboost.CatBoostClassifier
    return _WithWords(
        kind(thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False)
    )


def _chimeraboost(regression: bool, seed: int) -> Any:
    import chimeraboost as library

    kind = library.ChimeraBoostRegressor if regression else library.ChimeraBoostClassifier
    return _WithWords(kind(random_state=seed, thread_count=1, ensemble_n_jobs=1))


def _perpetual(regression: bool, seed: int) -> Any:
    import perpetual

    kind = perpetual.PerpetualRegressor if regression else perpetual.PerpetualClassifier
    return kind(num_threads=1, seed=seed)


def _scikit_learn(regression: bool, seed: int) -> Any:
    from sklearn import ensemble

    kind = "Regressor" if regression else "Classifier"
    return getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=seed)


@dataclass(frozen=True)
class Contestant:
    """A model, and how it takes a table."""

    name: str
    package: str
    preparation: Callable[[], Any]
    make: Callable[[bool, int], Any]  # regression or not, seed

    @property
    def version(self) -> str:
        return version(self.package)


PEERS = {
    one.name: one
    for one in (
        Contestant("catboost", "catboost", Strings, _catboost),
        Contestant("lightgbm", "lightgbm", Categories, MODELS["lgbm"].make_peer),
        Contestant("xgboost", "xgboost", Categories, MODELS["xgb"].make_peer),
        Contestant("hgb", "scikit-learn", FewCategories, _scikit_learn),
        Contestant("chimeraboost", "chimeraboost", Strings, _chimeraboost),
        Contestant("ydf", "ydf", YdfData, _YdfBoosting),
        Contestant("perpetual", "perpetual", Categories, _perpetual),
    )
}
