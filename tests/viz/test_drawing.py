import inspect
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pygraphviz
import pytest
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.errors import (
    ArgumentError,
    DtypeError,
    MissingToolError,
    NotBuiltError,
    NotCompiledError,
)
from kerascope.viz.draw import KEYWORDS, draw
from kerascope.viz.exports.graphviz import render
from kerascope.viz.formats import SUFFIXES

SVG = "{http://www.w3.org/2000/svg}"
FIRST_BYTES = {
    ".svg": b"<svg",
    ".html": b"<!DOCTYPE html>",
    ".png": b"\x89PNG\r\n",
    ".pdf": b"%PDF-",
    ".graphml": b"<?xml",
}


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def svg_parts(drawing, kind):
    """Return what Graphviz drew of one kind: "node", "edge" or "cluster"."""
    root = ElementTree.fromstring(render(drawing.source, "svg"))
    return [group for group in root.iter(f"{SVG}g") if group.get("class") == kind]


def positions(source):
    """Return where dot puts each box, {id: (x, y)}, y growing upwards."""
    picture = pygraphviz.AGraph(string=source)
    picture.layout(prog="dot")
    return {
        str(box).replace("\\\\", "\\"): tuple(float(part) for part in box.attr["pos"].split(","))
        for box in picture.nodes()
    }


# --- the picture ----------------------------------------------------------------------------------

