"""What a checker can demand, and what is said when it is not met."""

from types import ModuleType

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.learn import drawn_networks, tower
from kerascope.learn.showing import difference_of_gradients, is_same, shown
from kerascope.learn.student import Student
from kerascope.learn.verdicts import Text, Unmet
from kerascope.models import Model


@pytest.fixture
def student():
    return Student(ModuleType("exercise"), "exercise.py")


def test_what_is_met_is_counted(student):
    student.same("x", [1, 2.0], (1, 2.0))
    student.order("calls", ["a", "b"], ["a", "b"])
    student.close("x", [1.0], [1.0 + 1e-9])
    student.require(True, en="", zh="")
    assert student.met == 6  # close: numbers, shape, elements


@pytest.mark.parametrize(
    ("demand", "arguments", "en", "zh"),
    [
        (
            "same",
            ("n", 16320, 16362),
            "expected n to be 16,362, yours is 16,320",
            "n 应为 16,362，你的是 16,320",
        ),
        (
            "same",
            (Text("the size", "大小"), "a", None, Text("why", "因为")),
            "expected the size to be None, yours is 'a': why",
            "大小应为 None，你的是 'a'：因为",
        ),
        (
            "same",
            ("b", 1, True),
            "expected b to be True, yours is the number 1",
            "b 应为 True，你的是数 1",
        ),
        (
            "tensor",
            ("y", np.ones(2)),
            "expected y to be a symbolic tensor, yours is an array (2,) float64",
            "y 应是一个符号张量，你的是数组 (2,) float64",
        ),
        (
            "close",
            ("y", "a", 1),
            "expected y to be numbers, yours is the text 'a'",
            "y 应是数值，你的是文本 'a'",
        ),
        (
            "close",
            ("y", [[1.0]], [1.0]),
            "expected the shape of y to be (1,), yours is (1, 1)",
            "y 的形状应为 (1,)，你的是 (1, 1)",
        ),
        (
            "close",
            ("y", [1.0, 5.0], [1.0, 2.0]),
            "expected y[1] to be 2, yours is 5",
            "y[1] 应为 2，你的是 5",
        ),
        (
            "close",
            (Text("the gradient", "梯度"), [float("nan")], [0.0]),
            "expected the gradient, at [0], to be 0, yours is nan",
            "梯度，[0] 处应为 0，你的是 nan",
        ),
        (
            "order",
            ("calls", ["a", "b"], ["a", "c", "d"]),
            "calls: expected number 2 to be 'c', yours is 'b'",
            "calls：第 2 个应为 'c'，你的是 'b'",
        ),
        (
            "order",
            ("calls", ["a"], ["a", "c"]),
            "calls: expected number 2 to be 'c', yours has none",
            "calls：第 2 个应为 'c'，你的没有",
        ),
        (
            "order",
            ("calls", ["a", "b"], ["a"]),
            "calls: expected number 2 to be none (all are done), yours is 'b'",
            "calls：第 2 个应为无（已全部完成），你的是 'b'",
        ),
    ],
)  # fmt: skip
def test_what_is_not_met_is_said_in_both_languages(student, demand, arguments, en, zh):
    with pytest.raises(Unmet) as told:
        getattr(student, demand)(*arguments)
    assert told.value.message == Text(en, zh)


def test_tensors_are_the_same_only_if_they_are_one(student):
    x, y = K.variable(1.0, name="x"), K.variable(1.0, name="x")
    assert is_same(x, x)
    assert is_same([x, (y,)], [x, (y,)])
    assert not is_same(x, y)
    assert not is_same(x, 1.0)


def test_addresses_and_long_values_do_not_reach_a_message():
    assert "0x" not in shown(object())
    assert len(shown("a" * 1000)) == 90


def test_a_gradient_that_forgets_what_arrives_is_told_from_a_right_one(student):
    student.gradient("square", K.square, [[[1.0, -2.0]]])
    with pytest.raises(Unmet, match="finite differences give 0, your gradient gives"):
        student.gradient("abs", lambda x: K.abs(x) - K.stop_gradient(K.abs(x)) + 0 * x, [[3.0]])


def test_a_gradient_that_does_not_flow_counts_as_zero():
    worst = difference_of_gradients(lambda x, y: x * K.stop_gradient(y), [[2.0], [3.0]])
    assert (worst.number, worst.place, worst.exact) == (1, (0,), 0.0)
    assert worst.approximate == pytest.approx(3.0)
    assert not worst.is_small


def test_a_gradient_that_is_no_number_is_not_small():
    worst = difference_of_gradients(lambda x: K.sqrt(x - K.stop_gradient(x)) * 0 + x, [[1.0]])
    assert not worst.is_small


