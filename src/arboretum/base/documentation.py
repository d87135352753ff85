"""The documentation of an estimator, assembled from the declarations of its parameters.

    [parameters]    ──►   max_depth : int ≥ 1 or None, default=None
                              Depth at which growing stops.

The type comes from the rule that checks the value, the default from the signature and the sentence from the
declaration, so none of them is written twice.
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
    """Return the docstring of a class with its parameters and attributes filled in.

    >>> from arboretum import CARTClassifier
    >>> [line for line in CARTClassifier.__doc__.splitlines() if "max_depth :" in line]
    ['max_depth : int ≥ 1 or None, default=None']
    """
    text = inspect.cleandoc(owner.__doc__)  # as Python 3.13 compiles it
    if "[parameters]" in text:
        text = text.replace("[parameters]", parameter_lines(owner))
    if "[attributes]" in text:
        entries = (_entry(name, words) for name, words in owner._attributes.items())
        text = text.replace("[attributes]", "\n".join(entries))
    return text


def parameter_lines(owner: Any) -> str:
    """Return the lines on the parameters of a class, as its documentation has them.

    >>> from arboretum import CARTClassifier
    >>> print(parameter_lines(CARTClassifier).splitlines()[0])
    criterion : "gini", "entropy", "log_loss" or "error", default="gini"
    """
    entries = []
    for name, argument in inspect.signature(owner.__init__).parameters.items():
        if name != "self":
            declared = owner._parameters[name]
            head = f"{name} : {_kind(declared.rule.phrase)}, default={_shown(argument.default)}"
            entries.append(_entry(head, declared.text))
    return "\n".join(entries)


def _kind(phrase: str) -> str:
    """Return the phrase of a rule as a type: "an int ≥ 1 or None" is "int ≥ 1 or None"."""
    return _ARTICLE.sub(r"\1", phrase).replace("'", '"')


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and 0 < value < 1 else repr(value)


def _entry(head: str, text: str) -> str:
    if not text:
        return head
    body = textwrap.fill(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return f"{head}\n{body}"
