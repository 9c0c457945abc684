"""Types of elements and policies of Keras 3, and small helpers of its utils, compared with it."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from keras_reference import answer, generator, keras

from kerascope import backend as K
from kerascope import layers, models, utils
from kerascope.compat import keras_dtype_policies as policies
from kerascope.compat import keras_imports
from kerascope.errors import RefusedError
from kerascope.preprocessing.image import smart_resize
from kerascope.settings import config

pytestmark = pytest.mark.usefixtures("answers")

NAMES = ["bool", "uint8", "uint16", "int8", "int16", "int32", "float16", "float32"]


def outcome(function: Any, *args: Any) -> str:
    try:
        return repr(function(*args))
    except (ValueError, TypeError):
        return "refused"


@pytest.fixture
def _dialect_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "dialect", "3")


# --- types ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        *(None, *NAMES, "int64", "float64", int, float, bool, np.float64, np.int8),
        *("int", "float", "half", "double", "foo", 3, object),
    ],
    ids=str,
)
def test_a_type_has_the_name_and_kind_that_keras_gives_it(given: Any) -> None:
    def all_of(backend: Any) -> list[str]:
        functions = ("standardize_dtype", "is_float_dtype", "is_int_dtype")
        return [outcome(getattr(backend, name), given) for name in functions]

    assert all_of(K) == answer(lambda: all_of(keras.backend))
    assert utils.standardize_dtype is K.standardize_dtype
    assert K.standardize_dtype("int8") == keras.utils.standardize_dtype("int8")
    for name in ("standardize_dtype", "is_float_dtype", "is_int_dtype"):
        assert getattr(K, name)("int8") == getattr(keras.backend, name)("int8")


def test_the_types_of_results_are_those_of_keras() -> None:
    def table(backend: Any) -> list[str]:
        return [backend.result_type(a, b) for a in NAMES for b in NAMES]

    assert table(K) == answer(lambda: table(keras.backend))
    assert K.result_type() == keras.backend.result_type()
    assert K.result_type("int32", "int8", float) == keras.backend.result_type(
        "int32", "int8", "float32"
    )


@pytest.mark.parametrize("wide", ["int64", "float64"])
def test_a_wide_type_stays_wide_as_it_does_in_operations(wide: str) -> None:
    x, y = K.placeholder((2,), dtype=wide), K.placeholder((2,), dtype=wide)
    assert K.result_type(wide, wide) == (x + y).dtype == wide


@pytest.mark.parametrize("a", ["bool", "uint8", "int8", "int32", "float16", "float32"])
def test_the_type_of_a_result_is_that_which_an_operation_has(a: str) -> None:
    for b in ("bool", "uint8", "int8", "int32", "float16", "float32"):
        sum_of_them = K.placeholder((2,), dtype=a) * K.placeholder((2,), dtype=b)
        assert K.result_type(a, b) == sum_of_them.dtype


# --- policies -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [None, "float16", "float32", "float64", "int32", "float7", 3])
def test_a_policy_says_what_keras_says(name: Any) -> None:
    def told(kind: Any) -> Any:
        try:
            policy = kind(name)
        except (ValueError, TypeError):
            return "refused"
        return [
            repr(policy),
            [policy.name, policy.compute_dtype, policy.variable_dtype, policy.quantization_mode],
            policy.get_config(),
        ]

    assert told(policies.DTypePolicy) == answer(lambda: told(keras.DTypePolicy))


def test_a_policy_is_written_and_read_as_there() -> None:
    def written(module: Any) -> Any:
        policy = module.DTypePolicy("float64")
        config = module.serialize(policy)
        again = [module.deserialize(config), module.get(config), module.get("float64")]
        return [config, *map(repr, again), repr(module.get(None)), again[0] == policy]

    assert written(policies) == answer(lambda: written(keras.dtype_policies))
    policy = policies.DTypePolicy("float32")
    assert policies.serialize(policy) == keras.dtype_policies.serialize(
        keras.dtype_policies.DTypePolicy("float32")
    )
    assert policies.get("float32").name == keras.dtype_policies.get("float32").name
    theirs = keras.dtype_policies.deserialize(policies.serialize(policy))
    assert policies.deserialize(policies.serialize(policy)).name == theirs.name
    with pytest.raises(
        ValueError, match="expected class 'DTypePolicy', got 'QuantizedDTypePolicy'"
    ):
        policies.get({"class_name": "QuantizedDTypePolicy", "config": {}})
    with pytest.raises(ValueError, match="expected a name or a DTypePolicy, got 3"):
        policies.get(3)


@pytest.mark.parametrize("name", ["mixed_float16", "mixed_bfloat16", "bfloat16"])
def test_a_policy_that_mixes_types_is_refused(name: str) -> None:
    for function in (policies.DTypePolicy, policies.get, policies.set_dtype_policy):
        with pytest.raises(RefusedError, match=r"A layer here computes in the type of its weights"):
            function(name)


def test_a_layer_takes_a_policy_as_its_type() -> None:
    layer = layers.Dense(2, dtype=policies.DTypePolicy("float64"))
    model = models.Sequential([layers.InputLayer((3,), dtype="float64"), layer])
    assert layer.kernel.dtype == "float64"
    assert model.predict(np.ones((1, 3))).dtype == np.float64
    again = models.model_from_json(model.to_json())
    assert again.layers[-1].kernel.dtype == "float64"
    assert json.loads(json.dumps(layer.get_config()))["dtype"] == "float64"
    assert pickle.loads(pickle.dumps(layer.dtype)).compute_dtype == "float64"


def test_the_policy_of_new_layers_is_floatx(monkeypatch: pytest.MonkeyPatch) -> None:
    policies.set_dtype_policy("float32")
    with pytest.raises(RefusedError, match=r"Call keras\.config\.set_floatx\('float64'\)"):
        policies.set_dtype_policy("float64")
    monkeypatch.setattr(config, "floatx", "float64")
    assert policies.dtype_policy().name == layers.Dense(1).dtype == "float64"
    policies.set_global_policy(policies.DTypePolicy())


def test_every_module_of_keras_3_has_the_same_policies() -> None:
    with keras_imports():
        import keras
        from keras import dtype_policies, mixed_precision
        from keras.mixed_precision import Policy

        assert keras.DTypePolicy is dtype_policies.DTypePolicy is mixed_precision.DTypePolicy
        assert Policy is keras.FloatDTypePolicy is keras.DTypePolicy
        assert keras.config.dtype_policy() == mixed_precision.global_policy()


# --- settings that say nothing here ---------------------------------------------------------------


def test_settings_tell_what_is_so_whatever_was_asked_for() -> None:
    with keras_imports():
        from keras import config as settings
        from keras.utils import is_interactive_logging_enabled
    for switch in ("interactive_logging", "traceback_filtering"):
        for verb in ("enable", "disable"):
            getattr(settings, f"{verb}_{switch}")()
    settings.disable_flash_attention()
    assert is_interactive_logging_enabled() is True
    for name in ("traceback_filtering", "flash_attention"):
        assert getattr(settings, f"is_{name}_enabled")() is False
    assert settings.is_nnx_enabled() is keras.config.is_nnx_enabled()


# --- helpers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(1,), ([1],), ((1, 2),), ({"a": 1}, 2), (1, 2, 3)], ids=repr)
def test_what_a_generator_yields_is_packed_as_there(args: Any) -> None:
    found = utils.pack_x_y_sample_weight(*args)
    assert found == keras.utils.pack_x_y_sample_weight(*args)
    given = (*args, None, None)[:3]
    assert utils.unpack_x_y_sample_weight(found) == given
    assert keras.utils.unpack_x_y_sample_weight(found) == given


def test_weights_are_not_lost_where_there_are_no_targets() -> None:
    """Keras forgets them."""
    assert utils.pack_x_y_sample_weight(1, None, 3) == (1, None, 3)
    assert keras.utils.pack_x_y_sample_weight(1, None, 3) == 1


@pytest.mark.parametrize(
    "data", [5, {"a": 1}, (1,), [1], (1, 2), [1, 2, 3], (1, 2, 3, 4), (), []], ids=repr
)
def test_what_a_generator_yields_is_unpacked_as_there(data: Any) -> None:
    found = outcome(utils.unpack_x_y_sample_weight, data)
    assert found == answer(lambda: outcome(keras.utils.unpack_x_y_sample_weight, data))


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("size", [(3, 3), (9, 4), (2, 8), (14, 20)], ids=str)
def test_a_picture_gets_another_size_without_distortion(
    size: tuple[int, int], interpolation: str
) -> None:
    pictures = generator(0).uniform(0, 255, (2, 7, 10, 3)).astype("float32")
    theirs = keras.preprocessing.image.smart_resize
    for x in (pictures, pictures[0], pictures[0].astype("uint8")):
        found = smart_resize(x, size, interpolation)
        wanted = theirs(x, size, interpolation)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-3)


def test_channels_may_come_first() -> None:
    picture = generator(0).uniform(0, 255, (3, 7, 10)).astype("float32")
    found = smart_resize(picture, (4, 4), data_format="channels_first", backend_module=None)
    wanted = keras.preprocessing.image.smart_resize(picture, (4, 4), data_format="channels_first")
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-3)


def test_what_is_no_size_or_no_picture_is_refused() -> None:
    picture = np.zeros((4, 4, 1))
    with pytest.raises(ValueError, match=r"expected size=\(h, w\), got size=\(3,\)"):
        smart_resize(picture, (3,))
    with pytest.raises(ValueError, match="got {'sise': 3}"):
        smart_resize(picture, (3, 3), sise=3)
    with pytest.raises(ValueError, match="resize: "):
        smart_resize(picture[0], (3, 3))


# --- bases at the top -----------------------------------------------------------------------------


@pytest.mark.usefixtures("_dialect_3")
def test_a_function_of_tensors_computes_what_the_layers_between_them_do() -> None:
    with keras_imports():
        import keras

        x = keras.Input((3,))
        y = keras.layers.Dense(2)(x)
        function = keras.Function(inputs=x, outputs={"a": y, "b": keras.ops.relu(y)}, name="both")
        given = np.arange(6, dtype="float32").reshape(2, 3)
        found = function(given)
        model = keras.Model(x, y)
    np.testing.assert_array_equal(found["a"], model.predict(given, verbose=0))
    np.testing.assert_array_equal(found["b"], np.maximum(found["a"], 0))
    assert function.name == "both"
    assert isinstance(model, keras.Operation)


@pytest.mark.usefixtures("_dialect_3")
def test_an_operation_of_ones_own_is_a_layer_of_a_model() -> None:
    with keras_imports():
        import keras

        class Double(keras.Operation):
            def call(self, x: Any) -> Any:
                return 2 * x

        x = keras.Input((3,))
        model = keras.Model(x, Double(name="twice")(x))
    np.testing.assert_array_equal(model.predict(np.ones((1, 3)), verbose=0), [[2, 2, 2]])
    assert issubclass(keras.losses.MeanSquaredError, keras.Loss)
    assert issubclass(keras.metrics.Accuracy, keras.Metric)
