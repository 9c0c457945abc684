"""Figures of generated models are true: each layer times its N, each arrow, what is shared.

The figure is read from its SVG (`figure_reader.py`) and held against the graph of the model. What
this found, and would find again: a frame "x 3" whose last copy has one normalization more; an edge
around a gate inside a residual block; a layer that lies on a copy across a U; names of one copy on
all; calls of one layer drawn as copies with weights of their own; arrows that begin or end nowhere.
"""

import random
import re
from collections import Counter

import pytest
from figure_models import layers_said
from figure_reader import read_figure
from thinned import thinned

import kerascope as ks
from kerascope import layers as L
from kerascope.models import Model, Sequential

# Layers that a box may hold beside the one that it is named after.
QUIET = ("Activation", "Dropout", "BatchNormalization", "Flatten", "InputLayer", "Cropping2D",
         "ZeroPadding2D", "LayerNormalization", "ReLU")  # fmt: skip


# --- models ---------------------------------------------------------------------------------------


def stack(draw):
    """Blocks with a short cut, normalization before or after, some with one thing more."""
    x = tokens = L.Input(shape=(6, 8))
    before, times = draw.random() < 0.6, draw.randint(1, 4)
    extra = draw.choice([None, None, "dropout", "gate", "relu"])
    inner = draw.choice(["dense", "attention", "two", "lstm"])
    for number in range(times):
        h = L.LayerNormalization()(x) if before else x
        if inner == "attention":
            h = L.MultiHeadAttention(2, 4)(h, h)
        elif inner == "lstm":
            h = L.LSTM(8, return_sequences=True)(h)
        else:
            h = L.Dense(8, activation="relu", name=f"{inner}_h{number}_fc")(h)
        if inner == "two":
            h = L.Dense(8)(h)
        if extra == "dropout" and number == times - 1:
            h = L.Dropout(0.1)(h)
        if extra == "gate":
            h = L.Multiply()([h, L.Dense(8, activation="sigmoid")(L.Dense(2)(h))])
        x = L.Add()([x, h])
        if extra == "relu" and (number or draw.random() < 0.5):
            x = L.Activation("relu")(x)
        if not before:
            x = L.LayerNormalization()(x)
    if before and draw.random() < 0.8:
        x = L.LayerNormalization()(x)
    return Model(tokens, x if draw.random() < 0.5 else L.Dense(3)(x))


def shared(draw):
    """Calls of one layer or model: side by side, one after another, or among others."""
    kind = draw.choice(["towers", "chain", "mixed", "alternating"])
    if kind == "towers":
        encoder = Sequential([L.Input(shape=(8,)), L.Dense(4), L.Dense(4)])
        if draw.random() < 0.4:
            encoder = L.Dense(4)
        ends = [L.Input(shape=(8,)) for _ in range(draw.randint(2, 3))]
        h = draw.choice([L.Concatenate, L.Add])()([encoder(end) for end in ends])
        return Model(ends, L.Dense(1)(h))
    x = h = L.Input(shape=(8,))
    if kind == "chain":
        layer = draw.choice([L.Dense(8), Sequential([L.Input(shape=(8,)), L.Dense(8)])])
        for _ in range(draw.randint(2, 4)):
            h = layer(h)
    elif kind == "alternating":
        same = L.Dense(8)
        for _ in range(3):
            h = L.Dense(8)(same(h))
    else:
        same, other = L.LayerNormalization(), L.Dense(8)
        for _ in range(3):
            h = L.Add()([h, L.Dense(8)(same(h))])
        h = other(other(h))
    return Model(x, L.Dense(2)(h))


def nested(draw):
    """Models in models, some of one build and some not, some called twice."""
    x = h = L.Input(shape=(8,))
    for _ in range(draw.randint(2, 4)):
        widths = draw.choice([(8,), (8,), (4, 8)])
        inner = Sequential([L.Input(shape=(8,)), *(L.Dense(width) for width in widths)])
        h = inner(h)
        if draw.random() < 0.3:
            h = L.Add()([h, inner(h)])
    return Model(x, L.Dense(2)(h))


def seq2seq(draw):
    """An encoder, a decoder, attention made of pieces, recurrent layers on short cuts."""
    width = 6
    source, target = (L.Input(shape=(7,), dtype="int32") for _ in range(2))
    seen, said = (L.Embedding(9, width)(one) for one in (source, target))
    for _ in range(draw.randint(1, 3)):
        h = L.LSTM(width, return_sequences=True)(seen)
        seen = L.Add()([seen, h]) if draw.random() < 0.5 else h
    seen, *state = L.LSTM(width, return_sequences=True, return_state=True)(seen)
    said = L.LSTM(width, return_sequences=True)(said, initial_state=state)
    if draw.random() < 0.5:
        context = L.Attention()([said, seen])
    else:
        score = L.Activation("softmax")(L.Dot(axes=2)([said, seen]))
        context = L.Dot(axes=(2, 1))([score, seen])
    both = L.Concatenate()([context, said])
    if draw.random() < 0.3:
        both = L.Concatenate()([both, said])
    return Model([source, target], L.Dense(9, activation="softmax")(both))


