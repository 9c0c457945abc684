"""EinsumDense, GroupQueryAttention, ConvLSTM1D and 3D, adaptive pooling against Keras 3."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from keras_reference import keras
from recurrent_in_keras3 import compare as compare_recurrent

from kerascope import layers
from kerascope.engine.model import Model
from kerascope.models import load_model

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

_folder = Path(__file__).parent
_helpers = runpy.run_path(str(_folder / "test_layers_keras3.py"))
compare, floats = _helpers["compare"], _helpers["floats"]
_attention = runpy.run_path(str(_folder / "test_attention_keras3.py"))
compare_attention, Call = _attention["compare"], _attention["Call"]


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"equation": "ab,bc->ac", "output_shape": 5}, (3, 4)),
        (
            {"equation": "abc,cd->abd", "output_shape": (2, 5), "bias_axes": "d"},
            (3, 2, 4),
        ),
        (
            {"equation": "abc,bd->adc", "output_shape": (5, 4), "bias_axes": "dc"},
            (3, 2, 4),
        ),
        (
            {"equation": "...x,xy->...y", "output_shape": 5, "activation": "tanh"},
            (3, 2, 4),
        ),
        ({"equation": "...x,xy->...y", "output_shape": 5, "bias_axes": "y"}, (3, 2, 2, 4)),
        (
            {"equation": "ab...,bcd->acd...", "output_shape": (2, 3), "bias_axes": "c"},
            (3, 4, 2),
        ),
        ({"equation": "abc,bcde->ade", "output_shape": (2, 3), "bias_axes": "e"}, (3, 4, 2)),
    ],
)
def test_einsum_dense_agrees(arguments, shape):
    compare("EinsumDense", arguments, [floats(*shape)])
    known = keras.layers.EinsumDense(**arguments).get_config()
    ours = layers.EinsumDense(**arguments).get_config()
    for key in ("equation", "output_shape", "bias_axes", "activation"):
        assert np.array(ours[key]).tolist() == np.array(known[key]).tolist()


def test_identity_agrees():
    compare("Identity", {}, [floats(3, 4)])


@pytest.mark.parametrize("word", ["Average", "Max"])
@pytest.mark.parametrize(
    ("axes", "size", "shape"),
    [
        (1, 4, (2, 7, 3)),
        (2, (2, 3), (2, 5, 7, 2)),
        (2, (7, 2), (1, 5, 6, 2)),
        (3, 2, (1, 3, 4, 5, 1)),
    ],
)
def test_adaptive_pooling_agrees(word, axes, size, shape):
    compare(f"Adaptive{word}Pooling{axes}D", {"output_size": size}, [floats(*shape)])
    first = {"output_size": size, "data_format": "channels_first"}
    compare(f"Adaptive{word}Pooling{axes}D", first, [floats(shape[0], shape[-1], *shape[1:-1])])


@pytest.mark.parametrize(
    ("axes", "arguments"),
    [
        (1, {"padding": "same", "return_sequences": True}),
        (1, {"strides": 2, "go_backwards": True, "use_bias": False}),
        (1, {"data_format": "channels_last", "dilation_rate": 2}),
        (3, {}),
        (3, {"padding": "same", "strides": 2, "return_sequences": True}),
    ],
)
def test_conv_lstm_along_other_axes_agrees(axes, arguments):
    x = floats(2, 3, *(5, 3, 4)[:axes], 2)
    given = {"filters": 2, "kernel_size": 2, "recurrent_activation": "sigmoid", **arguments}
    name = f"ConvLSTM{axes}D"
    compare_recurrent(getattr(layers, name)(**given), getattr(keras.layers, name)(**given), x=x)


SHARED = {"head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2}


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        (SHARED, {}),
        ({**SHARED, "num_key_value_heads": 1, "use_bias": False}, {}),
        ({**SHARED, "num_key_value_heads": 4}, {"plain": {"use_causal_mask": True}}),
        (SHARED, {"value_mask": np.array([[1, 1, 0, 1, 0], [1, 0, 1, 0, 0]], bool)}),
        (SHARED, {"attention_mask": np.tri(3, 5, dtype=bool)[None].repeat(2, 0)}),
    ],
)
def test_group_query_attention_agrees(arguments, call):
    arrays = [floats(2, 3, 4), floats(2, 5, 6)]
    compare_attention("GroupQueryAttention", arguments, arrays, Call(**call))


def test_group_query_attention_goes_to_keras_3_and_back(keras, tmp_path):
    x = layers.Input((3, 4))
    model = Model(x, layers.GroupQueryAttention(**SHARED)(x, x))
    model.set_weights([floats(*w.shape) for w in model.get_weights()])
    path, back = tmp_path / "model.keras", tmp_path / "back.keras"
    model.save(path)
    data = floats(2, 3, 4)
    theirs = keras.models.load_model(path)
    wanted = model.predict(data)
    np.testing.assert_allclose(np.asarray(theirs(data)), wanted, rtol=1e-4, atol=1e-5)
    theirs.save(back)
    for one in (path, back):
        np.testing.assert_array_equal(load_model(one).predict(data), wanted)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: layers.EinsumDense("ab->ac", 3), "an equation .*, got 'ab->ac'"),
        (lambda: layers.EinsumDense("ab,bc->ac", 3, bias_axes="x"), "bias_axes .*, got 'x'"),
        (lambda: layers.EinsumDense("ab,bc->ac", (3, 4))(np.ones((2, 4))), "a size for each"),
        (lambda: layers.EinsumDense("ab,bc->ac", 3)(np.ones((2, 4, 5))), "3 axes"),
        (lambda: layers.EinsumDense("abc,cd->abd", (9, 3))(np.ones((2, 4, 5))), "size 4.*and 9"),
        (
            lambda: layers.EinsumDense("ab,bc->ac", (None,))(np.ones((2, 4))),
            "size of axis 'c'",
        ),
        (lambda: layers.GroupQueryAttention(3, 4, 3), "expected a multiple"),
        (lambda: layers.AdaptiveMaxPooling1D(2)(layers.Input((None, 3))), "not known"),
        (lambda: layers.ConvLSTM1D(2, 2)(np.ones((2, 3, 4))), "axes"),
    ],
)
def test_what_does_not_fit_is_said(make, words):
    with pytest.raises(ValueError, match=words):
        make()
