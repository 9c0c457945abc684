"""Texts in both languages, and the verdicts on a student's file.

A checker raises `Unmet` when the file does not meet a requirement.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from kerascope.lessons.lesson import LANGUAGES

__all__ = ["LANGUAGES", "Text"]


# --- the two languages of the course --------------------------------------------------------------


class Text(NamedTuple):
    """The same text in English and in Chinese.

    The checkers of a course in one language may use a plain string wherever a `Text` is expected.

    Examples
    --------
    >>> Text(en="layer", zh="层").within("zh")
    '层'
    """

    en: str
    zh: str

    def within(self, language: str) -> str:
        """Return the text in one language: "en" or "zh"."""
        return self.zh if language == "zh" else self.en

    def as_json(self) -> dict[str, str]:
        """Return the English and the Chinese text as a dict with the keys "en" and "zh"."""
        return {"en": self.en, "zh": self.zh}


NOTHING = Text("", "")


def language_of_environment(environment: Mapping[str, str]) -> str:
    """Return the language of the terminal: "zh" if its locale is Chinese, otherwise "en".

    Examples
    --------
    >>> language_of_environment({"LANG": "zh_CN.UTF-8"})
    'zh'
    >>> language_of_environment({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"})
    'en'
    """
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environment.get(name):
            return "zh" if environment[name].lower().startswith("zh") else "en"
    return "en"


def both(what: str | Text) -> Text:
    """Return a `Text` that is the same string in both languages; return a `Text` unchanged."""
    return Text(what, what) if isinstance(what, str) else what


def spaced(words: str) -> str:
    """Return Chinese text, with a space at its end if it ends in a Latin letter or a digit.

    Examples
    --------
    >>> spaced("f(x)"), spaced("形状")
    ('f(x) ', '形状')
    """
    return f"{words} " if words[-1:].isascii() else words


# --- verdicts -------------------------------------------------------------------------------------


class Verdict(Enum):
    """PASS, FAIL, or NOT ATTEMPTED for a file that is still the stub that the student got."""

    PASS = "PASS"
    FAIL = "FAIL"
    NOT_ATTEMPTED = "NOT ATTEMPTED"

    @property
    def text(self) -> Text:
        """The verdict as a text in both languages."""
        return _TEXTS[self]


_TEXTS = {
    Verdict.PASS: Text("PASS", "通过"),
    Verdict.FAIL: Text("FAIL", "未通过"),
    Verdict.NOT_ATTEMPTED: Text("NOT ATTEMPTED", "未作答"),
}


@dataclass(frozen=True)
class Outcome:
    """A verdict and the reason for it.

    Attributes
    ----------
    verdict : Verdict
    message : Text
        For a FAIL, what was required and what happened; empty for a PASS.
    checks : int
        How many of the checker's requirements the student's file met.
    line : int or None
        The line of the student's file that the message is about.
    details : str
        A traceback, or "".
    printed : str
        The output of the student's file, cut if it is long.
    """

    verdict: Verdict
    message: Text = NOTHING
    checks: int = 0
    line: int | None = None
    details: str = ""
    printed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as JSON data, without the printed output."""
        return {
            "verdict": self.verdict.value,
            "message": self.message.as_json(),
            "checks": self.checks,
            "line": self.line,
            "details": self.details,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], printed: str = "") -> Outcome:
        """Return an outcome made from the data that `as_json` returned, with the printed output."""
        return cls(
            Verdict(data["verdict"]), Text(**data["message"]), data["checks"], data["line"],
            data["details"], printed,
        )  # fmt: skip


def failed(en: str, zh: str, printed: str = "", line: int | None = None) -> Outcome:
    """Return an outcome of FAIL with its message in both languages."""
    return Outcome(Verdict.FAIL, Text(en, zh), line=line, printed=printed)


def counts(outcomes: Iterable[Outcome]) -> dict[Verdict, int]:
    """Return how many of the outcomes have each verdict, in the order of `Verdict`."""
    verdicts = [outcome.verdict for outcome in outcomes]
    return {verdict: verdicts.count(verdict) for verdict in Verdict}


_GAP = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")  # a blank between two Chinese words


class Unmet(Exception):
    """Raised by a checker for a requirement that the student's file does not meet.

    Attributes
    ----------
    message : Text
        What was required, and what happened instead.
    line : int or None
        The line of the student's file that the message is about.
    details : str
        More about the failure, such as a traceback; "" for none.

    Examples
    --------
    >>> error = Unmet(Text(en="expected 4, yours is 6", zh="应为 4，你的是 6"), line=3)
    >>> outcome = error.outcome(met=2)
    >>> outcome.verdict.name, outcome.message.en, outcome.line
    ('FAIL', 'expected 4, yours is 6', 3)
    """

    def __init__(self, message: Text, line: int | None = None, details: str = "") -> None:
        super().__init__(message.en)
        self.message = Text(message.en, _GAP.sub("", message.zh))
        self.line = line
        self.details = details

    def outcome(self, met: int) -> Outcome:
        """Return the outcome FAIL for this error; `met` requirements were met before."""
        return Outcome(Verdict.FAIL, self.message, met, self.line, self.details)
