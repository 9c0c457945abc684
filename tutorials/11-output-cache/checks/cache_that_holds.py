"""Checks when a cache calls `compute`, what it returns, and what it keeps in memory."""

import gc
import weakref

from kerascope.learn import Text, check


class Thing:
    """An object in place of a tensor. It is equal only to itself, and it can be freed."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


class Computed:
    """A compute function that counts its calls."""

    def __init__(self):
        self.asked = []

    def __call__(self, inputs, masks):
        self.asked.append((list(inputs), list(masks)))
        self.result = [Thing(f"result {len(self.asked)}")]
        return self.result


def new_cache(student):
    compute = Computed()
    return student.method(student.function("OutputCache")(compute), "cached"), compute


@check
def a_hit(student):
    cached, compute = new_cache(student)
    a, mask = Thing("a"), Thing("mask")
    first = cached([a], [mask])
    student.same(Text("the arguments of compute", "compute 得到的参数"),
                 compute.asked, [([a], [mask])])  # fmt: skip
    student.require(
        first is compute.result,
        en="expected the first call to return the result of compute, yours returns another object",
        zh="第一次调用应返回 compute 的结果，你返回的是别的",
    )
    again = cached([a], [mask])
    student.same(
        Text("the calls of compute, for one input twice,", "同一输入来两次，compute 的调用次数"),
        len(compute.asked),
        1,
    )
    student.require(
        again is first,
        en="expected the same result object the second time, yours is another one",
        zh="第二次应返回同一个结果，你返回的是另一个",
    )


@check
def misses(student):
    a, b, mask = Thing("a"), Thing("b"), Thing("mask")
    none = [None, None]
    calls = (
        (Text("another input", "另一个输入"), ([a], [None]), ([b], [None])),
        (Text("another order", "另一种次序"), ([a, b], [None, None]), ([b, a], [None, None])),
        (Text("another mask", "另一个掩码"), ([a], [None]), ([a], [mask])),
        (Text("a mask at another place", "掩码换了位置"), ([a, b], [None, mask]), ([a, b], [mask, None])),
        (Text("another second input", "另一个第二输入"), ([a, a], none), ([a, b], none)),
        (Text("one input more", "多一个输入"), ([a], [None]), ([a, b], none)),
        (Text("another second mask", "另一个第二掩码"), ([a, b], none), ([a, b], [None, mask])),
    )  # fmt: skip
    for what, one, other in calls:
        cached, compute = new_cache(student)
        cached(*one)
        cached(*other)
        student.require(
            len(compute.asked) == 2,
            en=f"expected {what.en} to be a miss, your cache returned a stored result",
            zh=f"{what.zh}应当落空，你的缓冲却交还了旧的结果",
        )


@check
def more_than_one_entry(student):
    cached, compute = new_cache(student)
    a, b = Thing("a"), Thing("b")
    results = [cached([one], [None]) for one in (a, b)]
    again = [cached([one], [None]) for one in (a, b)]
    what = Text(
        "the calls of compute, for a, b, a and b,", "依次为 a、b、a、b 时，compute 的调用次数"
    )
    student.same(what, len(compute.asked), 2)
    student.require(
        all(one is other for one, other in zip(results, again, strict=True)),
        en="expected each input to keep its own result, yours returns another one",
        zh="每个输入应保有各自的结果，你交还的是别的",
    )


@check
def an_empty_result(student):
    asked = []

    def compute(inputs, masks):
        asked.append(inputs)
        return []

    cached, a = student.method(student.function("OutputCache")(compute), "cached"), Thing("a")
    for _ in range(2):
        cached([a], [None])
    what = Text(
        "the calls of compute, which returns [], for one input twice,",
        "同一输入来两次，compute 返回 [] 时的调用次数",
    )
    student.same(what, len(asked), 1)


@check
def what_it_was_called_on_lives(student):
    for calls in (1, 2):
        lives_through(student, calls)


def lives_through(student, calls):
    """Require that the arguments of the first call stay in memory after this number of calls."""
    cached, compute = new_cache(student)
    things = [Thing("input"), Thing("mask")]
    watched = [weakref.ref(thing) for thing in things]
    cached(things[:1], things[1:])
    for _ in range(calls - 1):
        cached([Thing("another input")], [None])
    compute.asked.clear()
    later = Text(" after another call", "（又调用一次之后）") if calls > 1 else Text("", "")
    del things
    gc.collect()
    for what, reference in zip(
        (Text("the input", "输入"), Text("the mask", "掩码")), watched, strict=True
    ):
        student.require(
            reference() is not None,
            en=f"expected {what.en} to live as long as the cache, yours lets it be freed{later.en}: "
            "its id will be given to another object",
            zh=f"{what.zh}应与缓冲同寿，你让它消亡了{later.zh}：它的 id 会发给别的对象",
        )
