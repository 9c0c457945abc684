import pytest
from lesson_texts import EVERY_KIND, write_chapter

from kerascope.lessons.checking import complaints_of, output_complaints
from kerascope.lessons.runner import run_chapter, run_chapters

HEAD = "# Title {#title}\n\n"


@pytest.fixture(scope="module")
def every_kind(tmp_path_factory):
    return run_chapter(write_chapter(tmp_path_factory.mktemp("course"), EVERY_KIND))


def ran(tmp_path, text):
    return run_chapter(write_chapter(tmp_path, HEAD + text))


def test_every_kind_of_block_prints_what_it_should(every_kind):
    assert [run.error for run in every_kind.blocks.values()] == [""] * 6
    assert list(every_kind.blocks) == [block.id for block in every_kind.chapter.main.blocks]
    for lesson in every_kind.chapter.lessons.values():
        assert output_complaints(lesson, every_kind) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```python {#a}\nx = 1\n1 / 0\n```\n", 'File "a.py", line 2, in <module>\n        1 / 0'),
        ("```python {#a}\nimport sys\nsys.exit(2)\n```\n", "SystemExit: 2"),
        ("```python {#a}\nif\n```\n", "SyntaxError"),
        ("```raises ValueError {#a}\nx = 1\n```\n", "expected ValueError, got no error"),
        ("```raises ValueError {#a}\n1 / 0\n```\n", "ZeroDivisionError"),
        ("```raises Nothing {#a}\n1 / 0\n```\n", "exception 'Nothing' does"),
        ("```pycon {#a}\n>>> 1 / 0\n```\n", "ZeroDivisionError"),
        ("```pycon {#a}\nno prompt\n```\n", "expected a line that begins with"),
        ("```pdb missing.py {#a}\nc\n```\n", "command 1, 'c', was never read"),
        ("```kscope missing.py {#a}\nc\n```\n", "there is no file"),
        ("```pdb example.py {#a}\nq\np 1\n```\n", "command 2, 'p 1', was never read"),
        (
            "```python {#a}\nfrom urllib.request import urlopen\nurlopen('http://192.0.2.1/')\n```\n",
            "Lessons run without a network",
        ),
    ],
)
def test_a_block_that_fails_says_why_and_stops_the_chapter(tmp_path, text, words):
    run = ran(tmp_path, text + "\n```python {#next}\nx = 1\n```\n")
    assert list(run.blocks) == ["a"]
    complaints = "\n".join(complaints_of(run, []))
    assert "01-kinds/lesson.en.md:4: block 'a': failed:" in complaints
    assert words in complaints
    assert "2 blocks were read and 1 executed; not executed: next." in complaints


def test_a_process_that_dies_is_a_complaint(tmp_path):
    run = ran(tmp_path, "```python {#a}\nimport os\nos._exit(3)\n```\n")
    assert any("1 blocks were read and 0 executed" in one for one in complaints_of(run, []))


def test_what_is_printed_and_not_stored_is_a_complaint(tmp_path):
    run = ran(tmp_path, "```python {#a}\nprint(1)\n```\n")
    (complaint,) = output_complaints(run.chapter.main, run)
    assert "block 'a': the output differs" in complaint
    assert "+ 1" in complaint


@pytest.mark.process
def test_two_runs_print_the_same_random_numbers_sets_and_ids(tmp_path):
    code = "import random, numpy as np\nprint(random.random(), np.random.normal(size=3))\n"
    code += "print({'a', 'b', 'c'}, hash('a'), object(), id(object()) > 0)\n"
    chapter = write_chapter(tmp_path, f"{HEAD}```python {{#a}}\n{code}```\n")
    first, second = run_chapters([chapter, chapter])
    assert first.blocks == second.blocks
    assert "0x1" in first.blocks["a"].printed


def test_a_chapter_finds_the_examples_in_a_folder_of_its_own(tmp_path):
    code = "from pathlib import Path\n"
    code += "print(Path('example.py').exists(), len(list(Path('out').iterdir())))\n"
    chapter = write_chapter(tmp_path, f"{HEAD}```python {{#a}}\n{code}```\n")
    assert run_chapter(chapter).blocks["a"].printed == "True 0\n"


def test_no_settings_of_whoever_runs_it_reach_a_chapter(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASCOPE_DIALECT", "1.2")
    monkeypatch.setenv("PYTHONSTARTUP", "nowhere")
    (tmp_path / ".pdbrc").write_text("p 'from pdbrc'\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    text = "```python {#a}\nimport kerascope as ks\nprint(ks.config.dialect)\n```\n"
    run = ran(tmp_path / "course", text + "\n```pdb example.py {#b}\nq\n```\n")
    assert run.blocks["a"].printed == "2.2\n"
    assert "pdbrc" not in run.blocks["b"].printed


def test_a_lesson_can_show_the_source_of_what_it_defines(tmp_path):
    code = "import inspect\n\ndef f():\n    return 1\n\nprint(inspect.getsource(f))\n"
    run = ran(tmp_path, f"```python {{#a}}\n{code}```\n")
    assert run.blocks["a"].printed == "def f():\n    return 1\n\n"
