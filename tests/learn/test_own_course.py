"""A teacher's own course: exercises and chapters in one language, and when solutions are shown."""

import shutil

import pytest

from kerascope.cli import main
from kerascope.learn.exercises import all_exercises
from kerascope.learn.running import check_file

LESSON = """# 极差 {#spread}

```python {#one}
print(8 - 1)
```
"""
FILES = {
    "01-spread/lesson.zh.md": LESSON,
    "01-spread/exercises/spread.py": '''"""写出 `spread(numbers)`：最大值减最小值。"""


def spread(numbers):
    return ...
''',
    "01-spread/exercises/spread.toml": """
number = 1
[zh]
hints = ["想想 max。", "还有 min。"]
seen = "极差只看两个数。"
""",
    "01-spread/checks/spread.py": """
from kerascope.learn import check


@check
def the_answer(student):
    spread = student.function("spread")
    student.same("spread([3, 1, 8])", spread([3, 1, 8]), 7, why="8 - 1")
    student.require(spread([]) == 0, zh="空列表的极差应为 0")
""",
    "01-spread/solutions/spread.py": """
def spread(numbers):
    return max(numbers) - min(numbers) if numbers else 0
""",
}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """Write the course into ./my course; make its parent the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    folder = tmp_path / "my course"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def learn(capsys):
    def typed(*words):
        code = main(["learn", *map(str, words), "--tutorials", "my course"])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return typed


@pytest.mark.slow
def test_a_student_works_in_a_course_in_one_language(course, learn):
    code, out, err = learn()
    assert (code, err) == (0, "")
    assert "写出 `spread(numbers)`：最大值减最小值。" in out
    assert "kerascope learn read 1 --tutorials 'my course'" in out
    assert "kerascope learn check --tutorials 'my course'" in out
    assert "print(8 - 1)" in learn("read")[1]
    assert "kerascope learn 1 --tutorials 'my course'" in learn("read", "1")[1]
    assert "想想 max" in learn("hint")[1]
    file = course.parent / "kerascope-exercises" / "01-spread" / "spread.py"
    assert file.read_text(encoding="utf-8") == FILES["01-spread/exercises/spread.py"]
    assert learn("check")[0] == 5
    file.write_text("def spread(numbers):\n    return 7\n", encoding="utf-8")
    assert "未通过  空列表的极差应为 0" in learn("check")[1]
    file.write_text(FILES["01-spread/solutions/spread.py"], encoding="utf-8")
    assert "极差只看两个数。" in learn("check")[1]
    assert "solution spread" not in learn("list")[1]


def test_it_begins_with_its_first_chapter_which_may_have_no_exercise(course, learn):
    begin = course / "00-begin" / "lesson.zh.md"
    begin.parent.mkdir()
    begin.write_text(LESSON.replace("8 - 1", "9 - 1"), encoding="utf-8")
    assert "kerascope learn read 0 --tutorials 'my course'" in learn()[1]
    shutil.rmtree(course / "01-spread" / "exercises")
    assert "print(9 - 1)" in learn("read")[1]


def test_its_pages_have_the_name_of_its_folder_as_the_title(course, learn):
    assert main(["lessons", "html", "-o", "pages", "--tutorials", "my course"]) == 0
    learn("report", "-o", "report.html")
    for page in ("pages/index.html", "pages/01-spread.html", "report.html"):
        text = (course.parent / page).read_text(encoding="utf-8")
        assert "my course" in text
        assert "由内而观" not in text


def test_the_languages_stand_for_each_other(course):
    (exercise,) = all_exercises(course)
    assert exercise.languages == ("zh",)
    assert exercise.task.en == exercise.task.zh
    assert exercise.stub_in("en") == exercise.stub_in("zh")
    wrong = course / "wrong.py"
    wrong.write_text("def spread(numbers):\n    return 6\n", encoding="utf-8")
    message = check_file(exercise, wrong).message
    assert message.en == "expected spread([3, 1, 8]) to be 7, yours is 6: 8 - 1"
    assert message.zh == "spread([3, 1, 8]) 应为 7，你的是 6：8 - 1"


def test_a_class_is_marked_in_the_language_of_the_course(course, learn):
    for student in ("ann", "bob"):
        learn("--folder", course.parent / "class" / student)
    code, out, _ = learn("check", "--all", "--class", course.parent / "class")
    assert code == 5
    assert [line.split() for line in out.splitlines()] == [
        ["学生", "spread", "通过", "未通过", "未作答"],
        ["ann", "未作答", "0", "0", "1"],
        ["bob", "未作答", "0", "0", "1"],
    ]


def test_a_language_that_the_course_lacks_is_refused(course, learn):
    code, _, err = learn("--lang", "en")
    assert code == 2
    assert "the course in 'my course' is only in zh" in err


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [("always", 0, 0), ("after an attempt", 5, 0), ("never", 5, 5)],
)
def test_the_course_decides_when_solutions_are_shown(course, learn, rule, before, after):
    (course / "course.toml").write_text(f'solutions = "{rule}"\n', encoding="utf-8")
    learn()
    assert learn("solution")[0] == before
    file = course.parent / "kerascope-exercises" / "01-spread" / "spread.py"
    file.write_text("def spread(numbers):\n    return 6\n", encoding="utf-8")
    assert learn("check")[0] == 1
    code, out, _ = learn("solution")
    assert code == after
    assert ("max(numbers) - min(numbers)" in out) == (after == 0)
    assert ("老师还没有公布参考答案" in out) == (rule == "never")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('solutions = "later"', 'solutions: expected "after an attempt", "always", "never", got'),
        ("", "the key 'solutions' is missing"),
        ('solution = "always"', "the key 'solutions' is missing"),
        ("solutions = never", "cannot be read"),
    ],
)
def test_a_wrong_course_file_is_named(course, learn, text, words):
    (course / "course.toml").write_text(text, encoding="utf-8")
    _, _, err = learn("solution")
    assert "course.toml: " in err
    assert words in err


def test_a_folder_without_exercises_is_refused(course, learn):
    for path in course.glob("*/exercises/*.toml"):
        path.unlink()
    code, _, err = learn("check")
    assert code == 2
    assert "'my course' contains no exercises. Expected files NN-topic/exercises/NAME.toml" in err
    assert "print(8 - 1)" in learn("read")[1]
    (course / "01-spread/exercises/spread.toml").write_text("number = 1\n", encoding="utf-8")
    _, _, err = learn()
    assert "spread.toml: expected a table [en], a table [zh], or both; there is none." in err
    assert main(["learn", "--tutorials", "nowhere"]) == 2


WRONG = '''"""{words}"""


def spread(numbers):
    return {answer}
'''


def check_exercises(capsys):
    code = main(["lessons", "check", "--exercises", "--tutorials", "my course"])
    return code, capsys.readouterr().out


@pytest.mark.slow
def test_an_author_checks_the_exercises(course, capsys):
    main(["lessons", "build", "--accept", "--tutorials", "my course"])
    capsys.readouterr()
    wrong = course / "01-spread" / "wrong" / "spread__seven.py"
    wrong.parent.mkdir()
    words = "错。\n\nzh: 空列表的极差应为 0\n"
    wrong.write_text(WRONG.format(words=words, answer=7), encoding="utf-8")
    code, out = check_exercises(capsys)
    assert code == 0
    assert "01/spread                solution and 1 wrong answer   ok\n" in out

    wrong.write_text(WRONG.format(words=words, answer=8), encoding="utf-8")
    code, out = check_exercises(capsys)
    assert code == 1
    assert "spread__seven.py: the message differs (- quoted, + given now):" in out
    assert "    + zh: spread([3, 1, 8]) 应为 7，你的是 8：8 - 1\n" in out
    assert "en:" not in out

    wrong.write_text(WRONG.format(words="错。", answer=7), encoding="utf-8")
    assert "expected a docstring that quotes the message" in check_exercises(capsys)[1]

    solution = FILES["01-spread/solutions/spread.py"]
    wrong.write_text(solution, encoding="utf-8")
    assert "expected this wrong answer to FAIL, got PASS." in check_exercises(capsys)[1]
    (course / "01-spread/solutions/spread.py").write_text("x = 1\n", encoding="utf-8")
    (course / "01-spread/exercises/spread.py").write_text('"""做。"""\n', encoding="utf-8")
    code, out = check_exercises(capsys)
    assert "expected the solution to PASS, got FAIL:\n    你的文件里应有 spread" in out
    assert "expected `...` where the student writes, got none." in out
    assert out.endswith("1 chapter: 3 wrong\n")
