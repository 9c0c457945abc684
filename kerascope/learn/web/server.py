"""The server of `kerascope learn web`: pages, blocks and exercises for one student.

It listens only on 127.0.0.1. The address that it prints contains a token. The first visit with this
token sets a cookie and leads to the address without it. Requests without the cookie, for another
host name, or sent by a page of another server are refused, because any web page that is open in the
same browser could send them.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    Response,
    StreamingResponse,
)
from starlette.responses import RedirectResponse as Redirect
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kerascope.errors import ArgumentError, UnavailableError
from kerascope.learn.exercises import Exercise, Workbook
from kerascope.learn.web.exercise import answer, state_of
from kerascope.learn.web.kept import KeptWork, events_to_keep, fields_of_page
from kerascope.learn.web.kernel import ChapterKernel, Run, cell_code
from kerascope.lessons.lesson import Chapter
from kerascope.lessons.parser import chapter_folders, read_chapter
from kerascope.lessons.render_html import Extras, chapter_page, index_page, with_neighbours

HOST = "127.0.0.1"
MOST_KERNELS = 3  # of several chapters, the one whose blocks ran least recently ends
SECONDS_TO_STOP = 2
SCRIPTS_AND_STYLES = {path.name: path for path in Path(__file__).parent.glob("*/*.*s*")}
HEAD = "".join(
    f'<link rel="stylesheet" href="/files/{name}">\n'
    if name.endswith("css")
    else f'<script defer src="/files/{name}"></script>\n'
    for name in ("codemirror.css", "web.css", "codemirror.js", "python.js", "web.js")
)
EXTRAS = Extras(policy="", head=HEAD)
HEADERS = {
    "content-security-policy": "default-src 'none'; connect-src 'self'; img-src data:; "
    "script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; frame-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cross-origin-resource-policy": "same-origin",
}
NO_COOKIE = """Open the address that `kerascope learn web` shows in the terminal: it has a token.
请打开 `kerascope learn web` 在终端里显示的地址，其中带有令牌。
"""
WRONG_TOKEN = """This is not the token of the running server. Open the address in the terminal.
令牌与正在运行的服务器不符。请打开终端里显示的地址。
"""
WRONG_HOST = """This server answers only requests for 127.0.0.1 and localhost.
本服务器只应答 127.0.0.1 和 localhost。
"""
WRONG_ORIGIN = """The request was sent by a page of another server, so it is refused.
请求来自另一个服务器的网页，已拒绝。
"""


# --- who may ask ----------------------------------------------------------------------------------


class Gate:
    """Refuses requests that do not come from the student's own pages, and adds headers to all.

    Parameters
    ----------
    app : ASGI application
    token : str
    port : int
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app = app
        self.token = token
        self.cookie = f"kerascope-{port}"  # browsers share cookies between ports
        self.hosts = (f"{HOST}:{port}", f"localhost:{port}")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(k.encode(), v.encode()) for k, v in HEADERS.items()]
            await send(message)

        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        response = self._own_response(Request(scope)) or self.app
        await response(scope, receive, send_with_headers)

    def _own_response(self, request: Request) -> Response | None:
        """Return a refusal; or, for an address with the token, a redirect to it without the token.

        Return None for a request that the application must answer.
        """
        host, given = request.headers.get("host", ""), request.query_params.get("token")
        refusal = ""
        if host not in self.hosts:
            refusal = WRONG_HOST
        elif request.headers.get("origin", f"http://{host}") != f"http://{host}":
            refusal = WRONG_ORIGIN
        elif given is not None and not self._is_token(given):
            refusal = WRONG_TOKEN
        elif given is None and not self._is_token(request.cookies.get(self.cookie, "")):
            refusal = NO_COOKIE
        if refusal:
            return PlainTextResponse(refusal, 403)
        if given is None:
            return None
        response = Redirect("/" + request.url.path.lstrip("/"), 303)  # "//host" is another server
        response.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
        return response

    def _is_token(self, words: str) -> bool:
        return hmac.compare_digest(words.encode(), self.token.encode())


# --- the answers ----------------------------------------------------------------------------------


