"""Checks the student's accumulator, and the student's list of the slots of RMSprop."""

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, check
from kerascope.optimizers import RMSprop

EXPECTED = [0, 0, 1, 1, 301]
WHAT = Text(
    "state, then the output of each call and the state after it",
    "state 的初值，以及每次调用的返回值和调用后的 state",
)


@check
def the_accumulator(student):
    made = student.function("accumulator")()
    student.require(
        isinstance(made, tuple) and len(made) == 2,
        en="expected accumulator() to return the pair (state, accumulate)",
        zh="accumulator() 应返回二元组 (state, accumulate)",
    )
    state, accumulate = made
    student.tensor("state", state)
    student.require(
        callable(accumulate),
        en=f"expected accumulator()[1] to be a function, yours is {type(accumulate).__name__}",
        zh=f"accumulator()[1] 应是一个函数，你的是 {type(accumulate).__name__}",
    )
    student.same(
        Text("what makes accumulate", "造出 accumulate 的"),
        "K.function" if isinstance(accumulate, type(K.function([], []))) else "your own code",
        "K.function",
    )
    found = [int(K.get_value(state))]
    for number in (1, 300):
        answer = accumulate([number])
        answer = answer[0] if isinstance(answer, list) else answer
        found += [int(answer), int(K.get_value(state))]
    student.order(WHAT, found, EXPECTED)
    other, count = student.function("accumulator")()
    count([5])
    what = Text("the first state, after a second accumulator was given 5,",
                "第二个累加器得到 5 之后，第一个 state")  # fmt: skip
    student.same(what, int(K.get_value(state)), 301)
    what = Text(
        "the state of a second accumulator that was given 5", "第二个累加器得到 5 之后的 state"
    )
    student.same(what, int(K.get_value(other)), 5)


@check
def the_slots(student):
    params = [K.variable(np.ones((20, 64)), name="dense_1_W"), K.variable(np.ones(64), name="b")]
    loss = sum(K.sum(K.square(p)) for p in params)
    optimizer = RMSprop()
    pairs = optimizer.get_updates(loss, params)
    expected = [v for v, _ in pairs if all(v is not p for p in params)]
    found = student.listed("slots_of(pairs, params)", student.function("slots_of")(pairs, params))
    names = [getattr(v, "name", str(v)) for v in found]
    student.order(
        Text("slots_of(pairs, params)", "slots_of(pairs, params)"), names, [v.name for v in expected]
    )  # fmt: skip
    what = Text("the value of the first slot", "第一个累加器的值")
    student.close(what, K.get_value(found[0]), np.zeros((20, 64)))
    a, b, p = (K.variable(0.0, name=name) for name in "abp")
    for words, of, wanted in (
        ("[(a, a), (p, p), (b, b)], [p]", [(a, a), (p, p), (b, b)], [a, b]),
        ("[(p, p)], [p]", [(p, p)], []),
    ):
        found = student.listed("slots_of(...)", student.function("slots_of")(of, [p]))
        student.same(f"slots_of({words})", found, wanted)


@check
def a_slot_that_is_named_like_a_parameter(student):
    p, slot = K.variable(1.0, name="w"), K.variable(0.0, name="w")
    found = student.function("slots_of")([(slot, slot + 1), (p, p - slot)], [p])
    what = Text(
        "slots_of(...), of a slot with a parameter's name,", "累加器与参数同名时的 slots_of(...)"
    )
    student.same(what, student.listed("slots_of(...)", found), [slot])
