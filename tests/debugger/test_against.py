"""`kerascope replay --against`: the same computed again, or something else."""

import numpy as np
import pytest
from debugger_programs import fit_two_layers

from kerascope import backend as K
from kerascope.cli.commands import main
from kerascope.debugger.files import first_difference
from kerascope.stage import observing
from kerascope.trace.events import Delta, Event
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape_store import Tape

SCRIPT = """\
import sys
import numpy as np
import kerascope as ks
np.random.seed(int(sys.argv[1]) if sys.argv[1:] else 0)
print("loud")
hidden = ks.layers.Dense(3, activation="relu", input_shape=(2,), name="hidden")
model = ks.Sequential([hidden, ks.layers.Dropout(0.5, seed=1), ks.layers.Dense(1, name="last")])
model.compile("sgd", "mse")
model.fit(np.ones((4, 2)), np.ones((4, 1)), batch_size=2, epochs=1, verbose=0)
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "train.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def tape(tmp_path, script, monkeypatch, capsys):
    """Return a tape with its arrays, as `record` writes it."""
    file = tmp_path / "t.jsonl"
    K.clear_session()
    monkeypatch.setattr("sys.stdin", None)
    words = ["debug", "-c", "c", "-c", f"record {file}", "-c", "q", str(script)]
    assert main(words) == 0
    capsys.readouterr()
    assert file.with_suffix(".npz").exists()
    return file


def against(capsys, *words):
    K.clear_session()
    code = main(["replay", "--against", *map(str, words)])
    return code, *capsys.readouterr()


def test_the_same_script_computes_the_same(tape, script, capsys):
    code, out, error = against(capsys, script, tape)
    assert (code, error) == (0, "loud\n")
    assert (
        out == f"{script} computes the same as the tape: {len(Tape.load(tape))} events are equal.\n"
    )


def test_other_random_numbers_are_the_first_difference_with_4(tape, script, capsys):
    code, out, _ = against(capsys, script, tape, "--", "7")
    assert code == 4
    assert out.startswith("first difference hidden t=")
    assert "\n   recorded: " in out
    assert "\n   now:      " in out


def test_another_layer_is_the_first_difference(tape, script, capsys):
    script.write_text(SCRIPT.replace('name="last"', 'name="end"'))
    code, out, _ = against(capsys, script, tape)
    assert code == 4
    assert "layer.init last was recorded; now it is layer.init end\n" in out


def test_a_script_that_ends_before_is_a_difference(tape, script, capsys):
    script.write_text(SCRIPT.partition("model.fit")[0])
    code, out, _ = against(capsys, script, tape)
    assert code == 4
    assert out.endswith(" was recorded; the script ends before it\n")


def test_one_last_bit_of_one_array_is_seen(tape, script, capsys):
    script.write_text(SCRIPT.replace("np.ones((4, 2))", "np.nextafter(np.ones((4, 2), 'f'), 2)"))
    assert against(capsys, script, tape)[0] == 4


def test_figures_are_compared_where_there_are_no_arrays(tmp_path, script, capsys):
    K.clear_session()
    assert main(["debug", "--format", "jsonl", str(script)]) == 0
    file = tmp_path / "figures.jsonl"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert against(capsys, script, file)[0] == 0
    assert against(capsys, script, file, "--", "7")[0] == 4


def test_a_tape_of_the_begin_alone_ends_the_script_there(tmp_path, script, capsys):
    K.clear_session()
    assert main(["debug", "--format", "jsonl", "--until", "t=9", str(script)]) == 0
    file = tmp_path / "begin.jsonl"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    script.write_text(SCRIPT + "print('the end')\n")
    code, out, error = against(capsys, script, file)
    assert (code, error) == (0, "loud\n")
    assert out.endswith(": 10 events are equal.\n")


def test_a_script_that_fails_now_is_told(tape, script, capsys):
    script.write_text(SCRIPT + "1/0\n")
    code, _, error = against(capsys, script, tape)
    assert code == 1
    assert error.endswith("ZeroDivisionError: division by zero\n")


def test_a_failure_that_was_recorded_is_the_same(tmp_path, script, capsys):
    script.write_text(SCRIPT.replace("np.ones((4, 1))", "np.ones((3, 1))"))
    K.clear_session()
    assert main(["debug", "--format", "jsonl", str(script)]) == 1
    file = tmp_path / "failed.jsonl"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert against(capsys, script, file)[0] == 0


def test_what_makes_no_sense_with_against_is_refused(tape, script, capsys):
    for words in (["-c", "c"], ["--step-all"], ["--format", "md"], ["--until", "hidden"]):
        code, out, error = against(capsys, script, *words, tape)
        assert (code, out) == (2, "")
        assert f"--against and {words[0]} exclude each other" in error
    assert against(capsys, "nowhere.py", tape)[0] == 2
    assert main(["replay", str(tape), "--", "7"]) == 2
    assert "Only --against passes arguments" in capsys.readouterr().err


def test_events_in_another_order_are_a_difference():
    one = [Event(t, "", "", "op", "I", 0, "op", name) for t, name in enumerate("ab")]
    two = [Event(t, "", "", "op", "I", 0, "op", name) for t, name in enumerate("ba")]
    assert first_difference(one, one) == ""
    assert first_difference(one, two) == "t=0: op a was recorded; now it is op b"


def test_two_recordings_of_one_program_are_the_same():
    tapes = []
    for _ in range(2):
        K.clear_session()
        recorder = Recorder()
        with observing(recorder):
            np.random.seed(0)
            fit_two_layers()
        recorder.close()
        tapes.append(recorder.tape)
    assert first_difference(*tapes) == ""
    changed = list(tapes[1])
    event = changed[-1]
    changed[-1] = Event(
        event.t, event.act, event.phase, event.kind, event.ph, event.depth, event.grain,
        event.name, event.where, (*event.deltas, Delta("more", None, 1)),
    )  # fmt: skip
    assert first_difference(tapes[0], changed).startswith("first difference ")
