"""The debugger in a real terminal: the prompt, the tab key, Ctrl-C, Ctrl-D, no line that wraps."""

import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

pty = pytest.importorskip("pty")
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 60  # seconds
# Makes the terminal the child's own, so that Ctrl-C is a signal, and hears it whoever started us.
LAUNCH = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    "signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A child process that believes a person sits before it."""

    def __init__(self, *words, columns=80):
        self.file, theirs = pty.openpty()
        environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm"}
        environment["PYTHONIOENCODING"] = "utf-8"
        command = [sys.executable, "-W", "ignore", "-m", "kerascope", *words]
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, *command],
            **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            start_new_session=True,
            cwd=ROOT,
            env=environment,
        )
        os.close(theirs)
        self.text = ""

    def send(self, text):
        os.write(self.file, text.encode())

    def read_until(self, words):
        """Return what was written until some words come."""
        end = time.monotonic() + PATIENCE
        while words not in self.text:
            ready, _, _ = select.select([self.file], [], [], max(end - time.monotonic(), 0))
            assert ready, f"no {words!r} came; only {self.text!r}"
            try:
                self.text += ANSI.sub("", os.read(self.file, 4096).decode())
            except OSError:
                raise AssertionError(f"it ended before {words!r}; {self.text!r}") from None
        found, words, self.text = self.text.partition(words)
        return found.replace("\r\n", "\n")

    def wait(self):
        """Return the exit code."""
        try:
            while os.read(self.file, 4096):
                continue
        except OSError:
            pass
        os.close(self.file)
        return self.process.wait(PATIENCE)


def test_a_person_at_a_terminal():
    terminal = Terminal("debug", "examples/example.py")
    terminal.read_until("(Kdb) ")
    terminal.send("unt forward\n")
    stop = terminal.read_until("(Kdb) ")
    ours = [line for line in stop.splitlines() if line.startswith(("   ", "--"))]
    assert len(ours) == 4
    assert max(map(len, ours)) <= 80
    assert "● input_1  ○ dense_1" in stop

    terminal.send("p 1/0\n")
    assert "*** ZeroDivisionError: division by zero" in terminal.read_until("(Kdb) ")
    terminal.send("\x03")
    assert "--KeyboardInterrupt--" in terminal.read_until("(Kdb) ")
    terminal.send("p tensor_m\t\n")
    assert "'input_1'" in terminal.read_until("(Kdb) ")
    terminal.send("\n")  # the last command again
    assert "'input_1'" in terminal.read_until("(Kdb) ")
    terminal.send("\x04")
    assert terminal.wait() == 0


def test_ctrl_c_while_the_program_runs_stops_at_the_next_event(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, kerascope as ks\n"
        "model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name='d')])\n"
        "model.compile('sgd', 'mse')\n"
        "print('fitting')\n"
        "model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=1000000, verbose=0)\n"
    )
    terminal = Terminal("debug", str(script))
    terminal.read_until("(Kdb) ")
    terminal.send("c\n")
    terminal.read_until("fitting")
    terminal.send("\x03")
    stop = terminal.read_until("(Kdb) ")
    assert "\ninterrupted\n" in stop
    assert "kerascope/" in stop
    terminal.send("s\n")
    assert "t=" in terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0
