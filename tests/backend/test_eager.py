import numpy as np
import pytest

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Constant, graph_mode, is_eager
from kerascope.errors import DtypeError, GradientError, GraphError, ShapeError


def test_ops_compute_at_once():
    with eager_mode():
        y = K.exp(K.constant([0.0, 1.0])) * 2
        assert isinstance(y, Constant)
        assert K.get_value(y).tolist() == pytest.approx([2.0, 2 * np.e])


def test_the_mode_ends_with_its_block_even_by_an_exception():
    with pytest.raises(ZeroDivisionError), eager_mode():
        int(is_eager()) / 0
    assert not is_eager()


def test_a_graph_can_be_made_in_the_middle():
    with eager_mode(), graph_mode():
        assert (K.constant(1.0) + 1).owner is not None


def test_numbers_of_every_kind_of_tensor():
    v = K.variable([1.0, 2.0])
    with eager_mode():
        assert value_of(v).tolist() == [1.0, 2.0]
        assert value_of(3.0) == 3.0
    assert value_of(v * 2).tolist() == [2.0, 4.0]


def test_a_placeholder_has_no_numbers():
    x = K.placeholder((2,), name="x")
    with eager_mode(), pytest.raises(DtypeError, match="placeholder 'x' has no numbers"):
        K.exp(x)


def test_errors_are_those_of_the_graph():
    with eager_mode(), pytest.raises(ShapeError, match="do not fit"):
        K.constant([1.0, 2.0]) + K.constant([1.0, 2.0, 3.0])


def test_the_learning_phase_is_that_of_a_test():
    with eager_mode():
        assert K.learning_phase() == 0
        assert K.get_value(K.in_train_phase(K.constant(1.0), K.constant(2.0))) == 2.0


def test_types_are_those_of_the_graph():
    with eager_mode():
        assert (K.constant([1.0]) * np.float64(2)).dtype == "float32"
        assert K.argmax(K.constant([[1.0, 2.0]])).dtype == "int64"
        assert K.mean(K.constant([1, 2], dtype="int32")).dtype == "float32"


def test_random_numbers_differ_between_calls():
    with eager_mode():
        first, second = (K.get_value(K.random_uniform((20,))) for _ in range(2))
    assert (first != second).any()


def test_a_random_tensor_of_a_graph_moves_on_when_eager_code_reads_it():
    draw = K.random_uniform((20,), seed=1)
    with eager_mode():
        first, second = K.get_value(draw), K.get_value(draw)
    assert (first != second).all()


def test_a_variable_may_be_read_and_assigned():
    v = K.variable([1.0, 2.0])
    with eager_mode():
        K.set_value(v, K.get_value(v * 3))
    assert K.get_value(v).tolist() == [3.0, 6.0]


def test_a_number_is_true_or_false():
    x = K.constant([[1.0, -3.0]])
    with eager_mode():
        assert K.sum(x) < 0
        assert not K.sum(x) > 0


def test_several_numbers_are_neither():
    with (
        eager_mode(),
        pytest.raises(ShapeError, match=r"2 numbers, of shape \(1, 2\), .* K\.all or K\.any"),
    ):
        bool(K.constant([[1.0, -3.0]]) > 0)


def test_a_result_of_a_graph_is_still_neither():
    with pytest.raises(DtypeError, match=r"K\.switch"):
        bool(K.sum(K.constant([1.0])) > 0)


def test_a_derivative_of_a_number_is_refused_with_the_remedy():
    v = K.variable([1.0, 2.0])
    with eager_mode(), pytest.raises(GradientError, match=r"eager mode.* Input, .* ks\.compiled"):
        K.gradients(K.sum(v**2), [v])


def test_a_derivative_that_was_asked_in_a_graph_can_be_read_eagerly():
    v = K.variable([1.0, 2.0])
    slope = K.gradients(K.sum(v**2), [v])[0]
    with eager_mode():
        assert K.get_value(slope).tolist() == [2.0, 4.0]


def test_the_remedy_of_a_derivative_works():
    @ks.compiled
    def slope(x):
        return K.gradients(K.sum(x**2), [x])[0]

    assert slope([1.0, 2.0]).tolist() == [2.0, 4.0]


# --- what a person sees ---------------------------------------------------------------------------


def test_print_in_a_call_shows_name_and_numbers(capsys):
    class Prints(ks.layers.Layer):
        def call(self, inputs):
            total = K.sum(inputs)
            print(total)
            print(f"the sum is {total}")
            print(inputs * 2)
            return inputs

    Prints()(np.array([[1.0, 2.5], [3.0, 4.0]]))
    assert capsys.readouterr().out.splitlines() == [
        "<sum: 10.5>",
        "the sum is <sum: 10.5>",
        "<multiply (2, 2): [[2. 5.]",
        "                   [6. 8.]]>",
    ]


