"""The user's own lines: where a stop stands, what `w`, `l` and breakpoints at lines say of them."""

import linecache
import pdb

import numpy as np
import pytest
from debugger_transcripts import answer, debug_script

from kerascope.debugger.session import Session

SCRIPT = """\
import numpy as np
import kerascope as ks
from kerascope import backend as K
from kerascope.layers import Dense, Lambda, Layer
from kerascope.models import Sequential


def centred(x):
    return x - K.mean(x, axis=-1, keepdims=True)


def my_bce(y_true, y_pred):
    one = y_true * K.log(y_pred + 1e-7)
    two = (1 - y_true) * K.log(1 - y_pred + 1e-7)
    return -K.mean(one + two, axis=-1)


class Norm(Layer):
    def call(self, x):
        away = centred(x)
        return away / (K.mean(K.square(x), axis=-1, keepdims=True) + 1)


ks.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(8, 5)).astype("float32")
y = (x.sum(axis=1, keepdims=True) > 0).astype("float32")
model = Sequential([
    Dense(4, activation="relu", input_dim=5),
    Norm(),
    Lambda(lambda t: t * 2),
    Dense(1, activation="sigmoid"),
])
model.compile("sgd", my_bce)
model.fit(x, y, batch_size=4, epochs=1, verbose=0, shuffle=False)
"""


@pytest.fixture
def debugged(monkeypatch, capsys, tmp_path):
    """Debug a script; return what was written."""
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    # From Python 3.13 on pdb remembers when each file was written; each test has its own train.py.
    monkeypatch.setattr(pdb.Pdb, "_file_mtime_table", {}, raising=False)

    def debugged(*commands, text=SCRIPT):
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        linecache.clearcache()
        return debug_script(monkeypatch, capsys, "train.py", *commands)[1]

    return debugged


def stops(out):
    """Return the path of each stop, and the two lines above it."""
    lines = out.splitlines()
    places = [i for i, line in enumerate(lines) if line.startswith("> ") and "t=" in lines[i + 2]]
    return [(lines[i][2:], lines[i + 2].split(" > ", 2)[-1].split("   ")[0]) for i in places]


def test_a_line_in_a_loss_stops_where_its_ops_are_made_and_once_in_each_batch(debugged):
    out = debugged("b 14", "c", "c", "c", "c")
    assert stops(out)[0][0].startswith("kerascope/engine/compiling.py(")
    assert "   made by train.py:13, 14, 15 in my_bce" in out
    assert stops(out)[1:] == [
        ("train.py(14)my_bce()", "batch 0 > loss > dense_2_loss/subtract"),
        ("train.py(14)my_bce()", "batch 1 > loss > dense_2_loss/subtract"),
    ]


def test_at_an_op_the_users_line_stands_above_and_the_ops_own_code_below(debugged):
    out = debugged("b run:op:log", "c", "l", "b 14", "q")
    stop = answer(out, "c")
    assert stop[:2] == ["> train.py(13)my_bce()", "-> one = y_true * K.log(y_pred + 1e-7)"]
    assert stop[3].startswith("   kerascope/backend/ops/elementwise.py:")
    assert stop[3].endswith("  ufunc = np.log")
    assert "  13 ->     one = y_true * K.log(y_pred + 1e-7)" in answer(out, "l")
    assert any(line.endswith(" ->     ufunc = np.log") for line in answer(out, "l"))
    assert answer(out, "b 14") == ["Breakpoint 2 at train.py:14"]
    assert "_events()" not in "".join(stop)


def test_w_shows_the_lines_of_the_users_that_made_the_op(debugged):
    out = debugged("b run:op:subtract", "c", "w", "q")
    (here,) = [line for line in answer(out, "w") if line.startswith("> ")]
    assert here.startswith("> norm_1/subtract  kerascope/backend/ops/elementwise.py(")
    assert ")Subtract()  train.py:9  return x" in here
    assert answer(out, "w")[-4:] == [
        "  made by:",
        "  train.py(27)<module>()  model = Sequential([",
        "  train.py(20)call()  away = centred(x)",
        "  train.py(9)centred()  return x - K.mean(x, axis=-1, keepdims=True)",
    ]


def test_a_line_in_a_layers_call_or_a_helper_of_it_stops_where_it_is_made_and_computed(debugged):
    for line in (9, 20):
        out = debugged(f"b train.py:{line}", "c", "c", "c", "c")
        assert [path.rpartition(" > ")[2] for _, path in stops(out)] == [
            "op.create norm_1/mean",
            "mean",
            "mean",
        ]
        assert {place for place, _ in stops(out)} == {"train.py(9)centred()"}


