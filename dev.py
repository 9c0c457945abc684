"""The commands of this project, for a machine that has only Python 3.11+ and git.

    python3 dev.py demo [options]       train, step through and draw models; pictures go to out/
    python3 dev.py test [pytest args]   ruff, mypy and the tests: the default set

For contributors (CONTRIBUTING.md says when to use which):

    python3 dev.py rest [pytest args]   a quarter of the slow and live tests, and changed folders
    python3 dev.py rest --all           all slow and live tests: the real Keras, full sizes
    python3 dev.py versions             a part of the tests on the oldest libraries and Python 3.13
    python3 dev.py names [--write]      did a public name, event, option or key change?
    python3 dev.py prose [--sample N]   stiff phrases in each folder, compared with their ceiling
    python3 dev.py messages             does every error message have a place and a remedy?
    python3 dev.py speed OTHER          is this checkout slower than another one?
    python3 dev.py mutants FOLDER ...   do the tests fail when a line of the folder is wrong?
    python3 dev.py mutants --exercises  do the exercise checkers reject wrong solutions?
    python3 dev.py wheel                does the built package work in an empty environment?
    python3 dev.py references           ask the real Keras again, for tests/references
    python3 dev.py gallery              draw the pictures of docs/ again
    python3 dev.py docs                 build the documentation site in out/site, check its links

The first command creates .venv (a minute or two, needs a network). It is renewed when
pyproject.toml changes. Nothing is installed outside this folder; root is never needed.
"""

import contextlib
import difflib
import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO

OLDEST_PYTHON = (3, 11)
if sys.version_info < OLDEST_PYTHON:
    sys.exit(
        "dev.py: this is Python {}.{}; kerascope needs 3.11 or newer. "
        "Run it with a newer one, for example: python3.12 dev.py demo".format(*sys.version_info[:2])
    )

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
STAMP = ENVIRONMENT / "kerascope-environment.json"
WINDOWS = os.name == "nt"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if WINDOWS else "bin/python")
INTERRUPTED = 130
EXTRAS = ["", "dev", "live"]  # each includes the one before it
# The number of parts of the slow and live tests; HEAD's hash selects the part that `rest` runs.
PARTS = 4
# `versions` runs one of this many parts of the default set, in the folders below.
PARTS_OF_VERSIONS = 12
TESTS_OF_VERSIONS = [
    *("backend", "engine", "layers", "learn", "lessons", "saving", "trace", "viz", "debugger"),
]
NEWEST_PYTHON = "3.13"


class Failure(Exception):
    """Raised if a step of a command failed; contains the message and the exit code."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


# --- steps ----------------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print the line that announces a step, before the step's own output."""
    print(f"[dev] {text}", flush=True)


