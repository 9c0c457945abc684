import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from span_trees import event

from kerascope.errors import ArgumentError
from kerascope.trace.events import GRAIN_OF
from kerascope.trace.selectors import (
    ACTS,
    PHASES,
    KnownNames,
    network_depth_of,
    op_name,
    parse_selector,
)

OP = {"kind": "op", "name": "dense_2/out", "deltas": {"op": "dot"}}
DENSE = {"kind": "node", "name": "dense_2", "phase": "forward"}

MATCHING = [
    ("dense_2", DENSE),
    ("dense_?", DENSE),
    ("layer:dense_2", DENSE),
    ("dense_2:fwd", DENSE),
    ("dense_2", {"kind": "layer.call", "name": "dense_2", "grain": "node"}),
    ("shared", {**DENSE, "name": "shared@1"}),
    ("shared@1", {**DENSE, "name": "shared@1"}),
    ("dense_2:bwd", {**DENSE, "phase": "backward"}),
    ("dense_2:bwd", {"kind": "grad.node", "name": "dense_2", "grain": "node"}),
    ("depth 2", {"kind": "depth", "name": "depth 2", "grain": "detail"}),
    ("op:dot", OP),
    ("op:d*", OP),
    ("op:relu", {"kind": "op", "name": "dense_1/relu_3"}),
    ("op:dot", {**OP, "kind": "op.create", "grain": "op"}),
    ("tensor:dense_2/out*", OP),
    ("weight:*_W", {"kind": "update.apply", "name": "dense_1_W"}),
    ("weight:dense/kernel", {"kind": "weight.create", "name": "dense/kernel", "grain": "detail"}),
    ("phase:commit", {"kind": "commit"}),
    ("phase:fit", {"kind": "fit", "grain": "act"}),
    ("event:map.skip", {"kind": "map.skip", "grain": "detail"}),
    ("event:map.*", {"kind": "map.visit", "grain": "node"}),
    ("event:layer.build dense_2", {"kind": "layer.build", "name": "dense_2", "grain": "node"}),
    ("event:layer.* dense_?", {"kind": "layer.build", "name": "dense_2", "grain": "node"}),
    ("batch 17", {"kind": "batch", "name": "batch 17", "grain": "act"}),
    ("epoch 3", {"kind": "epoch", "name": "epoch 3", "grain": "act"}),
    ("train.py:12", {**DENSE, "where": ("kerascope/x.py", 5, "f", "/home/me/train.py", 12)}),
    ("me/train.py:12", {**DENSE, "where": ("kerascope/x.py", 5, "f", "/home/me/train.py", 12)}),
    ("kerascope/x.py:5", {**DENSE, "where": ("kerascope/x.py", 5, "f", "/home/me/train.py", 12)}),
    ("tensor:x[0]", {"kind": "op", "name": "x[0]"}),
    ("*", OP),
    ("  phase : commit ", {"kind": "commit"}),
]
OTHER = [
    ("dense_2", {**DENSE, "name": "dense_21"}),
    ("dense_2", {**DENSE, "phase": "backward"}),
    ("dense_2", {"kind": "loss.term", "name": "dense_2", "grain": "node"}),
    ("dense_2", {"kind": "layer.build", "name": "dense_2", "grain": "node"}),
    ("event:layer.build dense_1", {"kind": "layer.build", "name": "dense_2", "grain": "node"}),
    ("dense_2:bwd", DENSE),
    ("shared@0", {**DENSE, "name": "shared@1"}),
    ("depth 2", {"kind": "depth", "name": "depth 12", "grain": "detail"}),
    ("op:dot", {**OP, "deltas": {"op": "dot_2"}}),
    ("op:dot", {**DENSE, "name": "dot"}),
    ("tensor:dense_2", OP),
    ("op:dot", {**OP, "kind": "grad.op", "grain": "op"}),
    ("weight:*_W", {"kind": "node", "name": "dense_1_W"}),
    ("phase:commit", {"kind": "node", "name": "commit"}),
    ("train.py:12", {**OP, "where": ("", 0, "", "/home/me/train.py", 12)}),
    ("batch 1", {"kind": "batch", "name": "batch 17", "grain": "act"}),
    ("train.py:12", {**DENSE, "where": ("", 0, "", "/home/me/my_train.py", 12)}),
    ("train.py:12", {**DENSE, "where": ("", 0, "", "/home/me/train.py", 13)}),
]


@pytest.mark.parametrize(("text", "facts"), MATCHING)
def test_a_selector_means_the_begin_and_with_ret_the_end(text, facts):
    begin, end, instant = (event(ph=ph, **facts) for ph in "BEI")
    selector, at_end = parse_selector(text), parse_selector(f"{text}:ret")
    assert selector.matches(begin)
    assert selector.matches(end) == (text == "*")
    assert selector.matches(instant)
    assert (at_end.matches(begin), at_end.matches(end), at_end.matches(instant)) == (0, 1, 1)


