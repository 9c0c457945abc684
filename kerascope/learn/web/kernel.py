"""The Jupyter kernel in which the blocks of one chapter run.

The kernel is a separate process in a folder of its own, with the environment in which the outputs
of the course were made. What a block prints, draws and asks becomes a list of events, each a dict
that the page shows:

    {"text": "..."}                                 printed
    {"svg": "..."} {"html": "..."} {"png": "..."}   shown, or written to `out/` by the block
    {"ask": "(Kdb) "}                               `input()` waits for a line
    {"error": "NameError", "message": "...", "text": "..."}   failed, with its traceback
    {"done": 0.31}                                  ended; its duration in seconds
"""

from __future__ import annotations

import ast
import asyncio
import os
import queue
import re
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager

from kerascope.lessons.lesson import SESSIONS, Block
from kerascope.lessons.notebook import PREPARE
from kerascope.lessons.runner import ANSI
from kerascope.lessons.sessions import PACKAGE_PARENT, WORKBOOK_VARIABLE, fixed_environment

Event = dict[str, Any]
MOST_TEXT = 200_000  # characters that one run may print; the rest is dropped
MOST_PICTURES = 3_000_000  # and the same for all that it shows
LONGEST_ERROR = 20_000
SECONDS_TO_START = 60.0
SECONDS_BETWEEN_LOOKS = 1.0
SECONDS_FOR_OUTPUT = 0.05
LOOKS_AFTER_STOP = 30
_START = f"{PREPARE}\nget_ipython().run_line_magic('xmode', 'Plain')"
_FOLDER = "__import__('os').getcwd()"
_SHOWN = {"image/svg+xml": "svg", "text/html": "html", "image/png": "png"}
# The file of a block: in a warning or a traceback, and in a SyntaxError's message.
CELL = re.compile(r"(?<!\S)\S*ipykernel_\d+[/\\]\d+\.py|(?<=\()\d+\.py(?=, line \d+\)$)")
ENDED = "Python has ended. It starts again with the next block that you run."


def cell_code(block: Block, code: str) -> str:
    """Return the code of the notebook cell that runs a block with this text.

    A session begins a debugger with a live prompt. A doctest is printed with its new outputs.

    Examples
    --------
    >>> cell_code(Block("kscope", "a", ("example.py",), "c", 1, (0, 0)), "c")
    "from kerascope.lessons import notebook as _notebook; _notebook.kscope('example.py')"
    """
    if block.kind in SESSIONS:
        words = ", ".join(map(repr, block.words))
        return (
            f"from kerascope.lessons import notebook as _notebook; _notebook.{block.kind}({words})"
        )
    if block.kind == "pycon":
        return f"from kerascope.lessons import child as _child; _child.console({code!r})"
    return code


def events_of(message: dict[str, Any]) -> list[Event]:
    """Return the events of one message of a kernel.

    Examples
    --------
    >>> events_of({"msg_type": "stream", "content": {"name": "stdout", "text": "42"}})
    [{'text': '42'}]
    """
    kind, content = message["msg_type"], message["content"]
    if kind == "stream":
        return [{"text": _clean(content["text"])}]
    if kind in ("execute_result", "display_data"):
        data = dict(content["data"])
        if "<pre" in data.get("text/html", "")[:9]:  # a table of rich: text says the same
            del data["text/html"]
        rich = [{key: data[name]} for name, key in _SHOWN.items() if name in data]
        return rich[:1] or [{"text": _clean(data.get("text/plain", "")).rstrip("\n") + "\n"}]
    if kind == "error":
        lines = _clean("\n".join(content["traceback"]))[:LONGEST_ERROR]
        said = _clean(content["evalue"])[:LONGEST_ERROR]
        return [{"error": content["ename"], "message": said, "text": lines}]
    return []


def _clean(text: str) -> str:
    text = CELL.sub("block", ANSI.sub("", text))
    return text.replace(f"{PACKAGE_PARENT}{os.sep}", "")


class Run:
    """A block that runs or has run, and its events, which several pages can read."""

    def __init__(self, block: str) -> None:
        self.block = block
        self.events: list[Event] = []
        self.begun = time.time()
        self._changed = asyncio.Event()
        self._room = {"text": MOST_TEXT, "picture": MOST_PICTURES}

    @property
    def is_done(self) -> bool:
        """Whether the block has ended."""
        return bool(self.events) and "done" in self.events[-1]

    def add(self, event: Event) -> None:
        """Append an event, if the run has not yet printed or shown more than it may."""
        if not event.keys() & {"ask", "error", "done"}:
            kind = "text" if "text" in event else "picture"
            before = self._room[kind]
            self._room[kind] -= sum(map(len, event.values()))
            if before < 0:
                return
            if self._room[kind] < 0:
                cut = event.get("text", "")[:before]
                event = {"text": f"{cut}\n...\n"}
        self.events.append(event)
        self._changed.set()
        self._changed = asyncio.Event()

    async def read(self) -> AsyncIterator[Event]:
        """Yield all events, also later ones, until the run is done."""
        number = 0
        while not (self.is_done and number == len(self.events)):
            changed = self._changed
            if number == len(self.events):
                await changed.wait()
            yield self.events[number]
            number += 1


class KernelEnded(Exception):
    """The kernel has ended while a block ran."""


