"""Tables for the tests of second-order boosting, and small helpers."""

import io

import numpy as np
import pandas as pd


def numbers(n=400, seed=0, missing=0.1):
    """Few distinct values, so that bins are the values themselves; a smooth target without ties."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 20, size=(n, 5)).astype(float)
    y = X[:, 0] * 0.37 + np.sin(X[:, 1]) * 3 + rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def halves(y):
    return (y > np.median(y)).astype(int)


def thirds(y):
    return np.digitize(y, np.quantile(y, [0.3, 0.7]))


def mixed(n=400, seed=1):
    """Numbers and categories, with missing values."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "city": pd.Categorical(rng.choice(list("abcdefgh"), n)),
            "colour": rng.choice(["red", "green", "blue"], n),
            "age": rng.integers(18, 60, n).astype(float),
        }
    )
    y = frame["city"].cat.codes % 3 * 1.3 + (frame["colour"] == "red") * 1.1 + frame["age"] * 0.02
    y = y.to_numpy() + rng.normal(size=n) * 0.3
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    return frame, y


def saved(model):
    """Return the bytes of a model's file, whatever its number of threads was."""
    file = io.BytesIO()
    jobs = model.n_jobs
    model.set_params(n_jobs=1).save(file)
    model.set_params(n_jobs=jobs)
    return file.getvalue()
