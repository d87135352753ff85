"""The errors arboretum raises on purpose.

    ArboretumError
    ├── ParameterError   a parameter is unknown, mistyped or out of range      (also ValueError, TypeError)
    ├── DataError        a table cannot be used: which column, which rows, why (also ValueError)
    │   └── LightGBMError    columns that predict(validate_features=True) of LightGBM's estimators refuses
    ├── ModelFileError   a file is not a model, is damaged or is too new       (also ValueError)
    └── WorkerError      workers of a cluster were lost too often              (also RuntimeError)

Every message states what is wrong, where, and what to do next. All but the last are ValueErrors too, because
that is what scikit-learn's own tools expect to catch. A `SuspiciousColumnWarning` names columns that will
probably harm a model (data/column_warnings.py), an `UnseenCategoryWarning` categories that the training
table did not have.
"""


class ArboretumError(Exception):
    """Base class: `except ArboretumError` catches everything arboretum raises on purpose."""


class ParameterError(ArboretumError, ValueError, TypeError):
    """A parameter is unknown, of the wrong type or out of range."""


class UnsupportedError(ParameterError, NotImplementedError):
    """A parameter is not for this kind of model."""


class DataError(ArboretumError, ValueError):
    """A table cannot be used as it is."""


class LightGBMError(DataError):
    """The columns are not those of training; LightGBM's name of such an error."""


class ModelFileError(ArboretumError, ValueError):
    """A file is not a saved model, is damaged, or was written by a newer version."""


class WorkerError(ArboretumError, RuntimeError):
    """Workers of a cluster were lost too often to finish."""


class SuspiciousColumnWarning(UserWarning):
    """A column of a training table will probably harm the model: which one, why, and what to do.

    It can be silenced or made an error like any warning, e.g.
    ``warnings.simplefilter("ignore", SuspiciousColumnWarning)``.
    """


class UnseenCategoryWarning(UserWarning):
    """New rows hold categories that the training table did not have; they are treated as missing.

    A call gives one such warning for all columns. ``unseen="ignore"`` of the model suppresses it, and so does
    ``warnings.simplefilter("ignore", UnseenCategoryWarning)``.
    """
