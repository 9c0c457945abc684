"""Make batches of images from an array, from folders, or from files listed in a table.

`ImageIterator` is the base class. An `ImageDataGenerator` (`image.py`) creates the iterators, and
changes each image at random.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator as PlainIterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kerascope.backend.ops.random import fresh_seed
from kerascope.backend.ops.windows import is_whole, sizes_along_axes
from kerascope.configurable import by_name
from kerascope.display import show
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.preprocessing.image_files import (
    EXTENSIONS,
    array_to_img,
    checked_color_mode,
    checked_data_format,
    img_to_array,
    load_img,
)
from kerascope.registry import did_you_mean
from kerascope.settings import config
from kerascope.user_frames import warn
from kerascope.utils.data_utils import Sequence
from kerascope.utils.np_utils import to_categorical

SUBSETS = ("training", "validation", None)


class ImageChanges(Protocol):
    """The methods of `ImageDataGenerator` that an iterator uses.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> changes: ImageChanges = ImageDataGenerator(rescale=0.5)
    >>> image = np.full((1, 1, 1), 4.0)
    >>> parameters = changes.get_random_transform(image.shape)
    >>> changes.standardize(changes.apply_transform(image, parameters)).ravel().tolist()
    [2.0]
    """

    validation_split: float

    def get_random_transform(
        self, img_shape: tuple[int, ...], seed: int | None = None
    ) -> dict[str, Any]:
        """Return random parameters for the changes of one image."""

    def apply_transform(self, x: np.ndarray, transform_parameters: dict[str, Any]) -> np.ndarray:
        """Return an image changed by the parameters that `get_random_transform` returned."""

    def standardize(self, x: Any) -> np.ndarray:
        """Return an image with standardized values."""


class Iterator(Sequence):
    """Base class of iterators over batches of n samples, in order or shuffled.

    Parameters
    ----------
    n : int
        Number of samples.
    batch_size : int
        Number of samples in a batch; the last batch may have fewer.
    shuffle : bool
        Whether to use a new random order in each pass.
    seed : int, optional
        Makes the order and the random changes repeatable. By default the seed is drawn from NumPy's
        global generator, which `np.random.seed` sets.

    Attributes
    ----------
    pass_number : int
        Number of completed passes over the samples.

    Examples
    --------
    >>> class Numbers(Iterator):
    ...     def _get_batches_of_transformed_samples(self, index_array):
    ...         return index_array.tolist()
    >>> batches = Numbers(5, batch_size=2, shuffle=False, seed=None)
    >>> len(batches), [next(batches) for _ in range(4)], batches.pass_number
    (3, [[0, 1], [2, 3], [4], [0, 1]], 1)
    """

    def __init__(self, n: int, batch_size: int, shuffle: bool, seed: int | None) -> None:
        if not isinstance(batch_size, (int, np.integer)) or batch_size < 1:
            raise ArgumentError(f"Iterator: expected batch_size >= 1 (int), got {batch_size!r}.")
        if seed is not None and not is_whole(seed, 0):
            raise ArgumentError(f"Iterator: expected seed >= 0 (int) or None, got {seed!r}.")
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
        """Return the state without the lock, so that an iterator can be sent to another process."""
        return {name: value for name, value in vars(self).items() if name != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.lock = threading.Lock()

    def get_state(self) -> dict[str, int]:
        """Return the current pass and the position in it, to resume a run from a backup."""
        counts = {"batch_index": self.batch_index, "total_batches_seen": self.total_batches_seen}
        return {"seed": self._seed, "pass_number": self.pass_number, **counts}

    def set_state(self, state: dict[str, int]) -> None:
        """Continue at a position that `get_state` returned."""
        self._seed, self.pass_number = state["seed"], state["pass_number"]
        self.batch_index = state["batch_index"]
        self.total_batches_seen = state["total_batches_seen"]

    # --- as a Sequence ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return -(-self.n // self.batch_size)

    def __getitem__(self, index: int) -> Any:
        """Return batch number `index` of the current pass."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"Iterator: expected a batch < {len(self)}, got {index}.")
        start = index % len(self) * self.batch_size
        places = self._order()[start : start + self.batch_size]
        return self._get_batches_of_transformed_samples(places)

    def on_epoch_end(self) -> None:
        """Start the next pass."""
        self.pass_number += 1

    def _order(self) -> np.ndarray:
        """Return the indices of the samples in the order of the current pass."""
        if self._known_order is None or self._known_order[0] != self.pass_number:
            order = np.arange(self.n)
            if self.shuffle:
                order = np.random.default_rng([self._seed, self.pass_number]).permutation(order)
            self._known_order = (self.pass_number, order)
        return self._known_order[1]

    def sample_seed(self, place: int) -> int:
        """Return the seed for the random changes of one sample in the current pass."""
        sequence = np.random.SeedSequence([self._seed, self.pass_number, int(place)])
        return int(sequence.generate_state(1)[0])

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """Return the batch of samples with these indices. A subclass must define this method."""
        raise NotImplementedError(f"{type(self).__name__} must define how to make batches.")

    # --- as an endless iterator -------------------------------------------------------------------

    def __iter__(self) -> PlainIterator[Any]:
        return self

    def __next__(self) -> Any:
        with self.lock:  # several threads may call it
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
        """Restart the current pass at its first batch."""
        self.batch_index = 0


