"""Living figures: the numbers in a figure are read back from its SVG and compared with arrays.

The arrays to compare with are those that plain models compute: a model that ends at the layer.
"""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from figure_models import elements, lenet, mlp, unet
from png_reading import png_read

import kerascope as ks
from kerascope import layers as L
from kerascope.cli.commands import main
from kerascope.errors import ArgumentError, DataError
from kerascope.models import Model, Sequential
from kerascope.viz.roles import color_of

ODD = {251: np.nan, 252: np.inf, 253: -np.inf}


def images_of(svg):
    """Return the images of an SVG by their names, as arrays of numbers, and the scales' ends."""
    found = {}
    for one in elements(svg, "image"):
        name, _, words = one.get("data-name").rpartition(": ")
        ends = re.match(r"(\S+) to ([^\s,]+)", words)
        if not name or not ends:
            continue  # the colours of the key
        low, high = map(float, ends.groups())
        levels, _ = png_read(base64.b64decode(one.get("href").partition(",")[2]))
        numbers = low + levels / 250 * (high - low)
        for level, value in ODD.items():
            numbers[levels == level] = value
        found[name] = numbers, high - low
    return found


def assert_shown(found, name, expected):
    """Assert that an image shows the numbers of a matrix, to the precision of its colours."""
    numbers, width = found[name]
    assert numbers.shape == expected.shape
    np.testing.assert_allclose(numbers, expected, atol=width * 0.0025)


def output_of(model, name, x):
    """Return the output of a layer, which a model that ends at this layer computes."""
    end = next(layer for layer in model.layers if layer.name == name)
    return Model(model.inputs, end.output).predict(x)


def values_of_bars(svg):
    """Return the numbers of the output as the SVG says them, by class."""
    texts = [one for one in elements(svg, "text") if one.get("data-value")]
    return {int(one.get("data-class")): float(one.get("data-value")) for one in texts}


@pytest.fixture(scope="module")
def digit():
    return np.random.RandomState(0).rand(1, 32, 32, 1).astype("float32")


@pytest.mark.parametrize("width", ["84mm", "174mm"])
def test_each_sheet_of_lenet_is_a_feature_map(digit, width):
    model = lenet()
    figure = ks.draw(model, style="figure", values=digit, width=width)
    found = images_of(figure.svg)
    assert_shown(found, "input", digit[0, :, :, 0])
    for name, maps in (("C1", 6), ("S2", 6), ("C3", 16), ("S4", 16)):
        output = output_of(model, name, digit)[0]
        drawn = [int(one.split()[2]) for one in found if one.startswith(f"{name}, map")]
        strength = np.abs(output).mean(axis=(0, 1))
        assert sorted(drawn) == sorted(np.argsort(-strength)[:8].tolist())
        for index in drawn:
            assert_shown(found, f"{name}, map {index} of {maps}", output[:, :, index])
    for name in ("C5", "F6"):
        assert_shown(found, name, output_of(model, name, digit)[0][:, None])
    bars, output = values_of_bars(figure.svg), model.predict(digit)[0]
    chosen = range(10) if width == "174mm" else np.argsort(-output)[:5].tolist()
    assert bars == pytest.approx({i: output[i] for i in chosen}, rel=1e-5)
    assert "probabilities" in figure.legend
    assert "8 maps of a layer, the figure shows the 8 with the largest mean" in figure.legend


def test_the_length_of_a_bar_is_its_probability(digit):
    figure = ks.draw(lenet(), style="figure", values=digit)
    marks = [one for one in elements(figure.svg, "path") if one.get("data-value")]
    lengths = []
    for one in marks:
        across = [
            float(place.split(",")[0]) for place in re.findall(r"[\d.]+,[\d.]+", one.get("d"))
        ]
        lengths.append(max(across) - min(across))
    values = [float(one.get("data-value")) for one in marks]
    ratios = [a / b for a, b in zip(lengths, values, strict=True) if b > 0.02]
    assert ratios
    np.testing.assert_allclose(ratios, ratios[0], rtol=0.02)


def test_the_same_figure_twice_is_the_same_to_the_byte(digit):
    model = lenet()
    one, other = (ks.draw(model, style="figure", values=digit) for _ in range(2))
    assert one.svg == other.svg
    assert one.to_format("pdf") == other.to_format("pdf")


