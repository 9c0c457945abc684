"""The front: one way in for all lines, echo, help, Python, mistakes; and the command line."""

import io
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from debugger_programs import fit_two_layers, fit_with_nan
from debugger_transcripts import EXAMPLES, answer, debug_script, transcript
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kerascope.cli.commands import main
from kerascope.debugger import front
from kerascope.debugger.commands import GROUPS
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.trace.tape import trace

LEAVING = ("interact", "restart", "pdb", "EOF")
COMMANDS = front.COMMANDS.names


# --- lines ----------------------------------------------------------------------------------------


def test_each_command_is_echoed_after_its_prompt():
    text, _, _ = transcript(fit_two_layers, "p 1", "  p 2  ", "q")
    assert "(Kdb) p 1\n1\n(Kdb)   p 2  \n2\n(Kdb) q\n" in text


def test_an_empty_line_does_the_last_command_again():
    text, _, _ = transcript(fit_two_layers, "s", "", "p t")
    assert answer(text, "p t") == ["1"]


def test_what_is_no_command_is_python():
    lines = ["x = 2 + 3", "x * 2", "s = 4", "!s", "import math; math.pi", "print('a', 'b')"]
    text, _, _ = transcript(fit_two_layers, *lines)
    assert answer(text, "x * 2") == ["10"]
    assert answer(text, "!s") == ["4"]
    assert answer(text, "print('a', 'b')") == ["a b"]
    assert "***" not in text


def test_a_comprehension_sees_the_names():
    text, _, _ = transcript(fit_two_layers, "y = 3", "[y + i for i in range(2)]")
    assert answer(text, "[y + i for i in range(2)]") == ["[3, 4]"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("stpe", "*** 'stpe' is neither a command nor a name. Did you mean 'step'? Try `help`."),
        ("1/0", "*** ZeroDivisionError: division by zero"),
        ("p nothing", "*** NameError: name 'nothing' is not defined"),
        ("p", "*** p: expected a value. For example: `p tensor_map`."),
        ("p (", "*** SyntaxError: '(' was never closed (<stdin>, line 1)"),
        (
            "stpe 3",
            "*** 'stpe 3' is neither a command nor Python. Did you mean 'step'? Try `help`.",
        ),
        ("for x in 3", "*** SyntaxError: expected ':' (<stdin>, line 1)"),
        ("help stpe", "*** help: unknown command 'stpe'. Did you mean 'step'? `help` lists them."),
        ("raise SystemExit", "*** SystemExit"),
    ],
)
def test_a_mistake_is_told_and_the_prompt_lives(line, told):
    text, _, _ = transcript(fit_two_layers, "s", line, "p 7")
    assert answer(text, line) == [told]
    assert answer(text, "p 7") == ["7"]


def test_a_crash_inside_a_command_never_leaves_the_prompt(monkeypatch):
    def crash(debugger, words):
        raise RuntimeError("broken command")

    when = replace(front.COMMANDS.by_name["when"], function=crash)
    monkeypatch.setitem(front.COMMANDS.by_name, "when", when)
    text, _, _ = transcript(fit_two_layers, "when", "p 7")
    assert answer(text, "when") == ["*** RuntimeError: broken command"]
    assert answer(text, "p 7") == ["7"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.one_of(
            st.text(max_size=12),
            st.builds(
                "{} {}".format,
                st.sampled_from(
                    [c for c in COMMANDS if c not in ("interact", "restart", "pdb", "EOF")]
                ),
                st.sampled_from(
                    ["", "1", "-1", "x", "a b", "=", "0.5", "dense", "[", "t=3", "\x00"]
                ),
            ),
        ),
        max_size=4,
    )
)
def test_no_line_raises_out_of_the_prompt(recorded_tape, tmp_path_factory, lines):
    folder = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        output = io.StringIO()
        debugger = ModelDebugger(io.StringIO(), output)
        debugger.session = Session(debugger.ask, tape=recorded_tape)
        for line in lines:
            with suppress(Quitting):
                debugger.onecmd(line)
        debugger.onecmd("p 6 * 7")
        assert output.getvalue().split()[-1] == "42"  # the prompt is as it was


@pytest.fixture(scope="module")
def recorded_tape():
    with trace() as tape:
        fit_two_layers()
    return tape


def test_without_a_program_a_line_moves_at_once(recorded_tape):
    out = io.StringIO()
    debugger = ModelDebugger(io.StringIO(), out)
    debugger.session = Session(debugger.ask, tape=recorded_tape)
    assert not debugger.onecmd("s")
    assert "--Call-- build" in out.getvalue()
    debugger.onecmd("goto 5")
    debugger.onecmd("p t")
    assert out.getvalue().endswith("5\n")


def test_alias_stands_for_a_line():
    lines = ["alias both p [%1, %2]", "both 1 2", "both 1", "alias", "unalias both", "unalias both"]
    text, _, _ = transcript(fit_two_layers, *lines)
    assert answer(text, "both 1 2") == ["[1, 2]"]
    assert answer(text, "both 1") == ["*** alias: 'p [%1, %2]' needs 2 words, got 1."]
    assert answer(text, "alias") == ["both = p [%1, %2]"]
    assert "*** unalias: 'both' is not an alias. Aliases: none." in text


