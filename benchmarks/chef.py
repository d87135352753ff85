"""chefboost's C4.5 as a contender: one fit in a process of its own.

chefboost writes its trees as Python source into the working directory and imports them from there, so
every run gets a fresh process and a temporary folder; the time is that of the whole process. It wants
words as objects, where pandas 3 has strings.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.process import fresh_python

__all__ = ["run_chefboost"]

_SCRIPT = """
import json, sys
sys.path.insert(0, ".")
import pandas as pd
pd.options.future.infer_string = False
from chefboost import Chefboost
table, test = pd.read_pickle("train.pkl"), pd.read_pickle("test.pkl")
config = {"algorithm": "C4.5", "enableParallelism": False}
model = Chefboost.fit(table, config=config, silent=True)
print(json.dumps([str(Chefboost.predict(model, row)) for row in test.values.tolist()]))
"""


def run_chefboost(X: Any, y: np.ndarray, X_test: Any) -> np.ndarray:
    """Fit chefboost on a table of words and return its answers to the held-out rows, as text.

    Raises
    ------
    RuntimeError
        If it fails: the error that it names.
    """
    with tempfile.TemporaryDirectory() as folder:
        # numbers as a target would mean regression
        table = X.assign(Decision=[f"class {k}" for k in y]).astype(object)
        table.to_pickle(Path(folder, "train.pkl"))
        X_test.astype(object).to_pickle(Path(folder, "test.pkl"))
        printed = fresh_python(["-W", "ignore", "-c", _SCRIPT], Path(folder), "chefboost")
    return np.array([text.removeprefix("class ") for text in json.loads(printed.splitlines()[-1])])
