"""The folder of a fit: arrays in files, removed at the end, and after a kill by the next fit."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from arboretum.errors import DataError
from arboretum.streams.scratch import Scratch, map_array


def test_arrays_in_files(tmp_path):
    with Scratch(tmp_path) as scratch:
        one = scratch.empty((3, 4), np.uint16)
        one[...] = np.arange(12).reshape(3, 4)
        assert type(one) is np.ndarray
        assert one.flags.writeable
        assert scratch.empty((0, 4), np.uint8).shape == (0, 4)
        copy = scratch.stored(np.array([1.5, 2.5]))
        assert copy.tolist() == [1.5, 2.5]
        assert scratch.stored(words := np.array(["a", None], object)) is words
        (path,) = (p for p in scratch.folder.iterdir() if p.stat().st_size == 24)
        again = map_array(path, (3, 4), np.uint16, exists=True)
        again[0, 0] = 9
        assert one[0, 0] == 0  # a copy on write
    assert list(tmp_path.iterdir()) == []


def test_an_error_removes_the_folder(tmp_path):
    with pytest.raises(ValueError, match="negative"), Scratch(tmp_path) as scratch:
        scratch.empty((5,), np.uint8)[:] = np.full(-1, 0)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with (
        pytest.raises(DataError, match=r"no folder can be made .*scratch="),
        Scratch(tmp_path / "file"),
    ):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_the_folder_of_a_killed_process_is_removed(tmp_path):
    script = (
        "import sys, time; from arboretum.streams.scratch import Scratch\n"
        "with Scratch(sys.argv[1]) as one: print(one.folder, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        folder = other.stdout.readline().strip()
        with Scratch(tmp_path) as mine, Scratch(tmp_path):
            assert len(list(tmp_path.iterdir())) == 3  # all of them live
        assert [str(path) for path in tmp_path.iterdir()] == [folder]
        other.send_signal(signal.SIGKILL)
        other.wait()
        with Scratch(tmp_path) as mine:
            assert list(tmp_path.iterdir()) == [mine.folder]
