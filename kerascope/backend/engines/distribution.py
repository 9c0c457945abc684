"""Distribution: on which devices the arrays of a model are, under the names of Keras 3.

A `DeviceMesh` arranges devices as a grid with named axes. A `TensorLayout` names, for each axis of
an array, the axis of the mesh over which it is divided. `DataParallel` divides batches and gives
each device all weights; `ModelParallel` also divides the weights that a `LayoutMap` names. Results
are those of a single device up to rounding, because XLA inserts the necessary communication.

The engine JAX uses these objects; NumPy computes on one device. Keras 3 has the same names in
`keras.distribution`.

Examples
--------
>>> mesh = DeviceMesh((2, 2), ["batch", "model"], ["cpu:0", "cpu:1", "cpu:2", "cpu:3"])
>>> layout_map = LayoutMap(mesh)
>>> layout_map["dense.*kernel"] = (None, "model")
>>> ModelParallel(layout_map=layout_map).get_data_layout((32, 10)).axes
('batch', None)
>>> layout_map["dense_1/kernel"].axes
(None, 'model')
"""

from __future__ import annotations

import math
import os
import re
from collections import UserDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from kerascope.backend.engines import placement_module
from kerascope.errors import ArgumentError
from kerascope.settings import config

_PROCESS_VARIABLES = ("JOB_ADDRESSES", "NUM_PROCESSES", "PROCESS_ID")
_current: list[Distribution | None] = [None]


class DeviceMesh:
    """A grid of devices with named axes.

    Parameters
    ----------
    shape : sequence of int
    axis_names : sequence of str
        One name for each axis of the grid.
    devices : sequence of str, optional
        Names such as "cpu:0"; by default those of `list_devices()`.

    Attributes
    ----------
    devices : np.ndarray of str
        Of the shape `shape`.

    Raises
    ------
    ArgumentError
        The numbers of axes, names and devices do not fit each other, or a name occurs twice.

    Examples
    --------
    >>> mesh = DeviceMesh((2, 2), ["batch", "model"], ["cpu:0", "cpu:1", "cpu:2", "cpu:3"])
    >>> mesh.devices.tolist(), mesh.size_of("model")
    ([['cpu:0', 'cpu:1'], ['cpu:2', 'cpu:3']], 2)
    """

    def __init__(
        self,
        shape: Sequence[int],
        axis_names: Sequence[str],
        devices: Sequence[str] | None = None,
    ) -> None:
        self.shape, self.axis_names = tuple(shape), list(axis_names)
        names = np.ravel(list_devices() if devices is None else devices)
        found = (len(set(self.axis_names)), len(set(names.tolist())), names.dtype.kind)
        if found != (len(self.shape), math.prod(self.shape), "U"):
            raise ArgumentError(
                f"DeviceMesh: expected a name for each axis of the shape {self.shape} and the "
                f"names of {math.prod(self.shape)} different devices, got the axes "
                f"{self.axis_names} and the devices {names.tolist()}."
            )
        self.devices = names.reshape(self.shape)

    def size_of(self, name: str | None) -> int:
        """Return the number of devices along the axis with this name; 1 for None."""
        return 1 if name is None else self.shape[self.axis_names.index(name)]


class TensorLayout:
    """How an array is divided over a mesh.

    Parameters
    ----------
    axes : sequence of str or None
        For each axis of the array the name of an axis of the mesh; None if it is not divided.
    device_mesh : DeviceMesh, optional
        By default that of the `LayoutMap` to which the layout is added.

    Raises
    ------
    ArgumentError
        A name is not an axis of the mesh, or occurs twice.

    Examples
    --------
    The columns of a matrix are divided over two devices, its rows are not:

    >>> mesh = DeviceMesh((2,), ["model"], ["cpu:0", "cpu:1"])
    >>> layout = TensorLayout((None, "model"), mesh)
    >>> [mesh.size_of(name) for name in layout.axes]
    [1, 2]
    """

    def __init__(self, axes: Sequence[str | None], device_mesh: DeviceMesh | None = None) -> None:
        self.axes, self.device_mesh = tuple(axes), device_mesh
        known = None if device_mesh is None else device_mesh.axis_names
        named = [name for name in self.axes if name is not None]
        if len(set(named)) < len(named) or (known is not None and not set(named) <= set(known)):
            raise ArgumentError(
                f"TensorLayout: expected names of different axes of the mesh "
                f"{known or ''}, got {self.axes}."
            )


