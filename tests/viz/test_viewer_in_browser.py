"""The page in a browser: opening and closing, keyboard, search, details, themes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import browser, wait_until
from viewer_pages import box, focused, pages, places, whole

from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium: Any, tmp_path: Path) -> Iterator[Any]:
    with pages(chromium, tmp_path) as open_page:
        yield open_page


# --- opening and closing --------------------------------------------------------------------------


@pytest.mark.slow
def test_a_click_opens_a_frame_and_closes_it_again(opened: Any):
    page = opened(whole("siamese"))
    before = places(page)
    encoder = box(page, "encoder@0")
    assert encoder.get_attribute("aria-expanded") == "false"
    encoder.click()
    after = places(page)
    assert "encoder@0" in after["frames"]
    assert "encoder@0/wide" in after["boxes"]
    assert "encoder@1" in after["boxes"]
    assert box(page, "encoder@0").get_attribute("aria-expanded") == "true"
    box(page, "encoder@0").click()
    assert places(page) == before


@pytest.mark.slow
def test_what_was_clicked_stays_where_it_is_on_the_screen(opened: Any):
    graph = whole("resnet50")
    page = opened(graph)
    name = next(group.id for group in graph.groups if not group.parent)
    box(page, name).scroll_into_view_if_needed()
    corner = """id => {
        const { graph, picture, view } = kerascopeViewer;
        const { number } = graph.boxes.find((box) => box.id === id);
        const { x, y } = view.onScreen(picture.rectOf(number));
        return [x, y];
    }"""
    before = page.evaluate(corner, name)
    box(page, name).click()
    after = page.evaluate(corner, name)
    assert after[1] == pytest.approx(before[1], abs=1)


def test_buttons_open_and_close_everything(opened: Any):
    graph = whole("resnet50")
    page = opened(graph)
    first = places(page)["boxes"]
    page.click("#expand-all")
    assert len(places(page)["boxes"]) == len(graph.nodes)
    page.click("#collapse")
    assert places(page)["boxes"] == first


def test_arrows_into_a_closed_frame_are_drawn_once_for_each_tensor(opened: Any):
    boxes = (
        GraphNode("x", "x", "input", depth=2),
        *(GraphNode(name, name, "dense", "block", 0) for name in ("left", "right")),
    )
    edges = tuple(GraphEdge("x", name, "", {"output": 0}) for name in ("left", "right"))
    groups = (GraphGroup("block", "block", depth=1, attrs={"kind": "block"}),)
    page = opened(Graph("g", boxes, edges, groups), closed=["block"])
    assert page.locator(".edge").count() == 1
    box(page, "block").click()
    assert page.locator(".edge").count() == 2


# --- keyboard -------------------------------------------------------------------------------------


def test_arrow_keys_follow_the_arrows_and_enter_opens(opened: Any):
    page = opened(whole("siamese"))
    box(page, "left").focus()
    page.keyboard.press("ArrowDown")
    assert focused(page) == "encoder@0"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "encoder@1"
    page.keyboard.press("Enter")
    assert "encoder@1/wide" in places(page)["boxes"]
    assert focused(page) == "encoder@1"
    for expected in ("encoder@1/image", "encoder@1/wide", "encoder@1/code", "pair", "same"):
        page.keyboard.press("ArrowDown")
        assert focused(page) == expected
    page.keyboard.press("Home")
    assert focused(page) in ("left", "right")


def test_going_up_into_the_title_of_a_frame_closes_it_by_space(opened: Any):
    page = opened(whole("siamese"), closed=())
    box(page, "encoder@0/image").focus()
    page.keyboard.press("ArrowUp")
    assert focused(page) == "encoder@0"
    page.keyboard.press(" ")
    assert "encoder@0" in places(page)["boxes"]
    assert focused(page) == "encoder@0"
    page.keyboard.press("ArrowUp")
    assert focused(page) == "left"


def test_backspace_closes_the_frame_around(opened: Any):
    page = opened(whole("siamese"), closed=())
    box(page, "encoder@1/wide").focus()
    page.keyboard.press("Backspace")
    assert focused(page) == "encoder@1"
    assert "encoder@1" in places(page)["boxes"]


def test_the_picture_is_one_stop_of_the_tab_key_with_a_visible_ring(opened: Any):
    page = opened(whole("siamese"))
    assert page.locator('#picture [role=button][tabindex="0"]').count() == 1
    page.locator("#show-help").focus()
    page.keyboard.press("Tab")
    name = focused(page)
    assert name == "left"
    ring = box(page, name).locator(".ring").first
    assert ring.evaluate("ring => getComputedStyle(ring).stroke") != "none"
    page.keyboard.press("Tab")
    assert focused(page) != "right"


def test_every_box_says_what_it_is(opened: Any):
    page = opened(whole("siamese"))
    label = box(page, "pair").get_attribute("aria-label")
    assert label == "pair, Concatenate, (None, 8); from encoder@0, encoder@1"
    assert page.locator("#picture [role=button]:not([aria-label])").count() == 0


def test_help_opens_by_its_key_and_closes_by_escape(opened: Any):
    page = opened(whole("chain"))
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


# --- search and details ---------------------------------------------------------------------------


def test_search_finds_a_layer_in_a_closed_frame_and_opens_what_is_needed(opened: Any):
    page = opened(whole("siamese"))
    page.keyboard.press("/")
    assert focused(page) == "search"
    page.keyboard.type("WIDE")
    assert page.inner_text("#count") == "1 of 2"
    assert "encoder@0/wide" in places(page)["boxes"]
    assert "encoder@1" in places(page)["boxes"]
    assert page.locator("g.box.found").get_attribute("data-id") == "encoder@0/wide"
    page.keyboard.press("Enter")
    assert page.inner_text("#count") == "2 of 2"
    assert "encoder@0" in places(page)["boxes"], "what the first hit needed is closed again"
    assert page.locator("g.box.found").get_attribute("data-id") == "encoder@1/wide"
    page.keyboard.press("Enter")
    assert page.inner_text("#count") == "1 of 2"
    page.keyboard.press("Escape")
    assert page.input_value("#search") == ""
    assert page.locator(".found").count() == 0
    assert focused(page) == "encoder@0/wide"


@pytest.mark.parametrize(
    ("query", "count"),
    [("concatenate", "1 of 1"), ("encoder@1/code", "1 of 1"), ("(None, 32)", "1 of 4"),
     ("nothing like it", "nothing found")],
)  # fmt: skip
def test_search_knows_classes_ids_and_shapes(opened: Any, query: str, count: str):
    page = opened(whole("siamese"))
    page.fill("#search", query)
    assert page.inner_text("#count") == count


def test_a_hit_far_below_is_scrolled_to(opened: Any):
    page = opened(whole("resnet50"))
    page.fill("#search", "conv5_block3_2_conv")
    hit = box(page, "conv5_block3_2_conv").bounding_box()
    assert hit["y"] > 0
    assert hit["y"] + hit["height"] < 800


def test_details_tell_everything_and_lead_to_neighbours(opened: Any):
    page = opened(whole("siamese"))
    box(page, "pair").click()
    text = page.inner_text("#details")
    for words in ("Concatenate", "(None, 4); (None, 4)", "(None, 8)", "float32", "encoder@1/code"):
        assert words in text
    chosen = page.locator(".edge.chosen")
    assert chosen.count() == 3
    page.locator("#details .link", has_text="encoder@1/code").click()
    assert focused(page) == "encoder@1/code"
    assert page.locator("g.box.chosen").get_attribute("data-id") == "encoder@1/code"
    assert "same weights as" in page.inner_text("#details")
    page.keyboard.press("Escape")
    assert page.locator("#details").is_hidden()
    assert page.locator(".chosen").count() == 1  # the arrow head's definition


def test_odd_names_are_only_names(opened: Any):
    odd = '</script><img src=x onerror="alert(1)"> \' 全连接 🙂 ' + "x" * 300
    boxes = (
        GraphNode("a", "a", "input", depth=1),
        GraphNode("b", odd, "dense", "m", attrs={"class_name": odd}),
    )
    graph = Graph(odd, boxes, (GraphEdge("a", "b"),), (GraphGroup("m", odd),))
    page = opened(graph, closed=())
    assert page.locator("img").count() == 0
    assert page.title().startswith("</script><img")
    box(page, "b").click()
    assert page.inner_text("#details h2").split() == odd.split()
    page.fill("#search", odd)
    assert page.inner_text("#count") == "1 of 2"


# --- how it looks ---------------------------------------------------------------------------------


def test_the_theme_follows_the_system_until_the_button_decides(opened: Any):
    page = opened(whole("chain"), color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.emulate_media(color_scheme="dark")
    page.locator("html[data-theme=dark]").wait_for()
    assert page.evaluate(background) != light
    page.click("#theme")
    assert page.evaluate(background) == light
    page.emulate_media(color_scheme="light")
    # Who listens last hears of the change after the page has.
    page.evaluate("""() => matchMedia("(prefers-color-scheme: dark)").addEventListener(
        "change", () => { document.title = "it is dark"; })""")
    page.emulate_media(color_scheme="dark")
    wait_until(page, "document.title === 'it is dark'")
    assert page.evaluate(background) == light


def test_it_prints_light_and_without_buttons(opened: Any):
    page = opened(whole("siamese"), color_scheme="dark")
    assert len(page.pdf()) > 1000
    page.emulate_media(media="print")
    assert page.locator("header").is_hidden()


def test_a_narrow_window_keeps_everything_in_reach(opened: Any):
    page = opened(whole("siamese"), viewport={"width": 400, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    box(page, "encoder@0").click()
    assert page.locator("#details").is_visible()
    assert page.locator("#canvas").bounding_box()["height"] > 200
