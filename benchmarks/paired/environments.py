"""Find the Python of each column, and build the optional environments."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from benchmarks.paired.columns import COLUMNS
from benchmarks.paired.workloads import Mistake, unknown

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "benchmarks" / ".venv"
"""Ignored by git."""

PACKAGES = {
    "jax": ["numpy>=2", "jax", "keras>=3.5"],
    "torch": ["numpy>=2", "torch", "keras>=3.5"],
    "tf": [
        "numpy>=2",
        "tensorflow-cpu; sys_platform == 'linux'",
        "tensorflow; sys_platform != 'linux'",
        "keras>=3.5",
    ],
    "autograd": ["numpy>=2", "autograd"],
}
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
"""The index of torch without GPU libraries, which take gigabytes."""

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NPROC",
    "PJRT_NPROC",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
)


def python_in(folder: Path) -> Path:
    """Return the path of the Python in a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


@cache
def has(python: str, packages: tuple[str, ...]) -> bool:
    """Return whether all these packages are installed for a Python, without importing them."""
    question = (
        "import importlib.util as u, sys; "
        "sys.exit(any(u.find_spec(name) is None for name in sys.argv[1:]))"
    )
    try:
        return (
            subprocess.run([python, "-c", question, *packages], capture_output=True).returncode == 0
        )
    except OSError:
        return False


def python_of(column: str) -> str | None:
    """Return the first Python that has the packages of a column; None if none has them.

    They are searched in the column's environment, this Python, and the project's .venv.
    """
    found = COLUMNS[column]
    candidates = [sys.executable, str(python_in(ROOT / ".venv"))]
    if found.environment:
        candidates.insert(0, str(python_in(FOLDER / found.environment)))
    return next((python for python in candidates if has(python, found.needs)), None)


def how_to_build(column: str) -> str:
    """Return the reason why a column is skipped, and the remedy."""
    environment = COLUMNS[column].environment
    missing = ", ".join(COLUMNS[column].needs)
    if environment:
        how = f"python3 -m benchmarks.paired environments {environment}"
    else:
        how = "python3 dev.py demo makes the project's environment"
    return f"{column}: left out, no environment has {missing}. To build it: {how}"


def variables(threads: int, backend: str = "") -> dict[str, str]:
    """Return the environment variables of a column's process."""
    found = dict(os.environ)
    found.update({name: str(threads) for name in THREAD_VARIABLES})
    found.update(TF_CPP_MIN_LOG_LEVEL="2", JAX_PLATFORMS="cpu", CUDA_VISIBLE_DEVICES="")
    found.update(PYTHONPATH=str(ROOT), PYTHONWARNINGS="ignore", KERAS_HOME=str(FOLDER / "keras"))
    if threads == 1:
        found["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    if backend:
        found["KERAS_BACKEND"] = backend
    return found


def build(names: list[str]) -> None:
    """Create or renew the optional environments with these names.

    Raises
    ------
    Mistake
        If an environment is unknown, or pip failed.
    """
    for name in names:
        if name not in PACKAGES:
            raise unknown("environment", name, PACKAGES)
    for name in names or PACKAGES:
        folder = FOLDER / name
        print(f"environment {name}: pip install {' '.join(PACKAGES[name])}", flush=True)
        if not python_in(folder).exists():
            FOLDER.mkdir(parents=True, exist_ok=True)
            if subprocess.run([sys.executable, "-m", "venv", str(folder)]).returncode:
                raise Mistake(
                    f"environment {name}: this Python cannot make environments; its message is "
                    "above. On Debian and Ubuntu: apt install python3-venv. Or run this command "
                    "with .venv/bin/python."
                )
        pip = [str(python_in(folder)), "-m", "pip", "install", "--disable-pip-version-check", "-q"]
        if name == "torch" and not has(str(python_in(folder)), ("torch",)):
            # Without access to this index, the next line installs the larger wheel.
            subprocess.run([*pip, "--index-url", CPU_WHEELS, "torch"], capture_output=True)
        if subprocess.run([*pip, *PACKAGES[name]]).returncode:
            raise Mistake(
                f"environment {name}: pip failed; its message is above. A network is needed "
                "(behind a proxy: set HTTPS_PROXY). Then run the same command again."
            )
    has.cache_clear()
    for column in COLUMNS:
        where = "ready" if python_of(column) else how_to_build(column)
        print(f"  {column:<20} {where}")
