"""The state of an optimizer in a file: it waits until the train function is made.

Making the train function takes the gradients of the whole model, which a model that is only opened
never needs. These tests would catch a way of asking for the state (training, saving, copying,
reading `weights`) that does not get what the file holds.
"""

import copy
import pickle

import numpy as np
import pytest

from kerascope import Sequential, layers
from kerascope import backend as K
from kerascope.errors import KerascopeWarning, NotYetError
from kerascope.layers.opaque import uncomputable
from kerascope.models import load_model

X, Y = np.linspace(-1, 1, 24).reshape(8, 3), np.linspace(0, 1, 8).reshape(8, 1)


def trained(optimizer="adam"):
    model = Sequential([layers.Dense(4, input_shape=(3,), activation="tanh"), layers.Dense(1)])
    model.compile(optimizer, "mse")
    for _ in range(3):
        model.train_on_batch(X, Y)
    return model


@pytest.fixture(scope="module", params=["adam", "sgd", "rmsprop"])
def model(request):
    return trained(request.param)


@pytest.fixture(params=["keras", "h5"])
def path(request, model, tmp_path):
    model.save(tmp_path / f"first.{request.param}")
    return tmp_path / f"first.{request.param}"


def weights_after_a_step(model):
    model.train_on_batch(X, Y)
    return model.get_weights()


def same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


WAYS = {
    "training": lambda model, _: model,
    "deepcopy": lambda model, _: copy.deepcopy(model),
    "pickle": lambda model, _: pickle.loads(pickle.dumps(model)),
    "saved again": lambda model, path: (model.save(path), load_model(path))[1],
}


@pytest.mark.parametrize("way", WAYS)
def test_the_state_is_there_whoever_asks_for_it(way, model, path):
    opened = load_model(path)
    assert opened.train_function is None
    assert int(opened.optimizer.iterations.get_value()) == 3
    again = WAYS[way](opened, path.with_name(f"second{path.suffix}"))
    assert int(again.optimizer.iterations.get_value()) == 3
    same(weights_after_a_step(again), weights_after_a_step(copy.deepcopy(model)))


def test_reading_the_weights_of_the_optimizer_makes_them(model, path):
    found, expected = load_model(path).optimizer.get_weights(), model.optimizer.get_weights()
    is_plain_sgd = path.suffix == ".keras" and type(model.optimizer).__name__ == "SGD"
    same(found[:1] if is_plain_sgd else found, expected[:1] if is_plain_sgd else expected)


def test_a_model_that_is_compiled_again_begins_afresh(path):
    opened, fresh = load_model(path), load_model(path, compile=False)
    opened.compile(opened.optimizer, "mse")
    assert not any(np.any(slot.get_value()) for slot in opened.optimizer.weights[1:])
    opened.optimizer.iterations.set_value(0)
    fresh.compile(type(opened.optimizer)(), "mse")
    same(weights_after_a_step(opened), weights_after_a_step(fresh))


class Own(layers.Dense):
    pass


class OnlyPredicts(layers.Dense):
    """As a SpectralNormalization of Keras 3: known here in prediction alone."""

    def call(self, inputs):
        outputs = super().call(inputs)
        return K.in_train_phase(lambda: uncomputable(self, outputs, "not trained here"), outputs)


OnlyPredicts.__name__ = "Own"  # after which its weights are called in a file


@pytest.mark.parametrize("form", ["keras", "h5"])
def test_a_compiled_model_that_cannot_be_trained_here_opens_and_is_saved_again(form, tmp_path):
    model = Sequential([Own(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model.train_on_batch(X, np.ones((8, 2)))
    first, second = tmp_path / f"first.{form}", tmp_path / f"second.{form}"
    model.save(first)
    known = {"Own": OnlyPredicts}
    opened = load_model(first, known)
    np.testing.assert_array_equal(opened.predict(X), model.predict(X))
    with pytest.raises(NotYetError, match="not trained here"):
        opened.train_on_batch(X, np.ones((8, 2)))
    opened = load_model(first, known)
    with pytest.warns(KerascopeWarning, match="saved state of the optimizer is lost"):
        opened.save(second)
    np.testing.assert_array_equal(load_model(second, known).predict(X), model.predict(X))
