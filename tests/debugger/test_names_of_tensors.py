"""Tensors, layers and weights are read by the names by which `set` writes them."""

import numpy as np
import pytest
from piped import answers, fit_toy, piped, session_of

from kerascope.trace.expressions import parse_expression, values_named

AT_THE_LOSS = ["unt forward", "r"]


def said(text, command, time=0):
    return answers(text, command)[time]


@pytest.mark.parametrize(
    ("command", "means"),
    [
        ("p d1/kernel", 'p weights["d1/kernel"]'),
        ("p d1/kernel.sum() / 2", 'p weights["d1/kernel"].sum() / 2'),
        ("p d1/kernel/2", 'p weights["d1/kernel"]/2'),
        ("p [norm(d1/kernel) for _ in range(2)]", 'p [norm(weights["d1/kernel"])] * 2'),
        ("p d2", 'p tensor_map["d2"][0]'),
        ("p x", 'p tensor_map["x"][0]'),
        ("whatis d1/kernel", 'whatis weights["d1/kernel"]'),
        ("pp d2/relu", 'pp tensor_map["d2"][0]'),
    ],
)
def test_a_name_that_set_knows_can_be_read(command, means):
    text = piped(fit_toy, *AT_THE_LOSS, command, means)
    assert said(text, command) == said(text, means)
    assert not said(text, command)[0].startswith("***")


def test_a_name_that_set_knows_can_be_displayed_assigned_and_watched():
    text = piped(
        fit_toy, *AT_THE_LOSS, "display norm(last/kernel)", "!n = norm(last/kernel)", "p n",
        "watch last/kernel", "c",
    )  # fmt: skip
    assert said(text, "display norm(last/kernel)")[0].startswith("display norm(last/kernel): 2.8")
    assert said(text, "p n")[0].startswith("2.8")
    assert said(text, "watch last/kernel")[0].startswith("Watch 1: last/kernel = f32[8,1]")
    stop = said(text, "c")
    assert "> update.apply last/kernel  " in stop[2]
    assert "watch 1: last/kernel" in stop
    assert stop[-1].startswith("display norm(last/kernel): ")


def test_where_both_names_have_a_value_a_division_is_one():
    text = piped(fit_toy, "unt update", "!d1 = 6.0", "!kernel = 3.0", "p d1/kernel", "p lr/lr")
    assert said(text, "p d1/kernel") == ["2.0"]
    assert said(text, "p lr/lr") == ["f32[] 1"]


def test_a_number_behind_a_name_makes_it_that_of_its_own_tensor():
    session, text = session_of(fit_toy, "unt update", "p len('a/b') + len('x~2')", "p no~2")
    assert said(text, "p len('a/b') + len('x~2')") == ["6"]
    assert said(text, "p no~2") == ["*** NameError: 'no~2' has no value. See `info tensors`."]
    twice = [e.name for e in session.tape if e.kind == "op" and "~" in e.name and e.ph == "E"]
    text = piped(fit_toy, "unt update", f"p {twice[0]}")
    assert not said(text, f"p {twice[0]}")[0].startswith("***")


def test_what_has_not_come_yet_or_is_no_tensor_stays_unknown():
    text = piped(fit_toy, "unt forward", "p d2", "p d2/kernell", "set d2 = nothing/here")
    assert said(text, "p d2")[0].startswith("*** NameError: name 'd2' is not defined. ")
    assert said(text, "p d2/kernell")[0].startswith("*** NameError: name 'd2'")
    assert said(text, "set d2 = nothing/here")[0].startswith("*** NameError: name 'nothing'")


def test_no_more_is_looked_for_than_python_lacks():
    asked = []
    expression = parse_expression("a/b + d/kernel + len(d) + c", "p")
    values_named(expression.text, expression.names, {"a": 1, "b": 2, "c": 3}, asked.append)
    assert sorted(set(asked)) == ["d", "d/kernel", "kernel"]


def test_the_right_side_of_set_reads_what_is_set_though_the_script_has_a_symbol_of_that_name():
    text = piped(
        fit_toy, "tbreak d1:ret", "c", "!d1 = model.layers[1].output", "set d1 = np.clip(d1, 0, 1)",
        "p out.max() <= 1",
    )  # fmt: skip
    first = said(text, "set d1 = np.clip(d1, 0, 1)")[0]
    assert first.startswith("*** ") is False or "symbol" in first


# --- conditions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["loss", "total_loss"])
def test_a_condition_alone_stops_where_its_value_comes(name):
    session, text = session_of(fit_toy, f"b {name} > 0", "c", "c", "c", f"b {name} > 1e9", "rc")
    stops = [said(text, "c", time) for time in range(2)]
    assert ["> loss > " in stop[2] for stop in stops] == [True, True]
    assert all(f"breakpoint 1 hit: {name} > 0" in stop for stop in stops)
    assert session.stepper.breakpoints.get(2).hits == 0
    assert "--- the program has ended" in said(text, "c", 2)[0]