@dataclass
class Classroom:
    """Answers requests: from the course, the student's folder, and the kernels of the chapters.

    Attributes
    ----------
    workbook : Workbook
        The student's folder and exercises; the progress is read again for each request.
    tutorials : Path
        The folder of the chapters.
    seconds : float or None
        The time limit for the student's files; None for the default.
    """

    workbook: Workbook
    tutorials: Path
    seconds: float | None = None
    kernels: dict[str, ChapterKernel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kept = KeptWork(self.workbook.folder)

    def _book(self) -> Workbook:
        return Workbook(self.workbook.folder, self.workbook.exercises, self.workbook.language)

    def _chapters(self) -> list[Chapter]:
        return [read_chapter(folder) for folder in chapter_folders(self.tutorials)]

    def _chapter(self, request: Request) -> Chapter:
        folders = {folder.name: folder for folder in chapter_folders(self.tutorials)}
        return read_chapter(_named(folders, request.path_params["chapter"], "chapter"))

    def _exercises_of(self, chapter: Chapter) -> list[Exercise]:
        return [one for one in self.workbook.exercises if one.folder.name == chapter.name]

    async def start_page(self, request: Request) -> Response:
        """Return the table of contents."""
        return HTMLResponse(index_page(self._chapters(), EXTRAS))

    async def chapter_page(self, request: Request) -> Response:
        """Return the page of a chapter."""
        chapter, folders = self._chapter(request), chapter_folders(self.tutorials)
        first, _, last = with_neighbours(folders)[folders.index(chapter.folder)]
        before, after = (read_chapter(folder) if folder else None for folder in (first, last))
        return HTMLResponse(chapter_page(chapter, before, after, EXTRAS))

    async def file(self, request: Request) -> Response:
        """Return a script or a style sheet."""
        return FileResponse(_named(SCRIPTS_AND_STYLES, request.path_params["name"], "file"))

    async def progress(self, request: Request) -> Response:
        """Return for each chapter how many exercises are passed and how many sections were seen."""
        book, data = self._book(), {}
        for chapter in self._chapters():
            own = self._exercises_of(chapter)
            data[chapter.name] = {
                "exercises": len(own),
                "passed": sum(map(book.is_passed, own)),
                "sections": len(chapter.main.sections),
                "seen": len(self.kept.chapter(chapter.name)["seen"]),
            }
        return JSONResponse(data)

    async def state(self, request: Request) -> Response:
        """Return a chapter's blocks and exercises, and what the student has typed and run there."""
        chapter, book = self._chapter(request), self._book()
        kernel = self.kernels.get(chapter.name)
        data = {
            "blocks": [asdict(block) for block in chapter.main.blocks],
            "kept": self.kept.chapter(chapter.name)["blocks"],
            "exercises": [state_of(book, one) for one in self._exercises_of(chapter)],
            "running": kernel.running.block if kernel and kernel.running else None,
        }
        return JSONResponse(data)

    async def act(self, request: Request) -> Response:
        """Do what a page requests: store its fields, run, answer or stop a block, end the kernel.

        The answer to "run" and "follow" is a stream of events, each a line of JSON. The output of a
        block is kept, except with `quiet`, for an output that the student has yet to predict.
        """
        chapter, data = self._chapter(request), await _data(request)
        blocks = {block.id: block for block in chapter.main.blocks}
        kernel = self.kernels.get(chapter.name)
        match request.path_params["action"]:
            case "run":
                block = _named(blocks, data.get("block"), "block")

                def keep(run: Run) -> None:
                    if not data.get("quiet"):
                        events = {"events": events_to_keep(run.events)}
                        self.kept.keep_block(chapter.name, run.block, events)

                code = cell_code(block, str(data.get("code", "")))
                kernel = await self._kernel_to_run(chapter)
                return _streamed(kernel.begin(block.id, code, keep))
            case "follow" if kernel and kernel.running:
                return _streamed(kernel.running)
            case "keep" if isinstance(data.get("seen"), list):
                self.kept.keep_seen(chapter.name, [str(one) for one in data["seen"]])
            case "keep":
                block = _named(blocks, data.get("block"), "block")
                self.kept.keep_block(chapter.name, block.id, fields_of_page(data.get("fields")))
            case "answer" if kernel:
                kernel.answer(str(data.get("text", "")))
            case "stop" if kernel:
                await kernel.interrupt()
            case "restart" if kernel:
                await kernel.close()
        return JSONResponse({})

    async def _kernel_to_run(self, chapter: Chapter) -> ChapterKernel:
        """Return the kernel of a chapter. End those that ran least recently, if there are too many.

        Only chapters whose blocks run have a kernel.
        """
        new_kernel = ChapterKernel(chapter.folder / "out", self.workbook.folder)
        kernel = self.kernels[chapter.name] = self.kernels.pop(chapter.name, new_kernel)
        for name in list(self.kernels)[:-MOST_KERNELS]:
            await self.kernels.pop(name).close()
        return kernel

    async def exercise(self, request: Request) -> Response:
        """Perform an action of the student on an exercise; return its state (`exercise.answer`)."""
        named = {one.name: one for one in self.workbook.exercises}
        exercise = _named(named, request.path_params["name"], "exercise")
        action, data = request.path_params.get("action", ""), await _data(request)
        if action in ("save", "check") and not isinstance(data.get("code"), str):
            raise ArgumentError(f"{exercise.name}: expected a text in 'code'.")
        status, found = await asyncio.to_thread(
            answer, self._book(), exercise, action, {"version": None, **data}, self.seconds
        )
        return JSONResponse(found, status)

    async def close(self) -> None:
        """End all kernels."""
        for kernel in list(self.kernels.values()):  # pages may still start others
            await kernel.close()


def _named(things: dict[str, Any], name: Any, what: str) -> Any:
    if str(name) not in things:
        raise ArgumentError(f"There is no {what} {name!r}.")
    return things[name]


async def _data(request: Request) -> dict[str, Any]:
    """Return the JSON object that a page has sent."""
    with contextlib.suppress(ValueError, RecursionError):
        data = json.loads(await request.body() or b"{}")
        json.dumps(data, ensure_ascii=False).encode()  # raises for half of a surrogate pair
        if isinstance(data, dict):
            return data
    raise ArgumentError("Request: expected a JSON object.")


def _streamed(run: Run) -> Response:
    lines = (json.dumps(event) + "\n" async for event in run.read())
    return StreamingResponse(lines, media_type="application/x-ndjson")


# --- the server -----------------------------------------------------------------------------------


def web_app(room: Classroom, token: str, port: int) -> Starlette:
    """Return the application that answers the requests of a student's pages."""

    async def refuse(request: Request, error: Exception) -> Response:
        return PlainTextResponse(f"{error}\n", 400)

    routes = [
        Route("/", lambda request: Redirect("/index.html", 303)),
        Route("/index.html", room.start_page),
        Route("/files/{name}", room.file),
        Route("/progress", room.progress),
        Route("/{chapter}.html", room.chapter_page),
        Route("/blocks/{chapter}", room.state),
        Route("/blocks/{chapter}/{action}", room.act, methods=["POST"]),
        Route("/exercises/{name}", room.exercise),
        Route("/exercises/{name}/{action}", room.exercise, methods=["POST"]),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(Gate, token=token, port=port)],
        exception_handlers={ArgumentError: refuse, OSError: refuse},
    )


