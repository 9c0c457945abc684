"""Checks users' data, and converts them to arrays that fit the model.

`x` and `y` may be an array, a list of arrays or a dict by name. Labels of shape (50,) become
(50, 1). Class weights and sample weights become one array of weights for each output. In Keras,
these functions are in `keras.engine.training_utils`. Lesson: chapter 15.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import contains
from typing import Any

import numpy as np

from kerascope import losses
from kerascope.backend.constants import ones_of
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.sparse import is_sparse_matrix
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.engine.arguments import by_names
from kerascope.engine.compile_rules import adapt_to_targets
from kerascope.errors import ArgumentError, DataError, DtypeError
from kerascope.losses.classes import takes_class_numbers, wants_targets_like_predictions
from kerascope.registry import did_you_mean
from kerascope.settings import config
from kerascope.spellings import dialect_options
from kerascope.user_frames import warn

# --- the data of a model --------------------------------------------------------------------------


def inputs_as_arrays(model: Any, x: Any) -> list[Any]:
    """Return one array for each input placeholder of a model, from its data `x`."""
    structure = model._input_structure
    if isinstance(structure, dict) and isinstance(x, (list, tuple)) and len(x) > 1:
        warn(
            f"{model.label}: expected a dict of inputs, got a list, which is used in the order "
            f"{model.input_names}. Pass a dict by these names."
        )
    x = by_names(structure, model.input_names, x)
    by_tensor = dict(zip(model.inputs, model.names_for(x), strict=True))
    fed = model._feed_inputs
    return as_arrays(x, [by_tensor[t] for t in fed], [t.shape for t in fed], "x")


def data_as_arrays(
    model: Any, x: Any, y: Any, sample_weight: Any, class_weight: Any, where: str
) -> tuple[list[Any], list[Any], list[Any]]:
    """Return arrays for a compiled model's inputs, targets and sample weights.

    The arrays are checked against each other. Samples without weights share one read-only array of
    ones.

    Raises
    ------
    DataError
        The data do not fit the model or each other. The message begins with `where`.
    """
    given = (of_trained_outputs(model, one) for one in (y, sample_weight, class_weight))
    y, sample_weight, class_weight = given
    adapt_to_targets(model, y, where)
    names, fed = fed_targets(model)
    x_arrays = inputs_as_arrays(model, x)
    ranks: list[Any] = [(None,) * model.targets[k].ndim for k in fed]
    functions = [model.loss_functions[model.trained[k]] for k in fed]
    flat = [k in model.squeezed_targets for k in fed]
    y_arrays = targets_as_arrays(y, [names[k] for k in fed], ranks, functions, flat)
    check_lengths(x_arrays, y_arrays, [], where)
    check_targets(y_arrays, functions, [model.outputs[model.trained[k]] for k in fed])
    if not x_arrays and not y_arrays:  # the model reads variables
        if sample_weight is not None or class_weight is not None:
            raise DataError(f"{where}: sample weights need samples. Leave them out.")
        return [], [], []
    by_sample = per_output_data(sample_weight, names, "sample_weight")
    by_class = per_output_data(class_weight, names, "class_weight")
    weights = []
    for k, name in enumerate(names):
        reference = y_arrays[fed.index(k)] if k in fed else (x_arrays or y_arrays)[0]
        rank = model.sample_weights[k].ndim
        weights.append(weights_of_samples(reference, by_sample[k], by_class[k], rank, name))
    return x_arrays, y_arrays, weights


def fed_targets(model: Any) -> tuple[list[str], list[int]]:
    """Return the names of the trained outputs, and the indices of the targets that must be fed."""
    output_names, fed = model.output_names, set(model._feed_targets)
    names = [output_names[i] for i in model.trained]
    return names, [k for k, target in enumerate(model.targets) if target in fed]


def of_trained_outputs(model: Any, given: Any) -> Any:
    """Return the labels or weights of the outputs with targets, selected from `given`.

    If `given` has no item for each output, it is returned unchanged, or as a dict by names if it is
    nested.
    """
    names, trained = model.output_names, model.trained
    given = by_names(model._output_structure, names, given)
    if len(trained) == len(names):
        return given
    left_out = set(names) - {names[i] for i in trained}
    if isinstance(given, dict):
        return {key: value for key, value in given.items() if key not in left_out}
    is_listed = isinstance(given, (list, tuple)) and len(given) == len(names)
    is_listed = is_listed and all(hasattr(one, "shape") for one in given)
    return [given[i] for i in trained] if is_listed else given


def with_own_weights(ins: list[Any], first_weight: int) -> list[Any]:
    """Return the arrays to feed to a function, with writable copies of the sample weights.

    Callbacks receive these arrays as their `validation_data`. Without the copies, samples without
    weights would have a read-only array of ones.
    """
    weights = [w.copy() if isinstance(w, np.ndarray) else w for w in ins[first_weight:]]
    return ins[:first_weight] + weights


# --- one array for each name ----------------------------------------------------------------------


def as_arrays(data: Any, names: list[str], shapes: list[Shape | None], what: str) -> list[Any]:
    """Return one array for each name, with as many axes as the required shape.

    Parameters
    ----------
    data : array_like, list of array_like, or dict by name
        HDF5 data sets and other objects with `shape` and `__getitem__` are not converted; they are
        read batch by batch.
    names : list of str
        The names of the tensors that receive the arrays.
    shapes : list of (tuple or None)
        The required shape of each array; None means any shape.
    what : str
        "x" or "y", for error messages.

    Raises
    ------
    DataError
        There are too many or too few arrays, or an array has another shape.
    """
    arrays = [
        _as_array(one, f"{what} for '{name}'")
        for one, name in zip(_listed(data, names, what), names, strict=True)
    ]
    return [
        _fitted(array, name, shape, what)
        for array, name, shape in zip(arrays, names, shapes, strict=True)
    ]


def ranks_of(y: Any, names: list[str]) -> list[int]:
    """Return the number of axes of the labels `y` for each output name."""
    return [len(np.shape(one)) for one in _listed(y, names, "y")]


def targets_as_arrays(
    y: Any, names: list[str], shapes: list[Shape], functions: list[Any], flat: Sequence[bool]
) -> list[Any]:
    """Return one array of labels for each name, with a last axis added where it is missing.

    Class numbers may lack the last axis. Other labels may lack it if their entry in `flat` is true.

    Raises
    ------
    DataError
        As for `as_arrays`.
    """
    loose = [
        None if (is_flat or takes_class_numbers(loss)) and len(shape) > 2 else shape
        for loss, shape, is_flat in zip(functions, shapes, flat, strict=True)
    ]
    arrays = as_arrays(y, names, loose, "y")
    for k, shape in enumerate(shapes):
        if loose[k] is None and len(arrays[k].shape) == len(shape) - 1:
            arrays[k] = np.asarray(arrays[k])[..., np.newaxis]
        arrays[k] = _fitted(arrays[k], names[k], shape, "y")
    return arrays


def _listed(data: Any, names: list[str], what: str) -> list[Any]:
    if not names:
        if data is not None and len(np.shape(data)) and len(data):
            raise DataError(f"{what}: the model takes no {what}. Leave it out.")
        return []
    if data is None:
        raise DataError(f"{what}: expected arrays for {names}, got None. Pass {what}.")
    if isinstance(data, dict):
        for name in data:
            if name not in names:
                raise DataError(
                    f"{what}: there is no tensor {name!r}. "
                    f"{did_you_mean(name, names)}Use one of: {names}."
                )
        missing = [name for name in names if name not in data]
        if missing:
            raise DataError(f"{what}: expected a key for each of {names}, got none for {missing}.")
        return [data[name] for name in names]
    if isinstance(data, (list, tuple)) and _is_list_of_arrays(data, len(names)):
        if len(data) != len(names):
            raise DataError(
                f"{what}: expected one array for each of {len(names)} tensors {names}, got "
                f"{len(data)}."
            )
        return list(data)
    if len(names) > 1:
        raise DataError(
            f"{what}: expected a list of {len(names)} arrays for the tensors {names}, got one "
            "array."
        )
    return [data]


def _is_list_of_arrays(data: Sequence[Any], number: int) -> bool:
    """Return whether `data` is a list of arrays, not one array written as nested lists."""
    if not len(data):
        return number > 1
    return (hasattr(data[0], "shape") and np.ndim(data[0]) > 0) or (
        number > 1 and len(data) == number
    )


def _as_array(data: Any, where: str) -> Any:
    if isinstance(data, Tensor):
        raise DtypeError(
            f"{where}: a symbolic tensor has no values. Pass arrays, or make the model on "
            "Input(tensor=x) and compile it with target_tensors=y."
        )
    if is_sparse_matrix(data):
        data = data.tocsr()  # the sparse format with access by rows
    # Tensors of other libraries are converted to arrays.
    is_lazy = hasattr(data, "shape") and isinstance(getattr(data, "dtype", None), np.dtype)
    is_lazy = is_lazy and hasattr(data, "__getitem__")
    if is_lazy and not hasattr(data, "iloc"):  # pandas objects are converted to arrays
        array = data
    else:
        try:
            array = np.asarray(data)
        except ValueError as error:
            raise DataError(
                f"{where}: the rows have different lengths ({error}). Pad them first."
            ) from None
    if array.dtype.kind not in "fiub":
        raise DtypeError(f"{where}: expected numbers, got values of type {array.dtype}.")
    return array


def _fitted(array: Any, name: str, shape: Shape | None, what: str) -> Any:
    if len(array.shape) == 0:
        raise DataError(f"{what} for '{name}': expected an array of samples, got a single number.")
    if len(array.shape) == 1 and (shape is None or len(shape) == 2):
        array = np.asarray(array)[:, np.newaxis]
    if shape is None:
        return array
    if dialect_options().trains_as_keras_3 and what == "x":  # a last axis of 1 is added or dropped
        if len(array.shape) == len(shape) + 1 and array.shape[-1] == 1:
            array = np.asarray(array)[..., 0]
        elif len(array.shape) == len(shape) - 1 and shape[-1] == 1:
            array = np.asarray(array)[..., np.newaxis]
    if len(array.shape) != len(shape):
        raise DataError(
            f"{what} for '{name}': expected an array with {len(shape)} axes {shape}, got "
            f"{len(array.shape)} {tuple(array.shape)}."
        )
    if merge_shapes(tuple(array.shape[1:]), shape[1:]) is None:
        raise DataError(
            f"{what} for '{name}': expected an array of shape {shape}, got {tuple(array.shape)}."
        )
    return array


def check_lengths(x: list[Any], y: list[Any], weights: list[Any], where: str) -> int:
    """Return the number of samples that all arrays have.

    Raises
    ------
    DataError
        The numbers of samples differ or are 0.
    """
    for what, arrays in (("x", x), ("y", y), ("sample_weight", weights)):
        lengths = sorted({int(a.shape[0]) for a in arrays})
        if len(lengths) > 1:
            raise DataError(
                f"{where}: the arrays of {what} have different numbers of samples: {lengths}."
            )
    first = {
        what: int(a[0].shape[0])
        for what, a in (("x", x), ("y", y), ("sample_weight", weights))
        if a
    }
    if len(set(first.values())) > 1:
        listed = ", ".join(f"{what} has {n}" for what, n in first.items())
        raise DataError(f"{where}: x and y must have the same number of samples: {listed}.")
    number = next(iter(first.values()), 0)
    if first and number == 0:
        raise DataError(f"{where}: expected at least one sample, got an empty data set.")
    return number


def check_targets(targets: list[Any], functions: list[Any], outputs: list[Tensor]) -> None:
    """Check that labels have the form that their loss expects.

    Raises
    ------
    DataError
        Class numbers or a single class were passed to categorical_crossentropy, or labels and
        output have different shapes.
    """
    for y, loss, output in zip(targets, functions, outputs, strict=True):
        if loss is None:
            continue
        function = losses.plain_function(loss)
        if function is losses.categorical_crossentropy and y.shape[-1] == 1:
            instead = "Use to_categorical(y), or the loss 'sparse_categorical_crossentropy'."
            if output.shape[-1] == 1:
                instead = "It is always 0 for one class. Use the loss 'binary_crossentropy'."
            raise DataError(
                f"y: loss categorical_crossentropy: expected one-hot rows of {output.shape[-1]} "
                f"entries, got targets of shape {tuple(y.shape)}. {instead}"
            )
        if takes_class_numbers(loss) and len(y.shape) == len(output.shape) and y.shape[-1] != 1:
            raise DataError(
                f"y: loss {function.__name__}: expected one class number for each row, got "
                f"{y.shape[-1]} in targets of shape {tuple(y.shape)}. Use y.argmax(axis=-1), or "
                "the loss 'categorical_crossentropy'."
            )
        if not wants_targets_like_predictions(loss):
            continue
        if merge_shapes(tuple(y.shape[1:]), output.shape[1:]) is None:
            raise DataError(
                f"y: loss {function.__name__}: expected targets of the shape {output.shape} of "
                f"the output '{output.name}', got {tuple(y.shape)}."
            )


_MULTIPLY = "Or multiply both: sample_weight = sample_weight * [class_weight[c] for c in y]."


def weights_of_samples(
    y: Any, sample_weight: Any, class_weight: dict[int, float] | None, rank: int, name: str
) -> np.ndarray:
    """Return the weight of each sample or time step of one output; ones if none are given.

    In Keras 3 all axes of the weights except the first may have size 1.

    Raises
    ------
    DataError
        The weights do not fit the labels.
    ArgumentError
        A class in the labels has no weight. Or sample weights and class weights are both given, in
        dialect "3".

    Warns
    -----
    KerascopeWarning
        Sample weights and class weights are both given, in another dialect than "3". The class
        weights are ignored.
    """
    if rank == 2 and len(y.shape) < 3:
        raise DataError(
            f"y for '{name}': sample_weight_mode='temporal': expected targets with 3 axes "
            f"(samples, times, features), got {tuple(y.shape)}."
        )
    shape, is_free = tuple(y.shape[:rank]), dialect_options().trains_as_keras_3
    weights = ones_of(shape[:1] + (1,) * (rank - 1) if is_free else shape)
    if sample_weight is not None and class_weight is not None:
        both = f"sample_weight and class_weight for '{name}': both are given"
        if dialect_options().is_strict:
            raise ArgumentError(f"{both}. Leave one out. {_MULTIPLY}")
        warn(f"{both}. class_weight is ignored, as in Keras 2. {_MULTIPLY}")
        class_weight = None
    if sample_weight is not None:
        given = np.asarray(sample_weight, dtype=config.floatx)
        came = given.shape
        if is_free and came[rank:] in ((), (1,)):  # (samples,) and (samples, times, 1) are allowed
            given = given.reshape(came[:rank] + (1,) * (rank - given.ndim))
        sizes = [(n, 1) if is_free and axis else (n,) for axis, n in enumerate(shape)]
        fits = given.ndim == rank and all(map(contains, sizes, given.shape))
        if not fits:
            raise DataError(
                f"sample_weight for '{name}': expected an array of shape {shape}, one for each "
                f"{'sample' if rank == 1 else 'time step'}, got {came}."
            )
        weights = weights * given
    if class_weight is not None:
        weights = weights * _weights_by_class(np.asarray(y), class_weight, name)
    return weights


def _weights_by_class(y: np.ndarray, class_weight: dict[int, float], name: str) -> np.ndarray:
    if not isinstance(class_weight, dict) or not all(_is_number(key) for key in class_weight):
        raise ArgumentError(
            f"class_weight for '{name}': expected a dict of class numbers and weights such as "
            f"{{0: 1.0, 1: 5.0}}, got {class_weight!r}."
        )
    if y.ndim > 2:
        raise DataError(f"class_weight for '{name}': targets with {y.ndim} axes have no classes.")
    classes = y.argmax(axis=1) if y.ndim == 2 and y.shape[1] > 1 else y.reshape(-1)
    missing = sorted({int(c) for c in classes} - {int(k) for k in class_weight})
    if missing:
        raise ArgumentError(
            f"class_weight for '{name}': expected a weight for each class in the targets. There is "
            f"none for {missing}."
        )
    lookup = {int(k): float(v) for k, v in class_weight.items()}
    return np.array([lookup[int(c)] for c in classes], dtype=config.floatx)


def _is_number(key: Any) -> bool:
    return isinstance(key, (int, float, np.number))


def split_off_validation(arrays: list[Any], share: float) -> tuple[list[Any], list[Any]]:
    """Return each array's first samples, and each array's last `share` of the samples.

    Raises
    ------
    ArgumentError
        The share is not between 0 and 1, or one of the two parts would be empty.
    """
    if not 0 < share < 1:
        raise ArgumentError(
            f"fit: validation_split: expected a share between 0 and 1, got {share!r}."
        )
    number = int(arrays[0].shape[0])
    at = int(number * (1 - share))
    if not 0 < at < number:
        raise ArgumentError(
            f"fit: validation_split={share} of {number} samples leaves one side empty."
        )
    return [a[:at] for a in arrays], [a[at:] for a in arrays]


def per_output_data(value: Any, names: list[str], what: str) -> list[Any]:
    """Return a list of the sample weights or class weights of each output.

    A single output has the weights `value`. For several outputs, `value` must be a list or a dict
    by the outputs' names. In Keras 3 it may also be one array for all outputs.

    Raises
    ------
    DataError
        For several outputs, the value has another type or length. Or a key of the dict is the name
        of no output.
    """
    if value is None:
        return [None] * len(names)
    if isinstance(value, dict) and value.keys() & set(names):
        for unknown in value.keys() - set(names):
            raise DataError(
                f"{what}: there is no output {unknown!r}. {did_you_mean(str(unknown), names)}"
                f"Use one of: {names}."
            )
        return [value.get(name) for name in names]
    if isinstance(value, np.ndarray) and dialect_options().trains_as_keras_3:
        return [value] * len(names)
    if len(names) == 1:
        is_list_of_one = (
            isinstance(value, (list, tuple)) and len(value) == 1 and np.ndim(value[0]) > 0
        )
        return [value[0]] if is_list_of_one else [value]
    if isinstance(value, (list, tuple)) and len(value) == len(names):
        return list(value)
    raise DataError(
        f"{what}: expected a list with {len(names)} entries, one for each output, or a dict with "
        f"keys among {names}."
    )
