"""`kerascope` in a pseudo terminal of its own, for tests: keys go in, text comes out.

Import it behind `pytest.importorskip("pty")`: Windows has none.
"""

import codecs
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from ctrl_c import HEARS_CTRL_C

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 120  # seconds; only a hang reaches them
# Makes the terminal the child's own, so that Ctrl-C is a signal.
LAUNCH = f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); {HEARS_CTRL_C}"
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BEGUN = re.compile(r"\x1b(\[[0-9;?]*)?\Z")  # a sequence whose end has not come yet
END = "\x00the end of the terminal\x00"


class Terminal:
    """A child process that believes a person sits before it.

    At the end of a `with` block the child has ended and all files are closed, whatever failed.

    Parameters
    ----------
    *words : str
        What follows `kerascope` on the command line.
    home : Path
        The home directory of the child.

    Attributes
    ----------
    seen : str
        All that the child has written.
    text : str
        What of it was not read yet, without the sequences that colour and move.
    """

    def __init__(self, *words, home, columns=80, rows=24):
        self.file, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "HOME": str(home)}
        environment |= {"PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"}
        self.before = self.settings()
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", LAUNCH, *words],
            **dict.fromkeys(("stdin", "stdout", "stderr"), self.theirs),
            start_new_session=True,
            cwd=ROOT,
            env=environment,
        )
        self.seen, self.text, self._begun = "", "", ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._numbers = count(1)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.file)
        os.close(self.theirs)

    def settings(self):
        """Return how the terminal treats what is typed: echo, whole lines or single keys."""
        return termios.tcgetattr(self.theirs)[:6]

    # --- keys -------------------------------------------------------------------------------------

    def send(self, text):
        os.write(self.file, text.encode())

    def ask(self, line, prompt="(Kdb) "):
        """Type a line; return what is written up to the next prompt."""
        self.send(f"{line}\n")
        return self.read_until(prompt)

    def press_ctrl_c_at_the_prompt(self):
        """Press Ctrl-C until it is heard; return what was written then.

        Python's readline shows its prompt a moment before it listens: a Ctrl-C in between is noted
        only. One too many drops a line, and the prompt comes once more; so at last we ask a
        question of our own, until it is answered.
        """
        heard = self._repeat(lambda: ("\x03", "(Kdb) "))
        self._repeat(self._question)
        return heard

    def _question(self):
        number = next(self._numbers)
        return f"p 'question', {number}\n", f"('question', {number})\r\n(Kdb) "

    def _repeat(self, attempt):
        """Send until the answer comes to what was sent last."""
        for patience in (1, 2, 4, 8, 16, PATIENCE):
            sent, awaited = attempt()
            self.send(sent)
            with suppress(TimeoutError):
                return self.read_until(awaited, patience)
        raise AssertionError(f"no answer came to {sent!r}; only {self.text!r}")

    # --- text -------------------------------------------------------------------------------------

    def read_until(self, words, patience=PATIENCE):
        """Return what was written until some words come."""
        self._read_while(lambda: words not in self.text, words, patience)
        found, _, self.text = self.text.partition(words)
        return found.replace("\r\n", "\n")

    def see(self, words):
        """Wait until some words have been written, the sequences between them included."""
        self._read_while(lambda: words not in self.seen, words, PATIENCE)

    def wait(self):
        """Read all that is written to the end; return the exit code."""
        self._read_while(lambda: self.process.poll() is None, "end", PATIENCE)
        with suppress(OSError):  # some systems close a terminal with its session
            os.write(self.theirs, END.encode())  # behind all that the child has written
            self.see(END)
            self.seen = self.seen.removesuffix(END)
        return self.process.returncode

    def _read_while(self, is_missing, awaited, patience):
        end = time.monotonic() + patience
        while is_missing():
            if time.monotonic() > end:
                raise TimeoutError(f"no {awaited!r} came; only {self.text!r}")
            if select.select([self.file], [], [], 0.05)[0]:
                self._add(self._decode(os.read(self.file, 4096)))

    def _add(self, text):
        self.seen += text
        text = self._begun + text
        begun = BEGUN.search(text)
        self._begun = begun[0] if begun else ""
        self.text += ANSI.sub("", text.removesuffix(self._begun))
