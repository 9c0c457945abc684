"""Run a script as Python does: as `__main__`, with its arguments and its folder on the path.

`kerascope run` only runs it. `kerascope trace` also prints what happens in it.

A process that the script starts with `multiprocessing` imports the script again, unless it is a
fork. `child.py` makes `import keras` import kerascope there too.
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
from kerascope.unsupported import OF_ONNX

if TYPE_CHECKING:
    from kerascope.trace.records import Record

CHILD = "kerascope.cli.child"
SCRIPT_VARIABLE = "KERASCOPE_SCRIPT"  # the path of the script, for child processes
_OURS = (str(Path(__file__).resolve().parent), contextlib.__file__, importlib.__file__, "<frozen")
_PACKAGE = Path(__file__).resolve().parents[1]
_MACHINERY = (
    str(_PACKAGE / "compat"),
    str(_PACKAGE / "import_hook.py"),
    str(_PACKAGE / "foreign" / "own_engine.py"),
    "<frozen importlib",
)


def checked_file(name: str, expected: str) -> Path:
    """Return the path of a file that is an argument of a command.

    Parameters
    ----------
    name : str
    expected : str
        The kind of file for the message, as "a Python script".

    Raises
    ------
    UsageError
        The file does not exist.
    """
    path = Path(name)
    if not name:
        raise UsageError(f"The command expected {expected}, got an empty name.")
    missing = why_missing(path, _hint)
    if missing:
        raise UsageError(missing)
    if path.is_dir():
        raise UsageError(f"{name}: expected {expected}, got a folder.")
    return path


def _hint(path: Path) -> str:
    near = _near(path)
    return f"Did you mean {str(path.with_name(near))!r}?" if near else ""


def _near(path: Path) -> str:
    """Return the most similar file name in the folder of a missing file; "" without one."""
    from difflib import get_close_matches  # imported here, because only mistakes need it

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
        The file does not exist or is not a Python script.
    """
    path = checked_file(name, "a Python script")
    if is_model_file(name) or name.lower().endswith(OF_ONNX):
        raise UsageError(
            f"{name}: expected a Python script, got a model file. To open a model file, use "
            f"kerascope draw, summary, play, show or compare."
        )
    _source(path)
    return path


def path_of_module(name: str) -> Path:
    """Return the file that `python -m` runs for a module, without importing anything.

    Raises
    ------
    UsageError
        The module does not exist, or it is a package without `__main__`.
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
            raise UsageError(f"-m {name}: the package needs a module __main__ to run.")
    where = "in the working folder or on Python's path"
    raise UsageError(f"-m {name}: module not found. Expected {inside}.py {where}.")


def compiled(path: Path) -> CodeType:
    """Return the compiled code of a script.

    Raises
    ------
    UsageError
        The file is not text, or cannot be read.
    SyntaxError
        The text is not valid Python, or the file does not declare its encoding.
    """
    return compile(_source(path), str(path), "exec", dont_inherit=True)


def _source(path: Path) -> bytes:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"Cannot read '{path}': {error.strerror}.") from None
    if b"\0" in source:
        raise UsageError(f"'{path}': expected a Python script, got binary data.")
    return source


class _ScriptSpec(ModuleSpec):
    """The module spec in which `multiprocessing` finds the module that a child process must import.

    The script itself is not in a package. So `from . import helper` fails in it, as in Python,
    instead of importing modules from the folder of `child.py`.
    """

    parent = ""  # type: ignore[assignment]


class ScriptRun:
    """One run of a script.

    Parameters
    ----------
    path : Path
    arguments : sequence of str
        The script's arguments in `sys.argv`.
    package : str or None
        The package of a module that runs as with `python -m`, or "" for a module outside packages.
        None for a script.
    for_good : bool
        Whether the script stays `__main__` after its end, because its threads and its `atexit`
        functions still need its path and its names.

    Attributes
    ----------
    names : dict
        The script's global variables.
    code : int
        The exit code: 0, the argument of `sys.exit`, or 1 after an exception.
    error : BaseException or None
        The exception that ended the script, whose traceback was printed; otherwise None.
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
        self.module.__file__ = str(
            path.absolute()
        )  # absolute as in Python, so that os.chdir does not break it
        spec = self.module.__spec__ = _ScriptSpec(CHILD, None)
        spec.parent = self.module.__package__ = package or ""
        self.code = 0
        self.error: BaseException | None = None

    @property
    def names(self) -> dict[str, Any]:
        """The script's global variables."""
        return vars(self.module)

    def execute(self) -> None:
        """Run the script to its end. Exceptions of the script are passed on."""
        # As in Python, modules import from the working directory, and scripts from their folder.
        folder = self.path.resolve().parent if self.package is None else Path.cwd()
        with _as_main(self.module, self.path, folder, self.arguments, self.for_good):
            if self.package:
                import_module(self.package)
            exec(compiled(self.path), vars(self.module))

    def run(self) -> int:
        """Run the script to its end, print its exception if it fails, and return the exit code.

        Raises
        ------
        KeyboardInterrupt, BrokenPipeError
            Raised for the caller, without printing anything.
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
    """Make a module `__main__` inside the block, and set `sys.argv` and `sys.path` for it.

    After the block, the former module is `__main__` again, unless `for_good`.
    """
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
    """Return a context manager that redirects prints of a script to standard error if `is_aside`.

    Otherwise the context manager has no effect. With `is_aside`, standard output contains only the
    result of the command, so that a program can read it.
    """
    return redirect_stdout(sys.stderr) if is_aside else nullcontext()


def exit_code_of(stop: SystemExit) -> int:
    """Return the exit code of a `sys.exit` call. Print an argument that is not a number."""
    if stop.code is None or isinstance(stop.code, int):
        return stop.code or 0
    print(stop.code, file=sys.stderr)
    return 1


def print_traceback(error: BaseException, path: Path | None = None) -> None:
    """Print the traceback of a script's exception to standard error."""
    print(traceback_text(error, path), end="", file=sys.stderr)


