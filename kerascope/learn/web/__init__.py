"""`kerascope learn web`: the chapters in a browser, with blocks that run and exercises to edit.

The pages are those of `kerascope lessons html` (`kerascope/lessons/render_html.py`). `server.py`
sends them from this machine to this machine, with a script and a style of their own (`page/`).
`kernel.py` runs the blocks of a chapter in a Jupyter kernel. `kept.py` stores what the student has
typed and run. `exercise.py` shows and checks the student's files. `vendor/` contains unmodified
files of CodeMirror 5, the editor, with their licence.

The package needs the extra `web`; only `server.py` and `kernel.py` import it.
"""

from __future__ import annotations

from importlib.util import find_spec

from kerascope.errors import MissingToolError

NEEDED = ("starlette", "uvicorn", "jupyter_client", "ipykernel")


def check_extra() -> None:
    """Raise if a package of the extra `web` is not installed.

    Raises
    ------
    MissingToolError
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise MissingToolError(
            f"learn web: this requires {', '.join(missing)}, not installed here. "
            f'Install the extra: pip install "kerascope[web]".'
        )
