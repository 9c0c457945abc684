"""The student's file as a checker sees it: its names, and demands on what they do.

Every demand that is met is counted. One that is not raises `Unmet` with a message that says what
was demanded and what happened, in both languages.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.learn.showing import first_difference, is_same, shown
from kerascope.learn.slopes import difference_of_gradients
from kerascope.learn.texts import NOTHING, Text
from kerascope.learn.verdicts import Unmet
from kerascope.registry import did_you_mean

NOBODY_TYPES = Text(
    en="; nobody types while it is checked, so do without input()",
    zh="；检查时没有人输入，请去掉 input()",
)


class Student:
    """What a student wrote, after it was run.

    Parameters
    ----------
    module : module
        Holds the names that the file defines.
    path : str
        The file, as it stands in tracebacks.

    Attributes
    ----------
    met : int
        How many demands were met so far.
    """

    def __init__(self, module: ModuleType, path: str) -> None:
        self.module = module
        self.path = path
        self.met = 0

    # --- names ------------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """Return what the file calls `name`.

        Raises
        ------
        Unmet
            The file has no such name, or it still holds `...`.
        """
        names = vars(self.module)
        if name not in names:
            own = [word for word in names if not word.startswith("__")]
            hint = did_you_mean(name, own).strip()
            raise Unmet(
                Text(
                    en=f"expected a name {name} in your file, there is none. {hint}".strip(),
                    zh=f"你的文件里应有 {name}，但没有找到。{hint}".strip(),
                )
            )
        self.require(
            names[name] is not Ellipsis,
            en=f"expected {name} to hold your answer, it still holds `...`",
            zh=f"{name} 应填入你的答案，现在仍是 `...`",
        )
        return names[name]

    def function(self, name: str) -> Callable[..., Any]:
        """Return a function of the file; what it raises is told with its line.

        Raises
        ------
        Unmet
            The file has none of this name.
        """
        found = self.get(name)
        self.require(
            callable(found),
            en=f"expected {name} to be a function, yours is {shown(found)}",
            zh=f"{name} 应是一个函数，你的是 {shown(found, 'zh')}",
        )

        def asked(*args: Any, **kwargs: Any) -> Any:
            try:
                answer = found(*args, **kwargs)
            except Exception as error:
                raise self.failure(error, f"{name}(...)") from error
            self.require(
                answer is not Ellipsis,
                en=f"expected {name}(...) to return your answer, it still returns `...`",
                zh=f"{name}(...) 应返回你的答案，现在仍返回 `...`",
            )
            return answer

        return asked

    # --- demands ----------------------------------------------------------------------------------

    def require(self, is_met: bool, *, en: str, zh: str) -> None:
        """Demand that something is true.

        Parameters
        ----------
        is_met : bool
        en, zh : str
            What was demanded and what happened: "expected ... to be ..., yours is ...".

        Raises
        ------
        Unmet
            It is not.
        """
        if not is_met:
            raise Unmet(Text(en, zh))
        self.met += 1

    def same(self, what: str | Text, found: Any, expected: Any, why: Text = NOTHING) -> None:
        """Demand that a value is another; `why` is said after the two."""
        en, zh = both(what)
        self.require(
            is_same(found, expected),
            en=f"expected {en} to be {shown(expected)}, yours is {shown(found)}"
            + (f": {why.en}" if why.en else ""),
            zh=f"{spaced(zh)}应为 {shown(expected, 'zh')}，你的是 {shown(found, 'zh')}"
            + (f"：{why.zh}" if why.zh else ""),
        )

    def tensor(self, what: str | Text, found: Any) -> Tensor:
        """Demand that a value is a tensor, and return it."""
        en, zh = both(what)
        self.require(
            isinstance(found, Tensor),
            en=f"expected {en} to be a symbolic tensor, yours is {shown(found)}",
            zh=f"{spaced(zh)}应是一个符号张量，你的是 {shown(found, 'zh')}",
        )
        return found  # type: ignore[no-any-return]

    def close(self, what: str | Text, found: Any, expected: Any, tolerance: float = 1e-5) -> None:
        """Demand that numbers agree, element by element; the first that differs is named."""
        en, zh = both(what)
        wanted, given = np.asarray(expected), as_numbers(found)
        self.require(
            given is not None,
            en=f"expected {en} to be numbers, yours is {shown(found)}",
            zh=f"{spaced(zh)}应是数值，你的是 {shown(found, 'zh')}",
        )
        assert given is not None
        self.same(Text(f"the shape of {en}", f"{zh} 的形状"), given.shape, wanted.shape)
        wrong = np.argwhere(~np.isclose(given, wanted, rtol=tolerance, atol=tolerance))
        place = tuple(int(i) for i in wrong[0]) if len(wrong) else ()
        at = str(list(place)) if place else ""
        if at and isinstance(what, Text):
            en, zh, at = f"{en}, at {at},", f"{zh}，{at} 处", ""
        one, other = (given[place], wanted[place]) if len(wrong) else (0, 0)
        self.require(
            len(wrong) == 0,
            en=f"expected {en}{at} to be {shown(other)}, yours is {shown(one)}",
            zh=f"{spaced(zh + at)}应为 {shown(other)}，你的是 {shown(one)}",
        )

    def order(self, what: str | Text, found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Demand that the same things happened in the same order; the first that differs is told.

        Parameters
        ----------
        what : str or Text
            What they are: "calls of grad".
        found, expected : sequence
            Events, usually by name.
        """
        en, zh = both(what)
        place = first_difference(found, expected)
        at = place or 0
        yours = shown(found[at]) if at < len(found) else ""
        wanted = shown(expected[at]) if at < len(expected) else ""
        self.require(
            place is None,
            en=f"{en}: expected number {at + 1} to be {wanted or 'none, all were done'}, "
            + (f"yours is {yours}" if yours else "yours has none"),
            zh=f"{zh}：第 {at + 1} 个应为 {wanted or '无（已全部完成）'}，"
            + (f"你的是 {yours}" if yours else "你的没有"),
        )

    def gradient(self, what: str, function: Callable[..., Tensor], arrays: Sequence[Any]) -> None:
        """Demand that the symbolic gradient of a function agrees with finite differences.

        Parameters
        ----------
        what : str
            The function's name in the message.
        function : callable
            Makes a tensor of variables.
        arrays : list of array_like
            The numbers of the variables.
        """
        worst = difference_of_gradients(function, arrays)
        at = f"{what}: d loss / d input {worst.number}{list(worst.place)}"
        self.require(
            worst.is_small,
            en=f"{at}: finite differences give {shown(worst.approximate)}, "
            f"your gradient gives {shown(worst.exact)} (maxdiff {shown(worst.largest)})",
            zh=f"{at}：有限差分得 {shown(worst.approximate)}，"
            f"你的梯度得 {shown(worst.exact)}（最大差 {shown(worst.largest)}）",
        )

    # --- failures ---------------------------------------------------------------------------------

    def failure(self, error: BaseException, during: str = "") -> Unmet:
        """Return what is said of an exception: where in the student's file, and which."""
        if isinstance(error, Unmet):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self.path]
        words = " ".join(f"{type(error).__name__}: {error}".split())
        line = lines[-1] if lines else None
        place = Text(f" at line {line}", f"（第 {line} 行）") if lines else Text("", "")
        what = Text(during or "your file", during or "你的文件")
        advice = NOBODY_TYPES if isinstance(error, EOFError) else NOTHING
        message = Text(
            en=f"{what.en} stopped{place.en} with {words}{advice.en}",
            zh=f"{what.zh} 中途出错{place.zh}：{words}{advice.zh}",
        )
        if not lines and not during:
            message = Text(
                en=f"what your file gave could not be used: {words}",
                zh=f"你的文件给出的结果无法使用：{words}",
            )
        return Unmet(message, line, _told(error, self.path))


def both(what: str | Text) -> Text:
    """Return the name of something in both languages; code is the same in each."""
    return Text(what, what) if isinstance(what, str) else what


def spaced(words: str) -> str:
    """Return words with a space behind them where Latin letters meet Chinese ones.

    Examples
    --------
    >>> spaced("f(x)"), spaced("形状")
    ('f(x) ', '形状')
    """
    return f"{words} " if words[-1:].isascii() else words


def as_numbers(value: Any) -> np.ndarray | None:
    """Return a value as an array of numbers, None if it is none."""
    try:
        return np.asarray(value, dtype="float64")
    except (TypeError, ValueError):
        return None


def _told(error: BaseException, path: str) -> str:
    """Return the traceback from the student's first line on."""
    told = traceback.TracebackException.from_exception(error)
    places = [n for n, frame in enumerate(told.stack) if frame.filename == path]
    if not places:
        return ""
    told.stack = traceback.StackSummary.from_list(told.stack[places[0] : places[-1] + 1])
    told.__cause__ = told.__context__ = None
    return "".join(told.format())
