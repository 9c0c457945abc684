from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.settings import config


@pytest.fixture(autouse=True)
def _fresh_state(monkeypatch):
    for name in ("floatx", "epsilon", "image_data_format"):
        monkeypatch.setattr(config, name, getattr(config, name))
    K.clear_session()
    yield
    K.clear_session()


def test_uids_count_from_one_for_each_prefix():
    assert [K.get_uid("dense"), K.get_uid("dense"), K.get_uid("conv")] == [1, 2, 1]
    K.reset_uids()
    assert K.get_uid("dense") == 1


def test_clear_session_forgets_names_and_phase():
    K.get_uid("dense")
    K.set_learning_phase(1)
    K.clear_session()
    assert K.get_uid("dense") == 1
    assert K.is_placeholder(K.learning_phase())


def test_learning_phase_is_one_scalar_placeholder():
    phase = K.learning_phase()
    assert phase is K.learning_phase()
    assert phase.shape == ()
    assert phase._uses_learning_phase


def test_a_fixed_learning_phase_chooses_while_the_graph_is_made():
    x, y = K.constant(1.0), K.constant(2.0)
    K.set_learning_phase(1)
    assert K.learning_phase() == 1
    assert K.in_train_phase(x, y) is x
    assert K.in_test_phase(x, y) is y


@pytest.mark.parametrize("value", [2, -1, "train"])
def test_the_learning_phase_is_zero_or_one(value):
    with pytest.raises(ArgumentError, match=r"expected 0 .* or 1"):
        K.set_learning_phase(value)


@pytest.mark.parametrize("training", [True, 1, False, 0])
def test_only_the_chosen_branch_is_made(training):
    def never():
        raise AssertionError("this branch was not to be made")

    x = K.constant(1.0)
    branches = (lambda: x, never) if training else (never, lambda: x)
    assert K.in_train_phase(*branches, training=training) is x
    assert K.in_test_phase(*reversed(branches), training=training) is x


def test_both_branches_of_an_open_phase_pass_their_gradient():
    x = K.variable([1.0, 2.0])
    y = K.in_train_phase(lambda: x * 3, x * 5)
    f = K.function([K.learning_phase()], [y, K.gradients(K.sum(y), x)[0]])
    assert [a.tolist() for a in f([1])] == [[3.0, 6.0], [3.0, 3.0]]
    assert [a.tolist() for a in f([0])] == [[5.0, 10.0], [5.0, 5.0]]


@pytest.mark.parametrize("floatx", ["float16", "float32", "float64"])
def test_new_tensors_are_of_floatx(floatx):
    K.set_floatx(floatx)
    x, w = K.placeholder((None, 3)), K.zeros((3, 2))
    p = K.softmax(K.dot(x, w) + 0.5)
    loss = K.mean(K.categorical_crossentropy(K.one_hot(K.argmax(x), 2), p))
    made = [x, w, K.constant(1), K.ones((2,)), K.eye(2), K.random_uniform((2,)), p, loss]
    made += K.gradients(loss, [w])
    assert {K.dtype(y) for y in made} == {floatx}
    assert {y.dtype.name for y in K.function([x], [p, loss, K.std(p)])([np.ones((4, 3))])} == {
        floatx
    }
    assert K.cast_to_floatx([1.0]).dtype == floatx


@pytest.mark.parametrize("name", ["float8", "int32", ""])
def test_floatx_is_a_float_type_that_numpy_has(name):
    with pytest.raises(ArgumentError, match=r"config\.floatx"):
        K.set_floatx(name)
    assert K.floatx() == "float32"


def test_epsilon_and_image_layout_are_settings():
    K.set_epsilon(1e-4)
    K.set_image_data_format("channels_first")
    assert (K.epsilon(), K.image_data_format()) == (1e-4, "channels_first")
    with pytest.raises(ArgumentError, match="image_data_format"):
        K.set_image_data_format("sideways")


def test_set_value_of_another_shape_changes_nothing():
    v = K.variable([1.0, 2.0])
    with pytest.raises(ShapeError, match="expected"):
        K.set_value(v, [1.0])
    assert K.get_value(v).tolist() == [1.0, 2.0]


def test_batch_set_value_changes_all_or_nothing():
    a, b = K.variable([1.0]), K.variable([2.0])
    K.batch_set_value([(a, [3.0]), (b, [4.0])])
    assert [x.tolist() for x in K.batch_get_value([a, b])] == [[3.0], [4.0]]
    with pytest.raises(ShapeError, match="expected"):
        K.batch_set_value([(a, [5.0]), (b, [6.0, 7.0])])
    assert [x.tolist() for x in K.batch_get_value([a, b])] == [[3.0], [4.0]]


