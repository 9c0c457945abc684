"""Archives of files (.keras is a zip), written whole and read with care.

Nothing is ever unpacked onto the disk. Before a member is read, the list of members is looked at:
their names, their sizes as declared, and how much each claims to have been compressed. A member is
then read in pieces, so that one which is longer than it says is noticed in time.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kerascope.errors import ConfigError, KerascopeError
from kerascope.saving.hdf5_files import check_system
from kerascope.saving.limits import FREE_SIZE, GREATEST_RATIO, LARGEST_CONFIG, MOST_MEMBERS

_PIECE = 2**20
_LINK = 0o120000  # the type bits of a symbolic link in a Unix mode
_MADE_ON = (1980, 1, 1, 0, 0, 0)  # the same file for the same model


def write_archive(path: Any, members: Mapping[str, bytes]) -> None:
    """Write a zip file of these members, uncompressed as Keras does.

    Parameters
    ----------
    path : str or Path
    members : dict of str to bytes
    """
    import zipfile  # only a session that saves needs it

    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _MADE_ON), content)


@contextmanager
def reading_archive(path: Any, where: str) -> Iterator[Archive]:
    """Open a zip file for reading, after a look at its list of members.

    Parameters
    ----------
    path : str or Path
    where : str
        What the file is called in an error.

    Raises
    ------
    ConfigError
        It is no zip file, is damaged, or has members that no model has.
    """
    import zipfile

    damaged = (
        zipfile.BadZipFile,
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        ValueError,
    )
    try:
        with zipfile.ZipFile(path) as opened:
            _check_members(opened.infolist(), where)
            yield Archive(opened, where)
    except KerascopeError:
        raise
    except damaged as error:
        check_system(error, where)
        raise ConfigError(f"{where} is no whole .keras file ({error}).") from None


def _check_members(members: list[Any], where: str) -> None:
    names = [member.filename for member in members]
    if len(names) > MOST_MEMBERS:
        raise ConfigError(f"{where}: has {len(names)} members; at most {MOST_MEMBERS}.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"{where}: has two members called {twice!r}.")
    for member in members:
        name = member.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise ConfigError(f"{where}: its member {name!r} leads out of the archive.")
        if (member.external_attr >> 16) & 0o170000 == _LINK:
            raise ConfigError(f"{where}: its member {name!r} is a link to another file.")
        if member.flag_bits & 1:
            raise ConfigError(f"{where}: its member {name!r} is encrypted.")
        size, stored = member.file_size, member.compress_size
        if size > FREE_SIZE and size > GREATEST_RATIO * stored:
            raise ConfigError(
                f"{where}: its member {name!r} would have {size} bytes, out of {stored}; the file "
                f"is damaged or a trap."
            )


class Archive:
    """An open archive whose members have been looked at."""

    def __init__(self, opened: Any, where: str) -> None:
        self._opened = opened
        self._where = where
        self.names: list[str] = opened.namelist()

    def text(self, name: str) -> bytes:
        """Return a member that holds JSON.

        Raises
        ------
        ConfigError
            It is not there, damaged, or too long.
        """
        return self._read(name, LARGEST_CONFIG)

    def file(self, name: str) -> io.BytesIO:
        """Return a member as a file in memory."""
        return io.BytesIO(self._read(name, None))

    def _read(self, name: str, most: int | None) -> bytes:
        if name not in self.names:
            known = ", ".join(self.names[:8]) or "nothing"
            raise ConfigError(f"{self._where}: has no member {name!r}; it holds {known}.")
        size = self._opened.getinfo(name).file_size
        if most is not None and size > most:
            raise ConfigError(f"{self._where}: {name!r} has {size} bytes; at most {most}.")
        pieces: list[bytes] = []
        read = 0
        with self._opened.open(name) as member:
            while piece := member.read(_PIECE):
                read += len(piece)
                if read > size:
                    raise ConfigError(f"{self._where}: {name!r} is longer than it says.")
                pieces.append(piece)
        if read != size:
            raise ConfigError(f"{self._where}: {name!r} is shorter than it says.")
        return b"".join(pieces)
