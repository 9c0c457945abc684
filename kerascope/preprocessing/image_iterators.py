"""Batches of images that lie in an array; the base of all iterators over images.

An iterator is a `Sequence` (it has a length, and batch i can be asked for in any order and from any
worker) and an endless iterator (`for x, y in iterator` goes on for ever, as Keras's does).

What is random about image j in pass p depends on (seed, p, j) alone. So the same seed gives the
same images however many workers make them, in whatever order.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator as PlainIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from kerascope.backend.ops.random import fresh_seed
from kerascope.backend.ops.windows import is_whole
from kerascope.callers import warn
from kerascope.errors import ArgumentError, DataError
from kerascope.preprocessing.image_files import array_to_img, checked_data_format
from kerascope.settings import config
from kerascope.utils.data_utils import Sequence

if TYPE_CHECKING:
    from kerascope.preprocessing.image_generator import ImageDataGenerator

SUBSETS = ("training", "validation", None)


class Iterator(Sequence):
    """Batches of n samples, in order or shuffled; a subclass makes them.

    Parameters
    ----------
    n : int
        Number of samples.
    batch_size : int
        The last batch may have fewer.
    shuffle : bool
        Take the samples in another order in each pass.
    seed : int, optional
        Makes everything random repeatable. By default drawn from NumPy's global generator, which
        `np.random.seed` sets.

    Attributes
    ----------
    pass_number : int
        How many passes over the samples are over.
    """

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ArgumentError(f"batch_size is {batch_size!r}; expected a whole number >= 1.")
        if seed is not None and not is_whole(seed, 0):
            raise ArgumentError(f"seed is {seed!r}; expected a whole number >= 0, or None.")
        self.n = n
        self.batch_size = int(batch_size)
        self.shuffle = shuffle
        self.seed = seed
        self._seed = fresh_seed() if seed is None else int(seed)
        self.pass_number = 0
        self._known_order: tuple[int, np.ndarray] | None = None
        self.batch_index = 0
        self.total_batches_seen = 0
        self.lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        """Leave the lock out, so that an iterator can go to another process."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.Lock()

    def get_state(self) -> dict[str, int]:
        """Return the place in the passes, for a run that goes on from a backup."""
        counts = {"batch_index": self.batch_index, "total_batches_seen": self.total_batches_seen}
        return {"seed": self._seed, "pass_number": self.pass_number, **counts}

    def set_state(self, state: dict[str, int]) -> None:
        """Go to a place that `get_state` returned."""
        self._seed, self.pass_number = state["seed"], state["pass_number"]
        self.batch_index = state["batch_index"]
        self.total_batches_seen = state["total_batches_seen"]

    # --- as a Sequence ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        """Return batch number `index` of this pass."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"batch {index} of {len(self)}")
        start = index % len(self) * self.batch_size
        places = self._order()[start : start + self.batch_size]
        return self._get_batches_of_transformed_samples(places)

    def on_epoch_end(self) -> None:
        """Begin another pass."""
        self.pass_number += 1

    def _order(self) -> np.ndarray:
        """Return the samples in the order of this pass."""
        if self._known_order is None or self._known_order[0] != self.pass_number:
            order = np.arange(self.n)
            if self.shuffle:
                order = np.random.default_rng([self._seed, self.pass_number]).permutation(order)
            self._known_order = (self.pass_number, order)
        return self._known_order[1]

    def sample_seed(self, place: int) -> int:
        """Return the seed for what is random about one sample in this pass."""
        sequence = np.random.SeedSequence([self._seed, self.pass_number, int(place)])
        return int(sequence.generate_state(1)[0])

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """Return the batch of these samples: the one method that a subclass must have."""
        raise NotImplementedError(f"{type(self).__name__} does not define its batches")

    # --- as an endless iterator -------------------------------------------------------------------

    def __iter__(self) -> PlainIterator[Any]:
        return self

    def __next__(self) -> Any:
        with self.lock:  # several threads may ask
            if self.n == 0:
                raise StopIteration
            if self.batch_index >= len(self):
                self.on_epoch_end()
                self.batch_index = 0
            start = self.batch_index * self.batch_size
            places = self._order()[start : start + self.batch_size]
            self.batch_index += 1
            self.total_batches_seen += 1
        return self._get_batches_of_transformed_samples(places)

    next = __next__

    def reset(self) -> None:
        """Go back to the first batch of the pass."""
        self.batch_index = 0


