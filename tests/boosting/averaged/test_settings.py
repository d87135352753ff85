"""Settings by size: every table gets some, and quality orders the work."""

import itertools

import pytest

from arboretum.boosting.averaged.settings import QUALITIES, settings_for

SIZES = [2, 1_999, 2_000, 3_999, 4_000, 7_999, 8_000, 10_000_000]


@pytest.mark.parametrize(("n", "k"), list(itertools.product(SIZES, (1, 3, 20))))
def test_more_quality_is_more_work(n, k):
    fast, default, best = (settings_for(n, k, quality) for quality in QUALITIES)
    assert fast.used_folds <= default.used_folds <= best.used_folds <= best.n_folds
    assert len(fast.kinds) <= len(default.kinds) <= len(best.kinds)
    for rounds in (10, 100, 600):
        counts = [one.n_members(rounds, k) for one in (fast, default, best)]
        assert counts == sorted(counts)
        assert 1 == counts[0] < counts[1] <= 8
    assert fast.learning_rate == default.learning_rate > best.learning_rate


def test_wide_tables_have_no_symmetric_trees():
    assert "symmetric" in settings_for(5_000, 1, n_features=1_000).kinds
    assert settings_for(5_000, 1, n_features=1_001).kinds == ("plain",)


def test_smaller_tables_get_smaller_trees_and_larger_penalties():
    found = [settings_for(n, 1) for n in SIZES]
    for before, after in itertools.pairwise(found):
        assert before.num_leaves <= after.num_leaves
        assert before.l2 >= after.l2


def test_few_rows_of_one_output_have_noise_on_the_scores_of_symmetric_trees():
    assert [settings_for(n, 1).noise > 0.0 for n in SIZES] == [n < 2_000 for n in SIZES]
    assert settings_for(500, 3).noise == 0.0
