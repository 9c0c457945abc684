"""Lessons as notebooks and in the terminal."""

import json

import pytest
from lesson_texts import (
    EVERY_KIND,
    chapter_of_the_course,
    chapters_of_the_course,
    write_chapter,
)

from kerascope.cli import main
from kerascope.errors import ArgumentError, UnknownNameError
from kerascope.lessons import examples_folder, tutorials_folder
from kerascope.lessons.comparison import compare
from kerascope.lessons.notebook import kscope, notebook_text, pdb, prepare
from kerascope.lessons.parser import chapter_folders, find_chapter, read_chapter
from kerascope.lessons.reading import chapter_text
from kerascope.lessons.render_html import chapter_page
from kerascope.lessons.runner import clean, prepare_folder
from kerascope.lessons.sessions import PACKAGE_PARENT
from kerascope.lessons.stops import name_places, number_places

NAMES = [folder.name for folder in chapter_folders()]


def notebook_of(folder, language="en"):
    return json.loads(notebook_text(read_chapter(folder), language))


def executed(text):
    """Run a notebook in a kernel; return its cells."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.reads(text, as_version=4)
    nbformat.validate(notebook)
    options = {"kernel_name": "python3", "timeout": 600, "startup_timeout": 600}
    nbclient.NotebookClient(notebook, **options).execute()
    return notebook.cells


def printed_by(cell):
    """Return what a cell has printed; a table of rich is displayed in a notebook."""
    texts = []
    for one in cell["outputs"]:
        if one["output_type"] == "stream" and one["name"] == "stdout":
            texts.append(one["text"])
        elif one["output_type"] == "display_data":
            texts.append(one["data"]["text/plain"] + "\n")
    return "".join(texts)


# --- notebooks ------------------------------------------------------------------------------------


def test_every_kind_of_block_becomes_a_cell_that_runs(tmp_path):
    chapter = write_chapter(tmp_path, EVERY_KIND)
    cells = {cell["id"]: cell for cell in executed(notebook_text(chapter, "en"))}
    stored = {block.id: block.output.text for block in chapter.main.blocks if block.output}
    for name in ("first", "lines", "events"):
        assert cells[name]["outputs"][0]["text"] == stored[name]
    assert cells["wrong"]["outputs"][-1]["ename"] == "ValueError"
    assert cells["console-0"]["outputs"][0]["data"]["text/plain"] == "8"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_notebook_of_the_course_is_valid(name, language):
    nbformat = pytest.importorskip("nbformat")
    chapter = chapter_of_the_course(name)
    notebook = nbformat.reads(notebook_text(chapter, language), as_version=4)
    nbformat.validate(notebook)
    assert notebook.cells[0]["source"].startswith("# ")
    code = [cell for cell in notebook.cells if cell["cell_type"] == "code"]
    assert len(code) > len(chapter.main.blocks)


def kinds_of(chapter):
    """Return what becomes cells of different kinds: blocks, pictures, players."""
    pictures = {"player" if one.is_player else "picture" for one in chapter.main.pictures}
    return pictures | {block.kind for block in chapter.main.blocks}


SHORT = "14-update-tuples"  # its notebook runs by default, those of the others do not


def test_the_notebooks_that_run_by_default_have_every_kind_of_cell_of_the_course(tmp_path):
    of_the_course = set().union(*map(kinds_of, chapters_of_the_course()))
    made_up, short = write_chapter(tmp_path, EVERY_KIND), chapter_of_the_course(SHORT)
    assert of_the_course - {"picture", "player"} <= kinds_of(made_up)
    assert of_the_course <= kinds_of(made_up) | kinds_of(short)


@pytest.mark.parametrize(
    "name",
    [name if name == SHORT else pytest.param(name, marks=pytest.mark.slow) for name in NAMES],
)
def test_a_notebook_of_the_course_runs_from_top_to_bottom(name):
    chapter = chapter_of_the_course(name)
    cells = {cell["id"]: cell for cell in executed(notebook_text(chapter, "zh"))}
    compared = 0
    for block in chapter.main.blocks:
        if block.output is not None and block.kind != "raises":
            printed = printed_by(cells[block.id])
            if block.kind == "python":  # sessions are clean already
                printed = clean(printed, [str(PACKAGE_PARENT)])
            # A name stands for more than one line, so both sides get theirs from the numbers.
            difference = compare(
                name_places(number_places(block.output.text)),
                name_places(printed),
            )
            assert difference is None, f"{block.id}:\n{difference.text}"
            compared += 1
    assert compared


def test_the_command_writes_a_notebook_of_each_language(tmp_path, capsys):
    folder = write_chapter(tmp_path, EVERY_KIND).folder.parent
    words = ["lessons", "notebook", "--tutorials", str(folder), "-o", str(tmp_path / "out")]
    assert main(words) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "01-kinds.en.ipynb",
        "01-kinds.zh.ipynb",
    ]
    assert "会话" in (tmp_path / "out" / "01-kinds.zh.ipynb").read_text(encoding="utf-8")


def test_quotes_and_backslashes_of_commands_stay(tmp_path):
    text = '# T {#t}\n\n```pdb example.py {#a}\np """\\n"""\n```\n'
    cell = next(one for one in notebook_of(write_chapter(tmp_path, text).folder)["cells"]
                if one["id"] == "a")  # fmt: skip
    said = {}
    exec("".join(cell["source"]), {"pdb": lambda *words, commands: said.update(it=commands)})
    assert said["it"] == '\np """\\n"""\n'


def test_a_cell_prints_a_session_in_a_folder_of_its_own(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERASCOPE_WORKBOOK", str(tmp_path))  # `prepare` would set it for all tests
    prepare()
    kscope("example.py", commands="tbreak dense_2\nc\n")
    assert "--Call-- layer.call dense_2" in capsys.readouterr().out
    with pytest.raises(ArgumentError, match="command 1, 'c', was never read"):
        pdb("nowhere.py", commands="c\n")
    assert list(tmp_path.iterdir()) == []


def test_a_live_session_shows_what_the_lesson_shows(tmp_path, monkeypatch, capsys):
    """The standard error, with warnings about old spellings, is not part of a lesson."""
    prepare_folder(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    commands = iter(["tbreak phase:build_map", "c", "q"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(commands))
    kscope("example.py")
    shown = capsys.readouterr().out
    assert "build_map" in shown
    assert "SpellingWarning" not in shown


# --- in the terminal ------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [1, "1", "01", "kinds", "01-kinds", "01-KINDS/"])
def test_a_chapter_is_found_by_number_and_by_name(tmp_path, word):
    write_chapter(tmp_path, EVERY_KIND)
    assert find_chapter(word, tmp_path).name == "01-kinds"


def test_a_chapter_that_is_not_there_is_guessed(tmp_path):
    write_chapter(tmp_path, EVERY_KIND)
    with pytest.raises(UnknownNameError, match="Did you mean '01-kinds'"):
        find_chapter("01-kind", tmp_path)
    with pytest.raises(UnknownNameError, match="has no language 'fr'"):
        chapter_text(1, "fr", tutorials=tmp_path)


def test_one_word_of_a_chapters_name_will_do_where_no_other_has_it(tmp_path):
    for name in ("01-network-maps", "02-network-depths"):
        write_chapter(tmp_path, EVERY_KIND, name=name)
    assert find_chapter("depths", tmp_path).name == "02-network-depths"
    with pytest.raises(UnknownNameError, match="ambiguous. Use one of: 01-network-maps, 02"):
        find_chapter("network", tmp_path)


@pytest.mark.parametrize(
    ("count", "en", "zh"),
    [
        (1, "This chapter has an exercise:", "本章有一个练习："),
        (3, "This chapter has 3 exercises:", "本章有 3 个练习："),
    ],
)
def test_a_chapter_ends_with_how_to_get_its_exercises(tmp_path, count, en, zh):
    folder = write_chapter(tmp_path, EVERY_KIND).folder
    assert "kerascope learn" not in chapter_text(1, tutorials=tmp_path)
    assert "kerascope learn" not in chapter_page(read_chapter(folder), None, None)
    (folder / "exercises").mkdir()
    for number in range(count):
        (folder / "exercises" / f"e{number}.toml").touch()
    command = f"kerascope learn 1 --tutorials {tmp_path.name}"
    assert chapter_text(1, tutorials=tmp_path).endswith(f"\n\n{en} {command}\n")
    assert chapter_text(1, "zh", tutorials=tmp_path).endswith(f"\n\n{zh} {command}\n")
    there = chapter_text(1, tutorials=tmp_path, at=" --tutorials there")
    assert there.endswith(f"\n\n{en} kerascope learn 1 --tutorials there\n")
    page = chapter_page(read_chapter(folder), None, None)
    assert f"{en} <code>{command}</code>" in page
    assert f"{zh} <code>{command}</code>" in page


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80])
def test_no_cell_of_a_table_is_cut(language, width):
    for name in ("05-node", "10-run-internal-graph", "A-documents"):
        lesson = chapter_of_the_course(name).lessons[language]
        assert chapter_text(name, language, width=width).count("…") == lesson.source.count("…")


def test_a_chapter_reads_well_in_a_pipe(tmp_path):
    write_chapter(tmp_path, EVERY_KIND)
    text = chapter_text(1, tutorials=tmp_path)
    assert text.startswith("# Kinds\n\n| def double(x):\n|     return 2 * x\n|\n")
    assert "Output:\n  42\n" in text
    assert "It is 42, or 100." in text
    assert "| $ python3 -m pdb small.py\n| > small.py(1)<module>()\n" in text
    assert "\x1b" not in text
    assert "\x1b[" in chapter_text(1, tutorials=tmp_path, color=True)


def test_chinese_is_wrapped_between_its_signs(tmp_path):
    words = "张量" * 60 + "，" + "层" * 30
    write_chapter(tmp_path, f"# T {{#t}}\n\n{words}。\n")
    lines = chapter_text(1, "zh", width=40, tutorials=tmp_path).splitlines()[2:]
    assert "".join(lines) == f"{words}。"
    assert all(len(line) <= 20 for line in lines)
    assert not any(line.startswith(("，", "。")) for line in lines)
    assert sum(len(line) >= 19 for line in lines) == len(lines) - 1


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_chapter_reads_in_the_terminal(name, language):
    lesson = chapter_of_the_course(name).lessons[language]
    text = chapter_text(name, language)
    assert all(section.title in text for section in lesson.sections)
    assert "{.free}" not in text
    assert "{#" not in "".join(line for line in text.splitlines() if not line.startswith("|"))


def test_tutorials_and_examples_are_where_they_are_said_to_be():
    assert (tutorials_folder() / "glossary.toml").is_file()
    assert (examples_folder() / "example.py").is_file()
