"""Names that come from anywhere: whatever prints one writes what cannot be seen as an escape."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

import kerascope as ks
from kerascope import K, callbacks
from kerascope.cli.commands import main
from kerascope.errors import KerascopeError, ShapeError
from kerascope.layers import Dense, Embedding, Input, add
from kerascope.models import Model, model_from_json
from kerascope.printable import printable, printable_json, printable_lines
from kerascope.user_frames import warn
from kerascope.viz.exports.to_networkx import from_graphml, from_json, to_graphml, to_json
from kerascope.viz.graph import Graph, GraphNode

# Wipes a terminal, rings, goes back, turns the direction, begins a sequence, breaks a line, hides.
HOSTILE = ["\x1b[2J", "\x07", "\r", "\u202e", "\x9b2J", "\u2028", "\u200b", "\x00", "\x7f"]
NAME = "d" + "".join(HOSTILE)


def leaked(text: str) -> set[str]:
    """Return what of the hostile names stands raw in a text."""
    return {c for c in "".join(HOSTILE) if not c.isprintable() and c in text}


def model_with(name: str) -> Model:
    x = Input((3,), name=f"x{name}")
    shared = Dense(3, name=f"shared{name}")
    model = Model(x, Dense(2, name=f"y{name}")(add([shared(x), shared(shared(x))])), name=name)

    def metric(y_true, y_pred):
        return K.mean(y_pred)

    metric.__name__ = f"metric{name}"
    model.compile("adam", "mse", metrics=[metric])
    return model


@pytest.fixture(scope="module")
def model() -> Model:
    return model_with(NAME)


X, Y = np.ones((6, 3)), np.ones((6, 2))


def printed(action) -> str:
    """Return what an action prints, with its warnings and the words and notes of its error."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            action()
        except Exception as error:
            print("error:", error, *getattr(error, "__notes__", ()))
    return "\n".join([out.getvalue(), *(str(one.message) for one in told)])


def fitting(model, verbose):
    stops = callbacks.EarlyStopping(f"val{NAME}", verbose=1)
    model.fit(X, Y, verbose=verbose, epochs=2, callbacks=[stops])


def wrong_shape(model):
    model.predict(np.ones((6, 4)))


def wrong_in_a_step(model):
    z = Input((3,), name=f"z{NAME}")
    Dense(3, name=f"w{NAME}")(add([z, Input((4,))]))


def fails_at_run_time(model):
    words = Input((2,), dtype="int32", name=f"w{NAME}")
    Model(words, Embedding(3, 2, name=f"e{NAME}")(words)).predict(np.full((1, 2), 9))


def disconnected(model):
    Model(Input((3,), name=f"other{NAME}"), model.outputs[0])


def traced(model):
    with ks.trace() as tape:
        model.predict(X[:2])
    for event in list(tape)[:200]:
        print(event, repr(event))


def described(model):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_text(model.to_json())
        assert main(["summary", str(path), "--calls", "--flops"]) == 0
        for kind in ("txt", "svg", "json"):
            assert main(["draw", str(path), "-o", "-", "--format", kind]) == 0


