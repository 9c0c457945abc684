"""What a program does at its end and at its edges, each of which once went wrong in silence."""

import warnings

import numpy as np
import pytest
from two_roads import CALLS, same_stepped_and_run

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.optimizers import SGD, Adam

BOTH = pytest.mark.parametrize("rewrites", [None, ()])
RNG = np.random.default_rng(0)


# --- the end: new values --------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [lambda: SGD(lr=0.5, momentum=0.5), Adam])
def test_a_gradient_that_is_a_view_of_another_weight_is_read_before_that_one_is_written(optimizer):
    def make():
        a = K.variable(np.arange(6.0).reshape(2, 3), name="a")
        w = K.variable(np.ones((3, 2)), name="w")
        fixed = K.stop_gradient
        loss = K.sum(a * fixed(a)) + K.sum(w * fixed(K.transpose(a)))
        return K.function([], [loss], optimizer().get_updates(loss, [a, w])), [a, w]

    same_stepped_and_run(make)


@BOTH
@pytest.mark.parametrize("number", [lambda a: a[0, 0], lambda a: K.reshape(a[0, :1], ())])
def test_a_number_that_is_a_view_of_a_weight_is_the_old_one_for_all_others(number, rewrites):
    def make():
        a = K.variable(np.arange(1, 7.0).reshape(2, 3), name="a")
        b = K.variable(np.ones((3, 2)), name="b")
        with K.name_scope("update/a"):
            new_a = a * 0.5
        with K.name_scope("update/b"):
            new_b = b - number(a) * b
        updates = [(a, new_a), (b, new_b)]
        return K.function([], [K.sum(b)], updates, rewrites=rewrites), [a, b]

    same_stepped_and_run(make)


@BOTH
def test_a_new_value_that_is_a_view_of_a_weight_in_a_group_is_the_old_one(rewrites):
    def make():
        a = K.variable(np.arange(1, 7.0).reshape(2, 3), name="a")
        b = K.variable(np.ones((3, 2)), name="b")
        with K.name_scope("update/a"):
            new_a = a * 0.5
        updates = [(a, new_a), (b, K.transpose(a))]
        return K.function([], [K.sum(b)], updates, rewrites=rewrites), [a, b]

    same_stepped_and_run(make)


@BOTH
def test_whether_a_draw_counts_is_asked_before_the_condition_gets_its_new_value(rewrites):
    def make():
        n = K.variable(3, dtype="int32")
        y = K.switch(n, K.random_normal((3,), seed=5), K.zeros((3,)))
        reset = K.placeholder((), dtype="int32")
        return K.function([reset], [y], [(n, n - 1 + reset)], rewrites=rewrites), [n]

    same_stepped_and_run(make, [[0], [0], [3], [0], [0], [0], [3], [0], [0], [0], [3], [0]])


@BOTH
def test_whether_a_draw_counts_is_asked_even_if_nothing_else_asks_for_the_condition(rewrites):
    def make():
        a, b = K.placeholder(()), K.placeholder(())
        drawn = K.random_normal((3,), seed=5)
        shown = K.switch(a > 0, drawn, K.constant(np.zeros(3)))
        only_its_shape = K.ones_like(K.switch(b > 0, drawn, K.constant(np.zeros(3))))
        function = K.function([a, b], [shown, only_its_shape], rewrites=rewrites)
        return function, list(function.schedule.guards_of_followers)

    calls = [[np.float32(n & 1), np.float32(n >> 1 & 1)] for n in range(4 * CALLS)]
    told = same_stepped_and_run(make, calls)
    counted = [sum(any(pair) for pair in calls[: n + 1]) for n in range(len(calls))]
    assert [row[-1] for row in told] == counted


class CallsAnother(Op):
    """Its input; it calls a function on the way."""

    is_pure = False

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        CallsAnother.function([])
        return x * 1


def test_an_op_may_call_a_function_that_updates_the_same_variable():
    def make():
        x, u = K.placeholder((2,)), K.variable(np.zeros(2))
        CallsAnother.function = K.function([], [], [(u, u + 100)])
        return K.function([x], [CallsAnother()(x)], [(u, u + 1)]), [u]

    told = same_stepped_and_run(make, [[np.ones(2, "f4")]] * CALLS)
    assert [row[1][0] for row in told] == list(range(1, CALLS + 1))


