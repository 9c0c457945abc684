"""A stored player within something else: a chapter's page, or a notebook."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path

from kerascope.errors import ArgumentError

HEIGHT = 900  # pixels, where no script says how high the player is


def frame(page: str, title: str, language: str = "en", height: int = HEIGHT) -> str:
    """Return an element that holds a whole page, and asks for no other file.

    Parameters
    ----------
    page : str
        What `Player.save` wrote.
    title : str
        What a screen reader calls it.
    language : {"en", "zh"}
        In which it begins.
    height : int
        Pixels.
    """
    page = page.replace('<html lang="en">', f'<html lang="{language}">', 1)
    held = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe class="player" title="{escape(title)}" height="{height}" '
        f'style="width:100%;border:0" srcdoc="{held}"></iframe>'
    )


class ShownPlayer:
    """A stored player, for a cell of a notebook.

    Parameters
    ----------
    path : path
        What `Player.save` wrote.
    title : str
    language : {"en", "zh"}
    """

    def __init__(
        self, path: str | PathLike[str], title: str = "player", language: str = "en"
    ) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise ArgumentError(
                f"ShownPlayer: there is no {self.path}; run the cell that saves it first."
            )
        self.title = title
        self.language = language

    def _repr_html_(self) -> str:
        return frame(self.path.read_text(encoding="utf-8"), self.title, self.language)

    def __repr__(self) -> str:
        return f"<player {self.path}: open it in a browser>"
