"""Counts the stages that run in a `fit`, and in the student's calls of the model after it."""

from collections import Counter

import numpy as np

from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.stage import Mark, observing

ROWS, BATCH, EPOCHS = 50, 32, 3
SIZES = (4, 7)  # of the rows


def begun_while(work):
    """Return the number of stages that begin during the work, by name, and the work's result."""
    begun = Counter()

    def note(stage, event):
        if event is Mark.started:
            begun[stage.name] += 1
            begun[stage.name, id(stage.subject)] += 1

    with observing(note):
        result = work()
    return begun, result


def compiled(size):
    inputs = Input(shape=(size,))
    model = Model(inputs, Dense(1)(Dense(3)(inputs)))
    model.compile("sgd", "mse")
    return model


def trained(size=SIZES[0]):
    model, data = compiled(size), np.ones((ROWS, size))
    settings = {"batch_size": BATCH, "epochs": EPOCHS, "verbose": 0}
    begun, _ = begun_while(lambda: model.fit(data, np.ones(ROWS), **settings))
    return model, begun


@check
def the_predictions(student):
    _, begun = trained()
    for name, stage, why in (
        ("layer_calls", "layer_call", Text("the model was built before", "模型早已搭建好了")),
        ("graph_runs", "run_internal_graph", Text("nothing runs it in fit", "fit 中没有谁去运行它")),
        ("function_calls", "train_function", Text("once for each batch", "每批一次")),
    ):  # fmt: skip
        student.same(name, student.get(name), begun[stage], why)


def runs_and_entries(student, name, size):
    model, _ = trained(size)
    begun, result = begun_while(lambda: student.function(name)(model))
    student.same(
        Text(f"runs of the graph in {name}", f"{name} 中图的运行次数"),
        begun["run_internal_graph"],
        1,
    )
    student.same(
        Text(f"entries of the cache after {name}", f"{name} 之后缓冲的项数"),
        len(model._output_tensor_cache),
        1,
    )
    return result, begun["layer_call", id(model)]


@check
def a_run(student):
    for size in SIZES:
        runs_and_entries(student, "one_run", size)


@check
def a_hit(student):
    for size in SIZES:
        outputs, calls = runs_and_entries(student, "one_hit", size)
        student.require(
            isinstance(outputs, (list, tuple)) and len(outputs) == 2,
            en="expected one_hit to return two outputs",
            zh="one_hit 应返回两个输出",
        )
        student.require(
            outputs[0] is outputs[1],
            en="expected the second output to be the same tensor as the first, yours is another",
            zh="第二个输出应就是第一个张量，你的是另一个",
        )
        what = Text("the calls of the model in one_hit", "one_hit 中调用模型的次数")
        student.same(what, calls, 2)
