"""PyTorch and ONNX: what was planted is found at its call, and equal models are equal."""

import copy

import models_and_ports
import numpy as np
import pytest
from compared_models import images, keras_model, onnx_file, torch_module, weights

import kerascope as ks
from kerascope.cli.commands import main

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.live
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

# Which module of the port stands for which layer.
NAMES = {"conv1": "first", "norm": "bn", "conv2": "second", "dense1": "hidden", "dense2": "scores"}


def mine(arrays=None, **changes):
    return keras_model(ks.layers, ks.Model, arrays or weights(), **changes)


def port(arrays=None, **changes):
    return torch_module(torch, arrays or weights(), **changes)


def first(found):
    return found.first.a[0].id, found.first.b[0].id


def changed(module, name, place=0):
    with torch.no_grad():
        module.get_parameter(name).view(-1)[place] += 1
    return module


# --- kerascope and PyTorch ------------------------------------------------------------------------


def test_a_port_with_channels_first_is_equal():
    found = ks.compare(mine(), port(), images())
    assert found.equal, str(found)
    assert not found.only_a
    assert not found.only_b
    assert "b: its input was transposed: channels first" in found.notes
    pairs = {pair.name_a: pair.name_b for pair in found.pairs}
    assert pairs["conv1"] == "first + relu"
    assert pairs["dense1"] == "hidden + gelu"
    assert next(pair for pair in found.pairs if pair.name_a == "flat").layout == "reordered"


def test_a_shape_stands_for_the_same_numbers_on_both_sides(tmp_path):
    """Of whatever library the other side is."""
    shape = np.moveaxis(images(), -1, 1).shape
    path = onnx_file(pytest.importorskip("onnx"), port(), tmp_path / "port.onnx")
    for a, b in [(mine(), port()), (port(), mine()), (port(), path), (path, port())]:
        assert ks.compare(a, b, shape).equal
    assert not ks.compare(mine(), changed(port(), "first.weight", 3), shape).equal


@pytest.mark.parametrize("name", list(NAMES))
def test_one_weight_is_found_and_told(name):
    found = ks.compare(mine(), changed(port(), f"{NAMES[name]}.weight", 3), images())
    assert first(found) == (name, NAMES[name])
    assert "differs at one number of" in found.first.reasons[0]


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"epsilon": 1e-5}, "norm", "epsilon 0.001 in a, 1e-05 in b"),
        ({"approximate": "tanh"}, "dense1", "approximate no in a, yes in b"),
    ],
    ids=["epsilon", "gelu"],
)
def test_another_setting_is_found_and_told(changes, name, reason):
    found = ks.compare(mine(), port(**changes), images(), tolerance=1e-5)
    assert first(found) == (name, NAMES[name])
    assert reason in " ".join(found.first.reasons)


def test_the_padding_of_a_stride_is_told_in_numbers():
    x = ks.Input((8, 8, 3), name="x")
    model = ks.Model(x, ks.layers.Conv2D(4, 3, strides=2, padding="same", name="conv")(x))
    module = torch.nn.Conv2d(3, 4, 3, stride=2, padding=1)
    kernel, bias = model.get_weights()
    state = {"weight": kernel.transpose(3, 2, 0, 1), "bias": bias}
    module.load_state_dict({k: torch.tensor(v.copy()) for k, v in state.items()})
    found = ks.compare(model, module, images())
    assert found.first.a[0].id == "conv"
    told = "padding same (0 before and 1 after) in a, 1 in b"
    assert told in " ".join(found.first.reasons)


def test_a_kernel_transposed_in_height_and_width_is_told():
    module = port()
    with torch.no_grad():
        module.first.weight.copy_(module.first.weight.transpose(2, 3).clone())
    found = ks.compare(mine(), module, images())
    assert first(found) == ("conv1", "first")
    assert "holds the same numbers in the wrong order: transposed" in found.first.reasons[0]


