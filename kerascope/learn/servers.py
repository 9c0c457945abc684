"""A server process that has imported kerascope, and forks once for each answer to be checked.

Importing takes most of the time of a check. A fork has the imported modules at once. Otherwise it
is like a new process: it has its own memory, output and process group, and no state of an earlier
answer.

    process that checks            server                          its fork
    start(words)  -- words, pipe -> forks -----------------------> output into the pipe
                  <-------------------------------- process id --- runs `child.main(*words)`
    wait()        <-- exit code --- waits until the fork has ended

The server kills its fork and ends itself when the connection is closed. So no process is left when
the process that checks is interrupted or killed.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import IO

from kerascope.errors import UnavailableError

CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"  # macOS: libraries fail after a fork
SECONDS_BETWEEN_LOOKS = 0.002
LONGEST_REQUEST = 65536
# The modules that nearly all checkers import.
IMPORTED = ("kerascope.callbacks", "kerascope.models", "kerascope.layers")
ENDED = -9  # the exit code of an answer whose server was killed, as if it was killed itself

# --- in the process that checks -------------------------------------------------------------------


class ForkServer:
    """A server process that runs answers, one at a time.

    Parameters
    ----------
    command : list of str
        The command that starts Python and calls `serve`.
    environment : dict of str to str
        The environment variables of the server and of its forks.
    """

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._command = command
        self._environment = environment
        self._is_interrupted = False
        self._open()

    def _open(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                self._command,
                stdin=theirs.fileno(),
                env=self._environment,
                start_new_session=True,  # so Ctrl-C does not reach it
            )

    def start(self, words: list[str]) -> Fork:
        """Run `child.main(*words)` in a new fork.

        If an earlier answer has killed the server, another server is started.

        Raises
        ------
        UnavailableError
            The server was interrupted, or cannot run.
        """
        for _ in range(2):
            read, write = os.pipe()
            with suppress(OSError):
                socket.send_fds(self._socket, [json.dumps(words).encode()], [write])
            os.close(write)
            number = self.receive(None)
            if number is not None:
                return Fork(self, number, os.fdopen(read, "rb"))
            os.close(read)
            if self._is_interrupted:
                break
            self.close()
            self._open()
        raise UnavailableError("learn check: the process that checks the answers cannot run.")

    def receive(self, seconds: float | None) -> int | None:
        """Return the next number from the server, or None if the server has ended.

        Raises
        ------
        subprocess.TimeoutExpired
            Nothing was received within this time.
        """
        if not select.select([self._socket], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired(self._command, seconds or 0)
        with suppress(OSError):
            if message := self._socket.recv(4):
                return int(struct.unpack("!i", message)[0])
        return None

    def interrupt(self) -> None:
        """End the server and the present answer; a thread that waits for it continues."""
        self._is_interrupted = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the server and wait for its end."""
        self._socket.close()
        self._process.wait()


class Fork:
    """A process that the server has forked, with those attributes of a `Popen` that callers use.

    Attributes
    ----------
    pid : int
        The process id, and the id of its process group.
    stdout : file
        Its output and its error output.
    """

    def __init__(self, server: ForkServer, pid: int, stdout: IO[bytes]) -> None:
        self.pid = pid
        self.stdout = stdout
        self._server = server
        self._code: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the process has ended, and return its exit code."""
        if self._code is None:
            code = self._server.receive(timeout)
            self._code = ENDED if code is None else code
        return self._code


# --- in the server --------------------------------------------------------------------------------


def serve(run: Callable[..., None]) -> None:
    """Fork for each request on the socket that is the standard input, until it is closed.

    Parameters
    ----------
    run : callable
        `child.main`, which the forks call with the words of their request.
    """
    for name in IMPORTED:
        import_module(name)
    connection = socket.socket(fileno=os.dup(0))
    gc.collect()
    gc.freeze()  # so the forks share the memory of the imported modules
    while True:
        message, files, _, _ = socket.recv_fds(connection, LONGEST_REQUEST, 1)
        if not message:
            return
        process = os.fork()
        if not process:
            _be_an_answer(connection, files[0], run, json.loads(message))
        os.close(files[0])
        connection.send(struct.pack("!i", _exit_code(process, connection)))


def _exit_code(process: int, connection: socket.socket) -> int:
    """Wait until a fork has ended, and return its exit code.

    If the connection is closed meanwhile, kill the fork and end the server.
    """
    while True:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if select.select([connection], [], [], SECONDS_BETWEEN_LOOKS)[0]:
            for kill in (os.killpg, os.kill):
                with suppress(ProcessLookupError):
                    kill(process, signal.SIGKILL)
            os._exit(0)


def _be_an_answer(
    connection: socket.socket, output: int, run: Callable[..., None], words: list[str]
) -> None:
    """Call `run(*words)` in the fork, in its own process group, and never return."""
    try:
        os.setsid()
        connection.send(struct.pack("!i", os.getpid()))
        connection.close()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(output, stream)
        os.close(output)
        run(*words)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)
