"""Debugger sessions: commands piped into pdb, or into `kerascope debug`, and what comes out.

A person sees each command behind its prompt; a pipe does not echo, so pdb is given an input that
does. `kerascope debug` echoes by itself. The end of the commands ends the session. A session is a
process of its own, started afresh, or forked off one that has imported everything already.
"""

from __future__ import annotations

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
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from kerascope.cli import main as kerascope_command
from kerascope.lessons.lesson import lines_of

TIME_LIMIT = 90  # seconds for one session
PROMPTS = {"pdb": "(Pdb) ", "kscope": "(Kdb) "}
# The file whose folder Python must find to import this very package.
PACKAGE_PARENT = Path(__file__).resolve().parents[2]


class Transcript(NamedTuple):
    """What a session showed.

    Attributes
    ----------
    text : str
        Prompts, commands, answers.
    problem : str
        Why the session is not what its commands ask for; empty if it is.
    """

    text: str
    problem: str


def calm_environment(home: Path) -> dict[str, str]:
    """Return the environment of a process whose output is the same everywhere.

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


def calm_process() -> None:
    """Seed the random numbers of this process, and let it reach no network.

    Other processes of this machine may be spoken to: pipes are made so on some systems.
    """
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (what scripts draw from)
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
    """Refuse a connection that leaves this machine."""
    if connection.family == getattr(socket, "AF_UNIX", None):
        return
    host = address[0] if isinstance(address, tuple) and address else address
    if not (isinstance(host, str) and (host in ("localhost", "::1") or host.startswith("127."))):
        raise OSError(f"lessons run without a network; {address!r} was asked for")


class Finished(NamedTuple):
    """A process of a session that is over.

    Attributes
    ----------
    said, complained : str
        What stands on its standard output and on its standard error.
    in_time : bool
        Whether it ended by itself.
    """

    said: str
    complained: str
    in_time: bool


# What starts the process of a session: from its arguments and its commands.
Start = Callable[[list[str], str], Finished]


def start_session(
    arguments: list[str], commands: str, environment: Mapping[str, str] | None = None
) -> Finished:
    """Run a session in a new process.

    Parameters
    ----------
    arguments : list of str
        Its kind, and what follows the debugger's name.
    commands : str
        Its standard input.
    environment : mapping, optional
        That of the new process; default this one's.
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
        return Finished("", "", False)
    return Finished(finished.stdout, finished.stderr, True)


# --- sessions without the wait --------------------------------------------------------------------
# A session is a process of its own, and most of its time goes into importing NumPy and kerascope.
# So a chapter's process, before it runs anything, leaves a copy of itself behind that only waits;
# each session is a copy of that copy. Nothing of the chapter is in it. Where there is no `fork`
# (Windows), sessions are started afresh: `run_session` does either.
WAIT = 0.002  # seconds between looks at a session that is running


class SessionServer:
    """The waiting copy, seen from the process that it was copied from.

    Parameters
    ----------
    connection : socket
        Its end of the line; it ends when this is closed.
    process : int
        The id of the copy.
    """

    def __init__(self, connection: socket.socket, process: int) -> None:
        self.connection = connection
        self.process = process
        self.lines = connection.makefile("rw", encoding="utf-8")

    def close(self) -> None:
        """End the line, and wait for the copy to end: nothing is left behind."""
        self.lines.close()
        self.connection.close()
        os.waitpid(self.process, 0)

    def __call__(self, arguments: list[str], commands: str) -> Finished:
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
            said, complained = (
                Path(folder, name).read_text(encoding="utf-8", errors="replace") for name in "12"
            )
        return Finished(said, complained, in_time)


def start_server() -> SessionServer | None:
    """Leave a copy of this process behind that runs sessions; None where that cannot be done."""
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
    """Run a session for each line that comes, until the line ends."""
    lines = connection.makefile("rw", encoding="utf-8")
    for line in lines:
        request = json.loads(line)
        session = os.fork()
        if not session:
            connection.close()
            _be_session(request)
        lines.write(json.dumps(_wait(session)) + "\n")
        lines.flush()


def _wait(session: int) -> bool:
    """Wait for a process; kill it and return False if it takes too long."""
    end = time.monotonic() + TIME_LIMIT
    while time.monotonic() < end:
        if os.waitpid(session, os.WNOHANG)[0]:
            return True
        time.sleep(WAIT)
    os.kill(session, signal.SIGKILL)
    os.waitpid(session, 0)
    return False


def _be_session(request: dict[str, Any]) -> None:
    """Be the process of a session: its streams, its folder, its main module; never return."""
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


# --- a session, started either way ----------------------------------------------------------------


def run_session(
    kind: str,
    words: tuple[str, ...],
    commands: str,
    start: Start = start_session,
) -> Transcript:
    """Run a debugger on a script of the working folder.

    Parameters
    ----------
    kind : {"pdb", "kscope"}
    words : tuple of str
        Options, the script, its arguments.
    commands : str
        One on each line.
    start : callable
        How its process is started: afresh, or forked.
    """
    lines = [line for line in lines_of(commands) if line.strip()]
    finished = start([kind, *words], "\n".join(lines) + "\n")
    if not finished.in_time:
        return Transcript("", f"the session was not over after {TIME_LIMIT} s")
    prompt = PROMPTS[kind]
    text = finished.said.removesuffix("\n").removesuffix(prompt.rstrip()).removesuffix(prompt)
    text = text if not text or text.endswith("\n") else text + "\n"
    return Transcript(text, _problem(lines, text, finished.complained))


def _problem(commands: list[str], text: str, complaints: str) -> str:
    """Say which command was never read: the program ended before, or did not start."""
    shown = iter(lines_of(text))
    for number, command in enumerate(commands, 1):
        if not any(line.endswith(f") {command}") for line in shown):
            last = lines_of(complaints.strip())[-1:] or ["nothing was said on standard error"]
            return f"command {number}, {command!r}, was never read ({last[0]})"
    return ""


class EchoingInput:
    """Standard input that writes each line that is read from it, as a terminal shows it."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)

    def readline(self, size: int = -1) -> str:
        """Return the next line; at the end, what makes the debugger quit."""
        if not self.lines:
            return "q\n"
        line = self.lines.pop(0) + "\n"
        sys.stdout.write(line)
        return line

    def isatty(self) -> bool:
        """Return False: nobody is typing."""
        return False

    def fileno(self) -> int:
        """Refuse, so that `input` reads with `readline`."""
        raise OSError("no file")


def session_main() -> None:
    """Run the debugger that the command line names, in a process of its own."""
    kind, *words = sys.argv[1:]
    calm_process()
    if kind == "kscope":
        sys.exit(kerascope_command(["debug", *words]))
    sys.stdin = EchoingInput(sys.stdin.read())  # type: ignore[assignment]
    sys.argv = ["pdb", *words]
    pdb.main()  # type: ignore[attr-defined]
