import re
from xml.etree import ElementTree

import pygraphviz
import pytest
from effort import growth
from zoo import THINNED_ZOO, ZOO

from kerascope.layers import Add, Input
from kerascope.models import Model
from kerascope.viz import theme
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.draw import draw
from kerascope.viz.exports.graphviz import render
from kerascope.viz.exports.to_dot import MANY_BOXES, dot_names, to_dot
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode


def box(name, depth=0, kind="dense", group="", **attrs):
    return GraphNode(name, name, kind, group, depth, attrs)


def read(source, prog=None):
    picture = pygraphviz.AGraph(string=source)
    if prog:
        picture.layout(prog=prog)
    return picture


def place(picture, name):
    return tuple(float(part) for part in picture.get_node(name).attr["pos"].split(","))


PAIR = Graph("pair", (box("a", 1), box("b")), (GraphEdge("a", "b"),))


# --- options --------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["show_dtype", "show_trainable"])
def test_what_is_asked_for_stands_in_the_boxes(option):
    graph = graph_of(ZOO["chain"]())
    words = {"show_dtype": ">float32<", "show_trainable": "· trainable<"}[option]
    assert words not in to_dot(graph)
    assert words in to_dot(graph, PictureOptions(**{option: True}))


def test_shapes_that_are_not_asked_for_are_nowhere():
    graph = graph_of(ZOO["siamese"](), expand_nested=True)
    assert "(None" in to_dot(graph)
    assert "(None" not in to_dot(graph, PictureOptions(show_shapes=False))


def test_themes_have_their_own_ground_and_auto_is_light():
    sources = {name: to_dot(PAIR, PictureOptions(theme=name)) for name in theme.THEMES}
    assert theme.DARK.background in sources["dark"]
    assert theme.DARK.background not in sources["light"]
    assert sources["auto"] == sources["light"]


# --- states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", theme.STATES)
def test_a_state_is_seen_without_its_colour(name):
    state = theme.STATES[name]
    marked = Graph("one", (box("a", state=name, note="why"),), ())
    picture = read(to_dot(marked))
    attr = picture.get_node("a").attr
    assert attr["color"] == theme.LIGHT.line(state.hue)
    assert ("dashed" in attr["style"]) == state.dashed
    assert (attr["penwidth"] == "2.2") == state.heavy
    assert f"{state.glyph} why" in attr["label"]
    assert (attr["fillcolor"] == theme.LIGHT.background) == state.quiet


def test_an_arrow_with_a_state_carries_its_sign():
    edge = GraphEdge("a", "b", "x2", {"state": "removed", "note": "gone"})
    picture = read(to_dot(Graph("one", PAIR.nodes, (edge,))))
    (arrow,) = picture.edges()
    assert arrow.attr["label"] == " x2 ⊖ gone "
    assert (arrow.attr["style"], arrow.attr["penwidth"]) == ("dashed", "2.2")
    assert arrow.attr["color"] == theme.LIGHT.line("vermillion")


def test_an_unknown_state_is_no_state():
    assert "penwidth=" not in to_dot(Graph("one", (box("a", state="odd"),), ())).split('"a"')[1]


# --- what flows backward --------------------------------------------------------------------------

LADDER = Graph(
    "ladder",
    (
        *(box("x", 2), box("y", 1), box("loss", 0, "loss")),
        *(box("d y", 1, "gradient", beside="y"), box("d x", 2, "gradient", beside="x")),
        box("d loss", 0, "gradient", beside="loss"),
    ),
    (
        *(GraphEdge("x", "y"), GraphEdge("y", "loss")),
        GraphEdge("d loss", "d y", "", {"role": "gradient"}),
        GraphEdge("d y", "d x", "", {"role": "gradient"}),
        GraphEdge("d x", "x", "", {"role": "update"}),
    ),
)


@pytest.mark.parametrize("rankdir", ["TB", "LR"])
def test_a_gradient_stands_beside_its_box(rankdir):
    picture = read(to_dot(LADDER, PictureOptions(rankdir=rankdir)), prog="dot")
    along = 1 if rankdir == "TB" else 0
    for name in ("x", "y", "loss"):
        one, other = place(picture, name), place(picture, f"d {name}")
        assert one[along] == pytest.approx(other[along], abs=1)
        if rankdir == "TB":
            assert one[0] < other[0]
    rows = [place(picture, name)[along] for name in ("x", "y", "loss")]
    assert rows == sorted(rows, reverse=rankdir == "TB")


def test_gradients_are_dashed_and_updates_dotted_and_neither_moves_a_row():
    picture = read(to_dot(LADDER))
    arrows = {(str(e[0]), str(e[1])): e.attr for e in picture.edges() if e.attr["id"]}
    gradient, update = arrows["d y", "d x"], arrows["d x", "x"]
    assert (gradient["style"], update["style"]) == ("dashed", "dotted")
    assert gradient["constraint"] == update["constraint"] == "false"
    assert gradient["color"] == theme.LIGHT.line("purple")
    assert update["color"] == theme.LIGHT.line("green")
    assert arrows["x", "y"]["constraint"] in (None, "")


def test_a_neighbour_that_is_not_there_is_no_neighbour():
    source = to_dot(Graph("one", (box("a", beside="gone"), box("b", beside="b")), ()))
    assert "invis" not in source
    assert '{ rank=same; "a"; "b" }' in source


# --- what stands for several ----------------------------------------------------------------------


