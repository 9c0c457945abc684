"""Functions that Keras 1 and 2 do not document, but extensions of Keras call.

Most of them call the part of the engine that does the work: `training_data` (arrays), `feeds`
(batches), `compiling` (weighted losses) or `training_loop`. Each group at the end of this file
contains the names of one module of `keras.engine`; `compat.paths` says which. The modules of
`kerascope.utils` import single functions when a script first uses them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kerascope.backend import count_params
from kerascope.backend.ops.random import fresh_seed
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.backend.shapes import Shape
from kerascope.callbacks import History, checked_callbacks
from kerascope.configurable import by_name
from kerascope.engine import feeds, training_data, training_loop, workers
from kerascope.engine.arguments import to_list, unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.engine.compiling import per_output, weighted_masked_objective
from kerascope.engine.feeds import feed_of, make_batches
from kerascope.engine.sequential import deserialized
from kerascope.errors import ArgumentError, DataError
from kerascope.registry import custom_object_scope
from kerascope.stage import Stage
from kerascope.utils import conv_utils
from kerascope.utils.generic_utils import object_list_uid, slice_arrays
from kerascope.utils.io_utils import _open_hdf5

# --- arrays: keras.engine.training_utils ----------------------------------------------------------


def standardize_single_array(x: Any) -> Any:
    """Return an array of one axis as a column; return anything else unchanged.

    Examples
    --------
    >>> standardize_single_array(np.arange(3)).shape
    (3, 1)
    """
    return np.expand_dims(x, 1) if x is not None and np.ndim(x) == 1 else x


def standardize_input_data(
    data: Any,
    names: list[str],
    shapes: list[Shape | None] | None = None,
    check_batch_axis: bool = True,
    exception_prefix: str = "",
) -> list[Any]:
    """Return one array for each name, checked against the shapes; see `training_data.as_arrays`.

    Parameters
    ----------
    data : array, list of arrays, dict by name, or None
    names : list of str
        The names of the arrays, in order.
    shapes : list of (tuple or None), optional
        The expected shape of each array; None accepts any shape.
    check_batch_axis : bool
        Whether the number of samples must equal the first size of the shape, unless it is None.
    exception_prefix : str
        The name of the data in error messages.

    Raises
    ------
    DataError
        An array is missing, or does not fit its shape.
    """
    if data is None:
        return [None] * len(names)
    where = exception_prefix or "data"
    given: list[Any] = [None] * len(names) if shapes is None else list(shapes)
    arrays = training_data.as_arrays(data, names, given, where)
    for array, shape, name in zip(arrays, given, names, strict=True):
        samples = shape[0] if shape and check_batch_axis else None
        if samples is not None and int(array.shape[0]) != samples:
            raise DataError(
                f"{where} for '{name}': expected {samples} samples, got {array.shape[0]}."
            )
    return arrays


def standardize_sample_or_class_weights(
    x_weight: Any, output_names: list[str], weight_type: str
) -> list[Any]:
    """Return a list with the weights of each output; they are given as a dict by name or a list."""
    return training_data.per_output_data(x_weight, output_names, weight_type)


def standardize_class_weights(class_weight: Any, output_names: list[str]) -> list[Any]:
    """Return a list with each output's class weights; they are given as a dict by name or list."""
    return training_data.per_output_data(class_weight, output_names, "class_weight")


def standardize_sample_weights(sample_weight: Any, output_names: list[str]) -> list[Any]:
    """Return a list with each output's sample weights, given as a list or as a dict by name."""
    return training_data.per_output_data(sample_weight, output_names, "sample_weight")


def standardize_weights(
    y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None
) -> np.ndarray:
    """Return the weights of the samples of one output. Without weights, return ones."""
    target = standardize_single_array(np.asarray(y))
    rank = 2 if sample_weight_mode == "temporal" else 1
    weights = training_data.weights_of_samples(target, sample_weight, class_weight, rank, "y")
    return weights if weights.flags.writeable else weights.copy()


def check_array_length_consistency(inputs: Any, targets: Any, weights: Any = None) -> None:
    """Raise if the arrays have different numbers of samples.

    Raises
    ------
    DataError
        The numbers of samples differ.
    """
    given = (to_list(arrays) for arrays in (inputs, targets, weights))
    x, y, w = ([array for array in arrays if array is not None] for arrays in given)
    training_data.check_lengths(x, y, w, "arrays")


