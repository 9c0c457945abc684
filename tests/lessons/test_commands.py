"""`kerascope lessons check` and `build` as they are typed."""

import pytest
from lesson_texts import EVERY_KIND, write_chapter

from kerascope.cli import main
from kerascope.lessons.parser import read_chapter

PICTURE = """\
# Title {#title}

```python {#draw}
from pathlib import Path

_ = Path("out/a.svg").write_text("<svg width='1'/>")
print("drawn")
```

![A line](out/a.svg){.gen from=draw}
"""


@pytest.fixture
def sound(tmp_path, capsys):
    """Return the folder of a sound course of one chapter."""
    write_chapter(tmp_path, EVERY_KIND)
    assert lessons("build", tmp_path, "--accept", "--translated", "both") == 0
    capsys.readouterr()
    return tmp_path


def lessons(action, folder, *words):
    return main(["lessons", action, "--tutorials", str(folder), *words])


def edit(folder, old, new, languages=("en", "zh")):
    for language in languages:
        path = folder / "01-kinds" / f"lesson.{language}.md"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_sound_course_passes(sound, capsys):
    assert lessons("check", sound) == 0
    said = capsys.readouterr().out
    assert "01-kinds                 6 of 6 blocks run   ok" in said
    assert "1 chapter: every printed line holds" in said


def test_a_changed_line_fails_and_is_named(sound, capsys):
    edit(sound, "(Pdb) p x + 1\n2\n", "(Pdb) p x + 1\n3\n")
    for action in ("check", "build"):
        assert lessons(action, sound) == 1
        said = capsys.readouterr().out
        lines = (sound / "01-kinds" / "lesson.en.md").read_text(encoding="utf-8").splitlines()
        place = lines.index("3") + 1
        assert f"01-kinds/lesson.en.md:{place}: block 'lines': the output differs" in said
        assert said.count("    - 3\n    + 2\n") == 1
    edit(sound, "(Pdb) p x + 1\n3\n", "(Pdb) p x + 1\n2\n", ["en"])
    assert lessons("check", sound) == 1
    said = capsys.readouterr().out
    assert f"01-kinds/lesson.zh.md:{place}: block 'lines': the output differs" in said


def test_accept_writes_what_is_printed_now_in_both_languages(sound, capsys):
    before = {path: path.read_bytes() for path in sound.rglob("*.md")}
    edit(sound, "(Pdb) p x + 1\n2\n", "(Pdb) p x + 1\n3\n")
    edit(sound, ">>> double(4)\n8\n", ">>> double(4)\n9\n")
    edit(sound, "\n```output\n42\n```\n", "")
    assert lessons("build", sound, "--accept") == 0
    assert "01-kinds/lesson.zh.md: 3 outputs written" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in sound.rglob("*.md")} == before


def test_accept_points_at_answers_that_are_errors(sound, capsys):
    edit(sound, "p x + 1\nq\n", "p y + 1\nq\n")
    assert lessons("build", sound, "--accept") == 0
    said = capsys.readouterr().out
    assert "block 'lines': look at this answer: *** NameError: name 'y' is not defined" in said


def test_accept_leaves_what_holds_as_its_author_cut_it(sound):
    edit(sound, "> small.py(1)<module>()\n-> x = 1\n(Pdb) n\n", "...\n(Pdb) n\n")
    before = {path: path.read_bytes() for path in sound.rglob("*.md")}
    assert lessons("build", sound, "--accept") == 0
    assert {path: path.read_bytes() for path in sound.rglob("*.md")} == before


def test_accept_takes_an_output_away_when_nothing_is_printed(tmp_path):
    write_chapter(tmp_path, "# T {#t}\n\n```python {#a}\nx = 1\n```\n\n```output\n5\n```\n", None)
    lessons("build", tmp_path, "--accept", "--translated", "both")
    assert read_chapter(tmp_path / "01-kinds").main.blocks[0].output is None


def test_an_output_that_holds_a_fence_gets_a_longer_one(tmp_path):
    text = "# T {#t}\n\n```python {#a}\nprint('```python\\nx\\n```')\n```\n"
    write_chapter(tmp_path, text)
    lessons("build", tmp_path, "--accept", "--translated", "both")
    block = read_chapter(tmp_path / "01-kinds").main.blocks[0]
    assert block.output.text == "```python\nx\n```\n"


