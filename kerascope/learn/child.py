"""The process that runs and checks a student's file.

`running.py` starts this process, which writes the outcome into a file. A second thread watches the
time: if the student's file does not finish, this thread reports the line being executed and ends
the process.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import warnings
from contextlib import suppress
from pathlib import Path
from types import FrameType, ModuleType

import numpy as np

from kerascope.compat import keras_imports_for_good
from kerascope.import_hook import OWN_ENGINE
from kerascope.learn.advice import advice_on_error
from kerascope.learn.engine import check_part, use_my_engine
from kerascope.learn.exercises import read_exercise
from kerascope.learn.student import Student, checks_of, judge
from kerascope.learn.verdicts import Outcome, Text, failed

MODULE = "exercise"
# The thread that writes the outcome acquires this lock, never releases it, and ends the process. So
# only one outcome is written, even if the check finishes just as the time runs out.
_ending = threading.Lock()


def main(checker: str, path: str, result: str, seconds: str) -> None:
    """Run a student's file and its checker, write the outcome, and end the process.

    Parameters
    ----------
    checker, path, result : str
        The files of the checker and of the student, and the file for the outcome.
    seconds : str
        The time limit, as a number.
    """
    keras_imports_for_good()
    np.random.seed(0)  # noqa: NPY002 (the generator that scripts use)
    checks = checks_of(Path(checker))
    watch = threading.Thread(target=_watch, args=(path, result, float(seconds)), daemon=True)
    watch.start()
    module = ModuleType(MODULE)
    module.__file__ = path
    use_my_engine(Path(path).resolve().parent.parent)
    # Warnings are shown as output of the student's file; these come from the import of other parts.
    warnings.filterwarnings("ignore", rf"{OWN_ENGINE}\.")
    if part := _part_of(Path(checker)):
        check_part(part, module)
    student = Student(module, path)
    outcome = _run_student_file(student) or judge(checks, student)
    _flush()
    _write(result, outcome)
    os._exit(0)  # do not wait for threads that the student's file started


def _part_of(checker: Path) -> str:
    """Return the name of the engine's part that an exercise asks for; "" for other exercises."""
    facts = checker.parents[1] / "exercises" / f"{checker.stem}.toml"
    return read_exercise(facts).part if facts.is_file() else ""


def _run_student_file(student: Student) -> Outcome | None:
    """Run the student's file; return an outcome of FAIL if the file raised, otherwise None."""
    path, module = Path(student.path), student.module
    sys.argv = [student.path]
    # The modules of a package import each other by its name: `from my_engine.graph import Tensor`.
    sys.path.insert(0, str(path.resolve().parents[1 if module.__package__ else 0]))
    sys.modules[MODULE] = module
    try:
        exec(compile(path.read_bytes(), student.path, "exec", dont_inherit=True), vars(module))
    except SyntaxError as error:
        line = error.lineno if error.filename == student.path else None
        place = Text(f"line {line}", f"第 {line} 行") if line else Text("your file", "你的文件")
        advice = advice_on_error(f"{type(error).__name__}: {error.msg}")
        return failed(
            en=f"{place.en} is not Python: {error.msg}{advice.en}",
            zh=f"{place.zh}不是合法的 Python：{error.msg}{advice.zh}",
            line=line,
        )
    except SystemExit:
        return failed(
            en="your file ended itself with sys.exit() before it could be checked; leave that out",
            zh="你的文件在检查之前就用 sys.exit() 结束了；请去掉它",
        )
    except BaseException as error:
        return student.failure(error).outcome(0)
    return None


def _write(result: str, outcome: Outcome) -> None:
    _ending.acquire()
    whole = Path(f"{result}.part")
    whole.write_text(json.dumps(outcome.as_json(), ensure_ascii=False), encoding="utf-8")
    os.replace(whole, result)


def _flush() -> None:
    """Flush standard output and standard error, and ignore errors.

    The student's file may have replaced these streams.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def _watch(path: str, result: str, seconds: float) -> None:
    time.sleep(seconds)
    main_thread = threading.main_thread().ident or 0
    line = _line_in(path, sys._current_frames().get(main_thread))
    place = Text(f", at line {line}", f"，停在第 {line} 行") if line else Text("", "")
    outcome = failed(
        en=f"still running after {seconds:g} s{place.en}; is there a loop that never ends?",
        zh=f"运行 {seconds:g} 秒后仍未结束{place.zh}；是不是有无限循环？",
        line=line,
    )
    try:
        _flush()
        _write(result, outcome)
    finally:  # also if the folder is gone, because the process that waits was killed
        os._exit(1)


def _line_in(path: str, frame: FrameType | None) -> int | None:
    """Return the number of the innermost line of the file `path` in the call stack, or None."""
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return None
