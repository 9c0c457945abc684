"""A layer that keeps statistics and is called several times: each call starts from the last one.

Siblings that this catches: two, three and chained calls; calls in nested and shared models, in a
layer and in a subclassed model; calls on the same tensor; calls that a model does not contain; a
frozen layer; calls after a call that failed or was repeated; own layers that use `add_update`,
that assign, or that have both; recurrent layers that keep their state. In all dialects, step by
step and as a program, in pictures, traces and `K.function`.
"""

import numpy as np
import pytest

import kerascope as ks
from kerascope import Input, K, Model, Sequential, layers
from kerascope.errors import ArgumentError
from kerascope.settings import config

RNG = np.random.default_rng(0)
A, B = RNG.uniform(-1, 1, (4, 2)), RNG.uniform(5, 9, (4, 2))


@pytest.fixture(params=["1.2", "2.2", "3"], autouse=True)
def dialect(request, monkeypatch):
    monkeypatch.setattr(config, "dialect", request.param)
    monkeypatch.setattr(config, "floatx", "float64")
    return request.param


class Norm(layers.Layer):
    """Half of the old mean and half of the batch's, by `add_update`; gives its input."""

    def build(self, input_shape):
        self.mean = self.add_weight(
            name="mean", shape=(2,), initializer="zeros", trainable=False, dtype="float64"
        )
        self.built = True

    def call(self, inputs):
        self.add_update((self.mean, self.mean * 0.5 + K.mean(inputs, 0) * 0.5), inputs)
        return inputs * 1.0


class Assigning(Norm):
    """The same by assigning; what it gives is less the new mean."""

    def call(self, inputs):
        self.mean.assign(self.mean * 0.5 + K.mean(inputs, 0) * 0.5)
        return inputs - self.mean


def pair():
    return Input((2,)), Input((2,))


def two_calls(norm):
    a, b = pair()
    return Model([a, b], layers.Add()([norm(a), norm(b)])), [A, B]


def three_calls(norm):
    a, b = pair()
    return Model([a, b], layers.Add()([norm(a), norm(b), norm(layers.Add()([a, b]))])), [
        A,
        B,
        A + B,
    ]


def nested(norm):
    x = Input((2,))
    inner = Model(x, norm(x))
    a, b = pair()
    return Model([a, b], layers.Add()([inner(a), inner(b)])), [A, B]


def nested_unbuilt(norm):
    inner = Sequential([norm])
    a, b = pair()
    return Model([a, b], layers.Add()([inner(a), inner(b)])), [A, B]


def same_tensor(norm):
    a, b = pair()
    return Model([a, b], layers.Add()([norm(a), norm(a), b])), [A, A]


def other_calls(norm):
    a, b = pair()
    norm(a)
    norm(Input((2,)))
    model = Model([a, b], layers.Add()([norm(a), b]))
    norm(a)
    return model, [A]


def repeated(norm):
    """The graph is run again, as a debugger does."""
    model, batches = nested(norm)
    model.run_internal_graph(model.inputs)
    model.run_internal_graph(model.inputs)
    return model, batches


class Outer(layers.Layer):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def call(self, inputs):
        a, b = inputs
        first = self.norm(a)
        return first + self.norm(b)


def in_a_layer(norm):
    a, b = pair()
    return Model([a, b], Outer(norm)([a, b])), [A, B]


class Subclassed(Model):
    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def call(self, inputs, training=None):
        a, b = inputs
        told = {"training": training} if isinstance(self.norm, layers.BatchNormalization) else {}
        first = self.norm(a, **told)
        return first + self.norm(b, **told)


def subclassed(norm):
    return Subclassed(norm), [A, B]


MODELS = [
    two_calls, three_calls, nested, nested_unbuilt, same_tensor, other_calls, repeated, in_a_layer,
    subclassed,
]  # fmt: skip


def expected_mean(batches, steps, start=0.0):
    mean = start
    for batch in [*batches] * steps:
        mean = mean * 0.5 + batch.mean(0) * 0.5
    return mean


