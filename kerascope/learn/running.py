"""Run a student's file in a separate process, with a time limit.

The caller gets an outcome even if the student's file loops forever, ends the process, prints
without end, or waits for input.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from kerascope.learn.exercises import Exercise
from kerascope.learn.verdicts import NOTHING, Outcome, Text, Verdict, failed

# --- has the student written anything? ------------------------------------------------------------
# A stub contains `...` where the student writes. The exercise is not attempted while the program in
# the file is the same: comments, blank lines, docstrings, imports and printing do not count.


def is_attempted(stub: bytes, written: bytes) -> bool:
    r"""Return whether a student's file is a different program from its stub.

    A file that is not valid Python counts as attempted, because the student must have edited it.

    Examples
    --------
    >>> stub = b"def twice(x):\n    return ...\n"
    >>> is_attempted(stub, b"# how?\nimport math\ndef twice(x):\n    print(x)\n    return ...")
    False
    >>> is_attempted(stub, b"def twice(x):\n    return 2 * x\n")
    True
    """
    tree = _parsed(written)
    return tree is None or _program(tree) != _program(ast.parse(stub))


def _parsed(written: bytes) -> ast.Module | None:
    """Return the syntax tree of a file, or None if it is not valid Python."""
    try:
        return ast.parse(written)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def open_places(written: bytes) -> list[int]:
    r"""Return the numbers of the lines with a `...` to replace; an index `x[..., 0]` is ignored.

    Examples
    --------
    >>> open_places(b"a = ...\nb = x[..., 0]\n")
    [1]
    """
    tree = _parsed(written)
    return [] if tree is None else sorted(set(_places(tree)))


def only_defines(written: bytes) -> str:
    r"""Return the name of a file's first function if it contains only definitions; otherwise "".

    Functions, classes, imports, docstrings and assignments without calls are definitions.

    Examples
    --------
    >>> only_defines(b"import math\ndef twice(x):\n    return 2 * x\n")
    'twice'
    >>> only_defines(b"def twice(x):\n    return 2 * x\n\nprint(twice(3))\n")
    ''
    """
    tree = _parsed(written)
    body = [] if tree is None else tree.body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    return names[0] if names and all(map(_is_definition, body)) else ""


def _is_definition(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return not any(isinstance(part, ast.Call) for part in ast.walk(node))
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    kinds = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Pass)
    return isinstance(node, kinds)


def _places(tree: ast.AST) -> list[int]:
    lines: list[int] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Constant) and node.value is Ellipsis:
            lines.append(node.lineno)
        children = ast.iter_child_nodes(node)
        waiting.extend([node.value] if isinstance(node, ast.Subscript) else children)
    return lines


class _ProgramOnly(ast.NodeTransformer):
    """Removes the statements that do not count as an attempt: imports, `pass`, bare expressions."""

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Pass(self, node: ast.Pass) -> None:
        return None

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        is_place = isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
        return node if is_place else None


def _program(tree: ast.Module) -> str:
    return ast.dump(_ProgramOnly().visit(tree))


# --- the process ----------------------------------------------------------------------------------


SECONDS = 10.0
SECONDS_TO_START = 30.0  # importing kerascope on a slow machine is not the student's time
MOST_PRINTED = 10_000
ROOT = str(Path(__file__).resolve().parents[2])
# No module in the student's working folder or in kerascope's may hide one of the standard library.
START = (
    "import sys; sys.path.insert(0, sys.argv[1]); import kerascope; del sys.path[0]; "
    "from importlib import import_module as load; "
)
_CHECK = START + "load('kerascope.learn.child').main(*sys.argv[2:])"
_PROOF = START + "load('kerascope.learn.proof').main(*sys.argv[2:])"
_RUN = START + "sys.exit(load('kerascope.cli').main(['run', *sys.argv[2:]]))"

MISSING = Text(en="the file does not exist yet", zh="还没有这个文件")
ENDED_ITSELF = Text(
    en="; is there an exit() or a quit() in it? leave that out",
    zh="；文件里有 exit() 或 quit() 吗？请去掉它",
)


# Runs `child.main` with its arguments, within a time limit.
Runner = Callable[[list[str], float], tuple[str, int | None]]


def run_checker(words: list[str], seconds: float) -> tuple[str, int | None]:
    """Run `child.main(*words)` in a new process; return its output and its exit code.

    The exit code is None if the process has exceeded the time limit.
    """
    return _run_process(_CHECK, words, seconds)


def check_file(
    exercise: Exercise,
    path: Path,
    seconds: float = SECONDS,
    run: Runner = run_checker,
) -> Outcome:
    """Run a student's file and its checker in a separate process, and return the outcome.

    A file that is missing, or that is still the stub, is not run.

    Parameters
    ----------
    exercise : Exercise
    path : Path
        The student's file.
    seconds : float
        Time limit for the file and its checker together.
    run : callable
        Runs the process: `run_checker`, or a server's `run` if many files are checked
        (`servers.py`).
    """
    try:
        written = path.read_bytes()
    except FileNotFoundError:
        return Outcome(Verdict.NOT_ATTEMPTED, MISSING)
    except OSError as error:
        return failed(en=f"cannot be read: {error.strerror}", zh=f"无法读取：{error.strerror}")
    if not is_attempted(exercise.stub.read_bytes(), written):
        return _untouched(open_places(written))
    outcome = _outcome_of(exercise.checker, path, seconds, run)
    if outcome.verdict is Verdict.FAIL and (places := open_places(written)):
        return _with_open_places(outcome, places)
    return outcome


def _untouched(places: list[int]) -> Outcome:
    lines = ", ".join(map(str, places))
    message = Text(
        en=f"write your answer in place of `...` ({_numbered(places)})",
        zh=f"请把 `...` 换成你的答案（第 {lines} 行）",
    )
    return Outcome(Verdict.NOT_ATTEMPTED, message, line=places[0] if places else None)


def _numbered(places: list[int]) -> str:
    return f"line{'s' if len(places) > 1 else ''} {', '.join(map(str, places))}"


def _with_open_places(outcome: Outcome, places: list[int]) -> Outcome:
    lines = ", ".join(map(str, places))
    message = Text(
        en=f"{outcome.message.en} (`...` is still there: {_numbered(places)})",
        zh=f"{outcome.message.zh}（第 {lines} 行仍是 `...`）",
    )
    return replace(outcome, message=message)


def _outcome_of(checker: Path, path: Path, seconds: float, run: Runner) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="kerascope-") as folder:
        result = Path(folder) / "outcome.json"
        words = [str(checker), str(path), str(result), str(seconds)]
        printed, code = run(words, seconds + SECONDS_TO_START)
        if result.is_file():
            return Outcome.from_json(json.loads(result.read_text(encoding="utf-8")), printed)
    if code is None:
        return failed(
            en=f"still running after {seconds:g} s, and the line is not known",
            zh=f"运行 {seconds:g} 秒后仍未结束，也无法得知停在哪里",
            printed=printed,
        )
    # A negative code is a signal: the program did not end itself by exit() or quit().
    advice = ENDED_ITSELF if code >= 0 else NOTHING
    return failed(
        en=f"the process ended (code {code}) before the check was done{advice.en}",
        zh=f"检查完成之前进程就结束了（代码 {code}）{advice.zh}",
        printed=printed,
    )


def run_engine(folder: Path, language: str, seconds: float) -> dict[str, Any]:
    """Run the student's own engine in a separate process; see `proof.py`.

    Returns
    -------
    dict
        The pictures, losses and accuracies that `proof.main` wrote, or {"error": text}. The text is
        the last line that the process printed, or says that it exceeded `seconds`.
    """
    with tempfile.TemporaryDirectory(prefix="kerascope-") as temporary:
        result = Path(temporary) / "proof.json"
        words = [str(folder), language, str(result)]
        printed, code = _run_process(_PROOF, words, seconds + SECONDS_TO_START)
        if result.is_file():
            return dict(json.loads(result.read_text(encoding="utf-8")))
    still = Text(f"still running after {seconds:g} s", f"运行 {seconds:g} 秒后仍未结束")
    last = printed.strip().rpartition("\n")[2] or f"exit {code}"
    return {"error": still.within(language) if code is None else last}


def _run_process(start: str, words: list[str], seconds: float) -> tuple[str, int | None]:
    """Run the Python code `start` in a process; return its output and its exit code.

    A process that exceeds the time limit is killed, and its exit code is None. The process is also
    killed when the present process is interrupted.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", start, ROOT, *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
        start_new_session=os.name == "posix",
    )
    code: int | None = None
    try:  # at once: Ctrl-C before this line would leave the process alone
        assert process.stdout is not None
        kept = OutputReader(process.stdout)
        code = process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _end(process)
    return kept.text(), code


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that is still running, and all processes that it started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):  # all have ended
            os.killpg(process.pid, signal.SIGKILL)  # the group of the process
    elif process.poll() is None:
        process.kill()
    process.wait()