def test_a_line_in_a_lambda_stops_too(debugged):
    text = SCRIPT.replace("Lambda(lambda t: t * 2),", "Lambda(\n        lambda t: t * 2\n    ),")
    out = debugged("b train.py:31", "c", "c", "c", "c", text=text)
    assert [place for place, _ in stops(out)] == ["train.py(31)<lambda>()"] * 3


def test_a_line_that_makes_a_layer_stops_once_in_each_batch(debugged):
    out = debugged("b run:train.py:28", "c", "c", "c", "c")
    assert [path for _, path in stops(out)] == [
        "batch 0 > forward > depth 3 > dense_1",
        "batch 0 > backward (values) > dense_1",
        "batch 1 > forward > depth 3 > dense_1",
        "batch 1 > backward (values) > dense_1",
    ]
    assert stops(out)[0][0] == "train.py(28)<module>()"


def test_a_gradient_stands_at_the_line_of_its_op_and_says_so(debugged):
    out = debugged("tbreak tensor:gradients/lambda_1/multiply", "c", "w", "q")
    stop = answer(out, "c")
    assert stop[:2] == ["> train.py(30)<lambda>()", "-> Lambda(lambda t: t * 2),"]
    assert any(line.startswith("   gradient of lambda_1/multiply: kerascope/") for line in stop)
    assert "  made by (gradient of lambda_1/multiply):" in answer(out, "w")


def test_an_update_stands_at_the_line_of_compile(debugged):
    out = debugged("tbreak tensor:update/dense_1/kernel/*", "c", "q")
    assert answer(out, "c")[:2] == [
        "> train.py(33)<module>()",
        '-> model.compile("sgd", my_bce)',
    ]


def test_a_file_of_a_tape_keeps_the_lines(debugged):
    out = debugged("b run:op:subtract", "c", "w", "record run.jsonl", "q")
    assert "made by:" in out
    from kerascope.trace.tape_store import Tape

    tape = Tape.load("run.jsonl")
    (made,) = {e.where.made for e in tape if e.kind == "op" and e.name == "norm_1/subtract"}
    assert [line for _, line, _ in made.made_by] == [9, 20]
    assert made.code[0] == "kerascope/backend/ops/elementwise.py"


NAN = """\
import numpy as np
from kerascope import backend as K
from kerascope.layers import Dense
from kerascope.models import Sequential


def bad_loss(y_true, y_pred):
    root = K.log(y_true - 2.0)
    return K.mean(root * y_pred, axis=-1)


model = Sequential([Dense(1, input_dim=2, name="d")])
model.compile("sgd", bad_loss)
model.fit(np.ones((4, 2)), np.ones((4, 1)), batch_size=4, epochs=1, verbose=0)
"""


def test_catch_stops_at_the_line_that_made_the_nan_and_origin_names_it(debugged):
    out = debugged("catch nan", "c", "origin out", "q", text=NAN)
    assert answer(out, "c")[:2] == ["> train.py(8)bad_loss()", "-> root = K.log(y_true - 2.0)"]
    assert any(line.startswith("caught nan: d_loss/log") for line in answer(out, "c"))
    assert answer(out, "origin out")[-1] == (
        "   train.py:8 in bad_loss  root = K.log(y_true - 2.0)"
    )


