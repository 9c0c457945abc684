"""The verbs at the prompt: where each of them lands."""

import pytest
from debugger_programs import fit_two_layers
from debugger_transcripts import answer, transcript


def places(*commands):
    """Return (t, kind, ph, name) at each stop after a command that moves."""
    asked = []
    for command in commands:
        asked += [command, "p (t, e.kind, e.ph, e.name)"]
    text, session, _ = transcript(fit_two_layers, *asked)
    lines = [line for line in text.splitlines() if line.startswith("(") and line[1].isdigit()]
    return [eval(line) for line in lines], session


def test_step_goes_in_and_next_goes_over():
    (first, *rest), _ = places("unt batch", "s", "s", "n", "s")
    assert first[1:] == ("batch", "B", "batch 0")
    assert rest[0][1:3] == ("function", "B")
    assert rest[1][1:] == ("forward", "B", "forward")
    assert rest[2][1:3] == ("loss", "B")


def test_back_after_forward_is_where_we_were():
    found, _ = places("unt forward", "s", "rs", "n", "rn")
    assert found[0] == found[2] == found[4]


def test_a_detail_is_seen_with_stepi_only():
    found, _ = places("unt forward", "stepi", "rs", "s")
    assert found[1][1] == "depth"
    assert found[3][1] == "node"


def test_until_goes_to_the_next_network_depth_and_back():
    found, _ = places("unt forward", "unt", "unt", "ru")
    assert [place[1:] for place in found[1:]] == [
        ("depth", "B", "depth 1"),
        ("depth", "B", "depth 0"),
        ("op", "E", "a/relu"),
    ] or found[2][1:] == ("depth", "B", "depth 0")


def test_back_past_the_first_event_is_the_begin_where_the_next_step_is_the_first():
    for commands in (("s 3", "rc"), ("s", "rs"), ("s", "rs", "rs")):
        text, _, _ = transcript(fit_two_layers, *commands, "when", "p e", "s", "p e.t")
        assert answer(text, "when") == ["before the first event"]
        assert answer(text, "p e") == ["None"]
        assert answer(text, "p e.t") == ["0"]


def test_until_refuses_a_time_that_does_not_lie_ahead_and_ru_one_that_does():
    text, _, _ = transcript(
        fit_two_layers, "goto 40", "unt t=7", "unt t=40", "ru t=41", "p t", "ru t=7", "p e.t"
    )
    assert answer(text, "unt t=7") == ["*** until: t=7 is not after t=40. Jump there: `goto 7`."]
    assert answer(text, "unt t=40")[0].startswith("*** until: t=40 is not after t=40.")
    assert answer(text, "ru t=41")[0].startswith("*** ru: t=41 is not before t=40.")
    assert (answer(text, "p t"), answer(text, "p e.t")) == (["40"], ["7"])


def test_until_names_the_command_that_takes_what_it_does_not():
    text, _, _ = transcript(fit_two_layers, "until batch 3", "ru batch 3")
    assert answer(text, "until batch 3")[0].endswith("`tbreak batch 3`, then `c`.")
    assert answer(text, "ru batch 3")[0].endswith("`tbreak batch 3`, then `rc`.")


def test_return_goes_to_the_end_and_rr_to_the_begin():
    found, _ = places("unt forward", "r", "rr")
    assert found[1][1:] == ("forward", "E", "forward")
    assert found[2] == found[0]


def test_goto_is_the_time_itself_in_the_future_and_in_the_past():
    found, _ = places("goto 40", "goto 7", "goto t=40")
    assert [place[0] for place in found] == [40, 7, 40]


def test_a_count_repeats():
    once, _ = places("unt forward", "s", "s", "s")
    counted, _ = places("unt forward", "s 3", "rs 3")
    assert counted[1] == once[3]
    assert counted[2] == once[0]


def test_beyond_the_end_lies_the_end():
    text, session, _ = transcript(fit_two_layers, "goto 100000", "when", "s", "rs", "when")
    count = len(session.tape)
    assert answer(text, "goto 100000")[0].startswith(f"--- the program has ended: {count} events.")
    assert answer(text, "when")[0] == f"after the last event; there are {count}"
    assert answer(text, "rs")[-1].startswith("--Return-- fit")


def test_origin_names_the_event_that_made_a_value():
    text, session, _ = transcript(fit_two_layers, "unt backward", "origin b/add", "origin nothing")
    t = int(answer(text, "origin b/add")[0].split()[0].removeprefix("t="))
    event = session.tape[t]
    assert (event.kind, event.name, event.ph) == ("op", "b/add", "E")
    assert answer(text, "origin nothing") == [
        "*** origin: nothing has produced 'nothing' up to here."
    ]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("s x", "expected a number of times"),
        ("s 0", "1 or more"),
        ("goto", "expected a time"),
        ("goto soon", "expected a time"),
        ("unt forwad", "Did you mean 'forward'?"),
        ("unt 1 2", "expected nothing, a network depth"),
        ("origin", "expected a name"),
    ],
)
def test_what_makes_no_sense_is_told_and_moves_nothing(command, told):
    text, _, _ = transcript(fit_two_layers, "s", command, "p t")
    (line,) = answer(text, command)
    assert line.startswith("***")
    assert told in line
    assert answer(text, "p t") == ["0"]
