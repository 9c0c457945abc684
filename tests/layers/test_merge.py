"""What the merge layers promise beyond the contract: masks, errors, Keras 1's spellings."""

import numpy as np
import pytest

from kerascope import Model, layers
from kerascope import backend as K
from kerascope.errors import ArgumentError, ShapeError, SpellingWarning
from kerascope.layers import (
    Add,
    Concatenate,
    Dense,
    Dot,
    Embedding,
    Input,
    Masking,
    Merge,
    Subtract,
    merge,
)
from kerascope.spellings import override_dialect

A, B = np.array([[1.0, 4.0]]), np.array([[3.0, 2.0]])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("add", [[4, 6]]),
        ("subtract", [[-2, 2]]),
        ("multiply", [[3, 8]]),
        ("average", [[2, 3]]),
        ("maximum", [[3, 4]]),
        ("minimum", [[1, 2]]),
        ("concatenate", [[1, 4, 3, 2]]),
    ],
)
def test_function_calls_a_new_layer_of_its_kind(function, expected):
    output = getattr(layers, function)([Input((2,)), Input((2,))], name="m")
    layer = output._keras_history.layer
    assert (type(layer).__name__.lower(), layer.name) == (function, "m") or function == "dot"
    np.testing.assert_array_equal(layer([A, B]), expected)


def test_dot_function_takes_axes():
    output = layers.dot([Input((2,)), Input((2,))], axes=1)
    assert output.shape == (None, 1)
    np.testing.assert_array_equal(output._keras_history.layer([A, B]), [[11.0]])


def test_samples_of_different_rank_are_lined_up_at_their_last_axis():
    output = Add()([Input((3, 4)), Input((4,)), Input((1, 1))])
    assert output.shape == (None, 3, 4)
    rows, vector = np.zeros((2, 3, 4)), np.arange(8.0).reshape(2, 4)
    result = Add()([rows, vector])
    np.testing.assert_array_equal(result[0, 1], vector[0])
    np.testing.assert_array_equal(result[1, 2], vector[1])


def test_unknown_sizes_stay_unknown_until_another_input_tells():
    assert Add()([Input((None, 4)), Input((None, 4))]).shape == (None, None, 4)
    assert Add()([Input((None, 4)), Input((5, 4))]).shape == (None, 5, 4)
    assert Concatenate(axis=1)([Input((None, 4)), Input((5, 4))]).shape == (None, None, 4)
    assert Concatenate()([Input((None, 4)), Input((5, 3))]).shape == (None, 5, 7)


# --- masks --------------------------------------------------------------------------------------


def masked_pair():
    x, y = Input((3, 2)), Input((3, 2))
    one = np.array([[[0, 0], [1, 1], [1, 1]]], "float32")
    other = np.array([[[1, 1], [1, 1], [0, 0]]], "float32")
    return x, y, one, other


def mask_of(layer, feeds):
    return K.function(list(feeds), [layer.get_output_mask_at(0)])(list(feeds.values()))[0]


def test_masks_are_joined_by_and():
    x, y, one, other = masked_pair()
    layer = Add()
    layer([Masking()(x), Masking()(y)])
    np.testing.assert_array_equal(mask_of(layer, {x: one, y: other}), [[False, True, False]])


def test_input_without_a_mask_masks_nothing():
    x, y, one, _ = masked_pair()
    layer = Add()
    layer([Masking()(x), y])
    np.testing.assert_array_equal(mask_of(layer, {x: one}), [[False, True, True]])
    plain = Add()
    plain([x, y])
    assert plain.get_output_mask_at(0) is None


def test_masks_are_joined_by_and_where_features_are_concatenated():
    x, y, one, other = masked_pair()
    layer = Concatenate()
    layer([Masking()(x), Masking()(y)])
    np.testing.assert_array_equal(mask_of(layer, {x: one, y: other}), [[False, True, False]])


def test_masks_are_concatenated_where_steps_are():
    x, y, one, other = masked_pair()
    layer = Concatenate(axis=1)
    layer([Masking()(x), Masking()(y)])
    expected = [[False, True, True, True, True, False]]
    np.testing.assert_array_equal(mask_of(layer, {x: one, y: other}), expected)


def test_steps_without_a_mask_count_where_steps_are_concatenated():
    x, y, one, other = masked_pair()
    layer = Concatenate(axis=1)
    layer([Masking()(x), y])
    expected = [[False, True, True, True, True, True]]
    np.testing.assert_array_equal(mask_of(layer, {x: one, y: other}), expected)


def test_dot_ends_a_mask():
    x, y, _, _ = masked_pair()
    layer = Dot(axes=2)
    layer([Masking()(x), y])
    assert layer.get_output_mask_at(0) is None


def test_masks_of_embeddings_meet_in_an_add():
    i = Input((3,), dtype="int32")
    layer = Add()
    layer([Embedding(5, 2, mask_zero=True)(i), Embedding(5, 2)(i)])
    flags = mask_of(layer, {i: np.array([[0, 3, 4]])})
    np.testing.assert_array_equal(flags, [[False, True, True]])


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [Add(name="m"), Concatenate(name="m"), Dot(1, name="m")])
def test_merge_layer_wants_a_list_of_two(layer):
    words = r"'m': a merge layer should be called on a list of at least 2 inputs, got one tensor"
    with pytest.raises(ArgumentError, match=words):
        layer(Input((3,)))
    with pytest.raises(ArgumentError, match="at least 2 inputs, got one tensor"):
        layer([Input((3,))])
    assert layer.inbound_nodes == []


