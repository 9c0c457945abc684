"""Draw the gallery: eleven pictures, each made by a few lines of code.

    python3 dev.py gallery          writes README.md and *.svg in this folder

`PICTURES` contains the code. It is run as printed on the page, and its variable `picture` is saved.
The pictures are equal on every machine; a test draws them again and compares them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from kerascope import backend as K

HERE = Path(__file__).resolve().parent
WIDTH = 760
PIXELS_PER_MM = 96 / 25.4  # of CSS


class Shown(NamedTuple):
    """One picture of the gallery.

    Attributes
    ----------
    file : str
        Its name; the code binds what is saved under it to `picture`.
    title, words : str
    code : str
    """

    file: str
    title: str
    words: str
    code: str


BEGINNING = """\
import numpy as np
import kerascope as ks
from kerascope.layers import *
from kerascope.models import Model, Sequential
"""

PICTURES = [
    Shown(
        "training.svg",
        "A training as a film",
        "The ladder of each step, with the outputs, gradients and weights as small images, and the "
        'loss. `to="training.gif"` is the same film as a GIF.',
        """\
from kerascope.datasets import digits

(images, classes), _ = digits.load_data()
np.random.seed(4)
model = Sequential(name="24 steps of training")
model.add(Conv2D(3, 3, activation="relu", input_shape=(8, 8, 1), dtype="float64", name="edges"))
model.add(MaxPooling2D(2, name="pool"))
model.add(Flatten(name="flat"))
model.add(Dense(10, activation="softmax", dtype="float64", name="scores"))
model.compile(ks.optimizers.SGD(0.5), "sparse_categorical_crossentropy")
picture = ks.play(model, images[:16].reshape(-1, 8, 8, 1) / 16.0, classes[:16], steps=24)
""",
    ),
    Shown(
        "step.svg",
        "One step of training",
        "An animation without a script: forward down the left side, the loss, backward up the "
        "right; between them each layer's weights, gradients and new values. Every number can be "
        'checked by hand. `to="step.html"` is a page on which you step back and forth, '
        '`to="step.strip.svg"` still pictures for a slide.',
        """\
x = Input((2,), name="x")
hidden = Dense(2, activation="relu", name="hidden")(x)
twist = Dense(2, name="twist")(hidden)
model = Model(x, Add(name="sum")([hidden, twist]), name="one step of training")
model.compile(ks.optimizers.SGD(0.05), "mse")
model.set_weights([[[1, -1], [0.5, -1]], [0, 0], [[1, 0.5], [-1, 1]], [0, 0]])
picture = ks.play(model, np.array([[1.0, 2.0]]), np.array([[3.0, 2.0]]))
""",
    ),
    Shown(
        "shared.svg",
        "A layer that is called twice",
        "One box is one call. The gradient of the weights that both calls share is a sum, and its "
        "terms have names.",
        """\
one, other = Input((4,), name="one"), Input((4,), name="other")
encoder = Dense(3, activation="tanh", name="encoder")
near = Dot(1, name="near")([encoder(one), encoder(other)])
model = Model([one, other], near, name="siamese")
model.compile("sgd", "mse")
picture = ks.draw(model, level="gradient")
""",
    ),
    Shown(
        "resnet50.svg",
        "A net of 176 layers on one page",
        "Repeated blocks are one box with several copies. `expand=` opens it; on the HTML page, "
        "click it.",
        """\
from kerascope.applications import ResNet50

picture = ks.draw(ResNet50(weights=None))
""",
    ),
    Shown(
        "transformer.svg",
        "What is inside",
        "A nested model is a frame; each box shows the settings of its layer.",
        """\
def block(name):
    x = Input((6, 8))
    a = MultiHeadAttention(2, 4, name="attention")(x, x)
    a = LayerNormalization(name="norm_1")(Add(name="add_1")([x, a]))
    f = Dense(8, name="narrow")(Dense(16, activation="relu", name="wide")(a))
    return Model(x, LayerNormalization(name="norm_2")(Add(name="add_2")([a, f])), name=name)


tokens = Input((6,), dtype="int32", name="tokens")
h = Embedding(50, 8, name="embedding")(tokens)
h = block("block_1")(h)
scores = Dense(50, activation="softmax", name="scores")(block("block_2")(h))
picture = ks.draw(Model(tokens, scores, name="transformer"), expand="block_1")
""",
    ),
    Shown(
        "values.svg",
        "What each call gives",
        "Real arrays in their boxes, at any moment of the forward pass. Here the logarithm of a "
        "negative number has just come out.",
        """\
x = Input((2,), name="x")
h = Dense(2, kernel_initializer="ones", name="sum")(x)
log = Lambda(ks.backend.log, name="log")(h)
model = Model(x, Dense(1, kernel_initializer="ones", name="score")(log), name="broken")
picture = ks.draw(model, values=np.array([[1.0, 2.0], [-3.0, 0.5]]), at=2)
""",
    ),
    Shown(
        "gradient_norms.svg",
        "Where the gradient dies",
        "The size of the gradient at each call: through four layers of sigmoid little is left.",
        """\