def inception(draw):
    """Blocks that branch, all alike or each another, some with a short cut or a gate."""
    x = y = L.Input(shape=(8, 8, 4))
    same = draw.random() < 0.5
    for _ in range(draw.randint(1, 3)):
        sizes = (1, 3, 5) if same else draw.sample([1, 3, 5, 7], draw.randint(2, 4))
        ends = [L.Conv2D(4, size, padding="same", activation="relu")(y) for size in sizes]
        if same or draw.random() < 0.5:
            ends.append(L.Conv2D(4, 1)(L.MaxPooling2D(3, 1, padding="same")(y)))
        z = L.Concatenate()(ends)
        if not same and draw.random() < 0.4:
            z = L.Add()([L.Conv2D(z.shape[-1], 1)(y), L.BatchNormalization()(z)])
        y = z
    return Model(x, L.Dense(3)(L.GlobalAveragePooling2D()(y)))


def residual(draw):
    """Stages of a residual net, with projections in some blocks, before or after activations."""
    x = y = L.Input(shape=(16, 16, 4))
    early = draw.random() < 0.5
    for stage in range(draw.randint(1, 2)):
        for number in range(draw.randint(1, 3)):
            stride = 2 if stage and number == 0 else 1
            z = L.Activation("relu")(L.BatchNormalization()(y)) if early else y
            z = L.Conv2D(4 << stage, 3, strides=stride, padding="same")(z)
            z = L.Activation("relu")(L.BatchNormalization()(z))
            z = L.Conv2D(4 << stage, 3, padding="same")(z)
            if stride == 2 or (number == 0 and draw.random() < 0.5):
                y = L.Conv2D(4 << stage, 1, strides=stride)(y)
            y = L.Add()([y, z])
            if not early:
                y = L.Activation("relu")(y)
    if early:
        y = L.Activation("relu")(L.BatchNormalization()(y))
    return Model(x, L.Dense(3)(L.GlobalAveragePooling2D()(y)))


def graph(draw):
    """A random functional model: layers on one or two earlier tensors, some layers called again."""
    ends = [L.Input(shape=(4,)) for _ in range(draw.randint(1, 2))]
    tensors, layers = [*ends], [L.Dense(4), L.Dense(4)]
    for _ in range(draw.randint(3, 10)):
        last = tensors[-draw.randint(1, min(3, len(tensors))) :]
        kind = draw.randrange(6)
        if kind == 0 and len(tensors) > 1:
            made = draw.choice([L.Add, L.Multiply, L.Average])()(draw.sample(tensors, 2))
        elif kind == 1:
            made = draw.choice(layers)(draw.choice(tensors))
        elif kind == 2:
            made = L.Activation(draw.choice(["relu", "softmax"]))(draw.choice(last))
        elif kind == 3:
            made = draw.choice([L.LayerNormalization, L.BatchNormalization])()(draw.choice(last))
        else:
            made = L.Dense(4)(draw.choice(last))
        tensors.append(made)
    used = {id(one) for made in tensors for one in _inputs_of(made)}
    free = [one for one in tensors if id(one) not in used and one not in ends]
    free = free or tensors[-1:]
    together = len(free) > 1 and draw.random() < 0.7
    return Model(ends, L.Add()(free) if together else free)


def tall(draw):
    """More than a page holds below each other, with frames among blocks that only branch."""
    x = y = L.Input(shape=(16, 16, 8))
    for number in range(7):
        sizes = draw.sample([1, 3, 5, 7], draw.randint(2, 3))
        ends = [L.Conv2D(4, 1)(L.Conv2D(4 + number, size, padding="same")(y)) for size in sizes]
        y = L.Concatenate()(ends)
        for _ in range(draw.choice([0, 0, 2])):
            z = L.Conv2D(y.shape[-1], 3, padding="same")(L.Activation("relu")(y))
            y = L.Add()([y, L.Conv2D(y.shape[-1], 1)(z)])
    return Model(x, y)


def _inputs_of(tensor):
    layer, node, _ = tensor._keras_history
    inputs = layer._inbound_nodes[node].input_tensors
    return inputs if isinstance(inputs, (list, tuple)) else [inputs]


