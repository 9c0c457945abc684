"""The page for teachers: each of its files is written, each of its commands run and compared."""

import os
import re
from typing import NamedTuple

import pytest
from shown_commands import SECONDS, read_by_us, typed_into_a_shell

from kerascope.lessons import tutorials_folder
from kerascope.lessons.comparison import compare
from kerascope.lessons.parser import markdown
from kerascope.lessons.runner import clean, prepare_folder
from kerascope.lessons.sessions import fixed_environment

LANGUAGES = ("en", "zh")
FILES = ("python", "markdown", "text", "toml")


class Block(NamedTuple):
    """A fence of the page: what stands behind its mark, its text, its line."""

    words: list[str]
    text: str
    line: int


def page(language):
    return (tutorials_folder() / f"teachers.{language}.md").read_text(encoding="utf-8")


def blocks_of(language):
    tokens = markdown().parse(page(language))
    found = [token for token in tokens if token.type in ("fence", "code_block")]
    return [Block(one.info.split(), one.content, one.map[0] + 1) for one in found]


def run(block, folder, home, by):
    """Run the commands of a block; return what they print, after a look at the last exit code."""
    expected = next((int(word[5:]) for word in block.words if word.startswith("exit=")), 0)
    commands = block.text.splitlines()
    printed = ""
    for number, line in enumerate(commands, 1):
        assert line.startswith("$ "), f"line {block.line + number}: {line!r}"
        finished = by(
            line[2:],
            cwd=folder,
            env=fixed_environment(home),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
        )
        code = expected if number == len(commands) else 0
        assert finished.returncode == code, f"{line}\n{finished.stdout}\n{finished.stderr}"
        printed += finished.stdout
    return clean(printed, [str(folder)])


@pytest.mark.skipif(os.name == "nt", reason="the page is typed into a POSIX shell")
@pytest.mark.parametrize(
    "by", [read_by_us, pytest.param(typed_into_a_shell, marks=[pytest.mark.slow])]
)
def test_every_command_of_the_page_prints_what_it_says(tmp_path, by):
    folder, home = tmp_path / "work", tmp_path / "home"
    prepare_folder(folder)
    home.mkdir()
    printed, ran = "", 0
    for block in blocks_of("en"):
        kind = block.words[0]
        if kind == "sh":
            assert not printed, f"line {block.line}: what was printed before is not shown"
            printed = run(block, folder, home, by)
            ran += 1
        elif kind == "output":
            difference = compare(block.text, printed)
            assert difference is None, f"line {block.line}:\n{difference.text}"
            printed = ""
        else:
            path = folder / block.words[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text, encoding="utf-8")
    assert not printed
    assert ran >= 8
    marks = (folder / "marks.csv").read_text(encoding="utf-8-sig").splitlines()
    assert [line.split(",")[:3] for line in marks] == [
        ["student", "exercise", "verdict"],
        ["ann", "15/slice_batches", "PASS"],
        ["bob", "15/slice_batches", "FAIL"],
        ["carol", "15/slice_batches", "NOT ATTEMPTED"],
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_block_is_a_file_a_command_or_an_output(language):
    """Whatever looks like code is run: there is no fence that nobody reads."""
    before = None
    for block in blocks_of(language):
        kind = block.words[0] if block.words else ""
        assert kind in ("sh", "output", *FILES), f"line {block.line}: a block of kind {kind!r}"
        if kind in FILES:
            assert len(block.words) == 2, f"line {block.line}: expected the name of a file"
            assert not block.words[1].startswith(("/", ".."))
        if kind == "output":
            assert before == "sh", f"line {block.line}: an output of no command"
        before = kind


def test_both_languages_hold_the_same_blocks_and_sections():
    english, chinese = (blocks_of(language) for language in LANGUAGES)
    assert [block[:2] for block in english] == [block[:2] for block in chinese]
    levels = [re.findall(r"^#+ ", without_blocks(language), re.M) for language in LANGUAGES]
    assert levels[0] == levels[1]
    rows = [len(re.findall(r"^\|", without_blocks(language), re.M)) for language in LANGUAGES]
    assert rows[0] == rows[1]


def without_blocks(language):
    return re.sub(r"^(`{3,4})[^`\n]*\n.*?^\1$", "", page(language), flags=re.M | re.S)


@pytest.mark.parametrize("language", LANGUAGES)
def test_files_and_options_that_the_words_name_are_there(language):
    words = without_blocks(language)
    root = tutorials_folder().parent
    for name in re.findall(r"`(kerascope/[\w/]+\.py)`", words):
        assert (root / name).is_file()
    named = set(re.findall(r"`(?:kerascope )?(?:learn|lessons) (\w+)", words))
    known = {"check", "hint", "report", "build", "html", "read", "web", "solution"}
    assert named <= known
    assert re.search("[\u4e00-\u9fff]", words) is None or language == "zh"
