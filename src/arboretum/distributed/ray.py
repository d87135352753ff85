"""Ray: datasets as tables, lazy predictions, and how many actors a fit starts.

model = arboretum.LGBMClassifier().fit(dataset, "label")    # y is the name of a column
model.predict(dataset)                                      # lazy: a dataset of predictions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from arboretum.distributed.answers import answer_part, check_row_wise, names_of_answer
from arboretum.distributed.boosting import fit_collection
from arboretum.distributed.ray_cluster import RayCluster

__all__ = ["actors"]

_SETTINGS: ContextVar[dict[str, Any]] = ContextVar("settings", default={})  # noqa: B039


@contextmanager
def actors(number: int | None = None, cpus: int | None = None, **options: Any) -> Iterator[None]:
    """Set how many actors the fits in this context start.

    Parameters
    ----------
    number : int, optional
        Default: one for every node with CPUs.
    cpus : int, optional
        CPUs, and threads, of each; default: those of the smallest node but one.
    **options
        Other arguments of `RayCluster`: ``patience``, ``grace``.
    """
    token = _SETTINGS.set({"actors": number, "cpus": cpus, **options})
    try:
        yield
    finally:
        _SETTINGS.reset(token)


def is_collection(given: Any) -> bool:
    """Return True for Ray's datasets."""
    return hasattr(given, "map_batches") and hasattr(given, "materialize")


def gather(given: Any) -> Any:
    """Return the rows of a dataset."""
    import ray

    blocks = ray.get(pieces_of(given))
    return frame_of_blocks(blocks)


def in_order(given: Any) -> Any:
    """Return the dataset, from now on read in order: else rows have other numbers at every run."""
    given.context.execution_options.preserve_order = True
    return given


def known_rows(given: Any) -> int | None:
    """Return the number of rows of a dataset in the object store; None where it would have to be computed."""
    from ray.data.dataset import MaterializedDataset

    return given.count() if isinstance(given, MaterializedDataset) else None


def pieces_of(given: Any) -> list[Any]:
    """Return references to the blocks of a dataset, in order."""
    bundles = in_order(given).materialize().iter_internal_ref_bundles()
    return [ref for bundle in bundles for ref in bundle.block_refs]


def homes_of(given: Any, cluster: RayCluster) -> list[str | None]:
    """Return nothing: Ray moves blocks to the actors, whose nodes it chooses."""
    return []


def frame_of_blocks(blocks: list[Any]) -> Any:
    """Return blocks, tables of Arrow or frames of pandas, as one frame."""
    import pandas as pd

    frames = [one if isinstance(one, pd.DataFrame) else one.to_pandas() for one in blocks]
    frames = [one for one in frames if len(one)] or frames[:1]
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def make_cluster(model: Any) -> RayCluster:
    """Return a cluster as `actors` has set it."""
    return RayCluster(**_SETTINGS.get())


def fit(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Fit a model to a dataset."""
    import arboretum.distributed.ray as adapter

    return fit_collection(adapter, model, method, args, kwargs)


def answer(
    model: Any, method: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Return the predictions for a dataset as a lazy dataset: "prediction", or a column per class."""
    import ray

    X, rest = args[0], args[1:]
    check_row_wise(method, X, "X.to_pandas()")
    model._check_fitted()
    held = ray.put(model)  # once, not in every task

    def predict(frame: Any) -> Any:
        values = answer_part(frame, ray.get(held), method, rest, kwargs)
        found = names_of_answer(model, method, values).to_frame(frame)
        found = found.to_frame() if found.ndim == 1 else found
        return found.rename(columns=str)

    return in_order(X).map_batches(predict, batch_format="pandas", batch_size=None)
