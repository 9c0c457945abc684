"""What somebody who knows pdb types first: it means the same, or is told what is meant instead."""

import io
import linecache
import subprocess
import sys

import numpy as np
import pytest
from debugger_programs import fit_two_layers, fit_with_nan
from debugger_transcripts import answer, debug_script, transcript

from kerascope import backend as K
from kerascope.cli.commands import main
from kerascope.debugger.entry import pm
from kerascope.debugger.session import Session
from kerascope.debugger.shell import split_commands
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.trace.tape import trace

SCRIPT = """\
import numpy as np
import kerascope
from kerascope.layers import Dense, Input
from kerascope.models import Model

def go():
    secret = 5
    a = Input((3,), name="in_1")
    x = Dense(4, name="dense_1")(a)
    STOP
    y = Dense(1, activation="sigmoid", name="dense_2")(x)
    model = Model(a, y)
    model.compile("sgd", "mse")
    # a comment
    model.fit(np.ones((4, 3)), np.ones((4, 1)), batch_size=2, epochs=1, verbose=0)

go()
"""


@pytest.fixture
def debug(monkeypatch, capsys, tmp_path):
    """Debug the script above with another line 10; return exit code and output."""
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)

    def debug(*commands, stop="pass", options=()):
        path = tmp_path / "script.py"
        path.write_text(SCRIPT.replace("STOP", stop))
        linecache.clearcache()
        return debug_script(monkeypatch, capsys, "script.py", *commands, options=options)

    return debug


# --- set_trace and breakpoint ---------------------------------------------------------------------


@pytest.mark.parametrize("stop", ["kerascope.set_trace()", "breakpoint()"])
def test_the_line_itself_is_stopped_at_with_its_names(debug, monkeypatch, stop):
    monkeypatch.delenv("PYTHONBREAKPOINT", raising=False)
    hook = sys.breakpointhook
    code, out = debug("c", "p secret, a", "w", "l 5", "rs", "q", stop=stop)
    assert code == 0
    assert answer(out, "c") == ["> script.py(10)go()", f"-> {stop}"]
    assert answer(out, "p secret, a") == ["(5, in_1)"]
    begun = '  build    script.py:8  a = Input((3,), name="in_1")'
    where = ["  script.py(17)<module>()  go()", begun, "> script.py(10)go()", f"-> {stop}"]
    assert answer(out, "w") == where
    assert f"  10 ->     {stop}" in answer(out, "l 5")
    assert answer(out, "rs")[-1].startswith("--Return-- layer.call dense_1")
    assert sys.breakpointhook is hook


def test_what_follows_is_stepped_from_there(debug):
    _, out = debug("c", "s", "p e.name", "w", "c", "q", stop="kerascope.set_trace()")
    assert answer(out, "p e.name") == ["'dense_2'"]
    line = '  script.py(11)go()  y = Dense(1, activation="sigmoid", name="dense_2")(x)'
    assert answer(out, "w")[:2] == ["  script.py(17)<module>()  go()", line]
    assert "the program has ended" in answer(out, "c")[0] or "script.py(10)" in out


def test_under_kerascope_run_the_callers_are_those_of_the_script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.replace("STOP", "kerascope.set_trace()"))
    command = "import sys; sys.argv[0] = 'kerascope'; from kerascope.cli import main; main()"
    (tmp_path / "command.py").write_text(command)  # as the one that is installed: a user's file
    words = [sys.executable, "command.py", "run", str(path)]
    asked = {"input": "w\ndetach\n", "capture_output": True, "text": True, "check": True}
    out = subprocess.run(words, cwd=tmp_path, **asked).stdout
    assert answer(out, "w")[0] == "  script.py(17)<module>()  go()"


def test_at_the_line_that_begins_to_build_it_is_listed_and_a_number_is_one_of_its_lines(debug):
    _, out = debug("s", "p t", "l 8", "b 11", "c", "w", "q")
    first = ["> script.py(8)go()", '-> a = Input((3,), name="in_1")']
    assert answer(out, "s")[:2] == first
    assert answer(out, "l 8")[5] == '   8 ->     a = Input((3,), name="in_1")'
    assert answer(out, "b 11") == ["Breakpoint 1 at script.py:11"]
    assert answer(out, "w")[0] == "  script.py(17)<module>()  go()"
    assert answer(out, "w")[1].startswith("  script.py(11)go()")


