"""States that a layer carries from batch to batch: in training, in test, in nested models."""

import numpy as np
import pytest

from kerascope import Input, Model, Sequential, layers
from kerascope import backend as K
from kerascope.errors import DataError


class Counter(layers.Layer):
    """Adds to its input how many batches it has seen."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.stateful = True

    def build(self, input_shape):
        self.count = self.add_weight("count", (), initializer="zeros", trainable=False)

    def call(self, inputs):
        self.add_update((self.count, self.count + 1), inputs)
        return inputs + self.count

    def reset_states(self):
        K.set_value(self.count, 0.0)


def seen(model):
    return float(model.predict(np.zeros((1, 2)))[0, 0])


def nested():
    inner = Sequential([Counter(input_shape=(2,))])
    x = Input((2,))
    return Model(x, inner(x))


@pytest.mark.parametrize("make", [lambda: Sequential([Counter(input_shape=(2,))]), nested])
def test_predict_moves_the_state_on_and_reset_states_begins_again(make):
    model = make()
    assert model.stateful
    assert [seen(model), seen(model), seen(model)] == [0, 1, 2]
    model.reset_states()
    assert seen(model) == 0


def test_training_and_evaluation_move_it_on_once_each():
    model = nested()
    model.compile("sgd", "mse")
    x = np.zeros((1, 2))
    model.fit(x, x, epochs=2, verbose=0)
    model.evaluate(x, x, verbose=0)
    assert seen(model) == 3


def test_a_frozen_network_keeps_its_states_moving_but_no_statistics():
    inner = Sequential([Counter(input_shape=(2,)), layers.BatchNormalization()])
    x = Input((2,))
    model = Model(x, inner(x))
    inner.trainable = False
    assert [v.name.split("/")[-1] for v, _ in model.updates] == ["count"]
    assert model.updates == model.state_updates


def test_the_state_of_a_call_in_another_model_stays_out():
    counter = Counter()
    a, b = Input((2,)), Input((2,))
    first, second = Model(a, counter(a)), Model(b, counter(b))
    assert len(first.state_updates) == len(second.state_updates) == 1
    assert first.state_updates != second.state_updates


def test_a_network_without_such_layers_is_not_stateful():
    model = Sequential([layers.Dense(2, input_shape=(2,))])
    assert model.stateful is False
    assert model.state_updates == []


def test_states_need_whole_batches():
    model = Sequential([Counter(batch_input_shape=(4, 2))])
    model.compile("sgd", "mse")
    assert model.predict(np.zeros((8, 2))).shape == (8, 2)
    for call in (
        model.predict,
        lambda x: model.fit(x, x, verbose=0),
        lambda x: model.evaluate(x, x),
    ):
        with pytest.raises(DataError, match="Found 10 samples and batches of 4"):
            call(np.zeros((10, 2)))


def test_batches_are_as_large_as_the_input_demands():
    model = Sequential([layers.Dense(1, batch_input_shape=(4, 2))])
    model.compile("sgd", "mse")
    model.fit(np.zeros((8, 2)), np.zeros(8), verbose=0)
    assert model.evaluate(np.zeros((8, 2)), np.zeros(8), verbose=0) >= 0
