"""Models of every shape that a graph of layers can have.

`ZOO` names a function for each small one; `THINNED_ZOO` are their names, two thirds of them marked
`slow`; `LARGE_ZOO` is for the two large ones, which are made once per process. Each names its
layers itself, or makes them with `fresh_names`, so it is the same in every process.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from thinned import thinned

from kerascope import backend as K
from kerascope.applications import InceptionV3, ResNet50
from kerascope.backend.state import fresh_names
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.layers import (
    LSTM,
    RNN,
    Activation,
    Add,
    Bidirectional,
    Concatenate,
    Dense,
    Dropout,
    GRUCell,
    Input,
    LayerNormalization,
    LSTMCell,
    MultiHeadAttention,
    TimeDistributed,
)
from kerascope.spellings import override_dialect


def chain() -> Model:
    x = Input(shape=(20,), name="pixels")
    h = Dense(64, activation="relu", name="hidden")(x)
    h = Dropout(0.5, name="dropout")(h)
    return Model(x, Dense(10, activation="softmax", name="scores")(h), name="chain")


def diamond() -> Model:
    x = Input(shape=(8,), name="x")
    left = Dense(4, activation="relu", name="left")(x)
    right = Dense(4, activation="tanh", name="right")(x)
    return Model(x, Add(name="sum")([left, right]), name="diamond")


def shared_layer() -> Model:
    a, b = Input(shape=(16,), name="a"), Input(shape=(16,), name="b")
    shared = Dense(8, name="shared")
    joined = Concatenate(name="joined")([shared(a), shared(b)])
    return Model([a, b], Dense(1, activation="sigmoid", name="same")(joined), name="shared_layer")


def between_calls() -> Model:
    """S(D(S(x))): a shared layer on both sides of another."""
    x = Input(shape=(4,), name="x")
    shared, between = Dense(4, name="S"), Dense(4, name="D")
    return Model(x, shared(between(shared(x))), name="between_calls")


def doubled() -> Model:
    """x + x: two parallel edges."""
    x = Input(shape=(4,), name="x")
    h = Dense(4, name="h")(x)
    return Model(x, Add(name="double")([h, h]), name="doubled")


def encoder(name: str = "encoder") -> Model:
    x = Input(shape=(16,), name="image")
    h = Dense(32, activation="relu", name="wide")(x)
    return Model(x, Dense(4, name="code")(h), name=name)


def siamese() -> Model:
    left, right = Input(shape=(16,), name="left"), Input(shape=(16,), name="right")
    encode = encoder()
    joined = Concatenate(name="pair")([encode(left), encode(right)])
    return Model([left, right], Dense(1, activation="sigmoid", name="same")(joined), name="siamese")


def nested_in_nested() -> Model:
    inner = encoder("inner")
    x = Input(shape=(16,), name="middle_in")
    middle = Model(x, Activation("tanh", name="squash")(inner(x)), name="middle")
    y = Input(shape=(16,), name="outer_in")
    return Model(y, Dense(2, name="outer_out")(middle(y)), name="nested_in_nested")


def several_ends() -> Model:
    """Two inputs, two outputs, one of which is used on the way to the other."""
    text, extra = Input(shape=(10,), name="text"), Input(shape=(3,), name="extra")
    h = Dense(6, activation="relu", name="reader")(text)
    early = Dense(1, activation="sigmoid", name="early")(h)
    joined = Concatenate(name="joined")([h, extra, early])
    late = Dense(1, activation="sigmoid", name="late")(
        Dense(5, activation="relu", name="mixer")(joined)
    )
    return Model([text, extra], [late, early], name="several_ends")


def nested_with_two_outputs() -> Model:
    x = Input(shape=(6,), name="x")
    split = Model(x, [Dense(2, name="mean")(x), Dense(2, name="spread")(x)], name="split")
    y = Input(shape=(6,), name="y")
    mean, spread = split(y)
    return Model(y, Add(name="sum")([mean, spread]), name="nested_with_two_outputs")


def autoencoder() -> Model:
    """The whole autoencoder; its decoder is a model of its own that shares the last layer."""
    x = Input(shape=(16,), name="image")
    code = Dense(4, activation="relu", name="encode")(x)
    decode = Dense(16, activation="sigmoid", name="decode")
    whole = Model(x, decode(code), name="autoencoder")
    given = Input(shape=(4,), name="given_code")
    Model(given, decode(given), name="decoder")
    return whole


def decoder() -> Model:
    """The autoencoder's decoder alone: its only call is the second one of its layer."""
    last = autoencoder().layers[-1]
    return Model(
        last.inbound_nodes[1].input_tensors[0], last.get_output_at(1), name="decoder_alone"
    )


def sequential() -> Model:
    return Sequential(
        [
            Dense(8, activation="relu", input_shape=(4,), name="first"),
            Sequential(
                [Dense(8, input_shape=(8,), name="deep"), Dropout(0.2, name="drop")], name="block"
            ),
            Dense(2, name="last"),
        ],
        name="sequential",
    )


def odd_names() -> Model:
    x = Input(shape=(4,), name='a<b> & "c"')
    h = Dense(4, name="pipe|brace{x}[1]:p\\")(x)
    h = Dense(4, name="größe→日本 'q' %s \\n")(h)
    return Model(x, Dense(2, name="<b>bold</b>")(h), name='odd <names> & "more"')


