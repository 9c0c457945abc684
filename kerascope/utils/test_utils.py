"""Helpers to test your own layers: Keras's `keras.utils.test_utils`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kerascope.engine.input_layer import Input
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import DataError, ShapeError
from kerascope.registry import custom_object_scope

__all__ = ["get_test_data", "layer_test"]

Arrays = tuple[np.ndarray, np.ndarray]
_SPREAD = 0.7


def get_test_data(
    num_train: int = 1000,
    num_test: int = 500,
    input_shape: Sequence[int] = (10,),
    output_shape: Sequence[int] = (2,),
    classification: bool = True,
    num_classes: int = 2,
) -> tuple[Arrays, Arrays]:
    """Return random data that a model can learn: `(x_train, y_train), (x_test, y_test)`.

    Parameters
    ----------
    num_train, num_test : int
        Numbers of samples.
    input_shape, output_shape : tuple of int
        Shape of one sample; shape of one target if `classification` is False.
    classification : bool
        Whether the targets are class numbers. Otherwise they are arrays.
    num_classes : int
        Number of classes, if `classification` is True.

    Notes
    -----
    The values of a sample are normally distributed around its class number. Without classes, the
    values of a sample and its target are distributed around the same number between 0 and 1. The
    standard deviation is 0.7. Call `np.random.seed` first to get the same data again.

    Examples
    --------
    >>> (x, y), _ = get_test_data(num_train=6, num_test=2, input_shape=(3,))
    >>> x.shape, y.shape
    ((6, 3), (6,))
    """
    samples = num_train + num_test
    centres = np.random.random_sample(samples)  # noqa: NPY002 (`np.random.seed` seeds it)
    if classification:
        centres = (num_classes * centres).astype(int)
    x = _around(centres, input_shape)
    y = centres if classification else _around(centres, output_shape)
    return (x[:num_train], y[:num_train]), (x[num_train:], y[num_train:])


def _around(centres: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    spread = np.random.normal(scale=_SPREAD, size=(len(centres), *shape))  # noqa: NPY002
    return spread + centres.reshape(-1, *(1 for _ in shape))


def layer_test(
    layer_cls: Any,
    kwargs: dict[str, Any] | None = None,
    input_shape: Sequence[int | None] | None = None,
    input_dtype: str | None = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: str | None = None,
    fixed_batch_size: bool = False,
) -> np.ndarray:
    """Check that a layer class fulfils the requirements of a layer; return its output.

    The layer must accept its own weights, and be created again from its configuration, alone and in
    a model. Its output must have the shape that `compute_output_shape` returns, and a model with it
    must train on a batch.

    Parameters
    ----------
    layer_cls : class of Layer
    kwargs : dict
        Arguments of its constructor.
    input_shape : tuple, optional
        Shape with the batch axis. None means a random size from 1 to 3. Default: that of
        `input_data`.
    input_dtype : str, optional
        Default: the dtype of `input_data`, or float32 without it.
    input_data : array, optional
        Default: random numbers.
    expected_output : array, optional
        The output that the layer must have for `input_data`.
    expected_output_dtype : str, optional
        Default: the dtype of the input.
    fixed_batch_size : bool
        Whether the Input has a fixed batch size.

    Raises
    ------
    DataError
        Neither `input_shape` nor `input_data` is given.
    AssertionError
        One of the checks fails.
    """
    kwargs = kwargs or {}
    data = _input_data(input_shape, input_dtype, input_data)
    dtype = input_dtype or str(data.dtype)
    shape = data.shape if input_shape is None or fixed_batch_size else tuple(input_shape)

    layer = layer_cls(**kwargs)
    batch = {"batch_shape": data.shape} if fixed_batch_size else {"shape": shape[1:]}
    inputs = Input(dtype=dtype, **batch)
    outputs = layer(inputs)
    assert str(outputs.dtype) == (expected_output_dtype or dtype), (
        f"{layer.label}: expected the output dtype {expected_output_dtype or dtype}, "
        f"got {outputs.dtype}."
    )
    layer.set_weights(layer.get_weights())
    model = Model(inputs, outputs)
    actual = model.predict(data)
    _check_shape(layer, outputs.shape, actual.shape)
    _check_shape(layer, layer.compute_output_shape(data.shape), actual.shape)
    if expected_output is not None:
        np.testing.assert_allclose(actual, expected_output, rtol=1e-3, atol=1e-6)

    with custom_object_scope({layer_cls.__name__: layer_cls}):
        remade = Model.from_config(model.get_config())
        _check_same(remade, model, data, actual)
        alone = Sequential([layer_cls.from_config(layer.get_config())])
        alone.build((*data.shape[:1], *shape[1:]) if fixed_batch_size else (None, *shape[1:]))
        _check_same(alone, model, data, actual)
    model.compile("rmsprop", "mse")
    model.train_on_batch(data, actual)
    return np.asarray(actual)


def _input_data(shape: Any, dtype: str | None, data: Any) -> np.ndarray:
    if data is not None:
        return np.asarray(data)
    if shape is None:
        raise DataError("layer_test: expected input_shape or input_data, got neither.")
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]  # noqa: NPY002
    drawn = 10 * np.random.random_sample(sizes)  # noqa: NPY002
    dtype = dtype or "float32"
    return (drawn - 0.5 if dtype.startswith("float") else drawn).astype(dtype)


def _check_shape(layer: Any, said: Any, came: tuple[int, ...]) -> None:
    """Raise if the shape of an array does not match a shape that may contain None.

    Raises
    ------
    ShapeError
        The shapes differ.
    """
    fits = len(said) == len(came) and all(
        size is None or size == seen for size, seen in zip(said, came, strict=True)
    )
    if not fits:
        raise ShapeError(f"{layer.label}: expected the output shape {tuple(said)}, got {came}.")


def _check_same(remade: Any, model: Any, data: np.ndarray, actual: np.ndarray) -> None:
    if model.weights:
        remade.set_weights(model.get_weights())
    if not model.uses_learning_phase:
        np.testing.assert_allclose(remade.predict(data), actual, rtol=1e-3, atol=1e-6)
