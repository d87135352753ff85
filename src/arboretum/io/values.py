"""Parameter values as plain JSON values and arrays, exactly and without pickle.

JSON's own types stay as they are. Others become a dictionary with one key that begins with "$":

    (1, 2)                    {"$tuple": [1, 2]}
    {0: 1.0, 1: 5.0}          {"$dict": [[0, 1.0], [1, 5.0]]}
    nan, inf, -inf            {"$float": "nan"}
    an integer over 64 bits   {"$int": "-0x1fff..."}
    np.float32(0.5)           {"$scalar": array(0.5, dtype=float32)}
    an array of strings       {"$text": array of code points, one row per string}
    an array of objects       {"$objects": {"shape": [2], "items": ["a", None]}}
    np.random.RandomState     {"$random_state": its state}
    np.random.Generator       {"$generator": {"state": its state, "seed": how it was seeded}}

Arrays of numbers are left to the container. Everything else (a function, a class, a data frame) is
refused by name: loading it would mean running code from a file.

Functions that read single values of a file return valid ones or raise a ModelFileError.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from reprlib import repr as short_repr
from typing import Any

import numpy as np

from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.container import MAX_DEPTH, MAX_INT, MIN_INT, InParts, array_size

__all__ = ["decode", "encode", "flag_of", "labels_of", "numbers_of", "whole"]


_MAX_BITS = 256
_MAX_TEXT_WIDTH = 10**6
_MAX_CODE_POINT = 0x10FFFF
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


# ---------------------------------------------------------------------- writing
def encode(value: Any, where: str, _depth: int = 0) -> Any:
    """Return the value as JSON values and arrays.

    Parameters
    ----------
    value : object
    where : str
        Name of the value for the error message: ``"parameter 'alpha' of Model"``.

    Raises
    ------
    ParameterError
        If the value has no exact plain form.

    Examples
    --------
    >>> encode((1, float("inf")), "x")
    {'$tuple': [1, {'$float': 'inf'}]}
    >>> decode(encode({1: "a", None: (2.5,)}, "x"))
    {1: 'a', None: (2.5,)}
    """
    if _depth > MAX_DEPTH:
        raise _cannot(where, f"it is nested deeper than {MAX_DEPTH} levels")
    if value is None or type(value) in (bool, str):
        return value
    if type(value) is int:
        return _encode_int(value, where)
    if type(value) is float:
        return value if isfinite(value) else {"$float": str(value)}
    if type(value) is list:
        return [encode(v, f"{where}, item {i}", _depth + 1) for i, v in enumerate(value)]
    if type(value) is tuple:
        return {
            "$tuple": [encode(v, f"{where}, item {i}", _depth + 1) for i, v in enumerate(value)]
        }
    if type(value) is dict:
        return _encode_dict(value, where, _depth)
    if isinstance(value, InParts):
        return value
    if isinstance(value, np.generic | np.ndarray):
        return _encode_numpy(value, where, _depth)
    if type(value) in (np.random.RandomState, np.random.Generator):
        return _encode_random(value, where)
    if callable(value) and not isinstance(value, type):
        raise ParameterError(
            f"{where} cannot be saved natively: it holds {short_repr(value)}, and a file that names "
            "code would have to run it; give it a plain value before saving (model.set_params), or "
            "keep the model with joblib if the function can be imported"
        )
    raise _cannot(where, f"it holds {short_repr(value)} ({type(value).__name__})")


def _cannot(where: str, why: str) -> ParameterError:
    return ParameterError(
        f"{where} cannot be saved natively: {why}; use plain values (numbers, strings, lists, "
        "tuples, dicts, NumPy arrays, random states), or keep the model with joblib"
    )


def _encode_int(value: int, where: str) -> Any:
    if MIN_INT <= value <= MAX_INT:
        return value
    if value.bit_length() > _MAX_BITS:
        raise _cannot(where, f"it holds an integer of more than {_MAX_BITS} bits")
    return {"$int": hex(value)}


def _encode_dict(value: dict[str, Any], where: str, depth: int) -> dict[str, Any]:
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {k: encode(v, f"{where}, key {k!r}", depth + 1) for k, v in value.items()}
    pairs = []
    for key, item in value.items():
        if not _is_key(key):
            raise _cannot(where, f"it holds the key {short_repr(key)}, which is not a plain scalar")
        inside = f"{where}, key {key!r}"
        pairs.append([encode(key, inside, depth + 1), encode(item, inside, depth + 1)])
    return {"$dict": pairs}


def _is_key(key: object) -> bool:
    """Return True if a key is a plain scalar.

    Tuples and very large integers are excluded because it is easy to compute any number of them with
    the same hash, and a dictionary of those takes hours to build.
    """
    if type(key) is int:
        return MIN_INT <= key <= MAX_INT
    return key is None or isinstance(key, bool | float | str | np.bool | np.number)


def _encode_numpy(value: np.generic | np.ndarray, where: str, depth: int) -> Any:
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            raise _cannot(where, f"it holds a NumPy scalar of dtype {value.dtype}")
        return {"$scalar": np.asarray(value)}
    if type(value) not in (np.ndarray, np.memmap):
        raise _cannot(where, f"it holds an array of type {type(value).__name__}")
    if value.dtype.kind == "U":
        return {"$text": _code_points(value, where)}
    if value.dtype.kind == "O":
        items = encode(value.ravel().tolist(), where, depth + 1)
        return {"$objects": {"shape": list(value.shape), "items": items}}
    if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
        raise _cannot(where, f"it holds an array of dtype {value.dtype}")
    return value


def _code_points(text: np.ndarray, where: str) -> np.ndarray:
    """Return an array of strings as numbers, with one more axis: the characters."""
    width = max(text.dtype.itemsize // 4, 1)
    if width > _MAX_TEXT_WIDTH:
        raise _cannot(where, f"it holds strings of more than {_MAX_TEXT_WIDTH} characters")
    native = np.array(text, dtype=f"=U{width}", order="C")
    return native.reshape(-1).view(np.uint32).reshape(*text.shape, width)


def _encode_random(
    value: np.random.RandomState | np.random.Generator, where: str
) -> dict[str, Any]:
    if isinstance(value, np.random.RandomState):
        state: Any = value.get_state(legacy=False)
    else:
        state = value.bit_generator.state
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise _cannot(where, f"its bit generator {short_repr(name)} is not NumPy's")
    if isinstance(value, np.random.RandomState):
        return {"$random_state": encode(state, where)}
    # The seed determines the results of `Generator.spawn`.
    seed = value.bit_generator.seed_seq
    if isinstance(seed, np.random.SeedSequence):
        return {"$generator": {"state": encode(state, where), "seed": encode(seed.state, where)}}
    return {"$generator": {"state": encode(state, where), "seed": None}}


# ---------------------------------------------------------------------- reading
def decode(value: Any) -> Any:
    """Return the argument of `encode`; raise a ModelFileError for anything it cannot have produced."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        tag, content = next(iter(value.items()))
        if tag in _DECODERS:
            return _DECODERS[tag](content)
    for key in value:
        if key.startswith("$"):
            raise ModelFileError(f"it holds a value of an unknown kind, {short_repr(key)}")
    return {key: decode(item) for key, item in value.items()}


