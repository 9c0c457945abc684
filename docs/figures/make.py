"""Draw the figures of docs/figures: eight models that everybody has seen in a paper.

    python3 dev.py gallery          writes README.md and *.svg beside this file

Works as docs/gallery/make.py does: the lines run as they stand on the page, and what they call
`picture` is kept. A test draws the figures again and compares.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from kerascope import backend as K

HERE = Path(__file__).resolve().parent
SCREEN = 4.2  # pixels on the page for a millimetre in print


class Shown(NamedTuple):
    """One figure: its file, its title, its width in print, and the lines that draw it."""

    file: str
    title: str
    width: int
    code: str


BEGINNING = """\
import kerascope as ks
from kerascope.applications import VGG16, ResNet50
from kerascope.layers import *
from kerascope.models import Model, Sequential
"""

FIGURES = [
    Shown("lenet.svg", "LeNet-5: a sheet for each feature map", 84, """\
model = Sequential(
    [
        Input((32, 32, 1), name="input"),
        Conv2D(6, 5, activation="tanh", name="C1"),
        AveragePooling2D(2, name="S2"),
        Conv2D(16, 5, activation="tanh", name="C3"),
        AveragePooling2D(2, name="S4"),
        Flatten(),
        Dense(120, activation="tanh", name="C5"),
        Dense(84, activation="tanh", name="F6"),
        Dense(10, activation="softmax", name="output"),
    ],
    name="lenet",
)
picture = ks.draw(model, style="figure", width="84mm")
"""),
    Shown("alexnet.svg", "AlexNet, for a journal without colours", 84, """\
model = Sequential(
    [
        Input((227, 227, 3)),
        Conv2D(96, 11, strides=4, activation="relu"),
        MaxPooling2D(3, 2),
        Conv2D(256, 5, padding="same", activation="relu"),
        MaxPooling2D(3, 2),
        Conv2D(384, 3, padding="same", activation="relu"),
        Conv2D(384, 3, padding="same", activation="relu"),
        Conv2D(256, 3, padding="same", activation="relu"),
        MaxPooling2D(3, 2),
        Flatten(),
        Dense(4096, activation="relu"),
        Dense(4096, activation="relu"),
        Dense(1000, activation="softmax"),
    ],
    name="alexnet",
)
picture = ks.draw(model, style="figure", width="84mm", theme="print")
"""),
    Shown("vgg16.svg", "VGG16, across both columns", 174, """\
picture = ks.draw(VGG16(weights=None), style="figure")
"""),
    Shown("resnet50.svg", "ResNet50: what repeats is drawn once", 174, """\
picture = ks.draw(ResNet50(weights=None), style="figure")
"""),
    Shown("unet.svg", "U-Net: down, up, and across", 174, """\
def twice(x, channels):
    for _ in range(2):
        x = Conv2D(channels, 3, padding="same", activation="relu")(x)
    return x


image = x = Input((256, 256, 1))
copies = []
for channels in (64, 128, 256, 512):
    copies.append(twice(x, channels))
    x = MaxPooling2D(2)(copies[-1])
x = twice(x, 1024)
for channels in (512, 256, 128, 64):
    x = Conv2DTranspose(channels, 2, strides=2)(x)
    x = twice(Concatenate()([copies.pop(), x]), channels)
model = Model(image, Conv2D(2, 1, activation="softmax")(x), name="unet")
picture = ks.draw(model, style="figure")
"""),
    Shown("mlp.svg", "A small dense net: each number a circle", 84, """\
model = Sequential(
    [
        Input((4,)),
        Dense(8, activation="relu"),
        Dense(8, activation="relu"),
        Dense(3, activation="softmax"),
    ],
    name="mlp",
)
picture = ks.draw(model, style="figure", width="84mm")
"""),
    Shown("encoder.svg", "An encoder of twelve transformer blocks", 84, """\
tokens = Input((512,), dtype="int32", name="tokens")
places = Input((512,), dtype="int32", name="positions")
words = Embedding(30522, 768, name="token_embedding")(tokens)
order = Embedding(512, 768, name="position_embedding")(places)
x = LayerNormalization()(Add()([words, order]))
for _ in range(12):
    x = LayerNormalization()(Add()([x, MultiHeadAttention(12, 64)(x, x)]))
    h = Dense(768)(Dense(3072, activation="gelu")(x))
    x = LayerNormalization()(Add()([x, h]))
