"""Tests lists in which two variables have several update pairs; no variable may change."""

from kerascope import backend as K
from kerascope.learn import Text, check


@check
def the_first_of_each(student):
    v, w, u = (K.variable(float(n), name=name) for n, name in enumerate("vwu", 1))
    pairs = [(w, w * 2), (v, v + 1), (w, w * 3), (u, u - 1), (v, v + 100)]
    found = student.function("unique")(list(pairs))
    student.require(
        isinstance(found, list),
        en=f"expected unique(pairs) to return a list, yours is {type(found).__name__}",
        zh=f"unique(pairs) 应返回列表，你的是 {type(found).__name__}",
    )
    found = student.pairs("unique(pairs)", found)
    what = Text("the variables of unique(pairs)", "unique(pairs) 中的变量")
    student.order(what, [pair[0].name for pair in found], ["w", "v", "u"])
    for (variable, new_value), expected in zip(found, (pairs[0], pairs[1], pairs[3]), strict=True):
        student.require(
            new_value is expected[1],
            en=f"expected the first pair of {variable.name} to stay, yours kept another",
            zh=f"{variable.name} 应保留第一个更新元组，你保留的是另一个",
        )
    values = [float(K.get_value(x)) for x in (v, w, u)]
    what = Text("v, w and u after the loop", "循环之后的 v、w、u")
    student.same(what, values, [1.0, 2.0, 3.0])


@check
def without_duplicates(student):
    v, w = (K.variable(float(n), name=name) for n, name in enumerate("vw", 1))
    for words, pairs in (
        ("[]", []),
        ("[(v, v + 1)]", [(v, v + 1)]),
        ("[(v, v + 1), (w, v * 1)]", [(v, v + 1), (w, v * 1)]),
    ):
        found = student.pairs(f"unique({words})", student.function("unique")(list(pairs)))
        student.same(f"unique({words})", found, pairs)


@check
def two_variables_of_one_name(student):
    v, twin = K.variable(1.0, name="v"), K.variable(2.0, name="v")
    pairs = [(v, v + 1), (twin, twin + 1), (v, v + 2)]
    what = Text("unique(pairs), of two variables named v,", "两个变量都名叫 v 时的 unique(pairs)")
    found = student.pairs("unique(pairs)", student.function("unique")(list(pairs)))
    student.same(what, found, pairs[:2])
