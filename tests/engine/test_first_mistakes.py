"""What people do in their first hour, and what they are told or given."""

from __future__ import annotations

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DataError,
    DtypeError,
    KerascopeWarning,
    RefusedError,
    SpellingWarning,
    UnknownNameError,
)
from kerascope.layers import Dense, Embedding, Input, Lambda, Layer, Merge, concatenate
from kerascope.losses import SparseCategoricalCrossentropy
from kerascope.models import Model, Sequential, load_model
from kerascope.settings import config
from kerascope.utils import Sequence

X = np.random.default_rng(0).normal(size=(60, 5)).astype("float32")
Y = np.ones((60, 2), dtype="float32")


def small() -> Sequential:
    model = Sequential([Dense(2, input_shape=(5,))])
    model.compile("sgd", "mse")
    return model


class Batches(Sequence):
    """Six batches of ten rows, counting how many were asked for."""

    def __init__(self):
        self.asked = []

    def __len__(self):
        return 6

    def __getitem__(self, index):
        self.asked.append(index)
        return X[10 * index : 10 * index + 10], Y[10 * index : 10 * index + 10]


def endless(asked):
    batches = Batches()
    while True:
        for index in range(6):
            asked.append(index)
            yield batches[index]


def test_a_call_that_returns_nothing():
    class Forgetful(Layer):
        def call(self, inputs):
            inputs * 2

    with pytest.raises(DtypeError, match=r"call: expected a tensor.*got None.*return outputs"):
        Forgetful()(Input((3,)))


def test_a_layer_that_does_not_call_super():
    class Orphan(Layer):
        def __init__(self):
            self.units = 3

    with pytest.raises(DtypeError, match=r"Orphan: its __init__ did not call.*super\(\).__init__"):
        Orphan()


def test_no_optimizer():
    model = small()
    with pytest.raises(ArgumentError, match="expected an optimizer, by a name such as 'rmsprop'"):
        model.compile(None, "mse")
    model.fit(X, Y, verbose=0)


@pytest.mark.parametrize("wrong", ["auto", [1, 2], {"no_such_output": {0: 1}}])
def test_class_weights_of_another_kind(wrong):
    with pytest.raises(ArgumentError, match="expected a dict of class numbers and weights"):
        small().fit(X, Y, class_weight=wrong, verbose=0)


def test_an_index_that_the_table_does_not_have():
    words = Input((3,), dtype="int32")
    model = Model(words, Embedding(10, 4, name="table")(words))
    assert model.predict([[0, 9, 5]]).shape == (1, 3, 4)
    for wrong in (10, -1):
        with pytest.raises(DataError, match=f"from 0 to 9, got {wrong}") as e:
            model.predict([[0, wrong, 5]])
        assert "table/gather" in e.value.__notes__[0]


def test_inputs_and_outputs_of_one_axis_are_fed_as_they_are():
    number = Input((), dtype="int32")
    assert Model(number, Embedding(10, 3)(number)).predict(np.arange(5)).shape == (5, 3)
    x = Input((5,))
    model = Model(x, Lambda(lambda t: K.sum(Dense(1)(t), axis=-1))(x))
    model.compile("sgd", "mse")
    model.fit(X, np.ones(60), verbose=0)
    assert model.predict(X).shape == (60,)


def test_a_deferred_line_may_be_called_on_an_array():
    assert Sequential([Dense(3), Dense(1)])(X).shape == (60, 1)


def test_a_line_may_begin_with_an_input():
    model = Sequential([Input((5,), name="x"), Dense(2)])
    assert [x.name for x in model.inputs] == ["x"]
    assert model.predict(X).shape == (60, 2)


def test_numpys_numbers_count_epochs():
    assert len(small().fit(X, Y, epochs=np.int64(2), verbose=0).history["loss"]) == 2
    with pytest.raises(ArgumentError, match="expected a whole number"):
        small().fit(X, Y, epochs=-3, verbose=0)


