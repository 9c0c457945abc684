import operator

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.dtypes import common_dtype
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Constant, Op, Tensor, as_tensor
from kerascope.backend.scopes import name_scope
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError, DtypeError, GradientError, ShapeError
from kerascope.layers import Dense
from kerascope.models import Sequential


def test_an_expression_computes_nothing_but_remembers_its_op_and_inputs():
    x = K.placeholder((None, 3), name="x")
    y = x * 2
    assert y.owner.op.name == "multiply"
    assert y.owner.inputs[0] is x
    assert y.owner.outputs == [y]
    assert (y.shape, y.dtype, y.index) == ((None, 3), "float32", 0)


def test_tensors_are_found_and_hashed_by_identity():
    x, same_facts = K.placeholder((3,), name="x"), K.placeholder((3,), name="x")
    assert x != same_facts
    assert bool(x == same_facts) is False
    assert x in [x]
    assert x not in [same_facts]
    assert [same_facts, x].index(x) == 1
    assert {x: 1, same_facts: 2}[x] == 1
    for other in (None, "x", [x], (1,)):
        assert x != other
        assert bool(x == other) is False


COMPARED = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip


@pytest.mark.parametrize("sign", COMPARED)
@pytest.mark.parametrize("is_eager", [False, True])
def test_an_operator_between_tensors_numbers_and_arrays_is_numpys(sign, is_eager):
    op = COMPARED[sign]
    a, b = np.array([1, 2, 4, -7], "float32"), np.array([1, 3, 2, 2], "float32")
    x, y = K.placeholder((4,)), K.placeholder((4,))
    cases = [(x, y), (x, 2), (2, x), (x, b), (a, y), (x, np.float32(2.0)), (np.float32(2.0), y)]
    for left, right in cases:
        numbers = [{id(x): a, id(y): b}.get(id(one), one) for one in (left, right)]
        expected = op(*numbers)
        if is_eager:
            with eager_mode():
                tensors = [K.constant(one) if one is a or one is b else one for one in numbers]
                found = K.get_value(op(*tensors)) if any(map(K.is_tensor, tensors)) else expected
        else:
            found = K.function([x, y], [op(left, right)])([a, b])[0]
        assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize(
    "op", [operator.and_, operator.or_, operator.xor], ids=lambda op: op.__name__
)
def test_truths_are_joined_as_in_numpy(op):
    a, b = np.array([True, True, False, False]), np.array([True, False, True, False])
    x, y = K.placeholder((4,), dtype="bool"), K.placeholder((4,), dtype="bool")
    found = K.function([x, y], [op(x, y), op(x, True), op(b, x), ~x])([a, b])
    for one, expected in zip(found, [op(a, b), op(a, True), op(b, a), ~a], strict=True):
        np.testing.assert_array_equal(one, expected)
    with pytest.raises(DtypeError, match=r"expected dtype bool.*keras.ops.bitwise"):
        op(K.placeholder((4,), dtype="int32"), 1)


def test_whether_numbers_are_equal_is_one_tensor_however_often_it_is_used():
    x, y = K.placeholder((None, 3), name="x"), K.placeholder((3,), name="y")
    same = x == y
    assert isinstance(same, Tensor)
    assert (same.shape, same.dtype, same.owner.op.name) == ((None, 3), "bool", "equal")
    assert same.owner.outputs == [same]
    assert same.owner is same.owner
    total = K.sum(K.cast(same, "float32")) + K.sum(K.switch(same, x, -x))
    assert K.function([x, y], [total])([np.array([[1, 2, 3.0]]), np.array([1, 0, 3.0])])[0] == 4.0


def test_a_comparison_that_nobody_uses_makes_no_op_so_that_any_two_may_be_compared():
    assert K.placeholder((3,)) not in [K.placeholder((4,)), K.placeholder((2, 5))]


def test_if_a_tensor_equals_a_number_is_not_known_where_a_graph_is_made():
    x = K.placeholder((), name="x")
    with pytest.raises(DtypeError, match="neither true nor false"):
        bool(x == 1)
    with pytest.raises(DtypeError, match="neither true nor false"):
        bool(x != 1)


