"""Compares the student's stateless calls with calls that have a state, on drawn layers."""

import numpy as np

from kerascope.learn import Text, check


class Layer:
    """A layer with drawn variables, whose call does drawn things to them."""

    def __init__(self, variable, seed):
        self.rng = np.random.default_rng(seed)
        shapes = [(2,), (), (2, 2)][: self.rng.integers(1, 4)]
        self.variables = [
            variable(self.rng.integers(-4, 5, shape).astype("float64")) for shape in shapes
        ]
        self.ways = [self.rng.integers(3) for _ in shapes]
        self.ways[0] = seed % 2
        self.fails = False

    def __call__(self, x, factor=1.0):
        total = x * factor
        for variable, way in zip(self.variables, self.ways, strict=True):
            total = total + variable.value.sum()
            if way == 0:
                variable.assign(0.5 * variable.value + x.mean())
            elif way == 1:
                variable.value += 1.0
        if self.fails:
            raise RuntimeError("the layer cannot do that")
        return total


def values_of(layer):
    return [variable.value.copy() for variable in layer.variables]


def in_place(layer):
    return Text(
        "; it changes an array in place" if 1 in layer.ways else "",
        "；它就地改动了数组" if 1 in layer.ways else "",
    )


def require_as_before(student, layer, before, when):
    for number, (variable, value) in enumerate(zip(layer.variables, before, strict=True)):
        student.require(
            np.array_equal(variable.value, value),
            en=f"expected variable {number} of the layer to be as before {when.en}, "
            f"it was {value.tolist()}, now it is {variable.value.tolist()}",
            zh=f"{when.zh}，层的变量 {number} 应和之前一样，原来是 {value.tolist()}，"
            f"现在是 {variable.value.tolist()}",
        )


@check
def as_with_a_state(student):
    stateless_call = student.get("stateless_call")
    stateless_call = student.method(stateless_call, "stateless_call", changes=(0,))
    for seed in range(6):
        layer, twin = (Layer(student.get("Variable"), seed) for _ in range(2))
        values = [value + 1.0 for value in values_of(layer)]
        for variable, value in zip(twin.variables, values, strict=True):
            variable.assign(value)
        for step in range(3):
            x = np.arange(3.0) + step
            before, given = values_of(layer), [value.copy() for value in values]
            found = stateless_call(layer, values, x, 2.0)
            outputs, new = student.listed("stateless_call(...)", found, 2)
            student.close(
                Text(f"the outputs of call {step}", f"第 {step} 次调用的输出"),
                outputs,
                twin(x, 2.0),
            )
            new = student.listed(Text("the new values", "新的值"), new, len(layer.variables))
            for number, (one, variable) in enumerate(zip(new, twin.variables, strict=True)):
                student.close(
                    Text(
                        f"new value {number} after call {step}",
                        f"第 {step} 次调用之后的新值 {number}",
                    ),
                    one,
                    variable.value,
                )
            for number, (one, old) in enumerate(zip(values, given, strict=True)):
                student.require(
                    np.array_equal(one, old),
                    en=f"expected values[{number}] not to be changed, it was {old.tolist()}, now "
                    f"it is {one.tolist()}{in_place(layer).en}",
                    zh=f"values[{number}] 不应改动，原来是 {old.tolist()}，"
                    f"现在是 {one.tolist()}{in_place(layer).zh}",
                )
            require_as_before(student, layer, before, Text("after the call", "调用之后"))
            values = [np.array(one) for one in new]


@check
def an_error(student):
    stateless_call = student.get("stateless_call")
    for seed in range(4):
        layer = Layer(student.get("Variable"), seed)
        layer.fails = True
        before = values_of(layer)
        try:
            stateless_call(layer, [value + 1.0 for value in before], np.ones(3))
            raised = "nothing"
        except RuntimeError:
            raised = ""
        student.require(
            raised == "",
            en="expected the layer's error to be passed on, nothing was raised",
            zh="层的错误应当传出去，却没有抛出错误",
        )
        when = Text("after a call that raised an error", "调用抛出错误之后")
        require_as_before(student, layer, before, when)


@check
def how_many_values(student):
    stateless_call = student.get("stateless_call")
    layer = Layer(student.get("Variable"), 0)
    before = values_of(layer)
    for values in ([*before, np.zeros(2)], before[:-1]):
        try:
            stateless_call(layer, values, np.ones(3))
            is_met = False
        except ValueError:
            is_met = True
        student.require(
            is_met,
            en=f"expected a ValueError with {len(values)} values for {len(before)} variables",
            zh=f"{len(before)} 个变量给了 {len(values)} 个值，应抛出 ValueError",
        )
        require_as_before(
            student, layer, before, Text("after the ValueError", "抛出 ValueError 之后")
        )
