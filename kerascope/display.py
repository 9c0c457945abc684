"""Displaying the engine's data: summaries, progress bars.

The engine passes plain data (the rows of a summary, the state of a progress bar) to `show`. For
each kind of data, such as "summary", other modules register a function that displays it (a
renderer): `viz` one with rich, notebooks one with HTML. Without a renderer, plain text is printed.
So the engine does not depend on rich.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_renderers: dict[str, Callable[..., Any]] = {}


def register(kind: str, renderer: Callable[..., Any]) -> None:
    """Register `renderer(data, **options)` to display data of a kind, such as "summary"."""
    _renderers[kind] = renderer


def renderer(kind: str, default: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function registered for a kind of data, such as "summary"; otherwise `default`."""
    return _renderers.get(kind, default)


def show(kind: str, data: Any, default: Callable[..., Any] = print, **options: Any) -> Any:
    """Display `data` with the function registered for `kind`; without one, with `default`."""
    return renderer(kind, default)(data, **options)
