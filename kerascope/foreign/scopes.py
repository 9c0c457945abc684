"""Frames for calls that only say in which scopes they were made.

JAX and ONNX tell of each equation or node to which modules it belongs, and not when these begin and
end: so a frame is opened with the first call that lies in it, and closed before the first that does
not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from itertools import takewhile
from types import TracebackType

from kerascope.foreign.writer import TapeWriter


class Scopes:
    """The frames around the next call, while a graph is walked.

    Parameters
    ----------
    writer : TapeWriter
    classes : mapping of str to str, optional
        What the frames are of, by their names; "scope" if nothing is said.

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
        """Close the frames around which the next call does not lie, and open those that it needs.

        Parameters
        ----------
        scopes : sequence of str
            Names of the frames around it, from outside.
        """
        pairs = zip(self.opened, scopes, strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0][0] == pair[1], pairs))
        while len(self.opened) > shared:
            self.opened.pop()[1].close()
        for name in scopes[shared:]:
            frame = ExitStack()
            frame.enter_context(self.writer.span("node", name, op=self.classes.get(name, "scope")))
            self.opened.append((name, frame))
