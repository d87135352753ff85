"""What pyproject.toml says of versions: tools are pinned, libraries are not, every Python named is tested."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LIBRARIES = ("arboretum-trees", "lightgbm", "xgboost")


def test_every_tool_is_pinned_and_no_library():
    project = PROJECT["project"]
    extras = project["optional-dependencies"]
    tools = [line for line in extras["test"] if not line.startswith(LIBRARIES)]
    assert [line for line in tools if "==" not in line] == []
    libraries = [*project["dependencies"], *extras["plot"], *extras["frames"]]
    assert [line for line in libraries if ">=" not in line] == []


def test_types_are_checked_for_the_python_that_runs():
    """NumPy's stubs cannot be read as those of a Python that this NumPy does not support."""
    assert "python_version" not in PROJECT["tool"]["mypy"]


def test_every_python_that_is_named_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    script = (ROOT / ".ci" / "versions").read_text(encoding="utf-8")
    assert f"${{PYTHONS:-{' '.join(named)} oldest newest}}" in script
