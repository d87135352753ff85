"""The sentences of docs/comparisons.md, held against the experiments behind them."""

import re
from pathlib import Path

from benchmarks.comparisons import EXPERIMENTS

PAGE = (Path(__file__).parents[2] / "docs" / "comparisons.md").read_text(encoding="utf-8")


def test_the_page_names_every_experiment():
    assert all(f"`{name}`" in PAGE or f"`{name}:" in PAGE for name in EXPERIMENTS)
    assert {"bias_variance", "label_noise"} <= set(re.findall(r"`(\w+)`", PAGE))


def test_bias_and_variance():
    found = EXPERIMENTS["bias_variance"]()
    bias, variance = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
    assert variance["full tree"] > bias["full tree"]
    assert bias["stump"] > variance["stump"]
    assert variance["bagging"] < variance["full tree"] / 3
    assert abs(bias["bagging"] - bias["full tree"]) < bias["full tree"] / 2
    assert bias["boosting"] < bias["stump"] / 5


def test_one_tree():
    assert EXPERIMENTS["scaling"]()["the same"]
    assert EXPERIMENTS["readable"]()["right"] > 0.95
    assert EXPERIMENTS["readable"]()["lines"] < 15
    pruned = EXPERIMENTS["pruning"]()
    assert pruned["pruned"] > pruned["full"] + 0.05


def test_noise_and_outliers():
    lost = EXPERIMENTS["label_noise"]()
    assert lost["GBM, log loss"] < lost["AdaBoost"]
    assert abs(lost["random forest"] - lost["AdaBoost"]) < 0.03  # the page says: within chance
    error = EXPERIMENTS["outliers"]()
    assert error["absolute error"] < error["Huber"] < error["squared error"] / 3


def test_few_rows_and_many_columns():
    few = EXPERIMENTS["few_rows"]()
    assert few["λ = 10"] < few["λ = 0"]
    many = EXPERIMENTS["many_columns"]()
    assert many["bundles"] < 20 < many["columns in them"] == 200
    assert many["largest difference"] < 1e-9


def test_growth_by_leaf():
    grown = EXPERIMENTS["leaf_wise"]()
    assert grown["loss by leaf"] < grown["loss by level"]
    assert grown["depth by leaf"] > grown["depth by level"]
