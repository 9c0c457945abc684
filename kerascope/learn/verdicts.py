"""Texts in both languages, and verdicts: what is said of a student's file.

`Unmet` is what a checker raises on the way to one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from kerascope.lessons.lesson import LANGUAGES

__all__ = ["LANGUAGES", "Text"]


# --- the two languages of the course --------------------------------------------------------------


class Text(NamedTuple):
    """The same words in English and in Chinese.

    Examples
    --------
    >>> Text(en="layer", zh="层").within("zh")
    '层'
    """

    en: str
    zh: str

    def within(self, language: str) -> str:
        """Return the words in one language."""
        return self.zh if language == "zh" else self.en

    def as_json(self) -> dict[str, str]:
        """Return both, by the code of the language."""
        return {"en": self.en, "zh": self.zh}


NOTHING = Text("", "")


def language_of_environment(environment: Mapping[str, str]) -> str:
    """Return the language that the terminal is set to, English where we do not have it.

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
    """Return the name of something in both languages; code is the same in each."""
    return Text(what, what) if isinstance(what, str) else what


def spaced(words: str) -> str:
    """Return words with a space behind them where Latin letters meet Chinese ones.

    Examples
    --------
    >>> spaced("f(x)"), spaced("形状")
    ('f(x) ', '形状')
    """
    return f"{words} " if words[-1:].isascii() else words


# --- verdicts -------------------------------------------------------------------------------------


class Verdict(Enum):
    """NOT ATTEMPTED is no failure: the file still is what the student was given."""

    NOT_ATTEMPTED = "NOT ATTEMPTED"
    FAIL = "FAIL"
    PASS = "PASS"

    @property
    def text(self) -> Text:
        """The verdict in both languages."""
        return _TEXTS[self]


_TEXTS = {
    Verdict.NOT_ATTEMPTED: Text("NOT ATTEMPTED", "未作答"),
    Verdict.FAIL: Text("FAIL", "未通过"),
    Verdict.PASS: Text("PASS", "通过"),
}


@dataclass(frozen=True)
class Outcome:
    """A verdict and the reason for it.

    Attributes
    ----------
    verdict : Verdict
    message : Text
        For a FAIL what was demanded and what happened; empty for a PASS.
    checks : int
        How many demands were met.
    line : int or None
        The line of the student's file that the message is about.
    details : str
        A traceback.
    printed : str
        What the student's file printed, the beginning of it if it is long.
    """

    verdict: Verdict
    message: Text = NOTHING
    checks: int = 0
    line: int | None = None
    details: str = ""
    printed: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "verdict": self.verdict.value,
            "message": self.message.as_json(),
            "checks": self.checks,
            "line": self.line,
            "details": self.details,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], printed: str = "") -> Outcome:
        """Return what `as_json` wrote."""
        return cls(
            Verdict(data["verdict"]), Text(**data["message"]), data["checks"], data["line"],
            data["details"], printed,
        )  # fmt: skip


def failed(en: str, zh: str, printed: str = "", line: int | None = None) -> Outcome:
    """Return a FAIL with its message."""
    return Outcome(Verdict.FAIL, Text(en, zh), line=line, printed=printed)


class Unmet(Exception):
    """A demand is not met: what was demanded, and what happened instead.

    Attributes
    ----------
    message : Text
    line : int or None
        The line of the student's file that it is about.
    details : str
        More to read, such as a traceback.
    """

    def __init__(self, message: Text, line: int | None = None, details: str = "") -> None:
        super().__init__(message.en)
        self.message = message
        self.line = line
        self.details = details

    def outcome(self, met: int) -> Outcome:
        """Return the FAIL that it is, after so many demands were met."""
        return Outcome(Verdict.FAIL, self.message, met, self.line, self.details)