class ImageIterator(Iterator):
    """Base class of iterators over images, which are changed at random and can be saved.

    A subclass defines `_load(place)`, which returns the image number `place` as an array.

    Examples
    --------
    `flow` returns an iterator of this kind. It changes copies of the images, batch by batch:

    >>> import numpy as np
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> images = np.ones((3, 8, 8, 1))
    >>> batches = ImageDataGenerator(rescale=0.5).flow(images, batch_size=2)
    >>> [float(batch.max()) for batch in (next(batches), next(batches), images)]
    [0.5, 0.5, 1.0]
    """

    def __init__(
        self,
        n: int,
        image_data_generator: ImageChanges,
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
        raise NotImplementedError(f"{type(self).__name__} must define _load(place).")

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
    """Raise ArgumentError if the name of a subset is unknown."""
    if subset not in SUBSETS:
        raise ArgumentError(f"subset: expected 'training', 'validation' or None, got {subset!r}.")


# --- images in an array ---------------------------------------------------------------------------


class NumpyArrayIterator(ImageIterator):
    """Batches of the images in one array. `ImageDataGenerator.flow` returns it.

    Parameters
    ----------
    x : array_like, 4 axes, or tuple (images, list of arrays)
        The images. The other arrays are batched unchanged.
    y : array_like or None
        Targets.
    image_data_generator : ImageDataGenerator
        The object that changes the images.
    batch_size, shuffle, seed
        See `Iterator`.
    sample_weight : array_like, optional
        Weights of the samples.
    data_format : {"channels_last", "channels_first"}, optional
        Position of the channel axis.
    save_to_dir, save_prefix, save_format
        The folder into which each image of a batch is written, the beginning of the file names, and
        the format of the files.
    subset : {"training", "validation"}, optional
        The part of the data, if the generator has a `validation_split`.
    dtype : dtype, optional
        Dtype of the batches; default `config.floatx`.

    Raises
    ------
    DataError
        The arrays have different lengths, or the images do not have 3 axes.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> images, targets = np.ones((5, 8, 8, 1)), np.arange(5)
    >>> batches = NumpyArrayIterator(images, targets, ImageDataGenerator(), batch_size=2)
    >>> [(x.shape, y.tolist()) for x, y in (batches[0], batches[2])]
    [((2, 8, 8, 1), [0, 1]), ((1, 8, 8, 1), [4])]
    """

    def __init__(
        self,
        x: Any,
        y: ArrayLike | None,
        image_data_generator: ImageChanges,
        batch_size: int = 32,
        shuffle: bool = False,
        sample_weight: ArrayLike | None = None,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        dtype: DTypeLike | None = None,
    ) -> None:
        shared = by_name(locals(), "x", "y", "sample_weight")
        check_subset(subset)
        images, others = _images_and_others(x)
        part = _subset_slice(len(images), subset, image_data_generator)
        self.x = images[part]
        self.x_misc = [_checked_length(array, "x", len(images))[part] for array in others]
        self.y = None if y is None else _checked_length(y, "y", len(images))[part]
        self.sample_weight = (
            None
            if sample_weight is None
            else _checked_length(sample_weight, "sample_weight", len(images))[part]
        )
        super().__init__(len(self.x), **shared)
        warn_of_channels(self.x.shape, self.data_format, "NumpyArrayIterator")

    def _load(self, place: int) -> np.ndarray:
        return self.x[place]

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """Return the images of a batch, with the targets and sample weights if they were given."""
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
            "NumpyArrayIterator: expected 4 axes (samples, rows, columns, channels), got shape "
            f"{images.shape}. For gray images add the last one: x[..., np.newaxis]."
        )
    return images, others