model = Model([tokens, places], x, name="encoder")
picture = ks.draw(model, style="figure", width="84mm")
"""),
    Shown("seq2seq.svg", "Encoder and decoder with attention", 84, """\
source = Input((None,), dtype="int32", name="source")
target = Input((None,), dtype="int32", name="target")
options = {"return_sequences": True, "return_state": True}
x = Embedding(8000, 256, name="source_embedding")(source)
seen, *state = LSTM(512, name="encoder", **options)(x)
y = Embedding(8000, 256, name="target_embedding")(target)
said, *_ = LSTM(512, name="decoder", **options)(y, initial_state=state)
context = Attention(name="attention")([said, seen])
both = Concatenate(name="concat")([context, said])
words = Dense(8000, activation="softmax", name="words")(both)
model = Model([source, target], words, name="seq2seq")
picture = ks.draw(model, style="figure", width="84mm")
"""),
]  # fmt: skip

WORDS = """\
# Figures for papers

`ks.draw(model, style="figure")` draws a model as an author does. The form follows from how the
model is built, or is asked for by `figure=`:

| `figure` | what |
|---|---|
| `"neurons"` | dense layers: a circle for each number (of many some), a line for each weight |
| `"volumes"` | a row of convolutions: volumes, or sheets where feature maps are few |
| `"u"` | down and up again in resolution, with tensors that are joined across |
| `"columns"` | recurrent layers, unrolled in time, a column for each input |
| `"blocks"` | any model: named boxes; blocks that repeat stand once, in a frame with their number |

`width` is the width in print: `"84mm"`, `"3.3in"`, `"240pt"`. A narrow figure is another drawing,
not a smaller one. No text is under 6 pt; where sizes do not fit at all an error says how wide the
figure must be. `theme` is `"light"`, `"dark"` or `"print"` (black, white, grey and patterns); the
ground is transparent.

`picture.save("figure.pdf")` writes a PDF of exactly that width with its font embedded, `.svg`,
`.png` (300 dpi), `.tikz` (a `tikzpicture` for your document) or `.tex` (a document of its own, for
any LaTeX with TikZ; names in Chinese, Arabic and the like need xelatex or lualatex, as the file
says).
`picture.legend` is a text for the caption. PDF and PNG use Helvetica or what this machine has in
its place: where that is wider, letters of a PDF are set closer and those of a PNG smaller. What is
left out (activations, dropout, batch normalization, flattening) belongs to the layer before it:
each mark of the SVG lists in `data-layers` the layers that it stands for.

A frame or a box with "\u00d7 3" stands for three of exactly this build. Boxes whose weights other
boxes use too say "shared". A form that could not show all of a model (a layer on a copy across a U,
a layer that is called twice) is not chosen: such a model is drawn as blocks.

A live model of Keras is drawn as it is, a module of PyTorch with what it is called on:
`ks.draw(module, inputs=x, style="figure")`.

In the shell: `kerascope draw model.keras --figure 84mm --form blocks --theme print -o figure.pdf`.

The lines below all begin with
"""


def drawn(shown: Shown) -> Any:
    """Return what the lines of a figure make."""
    K.clear_session()
    names: dict[str, Any] = {}
    exec(compile(BEGINNING + shown.code, "figures.py", "exec"), names)
    return names["picture"]


def page(legends: dict[str, str]) -> str:
    """Return the page in Markdown, with these legends by the figures' files."""
    lines = [WORDS, f"```python\n{BEGINNING}```", ""]
    for shown in FIGURES:
        width = round(shown.width * SCREEN)
        lines += [f"## {shown.title}", "", f"```python\n{shown.code}```", ""]
        lines += [f'<img src="{shown.file}" width="{width}" alt="{shown.title}">', ""]
        lines += [f"`picture.legend`: {legends[shown.file]}", ""]
    return "\n".join(lines)


def main() -> None:
    """Write everything."""
    figures = {shown.file: drawn(shown) for shown in FIGURES}
    for file, figure in figures.items():
        (HERE / file).write_text(figure.svg, encoding="utf-8")
    legends = {file: figure.legend for file, figure in figures.items()}
    (HERE / "README.md").write_text(page(legends), encoding="utf-8")
    print(f"wrote {len(figures)} figures to docs/figures")


if __name__ == "__main__":
    main()
