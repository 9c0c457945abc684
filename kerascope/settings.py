"""Settings of the whole process: float type, fuzz factor, data format of images, dialect.

`kerascope.config` is the only instance of `Config`. `K.floatx()` and similar functions read it.
Keras has these settings in `backend/common.py`. `kerascope.spellings` explains the dialects.
"""

from __future__ import annotations

import os
from typing import Any

from kerascope.errors import ArgumentError, KerascopeWarning
from kerascope.user_frames import warn

ENGINES = ("numpy", "jax")
_CHOICES: dict[str, tuple[str, ...]] = {
    "floatx": ("float16", "float32", "float64"),
    "image_data_format": ("channels_last", "channels_first"),
    "dialect": ("1.2", "2.2", "3"),
    "engine": ENGINES,
}
SETTINGS = ("floatx", "epsilon", "image_data_format", "dialect", "engine")
DIALECT_VARIABLE = "KERASCOPE_DIALECT"
USUAL_DIALECT = "2.2"
ENGINE_VARIABLE = "KERASCOPE_ENGINE"
USUAL_ENGINE = "numpy"
VERIFY_VARIABLE = "KERASCOPE_VERIFY"


class Config:
    """Settings of the process. Assignments are checked immediately.

    Attributes
    ----------
    floatx : {"float16", "float32", "float64"}
        Dtype of new float tensors. Default "float32".
    epsilon : float
        Fuzz factor that keeps logarithms and divisions finite. Default 1e-7.
    image_data_format : {"channels_last", "channels_first"}
        Default "channels_last".
    dialect : {"1.2", "2.2", "3"}
        The Keras version that decides the names of weights, layers and logs, and the defaults and
        formulas where the versions differ. Default "2.2", or the environment variable
        KERASCOPE_DIALECT.
    engine : {"numpy", "jax"}
        The library that computes functions. Default "numpy", or the environment variable
        KERASCOPE_ENGINE.

    Examples
    --------
    >>> from kerascope.settings import Config
    >>> Config().floatx
    'float32'
    >>> Config(dialect="4")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: config.dialect: expected '1.2', '2.2' or '3', got
    '4'.
    """

    floatx: str
    epsilon: float
    image_data_format: str
    dialect: str
    engine: str

    def __init__(
        self,
        *,
        floatx: str = "float32",
        epsilon: float = 1e-7,
        image_data_format: str = "channels_last",
        dialect: str | None = USUAL_DIALECT,
    ) -> None:
        self.floatx = floatx
        self.epsilon = epsilon
        self.image_data_format = image_data_format
        if dialect is not None:
            self.dialect = dialect

    def __getattr__(self, name: str) -> Any:
        """Read the dialect or the engine from the environment when it is first used.

        If they were read at import time, callers could not catch the error for an invalid name.
        """
        if name not in _FROM_ENVIRONMENT:
            raise AttributeError(f"config: unknown setting {name!r}.")
        read, usual = _FROM_ENVIRONMENT[name]
        try:
            setattr(self, name, read())
        except ArgumentError as error:
            setattr(self, name, usual)
            warn(f"{error} {usual!r} is used.", KerascopeWarning)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _CHOICES:
            value = _checked_choice(name, str(value))
        elif name == "epsilon":
            value = _checked_epsilon(value)
        else:
            known = ", ".join(SETTINGS)
            raise ArgumentError(f"config: unknown setting {name!r}. Use one of: {known}.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in SETTINGS)
        return f"Config({inner})"


def _checked_choice(name: str, value: str, where: str | None = None) -> str:
    choices = _CHOICES[name]
    if value in choices:
        return value
    listed = ", ".join(map(repr, choices[:-1])) + f" or {choices[-1]!r}"
    where = where or f"config.{name}"
    raise ArgumentError(f"{where}: expected {listed}, got {value!r}.")


def _checked_epsilon(value: Any) -> float:
    if isinstance(value, (int, float)) and 0 < value < 1:
        return float(value)
    raise ArgumentError(f"config.epsilon: expected a number between 0 and 1, got {value!r}.")


def dialect_of_environment() -> str:
    """Return the dialect in the environment variable KERASCOPE_DIALECT, or the default.

    Raises
    ------
    ArgumentError
        If the value of the variable is not a dialect.
    """
    value = os.environ.get(DIALECT_VARIABLE) or USUAL_DIALECT
    return _checked_choice("dialect", value, f"environment variable {DIALECT_VARIABLE}")


def engine_of_environment() -> str:
    """Return the engine in the environment variable KERASCOPE_ENGINE, or the default.

    Raises
    ------
    ArgumentError
        If the value of the variable is not an engine.
    """
    value = os.environ.get(ENGINE_VARIABLE) or USUAL_ENGINE
    return _checked_choice("engine", value, f"environment variable {ENGINE_VARIABLE}")


def verify_of_environment() -> bool:
    """Return whether the environment variable KERASCOPE_VERIFY requests verified programs.

    Raises
    ------
    ArgumentError
        If the value of the variable is neither 0 nor 1.
    """
    value = os.environ.get(VERIFY_VARIABLE) or "0"
    if value in ("0", "1"):
        return value == "1"
    raise ArgumentError(f"environment variable {VERIFY_VARIABLE}: expected 0 or 1, got {value!r}.")


_FROM_ENVIRONMENT = {
    "dialect": (dialect_of_environment, USUAL_DIALECT),
    "engine": (engine_of_environment, USUAL_ENGINE),
}
config = Config(dialect=None)
