"""`kerascope learn web` without a browser: who may ask, blocks, what is kept, exercises.

One server runs for the whole module, as a process of its own. Its kernel starts with the first
block.
"""

import asyncio
import json
import os
import subprocess
import sys
import time

import pytest
from web_server import CHAPTER_NAME, Server

from kerascope.cli import main
from kerascope.errors import ArgumentError, MissingToolError
from kerascope.learn.exercises import all_exercises
from kerascope.learn.web import check_extra
from kerascope.learn.web.kept import KEPT, KeptWork, events_to_keep, fields_of_page

for needed in ("starlette", "uvicorn", "jupyter_client", "ipykernel"):
    pytest.importorskip(needed)

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("student"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def first(server):
    """The name of the chapter's first block."""
    return server.data(f"/blocks/{CHAPTER_NAME}")["blocks"][0]["id"]


def printed(events):
    return "".join(event.get("text", "") for event in events if "error" not in event)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


# --- who may ask ----------------------------------------------------------------------------------


def test_the_first_visit_sets_a_strict_cookie_and_leads_to_the_clean_address(server):
    status, headers, _ = server.ask(f"/05-node.html?token={server.token}", Cookie="")
    assert (status, headers["location"]) == (303, "/05-node.html")
    assert "HttpOnly" in headers["set-cookie"]
    assert "samesite=strict" in headers["set-cookie"].lower()


def test_the_redirect_does_not_lead_to_another_server(server):
    status, headers, _ = server.ask(f"//evil.example/?token={server.token}", Cookie="")
    assert (status, headers["location"]) == (303, "/evil.example/")


@pytest.mark.parametrize(
    ("path", "headers", "sentence"),
    [
        ("/index.html", {"Cookie": ""}, "has a token"),
        ("/index.html", {"Cookie": "kerascope=wrong"}, "has a token"),
        ("/index.html?token=wrong", {}, "not the token of the running server"),
        ("/index.html", {"Host": "evil.example"}, "127.0.0.1 and localhost"),
        ("/blocks/02-backend/restart", {"Origin": "http://evil.example"}, "another server"),
        ("/blocks/02-backend/restart", {"Origin": "null"}, "another server"),
        ("/files/web.js", {"Cookie": ""}, "has a token"),
    ],
)
def test_others_are_refused_with_a_sentence(server, path, headers, sentence):
    data = {} if path.endswith("restart") else None
    status, _, text = server.ask(path, data, **headers)
    assert status == 403
    assert sentence in text
    assert len(text.splitlines()) == 2  # English and Chinese


@pytest.mark.slow
def test_pages_may_connect_to_this_server_and_to_nothing_else(server):
    status, headers, page = server.ask("/05-node.html")
    assert status == 200
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "connect-src 'self'" in policy
    assert "Content-Security-Policy" not in page
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/99-none.html", "/files/nothing.js", "/blocks/99-none"])
def test_what_does_not_exist_is_said(server, path):
    status, _, text = server.ask(path)
    assert status == 400
    assert text.startswith("There is no")


# --- blocks ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_blocks_share_their_names_and_an_error_has_a_traceback(server, first):
    server.run(first, "x = 3")
    assert printed(server.run(first, "print(x + 1)")) == "4\n"
    error, done = server.run(first, "print(unknown)")
    assert (error["error"], error["message"]) == ("NameError", "name 'unknown' is not defined")
    assert done["done"] >= 0
    error = server.run(first, "x = = 3")[0]  # without the file of the kernel
    assert error["message"] == "invalid syntax (block, line 1)"


def test_a_block_is_stopped_and_its_output_is_kept_but_not_without_end(server, first):
    with server.stream(first, "while True: print('again')") as lines:
        lines.readline()
        assert server.data(f"/blocks/{CHAPTER_NAME}")["running"] == first
    # The page is closed, and opened again.
    server.ask(f"/blocks/{CHAPTER_NAME}/stop", {})
    lines = server.ask(f"/blocks/{CHAPTER_NAME}/follow", {})[2].splitlines()
    assert not lines or json.loads(lines[-1]).keys() in ({"done"}, set())
    end = time.monotonic() + 20
    while server.data(f"/blocks/{CHAPTER_NAME}")["running"] and time.monotonic() < end:
        time.sleep(0.1)
    kept = server.data(f"/blocks/{CHAPTER_NAME}")["kept"][first]["events"]
    assert any(event.get("error") == "KeyboardInterrupt" for event in kept)
    assert len(json.dumps(kept)) < 500_000


def test_a_block_is_stopped_even_before_it_begins(server, first):
    with server.stream(first, "import time\nwhile True: time.sleep(0.01)") as lines:
        server.ask(f"/blocks/{CHAPTER_NAME}/stop", {})
        assert json.loads(lines.readline())["error"] == "KeyboardInterrupt"


def test_a_debugger_asks_in_the_page_and_leaves_the_kernel_alone(server, first):
    state = server.data(f"/blocks/{CHAPTER_NAME}")
    session = next(block for block in state["blocks"] if block["kind"] == "pdb")
    script = f"open({session['words'][0]!r}, 'w').write('y = 40 + 2\\n')"
    server.run(first, script)
    commands, events = ["n", "p y", "q"], []
    with server.stream(session["id"], "") as lines:
        while line := lines.readline():
            events.append(json.loads(line))
            if "ask" in events[-1]:
                assert events[-1]["ask"] == "(Pdb) "
                server.ask(f"/blocks/{CHAPTER_NAME}/answer", {"text": commands.pop(0)})
    said = "".join(event.get("text", event.get("ask", "")) for event in events)
    assert said.index("(Pdb) p y\n") < said.index("42\n") < said.index("(Pdb) q\n")
    assert printed(server.run(first, "print('y' in globals())")) == "False\n"


def test_a_picture_that_a_block_writes_is_shown(server, first):
    code = "from pathlib import Path\n_ = Path('out/mine.svg').write_text('<svg/>')"
    picture, _ = server.run(first, code)
    assert picture == {"svg": "<svg/>", "name": "out/mine.svg"}


@pytest.mark.slow
def test_a_kernel_that_ends_is_said_and_starts_again(server, first):
    events = server.run(first, "import os\nos._exit(1)")
    assert [event["error"] for event in events if "error" in event] == ["KernelEnded"]
    assert printed(server.run(first, "print(1)")) == "1\n"
    server.ask(f"/blocks/{CHAPTER_NAME}/restart", {})
    assert printed(server.run(first, "print('x' in globals())")) == "False\n"


def test_a_line_of_millions_of_letters_does_not_hold_the_server(server, first):
    begun = time.monotonic()
    error, _ = server.run(first, "raise ValueError('x' * 3_000_000)")
    assert error["message"] == "x" * 20_000
    assert time.monotonic() - begun < 50  # it took hours


def test_pictures_without_end_are_dropped(server, first):
    code = (
        "from IPython.display import HTML, display\nfor _ in range(60): display(HTML('x' * 10**5))"
    )
    *shown, cut, done = server.run(first, code)
    assert (len(shown), cut, list(done)) == (30, {"text": "\n...\n"}, ["done"])


@pytest.mark.slow
def test_reading_other_chapters_does_not_end_the_kernel_of_one(server, first):
    server.run(first, "kept = 1")
    for chapter in ("01-the-whole", "03-data-types", "04-tensor-and-input"):
        server.ask(f"/blocks/{chapter}/keep", {"seen": ["a"]})
    other = server.data("/blocks/05-node")["blocks"][0]["id"]
    server.ask("/blocks/05-node/run", {"block": other, "code": "1"})
    assert printed(server.run(first, "print(kept)")) == "1\n"


def test_what_a_block_leaves_in_out_does_not_end_the_kernel(server, first):
    code = "import os\nos.symlink('nowhere', 'out/lost.svg')\nos.mkdir('out/folder.svg')\nhere = 1"
    server.run(first, "import os\nos.makedirs('out', exist_ok=True)")
    assert [list(event) for event in server.run(first, code)] == [["done"]]
    assert printed(server.run(first, "print(here)")) == "1\n"


@pytest.mark.parametrize(
    "delay", [0, *(pytest.param(delay, marks=pytest.mark.slow) for delay in (0.1, 1.0))]
)
def test_a_block_is_run_while_python_is_restarted(tmp_path, delay):
    from kerascope.learn.web.kernel import ChapterKernel

    async def restart_twice():
        kernel = ChapterKernel(tmp_path, tmp_path)
        cut_off = kernel.begin("b", "import time\ntime.sleep(600)", lambda run: None)
        await asyncio.sleep(delay)  # before it begins, while the kernel starts, or in it
        closing = asyncio.create_task(kernel.close())
        await asyncio.sleep(0)
        after = kernel.begin("b", "import os\nprint(os.path.isdir('.'))", lambda run: None)
        ended = [[event async for event in run.read()] for run in (cut_off, after)]
        await closing
        await kernel.close()
        return ended

    (error, _), (text, _) = asyncio.run(asyncio.wait_for(restart_twice(), 60))
    assert error["error"] == "KernelEnded"
    assert text == {"text": "True\n"}


def test_a_block_is_stopped_while_python_starts(tmp_path):
    from kerascope.learn.web.kernel import ChapterKernel

    async def stop():
        kernel = ChapterKernel(tmp_path, tmp_path)
        run = kernel.begin("b", "import time\ntime.sleep(600)", lambda run: None)
        await asyncio.sleep(0.1)
        await kernel.interrupt()
        return [event async for event in run.read()]

    error, _ = asyncio.run(asyncio.wait_for(stop(), 60))
    assert error["error"] == "KernelEnded"


@pytest.mark.slow
def test_python_ends_with_a_server_that_is_killed(tmp_path):
    server = Server(tmp_path)
    first = server.data(f"/blocks/{CHAPTER_NAME}")["blocks"][0]["id"]
    with server.stream(first, "import os\nprint(os.getpid())\nwhile True: pass") as lines:
        process = int(json.loads(lines.readline())["text"])
        server.process.kill()
        server.process.communicate()
    end = time.monotonic() + 30
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_alive(process)


# --- what is kept ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_was_typed_survives_the_server(tmp_path):
    one = Server(tmp_path)
    first = one.data(f"/blocks/{CHAPTER_NAME}")["blocks"][0]["id"]
    fields = {"code": "print(7)", "prediction": "八", "reason": "I forgot"}
    one.ask(f"/blocks/{CHAPTER_NAME}/keep", {"block": first, "fields": fields})
    one.run(first, "print(7)")
    one.ask(f"/blocks/{CHAPTER_NAME}/keep", {"seen": ["a", "b", "a"]})
    code, said = one.stop()
    assert code == 0
    assert "your work is kept" in said
    assert "Traceback" not in said
    other = Server(tmp_path)
    kept = other.data(f"/blocks/{CHAPTER_NAME}")["kept"][first]
    assert fields.items() <= kept.items()
    assert kept["events"][0] == {"text": "7\n"}
    assert other.data("/progress")[CHAPTER_NAME]["seen"] == 2
    other.stop()


@pytest.mark.slow
def test_ctrl_c_ends_a_program_that_waits_for_a_line(tmp_path):
    server = Server(tmp_path)
    first = server.data(f"/blocks/{CHAPTER_NAME}")["blocks"][0]["id"]
    code = "import os\nprint(os.getpid())\ninput('? ')"
    with server.stream(first, code) as lines:
        process = int(json.loads(lines.readline())["text"])
        assert json.loads(lines.readline()) == {"ask": "? "}
        code, said = server.stop()
        assert (code, "Traceback" in said) == (0, False)
        assert "KernelEnded" in lines.readline().decode()
    assert not is_alive(process)


@pytest.mark.parametrize("data", [{"block": "none", "fields": {}}, {"seen": 1}, ["a"], {}])
def test_what_no_page_sends_changes_nothing(server, data):
    server.ask(f"/blocks/{CHAPTER_NAME}/keep", {"seen": []})
    before = (server.folder / "kerascope-exercises" / KEPT).read_bytes()
    status, _, _ = server.ask(f"/blocks/{CHAPTER_NAME}/keep", data)
    assert status == 400
    assert (server.folder / "kerascope-exercises" / KEPT).read_bytes() == before


def test_half_of_a_surrogate_pair_is_refused_from_a_page_and_kept_from_a_block(server, first):
    fields = {"code": "\ud800"}
    status, _, said = server.ask(f"/blocks/{CHAPTER_NAME}/keep", {"block": first, "fields": fields})
    assert (status, said) == (400, "Request: expected a JSON object.\n")
    assert KeptWork(server.folder).keep_block("c", "b", {"events": [{"text": "\ud800"}]}) is None
    assert KeptWork(server.folder).chapter("c")["blocks"]["b"]["events"] == [{"text": "\ud800"}]


def test_two_tabs_change_different_fields(tmp_path):
    one, other = KeptWork(tmp_path), KeptWork(tmp_path)
    one.keep_block("c", "b", {"code": "1"})
    other.keep_block("c", "b", {"prediction": "2"})
    one.keep_seen("c", ["s"])
    assert one.chapter("c") == {"seen": ["s"], "blocks": {"b": {"code": "1", "prediction": "2"}}}
    one.keep_block("c", "b", {"events": [{"text": "1"}]})
    one.keep_block("c", "b", {"code": None})  # its output goes with it
    assert other.chapter("c")["blocks"] == {"b": {"prediction": "2"}}


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"chapters": {"c": 3}}',
        '{"chapters": {"c": {"blocks": []}}}',
        '{"chapters": {"c": {"seen": "s"}}}',
        '{"chapters": {"c": {"blocks": {"b": {"code": 3}}}}}',
    ],
)
def test_a_damaged_file_is_put_aside(tmp_path, text):
    (tmp_path / KEPT).write_text(text)
    assert KeptWork(tmp_path).chapter("c")["blocks"] == {}
    assert (tmp_path / f"{KEPT}.damaged").read_text() == text


