"""Random graphs of plain boxes, for tests that hold for any graph."""

from hypothesis import strategies as st

from kerascope.viz.graph import Graph, GraphEdge, GraphNode

CLASSES = ("Dense", "ReLU", "Add")


def box(name, class_name, depth, **attrs):
    facts = {"class_name": class_name, "parameters": 0, "shared_with": "", "outputs": ""}
    facts |= {"output_shapes": "(None, 4)", "dtype": "float32", "trainable": True}
    return GraphNode(name, name, class_name.lower(), "", depth, {**facts, **attrs})


def arrow(source, target, operand=0, output=0):
    attrs = {"operand": operand, "output": output, "shape": "(None, 4)", "dtype": "float32"}
    return GraphEdge(source, target, "", attrs)


def graph_of(classes, arrows, names=None):
    """Make a graph; arrows are pairs of positions in `classes`, from lower to higher ones."""
    depths = [0] * len(classes)
    for source, target in sorted(arrows, key=lambda pair: -pair[1]):
        depths[source] = max(depths[source], depths[target] + 1)
    for source, target in sorted(arrows, reverse=True):
        depths[source] = max(depths[source], depths[target] + 1)
    names = names or [f"n{number}" for number in range(len(classes))]
    boxes = [box(*entry) for entry in zip(names, classes, depths, strict=True)]
    operands = [0] * len(classes)
    edges = []
    for source, target in arrows:
        edges.append(arrow(names[source], names[target], operands[target]))
        operands[target] += 1
    boxes.sort(key=lambda one: -one.depth)
    return Graph("random", tuple(boxes), tuple(edges))


@st.composite
def graphs(draw, most=24):
    """Draw chains of small random pieces, some of them repeated, with a few long arrows."""
    classes, arrows = [], []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(1, 4))
        piece = draw(st.lists(st.sampled_from(CLASSES), min_size=size, max_size=size))
        skips = draw(st.lists(st.tuples(st.integers(-1, size - 2), st.integers(0, size - 1))))
        for _ in range(draw(st.integers(1, 4))):
            start = len(classes)
            classes += piece
            arrows += [(i - 1, i) for i in range(start, start + size) if i]
            arrows += [(start + a, start + b) for a, b in skips[:3] if a < b and start + a >= 0]
    last = len(classes) - 1
    pairs = st.tuples(st.integers(0, last), st.integers(0, last))
    arrows += [(a, b) for a, b in draw(st.lists(pairs, max_size=3)) if a < b]
    dropped = draw(st.lists(st.integers(0, len(arrows)), max_size=2))
    arrows = [pair for number, pair in enumerate(arrows) if number not in dropped]
    scopes = draw(st.lists(st.sampled_from(["", "s/", "t/", "s/u/"]), max_size=2))
    names = [
        f"{scopes[i * len(scopes) // len(classes)] if scopes else ''}n{i}"
        for i in range(len(classes))
    ]
    return graph_of(classes, arrows, names)