def test_a_placeholder_wants_a_shape_or_a_rank():
    assert K.placeholder(ndim=2).shape == (None, None)
    assert K.placeholder((None, 2), dtype="int32").dtype == "int32"
    with pytest.raises(ArgumentError, match=r"shape=\(None, 20\) or ndim=2"):
        K.placeholder()


def test_a_constant_fills_a_shape():
    assert K.get_value(K.constant(2.0, shape=(2, 2))).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert K.get_value(K.constant([1, 2, 3, 4], shape=(2, 2))).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_variable_may_start_as_another_tensor():
    v = K.variable(K.constant([1.0, 2.0]) * 2, name="v", constraint=abs)
    assert K.get_value(v).tolist() == [2.0, 4.0]
    assert (v.name, v.constraint) == ("v", abs)


def test_facts_of_tensors():
    x, v = K.placeholder((None, 3)), K.zeros((2, 3))
    assert (K.int_shape(x), K.ndim(x), K.dtype(x)) == ((None, 3), 2, "float32")
    assert (K.count_params(v), K.get_variable_shape(v)) == (6, (2, 3))
    assert K.count_params(K.variable(1.0)) == 1
    assert (K.is_variable(v), K.is_variable(x), K.is_placeholder(x)) == (True, False, True)
    assert (K.is_tensor(x), K.is_tensor(np.ones(2)), K.is_sparse(x)) == (True, False, False)
    assert not K.is_keras_tensor(x)
    with pytest.raises(ArgumentError, match="instance of type ndarray"):
        K.is_keras_tensor(np.ones(2))


def test_updates_are_pairs():
    v = K.variable(5.0)
    assert K.update(v, 1.0) == (v, 1.0)
    for make, expected in ((K.update_add, 7.0), (K.update_sub, 5.0)):
        K.function([], [], updates=[make(v, 2.0)])([])
        assert K.get_value(v) == expected


def test_placeholders_without_a_name_are_numbered():
    K.clear_session()
    first, named, second = K.placeholder((2,)), K.placeholder((2,), name="x"), K.placeholder(ndim=1)
    assert [x.name for x in (first, named, second)] == ["placeholder_1", "x", "placeholder_2"]
    with K.name_scope("inside"):
        assert K.placeholder(()).name == "inside/placeholder_3"
    K.clear_session()
    assert K.placeholder(()).name == "placeholder_1"


@pytest.mark.parametrize("value", ["a", None, [None, 1.0], [[1.0, 2.0], [3.0]]])
def test_variables_and_constants_hold_numbers_alone(value):
    v = K.variable(1.0, name="v")
    with pytest.raises(DtypeError, match="variable: "):
        K.variable(value)
    with pytest.raises(DtypeError, match="K.constant: "):
        K.constant(value)
    with pytest.raises(DtypeError, match="variable 'v': "):
        K.set_value(v, value)
    assert K.get_value(v) == 1.0


@pytest.mark.parametrize(
    "value",
    [
        np.array([1, 2.5], object),
        [Decimal(1), Decimal("2.5")],
        [Fraction(1), Fraction(5, 2)],
    ],
)
def test_numbers_that_numpy_has_no_type_for_are_converted(value):
    v = K.variable([0.0, 0.0])
    K.set_value(v, value)
    for array in (v, K.variable(value), K.constant(value), K.constant([0.0, 0.0]) + value):
        assert K.eval(array).tolist() == [1.0, 2.5]
    assert K.get_value(K.variable(np.array([2**60 + 1], object), "int64")) == 2**60 + 1
    assert K.get_value(K.variable(10**30)) == np.float32(1e30)


@pytest.mark.parametrize("wrong", [None, "2", 2j, np.complex64(2), np.datetime64("2020"), [2, 3]])
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_an_array_of_objects_that_are_no_numbers_is_refused(dtype, wrong):
    value = np.array([1, None], object)
    value[1] = wrong
    with pytest.raises(DtypeError, match=rf"of type ndarray, which cannot become {dtype}"):
        K.variable(value, dtype)


def test_bfloat16_of_another_library_is_converted():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    v = K.variable(np.array([1, 2.5], bfloat16))
    assert K.get_value(v).tolist() == [1.0, 2.5]
    K.set_value(v, np.array([3, 4], bfloat16))
    assert K.get_value(v).tolist() == [3.0, 4.0]


def test_a_number_that_is_too_large_is_refused():
    with pytest.raises(
        DtypeError, match=r"variable: .* got 10+, of type int, which cannot become int64"
    ):
        K.variable(10**30, "int64")