def _expect(condition: bool, tag: str) -> None:
    if not condition:
        raise ModelFileError(f"it holds a malformed value (a {tag!r})")


def _decode_tuple(content: Any) -> tuple[Any, ...]:
    _expect(isinstance(content, list), "$tuple")
    return tuple(decode(item) for item in content)


def _decode_dict(content: Any) -> dict[str, Any]:
    _expect(isinstance(content, list), "$dict")
    result = {}
    for pair in content:
        _expect(isinstance(pair, list) and len(pair) == 2, "$dict")
        key = decode(pair[0])
        _expect(_is_key(key), "$dict")
        result[key] = decode(pair[1])
    _expect(len(result) == len(content), "$dict")
    return result


def _decode_float(content: Any) -> float:
    _expect(isinstance(content, str) and content in ("nan", "inf", "-inf"), "$float")
    return float(content)


def _decode_int(content: Any) -> int:
    _expect(isinstance(content, str) and len(content) <= _MAX_BITS // 4 + 3, "$int")
    try:
        number = int(content, 16)
    except ValueError:
        number = 0
    _expect(hex(number) == content and not MIN_INT <= number <= MAX_INT, "$int")
    return number


def _decode_scalar(content: Any) -> np.generic:
    _expect(isinstance(content, np.ndarray) and content.ndim == 0, "$scalar")
    return content[()]


def _decode_text(content: Any) -> np.ndarray:
    _expect(isinstance(content, np.ndarray) and content.dtype == np.uint32, "$text")
    _expect(content.ndim >= 1 and 1 <= content.shape[-1] <= _MAX_TEXT_WIDTH, "$text")
    _expect(content.max(initial=0) <= _MAX_CODE_POINT, "$text")
    return content.reshape(-1).view(f"=U{content.shape[-1]}").reshape(content.shape[:-1])


def _decode_objects(content: Any) -> np.ndarray:
    _expect(isinstance(content, dict) and set(content) == {"shape", "items"}, "$objects")
    shape, items = content["shape"], content["items"]
    _expect(isinstance(items, list) and array_size(shape, 8) == 8 * len(items), "$objects")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        array[i] = decode(item)
    return array.reshape(shape)


# ---------------------------------------------------------------------- random generators
def _decode_random_state(content: Any) -> np.random.RandomState:
    state = decode(content)
    generator = np.random.RandomState(_bit_generator(state, "$random_state"))
    template = generator.get_state(legacy=False)
    _expect(_alike(state, template), "$random_state")
    _expect(state["has_gauss"] in (0, 1), "$random_state")
    _set_state(state, "$random_state", generator.set_state)
    return generator


def _decode_generator(content: Any) -> np.random.Generator:
    _expect(isinstance(content, dict) and set(content) == {"state", "seed"}, "$generator")
    state = decode(content["state"])
    bits = _bit_generator(state, "$generator", _seed(decode(content["seed"])))
    _expect(_alike(state, bits.state), "$generator")
    _set_state(state, "$generator", lambda checked: setattr(bits, "state", checked))
    return np.random.Generator(bits)


def _bit_generator(state: Any, tag: str, seed: Any = 0) -> Any:
    """Return a fresh bit generator of the kind of the state."""
    name = state.get("bit_generator") if isinstance(state, dict) else None
    _expect(isinstance(name, str) and name in _BIT_GENERATORS, tag)
    return getattr(np.random, str(name))(seed)


def _seed(state: Any) -> np.random.SeedSequence:
    if state is None:
        return np.random.SeedSequence(0)
    names = {"entropy", "spawn_key", "pool_size", "n_children_spawned"}
    _expect(isinstance(state, dict) and set(state) == names, "$generator")
    _expect(state["entropy"] is not None, "$generator")  # would be drawn afresh
    numbers = (state["pool_size"], state["n_children_spawned"])
    _expect(all(type(n) is int and 0 <= n < 2**32 for n in numbers), "$generator")
    _expect(4 <= state["pool_size"] <= 256, "$generator")  # mixing takes the square of it
    try:
        return np.random.SeedSequence(**state)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"it holds a malformed seed: {error}") from error


