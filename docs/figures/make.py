"""Draw the figures of docs/figures: eight models known from papers, and a living figure.

    python3 dev.py gallery          writes README.md and *.svg in this folder

The code on the page is run unchanged, and its variable `picture` is saved. A test draws the figures
again and compares them.
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
import numpy as np
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
    Shown("living.svg", "A living figure: what a small net computes for a digit", 84, """\
rows = {"1": "081828080808083E", "4": "040C1424447E0404", "7": "7E02040810101010"}
digits = np.array([[*bytes.fromhex(row)] for row in rows.values()], "uint8")
digits = np.unpackbits(digits[..., None], axis=-1).repeat(2, 1).repeat(2, 2)[..., None]
model = Sequential(
    [
        Input((16, 16, 1), name="digit"),
        Conv2D(4, 3, activation="relu", name="edges"),
        MaxPooling2D(2, name="pooled"),
        Flatten(),
        Dense(3, activation="softmax", name="class"),
    ],
    name="reader",
)
edge = np.array([[-1, -1, -1], [0, 0, 0], [1, 1, 1]])
kernel = np.stack([np.rot90(edge, turn) for turn in range(4)], -1)[:, :, None]
model.get_layer("edges").set_weights([kernel, np.zeros(4)])
maps = Model(model.inputs, model.get_layer("pooled").output).predict(digits).reshape(3, -1)
# The class whose maps are nearest has the largest score.
model.get_layer("class").set_weights([maps.T / 128, -(maps**2).sum(1) / 256])
picture = ks.draw(model, style="figure", values=digits[1:2], class_names=[*rows], width="84mm")
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

`ks.draw(model, style="figure")` draws a model in the style of papers. The form follows from the
model's structure, or is chosen with `figure=`:

| `figure` | picture |
|---|---|
| `"neurons"` | dense layers: a circle for each unit (a sample of many), a line for each weight |
| `"volumes"` | a sequence of convolutions: volumes, or sheets if there are few feature maps |
| `"u"` | resolution that falls and rises again, with connections across |
| `"columns"` | recurrent layers, unrolled in time, a column for each input |
| `"blocks"` | any model: named boxes. Repeated blocks are drawn once, in a frame with a number |

`width` is the width in print: `"84mm"`, `"3.3in"`, `"240pt"`. A narrow figure is laid out again,
not scaled down. Text is at least 6 pt. If a figure does not fit, an error states the width needed.
`theme` is `"light"`, `"dark"` or `"print"` (black, white, grey and patterns). The background is
transparent.

`picture.save("figure.pdf")` writes a PDF of exactly that width with its font embedded. Other
formats are `.svg`, `.png` (300 dpi), `.tikz` (a `tikzpicture` for your document) and `.tex` (a
complete document for any LaTeX with TikZ; Chinese, Arabic and similar names need xelatex or
lualatex). `picture.legend` is a text for the caption. PDF and PNG use Helvetica or the machine's
substitute. If that font is wider, letters are set closer in a PDF and smaller in a PNG.
Activations, dropout, batch normalization and flattening are drawn with the layer before them. Each
mark of the SVG lists its layers in `data-layers`.

A frame or a box with "\u00d7 3" means three blocks of exactly this structure. Boxes with shared
weights are marked "shared". If a form cannot show all of a model (a layer on the connection across
a U, a layer that is called twice), the model is drawn as blocks.

## Living figures

With `values=x`, a figure shows what the model computes for this input:
`ks.draw(model, style="figure", values=x)`. The sheets of a convolutional net are its feature maps,
an attention layer shows its weights, a recurrent layer its state after each step, a dense layer its
row of numbers, and the output is a chart of bars (`class_names=[...]` gives the bars names). This
works for models of kerascope, live Keras models, PyTorch modules, ONNX files, and tapes, which have
numbers of their own: `ks.draw(tape, style="figure")`.

- Every map and every layer has a scale of its own. Zero is white, positive numbers are orange and
  negative numbers are blue, up to the largest absolute number; with `theme="print"`, this number is
  black and signs are not shown. An input image is grey.
- The numbers are those of the test phase, after activation and normalization. Of a batch, the first
  sample is shown, and the key says so. For another sample, write `values=x[3:4]`.
- Of many maps, the figure shows those with the largest mean absolute numbers; of a large map, every
  second (third, ...) row and column. `picture.legend` states all of this.
- NaN is magenta. Images that contain NaN or infinite numbers have a thick frame, and the legend
  names them.
- The tooltip of an image in an SVG names the layer, the map and the ends of the scale. An SVG or a
  PDF has at most about 300 KB. TikZ cannot contain images; use the PDF.

In the shell: `kerascope draw model.keras --style figure --values x.npy -o figure.pdf`, and
`--class-names cat,dog`.

## Other libraries, and the shell

Live Keras models are drawn directly, PyTorch modules with their inputs:
`ks.draw(module, inputs=x, style="figure")`.

In the shell: `kerascope draw model.keras --figure 84mm --form blocks --theme print -o figure.pdf`.

The lines below all begin with
"""


def drawn(shown: Shown) -> Any:
    """Return the picture that a figure's code creates."""
    K.clear_session()
    names: dict[str, Any] = {}
    exec(compile(BEGINNING + shown.code, "figures.py", "exec"), names)
    return names["picture"]


def page(legends: dict[str, str]) -> str:
    """Return the page in Markdown, with the legend of each file."""
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
