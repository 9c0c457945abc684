"""The three modes of calling a layer, and what a call leaves behind."""

from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

from kerascope import Input, K, Model
from kerascope.errors import DtypeError, ShapeError
from kerascope.layers import (
    Add,
    BatchNormalization,
    Dense,
    Dropout,
    Embedding,
    Lambda,
    Layer,
    Masking,
)
from kerascope.settings import config


class Recorder(Layer):
    """Doubles its input and counts how often its methods run."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.builds, self.calls = 0, 0

    def build(self, input_shape):
        self.builds += 1
        self.factor = self.add_weight("factor", (input_shape[-1],), initializer="ones")

    def call(self, inputs):
        self.calls += 1
        return 2.0 * inputs * self.factor


class Failing(Layer):
    """Makes weights, a penalty and an update, and fails where it is told to."""

    def __init__(self, where, **kwargs):
        super().__init__(**kwargs)
        self.where = where

    def build(self, input_shape):
        self.kernel = self.add_weight(
            "kernel", (input_shape[-1], 2), regularizer="l2", initializer="ones"
        )
        self.count = self.add_weight("count", (), trainable=False, initializer="zeros")
        if self.where == "build":
            raise ValueError("no build today")

    def call(self, inputs):
        self.add_loss(K.mean(inputs), inputs)
        self.add_update((self.count, self.count + 1), inputs)
        if self.where == "call":
            raise ValueError("no call today")
        return K.dot(inputs, self.kernel)

    def compute_mask(self, inputs, mask=None):
        if self.where == "mask":
            raise ValueError("no mask today")
        return mask


# --- three modes ----------------------------------------------------------------------------------


def test_symbols_in_symbols_out_and_the_body_runs_once_per_call():
    layer = Recorder()
    y = layer(Input((3,)))
    layer(Input((3,)))
    assert K.is_keras_tensor(y)
    assert (layer.builds, layer.calls, len(layer.inbound_nodes)) == (1, 2, 2)


def test_arrays_in_arrays_out_and_no_node_is_made():
    layer = Recorder()
    for _ in range(2):
        y = layer(np.ones((1, 3)))
    assert isinstance(y, np.ndarray)
    np.testing.assert_array_equal(y, [[2.0, 2.0, 2.0]])
    assert (layer.builds, layer.calls, layer.inbound_nodes) == (1, 2, [])


def test_a_placeholder_without_history_gives_a_tensor_without_history():
    layer = Recorder()
    x = K.placeholder((None, 3))
    y = layer(x)
    assert not K.is_keras_tensor(y)
    assert layer.inbound_nodes == []
    np.testing.assert_array_equal(K.function([x], [y])([np.ones((1, 3))])[0], [[2.0, 2.0, 2.0]])


def test_inside_a_function_the_body_runs_no_more():
    layer = Recorder()
    x = K.placeholder((None, 3))
    f = K.function([x], [layer(x)])
    calls = layer.calls
    for _ in range(5):
        f([np.ones((2, 3))])
    assert layer.calls == calls == 1


def test_all_three_modes_agree():
    numbers = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    layer = Dense(2, activation="tanh")
    x, p = Input((3,)), K.placeholder((None, 3))
    model = Model(x, layer(x))
    (traced,) = K.function([p], [layer(p)])([numbers])
    np.testing.assert_array_equal(layer(numbers), traced)
    np.testing.assert_array_equal(layer(numbers), model.predict(numbers))


class SaysNothing:
    """Can be called, and gives no signature that Python could read."""

    __signature__ = 1

    def __call__(self, pair):
        return pair[0]


@pytest.mark.parametrize("function", [itemgetter(0), SaysNothing()])
def test_a_function_that_does_not_say_its_parameters_gets_the_inputs_alone(function):
    x, y = Input((4,)), Input((4,))
    model = Model([x, y], Lambda(function)([Masking()(x), y]))
    arrays = [np.ones((2, 4), "f4"), np.zeros((2, 4), "f4")]
    np.testing.assert_array_equal(model.predict(arrays), arrays[0])
    np.testing.assert_array_equal(Lambda(function)(arrays), arrays[0])


def test_a_list_of_numbers_counts_as_an_array():
    np.testing.assert_array_equal(Recorder()([[1.0, 2.0]]), [[2.0, 4.0]])


def test_a_layer_of_layers_is_called_in_each_mode():
    class Twice(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = Dense(3, use_bias=False, kernel_initializer="ones")

        def call(self, inputs):
            return self.inner(inputs) * 2.0

    layer = Twice()
    x = Input((3,))
    model = Model(x, layer(x))
    ones = np.ones((1, 3))
    np.testing.assert_array_equal(layer(ones), [[6.0, 6.0, 6.0]])
    np.testing.assert_array_equal(model.predict(ones), [[6.0, 6.0, 6.0]])
    assert layer.trainable_weights == layer.inner.trainable_weights
    assert len(model.trainable_weights) == 1


def test_training_true_in_a_call_holds_for_that_call_alone():
    np.random.seed(0)
    layer = Dropout(0.5)
    ones = np.ones((4, 50))
    assert (layer(ones, training=True) == 0).any()
    np.testing.assert_array_equal(layer(ones), ones)
    x = Input((50,))
    dropped = Model(x, layer(x, training=True)).predict(ones)
    assert (dropped == 0).any()


def test_eager_training_moves_the_averages_of_batch_normalization_at_once():
    layer = BatchNormalization(momentum=0.0)
    layer(np.array([[1.0], [3.0]]), training=True)
    np.testing.assert_allclose(layer.get_weights()[2], [2.0])
    assert layer.updates == []


# --- copies, masks, place -------------------------------------------------------------------------


def test_a_layer_that_returns_its_input_gives_a_tensor_of_its_own():
    layer = Lambda(lambda x: x)
    x = Input((3,))
    y = layer(x)
    assert y is not x
    assert x._keras_history.layer is not layer
    assert y._keras_history.layer is layer
    np.testing.assert_array_equal(Model(x, y).predict(np.ones((1, 3))), np.ones((1, 3)))


def test_a_layer_that_returns_the_output_of_another_layer_leaves_that_layers_history():
    x = Input((3,))
    other = Dense(3)
    hidden = other(x)
    thief = Lambda(lambda _: hidden)
    y = thief(x)
    assert hidden._keras_history.layer is other
    assert y._keras_history.layer is thief


def test_a_mask_goes_from_layer_to_layer_and_into_calls_that_ask_for_it():
    class MaskedSum(Layer):
        def call(self, inputs, mask=None):
            return K.sum(inputs * K.expand_dims(K.cast(mask, "float32"), -1), axis=1)

        def compute_mask(self, inputs, mask=None):
            return None

    x = Input((None,))
    embedded = Embedding(5, 2, mask_zero=True, embeddings_initializer="ones")(x)
    summing = MaskedSum()
    model = Model(x, summing(Dropout(0.5)(embedded)))
    np.testing.assert_array_equal(
        model.predict(np.array([[1, 2, 0, 0], [1, 2, 3, 0]])), [[2.0, 2.0], [3.0, 3.0]]
    )
    assert summing.input_mask is not None
    assert summing.output_mask is None


def test_a_mask_given_in_the_call_wins():
    class Keep(Layer):
        supports = True

        def call(self, inputs, mask=None):
            return inputs * K.expand_dims(K.cast(mask, "float32"), -1)

        def compute_mask(self, inputs, mask=None):
            return None

    x = Input((3, 1))
    masked = Masking()(x)
    own = K.constant([[True, False, True]], dtype="bool")
    model = Model(x, Keep()(masked, mask=own))
    np.testing.assert_array_equal(model.predict(np.ones((1, 3, 1)))[0, :, 0], [1.0, 0.0, 1.0])


def test_a_layer_without_masking_refuses_a_mask():
    class Plain(Layer):
        def call(self, inputs):
            return inputs * 2.0

    masked = Masking()(Input((3, 1)))
    with pytest.raises(DtypeError, match="does not support masking, but was passed an input mask"):
        Plain()(masked)


def test_a_weight_is_named_after_its_layer_even_if_its_own_name_begins_alike():
    layer = Dense(2, name="k")
    layer(Input((3,)))
    assert [w.name for w in layer.weights] == ["k/kernel", "k/bias"]


def test_a_layer_remembers_the_line_that_made_it():
    layer = Dense(2)  # this very line
    path, line = layer.made_at
    assert Path(path).name == "test_layer_calls.py"
    assert "this very line" in Path(path).read_text(encoding="utf-8").splitlines()[line - 1]


def test_a_runtime_error_names_the_line_of_its_layer():
    layer = Lambda(lambda x: K.reshape(x, (-1, 5)))
    path, line = layer.made_at
    x = Input((4,))
    model = Model(x, layer(x))
    with pytest.raises(ValueError, match="reshape") as caught:
        model.predict(np.ones((1, 4)))
    assert any(f"line {line}" in note and path in note for note in caught.value.__notes__)


# --- a call that fails ----------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["build", "call", "mask"])
@pytest.mark.parametrize("make_input", [lambda: Input((3,)), lambda: K.placeholder((None, 3))])
def test_a_failed_first_call_leaves_the_layer_as_it_was(where, make_input):
    layer, x = Failing(where, name="failing"), make_input()
    before = sorted(vars(layer))
    with pytest.raises(ValueError, match=f"no {where} today"):
        layer(x)
    assert sorted(vars(layer)) == before
    assert not layer.built
    assert layer.weights == layer.losses == layer.updates == layer.inbound_nodes == []
    if K.is_keras_tensor(x):
        assert x._keras_history.layer.outbound_nodes == []


def test_after_a_failed_call_the_next_one_makes_weights_of_the_same_names():
    layer = Failing("call", name="failing")
    with pytest.raises(ValueError, match="no call today"):
        layer(Input((3,)))
    layer.where = None
    layer(Input((3,)))
    assert [w.name for w in layer.weights] == ["failing/kernel", "failing/count"]


@pytest.mark.parametrize("where", ["call", "mask"])
def test_a_failed_later_call_leaves_no_penalty_and_no_update(where):
    layer, x = Failing(None), Input((3,))
    layer(x)
    losses, updates = layer.losses, layer.updates
    layer.where = where
    for inputs in (x, Input((3,))):
        with pytest.raises(ValueError, match="today"):
            layer(inputs)
    assert layer.losses == losses
    assert layer.updates == updates
    assert len(layer.inbound_nodes) == 1


def test_a_failed_eager_call_leaves_the_layer_unbuilt():
    layer = Failing("call")
    with pytest.raises(ValueError, match="no call today") as caught:
        layer(np.ones((1, 3)))
    assert not layer.built
    assert layer.weights == []
    assert any("test_layer_calls.py" in note for note in caught.value.__notes__)


def test_given_weights_of_a_wrong_shape_fail_and_leave_the_layer_unbuilt():
    layer = Dense(2, weights=[np.ones((5, 2)), np.zeros(2)])
    with pytest.raises(ShapeError, match=r"of shape \(3, 2\)"):
        layer(Input((3,)))
    assert not layer.built
    y = layer(Input((5,)))
    assert y.shape == (None, 2)
    np.testing.assert_array_equal(layer.get_weights()[0], np.ones((5, 2)))


@pytest.mark.parametrize(
    "thing",
    [
        "a string",
        Dense(3, name="other"),
        None,
        object(),
        {"a": 1},
        ["a", "b"],
        {"a": np.ones((2, 3))},
    ],
)
def test_only_tensors_and_numbers_can_be_called_on(thing):
    layer = Dense(2, name="strict")
    with pytest.raises(
        TypeError, match=r"Dense 'strict': was called with an input that isn't a symbolic tensor"
    ):
        layer(thing)
    assert not layer.built


def test_a_merge_layer_says_so_too_when_one_of_its_inputs_is_no_tensor():
    with pytest.raises(DtypeError, match="isn't a symbolic tensor"):
        Add()([Input((3,)), "b"])


def test_a_shape_that_contradicts_the_declared_one_is_caught():
    class Liar(Layer):
        def call(self, inputs):
            return inputs * 1.0

        def compute_output_shape(self, input_shape):
            return (input_shape[0], 99)

    with pytest.raises(
        ShapeError, match=r"compute_output_shape says \(None, 99\), but call made \(None, 3\)"
    ):
        Liar()(Input((3,)))


class OfMasked(Layer):
    """Gives `outputs` tensors for its inputs and lets all their masks through."""

    def __init__(self, outputs, **kwargs):
        super().__init__(**kwargs)
        self.outputs, self.supports_masking = outputs, True

    def call(self, inputs, mask=None):
        inputs = inputs if isinstance(inputs, list) else [inputs]
        found = [inputs[0] + inputs[-1], inputs[0] - inputs[-1]][: self.outputs]
        return found if self.outputs > 1 else found[0]

    def compute_output_shape(self, input_shape):
        one = input_shape[0] if isinstance(input_shape, list) else input_shape
        return [one] * self.outputs if self.outputs > 1 else one


@pytest.mark.parametrize("inputs", [1, 2])
@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize("dialect", ["1.2", "2.2", "3"])
def test_an_output_without_a_mask_of_its_own_has_none(inputs, outputs, dialect, monkeypatch):
    """As many masks come as inputs: the first output has the first, further outputs may have none.

    Siblings: more masks than outputs and fewer, called on symbols, on arrays and in a model.
    """
    monkeypatch.setattr(config, "dialect", dialect)
    words = [Input((3,)) for _ in range(inputs)]
    embedding = Embedding(5, 2, mask_zero=True)
    embedded = [embedding(x) for x in words]
    found = OfMasked(outputs)(embedded if inputs > 1 else embedded[0])
    found = found if isinstance(found, list) else [found]
    model = Model(words, [Masking(9.0)(x) for x in found])
    masks = [x._keras_history.node.output_masks[i] for i, x in enumerate(found)]
    assert [mask is not None for mask in masks] == [i < inputs for i in range(outputs)]
    arrays = [np.array([[1, 2, 0], [3, 0, 0]])] * inputs
    eager, predicted = model(arrays if inputs > 1 else arrays[0]), model.predict(arrays)
    for a, b in zip(*(x if outputs > 1 else [x] for x in (eager, predicted)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
