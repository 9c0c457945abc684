"""Windows of a time series, as batches: `TimeseriesGenerator`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, ConfigError, DataError
from kerascope.utils.data_utils import Sequence


class TimeseriesGenerator(Sequence):
    """Batches of windows of a time series, each with the target that comes after it.

    Parameters
    ----------
    data : array_like, shape (time, ...)
        The series.
    targets : array_like, shape (time, ...)
        `targets[t]` belongs to the window that ends just before `t`.
    length : int
        Time steps of a window.
    sampling_rate : int
        Every how many-th step of a window is taken.
    stride : int
        Steps between two windows.
    start_index, end_index : int, optional
        Use the series only from here to here, the end included.
    shuffle : bool
        Draw the windows at random, by NumPy's global generator, instead of in order.
    reverse : bool
        Turn the time in each window round.
    batch_size : int
        Windows of a batch; the last one may have fewer.

    Raises
    ------
    DataError
        `data` and `targets` have different lengths.
    ArgumentError
        No window fits, or an index lies outside of the series.

    Examples
    --------
    >>> import numpy as np
    >>> series = np.arange(6)
    >>> batches = TimeseriesGenerator(series, series, length=3, batch_size=2)
    >>> len(batches)
    2
    >>> x, y = batches[0]
    >>> x.tolist(), y.tolist()
    ([[0, 1, 2], [1, 2, 3]], [3, 4])
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise DataError(
                f"TimeseriesGenerator: data has {len(data)} steps; expected as many as targets, "
                f"which have {len(targets)}."
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        self._check()

    def _check(self) -> None:
        for name in ("length", "sampling_rate", "stride", "batch_size"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ArgumentError(
                    f"TimeseriesGenerator: {name} is {value!r}; expected a whole number >= 1."
                )
        first = self.start_index - self.length
        if first < 0 or self.end_index >= len(self.data):
            raise ArgumentError(
                f"TimeseriesGenerator: start_index is {first}, end_index {self.end_index}; "
                f"expected steps of the series, 0 to {len(self.data) - 1}."
            )
        if self.start_index > self.end_index:
            raise ArgumentError(
                f"TimeseriesGenerator: no window fits; expected start_index + length <= end_index, "
                f"got {self.start_index} > {self.end_index}. Give a smaller length."
            )

    def __len__(self) -> int:
        windows = self.end_index - self.start_index + 1
        return -(-windows // (self.batch_size * self.stride))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """Return batch number `index`: windows (batch, length / sampling_rate, ...) and targets."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"batch {index} of {len(self)}")
        ends = self._window_ends(index % len(self))
        windows = np.array([self._window(end) for end in ends])
        targets = np.array([self.targets[end] for end in ends])
        return (windows[:, ::-1] if self.reverse else windows), targets

    def _window_ends(self, index: int) -> list[int]:
        """Return for each window of a batch the step just after it."""
        if self.shuffle:
            drawn = np.random.randint(  # noqa: NPY002 (what scripts seed)
                self.start_index, self.end_index + 1, size=self.batch_size
            )
            return [int(end) for end in drawn]
        first = self.start_index + self.batch_size * self.stride * index
        behind = min(first + self.batch_size * self.stride, self.end_index + 1)
        return list(range(first, behind, self.stride))

    def _window(self, end: int) -> Any:
        return self.data[end - self.length : end : self.sampling_rate]

    def get_config(self) -> dict[str, Any]:
        """Return the arguments, as what JSON can hold; the series as JSON text.

        Raises
        ------
        ConfigError
            The series holds what JSON cannot.
        """
        return {
            "data": _as_json("data", self.data),
            "targets": _as_json("targets", self.targets),
            "length": self.length,
            "sampling_rate": self.sampling_rate,
            "stride": self.stride,
            "start_index": self.start_index - self.length,
            "end_index": self.end_index,
            "shuffle": self.shuffle,
            "reverse": self.reverse,
            "batch_size": self.batch_size,
        }

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON; `timeseries_generator_from_json` reads it."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def _as_json(name: str, values: Any) -> str:
    try:
        return json.dumps(np.asarray(values).tolist())
    except TypeError as error:
        raise ConfigError(f"TimeseriesGenerator: {name} cannot be written as JSON: {error}.") from (
            error
        )


def timeseries_generator_from_json(json_string: str) -> TimeseriesGenerator:
    """Return the generator that `TimeseriesGenerator.to_json` described.

    Raises
    ------
    ConfigError
        The text is no such description.

    Examples
    --------
    >>> made = TimeseriesGenerator([1, 2, 3], [1, 2, 3], length=2)
    >>> timeseries_generator_from_json(made.to_json())[0][0].tolist()
    [[1, 2]]
    """
    try:
        config = dict(json.loads(json_string)["config"])
        data = np.array(json.loads(config.pop("data")))
        targets = np.array(json.loads(config.pop("targets")))
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"timeseries_generator_from_json: no description of a TimeseriesGenerator; expected "
            f"what to_json returned. ({type(error).__name__}: {error})"
        ) from error
    return TimeseriesGenerator(data, targets, **config)