class OutputReader(threading.Thread):
    """A thread that reads all output of a process and keeps its beginning.

    So the process never has to wait until its output is read.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(daemon=True)
        self._stream = stream
        self._data = b""
        self._lost = False
        self.start()

    def run(self) -> None:
        """Read until the stream ends."""
        with self._stream:
            while chunk := self._stream.read1(65536):  # type: ignore[attr-defined]
                room = MOST_PRINTED - len(self._data)
                self._data += chunk[:room]
                self._lost = self._lost or len(chunk) > room

    def text(self) -> str:
        """Return the beginning of the output. Call it after the process has ended."""
        self.join(2.0)
        words = self._data.decode("utf-8", errors="replace").replace("\r\n", "\n")
        return f"{words}\n...\n" if self._lost else words


def environment() -> dict[str, str]:
    """Return the environment variables of a student's process, with a fixed hash seed."""
    own = {k: v for k, v in os.environ.items() if k not in ("KERASCOPE_DIALECT", "PYTHONSTARTUP")}
    return {
        **own,
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONUTF8": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def run_file(path: Path, seconds: float) -> int | None:
    """Run a file as `kerascope run` does; return its exit code, or None after the time limit."""
    words = [sys.executable, "-P", "-c", _RUN, ROOT, str(path)]
    try:
        return subprocess.run(words, env=environment(), timeout=seconds, check=False).returncode
    except subprocess.TimeoutExpired:
        return None
