import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_trees import event, in_order

from kerascope.errors import ArgumentError
from kerascope.trace.conditions import DEFAULTS, Catches, parse_conditions
from kerascope.trace.events import Delta
from kerascope.trace.snapshots import ErrorRef
from kerascope.trace.statistics import statistics_of

GOOD, BAD = np.ones((2, 3), "float32"), np.array([[1.0, np.nan], [np.nan, 0.0]], "float32")
INFINITE = np.array([1.0, np.inf])


def found(text, *events):
    """(t, condition, sentence) of all that is found in events, which get their times."""
    catches = Catches()
    catches.add(text)
    events = in_order(*events)
    return [
        (finding.t, finding.condition, finding.text)
        for happening in events
        for finding in catches.findings(happening, events)
    ]


def op(name, inputs, out, depth=1, op="dot"):
    begin = event(ph="B", depth=depth, name=name, deltas={"inputs": inputs, "op": op})
    return begin, event(ph="E", depth=depth, name=name, deltas={"result": out})


def times(findings):
    return [t for t, _, _ in findings]


# --- nan and inf ----------------------------------------------------------------------------------


def test_nan_stops_at_its_producer_and_nowhere_behind_it():
    life = (
        event(kind="node", ph="B"),
        *op("a", [GOOD], GOOD),
        *op("log", [GOOD], BAD),
        *op("mean", [BAD, GOOD], np.float32(np.nan)),
        event(kind="node", ph="E", deltas={"result": BAD}),
    )
    assert found("nan, inf", *life) == [(4, "nan", "2 of 4 NaN in log; none went in")]


def test_inputs_and_output_may_come_with_one_event():
    assert times(found("nan", event(deltas={"inputs": [GOOD], "out": [BAD]}))) == [0]
    assert times(found("nan", event(deltas={"inputs": [BAD], "out": [BAD]}))) == []


def test_a_nan_made_of_infinite_numbers_is_told_from_one_made_of_finite_ones():
    life = (*op("exp", [GOOD], INFINITE), *op("minus", [INFINITE], BAD))
    assert [name for _, name, _ in found("nan, inf", *life)] == ["inf", "nan"]
    assert (
        found("nan", *life)[0][2]
        == "2 of 4 NaN in minus; infinite numbers went in; catch inf finds them"
    )


def test_nan_in_the_data_is_found_where_it_is_fed():
    begin = event(kind="function", ph="B", grain="act", deltas={"inputs": [GOOD, BAD]})
    assert times(found("nan", begin, *op("a", [BAD], BAD))) == [0]


def test_nan_in_a_weight_is_found_where_it_is_set():
    weights = (Delta("weights", "w", BAD),)
    is_set = event(kind="weight.set", grain="detail", name="w", deltas=weights)
    assert times(found("nan", is_set, *op("a", [GOOD, BAD], BAD))) == [0]


def test_a_nan_that_comes_in_with_a_constant_is_news_for_nobody_told_of_it():
    given = {"inputs": [GOOD, BAD], "constants": {"void": BAD}}
    begin = event(ph="B", name="minus", deltas=given)
    end = event(ph="E", name="minus", deltas={"result": BAD})
    assert found("nan", begin, end, *op("mean", [BAD], BAD)) == [
        (1, "nan", "2 of 4 NaN in minus; NaN comes in with the constant void")
    ]


def test_a_nan_in_a_variable_is_found_once_where_the_first_call_reads_it():
    weights = (Delta("weights", "rate", BAD), Delta("weights", "w", GOOD))
    call = event(kind="function", ph="B", grain="act", name="train", deltas=weights)
    is_set = event(kind="weight.set", grain="detail", name="rate", depth=1, deltas=weights[:1])
    again = event(kind="function", ph="B", grain="act", name="train")
    life = (call, is_set, *op("a", [GOOD, BAD], BAD), again, *op("a", [GOOD, BAD], BAD))
    assert found("nan", *life) == [(0, "nan", "NaN comes in with the variable rate: 2 of 4")]


