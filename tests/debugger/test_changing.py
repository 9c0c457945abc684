import io
from contextlib import suppress

import numpy as np
import pytest
from piped import answers, fit_toy, piped, session_of, toy_model

from kerascope import backend as K
from kerascope.debugger.changing import bytes_of
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.errors import ArgumentError
from kerascope.trace.snapshots import same

AT_D2 = ["unt forward", "tbreak d2:ret", "c"]


def said(text, command, time=0):
    return answers(text, command)[time]


def test_a_change_where_the_program_stands_goes_on_live():
    results = []

    def program():
        results.append(fit_toy())

    set_out = "set out = np.zeros_like(out)"
    session, text = session_of(program, *AT_D2, set_out, "p norm(out)", "c", "diff 1 2", "timeline")
    assert said(text, set_out)[0].startswith("overridden d2/relu ◆  timeline 2 starts at t=")
    assert said(text, "p norm(out)") == ["0.0"]
    first, before, now = said(text, "diff 1 2")
    assert first.startswith("first difference d2 t=")
    assert "ops differ; total_loss " in first
    assert before.startswith("   1: f32[4,8] |x|=")
    assert now == "   2: f32[4,8] |x|=0"
    assert session.timelines.get(2).tape is session.recorder.tape
    untouched = fit_toy()
    pairs = zip(results[0].get_weights(), untouched.get_weights(), strict=True)
    assert any(not same(one, other) for one, other in pairs)
    assert session.timelines.get(1).tape[-1].kind == "function"  # it was finished aside


def test_the_timeline_that_was_left_is_what_would_have_been():
    changed, _ = session_of(fit_toy, *AT_D2, "set d2 = 0", "c")
    plain, _ = session_of(fit_toy, "c")
    aside = changed.timelines.get(1).tape
    whole = plain.recorder.tape
    for one, other in zip(aside, whole[: len(aside)], strict=True):
        assert (one.kind, one.name, one.ph) == (other.kind, other.name, other.ph)
        results = [[d.value for d in e.deltas if d.name in ("result", "new")] for e in (one, other)]
        if one.grain == "op" and one.act == "function":
            assert same(*results)


def test_an_empty_override_reproduces_every_call_bit_for_bit_with_dropout():
    session, text = session_of(
        fit_toy, "b drop:ret", "c", "c", "c", "set again", "diff 1 2", "goto 0", "timeline 1",
        "clear 1", "unt t=100000", "rc", "goto 420", "set again", "diff 1 3",
    )  # fmt: skip
    assert said(text, "diff 1 2")[0] == "timelines 1 and 2 are the same"
    assert said(text, "diff 1 3")[0] == "timelines 1 and 3 are the same"
    draws = [e for e in session.timelines.get(2).tape if e.kind == "rng.draw"]
    assert draws
    assert len(session.timelines.get(2).tape) > 200


def test_a_change_in_the_past_leaves_the_program_alone():
    results = []

    def program():
        results.append(fit_toy())

    text = piped(
        program, "unt commit", "tbreak d2:ret", "rc", "set d2 = 0", "timeline", "c", "timeline 1",
        "unt t=100000", "diff 1 2",
    )  # fmt: skip
    assert "   the program waits: `timeline 1` goes back to it" in said(text, "set d2 = 0")
    assert said(text, "timeline")[-1] == "     set d2 = 0"
    assert said(text, "diff 1 2")[0].startswith("first difference d2 t=")
    for one, other in zip(results[0].get_weights(), fit_toy().get_weights(), strict=True):
        assert same(one, other)


def test_a_timeline_that_ends_before_a_breakpoint_leaves_what_never_came_for_the_program_s_end():
    text = piped(
        fit_toy, "b batch 99", "unt commit", "tbreak d2:ret", "rc", "set d2 = 0", "c", "timeline 1",
        "c",
    )  # fmt: skip
    aside, end = answers(text, "c")
    assert aside[0].startswith("--- timeline 2 ends here: ")
    assert len(aside) == 1
    assert end[-1] == "breakpoint 1 at batch 99: there was no such batch."