def test_a_batch_shows_its_first_sample_and_says_so(digit):
    model = lenet()
    batch = np.concatenate([digit, 1 - digit, digit * 2])
    figure = ks.draw(model, style="figure", values=batch)
    assert "sample 0 of 3 samples" in figure.legend
    assert "sample 0 of 3" in figure.svg
    assert images_of(figure.svg)["input"][0] == pytest.approx(digit[0, :, :, 0], abs=0.01)
    other = ks.draw(model, style="figure", values=batch[1:2])
    assert "sample 0" not in other.legend
    assert_shown(images_of(other.svg), "input", 1 - digit[0, :, :, 0])


def test_a_u_shows_the_strongest_map_of_each_place():
    model = unet(size=32, first=8)
    x = np.random.RandomState(1).rand(1, 32, 32, 1).astype("float32")
    figure = ks.draw(model, style="figure", values=x)
    assert figure.form == "u"
    found = images_of(figure.svg)
    assert len(found) == 12
    shown = [one for one in elements(figure.svg, "path") if one.get("data-map")]
    assert len(shown) == 12
    names = {name.partition(", ")[0] for name in found}
    ends = [layer for layer in model.layers if layer.name in names]
    outputs = Model(model.inputs, [layer.output for layer in ends]).predict(x)
    outputs = {layer.name: output[0] for layer, output in zip(ends, outputs, strict=True)}
    for name, (numbers, width) in found.items():
        layer, _, which = name.partition(", ")
        if not which:
            continue
        output = outputs[layer]
        index, total = int(which.split()[1]), output.shape[-1]
        assert which == f"map {index} of {total}"
        assert index == np.abs(output).mean(axis=(0, 1)).argmax()
        steps = -(-output.shape[0] // numbers.shape[0])
        np.testing.assert_allclose(numbers, output[::steps, ::steps, index], atol=width * 0.0025)
    layers = {x for one in shown for x in one.get("data-layers").split("\n")}
    hidden = {layer.name for layer in model.layers if "max_pool" in layer.name}
    hidden |= {layer.name for layer in model.layers if "transpose" in layer.name}
    assert {layer.name for layer in model.layers} - layers <= hidden


def test_neurons_have_the_colours_of_their_numbers():
    model = mlp()
    x = np.array([[1.0, -2.0, 0.5, 0.0]])
    figure = ks.draw(model, style="figure", values=x, class_names=["a", "b", "c"])
    assert figure.form == "neurons"
    circles = [one for one in elements(figure.svg, "circle") if one.get("data-unit")]
    expected = [round((value / 2 + 1) / 2 * 250) for value in x[0]]
    fills = [one.get("fill") for one in circles[:4]]
    assert fills == [color_of(f"d-{level}", "light") for level in expected]
    output = model.predict(x)[0]
    assert values_of_bars(figure.svg) == pytest.approx(dict(enumerate(output)), rel=1e-5)
    assert f"b: {output[1]:.3f}" in figure.svg


def test_neurons_of_a_long_vector_have_their_own_colours():
    model = Sequential([L.Input(shape=(600,)), L.Dense(3)])
    x = np.arange(-300.0, 300.0)[None]
    figure = ks.draw(model, style="figure", figure="neurons", values=x)
    circles = [one for one in elements(figure.svg, "circle") if one.get("data-unit")][:-3]
    units = [int(one.get("data-unit")) for one in circles]
    assert units[:2] == [0, 1]
    assert units[-1] == 599
    expected = [f"d-{round((x[0, unit] / 300 + 1) / 2 * 250)}" for unit in units]
    assert [one.get("fill") for one in circles] == [color_of(one, "light") for one in expected]
    assert "thinned" not in figure.legend


def reader():
    tokens = L.Input((9,), dtype="int32", name="tokens")
    x = L.Embedding(20, 6, name="embedded")(tokens)
    x = L.LSTM(5, return_sequences=True, name="first")(x)
    x = L.LSTM(4, name="second")(x)
    return Model(tokens, L.Dense(3, name="score")(x), name="reader")


def test_a_recurrent_layer_shows_its_state_after_each_step():
    model = reader()
    x = np.arange(9)[None] % 20
    figure = ks.draw(model, style="figure", values=x)
    assert figure.form == "columns"
    found = images_of(figure.svg)
    assert_shown(found, "embedded", output_of(model, "embedded", x)[0].T)
    assert_shown(found, "first", output_of(model, "first", x)[0].T)
    numbers, width = found["second"]  # it returns only its last state
    assert numbers.shape == (4, 9)
    last = output_of(model, "second", x)[0]
    np.testing.assert_allclose(numbers[:, -1], last, atol=width * 0.0025)
    assert "whose sum is not 1" in figure.legend
    scores = model.predict(x)[0]
    assert values_of_bars(figure.svg) == pytest.approx(dict(enumerate(scores)), rel=1e-5)


def test_attention_shows_the_weights_of_its_heads():
    x = L.Input((7, 8), name="x")
    attended = L.MultiHeadAttention(2, 4, name="attention")(x, x, use_causal_mask=True)
    model = Model(x, L.Add(name="sum")([x, attended]), name="block")
    values = np.random.RandomState(2).randn(1, 7, 8)
    figure = ks.draw(model, style="figure", values=values, figure="blocks")
    found = images_of(figure.svg)
    layer = model.get_layer("attention")
    other = L.MultiHeadAttention(2, 4)
    whole = L.Input((7, 8))
    outputs = other(whole, whole, use_causal_mask=True, return_attention_scores=True)
    other.set_weights(layer.get_weights())
    weights = Model(whole, outputs[1]).predict(values)[0]
    for head in (0, 1):
        assert_shown(found, f"attention, head {head} of 2", weights[head])
        assert np.triu(found[f"attention, head {head} of 2"][0], 1) == pytest.approx(0, abs=0.005)
    assert "a row for each query" in figure.legend


def test_repeated_blocks_show_the_last_of_them_and_say_so():
    x = inputs = L.Input((8, 8, 4))
    for number in range(3):
        y = L.Conv2D(4, 3, padding="same", activation="relu", name=f"a_{number}")(x)
        x = L.Add(name=f"add_{number}")([x, L.Conv2D(4, 3, padding="same", name=f"b_{number}")(y)])
    model = Model(inputs, x)
    values = np.random.RandomState(3).randn(1, 8, 8, 4)
    figure = ks.draw(model, style="figure", values=values)
    found = images_of(figure.svg)
    assert not any(name.startswith(("a_0", "a_1")) for name in found)
    assert_shown(found, "a_2, map 1 of 4", output_of(model, "a_2", values)[0, :, :, 1])
    assert "those of the last of them" in figure.legend


def test_nan_and_infinity_are_seen():
    model = Sequential([L.Input((6, 6, 1), name="x"), L.Conv2D(2, 1, name="c"),
                        L.Flatten(), L.Dense(3, name="out")])  # fmt: skip
    x = np.ones((1, 6, 6, 1))
    x[0, 2, 3, 0] = np.nan
    figure = ks.draw(model, style="figure", values=x)
    numbers, _ = images_of(figure.svg)["x"]
    assert np.argwhere(np.isnan(numbers)).tolist() == [[2, 3]]
    assert "contain NaN or infinite numbers: x (1 NaN)" in figure.legend
    assert ">NaN</text>" in figure.svg
    x[0, 2, 3, 0] = np.inf
    figure = ks.draw(model, style="figure", values=x)
    assert np.isinf(images_of(figure.svg)["x"][0][2, 3])
    assert "x (1 Inf)" in figure.legend


def test_a_constant_map_is_not_stretched():
    model = Sequential([L.Input((6, 6, 1)), L.Conv2D(2, 3, kernel_initializer="zeros",
                        bias_initializer="ones", name="c"), L.Flatten(), L.Dense(2)])  # fmt: skip
    figure = ks.draw(model, style="figure", values=np.zeros((1, 6, 6, 1)))
    numbers, _ = images_of(figure.svg)["c, map 0 of 2"]
    assert numbers == pytest.approx(1.0)


def test_an_image_without_channels_is_not_turned():
    model = Sequential([L.Input((5, 9), name="x"), L.Flatten(), L.Dense(3, name="out")])
    x = np.random.RandomState(8).rand(1, 5, 9)
    figure = ks.draw(model, style="figure", values=x)
    assert_shown(images_of(figure.svg), "x", x[0])
    assert "grey" in figure.legend


def test_channels_first_maps_are_maps():
    model = Sequential([
        L.Input((8, 8, 8), name="x"),
        L.Conv2D(8, 1, data_format="channels_first", name="c"),
    ])  # fmt: skip
    values = np.random.RandomState(4).randn(1, 8, 8, 8)
    found = images_of(ks.draw(model, style="figure", values=values).svg)
    assert_shown(found, "c, map 2 of 8", output_of(model, "c", values)[0, 2])
    assert_shown(found, "x, map 2 of 8", values[0, 2])


def test_a_closed_nested_model_shows_its_output():
    inner = Sequential([L.Input((4,)), L.Dense(5), L.Dense(6)], name="inner")
    x = L.Input((4,))
    model = Model(x, L.Dense(2)(L.Concatenate(name="both")([inner(x), x])))
    values = np.random.RandomState(5).randn(1, 4)
    found = images_of(ks.draw(model, style="figure", values=values).svg)
    assert_shown(found, "inner", inner.predict(values))


def test_a_tape_is_drawn_with_its_numbers(digit):
    model = lenet()
    with ks.trace(model) as tape:
        model.predict(digit)
    found = images_of(ks.draw(tape, style="figure").svg)
    assert_shown(found, "C1, map 2 of 6", output_of(model, "C1", digit)[0, :, :, 2])


@pytest.mark.parametrize("theme", ["light", "dark", "print"])
def test_each_theme_has_its_colours(digit, theme):
    figure = ks.draw(lenet(), style="figure", values=digit, theme=theme)
    palettes = [
        png_read(base64.b64decode(one.get("href").partition(",")[2]))[1]
        for one in elements(figure.svg, "image")
    ]
    grey = [color[1:3] == color[3:5] == color[5:7] for colors in palettes for color in colors[:251]]
    assert all(grey) == (theme == "print")
    assert ("signs are not shown" in figure.legend) == (theme == "print")


@pytest.mark.parametrize("format", ["pdf", "png"])
def test_a_living_figure_in_other_formats(digit, format):
    figure = ks.draw(lenet(), style="figure", values=digit)
    content = figure.to_format(format)
    assert 5_000 < len(content) < 300_000
    if format == "pdf":
        assert content.count(b"/Subtype /Image") == len([*elements(figure.svg, "image")])


def test_a_file_stays_small():
    model = Sequential([L.Input((100, 100, 3)), *(L.Conv2D(12, 3) for _ in range(7))])
    values = np.random.RandomState(6).randn(1, 100, 100, 3)
    for width in ("84mm", "174mm"):
        figure = ks.draw(model, style="figure", values=values, width=width)
        assert len(figure.svg) < 300_000
        assert len(figure.to_format("pdf")) < 300_000
    assert "every second (third, ...) row and column" in figure.legend


def test_without_values_a_figure_is_unchanged(digit):
    figure = ks.draw(lenet(), style="figure")
    assert not [*elements(figure.svg, "image")]
    assert "Colours are" not in figure.legend


def test_wrong_arguments_are_refused(digit):
    model = lenet()
    single = Sequential([L.Input(shape=(3,)), L.Dense(1)])
    with pytest.raises(DataError, match="32, 32, 1"):
        ks.draw(model, style="figure", values=digit[:, :5])
    with pytest.raises(ArgumentError, match="class_names: expected 10 names"):
        ks.draw(model, style="figure", values=digit, class_names=["a", "b"])
    with pytest.raises(ArgumentError, match="class_names: expected an output of several numbers"):
        ks.draw(single, style="figure", values=np.ones((1, 3)), class_names=["a", "b"])
    with pytest.raises(ArgumentError, match="a figure with values"):
        ks.draw(model, class_names=["a", "b"])
    with pytest.raises(ArgumentError, match="a figure with values"):
        ks.draw(model, style="figure", class_names=["a", "b"])
    with pytest.raises(ArgumentError, match="without at, gradients"):
        ks.draw(model, style="figure", values=digit, at=2)
    with pytest.raises(ArgumentError, match="values= expected a model at level 'node'"):
        ks.draw(model, style="figure", values=digit, level="layer")
    with pytest.raises(ArgumentError, match="expected level 'node' for a figure, got 'op'"):
        ks.draw(model, style="figure", values=digit, level="op")
    figure = ks.draw(model, style="figure", values=digit)
    with pytest.raises(ArgumentError, match="TikZ cannot draw"):
        figure.to_format("tikz")


def test_on_the_command_line(tmp_path, monkeypatch, digit, capsys):
    monkeypatch.chdir(tmp_path)
    model = lenet()
    model.save("lenet.keras")
    np.save("x.npy", digit)
    names = ",".join("abcdefghij")
    given = ["draw", "lenet.keras", "--style", "figure", "--values", "x.npy"]
    assert main([*given, "--class-names", names, "-o", "a.svg"]) == 0
    expected = ks.draw(model, style="figure", values=digit, class_names=[*"abcdefghij"])
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == expected.svg
    assert main([*given, "--figure", "84mm", "-o", "b.pdf"]) == 0
    assert main(["draw", "lenet.keras", "--class-names", "a,b"]) == 2
    assert main(["draw", "lenet.keras", "--style", "graph", "--figure", "84mm"]) == 2
    capsys.readouterr()


# --- models of other libraries --------------------------------------------------------------------


@pytest.mark.live
def test_a_live_pytorch_model_shows_what_it_computes():
    torch = pytest.importorskip("torch")
    nn = torch.nn
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
    ).eval()
    x = torch.randn(2, 3, 8, 8)
    figure = ks.draw(model, style="figure", values=x)
    found = images_of(figure.svg)
    with torch.no_grad():
        maps, scores = model[:2](x)[0].numpy(), model(x)[0].numpy()
    names = {int(name.split("map ")[1].split()[0]): name for name in found if "of 8" in name}
    conv = [name for name in found if "of 8" in name and found[name][0].shape == (6, 6)]
    assert len(conv) == 8
    for name in conv:
        assert_shown(found, name, maps[int(name.split("map ")[1].split()[0])])
    assert names
    for channel in range(3):
        name = next(one for one in found if f"map {channel} of 3" in one)
        assert_shown(found, name, x[0, channel].numpy())
    assert values_of_bars(figure.svg) == pytest.approx(dict(enumerate(scores)), rel=1e-4)
    assert "sample 0 of 2" in figure.legend
    assert "channels \u00d7 height \u00d7 width" in figure.legend


