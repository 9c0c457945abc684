"""What the core layers promise beyond the contract: arguments, masks, phases, words of errors."""

import json

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DtypeError,
    ShapeError,
    SpellingWarning,
    UnknownNameError,
)
from kerascope.layers import (
    Activation,
    ActivityRegularization,
    Dense,
    Dropout,
    Flatten,
    Input,
    Lambda,
    Masking,
    Permute,
    RepeatVector,
    Reshape,
    SpatialDropout1D,
    SpatialDropout2D,
    SpatialDropout3D,
    deserialize,
    serialize,
)
from kerascope.layers.core import lambda_functions
from kerascope.registry import custom_object_scope


def half(x):
    return 0.5 * x


# --- Dense --------------------------------------------------------------------------------------


def test_r25_dense_on_an_array_gives_20_by_15():
    layer = Dense(input_shape=(10,), units=15)
    output = layer(np.random.default_rng(0).random((20, 10)))
    assert isinstance(output, np.ndarray)
    assert output.shape == (20, 15)
    assert output.dtype == np.float32


def test_r22_dense_is_built_once_for_two_calls():
    builds = []

    class Counted(Dense):
        def build(self, input_shape):
            builds.append(input_shape)
            super().build(input_shape)

    layer = Counted(3)
    assert layer.built is False
    layer(np.ones((2, 5)))
    layer(Input((5,)))
    assert layer.built is True
    assert builds == [(2, 5)]
    assert len(layer.weights) == 2


def test_r05_frozen_dense_has_no_trainable_and_two_other_weights():
    layer = Dense(3, trainable=False)
    layer(Input((5,)))
    assert (len(layer.trainable_weights), len(layer.non_trainable_weights)) == (0, 2)
    assert layer.weights == layer.trainable_weights + layer.non_trainable_weights


def test_r09_none_is_linear():
    assert Dense(3).activation.__name__ == "linear"


def test_dense_takes_first_weights_from_its_arguments():
    kernel, bias = np.arange(6.0).reshape(3, 2), np.array([1.0, -1.0])
    layer = Dense(2, weights=[kernel, bias])
    np.testing.assert_allclose(layer(np.ones((1, 3))), [[7.0, 8.0]])


def test_dense_multiplies_the_last_axis_whatever_the_image_layout():
    layer = Dense(2, bias_initializer="ones")
    K.set_image_data_format("channels_first")
    try:
        output = layer(np.zeros((1, 3, 4)))
    finally:
        K.set_image_data_format("channels_last")
    np.testing.assert_array_equal(output, np.ones((1, 3, 2)))


def test_penalties_of_a_dense_are_what_its_regularizers_say():
    layer = Dense(
        1,
        kernel_initializer="ones",
        bias_initializer="ones",
        kernel_regularizer="l2",
        bias_regularizer="l1",
        activity_regularizer="l1",
    )
    x = Input((3,))
    layer(x)
    numbers = K.function([x], layer.losses)([np.ones((2, 3))])
    np.testing.assert_allclose(numbers, [0.01 * 3, 0.01 * 1, 0.01 * 8], rtol=1e-6)
    assert len(layer.get_losses_for(None)) == 2
    assert len(layer.get_losses_for(x)) == 1


def test_calling_on_arrays_leaves_the_penalties_of_the_last_call_alone():
    layer = Dense(1, activity_regularizer="l1", kernel_regularizer="l2")
    for _ in range(3):
        y = layer(np.ones((2, 3)))
    _, of_last_call = layer.losses  # the first is the kernel's
    np.testing.assert_allclose(K.eval(of_last_call), 0.01 * np.abs(y).sum(), rtol=1e-6)


@pytest.mark.parametrize("units", [0, -3, 2.5, "many", None])
def test_dense_refuses_units_that_are_no_whole_number_above_0(units):
    with pytest.raises(ArgumentError, match="units: expected a whole number above 0, got"):
        Dense(units)


def test_dense_says_that_the_rank_is_wrong():
    with pytest.raises(
        ShapeError, match=r"Dense 'd': expected an input with at least 2 axes, got 1 \(4,\)"
    ):
        Dense(3, name="d")(np.zeros(4))


def test_dense_says_that_the_features_are_not_those_it_was_built_for():
    layer = Dense(3, name="d")
    layer(Input((4,)))
    words = r"Dense 'd': expected an input with size 4 on axis -1, .*got 5 in \(None, 5\)"
    with pytest.raises(ShapeError, match=words):
        layer(Input((5,)))
    assert len(layer.inbound_nodes) == 1