def test_weights_can_be_changed_at_the_begin_of_a_call_and_between_calls():
    text = piped(
        fit_toy, "tbreak event:function", "c", "tbreak batch 0", "c", "set d1/kernel = 0",
        "unt forward", "tbreak d1:ret", "c", "p norm(out)", "c", "tbreak batch 0", "rc",
        "tbreak phase:forward", "c", "set d1/kernel = 2", "tbreak d1:ret", "c", "p bool(out.any())",
    )  # fmt: skip
    assert said(text, "set d1/kernel = 0") == ["d1/kernel is f32[3,8] |x|=0 from the next call on"]
    assert said(text, "p norm(out)") == ["0.0"]
    assert said(text, "set d1/kernel = 2")[0].startswith("overridden d1/kernel ◆  timeline 2")
    assert said(text, "p bool(out.any())") == ["True"]


def test_unset_goes_to_the_timeline_without_the_change():
    text = piped(
        fit_toy, "unt commit", "tbreak d2:ret", "rc", "set d2 = 0", "unset", "p norm(out) > 0"
    )
    assert "True" in said(text, "p norm(out) > 0")[0]
    assert said(piped(fit_toy, "unset"), "unset")[0].startswith("*** unset: nothing was changed")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("set dropp = 0", "Did you mean 'drop'?"),
        ("set out", "expected NAME = EXPR"),
        ("set out = None", "of shape (4, 8), got None"),
        ("set out = [None] * 8", "of shape (4, 8), got [None"),
        ("set out = np.zeros(5)", "of shape (4, 8), got shape (5,)"),
        ("set last = 0", "not computed yet"),
        ("set grain opp", "Did you mean 'op'?"),
        ("set history much", "expected a size"),
        ("diff 1", "expected two timelines"),
        ("diff 1 7", "no timeline 7"),
        ("timeline x", "expected a number"),
    ],
)
def test_mistakes_are_told_and_make_no_timeline(command, words):
    text = piped(fit_toy, *AT_D2, command, "timeline")
    assert said(text, command)[0].startswith("*** ")
    assert words in said(text, command)[0]
    assert len(said(text, "timeline")) == 1


def test_who_has_read_the_old_array_already_is_told():
    text = piped(fit_toy, "unt forward", "tbreak last:ret", "c", "set d1 = 0", "set out = 0")
    _, readers = said(text, "set d1 = 0")
    assert readers == "   already read by d2/dot, sum/add; only later ops read the new one"
    assert len(said(text, "set out = 0")) == 1


def test_outside_of_functions_there_is_nothing_to_change():
    text = piped(fit_toy, "s", "set out = 1")
    assert "no function is being called" in said(text, "set out = 1")[0]


def test_settings():
    text = piped(
        fit_toy, "set grain op", "set history 1KB", "unt commit", "set again", "set history"
    )
    assert said(text, "set history")[0].endswith(
        " are held (events always get at least 4,194,304 bytes)"
    )
    assert said(text, "set grain op") == ["grain op"]
    assert said(text, "set history 1KB")[0].startswith(
        "history 1,024 bytes, of events and arrays; "
    )
    assert "only statistics of its arrays are left" in said(text, "set again")[0]
    assert bytes_of("2 kb") == 2048
    with pytest.raises(ArgumentError, match="expected a size"):
        bytes_of("-1")


def test_a_changed_gradient_reaches_the_weight():
    command = 'set grads["last/kernel"] = 0'
    change = "p float(norm(e.deltas[-1].value - old))"
    at_gradient = ["unt backward", "tbreak tensor:gradients/last/dot:ret", "c"]
    text = piped(fit_toy, *at_gradient, command, "unt commit", "b weight:last/kernel", "c", change)
    assert said(text, command)[0].startswith("overridden gradients/last/dot ◆")
    assert said(text, change) == ["0.0"]


def test_an_optimizer_s_own_names_can_be_changed():
    command, change = "set g = np.zeros_like(g)", "p float(norm(e.deltas[-1].value - old))"
    at_update = ["unt backward", "tbreak event:update.param, e.name == 'last/kernel'", "c"]
    text = piped(fit_toy, *at_update, command, "b weight:last/kernel, e.ph == 'I'", "c", change)
    assert said(text, command)[0].startswith("overridden gradients/last/")
    assert said(text, change) == ["0.0"]


# --- before the first op, and variables -----------------------------------------------------------


