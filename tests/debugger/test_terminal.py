"""The debugger in a real terminal: prompt, tab key, history, Ctrl-C, Ctrl-D; pipes and locales."""

import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.cells import cell_len

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

    def __init__(self, *words, home, columns=80):
        self.file, theirs = pty.openpty()
        environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", "HOME": str(home)}
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

    def press_ctrl_c(self, until):
        """Press Ctrl-C until it is heard; return what was written then.

        Python's readline shows its prompt a moment before it listens, and `sleep` begins a moment
        after the word before it is printed: a Ctrl-C in between is noted only.
        """
        for patience in (2, 10, PATIENCE):
            time.sleep(0.2)
            self.send("\x03")
            if self.comes(until, patience):
                break
        return self.read_until(until)

    def comes(self, words, patience):
        """Tell whether some words come in time."""
        try:
            self.text = self.read_until(words, patience) + words + self.text
        except AssertionError:
            return False
        return True

    def read_until(self, words, patience=PATIENCE):
        """Return what was written until some words come."""
        end = time.monotonic() + patience
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


def test_a_person_at_a_terminal(tmp_path):
    terminal = Terminal("debug", "examples/example.py", home=tmp_path)
    terminal.read_until("(Kdb) ")
    terminal.send("unt forward\n")
    stop = terminal.read_until("(Kdb) ")
    ours = [line for line in stop.splitlines() if line.startswith(("   ", "--"))]
    assert len(ours) == 4
    assert max(map(len, ours)) <= 80
    assert "● input_1  ○ dense_1" in stop

    terminal.send("p 1/0\n")
    assert "*** ZeroDivisionError: division by zero" in terminal.read_until("(Kdb) ")
    assert "--KeyboardInterrupt--" in terminal.press_ctrl_c(until="(Kdb) ")
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
    terminal = Terminal("debug", str(script), home=tmp_path)
    terminal.read_until("(Kdb) ")
    terminal.send("c\n")
    terminal.read_until("fitting")
    terminal.send("\x03")
    stop = terminal.read_until("(Kdb) ")
    assert "\ninterrupted\n" in stop
    # A place in the engine; an event without one shows the script's line that has led there.
    assert "> kerascope/" in stop or "> script.py(5)<module>()" in stop
    terminal.send("s\n")
    assert "t=" in terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0


def test_ctrl_c_outside_of_the_engine_says_what_it_does(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import time\nimport kerascope\nprint('loading')\ntry:\n    time.sleep(300)\n"
        "except KeyboardInterrupt:\n    print('the script heard it')\n"
    )
    terminal = Terminal("debug", str(script), home=tmp_path)
    terminal.read_until("(Kdb) ")
    terminal.send("c\n")
    terminal.read_until("loading")
    time.sleep(0.5)
    terminal.send("\x03")
    terminal.read_until("stops at the next event; Ctrl-C again raises KeyboardInterrupt")
    terminal.press_ctrl_c(until="the script heard it")
    terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0


def test_exit_of_the_python_prompt_comes_back_and_leaves_the_terminal_to_the_session(tmp_path):
    terminal = Terminal("debug", "examples/example.py", home=tmp_path)
    terminal.read_until("(Kdb) ")
    for way_back in ("exit()\n", "\x04", "quit()\n"):
        terminal.send("interact\n")
        terminal.read_until(">>> ")
        terminal.send(way_back)
        terminal.read_until("(Kdb) ")
    for command, said in (("!exit()", "*** SystemExit: None"), ("p 40 + 1", "41")):
        terminal.send(f"{command}\n")
        assert said in terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0


# --- what the prompt survives ---------------------------------------------------------------------

FAILING = """\
import kerascope as ks
class Broken(ks.layers.Dense):
    def call(self, inputs):
        raise ValueError("no such thing")
name = input("whose? ")
print("of", name)
ks.Sequential([Broken(1, input_shape=(2,), name="broken")])
"""


def test_the_prompt_survives_what_goes_wrong(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FAILING)
    terminal = Terminal("debug", str(script), home=tmp_path)
    terminal.read_until("(Kdb) ")
    crash = "import kerascope.debugger.tables as m; m.TABLES = 3"
    for command, said in [
        ("raise SystemExit(3)", "*** SystemExit: 3"),
        ("raise KeyboardInterrupt", "--KeyboardInterrupt--"),
        (crash, ""),
        ("info tensors", "*** TypeError: "),
        ("def f(:", "*** SyntaxError: "),
        ("p '" + "long " * 30 + "' + 1", "*** TypeError: "),
    ]:
        terminal.send(f"{command}\n")
        assert said in terminal.read_until("(Kdb) ")
    terminal.send("import time; print('sleeping'); time.sleep(300)\n")
    terminal.read_until("sleeping\r\n")
    assert "--KeyboardInterrupt--" in terminal.press_ctrl_c(until="(Kdb) ")
    terminal.send("c\n")
    terminal.read_until("whose? ")
    terminal.send("mine\n")  # the program's own question
    failure = terminal.read_until("(Kdb) ")
    assert "of mine\n" in failure
    assert "ValueError: no such thing" in failure
    assert "--Return-- layer.call broken -> ValueError: no such thing" in failure
    terminal.send("w\n")
    assert "> broken" in terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 1
    history = (tmp_path / ".kscope_history").read_text().splitlines()
    assert history[:2] == ["raise SystemExit(3)", "raise KeyboardInterrupt"]
    assert history[-2:] == ["w", "q"]
    assert "mine" not in history


