"""The pages: what is in them, and how they behave in a browser.

They are built once for this module, from the outputs that the chapters hold: nothing is run.
"""

import os
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from browser import OpenPage, browser
from lesson_texts import EVERY_KIND, chapters_of_the_course, write_chapter

from kerascope.lessons.lesson import LessonError
from kerascope.lessons.page_style import GROUNDS, PALETTES
from kerascope.lessons.parser import chapter_folders
from kerascope.lessons.render_html import chapter_page, index_page, page_name, prose_html
from kerascope.viz.theme import contrast

NAMES = [*(f"{folder.name}.html" for folder in chapter_folders()), "index.html"]
LOOKED_AT_BY_DEFAULT = {
    "05-node.html",
    "13-symbolic-differentiation.html",
    "14-update-tuples.html",
    "19-convolution.html",
    "21-attention-and-a-small-gpt.html",
    "index.html",
}
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1200, "height": 800}


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    chapters = chapters_of_the_course()
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
        one.close()


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


def test_only_a_table_of_many_words_is_wordy():
    head = "| where | what it says | what we saw | block |\n|---|---|---|---|\n"
    words = (
        "| S0:1 | the constructor checks it | it does, and says so | `first`, `second-block` |\n"
    )
    assert 'class="scroll wordy"' in prose_html(head + words)
    assert '<td data-head="what we saw">it does' in prose_html(head + words)
    assert 'class="scroll"' in prose_html(head + "| S0:1 | a long text about it | yes | `a` |\n")
    chinese = "| S0:1 | 构造函数会检查 | 确实会检查它的形状 | `first`, `second-block` |\n"
    assert "wordy" in prose_html(head + chinese)
    long = "| S4:161, S4:259, S0:410 | yes | no | `a` |\n"
    assert '<td data-head="where" class="long">S4:161' in prose_html(head + long)


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


LOOKED_AT = """async () => {
    const width = innerWidth;
    const shown = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 0;
    const all = (what) => [...document.querySelectorAll(what)].filter(shown);
    const name = (one) => `${one.tagName} ${one.className} ${one.textContent.trim().slice(0, 40)}`;
    const leaves = (one) => {
        const { left, right } = one.getBoundingClientRect();
        return (left < -0.5 || right > width + 0.5) && !one.closest(".skip");
    };
    const cut = (one) => one.scrollWidth > one.clientWidth + 1;
    const scrolls = (one) => cut(one) && getComputedStyle(one).overflowX !== "visible";
    const flat = (one) => {
        const { width, height } = one.getBoundingClientRect();
        return width < 100 || height < 100;
    };
    const small = (text) => text.textContent.length > 1 &&
        parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a < 8.5;
    const ends = (one) => !cut(one.documentElement) &&
        one.documentElement.scrollHeight <= one.defaultView.innerHeight + 1;
    const players = [...document.querySelectorAll("iframe")].map((one) => one.contentDocument);
    const seen = {};
    for (const one of document.querySelectorAll("details")) one.open = true;
    for (const language of ["en", "zh"]) {
        document.getElementById(`language-${language}`).click();
        for (let wait = 0; wait < 6000 && !players.every(ends); wait++) {
            await new Promise((done) => setTimeout(done, 10));  // a player says how high it is
        }
        seen[language] = {
            wide: document.documentElement.scrollWidth - width,
            outside: all("body :not(pre *, .picture *)").filter(leaves).map(name),
            scrolling: all("main :not(pre, pre *, .picture, .picture *)").filter(scrolls).map(name),
            flat: [...document.querySelectorAll(".picture > svg, iframe")].filter(flat).map(name),
            tiny: all(".picture text").filter(small).map(name),
            cut: players.filter((one) => !ends(one)).length,
            others: all(language === "en" ? ".in-zh" : ".in-en").map(name),
            own: all(`.in-${language}`).length > 1,
        };
    }
    return seen;
}"""
NOTHING = ("outside", "scrolling", "flat", "tiny", "others")
FITS = {**{name: [] for name in NOTHING}, "wide": 0, "cut": 0, "own": True}