def test_where_nobody_is_asked_set_trace_is_passed(debug):
    code, out = debug(stop="kerascope.set_trace(); print('on')", options=["--step-all=act"])
    assert (code, "\non\n" in out, "script.py(10)" in out) == (0, True, False)
    code, out = debug(stop="breakpoint(); print('on')", options=["--fail-on", "nan"])
    assert (code, "\non\n" in out, "script.py(10)" in out) == (0, True, False)


def test_pythonbreakpoint_has_the_last_word(debug, monkeypatch):
    monkeypatch.setenv("PYTHONBREAKPOINT", "0")
    _, out = debug("c", "q", stop="breakpoint()")
    assert "the program has ended" in answer(out, "c")[0]


@pytest.mark.process
def test_q_ends_the_program_in_a_line(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.replace("STOP", "kerascope.set_trace()"))
    for text in (path.read_text(), path.read_text().replace("verbose=0", "callbacks=[D()]")):
        path.write_text(
            text.replace("import Model\n", "import Model\nfrom kerascope import Debugger as D\n")
        )
        run = subprocess.run(
            [sys.executable, str(path)], input="q\n", capture_output=True, encoding="utf-8"
        )
        assert run.returncode == 1
        assert run.stderr == "The debugger was quit; the program ends here.\n"


def test_pm_looks_back_at_what_was_traced_last(monkeypatch, capsys):
    transcript(fit_two_layers, "c", "q")
    with trace() as tape:
        fit_two_layers()
    monkeypatch.setattr("sys.stdin", io.StringIO("rs\nq\n"))
    pm()
    assert f"--- the tape ends here: {len(tape)} events." in capsys.readouterr().out
    with pytest.raises(ValueError, match="no such"), trace():
        Sequential([Dense(1, input_shape=(2,), name="d", kernel_initializer=_broken)])
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    pm()
    assert "ValueError: no such" in capsys.readouterr().out
    _, session, _ = transcript(lambda: None, "c", "q")
    fit_two_layers()
    assert session.recorded_before is not None


def _broken(shape, dtype=None):
    raise ValueError("no such initializer")


# --- lines ----------------------------------------------------------------------------------------


def test_two_semicolons_divide_commands():
    text, _, _ = transcript(fit_two_layers, "p 1 ;; p ';;'", "p oops;;p 3", "s ;; p t", "q")
    assert answer(text, "p 1 ;; p ';;'") == ["1", "';;'"]
    assert answer(text, "p oops;;p 3") == ["*** NameError: name 'oops' is not defined", "3"]
    assert answer(text, "p t") == ["0"]
    assert split_commands('p "\\";;" ;; c') == ['p "\\";;"', "c"]
    text, _, _ = transcript(fit_two_layers, "alias two p 1 ;; p 2", "two", "q")
    assert answer(text, "two") == ["1", "2"]


def test_surplus_words_are_refused_and_up_counts():
    text, _, _ = transcript(fit_two_layers, "c 5", "p 1", "b phase:forward", "c", "u 2", "d 2", "q")
    assert answer(text, "c 5") == ["*** c: expected no arguments, got '5'."]
    assert answer(text, "p 1") == ["1"]
    assert answer(text, "u 2")[0].startswith("> batch 0")
    assert answer(text, "d 2")[0].startswith("> forward")


def test_list_takes_lines_as_in_pdb(debug):
    _, out = debug("l 1,3", "l 8, 2", "l 99", "l x", "q")
    assert answer(out, "l 1,3") == [
        "   1 -> import numpy as np",
        "   2    import kerascope",
        "   3    from kerascope.layers import Dense, Input",
    ]
    assert [line.split()[0] for line in answer(out, "l 8, 2")] == ["8", "9", "10"]
    assert answer(out, "l 99") == ["*** list: script.py has 17 lines."]
    assert answer(out, "l x") == ["*** list: expected nothing, `user`, 10 or 1,5, got 'x'."]


# --- breakpoints ----------------------------------------------------------------------------------


BLANK = "*** break: line {} is blank or missing. The nearest lines with code: "


