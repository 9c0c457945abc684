"""What the tests of the HTML viewer share: pages of graphs, and what lies where in them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser import OpenPage
from zoo import LARGE_ZOO, ZOO

from kerascope.viz.boxes import PictureOptions
from kerascope.viz.collapse.blocks import with_blocks
from kerascope.viz.exports.to_html import to_html
from kerascope.viz.extract.subjects import graph_of
from kerascope.viz.graph import Graph
from kerascope.viz.layout.arrange import Rect

PLACES = """() => {
  const { picture, graph } = kerascopeViewer;
  const rects = (map) =>
    [...map].map(([n, r]) => [graph.boxes[n].id, r.x, r.y, r.width, r.height]);
  const { boxes, frames, paths, width, height } = picture.places;
  return { boxes: rects(boxes), frames: rects(frames), paths: [...paths], size: [width, height] };
}"""


@contextmanager
def pages(running: Any, folder: Path) -> Iterator[Callable[..., Any]]:
    """Give what opens the page of a graph; none may ask for, or complain about, a thing."""
    opened: list[tuple[OpenPage, Path]] = []

    def open_page(graph: Graph, closed: Any = None, **options: Any) -> Any:
        path = folder / f"page {len(opened)}.html"
        text = to_html(graph, PictureOptions(**options.pop("picture", {})), closed=closed)
        path.write_text(text, encoding="utf-8")
        opened.append((OpenPage(running, path, **options), path))
        return opened[-1][0].page

    yield open_page
    for one, path in opened:
        assert one.requests == [path.as_uri()]
        assert one.complaints == []
        one.close()


def whole(name: str) -> Graph:
    return with_blocks(graph_of({**ZOO, **LARGE_ZOO}[name](), "node", True))


def places(page: Any) -> dict[str, Any]:
    found = page.evaluate(PLACES)
    return {
        "boxes": {name: Rect(*rect) for name, *rect in found["boxes"]},
        "frames": {name: Rect(*rect) for name, *rect in found["frames"]},
        "paths": dict(found["paths"]),
        "size": found["size"],
    }


def box(page: Any, box_id: str) -> Any:
    return page.locator(f'#picture [role=button][data-id="{box_id}"]')


def focused(page: Any) -> str | None:
    return page.evaluate("document.activeElement.dataset.id || document.activeElement.id")
