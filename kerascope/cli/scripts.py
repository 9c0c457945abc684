"""Running a person's script as Python would: `__main__`, its arguments, its folder on the path.

`kerascope run` does that and nothing else, `kerascope trace` prints what happens meanwhile.

A process that the script starts by `multiprocessing` imports the script anew, unless it is a fork.
It shall find our `keras` there too: `child.py` sees to that.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import traceback
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from kerascope.cli.usage import UsageError
from kerascope.files import why_missing
from kerascope.model_files import is_model_file
from kerascope.not_a_model import OF_ONNX

if TYPE_CHECKING:
    from kerascope.trace.records import Record

CHILD = "kerascope.cli.child"
SCRIPT_VARIABLE = "KERASCOPE_SCRIPT"  # tells the child which script it is
_OURS = (str(Path(__file__).resolve().parent), contextlib.__file__, importlib.__file__, "<frozen")
_PACKAGE = Path(__file__).resolve().parents[1]
_MACHINERY = (
    *(str(_PACKAGE / "compat"), str(_PACKAGE / "foreign" / "live.py"), "<frozen importlib"),
)


def checked_file(name: str, expected: str) -> Path:
    """Return the path of a file that a command was given.

    Parameters
    ----------
    name : str
    expected : str
        What it should be: "a Python script".

    Raises
    ------
    UsageError
        There is no such file.
    """
    path = Path(name)
    if not name:
        raise UsageError(f"got an empty name; expected {expected}.")
    missing = why_missing(path, _hint)
    if missing:
        raise UsageError(missing)
    if path.is_dir():
        raise UsageError(f"{name!r} is a folder; expected {expected}.")
    return path


def _hint(path: Path) -> str:
    near = _near(path)
    return f"Did you mean {str(path.with_name(near))!r}?" if near else ""


def _near(path: Path) -> str:
    """Return the name beside a missing file that may have been meant, "" if there is none."""
    from difflib import get_close_matches  # only a mistake needs it

    beside = {one.name for one in path.parent.iterdir()} if path.parent.is_dir() else set()
    if f"{path.name}.py" in beside:
        return f"{path.name}.py"
    alike = sorted(one for one in beside if Path(one).suffix == path.suffix)
    return next(iter(get_close_matches(path.name, alike, n=1, cutoff=0.8)), "")


def checked_script(name: str) -> Path:
    """Return the path of a script.

    Raises
    ------
    UsageError
        There is no such file, or it is no Python script.
    """
    path = checked_file(name, "a Python script")
    if is_model_file(name) or name.lower().endswith(OF_ONNX):
        raise UsageError(
            f"{name!r} is the file of a model, no Python script. Such files are taken by "
            f"kerascope draw, summary, play, show and compare."
        )
    _source(path)
    return path


def path_of_module(name: str) -> Path:
    """Return the file that `python -m` runs for the name of a module; nothing is imported.

    Raises
    ------
    UsageError
        There is none, or a package has no `__main__`.
    """
    is_script = name.endswith(".py") and Path(name).is_file()
    if is_script or not all(part.isidentifier() for part in name.split(".")):
        hint = f" Without -m, {name!r} is a script." if is_script else ""
        raise UsageError(f"-m {name!r}: expected the name of a module, as package.train.{hint}")
    inside = Path(*name.split("."))
    for folder in [Path.cwd(), *map(Path, sys.path)]:
        path = folder / inside
        if path.with_name(f"{path.name}.py").is_file():
            return path.with_name(f"{path.name}.py")
        if (path / "__main__.py").is_file():
            return path / "__main__.py"
        if (path / "__init__.py").is_file():
            raise UsageError(f"-m {name}: it is a package that has no module __main__ to run.")
    where = "in the working folder or on Python's path"
    raise UsageError(f"-m {name}: there is no such module; expected {inside}.py {where}.")


def compiled(path: Path) -> CodeType:
    """Return the code of a script.

    Raises
    ------
    UsageError
        The file is no text at all, or may not be read.
    SyntaxError
        It is no Python, or in an encoding that it does not declare.
    """
    return compile(_source(path), str(path), "exec", dont_inherit=True)


def _source(path: Path) -> bytes:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read ({error.strerror}).") from None
    if b"\0" in source:
        raise UsageError(f"'{path}' is no Python script: it holds binary data.")
    return source


class _ScriptSpec(ModuleSpec):
    """What `multiprocessing` asks for the name of a module that a child shall import.

    The script itself is in no package: `from . import helper` has to fail in it, as in Python,
    instead of finding what lies beside `child.py`.
    """

    parent = ""  # type: ignore[assignment]


class ScriptRun:
    """One run of a script.

    Parameters
    ----------
    path : Path
    arguments : sequence of str
        What the script finds in `sys.argv`.
    package : str or None
        For a module that is run as `python -m` does: the package that it is in, "" for none.
    for_good : bool
        Whether the script stays `__main__` after its end: threads that it left running, and what it
        gave to `atexit`, still need its path and its names.

    Attributes
    ----------
    names : dict
        The script's global variables, as they are at its end.
    code : int
        Exit code: 0, what it gave to `sys.exit`, or 1 after an exception, whose traceback was
        printed.
    error : BaseException or None
        That exception.
    """

    def __init__(
        self,
        path: Path,
        arguments: Sequence[str] = (),
        for_good: bool = False,
        package: str | None = None,
    ) -> None:
        self.path = path
        self.package = package
        self.arguments = list(arguments)
        self.for_good = for_good
        self.module = ModuleType("__main__")
        self.module.__file__ = str(path.absolute())  # as in Python: it outlives os.chdir
        spec = self.module.__spec__ = _ScriptSpec(CHILD, None)
        spec.parent = self.module.__package__ = package or ""
        self.code = 0
        self.error: BaseException | None = None

    @property
    def names(self) -> dict[str, Any]:
        """The script's global variables."""
        return vars(self.module)

    def execute(self) -> None:
        """Run it to its end; whatever it raises is raised."""
        # As in Python a module finds what is in the working directory, a script what is beside it.
        folder = self.path.resolve().parent if self.package is None else Path.cwd()
        with _as_main(self.module, self.path, folder, self.arguments, self.for_good):
            if self.package:
                import_module(self.package)
            exec(compiled(self.path), vars(self.module))

    def run(self) -> int:
        """Run it to its end and return the exit code.

        Raises
        ------
        KeyboardInterrupt, BrokenPipeError
            For the caller: nothing is printed.
        """
        try:
            self.execute()
        except SystemExit as stop:
            self.code = exit_code_of(stop)
        except (UsageError, BrokenPipeError, KeyboardInterrupt):
            raise
        except BaseException as error:
            sys.stdout.flush()
            print_traceback(error, self.path)
            self.code, self.error = 1, error
        return self.code


