"""Files that were written when every tree had a dictionary of its own still load, and answer as they did."""

from pathlib import Path

import numpy as np
import pytest

from arboretum import load
from arboretum.io.container import read
from tests.golden.fingerprint import of_answers, saved

FILES = sorted(Path(__file__).with_name("format_1").glob("*.arb"))


def table() -> np.ndarray:
    """The table that the models were fitted on: three columns of numbers with gaps, one of words."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return np.column_stack([X.astype(object), rng.choice(["red", "green", "blue"], 60)])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_old_file_loads_and_is_saved_in_the_new_format(path):
    assert read(path)["format"] == 1
    model = load(path)
    assert of_answers([model.predict(table())]) == model.notes_["answers"]
    again = load(saved(model))
    assert read(saved(model))["format"] == 2
    assert of_answers([again.predict(table())], exact=True) == of_answers(
        [model.predict(table())], exact=True
    )
    assert saved(again) == saved(model)


def test_there_are_old_files_of_all_kinds():
    assert {path.stem for path in FILES} >= {
        "cart",
        "c45",
        "forest",
        "gbm",
        "xgb",
        "lgbm",
        "bagging",
    }
