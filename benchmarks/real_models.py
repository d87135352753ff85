"""The models that meet on real tables: each of ours and the peer of its kind, at everybody's defaults.

Our side is given the frame as it is: numbers, words and gaps. A peer is given what it needs, and the time
that takes is kept apart from its fit:

    Codes          scikit-learn's trees and forests: words become ordinal codes, gaps stay
    FilledCodes    scikit-learn's boosting: besides, gaps of numbers become medians, gaps of words a code
    Categories     XGBoost, LightGBM: words become pandas categories, gaps stay
    YdfData        YDF: its own columns, which know words and gaps

A word that was not there in training becomes -1 (codes) or a gap (categories).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from benchmarks.real_tables import is_words

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MODELS", "Categories", "Codes", "FilledCodes", "Model", "available"]


class Preparation(Protocol):
    """What a peer needs before it can fit or answer."""

    def training(self, X: pd.DataFrame, y: pd.Series) -> Any:
        """Learn from the training rows, and return them as the peer takes them."""

    def rows(self, X: pd.DataFrame) -> Any:
        """Return other rows as the peer takes them."""


class Codes:
    """Ordinal codes for words; gaps stay gaps. The matrix is what scikit-learn's trees work on: float32."""

    gap: float = np.nan

    def training(self, X: pd.DataFrame, y: pd.Series) -> np.ndarray:
        self._learn(X)
        return self.rows(X)

    def rows(self, X: pd.DataFrame) -> np.ndarray:
        parts = [self._filled(X[self.numbers]).to_numpy(np.float32)]
        if self.words:
            parts.append(self.encoder.transform(X[self.words]).astype(np.float32))
        return np.hstack(parts)

    def _learn(self, X: pd.DataFrame) -> None:
        from sklearn.preprocessing import OrdinalEncoder

        self.words = [column for column in X if is_words(X[column])]
        self.numbers = [column for column in X if not is_words(X[column])]
        self.encoder = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=self.gap
        )
        if self.words:
            self.encoder.fit(X[self.words])

    def _filled(self, numbers: pd.DataFrame) -> pd.DataFrame:
        return numbers


class FilledCodes(Codes):
    """The same without gaps: medians for numbers, a code of their own for words."""

    gap = -2

    def _learn(self, X: pd.DataFrame) -> None:
        super()._learn(X)
        self.medians = X[self.numbers].median().fillna(0)

    def _filled(self, numbers: pd.DataFrame) -> pd.DataFrame:
        return numbers.fillna(self.medians)


class Categories:
    """pandas categories for words. Columns are renamed: XGBoost and LightGBM refuse some names."""

    def training(self, X: pd.DataFrame, y: pd.Series) -> pd.DataFrame:
        frame = self._named(X)
        self.kinds = {
            column: frame[column].astype("category").dtype
            for column in frame
            if is_words(frame[column])
        }
        return frame.astype(self.kinds)

    def rows(self, X: pd.DataFrame) -> pd.DataFrame:
        frame = self._named(X)
        known = {
            c: frame[c].where(frame[c].isin(kind.categories)) for c, kind in self.kinds.items()
        }
        return frame.assign(**known).astype(self.kinds)

    def _named(self, X: pd.DataFrame) -> pd.DataFrame:
        return X.set_axis([f"c{k}" for k in range(X.shape[1])], axis=1)


class YdfData:
    """YDF's data set; the label is one of its columns."""

    def training(self, X: pd.DataFrame, y: pd.Series) -> Any:
        import logging

        import ydf

        logging.getLogger("absl").setLevel(logging.ERROR)  # it wonders about words of digits
        frame = self._named(X).assign(label=y.to_numpy())
        label = ydf.Column("label", ydf.Semantic.CATEGORICAL if y.dtype.kind == "i" else None)
        data = ydf.create_vertical_dataset(frame, columns=[label], include_all_columns=True)
        self.spec = data.data_spec()
        return data

    def rows(self, X: pd.DataFrame) -> Any:
        import ydf

        return ydf.create_vertical_dataset(
            self._named(X),
            data_spec=self.spec,
            required_columns=[f"c{k}" for k in range(X.shape[1])],
        )

    def _named(self, X: pd.DataFrame) -> pd.DataFrame:
        frame = X.set_axis([f"c{k}" for k in range(X.shape[1])], axis=1)
        words = [column for column in frame if is_words(frame[column])]
        return frame.assign(
            **{c: frame[c].astype(object).where(frame[c].notna(), "") for c in words}
        )