def _checked_length(array: ArrayLike, name: str, length: int) -> np.ndarray:
    values = np.asarray(array)
    if len(values) != length:
        raise DataError(f"NumpyArrayIterator: expected {length} rows in {name}, got {len(values)}.")
    return values


def _subset_slice(length: int, subset: str | None, generator: ImageChanges) -> slice:
    """Return the slice of the samples in a subset. The first samples are for validation."""
    if subset is None:
        return slice(None)
    split = int(length * generator.validation_split)
    return slice(None, split) if subset == "validation" else slice(split, None)


def warn_of_channels(shape: tuple[int, ...], data_format: str, where: str) -> None:
    """Warn if images do not have 1, 3 or 4 channels, because their data format may be wrong."""
    channels = shape[1 if data_format == "channels_first" else 3]
    if channels not in (1, 3, 4):
        warn(
            f"{where}: expected images with 1, 3 or 4 channels, got {channels} in shape "
            f"{shape[1:]} ({data_format}). Is it the other data_format?"
        )


def make_folder_for_pictures(folder: str | os.PathLike[str] | None) -> None:
    """Create the folder for saved images, unless `folder` is None or empty."""
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)


# --- images in files ------------------------------------------------------------------------------
# The files are in a folder for each class, or listed in a table.

CLASS_MODES = ("categorical", "binary", "sparse", "input", None)
_OF_FILES = ("target_size", "color_mode", "classes", "class_mode", "interpolation")


