"""A student's file that loops, ends the process, prints without end: there is always an answer."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ctrl_c import HEARS_CTRL_C
from waiting import LONG, wait_until

from kerascope.learn.exercises import Exercise
from kerascope.learn.running import MOST_PRINTED, check_file, run_file
from kerascope.learn.verdicts import Text, Verdict

CHECKER = """
from kerascope.learn import check

@check
def its_answer(student):
    student.same("double(2)", student.function("double")(2), 4)
"""
GOOD = "def double(x):\n    return 2 * x\n"
MANY_SECONDS = 600  # only a hang reaches them
LIMITS = (0.5, 5, 50, 500)  # seconds for what never ends; a slow machine gets to the later ones


@pytest.fixture
def exercise(tmp_path):
    """An exercise: double(x)."""
    return made(tmp_path, CHECKER)


def made(folder, checker):
    files = {"exercises/double.py": "def double(x):\n    return ...\n", "checks/double.py": checker}
    for name, text in files.items():
        path = folder / "01-course" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    words = Text("Double it.", "加倍。")
    return Exercise(folder / "01-course", "double", 1, ("R01",), words, (words,), words)


def checked(exercise, tmp_path, source, seconds=MANY_SECONDS):
    path = tmp_path / "double.py"
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return check_file(exercise, path, seconds)


def has_ended(pid):
    """Tell whether a process is over, even if nobody has asked yet how it ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def checked_too_long(exercise, tmp_path, source, is_reached):
    """Return the outcome at the first limit that lets the file come as far as it has to."""
    for seconds in LIMITS:
        outcome = checked(exercise, tmp_path, source, seconds)
        assert outcome.verdict is Verdict.FAIL
        assert outcome.message.en.startswith(f"still running after {seconds} s")
        if is_reached(outcome):
            return outcome
    raise AssertionError(f"it did not come so far: {outcome}")


def test_a_good_file_passes_and_its_demands_are_counted(exercise, tmp_path):
    outcome = checked(exercise, tmp_path, GOOD)
    assert (outcome.verdict, outcome.message.en) == (Verdict.PASS, "")
    assert outcome.checks >= 2


def test_a_file_that_is_not_there_is_not_attempted(exercise, tmp_path):
    assert check_file(exercise, tmp_path / "none.py").verdict is Verdict.NOT_ATTEMPTED


