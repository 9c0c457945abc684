"""The guard of the wheel builds it, installs it with only its core dependencies, and uses it.

    python -m guards.wheel                    build sdist and wheel, and try both
    python -m guards.wheel --wheel FILE.whl   try an existing wheel
    python -m guards.wheel --keep FOLDER      keep all files; sdist and wheel are in FOLDER/dist

Tests run in a checkout with every file and every tool. Users have neither. So this guard builds the
source distribution (sdist) and, from it, the wheel. It compares their files with those of the
checkout, and runs the commands of the README in an empty environment outside the checkout, without
the extras. Then it unpacks the sdist and runs some of its tests. It needs a network.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The place of each folder of the checkout in the wheel.
FOLDERS = {
    "kerascope": "kerascope",
    "tutorials": "kerascope/tutorials",
    "examples": "kerascope/tutorials/examples",
}
# Packages whose module has a different name.
MODULES = {
    "ipython": "IPython", "pillow": "PIL", "pytest-xdist": "xdist", "scikit-learn": "sklearn",
}  # fmt: skip
# Tests that run in the unpacked sdist: half a minute, and they need no extra.
TESTS = ("tests/engine", "tests/test_readme.py")
WINDOWS = os.name == "nt"
LIMIT = 900  # seconds; only a hang takes so long
GOOD, BAD, NOT_TRIED = 0, 1, 2


class NotTried(Exception):
    """Raised if the guard cannot run, because something could not be built or installed."""


# --- files ----------------------------------------------------------------------------------------


def files_of_checkout(root: Path = ROOT) -> set[str]:
    """Return the names that the package's files should have in the wheel."""
    found = set()
    for folder, inside in FOLDERS.items():
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root / folder).as_posix()
            if path.is_file() and not is_by_product(name):
                found.add(f"{inside}/{name}")
    return found


def is_by_product(name: str) -> bool:
    """Return whether a file is a leftover of Python, an editor or the system.

    Examples
    --------
    >>> [is_by_product(name) for name in ("a/__pycache__/b.pyc", "a/.DS_Store", "a/page.css")]
    [True, True, False]
    """
    parts = name.split("/")
    return "__pycache__" in parts or any(part.startswith(".") for part in parts)


def complaints_about_files(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return a line for each file that a wheel lacks, and for each that it should not have.

    Parameters
    ----------
    names : iterable of str
        The files in the wheel.
    wanted : iterable of str
        The files that should be in it.
    """
    names = {name for name in names if not name.endswith("/")}
    inside = {name for name in names if not re.match(r"kerascope-[^/]*\.dist-info/", name)}
    lines = [f"missing in the wheel: {name}" for name in sorted(set(wanted) - inside)]
    lines += [f"does not belong in the wheel: {name}" for name in sorted(inside - set(wanted))]
    information = {name.partition(".dist-info/")[2] for name in names - inside}
    for needed in ("METADATA", "RECORD", "entry_points.txt", "licenses/LICENSE"):
        if needed not in information:
            lines.append(f"missing in the wheel: .dist-info/{needed}")
    return lines


def complaints_about_sdist(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Return a line for each file that an sdist lacks, and for each that it should not have.

    Parameters
    ----------
    names : iterable of str
        The files in the sdist. All of them are in one folder.
    wanted : iterable of str
        The files of the repository.
    """
    inside, expected = {name.partition("/")[2] for name in names}, {*wanted, "PKG-INFO"}
    lines = [f"missing in the sdist: {name}" for name in sorted(expected - inside)]
    return lines + [f"does not belong in the sdist: {name}" for name in sorted(inside - expected)]


def files_of_repository(root: Path = ROOT) -> list[str]:
    """Return the names of all files that git knows; empty outside a repository."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, encoding="utf-8")
    return [name for name in done.stdout.split("\0") if name and (root / name).is_file()]


def names_in(wheel: Path) -> list[str]:
    """Return the names of the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def modules_of_extras(root: Path = ROOT) -> list[str]:
    """Return the modules that the package's extras install. The wheel must work without them."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = {
        re.split(r"[^\w-]", wish, maxsplit=1)[0].lower()
        for wishes in project["optional-dependencies"].values()
        for wish in wishes
    }
    found = {MODULES.get(name, name.replace("-", "_")) for name in packages - {project["name"]}}
    return sorted(found | {"tensorflow"})


# --- an environment -------------------------------------------------------------------------------


def build(folder: Path, root: Path = ROOT) -> tuple[Path, Path]:
    """Build the sdist into a folder and the wheel from the sdist, and return their paths.

    Raises
    ------
    NotTried
        If they cannot be built.
    """
    command = [sys.executable, "-m", "build", "--outdir", folder, root]
    _prepare("sdist and wheel cannot be built", command)
    return next(folder.glob("kerascope-*.tar.gz")), next(folder.glob("kerascope-*.whl"))


def install(wheel: Path, folder: Path) -> Path:
    """Create an environment, install the wheel in it, and return the folder of its commands.

    Raises
    ------
    NotTried
        If the environment cannot be created, or a dependency cannot be installed.
    """
    _prepare("there is no environment", [sys.executable, "-m", "venv", folder])
    programs = folder / ("Scripts" if WINDOWS else "bin")
    pip = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _prepare("the wheel cannot be installed", [*pip, wheel])
    return programs


def _prepare(failure: str, command: Sequence[object]) -> None:
    words = [str(word) for word in command]
    print(f"$ {' '.join(words)}", flush=True)
    # Outside the checkout, because Python would import the package from there.
    done = subprocess.run(
        words, capture_output=True, text=True, cwd=tempfile.gettempdir(), env=variables()
    )
    if done.returncode:
        raise NotTried(f"{failure}:\n{tail(done.stdout + done.stderr)}")


def variables(home: Path | None = None) -> dict[str, str]:
    """Return the environment variables without any of kerascope's or Python's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "KERAS", "KSCOPE")) and name != "VIRTUAL_ENV"
    }
    own = {} if home is None else {"HOME": str(home), "USERPROFILE": str(home)}
    return {**kept, **own, "PYTHONUTF8": "1", "NO_COLOR": "1", "COLUMNS": "100"}


