"""What differs between two runs, in words."""

from __future__ import annotations

from typing import Any


def difference(name: str, there: Any, here: Any) -> str:
    """Say in words what differs between a fact of the backup and the same fact of this run."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in here:
            if there.get(key) != here[key]:
                return difference(f"{name}: {key}", there.get(key), here[key])
    if isinstance(there, list) and isinstance(here, list):
        for number, (first, second) in enumerate(zip(there, here, strict=False)):
            if first != second:
                return difference(f"{name}[{number}]", first, second)
        return f"{name}: {len(there)} there, {len(here)} here"
    return f"{name}: {shortened(there)} there, {shortened(here)} here"


def shortened(value: Any) -> str:
    """Return a value in at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