def test_an_alias_of_itself_ends():
    text, _, _ = transcript(fit_two_layers, "alias s s 2", "s", "p t")
    assert answer(text, "p t") == ["1"]


def test_pdb_takes_over_the_live_frame_and_comes_back():
    lines = ["unt forward", "r", "pdb", "p type(schedule).__name__", "q", "s", "p e.kind"]
    text, session, _ = transcript(fit_two_layers, *lines)
    assert "(Pdb) 'Schedule'\n" in text
    assert answer(text, "p e.kind") == ["'loss'"]
    assert session.error is None
    text, _, _ = transcript(fit_two_layers, "s 2", "rs", "pdb")
    assert answer(text, "pdb")[0].startswith("*** pdb: nothing runs here")


def test_interact_is_python_over_the_names():
    text, _, _ = transcript(fit_two_layers, "s", "interact", "t + 41", "")
    assert ">>> t + 41\n41\n" in text


@pytest.mark.parametrize("line", ["exit()", "quit(3)", "raise SystemExit(3)"])
def test_exit_of_the_inner_prompt_is_the_way_back_from_it(line, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO())  # Python's own `exit` closes it
    text, _, _ = transcript(fit_two_layers, "interact", "exit", line, "p 40 + 1", "!exit()", "p 42")
    assert ">>> exit\nUse exit() or Ctrl-D (i.e. EOF) to come back\n" in text
    assert f">>> {line}\n(Kdb) p 40 + 1\n41\n" in text
    assert not sys.stdin.closed
    assert answer(text, "!exit()") == ["*** SystemExit: None"]
    assert answer(text, "p 42") == ["42"]


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
    out = io.StringIO()
    debugger = ModelDebugger(io.StringIO(), out)
    debugger.session = Session(debugger.ask)
    debugger.onecmd(f"help {command}")
    assert "\nUsage: " in out.getvalue()
    assert "\nExample: " in out.getvalue()


def test_help_lists_every_command_once():
    text, _, _ = transcript(fit_two_layers, "help all")
    lines = answer(text, "help all")
    assert [line[:10].rstrip() for line in lines[:-1]] == list(GROUPS)
    words = [word for line in lines[:-1] for word in line[10:].split()]
    assert {front.COMMANDS.find(word) for word in words} == set(front.COMMANDS)
    assert len(words) == len(set(words)) > 50
    assert "!" in words


def test_the_first_help_is_a_page_of_commands_that_work():
    text, _, _ = transcript(fit_two_layers, "help", "h")
    lines = answer(text, "help")
    assert lines == answer(text, "h")
    assert len(lines) < 15
    assert max(map(len, lines)) < 80
    named = [line[:16].split()[0].rstrip(",") for line in lines]
    assert all(front.COMMANDS.find(name) for name in named)
    assert any(line.startswith("help all") for line in lines)


# --- how it is written ----------------------------------------------------------------------------


def test_a_pipe_gets_no_colours_and_no_line_of_ours_beyond_its_width():
    text, _, _ = transcript(
        fit_two_layers, "unt backward", "s", "w", "c", "rs 3", "help", "help all"
    )
    assert "\x1b" not in text
    ours = [line for line in text.splitlines() if not line.startswith(("-> ", "> ", "(Kdb)"))]
    assert max(map(len, ours)) <= 100


def test_the_first_two_lines_of_a_stop_are_pdbs():
    text, _, _ = transcript(fit_two_layers, "unt forward")
    first, second = answer(text, "unt forward")[:2]
    assert re.fullmatch(r"> kerascope/backend/function\.py\(\d+\)_events\(\)", first)
    assert second.startswith("-> ")


def test_without_utf8_glyphs_are_ascii():
    class Ascii(io.StringIO):
        encoding = "ascii"

    out = Ascii()
    debugger = ModelDebugger(io.StringIO("unt forward\nr\nrs\nrs\nrs\n"), out)
    session = debugger.session = Session(debugger.ask)
    with pytest.raises(Quitting):
        session.run(fit_two_layers)
    out.getvalue().encode("ascii")
    assert "* a_input  > a  . b" in out.getvalue() or "* a  > b" in out.getvalue()


# --- the command line -----------------------------------------------------------------------------


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(text)
        return path

    return write


def test_exit_codes(monkeypatch, capsys, script):
    fine, broken = "print('ran')\n", "1/0\n"
    assert debug_script(monkeypatch, capsys, script(fine), "c", "q")[0] == 0
    assert debug_script(monkeypatch, capsys, script(fine), "q") == (
        0,
        "> script.py(1)<module>()\n-> print('ran')\n(Kdb) q\n",
    )
    assert debug_script(monkeypatch, capsys, script(broken), "c", "q")[0] == 1
    exits = script("import sys; sys.exit(5)\n")
    code, out = debug_script(monkeypatch, capsys, exits, "c", "q")
    assert code == 5
    assert "\nThe program exited via sys.exit(). Exit status: 5\n--- the program has ended" in out
    assert debug_script(monkeypatch, capsys, exits, "q")[0] == 0
    assert main(["debug", "missing.py"]) == 2
    assert main(["debug", "--fail-on", "nun", str(script(fine))]) == 2
    assert "Did you mean 'nan'?" in capsys.readouterr().err


