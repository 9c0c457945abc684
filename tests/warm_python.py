"""New Python processes without the wait: forked off one that has imported everything already.

Command lines, scripts, exercises and lessons are tests of whole processes, and most of the time of
such a process goes into importing NumPy and kerascope. So each worker of the tests has a server: a
Python that has imported them, and waits. `WarmPopen` stands in for `subprocess.Popen` during the
tests. It sends what belongs to a process (words, environment, folder, open files) to the server;
the server forks; the copy becomes what `python WORDS` would be, and ends as that would end.

    test, or kerascope itself        server                     its copy
    subprocess.run([python, ...]) -> fork --------------------> streams, folder, environment,
                                                                sys.argv, sys.path, `__main__`
    process.pid                   <- its number                 runs
    process.wait()                <- how it ended, by waitpid - ends

What such a copy could not be, is started afresh: commands that are not this Python or have unusual
options, an environment that Python reads before anything can be changed (`_READ_AT_START`), folders
whose files would hide a module that is imported already. So are all processes of a test with the
mark `process`, all of them with KERASCOPE_TESTS_FORK=0, and where there is no `fork` (Windows) or
the system's libraries refuse to work after one (macOS).

What differs from a new Python: everything that the server has imported stands in `sys.modules`;
`sys.flags` are the server's; below a script's first frame lie those of this file; at the end only
the names of `__main__` are given up, not those of every module.
"""

from __future__ import annotations

import atexit
import codecs
import contextlib
import gc
import importlib
import io
import json
import linecache
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from importlib.machinery import BuiltinImporter, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SWITCH = "KERASCOPE_TESTS_FORK"
CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds") and sys.platform != "darwin"
RealPopen = subprocess.Popen
_connect = socket.socket.connect  # a chapter of the course puts another one in its place

# --- which commands can be a copy -----------------------------------------------------------------

# `python -m` of these; others (pytest, pip, a Jupyter kernel) expect to be alone.
_MODULES = ("kerascope", "pdb", "benchmarks", "json")
# Of the variables that Python reads before it runs anything, we can follow these, ...
_FOLLOWED = {
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "PYTHONUTF8",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONWARNINGS",
    "PYTHONBREAKPOINT",
    "PYTHONSTARTUP",
    "PYTHON_COLORS",
}
# ... and a difference in these makes a new process.
_READ_AT_START = ("PYTHON", "LC_", "LANG", "MALLOC_", "LD_", "OPENBLAS_CORETYPE")


class Command(NamedTuple):
    """A command line of Python, taken apart.

    Attributes
    ----------
    kind : {"-c", "-m", "script"}
    what : str
        The code, the module or the path.
    arguments : list of str
    warnings : list of str
        What stood behind -W.
    safe_path : bool
        Whether there was a -P.
    """

    kind: str
    what: str
    arguments: list[str]
    warnings: list[str]
    safe_path: bool


def command_of(words: Any) -> Command | None:
    """Take a command line apart; None if it is not one that a copy can be."""
    if isinstance(words, (str, bytes)):
        return None
    words = [os.fspath(word) for word in words]
    if not all(isinstance(word, str) and "\0" not in word for word in words):
        return None
    if len(words) < 2 or words[0] != sys.executable:
        return None
    rest, asked, safe_path = words[1:], [], False
    while rest:
        word = rest.pop(0)
        if word == "-P":
            safe_path = True
        elif word == "-W" and rest:
            asked.append(rest.pop(0))
        elif word == "-u":
            return None
        elif word in ("-c", "-m") and rest:
            what = rest.pop(0)
            if word == "-m" and what.partition(".")[0] not in _MODULES:
                return None
            return Command(word, what, rest, asked, safe_path)
        elif word.startswith("-") or not word.endswith(".py"):
            return None
        else:
            return Command("script", word, rest, asked, safe_path)
    return None


