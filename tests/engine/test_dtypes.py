"""Tables of records: aligned, without gaps where kernels copy them often."""

from __future__ import annotations

import numpy as np
import pytest

from arboretum.engine import dtypes

LAYOUTS = [getattr(dtypes, name) for name in dtypes.__all__ if name.isupper()]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_fields_are_aligned(layout):
    assert layout.isalignedstruct
    for kind, offset, *_ in layout.fields.values():
        assert offset % kind.alignment == 0


@pytest.mark.parametrize("layout", [dtypes.SPLIT, dtypes.NODE, dtypes.TASK, dtypes.SCALES])
def test_records_that_are_copied_have_no_gaps(layout):
    assert layout.itemsize == sum(kind.itemsize for kind, *_ in layout.fields.values())


def test_a_table_keeps_its_layout_when_it_is_joined():
    table = dtypes.record_table((2, 3), dtypes.EXACT_CUT)
    assert table.shape == (2, 3)
    joined = np.concatenate([table, table])
    assert joined.dtype == dtypes.EXACT_CUT
    assert joined.dtype.isalignedstruct  # another layout would be compiled for once more


def test_trees_of_both_growers_share_what_is_read_of_them():
    read = {"split", "first_child", "rows", "value", "cover"}
    assert read <= set(dtypes.NODE.names)
    assert read <= set(dtypes.EXACT_TREE.names)
