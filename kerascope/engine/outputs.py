"""Joins the outputs of batches along the samples. The result is that of `predict`."""

from __future__ import annotations

from typing import Any

import numpy as np


class Rows:
    """Collects the outputs of batches, and joins them along the samples.

    If the number of samples is known, each batch is written directly into the result. Otherwise the
    batches are kept in lists, and joined at the end.

    Parameters
    ----------
    samples : int or None
        The number of samples in all batches; None if unknown.
    """

    def __init__(self, samples: int | None) -> None:
        self.samples = samples
        self._results: list[np.ndarray] | None = None
        self._parts: list[list[Any]] = []

    def add(self, outs: list[Any], start: int, size: int) -> None:
        """Add the outputs of one batch. The number of its first sample is `start`."""
        if start == 0 and not self._parts and self._results is None:
            self._begin(outs, size)
        if self._results is not None and not self._fit(outs, start, size):
            self._parts.append([result[:start] for result in self._results])
            self._results = None
        if self._results is None:
            self._parts.append(outs)
            return
        for result, out in zip(self._results, outs, strict=True):
            result[start : start + size] = out

    def joined(self) -> list[np.ndarray]:
        """Return the joined arrays, one for each output."""
        if self._results is not None:
            return self._results
        return [np.concatenate(parts) for parts in zip(*self._parts, strict=True)]

    def _begin(self, outs: list[Any], size: int) -> None:
        if self.samples is not None and all(np.shape(out)[:1] == (size,) for out in outs):
            self._results = [np.empty((self.samples, *x.shape[1:]), x.dtype) for x in outs]

    def _fit(self, outs: list[Any], start: int, size: int) -> bool:
        """Return whether a batch can be written into the result arrays from row `start` on.

        The result arrays must have enough rows, and the shapes and dtypes of the batch.
        """
        assert self._results is not None
        assert self.samples is not None
        return start + size <= self.samples and all(
            out.shape == (size, *result.shape[1:]) and out.dtype == result.dtype
            for result, out in zip(self._results, outs, strict=True)
        )