def child_environment() -> dict[str, str]:
    """Return the environment variables for commands, without those that mislead pip."""
    variables = dict(os.environ)
    for misleading in ("PYTHONHOME", "__PYVENV_LAUNCHER__", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        variables.pop(misleading, None)
    # Without bytecode files, each process of a run would compile everything again.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables["PYTHONUTF8"] = "1"
    return variables


def start(*command: object, output: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    """Start a command in the project's root, with its output in a file if `output` is given."""
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env=child_environment(),
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    """Wait for a command and return its exit code.

    Ctrl-C reaches the command, too, and it gets time to clean up.
    """
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            process.wait(timeout=20)
        except (KeyboardInterrupt, subprocess.TimeoutExpired):
            process.kill()
            process.wait()
        raise


def run(*command: object) -> int:
    """Run a command in the project's root and return its exit code."""
    return finish(start(*command))


Command = Callable[[list[str]], int]


# --- the environment ------------------------------------------------------------------------------


def wanted_stamp(extra: str) -> dict[str, str]:
    """Return the stamp that an up-to-date .venv has: the extra, and a hash of pyproject.toml."""
    content = (ROOT / "pyproject.toml").read_bytes().replace(b"\r\n", b"\n")
    return {"pyproject": hashlib.sha256(content).hexdigest(), "root": str(ROOT), "extra": extra}


def read_stamp() -> dict[str, str]:
    """Return the stamp of .venv, which describes its last installation; empty if there is none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(stamp: dict[str, str]) -> None:
    """Write the stamp that describes the installation in .venv; if it is empty, remove the file."""
    if not stamp:
        STAMP.unlink(missing_ok=True)
        return
    STAMP.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")


def environment_works() -> bool:
    """Return whether .venv contains a recent Python with pip and a complete installation."""
    if "installing" in read_stamp():
        return False
    question = f"import pip, sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    try:
        answer = subprocess.run(
            [str(PYTHON), "-c", question], capture_output=True, env=child_environment()
        )
    except OSError:
        return False
    return answer.returncode == 0


def require_venv_module() -> None:
    """Raise if Python lacks the modules that create environments, as on Debian."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if not missing:
        return
    version = "{}.{}".format(*sys.version_info[:2])
    raise Failure(
        f"this Python has no {' and no '.join(missing)} module, so it cannot make .venv. Either\n"
        f"  - Debian, Ubuntu: sudo apt install python{version}-venv\n"
        f"  - without root: install uv (https://docs.astral.sh/uv/), then: uv venv --seed .venv\n"
        f"  - or use a Python from https://www.python.org\n"
        f"and run the same command again."
    )


def make_environment() -> None:
    """Create .venv, after removing the leftovers of an interrupted run."""
    require_venv_module()
    if ENVIRONMENT.exists():
        say(".venv is incomplete or too old: creating it again")
        with contextlib.suppress(OSError):
            shutil.rmtree(ENVIRONMENT)
    say(f"python -m venv .venv   (Python {sys.version.split()[0]})")
    code = run(sys.executable, "-m", "venv", "--clear", ENVIRONMENT)
    if code:
        raise Failure(f"python -m venv failed; delete {ENVIRONMENT} and try again.", code)


def install(extra: str) -> None:
    """Install kerascope, editable, with one of its extras ("" for none)."""
    target = f"{ROOT}[{extra}]" if extra else str(ROOT)
    say(f"pip install -e .{f'[{extra}]' if extra else ''}   (the first time: a minute or two)")
    before = read_stamp()
    write_stamp({"installing": target})
    code = run(
        *(PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--editable", target),
    )
    if code:
        write_stamp(before)
        raise Failure(
            "pip install failed; its message is above. The first run needs a network "
            "(behind a proxy: set HTTPS_PROXY). Then run the same command again.",
            code,
        )
    write_stamp(wanted_stamp(extra))


def prepare(extra: str) -> None:
    """Create or renew .venv with kerascope and one extra, unless it is up to date."""
    if not environment_works():
        make_environment()
    richer = EXTRAS[EXTRAS.index(extra) :]
    if any(read_stamp() == wanted_stamp(name) for name in richer):
        return
    # An environment with more extras keeps them when pyproject.toml changes.
    had = read_stamp().get("extra", "")
    install(had if had in richer else extra)


# --- the commands ---------------------------------------------------------------------------------


def demo(arguments: list[str]) -> int:
    """Run examples/demo.py in the project's environment."""
    script = ROOT / "examples" / "demo.py"
    if not script.is_file():
        raise Failure(f"{script} is missing; is this a whole clone of the project?")
    prepare("")
    say(shlex.join(["python", "examples/demo.py", *arguments]))
    return run(PYTHON, script, *arguments)


def gallery(arguments: list[str]) -> int:
    """Draw the pictures and write the generated pages of docs/ again."""
    prepare("")
    failed = run(PYTHON, ROOT / "tests" / "pictures" / "make.py", *arguments)
    scripts = ["gallery/make.py", "figures/make.py", "program_page.py", "architecture_picture.py"]
    for script in (*scripts, "compatibility_page.py"):
        failed = failed or run(PYTHON, ROOT / "docs" / script)
    return failed


def docs(arguments: list[str]) -> int:
    """Build the documentation site in out/site, with warnings as errors, and check its links."""
    prepare("dev")
    site, work = ROOT / "out" / "site", ROOT / "out" / "site-doctrees"
    for old in (site, work):  # a page that was removed or renamed would stay
        shutil.rmtree(old, ignore_errors=True)
    options = ["-q", "-W", "--keep-going", "-j", str(usable_processors()), "-d", work]
    say("sphinx-build docs out/site   (a minute or two)")
    code = run(PYTHON, "-m", "sphinx", *options, *arguments, ROOT / "docs", site)
    return code or run(PYTHON, "-m", "guards.links", site)


def usable_processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pytest_command(arguments: list[str]) -> list[str]:
    """Return the pytest command, by default with one worker per processor (at most 8).

    A run without arguments is a whole run: it fails if tests are missing.
    """
    arguments = arguments or ["--whole"]
    told = any(word.startswith(("-n", "--numprocesses", "--pdb", "--trace")) for word in arguments)
    workers = min(usable_processors(), 8)
    if told or workers == 1:
        return ["pytest", *arguments]
    return ["pytest", "-n", str(workers), "--dist", "worksteal", *arguments]


def test(arguments: list[str]) -> int:
    """Run every check, even after a failure; return the exit code of the first failed check.

    ruff and mypy run in parallel with pytest. Their output is printed after pytest's.
    """
    prepare("dev")
    beside = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
    codes: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        started = []
        for command in beside:
            output = stack.enter_context(tempfile.TemporaryFile())
            process = stack.enter_context(start(PYTHON, "-m", *command, output=output))
            stack.callback(process.terminate)  # if pytest is interrupted; otherwise it has ended
            started.append((shlex.join(command), process, output))
        command = pytest_command(arguments)
        say(shlex.join(command))
        codes["pytest"] = run(PYTHON, "-m", *command)
        for name, process, output in started:
            codes[name] = finish(process)
            output.seek(0)
            say(f"{name}\n{output.read().decode('utf-8', 'replace').rstrip()}")
    failed = {name: code for name, code in codes.items() if code}
    for name, code in failed.items():
        say(f"FAILED with code {code}: {name}")
    if not failed:
        say("all checks passed")
    return next(iter(failed.values()), 0)


def git(*arguments: str) -> str:
    """Return the output of a git command; empty if it fails, for example outside a repository."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def number_of_run(parts: int) -> int:
    """Return which part of the slow tests this commit runs, from 1, derived from HEAD's hash."""
    return int(git("rev-parse", "HEAD")[:8] or "0", 16) % parts + 1


def base_of_change() -> str:
    """Return the revision before the tested change; empty if there is none.

    This is the commit where the branch left its upstream. If everything is pushed, as in a fresh
    clone, it is the last commit that is at least four hours older than HEAD.
    """
    upstream = git("merge-base", "HEAD", "@{upstream}")
    if upstream and upstream != git("rev-parse", "HEAD"):
        return upstream
    committed = git("show", "--no-patch", "--format=%ct", "HEAD")
    before = int(committed) - 4 * 3600 if committed else 0
    return git("rev-list", "--max-count=1", f"--before={before}", "HEAD") if before else ""


def rest(arguments: list[str]) -> int:
    """Run the slow and live tests: one part, which differs from commit to commit, or `--all`."""
    prepare("live")
    chosen = [word for word in arguments if word != "--all"]
    if not arguments:
        chosen = ["--whole", "--part", f"{number_of_run(PARTS)}/{PARTS}"]
        base = base_of_change()
        chosen += ["--since", base] if base else []
    command = pytest_command(["-m", "live or slow", *(chosen or ["--whole"])])
    say(shlex.join(command))
    return run(PYTHON, "-m", *command)


def oldest_libraries() -> list[str]:
    """Return the oldest allowed versions of NumPy, networkx and rich, for pip."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    bounds = re.findall(r'^    "(numpy|networkx|rich)>=([\d.]+)"', text, re.MULTILINE)
    return [f"{name}=={version}" for name, version in bounds]


def newest_python() -> str | None:
    """Return the path of the newest supported Python; None if this machine lacks it."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [shutil.which(f"python{NEWEST_PYTHON}"), *pyenv.glob(f"{NEWEST_PYTHON}*/bin/python")]
    for path in filter(None, found):  # a shim of pyenv may exist without working
        if subprocess.run([path, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return str(path)
    return None


def versions(arguments: list[str]) -> int:
    """Run a part of the default tests with the oldest libraries, then with the newest Python."""
    # These environments have no extras: tests that need a browser or Keras are skipped.
    for name in [name for name in os.environ if name.startswith("KERASCOPE_NEEDS_")]:
        del os.environ[name]
    codes = {"oldest": test_on("oldest", sys.executable, oldest_libraries(), arguments)}
    newest = newest_python()
    if newest:
        codes[NEWEST_PYTHON] = test_on(NEWEST_PYTHON, newest, [], arguments)
    else:
        say(f"SKIPPED: Python {NEWEST_PYTHON} was not found")
    for name, code in codes.items():
        say(f"FAILED with code {code}: {name}" if code else f"passed: {name}")
    return next(filter(None, codes.values()), 0)


def test_on(name: str, python: str, libraries: list[str], arguments: list[str]) -> int:
    """Create a separate environment without extras, and run a part of the tests in it."""
    tools = ["pytest>=8.0", "hypothesis>=6.100", "pytest-xdist>=3.5", "pillow>=10.0"]
    folder = ROOT / f".venv-{name}"
    say(f"{folder.name}: {' '.join([python, *libraries])}")
    code = run(python, "-m", "venv", "--clear", folder)
    inside = folder / PYTHON.relative_to(ENVIRONMENT)
    code = code or run(
        *(inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *(*libraries, *tools, "--editable", ROOT),
    )
    if code:
        return code
    part = f"{number_of_run(PARTS_OF_VERSIONS)}/{PARTS_OF_VERSIONS}"
    tests = [f"tests/{name}" for name in TESTS_OF_VERSIONS]
    command = pytest_command(arguments or ["--part", part, *tests])
    say(shlex.join(command))
    return run(inside, "-m", *command)


def references(arguments: list[str]) -> int:
    """Run the real Keras again, and write its results to tests/references."""
    prepare("live")
    return run(PYTHON, "-m", "pytest", "-m", "live", "--write-references", *arguments)


def guard(name: str) -> Command:
    """Return the command that runs a module of guards/."""

    def run_guard(arguments: list[str]) -> int:
        prepare("dev")
        return run(PYTHON, "-m", f"guards.{name}", *arguments)

    return run_guard


COMMANDS: dict[str, Command] = {
    "demo": demo,
    "test": test,
    "rest": rest,
    "versions": versions,
    **{name: guard(name) for name in ("names", "prose", "messages", "speed", "mutants", "wheel")},
    "references": references,
    "gallery": gallery,
    "docs": docs,
}


def main(arguments: list[str]) -> int:
    """Run the command named by the first argument with the remaining arguments."""
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    name, *rest = arguments
    if name not in COMMANDS:
        near = difflib.get_close_matches(name.lower(), COMMANDS, n=1, cutoff=0.4)
        hint = f"Did you mean '{near[0]}'?" if near else f"Known: {', '.join(COMMANDS)}."
        raise Failure(f"unknown command {name!r}. {hint} (python3 dev.py prints the help)", 2)
    return COMMANDS[name](rest)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\n[dev] interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except Failure as failure:
        print(f"[dev] {failure}", file=sys.stderr)
        sys.exit(failure.code)
