"""`ProximityImputer`: its laws, every kind of table in and out, bad input, keeping."""

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

import arboretum
import arboretum.forest.growing as forest_growing
from arboretum import DataError, ModelFileError, ParameterError, RandomForestClassifier
from arboretum.forest.imputer import ProximityImputer
from arboretum.grow.depth_first.grower import DepthFirstGrower
from arboretum.io.native import save
from tests.forest.imputer_cases import GAPS, LABELS, WORDS, N, X, Y, frame, holes, mixed, quick

pytestmark = pytest.mark.filterwarnings("ignore:the guesses have not come to rest")


# ---------------------------------------------------------------------- laws
def test_observed_values_never_change_and_nothing_stays_missing():
    table = holes(X)
    filled = quick().fit_transform(table, Y)
    assert filled.dtype == np.float64
    assert not np.isnan(filled).any()
    there = ~np.isnan(table)
    np.testing.assert_array_equal(filled[there], table[there])
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    assert ((filled >= low) & (filled <= high)).all()


def test_the_table_given_is_not_written_to():
    table = holes(X)
    before = table.copy()
    imputer = quick(max_iter=2)
    imputer.fit_transform(table, Y)
    imputer.transform(table)
    np.testing.assert_array_equal(table, before)


def test_threads_and_repetition_do_not_matter():
    table = holes(X)
    one, two = (quick(n_jobs=jobs, max_iter=3).fit_transform(table, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_a_guess_does_not_depend_on_what_was_hidden():
    """No value is filled from its own row: with one value per column the others give it."""
    table = np.array([[1.0, 5.0], [np.nan, 5.0], [np.nan, np.nan], [1.0, 7.0]])
    filled = quick().fit_transform(table, [0, 0, 1, 1])
    assert filled[1, 0] == filled[2, 0] == 1.0
    assert 5 <= filled[2, 1] <= 7


def test_the_rounds_are_reported(capsys):
    imputer = quick(max_iter=2, tol=0.0, verbose=1).fit(holes(X), Y)
    assert [step.number for step in imputer.report_] == [1, 2]
    assert imputer.n_iter_ == 2
    assert not imputer.converged_
    assert capsys.readouterr().out.count("ProximityImputer, round") == 2
    easy = quick(max_iter=3, tol=100.0).fit(holes(X), Y)
    assert easy.converged_
    assert len(easy.report_) == 1
    assert imputer.n_missing_.tolist() == np.isnan(holes(X)).sum(axis=0).tolist()


def test_guesses_that_do_not_come_to_rest_are_told_with_a_way_out():
    imputer = quick(max_iter=1, tol=0.0)
    with pytest.warns(
        ConvergenceWarning, match=r"in 1 round: .* moved up to .*n_estimators"
    ) as told:
        imputer.fit(holes(X), Y)
    assert f"moved up to {imputer.report_[0].moved:.3g} standard" in str(told[0].message)
    assert told[0].filename == __file__
    table, _ = mixed()
    with pytest.warns(ConvergenceWarning, match=r"in the last one \d+ categories changed and"):
        quick(max_iter=1, tol=1e9, categorical_features=[3]).fit(table)


def test_guesses_that_come_to_rest_are_no_reason_to_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quick(tol=100.0).fit(holes(X), Y).converged_
        assert quick(max_iter=1, tol=0.0).fit(X, Y).converged_  # nothing is missing


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes])
def test_guesses_are_better_than_medians(load):
    data, y = load(return_X_y=True)
    table = holes(data, 0.1, 3)
    gaps = np.isnan(table)
    filled = quick(n_estimators=50).fit_transform(table, y)
    scale = data.std(axis=0)
    medians = np.where(gaps, np.nanmedian(table, axis=0), table)
    error, simple = (np.sqrt((((t - data) / scale)[gaps] ** 2).mean()) for t in (filled, medians))
    assert error < simple


def test_without_labels_it_still_beats_medians():
    data, _ = load_wine(return_X_y=True)
    table = holes(data, 0.1, 3)
    gaps, imputer = np.isnan(table), quick(n_estimators=50, max_iter=4)
    filled, scale = imputer.fit_transform(table), data.std(axis=0)
    assert imputer.task_ == "unsupervised"
    medians = np.where(gaps, np.nanmedian(table, axis=0), table)
    error, simple = (np.sqrt((((t - data) / scale)[gaps] ** 2).mean()) for t in (filled, medians))
    assert error < simple