@pytest.mark.parametrize(
    ("source", "line", "en", "zh"),
    [
        ("def double(x:\n", 1, "line 1 is not Python: '(' was never closed", "第 1 行不是合法的"),
        (b"double = 1\0", None, "is not Python", "不是合法的 Python"),
        ("import sys\nsys.exit(0)\n", None, "ended itself with sys.exit()", "sys.exit()"),
        ("import os\nos._exit(0)\n", None, "the process ended (code 0)", "进程就结束了"),
        ("\n1 / 0\n", 2, "your file stopped at line 2 with ZeroDivisionError", "第 2 行"),
        ("input()\n", 1, "so leave out input()", "请去掉 input()"),
        ("", None, "expected your file to define double, it does not", "没有找到"),
        ("doubel = 1\n", None, "it does not; is doubel a misspelling", "doubel 是不是拼错了"),
        ("double = 5\n", None, "expected double to be a function, yours is 5", "应是一个函数"),
        ("double = ...\n", None, "it is still `...`", "仍是"),
        ("def double(x):\n    return x.y\n", 2, "double(...) stopped at line 2 with Attrib", "2"),
        ("def double(x):\n    return None\n", None, "to be 4, yours is None", "你的是 None"),
        ("def double(x):\n    return True\n", None, "yours is the truth value True", "真值 True"),
        ("def double(x):\n    return double(x)\n", 2, "RecursionError", "RecursionError"),
        ("def double(x):\n    raise SystemExit\n", None, "is there an exit()", "exit()"),
        ("import sys\nsys.stdout = None\ndouble = 5\n", None, "yours is 5", "你的是 5"),
        ("raise KeyboardInterrupt\n", 1, "KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_what_goes_wrong_is_said_in_both_languages(exercise, tmp_path, source, line, en, zh):
    outcome = checked(exercise, tmp_path, source)
    assert outcome.verdict is Verdict.FAIL
    assert en in outcome.message.en
    assert zh in outcome.message.zh
    assert outcome.line == line


def test_a_traceback_shows_the_students_lines_only(exercise, tmp_path):
    source = "def double(x):\n    return helper(x)\n\n\ndef helper(x):\n    return x['a']\n"
    details = checked(exercise, tmp_path, source).details
    assert "line 2, in double" in details
    assert "line 6, in helper" in details
    assert "kerascope" not in details


@pytest.mark.slow
def test_an_endless_loop_is_ended_and_its_line_told(exercise, tmp_path):
    source = "import time\n\ndef double(x):\n    while True:\n        time.sleep(0.01)\n"
    outcome = checked_too_long(exercise, tmp_path, source, lambda one: one.line in (4, 5))
    assert f" s, at line {outcome.line}; is there a loop" in outcome.message.en


@pytest.mark.slow
def test_endless_printing_is_ended_and_cut(exercise, tmp_path):
    source = "import time\nwhile True:\n    print('x' * 9999)\n    time.sleep(0.01)\n"
    outcome = checked_too_long(exercise, tmp_path, source, lambda one: "..." in one.printed)
    assert len(outcome.printed) < MOST_PRINTED + 10
    assert outcome.printed.endswith("...\n")


def test_what_it_prints_is_kept_in_any_script(exercise, tmp_path):
    outcome = checked(exercise, tmp_path, f"print('数 é')\n{GOOD}")
    assert outcome.printed == "数 é\n"
    assert outcome.verdict is Verdict.PASS


def test_a_thread_that_is_left_running_does_not_hold_the_verdict(exercise, tmp_path):
    source = (
        f"import threading, time\nthreading.Thread(target=time.sleep, args=(900,)).start()\n{GOOD}"
    )
    assert checked(exercise, tmp_path, source).verdict is Verdict.PASS


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_a_process_that_is_left_running_ends_with_the_check(exercise, tmp_path):
    marker = tmp_path / "pid"
    source = (
        "import subprocess, sys\n"
        "left = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(900)'])\n"
        f"open({str(marker)!r}, 'w').write(str(left.pid))\n{GOOD}"
    )
    assert checked(exercise, tmp_path, source).verdict is Verdict.PASS
    left = int(marker.read_text())
    wait_until(lambda: has_ended(left))


def test_the_part_of_a_program_for_the_terminal_is_not_run(exercise, tmp_path):
    source = f"{GOOD}if __name__ == '__main__':\n    raise SystemExit\n"
    assert checked(exercise, tmp_path, source).verdict is Verdict.PASS


def test_a_file_beside_it_can_be_imported_but_hides_nothing_of_ours(
    exercise, tmp_path, monkeypatch
):
    (tmp_path / "mine.py").write_text("def twice(x):\n    return 2 * x\n")
    (tmp_path / "numpy.py").write_text("raise SystemError('hidden')\n")
    monkeypatch.chdir(tmp_path)
    source = "import numpy\nfrom mine import twice as double\n"
    assert checked(exercise, tmp_path, source).verdict is Verdict.PASS


@pytest.mark.slow
@pytest.mark.process
def test_keras_is_ours_and_the_same_numbers_come_for_everybody(exercise, tmp_path):
    source = (
        "import keras, numpy as np\n"
        "from keras.layers import Dense\n"
        "assert 'kerascope' in Dense.__module__, Dense.__module__\n"
        "print(np.random.rand(), hash('a'))\n" + GOOD
    )
    first, second = (checked(exercise, tmp_path, source) for _ in range(2))
    assert first.verdict is Verdict.PASS, first.message.en
    assert first.printed == second.printed


def test_a_checker_that_demands_nothing_lets_nobody_pass(tmp_path):
    empty = made(tmp_path, "from kerascope.learn import check\n@check\ndef f(student):\n    pass\n")
    outcome = checked(empty, tmp_path, GOOD)
    assert (outcome.verdict, outcome.checks) == (Verdict.FAIL, 0)
    assert outcome.message.en.startswith("the checker checks nothing")


def test_places_that_are_left_are_named_in_a_failure(exercise, tmp_path):
    outcome = checked(exercise, tmp_path, "other = ...\n\ndef double(x):\n    return 5\n")
    assert outcome.message.en.endswith("(`...` is still there: line 1)")
    assert outcome.message.zh.endswith("（第 1 行仍是 `...`）")


def test_a_file_that_cannot_be_read_is_a_failure(exercise, tmp_path):
    outcome = check_file(exercise, tmp_path)
    assert outcome.verdict is Verdict.FAIL
    assert "cannot be read" in outcome.message.en


@pytest.mark.slow
def test_a_program_is_run_as_a_program(tmp_path, capfd):
    path = tmp_path / "program.py"
    path.write_text("import sys\nif __name__ == '__main__':\n    print('ran')\n    sys.exit(3)\n")
    assert run_file(path, MANY_SECONDS) == 3
    assert capfd.readouterr().out == "ran\n"
    path.write_text("import time\ntime.sleep(900)\n")
    assert run_file(path, 1.0) is None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_the_students_process_too(tmp_path):
    marker = tmp_path / "pid"
    program = tmp_path / "work" / "01-the-whole" / "count_parameters.py"
    command = [sys.executable, "-m", "kerascope", "learn", "--folder", str(tmp_path / "work")]
    subprocess.run(command, check=True, capture_output=True)
    program.write_text(
        f"import os, time\nopen({str(marker)!r}, 'w').write(str(os.getpid()))\ntime.sleep(900)\n"
    )
    words = ["learn", "check", "count_parameters", *command[4:], "--time-limit", "900"]
    with subprocess.Popen(
        [sys.executable, "-c", HEARS_CTRL_C, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            wait_until(
                lambda: process.poll() is not None or (marker.exists() and marker.read_text())
            )
            assert process.poll() is None, process.stderr.read()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONG)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err.decode().strip() == "kerascope: interrupted"
    wait_until(lambda: has_ended(int(marker.read_text())))
