"""Every kind of source yields the same rows; damaged and odd ones are refused by name."""

import errno
import gzip
import io
import os

import lightgbm
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
import xgboost

import arboretum
from arboretum.data.reading import limits
from arboretum.data.table import Table, read_table
from arboretum.errors import DataError, ParameterError
from arboretum.streams import csv, files, scratch
from arboretum.streams.sources import open_source
from arboretum.streams.table import StreamedTable
from tests.streams.test_fit import cut, saved

RNG = np.random.default_rng(0)
N = 90
T = pa.table(
    {
        "number": RNG.standard_normal(N),
        "word": RNG.choice(["red", "blue", "green"], N),
        "y": RNG.standard_normal(N),
    }
)
ARGS = {"n_estimators": 3, "min_child_samples": 5}


def fit(source, y="y", **arguments):
    return arboretum.LGBMRegressor(**ARGS).fit(source, y, **arguments)


WHOLE = saved(arboretum.LGBMRegressor(**ARGS).fit(T.drop_columns(["y"]), T["y"]))


def parquet(folder, places=(40,), **options):
    for number, part in enumerate(cut(T, places)):
        pq.write_table(part, folder / f"part-{number}.parquet", row_group_size=25, **options)
    return folder


def ipc(folder, make):
    path = folder / "table.arrow"
    with make(str(path), T.schema) as writer:
        for part in cut(T, [10, 60]):
            writer.write(part)
    return path


def text(folder, name="table.csv", sep=","):
    path = folder / name
    options = pyarrow.csv.WriteOptions(delimiter=sep)
    file = io.BytesIO()
    pyarrow.csv.write_csv(T, file, options)
    content = file.getvalue()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return path