def test_a_bare_number_is_a_line_of_the_script_while_we_stand_in_it(debug):
    _, out = debug("b 9", "b 14", "b 99", "c", "p e.name", "b 11", "q")
    assert answer(out, "b 9") == ["Breakpoint 1 at script.py:9"]
    assert answer(out, "b 14") == [BLANK.format(14) + "12, 13, 15, 17."]
    assert answer(out, "b 99") == [BLANK.format(99) + "15, 17."]
    assert answer(out, "p e.name") == ["'dense_1'"]
    assert answer(out, "b 11")[0].startswith("*** break: the number 11 needs a file for a line")


def test_a_line_of_a_file_that_is_there_must_have_something_in_it(debug):
    lines = ["b script.py:99", "b script.py:14:ret", "b script.py:9", "b other.py:99"]
    _, out = debug(*lines, "c", "b script.py:99, e.t", "b 9999", "q")
    for line in ("b script.py:99", "b script.py:99, e.t"):
        assert answer(out, line) == [BLANK.format(99) + "15, 17."]
    assert answer(out, "b script.py:14:ret") == [BLANK.format(14) + "12, 13, 15, 17."]
    assert answer(out, "b script.py:9") == ["Breakpoint 1 at script.py:9"]
    assert answer(out, "b other.py:99") == ["Breakpoint 2 at other.py:99"]


def test_a_function_of_the_script_is_no_layer(debug):
    _, out = debug("b go", "b layer:go", "b dense_2/sigmoid", "q")
    assert answer(out, "b go")[0].startswith("*** break: 'go' is a function of the script, ")
    assert answer(out, "b layer:go") == ["Breakpoint 1 at layer:go"]
    assert "Did you mean `b tensor:dense_2/sigmoid`" in answer(out, "b dense_2/sigmoid")[0]


def test_what_never_came_is_told_once_when_the_program_ends(debug):
    lines = ["b densee_2", "b DENSE_1", "b dense_2", "b batch 17", "watch weight:densee_2/kernel"]
    lines += ["b phase:run_internal_graph"]
    lines += ["disable 3", "c", "rs", "c", "b DENSE_2", "q"]
    _, out = debug(*lines)
    first = answer(out, "c")
    assert first[1:] == [
        "breakpoint 1 at densee_2: there was no such layer. Did you mean 'dense_2'?",
        "breakpoint 2 at DENSE_1: there was no such layer. Did you mean 'dense_1'?",
        "breakpoint 4 at batch 17: there was no such batch.",
        "breakpoint 6 at phase:run_internal_graph: there was no such phase.",
        "watch 5 of weight:densee_2/kernel: there was no such weight. "
        "Did you mean 'dense_2/kernel'?",
    ]
    assert out.count("there was no such layer") == 2
    assert "unknown layer 'DENSE_2'. Did you mean 'dense_2'? " in answer(out, "b DENSE_2")[0]


def test_until_what_never_comes_fails_and_writes_nothing_else(debug, monkeypatch, capsys):
    code, out = debug("q", options=["--until", "densee_2"])
    assert code == 2
    assert "*** --until: unknown layer 'densee_2'. Did you mean 'dense_2'? " in out
    monkeypatch.setattr("sys.stdin", None)
    for form in ("md", "jsonl", "html"):
        K.clear_session()
        assert main(["debug", "--until", "densee_2", "--format", form, "script.py"]) == 2
        out, error = capsys.readouterr()
        assert (out, error.count("Did you mean 'dense_2'?")) == ("", 1)


# --- in time --------------------------------------------------------------------------------------


def test_origin_of_what_comes_out_here_whatever_layers_are_called():
    lines = ["s", "origin total_loss", "tbreak phase:backward", "c", "origin out"]
    lines += ["clear", "y", "rc", "b h:ret", "unt forward", "c", "p out", "origin result", "q"]
    text, _, _ = transcript(_fit_a_layer_called_out, *lines)
    assert answer(text, "origin total_loss") == [
        "*** origin: 'total_loss' has not been computed up to here. It lives in compile."
    ]
    assert answer(text, "origin out")[0].startswith("*** origin: 'out' is None here: the span")
    (printed, *_), told = answer(text, "p out"), answer(text, "origin result")
    assert told[0].endswith(" > h > add")
    assert printed in told[1]


def _fit_a_layer_called_out():
    model = Sequential([Dense(2, input_shape=(2,), name="h"), Dense(1, name="out")])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)