def test_rows_that_were_not_permuted_behind_a_flatten_are_told():
    module = port()
    with torch.no_grad():
        module.hidden.weight.copy_(torch.tensor(weights()["dense1/kernel"].T.copy()))
    found = ks.compare(mine(), module, images())
    assert first(found) == ("dense1", "hidden")
    assert "the features are in another order" in found.first.reasons[0]


@pytest.mark.parametrize("name", ["conv1", "norm", "conv2"])
@pytest.mark.parametrize("seed", range(3))
def test_a_flatten_that_only_carries_a_difference_on_is_no_second_one(name, seed):
    """In another order of features, and as far apart as what it flattens."""
    found = ks.compare(mine(), changed(port(), f"{NAMES[name]}.weight", 3 + seed), images(seed))
    assert first(found) == (name, NAMES[name])
    pairs = {pair.name_a: pair for pair in found.pairs}
    assert pairs["flat"].verdict.value == "inputs differ"
    assert pairs["flat"].difference.relative == pytest.approx(pairs["add"].difference.relative)
    notes = [found.graph().node(one).attrs["note"] for one in ("flat", "dense1", "dense2")]
    assert all(note.startswith("inputs differ: ") for note in notes)


class Bare(torch.nn.Module):
    """A convolution, perhaps a normalization, and rows that are flattened."""

    def __init__(self, has_norm):
        super().__init__()
        self.conv, self.scores = torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.Linear(256, 3)
        self.norm = torch.nn.BatchNorm2d(4, eps=0.1) if has_norm else torch.nn.Identity()

    def forward(self, x):
        return self.scores(self.norm(self.conv(x)).flatten(1))


@pytest.mark.parametrize("of_mine", [False, True])
def test_a_layer_that_only_one_has_before_a_flatten_differs_by_what_it_does(of_mine):
    x = ks.Input((8, 8, 3), name="x")
    h = ks.layers.Conv2D(4, 3, padding="same", name="conv")(x)
    h = ks.layers.BatchNormalization(epsilon=0.1, name="norm")(h) if of_mine else h
    h = ks.layers.Flatten(name="flat")(h)
    model = models_and_ports.fill(ks.Model(x, ks.layers.Dense(3, name="scores")(h)), 2)
    if of_mine:
        norm = model.get_layer("norm")
        norm.set_weights([np.ones(4), np.zeros(4), np.zeros(4), np.ones(4)])
    module = Bare(not of_mine).eval()
    kernel, bias = model.get_layer("conv").get_weights()
    rows, shift = model.get_layer("scores").get_weights()
    rows = rows.reshape(8, 8, 4, 3).transpose(3, 2, 0, 1).reshape(3, 256)
    with torch.no_grad():
        for parameter, array in (
            (module.conv.weight, kernel.transpose(3, 2, 0, 1)), (module.conv.bias, bias),
            (module.scores.weight, rows), (module.scores.bias, shift),
        ):  # fmt: skip
            parameter.copy_(torch.tensor(np.ascontiguousarray(array)))
    found = ks.compare(model, module, images())
    assert found.first.name_a == "flat"
    assert found.first.difference.relative == pytest.approx(1 - 1.1**-0.5, rel=0.01)
    assert f"only {'a' if of_mine else 'b'} has before it: " in found.first.reasons[0]


# --- PyTorch and PyTorch --------------------------------------------------------------------------


def test_float16_beside_float32_is_equal_within_its_tolerance():
    x = torch.tensor(images(first=True))
    half = port().half()
    found = ks.compare(port(), half, x, x_b=x.half())
    assert found.equal, str(found)
    assert found.tolerance.dtype == "float16"
    found = ks.compare(port(), changed(half, "second.weight", 5), x, x_b=x.half())
    assert first(found) == ("second", "second")


