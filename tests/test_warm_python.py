"""A copy of the warm Python does what a new Python does: each program is run as both."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import warm_python
from warm_python import RealPopen, WarmPopen, command_of

pytestmark = pytest.mark.skipif(
    not warm_python.CAN_FORK or os.environ.get(warm_python.SWITCH) == "0",
    reason="no process is a copy here",
)
LONG = 120  # seconds; only what hangs takes so long


def outcome(make, words, given=b"", **options):
    """Return what a process of this kind printed, complained, and how it ended."""
    with make(
        [sys.executable, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **options,
    ) as process:
        said, complained = process.communicate(given, timeout=LONG)
    is_a_copy = isinstance(process, WarmPopen) and "_line" in vars(process)
    return (said, complained, process.returncode), is_a_copy


def assert_the_same(words, given=b"", **options):
    """Run the words as a new Python and as a copy; return what both printed and ended with."""
    new, _ = outcome(RealPopen, words, given, **options)
    copied, is_a_copy = outcome(WarmPopen, words, given, **options)
    assert is_a_copy
    assert copied == new
    return new[0].decode(), new[1].decode(), new[2]


PROGRAMS = {
    "prints": "print('one', 2)",
    "says both": "import sys; print('out'); print('err', file=sys.stderr); print('out again')",
    "exits with a number": "import sys; print('a', end=''); sys.exit(3)",
    "exits with a large number": "import sys; sys.exit(256 + 7)",
    "exits with words": "import sys; print('out'); sys.exit('no such file')",
    "exits with nothing": "raise SystemExit",
    "fails in a function": "def f():\n    1 / 0\n\ntry:\n    f()\nfinally:\n    print('end')",
    "fails with a cause": "try:\n    {}['a']\nexcept KeyError as e:\n    raise OSError(4) from e",
    "fails outside of Exception": "class Stop(BaseException): ...\nraise Stop('far')",
    "is not Python": "print('a'\nx = 1",
    "ends itself": "import os; print('lost'); os._exit(9)",
    "kills itself": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "is interrupted": "raise KeyboardInterrupt",
    "reads": "import sys; print(input(), sys.stdin.read().upper())",
    "reads bytes": "import sys; print(sys.stdin.buffer.read())",
    "knows its words": "import sys; print(sys.argv, sys.orig_argv, sys.executable)",
    "knows its path": "import sys; print(sys.path)",
    "knows its folder": "import os; print(os.getcwd(), sorted(os.listdir()))",
    "knows itself": (
        "import sys\n"
        "print(__name__, __spec__, __package__, __doc__, type(__loader__), __builtins__)\n"
        "print(sorted(globals()), globals() is sys.modules['__main__'].__dict__)"
    ),
    "has a docstring": "'''What it is.'''\nprint(__doc__)",
    "has streams": (
        "import sys\n"
        "for s in (sys.stdin, sys.stdout, sys.stderr, sys.__stdout__):\n"
        "    print(s, s.line_buffering, s.write_through, s.newlines, s.errors, s.isatty())\n"
        "    print(s.buffer, s.fileno())"
    ),
    "has filters": "import numpy, warnings; print(warnings.filters)",
    "warns": "import warnings; warnings.warn('late', DeprecationWarning); warnings.warn('x')",
    "has signals": (
        "import signal\n"
        "print({s: signal.getsignal(s) for s in (signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)})\n"
        "print(signal.getsignal(signal.SIGCHLD), signal.set_wakeup_fd(-1))"
    ),
    "has no other files": (
        "import os\n"
        "def is_open(n):\n"
        "    try: os.fstat(n)\n"
        "    except OSError: return False\n"
        "    return True\n"
        "print([n for n in range(600) if is_open(n)])"
    ),
    "is found in its group": "import os; print(os.getpgrp(), os.getsid(0))",
    "leaves a thread": (
        "import threading, sys\n"
        "def late():\n"
        "    threading.main_thread().join(); print('thread')\n"
        "threading.Thread(target=late).start(); print('main'); sys.exit(2)"
    ),
    "leaves a daemon": (
        "import threading, time\n"
        "threading.Thread(target=time.sleep, args=(900,), daemon=True).start(); print('main')"
    ),
    "says goodbye": (
        "import atexit\natexit.register(print, 'first in, last out')\n"
        "atexit.register(print, 'bye'); print('main'); 1 / 0"
    ),
    "fails to say goodbye": (
        "import atexit\n"
        "class Bye:\n"
        "    def __repr__(self): return 'Bye'\n"
        "    def __call__(self): 1 / 0\n"
        "atexit.register(Bye()); print('main')"
    ),
    "gives up what it has": (
        "class Noisy:\n"
        "    def __init__(self, name): self.name = name\n"
        "    def __del__(self): print('gone', self.name)\n"
        "a, ring = Noisy('a'), Noisy('ring'); ring.ring = ring; print('end')"
    ),
    "has an excepthook": (
        "import sys\nsys.excepthook = lambda *told: print('hook', told[0].__name__)\n1 / 0"
    ),
    "has a post mortem": (
        "import atexit, sys\n"
        "names = 'last_type', 'last_value', 'last_exc'\n"  # the third from Python 3.12 on
        "atexit.register(lambda: print([repr(getattr(sys, name, 0)) for name in names]))\nnone"
    ),
    "has its own fork": (
        "import os, sys\n"
        "pid = os.fork()\n"
        "if not pid: print('child', flush=True); os._exit(4)\n"
        "print(os.waitpid(pid, 0)[1] >> 8)"
    ),
    "starts another": (
        "import subprocess, sys\n"
        "print(subprocess.run([sys.executable, '-c', 'print(5); raise SystemExit(6)']).returncode)"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_does_what_it_does_in_a_new_python(name, tmp_path):
    assert_the_same(["-c", PROGRAMS[name], "a", "-b"], b"line\nrest", cwd=tmp_path)


# Where being a script makes a difference; the others are tried as scripts in the large run.
OF_SCRIPTS = (
    "fails in a function",
    "is not Python",
    "is interrupted",
    "knows itself",
    "leaves a thread",
)
SCRIPTS = [
    name if name in OF_SCRIPTS else pytest.param(name, marks=pytest.mark.slow) for name in PROGRAMS
]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_what_it_does_in_a_new_python(name, tmp_path):
    (tmp_path / "script.py").write_text(PROGRAMS[name])
    assert_the_same(["script.py", "a", "-b"], b"line\nrest", cwd=tmp_path)


def test_a_script_is_found_by_every_kind_of_path(tmp_path):
    (tmp_path / "inner").mkdir()
    script = tmp_path / "inner" / "script.py"
    script.write_text("import sys\nprint(__file__, sys.argv[0], sys.path[0])\n1 / 0\n")
    link = tmp_path / "link.py"
    link.symlink_to(script)
    for words in (["inner/script.py"], ["./inner/script.py"], [str(script)], [str(link)]):
        said, complained, code = assert_the_same(words, cwd=tmp_path)
        assert code == 1
        assert "line 3, in <module>" in complained
        assert said.split()[-1] == str(tmp_path / "inner")
    assert assert_the_same(["-P", str(script)])[0]
    assert assert_the_same(["none.py"], cwd=tmp_path)[2] == 2


def test_a_module_is_run_as_by_python(tmp_path):
    said, _, code = assert_the_same(["-m", "kerascope", "--version"], cwd=tmp_path)
    assert said.startswith("kerascope ")
    assert code == 0
    said, complained, code = assert_the_same(["-m", "kerascope.nothing"], cwd=tmp_path)
    assert (said, code) == ("", 1)
    assert "No module named kerascope.nothing" in complained
    (tmp_path / "failing.py").write_text("def f():\n    1 / 0\nf()\n")
    _, complained, code = assert_the_same(["-m", "pdb", "-c", "c", "failing.py"], cwd=tmp_path)
    assert "ZeroDivisionError" in complained or code == 0


VARIABLES = [
    {"PYTHONIOENCODING": "ascii:backslashreplace"},
    {"PYTHONIOENCODING": "latin-1"},
    {"PYTHONUTF8": "1", "PYTHONHASHSEED": "0"},
    {"PYTHONUNBUFFERED": "1"},
    {"PYTHONDONTWRITEBYTECODE": "1"},
    {"PYTHONWARNINGS": "error::UserWarning,ignore"},
    {"PYTHONPATH": "lib", "TMPDIR": ".", "TZ": "Asia/Tokyo", "KERASCOPE_DIALECT": "3"},
]


@pytest.mark.parametrize("variables", VARIABLES, ids=lambda one: " ".join(one))
def test_a_copy_heeds_the_environment(variables, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "beside.py").write_text("x = 'found'\n")
    program = (
        "import kerascope.layers, os, sys, tempfile, time, warnings\n"
        "print(dict(os.environ), 'é'.encode(sys.stdout.encoding, sys.stdout.errors))\n"
        "print(sys.stdin, sys.stdout, sys.stderr, sys.stdout.write_through)\n"
        "print(sys.path, sys.dont_write_bytecode, tempfile.gettempdir(), time.tzname)\n"
        "print(os.popen('echo $TZ').read(), sys.warnoptions, warnings.filters)\n"
        "from kerascope import config; print(config.dialect)\n"
        "import beside\n"
    )
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    assert_the_same(["-c", program], cwd=tmp_path, env=kept | variables)


def test_filters_of_the_command_line_are_in_force():
    program = "import numpy, warnings; print(warnings.filters); warnings.warn('x')"
    _, complained, code = assert_the_same(
        ["-W", "ignore", "-W", "error::UserWarning", "-c", program]
    )
    assert code == 1
    assert "UserWarning: x" in complained


def test_random_numbers_differ_from_copy_to_copy():
    program = "import random, numpy; print(random.random(), numpy.random.rand())"
    drawn = [outcome(WarmPopen, ["-c", program])[0][0].split() for _ in range(2)]
    assert len({number for one in drawn for number in one}) == 4


def test_nothing_of_a_program_is_left_for_the_next():
    program = (
        "import kerascope as k, sys\n"
        "assert not hasattr(k, 'left')\n"
        "k.left = 1\n"
        "print(k.layers.Dense(1).name, 'pytest' in sys.modules, len(k.layers.__dict__))"
    )
    first, second = (outcome(WarmPopen, ["-c", program])[0] for _ in range(2))
    assert first == second
    assert first[0].split()[:2] == [b"dense_1", b"False"]


def test_a_process_that_is_too_slow_is_ended():
    words = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(900)"]
    with pytest.raises(subprocess.TimeoutExpired) as caught:
        subprocess.run(words, capture_output=True, timeout=1.0)
    assert caught.value.args[1] == 1.0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_a_signal_ends_a_copy(name):
    number = getattr(signal, name)
    program = (
        "import signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "print('ready', flush=True)\nwhile True: time.sleep(0.01)"  # one that has begun hears late
    )
    with WarmPopen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        assert process.poll() is None
        process.send_signal(number)
        assert process.wait(LONG) == -number
        complained = process.stderr.read()
    assert (b"KeyboardInterrupt" in complained) == (name == "SIGINT")
    assert process.poll() == -number
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_a_copy_with_a_session_of_its_own_is_ended_with_all_that_it_started(tmp_path):
    program = (
        "import os, subprocess, sys, time\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)'])\n"
        "print(inner.pid, os.getsid(0) == os.getpid(), flush=True)\ntime.sleep(900)"
    )
    with WarmPopen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        inner, leads = process.stdout.readline().split()
        assert leads == b"True"
        assert os.getsid(int(inner)) == process.pid
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(LONG) == -signal.SIGKILL
        assert process.stdout.read() == b""


def test_a_session_can_be_ended_as_soon_as_it_was_started():
    for _ in range(20):
        process = WarmPopen(
            [sys.executable, "-c", "import time; time.sleep(900)"], start_new_session=True
        )
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(LONG) == -signal.SIGKILL


def test_worker_processes_of_a_program_find_its_functions(tmp_path):
    (tmp_path / "script.py").write_text(
        "import multiprocessing as m, sys\n"
        "def double(x): return 2 * x\n"
        "if __name__ == '__main__':\n"
        "    with m.get_context(sys.argv[1]).Pool(1) as pool:\n"
        "        print(pool.map(double, [1, 2, 3]))\n"
    )
    for kind in ("fork", "spawn"):
        said, _, _ = assert_the_same(["script.py", kind], cwd=tmp_path)
        assert said == "[2, 4, 6]\n"


def test_a_process_that_a_copy_starts_is_a_copy_too():
    program = (
        "import subprocess, sys\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import os; print(os.getpgrp())'])\n"
        "print(inner.wait(), '_line' in vars(inner), flush=True)"
    )
    (said, _, code), _ = outcome(WarmPopen, ["-c", program])
    assert (said.split(), code) == ([str(os.getpgrp()).encode(), b"0", b"True"], 0)


def test_a_file_that_hides_a_module_hides_it_from_a_copy_too(tmp_path):
    (tmp_path / "numpy.py").write_text("here = True\n")
    (tmp_path / "kerascope").mkdir()
    (tmp_path / "kerascope" / "__init__.py").write_text("other = True\n")
    said, _, _ = assert_the_same(["-c", "import numpy; print(numpy.here)"], cwd=tmp_path)
    assert said == "True\n"
    assert assert_the_same(["-c", "import kerascope as k; print(k.other)"], cwd=tmp_path)[0]
    assert assert_the_same(["-P", "-c", "import numpy; print(numpy.pi)"], cwd=tmp_path)[0]


@pytest.mark.parametrize(
    "words",
    [
        "python -c 1",
        ["python", "-c", "1"],
        [sys.executable],
        [sys.executable, "-"],
        [sys.executable, "-I", "-c", "1"],
        [sys.executable, "-O", "-c", "1"],
        [sys.executable, "-m", "pytest"],
        [sys.executable, "-m", "ipykernel_launcher"],
        [sys.executable, "folder"],
    ],
    ids=str,
)
def test_what_a_copy_could_not_be_is_a_new_process(words):
    assert command_of(words) is None


def test_a_command_line_is_taken_apart():
    words = [sys.executable, "-W", "ignore", "-P", "-m", "kerascope", "run", "-W"]
    command = command_of(words)
    assert (command.kind, command.what) == ("-m", "kerascope")
    assert command.arguments == ["run", "-W"]
    assert (command.warnings, command.safe_path) == (["ignore"], True)
    assert command_of([sys.executable, Path("a.py"), "b"]).arguments == ["b"]


@pytest.mark.parametrize(
    "options",
    [
        {"env": {**os.environ, "PYTHONHASHSEED": "7"}},
        {"env": {**os.environ, "PYTHONUTF8": "0"}},
        {"env": {**os.environ, "PYTHONDEVMODE": "1"}},
        {"env": {**os.environ, "LC_ALL": "POSIX"}},
        {"close_fds": False},
        {"preexec_fn": os.getpid},
        {"umask": 0o77},
    ],
    ids=["hash seed", "UTF-8", "developer's mode", "locale", "open files", "before it", "umask"],
)
def test_what_is_read_at_the_start_of_python_makes_a_new_one(options):
    (said, _, code), is_a_copy = outcome(WarmPopen, ["-c", "print(1)"], **options)
    assert (said, code, is_a_copy) == (b"1\n", 0, False)


def test_what_cannot_be_started_is_told_as_by_subprocess(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        WarmPopen([sys.executable, "-c", "1"], cwd=tmp_path / "none")


def test_tests_start_copies_unless_they_are_marked():
    assert subprocess.Popen is WarmPopen
    assert subprocess.run([sys.executable, "-c", "raise SystemExit(5)"]).returncode == 5


@pytest.mark.process
def test_a_test_with_the_mark_starts_new_pythons():
    assert subprocess.Popen is RealPopen


def test_a_process_that_nobody_waited_for_is_told():
    process = WarmPopen([sys.executable, "-c", ""])
    with pytest.warns(ResourceWarning, match=f"subprocess {process.pid} is still running"):
        process.__del__()
    assert process.wait(LONG) == 0
