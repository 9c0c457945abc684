"""A Sphinx extension: writes the pages of the API, and puts the course beside the other pages.

The public names are those of `guards.interface`. An object with several public names is described
at one of them, and the pages of the modules list its other names. Each class and each top-level
name has a page; the page of a module describes its functions. The `chapter.toml` of a chapter says
which names it explains: their pages link to the chapter, and the chapter to them.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from guards.interface import Places, call_of, public_modules
from kerascope.files import write_whole
from kerascope.lessons import tutorials_folder
from kerascope.lessons.lesson import Chapter
from kerascope.lessons.parser import chapter_folders, read_chapter
from kerascope.lessons.render_html import (
    Extras,
    chapter_page,
    index_page,
    page_name,
    with_neighbours,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent
# Files outside docs/ that the site includes as pages: their name here.
INCLUDED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "CITATION.cff": "citing.md",
    "SECURITY.md": "security.md",
    "tutorials/teachers.en.md": "howto/teach.md",
    "tutorials/teachers.zh.md": "howto/teach.zh.md",
}

LESSON_LINK = r"\[([^\]]*)\]\((?:\.\./)*tutorials/([\w-]+)/lesson\.(\w+)\.md\)"
NOT_HERE = r"\[([^\]]*)\]\((?:\.\./)*tests/[^)]*\)"  # a link to a page that the site lacks
TERMS = r"\| term \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)"
PLAYER = "14-update-tuples/out/one_step.html"  # the playing page on the start page


# --- the pages of the API -------------------------------------------------------------------------


class Reference:
    """The public names, and the pages that describe them.

    Attributes
    ----------
    places : dict of str to dict of str to object
        For each public module, the names that are described there.
    aliases : dict of str to dict of str to str
        For each public module, its other names and the name at which each is described.
    chapters : dict of str to list of Chapter
        The chapters that explain a name.
    """

    def __init__(self, chapters: Iterable[Chapter]) -> None:
        self.places: dict[str, dict[str, Any]] = {path: {} for path in public_modules()}
        self.aliases: dict[str, dict[str, str]] = {path: {} for path in public_modules()}
        known = Places()
        for place, thing in known.things.items():
            module, _, name = place.rpartition(".")
            is_module = isinstance(thing, ModuleType)
            first = thing.__name__ if is_module else known.of(thing) or place
            if first != place:
                self.aliases[module][name] = first
            elif not is_module:
                self.places[module][name] = thing
        self.chapters: dict[str, list[Chapter]] = {}
        for chapter in chapters:
            for name in chapter.introduction.explains if chapter.introduction else ():
                self.chapters.setdefault(f"kerascope.{name}", []).append(chapter)

    def classes(self) -> dict[str, str]:
        """Return the place of each class by its name alone, if no other class has this name."""
        found = [
            (name, f"{module}.{name}")
            for module, things in self.places.items()
            for name, thing in things.items()
            if inspect.isclass(thing)
        ]
        names = Counter(name for name, _ in found)
        return {name: place for name, place in found if names[name] == 1}

    def has_page(self, module: str, name: str) -> bool:
        """Return whether a name has a page of its own, not a section of its module's page."""
        thing = self.places[module][name]
        return inspect.isclass(thing) or (module == "kerascope" and callable(thing))

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the name and the reStructuredText of each page."""
        modules = list(self.places)
        yield "index", _titled("API reference", INTRODUCTION) + _table(sorted(modules))
        for module in modules:
            yield module, self._module(module)
            for name, thing in self.places[module].items():
                if self.has_page(module, name):
                    place = f"{module}.{name}"
                    yield place, _titled(name, self._described(place, thing))

    def _module(self, path: str) -> str:
        own = self.places[path]
        pages = [name for name in own if self.has_page(path, name)]
        text = f".. automodule:: {path}\n   :no-members:\n\n"
        if pages:
            text += _table(pages, f"{path}.")
        if self.aliases[path]:
            rows = "".join(f"``{n}``\n    `{of}`\n\n" for n, of in self.aliases[path].items())
            text += f".. rubric:: Names that are described elsewhere\n\n{rows}"
        for name in own:
            if name not in pages:
                text += self._described(f"{path}.{name}", own[name])
        return _titled(path, text)

    def _described(self, place: str, thing: Any) -> str:
        if inspect.isclass(thing):
            text = f".. autoclass:: {place}\n   :members:\n   :show-inheritance:\n\n"
        elif callable(thing):
            text = f".. autofunction:: {place}\n\n"
        else:
            text = f".. autodata:: {place}\n   :no-value:\n\n"
        links = [_chapter_link(chapter) for chapter in self.chapters.get(place, ())]
        return text + (f".. seealso:: In the course: {'; '.join(links)}.\n\n" if links else "")


INTRODUCTION = """\
Import the package as ``import kerascope as keras`` or ``import kerascope as ks``. The examples
below use the names of their module, with ``np`` for NumPy and ``K`` for `kerascope.backend`; the
tests run them.