@pytest.mark.live
def test_a_recurrent_layer_of_pytorch_needs_the_batch_first():
    torch = pytest.importorskip("torch")

    class Reader(torch.nn.Module):
        def __init__(self, batch_first):
            super().__init__()
            self.lstm = torch.nn.LSTM(4, 3, batch_first=batch_first)

        def forward(self, x):
            return self.lstm(x)[0]

    x = torch.randn(1, 6, 4)
    with pytest.raises(ArgumentError, match="batch_first=True"):
        ks.draw(Reader(False).eval(), style="figure", values=x)
    model = Reader(True).eval()
    found = images_of(ks.draw(model, style="figure", values=x).svg)
    with torch.no_grad():
        assert_shown(found, "lstm", model(x)[0].numpy().T)


@pytest.mark.live
def test_values_without_a_batch_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match=r"x\[None\]"):
        ks.draw(torch.nn.Linear(4, 3).eval(), style="figure", values=torch.randn(4))


@pytest.mark.live
def test_a_resnet18_of_pytorch_fits():
    torch = pytest.importorskip("torch")
    from torch_models import ResNet18

    torch.manual_seed(0)
    model = ResNet18().eval()
    x = torch.randn(1, 3, 64, 64)
    for width in ("84mm", "174mm"):
        figure = ks.draw(model, style="figure", values=x, width=width)
        assert len(figure.svg) < 300_000
    with torch.no_grad():
        scores = model(x)[0].numpy()
    best = np.argsort(-scores)[:5]
    assert [*values_of_bars(figure.svg)] == best.tolist() or len(values_of_bars(figure.svg)) == 5
    assert values_of_bars(figure.svg) == pytest.approx({i: scores[i] for i in best}, rel=1e-3)


