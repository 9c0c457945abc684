"""Commands that look at values and at source."""

import numpy as np
from debugger_programs import fit_two_layers
from debugger_transcripts import answer, transcript

from kerascope import backend as K


def told(*commands, program=fit_two_layers):
    """Return the answer to the last of several commands."""
    text, _, _ = transcript(program, *commands)
    return answer(text, commands[-1])


def test_an_array_is_told_by_its_figures_and_a_small_one_by_its_numbers_too():
    lines = told("unt forward", "p tensor_map['a_input'][0]")
    assert lines[0] == "f32[2,2] |x|=3.742 min=0 mean=1.5 max=3"
    assert "".join(lines[1:]).replace(" ", "") == "array([[0.,1.],[2.,3.]],dtype=float32)"


def test_a_large_array_is_told_by_its_figures_alone_and_pp_shows_some_of_it():
    assert told("big = np.ones((100, 100))", "p big") == ["f64[100,100] |x|=100 min=1 mean=1 max=1"]
    lines = told("big = np.ones((100, 100))", "pp big")
    assert lines[0].startswith("f64[100,100]")
    assert "..." in "".join(lines)


def test_containers_show_figures_for_arrays():
    lines = told("unt forward", "s", "p tensor_map")
    assert lines == ["{'a_input': (f32[2,2] |x|=3.742 min=0 mean=1.5 max=3, None)}"]


def test_names_are_living_objects_as_long_as_they_live():
    assert told("unt forward", "s", "p layer.units") == ["3"]
    assert told("unt forward", "p model.layers[0].name") == ["'a'"]


def test_names_of_the_script_are_known_and_hidden_by_those_of_the_stop():
    text, _, _ = transcript(fit_two_layers, "p mine", "s", "p t", names={"mine": 12, "t": "theirs"})
    assert answer(text, "p mine") == ["12"]
    assert answer(text, "p t") == ["0"]


def test_the_past_cannot_be_written_into():
    lines = told("unt forward", "tensor_map['a_input'][0][:] = 0")
    assert lines == ["*** ValueError: assignment destination is read-only"]


def test_pv_computes_a_symbolic_tensor_on_the_last_batch():
    lines = told("goto 10", "unt backward", "pv model.output")
    model = None

    def program():
        nonlocal model
        model = fit_two_layers()

    text, session, _ = transcript(program, "unt backward", "pv model.output")
    expected = next(e for e in session.tape.filter(kind="op", name="b/add", ph="E"))
    result = next(d.value for d in expected.deltas if d.name == "result")
    assert answer(text, "pv model.output")[1:] == np.array_repr(result).splitlines() == lines[1:]


def test_pv_before_the_first_batch_says_what_to_do():
    def program():
        x = K.placeholder((None, 2), name="x")
        made.append(x + 1.0)
        fit_two_layers()

    made = []
    text, _, _ = transcript(program, "s", "pv made[0]", names={"made": made})
    (line,) = answer(text, "pv made[0]")
    assert line.startswith("*** pv: ")
    assert "needs x. No batch was fed to it up to here" in line


def test_pv_in_the_past_has_the_weights_of_then():
    lines = ["tbreak a:ret", "c", "tbreak batch 1", "c", "tbreak a:ret", "rc", "p out"]
    text, _, _ = transcript(fit_two_layers, *lines, "pv model.layers[0].output")
    assert answer(text, "pv model.layers[0].output") == answer(text, "p out")
    text, _, _ = transcript(fit_two_layers, *lines, "pv model.layers[0].output * K.variable(0.0)")
    assert answer(text, "pv model.layers[0].output * K.variable(0.0)")[0].startswith(
        "f32[2,3] |x|=0"
    )


def test_pv_says_why_what_was_fed_is_not_here_and_when_weights_are_those_of_the_present():
    def program():
        return fit_two_layers(epochs=40)

    pv = "pv model.layers[0].output"
    text, _, _ = transcript(program, "set history 60KB", "b weight:none", "c", "rc", pv)
    (line,) = answer(text, pv)
    assert "needs a_input. t=" in line
    assert "are forgotten: the history was full." in line

    text, _, _ = transcript(fit_two_layers, "set history 1KB", "unt commit", "goto 150", pv)
    assert answer(text, pv)[0].endswith(
        "needs a_input. Only statistics of the batch are kept. To keep more, begin with "
        "`set history 1GB`."
    )
    pv = "pv K.sum(model.layers[0].kernel)"
    text, _, _ = transcript(fit_two_layers, "set history 1KB", "unt commit", "goto 150", pv)
    told, _ = answer(text, pv)
    assert told == ("with the present weights: the tape has not kept all weights of t=150")


