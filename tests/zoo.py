"""Small models of every shape that a graph of layers can have; `ZOO` names a function for each."""

from collections.abc import Callable

from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.layers import Activation, Add, Concatenate, Dense, Dropout, Input


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
    )
}
