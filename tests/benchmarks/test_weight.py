"""The scale of the sources: what it counts, and that its lists of functions are true."""

import pytest

from benchmarks import weight


def test_comments_docstrings_and_blank_lines_weigh_nothing():
    text = (
        '"""About."""\n\nx = """two\nlines"""  # one\n# no\ndef f():\n    """No."""\n    return x\n'
    )
    assert weight.code_lines(text) == 4


def test_the_lists_name_functions_of_this_checkout():
    figures = weight.measure(weight.HERE)
    assert figures["code lines without textbook"] > figures["code lines of the textbook"] > 1000
    assert figures["compiled functions"] > figures["kernels with more than nine parameters"] > 0


def test_a_name_that_is_gone_is_an_error(monkeypatch):
    monkeypatch.setattr(weight, "WALKS", {"engine/predict/walk.py": "walk_on_water"})
    with pytest.raises(LookupError, match=r"engine/predict/walk\.py:walk_on_water"):
        weight.measure(weight.HERE)
