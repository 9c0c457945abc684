"""`from_keras` and `to_keras`: convert a model of Keras 3 to kerascope and back, without a file.

The content of a `.keras` file is passed in memory: the configuration, and the weights under the
paths that Keras gives them. So weights are matched by the structure of the model, not by the order
of a list, and all rules for reading and writing files apply here too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from kerascope import model_files
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, ConfigError, KerascopeError, NotHereError
from kerascope.foreign.keras_models.library import library, parts_of
from kerascope.limits import Budget, building
from kerascope.registry import custom_object_scope, get_custom_objects
from kerascope.saving import hdf5_files, keras3_weights
from kerascope.saving.configs import TO_LOOK
from kerascope.saving.keras3_compile import WITHOUT_IT, compile_to_keras_3, state_to_keras_3
from kerascope.saving.keras3_files import keras_3_config, model_from, opened
from kerascope.spellings import DIALECTS, override_dialect
from kerascope.user_frames import warn

RECORD_IT = "Record a run instead: ks.draw(model, values=x) or ks.walk(model, x)."
_OF_KERAS = ("keras.src.", "keras.")
_GRAPHS = ("Functional", "Sequential")
_OPTIMIZER = "optimizer/vars"
_INSIDE = "Exception encountered: "  # Keras puts the reason last, after long configurations


# --- from Keras -----------------------------------------------------------------------------------


def from_keras(
    model: Any,
    custom_objects: Mapping[str, Any] | None = None,
    *,
    compile: bool = True,
    opaque: bool = False,
) -> Any:
    """Return a live model of Keras 3 as a model of kerascope.

    The result is a copy with the current weights that computes like Keras 3 (dialect "3"). If the
    model is compiled, the copy has its loss, metrics, optimizer and optimizer state, so training
    can continue.

    Parameters
    ----------
    model : keras.Model
        A Functional or Sequential model, on any backend. A subclassed model has no configuration:
        record a run of it instead.
    custom_objects : mapping of str to object, optional
        The counterparts in kerascope of your own classes and functions, by name. For a Lambda, use
        the name of the layer.
    compile : bool
        Whether to compile the copy if the model is compiled.
    opaque : bool
        True replaces layers that kerascope does not have by plain boxes, as in `load_model`. Such a
        model can be drawn and summarized, but not run.

    Returns
    -------
    Model or Sequential

    Raises
    ------
    ArgumentError
        If `model` is not a Functional or Sequential model of Keras 3.
    ConfigError
        If a layer, a loss or the optimizer has no counterpart in kerascope. The message names it.

    Examples
    --------
    >>> import keras                                                        # doctest: +SKIP
    >>> real = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2)]) # doctest: +SKIP
    >>> ks.draw(ks.from_keras(real))                                        # doctest: +SKIP
    """
    keras = library("from_keras")
    where = f"from_keras: {_label(model)}"
    plain = _plain_graph(keras, model, where)
    if not opaque:
        _check_layers(keras, plain, where, custom_objects)
    config = json.loads(json.dumps(_config_of(keras, plain)))
    is_compiled = compile and bool(getattr(model, "compiled", False))
    if is_compiled:
        config["compile_config"] = model.get_compile_config()
    make = opened if opaque else model_from
    with (
        _memory_file() as file,
        custom_object_scope(dict(custom_objects or {})),
        override_dialect(**DIALECTS["3"]._asdict()),
    ):
        write_state_of(file, plain, model.optimizer if is_compiled else None, with_lora=opaque)
        with building(Budget(None, where, in_file=lambda: hdf5_files.numbers_in(file))):
            try:
                return make(config, file, where, compile)
            except KerascopeError as error:
                error.args = (_for_live_models(str(error)),)
                raise


def _label(model: Any) -> str:
    return f"{type(model).__name__} {getattr(model, 'name', '')!r}"


def graph_class(model: Any) -> type | None:
    """Return the Keras class that defines a model's graph of layers, or None for a custom `call`.

    For example, a subclass of `keras.Sequential` with its own `call` returns None.
    """
    for cls in type(model).__mro__:
        if cls.__module__.startswith(_OF_KERAS) and cls.__name__ in _GRAPHS:
            own = getattr(type(model), "call", None)
            return cls if own is getattr(cls, "call", None) else None
    return None


def _plain_graph(keras: Any, model: Any, where: str) -> Any:
    """Return a model, or for a user's subclass the equivalent Functional or Sequential model."""
    if not isinstance(model, keras.Model):
        raise ArgumentError(f"{where}: expected a keras.Model, got {type(model).__name__}.")
    graph = graph_class(model)
    if graph is None:
        raise ArgumentError(
            f"{where}: expected a Functional or Sequential model, got a model "
            f"that is defined by the Python code of its `call`. {RECORD_IT}"
        )
    if type(model) is graph:
        return model
    if graph.__name__ == "Sequential":
        return keras.Sequential(model.layers, name=model.name)
    return keras.Model(model._inputs_struct, model._outputs_struct, name=model.name)