def test_a_loss_and_a_metric_may_compare_with_signs():
    def ignoring(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred) * K.cast(y_true != -1, "float32"))

    def hits(y_true, y_pred):
        return K.mean(K.cast((y_true == K.round(y_pred)) & (y_pred > 0), "float32"))

    model = Sequential([Dense(1, kernel_initializer="ones", input_shape=(2,))])
    model.compile("sgd", ignoring, metrics=[hits])
    x, y = np.array([[1, 2], [0, 1], [2, 2], [1, 1.0]]), np.array([[3], [-1], [5], [2.0]])
    assert model.evaluate(x, y, verbose=0) == [0.25, 0.5]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (lambda x: x + 1, 5.0),
        (lambda x: 1 + x, 5.0),
        (lambda x: x - 1, 3.0),
        (lambda x: 1 - x, -3.0),
        (lambda x: x * 3, 12.0),
        (lambda x: 3 * x, 12.0),
        (lambda x: x / 8, 0.5),
        (lambda x: 8 / x, 2.0),
        (lambda x: x**2, 16.0),
        (lambda x: 2**x, 16.0),
        (lambda x: -x, -4.0),
        (lambda x: abs(-x), 4.0),
        (lambda x: x > 3, True),
        (lambda x: x >= 4, True),
        (lambda x: x < 4, False),
        (lambda x: x <= 4, True),
    ],
)
def test_operators_of_python(expression, expected):
    assert K.eval(expression(K.variable(4.0))) == expected


def test_operators_of_matrices_and_parts():
    x = K.variable([[1.0, 2.0], [3.0, 4.0]])
    assert K.eval(x @ x).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    assert K.eval(np.ones((1, 2)) @ x).tolist() == [[4.0, 6.0]]
    assert K.eval(x[1, ::-1]).tolist() == [4.0, 3.0]


def test_an_array_on_the_left_leaves_the_operation_to_the_tensor():
    x = K.variable([1.0, 2.0])
    assert isinstance(np.ones(2) + x, Tensor)
    assert isinstance(np.float64(3.0) * x, Tensor)
    assert (np.ones(2) * x).dtype == "float32"


@pytest.mark.parametrize("use", [bool, list, len, np.asarray, np.exp])
def test_what_needs_numbers_is_refused_with_a_remedy(use):
    with pytest.raises((DtypeError, TypeError)):
        use(K.placeholder((2,), name="x"))


def test_truth_of_a_tensor_names_k_switch():
    with pytest.raises(DtypeError, match=r"tensor 'x'.*neither true nor false.*K\.switch"):
        bool(K.placeholder((), name="x"))


def test_python_numbers_take_the_type_of_the_tensor_beside_them():
    whole = K.constant([1, 2], dtype="int64")
    assert (whole + 1).dtype == "int64"
    assert (K.placeholder((2,), dtype="float16") * 2.5).dtype == "float16"
    assert (whole * K.placeholder((2,), dtype="float16")).dtype == "float16"
    assert (K.placeholder((2,), dtype="float32") + np.ones(2)).dtype == "float32"
    assert (whole / 2).dtype == "float32"


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (("float32", "int64"), "float32"),
        (("float16", "float64"), "float64"),
        (("int32", "int64"), "int64"),
        (("bool", "int32"), "int32"),
    ],
)
def test_floats_win_over_integers(dtypes, expected):
    assert common_dtype(*dtypes) == expected


