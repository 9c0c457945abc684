"""`kerascope learn web` in a browser: what a student does in a chapter, and axe-core's findings.

`axe/axe.min.js` is an unmodified file of axe-core 4.14.1 (Mozilla Public License 2.0, beside it).
"""

import re
from pathlib import Path

import pytest
from browser import PATIENCE, browser, wait_until
from web_server import Server

for needed in ("starlette", "uvicorn", "jupyter_client", "ipykernel"):
    pytest.importorskip(needed)

pytestmark = [pytest.mark.process, pytest.mark.browser, pytest.mark.slow]
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text("utf-8")
CHAPTER = "13-symbolic-differentiation"


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def served(chromium, tmp_path):
    """Return a function that starts a server and opens a page of it."""
    found = []

    def start(page, **options):
        server = Server(tmp_path)
        found.append((server, Tab(chromium, server, page, **options)))
        return found[-1]

    yield start
    for server, tab in found:
        tab.close()
        server.stop()
        assert tab.complaints == []


class Tab:
    """A tab with a page of the server, and shortcuts for what a student does in it."""

    def __init__(self, chromium, server, page, **options):
        self.page = chromium._running.new_page(**options)
        self.page.set_default_timeout(PATIENCE)
        self.complaints = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(f"http://127.0.0.1:{server.port}/{page}?token={server.token}#en")
        self.ready()

    def ready(self):
        wait_until(self.page, "document.documentElement.dataset.ready === 'yes'")

    def block(self, name):
        return Part(self, f"[id='block.{name}']")

    def exercise(self, name):
        return Part(self, f"section[aria-labelledby='exercise.{name}']")

    def findings(self):
        """Return what axe-core finds in the page."""
        self.page.evaluate(AXE + ";0")
        found = self.page.evaluate("axe.run(document, {iframes: false})")
        return [(one["id"], [n["html"][:200] for n in one["nodes"]]) for one in found["violations"]]

    def close(self):
        self.page.close()


class Part:
    """A block or an exercise of a page."""

    def __init__(self, tab, selector):
        self.tab, self.place = tab, tab.page.locator(selector)

    def press(self, name):
        self.place.get_by_role("button", name=re.compile(f"^{name}")).first.click()

    def write(self, text):
        """Type a text in place of what is in the editor."""
        self.place.locator(".CodeMirror").click()
        self.tab.page.keyboard.press("Control+A")
        self.tab.page.keyboard.insert_text(text)

    def waits_for(self, text, part=""):
        """Wait until the text is in the visible text, and return it."""
        end = PATIENCE / 1000
        place = self.place.locator(part).first if part else self.place
        while text not in (said := place.inner_text()):
            assert end > 0, said
            self.tab.page.wait_for_timeout(50)
            end -= 0.05
        return said


