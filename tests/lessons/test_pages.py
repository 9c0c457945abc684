"""The pages: what is in them, and how they behave in a browser."""

import re
from pathlib import Path

import pytest
from browser import OpenPage, browser
from lesson_texts import EVERY_KIND, write_chapter

from kerascope.lessons.blocks import LessonError
from kerascope.lessons.folders import chapter_folders, read_chapter
from kerascope.lessons.page_style import GROUNDS, PALETTES
from kerascope.lessons.prose_html import prose_html
from kerascope.lessons.render_html import chapter_page, index_page, page_name
from kerascope.viz.colors import contrast

NAMES = [folder.name for folder in chapter_folders()]
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1200, "height": 800}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    chapters = [read_chapter(one) for one in chapter_folders()]
    for chapter in chapters:
        (folder / page_name(chapter)).write_text(chapter_page(chapter, None, None), "utf-8")
    (folder / "index.html").write_text(index_page(chapters), "utf-8")
    return folder


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium, pages):
    found = []

    def open_page(name, **options):
        path = pages / name
        found.append((OpenPage(chromium, path, **options), path))
        return found[-1][0].page

    yield open_page
    for one, path in found:
        assert set(one.requests) == {path.as_uri()}
        assert one.complaints == []
        one.page.close()


def page_of(tmp_path, text=EVERY_KIND):
    return chapter_page(write_chapter(tmp_path, text), None, None)


# --- the text of a page ---------------------------------------------------------------------------


def test_a_page_holds_every_block_once_and_the_prose_in_each_language(tmp_path):
    page = page_of(tmp_path)
    assert page.count('class="block ') == 6
    assert page.count("It is 42, or 100.") == page.count("是 42，或 100。") == 1
    assert "{.free}" not in page
    assert '<span class="command">p x + 1</span>' in page
    assert page.count("<details>") == 2  # the contents, and the block that asks to predict


def test_a_page_asks_for_nothing_and_is_safe_from_what_it_shows(tmp_path):
    text = "# T {#t}\n\n<b>no</b>\n\n```python {#a}\nprint('<script>')\n```\n"
    text += "```output\n<script>\n```\n"
    page = page_of(tmp_path, text)
    assert "<b>no</b>" not in page
    assert page.count("<script>") == 1
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)
    assert "default-src 'none'" in page


def test_links_between_lessons_lead_to_their_pages():
    html = prose_html("see [the node](../05-node/lesson.en.md)")
    assert 'href="05-node.html" data-page="05-node.html"' in html


def test_lines_of_chinese_join_without_a_space():
    assert "张量" in prose_html("张\n量")
    assert "a\nb" in prose_html("a\nb")


def test_a_chapter_links_to_those_beside_it(tmp_path):
    one = write_chapter(tmp_path, EVERY_KIND)
    two = write_chapter(tmp_path, EVERY_KIND, name="02-more")
    assert '<a href="02-more.html"' in chapter_page(one, None, two)
    assert '<a href="01-kinds.html"' in chapter_page(two, one, None)


def test_twins_with_other_blocks_make_no_page(tmp_path):
    with pytest.raises(LessonError, match="block 'first'"):
        chapter_page(
            write_chapter(tmp_path, EVERY_KIND, EVERY_KIND.replace("21", "22")), None, None
        )


@pytest.mark.parametrize("name", PALETTES)
def test_all_text_stands_off_from_its_ground(name):
    palette = PALETTES[name]
    for role, color in palette.items():
        if role not in (*GROUNDS, "line"):
            for ground in GROUNDS:
                assert contrast(color, palette[ground]) >= 4.5, role


# --- in a browser ---------------------------------------------------------------------------------


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [*(f"{name}.html" for name in NAMES), "index.html"])
def test_nothing_is_wider_than_the_window(opened, name, language, viewport):
    page = opened(name, viewport=viewport)
    page.click(f"label:has(#language-{language})")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    hidden = page.locator(f".in-{'zh' if language == 'en' else 'en'}:visible")
    assert hidden.count() == 0
    assert page.locator(f".in-{language}:visible").count() > 1


