"""`kerascope learn report`: a page of what was done, with nothing, half and all of it done."""

import re
import shutil

import pytest
from browser import OpenPage, browser

from kerascope.cli import main
from kerascope.learn.exercises import Workbook, all_exercises
from kerascope.learn.report import code_lines
from kerascope.learn.verdicts import Outcome, Verdict

EXERCISES = all_exercises()
PARTS = [exercise for exercise in EXERCISES if exercise.part]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "kerascope-exercises"


def solve(folder, exercises, source=None):
    """Write an answer to exercises, the solution by default, and store that it passed."""
    workbook = Workbook(folder, EXERCISES)
    workbook.prepare("en")
    for exercise in exercises:
        path = workbook.path_of(exercise)
        if source is None:
            shutil.copy(exercise.solution, path)
        else:
            path.write_text(source, "utf-8")
        workbook.remember(exercise, Outcome(Verdict.PASS))


def report(*words, path="report.html"):
    assert main(["learn", "report", *words]) == 0
    with open(path, encoding="utf-8") as file:
        return file.read()


def text_of(page):
    body = page.partition("<body>")[2]
    without = re.sub(r"<svg.*?</svg>", "", body, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", without).split())


def test_nothing_done_is_said_and_makes_no_folder(folder, capsys):
    page = report("--lang", "en")
    text = text_of(page)
    assert f"0 of {len(EXERCISES)} exercises passed" in text
    assert "0 of 7 parts are my own" in text
    assert "No part is my own yet, so no engine was run. The first part: kerascope learn" in text
    assert "<svg" not in page
    assert not folder.exists()
    assert "running" not in capsys.readouterr().out


@pytest.mark.slow
def test_half_an_engine_is_run_with_solutions_for_the_rest(folder):
    solve(folder, PARTS[:3])
    page = report("--lang", "en", "-o", "half.html", path="half.html")
    text = text_of(page)
    assert "3 of 7 parts are my own" in text
    assert "The others are kerascope's solutions" in text
    assert page.count("<svg") == 3
    assert re.search(r"differ by at most \d\S*\. They agree", text)
    for number, part in enumerate(PARTS):
        whose = "me" if number < 3 else "kerascope"
        assert f"{part.part} {part.chapter.lstrip('0')} {whose} {code_lines(part.solution)}" in text


def test_a_whole_course_is_shown_in_chinese(folder):
    solve(folder, EXERCISES)
    page = report("--lang", "zh", "--name", "李<安>", "--date", "2026 年 11 月")
    text = text_of(page)
    assert '<html lang="zh-Hans">' in page
    assert f"已通过 {len(EXERCISES)} / {len(EXERCISES)} 个练习" in text
    assert "李&lt;安&gt;" in text
    assert "2026 年 11 月" in text
    assert "7 个部分中有 7 个是我自己写的" in text
    assert "两者一致" in text
    share = re.search(r"360 个测试数字中 (\S+)% 判断正确", text)
    assert share is not None
    assert float(share[1]) > 95
    chapters = {exercise.folder for exercise in EXERCISES}
    assert text.count("✓") == len(chapters)


@pytest.mark.slow
def test_the_page_is_one_file_and_the_same_each_time(folder):
    solve(folder, PARTS)
    first, second = report("--lang", "en"), report("--lang", "en")
    assert first == second
    assert "default-src 'none'" in first
    assert not re.search(r"""(src|href)=["']?https?:""", first)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("raise ValueError('no <graph> here')", "ValueError: no &lt;graph&gt; here"),
        pytest.param(
            "import time; time.sleep(600)", "still running after 0.5 s", marks=pytest.mark.slow
        ),
        ("import os; os._exit(3)", "exit 3"),
    ],
)
def test_an_engine_that_does_not_run_is_reported(folder, monkeypatch, source, words):
    monkeypatch.setattr("kerascope.learn.running.SECONDS_TO_START", 3)
    solve(folder, PARTS[:1], source)
    page = report("--lang", "en", "--time-limit", "0.5")
    assert f"The engine did not run to its end: {words}" in text_of(page)
    assert "<svg" not in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "graph"], "learn report: expected no exercise, got 'graph'"),
        (["check", "--name", "Ann"], "--name belongs to `kerascope learn report`"),
        (["report", "-o", "missing/report.html"], "does not exist"),
    ],
)
def test_wrong_words_are_refused(folder, capsys, words, message):
    assert main(["learn", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.browser
@pytest.mark.slow
def test_the_page_fits_a_telephone_and_two_sheets_of_paper(folder):
    solve(folder, EXERCISES)
    report("--lang", "en", "--name", "Ann Lee", "--date", "30 November")
    path = folder.parent / "report.html"
    with browser() as chromium:
        opened = OpenPage(chromium, path)
        page = opened.page
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        unnamed = "svg:not([aria-label]), svg[aria-label='']"
        assert page.locator(unnamed).count() == 0
        pages = re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))
        assert 1 <= len(pages) <= 2
        assert set(opened.requests) == {path.as_uri()}
        assert opened.complaints == []
        opened.close()


def test_lines_of_code_leave_out_comments_and_docstrings(tmp_path):
    path = tmp_path / "part.py"
    path.write_text(
        '"""One\n\ntwo."""\n\n# three\ndef f():\n    """Four."""\n    return (\n        5\n    )\n',
        "utf-8",
    )
    assert code_lines(path) == 4
