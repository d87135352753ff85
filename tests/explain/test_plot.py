"""plot_tree: what is drawn, that it fits, and what happens without matplotlib."""

import subprocess
import sys

import matplotlib
import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch
from sklearn.datasets import load_diabetes, load_iris, load_wine

from arboretum import CARTRegressor, LGBMRegressor, XGBRegressor
from arboretum.errors import ParameterError
from arboretum.explain import plot_tree
from arboretum.explain.colors import class_colors, node_colors, value_limits
from arboretum.explain.drawing import fold
from arboretum.explain.labels import read_model
from tests.explain.explain_helpers import by_hand, categorical, from_sklearn, leaf, numeric, split

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def classes(n_leaves, X=None, y=None):
    X, y = load_wine(return_X_y=True) if X is None else (X, y)
    return sklearn.tree.DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=0).fit(X, y)


def noisy(n_leaves):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = np.digitize(X[:, 0] * X[:, 1] + rng.normal(size=2000) / 2, [-0.5, 0.5])
    return from_sklearn(classes(n_leaves, X, y), ["age", "income", "height", "weight", "score"])


def boxes(ax):
    return [p for p in ax.patches if isinstance(p, FancyBboxPatch)]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def check_fit(ax):
    """Boxes do not overlap, lie in the axes, and hold their text."""
    figure = ax.figure
    figure.canvas.draw()
    extents = [box.get_window_extent() for box in boxes(ax)]
    for i, a in enumerate(extents):
        for b in extents[i + 1 :]:
            apart = a.x1 <= b.x0 or b.x1 <= a.x0 or a.y1 <= b.y0 or b.y1 <= a.y0
            assert apart
    frame = ax.get_window_extent()
    for box in extents:
        assert frame.x0 <= box.x0
        assert box.x1 <= frame.x1
        assert frame.y0 <= box.y0
        assert box.y1 <= frame.y1
    renderer = figure.canvas.get_renderer()
    inside = 0
    for text in ax.texts:
        extent = text.get_window_extent(renderer)
        holders = [b for b in extents if b.x0 <= extent.x0 and extent.x1 <= b.x1]
        x, y = (extent.x0 + extent.x1) / 2, (extent.y0 + extent.y1) / 2
        at = [b for b in extents if b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1]
        assert all(b in holders for b in at)
        inside += bool(at)
    assert inside > len(extents)


@pytest.mark.parametrize("n_leaves", [2, 8, 30])
def test_a_new_figure_fits_the_tree(n_leaves):
    ax = plot_tree(noisy(n_leaves))
    assert len(boxes(ax)) == 2 * n_leaves - 1
    check_fit(ax)
    assert min(text.get_fontsize() for text in ax.texts) > 6


@pytest.mark.parametrize("size", [(6, 4), (20, 3), (5, 12)])
def test_given_axes_get_a_font_that_fits(size):
    _, ax = plt.subplots(figsize=size)
    assert plot_tree(noisy(9), ax=ax) is ax
    check_fit(ax)


def test_regression_and_long_names_fit():
    X, y = load_diabetes(return_X_y=True)
    peer = sklearn.tree.DecisionTreeRegressor(max_leaf_nodes=12, random_state=0).fit(X, y * 1e5)
    names = [f"a_very_long_column_name_with_number_{i}_of_the_export" for i in range(10)]
    ax = plot_tree(from_sklearn(peer, names))
    check_fit(ax)
    (scale,) = ax.child_axes
    low, high = (
        float(t.get_text().strip("≤≥ ").replace("−", "-")) for t in scale.get_xticklabels()[::2]
    )
    assert low < y.mean() * 1e5 < high


def test_words_and_edges():
    columns = [
        categorical("outlook", ["sunny", "rain", "a long description of fog at sea"], True),
        numeric("$a$_{b}", has_missing=True),
    ]
    tree = split(
        0,
        split(1, leaf(3, 0), leaf(0, 2), threshold=1.5, missing=1),
        leaf(1, 1),
        leaf(0, 4),
        missing=1,
    )
    ax = plot_tree(by_hand(tree, columns, ["no", "yes"]), node_ids=True)
    found = texts(ax)
    for line in ("sunny", "rain or missing", "a long description", "of fog at sea", "yes"):
        assert line in found
    for line in ("no or missing", "node #0", "outlook", "$a$_{b} ≤ 1.5", "class = no"):
        assert line in found
    check_fit(ax)  # "$a$" is text, not mathematics


