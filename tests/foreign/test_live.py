"""`run --live` and `trace --live`: a script trains with a library of its own, and is watched."""

import json
import sys
import types
from contextlib import contextmanager

import numpy as np
import pytest

from kerascope import foreign
from kerascope.cli import live as live_commands
from kerascope.cli import main
from kerascope.foreign import Value
from kerascope.foreign import live as live_module
from kerascope.foreign.story import LiveStory
from kerascope.trace.tape import Tape

LIBRARY = '''
import numpy as np

class Net:
    """One weight; its second batch gives a NaN."""

    def __init__(self):
        self.weight = np.ones(2, "float32")

    def __call__(self, x):
        return self.weight * x
'''
SCRIPT = """
import numpy as np
import {imported}
from mylib import Net

net = Net()
for number in range(3):
    x = np.ones(2, "float32") * (np.nan if number == 1 else number)
    print(net(x).sum())
"""


def value(array):
    return Value(id(array), array.shape, str(array.dtype), lambda: array)


@contextmanager
def watching(writer):
    """The adapter of `mylib`: whoever calls a Net is told."""
    net = sys.modules["mylib"].Net
    plain, counts = net.__call__, iter(range(1000))
    writer.library = "mylib 1.0"

    def call(self, x):
        number = next(counts)
        with (
            writer.span("batch", f"batch {number}", batch_index=number, size=1) as told,
            writer.span("function", "Net"),
            writer.span("forward", "Net"),
        ):
            writer.call("x", [], [value(x)], op="Input", kind="input")
            y = plain(self, x)
            line = ("script.py", 9, "<module>")
            writer.call("scale", [value(x)], [value(y)], op="Scale", kind="dense", line=line)
            told["outs"] = (float(y.sum()),)
        return y

    net.__call__ = call
    try:
        yield
    finally:
        net.__call__ = plain


@pytest.fixture
def script(tmp_path, monkeypatch):
    adapter = types.ModuleType("mylib_adapter")
    adapter.watching = watching
    monkeypatch.setitem(sys.modules, "mylib_adapter", adapter)
    monkeypatch.setitem(foreign._ADAPTERS, "mylib", ("mylib_adapter", "mylib"))
    monkeypatch.setattr(live_module, "WATCHED", ("mylib",))
    (tmp_path / "mylib.py").write_text(LIBRARY, "utf-8")
    (tmp_path / "script.py").write_text(SCRIPT.format(imported="mylib"), "utf-8")
    monkeypatch.chdir(tmp_path)
    yield "script.py"
    sys.modules.pop("mylib", None)
    assert not any(type(one).__name__ == "ImportHook" for one in sys.meta_path[:1])


def test_a_run_is_watched_and_says_at_once_where_a_number_is_not_finite(script, capsys):
    assert main(["run", "--live", script]) == 0
    said = capsys.readouterr()
    assert said.out.split() == ["0.0", "nan", "4.0"]
    assert "batch 1: x: Input" in said.err
    assert "mylib 1.0: 3 batches watched" in said.err
    assert "first not finite: batch 1, x" in said.err.splitlines()[-1]


def test_its_tape_is_replayed(script, capsys):
    assert main(["run", "--live", "--tape", "run.jsonl", script]) == 0
    assert "wrote run.jsonl" in capsys.readouterr().err
    assert len(list(Tape.load("run.jsonl").batches())) == 3
    assert main(["replay", "-c", "catch nan", "-c", "c", "-c", "q", "run.jsonl"]) == 0
    assert "caught nan: x: 2 NaN" in capsys.readouterr().out


def test_a_trace_prints_the_first_batch_in_full_and_a_line_of_the_others(script, capsys):
    assert main(["trace", "--live", script]) == 0
    out = capsys.readouterr().out
    assert out.count("script.py:9") == 1
    assert "batch 2" in out
    assert "NaN!" in out


def test_a_trace_is_data_too(script, capsys):
    assert main(["trace", "--live", "--format", "jsonl", script]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["name"] for line in lines if line["kind"] == "batch"] == [
        *("batch 0", "batch 1", "batch 2")
    ]


def test_what_is_not_finite_stands_below_its_own_batch(script, capsys):
    main(["trace", "--live", script])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    told = [line for line in lines if line[:1] in (["batch"], ["x"], ["loss"])][2:]
    assert [" ".join(line[:2]) for line in told if line[0] != "loss"] == [
        *("batch 1", "x Input", "batch 2"),
    ]
    assert ["loss", "nan"] in told


@pytest.mark.parametrize("in_full", [0, 9])
@pytest.mark.parametrize(
    ("loss", "words"),
    [(0.25, "0.25"), (3, "3"), (np.nan, "nan"), (np.inf, "inf"), (-np.inf, "-inf")],
)
def test_a_loss_is_told_as_a_number_whatever_it_is(loss, words, in_full):
    told = []
    writer = foreign.TapeWriter(library="mylib 1.0")
    writer.listen(LiveStory(told.append, batches=in_full))
    for outs in ((np.float32(loss),), (loss, np.float64(1.0)), (np.array(loss),)):
        with writer.span("batch", "batch 0", batch_index=0) as names:
            names["outs"] = outs
    lines = [one for one in told if one.cells]
    assert [one.cells for one in lines] == [(words,), (words, "1"), (words,)]
    assert all(one.alarm is not np.isfinite(loss) for one in lines)


