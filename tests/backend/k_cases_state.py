"""Cases of what K remembers and runs: settings, names, phases, values, updates, functions."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, DtypeError, GradientError, ShapeError
from kerascope.layers import Dense, Layer
from tests.backend.k_cases import behaviour


@behaviour("floatx", "set_floatx")
def floatx_is_the_type_of_new_tensors():
    assert K.floatx() == "float32"
    K.set_floatx("float64")
    assert K.floatx() == "float64"
    made = (K.placeholder((2,)), K.variable(1), K.zeros((2,)), K.constant(1), K.random_normal((2,)))
    assert {K.dtype(x) for x in made} == {"float64"}
    with pytest.raises(ValueError, match="expected 'float16'"):
        K.set_floatx("int32")
    assert K.floatx() == "float64"


@behaviour("set_engine")
def engine_is_numpy_until_another_is_chosen():
    assert K.backend() == "numpy"
    K.set_engine("numpy")
    with pytest.raises(ValueError, match="expected the engine 'numpy' or 'jax', got 'theano'"):
        K.set_engine("theano")
    assert K.backend() == "numpy"


@behaviour("epsilon", "set_epsilon")
def epsilon_keeps_logarithms_finite():
    assert K.epsilon() == 1e-7
    K.set_epsilon(1e-2)
    loss = K.eval(K.categorical_crossentropy([[1.0, 0.0]], [[0.0, 1.0]]))
    assert loss[0] == pytest.approx(-np.log(1e-2), rel=1e-5)
    with pytest.raises(ValueError, match="epsilon"):
        K.set_epsilon("small")
    assert K.epsilon() == 1e-2


@behaviour(
    "image_data_format",
    "set_image_data_format",
    "normalize_data_format",
    "image_dim_ordering",
    "set_image_dim_ordering",
)
def the_layout_of_images_has_a_new_and_an_old_word():
    assert (K.image_data_format(), K.image_dim_ordering()) == ("channels_last", "tf")
    K.set_image_data_format("channels_first")
    assert (K.normalize_data_format(None), K.image_dim_ordering()) == ("channels_first", "th")
    assert K.int_shape(K.pool2d(K.zeros((1, 3, 4, 4)), (2, 2), (2, 2))) == (1, 3, 2, 2)
    K.set_image_dim_ordering("tf")
    assert K.image_data_format() == "channels_last"
    assert K.normalize_data_format("channels_first") == "channels_first"
    for set_layout in (K.set_image_data_format, K.set_image_dim_ordering, K.normalize_data_format):
        with pytest.raises(ValueError, match="expected"):
            set_layout("sideways")


@behaviour("get_uid", "reset_uids", "clear_session")
def numbers_for_names_count_up_for_each_prefix():
    assert [K.get_uid("dense"), K.get_uid("dense"), K.get_uid("conv"), K.get_uid()] == [1, 2, 1, 1]
    K.reset_uids()
    assert K.get_uid("dense") == 1
    K.set_learning_phase(1)
    K.clear_session()
    assert K.get_uid(prefix="dense") == 1
    assert K.is_placeholder(K.learning_phase())


@behaviour("learning_phase", "set_learning_phase", "learning_phase_scope", "in_train_phase")
def the_learning_phase_is_fed_or_fixed():
    x = K.placeholder((2,))
    y = K.in_train_phase(x * 10, x)
    f = K.function([x, K.learning_phase()], [y])
    assert f([[1, 2], 0])[0].tolist() == [1.0, 2.0]
    assert f([[1, 2], 1.0])[0].tolist() == [10.0, 20.0]
    assert K.function([x], [y])([[1, 2]])[0].tolist() == [1.0, 2.0]
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert K.function([x], [K.in_train_phase(x * 10, x)])([[1, 2]])[0].tolist() == [10.0, 20.0]
    assert K.is_placeholder(K.learning_phase())
    K.set_learning_phase(True)
    assert K.learning_phase() == 1
    with pytest.raises(ValueError, match="expected 0"):
        K.set_learning_phase(2)


@behaviour("in_train_phase", "in_test_phase")
def a_branch_that_cannot_be_chosen_is_not_made():
    def never():
        raise AssertionError("made")

    x = K.constant([1.0])
    assert K.eval(K.in_train_phase(x, never, training=1)).tolist() == [1.0]
    assert K.eval(K.in_test_phase(never, lambda: x, training=True)).tolist() == [1.0]


@behaviour("get_value", "set_value", "batch_get_value", "batch_set_value")
def values_are_read_and_written_all_or_none():
    v, w = K.variable([1.0, 2.0]), K.variable(3.0)
    K.set_value(v, [4, 5])
    assert K.get_value(v).tolist() == [4.0, 5.0]
    assert K.get_value(v).dtype.name == "float32"
    K.batch_set_value([(v, np.array([6.0, 7.0])), (w, 8)])
    assert [x.tolist() for x in K.batch_get_value([v, w])] == [[6.0, 7.0], 8.0]
    K.batch_set_value([])
    assert K.batch_get_value([]) == []
    with pytest.raises(ShapeError, match="expected"):
        K.batch_set_value([(v, [0, 0]), (w, [1, 2, 3])])
    assert [x.tolist() for x in K.batch_get_value((v, w))] == [[6.0, 7.0], 8.0]
    with pytest.raises(ValueError, match="shape"):
        K.set_value(v, [1, 2, 3])
    with pytest.raises(DtypeError, match="expected a variable"):
        K.set_value(K.placeholder((2,), name="x"), [1, 2])


@behaviour("update", "update_add", "update_sub", "moving_average_update")
def updates_happen_when_a_function_is_called():
    a, b, c, d = (K.variable([10.0, 20.0]) for _ in range(4))
    f = K.function(
        [],
        [a * 1],
        updates=[
            K.update(a, b + 1),
            K.update_add(b, 5),
            K.update_sub(c, d),
            K.moving_average_update(d, K.constant([0.0, 0.0]), 0.9),
        ],
    )
    assert K.get_value(a).tolist() == [10.0, 20.0]
    assert f([])[0].tolist() == [10.0, 20.0]
    after = [x.tolist() for x in K.batch_get_value([a, b, c])]
    assert after == [[11.0, 21.0], [15.0, 25.0], [0.0, 0.0]]
    assert K.get_value(d).tolist() == pytest.approx([9.0, 18.0])


@behaviour("function")
def a_function_takes_and_returns_lists_of_arrays():
    x, y = K.placeholder((None, 2)), K.placeholder((None, 2))
    f = K.function([x, y], [x + y, K.sum(x)], name="both")
    total, scalar = f([[[1, 2]], np.array([[3.0, 4.0]])])
    assert (total.tolist(), float(scalar)) == ([[4.0, 6.0]], 3.0)
    assert (type(total), total.dtype.name) == (np.ndarray, "float32")
    assert f((np.zeros((5, 2)), np.zeros((5, 2))))[0].shape == (5, 2)
    (same,) = K.function((x,), (x,), updates=None)([[[1, 2]]])
    assert same.tolist() == [[1.0, 2.0]]
    assert K.function([x], x * 2)([[[1, 2]]]).tolist() == [[2.0, 4.0]]
    v = K.variable(1.0)
    assert K.function([], [], updates=[(v, v + 1)])([]) == []
    assert K.get_value(v) == 2.0
    with pytest.raises(ArgumentError, match="unknown argument 'unknown'"):
        K.function([x], [x], unknown=1)
    with pytest.raises(ValueError, match="is not fed"):
        K.function([x], [x + y])
    with pytest.raises(ValueError, match="expected 2"):
        f([np.zeros((1, 2))])
    with pytest.raises(ShapeError, match="expected"):
        f([np.zeros((1, 3)), np.zeros((1, 2))])


@behaviour("gradients")
def gradients_come_in_a_list_with_none_where_nothing_flows():
    x, unused = K.variable([1.0, 2.0]), K.variable(3.0)
    loss = K.sum(x * x)
    grads = K.gradients(loss, [x, unused])
    assert K.eval(grads[0]).tolist() == [2.0, 4.0]
    assert grads[1] is None
    assert K.eval(K.gradients(loss, x)[0]).tolist() == [2.0, 4.0]
    second = K.gradients(K.sum(K.gradients(K.sum(x**3), x)[0]), x)[0]
    assert K.eval(second).tolist() == [6.0, 12.0]
    assert K.gradients(K.sum(K.stop_gradient(x)), (x,)) == [None]
    assert K.gradients(K.sum(K.round(x) + K.sign(x)), x) == [None]
    several = K.gradients([K.sum(x), K.sum(3 * x)], x)[0]
    assert K.eval(several).tolist() == [4.0, 4.0]
    with pytest.raises(GradientError, match="expected a loss of floats"):
        K.gradients(K.argmax(x), x)
    with pytest.raises(DtypeError, match="got 'x' of type str"):
        K.gradients(loss, "x")


@behaviour("eval")
def eval_gives_the_numbers_of_what_needs_no_input():
    assert K.eval(K.constant([1.0, 2.0]) * 3).tolist() == [3.0, 6.0]
    assert K.eval(np.float32(2)) == 2
    with pytest.raises(ValueError, match="'x' is needed"):
        K.eval(K.placeholder((2,), name="x") * 2)


@behaviour("compiled")
def a_compiled_function_is_traced_once_for_each_signature():
    @K.compiled
    def double(x):
        return 2 * x

    assert double([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert double([1.0, 2.0, 3.0]).tolist() == [2.0, 4.0, 6.0]
    assert double.traces == 1


@behaviour("compiled")
def what_is_compiled_need_not_be_a_function():
    layer = Dense(2)
    kept = K.compiled(layer)
    assert kept(np.ones((3, 4))).tolist() == layer(np.ones((3, 4))).tolist()
    assert (kept.name, kept.traces) == (layer.name, 1)


@behaviour("compiled")
def a_layer_with_a_body_of_its_own_is_compiled_whole():
    class Twice(Layer):
        def __init__(self):
            super().__init__()
            self.body = Dense(2)

        def call(self, x):
            return 2 * self.body(x)

    layer = Twice()
    kept = K.compiled(layer)
    assert kept(np.ones((3, 4))).tolist() == layer(np.ones((3, 4))).tolist()
    assert kept.body is layer


@behaviour("backend")
def the_backend_is_numpy():
    assert K.backend() == "numpy"


@behaviour("switch")
def what_switch_cannot_choose_it_refuses_and_what_it_need_not_it_leaves():
    x = K.placeholder((None, 3))
    with pytest.raises(ValueError, match="expected a condition with at most"):
        K.switch(x > 0, 1.0, 0.0)
    assert K.int_shape(K.switch(x > 0, x, 0.0)) == (None, 3)
    f = K.function([x], [K.switch(K.sum(x) > 0, x, K.reshape(x, (7, 3)))])
    assert f([np.ones((2, 3))])[0].shape == (2, 3)


@behaviour("gather", "concatenate", "stack", "tile", "batch_dot", "sum", "reshape", "in_top_k")
def mistakes_are_named():
    x = K.placeholder((None, 3), name="x")
    with pytest.raises(TypeError, match="cast"):
        K.gather(K.zeros((4, 2)), K.placeholder((None,)))
    for wrong in (4, -1):
        with pytest.raises(ValueError, match="expected indices from 0 to 3"):
            K.eval(K.gather(K.zeros((4, 2)), [wrong]))
    for join in (K.concatenate, K.stack):
        for wrong in ([], x):
            with pytest.raises(ArgumentError, match="expected a list of tensors"):
                join(wrong)
    with pytest.raises(ArgumentError, match="numbers >= 1"):
        K.tile(x, (0, 1))
    with pytest.raises(ShapeError, match="expected 2 numbers"):
        K.tile(x, K.constant([1, 2, 3], "int32"))
    with pytest.raises(ShapeError, match="at most one -1"):
        K.reshape(x, (-1, -1))
    with pytest.raises(
        ShapeError, match=r"expected predictions \(batch, classes\) and targets \(batch,\)"
    ):
        K.in_top_k(x, K.placeholder((None, 1), dtype="int32"), 1)
    with pytest.raises(DtypeError, match="a numeric type .*got None"):
        K.cast(x, None)
    with pytest.raises(ArgumentError, match="expected axis .*, got 2"):
        K.sum(x, axis=np.int64(2))
    with pytest.raises(ArgumentError, match="counts the samples"):
        K.batch_dot(x, x, axes=(0, 1))