class FileIterator(ImageIterator):
    """Base class of iterators over image files.

    Attributes
    ----------
    filenames : list of str
        Paths relative to `directory`.
    classes : ndarray
        Class number of each file.
    class_indices : dict of str to int
        The number of each class.
    num_classes, samples : int
        Number of classes, and number of files.
    image_shape : tuple of int
        The shape of one image.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> with TemporaryDirectory() as folder:
    ...     for name in ("1.png", "2.png"):
    ...         Path(folder, name).touch()
    ...     flow = ImageDataGenerator().flow_from_dataframe
    ...     batches = flow({"filename": ["2.png", "3.png", "1.png"]}, folder, class_mode=None)
    Found 2 images belonging to 0 classes.
    >>> batches.filenames, batches.image_shape  # there is no 3.png
    (['2.png', '1.png'], (256, 256, 3))
    """

    filenames: list[str]
    classes: Any

    def _prepare(
        self,
        directory: str | os.PathLike[str],
        target_size: tuple[int, int],
        color_mode: str,
        class_mode: str | None,
        interpolation: str,
    ) -> None:
        """Check and store the settings for reading files."""
        _, channels = checked_color_mode(color_mode, type(self).__name__)
        known = (*CLASS_MODES, "other") if isinstance(self, DataFrameIterator) else CLASS_MODES
        if class_mode not in known:
            words = [str(mode) for mode in known]
            raise ArgumentError(
                f"{type(self).__name__}: unknown class_mode {class_mode!r}. "
                f"{did_you_mean(str(class_mode), words)}Use one of: {', '.join(words)}."
            )
        if not os.path.isdir(directory):
            raise UnavailableError(f"{type(self).__name__}: no folder {os.fspath(directory)!r}.")
        self.directory = directory
        where = f"{type(self).__name__}: target_size (height, width)"
        height, width = sizes_along_axes(target_size, 2, where)
        self.target_size = (height, width)
        self.color_mode = color_mode
        self.class_mode = class_mode
        self.interpolation = interpolation
        self._channels = channels

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Shape of one image."""
        if self.data_format == "channels_first":
            return (self._channels, *self.target_size)
        return (*self.target_size, self._channels)

    @property
    def samples(self) -> int:
        """Number of files."""
        return len(self.filenames)

    def _load(self, place: int) -> np.ndarray:
        path = os.path.join(self.directory, self.filenames[place])
        image = load_img(
            path,
            color_mode=self.color_mode,
            target_size=self.target_size,
            interpolation=self.interpolation,
        )
        return img_to_array(image, data_format=self.data_format, dtype=self.dtype)

    def _get_batches_of_transformed_samples(self, index_array: np.ndarray) -> Any:
        """Return the images of a batch, with their targets unless `class_mode` is None."""
        images = self._images(index_array)
        if self.class_mode is None:
            return images
        return images, self._targets(index_array, images)

    def _targets(self, index_array: np.ndarray, images: np.ndarray) -> np.ndarray:
        if self.class_mode == "input":
            return images.copy()
        chosen = self.classes[index_array]
        if self.class_mode == "categorical":
            return to_categorical(chosen, self.num_classes, self.dtype)
        return chosen.astype(self.dtype) if self.class_mode == "binary" else chosen

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_indices)

    class_indices: dict[str, int]

    def _show_counts(self) -> None:
        show("message", f"Found {self.samples} images belonging to {self.num_classes} classes.")


class DirectoryIterator(FileIterator):
    """Batches of images from a folder that contains a folder for each class.

    `ImageDataGenerator.flow_from_directory` returns it and documents the arguments.

    Raises
    ------
    UnavailableError
        The folder does not exist.
    ArgumentError
        The mode or the subset is unknown.

    Warns
    -----
    KerascopeWarning
        One of `classes` has no folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> with TemporaryDirectory() as folder:
    ...     for path in (Path(folder, "cat", "1.png"), Path(folder, "dog", "2.png")):
    ...         path.parent.mkdir()
    ...         path.touch()
    ...     batches = DirectoryIterator(folder, ImageDataGenerator())
    Found 2 images belonging to 2 classes.
    >>> batches.class_indices, batches.classes.tolist()
    ({'cat': 0, 'dog': 1}, [0, 1])
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        image_data_generator: ImageChanges,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: list[str] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        follow_links: bool = False,
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
    ) -> None:
        shared = by_name(locals(), "directory", "follow_links", *_OF_FILES)
        check_subset(subset)
        self._prepare(directory, target_size, color_mode, class_mode, interpolation)
        names = sorted(folder.name for folder in Path(directory).iterdir() if folder.is_dir())
        chosen = list(classes) if classes else names
        _warn_of_missing(chosen, names, directory)
        self.class_indices = {name: number for number, name in enumerate(chosen)}
        self.filenames, numbers = [], []
        for name, number in self.class_indices.items():
            files = _files_below(Path(directory), name, follow_links)
            part = files[_subset_slice(len(files), subset, image_data_generator)]
            self.filenames += part
            numbers += [number] * len(part)
        self.classes = np.array(numbers, dtype="int32")
        self._show_counts()
        super().__init__(self.samples, **shared)


def _warn_of_missing(
    classes: list[str], names: list[str], directory: str | os.PathLike[str]
) -> None:
    missing = [name for name in classes if name not in names]
    if missing:
        warn(
            f"DirectoryIterator: no folder {missing[0]!r} in {os.fspath(directory)!r}, so the "
            f"class has no images. {did_you_mean(str(missing[0]), names)}".rstrip()
        )


def _files_below(directory: Path, class_name: str, follow_links: bool) -> list[str]:
    """Return the sorted paths of a class's image files, relative to the directory."""
    found = []
    for folder, _, names in os.walk(directory / class_name, followlinks=follow_links):
        paths = [Path(folder, name) for name in names]
        images = [path for path in paths if path.suffix.lower().lstrip(".") in EXTENSIONS]
        found += [str(path.relative_to(directory)) for path in images]
    return sorted(found)


