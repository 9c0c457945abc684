"""Rules that write a line otherwise, or leave it out: what they say, and that no bit changes."""

import numpy as np
import pytest

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.ops.nn import ReluSlope
from kerascope.backend.program.rules import RULES
from kerascope.layers import Dense
from kerascope.models import Sequential

ROWS = 8


def compiled(outputs, inputs, arrays, rewrites=None):
    """Return a function whose program is written, and what it returned."""
    function = K.function(inputs, outputs, rewrites=rewrites)
    for _ in range(3):
        results = function(arrays)
    return function, results


def assert_same_bits(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(np.isnan(a), np.isnan(b))
        a, b = (np.where(np.isnan(x), 0, x) for x in (a, b))
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(np.signbit(a), np.signbit(b))


ODD = np.array([-np.inf, -3, -1, -0.5, -0.0, 0, 0.5, 1, 1.0000001, 3, np.inf, np.nan], "f4")


@pytest.mark.parametrize("bounds", [(-1, 1), (0, 1), (-0.0, 0.5), (0.5, 0.5), (1, -1), (None, 0)])
def test_the_slope_of_clip_is_asked_of_the_clipped_numbers(bounds):
    x = K.placeholder((len(ODD),))
    y = K.clip(x, *bounds)
    outputs = [y, K.gradients(K.sum(y * y), x)[0]]
    function, found = compiled(outputs, [x], [ODD])
    _, expected = compiled(outputs, [x], [ODD], rewrites=())
    assert_same_bits(found, expected)
    assert "np.equal(" in function.source
    assert "greater_equal" not in function.source


def test_a_comparison_with_other_bounds_stays():
    x = K.placeholder((len(ODD),))
    between = K.cast(K.logical_and(x >= 0.0, x <= 2.0), "float32")
    function, _ = compiled([K.clip(x, 0.0, 1.0) * between], [x], [ODD])
    assert "np.greater_equal(" in function.source


def test_the_slope_of_clip_where_the_size_depends_on_numbers():
    size = K.placeholder((), dtype="int32")
    x = K.arange(size, dtype="float32")
    y = K.clip(x, 1.0, 3.0)
    function, found = compiled([K.gradients(K.sum(y * y), x)[0]], [size], [np.int32(5)])
    assert_same_bits(found, [np.array([0, 2, 4, 6, 0], "f4")])
    assert function([np.int32(2)])[0].tolist() == [0.0, 2.0]


TINY = np.array([1e-45, -1e-45, 1e-38, -1e-38], "f4")  # below the smallest normal number
RELUS = [(0, None, 0), (0.1, None, 0), (1, None, 0), (3, None, 0), (0, 1, 0), (0.1, 1, 0)]
OTHER_RELUS = [(-0.1, None, 0), (0, None, 0.5), (0, None, -0.5), (0.1, 0, 0), (0, 1e-50, 0)]


def slope_and_relu(alpha, top, threshold, dtype="float32"):
    x = K.placeholder((len(ODD) + len(TINY),), dtype=dtype)
    y = K.relu(x, alpha, top, threshold)
    return x, [y, K.gradients(K.sum(y * y), x)[0], K.gradients(K.sum(y), x)[0]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("relu", [*RELUS, *OTHER_RELUS])
def test_the_slope_of_relu_is_asked_of_its_output(relu, dtype):
    x, outputs = slope_and_relu(*relu, dtype)
    with np.errstate(over="ignore"):
        array = np.concatenate([ODD, TINY]).astype(dtype)
    function, found = compiled(outputs, [x], [array])
    _, expected = compiled(outputs, [x], [array], rewrites=())
    assert_same_bits(found, expected)
    with K.name_scope("stepped"), ks.trace():
        assert_same_bits(function([array]), expected)


@pytest.mark.parametrize("relu", [*RELUS, *OTHER_RELUS])
def test_when_the_slope_of_relu_can_be_asked_of_its_output(relu):
    x, outputs = slope_and_relu(*relu)
    function, _ = compiled(outputs, [x], [np.concatenate([ODD, TINY])])
    line = function.programs[-1].draft().plan.bound
    (slope,) = [one for one in line.lines if one.op.name == "relu_slope"]
    assert (line.makers.get(slope.inputs[0]) is not None) == (relu in RELUS)


def test_the_input_of_relu_is_forgotten_at_once():
    x, w = K.placeholder((64, 64)), K.variable(np.eye(64))
    y = x
    for _ in range(8):
        y = K.relu(K.dot(y, w))
    outputs, arrays = [K.gradients(K.sum(y), x)[0]], [np.ones((64, 64), "f4")]
    others = [name for name in RULES if name != "ask_output_of_relu"]
    sizes = [
        compiled(outputs, [x], arrays, rewrites=names)[0].programs[-1].n_bytes
        for names in (RULES, others)
    ]
    assert sizes[0] <= 11 * 64 * 64 * 4
    assert sizes[0] <= sizes[1]


def test_a_relu_that_is_computed_only_now_and_then_is_not_asked():
    phase, x = K.placeholder(()), K.placeholder((len(ODD),))
    slope = ReluSlope(0.0, None, 0.0)(x)
    y = K.switch(K.sum(x[:3]) * phase > 0, K.relu(x), x) + slope
    for condition in (1.0, 0.0, -1.0):
        arrays = [np.float32(condition), np.abs(ODD[1:-2]).repeat(2)[: len(ODD)]]
        _, found = compiled([y], [phase, x], arrays)
        _, expected = compiled([y], [phase, x], arrays, rewrites=())
        assert_same_bits(found, expected)


def test_adding_what_was_negated_is_subtracting():
    x, y = K.placeholder((len(ODD),)), K.placeholder((len(ODD),))
    for z in (-x + y, y + -x, -x + -y):
        function, found = compiled([z], [x, y], [ODD, ODD[::-1].copy()])
        _, expected = compiled([z], [x, y], [ODD, ODD[::-1].copy()], rewrites=())
        assert_same_bits(found, expected)
        assert "np.subtract(" in function.source
        assert "np.add(" not in function.source


def test_a_mean_of_single_numbers_is_cheap_and_the_same():
    x = K.placeholder((len(ODD), 1))
    function, found = compiled([K.mean(x, axis=-1)], [x], [ODD[:, None]])
    assert_same_bits(found, [np.where(ODD == 0, np.float32(0), ODD)])
    assert "reduce" not in function.source


def model_of(seed=0):
    K.clear_session()
    np.random.seed(seed)
    model = Sequential([Dense(5, activation="relu", input_shape=(3,)), Dense(1)])
    model.compile("rmsprop", "mse")
    return model


def data():
    rng = np.random.default_rng(1)
    return rng.normal(size=(ROWS, 3)).astype("f4"), rng.normal(size=(ROWS, 1)).astype("f4")


def test_weights_of_samples_that_nobody_gave_cost_nothing():
    x, y = data()
    weights = np.linspace(0, 2, ROWS)
    plain, stepped, weighted = model_of(), model_of(), model_of()
    for _ in range(4):
        loss = plain.train_on_batch(x, y)
        with ks.trace():
            assert stepped.train_on_batch(x, y) == loss
    assert "(dense_2_sample_weights" not in plain.train_function.source
    assert ", dense_2_sample_weights," not in plain.train_function.source
    for _ in range(4):
        weighted.train_on_batch(x, y, sample_weight=weights)
    assert ", dense_2_sample_weights," in weighted.train_function.source
    for a, b in zip(plain.get_weights(), stepped.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(plain.get_weights()[0], weighted.get_weights()[0])


def test_weights_that_are_given_now_and_then_always_count():
    x, y = data()
    weights = np.linspace(0, 2, ROWS)
    given = [None, None, None, weights, None, weights, weights, np.ones(ROWS), None]
    run, stepped = model_of(), model_of()
    for weight in given:
        loss = run.train_on_batch(x, y, sample_weight=weight)
        with ks.trace():
            assert stepped.train_on_batch(x, y, sample_weight=weight) == loss
    for a, b in zip(run.get_weights(), stepped.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_fit_knows_that_nobody_gave_weights():
    x, y = data()
    model = model_of()
    model.fit(x, y, batch_size=4, epochs=3, verbose=0)
    assert ", dense_2_sample_weights," not in model.train_function.source
    model.fit(x, y, batch_size=4, epochs=3, verbose=0, class_weight=None, shuffle=False)
    assert len(model.train_function.programs) == 1


def test_every_rule_has_a_name_that_can_be_chosen():
    x = K.placeholder((4,))
    for name in RULES:
        _, found = compiled([-x + K.clip(x, 0.0, 1.0)], [x], [np.ones(4, "f4")], rewrites=[name])
        np.testing.assert_array_equal(found[0], np.zeros(4))


LEFT_OUT = {
    "constant": ("exp", lambda x, c: x * K.exp(K.constant([1.0, 2.0]))),
    "identity": ("identity", lambda x, c: K.exp(K.identity(x))),
    "times one": ("multiply", lambda x, c: (x + 1.0) * K.ones_like(x)),
    "transposed twice": ("transpose", lambda x, c: K.transpose(K.transpose(K.exp(x)))),
    "computed before": ("exp", lambda x, c: K.exp(x) * K.exp(x)),
    "branch known": ("switch", lambda x, c: K.switch(c, K.exp(x), K.tanh(x))),
    "branch not taken": ("tanh", lambda x, c: K.switch(c, K.exp(x), K.tanh(x))),
    "not used any more": ("exp", lambda x, c: x * K.ones_like(K.exp(x))),
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_of_a_step_that_is_left_out_the_reason_is_told(reason):
    op, make = LEFT_OUT[reason]
    x, c = K.placeholder((3, 2)), K.placeholder(())
    arrays = [np.linspace(-1, 1, 6, dtype="f4").reshape(3, 2), np.float32(1)]
    explanation = compiled([make(x, c)], [x, c], arrays)[0].explain()
    rows = [row for row in explanation.rows if row.step.startswith(f"{op}(") and row.line is None]
    assert [(row.written_as, row.memory) for row in rows][-1:] == [(f"({reason})", "")]
    plain = compiled([make(x, c)], [x, c], arrays, rewrites=())[0].explain()
    assert all(row.line or "view" in row.memory for row in plain.rows if f"{op}(" in row.step)
