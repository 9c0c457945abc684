"""Debugger sessions: pipe commands into pdb or `kerascope debug`, and return the transcript.

In a terminal, each command is shown after its prompt. A pipe does not echo, so pdb gets an input
that does; `kerascope debug` echoes by itself. The session ends after the last command. Each session
is a separate process: a new one, or a fork of a process that has already imported everything.
"""

from __future__ import annotations

import builtins
import json
import os
import pdb
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from kerascope.cli import main as kerascope_command
from kerascope.errors import SpellingWarning
from kerascope.lessons.lesson import lines_of

TIME_LIMIT = 90  # seconds for one session
PROMPTS = {"pdb": "(Pdb) ", "kscope": "(Kdb) "}
# The folder that must be on Python's path to import this copy of the package.
PACKAGE_PARENT = Path(__file__).resolve().parents[2]


class Transcript(NamedTuple):
    """The output of a debugger session.

    Attributes
    ----------
    text : str
        Prompts, commands and answers.
    problem : str
        Why not all commands were run; empty if all were run.
    """

    text: str
    problem: str


# A folder in the student's workbook, or above it, for blocks that run elsewhere (learn/engine.py).
WORKBOOK_VARIABLE = "KERASCOPE_WORKBOOK"


def fixed_environment(home: Path) -> dict[str, str]:
    """Return the environment of a process whose output is the same on all machines.

    Parameters
    ----------
    home : Path
        A folder without settings: no `.pdbrc`, no `.kscoperc`.
    """
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "KERASCOPE", "KSCOPE"))
    }
    return environment | {
        "PYTHONHASHSEED": "0",
        "PYTHONUTF8": "1",
        "PYTHON_COLORS": "0",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "COLUMNS": "100",
        "LINES": "40",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": str(PACKAGE_PARENT),
        "HOME": str(home),
        "USERPROFILE": str(home),
    }


def seed_process() -> None:
    """Seed the random numbers of this process, and block its network access.

    Connections within this machine are allowed, because on some systems pipes are such connections.
    """
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (the generator that scripts use)
    socket.socket.connect = _connect_here  # type: ignore[method-assign,assignment]
    socket.socket.connect_ex = _connect_here_ex  # type: ignore[method-assign,assignment]


_connect, _connect_ex = socket.socket.connect, socket.socket.connect_ex


def _connect_here(connection: socket.socket, address: Any) -> None:
    _refuse_elsewhere(connection, address)
    _connect(connection, address)


def _connect_here_ex(connection: socket.socket, address: Any) -> int:
    _refuse_elsewhere(connection, address)
    return _connect_ex(connection, address)


def _refuse_elsewhere(connection: socket.socket, address: Any) -> None:
    """Raise OSError for a connection to another machine; allow one within this machine."""
    if connection.family == getattr(socket, "AF_UNIX", None):
        return
    host = address[0] if isinstance(address, tuple) and address else address
    if not (isinstance(host, str) and (host in ("localhost", "::1") or host.startswith("127."))):
        raise OSError(f"Lessons run without a network: cannot connect to {address!r}.")


class FinishedProcess(NamedTuple):
    """The result of a process that ran a debugger session.

    Attributes
    ----------
    output, errors : str
        The standard output and the standard error of the process.
    in_time : bool
        Whether the process ended within the time limit.
    """

    output: str
    errors: str
    in_time: bool


# A function that runs a session's process with arguments and commands.
Start = Callable[[list[str], str], FinishedProcess]


