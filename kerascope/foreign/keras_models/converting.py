"""`from_keras` and `to_keras`: a model of Keras 3 as one of ours, and back, without a file.

What a `.keras` file holds is handed over in memory: the configuration, and the weights in the
folders in which Keras lays them out. So the two follow how the layers hold each other, not the
order of a list, and all that reading and writing of files knows holds here too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from kerascope import model_files
from kerascope.callers import warn
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

RECORD_IT = "Record what it does instead: ks.draw(model, values=x), ks.walk(model, x)."
_OF_KERAS = ("keras.src.", "keras.")
_GRAPHS = ("Functional", "Sequential")
_OPTIMIZER = "optimizer/vars"
_INSIDE = "Exception encountered: "  # Keras tells the reason last, behind whole configurations


# --- from Keras -----------------------------------------------------------------------------------


def from_keras(
    model: Any,
    custom_objects: Mapping[str, Any] | None = None,
    *,
    compile: bool = True,
    opaque: bool = False,
) -> Any:
    """Return a live model of Keras 3 as one of kerascope, which all of kerascope works on.

    It is a copy: a graph of layers, with the weights of now, as Keras 3 computes it (dialect "3").
    A compiled model brings its loss, its metrics, and its optimizer with its state, so training
    goes on where it was.

    Parameters
    ----------
    model : keras.Model
        Functional or Sequential, on whatever backend. What a subclassed model computes stands in
        its code alone: record it.
    custom_objects : mapping of str to object, optional
        Kerascope's counterparts of your own classes and functions, by their names; of a Lambda's
        function by the name of the layer.
    compile : bool
        Whether the copy is compiled if the model is.
    opaque : bool
        True lets boxes stand in for layers that kerascope does not have, as `load_model` does: the
        model can be drawn and summed up, but not run through them.

    Returns
    -------
    Model or Sequential

    Raises
    ------
    ArgumentError
        It is no such model.
    ConfigError
        A layer, a loss or the optimizer has no counterpart here; the message names it.

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
                error.args = (_in_words_of_live_models(str(error)),)
                raise


def _label(model: Any) -> str:
    return f"{type(model).__name__} {getattr(model, 'name', '')!r}"


def graph_class(model: Any) -> type | None:
    """Return the class of Keras whose graph of layers a model is; None if its code says what it is.

    A subclass of `keras.Sequential`, say, that has a `call` of its own is none.
    """
    for cls in type(model).__mro__:
        if cls.__module__.startswith(_OF_KERAS) and cls.__name__ in _GRAPHS:
            own = getattr(type(model), "call", None)
            return cls if own is getattr(cls, "call", None) else None
    return None


