"""The benchmark of large tables on a small one."""

import io

import pytest
from pyarrow import parquet
from rich.console import Console

from benchmarks import __main__, scale, scale_run
from benchmarks.harness import Options, Unavailable


@pytest.fixture
def files(tmp_path):
    path, few = tmp_path / "rows.parquet", tmp_path / "few.parquet"
    scale.make_file(path, 3000)
    scale.make_file(few, 300)
    return str(path), str(few)


@pytest.mark.parametrize("name", ["pyarrow, only reading", scale.OURS, scale.MAPPED, *scale._PEERS])
def test_every_contender_runs(name, files):
    found = scale_run.CONTENDERS[name](*files, 2, 1)
    assert found["reading"] > -1


def test_the_file_has_groups_of_rows(files):
    with parquet.ParquetFile(files[0]) as file:
        assert file.metadata.num_rows == 3000
        assert file.schema_arrow.names[-1] == "y"


def test_an_experiment_and_its_table(tmp_path):
    one = scale.Scale("map", "a title", (scale.OURS, scale.MAPPED), rounds=2)
    found = one.measure(Options(repeat=1, jobs=1, rows=2000), lambda what: None)
    assert found.rows == 2000
    Console(file=(text := io.StringIO()), width=200).print(scale.scale_table(found))
    assert "ns per row and round" in text.getvalue()
    assert scale.OURS in text.getvalue()


def test_long_cases_run_by_name_only():
    cases = scale.experiments(1)
    assert set(cases) - set(__main__._usual_cases(scale, cases)) == {"hundred-million"}


def test_the_disk_is_checked_first(tmp_path):
    with pytest.raises(Unavailable, match="are free"):
        scale._check_disk(str(tmp_path), 10**13)
