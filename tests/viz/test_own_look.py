"""Colours and a font of one's own: they are there, all can be read, nothing else changes."""

import re
import zlib

import pytest
from holding import holds_for
from hypothesis import strategies as st

import kerascope as ks
from kerascope.cli import main
from kerascope.errors import ArgumentError
from kerascope.layers import Conv2D, Dense, Flatten
from kerascope.models import Sequential
from kerascope.viz.boxes import PictureOptions
from kerascope.viz.theme import LINE_CONTRAST, OKABE_ITO, STYLES, TEXT_CONTRAST, contrast

COLORS = st.from_regex("#[0-9A-F]{6}", fullmatch=True)


@pytest.fixture
def model() -> Sequential:
    layers = [Conv2D(2, 3, input_shape=(6, 6, 1), name="conv"), Flatten(), Dense(2, name="last")]
    made = Sequential(layers, name="small")
    made.compile("sgd", "mse")
    return made


RGB, RGBA = 2, 6  # the kinds of a PNG's colours, in its byte 25


def first_pixel(png: bytes) -> list[int]:
    """Return red, green, blue and alpha, 0 to 255, of the upper left corner of a PNG."""
    assert png[24:26] == bytes([8, RGBA])
    data, at = b"", 8
    while at < len(png):
        length, kind = int.from_bytes(png[at : at + 4], "big"), png[at + 4 : at + 8]
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    return list(zlib.decompress(data)[1:5])  # no filter changes the first pixel


def rules_of(svg: str) -> dict[str, str]:
    """Return what the style sheet says of each selector, outside of its part for dark systems."""
    sheet = re.search("<style>(.*?)</style>", svg, flags=re.DOTALL)[1].partition("@media")[0]
    rules = [rule.partition("{") for rule in sheet.replace("}", "").split("\n") if rule]
    return {selector.split(" ", 1)[-1]: rest for selector, _, rest in rules}


@holds_for(COLORS, COLORS, st.sampled_from(["light", "dark"]), few=60, many=500)
def test_words_and_lines_are_seen_whatever_colours_are_asked(color, background, theme):
    options = PictureOptions(theme=theme, colors=(("dense", color), ("background", background)))
    palette = options.palette
    assert palette.background == background
    for hue in (palette.hue_of("dense"), *OKABE_ITO):
        fill, line, sign = palette.box(hue)
        for text in (palette.text, palette.quiet_text, sign):
            assert contrast(text, fill) >= TEXT_CONTRAST
        assert contrast(line, background) >= LINE_CONTRAST
        assert contrast(line, fill) >= LINE_CONTRAST
    assert contrast(palette.edge, background) >= LINE_CONTRAST


@pytest.mark.parametrize("kind", STYLES)
def test_a_kind_has_its_own_colour_and_no_other_kind_has_it(kind):
    own = PictureOptions(theme="light", colors=((kind, "#8E44AD"),)).palette
    plain = PictureOptions(theme="light").palette
    for other in STYLES:
        same = own.box(own.hue_of(other)) == plain.box(plain.hue_of(other))
        assert same == (other != kind)


def test_each_format_has_the_colour_and_the_boxes_stand_where_they_stood(model):
    plain = ks.draw(model, theme="light")
    own = ks.draw(model, theme="light", colors={"dense": "#84a"}, font="Georgia, serif")
    line = PictureOptions(theme="light", colors=(("dense", "#8844AA"),)).palette.line("#8844AA")
    assert own.layout == plain.layout
    assert line in rules_of(own.svg)[".k-dense .line"]
    assert rules_of(own.svg)[".k-convolution .line"] == rules_of(plain.svg)[".k-convolution .line"]
    for text in (own.source, own.mermaid, own.html):
        assert line in text
        assert line not in plain.source + plain.mermaid + plain.html
    assert "font-family:Georgia, serif" in own.svg
    assert "Georgia, serif" in own.source


def test_a_figure_has_the_colour(model):
    plain, own = (
        ks.draw(model, style="figure", colors=colors) for colors in (None, {"dense": "#8E44AD"})
    )
    assert own.svg != plain.svg
    assert own.tikz != plain.tikz


