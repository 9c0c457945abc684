"""Engines: the libraries that compute functions, NumPy and JAX.

NumPy is always installed, and computes everything that observers watch: stages, pictures, traces
and the debugger. JAX, the extra `jax`, compiles a function by XLA for a processor or for GPUs. Both
give the same results up to rounding.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, MissingToolError
from kerascope.settings import ENGINES, config


def checked_engine(name: Any, where: str, devices: Any = None) -> Any:
    """Return `name` if this engine is installed, otherwise raise; None is returned unchanged.

    Parameters
    ----------
    name : {None, "numpy", "jax"} or Distribution
        A distribution stands for the engine JAX on several devices.
    where : str
        The beginning of error messages.
    devices : int or list of str, optional
        The number or the names of the devices that divide each batch. If it is given, a
        `DataParallel` for these devices is returned instead of `name`.

    Raises
    ------
    ArgumentError
        The engine is unknown, is not JAX although `devices` is given, or has fewer devices
        than requested.
    MissingToolError
        JAX is not installed.
    """
    if name is not None and name not in ENGINES and not hasattr(name, "get_variable_layout"):
        listed = " or ".join(map(repr, ENGINES))
        raise ArgumentError(f"{where}: expected the engine {listed}, got {name!r}.")
    if name not in (None, "numpy"):
        _module("functions", where)
    if devices is None:
        return name
    if (name or config.engine) != "jax":
        raise ArgumentError(f"{where}: devices={devices} needs the engine 'jax'. Add engine='jax'.")
    distribution = importlib.import_module(f"{__name__}.distribution")
    known = distribution.list_devices()
    names = known[:devices] if isinstance(devices, int) else list(np.ravel(devices))
    if isinstance(devices, int) and not 0 < devices <= len(known):
        raise ArgumentError(
            f"{where}: expected 1 to {len(known)} devices, got {devices}. To simulate more on a "
            f"processor, set the environment variable XLA_FLAGS="
            f"--xla_force_host_platform_device_count={devices} before Python starts."
        )
    return distribution.DataParallel(devices=names)


def programs_of_engine(function: Any, engine: str | None = None) -> Any:
    """Return the programs with which an engine computes a function.

    The engine is `engine`; by default that of the function, or if it has none, that of
    `K.set_engine`. If JAX cannot compute the function, the programs of NumPy are returned.
    """
    if (engine or function.engine or config.engine) == "numpy":
        return function._programs
    found = function.jax_programs
    if found is None or not found.is_for(function.engine):
        found = function.jax_programs = _module("functions", function.name).programs_of(function)
    return found if found.refused is None else function._programs


def placement_module(where: str) -> Any:
    """Return the module that puts arrays on the devices of JAX."""
    return _module("placement", where)


def _module(name: str, where: str) -> Any:
    """Return a module of this package that needs JAX, which is imported when first needed."""
    path = f"{__name__}.{name}"
    if path in sys.modules:
        return importlib.import_module(path)
    state = np.random.get_state()  # noqa: NPY002 (from which the import of JAX draws)
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("jax", "jaxlib"):
            raise
        raise MissingToolError(
            f"{where}: the engine 'jax' needs JAX. Install it: pip install 'kerascope[jax]'."
        ) from error
    finally:
        np.random.set_state(state)  # noqa: NPY002
