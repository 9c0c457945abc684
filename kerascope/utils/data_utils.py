"""Sources of data: files that are downloaded once and checked, and sequences of batches.

The loaders of `kerascope.datasets` call `get_file`. `fit_generator` and similar methods accept a
`Sequence`.
Keras calls this file `keras.utils.data_utils`.
"""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Any

from kerascope.display import show
from kerascope.engine.workers import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    SequenceEnqueuer,
    get_index,
    init_pool,
    init_pool_generator,
    next_sample,
)
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.files import cache_folder, replacing

__all__ = [
    "GeneratorEnqueuer",
    "OrderedEnqueuer",
    "PyDataset",
    "Sequence",
    "SequenceEnqueuer",
    "cache_folder",
    "get_file",
    "get_index",
    "init_pool",
    "init_pool_generator",
    "next_sample",
    "validate_file",
]


# --- files: download once and check ---------------------------------------------------------------

TIMEOUT_SECONDS = 30
CHUNK_SIZE = 65535
_HEX_LENGTHS = {"md5": 32, "sha256": 64}


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str | Iterable[str] = "auto",
    cache_dir: str | Path | None = None,
) -> str:
    """Return the path of a file in the cache. Download the file if it is missing.

    Parameters
    ----------
    fname : str
        Name of the file in the cache. With `untar`, name of the unpacked folder or file.
    origin : str
        URL of the file.
    untar : bool
        Whether the file is `fname` + ".tar.gz". It is unpacked, and the path of `fname` returned.
    md5_hash : str, optional
        Older spelling of `file_hash`, for MD5.
    file_hash : str, optional
        Checksum that the file must have, in hexadecimal.
    cache_subdir, cache_dir : str, path
        See `cache_folder`.
    hash_algorithm : {"auto", "md5", "sha256"}
        "auto" selects by the length of `file_hash`.
    extract : bool
        Whether to unpack an archive in its folder, at each call, as Keras does.
    archive_format : {"auto", "tar", "zip"} or a list of them
        See `kerascope.utils.data_utils.extract_archive`.

    Returns
    -------
    str
        Path of the file, or with `untar` of the unpacked folder or file.

    Raises
    ------
    UnavailableError
        The file is not in the cache and cannot be downloaded, or its checksum differs.
    DataError
        The archive is broken or, with `untar`, does not contain `fname`.

    Notes
    -----
    A download is written to a temporary file, which is renamed when it is complete and its checksum
    is right. A cached file with a wrong checksum is replaced after a new download.
    """
    folder = cache_folder(cache_subdir, cache_dir)
    target = folder / fname
    if untar and target.exists():
        return str(target)
    path = folder / f"{fname}.tar.gz" if untar else target
    checksum, algorithm = (md5_hash, "md5") if file_hash is None else (file_hash, hash_algorithm)
    if not (path.is_file() and _has_checksum(path, checksum, algorithm)):
        _fetch(origin, path, checksum, algorithm)
    if untar:
        extract_archive(path, folder, archive_format="tar")
        _check_unpacked(target, path)
    elif extract:
        extract_archive(path, folder, archive_format)
    return str(target)


def validate_file(
    fpath: str | Path, file_hash: str, algorithm: str = "auto", chunk_size: int = CHUNK_SIZE
) -> bool:
    """Return whether a file has the given checksum.

    Parameters
    ----------
    fpath : path
        The file.
    file_hash : str
        The checksum in hexadecimal.
    algorithm : {"auto", "md5", "sha256"}
        "auto" selects by the length of `file_hash`.
    chunk_size : int
        Number of bytes to read at a time.

    Returns
    -------
    bool
        True if the checksums are equal.
    """
    name = _algorithm(file_hash, algorithm)
    return _digest(Path(fpath), name, chunk_size) == file_hash.lower()


def _algorithm(file_hash: str, algorithm: str) -> str:
    if algorithm == "auto":
        return "sha256" if len(file_hash) == _HEX_LENGTHS["sha256"] else "md5"
    if algorithm in _HEX_LENGTHS:
        return algorithm
    raise ArgumentError(
        f"validate_file: expected algorithm 'auto', 'md5' or 'sha256', got {algorithm!r}."
    )


