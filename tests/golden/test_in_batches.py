"""Second-order boosters on tables read in batches: the golden set gives the models of fits in memory."""

from __future__ import annotations

import pytest

from tests.golden.cases import all_cases
from tests.golden.make import differences, read_lines, run
from tests.streams.in_batches import in_batches

FAMILIES = ("xgb", "lgbm", "ranking")


@pytest.mark.parametrize("family", FAMILIES)
def test_fits_in_batches_give_what_those_in_memory_give(family):
    golden, made, streamed = read_lines(), {}, []
    for number, case in enumerate(all_cases()):
        if case.family == family:
            with in_batches(4, seed=number) as fitted:
                made[case.name] = run(case)
            streamed += fitted
    changed = list(differences(golden, made))
    assert not changed, "\n".join(changed)
    assert len(streamed) > 0.8 * len(made)