def test_dense_needs_to_know_the_number_of_features():
    layer = Dense(3, name="d")
    with pytest.raises(
        ShapeError,
        match=r"'kernel': expected a shape .*, got \(None, 3\)",
    ):
        layer(Input((4, None)))
    assert layer.built is False
    assert layer.weights == []
    assert layer(Input((None, 4))).shape == (None, None, 3)


def test_layer_called_on_a_string_says_what_it_wants():
    with pytest.raises(DtypeError, match=r"Dense 'd': was called with an input that isn't"):
        Dense(3, name="d")("words")


def test_unknown_keyword_of_a_layer_gets_a_suggestion():
    with pytest.raises(TypeError, match=r"'kernel_init'. Did you mean 'kernel_initializer'\?"):
        Dense(3, kernel_init="ones")


def test_keras_1_keywords_of_dense_are_translated():
    with pytest.warns(SpellingWarning) as warned:
        layer = Dense(
            output_dim=3, init="uniform", W_regularizer="l2", b_constraint="non_neg", bias=True
        )
    words = [str(w.message) for w in warned]
    assert "Dense: 'output_dim' is Keras 1's word; today it is 'units'." in words
    assert len(words) == 5
    layer(Input((4,)))
    assert (layer.units, layer.output_dim) == (3, 3)
    assert layer.W is layer.kernel
    assert layer.kernel_initializer.get_config()["minval"] == -0.05
    assert layer.bias.constraint is layer.bias_constraint


def test_layers_are_serialized_with_their_class_name():
    layer = Dense(3, activation="relu", name="d")
    twin = deserialize(json.loads(json.dumps(serialize(layer))))
    assert type(twin) is Dense
    assert twin.get_config() == layer.get_config()
    assert twin.get_config()["activation"] == "relu"


# --- Activation, Masking ------------------------------------------------------------------------


def test_activation_of_your_own_is_found_by_name():
    layer = Activation(half)
    with pytest.raises(UnknownNameError, match="Unknown activation 'half'"):
        Activation.from_config(layer.get_config())
    with custom_object_scope({"half": half}):
        twin = Activation.from_config(layer.get_config())
    np.testing.assert_array_equal(twin(np.array([4.0])), [2.0])


def test_activation_suggests_the_name_that_was_meant():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'relu'\?"):
        Activation("rellu")


def test_masking_marks_steps_and_puts_them_to_zero():
    x = Input((3, 2))
    layer = Masking(mask_value=5.0)
    y = Dense(2, kernel_initializer="identity", use_bias=False)(layer(x))
    mask = y._keras_history.layer.get_output_mask_at(0)
    assert mask.shape == (None, 3)
    array = np.array([[[5, 5], [5, 1], [0, 0]]], "float32")
    output, flags = K.function([x], [y, mask])([array])
    np.testing.assert_array_equal(flags, [[False, True, True]])
    np.testing.assert_array_equal(output, [[[0, 0], [5, 1], [0, 0]]])


def test_layer_without_masking_refuses_a_mask():
    masked = Masking()(Input((3, 2)))
    with pytest.raises(TypeError, match="Flatten 'f': does not support masking, but was passed"):
        Flatten(name="f")(masked)


# --- Dropout ------------------------------------------------------------------------------------


def test_dropout_is_the_identity_in_test_and_scales_in_training():
    x = np.ones((50, 40), "float32")
    layer = Dropout(0.2, seed=1)
    np.testing.assert_array_equal(layer(x), x)
    np.testing.assert_array_equal(layer(x, training=False), x)
    output = layer(x, training=True)
    assert sorted(set(output.ravel().tolist())) == [0.0, 1.25]
    assert abs(float((output == 0).mean()) - 0.2) < 0.03


def test_dropout_follows_the_phase_that_is_fed():
    x = Input((100,))
    y = Dropout(0.5, seed=3)(x)
    assert y._uses_learning_phase
    f = K.function([x, K.learning_phase()], [y])
    ones = np.ones((4, 100), "float32")
    np.testing.assert_array_equal(f([ones, 0])[0], ones)
    first, second = f([ones, 1])[0], f([ones, 1])[0]
    assert set(first.ravel().tolist()) == {0.0, 2.0}
    assert (first != second).any()


def test_training_argument_fixes_the_phase_of_a_symbolic_call():
    x = Input((100,))
    layer = Dropout(0.5)
    always, never = layer(x, training=True), layer(x, training=False)
    ones = np.ones((2, 100), "float32")
    dropped, kept = K.function([x], [always, never])([ones])
    assert set(dropped.ravel().tolist()) == {0.0, 2.0}
    np.testing.assert_array_equal(kept, ones)