def tail(text: str, lines: int = 25) -> str:
    """Return the last lines of a text."""
    return "\n".join(text.splitlines()[-lines:])


# --- what a user does -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """One use of the installed package, with its expected results.

    Attributes
    ----------
    words : tuple of str
        A command. The first word is the name of a program in the environment.
    says : tuple of str
        Patterns that must all occur in its output.
    typed : str
        Its standard input.
    code : int
        The expected exit code.
    writes : tuple of (str, bytes)
        Files that it writes, and the first bytes of each.
    """

    words: tuple[str, ...]
    says: tuple[str, ...] = ()
    typed: str = ""
    code: int = 0
    writes: tuple[tuple[str, bytes], ...] = ()

    def __str__(self) -> str:
        """Return the command, short enough for a line."""
        line = " ".join(self.words).replace("\n", "; ")
        return line if len(line) <= 76 else f"{line[:73]}..."

    def complaint(self, programs: Path, folder: Path) -> str | None:
        """Run the command; return a description of the failure, or None."""
        program, *rest = self.words
        home = folder / "home"
        home.mkdir(exist_ok=True)
        done = subprocess.run(
            [str(programs / program), *rest],
            input=self.typed, capture_output=True, text=True, encoding="utf-8", cwd=folder,
            env=variables(home), timeout=LIMIT,
        )  # fmt: skip
        said = done.stdout + done.stderr
        return self.judge(done.returncode, said, folder)

    def judge(self, code: int, said: str, folder: Path) -> str | None:
        """Return a text about the first unexpected result of the command; None if there is none."""
        if code != self.code:
            return f"exit code {code}, expected {self.code}:\n{tail(said)}"
        for pattern in self.says:
            if not re.search(pattern, said):
                return f"it does not say {pattern!r}:\n{tail(said)}"
        for name, start in self.writes:
            path = folder / name
            if not path.is_file():
                return f"it did not write {name}"
            if not path.read_bytes().startswith(start):
                return f"{name} begins with {path.read_bytes()[:20]!r}, expected {start!r}"
        return None


def kerascope(*words: str, **more: object) -> Use:
    """Return a `Use`, a command to run and its expected result, for a command of kerascope."""
    return Use(("kerascope", *words), **more)  # type: ignore[arg-type]


def python(code: str, **more: object) -> Use:
    """Return a `Use`, a command to run and its expected result, for a piece of Python code."""
    return Use(("python", "-c", code), **more)  # type: ignore[arg-type]


_WHERE = "import kerascope, sys; print(kerascope.__file__.startswith(sys.prefix))"
_ABSENT = """
from importlib.util import find_spec
print("found:", [name for name in NAMES if find_spec(name) is not None])
"""
# Every module can be imported, or raises ImportError that names a module of an extra.
_IMPORT_ALL = """
import importlib, pkgutil, kerascope
broken = []
for found in pkgutil.walk_packages(kerascope.__path__, "kerascope."):
    name = found.name
    if name.startswith("kerascope.tutorials") or name.endswith("__main__"):
        continue
    try:
        importlib.import_module(name)
    except ImportError as error:
        missing = str(error.name).partition(".")[0]
        if missing not in NAMES:
            broken.append((name, str(error)))
