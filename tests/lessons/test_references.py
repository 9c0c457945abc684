"""Codes such as R38 and S4:51: what they mean, and where they lead."""

import re

import pytest
from lesson_texts import EVERY_KIND, chapter_of_the_course, chapters_of_the_course, write_chapter

from kerascope.lessons import tutorials_folder
from kerascope.lessons.lesson import Prose
from kerascope.lessons.reading import chapter_text
from kerascope.lessons.references import CODE, note_on_codes, reference_to, references_of
from kerascope.lessons.render_html import Codes, chapter_page, prose_html

LANGUAGES = ("en", "zh")
FACTS = [f"R{n:02}" for n in range(1, 51)] + [f"C{n:02}" for n in range(1, 38)]


def found(code, language="en"):
    return reference_to(code, references_of(tutorials_folder(), language))


def html_of(text, chapter="05-node", language="en"):
    return prose_html(text, Codes(references_of(tutorials_folder(), language), chapter, language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fact_is_explained_by_the_table_of_a_chapter(language):
    for code in FACTS:
        reference = found(code, language)
        assert reference.says.startswith(code)
        assert reference.chapter
        assert "{" not in reference.says


def test_a_fact_says_what_is_written_and_what_we_saw():
    assert found("C07").says == (
        "C07 (S0:174): a Node is made together with its Layer. What we saw: inbound_nodes of a new "
        "layer is empty; each call adds one, as S0:124 says."
    )
    assert found("C32", "zh").says.startswith(
        "C32（S1:169）：inputs = tf.Tensor(inputs)。我们看到："
    )


def test_a_line_of_a_document_is_a_part_of_a_passage():
    assert found("S4:51") == found("S4:47") == found("S4:53-60")
    assert found("S4:51").place == "S4:47-53"
    assert found("S4").says == "Keras 源码简介 (Keras 1.2.2): one script, followed with pdb."
    assert found("S4:9999") is found("R99") is found("S4:0") is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_of_the_course_is_a_link_to_a_row_that_is_there(language):
    appendix = chapter_page(chapter_of_the_course("A"), None, None)
    ids = set(re.findall(r'\bid="([^"]+)"', appendix))
    for chapter in chapters_of_the_course():
        for part in chapter.lessons[language].parts:
            if not isinstance(part, Prose) or chapter.number == "A":
                continue
            html = html_of(part.text, chapter.name, language)
            links = re.findall(r'href="A-documents.html#([^"]+)" title="[^"]+">', html)
            assert set(links) <= ids
            plain = re.sub(r"<a .*?</a>|<code>.*?</code>", "", html)
            assert not CODE.search(plain), f"{chapter.name}: {CODE.search(plain)}"


def test_a_code_in_code_or_in_a_link_stays_as_it_is():
    assert "<a" not in html_of("`R38` and `S4:51`")
    assert html_of("[R38 here](../00-tools/lesson.en.md)").count("<a") == 1
    assert "<a" not in html_of("R38b, XR38, S4:5x and S7:1")
    assert 'title="S0' not in html_of("S0:1 <b>")
    assert "&lt;b&gt;" in html_of("S0:1 <b>")


def test_in_the_appendix_a_fact_leads_to_its_chapter():
    html = html_of("| lines | numbers |\n|---|---|\n| S4:47-53 | R50 |\n", "A-documents", "zh")
    assert '<tr id="zh.S4:47-53">' in html
    assert 'href="00-tools.html#zh.documents"' in html
    assert html.count("<a") == 1


def test_a_course_without_the_appendix_has_no_links_and_no_note(tmp_path):
    chapter = write_chapter(tmp_path, EVERY_KIND.replace("It is 42", "R38 in S4:51: 42"))
    assert "R38 in S4:51" in chapter_page(chapter, None, None)
    assert "appendix" not in chapter_text(1, tutorials=tmp_path)


@pytest.mark.parametrize(("language", "word"), [("en", "read A --folder me`."), ("zh", "附录")])
def test_the_terminal_explains_the_codes_once(language, word):
    assert word in note_on_codes("see R38", language, tutorials_folder(), " --folder me")
    assert note_on_codes("nothing", language, tutorials_folder()) == ""
    text = chapter_text("5", language)
    assert text.count("kerascope learn read A") == 1
    assert "kerascope learn read A" not in chapter_text("A", language)
