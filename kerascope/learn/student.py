"""The `Student` object that a checker receives: the names of the student's file, and assertions.

Each requirement that is met is counted. A requirement that is not met raises `Unmet` with a message
in both languages: what was required, and what happened. A checker is a file of functions marked
`@check`, which run in their order in the file.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from kerascope.backend.graph import Tensor
from kerascope.learn.advice import advice_on_call, advice_on_error, yours
from kerascope.learn.showing import (
    as_numbers,
    change_detector,
    difference_of_gradients,
    first_change,
    first_difference,
    is_same,
    is_whole_number_as_float,
    shown,
)
from kerascope.learn.verdicts import NOTHING, Outcome, Text, Unmet, Verdict, both, spaced
from kerascope.registry import similar_name

# --- what was printed -----------------------------------------------------------------------------


MOST_QUOTED = 40  # letters of the printed line


class PrintDetector:
    """A wrapper around standard output that records the beginning of the first printed line."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.printed = ""

    def write(self, text: str) -> int:
        """Write text to the wrapped stream; record it if it belongs to the first printed line."""
        if len(self.printed) < MOST_QUOTED and "\n" not in self.printed.lstrip():
            self.printed += text
        return int(self._stream.write(text) or 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def why_none(name: str, printed: str) -> Text:
    """Return the advice for a function that printed its answer and returned None."""
    line = printed.strip().partition("\n")[0]
    line = line if len(line) <= MOST_QUOTED else f"{line[:MOST_QUOTED]}..."
    return Text(
        en=f"; {name}(...) printed {line} but returned nothing: `return` hands an answer back, "
        "`print` only shows it",
        zh=f"；{name}(...) 打印了 {line}，却没有返回值：`return` 才把答案交出去，`print` "
        "只是显示它",
    )


# --- the student's file ---------------------------------------------------------------------------


class Student:
    """A student's file after it was run, with the assertions that a checker makes about it.

    Parameters
    ----------
    module : module
        The namespace of the file.
    path : str
        The path of the file, as in tracebacks.

    Attributes
    ----------
    met : int
        How many of the checker's requirements were met so far.

    Examples
    --------
    >>> file = ModuleType("my_exercise")
    >>> file.twice = lambda x: 3 * x
    >>> student = Student(file, "my_exercise.py")
    >>> twice = student.function("twice")
    >>> student.same("twice(2)", twice(2), 4)
    Traceback (most recent call last):
        ...
    kerascope.learn.verdicts.Unmet: expected twice(2) to be 4, yours is 6
    """

    def __init__(self, module: ModuleType, path: str) -> None:
        self.module = module
        self.path = path
        self.met = 0
        self._hint = NOTHING  # about the last call: appended to messages about its answer
        self._if_none = NOTHING  # appended if the answer itself is None

    # --- names ------------------------------------------------------------------------------------

    def get(self, name: str) -> Any:
        """Return the object that the student's file calls `name`.

        Raises
        ------
        Unmet
            The file does not define the name, or its value is still `...`.
        """
        names = vars(self.module)
        if name not in names:
            own = [word for word in names if not word.startswith("__")]
            close = similar_name(name, own)
            raise Unmet(
                Text(
                    en=f"expected your file to define {name}, it does not"
                    + (f"; is {close} a misspelling of it?" if close else ""),
                    zh=f"你的文件里应有 {name}，但没有找到"
                    + (f"；{close} 是不是拼错了？" if close else ""),
                )
            )
        self.require(
            names[name] is not Ellipsis,
            en=f"expected {name} to be your answer, it is still `...`",
            zh=f"{name} 应填入你的答案，现在仍是 `...`",
        )
        return names[name]

    def function(self, name: str, changes: Sequence[int] = ()) -> Callable[..., Any]:
        """Return a function of the student's file, wrapped so that a call checks its behavior.

        A call raises `Unmet` if the student's function raises an exception (the message names the
        line), changes a list, dict, set or array that it received, or returns `...`.

        Parameters
        ----------
        name : str
        changes : sequence of int, optional
            The positions of the arguments that the function may change.

        Raises
        ------
        Unmet
            The file does not define a function of this name.
        """
        found = self.get(name)
        self.require(
            callable(found),
            en=f"expected {name} to be a function, yours is {shown(found)}: begin it with "
            f"`def {name}(...):`",
            zh=f"{name} 应是一个函数，你的是 {shown(found, 'zh')}：请用 `def {name}(...):` 定义",
        )

        return self.method(found, name, changes)

    def method(
        self, found: Callable[..., Any], name: str, changes: Sequence[int] = ()
    ) -> Callable[..., Any]:
        """Return a method of the student's object, wrapped as `function` does.

        Parameters
        ----------
        found : callable
            The method, such as ``layer.get_config``, or an object whose ``__call__`` the student
            wrote.
        name : str
            The name of the method in messages.
        changes : sequence of int, optional
            The positions of the arguments that the method may change.

        Examples
        --------
        >>> from types import ModuleType, SimpleNamespace
        >>> own = SimpleNamespace(twice=lambda x: 2 * x)
        >>> Student(ModuleType("exercise"), "exercise.py").method(own.twice, "twice")(3)
        6
        """

        def asked(*args: Any, **kwargs: Any) -> Any:
            output = PrintDetector(sys.stdout)
            before = [change_detector(one) for n, one in enumerate(args) if n not in changes]
            try:
                with redirect_stdout(output):  # type: ignore[type-var]
                    answer = found(*args, **kwargs)
            except Exception as error:
                raise self.failure(error, f"{name}(...)") from error
            self._require_unchanged(name, [change for look in before if (change := look())])
            self.require(
                answer is not Ellipsis,
                en=f"expected {name}(...) to return your answer, it still returns `...`",
                zh=f"{name}(...) 应返回你的答案，现在仍返回 `...`",
            )
            self._explain(found, name, answer, output.printed)
            return answer

        return asked

    def _explain(self, found: Any, name: str, answer: Any, printed: str) -> None:
        """Prepare the advice that is appended if the answer of a call is not the expected one."""
        self._hint = self._if_none = NOTHING
        classes = type(getattr(found, "__self__", None)).__mro__
        own = [one for one in classes if one.__module__ == self.module.__name__]
        if own and not any(found.__name__ in vars(one) for one in own):
            self._hint = Text(
                f"; your class {own[0].__name__} does not define {name}",
                f"；你的类 {own[0].__name__} 没有定义 {name}",
            )
        elif answer is None and printed.strip():
            self._hint = why_none(name, printed)
        elif answer is None:
            self._if_none = Text(
                f"; did {name}(...) end without `return`?", f"；{name}(...) 是不是忘了 `return`？"
            )

    def _require_unchanged(self, name: str, changed: list[tuple[Any, Any]]) -> None:
        """Raise `Unmet` if a call changed an argument; `changed` has pairs (old, new value)."""
        for was, is_now in changed:
            before, after, at = first_change(was, is_now)
            raise Unmet(
                Text(
                    en=f"expected {name}(...) not to change its arguments, yours has "
                    f"changed {shown(before)}{at.en} into {shown(after)}; make a copy first",
                    zh=f"{name}(...) 不应改动交给它的东西，你的把 {shown(before, 'zh')}{at.zh} "
                    f"改成了 {shown(after, 'zh')}；请先复制一份",
                )
            )

    # --- requirements -----------------------------------------------------------------------------

    def require(self, is_met: bool, *, en: str = "", zh: str = "") -> None:
        """Require that a condition is true, and count the requirement as met.

        Parameters
        ----------
        is_met : bool
        en, zh : str
            The message if the condition is false: "expected ... to be ..., yours is ...". In a
            course in one language, give only one of them.

        Raises
        ------
        Unmet
            The condition is false.
        """
        self._raise_unless(is_met, en=en or zh, zh=zh or en)
        self.met += 1

    def _raise_unless(self, is_met: bool, *, en: str, zh: str, advice: Text = NOTHING) -> None:
        """Raise `Unmet` if a condition is false. Unlike `require`, do not count a true one.

        The hint about the last call is appended to the message; without one, `advice`.
        """
        if not is_met:
            hint = self._hint if self._hint.en else advice
            raise Unmet(Text(en + hint.en, zh + hint.zh))
        self._if_none = NOTHING  # it is about the first requirement after a call

    def same(self, what: str | Text, found: Any, expected: Any, why: str | Text = "") -> None:
        """Require that a value equals the expected one; `why` is appended to the message.

        A float does not count as an int: 3.0 cannot be an index or a number of iterations.
        """
        en, zh = both(what)
        why = both(why)
        own, if_none = yours(found, expected), self._if_none if found is None else NOTHING
        self._raise_unless(
            not is_whole_number_as_float(found, expected),
            en=f"expected {en} to be the int {shown(expected)}, yours is the float {found!s}",
            zh=f"{spaced(zh)}应为整数（int）{shown(expected, 'zh')}，"
            f"你的是浮点数（float）{found!s}",
        )
        self._raise_unless(
            is_same(found, expected),
            en=f"expected {en} to be {shown(expected)}, yours is {own.en}"
            + (f": {why.en}" if why.en else ""),
            zh=f"{spaced(zh)}应为 {shown(expected, 'zh')}，你的是 {own.zh}"
            + (f"：{why.zh}" if why.zh else ""),
            advice=if_none,
        )
        self.met += 1
        if found is None:
            self._hint = NOTHING  # None was the answer

    def tensor(self, what: str | Text, found: Any) -> Tensor:
        """Require that a value is a symbolic tensor, and return it."""
        en, zh = both(what)
        self._raise_unless(
            isinstance(found, Tensor),
            en=f"expected {en} to be a symbolic tensor, yours is {shown(found)}",
            zh=f"{spaced(zh)}应是一个符号张量，你的是 {shown(found, 'zh')}",
            advice=self._if_none if found is None else NOTHING,
        )
        self.met += 1
        return found  # type: ignore[no-any-return]

    def numbers(self, what: str | Text, found: Any) -> np.ndarray:
        """Require a number, an array, or nested lists of numbers; return it as a float64 array."""
        en, zh = both(what)
        given, own = as_numbers(found), yours(found, 0)
        self._raise_unless(
            given is not None,
            en=f"expected {en} to be numbers, yours is {own.en}",
            zh=f"{spaced(zh)}应是数值，你的是 {own.zh}",
            advice=self._if_none if found is None else NOTHING,
        )
        assert given is not None
        self.met += 1
        return given

    def close(self, what: str | Text, found: Any, expected: Any, tolerance: float = 1e-5) -> None:
        """Require that two arrays have the same shape and agree within a tolerance.

        The message names the first element that differs.
        """
        en, zh = both(what)
        wanted, given = np.asarray(expected), self.numbers(what, found)
        self.same(Text(f"the shape of {en}", f"{spaced(zh)}的形状"), given.shape, wanted.shape)
        wrong = np.argwhere(~np.isclose(given, wanted, rtol=tolerance, atol=tolerance))
        place = tuple(int(i) for i in wrong[0]) if len(wrong) else ()
        at = str(list(place)) if place else ""
        if at and isinstance(what, Text):
            en, zh, at = f"{en.rstrip(',')}, at {at},", f"{zh}，{at} 处", ""
        one, other = (given[place], wanted[place]) if len(wrong) else (0, 0)
        self.require(
            len(wrong) == 0,
            en=f"expected {en}{at} to be {shown(other)}, yours is {shown(one)}",
            zh=f"{spaced(zh + at)}应为 {shown(other)}，你的是 {shown(one)}",
        )

    def listed(self, what: str | Text, found: Any, number: int | None = None) -> list[Any]:
        """Require a list or tuple, of length `number` if that is given; return it as a list."""
        en, zh = both(what)
        own, advice = yours(found, []), self._if_none if found is None else NOTHING
        if isinstance(found, Tensor):
            own = Text(shown(found), shown(found, "zh"))
            advice = Text(": put it into a list, [tensor]", "：请把它放进列表，[tensor]")
        if found is not None and number is not None and number > 1:
            advice = Text(f": a list of {number} is needed", f"：应是 {number} 项的列表")
        self._raise_unless(
            isinstance(found, (list, tuple)),
            en=f"expected {en} to be a list, yours is {own.en}",
            zh=f"{spaced(zh)}应是列表，你的是 {own.zh}",
            advice=advice,
        )
        self._raise_unless(
            number is None or len(found) == number,
            en=f"expected {en} to have {number} items, yours has {len(found)}",
            zh=f"{spaced(zh)}应有 {number} 项，你的有 {len(found)} 项",
        )
        return list(found)

    def pairs(self, what: str, found: Any, number: int | None = None) -> list[tuple[Any, Any]]:
        """Require that a value is a list of updates (variable, new value), and return the list."""
        entries = self.listed(what, found, number)
        for place, entry in enumerate(entries):
            self._raise_unless(
                isinstance(entry, (list, tuple)) and len(entry) == 2,
                en=f"expected {what}[{place}] to be a pair (variable, new value), yours is "
                f"{shown(entry)}: a new value alone does not say which variable it is for",
                zh=f"{what}[{place}] 应是二元组（变量，新值），你的是 {shown(entry, 'zh')}："
                "只有新值，就不知道它属于哪个变量",
            )
        return [(variable, new_value) for variable, new_value in entries]

    @contextmanager
    def without(self, name: str, **forbidden: Callable[..., Any]) -> Iterator[None]:
        """Require that the student's code does not call certain functions of kerascope.

        Only direct calls count, not calls inside kerascope (K.eval makes a K.function). A forbidden
        `__init__` counts wherever it is called.

        Parameters
        ----------
        name : str
            The student's function, as the message names it.
        **forbidden : function
            The functions by the names used in the message, where the first `_` means a dot:
            `K_gradients=K.gradients`.
        """
        codes = {function.__code__: word for word, function in forbidden.items()}

        def is_by_student(frame: FrameType) -> bool:
            caller = frame.f_back
            is_direct = caller is not None and caller.f_code.co_filename == self.path
            return is_direct or frame.f_code.co_name == "__init__"

        called: list[str] = []

        def watch(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code in codes and is_by_student(frame):
                called.append(codes[frame.f_code].replace("_", ".", 1))

        before = sys.getprofile()
        sys.setprofile(watch)
        try:
            yield
        finally:
            sys.setprofile(before)
        word = "".join(called[:1])
        self.require(
            not called,
            en=f"expected {name} to do the work itself, yours calls {word}",
            zh=f"{name} 应自己完成，你的把它交给了 {word}",
        )

    def order(self, what: str | Text, found: Sequence[Any], expected: Sequence[Any]) -> None:
        """Require the expected order of events; the message names the first difference.

        Parameters
        ----------
        what : str or Text
            The kind of events: "calls of grad".
        found, expected : sequence
            The events, usually as names.
        """
        en, zh = both(what)
        found = self.listed(what, found)
        place = first_difference(found, expected)
        at = place or 0
        yours = shown(found[at]) if at < len(found) else ""
        wanted = shown(expected[at]) if at < len(expected) else ""
        self.require(
            place is None,
            en=f"{en}: expected number {at + 1} to be {wanted or 'none (all are done)'}, "
            + (f"yours is {yours}" if yours else "yours has none"),
            zh=f"{zh}：第 {at + 1} 个应为 {wanted or '无（已全部完成）'}，"
            + (f"你的是 {yours}" if yours else "你的没有"),
        )

    def gradient(self, what: str, function: Callable[..., Tensor], arrays: Sequence[Any]) -> None:
        """Require that the symbolic gradient of a function agrees with finite differences.

        Parameters
        ----------
        what : str
            The function's name in the message.
        function : callable
            Takes variables and returns a tensor.
        arrays : list of array_like
            The values of the variables.
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
        """Return the `Unmet` that reports an exception, with its line in the student's file.

        An exception that is an `Unmet` is returned unchanged.
        """
        if isinstance(error, Unmet):
            return error
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == self.path]
        words = " ".join(f"{type(error).__name__}: {error}".split())
        line = lines[-1] if lines else None
        place = Text(f" at line {line}", f"（第 {line} 行）") if lines else Text("", "")
        what = Text(during or "your file", f"{during} " if during else "你的文件")
        advice = advice_on_error(words, _similar_name(error, self.path))
        if not lines and not advice.zh:
            advice = advice_on_call(error)
        message = Text(
            en=f"{what.en} stopped{place.en} with {words}{advice.en}",
            zh=f"{what.zh}中途出错{place.zh}：{words}{advice.zh}",
        )
        if not lines and not during:
            message = Text(
                en=f"the result of your file could not be used: {words}{advice.en}",
                zh=f"你的文件给出的结果无法使用：{words}{advice.zh}",
            )
        return Unmet(message, line, _own_traceback(error, self.path))


def _similar_name(error: BaseException, path: str) -> str:
    """Return a name of the student's file that is similar to the unknown one of a NameError."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [frame for frame in frames if frame.f_code.co_filename == path]
    if not own or not isinstance(error, NameError) or isinstance(error, UnboundLocalError):
        return ""
    return similar_name(str(error.name), {**own[-1].f_globals, **own[-1].f_locals})


def _own_traceback(error: BaseException, path: str) -> str:
    """Return the traceback from the file's first frame to its last one; "" if it has no frame."""
    trace = traceback.TracebackException.from_exception(error)
    places = [n for n, frame in enumerate(trace.stack) if frame.filename == path]
    if not places:
        return ""
    trace.stack = traceback.StackSummary.from_list(trace.stack[places[0] : places[-1] + 1])
    trace.__cause__ = trace.__context__ = None
    return "".join(trace.format())


# --- checkers -------------------------------------------------------------------------------------
# The first requirement that is not met ends a checker, so a student reads one message at a time. A
# checker without a single requirement fails every file, because it has checked nothing.


Check = Callable[[Student], None]
_MARK = "_is_a_check_of_an_exercise"

NOTHING_CHECKED = Text(
    en="the checker checks nothing, so this is not a PASS; please tell your teacher",
    zh="检查程序没有检查任何内容，不能算通过；请告诉老师",
)


def check(function: Check) -> Check:
    """Mark a function as a check: a checker calls it with the `Student`.

    Examples
    --------
    >>> @check
    ... def its_answer(student):
    ...     student.same("answer", student.get("answer"), 42)
    """
    setattr(function, _MARK, True)
    return function


def checks_of(path: Path) -> list[Check]:
    """Return the functions marked `@check` in a checker's file, in their order."""
    names: dict[str, Any] = runpy.run_path(str(path), run_name=f"checks_of_{path.stem}")
    return [value for value in names.values() if getattr(value, _MARK, False)]


def judge(checks: list[Check], student: Student) -> Outcome:
    """Run the checks on a student's file; return the outcome.

    An exception in the file becomes a FAIL that names its line. If the checks require nothing, the
    outcome is a FAIL too.

    Examples
    --------
    >>> from types import ModuleType
    >>> judge([], Student(ModuleType("empty"), "empty.py")).verdict
    <Verdict.FAIL: 'FAIL'>
    """
    try:
        for one in checks:
            one(student)
    except Exception as error:
        return student.failure(error).outcome(student.met)
    if student.met == 0:
        return Outcome(Verdict.FAIL, NOTHING_CHECKED)
    return Outcome(Verdict.PASS, checks=student.met)
