"""Write a sheet as TikZ, and as a LaTeX document with a page of the same size."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from kerascope.errors import ArgumentError
from kerascope.viz.sheet import (
    Circle,
    Label,
    Line,
    Point,
    Polygon,
    Raster,
    Rectangle,
    Sheet,
    plain_sheet,
)
from kerascope.viz.writers.svg_syntax import number

# --- TikZ -----------------------------------------------------------------------------------------

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "", "pi", "rho", "varsigma", "sigma", "tau", "upsilon"),
    *("varphi", "chi", "psi", "omega"),
)
_CAPITALS = "\u0393\u0394\u0398\u039b\u039e\u03a0\u03a3\u03a5\u03a6\u03a8\u03a9"
_CAPITAL_NAMES = (
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)
_AS_LATIN = "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a7"
# The signs of boxes and states as commands of amssymb.
_SIGNS = {
    **{"▼": "blacktriangledown", "▾": "blacktriangledown", "▲": "blacktriangle", "∩": "cap"},
    **{
        "▴": "blacktriangle",
        "■": "blacksquare",
        "▪": "blacksquare",
        "□": "square",
        "▽": "triangledown",
    },
    **{"●": "bullet", "○": "circ", "◎": "circledcirc", "◉": "odot", "◘": "boxdot", "◊": "lozenge"},
    **{"◇": "lozenge", "◆": "blacklozenge", "≡": "equiv", "≈": "approx", "∂": "partial"},
    **{"▤": "boxminus", "▦": "boxplus", "▸": "blacktriangleright", "►": "blacktriangleright"},
    **{"▶": "blacktriangleright", "◂": "blacktriangleleft", "★": "bigstar", "✗": "times"},
    **{"↻": "circlearrowright", "⊕": "oplus", "⊖": "ominus", "≠": "neq", "‖": "|"},
}
_IN_TEX = {
    **{sign: rf"$\{command}$" for sign, command in _SIGNS.items()},
    **{"ƒ": "$f$", "\u2212": "$-$"},
    **{character: f"\\{character}" for character in "#$%&_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"\u00d7": r"\texttimes{}", "\u00b7": r"\textperiodcentered{}"},  # in the font of the text
    **{"\u00b2": r"\texttwosuperior{}", "\u00b3": r"\textthreesuperior{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
    **{"\u2192": r"$\to$", "\u2026": r"\dots{}", "\u03bf": "o"},
    **{chr(0x3B1 + i): rf"$\{name}$" for i, name in enumerate(_GREEK) if name},
    **{one: rf"$\{name}$" for one, name in zip(_CAPITALS, _CAPITAL_NAMES, strict=True)},
    **dict(zip(_AS_LATIN, "ABEZHIKMNOPTX", strict=True)),
}
# Fonts for xelatex and lualatex, tried in this order: fonts like Helvetica, and fonts with Chinese,
# Japanese, Cyrillic and more.
FONTS = ("TeX Gyre Heros", "Helvetica", "Arial", "Liberation Sans")
FONTS_OF_CHINESE = (
    "Noto Sans CJK SC",
    "Source Han Sans SC",
    "PingFang SC",
    "Microsoft YaHei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
)
FONTS_OF_ARABIC = ("DejaVu Sans", "Arial", "Noto Sans Arabic", "Amiri")
ARABIC = range(0x590, 0x900)  # with Hebrew and Syriac
LAST_OF_T1 = 0x17F  # the last character that pdflatex's usual fonts contain
Drawn = Rectangle | Polygon | Circle | Line | Label
_ANCHORS = {"start": "base west", "middle": "base", "end": "base east"}


def tikz_of_sheet(sheet: Sheet, theme: str = "light") -> str:
    """Return a sheet as a `tikzpicture`, for a document that loads tikz.

    Raises
    ------
    ArgumentError
        The sheet contains images of arrays.
    """
    if sheet.has_rasters:
        raise ArgumentError(
            f"draw: {sheet.title!r} contains images of arrays, which TikZ cannot draw. Save it as "
            f".pdf, which LaTeX can include."
        )
    sheet = plain_sheet(sheet, "dark" if theme == "dark" else "light")
    marks = [mark for mark in sheet.shapes if not isinstance(mark, Raster)]
    colors = dict.fromkeys(color for mark in marks for color in _colors(mark))
    names = {color: f"kscolor{color[1:]}" for color in colors}
    lines = [
        *(f"% {one}" for one in [needed_tex(sheet)] if one),
        *(["% Its signs need \\usepackage{amssymb}."] if _has_signs(sheet) else []),
        "\\begin{tikzpicture}[x=1bp, y=-1bp, line join=round, inner sep=0pt, outer sep=0pt]",
        # Inside the picture, because before it each line break would add a space.
        *(f"  \\definecolor{{{names[one]}}}{{HTML}}{{{one[1:]}}}" for one in sorted(colors)),
        f"  \\useasboundingbox (0,0) rectangle ({number(sheet.width)},{number(sheet.height)});",
        *(f"  {_tikz(mark, names.__getitem__)}" for mark in marks),
        "\\end{tikzpicture}\n",
    ]
    return "\n".join(lines)


def tex_of_sheet(sheet: Sheet, theme: str = "light") -> str:
    """Return a sheet as a whole LaTeX document of the same size, for any LaTeX with TikZ.

    If the sheet contains characters that pdflatex cannot set, pdflatex stops with a message. For
    xelatex and lualatex, the document uses a font of the system.
    """
    width, height = (number(side * sheet.unit) for side in (sheet.width, sheet.height))
    signs = "\\usepackage{amssymb}\n" if _has_signs(sheet) else ""
    program = "% !TEX program = xelatex\n" if needed_tex(sheet) else ""
    return (
        f"{program}\\documentclass{{article}}\n"
        f"\\usepackage[paperwidth={width}bp, paperheight={height}bp, margin=0pt]{{geometry}}\n"
        f"\\usepackage{{iftex}}\n\\usepackage{{tikz}}\n{signs}{_fonts(sheet)}"
        "\\pagestyle{empty}\n\\setlength{\\parindent}{0pt}\n\\setlength{\\topskip}{0pt}\n"
        f"\\begin{{document}}\n\\vbox to 0pt{{%\n{tikz_of_sheet(sheet, theme).rstrip()}%\n\\vss}}\n"
        "\\end{document}\n"
    )


def _has_signs(sheet: Sheet) -> bool:
    texts = "".join(mark.text for mark in _labels(sheet))
    return not _SIGNS.keys().isdisjoint(texts)


def _labels(sheet: Sheet) -> Iterator[Label]:
    return (mark for mark in plain_sheet(sheet, "light").shapes if isinstance(mark, Label))


def letters_beyond(sheet: Sheet) -> str:
    """Return the characters of a sheet that pdflatex cannot set."""
    texts = "".join(tex(mark.text) for mark in _labels(sheet))
    return "".join(sorted({one for one in texts if ord(one) > LAST_OF_T1}))


def needed_tex(sheet: Sheet) -> str:
    """Return a message that names the TeX programs a sheet requires; "" if pdflatex can set it."""
    beyond = letters_beyond(sheet)
    return f"pdflatex has no characters {beyond}. Run xelatex or lualatex." if beyond else ""


def _fonts(sheet: Sheet) -> str:
    """Return the lines of a LaTeX document that choose its fonts."""
    beyond = letters_beyond(sheet)
    refused = (
        f"  \\PackageError{{kerascope}}{{\\detokenize{{{needed_tex(sheet)}}}}}%\n"
        "    {Or rename these layers.}\n"
    )
    asked, fonts = "", FONTS_OF_CHINESE if beyond else FONTS
    if any(one in ARABIC for one in map(ord, beyond)):
        fonts = FONTS_OF_ARABIC
    for font in reversed(fonts):
        asked = f"\\IfFontExistsTF{{{font}}}{{\\setsansfont{{{font}}}}}{{%\n    {asked}}}"
    return (
        f"\\ifPDFTeX\n{refused if beyond else ''}  \\usepackage[T1]{{fontenc}}\n"
        "  \\usepackage[utf8]{inputenc}\n  \\usepackage{textcomp}\n"
        "  \\usepackage[scaled]{helvet}\n\\else\n"
        f"  \\usepackage{{fontspec}}\n  {asked}\n\\fi\n"
        "\\renewcommand{\\familydefault}{\\sfdefault}\n"
    )


def _colors(mark: Drawn) -> list[str]:
    found = [mark.color] if isinstance(mark, Label) else [mark.line, getattr(mark, "fill", "")]
    return [color for color in found if color]


def _tikz(mark: Drawn, name: Callable[[str], str]) -> str:
    if isinstance(mark, Label):
        font = f"\\fontsize{{{number(mark.size)}bp}}{{{number(mark.size * 1.2)}bp}}\\selectfont"
        bold = "\\bfseries" if mark.bold else ""
        options = f"anchor={_ANCHORS[mark.anchor]}, text={name(mark.color)}, font={{{font}{bold}}}"
        return f"\\node[{options}] at ({number(mark.x)},{number(mark.y)}) {{{tex(mark.text)}}};"
    options = ", ".join(_tikz_ink(mark, name))
    if isinstance(mark, Circle):
        center, radius = f"({number(mark.x)},{number(mark.y)})", number(mark.radius)
        return f"\\path[{options}] {center} circle[radius={radius}bp];"
    path = _path(mark.points, curved=getattr(mark, "curved", False))
    return (
        f"\\path[{options}] {path}{' -- cycle' if isinstance(mark, (Polygon, Rectangle)) else ''};"
    )


def _path(points: Sequence[Point], curved: bool) -> str:
    places = [f"({number(x)},{number(y)})" for x, y in points]
    if not curved:
        return " -- ".join(places)
    parts = places[:1]
    for i in range(0, len(points) - 1, 3):
        xs, ys = zip(*points[i : i + 4], strict=True)
        straight = len(set(xs)) == 1 or len(set(ys)) == 1
        controls = "" if straight else f".. controls {places[i + 1]} and {places[i + 2]} "
        parts.append(f"{controls or '-- '}{'.. ' if controls else ''}{places[i + 3]}")
    return " ".join(parts)


def _tikz_ink(
    mark: Rectangle | Polygon | Circle | Line, name: Callable[[str], str]
) -> Iterator[str]:
    fill = getattr(mark, "fill", "")
    if fill:
        yield f"fill={name(fill)}"
    if mark.line:
        yield f"draw={name(mark.line)}"
        yield f"line width={number(mark.line_width)}bp"
    if isinstance(mark, (Polygon, Line)) and mark.dashes:
        lengths = zip(itertools.cycle(("on", "off")), mark.dashes, strict=False)
        yield "dash pattern=" + " ".join(f"{word} {length}bp" for word, length in lengths)


def tex(text: str) -> str:
    r"""Return a text escaped for LaTeX.

    Examples
    --------
    >>> tex("conv_1: 3\u00d73")
    'conv\\_1: 3\\texttimes{}3'
    """
    return "".join(_IN_TEX.get(character, character) for character in text)
