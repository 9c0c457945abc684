import re

import pytest

import kerascope as ks
from kerascope.layers import Add, Conv2D, Dense, Flatten, Input
from kerascope.models import Model
from kerascope.viz import theme
from kerascope.viz.kinds import KINDS
from kerascope.viz.theme import contrast


def test_every_kind_has_a_style_and_a_sign_of_its_own():
    assert set(theme.STYLES) == set(KINDS)
    assert len({style.sign for style in theme.STYLES.values()}) == len(KINDS)


@pytest.mark.parametrize("palette", theme.ALL_PALETTES)
@pytest.mark.parametrize("hue", theme.OKABE_ITO)
def test_text_on_boxes_reaches_a_contrast_of_four_and_a_half(hue, palette):
    palette = theme.ALL_PALETTES[palette]
    for color in (palette.text, palette.quiet_text, palette.sign(hue)):
        assert contrast(color, palette.fill(hue)) >= 4.5


@pytest.mark.parametrize("palette", theme.ALL_PALETTES)
@pytest.mark.parametrize("hue", theme.OKABE_ITO)
def test_lines_of_boxes_reach_a_contrast_of_three(hue, palette):
    palette = theme.ALL_PALETTES[palette]
    for ground in (palette.fill(hue), palette.background, palette.group_fill):
        assert contrast(palette.line(hue), ground) >= 3


@pytest.mark.parametrize("palette", theme.ALL_PALETTES)
def test_text_and_lines_outside_boxes_are_legible(palette):
    palette = theme.ALL_PALETTES[palette]
    for ground in (palette.background, palette.group_fill):
        assert contrast(palette.text, ground) >= 4.5
        assert contrast(palette.quiet_text, ground) >= 4.5
        assert contrast(palette.edge, ground) >= 3
        assert contrast(palette.group_line, ground) >= 3


def test_states_are_told_apart_without_colour():
    states = theme.STATES.values()
    assert all(len(state.glyph) == len(state.plain) == 1 for state in states)
    assert len({(state.glyph, state.word) for state in states}) == len(theme.STATES)


def test_contrast_agrees_with_published_values():
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert contrast("#FFFFFF", "#777777") == contrast("#777777", "#FFFFFF")


def small() -> Model:
    x = Input((6, 6, 1), name="x")
    h = Flatten(name="flat")(Conv2D(2, 3, name="conv")(x))
    model = Model(x, Add(name="sum")([Dense(2, name="a")(h), Dense(2, name="b")(h)]), name="small")
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("level", ["layer", "node", "op", "gradient", "training"])
def test_in_print_there_are_only_greys_at_every_level_and_in_every_form(level):
    drawing = ks.draw(small(), level=level, theme="print", highlight="*a*")
    for text in (drawing.svg, drawing.source, drawing.mermaid):
        colors = set(re.findall(r"#([0-9A-Fa-f]{6})\b", text))
        assert len(colors) > 4
        assert all(color[:2] == color[2:4] == color[4:] for color in colors), colors


def test_a_page_has_the_themes_of_screens_whatever_is_printed():
    page = ks.draw(small(), theme="print").html
    assert 'data-theme="light"' in page
    assert re.search('"theme": ?"light"', page)