def debugged(model):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        lines = ["import kerascope as ks, numpy as np", f"x = ks.Input((3,), name={'x' + NAME!r})"]
        lines.append(f"m = ks.Model(x, ks.layers.Dense(2, name={NAME!r})(x), name={'m' + NAME!r})")
        path.write_text("\n".join([*lines, "m.predict(np.ones((2, 3)))", ""]))
        commands = ["step"] * 12 + ["where", "p m", "p m.layers", "l", "c", "q"]
        done = subprocess.run(
            [sys.executable, "-m", "kerascope", "debug", str(path)],
            input="\n".join(commands), capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        assert "d\\x1b[2J" in done.stdout
        # The lines of the script are shown as they are written there: without the characters.
        print(done.stdout, done.stderr)


def programmed(model):
    model.train_on_batch(X, Y)
    print(model.train_function.source, model.train_function, model.train_function.explain())


PRINTS = {
    "repr of a model": lambda m: print(repr(m)),
    "print of a model": print,
    "layers": lambda m: print(m.layers, m.get_layer(index=1)),
    "tensors": lambda m: print(m.inputs, m.outputs, m.outputs[0], str(m.inputs[0])),
    "variables": lambda m: print(m.weights, m.weights[0], repr(m.weights[0])),
    "eager tensor": lambda m: print(K.constant([1.0], name=NAME), repr(K.variable(1.0, name=NAME))),
    "nodes": lambda m: print(m.layers[1].inbound_nodes, m.layers[1].outbound_nodes[0]),
    "ops": lambda m: print(m.outputs[0].owner, repr(m.total_loss.owner)),
    "summary": lambda m: m.summary(),
    "summary to a function": lambda m: m.summary(print_fn=print, calls=True, flops=True),
    "fit with a bar": lambda m: fitting(m, 1),
    "fit in lines": lambda m: fitting(m, 2),
    "evaluate": lambda m: m.evaluate(X, Y, verbose=1),
    "program": programmed,
    "error of an input": wrong_shape,
    "error of a shape": wrong_in_a_step,
    "error at run time": fails_at_run_time,
    "error of a graph": disconnected,
    "unknown layer": lambda m: m.get_layer(NAME + "?"),
    "unknown output": lambda m: m.compile("sgd", {NAME + "?": "mse"}),
    "unknown name": lambda m: ks.losses.get(NAME),
    "unknown class": lambda m: model_from_json(json.dumps({"class_name": NAME, "config": {}})),
    "missing file": lambda m: ks.models.load_model(f"{NAME}.keras"),
    "history": lambda m: print(m.fit(X, Y, verbose=0).history),
    "graph map": lambda m: print(m.nodes_by_depth, m.layers_by_depth),
    "walk": lambda m: [print(step, repr(step)) for step in ks.walk(m, X)],
    "warning": lambda m: warn(f"{NAME} is no name"),
    "tape": traced,
    "command line": described,
    "debugger": debugged,
    **{
        f"drawing as {kind}": lambda m, kind=kind: print(getattr(ks.draw(m), kind))
        for kind in ("text", "svg", "source", "json")
    },
}


@pytest.mark.parametrize("name", PRINTS)
def test_nothing_of_a_hostile_name_is_printed_raw(name, model):
    text = printed(lambda: PRINTS[name](model))
    assert "d" in text
    raw = leaked(text)
    if name.startswith(("fit with a bar", "evaluate")):
        raw -= {"\r"}  # the bar itself goes back to the begin of its line
    assert not raw, ascii(text[:2000])


SEEN = "größe 层 😀"


@pytest.mark.parametrize("ending", ["svg", "html", "txt", "dot", "mmd", "json", "graphml"])
def test_no_file_of_a_picture_holds_a_character_that_cannot_be_seen(ending, tmp_path):
    drawing = ks.draw(model_with(f"{NAME}\u2066\u200d\ufeff\x85\t\ud800{SEEN}"))
    drawing.save(tmp_path / f"a.{ending}")
    text = (tmp_path / f"a.{ending}").read_bytes().decode()
    assert SEEN in text
    assert {c for c in text if not c.isprintable()} <= {"\n", "\t"}


def test_json_and_graphml_say_the_same_with_their_escapes():
    name = "a\x7f\x9b\u202e\U000e0001\t\r\n" + SEEN
    graph = Graph(name, (GraphNode(name, name, "dense", attrs={"note": name}),), ())
    assert from_json(to_json(graph)) == from_graphml(to_graphml(graph)) == graph
    assert json.loads(printable_json(json.dumps(name, ensure_ascii=False))) == name


def test_a_name_itself_stays_what_it_is(model):
    assert model.name == NAME
    assert model.layers[1].name == f"shared{NAME}"
    assert model_from_json(model.to_json()).to_json() == model.to_json()
    assert f"metric{NAME}" in model.fit(X, Y, verbose=0).history


def test_what_can_be_seen_and_line_breaks_of_a_message_stay():
    assert printable("größe 层 [x] · 34") == "größe 层 [x] · 34"
    assert printable(NAME).isprintable()
    assert printable_lines("one\n\ttwo\x1b") == "one\n\ttwo\\x1b"
    assert str(ShapeError(f"{NAME}:\nmore")) == f"{printable(NAME)}:\nmore"
    assert isinstance(ShapeError(""), KerascopeError)


def test_a_text_with_nothing_to_escape_is_not_written_anew():
    text = "größe\n\tone line of many\n"
    assert printable_lines(text) is text  # a picture of a megabyte passes through here
    assert printable_lines(f"{text}\x1b") == f"{text}\\x1b"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("\U0001f469\u200d\U0001f52c", "\U0001f469\u200d\U0001f52c"),
        ("\U0001f3f3\ufe0f\u200d\U0001f308 a", "\U0001f3f3\ufe0f\u200d\U0001f308 a"),
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",) * 2,
        ("a\u200db", r"a\u200db"),
        ("\U0001f469\u200d", "\U0001f469" + r"\u200d"),
        ("\u200d\U0001f469\u202e", r"\u200d" + "\U0001f469" + r"\u202e"),
    ],
)
def test_a_joiner_between_two_that_it_joins_stays(name, shown):
    """An emoji of a scientist was printed as two with an escape between them."""
    assert printable(name) == shown
