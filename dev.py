"""The two commands of this project, for a machine that has only Python 3.11+ and git.

    python3 dev.py demo [options]       train, walk and draw real models; pictures go to out/
    python3 dev.py test [pytest args]   ruff, mypy and the tests: the default set

Who changes the project has some more (CONTRIBUTING.md says when):

    python3 dev.py rest [pytest args]   a quarter of the slow and live tests, those of the change
    python3 dev.py rest --all           all slow and live tests: the real Keras, full sizes
    python3 dev.py versions             a part of the tests on the oldest libraries, on Python 3.13
    python3 dev.py names [--write]      has a public name, event, option or key changed?
    python3 dev.py prose [--sample N]   stiff phrases of each folder beside their stored ceiling
    python3 dev.py messages             has each error message its place, its full stop, its remedy?
    python3 dev.py speed OTHER          is this checkout slower than another one?
    python3 dev.py mutants FOLDER ...   do the tests notice when a line of it is wrong?
    python3 dev.py mutants --exercises  do the checkers of the course notice a wrong solution?
    python3 dev.py wheel                does the built package work with nothing else around it?
    python3 dev.py references           asks the real Keras again, for tests/references
    python3 dev.py gallery              draws the pictures of docs/ again

They make their own environment in .venv the first time (a minute or two, with a network) and renew
it when pyproject.toml changes. Nothing is installed outside this folder; root is never needed.
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
EXTRAS = ["", "dev", "live"]  # each holds what the one before it holds
# The slow and live tests are run in so many parts: `rest` takes the one that HEAD's hash names.
PARTS = 4
# What `versions` takes of the default set: one part of so many, of the folders below.
PARTS_OF_VERSIONS = 12
TESTS_OF_VERSIONS = ["backend", "engine", "layers", "saving", "trace", "viz", "debugger"]
NEWEST_PYTHON = "3.13"


class Failure(Exception):
    """A step failed: what to print, and the code to exit with."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


# --- steps ----------------------------------------------------------------------------------------


def say(text: str) -> None:
    """Print one line per step, at once, in front of what the step itself prints."""
    print(f"[dev] {text}", flush=True)