def test_a_causal_mask_that_was_dropped_is_found():
    class Attending(torch.nn.Module):
        def __init__(self, is_causal):
            super().__init__()
            self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in range(3))
            self.out = torch.nn.Linear(8, 8)
            self.is_causal = is_causal

        def forward(self, x):
            attend = torch.nn.functional.scaled_dot_product_attention
            h = attend(self.q(x), self.k(x), self.v(x), is_causal=self.is_causal)
            return self.out(h)

    torch.manual_seed(0)
    one, other = Attending(True), Attending(False)
    other.load_state_dict(one.state_dict())
    x = torch.randn(2, 5, 8)
    assert ks.compare(one, copy.deepcopy(one), x).equal
    found = ks.compare(one, other, x)
    assert found.first.a[0].op == "scaled_dot_product_attention"
    assert "is_causal yes in a, no in b" in " ".join(found.first.reasons)


def test_one_projection_beside_three_is_equal():
    class Three(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v = (torch.nn.Linear(8, 8) for _ in range(3))
            self.out = torch.nn.Linear(8, 4)

        def forward(self, x):
            attend = torch.nn.functional.scaled_dot_product_attention
            return self.out(attend(self.q(x), self.k(x), self.v(x)))

    class One(torch.nn.Module):
        def __init__(self, three):
            super().__init__()
            self.qkv = torch.nn.Linear(8, 24)
            self.out = copy.deepcopy(three.out)
            parts = (three.q, three.k, three.v)
            with torch.no_grad():
                self.qkv.weight.copy_(torch.cat([part.weight for part in parts]))
                self.qkv.bias.copy_(torch.cat([part.bias for part in parts]))

        def forward(self, x):
            attend = torch.nn.functional.scaled_dot_product_attention
            return self.out(attend(*self.qkv(x).chunk(3, -1)))

    torch.manual_seed(0)
    three = Three()
    x = torch.randn(2, 5, 8)
    assert ks.compare(three, One(three), x).equal
    found = ks.compare(three, changed(One(three), "qkv.weight", 8 * 10 + 3), x)
    assert first(found) == ("k", "qkv")


@pytest.mark.parametrize("name", ["unet", "lstm"])
def test_models_that_nobody_here_wrote_are_equal_until_one_weight_changes(name):
    models = pytest.importorskip("torch_models")
    torch.manual_seed(0)
    module, inputs = models.MODELS[name]()
    assert ks.compare(module, copy.deepcopy(module), tuple(inputs)).equal
    random = np.random.default_rng(0)
    names = [key for key, _ in module.named_parameters()]
    for number in random.choice(len(names), 5, replace=False):
        key = names[number]
        place = int(random.integers(module.get_parameter(key).numel()))
        found = ks.compare(module, changed(copy.deepcopy(module), key, place), tuple(inputs))
        assert found.first is not None, key
        assert key.startswith(found.first.b[0].name), (key, str(found))


# --- several calls for one ------------------------------------------------------------------------


class OwnAttention(torch.nn.Module):
    """What MultiHeadAttention does in one layer: two heads, with a causal mask."""

    def __init__(self, arrays, *, is_causal=True, fused=False, by_hand=False):
        super().__init__()
        self.is_causal, self.by_hand = is_causal, by_hand
        q, qb, k, kb, v, vb, out, bias = (a.reshape(-1, 8) if a.ndim > 2 else a for a in arrays)
        kernels, biases = [a.reshape(8, 8) for a in (q, k, v)], [b.ravel() for b in (qb, kb, vb)]
        if fused:
            self.qkv = self._linear(np.concatenate(kernels, 1), np.concatenate(biases))
        else:
            self.q, self.k, self.v = map(self._linear, kernels, biases)
        self.out = self._linear(out.reshape(8, 8), bias)
        self.fused = fused

    def _linear(self, kernel, bias):
        made = torch.nn.Linear(*kernel.shape)
        made.weight.data = torch.tensor(np.ascontiguousarray(kernel.T))
        made.bias.data = torch.tensor(np.ascontiguousarray(bias))
        return made

    def forward(self, x):
        parts = self.qkv(x).chunk(3, -1) if self.fused else (self.q(x), self.k(x), self.v(x))
        q, k, v = (part.view(2, 5, 2, 4).transpose(1, 2) for part in parts)
        if self.by_hand:
            scores = q @ k.transpose(-1, -2) / 2
            if self.is_causal:
                later = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
                scores = scores.masked_fill(later, float("-inf"))
            heads = scores.softmax(-1) @ v
        else:
            attend = torch.nn.functional.scaled_dot_product_attention
            heads = attend(q, k, v, is_causal=self.is_causal)
        return torch.relu(x + self.out(heads.transpose(1, 2).reshape(2, 5, 8)))


@pytest.fixture
def attention():
    x = ks.Input((5, 8), name="x")
    h = ks.layers.MultiHeadAttention(2, 4, name="att")(x, x, use_causal_mask=True)
    model = ks.Model(x, ks.layers.ReLU(name="end")(ks.layers.Add(name="add")([x, h])))
    return models_and_ports.fill(model, 4)


TOKENS = np.random.default_rng(3).normal(size=(2, 5, 8)).astype("float32")


@pytest.mark.parametrize("fused", [False, True], ids=["three", "fused"])
@pytest.mark.parametrize("by_hand", [False, True], ids=["in one call", "by hand"])
def test_an_attention_in_one_layer_stands_beside_all_its_calls(attention, fused, by_hand):
    arrays = attention.get_weights()
    options = {"fused": fused, "by_hand": by_hand}
    assert ks.compare(attention, OwnAttention(arrays, **options), TOKENS).equal
    for number, name in ((0, "query/kernel"), (5, "value/bias"), (6, "attention_output/kernel")):
        others = [array.copy() for array in arrays]
        others[number].flat[3] += 1
        found = ks.compare(attention, OwnAttention(others, **options), TOKENS)
        assert found.first.name_a == "att", str(found)
        assert found.first.name_b.endswith(" to out")
        assert f"att.{name} (" in found.first.reasons[0]
        assert "differs at one number of" in found.first.reasons[0]
        assert [pair.verdict.value for pair in found.pairs[-2:]] == ["inputs differ"] * 2
    found = ks.compare(attention, OwnAttention(arrays, is_causal=False, **options), TOKENS)
    assert found.first.name_a == "att", str(found)
    assert "is_causal yes in a" in found.first.reasons[0]
    turned = [arrays[0].reshape(8, 8).T.reshape(8, 2, 4), *arrays[1:]]
    found = ks.compare(attention, OwnAttention(turned, **options), TOKENS)
    assert "in the wrong order: they are in the order of a" in found.first.reasons[0]
    assert ks.compare(OwnAttention(arrays, **options), attention, TOKENS).equal


def test_a_group_is_told_in_words_that_a_line_holds(attention):
    arrays = attention.get_weights()
    one = OwnAttention(arrays)
    others = [array.copy() for array in arrays]
    others[2].flat[5] = -0.123456
    found = ks.compare(one, OwnAttention(others, by_hand=True), torch.tensor(TOKENS))
    assert found.first.name_a == "k"
    attention.set_weights(others)
    found = ks.compare(one, attention, torch.tensor(TOKENS))
    assert found.first.name_a == "q to out"
    marks = {call.id: found.graph().node(call.id).attrs for call in found.first.a}
    assert {one["state"] for one in marks.values()} == {"failed"}
    assert "differs first" in str(marks["out"])
    assert "part of this group" in str(marks["q"])
    assert "k.weight (att.key/kernel in b) differs at one number" in found.graph().attrs["caption"]
    for width in range(60, 120, 3):
        assert any("-0.1235" in line for line in found.lines(width))


def test_a_mask_dropped_by_hand_is_found_in_the_calls_between(attention):
    arrays = attention.get_weights()
    one = OwnAttention(arrays)
    for fused in (False, True):
        other = OwnAttention(arrays, is_causal=False, fused=fused, by_hand=True)
        found = ks.compare(one, other, torch.tensor(TOKENS))
        assert found.first.name_a == "scaled_dot_product_attention", str(found)
        assert {"softmax", "matmul"} <= {call.op for call in found.first.b}
        assert not {"Linear", "view"} & {call.op for call in found.first.b}


def test_calls_that_only_their_sizes_would_pair_are_no_first_difference(attention):
    """The product by hand has one transposition more, of the keys; the other mask begins later."""
    arrays = attention.get_weights()
    one = OwnAttention(arrays, by_hand=True)
    found = ks.compare(one, OwnAttention(arrays, is_causal=False), torch.tensor(TOKENS))
    assert found.first.name_b == "scaled_dot_product_attention"
    assert {"masked_fill", "softmax"} <= {call.op for call in found.first.a}


def test_a_normalization_folded_by_the_exporter_is_compared_with_both():
    def build():
        torch.manual_seed(1)
        parts = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU()
        module = torch.nn.Sequential(*parts, torch.nn.Conv2d(4, 2, 1)).eval()
        module[1].running_var += 0.5
        module[1].running_mean += 0.3
        return module

    folded = build()
    norm, folded[1] = folded[1], torch.nn.Identity()
    folded[0] = torch.nn.utils.fusion.fuse_conv_bn_eval(folded[0], norm)
    x = torch.tensor(images(first=True))
    assert ks.compare(folded, build(), x).equal
    other = build()
    with torch.no_grad():
        other[1].weight[2] += 1
    for pair, word in (((folded, other), "b"), ((other, folded), "a")):
        first = ks.compare(*pair, x).first
        calls = {"a": first.a, "b": first.b}[word]
        assert [call.op for call in calls] == ["Conv2d", "BatchNorm2d"]
        assert f"has 1 of {word} folded into the weights of 0" in first.reasons[0]
        assert "differs at 27 of 108 numbers" in first.reasons[1]
    other = build()
    with torch.no_grad():
        other[0].weight[1, 2, 0, 1] += 1
    told = ks.compare(folded, other, x).first.reasons
    assert "differs at one number of 108" in told[1]
    assert "[1, 2, 0, 1]" in told[1]


def test_tensors_of_torch_are_inputs_of_any_side():
    words = torch.tensor([[1, 2, 3]])
    module = torch.nn.Embedding(9, 4)
    x = ks.Input((3,), dtype="int32")
    model = ks.Model(x, ks.layers.Embedding(9, 4)(x))
    model.set_weights([module.weight.detach().numpy()])
    assert ks.compare(module, model, words).equal
    assert ks.compare(model, module, words).equal


# --- ONNX -----------------------------------------------------------------------------------------


@pytest.fixture
def onnx():
    return pytest.importorskip("onnx")


def test_an_onnx_file_and_its_module_are_equal(onnx, tmp_path):
    path = onnx_file(onnx, port(), tmp_path / "port.onnx")
    found = ks.compare(path, port(), images(first=True))
    assert found.equal, str(found)
    assert not found.only_a
    assert not found.only_b
    assert "MatMul_9 + Add_10" in [pair.name_a for pair in found.pairs]


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"epsilon": 1e-5}, "bn", "epsilon 1e-05 in a, 0.001 in b"),
        ({"gelu": "tanh"}, "gelu", "approximate yes in a, no in b"),
        ({"pads": (0, 0, 2, 2)}, "first", "padding"),
    ],
    ids=["epsilon", "gelu", "padding"],
)
def test_another_setting_of_a_node_is_found_and_told(onnx, tmp_path, changes, name, reason):
    path = onnx_file(onnx, port(), tmp_path / "port.onnx", **changes)
    found = ks.compare(path, port(), images(first=True), tolerance=1e-5)
    assert found.first.b[0].id == name
    assert reason in " ".join(found.first.reasons)


