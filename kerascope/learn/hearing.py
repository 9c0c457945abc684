"""Whether an answer was printed, when it should have been returned."""

from __future__ import annotations

from typing import Any

from kerascope.learn.texts import Text


class Heard:
    """Standard output that knows whether something was printed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.words = False

    def write(self, words: str) -> int:
        """Note that there are words, and pass them on."""
        self.words = self.words or bool(words.strip())
        return int(self._stream.write(words) or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def why_none(name: str) -> Text:
    """Return what is said of a function that printed and returned nothing."""
    return Text(
        en=f"; {name}(...) prints and returns nothing: `return` hands an answer back, `print` only "
        "shows it",
        zh=f"；{name}(...) 只打印，没有返回值：`return` 才把答案交出去，`print` 只是显示它",
    )
