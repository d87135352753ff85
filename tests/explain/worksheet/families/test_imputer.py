"""Sheets of `ProximityImputer`: guesses are the textbook's, and the last ones are the filled table."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arboretum as arb
from arboretum import DataError, ParameterError, load, worksheet
from arboretum.explain.worksheet.families.imputer import add_guess
from arboretum.explain.worksheet.sheet import Sheet
from arboretum.textbook.filling import first_guess, refill
from arboretum.textbook.proximities import proximity_of_leaves
from tests.explain.worksheet.tables import check_shown, classes, signal, table

TARGETS = {"classes": classes, "numbers": signal, "none": lambda X: None}


@pytest.fixture(scope="module", params=TARGETS)
def filled(request):
    X = table(60, seed=3)
    y = TARGETS[request.param](X)
    imputer = arb.ProximityImputer(10, max_depth=3, max_iter=4, random_state=1, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that four rounds are too few
        found = imputer.fit_transform(X, y)
    return imputer, X, y, found


def test_the_weighted_sum_of_the_notes():
    """125 · .1 + 180 · .1 + 210 · .8 = 198.5 (Breiman's weight of the fourth patient)."""
    sheet = Sheet("weight of the fourth patient")
    weights, near = np.array([125.0, 180, 210, np.nan]), np.array([0.1, 0.1, 0.8, 1.0])
    guess = add_guess(sheet, "weight", weights, near, first=167.5)
    assert_allclose(guess.value, 198.5)
    assert_allclose(sheet.value("weight"), 198.5)
    assert sheet.formulas[0].numbers == "210·0.8 + 125·0.1 + 180·0.1"


def test_cells_are_filled_as_the_textbook_fills_them(filled):
    imputer, X, y, found = filled
    sheets = worksheet(imputer, X, y)
    family = sheets._family
    kinds = tuple(
        "numeric" if c.kind == "numeric" else "categorical" for c in imputer.schema_.columns
    )
    codes = None if imputer.task_ != "classification" else np.unique(y, return_inverse=True)[1]
    first = first_guess(family.table, codes, kinds)
    assert_allclose(family.rounds[0].before, first)
    for one, after in zip(family.rounds, family.filled, strict=True):
        near = proximity_of_leaves(one.leaves.T)
        wanted, _ = refill(family.table, near, family.table, first, kinds)
        assert_allclose(after, wanted, rtol=1e-12)
    for i, f in np.argwhere(np.isnan(family.table))[:12].tolist():
        sheet = check_shown(sheets.cell(i, f))
        assert len(sheet.formulas) == len(imputer.report_)
        value = found.iloc[i, f]
        assert sheet.facts["filled with"] == (
            value if isinstance(value, str) else pytest.approx(value)
        )
        after = sheet.table("Round by round").column("after")[-1]
        assert after == (value if isinstance(value, str) else pytest.approx(value))
        weights = sheet.table("Its neighbours").column("weight")
        assert_allclose(sum(weights), 1.0 if weights else 0.0)


def test_rounds_move_as_the_imputer_reports(filled):
    imputer, X, y, _ = filled
    sheets = worksheet(imputer, X, y)
    for m, kept in enumerate(imputer.report_):
        sheet = check_shown(sheets.round(m))
        moves = sheet.table("Cells that moved most").column("standard deviations")
        numeric = [
            move
            for move, name in zip(moves, sheet.table("Cells").column("column"), strict=True)
            if imputer.schema_.columns[imputer.schema_.names.index(name)].kind == "numeric"
        ]
        if numeric and kept.moved > 0:
            assert_allclose(max(numeric), kept.moved, rtol=1e-9)
    check_shown(sheets.sheet())


def test_a_saved_imputer_has_the_same_sheets(filled, tmp_path):
    imputer, X, y, _ = filled
    imputer.save(tmp_path / "imputer.arb")
    i, f = np.argwhere(X.isna().to_numpy())[0].tolist()
    again = worksheet(load(tmp_path / "imputer.arb"), X, y).cell(i, f)
    assert again.to_dict() == worksheet(imputer, X, y).cell(i, f).to_dict()


def test_an_imputer_keeps_what_its_sheets_need(filled, tmp_path):
    """The table and, until it is saved, the target; its file has no target."""
    imputer, X, y, _ = filled
    i, f = np.argwhere(X.isna().to_numpy())[0].tolist()
    given = worksheet(imputer, X, y).cell(i, f)
    assert worksheet(imputer).cell(i, f).value("round 0") == given.value("round 0")
    assert worksheet(imputer).cell(i, f).facts == given.facts
    imputer.save(tmp_path / "imputer.arb")
    again = load(tmp_path / "imputer.arb")
    assert (
        worksheet(again, y=y).cell(i, f).to_dict() == worksheet(imputer, y=y).cell(i, f).to_dict()
    )
    if y is None:
        assert worksheet(again).cell(i, f).to_dict() == given.to_dict()
    else:
        with pytest.raises(DataError, match=r"worksheet\(imputer, y=y\)"):
            worksheet(again).cell(i, f)


def test_what_is_refused(filled):
    imputer, X, y, _ = filled
    sheets = worksheet(imputer, X, y)
    i = int(np.flatnonzero(X["age"].notna())[0])
    with pytest.raises(ParameterError, match=f"age of row {i} was not missing"):
        sheets.cell(i, "age")
    with pytest.raises(ParameterError, match="no column 'height'"):
        sheets.cell(0, "height")
    with pytest.raises(ParameterError, match="not kept"):
        sheets.node(0, 0)
    with pytest.raises(ParameterError, match="cell"):
        sheets.row(0)
    other = X.assign(age=1.0)
    with pytest.raises(DataError, match="was fitted on"):
        worksheet(imputer, other, y).cell(0, "age")
    with pytest.raises(ParameterError, match=r"worksheet\(imputer\)\.cell\(row, column\)"):
        imputer.report()
    with pytest.raises(ParameterError, match="ProximityImputer does"):
        worksheet(arb.CARTRegressor().fit([[1.0], [2.0]], [1, 2]), [[1.0], [2.0]], [1, 2]).cell(
            0, 0
        )


def test_a_table_without_gaps_has_nothing_to_show():
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, 2.0, 2.0]})
    imputer = arb.ProximityImputer(3, random_state=0).fit(X, [0, 0, 1, 1])
    with pytest.raises(ParameterError, match="it is missing nowhere"):
        worksheet(imputer, X, [0, 0, 1, 1]).cell(0, "a")
    assert_array_equal(imputer.transform(X), X)