def _is_followed(name: str, value: str | None, ours: str | None) -> bool:
    """Tell whether a copy can have this variable, of which the server has another value."""
    if name == "PYTHONHASHSEED":
        return value in (None, "0", "random")
    if name == "PYTHONUTF8":
        return value in (None, "1")
    return name in _FOLLOWED or value == ours or not name.startswith(_READ_AT_START)


# --- the side that asks ---------------------------------------------------------------------------


class Server:
    """A warm Python, seen from the process that started it.

    Attributes
    ----------
    address : str
        Its socket, to which the copies can connect, too.
    environment : dict of str to str
        What it was started with.
    session : int
        Of processes; its copies are born there.
    """

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.folder = tempfile.mkdtemp(prefix="warm-")
        self.address = str(Path(self.folder, "s"))
        self.log = Path(self.folder, "log")
        unset = ("PYTHONPATH", "PYTHONWARNINGS", "PYTHONIOENCODING", "KERASCOPE_DIALECT")
        self.environment = {k: v for k, v in os.environ.items() if k not in unset}
        self.environment |= {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
        self.session = os.getsid(0)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.address)
        listener.listen(64)
        start = (
            "import sys; sys.path.insert(0, sys.argv.pop(1)); import warm_python; "
            "del sys.path[0]; program = warm_python.serve(); program()"
        )
        words = [sys.executable, "-P", "-c", start, str(Path(__file__).parent)]
        with self.log.open("wb") as log:
            self.process = RealPopen(
                [*words, str(listener.fileno()), self.address],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=ROOT,
                env=self.environment,
                pass_fds=[listener.fileno()],
            )
        listener.close()

    def close(self) -> None:
        """End it, and wait for its end; processes that it started go on."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class _Known(NamedTuple):
    """What a process must know of a server to ask it: a copy knows it from its birth."""

    address: str
    environment: dict[str, str]
    session: int


_server: Server | _Known | None = None
_starting = threading.Lock()


def _the_server() -> Server | _Known:
    global _server
    with _starting:
        if _server is None or (isinstance(_server, Server) and _server.owner != os.getpid()):
            _server = Server()
        return _server


def close_server() -> None:
    """End the server of this process, if one was started."""
    global _server
    if isinstance(_server, Server) and _server.owner == os.getpid():
        _server.close()
        _server = None


class WarmPopen(RealPopen):  # type: ignore[type-arg]
    """A `subprocess.Popen` whose process is a copy of the server where that can be."""

    _line = -1  # to the server, as long as the process is not waited for

    def _execute_child(self, args: Any, *others: Any) -> None:
        request = self._request(args, *others)
        if request is None:
            super()._execute_child(args, *others)  # type: ignore[misc]
            return
        words, files = request
        pipes = others[9:15]
        with socket.socket(socket.AF_UNIX) as line:
            answer, data = b"", json.dumps(words).encode()
            with contextlib.suppress(ConnectionError):
                _connect(line, _the_server().address)
                socket.send_fds(line, [struct.pack("!i", len(data))], files)
                line.sendall(data)
                answer = _read(line.fileno(), 4)
            if len(answer) < 4:
                log = Path(_the_server().address).with_name("log")
                raise OSError(f"the server of warm Pythons has ended: {log.read_text()}")
            (self.pid,) = struct.unpack("!i", answer)
            self._line = line.detach()
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _request(
        self,
        args: Any,
        executable: Any,
        preexec_fn: Any,
        close_fds: bool,
        pass_fds: Any,
        cwd: Any,
        env: Any,
        startupinfo: Any,
        creationflags: Any,
        shell: bool,
        p2cread: int,
        p2cwrite: int,
        c2pread: int,
        c2pwrite: int,
        errread: int,
        errwrite: int,
        restore_signals: bool,
        gid: Any,
        gids: Any,
        uid: Any,
        umask: int,
        start_new_session: bool,
        process_group: int = -1,
    ) -> tuple[dict[str, Any], list[int]] | None:
        """Return what the server must know, and the open files; None for a new Python."""
        unusual = (executable, preexec_fn, shell, gid, gids, uid, process_group != -1)
        plain = not any(unusual) and close_fds and restore_signals and umask == -1
        if not plain or os.environ.get(SWITCH) == "0":
            return None
        command = command_of(args)
        environment = dict(os.environ if env is None else env)
        if command is None or not all(
            isinstance(word, str) for pair in environment.items() for word in pair
        ):
            return None
        if cwd is not None and not os.access(cwd, os.X_OK):
            return None
        server = _the_server()
        ours = server.environment
        names = environment.keys() | ours.keys()
        if not all(_is_followed(name, environment.get(name), ours.get(name)) for name in names):
            return None
        if not start_new_session and os.getsid(0) != server.session:
            return None  # a copy is born in the server's session, and could not come into ours
        streams = [p2cread, c2pwrite, errwrite]
        streams = [own if given == -1 else given for own, given in enumerate(streams)]
        if not all(map(_is_open, streams)):
            return None
        request = {
            "words": [os.fspath(word) for word in args],
            "environment": environment,
            "cwd": os.path.abspath(os.fspath(cwd)) if cwd is not None else os.getcwd(),
            "new_session": bool(start_new_session),
            "group": os.getpgrp(),
            "ignores_ctrl_c": signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
            "files": [0, 1, 2, *pass_fds],
        }
        return request, [*streams, *pass_fds]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        if self._line == -1:
            return super()._try_wait(wait_flags)  # type: ignore[misc,no-any-return]
        if not _can_read(self._line, 0 if wait_flags else None):
            return 0, 0
        answer = _read(self._line, 4)
        os.close(self._line)
        self._line = -1
        status = struct.unpack("!i", answer)[0] if len(answer) == 4 else 0
        return self.pid, status

    def _internal_poll(self, *arguments: Any, **options: Any) -> int | None:
        if self._line == -1:
            return super()._internal_poll(*arguments, **options)  # type: ignore[misc,no-any-return]
        if self.returncode is None and self._waitpid_lock.acquire(False):  # type: ignore[attr-defined]
            try:
                self._look()
            finally:
                self._waitpid_lock.release()  # type: ignore[attr-defined]
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._line == -1:
            return super()._wait(timeout)  # type: ignore[misc,no-any-return]
        if timeout is not None and not _can_read(self._line, timeout):
            raise subprocess.TimeoutExpired(self.args, timeout)
        with self._waitpid_lock:  # type: ignore[attr-defined]
            self._look(flags=0)
        assert self.returncode is not None
        return self.returncode

    def _look(self, flags: int = getattr(os, "WNOHANG", 1)) -> None:
        if self.returncode is None:
            pid, status = self._try_wait(flags)
            if pid == self.pid:
                self._handle_exitstatus(status)  # type: ignore[attr-defined]


def _is_open(file: int) -> bool:
    try:
        os.fstat(file)
    except OSError:
        return False
    return True


def _can_read(file: int, seconds: float | None) -> bool:
    poll = select.poll()
    poll.register(file, select.POLLIN)
    return bool(poll.poll(None if seconds is None else max(0, seconds) * 1000))


def _read(file: int, size: int) -> bytes:
    """Read so many bytes, or fewer at the end."""
    data = b""
    while len(data) < size and (more := os.read(file, size - len(data))):
        data += more
    return data


def install() -> None:
    """Let `subprocess` start copies from now on, where there can be any."""
    if CAN_FORK and os.environ.get(SWITCH) != "0":
        subprocess.Popen = WarmPopen  # type: ignore[misc]


@contextlib.contextmanager
def new_processes() -> Iterator[None]:
    """Let `subprocess` start new Pythons, as without us."""
    before = subprocess.Popen
    subprocess.Popen = RealPopen  # type: ignore[misc]
    try:
        yield
    finally:
        subprocess.Popen = before  # type: ignore[misc]


# --- the server -----------------------------------------------------------------------------------

# Not imported beforehand: what runs when it is imported, or needs an optional package.
_LEFT_OUT = (
    *("__main__", "kerascope.debugger.tui", "kerascope.wrappers", ".child"),
    *("kerascope.foreign.", "kerascope.backend.engines."),
    *("kerascope.learn.web.kernel", "kerascope.learn.web.server"),
)
_COMMON = ("doctest", "pdb", "pygraphviz", "yaml", "h5py", "networkx", "rich.console", "rich.table")


def preload() -> None:
    """Import what the processes of the tests import sooner or later; nothing is made."""
    sys.path.insert(0, str(ROOT))
    kerascope = importlib.import_module("kerascope")
    waiting = [kerascope]
    while waiting:  # `pkgutil.walk_packages` would import every package, those left out, too
        package = waiting.pop()
        for _, name, is_package in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            if not any(part in name for part in _LEFT_OUT):
                module = importlib.import_module(name)
                waiting += [module] if is_package else []
    for name in _COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    del sys.path[0]


class Program:
    """What a copy is to do; calling it is being that Python, to its end."""

    def __init__(self, request: dict[str, Any]) -> None:
        self.request = request
        command = command_of(request["words"])
        assert command is not None
        self.command = command

    def __call__(self) -> None:
        """Run the program, and end as Python ends."""
        try:
            self._run()
        except SystemExit as error:
            _end(_code_of(error.code))
        except BaseException as error:
            sys.last_type, sys.last_value = type(error), error
            if sys.version_info >= (3, 12):
                sys.last_exc = error
            sys.last_traceback = trace = _of_the_program(error.__traceback__)
            sys.excepthook(type(error), error.with_traceback(trace), trace)
            _end(1, by_ctrl_c=type(error) is KeyboardInterrupt)
        _end(0)

    def _run(self) -> None:
        if self.command.kind == "-m":
            runpy._run_module_as_main(self.command.what)  # type: ignore[attr-defined]
        else:
            exec(self._code(), sys.modules["__main__"].__dict__)

    def _code(self) -> CodeType:
        if self.command.kind == "-c":
            code = compile(self.command.what, "<string>", "exec", dont_inherit=True)
            _show_in_tracebacks(code, self.command.what)
            return code
        path = sys.modules["__main__"].__file__
        assert path is not None
        return compile(Path(path).read_bytes(), path, "exec", dont_inherit=True)


def _show_in_tracebacks(code: CodeType, source: str) -> None:
    """Let tracebacks show the lines of `-c`, where this Python does so: from 3.13 on."""
    register = getattr(linecache, "_register_code", None)
    if register is not None:  # 3.13.0 asks for a name, what follows it for the code
        by_code = hasattr(linecache, "_interactive_cache")
        register(code if by_code else "<string>", source, "<string>")


def _of_the_program(trace: Any) -> Any:
    """Leave out our own frames."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _code_of(code: Any) -> int:
    """Return what `sys.exit(code)` ends with; it tells what is no number."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    if sys.stdout is not None:
        sys.stdout.flush()
    print(code, file=sys.stderr)
    return 1


def _end(code: int, by_ctrl_c: bool = False) -> None:
    """End the process in the order of `Py_FinalizeEx`, without taking all modules apart.

    That would be most of the time of a short program: each page of memory that the server has
    filled is copied when its objects are counted down.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    names = sys.modules["__main__"].__dict__
    for name in sorted(names, key=lambda name: not name.startswith("_")):
        if name != "__builtins__":
            names[name] = None
    gc.collect()
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except Exception:
        sys.exit(code)  # a reader has gone: Python knows what is to be said
    if by_ctrl_c:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(code)


