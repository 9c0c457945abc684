"""What a block is called: after what its boxes' names have in common, else after their classes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from kerascope.viz.graph import GraphNode

SEPARATORS = "_-/. "
MOST_CLASSES = 4
LONGEST = 32  # letters in the names of all classes


def shared_name(labels: Sequence[str], neighbours: Sequence[str] = ()) -> str:
    """Return the whole words with which all labels (at least one) begin, "" without any.

    Parameters
    ----------
    labels : sequence of str
    neighbours : sequence of str
        Labels beside the block: what they begin with too tells nobody which block it is.

    Examples
    --------
    >>> shared_name(["conv2_block1_1_conv", "conv2_block1_2_conv", "conv2_block1_add"])
    'conv2_block1'
    >>> shared_name(["dense_1", "dense_2"], neighbours=["dense_3"])
    ''
    """
    first, last = min(labels), max(labels)  # all others lie between these two
    if first[:1] != last[:1]:
        return ""
    pairs = zip(first, last, strict=False)
    start = "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if any(len(label) > len(start) and label[len(start)] not in SEPARATORS for label in labels):
        start = start[: max(start.rfind(sign) for sign in SEPARATORS) + 1]
    words = start.rstrip(SEPARATORS)
    if any(label == words or label.startswith(start) for label in neighbours):
        return ""
    return words


def classes_name(boxes: Sequence[GraphNode]) -> str:
    """Return the classes of the boxes in their order; of many, the first and the last.

    Examples
    --------
    >>> dense = GraphNode("d", "d", "dense", attrs={"class_name": "Dense"})
    >>> classes_name([dense, dense, GraphNode("x", "x", "noise", attrs={"class_name": "Dropout"})])
    'Dense, Dense, Dropout'
    >>> classes_name([dense] * 7)
    'Dense … Dense (7 boxes)'
    """
    classes = [str(box.attrs.get("class_name", box.kind)) for box in boxes]
    if len(classes) > MOST_CLASSES:
        return f"{classes[0]} … {classes[-1]} ({len(classes)} boxes)"
    if len(classes) > 1 and sum(map(len, classes)) > LONGEST:
        return f"{classes[0]} … {classes[-1]} ({len(classes)} boxes)"
    return ", ".join(classes)


def span_name(first: str, last: str) -> str:
    """Return a name for everything from one block or box to another.

    Examples
    --------
    >>> span_name("conv4_block2", "conv4_block6"), span_name("Dense, ReLU", "Dense, ReLU")
    ('conv4_block2 … conv4_block6', 'Dense, ReLU')
    """
    return first if first == last else f"{first} … {last}"
