"""The debugger in a notebook: `%load_ext kerascope`, `%kdb`, `%%kdb`, and tapes that show."""

import builtins
import contextvars
import gzip
import json
import re
import warnings
from base64 import b64decode
from html import unescape

import numpy as np
import pytest
from debugger_programs import fit_two_layers

import kerascope
from kerascope import backend as K
from kerascope.debugger import places
from kerascope.debugger.entry import leave, set_trace
from kerascope.debugger.notebook import parse_options
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.models import Sequential
from kerascope.trace.events import Delta, Event, Where
from kerascope.trace.tape import Tape, trace

interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

SETUP = """\
import numpy as np
from kerascope.layers import Dense
from kerascope.models import Sequential
model = Sequential([Dense(3, input_shape=(2,), name="a"), Dense(1, name="b")])
model.compile("sgd", "mse")
x, y = np.ones((4, 2)), np.ones((4, 1))
"""


class Typist:
    """Stands for the field in which a notebook's user types."""

    def __init__(self):
        self.lines = []

    def __call__(self, prompt=""):
        if not self.lines:
            raise NotImplementedError("this frontend does not support input requests")
        line = self.lines.pop(0)
        print(f"{prompt}{line}")
        return line


@pytest.fixture
def typist(monkeypatch):
    typist = Typist()
    monkeypatch.setattr(builtins, "input", typist)
    return typist


