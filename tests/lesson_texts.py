"""Small lessons for the tests of kerascope/lessons."""

from functools import cache
from pathlib import Path

from kerascope.lessons.lesson import Chapter
from kerascope.lessons.parser import (
    chapter_folders,
    find_chapter,
    parse_lesson,
    read_chapter,
)

EVERY_KIND = """\
# Kinds {#kinds}

```python {#first}
def double(x):
    return 2 * x


print(double(21))
```

```output
42
```

It is 42, or 100{.free}.

```raises ValueError {#wrong}
print("before")
int("three")
```

```output
before
ValueError: invalid literal for int() with base 10: 'three'
```

## Sessions {#sessions}

```pycon {#console}
>>> double(4)
8
>>> for word in ("a", ""):
...     print(word)
a
<BLANKLINE>
>>> int("x")
Traceback (most recent call last):
    ...
ValueError: invalid literal for int() with base 10: 'x'
```

```python {#write}
from pathlib import Path

_ = Path("small.py").write_text("x = 1\\nprint('said')\\n")
```

```pdb small.py {#lines .predict}
n
p x + 1
q
```

```output
> small.py(1)<module>()
-> x = 1
(Pdb) n
> small.py(2)<module>()
-> print('said')
(Pdb) p x + 1
2
(Pdb) q
```

```kscope small.py {#events}
c
```

```output
> small.py(1)<module>()
-> x = 1
(Kdb) c
said
--- the program has ended: 0 events. nothing was recorded; q ends.
```
"""
WORDS = {
    "Kinds {": "种类 {",
    "Sessions {": "会话 {",
    "It is 42, or 100{.free}.": "是 42，或 100{.free}。",
}


def in_chinese(text: str) -> str:
    for english, chinese in WORDS.items():
        text = text.replace(english, chinese)
    return text


def write_chapter(
    tutorials: Path, english: str, chinese: str | None = None, name: str = "01-kinds"
) -> Chapter:
    """Write a chapter and read it; its Chinese is the English if none is given."""
    folder = tutorials / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "lesson.en.md").write_text(english, encoding="utf-8")
    text = in_chinese(english) if chinese is None else chinese
    (folder / "lesson.zh.md").write_text(text, encoding="utf-8")
    return read_chapter(folder)


@cache
def chapter_of_the_course(name: str) -> Chapter:
    """Return a chapter of the course, read once for all tests: nothing in it can be changed."""
    return read_chapter(find_chapter(name))


def chapters_of_the_course() -> list[Chapter]:
    return [chapter_of_the_course(folder.name) for folder in chapter_folders()]


def parsed(text: str):
    return parse_lesson(text, Path("01-kinds/lesson.en.md"), "en")
