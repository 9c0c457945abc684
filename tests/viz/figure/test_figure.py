"""Figures for papers: what they say is the model's, at every width, and every text can be read."""

import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from figure_models import (
    KNOWN,
    SVG,
    elements,
    layers_said,
    lenet,
    mlp,
    shape_of_box,
    shape_read,
    unet,
)

import kerascope as ks
from kerascope import layers as L
from kerascope.engine import base_layer
from kerascope.errors import ArgumentError
from kerascope.models import Model, Sequential
from kerascope.viz.figure.marks import SMALLEST
from kerascope.viz.graph import Graph, GraphEdge, GraphNode
from kerascope.viz.layout.measures import text_width

WIDTHS = ("84mm", "174mm")
CASES = [(name, width) for name in KNOWN for width in WIDTHS]


@pytest.fixture(scope="module", autouse=True)
def weights_are_zeros():
    """Let all weights begin as zeros: no figure shows them, and random ones take seconds."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            base_layer,
            "first_value",
            lambda layer, word, shape, dtype, compute: np.zeros(shape, dtype),
        )
        yield


@cache
def model_of(name):
    return KNOWN[name][0]()


@cache
def figure_of(name, width, theme="auto"):
    return ks.draw(model_of(name), style="figure", width=width, theme=theme)


def texts(svg):
    """Return every text with the box that it fills: left, top, right, bottom."""
    found = []
    for one in elements(svg, "text"):
        size, wide = float(one.get("font-size")), float(one.get("textLength"))
        side = {None: 0.0, "middle": 0.5, "end": 1.0}[one.get("text-anchor")]
        left, y = float(one.get("x")) - wide * side, float(one.get("y"))
        found.append((one, (left, y - 0.7 * size, left + wide, y)))
    return found


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in ("vgg16", "bert") else name
        for name in KNOWN
    ],
)
def test_a_known_model_takes_the_form_in_which_it_is_published(name):
    assert figure_of(name, "84mm").form == KNOWN[name][1]


@pytest.mark.parametrize(("name", "width"), CASES)
def test_every_layer_of_the_model_is_in_the_figure_once(name, width):
    figure = figure_of(name, width)
    said = layers_said(figure.svg)
    assert sorted(said) == sorted(node.id for node in figure.whole.nodes)


@pytest.mark.parametrize(("name", "width"), CASES)
def test_the_figure_is_as_wide_as_asked_and_no_text_is_smaller_than_6_points(name, width):
    svg = figure_of(name, width).svg
    root = ET.fromstring(svg)
    assert root.get("width") == width
    points = float(width.removesuffix("mm")) * 72 / 25.4
    assert float(root.get("viewBox").split()[2]) == pytest.approx(points, abs=0.01)
    height = float(root.get("viewBox").split()[3])
    for one, (left, top, right, bottom) in texts(svg):
        assert float(one.get("font-size")) >= SMALLEST, one.text
        assert min(left, top) >= 0, one.text
        assert right <= points, one.text
        assert bottom <= height, one.text


@pytest.mark.parametrize(("name", "width"), CASES)
def test_no_text_lies_on_another(name, width):
    placed = texts(figure_of(name, width).svg)
    for i, (one, a) in enumerate(placed):
        for other, b in placed[i + 1 :]:
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (one.text, other.text)


def outline(path):
    """Return the corners of a path of straight lines."""
    return [tuple(map(float, one.split(","))) for one in re.split("[MLZ]", path.get("d")) if one]


def meets(a, b, box):
    """Tell whether a straight line has a point inside a box."""
    reached = [0.0, 1.0]
    for start, step, low, high in ((a[0], b[0] - a[0], box[0], box[2]),
                                   (a[1], b[1] - a[1], box[1], box[3])):  # fmt: skip
        if step == 0:
            if not low < start < high:
                return False
            continue
        ends = sorted(((low - start) / step, (high - start) / step))
        reached = [max(reached[0], ends[0]), min(reached[1], ends[1])]
    return reached[0] < reached[1]


@pytest.mark.parametrize("theme", ["light", "print"])
@pytest.mark.parametrize(("name", "width"), CASES)
def test_no_line_runs_through_a_text_and_nothing_reaches_over_the_edge(name, width, theme):
    svg = figure_of(name, width, theme).svg
    _, _, wide, high = map(float, ET.fromstring(svg).get("viewBox").split())
    drawn = [*ET.fromstring(svg)]
    words = [(drawn.index(one), one.text) for one in drawn if one.tag == f"{SVG}text"]
    boxes = {place: box for (place, _), (_, box) in zip(words, texts(svg), strict=True)}
    grounds = [(place, outline(one)) for place, one in enumerate(drawn)
               if one.tag == f"{SVG}path" and one.get("fill") != "none"]  # fmt: skip
    for place, one in enumerate(drawn):
        if one.tag != f"{SVG}path":
            continue
        corners = outline(one)
        ink = float(one.get("stroke-width") or 0) / 2
        assert min(min(point) for point in corners) - ink > -0.01
        assert max(x for x, _ in corners) + ink < wide + 0.01
        assert max(y for _, y in corners) + ink < high + 0.01
        for word, text in words:
            left, top, right, bottom = boxes[word]
            hidden = any(
                place < ground < word
                and min(x for x, _ in over) <= left + 0.3
                and max(x for x, _ in over) >= right - 0.3
                and min(y for _, y in over) <= top + 0.3
                and max(y for _, y in over) >= bottom - 0.3
                for ground, over in grounds
            )
            inside = left + 0.3, top + 0.3, right - 0.3, bottom - 0.3
            crossed = any(meets(a, b, inside) for a, b in pairwise(corners))
            assert hidden or not crossed, (text, one.attrib)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["lenet", "alexnet", "vgg16"])
def test_the_label_of_every_volume_is_the_shape_of_its_layer(name, width):
    figure = figure_of(name, width)
    boxes = {node.id: node for node in figure.whole.nodes}
    labels = {}
    for one in elements(figure.svg, "text"):
        if one.get("data-line") is not None:
            labels.setdefault(one.get("data-layers"), []).append(one.text)
    # the layer that gives a volume comes first; what belongs to it (a dropout) follows
    volumes = [one.get("data-layers").split("\n")[0] for one in elements(figure.svg, "path")
               if one.get("data-layers")]  # fmt: skip
    named = {}
    for layers, lines in labels.items():
        for layer in layers.split("\n"):
            named[layer] = shape_read("".join(lines))
    assert len(volumes) >= 8
    for layer in volumes:
        assert named[layer] == shape_of_box(boxes[layer])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("padding", "size"), [("same", 256), ("valid", 572)])
def test_channels_and_sides_of_a_u_are_those_of_its_layers(padding, size, width):
    figure = ks.draw(unet(padding, size), style="figure", width=width)
    boxes = {node.id: node for node in figure.whole.nodes}
    channels, sides = [], []
    for one in elements(figure.svg, "text"):
        layers = (one.get("data-layers") or "").split("\n")
        shapes = [shape_of_box(boxes[layer]) for layer in layers if layer]
        if one.get("data-says") == "channels":
            assert {shape[-1] for shape in shapes} == {int(one.text)}
            channels.append(int(one.text))
        elif one.get("data-says") == "sides":
            assert shape_read(one.text) in {shape[:2] for shape in shapes}
            sides.append(one.text)
    assert channels.count(64) == 2
    assert 1024 in channels
    assert len(sides) >= 5


def test_the_copies_of_a_u_are_dashed_arrows_one_for_each_joining():
    svg = ks.draw(unet(), style="figure").svg
    dashed = [one for one in elements(svg, "path") if one.get("stroke-dasharray")]
    arrows = [one for one in dashed if one.get("fill") == "none"]
    assert len(arrows) == 4 + 1  # and the one in the key


def test_a_convolution_of_another_window_has_an_arrow_of_its_own():
    """The last convolution of the published U-Net is 1 x 1; its arrow was that of 3 x 3."""
    for theme in ("light", "print"):
        svg = ks.draw(unet(), style="figure", theme=theme).svg
        words = [one.text for one in elements(svg, "text")]
        assert "conv 1\u00d71" in words
        assert "conv 1\u00d71" in ks.draw(unet(), style="figure", theme=theme).legend
        level = [one for one in elements(svg, "path") if one.get("fill") == "none"]
        level = [one for one in level if len({y for _, y in outline(one)}) == 1]
        solid = [one for one in level if not one.get("stroke-dasharray")]
        colours = [one.get("stroke") for one in solid]
        rarest = min(colours, key=colours.count)
        assert colours.count(rarest) == 2  # the last one, and the key


def test_legends_speak_of_sides_that_the_figure_has():
    for name, width in CASES:
        figure = figure_of(name, width)
        words = "".join(one.text for one in elements(figure.svg, "text"))
        for side in re.findall(r"\d+\u00b2", figure.legend):
            assert side in words


def test_what_ends_in_a_frame_has_an_arrow_out_of_it():
    for width in WIDTHS:
        svg = figure_of("bert", width).svg
        lines = [outline(one) for one in elements(svg, "path") if one.get("fill") == "none"]
        dashed = [outline(one) for one in elements(svg, "path") if one.get("stroke-dasharray")]
        right = max(x for path in dashed for x, _ in path)
        low = max(y for path in dashed for _, y in path)
        assert any(path[-1][0] > right + 2 or path[-1][1] > low + 2 for path in lines)


def test_a_wide_figure_of_sheets_says_what_leads_from_one_to_the_next():
    said = [one.text for one in elements(figure_of("lenet", "174mm").svg, "text")
            if one.get("data-says") == "step"]  # fmt: skip
    assert said[:2] == ["5\u00d75 conv", "2\u00d72 avg pool"]
    assert said.count("dense") == 3


def test_each_neuron_is_a_circle_and_each_weight_a_line():
    svg = figure_of("mlp", "84mm").svg
    assert len([*elements(svg, "circle")]) == 4 + 8 + 8 + 3
    assert len([*elements(svg, "path")]) == 4 * 8 + 8 * 8 + 8 * 3


def test_large_dense_layers_are_drawn_in_part_and_say_their_size():
    model = Sequential([L.Input(shape=(784,)), L.Dense(300), L.Dense(10)])
    figure = ks.draw(model, style="figure")
    assert figure.form == "neurons"
    circles = [one for one in elements(figure.svg, "circle") if float(one.get("r")) > 1]
    assert len(circles) == 8 + 8 + 10
    assert {"784", "300", "10"} <= {one.text for one in elements(figure.svg, "text")}
    assert "left out" in figure.legend


@pytest.mark.parametrize("width", WIDTHS)
def test_no_word_lies_on_a_neuron(width):
    """What stands below a layer of which some neurons are left out lay on the lowest one."""
    model = Sequential([L.Input(shape=(20,)), L.Dense(64, activation="relu"), L.Dense(1)])
    svg = ks.draw(model, style="figure", width=width).svg
    circles = [tuple(float(one.get(key)) for key in ("cx", "cy", "r"))
               for one in elements(svg, "circle")]  # fmt: skip
    for one, (left, top, right, bottom) in texts(svg):
        for x, y, radius in circles:
            is_beside = x + radius <= left or x - radius >= right
            assert is_beside or y + radius <= top or y - radius >= bottom, one.text


def test_repeated_blocks_are_counted():
    def counts(name, width):
        found = elements(figure_of(name, width).svg, "text")
        return [one.text for one in found if one.get("data-count")]

    for width in WIDTHS:
        assert counts("resnet50", width) == ["\u00d7 3", "\u00d7 4", "\u00d7 6", "\u00d7 3"]
        assert counts("bert", width) == ["\u00d7 12"]


@pytest.mark.parametrize("name", KNOWN)
def test_print_has_no_colour(name):
    svg = figure_of(name, "174mm", "print").svg
    colours = set(re.findall(r"#([0-9A-F]{6})", svg))
    assert colours
    assert all(one[:2] == one[2:4] == one[4:] for one in colours)


def test_light_and_dark_have_a_transparent_ground_and_other_colours():
    light, dark = (figure_of("lenet", "84mm", theme).svg for theme in ("light", "dark"))
    assert light != dark
    root = ET.fromstring(light)
    whole = [one for one in root if one.tag == f"{SVG}rect" or one.get("width") == "100%"]
    assert not whole


@pytest.mark.parametrize("name", ["vgg16", "mlp", "unet"])
def test_a_figure_of_many_marks_is_a_pdf_and_a_png_too(name):
    """Graphviz reads no text of more than 16 KB; ours has to come in pieces."""
    figure = figure_of(name, "174mm", "print")
    assert len(figure.to_format("pdf")) > 3000
    assert len(figure.to_format("png")) > 10000


def test_a_net_of_many_branches_fits_a_page():
    x = L.Input(shape=(16, 16, 4))
    y = x
    for number in range(15):
        y = L.Concatenate()([L.Conv2D(4 + number, size, padding="same")(y) for size in (1, 3, 5)])
    figure = ks.draw(Model(x, y), style="figure", width="84mm")
    root = ET.fromstring(figure.svg)
    assert float(root.get("viewBox").split()[3]) < 660
    assert sorted(layers_said(figure.svg)) == sorted(node.id for node in figure.whole.nodes)


def test_dense_blocks_repeat_though_their_channels_grow():
    x = L.Input(shape=(16, 16, 8))
    y = x
    for stage, times in enumerate((4, 6)):
        for number in range(times):
            name = f"stage{stage}_block{number}"
            z = L.Activation("relu")(L.BatchNormalization(name=f"{name}_bn")(y))
            z = L.Conv2D(16, 1, activation="relu", name=f"{name}_wide")(z)
            z = L.Conv2D(4, 3, padding="same", name=f"{name}_grow")(z)
            y = L.Concatenate(name=f"{name}_all")([y, z])
        y = L.Activation("relu")(L.BatchNormalization()(y))
        y = L.AveragePooling2D()(L.Conv2D(8 + 8 * stage, 1)(y))
    figure = ks.draw(Model(x, y), style="figure", width="84mm")
    words = [one.text for one in elements(figure.svg, "text")]
    assert [word for word in words if word.startswith("\u00d7")] == ["\u00d7 4", "\u00d7 6"]
    assert words.count("batch norm, relu") == 2  # and no layer's name stands for four
    assert sorted(layers_said(figure.svg)) == sorted(node.id for node in figure.whole.nodes)


def test_a_block_that_branches_too_far_is_called_as_its_end():
    x = L.Input(shape=(16, 16, 4))
    y = x
    for number in range(15):
        y = [L.Conv2D(4 + number, size, padding="same")(y) for size in (1, 3, 5)]
        y = L.Concatenate(name=f"mixed{number}")(y)
    svg = ks.draw(Model(x, y), style="figure", width="84mm").svg
    words = [one.text for one in elements(svg, "text")]
    assert "mixed3" in words
    assert "4 layers, 16\u00d716\u00d721" in words


def test_the_same_model_gives_the_same_figure():
    once, again = (ks.draw(lenet(), style="figure", width="84mm") for _ in range(2))
    assert once.svg.replace("flatten_2", "flatten_1") == again.svg or once.tikz == again.tikz


def test_a_form_can_be_asked_for():
    assert (
        ks.draw(model_of("vgg16"), style="figure", figure="blocks", width="84mm").form == "blocks"
    )
    with pytest.raises(ArgumentError, match="figure='blocks'"):
        ks.draw(mlp(), style="figure", figure="volumes")
    with pytest.raises(ArgumentError, match="Did you mean 'volumes'"):
        ks.draw(lenet(), style="figure", figure="volume")


@pytest.mark.parametrize("width", ["84", "wide", "-3mm", "5mm", "9in9", 84])
def test_a_width_that_is_none_is_refused(width):
    with pytest.raises(ArgumentError, match="width='84mm'"):
        ks.draw(mlp(), style="figure", width=width)


def test_too_many_volumes_say_how_wide_the_figure_must_be():
    layers = [L.Input(shape=(64, 64, 3))]
    for number in range(30):
        layers.append(L.Conv2D(8 + number * 8, 3, padding="same"))
    model = Sequential(layers)
    with pytest.raises(ArgumentError, match=r"at least (\d+) mm") as refused:
        ks.draw(model, style="figure", width="84mm")
    width = re.search(r"at least (\d+) mm", str(refused.value))[1]
    assert ks.draw(model, style="figure", width=f"{width}mm").form == "volumes"


def test_what_belongs_to_figures_alone_is_refused_elsewhere():
    for option in ({"figure": "u"}, {"width": "84mm"}):
        with pytest.raises(ArgumentError, match="style='figure'"):
            ks.draw(mlp(), **option)
    with pytest.raises(ArgumentError, match="style"):
        ks.draw(mlp(), style="poster")
    with pytest.raises(ArgumentError, match="highlight"):
        ks.draw(mlp(), style="figure", highlight="dense_*")
    with pytest.raises(ArgumentError, match="level"):
        ks.draw(mlp(), style="figure", level="op")


def test_a_figure_is_saved_in_all_formats_of_drawings_and_as_tikz(tmp_path):
    figure = ks.draw(mlp(), tmp_path / "m.tikz", style="figure")
    assert (tmp_path / "m.tikz").read_text(encoding="utf-8") == figure.tikz
    for suffix in ("svg", "tex", "json", "html", "txt"):
        assert figure.save(tmp_path / f"m.{suffix}").stat().st_size > 100


def test_nested_models_are_one_box_and_count_their_layers():
    inner = Sequential([L.Input(shape=(8,)), L.Dense(8), L.Dense(8)], name="tower")
    a, b = L.Input(shape=(8,)), L.Input(shape=(8,))
    model = Model([a, b], L.Dense(1)(L.Concatenate()([inner(a), inner(b)])))
    figure = ks.draw(model, style="figure")
    assert figure.form == "blocks"
    words = [one.text for one in elements(figure.svg, "text")]
    assert words.count("tower") == 2


def test_branches_that_join_are_drawn_beside_each_other():
    x = L.Input(shape=(16, 16, 8))
    y = L.Conv2D(8, 3, padding="same")(x)
    for _ in range(3):
        branches = [L.Conv2D(8, size, padding="same")(y) for size in (1, 3, 5)]
        y = L.Conv2D(8, 1)(L.Concatenate()(branches))
    figure = ks.draw(Model(x, y), style="figure", width="84mm")
    said = layers_said(figure.svg)
    assert sorted(said) == sorted(node.id for node in figure.whole.nodes)
    assert "\u00d7 3" in {one.text for one in elements(figure.svg, "text")}


def test_a_chain_of_many_layers_is_drawn():
    model = Sequential([L.Input(shape=(4, 4))] + [L.LayerNormalization() for _ in range(1000)])
    figure = ks.draw(model, style="figure")
    assert len(layers_said(figure.svg)) == 1001


def test_texts_are_as_wide_as_the_metrics_of_helvetica_say():
    for one, (left, _, right, _) in texts(figure_of("bert", "84mm").svg):
        bold = one.get("font-weight") == "bold"
        assert right - left == pytest.approx(
            text_width(one.text, float(one.get("font-size")), bold), abs=0.1
        )


def test_a_recurrent_layer_is_a_row_of_cells_that_say_their_class():
    tokens = L.Input(shape=(None,), dtype="int32", name="tokens")
    x = L.Bidirectional(L.LSTM(64, return_sequences=True))(L.Embedding(500, 32)(tokens))
    model = Model(tokens, L.Dense(3, activation="softmax")(L.GRU(16)(x)))
    figure = ks.draw(model, style="figure", width="84mm")
    words = [one.text for one in elements(figure.svg, "text")]
    assert figure.form == "columns"
    assert words.count("BiLSTM") == words.count("GRU") == 3
    assert "128" in words
    assert "GRU, 16" in words


def test_the_state_of_an_encoder_goes_to_its_decoder_and_all_its_steps_to_the_attention():
    svg = figure_of("seq2seq", "174mm").svg
    words = [one.text for one in elements(svg, "text")]
    assert words.count("LSTM") == 6
    assert words.count("state") == 1
    assert {"source", "target", "attention", "encoder, 512", "decoder, 512"} <= set(words)


def test_recurrent_models_that_stand_in_no_columns_are_blocks():
    ends = [L.Input(shape=(5, 3)) for _ in range(4)]
    model = Model(ends, L.Concatenate()([L.LSTM(2)(end) for end in ends]))
    assert ks.draw(model, style="figure").form == "blocks"


def paths(svg, filled):
    """Return the corners of filled outlines of layers, or of lines."""
    if filled:
        return [outline(one) for one in elements(svg, "path") if one.get("data-layers")]
    return [outline(one) for one in elements(svg, "path") if one.get("fill") == "none"]


def box_of(svg, layer):
    """Return left, top, right and bottom of the box of a layer."""
    found = [outline(one) for one in elements(svg, "path")
             if layer in (one.get("data-layers") or "").split("\n")]  # fmt: skip
    across, down = ([point[axis] for point in found[0]] for axis in (0, 1))
    return min(across), min(down), max(across), max(down)


def twins():
    encoder = Sequential([L.Input(shape=(8,)), L.Dense(4)], name="encoder")
    a, b = L.Input(shape=(8,), name="a"), L.Input(shape=(8,), name="b")
    apart = L.Subtract(name="apart")([encoder(a), encoder(b)])
    return Model([a, b], L.Dense(1, name="same")(apart))


def three_inputs():
    image, text = L.Input(shape=(16, 16, 3)), L.Input(shape=(20,), dtype="int32")
    numbers = L.Input(shape=(5,), name="numbers")
    x = L.Conv2D(8, 3)(L.Conv2D(4, 3)(image))
    ends = [L.GlobalAveragePooling2D()(x), L.LSTM(8)(L.Embedding(50, 4)(text))]
    h = L.Dense(16)(L.Concatenate()([*ends, L.Dense(8, name="few")(numbers)]))
    return Model([image, text, numbers], [L.Dense(1, name="price")(h), L.Dense(4, name="kind")(h)])


def inception():
    x = y = L.Input(shape=(16, 16, 8))
    for _ in range(2):
        a = L.Conv2D(8, 1)(y)
        b = L.Conv2D(8, 3, padding="same")(L.Conv2D(4, 1)(y))
        c = L.Conv2D(8, 1)(L.MaxPooling2D(3, 1, padding="same")(y))
        y = L.Concatenate()([y, a, b, c])
    return Model(x, L.Dense(3)(L.GlobalAveragePooling2D()(y)))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("model", [twins, three_inputs, inception])
def test_no_arrow_runs_through_the_box_of_a_layer(model, width):
    figure = ks.draw(model(), style="figure", width=width)
    assert figure.form == "blocks"
    boxes = []
    for corners in paths(figure.svg, True):
        across, down = ([point[axis] for point in corners] for axis in (0, 1))
        boxes.append((min(across) + 1, min(down) + 1, max(across) - 1, max(down) - 1))
    for corners in paths(figure.svg, False):
        for box in boxes:
            assert not any(meets(a, b, box) for a, b in pairwise(corners)), (corners, box)


@pytest.mark.parametrize("width", WIDTHS)
def test_what_joins_two_inputs_leads_on(width):
    """At 84 mm the arrow to the last layer came from the box of the second input."""
    svg = ks.draw(twins(), style="figure", width=width).svg
    left, top, right, bottom = box_of(svg, "apart")
    begins = [corners[0] for corners in paths(svg, False)]
    assert any(left <= x <= right + 1 and top <= y <= bottom + 1 for x, y in begins)
    last = box_of(svg, "same")
    ends = [corners[-1] for corners in paths(svg, False)]
    assert any(last[0] - 5 <= x <= last[2] and last[1] - 5 <= y <= last[3] for x, y in ends)


@pytest.mark.parametrize("width", WIDTHS)
def test_several_outputs_are_the_end_and_stand_in_no_frame(width):
    svg = ks.draw(three_inputs(), style="figure", width=width).svg
    assert not [one for one in elements(svg, "path") if one.get("stroke-dasharray")]
    begins = [corners[0] for corners in paths(svg, False)]
    for layer in ("price", "kind"):
        left, top, right, bottom = box_of(svg, layer)
        assert not any(left <= x <= right + 1 and top <= y <= bottom + 1 for x, y in begins)


def test_a_deep_dense_net_is_drawn_as_neurons_only_where_all_have_room():
    model = Sequential([L.Input(shape=(20,)), *(L.Dense(64) for _ in range(40)), L.Dense(1)])
    assert ks.draw(model, style="figure", width="84mm").form == "blocks"
    assert ks.draw(model, style="figure", width="174mm").form == "blocks"
    with pytest.raises(ArgumentError, match=r"at least (\d+) mm.*figure='blocks'") as refused:
        ks.draw(model, style="figure", figure="neurons")
    width = re.search(r"at least (\d+) mm", str(refused.value))[1]
    figure = ks.draw(model, style="figure", figure="neurons", width=f"{width}mm")
    circles = [(float(one.get("cx")), float(one.get("r"))) for one in elements(figure.svg, "circle")
               if float(one.get("r")) > 1]  # fmt: skip
    columns = sorted({x for x, _ in circles})
    assert min(b - a for a, b in pairwise(columns)) > 2 * circles[0][1]


def test_activations_of_pytorch_are_words_and_places_in_a_sequential_no_names():
    nodes = [GraphNode("input", "input", "input", attrs={"output_shapes": "(1, 3, 32, 32)"})]
    for place, name, kind, shape in (("0", "Conv2d", "convolution", "(1, 16, 30, 30)"),
                                     ("1", "LeakyReLU", "activation", "(1, 16, 30, 30)"),
                                     ("2", "MaxPool2d", "pooling", "(1, 16, 15, 15)")):  # fmt: skip
        settings = {
            "Conv2d": "kernel_size (3, 5), stride 2",
            "MaxPool2d": "kernel_size 2, stride 2",
        }
        attrs = {"class_name": name, "output_shapes": shape, "settings": settings.get(name, "")}
        nodes.append(GraphNode(place, place, kind, attrs=attrs))
    edges = [GraphEdge(a.id, b.id) for a, b in pairwise(nodes)]
    figure = ks.draw(Graph("net", tuple(nodes), tuple(edges)), style="figure")
    words = [one.text for one in elements(figure.svg, "text")]
    assert {"conv", "pool"} <= set(words)
    assert "leaky relu" in figure.legend
    assert "3\u00d75 convolution, 2\u00d72 pooling" in figure.legend


def test_volumes_of_sequences_are_said_to_be_long_and_not_wide():
    model = Sequential([L.Input(shape=(64, 4)), L.Conv1D(40, 5), L.Dense(2)])
    legend = ks.draw(model, style="figure", figure="volumes").legend
    assert "length \u00d7 channels" in legend
    assert "width" not in legend


@pytest.mark.parametrize("beside", ["convolution", "attention"])
def test_a_u_with_a_layer_that_it_could_not_show_is_blocks(beside):
    """Layers on a copy across the U were lost on its arrow, others were boxes without a name."""
    x = y = L.Input(shape=(16, 16, 2))
    copy = y = L.Conv2D(4, 3, padding="same")(y)
    y = L.Conv2D(8, 3, padding="same")(L.MaxPooling2D()(y))
    if beside == "convolution":
        copy = L.Conv2D(4, 1)(copy)
    else:
        y = L.Reshape((8, 8, 8))(y)
    y = L.Conv2DTranspose(4, 2, strides=2)(y)
    y = L.Conv2D(2, 3, padding="same")(L.Concatenate()([copy, y]))
    assert ks.draw(Model(x, y), style="figure").form == "blocks"


def test_a_form_that_cannot_say_what_is_shared_is_refused_and_not_chosen():
    x, same = L.Input(shape=(4,)), L.Dense(4)
    model = Model(x, L.Dense(2)(same(same(x))))
    figure = ks.draw(model, style="figure")
    assert figure.form == "blocks"
    assert "2 layers, " in figure.title
    assert "same weights" in figure.legend
    with pytest.raises(ArgumentError, match="layers that are called once each"):
        ks.draw(model, style="figure", figure="neurons")


def test_what_one_step_of_attention_does_is_a_row_of_its_own():
    """The softmax between two products belonged to the first one, and no word named it."""
    a, b = L.Input(shape=(5, 4)), L.Input(shape=(5, 4))
    said, seen = L.LSTM(4, return_sequences=True)(a), L.LSTM(4, return_sequences=True)(b)
    score = L.Activation("softmax", name="weights")(L.Dot(axes=2)([seen, said]))
    model = Model([a, b], L.Dot(axes=(2, 1))([score, said]))
    svg = ks.draw(model, style="figure").svg
    assert {"weights", "softmax"} <= {one.text for one in elements(svg, "text")}
