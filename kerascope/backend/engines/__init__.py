"""Engines: the libraries that compute functions, NumPy and JAX.

NumPy is always installed, and computes everything that observers watch: stages, pictures, traces
and the debugger. JAX, the extra `jax`, compiles a function by XLA for a processor or for GPUs. Both
give the same results up to rounding.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.settings import ENGINES, config


def checked_engine(name: Any, where: str) -> Any:
    """Return `name`, after a check that it is an installed engine or None.

    Raises
    ------
    ArgumentError
        The engine is unknown.
    MissingToolError
        JAX is not installed.
    """
    if name is not None and name not in ENGINES:
        listed = " or ".join(map(repr, ENGINES))
        raise ArgumentError(f"{where}: expected the engine {listed}, got {name!r}.")
    if name == "jax":
        _jax_programs(where)
    return name


def programs_of_engine(function: Any) -> Any:
    """Return the programs of a function for its engine, or for the default engine."""
    engine = function.engine or config.engine
    if engine == "numpy":
        return function._programs
    if function.jax_programs is None:
        function.jax_programs = _jax_programs(function.name)(function._programs)
    return function.jax_programs


def _jax_programs(where: str) -> Any:
    """Return the class `JaxPrograms`. JAX is imported when it is first needed."""
    state = np.random.get_state()  # noqa: NPY002 (from which the import of JAX draws)
    try:
        return importlib.import_module(f"{__name__}.functions").JaxPrograms
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jax", "jaxlib"):
            raise
        raise MissingToolError(
            f"{where}: the engine 'jax' needs JAX. Install it: pip install 'kerascope[jax]'."
        ) from error
    finally:
        np.random.set_state(state)  # noqa: NPY002
