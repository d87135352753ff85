"""Tables and models that several tests of boosted trees without tuning share."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd


def mixed(n=300, seed=0):
    """Return a table of numbers, words and gaps, and two classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "age": rng.integers(0, 60, n).astype(float),
            "soil": rng.choice(["clay", "sand", "peat"], n),
        }
    )
    score = np.nan_to_num(frame["size"]) + (frame["soil"] == "clay") + rng.normal(size=n) / 3
    return frame, np.where(score > 0.3, "yes", "no")


def numbers(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, 2 * X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n) / 2


def saved(model, n_jobs=None):
    """Return the bytes of a model's file, as if it had been made with some number of threads."""
    model.n_jobs = n_jobs
    found = io.BytesIO()
    model.save(found)
    return found.getvalue()
