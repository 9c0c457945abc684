"""Inputs for a model of another library, including the arguments of torchinfo and torchview.

These libraries use `summary(model, input_size=(2, 4))` and `draw_graph(model, input_data=x)`. A
size is replaced by an array of random numbers of that shape.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.errors import ArgumentError

WORDS = ("input_data", "input_size")


def inputs_asked(where: str, options: dict[str, Any], inputs: Any) -> Any:
    """Return the inputs of a call: `inputs`, or the option `input_data` or `input_size`.

    The two options are removed from `options`. If no inputs are given, return None.

    Raises
    ------
    ArgumentError
        If more than one of the three is given, or `input_size` is not a shape.

    Examples
    --------
    >>> options = {"input_size": [2, 4], "depth": 3}
    >>> inputs_asked("summary", options, None), options
    ((2, 4), {'depth': 3})
    """
    words = {"inputs": inputs, **{name: options.pop(name, None) for name in WORDS}}
    given = [(name, value) for name, value in words.items() if value is not None]
    if len(given) > 1:
        raise ArgumentError(
            f"{where}: expected one argument with the inputs. Keep one of: "
            f"{' and '.join(name for name, _ in given)}."
        )
    if not given:
        return None
    name, data = given[0]
    if name == "input_data" and isinstance(data, list):
        return tuple(data)
    if name != "input_size":
        return data
    sizes = tuple(tuple(one) if isinstance(one, (tuple, list)) else one for one in data)
    if with_numbers(sizes) is sizes:
        raise ArgumentError(
            f"{where}: expected input_size to be a shape with the batch, such as (2, 4), or a list "
            f"of shapes, got {data!r:.80}."
        )
    return sizes


def is_size(value: Any) -> bool:
    """Return whether a value is a shape: a tuple of whole numbers of at least 1.

    Examples
    --------
    >>> is_size((2, 4)), is_size((2, 4.0)), is_size([2, 4])
    (True, False, False)
    """
    return isinstance(value, tuple) and bool(value) and all(type(n) is int and n > 0 for n in value)


def with_numbers(inputs: Any) -> Any:
    """Return arrays of random numbers for a shape or a tuple of shapes, with a fixed seed.

    A shape is a tuple of whole numbers of at least 1. Any other value is returned unchanged.

    Examples
    --------
    >>> with_numbers((2, 4)).shape, [one.shape for one in with_numbers(((2, 4), (3,)))]
    ((2, 4), [(2, 4), (3,)])
    >>> with_numbers([2, 4])
    [2, 4]
    """
    random = np.random.default_rng(0)
    if is_size(inputs):
        return random.random(inputs, "float32")
    if isinstance(inputs, tuple) and inputs and all(map(is_size, inputs)):
        return tuple(random.random(one, "float32") for one in inputs)
    return inputs
