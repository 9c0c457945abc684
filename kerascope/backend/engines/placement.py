"""Placement: puts arrays on JAX's devices, and exchanges them between processes."""

from __future__ import annotations

import random
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from kerascope.backend.engines.distribution import Distribution, TensorLayout
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError


class Placement:
    """Puts the arrays of a function on one device, or on those of a distribution.

    Parameters
    ----------
    distribution : Distribution or None
        None for a single device.
    """

    def __init__(self, distribution: Distribution | None) -> None:
        self.distribution = distribution
        self.n_devices = 1 if distribution is None else distribution.device_mesh.devices.size
        self.has_processes = distribution is not None and jax.process_count() > 1
        if distribution is not None:
            mesh = distribution.device_mesh
            known = devices_by_name(mesh.devices.flat[0].partition(":")[0])
            missing = [name for name in mesh.devices.flat if name not in known]
            if missing:
                raise ArgumentError(
                    f"DeviceMesh: unknown device '{missing[0]}'. JAX has {', '.join(known)}."
                )
            devices = np.vectorize(known.__getitem__, otypes=[object])(mesh.devices)
            self._mesh = Mesh(devices, mesh.axis_names)

    def _sharding(self, layout: TensorLayout) -> NamedSharding:
        return NamedSharding(self._mesh, PartitionSpec(*layout.axes))

    def put_inputs(self, arrays: Any) -> list[Any]:
        """Return the inputs of a call, each divided by samples over the devices."""
        if self.distribution is None:
            return list(arrays)
        layout_of = self.distribution.get_data_layout
        return self._put(list(arrays), [self._sharding(layout_of(x.shape)) for x in arrays])

    def put_variable(self, variable: Variable) -> Any:
        """Return the array of a variable on its devices; process 0 decides its values."""
        array = np.array(variable.room)  # JAX may use the memory of this copy
        if self.distribution is None:
            return jax.device_put(array)
        if self.has_processes:
            array = np.asarray(multihost_utils.broadcast_one_to_all(array)).astype(array.dtype)
        wanted = self._sharding(self.distribution.get_variable_layout(variable))
        return self._put([array], [wanted])[0]

    def _put(self, arrays: list[np.ndarray], shardings: list[NamedSharding]) -> list[Any]:
        if not self.has_processes:
            return jax.device_put(arrays, shardings)  # type: ignore[no-any-return]
        pairs = zip(arrays, shardings, strict=True)
        return [jax.make_array_from_callback(x.shape, s, x.__getitem__) for x, s in pairs]

    def has_placed(self, variable: Variable, array: Any) -> bool:
        """Return whether the array of a variable is where `put_variable` would put it."""
        if self.distribution is None:
            return not array.committed  # to a device that a distribution has named
        wanted = self._sharding(self.distribution.get_variable_layout(variable))
        return array.sharding.is_equivalent_to(wanted, array.ndim)  # type: ignore[no-any-return]

    def placed(self, variable: Variable, tracer: Any) -> Any:
        """Return the new value of a variable, divided over the devices as the variable is."""
        if self.distribution is None:
            return tracer
        layout = self.distribution.get_variable_layout(variable)
        return jax.lax.with_sharding_constraint(tracer, self._sharding(layout))

    def on_all(self, tracer: Any) -> Any:
        """Return an output; with several processes, copied to the devices of all processes."""
        if not self.has_processes or tracer is None:
            return tracer
        return jax.lax.with_sharding_constraint(tracer, self._sharding(TensorLayout(())))


def fetched(array: Any) -> np.ndarray:
    """Return an array of JAX as a NumPy array.

    If the array is divided over several processes, all of them must call this function.
    """
    if array.is_fully_addressable or array.is_fully_replicated:
        return np.asarray(array)
    return np.asarray(multihost_utils.process_allgather(array, tiled=True))


def devices_by_name(device_type: str | None = None) -> dict[str, Any]:
    """Return JAX's devices by names such as "cpu:0".

    Raises
    ------
    ArgumentError
        JAX has no such devices.
    """
    try:
        found = jax.devices(device_type and device_type.lower())
    except RuntimeError as error:
        raise ArgumentError(f"list_devices: JAX has no devices of type {device_type!r}.") from error
    kinds = {"cuda": "gpu", "rocm": "gpu"}
    return {f"{kinds.get(d.platform, d.platform)}:{n}": d for n, d in enumerate(found)}


def connect(address: str, number: int, own: int) -> None:
    """Connect this process with the others, and seed the random generators as process 0 does."""
    jax.distributed.initialize(address, number, own)
    seed = int(multihost_utils.broadcast_one_to_all(np.int32(random.getrandbits(31))))
    np.random.seed(seed)  # noqa: NPY002 -- initial weights come from this generator
    random.seed(seed)
