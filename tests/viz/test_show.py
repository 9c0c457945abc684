"""`ks.show`: the numbers of each picture beside plain NumPy, read back from SVG and text."""

import base64
import io
import itertools
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import kerascope as ks
from kerascope.errors import ArgumentError, DataError, DtypeError, NotBuiltError, ShapeError
from kerascope.layers import (
    GRU,
    LSTM,
    Attention,
    Bidirectional,
    Conv1D,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Input,
    MultiHeadAttention,
    SimpleRNN,
    TimeDistributed,
)
from kerascope.models import Model, Sequential
from kerascope.viz.roles import color_of
from kerascope.viz.sheet import Raster
from kerascope.viz.tensors.heat_maps import HeatMaps
from kerascope.viz.tensors.panels import ArrayPart, panels_of
from kerascope.viz.tensors.scales import LEVELS, Scale
from kerascope.viz.theme import contrast, luminance

SVG = "{http://www.w3.org/2000/svg}"
NAN, PLUS, MINUS = 251, 252, 253


# --- an independent reader ------------------------------------------------------------------------


def read(picture):
    """Return the matrices of an SVG by the words that an image has, from its pixels alone."""
    root = ElementTree.fromstring(picture.svg)
    found = {}
    for image in root.iter(f"{SVG}image"):
        if image.get("class") == "is-dark" and picture.theme == "auto":
            continue
        data = base64.b64decode(image.get("href").partition(",")[2])
        found[image.get("data-name")] = np.array(Image.open(io.BytesIO(data)))
    return found


def ends(picture):
    """Return the least and the greatest number of each legend, as they are written."""
    texts = list(ElementTree.fromstring(picture.svg).iter(f"{SVG}text"))
    lows = [t for t in texts if t.get("x") == "16" and re.fullmatch(r"-?[\d.e+-]+", t.text)]
    highs = {t.get("y"): t.text for t in texts if t.get("text-anchor") == "end"}
    return [(float(low.text), float(highs.get(low.get("y"), low.text))) for low in lows]


def numbers(levels, low, high):
    values = low + levels.astype("float64") / (LEVELS - 1) * (high - low)
    for level, value in ((NAN, np.nan), (PLUS, np.inf), (MINUS, -np.inf)):
        values[levels == level] = value
    return values


def cells(picture):
    """Return the numbers that stand in the cells of an SVG, by row and column."""
    children = list(ElementTree.fromstring(picture.svg))
    found = {}
    for box, text in itertools.pairwise(children):
        if box.get("data-row") is not None:
            found[int(box.get("data-row")), int(box.get("data-column"))] = float(text.text)
    return found


def is_shown(found, values, low, high):
    """Tell whether levels are those numbers, as exactly as a level and the legend can be."""
    room = (high - low) / (LEVELS - 1) + 0.01 * max(abs(low), abs(high))
    return np.allclose(numbers(found, low, high), values, rtol=0, atol=room, equal_nan=True)


@pytest.fixture(scope="module")
def digits():
    rng = np.random.default_rng(3)
    return rng.uniform(0, 1, (3, 12, 12, 1)).astype("float32")


@pytest.fixture(scope="module")
def cnn():
    inputs = Input((12, 12, 1), name="pixels")
    h = Conv2D(6, 3, activation="relu", name="conv1")(inputs)
    h = Conv2D(20, 3, name="conv2")(h)
    return Model(inputs, Dense(4, name="scores")(Flatten(name="flat")(h)), name="cnn")


# --- what a layer gives ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["conv1", "conv2"])
def test_feature_maps_are_what_the_truncated_model_predicts(cnn, digits, name):
    picture = ks.show(cnn, digits, layer=name, sample=1)
    wanted = Model(cnn.inputs, cnn.get_layer(name).output).predict(digits)[1]
    found = read(picture)
    ((low, high),) = ends(picture)
    assert list(found) == [f"channel {i}" for i in range(wanted.shape[-1])]
    for channel, levels in enumerate(found.values()):
        assert levels.shape == wanted.shape[:2]
        assert is_shown(levels, wanted[..., channel], low, high)


