"""The scale of the sources: what it counts, and that its lists of functions are true."""

import ast

import pytest

from benchmarks import weight


def test_comments_docstrings_and_blank_lines_weigh_nothing():
    text = (
        '"""About."""\n\nx = """two\nlines"""  # one\n# no\ndef f():\n    """No."""\n    return x\n'
    )
    assert weight.code_lines(text) == 4


def test_the_lists_name_functions_of_this_checkout():
    for named in (weight.GROW_LOOPS, weight.SPLIT_SCANS, weight.WALKS, weight.CHOOSERS):
        folder = weight.HERE / "src" / "arboretum"
        trees = {file: ast.parse((folder / file).read_text("utf-8")) for file in named}
        assert weight.missing_names(trees, named) == []


@pytest.mark.slow
def test_all_sources_are_weighed():
    figures = weight.measure(weight.HERE)
    assert figures["code lines without textbook"] > figures["code lines of the textbook"] > 1000
    assert figures["compiled functions"] > figures["kernels with more than nine parameters"] > 0


def test_a_name_that_is_gone_is_an_error(monkeypatch):
    monkeypatch.setattr(weight, "WALKS", {"engine/predict/walk.py": "walk_on_water"})
    monkeypatch.setattr(
        weight, "_sources", lambda root: {"engine/predict/walk.py": "def walk(): ..."}
    )
    for name in ("GROW_LOOPS", "SPLIT_SCANS", "CHOOSERS"):
        monkeypatch.setattr(weight, name, {})
    with pytest.raises(LookupError, match=r"engine/predict/walk\.py:walk_on_water"):
        weight.measure(weight.HERE)