def test_a_run_that_fails_on_nan_prints_the_line(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(NAN, encoding="utf-8")
    linecache.clearcache()
    code, out = debug_script(monkeypatch, capsys, "train.py", options=["--fail-on", "nan"])
    assert code == 3
    assert "> train.py(8)bad_loss()\n-> root = K.log(y_true - 2.0)\n" in out


def test_the_story_of_a_batch_names_the_line(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(NAN, encoding="utf-8")
    linecache.clearcache()
    from kerascope.cli.commands import main

    main(["trace", "train.py"])
    told = capsys.readouterr().out.partition("first NaN or Inf")[2]
    assert "train.py:8 in bad_loss" in told.partition("backward")[0]


def test_explain_and_profile_have_the_lines(debugged):
    import kerascope as ks

    x = ks.K.placeholder((None, 3))
    y = ks.K.exp(x) * 2.0
    function = ks.K.function([x], [y])
    for _ in range(3):
        function([np.ones((2, 3), "float32")])
    line = y.owner.frames.lines[0].line
    assert [row.made_at for row in function.explain().rows] == [f"test_users_lines.py:{line}"] * 2
    assert f"test_users_lines.py:{line}" in str(function.explain())
    profile = function.profile(repeats=2)
    assert {row.made_at for row in profile.rows if row.op in ("exp", "multiply")} == {
        f"test_users_lines.py:{line}"
    }
    assert profile.as_dict()["ops"][0]["made_at"] == f"test_users_lines.py:{line}"


CALLBACK = """\
import numpy as np
import kerascope as ks
from kerascope import backend as K


def halved(rate):
    smaller = rate / 2
    return smaller


class Halve(ks.callbacks.Callback):
    # A comment.
    def on_epoch_end(self, epoch, logs=None):
        rate = K.get_value(self.model.optimizer.lr)
        K.set_value(self.model.optimizer.lr, halved(rate))


model = ks.Sequential([ks.layers.Dense(1, input_dim=2, name="d")])
model.compile("sgd", "mse")
told = ks.callbacks.LambdaCallback(
    on_epoch_begin=lambda epoch, logs: print("epoch", epoch)
)
x = np.ones((8, 2), "float32")
model.fit(x, x[:, :1], batch_size=4, epochs=3, verbose=0, callbacks=[Halve(), told])
print("rate", float(K.get_value(model.optimizer.lr)))
"""


def test_a_line_in_a_callbacks_method_stops_under_pythons_own_debugger(debugged):
    out = debugged("b 14", "c", "p epoch", "n", "n", "c", "c", "c", text=CALLBACK)
    assert "   a line of Halve.on_epoch_end: fit runs it under Python's own debugger\n" in out
    assert out.count("train.py(14)on_epoch_end()\n-> rate = K.get_value(") == 3
    assert "(Pdb) p epoch\n0\n(Pdb) n\n> " in out
    assert "train.py(15)on_epoch_end()\n-> K.set_value(" in out
    assert "rate 0.00124" in out  # it has run to its end each time
    assert "there was no such line" not in out


@pytest.mark.parametrize(("line", "function"), [(7, "halved"), (21, "<lambda>")])
def test_so_do_lines_of_what_a_callback_calls_and_of_a_function_that_is_a_hook(
    debugged, line, function
):
    out = debugged(f"tbreak train.py:{line}", "c", "c", text=CALLBACK)
    assert out.count(f"train.py({line}){function}()\n-> ") == 1
    assert "rate 0.00124" in out


def test_conditions_counts_and_quitting_hold_there_too(debugged):
    out = debugged("b 14, epoch > 1", "c", "p epoch", "q", text=CALLBACK)
    assert "(Pdb) p epoch\n2\n(Pdb) q\n" in out
    assert "rate" not in out.rpartition("(Pdb) q\n")[2]
    assert out.count("on_epoch_end()") == 1


def test_methods_are_as_before_when_the_debugger_has_gone(debugged):
    from kerascope.callbacks import Callback

    debugged("b 14", "c", "clear 1", "c", text=CALLBACK)
    left = [kind for kind in Callback.__subclasses__() if kind.__name__ == "Halve"]
    assert left
    assert not any(hasattr(kind.on_epoch_end, "_runs_under_pdb") for kind in left)


def test_where_no_such_breakpoint_is_callbacks_are_not_touched(debugged):
    text = CALLBACK.replace("class Halve", "assert True\nclass Halve").replace(
        "        rate =", "        import sys; assert sys.gettrace() is None\n        rate ="
    )
    out = debugged("b dense_7", "c", text=text)
    assert "rate 0.00124" in out


def test_a_line_without_code_is_refused_with_its_neighbours(debugged):
    out = debugged("b 9", "b 12", "b 99", "b train.py:22", "q", text=CALLBACK)
    assert answer(out, "b 9") == [
        "*** break: line 9 is blank or missing. The nearest lines with code: 7, 8, 11, 13."
    ]
    assert answer(out, "b 12") == [
        "*** break: line 12 is blank or missing. The nearest lines with code: 8, 11, 13, 14."
    ]
    assert "line 99 is blank" in answer(out, "b 99")[0]
    assert answer(out, "b train.py:22") == [
        "*** break: line 22 has no code. The nearest lines with code: 20, 21, 23, 24."
    ]


def test_a_line_that_makes_nothing_is_told_with_those_that_do(debugged):
    out = debugged("b train.py:3", "b run:d", "c", "b train.py:20", "clear 2", "c", text=CALLBACK)
    assert answer(out, "b train.py:20") == [
        "Breakpoint 3 at train.py:20",
        "   no layer and no op was made by this line so far. "
        "The nearest lines that have made some: 18, 19.",
    ]
    assert "breakpoint 1 at train.py:3: there was no such line. The nearest lines that have" in out


def test_where_nobody_is_asked_the_line_is_told_and_the_run_goes_on(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(CALLBACK, encoding="utf-8")
    linecache.clearcache()
    options = ["--format", "text", "-x", "commands.txt", "--until", "epoch 2"]
    (tmp_path / "commands.txt").write_text("b train.py:14\n", encoding="utf-8")
    code, out = debug_script(monkeypatch, capsys, "train.py", options=options)
    assert code == 0
    assert out.count("breakpoint 1 hit: train.py:14, in Python's own debugger") == 2
