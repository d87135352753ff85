"""Fits of tables in memory, as fits of the same rows in batches: a patch for tests of others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from arboretum.base import estimator
from arboretum.boosting.second_order.boosted_model import BoostedModel
from arboretum.streams.fit import fit as streamed_fit


@contextmanager
def in_batches(n: int, seed: int) -> Iterator[list[str]]:
    """Let second-order boosters read tables in ``n`` batches; yield the names of those that did."""
    rng, fitted = np.random.default_rng(seed), []
    sources: dict[int, Any] = {}

    def source(X: Any) -> Any:
        """Return the function that yields the batches of a table; the same one for the same table."""
        if not isinstance(X, np.ndarray) and not hasattr(X, "iloc"):
            return X
        ends = np.sort(rng.integers(0, len(X), n - 1)).tolist()
        rows = getattr(X, "iloc", X)
        parts = [rows[lo:hi] for lo, hi in pairwise([0, *ends, len(X)]) if lo < hi]
        return sources.setdefault(id(X), (X, lambda: iter(parts)))[1]

    def fit(model: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        X = source(args[0])
        if X is args[0] or not isinstance(model, BoostedModel):
            return method(model, *args, **kwargs)
        fitted.append(type(model).__name__)
        if kwargs.get("eval_set"):
            kwargs["eval_set"] = [(source(other), y) for other, y in kwargs["eval_set"]]
        return streamed_fit(model, method, (X, *args[1:]), kwargs)

    def answer(model: Any, method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return method(model, *args, **kwargs)

    adapter = SimpleNamespace(fit=fit, answer=answer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimator, "adapter_of", lambda given, by_name: adapter)
        yield fitted
