"""Plots of SHAP values, effects and answers: what is drawn, and what is refused."""

import numpy as np
import pytest

import arboretum as arb
from arboretum.errors import ArboretumError, DataError, ParameterError
from tests.explain.report.report_models import fitted, new_rows

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_a_summary_has_a_line_per_column_most_important_first():
    model, (X, _) = fitted("XGB"), new_rows("XGB")
    ax = arb.plot_shap_summary(model, X, top=3)
    mean = np.abs(model.shap_values(X)).mean(axis=0)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [model.schema_.names[f] for f in np.argsort(-mean)[:3]]
    dots = sum(len(found.get_offsets()) for found in ax.collections)
    assert dots == 3 * len(X)


def test_dependence_shows_every_row_at_its_value():
    model, (X, _) = fitted("XGB numbers"), new_rows("XGB numbers")
    ax = arb.plot_shap_dependence(model, X, "age", color="job")
    offsets = ax.collections[0].get_offsets()
    np.testing.assert_allclose(offsets[:, 0], X["age"])
    np.testing.assert_allclose(offsets[:, 1], model.shap_values(X)[:, 0])
    ax = arb.plot_shap_dependence(model, X, "city")
    assert [t.get_text() for t in ax.get_xticklabels()] == ["Bern", "Lima", "Oslo"]


@pytest.mark.parametrize("name", ["XGB", "forest", "LGBM"])
def test_a_waterfall_ends_at_the_sum(name):
    model, (X, _) = fitted(name), new_rows(name)
    values, base = np.asarray(model.shap_values(X)), np.atleast_1d(model.shap_base_value())
    ax = arb.plot_waterfall(model, X, 4, top=2)
    own = values[4] if values.ndim == 2 else values[4, :, -1]
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(own.sum())
    assert len(ax.patches) == 3
    assert f"this row {base[-1] + own.sum():.4g}" in ax.get_xlabel()


def test_partial_dependence_is_drawn_as_it_is():
    model, (X, _) = fitted("forest"), new_rows("forest")
    found = model.partial_dependence(X, "age")
    ax = arb.plot_partial_dependence(model, X, "age")
    assert len(ax.lines) == 3
    np.testing.assert_allclose(ax.lines[1].get_ydata(), found.average[1])
    bars = arb.plot_partial_dependence(model, X, "city").patches
    assert len(bars) == 9
    picture = arb.plot_partial_dependence(model, X, ["age", "city"], grid_resolution=6)
    assert picture.images[0].get_array().shape == (3, 6)


def test_lines_of_single_rows_may_begin_at_zero():
    model, (X, _) = fitted("XGB"), new_rows("XGB")
    ax = arb.plot_ice(model, X, "hours", n_rows=7, centered=True)
    lines = [line.get_ydata() for line in ax.lines]
    assert len(lines) == 8
    assert all(line[0] == 0 for line in lines)


def test_confusion_counts_and_calibration_lies_between_0_and_1():
    from sklearn.metrics import confusion_matrix

    model, (X, y) = fitted("LGBM"), new_rows("LGBM")
    ax = arb.plot_confusion(model, X, y)
    told = [int(text.get_text()) for text in ax.texts]
    assert told == confusion_matrix(y, model.predict(X)).ravel().tolist()
    shares = [text.get_text() for text in arb.plot_confusion(model, X, y, normalize=True).texts]
    assert all(text.endswith("%") for text in shares)
    lines = arb.plot_calibration(model, X, y, n_bins=4).lines
    assert len(lines) == 4
    assert all(((line.get_ydata() >= 0) & (line.get_ydata() <= 1)).all() for line in lines)


@pytest.mark.parametrize(
    ("ask", "error", "says"),
    [
        (lambda m, X, y: arb.plot_shap_summary("m", X), ParameterError, "fitted estimator"),
        (
            lambda m, X, y: arb.plot_shap_summary(m, X, output="purple"),
            ParameterError,
            "output must be one of",
        ),
        (
            lambda m, X, y: arb.plot_shap_summary(fitted("C4.5"), X),
            ArboretumError,
            "no SHAP values",
        ),
        (lambda m, X, y: arb.plot_shap_dependence(m, X, "aeg"), ParameterError, "no column 'aeg'"),
        (lambda m, X, y: arb.plot_waterfall(m, X, 999), ParameterError, "row of plot_waterfall"),
        (lambda m, X, y: arb.plot_waterfall(m, X, top=0), ParameterError, "top of plot_waterfall"),
        (
            lambda m, X, y: arb.plot_partial_dependence(m, X, [0, 1, 2]),
            ParameterError,
            "one column or two",
        ),
        (lambda m, X, y: arb.plot_ice(m, X, "age", n_rows=0), ParameterError, "n_rows of plot_ice"),
        (lambda m, X, y: arb.plot_calibration(m, X, y[:-1]), DataError, "rows and y has"),
        (lambda m, X, y: arb.plot_confusion(m, X, y + 77), DataError, "no label of y"),
        (
            lambda m, X, y: arb.plot_confusion(fitted("XGB numbers"), X, y),
            ParameterError,
            "classifier",
        ),
    ],
)
def test_bad_input_says_what_to_do(ask, error, says):
    with pytest.raises(error, match=says):
        ask(fitted("LGBM"), *new_rows("LGBM"))