def test_a_gradient_of_another_shape_is_told(student):
    class Wide(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x * 2

        def grad(self, inputs, outputs, output_grads):
            return [K.sum(output_grads[0], axis=0, keepdims=True)]

    with pytest.raises(Unmet) as told:
        student.gradient("Wide", Wide(), [np.ones((2, 3))])
    assert told.value.message == Text(
        "expected the gradient for input 0 to have its shape (2, 3), yours has (1, 3)",
        "第 0 个输入的梯度应与它同形 (2, 3)，你的是 (1, 3)",
    )


def asked(student, source, *arguments, changes=()):
    """Define the student's function `f`, and ask it."""
    exec(source, vars(student.module))
    return student.function("f", changes)(*arguments)


def said(demand, *arguments, **options):
    with pytest.raises(Unmet) as told:
        demand(*arguments, **options)
    assert told.value.message.en != told.value.message.zh
    return told.value.message.en


@pytest.mark.parametrize("found", [3.0, np.float64(3), np.float32(3)])
def test_a_float_is_no_whole_number(student, found):
    words = "expected n to be the int 3, yours is the float 3.0"
    assert said(student.same, "n", found, 3) == words
    assert not is_same([3, found], [3, 3])
    for right in (3, np.int64(3), np.array(3)):
        student.same("n", right, 3)
    student.same("x", 3, 3.0)


def test_a_function_that_prints_its_answer_is_told_to_return_it(student, capsys):
    for demand, arguments in (
        (student.same, (4,)),
        (student.close, (4.0,)),
        (student.tensor, ()),
        (student.listed, ()),
    ):
        answer = asked(student, "def f(x): print(2 * x)", 2)
        message = said(demand, "f(2)", answer, *arguments)
        assert message.endswith("f(...) printed 4 but returned nothing: `return` hands an answer "
                                "back, `print` only shows it")  # fmt: skip
    assert capsys.readouterr().out == "4\n" * 4


def test_a_method_that_prints_its_answer_is_told_to_return_it(student, capsys):
    source = """
class Own:
    def get_config(self): print(self)
    def __call__(self, numbers): print(numbers)
    def unwritten(self): return ...
    def eats(self, config): config.pop("name"); return 1
    def stops(self): return 1 / 0
    @classmethod
    def made(cls): print(cls)
"""
    exec(compile(source, student.path, "exec"), vars(student.module))
    own = student.get("Own")()
    for method, name, arguments in (
        (own.get_config, "get_config", ()),
        (own.made, "made", ()),
        (own, "own", ([1],)),
    ):
        answer = student.method(method, name)(*arguments)
        message = said(student.listed, f"{name}()", answer)
        assert f"yours is None; {name}(...) printed " in message
        assert " but returned nothing: `return` hands an answer back" in message
    assert "it still returns `...`" in said(student.method(own.unwritten, "unwritten"))
    assert "has changed {'name': 1} into {}" in said(student.method(own.eats, "eats"), {"name": 1})
    assert student.method(own.eats, "eats", changes=(0,))({"name": 1}) == 1
    assert "stops(...) stopped at line 7 with ZeroDivisionError" in said(
        student.method(own.stops, "stops")
    )


def test_who_prints_and_returns_hears_nothing_of_it(student):
    answer = asked(student, "def f(x):\n    print(x)\n    return x", 2)
    assert said(student.same, "f(2)", answer, 4) == "expected f(2) to be 4, yours is 2"
    asked(student, "def f(x): print(x)", 2)
    student.same("f(2)", None, None)  # nothing was the answer
    assert said(student.same, "g", 1, 2) == "expected g to be 2, yours is 1"


@pytest.mark.parametrize(
    ("change", "argument"),
    [
        ("x.append(1)", [2]),
        ("x.sort()", [2, 1]),
        ("x[0] = 1", [2]),
        ("x.pop()", [2]),
        ("x[0] = 1", {0: 2}),
        ("x[1] = 1", {0: 2}),
        ("x.add(1)", {2}),
        ("x += 1", np.zeros(2)),
        ("x[0] = 1", np.zeros(2, dtype=int)),
    ],
)
def test_who_changes_what_he_was_given_is_told_so(student, change, argument):
    source = f"def f(y, x):\n    {change}\n    return 1"
    before = argument.copy()
    message = said(asked, student, source, 0, argument)
    assert message.startswith("expected f(...) not to change its arguments, yours has changed")
    assert asked(student, source, 0, before, changes=(1,)) == 1


def test_what_is_given_back_as_it_was_counts_as_unchanged(student):
    numbers, array = [1, 2], np.array([0.1, 0.2])
    source = (
        "def f(x, a):\n    x.append(3); x.pop()\n    a += 1e-5; a -= 2e-5; a += 1e-5\n    return 1"
    )
    assert asked(student, source, numbers, array) == 1


def test_a_tensor_is_no_list(student):
    y = K.variable([1.0, 2.0], name="y")
    assert said(student.listed, "f(x)", y) == (
        "expected f(x) to be a list, yours is the tensor 'y': put it into a list, [tensor]"
    )
    assert said(student.order, "f(x)", y, [1]) == said(student.listed, "f(x)", y)
    assert said(student.listed, "f(x)", "ab").endswith("to be a list, yours is the text 'ab'")
    assert said(student.listed, "f(x)", [1], 2) == "expected f(x) to have 2 items, yours has 1"
    one_of_two = said(student.listed, "f(x)", np.zeros((2, 2)), 2)
    assert one_of_two.endswith("yours is an array (2, 2) float64: a list of 2 is needed")
    assert student.listed("f(x)", (y,), 1) == [y]


def test_new_values_alone_are_no_pairs(student):
    y = K.variable([1.0, 2.0], name="y")
    assert said(student.pairs, "pairs", [(y, y), y]) == (
        "expected pairs[1] to be a pair (variable, new value), yours is the tensor 'y': "
        "a new value alone does not say which variable it is for"
    )
    assert student.pairs("pairs", [[y, y]], 1) == [(y, y)]


@pytest.mark.parametrize("cut", [K.relu, lambda x: -K.relu(-x)], ids=["upwards", "downwards"])
def test_what_arrives_has_either_sign(student, cut):
    class Half(Op):
        """Sends back only half of what arrives: that of one sign."""

        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x * 1.0

        def grad(self, inputs, outputs, output_grads):
            return [cut(output_grads[0])]

    with pytest.raises(Unmet, match="your gradient gives -?0"):
        student.gradient("Half", Half(), [[1.0, 2.0]])


def test_networks_are_the_same_each_time_and_of_every_kind():
    first, again = drawn_networks(outputs=2), drawn_networks(outputs=2)
    assert [one.words for one in first] == [one.words for one in again]
    words = " ".join(one.words for one in first)
    assert "), x0)" in words, "a merge of three"
    for kind in ("shared(", "add", "dense", "x0", "x1", "x2"):
        assert kind in words
    assert {len(one.inputs) for one in drawn_networks()} >= {1, 2}
    called = [one.outputs[-1]._keras_history.layer for one in first]
    assert any(len(layer.inbound_nodes) == 2 for layer in called)
    for one in first:
        Model(one.inputs, one.outputs)  # no input is missing, and none too many


def test_a_tower_counts_the_questions_that_its_nodes_are_asked():
    top, asked_nodes = tower(3)

    def walk(node):
        return 1 + sum(walk(parent) for parent in node.parent_nodes)

    assert walk(top) == len(asked_nodes) == 15
    assert asked_nodes.count("level_0") == 8


def test_what_the_student_leaves_to_a_function_of_ours_is_noticed():
    module = ModuleType("exercise")
    code = """
def by_eval(x): return K.eval(x)
def by_function(x): return list(map(lambda f: f([]), [K.function([], x)]))[0]
def by_model(x): return type("Own", (Model,), {})()
"""
    vars(module).update(K=K, Model=Model)
    exec(compile(code, "exercise.py", "exec"), vars(module))
    student = Student(module, "exercise.py")
    x = K.constant(2.0)
    with student.without("f", K_function=K.function, Model=Model.__init__):
        student.function("by_eval")(x)
    look = student.without("f", K_is_tensor=K.eval)
    with pytest.raises(Unmet, match="yours calls K.is_tensor$"), look:
        student.function("by_eval")(x)
    for name, word in (("by_function", "K.function"), ("by_model", "Model")):
        look = student.without("f", K_function=K.function, Model=Model.__init__)
        with pytest.raises(Unmet, match=f"yours calls {word}"), look:
            student.function(name)(x)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_of_an_array_that_was_changed_the_first_changed_number_is_told(student, dtype):
    def change(array):
        array[1, 2] = 7

    student.module.change = change
    with pytest.raises(Unmet) as told:
        student.function("change")(np.zeros((2, 3), dtype))
    words = f"yours has changed 0 at [1, 2] of an array (2, 3) {dtype} into 7; make a copy first"
    assert words in told.value.message.en
    assert f"0（数组 (2, 3) {dtype} 的 [1, 2] 处） 改成了 7" in told.value.message.zh
