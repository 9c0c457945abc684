"""Random graphs, computed step by step and as programs: the same bits."""

import numpy as np
from holding import holds_for
from hypothesis import strategies as st

from kerascope import backend as K
from kerascope.stage import observing

UNARY = [
    *(K.relu, K.tanh, K.square, K.sigmoid, K.abs, lambda x: -x, K.identity, K.softmax),
    *(lambda x: x * K.ones_like(x), lambda x: x + 0.5, lambda x: K.clip(x, -1.0, 0.5)),
    lambda x: K.transpose(K.transpose(x)),
    lambda x: K.reshape(x, (-1, 3)),
    lambda x: x - K.mean(x, axis=0),
    lambda x: x / (1 + K.sum(K.square(x), axis=1, keepdims=True)),
    lambda x: K.concatenate([x[:, 1:], x[:, :1]]),
    lambda x: K.in_train_phase(lambda: x * 2, lambda: K.exp(-K.square(x))),
    lambda x: K.stop_gradient(x) + x,
]
BINARY = [
    *(lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y, K.maximum, K.minimum),
    lambda x, y: x + K.sum(y),
    lambda x, y: K.switch(K.greater(K.sum(x), K.sum(y)), x, y),
    lambda x, y: K.batch_dot(K.expand_dims(x, 1), K.expand_dims(y, 1), axes=[1, 1])[:, 0],
]


@st.composite
def recipes(draw):
    """Return how to make a graph: which op is applied to which earlier tensors."""
    steps = []
    for count in range(4, 4 + draw(st.integers(2, 14))):
        place = st.integers(0, count - 1)
        if draw(st.booleans()):
            steps.append((draw(st.sampled_from(range(len(UNARY)))), draw(place), None))
        else:
            steps.append((draw(st.sampled_from(range(len(BINARY)))), draw(place), draw(place)))
    return steps, draw(st.lists(st.integers(4, 3 + len(steps)), min_size=1, max_size=3))


def made(recipe, rewrites):
    K.clear_session()
    steps, wanted = recipe
    x, y = K.placeholder((None, 3), name="x"), K.placeholder((None, 3), name="y")
    w = K.variable(np.linspace(-1, 1, 9).reshape(3, 3), name="w")
    b = K.variable([0.5, -0.25, 0.0], name="b")
    known = [x, y, K.dot(x, w), y + b]
    for op, first, second in steps:
        apply = UNARY[op] if second is None else BINARY[op]
        operands = [known[first]] if second is None else [known[first], known[second]]
        known.append(apply(*operands))
    outputs = [known[place] for place in wanted]
    loss = K.mean(sum(K.mean(K.square(output)) for output in outputs))
    updates = [
        (v, v - 0.1 * (g if g is not None else K.zeros_like(v)))
        for v, g in zip((w, b), K.gradients(loss, [w, b]), strict=True)
    ]
    inputs = [x, y, K.learning_phase()]
    return K.function(inputs, [loss, *outputs], updates, rewrites=rewrites), [w, b]


def bits_of(array):
    """Return the bytes of an array; what is not a number has no bits of its own."""
    array = np.array(array)
    array[np.isnan(array)] = np.nan
    return array.tobytes()


def told(recipe, rewrites, watched):
    function, variables = made(recipe, rewrites)
    rng = np.random.default_rng(5)
    bits = []
    for rows, phase in [(4, 1), (4, 1), (4, 1), (2, 0), (2, 0), (2, 0), (4, 1), (4, 0)]:
        arrays = [rng.normal(size=(rows, 3)), rng.normal(size=(rows, 3)), phase]
        if watched:
            with observing(lambda stage, event: None):
                outputs = function(arrays)
        else:
            outputs = function(arrays)
        values = [v.get_value() for v in variables]
        bits.append([bits_of(array) for array in (*outputs, *values)])
    return bits, len(function.programs)


@holds_for(recipes(), few=30, many=150)
def test_stepped_is_run_bit_for_bit_with_rewrites_and_without(recipe):
    stepped, _ = told(recipe, None, watched=True)
    for rewrites in (None, ()):
        run, programs = told(recipe, rewrites, watched=False)
        assert run == stepped
        assert programs
