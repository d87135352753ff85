"""Save an estimator to one file and load it back, without pickle.

    model ── _parameters_of_file() ─ encode ──┐
          ── schema_.to_state() ──────────────┼──> document ──> container ──> file
          ── _get_fitted_state() ─── encode ──┘

The file names the estimator's class. The package's list of public estimators maps it to its module,
and nothing else is ever imported. A class joins by an entry there and the methods of `base.Estimator`:

    _parameters_of_file(self) -> dict
        The parameters by their own names.
    _get_fitted_state(self) -> dict
        The result of `fit` as plain values, arrays and trees (`trees_to_state`).
    _read_fitted_state(self, state)
        The inverse. It checks its argument and raises ModelFileError if it is invalid.
"""

from __future__ import annotations

import os
from importlib import import_module
from reprlib import repr as short_repr
from typing import Any

from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.container import Source, Target, read, write
from arboretum.io.values import decode, encode
from arboretum.registry import ESTIMATORS, NAMES_IN_FILES, __version__

__all__ = ["MODEL_FORMAT", "load", "save"]

MODEL_FORMAT = 2  # 1: a dictionary of arrays for every tree

_KEYS = {"format", "arboretum", "model", "parameters", "schema", "state"}
_OPTIONAL_KEYS = {"notes"}  # only written if not empty

# Exceptions that reading invalid numbers, names and positions can raise.
_NONSENSE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def save(model: Any, path: Target, *, notes: dict[str, str] | None = None) -> None:
    """Save a fitted estimator.

    The file appears complete or not at all. The same model gives the same bytes on every machine.

    Parameters
    ----------
    model : estimator
        A fitted estimator of arboretum.
    path : path or binary file
        Where to save; an existing file is replaced. By convention it ends in ``.arb``.
    notes : dict of str to str, optional
        A few words to keep with the model, such as the name of its target column. `load` returns them
        as ``model.notes_``; they are not saved again unless they are passed again.

    Raises
    ------
    ParameterError
        If the estimator is not one of arboretum's, a parameter has no plain form (a function), or
        a note is not a string.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    >>> import io
    >>> from arboretum import CARTClassifier, load
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> file = io.BytesIO()
    >>> save(model, file, notes={"target": "species"})
    >>> again = load(file.getvalue())
    >>> again.predict(X[:2]), again.notes_
    (array([0, 0]), {'target': 'species'})
    """
    name = _name_in_files(type(model))
    if name is None:
        raise ParameterError(
            f"{type(model).__name__} is not an estimator of arboretum, so it cannot be saved natively: "
            "keep it with joblib"
        )
    if not hasattr(model, "schema_"):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {name} has nothing to save yet: call fit first")
    document = {
        "format": MODEL_FORMAT,
        "arboretum": __version__,
        "model": name,
        "parameters": _encode_parameters(model),
        "schema": model.schema_.to_state(),
        "state": encode(model._get_fitted_state(), f"the fitted state of {name}"),
    }
    if notes is not None and not _are_notes(notes):
        raise ParameterError(f"notes must be a dict of str to str, got {short_repr(notes)}")
    if notes:
        document["notes"] = encode(dict(notes), "the notes")
    write(path, document)


def load(path: Source) -> Any:
    """Load an estimator that `save` has written.

    Parameters
    ----------
    path : path, bytes or binary file
        ``bytes`` are the contents of a file, a ``str`` is a path.

    Returns
    -------
    estimator
        Of the class that was saved, fitted, with the same parameters. ``notes_`` holds the notes
        it was saved with; empty if there were none.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or needs a newer arboretum.
    OSError
        If the file does not exist or cannot be read.

    Examples
    --------
    >>> from arboretum import ModelFileError
    >>> try:
    ...     load(b"not a model")
    ... except ModelFileError as error:
    ...     print(str(error)[:63])
    these bytes cannot be loaded: it is not an arboretum model file
    """
    try:
        return _build(read(path))
    except ModelFileError as error:
        name = os.fspath(path) if isinstance(path, str | os.PathLike) else "these bytes"
        raise ModelFileError(f"{name} cannot be loaded: {error}") from error


def _build(document: dict[str, Any]) -> Any:
    """Turn a document back into an estimator."""
    _check_format(document)
    name = _own_name(document["model"])
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ModelFileError(
            f"it holds a model of an unknown kind, {short_repr(name)}, written by arboretum "
            f"{short_repr(document['arboretum'])}; this is arboretum {__version__}, a newer one "
            "may support it: upgrade with `pip install --upgrade arboretum-trees`"
        )
    from arboretum.data.schema import Schema

    try:
        schema = Schema.from_state(document["schema"])
        parameters, state = _decode_parameters(document["parameters"]), decode(document["state"])
        if not isinstance(state, dict):
            raise ModelFileError("its state is not a dictionary: it is damaged")
        notes = decode(document.get("notes", {}))
        if not _are_notes(notes):
            raise ModelFileError("its notes are not a dictionary of strings: it is damaged")
        model = _find(name)._from_fitted_state(parameters, schema, state)
        model.notes_ = notes
        return model
    except ModelFileError:
        raise
    # Estimators check their state; this is the safety net below: no file may crash a reader.
    except _NONSENSE as error:
        raise ModelFileError(
            f"its {name} is invalid ({type(error).__name__}: {str(error)[:300]})"
        ) from error


