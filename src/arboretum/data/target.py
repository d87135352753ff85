"""Targets and weights: y becomes class codes or numbers, sample_weight becomes float64.

    y  "no", "yes", "no"   ──encode_classes──▶  classes ["no", "yes"],  codes [[0], [1], [0]]
    y  3.5, 7              ──numbers──────────▶  [[3.5], [7.0]]

Both always have one column per output. A target is never missing or infinite, a class is
never a fraction, and a string is never read as a number. Messages name the rows and use the wording that
scikit-learn's own tools look for.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from arboretum.data.checks import DataTypeError, check_values, list_rows, warn_caller
from arboretum.data.table import array_of_lists, is_sparse, unmask
from arboretum.data.values import (
    Raw,
    RawNumbers,
    Words,
    from_array,
    refuse_complex,
    sort_values,
    value_family,
)
from arboretum.errors import DataError

__all__ = [
    "check_lengths",
    "check_target_count",
    "encode_classes",
    "numbers",
    "raw_target",
    "weights",
]

_SMALL_RANGE = 1 << 16  # whole numbers within this range are counted, not sorted


def encode_classes(
    y: Any, *, n_rows: int | None = None, estimator_name: str = "model"
) -> tuple[list[np.ndarray], np.ndarray, bool]:
    """Turn class labels into codes.

    Parameters
    ----------
    y : array-like, Series or DataFrame of shape (n,) or (n, n_outputs)
        Strings, booleans or whole numbers.
    n_rows : int, optional
        Number of rows of X, to check the length of y.
    estimator_name : str
        Name of the estimator for messages.

    Returns
    -------
    classes : list of arrays
        The sorted classes of each output.
    codes : int32 array of shape (n, n_outputs)
        Positions in ``classes``.
    is_1d : bool
        y was one-dimensional.

    Raises
    ------
    DataError
        y is missing or infinite somewhere, holds fractions, or is not a target at all.

    Examples
    --------
    >>> encode_classes(["no", "yes", "no"])
    ([array(['no', 'yes'], dtype='<U3')], array([[0],
           [1],
           [0]], dtype=int32), True)
    """
    columns, text_dtype, is_1d = _read_target(y, n_rows, estimator_name)
    classes, codes = [], []
    for raw in columns:
        if isinstance(raw, Words):
            values, code = _word_classes(raw, text_dtype)
        else:
            values, code = _number_classes(raw)
        classes.append(values)
        codes.append(code.astype(np.int32, copy=False))
    if len(codes) == 1:
        return classes, np.ascontiguousarray(codes[0])[:, np.newaxis], is_1d
    return classes, np.column_stack(codes), is_1d


def numbers(
    y: Any, *, n_rows: int | None = None, estimator_name: str = "model"
) -> tuple[np.ndarray, bool]:
    """Turn a target into float64 numbers.

    Parameters
    ----------
    y : array-like, Series or DataFrame of shape (n,) or (n, n_outputs)
    n_rows : int, optional
        Number of rows of X, to check the length of y.
    estimator_name : str
        Name of the estimator for messages.

    Returns
    -------
    values : float64 array of shape (n, n_outputs)
        May share memory with y: do not write to it.
    is_1d : bool
        y was one-dimensional.

    Raises
    ------
    DataError
        y is missing or infinite somewhere, or does not hold numbers.

    Examples
    --------
    >>> numbers([1, 2.5])
    (array([[1. ],
           [2.5]]), True)
    """
    columns, _, is_1d = _read_target(y, n_rows, estimator_name)
    values = [_as_numbers(raw) for raw in columns]
    for column in values:
        check_values(column[:, np.newaxis], ["y"])  # float64 must represent it exactly
    if len(values) == 1:
        return _plain_array(values[0])[:, np.newaxis], is_1d
    return np.ascontiguousarray(np.column_stack(values), dtype=np.float64), is_1d


def _plain_array(values: np.ndarray) -> np.ndarray:
    """Return floats in one piece; copied if read-only, which is another type to kernels."""
    return np.require(values, np.float64, ["C", "W"])


def weights(sample_weight: Any, n: int) -> np.ndarray | None:
    """Turn sample weights into a float64 array of ``n`` entries; None stays None.

    Parameters
    ----------
    sample_weight : None, number or array-like of shape (n,)
        A number is the weight of every row.
    n : int
        Number of rows.

    Returns
    -------
    float64 array or None
        May share memory with `sample_weight`: do not write to it.

    Raises
    ------
    DataError
        A weight is missing, infinite or negative, or all are zero.

    Examples
    --------
    >>> weights([1, 0, 2], 3)
    array([1., 0., 2.])
    """
    if sample_weight is None:
        return None
    given = _weight_array(sample_weight)
    if given.ndim == 0:
        if isinstance(sample_weight, np.ndarray):
            raise DataTypeError(
                "Input should have at least 1 dimension i.e. satisfy `len(x.shape) > 0`, got scalar "
                f"`{given!r}` instead. Give sample_weight one entry per row"
            )
        given = np.full(n, given)
    if given.ndim != 1:
        raise DataError(
            f"sample_weight must be one number or 1-D, got an array of shape {given.shape}"
        )
    _check_weight_count(len(given), n)
    with np.errstate(all="ignore"):
        total = given.sum()
    for bad, what in (
        (np.isnan(given), "sample_weight holds NaN"),
        (np.isinf(given), "sample_weight holds infinite values"),
        (given < 0, "Negative values in data passed to `sample_weight`"),
    ):
        if bad.any():
            raise DataError(
                f"{what} ({list_rows(np.flatnonzero(bad))}): a weight is a "
                "number ≥ 0, and 0 leaves a row out"
            )
    if total == 0:
        raise DataError("sample_weight is zero in every row: at least one must be positive")
    if not np.isfinite(total):
        raise DataError("the sum of sample_weight is too large for float64: scale the weights down")
    return given


def check_lengths(X: Any, y: Any, sample_weight: Any = None) -> None:
    """Raise a DataError if y or the weights have other rows than X, as far as arrays show it unread.

    >>> check_lengths(np.zeros((3, 2)), np.zeros(2))
    Traceback (most recent call last):
    arboretum.errors.DataError: Found input variables with inconsistent numbers of samples: [3, 2] ...
    """
    table: Any = getattr(X, "shape", ())
    if len(table) != 2:
        return
    for given, check in ((sample_weight, _check_weight_count), (y, check_target_count)):
        shape: Any = getattr(given, "shape", ())
        if len(shape) == 1:
            check(shape[0], table[0])


def _check_weight_count(n: int, n_rows: int) -> None:
    if n != n_rows:
        raise DataError(
            f"sample_weight.shape == ({n},), expected ({n_rows},): sample_weight has {n} entries, "
            f"X has {n_rows} rows: give one per row"
        )


def check_target_count(n: int, n_rows: int) -> None:
    """Raise a DataError if y has other rows than X."""
    if n != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {n}] "
            "(rows of X, rows of y)"
        )


def _weight_array(sample_weight: Any) -> np.ndarray:
    try:
        given = np.asarray(sample_weight)
        refuse_complex(given.dtype)
        if given.dtype.kind not in "fiubO":
            raise TypeError(f"dtype {given.dtype}")
        return _plain_array(given).reshape(given.shape)
    except (TypeError, ValueError) as error:
        raise DataError(f"sample_weight must hold numbers: {error}") from error


# --------------------------------------------------------------------------- reading
def raw_target(y: Any, *, n_rows: int | None = None, caller: str = "model") -> Raw:
    """Return a target of one column as it was given; errors as of `encode_classes`.

    >>> raw_target(["no", "yes"]).values
    ['no', 'yes']
    """
    columns, _, _ = _read_target(y, n_rows, caller)
    if len(columns) > 1:
        raise DataError(f"{caller} takes one target, y has {len(columns)} columns: choose one")
    return columns[0]


def _read_target(
    y: Any, n_rows: int | None, estimator_name: str
) -> tuple[list[Raw], np.dtype | None, bool]:
    """Return the outputs as raw columns, the dtype of an array of strings, and whether y is 1-D."""
    columns, text_dtype, is_1d = _target_columns(y, estimator_name)
    n = len(_row_array(columns[0])) if columns else 0
    if n == 0:
        raise DataError("Found array with 0 sample(s) in y while a minimum of 1 is required.")
    if n_rows is not None:
        check_target_count(n, n_rows)
    for i, raw in enumerate(columns):
        _refuse_missing(raw, "y" if len(columns) == 1 else f"y (output {i})")
    if not is_1d and len(columns) == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples, ), for example using ravel(). It is taken as one target",
            DataConversionWarning,
        )
        is_1d = True
    return columns, text_dtype, is_1d


def _target_columns(y: Any, estimator_name: str) -> tuple[list[Raw], np.dtype | None, bool]:
    if y is None:
        raise DataError(f"{estimator_name} requires y to be passed, but the target y is None")
    if isinstance(y, str | bytes | dict):
        raise DataError(f"y should be a 1d array or a table of targets, got {type(y).__name__}")
    if is_sparse(y):
        raise DataTypeError("sparse multilabel-indicator for y is not supported. Pass y.toarray()")
    if isinstance(y, np.ma.MaskedArray):
        y = unmask(y)
    elif isinstance(y, list | tuple):
        y = _array_of_labels(y)
    elif not isinstance(y, np.ndarray):
        from arboretum.data.frames import frame_columns, is_frame, is_series, series_column

        if is_series(y):
            return [series_column(y, "y")], None, True
        if is_frame(y):
            return frame_columns(y)[1], None, False
        y = np.asarray(y)
    refuse_complex(y.dtype)
    if y.ndim not in (1, 2):
        raise DataError(f"y should be a 1d array, got an array of shape {y.shape} instead")
    text_dtype = y.dtype if y.dtype.kind == "U" else None
    outputs = [y] if y.ndim == 1 else list(y.T)
    return [from_array(output, "y") for output in outputs], text_dtype, y.ndim == 1


def _array_of_labels(y: Any) -> np.ndarray:
    """Turn lists with strings into an array of strings, whole numbers too, as ``np.asarray`` does.

    >>> _array_of_labels(["none", 1, 2])
    array(['none', '1', '2'], dtype='<U4')
    """
    values = array_of_lists(y, "y")
    kinds = {type(v) for v in values.flat} if values.dtype.kind == "O" else set()
    return values.astype(str) if str in kinds and kinds <= {str, np.str_, int} else values


def _row_array(raw: Raw) -> np.ndarray:
    return raw.codes if isinstance(raw, Words) else raw.values


def _refuse_missing(raw: Raw, what: str) -> None:
    values = _row_array(raw)
    if isinstance(raw, Words):
        missing, infinite = values < 0, np.zeros(0, dtype=bool)
    elif values.dtype.kind != "f":
        return
    else:
        with np.errstate(all="ignore"):
            if np.isfinite(values.sum()):
                return
        missing, infinite = np.isnan(values), np.isinf(values)
    if missing.any():
        raise DataError(
            f"Input {what} contains NaN ({list_rows(np.flatnonzero(missing))}): drop the rows "
            "whose target is missing"
        )
    if infinite.any():
        raise DataError(
            f"Input {what} contains infinity ({list_rows(np.flatnonzero(infinite))}): replace it "
            "or drop these rows"
        )


# --------------------------------------------------------------------------- classes
def _word_classes(raw: Words, text_dtype: np.dtype | None) -> tuple[np.ndarray, np.ndarray]:
    _check_one_family(raw)
    seen = np.bincount(raw.codes, minlength=len(raw.values)) > 0
    values = sort_values([v for v, occurs in zip(raw.values, seen) if occurs])
    if values and isinstance(values[0], float):
        _refuse_fractions(np.array(values))
    position = {value: i for i, value in enumerate(values)}
    new_code = np.array([position.get(v, -1) for v in raw.values], dtype=np.int32)
    if values and isinstance(values[0], str):
        classes = np.array(values, dtype=text_dtype or object)
    else:
        classes = np.array(values)
    return classes, new_code[raw.codes]


def _check_one_family(raw: Words) -> None:
    present = np.unique(raw.codes)
    families = {value_family(raw.values[c]) for c in present}
    if "datetime" in families:
        _refuse_times("datetime")
    if len(families) > 1:
        raise DataError(
            "Unknown label type: y mixes strings and numbers; make all labels strings, or all "
            "numbers"
        )


def _number_classes(raw: RawNumbers) -> tuple[np.ndarray, np.ndarray]:
    values = raw.values
    if raw.family != "number":
        _refuse_times(raw.family)
    if values.dtype.kind == "f":
        _refuse_fractions(values)
        if raw.dtype.startswith(("int", "uint")):
            values = values.astype(np.int64)  # whole numbers given as objects
        else:
            return np.unique(values, return_inverse=True)
    if values.dtype.kind != "b":
        low, high = int(values.min()), int(values.max())
        if high - low < _SMALL_RANGE and high < 2**62:
            offset = values.astype(np.int64) - low
            present = np.flatnonzero(np.bincount(offset))
            rank = np.zeros(high - low + 1, dtype=np.int32)
            rank[present] = np.arange(len(present))
            return (present + low).astype(values.dtype), rank[offset]
    return np.unique(values, return_inverse=True)


def _refuse_fractions(values: np.ndarray) -> None:
    fraction = np.flatnonzero(values != np.floor(values))
    if len(fraction):
        raise DataError(
            "Unknown label type: continuous. A classifier needs classes, y holds fractions "
            f"({list_rows(fraction)}, e.g. {values[fraction[0]]}): use a regressor, or turn the "
            "labels into whole numbers or strings"
        )


def _refuse_times(family: str) -> NoReturn:
    raise DataError(
        f"Unknown label type: {family}. A target must hold classes or numbers, not dates or times: "
        "convert y first, e.g. dates to seconds or to years"
    )


# --------------------------------------------------------------------------- numbers
def _as_numbers(raw: Raw) -> np.ndarray:
    if isinstance(raw, RawNumbers):
        if raw.family != "number":
            _refuse_times(raw.family)
        return raw.values
    for code in np.unique(raw.codes).tolist():
        value = raw.values[code]
        if isinstance(value, str):
            rows = np.flatnonzero(raw.codes == code)
            raise DataError(
                f"y holds strings ({list_rows(rows)}: {value!r}), a regressor needs numbers: "
                "convert y, e.g. y.astype(float), or use a classifier"
            )
    _check_one_family(raw)
    return np.array(raw.values, dtype=np.float64)[raw.codes]