def test_fill_legend_and_shares():
    model = from_sklearn(classes(4))
    ax = plot_tree(model, class_names=["Barolo", "Grignolino", "Barbera"])
    legend = ax.get_legend()
    assert [t.get_text() for t in legend.get_texts()] == ["Barolo", "Grignolino", "Barbera"]
    fills = [to_hex(box.get_facecolor()) for box in boxes(ax)]
    assert fills == node_colors(read_model(model, "plot_tree"))
    strips = [p for p in ax.patches if type(p).__name__ == "Rectangle"]
    assert len(strips) == np.count_nonzero(model.tree_.value)
    assert {to_hex(strip.get_facecolor()) for strip in strips} == set(class_colors(3))
    plain = plot_tree(model, filled=False, rounded=False)
    assert plain.get_legend() is None
    assert {to_hex(box.get_facecolor()) for box in boxes(plain)} == {"#ffffff"}


def test_folded_branches():
    model = noisy(20)
    ax = plot_tree(model, max_depth=1)
    folded = [text for text in texts(ax) if text.startswith("…")]
    shown = int(np.count_nonzero(model.tree_.is_leaf & (model.tree_.depth <= 2)))
    assert sum(int(text.split()[1]) for text in folded) + shown == 20
    check_fit(ax)


def test_other_trees_draw():
    X, y = load_iris(return_X_y=True)
    several = from_sklearn(classes(4, X, np.column_stack([y, y > 0])))
    ax = plot_tree(several)
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["mixed", "pure"]
    alone = plot_tree(by_hand(leaf(2.5), [numeric("a")]))
    assert "value = 2.5" in texts(alone)
    assert alone.get_legend() is None
    many = [f"class {i}" for i in range(30)]
    crowd = plot_tree(by_hand(leaf(*range(30)), [numeric("a")], many))
    assert "class = class 29 (7%)" in texts(crowd)
    entries = [t.get_text() for t in crowd.get_legend().get_texts()]
    assert entries[-1] == "… 11 more"
    assert len(entries) == 20
    sole = by_hand(leaf(5), [numeric("a")], ["only"])
    assert "class = only" in texts(plot_tree(sole))


def test_one_odd_leaf_does_not_take_the_whole_scale():
    odd = split(0, leaf(-1e9, count=1), leaf(2.0, count=200), threshold=0.0)
    tree = by_hand(split(0, odd, leaf(4.0, count=200), threshold=1.0), [numeric("a")]).tree_
    assert value_limits(tree) == (2.0, 4.0)


