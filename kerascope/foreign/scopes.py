"""Frames for graphs whose calls only name the scopes that contain them.

JAX and ONNX name the enclosing modules of each equation or node, but not where a module begins and
ends. So a frame is opened at its first call, and closed before the first call outside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from types import TracebackType

from kerascope.foreign.writer import TapeWriter


class Scopes:
    """Opens and closes frames during a walk through a graph, from the scopes of each call.

    Parameters
    ----------
    writer : TapeWriter
    classes : mapping of str to str, optional
        Class of each frame by its name. The default is "scope".

    Examples
    --------
    >>> writer = TapeWriter("none")
    >>> with Scopes(writer) as scopes:
    ...     for name, around in (("a.x", ["a"]), ("a.b.y", ["a", "a.b"]), ("z", [])):
    ...         scopes.move(around)
    ...         _ = writer.call(name, [], [], op="op")
    >>> [(call.id, call.frame) for call in writer.calls]
    [('a.x', 'a'), ('a.b.y', 'a.b'), ('z', '')]
    """

    def __init__(self, writer: TapeWriter, classes: Mapping[str, str] | None = None) -> None:
        self.writer = writer
        self.classes = classes or {}
        self.opened: list[tuple[str, ExitStack]] = []

    def __enter__(self) -> Scopes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self.opened:
            self.opened.pop()[1].__exit__(kind, error, traceback)

    def move(self, scopes: Sequence[str]) -> None:
        """Close the open frames that do not contain the next call, and open the others around it.

        Parameters
        ----------
        scopes : sequence of str
            Names of the frames around the call, the outermost first.
        """
        pairs = zip(self.opened, scopes, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], pairs))
        while len(self.opened) > shared:
            self.opened.pop()[1].close()
        for name in scopes[shared:]:
            frame = ExitStack()
            frame.enter_context(self.writer.span("node", name, op=self.classes.get(name, "scope")))
            self.opened.append((name, frame))
