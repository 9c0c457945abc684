"""Measuring a program line by line: what stands for what, and that nothing is changed by it.

No test here depends on how long anything takes: the clock is a counter.
"""

import io
from contextlib import redirect_stdout

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.program import dispatch
from kerascope.backend.program.profiling import (
    PHASES,
    TRIALS,
    cost_of,
    differences,
    lines_of,
    measure,
    statements_of,
    with_clock,
    without_calls,
)
from kerascope.backend.program.program import Program
from kerascope.engine.feeding import training_arrays
from kerascope.errors import ArgumentError, DataError, ShapeError
from kerascope.layers import BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model, Sequential

BATCH = 4


class Ticks:
    """A clock whose every reading comes later by a nanosecond more than the one before."""

    def __init__(self, fails_at=None):
        self.readings = 0
        self.fails_at = fails_at

    def __call__(self):
        self.readings += 1
        if self.readings == self.fails_at:
            raise RuntimeError("the clock broke")
        return self.readings * (self.readings + 1) // 2


@pytest.fixture(autouse=True)
def _fresh():
    K.clear_session()
    np.random.seed(0)


def small_model():
    x = Input((3,), name="x")
    hidden = Dropout(0.5, name="mix")(Dense(5, activation="relu", name="hidden")(x))
    model = Model(x, Dense(1, name="out")(BatchNormalization(name="even")(hidden)), name="small")
    model.compile("adam", "mse", metrics=["mae"])
    return model


def batch_of(model, seed=0):
    rng = np.random.default_rng(seed)
    x = [made_for(tensor, rng) for tensor in model.inputs]
    y = [rng.random((BATCH, *(n or 3 for n in t.shape[1:])), "f4") for t in model.outputs]
    return x, y


def made_for(tensor, rng):
    shape = (BATCH, *(n or 3 for n in tensor.shape[1:]))
    return rng.random(shape, "f4") if tensor.dtype.startswith("f") else rng.integers(0, 3, shape)


def bits(function):
    tensors = [variable for _, variable in function.schedule.variables]
    tensors += [update.variable for update in function.updates]
    return [(v.name, v.get_value().tobytes()) for v in dict.fromkeys(tensors)]


def measured_model(model, calls=2, **options):
    x, y = batch_of(model)
    for _ in range(calls):
        model.train_on_batch(x, y)
    model._make_train_function()
    inputs = training_arrays(model, x, y, None, None, 1.0, "test")
    options = {"repeats": 2, "clock": Ticks(), **options}
    return measure(model.train_function, inputs, **options)


# --- the clock ------------------------------------------------------------------------------------


def test_the_clock_is_read_around_every_statement_and_its_cost_is_known():
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x) + 1])
    for _ in range(3):
        function([[1.0, 2.0]])
    source = function.programs[-1].draft().source
    clock = Ticks()
    readings = with_clock(source, clock)(np.ones(2, "f4"))
    assert clock.readings == len(readings) == len(statements_of(source)) + 1
    assert differences([1, 4, 9]) == [3, 5]
    assert cost_of(Ticks()) == (2 + TRIALS + 1) / 2


def test_the_copy_without_calls_computes_nothing():
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x) + 1])
    for _ in range(3):
        function([[1.0, 2.0]])
    draft = function.programs[-1].draft()
    before = {slot: array.tobytes() for slot, array in draft.memory.arrays.items()}
    without_calls(draft.source)(np.full(2, 5, "f4"))
    assert before == {slot: array.tobytes() for slot, array in draft.memory.arrays.items()}


def test_times_are_medians_less_the_cost_of_the_clock():
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x)])
    once, thrice = (measure(function, [np.ones(2)], repeats=n, clock=Ticks()) for n in (1, 3))
    (first, last), cost = once.lines, (2 + TRIALS + 1) / 2
    readings_of_a_call = 3 + 2 + 2  # measured, plain, without calls
    # cost_of reads TRIALS + 1 times, a call warms up; then come the readings around the first line
    start = TRIALS + 1 + readings_of_a_call
    assert first.seconds == pytest.approx((start + 2 - cost) * 1e-9)
    assert last.seconds == pytest.approx((start + 3 - cost) * 1e-9)
    assert thrice.lines[0].seconds == pytest.approx(first.seconds + readings_of_a_call * 1e-9)


