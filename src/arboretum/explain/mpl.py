"""The one place that imports matplotlib, and says what to do where it is missing."""

from __future__ import annotations

from types import ModuleType

__all__ = ["require_pyplot"]


def require_pyplot(caller: str) -> ModuleType:
    """Return `matplotlib.pyplot`, or raise an ImportError that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} draws with matplotlib, which could not be imported: "
            "pip install arboretum-trees[plot]"
        ) from error
    return plt
