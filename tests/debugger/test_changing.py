import pytest
from piped import answers, fit_toy, piped, session_of

from kerascope.debugger.moving import bytes_of
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
    assert end[-1] == "breakpoint 1 at batch 99: no such batch came."


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
        ("set out", "Expected NAME = EXPR"),
        ("set out = None", "of shape (4, 8); got None"),
        ("set out = [None] * 8", "of shape (4, 8); got [None"),
        ("set out = np.zeros(5)", "of shape (4, 8); got shape (5,)"),
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
    assert readers == "   read before by d2/dot, sum/add; only what comes later reads the new one"
    assert len(said(text, "set out = 0")) == 1


def test_outside_of_functions_there_is_nothing_to_change():
    text = piped(fit_toy, "s", "set out = 1")
    assert "no function is being called" in said(text, "set out = 1")[0]


def test_settings():
    text = piped(
        fit_toy, "set grain op", "set history 1KB", "unt commit", "set again", "set history"
    )
    assert said(text, "set history")[0].endswith(
        " are held (events are kept up to 4,194,304 bytes, however small it is)"
    )
    assert said(text, "set grain op") == ["grain op"]
    assert said(text, "set history 1KB")[0].startswith(
        "history 1,024 bytes, of events and arrays; "
    )
    assert "only the figures of its arrays are left" in said(text, "set again")[0]
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
