"""Equal lines that are written as one call: when, and that no bit changes."""

import gc

import numpy as np
import pytest
from holding import holds_for
from hypothesis import strategies as st
from two_roads import same_stepped_and_run

from kerascope import backend as K
from kerascope.backend.program import dispatch
from kerascope.backend.program.stacks import FEWEST, LARGEST, longest_run
from kerascope.layers import Add, BatchNormalization, Dense, Input
from kerascope.models import Model, Sequential
from kerascope.optimizers import SGD, Adam, RMSprop
from kerascope.stage import observing

STEPS = 4


def chain(layers, width=5, activation="relu", use_bias=True, inputs=3):
    """Return a chain of equal layers between two that are different."""
    return Sequential(
        [
            Dense(width, activation=activation, input_shape=(inputs,), use_bias=use_bias),
            *(Dense(width, activation=activation, use_bias=use_bias) for _ in range(layers)),
            Dense(2),
        ]
    )


def trained(make, rows, watched=False, optimizer="sgd", steps=STEPS):
    """Return the model, its losses, and the bytes of all weights after each step."""
    K.clear_session()
    np.random.seed(3)
    model = make()
    model.compile(optimizer=optimizer, loss="mse")
    rng = np.random.default_rng(1)
    told = []
    for _ in range(steps):
        x = [rng.normal(size=(rows, *shape[1:])) for shape in [x.shape for x in model.inputs]]
        y = [rng.normal(size=(rows, *y.shape[1:])) for y in model.outputs]
        if watched:
            with observing(lambda stage, event: None):
                loss = model.train_on_batch(x, y)
        else:
            loss = model.train_on_batch(x, y)
        told.append((np.array(loss).tolist(), [w.get_value().tobytes() for w in model.weights]))
    return model, told


def source_of(make, rows=4, **options):
    model, _ = trained(make, rows, **options)
    return model.train_function.source


def test_what_equal_layers_do_backward_is_done_at_once():
    source = source_of(lambda: chain(20))
    assert source.count("np.matmul(") == 2  # the gradients of kernels, and of biases
    assert "# backward: dense_21, and 19 more at once" in source
    assert source.count("np.greater(") <= 2


def test_biases_of_equal_layers_are_stretched_at_once():
    source = source_of(lambda: chain(20))
    assert source.count("np.copyto(all_dense_1_bias_stretched") == 1
    assert "np.add(dense_5_dot, dense_5_bias_stretched" in source


@pytest.mark.parametrize("layers", [1, FEWEST - 3])
def test_a_few_layers_are_written_one_by_one(layers):
    assert "at once" not in source_of(lambda: chain(layers))


def test_large_layers_are_written_one_by_one():
    width = int(LARGEST**0.5) + 8
    assert "np.matmul(all_" not in source_of(lambda: chain(10, width), rows=2, steps=2)


def test_a_function_without_rewrites_has_a_line_for_each_op():
    model, _ = trained(lambda: chain(20), 4)
    train = model.train_function

    def source(rewrites):
        function = K.function(train.inputs, train.outputs, train.updates, rewrites=rewrites)
        for _ in range(2):
            function([np.ones(shape) for shape in ((4, 3), (4, 2), (4,))])
        return function.source

    assert "at once" not in source(())
    assert "at once" in source(["stack_equal"])
    assert "at once" in source(None)


@holds_for(
    layers=st.integers(FEWEST - 2, 14),
    width=st.integers(1, 7),
    rows=st.integers(1, 6),
    activation=st.sampled_from(["relu", "tanh", "sigmoid", "linear", "elu", "softplus"]),
    use_bias=st.booleans(),
    optimizer=st.sampled_from(["sgd", "rmsprop", "adam"]),
    few=8,
    many=25,
)
def test_chains_train_the_same_bit_for_bit_stepped_and_run(
    layers, width, rows, activation, use_bias, optimizer
):
    def make():
        return chain(layers, width, activation, use_bias)

    _, run = trained(make, rows, optimizer=optimizer)
    _, stepped = trained(make, rows, optimizer=optimizer, watched=True)
    assert run == stepped


def test_layers_that_are_used_several_times_and_branches_train_the_same():
    def make():
        x = Input((4,))
        shared = Dense(4, activation="relu")
        y, branches = x, []
        for _ in range(9):
            y = shared(y)
        for _ in range(10):
            branches.append(Dense(4, activation="relu")(y))
        return Model(x, [Dense(1)(Add()(branches)), branches[0]])

    model, run = trained(make, 5)
    _, stepped = trained(make, 5, watched=True)
    assert run == stepped
    assert "at once" in model.train_function.source