@pytest.mark.parametrize("layer", [Subtract(name="m"), Dot(1, name="m")])
def test_subtract_and_dot_take_exactly_two(layer):
    with pytest.raises(ArgumentError, match="exactly 2 inputs, got 3"):
        layer([Input((3,)), Input((3,)), Input((3,))])


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(ShapeError, match=r"Add 'm': shapes \(4,\) and \(5,\) do not fit"):
        Add(name="m")([Input((4,)), Input((5,))])
    with pytest.raises(ShapeError, match="Add 'm': can not merge tensors with different batch"):
        Add(name="m")([np.zeros((2, 3)), np.zeros((4, 3))])
    with pytest.raises(ShapeError, match="matching shapes except for the concat axis"):
        Concatenate(name="m")([Input((4,)), Input((5, 4))])
    with pytest.raises(ShapeError, match="differ outside axis 2"):
        Concatenate(name="m")([Input((4, 3)), Input((5, 3))])
    with pytest.raises(ShapeError, match="Dot 'm': dimension incompatibility 4 != 5"):
        Dot(axes=1, name="m")([Input((4,)), Input((5,))])


@pytest.mark.parametrize("axes", ["a", (1,), (1, 2, 3), None, (1, "b")])
def test_dot_refuses_axes_that_are_no_ints(axes):
    with pytest.raises(ArgumentError, match="expected axes of one or two ints"):
        Dot(axes)


def test_dot_refuses_the_batch_as_an_axis():
    with pytest.raises(ArgumentError, match="axes other than 0"):
        Dot(axes=(0, 1))([Input((4,)), Input((4,))])


# --- Keras 1 ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "kind", "expected"),
    [
        ("sum", "Add", [[4, 6]]),
        ("mul", "Multiply", [[3, 8]]),
        ("ave", "Average", [[2, 3]]),
        ("max", "Maximum", [[3, 4]]),
        ("concat", "Concatenate", [[1, 4, 3, 2]]),
        ("dot", "Dot", [[11]]),
        ("cos", "Dot", [[11 / np.sqrt(17 * 13)]]),
    ],
)
def test_keras_1_mode_is_translated(mode, kind, expected):
    words = f"mode '{mode}' is Keras 1's word; today it is the layer {kind}"
    with pytest.warns(SpellingWarning, match=words):
        layer = Merge(mode=mode)
    assert type(layer).__name__ == kind
    np.testing.assert_allclose(layer([A, B]), expected, rtol=1e-6)
    with pytest.warns(SpellingWarning, match=words):
        output = merge([Input((2,)), Input((2,))], mode=mode, name="m")
    assert output._keras_history.layer.name == "m"


def test_keras_1_function_takes_its_axes():
    x, y = Input((3, 4)), Input((2, 4))
    with pytest.warns(SpellingWarning):
        assert merge([x, y], mode="concat", concat_axis=1).shape == (None, 5, 4)
    with pytest.warns(SpellingWarning):
        assert merge([x, y], mode="dot", dot_axes=[2, 2]).shape == (None, 3, 2)


def test_keras_1_function_as_mode_becomes_a_lambda():
    with pytest.warns(SpellingWarning, match="today it is the layer Lambda"):
        layer = Merge(mode=lambda pair: pair[0] * pair[1], output_shape=(2,))
    np.testing.assert_array_equal(layer([A, B]), [[3.0, 8.0]])


def test_keras_1_merge_is_called_on_layers_at_once():
    one, other = Dense(3), Dense(4)
    one(Input((2,)))
    other(Input((2,)))
    with pytest.warns(SpellingWarning):
        layer = Merge([one, other], mode="concat")
    assert layer.output.shape == (None, 7)
    assert layer.inbound_nodes[0].inbound_layers == [one, other]


def test_unknown_mode_gets_a_suggestion():
    with pytest.raises(ArgumentError, match=r"merge: invalid mode 'sun'. Did you mean 'sum'\?"):
        merge([Input((2,)), Input((2,))], mode="sun")


def test_merge_is_keras_2s_module_and_keras_1s_function():
    assert merge.Add is Add
    assert merge.concatenate is layers.concatenate
    with pytest.warns(SpellingWarning):
        assert merge([Input((2,)), Input((2,))]).shape == (None, 2)


@pytest.mark.parametrize(("name", "combine"), [("Maximum", np.maximum), ("Minimum", np.minimum)])
def test_what_a_mask_leaves_out_has_no_say_in_dialect_3(name, combine):
    x, y = np.array([[[1.0], [5.0], [0.0]]]), np.array([[[3.0], [0.0], [0.0]]])
    with override_dialect(ends_masks=True):
        masked = [Masking()(Input((3, 1))) for _ in range(2)]
        inputs = [m._keras_history.layer.input for m in masked]
        model = Model(inputs, getattr(layers, name)()(masked))
        product = Model(inputs, layers.Multiply()(masked))
    expected = [combine(1, 3), 5, 0]
    assert model.predict([x, y])[0, :, 0].tolist() == expected
    assert product.predict([x, y])[0, :, 0].tolist() == [3, 5, 0]