def start_session(
    arguments: list[str], commands: str, environment: Mapping[str, str] | None = None
) -> FinishedProcess:
    """Run a session in a new process.

    Parameters
    ----------
    arguments : list of str
        The kind of session, and the arguments of the debugger.
    commands : str
        The standard input of the process.
    environment : mapping, optional
        The environment of the new process; default that of this process.
    """
    start = "from kerascope.lessons.sessions import session_main; session_main()"
    try:
        finished = subprocess.run(
            [sys.executable, "-c", start, *arguments],
            input=commands,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=dict(environment) if environment is not None else None,
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return FinishedProcess("", "", False)
    return FinishedProcess(finished.stdout, finished.stderr, True)


# --- sessions in forked processes ----------------------------------------------------------------
# A session is a separate process, and most of its time is spent importing NumPy and kerascope. So a
# chapter's process, before it runs anything, forks a server process that only waits. Each session
# is a fork of this server, which contains nothing of the chapter. Without `fork` (on Windows), each
# session is a new process; `run_session` works with both.
WAIT = 0.002  # seconds between checks whether a session has ended


class SessionServer:
    """A client of the forked server process, which runs sessions.

    Parameters
    ----------
    connection : socket
        The connection to the server. The server exits when the connection is closed.
    process : int
        The process id of the server.
    """

    def __init__(self, connection: socket.socket, process: int) -> None:
        self.connection = connection
        self.process = process
        self.lines = connection.makefile("rw", encoding="utf-8")

    def close(self) -> None:
        """Close the connection and wait until the server has exited."""
        self.lines.close()
        self.connection.close()
        os.waitpid(self.process, 0)

    def __call__(self, arguments: list[str], commands: str) -> FinishedProcess:
        """Run a session; see `start_session`."""
        with tempfile.TemporaryDirectory() as folder:
            request = {
                "arguments": arguments,
                "folder": folder,
                "cwd": str(Path.cwd()),
                "environment": dict(os.environ),
            }
            Path(folder, "0").write_text(commands, encoding="utf-8")
            self.lines.write(json.dumps(request) + "\n")
            self.lines.flush()
            in_time = json.loads(self.lines.readline())
            said, errors = (
                Path(folder, name).read_text(encoding="utf-8", errors="replace") for name in "12"
            )
        return FinishedProcess(said, errors, in_time)


def start_server() -> SessionServer | None:
    """Fork a server that runs sessions; return its client, or None if there is no `fork`."""
    if not hasattr(os, "fork"):
        return None
    ours, its = socket.socketpair()
    process = os.fork()
    if process:
        its.close()
        return SessionServer(ours, process)
    ours.close()
    try:
        _serve(its)
    finally:
        os._exit(0)


def _serve(connection: socket.socket) -> None:
    """Run a session for each request line, until the connection is closed."""
    lines = connection.makefile("rw", encoding="utf-8")
    for line in lines:
        request = json.loads(line)
        session = os.fork()
        if not session:
            connection.close()
            _become_session(request)
        lines.write(json.dumps(_wait(session)) + "\n")
        lines.flush()


def _wait(session: int) -> bool:
    """Wait for a process, and return True. At the time limit, kill the process and return False."""
    end = time.monotonic() + TIME_LIMIT
    while time.monotonic() < end:
        if os.waitpid(session, os.WNOHANG)[0]:
            return True
        time.sleep(WAIT)
    os.kill(session, signal.SIGKILL)
    os.waitpid(session, 0)
    return False


def _become_session(request: dict[str, Any]) -> None:
    """Run a session in this forked process, and exit the process.

    The streams, the working folder and the main module are set up first.
    """
    try:
        for number in (0, 1, 2):
            flags = os.O_WRONLY | os.O_CREAT if number else os.O_RDONLY
            opened = os.open(Path(request["folder"], str(number)), flags, 0o600)
            os.dup2(opened, number)
            os.close(opened)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False, buffering=1)  # noqa: SIM115
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["environment"])
        sys.modules["__main__"] = ModuleType("__main__")
        sys.argv = ["", *request["arguments"]]
        session_main()
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


# --- running a session ----------------------------------------------------------------------------


def run_session(
    kind: str, words: tuple[str, ...], commands: str, start: Start = start_session
) -> Transcript:
    """Run a debugger on a script in the working folder; return the transcript.

    Parameters
    ----------
    kind : {"pdb", "kscope"}
    words : tuple of str
        Options, the script, its arguments.
    commands : str
        The commands, one on each line.
    start : callable
        Runs the process: `start_session` for a new one, or a `SessionServer`.
    """
    lines = [line for line in lines_of(commands) if line.strip()]
    finished = start([kind, *words], "\n".join(lines) + "\n")
    if not finished.in_time:
        return Transcript("", f"the session had not ended after {TIME_LIMIT} s")
    prompt = PROMPTS[kind]
    text = finished.output.removesuffix("\n").removesuffix(prompt.rstrip()).removesuffix(prompt)
    text = text if not text or text.endswith("\n") else text + "\n"
    return Transcript(text, _problem(lines, text, finished.errors))


