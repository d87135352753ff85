"""Dots of SHAP values: those of the model, in an order of their own for every column."""

import numpy as np
import pytest

from arboretum import report
from arboretum.explain.report.inputs import with_labels
from arboretum.explain.report.panels import PanelMaker
from arboretum.explain.worksheet.family import Given
from tests.explain.report.report_models import fitted, new_rows


def panels(name, wanted="sample"):
    maker = PanelMaker(fitted(name), Given(*new_rows(name), None, None), None, wanted, None, 0)
    for _, step in maker.steps()[:6]:
        step()
    return maker


@pytest.mark.parametrize("name", ["CART numbers", "XGB", "LGBM", "forest"])
def test_dots_are_shap_values(name):
    maker = panels(name)
    found = maker.payload["beeswarm"]
    X, _ = new_rows(name)
    values = np.asarray(fitted(name).shap_values(X)).reshape(len(X), X.shape[1], -1)
    labels = maker.payload["labels"]
    outputs = range(values.shape[2]) if found["of"] is None else [
        min(labels.index(found["of"]), values.shape[2] - 1)
    ]  # fmt: skip
    for line in found["lines"]:
        drawn = np.sort(line["shap"])
        assert any(
            np.allclose(drawn, np.sort(values[:, line["f"], k]), rtol=1e-3, atol=1e-9) for k in outputs
        )  # fmt: skip
        assert len(line["value"]) == found["rows"] == len(X)
    size = [np.abs(line["shap"]).mean() for line in found["lines"]]
    assert size == sorted(size, reverse=True)


def test_no_row_can_be_put_together():
    found = panels("XGB").payload["beeswarm"]
    X, _ = new_rows("XGB")
    by_column = {line["f"]: line["value"] for line in found["lines"]}
    rows = np.array([by_column[f] for f in (0, 1)], np.float64).T
    same = (rows == X[["age", "hours"]].to_numpy(np.float64)).all(axis=1)
    assert same.mean() < 0.2


def test_there_are_no_dots_without_rows_or_shap_values():
    assert "beeswarm" not in panels("XGB", "none").payload
    assert "beeswarm" not in panels("rules").payload


def test_labels_are_shown_everywhere_and_change_no_number(tmp_path):
    X, y = new_rows("CART")
    labels = {"hours": "working hours", "job": "kind of work"}
    plain, named = report(fitted("CART"), X, y), report(fitted("CART"), X, y, labels=labels)
    assert '"name":"working hours"' in named.html
    assert '"name":"hours"' not in named.html
    model, table, _ = with_labels(fitted("CART"), X, None, labels)
    np.testing.assert_array_equal(model.predict_proba(table), fitted("CART").predict_proba(X))
    assert abs(len(plain.html) - len(named.html)) < 2_000


def test_lines_about_the_model_are_in_the_overview():
    X, y = new_rows("CART")
    made = report(fitted("CART"), X, y, about={"made by": "A. <Person>"})
    assert '"lines":[["made by","A. \\u003cPerson\\u003e"]]' in made.html


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": {"hors": "x"}}, "did you mean 'hours'"),
        ({"labels": {"hours": "age"}}, "two columns would be called 'age'"),
        ({"labels": "hours"}, "labels of report must be a dict"),
        ({"about": "me"}, "about of report must be a dict"),
    ],
)
def test_bad_labels_are_one_sentence(options, message):
    X, y = new_rows("CART")
    with pytest.raises(ValueError, match=message):
        report(fitted("CART"), X, y, **options)
