import numpy as np
import pytest

from kerascope import Model, draw
from kerascope.errors import NotBuiltError, NotCompiledError
from kerascope.layers import Dense, Input
from kerascope.viz.draw import as_names


class OwnCall(Model):
    def __init__(self):
        super().__init__(name="own_call")
        self.head = Dense(1, name="head")

    def call(self, inputs):
        return self.head(inputs)


def test_layers_stand_for_their_names():
    dense = Dense(1, name="head")
    assert as_names(dense) == "head"
    assert as_names([dense, "x"]) == ["head", "x"]
    assert as_names(3) == 3


def test_gradients_of_a_model_without_a_graph_build_nothing():
    model = OwnCall()
    x, y = np.ones((2, 3)), np.ones((2, 1))
    model(x)
    model.compile("sgd", "mse")
    with pytest.raises(NotBuiltError, match="draw: gradients=: .* train on a batch first"):
        draw(model, gradients=(x, y))
    assert model.inputs == []
    model.train_on_batch(x, y)
    assert "gradient_norm" in draw(model, gradients=(x, y)).graph.node("head").attrs


def test_gradients_need_a_loss():
    x = Input(shape=(3,), name="x")
    with pytest.raises(NotCompiledError, match="draw: gradients=: .* Compile it first"):
        draw(Model(x, Dense(1)(x)), gradients=(np.ones((2, 3)), np.ones((2, 1))))