def test_a_constant_is_a_copy_that_nobody_can_write():
    source = np.array([1.0, 2.0])
    constant = Constant(source)
    source[0] = 9.0
    assert constant.value.tolist() == [1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        constant.value[0] = 5.0


@pytest.mark.parametrize("value", ["text", None, [object()], {"a": 1}])
def test_what_is_no_number_makes_no_tensor(value):
    with pytest.raises(DtypeError, match="expected a tensor.*cannot become float64"):
        as_tensor(value)


def test_ragged_lists_make_no_tensor():
    with pytest.raises(DtypeError, match="not a rectangular array"):
        as_tensor([[1, 2], [3]])


@pytest.mark.parametrize("dtype", ["text", "U5", "object", "complex64"])
def test_a_variable_holds_numbers_only(dtype):
    with pytest.raises(DtypeError, match="expected a numeric type"):
        Variable(0, dtype)


def test_a_variable_keeps_its_own_copy():
    source = np.zeros(2, "float32")
    v = Variable(source)
    source[0] = 5
    v.get_value()[1] = 7
    assert v.get_value().tolist() == [0.0, 0.0]


def test_set_value_of_another_shape_changes_nothing():
    v = Variable([1.0, 2.0], name="v")
    with pytest.raises(ShapeError, match=r"variable 'v'.*shape \(2,\), got \(3,\)"):
        v.set_value([1.0, 2.0, 3.0])
    assert v.get_value().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("shape", [(-1, 3), (2.5,), ("a",)])
def test_sizes_are_whole_numbers(shape):
    with pytest.raises(ArgumentError, match="expected sizes that are whole"):
        K.placeholder(shape)


def test_names_follow_the_open_scopes():
    with name_scope("outer"), name_scope("inner"):
        y = K.exp(K.constant(1.0))
        v = K.variable(0.0)
    assert y.name == "outer/inner/exp"
    assert y.owner.name == "outer/inner/exp"
    assert v.name == "outer/inner/variable"


def test_an_apply_prints_as_a_call():
    x = K.placeholder((2,), name="x")
    assert repr((x + 1).owner) == "add(x, 1) -> add"


class Halves(Op):
    """An op of two outputs."""

    n_outputs = 2

    def infer_shape(self, x):
        half = None if x.shape[0] is None else x.shape[0] // 2
        return (half,), (half,)

    def perform(self, x):
        return x[: len(x) // 2], x[len(x) // 2 :]

    def grad(self, inputs, outputs, output_grads):
        return [K.concatenate(output_grads, axis=0)]


def test_an_op_may_have_several_outputs():
    x = K.placeholder((4,), name="x")
    first, second = Halves()(x)
    assert (first.name, second.name) == ("halves:0", "halves:1")
    assert second.owner is first.owner
    assert second.index == 1
    f = K.function([x], [first, second, K.gradients(K.sum(second) * 3, x)[0]])
    a, b, g = f([[1, 2, 3, 4]])
    assert (a.tolist(), b.tolist(), g.tolist()) == ([1, 2], [3, 4], [0, 0, 3, 3])


def test_an_op_that_says_nothing_names_what_is_missing():
    class Silent(Op):
        pass

    with pytest.raises(NotImplementedError, match="Op Silent does not define infer_shape"):
        Silent()(K.constant(1.0))


def test_use_of_the_learning_phase_spreads_to_what_depends_on_it():
    phase, x = K.learning_phase(), K.placeholder((2,))
    assert (K.in_train_phase(x, 2 * x) + 1)._uses_learning_phase
    assert not (x + 1)._uses_learning_phase
    assert phase._uses_learning_phase


def test_numpys_operators_are_those_of_the_tensor():
    x = K.placeholder(shape=(None, 3))
    assert (np.ones(3) * x).shape == (None, 3)
    assert (np.float32(2) + x).dtype == "float32"
    assert (np.ones(3) < x).dtype == "bool"
    assert (np.ones((5, 2)) @ K.placeholder(shape=(2, 3))).shape == (5, 3)
    f = K.function([x], [np.arange(3.0) - x])
    assert f([[[1.0, 1.0, 1.0]]])[0].tolist() == [[-1.0, 0.0, 1.0]]


@pytest.mark.parametrize("function", [np.exp, np.sum, np.asarray])
def test_numpys_functions_on_a_tensor_say_what_to_use(function):
    with pytest.raises(DtypeError, match=r"symbolic tensor has no.*Use the K function"):
        function(K.placeholder(shape=(3,), name="x"))


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "all", "any", "exp", "hypot"])
def test_a_function_of_numpy_is_named_as_it_was_written(name):
    x = K.placeholder(shape=(3,), name="x")
    with pytest.raises(DtypeError, match=rf"np\.{name} needs numbers.*: K\.{name} if it"):
        getattr(np, name)(*[x] * (2 if name == "hypot" else 1))


@pytest.mark.parametrize(
    "updates", [lambda y: [y], lambda y: y, lambda y: [(y.owner.inputs[0], y), y]]
)
def test_new_values_without_their_variables_are_no_updates(updates):
    y = K.variable([1.0, 2.0], name="v") * 2
    with pytest.raises(DtypeError, match=r"expected pairs \(variable, new.*'multiply'"):
        K.function([], [], updates=updates(y))


@pytest.mark.parametrize(
    ("given", "words"), [(lambda y: y, "the tensor"), (lambda y: None, "nothing")]
)
def test_an_op_whose_grad_returns_no_list_is_told_so(given, words):
    class Same(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x

        def grad(self, inputs, outputs, output_grads):
            return given(output_grads[0])

    x = K.variable([1.0, 2.0])
    with pytest.raises(GradientError, match=f"from grad, got {words}.*return .gradient."):
        K.gradients(K.sum(Same()(x)), [x])
