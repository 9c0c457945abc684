import pytest

from kerascope import lessons
from kerascope.errors import ConfigError, UnavailableError
from kerascope.learn.exercises import all_exercises, find_exercises, read_exercise

EXERCISES = all_exercises()


@pytest.mark.parametrize(
    "word",
    [
        "call_twice",
        "call_twice.py",
        "05/call_twice",
        "5/call_twice",
        "05-node/call_twice.py",
        "kerascope-exercises/05-node/call_twice.py",
        "kerascope-exercises\\05-node\\call_twice.py",
    ],
)
def test_an_exercise_is_found_by_all_its_names(word):
    found, hint = find_exercises(EXERCISES, word)
    assert [e.id for e in found] == ["05/call_twice"]
    assert hint == ""


@pytest.mark.parametrize("word", ["5", "05", "05-node"])
def test_a_chapter_is_found_by_its_number(word):
    found, _ = find_exercises(EXERCISES, word)
    assert found
    assert {e.chapter for e in found} == {"05"}


def test_a_misspelt_name_gives_a_hint():
    assert find_exercises(EXERCISES, "cal_twice") == ([], "Did you mean 'call_twice'? ")
    assert find_exercises(EXERCISES, "06-layer/call_twice.py")[0] == []


GOOD = """
number = 1
facts = ["R01"]
[en]
hints = ["think"]
seen = "seen"
[zh]
task = "做。"
hints = ["想"]
seen = "看"
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("number = 1", "number = ", "cannot be read"),
        ("number = 1", "", "the key 'number' is missing"),
        ("number = 1", 'number = "one"', "number: expected the exercise's position"),
        ('task = "做。"', "", r"\[zh\] the key 'task' is missing"),
        ('task = "做。"', 'task = " "', r"\[zh\] task: expected a text, got ' '"),
        ('hints = ["想"]', 'hints = ["想", "再想"]', "1 hints in English, 2 in Chinese"),
        ('hints = ["想"]', 'hints = "想"', r"\[zh\] hints: expected a list of one or more texts"),
        (
            'seen = "seen"',
            'seen = "seen"\nsaw = 1',
            r"\[en\] unknown key 'saw'. Expected the keys ",
        ),
        ("[en]", "[fr]", "unknown key 'fr'"),
        ("[zh]", "[en.zh]", r"\[en\] unknown key 'zh'"),
    ],
)
def test_an_exercise_that_lacks_something_is_refused(tmp_path, old, new, words):
    path = tmp_path / "01-course" / "exercises" / "one.toml"
    path.parent.mkdir(parents=True)
    path.with_suffix(".py").write_text('"""Do it."""\nx = ...\n')
    path.write_text(GOOD, encoding="utf-8")
    for needed in ("checks", "solutions"):
        file = path.parents[1] / needed / "one.py"
        with pytest.raises(ConfigError, match=f"one.toml: .* needs the file .*{needed}.one.py"):
            read_exercise(path)
        file.parent.mkdir()
        file.touch()
    exercise = read_exercise(path)
    assert (exercise.id, exercise.title.zh) == ("01/one", "做")
    assert exercise.stub_in("zh") == '"""做。\n"""\nx = ...\n'
    path.write_text(GOOD.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=f"one.toml: .*{words}"):
        read_exercise(path)


def test_the_docstring_of_the_stub_is_the_task(tmp_path):
    path = tmp_path / "01-course" / "exercises" / "one.toml"
    path.parent.mkdir(parents=True)
    path.write_text(GOOD, encoding="utf-8")
    path.with_suffix(".py").write_text("x = ...\n")
    with pytest.raises(ConfigError, match=r"one.py: expected a docstring at its top: the task"):
        read_exercise(path)
    path.with_suffix(".py").write_text("x = \n")
    with pytest.raises(ConfigError, match=r"one.py: cannot be read .*line 1"):
        read_exercise(path)


def test_an_installation_without_the_course_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(lessons, "package_folder", lambda: tmp_path / "kerascope")
    with pytest.raises(UnavailableError, match="The tutorials of kerascope are not in"):
        all_exercises()