class YdfForest:
    """YDF's random forest in scikit-learn's clothes; as many trees as ours, and no out-of-bag figures."""

    def __init__(self, regression: bool, seed: int) -> None:
        self.regression, self.seed = regression, seed

    def fit(self, data: Any, y: Any) -> YdfForest:
        import ydf

        task = ydf.Task.REGRESSION if self.regression else ydf.Task.CLASSIFICATION
        learner = ydf.RandomForestLearner(
            label="label", task=task, num_trees=100, compute_oob_performances=False,
            num_threads=1, random_seed=self.seed,
        )  # fmt: skip
        self.model = learner.train(data, verbose=0)
        return self

    def predict(self, data: Any) -> np.ndarray:
        return self.model.predict(data, num_threads=1)

    def predict_proba(self, data: Any) -> np.ndarray:
        answer = self.predict(data)
        if answer.ndim == 1:  # of two classes, the second one's probability
            answer = np.column_stack([1 - answer, answer])
        order = np.argsort([int(name) for name in self.model.label_classes()])  # it has its own
        return answer[:, order]


# ---------------------------------------------------------------------- who meets whom
@dataclass(frozen=True)
class Model:
    """One of our models and its peer."""

    name: str  # on the command line
    title: str
    peer: str
    needs: str  # the peer's package
    loss: str  # "log" or "brier": real_losses.py
    goals: tuple[float, float]  # how many times as fast to fit: geometric mean, and worst table
    preparation: Callable[[], Preparation]
    make_peer: Callable[[bool, int], Any]  # regression or not, seed
    again: bool = False  # the same model of ours has met another peer before

    def ours(self, regression: bool, seed: int, jobs: int = 1) -> Any:
        """Return a fresh model of ours."""
        import arboretum

        kind = "Regressor" if regression else "Classifier"
        return getattr(arboretum, f"{self.title}{kind}")(n_jobs=jobs, random_state=seed)


def _kind(regression: bool) -> str:
    return "Regressor" if regression else "Classifier"


def _sklearn(room: str, stem: str, **settings: Any) -> Callable[[bool, int], Any]:
    def make(regression: bool, seed: int) -> Any:
        import sklearn.ensemble
        import sklearn.tree

        made = getattr(getattr(sklearn, room), f"{stem}{_kind(regression)}")
        return made(random_state=seed, **settings)

    return make


def _xgboost(regression: bool, seed: int) -> Any:
    import xgboost

    made = getattr(xgboost, f"XGB{_kind(regression)}")
    return made(n_jobs=1, random_state=seed, enable_categorical=True, verbosity=0)


def _lightgbm(regression: bool, seed: int) -> Any:
    import lightgbm

    made = getattr(lightgbm, f"LGBM{_kind(regression)}")
    return made(n_jobs=1, random_state=seed, verbose=-1)


_SKLEARN = "scikit-learn"
_ALL = (
    Model("forest", "RandomForest", _SKLEARN, "sklearn", "brier", (4.0, 1.5), Codes,
          _sklearn("ensemble", "RandomForest", n_jobs=1)),
    Model("extra", "ExtraTrees", _SKLEARN, "sklearn", "brier", (3.0, 1.2), Codes,
          _sklearn("ensemble", "ExtraTrees", n_jobs=1)),
    Model("cart", "DecisionTree", _SKLEARN, "sklearn", "brier", (2.0, 1.0), Codes,
          _sklearn("tree", "DecisionTree")),
    Model("gbm", "GradientBoosting", _SKLEARN, "sklearn", "log", (4.0, 1.5), FilledCodes,
          _sklearn("ensemble", "GradientBoosting")),
    Model("adaboost", "AdaBoost", _SKLEARN, "sklearn", "brier", (4.0, 1.5), FilledCodes,
          _sklearn("ensemble", "AdaBoost")),
    Model("xgb", "XGB", "XGBoost", "xgboost", "log", (2.0, 1.0), Categories, _xgboost),
    Model("lgbm", "LGBM", "LightGBM", "lightgbm", "log", (1.5, 1.0), Categories, _lightgbm),
    Model("ydf", "RandomForest", "YDF", "ydf", "brier", (2.0, 0.0), YdfData, YdfForest,
          again=True),
)  # fmt: skip

MODELS: dict[str, Model] = {model.name: model for model in _ALL}


def available(model: Model) -> bool:
    """Return whether the peer's package is installed."""
    return find_spec(model.needs) is not None
