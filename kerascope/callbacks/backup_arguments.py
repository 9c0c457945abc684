"""What `BackupAndRestore` is given, checked."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError


def check_folder_name(backup_dir: Any) -> str:
    """Return the path of the folder as a text.

    Raises
    ------
    ArgumentError
        It is empty, or a file.
    """
    name = os.fspath(backup_dir) if backup_dir is not None else ""
    if not name:
        raise ArgumentError("BackupAndRestore: backup_dir is empty; expected the path of a folder.")
    if Path(name).is_file():
        raise ArgumentError(
            f"BackupAndRestore: backup_dir {name!r} is a file; expected the path of a folder."
        )
    return str(name)


def checked_frequency(save_freq: Any) -> str | int:
    """Return "epoch" or a number of batches.

    Raises
    ------
    ArgumentError
        It is neither.
    """
    is_whole = isinstance(save_freq, (int, np.integer)) and not isinstance(save_freq, bool)
    if save_freq == "epoch" or (is_whole and save_freq >= 1):
        return save_freq if isinstance(save_freq, str) else int(save_freq)
    raise ArgumentError(
        f"BackupAndRestore: save_freq is {save_freq!r}; expected 'epoch' or a number of batches."
    )