def test_a_failure_after_detach_is_told(monkeypatch, capsys, script):
    monkeypatch.setattr("sys.stdin", io.StringIO("detach\n"))
    assert main(["debug", str(script("1/0\n"))]) == 1
    assert capsys.readouterr().err.endswith("ZeroDivisionError: division by zero\n")


def test_a_stop_that_cannot_be_shown_is_told(monkeypatch):
    def crash(*args):
        raise RuntimeError("broken picture")

    monkeypatch.setattr("kerascope.debugger.rendering.calls_at", crash)
    text, session, _ = transcript(fit_two_layers, "unt forward", "p e.kind", "c")
    assert answer(text, "unt forward")[0].endswith("cannot be shown: RuntimeError: broken picture")
    assert answer(text, "p e.kind") == ["'forward'"]
    assert session.error is None


def test_a_subclassed_model_without_a_graph_is_stepped_through(monkeypatch, capsys, script):
    text = """
import kerascope as ks, numpy as np
class Own(ks.Model):
    def __init__(self):
        super().__init__()
        self.inner = ks.layers.Dense(3, name="inner")
    def call(self, x):
        return self.inner(x)
model = Own()
model.compile("sgd", "mse")
model.fit(np.ones((8, 2)), np.ones((8, 3)), verbose=0)
"""
    code, out = debug_script(monkeypatch, capsys, script(text), "s", "s", "unt forward", "n", "q")
    assert code == 0
    assert "***" not in out
    assert "cannot be shown" not in out


def test_commands_of_a_file_come_before_those_of_the_line(monkeypatch, capsys, script, tmp_path):
    file = tmp_path / "commands.txt"
    file.write_text("# a comment\n\np 1\n")
    options = ["-x", str(file), "-c", "p 2"]
    _, out = debug_script(monkeypatch, capsys, script("pass\n"), "p 3", options=options)
    assert [answer(out, f"p {n}") for n in (1, 2, 3)] == [["1"], ["2"], ["3"]]
    assert out.index("p 1") < out.index("p 2") < out.index("p 3")


def test_the_rc_file_of_the_home_is_read_and_one_here_only_if_it_is_asked_for(
    monkeypatch, capsys, script, tmp_path
):
    home, here = tmp_path / "home", tmp_path / "here"
    for folder in (home, here):
        folder.mkdir()
        (folder / ".kscoperc").write_text(f"p {folder.name!r}\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.chdir(here)
    path = script("pass\n")
    _, out = debug_script(monkeypatch, capsys, path, "q")
    assert "(Kdb) p 'home'\n" in out
    assert "'here'" not in out
    monkeypatch.setenv("KSCOPE_RC", "1")
    _, out = debug_script(monkeypatch, capsys, path, "q")
    assert "(Kdb) p 'here'\n" in out


def test_fail_on_ends_with_3_where_it_is_found(monkeypatch, capsys, script):
    text = "from debugger_programs import fit_with_nan, fit_two_layers\n{}()\nprint('after')\n"
    bad = script(text.format(fit_with_nan.__name__))
    code, out = debug_script(monkeypatch, capsys, bad, options=["--fail-on", "nan"])
    assert code == 3
    assert "caught nan: log/log: 4 of 4 NaN in log/log; none went in" in out
    assert "after" not in out
    good = script(text.format(fit_two_layers.__name__))
    code, out = debug_script(monkeypatch, capsys, good, options=["--fail-on", "nan,inf"])
    assert code == 0
    assert out.endswith("(Kdb) c\nafter\n")


def test_what_follows_the_script_is_its_own(monkeypatch, capsys, script):
    path = script("import sys\nprint(sys.argv[1:])\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("c\nq\n"))
    assert main(["debug", str(path), "-c", "data", "--fail-on"]) == 0
    assert "['-c', 'data', '--fail-on']" in capsys.readouterr().out


def test_restart_runs_the_script_again_and_keeps_breakpoints(monkeypatch, capsys, script):
    text = "from debugger_programs import fit_two_layers\nfit_two_layers()\nprint('ran')\n"
    commands = ["b a", "c", "restart", "c", "clear 1", "c", "q"]
    code, out = debug_script(monkeypatch, capsys, script(text), *commands)
    assert code == 0
    assert out.count("breakpoint 1 hit: a") == 2
    assert out.count("\nran\n") == 1


@pytest.mark.parametrize("name", ["keras1_mlp.py", "keras2_siamese.py"])
def test_scripts_that_import_keras_are_debugged(name):
    words = [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", str(EXAMPLES / name)]
    run = subprocess.run(
        words, input="unt forward\ns 3\np model\nclear\nq\n", capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert "> kerascope/backend/function.py(" in run.stdout
    assert "***" not in run.stdout