OPTIONS = [
    {},
    {"level": "layer"},
    {"expand_nested": True, "depth_ranks": True},
    {"expand_nested": True, "rankdir": "LR"},
    {"show_shapes": False, "show_layer_names": False},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_graphviz_draws_every_box_and_arrow_too(model, options):
    drawing = draw(model, **options)
    ids = [group.get("id") for group in svg_parts(drawing, "node")]
    boxes = [one for one in ids if not one.startswith("depth-")]
    assert sorted(boxes) == sorted(f"node-{box.id}" for box in drawing.graph.nodes)
    arrows = {group.get("id") for group in svg_parts(drawing, "edge")}
    assert len([one for one in arrows if one]) >= len(drawing.graph.edges)
    assert len(svg_parts(drawing, "cluster")) == len(drawing.graph.groups)


def test_boxes_of_one_depth_stand_in_one_row_and_deeper_ones_above(model):
    drawing = draw(model)
    places = positions(drawing.source)
    heights = {
        depth: {round(places[box.id][1]) for box in row}
        for depth, row in drawing.graph.rows().items()
    }
    assert all(len(one) == 1 for one in heights.values())
    from_the_top = [max(one) for one in heights.values()]
    assert from_the_top == sorted(from_the_top, reverse=True)
    assert len(set(from_the_top)) == len(from_the_top)


def test_left_to_right_the_inputs_are_left():
    places = positions(draw(ZOO["chain"](), rankdir="LR").source)
    across = [places[name][0] for name in ("pixels", "hidden", "dropout", "scores")]
    assert across == sorted(across)


def test_depths_are_written_at_the_side():
    drawing = draw(ZOO["siamese"](), depth_ranks=True, expand_nested=True)
    texts = ["".join(group.itertext()).split() for group in svg_parts(drawing, "node")]
    written = [text[-2:] for text in texts if text[0:2] == ["depth", "axis"]]
    assert written == [["depth", "3"], ["depth", "2"], ["depth", "1"], ["depth", "0"]]


def test_odd_characters_in_names_survive():
    drawing = draw(ZOO["odd_names"]())
    root = ElementTree.fromstring(render(drawing.source, "svg"))
    texts = " ".join(element.text.replace("\xa0", " ") for element in root.iter(f"{SVG}text"))
    for name in ('a<b> & "c"', "pipe|brace{x}[1]:p\\", "größe→日本 'q' %s \\n", "<b>bold</b>"):
        assert name in texts


def test_a_long_name_is_shortened_in_its_box_and_whole_in_the_graph():
    x = ks.Input(shape=(2,), name="x")
    name = "block_" * 20
    drawing = draw(ks.Model(x, ks.layers.Dense(1, name=name)(x)))
    assert "block_block_block_block_…" in drawing.source
    assert drawing.graph.node(name).label == name


def test_shapes_and_names_can_be_left_out():
    drawing = draw(ZOO["chain"](), show_shapes=False, show_layer_names=False)
    texts = [text.text for group in svg_parts(drawing, "node") for text in group.iter(f"{SVG}text")]
    assert "Dense" in texts
    assert not [text for text in texts if "hidden" in text or "None" in text]


def test_the_picture_never_asks_for_right_angled_lines(model):
    assert "ortho" not in draw(model).source


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_suffix_is_written_whole(tmp_path, suffix):
    path = tmp_path / f"model{suffix}"
    draw(ZOO["siamese"](), to=path)
    assert path.read_bytes().startswith(FIRST_BYTES.get(suffix, b""))
    assert path.stat().st_size > 500
    assert list(tmp_path.iterdir()) == [path]


def test_save_returns_the_path_and_ignores_the_case_of_the_suffix(tmp_path):
    path = tmp_path / "MODEL.PNG"
    assert draw(ZOO["chain"]()).save(str(path)) == path
    assert path.read_bytes().startswith(FIRST_BYTES[".png"])


def test_a_higher_resolution_makes_a_larger_png(tmp_path):
    def width(dpi):
        png = draw(ZOO["chain"](), dpi=dpi).render("png")
        return int.from_bytes(png[16:20])

    assert width(192) == pytest.approx(2 * width(96), abs=4)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.png"
    path.write_text("old", encoding="utf-8")

    def fail(self, *args, **kwargs):
        raise ValueError("no layout")

    monkeypatch.setattr(pygraphviz.AGraph, "draw", fail)
    with pytest.raises(ValueError, match="no layout"):
        draw(ZOO["chain"](), to=path)
    assert path.read_text(encoding="utf-8") == "old"


SCRIPT = """
import sys
from zoo import ZOO
from kerascope.viz.draw import draw
from kerascope.viz.extract.ladder import gradient_ladder
from kerascope.viz.extract.ops import op_graph_of_function, op_graph_of_model
from kerascope.viz.extract.training import training_graph
folder, suffixes, names = sys.argv[1], sys.argv[2].split(), sys.argv[3:]
for name in names:
    model = ZOO[name]()
    drawing = draw(model, expand_nested=True, depth_ranks=True)
    for suffix in suffixes:
        drawing.save(folder + "/" + name + suffix)
    if name in ("siamese", "transformer"):
        model.compile("nadam", "mse")
        model._make_train_function()
        print(op_graph_of_model(model), op_graph_of_function(model.train_function))
        print(training_graph(model), gradient_ladder(model))
"""
SOME = ["siamese", "odd_names", "wrapped_twice", "three_levels", "transformer"]


@pytest.mark.parametrize("names", [SOME, pytest.param(list(ZOO), marks=pytest.mark.slow)], ids=len)
def test_two_processes_make_the_same_graphs_and_write_the_same_bytes(tmp_path, names):
    graphs = []
    root = Path(__file__).resolve().parents[2]
    folders = [tmp_path / "one", tmp_path / "two"]
    for seed, folder in enumerate(folders):
        folder.mkdir()
        path = os.pathsep.join([str(root), str(root / "tests")])
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": path}
        command = [sys.executable, "-c", SCRIPT, str(folder), " ".join(SUFFIXES), *names]
        done = subprocess.run(command, check=True, env=environment, capture_output=True)
        graphs.append(done.stdout)
    assert len(graphs[0]) > 10_000
    assert graphs[0] == graphs[1]
    one, two = ({p.name: p.read_bytes() for p in folder.iterdir()} for folder in folders)
    assert len(one) == len(SUFFIXES) * len(names)
    assert [name for name in one if one[name] != two[name]] == []


def test_neither_time_nor_version_is_written():
    source = draw(ZOO["chain"]()).source
    assert b"Generated by" not in render(source, "svg")
    assert b"/CreationDate (D:20000101000000" in render(source, "pdf")


# --- tools ----------------------------------------------------------------------------------------


def without_pygraphviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)


