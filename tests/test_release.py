"""The files of a release agree, and the package index can show the README."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import dev
import kerascope

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
GITHUB = {
    path.name: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / ".github").rglob("*.yml"))
}
WORKFLOWS = {name: content["jobs"] for name, content in GITHUB.items() if "jobs" in content}
STEPS = [
    step for jobs in WORKFLOWS.values() for job in jobs.values() for step in job["steps"]
]  # fmt: skip


def test_the_citation_is_that_of_the_newest_release():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest, *_ = re.findall(r"^## ([\d.]+) \((\d{4}-\d\d-\d\d)\)$", changes, flags=re.MULTILINE)
    assert (cited["version"], cited["date-released"]) == newest
    page = (ROOT / "docs" / "citing.md").read_text(encoding="utf-8")
    for key, value in {**cited, "year": cited["date-released"][:4]}.items():
        if found := re.search(rf"^  {key} += \{{(.*)\}},$", page, flags=re.MULTILINE):
            assert found[1] == value, key
    if "dev" not in kerascope.__version__:
        assert cited["version"] == kerascope.__version__


def test_the_workflows_use_the_pythons_of_the_classifiers():
    classifiers = " ".join(PROJECT["classifiers"])
    pythons = re.findall(r"Python :: (\d\.\d+)", classifiers)
    assert WORKFLOWS["tests.yml"]["default"]["strategy"]["matrix"]["python"] == pythons
    used = [str(step.get("with", {}).get("python-version", "")) for step in STEPS]
    assert set(re.findall(r"\d\.\d+", " ".join(used))) <= set(pythons)
    assert pythons[-1] == dev.NEWEST_PYTHON


def test_the_workflows_run_commands_that_exist_and_pin_the_major_version_of_actions():
    commands = "\n".join(step.get("run", "") for step in STEPS)
    assert set(re.findall(r"dev\.py (\w+)", commands)) <= set(dev.COMMANDS)
    assert ".ci/run" in commands
    actions = [step["uses"] for step in STEPS if "uses" in step]
    assert [name for name in actions if not re.search(r"@(release/)?v\d+$", name)] == []


def test_each_form_for_issues_asks_for_something():
    forms = [content for content in GITHUB.values() if "body" in content]
    assert len(forms) == 3
    for form in forms:
        assert form["name"]
        assert form["description"]
        labels = [field["attributes"].get("label") for field in form["body"]]
        assert all(labels[1:])
        assert len(set(labels)) == len(labels)
        assert any(field.get("validations", {}).get("required") for field in form["body"])


@pytest.mark.process
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="runs commands of GNU")
def test_the_package_index_gets_links_with_an_address(tmp_path: Path):
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (step,) = [step for step in STEPS if "URL" in step.get("env", {})]
    known = {"URL": "https://host/a/b", "GITHUB_REF_NAME": "v1.2.3", "PATH": "/usr/bin:/bin"}
    subprocess.run(["bash", "-ec", step["run"]], cwd=tmp_path, env=known, check=True)
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    after = (tmp_path / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", after)
    assert links == [
        link
        if ":" in link
        else f"https://host/a/b/{'raw' if link.endswith('.svg') else 'blob'}/v1.2.3/{link}"
        for link in re.findall(r"\]\(([^)]+)\)", before)
    ]
    assert re.sub(r"https://host/a/b/(raw|blob)/v1.2.3/", "", after) == before
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Repository"] == "https://host/a/b"
    assert {**project, "urls": None} == {**PROJECT, "urls": None}
