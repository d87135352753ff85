"""Multiway branches, groups, fractional cases and empty leaves in text, Graphviz and plots."""

import gzip
import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from arboretum import (
    C45Classifier,
    C45Rules,
    ID3Classifier,
    export_graphviz,
    export_text,
    plot_tree,
)
from arboretum.errors import ParameterError
from arboretum.explain.drawing import fold
from arboretum.explain.labels import read_model

TABLES = Path(__file__).resolve().parents[1] / "data" / "c45"
NOTE = "A missing value goes down every branch, to each by its share of the cases."


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def table(name):
    path = TABLES / f"{name}.csv"
    if path.exists():
        return pd.read_csv(path)
    with gzip.open(f"{path}.gz", "rt") as file:
        return pd.read_csv(file)


def fitted(name, model=None):
    frame = table(name)
    y = frame.pop(frame.columns[-1])
    return (model or C45Classifier()).fit(frame, y)


@pytest.fixture(scope="module")
def soybean():
    return fitted("soybean")


def spread_model(**parameters):
    """Two cases of "a", one of "b", one that misses its value: 2 + 2/3 and 1 + 1/3 cases."""
    model = C45Classifier(min_cases=1, pruning=None, collapse=False, **parameters)
    return model.fit(pd.DataFrame({"c": ["a", "a", "b", None]}), ["x", "x", "y", "y"])


def groups_model():
    """Four values in three groups."""
    classes = {"a": "yz", "b": "y", "c": "xzz", "d": "xxxxyyyy"}
    rows = [(value, label) for value, labels in classes.items() for label in labels]
    values, y = zip(*rows)
    model = C45Classifier(subset=True, max_depth=1, pruning=None)
    return model.fit(pd.DataFrame({"c": values}), y)


# ---------------------------------------------------------------------- text
def test_leaves_count_cases_as_c45_does():
    assert export_text(spread_model()) == (
        f"|--- c = a\n|   |--- class: x (2.7/0.7)\n|--- c = b\n|   |--- class: y (1.3)\n({NOTE})\n"
    )


def test_whole_cases_are_whole_numbers_and_nothing_is_noted():
    assert export_text(fitted("weather-nominal")) == (
        "|--- outlook = overcast\n"
        "|   |--- class: yes (4)\n"
        "|--- outlook = rainy\n"
        "|   |--- windy = False\n"
        "|   |   |--- class: yes (3)\n"
        "|   |--- windy = True\n"
        "|   |   |--- class: no (2)\n"
        "|--- outlook = sunny\n"
        "|   |--- humidity = high\n"
        "|   |   |--- class: no (3)\n"
        "|   |--- humidity = normal\n"
        "|   |   |--- class: yes (2)\n"
    )


def test_tiny_weights_are_not_written_as_zero():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b"]})
    model = C45Classifier(min_cases=1e-5, pruning=None, collapse=False)
    text = export_text(model.fit(frame, [0, 0, 1, 0], [1e-4, 1e-4, 2e-4, 1e-4]))
    assert "class: 0 (0.0002)" in text
    assert "class: 1 (0.0003/0.0001)" in text


def test_groups_have_a_line_each():
    text = export_text(groups_model())
    assert re.findall(r"c in \{(.*)\}", text) == ["a", "b, d", "c"]
    assert text.count("class: ") == 3


def test_a_branch_of_missing_values():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b", None, None]})
    text = export_text(ID3Classifier().fit(frame, [0, 0, 1, 1, 2, 2]))
    assert "|--- c is missing\n|   |--- class: 2 (2)\n" in text
    assert NOTE not in text


def test_empty_leaves_say_so(soybean):
    n_empty = int((soybean.tree_.weight[soybean.tree_.leaves] == 0).sum())
    text = export_text(soybean)
    assert n_empty > 5
    assert text.count("(no cases)") == n_empty
    assert text.count(NOTE) == 1
    assert export_text(soybean, show_weights=True).count("(no cases)") == n_empty


def test_the_note_is_about_columns_that_are_asked():
    frame = pd.DataFrame({"c": ["a", "a", "b", "b"], "unused": ["u", None, "u", None]})
    model = C45Classifier(min_cases=1, pruning=None).fit(frame, [0, 0, 1, 1])
    assert model.schema_.columns[1].has_missing
    assert NOTE not in export_text(model)


def test_a_single_leaf_has_its_cases_too():
    assert export_text(C45Classifier().fit([[1], [2], [3]], ["x", "x", "y"])) == (
        "|--- class: x (3/1)\n"
    )


def test_laplace_changes_shares_but_not_cases():
    plain, smooth = spread_model(), spread_model(laplace=True)
    assert not np.allclose(plain.tree_.value, smooth.tree_.value)
    assert export_text(plain) == export_text(smooth)
    for node in range(3):
        shares = [read_model(m, "test").shares(node)[0] for m in (plain, smooth)]
        assert np.allclose(*shares)


def test_a_cut_branch_is_told_as_in_binary_trees(soybean):
    assert "truncated branch of depth" in export_text(soybean, max_depth=1)


