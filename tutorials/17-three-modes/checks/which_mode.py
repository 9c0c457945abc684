"""Compares the student's predicted modes with the mode of each call of a layer."""

import numpy as np

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.graph import Constant
from kerascope.layers import Input, Layer
from kerascope.learn import Text, check

BODIES = {
    "eager": Text("the body ran on numbers", "函数体是对数运行的"),
    "graph": Text(
        "the body ran on a symbol, and no Node was made", "函数体对符号运行，没有造 Node"
    ),
    "symbolic": Text(
        "the body ran on a symbol, and a Node was made", "函数体对符号运行，造了一个 Node"
    ),
}


class Spy(Layer):
    def call(self, inputs):
        self.seen = inputs
        return inputs * 2.0


def mode_seen(use):
    spy = Spy()
    use(spy)
    if spy.inbound_nodes:
        return "symbolic"
    return "eager" if isinstance(spy.seen, Constant) else "graph"


@check
def the_predictions(student):
    array = np.ones((4, 3))
    uses = {
        "on_an_array": lambda layer: layer(array),
        "compiled": lambda layer: ks.compiled(layer)(array),
        "on_an_input": lambda layer: layer(Input(shape=(3,))),
        "on_a_placeholder": lambda layer: layer(K.placeholder((None, 3))),
        "on_an_op": lambda layer: layer(Input(shape=(3,)) * 2),
    }
    for name, use in uses.items():
        expected = mode_seen(use)
        student.same(name, student.get(name), expected, BODIES[expected])


@check
def the_function(student):
    mode_of = student.function("mode_of")
    x = Input(shape=(3,))
    things = {
        "np.zeros((2, 3))": np.zeros((2, 3)),
        "Input(shape=(3,))": x,
        "Spy()(Input(shape=(3,)))": Spy()(x),
        "K.exp(Input(shape=(3,)))": K.exp(x),
        "K.placeholder((2, 3))": K.placeholder((2, 3)),
        "K.variable(np.ones((2, 3)))": K.variable(np.ones((2, 3))),
        "np.ones((3,), dtype='int32')": np.ones((3,), dtype="int32"),
    }
    for words, thing in things.items():
        expected = mode_seen(lambda layer, thing=thing: layer(thing))
        student.same(f"mode_of({words})", mode_of(thing), expected, BODIES[expected])