def test_new_rows_are_filled_from_the_rows_near_them():
    imputer = quick(n_estimators=40).fit(holes(X), Y)
    new = np.array([[np.nan, 3.4, 1.5, np.nan], [np.nan, 3.0, 5.8, 2.1]])
    setosa, virginica = imputer.transform(new)
    assert setosa[0] < 5.5 < 6 < virginica[0]
    assert setosa[3] < 0.6
    again = imputer.transform(new[::-1])
    np.testing.assert_array_equal(again[::-1], [setosa, virginica])  # row by row


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (Y, "classification"),
        (Y.astype(float), "classification"),
        (np.array(["a", "b", "c"])[Y], "classification"),
        (Y > 0, "classification"),
        (X[:, 0], "regression"),
        (np.arange(150), "regression"),
        (np.column_stack([Y, Y > 1]), "classification"),
        (X[:, :2], "regression"),
    ],
)
def test_the_task_is_found(y, task):
    imputer = quick(max_iter=1, n_estimators=3).fit(holes(X), y)
    assert imputer.task_ == task


def test_the_task_can_be_told():
    imputer = quick(max_iter=1, n_estimators=3, task="regression").fit(holes(X), Y)
    assert type(imputer.forest_).__name__ == "RandomForestRegressor"


# ---------------------------------------------------------------------- tables in and out
def test_pandas_in_pandas_out():
    table = frame()
    filled = quick().fit_transform(table, LABELS)
    assert type(filled) is pd.DataFrame
    assert filled.index.equals(table.index)
    assert filled.columns.equals(table.columns)
    assert not filled.isna().any().any()
    there = [i for i in range(N) if i not in set(GAPS)]
    for name in table.columns:
        if name != "whole":  # becomes a float where a guess is none
            assert filled[name].dtype == table[name].dtype, name
        assert filled[name].iloc[there].tolist() == table[name].iloc[there].tolist(), name
    assert str(filled["whole"].dtype) in ("Float64", "Int64")
    assert set(filled["word"]) == {"red", "green", "blue"}
    assert filled["word"].iloc[GAPS].tolist() == WORDS[GAPS].tolist()  # the label tells them


def test_polars_in_polars_out():
    table = pl.from_pandas(frame().drop(columns="zone"))
    filled = quick().fit_transform(table, LABELS)
    assert type(filled) is pl.DataFrame
    assert filled.columns == table.columns
    assert sum(filled.null_count().row(0)) == 0
    for name in table.columns:
        if name != "whole":
            assert filled[name].dtype == table[name].dtype, name
    assert filled["word"].to_list() == WORDS.tolist()


def test_polars_enum_zone_and_lazy():
    table = pl.DataFrame(
        {
            "e": pl.Series([None, *WORDS[1:]], dtype=pl.Enum(["red", "green", "blue"])),
            "z": pl.from_pandas(frame()[["zone"]])["zone"],
            "d": pl.Series([None, *pd.date_range("2024-01-01", periods=N - 1).date]),
        }
    ).lazy()
    filled = quick(max_iter=2).fit_transform(table, LABELS)
    assert sum(filled.null_count().row(0)) == 0
    assert filled.schema == table.collect().schema


def test_arrow_in_arrow_out():
    table = pa.Table.from_pandas(frame()[["number", "word", "truth", "day"]], preserve_index=False)
    filled = quick(max_iter=2).fit_transform(table, LABELS)
    assert type(filled) is pa.Table
    assert all(filled[name].null_count == 0 for name in filled.column_names)
    assert filled["word"].to_pylist() == WORDS.tolist()


def test_lists_and_object_arrays():
    rows = [[1.0, "a"], [2.0, None], [None, "b"], [8.0, "b"], [9.0, "b"], [1.5, "a"]]
    filled = quick().fit_transform(rows, [0, 0, 1, 1, 1, 0])
    assert filled.dtype == object
    assert filled[1, 1] == "a"
    assert 5 < filled[2, 0] <= 9
    again = quick().fit_transform(np.array(rows, dtype=object), [0, 0, 1, 1, 1, 0])
    assert again.tolist() == filled.tolist()