@pytest.mark.parametrize("name", list(NAMES.values()))
def test_one_weight_of_a_file_is_found_and_told(onnx, tmp_path, name):
    path = onnx_file(onnx, changed(port(), f"{name}.weight", 3), tmp_path / "port.onnx")
    found = ks.compare(path, port(), images(first=True))
    assert found.first.b[0].id == name
    assert "differs at one number of" in found.first.reasons[0]


def test_a_product_of_onnx_says_how_its_weights_lie(onnx, tmp_path):
    arrays = weights()
    square = arrays["dense2/kernel"] = np.random.default_rng(1).normal(size=(10, 10))
    arrays = {name: array.astype("float32") for name, array in arrays.items()}
    arrays["dense2/bias"] = np.zeros(10, "float32")

    def module(kernel):
        made = port({**arrays, "dense2/kernel": weights()["dense2/kernel"],
                     "dense2/bias": weights()["dense2/bias"]})  # fmt: skip
        made.scores = torch.nn.Linear(10, 10)
        made.scores.weight.data = torch.tensor(np.ascontiguousarray(kernel.T, "float32"))
        made.scores.bias.data = torch.zeros(10)
        return made

    path = onnx_file(onnx, module(square), tmp_path / "port.onnx")  # a MatMul, inputs first
    assert ks.compare(path, module(square), images(first=True)).equal
    found = ks.compare(path, module(square.T), images(first=True))
    assert "in the wrong order" in found.first.reasons[0]


