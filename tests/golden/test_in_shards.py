"""Second-order boosters on rows in three shards: fits of the golden set give the models of local fits."""

from __future__ import annotations

import pytest

from tests.golden.cases import all_cases
from tests.golden.make import differences, read_lines, run
from tests.grow.sharded.in_shards import in_shards

FAMILIES = ("xgb", "lgbm", "ranking")


@pytest.mark.parametrize("family", FAMILIES)
def test_fits_in_shards_give_what_local_ones_give(family):
    golden, made = read_lines(), {}
    for number, case in enumerate(all_cases()):
        if case.family == family:
            with in_shards(3, seed=number):
                made[case.name] = run(case)
    changed = list(differences(golden, made))
    assert not changed, "\n".join(changed)
