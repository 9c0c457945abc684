"""`K.function(..., verify=True)`: program and steps at each call, compared before it counts."""

import functools
import itertools

import numpy as np
import pytest
from planted_faults import (
    SOON,
    a_sum_over_the_steps_does_not_begin_with_zero,
    unchecked,
)
from random_programs import Recipe, difference, recipe
from zoo import ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope import initializers
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.graph import Op
from kerascope.backend.program import emit, flat
from kerascope.backend.program.checks import are_same, own_failure
from kerascope.backend.program.loops import plan, run
from kerascope.backend.program.verified import VerifiedProgram
from kerascope.errors import ArgumentError, VerificationError
from kerascope.optimizers import Adam

CALLS = 4
ROWS = np.arange(6.0, dtype="float32").reshape(2, 3)


def swapped(patch, module):
    """Let a module write subtractions the wrong way round."""
    right = module.call_of

    def wrong(ufunc, operands, out):
        if ufunc is np.subtract:
            operands = ", ".join(reversed(operands.split(", ")))
        return right(ufunc, operands, out)

    patch.setattr(module, "call_of", wrong)


def subtracting(verify=True):
    """A function with a subtraction in its middle, and the variable that it writes."""
    x, w = K.placeholder((None, 3)), K.variable(np.full((3, 2), 0.5))
    product = K.exp(K.dot(x, w))
    difference = product - K.sum(product)
    return K.function([x], [K.tanh(difference)], [(w, w * 0.9)], verify=verify), w, difference


# --- where both agree -----------------------------------------------------------------------------


def test_verified_functions_give_what_the_steps_give():
    for seed in range(40):
        given = recipe(seed)
        assert difference(given, verify=True) is None, seed


@pytest.mark.slow
def test_a_thousand_verified_functions():
    for seed in range(1000):
        assert difference(recipe(seed), verify=True) is None, seed


def trained(name):
    K.clear_session()
    np.random.seed(0)
    model = ZOO[name]()
    model.compile("adam", "mse")
    rng = np.random.default_rng(0)
    x = [rng.random((4, *(n or 3 for n in t.shape[1:])), "f4") for t in model.inputs]
    y = [rng.random((4, *(n or 3 for n in t.shape[1:])), "f4") for t in model.outputs]
    for _ in range(CALLS):
        model.train_on_batch(x, y)
    return model


