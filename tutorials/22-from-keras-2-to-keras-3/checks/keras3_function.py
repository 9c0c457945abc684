"""Runs drawn graphs of Operations and compares with the same calls on arrays."""

import random

import numpy as np

from kerascope.learn import Text, check


def operations(student, made):
    """Return three kinds of Operations on the student's classes; their runs are noted in `made`."""
    base = student.get("Operation")

    class Noted(base):
        def __init__(self, name):
            self.name = name

        def compute_output_shape(self, *operands):
            return (3,)

        def call(self, *operands):
            made.append(self.name)
            return self.compute(*operands)

    class Add(Noted):
        def compute(self, x, y):
            return x + y

    class Subtract(Noted):
        def compute(self, x, y):
            return x - y

    class Double(Noted):
        def compute(self, x):
            return 2.0 * x

    return Add, Subtract, Double


class Graph:
    """A drawn graph of Operations: its tensors, the calls in words, and the calls they need."""

    def __init__(self, student, seed):
        rng = random.Random(seed)
        self.made = []
        add, subtract, double = operations(student, self.made)
        tensor = student.get("KerasTensor")
        self.inputs = [tensor((3,)) for _ in range(3)]
        self.words = {one: f"x{number}" for number, one in enumerate(self.inputs)}
        self.values = {one: np.arange(3.0) + 10.0 * n for n, one in enumerate(self.inputs, 1)}
        self.calls = {}  # of each tensor: its Operation's name and its operands
        shared = [add("add"), subtract("subtract"), double("double")]
        for number in range(8):
            operation = rng.choice([*shared, subtract(f"subtract{number}")])
            known = list(self.words)
            if isinstance(operation, double):
                operands = [rng.choice(known)]
            else:
                operands = [rng.choice(known[-3:]), rng.choice([*known, np.full(3, 0.5)])]
                rng.shuffle(operands)
            self.call(operation, operands)

    def call(self, operation, operands):
        made = operation(*operands)
        words = [self.words[x] if not isinstance(x, np.ndarray) else "0.5" for x in operands]
        self.words[made] = f"{operation.name}({', '.join(words)})"
        self.calls[made] = (operation, operands)

    def run(self, inputs, outputs, values):
        """Return the arrays of the outputs, and the names of the Operations that they need."""
        found, names = dict(zip(inputs, values, strict=True)), []

        def compute(x):
            if isinstance(x, np.ndarray):
                return x
            if x not in found:
                operation, operands = self.calls[x]
                given = [compute(one) for one in operands]
                names.append(operation.name)
                found[x] = operation.compute(*given)
            return found[x]

        return [compute(x) for x in outputs], sorted(names)

    def compare(self, student, inputs, outputs, values):
        words = ", ".join(self.words[x] for x in outputs)
        name = f"function([{', '.join(self.words[x] for x in inputs)}], [{words}])"
        function = student.method(student.function("function")(inputs, outputs), name)
        self.made.clear()
        found = student.listed(
            f"{name}(arrays)", function([x.copy() for x in values]), len(outputs)
        )
        made = sorted(self.made)
        expected, names = self.run(inputs, outputs, values)
        for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
            student.close(
                Text(f"output {number} of {name}", f"{name} 的第 {number} 个输出"),
                one,
                wanted,
            )
        student.same(Text(f"the calls made by {name}", f"{name} 执行的调用"), made, names)
        return function, name


@check
def drawn_graphs(student):
    for seed in range(6):
        graph = Graph(student, seed)
        outputs = random.Random(seed).sample(list(graph.calls), 2)
        values = [graph.values[x] for x in graph.inputs]
        function, name = graph.compare(student, graph.inputs, outputs, values)
        again = [value + 1.0 for value in values]
        found = student.listed(f"{name}(arrays)", function(again), 2)
        expected, _ = graph.run(graph.inputs, outputs, again)
        for number, (one, wanted) in enumerate(zip(found, expected, strict=True)):
            student.close(
                Text(
                    f"output {number} of {name} in a second run on other arrays",
                    f"换了数组再运行一次，{name} 的第 {number} 个输出",
                ),
                one,
                wanted,
            )


@check
def from_the_middle(student):
    for seed in range(6):
        graph = Graph(student, 20 + seed)
        made = list(graph.calls)
        inputs = [*graph.inputs, made[2], made[4]]
        outputs = [made[-1], made[4], graph.inputs[0]]
        values = [np.arange(3.0) * number for number in range(1, 6)]
        graph.compare(student, inputs, outputs, values)


@check
def not_connected(student):
    function = student.get("function")
    for seed in range(4):
        graph = Graph(student, 40 + seed)
        for output, (_, operands) in graph.calls.items():
            needed = [x for x in operands if x in graph.inputs]
            if not needed:
                continue
            rest = [x for x in graph.inputs if x is not needed[0]]
            graph.made.clear()
            try:
                function(rest, [output])
                raised = Text("nothing is raised", "没有抛出错误")
            except ValueError:
                raised = None
            except Exception as error:
                raised = Text(
                    f"{type(error).__name__} is raised", f"抛出的是 {type(error).__name__}"
                )
            what = f"function([{', '.join(graph.words[x] for x in rest)}], [{graph.words[output]}])"
            student.require(
                raised is None,
                en=f"expected {what} to raise ValueError, {raised and raised.en}",
                zh=f"{what} 应抛出 ValueError，{raised and raised.zh}",
            )
            break
