"""Where compiled kernels are kept, what they are kept under, and what happens when that goes wrong."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from arboretum.engine.compiler import cache, compiled_code, decorators, sources
from tests.engine.processes import run_script


# ---------------------------------------------------------------------- where compiled code is kept
def test_the_hash_follows_imports_and_nothing_else(monkeypatch, tmp_path):
    """a imports b imports c; d stands alone."""
    engine = tmp_path / "arboretum" / "engine"
    (engine / "split").mkdir(parents=True)
    texts = {
        "a.py": "from arboretum.engine.split.b import f\n",
        "split/b.py": "def f():\n    from arboretum.engine import (\n        z, c,\n    )\n",
        "c.py": "x = 1\n",
        "d.py": "y = 1\n",
    }
    monkeypatch.setattr(sources, "ENGINE", engine)

    def hashes() -> dict[str, str]:
        sources._text.cache_clear()
        sources._imported.cache_clear()
        return {name: sources.source_hash(engine / name) for name in texts}

    for name, text in texts.items():
        (engine / name).write_text(text)
    before = hashes()
    assert len(set(before.values())) == 4
    assert hashes() == before
    (engine / "c.py").write_text("x = 2\n")
    after = hashes()
    assert {name for name in texts if after[name] != before[name]} == {"a.py", "split/b.py", "c.py"}


@pytest.mark.parametrize(
    ("text", "is_same"),
    [
        ('"""Text."""\n\n\ndef f(x):\n    """More."""\n    # why\n    return x + 1  # so\n', True),
        ("def f(x):\n    return x + 2\n", False),
        ('def f(x):\n    "#"\n    return x + 1\n', True),
        ("def f(x):\n    return (\n        x + 1\n    )\n", True),
    ],
)
def test_comments_and_docstrings_make_no_other_code(text, is_same, tmp_path):
    plain, other = tmp_path / "plain.py", tmp_path / "other.py"
    plain.write_text("def f(x):\n    return x + 1\n")
    other.write_text(text)
    assert (sources.code_hash(plain) == sources.code_hash(other)) is is_same
    assert sources.source_hash(plain) != sources.source_hash(other)


def test_every_import_of_the_engine_is_followed():
    """What a module of the engine has loaded from the engine is what its hash is made of."""
    from arboretum.engine.second_order import grow

    found = sources._sources(Path(grow.__file__))
    names = {value.__module__ for value in vars(grow).values() if hasattr(value, "__module__")}
    for name in names:
        if name.startswith("arboretum.engine."):
            assert Path(sys.modules[name].__file__) in found, name


def test_the_directory_changes_with_the_version(monkeypatch):
    monkeypatch.setattr(cache, "__version__", "99.0")
    assert cache.cache_directory().name == "kernels-99.0"


def test_checked_code_is_kept_apart(monkeypatch):
    monkeypatch.setattr(cache.numba.config, "BOUNDSCHECK", 1)
    checked = cache.cache_directory().name
    monkeypatch.setattr(cache.numba.config, "BOUNDSCHECK", None)
    assert checked == cache.cache_directory().name + "-checked"


def test_environment_variables_move_the_directory(monkeypatch, tmp_path):
    for name in ("ARBORETUM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert cache.cache_directory().parent.name in ("arboretum", "cache")
    if sys.platform == "linux":
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        assert cache.cache_directory().parent == tmp_path / "xdg" / "arboretum"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    assert cache.cache_directory().parent == tmp_path / "numba"
    monkeypatch.setenv("ARBORETUM_CACHE_DIR", str(tmp_path / "mine"))
    assert cache.cache_directory().parent == tmp_path / "mine"


@pytest.fixture
def _no_user_cache(monkeypatch, tmp_path):
    """A cache that cannot be written (below a file), and a temporary directory of our own."""
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("ARBORETUM_CACHE_DIR", str(blocked / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.usefixtures("_no_user_cache")
def test_a_private_temporary_directory_stands_in(tmp_path):
    found = Path(cache.writable_cache())
    assert found.is_relative_to(tmp_path)
    assert found.name == cache.cache_directory().name
    assert found.is_dir()
    if hasattr(os, "getuid"):
        assert found.parent.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("_no_user_cache")
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no user numbers")
@pytest.mark.parametrize("trap", ["link", "open to all"])
def test_a_directory_others_could_have_prepared_is_not_used(tmp_path, trap):
    """Compiled code is executed: never read it from where somebody else could have put it."""
    private = tmp_path / f"arboretum-{os.getuid()}"
    if trap == "link":
        (tmp_path / "elsewhere").mkdir()
        private.symlink_to(tmp_path / "elsewhere")
    else:
        private.mkdir()
        private.chmod(0o777)
    assert cache.writable_cache() is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="this system has no user numbers")
def test_a_cache_that_all_can_write_is_not_used(monkeypatch, tmp_path):
    monkeypatch.setenv("ARBORETUM_CACHE_DIR", str(tmp_path / "mine"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    mine = cache.writable_cache()
    assert mine.is_relative_to(tmp_path / "mine")
    assert mine.stat().st_mode & 0o077 == 0
    mine.chmod(0o777)
    assert not cache.writable_cache().is_relative_to(tmp_path / "mine")


def test_a_user_without_a_home_gets_a_temporary_directory(monkeypatch, tmp_path):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ARBORETUM_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cache.Path, "home", staticmethod(no_home))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert Path(cache.writable_cache()).is_relative_to(tmp_path)


def test_without_any_place_kernels_compile_all_the_same(monkeypatch):
    monkeypatch.setattr(decorators, "_CACHE", None)

    @decorators.kernel
    def double(x):
        return 2 * x

    assert double(21) == 42


READ_ONLY_HOME = """
import numpy as np
from arboretum.engine.compiler import decorators
from arboretum.engine.random import child_keys
keys = np.empty(2, np.uint64)
child_keys(np.array([0], np.uint64), keys)
print(decorators._CACHE)
print(f"{keys[0]:x}")
"""


def test_a_read_only_home_falls_back_to_the_temporary_directory(tmp_path):
    blocked = tmp_path / "home"
    blocked.write_text("a file, in which no directory can be made")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    where, key = run_script(
        READ_ONLY_HOME,
        HOME=str(blocked),
        USERPROFILE=str(blocked),
        LOCALAPPDATA=str(blocked),
        XDG_CACHE_HOME=str(blocked),
        ARBORETUM_CACHE_DIR="",
        NUMBA_CACHE_DIR="",
        TMPDIR=str(temporary),
        TEMP=str(temporary),
    ).split()
    assert Path(where).is_relative_to(temporary)
    assert key == "e220a8397b1dcdaf"
    assert list(Path(where).rglob("*.kernel"))  # compiled code was kept there


# ---------------------------------------------------------------------- damage
@pytest.fixture
def kept(monkeypatch, tmp_path):
    """Compile a function into a cache of its own; returns what compiles it again and its files."""
    monkeypatch.setattr(decorators, "_CACHE", tmp_path)

    def make():
        def triple(x):
            return 3 * x

        return decorators.kernel(triple)

    assert make()(14) == 42
    return make, lambda pattern: list(tmp_path.rglob(pattern))


def _compiled(function) -> int:
    """Return how many forms were compiled rather than read."""
    return sum(function.stats.cache_misses.values())


def test_what_is_kept_is_not_compiled_again(kept):
    again = kept[0]()
    assert again(14) == 42
    assert _compiled(again) == 0


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"\x80\x04K"])
def test_a_damaged_file_is_compiled_over(kept, damage):
    make, files = kept
    for path in files("*.kernel"):
        path.write_bytes(damage)
    damaged = make()
    assert damaged(14) == 42
    assert _compiled(damaged) == 1
    mended = make()
    assert mended(14) == 42
    assert _compiled(mended) == 0


@pytest.mark.parametrize("change", ["cut", "one bit"])
def test_code_that_has_changed_is_not_run(kept, change):
    make, files = kept
    for path in files("*.kernel"):
        code = bytearray(path.read_bytes())
        code[len(code) // 2] ^= 4
        path.write_bytes(bytes(code) if change == "one bit" else code[: len(code) // 2])
    again = make()
    assert again(14) == 42
    assert _compiled(again) == 1


def test_code_of_other_types_is_not_run(kept):
    """A file that lies under a wrong name, as when a disk was repaired."""
    make, files = kept
    whole = set(files("*.kernel"))
    assert make()(2.5) == 7.5
    (number,) = whole
    (fraction,) = set(files("*.kernel")) - whole
    number.write_bytes(fraction.read_bytes())
    again = make()
    assert again(14) == 42
    assert _compiled(again) == 1


def test_code_of_another_function_is_not_run(kept):
    make, files = kept
    (file,) = files("*.kernel")

    @decorators.kernel
    def double(x):
        return 2 * x

    assert double(14) == 28
    (other,) = set(files("*.kernel")) - {file}
    file.write_bytes(other.read_bytes())
    assert make()(14) == 42
    mended = make()
    assert mended(14) == 42
    assert _compiled(mended) == 0


KINDS = ["pipe", "folder", "link to itself", "link to nothing", "not to be read"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_compiled_over(kept, kind):
    make, files = kept
    (file,) = files("*.kernel")
    if kind == "not to be read":
        file.chmod(0)
    else:
        file.unlink()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind.startswith("link"):
        file.symlink_to(file if kind == "link to itself" else file.parent / "nothing")
    assert make()(14) == 42
    if kind != "folder":
        again = make()
        assert again(14) == 42
        assert _compiled(again) == 0
    assert not files(".arboretum-*")


def test_a_folder_that_is_a_file_is_done_without(kept):
    make, files = kept
    (file,) = files("*.kernel")
    file.unlink()
    file.parent.rmdir()
    file.parent.write_text("in the way")
    assert make()(14) == 42


def test_each_compiled_form_is_a_file(kept):
    """So processes that compile other forms of a function at the same time do not meet."""
    make, files = kept
    assert make()(2.5) == 7.5
    assert len(files("*.kernel")) == 2
    assert not files(".arboretum-*")


def test_a_disk_that_is_full_is_done_without(kept, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    make, files = kept
    monkeypatch.setattr(cache.os, "replace", full)
    assert make()(2.5) == 7.5
    assert len(files("*")) == 2  # the folder, and what was there


def test_a_cache_that_becomes_read_only_is_done_without(kept, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    make, files = kept
    monkeypatch.setattr(Path, "read_bytes", refuse)
    monkeypatch.setattr(cache.os, "replace", refuse)
    assert make()(14) == 42
    assert not files(".arboretum-*")


def test_code_of_another_numba_is_not_found(kept, monkeypatch):
    monkeypatch.setattr(compiled_code, "made_with", lambda: "another Numba")
    again = kept[0]()
    assert again(14) == 42
    assert _compiled(again) == 1
