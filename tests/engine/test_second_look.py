"""What a careful reader found: each was wrong once."""

from __future__ import annotations

import json
import re

import h5py
import numpy as np
import pytest

from kerascope import backend as K
from kerascope import optimizers
from kerascope.callbacks import LambdaCallback
from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.layers import BatchNormalization, Dense, Dropout, Input, Layer
from kerascope.models import Model, Sequential, load_model
from kerascope.stage import Stage

ONES = np.ones((4, 3), dtype="float32")


def dropped(model_input, output):
    return int((K.function([model_input], [output])([np.ones((2, 50))])[0] == 0).sum())


def test_a_nested_model_called_again_in_another_phase_is_run_again():
    a, x = Input((50,)), Input((50,))
    inner = Model(a, Dropout(0.5)(a))
    assert dropped(x, inner(x)) == 0
    assert 20 < dropped(x, inner(x, training=True)) < 80


def test_a_call_with_a_phase_can_be_nested_and_called_on_arrays():
    x = Input((3,))
    model = Model(x, Dense(2)(Dropout(0.5)(x, training=True), training=True))
    y = Input((3,))
    assert model(y).shape == (None, 2)
    assert model(ONES).shape == (4, 2)


def test_a_function_refuses_an_input_that_is_given_twice():
    x = K.placeholder(shape=(1,), name="x")
    with pytest.raises(ArgumentError, match=re.escape("given twice: [x, x]")):
        K.function([x, x], [x * 1])


def test_what_eval_gives_inside_a_layer_is_the_readers_own():
    class Peeking(Layer):
        def build(self, input_shape):
            self.w = self.add_weight("w", (3,), initializer="ones")

        def call(self, inputs):
            seen = K.eval(self.w)
            seen *= 2
            return inputs * self.w

    layer = Peeking()
    layer(ONES)
    layer(ONES)
    assert layer.get_weights()[0].tolist() == [1, 1, 1]


def test_a_model_made_before_clear_session_still_trains_with_dropout():
    x = Input((50,))
    kept = Dense(50, use_bias=False, kernel_initializer="identity")(Dropout(0.9)(x))
    model = Model(x, kept)
    K.clear_session()
    model.compile(optimizers.SGD(0.0), "mse")
    ones = np.ones((4, 50))
    assert model.train_on_batch(ones, ones) > 0.5
    assert model.test_on_batch(ones, ones) == 0


def test_an_input_that_nothing_uses_is_part_of_the_configuration():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    model = Model([a, b], Dense(1)(a))
    twin = Model.from_config(json.loads(json.dumps(model.get_config())))
    assert twin.input_names == ["a", "b"]


def test_a_layer_frozen_inside_a_nested_model_keeps_its_statistics():
    a, x = Input((3,)), Input((3,))
    normal = BatchNormalization(momentum=0.5)
    inner = Model(a, normal(a))
    model = Model(x, Dense(1)(inner(x)))
    normal.trainable = False
    model.compile("sgd", "mse")
    model.train_on_batch(8 * ONES, np.ones((4, 1)))
    assert K.get_value(normal.moving_mean).tolist() == [0, 0, 0]


def test_a_deferred_compiled_line_says_what_is_missing_when_it_is_saved(tmp_path):
    model = Sequential([Dense(1)])
    model.compile("adam", "mse")
    model.save(tmp_path / "deferred.h5")
    assert load_model(tmp_path / "deferred.h5").predict(ONES).shape == (4, 1)


def test_an_optimizer_state_of_another_form_is_left_with_a_warning(tmp_path):
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("rmsprop", "mse")
    model.train_on_batch(ONES, np.ones((4, 1)))
    model.save(tmp_path / "model.h5")
    with h5py.File(tmp_path / "model.h5", "r+") as file:
        names = file["optimizer_weights"].attrs["weight_names"]
        file["optimizer_weights"].attrs["weight_names"] = names[2:]
    twin = load_model(tmp_path / "model.h5")
    assert np.array_equal(twin.predict(ONES), model.predict(ONES))
    with pytest.warns(KerascopeWarning, match="does not fit, so the optimizer is reset"):
        twin.train_on_batch(ONES, np.ones((4, 1)))
    assert int(twin.optimizer.get_weights()[0]) == 1


def test_a_subclass_may_put_right_what_the_base_cannot_write():
    class Named(Layer):
        def __init__(self, function, **kwargs):
            super().__init__(**kwargs)
            self.function = function

        def get_config(self):
            return {**super().get_config(), "function": "a name"}

    assert Named(lambda x: x).get_config()["function"] == "a name"


def test_weighted_metrics_are_called_so():
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=["accuracy"], weighted_metrics=["accuracy"])
    assert model.metrics_names == ["loss", "acc", "weighted_acc"]


def test_a_run_that_is_stopped_in_an_epoch_is_not_evaluated_after_it():
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse")

    def stop(batch, logs):
        model.stop_training = True

    data = (ONES, np.ones((4, 1)))
    history = model.fit(
        *data,
        batch_size=2,
        verbose=0,
        validation_data=data,
        callbacks=[LambdaCallback(on_batch_end=stop)],
    )
    assert list(history.history) == ["loss"]


def test_a_frozen_line_comes_back_frozen():
    model = Sequential([Dense(1, input_shape=(3,))])
    model.trainable = False
    assert Sequential.from_config(model.get_config()).trainable_weights == []


def test_a_stage_that_failed_on_its_shortcut_raises_its_error_again():
    def fail():
        raise ZeroDivisionError

    stage = Stage("failing", iter(()), shortcut=fail)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            stage.run()
    assert not stage.done


def test_a_layer_unfrozen_inside_a_nested_model_moves_its_statistics_again():
    a, x = Input((3,)), Input((3,))
    normal = BatchNormalization(momentum=0.5, trainable=False)
    inner = Model(a, normal(a))
    model = Model(x, Dense(1)(inner(x)))
    normal.trainable = True
    model.compile("sgd", "mse")
    model.train_on_batch(8 * ONES, np.ones((4, 1)))
    assert K.get_value(normal.moving_mean).tolist() == [4, 4, 4]
