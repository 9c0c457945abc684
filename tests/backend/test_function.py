import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.function import Update
from kerascope.backend.graph import Op
from kerascope.backend.schedule import Step
from kerascope.backend.scopes import name_scope
from kerascope.errors import (
    ArgumentError,
    DataError,
    DisconnectedGraphError,
    DtypeError,
    ShapeError,
)
from kerascope.stage import observing


def test_a_list_gives_a_list_and_a_tensor_an_array():
    x = K.placeholder((None,))
    assert [y.tolist() for y in K.function([x], [x + 1, x * 2])([[1, 2]])] == [[2, 3], [2, 4]]
    assert K.function([x], x + 1)([[1, 2]]).tolist() == [2, 3]


def test_nothing_is_updated_when_the_function_is_made():
    w = K.variable(2.0)
    K.function([], [w], updates=[(w, w * 0.8)])
    assert K.get_value(w) == 2.0


def test_outputs_are_computed_from_the_old_values():
    w = K.variable(2.0)
    f = K.function([], [w**2], updates=[(w, 0.8 * w)])
    assert f([])[0] == 4.0
    assert K.get_value(w) == pytest.approx(1.6)
    assert f([])[0] == pytest.approx(2.56)


def test_all_new_values_are_computed_from_the_old_ones():
    a, b = K.variable(1.0), K.variable(2.0)
    K.function([], [], updates=[(a, b), (b, a)])([])
    assert (K.get_value(a), K.get_value(b)) == (2.0, 1.0)


def test_the_first_update_of_a_variable_wins():
    w = K.variable(2.0)
    f = K.function([], [], updates=[(w, w + 1), (w, w * 6)])
    f([])
    assert K.get_value(w) == 3.0
    assert len(f.updates) == 1


def test_a_new_value_takes_the_type_of_its_variable():
    count = K.variable(1, dtype="int64")
    K.function([], [], updates=[(count, count * 2.5)])([])
    assert count.get_value().dtype == np.int64
    assert count.get_value() == 2


class Explode(Op):
    """Raises when it is performed."""

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        raise FloatingPointError("boom")


def test_an_exception_in_the_middle_changes_no_variable():
    a, b = K.variable([1.0]), K.variable([1.0])
    f = K.function([], [], updates=[(a, a + 1), (b, Explode()(b))])
    with pytest.raises(FloatingPointError, match="boom"):
        f([])
    assert (a.get_value().tolist(), b.get_value().tolist()) == ([1.0], [1.0])


def test_a_new_value_of_the_wrong_shape_changes_no_variable():
    x = K.placeholder((None,))
    a, b = K.variable([1.0]), K.variable([1.0, 1.0])
    f = K.function([x], [], updates=[(a, a + 1), (b, x)])
    with pytest.raises(ShapeError, match=r"shape \(2,\), got \(3,\). No variable was changed"):
        f([[1, 2, 3]])
    assert (a.get_value().tolist(), b.get_value().tolist()) == ([1.0], [1.0, 1.0])


def test_an_abandoned_call_changes_no_variable():
    w = K.variable(1.0)
    stage = K.function([], [w], updates=[(w, w + 1)]).stage([])
    assert isinstance(next(iter(stage)), Step)
    assert K.get_value(w) == 1.0


def test_an_exception_says_which_op_failed_and_whose_it_is():
    x = K.placeholder((None, 3), name="x")
    with name_scope("dense_1", made_at=("script.py", 12)):
        y = Explode()(x)
    line = y.owner.frames.lines[0].line
    with pytest.raises(FloatingPointError) as caught:
        K.function([x], y)([np.zeros((2, 3))])
    assert caught.value.__notes__ == [
        "while computing 'dense_1/explode' = explode(x) -> dense_1/explode on arrays of shapes "
        "[(2, 3)]",
        f"it was made at {__file__}, line {line}, in "
        "test_an_exception_says_which_op_failed_and_whose_it_is",
        "its layer was made at script.py, line 12",
    ]


def test_a_placeholder_that_is_not_fed_is_named():
    x, y = K.placeholder((2,), name="x"), K.placeholder((2,), name="y")
    with pytest.raises(
        DisconnectedGraphError, match=r"'y' is needed by add\(x, y\).*inputs, which are: x"
    ):
        K.function([x], x + y)


def test_the_learning_phase_need_not_be_fed():
    y = K.in_train_phase(K.constant(1.0), K.constant(2.0))
    assert K.function([], y)([]) == 2.0
    assert K.function([K.learning_phase()], y)([1.0]) == 1.0


@pytest.mark.parametrize("arrays", [[], [[1.0], [2.0]]])
def test_as_many_arrays_as_inputs_are_wanted(arrays):
    x = K.placeholder((None,))
    with pytest.raises(DataError, match=f"expected 1 arrays.*got {len(arrays)}"):
        K.function([x], x)(arrays)


def test_arrays_come_as_a_list():
    x = K.placeholder((None,))
    with pytest.raises(DtypeError, match="expected a list of inputs"):
        K.function([x], x)(np.ones(1))


