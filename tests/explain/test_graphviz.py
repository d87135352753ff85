"""export_graphviz: valid DOT whatever the names, and every option shows."""

import html
import io
import re
import xml.etree.ElementTree as ET

import pytest

from arboretum.errors import ParameterError
from arboretum.explain import export_graphviz
from tests.explain.explain_helpers import by_hand, categorical, leaf, numeric, split

NASTY = 'say "hi" \\n \\ <b>&lt; & ünï 東京\nnext'
TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<punctuation>->|[{}\[\];,=])'
    r"|(?P<id>[A-Za-z_][A-Za-z_0-9]*|-?\d+(?:\.\d+)?))"
)


def html_end(source, start):
    depth = 0
    for i in range(start, len(source)):
        depth += {"<": 1, ">": -1}.get(source[i], 0)
        if depth == 0:
            return i + 1
    raise AssertionError("an HTML label does not end")


def tokens(source):
    """Split DOT source as its grammar says; anything else is an error."""
    at = 0
    source = source.rstrip()
    while at < len(source):
        if source[at].isspace():
            at += 1
        elif source[at] == "<":
            end = html_end(source, at)
            yield "html", source[at + 1 : end - 1]
            at = end
        else:
            match = TOKEN.match(source, at)
            assert match, f"not DOT: {source[at : at + 40]!r}"
            yield match.lastgroup, match.group(match.lastgroup)
            at = match.end()


def labels(source):
    """Return the text of every label as Graphviz would show it, lines split."""
    found, previous = [], []
    for kind, text in tokens(source):
        if previous[-2:] == ["label", "="]:
            if kind == "html":
                root = ET.fromstring(f"<x>{text}</x>")  # fails on markup that is not balanced
                found.append([root.text or "", *(br.tail or "" for br in root)])
            else:
                unescaped = re.sub(
                    r"\\(.)", lambda m: {"n": "\0"}.get(m[1], m[1]), text[1:-1], flags=re.DOTALL
                )
                found.append([html.unescape(line) for line in unescaped.split("\0")])
        previous.append(text)
    return found


@pytest.fixture
def model():
    columns = [numeric("age", has_missing=True), categorical("city", ["Bern", "Oslo", "Rome"])]
    tree = split(
        0,
        split(1, leaf(8, 2), split(0, leaf(0, 3), leaf(1, 0), threshold=2.0), inside=[0, 2]),
        leaf(0, 6),
        threshold=30.5,
        missing=1,
    )
    return by_hand(tree, columns, ["no", "yes"])


def test_the_whole_source(model):
    assert export_graphviz(model, max_depth=0, filled=True, rounded=True, impurity=False) == (
        "digraph Tree {\n"
        'node [shape=box, style="filled, rounded", fontname="helvetica"] ;\n'
        'edge [fontname="helvetica"] ;\n'
        r'0 [label="age <= 30.5\nsamples = 20\nvalue = [9, 11]\nclass = yes", '
        'fillcolor="#fdf7e9"] ;\n'
        '1 [label="... 3 leaves", fillcolor="#ececec"] ;\n'
        '0 -> 1 [label="yes"] ;\n'
        r'2 [label="class = yes\nsamples = 6\nvalue = [0, 6]", fillcolor="#f2cf80"] ;'
        "\n"
        '0 -> 2 [label="no or missing"] ;\n'
        "}\n"
    )


@pytest.mark.parametrize("special", [False, True])
def test_any_name_survives(special):
    columns = [numeric(NASTY), categorical("c", [NASTY, "", '">'])]
    tree = split(0, split(1, leaf(1, 0), leaf(9, 0), leaf(0, 1)), leaf(0, 4), threshold=1.0)
    model = by_hand(tree, columns, [NASTY, "</x>"])
    shown = NASTY.replace("\n", " ")  # a line break would look like a new line of the box
    source = export_graphviz(model, special_characters=special, fontname='a"b')
    found = labels(source)
    sign = "≤" if special else "<="
    assert found[0][0] == f"{shown} {sign} 1"
    assert found[0][-1] == f"class = {shown}"
    empty = " " if special else ""
    assert [shown] in found
    assert [empty] in found
    assert ['">'] in found
    assert any(lines[0] == "class = </x>" for lines in found)


def test_plain_labels_are_ascii_if_the_names_are(model):
    assert export_graphviz(model).isascii()
    wide = by_hand(
        split(0, leaf(1, 0), leaf(0, 1), inside=range(20)),
        [categorical("c", [f"v{i}" for i in range(40)])],
        ["a", "b"],
    )
    assert export_graphviz(wide).isascii()
    assert "c in {v0, v1, v2, v3, v4, v5, ... 14 more}" in export_graphviz(wide)


def test_options(model):
    first = labels(export_graphviz(model, node_ids=True, proportion=True, precision=1))[0]
    assert first == [
        "node #0",
        "age <= 30.5",
        "gini = 0.5",
        "samples = 100.0%",
        "value = [0.5, 0.6]",
        "class = yes",
    ]
    untitled = labels(export_graphviz(model, label="none"))
    assert untitled[0] == ["age <= 30.5", "0.495", "20", "[9, 11]", "yes"]
    rooted = labels(export_graphviz(model, label="root"))
    assert rooted[0][1] == "gini = 0.495"
    assert rooted[1][1] == "0.459"
    assert "rankdir=LR ;" in export_graphviz(model, rotate=True)
    aligned = export_graphviz(model, leaves_parallel=True)
    assert "{rank=same ; 2 ; 3 ; 5 ; 6} ;" in aligned
    assert "fillcolor" not in aligned


def test_many_classes_show_the_largest_share():
    names = [f"k{i}" for i in range(12)]
    weights = [0] * 12
    weights[3], weights[7] = 9, 1
    model = by_hand(leaf(*weights), [numeric("a")], names)
    assert labels(export_graphviz(model, impurity=False)) == [["class = k3 (90%)", "samples = 10"]]


def test_multiway_edges_carry_the_category():
    column = categorical("outlook", ["sunny", "rain", "fog"], has_missing=True)
    model = by_hand(split(0, leaf(1), leaf(2), leaf(3), missing=1), [column])
    found = labels(export_graphviz(model))
    assert found[0][0] == "outlook"
    assert [x for x in found if len(x) == 1] == [["sunny"], ["rain or missing"], ["fog"]]


def test_regression_uses_short_names_and_a_colour_scale():
    model = by_hand(split(0, leaf(1.0), leaf(3.0), threshold=0.5), [numeric("a")])
    model.criterion = "squared_error"
    source = export_graphviz(model, filled=True)
    assert "mse = " in source
    colors = re.findall(r'fillcolor="(#[0-9a-f]{6})"', source)
    assert colors == ["#8fd0bd", "#fff8dc", "#4f9bc8"]


def test_writing_to_files(model, tmp_path):
    source = export_graphviz(model)
    path = tmp_path / "tree.dot"
    assert export_graphviz(model, path) is None
    assert path.read_text(encoding="utf-8") == source
    assert export_graphviz(model, str(path)) is None
    stream = io.StringIO()
    assert export_graphviz(model, stream) is None
    assert stream.getvalue() == source


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth of export_graphviz must be an int ≥ 0 or None"),
        ({"label": "some"}, "label of export_graphviz must be one of all, root, none, got 'some'"),
        ({"precision": -1}, "precision of export_graphviz must be an int ≥ 0"),
        ({"precision": "x"}, "precision of export_graphviz must be an int ≥ 0"),
    ],
)
def test_bad_parameters(model, options, message):
    with pytest.raises(ParameterError, match=message):
        export_graphviz(model, **options)