def test_a_student_goes_through_a_chapter(served):
    server, tab = served(f"{CHAPTER}.html")
    # Three blocks run, one of them edited and restored.
    names = tab.page.evaluate(
        "[...document.querySelectorAll('.block.python')]"
        ".filter((one) => !one.querySelector('form')).map((one) => one.id.slice(6))"
    )
    for name in names[:3]:
        tab.block(name).press("Run")
        tab.block(name).waits_for("done in")
    first = tab.block(names[0])
    assert "same output as in the chapter" in first.place.inner_text()
    first.press("Edit")
    first.write("import time\nprint(6 * 7)")
    tab.page.keyboard.press("Control+Enter")
    first.waits_for("42", ".mine")
    # One that never ends is stopped.
    first.write("while True: time.sleep(0.01)")
    tab.page.keyboard.press("Shift+Enter")
    first.waits_for("running")
    tab.block(names[1]).press("Run")
    tab.block(names[1]).waits_for("Another block still runs")
    first.press("Stop")
    first.waits_for("stopped after")
    tab.block(names[1]).place.get_by_text("Another block still runs").wait_for(state="hidden")
    # Python starts again: what is missing is offered.
    tab.page.get_by_role("button", name="Restart Python").click()
    tab.page.locator(".notice", has_text="names are gone").wait_for()
    first.press("Restore")
    tab.page.wait_for_timeout(600)  # the change is kept, and the notice stays
    assert tab.page.locator(".notice", has_text="names are gone").is_visible()
    assert first.place.locator("div.mine").inner_text() == ""  # what another code has printed
    last = tab.block(names[-1])
    last.press("Edit")
    last.write("print(loss)")
    tab.page.keyboard.press("Control+Enter")
    last.waits_for("NameError")
    last.waits_for("may need earlier ones")
    last.write("print('kept')")
    tab.page.keyboard.press("Control+Enter")
    last.waits_for("kept", ".mine")
    last.waits_for("done in")  # before the next block can run
    # A prediction comes before the debugger, and is compared.
    sweep = tab.block("sweep")
    sweep.press("Start the debugger")
    sweep.waits_for("First write what you expect")
    assert sweep.place.locator("pre.printed").is_hidden()
    sweep.place.locator("textarea").fill("30 and 90")
    sweep.press("Keep it")
    sweep.waits_for("If they differ: why?")
    assert sweep.place.locator(".compared pre").all_inner_texts()[0] == "30 and 90"
    assert "[f32[] 120, f32[] 90]" in sweep.place.locator("pre.printed").inner_text()
    sweep.place.locator(".compared textarea").fill("I forgot the factor")
    # The live prompt, after the block that writes the script.
    sweep.press("Run all above")
    tab.block("script").waits_for("done in")
    sweep.press("Start the debugger")
    sweep.waits_for("Send as in the chapter: tbreak event:grad.accum")
    sweep.press("Send as in the chapter")
    sweep.waits_for("Breakpoint 1 at event:grad.accum", ".mine")
    sweep.place.locator("input").fill("p 40 + 2")
    sweep.place.locator("input").press("Enter")
    sweep.waits_for("(Kdb) p 40 + 2\n42", ".mine")
    sweep.place.locator("input").fill("q")
    sweep.place.locator("input").press("Enter")
    sweep.waits_for("done in")
    tab.page.wait_for_timeout(600)  # what was typed last is kept after 400 ms
    # Nothing is lost when the server ends.
    code, said = server.stop()
    assert (code, "Traceback" in said) == (0, False)
    server, tab = served(f"{CHAPTER}.html")
    assert tab.block(names[-1]).place.locator(".CodeMirror-line").all_inner_texts() == [
        "print('kept')"
    ]
    assert "(Kdb) p 40 + 2\n42" in tab.block("sweep").place.locator(".mine").first.inner_text()
    assert tab.block("sweep").place.locator(".compared textarea").input_value() == (
        "I forgot the factor"
    )
    tab.page.goto(f"http://127.0.0.1:{server.port}/")
    tab.ready()
    assert "sections read" in tab.page.locator(".chapters").inner_text()


def test_an_output_that_the_chapter_shortens_is_the_same(served):
    _, tab = served("23-your-own-engine.html")
    watched = tab.block("watched")
    commands = watched.place.locator("pre:not(.printed)").bounding_box()
    assert commands["y"] < watched.place.locator(".tools").bounding_box()["y"]
    tab.block("script").press("Run all above")
    tab.block("one-digit").waits_for("done in")
    tab.block("script").press("Run")
    tab.block("script").waits_for("done in")
    watched.place.locator("textarea").fill("update")
    watched.press("Keep it")
    watched.press("Start the debugger")
    for command in ("watch", "c", "q"):
        watched.waits_for(f"Send as in the chapter: {command}")
        watched.press("Send as in the chapter")
    assert "\n...\n" in watched.place.locator("pre.printed").inner_text()
    watched.waits_for("same output as in the chapter")


def test_an_exercise_is_failed_and_passed_in_the_page(served):
    server, tab = served("01-the-whole.html")
    task = tab.exercise("count_parameters")
    stub = server.data("/exercises/count_parameters")["code"]
    task.press("Solution")
    task.waits_for("after an attempt of your own")
    task.write(stub.replace("...", "1 / 0"))
    task.press("Check")
    task.waits_for("FAIL", "[role=status] p")
    assert "ZeroDivisionError" in task.waits_for("ZeroDivisionError", ".at-line")
    task.press("Hint")
    task.waits_for("Hint (1 of")
    assert task.place.locator("ol li").count() == 1
    # Another editor changes the file.
    path = server.folder / server.data("/exercises/count_parameters")["file"]
    path.write_text("# from another editor\n")
    task.press("Hint")
    task.waits_for("Hint (2 of")
    task.write("# mine\n")
    task.waits_for("changed outside of this page")
    assert path.read_text() == "# from another editor\n"
    task.press("Show the file as it is now")
    task.waits_for("# from another editor", ".CodeMirror")
    task.write(stub.replace("...", "sum((a + 1) * b for a, b in zip(sizes, sizes[1:]))"))
    tab.page.keyboard.press("Control+Enter")
    task.waits_for("PASS", "[role=status] p")
    assert "PASS" in task.place.locator("h3").inner_text()
    task.write("# typed last")
    task.press("Start again")
    task.waits_for("is kept as")
    assert path.with_name(f"{path.name}.bak1").read_text() == "# typed last"
    tab.page.wait_for_timeout(600)  # nothing is left to save, so the status stays
    assert "is kept as" in task.place.inner_text()
    assert path.read_text() == stub