def test_what_is_fed_is_told_by_its_name_and_rows():
    def fed(*arrays):
        deltas = {"inputs": [*arrays], "feed_names": ("x", "y")}
        return found("nan", event(kind="function", ph="B", name="train", deltas=deltas))[0][2]

    ones, nan = np.ones(3), np.array([1.0, np.nan, np.nan])
    assert fed(nan, ones) == (
        "NaN comes in with x, an input of train: 2 of 3, rows 1, 2 of the batch"
    )
    assert fed(BAD[:1], nan[:2]) == (
        "NaN comes in with x, an input of train: 1 of 2, row 0 of the batch; "
        "and with y, an input of train: 1 of 2, row 1 of the batch"
    )


def test_a_node_whose_inputs_are_not_known_is_the_producer_if_none_came_before():
    call = event(kind="function", ph="B", grain="act")
    nodes = [event(kind="node", ph="E", depth=1, deltas={"result": x}) for x in (GOOD, BAD, BAD)]
    assert times(found("nan", call, *nodes, call, *nodes)) == [2, 6]


def test_statistics_in_the_place_of_arrays_do_as_well():
    good, bad = statistics_of(GOOD), statistics_of(BAD)
    assert times(found("nan", *op("a", [good], good), *op("b", [good], bad))) == [3]
    assert times(found("nan", *op("a", [bad], bad))) == []


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_in_a_chain_of_ops_only_those_that_turn_good_into_bad_are_found(is_bad):
    values = [GOOD, *(BAD if bad else GOOD for bad in is_bad)]
    chain = [e for i, out in enumerate(values[1:]) for e in op(str(i), [values[i]], out)]
    born = [i for i in range(len(is_bad)) if values[i + 1] is BAD and values[i] is GOOD]
    assert times(found("nan", *chain)) == [2 * i + 1 for i in born]


# --- the others -----------------------------------------------------------------------------------


def test_an_exception_is_found_where_it_was_raised():
    error = {"error": ErrorRef("ValueError", "no")}
    life = [event(ph="B"), event(ph="B", depth=1), event(ph="E", depth=1, name="bad", deltas=error)]
    life += [event(ph="E", name="around", deltas=error)]
    assert found("exception", *life) == [(2, "exception", "bad: ValueError: no")]
    assert found("exception", event(ph="E", deltas={"error": ErrorRef("abandoned", "")})) == []


def test_a_relu_that_gives_nothing_is_dead():
    nothing, something = np.zeros((4, 2)), np.array([[0.0, 1.0]])
    assert times(found("dead", *op("a/out", [GOOD], nothing, op="relu"))) == [1]
    assert times(found("dead", *op("a/relu_2", [GOOD], nothing, op=None))) == [1]
    assert found("dead", *op("a", [GOOD], something, op="relu")) == []
    assert found("dead", *op("a", [GOOD], nothing, op="dot")) == []
    assert found("dead", *op("a", [GOOD], np.zeros((0, 2)), op="relu")) == []


def gradients(*norms):
    arrived = [
        event(ph="E", depth=1, deltas=(Delta("grads", f"w{i}", np.array([x, 0.0])),))
        for i, x in enumerate(norms)
    ]
    return event(kind="backward", ph="B"), *arrived, event(kind="backward", ph="E")


def test_a_gradient_vanishes_beside_the_greatest_of_its_pass():
    life = (*gradients(100.0), *gradients(0.1, 1.0, 0.01, 0.0009))
    ((t, _, text),) = found("vanishing", *life)
    assert t == 7
    assert text == "|gradient| of w3 is 0.0009, 0.0009 of the greatest: 1 at w1"
    assert times(found("vanishing<0.5", *life)) == [6, 7]
    assert found("vanishing", *gradients(0.0))[0][2] == "the gradient of w0 is 0 everywhere"


def test_a_gradient_explodes_beside_the_first_of_its_pass_or_the_pass_before():
    assert found("exploding", *gradients(1.0, 10.0, 900.0)) == []
    ((t, _, text),) = found("exploding", *gradients(0.5, 10.0, 900.0))
    assert (t, text) == (3, "|gradient| of w2 is 900, 1800 times the first: 0.5 at w0")
    life = (*gradients(1.0, 2.0), *gradients(3000.0, 3000.0))
    assert times(found("exploding", *life)) == [5, 6]
    assert "the pass before: 2 at w1" in found("exploding", *life)[0][2]
    assert times(found("exploding>5", *gradients(1.0, 10.0))) == [2]