MAKERS = {
    one.__name__: one for one in (stack, shared, nested, seq2seq, inception, residual, graph, tall)
}
CASES = thinned([(name, seed) for seed in range(25) for name in MAKERS], lambda case: case[0])


# --- the tests ------------------------------------------------------------------------------------


def figure(name, seed, width):
    ks.K.clear_session()  # names do not grow with the tests that ran before, so texts are not cut
    return ks.draw(MAKERS[name](random.Random(seed)), style="figure", width=width)


def owner_of(node):
    return node.attrs["shared_with"] or node.id


def check_layers(drawing):
    """Each layer stands in one mark, and each mark is its layer as often as its count says."""
    nodes = {node.id: node for node in drawing.graph.nodes}
    assert sorted(layers_said(drawing.svg)) == sorted(nodes)
    marks, _ = read_figure(drawing.svg)
    for mark in marks:
        classes = Counter(nodes[one].attrs["class_name"] for one in mark.layers)
        if mark.copies:
            assert int(mark.copies.split(" of ")[0]) >= max(classes.values())
            continue
        assert all(count % mark.times == 0 for count in classes.values()), (mark, classes)
        each = Counter({one: count // mark.times for one, count in classes.items()})
        summary = any(re.match(r"\d+ layers?\b", word) for word in mark.words)
        if summary:  # it has the name of its end
            continue
        loud = {one: count for one, count in each.items() if one not in QUIET}
        quiet = [each[one] for one in QUIET if one in each]
        assert sum(loud.values()) <= 1, (mark, classes)
        assert max([*quiet, 0]) <= 1, (mark, classes)
        loudest = {nodes[one].label for one in mark.layers}
        labels = {label.replace("_", " ") for label in loudest}
        for word in mark.words:  # a name stands only on what has this name
            said = labels & {word, word.rsplit(" \u00d7 ")[0], word.split(",")[0]}
            named = [one for one in mark.layers if nodes[one].label.replace("_", " ") in said]
            assert not said or len(named) * 2 >= len(mark.layers) or len(said) > 1, mark


def check_sharing(drawing):
    """What uses the weights of another call is marked, and nothing else is."""
    calls = Counter(owner_of(node) for node in drawing.graph.nodes)
    weighted = {node.id for node in drawing.graph.nodes if node.attrs["parameters"]}
    marks, _ = read_figure(drawing.svg)
    nodes = {node.id: node for node in drawing.graph.nodes}
    for mark in marks:
        owners = {owner_of(nodes[one]) for one in mark.layers}
        expected = any(calls[one] > 1 and one in weighted for one in owners)
        said = any("shared" in word for word in mark.words)
        summary = any(re.match(r"\d+ layers?\b", word) for word in mark.words)
        assert said == expected or (summary and len(owners) > 1), mark


def check_arrows(drawing):
    """Each arrow is an edge, and each edge is an arrow, or leads from one copy to the next."""
    marks, arrows = read_figure(drawing.svg)
    mark_of = {one: number for number, mark in enumerate(marks) for one in mark.layers}
    edges = {(mark_of[edge.source], mark_of[edge.target]) for edge in drawing.graph.edges}
    beside = {number for number, mark in enumerate(marks) if mark.copies}
    around = {
        (a, d) for a, b in edges if b in beside for c, d in edges if c == b and a not in beside
    }
    edges = {(a, b) for a, b in edges if a != b and not {a, b} & beside} | around
    feeds = {a for a, _ in edges}
    ends = {arrow for arrow in arrows if None in arrow}
    assert all(a is not None and a not in feeds - _last_of_frames(marks) for a, _ in ends), ends
    drawn = arrows - ends
    drawn = {(a, b) for a, b in drawn if a != b}
    assert drawn <= edges, [(marks[a], marks[b]) for a, b in drawn - edges]
    for a, b in edges - drawn:
        again = marks[a].times > 1 and marks[b].times == marks[a].times
        assert again, (marks[a], marks[b])
        assert {c for c, d in drawn if d == b}, (marks[a], marks[b])


def _last_of_frames(marks):
    return {number for number, mark in enumerate(marks) if mark.is_framed and mark.times > 1}


@pytest.mark.parametrize("width", ["84mm", "174mm"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_figure_of_a_generated_model_is_true(case, width):
    drawing = figure(*case, width)
    if drawing.form in ("blocks", "columns"):
        check_layers(drawing)
        check_arrows(drawing)
        check_sharing(drawing)
    else:
        assert sorted(layers_said(drawing.svg)) == sorted(one.id for one in drawing.graph.nodes)
        assert all(node.attrs["calls"] == 1 for node in drawing.graph.nodes)