def test_the_arrow_keys_find_what_was_typed_in_an_earlier_session(tmp_path):
    pytest.importorskip("readline")
    for keys, said in (("p 20 + 1\n", "21"), ("\x1b[A\x1b[A\n", "21")):
        terminal = Terminal("debug", "examples/example.py", home=tmp_path)
        terminal.read_until("(Kdb) ")
        terminal.send(keys)
        assert said in terminal.read_until("(Kdb) ").splitlines()
        terminal.send("q\n")
        assert terminal.wait() == 0
    assert (tmp_path / ".kscope_history").read_text() == "p 20 + 1\nq\np 20 + 1\nq\n"


def test_the_tab_key_completes_commands_layers_and_tables(tmp_path):
    pytest.importorskip("readline")
    terminal = Terminal("debug", "examples/example.py", home=tmp_path)
    terminal.read_until("(Kdb) ")
    terminal.send("unt forward\n")
    terminal.read_until("(Kdb) ")
    terminal.send("origin dense_2/r\t\n")
    assert "op.create dense_2/relu: " in terminal.read_until("(Kdb) ")
    terminal.send("p model.output_sh\t[-1]\n")
    assert "\n1\n" in terminal.read_until("(Kdb) ")
    terminal.send("unt back\t\n")
    assert "--Call-- backward" in terminal.read_until("(Kdb) ")
    terminal.send("info wei\t\n")
    assert "dense_1/kernel" in terminal.read_until("(Kdb) ")
    terminal.send("unali\t x\n")
    assert "is no alias" in terminal.read_until("(Kdb) ")
    terminal.send("b dense_1:r\x04")  # Ctrl-D inside a line is no end
    terminal.read_until("\x07")  # readline has no more to offer
    assert "--KeyboardInterrupt--" in terminal.press_ctrl_c(until="(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0


# --- pipes and locales ----------------------------------------------------------------------------


def debugged(*options, commands="", **environment):
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", *options],
        input=commands.encode(),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **environment},
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("options", [["--step-all=detail"], ["--format", "md"], []])
def test_a_reader_that_has_gone_ends_it_silently(options):
    words = [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", *options]
    with subprocess.Popen(
        [*words, "examples/example.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        process.stdin.write(b"s\n" * 1000)
        process.stdin.close()
        if "md" not in options:
            process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(PATIENCE) == 141


def test_without_utf8_all_is_ascii():
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    commands = "unt forward;s;w;l user;info nodes;info depths;draw;r;set out = out;q;"
    done = debugged("examples/example.py", commands=commands.replace(";", "\n"), **locale)
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode("ascii")
    assert "* input_1  > dense_1  . dense_2" in text
    assert "overridden dense_1/relu @" in text
    assert "***" not in text
    assert "cannot be shown" not in text


# --- tmux -----------------------------------------------------------------------------------------

LOOKS = """\
s 3; unt forward; s; w; l; l user; ll; info tensors; info nodes; info depths; info weights
info seen; info counts; help; help break; help list; help goto; a; when; draw
b nosuch:ret, norm(out) > 1; tbreak nosuchlayer; goto x; p 1/0; rs 4; timeline; unt backward; s
info grads; unt commit; s; s; info updates; watch weight:dense_1*; nosuch; commands 99
"""
TO_THE_END = "catch dead; catch nan; b op:dot, norm(out) > 1000; c; clear 1; c; rs 3; info breaks"


@pytest.fixture
def tmux(tmp_path):
    """Start a session in tmux; return what calls tmux on it."""
    if shutil.which("tmux") is None:
        pytest.skip("there is no tmux")
    socket = str(tmp_path / "socket")

    def call(*words):
        done = subprocess.run(["tmux", "-S", socket, "-u", *words], capture_output=True, check=True)
        return done.stdout.decode()

    yield call
    subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True)


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
@pytest.mark.parametrize("name", ["example", "shared_layer"])
def test_no_line_wraps_in_a_terminal(tmux, tmp_path, columns, rows, name):
    looks = f"{TO_THE_END}; {LOOKS}" if name == "example" else LOOKS
    commands = [word.strip() for word in looks.replace("\n", ";").split(";") if word.strip()]
    words = [f"HOME={tmp_path} exec {sys.executable} -W ignore -m kerascope debug"]
    words += [f"-c {shlex.quote(command)}" for command in commands]
    start = f"cd {ROOT}; " + " ".join([*words, f"examples/{name}.py"])
    size = ["-x", str(columns), "-y", str(rows)]
    tmux(
        "-f",
        "/dev/null",
        "new-session",
        "-d",
        *size,
        "sh",
        ";",
        "set",
        "-g",
        "history-limit",
        "9999",
    )
    tmux("respawn-pane", "-k", start)
    end = time.monotonic() + PATIENCE
    while "(Kdb) commands 99" not in (rows_shown := tmux("capture-pane", "-p", "-S", "-")):
        assert time.monotonic() < end, rows_shown
        time.sleep(0.2)
    time.sleep(0.3)
    rows_shown = tmux("capture-pane", "-p", "-S", "-").split("\n")
    joined = tmux("capture-pane", "-p", "-J", "-S", "-").split("\n")
    wrapped = [line.rstrip() for line in joined if cell_len(line.rstrip()) > columns]
    assert wrapped == []
    assert len(rows_shown) > 200
    assert not [line for line in rows_shown if "cannot be shown" in line]
