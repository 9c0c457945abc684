"""Finds the conditions of a measurement: processor, NumPy and its BLAS, threads, the commit."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.paired.columns import COLUMNS, REFERENCE
from benchmarks.paired.environments import ROOT, python_of

ASK_NUMPY = """
import json, numpy
blas = numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]
print(json.dumps({"numpy": numpy.__version__, "blas": f"{blas['name']} {blas['version']}"}))
"""

ASK_VERSIONS = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    for known in (name, name + "-cpu"):
        try:
            found[name] = importlib.metadata.version(known)
        except importlib.metadata.PackageNotFoundError:
            pass
print(json.dumps(found))
"""


def processor() -> str:
    """Return the model of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def asked(python: str | None, code: str, *words: str) -> dict[str, Any]:
    """Return the data that a Python script prints as JSON; {} if the script fails."""
    if python is None:
        return {}
    run = subprocess.run([python, "-c", code, *words], capture_output=True, text=True)
    found: dict[str, Any] = json.loads(run.stdout) if run.returncode == 0 else {}
    return found


def commit() -> str:
    """Return the commit of the checkout, with a plus if files of kerascope have changed."""

    def git(*words: str) -> str:
        try:
            run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
        except OSError:
            return ""
        return run.stdout.strip()

    return git("rev-parse", "--short", "HEAD") + (
        "+" if git("status", "--porcelain", "--", "kerascope") else ""
    )


def versions(columns: list[str]) -> dict[str, str]:
    """Return the versions of the packages that the measured columns need."""
    found: dict[str, str] = {}
    for column in columns:
        for package, version in asked(
            python_of(column), ASK_VERSIONS, *COLUMNS[column].needs
        ).items():
            found.setdefault(package, version)
    return {name: found[name] for name in sorted(found) if name not in ("rich", "h5py")}


def facts(columns: list[str], label: str) -> dict[str, Any]:
    """Return the conditions of a run, which are the first line of its results."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "kind": "run",
        "label": label,
        "date": time.strftime("%Y-%m-%d"),
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **asked(python_of(REFERENCE), ASK_NUMPY),
        "versions": versions(columns),
        "commit": commit(),
        "load": round(load, 2),
    }