@pytest.mark.parametrize(("text", "facts"), OTHER)
def test_a_selector_means_nothing_else(text, facts):
    assert not any(
        parse_selector(t).matches(event(ph=ph, **facts))
        for ph in "BEI"
        for t in (text, text + ":ret")
    )


def test_suffixes_stand_in_any_order():
    one, other = parse_selector("dense_2:bwd:ret"), parse_selector("dense_2:ret:bwd")
    assert one.backward
    assert one.at_end
    assert (other.what, other.backward, other.at_end) == (one.what, one.backward, one.at_end)


KNOWN = KnownNames(
    layers=["dense_1", "dense_2", "shared@0", "shared@1"], ops=["dot", "relu"], weights=["a/kernel"]
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a place to stop at is missing"),
        ("12", "train.py:12"),
        ("depth", "depth 2"),
        ("depth two", "expected a number from 0"),
        ("batch -1", "expected a number from 0"),
        ("op:", "a name is missing"),
        ("tensr:x", "Did you mean 'tensor'"),
        ("dense_2:bwdd", "Did you mean 'bwd'"),
        ("dense_2:rte", "Did you mean 'ret'"),
        ("dense 2", "cannot read 'dense 2'"),
        ("op:dot:bwd", "only layers have"),
        ("phase:comit", "Did you mean 'commit'"),
        ("event:map.skp", "Did you mean 'map.skip'"),
        ("dens_2", "unknown layer 'dens_2'. Did you mean 'dense_2'"),
        ("op:rellu", "Did you mean 'relu'"),
        ("weight:b/kernel", "Did you mean 'a/kernel'"),
        ("f(x)", "cannot read"),
    ],
)
def test_nonsense_is_refused_with_what_was_expected(text, said):
    with pytest.raises(ArgumentError) as raised:
        parse_selector(text, KNOWN)
    assert said in str(raised.value)
    assert str(raised.value).startswith("break: ")


def test_names_that_are_not_known_yet_and_globs_are_accepted():
    assert parse_selector("dense_9").pattern == "dense_9"
    assert parse_selector("dens*", KNOWN).pattern == "dens*"
    assert parse_selector("shared", KNOWN).pattern == "shared"
    assert parse_selector("tensor:anything", KNOWN).pattern == "anything"


def test_every_kind_that_is_recorded_can_be_selected():
    for kind, grain in GRAIN_OF.items():
        assert parse_selector(f"event:{kind}").matches(event(kind=kind, grain=grain))
        if grain in ("act", "phase"):
            assert parse_selector(f"phase:{kind}").matches(event(kind=kind, grain=grain))
    assert {*ACTS, *PHASES} <= {*GRAIN_OF}


pieces = st.sampled_from(
    [*"*?[]!-:, @/.()\\'\"\n", "op", "tensor", "depth", "batch 3", "ret", "bwd", "dense_2", "a.py",
     "12", "9" * 30, "²", "é", "\ud800"]
)  # fmt: skip


@given(st.one_of(st.text(max_size=30), st.lists(pieces, max_size=8).map("".join)))
@example("[z-a]")
@example("tensor:[[]!")
@example("depth " + "9" * 5000)
def test_any_text_is_a_selector_or_an_argument_error(text):
    try:
        selector = parse_selector(text, KNOWN)
    except ArgumentError:
        return
    for facts in (DENSE, OP, {"kind": "depth", "name": "depth 2"}, {"kind": "update.apply"}):
        assert selector.matches(event(ph="B", **facts)) in (True, False)
    assert parse_selector(selector.text, KNOWN) == selector


def test_what_an_event_says_of_its_op_and_its_depth():
    assert op_name(event(name="dense_1/relu_12")) == "relu"
    assert op_name(event(**OP)) == "dot"
    assert network_depth_of(event(kind="depth", name="depth 12", grain="detail")) == 12
    assert network_depth_of(event(kind="node", deltas={"depth": 3})) == 3
    assert network_depth_of(event(kind="node", name="dense_3")) is None


def test_the_end_of_an_op_is_known_by_its_begin():
    inner = event(t=1, kind="rng.draw", grain="detail", depth=1)
    events = [event(ph="B", deltas={"op": "relu"}), inner, event(t=2, ph="E", name="a/out")]
    assert parse_selector("op:relu:ret").matches(events[2], events)
    assert not parse_selector("op:out:ret").matches(events[2], events)
    assert not parse_selector("op:relu").matches(events[2], events)
