"""`Input` and `InputLayer`, with which a graph of layers begins.

`Input(shape=(20,))` makes an InputLayer and returns its placeholder. The only Node of the
InputLayer has this placeholder as input and output. Lesson: chapter 4.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Tensor, as_tensor
from kerascope.backend.shapes import Shape, as_shape
from kerascope.backend.state import floatx, get_uid, is_keras_tensor, placeholder
from kerascope.engine.arguments import unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.engine.node import Node
from kerascope.errors import ArgumentError


class InputLayer(Layer):
    """The layer that an input of a model comes from. It computes nothing.

    Parameters
    ----------
    input_shape : tuple of int or None, optional
        Shape of a sample, without the batch.
    batch_size : int, optional
        Size of the batch, if it is fixed.
    batch_input_shape : tuple of int or None, optional
        Shape with the batch; replaces `input_shape` and `batch_size`.
    dtype : str, optional
        Default `K.floatx()`, or the dtype of `input_tensor`.
    input_tensor : Tensor, optional
        Used instead of a new placeholder.
    sparse : bool
        Not supported; True raises an error.
    name : str, optional

    Raises
    ------
    ArgumentError
        No shape was given, or both `input_shape` and `batch_input_shape`. Or `input_tensor` is
        already the output of a layer.

    Examples
    --------
    >>> layer = InputLayer((3,), name="pixels")
    >>> layer.output.shape, layer.count_params()
    ((None, 3), 0)
    """

    def __init__(
        self,
        input_shape: Any = None,
        batch_size: int | None = None,
        batch_input_shape: Any = None,
        dtype: str | None = None,
        input_tensor: Tensor | None = None,
        sparse: bool = False,
        name: str | None = None,
    ) -> None:
        if input_shape is not None and batch_input_shape is not None:
            raise ArgumentError("InputLayer: give input_shape or batch_input_shape, not both.")
        super().__init__(
            name=name, dtype=dtype or (input_tensor.dtype if input_tensor is not None else floatx())
        )
        if input_shape is not None:
            batch_input_shape = (batch_size, *as_shape(input_shape))
        if batch_input_shape is None and input_tensor is None:
            raise ArgumentError(
                f"{self.label}: expected input_shape=(20,) or batch_input_shape=(None, 20), got "
                "neither."
            )
        self.trainable = False
        self.built = True
        self.sparse = sparse
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        tensor = self._tensor(input_tensor, batch_input_shape)
        self.batch_input_shape: Shape = tensor.shape
        Node(self, [tensor], [tensor], [None], [None], begins=True)

    def _default_name(self) -> str:
        return f"input_{get_uid('input')}"

    def _tensor(self, given: Tensor | None, batch_input_shape: Any) -> Tensor:
        if given is None:
            return placeholder(
                batch_input_shape, dtype=self.dtype, sparse=self.sparse, name=self.name
            )
        tensor = as_tensor(given)
        if is_keras_tensor(tensor):
            raise ArgumentError(
                f"{self.label}: '{tensor.name}' is already the output of "
                f"{tensor._keras_history.layer.label}. "
                f"Pass a K.placeholder or K.variable."
            )
        return tensor

    def get_config(self) -> dict[str, Any]:
        """Return the shape, dtype and name."""
        return {
            "batch_input_shape": list(self.batch_input_shape),
            "dtype": self.dtype,
            "sparse": self.sparse,
            "name": self.name,
        }


def Input(
    shape: Any = None,
    batch_shape: Any = None,
    name: str | None = None,
    dtype: str | None = None,
    sparse: bool = False,
    tensor: Tensor | None = None,
    batch_size: int | None = None,
) -> Any:
    """Return the symbolic tensor of a model's input.

    Parameters
    ----------
    shape : tuple of int or None
        Shape of a sample, without the batch: `(20,)`.
    batch_shape : tuple of int or None
        Shape with the batch: `(None, 20)`.
    name : str, optional
        Name of the InputLayer and its placeholder; default `input_1`.
    dtype : str, optional
        Default `K.floatx()`.
    sparse : bool
        Not supported; True raises an error.
    tensor : Tensor, optional
        Used and returned instead of a new placeholder; it receives a history.
    batch_size : int, optional
        The fixed size of a batch, if `shape` is given.

    Returns
    -------
    Tensor, shape (batch, ...)

    Examples
    --------
    >>> Input(shape=(20,), name="pixels").shape
    (None, 20)
    """
    if shape is None and batch_shape is None and tensor is None:
        raise ArgumentError(
            "Please provide to Input either a `shape` or a `batch_shape` argument: "
            "Input(shape=(20,)), without the batch size."
        )
    if shape is not None and batch_shape is None:
        batch_shape = (batch_size, *as_shape(shape))
    input_layer = InputLayer(
        batch_input_shape=batch_shape, name=name, dtype=dtype, sparse=sparse, input_tensor=tensor
    )
    return unpack_singleton(input_layer.inbound_nodes[0].output_tensors)