@pytest.mark.filterwarnings("ignore")
def test_outputs_of_a_recurrent_layer_that_lie_otherwise_are_no_difference(tmp_path):
    pytest.importorskip("onnx")

    class Last(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(5, 4, batch_first=True, bidirectional=True)
            self.gru = torch.nn.GRU(8, 3, batch_first=True)
            self.out = torch.nn.Linear(3, 2)

        def forward(self, x):
            return self.out(self.gru(self.lstm(x)[0])[0][:, -1])

    torch.manual_seed(0)
    module, x = Last().eval(), torch.randn(2, 7, 5)
    torch.onnx.export(module, (x,), str(tmp_path / "last.onnx"), dynamo=False)
    found = ks.compare(tmp_path / "last.onnx", module, x)
    assert found.equal, str(found)
    found = ks.compare(tmp_path / "last.onnx", changed(module, "lstm.weight_hh_l0", 5), x)
    assert found.first.b[0].id == "lstm"


def test_a_keras_file_and_an_onnx_file_are_compared_by_the_command(onnx, tmp_path, capsys):
    path, other = tmp_path / "mine.keras", tmp_path / "port.onnx"
    mine().save(path)
    onnx_file(onnx, port(), other)
    assert main(["compare", str(path), str(other)]) == 0
    onnx_file(onnx, changed(port(), "scores.weight", 3), other)
    assert main(["compare", str(path), str(other)]) == 1
    assert "first difference: dense2 in a" in capsys.readouterr().out


def normalized():
    torch.manual_seed(0)
    layers = torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)
    return torch.nn.Sequential(*layers).eval(), torch.randn(8, 4)


