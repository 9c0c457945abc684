"""Who gives a verb something that is no model is told what it is, and what to do with it."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import KerascopeError
from kerascope.layers import Dense

X, Y = np.ones((2, 4), "float32"), np.ones((2, 3), "float32")
STATE = {"l.weight": np.ones((3, 4), "float32"), "l.bias": np.zeros(3, "float32")}
VERBS = {
    "draw": ks.draw,
    "draw(inputs)": lambda subject: ks.draw(subject, inputs=X),
    "draw(values)": lambda subject: ks.draw(subject, values=X),
    "to_networkx": ks.to_networkx,
    "to_networkx(inputs)": lambda subject: ks.to_networkx(subject, inputs=X),
    "summary": ks.summary,
    "summary(x)": lambda subject: ks.summary(subject, X),
    "walk": lambda subject: list(ks.walk(subject, X)),
    "trace": lambda subject: ks.trace(subject).__enter__(),
    "play": lambda subject: ks.play(subject, X, Y),
    "compare": lambda subject: ks.compare(subject, own(), X),
    "compare(b)": lambda subject: ks.compare(own(), subject, X),
}


def own():
    return ks.Sequential([Dense(3, input_shape=(4,), name="d")], name="own")


def make_model():
    return own()


class Net(ks.Model):
    pass


def thing_of(module, name="Model"):
    return type(name, (), {"__module__": module})()


def message_of(verb, subject):
    with pytest.raises(KerascopeError) as caught:
        VERBS[verb](subject)
    return str(caught.value)


@pytest.mark.parametrize(
    ("subject", "got", "remedy"),
    [
        ("x.pt", "got str 'x.pt'", "module.load_state_dict(torch.load('x.pt')), then ks."),
        (Path("x.bin"), "'x.bin'", "module.load_state_dict(torch.load('x.bin')), then ks."),
        ("x.safetensors", "'x.safetensors'", "safetensors.torch.load_file('x.safetensors')"),
        (STATE, "got dict of 2 entries", "Make the model and load them into it"),
        ({"epoch": 3, "model": STATE}, "got dict of 2 entries", "load_state_dict(weights)"),
        ([*STATE.values()], "got list of 2 entries", "model.set_weights(weights), then ks."),
        (Net, "got the class Net", "model = Net(...), then ks."),
        (ks.Sequential, "got the class Sequential", "model = Sequential(...), then ks."),
        (make_model, "got function make_model", "model = make_model(...), then ks."),
        (partial(make_model), "got partial make_model", "model = make_model(...), then ks."),
        (X, "got ndarray of shape (2, 4)", "Give the model: ks."),
        (3, "got int 3", "Export others to ONNX: ks."),
        (thing_of("tf_keras.src.training"), "got Model <", "model.save('model.h5')"),
        (thing_of("tensorflow.python.module", "Module"), "got Module <", "tf2onnx"),
    ],
)  # fmt: skip
def test_each_verb_says_what_came_and_what_to_do(subject, got, remedy):
    for verb in VERBS:
        said = message_of(verb, subject)
        assert said.startswith(verb.partition("(")[0])
        assert got in said
        assert remedy in said
        assert "drawn without" not in said
        assert "\n" not in said


@pytest.mark.parametrize(
    ("subject", "remedy"),
    [
        ("w.weights.h5", "model.load_weights('w.weights.h5'), then ks."),
        ("x.npz", "Make the model and load them into it, then ks."),
        ("x.pt2", "module = torch.export.load('x.pt2').module(), then ks."),
        ("run.jsonl", "kerascope.trace.tape.Tape.load('run.jsonl')"),
        ("train.py", "Import the function that makes the model"),
        ("resnet", "Give the model itself, ks."),
        (None, "does it return it?"),
    ],
)
def test_a_file_is_read_first_and_nothing_was_perhaps_not_returned(subject, remedy):
    for verb in VERBS:
        if not verb.startswith("compare") and not (subject is None and verb == "trace"):
            assert remedy in message_of(verb, subject)


def test_a_file_that_nobody_could_run_is_read_before_it_is_traced():
    for path, remedy in (
        ("x.keras", "model = ks.models.load_model('x.keras'), then ks.trace(model)."),
        ("m.json", "model_from_json(open('m.json').read()), then ks.trace(model)."),
    ):
        assert message_of("trace", path).endswith(remedy)


def test_a_module_of_pytorch_is_drawn_with_inputs_and_traced_without():
    assert message_of("draw", "x.pt").endswith("then ks.draw(module, inputs=x).")
    assert message_of("to_networkx", "x.pt").endswith("then ks.to_networkx(module, inputs=x).")
    assert message_of("walk", "x.pt").endswith("then ks.walk(module, x).")
    assert message_of("trace", "x.pt").endswith("then ks.trace(module).")


def test_a_layer_is_put_into_a_model():
    for verb in ("summary", "walk", "trace", "play", "compare", "compare(b)"):
        said = message_of(verb, Dense(3, name="d"))
        assert "model = ks.Sequential([layer]), then ks." in said


def test_one_thing_that_is_no_model_is_named_on_one_line():
    with pytest.raises(KerascopeError, match=r"expected two models, got one, dict of 2 entries\."):
        ks.compare(STATE)


@pytest.mark.live
def test_of_pytorch_a_class_weights_and_an_array_are_told():
    torch = pytest.importorskip("torch")

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = torch.nn.Linear(4, 3)

    state = Small().state_dict()
    for verb in VERBS:
        assert "model = Small(...), then ks." in message_of(verb, Small)
        for weights in (state, {"epoch": 3, "model": state}, list(state.values())):
            assert "Make the module and load them" in message_of(verb, weights)
        assert "Give the model" in message_of(verb, torch.ones(2, 4))


@pytest.mark.process
def test_a_library_that_is_missing_is_named_with_its_extra_by_each_verb():
    """In a Python that finds none of them, with things that look like theirs."""
    code = """
import importlib.util, sys
class Nowhere:
    def find_spec(self, name, path=None, target=None):
        if name in LIBRARIES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
LIBRARIES = ("torch", "keras", "onnx", "jax", "tensorflow", "flax", "equinox")
sys.meta_path.insert(0, Nowhere())
from tests.test_unsupported import VERBS, thing_of
import kerascope as ks
things = {
    "torch": [thing_of("torch.nn.modules.module", "Module")],
    "keras": [thing_of("keras.src.models", name) for name in ("Model", "Functional")],
    "onnx": ["model.onnx", thing_of("onnx.onnx_ml_pb2", "ModelProto")],
    "jax": [thing_of("flax.linen.module", "Module"), thing_of("equinox._module", "Module")],
}
for extra, subjects in things.items():
    for subject in subjects:
        for verb, call in VERBS.items():
            try:
                call(subject)
            except ks.errors.MissingToolError as error:
                assert f'pip install "kerascope[{extra}]"' in str(error), (verb, error)
            else:
                raise AssertionError((verb, subject))
print(*(name for name in LIBRARIES if name in sys.modules))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300,
        cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-2000:]
    assert result.stdout == "\n"
