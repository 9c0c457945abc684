"""Random neutral graphs for whatever lays them out or draws them."""

from hypothesis import strategies as st

from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode


@st.composite
def graphs(draw, most_nodes=40):
    """Any graph: depths need not fit the edges, frames lie in frames, edges go anywhere."""
    count = draw(st.integers(1, most_nodes))
    groups = []
    for i in range(draw(st.integers(0, 4))):
        parent = draw(st.sampled_from(["", *(group.id for group in groups)]))
        groups.append(GraphGroup(f"g{i}", f"group {i}", parent, draw(st.integers(0, 5))))
    homes = ["", *(group.id for group in groups)]
    kinds = st.sampled_from(["dense", "merge", "model", "gradient", "variable", "tensor"])
    nodes = []
    for i in range(count):
        attrs = {
            "input_count": draw(st.integers(0, 5)),
            "output_count": draw(st.integers(1, 3)),
            "class_name": "Dense" * draw(st.integers(1, 4)),
        }
        if i and draw(st.booleans()) and draw(st.booleans()):
            attrs["beside"] = f"n{draw(st.integers(0, i - 1))}"
        home, depth = draw(st.sampled_from(homes)), draw(st.integers(0, 8))
        nodes.append(GraphNode(f"n{i}", f"n{i}", draw(kinds), home, depth, attrs))
    ends = st.integers(0, count - 1)
    edges = []
    for source, target in draw(st.lists(st.tuples(ends, ends), max_size=2 * most_nodes)):
        attrs = {"operand": draw(st.integers(0, 4))} if draw(st.booleans()) else {}
        role = draw(st.sampled_from(["", "", "gradient", "update"]))
        label = draw(st.sampled_from(["", "", "\u00d72"]))
        attrs |= {"role": role} if role else {}
        edges.append(GraphEdge(f"n{source}", f"n{target}", label, attrs))
    return Graph("random", tuple(nodes), tuple(edges), tuple(groups))


def layered(rows: int, width: int, skips: int = 0) -> Graph:
    """A regular graph with consistent depths."""
    nodes = tuple(
        GraphNode(f"{r}/{c}", f"box {r} {c}", "dense", depth=rows - 1 - r)
        for r in range(rows)
        for c in range(width)
    )
    edges = [
        GraphEdge(f"{r}/{c}", f"{r + 1}/{(c + step) % width}")
        for r in range(rows - 1)
        for c in range(width)
        for step in range(min(2, width))
    ]
    edges += [GraphEdge(f"{r}/0", f"{rows - 1 - r}/0") for r in range(min(skips, rows // 2 - 1))]
    return Graph("layered", nodes, tuple(edges))