def orders(batches):
    """Return the orders in which calls of one depth may run; each step runs them alike."""
    return [batches, batches[::-1], [*batches[2:], *batches[:2]], [*batches[2:], *batches[1::-1]]]


def assert_mean(found, batches, steps):
    assert any(np.allclose(found, expected_mean(x, steps)) for x in orders(batches)), found


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", ["add_update", "batch normalization"])
def test_each_call_starts_from_the_result_of_the_last_one(make, kind):
    norm = Norm() if kind == "add_update" else layers.BatchNormalization(momentum=0.5)
    model, batches = make(norm)
    model.compile("sgd", "mse")
    for _ in range(4):  # step by step, then as a program
        model.train_on_batch([A, B], A)
    mean = norm.mean if kind == "add_update" else norm.moving_mean
    assert_mean(K.get_value(mean), batches, 4)


def test_a_chain_is_bit_for_bit_the_same_step_by_step_and_as_a_program(dialect):
    found = []
    for watched in (True, False):
        norm = layers.BatchNormalization(momentum=0.9)
        model, _ = two_calls(norm)
        model.compile("sgd", "mse")
        for _ in range(5):
            if watched:
                with ks.trace():
                    model.train_on_batch([A, B], A)
            else:
                model.train_on_batch([A, B], A)
        found.append(norm.get_weights())
    for stepped, compiled in zip(*found, strict=True):
        assert stepped.tobytes() == compiled.tobytes()


def test_a_frozen_layer_keeps_its_statistics(dialect):
    norm = layers.BatchNormalization(momentum=0.5)
    model, _ = two_calls(norm)
    norm.trainable = False
    model.compile("sgd", "mse")
    assert not [v for v in model.updates if v[0] is norm.moving_mean]


def test_get_updates_for_gives_each_call_its_own_update_from_the_variable(dialect):
    norm = layers.BatchNormalization(momentum=0.5)
    a, b = pair()
    norm(a)
    norm(b)
    for x, batch in ((a, A), (b, B)):
        (mean, new_value), _ = norm.get_updates_for(x)
        assert mean is norm.moving_mean
        np.testing.assert_allclose(K.function([x], new_value)([batch]), batch.mean(0) / 2)


def test_a_function_of_the_updates_of_a_model_chains_them_too(dialect):
    norm = layers.BatchNormalization(momentum=0.5)
    model, batches = two_calls(norm)
    f = K.function([*model.inputs, K.learning_phase()], model.outputs, updates=model.updates)
    f([A, B, 1.0])
    assert_mean(norm.get_weights()[2], batches, 1)
    assert len(f.updates) == 2


def test_pairs_of_a_script_are_no_calls_and_the_first_wins(dialect):
    v = K.variable(1.0)
    K.function([], [], updates=[(v, v + 1.0), (v, v * 10.0)])([])
    assert K.get_value(v) == 2.0


def test_the_new_value_of_the_chain_can_be_differentiated(dialect):
    norm = layers.BatchNormalization(momentum=0.5)
    model, _ = two_calls(norm)
    f = K.function([*model.inputs, K.learning_phase()], model.outputs, updates=model.updates)
    new_value = next(u.new_value for u in f.updates if u.variable is norm.moving_mean)
    gradients = K.gradients(K.sum(new_value), model.inputs)
    found = K.function(model.inputs, gradients)([A, B])
    weights = sorted(float(g.sum()) for g in found)
    np.testing.assert_allclose(weights, [0.5, 1.0])  # 2 features: half of the half, and half