@contextmanager
def _as_main(
    module: ModuleType, path: Path, folder: Path, arguments: list[str], for_good: bool
) -> Iterator[None]:
    """Let a module be `__main__`, with its own arguments and path; put all back unless for good."""
    argv, search_path, main = sys.argv, sys.path, sys.modules.get("__main__")
    os.environ[SCRIPT_VARIABLE] = str(path.resolve())
    sys.argv = [str(path), *arguments]
    sys.path = [str(folder), *search_path[1:]]
    sys.modules["__main__"] = module
    try:
        yield
    finally:
        if not for_good:
            sys.argv, sys.path = argv, search_path
            os.environ.pop(SCRIPT_VARIABLE, None)
            if main is not None:
                sys.modules["__main__"] = main


def output_aside(is_aside: bool) -> AbstractContextManager[Any]:
    """Return what lets a script print to standard error, if our own output is for a program."""
    return redirect_stdout(sys.stderr) if is_aside else nullcontext()


def exit_code_of(stop: SystemExit) -> int:
    """Return the exit code of what `sys.exit` raised; a text is printed, as Python does."""
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


def print_traceback(error: BaseException, path: Path | None = None) -> None:
    """Print an exception."""
    print(traceback_text(error, path), end="", file=sys.stderr)


def traceback_text(error: BaseException, path: Path | None = None) -> str:
    """Return an exception as Python prints it, from the script's first line on, without our frames.

    Python leaves its own import machinery out of a traceback; we leave out our finder as well.

    Parameters
    ----------
    error : BaseException
    path : Path, optional
        The script; without it, the first file that is no part of a command is that.
    """
    frames: TracebackType | None = error.__traceback__
    while frames is not None and not _is_of(frames.tb_frame.f_code.co_filename, path):
        frames = frames.tb_next
    told = traceback.TracebackException(type(error), error, frames)
    _leave_out_machinery(told)
    return "".join(told.format())