class ImageIterator(Iterator):
    """What iterators over images share: settings, random changes, saving what they made.

    A subclass has `_load(place)`, which returns one image as an array.
    """

    def __init__(
        self,
        n: int,
        image_data_generator: ImageDataGenerator,
        *,
        batch_size: int,
        shuffle: bool,
        seed: int | None,
        data_format: str | None,
        save_to_dir: str | os.PathLike[str] | None,
        save_prefix: str,
        save_format: str,
        subset: str | None,
        dtype: DTypeLike | None,
    ) -> None:
        check_subset(subset)
        self.image_data_generator = image_data_generator
        self.data_format = checked_data_format(data_format, type(self).__name__)
        self.save_to_dir = save_to_dir
        self.save_prefix = save_prefix
        self.save_format = save_format
        self.subset = subset
        self.dtype = np.dtype(config.floatx if dtype is None else dtype)
        super().__init__(n, batch_size, shuffle, seed)

    def _load(self, place: int) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} does not define how to load an image")

    def _images(self, index_array: np.ndarray) -> np.ndarray:
        """Return the changed and standardized images of a batch in one array."""
        images = []
        for place in index_array:
            image = self._load(int(place))
            changes = self.image_data_generator.get_random_transform(
                image.shape, self.sample_seed(place)
            )
            changed = self.image_data_generator.apply_transform(image.astype(self.dtype), changes)
            images.append(self.image_data_generator.standardize(changed))
        batch = np.array(images, dtype=self.dtype)
        if self.save_to_dir:
            self._save(index_array, batch)
        return batch

    def _save(self, index_array: np.ndarray, batch: np.ndarray) -> None:
        for place, pixels in zip(index_array, batch, strict=True):
            name = f"{self.save_prefix}_{place}_{self.pass_number}.{self.save_format}"
            image = array_to_img(pixels, self.data_format, scale=True)
            image.save(os.path.join(self.save_to_dir or "", name))


def check_subset(subset: str | None) -> None:
    """Raise ArgumentError if there is no such part of the data."""
    if subset not in SUBSETS:
        raise ArgumentError(f"subset is {subset!r}; expected 'training', 'validation' or None.")


class NumpyArrayIterator(ImageIterator):
    """Batches of images that lie in one array; `ImageDataGenerator.flow` makes it.

    Parameters
    ----------
    x : array_like, 4 axes, or tuple (images, list of arrays)
        Images; the other arrays go along unchanged.
    y : array_like or None
        Targets.
    image_data_generator : ImageDataGenerator
        Changes the images.
    batch_size, shuffle, seed
        See `Iterator`.
    sample_weight : array_like, optional
        Weights of the samples.
    data_format : {"channels_last", "channels_first"}, optional
    save_to_dir, save_prefix, save_format
        Write each image that was made to a file in this folder.
    subset : {"training", "validation"}, optional
        Which part, if the generator has a `validation_split`.
    dtype : dtype, optional

    Raises
    ------
    DataError
        The arrays have different lengths, or images have not 3 axes.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        image_data_generator: ImageDataGenerator,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: Any = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_subset(subset)
        images, others = _images_and_others(x)
        part = _part(len(images), subset, image_data_generator)
        self.x = images[part]
        self.x_misc = [_of_length(array, "x", len(images))[part] for array in others]
        self.y = None if y is None else _of_length(y, "y", len(images))[part]
        self.sample_weight = (
            None
            if sample_weight is None
            else _of_length(sample_weight, "sample_weight", len(images))[part]
        )
        super().__init__(
            len(self.x),
            image_data_generator,
            batch_size=batch_size,
            shuffle=shuffle,
            seed=seed,
            data_format=data_format,
            save_to_dir=save_to_dir,
            save_prefix=save_prefix,
            save_format=save_format,
            subset=subset,
            dtype=dtype,
        )
        warn_of_channels(self.x.shape, self.data_format, "NumpyArrayIterator")

    def _load(self, place: int) -> np.ndarray:
        image: np.ndarray = self.x[place]
        return image

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """Return images, or (images, targets), or (images, targets, sample weights)."""
        images = self._images(index_array)
        x = [images, *(array[index_array] for array in self.x_misc)] if self.x_misc else images
        if self.y is None:
            return x
        if self.sample_weight is None:
            return x, self.y[index_array]
        return x, self.y[index_array], self.sample_weight[index_array]


def _images_and_others(x: Any) -> tuple[np.ndarray, list[Any]]:
    others: list[Any] = []
    if isinstance(x, (tuple, list)) and len(x) == 2 and np.ndim(x[0]) == 4:
        x, rest = x
        others = [np.asarray(item) for item in rest] if isinstance(rest, list) else [rest]
    images = np.asarray(x)
    if images.ndim != 4:
        raise DataError(
            f"NumpyArrayIterator: x has shape {images.shape}; expected 4 axes: samples, rows, "
            "columns and channels. For grey images add the last one: x[..., np.newaxis]."
        )
    return images, others


def _of_length(array: Any, name: str, length: int) -> np.ndarray:
    values = np.asarray(array)
    if len(values) != length:
        raise DataError(
            f"NumpyArrayIterator: {name} has {len(values)} rows; expected {length}, as the images."
        )
    return values


def _part(length: int, subset: str | None, generator: ImageDataGenerator) -> slice:
    """Return which of the samples belong to a subset: validation has the first ones."""
    if subset is None:
        return slice(None)
    split = int(length * generator.validation_split)
    return slice(None, split) if subset == "validation" else slice(split, None)


def warn_of_channels(shape: tuple[int, ...], data_format: str, where: str) -> None:
    """Warn if images have a strange number of channels: it may be the other layout."""
    channels = shape[1 if data_format == "channels_first" else 3]
    if channels not in (1, 3, 4):
        warn(
            f"{where}: images of shape {shape[1:]} have {channels} channels ({data_format}); "
            "expected 1, 3 or 4. Is it the other data_format?"
        )


def make_folder_for_pictures(folder: str | os.PathLike[str] | None) -> None:
    """Make the folder for saved images, if one is asked for."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