def test_fit_takes_a_generator_or_a_sequence_too():
    asked: list[int] = []
    small().fit(endless(asked), steps_per_epoch=3, epochs=2, verbose=0)
    assert asked == [0, 1, 2, 3, 4, 5]
    batches = Batches()
    small().fit(batches, epochs=2, shuffle=False, verbose=0)
    assert batches.asked == [*range(6), *range(6)]


def test_keras_1_counts_samples_where_today_batches_are_counted():
    asked: list[int] = []
    with pytest.warns(SpellingWarning, match="'samples_per_epoch' counts samples"):
        small().fit_generator(endless(asked), samples_per_epoch=50, epochs=1, verbose=0)
    assert asked == [0, 1, 2, 3, 4]
    with pytest.warns(SpellingWarning, match="'val_samples' counts samples"):
        assert small().predict_generator(endless([]), val_samples=45).shape == (50, 2)


def test_a_model_saved_before_its_first_step_comes_back(tmp_path):
    model = small()
    model.compile("adam", "mse")
    model.save(tmp_path / "fresh.h5")
    twin = load_model(tmp_path / "fresh.h5")
    twin.fit(X, Y, verbose=0)
    assert type(twin.optimizer).__name__ == "Adam"


def test_a_class_that_is_not_known_says_how_to_make_it_known():
    config = {"layers": [{"class_name": "MyOwn", "config": {}}]}
    with pytest.raises(UnknownNameError, match=r"custom_objects=\{'MyOwn'") as error:
        Sequential.from_config(config)
    assert "NetworkBooks" not in str(error.value)


def test_a_line_over_a_merge_of_layers_trains_them_but_has_no_configuration():
    left, right = Dense(3), Dense(3)
    left(Input((5,)))
    right(Input((5,)))
    model = Sequential()
    with pytest.warns(SpellingWarning):
        model.add(Merge([left, right], mode="concat"))
    model.add(Dense(2))
    model.compile("sgd", "mse")
    before = left.get_weights()[0]
    model.fit([X, X], Y, verbose=0)
    assert not np.array_equal(before, left.get_weights()[0])
    assert model.count_params() == 18 + 18 + 14
    with pytest.raises(ConfigError, match=r"make it with Model\(inputs, outputs\)"):
        model.get_config()


def test_one_hot_rows_where_class_numbers_are_expected():
    model = Sequential([Dense(2, activation="softmax", input_shape=(5,))])
    model.compile("sgd", "sparse_categorical_crossentropy")
    with pytest.raises(DataError, match=r"one class number for each row, got 2 .*Use y\.argmax"):
        model.fit(X, Y)


@pytest.mark.parametrize("place", ["loss", "metrics"])
def test_a_loss_or_metric_that_returns_nothing(place):
    def forgets(y_true, y_pred):
        K.mean(y_pred)

    settings = {"loss": "mse", place: forgets if place == "loss" else [forgets]}
    with pytest.raises(DtypeError, match="forgets: expected a tensor .*got None.*return"):
        small().compile("sgd", **settings)


def test_a_function_of_something_that_is_no_tensor():
    model = small()
    with pytest.raises(ArgumentError, match=r"got 0.* has fixed the phase, so leave it out"):
        K.function([model.input, 0], [model.output])
    with pytest.raises(ArgumentError, match="expected a list of inputs, got a tensor"):
        K.function(model.input, [model.output])


@pytest.mark.parametrize("loss", ["sparse_categorical_crossentropy", "object"])
def test_class_numbers_of_time_steps_may_leave_their_last_axis_out(loss):
    loss = SparseCategoricalCrossentropy() if loss == "object" else loss
    model = Sequential([Dense(4, activation="softmax", input_shape=(3, 5))])
    model.compile("sgd", loss)
    x, y = X.reshape(20, 3, 5), np.arange(60).reshape(20, 3) % 4
    assert model.evaluate(x, y, verbose=0) == model.evaluate(x, y[..., None], verbose=0)
    model.compile("sgd", "mse")
    with pytest.raises(DataError, match=r"with 3 axes .*, got 2 \(20, 1\)"):
        model.fit(x, y[:, :1])