def test_a_layer_called_by_itself_gives_its_own_maps(cnn, digits):
    layer = cnn.get_layer("conv1")
    alone, inside = ks.show(layer, digits), ks.show(cnn, digits, layer="conv1")
    for one, other in zip(read(alone).values(), read(inside).values(), strict=True):
        assert np.array_equal(one, other)


def test_the_filters_of_a_convolution_are_its_kernel(cnn):
    picture = ks.show(cnn.get_layer("conv2"), most=200)
    kernel = cnn.get_layer("conv2").get_weights()[0]
    (low, high), *_ = ends(picture)
    found = read(picture)
    assert len([name for name in found if "filter" in name]) == 6 * 20
    for channel, filter in ((0, 0), (5, 19), (3, 7)):
        levels = found[f"conv2/kernel filter {filter}, channel {channel}"]
        assert is_shown(levels, kernel[:, :, channel, filter], low, high)


def test_outputs_of_dense_are_numbers_of_all_samples(cnn, digits):
    found = cells(ks.show(cnn, digits, layer="scores"))
    wanted = cnn.predict(digits)
    assert {place: wanted[place] for place in found} == pytest.approx(found, rel=0.01)
    assert len(found) == wanted.size


def test_a_model_shows_its_outputs_and_a_symbolic_tensor_its_numbers(cnn, digits):
    wanted = dict(np.ndenumerate(cnn.predict(digits)))
    for picture in (ks.show(cnn, digits), ks.show(cnn.output, digits)):
        assert cells(picture) == pytest.approx(wanted, rel=0.01)


