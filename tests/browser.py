"""A headless Chromium for tests that open pages.

Which program it is: `KERASCOPE_CHROMIUM`, or the first of `PROGRAMS` on the PATH. Without one, or
without the Python package playwright, such tests are skipped and say why; where
`KERASCOPE_NEEDS_BROWSER` is set they fail instead, so that nobody believes that they ran.

A module of tests starts one Chromium, and all its tests share a tab: a new one is a new process,
which costs three times what opening a page in an old one does. Between two tests the tab shows
`about:blank`, so nothing of a page is left for the next. (One Chromium for the whole run would be
no gain: while playwright is there, its event loop counts as running in this thread, and other tests
could not start their own; and a start is 0.6 s of processor time.)

No test waits for a number of seconds: it waits for what it wants to see, and `PATIENCE` is only
reached if that never comes.
"""

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--font-render-hinting=none",
)
PATIENCE = 120_000  # milliseconds
WINDOW = {"width": 1200, "height": 800}
LOOKS = {"color_scheme": "light", "reduced_motion": "no-preference"}


def program() -> str | None:
    """Return the path of the browser, None if there is none."""
    named = os.environ.get("KERASCOPE_CHROMIUM")
    if named:
        return named
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def browser() -> Iterator["Chromium"]:
    """Give a running browser; skip, or fail, if that cannot be."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the Python package playwright is not installed")
    path = program()
    if path is None or not Path(path).exists():
        missing(f"there is no browser: none of {', '.join(PROGRAMS)}, and no KERASCOPE_CHROMIUM")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=path, args=list(ARGUMENTS), timeout=PATIENCE
        )
        yield Chromium(running)
        running.close()


def missing(what: str) -> None:
    """Skip the test, or fail where a browser is demanded."""
    if os.environ.get("KERASCOPE_NEEDS_BROWSER"):
        pytest.fail(f"KERASCOPE_NEEDS_BROWSER is set, but {what}.")
    pytest.skip(f"{what}; see tests/browser.py")


def wait_until(page: Any, claim: str) -> None:
    """Wait until a claim in JavaScript is true of a page or frame.

    Playwright's `wait_for_function` is `eval` in the page, which the policy of our pages forbids.
    """
    end = time.monotonic() + PATIENCE / 1000
    while not page.evaluate(claim):
        assert time.monotonic() < end, f"never true: {claim}"
        page.wait_for_timeout(20)


class Chromium:
    """A running browser, and those of its tabs that nobody uses now."""

    def __init__(self, running: Any) -> None:
        self._running = running
        self._free: list[Any] = []

    def tab(self, **options: Any) -> Any:
        """Return an empty tab: one that is free, or a new one if it must speak other languages."""
        if options:
            return self._new_tab(**options)
        return self._free.pop() if self._free else self._new_tab()

    def _new_tab(self, **options: Any) -> Any:
        tab = self._running.new_page(**options)
        tab.set_default_timeout(PATIENCE)
        return tab

    def take_back(self, tab: Any, **options: Any) -> None:
        """Empty a tab for the next one who asks; close it if it was made to be different."""
        if options:
            tab.close()
            return
        tab.goto("about:blank")
        self._free.append(tab)


class OpenPage:
    """A page in the browser, and what it asked for and complained about.

    Parameters
    ----------
    chromium : Chromium
    path : Path
    address : str
        What follows the path: `#step=4`.
    **options
        `viewport`, `color_scheme`, `reduced_motion`, and what playwright's `new_page` takes.

    Attributes
    ----------
    page : playwright's Page
    requests, complaints : list of str
        Addresses that the page asked for, itself among them; errors and warnings.
    """

    def __init__(self, chromium: Chromium, path: Path, address: str = "", **options: Any) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        window = options.pop("viewport", WINDOW)
        looks = {name: options.pop(name, usual) for name, usual in LOOKS.items()}
        self._chromium, self._options = chromium, options
        self.page = chromium.tab(**options)
        self.page.set_viewport_size(window)
        self.page.emulate_media(media="null", **looks)
        self._hears = {
            "request": lambda request: self.requests.append(request.url),
            "console": self._console,
            "pageerror": lambda error: self.complaints.append(str(error)),
        }
        for event, hear in self._hears.items():
            self.page.on(event, hear)
        self.page.goto(f"{path.as_uri()}{address}")

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def close(self) -> None:
        """Give the tab back."""
        for event, hear in self._hears.items():
            self.page.remove_listener(event, hear)
        self._chromium.take_back(self.page, **self._options)
