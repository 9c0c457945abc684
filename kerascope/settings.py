"""The few settings that hold for the whole process: float type, fuzz factor, image layout, dialect.

`kerascope.config` is the one instance of `Config`; `K.floatx()` and its kin read it. Keras keeps
these in `backend/common.py`. The dialect is explained in `kerascope.spellings`.
"""

from __future__ import annotations

import os
from typing import Any

from kerascope.errors import ArgumentError

_CHOICES: dict[str, tuple[str, ...]] = {
    "floatx": ("float16", "float32", "float64"),
    "image_data_format": ("channels_last", "channels_first"),
    "dialect": ("1.2", "2.2", "3"),
}


class Config:
    """Settings of the process; an assignment is checked at once.

    Attributes
    ----------
    floatx : {"float16", "float32", "float64"}
        Type of new float tensors. Default "float32".
    epsilon : float
        Fuzz factor that keeps logarithms and divisions finite. Default 1e-7.
    image_data_format : {"channels_last", "channels_first"}
        Default "channels_last".
    dialect : {"1.2", "2.2", "3"}
        Which Keras generation decides the names of weights, layers and logs. Default "2.2", or
        the environment variable KERASCOPE_DIALECT.

    Examples
    --------
    >>> from kerascope.settings import Config
    >>> Config().floatx
    'float32'
    >>> Config(dialect="4")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: config.dialect: no such value; expected '1.2', '2.2' or '3', got
    '4'.
    """

    floatx: str
    epsilon: float
    image_data_format: str
    dialect: str

    def __init__(
        self,
        *,
        floatx: str = "float32",
        epsilon: float = 1e-7,
        image_data_format: str = "channels_last",
        dialect: str = "2.2",
    ) -> None:
        self.floatx = floatx
        self.epsilon = epsilon
        self.image_data_format = image_data_format
        self.dialect = dialect

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CHOICES:
            value = _checked_choice(name, str(value))
        elif name == "epsilon":
            value = _checked_epsilon(value)
        else:
            known = ", ".join([*_CHOICES, "epsilon"])
            raise ArgumentError(f"config: no setting {name!r}; expected one of {known}.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"Config({inner})"


def _checked_choice(name: str, value: str) -> str:
    choices = _CHOICES[name]
    if value in choices:
        return value
    listed = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
    raise ArgumentError(f"config.{name}: no such value; expected {listed}, got {value!r}.")


def _checked_epsilon(value: Any) -> float:
    if isinstance(value, (int, float)) and 0 < value < 1:
        return float(value)
    raise ArgumentError(
        f"config.epsilon: not a small number; expected between 0 and 1, got {value!r}."
    )


def _from_environment() -> Config:
    """Return the settings that the process starts with."""
    try:
        return Config(dialect=os.environ.get("KERASCOPE_DIALECT") or "2.2")
    except ArgumentError as error:
        raise ArgumentError(f"environment variable KERASCOPE_DIALECT: {error}") from None


config = _from_environment()