@pytest.mark.parametrize("where", ["unt forward", "tbreak event:function train_function"])
@pytest.mark.parametrize("name", ["x", "d1/kernel", "last/bias"])
def test_what_a_call_begins_with_is_changed_where_the_program_stands(where, name):
    results, fed = [], np.random.RandomState(0).normal(size=(8, 3))

    def program():
        model = toy_model()
        model.compile("sgd", "mse")
        model.fit(fed, np.ones((8, 1)), batch_size=8, epochs=1, shuffle=False, verbose=0)
        results.append(model)

    before = fed.copy()
    text = piped(
        program, *(["unt compile", where, "c"] if "break" in where else [where]),
        f"set {name} = {name} * 0 + 3", f"p bool(({name} == 3).all())", "timeline", "c",
        "diff 1 2",
    )  # fmt: skip
    change = f"set {name} = {name} * 0 + 3"
    assert said(text, change)[0].startswith(f"overridden {name} ◆  timeline 2 starts at t=")
    assert not any("the program waits" in line for line in said(text, change))
    assert said(text, f"p bool(({name} == 3).all())") == ["True"]
    assert said(text, "timeline")[1].endswith("the program's")
    assert "total_loss" in said(text, "diff 1 2")[0]
    assert same(fed, before)
    plain = toy_model()
    for layer in plain.layers:
        kernels = [v for v in layer.weights if v.name == name]
        for v in kernels:
            v.set_value(np.full(v.shape, 3.0, "float32"))
    plain.compile("sgd", "mse")
    x = np.full_like(fed, 3) if name == "x" else fed
    plain.fit(x, np.ones((8, 1)), batch_size=8, epochs=1, shuffle=False, verbose=0)
    for one, other in zip(results[0].get_weights(), plain.get_weights(), strict=True):
        assert same(one, other)


def test_two_changes_at_one_event_hold_both_and_the_first_timelines_are_what_would_have_been():
    session, text = session_of(
        fit_toy, "unt forward", "set x = 0", "set last/kernel = 0", "r", "p norm(out)",
        "unt commit", "diff 1 2", "diff 2 3",
    )  # fmt: skip
    assert said(text, "p norm(out)") == ["0.0"]
    names = [[o.name for o in timeline.overrides] for timeline in session.timelines]
    assert names == [[], ["x"], ["x", "last/kernel"]]
    assert said(text, "diff 2 3")[1:] == [
        "   2: weights['last/kernel'] None",
        "   3: weights['last/kernel'] f32[8,1] |x|=0",
    ]


def test_a_rate_that_is_set_in_a_call_is_told_everywhere_and_stays():
    rates = []

    def program():
        rates.append(float(K.get_value(fit_toy().optimizer.lr)))

    text = piped(
        program, "unt update", "set lr = 0.5", "p lr", "p lr/2", "pv model.optimizer.lr",
        "info weights", "unt update", "p lr", "c",
    )  # fmt: skip
    assert said(text, "set lr = 0.5")[1] == "   lr stays f32[] 0.5 in later calls"
    assert said(text, "p lr") == said(text, "pv model.optimizer.lr") == ["f32[] 0.5"]
    assert said(text, "p lr/2") == ["f32[] 0.25"]
    assert [x.split()[:3] for x in said(text, "info weights") if x.startswith("lr ")] == [
        ["lr", "f32[]", "0.5"]
    ]
    assert said(text, "p lr", 1) == ["f32[] 0.5"]
    assert rates == [0.5]


def test_a_rate_that_is_set_in_the_past_is_told_there_and_leaves_the_program_alone():
    rates = []

    def program():
        rates.append(float(K.get_value(fit_toy().optimizer.lr)))

    text = piped(
        program, "unt commit", "ru update", "set lr = 0.5", "p lr", "timeline 1", "p lr", "c"
    )
    assert said(text, "p lr") == ["f32[] 0.5"]
    assert said(text, "p lr", 1) == ["f32[] 0.001"]
    assert np.allclose(rates, [0.001])


def test_a_weight_whose_new_value_waits_for_the_commit_is_not_set_in_vain():
    text = piped(
        fit_toy, "unt commit", "set last/kernel = 1", "r", "set last/kernel = 1", "p last/kernel"
    )
    assert said(text, "set last/kernel = 1")[0].startswith("*** set: last/kernel has no array at")
    assert "writes its new value at the commit" in said(text, "set last/kernel = 1")[0]
    assert said(text, "set last/kernel = 1", 1)[0].startswith("overridden last/kernel")
    assert said(text, "p last/kernel")[0].endswith("min=1 mean=1 max=1")


