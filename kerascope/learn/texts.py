"""The two languages of the course."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kerascope.lessons.blocks import LANGUAGES

__all__ = ["LANGUAGES", "Text"]


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