def test_keras_3s_ways_to_run_change_nothing():
    model = small()
    model.compile("sgd", "mse", run_eagerly=False, jit_compile="auto", steps_per_execution=2)
    model.train_on_batch(X, Y)
    with pytest.raises(ArgumentError, match="unknown argument 'jit_compiled'"):
        model.compile("sgd", "mse", jit_compiled=True)


def test_eager_training_is_declined_in_words():
    model = small()
    with pytest.warns(KerascopeWarning, match=r"run_eagerly=True changes nothing.*kerascope debug"):
        model.compile("sgd", "mse", run_eagerly=True)
    model.train_on_batch(X, Y)


STEPS = {
    "train_step": lambda model: model.fit(X, verbose=0),  # the format of its data is its own
    "make_train_function": lambda model: model.fit_generator(endless([]), 1, verbose=0),
    "compute_metrics": lambda model: model.evaluate(X, Y, verbose=0),
    "test_step": lambda model: model.fit(X, Y, validation_split=0.5, verbose=0),
    "make_test_function": lambda model: model.test_on_batch(X, Y),
    "predict_step": lambda model: model.predict(X),
    "make_predict_function": lambda model: model.predict_on_batch(X),
}


@pytest.mark.parametrize(
    ("dialect", "method"),
    [("3", m) for m in STEPS] + [("2.2", m) for m in STEPS if not m.startswith("compute_")],
)
def test_a_step_written_as_in_keras_3_is_refused_and_not_passed_over(dialect, method, monkeypatch):
    monkeypatch.setattr(config, "dialect", dialect)
    own = type("Own", (Model,), {method: lambda self, *args: None})
    inputs = Input((5,))
    model = own(inputs, Dense(2)(inputs))
    model.compile("sgd", "mse")
    before = model.get_weights()
    with pytest.raises(RefusedError, match=rf"Own 'own\w*': its class defines {method}, which"):
        STEPS[method](model)
    assert all(map(np.array_equal, before, model.get_weights()))


@pytest.mark.parametrize("method", ["compute_metrics"])
def test_a_helper_of_a_class_of_keras_2_may_be_called_as_keras_3_calls_its_own(method, monkeypatch):
    own = type("Own", (Sequential,), {method: lambda self, y, p: K.mean(K.abs(y - p))})
    model = own([Dense(2, input_shape=(5,))])
    model.compile("sgd", getattr(model, method))
    model.fit(X, Y, verbose=0)
    monkeypatch.setattr(config, "dialect", "3")
    with pytest.raises(RefusedError, match=f"its class defines {method}, which"):
        model.fit(X, Y, verbose=0)


def test_a_step_of_testing_does_not_keep_a_model_from_training():
    own = type("Own", (Sequential,), {"test_step": lambda self, data: None})
    model = own([Dense(2, input_shape=(5,))])
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    assert model.predict(X).shape == (60, 2)


def test_a_model_with_train_step_and_no_call_hears_of_train_step():
    model = type("Own", (Model,), {"train_step": lambda self, data: None})()
    model.compile("sgd")
    with pytest.raises(RefusedError, match="train_step"):
        model.fit(X, verbose=0)


def test_inputs_to_join_that_are_in_no_list():
    with pytest.raises(
        DtypeError, match=r"a number for axis, got a tensor\. .* concatenate\(\[x, y\]\)"
    ):
        concatenate(Input((3,)), Input((3,)))


def test_an_array_instead_of_an_input_is_not_written_out():
    with pytest.raises(DtypeError, match=r"got ndarray of shape \(60, 5\)\.$"):
        Model(inputs=X, outputs=X)


def test_a_misspelt_argument_of_a_model_is_named():
    x = Input((3,))
    with pytest.raises(ArgumentError, match="Unknown argument 'ouputs'. Did you mean 'outputs'?"):
        Model(inputs=x, ouputs=Dense(1)(x))


def test_get_layer_wants_a_name_or_an_index():
    model = Sequential([Dense(1, input_shape=(3,))])
    with pytest.raises(ArgumentError, match="get_layer: expected a name or an index"):
        model.get_layer()