"""


def _titled(title: str, text: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n{text}"


def _table(names: list[str], module: str = "") -> str:
    """Return a table of names with their first sentences, and the links of the sidebar."""
    rows = "".join(f"   {name}\n" for name in names)
    pages = "".join(f"   {module}{name}\n" for name in names)
    table = f".. autosummary::\n   :nosignatures:\n\n{rows}\n"
    return f"{table}.. toctree::\n   :hidden:\n\n{pages}\n"


def _chapter_link(chapter: Chapter) -> str:
    return f"`{chapter.main.title} <../course/{page_name(chapter)}#en>`__"


def write_sources(app: Sphinx) -> None:
    """Write the generated sources, docs/api/*.rst and docs/course.md, where they differ."""
    chapters = _chapters()
    reference = Reference(chapters)
    app.kerascope_classes = reference.classes()  # type: ignore[attr-defined]
    pages = {f"api/{name}.rst": text for name, text in reference.pages()}
    pages["course.md"] = _course(chapters)
    for old in {*DOCS.glob("api/*.rst")} - {DOCS / name for name in pages}:
        old.unlink()
    (DOCS / "api").mkdir(exist_ok=True)
    for name, text in pages.items():
        path = DOCS / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            write_whole(path, text)


# --- the course -----------------------------------------------------------------------------------

LANGUAGE_NAMES = {"en": "English", "zh": "中文"}
COURSE = """\
# The course

```{include} ../README.md
:start-after: "## The course"
:end-before: "## Read on"
```
"""


def _chapters() -> list[Chapter]:
    return [read_chapter(folder) for folder in chapter_folders(tutorials_folder(None))]


def _course(chapters: list[Chapter]) -> str:
    text = COURSE
    for language, name in LANGUAGE_NAMES.items():
        text += f"\n## {name}\n\n"
        for chapter in chapters:
            title = chapter.lessons[language].title
            link = f'<a href="course/{page_name(chapter)}#{language}">{title}</a>'
            about = chapter.introduction.about[language] if chapter.introduction else ""
            text += f"- **{chapter.number}** {link}<br>{about}\n"
    return text


def write_course(app: Sphinx, failure: Exception | None) -> None:
    """Write the pages of the course, with links to the pages of the names that they explain."""
    folder = Path(app.outdir, "course")
    folder.mkdir(exist_ok=True)
    chapters = _chapters()
    bar = ' · <a href="../index.html">kerascope</a>'
    for before, chapter, after in with_neighbours(chapters):
        names = chapter.introduction.explains if chapter.introduction else ()
        links = " · ".join(_name_link(app, f"kerascope.{name}") for name in names)
        end = f'<p id="reference">API: {links}</p>\n' if links else ""
        page = chapter_page(chapter, before, after, Extras(bar=bar, end=end))
        write_whole(folder / page_name(chapter), page)
    write_whole(folder / "index.html", index_page(chapters, Extras(bar=bar)))
    shutil.copy(tutorials_folder(None) / PLAYER, folder / "step.html")
    if url := app.config.html_baseurl:
        this = {"name": app.config.version, "version": app.config.version, "url": f"{url}/"}
        write_whole(Path(app.outdir, "versions.json"), json.dumps([this], indent=1))


def _name_link(app: Sphinx, place: str) -> str:
    page = place if (DOCS / "api" / f"{place}.rst").is_file() else place.rpartition(".")[0]
    anchor = f"#{place}" if page != place else ""
    name = place.removeprefix("kerascope.")
    return f'<a href="../api/{page}.html{anchor}"><code>{name}</code></a>'


# --- Markdown -------------------------------------------------------------------------------------


def site_links(text: str, page: str) -> str:
    """Return the Markdown of a file with links that hold on the site.

    Parameters
    ----------
    text : str
        Markdown whose links hold in the repository.
    page : str
        The name of the page that it becomes, such as "howto/draw".
    """
    up = "../" * page.count("/")
    text = re.sub(LESSON_LINK, rf'<a href="{up}course/\2.html#\3">\1</a>', text)
    text = re.sub(
        r"\]\((?:\.\./)*([\w/.-]+\.(?:md|cff))",
        lambda found: f"](/{INCLUDED[found[1]]}" if found[1] in INCLUDED else found[0],
        text,
    )
    text = re.sub(NOT_HERE, r"\1", text)
    text = re.sub(TERMS, _glossary, text)
    return text.replace("](docs/", "](/")


def _glossary(table: re.Match[str]) -> str:
    """Return a table of terms as a glossary: each term is an anchor that the search finds first."""
    rows = re.sub(r"\| (.+?) \| (.+) \|\n", r"\1\n  \2\n\n", table[1])
    return f"```{{glossary}}\n{rows}```\n"


def _read(app: Sphinx, *rest: Any) -> None:
    """Change the text of a page, or of a file that it includes."""
    *_, page, content = rest
    content[0] = site_links(content[0], page)


def _signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returned: str
) -> tuple[str, str] | None:
    """Show the arguments of a class, which its metaclass hides from Sphinx, and of a `function`.

    The `function` of a loss or metric is called on its class, so it has no `self`.
    """
    own = call_of(thing) if what == "class" or name.endswith(".function") else ""
    return (own.replace("(self, ", "("), returned) if own else None


def _bases(app: Sphinx, name: str, thing: type, options: Any, bases: list[type]) -> None:
    """Show the nearest base class that has a page, and Python's own classes."""
    known = app.kerascope_classes  # type: ignore[attr-defined]
    public = [base for base in thing.__mro__[1:] if base.__name__ in known][:1]
    bases[:] = public + [base for base in bases if base.__module__ == "builtins"] or bases


def _class_anywhere(app: Sphinx, env: Any, node: Any, content: Any) -> Any:
    """Link `Dense` in any docstring to the page of this class."""
    place = app.kerascope_classes.get(node.get("reftarget"))  # type: ignore[attr-defined]
    if node.get("refdomain") != "py" or place is None:
        return None
    python = env.domains["py"]
    return python.resolve_xref(env, node["refdoc"], app.builder, "obj", place, node, content)


def _source_page(app: Sphinx, page: str, template: str, context: Any, doctree: Any) -> None:
    """Let the links of a source page lead to pages: viewcode takes anchors of another name."""
    if page.startswith("_modules/"):
        context["body"] = re.sub(
            r'(class="viewcode-back" href="[^"#]+)#[^"]*', r"\1", context["body"]
        )


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension to the events of a build."""
    app.connect("builder-inited", write_sources)
    app.connect("source-read", _read)
    app.connect("include-read", _read)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-bases", _bases)
    app.connect("missing-reference", _class_anywhere)
    app.connect("html-page-context", _source_page)
    app.connect("build-finished", write_course)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