# ---------------------------------------------------------------------- Graphviz
def test_graphviz_asks_the_column_and_answers_with_values():
    source = export_graphviz(groups_model())
    first = '0 [label="c\\nentropy = 1.531\\ncases = 14/8\\nvalue = [5, 6, 3]\\nclass = y"]'
    assert first in source
    assert re.findall(r"-> \d+ \[label=\"(.*?)\"", source) == ["a", "b, d", "c"]
    assert '2 [label="y (9/4)\\nentropy = 0.991\\nvalue = [4, 5, 0]"]' in source


def test_graphviz_draws_empty_leaves_lightly_and_notes_once(soybean):
    source = export_graphviz(soybean, filled=True)
    boxes = [line for line in source.splitlines() if "no cases" in line]
    assert boxes
    assert all('style="dashed"' in line and "fillcolor" not in line for line in boxes)
    assert sum('style="dashed"' in line for line in source.splitlines()) == 2 * len(boxes)
    assert source.count(NOTE) == 1
    assert f'label="{NOTE}" ; labelloc=b ;' in source
    html = export_graphviz(soybean, special_characters=True)
    assert f"label=<{NOTE}> ; labelloc=b ;" in html


@pytest.mark.parametrize("proportion", [False, True])
def test_impurity_is_entropy_and_cases_may_be_shares(proportion):
    source = export_graphviz(spread_model(), proportion=proportion)
    assert "entropy = 1" in source
    assert "gain" not in source
    assert ("cases = 100.0%" in source) is proportion
    assert ('"x (66.7%)' if proportion else '"x (2.7/0.7)') in source


def test_id3_boxes_name_the_entropy_too():
    model = ID3Classifier().fit([["a"], ["a"], ["b"]], [0, 0, 1])
    assert "entropy = 0.918" in export_graphviz(model)


# ---------------------------------------------------------------------- plots
def words(ax):
    return [text.get_text() for text in ax.texts]


def overlaps(ax):
    """Return how many boxes of the plot overlap."""
    patches = [p for p in ax.patches if type(p).__name__ == "FancyBboxPatch"]
    boxes = [(p.get_x(), p.get_y(), p.get_width(), p.get_height()) for p in patches]
    return sum(
        a[0] < b[0] + b[2] and b[0] < a[0] + a[2] and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]
        for i, a in enumerate(boxes)
        for b in boxes[:i]
    )


def test_a_tree_of_sixty_leaves_is_drawn_without_overlap(soybean):
    ax = plot_tree(soybean)
    assert overlaps(ax) == 0
    assert ax.figure.get_size_inches()[0] < 40
    shown = words(ax)
    assert shown.count("no cases") == int((soybean.tree_.weight[soybean.tree_.leaves] == 0).sum())
    assert shown.count(NOTE) == 1
    assert not any(line.endswith("…") for line in shown)
    ax.figure.canvas.draw()


def test_empty_leaves_are_dashed_and_white(soybean):
    boxes = [p for p in plot_tree(soybean).patches if type(p).__name__ == "FancyBboxPatch"]
    empty = soybean.tree_.weight == 0
    assert [p.get_linestyle() == "--" for p in boxes] == empty.tolist()
    white = [p.get_facecolor()[:3] == (1.0, 1.0, 1.0) for p in boxes]
    assert white == empty.tolist()


def test_long_groups_are_cut_on_an_edge():
    values = [f"value number {i}" for i in range(12)]
    frame = pd.DataFrame({"c": np.repeat(values, 3)})
    model = C45Classifier(subset=True, pruning=None).fit(frame, np.repeat([0, 1], 18))
    shown = words(plot_tree(model))
    assert "c" in shown
    assert any("value number 0" in line for line in shown)
    assert "yes" not in shown
    ax = plot_tree(model)
    assert overlaps(ax) == 0


def test_a_plot_without_missing_values_has_no_note():
    assert NOTE not in words(plot_tree(fitted("weather-nominal")))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("frog-eye-leaf-spot (31/1)", ["frog-eye-leaf-", "spot (31/1)"]),
        ("diaporthe-pod-&-stem-blight (5.5)", ["diaporthe-pod-", "&-stem-blight", "(5.5)"]),
        ("temperature <= -12.75", ["temperature", "<= -12.75"]),
        ("anthracnose (12345.6/7890.1)", ["anthracnose", "(12345.6/7890.1)"]),
    ],
)
def test_long_words_break_at_hyphens_but_numbers_never(text, lines):
    assert fold(text, 16) == lines


# ---------------------------------------------------------------------- what is no tree
@pytest.mark.parametrize("function", [export_text, export_graphviz, plot_tree])
def test_rules_are_no_tree(function):
    model = C45Rules().fit(pd.DataFrame({"c": ["a", "a", "b", "b"]}), [0, 0, 1, 1])
    with pytest.raises(ParameterError, match=r"needs a tree, but C45Rules is a list of rules"):
        function(model)