def traceback_text(error: BaseException, path: Path | None = None) -> str:
    """Return the traceback of a script's exception, starting at the script's first line.

    Python removes its own import machinery from tracebacks. The finder of kerascope is removed too.

    Parameters
    ----------
    error : BaseException
    path : Path, optional
        The script. By default it is the first file that does not belong to the command line.
    """
    frames: TracebackType | None = error.__traceback__
    while frames is not None and not _is_of(frames.tb_frame.f_code.co_filename, path):
        frames = frames.tb_next
    report = traceback.TracebackException(type(error), error, frames)
    _leave_out_machinery(report)
    return "".join(report.format())


def _is_of(file: str, path: Path | None) -> bool:
    return not file.startswith(_OURS) if path is None else file == str(path)


def _leave_out_machinery(report: traceback.TracebackException) -> None:
    """Remove the frames of kerascope's import finder from a traceback and from its causes."""
    shown = [frame for frame in report.stack if not frame.filename.startswith(_MACHINERY)]
    report.stack = traceback.StackSummary.from_list(shown)
    for other in (report.__cause__, report.__context__, *(report.exceptions or ())):
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
        raise UsageError("--tape needs --live, because it records a real library.")
    return script_of(options).run()


def script_of(options: Namespace) -> ScriptRun:
    """Return a new run of the script of the command line, or of its module with `-m`.

    Raises
    ------
    UsageError
        The script or module does not exist.
    """
    words, for_good = options.script_words, options.for_good
    if not options.module:
        return ScriptRun(checked_script(options.script), words, for_good)
    path = path_of_module(options.script)
    is_package = path.name == "__main__.py"
    package = options.script if is_package else options.script.rpartition(".")[0]
    return ScriptRun(checked_script(str(path)), words, for_good, package)


# --- kerascope trace: print events while the script runs ------------------------------------------


PRINTERS = "kerascope.viz.story"
REPORT = "kerascope.trace.reporting"


def run_trace(options: Namespace) -> int:
    """Run the script of `kerascope trace` and return its exit code."""
    path = checked_script(options.script)
    if options.live:
        return int(import_module(LIVE).trace_live(options, ScriptRun(path, options.script_words)))
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    printer = _RecordPrinter(show)
    trace = import_module(REPORT)
    report = trace.RunReport(printer, options.level, options.batches)
    script = ScriptRun(path, options.script_words)
    with output_aside(options.format != "text"), trace.reporting(report):
        code = script.run()
    if not printer.printed_any and script.error is None:
        sys.stdout.flush()
        print(
            f"kerascope: '{path}' built no model, so there is nothing to trace. Expected a script "
            f"that calls layers.{hint_of_live(path)}",
            file=sys.stderr,
        )
    return code


def hint_of_live(path: Path) -> str:
    """Return advice about `--live` for a script that uses PyTorch or a real Keras, otherwise ""."""
    library = _library_used()
    return f" It uses {library}: kerascope run --live {path}" if library else ""


def hint_of_tape(path: Path) -> str:
    """Return advice on how to debug a script that uses PyTorch or a real Keras, otherwise ""."""
    library = _library_used()
    record = f"kerascope run --live --tape run.jsonl {path}"
    return (
        f"It uses {library}: run `{record}`, then `kerascope replay run.jsonl`." if library else ""
    )


def _library_used() -> str:
    watched = import_module(FOREIGN).WATCHED
    real = (name for name in watched if getattr(sys.modules.get(name), "__file__", None))
    return next(real, "")


class _RecordPrinter:
    """An observer that prints records, and stores whether it received any record."""

    def __init__(self, show: Callable[[Record], Any]) -> None:
        self.show = show
        self.printed_any = False

    def __call__(self, record: Record) -> None:
        self.printed_any = True
        self.show(record)
