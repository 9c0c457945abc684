"""The documentation site: its pages describe every public name, and dead links are found."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest

from guards.interface import Places
from guards.links import dead_links
from guards.links import main as check_links
from kerascope.lessons import tutorials_folder
from kerascope.lessons.parser import chapter_folders, read_chapter

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

import site_pages  # noqa: E402


@pytest.fixture(scope="module")
def reference():
    return site_pages.Reference(
        [read_chapter(one) for one in chapter_folders(tutorials_folder(None))]
    )


def test_each_public_name_is_described_once_or_refers_to_its_description(reference):
    known = Places()
    described = {f"{m}.{name}" for m, names in reference.places.items() for name in names}
    others = {
        f"{m}.{name}": at for m, names in reference.aliases.items() for name, at in names.items()
    }
    modules = {place for place, thing in known.things.items() if inspect.ismodule(thing)}
    assert described | others.keys() | modules == known.things.keys()
    assert not described & others.keys()
    assert {at for at in others.values() if at not in reference.places} <= described
    named = {"kerascope.layers.Conv2D", "kerascope.Model", "kerascope.trace.tape.trace"}
    assert named <= described


def test_each_class_and_each_top_level_function_has_a_page_with_an_example(reference):
    pages = dict(reference.pages())
    for module, things in reference.places.items():
        for name, thing in things.items():
            if inspect.isclass(thing) or (module == "kerascope" and inspect.isroutine(thing)):
                assert f"{module}.{name}" in pages
                assert ">>>" in inspect.getdoc(thing), f"{module}.{name}: no example"
    assert len(pages) > 300


def test_what_a_chapter_explains_is_a_described_name(reference):
    described = {f"{m}.{name}" for m, names in reference.places.items() for name in names}
    assert reference.chapters.keys() <= described
    assert len(reference.chapters) > 25
    link = "course/13-symbolic-differentiation.html"
    assert link in dict(reference.pages())["kerascope.backend"]


@pytest.mark.parametrize(
    ("text", "page", "expected"),
    [
        ("[a](docs/tour.md#x)", "index", "[a](/tour.md#x)"),
        ("[a](../../CONTRIBUTING.md)", "howto/draw", "[a](/contributing.md)"),
        ("[a](tutorials/teachers.en.md)", "index", "[a](/howto/teach.md)"),
        (
            "[a](../../tutorials/07-dense/lesson.zh.md)",
            "howto/draw",
            '<a href="../course/07-dense.html#zh">a</a>',
        ),
        ("[a\nb](../tests/pictures/README.md)", "tour", "a\nb"),
        ("[a](draw.md)", "howto/compare", "[a](draw.md)"),
    ],
)
def test_links_of_the_repository_hold_on_the_site(text, page, expected):
    assert site_pages.site_links(text, page) == expected


def test_the_terms_of_the_glossary_become_anchors_that_the_search_finds():
    text = "| term | meaning |\n|---|---|\n| `Apply` | One use of an op. |\n| array | Numbers. |\n"
    expected = "```{glossary}\n`Apply`\n  One use of an op.\n\narray\n  Numbers.\n\n```\n"
    assert site_pages.site_links(text, "glossary") == expected


@pytest.mark.parametrize("words", [[], ["nowhere"], ["."]])
def test_a_folder_without_pages_is_not_a_site_without_dead_links(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_links(words) == 2


def test_dead_links_and_anchors_are_found(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<a href="sub/b.html#there"></a><a href="sub/b.html#gone"></a><img src="c.png">'
        '<a href="https://example.org/x"></a><a href="#top"></a><a href="sub/"></a>',
        encoding="utf-8",
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="there">', encoding="utf-8")
    found = list(dead_links(tmp_path))
    assert [line.split(": ")[1] for line in found] == ["sub/b.html#gone", "c.png", "#top", "sub/"]
