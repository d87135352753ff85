"""Documentation is put together on every Python, whether its compiler keeps the indentation or not."""

import inspect
from types import SimpleNamespace

import pytest

import arboretum
from arboretum.base.documentation import described

PUBLIC = {name: getattr(arboretum, name) for name in arboretum.__all__}
TEXT = """A model.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> for number in range(2):
    ...     print(number)
    """


@pytest.mark.parametrize("name", [name for name, found in PUBLIC.items() if inspect.isclass(found)])
def test_no_public_class_shows_a_place_that_was_not_filled(name):
    assert "[parameters]" not in (PUBLIC[name].__doc__ or "")
    assert "[attributes]" not in (PUBLIC[name].__doc__ or "")


@pytest.mark.parametrize("text", [TEXT, inspect.cleandoc(TEXT)], ids=["indented", "dedented"])
def test_the_compiler_may_dedent_docstrings(text):
    owner = SimpleNamespace(__doc__=text, _attributes={"done_ : int": "How much.", "n_ : int": ""})
    owner.__init__ = lambda self: None
    assert described(owner).splitlines()[6:] == [
        "Attributes",
        "----------",
        "done_ : int",
        "    How much.",
        "n_ : int",
        "",
        "Examples",
        "--------",
        ">>> for number in range(2):",
        "...     print(number)",
    ]