class _ThisPython(KernelSpecManager):
    """A kernel manager whose only kernel is the Python that runs this server."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        words = [sys.executable, "-m", "ipykernel_launcher", "--log-level=40"]
        return KernelSpec(argv=[*words, "-f", "{connection_file}"], language="python")


class ChapterKernel:
    """The kernel of a chapter. It starts with the first block that runs.

    Parameters
    ----------
    stored : Path
        The folder with the pictures that the chapter's page shows.
    workbook : Path
        The student's folder, from which blocks import the student's own engine.

    Attributes
    ----------
    run : Run or None
        The present run, or the last one.
    """

    def __init__(self, stored: Path, workbook: Path) -> None:
        self._stored = stored
        self._workbook = workbook
        self.run: Run | None = None
        self._manager: AsyncKernelManager | None = None
        self._client: AsyncKernelClient | None = None
        self._top = self._folder = Path()
        self._is_free = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def running(self) -> Run | None:
        """The present run; None if no block runs."""
        return None if self.run is None or self.run.is_done else self.run

    def begin(self, block: str, code: str, keep: Callable[[Run], None]) -> Run:
        """Run code as soon as the kernel is free, and return its run at once.

        `keep` is called with the run at its end, also if no page reads its events any more.
        """
        run = Run(block)
        task = asyncio.create_task(self._execute(run, code))
        self._tasks.add(task)

        def end(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                run.add({"error": KernelEnded.__name__, "message": ENDED, "text": ""})
            run.add({"done": round(time.time() - run.begun, 2)})
            with suppress(OSError):  # the page says it when the folder cannot be written
                keep(run)

        task.add_done_callback(end)  # also if it is cancelled before its first step
        return run

    def answer(self, line: str) -> None:
        """Pass a line to the block that waits in `input()`, and add it to the events."""
        if self._client is not None and (run := self.running):
            run.add({"text": f"{line}\n"})
            self._client.input(line)

    async def interrupt(self) -> None:
        """Raise KeyboardInterrupt in the block that runs; repeat it if the block goes on.

        The first interrupt is lost if the kernel has received the code but not yet begun. A kernel
        that still starts is ended, because it does not handle interrupts yet.
        """
        if self._client is None:
            await self.close()
        run = self.running
        for look in range(LOOKS_AFTER_STOP):
            if run is None or run.is_done or self._manager is None:
                return
            if look % 10 == 0:
                await self._manager.interrupt_kernel()
            await asyncio.sleep(0.1)

    async def close(self) -> None:
        """End the running and waiting blocks and the kernel. The next block starts a new kernel."""
        for task in self._tasks:
            task.cancel()
        async with self._is_free:
            await self._end()

    async def _end(self) -> None:
        manager, client, self._manager, self._client = self._manager, self._client, None, None
        if client is not None:
            client.stop_channels()
        if manager is not None:
            await manager.shutdown_kernel(now=True)
            shutil.rmtree(self._top, ignore_errors=True)

    async def _is_alive(self) -> bool:
        return self._manager is not None and await self._manager.is_alive()

    async def _start(self) -> AsyncKernelClient:
        """Return a client of the kernel; start it if it has not been started, or has ended."""
        if self._client is not None and await self._is_alive():
            return self._client
        await self._end()
        self._top = Path(tempfile.mkdtemp(prefix="kerascope-web-")).resolve()
        connection = str(self._top / "kernel.json")
        self._manager = AsyncKernelManager(
            kernel_spec_manager=_ThisPython(), connection_file=connection
        )
        # The folder that `prepare` makes is inside of ours, so that one removal is enough.
        environment = fixed_environment(self._top) | {
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(self._top)),
            "JUPYTER_COLUMNS": "100",
            WORKBOOK_VARIABLE: str(self._workbook.resolve()),
        }
        await self._manager.start_kernel(cwd=str(self._top), env=environment)
        client = self._manager.client()
        client.start_channels()
        try:
            await client.wait_for_ready(timeout=SECONDS_TO_START)
            reply = await client.execute_interactive(
                _START, silent=True, user_expressions={"folder": _FOLDER}, output_hook=events_of
            )
        except BaseException:  # also if it is cancelled
            client.stop_channels()
            raise
        shown = reply["content"]["user_expressions"]["folder"]["data"]["text/plain"]
        self._folder = Path(ast.literal_eval(shown))
        self._client = client
        return client

    async def _execute(self, run: Run, code: str) -> None:
        try:
            async with self._is_free:
                self.run = run
                client = await self._start()
                run.begun = time.time()
                await self._talk(run, client, code)
                for event in self._pictures(run.begun):
                    run.add(event)
        except Exception as error:  # the kernel has ended, or it could not be started
            run.add({"error": type(error).__name__, "message": str(error), "text": ""})

    async def _talk(self, run: Run, client: AsyncKernelClient, code: str) -> None:
        """Execute code, and add events to the run, until the code or the kernel has ended."""

        def on_output(message: dict[str, Any]) -> None:
            for event in events_of(message):
                run.add(event)

        async def on_input(message: dict[str, Any]) -> None:
            # What was printed before comes by another channel, and belongs before the prompt.
            with suppress(queue.Empty):
                while True:
                    on_output(await client.get_iopub_msg(timeout=SECONDS_FOR_OUTPUT))
            run.add({"ask": message["content"]["prompt"]})

        task = asyncio.ensure_future(
            client.execute_interactive(
                code, allow_stdin=True, output_hook=on_output, stdin_hook=on_input
            )
        )
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=SECONDS_BETWEEN_LOOKS)
                if not await self._is_alive():
                    raise KernelEnded(ENDED)
            await task
        finally:
            task.cancel()

    def _pictures(self, begun: float) -> list[Event]:
        """Return events for what a run wrote to `out/`, except pictures that the page shows."""
        events = []
        for path in sorted((self._folder / "out").glob("*")):
            stored, kind = self._stored / path.name, path.suffix[1:]
            if kind not in ("svg", "html") or not path.is_file() or path.stat().st_mtime < begun:
                continue
            content = path.read_bytes()
            if not (stored.is_file() and stored.read_bytes() == content):
                events.append({kind: content.decode(errors="replace"), "name": f"out/{path.name}"})
        return events
