"""Saved and loaded, every estimator gives the same answers to the last bit, and the same file again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import arboretum as A
from tests.io.model_cases import MAKERS, answers, fitted, mixed_table, same_bits, saved

N = 40
RNG = np.random.default_rng(5)


def real(load):
    table = load(return_X_y=True, as_frame=True)[0]
    return table.sample(N, random_state=0).reset_index(drop=True)


def odd(values):
    table = RNG.normal(size=(N, 3))
    table[:, 0] = np.resize(values, N)
    return table


TABLES = {
    "iris": real(load_iris),
    "wine": real(load_wine),
    "breast cancer": real(load_breast_cancer),
    "diabetes": real(load_diabetes),
    "iris without names": real(load_iris).to_numpy(),
    "mixed": mixed_table(N),
    "mixed in polars": pl.from_pandas(mixed_table(N)),
    "mixed objects": mixed_table(N).astype(object).to_numpy(),
    "words only": RNG.choice(list("abcdefgh"), (N, 3)).astype(object),
    "40 categories": np.array([[f"w{i}", f"v{i % 37}"] for i in range(N)], dtype=object),
    "truth values": RNG.integers(0, 2, (N, 3)).astype(bool),
    "dates": pd.DataFrame({"day": pd.date_range("2020-01-01", periods=N), "x": RNG.normal(size=N)}),
    "float32": RNG.normal(size=(N, 3)).astype(np.float32),
    "small integers": RNG.integers(-3, 3, (N, 4)).astype(np.int8),
    "one column": np.arange(float(N))[:, None],
    "a constant column": odd([1.0]),
    "gaps": odd([np.nan, 1.0, 2.0]),
    "a column of gaps": odd([np.nan]),
    "huge and tiny": odd([1e308, -1e308, 5e-324, 0.0, -0.0]),
    "sparse": sparse.random_array((N, 5), density=0.4, rng=np.random.default_rng(0), format="csr"),
}
CLASSES, NUMBERS = np.arange(N) % 3, np.sin(np.arange(N) * 0.7)


def check(model, table):
    again = A.load(saved(model))
    assert saved(again) == saved(model)
    before, after = answers(model, table), answers(again, table)
    assert before.keys() == after.keys()
    assert before
    different = [name for name in before if not same_bits(before[name], after[name])]
    assert not different


def refit(name, table):
    model, _, arguments = MAKERS[name]
    model = clone(model)
    y = NUMBERS if is_regressor(model) else CLASSES
    if is_classifier(model) and "Coordinate" in name:
        y = CLASSES > 0
    groups = {"group": [N // 2, N - N // 2]} if arguments else {}
    return model.fit(table, y, **groups)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
def test_every_table(name):
    told = []
    for title, table in TABLES.items():
        if "ProximityImputer" in name and title in ("sparse", "a column of gaps"):
            continue  # which it refuses
        with np.errstate(all="ignore"):
            try:
                model = refit(name, table)
            except (A.DataError, A.ParameterError) as error:
                told.append((title, str(error)))
                continue
            try:
                check(model, table)
            except AssertionError as error:
                raise AssertionError(f"{name} on {title}: {error}") from error
    assert len(told) <= 6, told


SAMPLING = {
    "forest without bags": A.RandomForestClassifier(3, bootstrap=False),
    "forest of small bags": A.RandomForestClassifier(3, max_samples=0.5, oob_score=True),
    "forest of votes": A.RandomForestClassifier(3, voting="hard"),
    "balanced bags": A.RandomForestClassifier(3, class_weight="balanced_subsample"),
    "extra trees with bags": A.ExtraTreesClassifier(3, bootstrap=True, max_samples=20),
    "bags of columns": A.BaggingClassifier(n_estimators=3, max_features=2),
    "bags of drawn columns": A.BaggingClassifier(
        n_estimators=3, max_features=2, bootstrap_features=True
    ),
    "all columns, drawn": A.BaggingClassifier(n_estimators=3, bootstrap_features=True),
    "parts of rows": A.BaggingClassifier(n_estimators=3, bootstrap=False, max_samples=0.5),
    "AdaBoost by draws": A.AdaBoostClassifier(n_estimators=3, sampling="resample"),
    "stochastic boosting": A.GradientBoostingClassifier(
        n_estimators=3, subsample=0.5, max_features=2
    ),
    "XGBoost's draws": A.XGBClassifier(
        n_estimators=3, subsample=0.6, colsample_bytree=0.7, colsample_bylevel=0.7, colsample_bynode=0.7
    ),
    "parallel trees": A.XGBClassifier(n_estimators=2, num_parallel_tree=2, subsample=0.6),
    "gradient-based rows": A.LGBMClassifier(n_estimators=3, data_sample_strategy="goss", verbosity=-1),
    "LightGBM's draws": A.LGBMClassifier(
        n_estimators=3, subsample=0.6, subsample_freq=1, colsample_bytree=0.7, verbosity=-1
    ),
    "LightGBM's forest": A.LGBMClassifier(
        n_estimators=3, boosting_type="rf", subsample=0.6, subsample_freq=1, verbosity=-1
    ),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("name", SAMPLING)
def test_every_way_to_draw_rows_and_columns(name, named):
    table = TABLES["wine"] if named else TABLES["wine"].to_numpy()
    model = clone(SAMPLING[name]).set_params(random_state=3).fit(table, CLASSES)
    check(model, table)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
def test_the_models_of_the_mutations_are_sound(name):
    check(fitted(name), mixed_table(30, seed=9))
