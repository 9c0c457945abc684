"""A script fails in the debugger: where it lands, what can still be asked, and the exit code."""

import io
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from ctrl_c import HEARS_CTRL_C
from debugger_transcripts import answer, debug_script

import kerascope

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """
import numpy as np
import keras
from keras import backend as K
from keras.callbacks import Callback
from keras.layers import Dense, Input, Lambda, Layer
from keras.models import Model, Sequential

def fit(model, loss="mse", rows=8, columns=3, **words):
    model.compile("sgd", loss)
    x = np.ones((rows, columns))
    model.fit(x, np.ones((rows, 1)), batch_size=4, shuffle=False, verbose=0, **words)
"""

IN_CALL = """
class Broken(Layer):
    def call(self, x):
        return K.dot(x, self.kernel)

fit(Sequential([Dense(3, input_shape=(3,), name="good"), Broken(name="broken"), Dense(1)]))
"""

BAD_DATA = """
model = Sequential([Dense(3, input_shape=(3,), name="good"), Dense(1, name="score")])
fit(model, rows=8)
model.predict(np.ones((2, 5)))
"""

AT_RUN_TIME = """
class Rows(Layer):
    def call(self, x):
        return K.reshape(x, (-1, 5, 3))[:, 0]

fit(Sequential([Dense(3, input_shape=(3,), name="good"), Rows(name="rows"), Dense(1)]))
"""

IN_CALLBACK = """
class Stops(Callback):
    def on_batch_end(self, batch, logs=None):
        if batch == 0:
            self.last = batch
        else:
            raise RuntimeError(f"enough after batch {batch}")

model = Sequential([Dense(3, input_shape=(3,), name="good"), Dense(1, name="score")])
fit(model, callbacks=[Stops()])
"""

IN_LOSS = """
def strange(y_true, y_pred):
    return K.mean(K.square(y_true - y_pred) * y_missing)

model = Sequential([Dense(3, input_shape=(3,), name="good"), Dense(1, name="score")])
fit(model, strange)
"""

# What the last line of the traceback says, where it lands, and names with their values there.
CASES = {
    IN_CALL: (
        "AttributeError: 'Broken' object has no attribute 'kernel'",
        "--Return-- layer.call broken -> AttributeError: ",
        {"e.kind, e.name": "('layer.call', 'broken')", "self.name": "'broken'", "x": "good/add"},
    ),
    AT_RUN_TIME: (
        "ValueError: cannot reshape array of size 12 into shape (5,3)",
        "--Return-- op rows/reshape -> ValueError: ",
        {"e.phase": "'forward'", "list(tensor_map)": "['good_input', 'good']", "rows": "8"},
    ),
    IN_CALLBACK: (
        "RuntimeError: enough after batch 1",
        "--Return-- callbacks on_batch_end -> RuntimeError: ",
        {"batch": "1", "self.last": "0", "len(tensor_map)": None},
    ),
    IN_LOSS: (
        "NameError: name 'y_missing' is not defined",
        "--Return-- loss -> NameError: ",
        {"e.phase": "'loss'", "y_pred": "score/add"},
    ),
}


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "script.py"
        path.write_text(BEGIN + text)
        return path

    return write


def test_a_library_outside_of_this_environment_is_not_the_users_code(
    monkeypatch, capsys, script, tmp_path
):
    """In an environment with `--system-site-packages`, NumPy can be elsewhere."""
    library = tmp_path / "site-packages" / "some_library.py"
    library.parent.mkdir()
    library.write_text("def fail(x):\n    raise ValueError(x)\n", encoding="utf-8")
    text = f"""
import sys
sys.path.append({str(library.parent)!r})
from some_library import fail

class Fails(Callback):
    def on_batch_end(self, batch, logs=None):
        rows = 12
        fail(rows)

fit(Sequential([Dense(1, input_shape=(3,))]), callbacks=[Fails()])
"""
    _, out = debug_script(monkeypatch, capsys, script(text), "c", "p rows", "q")
    assert answer(out, "p rows") == ["12"]


@pytest.mark.parametrize("text", CASES, ids=["call", "run time", "callback", "loss"])
def test_a_failure_lands_in_post_mortem_with_the_journal_kept(text, monkeypatch, capsys, script):
    last_line, place, values = CASES[text]
    looked = ["w", "u", "d", "info tensors", "info weights", "draw", "when", "l"]
    looked += [f"p {expression}" for expression in values]
    code, out = debug_script(
        monkeypatch, capsys, script(text), "c", *looked, "rs", "s", "rc", "p t", "q"
    )
    assert code == 1
    after = answer(out, "c")
    assert any(line.startswith(last_line) for line in after), after
    assert "Uncaught exception. Post mortem: use rs, w and p to look at the recorded" in after
    assert after[-1].startswith(place)
    assert "cannot be shown" not in out
    for expression, value in values.items():
        said = answer(out, f"p {expression}")
        assert said == [value] or (value is None and "It lives in forward." in said[0]), expression
    assert sum(line.startswith(">") for line in answer(out, "w")) == 1
    assert answer(out, "u") != answer(out, "d")
    assert answer(out, "when")[0].startswith("t=")
    assert len(answer(out, "info weights")) >= 3
    assert len(answer(out, "draw")) >= 3
    assert not any(line.startswith("***") for line in answer(out, "l"))
    callers, called = answer(out, "w")[0], answer(out, "w")[-1]
    assert "<module>()  fit(" in callers
    assert "script.py(" in called
    assert answer(out, "s")[-1] == answer(out, "c")[-1] or place.startswith("--Return-- op")
    assert answer(out, "p t") == ["-1"]  # `rc` goes back to the beginning