@pytest.mark.parametrize("array", [np.ones(3), np.ones((2, 4)), 1.0])
def test_an_array_must_fit_its_tensor(array):
    x = K.placeholder((None, 3), name="x")
    with pytest.raises(ShapeError, match=r"input 'x': expected an array of shape \(None, 3\)"):
        K.function([x], x)([array])


def test_what_is_no_number_is_refused():
    x = K.placeholder((None,), name="x")
    with pytest.raises(DtypeError, match="input 'x': cannot be read as float32"):
        K.function([x], x)([["text"]])


def test_unknown_arguments_are_refused():
    with pytest.raises(ArgumentError, match="unknown argument 'udpates'"):
        K.function([], [], udpates=[])


@pytest.mark.parametrize(
    ("pair", "error"),
    [
        (lambda v: (v + 1, v), DtypeError),
        (lambda v: (v, K.variable([1.0, 2.0, 3.0])), ShapeError),
    ],
)
def test_an_update_is_a_variable_and_a_value_of_its_shape(pair, error):
    with pytest.raises(error, match="updates: "):
        K.function([], [], updates=[pair(K.variable([1.0, 2.0]))])


def memory(arrays):
    return [a for a in arrays if isinstance(a, np.ndarray)]


def test_outputs_share_memory_with_nothing():
    x, v = K.placeholder((4,)), K.variable(np.ones(4))
    new = v * 2
    outputs = [x, v, K.identity(x), K.identity(v), K.reshape(v, (2, 2)), x[::2], new, new]
    outputs += [K.constant([1.0, 2.0]), K.exp(x), K.reshape(K.exp(x), (2, 2)), K.transpose(v)]
    f = K.function([x], outputs, updates=[(v, new)])
    fed = np.ones(4, "float32")
    results = memory(f([fed]))
    others = [fed, v.get_value(borrow=True)]
    for position, result in enumerate(results):
        assert not any(np.shares_memory(result, other) for other in others)
        assert not any(np.shares_memory(result, y) for y in results[position + 1 :])
    for result in results:
        result[...] = -1
    assert v.get_value().tolist() == [2.0] * 4


def test_updates_share_memory_with_nothing():
    x = K.placeholder((4,))
    a, b, c = (K.variable(np.zeros(4)) for _ in range(3))
    new = x + 1
    K.function([x], [], updates=[(a, new), (b, new), (c, x)])([fed := np.ones(4, "float32")])
    arrays = [v.get_value(borrow=True) for v in (a, b, c)]
    assert not np.shares_memory(arrays[0], arrays[1])
    assert not np.shares_memory(arrays[2], fed)


def test_a_tensor_in_the_middle_can_be_fed():
    x = K.placeholder((2,), name="x")
    middle = x * 100
    f = K.function([middle], middle + 1)
    assert f([[1.0, 2.0]]).tolist() == [2.0, 3.0]
    assert [step.apply.op.name for step in f.schedule.steps] == ["add"]


def test_a_variable_can_be_fed_and_keeps_its_value():
    v = K.variable(1.0)
    assert K.function([v], v * 2)([5.0]) == 10.0
    assert K.get_value(v) == 1.0


def training_step():
    x, w = K.placeholder((None, 3)), K.variable(np.ones((3, 2)))
    loss = K.mean(K.square(K.tanh(K.dot(x, w)) - 0.5))
    return w, K.function([x], [loss], updates=[(w, w - K.gradients(loss, w)[0])])


def test_a_call_that_is_walked_gives_the_same_bits_as_one_that_is_drained():
    x = np.random.default_rng(0).normal(size=(5, 3))
    weights = []
    for road in ("call", "walk", "watch"):
        w, f = training_step()
        for _ in range(3):
            if road == "call":
                f([x])
            elif road == "walk":
                for _ in f.stage([x]):
                    pass
            else:
                with observing(lambda stage, event: None):
                    f([x])
        weights.append(w.get_value().tobytes())
    assert weights[0] == weights[1] == weights[2]


def test_a_walk_shows_each_op_and_then_each_update():
    w = K.variable(1.0)
    events = list(K.function([], [w * 2], updates=[(w, w + 1)]).stage([]))
    assert [type(event) for event in events] == [Step, Step, Update]
    assert [repr(event) for event in events[:2]] == [
        "multiply(variable, 2) -> multiply",
        "add(variable, 1) -> add",
    ]


def test_arrays_are_let_go_after_their_last_use():
    x = K.placeholder((2,))
    f = K.function([x], K.exp(K.exp(K.exp(x))))
    stage = f.stage([[0.0, 0.0]])
    held = [sum(v is not None for v in stage.names["values"]) for _ in stage]
    assert held[-1] <= 2


def test_an_op_that_is_used_twice_is_performed_once():
    x = K.placeholder(())
    y = K.exp(x)
    f = K.function([x], [y + y, y * y])
    assert [step.apply.op.name for step in f.schedule.steps] == ["exp", "add", "multiply"]