@pytest.mark.parametrize("name", ["transformer", "bidirectional", "siamese"])
def test_a_model_trains_verified_as_ever(name, monkeypatch):
    usual = trained(name)
    monkeypatch.setenv("KERASCOPE_VERIFY", "1")
    verified = trained(name)
    programs = verified.train_function.programs
    assert programs
    assert all(isinstance(program, VerifiedProgram) for program in programs)
    for one, other in zip(usual.get_weights(), verified.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_draws_go_on_as_ever():
    def drawn(verify):
        K.clear_session()
        function = K.function([], [K.random_normal((3,), seed=5)], verify=verify)
        return [function([])[0].tolist() for _ in range(5)]

    assert drawn(True) == drawn(False)


# --- where they differ ----------------------------------------------------------------------------


def test_the_first_step_that_differs_is_named_and_nothing_is_written(monkeypatch):
    swapped(monkeypatch, emit)
    function, w, tensor = subtracting()
    function([ROWS])  # the first call is stepped
    before = w.get_value()
    for _ in range(3):
        with pytest.raises(VerificationError, match="differ in 'subtract'") as caught:
            function([ROWS])
        np.testing.assert_array_equal(w.get_value(), before)
    error = caught.value
    assert error.step is tensor.owner
    assert error.got.shape == error.expected.shape == (2, 2)
    np.testing.assert_array_equal(error.got, -error.expected)
    assert "the program has" in str(error)


def test_without_it_the_same_fault_goes_unseen(monkeypatch):
    swapped(monkeypatch, emit)
    function, _, _ = subtracting(verify=False)
    for _ in range(CALLS):
        function([ROWS])


def test_a_new_value_that_differs_is_named(monkeypatch):
    swapped(monkeypatch, flat)
    x, w = K.placeholder((None, 3)), K.variable(np.full((3, 2), 0.5), name="kernel")
    loss = K.mean(K.square(K.dot(x, w)))
    function = K.function([x], [loss], Adam().get_updates(loss=loss, params=[w]), verify=True)
    function([ROWS])
    before = w.get_value()
    with pytest.raises(VerificationError, match="the new value of '.*Each single step agrees"):
        function([ROWS])
    np.testing.assert_array_equal(w.get_value(), before)


@pytest.mark.parametrize("fault", SOON, ids=lambda fault: fault.__name__)
def test_planted_faults_are_told(fault, monkeypatch):
    unchecked(monkeypatch)
    fault(monkeypatch)
    outcomes = (difference(recipe(seed), verify=True) for seed in range(80))
    told = next(told for told in outcomes if told is not None)
    assert "VerificationError" in told or "earlier call" in told


def test_a_program_that_fails_is_told(monkeypatch):
    def failing(self, slot):
        return "np.nonsense()"

    monkeypatch.setattr("kerascope.backend.program.source.Source._output", failing)
    function, w, _ = subtracting()
    function([ROWS])
    before = w.get_value()
    with pytest.raises(VerificationError, match="the program fails, but its steps do not"):
        function([ROWS])
    np.testing.assert_array_equal(w.get_value(), before)


def test_what_fails_stepped_too_raises_what_it_raises():
    places, w = K.placeholder((2,), dtype="int32"), K.variable(np.ones((3, 2)))
    function = K.function([places], [K.gather(w, places)], verify=True)
    for _ in range(CALLS):
        function([[0, 1]])
    with pytest.raises(ks.errors.DataError, match="got 9"):
        function([[0, 9]])


def test_an_op_of_somebody_else_that_changes_its_mind_is_said_to_be_one():
    calls = itertools.count()

    class Counts(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x + next(calls)

    x = K.placeholder((3,))
    function = K.function([x], [Counts()(x)], verify=True)
    function([np.ones(3)])
    with pytest.raises(VerificationError, match="a custom op"):
        function([np.ones(3)])


# --- inside loops ---------------------------------------------------------------------------------


def folding(make_step, verify=True):
    """A loop over four rows whose result becomes the value of a variable."""
    x, w = K.placeholder((4, 3), dtype="float64"), K.variable(np.full(3, 0.5), dtype="float64")
    total = K.foldl(make_step, x, initializer=w)
    return K.function([x], [total], [(w, total)], verify=verify), w


FOUR = np.random.default_rng(1).normal(size=(4, 3))


def told_of(function, w, array=FOUR):
    before = w.get_value()
    for _ in range(3):
        with pytest.raises(VerificationError) as caught:
            function([array])
        np.testing.assert_array_equal(w.get_value(), before)
    return caught.value


def test_an_op_inside_a_loop_is_named_with_its_step(monkeypatch):
    swapped(monkeypatch, plan)
    function, w = folding(lambda a, b: K.tanh(K.exp(a) * (a - b)))
    error = told_of(function, w)
    assert error.step.op.name == "subtract"
    assert "step 0 of 4" in str(error)
    np.testing.assert_array_equal(error.got, -error.expected)


def test_a_loop_as_it_stands_has_to_agree_in_every_bit(monkeypatch):
    right = plan.call_of

    def next_number(ufunc, operands, out):
        text = right(ufunc, operands, out)
        return f"{text}; np.nextafter({out}, np.inf, {out})" if ufunc is np.tanh else text

    monkeypatch.setattr(plan, "call_of", next_number)
    function, w = folding(lambda a, b: K.tanh(a + b))
    assert told_of(function, w).step.op.name == "tanh"


@pytest.mark.parametrize("verify", [True, False])
def test_what_a_loop_is_rewritten_to_may_differ_in_its_last_bits(verify, monkeypatch):
    monkeypatch.setenv("KERASCOPE_VERIFY", "01"[verify])
    checks = []
    right = run.check_loop
    monkeypatch.setattr(run, "check_loop", lambda *given: (checks.append(given), right(*given)))
    rng = np.random.default_rng(0)
    for kind in (ks.layers.LSTM, ks.layers.GRU, ks.layers.SimpleRNN):
        layer = kind(4, input_shape=(5, 3), go_backwards=kind is ks.layers.GRU)
        model = ks.models.Sequential([layer])
        model.compile("adam", "mse")
        for _ in range(3):
            model.train_on_batch(rng.normal(size=(6, 5, 3)), rng.normal(size=(6, 4)))
    assert bool(checks) == verify
    exact = [is_exact() for *_, is_exact, _ in checks]
    assert not any(exact)


def test_a_layer_with_a_wrong_sum_over_its_steps_does_not_train(monkeypatch):
    a_sum_over_the_steps_does_not_begin_with_zero(monkeypatch)
    monkeypatch.setenv("KERASCOPE_VERIFY", "1")
    x = K.placeholder((4, 3))
    w = K.variable(np.ones(3))
    loss = K.sum(K.foldl(lambda a, b: K.tanh(a * w + b), x))
    function = K.function([x], K.gradients(loss, [w]))
    with pytest.raises(VerificationError, match="in the sum over"):
        function([FOUR])


def test_a_loop_that_fails_where_its_interpreter_does_not_is_told(monkeypatch):
    right = plan.call_of
    monkeypatch.setattr(
        plan, "call_of", lambda *given: right(*given).replace("np.tanh", "np.nonsense")
    )
    function, w = folding(lambda a, b: K.tanh(a + b))
    assert "fails, but its interpreter does not (AttributeError" in str(told_of(function, w))


def test_where_numbers_cancel_a_loop_may_differ_as_much_as_roundings_move_it():
    x, w = K.placeholder((4, 2, 3), dtype="float32"), K.variable(np.ones((3, 3)))

    def step(a, b):
        return K.tanh(1e3 * (K.dot(b, w) - K.sum(b, -1, keepdims=True)) + a)

    function = K.function([x], [K.foldl(step, x)], verify=True)
    rows = np.random.default_rng(3).normal(size=(4, 2, 3))
    assert np.isfinite([function([rows])[0] for _ in range(3)]).all()


# --- asking for it --------------------------------------------------------------------------------


def test_the_environment_decides_where_nobody_says(monkeypatch):
    def kind(**options):
        x = K.placeholder((3,))
        function = K.function([x], [K.exp(x)], **options)
        for _ in range(CALLS):
            function([np.ones(3)])
        return type(function.programs[0])

    assert kind() is not VerifiedProgram
    for value, expected in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("KERASCOPE_VERIFY", value)
        assert (kind() is VerifiedProgram) == expected
    monkeypatch.setenv("KERASCOPE_VERIFY", "1")
    assert kind(verify=False) is not VerifiedProgram
    monkeypatch.setenv("KERASCOPE_VERIFY", "yes")
    with pytest.raises(ArgumentError, match="KERASCOPE_VERIFY: expected 0 or 1, got 'yes'"):
        kind()


def test_what_is_the_same():
    assert are_same(np.array([np.nan, 1.0]), np.array([-np.nan, 1.0]))
    assert not are_same(np.array(0.0), np.array(-0.0))
    assert not are_same(np.float32(1), np.float64(1))
    assert not are_same(np.ones(2), np.ones((2, 1)))
    assert not are_same(np.array([np.nan]), np.array([1.0]))
    assert are_same(np.zeros((0, 3), bool), np.zeros((0, 3), bool))
    tiny, zero = np.array([1e-45], "f4"), np.array([0], "f4")
    assert not with_float_settings(are_same, tiny, zero)


def test_a_recipe_is_not_changed_by_being_verified():
    assert isinstance(recipe(3), Recipe)
    assert difference(recipe(3), verify=True) is None


# --- whose error it is ----------------------------------------------------------------------------


def failure_of(fail):
    """Return why something fails, as a program's caller asks."""
    try:
        fail()
    except Exception as error:
        return own_failure(fail, error)


def test_what_our_code_in_any_folder_raises_is_a_failure_of_its_own():
    assert type(failure_of(functools.partial(initializers.get, 3.5))) is ArgumentError


def test_what_somebody_elses_code_raises_comes_from_outside():
    def fail():
        raise ArgumentError("an alarm")

    with pytest.raises(ArgumentError, match="an alarm"):
        failure_of(fail)