print("broken:", broken)
"""
_SAVE = """
import numpy as np, kerascope as ks
model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,))])
model.compile("adam", "mse")
model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
for name in ("model.keras", "model.h5"):
    model.save(name)
    same = ks.models.load_model(name).predict(np.ones((1, 3))) == model.predict(np.ones((1, 3)))
    print(name, same.all())
"""
_HTML, _SVG, _PNG = b"<!DOCTYPE html>", b"<svg", b"\x89PNG"


def uses() -> Iterator[Use]:
    """Yield all uses of the package in order. Some read files that earlier ones wrote."""
    yield python(_WHERE, says=("^True",))
    extras = repr(modules_of_extras())
    yield python(_ABSENT.replace("NAMES", extras), says=(r"found: \[\]",))
    yield python(_IMPORT_ALL.replace("NAMES", extras), says=(r"broken: \[\]",))
    yield kerascope("--version", says=(r"^kerascope \d+\.\d+",))
    yield kerascope("--help", says=("run", "trace", "debug", "draw", "lessons", "learn"))
    yield kerascope("help", "draw", says=("--expand-nested",))
    yield Use(("python", "-m", "kerascope", "--version"), says=("^kerascope ",))
    yield kerascope("examples", says=(r"^\d+ examples copied",))
    yield kerascope("run", "examples/fixed_example.py", says=(r"epoch +\d+",))
    yield kerascope("run", "--dialect", "3", "examples/keras3_transformer.py")
    demo = ("python", "examples/demo.py", "--out", "pictures")
    yield Use(demo, says=("handwritten digits|Handwritten digits", "test digits are read right"))
    svg, png, html = ("model.svg", _SVG), ("model.png", _PNG), ("model.html", _HTML)
    outputs = [word for name, _ in (svg, png, html) for word in ("-o", name)]
    yield kerascope("draw", "examples/shared_layer.py", *outputs, writes=(svg, png, html))
    yield kerascope("summary", "examples/shared_layer.py", says=("encoder",))
    yield kerascope("trace", "examples/example.py", says=("backward",))
    yield kerascope("profile", "examples/fixed_example.py", says=("dense_1",))
    yield kerascope(
        "play", "examples/fixed_example.py", "-o", "step.html", says=("wrote step.html",),
        writes=(("step.html", b"<!DOCTYPE html>"),),
    )  # fmt: skip
    yield python(_SAVE, says=(r"model\.keras True\s+model\.h5 True",))
    yield kerascope("summary", "model.keras", says=("dense_1",))
    yield kerascope("compare", "model.keras", "model.keras", says=("equal:",))
    yield kerascope(
        "show", "model.keras", "dense_1", "-o", "weights.svg", writes=(("weights.svg", _SVG),)
    )
    typed = "b dense_2\nc\np tensor_map\nrecord t.jsonl\nq\n"
    yield kerascope("debug", "examples/example.py", typed=typed, says=("dense_2", "tensor_map"))
    yield kerascope("replay", "t.jsonl", typed="rs\nq\n", says=(r"\(Kdb\) rs",))
    tui = r"pip install 'kerascope\[tui\]'"
    yield kerascope("debug", "--tui", "examples/example.py", code=2, says=(tui,))
    yield kerascope("learn", "read", "0", says=("kerascope",))
    yield kerascope("learn", "read", "0", "--lang", "zh", says=("[\u4e00-\u9fff]",))
    yield kerascope("learn", says=("kerascope-exercises",))
    yield kerascope("learn", "list", says=("count_parameters",))
    yield kerascope("learn", "check", code=5, says=("NOT ATTEMPTED",))
    page = ("pages/00-tools.html", _HTML)
    yield kerascope("lessons", "html", "0", "-o", "pages", writes=(page,))
    notebook = ("notebooks/00-tools.zh.ipynb", b"{")
    yield kerascope("lessons", "notebook", "0", "-o", "notebooks", writes=(notebook,))


# --- the command ----------------------------------------------------------------------------------


def try_uses(programs: Path, folder: Path, wanted: Iterable[Use]) -> int:
    """Run all uses in a folder, print a line for each, and return the number of failures."""
    failed = 0
    for use in wanted:
        try:
            wrong = use.complaint(programs, folder)
        except (OSError, subprocess.TimeoutExpired) as error:
            wrong = f"{type(error).__name__}: {error}"
        print(f"{'ok    ' if wrong is None else 'FAILED'} {use}", flush=True)
        if wrong is not None:
            failed += 1
            print("       " + wrong.replace("\n", "\n       "), flush=True)
    return failed


def print_complaints(path: Path, files: int, complaints: Sequence[str]) -> int:
    """Print the complaints about an archive, or that it has all files; return their number."""
    for line in complaints:
        print(f"FAILED {line}")
    if not complaints:
        print(f"ok     {path.name}: {files} files, {path.stat().st_size / 1e6:.1f} MB")
    return len(complaints)


def guard(folder: Path, wheel: Path | None) -> int:
    """Build, compare, install and use the wheel, and the sdist; return the number of failures."""
    failed, sdist = 0, None
    if wheel is None:
        sdist, wheel = build(folder / "dist")
        with tarfile.open(sdist) as archive:
            names = archive.getnames()
        known = files_of_repository()
        complaints = complaints_about_sdist(names, known) if known else []
        failed += print_complaints(sdist, len(names), complaints)
    names = names_in(wheel)
    complaints = complaints_about_files(names, files_of_checkout())
    failed += print_complaints(wheel, len(names), complaints)
    programs = install(wheel, folder / "environment")
    work = folder / "work"
    work.mkdir()
    failed += try_uses(programs, work, uses())
    if sdist is not None:
        shutil.unpack_archive(sdist, folder / "unpacked")
        pip = [programs / "python", "-m", "pip", "install", "--quiet"]
        _prepare("the tools of the tests cannot be installed", [*pip, "pytest", "hypothesis"])
        tests = Use(("python", "-m", "pytest", "-q", *TESTS), says=(r"\d{3,} passed",))
        failed += try_uses(programs, next((folder / "unpacked").iterdir()), [tests])
    return failed


def main(
    words: Sequence[str] | None = None,
    guarded: Callable[[Path, Path | None], int] = guard,
) -> int:
    """Run the guard; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m guards.wheel",
        description="Build sdist and wheel, install the wheel in an empty environment, use it "
        "there, and run some tests in the unpacked sdist.",
        epilog="exit codes: 0 all is well, 1 something is missing or fails, 2 wrong usage, or the "
        "wheel could not be built or installed (is there a network?)",
    )
    parser.add_argument("--wheel", type=Path, metavar="FILE.whl", help="an existing wheel")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a new folder for all files")
    options = parser.parse_args(words)
    wheel = None if options.wheel is None else options.wheel.resolve()
    if wheel is not None and not wheel.is_file():
        parser.error(f"Found no file {options.wheel}.")
    if options.keep is not None and options.keep.exists():
        parser.error(f"--keep needs a new folder; {options.keep} exists.")
    with contextlib.ExitStack() as stack:
        if options.keep is None:
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="kerascope-wheel-"))
            folder = Path(made).resolve()
        else:
            options.keep.mkdir(parents=True)
            folder = options.keep.resolve()
        try:
            wrong = guarded(folder, wheel)
        except NotTried as error:
            print(error, file=sys.stderr)
            return NOT_TRIED
    print(f"{wrong} complaints" if wrong else "sdist and wheel are whole and work")
    return BAD if wrong else GOOD


if __name__ == "__main__":
    sys.exit(main())
