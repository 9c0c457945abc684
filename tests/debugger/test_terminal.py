"""The debugger in a real terminal: prompt, tab key, history, Ctrl-C, Ctrl-D; pipes and locales."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack

import pytest
from rich.cells import cell_len

pytest.importorskip("pty")

from terminals import PATIENCE, ROOT, Terminal
from waiting import wait_until


@pytest.fixture
def debug(tmp_path):
    """Return a function that debugs a script, or the text of one, in a terminal at its prompt."""
    with ExitStack() as stack:

        def debug(script):
            if "\n" in script:
                (tmp_path / "script.py").write_text(script)
                script = str(tmp_path / "script.py")
            terminal = stack.enter_context(Terminal("debug", script, home=tmp_path))
            terminal.read_until("(Kdb) ")
            return terminal

        yield debug


@pytest.mark.process
def test_a_person_at_a_terminal(debug):
    terminal = debug("examples/example.py")
    stop = terminal.ask("unt forward")
    ours = [line for line in stop.splitlines() if line.startswith(("   ", "--"))]
    assert len(ours) == 3
    assert max(map(len, ours)) <= 80
    assert "● input_1  ○ dense_1" in stop

    assert "*** ZeroDivisionError: division by zero" in terminal.ask("p 1/0")
    assert "--KeyboardInterrupt--" in terminal.press_ctrl_c_at_the_prompt()
    assert "'input_1'" in terminal.ask("p tensor_m\t")
    assert "'input_1'" in terminal.ask("")  # the last command again
    terminal.send("\x04")
    assert terminal.wait() == 0


FITTING = """\
import numpy as np, kerascope as ks
model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name='d')])
model.compile('sgd', 'mse')
print('fitting')
model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=1000000, verbose=0)
"""


def test_what_a_beginner_sees_first_fits_and_says_how_to_go_on(tmp_path):
    with Terminal("debug", "examples/example.py", home=tmp_path) as terminal:
        first = terminal.read_until("(Kdb) ")
        assert "   s steps, c continues, help lists the commands" in first
        lines = terminal.ask("help").splitlines()
        assert max(map(len, lines)) < 80
        assert any(line.startswith("catch nan") for line in lines)
        terminal.ask("unt forward")
        told = terminal.ask("p [tensor_map] * 3").splitlines()
        assert [line.lstrip(" [").startswith("{'input_1'") for line in told[1:4]] == [True] * 3
        assert "   s steps" not in terminal.ask("s")
        end = terminal.ask("c")
        assert "the program has ended. `info batches` shows a table, rs goes back, q ends." in end
        assert "0 %" in terminal.ask("info batches")


def test_ctrl_c_while_the_program_runs_stops_at_the_next_event(debug):
    terminal = debug(FITTING)
    terminal.send("c\n")
    terminal.read_until("fitting")
    terminal.send("\x03")
    stop = terminal.read_until("(Kdb) ")
    assert "\ninterrupted\n" in stop
    # A place in the engine; an event without one shows the script's line that has led there, or
    # itself, as a pair of an update does. Which event is the next, only the clock decides.
    places = r"kerascope/\S+|script\.py\(5\)<module>\(\)|<[\w.]+>\(0\)"
    assert re.search(rf"^> ({places})", stop, flags=re.MULTILINE), stop
    assert "t=" in terminal.ask("s")
    terminal.send("q\n")
    assert terminal.wait() == 0


LOADING = """\
import time
import kerascope
try:
    print('loading')
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print('the script heard it')
"""


def test_ctrl_c_outside_of_the_engine_says_what_it_does(debug):
    terminal = debug(LOADING)
    terminal.send("c\n")
    terminal.read_until("loading")
    terminal.send("\x03")
    terminal.read_until("stops at the next event; Ctrl-C again raises KeyboardInterrupt")
    terminal.send("\x03")
    terminal.read_until("the script heard it")
    terminal.read_until("(Kdb) ")
    terminal.send("q\n")
    assert terminal.wait() == 0


def test_exit_of_the_python_prompt_comes_back_and_leaves_the_terminal_to_the_session(debug):
    terminal = debug("examples/example.py")
    for way_back in ("exit()\n", "\x04", "quit()\n"):
        terminal.ask("interact", prompt=">>> ")
        terminal.send(way_back)
        terminal.read_until("(Kdb) ")
    for command, said in (("!exit()", "*** SystemExit: None"), ("p 40 + 1", "41")):
        assert said in terminal.ask(command)
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


SLEEPING = "import time; print('sleeping'); [time.sleep(0.01) for _ in iter(int, 1)]\n"


def test_the_prompt_survives_what_goes_wrong(debug, tmp_path):
    terminal = debug(FAILING)
    crash = "import kerascope.debugger.tables as m; m.TABLES = 3"
    for command, said in [
        ("raise SystemExit(3)", "*** SystemExit: 3"),
        ("raise KeyboardInterrupt", "--KeyboardInterrupt--"),
        (crash, ""),
        ("info tensors", "*** TypeError: "),
        ("def f(:", "*** SyntaxError: "),
        ("p '" + "long " * 30 + "' + 1", "*** TypeError: "),
    ]:
        assert said in terminal.ask(command)
    terminal.send(SLEEPING)
    terminal.read_until("sleeping\r\n")
    terminal.send("\x03")
    assert "--KeyboardInterrupt--" in terminal.read_until("(Kdb) ")
    terminal.ask("c", prompt="whose? ")
    failure = terminal.ask("mine")  # the program's own question
    assert "of mine\n" in failure
    assert "ValueError: no such thing" in failure
    assert "--Return-- layer.call broken -> ValueError: no such thing" in failure
    assert "> broken" in terminal.ask("w")
    terminal.send("q\n")
    assert terminal.wait() == 1
    history = (tmp_path / ".kscope_history").read_text().splitlines()
    assert history[:2] == ["raise SystemExit(3)", "raise KeyboardInterrupt"]
    assert history[-2:] == ["w", "q"]
    assert "mine" not in history


def test_the_arrow_keys_find_what_was_typed_in_an_earlier_session(debug, tmp_path):
    pytest.importorskip("readline")
    for keys, said in (("p 20 + 1", "21"), ("\x1b[A\x1b[A", "21")):
        terminal = debug("examples/example.py")
        assert said in terminal.ask(keys).splitlines()
        terminal.send("q\n")
        assert terminal.wait() == 0
    assert (tmp_path / ".kscope_history").read_text() == "p 20 + 1\nq\np 20 + 1\nq\n"


def test_the_tab_key_completes_commands_layers_and_tables(debug):
    pytest.importorskip("readline")
    terminal = debug("examples/example.py")
    terminal.ask("unt forward")
    for line, said in [
        ("origin dense_2/r\t", "op.create dense_2/relu: "),
        ("p model.output_sh\t[-1]", "\n1\n"),
        ("unt back\t", "--Call-- backward"),
        ("info wei\t", "dense_1/kernel"),
        ("unali\t x", "is not an alias"),
    ]:
        assert said in terminal.ask(line)
    terminal.send("b dense_1:r\x04")  # Ctrl-D inside a line is no end
    terminal.read_until("\x07")  # readline has no more to offer
    assert "--KeyboardInterrupt--" in terminal.press_ctrl_c_at_the_prompt()
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


@pytest.mark.parametrize(
    "options",
    [["--step-all=detail"], ["--format", "md"], pytest.param([], marks=pytest.mark.process)],
)
def test_a_reader_that_has_gone_ends_it_silently(options):
    words = [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", *options]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*words, "examples/example.py"], **pipes, cwd=ROOT) as process:
        process.stdin.write(b"s\n" * 1000)
        process.stdin.close()
        if "md" not in options:
            process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        assert process.wait(PATIENCE) == 141


@pytest.mark.process
def test_without_utf8_all_is_ascii():
    locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
    commands = "unt forward;s;w;l user;info nodes;info depths;draw;r;set out = out;c;info batches;"
    commands += "plot loss;plot dense_1/kernel;diff batch 0 1;help;q;"
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
TO_THE_END = """\
catch dead; catch nan; b op:dot, norm(out) > 1000; c; clear 1; c; rs 3; info breaks; info batches
plot loss; plot dense_1/kernel; diff epoch 1 batch 0 1; help all; p [model.get_weights()] * 9
"""


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


@pytest.mark.parametrize(
    ("columns", "rows", "name"),
    [
        (80, 24, "example"),
        pytest.param(120, 40, "example", marks=pytest.mark.slow),
        pytest.param(80, 24, "shared_layer", marks=pytest.mark.slow),
        pytest.param(120, 40, "shared_layer", marks=pytest.mark.slow),
    ],
)
def test_no_line_wraps_in_a_terminal(tmux, tmp_path, columns, rows, name):
    looks = f"{TO_THE_END}; {LOOKS}" if name == "example" else LOOKS
    commands = [word.strip() for word in looks.replace("\n", ";").split(";") if word.strip()]
    words = [f"HOME={tmp_path} exec {sys.executable} -W ignore -m kerascope debug"]
    words += [f"-c {shlex.quote(command)}" for command in commands]
    start = f"cd {ROOT}; " + " ".join([*words, f"examples/{name}.py"])
    size = ["-x", str(columns), "-y", str(rows)]
    start_shell = ["-f", "/dev/null", "new-session", "-d", *size, "sh"]
    tmux(*start_shell, ";", "set", "-g", "history-limit", "9999")
    tmux("respawn-pane", "-k", start)

    def all_that_is_shown():
        shown = tmux("capture-pane", "-p", "-S", "-")
        done = shown.partition("(Kdb) commands 99\n")[2].rstrip().endswith("(Kdb)")
        return shown if done else ""

    shown = wait_until(all_that_is_shown, lambda: tmux("capture-pane", "-p", "-S", "-"))
    joined = tmux("capture-pane", "-p", "-J", "-S", "-").split("\n")
    wrapped = [line.rstrip() for line in joined if cell_len(line.rstrip()) > columns]
    assert wrapped == []
    rows_shown = shown.split("\n")
    assert len(rows_shown) > 200
    assert not [line for line in rows_shown if "cannot be shown" in line]
