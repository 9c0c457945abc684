"""A whole class checked at once: a process for each answer, forked off a server."""

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from thinned import thinned

from kerascope.cli import main
from kerascope.learn.exercises import all_exercises
from kerascope.learn.running import check_file, environment, run_checker
from kerascope.learn.servers import CAN_FORK, ForkServer, check_files
from kerascope.learn.verdicts import Verdict

EXERCISES = [exercise for exercise in all_exercises() if exercise.wrong_answers]
FIRST = EXERCISES[0]
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60  # a loaded machine
needs_fork = pytest.mark.skipif(not CAN_FORK, reason="the answers are not forked here")


@pytest.fixture(scope="module")
def server():
    made = ForkServer()
    yield made
    made.close()


@needs_fork
@pytest.mark.parametrize(
    "exercise", thinned(EXERCISES, kind=lambda e: e.chapter), ids=lambda e: e.id
)
def test_a_fork_gives_the_verdict_of_a_new_process(exercise, server):
    for path in (exercise.solution, exercise.wrong_answers[0]):
        fresh = check_file(exercise, path, SECONDS)
        assert check_file(exercise, path, SECONDS, server.run) == fresh


def outcome_of(source, run, tmp_path, seconds=SECONDS):
    path = tmp_path / f"{FIRST.name}.py"
    path.write_text(source, encoding="utf-8")
    return check_file(FIRST, path, seconds, run)


@needs_fork
def test_nothing_of_an_answer_is_there_for_the_next(server, tmp_path):
    first = """
import os, random, sys, kerascope, numpy as np
kerascope.left_behind = os.environ["LEFT"] = "yes"
os.chdir("/")
sys.setrecursionlimit(77)
np.random.seed(5)
print(hash("a"), sys.flags.hash_randomization)
x = 1
"""
    second = """
import os, sys, kerascope, numpy as np
print(hasattr(kerascope, "left_behind"), "LEFT" in os.environ, os.getcwd() == "/")
print(sys.getrecursionlimit() == 77, np.random.rand(), sys.flags.safe_path, sys.stdin.read())
x = 1
"""
    hashes = outcome_of(first, server.run, tmp_path).printed
    assert outcome_of(first, run_checker, tmp_path).printed == hashes
    printed = outcome_of(second, server.run, tmp_path).printed
    assert printed.startswith("False False False\nFalse ")
    assert outcome_of(second, run_checker, tmp_path).printed == printed


@needs_fork
@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import time\ntime.sleep(300)\n", "still running after 2 s, at line 2"),
        pytest.param(
            "while True:\n    print('x' * 999)\n",
            "still running after 2 s, at line 2",
            marks=pytest.mark.slow,
        ),
        ("import os\nos._exit(3)\n", "the process ended (code 3) before the check"),
        ("import os\nos.abort()\n", "the process ended (code -6) before the check"),
        (
            "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(300)\n",
            "(code -9) before the check",
        ),
        ("exit()\n", "ended itself with sys.exit()"),
        ("input()\n", "a check has no keyboard input"),
    ],
)
def test_an_answer_that_misbehaves_gets_its_verdict_and_the_next_one_too(
    source, words, server, tmp_path
):
    outcome = outcome_of(source, server.run, tmp_path, 2)
    assert outcome.verdict is Verdict.FAIL
    assert words in outcome.message.en
    assert check_file(FIRST, FIRST.solution, SECONDS, server.run).verdict is Verdict.PASS


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def has_ended(process):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if not is_running(process):
            return True
        time.sleep(0.05)
    return False


STARTS_ANOTHER = """
import subprocess, sys
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
print(other.pid, flush=True)
"""


@needs_fork
def test_what_an_answer_started_ends_with_it(server, tmp_path):
    outcome = outcome_of(STARTS_ANOTHER + "x = 1\n", server.run, tmp_path)
    assert has_ended(int(outcome.printed))


@pytest.mark.slow
@needs_fork
def test_an_answer_that_kills_the_server_and_never_ends_is_ended(server, tmp_path):
    number = tmp_path / "number"
    source = f"import os, time\nopen({str(number)!r}, 'w').write(str(os.getpid()))\n"
    outcome_of(f"{source}os.kill(os.getppid(), 9)\ntime.sleep(300)\n", server.run, tmp_path, 1)
    assert has_ended(int(number.read_text()))


@needs_fork
@pytest.mark.process
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_after_an_interruption(number, tmp_path):
    noted = tmp_path / "processes.txt"
    source = f"""
import os, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
with open({str(noted)!r}, "a") as file:
    file.write(f"{{os.getppid()}} {{os.getpid()}} {{other.pid}}\\n")
time.sleep(300)
"""
    for student in ("ann", "bob", "carol"):
        path = tmp_path / "class" / student / FIRST.folder.name / f"{FIRST.name}.py"
        path.parent.mkdir(parents=True)
        path.write_text(source, encoding="utf-8")
    words = [
        "learn",
        "check",
        FIRST.name,
        "--class",
        str(tmp_path / "class"),
        "--time-limit",
        "200",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "kerascope", *words], env=environment(), cwd=ROOT,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        deadline = time.monotonic() + SECONDS
        while not (noted.exists() and noted.read_text().count("\n") == 2):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        process.wait(20)
    finally:
        process.kill()
    running = [int(word) for word in noted.read_text().split()]
    assert len(running) == 6
    assert all(map(has_ended, running))


@pytest.mark.slow
def test_the_outcomes_come_in_the_order_of_the_files(tmp_path):
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ntime.sleep(0.5)\n" + FIRST.solution.read_text(encoding="utf-8"))
    files = [(FIRST, slow), (FIRST, FIRST.wrong_answers[0]), (FIRST, tmp_path / "none.py")]
    verdicts = [outcome.verdict for outcome in check_files(files, SECONDS, jobs=3)]
    assert verdicts == [Verdict.PASS, Verdict.FAIL, Verdict.NOT_ATTEMPTED]
    assert list(check_files([], SECONDS)) == []


def test_a_spreadsheet_has_a_row_for_each_student_and_exercise(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for student, answer in (("安娜", FIRST.solution), ("bob", FIRST.wrong_answers[0])):
        path = Path("class", student, "kerascope-exercises", FIRST.folder.name, f"{FIRST.name}.py")
        path.parent.mkdir(parents=True)
        path.write_bytes(answer.read_bytes())
    words = ["learn", "check", FIRST.name, "--class", "class", "--time-limit", str(SECONDS)]
    assert main([*words, "--csv", "marks.csv", "--jobs", "1", "--lang", "zh"]) == 1
    assert Path("marks.csv").read_bytes().startswith(b"\xef\xbb\xbf")  # so Excel reads UTF-8
    with open("marks.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["exercise"], row["verdict"]) for row in rows] == [
        ("bob", FIRST.id, "FAIL"),
        ("安娜", FIRST.id, "PASS"),
    ]
    assert "应为" in rows[0]["message"]
    assert rows[1] == {**rows[1], "message": "", "line": ""}
    assert "安娜" in capsys.readouterr().out
