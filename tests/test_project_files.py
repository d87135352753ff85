"""Files that tools outside this repository read: workflows, templates, the citation, pre-commit."""

import re
from pathlib import Path

import pytest

import arboretum

yaml = pytest.importorskip("yaml")  # a dependency of pre-commit
ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
OTHERS = [
    *sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")),
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
]


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", [*WORKFLOWS, *OTHERS], ids=lambda path: path.name)
def test_the_file_is_yaml_with_fields(path):
    assert isinstance(read(path), dict)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_what_exists(path):
    text, workflow = path.read_text(encoding="utf-8"), read(path)
    assert workflow[True]  # YAML reads the key `on` as true
    for name, job in workflow["jobs"].items():
        assert ("steps" in job) != ("uses" in job), name
        for other in [job.get("needs", [])] if isinstance(job.get("needs"), str) else []:
            assert other in workflow["jobs"]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for targets in re.findall(r"run: make ([\w ]+)", text):
        for target in targets.split():
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for local in re.findall(r"uses: \./(\S+)", text):
        assert (ROOT / local).exists(), local
    for folders in re.findall(r"pytest -n 2((?: tests/\w+)*)", text):
        assert all((ROOT / folder).is_dir() for folder in folders.split())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_what_has_not_run_is_marked(path):
    assert path.read_text(encoding="utf-8").startswith("# Not yet run")


def test_the_citation_is_of_this_version():
    assert read(ROOT / "CITATION.cff")["version"] == arboretum.__version__


def test_the_tests_run_on_every_python_of_the_package():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pythons = re.findall(r"Python :: (3\.\d+)\"", project)
    matrix = read(ROOT / ".github/workflows/tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == pythons


def test_pre_commit_uses_pinned_programs():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for hook in read(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]:
        program = hook["entry"].split()[0].removeprefix(".venv/bin/")
        assert program == "python" or re.search(rf'"{program}==[\d.]+"', project), program


def test_the_readme_shows_a_picture_that_loads_quickly():
    (picture,) = re.findall(
        r"!\[[^\]]+\]\((\S+\.png)\)", (ROOT / "README.md").read_text(encoding="utf-8")
    )
    assert (ROOT / picture).stat().st_size < 300_000
    assert Path(picture).name in (ROOT / "docs" / "make_picture.py").read_text(encoding="utf-8")