def test_whatis():
    assert told("unt forward", "s", "whatis layer")[0].startswith("<class")
    assert told("unt forward", "whatis tensor_map") == ["dict of 1"]
    assert told("unt forward", "whatis tensor_map['a_input'][0]") == ["array f32[2,2]"]


def test_display_is_shown_when_the_content_changes():
    text, _, _ = transcript(
        fit_two_layers, "unt forward", "display list(tensor_map)", "s", "s", "undisplay", "n"
    )
    shown = [line for line in text.splitlines() if line.startswith("display")]
    assert shown[0] == "display list(tensor_map): ['a_input']"
    assert shown[1:] == ["display list(tensor_map): ['a_input', 'a']  [old: ['a_input']]"]


def test_display_sees_a_change_in_place():
    lines = ["x = [1]", "display x", "x.append(2)", "s"]
    text, _, _ = transcript(fit_two_layers, *lines)
    assert "display x: [1, 2]  [old: [1]]" in answer(text, "s")


def test_display_of_a_name_that_comes_later():
    text, _, _ = transcript(fit_two_layers, "display depth_keys_of", "undisplay nothing")
    assert answer(text, "display depth_keys_of") == ["display depth_keys_of: (no such name here)"]
    assert answer(text, "undisplay nothing") == [
        "*** undisplay: 'nothing' is not displayed. Displayed: depth_keys_of."
    ]


def test_retval_and_args():
    text, _, _ = transcript(fit_two_layers, "unt forward", "s", "r", "retval", "a", "s", "retval")
    assert answer(text, "retval")[0].startswith("f32[2,3] |x|=")
    assert answer(text, "a")[0] == "depth = 1"
    assert "layer = <Dense a>" in answer(text, "a")


def test_ins_is_what_went_into_this_very_call():
    shapes = "p [x.shape for x in ins]"
    at_a = ("unt forward", "tbreak a:ret", "c")
    assert told(*at_a, shapes) == ["[(2, 2)]"]
    assert told(*at_a, "rr", shapes) == ["[(2, 2)]"]
    assert told("unt forward", "p ins") == ["None: the tape has no array that went in here"]
    assert told("unt backward", "p out") == ["None: the tape has no array that came out here"]


def test_forward_and_loss_end_with_their_values():
    text, _, _ = transcript(fit_two_layers, "unt forward", "r", "retval", "unt loss", "r", "rv")
    assert answer(text, "retval")[0].startswith("f32[2,1] ")
    assert answer(text, "rv")[0].startswith("f32[] ")
    assert "--Return-- loss -> f32[] " in text


def test_retval_where_nothing_ends():
    assert told("s", "retval") == [
        "*** retval: nothing ends here with a value. `r` goes to the end."
    ]


# --- source ---------------------------------------------------------------------------------------


def test_where_names_the_spans_with_both_places():
    lines = told("unt forward", "s", "w")
    lines = lines[: lines.index("  made by:")]
    assert [line[2:].split("  ")[0] for line in lines] == [
        *("fit", "epoch 0", "batch 0", "train_function", "forward", "depth 1", "a")
    ]
    assert lines[-1].startswith(">")
    assert "kerascope/layers/core.py(" in lines[-1]
    assert "debugger_programs.py:" in lines[-1]


def test_up_and_down_choose_the_span_that_list_and_args_speak_of():
    text, _, _ = transcript(fit_two_layers, "unt forward", "s", "up", "a", "down", "down")
    assert answer(text, "up")[0].startswith("> depth 1")
    assert answer(text, "a") == ["depth = 1"]
    assert answer(text, "down")[0].startswith("> a")
    assert "*** down: this is the innermost span." in text


def test_list_marks_the_line_of_the_engine():
    text, _, _ = transcript(fit_two_layers, "unt forward", "l", "ll", "l user", "source b")
    (marked,) = [line for line in answer(text, "l") if " -> " in line]
    second_line_of_the_stop = answer(text, "unt forward")[1]
    assert marked.split("->", 1)[1].strip() == second_line_of_the_stop.removeprefix("-> ")
    assert answer(text, "ll")[0].split(maxsplit=1)[1].startswith("def _events(")
    for command in ("l user", "source b"):
        assert answer(text, command)[0].endswith("debugger_programs.py:")
        assert "Dense(" in "".join(answer(text, command))


def test_source_of_an_unknown_layer():
    (line,) = told("unt forward", "source aa")
    assert line.startswith("*** source: unknown layer 'aa'. Did you mean 'a'?")


def test_before_the_first_event_there_is_no_source_of_the_engine():
    for command in ("l", "ll", "w", "u", "a"):
        (line,) = told(command)
        assert line == "*** Not at an event. `s` goes to the next one, `rs` to the previous one."
