"""Small tables with words and gaps, and comparisons of them that several tests share."""

from functools import cache

import numpy as np
import pandas as pd

from arboretum import compare

CHEAP = ["CART", "RandomForest", "LGBM"]


@cache
def table(n: int = 160) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return rows, two classes and numbers."""
    rng = np.random.default_rng(3)
    age, hours = rng.integers(17, 80, n).astype(float), rng.normal(38, 9, n).round(1)
    job = rng.choice(["craft", "farm", "sales"], n).astype(object)
    z = 0.06 * (age - 45) + 0.08 * (hours - 38) + 1.5 * (job == "farm") + rng.normal(size=n)
    job[rng.random(n) < 0.1] = None
    hours[rng.random(n) < 0.1] = np.nan
    X = pd.DataFrame({"age": age, "hours": hours, "job": job})
    return X, pd.Series(np.where(z > 0.4, "yes", "no"), name="paid"), pd.Series(z, name="sum")


@cache
def of_classes():
    X, y, _ = table()
    return compare(X, y, models=CHEAP, folds=4, progress_bar=False)


@cache
def of_numbers():
    X, _, y = table()
    return compare(X, y, models=CHEAP, folds=4, progress_bar=False)
