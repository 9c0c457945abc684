"""The edge: where the engine's data leaves for a person's eyes.

The engine makes plain data (the rows of a summary, the state of a progress bar) and hands it to
`show`. The rows above register how each kind is drawn: `viz` with rich, a notebook with HTML. Where
nobody registered, plain text is printed. This keeps rich out of the engine and printing out of
everything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_renderers: dict[str, Callable[..., Any]] = {}


def register(kind: str, renderer: Callable[..., Any]) -> None:
    """Let `renderer(data, **options)` draw data of this kind from now on."""
    _renderers[kind] = renderer


def renderer(kind: str, default: Callable[..., Any]) -> Callable[..., Any]:
    """Return what draws data of this kind: the registered renderer, or `default`."""
    return _renderers.get(kind, default)


def show(kind: str, data: Any, default: Callable[..., Any] = print, **options: Any) -> Any:
    """Draw `data` with the renderer of its kind."""
    return renderer(kind, default)(data, **options)