def test_pictures_and_traces_show_both_calls(dialect):
    norm = layers.BatchNormalization(momentum=0.5, name="norm")
    model, _ = two_calls(norm)
    model.compile("sgd", "mse")
    with ks.trace() as tape:
        model.train_on_batch([A, B], A)
    told = [e for e in tape if e.kind == "update.apply" and e.name == norm.moving_mean.name]
    assert len(told) == 1
    graph = ks.draw(model, level="training").graph
    sources = {e.source for e in graph.edges if e.target == f"update:{norm.moving_mean.name}"}
    assert len(sources) >= 2
    graph = ks.draw(model.train_function).graph
    read, written = norm.moving_mean.name, f"{norm.moving_mean.name}/update"
    assert {(read, "norm@0"), ("norm@0", "norm@1"), ("norm@1", written)} <= {
        (e.source, e.target) for e in graph.edges
    }


ASSIGNED = [two_calls, nested, in_a_layer, subclassed]


@pytest.mark.parametrize("make", ASSIGNED, ids=lambda make: make.__name__)
def test_a_call_reads_what_the_call_before_it_has_assigned(make):
    norm = Assigning()
    model, batches = make(norm)
    model.compile("sgd", "mse")
    found, last = model.predict([A, B]), K.get_value(norm.mean)
    seen = []
    for order in (batches, batches[::-1]):
        first, second = expected_mean(order[:1], 1), expected_mean(order, 1)
        seen.append((A + B - first - second, second))
    first = next(i for i, (_, mean) in enumerate(seen) if np.allclose(mean, last))
    np.testing.assert_allclose(found, seen[first][0])
    model.train_on_batch([A, B], A)
    model.evaluate([A, B], A, verbose=0)
    order = batches[::-1] if first else batches
    np.testing.assert_allclose(K.get_value(norm.mean), expected_mean(order, 3))


def test_a_model_of_ones_own_may_assign_in_its_call(dialect):
    class Counting(Model):
        def __init__(self):
            super().__init__()
            self.count = K.variable(0.0)
            self.out = layers.Dense(2)

        def call(self, inputs, training=None):
            self.count.assign_add(1.0)
            return self.out(inputs) * 0 + self.count

    model = Counting()
    model.compile("sgd", "mse")
    for step in range(3):
        np.testing.assert_allclose(model.predict(A), step + 1)
    model.train_on_batch(A, A)
    assert K.get_value(model.count) == 4


def test_calls_that_cannot_see_each_others_assignment_are_refused(dialect):
    norm = Assigning(name="own", input_shape=(2,))
    model = Sequential([norm, norm])
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="'own': several calls in one model assign to"):
        model.train_on_batch(A, A)


@pytest.mark.parametrize("make", ["functional", "layer"])
def test_a_stateful_layer_in_two_calls(dialect, make):
    a, b = Input(batch_shape=(4, 1, 2)), Input(batch_shape=(4, 1, 2))
    rnn = layers.SimpleRNN(2, stateful=True, activation="linear", use_bias=False, name="rnn")
    if make == "layer":
        outer, order = Model([a, b], Outer(rnn)([a, b])), (A, B)
    else:
        outer, order = Model([a, b], layers.Add()([rnn(rnn_input) for rnn_input in (a, b)])), (B, A)
    rnn.set_weights([np.eye(2), np.eye(2)])
    x = [A[:, None], B[:, None]]
    first = outer.predict(x, batch_size=4)
    state = rnn.states[0].get_value()
    if dialect == "3":
        assert any(np.allclose(first, x + (A + B)) for x in order)
        np.testing.assert_allclose(state, A + B)
        np.testing.assert_allclose(outer.predict(x, batch_size=4), first + 2 * (A + B))
    else:  # both calls begin with the state of the last batch, and the first one is kept
        np.testing.assert_allclose(first, A + B)
        assert any(np.allclose(state, x) for x in order)


def test_a_nested_model_that_is_called_twice_on_one_tensor(dialect):
    """Keras 1 and 2 run it once; Keras 3 twice, with another dropout."""
    x = Input((200,))
    inner = Model(x, layers.Dropout(0.5)(x))
    outer = Model(x, layers.Subtract()([inner(x), inner(x)]))
    f = K.function([x, K.learning_phase()], outer.outputs)
    (found,) = f([np.ones((1, 200)), 1.0])
    assert bool(found.any()) == (dialect == "3")