def test_copies_have_three_outlines():
    graph = Graph("g", (box("a", kind="block", copies=6), box("b", kind="block"), box("c")), ())
    picture = read(to_dot(graph))
    assert [picture.get_node(n).attr["peripheries"] for n in "abc"] == ["3", "2", ""]
    assert "6 copies" in picture.get_node("a").attr["label"]


@pytest.mark.parametrize("kind", ["call", "layer", "block", "copies", "scope", "loop"])
def test_frames_of_every_kind_are_drawn(kind):
    groups = (GraphGroup("outer", "outer", "", 1, {"kind": kind}), GraphGroup("in", "in", "outer"))
    graph = Graph("g", (box("a", 1, group="in"), box("b")), (GraphEdge("a", "b"),), groups)
    picture = read(to_dot(graph), prog="dot")
    (outer,) = picture.subgraphs()
    assert outer.name == "cluster outer"
    assert kind in outer.graph_attr["tooltip"] or kind in ("layer", "copies", "loop")
    assert [inner.name for inner in outer.subgraphs()] == ["cluster in"]


def test_frames_of_different_kinds_have_different_lines():
    def line(kind):
        groups = (GraphGroup("f", "f", "", 0, {"kind": kind}),)
        return re.search(
            'rounded,filled,(\\w+)"', to_dot(Graph("g", (box("a", group="f"),), (), groups))
        )[1]

    kinds = ("call", "block", "scope", "loop")
    assert [line(kind) for kind in kinds] == ["dashed", "solid", "dotted", "bold"]


# --- names ----------------------------------------------------------------------------------------


def test_ids_that_graphviz_cannot_hold_stay_apart():
    names = ["", "%a", "_%a", "a\n", "a ", "a\t", "depth axis 0", "(no name)"]
    groups = tuple(GraphGroup(f"{name}!", name) for name in names)
    nodes = tuple(box(name, group=f"{name}!") for name in names)
    edges = tuple(GraphEdge(name, names[0]) for name in names)
    picture = read(to_dot(Graph("g", nodes, edges, groups), PictureOptions(depth_ranks=True)))
    assert picture.number_of_nodes() == len(names) + 1  # and the depth
    assert picture.number_of_edges() == len(names)
    assert len(picture.subgraphs()) >= len(names)


# --- size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("frame_size", [1, 10, 10_000])
@pytest.mark.parametrize("few", [50, pytest.param(500, marks=pytest.mark.slow)])
def test_work_grows_with_the_number_of_boxes_however_many_frames_there_are(few, frame_size):
    def drawn(count):
        groups = tuple(GraphGroup(f"g{i}", "g") for i in range((count - 1) // frame_size + 1))
        nodes = tuple(box(f"b{i}", count - i, group=f"g{i // frame_size}") for i in range(count))
        edges = tuple(GraphEdge(f"b{i}", f"b{i + 1}") for i in range(count - 1))
        graph = Graph("big", nodes, edges, groups)
        source = to_dot(graph, PictureOptions(depth_ranks=True))
        assert source.count('[id="edge-') == count - 1

    assert growth(drawn, few, times=8) < 12  # a square: 64


# --- the picture that dot makes -------------------------------------------------------------------

KINDS_OF_PARTS = ("node", "edge", "cluster")
OPTIONS = [{}, {"depth_ranks": True}, {"rankdir": "LR"}, {"show_shapes": False, "theme": "dark"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_dot_draws_every_box_arrow_and_frame_of_the_zoo(name, options):
    graph = graph_of(ZOO[name](), expand_nested=True)
    picture = render(to_dot(graph, PictureOptions(**options)), "svg").decode("utf-8")
    groups = list(ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}g"))
    ids = {kind: {x.get("id") for x in groups if x.get("class") == kind} for kind in KINDS_OF_PARTS}
    boxes = {one for one in ids["node"] if not one.startswith("depth-")}
    assert boxes == {f"node-{node.id}" for node in graph.nodes}
    assert {f"edge-{number}" for number in range(len(graph.edges))} <= ids["edge"]
    assert ids["cluster"] == {f"group-{group.id}" for group in graph.groups}


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_boxes_of_one_depth_stand_in_one_row_and_deeper_ones_above(name):
    graph = graph_of(ZOO[name]())
    picture = read(to_dot(graph), prog="dot")
    names = dot_names(node.id for node in graph.nodes)
    heights = [
        {round(place(picture, names[box.id].replace("\\", "\\\\"))[1]) for box in row}
        for row in graph.rows().values()
    ]
    assert all(len(one) == 1 for one in heights)
    from_the_top = [max(one) for one in heights]
    assert from_the_top == sorted(set(from_the_top), reverse=True)


def test_dot_is_never_asked_for_right_angled_lines_and_is_cut_off_at_many_boxes():
    nodes = tuple(box(f"b{i}", i) for i in range(MANY_BOXES + 1))
    assert "nslimit=" in to_dot(Graph("many", nodes, ()))
    assert "nslimit=" not in to_dot(Graph("few", nodes[1:], ()))
    assert "ortho" not in to_dot(Graph("many", nodes, ()))


@pytest.mark.parametrize(
    ("rankdir", "sides"), [("TB", ["B", "BL", "BL"]), ("LR", ["R", "RT", "RT"])]
)
def test_lines_divide_the_cells_of_operands(rankdir, sides):
    x = Input(shape=(3,), name="x")
    source = draw(Model(x, Add(name="sum")([x, x, x])), rankdir=rankdir).source
    assert re.findall(r'PORT="i\d" BORDER="1" SIDES="(\w+)"', source) == sides