def test_two_pictures_in_one_page_keep_their_own_colours(model):
    svgs = [
        ks.draw(model, colors=colors).svg
        for colors in (None, {"dense": "#111111"}, {"dense": "#222222"})
    ]
    classes = [re.search('class="(kerascope [^"]+)"', svg)[1] for svg in svgs]
    assert len(set(classes)) == 3
    for svg, name in zip(svgs, classes, strict=True):
        selectors = re.findall(r"^(\.kerascope\.\S+) ", svg, flags=re.MULTILINE)
        assert {one[1:].replace(".", " ") for one in selectors} == {name}
        heads = set(re.findall(r"url\(#([^)]+)\)", svg))
        assert heads <= set(re.findall('<marker id="([^"]+)"', svg))
        assert all(name.split()[1] in head for head in heads)


def test_a_transparent_picture_has_nothing_behind_it(model):
    whole, none = ks.draw(model), ks.draw(model, colors={"background": "transparent"})
    assert 'class="ground" width="100%"' in whole.svg
    assert 'class="ground" width="100%"' not in none.svg
    assert whole.render("png")[25] == RGB
    assert first_pixel(none.render("png"))[3] == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_around_the_picture_has_its_background(model, theme):
    """Else the words of the picture, which suit its own ground, stand on another one."""
    for color in ("#002B36", "#FDF6E3"):
        page = ks.draw(model, theme=theme, colors={"background": color}).html
        grounds = re.findall(r":root\[data-theme=\"\w+\"\]{[^}]*--background:(#\w+);", page)
        assert grounds == [color, color]
    clear = ks.draw(model, theme=theme, colors={"background": "transparent"}).html
    assert "--background:#FFFFFF;" in clear


@pytest.mark.parametrize("level", ["layer", "node", "op", "gradient", "training"])
def test_it_holds_at_every_level(model, level):
    svg = ks.draw(model, level=level, theme="light", colors={"background": "#002B36"}).svg
    assert rules_of(svg)[".ground"] == "fill:#002B36"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"colors": {"Dense": "#FFFFFF"}}, "not a kind of box. Did you mean 'dense'"),
        ({"colors": {"dense": "red"}}, "'dense': expected '#RRGGBB'"),
        ({"colors": {"dense": "transparent"}}, "expected '#RRGGBB'"),
        ({"colors": {"dense": 3}}, "expected '#RRGGBB'"),
        ({"colors": {"background": "none"}}, "or 'transparent'"),
        ({"colors": ["#FFFFFF"]}, "a dict from kinds"),
        ({"colors": {"dense": "#FFFFFF"}, "theme": "print"}, "black, white and grey"),
        ({"colors": {"background": "#FFFFFF"}, "style": "figure"}, "no background"),
        ({"font": "x}</style>"}, "names of fonts"),
        ({"font": "a'b"}, "names of fonts"),
        ({"font": 3}, "names of fonts"),
        ({"font": "Georgia", "style": "figure"}, "always set in Helvetica"),
    ],
)
def test_what_makes_no_sense_is_refused_with_words(model, options, words):
    with pytest.raises(ArgumentError) as caught:
        ks.draw(model, **options)
    assert words in str(caught.value)


def test_the_command_line_has_them_too(tmp_path, monkeypatch, capsys, model):
    monkeypatch.chdir(tmp_path)
    model.save("m.keras")
    colors = ["--color", "dense=#8E44AD", "--color", "background=transparent"]
    assert main(["draw", "m.keras", *colors, "--font", "Georgia", "-o", "a.svg"]) == 0
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "Georgia" in text
    assert 'width="100%" height="100%"' not in text
    (tmp_path / "long.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    for wrong in (["--color", "dense=red"], ["--color", "Dense=#FFFFFF"], ["--font", "x}"]):
        assert main(["draw", "long.py", *wrong]) == 2
        assert "it ran" not in "".join(capsys.readouterr())
    assert main(["draw", "m.keras", "--color", "dense"]) == 2
    assert "as dense=#8E44AD" in capsys.readouterr().err
