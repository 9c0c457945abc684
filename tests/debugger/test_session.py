"""A program under observation: where it stops, how it ends, and that it does not notice."""

import os
import signal

import numpy as np
import pytest
from debugger_programs import fit_two_layers, fit_with_dropout
from debugger_transcripts import answer, debug_script, transcript

from kerascope.debugger.entry import Debugger, pm, replay, set_trace
from kerascope.debugger.session import Quitting, Session
from kerascope.errors import ArgumentError
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.trace.stepper import Reason
from kerascope.trace.tape import Tape, trace


def test_the_first_stop_is_before_the_first_event():
    stops = []

    def prompt(stop):
        stops.append((stop.reason, stop.t, len(session.tape)))
        return lambda stepper: stepper.continue_() if len(stops) < 2 else None

    session = Session(prompt)
    session.run(fit_two_layers)
    assert stops[0] == (Reason.BEGIN, -1, 0)
    assert stops[1] == (Reason.END, len(session.tape) - 1, len(session.tape))


def test_what_is_debugged_computes_the_same_bit_for_bit():
    plain_losses, plain_weights = fit_with_dropout()
    found = []
    commands = ["unt forward", "pv model.output", "p 1 + 1", "n", "pv model.output", "rs", "s", "c"]
    text, session, _ = transcript(lambda: found.append(fit_with_dropout()), *commands)
    assert "***" not in text
    ((losses, weights),) = found
    assert losses == plain_losses
    for mine, theirs in zip(weights, plain_weights, strict=True):
        assert np.array_equal(mine, theirs)
    assert session.error is None


def test_the_prompt_leaves_nothing_on_the_tape():
    commands = ["unt forward", "p model.predict(np.ones((1, 2)))", "pv model.output", "c"]
    _, looked, _ = transcript(fit_two_layers, *commands)
    _, only_run, _ = transcript(fit_two_layers, "c")
    assert len(looked.tape) == len(only_run.tape)


def test_quit_goes_through_the_program_past_its_except():
    reached = []

    def program():
        try:
            fit_two_layers()
        except Exception:
            reached.append("except")
        reached.append("after")

    text, session, _ = transcript(program, "s", "q")
    assert reached == []
    assert {event.name for event in session.tape} == {"build"}
    assert text.endswith("(Kdb) q\n")


def test_the_end_of_the_commands_quits():
    text, session, _ = transcript(fit_two_layers, "s", "s")
    assert text.endswith("(Kdb) \n")
    assert not session.is_over


def test_detach_lets_the_program_run_alone():
    found = []
    text, _, _ = transcript(lambda: found.append(fit_two_layers()), "s", "detach", "p 1")
    assert found
    assert "p 1" not in text


def test_an_exception_ends_in_post_mortem_where_it_was_raised():
    class Broken(Dense):
        def call(self, inputs):
            raise ValueError("no such thing")

    def program():
        Sequential([Dense(2, input_shape=(2,), name="good"), Broken(1, name="broken")])

    text, session, _ = transcript(program, "c", "p e.name", "rs", "q")
    assert "ValueError: no such thing" in answer(text, "c")
    assert "--Return-- layer.call broken -> ValueError: no such thing" in text
    assert answer(text, "p e.name") == ["'broken'"]
    assert session.has_failed
    assert isinstance(session.error, ValueError)


def test_an_exception_in_a_callback_keeps_the_journal():
    from kerascope.callbacks import LambdaCallback

    def fail(batch, logs):
        raise RuntimeError("enough")

    def program():
        model = Sequential([Dense(1, input_shape=(1,), name="d")])
        model.compile("sgd", "mse")
        callbacks = [LambdaCallback(on_batch_end=fail)]
        model.fit(np.ones((2, 1)), np.ones((2, 1)), callbacks=callbacks, verbose=0)

    text, session, _ = transcript(program, "c", "rc", "q")
    assert "RuntimeError: enough" in text
    assert session.tape.filter(kind="update.apply", name="d/kernel")


def test_an_interrupt_stops_at_the_next_event():
    def program():
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            fit_two_layers()

    text, session, _ = transcript(program, "c", "p t", "c", "p t", "c")
    assert text.count("\ninterrupted\n") == 2
    assert answer(text, "p t") == ["0"]
    assert session.error is None


def test_a_second_interrupt_before_the_next_event_ends_the_program():
    def program():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    _, session, _ = transcript(program, "c", "q")
    assert isinstance(session.error, KeyboardInterrupt)


def test_the_handler_of_ctrl_c_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    transcript(fit_two_layers, "c", "q")
    assert signal.getsignal(signal.SIGINT) is before


# --- from inside a program ------------------------------------------------------------------------


@pytest.fixture
def typed(monkeypatch):
    import io

    def give(*commands):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in commands)))

    monkeypatch.setattr(Session, "current", None)
    monkeypatch.setattr("kerascope.trace.tape._LAST", [])
    return give


def test_pm_goes_to_where_a_recorded_program_failed(typed, capsys):
    class Broken(Dense):
        def call(self, inputs):
            raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"), trace() as tape:
        Sequential([Broken(1, input_shape=(2,), name="broken")])
    typed("q")
    pm(tape)
    out = capsys.readouterr().out
    assert "--Return-- layer.call broken -> ValueError: no such thing" in out


def test_pm_of_nothing_says_what_to_do(typed):
    with pytest.raises(ArgumentError, match="with kerascope.trace"):
        pm()
    with pytest.raises(ArgumentError, match="with kerascope.trace"):
        pm(Tape())


def test_a_tape_is_replayed_without_running_anything(typed, capsys):
    with trace() as tape:
        fit_two_layers()
    count = len(tape)
    typed("s", "goto 20", "rs", "c", "q")
    replay(tape)
    out = capsys.readouterr().out
    assert "***" not in out
    assert f"--- the tape ends here: {count} events." in out
    assert len(tape) == count


def test_the_callback_opens_the_debugger_and_closes_it(typed, capsys):
    model = Sequential([Dense(1, input_shape=(1,), name="d")])
    model.compile("sgd", "mse")
    typed("unt commit", "p model", "c", "q")
    with pytest.raises(Quitting):
        model.fit(np.ones((2, 1)), np.ones((2, 1)), callbacks=[Debugger()], verbose=0)
    out = capsys.readouterr().out
    assert "commit" in out
    assert "the program has ended" in out
    model.fit(np.ones((2, 1)), np.ones((2, 1)), verbose=0)
    assert not capsys.readouterr().out


def test_set_trace_stops_at_its_line(monkeypatch, capsys, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import kerascope as ks\n"
        "x = ks.Input((2,))\n"
        "ks.set_trace()\n"
        "y = ks.layers.Dense(1, name='d')(x)\n"
    )
    code, out = debug_script(monkeypatch, capsys, script, "c", "p x", "s", "p e.kind", "c")
    assert code == 0
    assert answer(out, "c")[1] == "-> ks.set_trace()"
    assert answer(out, "p x") == ["input_1"]
    assert answer(out, "p e.kind") == ["'build'"]


def test_set_trace_in_a_program_that_is_not_debugged_watches_until_quit(typed, capsys):
    def program(mine):
        set_trace()
        fit_two_layers(mine)

    typed("unt commit", "p model", "p mine", "q")
    with pytest.raises(Quitting):
        program(12)
    out = capsys.readouterr().out
    assert "-> set_trace()" in out
    assert answer(out, "unt commit")[0].startswith("> kerascope/backend/function.py(")
    assert answer(out, "p mine") == ["12"]
    fit_two_layers()
    assert not capsys.readouterr().out