layers = [Dense(8, activation="sigmoid", kernel_initializer="ones", name=f"h{i}") for i in range(4)]
model = Sequential([Input((8,)), *layers, Dense(1, kernel_initializer="ones", name="score")])
model.compile("sgd", "mse")
picture = ks.draw(model, gradients=(np.ones((4, 8)), np.zeros((4, 1))))
""",
    ),
    Shown(
        "diff.svg",
        "What changed",
        "Two versions of a model in one picture: added, removed, changed.",
        """\
def net(units, with_dropout):
    x = Input((8,), name="x")
    h = Dense(units, activation="relu", name="hidden")(x)
    h = Dropout(0.5, name="drop")(h) if with_dropout else h
    return Model(x, Dense(3, activation="softmax", name="scores")(h), name="net")


picture = ks.draw(net(16, True), diff=net(8, False))
""",
    ),
    Shown(
        "failure.svg",
        "How far it came",
        "An error that a call raised is drawn, too: what was built, and which call failed.",
        """\
try:
    x = Input((8, 8, 3), name="image")
    h = Conv2D(4, 3, name="conv")(x)
    Add(name="skip")([x, h])
except ValueError as error:
    picture = ks.draw(error)
""",
    ),
    Shown(
        "maps.svg",
        "What a layer sees",
        "The feature maps of a convolution for one digit.",
        """\
from kerascope.datasets import digits

(images, _), _ = digits.load_data()
kernel = np.zeros((3, 3, 1, 4))
kernel[:, 0, 0, 0], kernel[:, 2, 0, 0] = -1, 1  # edges from left to right
kernel[0, :, 0, 1], kernel[2, :, 0, 1] = -1, 1  # and from top to bottom
kernel[1, 1, 0, 2], kernel[:, :, 0, 3] = 1, 1 / 9  # the image itself, and its mean
x = Input((8, 8, 1), name="image")
conv = Conv2D(4, 3, padding="same", use_bias=False, name="edges")
model = Model(x, conv(x), name="looks")
conv.set_weights([kernel])
picture = ks.show(conv, images[:1].reshape(1, 8, 8, 1) / 16.0)
""",
    ),
    Shown(
        "figure.svg",
        "A figure for a paper",
        "LeNet-5 at the width of a page; `theme='print'` is black and white, `.tex` is TikZ.",
        """\
lenet = Sequential()
lenet.add(Conv2D(6, 5, activation="tanh", input_shape=(32, 32, 1)))
lenet.add(AveragePooling2D())
lenet.add(Conv2D(16, 5, activation="tanh"))
lenet.add(AveragePooling2D())
lenet.add(Flatten())
lenet.add(Dense(120, activation="tanh"))
lenet.add(Dense(84, activation="tanh"))
lenet.add(Dense(10, activation="softmax"))
picture = ks.draw(lenet, style="figure", width="174mm")
""",
    ),
]


def drawn(shown: Shown) -> Any:
    """Return the picture that the code creates."""
    K.clear_session()
    names: dict[str, Any] = {}
    exec(compile(BEGINNING + shown.code, "gallery.py", "exec"), names)
    return names["picture"]


def width_of(svg: str) -> float:
    """Return the width of a picture in pixels. Figures state their width in millimetres."""
    found = re.match(r'<svg [^>]*? width="([\d.]+)(mm)?"', svg)
    return float(found[1]) * (PIXELS_PER_MM if found[2] else 1)


def page(pictures: dict[str, str]) -> str:
    """Return the gallery's page in Markdown, with these SVG texts by their files."""
    lines = [
        "# Gallery",
        "",
        "Eleven pictures, each with its code. They all begin with",
        "",
        f"```python\n{BEGINNING}```",
        "",
        "`picture.save(...)` saves each as SVG, PNG, PDF, a one-file HTML page, text and other",
        "formats. [A sheet of the tests](../../tests/pictures/README.md) has every kind of model",
        "at every level.",
        "",
    ]
    for shown in PICTURES:
        lines += [f"## {shown.title}", "", shown.words, ""]
        lines += [f"```python\n{shown.code}```", ""]
        width = min(WIDTH, round(width_of(pictures[shown.file])))
        lines += [f'<img src="{shown.file}" width="{width}" alt="{shown.title}">', ""]
    return "\n".join(lines)


def main() -> None:
    """Write everything, and remove pictures that are no longer drawn."""
    pictures = {shown.file: drawn(shown).svg for shown in PICTURES}
    for file, svg in pictures.items():
        (HERE / file).write_text(svg, encoding="utf-8")
    (HERE / "README.md").write_text(page(pictures), encoding="utf-8")
    for old in HERE.glob("*.svg"):
        if old.name not in pictures:
            old.unlink()
    print(f"wrote {len(pictures)} pictures to docs/gallery")


if __name__ == "__main__":
    main()