def test_epochs_and_what_is_no_training_have_lines(script, tmp_path, capsys, monkeypatch):
    @contextmanager
    def watching(writer):
        for number in (1, 2):
            with writer.span("fit", "fit net"), writer.span("epoch", f"epoch {number}"):
                with writer.span("batch", "batch 0", batch_index=0, size=0):
                    pass
                with writer.span("evaluate", "evaluate net"):
                    pass
        with writer.span("predict", "predict net"):
            pass
        yield

    monkeypatch.setattr(sys.modules["mylib_adapter"], "watching", watching)
    assert main(["trace", "--live", "--format", "jsonl", script]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["depth"], line["name"], line["text"]) for line in lines if line["depth"] < 2] == [
        *((0, "fit net", "watched"), (1, "epoch 1", ""), (1, "batch 0", "")),
        *((1, "evaluate net", "watched"), (0, "fit net", "watched"), (1, "epoch 2", "")),
        *((1, "batch 0", ""), (1, "evaluate net", "watched"), (0, "predict net", "watched")),
    ]


def test_an_interrupted_run_says_what_it_wrote(script, tmp_path, capsys):
    stopped = (
        SCRIPT.format(imported="mylib") + "    if number == 1:\n        raise KeyboardInterrupt"
    )
    (tmp_path / "script.py").write_text(stopped, "utf-8")
    assert main(["run", "--live", "--tape", "run.jsonl", script]) == 130
    said = capsys.readouterr().err
    assert "mylib 1.0: 2 batches watched" in said
    assert "wrote run.jsonl. Open it with: kerascope replay run.jsonl" in said
    assert said.endswith("interrupted\n")
    assert len(list(Tape.load("run.jsonl").batches())) == 2
    assert sys.modules["mylib"].Net.__call__.__qualname__ == "Net.__call__"


def test_the_library_is_as_it_was_afterwards(script):
    main(["run", "--live", script])
    mylib = sys.modules["mylib"]
    assert mylib.Net.__call__.__qualname__ == "Net.__call__"
    assert type(mylib.__loader__).__name__ == "SourceFileLoader"
    assert type(mylib.__spec__.loader).__name__ == "SourceFileLoader"


def test_a_library_that_fails_to_load_says_what_python_says(script, tmp_path, capsys):
    (tmp_path / "mylib.py").write_text("import no_such_part", "utf-8")
    assert main(["run", "--live", script]) == 1
    err = capsys.readouterr().err
    assert "No module named 'no_such_part'" in err
    assert "kerascope/foreign" not in err


def test_a_script_without_such_a_model_is_told(script, tmp_path, capsys):
    (tmp_path / "script.py").write_text("print(1)", "utf-8")
    assert main(["run", "--live", script]) == 0
    assert "ran no model" in capsys.readouterr().err


def test_a_library_that_is_not_installed_is_named_with_its_extra(
    script, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(live_commands, "WATCHED", ("no_such_library", "json"))
    (tmp_path / "script.py").write_text("import no_such_library", "utf-8")
    assert main(["run", "--live", script]) == 1
    said = capsys.readouterr().err
    assert 'no_such_library is not installed: pip install "kerascope[no_such_library]".' in said
    assert "kerascope[json]" not in said


def test_a_tape_without_live_makes_no_sense(script, capsys):
    assert main(["run", "--tape", "run.jsonl", script]) == 2
    assert "--live" in capsys.readouterr().err


def test_a_tape_that_cannot_be_written_is_refused_before_the_script_runs(script, capsys):
    assert main(["run", "--live", "--tape", "no/run.jsonl", script]) == 2
    said = capsys.readouterr()
    assert "no/run.jsonl" in said.err
    assert not said.out


def test_an_exit_code_is_the_scripts(script, tmp_path):
    (tmp_path / "script.py").write_text("import mylib, sys\nsys.exit(7)", "utf-8")
    assert main(["run", "--live", script]) == 7
    assert np.ones(1).all()


def test_a_nan_that_stays_is_told_once_and_counted(script, tmp_path, capsys):
    text = SCRIPT.format(imported="mylib").replace("number == 1", "number > 0")
    (tmp_path / "script.py").write_text(text.replace("range(3)", "range(9)"), "utf-8")
    assert main(["run", "--live", script]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len([line for line in lines if "NaN!" in line]) == 1
    assert lines[-1].endswith("first not finite: batch 1, x, and 7 later batches")


@pytest.mark.parametrize("words", [["debug", "--fail-on", "nan"], ["trace"], ["play"]])
def test_other_commands_say_that_the_script_has_a_library_of_its_own(
    words, script, monkeypatch, capsys
):
    monkeypatch.setattr(foreign, "WATCHED", ("mylib",))
    code = main([*words, script])
    assert code == (0 if words == ["trace"] else 1)
    assert "It uses mylib: kerascope run --live script.py" in capsys.readouterr().err


def test_a_tape_is_played_and_never_run(script, capsys):
    assert main(["run", "--live", "--tape", "run.jsonl", script]) == 0
    assert main(["play", "run.jsonl", "-o", "run.html"]) == 0
    assert "wrote run.html" in capsys.readouterr().out
    assert main(["draw", "run.jsonl"]) == 2
    assert "kerascope replay run.jsonl" in capsys.readouterr().err