class _Server(uvicorn.Server):
    """A server that ends all kernels before it shuts down, because pages wait for their events."""

    def __init__(self, config: uvicorn.Config, room: Classroom) -> None:
        super().__init__(config)
        self._room = room

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._room.close()
        await super().shutdown(sockets)


def serve(room: Classroom, page: str, port: int, report: Callable[[str], None]) -> None:
    """Serve the course until Ctrl-C.

    Parameters
    ----------
    room : Classroom
    page : str
        The page to open, with the language, such as `05-node.html#zh`.
    port : int
        0 for any free port.
    report : callable
        Gets the address when it can be opened.

    Raises
    ------
    UnavailableError
        The port is in use.
    """
    try:
        listening = socket.create_server((HOST, port))
    except OSError:
        raise UnavailableError(
            f"learn web: port {port} is in use. Leave out --port, and a free one is chosen."
        ) from None
    port, token = listening.getsockname()[1], secrets.token_urlsafe(24)
    path, _, language = page.partition("#")
    report(f"http://{HOST}:{port}/{path}?token={token}#{language}")
    config = uvicorn.Config(
        web_app(room, token, port),
        loop="asyncio",
        log_level="warning",
        timeout_graceful_shutdown=SECONDS_TO_STOP,
    )
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn raises it again after its end
        _Server(config, room).run(sockets=[listening])
