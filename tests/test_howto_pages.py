"""docs/howto says what is true: its files are written, its code and its commands are run.

A block is `python` (a file that begins with its name, or a session), `console` (commands and what
they print), `tex` (names files that exist then) or `sh` (installs something: only read). A second
word is a library that the block needs.
"""

import doctest
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from shown_commands import SECONDS, read_by_us

from kerascope.lessons.comparison import compare
from kerascope.lessons.runner import clean
from kerascope.lessons.sessions import fixed_environment

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "howto"
NO_CODE = ("index", "teach", "teach.zh")  # a list of the pages, and what another test runs
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem not in NO_CODE)
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
OUR_LINE = re.compile(r"(kerascope/[\w/]+\.py[:(])\d+")


def printed(line, folder, home):
    """Return what a command prints, without what the system's font library complains about."""
    finished = read_by_us(
        line,
        cwd=folder,
        env=fixed_environment(home),
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    errors = re.sub("^Fontconfig .*\n", "", finished.stderr, flags=re.M)
    return clean(finished.stdout + errors, [str(folder), str(ROOT)])


def run_commands(text, folder, home):
    for block in re.split(r"^(?=\$ )", text, flags=re.M)[1:]:
        line, _, shown = block[2:].partition("\n")
        expected, got = (OUR_LINE.sub(r"\1", one) for one in (shown, printed(line, folder, home)))
        difference = compare(expected, got)
        assert difference is None, f"$ {line}\n{difference.text}"


def run_session(text, names, page):
    test = doctest.DocTestParser().get_doctest(text, names, page.name, page.name, 0)
    failures = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    runner.run(test, out=failures.append, clear_globs=False)
    assert not failures, "".join(failures)
    return test.globs


def run_page(page, folder, with_libraries):
    text = page.read_text(encoding="utf-8")
    names, home = {}, folder / "home"
    home.mkdir()
    for kind, code in FENCE.findall(text):
        kind, _, library = kind.partition(" ")
        if library and not with_libraries:
            continue
        if library:
            pytest.importorskip(library)
        if kind == "console":
            run_commands(code, folder, home)
        elif kind == "python" and code.startswith(">>>"):
            names = run_session(code, names, page)
        elif kind == "python":
            (folder / re.match(r"# (\w+\.py)\n", code)[1]).write_text(code, encoding="utf-8")
        elif kind == "tex":
            assert all((folder / name).is_file() for name in re.findall(r"\{([\w.]+)\}", code))
        else:
            assert (kind, page.name) == ("sh", "install.md"), f"a block of kind {kind!r}"
    for name in re.findall(r"\]\((\w+\.svg)\)", text):
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept == (folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_and_the_commands_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path, with_libraries=False)


@pytest.mark.live
@pytest.mark.parametrize("name", ["find_a_nan", "open_any_file"])
def test_so_do_those_that_need_another_library(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(FOLDER / f"{name}.md", tmp_path, with_libraries=True)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_files_and_sections(page):
    for link in re.findall(r'(?:\]\(|src=")([^)":]+)[)"]', page.read_text(encoding="utf-8")):
        path, _, section = link.partition("#")
        target = (FOLDER / path).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.*)$", target, re.M)
        anchors = {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}
        assert not section or section in anchors, link


def test_the_page_of_installation_lists_the_extras_and_pythons_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (FOLDER / "install.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.M)
    extras = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(extras) == sorted(project["optional-dependencies"])
    pythons = [one.rpartition(" ")[2] for one in project["classifiers"] if "Python :: 3." in one]
    *first, last = pythons
    assert f"You need Python {', '.join(first)} or {last}" in page
    assert project["requires-python"] == f">={first[0]}"
    for code in re.findall(r"```sh\n(.*?)```", page, re.S):
        for line in code.splitlines():
            assert shlex.split(line)[0] == "pip"
            for named in re.findall(r"\[([\w,]+)\]", line):
                assert set(named.split(",")) <= set(extras)