# Parameters of an ensemble may be estimators: an estimator is written as its class and its parameters, a
# list of them one by one, each with its name if it has one.
_NESTED = ("estimator", "estimators", "final_estimator")


def _encode_parameters(model: Any) -> dict[str, Any]:
    name = type(model).__name__
    plain = {}
    for key, value in model._parameters_of_file().items():
        where = f"parameter {key!r} of {name}"
        if key in _NESTED and isinstance(value, list):
            plain[key] = {"list": [_encode_item(item, where) for item in value]}
        elif key in _NESTED and not (value is None or isinstance(value, str)):
            plain[key] = _encode_estimator(value, where)
        else:
            plain[key] = encode(value, where)
    return plain


def _encode_item(item: Any, where: str) -> Any:
    """Encode an estimator of a list, or a pair of a name and an estimator (or "drop")."""
    if not isinstance(item, tuple | list):
        return _encode_estimator(item, where)
    name, value = item
    kept = encode(value, where) if isinstance(value, str) else _encode_estimator(value, where)
    return {"name": encode(name, where), "estimator": kept}


def _encode_estimator(value: Any, where: str) -> dict[str, Any]:
    inner = _name_in_files(type(value))
    if inner is None:
        raise ParameterError(
            f"{where} is a {type(value).__name__}, which is not an estimator of arboretum, so it cannot be "
            "saved natively: keep the model with joblib"
        )
    return {"model": inner, "parameters": _encode_parameters(value)}


def _decode_parameters(written: Any) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise ModelFileError("its parameters are not a dictionary: it is damaged")
    ours = {key: written[key] for key in _NESTED if isinstance(written.get(key), dict)}
    parameters = decode({key: value for key, value in written.items() if key not in ours})
    if not isinstance(parameters, dict):
        raise ModelFileError("its parameters are not a dictionary: it is damaged")
    for key, value in ours.items():
        if value.keys() == {"list"} and isinstance(value["list"], list):
            parameters[key] = [_decode_item(item) for item in value["list"]]
        else:
            parameters[key] = _decode_estimator(value)
    return parameters


def _decode_item(item: Any) -> Any:
    if not isinstance(item, dict) or item.keys() != {"name", "estimator"}:
        return _decode_estimator(item)
    name, value = decode(item["name"]), item["estimator"]
    if not isinstance(name, str):
        raise ModelFileError(
            f"one of its estimators is named {short_repr(name)}, which is no string"
        )
    return name, value if isinstance(value, str) else _decode_estimator(value)


def _decode_estimator(written: Any) -> Any:
    good = isinstance(written, dict) and written.keys() == {"model", "parameters"}
    name = _own_name(written["model"]) if good else None
    if not isinstance(name, str) or name not in ESTIMATORS:
        raise ModelFileError(f"its estimator is of an unknown kind, {short_repr(written)}")
    return _find(name)(**_decode_parameters(written["parameters"]))


def _check_format(document: dict[str, Any]) -> None:
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError("its model format is missing: it is damaged")
    if version > MODEL_FORMAT:
        raise ModelFileError(
            f"it has model format {version}, written by arboretum "
            f"{short_repr(document.get('arboretum'))}; this is arboretum {__version__} and reads "
            f"up to format {MODEL_FORMAT}: upgrade with `pip install --upgrade arboretum-trees`"
        )
    odd = sorted((set(document) - _OPTIONAL_KEYS) ^ _KEYS)
    if odd:
        raise ModelFileError(f"it is damaged: missing or surplus entries {short_repr(odd)}")


def _are_notes(notes: object) -> bool:
    return isinstance(notes, dict) and all(
        isinstance(key, str) and isinstance(text, str) for key, text in notes.items()
    )


def _name_in_files(owner: type) -> str | None:
    """Return the name under which files have a class; None for classes that are not the library's."""
    name = NAMES_IN_FILES.get(owner.__name__, owner.__name__)
    return name if name in ESTIMATORS and _find(name) is owner else None


def _own_name(written: Any) -> Any:
    """Return the name in files of a model that a file may also name by its class."""
    return NAMES_IN_FILES.get(written, written) if isinstance(written, str) else written


def _find(name: str) -> Any:
    return getattr(import_module(ESTIMATORS[name]), name)
