"""Corners of the fast road, each of which once gave other numbers than stepping, or none."""

import copy
import threading
from dataclasses import dataclass

import numpy as np
import pytest
from two_roads import CALLS, same_stepped_and_run

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.backend.program.dispatch import CALLS_BEFORE, MOST_PROGRAMS
from kerascope.errors import DataError
from kerascope.layers import Dense
from kerascope.models import Sequential, model_from_json


def test_an_input_that_is_a_condition_is_also_a_number():
    def make():
        c, x = K.placeholder(()), K.placeholder((2,))
        return K.function([c, x], [K.switch(c, K.exp(x), x), c * 3]), []

    x = np.ones(2, "f4")
    told = same_stepped_and_run(make, [[c, x] for c in (1, 1, 1, 2, 0.5, 0, 0, 0)])
    assert [row[1] for row in told] == [3, 3, 3, 6, 1.5, 0, 0, 0]


class Seven(Op):
    def infer_shape(self):
        return (2,)

    def infer_dtype(self):
        return "float32"

    def perform(self):
        return np.full(2, 7, "f4")


def test_an_op_without_inputs():
    assert same_stepped_and_run(lambda: (K.function([], [Seven()() + 1]), []))[-1] == [[8.0, 8.0]]


def test_one_weight_that_is_only_multiplied():
    def make():
        v = K.variable([1.0, 2.0], name="v")
        with K.name_scope("update/v"):
            new = v * 2.0
        return K.function([], [], [(v, new)]), [v]

    assert same_stepped_and_run(make)[-1] == [[2.0**CALLS, 2.0 ** (CALLS + 1)]]


def test_an_update_that_reads_a_weight_which_is_updated_before():
    def make():
        a, b = K.variable([1.0, 2.0], name="a"), K.variable([3.0, 4.0], name="b")
        with K.name_scope("update/b"):
            new_b = b * 2.0 - 1.0
        with K.name_scope("update/a"):
            new_a = a + b * 0.5
        return K.function([], [], [(b, new_b), (a, new_a)]), [a, b]

    same_stepped_and_run(make)


@pytest.mark.parametrize("rewrites", [None, ()])
def test_one_gradient_of_several_weights(rewrites):
    def make():
        weights = [K.variable([1.0 * n, 2.0], name=f"w{n}") for n in range(3)]
        loss = K.sum(K.square(weights[0] + weights[1] + weights[2]))
        updates = []
        for number, (v, g) in enumerate(zip(weights, K.gradients(loss, weights), strict=True)):
            with K.name_scope(f"update/{v.name}"):
                updates.append((v, v - 0.01 * g if number else K.square(v - 0.01 * g)))
        return K.function([], [loss], updates, rewrites=rewrites), weights

    same_stepped_and_run(make)


