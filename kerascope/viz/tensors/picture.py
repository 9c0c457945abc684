"""`Picture`: a picture of numbers for notebooks, terminals and files.

`ks.show`, `history.plot()` and `tape.plot(...)` return it. It has the methods of a `Drawing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from kerascope.errors import ArgumentError
from kerascope.files import write_whole
from kerascope.printable import printable_lines
from kerascope.viz.exports.graphviz import DEFAULT_DPI, PICTURE_FORMATS, check_positive
from kerascope.viz.formats import OF_TENSORS, format_of, meaning_of
from kerascope.viz.sheet import Sheet
from kerascope.viz.theme import THEMES_OF_SCREENS
from kerascope.viz.writers.printed import render_sheet
from kerascope.viz.writers.svg import svg_of_sheet
from kerascope.viz.writers.tikz import tex_of_sheet, tikz_of_sheet

TERMINAL_WIDTH = 80


class Content(Protocol):
    """The content of a picture, which can be laid out as marks on a sheet and as text."""

    @property
    def title(self) -> str:
        """The title of the picture, in one line."""

    @property
    def description(self) -> str:
        """A description of the picture in words."""

    def sheet(self) -> Sheet:
        """Return the picture as marks on a sheet."""

    def text(self, width: int, ascii_only: bool = False) -> str:
        """Return the picture as text."""


class Picture:
    """A picture of numbers.

    Parameters
    ----------
    content : HeatMaps or Curves
    theme : {"auto", "light", "dark"}
        "auto" follows the reader's system if the format allows it.
    dpi : float
        Pixels per inch of a PNG.

    Examples
    --------
    >>> import kerascope as ks
    >>> picture = ks.show([[1.0, -2.0], [0.5, float("nan")]])
    >>> picture
    <Picture of array: 2 rows x 2 columns · min -2 · max 1 · 1 NaN. Save it with .save('array.svg')>
    >>> print(picture)  # doctest: +NORMALIZE_WHITESPACE
    array
    <BLANKLINE>
    2 rows x 2 columns · min -2 · max 1 · 1 NaN
        0   1
    0   1  -2
    1 0.5 NaN
    """

    def __init__(self, content: Content, theme: str = "auto", dpi: float = DEFAULT_DPI) -> None:
        if theme not in THEMES_OF_SCREENS:
            raise ArgumentError(
                f"show: unknown theme {theme!r}. Use one of: {', '.join(THEMES_OF_SCREENS)}."
            )
        check_positive("show", "dpi", dpi)
        self.content = content
        self.theme = theme
        self.dpi = dpi

    # --- formats ---

    @cached_property
    def sheet(self) -> Sheet:
        """The picture as marks on a sheet, from which all formats except text are written."""
        return self.content.sheet()

    @property
    def svg(self) -> str:
        """The picture as SVG source."""
        return svg_of_sheet(self.sheet, self.theme)

    @property
    def html(self) -> str:
        """The picture as an HTML page in one file."""
        title = escape(self.content.title)
        ground = "" if self.theme != "auto" else '<meta name="color-scheme" content="light dark">'
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{ground}'
            f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
            f"<style>body{{margin:0}}svg{{max-width:100%;height:auto}}</style></head>\n"
            f"<body>\n{self.svg}</body></html>\n"
        )

    @property
    def tikz(self) -> str:
        """The picture as a `tikzpicture`, for inclusion in a LaTeX document.

        Raises
        ------
        ArgumentError
            The picture contains panels that are images, which TikZ cannot draw.
        """
        return tikz_of_sheet(self.sheet, self.theme)

    @property
    def tex(self) -> str:
        """The picture as a complete LaTeX document; see `tikz`."""
        return tex_of_sheet(self.sheet, self.theme)

    def text(self, width: int = TERMINAL_WIDTH, *, ascii_only: bool = False) -> str:
        """Return the picture as text.

        Parameters
        ----------
        width : int
            Maximum length of a line.
        ascii_only : bool
            Use only ASCII characters.
        """
        text = printable_lines(self.content.text(width, ascii_only))
        lines = [line[:width] for line in text.splitlines()]
        return "\n".join(ascii_of(line) if ascii_only else line for line in lines)

    def render(self, format: str) -> bytes:
        """Return the picture in the format "svg", "png" or "pdf".

        Raises
        ------
        MissingToolError
            The format is PNG or PDF, and neither the package pygraphviz nor Graphviz is installed.
        """
        if format == "svg":
            return self.svg.encode()
        return render_sheet(self.sheet, format, self.theme, dpi=self.dpi)

    def to_format(self, format: str) -> bytes:
        """Return the picture in any of `formats.OF_TENSORS`, as the bytes of a file.

        Raises
        ------
        ArgumentError
            The format is not one of `formats.OF_TENSORS`.
        """
        meaning = meaning_of(format, OF_TENSORS)
        if meaning in PICTURE_FORMATS:
            return self.render(meaning)
        content = f"{self.text()}\n" if meaning == "text" else getattr(self, meaning)
        return content.encode()

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the picture to a file, in the format of its suffix, and return the path.

        Parameters
        ----------
        path : path
            Ends in .svg, .png, .pdf, .html, .txt, .tikz or .tex.

        Raises
        ------
        ArgumentError
            The suffix is unknown, or the folder does not exist.
        MissingToolError
            The format is PNG or PDF, and neither the package pygraphviz nor Graphviz is installed.
        """
        path = Path(path)
        content = self.to_format(format_of(path, OF_TENSORS))
        write_whole(path, content)
        return path

    # --- display ---

    def __repr__(self) -> str:
        """Return one line that describes the picture."""
        described = self.content.description.removeprefix(": ")
        short = described if len(described) < 100 else f"{described[:97]}..."
        name = "".join(x if x.isalnum() else "_" for x in self.content.title.split(" ")[0])
        return f"<Picture of {self.content.title}: {short}. Save it with .save('{name}.svg')>"

    def __str__(self) -> str:
        """Return the picture as text, for `print`."""
        return self.text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the picture as text that fits the terminal."""
        yield Text(self.text(options.max_width, ascii_only=options.ascii_only))

    def _repr_svg_(self) -> str:
        """Return the picture as SVG, for a notebook."""
        return self.svg

    def _repr_html_(self) -> str:
        """Return the picture as SVG inside HTML, for a notebook that does not display SVG."""
        return self.svg

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return the picture as SVG, with the text as a fallback, for a notebook."""
        return {"text/plain": f"{self!r}\n{self.text()}", "image/svg+xml": self.svg}


def ascii_of(line: str) -> str:
    """Return a line of text with all characters outside ASCII replaced.

    Examples
    --------
    >>> ascii_of("3 · größe")
    '3 , gr??e'
    """
    return "".join(_ascii(line))


def _ascii(line: str) -> Iterator[str]:
    for sign in line:
        yield sign if sign.isascii() else {"·": ",", "✗": "X", "→": ">"}.get(sign, "?")