def test_as_many_calls_are_measured_as_fit_into_the_time():
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x)])
    few = measure(function, [np.ones(2)], seconds=0.0, clock=Ticks()).calls
    many = measure(function, [np.ones(2)], seconds=100.0, clock=Ticks()).calls
    assert (few, many) == (5, 1000)


# --- what stands for what -------------------------------------------------------------------------


def test_lines_of_a_training_step_have_their_layers_and_phases():
    found = measured_model(small_model())
    seen = {(line.phase, line.layer, line.op) for line in found.lines}
    assert ("forward", "hidden", "dot") in seen
    assert ("backward", "hidden", "dot") in seen
    assert ("update", "hidden", "update") in seen
    assert ("forward", "mix", "random_binomial") in seen
    assert ("update", "even", "commit") in seen  # the moving averages
    assert ("update", "optimizer", "commit") in seen  # the count of steps
    assert ("loss", "out_loss", "square") in seen
    assert ("metrics", "out_metrics", "abs") in seen or (
        "metrics",
        "out_metrics",
        "absolute",
    ) in seen
    assert ("return", "", "return") in seen
    assert list(dict.fromkeys(line.phase for line in found.lines if line.phase != "update")) == [
        "forward", "loss", "metrics", "backward", "return",
    ]  # fmt: skip
    assert found.inputs == ((BATCH, 3), (BATCH, 1), (BATCH,), ())


def test_every_line_of_the_text_is_measured():
    model = small_model()
    found = measured_model(model)
    draft = model.train_function.programs[-1].draft()
    statements = statements_of(draft.source)
    assert {line.line for line in found.lines} == {statement.lineno for statement in statements}
    ops = {line.name for line in found.lines if line.definition is not None}
    positions = draft.source.line_numbers
    assert ops == {draft.plan.bound.lines[at].step.apply.name for at in positions}


def test_the_share_of_a_weight_in_the_update_goes_by_its_size():
    found = measured_model(small_model())
    times = {line.name: line.seconds for line in found.lines if line.op == "update"}
    assert times["update/hidden/kernel"] == pytest.approx(3 * times["update/hidden/bias"])


def test_memory_tells_what_is_used_again():
    found = measured_model(small_model())
    memories = {line.memory.partition(":")[0] for line in found.lines}
    assert {"own", "again", "beside its kind", "in place", "each call"} <= memories
    assert found.planned < found.needed
    assert all(line.n_bytes == 0 for line in found.lines if line.memory == "view")
    dot = next(line for line in found.lines if line.name == "hidden/dot")
    assert dot.n_bytes == 4 * BATCH * 5
    assert dot.traffic == 4 * (BATCH * 3 + 3 * 5 + BATCH * 5)


# --- nothing changes ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_model_of_the_zoo_is_measured_and_left_as_it_was(name):
    model = ZOO[name]()
    model.compile("adam", "mse", metrics=["mae"])
    x, y = batch_of(model)
    for _ in range(2):
        model.train_on_batch(x, y)
    before = bits(model.train_function)
    inputs = training_arrays(model, x, y, None, None, 1.0, "test")
    found = measure(model.train_function, inputs, repeats=2, clock=Ticks())
    assert bits(model.train_function) == before
    assert found.seconds == pytest.approx(sum(line.seconds for line in found.lines))
    assert all(line.seconds >= 0 for line in found.lines)
    assert {line.phase for line in found.lines} <= set(PHASES)
    assert found.python is not None


def test_training_goes_on_as_if_nothing_had_been_measured():
    def losses(with_profile):
        K.clear_session()
        np.random.seed(3)
        model = small_model()
        x, y = batch_of(model)
        told = []
        for step in range(6):
            told.append(np.ravel(model.train_on_batch(x, y)).tobytes())
            if with_profile and step in (0, 3):
                inputs = training_arrays(model, x, y, None, None, 1.0, "test")
                measure(model.train_function, inputs, repeats=3, clock=Ticks())
        return told, [w.tobytes() for w in model.get_weights()]

    assert losses(True) == losses(False)


def test_what_is_measured_computes_as_a_call_does(monkeypatch):
    x = K.placeholder((2,))
    function = K.function([x], [K.log(x * 1e-30)], name="mine")
    given = np.array([1e-12, 0.0], "float32")
    for _ in range(3):
        (expected,) = function([given])
    drafts = []
    write = Program.draft
    monkeypatch.setattr(Program, "draft", lambda self: drafts.append(write(self)) or drafts[-1])
    measure(function, [given], repeats=1, clock=Ticks())
    (draft,) = drafts
    (slot,) = draft.plan.outputs
    assert draft.memory.arrays[slot].tobytes() == expected.tobytes()