def _is_of(file: str, path: Path | None) -> bool:
    return not file.startswith(_OURS) if path is None else file == str(path)


def _leave_out_machinery(told: traceback.TracebackException) -> None:
    """Leave our finder out of what is told of an exception, and of those that led to it."""
    shown = [frame for frame in told.stack if not frame.filename.startswith(_MACHINERY)]
    told.stack = traceback.StackSummary.from_list(shown)
    for other in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if other is not None:
            _leave_out_machinery(other)


# --- kerascope run --------------------------------------------------------------------------------


LIVE = "kerascope.cli.live"
FOREIGN = "kerascope.foreign"


def run_script(options: Namespace) -> int:
    """Run the script of `kerascope run` and return its exit code."""
    if options.live:
        return int(import_module(LIVE).run_live(options))
    if options.tape is not None:
        raise UsageError("--tape records what a real library does; expected --live with it.")
    return script_of(options).run()


def script_of(options: Namespace) -> ScriptRun:
    """Return the run of a script, or of a module with `-m`, that was typed.

    Raises
    ------
    UsageError
        There is none.
    """
    words, for_good = options.script_words, options.for_good
    if not options.module:
        return ScriptRun(checked_script(options.script), words, for_good)
    path = path_of_module(options.script)
    is_package = path.name == "__main__.py"
    package = options.script if is_package else options.script.rpartition(".")[0]
    return ScriptRun(checked_script(str(path)), words, for_good, package)


# --- kerascope trace: what happens is printed while it happens ------------------------------------


PRINTERS = "kerascope.viz.story"
REPORT = "kerascope.trace.reporting"


def run_trace(options: Namespace) -> int:
    """Run the script of `kerascope trace` and return its exit code."""
    path = checked_script(options.script)
    if options.live:
        return int(import_module(LIVE).trace_live(options, ScriptRun(path, options.script_words)))
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    told = _Told(show)
    trace = import_module(REPORT)
    report = trace.RunReport(told, options.level, options.batches)
    script = ScriptRun(path, options.script_words)
    with output_aside(options.format != "text"), trace.reporting(report):
        code = script.run()
    if not told.anything and script.error is None:
        sys.stdout.flush()
        print(
            f"kerascope: '{path}' built no model: there is nothing to walk through. Expected a "
            f"script that calls layers.{hint_of_live(path)}",
            file=sys.stderr,
        )
    return code


def hint_of_live(path: Path) -> str:
    """Return what to type for a script whose models are those of a real library; "" for others."""
    library = _library_used()
    return f" It uses {library}: kerascope run --live {path}" if library else ""


def hint_of_tape(path: Path) -> str:
    """Return how to debug a script whose models are those of a real library; "" for others."""
    library = _library_used()
    record = f"kerascope run --live --tape run.jsonl {path}"
    return (
        f"It uses {library}: run `{record}`, then `kerascope replay run.jsonl`." if library else ""
    )


def _library_used() -> str:
    watched = import_module(FOREIGN).WATCHED
    real = (name for name in watched if getattr(sys.modules.get(name), "__file__", None))
    return next(real, "")


class _Told:
    """Passes records on, and knows whether there were any."""

    def __init__(self, show: Callable[[Record], Any]) -> None:
        self.show = show
        self.anything = False

    def __call__(self, record: Record) -> None:
        self.anything = True
        self.show(record)
