"""Makes the calls of the exercise, while an observer records whether the graph is run."""

import numpy as np

from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.stage import Mark, observing


def answer_of(work):
    """Return "miss" if the graph runs during the work, otherwise "hit"."""
    runs = []

    def note(stage, event):
        if stage.name == "run_internal_graph" and event is Mark.started:
            runs.append(stage)

    with observing(note):
        work()
    return "miss" if runs else "hit"


WHY = {
    "the_same_input": Text("the key is the tensor a", "键就是张量 a"),
    "the_same_shape": Text("b is another tensor", "b 是另一个张量"),
    "in_a_list": Text("call makes a list of its input anyway", "call 本来就会把输入变成列表"),
    "new_weights": Text(
        "the cache stores a formula, not its value", "存下的是公式，不是它得出的数"
    ),
    "a_twin": Text("each network has a cache of its own", "每个网络各有自己的缓冲"),
    "numbers_again": Text("numbers are never kept", "数从来不存"),
}


def expected():
    inputs = Input(shape=(3,))
    model = Model(inputs, Dense(2)(inputs))
    a, b, array = Input(shape=(3,)), Input(shape=(3,)), np.ones((1, 3))
    model(a)
    answers = {
        "the_same_input": answer_of(lambda: model(a)),
        "the_same_shape": answer_of(lambda: model(b)),
        "in_a_list": answer_of(lambda: model([a])),
    }
    model.set_weights([2.0 * weight + 1.0 for weight in model.get_weights()])
    answers["new_weights"] = answer_of(lambda: model(a))
    twin = Model(inputs, model.output)
    answers["a_twin"] = answer_of(lambda: twin(a))
    model(array)
    answers["numbers_again"] = answer_of(lambda: model(array))
    return answers


@check
def the_predictions(student):
    for name, answer in expected().items():
        student.same(name, student.get(name), answer, WHY[name])
