"""Helpers of `keras.utils.generic_utils`: custom objects, byte code, small functions.

Scripts use the progress bar and the custom objects. Keras itself and some of its extensions use the
other functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kerascope.callbacks.progress import Progbar
from kerascope.engine.pickling import ByteCode, byte_code_of, function_of
from kerascope.errors import ArgumentError, RefusedError
from kerascope.missing_names import PRIVATE_NAMES, answer_missing_names
from kerascope.registry import Registry, custom_object_scope, get_custom_objects

__all__ = [
    "CustomObjectScope",
    "Progbar",
    "custom_object_scope",
    "deserialize_keras_object",
    "func_dump",
    "func_load",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "has_arg",
    "is_all_none",
    "object_list_uid",
    "register_keras_serializable",
    "serialize_keras_object",
    "slice_arrays",
    "to_list",
    "transpose_shape",
    "unpack_singleton",
]

CustomObjectScope = custom_object_scope  # a class in Keras, used only in `with`


# --- custom objects -------------------------------------------------------------------------------


def register_keras_serializable(
    package: str = "Custom", name: str | None = None
) -> Callable[[Any], Any]:
    """Return a decorator that registers a class or function by name for the whole process.

    Parameters
    ----------
    package : str
        The first part of the registered name, `package>name`.
    name : str, optional
        Default: the name of the class or function.

    Examples
    --------
    >>> from kerascope import activations
    >>> @register_keras_serializable(package="Mine")
    ... def half(x):
    ...     return x / 2
    >>> get_registered_name(half)
    'Mine>half'
    >>> activations.get("half") is activations.get("Mine>half") is half
    True
    >>> for name in ("half", "Mine>half"):
    ...     del get_custom_objects()[name]
    """

    def register(item: Any) -> Any:
        own_name = name or item.__name__
        known = get_custom_objects()
        known[own_name] = known[f"{package}>{own_name}"] = item
        return item

    return register


def get_registered_name(obj: Any) -> str:
    """Return the registered name `package>name` of an object; its own name if not registered."""
    names = [name for name, item in get_custom_objects().items() if item is obj and ">" in name]
    return names[0] if names else str(obj.__name__)


def get_registered_object(
    name: str,
    custom_objects: dict[str, Any] | None = None,
    module_objects: dict[str, Any] | None = None,
) -> Any:
    """Return the object with a name, registered or in a given dict; None if there is none."""
    for known in (get_custom_objects(), custom_objects or {}, module_objects or {}):
        if name in known:
            return known[name]
    return None


def serialize_keras_object(instance: Any) -> Any:
    """Return the name of a function, or a dict with "class_name" and "config" for an object.

    Examples
    --------
    >>> from kerascope.constraints import MaxNorm
    >>> serialize_keras_object(MaxNorm(3))
    {'class_name': 'MaxNorm', 'config': {'max_value': 3, 'axis': 0}}
    """
    return Registry("object").serialize(instance)


def deserialize_keras_object(
    identifier: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """Create an object from its configuration, or return a function or class by name.

    Parameters
    ----------
    identifier : dict or str
        What `serialize_keras_object` returned.
    module_objects, custom_objects : dict, optional
        Classes and functions by name; `custom_objects` has priority.
    printable_module_name : str
        The kind of object in error messages.

    Raises
    ------
    UnknownNameError
        The class or function is unknown.
    """
    registry = Registry(printable_module_name)
    known = {**(module_objects or {}), **get_custom_objects(), **(custom_objects or {})}
    if isinstance(identifier, str):
        return registry.lookup(identifier, known)
    return registry.deserialize(identifier, known)


# --- byte code ------------------------------------------------------------------------------------


def func_dump(func: Any) -> tuple[str, Any, Any]:
    """Return a tuple: a function's byte code as text, its defaults, and the values of its closure.

    Raises
    ------
    ConfigError
        The function cannot be stored as byte code; see `engine.pickling.byte_code_of`.
    """
    return tuple(byte_code_of(func, "func_dump: the function"))  # type: ignore[return-value]


def func_load(
    code: Any,
    defaults: Any = None,
    closure: Any = None,
    globs: dict[str, Any] | None = None,
    safe_mode: bool = True,
) -> Any:
    """Return the function from byte code of `func_dump`. Requires `safe_mode=False`.

    A function made from byte code can do anything when it is called. Byte code that is damaged, or
    from another Python, can crash the process. Read only byte code that you wrote yourself.

    Parameters
    ----------
    code : str, or the tuple that `func_dump` returned
    defaults, closure : tuple, optional
        The default values of arguments, and the values of the closure; ignored for a tuple.
    globs : dict, optional
        The function's global names. Default: those of this module.
    safe_mode : bool
        Whether to refuse all byte code.

    Raises
    ------
    RefusedError
        `safe_mode` is True.
    ConfigError
        The byte code cannot be read.

    Examples
    --------
    >>> func_load(func_dump(lambda x: x + 1), safe_mode=False)(2)
    3
    """
    if safe_mode:
        raise RefusedError(
            "func_load: byte code can do anything when it is called, and is not read. If you trust "
            "where it comes from, pass safe_mode=False."
        )
    if isinstance(code, (list, tuple)):
        code, defaults, closure = code
    names = globals() if globs is None else globs
    return function_of(ByteCode(code, defaults, closure), names, "func_load")


# --- small functions ------------------------------------------------------------------------------


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Return whether a function can be called with an argument of this name.

    Parameters
    ----------
    fn : callable
    name : str
        The name of the argument.
    accept_all : bool
        Whether a function with `**kwargs` accepts every name.

    Examples
    --------
    >>> has_arg(lambda x, **kwargs: x, "mask"), has_arg(lambda x, **kwargs: x, "mask", True)
    (False, True)
    """
    parameters = inspect.signature(fn).parameters
    if name in parameters:
        kind = parameters[name].kind
        return kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes_all = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return accept_all and takes_all