def test_what_failed_before_any_model_is_looked_at_too(monkeypatch, capsys, script):
    path = script("def half(n):\n    return 1 / n\n\nhalf(0)\n")
    code, out = debug_script(monkeypatch, capsys, path, "c", "p n", "w", "rs", "pdb", "q", "q")
    assert code == 1
    assert "ZeroDivisionError: division by zero" in answer(out, "c")
    assert answer(out, "p n") == ["0"]
    assert answer(out, "w")[0].endswith("script.py(16)<module>()  half(0)")
    assert "-> return 1 / n" in out.split("(Kdb) pdb\n")[1]


def test_data_that_do_not_fit_fail_between_two_runs(monkeypatch, capsys, script):
    looked = ["c", "p model.name", "rs", "w", "info weights", "rc", "p t", "q"]
    code, out = debug_script(monkeypatch, capsys, script(BAD_DATA), *looked)
    assert code == 1
    assert "expected an array of shape (None, 3)" in "".join(answer(out, "c"))
    assert answer(out, "c")[-1].startswith("--- the program has ended: ")
    assert answer(out, "p model.name") == ["'sequential_1'"]
    assert answer(out, "rs")[-1].startswith("--Return-- fit")
    assert answer(out, "w")[-1].startswith("> fit")
    assert len(answer(out, "info weights")) > 4
    assert answer(out, "p t") == ["-1"]


def test_pdb_opens_the_frame_that_failed(monkeypatch, capsys, script):
    commands = ["c", "pdb", "p scale", "u", "q", "p 1 + 1", "q"]
    text = IN_CALL.replace("        return", "        scale = 31\n        return")
    code, out = debug_script(monkeypatch, capsys, script(text), *commands)
    assert code == 1
    opened = out.split("(Kdb) pdb\n")[1]
    assert "script.py(" in opened.splitlines()[0]
    assert opened.splitlines()[0].endswith(")call()")
    assert "(Pdb) 31" in opened
    assert "run_body()" in opened
    assert answer(out, "p 1 + 1") == ["2"]


def test_a_failure_that_the_script_catches_is_none(monkeypatch, capsys, script):
    text = f"try:\n{textwrap.indent(IN_CALLBACK, '    ')}\nexcept RuntimeError:\n    print('fine')"
    code, out = debug_script(monkeypatch, capsys, script(text), "c", "rs", "rc", "q")
    assert code == 0
    assert "Uncaught" not in out
    assert answer(out, "c")[0] == "fine"


def test_catch_exception_stops_before_the_script_can_hide_it(monkeypatch, capsys, script):
    text = f"try:\n{textwrap.indent(IN_CALL, '    ')}\nexcept AttributeError:\n    print('fine')"
    code, out = debug_script(
        monkeypatch, capsys, script(text), "catch exception", "c", "w", "c", "q"
    )
    assert code == 0
    stop = answer(out, "c")
    assert any(line.startswith("--Return-- layer.call broken -> AttributeError") for line in stop)
    assert stop[-1].startswith("caught exception: broken")


def test_pm_looks_back_at_a_trace(monkeypatch, capsys):
    words = "p list(tensor_map)", "p e.name", "w", "info weights", "rs", "u", "rc", "q"
    names = {}
    exec(BEGIN.replace("import keras\n", "").replace("from keras", "from kerascope"), names)
    with pytest.raises(ValueError, match="cannot reshape"), kerascope.trace() as tape:
        exec(AT_RUN_TIME, names)
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in words)))
    kerascope.pm(tape)
    out = capsys.readouterr().out
    assert "--Return-- op rows/reshape -> ValueError: cannot reshape" in out
    assert answer(out, "p e.name") == ["'rows/reshape'"]
    assert answer(out, "p list(tensor_map)") == ["['good_input', 'good']"]
    assert len(answer(out, "w")) >= 7
    assert "***" not in out
    assert len(tape) == tape[-1].t + 1  # nothing was added to it


FOREVER = """
class Tells(Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 0:
            print("begun", flush=True)

model = Sequential([Dense(3, input_shape=(3,), name="good"), Dense(1, name="score")])
fit(model, epochs=10**9, callbacks=[Tells()])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_ctrl_c_stops_a_script_that_goes_on_and_on(script):
    words = ["-W", "ignore", "-c", HEARS_CTRL_C, "debug", "-c", "c", str(script(FOREVER))]
    with subprocess.Popen(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as process:
        try:
            printed = iter(process.stdout.readline, "")
            assert any(line == "begun\n" for line in printed)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate("w\np model.name\nrs\nr\ninfo weights\nq\n", timeout=600)
        finally:
            process.kill()
    assert process.returncode == 0
    assert "\ninterrupted\n" in out
    assert answer(out, "p model.name") == ["'sequential_1'"]
    assert "<module>()  fit(model, epochs=10**9, callbacks=" in answer(out, "w")[0]
    assert any(line.startswith("  fit ") for line in answer(out, "w"))
    assert out.endswith("(Kdb) q\n")