def _config_of(keras: Any, model: Any) -> Any:
    """Return the configuration of a model, as Keras writes it into its files."""
    config = keras.saving.serialize_keras_object(model)
    config.pop("compile_config", None)
    return config


def _check_layers(keras: Any, model: Any, where: str, custom_objects: Any) -> None:
    """Raise ConfigError for the first custom layer without a counterpart in kerascope."""
    known = {**get_custom_objects(), **(custom_objects or {})}
    for _, layer in parts_of(model):
        cls = type(layer)
        if isinstance(layer, keras.layers.Lambda) and layer.name not in known:
            raise ConfigError(
                f"{where}: the Lambda {layer.name!r} calls a function on the arrays of "
                f"{keras.backend.backend()}, which kerascope does not have. "
                f"{_give(layer.name, 'a function of kerascope.backend')}"
            )
        is_own = not cls.__module__.startswith(_OF_KERAS)
        if is_own and cls.__name__ not in known and layer is not model:
            raise ConfigError(
                f"{where}: the layer {layer.name!r} is a {cls.__name__} of {cls.__module__}, whose "
                f"`call` is code for Keras. {_give(cls.__name__, 'a kerascope layer')}"
            )


def _give(name: str, what: str) -> str:
    return (
        f"{RECORD_IT} Or pass its counterpart: custom_objects={{{name!r}: {what}}}. Or draw the "
        f"model without running it: opaque=True."
    )


def _for_live_models(message: str) -> str:
    """Reword a message about a model file as a message about a live model."""
    words = message.replace(WITHOUT_IT, "Convert it with compile=False to predict or draw.")
    return words if RECORD_IT in words or "compile=False" in words else f"{words} {RECORD_IT}"


@contextmanager
def _memory_file() -> Iterator[Any]:
    """Open an HDF5 file that only exists in memory, and close it at the end."""
    h5py = import_module("h5py")  # see `hdf5_files.writing_hdf5`
    with h5py.File("kerascope", "w", driver="core", backing_store=False) as file:
        yield file


def write_state_of(
    file: Any, model: Any, optimizer: Any = None, *, with_lora: bool = False
) -> None:
    """Write the weights of a live Keras model and the state of its optimizer into an HDF5 file.

    Parameters
    ----------
    file : h5py.File
        An empty file. It gets the layout of the weights file in a `.keras` archive.
    model : keras.Layer
    optimizer : keras.Optimizer, optional
    with_lora : bool
        Whether to also write LoRA weights, which Keras merges into the kernel when it saves.
    """
    for path, layer in parts_of(model):
        group = file.require_group(f"{path}/vars".lstrip("/"))
        group.attrs["name"] = layer.name
        names = [w.name for w in layer.weights if with_lora and w.name.startswith("lora_")]
        lora = {name: getattr(layer, name) for name in names if hasattr(layer, name)}
        _write_arrays(group, layer, lora)
    if optimizer is not None:
        _write_arrays(file.require_group(_OPTIMIZER), optimizer)


def _write_arrays(group: Any, owner: Any, others: Mapping[str, Any] = {}) -> None:
    store: dict[str, Any] = {}
    owner.save_own_variables(store)
    store.update(others)
    convert = library("from_keras").ops.convert_to_numpy
    for name, value in store.items():
        array = np.asarray(convert(value))
        is_half = array.dtype.name == "bfloat16"
        group[name] = hdf5_files.as_bfloat16(array.astype("float32")) if is_half else array


