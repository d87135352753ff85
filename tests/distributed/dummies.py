"""Objects for workers."""

import os
import signal
import time

import numpy as np

from arboretum.distributed.partitions import TablesOnWorker
from arboretum.distributed.trees import TreesOnWorker
from arboretum.errors import DataError


class Tallies:
    """Numbers that can be added to; fails and dies on request."""

    def __init__(self, *numbers):
        if any(isinstance(one, str) for one in numbers):
            raise DataError("there is a bad number")
        self.numbers = [int(np.sum(one)) for one in numbers]

    def total(self, more=0):
        return sum(self.numbers) + more

    def twice(self, array):
        return 2 * array

    def slow(self, seconds):
        time.sleep(seconds)
        return os.getpid()

    def fail(self):
        raise DataError("a row is odd")

    def die(self, number):
        if number in self.numbers:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.numbers

    def threads(self):
        from arboretum.engine.parallel import effective_jobs

        return effective_jobs(None)


class MortalTrees(TreesOnWorker):
    """Dies once, when it is to grow tree 4."""

    def __init__(self, marker):
        self.marker = marker

    def grow(self, numbers):
        if 4 in numbers and not os.path.exists(self.marker):
            open(self.marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().grow(numbers)


class MortalTables(TablesOnWorker):
    """Dies when it is to divide nodes, once for every file that it finds in a folder."""

    def __init__(self, folder, *arguments):
        super().__init__(*arguments)
        self.folder = folder

    def split(self, *arguments):
        for name in os.listdir(self.folder):
            try:
                os.remove(os.path.join(self.folder, name))
            except FileNotFoundError:
                continue  # another worker was faster
            os.kill(os.getpid(), signal.SIGKILL)
        return super().split(*arguments)


class NamedTables(TablesOnWorker):
    """Returns its process."""

    def pid(self):
        return os.getpid()
