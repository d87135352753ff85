"""The textbook as a whole: everything importable, in an order in which it can be read."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

import arboretum
import arboretum.textbook as book

FOLDER = Path(book.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")
ORDER = re.findall(r"^    (\w+)\.py ", book.__doc__, re.MULTILINE)


def test_every_file_is_in_the_reading_order_once():
    assert sorted(ORDER) == FILES


@pytest.mark.parametrize("name", ORDER)
def test_a_file_builds_on_the_ones_before_it(name):
    source = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    used = {
        node.module.rsplit(".", 1)[1]
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("arboretum.textbook.")
    }
    # a docstring's examples may look ahead, what runs may not
    assert used <= set(ORDER[: ORDER.index(name)])


def test_further_reading_is_marked_in_the_order_and_in_the_file():
    marked = set(re.findall(r"^    (\w+)\.py +\+ ", book.__doc__, re.MULTILINE))
    first = {name: (FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in FILES}
    assert marked == {
        name for name, text in first.items() if text[3:].startswith("Further reading: ")
    }
    assert {"discretize", "c45_rule_list", "column_scan", "gradient_scan"} <= marked


def test_no_name_of_the_package_means_something_else_here():
    names = {name for name in dir(book) if not name.startswith("_")} - set(FILES)
    assert not names & set(arboretum.__all__)


@pytest.mark.parametrize(
    "name", ["arboretum.textbook", *(f"arboretum.textbook.{f}" for f in FILES)]
)
def test_the_examples_of_every_file_are_right(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0
    assert result.attempted > 0


def test_every_public_name_is_importable_from_the_textbook_and_means_one_thing():
    home = {}
    for name in FILES:
        module = importlib.import_module(f"arboretum.textbook.{name}")
        for public in module.__all__:
            assert public not in home, (public, name, home.get(public))
            assert public not in FILES, f"{public} is also a file"
            assert getattr(book, public) is getattr(module, public)
            home[public] = name
    assert len(home) > 250
