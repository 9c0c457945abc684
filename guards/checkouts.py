"""Copy a checkout of this project into a new folder: this one, another one, or a revision."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_COPIED = (".git", ".venv", "out", ".*_cache", ".hypothesis", "__pycache__")


class Mistake(Exception):
    """Raised if a guard cannot do what its arguments say. The message gives the reason."""


def copied(word: str, folder: Path, part: str = "") -> Path:
    """Copy a checkout, or one folder of it, into a new folder and return the folder.

    Parameters
    ----------
    word : str
        A folder with a checkout, or a revision of this checkout's repository.
    folder : Path
        Must not exist yet.
    part : str
        The folder to copy, such as "kerascope" for the package alone.

    Raises
    ------
    Mistake
        The word is neither a folder with a checkout nor a revision.
    """
    if (Path(word) / "kerascope" / "__init__.py").is_file():
        ignore = shutil.ignore_patterns(*NOT_COPIED)
        shutil.copytree(Path(word) / part, folder / part, ignore=ignore)
        return folder
    archive = subprocess.run(
        ["git", "archive", word, *filter(None, [part])], cwd=ROOT, capture_output=True
    )
    if archive.returncode:
        why = archive.stderr.decode(errors="replace").strip()
        raise Mistake(f"{word!r} is neither a folder with kerascope nor a revision: {why}")
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(folder, filter="data")
    return folder