class DataFrameIterator(FileIterator):
    """Batches of images from files listed in a table, with targets from its columns.

    `ImageDataGenerator.flow_from_dataframe` returns it and documents the arguments. The table
    may be a pandas DataFrame, or a dict of lists.

    Raises
    ------
    DataError
        A column is missing, or no file of the table is in the folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kerascope.preprocessing.image import ImageDataGenerator
    >>> table = {"filename": ["1.png", "2.png", "3.png"], "class": ["dog", "cat", "dog"]}
    >>> with TemporaryDirectory() as folder:
    ...     for name in table["filename"]:
    ...         Path(folder, name).touch()
    ...     batches = DataFrameIterator(table, folder, ImageDataGenerator())
    Found 3 images belonging to 2 classes.
    >>> batches.class_indices, batches.classes.tolist()
    ({'cat': 0, 'dog': 1}, [1, 0, 1])
    """

    def __init__(
        self,
        dataframe: Any,
        directory: str | os.PathLike[str],
        image_data_generator: ImageChanges,
        x_col: str = "filename",
        y_col: str | list[str] = "class",
        has_ext: bool = True,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: list[Any] | None = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        data_format: str | None = None,
        save_to_dir: str | os.PathLike[str] | None = None,
        save_prefix: str = "",
        save_format: str = "png",
        subset: str | None = None,
        interpolation: str = "nearest",
        dtype: DTypeLike | None = None,
    ) -> None:
        shared = by_name(
            locals(), "dataframe", "directory", "x_col", "y_col", "has_ext", *_OF_FILES
        )
        check_subset(subset)
        self._prepare(directory, target_size, color_mode, class_mode, interpolation)
        rows = _rows_with_files(_column(dataframe, x_col), Path(directory), has_ext, save_format)
        targets = None
        if class_mode not in ("input", None):
            targets = self._columns(dataframe, y_col)
            rows = self._rows_of_classes(rows, targets, classes)
        rows = rows[_subset_slice(len(rows), subset, image_data_generator)]
        self.filenames = [name for _, name in rows]
        self._number_classes(rows, targets)
        self._show_counts()
        super().__init__(self.samples, **shared)

    def _columns(self, dataframe: Any, y_col: str | list[str]) -> Any:
        """Return the rows' targets: an array in class mode "other", otherwise a list of classes."""
        if self.class_mode == "other" and isinstance(y_col, (list, tuple)):
            return np.stack([np.asarray(_column(dataframe, name)) for name in y_col], axis=-1)
        targets = np.asarray(_column(dataframe, y_col))
        return targets if self.class_mode == "other" else targets.tolist()

    def _rows_of_classes(
        self, rows: list[tuple[int, str]], targets: Any, classes: list[Any] | None
    ) -> list[tuple[int, str]]:
        """Set `class_indices`, and return the rows whose target is one of `classes`."""
        if self.class_mode == "other":
            self.class_indices = {}
            return rows
        known = list(classes) if classes else sorted({targets[row] for row, _ in rows})
        self.class_indices = {name: number for number, name in enumerate(known)}
        return [(row, name) for row, name in rows if targets[row] in self.class_indices]

    def _number_classes(self, rows: list[tuple[int, str]], targets: Any) -> None:
        if targets is None:
            self.class_indices = {}
            self.classes = np.zeros(len(rows), "int32")
        elif self.class_mode == "other":
            self.classes = targets[[row for row, _ in rows]]
        else:
            numbers = [self.class_indices[targets[row]] for row, _ in rows]
            self.classes = np.array(numbers, dtype="int32")


def _column(dataframe: Any, name: Any) -> list[Any]:
    try:
        return list(dataframe[name])
    except KeyError:
        known = [str(column) for column in dataframe]
        raise DataError(
            f"flow_from_dataframe: the table has no column {name!r}. "
            f"{did_you_mean(str(name), known)}Use one of: {', '.join(known)}."
        ) from None


def _rows_with_files(
    names: list[Any], directory: Path, has_ext: bool, save_format: str
) -> list[tuple[int, str]]:
    """Return (row, file name) for each row whose file exists in the folder."""
    endings = [""] if has_ext else [f".{ending}" for ending in (save_format, *EXTENSIONS)]
    rows = []
    for row, name in enumerate(names):
        paths = [f"{name}{ending}" for ending in endings]
        found = next((path for path in paths if (directory / path).is_file()), None)
        if found is not None:
            rows.append((row, found))
    if not rows:
        raise DataError(
            f"flow_from_dataframe: no file of the table is in {str(directory)!r}, such as "
            f"{names[0] if names else 'cat.png'!r}. Check directory, x_col and has_ext."
        )
    return rows