class _Output(NamedTuple):
    """The name and the shape of an output, for `check_targets`."""

    name: str
    shape: Shape


def check_loss_and_target_compatibility(
    targets: Any, loss_fns: Any, output_shapes: list[Shape]
) -> None:
    """Raise an error if the labels of an output do not have the form that its loss expects.

    Raises
    ------
    DataError
        The labels of an output have the wrong form, such as class numbers in place of one-hot rows.
    """
    outputs: list[Any] = [_Output(f"output {i}", shape) for i, shape in enumerate(output_shapes)]
    rows = zip(to_list(targets), to_list(loss_fns), outputs, strict=True)
    there = [row for row in rows if row[0] is not None and row[1] is not None]
    training_data.check_targets(
        [y for y, _, _ in there], [f for _, f, _ in there], [o for _, _, o in there]
    )


def collect_metrics(metrics: Any, output_names: list[str]) -> list[list[Any]]:
    """Return a list of metrics for each output, from the `metrics` argument of `compile`.

    Examples
    --------
    >>> collect_metrics({"b": "mae"}, ["a", "b"])
    [[], ['mae']]
    """
    if not (metrics is None or callable(metrics) or isinstance(metrics, (str, list, tuple, dict))):
        raise TypeError(
            f"metrics: expected names and functions in a list or dict, "
            f"got {type(metrics).__name__}."
        )
    if isinstance(metrics, dict):
        return [to_list(one) for one in per_output(metrics, output_names, "metrics", default=[])]
    return [to_list(metrics) for _ in output_names]


# --- batches: keras.engine.training_utils ---------------------------------------------------------


def batch_shuffle(index_array: np.ndarray, batch_size: int) -> np.ndarray:
    """Return row numbers with whole batches shuffled; a smaller last batch stays last."""
    return feeds.batch_shuffle(index_array, batch_size, np.random.default_rng(fresh_seed()))


def check_num_samples(
    ins: list[Any],
    batch_size: int | None = None,
    steps: int | None = None,
    steps_name: str = "steps",
) -> int | None:
    """Return the number of samples; None if `steps` is given and no array has a shape.

    Raises
    ------
    ArgumentError
        Both a batch size and steps are given, or neither steps nor an array.
    """
    if steps is not None and batch_size is not None:
        raise ArgumentError(f"{steps_name} is given, so batch_size must be None.")
    if ins and hasattr(ins[0], "shape"):
        return int(ins[0].shape[0])
    if steps is not None:
        return None
    raise ArgumentError(f"The number of samples is unknown. Give {steps_name}.")


def iter_sequence_infinite(seq: Iterable[Any]) -> Iterator[Any]:
    """Yield the items of a Sequence in order, in an endless loop."""
    while True:
        yield from seq


# --- loops over batches: keras.engine.training_arrays and training_generator ----------------------


def fit_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    out_labels: list[str] | None = None,
    batch_size: int | None = None,
    epochs: int = 100,
    verbose: int = 1,
    callbacks: Any = None,
    val_f: Any = None,
    val_ins: list[Any] | None = None,
    shuffle: bool | str = True,
    callback_metrics: list[str] | None = None,
    initial_epoch: int = 0,
    steps_per_epoch: int | None = None,
    validation_steps: int | None = None,
) -> History:
    """Call a train function on batches of arrays, as `fit` does; return the History.

    Parameters
    ----------
    model : Model
        The model that the callbacks receive.
    f : Function
        Returns the loss and the metrics of a batch.
    ins : list of array
        The inputs of `f`.
    out_labels : list of str, optional
        Names of the values that `f` returns. Default: `model.metrics_names`.
    val_f, val_ins : optional
        The same for the evaluation after each epoch.
    callback_metrics : list of str, optional
        Names in the logs. Default: `out_labels` and, with `val_f`, each with `val_` in front.
    batch_size, epochs, verbose, callbacks, shuffle, initial_epoch
        As for `fit`.
    steps_per_epoch, validation_steps
        As for `fit`.

    Raises
    ------
    ArgumentError
        `out_labels` are not the model's metrics.
    """
    labels = model.metrics_names
    if out_labels is not None and list(out_labels) != labels:
        raise ArgumentError(f"fit_loop: expected out_labels {labels}, got {out_labels}.")
    feed = feed_of(ins, batch_size, steps_per_epoch, shuffle)
    val_feed = feed_of(val_ins, batch_size, validation_steps, False) if val_f and val_ins else None
    active = training_loop.callbacks_of_fit(
        model, checked_callbacks(callbacks), feed, val_feed,
        batch_size, epochs, verbose, callback_metrics,
    )  # fmt: skip
    settings: dict[str, Any] = {"epochs": epochs, "initial_epoch": initial_epoch}
    if val_feed is not None:
        settings |= {"val_f": val_f, "val_feed": val_feed}
    Stage("fit", training_loop.fit_events(model, f, feed, active, **settings), model).run()
    return model.history


