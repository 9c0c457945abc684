"""Explain the codes in the chapters: R38 and C06 for facts, S4 and S4:51 for the documents.

No other list of facts is kept: what a fact says is read from the tables in the sections `documents`
of the chapters (`checking.py`), and the passages of the documents from the tables of the appendix.
That is the chapter with the sections `s0` to `s4`. A course without it has no references.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from kerascope.lessons import DOCUMENTS, appendix_number, is_appendix
from kerascope.lessons.checking import rows_of
from kerascope.lessons.lesson import Lesson
from kerascope.lessons.parser import chapter_folders, read_chapter

CODE = re.compile(r"(?<![\w:-])(?:[RC]\d\d|S[0-4](?::\d+(?:-\d+)?)?)(?![\w:-])")
FACTS = re.compile(r"\s*[(（](?:[RC]\d\d[,、 ]*)+[)）]")
FACT = {
    "en": "{code} ({where}): {says}. What we saw: {saw}.",
    "zh": "{code}（{where}）：{says}。我们看到：{saw}。",
}
PASSAGE = {"en": "{title} ({keras}): {says}.", "zh": "《{title}》（{keras}）：{says}。"}
NOTE = {
    "en": "S4:51 is line 51 of S4, one of the documents that this course follows. R38 and C06 are "
    "statements of theirs: R, we reproduce it; C, we correct it. The appendix lists them all: "
    "`kerascope learn read {number}`.",
    "zh": "S4:51 即 S4 的第 51 行，S4 是本课程跟读的文档之一。R38、C06 各指文档里的一处说法："
    "R 是我们重现的，C 是我们纠正的。附录里一一列出：`kerascope learn read {number}`。",
}


class Reference(NamedTuple):
    """The explanation of a code.

    Attributes
    ----------
    says : str
        A sentence about the code.
    appendix : str
        The name of the appendix, such as `A-documents`.
    place : str
        The id of the section or row in the appendix: `s4`, `S4:25-38`.
    chapter : str
        For a fact, the name of the first chapter that shows it, such as `00-tools`; otherwise "".
    """

    says: str
    appendix: str
    place: str
    chapter: str = ""


def reference_to(code: str, references: dict[str, Reference]) -> Reference | None:
    """Return the explanation of a code such as R38, S4 or S4:51-60; None if there is none."""
    return references.get(code.partition("-")[0])


@lru_cache(maxsize=8)
def references_of(tutorials: Path, language: str) -> dict[str, Reference]:
    """Return the explanations of all codes of a course in one language.

    The keys are facts (R38), documents (S4) and lines of the documents (S4:51).

    Examples
    --------
    >>> references_of(chapter_folders()[0].parent, "en")["R50"].place
    'S4:47-53'
    """
    chapters = [read_chapter(folder) for folder in chapter_folders(tutorials)]
    lessons = [one.lessons[language] for one in chapters if language in one.lessons]
    appendix = next((one for one in lessons if is_appendix(one.source)), None)
    if appendix is None:
        return {}
    references = _passages(appendix)
    rows = [row for section in DOCUMENTS for row in rows_of(appendix, section)]
    places = {fact: row.cells[0] for row in reversed(rows) for fact in row.facts}
    for lesson in lessons:
        for row in rows_of(lesson):
            for fact in row.facts:
                if fact in places and fact not in references:
                    where, says, saw = row.cells[:3]
                    says = FACTS.sub("", says)
                    sentence = FACT[language].format(code=fact, where=where, says=says, saw=saw)
                    references[fact] = Reference(
                        sentence, appendix.chapter, places[fact], lesson.chapter
                    )
    return references


def _passages(appendix: Lesson) -> dict[str, Reference]:
    """Return the references to the documents and to each of their lines."""
    found: dict[str, Reference] = {}
    passage = PASSAGE[appendix.language]
    for row in rows_of(appendix, appendix.sections[0].id):
        document, title, keras, says = row.cells
        sentence = passage.format(title=title, keras=keras, says=says)
        found[document] = Reference(sentence, appendix.chapter, document.lower())
        line = 0
        for one in rows_of(appendix, document.lower()):
            lines, says = one.cells[:2]
            sentence = passage.format(title=title, keras=keras, says=says)
            reference = Reference(sentence, appendix.chapter, lines)
            last = int(re.split("[:-]", lines)[-1])
            found |= {f"{document}:{number}": reference for number in range(line + 1, last + 1)}
            line = last
    return found


def note_on_codes(text: str, language: str, tutorials: Path, at: str = "") -> str:
    """Return a note in Markdown that explains the codes in a text; "" for a text without codes.

    The appendix explains the codes itself. `at` is appended to the command in the note. Without
    an appendix, the note is empty.
    """
    number = ""
    if CODE.search(text) and not is_appendix(text):
        number = appendix_number(tutorials)
    return NOTE[language].format(number=f"{number}{at}") if number else ""
