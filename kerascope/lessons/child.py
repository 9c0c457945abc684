"""Run the blocks of one chapter, in a separate process and folder.

`runner.py` starts the process as `python -m kerascope.lessons.child RESULT` and writes the blocks
to its standard input. All Python blocks of a chapter share one namespace, like one program.
Each debugger session is a separate process, forked from this one if the system can fork.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import hashlib
import io
import json
import linecache
import os
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

# Modules that every session imports are imported here, once for all forked sessions.
import kerascope.cli.debugging
import kerascope.layers
import kerascope.models  # noqa: F401
from kerascope import errors
from kerascope.lessons.lesson import SESSIONS, lines_of, lines_with_ends
from kerascope.lessons.sessions import Start, run_session, seed_process, start_server, start_session

OUT = "out"  # folder for the pictures


class _BlockFailed(Exception):
    """Raised when a block does not do what its kind requires, such as `raises ValueError`."""


def main() -> None:
    """Read blocks from standard input, run them until one fails, and write their results."""
    result_path = Path(sys.argv[1])
    blocks = json.loads(sys.stdin.read())
    has_sessions = any(block["kind"] in SESSIONS for block in blocks)
    server = start_server() if has_sessions else None
    sys.stdin = io.StringIO()
    sys.argv = [""]
    module = ModuleType("__main__")
    sys.modules["__main__"] = module
    seed_process()
    results: list[dict[str, Any]] = []
    for block in blocks:
        results.append(run_block(block, module.__dict__, server or start_session))
        unfinished = result_path.with_suffix(".part")
        unfinished.write_text(json.dumps(results), encoding="utf-8")
        os.replace(unfinished, result_path)
        if results[-1]["error"]:
            break
    if server is not None:
        server.close()


def run_block(
    block: dict[str, Any], namespace: dict[str, Any], start: Start = start_session
) -> dict[str, Any]:
    """Run a block; return its output, its error (or "") and the files that it wrote."""
    before = _files()
    error = ""
    with redirect_stdout(io.StringIO()) as printed:
        try:
            if block["kind"] in SESSIONS:
                _run_session_block(block, start)
            else:
                _RUNS[block["kind"]](block, namespace)
        except _BlockFailed as refused:
            error = str(refused)
        except (Exception, SystemExit) as failure:
            error = _block_traceback(failure, f"{block['id']}.py")
    after = _files()
    files = sorted(name for name, content in after.items() if before.get(name) != content)
    return {"id": block["id"], "printed": printed.getvalue(), "error": error, "files": files}


def console(code: str) -> None:
    """Run a doctest in the main module of a notebook, and print it with its new outputs.

    Raises
    ------
    ArgumentError
        An example raised an error that its stored output does not show.
    """
    block = {"kind": "pycon", "id": "console", "words": (), "code": code}
    shows, sys.displayhook = sys.displayhook, sys.__displayhook__  # a notebook shows values itself
    try:
        result = run_block(block, vars(sys.modules["__main__"]))
    finally:
        sys.displayhook = shows
    print(result["printed"], end="")
    if result["error"]:
        raise errors.ArgumentError(result["error"])


def _files() -> dict[str, str]:
    """Return a hash of each file in the folder for pictures, by path."""
    return {
        path.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(OUT).rglob("*"))
        if path.is_file()
    }


def _block_traceback(failure: BaseException, file_name: str) -> str:
    """Return a traceback that starts at the block, without the frames that called the block."""
    frames = traceback.extract_tb(failure.__traceback__)
    names = [frame.filename for frame in frames]
    first = names.index(file_name) if file_name in names else max(len(names) - 1, 0)
    lines = [*traceback.format_list(frames[first:]), *traceback.format_exception_only(failure)]
    return "".join(lines).rstrip()


def _run_code(code: str, name: str, namespace: dict[str, Any]) -> None:
    """Run code as a file with this name, so that tracebacks and `inspect` show the code's lines."""
    linecache.cache[name] = (len(code), None, lines_with_ends(code), name)
    exec(compile(ast.parse(code, name), name, "exec"), namespace)


def _run_python(block: dict[str, Any], namespace: dict[str, Any]) -> None:
    _run_code(block["code"], f"{block['id']}.py", namespace)


def _run_raises(block: dict[str, Any], namespace: dict[str, Any]) -> None:
    (name,) = block["words"]
    wanted = _error_class(name, namespace)
    try:
        _run_python(block, namespace)
    except wanted as failure:
        print("".join(traceback.format_exception_only(failure)), end="")
        return
    raise _BlockFailed(f"expected {name}, got no error")


def _error_class(name: str, namespace: dict[str, Any]) -> type[BaseException]:
    for place in (namespace, vars(errors), vars(builtins)):
        found = place.get(name)
        if isinstance(found, type) and issubclass(found, BaseException):
            return found
    raise _BlockFailed(f"the exception {name!r} does not exist")


def _run_pycon(block: dict[str, Any], namespace: dict[str, Any]) -> None:
    """Run a doctest; print its source with the new outputs."""
    pieces = doctest.DocTestParser().parse(block["code"], block["id"])
    if not any(isinstance(piece, doctest.Example) for piece in pieces):
        raise _BlockFailed("expected a line that begins with '>>> '")
    for number, piece in enumerate(pieces):
        if isinstance(piece, doctest.Example):
            _run_example(piece, f"{block['id']}-{number}.py", namespace)
        else:
            print(piece, end="")


def _run_example(example: doctest.Example, name: str, namespace: dict[str, Any]) -> None:
    source = example.source
    linecache.cache[name] = (len(source), None, lines_with_ends(source), name)
    first, *others = lines_of(source)
    print(f">>> {first}", *(f"... {line}".rstrip() for line in others), sep="\n")
    with redirect_stdout(io.StringIO()) as said:
        try:
            exec(compile(source, name, "single"), namespace)
        except Exception as failure:
            if example.exc_msg is None:
                raise
            print("Traceback (most recent call last):\n    ...")
            print("".join(traceback.format_exception_only(failure)), end="")
    lines = lines_of(said.getvalue())
    print("".join(f"{line or '<BLANKLINE>'}\n" for line in lines), end="")


def _run_session_block(block: dict[str, Any], start: Start) -> None:
    transcript = run_session(block["kind"], tuple(block["words"]), block["code"], start)
    print(transcript.text, end="")
    if transcript.problem:
        raise _BlockFailed(transcript.problem)


_RUNS = {"python": _run_python, "raises": _run_raises, "pycon": _run_pycon}

if __name__ == "__main__":
    main()
