"""Unpack a tar or zip archive without trusting it. `get_file(extract=True)` calls it."""

from __future__ import annotations

import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import IO

from kerascope.errors import ArgumentError, DataError

FORMATS = ("tar", "zip")
_BROKEN = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, OSError)


def extract_archive(
    file_path: str | Path, folder: str | Path = ".", archive_format: str | Iterable[str] = "auto"
) -> bool:
    """Unpack an archive into a folder; all of it, or nothing.

    Parameters
    ----------
    file_path : path
        The archive; tar files may be packed with gzip, bzip2 or xz.
    folder : path
        Where its files go. Files and folders of the same names are replaced.
    archive_format : {"auto", "tar", "zip"} or a list of them
        What to try; "auto" tries both.

    Returns
    -------
    bool
        False if the file is no archive of such a format; then nothing was done.

    Raises
    ------
    DataError
        If the archive is broken, or holds a path that leads out of the folder.

    Notes
    -----
    Links and device files are left out: data sets need none, and they could point anywhere.
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
            f"extract_archive: unknown archive_format; expected 'auto', 'tar' or 'zip', "
            f"got {unknown[0]!r}."
        )
    return names


def _unpack(file_path: Path, folder: Path, copy: Callable[[Path, Path], None]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".unpacking-") as scratch:
        try:
            copy(file_path, Path(scratch))
        except _BROKEN as error:
            raise DataError(
                f"extract_archive: {file_path} cannot be unpacked; expected a whole archive, "
                f"got: {error}. Delete it and fetch it again."
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
            f"extract_archive: {file_path} holds a path that leads out of its folder; expected a "
            f"relative path, got {name!r}. Do not use this archive."
        )
    return scratch / path


def _write(content: IO[bytes], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(content, target)