class Noise(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x + np.random.default_rng().random(x.shape).astype(x.dtype)


@dataclass(frozen=True)
class Keep(Op):
    kept: list

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        self.kept.append(x)
        return x


class FastRoadIsWrong(Op):
    """Twice its input; what a program calls instead of `perform` does not work."""

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x + x

    def kernel(self, inputs, outputs):
        def compute(out, x):
            out[...] = x
            raise ValueError("no luck with this")

        return compute


def test_a_program_that_fails_is_given_up_with_one_warning_and_no_call_is_lost():
    x, calls = K.placeholder((None,)), K.variable(0.0)
    function = K.function([x], [FastRoadIsWrong()(x), calls], [(calls, calls + 1)], name="twice")

    def told(n):
        first, second = function([np.arange(n, dtype="f4")])
        assert first.tolist() == [2.0 * k for k in range(n)]
        return float(second)

    assert [told(3) for _ in range(CALLS_BEFORE + 1)] == list(range(CALLS_BEFORE + 1))
    with pytest.warns(RuntimeWarning, match="^twice: its NumPy program failed .*no luck with this"):
        assert told(3) == CALLS_BEFORE + 1
    assert function.programs == []
    before = calls.get_value()
    assert [told(3) - before for _ in range(CALLS)] == list(range(CALLS))  # and nobody warns
    assert function.programs == []


def test_an_op_of_somebody_else_may_be_random_and_keep_its_arrays():
    kept = []
    x = K.placeholder((2,))
    function = K.function([x], [Noise()(x) - Noise()(x), Keep(kept)(K.exp(x)) * 2])
    for number in range(CALLS):
        assert (function([np.full(2, number, "f4")])[0] != 0).any()
    assert [array[0] for array in kept] == [np.exp(np.float32(n)) for n in range(CALLS)]


@pytest.mark.parametrize("name", ["a\n    raise SystemExit\n    #", "x\u00b2", "\ufb01", "输入"])
def test_names_that_are_no_python_are_never_run_as_such(name):
    model = Sequential([Dense(2, input_shape=(3,), name="plain")])
    config = model.to_json().replace('"plain"', __import__("json").dumps(name))
    model = model_from_json(config)
    told = [model.predict_on_batch(np.ones((2, 3))).tolist() for _ in range(CALLS)]
    assert told == told[:1] * CALLS
    assert model.predict_function.programs


@pytest.mark.parametrize("name", ["outputs", "t0", "np", "given", "__debug__", "lambda", "½"])
def test_names_that_mean_something_in_a_program(name):
    def make():
        v, w = K.variable([1.0, 2.0], name=name), K.variable([0.5, 0.5], name="w")
        with K.name_scope("update/w"):
            new = w - 0.5 * (v * w) * w
        return K.function([], [v * 2], [(v, v + 1), (w, new)], name=name), [v, w]

    same_stepped_and_run(make)


def test_clips_that_differ_in_the_sign_of_zero_are_two():
    def make():
        x = K.placeholder((2,))
        return K.function([x], [1 / K.clip(x, -0.0, 1.0), 1 / K.clip(x, 0.0, 1.0)]), []

    same_stepped_and_run(make, [[np.array([-1.0, 2.0], "f4")]] * CALLS)


def test_very_many_shapes_do_not_cost_a_program_each_time():
    x = K.placeholder((None,))
    function = K.function([x], [x + 1])
    for _ in range(12):
        for rows in range(MOST_PROGRAMS + 1):
            function([np.ones(rows, "f4")])
    before = {id(program) for program in function.programs}
    for rows in range(MOST_PROGRAMS + 1):
        function([np.ones(rows, "f4")])
    assert len(before & {id(program) for program in function.programs}) > MOST_PROGRAMS - 3


def test_a_copy_of_a_function_writes_its_own_programs():
    v = K.variable([1.0])
    function = K.function([], [v * 2], [(v, v + 1)])
    for _ in range(CALLS):
        function([])
    copied = copy.deepcopy(function)
    assert copied.programs == []
    for number in range(CALLS):
        assert copied([])[0].tolist() == [2.0 * (1 + CALLS + number)]
    assert v.get_value().tolist() == [1.0 + CALLS]


def test_fit_in_one_thread_and_borrowing_in_another():
    model = Sequential([Dense(8, activation="relu", input_shape=(4,)), Dense(1)])
    model.compile("adam", "mse")
    x, y = np.ones((8, 4), "f4"), np.ones((8, 1), "f4")
    for _ in range(CALLS):
        model.train_on_batch(x, y)
    done, changed, errors = threading.Event(), [], []

    def borrow():
        while not done.is_set():
            borrowed = [w.get_value(borrow=True) for w in model.weights]
            copies = [array.copy() for array in borrowed]
            model.predict_on_batch(x[:3])
            changed.extend(1 for a, b in zip(borrowed, copies, strict=True) if (a != b).any())

    thread = threading.Thread(target=borrow)
    thread.start()
    try:
        for _ in range(200):
            model.train_on_batch(x, y)
    except Exception as error:
        errors.append(error)
    finally:
        done.set()
        thread.join()
    assert not errors
    assert not changed


def test_several_weights_may_read_one_variable_that_changes_meanwhile():
    def make():
        scale = K.variable([1.0, 2.0], name="scale")
        weights = [K.variable([1.0, 1.0], name=f"w{n}") for n in range(3)]
        updates = []
        for w in weights:
            with K.name_scope(f"update/{w.name}"):
                updates.append((w, w * 0.5 + scale))
        return K.function([], [], [*updates, (scale, scale * 2.0)]), [scale, *weights]

    same_stepped_and_run(make)
    function, (scale, *weights) = make()
    for number in range(CALLS):
        K.set_value(scale, [float(number), 0.0])
        before = weights[0].get_value()
        function([])
        for w in weights:
            assert w.get_value().tolist() == (before * 0.5 + [number, 0.0]).tolist()


def test_a_wrong_index_is_refused_though_only_the_gradient_is_read():
    w, places = K.variable(np.ones((3, 2))), K.placeholder((2,), dtype="int32")
    (gradient,) = K.gradients(K.sum(K.gather(w, places)), [w])
    function = K.function([places], [gradient])
    for _ in range(CALLS_BEFORE + 3):
        assert function([[0, 2]])[0].tolist() == [[1, 1], [0, 0], [1, 1]]
    assert function.programs
    with pytest.raises(DataError, match="got 7"):
        function([[0, 7]])
