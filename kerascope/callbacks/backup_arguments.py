"""What `BackupAndRestore` is given, checked."""

from __future__ import annotations

import os
import stat
from typing import Any

import numpy as np

from kerascope.callbacks.backup_differences import shortened
from kerascope.errors import ArgumentError


def check_folder_name(backup_dir: Any) -> str:
    """Return the path of the folder as a text.

    Raises
    ------
    ArgumentError
        It is no path, empty, a file, or no name that a folder can have.
    """
    if backup_dir is None or backup_dir == "":
        raise ArgumentError("BackupAndRestore: backup_dir is empty; expected the path of a folder.")
    name = os.fspath(backup_dir) if isinstance(backup_dir, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise ArgumentError(
            f"BackupAndRestore: backup_dir is {backup_dir!r}, a {type(backup_dir).__name__}; "
            "expected the path of a folder as a text or a Path."
        )
    try:
        is_file = stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        is_file = False
    except (OSError, ValueError) as error:
        if isinstance(error, (NotADirectoryError, PermissionError)):
            return name  # `fit` says it, when it makes the folder
        raise ArgumentError(
            f"BackupAndRestore: backup_dir {shortened(name)} is no name of a folder "
            f"({getattr(error, 'strerror', None) or error}); expected one that can be made."
        ) from error
    if is_file:
        raise ArgumentError(
            f"BackupAndRestore: backup_dir {name!r} is a file; expected the path of a folder."
        )
    return name


def checked_frequency(save_freq: Any) -> str | int:
    """Return "epoch" or a number of batches.

    Raises
    ------
    ArgumentError
        It is neither.
    """
    is_whole = isinstance(save_freq, (int, np.integer)) and not isinstance(save_freq, bool)
    if isinstance(save_freq, str) and save_freq == "epoch":
        return save_freq
    if is_whole and save_freq >= 1:
        return int(save_freq)
    raise ArgumentError(
        f"BackupAndRestore: save_freq is {save_freq!r}; expected 'epoch' or a number of batches."
    )