def many_branches() -> Model:
    x = Input(shape=(4,), name="x")
    branches = [Dense(2, name=f"branch_{i}")(x) for i in range(5)]
    return Model(x, Concatenate(name="all")(branches), name="many_branches")


# --- layers around layers -------------------------------------------------------------------------


def time_distributed_model() -> Model:
    """A nested model at every time step, then a layer at every time step."""
    frames = Input(shape=(5, 16), name="frames")
    codes = TimeDistributed(encoder("frame_encoder"), name="each_frame")(frames)
    scores = TimeDistributed(Dense(2, name="score"), name="each_code")(codes)
    return Model(frames, scores, name="time_distributed_model")


def bidirectional() -> Model:
    words = Input(shape=(6, 4), name="words")
    h = Bidirectional(LSTM(3, return_sequences=True, name="lower"), name="both_ways")(words)
    h = Bidirectional(LSTM(2, name="upper"), merge_mode="sum", name="summed")(h)
    return Model(words, Dense(1, name="score")(h), name="bidirectional")


def wrapped_twice() -> Model:
    """A wrapper of a wrapper: every sentence of a document is read in both directions."""
    document = Input(shape=(3, 6, 4), name="document")
    read = Bidirectional(LSTM(2, name="reader"), name="both_ways")
    sentences = TimeDistributed(read, name="each_sentence")(document)
    return Model(document, sentences, name="wrapped_twice")


def stacked_cells() -> Model:
    steps = Input(shape=(6, 4), name="steps")
    cells = [LSTMCell(4, name="first_cell"), GRUCell(3, name="second_cell")]
    outputs = RNN(cells, return_state=True, name="stack")(steps)
    return Model(steps, [outputs[0], outputs[1]], name="stacked_cells")


def three_levels() -> Model:
    """Nested three times, with an encoder that is called twice inside."""
    pair = [Input(shape=(16,), name="one"), Input(shape=(16,), name="other")]
    encode = encoder()
    compare = Model(pair, Add(name="both")([encode(x) for x in pair]), name="compare")
    x = Input(shape=(16,), name="given")
    twisted = Dense(16, name="twist")(x)
    block = Model(x, Dense(3, name="verdict")(compare([x, twisted])), name="block")
    y = Input(shape=(16,), name="y")
    return Model(y, Dense(1, name="answer")(block(y)), name="three_levels")


# --- attention, operations, calls of one's own ----------------------------------------------------


def transformer() -> Model:
    """One block of a transformer: what attention and two Dense layers find is added."""
    tokens = Input(shape=(6, 8), name="tokens")
    h = LayerNormalization(name="norm_before_attention")(tokens)
    h = MultiHeadAttention(2, 4, name="attention")(h, h)
    x = Add(name="after_attention")([tokens, h])
    h = LayerNormalization(name="norm_before_mixing")(x)
    h = Dense(16, activation="relu", name="widen")(h)
    mixed = Add(name="after_mixing")([x, Dense(8, name="narrow")(h)])
    return Model(tokens, mixed, name="transformer")


def operations() -> Model:
    """Operations between layers, which become layers: h + 2 * h, its mean, its sigmoid."""
    with fresh_names(), override_dialect(wraps_operations=True):
        x = Input(shape=(4,), name="x")
        h = Dense(4, name="h")(x)
        total = h + 2.0 * h
        return Model(x, K.sigmoid(K.mean(total, axis=-1, keepdims=True)), name="operations")


class Residual(Model):
    """A network with a `call` of its own: x + f(x), f being used twice."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name=name)
        self.mix = Dense(8, activation="relu", name="mix")
        self.drop = Dropout(0.1, name="drop")
        self.join = Add(name="join")

    def call(self, inputs):
        h = self.mix(inputs)
        return self.join([inputs, self.drop(self.mix(h))])


def subclassed() -> Model:
    """A network that writes its own call, after it has seen data."""
    with fresh_names():
        model = Residual(name="subclassed")
        model.predict(np.zeros((1, 8)))
    return model


def subclassed_inside() -> Model:
    """Networks that write their own call, as layers of a graph."""
    x = Input(shape=(8,), name="x")
    block = Residual(name="block")
    return Model(x, Dense(2, name="head")(block(block(x))), name="subclassed_inside")


ZOO: dict[str, Callable[[], Model]] = {
    function.__name__: function
    for function in (
        chain,
        diamond,
        shared_layer,
        between_calls,
        doubled,
        siamese,
        nested_in_nested,
        several_ends,
        nested_with_two_outputs,
        autoencoder,
        decoder,
        sequential,
        odd_names,
        many_branches,
        time_distributed_model,
        bidirectional,
        wrapped_twice,
        stacked_cells,
        three_levels,
        transformer,
        operations,
        subclassed,
        subclassed_inside,
    )
}
# For a test of each model that takes longer than it takes to make the model.
THINNED_ZOO = thinned(ZOO, kind=lambda name: "model")


@cache
def resnet50() -> Model:
    with fresh_names():
        return ResNet50(weights=None, input_shape=(32, 32, 3), classes=10)


@cache
def inception_v3() -> Model:
    with fresh_names():
        return InceptionV3(weights=None, input_shape=(75, 75, 3), classes=10)


LARGE_ZOO: dict[str, Callable[[], Model]] = {
    function.__name__: function for function in (resnet50, inception_v3)
}
