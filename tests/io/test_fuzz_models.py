"""Files of every estimator, changed in structure: a model that can be asked anything, or a ModelFileError.

`test_fuzz.py` changes bytes of a small model; here the document is changed (an element of an array, its
length or type, an entry, a whole part put elsewhere), as a proper container would bring it: lengths and
checksums are right and the checks of the models themselves are reached. Every eighth case is really written
and read; the others skip that, which takes as long as all the checks. Whatever loads is asked everything it
knows.

A case is seeded by its name and number: `outcome("XGBClassifier", 17)` repeats it. 5,000 run with every
test, ``pytest -m slow`` runs a million; FUZZ_MUTATIONS says how many instead.
"""

import io
import os
import random
import warnings
from collections import Counter
from functools import cache

import numpy as np
import pytest

import arboretum as A
from arboretum.errors import ArboretumError, ModelFileError
from arboretum.io import native
from arboretum.io.container import read, write
from tests.io.model_cases import MAKERS, answers, fitted, mixed_table, saved

EDGES = [0, 1, -1, 2, 3, 31, 32, 255, 2**15, 2**31 - 1, 2**31, 2**53, 2**62, -(2**31)]
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.0, 7.0, 1e300, 5e-324, np.nan, np.inf, -np.inf]
ROWS = mixed_table(9, seed=3)
HOLES = mixed_table(5, seed=4).assign(number=np.nan, word=["a", "zebra", None, "b", "c"])


@cache
def document(name):
    return read(saved(fitted(name)))


def places(part):
    """Return every (container, key) of a document."""
    found, stack = [], [part]
    while stack:
        here = stack.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        for key in keys:
            found.append((here, key))
            if isinstance(here[key], dict | list):
                stack.append(here[key])
    return found


def change_array(rng, array):
    """Return an array with other elements, another length or type."""
    array = np.array(array)  # those of a file are read-only
    way = rng.randrange(8)
    if way < 5 and array.size:
        flat = array.reshape(-1)
        for _ in range(rng.choice([1, 1, 2, 5])):
            at = rng.randrange(array.size)
            if array.dtype.kind == "f":
                with np.errstate(over="ignore"):
                    flat[at] = rng.choice([*FLOATS, rng.gauss(0, 3)])
            elif array.dtype.kind == "b":
                flat[at] = not flat[at]
            else:
                limits = np.iinfo(array.dtype)
                near = int(flat[at]) + rng.choice([-2, -1, 1, 2])
                wanted = rng.choice([near, near, rng.randrange(9), rng.choice(EDGES)])
                flat[at] = min(max(wanted, int(limits.min)), int(limits.max))
        return array
    if way == 5 and array.ndim:
        return array[: rng.randrange(len(array) + 1)].copy()
    if way == 6 and array.ndim:
        return np.concatenate([array, array[: rng.randrange(len(array) + 1)]])
    return rng.choice([array[..., None], array.astype(np.float32), np.ascontiguousarray(array.T)])


def copied(part):
    """Return a document that shares the arrays of another, which nobody writes to."""
    if isinstance(part, dict):
        return {key: copied(value) for key, value in part.items()}
    return [copied(value) for value in part] if isinstance(part, list) else part


def mutated(name, case):
    """Return a changed document."""
    rng = random.Random(f"{name} {case}")
    changed = copied(document(name))
    parts = [changed["state"]] * 8 + [changed["schema"], changed["parameters"], changed]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        every = places(rng.choice(parts))
        arrays = [(c, k) for c, k in every if isinstance(c[k], np.ndarray)]
        if arrays and rng.random() < 0.7:
            container, key = rng.choice(arrays)
            container[key] = change_array(rng, container[key])
            continue
        container, key = rng.choice(every)
        way = rng.randrange(4)
        if way == 0 and isinstance(container, dict):
            del container[key]
        elif way == 1:
            other, at = rng.choice(every)
            container[key] = copied(other[at])
        elif way == 2 and isinstance(container[key], int | float | bool):
            container[key] = rng.choice([*EDGES, 0.5, True, -1.5])
        else:
            container[key] = rng.choice([None, True, "x", [], {}, 7, [0], 0.5])
    return changed


def loaded(changed, case):
    """Return the model of a document, by way of a file if it is the case's turn."""
    if case % 8:
        return native._build(changed)
    file = io.BytesIO()
    write(file, changed)
    return A.load(file.getvalue())


def outcome(name, case):
    """Return "model", or what the error says; raise if anything else happens."""
    try:
        model = loaded(mutated(name, case), case)
    except ModelFileError as error:
        return str(error)[:60]
    for table in (ROWS, HOLES):
        try:
            found = answers(model, table)
        except ArboretumError:  # other columns than the table has, unseen words that are an error
            continue
        shares = found.get("predict_proba", [])
        for one in shares if isinstance(shares, list) else [shares]:
            assert np.all(one > -1e-9)  # false for NaN, too
            assert np.allclose(one.sum(axis=1), 1.0)
    if hasattr(model, "trees_") and not isinstance(model, A.C45Rules):
        A.export_text(model, tree=0)
    return "model"


def run(name, cases):
    outcomes = Counter()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases:
            try:
                outcomes[outcome(name, case)] += 1
            except Exception as error:
                raise AssertionError(f"outcome({name!r}, {case}) fails: {error!r}") from error
    return outcomes


@pytest.mark.parametrize("name", MAKERS)
def test_a_changed_file_is_a_sound_model_or_a_clear_error(name):
    outcomes = run(name, range(-(-5_000 // len(MAKERS))))
    assert len(outcomes) > 8  # the changes reach different checks
    assert outcomes["model"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_a_million_changed_files(name):
    cases = int(os.environ.get("FUZZ_MUTATIONS", "1000000")) // len(MAKERS)
    assert run(name, range(10**6, 10**6 + cases)).total() == cases