def _problem(commands: list[str], text: str, complaints: str) -> str:
    """Return a message about the first command that was not read; "" if all were read."""
    shown = iter(lines_of(text))
    for number, command in enumerate(commands, 1):
        if not any(line.endswith(f") {command}") for line in shown):
            last = lines_of(complaints.strip())[-1:] or ["standard error is empty"]
            return f"command {number}, {command!r}, was never read ({last[0]})"
    return ""


class EchoingInput:
    """Standard input that echoes each line that is read, as a terminal does."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)

    def readline(self, size: int = -1) -> str:
        """Return the next command line; after the last one, `q`, which ends the debugger."""
        if not self.lines:
            return "q\n"
        line = self.lines.pop(0) + "\n"
        sys.stdout.write(line)
        return line

    def isatty(self) -> bool:
        """Return False, because this input is not a terminal."""
        return False

    def fileno(self) -> int:
        """Raise OSError, so that `input` calls `readline`."""
        raise OSError("EchoingInput: this stream has no file descriptor.")


def session_main(is_live: bool = False) -> None:
    """Run the debugger named on the command line; the main function of a session's process."""
    kind, *words = sys.argv[1:]
    seed_process()
    if kind == "kscope":
        sys.exit(kerascope_command(["debug", *words]))
    if not is_live:
        sys.stdin = EchoingInput(sys.stdin.read())  # type: ignore[assignment]
    sys.argv = ["pdb", *words]
    pdb.main()  # type: ignore[attr-defined]


# --- a session with a live prompt -----------------------------------------------------------------
# In a notebook and in `kerascope learn web`, the reader types the commands. The session is still a
# process of its own, so it changes no names, layers or settings of the notebook. Its `input` marks
# the end of each prompt with a NUL character; then the notebook's own `input` asks the reader.


ASKS = "\0"


def live_session(kind: str, words: tuple[str, ...], environment: Mapping[str, str]) -> bool:
    """Run a debugger on a script, and read each command with `input`, until the debugger ends.

    Parameters
    ----------
    kind : {"pdb", "kscope"}
    words : tuple of str
        Options, the script, its arguments.
    environment : mapping of str to str
        The environment variables of the process.

    Returns
    -------
    bool
        Whether the debugger has asked for a command. Without one, the script did not start.
    """
    start = "from kerascope.lessons.sessions import live_main; live_main()"
    process = subprocess.Popen(
        [sys.executable, "-c", start, kind, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=dict(environment),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    has_asked = False
    try:
        line = ""
        while sign := process.stdout.read(1):
            line += sign
            if sign == ASKS:
                has_asked = True
                process.stdin.write(input(line.rstrip(ASKS)) + "\n")
                process.stdin.flush()
                line = ""
            elif sign == "\n":
                print(_without_folders(line), end="", flush=True)
                line = ""
        print(line, end="")
    except BrokenPipeError:  # the script ended while the reader typed
        pass
    finally:
        process.kill()  # has no effect if it has ended; after Ctrl-C, it has not
        process.communicate()
    return has_asked


def _without_folders(line: str) -> str:
    """Return a line without the folders that lessons do not print, as in `> example.py(1)`."""
    for root in (Path.cwd(), PACKAGE_PARENT):
        line = line.replace(f"{root}{os.sep}", "")
    return line


def live_main() -> None:
    """Run the debugger named on the command line; `live_session` types its commands."""
    builtins.input = _ask
    warnings.simplefilter("ignore", SpellingWarning)  # the lesson shows only the standard output
    session_main(is_live=True)


def _ask(prompt: object = "") -> str:
    sys.stdout.write(f"{prompt}{ASKS}")
    sys.stdout.flush()
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