class LayoutMap(UserDict[str, Any]):
    """A table of layouts. Its keys are regular expressions for the paths of variables.

    The path of a variable is, for example, "dense_1/kernel".

    Parameters
    ----------
    device_mesh : DeviceMesh

    Raises
    ------
    ArgumentError
        A key is set for the second time, or two keys match a path.

    Examples
    --------
    >>> layout_map = LayoutMap(DeviceMesh((2,), ["model"], ["cpu:0", "cpu:1"]))
    >>> layout_map["dense.*kernel"] = (None, "model")
    >>> layout_map["dense_1/kernel"].axes, layout_map["dense_1/bias"]
    ((None, 'model'), None)
    """

    def __init__(self, device_mesh: DeviceMesh) -> None:
        self.device_mesh = device_mesh
        super().__init__()

    def __setitem__(self, key: str, layout: TensorLayout | Sequence[str | None]) -> None:
        """Set the layout of all variables whose path contains a match of the key."""
        if key in self.data:
            raise ArgumentError(f"LayoutMap: the key {key!r} has a layout already.")
        axes = layout.axes if isinstance(layout, TensorLayout) else layout
        self.data[key] = TensorLayout(axes, self.device_mesh)

    def __getitem__(self, path: str) -> TensorLayout | None:
        """Return the layout for the path of a variable; None if no key matches the path.

        A key matches a path if it is equal to it or, as a regular expression, occurs in it.
        """
        if path in self.data:
            return self.data[path]  # type: ignore[no-any-return]
        keys = [key for key in self.data if re.search(key, path)]
        if len(keys) > 1:
            raise ArgumentError(
                f"LayoutMap: expected one key for the variable '{path}', got {keys}. Make the "
                "regular expressions more specific."
            )
        return self.data[keys[0]] if keys else None