def to_list(x: Any, allow_tuple: bool = False) -> list[Any]:
    """Return `[x]`, or a list unchanged. With `allow_tuple`, a tuple is converted to a list.

    Examples
    --------
    >>> to_list(1), to_list((1, 2)), to_list((1, 2), allow_tuple=True)
    ([1], [(1, 2)], [1, 2])
    """
    if isinstance(x, list):
        return x
    return list(x) if allow_tuple and isinstance(x, tuple) else [x]


def unpack_singleton(x: Any) -> Any:
    """Return the element of a list or tuple of length one; return a longer one unchanged.

    Examples
    --------
    >>> unpack_singleton([5]), unpack_singleton([5, 6])
    (5, [5, 6])
    """
    return x[0] if len(x) == 1 else x


def object_list_uid(object_list: Any) -> str:
    """Return a string that identifies a list of objects by their ids while they exist."""
    return ", ".join(str(abs(id(item))) for item in to_list(object_list))


def is_all_none(iterable_or_element: Any) -> bool:
    """Return whether a value is None, or a list or tuple of None only.

    Examples
    --------
    >>> is_all_none(None), is_all_none([None, None]), is_all_none([None, 0])
    (True, True, False)
    """
    return all(item is None for item in to_list(iterable_or_element, allow_tuple=True))


def slice_arrays(arrays: Any, start: Any = None, stop: int | None = None) -> Any:
    """Return rows of an array, or the same rows of each array in a list; None stays None.

    Parameters
    ----------
    arrays : array, None, or list of them
    start : int or list of int
        The first row, or the indices of all rows. `stop` is not allowed with indices.
    stop : int, optional

    Raises
    ------
    ArgumentError
        `start` is a list and `stop` is given.

    Examples
    --------
    >>> slice_arrays([np.arange(5), None], 1, 3)
    [array([1, 2]), None]
    >>> slice_arrays(np.arange(5), [0, 4])
    array([0, 4])
    """
    if arrays is None:
        return [None]
    if isinstance(arrays, list):
        return [None if array is None else _rows(array, start, stop) for array in arrays]
    return _rows(arrays, start, stop)


def _rows(array: Any, start: Any, stop: int | None) -> Any:
    if not isinstance(start, Iterable):
        return array[start:stop]
    if stop is not None:
        raise ArgumentError(f"slice_arrays: a list of rows cannot have stop={stop!r}.")
    return array[np.asarray(start).tolist()]  # h5py takes lists


def transpose_shape(shape: Any, target_format: str, spatial_axes: Iterable[int]) -> Any:
    """Return a channels-last shape in another data format.

    Parameters
    ----------
    shape : tuple or list
    target_format : {"channels_first", "channels_last"}
    spatial_axes : iterable of int
        The positions of height, width and so on in `shape`.

    Raises
    ------
    ArgumentError
        The format is unknown.

    Examples
    --------
    >>> transpose_shape((16, 128, 128, 32), "channels_first", spatial_axes=(1, 2))
    (16, 32, 128, 128)
    """
    if target_format == "channels_last":
        return shape
    if target_format != "channels_first":
        raise ArgumentError(
            f"transpose_shape: expected the format 'channels_first' or 'channels_last', got "
            f"{target_format!r}."
        )
    axes = tuple(spatial_axes)
    return type(shape)([*shape[: axes[0]], shape[-1], *(shape[axis] for axis in axes)])


_OF_KERAS_1 = """get_from_module make_tuple"""

answer_missing_names(__name__, later=dict.fromkeys(_OF_KERAS_1.split(), PRIVATE_NAMES))