def predict_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = 32,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a predict function on batches of arrays; return the joined outputs."""
    feed = feed_of(ins, batch_size, steps, False)
    return unpack_singleton(
        Stage("predict", training_loop.predict_events(f, feed, verbose), model).run()
    )


def evaluate_loop(
    model: Any,
    f: Any,
    ins: list[Any],
    batch_size: int | None = None,
    verbose: int = 0,
    steps: int | None = None,
) -> Any:
    """Call a test function on batches of arrays; return the mean of each of its results."""
    feed = feed_of(ins, batch_size, steps, False)
    events = training_loop.evaluate_events(f, feed, model, verbose)
    return unpack_singleton(Stage("evaluate", events, model).run())


def fit_generator(
    model: Any,
    generator: Any,
    steps_per_epoch: int | None = None,
    epochs: int = 1,
    verbose: int = 1,
    callbacks: Any = None,
    validation_data: Any = None,
    validation_steps: int | None = None,
    class_weight: Any = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    shuffle: bool = True,
    initial_epoch: int = 0,
) -> History:
    """Train a model on the batches of a generator, as `model.fit_generator` does."""
    return model.fit_generator(**by_name(locals(), "model"))


def evaluate_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Evaluate a model on the batches of a generator, as `model.evaluate_generator` does."""
    return model.evaluate_generator(**by_name(locals(), "model"))


def predict_generator(
    model: Any,
    generator: Any,
    steps: int | None = None,
    max_queue_size: int = 10,
    workers: int = 1,
    use_multiprocessing: bool = False,
    verbose: int = 0,
) -> Any:
    """Return a model's outputs for a generator's batches, as `model.predict_generator` does."""
    return model.predict_generator(**by_name(locals(), "model"))


# --- Keras 1: keras.utils.np_utils ----------------------------------------------------------------


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
    """Return the fraction of predictions `p` that equal the labels `y`."""
    return float(np.mean(np.equal(p, y)))


def probas_to_classes(y_pred: ArrayLike) -> np.ndarray:
    """Return the most probable class of each row. For a single column, classes are 1 and 0.

    In a single column, a probability above 0.5 is class 1.

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
    """Return the index of the largest entry of each row."""
    return np.argmax(p, axis=1)


def convert_kernel(kernel: ArrayLike, dim_ordering: str | None = None) -> np.ndarray:
    """Flip a kernel: convert it between the convolutions of Theano and of TensorFlow.

    Parameters
    ----------
    kernel : array_like, of 4 or 5 axes
    dim_ordering : {"th", "tf"}, optional
        Whether the kernel sizes are its last axes (th) or its first. Default: `image_data_format`.

    Raises
    ------
    ArgumentError
        The data format is unknown, or the kernel does not have 4 or 5 axes.
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
    """Return the length of the shortest input that gives an output of this length."""
    return conv_utils.conv_input_length(output_length, filter_size, border_mode, stride)


# --- Keras 1: keras.utils.generic_utils, layer_utils, io_utils ------------------------------------


