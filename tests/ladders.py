"""An independent reader of the pictures of ladders: what is drawn, and what lies across what."""

import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator

from zoo import ZOO

from kerascope.engine.model import Model
from kerascope.viz.drawing import Drawing
from kerascope.viz.graph import Graph
from kerascope.viz.layout.arrange import Rect

SVG = "{http://www.w3.org/2000/svg}"
LEVELS = ("layer", "node", "op", "gradient", "training")
LADDERS = ("gradient", "training")
Segment = tuple[tuple[float, float], tuple[float, float]]


# --- a reader of SVG that knows nothing of how it is written --------------------------------------


def arrows_in(svg: str) -> Counter[tuple[str, str]]:
    """Return the arrows that a picture names: each line says for which it stands."""
    found: Counter[tuple[str, str]] = Counter()
    for element in ET.fromstring(svg).iter():
        if "data-edges" in element.attrib:
            found.update(
                (source, target) for source, target in json.loads(element.get("data-edges"))
            )
        elif "data-source" in element.attrib:
            found[element.get("data-source"), element.get("data-target")] += 1
    return found


def boxes_in(svg: str) -> list[str]:
    return sorted(
        element.get("data-id")
        for element in ET.fromstring(svg).iter(f"{SVG}g")
        if "box" in element.get("class", "").split()
    )


def arrows_of(graph: Graph) -> Counter[tuple[str, str]]:
    return Counter((edge.source, edge.target) for edge in graph.edges)


def check_arrows(drawing: Drawing) -> None:
    """What is drawn is what the graph has, no more and no less."""
    svg = drawing.svg
    assert arrows_in(svg) == arrows_of(drawing.graph)
    assert boxes_in(svg) == sorted(node.id for node in drawing.graph.nodes)


def segments_of(data: str) -> Iterator[Segment]:
    """Yield a path as short straight pieces."""
    here = (0.0, 0.0)
    for command, rest in re.findall(r"([MLC])([^MLC]*)", data):
        numbers = [float(x) for x in re.findall(r"-?[0-9.]+", rest)]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "L":
            yield here, points[0]
        elif command == "C":
            a, b, c, d = here, *points
            before = a
            for step in range(1, 13):
                t = step / 12
                weights = (1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3
                now = tuple(
                    sum(w * p[i] for w, p in zip(weights, (a, b, c, d), strict=True))
                    for i in (0, 1)
                )
                yield before, now
                before = now
        here = points[-1]


def crosses(segment: Segment, rect: Rect) -> bool:
    """Tell whether a piece of a line has a point well inside a rectangle."""
    (x, y), (to_x, to_y) = segment
    for step in range(9):
        at_x, at_y = x + (to_x - x) * step / 8, y + (to_y - y) * step / 8
        if rect.x + 1 < at_x < rect.right - 1 and rect.y + 1 < at_y < rect.bottom - 1:
            return True
    return False


def check_ends(drawing: Drawing) -> None:
    """Each line begins at the border of what it leaves and ends at that of what it enters."""
    placed = drawing.layout
    on_card = {node.id: node.group for node in drawing.graph.nodes if "line" in node.attrs}
    for element in ET.fromstring(drawing.svg).iter(f"{SVG}path"):
        if "data-source" in element.attrib:
            pieces = list(segments_of(element.get("d")))
            for end, (x, y) in (("source", pieces[0][0]), ("target", pieces[-1][1])):
                name = element.get(f"data-{end}")
                rects = [placed.boxes[name]]
                if name in on_card:  # a rung touches the card, a wire the cell around a mark
                    rects += [placed.frames[on_card[name]]]
                assert any(
                    rect.x - 1 <= x <= rect.right + 1 and rect.y - 1 <= y <= rect.bottom + 1
                    for rect in rects
                ), (element.get("data-source"), element.get("data-target"), x, y)


def check_cards(drawing: Drawing) -> None:
    """No line that is seen crosses a card, but for the wires on it; no boxes overlap."""
    check_ends(drawing)
    placed, graph = drawing.layout, drawing.graph
    on_card = {node.id: node.group for node in graph.nodes if "line" in node.attrs}
    cards = {card: placed.frames[card] for card in on_card.values()}
    cards |= {node.id: placed.boxes[node.id] for node in graph.nodes if node.kind == "card"}
    for element in ET.fromstring(drawing.svg).iter(f"{SVG}path"):
        words = element.get("class", "").split()
        if "edge" not in words or "when-pointed" in words:
            continue
        ends = [element.get("data-source"), element.get("data-target")]
        own = [on_card.get(end, end) for end in ends]
        for card, rect in cards.items():
            if own == [card, card]:
                continue
            for segment in segments_of(element.get("d")):
                assert not crosses(segment, rect), (ends, card)
    rects = [(one, rect) for one, rect in placed.boxes.items() if rect.width > 20]
    for number, (one, rect) in enumerate(rects):
        for other, its in rects[number + 1 :]:
            assert not rect.overlaps(its), (one, other)
        assert rect.right <= placed.width
        assert rect.bottom <= placed.height


def compiled(name: str) -> Model:
    model = ZOO[name]()
    model.compile("rmsprop", "mse")
    return model