def converted(subject: Any) -> Any:
    """Return a live Keras model as a model of kerascope, or None if it can only be recorded.

    If its layers have counterparts in kerascope, but its loss or optimizer has none, the copy is
    not compiled.

    Parameters
    ----------
    subject : object
        Any object that the user wants to see.
    """
    for compile in (True, False):
        try:
            model = from_keras(subject, compile=compile)
        except KerascopeError:
            continue
        return model if model.outputs else None  # a Sequential that was never built has none
    return None


def as_configured(subject: Any) -> Any:
    """Return a live Keras model with plain boxes for layers that kerascope does not have.

    If Keras's own layers have settings that kerascope does not support (mixed precision, LoRA,
    int8), a warning gives the reason why `from_keras` refuses the model.

    Parameters
    ----------
    subject : keras.Layer

    Returns
    -------
    Model, Sequential or None
        None if only a recorded run can show what the model computes.
    """
    if graph_class(subject) is None:
        return None
    reason = ""
    try:
        from_keras(subject, compile=False)
    except NotHereError as error:
        reason = str(error).replace(TO_LOOK, "")
    except KerascopeError:
        pass  # a custom layer can only be shown as a box
    try:
        model = from_keras(subject, compile=False, opaque=True)
    except KerascopeError:
        return None
    if reason and model.outputs:
        warn(f"Shown from its configuration. {reason}")
    return model if model.outputs else None


# --- to Keras -------------------------------------------------------------------------------------


def to_keras(
    model: Any, custom_objects: Mapping[str, Any] | None = None, *, compile: bool = True
) -> Any:
    """Return a model of kerascope as a live model of Keras 3, on Keras's current backend.

    Parameters
    ----------
    model : Model, Sequential or path
        A model with a graph of layers, or the path of a model file. Its weights are copied.
    custom_objects : mapping of str to object, optional
        Keras's counterparts of your own classes and functions, by name.
    compile : bool
        Whether the copy gets the loss, the metrics, and the optimizer with its state.

    Returns
    -------
    keras.Model

    Raises
    ------
    MissingToolError
        If Keras is not installed.
    ArgumentError
        If `model` is not a model of kerascope with a graph of layers.
    ConfigError
        If a layer, a loss or the optimizer has no counterpart in Keras 3. The message names it.

    Examples
    --------
    >>> real = ks.to_keras(model)                                           # doctest: +SKIP
    >>> real.save("model.keras")                                            # doctest: +SKIP
    """
    keras = library("to_keras")
    model = model_files.opened(model, compile=compile)
    if not isinstance(model, Network):
        raise ArgumentError(
            f"to_keras: expected a model of kerascope, got {type(model).__name__} {model!r:.60}."
        )
    where = f"to_keras: {model.label}"
    is_compiled = compile and getattr(model, "total_loss", None) is not None
    config = keras_3_config(model)
    if is_compiled:
        config["compile_config"] = compile_to_keras_3(model)
    try:
        real = keras.saving.deserialize_keras_object(config, dict(custom_objects or {}))
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise ConfigError(
            f"{where}: Keras {keras.__version__} cannot make this model "
            f"({str(error).rpartition(_INSIDE)[2].strip():.300}). Pass Keras's counterparts of "
            f"your own classes and functions in custom_objects={{'name': ...}}."
        ) from error
    _give_weights(model, real, where)
    if is_compiled and real.optimizer is not None:
        state = state_to_keras_3(model)
        if state:
            real.optimizer.build(real.trainable_variables)
            real.optimizer.load_own_variables({str(n): array for n, array in enumerate(state)})
    return real


def _give_weights(model: Any, real: Any, where: str) -> None:
    """Copy the weights of each layer to the layer with the same path in Keras's model."""
    layers = dict(parts_of(real))
    for path, layer, own_weights in keras3_weights.folders(model):
        if not own_weights:
            continue
        if path not in layers:
            raise ConfigError(
                f"{where}: {layer.label} has weights at {path!r}, but Keras's model has no layer "
                f"there. Its layers are at: {', '.join(filter(None, layers))}."
            )
        arrays = {str(number): w.get_value() for number, w in enumerate(own_weights)}
        try:
            layers[path].load_own_variables(arrays)
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"{where}: {layer.label}: its weights do not fit Keras's layer ({error})."
            ) from None