class Distribution:
    """Determines how arrays are divided over devices; base of `DataParallel` and `ModelParallel`.

    Parameters
    ----------
    device_mesh : DeviceMesh
    batch_dim_name : str, optional
        The axis of the mesh over which batches are divided; by default the first one.

    Examples
    --------
    Batches of 6 samples are divided over two devices, batches of 7 are not:

    >>> halves = Distribution(DeviceMesh((2,), ["batch"], ["cpu:0", "cpu:1"]))
    >>> [halves.get_data_layout((samples, 10)).axes for samples in (6, 7)]
    [('batch', None), (None, None)]
    """

    def __init__(self, device_mesh: DeviceMesh, batch_dim_name: str | None = None) -> None:
        self.device_mesh = device_mesh
        self.batch_dim_name = batch_dim_name or device_mesh.axis_names[0]
        TensorLayout([self.batch_dim_name], device_mesh)  # which raises if there is no such axis

    def get_data_layout(self, data_shape: Sequence[int]) -> TensorLayout:
        """Return the layout of a batch, which is divided by samples.

        If the number of samples cannot be divided by the number of devices, each device gets the
        whole batch.
        """
        n = self.device_mesh.size_of(self.batch_dim_name)
        divided = [self.batch_dim_name] if data_shape and data_shape[0] % n == 0 else [None]
        axes = [*divided, *[None] * len(data_shape)][: len(data_shape)]
        return TensorLayout(axes, self.device_mesh)

    def get_variable_layout(self, variable: Any) -> TensorLayout:
        """Return the layout of a variable, which by default is whole on each device."""
        return TensorLayout([None] * len(variable.shape), self.device_mesh)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Return a context manager in which functions use this distribution."""
        before = distribution()
        set_distribution(self)
        try:
            yield
        finally:
            _current[0] = before


class DataParallel(Distribution):
    """Divides each batch over the devices; each device has all weights.

    Parameters
    ----------
    device_mesh : DeviceMesh, optional
        A mesh with one axis; by default all devices.
    devices : sequence of str, optional
        Names of devices, instead of a mesh.
    auto_shard_dataset : bool
        Accepted for Keras 3 and ignored: each process is given whole batches.

    Notes
    -----
    A batch whose size cannot be divided by the number of devices is computed by each of them.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope import backend as K
    >>> parallel = DataParallel(devices=["cpu:0", "cpu:1"])
    >>> parallel.get_data_layout((6, 10)).axes
    ('batch', None)
    >>> parallel.get_variable_layout(K.variable(np.ones((10, 4)))).axes  # whole on each device
    (None, None)
    """

    def __init__(
        self,
        device_mesh: DeviceMesh | None = None,
        devices: Sequence[str] | None = None,
        auto_shard_dataset: bool = True,
    ) -> None:
        names = list_devices() if devices is None and device_mesh is None else devices
        super().__init__(device_mesh or DeviceMesh([len(names or ())], ["batch"], names))


class ModelParallel(Distribution):
    """Divides each batch over one axis of the mesh, and weights by a `LayoutMap`.

    Parameters
    ----------
    layout_map : LayoutMap
        Layouts by the paths of variables. Other variables are whole on each device.
    batch_dim_name : str, optional
        The axis of the mesh for batches; by default the first one.
    auto_shard_dataset : bool
        Accepted for Keras 3 and ignored: each process is given whole batches.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> layout_map = LayoutMap(DeviceMesh((1, 2), ["batch", "model"], ["cpu:0", "cpu:1"]))
    >>> layout_map["kernel"] = (None, "model")
    >>> parallel, layer = ModelParallel(layout_map=layout_map), Dense(4)
    >>> layer.build((None, 3))
    >>> [parallel.get_variable_layout(weight).axes for weight in layer.weights]
    [(None, 'model'), (None,)]
    """

    def __init__(
        self,
        *,
        layout_map: LayoutMap,
        batch_dim_name: str | None = None,
        auto_shard_dataset: bool = True,
    ) -> None:
        super().__init__(layout_map.device_mesh, batch_dim_name)
        self.layout_map = layout_map

    def get_variable_layout(self, variable: Any) -> TensorLayout:
        """Return the layout of a variable. An optimizer's slot has that of its weight.

        Raises
        ------
        ArgumentError
            The layout does not fit the shape of the variable.
        """
        shape, owner = variable.shape, self.layout_map[variable.path.rpartition("/")[0]]
        layout = self.layout_map[variable.path] or owner  # of a slot, whose key may end in "$"
        if layout is None or (owner is layout and len(layout.axes) != len(shape)):
            return super().get_variable_layout(variable)  # a slot may have fewer axes
        sizes = [self.device_mesh.size_of(name) for name in layout.axes]
        if len(sizes) != len(shape) or any(n % k for n, k in zip(shape, sizes, strict=True)):
            raise ArgumentError(
                f"LayoutMap: the layout {layout.axes} on the mesh {self.device_mesh.shape} divides "
                f"axes into {sizes} parts, which does not fit the variable '{variable.path}' of "
                f"shape {shape}. Give it a layout of its own."
            )
        return layout


# --- the distribution of the process --------------------------------------------------------------


def distribution() -> Distribution | None:
    """Return the distribution that `set_distribution` has set, or None."""
    return _current[0]


def set_distribution(value: Distribution | None) -> None:
    """Let all functions on JAX use a distribution; with None a single device again.

    Raises
    ------
    ArgumentError
        The value is not a distribution, or the engine is not JAX.
    """
    if not isinstance(value, Distribution | None):
        raise ArgumentError(
            f"set_distribution: expected a DataParallel or ModelParallel, got {value!r}."
        )
    if value is not None and config.engine != "jax":
        raise ArgumentError(
            "set_distribution: NumPy computes on one device. Call K.set_engine('jax') first."
        )
    _current[0] = value


def list_devices(device_type: str | None = None) -> list[str]:
    """Return the names of all devices, such as "gpu:0", of all processes.

    Parameters
    ----------
    device_type : {"cpu", "gpu", "tpu"}, optional
        By default the most capable one that JAX found.
    """
    return list(placement_module("list_devices").devices_by_name(device_type))


def get_device_count(device_type: str | None = None) -> int:
    """Return the number of devices that `list_devices` returns."""
    return len(list_devices(device_type))


def initialize(
    job_addresses: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
) -> None:
    """Connect several processes, on one machine or many, whose devices are then used together.

    Call it in each process before anything else. All processes must then run the same program
    with the same data: each of them gives whole batches to `fit`. NumPy's and Python's random
    generators get the same seed in all processes.

    Parameters
    ----------
    job_addresses : str
        The address of process 0, such as "10.0.0.1:1234". Further addresses, after commas, are
        accepted as in Keras and ignored.
    num_processes, process_id : int
        By default, these two and `job_addresses` are read from the environment variables
        KERAS_DISTRIBUTION_JOB_ADDRESSES, KERAS_DISTRIBUTION_NUM_PROCESSES and
        KERAS_DISTRIBUTION_PROCESS_ID, as in Keras 3.

    Raises
    ------
    ArgumentError
        One of the three is missing, or is not a number.
    """
    given = (job_addresses, num_processes, process_id)
    values = [
        os.environ.get(f"KERAS_DISTRIBUTION_{name}") if value is None else value
        for name, value in zip(_PROCESS_VARIABLES, given, strict=True)
    ]
    try:
        address, number, own = str(values[0] or ""), int(values[1] or 0), int(values[2])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        address = ""
    if not address:
        raise ArgumentError(
            "initialize: expected the address of process 0, the number of processes and the number "
            f"of this process, got {', '.join(map(repr, values))}."
        )
    placement_module("initialize").connect(address.partition(",")[0], number, own)