@pytest.mark.live
def test_an_onnx_file_shows_what_it_computes(tmp_path):
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("kerascope.foreign.onnx_models")
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.RandomState(7)
    kernel = random.randn(4, 1, 3, 3).astype("float32")
    weight = random.randn(4 * 36, 3).astype("float32")
    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["x", "kernel"], ["maps"], name="conv"),
            helper.make_node("Relu", ["maps"], ["kept"], name="relu"),
            helper.make_node("Flatten", ["kept"], ["flat"], name="flat"),
            helper.make_node("Gemm", ["flat", "weight"], ["y"], name="scores"),
        ],
        "small",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 3])],
        [numpy_helper.from_array(kernel, "kernel"), numpy_helper.from_array(weight, "weight")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, tmp_path / "small.onnx")
    x = random.rand(1, 1, 8, 8).astype("float32")
    figure = ks.draw(tmp_path / "small.onnx", style="figure", values=x)
    found = images_of(figure.svg)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3))
    maps = np.maximum(np.einsum("ijkl,mkl->mij", windows, kernel[:, 0]), 0)
    for index in range(4):
        assert_shown(found, f"conv, map {index} of 4", maps[index])
    scores = maps.reshape(-1) @ weight
    assert values_of_bars(figure.svg) == pytest.approx(dict(enumerate(scores)), rel=1e-3)