def test_same_seed_drops_the_same():
    x = np.ones((5, 20), "float32")
    one, other = (Dropout(0.5, seed=9)(x, training=True) for _ in range(2))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("layer", "shape", "together"),
    [
        (SpatialDropout1D(0.5, seed=1), (4, 6, 20), (1,)),
        (SpatialDropout2D(0.5, seed=1), (4, 3, 5, 20), (1, 2)),
        (SpatialDropout2D(0.5, "channels_first", seed=1), (4, 20, 3, 5), (2, 3)),
        (SpatialDropout3D(0.5, seed=1), (4, 2, 3, 2, 20), (1, 2, 3)),
        (SpatialDropout3D(0.5, "channels_first", seed=1), (4, 20, 2, 3, 2), (2, 3, 4)),
        (Dropout(0.5, noise_shape=(None, 1, None), seed=1), (4, 6, 20), (1,)),
    ],
)
def test_spatial_dropout_drops_whole_channels(layer, shape, together):
    output = layer(np.ones(shape), training=True)
    assert set(output.ravel().tolist()) == {0.0, 2.0}
    assert (output.min(axis=together) == output.max(axis=together)).all()


@pytest.mark.parametrize("rate", [-0.1, 1.0, 1.5, "half", None])
def test_dropout_refuses_a_rate_that_is_no_share(rate):
    with pytest.raises(ArgumentError, match="rate: expected a number from 0 to below 1, got"):
        Dropout(rate)


def test_keras_1_keywords_of_spatial_dropout_are_translated_with_their_values():
    with pytest.warns(SpellingWarning):
        layer = SpatialDropout2D(p=0.5, dim_ordering="th")
    assert (layer.rate, layer.p, layer.data_format) == (0.5, 0.5, "channels_first")


def test_keras_2_configuration_of_spatial_dropout_can_be_read():
    config = {"name": "s", "trainable": True, "rate": 0.5, "noise_shape": None, "seed": None}
    assert SpatialDropout1D.from_config(config).rate == 0.5


def test_activity_regularization_adds_its_penalty_to_the_call():
    x = Input((2,))
    layer = ActivityRegularization(l1=0.5, l2=0.25)
    y = layer(x)
    output, penalty = K.function([x], [y, layer.get_losses_for(x)[0]])([np.array([[1.0, -2.0]])])
    np.testing.assert_array_equal(output, [[1.0, -2.0]])
    assert penalty == pytest.approx(0.5 * 3 + 0.25 * 5)


# --- shapes -------------------------------------------------------------------------------------


def test_flatten_gives_the_same_rows_for_both_layouts():
    last = np.arange(24.0).reshape(1, 2, 3, 4)
    first = last.transpose(0, 3, 1, 2)
    np.testing.assert_array_equal(Flatten("channels_first")(first), Flatten()(last))


def test_flatten_of_an_unknown_size_has_an_unknown_size():
    x = Input((None, 3))
    y = Flatten()(x)
    assert y.shape == (None, None)
    assert K.function([x], [y])([np.ones((2, 5, 3))])[0].shape == (2, 15)


@pytest.mark.parametrize(
    ("shape", "target", "expected"),
    [
        ((6,), (2, 3), (None, 2, 3)),
        ((6,), (-1,), (None, 6)),
        ((4, 3), (-1, 2), (None, 6, 2)),
        ((None, 4), (2, -1), (None, 2, None)),
        ((None, 4), (-1, 2, 2), (None, None, 2, 2)),
    ],
)
def test_reshape_works_out_what_it_can(shape, target, expected):
    x = Input(shape)
    y = Reshape(target)(x)
    assert y.shape == expected
    array = np.ones((3, *(6 if n is None else n for n in shape)))
    assert K.function([x], [y])([array])[0].size == array.size


def test_reshape_says_that_the_numbers_do_not_fill_the_target():
    words = r"Reshape 'r': expected a target shape of 6 elements for shape \(6,\), got \(4,\)"
    with pytest.raises(ShapeError, match=words):
        Reshape((4,), name="r")(Input((6,)))


@pytest.mark.parametrize("target", [(-1, -1), (0, 3), (-2, 3)])
def test_reshape_refuses_a_bad_target(target):
    with pytest.raises(ArgumentError, match="target_shape with sizes above 0 and at most one -1"):
        Reshape(target)


@pytest.mark.parametrize("dims", [(0, 1), (1, 1), (2, 3)])
def test_permute_refuses_what_is_no_permutation(dims):
    with pytest.raises(ArgumentError, match="with the numbers 1 to 2, each once"):
        Permute(dims)


