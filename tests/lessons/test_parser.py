import pytest
from lesson_texts import EVERY_KIND, parsed

from kerascope.lessons.lesson import KINDS, LessonError, Prose
from kerascope.lessons.parser import read_lesson

HEAD = "# Title {#title}\n\n"


def test_every_kind_of_block_is_read_with_its_output_and_its_line():
    lesson = parsed(EVERY_KIND)
    blocks = {block.id: block for block in lesson.blocks}
    assert list(blocks) == ["first", "wrong", "console", "write", "lines", "events"]
    assert {block.kind for block in lesson.blocks} == set(KINDS)
    assert blocks["wrong"].words == ("ValueError",)
    assert blocks["lines"].words == ("small.py",)
    assert blocks["lines"].predict
    assert not blocks["events"].predict
    lines = EVERY_KIND.splitlines()
    for block in lesson.blocks:
        assert lines[block.line - 1] == block.code.splitlines()[0]
        if block.output:
            assert lines[block.output.first_line - 1] == block.output.text.splitlines()[0]
    assert blocks["write"].output is None
    assert [section.id for section in lesson.sections] == ["kinds", "sessions"]


PREDICTED = """\
```python {{#{name} .predict}}
print({name!r})
```
```output
{name}
```
"""


def test_the_text_after_a_predicted_block_is_its_answer():
    one, two, plain = (PREDICTED.format(name=name) for name in "abc")
    plain = plain.replace(" .predict", "")
    text = f"Why?\n\n{one}\nSo.\n\nAlso.\n\nAnd b?\n\n{two}\nYes.\n\n{plain}\nEnd.\n"
    steps = parsed(HEAD + text).sections[0].steps
    assert [step.is_predicted for step in steps] == [True, True, False, False]
    assert [step.before.strip() for step in steps] == ["Why?", "And b?", "", "End."]
    assert [step.answer.strip() for step in steps] == ["So.\n\nAlso.", "Yes.", "", ""]


def test_nothing_of_the_text_is_lost():
    lesson = parsed(EVERY_KIND)
    prose = [part.text for part in lesson.parts if isinstance(part, Prose)]
    assert prose == ["It is 42, or 100{.free}.\n"]
    assert EVERY_KIND.count("```") == 2 * sum(1 + bool(b.output) for b in lesson.blocks)


def test_pictures_and_players_name_the_block_that_makes_them():
    text = HEAD + "```python {#a}\nx = 1\n```\n\n![A line](out/a.svg){.gen from=a}\n\n"
    lesson = parsed(text + "![A walk](out/a.html){.player trace=a}\n")
    picture, player = lesson.pictures
    assert (picture.alt, picture.path, picture.made_by) == ("A line", "out/a.svg", "a")
    assert player.is_player
    assert player.line == 9


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "expected a heading first"),
        ("words\n\n# Late {#late}\n", 1, "before any text"),
        ("# Title\n", 1, "heading 'Title' has no name"),
        ("## Title {#a}\n", 1, "expected one '#'"),
        (HEAD + "# Second {#b}\n", 3, "one title"),
        (HEAD + "## Again {#title}\n", 3, "the name 'title' is used twice"),
        (HEAD + "```python\nx\n```\n", 3, "the python block has no name"),
        (HEAD + "```python {#A b}\nx\n```\n", 3, "lower-case letters"),
        (HEAD + "```\nx\n```\n", 3, "unknown block kind ''"),
        (HEAD + "```pythn {#a}\nx\n```\n", 3, "Did you mean 'python'?"),
        (HEAD + "```python {#a .skip}\nx\n```\n", 3, "unknown marks .skip"),
        (HEAD + "```python {#a skip=1}\nx\n```\n", 3, "unknown marks skip"),
        (HEAD + "```pycon {#a .predict}\n>>> 1\n1\n```\n", 3, "Write a python block"),
        (HEAD + "```python no {#a}\nx\n```\n", 3, "unknown words 'no'"),
        (HEAD + "```raises {#a}\nx\n```\n", 3, "the name of one error"),
        (HEAD + "```pdb {#a}\nx\n```\n", 3, "and a script"),
        (HEAD + "```output\nx\n```\n", 3, "expected a block right before an output"),
        (
            HEAD + "```python {#a}\nx\n```\nwords\n\n```output\nx\n```\n",
            8,
            "right before an output",
        ),
        (
            HEAD + "```python {#a}\nx\n```\n```output\nx\n```\n```output\nx\n```\n",
            9,
            "block 'a' has a second output",
        ),
        (HEAD + "```pycon {#a}\n>>> 1\n```\n```output\n1\n```\n", 6, "its own outputs"),
        (HEAD + "    indented = 1\n", 3, "an indented block"),
        (HEAD + "- item\n\n  ```python {#a}\n  x\n  ```\n", 5, "within a list"),
        (HEAD + "> ```python {#a}\n> x\n> ```\n", 3, "within a list or a quote"),
        (HEAD + "see ![A](out/a.svg){.gen from=a}\n", 3, "in its own paragraph"),
        (HEAD + "![A](out/a.svg)\n", 3, "to name the block"),
        (HEAD + "![](out/a.svg){.gen from=a}\n", 3, "needs a description"),
        (HEAD + "![A](out/a.svg){.gen from=a}\n", 3, "no block before this picture"),
        (HEAD + "**先看：**再说\n", 3, "makes nothing bold"),
    ],
)
def test_what_is_no_lesson_is_refused_with_its_line(text, line, words):
    with pytest.raises(LessonError) as caught:
        parsed(text)
    assert f"01-kinds/lesson.en.md:{line}: " in str(caught.value)
    assert words in str(caught.value)


def test_the_name_of_the_file_says_the_language(tmp_path):
    with pytest.raises(LessonError, match=r"lesson\.LANGUAGE\.md"):
        read_lesson(tmp_path / "lesson.fr.md")


ODD = "A line\N{LINE SEPARATOR}that goes on\x0c after a form feed\x85 and more."


def test_a_line_ends_only_where_one_of_the_file_does():
    lesson = parsed(f"{HEAD}{ODD}\n\n```python {{#a}}\nx = '{ODD}'\n```\n\nThe end.\n")
    (block,) = lesson.blocks
    assert (block.line, block.span) == (6, (4, 7))
    assert [part.text for part in lesson.parts if isinstance(part, Prose)] == [
        f"{ODD}\n",
        "The end.\n",
    ]
