"""A program that is let go runs on as if nobody had ever watched it."""

import numpy as np
from debugger_programs import fit_two_layers, fit_with_dropout
from debugger_transcripts import transcript

from kerascope.stage import is_watched


def test_after_detach_nothing_is_recorded_any_more():
    seen = []

    def program():
        fit_two_layers(epochs=50)
        seen.append(is_watched())

    text, session, _ = transcript(program, "unt forward", "rs 2", "detach", "p 1")
    assert seen == [False]
    assert "p 1" not in text
    assert session.is_over
    forward = session.tape.filter(kind="forward")
    assert len(forward) <= 2  # the one at which it was let go
    _, whole, _ = transcript(lambda: fit_two_layers(epochs=50), "c")
    assert len(session.tape) < len(whole.tape) / 20


def test_what_is_let_go_computes_the_same_bit_for_bit():
    losses, weights = fit_with_dropout()
    found = []
    transcript(lambda: found.append(fit_with_dropout()), "unt backward", "n", "detach")
    ((losses_alone, weights_alone),) = found
    assert losses == losses_alone
    assert all(map(np.array_equal, weights, weights_alone))


def test_what_fails_after_detach_fails_as_it_would_alone():
    def program():
        fit_two_layers()
        raise ValueError("later")

    _, session, _ = transcript(program, "unt forward", "detach")
    assert isinstance(session.error, ValueError)
    assert session.failure_to_show().text.endswith("ValueError: later\n")
