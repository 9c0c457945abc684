"""What Keras 1 has beside its layers, and later ones have not: loaded when it is asked for.

The names stand in the modules where Keras 1 has them: `keras.utils.np_utils.probas_to_classes`,
`keras.engine.training.slice_X`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kerascope.backend import count_params
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.engine import workers
from kerascope.engine.base_layer import Layer
from kerascope.engine.compiling import weighted_masked_objective
from kerascope.engine.keras1.training_utils import check_array_length_consistency
from kerascope.engine.sequential import deserialized
from kerascope.errors import ArgumentError
from kerascope.registry import custom_object_scope
from kerascope.utils import conv_utils
from kerascope.utils.generic_utils import slice_arrays
from kerascope.utils.io_utils import _opened

# --- keras.utils.np_utils -------------------------------------------------------------------------


def binary_logloss(p: ArrayLike, y: ArrayLike) -> float:
    """Return the mean binary crossentropy of probabilities and labels of 0 and 1.

    Examples
    --------
    >>> round(float(binary_logloss([0.5, 0.5], [1, 0])), 4)
    0.6931
    """
    tiny = 1e-15
    shares, labels = np.clip(np.asarray(p, "float64"), tiny, 1 - tiny), np.asarray(y)
    found = np.sum(labels * np.log(shares) + (1 - labels) * np.log(1 - shares))
    return float(-found / len(labels))


def multiclass_logloss(P: ArrayLike, Y: ArrayLike) -> float:
    """Return the mean crossentropy of rows of probabilities; the classes `Y` count from 1.

    Examples
    --------
    >>> round(multiclass_logloss([[0.5, 0.5], [0.25, 0.75]], [1, 2]), 4)
    0.4904
    """
    rows, classes = np.asarray(P), np.asarray(Y, "int64")
    return float(-np.mean(np.log(rows[np.arange(len(classes)), classes - 1])))


def accuracy(p: ArrayLike, y: ArrayLike) -> float:
    """Return the share of entries that are equal."""
    return float(np.mean(np.equal(p, y)))


def probas_to_classes(y_pred: ArrayLike) -> np.ndarray:
    """Return the class of each row of probabilities; of a single column, 1 where it is above 0.5.

    Examples
    --------
    >>> probas_to_classes([[0.9], [0.2]]).tolist()
    [1, 0]
    """
    shares = np.asarray(y_pred)
    if shares.ndim > 1 and shares.shape[1] > 1:
        return categorical_probas_to_classes(shares)
    return np.array([1 if share > 0.5 else 0 for share in shares])


def categorical_probas_to_classes(p: ArrayLike) -> np.ndarray:
    """Return the number of the greatest entry of each row."""
    return np.argmax(p, axis=1)


def convert_kernel(kernel: ArrayLike, dim_ordering: str | None = None) -> np.ndarray:
    """Turn a kernel round, between the convolution of Theano and that of TensorFlow.

    Parameters
    ----------
    kernel : array_like, of 4 or 5 axes
    dim_ordering : {"th", "tf"}, optional
        Whether the sizes are its last axes or its first ones; default: as images are laid out.

    Raises
    ------
    ArgumentError
        There is no such layout, or the kernel has another number of axes.
    """
    layout, array = normalize_data_format(dim_ordering), np.asarray(kernel)
    if array.ndim not in (4, 5):
        raise ArgumentError(f"convert_kernel: expected 4 or 5 axes, got shape {array.shape}.")
    if layout == "channels_last":
        return conv_utils.convert_kernel(array)
    return np.array(np.flip(array, tuple(range(2, array.ndim))))


def conv_output_length(
    input_length: int | None, filter_size: int, border_mode: str, stride: int, dilation: int = 1
) -> Any:
    """Return the length of a convolution's output along one axis."""
    return conv_utils.conv_output_length(input_length, filter_size, border_mode, stride, dilation)


def conv_input_length(
    output_length: int | None, filter_size: int, border_mode: str, stride: int
) -> Any:
    """Return the shortest input that gives an output of this length."""
    return conv_utils.conv_input_length(output_length, filter_size, border_mode, stride)


# --- keras.utils.generic_utils, layer_utils, io_utils ---------------------------------------------