def test_a_condition_alone_may_ask_for_weights():
    text = piped(fit_toy, "b norm(last/kernel) > 0", "c", "c")
    assert "layer.build last" in said(text, "c")[2]
    assert "condition" not in said(text, "c", 1)[-1]


@pytest.mark.parametrize("name", ["loss", "total_loss"])
def test_tensor_loss_is_the_op_that_brings_the_loss_of_a_batch(name):
    text = piped(fit_toy, f"b tensor:{name}", "c", "p e.ph, out is total_loss", f"b tensor:{name}")
    assert f"breakpoint 1 hit: tensor:{name}" in said(text, "c")
    assert said(text, "p e.ph, out is total_loss") == ["('E', True)"]
    assert said(text, f"b tensor:{name}", 1) == [f"Breakpoint 2 at tensor:{name}"]


@pytest.mark.parametrize(
    "condition", ["out.max() > 1e9", "total_loss > 1e9", "loss > 1e9", "norm(d1/kernel) > 1e9"]
)
def test_a_symbol_or_none_in_a_condition_means_go_on(condition):
    where = "op:*" if condition.startswith("out") else "*"
    text = piped(fit_toy, f"b {where}, {condition}", "c")
    assert said(text, "c")[0].startswith("--- the program has ended")


def test_a_condition_that_is_wrong_stops_as_in_pdb_or_is_told_at_the_end():
    text = piped(
        fit_toy, "b batch 0, nothing > 3", "c", "clear 1", "b *, norm(d1/kernell) > 3", "c"
    )
    assert "*** condition: NameError: name 'nothing' is not defined" in said(text, "c")
    assert any("its condition never had a value: NameError" in x for x in said(text, "c", 1))


# --- watches --------------------------------------------------------------------------------------


def test_a_watch_stops_at_the_update_of_the_variable_that_it_reads():
    names = ["last/bias", "weights['last/bias'][0]", "norm(last/bias) + 0 * d1/kernel.sum()"]
    for name in names[:2]:
        text = piped(fit_toy, "unt update", f"watch {name}", "c", "rc")
        assert "update.apply last/bias  " in said(text, "c")[2], name
    both = piped(fit_toy, "unt update", "watch norm(last/bias) + norm(last/kernel)", "c", "c")
    stops = [said(both, "c", time)[2].split("update.apply ")[1].split()[0] for time in range(2)]
    assert sorted(stops) == ["last/bias", "last/kernel"]


def test_a_watch_stops_at_the_same_events_forward_and_backward():
    watch = "watch last/kernel[0, 0]"
    _, text = session_of(fit_toy, "unt compile", watch, "c", "when", "c", "when", "c")
    times = [said(text, "when", time)[0].split()[0] for time in range(2)]
    text = piped(fit_toy, "unt compile", watch, "c", "c", "c", "rc", "when", "rc", "when")
    assert [said(text, "when", time)[0].split()[0] for time in range(2)] == times[::-1]


def test_a_watched_comparison_stops_where_it_comes_to_hold_or_holds_no_longer():
    text = piped(fit_toy, "watch total_loss > 1e9", "watch total_loss > 0", "c", "c", "c")
    stops = [said(text, "c", time) for time in range(3)]
    assert all("watch 2: total_loss > 0" in stop and "> loss > " in stop[2] for stop in stops[:2])
    assert stops[2][0].startswith("--- the program has ended")
    assert "watch 1: total_loss > 1e9" not in text


# --- run: and build: ------------------------------------------------------------------------------


def test_run_and_build_choose_between_numbers_and_symbols():
    for words, where in (
        ("run:d2", "forward"), ("run d2:ret", "forward"), ("build:d2", "build"), ("d2", "build"),
        ("run:op:dot", "forward"), ("run:d2:bwd", "backward"),
    ):  # fmt: skip
        text = piped(fit_toy, f"b {words}", "c")
        assert f"{where} " in said(text, "c")[2] or f"> {where} >" in said(text, "c")[2], words
        assert f"breakpoint 1 hit: {words}" in said(text, "c")


def test_every_event_is_of_the_run_or_of_the_building():
    session, _ = session_of(fit_toy, "b run:*", "b build:*", "disable", "c")
    run, build = session.stepper.breakpoints
    tape = session.tape
    assert all(run.matches(e, tape) != build.matches(e, tape) for e in tape)
    ops = [e for e in tape if e.kind in ("op", "op.create")]
    assert all(run.matches(e, tape) == (e.kind == "op") for e in ops)


def test_the_first_stop_among_symbols_says_how_to_wait_for_numbers():
    text = piped(fit_toy, "b d1:ret", "c", "c")
    hint = "   symbols only; `b run:d1:ret` stops where numbers are computed"
    assert hint in said(text, "c")
    assert text.count("symbols only") == 1
    assert np.all([hint not in said(text, "c", 1)])
