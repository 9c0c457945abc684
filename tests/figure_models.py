"""The models whose figures everybody knows, and a reader of SVG that knows nothing of ours."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from kerascope import layers as L
from kerascope.applications import VGG16, ResNet50
from kerascope.models import Model, Sequential

SVG = "{http://www.w3.org/2000/svg}"


def lenet():
    return Sequential(
        [
            L.Input(shape=(32, 32, 1), name="input"),
            L.Conv2D(6, 5, activation="tanh", name="C1"),
            L.AveragePooling2D(2, name="S2"),
            L.Conv2D(16, 5, activation="tanh", name="C3"),
            L.AveragePooling2D(2, name="S4"),
            L.Flatten(),
            L.Dense(120, activation="tanh", name="C5"),
            L.Dense(84, activation="tanh", name="F6"),
            L.Dense(10, activation="softmax", name="output"),
        ],
        name="lenet",
    )


def alexnet():
    def conv(filters, size):
        return L.Conv2D(filters, size, padding="same", activation="relu")

    return Sequential(
        [
            L.Input(shape=(227, 227, 3)),
            L.Conv2D(96, 11, strides=4, activation="relu"),
            L.MaxPooling2D(3, 2),
            conv(256, 5),
            L.MaxPooling2D(3, 2),
            conv(384, 3),
            conv(384, 3),
            conv(256, 3),
            L.MaxPooling2D(3, 2),
            L.Flatten(),
            L.Dense(4096, activation="relu"),
            L.Dropout(0.5),
            L.Dense(4096, activation="relu"),
            L.Dropout(0.5),
            L.Dense(1000, activation="softmax"),
        ],
        name="alexnet",
    )


def vgg16():
    return VGG16(weights=None)


def resnet50():
    return ResNet50(weights=None)


def unet(padding="same", size=256, first=64):
    """Return the published U-Net, or one whose first level has another number of channels."""
    image = x = L.Input(shape=(size, size, 1))
    copies = []

    def twice(x, channels):
        for _ in range(2):
            x = L.Conv2D(channels, 3, padding=padding, activation="relu")(x)
        return x

    for channels in (first, 2 * first, 4 * first, 8 * first):
        copies.append(twice(x, channels))
        x = L.MaxPooling2D(2)(copies[-1])
    x = twice(x, 16 * first)
    for channels in (8 * first, 4 * first, 2 * first, first):
        x = L.Conv2DTranspose(channels, 2, strides=2)(x)
        copy = copies.pop()
        if padding == "valid":
            more = copy.shape[1] - x.shape[1]
            copy = L.Cropping2D(((more // 2, more - more // 2),) * 2)(copy)
        x = twice(L.Concatenate()([copy, x]), channels)
    return Model(image, L.Conv2D(2, 1, activation="softmax")(x), name="unet")


def mlp():
    return Sequential(
        [
            L.Input(shape=(4,)),
            L.Dense(8, activation="relu"),
            L.Dense(8, activation="relu"),
            L.Dense(3, activation="softmax"),
        ],
        name="mlp",
    )


def bert(blocks=12, width=768, heads=12, tokens=512, words=30522):
    ids = L.Input(shape=(tokens,), dtype="int32", name="tokens")
    places = L.Input(shape=(tokens,), dtype="int32", name="positions")
    parts = [
        L.Embedding(words, width, name="token_embedding")(ids),
        L.Embedding(tokens, width, name="position_embedding")(places),
    ]
    x = L.LayerNormalization()(L.Add()(parts))
    for _ in range(blocks):
        seen = L.Dropout(0.1)(L.MultiHeadAttention(heads, width // heads)(x, x))
        x = L.LayerNormalization()(L.Add()([x, seen]))
        thought = L.Dense(width)(L.Dense(4 * width, activation="gelu")(x))
        x = L.LayerNormalization()(L.Add()([x, L.Dropout(0.1)(thought)]))
    return Model([ids, places], x, name="bert")


def seq2seq():
    source = L.Input(shape=(None,), dtype="int32", name="source")
    target = L.Input(shape=(None,), dtype="int32", name="target")
    options = {"return_sequences": True, "return_state": True}
    x = L.Embedding(8000, 256, name="source_embedding")(source)
    seen, *state = L.LSTM(512, name="encoder", **options)(x)
    y = L.Embedding(8000, 256, name="target_embedding")(target)
    said, *_ = L.LSTM(512, name="decoder", **options)(y, initial_state=state)
    context = L.Attention(name="attention")([said, seen])
    both = L.Concatenate(name="concat")([context, said])
    words = L.Dense(8000, activation="softmax", name="words")(both)
    return Model([source, target], words, name="seq2seq")


KNOWN = {
    "lenet": (lenet, "volumes"),
    "alexnet": (alexnet, "volumes"),
    "vgg16": (vgg16, "volumes"),
    "resnet50": (resnet50, "blocks"),
    "unet": (unet, "u"),
    "mlp": (mlp, "neurons"),
    "bert": (bert, "blocks"),
    "seq2seq": (seq2seq, "columns"),
}


# --- an independent reader ------------------------------------------------------------------------


def elements(svg: str, *names: str) -> Iterator[ET.Element]:
    for one in ET.fromstring(svg).iter():
        if not names or one.tag.removeprefix(SVG) in names:
            yield one


def layers_said(svg: str) -> list[str]:
    """Return the ids of all layers for which something is drawn (no label), in the file's order."""
    drawn = [one for one in elements(svg) if one.tag != f"{SVG}text"]
    return [name for one in drawn for name in (one.get("data-layers") or "").split("\n") if name]


def shape_of_box(node) -> tuple:
    """Return the first shape of a box of the graph, without the batch."""
    first = str(node.attrs["output_shapes"]).split("; ")[0]
    numbers = re.findall(r"None|\d+", first)[1:]
    return tuple(None if one == "None" else int(one) for one in numbers)


def shape_read(text: str) -> tuple:
    """Return the shape that a label says: "224\u00b2\u00d764" as 224, 224, 64."""
    sides: list[int | None] = []
    for part in text.split("\u00d7"):
        if part.endswith("\u00b2"):
            sides += [int(part[:-1])] * 2
        else:
            sides.append(None if part == "?" else int(part))
    return tuple(sides)
