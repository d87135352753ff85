"""Scripts written for a peer run to the end with arboretum, and print what they print with the peer.

Every `<peer>_<subject>.py` of this folder is such a script. Its imports are replaced, it is run, and its
lines are compared with those of the peer: the words are the same, and so is every number but for
`TOLERANCE`, because random numbers and ties differ.
"""

import re
import warnings
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from tests.scripts.replace_imports import replace_imports

SCRIPTS = sorted(
    path
    for peer in ("sklearn", "xgboost", "lightgbm")
    for path in Path(__file__).parent.glob(f"{peer}_*.py")
)
TOLERANCE = 0.1  # of a number, or of 1 where that is more
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")


def run(source, path, capsys):
    """Return what a script prints and the names that it leaves."""
    names = {"__name__": "__main__", "__file__": str(path)}
    np.random.seed(0)
    exec(compile(source, str(path), "exec"), names)
    return capsys.readouterr().out.splitlines(), names


def made_by_arboretum(names):
    """Return whether a script holds a class or an object of arboretum's, or a list of some."""
    held = list(names.values())
    for group in names.values():
        held.extend(group.values() if isinstance(group, dict) else ())
        held.extend(group if isinstance(group, list | tuple) else ())
    kinds = [one if isinstance(one, type) else type(one) for one in held]
    return any(kind.__module__.startswith("arboretum.") for kind in kinds)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_prints_what_it_prints_with_the_peer(path, capsys, tmp_path, monkeypatch):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)  # scripts may write files
    monkeypatch.setattr("lightgbm.sklearn._LGBMCpuCount", lambda **_: 1)  # its threads wait busily
    source = path.read_text(encoding="utf-8")
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # the peer's own
        theirs, names = run(source, path, capsys)
    assert not made_by_arboretum(names)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours, names = run(replace_imports(source), path, capsys)
    assert made_by_arboretum(names)
    assert [NUMBER.sub("#", line) for line in ours] == [NUMBER.sub("#", line) for line in theirs]
    for our_line, their_line in zip(ours, theirs):
        found, wanted = (
            [float(text) for text in NUMBER.findall(line)] for line in (our_line, their_line)
        )
        assert found == pytest.approx(wanted, rel=TOLERANCE, abs=TOLERANCE), (our_line, their_line)


def test_only_imports_of_peers_are_replaced():
    source = """\
import numpy as np, xgboost as xgb
import xgboost
from sklearn import datasets, tree as trees
from sklearn.ensemble import (
    RandomForestClassifier,  # grown
    StackingClassifier as Stack,
)
from sklearn.model_selection import KFold
def later():
    from lightgbm import early_stopping
    return early_stopping("from sklearn.tree import nothing")
"""
    assert (
        replace_imports(source)
        == """\
import numpy as np
import arboretum as xgb
import arboretum as xgboost
from sklearn import datasets
from arboretum import tree as trees
from arboretum.ensemble import RandomForestClassifier, StackingClassifier as Stack
from sklearn.model_selection import KFold
def later():
    from arboretum import early_stopping
    return early_stopping("from sklearn.tree import nothing")
"""
    )


def test_an_import_that_binds_the_package_is_refused():
    with pytest.raises(
        ValueError, match=r"line 2: `import sklearn.tree` .* write `import sklearn.tree as"
    ):
        replace_imports("import os\nimport sklearn.tree\n")