def test_without_any_graphviz_only_png_and_pdf_are_missing(monkeypatch, tmp_path):
    without_pygraphviz(monkeypatch)
    monkeypatch.setenv("PATH", str(tmp_path))
    drawing = draw(ZOO["siamese"]())
    for suffix in SUFFIXES:
        path = tmp_path / f"model{suffix}"
        if suffix not in (".png", ".pdf"):
            assert drawing.save(path).stat().st_size > 500
            continue
        with pytest.raises(MissingToolError, match=r"pip install 'pygraphviz>=2.0'.*Graphviz"):
            drawing.save(path)
        assert not path.exists()
    assert list(drawing._repr_mimebundle_()) == ["text/plain", "image/svg+xml"]
    with pytest.raises(MissingToolError, match="pip install"):
        draw(ZOO["chain"](), engine="dot").render("svg")


def test_the_other_engine_is_graphviz():
    ours, theirs = (draw(ZOO["chain"](), engine=engine).svg for engine in ("kerascope", "dot"))
    assert ours.startswith("<svg")
    assert theirs.startswith("<?xml")


def test_a_png_has_our_layout_and_the_size_of_the_svg():
    drawing = draw(ZOO["diamond"](), dpi=72)
    width, height = (int.from_bytes(drawing.render("png")[i : i + 4]) for i in (16, 20))
    assert width == pytest.approx(drawing.layout.width, abs=12)
    assert height == pytest.approx(drawing.layout.height, abs=12)


# --- what it is given -----------------------------------------------------------------------------


class OwnCall(ks.Model):
    def call(self, inputs):
        return inputs


@pytest.mark.parametrize("function", [ks.draw, ks.to_networkx])
def test_what_is_no_model_is_refused(function):
    where = function.__name__
    with pytest.raises(DtypeError, match=rf"{where}: expected a model .*, got int 3"):
        function(3)
    words = rf"{where}: expected a model .*, got the class Model\. Make a model of it: "
    with pytest.raises(DtypeError, match=words):
        function(ks.Model)


@pytest.mark.parametrize("function", [ks.draw, ks.to_networkx])
def test_a_model_without_a_graph_is_refused_with_the_way_out(function):
    deferred = ks.Sequential([ks.layers.Dense(2)])
    with pytest.raises(NotBuiltError, match=r"has no graph of layers.*model\.build\(input_shape\)"):
        function(deferred)
    with pytest.raises(NotBuiltError, match=r"Call it on a batch first, or wrap it"):
        function(OwnCall())


@pytest.mark.parametrize("function", [ks.draw, ks.to_networkx])
@pytest.mark.parametrize("level", ["layer", "node", "op", "gradient", "training"])
@pytest.mark.parametrize("layers", [[], [ks.layers.Dense(2)]])
def test_a_model_without_a_graph_is_refused_alike_at_every_level(function, level, layers):
    where = rf"^{function.__name__}: Sequential 'waiting' has no graph of layers"
    with pytest.raises(NotBuiltError, match=where):
        function(ks.Sequential(layers, name="waiting"), level=level)


@pytest.mark.parametrize("level", ["gradient", "training"])
def test_an_uncompiled_model_hears_who_refuses_it(level):
    model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,))])
    with pytest.raises(NotCompiledError, match=r"^draw: .* has no loss.*Compile it first"):
        ks.draw(model, level=level)
    with pytest.raises(
        NotBuiltError, match=r"^draw: Dense 'd' was never called on a symbolic tensor"
    ):
        ks.draw(ks.layers.Dense(2, name="d"))