class Things(HTMLParser):
    """What kinds of things are in a page: tags, each with its classes, as a style sheet sees them.

    A player is a page in an attribute, so what is in it counts too. The colours of code, which are
    spans, and what is inside a picture do not.
    """

    def __init__(self, html):
        super().__init__()
        self.kinds = set()
        self.in_picture = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        if self.in_picture or tag == "span":
            return
        self.in_picture = tag == "svg"
        held = dict(attrs)
        self.kinds |= {tag, *(f"{tag}.{one}" for one in (held.get("class") or "").split())}
        if "srcdoc" in held:
            self.kinds |= {f"player: {kind}" for kind in Things(held["srcdoc"]).kinds}

    def handle_endtag(self, tag):
        if tag == "svg":
            self.in_picture = False


def test_the_pages_looked_at_by_default_have_every_kind_of_thing_that_any_page_has(pages):
    kinds = {name: Things((pages / name).read_text("utf-8")).kinds for name in NAMES}
    looked_at = set().union(*(kinds[name] for name in LOOKED_AT_BY_DEFAULT))
    assert set().union(*kinds.values()) - looked_at == set()
    assert {"div.wordy", "div.picture", "div.pdb", "div.in-zh", "ol.chapters"} <= looked_at
    assert {"iframe.player", "player: svg"} <= looked_at


@pytest.mark.browser
@pytest.mark.parametrize(
    "name",
    [
        name if name in LOOKED_AT_BY_DEFAULT else pytest.param(name, marks=pytest.mark.slow)
        for name in NAMES
    ],
)
def test_all_fits_in_the_window(opened, name):
    """In both languages, at both widths; only code and pictures scroll by themselves."""
    page = opened(name, viewport=DESK)
    assert page.evaluate(LOOKED_AT) == {"en": FITS, "zh": FITS}
    page.set_viewport_size(PHONE)
    assert page.evaluate(LOOKED_AT) == {"en": FITS, "zh": FITS}


@pytest.mark.browser
def test_on_a_phone_a_table_of_many_words_is_a_list_of_cards(opened):
    page = opened("05-node.html", viewport=PHONE)
    table = page.locator(".wordy:visible table").first
    assert not table.locator("thead").is_visible()
    row = table.locator("tbody tr").first
    tops = [cell.bounding_box()["y"] for cell in row.locator("td").all()]
    assert tops == sorted(set(tops))
    labels = """(row) => [...row.cells].slice(1).map(
        (one) => getComputedStyle(one, "::before").content)"""
    heads = table.locator("th").all_text_contents()
    assert row.evaluate(labels) == [f'"{head}"' for head in heads[1:]]
    page.set_viewport_size(DESK)
    assert table.locator("thead").is_visible()
    assert len({cell.bounding_box()["y"] for cell in row.locator("td").all()}) == 1


@pytest.mark.browser
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


@pytest.mark.browser
def test_the_address_chooses_the_language_and_so_do_links(opened):
    page = opened("00-tools.html")
    page.evaluate("location.hash = 'zh.joints'")
    page.wait_for_selector("#zh\\.joints:visible")
    assert page.get_attribute(".bar a", "href") == "index.html#zh"
    page.evaluate("location.hash = 'en'")
    page.wait_for_selector("#en\\.joints:visible")


@pytest.mark.slow
@pytest.mark.browser
def test_a_reader_who_likes_chinese_sees_it_first(opened):
    assert opened("00-tools.html", locale="zh-CN").locator("#language-zh").is_checked()
    assert opened("00-tools.html", locale="fr-FR").locator("#language-en").is_checked()


@pytest.mark.slow
@pytest.mark.browser
def test_the_switch_works_without_the_script(opened):
    page = opened("00-tools.html", java_script_enabled=False)
    assert page.locator("#en\\.tools").is_visible()
    page.click("label:has(#language-zh)")
    assert page.locator("#zh\\.tools").is_visible()
    assert not page.locator("#en\\.tools").is_visible()