@pytest.fixture
def notebook(monkeypatch, tmp_path, capsys):
    """Return a function that runs a cell and returns its result and what it printed."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setattr(Session, "current", None)
    K.clear_session()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # IPython's own
        shell = interactiveshell.InteractiveShell(history_length=0)
    shell.history_manager.enabled = False
    shell.colors = "nocolor"
    shell.run_cell("%load_ext kerascope")
    shell.run_cell(SETUP, store_history=True)
    capsys.readouterr()

    def run(cell):
        result = shell.run_cell(cell, store_history=True)
        said = capsys.readouterr()
        return result, said.out + said.err

    run.shell = shell
    yield run
    shell.run_cell("%unload_ext kerascope")
    shell.history_manager.end_session()


# --- the cell magic -------------------------------------------------------------------------------


def test_a_cell_runs_under_the_debugger_and_its_names_stay(notebook):
    cell = (
        "%%kdb -c 'b b' -c c -c 'p 1 + 1' -c detach\nh = model.fit(x, y, verbose=0)\nlen(h.epoch)"
    )
    result, text = notebook(cell)
    assert result.success
    assert result.result == 1
    assert "h" in notebook.shell.user_ns
    assert text.startswith("> In[2](1)<module>()\n-> h = model.fit(x, y, verbose=0)\n(Kdb) b b\n")
    assert "(Kdb) c\n> In[1](4)<module>()\n-> model = Sequential(" in text
    assert "breakpoint 1 hit: b\n(Kdb) p 1 + 1\n2\n(Kdb) detach\n" in text
    assert "\x1b" not in text.split("Out[")[0]


def test_layers_are_shown_by_the_number_of_their_cell(notebook):
    _, text = notebook("%%kdb -c 'b b' -c c -c 'l user' -c q\nmodel.fit(x, y, verbose=0)")
    assert "> In[1](4)<module>()\n-> model = Sequential(" in text
    assert "   4 -> model = Sequential(" in text


def test_what_is_typed_is_asked_for_by_input(notebook, typist):
    typist.lines = ["n", "p model.name", "zz = 3", "p zz", "c", "q"]
    result, text = notebook("%%kdb\nw = model.fit(x, y, verbose=0)")
    assert result.success
    assert not typist.lines
    assert "(Kdb) p model.name\n'sequential_1'\n" in text
    assert "(Kdb) p zz\n3\n" in text
    assert "zz" not in notebook.shell.user_ns


def test_quitting_ends_the_cell_without_an_error(notebook, typist):
    typist.lines = ["q"]
    result, text = notebook("%%kdb\nbefore = 1\nmodel.fit(x, y, verbose=0)")
    assert result.success
    assert "before" not in notebook.shell.user_ns
    assert "Quitting" not in text
    assert Session.current.is_over


def test_the_error_of_a_cell_is_asked_about_and_then_fails_the_cell(notebook, typist):
    typist.lines = ["c", "w", "q"]
    result, text = notebook("%%kdb\nz = 5\nmodel.fit(x[:, :1], y, verbose=0)")
    assert type(result.error_in_exec).__name__ == "DataError"
    assert notebook.shell.user_ns["z"] == 5
    assert "\nIn[2]:2: DataError: x for 'a_input'" in text
    assert "Post mortem" in text
    trace_of_cell = text.rsplit("(Kdb) q\n", 1)[1]
    assert "----> 2 model.fit(x[:, :1], y, verbose=0)" in trace_of_cell
    assert "debugger" not in trace_of_cell


def test_fail_on_asks_nothing_and_fails_the_cell(notebook):
    result, text = notebook("%%kdb --fail-on nan\nmodel.fit(x * np.nan, y, verbose=0)\nafter = 1")
    assert not result.success
    assert "caught nan" in text
    assert "UsageError: kdb --fail-on nan: train_function: NaN comes in with " in text
    assert "after" not in notebook.shell.user_ns
    result, text = notebook("%%kdb --fail-on nan\nmodel.fit(x, y, verbose=0)\nafter = 1")
    assert result.success
    assert notebook.shell.user_ns["after"] == 1


def test_fail_on_passes_the_cells_own_except(notebook):
    cell = (
        "%%kdb --fail-on nan\ntry:\n    model.fit(x * np.nan, y, verbose=0)\n"
        "except Exception:\n    caught = True"
    )
    result, _ = notebook(cell)
    assert not result.success
    assert "caught" not in notebook.shell.user_ns


def test_commands_come_from_a_file(notebook, tmp_path):
    file = tmp_path / "my commands.txt"
    file.write_text("# stop at b\nb b\n\nc\ndetach\n", encoding="utf-8")
    result, text = notebook(f"%%kdb -x '{file}'\nmodel.fit(x, y, verbose=0)")
    assert result.success
    assert re.findall(r"\(Kdb\) (.*)", text) == ["b b", "c", "detach"]


def test_restart_runs_the_cell_again_with_its_breakpoints(notebook):
    commands = "-c 'b b' -c c -c restart -c c -c 'info breaks' -c detach"
    result, text = notebook(f"count = []\n%kdb {commands} count.append(model.predict(x))")
    assert result.success
    assert len(notebook.shell.user_ns["count"]) == 1
    assert text.count("breakpoint 1 hit: b") == 2


def test_ipython_syntax_and_a_wrong_cell(notebook):
    result, _ = notebook("%%kdb -c c -c q\n%time f = 1\nmodel.predict(x).shape;")
    assert result.success
    assert notebook.shell.user_ns["f"] == 1
    result, _ = notebook("%%kdb -c c\nmodel.fit(x,")
    assert isinstance(result.error_in_exec, SyntaxError)
    assert notebook("1 + 1")[0].result == 2


# --- the line magic -------------------------------------------------------------------------------


def test_one_statement_is_debugged_and_braces_are_left_alone(notebook):
    result, text = notebook("%kdb -c c -c q model.fit(x, y, **{'verbose': 0})")
    assert result.success
    assert "-> model.fit(x, y, **{'verbose': 0})\n(Kdb) c\n--- the program has ended" in text
    assert result.result.epoch == [0]


def test_alone_it_looks_back_at_what_was_recorded_last(notebook):
    notebook("%%kdb -c c -c q\ntry:\n    model.fit(x[:, :1], y)\nexcept ValueError:\n    pass")
    result, text = notebook("%kdb -c when -c q")
    assert result.success
    assert "--Return-- fit sequential_1 -> DataError" in text
    assert "(Kdb) when\nt=1 of 2 events, timeline 1" in text


def test_a_tape_by_its_name(notebook):
    notebook("%%kdb -c c -c q --tape first\nmodel.predict(x)")
    notebook("%%kdb -c c -c q\nmodel.fit(x, y, verbose=0)")
    tape = notebook.shell.user_ns["first"]
    assert isinstance(tape, Tape)
    _, text = notebook("%kdb -c q first")
    assert f"the tape ends here: {len(tape)} events" in text


def test_when_on_each_cell_is_recorded_and_a_failing_one_opens_the_debugger(notebook, typist):
    notebook("%kdb on")
    result, _ = notebook("model.fit(x, y, verbose=0)")
    assert result.success
    assert Session.current.tape.filter(kind="fit")
    well = Session.current.tape
    notebook("1 + 1")
    assert Session.current.tape is well
    typist.lines = ["when", "q"]
    _, text = notebook("model.fit(x[:, :1], y, verbose=0)")
    assert "(Kdb) when\nt=1 of 2 events" in text
    typist.lines = ["c", "q"]
    _, text = notebook("%%kdb\nmodel.fit(x[:, :1], y, verbose=0)")
    assert text.count("(Kdb)") == 2
    notebook("%kdb off")
    _, text = notebook("model.fit(x[:, :1], y, verbose=0)")
    assert "(Kdb)" not in text


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--comand c", "unknown option '--comand'. Did you mean '--command'?"),
        ("-c", "--command needs a value"),
        ("-c 'b dense", "--command needs a value"),
        ("-z 3", "unknown option '-z'"),
        ("--fail-on nam", "unknown condition 'nam'. Did you mean 'nan'?"),
        ("--tape 3x", "expected a name for the tape, got '3x'"),
        ("-x nowhere.txt", "-x nowhere.txt: cannot read the commands: No such file"),
    ],
)
def test_mistakes_on_the_line_are_told(line, words):
    with pytest.raises(ArgumentError, match=re.escape(words)):
        parse_options(line)


def test_options_stand_before_the_statement():
    found = parse_options("""-c 'p "a"' --command=c --fail-on nan,inf -t kept f(-1, a='b c')""")
    assert found.commands == ['p "a"', "c"]
    assert found.conditions == {"nan", "inf"}
    assert (found.tape, found.statement) == ("kept", "f(-1, a='b c')")


def test_mistakes_are_one_line_without_a_traceback(notebook):
    for cell, words in [
        ("%kdb tap", "there is no name 'tap'. Did you mean 'tape'?"),
        ("%%kdb model.fit(x)\n1", "expected only options in this line"),
        ("%kdb --frob", "unknown option '--frob'"),
        ("%kdb", "nothing was recorded"),
    ]:
        notebook.shell.user_ns["tape"] = Tape()
        result, text = notebook(cell)
        assert not result.success
        assert words in text
        assert "Traceback" not in text


def test_the_help_shows_how(notebook):
    doc = notebook.shell.find_line_magic("kdb").__doc__
    assert doc == notebook.shell.find_cell_magic("kdb").__doc__
    for line in re.findall(r"^    %{1,2}kdb(.*?)(?:  .*)?$", doc, re.MULTILINE):
        parse_options(line.replace("-x commands.txt", ""))  # every example can be read


# --- where nobody types ---------------------------------------------------------------------------


def test_without_commands_where_nobody_types_the_cell_fails_and_says_so(notebook, typist):
    result, text = notebook("%%kdb\nmodel.fit(x, y, verbose=0)")
    assert not result.success
    assert "This notebook runs without input" in text
    assert "UsageError: kdb: the cell was not run, for lack of commands" in text


def test_when_the_commands_are_used_up_the_rest_does_not_run_and_it_is_told(notebook, typist):
    result, text = notebook("%%kdb -c n\nmodel.fit(x, y, verbose=0)\nafter = 1")
    assert result.success
    assert "the rest of the cell is not run. Add `-c detach`" in text
    assert "after" not in notebook.shell.user_ns
    result, text = notebook("%%kdb -c c\nmodel.fit(x, y, verbose=0)\nafter = 1")
    assert "nobody" not in text
    assert notebook.shell.user_ns["after"] == 1


def test_set_trace_in_a_cell_reads_by_input_and_ends_with_the_cell(notebook, typist):
    for _ in range(2):
        typist.lines = ["n", "c"]
        result, text = notebook("import kerascope\nkerascope.set_trace()\nmodel.predict(x).shape")
        assert result.result == (4, 1)
        assert "--Call-- predict sequential_1" in text
        assert Session.current.is_over
    typist.lines = ["q"]
    result, text = notebook("kerascope.set_trace()\nafter = 1")
    assert not result.success
    assert "kdb: the debugger was quit; the rest of the cell does not run." in text
    assert "kerascope/debugger" not in text
    assert "after" not in notebook.shell.user_ns


def test_a_session_that_hears_nothing_any_more_does_not_swallow_set_trace(monkeypatch, typist):
    monkeypatch.setattr(Session, "current", None)
    for _ in range(2):  # a kernel runs each cell in a context of its own
        typist.lines = ["c"]
        contextvars.copy_context().run(set_trace)
        assert not typist.lines
    leave(Session.current)
    assert Session.current.is_over


# --- loading --------------------------------------------------------------------------------------


def test_the_extension_can_be_taken_away_and_loaded_twice(notebook):
    assert len(places.CELLS) == 1
    notebook("%reload_ext kerascope")
    assert len(places.CELLS) == 1
    notebook("%unload_ext kerascope")
    assert not places.CELLS
    assert notebook.shell.find_line_magic("kdb") is None
    assert notebook.shell.custom_exceptions == ()
    notebook("%load_ext kerascope")
    assert notebook.shell.find_cell_magic("kdb") is not None


# --- tapes ----------------------------------------------------------------------------------------


def page_in(shown):
    """Return the page that stands in the frame of what a notebook shows."""
    held = re.search(r'srcdoc="(.*?)"></iframe>', shown, re.DOTALL)[1]
    return unescape(held)


def data_in(page):
    """Return what the page plays, packed or not."""
    which, held = re.search(
        r'<script type="[^"]*" id="(data|packed)">(.*?)</script>', page, re.DOTALL
    ).groups()
    if which == "packed":
        held = json.loads(gzip.decompress(b64decode(held)))["data"]
    return json.loads(held)


def test_a_tape_shows_itself_as_the_page_that_plays_it():
    with trace(level="phase") as tape:
        model = fit_two_layers()
    page = page_in(tape._repr_html_())
    (side,) = data_in(page)["sides"]
    assert [step[0] for step in side["steps"]] == list(range(len(tape)))
    assert repr(tape).startswith("<Tape: ")
    assert "\n" not in repr(tape)
    del model


def test_of_a_long_tape_the_first_step_is_shown(monkeypatch):
    with trace() as tape:
        fit_two_layers(epochs=3)
    monkeypatch.setattr("kerascope.player.playing.MOST_STEPS", len(tape) - 1)
    (side,) = data_in(page_in(tape._repr_html_()))["sides"]
    last = tape[side["steps"][-1][0]]
    assert (last.kind, last.ph) == ("batch", "E")
    assert last.t < len(tape) - 1


def test_a_tape_from_a_file_shows_the_same_steps(tmp_path):
    K.clear_session()
    with trace() as tape:
        fit_two_layers()
    tape.save(tmp_path / "t.jsonl")
    (ours,) = data_in(page_in(tape._repr_html_()))["sides"]
    (theirs,) = data_in(page_in(Tape.load(tmp_path / "t.jsonl")._repr_html_()))["sides"]
    assert [step[:4] for step in ours["steps"]] == [step[:4] for step in theirs["steps"]]
    assert theirs["graph"]["boxes"]


def test_an_empty_tape_says_so_and_odd_names_do_no_harm():
    assert "no events" in Tape()._repr_html_()
    name = "<b>\"x\"</b> & 'y' 模型"
    where = Where("kerascope/a.py", 1, "f", "/somewhere/<mine>.py", 3)
    deltas = (Delta("a<b", "</td>", "<script>alert(1)</script>"),)
    tape = Tape([Event(0, "<i>", "", name, "I", 0, "node", name, where, deltas)])
    page = page_in(tape._repr_html_())
    assert '<b>"x' not in page
    assert "<script>alert" not in page


def test_the_same_run_shows_the_same():
    shown = []
    for _ in range(2):
        K.clear_session()
        np.random.seed(3)
        with trace() as tape:
            fit_two_layers()
        shown.append(tape._repr_html_())
    assert shown[0] == shown[1]


# --- a kernel -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.process
def test_in_a_real_kernel(tmp_path, monkeypatch):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    cells = [
        "%load_ext kerascope",
        SETUP,
        "%%kdb -c 'b b' -c c -c w -c detach\nmodel.fit(x, y, verbose=0)\nafter = 1",
        "import kerascope\nwith kerascope.trace() as tape:\n    model.predict(x)\ntape",
        "%kdb -c q\nafter",
        "%kdb on",
        "model.fit(x[:, :1], y)",
        "kerascope.set_trace()",
        "kerascope.set_trace()",
        "%%kdb\nmodel.fit(x, y)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    for cell in notebook.cells[6:-1]:
        cell.metadata["tags"] = ["raises-exception"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the packages that talk to the kernel
        client = nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600)
        with pytest.raises(nbclient.exceptions.CellExecutionError, match="kdb"):
            client.execute(cwd=str(tmp_path))
    debugged, shown, looked, _, failed, one, other, unheard = notebook.cells[2:]
    text = _stream(debugged)
    assert text.startswith("> In[3](1)<module>()\n-> model.fit(x, y, verbose=0)\n(Kdb) b b\n")
    assert "  In[2]:4  model = Sequential(" in text
    assert "\x1b" not in text
    assert max(len(line) for line in text.splitlines()) <= 100
    (data,) = [output.data for output in shown.outputs if output.output_type == "execute_result"]
    assert data["text/plain"].startswith("<Tape: ")
    assert "<iframe" in data["text/html"]
    assert "the program has ended" in _stream(looked) or "the tape ends here" in _stream(looked)
    assert "--Return-- fit sequential_1 -> DataError" in _stream(failed)
    assert "so commands cannot be typed" in _stream(unheard)
    assert "UsageError: kdb: the cell was not run, for lack of commands." in _stream(unheard)
    for cell in (one, other):
        assert "so commands cannot be typed" in _stream(cell)
        assert "the rest of the cell does not run" in _stream(cell)
        assert not [output for output in cell.outputs if output.output_type == "error"]


def _stream(cell):
    return "".join(output.text for output in cell.outputs if output.output_type == "stream")


def test_without_a_notebook_nothing_of_it_is_loaded():
    assert callable(kerascope.load_ipython_extension)
    assert "load_ipython_extension" not in kerascope.__all__
    assert Sequential is kerascope.Sequential