def test_a_sequential_is_drawn_once_it_is_built():
    deferred = ks.Sequential([ks.layers.Dense(2)])
    deferred.build((None, 4))
    assert len(draw(deferred).graph.nodes) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": "nodes"}, r"unknown level 'nodes'. Did you mean 'node'\?"),
        ({"level": "op", "expand_nested": True}, "Use expand='all'"),
        ({"expand": "all", "expand_nested": True}, "Leave one out"),
        ({"engine": "neato"}, r"unknown engine 'neato'. Use one of: 'kerascope', 'dot'\."),
        ({"theme": "drak"}, r"Did you mean 'dark'\?"),
        ({"most": 0}, "most: expected a number above 0, got 0"),
        ({"time_limit": True}, "time_limit: expected a number above 0, got True"),
        ({"at": 1}, "needs the inputs of the run: values=x"),
        ({"values": [[1.0] * 20], "level": "op"}, "expected a model at level 'node'"),
        ({"gradients": 3}, r"gradients: expected \(x, y\), got int"),
        ({"highlight": "hiden"}, r"Did you mean 'hidden'\?"),
        ({"expand": "nothing"}, "has no frames, got 'nothing'"),
        ({"level": "layer", "expand_nested": True}, "Use level='node'"),
        ({"rankdir": "RL"}, "unknown rankdir 'RL'. Use one of: 'TB', 'LR'."),
        ({"highlight": 3}, "highlight: expected names of boxes or layers, got 3"),
        ({"highlight": [3]}, "highlight: expected names of boxes or layers"),
        ({"label": "name"}, "expected label as a function from a box to its name, got 'name'"),
        ({"wrt": []}, "Leave it out, or draw model.total_loss"),
        ({"to_file": "model.png"}, "Did you mean 'to'?"),
        ({"dpi": 0}, "dpi: expected a number above 0, got 0"),
        ({"to": "model.bmp"}, r"the suffix '\.bmp'. Use one of: \.svg, \.png, \.pdf"),
        ({"to": "model"}, "from the suffix ''"),
        ({"to": "no/such/folder/model.svg"}, "the folder 'no/such/folder' does not exist"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(options, words):
    with pytest.raises(ArgumentError, match=words):
        draw(ZOO["chain"](), **options)


def test_a_ladder_is_turned_by_graphviz_alone():
    model = ZOO["chain"]()
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="runs down one side and up the other"):
        draw(model, level="training", rankdir="LR")
    assert 'rankdir="LR"' in draw(model, level="training", rankdir="LR", engine="dot").source


def test_a_layer_may_stand_for_its_name():
    model = ZOO["siamese"]()
    encoder = model.get_layer("encoder")
    assert draw(model, expand=encoder).source == draw(model, expand="encoder").source
    assert draw(model, expand=[encoder]).source == draw(model, expand=["encoder"]).source
    assert draw(model, highlight=encoder).source == draw(model, highlight="encoder").source


def test_the_file_may_stand_second_as_in_plot_model(tmp_path):
    drawing = draw(ZOO["chain"](), tmp_path / "model.svg")
    assert (tmp_path / "model.svg").read_text(encoding="utf-8") == drawing.svg


def test_what_is_no_model_to_compare_with_is_said_to_be_that():
    with pytest.raises(TypeError, match="draw: diff: expected a model"):
        draw(ZOO["chain"](), diff=3)


def test_a_neutral_graph_is_drawn_too():
    drawing = draw(ZOO["chain"]())
    assert draw(drawing.graph).source == drawing.source
    assert draw(drawing).source == drawing.source
    assert draw(ZOO["diamond"](), diff=drawing).graph.attrs["removed"] == 4


# --- where it shows -------------------------------------------------------------------------------


def test_a_notebook_gets_svg():
    drawing = draw(ZOO["chain"]())
    bundle = drawing._repr_mimebundle_()
    assert bundle["image/svg+xml"] == drawing._repr_svg_()
    assert bundle["image/svg+xml"].startswith("<svg")


def test_a_terminal_gets_one_line():
    text = repr(draw(ZOO["siamese"](), expand_nested=True))
    assert text == (
        "<Drawing of 'siamese', node view: 10 boxes, 9 arrows, 2 frames. "
        "Save it with .save('model.svg')>"
    )


def test_a_chain_of_a_thousand_layers_becomes_dot_text():
    x = y = ks.Input(shape=(1,), name="x")
    for number in range(1000):
        y = ks.layers.Activation("relu", name=f"step_{number}")(y)
    source = draw(ks.Model(x, y), most=None).source
    assert source.count(" -> ") == 1000
    assert "nslimit=" in source


def test_a_misspelt_argument_is_guessed():
    with pytest.raises(ArgumentError, match="'shapes'. Did you mean 'show_shapes'"):
        draw(ZOO["chain"](), shapes=True)


def test_every_argument_of_draw_can_be_guessed():
    parameters = inspect.signature(draw).parameters.values()
    named = [p.name for p in parameters if p.kind is not inspect.Parameter.VAR_KEYWORD]
    assert ["subject", *KEYWORDS] == named
