"""Sessions started afresh and forked off a waiting process: the same, whatever happens in them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kerascope.lessons import sessions
from kerascope.lessons.runner import prepare_folder
from kerascope.lessons.sessions import PACKAGE_PARENT, fixed_environment, run_session

BOTH_WAYS = """
import json, sys
from kerascope.lessons import sessions
sessions.TIME_LIMIT = 600
server = sessions.start_server()
told = []
for kind, words, commands in json.loads(sys.stdin.read()):
    for start in (server, sessions.start_session):
        told.append(sessions.run_session(kind, tuple(words), commands, start))
print(json.dumps(told))
"""
SESSIONS = [
    ("pdb", ["example.py"], "tbreak 22\nc\nn\np x\nw\nq\n"),
    ("pdb", ["example.py"], "c\np 1\n"),
    ("pdb", ["small.py", "one", "two"], "c\n"),
    ("pdb", ["nowhere.py"], "c\n"),
    ("kscope", ["--dialect", "1.2", "example.py"], "b dense_1\nc\nw\nr\ninfo counts\n"),
    ("kscope", ["small.py", "one"], "c\n"),
    ("kscope", ["--nonsense", "small.py"], "c\n"),
]
SMALL = "import sys\nprint(sys.argv, __name__, 'kerascope.lessons.child' in sys.modules)\n"


@pytest.mark.process
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.slow
def test_a_forked_session_prints_what_a_fresh_one_prints(tmp_path: Path):
    folder = tmp_path / "work"
    prepare_folder(folder)
    (folder / "small.py").write_text(SMALL, encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "-c", BOTH_WAYS],
        input=json.dumps(SESSIONS),
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=fixed_environment(tmp_path),
        timeout=9000,
        check=True,
    )
    told = json.loads(finished.stdout)
    for number, (kind, words, commands) in enumerate(SESSIONS):
        forked, fresh = told[2 * number : 2 * number + 2]
        assert forked == fresh, (kind, words, commands)
    texts = [text for text, _ in told[::2]]
    assert "dense_1/relu" in texts[0]
    assert "(Pdb) p 1\n1\n" in texts[1]
    assert "['small.py', 'one', 'two'] __main__ False" in texts[2]
    assert [bool(problem) for _, problem in told[::2]] == [
        False, False, False, True, False, False, True
    ]  # fmt: skip


def test_a_session_that_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(sessions, "TIME_LIMIT", 0.2)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(PACKAGE_PARENT))
    Path("endless.py").write_text("import time\ntime.sleep(900)\n", encoding="utf-8")
    transcript = run_session("pdb", ("endless.py",), "c\n")
    assert transcript.problem == "the session had not ended after 0.2 s"


CALM = """
import asyncio, errno, os, socket, tempfile, threading
from kerascope.lessons.sessions import seed_process
for _ in range(2):
    seed_process()

def spoken(listening, address):
    listening.bind(address)
    listening.listen()
    def answer():
        with listening.accept()[0] as line:
            line.sendall(line.recv(9)[::-1])
    threading.Thread(target=answer).start()
    with socket.socket(listening.family) as line:
        line.connect(listening.getsockname())
        line.sendall(b"abc")
        return line.recv(9)

with tempfile.TemporaryDirectory() as folder:
    if hasattr(socket, "AF_UNIX"):
        with socket.socket(socket.AF_UNIX) as listening:
            assert spoken(listening, os.path.join(folder, "s")) == b"cba"
        with socket.socket(socket.AF_UNIX) as line:
            try:
                line.connect(os.path.join(folder, "none"))
            except FileNotFoundError:
                pass
            else:
                raise SystemExit("connected with nobody")
            assert line.connect_ex(os.path.join(folder, "none")) == errno.ENOENT
with socket.socket() as listening:
    assert spoken(listening, ("127.0.0.1", 0)) == b"cba"
asyncio.run(asyncio.sleep(0))
abroad = ((socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET6, ("2001:db8::1", 80)))
for asked in (socket.socket.connect, socket.socket.connect_ex):
    for family, address in abroad:
        try:
            asked(socket.socket(family), address)
        except OSError as error:
            assert "Lessons run without a network" in str(error), error
        else:
            raise SystemExit("a network was reached")
print("calm")
"""


@pytest.mark.process
def test_a_calm_process_speaks_with_its_own_machine_and_with_no_other(tmp_path):
    """It used to return from `connect` without having connected."""
    finished = subprocess.run(
        [sys.executable, "-c", CALM],
        capture_output=True,
        encoding="utf-8",
        env=fixed_environment(tmp_path),
        timeout=600,
    )
    assert (finished.stdout, finished.stderr) == ("calm\n", "")


def test_a_lesson_does_not_use_the_workbook_of_its_author(tmp_path, monkeypatch):
    monkeypatch.setenv("KERASCOPE_WORKBOOK", str(tmp_path))
    assert "KERASCOPE_WORKBOOK" not in fixed_environment(tmp_path)
