"""Cases of loops over a sequence: rnn, foldl, foldr, map_fn, and CTC."""

import numpy as np
import reference_ctc

from kerascope import backend as K
from tests.backend.k_cases import behaviour, case

NO_ARRAYS = {"arrays_too": False}


def add_up(x, states):
    total = 0.5 * states[0] + x
    return 2 * total, [total]


def added_up(x, first, *, backwards=False, mask=None):
    total, outputs, output = first, [], np.zeros_like(first)
    order = range(x.shape[1])[::-1] if backwards else range(x.shape[1])
    for t in order:
        moves = np.ones(len(x), bool) if mask is None else mask[:, t]
        total = np.where(moves[:, None], 0.5 * total + x[:, t], total)
        output = np.where(moves[:, None], 2 * total, output)
        outputs.append(output)
    return [output, np.stack(outputs, 1), total]


def flattened(result):
    last, outputs, states = result
    return [last, outputs, *states]


MASK = np.array([[True, False, True], [False, True, True]])
SEQUENCE = [(2, 3, 4), (2, 4)]


def with_constant(x, states):
    return x * states[1] + states[0], [x + states[0]]


def expected_with_constant(x, first, constant):
    state, outputs = first, []
    for t in range(3):
        outputs.append(x[:, t] * constant + state)
        state = x[:, t] + state
    return [outputs[-1], np.stack(outputs, 1), state]


LOOPS = [
    case("rnn", lambda x, s: flattened(K.rnn(add_up, x, [s])), SEQUENCE, added_up,
         smooth=(0, 1)),
    case("rnn", lambda x, s: flattened(K.rnn(add_up, x, [s], go_backwards=True)), SEQUENCE,
         lambda x, s: added_up(x, s, backwards=True), smooth=(0, 1)),
    case("rnn", lambda x, s: flattened(K.rnn(add_up, x, [s], mask=K.constant(MASK, "bool"))),
         SEQUENCE, lambda x, s: added_up(x, s, mask=MASK), smooth=(0, 1)),
    case("rnn", lambda x, s: flattened(
             K.rnn(add_up, x, [s], mask=K.constant(MASK[..., None]), unroll=True,
                   input_length=3)),
         SEQUENCE, lambda x, s: added_up(x, s, mask=MASK), smooth=(0, 1)),
    case("rnn", lambda x, s, c: flattened(K.rnn(with_constant, x, (s,), constants=[c])),
         [*SEQUENCE, (4,)], expected_with_constant, smooth=(0, 1, 2)),
    case("foldl", lambda x: K.foldl(lambda total, e: 0.5 * total + e, x), [(3, 2)],
         lambda x: 0.5 * (0.5 * x[0] + x[1]) + x[2], batch=False, **NO_ARRAYS),
    case("foldl", lambda x, i: K.foldl(lambda a, e: a * e, x, initializer=i, name="product"),
         [(3, 2), (2,)], lambda x, i: x.prod(0) * i, smooth=(0, 1), batch=False, **NO_ARRAYS),
    case("foldr", lambda x: K.foldr(lambda total, e: 0.5 * total + e, x), [(3, 2)],
         lambda x: 0.5 * (0.5 * x[2] + x[1]) + x[0], batch=False, **NO_ARRAYS),
    case("foldr", lambda x, i: K.foldr(lambda a, e: a - e, x, i), [(3, 2), (2,)],
         lambda x, i: i - x.sum(0), smooth=(0, 1), batch=False, **NO_ARRAYS),
    case("map_fn", lambda x: K.map_fn(lambda e: K.sum(e * e), x), [(3, 2)],
         lambda x: (x * x).sum(1), **NO_ARRAYS),
    case("map_fn", lambda x, y: K.map_fn(lambda pair: pair[0] * pair[1], [x, y], name="both"),
         [(3, 2), (3, 2)], np.multiply, smooth=(0, 1), **NO_ARRAYS),
    case("map_fn", lambda x: K.map_fn(lambda e: K.argmax(e), x, dtype="int32"), [(3, 2)],
         lambda x: x.argmax(1), smooth=(), dtype="int32", **NO_ARRAYS),
]  # fmt: skip

# --- CTC ------------------------------------------------------------------------------------------

LABELS = np.array([[0, 1], [1, 1]])
STEPS, LENGTHS = np.array([[4], [3]]), np.array([[2], [1]])


def predictions(d):
    p = d.positive(2, 4, 3)
    return [p / p.sum(-1, keepdims=True)]


def nudged(p):
    """Add K.epsilon() to probabilities, as Keras does, and let them sum to 1 again."""
    p = p + 1e-7
    return np.log(p / p.sum(-1, keepdims=True))


def minus_path(p):
    tops = np.log(p + 1e-7).max(-1)
    return np.array([[-tops[i, : STEPS[i, 0]].sum()] for i in range(2)])


CTC = [
    case("ctc_batch_cost", lambda p: K.ctc_batch_cost(LABELS, p, STEPS, LENGTHS), predictions,
         lambda p: reference_ctc.cost(nudged(p), LABELS, STEPS[:, 0], LENGTHS[:, 0])[:, None]),
    case("ctc_decode", lambda p: K.ctc_decode(p, STEPS[:, 0])[1], predictions, minus_path),
]  # fmt: skip


@behaviour("ctc_decode")
def the_greedy_search_and_the_beam_search_spell_a_label():
    p = K.constant([[[0.9, 0.05, 0.05], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8], [0.05, 0.9, 0.05]]])
    for greedy in (True, False):
        (decoded, *_), scores = K.ctc_decode(p, K.constant([4]), greedy=greedy, beam_width=10)
        assert K.eval(decoded).tolist() == [[0, 1]]
        assert K.eval(scores).shape == (1, 1)
    paths, scores = K.ctc_decode(p, [4], greedy=False, top_paths=3)
    assert len(paths) == 3
    assert (np.diff(K.eval(scores)[0]) <= 0).all()


@behaviour("rnn")
def the_static_shapes_of_a_loop_keep_the_batch_free():
    x = K.placeholder((None, 7, 4))
    last, outputs, states = K.rnn(add_up, x, [K.zeros_like(x[:, 0])])
    assert K.int_shape(last) == K.int_shape(states[0]) == (None, 4)
    assert K.int_shape(outputs) == (None, 7, 4)


CASES = [*LOOPS, *CTC]
