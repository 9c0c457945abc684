"""PDF and PNG of figures have the exact size of print, and their words stand where SVG has them."""

import io
import re
import struct
import xml.etree.ElementTree as ET
import zlib
from functools import cache

import numpy as np
import pytest
from figure_models import KNOWN, elements, lenet

import kerascope as ks
from kerascope import layers as L
from kerascope.models import Sequential
from kerascope.viz.exports.graphviz import render
from kerascope.viz.sheet import Raster, Sheet
from kerascope.viz.tensors.scales import roles_of
from kerascope.viz.writers.printed import TextPlace, render_sheet, with_page

POINTS = 72 / 25.4
NUMBER = rb"(-?[\d.]+)"


@cache
def figure_of(name, width):
    return ks.draw(KNOWN[name][0](), style="figure", width=width)


def objects(pdf):
    """Return the objects of a PDF, each found where the table at its end says it begins."""
    if b"\nxref\n" not in pdf:
        pytest.skip("the cairo of this machine writes PDFs whose objects stand in no table")
    table = int(re.search(rb"startxref\s+(\d+)\s+%%EOF\s*$", pdf)[1])
    assert pdf[table : table + 4] == b"xref"
    starts = [int(one) for one in re.findall(rb"(\d{10}) 00000 n", pdf[table:])]
    for number, start in enumerate(starts, 1):
        assert re.match(b"%d 0 obj" % number, pdf[start:])
    return [pdf[start : pdf.index(b"endobj", start)] for start in starts]


def drawn(pdf):
    """Return the drawing operations of the page."""
    page = next(one for one in objects(pdf) if b"/Type /Page " in one)
    contents = int(re.search(rb"/Contents (\d+) 0 R", page)[1])
    stream = objects(pdf)[contents - 1]
    return zlib.decompress(re.search(rb"stream\n(.*)\nendstream", stream, re.S)[1])


def advances(pdf):
    """Return the widths of letters in thousandths, by the name that the page calls a font."""
    found = {}
    whole = objects(pdf)
    for name, number in re.findall(rb"/(f-\d+-\d+) (\d+) 0 R", b"".join(whole)):
        font = whole[int(number) - 1]
        widths = re.search(rb"/Widths \[([^]]*)\]", font)
        if widths:
            first = int(re.search(rb"/FirstChar (\d+)", font)[1])
            found[name] = {first + i: float(one) for i, one in enumerate(widths[1].split())}
    return found


def length(shown, widths):
    """Return the length of what is shown in thousandths of its size."""
    total = 0.0
    for text, kern in re.findall(rb"\(((?:\\.|[^\\)])*)\)|" + NUMBER, shown, re.S):
        letters = re.sub(rb"\\([0-7]{3})", lambda code: bytes([int(code[1], 8)]), text)
        letters = re.sub(rb"\\(.)", rb"\1", letters)
        total += sum(widths[letter] for letter in letters) - float(kern or 0)
    return total


def placed_words(pdf):
    """Return of each text its size, where it begins and ends, and the line it stands on."""
    fonts, placed, font = advances(pdf), [], b""
    place = b" ".join([NUMBER, b"0 0", NUMBER, NUMBER, NUMBER, b"Tm"])
    operator = rb"/(f-\d+-\d+) 1 Tf|" + NUMBER + rb" Tz|" + place + rb"|(\[[(<].*?\]TJ|\(.*?\)Tj)"
    closer, size, left, line = 100.0, 0.0, 0.0, 0.0
    for found in re.finditer(operator, drawn(pdf), re.S):
        font, closer = found[1] or font, float(found[2] or closer)
        if found[3]:
            size, left, line = (float(found[i]) for i in (3, 5, 6))
        if found[7]:
            right = left + length(found[7], fonts[font]) * size * closer / 1e5
            placed.append((size, left, right, line))
    return placed


@pytest.mark.parametrize("width", ["84mm", "174mm", "3.3in"])
def test_pdf_and_png_have_the_exact_size_of_print(width):
    figure = ks.draw(lenet(), style="figure", width=width)
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", figure.to_format("pdf"))
    asked = float(width[:-2]) * (POINTS if width.endswith("mm") else 72)
    assert float(box[1]) == pytest.approx(asked, abs=1e-3)
    height = float(ET.fromstring(figure.svg).get("viewBox").split()[3])
    assert float(box[2]) == pytest.approx(height, abs=0.01)
    png = figure.to_format("png")
    across, down, _, colour_type = struct.unpack(">IIBB", png[16:26])
    assert across == pytest.approx(asked / 72 * 300, abs=1)
    assert down == pytest.approx(height / 72 * 300, abs=1)
    assert colour_type == 6  # with transparency