SOURCES = {
    "a folder": parquet,
    "a pattern": lambda f: str(parquet(f) / "*.parquet"),
    "a list": lambda f: sorted(parquet(f).iterdir()),
    "one file": lambda f: next(parquet(f, ()).iterdir()),
    "strings without dictionaries": lambda f: parquet(f, use_dictionary=False),
    "strings that repeat the one before": lambda f: parquet(
        f, use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"}
    ),
    "an Arrow file": lambda f: ipc(f, pa.ipc.new_file),
    "an Arrow stream": lambda f: ipc(f, pa.ipc.new_stream),
    "CSV": text,
    "gzipped CSV": lambda f: text(f, "table.csv.gz"),
    "semicolons": lambda f: text(f, sep=";"),
    "a dataset": lambda f: pa.dataset.dataset(parquet(f)),
    "a pyarrow table": lambda f: T,
    "a polars frame": lambda f: pl.from_arrow(T),
    "a lazy frame": lambda f: pl.scan_parquet(parquet(f) / "*.parquet"),
    "a pandas frame": lambda f: T.to_pandas(),
    "a function": lambda f: lambda: (part.to_pandas() for part in cut(T, [30])),
    "a spooled reader": lambda f: arboretum.Stream(T.to_reader(20), spool=True),
    "a spooled generator": lambda f: arboretum.Stream(
        (part.to_pandas() for part in cut(T, [30])), spool=True
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_gives_the_same_model(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 700)
    before = set(os.listdir(scratch.tempfile.gettempdir()))
    assert saved(fit(SOURCES[kind](tmp_path))) == WHOLE
    left = set(os.listdir(scratch.tempfile.gettempdir())) - before
    assert not [name for name in left if name.startswith("arboretum-")]


def test_columns_may_stand_in_another_order_in_later_files(tmp_path):
    pq.write_table(T.slice(0, 50), tmp_path / "a.parquet")
    pq.write_table(T.slice(50).select(["y", "word", "number"]), tmp_path / "b.parquet")
    assert saved(fit(tmp_path)) == WHOLE


class Rows(lightgbm.Sequence):
    batch_size = 17

    def __init__(self, values):
        self.values = values

    def __getitem__(self, rows):
        return self.values[rows]

    def __len__(self):
        return len(self.values)


class Batches(xgboost.DataIter):
    def __init__(self, X, y, weight):
        self.parts, self.at = [(X[s], y[s], weight[s]) for s in (slice(0, 30), slice(30, None))], 0
        super().__init__()

    def reset(self):
        self.at = 0

    def next(self, input_data):
        if self.at == len(self.parts):
            return False
        X, y, weight = self.parts[self.at]
        input_data(data=X, label=y, weight=weight)
        self.at += 1
        return True


def test_the_iterators_of_peers():
    X, y, weight = RNG.standard_normal((N, 3)), RNG.standard_normal(N), RNG.random(N) + 0.1
    whole = arboretum.LGBMRegressor(**ARGS).fit(X, y)
    assert saved(fit(Rows(X), y)) == saved(whole)
    args = {"n_estimators": 3, "tree_method": "hist"}
    whole = arboretum.XGBRegressor(**args).fit(X, y, sample_weight=weight)
    assert saved(arboretum.XGBRegressor(**args).fit(Batches(X, y, weight))) == saved(whole)
    held_out = {"eval_set": [(Batches(X, y, weight), None)], "verbose": False}
    model = arboretum.XGBRegressor(**args).fit(Batches(X, y, weight), **held_out)
    arrays = {"eval_set": [(X, y)], "sample_weight_eval_set": [weight], "verbose": False}
    whole = arboretum.XGBRegressor(**args).fit(X, y, sample_weight=weight, **arrays)
    assert saved(model) == saved(whole)
    with pytest.raises(DataError, match="requires y"):
        fit(Rows(X), None)


class Relation:
    """What a duckdb relation has."""

    def __init__(self, table):
        self.table, self.columns = table, table.column_names

    def project(self, columns):
        return Relation(self.table.select([name.strip('" ') for name in columns.split(",")]))

    def fetch_arrow_reader(self, size):
        return self.table.to_reader(min(size, 25))


def test_a_relation():
    assert saved(fit(Relation(T))) == WHOLE


def test_blocks_of_text_are_read_as_the_file_is(tmp_path, monkeypatch):
    """Dates, truth values, gaps, quoted lines; whole numbers in one block and fractions in another."""
    quoted = '"two\nlines, ""quoted"""'
    rows = [
        f"{k},{k / 4 if k > 50 else k if k % 7 else ''},2024-0{k % 9 + 1}-1{k % 9},"
        f"{'true' if k % 3 else 'false'},{quoted if k % 5 else ''},{k % 11}.5"
        for k in range(200)
    ]
    path = tmp_path / "mixed.csv"
    path.write_text("\n".join(["id,number,day,flag,word,y", *rows]))
    table = read_table(path)
    y = table.columns[-1].values
    X = Table(table.names[:-1], True, table.n_rows, table.columns[:-1])
    whole = arboretum.LGBMRegressor(**ARGS).fit(X, y)
    for size in (300, 1000, 1 << 24):
        monkeypatch.setattr(csv, "_BLOCK", size)
        assert saved(fit(path)) == saved(whole)


# ---------------------------------------------------------------------- bad input
def damaged(folder):
    path = next(parquet(folder, ()).iterdir())
    path.write_bytes(path.read_bytes()[:-40])
    return path


def torn(folder):
    """A file whose footer is whole, but not its second row group."""
    path = next(parquet(folder, (), compression="gzip", use_dictionary=False).iterdir())
    with pq.ParquetFile(path) as file:
        at = file.metadata.row_group(1).column(0).data_page_offset
    content = bytearray(path.read_bytes())
    content[at : at + 30] = b"\xff" * 30
    path.write_bytes(content)
    return path


def two(change):
    def make(folder):
        pq.write_table(T.slice(0, 50), folder / "a.parquet")
        pq.write_table(change(T.slice(50)), folder / "b.parquet", row_group_size=20)
        return folder

    return make


def column(name, values):
    return lambda t: t.set_column(t.column_names.index(name), name, values(t))


def lines(*more):
    def make(folder):
        path = text(folder)
        with path.open("a") as file:
            file.writelines(f"{line}\n" for line in more)
        return path

    return make


BAD = {
    "no files": (lambda f: str(f / "*.parquet"), "no such file: .*parquet"),
    "an empty folder": (lambda f: f, "no such file"),
    "no file": (lambda f: [f / "absent.csv"], "no such file: .*absent.csv"),
    "another kind": (lambda f: [(f / "x.xlsx", (f / "x.xlsx").touch())[0]], "kind of .*x.xlsx"),
    "a truncated file": (damaged, r"part-0.parquet' cannot be read as Parquet"),
    "a torn row group": (torn, r"part-0.parquet', row group 1 cannot be read as Parquet"),
    "a column less": (two(lambda t: t.drop_columns(["word"])), "b.parquet' lacks 'word'"),
    "a column more": (
        two(lambda t: t.append_column("more", t["y"])),
        "b.parquet' has 'more' besides: all files must have the columns of the first",
    ),
    "a column of another name": (
        two(lambda t: t.rename_columns(["number", "words", "y"])),
        r"b.parquet' lacks 'word' \(did you mean 'words'\?\) and has 'words' besides",
    ),
    "another type": (
        two(column("number", lambda t: t["word"])),
        "b.parquet', row group 0: column 'number' holds numbers .* and words",
    ),
    "lists": (
        two(column("number", lambda t: pa.array([[1.0]] * len(t)))),
        "column 'number' of .*b.parquet' is of type list",
    ),
    "a missing target": (
        two(column("y", lambda t: pa.array([None if k == 25 else 1.0 for k in range(len(t))]))),
        r"b.parquet', row group 1: the target 'y' contains NaN \(row 5 of these 20 rows\)",
    ),
    "an infinite number": (
        two(column("number", lambda t: pa.array(np.where(np.arange(len(t)) == 3, np.inf, 0)))),
        r"b.parquet', row group 0: .*'number' .* infinite",
    ),
    "no such target": (
        lambda f: parquet(f).rename(f / ".." / f"{f.name}-2") and T.rename_columns(["a", "b", "Y"]),
        r"no column 'y'",
    ),
    "an odd line": (lines("1,2"), "block that begins at line .*2 fields where the header has 3"),
    "words among numbers": (lines("many,red,1"), "'number' holds numbers .* and words"),
    "utf-16": (
        lambda f: [((f / "t.csv").write_bytes("a,y\n1,2\n".encode("utf-16")), f / "t.csv")[1]],
        "save it as UTF-8",
    ),
    "a lazy frame of a truncated file": (
        lambda f: pl.scan_parquet(damaged(f)),
        "the LazyFrame cannot be read: |part-0.parquet",
    ),
    "no rows": (lambda f: lambda: iter([]), "has no rows"),
    "a batch that is no table": (lambda f: lambda: iter([3]), "batch 0 of the function: X must be"),
    "batches of other columns": (
        lambda f: lambda: iter([T.slice(0, 9), T.slice(9).drop_columns(["word"])]),
        "batch 1 of the function has no column 'word'",
    ),
    "a reader": (lambda f: T.to_reader(), "only once.*spool=True"),
    "a generator": (lambda f: arboretum.Stream(iter([T])), "only once.*spool=True"),
    "something else": (lambda f: arboretum.Stream(3), "int is no source of rows"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_sources(case, tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 700)
    make, message = BAD[case]
    work = tmp_path / "scratch"
    work.mkdir()
    source = make((tmp_path / "data").mkdir() or tmp_path / "data")
    if not isinstance(source, arboretum.Stream):
        source = arboretum.Stream(source, scratch=work)
    with pytest.raises(DataError, match=message):
        fit(source)
    assert list(work.iterdir()) == []


def test_a_source_is_read_three_times():
    """For y, to learn, and to code; once more if rows of weight 0 are left out."""
    passes = []
    source = lambda: passes.append(1) or iter([T.slice(0, 45), T.slice(45)])  # noqa: E731
    assert saved(fit(source)) == WHOLE
    assert len(passes) == 3
    fit(source, sample_weight=np.where(np.arange(N) < 5, 0.0, 1.0))
    assert len(passes) == 3 + 5


def test_a_source_that_shrinks_is_noticed():
    turns = iter([2, 1])
    with pytest.raises(DataError, match="had 90 rows when it was first read, and 45 now"):
        fit(lambda: iter([T.slice(0, 45), T.slice(45)][: next(turns)]))


def test_strings_that_would_not_fit_into_memory(tmp_path, monkeypatch):
    """A small file can hold a long string in every row; this encoding has no size in the footer."""
    t = pa.table({"word": ["x" * 10_000] * 3000, "y": np.arange(3000.0)})
    path = tmp_path / "small.parquet"
    pq.write_table(t, path, use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"})
    assert path.stat().st_size < 100_000
    monkeypatch.setattr(files, "memory_size", lambda: 20_000_000)
    with pytest.raises(DataError, match=r"small.parquet', row group 0 holds 0.0 GB in 1024 rows"):
        fit(path)
    dictionary = tmp_path / "dictionary.parquet"
    pq.write_table(t, dictionary)
    fit(dictionary)  # takes its length once


def test_a_full_disk(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(scratch.os, "posix_fallocate", refuse)
    with pytest.raises(DataError, match=r"has no room for .* GB .*scratch="):
        fit(arboretum.Stream(T, scratch=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_nothing(tmp_path):
    passes = []

    def batches():
        passes.append(1)
        yield T.slice(0, 40)
        if len(passes) == 3:
            raise KeyboardInterrupt
        yield T.slice(40)

    with pytest.raises(KeyboardInterrupt):
        fit(arboretum.Stream(batches, scratch=tmp_path))
    assert len(passes) == 3
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_between_rounds_keeps_the_finished_ones(tmp_path):
    def stop(env):
        if env.iteration == 2:
            raise KeyboardInterrupt

    model = arboretum.LGBMRegressor(**{**ARGS, "n_estimators": 9})
    with pytest.raises(KeyboardInterrupt):
        model.fit(arboretum.Stream(T, scratch=tmp_path), "y", callbacks=[stop])
    assert model.n_iter_ == 3
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_does_not_end(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "_BLOCK", 700)
    monkeypatch.setattr(limits, "memory_size", lambda: 8_000)
    path = lines('1,"red,1', *["1,red,1"] * 300)(tmp_path)
    with pytest.raises(DataError, match="a line of it is too long"):
        fit(path)


def test_options_of_streams(tmp_path):
    for given, message in (
        ({"scratch": tmp_path / "absent"}, "scratch of Stream must be a folder"),
        ({"keep": True}, "keep=True of Stream needs scratch"),
    ):
        with pytest.raises(ParameterError, match=message):
            arboretum.Stream(T, **given)
    model = fit(arboretum.Stream(T.append_column("id", pa.array(range(N))), drop=["id"]))
    assert saved(model) == WHOLE
    with pytest.raises(DataError, match="no column 'idd'"):
        fit(arboretum.Stream(T, drop=["idd"]))


def test_pandas_batches_keep_their_categories():
    frame = T.to_pandas()
    frame["word"] = pd.Categorical(frame["word"], ["red", "green", "blue", "grey"])
    whole = arboretum.LGBMRegressor(**ARGS).fit(frame[["number", "word"]], frame["y"])
    assert saved(fit(lambda: iter([frame[:20], frame[20:]]))) == saved(whole)
    open_source(lambda: iter([frame]))


def test_kept_codes_are_used_again(tmp_path, monkeypatch):
    folder, work = parquet((tmp_path / "data").mkdir() or tmp_path / "data"), tmp_path / "codes"
    work.mkdir()
    source = arboretum.Stream(folder, scratch=work, keep=True)
    assert saved(fit(source)) == WHOLE
    (kept,) = work.iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["facts", "narrow"]
    coded = []
    real = StreamedTable._new_codes
    monkeypatch.setattr(
        StreamedTable, "_new_codes", lambda self, bins: coded.append(1) or real(self, bins)
    )
    assert saved(fit(source)) == WHOLE
    assert coded == []
    fit(source, sample_weight=np.where(np.arange(N) < 5, 0.0, 1.0))  # other rows
    arboretum.LGBMRegressor(**ARGS, max_bin=7).fit(source, "y")  # other bins
    path = sorted(folder.iterdir())[1]
    os.utime(path, ns=(1, 1))  # other files
    assert saved(fit(source)) == WHOLE
    assert len(coded) == 3
    assert len(list(work.iterdir())) == 4
    with pytest.raises(DataError, match="codes of the Table cannot be kept"):
        fit(arboretum.Stream(T, scratch=work, keep=True))