def test_weights_that_another_function_moves_are_found_again():
    def make():
        return chain(12)

    def both(watched):
        K.clear_session()
        np.random.seed(0)
        model = make()
        model.compile(optimizer=SGD(0.1), loss="mse")
        x, y = np.ones((4, 3)), np.ones((4, 2))
        told = []
        for turn in range(9):
            if turn % 3 == 2:  # another function writes the same weights
                model.compile(optimizer=Adam(0.01), loss="mae")
            if watched:
                with observing(lambda stage, event: None):
                    told.append(model.train_on_batch(x, y))
            else:
                told += [model.train_on_batch(x, y)]
                model.layers[3].set_weights(model.layers[3].get_weights())
        return told, [w.get_value().tobytes() for w in model.weights]

    assert both(watched=False) == both(watched=True)


def test_what_one_call_returned_the_next_one_leaves_alone():
    xs = [K.placeholder((4, 3)) for _ in range(10)]
    w = K.variable(np.arange(6).reshape(3, 2))
    outputs = [K.dot(x, w) for x in xs]
    function = K.function(xs, outputs)
    rng = np.random.default_rng(0)
    kept = []
    for _ in range(4):
        arrays = [rng.normal(size=(4, 3)).astype("f4") for _ in xs]
        found = function(arrays)
        kept.append((found, [y.copy() for y in found]))
        for array, y in zip(arrays, found, strict=True):
            np.testing.assert_array_equal(y, np.dot(array, w.get_value()))
    for found, copies in kept:
        np.testing.assert_array_equal(found, copies)


def test_every_line_of_a_stack_is_explained_and_measured():
    model, _ = trained(lambda: chain(20), 4)
    rows = model.train_function.explain().rows
    together = [row for row in rows if row.written_as.startswith("np.matmul(all_")]
    assert len(together) >= 20
    assert {row.memory for row in together} == {"together with others of its kind"}
    profile = model.train_function.profile(repeats=3)
    layers = {line.layer for line in profile.rows if line.op == "dot" and line.phase == "backward"}
    assert {f"dense_{i}" for i in range(1, 23)} <= layers


def test_the_gradient_of_a_large_weight_is_computed_as_soon_as_it_can_be():
    def make():
        return Sequential([Dense(300, input_shape=(300,)), Dense(300), Dense(300), Dense(2)])

    model, run = trained(make, 256)
    _, stepped = trained(make, 256, watched=True)
    assert run == stepped
    lines = [line.strip() for line in model.train_function.source.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.endswith("d_dense_2_dot)"))
    gradient = next(i for i, line in enumerate(lines) if line.endswith("d_dense_3_dot_2)"))
    assert gradient < first


def assert_run_is_stepped(function, arrays, calls=4):
    """Check that calls, run and stepped in turns, return the same bits."""
    for _ in range(calls):
        run = function(arrays)
        with observing(lambda stage, event: None):
            stepped = function(arrays)
        for one, other in zip(run, stepped, strict=True):
            assert np.shape(one) == np.shape(other)
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("first", ["small", "large"])
def test_arrays_that_are_read_in_equal_shapes_may_have_others_themselves(first):
    rng = np.random.default_rng(0)
    y, w = K.placeholder((1, 6)), K.placeholder((2, 6))
    small = [K.tanh(y * K.variable(rng.normal(size=6))) for _ in range(8)]
    large = [K.tanh(w * K.variable(rng.normal(size=6))) for _ in range(8)]
    shown = [x[:1] for x in large]
    together = [*small, *shown] if first == "small" else [*shown, *small]
    outputs = [*large, *small, *map(K.square, together), *map(K.sum, small)]
    function = K.function([y, w], outputs)
    assert_run_is_stepped(function, [rng.normal(size=(1, 6)), rng.normal(size=(2, 6))])


def test_a_batch_of_one_with_normalization_and_clipped_gradients():
    def make():
        rows = [layer for _ in range(9) for layer in (Dense(8), BatchNormalization())]
        return Sequential([Dense(8, input_shape=(8,)), *rows])

    run, stepped = (
        trained(make, 1, watched=watched, optimizer=RMSprop(clipnorm=1.0))[1]
        for watched in (False, True)
    )
    assert run == stepped


def test_arrays_that_lie_at_equal_distances_by_chance_are_no_stack():
    rng = np.random.default_rng(1)
    shape = (60, 60)
    x = K.placeholder(shape)
    first = [K.square(K.tanh(x + K.variable(rng.normal(size=shape)))) for _ in range(24)]
    folded = [K.exp(K.constant(rng.integers(0, 2, shape).astype("f4"))) for _ in range(24)]
    products = [y * z for y, z in zip(first, folded, strict=True)]
    function = K.function([x], [*products, *map(K.sqrt, products)])
    arrays = [rng.normal(size=shape)]
    for _ in range(3):
        assert_run_is_stepped(function, arrays, calls=2)
        gc.collect()
        junk = [np.full(shape, 7.7, "f4") for _ in range(100)]
        del junk
    texts = {K.function([x], products) for _ in range(2)}
    for text in texts:
        text(arrays), text(arrays)
    assert len({text.source for text in texts}) == 1


