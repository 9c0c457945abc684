import pytest

from kerascope import layers
from kerascope.engine.base_layer import Layer
from kerascope.viz import theme
from kerascope.viz.kinds import KINDS, kind_of


def test_every_kind_has_a_style_and_a_sign_of_its_own():
    assert set(theme.STYLES) == set(KINDS)
    assert len({style.sign for style in theme.STYLES.values()}) == len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_text_on_boxes_reaches_a_contrast_of_four_and_a_half(kind):
    style = theme.style_of(kind)
    for color in (theme.TEXT, theme.QUIET_TEXT, style.sign_color):
        assert theme.contrast(color, style.fill) >= 4.5


@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_boxes_reach_a_contrast_of_three(kind):
    style = theme.style_of(kind)
    assert theme.contrast(style.line, style.fill) >= 3
    assert theme.contrast(style.line, theme.BACKGROUND) >= 3


@pytest.mark.parametrize("ground", [theme.BACKGROUND, theme.GROUP_FILL])
def test_text_and_lines_outside_boxes_are_legible(ground):
    assert theme.contrast(theme.TEXT, ground) >= 4.5
    assert theme.contrast(theme.QUIET_TEXT, ground) >= 4.5
    assert theme.contrast(theme.EDGE, ground) >= 3
    assert theme.contrast(theme.GROUP_LINE, ground) >= 3


def test_contrast_agrees_with_published_values():
    assert theme.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)
    assert theme.contrast("#FFFFFF", "#777777") == theme.contrast("#777777", "#FFFFFF")


def test_a_subclass_is_drawn_as_its_nearest_known_ancestor():
    class Special(layers.Dense):
        pass

    assert kind_of(Special(2)) == "dense"
    assert kind_of(layers.Concatenate()) == "merge"
    assert kind_of(layers.Dropout(0.5)) == "noise"
    assert kind_of(Layer()) == "layer"


def test_the_layers_of_the_package_are_not_all_drawn_alike():
    classes = [getattr(layers, name) for name in layers.__all__]
    found = [c for c in classes if isinstance(c, type) and issubclass(c, Layer)]
    kinds = {kind_of(c.__new__(c)) for c in found}
    assert kinds | {"model", "tensor"} == set(KINDS)
