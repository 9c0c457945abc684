"""Checks the links of a site: every relative link of its HTML files leads to a file and an anchor.

    python -m guards.links FOLDER

It prints the dead links. It ends with code 1 if there are any, and with 2 without such a folder.
Anchors of the course are not checked: a script reads the language and the section from them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of an HTML file.

    Attributes
    ----------
    links : list of str
        The values of all `href`, `src` and `data` attributes.
    anchors : set of str
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchors of a tag."""
        for name, value in attrs:
            if name in ("href", "src", "data"):
                self.links.append(value or "")
            elif name in ("id", "name"):
                self.anchors.add(value or "")


page_of = cache(Page)


def pages_of(site: Path) -> list[Path]:
    """Return the pages of a site, without the templates that a theme keeps in `_static`."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def dead_links(site: Path) -> Iterator[str]:
    """Yield a line for each relative link of a site that leads nowhere."""
    for path in pages_of(site):
        for link in dict.fromkeys(page_of(path).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            where = f"{path.relative_to(site)}: {link}"
            if not target.is_file():
                yield f"{where}: this file is missing."
            elif parts.fragment and not _has_anchor(target, unquote(parts.fragment)):
                yield f"{where}: the page lacks this anchor."


def _has_anchor(target: Path, anchor: str) -> bool:
    is_checked = target.suffix == ".html" and target.parent.name != "course"
    return not is_checked or anchor in page_of(target).anchors


def main(words: list[str]) -> int:
    """Check the site in a folder; return the exit code."""
    if len(words) != 1 or not pages_of(Path(words[0])):
        print("guards.links: expected a folder with HTML files. Build it: python3 dev.py docs.")
        return 2
    site = Path(words[0]).resolve()
    dead = list(dead_links(site))
    print("\n".join([*dead, f"{len(pages_of(site))} pages, {len(dead)} dead links"]))
    return 1 if dead else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
