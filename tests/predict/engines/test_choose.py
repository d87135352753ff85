"""The engine of least cost answers, and a new one is a class and a line in the list of engines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from arboretum import CARTClassifier, LGBMRegressor, RandomForestRegressor
from arboretum.predict.engines import choose
from arboretum.predict.engines.bitmask import MaskEngine
from arboretum.predict.engines.packed import PackedEngine
from arboretum.predict.engines.tournament import TournamentEngine
from arboretum.predict.engines.walk import WalkEngine
from arboretum.structure.tree import THRESHOLD


def table(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, X[:, 0] * (X[:, 1] > 0) + np.sin(3 * X[:, 2])


@pytest.fixture(scope="module")
def boosted() -> LGBMRegressor:
    return LGBMRegressor(n_estimators=40).fit(*table(2_000))


@pytest.fixture(scope="module")
def forest() -> RandomForestRegressor:
    return RandomForestRegressor(10, random_state=0).fit(*table(2_000))


@pytest.mark.parametrize(
    ("n_rows", "engine"),
    [
        (1, PackedEngine),
        (24, PackedEngine),
        (300, TournamentEngine),
        (100_000, TournamentEngine),
    ],
)
def test_small_trees(boosted, n_rows, engine):
    assert isinstance(choose.choose(boosted.ensemble_.terms, n_rows), engine)


@pytest.mark.parametrize(
    ("n_rows", "engine"), [(1, PackedEngine), (24, PackedEngine), (1_000, WalkEngine)]
)
def test_large_trees(forest, n_rows, engine):
    assert isinstance(choose.choose(forest.ensemble_.terms, n_rows), engine)


def test_trees_with_surrogates_are_walked():
    X, y = table(200)
    terms = CARTClassifier(surrogates=1, max_depth=3).fit(X, y > 0).ensemble_.terms
    assert isinstance(choose.choose(terms, 1), WalkEngine)


def test_an_engine_is_laid_out_once(boosted):
    terms = boosted.ensemble_.terms
    assert choose.choose(terms, 300) is choose.choose(terms, 400)
    assert MaskEngine.lay_out(terms) is None


class Symmetric:
    """A toy engine: trees that ask one question per level, as tables indexed by the bits of the answers.

    bit d of a row's number says whether it goes right on level d; a table of 2^depth numbers has the leaves.
    """

    def __init__(self, questions: list[tuple[np.ndarray, np.ndarray]], tables: list[np.ndarray]):
        self.questions, self.tables = questions, tables

    @staticmethod
    def cost(trees, n_rows: int) -> float:
        """Less than any other; trees of one output only."""
        return math.inf if trees.values[0].shape[1] > 1 else 1e-3 * n_rows

    @classmethod
    def lay_out(cls, trees):
        """Return None unless all trees are symmetric: their levels ask one question each."""
        questions, tables = [], []
        for tree, value in zip(trees.trees, trees.values, strict=True):
            level, asked = np.zeros(1, np.int64), []
            while np.all(tree.kind[level] == THRESHOLD):
                one = np.unique([tree.feature[level], tree.threshold[level]], axis=1)
                if one.shape[1] > 1:
                    return None
                asked.append(one[:, 0])
                level = (tree.first_child[level][:, None] + [0, 1]).ravel()
            if not np.all(tree.is_leaf[level]):
                return None
            features, cuts = np.array(asked).reshape(-1, 2).T
            questions.append((features.astype(int), cuts))
            tables.append(value[level, 0])
        return cls(questions, tables)

    def add(self, X: np.ndarray, total: np.ndarray) -> None:
        """Look every tree up in its table."""
        for (features, cuts), leaves in zip(self.questions, self.tables, strict=True):
            place = np.zeros(len(X), np.int64)
            for feature, cut in zip(features, cuts, strict=True):
                place = 2 * place + (X[:, feature] > cut)
            total[:, 0] += leaves[place]


def test_a_new_engine_is_one_class_and_one_line(boosted, monkeypatch):
    X, y = table(500)
    stumps = LGBMRegressor(n_estimators=20, max_depth=1).fit(X, y)
    expected, large = stumps.predict(X), boosted.predict(X)
    stumps.ensemble_.terms.__dict__.pop("_last_engine")
    monkeypatch.setattr(choose, "ENGINES", [*choose.ENGINES, Symmetric])
    assert isinstance(choose.choose(stumps.ensemble_.terms, 1_000), Symmetric)
    assert np.array_equal(stumps.predict(X), expected)
    assert isinstance(stumps.predictor()._of_many, Symmetric)
    assert np.array_equal(stumps.predictor()(X), expected)
    assert not isinstance(choose.choose(boosted.ensemble_.terms, 1_000), Symmetric)
    assert np.array_equal(boosted.predict(X), large)
