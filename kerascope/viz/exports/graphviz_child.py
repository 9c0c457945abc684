"""A child process for Graphviz: it reads DOT text and writes a picture.

`graphviz.py` starts it for large graphs, for which dot may run for minutes or abort its process.
It imports nothing from this package, so it starts quickly.
"""

from __future__ import annotations

import sys
from typing import Any


def main(program: str, format: str) -> None:
    """Read DOT text from standard input and write its picture to standard output."""
    picture = draw(sys.stdin.buffer.read().decode("utf-8"), program, format)
    sys.stdout.buffer.write(picture)
    sys.stdout.buffer.flush()


def draw(source: str, program: str, format: str) -> bytes:
    """Return the picture of DOT text, drawn by the libraries in the pygraphviz wheel.

    Raises
    ------
    ImportError
        pygraphviz is not installed.
    """
    import pygraphviz

    graph: Any = pygraphviz.AGraph(string=source)
    try:
        return graph.draw(prog=program, format=format)
    finally:
        graph.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
