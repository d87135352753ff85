"""Predictions of all estimators, streamed into an array or a file."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import arboretum
from arboretum.errors import DataError
from tests.streams.test_fit import cut

RNG = np.random.default_rng(0)
T = pa.table(
    {
        "id": np.arange(70),
        "number": RNG.standard_normal(70),
        "word": RNG.choice(["red", "blue"], 70),
    }
)
X = T.select(["number", "word"])
LABELS = np.where(RNG.random(70) < 0.5, "no", "yes")
MODELS = {
    "LGBMClassifier": lambda: arboretum.LGBMClassifier(n_estimators=3),
    "XGBClassifier": lambda: arboretum.XGBClassifier(n_estimators=3),
    "RandomForestClassifier": lambda: arboretum.RandomForestClassifier(n_estimators=3),
    "CARTClassifier": lambda: arboretum.CARTClassifier(max_depth=3),
    "C45Classifier": arboretum.C45Classifier,
    "AdaBoostClassifier": lambda: arboretum.AdaBoostClassifier(n_estimators=3),
    "GradientBoostingClassifier": lambda: arboretum.GradientBoostingClassifier(n_estimators=3),
    "VotingClassifier": lambda: arboretum.VotingClassifier(
        [("tree", arboretum.CARTClassifier()), ("stump", arboretum.CARTClassifier(max_depth=1))],
        voting="soft",
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_estimator_predicts_a_stream(name, tmp_path):
    model = MODELS[name]().fit(X, LABELS)
    pq.write_table(T.slice(0, 30), tmp_path / "a.parquet")
    pq.write_table(T.slice(30), tmp_path / "b.parquet", row_group_size=7)
    predicted, probability = model.predict(X), model.predict_proba(X)
    assert model.predict(lambda: iter(cut(X, [9, 50]))).tolist() == predicted.tolist()
    assert np.array_equal(model.predict_proba(str(tmp_path / "*.parquet")), probability)
    for suffix, read in ((".csv", pl.read_csv), (".parquet", pl.read_parquet)):
        out = model.predict(tmp_path / "b.parquet", out=tmp_path / f"one{suffix}")
        assert read(out)["prediction"].to_list() == predicted[30:].tolist()
        found = read(model.predict_proba(X, out=tmp_path / f"all{suffix}"))
        assert found.columns == ["p_no", "p_yes"]
        assert np.array_equal(found.to_numpy(), probability)


def test_arguments_of_a_method_are_kept(tmp_path):
    model = arboretum.LGBMRegressor(n_estimators=5).fit(X, T["id"])
    expected = model.predict(X, num_iteration=2)
    parts = lambda: iter(cut(X, [20]))  # noqa: E731
    assert np.array_equal(model.predict(X=parts, num_iteration=2), expected)
    assert np.array_equal(model.predict(parts, num_iteration=2), expected)
    leaves = model.predict(parts, pred_leaf=True, out=tmp_path / "leaves.csv")
    assert pl.read_csv(leaves).columns == [f"prediction_{k}" for k in range(5)]


BAD = {
    "a folder that is not there": (X, "absent/out.csv", "folder .*absent' does not exist"),
    "a kind of file": (X, "out.xlsx", r"written as .csv or .parquet"),
    "a column less": (X.select(["word"]), "out.csv", "no column 'number'|lacks"),
    "words for numbers": (
        pa.table({"number": ["a"], "word": ["b"]}),
        "out.csv",
        "batch 0 of the Table: column 'number' held numbers at fit",
    ),
    "later words": (
        lambda: iter([X.slice(0, 5), pa.table({"number": ["a"], "word": ["b"]})]),
        "out.csv",
        "batch 1 of the function: column 'number'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_leaves_no_file(case, tmp_path):
    source, out, message = BAD[case]
    model = arboretum.LGBMRegressor(n_estimators=2).fit(X, T["id"])
    with pytest.raises(DataError, match=message):
        model.predict(source, out=tmp_path / out)
    assert list(tmp_path.iterdir()) == []


def test_methods_that_need_all_rows_say_so():
    model = arboretum.LGBMRegressor(n_estimators=2).fit(X, T["id"])
    with pytest.raises(DataError, match="shap_values needs all rows in memory"):
        model.shap_values(lambda: iter([X]))
    with pytest.raises(DataError, match="no rows"):
        model.predict(lambda: iter([]))
