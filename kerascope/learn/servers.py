"""Check many files at once, each in a process that is forked off one that has imported kerascope.

Importing takes most of the time of a check. A fork has the imported modules at once. Otherwise it
is like a new process: it has its own memory, output and process group, and no state of an earlier
answer.

    process that checks          server                           its fork
    run(words, seconds) ----->   forks ------------------------>  runs `child.main(*words)`
                        <-----   output and exit code  <--------  ends, or is killed

The server reads its requests from standard input. When this is closed, it kills its fork and ends.
So no process is left when the process that checks is interrupted or killed.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from multiprocessing import connection, get_context
from pathlib import Path

from kerascope.learn import child
from kerascope.learn.exercises import Exercise
from kerascope.learn.running import (
    ROOT,
    SECONDS,
    START,
    OutputReader,
    check_file,
    environment,
    run_checker,
)
from kerascope.learn.verdicts import Outcome

CAN_FORK = hasattr(os, "fork") and sys.platform != "darwin"  # macOS: libraries fail after a fork
# The modules that nearly all checkers import.
IMPORTED = ("kerascope.callbacks", "kerascope.models", "kerascope.layers")
STDIN, STDOUT, STDERR = range(3)
_SERVE = START + "load('kerascope.learn.servers').serve()"

# --- in the process that checks -------------------------------------------------------------------


def check_files(
    files: Sequence[tuple[Exercise, Path]], seconds: float = SECONDS, jobs: int = 2
) -> Generator[Outcome, None, None]:
    """Check many files, `jobs` at a time, and yield the outcomes in the order of the files.

    Each file is run in a process of its own. No process is left if the caller is interrupted.
    """
    is_served = CAN_FORK and len(files) > 1  # for one file, a server would not be faster
    servers = [ForkServer() for _ in range(min(jobs, len(files)))] if is_served else []
    free = list(servers)

    def check(file: tuple[Exercise, Path]) -> Outcome:
        if not servers:
            return check_file(*file, seconds, run_checker)
        server = free.pop()
        try:
            return check_file(*file, seconds, server.run)
        finally:
            free.append(server)

    pool = ThreadPoolExecutor(jobs)
    try:
        yield from pool.map(check, files)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for server in servers:
            server.close()
        pool.shutdown()


class ForkServer:
    """A server process that runs answers, one at a time. It starts with the first answer."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def run(self, words: list[str], seconds: float) -> tuple[str, int | None]:
        """Run `child.main(*words)` in a new fork; see `running.run_checker`.

        An answer that kills the server gets the exit code of the server. The next answer starts
        another one.
        """
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SERVE, ROOT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                env=environment(),
                start_new_session=True,  # so Ctrl-C does not reach it
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([words, seconds]) + "\n")
        process.stdin.flush()
        reply = process.stdout.readline()
        if not reply:
            self.close()
            return "", process.returncode
        printed, code = json.loads(reply)
        return printed, code

    def close(self) -> None:
        """End the server and the present answer."""
        if self._process is not None and self._process.stdin is not None:
            with self._process:  # closes the other pipe, and waits
                self._process.stdin.close()


# --- in the server --------------------------------------------------------------------------------


def serve() -> None:
    """Fork for each request, and reply with the output and the exit code of the fork."""
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()  # so the forks share the memory of the imported modules
    while request := sys.stdin.readline():
        words, seconds = json.loads(request)
        print(json.dumps(_run_in_fork(words, seconds)), flush=True)


def _run_in_fork(words: list[str], seconds: float) -> tuple[str, int | None]:
    """Run `child.main(*words)` in a fork until it ends, at most `seconds`, or until stdin ends."""
    reading, writing = os.pipe()
    process = get_context("fork").Process(target=_be_an_answer, args=(writing, words))
    process.start()
    os.close(writing)
    output = OutputReader(os.fdopen(reading, "rb"))
    if process.sentinel in connection.wait([process.sentinel, STDIN], seconds):
        process.join()
    code = process.exitcode
    with suppress(ProcessLookupError, PermissionError):  # all have ended
        os.killpg(process.pid or 0, signal.SIGKILL)  # the group of the process
    process.kill()
    process.join()
    return output.text(), code


def _be_an_answer(output: int, words: list[str]) -> None:
    """Call `child.main` in the fork, in its own process group."""
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDONLY), STDIN)
    os.dup2(output, STDOUT)
    os.dup2(output, STDERR)
    os.close(output)
    child.main(*words)
