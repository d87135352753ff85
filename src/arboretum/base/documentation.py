"""The documentation of an estimator, put together from what is declared of its parameters.

    [parameters]    ──►   max_depth : int ≥ 1 or None, default=None
                              Depth at which growing stops.

The type is the rule that the value is checked by, the default that of the signature, the sentence that of the
declaration: none of them is written twice.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

__all__ = ["described", "parameter_lines"]

_WIDTH = 100
_INDENT = " " * 4
_ARTICLE = re.compile(r"(^|, | or )an? ")


def described(owner: Any) -> str:
    """Return the docstring of a class with its parameters and attributes in their places.

    >>> from arboretum import CARTClassifier
    >>> [line for line in CARTClassifier.__doc__.splitlines() if "max_depth :" in line]
    ['    max_depth : int ≥ 1 or None, default=None']
    """
    text = owner.__doc__
    if "[parameters]" in text:
        text = text.replace(f"{_INDENT}[parameters]\n", _parameters(owner))
    if "[attributes]" in text:
        entries = (_entry(name, words) for name, words in owner._attributes.items())
        text = text.replace(f"{_INDENT}[attributes]\n", "".join(entries))
    return text


def parameter_lines(owner: Any) -> str:
    """Return the parameters of a class as its documentation has them.

    >>> from arboretum import CARTClassifier
    >>> print(parameter_lines(CARTClassifier).splitlines()[0])
    criterion : "gini", "entropy", "log_loss" or "error", default="gini"
    """
    return textwrap.dedent(_parameters(owner))


def _parameters(owner: Any) -> str:
    """Return an entry for every argument of the constructor."""
    entries = []
    for name, argument in inspect.signature(owner.__init__).parameters.items():
        if name != "self":
            declared = owner._parameters[name]
            head = f"{name} : {_kind(declared.rule.phrase)}, default={_shown(argument.default)}"
            entries.append(_entry(head, declared.text))
    return "".join(entries)


def _kind(phrase: str) -> str:
    """Return the phrase of a rule as a type: "an int ≥ 1 or None" is "int ≥ 1 or None"."""
    return _ARTICLE.sub(r"\1", phrase).replace("'", '"')


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and 0 < value < 1 else repr(value)


def _entry(head: str, text: str) -> str:
    return f"{_INDENT}{head}\n{_body(text)}"


def _body(text: str) -> str:
    if not text:
        return ""
    inner = 2 * _INDENT
    words = " ".join(text.split())
    return (
        textwrap.fill(
            words,
            _WIDTH,
            initial_indent=inner,
            subsequent_indent=inner,
            break_on_hyphens=False,
            break_long_words=False,
        )
        + "\n"
    )