def test_symbols_have_no_norm():
    compiled = event(kind="grad.node", deltas={"grads": {"w": ErrorRef("x", "y"), "v": None}})
    assert found("vanishing, exploding, nan", compiled, compiled) == []


def update(old, new, name="w", **more):
    deltas = {"old": np.array(old, float), "new": np.array(new, float), **more}
    return event(kind="update.apply", name=name, deltas=deltas)


def test_a_weight_that_does_not_move_is_stuck():
    assert found("stuck", update([1, 1], [1, 1]))[0][2] == "w changed by 0 of itself"
    assert times(found("stuck", update([1.0], [1 + 1e-8]))) == [0]
    assert found("stuck", update([1.0], [1.001])) == []
    assert times(found("stuck<0.1", update([1.0], [1.001]))) == [0]


def test_a_loss_that_does_not_move_is_stuck():
    def losses(*numbers):
        return [event(name="loss", deltas={"total_loss": np.float32(x)}) for x in numbers]

    assert found("stuck", *losses(*[0.5] * 10)) == []
    assert found("stuck", *losses(*[0.5] * 11)) == [
        (10, "stuck", "the loss has been 0.5 for 11 batches")
    ]
    assert times(found("stuck>2", *losses(1, 1, 2, 2, 2))) == [4]


def test_a_ratio_of_update_to_weight_is_too_great():
    assert found("ratio>0.1", update([1.0, 0.0], [1.05, 0.0])) == []
    assert found("ratio>0.1", update([3.0, 4.0], [3.0, 3.0])) == [
        (0, "ratio", "the relative change of w, |update| / |weight|, is 0.2")
    ]
    assert found("ratio", update([0.0], [1.0])) == []  # a fresh bias


def test_slots_and_counters_are_no_weights():
    begin = event(kind="function", ph="B", grain="act", deltas={"params": ["w"]})
    life = (begin, update([1.0], [2.0], "iterations"), update([1.0], [2.0]))
    assert times(found("ratio", *life)) == [2]
    assert times(found("stuck", begin, update([1.0], [1.0], "m"), update([1.0], [1.0]))) == [2]


# --- the words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a condition is missing"),
        ("nan,", "a condition is missing"),
        ("nann", "Did you mean 'nan'"),
        ("nan>3", "got nan>3"),
        ("ratio<3", "expected ratio>0.1"),
        ("ratio>", "expected a number"),
        ("ratio>much", "'much'"),
        ("ratio>-1", "0 or greater"),
        ("ratio>nan", "0 or greater"),
        ("nan inf", "Did you mean"),
    ],
)
def test_conditions_that_make_no_sense_are_refused_and_change_nothing(text, said):
    catches = Catches()
    catches.add("dead")
    with pytest.raises(ArgumentError) as raised:
        catches.add(text)
    assert said in str(raised.value)
    assert [condition.name for condition in catches] == ["dead"]


def test_every_condition_can_be_written_and_read_again():
    for condition in DEFAULTS.values():
        assert parse_conditions(str(condition)) == [condition]


def test_conditions_are_removed_by_name_or_all():
    catches = Catches()
    catches.add("nan, inf, dead")
    assert [condition.name for condition in catches.remove("inf")] == ["inf"]
    with pytest.raises(ArgumentError, match="'inf' is not caught. .*Caught: nan, dead"):
        catches.remove("nan", "inf")
    assert len(catches.remove()) == 2
    assert len(catches) == 0


@given(st.one_of(st.text(max_size=20), st.lists(st.sampled_from(
    ["nan", "ratio", "stuck", "<", ">", "1e-3", ",", " ", "9" * 400, "inf"]), max_size=6
).map("".join)))  # fmt: skip
def test_any_text_is_conditions_or_an_argument_error(text):
    with contextlib.suppress(ArgumentError):
        assert parse_conditions(text)


def test_of_two_arrays_of_one_name_both_are_looked_at():
    fed = {"inputs": [BAD, GOOD], "feed_names": ["x", "x"]}
    begin = event(kind="function", ph="B", name="f", deltas=fed)
    assert [text for _, _, text in found("nan", begin)] == [
        "NaN comes in with x, an input of f: 2 of 4, rows 0, 1 of the batch"
    ]