class _Start(NamedTuple):
    """What a new Python has, noted before anything was imported."""

    path: list[str]
    filters: list[Any]


def serve() -> Program:
    """Be the server, until the line to its worker ends; in each copy, return what it is to do."""
    listener, address = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    start = _Start(list(sys.path), list(warnings.filters))
    preload()
    gc.collect()
    gc.freeze()  # a copy's collector does not look through what all of them share
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is for the tests
    signal.signal(signal.SIGCHLD, lambda *told: None)
    waking, woken = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(waking, False)
    signal.set_wakeup_fd(woken)
    poll = select.poll()
    for file in (0, listener.fileno(), waking):
        poll.register(file, select.POLLIN)
    lines: dict[int, socket.socket] = {}
    while True:
        for file, _ in poll.poll():
            if file == 0:
                os._exit(0)
            elif file == waking:
                os.read(waking, 4096)
                _tell_who_ended(lines)
            else:
                line, _ = listener.accept()
                asked = _received(line)
                if asked is None:
                    line.close()
                    continue
                request, files = asked
                pid = os.fork()
                if not pid:
                    global _server
                    _server = _Known(address, dict(os.environ), os.getsid(0))
                    return _become(request, files, start, line)
                for other in files:
                    os.close(other)
                lines[pid] = line


