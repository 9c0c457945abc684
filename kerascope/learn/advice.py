"""The advice that a message adds: what an error usually means, and what kind of value was returned.

Python's errors are in English, so some advice is only for Chinese readers.
"""

from __future__ import annotations

import re
from numbers import Number
from types import FunctionType, GeneratorType, MethodType
from typing import Any

from kerascope.backend import Tensor
from kerascope.learn.showing import shown
from kerascope.learn.verdicts import LANGUAGES, NOTHING, Text

# Patterns of errors, as `NameError: ...`, with the advice in English and in Chinese.
_ON_ERRORS = (
    (r"EOFError", "a check has no keyboard input, so leave out input()",
     "检查时没有键盘输入，请去掉 input()"),
    (r"RecursionError", "it calls itself again and again: in which case does it stop?",
     "它不断地调用自己：在什么情况下才停？"),
    (r"UnboundLocalError.* '(\w+)'", r"the line that assigns \1 was not run",
     r"给 \1 赋值的那一行没有执行"),
    (r"AttributeError: 'NoneType'", "the value before the dot is None", "点号前面的值是 None"),
    (r"TypeError.*NoneType",
     "a value there is None: must it be skipped, or does a function end without `return`?",
     "其中有个值是 None：应当跳过它，还是有个函数忘了 return？"),
    (r"KeyError", "the dict has no such key: is it stored too late, or must `in` be asked first?",
     "字典里没有这个键：是存得太晚，还是应当先用 in 查一查？"),
    (r" <?my_engine\..* of type Tensor",
     "K and kerascope take their own tensors; for yours, my_engine has its own functions",
     "K 和 kerascope 只接受它们自己的张量；你的张量请用 my_engine 里的函数"),
    (r"truth value of an array", "an array has many truth values; `if`, `in` and max() need one",
     "数组有许多真值，而 if、in、max() 只要一个"),
    (r"IndexError: (list|tuple) index", "the last index is the length minus 1",
     "最后一个下标是长度减 1"),
    (r"not callable", "only a function or a class can be called with ()",
     "只有函数和类才能用 () 调用"),
    (r"NameError", "", "这个名字没有定义"),
    (r"SyntaxError: expected ':'", "", "这一行末尾少了冒号 :"),
    (r"IndentationError: expected", "", "这里应当缩进"),
    (r"IndentationError: un", "", "缩进与上面的行没有对齐"),
    (r"TabError", "", "缩进里混用了制表符和空格"),
    (r"SyntaxError: invalid character", "type it with an English keyboard",
     "这是中文标点，请换成英文标点"),
    (r"SyntaxError: .* was never closed", "", "这个括号没有闭合"),
    (r"SyntaxError: unterminated string", "", "引号没有闭合"),
    (r"SyntaxError: .* '==' instead of '='", "", "比较用 ==，赋值才用 ="),
)  # fmt: skip
_PARAMETERS = Text("; are its parameters those of the task?", "；它的参数与题目一致吗？")
_SELF = Text("; is `self` its first parameter?", "；它的第一个参数是 self 吗？")


def advice_on_call(error: BaseException) -> Text:
    """Return advice on an error that was raised by calling a student's function."""
    words = str(error)
    if not isinstance(error, TypeError) or " argument" not in words:
        return NOTHING
    return _SELF if re.search(r"\w\.\w+\(\)", words) else _PARAMETERS


def advice_on_error(words: str, close_name: str = "") -> Text:
    """Return advice on an error that is given as `NameError: ...`; empty if there is none.

    `close_name` is a name of the student's file that is similar to an unknown name.

    Examples
    --------
    >>> advice_on_error("IndexError: list index out of range").en
    '; the last index is the length minus 1'
    """
    if close_name:
        return Text(f"; did you mean {close_name}?", f"；是不是想写 {close_name}？")
    for pattern, *both in _ON_ERRORS:
        if found := re.search(pattern, words):
            en, zh = map(found.expand, both)
            return Text(f"; {en}" if en else "", f"；{zh}")
    return NOTHING


# --- values of another kind than expected ---------------------------------------------------------


# The types of a kind, and how a message shows a value of it when another kind was expected.
_KINDS: tuple[tuple[Any, Text], ...] = (
    (str, Text("the text {}", "文本 {}")),
    (bool, Text("the truth value {}", "真值 {}")),
    (Number, Text("the number {}", "数 {}")),
    ((list, tuple), Text("the {type} {}", "{kind} {}")),
    ((dict, set), Text("the {type} {}", "{kind} {}")),
    (
        GeneratorType,
        Text("a generator (list(...) makes a list of it)", "生成器（list(...) 可把它变成列表）"),
    ),
    (
        (zip, map, filter, range),
        Text("a {type} (list(...) makes a list of it)", "{type}（list(...) 可把它变成列表）"),
    ),
    (Tensor, Text("{} (K.eval computes its value)", "{}（K.eval 可算出它的值）")),
    (
        (FunctionType, MethodType),
        Text("the function {name} (not called: add `()`)", "函数 {name}（没有调用：请加上 `()`）"),
    ),
)

_IN_CHINESE = {"list": "列表", "tuple": "元组", "dict": "字典", "set": "集合"}


def yours(found: Any, expected: Any) -> Text:
    """Return how a message shows a value; if its kind is not the expected one, with its kind.

    Examples
    --------
    >>> yours(1345, 1344).en, yours("1344", 1344).en
    ('1,345', "the text '1344'")
    """
    kinds = [next((k for k in _KINDS if isinstance(one, k[0])), None) for one in (found, expected)]
    is_other = None not in kinds and kinds[0] is not kinds[1]
    words = kinds[0][1] if kinds[0] and is_other else Text("{}", "{}")
    kind, name = type(found).__name__, getattr(found, "__name__", "")
    names = {"type": kind, "kind": _IN_CHINESE.get(kind, kind), "name": name}
    return Text(*(words.within(one).format(shown(found, one), **names) for one in LANGUAGES))