def test_a_function_of_one_s_own_is_changed_before_its_first_op():
    told, given = [], [np.ones((3, 2), "float32")]

    def program():
        x = K.placeholder((None, 2), name="feed")
        w = K.variable(np.ones((2, 2)), name="own_w")
        f = K.function([x], [K.sum(K.dot(x, w))], updates=[(w, w * 0.5)])
        told.append((f(given)[0], K.get_value(w).sum(), given[0].sum()))

    text = piped(program, "unt forward", "set feed = feed * 2", "set own_w = 3", "p feed", "c")
    assert said(text, "p feed")[0].startswith("f32[3,2] |x|=4.899")
    assert told == [(72.0, 6.0, 6.0)]


# --- what is not computed yet ---------------------------------------------------------------------


def named(*commands):
    names, out = {}, io.StringIO()
    lines = "\n".join([*commands, "q", ""])
    debugger = ModelDebugger(stdin=io.StringIO(lines), stdout=out)
    session = debugger.session = Session(debugger.ask, names=names)

    def program():
        model = toy_model()
        names.update(x=model.input, h=model.get_layer("d1").output)
        model.compile("sgd", "mse")
        model.fit(np.ones((8, 3)), np.ones((8, 1)), batch_size=4, epochs=1, verbose=0)

    with suppress(Quitting):
        session.run(program)
    return out.getvalue()


def test_a_symbol_of_the_script_has_the_norm_of_its_numbers_or_none_at_all():
    go = ["b run:phase:forward", "c"]
    text = named(*go, "p norm(x)", "p norm(h)", "p has_nan(h)", "r", "p norm(h) > 0")
    assert float(said(text, "p norm(x)")[0]) == pytest.approx(12**0.5)
    told = "d1/relu is a symbol, and has no numbers here. Go to a time where it has"
    assert said(text, "p norm(h)")[0].startswith(f"*** norm: {told}")
    assert said(text, "p has_nan(h)")[0].startswith(f"*** has_nan: {told}")
    assert said(text, "p norm(h) > 0") == ["True"]


def test_an_input_that_was_set_has_its_new_numbers_everywhere():
    text = named("b run:phase:forward", "c", "set x = 0", "p norm(x)", "pv x", "s", "pv h")
    assert said(text, "p norm(x)") == ["0.0"]
    assert said(text, "pv x")[0] == "f32[4,3] |x|=0 min=0 mean=0 max=0"
    assert " |x|=0 " in said(text, "pv h")[0]


def test_what_comes_only_in_the_next_call_is_set_where_the_error_says():
    go = ["b batch 1", "c", "set d2 = 0", "set x = 0"]
    text = piped(fit_toy, *go)
    refused, fed = said(text, "set d2 = 0")[0], said(text, "set x = 0")[0]
    place = "tbreak run:d2:ret"
    assert f"Stop where it has one: {place}, then c." in refused
    assert "Stop where it has one: b phase:forward, then c." in fed
    text = piped(fit_toy, *go[:2], place, "c", "set d2 = 0", "p norm(out)")
    assert said(text, "p norm(out)") == ["0.0"]
    text = piped(fit_toy, *go[:2], "b phase:forward", "c", "set x = 0")
    assert said(text, "set x = 0")[0].startswith("overridden x ")


def test_a_change_before_the_first_op_holds_in_a_second_fork_of_the_same_call():
    session, text = session_of(
        fit_toy, "tbreak run:d1", "c", "set d1/kernel = 2", "tbreak event:function:ret", "c",
        "tbreak phase:forward", "rc", "set d1/dot = 0", "p float(abs(d1/kernel).max())",
    )  # fmt: skip
    assert said(text, "set d1/dot = 0")[1].startswith("overridden d1/dot")
    assert said(text, "p float(abs(d1/kernel).max())") == ["2.0"]
    live, made = session.timelines.get(2).tape, session.timelines.get(3).tape
    assert [event[3:6] for event in made] == [event[3:6] for event in live[: len(made)]]


def test_from_the_beginning_a_timeline_is_gone_to_whole():
    session, text = session_of(
        fit_toy, "tbreak run:d1", "c", "set d1/kernel = 2", "rc", "timeline 1", "timeline"
    )
    assert said(text, "timeline")[0].startswith("* 1 ")
    assert session.tape is session.timelines.current.tape