def _digest(path: Path, name: str, chunk_size: int = CHUNK_SIZE) -> str:
    hasher = hashlib.new(name, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest()


def _has_checksum(path: Path, checksum: str | None, algorithm: str) -> bool:
    return checksum is None or validate_file(path, checksum, algorithm)


def _check_unpacked(target: Path, path: Path) -> None:
    if not target.exists():
        raise DataError(
            f"get_file: the archive {path} does not contain {target.name}. "
            "Delete it and download it again."
        )


def _fetch(origin: str, path: Path, checksum: str | None, algorithm: str) -> None:
    show("download", f"Downloading {origin} to {path}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unavailable(origin, path, f"its folder cannot be written ({error})") from error
    with replacing(path) as unfinished:
        with _new_file(unfinished, origin, path) as file:
            _download(origin, path, file)
        if not _has_checksum(unfinished, checksum, algorithm):
            problem = f"expected the checksum {checksum}"
            got = _digest(unfinished, _algorithm(checksum or "", algorithm))
            raise _unavailable(origin, path, f"{problem}, got {got}")


def _new_file(unfinished: Path, origin: str, path: Path) -> IO[bytes]:
    try:
        return unfinished.open("wb")
    except OSError as error:
        raise _unavailable(origin, path, f"its folder cannot be written ({error})") from error


def _download(origin: str, path: Path, file: IO[bytes]) -> None:
    # Imported here because the modules of HTTP and TLS would double the time of `import kerascope`.
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(origin, timeout=TIMEOUT_SECONDS) as response:
            while chunk := response.read(CHUNK_SIZE):
                file.write(chunk)
            announced = response.headers.get("Content-Length")
    except (OSError, ValueError, HTTPException) as error:
        raise _unavailable(origin, path, str(error)) from error
    if announced is not None and file.tell() != int(announced):
        problem = f"the download ended early: expected {announced} bytes, got {file.tell()}"
        raise _unavailable(origin, path, problem)


def _unavailable(origin: str, path: Path, problem: str) -> UnavailableError:
    state = "has a wrong checksum" if path.exists() else "is missing"
    return UnavailableError(
        f"get_file: {path} {state} and could not be downloaded: {problem}. Download {origin} in "
        f"another way and save it as {path}. kerascope.datasets.digits needs no network."
    )


# --- unpacking archives that may be malicious -----------------------------------------------------

FORMATS = ("tar", "zip")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError)


def extract_archive(
    file_path: str | Path, folder: str | Path = ".", archive_format: str | Iterable[str] = "auto"
) -> bool:
    """Unpack an archive into a folder. If the archive is broken, nothing is written.

    Parameters
    ----------
    file_path : path
        The archive; tar files may be compressed with gzip, bzip2 or xz.
    folder : path
        The target folder. Files and folders of the same names are replaced.
    archive_format : {"auto", "tar", "zip"} or a list of them
        The formats to try; "auto" tries both.

    Returns
    -------
    bool
        False if the file is not an archive of these formats; nothing is written then.

    Raises
    ------
    DataError
        The archive is broken, or contains a path outside of the folder.

    Notes
    -----
    Links and device files are skipped: data sets do not need them, and a link can point anywhere.
    """
    file_path, folder = Path(file_path), Path(folder)
    for name in _formats(archive_format):
        if name == "tar" and tarfile.is_tarfile(file_path):
            _unpack(file_path, folder, _copy_tar)
            return True
        if name == "zip" and zipfile.is_zipfile(file_path):
            _unpack(file_path, folder, _copy_zip)
            return True
    return False


def _formats(archive_format: str | Iterable[str]) -> list[str]:
    names = [archive_format] if isinstance(archive_format, str) else list(archive_format)
    if names == ["auto"]:
        return list(FORMATS)
    unknown = [name for name in names if name not in FORMATS]
    if unknown:
        raise ArgumentError(
            f"extract_archive: expected archive_format 'auto', 'tar' or 'zip', got {unknown[0]!r}."
        )
    return names


def _unpack(file_path: Path, folder: Path, copy: Callable[[Path, Path], None]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as scratch:
        try:
            copy(file_path, Path(scratch))
        except _BROKEN as error:
            raise DataError(
                f"extract_archive: {file_path} cannot be unpacked ({error}). "
                f"Delete it and download it again."
            ) from error
        for entry in sorted(Path(scratch).iterdir()):
            _replace(entry, folder / entry.name)


def _replace(entry: Path, place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    entry.replace(place)


def _copy_tar(file_path: Path, scratch: Path) -> None:
    with tarfile.open(file_path) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                _write(content, _inside(scratch, member.name, file_path))


def _copy_zip(file_path: Path, scratch: Path) -> None:
    with zipfile.ZipFile(file_path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                with archive.open(member) as content:
                    _write(content, _inside(scratch, member.filename, file_path))


def _inside(scratch: Path, name: str, file_path: Path) -> Path:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name:
        raise DataError(
            f"extract_archive: {file_path} contains a path outside of its folder, {name!r}. "
            f"Do not use this archive."
        )
    return scratch / path


def _write(content: IO[bytes], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(content, target)


# --- sequences of batches -------------------------------------------------------------------------


class Sequence(ABC):
    """A sequence of batches, each made on demand.

    A subclass defines `__getitem__` (batch number -> batch) and `__len__` (number of batches). It
    may define `on_epoch_end`, for example to shuffle. `fit_generator` reads each batch once in an
    epoch. Keras 3 calls the class `PyDataset`.

    Parameters
    ----------
    workers : int
        Number of workers, as in Keras 3. Two or more workers make batches in advance. Arguments of
        `fit` override this number. A subclass need not call this constructor.
    use_multiprocessing : bool
        Whether the workers are processes instead of threads, also if there is only 1. For the
        requirements on a script see `Model.fit_generator`.
    max_queue_size : int
        Number of batches to make in advance.

    Examples
    --------
    >>> import numpy as np
    >>> class Pairs(Sequence):
    ...     def __len__(self):
    ...         return 2
    ...     def __getitem__(self, index):
    ...         return np.full((3, 1), index), np.zeros(3)
    >>> [x.shape for x, y in Pairs()]
    [(3, 1), (3, 1)]
    """

    workers = 1
    use_multiprocessing = False
    max_queue_size = 10

    def __init__(
        self, workers: int = 1, use_multiprocessing: bool = False, max_queue_size: int = 10
    ) -> None:
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self.max_queue_size = max_queue_size

    @abstractmethod
    def __getitem__(self, index: int) -> Any:
        """Return a batch: inputs, (inputs, targets), or (inputs, targets, sample weights)."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of batches."""

    @property
    def num_batches(self) -> int:
        """The number of batches: Keras 3's name for the length of the sequence."""
        return len(self)

    def on_epoch_begin(self) -> None:  # noqa: B027 - an optional hook
        """Prepare an epoch; called before its first batch is read. The base class does nothing."""

    def on_epoch_end(self) -> None:  # noqa: B027 - an optional hook
        """Finish an epoch; called after its last batch. The base class does nothing."""

    def __iter__(self) -> Iterator[Any]:
        """Yield each batch once, in order."""
        return (self[index] for index in range(len(self)))


PyDataset = Sequence
