"""Make packs of prebuilt kernels, for a wheel.

    python -m arboretum.engine.compiler.make_packs <folder> [baseline ...]

For every baseline CPU of this architecture, all signatures of the table are compiled by `warmup` in
processes that take the baseline for their CPU, into a cache of their own below the folder, and what is
there is packed. What has not changed since is not compiled again.

    <folder>/x86-64-v3/kernels-0.1.0/…      the cache
    <folder>/x86-64-v3.pack                 what goes into the wheel
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from arboretum.engine.compiler.packs import baselines, write_pack
from arboretum.engine.compiler.signatures import read_table
from arboretum.engine.compiler.warmup import warmup

__all__ = ["main"]


def main() -> int:
    """Make the packs; return 1 if a kernel of the table could not be compiled."""
    parser = argparse.ArgumentParser(prog="python -m arboretum.engine.compiler.make_packs")
    parser.add_argument("folder", type=Path, help="where packs and their caches go")
    parser.add_argument("baseline", nargs="*", help="default: all of this architecture")
    parser.add_argument("--in-place", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.baseline or list(baselines())
    for name in names:
        if name not in baselines():
            parser.error(f"unknown baseline {name!r}: there are {', '.join(baselines()) or 'none'}")
    if options.in_place:
        return _pack(options.folder / f"{names[0]}.pack", baselines()[names[0]])
    return max((_pack_for(name, options.folder) for name in names), default=0)


def _pack_for(baseline: str, folder: Path) -> int:
    """Make the pack in a process that takes the baseline for its CPU."""
    env = {
        **os.environ,
        "NUMBA_CPU_NAME": baseline,
        "NUMBA_CPU_FEATURES": ",".join(f"+{name}" for name in baselines()[baseline]),
        "ARBORETUM_CACHE_DIR": str((folder / baseline).resolve()),
    }
    this = [sys.executable, "-m", "arboretum.engine.compiler.make_packs"]
    return subprocess.run([*this, "--in-place", str(folder), baseline], env=env).returncode


def _pack(path: Path, features: list[str]) -> int:
    done = warmup()
    print(f"{path}: {done}")
    kernels = {}
    for one in read_table():
        cache, types = one.dispatcher()._cache, one.types()
        file = cache.file(types)
        if file is not None and file.exists():
            kernels[cache.prebuilt_name(types)] = file.read_bytes()
    write_pack(path, features, kernels)
    print(f"{path}: {len(kernels)} kernels, {path.stat().st_size / 1e6:.1f} MB")
    for line in done.failed:
        print(f"failed: {line}", file=sys.stderr)
    return 1 if done.failed else 0


if __name__ == "__main__":
    sys.exit(main())