def test_accept_writes_nothing_for_a_block_that_fails(sound, capsys):
    edit(sound, "print(double(21))", "print(double(21)); 1 / 0")
    before = {path: path.read_bytes() for path in sound.rglob("*.md")}
    assert lessons("build", sound, "--accept") == 1
    assert "block 'first': failed:" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in sound.rglob("*.md")} == before


def test_pictures_are_made_by_their_blocks_and_compared(tmp_path, capsys):
    folder = write_chapter(tmp_path, PICTURE).folder
    assert lessons("check", tmp_path) == 1
    assert "picture 'out/a.svg': it is not stored" in capsys.readouterr().out
    assert lessons("build", tmp_path, "--accept", "--translated", "both") == 0
    assert (folder / "out" / "a.svg").read_text() == "<svg width='1'/>"
    (folder / "out" / "a.svg").write_text("<svg width='2'/>")
    (folder / "out" / "old.svg").write_text("<svg/>")
    capsys.readouterr()
    assert lessons("check", tmp_path) == 1
    said = capsys.readouterr().out
    assert "picture 'out/a.svg': it differs on line 1" in said
    assert "no lesson shows out/old.svg" in said


def test_a_picture_that_its_block_does_not_write_is_found(tmp_path, capsys):
    write_chapter(tmp_path, PICTURE.replace('"out/a.svg").write', '"out/b.svg").write'))
    assert lessons("check", tmp_path) == 1
    assert "block 'draw' does not write it" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["check", "77"], 2, "No chapter '77'. "),
        (["check", "01-kindz"], 2, "Did you mean '01-kinds'?"),
        (["chek"], 2, "chek"),
        (["build", "--accept", "--check"], 2, "not allowed with"),
        (["build", "--translated", "zh"], 2, "--translated needs --accept"),
        (["check", "--jobs", "0"], 2, "expected 1 or more"),
        (["check", "--jobs", "two"], 2, "--jobs: invalid value: expected 1 or more, got two"),
        (["html", "-o", "{folder}/01-kinds/lesson.en.md"], 2, "expected a folder, got the file"),
        (["html", "-o", "{folder}/01-kinds/lesson.en.md/x"], 2, "Cannot make the folder"),
        ([], 2, "required: action"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, capsys, words, code, said):
    write_chapter(tmp_path, EVERY_KIND)
    words = [word.replace("{folder}", str(tmp_path)) for word in words]
    where = ["--tutorials", str(tmp_path)] if words and words != ["chek"] else []
    assert main(["lessons", *words[:1], *where, *words[1:]]) == code
    assert said in capsys.readouterr().err


def test_html_counts_what_it_has_written(sound, capsys):
    assert lessons("html", sound, "-o", str(sound / "pages")) == 0
    assert "1 chapter and the index: " in capsys.readouterr().out
    assert sorted(one.name for one in (sound / "pages").iterdir()) == [
        "01-kinds.html",
        "index.html",
    ]


def test_a_page_that_is_made_anew_leaves_the_others_in_the_index(tmp_path, capsys):
    for name in ("01-kinds", "02-more", "03-last"):
        write_chapter(tmp_path, EVERY_KIND, name=name)
    pages = tmp_path / "pages"
    assert lessons("html", tmp_path, "-o", str(pages)) == 0
    before = {path: path.read_bytes() for path in pages.iterdir()}
    assert len(before) == 4
    assert lessons("html", tmp_path, "2", "-o", str(pages)) == 0
    assert {path: path.read_bytes() for path in pages.iterdir()} == before
    assert "1 chapter and the index: " in capsys.readouterr().out


def test_a_folder_without_chapters_is_refused(tmp_path, capsys):
    assert lessons("check", tmp_path) == 2
    assert "contains no chapters" in capsys.readouterr().err
    assert lessons("check", tmp_path / "nowhere") == 2


def test_signs_that_end_no_line_of_a_file_move_nothing(tmp_path, capsys):
    odd = "A line\N{LINE SEPARATOR}that goes on\x0c after a form feed."
    head = f"# T {{#t}}\n\n{odd}\n\n```python {{#a}}\nprint({odd!r}.replace('that', 'this'))\n```\n"
    write_chapter(tmp_path, f"{head}\n```output\n5\n```\n\nThe end.\n")
    assert lessons("build", tmp_path, "--accept", "--translated", "both") == 0
    text = (tmp_path / "01-kinds" / "lesson.en.md").read_text(encoding="utf-8")
    shown = odd.replace("that", "this")
    assert text.endswith(f"```output\n{shown}\n```\n\nThe end.\n")
    assert odd in text
    assert lessons("check", tmp_path) == 0
