"""Keras 1's way to write a convolution: the sizes of its kernel one by one.

`Convolution2D(32, 3, 3)` and `Convolution2D(32, nb_row=3, nb_col=3)` are today's
`Conv2D(32, kernel_size=(3, 3))`. Old keywords that only changed their name stand in
`kerascope.spellings`; this file does what no renaming can do.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

from kerascope.callers import warn
from kerascope.engine.layer_type import LayerType
from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.spellings import habits

PARTS: dict[int, tuple[str, ...]] = {
    1: (),
    2: ("nb_row", "nb_col"),
    3: ("kernel_dim1", "kernel_dim2", "kernel_dim3"),
}

# Words of Keras 2 and 3: beside one of them, the number after the kernel's size is the strides.
_NEW_WORDS = {
    "bias_initializer",
    "bias_regularizer",
    "data_format",
    "dilation_rate",
    "groups",
    "kernel_initializer",
    "kernel_regularizer",
    "output_padding",
    "padding",
    "strides",
    "use_bias",
}


class KernelType(LayerType):
    """Metaclass of the layers with a kernel and filters: they understand the sizes one by one.

    A class says in `kernel_axes` how many axes its kernel has.
    """

    kernel_axes: int

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make a layer, from the arguments of any Keras; see `LayerType`."""
        args, kwargs = _without_output_shape(cls, args, kwargs)
        parts = PARTS[cls.kernel_axes]
        if any(part in kwargs for part in parts):
            args, kwargs = _from_keywords(cls, args, kwargs)
        elif len(args) > len(parts) > 1 and habits().kernel_in_parts:
            args = _from_numbers(cls, args, kwargs)
        return super().__call__(*args, **kwargs)


def _from_keywords(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Gather nb_row and nb_col, of which the first may have come by place."""
    parts = PARTS[cls.kernel_axes]
    by_place = dict(zip(parts, args[1:], strict=False))
    given = {**by_place, **{part: kwargs[part] for part in parts if part in kwargs}}
    if set(given) != set(parts) or len(args) > len(parts) or "kernel_size" in kwargs:
        got = [*given, *(["kernel_size"] if "kernel_size" in kwargs else [])]
        raise ArgumentError(
            f"{cls.__name__}: expected {' and '.join(parts)}, or kernel_size alone; got "
            f"{' and '.join(got)}."
        )
    kernel_size = tuple(given[part] for part in parts)
    _warn(cls, f"{' and '.join(parts)} are", kernel_size)
    others = {name: value for name, value in kwargs.items() if name not in parts}
    return args[:1], {**others, "kernel_size": kernel_size}


def _from_numbers(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Gather the sizes of a kernel that came by place: (32, 3, 3) becomes (32, (3, 3)).

    `Conv2D(32, 3, 2, padding="same")` stays as it is, since Keras 1 had no word `padding`.

    Raises
    ------
    ArgumentError
        The sizes are equal, which looks like Keras 1, and a word of Keras 2 stands beside them.
    """
    sizes = args[1 : 1 + cls.kernel_axes]
    if not all(isinstance(size, Integral) for size in sizes):
        return args
    new = sorted(_NEW_WORDS & kwargs.keys())
    if new and len(set(sizes)) > 1 and "strides" not in kwargs:
        return args
    if new:
        raise ArgumentError(
            f"{cls.__name__}: {', '.join(map(str, args[: 1 + cls.kernel_axes]))} beside "
            f"{new[0]}=... may mean a kernel of sizes {sizes}, as in Keras 1, or strides of "
            f"{sizes[1]}. Say kernel_size={sizes}, or strides={sizes[1]}, by name."
        )
    _warn(cls, "one number for each axis is", sizes)
    return (args[0], sizes, *args[1 + cls.kernel_axes :])


def _without_output_shape(
    cls: KernelType, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Drop what Keras 1 had to be told of a transposed convolution: its output's shape."""
    if not cls.__name__.endswith("Transpose"):
        return args, kwargs
    place = 1 + cls.kernel_axes
    by_place = len(args) > place and isinstance(args[place], (tuple, list))
    if not by_place and "output_shape" not in kwargs:
        return args, kwargs
    warn(
        f"{cls.__name__}: 'output_shape' is Keras 1's word; today it follows from strides, padding "
        f"and output_padding.",
        SpellingWarning,
    )
    kept = args[:place] + args[place + 1 :] if by_place else args
    return kept, {name: value for name, value in kwargs.items() if name != "output_shape"}


def _warn(cls: KernelType, what: str, kernel_size: tuple[Any, ...]) -> None:
    message = f"{what} Keras 1's way; today it is kernel_size={kernel_size}."
    warn(f"{cls.__name__}: {message}", SpellingWarning)