@pytest.mark.parametrize("width", ["84mm", pytest.param("174mm", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", KNOWN)
def test_words_of_a_pdf_stand_where_svg_has_them_and_none_is_wider_or_under_6_points(name, width):
    figure = figure_of(name, width)
    words = placed_words(figure.to_format("pdf"))
    wanted = [*elements(figure.svg, "text")]
    assert len(words) == len(wanted)
    for one, (size, left, right, line) in zip(wanted, words, strict=True):
        wide = float(one.get("textLength"))
        x = float(one.get("x")) - wide * {None: 0, "middle": 0.5, "end": 1}[one.get("text-anchor")]
        assert size == pytest.approx(float(one.get("font-size")), abs=0.01)
        assert size > 5.99
        assert line == pytest.approx(float(one.get("y")), abs=0.01)
        assert x - 0.3 < left < right < x + wide + 0.3, one.text


def test_letters_of_a_pdf_stand_as_their_font_has_them():
    """Graphviz sets letters at whole pixels: words of 6 pt would fall apart."""
    pdf = figure_of("bert", "84mm").to_format("pdf")
    kerns = [abs(int(kern)) for kern in re.findall(rb"\)(-?\d+)\(", drawn(pdf))]
    letters = sum(len(one.text) for one in elements(figure_of("bert", "84mm").svg, "text"))
    assert len(kerns) < letters / 8  # pairs that the font itself sets closer


def test_broken_lines_of_a_pdf_have_the_dashes_of_the_svg():
    figure = figure_of("unet", "84mm")
    wanted = set(re.findall(r'stroke-dasharray="([^"]+)"', figure.to_format("svg").decode()))
    content = drawn(figure.to_format("pdf"))
    assert wanted == {"2.4 1.6"}
    assert b"[2.4 1.6] 0 d" in content
    assert b"[] 0.0 d" in content  # and the other lines are solid
    widths = {float(one) for one in re.findall(rb"([\d.]+) w\n", content)}
    assert all(round(width, 2) == width for width in widths)


def test_a_text_in_two_fonts_is_drawn_where_it_belongs():
    model = Sequential([L.Input(shape=(3,)), L.Dense(4, name="层_dense_层"), L.Dense(2)])
    figure = ks.draw(model, style="figure", figure="blocks", width="84mm")
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+)", figure.to_format("pdf"))
    assert float(box[1]) == pytest.approx(84 * POINTS, abs=1e-3)


def test_a_pdf_that_is_built_otherwise_is_left_alone():
    pdf = render("digraph { a }", "pdf")
    assert with_page(pdf.replace(b"\nxref\n", b"\nxreg\n"), 10.0, 10.0, []) is None
    assert with_page(pdf, 10.0, 10.0, [TextPlace(500.0, 500.0)]) is None


@pytest.mark.parametrize("name", ["a\x01b", "\\N", "<b>x</b>&amp;", "\U0001f600", 'q"q', "a\nb"])
def test_any_name_can_be_printed_on_the_exact_page(name):
    model = Sequential([L.Input(shape=(3,)), L.Dense(4, name=name), L.Dense(2)])
    pdf = ks.draw(model, style="figure", figure="blocks", width="84mm").to_format("pdf")
    assert objects(pdf)
    assert b"/MediaBox [ 0 0 238.1102 " in pdf


FONTS = ["Helvetica,Arial,sans-serif", "DejaVu Sans", "Courier", "Georgia, serif", "No such font"]


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("level", ["node", "training"])
def test_every_text_of_a_graph_is_set_in_any_font(level, font):
    """A PDF has its exact page only if each text was found, and set as close as it must be."""
    model = Sequential([L.Dense(3, input_shape=(4,), name="encoder_block_with_projection_dense")])
    model.compile("adam", "mse")
    drawing = ks.draw(model, level=level, font=font)
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", drawing.to_format("pdf"))
    size = drawing.layout.width, drawing.layout.height
    assert tuple(map(float, box.groups())) == pytest.approx(size, abs=0.01)
    assert drawing.to_format("png").startswith(b"\x89PNG")


def test_neighbouring_cells_of_an_image_have_no_seam_in_a_png():
    images = pytest.importorskip("PIL.Image")
    levels = np.full((7, 9), 125, "uint8")
    levels[3, 4:6] = 250
    image = Raster(3.1, 2.3, 40.7, 31.9, levels, roles_of("d"), "")
    sheet = Sheet(50.0, 40.0, (image,), "title", "description")
    png = render_sheet(sheet, "png", dpi=300)
    pixels = np.asarray(images.open(io.BytesIO(png)).convert("RGB"))
    colors = {tuple(one) for one in pixels.reshape(-1, 3).tolist()}
    assert len(colors) == 3  # the ground and two levels