def test_who_holds_an_array_of_a_variable_never_sees_it_change():
    model = small_model()
    measured_model(model)
    variable = model.trainable_weights[0]
    lent = variable.get_value(borrow=True)
    before = lent.copy()
    measured_model(model, calls=0)
    np.testing.assert_array_equal(lent, before)
    np.testing.assert_array_equal(variable.get_value(), before)


@pytest.mark.parametrize("reading", [1, TRIALS + 5, TRIALS + 60])
def test_a_measurement_that_fails_half_way_changes_nothing(reading):
    model = small_model()
    x, y = batch_of(model)
    for _ in range(3):
        model.train_on_batch(x, y)
    before = bits(model.train_function)
    with pytest.raises(RuntimeError, match="the clock broke"):
        measured_model(model, calls=0, clock=Ticks(fails_at=reading))
    assert bits(model.train_function) == before


def test_what_ops_print_is_not_printed_again():
    x = K.placeholder((2,))
    function = K.function([x], [K.print_tensor(x, "x is ") + 1])
    with redirect_stdout(io.StringIO()) as said:
        measure(function, [np.ones(2)], repeats=3, clock=Ticks())
    assert said.getvalue() == ""


# --- on what --------------------------------------------------------------------------------------


def test_a_function_that_was_never_called_is_measured_on_given_arrays():
    w = K.variable(1.0)
    x = K.placeholder((None, 2))
    function = K.function([x], [K.sum(x)], updates=[(w, w + 1)])
    found = measure(function, [np.ones((3, 2))], repeats=1, clock=Ticks())
    assert found.inputs == ((3, 2),)
    assert not found.are_made_up
    assert K.get_value(w) == 1


def test_without_arrays_numbers_are_made_up_in_the_shapes_that_came_last():
    model = small_model()
    measured_model(model)
    found = measure(model.train_function, repeats=1, clock=Ticks())
    assert found.are_made_up
    assert found.inputs == ((BATCH, 3), (BATCH, 1), (BATCH,), ())


def test_whole_numbers_are_made_up_so_that_every_embedding_has_them():
    model = Sequential([ks.layers.Embedding(7, 2, input_length=3), ks.layers.Flatten(), Dense(1)])
    model.compile("sgd", "mse")
    for _ in range(2):
        model.train_on_batch(np.full((4, 3), 6), np.zeros((4, 1)))
    assert measure(model.train_function, repeats=1, clock=Ticks()).inputs[0] == (4, 3)


def test_each_shape_and_each_phase_has_its_own_program():
    model = small_model()
    measured_model(model)
    x = np.ones((9, 3), "f4")
    model.predict_on_batch(x)
    function = model.predict_function
    test = measure(function, [x, 0.0], repeats=1, clock=Ticks())
    training = measure(function, [x, 1.0], repeats=1, clock=Ticks())
    assert test.inputs[0] == (9, 3)
    assert "random_binomial" not in {line.op for line in test.lines}
    assert "random_binomial" in {line.op for line in training.lines}


def test_what_cannot_be_measured_says_so(monkeypatch):
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x)], name="mine")
    with pytest.raises(ArgumentError, match="mine: there is nothing to profile yet"):
        measure(function)
    with pytest.raises(DataError, match="expected 1 arrays.*got 2"):
        measure(function, [np.ones(2), np.ones(2)])
    with pytest.raises(ShapeError, match="expected"):
        measure(function, [np.ones(3)])
    for wrong in (0, -1, 2.5):
        with pytest.raises(ArgumentError, match="expected 1 or more calls"):
            measure(function, [np.ones(2)], repeats=wrong)
    monkeypatch.setattr(dispatch, "MOST_STEPS", 0)
    with pytest.raises(ArgumentError, match="mine: no program to profile"):
        measure(K.function([x], [K.exp(x)], name="mine"), [np.ones(2)])


def test_the_times_of_all_lines_are_together_those_of_all_statements():
    model = small_model()
    measured_model(model)
    draft = model.train_function.programs[-1].draft()
    seconds = [float(number + 1) for number, _ in enumerate(statements_of(draft.source))]
    lines = list(lines_of(draft, seconds))
    assert sum(line.seconds for line in lines) == pytest.approx(sum(seconds))