def test_numbers_are_written_in_their_own_precision():
    assert str(K.constant(0.1, name="rate")) == "<rate: 0.1>"
    assert str(K.constant([0.1, 0.2])) == "<constant (2,): [0.1 0.2]>"
    with eager_mode():
        assert str(K.constant([1.0]) > 0) == "<greater (1,): [ True]>"


def test_a_number_without_a_name_is_the_number():
    assert [str(K.constant(2.5)), repr(K.constant(3))] == ["2.5", "3"]


def test_in_a_list_numbers_stand_on_one_line_and_many_are_left_out():
    few, many = K.constant([[1.0, 2.0], [3.0, 4.0]], name="few"), K.constant(np.zeros((20, 30)))
    assert repr([few, many]) == "[<few (2, 2): [[1. 2.] [3. 4.]]>, <constant (20, 30)>]"


def test_a_long_array_is_printed_as_numpy_prints_it():
    printed = str(K.constant(np.zeros((100, 100)), name="zeros"))
    assert printed.startswith("<zeros (100, 100): [[0. 0. 0. ... 0. 0. 0.]")
    assert printed.count("\n") == 6


def test_a_symbol_is_still_printed_by_its_name():
    x = K.placeholder((None, 3), name="x")
    assert [str(x), repr(x), str(K.sum(x))] == ["x", "x", "sum"]


def test_what_computes_with_constants_is_written_with_their_names():
    y = K.placeholder((2,), name="x") * K.constant([1.0, 2.0], name="c")
    assert repr(y.owner) == "multiply(x, c) -> multiply"


class Counter(ks.layers.Layer):
    """Counts its calls in Keras 3's way: `assign`."""

    def build(self, input_shape):
        self.calls = self.add_weight(name="calls", shape=(), initializer="zeros", trainable=False)
        self.calls.assign(np.array(1.0))
        super().build(input_shape)

    def call(self, inputs):
        self.calls.assign(self.calls + 1.0)
        self.calls.assign_add(1.0)
        return inputs * 1.0


def test_assign_writes_at_once_outside_of_a_graph():
    v = K.variable([1.0, 2.0])
    assert v.assign_add([1.0, 1.0]) is v
    v.assign(K.square(v))
    v.assign_sub(1.0)
    assert K.get_value(v).tolist() == [3.0, 8.0]
    counter = Counter()
    for _ in range(2):
        counter(np.ones((2, 3)))
    assert K.get_value(counter.calls) == 5.0


def test_what_a_layers_call_assigns_is_written_with_each_batch():
    counter = Counter()
    model = ks.Sequential([ks.layers.InputLayer((3,)), counter, ks.layers.Dense(1)])
    model.compile("sgd", "mse")
    assert K.get_value(counter.calls) == 1.0
    model.fit(np.ones((6, 3)), np.ones((6, 1)), batch_size=2, verbose=0)
    assert K.get_value(counter.calls) == 7.0
    model.predict(np.ones((2, 3)))
    assert K.get_value(counter.calls) == 9.0


def test_what_a_layers_call_updates_is_written_with_each_step_of_training():
    class Heeding(Counter):
        def call(self, inputs):
            self.add_update(K.update(self.calls, self.calls + 1.0), inputs)
            return inputs * 1.0

    heeding = Heeding()
    model = ks.Sequential([heeding, ks.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(np.ones((6, 3)), np.ones((6, 1)), batch_size=2, verbose=0)
    assert K.get_value(heeding.calls) == 4.0


def test_a_name_scope_of_the_users_does_not_keep_assign_from_writing():
    v = K.variable(1.0)
    with K.name_scope("a"), K.name_scope("b"):
        v.assign(v + 1.0)
        assert (v + 1.0).name.startswith("a/b/")
        counter = Counter()
        counter(ks.layers.Input((3,)))
    assert K.get_value(v) == 2.0
    assert K.get_value(counter.calls) == 1.0  # what its call assigns waits for a batch


def test_assign_says_in_a_loss_that_a_graph_is_made():
    v = K.variable(1.0)

    def counted(y, p):
        with K.name_scope("mine"):
            v.assign_add(1.0)
        return K.mean(K.square(y - p))

    model = ks.Sequential([ks.layers.Dense(1, input_shape=(3,))])
    with pytest.raises(GraphError, match="here a graph is built"):
        model.compile("sgd", counted)
    assert K.get_value(v) == 1.0


def test_assign_in_a_models_call_is_done_in_each_step_as_in_keras_3():
    class Own(ks.Model):
        def __init__(self):
            super().__init__()
            self.dense = ks.layers.Dense(1)
            self.seen = K.variable(1.0)

        def call(self, inputs):
            self.seen.assign_add(1.0)
            return self.dense(inputs)

    model = Own()
    model.compile("sgd", "mse")
    x, y = np.ones((2, 3)), np.ones((2, 1))
    model.predict(x)
    assert K.get_value(model.seen) == 2.0
    for _ in range(3):
        model.train_on_batch(x, y)
    model.evaluate(x, y, verbose=0)
    assert K.get_value(model.seen) == 6.0