def get_from_module(
    identifier: Any,
    module_params: dict[str, Any],
    module_name: str,
    instantiate: bool = False,
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Return the object of a module to which a name, or a dict with "name" and arguments, refers.

    Parameters
    ----------
    identifier : str, dict or object
        An object is returned unchanged.
    module_params : dict
        The module's `globals()`.
    module_name : str
        The kind of object in error messages.
    instantiate : bool
        Whether to call the object that was found.
    kwargs : dict, optional
        Arguments of that call.

    Raises
    ------
    ArgumentError
        The module does not define the name.
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
        raise ArgumentError(f"Invalid {module_name}: {name}. Give one from its module.")
    return module_params[name]


def make_tuple(*args: Any) -> tuple[Any, ...]:
    """Return the arguments as a tuple."""
    return args


def layer_from_config(config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
    """Create a layer or model from a dict with "class_name" and "config"; weights are new.

    Examples
    --------
    >>> layer_from_config({"class_name": "Dense", "config": {"units": 3}}).units
    3
    """
    with custom_object_scope(custom_objects or {}):
        return deserialized(config)


def count_total_params(layers: Iterable[Layer], layer_set: Any = None) -> tuple[int, int]:
    """Return the numbers of trainable and of non-trainable parameters in layers.

    `layer_set`, to which Keras 1 adds the counted layers, is ignored.
    """
    distinct = list(dict.fromkeys(layers))
    trainable = {w for layer in distinct for w in layer.trainable_weights}
    fixed = {w for layer in distinct for w in layer.non_trainable_weights}
    return sum(map(count_params, trainable)), sum(map(count_params, fixed))


def save_array(array: ArrayLike, name: str) -> None:
    """Write an array to an HDF5 file, as its data set "data". Keras 1 used PyTables."""
    with _open_hdf5(name, "w", "save_array") as file:
        file.create_dataset("data", data=np.asarray(array))


def load_array(name: str) -> np.ndarray:
    """Return the array from a file that `save_array` of kerascope or of Keras 1 wrote.

    Raises
    ------
    UnavailableError
        The file cannot be opened.
    ArgumentError
        The file has no data set "data".
    """
    with _open_hdf5(name, "r", "load_array") as file:
        if "data" not in file:
            raise ArgumentError(f"load_array: '{name}' has no data set 'data'.")
        return np.asarray(file["data"])


# --- Keras 1: keras.engine.training ---------------------------------------------------------------


def slice_X(X: Any, start: Any = None, stop: int | None = None) -> Any:
    """Return rows of an array, or of each array in a list, by a range or by their indices.

    Examples
    --------
    >>> [x.tolist() for x in slice_X([np.arange(4), np.arange(4) * 10], 1, 3)]
    [[1, 2], [10, 20]]
    """
    return slice_arrays(X, start, stop)


weighted_objective = weighted_masked_objective  # its name in Keras 1


class GeneratorEnqueuer(workers.GeneratorEnqueuer):
    """Prefetches the batches of a generator; has the arguments and the `queue` of Keras 1.

    Parameters
    ----------
    generator : iterator
    pickle_safe : bool
        Whether to use processes instead of threads.

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
        """Start the workers. `wait_time` has no effect."""
        super().start(nb_worker, max_q_size)
        self.queue = _Queue(self.get())


class _Queue:
    """A queue of the prefetched batches, as scripts for Keras 1 read it."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches

    def get(self) -> Any:
        """Wait for the next batch and return it. After the last batch, raise StopIteration."""
        return next(self._batches)

    def empty(self) -> bool:
        """Return False. Polling is not needed, because `get` waits until a batch is ready."""
        return False


def check_array_lengths(X: Any, Y: Any, W: Any) -> None:
    """Raise if inputs, targets and weights have different numbers of samples.

    Raises
    ------
    DataError
        The numbers of samples differ.
    """
    check_array_length_consistency(X, Y, W)


# --- the names of each module of Keras ------------------------------------------------------------


def _group(*functions: Any, **aliases: Any) -> SimpleNamespace:
    named = {function.__name__: function for function in functions} | aliases
    return SimpleNamespace(__all__=list(named), **named)


_FUNCTIONS = (
    *(standardize_input_data, standardize_single_array, standardize_weights),
    *(standardize_class_weights, standardize_sample_weights, standardize_sample_or_class_weights),
    *(check_array_length_consistency, check_loss_and_target_compatibility, check_num_samples),
    *(collect_metrics, weighted_masked_objective),
    *(batch_shuffle, iter_sequence_infinite, make_batches),
)
_LOOPS = (fit_loop, predict_loop, fit_generator, evaluate_generator, predict_generator)

topology = _group(object_list_uid)
training_utils = _group(*_FUNCTIONS)
loops = _group(*_LOOPS, test_loop=evaluate_loop)  # training_arrays and training_generator
training = _group(  # before Keras 2.2 all are in one module
    *(*_FUNCTIONS, *_LOOPS, GeneratorEnqueuer, check_array_lengths, slice_X),
    test_loop=evaluate_loop,
    weighted_objective=weighted_objective,
)