def test_a_running_mean_that_was_forgotten_is_named():
    model, x = normalized()
    port = copy.deepcopy(model)
    port[1].running_mean[2] = 0.3
    found = ks.compare(model, port, x)
    assert "running_mean differs at one number of 4: running_mean[2]" in str(found)


def test_a_model_in_training_mode_is_told():
    model, x = normalized()
    assert "training no in a, yes in b" in str(ks.compare(model, copy.deepcopy(model).train(), x))


def test_models_that_give_one_number_are_compared():
    class Mean(torch.nn.Linear):
        def forward(self, x):
            return super().forward(x).mean()

    torch.manual_seed(0)
    found = ks.compare(Mean(4, 4), Mean(4, 4), torch.ones(2, 4))
    assert not found.equal


# --- the cause is told ----------------------------------------------------------------------------


class Chosen(torch.nn.Module):
    """Two layers with one operation between them."""

    def __init__(self, between):
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 2)
        self.between = between

    def forward(self, x):
        return self.last(self.between(self.first(x)))


def two_of(between, other):
    """Return two models with the same weights, and other operations between their layers."""
    torch.manual_seed(0)
    a = Chosen(between)
    b = Chosen(other)
    for name in ("first", "last"):
        getattr(b, name).load_state_dict(getattr(a, name).state_dict())
    return a, b