# --- what is known, and what is not ---------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(
    "made",
    [
        lambda c: K.constant(np.asfortranarray(c)),
        lambda c: K.transpose(K.constant(np.ascontiguousarray(c.T))),
        lambda c: K.transpose(K.constant(np.asfortranarray(c.T))),
        lambda c: K.constant(np.repeat(c, 2, axis=0)[::2]),
    ],
)
def test_the_layout_of_a_constant_is_the_same_for_both_roads(made, rewrites):
    c = RNG.normal(size=(33, 50)).astype("f4")

    def make():
        x = K.placeholder((None, 33))
        w = made(c)
        ys = [K.dot(x, w), K.dot(x, w * 2), K.sum(w * x[0, 0]), K.logsumexp(w * x[0, 0])]
        return K.function([x], ys, rewrites=rewrites), []

    for rows in (1, 5):
        same_stepped_and_run(make, [[RNG.normal(size=(rows, 33)).astype("f4")]] * CALLS)


def test_the_state_of_a_loop_without_steps_is_read():
    start = RNG.normal(size=(3, 4)).astype("f4")

    def of_no_elements():
        initial = K.placeholder((3, 4))
        y = K.foldl(lambda a, e: e * 2.0, K.constant(np.ones((0, 3, 4))), initial)
        return K.function([initial], [y]), []

    for row in same_stepped_and_run(of_no_elements, [[start]] * CALLS):
        assert row[0] == start.tolist()

    def inside_of_another():
        x, z = K.placeholder((3, 4)), K.placeholder((0, 4))
        y = K.map_fn(lambda e: K.foldl(lambda b, q: q * 2.0, z, e), x)
        return K.function([x, z], [y]), []

    for row in same_stepped_and_run(inside_of_another, [[start, np.zeros((0, 4), "f4")]] * CALLS):
        assert row[0] == start.tolist()


@BOTH
@pytest.mark.parametrize("ndim", [0, 1])
@pytest.mark.parametrize("form", ["fold", "scan of two states", "state of the learned", "map"])
def test_the_first_state_of_a_loop_without_steps_is_not_written_over(form, ndim, rewrites):
    # Such a loop hands back its first state as it is: memory that others must not take yet.
    def make():
        x = K.placeholder((None, *[2] * ndim), dtype="float64")
        h = x * 2
        updates, variables = [], []
        if form == "fold":
            last = K.foldl(lambda a, b: a + b, h)
        elif form == "scan of two states":
            last, _ = K.foldl(lambda a, b: (a[0] * b, a[1] - b), h[1:], (h[0], h[0] + 1))
        elif form == "state of the learned":
            w = K.variable(np.full((2,) * ndim, 0.5), dtype="float64")
            last = K.foldr(lambda a, b: a * b, h[1:], w * h[0])
            updates, variables = [(w, w - 0.1 * last)], [w]
        else:
            last = K.map_fn(lambda e: K.foldl(lambda a, b: a + b, h[1:], e), h)
        return K.function([x], [last, K.exp(h), h - 1], updates, rewrites=rewrites), variables

    def calls(rows):
        return [[np.arange(1.0, 1 + rows * 2**ndim).reshape(rows, *[2] * ndim)]] * CALLS

    for rows in (1, 3):
        same_stepped_and_run(make, calls(rows))


@BOTH
def test_the_branch_that_no_call_can_take_is_not_missed(rewrites):
    def make():
        x = K.placeholder((3,))
        c = K.any(K.greater(x, 0))
        y = K.switch(c, x * 2, K.switch(c, K.exp(x), x))
        return K.function([x], [y], rewrites=rewrites), []

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a program that fails says so in a warning
        same_stepped_and_run(make, [[np.array(x, "f4")] for x in [[1, 2, 3], [-1, -2, -3]] * 4])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "product", [lambda x: x * K.ones_like(x), lambda x: x / K.ones_like(x), lambda x: -x * 1.0]
)
def test_a_product_with_one_makes_zero_of_what_is_too_small(product, dtype):
    tiny = np.array([np.finfo(dtype).smallest_subnormal * 3, 1.0, -0.0, np.inf], dtype)

    def make():
        x = K.placeholder((None,), dtype=dtype)
        return K.function([x], [product(x)]), []

    same_stepped_and_run(make, [[tiny]] * CALLS)


def test_a_constant_may_have_gaps_in_memory():
    def make():
        x = K.placeholder((2,))
        with_gaps = K.constant(np.arange(8.0))[::4]
        return K.function([x], [x * with_gaps, with_gaps + 1]), []

    same_stepped_and_run(make, [[np.ones(2, "f4")]] * CALLS)