def _alike(value: Any, template: Any) -> bool:
    """Return True if the value has the keys, types, dtypes and shapes of the template."""
    if isinstance(template, dict):
        return (
            isinstance(value, dict)
            and set(value) == set(template)
            and all(_alike(value[key], template[key]) for key in template)
        )
    if isinstance(template, np.ndarray):
        same = isinstance(value, np.ndarray) and value.dtype == template.dtype
        return same and value.shape == template.shape
    return type(value) is type(template)


def _set_state(
    state: dict[str, Any], tag: str, set_state: Callable[[dict[str, Any]], None]
) -> None:
    """Set the state after checks that NumPy lacks (it would hang, or read outside its arrays)."""
    inner = state["state"]
    if state["bit_generator"] == "MT19937":
        key = inner["key"]  # it uses one bit of the first word; all zeros would draw only zeros
        _expect(0 <= inner["pos"] <= 624 and bool(key[0] >> 31 or key[1:].any()), tag)
    if state["bit_generator"] == "Philox":
        _expect(0 <= state["buffer_pos"] <= 4, tag)
    if state["bit_generator"].startswith("PCG64"):
        _expect(inner["inc"] % 2 == 1, tag)
    _expect(state.get("has_uint32", 0) in (0, 1), tag)
    try:
        set_state(state)
    except (TypeError, ValueError, LookupError, OverflowError) as error:
        raise ModelFileError(f"it holds a malformed random state: {error}") from error


_DECODERS: dict[str, Callable[[Any], Any]] = {
    "$tuple": _decode_tuple,
    "$dict": _decode_dict,
    "$float": _decode_float,
    "$int": _decode_int,
    "$scalar": _decode_scalar,
    "$text": _decode_text,
    "$objects": _decode_objects,
    "$random_state": _decode_random_state,
    "$generator": _decode_generator,
}


# ---------------------------------------------------------------------- single values of a file
def whole(state: dict[str, Any], name: str, least: int) -> int:
    """Return an integer of at least ``least``.

    >>> whole({"seed": 7}, "seed", 0)
    7
    """
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelFileError(f"{name} must be an int ≥ {least}, got {value!r}")
    return value


def flag_of(state: dict[str, Any], name: str) -> bool:
    """Return True or False."""
    value = state[name]
    if value is not True and value is not False:
        raise ModelFileError(f"{name} must be True or False, got {value!r}")
    return value


def labels_of(value: Any, least: int = 1) -> np.ndarray:
    """Return class labels."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < least:
        raise ModelFileError(f"the classes are not a list of labels, at least {least}")
    if not np.all(value[:-1] < value[1:]):
        raise ModelFileError("the classes are not different labels in their order")
    if any(isinstance(label, float) and not isfinite(label) for label in value.tolist()):
        raise ModelFileError("one of the classes is NaN or infinite")
    return value


def numbers_of(state: dict[str, Any], name: str, size: int | None = None) -> np.ndarray:
    """Return finite numbers; ``size`` of them, or at least one."""
    value = state[name]
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 1:
        raise ModelFileError(f"its {name!r} is not an array of numbers")
    if not len(value) or not np.isfinite(value).all():
        raise ModelFileError(f"its {name!r} is empty or not finite")
    if size is not None and len(value) != size:
        raise ModelFileError(f"its {name!r} holds {len(value)} numbers, there must be {size}")
    return value