def test_only_texts_of_known_fields_are_kept():
    with pytest.raises(ArgumentError, match="got 'events'"):
        fields_of_page({"events": "x"})
    with pytest.raises(ArgumentError, match="got 'code'"):
        fields_of_page({"code": 3})


def test_what_is_too_long_is_not_kept():
    events = [{"text": "a"}, {"html": "x" * 500_000}, {"done": 1}]
    assert events_to_keep(events) == [{"text": "a"}, {"done": 1}]


# --- exercises ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_exercise_is_saved_checked_and_not_overwritten_blindly(server, first):
    address = "/exercises/call_twice"
    state = server.data(address)
    path = server.folder / state["file"]
    assert path.read_text() == state["code"]
    status, _, text = server.ask(f"{address}/solution", {})
    assert status == 403
    assert "after an attempt of your own" in json.loads(text)["message"]["en"]
    wrong = state["code"].replace("...", "0")
    checked = server.data(f"{address}/check", {"code": wrong, "version": state["version"]})
    assert checked["outcome"]["verdict"] == "FAIL"
    assert path.read_text() == wrong
    assert len(server.data(f"{address}/hint", {})["hints"]) == 1
    solution = server.data(f"{address}/solution", {})["solution"]
    path.write_text(wrong + "# from another editor\n")
    data = {"code": solution, "version": checked["version"]}
    status, _, text = server.ask(f"{address}/check", data)
    assert status == 409
    assert "from another editor" in path.read_text()
    data["version"] = json.loads(text)["version"]
    assert server.data(f"{address}/check", data)["outcome"]["verdict"] == "PASS"
    said = subprocess.run(
        [sys.executable, "-m", "kerascope", "learn", "list", "call_twice"],
        cwd=server.folder, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.split()[:2] == ["PASS", "05/call_twice"]


def test_a_file_that_is_not_in_utf_8_is_not_overwritten(server):
    state = server.data("/exercises/count_parameters")
    path = server.folder / state["file"]
    path.write_bytes(b"# caf\xe9\n")
    state = server.data("/exercises/count_parameters")
    data = {"code": state["code"] + "x", "version": state["version"]}
    status, _, said = server.ask("/exercises/count_parameters/save", data)
    assert (status, "not in UTF-8" in said) == (400, True)
    assert path.read_bytes() == b"# caf\xe9\n"


@pytest.mark.slow
def test_blocks_use_the_parts_of_the_students_own_engine(server, first):
    part = next(one for one in all_exercises() if one.part == "gradient")
    state = server.data(f"/exercises/{part.name}")
    data = {"code": part.solution.read_text("utf-8"), "version": state["version"]}
    assert server.data(f"/exercises/{part.name}/check", data)["outcome"]["verdict"] == "PASS"
    code = "from kerascope.learn.engine import use_my_engine\nprint(use_my_engine().parts())"
    assert "'gradient': yours, 'function': kerascope's" in printed(server.run(first, code))


# --- the command ----------------------------------------------------------------------------------


def test_without_the_extra_one_message_names_it(monkeypatch):
    monkeypatch.setattr("kerascope.learn.web.NEEDED", ("no_such_package",))
    with pytest.raises(MissingToolError, match=r'no_such_package.*pip install "kerascope\[web\]"'):
        check_extra()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["web", "--port", "70000"], "expected a number from 1 to 65535"),
        (["check", "--port", "8000"], "belongs to `kerascope learn web`"),
        (["web", "99"], "No chapter '99'"),
    ],
)
def test_wrong_words_are_refused(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["learn", *words]) == 2
    assert message in capsys.readouterr().err
    assert not os.listdir(tmp_path)


@pytest.mark.slow
def test_a_port_in_use_is_said(server, tmp_path):
    command = [sys.executable, "-m", "kerascope", "learn", "web", "--port", str(server.port)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"port {server.port} is in use" in ended.stderr