def get_from_module(
    identifier: Any,
    module_params: dict[str, Any],
    module_name: str,
    instantiate: bool = False,
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Return what a name, or a dict with a "name" and arguments, means in a module's `globals()`.

    Raises
    ------
    ArgumentError
        Nothing is called so.
    """
    if isinstance(identifier, dict):
        arguments = dict(identifier)
        found = _named(arguments.pop("name"), module_params, module_name)
        return found(**arguments)
    if not isinstance(identifier, str):
        return identifier
    found = _named(identifier, module_params, module_name)
    return found(**(kwargs or {})) if instantiate or kwargs else found


def _named(name: str, module_params: dict[str, Any], module_name: str) -> Any:
    if not module_params.get(name):
        raise ArgumentError(f"Invalid {module_name}: {name}. Give one that is there.")
    return module_params[name]


def object_list_uid(object_list: Any) -> str:
    """Return a text that tells a list of objects from every other that is alive."""
    listed = object_list if isinstance(object_list, (list, tuple)) else [object_list]
    return ", ".join(str(abs(id(one))) for one in listed)


def make_tuple(*args: Any) -> tuple[Any, ...]:
    """Return the arguments as a tuple."""
    return args


def layer_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Return a layer or model made from `{"class_name", "config"}`, with fresh weights.

    Examples
    --------
    >>> layer_from_config({"class_name": "Dense", "config": {"units": 3}}).units
    3
    """
    with custom_object_scope(custom_objects or {}):
        return deserialized(config)


def count_total_params(layers: Iterable[Layer], layer_set: Any = None) -> tuple[int, int]:
    """Return how many numbers training changes in layers, and how many it does not.

    `layer_set`, in which Keras 1 notes what it has counted, is left as it is.
    """
    distinct = list(dict.fromkeys(layers))
    trainable = {w for layer in distinct for w in layer.trainable_weights}
    fixed = {w for layer in distinct for w in layer.non_trainable_weights}
    return sum(map(count_params, trainable)), sum(map(count_params, fixed))


def save_array(array: ArrayLike, name: str) -> None:
    """Write an array to an HDF5 file, as its data set "data": what Keras 1 did by pytables."""
    with _opened(name, "w", "save_array") as file:
        file.create_dataset("data", data=np.asarray(array))


def load_array(name: str) -> np.ndarray:
    """Return the array of a file that `save_array` wrote, here or in Keras 1.

    Raises
    ------
    UnavailableError
        The file cannot be opened.
    ArgumentError
        It has no data set "data".
    """
    with _opened(name, "r", "load_array") as file:
        if "data" not in file:
            raise ArgumentError(f"load_array: '{name}' has no data set 'data'.")
        return np.asarray(file["data"])


# --- keras.engine.training ------------------------------------------------------------------------


def slice_X(X: Any, start: Any = None, stop: int | None = None) -> Any:
    """Return rows of an array or of each of a list, by a range or by their numbers.

    Examples
    --------
    >>> [x.tolist() for x in slice_X([np.arange(4), np.arange(4) * 10], 1, 3)]
    [[1, 2], [10, 20]]
    """
    return slice_arrays(X, start, stop)


def weighted_objective(fn: Any) -> Any:
    """Return a scalar version of a loss, of (y_true, y_pred, weights, mask=None)."""
    return weighted_masked_objective(fn)


class GeneratorEnqueuer(workers.GeneratorEnqueuer):
    """Batches of a generator, made ahead, with Keras 1's arguments and its `queue`.

    Parameters
    ----------
    generator : iterator
    pickle_safe : bool
        Processes instead of threads.

    Examples
    --------
    >>> enqueuer = GeneratorEnqueuer(iter([10, 20]))
    >>> enqueuer.start(nb_worker=1, max_q_size=2)
    >>> enqueuer.queue.get()
    10
    >>> enqueuer.stop()
    """

    def __init__(self, generator: Any, pickle_safe: bool = False) -> None:
        super().__init__(generator, use_multiprocessing=pickle_safe)

    def start(self, nb_worker: int = 1, max_q_size: int = 10, wait_time: float = 0.05) -> None:
        """Start workers; nothing waits here."""
        super().start(nb_worker, max_q_size)
        self.queue = _Queue(self.get())


class _Queue:
    """The batches that are made ahead, one after the other."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches

    def get(self) -> Any:
        """Wait for the next batch and return it; StopIteration ends the generator."""
        return next(self._batches)

    def empty(self) -> bool:
        """Tell whether one would get nothing: never, since `get` waits."""
        return False


def check_array_lengths(X: Any, Y: Any, W: Any) -> None:
    """Check that inputs, targets and weights have equally many samples.

    Raises
    ------
    DataError
        They have not.
    """
    check_array_length_consistency(X, Y, W)
