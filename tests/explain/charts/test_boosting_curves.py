"""The learning curve of a booster."""

import numpy as np
import pytest

from arboretum import XGBRegressor, plot_learning_curve, plot_metric
from arboretum.errors import ParameterError

X = np.random.default_rng(0).normal(size=(120, 3))
Y = X[:, 0] + np.random.default_rng(1).normal(size=120)


@pytest.fixture(scope="module")
def model():
    found = XGBRegressor(n_estimators=60, early_stopping_rounds=4, eval_metric=["mae", "rmse"])
    return found.fit(X[:80], Y[:80], eval_set=[(X[:80], Y[:80]), (X[80:], Y[80:])], verbose=False)


def test_a_line_per_table_and_the_best_round(model):
    ax = plot_learning_curve(model, names={"validation_1": "held out"})
    assert ax.get_ylabel() == "rmse"
    lines = {line.get_label(): line for line in ax.get_lines()}
    assert list(lines) == ["validation_0", "held out", f"round {model.best_iteration + 1}"]
    figures = model.evals_result()["validation_1"]["rmse"]
    assert lines["held out"].get_ydata().tolist() == figures
    assert lines["held out"].get_xdata()[0] == 1
    assert plot_learning_curve(model, metric="mae", ax=ax) is ax


def test_a_title_and_an_axis_on_which_late_rounds_can_be_told_apart(model):
    ax = plot_learning_curve(model)
    assert ax.get_title() == "XGBRegressor: rmse by round"
    few = XGBRegressor(n_estimators=3).fit(X, Y, eval_set=[(X, Y)], verbose=False)
    assert plot_learning_curve(few).get_yscale() == "linear"
    assert plot_learning_curve(few, log=True).get_yscale() == "log"
    far = XGBRegressor(n_estimators=60).fit(X, Y, eval_set=[(X, Y)], verbose=False)
    assert plot_learning_curve(far).get_yscale() == "log"
    plain = plot_learning_curve(far, log=False)
    assert plain.get_yscale() == "linear"
    plain.set_title("mine")
    assert plot_learning_curve(far, ax=plain).get_title() == "mine"


def test_what_cannot_be_drawn_is_said(model):
    with pytest.raises(ParameterError, match="did you mean 'rmse'"):
        plot_learning_curve(model, metric="rmsse")
    with pytest.raises(ParameterError, match="give eval_set"):
        plot_learning_curve(XGBRegressor(n_estimators=1).fit(X, Y))


def test_lightgbms_plot_of_a_metric(model):
    with pytest.warns(UserWarning, match="More than one metric available, picking one to plot."):
        ax = plot_metric(model)
    assert [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()] == [
        "Metric during training", "Iterations", "rmse"
    ]  # fmt: skip
    results = model.evals_result()
    for given in (model, model.get_booster(), results):
        ax = plot_metric(given, metric="mae", dataset_names=["validation_1"])
        (line,) = ax.get_lines()
        assert line.get_ydata().tolist() == results["validation_1"]["mae"]
        assert line.get_xdata()[0] == 0
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["validation_1"]
    one = plot_metric(
        booster=results, metric="mae", xlim=(0, 5), ylim=(0, 2), title=None, xlabel="x", ylabel="of @metric@",
        figsize=(3, 2), dpi=40, grid=False,
    )  # fmt: skip
    assert (one.get_title(), one.get_xlabel(), one.get_ylabel()) == ("", "x", "of mae")
    assert (one.get_xlim(), one.get_ylim()) == ((0, 5), (0, 2))
    assert one.figure.get_size_inches().tolist() == [3, 2]
    assert one.figure.dpi == 40
    assert not any(line.get_visible() for line in one.get_xgridlines())
    assert plot_metric(results, "mae", ax=one) is one


def test_metrics_that_cannot_be_plotted(model):
    with pytest.raises(ParameterError, match=r"eval results cannot be empty\."):
        plot_metric({})
    with pytest.raises(ParameterError, match="dataset_names must be some of validation_0"):
        plot_metric(model, "mae", dataset_names=["v2"])
    with pytest.raises(ParameterError, match="did you mean 'rmse'"):
        plot_metric(model, "rmsse")
    with pytest.raises(ParameterError, match=r"no parameter 'colour'"):
        plot_metric(model, "mae", colour="red")
