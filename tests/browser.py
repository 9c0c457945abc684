"""A headless Chromium for tests that open pages.

Which program it is: `KERASCOPE_CHROMIUM`, or the first of `PROGRAMS` on the PATH. Without one, or
without the Python package playwright, such tests are skipped and say why; where
`KERASCOPE_NEEDS_BROWSER` is set they fail instead, so that nobody believes that they ran.
"""

import os
import shutil
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


def program() -> str | None:
    """Return the path of the browser, None if there is none."""
    named = os.environ.get("KERASCOPE_CHROMIUM")
    if named:
        return named
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """Give a running browser; skip, or fail, if that cannot be."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("the Python package playwright is not installed")
    path = program()
    if path is None or not Path(path).exists():
        missing(f"there is no browser: none of {', '.join(PROGRAMS)}, and no KERASCOPE_CHROMIUM")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield running
        running.close()


def missing(what: str) -> None:
    """Skip the test, or fail where a browser is demanded."""
    if os.environ.get("KERASCOPE_NEEDS_BROWSER"):
        pytest.fail(f"KERASCOPE_NEEDS_BROWSER is set, but {what}.")
    pytest.skip(f"{what}; see tests/browser.py")


class OpenPage:
    """A page in the browser, and what it asked for and complained about.

    Attributes
    ----------
    page : playwright's Page
    requests, complaints : list of str
        Addresses that the page asked for, itself among them; errors and warnings.
    """

    def __init__(self, running: Any, path: Path, **options: Any) -> None:
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = running.new_page(**{"viewport": {"width": 1200, "height": 800}, **options})
        self.page.set_default_timeout(10_000)
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(path.as_uri())

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)
