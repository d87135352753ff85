"""Nothing changes by accident: every fit of the golden set gives the model and the answers it gave before.

One test per family, so that the work can be shared out. A failure names each case and what changed.
"""

from __future__ import annotations

import numpy as np
import pytest

import arboretum
from arboretum import CARTClassifier
from arboretum.io.container import read
from tests.golden.cases import all_cases
from tests.golden.fingerprint import Fingerprint, of_answers, of_document, saved
from tests.golden.make import differences, read_lines, run

CASES = all_cases()
FAMILIES = list(dict.fromkeys(case.family for case in CASES))
_REMEDY = """
If this was not meant, it is a bug: tests/golden/make.py says how to compare bit by bit with an older commit.
If it was, renew the lines and commit them with the reason: python -m tests.golden.make --only "{}"
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_fits_give_what_they_gave(family):
    golden = read_lines()
    made = {case.name: run(case) for case in CASES if case.family == family}
    changed = list(differences(golden, made))
    if changed:
        pytest.fail("\n".join([*changed, _REMEDY.format(family)]), pytrace=False)


def test_every_line_has_its_case():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    assert list(read_lines()) == names, "renew the lines: python -m tests.golden.make"


def test_every_estimator_is_in_the_set():
    fitted = {type(case.make()).__name__ for case in CASES} - {"XGBModel"}  # the base of others
    public = {
        name
        for name in arboretum.__all__
        if hasattr(getattr(arboretum, name), "get_params")
        and not name.startswith("CART")
        and not name.endswith("Model")  # the bases of others
    }
    assert fitted == public


# ---------------------------------------------------------------------- the hashes themselves
def _hash(value, *, exact=False):
    return Fingerprint(exact=exact).add(value).text()


def test_the_last_bits_count_only_if_asked_for():
    x = np.array([0.1, 1e300, -7.25, np.nan, -np.inf, 0.0])
    close = x.copy()
    close[0] = np.nextafter(0.1, 1)
    assert _hash(x) == _hash(close)
    assert _hash(x, exact=True) != _hash(close, exact=True)
    assert _hash(x) == _hash(x + 0.0) != _hash(x * (1 + 1e-8))
    assert _hash(np.array([0.0, 1.0])) == _hash(np.array([-1e-17, 1.0]))


def test_values_of_other_types_shapes_or_places_differ():
    values = [
        None, True, 1, 1.0, "1", [1], [1, 1], [[1], 1], {"a": 1}, {"b": 1}, {"a": [1]},
        np.array([1]), np.array([1.0]), np.array([[1]]), np.array([1.0], np.float32),
        np.array([1], np.int32), np.array(["1"]), np.array(["1", "1"]), [],
    ]  # fmt: skip
    for exact in (False, True):
        assert len({_hash(value, exact=exact) for value in values}) == len(values)
    assert of_answers([np.array(["a"])]) == of_answers([np.array(["a"], dtype=object)])


def test_all_of_a_file_counts_but_the_version_that_wrote_it():
    model = CARTClassifier(max_depth=1).fit([[1.0], [2.0]], [0, 1])
    document = read(saved(model))
    before = of_document(document)
    assert of_document({**document, "arboretum": "9.9"}) == before
    for key in document.keys() - {"arboretum"}:
        assert of_document({**document, key: "another"}) != before