def child_environment() -> dict[str, str]:
    """Return the environment variables of every command: ours, without what would mislead pip."""
    variables = dict(os.environ)
    for misleading in ("PYTHONHOME", "__PYVENV_LAUNCHER__", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        variables.pop(misleading, None)
    # Without bytecode each of a run's many processes would compile everything again.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    variables["PYTHONUTF8"] = "1"
    return variables


def start(*command: object, output: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
    """Start a command from the project's root; what it prints goes to a file, if one is given."""
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env=child_environment(),
        stdout=output,
        stderr=subprocess.STDOUT if output else None,
    )


def finish(process: subprocess.Popen[bytes]) -> int:
    """Wait for a command and return its exit code.

    After Ctrl-C the command, which heard it too, gets the time to tidy up.
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
    """Run a command from the project's root and return its exit code."""
    return finish(start(*command))


Command = Callable[[list[str]], int]


# --- the environment ------------------------------------------------------------------------------


def wanted_stamp(extra: str) -> dict[str, str]:
    """Return what a finished environment writes down: it is renewed when one of these changes."""
    content = (ROOT / "pyproject.toml").read_bytes().replace(b"\r\n", b"\n")
    return {"pyproject": hashlib.sha256(content).hexdigest(), "root": str(ROOT), "extra": extra}


def read_stamp() -> dict[str, str]:
    """Return what the last finished (or begun) installation wrote; empty if there was none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def write_stamp(stamp: dict[str, str]) -> None:
    """Write the stamp; an empty one removes the file."""
    if not stamp:
        STAMP.unlink(missing_ok=True)
        return
    STAMP.write_text(json.dumps(stamp, indent=1) + "\n", encoding="utf-8")


def environment_works() -> bool:
    """Tell whether .venv holds a new enough Python with pip, and no installation broke off."""
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
    """Say what to do where Python came without what makes environments (Debian)."""
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
    """Make .venv afresh; what an interrupted run left of it goes first."""
    require_venv_module()
    if ENVIRONMENT.exists():
        say(".venv is half made or too old: making it again")
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
            "(behind a proxy: set HTTPS_PROXY). Run the same command again to go on.",
            code,
        )
    write_stamp(wanted_stamp(extra))


def prepare(extra: str) -> None:
    """Make or renew .venv with kerascope and one extra; often there is nothing to do."""
    if not environment_works():
        make_environment()
    richer = EXTRAS[EXTRAS.index(extra) :]
    if any(read_stamp() == wanted_stamp(name) for name in richer):
        return
    # Whoever had more (the tools, the real Keras) keeps it when pyproject.toml changes.
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
    """Draw the pictures again and write the pages of docs that code writes."""
    prepare("")
    failed = run(PYTHON, ROOT / "tests" / "pictures" / "make.py", *arguments)
    scripts = ["gallery/make.py", "figures/make.py", "program_page.py", "architecture_picture.py"]
    for script in (*scripts, "compatibility_page.py"):
        failed = failed or run(PYTHON, ROOT / "docs" / script)
    return failed


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pytest_command(arguments: list[str]) -> list[str]:
    """Return the pytest command: one worker per processor (8 at most), unless told otherwise.

    A run for which nobody chose anything is a whole one: it fails when tests have gone missing.
    """
    arguments = arguments or ["--whole"]
    told = any(word.startswith(("-n", "--numprocesses", "--pdb", "--trace")) for word in arguments)
    workers = min(usable_processors(), 8)
    if told or workers == 1:
        return ["pytest", *arguments]
    return ["pytest", "-n", str(workers), "--dist", "worksteal", *arguments]


def test(arguments: list[str]) -> int:
    """Run every check, also after one has failed; return the first failing one's exit code.

    ruff and mypy run beside pytest; what they print comes when it has ended.
    """
    prepare("dev")
    beside = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]]
    codes: dict[str, int] = {}
    with contextlib.ExitStack() as stack:
        started = []
        for command in beside:
            output = stack.enter_context(tempfile.TemporaryFile())
            process = stack.enter_context(start(PYTHON, "-m", *command, output=output))
            stack.callback(process.terminate)  # if pytest is interrupted; else it has ended
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
    """Return what a git command prints; empty if it fails, as it does outside a repository."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def number_of_run(parts: int) -> int:
    """Return which part this commit takes, from 1: a number from the hash of HEAD."""
    return int(git("rev-parse", "HEAD")[:8] or "0", 16) % parts + 1


def base_of_change() -> str:
    """Return the revision before the change that is tested; empty if there is none.

    It is where this branch left its upstream. If all is there already, as in a fresh clone, it is
    the last commit that was four hours old when HEAD was committed.
    """
    upstream = git("merge-base", "HEAD", "@{upstream}")
    if upstream and upstream != git("rev-parse", "HEAD"):
        return upstream
    committed = git("show", "--no-patch", "--format=%ct", "HEAD")
    before = int(committed) - 4 * 3600 if committed else 0
    return git("rev-list", "--max-count=1", f"--before={before}", "HEAD") if before else ""


def rest(arguments: list[str]) -> int:
    """Run a part of the tests that the default set leaves out; all of them with `--all`."""
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
    """Return a Python of the newest version that is supported, or None if none is found."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [shutil.which(f"python{NEWEST_PYTHON}"), *pyenv.glob(f"{NEWEST_PYTHON}*/bin/python")]
    for path in filter(None, found):  # the first may be a shim of pyenv that does not run
        if subprocess.run([path, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return str(path)
    return None


def versions(arguments: list[str]) -> int:
    """Run a part of the default set on the oldest libraries, and on the newest Python."""
    # These environments have no extras: what needs a browser or Keras is skipped there.
    for name in [name for name in os.environ if name.startswith("KERASCOPE_NEEDS_")]:
        del os.environ[name]
    codes = {"oldest": test_on("oldest", sys.executable, oldest_libraries(), arguments)}
    newest = newest_python()
    if newest:
        codes[NEWEST_PYTHON] = test_on(NEWEST_PYTHON, newest, [], arguments)
    else:
        say(f"SKIPPED: no Python {NEWEST_PYTHON} was found, so no test is run on it")
    for name, code in codes.items():
        say(f"FAILED with code {code}: {name}" if code else f"passed: {name}")
    return next(filter(None, codes.values()), 0)


def test_on(name: str, python: str, libraries: list[str], arguments: list[str]) -> int:
    """Make an environment of its own, without the extras, and run a part of the tests in it."""
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
    """Ask the real Keras again and write its answers to tests/references."""
    prepare("live")
    return run(PYTHON, "-m", "pytest", "-m", "live", "--write-references", *arguments)


def guard(name: str) -> Command:
    """Return the command that runs one of the modules in guards/."""

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
}


def main(arguments: list[str]) -> int:
    """Run the command that the first word names; the rest belongs to it."""
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