def test_given_font_size_is_used():
    small = plot_tree(noisy(5), fontsize=5)
    large = plot_tree(noisy(5), fontsize=15)
    assert {t.get_fontsize() for t in small.texts} == {5, 4.5}
    ratio = large.figure.get_size_inches() / small.figure.get_size_inches()
    assert ratio[0] == pytest.approx(3)


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, ["short"]),
        ("two words", 5, ["two", "words"]),
        ("snake_case_name <= 3.5", 10, ["snake_", "case_name", "<= 3.5"]),
        ("x" * 12, 5, ["xxxxx", "xxxxx", "xx"]),
        ("a b c d e f g h", 3, ["a b", "c d", "e …"]),
        ("", 5, [""]),
    ],
)
def test_fold(text, width, expected):
    assert fold(text, width) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth of plot_tree must be an int ≥ 0 or None"),
        ({"label": None}, "label of plot_tree must be one of all, root, none"),
        ({"precision": 1.5}, "precision of plot_tree must be an int ≥ 0"),
        ({"fontsize": 0}, "fontsize of plot_tree must be a number > 0 or None, got 0"),
        ({"fontsize": "big"}, "fontsize of plot_tree must be a number > 0 or None, got 'big'"),
        ({"feature_names": ["a"]}, "feature_names of plot_tree must hold 5 names"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        plot_tree(noisy(3), **options)
    assert not plt.get_fignums()  # an error leaves no empty figure behind


def test_missing_matplotlib_says_what_to_install(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"plot_tree .* pip install arboretum-trees\[plot\]"):
        plot_tree(noisy(3))


def test_importing_explain_loads_no_matplotlib():
    code = "import sys, arboretum.explain; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_large_tree_is_drawn_from_the_top():
    rng = np.random.default_rng(0)
    model = CARTRegressor().fit(rng.normal(size=(3000, 4)), rng.normal(size=3000))
    ax = plot_tree(model)
    (note,) = [text.get_text() for text in ax.texts if "hidden" in text.get_text()]
    assert f"of {model.get_depth()} levels" in note
    assert f"of {model.tree_.node_count:,} nodes are hidden, max_depth shows more" in note
    assert max(ax.figure.get_size_inches()) < 30
    boxes = [text for text in ax.texts if "leaves" in text.get_text()]
    assert 2 <= len(boxes) <= 24
    plain = plot_tree(model, max_depth=2)
    assert not any("hidden" in text.get_text() for text in plain.texts)


@pytest.fixture(scope="module")
def booster():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return LGBMRegressor(n_estimators=3, num_leaves=5, verbose=-1).fit(X, y), X


def test_names_of_the_peers(booster, tmp_path):
    model, _ = booster
    for name in ("tree_index", "tree_idx", "num_trees"):
        assert plot_tree(model.booster_, **{name: 2}).get_title() == "tree 2 of 3"
    (tmp_path / "map").write_text("".join(f"{f} col{f} q\n" for f in range(10)))
    ax = plot_tree(booster=model, fmap=tmp_path / "map", with_stats=True)
    assert any(text.startswith("col") for text in texts(ax))
    assert sum(text.endswith(" gain") for text in texts(ax)) == 4
    assert sum(text.endswith(" weight") for text in texts(ax)) == 9
    assert not any(word in text for text in texts(ax) for word in ("cover", "samples"))
    bare = texts(plot_tree(model, with_stats=False))
    assert not any(word in text for text in bare for word in ("gain", "weight", "samples"))
    info = texts(plot_tree(model, show_info=["internal_count", "leaf_count", "data_percentage"]))
    assert "count: 442" in info
    assert "100.00% of data" in info
    booster = XGBRegressor(n_estimators=2).fit([[0.0], [1.0]], [0, 1]).get_booster()
    assert "f0 ≤ 0.5" in texts(plot_tree(booster))
    booster.feature_names = ["length"]
    assert "length ≤ 0.5" in texts(plot_tree(booster))
    _, given = plt.subplots()
    assert plot_tree(booster, given) is given
    with pytest.raises(IndexError, match=r"tree_index is out of range\."):
        plot_tree(model, tree_index=83)
    with pytest.raises(
        ParameterError, match=r"no parameter 'tree_indx' \(did you mean 'tree_index'"
    ):
        plot_tree(model, tree_indx=1)


@pytest.mark.parametrize("name", ["wine", "booster"])
def test_from_left_to_right(name, booster):
    model = from_sklearn(classes(6)) if name == "wine" else booster[0]
    upright, ax = plot_tree(model), plot_tree(model, rankdir="LR")
    check_fit(ax)
    assert texts(ax) == texts(upright)
    for one, k in ((upright, 1), (ax, 0)):
        places = [box.get_window_extent().get_points() for box in boxes(one)]
        start, rest = places[0], places[1:]
        assert all((p[0, k] > start[1, k]) if k == 0 else (p[1, k] < start[0, k]) for p in rest)
    assert len(boxes(plot_tree(model, orientation="horizontal", figsize=(9, 5), dpi=50))) == len(
        places
    )


def test_sizes_colours_and_the_path_of_a_row(booster):
    model, X = booster
    ax = plot_tree(model, figsize=(15, 8), dpi=30)
    assert ax.figure.get_size_inches().tolist() == [15, 8]
    assert ax.figure.dpi == 30
    with pytest.raises(TypeError, match=r"figsize must be a tuple of 2 elements\."):
        plot_tree(model, figsize="large")
    ax = plot_tree(
        model, yes_color="green", no_color="red", condition_node_params={"fillcolor": "#78bceb"},
        leaf_node_params={"fillcolor": "#e48038", "color": "black", "fontcolor": "white"},
    )  # fmt: skip
    edges = [to_hex(p.get_edgecolor()) for p in ax.patches if not isinstance(p, FancyBboxPatch)]
    assert edges.count("#008000") == edges.count("#ff0000") == 4
    fills = [to_hex(box.get_facecolor()) for box in boxes(ax)]
    assert fills.count("#78bceb") == 4
    assert fills.count("#e48038") == 5
    marked = plot_tree(model, example_case=X[:1])
    nodes = sum(to_hex(box.get_edgecolor()) == "#0000ff" for box in boxes(marked))
    edges = [p for p in marked.patches if not isinstance(p, FancyBboxPatch)]
    assert sum(to_hex(edge.get_edgecolor()) == "#0000ff" for edge in edges) == nodes - 1 > 0


def test_categories_in_a_box():
    X = pd.DataFrame({"c": pd.Categorical(list("abcdefgh") * 5)})
    model = CARTRegressor(max_depth=1).fit(X, X["c"].cat.codes)
    assert any("… 3 more" in text for text in texts(plot_tree(model, max_category_values=1)))
    assert not any("more" in text for text in texts(plot_tree(model, max_category_values=8)))
