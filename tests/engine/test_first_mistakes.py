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
    SpellingWarning,
    UnknownNameError,
)
from kerascope.layers import Dense, Embedding, Input, Lambda, Layer, Merge
from kerascope.models import Model, Sequential, load_model
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

    with pytest.raises(DtypeError, match=r"call returned None; expected a tensor.*return outputs"):
        Forgetful()(Input((3,)))


def test_a_layer_that_does_not_call_super():
    class Orphan(Layer):
        def __init__(self):
            self.units = 3

    with pytest.raises(DtypeError, match=r"Orphan: its __init__ did not call.*super\(\).__init__"):
        Orphan()


def test_no_optimizer():
    model = small()
    with pytest.raises(ArgumentError, match="no optimizer: None; expected a name such as"):
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
        with pytest.raises(DataError, match=f"no row {wrong}; expected indices from 0 to 9") as e:
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
    with pytest.raises(UnknownNameError, match=r"pass custom_objects=\{'MyOwn'") as error:
        Sequential.from_config(config)
    assert "NetworkBooks" not in str(error.value)


def test_a_line_over_a_merge_trains_its_branches_but_has_no_configuration():
    left, right = (Sequential([Dense(3, input_dim=5)]) for _ in range(2))
    model = Sequential()
    with pytest.warns(SpellingWarning):
        model.add(Merge([left, right], mode="concat"))
    model.add(Dense(2))
    model.compile("sgd", "mse")
    before = left.get_weights()[0]
    model.fit([X, X], Y, verbose=0)
    assert not np.array_equal(before, left.get_weights()[0])
    assert model.count_params() == 18 + 18 + 14
    with pytest.raises(ConfigError, match=r"Make it by Model\(inputs, outputs\)"):
        model.get_config()
