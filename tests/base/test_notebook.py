"""Estimators in a notebook: scikit-learn's boxes, fitted and not, with names escaped."""

import pytest

import arboretum as arb
from tests.explain.report.report_models import FAMILIES, fitted


@pytest.mark.parametrize("name", FAMILIES)
def test_every_estimator_shows_itself(name):
    model = fitted(name)
    shown = model._repr_html_()
    assert type(model).__name__ in shown
    assert "Fitted" in shown
    again = FAMILIES[name][0]()._repr_html_()
    assert "Not fitted" in again


def test_parameters_are_escaped():
    shown = arb.CARTClassifier(class_weight={"<script>x</script>": 2})._repr_html_()
    assert "<script>x</script>" not in shown
    assert "&lt;script&gt;" in shown