def test_dtypes_of_arrays():
    table = holes(X)
    assert quick(max_iter=1).fit_transform(table.astype("float32"), Y).dtype == np.float32
    whole = np.arange(12).reshape(6, 2)
    np.testing.assert_array_equal(quick().fit_transform(whole, LABELS[:6]), whole)
    masked = np.ma.masked_invalid(table)
    filled = quick(max_iter=2).fit_transform(masked, Y)
    np.testing.assert_allclose(filled, quick(max_iter=2).fit_transform(table, Y))


def test_a_file_in_a_table_out(tmp_path):
    path = tmp_path / "table.csv"
    frame()[["number", "word"]].to_csv(path, index=False)
    filled = quick(max_iter=2).fit_transform(str(path), LABELS)
    forest = RandomForestClassifier(3, random_state=0).fit(filled, LABELS)
    assert [column.has_missing for column in forest.schema_.columns] == [False, False]


def test_columns_are_found_by_name_and_stand_in_fits_order():
    table = frame()[["number", "word", "full"]]
    imputer = quick(max_iter=2).fit(table, LABELS)
    usual, turned = imputer.transform(table), imputer.transform(table[["full", "word", "number"]])
    pd.testing.assert_frame_equal(usual, turned)
    assert list(turned.columns) == imputer.get_feature_names_out().tolist()


def test_set_output():
    imputer = quick(max_iter=1).set_output(transform="pandas").fit(holes(X), Y)
    assert list(imputer.transform(X).columns) == ["x0", "x1", "x2", "x3"]
    filled = (
        clone(imputer).set_output(transform="polars").fit_transform(frame()[["number"]], LABELS)
    )
    assert type(filled) is pl.DataFrame


def test_a_new_category_stays_and_helps_nobody():
    table = frame()[["number", "word", "kind"]]
    imputer = quick(max_iter=2).fit(table, LABELS)
    new = table.iloc[[int(GAPS[0]), 0]].copy()
    new["word"] = ["violet", None]
    with pytest.warns(UserWarning, match="unseen at fit: 'violet'"):
        filled = imputer.transform(new)
    assert filled["word"].iloc[0] == "violet"
    assert filled["word"].iloc[1] in set(WORDS)
    assert not filled.isna().any().any()


def test_a_new_category_can_be_an_error():
    table = frame()[["number", "word"]]
    imputer = quick(max_iter=2, unseen="error").fit(table, LABELS)
    with pytest.raises(DataError, match="unseen at fit: 'violet'"):
        imputer.transform(table.head(2).assign(word="violet"))


def test_a_new_table_whose_categories_are_fewer():
    table = frame()[["number", "kind"]]
    imputer = quick(max_iter=2).fit(table, LABELS)
    new = pd.DataFrame({"number": [0.1, 0.2], "kind": pd.Categorical([None, None], ["red"])})
    filled = imputer.transform(new)
    assert set(filled["kind"]) <= {"red", "green", "blue"}
    empty = pd.DataFrame({"number": [0.1, None], "kind": [None, None]})
    assert set(imputer.transform(empty)["kind"]) <= {"red", "green", "blue"}


# ---------------------------------------------------------------------- odd and bad input
def test_rows_without_any_value_are_filled():
    table = holes(X)
    table[[0, 149]] = np.nan
    imputer = quick()
    assert not np.isnan(imputer.fit_transform(table, Y)).any()
    assert not np.isnan(imputer.transform(np.full((2, 4), np.nan))).any()


def test_nothing_missing():
    imputer = quick()
    np.testing.assert_array_equal(imputer.fit_transform(X, Y), X)
    assert imputer.report_ == []
    assert imputer.converged_
    assert not np.isnan(imputer.transform(holes(X))).any()


@pytest.mark.parametrize("table", [[[1.0], [np.nan]], [[np.nan, 2.0]], [["a"], [None]]])
def test_tiny_tables(table):
    y = [0, 1][: len(table)]
    if len(table) == 1:
        with pytest.raises(DataError, match="column 'x0' without any value"):
            quick().fit(table, y)
    else:
        filled = quick().fit_transform(table, y)
        assert filled[1, 0] == table[0][0]