class Times(torch.nn.Module):
    def __init__(self, factor, is_parameter):
        super().__init__()
        factor = torch.tensor(factor)
        if is_parameter:
            self.factor = nn.Parameter(factor)
        else:
            self.register_buffer("factor", factor)
        self.inner = nn.Identity()  # a frame, so that the product is a call of its own

    def forward(self, x):
        return self.inner(x) * self.factor


CAUSES = {
    "factor": (lambda h: h * 0.35, lambda h: h * 0.17, "0.35 in a, 0.17 in b"),
    "shift": (lambda h: 1.5 + h, lambda h: 2.5 + h, "1.5 in a, 2.5 in b"),
    "divisor": (lambda h: h / 0.5, lambda h: h / 0.25, "0.5 in a, 0.25 in b"),
    "power": (lambda h: 10.0**h, lambda h: 5.0**h, "10.0 in a, 5.0 in b"),
    "axis": (lambda h: h.softmax(1), lambda h: h.softmax(0), "1 in a, 0 in b"),
    "named axis": (
        lambda h: F.softmax(h, dim=1), lambda h: F.softmax(h, dim=0), "dim 1 in a, 0 in b",
    ),
    "function": (
        lambda h: F.leaky_relu(h, 0.3), lambda h: F.leaky_relu(h), "0.3 in a, 0.01 in b",
    ),
    "clamp": (lambda h: h.clamp(max=0.1), lambda h: h.clamp(max=0.2), "max 0.1 in a, 0.2 in b"),
    "only one": (
        lambda h: h.clamp(max=0.1), lambda h: h.clamp(max=0.1, min=0.0), "min is 0 in b",
    ),
    "buffer": (Times(0.35, False), Times(0.17, False), "factor is 0.35 in a, 0.17 in b"),
    "parameter": (Times(0.35, True), Times(0.17, True), "factor is 0.35 in a, 0.17 in b"),
    "constant": (
        lambda h: h * torch.tensor(0.35), lambda h: h * torch.tensor(0.17), "is 0.35 in a, 0.17 in",
    ),
    "module": (nn.Softmax(1), nn.Softmax(0), "dim 1 in a, 0 in b"),
    "default": (nn.ELU(), nn.ELU(alpha=0.5), "alpha is 0.5 in b, not set in a"),
}  # fmt: skip


@pytest.mark.parametrize(("between", "other", "words"), CAUSES.values(), ids=CAUSES)
def test_constants_and_arguments_of_functions_are_told_as_the_cause(between, other, words):
    a, b = two_of(between, other)
    x = torch.linspace(-1, 1, 16).reshape(4, 4)
    found = ks.compare(a, b, x)
    assert words in "; ".join(found.first.reasons), found.first.reasons
    assert ks.compare(a, copy.deepcopy(a), x).equal


def test_a_padding_mode_is_told_as_the_cause():
    torch.manual_seed(0)
    a, b = (nn.Conv2d(3, 4, 3, padding=1, padding_mode=mode) for mode in ("zeros", "reflect"))
    b.load_state_dict(a.state_dict())
    found = ks.compare(nn.Sequential(a), nn.Sequential(b), torch.randn(1, 3, 8, 8))
    assert found.first.reasons == ("padding_mode is reflect in b, not set in a",)


def test_a_port_that_scales_elsewhere_is_equal_though_its_factors_are_others():
    a, b = two_of(lambda h: (h * 0.5).relu() * 0.5, lambda h: (h * 0.25).relu())
    assert ks.compare(a, b, torch.randn(4, 4)).equal


