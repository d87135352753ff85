"""Kernels that come with the package: when they are used, and what happens when they do not fit."""

import os
import shutil
import stat

import pytest

from arboretum.engine.compiler import cache, compiled_code, decorators, packs, private
from arboretum.engine.compiler.cache import compiled


@pytest.fixture
def tried(monkeypatch, tmp_path):
    """Pack a tiny kernel; returns its pack, and what calls the kernel and says whether it compiled."""
    monkeypatch.setattr(decorators, "_CACHE", tmp_path / "build")
    (tmp_path / "build").mkdir()
    folder = tmp_path / "prebuilt"
    monkeypatch.setattr(packs, "FOLDER", folder)

    def triple(x):
        return 3 * x

    first = decorators.kernel(triple)
    assert first(14) == 42
    types = first.signatures[0]
    code = first._cache.file(types).read_bytes()
    pack = folder / "x86-64-v3.pack"
    monkeypatch.setattr(packs, "baselines", lambda: {"x86-64-v3": []})
    packs.write_pack(pack, [], {first._cache.prebuilt_name(types): code})
    monkeypatch.setattr(decorators, "_CACHE", None)

    def call() -> bool:
        packs.find_pack.cache_clear()
        kernel = decorators.kernel(triple)
        assert kernel(14) == 42
        return sum(kernel.stats.cache_misses.values()) > 0

    yield pack, call
    packs.find_pack.cache_clear()


def test_a_kernel_that_came_along_is_not_compiled(tried):
    assert not tried[1]()


def test_other_types_are_compiled_and_kept_by_the_user(tried, monkeypatch, tmp_path):
    pack, _ = tried
    before = pack.read_bytes()
    monkeypatch.setattr(decorators, "_CACHE", tmp_path / "build")
    packs.find_pack.cache_clear()
    kernel = decorators.kernel(lambda x: 2 * x)
    assert kernel(1.5) == 3.0
    assert sum(kernel.stats.cache_misses.values()) == 1
    assert pack.read_bytes() == before


def test_without_a_pack_everything_compiles(tried):
    pack, call = tried
    pack.unlink()
    assert call()


@pytest.mark.parametrize("keep", [0, 10, 24, 40, -1])
def test_a_truncated_pack_is_not_used(tried, keep):
    pack, call = tried
    pack.write_bytes(pack.read_bytes()[:keep])
    assert call()


@pytest.mark.parametrize("place", ["magic", "list", "code"])
def test_a_damaged_pack_is_compiled_around(tried, place):
    pack, call = tried
    data = bytearray(pack.read_bytes())
    data[{"magic": 3, "list": 60, "code": len(data) - 200}[place]] ^= 64
    pack.write_bytes(data)
    assert call()


@pytest.mark.parametrize("name", ["numba", "llvmlite"])
def test_code_of_other_versions_is_not_used(tried, monkeypatch, caplog, name):
    """One line names both versions and what to install."""
    other = {**packs.VERSIONS, name: "0.1.2"}
    monkeypatch.setattr(packs, "VERSIONS", other)
    assert tried[1]()
    (line,) = [record.getMessage() for record in caplog.records]
    assert "0.1.2" in line
    assert packs.numba.__version__ in line
    assert "pip install 'arboretum-trees[kernels]'" in line


def test_the_name_of_a_kernel_depends_on_versions(monkeypatch):
    before = compiled_code.made_with.__wrapped__()
    monkeypatch.setitem(private.VERSIONS, "numba", "0.1.2")
    assert compiled_code.made_with.__wrapped__() != before


def test_code_of_other_sources_is_not_used(tried, monkeypatch):
    monkeypatch.setattr(cache, "source_hash", lambda path: "0" * 16)
    assert tried[1]()


def test_code_for_a_better_cpu_is_not_used(tried):
    pack, call = tried
    found = packs.Pack.open(pack)
    codes = {name: found.read(name) for name in found.places}
    packs.write_pack(pack, ["a feature of tomorrow"], codes)
    assert call()


@pytest.mark.parametrize("name", ["CPU_NAME", "BOUNDSCHECK"])
def test_another_way_to_compile_is_respected(tried, monkeypatch, name):
    monkeypatch.setattr(packs.numba.config, name, "generic")
    packs.find_pack.cache_clear()
    assert packs.find_pack() is None


def test_packs_can_be_done_without(tried, monkeypatch):
    monkeypatch.setenv("ARBORETUM_PREBUILT", "0")
    assert tried[1]()


needs_users = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no user numbers here")


@needs_users
@pytest.mark.parametrize("who", ["pack", "folder"])
def test_what_everybody_can_write_is_not_read(tried, who):
    pack, call = tried
    (pack if who == "pack" else pack.parent).chmod(0o777)
    assert call()


@needs_users
def test_who_may_have_written_a_file():
    def state(mode: int, user: int, group: int) -> os.stat_result:
        return os.stat_result((stat.S_IFREG | mode, 0, 0, 0, user, group, 0, 0, 0, 0))

    me, other = os.geteuid(), os.geteuid() + 12345
    assert compiled_code.is_private(state(0o644, me, 7))
    assert compiled_code.is_private(state(0o644, 0, 0))
    assert compiled_code.is_private(state(0o664, me, me)), "a group of the user's own"
    assert not compiled_code.is_private(state(0o664, me, other))
    assert not compiled_code.is_private(state(0o646, me, me))
    assert not compiled_code.is_private(state(0o644, other, other))
    assert compiled_code.is_private(state(0o644, other, other), other)


def test_the_best_pack_that_fits_is_taken(tried, monkeypatch):
    pack, _ = tried
    shutil.copy(pack, pack.with_name("plain.pack"))
    monkeypatch.setattr(packs, "baselines", lambda: {"missing": [], "plain": [], "x86-64-v3": []})
    packs.find_pack.cache_clear()
    assert packs.find_pack().path.name == "plain.pack"


def test_baselines_name_features_that_llvm_knows():
    known = packs.llvm.get_host_cpu_features()
    for features in packs.baselines().values():
        assert set(features) <= set(known)


def test_what_is_loaded_is_not_counted_as_compiled(tried):
    before = compiled.n_kernels
    tried[1]()
    assert compiled.n_kernels == before


@pytest.mark.skipif("x86-64-v2" not in packs.baselines(), reason="another architecture")
@pytest.mark.parametrize(
    ("lacking", "expected"),
    [((), "x86-64-v3"), (("avx2",), "x86-64-v2"), (("fma",), "x86-64-v2"), (("sse4.2",), None)],
)
def test_a_cpu_gets_the_pack_whose_features_it_has(monkeypatch, tmp_path, lacking, expected):
    baselines = packs.baselines()
    for name, features in baselines.items():
        packs.write_pack(tmp_path / f"{name}.pack", features, {})
    features = {name: name not in lacking for each in baselines.values() for name in each}
    monkeypatch.setattr(packs.llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(packs, "FOLDER", tmp_path)
    packs.find_pack.cache_clear()
    try:
        found = packs.find_pack()
    finally:
        packs.find_pack.cache_clear()
    assert (None if found is None else found.path.stem) == expected