def _received(line: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    head, files, _, _ = socket.recv_fds(line, 4, 64)
    if len(head) < 4:
        return None
    return json.loads(_read(line.fileno(), struct.unpack("!i", head)[0])), files


def _tell_who_ended(lines: dict[int, socket.socket]) -> None:
    for pid in list(lines):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            with contextlib.suppress(OSError), lines.pop(pid) as line:
                line.sendall(struct.pack("!i", status))


# --- the copy -------------------------------------------------------------------------------------


def _become(
    request: dict[str, Any], files: list[int], start: _Start, line: socket.socket
) -> Program:
    """Be as a new Python is before its first line, as far as a running one can."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if not request["ignores_ctrl_c"]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["new_session"]:
        os.setsid()
    elif os.getpgrp() != request["group"]:
        os.setpgid(0, request["group"])
    # Whoever asked goes on from here: a signal to our group shall find it.
    line.sendall(struct.pack("!i", os.getpid()))
    line.detach()  # its file is closed with all that are not ours
    _take_files(files, request["files"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    program = Program(request)
    folder = _first_on_the_path(program.command)
    own = [*folder, *(os.environ.get("PYTHONPATH") or "").split(os.pathsep)]
    own = [*folder, *map(os.path.abspath, filter(None, own[len(folder) :]))]
    sys.path[:] = list(dict.fromkeys([*own, *start.path]))
    is_missing = program.command.kind == "script" and not os.path.isfile(program.command.what)
    if is_missing or _hides_a_module(own, start.path):
        os.execve(sys.executable, request["words"], os.environ)
    _set_words(request["words"], program.command)
    _set_streams()
    _set_warnings(program.command.warnings, start.filters)
    _forget()
    return program


def _take_files(files: list[int], numbers: list[int]) -> None:
    """Have these files open under these numbers, and no others."""
    fcntl = importlib.import_module("fcntl")
    high = max([*numbers, *files, 255]) + 1
    moved = [fcntl.fcntl(file, fcntl.F_DUPFD, high) for file in files]
    for file, number in zip(moved, numbers, strict=True):
        os.dup2(file, number)
    last = 2
    for number in sorted(set(numbers) - {0, 1, 2}):
        os.closerange(last + 1, number)
        last = number
    os.closerange(last + 1, max(moved) + 1)


def _first_on_the_path(command: Command) -> list[str]:
    """Return where Python looks first: the script's folder, or where we stand."""
    if command.safe_path:
        return []
    if command.kind == "script":
        return [os.path.dirname(os.path.realpath(command.what))]
    return [os.getcwd() if command.kind == "-m" else ""]


def _hides_a_module(folders: list[str], usual: list[str]) -> bool:
    """Tell whether a folder has another file for a module that is imported already."""
    ours = {}
    for name, module in sys.modules.items():
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        if "." not in name and name != "__main__" and origin:
            ours[name] = origin
    for folder in folders:
        if folder in usual:
            continue
        with contextlib.suppress(OSError):
            for name in os.listdir(folder or "."):
                stem = name.partition(".")[0]
                place = os.path.join(os.path.realpath(folder or "."), name)
                if stem in ours and _is_another(place, ours[stem]):
                    return True
    return False


def _is_another(place: str, origin: str) -> bool:
    if os.path.isdir(place):
        place = os.path.join(place, "__init__.py")
        return os.path.exists(place) and place != os.path.realpath(origin)
    return place.endswith((".py", ".so", ".pyc")) and place != os.path.realpath(origin)


def _set_words(words: list[str], command: Command) -> None:
    main = ModuleType("__main__")
    main.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={})
    main.__loader__ = BuiltinImporter
    first = command.kind
    if command.kind == "script":
        first = command.what
        path = first if os.path.isabs(first) else f"{os.getcwd()}/{first}"
        main.__dict__.update(
            __file__=path, __cached__=None, __loader__=SourceFileLoader("__main__", path)
        )
    elif not hasattr(sys.modules.get(command.what), "__path__"):
        # runpy complains of what is there before it runs it; a new Python has only its package.
        sys.modules.pop(command.what, None)
    sys.modules["__main__"] = main
    sys.argv[:] = [first, *command.arguments]
    sys.orig_argv[:] = words
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))


