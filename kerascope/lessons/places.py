"""Where the course and its examples are; it needs no parser, so that exercises are found quickly.

An installed kerascope carries them inside its package; a checkout has them at its root.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from kerascope.errors import UnavailableError


def package_folder() -> Path:
    """Return the folder of the package kerascope."""
    return Path(str(resources.files("kerascope")))


def tutorials_folder() -> Path:
    """Return the folder that holds the chapters and `glossary.toml`.

    Raises
    ------
    UnavailableError
        It was not installed and this is no checkout.

    Examples
    --------
    >>> (tutorials_folder() / "glossary.toml").is_file()
    True
    """
    return _found("tutorials", package_folder() / "tutorials", "glossary.toml")


def examples_folder() -> Path:
    """Return the folder that holds `example.py`.

    Raises
    ------
    UnavailableError
        It was not installed and this is no checkout.
    """
    return _found("examples", package_folder() / "tutorials" / "examples", "example.py")


def _found(name: str, installed: Path, member: str) -> Path:
    for folder in (installed, package_folder().parent / name):
        if (folder / member).is_file():
            return folder
    raise UnavailableError(
        f"the {name} of kerascope are not here; expected them in {str(installed)!r}. "
        f"Install kerascope from its wheel, or work in a checkout."
    )