def test_the_begin_and_the_end_of_time_are_told():
    text, _, _ = transcript(fit_two_layers, "c", "rc", "rs", "goto 99999", "p 1", "q")
    beginning = "--- the beginning: nothing was recorded before"
    assert (answer(text, "rc")[-1], answer(text, "rs")[-1]) == (beginning, beginning)
    count = text.split("the program has ended: ")[1].split()[0]
    told = f"t=99999 never came: the last event is t={int(count) - 1}"
    assert answer(text, "goto 99999")[-1] == told


def test_at_a_forgotten_stretch_it_is_said_what_is_known():
    lines = ["set history 60KB", "b weight:none", "c", "rc", "q"]
    text, _, _ = transcript(lambda: fit_two_layers(epochs=40), *lines)
    stop = answer(text, "rc")
    assert "are forgotten: the history was full" in "".join(stop)
    assert stop[-1] == "the names are those at the end of the dropped events"


# --- what is shown --------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_narrow_table_of_weights_keeps_what_changed(monkeypatch, width):
    monkeypatch.setattr("kerascope.debugger.shell.WIDTH", width)
    lines = ["c", "rs", "info weights", "q"]
    text, _, _ = transcript(_fit_long_names, *lines)
    header, *rows = answer(text, "info weights")
    place = header.index("changed")
    assert max(map(len, (header, *rows))) <= width
    changed = {row.split()[0]: row[place:] for row in rows}
    assert len(changed) == len(rows)
    assert sum(1 for figure in changed.values() if figure and float(figure) > 0) >= 4


def _fit_long_names():
    name = "a_layer_with_a_name_that_is_rather_long"
    model = Sequential([Dense(2, input_shape=(2,), name=name), Dense(1, name="short")])
    model.compile("sgd", "mse")
    model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0)


def test_a_nan_stays_in_sight_when_gradients_arrive():
    text, _, _ = transcript(fit_with_nan, "b phase:update", "c", "q")
    (row,) = [line for line in answer(text, "c") if "✗" in line]
    assert "✗ log" in row
    assert "◂ log" not in row


def test_while_a_model_is_built_its_nodes_are_listed_as_far_as_they_are_known():
    text, _, _ = transcript(fit_two_layers, "b b", "c", "info nodes", "q")
    rows = [line.split() for line in answer(text, "info nodes")]
    assert ["▶", "b", "Dense", "b", "?", "a/relu"] in rows


TWICE = """\
from kerascope.layers import Dense, Input
shared = Dense(2, name="shared")
x = shared(Input((3,)))
y = shared(Input((3,)))
"""


def test_a_layer_that_is_called_twice_shows_the_line_of_each_call(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.py").write_text(TWICE)
    _, out = debug_script(monkeypatch, capsys, "twice.py", "b shared", "c", "c", "q")
    lines = [line.strip() for line in out.splitlines() if line.startswith("   twice.py:")]
    assert lines == ["twice.py:3  x = shared(Input((3,)))", "twice.py:4  y = shared(Input((3,)))"]


def test_every_line_that_starts_something_can_be_stopped_at(debug):
    _, out = debug("b 9", "b 11", "b 12", "b 13", "b 15", *("c" * 40))
    stops = {line.split()[0] for line in out.splitlines() if line.startswith("   script.py:")}
    assert stops == {f"script.py:{number}" for number in (9, 11, 12, 13, 15)}
    assert "there was no such line" not in out


CALLS = """\
import numpy as np
from kerascope import backend as K
from kerascope.layers import Dense, Input
from kerascope.models import Model
a = Input((3,))
model = Model(a, Dense(2, name="only")(a))
f = K.function([a], [model.output])
x = np.ones((1, 3))
f([x])
model(x)
Dense(2)(x)
"""


@pytest.mark.parametrize("number", [9, 10, 11])
def test_a_call_on_arrays_can_be_stopped_at(monkeypatch, capsys, tmp_path, number):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.py").write_text(CALLS)
    _, out = debug_script(monkeypatch, capsys, "calls.py", f"b {number}", "c", "c", "c", "q")
    stops = [line.split()[0] for line in out.splitlines() if line.startswith("   calls.py:")]
    assert stops[:1] == [f"calls.py:{number}"]
    assert "there was no such line" not in out
