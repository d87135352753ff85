"""A file is replaced as a whole, keeps its permissions, and killed writers leave nothing for long."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arboretum import atomic_file
from arboretum.atomic_file import replacing

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions and locks are POSIX")

# Writes half a file, says so, and waits to be killed.
HALF = """
import sys, time
from arboretum.atomic_file import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.fixture
def half_written():
    """Return a function that starts a process which stays in the middle of a write."""
    started = []

    def start(path: Path) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-c", HALF, str(path)], stdout=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def put(path: Path, data: bytes = b"new") -> None:
    with replacing(path) as file:
        file.write(data)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_an_error_keeps_the_old_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "file"
    put(path, b"old")
    with pytest.raises(TypeError), replacing(path) as file:
        file.write("not bytes")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("wanted", [0o600, 0o640, 0o400, 0o664])
@pytest.mark.usefixtures("umask")
def test_an_old_file_keeps_its_permissions(tmp_path, wanted):
    path = tmp_path / "file"
    put(path)
    path.chmod(wanted)
    put(path)
    assert mode(path) == wanted


@pytest.mark.usefixtures("umask")
def test_a_new_file_follows_the_umask(tmp_path):
    put(tmp_path / "file")
    assert mode(tmp_path / "file") == 0o640


def test_a_file_is_private_while_it_replaces_a_private_one(tmp_path):
    path = tmp_path / "file"
    put(path)
    path.chmod(0o600)
    with replacing(path):
        assert {mode(one) for one in tmp_path.iterdir()} == {0o600}


def test_a_link_stays_a_link_and_its_target_keeps_its_permissions(tmp_path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    put(target)
    target.chmod(0o600)
    link.symlink_to(target)
    put(link, b"newer")
    assert link.is_symlink()
    assert target.read_bytes() == b"newer"
    assert mode(target) == 0o600


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_owner_and_group_stay(tmp_path):
    path = tmp_path / "file"
    put(path)
    os.chown(path, 1234, 5678)
    put(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 5678)


def test_another_group_is_not_given_what_the_old_one_had(tmp_path, monkeypatch):
    path = tmp_path / "file"
    put(path)
    path.chmod(0o664)
    found = os.stat(path)
    other = os.stat_result([*found[:5], found.st_gid + 1, *found[6:10]])

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    with open(path, "wb") as file:
        atomic_file._take_over(file, str(path), other)
    assert mode(path) == 0o644


# ---------------------------------------------------------------------- what killed writers leave
def test_the_next_write_removes_what_a_killed_one_left(tmp_path, half_written):
    process = half_written(tmp_path / "file")
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(os.listdir(tmp_path)) == 1
    put(tmp_path / "other file")
    assert os.listdir(tmp_path) == ["other file"]


def test_a_write_side_by_side_is_left_alone(tmp_path, half_written):
    path = tmp_path / "file"
    process = half_written(path)
    put(path)
    put(path)
    assert len(os.listdir(tmp_path)) == 2
    process.send_signal(signal.SIGINT)  # ends the block with an error: nothing is replaced
    process.wait()
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_bytes() == b"new"


def test_what_is_no_scratch_file_is_left_alone(tmp_path):
    kept = tmp_path / ".arboretum-notes", tmp_path / "arboretum-1.tmp"
    for path in kept:
        path.write_text("mine")
    (tmp_path / ".arboretum-1.tmp").mkdir()
    (tmp_path / ".arboretum-2.tmp").symlink_to(kept[0])
    put(tmp_path / "file")
    assert len(os.listdir(tmp_path)) == 5
    assert kept[0].read_text() == "mine"


def test_a_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    real, calls = atomic_file.fcntl.flock, []

    def removed(file, operation):
        if not calls:
            os.unlink(next(tmp_path.iterdir()))
        calls.append(file)
        real(file, operation)

    monkeypatch.setattr(atomic_file.fcntl, "flock", removed)
    put(tmp_path / "file")
    assert len(calls) == 2
    assert os.listdir(tmp_path) == ["file"]


def test_a_drive_without_locks_is_written_and_not_cleaned(tmp_path, monkeypatch):
    def unsupported(*_: object) -> None:
        raise OSError("no locks")

    monkeypatch.setattr(atomic_file.fcntl, "flock", unsupported)
    (tmp_path / ".arboretum-1.tmp").touch()
    put(tmp_path / "file")
    assert len(os.listdir(tmp_path)) == 2


def test_a_system_without_locks_is_written_and_not_cleaned(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_file, "fcntl", None)
    (tmp_path / ".arboretum-1.tmp").touch()
    put(tmp_path / "file")
    assert len(os.listdir(tmp_path)) == 2