def test_repeat_vector_wants_vectors():
    with pytest.raises(ShapeError, match="RepeatVector 'r': expected an input with 2 axes, got 3"):
        RepeatVector(2, name="r")(Input((3, 4)))


# --- Lambda -------------------------------------------------------------------------------------


def test_lambda_is_run_once_for_each_call():
    runs = []

    def counted(x):
        runs.append(x)
        return x * 2

    assert Lambda(counted)(Input((3,))).shape == (None, 3)
    assert len(runs) == 1


def test_lambda_takes_several_inputs_and_arguments():
    x, y = Input((3,)), Input((3,))
    z = Lambda(lambda pair, factor: pair[0] - factor * pair[1], arguments={"factor": 2.0})([x, y])
    result = K.function([x, y], [z])([np.full((1, 3), 5.0), np.ones((1, 3))])[0]
    np.testing.assert_array_equal(result, [[3.0, 3.0, 3.0]])


def test_lambda_whose_output_shape_is_wrong_says_so():
    with pytest.raises(ShapeError, match=r"compute_output_shape says \(None, 7\), but call made"):
        Lambda(lambda x: x * 2, output_shape=(7,))(Input((3,)))


def test_lambda_receives_the_mask_and_makes_a_new_one():
    received = []

    def masked(x, mask=None):
        received.append(mask)
        return x

    layer = Lambda(masked, mask=lambda inputs, mask: K.logical_not(mask))
    x = Input((2, 1))
    layer(Masking()(x))
    flags = K.function([x], [layer.get_output_mask_at(0)])([np.array([[[0.0], [1.0]]])])[0]
    np.testing.assert_array_equal(flags, [[True, False]])
    assert received[0].shape == (None, 2)


def test_lambda_ends_a_mask_that_it_says_nothing_of():
    layer = Lambda(half)
    layer(Masking()(Input((2, 1))))
    assert layer.get_output_mask_at(0) is None


def test_configuration_of_a_lambda_says_what_to_do():
    key = object()
    with pytest.raises(ConfigError, match=r"its function: .* for a configuration, got <object"):
        Lambda(lambda x: (x, key)[0]).get_config()
    with pytest.raises(ConfigError, match=r"its output_shape: .* byte code.*Define it with d"):
        Lambda(half, output_shape=lambda s, *, n=1: s).get_config()
    config = Lambda(lambda x: x, name="mine").get_config()
    json.dumps(config)
    with pytest.raises(ConfigError, match=r"custom_objects=\{'mine': function\}.*clone_model"):
        Lambda.from_config(config)
    config = Lambda(half, mask=lambda x, mask: mask, name="mine").get_config()
    with pytest.raises(ConfigError, match="a mask function with a name, got the byte code"):
        Lambda.from_config(config)


def test_function_of_a_lambda_is_found_by_name_in_custom_objects_or_the_registry():
    config = Lambda(half).get_config()
    assert config["function"] == "half"
    with pytest.raises(UnknownNameError, match="Unknown function of a Lambda layer 'half'"):
        Lambda.from_config(config)
    twin = deserialize({"class_name": "Lambda", "config": config}, custom_objects={"half": half})
    assert twin.function is half
    lambda_functions.register(half)
    try:
        assert Lambda.from_config(config).function is half
    finally:
        del lambda_functions._objects["half"]


def test_keras_2_configuration_of_a_lambda_can_be_read():
    config = {
        "name": "lambda_1",
        "trainable": True,
        "function": "half",
        "function_type": "function",
        "output_shape": [3],
        "output_shape_type": "raw",
        "arguments": {"table": {"type": "ndarray", "value": [1, 2]}},
    }
    with custom_object_scope({"half": half}):
        layer = Lambda.from_config(config)
    assert layer.compute_output_shape((None, 5)) == (None, 3)
    np.testing.assert_array_equal(layer.arguments["table"], [1, 2])


def test_byte_code_of_a_keras_2_lambda_is_replaced_by_a_custom_object_of_the_layers_name():
    config = {"name": "lambda_1", "function": ["4wEAAA==", None, None], "function_type": "lambda"}
    with pytest.raises(ConfigError, match=r"custom_objects=\{'lambda_1': function\}"):
        Lambda.from_config(config)
    with custom_object_scope({"lambda_1": half}):
        assert Lambda.from_config(config).function is half


def test_lambda_refuses_what_is_no_function():
    with pytest.raises(ArgumentError, match="function: expected a function or the name of one"):
        Lambda(3)
