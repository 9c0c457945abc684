"""Batches of images that lie in files: in a folder for each class, or listed in a table."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from kerascope.backend.ops.windows import sizes_along_axes
from kerascope.callers import warn
from kerascope.edge import show
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.preprocessing.image_files import (
    EXTENSIONS,
    checked_color_mode,
    img_to_array,
    load_img,
)
from kerascope.preprocessing.image_iterators import ImageIterator, check_subset
from kerascope.registry import did_you_mean
from kerascope.utils.np_utils import to_categorical

if TYPE_CHECKING:
    from kerascope.preprocessing.image_generator import ImageDataGenerator

CLASS_MODES = ("categorical", "binary", "sparse", "input", None)


class FileIterator(ImageIterator):
    """What iterators over image files share.

    Attributes
    ----------
    filenames : list of str
        Below `directory`.
    classes : ndarray
        Number of each file's class.
    class_indices : dict of str to int
    num_classes, samples : int
    image_shape : tuple of int
    """

    filenames: list[str]
    classes: Any

    def _prepare(
        self, directory: Any, target_size: Any, color_mode: str, class_mode: Any, interpolation: str
    ) -> None:
        """Set what tells how a file becomes an array."""
        _, channels = checked_color_mode(color_mode, type(self).__name__)
        known = (*CLASS_MODES, "other") if isinstance(self, DataFrameIterator) else CLASS_MODES
        if class_mode not in known:
            words = [str(mode) for mode in known]
            raise ArgumentError(
                f"{type(self).__name__}: class_mode is {class_mode!r}; expected one of "
                f"{', '.join(words)}. {did_you_mean(str(class_mode), words)}"
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
        """Return images, or (images, targets)."""
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

    def _tell(self) -> None:
        show("message", f"Found {self.samples} images belonging to {self.num_classes} classes.")


class DirectoryIterator(FileIterator):
    """Batches of images from a folder that has a folder for each class.

    `ImageDataGenerator.flow_from_directory` makes it, and says what the arguments are.

    Raises
    ------
    UnavailableError
        There is no such folder.
    ArgumentError
        There is no such mode or subset.

    Warns
    -----
    KerascopeWarning
        One of `classes` has no folder.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        image_data_generator: ImageDataGenerator,
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
        check_subset(subset)
        self._prepare(directory, target_size, color_mode, class_mode, interpolation)
        names = sorted(folder.name for folder in Path(directory).iterdir() if folder.is_dir())
        chosen = list(classes) if classes else names
        _warn_of_missing(chosen, names, directory)
        self.class_indices = {name: number for number, name in enumerate(chosen)}
        self.filenames, numbers = [], []
        for name, number in self.class_indices.items():
            files = _files_below(Path(directory), name, follow_links)
            part = _part_of(files, subset, image_data_generator.validation_split)
            self.filenames += part
            numbers += [number] * len(part)
        self.classes = np.array(numbers, dtype="int32")
        self._tell()
        super().__init__(
            self.samples,
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


def _warn_of_missing(classes: list[str], names: list[str], directory: Any) -> None:
    missing = [name for name in classes if name not in names]
    if missing:
        warn(
            f"DirectoryIterator: no folder {missing[0]!r} in {os.fspath(directory)!r}, so that "
            f"class has no images. {did_you_mean(str(missing[0]), names)}".rstrip()
        )


def _files_below(directory: Path, class_name: str, follow_links: bool) -> list[str]:
    """Return the image files of a class, relative to the directory, sorted."""
    found = []
    for folder, _, names in os.walk(directory / class_name, followlinks=follow_links):
        paths = [Path(folder, name) for name in names]
        images = [path for path in paths if path.suffix.lower().lstrip(".") in EXTENSIONS]
        found += [str(path.relative_to(directory)) for path in images]
    return sorted(found)


def _part_of(files: list[Any], subset: str | None, validation_split: float) -> list[Any]:
    """Return the files of a subset: validation has the first ones."""
    if subset is None:
        return files
    split = int(len(files) * validation_split)
    return files[:split] if subset == "validation" else files[split:]


class DataFrameIterator(FileIterator):
    """Batches of images whose names and targets stand in a table.

    `ImageDataGenerator.flow_from_dataframe` makes it, and says what the arguments are. The table
    may be a pandas DataFrame, or a dict of lists.

    Raises
    ------
    DataError
        A column is missing, or no file of the table is in the folder.
    """

    def __init__(
        self,
        dataframe: Any,
        directory: str | os.PathLike[str],
        image_data_generator: ImageDataGenerator,
        x_col: str = "filename",
        y_col: Any = "class",
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
        check_subset(subset)
        self._prepare(directory, target_size, color_mode, class_mode, interpolation)
        rows = _rows_with_files(_column(dataframe, x_col), Path(directory), has_ext, save_format)
        targets = None
        if class_mode not in ("input", None):
            targets = self._columns(dataframe, y_col)
            rows = self._rows_of_classes(rows, targets, classes)
        rows = _part_of(rows, subset, image_data_generator.validation_split)
        self.filenames = [name for _, name in rows]
        self._number_classes(rows, targets)
        self._tell()
        super().__init__(
            self.samples,
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

    def _columns(self, dataframe: Any, y_col: Any) -> Any:
        """Return the targets: numbers as an array, or the name of each row's class."""
        if self.class_mode == "other" and isinstance(y_col, (list, tuple)):
            return np.stack([np.asarray(_column(dataframe, name)) for name in y_col], axis=-1)
        targets = np.asarray(_column(dataframe, y_col))
        return targets if self.class_mode == "other" else targets.tolist()

    def _rows_of_classes(
        self, rows: list[tuple[int, str]], targets: Any, classes: list[Any] | None
    ) -> list[tuple[int, str]]:
        """Return the rows that have one of the classes; number the classes."""
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
            f"flow_from_dataframe: the table has no column {name!r}; expected one of "
            f"{', '.join(known)}. {did_you_mean(str(name), known)}"
        ) from None


def _rows_with_files(
    names: list[Any], directory: Path, has_ext: bool, save_format: str
) -> list[tuple[int, str]]:
    """Return (row, file name) for each row whose file is in the folder."""
    endings = [""] if has_ext else [f".{ending}" for ending in (save_format, *EXTENSIONS)]
    rows = []
    for row, name in enumerate(names):
        paths = [f"{name}{ending}" for ending in endings]
        found = next((path for path in paths if (directory / path).is_file()), None)
        if found is not None:
            rows.append((row, found))
    if not rows:
        raise DataError(
            f"flow_from_dataframe: no file of the table is in {str(directory)!r}; expected names "
            f"like {names[0] if names else 'cat.png'!r}. Look at directory, x_col and has_ext."
        )
    return rows
