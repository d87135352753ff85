"""The same suite every time: what would be drawn anew for every test has a number of its own.

`random_state=None` takes fresh entropy, and a law that holds for nearly every seed fails one run in a
thousand. Here the first draw of a test is of seed 0, the next of seed 1 and so on, so two models of one test
still differ. In continuous integration (``CI`` set) Hypothesis tries the same examples every time, too; at
the desk it goes on looking for new ones.
"""

import itertools
import os

import numpy as np
from hypothesis import settings

settings.register_profile("same", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("same")

_Fresh = np.random.SeedSequence
_draws = itertools.count()


class _Numbered(_Fresh):
    """A seed sequence that takes the next number where it would take entropy."""

    def __init__(self, entropy=None, **keywords):
        super().__init__(next(_draws) if entropy is None else entropy, **keywords)


np.random.SeedSequence = _Numbered


def pytest_runtest_setup(item):
    """Let every test begin with seed 0, whatever ran before it."""
    global _draws
    _draws = itertools.count()
