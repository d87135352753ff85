"""Kernels that come with the package, compiled for a baseline CPU that the machine at hand includes.

A wheel of `make wheel` holds a pack of compiled code for every baseline (make_packs.py makes them):

    <package>/engine/compiler/packs/x86-64-v3.pack

    ┌─────────────┬─────────────────────────────────┬─────────┬─────────┬───
    │ magic, size │ JSON: features it needs,        │ kernel  │ kernel  │ …
    │             │       name of a kernel -> place │         │         │
    └─────────────┴─────────────────────────────────┴─────────┴─────────┴───

It is used if the CPU has all features of the baseline; a kernel in it, if it was made by the same Python,
Numba and llvmlite from the same sources for the same types, all of which are in its name (compiled_code.py).
Everything else is compiled as ever, for the CPU at hand, into the user's cache: nothing is ever added to a
pack.

A pack that others could have written is not read: neither it nor its directory may be writable for
everybody, and its owner must be root, the user, or whoever owns the sources beside it.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numba

from arboretum.engine.compiler.compiled_code import is_private
from arboretum.engine.compiler.private import VERSIONS, llvm

__all__ = ["Pack", "baselines", "find_pack", "write_pack"]

FOLDER = Path(__file__).with_name("packs")
MAGIC = b"arboretum kernels 2\n"

_V2 = "cx16 popcnt sahf sse3 ssse3 sse4.1 sse4.2"
_V3 = f"{_V2} avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"
# architecture -> CPU as LLVM names it -> features that make it; the best first
_BASELINES = {
    "x86_64": {"x86-64-v3": _V3.split(), "x86-64-v2": _V2.split()},
    "aarch64": {"generic": []},
    "arm64": {"generic": []},
}


def baselines() -> Mapping[str, list[str]]:
    """Return the baseline CPUs of this architecture and the features they need, the best first."""
    return _BASELINES.get(llvm.get_default_triple().split("-")[0], {})


class Pack(NamedTuple):
    """A file of compiled kernels, of which only the list has been read."""

    path: Path
    features: list[str]
    versions: dict[str, str]  # of Numba and llvmlite that made it
    places: dict[str, tuple[int, int]]  # name -> where it begins, how long it is

    @classmethod
    def open(cls, path: Path) -> Pack | None:
        """Read the list of a pack; None if there is none, or it is damaged, or not safe."""
        try:
            owner = Path(__file__).stat().st_uid  # whose code runs anyway
            if not all(is_private(one.stat(), owner) for one in (path, path.parent)):
                return None
            with open(path, "rb") as file:
                if file.read(len(MAGIC)) != MAGIC:
                    return None
                size = int.from_bytes(file.read(8), "little")
                head = json.loads(zlib.decompress(file.read(size)))
                begin = file.tell()
            if path.stat().st_size != begin + head["size"]:
                return None
            places = {name: (begin + at, size) for name, (at, size) in head["kernels"].items()}
            return cls(path, head["features"], head["versions"], places)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, zlib.error):
            return None

    def read(self, name: str) -> bytes | None:
        """Return a compiled kernel; None if it is not in here."""
        if name not in self.places:
            return None
        begin, size = self.places[name]
        with open(self.path, "rb") as file:
            file.seek(begin)
            return file.read(size)


def write_pack(path: Path, features: list[str], kernels: Mapping[str, bytes]) -> None:
    """Write compiled kernels by their names."""
    places, parts, at = {}, [], 0
    for name, code in kernels.items():
        part = zlib.compress(zlib.decompress(code), 9)
        places[name] = [at, len(part)]
        parts.append(part)
        at += len(part)
    head = {"features": features, "versions": VERSIONS, "size": at, "kernels": places}
    packed = zlib.compress(json.dumps(head).encode())
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.writelines([MAGIC, len(packed).to_bytes(8, "little"), packed, *parts])


@cache
def find_pack() -> Pack | None:
    """Return the best pack for this machine, if there is one and no setting excludes it.

    Other ways to compile (a CPU of choice, checked indices) and ``ARBORETUM_PREBUILT=0`` do without.
    """
    config = numba.config
    excluding = (config.CPU_NAME, config.CPU_FEATURES, config.BOUNDSCHECK, config.DEBUGINFO_DEFAULT)
    if any(excluding) or os.environ.get("ARBORETUM_PREBUILT") == "0":
        return None
    packs = (Pack.open(FOLDER / f"{name}.pack") for name in baselines())
    found = next((p for p in packs if p is not None and _has_features(p.features)), None)
    if found is not None and found.versions != VERSIONS:
        logging.getLogger("arboretum").warning(
            f"the prebuilt kernels were made with {_name(found.versions)} and do not fit {_name(VERSIONS)}: "
            "kernels are compiled when they are first needed, or pip install 'arboretum-trees[kernels]'"
        )
        return None
    return found


def _name(versions: Mapping[str, str]) -> str:
    return f"Numba {versions['numba']} and llvmlite {versions['llvmlite']}"


def _has_features(wanted: list[str]) -> bool:
    features = llvm.get_host_cpu_features()
    return all(features.get(name) for name in wanted)
