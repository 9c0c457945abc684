"""Compares the student's predictions with the number of times that a layer's `call` has run.

The student's cache `keep` is tested with batches of several sizes.
"""

import numpy as np

import kerascope as ks
from kerascope.layers import Layer
from kerascope.learn import Text, check

SIZES = (8, 8, 3)
WHY = {
    "eager": Text("each eager call runs it", "eager 的每次调用都运行它"),
    "graph": Text("the size of the batch is left open", "批的大小是空着的"),
    "columns": Text("each number of columns has a trace of its own", "每种列数各跟踪一次"),
    "converted": Text("a new function knows no trace", "新的函数没有跟踪过任何东西"),
}


class Spy(Layer):
    runs = 0

    def call(self, inputs):
        self.runs += 1
        return inputs * 2.0


@check
def the_predictions(student):
    layer = Spy()
    kept = ks.compiled(layer)
    lines = {
        "eager": lambda n: layer(np.ones((n, 5))),
        "graph": lambda n: kept(np.ones((n, 5))),
        "columns": lambda n: kept(np.ones((5, n))),
        "converted": lambda n: ks.compiled(layer)(np.ones((n, 5))),
    }
    for name, line in lines.items():
        before = layer.runs
        for n in SIZES:
            line(n)
        student.same(name, student.get(name), layer.runs - before, WHY[name])


@check
def the_box(student):
    layer = Spy()
    kept = student.function("keep")(layer)
    for n in SIZES:
        array = np.arange(n * 5.0).reshape(n, 5)
        student.close(
            Text(f"what came out for {n} rows", f"{n} 行数据的结果"), kept(array), 2 * array
        )
    runs = Text("the number of runs of the body in 3 calls", "3 次调用中函数体运行的次数")
    student.same(runs, layer.runs, 1)
    other = student.function("keep")(lambda x: x - 1.0)
    what = Text("the output of a second function, for x - 1", "另一个函数（x - 1）的结果")
    student.close(what, other(array), array - 1.0)
    student.close(
        Text("the output of the first function then", "此后第一个函数的结果"),
        kept(array),
        2 * array,
    )