def _plain_graph(keras: Any, model: Any, where: str) -> Any:
    """Return a model, or the graph that an instance of the user's own class is."""
    if not isinstance(model, keras.Model):
        raise ArgumentError(f"{where}: expected a keras.Model, got {type(model).__name__}.")
    graph = graph_class(model)
    if graph is None:
        raise ArgumentError(
            f"{where} computes what its own `call` says in Python, which no configuration tells; "
            f"expected a Functional or Sequential model. {RECORD_IT}"
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
    """Raise ConfigError at the first layer whose code is the user's own, and has no counterpart."""
    known = {**get_custom_objects(), **(custom_objects or {})}
    for _, layer in parts_of(model):
        cls = type(layer)
        if isinstance(layer, keras.layers.Lambda) and layer.name not in known:
            raise ConfigError(
                f"{where}: the Lambda {layer.name!r} calls a function on the arrays of "
                f"{keras.backend.backend()}, which kerascope has not. "
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
        f"{RECORD_IT} Or give its counterpart, custom_objects={{{name!r}: {what}}}; or look at the "
        f"model without running it: opaque=True."
    )


def _in_words_of_live_models(message: str) -> str:
    """Return what the reading of files says, as it concerns a model that was in no file."""
    words = message.replace(WITHOUT_IT, "Convert it with compile=False to predict or draw.")
    return words if RECORD_IT in words or "compile=False" in words else f"{words} {RECORD_IT}"


@contextmanager
def _memory_file() -> Iterator[Any]:
    """Open an HDF5 file that never comes to a disk."""
    h5py = import_module("h5py")  # see `hdf5_files.writing_hdf5`
    with h5py.File("kerascope", "w", driver="core", backing_store=False) as file:
        yield file


def write_state_of(
    file: Any, model: Any, optimizer: Any = None, *, with_lora: bool = False
) -> None:
    """Write the weights of a live model of Keras, and the state of its optimizer, into a file.

    Parameters
    ----------
    file : h5py.File
        Empty; it is laid out as those in a `.keras` archive.
    model : keras.Layer
    optimizer : keras.Optimizer, optional
    with_lora : bool
        Also write the weights of LoRA, which Keras adds to the kernel when it saves a layer.
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
    """Return a live model of Keras as one of kerascope; None if it can only be recorded.

    Where only its training has no counterpart, the copy is not compiled.

    Parameters
    ----------
    subject : object
        Whatever somebody wants to see.
    """
    for compile in (True, False):
        try:
            model = from_keras(subject, compile=compile)
        except KerascopeError:
            continue
        return model if model.outputs else None  # of a Sequential that was never built
    return None


def as_configured(subject: Any) -> Any:
    """Return a live model with boxes in place of layers that kerascope does not have.

    If Keras's own layers are set as kerascope's cannot be (mixed precision, LoRA, int8), a warning
    says what `from_keras` says.

    Parameters
    ----------
    subject : keras.Layer

    Returns
    -------
    Model, Sequential or None
        None if only a recording can show what it computes.
    """
    if graph_class(subject) is None:
        return None
    reason = ""
    try:
        from_keras(subject, compile=False)
    except NotHereError as error:
        reason = str(error).replace(TO_LOOK, "")
    except KerascopeError:
        pass  # a layer of the user's own: its box is all that there is to see
    try:
        model = from_keras(subject, compile=False, opaque=True)
    except KerascopeError:
        return None
    if reason and model.outputs:
        warn(f"shown from its configuration. {reason}")
    return model if model.outputs else None


# --- to Keras -------------------------------------------------------------------------------------


def to_keras(
    model: Any, custom_objects: Mapping[str, Any] | None = None, *, compile: bool = True
) -> Any:
    """Return a model of kerascope as a live one of Keras 3, on the backend that Keras runs on.

    Parameters
    ----------
    model : Model, Sequential or path
        With a graph of layers; or the file of one. Its weights are copied.
    custom_objects : mapping of str to object, optional
        Keras's counterparts of your own classes and functions, by their names.
    compile : bool
        Whether the copy gets the loss, the metrics, and the optimizer with its state.

    Returns
    -------
    keras.Model

    Raises
    ------
    MissingToolError
        Keras is not installed.
    ArgumentError
        It is no model of kerascope.
    ConfigError
        A layer, a loss or the optimizer has no counterpart in Keras 3; the message names it.

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
            f"{where}: Keras {keras.__version__} makes no model of it "
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
    """Give each layer of Keras the weights of ours that lies in the same folder."""
    layers = dict(parts_of(real))
    for path, layer, own_weights in keras3_weights.folders(model):
        if not own_weights:
            continue
        if path not in layers:
            raise ConfigError(
                f"{where}: {layer.label} has weights in {path!r}, where Keras's model has no "
                f"layer; expected one of {', '.join(filter(None, layers))}."
            )
        arrays = {str(number): w.get_value() for number, w in enumerate(own_weights)}
        try:
            layers[path].load_own_variables(arrays)
        except (TypeError, ValueError) as error:
            raise ConfigError(
                f"{where}: {layer.label}: its weights do not fit ({error})."
            ) from None