def _set_streams() -> None:
    """Open `sys.stdin` and its kin as Python does; see `create_stdio` in its pylifecycle.c."""
    encoding, _, errors = (os.environ.get("PYTHONIOENCODING") or "").partition(":")
    if encoding or errors:
        errors = errors or "strict"
    elif os.environ.get("PYTHONUTF8") == "1":
        errors = "surrogateescape"
    else:
        errors = _at_start[1]
    encoding = codecs.lookup(encoding).name if encoding else _at_start[0]
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        buffering = 0 if unbuffered and number else -1
        binary = open(number, "wb" if number else "rb", buffering, closefd=False)  # noqa: SIM115
        raw: Any = getattr(binary, "raw", binary)
        raw.name = f"<{name}>"
        stream: Any = io.TextIOWrapper(
            binary,
            encoding=encoding,
            errors="backslashreplace" if number == 2 else errors,
            newline=None if number == 0 else "\n",
            line_buffering=not unbuffered and (number == 2 or raw.isatty()),
            write_through=unbuffered,
        )
        stream.mode = "w" if number else "r"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


# How the server's own streams speak: the locale decides it.
_at_start = (
    (sys.__stdin__.encoding, sys.__stdin__.errors or "strict")
    if sys.__stdin__ is not None
    else ("utf-8", "strict")
)


def _set_warnings(options: list[str], usual: list[Any]) -> None:
    """Have the filters of a new Python that was given these options, and those of our imports."""
    asked = [word for word in (os.environ.get("PYTHONWARNINGS") or "").split(",") if word]
    added = [one for one in warnings.filters if one not in usual]
    sys.warnoptions[:] = [*asked, *options]
    warnings.filters[:] = usual  # type: ignore[index]
    warnings._processoptions(sys.warnoptions)  # type: ignore[attr-defined]
    warnings.filters[:0] = added  # type: ignore[index]
    with warnings.catch_warnings():  # its end tells the C half of `warnings` to look again
        warnings.simplefilter("ignore")


def _forget() -> None:
    """Have none of what the server knows from its own life, or shares with its other copies."""
    numpy = sys.modules["numpy"]
    numpy.random.seed()
    tempfile.tempdir = None
    linecache.clearcache()
    if "multiprocessing.process" in sys.modules:
        sys.modules["multiprocessing.process"].ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    if hasattr(time, "tzset"):
        time.tzset()
    install()
