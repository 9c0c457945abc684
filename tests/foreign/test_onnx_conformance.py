"""ONNX's own test models, and exports of PyTorch: all are drawn, and give what they should."""

import io
import warnings
from importlib import import_module

import numpy as np
import pytest

from kerascope.foreign.writer import TapeWriter

onnx = pytest.importorskip("onnx")
onnx_models = pytest.importorskip("kerascope.foreign.onnx_models")
onnx_runtime = pytest.importorskip("kerascope.foreign.onnx_runtime")
pytestmark = [pytest.mark.live, pytest.mark.slow]

OLD = ("test_scan_sum", "test_scatter_with")  # a Scan of opset 8, Scatter of opset 10
RANDOM = ("test_bernoulli", "test_randomnormal", "test_randomuniform", "test_multinomial")
# The evaluator gives other numbers than ONNX's files say; so do we.
EVALUATOR_S_OWN = ("test_if_opt", "test_quantizelinear_blocked_symmetric")
# So does onnxruntime: masks before softmax, float16, transforms to 1e-4, its own random numbers.
RUNTIME_S_OWN = (
    *("test_attention_4d_", "test_dft", "test_stft", "test_training_dropout"),
    *("test_maxunpool_export_with_output_shape", "test_resize_downsample_scales_"),
)


def is_same(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if one is None or other is None:
        return one is other
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind in "OUST":
        return one.tolist() == other.astype(one.dtype).tolist()
    if one.shape != other.shape:
        return False
    one, other = one.astype("float64"), other.astype("float64")
    return np.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("is_there", [False, True])
def test_all_models_of_onnx_s_own_tests_are_drawn_and_give_what_they_should(is_there, monkeypatch):
    if is_there:
        pytest.importorskip("onnxruntime")
    monkeypatch.setattr(onnx_runtime, "is_there", lambda: is_there)
    own = RUNTIME_S_OWN if is_there else ()
    wrong = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = import_module("onnx.backend.test.case.node").collect_testcases(None)
        cases = [one for one in cases if one.model is not None]
        for case in cases:
            drawn = {box.id for box in onnx_models.graph_of(case.model).nodes}
            if case.name.startswith((*OLD, *RANDOM, *EVALUATOR_S_OWN)):
                continue
            inputs, outputs = case.data_sets[0]
            if any(isinstance(one, onnx.TensorProto) for one in inputs):
                continue  # of types that NumPy has not
            writer = TapeWriter("all", None)
            found = onnx_models.record(case.model, *inputs, writer=writer)
            holds = any(node.attribute and any(a.HasField("g") for a in node.attribute)
                        for node in case.model.graph.node)  # fmt: skip
            if not all(map(is_same, found, outputs)) and not case.name.startswith(own):
                wrong.append(case.name)
            if not holds and drawn != {call.id for call in writer.calls}:
                wrong.append(f"{case.name}: drawn otherwise than run")
    assert len(cases) > 1000
    assert wrong == []


# --- exports of PyTorch ---------------------------------------------------------------------------


def residual(torch):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, ins, outs, stride):
            super().__init__()
            self.one = nn.Conv2d(ins, outs, 3, stride, 1, bias=False)
            self.norm = nn.BatchNorm2d(outs)
            self.two = nn.Conv2d(outs, outs, 3, 1, 1)
            self.beside = nn.Conv2d(ins, outs, 1, stride)

        def forward(self, x):
            y = self.two(torch.relu(self.norm(self.one(x))))
            return torch.relu(y + self.beside(x))

    parts = [nn.Conv2d(3, 8, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), Block(8, 8, 1)]
    parts += [Block(8, 16, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10)]
    return nn.Sequential(*parts).eval(), torch.randn(2, 3, 32, 32)


def encoder(torch):
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return model.eval(), torch.randn(2, 5, 16)


def recurrent(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(8, 6, 2, batch_first=True, bidirectional=True)
            self.scores = torch.nn.Linear(12, 3)

        def forward(self, x):
            return self.scores(self.lstm(x)[0][:, -1])

    return Net().eval(), torch.randn(2, 7, 8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dynamo", [False, True])
@pytest.mark.parametrize("build", [residual, encoder, recurrent])
def test_each_value_of_an_export_is_that_of_onnxruntime(build, dynamo):
    torch = pytest.importorskip("torch")
    runtime = pytest.importorskip("onnxruntime")
    if dynamo:
        pytest.importorskip("onnxscript")
    torch.manual_seed(0)
    module, x = build(torch)
    file = io.BytesIO()
    names = {"input_names": ["x"], "output_names": ["y"], "dynamo": dynamo}
    torch.onnx.export(module, (x,), file, **names)
    model = onnx.load_from_string(file.getvalue())
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    made = [one for node in model.graph.node for one in node.output if one]
    del shown.graph.output[:]
    shown.graph.output.extend(onnx.ValueInfoProto(name=one) for one in made)
    session = runtime.InferenceSession(shown.SerializeToString())
    expected = dict(zip(made, session.run(None, {"x": x.numpy()}), strict=True))
    writer = TapeWriter("all", None)
    (y,) = onnx_models.record(model, x.numpy(), writer=writer)
    np.testing.assert_allclose(y, module(x).detach().numpy(), rtol=1e-4, atol=1e-5)
    body = onnx_models.body_of(model, {})
    calls = {call.id: call for call in writer.calls}
    assert {box.id for box in onnx_models.graph_of(model).nodes} == set(calls)
    for step in body.steps:
        names_of = filter(None, step.outputs)
        for value, name in zip(calls[step.name].outputs, names_of, strict=True):
            np.testing.assert_allclose(value.array, expected[name], rtol=1e-4, atol=1e-5)
    weights = sum(one.numel() for one in module.parameters())
    drawn = onnx_models.graph_of(model).attrs["parameters"]
    assert weights * 0.9 < drawn < weights * 1.1  # norms are folded, gates get a second bias
