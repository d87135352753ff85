"""Groups of rows with larger errors: found where they are, not found in noise."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from arboretum.data.schema import learn_schema
from arboretum.explain.report.weak_groups import _p_value, weak_groups

N = 400


def groups_of(X, errors):
    schema, matrix = learn_schema(X)
    return weak_groups(schema, matrix.rows(0, matrix.n_rows), errors)


def test_words_ranges_dates_and_gaps():
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 100, N), "D")
    X = pd.DataFrame({"word": rng.choice(list("ab"), N), "x": rng.random(N), "day": day})
    X.loc[rng.random(N) < 0.2, "x"] = np.nan
    bad = {
        ("word", "a"): X["word"] == "a",
        ("x", "missing"): X["x"].isna(),
        ("x", "> "): X["x"] > X["x"].quantile(0.75, "lower"),
        ("day", "≤ 2024-01-"): X["day"] <= X["day"].quantile(0.25, "lower"),
    }
    for (name, values), member in bad.items():
        errors = 0.1 * rng.random(N) + member
        first = groups_of(X, errors.to_numpy())[0]
        assert first.column == name
        assert first.values.startswith(values)
        assert first.n_rows == member.sum()
        assert first.error == pytest.approx(errors[member].mean())
        assert first.others == pytest.approx(errors[~member].mean())


def test_the_test_is_welchs():
    rng = np.random.default_rng(2)
    a, b = rng.random(30) + 0.2, 2 * rng.random(50)
    theirs = stats.ttest_ind(a, b, equal_var=False, alternative="greater").pvalue
    assert _p_value(a, b) == (pytest.approx(theirs) if a.mean() > b.mean() else 1.0)
    assert _p_value(a + 1, b) == pytest.approx(
        stats.ttest_ind(a + 1, b, equal_var=False, alternative="greater").pvalue
    )


def test_noise_has_no_weak_groups():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {f"x{i}": rng.random(N) for i in range(8)} | {"w": rng.choice(list("abcd"), N)}
    )
    found = [groups_of(X, rng.random(N)) for _ in range(20)]
    assert sum(map(len, found)) <= 4
    assert groups_of(X, np.zeros(N)) == []


def test_small_groups_and_constant_columns_are_left_alone():
    X = pd.DataFrame({"w": ["rare"] * 5 + ["usual"] * 95, "same": 1.0, "empty": np.nan})
    assert groups_of(X, np.repeat([1.0, 0.0], [5, 95])) == []
