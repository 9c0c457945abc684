"""Error messages for arguments of `draw`, `walk` and similar functions that are not models.

Usually the argument is related to a model: its file, its weights, its class, or the function that
creates it. The remedy depends on the argument, not on the function.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from os import PathLike, fspath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

MODEL_FILES = (".keras", ".h5", ".hdf5")
TAPES = (".jsonl",)
OF_TORCH = (".pt", ".pth", ".bin", ".safetensors", ".ckpt")
EXPORTED = ".pt2"  # a program of torch.export
TEXT_FILES = {".json": "model_from_json", ".yaml": "model_from_yaml", ".yml": "model_from_yaml"}
OF_ONNX = (".onnx",)
WEIGHTS_ALONE = ".weights.h5"
_ARRAYS = (".npz", ".npy", ".msgpack")
WEIGHTS_FILES = (*OF_TORCH, *_ARRAYS, WEIGHTS_ALONE)
# Files that the command line cannot open, but a script can.
FOR_SCRIPTS = (*WEIGHTS_FILES, EXPORTED)
_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType, partial)
_OLD_KERAS = "tf_keras"
_TENSORFLOW = "tensorflow"
LONGEST = 60
WEIGHTS = "Weights do not contain the model."


def got_instead(subject: Any, call: str) -> str:
    """Return a description of an argument that is not a model, and the remedy.

    Parameters
    ----------
    subject : object
    call : str
        A correct call of the function, as text.

    Examples
    --------
    >>> print(got_instead(dict, "ks.draw(model)"))
    got the class dict. Make a model of it: model = dict(...), then ks.draw(model).
    >>> print(got_instead("old.h5", "ks.draw(model)"))
    got str 'old.h5'. Read the file: model = ks.models.load_model('old.h5'), then ks.draw(model).
    """
    return f"got {described(subject)}. {_remedy(subject, call)}"


def described(subject: Any) -> str:
    """Return a short description of an object on one line.

    Examples
    --------
    >>> described(None), described({"w": 3}), described(int), described(print)
    ('None', "dict {'w': 3}", 'the class int', 'builtin_function_or_method print')
    """
    if isinstance(subject, type):
        return f"the class {subject.__name__}"
    name = type(subject).__name__
    if subject is None:
        return "None"
    if _is_array(subject):
        return f"{name} of shape {tuple(subject.shape)}"
    if _are_weights(subject):
        return f"{name} of {len(subject)} {'entry' if len(subject) == 1 else 'entries'}"
    if isinstance(subject, _FUNCTIONS):
        return f"{name} {getattr(subject, '__name__', _name_of_function(subject))}"
    written = repr(fspath(subject) if isinstance(subject, PathLike) else subject)
    line, _, more = written.partition("\n")
    is_cut = len(line) > LONGEST or bool(more)
    return f"{name} {line[:LONGEST]}{'…' * is_cut}"


def _remedy(subject: Any, call: str) -> str:
    if isinstance(subject, (str, PathLike)):
        return _remedy_of_file(str(fspath(subject)), call)
    if isinstance(subject, type):
        return f"Make a model of it: model = {subject.__name__}(...), then {call}."
    if subject is None:
        return "If a function was to make the model, does it return it?"
    if isinstance(subject, _FUNCTIONS):
        return (
            f"If it makes a model: model = {_name_of_function(subject)}(...), then {call}. "
            f"Functions of JAX are recognized by their inputs: give JAX arrays."
        )
    if _is_array(subject):
        return f"An array can be an input or a weight. Give the model: {call}."
    if _are_weights(subject):
        return _remedy_of_weights(subject, call)
    if isinstance(subject, (list, tuple, Mapping, ModuleType)):
        return f"Give one model: {call}."
    return _remedy_of_object(subject, call)


def _remedy_of_file(path: str, call: str) -> str:
    name = path.lower()
    said = repr(path)
    loaded = f"{WEIGHTS} Make the model and load them into it"
    if name.endswith(WEIGHTS_ALONE):
        return f"{loaded}, model.load_weights({said}), then {call}."
    if name.endswith(MODEL_FILES):
        return f"Read the file: model = ks.models.load_model({said}), then {call}."
    if name.endswith(OF_TORCH):
        read = "safetensors.torch.load_file" if name.endswith(".safetensors") else "torch.load"
        return (
            f"{WEIGHTS} Make the module and load them into it, "
            f"module.load_state_dict({read}({said})), then {_on_module(call)}."
        )
    if name.endswith(EXPORTED):
        loaded = f"module = torch.export.load({said}).module()"
        return f"Load the exported program: {loaded}, then {_on_module(call)}."
    if name.endswith(TAPES):
        return f"Read the tape with kerascope.trace.tape.Tape.load({said}), then draw or play it."
    if name.endswith(_ARRAYS):
        return f"{loaded}, then {call}."
    for ending, reader in TEXT_FILES.items():
        if name.endswith(ending):
            return f"Read the text: model = ks.models.{reader}(open({said}).read()), then {call}."
    if name.endswith(".py"):
        return f"Import the function that makes the model, and call it, then {call}."
    return (
        f"Give the model itself, {call}, or a file that ends in "
        f"{', '.join((*MODEL_FILES, *TEXT_FILES))} or {', '.join(OF_ONNX)}."
    )


def _remedy_of_weights(weights: Any, call: str) -> str:
    of_torch = "module.load_state_dict(weights)"
    if any(_home(array) == "torch" for array in _arrays_in(weights)):
        return (
            f"{WEIGHTS} Make the module and load them into it, {of_torch}, then {_on_module(call)}."
        )
    listed = "model.set_weights(weights)"
    way = listed if isinstance(weights, (list, tuple)) else f"{of_torch} of PyTorch, or {listed}"
    return f"{WEIGHTS} Make the model and load them into it, {way}, then {call}."


def _on_module(call: str) -> str:
    """Return the text of a call on a Keras model, changed to a call on a PyTorch module."""
    if call.startswith(("ks.draw(model)", "ks.to_networkx(model)")):
        return call.replace("(model)", "(module, inputs=x)")
    return call.replace("(model", "(module")


def _remedy_of_object(subject: Any, call: str) -> str:
    homes = {cls.__module__.partition(".")[0] for cls in type(subject).__mro__}
    if _OLD_KERAS in homes or any(
        cls.__module__.startswith(f"{_TENSORFLOW}.python.keras") for cls in type(subject).__mro__
    ):
        return (
            f"Live models must be of Keras 3, this one is of Keras 2: model.save('model.h5'), "
            f"model = ks.models.load_model('model.h5'), then {call}."
        )
    if _TENSORFLOW in homes:
        return (
            "Only Keras models of TensorFlow are supported. Convert others to ONNX with the "
            "package tf2onnx."
        )
    if "kerascope" in homes and hasattr(subject, "get_config"):
        return f"Put the layer into a model: model = ks.Sequential([layer]), then {call}."
    return (
        f"Give a model of kerascope, PyTorch, Keras 3 or JAX. Export others to ONNX: "
        f"{call.replace('model', repr('model.onnx'))}."
    )


# --- what something is ----------------------------------------------------------------------------


def _home(subject: Any) -> str:
    return type(subject).__module__.partition(".")[0]


def _name_of_function(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    name = getattr(inner, "__name__", "function")
    return "function" if name == "<lambda>" else name


def _is_array(subject: Any) -> bool:
    return (
        hasattr(subject, "dtype")
        and isinstance(getattr(subject, "shape", None), tuple)
        and not callable(subject)
    )


def _arrays_in(subject: Any) -> Iterator[Any]:
    """Yield the arrays in dicts and lists, at any depth."""
    waiting = [subject]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (Mapping, list, tuple)):
            waiting += one.values() if isinstance(one, Mapping) else one
        elif _is_array(one):
            yield one


def _are_weights(subject: Any) -> bool:
    if not isinstance(subject, (Mapping, list, tuple)):
        return False
    return next(_arrays_in(subject), None) is not None