def test_the_switch_keeps_the_place_and_stands_in_the_address(opened):
    page = opened("00-tools.html", viewport=DESK)
    page.evaluate("document.getElementById('en.trace').scrollIntoView({behavior: 'instant'})")
    before = page.evaluate("document.getElementById('en.trace').getBoundingClientRect().top")
    page.click("label:has(#language-zh)")
    after = page.evaluate("document.getElementById('zh.trace').getBoundingClientRect().top")
    assert after == pytest.approx(before, abs=2)
    assert page.url.endswith("#zh.trace")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert page.title().startswith("工具")
    page.reload()
    assert page.locator("#language-zh").is_checked()


def test_the_address_chooses_the_language_and_so_do_links(opened):
    page = opened("00-tools.html")
    page.evaluate("location.hash = 'zh.joints'")
    page.wait_for_selector("#zh\\.joints:visible")
    assert page.get_attribute(".bar a", "href") == "index.html#zh"
    page.evaluate("location.hash = 'en'")
    page.wait_for_selector("#en\\.joints:visible")


def test_a_reader_who_likes_chinese_sees_it_first(opened):
    assert opened("00-tools.html", locale="zh-CN").locator("#language-zh").is_checked()
    assert opened("00-tools.html", locale="fr-FR").locator("#language-en").is_checked()


def test_the_switch_works_without_the_script(opened):
    page = opened("00-tools.html", java_script_enabled=False)
    assert page.locator("#en\\.tools").is_visible()
    page.click("label:has(#language-zh)")
    assert page.locator("#zh\\.tools").is_visible()
    assert not page.locator("#en\\.tools").is_visible()


def test_the_keyboard_reaches_the_text_the_switch_and_what_is_folded(opened):
    page = opened("00-tools.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "language-en"
    page.keyboard.press("ArrowRight")
    assert page.locator("#zh\\.tools").is_visible()
    folded = page.locator(".block details").first
    folded.locator("summary").focus()
    page.keyboard.press("Enter")
    assert folded.get_attribute("open") is not None


def test_a_screen_reader_finds_landmarks_languages_and_names(opened):
    page = opened("00-tools.html")
    for landmark in ("main", "header", "nav[aria-label]"):
        assert page.locator(landmark).count() >= 1
    assert page.locator("h1:visible").count() == 1
    for language, tag in (("en", "en"), ("zh", "zh-Hans")):
        bad = f".in-{language}:not([lang|={language}])"
        assert page.locator(bad).count() == 0
        assert page.locator(f'.in-{language}[lang="{tag}"]').count() > 5
    ids = page.evaluate("[...document.querySelectorAll('body [id]')].map((one) => one.id)")
    own = [name for name in ids if not name.startswith("kerascope-")]
    assert len(own) == len(set(own))
    unnamed = "[...document.querySelectorAll('[tabindex=\"0\"]')].filter((one) => one.scrollWidth"
    assert page.evaluate(f"{unnamed} > 5000).length") == 0


def test_on_paper_everything_is_unfolded_and_nothing_is_cut(opened):
    page = opened("00-tools.html")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details:not([open])").count() == 0
    assert page.locator(".bar").is_visible() is False
    cut = "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth)"
    assert page.evaluate(f"{cut}.length") == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".block details[open]").count() == 0


def test_chinese_has_glyphs(opened):
    """The missing sign is drawn as a box: all the same, whatever is missing."""
    page = opened("00-tools.html")
    drawn = """(text) => {
        const canvas = document.createElement('canvas');
        const brush = canvas.getContext('2d');
        const style = getComputedStyle(document.querySelector('.in-zh'));
        brush.font = `24px ${style.fontFamily}`;
        brush.fillText(text, 0, 26);
        return canvas.toDataURL();
    }"""
    signs = [page.evaluate(drawn, sign) for sign in "张量层损失"]
    if len(set(signs)) == 1:
        pytest.skip("no font with Chinese is installed")
    assert len(set(signs)) == 5
