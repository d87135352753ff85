"""Arguments of kernels become text and types again."""

import json
from typing import NamedTuple

import numba
import numpy as np
import pytest

from arboretum.engine.compiler import signatures
from arboretum.engine.compiler.signatures import (
    Signature,
    describe,
    example,
    read_table,
    stale_users,
    write_table,
)
from arboretum.engine.compiler.warmup import missing
from tests.engine.processes import run_script

PAIR = np.dtype([("a", np.uint8), ("b", np.float64)], align=True)
NESTED = np.dtype([("low", np.int32, (2,)), ("pair", PAIR)])


class Node(NamedTuple):
    first: int
    rows: np.ndarray | None


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


VALUES = [
    3, 2**63, 2.5, True, None, np.uint8(3), np.float32(1), np.bool_(True),
    np.zeros(3), np.zeros((2, 3)), np.zeros((2, 3), order="F"), np.zeros((4, 4))[::2, ::2],
    np.zeros(0, np.uint16), np.zeros(()), np.zeros((2, 2, 2), np.int8), _read_only(np.zeros(3)),
    np.zeros(2, bool), np.zeros(3, PAIR), np.zeros(3, PAIR)[0], np.zeros((2, 2), NESTED),
    (1, 2.5), (), (np.zeros(2), (np.uint8(1), None)), Node(np.int64(3), np.zeros(3, np.uint32)),
    Node(3, None), (Node(1, np.zeros(1)), Node(2, np.zeros(1))),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_what_is_read_back_has_the_same_type_for_numba(value):
    text = json.dumps(describe(value))
    assert numba.typeof(example(json.loads(text))) == numba.typeof(value)


@pytest.mark.parametrize("value", ["word", [1, 2], {}])
def test_what_cannot_be_described_is_said(value):
    with pytest.raises(TypeError, match="a kernel is called with"):
        describe(value)


def test_the_table_is_read_as_it_was_written(tmp_path):
    written = [
        Signature("m:g", tuple(describe(value) for value in VALUES), frozenset({"B", "A"})),
        Signature("m:f", (describe(VALUES[-1]), describe(VALUES[-1])), frozenset({"B"})),
        Signature("m:f", ()),
    ]
    write_table(written, tmp_path / "table.json")

    def in_order(table):  # the repr of a set is in another order in every process
        rows = [(row.kernel, repr(row.arguments), sorted(row.users)) for row in table]
        return sorted(rows)

    assert in_order(read_table(tmp_path / "table.json")) == in_order(written)


def test_who_calls_a_kernel_that_changed_is_recorded_again(tmp_path, monkeypatch):
    table = tmp_path / "table.json"
    keys, walk = "arboretum.engine.random:child_keys", "arboretum.engine.predict.walk:walk"
    write_table([Signature(keys, (), frozenset("AB")), Signature(walk, (), frozenset("B"))], table)
    assert stale_users(["A", "B", "C"], table) == ["C"]
    assert signatures.is_current(table)
    its_own = signatures._hash_of_module
    changed = lambda module: "new" if module.endswith("walk") else its_own(module)  # noqa: E731
    monkeypatch.setattr(signatures, "_hash_of_module", changed)
    assert stale_users(["A", "B", "C"], table) == ["B", "C"]
    assert not signatures.is_current(table)
    write_table(read_table(table), table, recorded=["A"])
    assert stale_users(["A", "B"], table) == ["B"]
    write_table(read_table(table), table, recorded=["B"])
    assert signatures.is_current(table)


RECORDED = """
import numpy as np
from arboretum.engine.compiler.by_address import address_of
from arboretum.engine.random import child_keys
child_keys(np.array([0], np.uint64), np.empty(2, np.uint64))
address_of(child_keys, np.array([0], np.uint64), np.empty(4, np.uint64)[::2])
"""


def test_calls_are_recorded(tmp_path):
    record = tmp_path / "record"
    run_script(RECORDED, ARBORETUM_RECORD_KERNELS=str(record))
    one, other = map(json.loads, record.read_text().splitlines())
    assert one["kernel"] == other["kernel"] == "arboretum.engine.random:child_keys"
    assert one["arguments"] == ["uint64 1C", "uint64 1C"]
    assert other["arguments"] == ["uint64 1C", "uint64 1A"]
    assert one["compiled"] in (True, False)


# ---------------------------------------------------------------------- the table of the package
def _loosely(description) -> object:
    """Return a description without what makes a needless variant: layout, writing, width of one number."""
    if isinstance(description, dict):
        return {key: _loosely(value) for key, value in description.items()}
    if isinstance(description, (list, tuple)):
        return [_loosely(one) for one in description]
    if isinstance(description, str) and " " in description:
        dtype, form = description.split(" ", 1)
        return f"{dtype} {form[0]}"
    return "a number" if description in ("int64", "uint64", "float64", "bool") else description


def test_no_kernel_is_compiled_twice_for_a_needless_variant():
    """Strided, Fortran-ordered or read-only arrays and numbers of another type: see CONTRIBUTING."""
    seen: dict[str, Signature] = {}
    for one in read_table():
        key = json.dumps([one.kernel, _loosely(one.arguments)])
        assert key not in seen, f"{one}\nis a variant of\n{seen[key]}"
        seen[key] = one


@pytest.mark.skipif(not signatures.is_current(), reason="kernels have changed: make record")
def test_the_table_fits_the_sources():
    """One that is behind costs a compile; `make wheel` does not take it."""
    assert missing(list(read_table()))[1] == []


def test_every_estimator_is_in_the_table():
    import arboretum

    named = {name for one in read_table() for name in one.users}
    assert named >= set(arboretum.ESTIMATORS)


def test_the_table_belongs_to_the_package():
    assert signatures.TABLE.is_file()