def test_a_weight_is_shown_by_its_name_and_as_a_variable(cnn):
    kernel = cnn.get_layer("scores").get_weights()[0]
    for picture in (ks.show(cnn, layer="scores/kernel"), ks.show(cnn.get_layer("scores").kernel)):
        (levels,), ((low, high),) = read(picture).values(), ends(picture)
        assert is_shown(levels, kernel[:: len(kernel) // len(levels)], low, high)


def test_channels_first_has_the_same_panels(digits):
    layer = Conv2D(3, 3, data_format="channels_first", name="c")
    x = np.moveaxis(digits, -1, 1)
    wanted = layer(x)[0]
    picture = ks.show(layer, x)
    ((low, high),) = ends(picture)
    for channel, levels in enumerate(read(picture).values()):
        assert is_shown(levels, wanted[channel], low, high)


def test_a_convolution_along_time_has_its_channels_as_rows():
    layer = Conv1D(30, 3, name="c")
    x = np.random.default_rng(0).normal(size=(2, 20, 4)).astype("float32")
    wanted = layer(x)[1].T
    picture = ks.show(layer, x, sample=-1)
    (levels,), ((low, high),) = read(picture).values(), ends(picture)
    assert is_shown(levels, wanted, low, high)


# --- attention ------------------------------------------------------------------------------------


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_attention_maps_are_softmax_of_query_times_key_by_the_root_of_their_size():
    rng = np.random.default_rng(5)
    x = Input((20, 6), name="x")
    layer = MultiHeadAttention(3, 5, name="heads")
    model = Model(x, layer(x, x))
    layer.set_weights([rng.normal(size=w.shape) for w in layer.get_weights()])
    given = rng.normal(size=(2, 20, 6)).astype("float32")
    by_name = {w.name.split("heads/")[-1].split(":")[0]: w for w in layer.weights}
    query, key = (
        np.einsum("tf,fhd->htd", given[1], ks.K.get_value(by_name[f"{word}/kernel"]))
        + ks.K.get_value(by_name[f"{word}/bias"])[:, None]
        for word in ("query", "key")
    )
    wanted = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(5))
    for picture in (
        ks.show(model, given, layer="heads", sample=1),
        ks.show(layer, [given, given], sample=1),
        ks.show(layer, given, sample=1),
    ):
        ((low, high),) = ends(picture)
        found = read(picture)
        assert list(found) == [f"attention weights head {i}" for i in range(3)]
        for head, levels in enumerate(found.values()):
            assert is_shown(levels, wanted[head], low, high)
        assert "rows: query, columns: key" in picture.svg


def test_attention_looks_at_no_place_that_a_mask_leaves_out():
    words = Input((5,), name="words")
    h = Embedding(9, 4, mask_zero=True, name="e")(words)
    model = Model(words, Attention(name="a")([h, h]))
    picture = ks.show(model, np.array([[3, 1, 4, 0, 0]]), layer="a")
    vectors = model.get_layer("e").get_weights()[0][[3, 1, 4, 0, 0]]
    wanted = softmax(np.where([1, 1, 1, 0, 0], vectors @ vectors.T, -1e9))
    assert cells(picture) == pytest.approx(dict(np.ndenumerate(wanted)), abs=0.001)


def test_embeddings_are_rows_of_places():
    layer = Embedding(9, 4, name="e")
    layer(np.array([[1, 2]]))
    wanted = layer.get_weights()[0]
    assert cells(ks.show(layer)) == pytest.approx(dict(np.ndenumerate(wanted)), rel=0.01)
    found = cells(ks.show(layer, np.array([[5, 2, 5]])))
    assert found == pytest.approx(dict(np.ndenumerate(wanted[[5, 2, 5]])), rel=0.01)


# --- states ---------------------------------------------------------------------------------------


def by_cell(layer, x, order):
    """Step the cell by hand."""
    states = [np.zeros((len(x), layer.units), "float32") for _ in layer.states]
    found = {}
    for t in order:
        _, states = layer.cell(x[:, t], states)
        found[t] = [np.asarray(s) for s in states]
    return [np.stack([found[t][i] for t in sorted(found)], 1) for i in range(len(states))]


@pytest.mark.parametrize("kind", [LSTM, GRU, SimpleRNN])
@pytest.mark.parametrize("backwards", [False, True])
def test_states_over_time_are_those_of_the_cell_stepped_by_hand(kind, backwards):
    x = np.random.default_rng(1).normal(size=(2, 25, 3)).astype("float32")
    inputs = Input((25, 3))
    model = Model(inputs, kind(7, name="r", go_backwards=backwards)(inputs))
    wanted = by_cell(model.get_layer("r"), x, reversed(range(25)) if backwards else range(25))
    picture = ks.show(model, x, layer="r", sample=1)
    found, limits = read(picture), ends(picture)
    assert list(found) == [f"state {name}" for name in "hc"[: len(wanted)]]
    for levels, states, (low, high) in zip(found.values(), wanted, limits, strict=True):
        assert is_shown(levels, states[1].T, low, high)
    last = model.predict(x)[1]
    assert np.allclose(wanted[0][1, 0 if backwards else -1], last, atol=1e-5)


def test_a_masked_step_leaves_the_states_as_they_were():
    words = Input((4,))
    model = Model(words, LSTM(3, name="r")(Embedding(9, 2, mask_zero=True)(words)))
    found = cells(ks.show(model, np.array([[4, 5, 0, 0]]), layer="r"))
    assert [found[row, 1] for row in range(3)] == [found[row, 3] for row in range(3)]


def test_both_directions_have_their_own_states():
    x = np.random.default_rng(1).normal(size=(1, 25, 3)).astype("float32")
    layer = Bidirectional(GRU(4), name="both")
    last = layer(x)[0]
    picture = ks.show(layer, x)
    found, (first, second) = read(picture), ends(picture)
    assert list(found) == ["forward state h", "backward state h"]
    forward, backward = found.values()
    assert is_shown(forward[:, -1:], last[:4, None], *first)
    assert is_shown(backward[:, :1], last[4:, None], *second)


def test_a_stateful_layer_and_the_model_around_it_stay_as_they_were():
    inputs = Input(batch_shape=(1, 5, 2))
    model = Model(inputs, Dropout(0.5)(LSTM(3, stateful=True, name="r")(inputs)))
    x = np.ones((1, 5, 2))
    model.predict(x)
    before = [ks.K.get_value(s) for s in model.get_layer("r").states]
    nodes = len(model.get_layer("r").inbound_nodes)
    numbers_drawn = np.random.get_state()[1].tolist()
    ks.show(model, x, layer="r")
    after = [ks.K.get_value(s) for s in model.get_layer("r").states]
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert len(model.get_layer("r").inbound_nodes) == nodes
    assert np.random.get_state()[1].tolist() == numbers_drawn


# --- what is no number, and what is left out ------------------------------------------------------


def test_nan_and_infinities_are_marked_and_counted_everywhere():
    values = np.zeros((40, 30))
    values[3, 4] = np.nan
    values[[5, 6], 7] = np.inf, -np.inf
    picture = ks.show(values)
    (levels,) = read(picture).values()
    assert (levels[3, 4], levels[5, 7], levels[6, 7]) == (NAN, PLUS, MINUS)
    assert np.count_nonzero(levels >= LEVELS) == 3
    for text in (picture.svg, picture.text(), repr(picture)):
        assert "1 NaN · 1 +Inf · 1 -Inf" in text
    assert picture.text().count("✗") == 2  # the cell and the legend
    assert picture.text(ascii_only=True).isascii()


def test_nan_that_is_thinned_away_is_still_seen():
    values = np.ones((2001, 300))
    values[1001, 7] = np.nan
    (levels,) = read(ks.show(values)).values()
    assert levels.size < 100_000
    assert np.count_nonzero(levels == NAN) == 1


def test_what_is_thinned_is_said_and_what_is_drawn_has_its_own_place():
    values = np.arange(2000.0 * 1300).reshape(2000, 1300)
    picture = ks.show(values)
    (levels,) = read(picture).values()
    assert "of 2000 rows are drawn: every" in picture.svg
    step = int(re.search(r"rows are drawn: every (\d+)", picture.svg)[1])
    across = int(re.search(r"columns are drawn: every (\d+)", picture.svg)[1])
    assert is_shown(levels, values[::step, ::across], 0, values.max())


def test_of_512_channels_64_are_drawn_and_of_2_both():
    x = np.random.default_rng(0).normal(size=(1, 6, 6, 1))
    many, few = (ks.show(Conv2D(n, 3, name="c"), x) for n in (512, 2))
    assert list(read(many))[:2] == ["channel 0", "channel 8"]
    assert len(read(many)) == 64
    assert "64 of 512 channels are drawn: every 8th" in many.svg
    assert {row for row, _ in cells(few)} == {0, 1, 2, 3}


def test_a_long_vector_is_no_wider_than_a_screen():
    (levels,) = read(ks.show(np.arange(5000.0))).values()
    assert levels.shape == (1, 625)
    assert float(ElementTree.fromstring(ks.show(np.arange(5000.0)).svg).get("width")) < 800


def test_calls_of_a_shared_layer_are_counted_as_they_were_made():
    a, b = Input((3,), name="a"), Input((3,), name="b")
    shared = Dense(2, name="shared")
    model = Model([a, b], [shared(a), shared(b)])
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("float32")
    for call, wanted in enumerate(model.predict(list(x))):
        found = cells(ks.show(model, list(x), layer="shared", call=call))
        assert found == pytest.approx(dict(np.ndenumerate(wanted)), rel=0.01)


def test_what_is_done_at_each_time_step_has_an_axis_of_time():
    x = np.random.default_rng(0).normal(size=(2, 3, 9, 9, 1)).astype("float32")
    layer = TimeDistributed(Conv2D(2, 3), name="each")
    wanted = layer(x)[1]
    picture = ks.show(layer, x, sample=1)
    ((low, high),) = ends(picture)
    found = read(picture) or {}
    assert list(found)[:2] == ["time step 0, channel 0", "time step 0, channel 1"]
    for number, levels in enumerate(found.values()):
        assert is_shown(levels, wanted[number // 2, ..., number % 2], low, high)


def test_small_arrays_are_numbers_in_the_terminal_too():
    lines = ks.show([[1.5, -2.0], [0.25, 3.0]]).text().splitlines()
    assert lines[-2:] == ["0  1.5 -2", "1 0.25  3"]


def test_signs_in_the_terminal_grow_with_the_number():
    values = np.linspace(0, 1, 100)[None]
    line = next(x for x in ks.show(values).text().splitlines() if "█" in x and "'" not in x)
    assert list(line) == sorted(line, key=" ░▒▓█".index)


@pytest.mark.parametrize("values", [np.zeros((3, 4)), np.zeros((0, 4)), 7.0, [1, 2, 3],
                                    np.full((2, 30), np.nan), [[1e308, -1e308]], [[True, False]],
                                    np.zeros((2, 3, 4, 5, 6))], ids=str)  # fmt: skip
def test_odd_arrays_have_pictures_in_every_format(values, tmp_path):
    picture = ks.show(values)
    for suffix in ("svg", "png", "pdf", "html", "txt"):
        assert picture.save(tmp_path / f"p.{suffix}").stat().st_size > 30


def test_any_title_can_be_drawn(tmp_path):
    picture = ks.show([[1.0]], title='a "b" \\c ü 中 <d> \x1b')
    for suffix in ("svg", "png", "pdf", "html", "txt"):
        assert picture.save(tmp_path / f"p.{suffix}").stat().st_size > 30
    assert ElementTree.fromstring(picture.svg)[0].text == 'a "b" \\c ü 中 <d> \\x1b'


# --- colours --------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("letter", ["s", "d"])
def test_equal_steps_of_a_scale_are_equal_steps_of_lightness(theme, letter):
    def lightness(role):  # CIE L*, another measure than the one that made the colours
        y = luminance(color_of(role, theme))
        return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y

    half = range(125, 251, 25) if letter == "d" else range(0, 251, 25)
    marks = [lightness(f"{letter}-{level}") for level in half]
    steps = np.diff(marks)
    assert (np.sign(steps) == np.sign(steps[0])).all()
    assert np.abs(steps).min() > 0.5 * np.abs(steps).max()
    if letter == "d":
        other = [lightness(f"d-{250 - level}") for level in half]
        assert np.allclose(marks, other, atol=6)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_on_every_colour_can_be_read(theme):
    for role in [f"{x}-{i}" for x in "sd" for i in range(LEVELS)] + ["nan", "inf", "minus-inf"]:
        assert contrast(color_of(role, theme), color_of(f"on-{role}", theme)) >= 4.5


def test_both_signs_give_a_scale_around_zero_and_one_sign_does_not():
    assert Scale.of(np.array([-1.0, 3.0])) == Scale(-3.0, 3.0, True)
    assert Scale.of(np.array([1.0, 3.0])) == Scale(1.0, 3.0)


def test_own_scales_and_limits():
    maps = np.stack([np.linspace(0, 1, 400).reshape(20, 20), np.full((20, 20), 9.0)])
    own = ks.show(maps, scale="own")
    assert [levels.max() for levels in read(own).values()] == [250, 0]
    assert "0 to 1" in own.svg
    limited = ks.show(maps, limits=(0, 2))
    assert ends(limited) == [(0, 2)]
    assert "400 numbers are outside the scale" in limited.svg


# --- showing itself -------------------------------------------------------------------------------


def test_it_shows_itself_in_a_notebook_and_follows_the_theme():
    picture = ks.show(np.arange(900.0).reshape(30, 30))
    assert picture._repr_svg_() == picture.svg
    assert picture._repr_mimebundle_()["image/svg+xml"] == picture.svg
    assert "prefers-color-scheme:dark" in picture.svg
    for theme in ("light", "dark"):
        svg = ks.show(np.arange(900.0).reshape(30, 30), theme=theme).svg
        assert "prefers-color-scheme" not in svg
        assert svg.count("<image") == 1


def test_a_png_has_the_pixels_of_its_numbers(tmp_path):
    path = ks.show(np.kron(np.eye(5), np.ones((6, 6))), theme="light").save(tmp_path / "m.png")
    pixels = np.array(Image.open(path).convert("RGB")).reshape(-1, 3)
    colors = {tuple(color) for color in np.unique(pixels, axis=0).tolist()}
    for role in ("s-0", "s-250"):
        color = color_of(role, "light")
        assert tuple(int(color[i : i + 2], 16) for i in (1, 3, 5)) in colors


# --- wrong input ----------------------------------------------------------------------------------


def test_errors_say_what_was_expected(cnn, digits):
    for error, words, call in (
        (ArgumentError, "Did you mean 'conv1'", lambda: ks.show(cnn, digits, layer="conv11")),
        (ArgumentError, "needs arrays x", lambda: ks.show(cnn)),
        (DataError, "12, 12, 1", lambda: ks.show(cnn, digits[:, :5], layer="conv1")),
        (ShapeError, "conv2", lambda: ks.show(cnn.get_layer("conv2"), digits)),
        (NotBuiltError, "never called", lambda: ks.show(Dense(3))),
        (ArgumentError, "has no weights", lambda: ks.show(cnn.get_layer("flat"))),
        (ArgumentError, "symbolic", lambda: ks.show(cnn.output)),
        (ArgumentError, "to have shape (None, 12, 12, 1)", lambda: ks.show(cnn.output, digits[0])),
        (
            ArgumentError,
            "expected sample 0 to 2",
            lambda: ks.show(cnn, digits, layer="conv1", sample=3),
        ),
        (
            ArgumentError,
            "expected call 0, got 1",
            lambda: ks.show(cnn, digits, layer="conv1", call=1),
        ),
        (ArgumentError, "shared, own", lambda: ks.show([1], scale="each")),
        (ArgumentError, "low < high", lambda: ks.show([1], limits=(2, 1))),
        (ArgumentError, "got 0", lambda: ks.show([1], most=0)),
        (ArgumentError, "light, dark", lambda: ks.show([1], theme="blue")),
        (ArgumentError, "Without a model", lambda: ks.show(Dense(3), layer="d")),
        (ArgumentError, "x needs a kerascope model", lambda: ks.show([1], [2])),
        (DtypeError, "real numbers", lambda: ks.show("conv1")),
        (DtypeError, "expected an array", lambda: ks.show([[1], [1, 2]])),
        (ArgumentError, ".svg, .png, .pdf, .html, .txt", lambda: ks.show([1]).save("x.dot")),
        (
            NotBuiltError,
            "has no graph",
            lambda: ks.show(Sequential([Dense(2, name="d")]), digits, layer="d"),
        ),
    ):
        with pytest.raises(error) as caught:
            call()
        assert words in str(caught.value)


def test_the_shape_of_x_for_a_layer_alone_is_its_own_and_the_error_says_how_else(cnn, digits):
    with pytest.raises(ShapeError) as caught:
        ks.show(cnn.get_layer("conv2"), digits)
    assert "show(model, x, layer='conv2')" in "".join(caught.value.__notes__)


# --- filters on images in colour ------------------------------------------------------------------


def filters_in_colour(number, side=3):
    layer = ks.layers.Conv2D(number, side, input_shape=(8, 8, 3), name="first")
    ks.models.Sequential([layer])
    kernel = np.zeros((side, side, 3, number))
    kernel[0, 0, 0, 0], kernel[0, 1, 2, 0], kernel[2, 2, :, 0] = 2.0, -2.0, (1.0, -1.0, 0.0)
    layer.set_weights([kernel, np.zeros(number)])
    return layer


def test_filters_on_three_channels_are_seen_in_colour_too():
    picture = ks.show(filters_in_colour(4))
    part = picture.content.parts[0]
    assert [title for title, _ in part.colours] == [f"filter {i}" for i in range(4)]
    image = part.colours[0][1]
    assert image[0, 0].tolist() == [255, 128, 128]  # red, and grey for 0
    assert image[0, 1].tolist() == [128, 128, 0]
    assert image[2, 2].tolist() == [191, 64, 128]
    assert ".f-rgb-FF8080{fill:#FF8080}" in picture.svg
    assert "channels 0, 1, 2 as red, green and blue" in picture.svg
    assert len(part.panels) == 12  # and each channel with its numbers, as before


def test_filters_on_other_channels_and_with_numbers_that_are_none_have_no_colours():
    gray = ks.layers.Conv2D(4, 3, input_shape=(8, 8, 4), name="gray")
    ks.models.Sequential([gray])
    assert not ks.show(gray).content.parts[0].colours
    layer = filters_in_colour(2)
    kernel, bias = layer.get_weights()
    kernel[0, 0, 0, 1] = np.nan
    layer.set_weights([kernel, bias])
    assert not ks.show(layer).content.parts[0].colours


def test_of_many_filters_the_first_are_in_colour_and_the_picture_says_so():
    part = ks.show(filters_in_colour(100, 7)).content.parts[0]
    assert len(part.colours) == 64
    assert "the first 64 are drawn in colour" in part.notes


def titles(picture):
    return [panel.title for panel in picture.content.parts[0].panels]


def test_axes_that_nobody_knows_are_said_by_the_shape_and_panels_by_their_index():
    picture = ks.show(np.arange(24.0).reshape(2, 3, 2, 2))
    assert "shape 2 x 3 x 2 x 2" in picture.content.parts[0].summary
    assert titles(picture)[:4] == ["[0, 0]", "[0, 1]", "[0, 2]", "[1, 0]"]
    assert "20 indices x 3 dimensions" in ks.show(embedding_of(20, 3)).content.parts[0].summary


def embedding_of(size, dimension):
    layer = Embedding(size, dimension)
    layer(np.zeros((1, 2), "int32"))
    return layer


def test_bytes_of_an_image_are_a_panel_for_each_colour():
    image = np.random.default_rng(0).integers(0, 255, (6, 5, 3), dtype=np.uint8)
    picture = ks.show(image)
    assert titles(picture) == ["red", "green", "blue"]
    for channel, panel in enumerate(picture.content.parts[0].panels):
        assert (panel.values == image[..., channel]).all()
    assert len(titles(ks.show(image.astype("float64")))) == 6  # numbers may be anything


@pytest.mark.parametrize("values", [np.zeros((0, 3)), np.full((2, 2), np.nan)])
def test_a_picture_without_any_number_has_no_scale(values):
    shapes = ks.show(values).content.sheet().marks
    assert not [shape for shape in shapes if getattr(shape, "y", 0) and shape_is_ramp(shape)]


def shape_is_ramp(shape):
    return getattr(shape, "height", 0) == 10.0 and getattr(shape, "width", 0) == 4.0


@pytest.mark.parametrize("channels", [8, 10, 13, 64])
def test_rows_of_panels_are_as_long_as_each_other_and_stand_in_columns(channels):
    values = np.random.default_rng(0).normal(size=(9, 9, channels))
    maps = ArrayPart("maps", values, ("row", "column", "channel"))
    sheet = HeatMaps("maps", (panels_of(maps, channels),)).sheet()
    places = [(shape.x, shape.y) for shape in sheet.marks if isinstance(shape, Raster)]
    assert len(places) == channels
    rows = [y for _, y in places]
    lengths = [rows.count(y) for y in dict.fromkeys(rows)]
    assert max(lengths) - lengths[-1] < len(lengths) + 1
    assert len(set(lengths[:-1])) <= 1
    assert len({x for x, _ in places}) == max(lengths)


def test_complex_numbers_are_refused_with_what_to_show_instead():
    with pytest.raises(DtypeError, match=r"complex128.*abs\(x\), x\.real"):
        ks.show(np.array([1 + 2j]))
