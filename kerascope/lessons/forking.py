"""Debugger sessions without the wait: forked off a process that has imported everything already.

A session is a process of its own, and most of its time goes into importing NumPy and kerascope. So
a chapter's process, before it runs anything, leaves a copy of itself behind that only waits; each
session is a copy of that copy. Nothing of the chapter is in it. Where there is no `fork` (Windows),
sessions are started afresh: `sessions.run_session` does either.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

# What every session imports sooner or later; here it is imported once for all.
import kerascope.cli.debugging
import kerascope.layers
import kerascope.models  # noqa: F401
from kerascope.lessons.sessions import TIME_LIMIT, Finished, session_main

Request = dict[str, Any]
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
        """Run a session; see `sessions.start_session`."""
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


def _be_session(request: Request) -> None:
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
