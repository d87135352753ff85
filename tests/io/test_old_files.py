"""Files that older versions wrote still load, and answer as they did.

``format_1`` has files from when every tree had a dictionary of its own. ``format_2`` has a file of every
estimator in ``model_cases``, written by commit 6e34be2, or by the commit that added the estimator. Each
keeps a fingerprint of its answers in its notes.
"""

from pathlib import Path

import numpy as np
import pytest

from arboretum import load
from arboretum.io.container import read
from tests.golden.case import usual_answers
from tests.golden.fingerprint import of_answers, saved
from tests.io import model_cases

OLD = sorted(Path(__file__).with_name("format_1").glob("*.arb"))
FILES = sorted(Path(__file__).with_name("format_2").glob("*.arb"))


def old_table() -> np.ndarray:
    """The table of the files of format 1: three columns of numbers with gaps, one of words."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    return np.column_stack([X.astype(object), rng.choice(["red", "green", "blue"], 60)])


@pytest.mark.parametrize("path", OLD, ids=lambda path: path.stem)
def test_a_file_of_format_1_loads_and_is_saved_in_format_2(path):
    assert read(path)["format"] == 1
    model = load(path)
    assert of_answers([model.predict(old_table())]) == model.notes_["answers"]
    again = load(saved(model))
    assert read(saved(model))["format"] == 2
    assert of_answers([again.predict(old_table())], exact=True) == of_answers(
        [model.predict(old_table())], exact=True
    )
    assert saved(again) == saved(model)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_of_format_2_loads_and_answers_alike(path):
    model = load(path)
    assert of_answers(usual_answers(model, model_cases.X)) == model.notes_["answers"]
    assert saved(load(saved(model))) == saved(model)


def test_there_are_old_files_of_all_kinds():
    names = {path.stem for path in OLD}
    assert names >= {"cart", "c45", "forest", "gbm", "xgb", "lgbm", "bagging"}
    assert {path.stem.split("_")[0] for path in FILES} == {
        name.split()[0] for name in model_cases.MAKERS
    }