@pytest.mark.live
def test_a_live_keras_model_shows_what_it_computes():
    pytest.importorskip("keras")
    script = """if True:
        import keras, numpy as np, kerascope as ks
        from test_living import assert_shown, images_of, values_of_bars
        image = keras.Input((8, 8, 1))
        maps = keras.layers.Conv2D(3, 3, activation="relu", name="conv")(image)
        model = keras.Model(image, keras.layers.Dense(4)(keras.layers.Flatten()(maps)))
        x = np.random.RandomState(0).rand(1, 8, 8, 1).astype("float32")
        svg = ks.draw(model, style="figure", values=x).svg
        expected = np.asarray(keras.Model(image, maps)(x))[0]
        for index in range(3):
            assert_shown(images_of(svg), f"conv, map {index} of 3", expected[:, :, index])
        output = np.asarray(model(x))[0]
        assert np.allclose([*values_of_bars(svg).values()], output, rtol=1e-3, atol=1e-5)
    """
    here = Path(__file__).parent
    paths = os.pathsep.join(map(str, (here, here.parents[1], here.parents[2])))
    environment = {**os.environ, "KERAS_BACKEND": "jax", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("activation", ["sigmoid", None])
@pytest.mark.parametrize("form", ["blocks", "neurons"])
def test_a_single_output_is_written_out(activation, form):
    model = Sequential([L.Input((4,)), L.Dense(3), L.Dense(1, activation=activation)])
    x = np.array([[0.5, -1.0, 0.2, 2.0]])
    figure = ks.draw(model, style="figure", values=x, figure=form)
    output = float(model.predict(x)[0, 0])
    assert values_of_bars(figure.svg) == {0: pytest.approx(output, rel=1e-5)}
    assert "An output of a single number shows this number" in figure.legend
    assert "by class" not in figure.legend
    with pytest.raises(ArgumentError, match="expected an output of several numbers"):
        ks.draw(model, style="figure", values=x, figure=form, class_names=["no", "yes"])


def test_the_bar_of_a_sigmoid_has_a_scale_from_0_to_1():
    lengths = []
    for bias in (-2.0, 2.0):
        model = Sequential([L.Input((2,)), L.Dense(3), L.Dense(1, activation="sigmoid")])
        model.set_weights([np.zeros((2, 3)), np.zeros(3), np.zeros((3, 1)), [bias]])
        svg = ks.draw(model, style="figure", values=np.ones((1, 2)), figure="blocks").svg
        (bar,) = (one for one in elements(svg, "path") if one.get("data-value"))
        across = [
            float(one.partition(",")[0]) for one in re.findall(r"[\d.]+,[\d.]+", bar.get("d"))
        ]
        lengths.append(max(across) - min(across))
    assert lengths[0] / lengths[1] == pytest.approx(0.1192 / 0.8808, rel=0.02)


@pytest.mark.parametrize("wrapper", ["Bidirectional", "TimeDistributed", "Conv1D"])
def test_all_steps_of_a_model_of_sequences_run_in_one_direction(wrapper):
    layer = {
        "Bidirectional": L.Bidirectional(L.GRU(3, return_sequences=True), name="layer"),
        "TimeDistributed": L.TimeDistributed(L.Dense(6), name="layer"),
        "Conv1D": L.Conv1D(6, 1, name="layer"),
    }[wrapper]
    x = L.Input((9, 2), name="x")
    model = Model(x, L.Dense(4, name="end")(layer(x)))
    values = np.random.RandomState(0).randn(1, 9, 2)
    outputs = {"x": values, "end": model.predict(values)}
    outputs["layer"] = output_of(model, "layer", values)
    own_form = {"Bidirectional": "columns", "Conv1D": "volumes"}.get(wrapper)
    for form in filter(None, ("blocks", own_form)):
        figure = ks.draw(model, style="figure", values=values, figure=form)
        found = images_of(figure.svg)
        for name, output in outputs.items():
            assert_shown(found, name, output[0] if form == "volumes" else output[0].T)
        way = "top to bottom" if form == "volumes" else "left to right"
        assert f"Sequences run from {way}" in figure.legend
        assert "The input is grey" not in figure.legend


def test_the_numbers_of_a_global_pooling_that_keeps_its_axes_share_a_scale():
    model = Sequential([L.Input((4, 4, 3), name="x"), L.AveragePooling2D(4, name="pooled"),
                        L.Flatten(), L.Dense(2)])  # fmt: skip
    values = np.ones((1, 4, 4, 3)) * [1.0, -0.5, 0.25]
    found = images_of(ks.draw(model, style="figure", values=values).svg)
    for index, value in enumerate([1.0, -0.5, 0.25]):
        numbers, width = found[f"pooled, map {index} of 3"]
        assert width == 2  # from -1 to 1
        assert numbers == pytest.approx(value, abs=0.005)


@pytest.mark.parametrize("form", ["volumes", "blocks"])
def test_a_volume_shows_the_slice_in_its_middle(form):
    model = Sequential([L.Input((6, 10, 8, 1), name="x"), L.Conv3D(3, 3, name="c"),
                        L.MaxPooling3D(2, name="p"), L.Flatten(), L.Dense(2)])  # fmt: skip
    x = np.random.RandomState(5).rand(1, 6, 10, 8, 1)
    figure = ks.draw(model, style="figure", values=x, figure=form)
    found = images_of(figure.svg)
    assert_shown(found, "x", x[0, 3, :, :, 0])
    for name, middle in (("c", 2), ("p", 1)):
        output = output_of(model, name, x)[0]
        for index in range(3):
            assert_shown(found, f"{name}, map {index} of 3", output[middle, :, :, index])
    assert "Of a volume, the figure shows the slice in the middle." in figure.legend
    if form == "volumes":
        assert "depth \u00d7 height \u00d7 width \u00d7 channels of each output" in figure.legend


def test_without_images_nothing_is_said_of_their_colours():
    model = Sequential([L.Input((2, 2, 2, 2, 1)), L.Flatten(), L.Dense(2, activation="softmax")])
    x = np.ones((1, 2, 2, 2, 2, 1))
    figure = ks.draw(model, style="figure", figure="blocks", values=x)
    assert "negative, 0, positive" not in figure.svg
    assert "Zero is white" not in figure.legend
    assert "The numbers are those of one sample." in figure.legend
    assert "Parts without an image" in figure.legend
    assert len(values_of_bars(figure.svg)) == 2


@pytest.mark.parametrize("width", ["84mm", "174mm"])
def test_arrows_of_a_resnet_have_room_for_their_heads(width):
    torch_models = pytest.importorskip("torch_models")
    module, (image,) = torch_models.resnet18()
    svg = ks.draw(module, style="figure", values=image, width=width).svg
    lines = [one.get("d") for one in elements(svg, "path") if one.get("fill") == "none"]
    across = [float(x) for d in lines for x in re.findall(r"[ML]([\d.]+),", d)]
    assert len(across) > 100
    assert min(across) >= 1.5  # half of a head