class Rotary(torch.nn.Module):
    """Attention with rotary places, and a norm and a block that can be left out."""

    def __init__(self, theta=10_000.0, is_buffer=False, width=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        for name in "qkvo":
            setattr(self, name, nn.Linear(width, width))
        self.theta, self.has_norm = theta, True
        if is_buffer:
            self.register_buffer("rates", self.rates_of(width), persistent=False)

    def rates_of(self, width):
        return self.theta ** -(torch.arange(0, width, 2) / width)

    def turned(self, x):
        rates = self.rates if hasattr(self, "rates") else self.rates_of(x.shape[-1])
        angles = torch.arange(x.shape[-2])[:, None] * rates
        even, odd = x[..., 0::2], x[..., 1::2]
        cos, sin = angles.cos(), angles.sin()
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)

    def forward(self, x):
        h = self.norm(x) if self.has_norm else x
        q, k, v = self.q(h), self.k(h), self.v(h)
        weights = (self.turned(q) @ self.turned(k).transpose(-1, -2) / 8**0.5).softmax(-1)
        return x + self.o(weights @ v)


class Blocks(torch.nn.Module):
    def __init__(self, skip=None, **options):
        super().__init__()
        self.blocks = nn.ModuleList(Rotary(**options) for _ in range(3))
        self.skip = skip

    def forward(self, x):
        for number, block in enumerate(self.blocks):
            if number != self.skip:
                x = block(x)
        return x


def blocks(change=None, **options):
    """Return blocks with the weights that they always have, and one thing changed."""
    torch.manual_seed(0)
    module = Blocks(**options)
    with torch.no_grad():
        for one in module.parameters():
            one.copy_(torch.randn(one.shape) * 0.5)
    if change is not None:
        change(module.blocks[1])
    return module


def swap_modules(block):
    block.q, block.k = block.k, block.q


def swap_kernels(block):
    kernels = block.q.weight, block.v.weight
    block.q.weight, block.v.weight = kernels[::-1]


def leave_out_the_norm(block):
    block.has_norm = False


PLACED = {
    "q and k": (blocks, {"change": swap_modules}, "blocks.1.q", "q and blocks.1.k are swapped"),
    "kernels": (blocks, {"change": swap_kernels}, "blocks.1.q", "q and blocks.1.v are swapped"),
    "norm": (blocks, {"change": leave_out_the_norm}, "blocks.1.", "before it: blocks.1.norm (Lay"),
    "block": (blocks, {"skip": 1}, "blocks.2.norm", "only a has before it: blocks.1 (Rotary)"),
    "last": (blocks, {"skip": 2}, "blocks.2/add", "only a continues with: blocks.2 (Rotary)"),
    "theta": (blocks, {"theta": 500.0}, "blocks.0/", "10000.0 in a, 500.0 in b"),
    "rates": (blocks, {"theta": 500.0, "is_buffer": True}, "blocks.0/mul", "rates differs at"),
}


@pytest.mark.parametrize(("make", "options", "name", "words"), PLACED.values(), ids=PLACED)
def test_swapped_weights_a_dropped_layer_and_another_theta_are_placed(make, options, name, words):
    """The first difference is where it was made, and the reason names the layers."""
    x = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(1))
    is_buffer = options.get("is_buffer", False)
    found = ks.compare(make(is_buffer=is_buffer), make(**options), x)
    assert found.first.name_a.startswith(name), (found.first.name_a, found.first.reasons)
    assert words in "; ".join(found.first.reasons), found.first.reasons
    assert not [one for one in found.first.reasons if "no difference found" in one]


def test_layers_under_each_others_names_are_no_difference_where_nothing_differs():
    class Sum(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.p, self.q = nn.Linear(4, 4), nn.Linear(4, 4)

        def forward(self, x):
            return self.p(x) + self.q(x)

    torch.manual_seed(0)
    a = Sum()
    b = copy.deepcopy(a)
    b.p, b.q = b.q, b.p
    assert ks.compare(a, b, torch.randn(3, 4)).equal
