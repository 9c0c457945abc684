"""TikZ of figures: every text is in it, written out for TeX, and a TeX makes the page of it."""

import re
import shutil
import subprocess
import warnings
import zlib
from functools import cache

import pytest
from figure_models import KNOWN, elements

import kerascope as ks
from kerascope import layers as L
from kerascope.errors import KerascopeWarning
from kerascope.models import Sequential

SIGNS = "a_b&c%d#e$f~g^h\\i{j}k<l>m|n-'o\"p"
GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω ΓΔΘΛΞΠΣΥΦΨΩ ΑΒΕΖΗΙΚΜΝΟΡΤΧ"  # noqa: RUF001
LATIN = "größe été ñandú œuvre łódź"
CHINESE = "全连接"
# What a TeX says, and what it lacks, where it is not whole.
WANTED = {
    "phvr8t": "Helvetica (texlive-fonts-recommended)",
    "File `tikz.sty' not found": "TikZ (texlive-pictures)",
    "File `fontspec.sty' not found": "fontspec (texlive-latex-recommended)",
    "luaotfload-main' not found": "fonts (texlive-luatex)",
}


@cache
def figure_of(name, width):
    return ks.draw(KNOWN[name][0](), style="figure", width=width)


def figure_with(name, width="174mm"):
    model = Sequential([L.Input(shape=(3,), name="x"), L.Dense(4, name=name), L.Dense(2)])
    return ks.draw(model, style="figure", figure="blocks", width=width)


def test_tikz_has_every_text_and_is_balanced():
    figure = figure_of("unet", "84mm")
    tikz = figure.to_format("tikz").decode()
    assert tikz.count("{") == tikz.count("}")
    assert tikz.count("\\begin{tikzpicture}") == tikz.count("\\end{tikzpicture}") == 1
    assert len(re.findall(r"\\node\[", tikz)) == len([*elements(figure.svg, "text")])
    used = set(re.findall(r"kscolor[0-9A-F]{6}", tikz))
    defined = set(re.findall(r"\\definecolor\{(kscolor[0-9A-F]{6})\}", tikz))
    assert used == defined
    assert tikz.isascii()


def test_nothing_stands_beside_the_picture_that_would_shift_it():
    figure = figure_of("lenet", "84mm")
    assert figure.tikz.startswith("\\begin{tikzpicture}")  # a line in front of it is a blank
    document = figure.to_format("tex").decode()
    assert "{%\n\\begin{tikzpicture}" in document
    assert "\\end{tikzpicture}%\n" in document
    assert "$" not in figure.tikz  # signs are of the text's own font


def test_names_with_signs_of_xml_and_tex_are_written_out():
    model = Sequential([L.Input(shape=(3,)), L.Dense(4, name="a&b<c>_#%$"), L.Dense(2)])
    figure = ks.draw(model, style="figure")
    assert "a&b<c>_#%$" in {one.text for one in elements(figure.svg, "text")}
    assert r"a\&b\textless{}c\textgreater{}\_\#\%\$" in figure.tikz
    assert figure.to_format("pdf").startswith(b"%PDF")


def test_greek_letters_are_of_mathematics_which_every_tex_has():
    assert r"$\alpha$" in figure_with("αβ").tikz
    assert figure_with(GREEK.replace(" ", "")).tikz.isascii()


def test_a_document_with_other_letters_says_which_tex_has_them():
    document = figure_with(CHINESE).to_format("tex").decode()
    assert "xelatex or lualatex" in document
    assert "".join(sorted(CHINESE)) in document
    assert "PackageError" not in figure_with(LATIN.replace(" ", "")).to_format("tex").decode()


@pytest.mark.parametrize("letters", [CHINESE, "طبقة", "слой"])
@pytest.mark.parametrize("ending", ["tikz", "tex"])
def test_letters_that_pdflatex_has_not_are_said_in_the_file_and_when_it_is_written(
    letters, ending, tmp_path
):
    figure = figure_with(letters)
    with pytest.warns(KerascopeWarning, match=rf"f\.{ending}: .*xelatex"):
        path = figure.save(tmp_path / f"f.{ending}")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("% ")
    assert "Run xelatex or lualatex" in text.partition(r"\begin{tikzpicture}")[0]
    for font in {"طبقة": ["DejaVu Sans"]}.get(letters, []) if ending == "tex" else []:
        assert font in text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure_with("plain").save(tmp_path / f"g.{ending}")
    assert "xelatex" not in (tmp_path / f"g.{ending}").read_text(encoding="utf-8")


# --- with a TeX -----------------------------------------------------------------------------------


def compiled(figure, folder, program="pdflatex"):
    """Return how a TeX ended, what it said, and the PDF with its streams opened."""
    if not shutil.which(program):
        pytest.skip(f"there is no {program} here: TikZ is not compiled")
    figure.save(folder / "figure.tex")
    command = [program, "-interaction=nonstopmode", "-halt-on-error", "figure.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    for wanted, what in WANTED.items():
        if wanted in said:
            pytest.skip(f"the {program} of this machine has no {what}: TikZ is not compiled")
    pdf = folder / "figure.pdf"
    whole = pdf.read_bytes() if pdf.exists() else b""
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", whole, re.S):
        try:
            whole += zlib.decompress(stream)
        except zlib.error:
            continue
    return done.returncode, said, whole


@pytest.mark.slow
@pytest.mark.parametrize("width", [84, 174])
@pytest.mark.parametrize("name", KNOWN)
def test_a_document_compiles_to_one_page_of_the_size_of_print(name, width, tmp_path):
    figure = figure_of(name, f"{width}mm")
    code, said, pdf = compiled(figure, tmp_path)
    assert code == 0, said[-2000:]
    assert "Missing character" not in said
    assert "Overfull" not in said
    assert "Output written on figure.pdf (1 page" in said
    box = re.search(rb"/MediaBox ?\[ ?0 0 ([\d.]+) ([\d.]+)", pdf)
    height = float(re.search(r'viewBox="0 0 \S+ ([\d.]+)"', figure.svg)[1])
    assert float(box[1]) == pytest.approx(width / 25.4 * 72, abs=0.02)
    assert float(box[2]) == pytest.approx(height, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("name", [SIGNS, *GREEK.split(), LATIN])
def test_a_document_with_any_letter_that_latex_has_compiles(name, tmp_path):
    code, said, _ = compiled(figure_with(name), tmp_path)
    assert code == 0, said[-2000:]
    assert "Missing character" not in said


@pytest.mark.slow
def test_pdflatex_stops_at_letters_that_it_has_not_and_says_who_has_them(tmp_path):
    code, said, _ = compiled(figure_with(CHINESE), tmp_path)
    assert code != 0
    assert "pdflatex has no characters" in said
    (tmp_path / "log").write_text(said, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("program", ["xelatex", "lualatex"])
@pytest.mark.parametrize("name", [SIGNS, GREEK.split()[0], LATIN])
def test_other_tex_programs_compile_it_too(name, program, tmp_path):
    code, said, _ = compiled(figure_with(name), tmp_path, program)
    assert code == 0, said[-2000:]