def test_a_layer_that_is_used_many_times_has_its_bias_stretched_once():
    def make():
        x = y = Input((4,))
        shared = Dense(4)
        for _ in range(12):
            y = shared(y)
        for _ in range(10):
            y = Dense(4)(y)
        return Model(x, y)

    source = source_of(make)
    line = next(line for line in source.splitlines() if "_stretched, all_" in line)
    names = {
        operand
        for line in source.splitlines()
        for operand in line.replace(")", ",").split(", ")
        if operand.endswith("_stretched")
    }
    assert line
    assert len([name for name in names if name.startswith("dense")]) == 11


def test_a_program_that_cannot_be_written_leaves_the_call_as_it_is(monkeypatch):
    monkeypatch.setattr(dispatch, "Trial", lambda *arguments: None)  # so our own code fails
    v = K.variable([1.0])
    function = K.function([], [v * 2], [(v, v + 1)])
    assert function([])[0].tolist() == [2.0]
    with pytest.warns(RuntimeWarning, match="its NumPy program cannot be compiled .*NoneType"):
        assert function([])[0].tolist() == [4.0]
    assert function([])[0].tolist() == [6.0]
    assert v.get_value().tolist() == [4.0]


def test_what_is_computed_between_the_lines_of_a_stack_is_computed_once():
    """Views of its lines once stood among them, and large gradients: lines ran twice or never."""

    def branches():
        x = Input((16,))
        heads = [Dense(5 + i)(Dense(16)(x)) for i in range(10)]
        big = Dense(300)(Dense(300)(Dense(300)(x)))
        return Model(x, [Dense(1)(big), *heads])

    (_, stepped), (run, told) = (trained(branches, 64, steps=6, watched=w) for w in (True, False))
    assert told == stepped
    assert "9 more at once" in run.train_function.source


def test_equal_layers_that_read_the_same_array_are_done_at_once():
    def heads():
        x = Input((6,), name="shared")
        return Model(x, Add()([Dense(5, activation="relu")(x) for _ in range(10)]))

    (_, stepped), (run, told) = (trained(heads, 4, watched=w) for w in (True, False))
    assert told == stepped
    source = run.train_function.source
    assert source.count("np.matmul(shared, all_") == 1
    assert source.count("np.matmul(") == 3  # forward, the gradients of kernels, and of biases
    assert "np.dot(" not in source


def test_single_numbers_are_no_stack():
    """NumPy's negative of 8-byte numbers that lie 64 bytes apart reads others (2.4)."""
    rng = np.random.default_rng(0)
    xs = [K.placeholder((1, 1), dtype="float64") for _ in range(9)]
    function = K.function(xs, [-K.exp(x) for x in xs])
    arrays = [rng.normal(size=(1, 1)) for _ in xs]
    for _ in range(5):
        for x, y in zip(arrays, function(arrays), strict=True):
            assert y == -np.exp(x)


def test_the_lines_of_a_stack_stand_before_who_asks_a_view_of_them_as_a_condition():
    def make():
        xs = [K.placeholder((4,), name=f"x{i}") for i in range(10)]
        ways = [K.exp, K.tanh, K.sigmoid, K.sin, K.cos, K.softplus, K.elu, K.sqrt, K.softsign]
        flags = [K.maximum(way(x), 0.5) - 0.5 for way, x in zip([*ways, K.exp], xs, strict=True)]
        conditions = [flag[0] for flag in flags]
        y = xs[0] * 0.0
        for i in reversed(range(10)):
            y = K.switch(conditions[i], K.square(xs[i] * 3 + i), y)
        return K.function(xs, [y, *conditions]), []

    rng = np.random.default_rng(0)
    calls = [[rng.uniform(-1.5, 1, 4).astype("f4") for _ in range(10)] for _ in range(12)]
    same_stepped_and_run(make, calls)


@holds_for(st.lists(st.sampled_from([None, 1, 2]), max_size=8), few=100, many=400)
def test_the_longest_run_has_equal_gaps_and_none_is_longer(gaps):
    def is_run(first, last):
        return None not in gaps[first:last] and len(set(gaps[first:last])) == 1

    ends = [(i, j) for i in range(len(gaps)) for j in range(i + 1, len(gaps) + 1) if is_run(i, j)]
    start, count = longest_run(gaps)
    if ends:
        assert (start, start + count - 1) in ends
        assert count - 1 == max(j - i for i, j in ends)  # as many things as gaps, and one
    else:
        assert (start, count) == (0, 0)
