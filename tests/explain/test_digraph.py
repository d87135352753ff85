"""Trees as objects of the graphviz package: XGBoost's and LightGBM's forms, with and without the package."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum import create_tree_digraph, to_graphviz
from arboretum.errors import ParameterError
from arboretum.explain.digraph import TreeSource


class Source:
    def __init__(self, source):
        self.source = source


class Digraph:
    def __init__(self, name=None, body=None, **given):
        self.name, self.body, self.given = name, body, given


@pytest.fixture
def package(monkeypatch):
    """A stand-in of the graphviz package."""
    monkeypatch.setitem(sys.modules, "graphviz", SimpleNamespace(Source=Source, Digraph=Digraph))


@pytest.fixture(autouse=True)
def without(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=300), "kind": rng.choice(list("abcdefgh"), 300)})
    X["kind"] = X["kind"].astype("category")
    return X, X["size"] + X["kind"].cat.codes + rng.normal(size=300) / 9


@pytest.fixture(scope="module")
def xgb(table):
    return arboretum.XGBRegressor(n_estimators=2, max_depth=2).fit(table[0][["size"]], table[1])


@pytest.fixture(scope="module")
def lgbm(table):
    return arboretum.LGBMRegressor(n_estimators=3, num_leaves=4, verbose=-1).fit(*table)


def test_xgboosts_form(xgb):
    graph = to_graphviz(xgb, tree_idx=1)
    assert isinstance(graph, TreeSource)
    assert str(graph) == graph.source
    source = graph.source
    tree = xgb.trees_[1]
    assert source.startswith('digraph {\n    graph [rankdir=TB]\n    0 [label="size <= ')
    assert source.count("->") == len(tree) - 1
    assert source.count("leaf=") == tree.n_leaves
    assert source.count("#0000FF") == source.count("#FF0000") == (len(tree) - 1) / 2
    assert source == to_graphviz(xgb.get_booster(), num_trees=1).source
    assert source == to_graphviz(booster=xgb, tree_idx=-1).source
    leaves = sorted(float(text) for text in re.findall(r"leaf=([-\d.]+)", source))
    weight = xgb._anatomy().ensemble.weights[1]
    assert leaves == pytest.approx(sorted(tree.value[tree.leaves, 0, 0] * weight), abs=1e-5)


def test_looks_of_xgboosts_form(xgb, tmp_path):
    (tmp_path / "names").write_text("0 length q\n")
    source = to_graphviz(
        xgb, rankdir="LR", yes_color="green", no_color="red", with_stats=True, fmap=tmp_path / "names",
        condition_node_params={"shape": "box"}, leaf_node_params={"shape": "circle"}, bgcolor="#eeeeee",
    ).source  # fmt: skip
    tree = xgb.trees_[0]
    assert 'graph [rankdir=LR bgcolor="#eeeeee"]' in source
    assert "length <= " in source
    assert "size" not in source
    assert source.count("color=green") == source.count("color=red") == source.count("shape=box")
    assert source.count("shape=circle") == tree.n_leaves
    assert source.count("gain=") == len(tree) - tree.n_leaves
    assert source.count("cover=") == len(tree)


def test_the_package_draws(package, xgb, lgbm):
    assert isinstance(to_graphviz(xgb), Source)
    graph = create_tree_digraph(lgbm, name="Tree4", node_attr={"color": "red"})
    assert isinstance(graph, Digraph)
    assert (graph.name, graph.given) == ("Tree4", {"node_attr": {"color": "red"}})
    assert all(line.startswith("\t") and line.endswith("\n") for line in graph.body)


def test_without_the_package_there_is_the_text(lgbm, tmp_path):
    graph = create_tree_digraph(lgbm, 1, name="Tree4", node_attr={"color": "red"})
    assert graph.source.startswith("digraph Tree4 {\n\tnode [color=red]\n\tgraph [")
    for draw in (graph.render, graph.view, graph.pipe):
        with pytest.raises(ImportError, match="pip install graphviz, or use plot_tree"):
            draw(format="png")
    graph.save(tmp_path / "tree.dot")
    assert (tmp_path / "tree.dot").read_text(encoding="utf-8") == graph.source


def test_lightgbms_form(lgbm):
    everything = (
        "split_gain", "internal_value", "internal_weight", "internal_count", "leaf_weight", "leaf_count",
        "data_percentage",
    )  # fmt: skip
    source = create_tree_digraph(lgbm.booster_, show_info=everything).source
    splits = re.findall(r"\tsplit\d+ \[label=<(.*?)> color", source)
    leaves = re.findall(r"\tleaf\d+ \[label=<(.*?)> color", source)
    assert (len(splits), len(leaves)) == (3, 4)
    assert [word in splits[0] for word in (" gain", " value", " weight", "count: 300", "100.00%")]
    assert all("gain" not in leaf and "weight" in leaf and "count: " in leaf for leaf in leaves)
    plain = create_tree_digraph(lgbm, precision=None).source
    assert "count" not in plain
    assert "% of data" not in plain
    frame = lgbm.booster_.trees_to_dataframe().query("tree_index == 0 and left_child.isna()")
    found = [float(text) for text in re.findall(r"leaf \d: <B>(.*?)</B>", plain)]
    assert sorted(found) == pytest.approx(sorted(frame["value"]))
    assert "rankdir=LR" in source
    assert "rankdir=TB" in create_tree_digraph(lgbm, orientation="vertical").source


def test_categories_and_their_number(lgbm):
    whole = create_tree_digraph(lgbm).source
    short = create_tree_digraph(lgbm, max_category_values=2).source
    assert "<B>kind</B> =<B>" in whole
    assert "||...||" not in whole
    assert "||...||" in short


def test_the_path_of_a_row(lgbm, table):
    row = table[0][:1]
    source = create_tree_digraph(lgbm, tree_index=2, example_case=row).source
    nodes = [
        line.split()[0] for line in source.splitlines() if "color=blue" in line and "->" not in line
    ]
    assert nodes[0] == "split0"
    assert nodes[-1] == f"leaf{lgbm.predict(row, pred_leaf=True)[0][2]}"
    assert source.count("color=blue") == 2 * len(nodes) - 1
    for wrong in (table[0][:0], table[0][:2], [1.0, "a"]):
        with pytest.raises(ParameterError, match=r"example_case must have a single row\."):
            create_tree_digraph(lgbm, example_case=wrong)


def test_monotone_constraints_are_colours(table):
    X, y = table
    X = X.assign(more=X["size"] ** 2)[["size", "more"]]
    model = arboretum.LGBMRegressor(
        n_estimators=1, num_leaves=8, verbose=-1, monotone_constraints=[1, -1]
    ).fit(X, y + 9 * X["size"] - 9 * X["more"])
    source = create_tree_digraph(model).source
    assert re.search(r'<B>size</B>.*fillcolor="#ddffdd"', source)
    assert re.search(r'<B>more</B>.*fillcolor="#ffdddd"', source)
    assert "monotone constraints" in source


@pytest.mark.parametrize(
    "name", ["C45Classifier", "RandomForestRegressor", "GradientBoostingClassifier"]
)
def test_every_model_of_trees(name, table):
    X, y = table
    y = y if name.endswith("Regressor") else y > 3
    model = getattr(arboretum, name)()
    model.set_params(**{"n_estimators": 2} if "n_estimators" in model.get_params() else {}).fit(
        X, y
    )
    for source in (to_graphviz(model).source, create_tree_digraph(model).source):
        assert source.count("->") >= 2


def test_a_tree_that_is_not_there(lgbm, xgb):
    with pytest.raises(
        IndexError, match=r"tree_index is out of range. create_tree_digraph: there is no"
    ):
        create_tree_digraph(lgbm, tree_index=83)
    with pytest.raises(IndexError, match=r"^to_graphviz: there is no tree 83"):
        to_graphviz(xgb, tree_idx=83)
    with pytest.raises(ParameterError, match="show_info of create_tree_digraph must be one of"):
        create_tree_digraph(lgbm, show_info=["gain"])
    with pytest.raises(ParameterError, match="max_category_values"):
        create_tree_digraph(lgbm, max_category_values=0)
    with pytest.raises(ParameterError, match="num_trees and tree of to_graphviz are one"):
        to_graphviz(xgb, tree_idx=0, num_trees=1)
    with pytest.raises(ParameterError, match="rankdir, orientation"):
        create_tree_digraph(lgbm, orientation="up")