BAD = [
    ({}, np.column_stack([X, np.full(150, np.nan)]), Y, DataError, "column 'x4' without any value"),
    ({}, X, Y[:9], DataError, "inconsistent numbers of samples"),
    ({}, X, np.where(Y > 1, np.nan, Y), DataError, "contains NaN"),
    ({}, np.where(X > 7, np.inf, X), Y, DataError, "infinite"),
    ({"task": "classification"}, X, X[:, 0], DataError, "continuous"),
    ({"task": "regression"}, X, np.array(["a", "b", "c"])[Y], DataError, "needs numbers"),
    ({"task": "both"}, X, Y, ParameterError, "'task' parameter of ProximityImputer must be"),
    (
        {"n_estimators": 0},
        X,
        Y,
        ParameterError,
        "'n_estimators' parameter of ProximityImputer must be",
    ),
    ({"max_iter": 0}, X, Y, ParameterError, "max_iter"),
    ({"tol": -1}, X, Y, ParameterError, "tol"),
    ({"min_samples_leaf": 0}, X, Y, ParameterError, "min_samples_leaf"),
    ({"n_jobs": 0}, X, Y, ParameterError, "n_jobs"),
    ({"unseen": "guess"}, X, Y, ParameterError, "'unseen' parameter of ProximityImputer must be"),
]


@pytest.mark.parametrize(("parameters", "table", "y", "error", "message"), BAD)
def test_bad_input(parameters, table, y, error, message):
    with pytest.raises(error, match=message):
        quick(**parameters).fit(table, y)


def test_sparse_tables_are_refused():
    from scipy.sparse import csr_matrix

    with pytest.raises(DataError, match=r"a sparse matrix: pass X.toarray\(\)"):
        quick().fit(csr_matrix(X), Y)


def test_bad_new_rows():
    imputer = quick(max_iter=1).fit(frame()[["number", "word"]], LABELS)
    for table, message in (
        (frame()[["number"]], "lacks columns seen at fit: 'word'"),
        (frame()[["number", "word", "day"]], "unseen at fit: 'day'"),
        (frame()[["word", "number"]].set_axis(["number", "word"], axis=1), "held numbers at fit"),
    ):
        with pytest.raises(DataError, match=message):
            imputer.transform(table)
    with pytest.raises(ValueError, match="not fitted"):
        quick().transform(X)


def test_an_interrupt_ends_all_rounds(monkeypatch):
    real, calls = DepthFirstGrower.grow_trees, []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if len(calls) == 14:  # in the second round
            raise KeyboardInterrupt
        return real(*args, **kwargs)

    monkeypatch.setattr(forest_growing, "trees_of_a_call", lambda n_rows: 1)
    monkeypatch.setattr(DepthFirstGrower, "grow_trees", interrupted)
    imputer = quick(n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyboardInterrupt):
            imputer.fit(holes(X), Y)
    assert len(calls) == 14
    assert not hasattr(imputer, "forest_")


def test_a_failed_fit_leaves_the_last_one_whole():
    imputer = quick(max_iter=1).fit(holes(X), Y)
    before = imputer.transform(holes(X))
    with pytest.raises(DataError):
        imputer.fit(holes(X), Y[:3])
    assert np.array_equal(imputer.transform(holes(X)), before)


@parametrize_with_checks([ProximityImputer(5, max_iter=2, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("y", [LABELS, LABELS + 0.5, None], ids=["classes", "numbers", "none"])
def test_saved_and_loaded_it_fills_the_same(y):
    table = frame()
    imputer = quick(max_iter=2, task="regression" if y is not None and y[0] % 1 else "auto")
    imputer.fit(table, y)
    file = io.BytesIO()
    save(imputer, file)
    for again in (arboretum.load(file.getvalue()), pickle.loads(pickle.dumps(imputer))):
        assert again.get_params() == imputer.get_params()
        assert (again.report_, again.task_) == (imputer.report_, imputer.task_)
        pd.testing.assert_frame_equal(again.transform(table), imputer.transform(table))


def test_a_damaged_file_is_an_error(monkeypatch):
    imputer = quick(max_iter=1).fit(frame(), LABELS)
    state = imputer._get_fitted_state()
    odd = imputer._donors.rows.copy()
    odd[0, 3] = 77.0
    for change in (
        {"rows": odd},
        {"rows": odd[:, :2]},
        {"grown_on": imputer._grown_on[:5]},
        {"grown_on": imputer._donors.rows},
        {"task": "magic"},
    ):
        monkeypatch.setattr(
            ProximityImputer, "_get_fitted_state", lambda _, c=change: {**state, **c}
        )
        file = io.BytesIO()
        imputer.save(file)
        with pytest.raises(ModelFileError, match="cannot be loaded"):
            arboretum.load(file.getvalue())