def test_what_is_typed_just_before_a_reload_is_kept_and_a_lost_server_is_said(served):
    server, tab = served("01-the-whole.html")
    name = tab.page.evaluate("document.querySelector('.block.python').id.slice(6)")
    block, task = tab.block(name), tab.exercise("count_parameters")
    block.press("Edit")
    task.write("# mine\n")
    block.write("print('kept')")
    form = tab.page.locator("form.prediction").first
    form.locator("textarea").fill("12")
    tab.page.reload()
    tab.ready()
    block.waits_for("print('kept')", ".CodeMirror")
    task.waits_for("# mine", ".CodeMirror")
    assert form.locator("textarea").input_value() == "12"
    path = server.folder / server.data("/exercises/count_parameters")["file"]
    assert path.read_text() == "# mine\n"
    path.write_bytes(b"# caf\xe9\n")
    task.write("# mine again\n")
    tab.page.locator(".notice", has_text="is not in UTF-8").wait_for()
    block.write("print('begun')\nwhile True: pass")
    tab.page.keyboard.press("Control+Enter")
    block.waits_for("begun", ".mine")
    server.process.kill()
    tab.page.locator(".notice", has_text="The server does not answer").wait_for()
    block.waits_for("Run")
    assert "running" not in block.place.inner_text()
    tab.complaints.clear()  # of requests without an answer


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_too_wide(served, scheme):
    server, tab = served("02-backend.html", color_scheme=scheme)
    names = tab.page.evaluate(
        "[...document.querySelectorAll('.block')].map((one) => one.id.slice(6))"
    )
    tab.block(names[0]).press("Edit")
    tab.block(names[0]).write("import kerascope as ks\nprint(ks)\n1 / 0")
    tab.page.keyboard.press("Control+Enter")
    tab.block(names[0]).waits_for("ZeroDivisionError")
    form = tab.page.locator("form.prediction").first
    form.locator("textarea").fill("?")
    form.locator("button").click()
    session = tab.page.locator(".block:is(.pdb, .kscope):not(:has(form))").first
    session.get_by_role("button").first.click()
    task = tab.page.locator("section.exercise").first
    task.locator(".CodeMirror").click()
    tab.page.keyboard.insert_text("x = (\n")
    tab.page.keyboard.press("Control+Enter")
    tab.page.locator(".at-line").wait_for()
    task.get_by_role("button", name="Hint").click()
    task.locator("li").wait_for()
    for width in (1280, 390):
        tab.page.set_viewport_size({"width": width, "height": 800})
        for language in ("en", "zh"):
            tab.page.locator(f"#language-{language}").check()
            assert tab.findings() == []
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    tab.page.goto(f"http://127.0.0.1:{server.port}/index.html")
    tab.ready()
    assert tab.findings() == []


def test_the_keyboard_alone_is_enough(served):
    _, tab = served("02-backend.html")
    keyboard = tab.page.keyboard
    focused = "document.activeElement.innerText"

    def tab_to(words):
        for _ in range(60):
            keyboard.press("Tab")
            if words in (tab.page.evaluate(focused) or ""):
                style = tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
                assert style == "solid"
                return
        raise AssertionError(f"never at {words!r}")

    tab_to("Run")
    keyboard.press("Enter")
    name = tab.page.evaluate("document.activeElement.closest('.block').id.slice(6)")
    block = tab.block(name)
    block.waits_for("done in")
    tab_to("Edit")
    keyboard.press("Enter")
    keyboard.press("Control+A")
    keyboard.insert_text("print('by keys')")
    keyboard.press("Shift+Enter")
    block.waits_for("by keys", ".mine")
    keyboard.press("Escape")
    assert tab.page.evaluate(focused) == "Run"
    tab_to("Restore")
    keyboard.press("Enter")
    block.waits_for("as in the chapter")