@pytest.mark.slow
@pytest.mark.browser
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


@pytest.mark.slow
@pytest.mark.browser
def test_the_text_after_a_prediction_answers_only_when_the_output_is_open(opened):
    page = opened("00-tools.html", java_script_enabled=False)
    answer = page.get_by_text("No numbers. inputs is a placeholder")
    assert answer.count() == 1
    assert not answer.is_visible()
    page.locator("[id='block.first-stop'] summary").click()
    assert answer.is_visible()


@pytest.mark.slow
@pytest.mark.browser
def test_the_question_of_the_next_prediction_is_not_a_part_of_the_answer(opened):
    page = opened("07-dense.html", java_script_enabled=False)
    assert not page.get_by_text("So the order is not the reason").is_visible()
    assert page.get_by_text("The next layer prints which method is called").is_visible()


@pytest.mark.browser
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


@pytest.mark.browser
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


@pytest.mark.browser
def test_on_paper_the_caption_says_where_a_player_can_be_seen(opened):
    page = opened("13-symbolic-differentiation.html")
    caption = page.locator(".player ~ figcaption .in-en")
    said = (
        "getComputedStyle(document.querySelector('.player ~ figcaption .in-en'), '::after').content"
    )
    assert page.locator("iframe.player").is_visible()
    assert page.evaluate(said) == "none"
    page.emulate_media(media="print")
    assert not page.locator("iframe.player").is_visible()
    assert caption.is_visible()
    assert "in a browser" in page.evaluate(said)


@pytest.mark.browser
def test_on_paper_no_picture_is_higher_than_a_page(opened):
    page = opened("13-symbolic-differentiation.html")
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 within its margins
    page.emulate_media(media="print")
    sizes = page.evaluate("""[...document.querySelectorAll('figure')].map((one) => [
        one.getBoundingClientRect().height, getComputedStyle(one).breakInside])""")
    assert len(sizes) >= 3
    assert all(height < 1000 and breaks == "avoid" for height, breaks in sizes)


DRAWN_LIKE_NOTHING = """(texts) => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 32;
    const brush = canvas.getContext("2d", { willReadFrequently: true });
    const family = (what) => getComputedStyle(document.querySelector(what)).fontFamily;
    const drawn = (sign) => {
        brush.clearRect(0, 0, 32, 32);
        brush.fillText(sign, 2, 24);
        return brush.getImageData(0, 0, 32, 32).data.join();
    };
    const missing = [];
    for (const [what, signs] of Object.entries(texts)) {
        brush.font = `20px ${family(what)}`;
        const box = drawn("\\u0378");
        missing.push(...[...signs].filter((sign) => drawn(sign) === box));
    }
    return missing;
}"""


@pytest.mark.browser
def test_every_sign_has_a_glyph(opened):
    """The missing sign is drawn as a box, as U+0378 is, which no alphabet has."""
    lessons = [chapter.lessons["zh"] for chapter in chapters_of_the_course()]
    prose = {sign for one in lessons for sign in one.source if ord(sign) > 127}
    code = {sign for one in lessons for block in one.blocks for sign in block.code}
    page = opened("00-tools.html")
    missing = page.evaluate(DRAWN_LIKE_NOTHING, {".in-zh": "张量层损失"})
    if missing and not os.environ.get("KERASCOPE_NEEDS_CHINESE"):
        pytest.skip("no font with Chinese is installed")
    signs = {".in-zh": "".join(sorted(prose)), "pre": "".join(sorted(code - set(" \n")))}
    assert len(signs[".in-zh"]) > 500
    assert page.evaluate(DRAWN_LIKE_NOTHING, signs) == []
    assert page.evaluate(DRAWN_LIKE_NOTHING, {"pre": "\u0379a"}) == ["\u0379"]
