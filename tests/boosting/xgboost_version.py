"""Which XGBoost is installed: the estimators follow 3.2, and 3.3 changed some of its answers."""

import pytest


def skip_newer_xgboost(changed: str) -> None:
    """Skip what cannot be held against XGBoost 3.3 or newer, which does ``changed`` in another way."""
    xgboost = pytest.importorskip("xgboost")
    if tuple(int(part) for part in xgboost.__version__.split(".")[:2]) >= (3, 3):
        pytest.skip(f"XGBoost {xgboost.__version__} has other {changed} than 3.2")
