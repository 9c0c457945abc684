import numpy as np
import pytest
from piped import answers, fit_toy, piped

from kerascope import backend as K
from kerascope.layers import LSTM, Dense, Input, Lambda
from kerascope.models import Model, Sequential
from kerascope.optimizers import SGD
from kerascope.regularizers import l2

FIT = "unt forward"


def said(text, command):
    return answers(text, command)[0]


def test_breakpoints_speak_as_those_of_pdb():
    text = piped(
        fit_toy,
        "b d2:ret",
        "tbreak phase:commit",
        "condition 1 norm(out) > 2",
        "ignore 1 3",
        "disable 2",
        "b",
        "ignore 1",
        "condition 1",
        "enable",
        "clear 1",
        "clear phase:commit",
        "b",
    )
    assert said(text, "b d2:ret") == ["Breakpoint 1 at d2:ret"]
    assert said(text, "tbreak phase:commit") == ["Breakpoint 2 at phase:commit"]
    assert said(text, "condition 1 norm(out) > 2") == ["New condition set for breakpoint 1."]
    assert said(text, "ignore 1 3") == ["Will ignore next 3 crossings of breakpoint 1."]
    assert said(text, "disable 2") == ["Disabled breakpoint 2 at phase:commit"]
    listed, nothing = answers(text, "b")
    assert listed == [
        "Num Type         Disp Enb   Where",
        "1   breakpoint   keep yes   at d2:ret",
        "\tstop only if norm(out) > 2",
        "\tignore next 3 hits",
        "2   breakpoint   del  no    at phase:commit",
    ]
    assert nothing == []
    assert said(text, "ignore 1") == ["Will stop next time breakpoint 1 is reached."]
    assert said(text, "condition 1") == ["Breakpoint 1 is now unconditional."]
    assert said(text, "enable") == [
        "Enabled breakpoint 1 at d2:ret",
        "Enabled breakpoint 2 at phase:commit",
    ]
    assert said(text, "clear 1") == ["Deleted breakpoint 1 at d2:ret"]
    assert said(text, "clear phase:commit") == ["Deleted breakpoint 2 at phase:commit"]


def test_hits_are_counted_and_a_temporary_breakpoint_is_gone():
    text = piped(fit_toy, FIT, "b op:relu", "tbreak d2", "c", "c", "c", "b")
    assert answers(text, "b") == [
        [
            "Num Type         Disp Enb   Where",
            "1   breakpoint   keep yes   at op:relu",
            "\tbreakpoint already hit 2 times",
        ]
    ]
    assert "breakpoint 2 hit" in text


def test_misspelt_names_are_found_when_a_batch_has_begun():
    text = piped(
        fit_toy, "b dd2", FIT, "b dropp", "b op:rellu", "b tensor:d1/reluu", "b phase:comit"
    )
    assert said(text, "b dd2") == ["Breakpoint 1 at dd2"]  # it may still be built
    assert "Did you mean 'drop'?" in said(text, "b dropp")[0]
    assert "Did you mean 'relu'?" in said(text, "b op:rellu")[0]
    assert "Did you mean 'd1/relu'?" in said(text, "b tensor:d1/reluu")[0]
    assert "Did you mean 'commit'?" in said(text, "b phase:comit")[0]


def test_before_all_is_known_a_name_that_is_not_there_is_told_and_waited_for():
    text = piped(fit_toy, "unt compile", "b dd2", "b d2", "b tensor:d1/reluu", "b d*")
    assert said(text, "b dd2") == [
        "Breakpoint 1 at dd2",
        "   no layer of this name so far. Did you mean 'd2'?",
    ]
    assert said(text, "b d2") == ["Breakpoint 2 at d2"]
    assert said(text, "b tensor:d1/reluu")[1].endswith("so far. Did you mean 'd1/relu'?")
    assert said(text, "b d*") == ["Breakpoint 4 at d*"]


def test_a_number_that_is_none_is_told_with_those_of_watches_too():
    text = piped(fit_toy, "clear 5", "watch t", "watch e", "disable 5")
    assert said(text, "clear 5") == [
        "*** clear: there is no breakpoint or watch 5. None is set yet."
    ]
    assert said(text, "disable 5") == [
        "*** disable: there is no breakpoint or watch 5. Use one of: 1, 2."
    ]


def test_commands_are_done_at_the_breakpoint():
    text = piped(
        fit_toy,
        FIT,
        "b d2:ret",
        "commands",
        "silent",
        "p t",
        "c",
        "b phase:commit",
        "c",
        "p e.kind",
    )
    assert "(com) silent\n(com) p t\n(com) c\n(Kdb) b phase:commit" in text
    assert "breakpoint 1 hit" not in text
    ((time,),) = answers(text, "p t")
    assert time.isdigit()
    assert answers(text, "p e.kind") == [["'commit'"]]


def test_clear_asks_before_it_removes_everything():
    text = piped(fit_toy, "b d1", "catch nan", "clear", "n", "b", "clear", "y", "b")
    kept, gone = answers(text, "b")
    assert kept[-2:] == ["1   breakpoint   keep yes   at d1", "catch nan"]
    assert gone == []
    assert "Clear all breaks? y\nDeleted breakpoint 1 at d1\nDeleted catch nan\n" in text


def test_conditions_are_caught_listed_and_cleared():
    text = piped(
        fit_toy, "catch", "catch nan, ratio>0.5", "catch nam", "catch", "clear nan", "catch"
    )
    before, both, one = answers(text, "catch")
    assert before == ["nothing is caught. For example: `catch nan`"]
    assert both == ["catch nan", "catch ratio>0.5"]
    assert one == ["catch ratio>0.5"]
    assert "Did you mean 'nan'?" in said(text, "catch nam")[0]


def test_a_watch_has_a_number_among_the_breakpoints():
    text = piped(
        fit_toy, FIT, "b d1", "disable 1", "watch list(tensor_map)", "c", "watch", "clear 2"
    )
    assert said(text, "watch list(tensor_map)") == ["Watch 2: list(tensor_map) = ['x']"]
    assert "watch 2: list(tensor_map)\n  added 'd1'" in text
    assert said(text, "watch") == [
        "Num Type         Disp Enb   Where",
        "2   watch        keep yes   of list(tensor_map)",
        "\twatch already hit 1 time",
    ]
    assert said(text, "clear 2") == ["Deleted watch 2 of list(tensor_map)"]


def test_mistakes_are_told_and_change_nothing():
    wrong = ["condition 7", "ignore x", "enable 1 q", "b d1,", "b 12", "commands", "watch print"]
    text = piped(fit_toy, *wrong, "b")
    for line in wrong:
        assert said(text, line)[0].startswith("*** "), line
    assert answers(text, "b") == [[]]


def test_a_watched_weight_tells_old_new_and_how_much():
    text = piped(fit_toy, "watch weight:last/kernel, relative > 0", "c", "watch", "c")
    assert said(text, "watch weight:last/kernel, relative > 0") == ["Watch 1: weight:last/kernel"]
    first = said(text, "c")
    assert first[-4:-2] == ["watch 1: last/kernel", "  Old: f32[8,1] |x|=2.828"]
    assert first[-2].startswith("  New: f32[8,1] |x|=")
    assert first[-1].startswith("  relative change 0.0")
    assert "\tstop only if relative > 0" in said(text, "watch")


def test_whoever_quits_in_the_past_is_asked_no_more():
    text = piped(fit_toy, "catch ratio>0", "unt commit", "rc", "unt t=200", "b d1")
    assert text.endswith("(Kdb) b d1\nBreakpoint 1 at d1\n(Kdb) q\n")


@pytest.mark.parametrize(
    ("change", "rate", "penalty", "told"),
    [
        (lambda x: x, np.nan, 0.0, "train_function: NaN comes in with the variable lr: 1 of 1"),
        (lambda x: x, 0.1, np.nan, "NaN comes in with the constant nan"),
        (lambda x: x * np.nan, 0.1, 0.0, "NaN comes in with the constant nan"),
        (lambda x: x + K.constant([np.nan]), 0.1, 0.0, "NaN comes in with the constant constant"),
        (lambda x: x + K.variable([np.nan], name="v"), 0.1, 0.0, "with the variable v: 1 of 1"),
    ],
)
def test_a_nan_that_comes_in_with_a_constant_or_a_variable_is_caught(change, rate, penalty, told):
    def program():
        x = Input(shape=(3,), name="x")
        h = Lambda(change, name="change")(x)
        model = Model(x, Dense(1, kernel_regularizer=l2(penalty), name="last")(h))
        model.compile(SGD(lr=rate), "mse")
        model.fit(np.ones((4, 3)), np.ones((4, 1)), verbose=0)

    lines = said(piped(program, "catch nan", "c"), "c")
    caught = next(line for line in lines if line.startswith("caught nan: "))
    assert told in caught


def test_where_nothing_came_out_no_condition_on_its_norm_holds():
    text = piped(fit_toy, FIT, "b *, norm(out) < 1e9", "c", "p norm(out) < 1e9")
    assert said(text, "p norm(out) < 1e9") == ["True"]
    assert "--Return-- op " in text
    text = piped(fit_toy, "b *, norm(out) < 1e9", "c", "p e.kind")
    assert said(text, "p e.kind") == ["'op'"]  # symbols have no norm


def test_what_a_condition_asks_of_a_layer_s_inputs_is_asked_of_this_layer():
    text = piped(fit_toy, FIT, "b last:fwd:ret, ins[0].shape == (4, 8)", "c", "p e.name")
    assert said(text, "p e.name") == ["'last'"]


def test_a_watch_knows_the_names_of_the_user_and_the_living_model():
    text = piped(fit_toy, FIT, "!foo = 3", "watch foo", "watch model.loss", "watch bar")
    assert said(text, "watch foo") == [
        "Watch 1: foo = 3",
        "no event changes it: `display foo` shows it at each stop",
    ]
    assert said(text, "watch model.loss") == ["Watch 2: model.loss = 'mse'"]
    assert said(text, "watch bar") == ["Watch 3: bar = <no value yet>"]
    text = piped(fit_toy, FIT, "!foo = 3", "b *, e.grain == 'op' and t > foo", "c", "p e.grain")
    assert said(text, "p e.grain") == ["'op'"]


def test_after_an_op_with_several_outputs_the_last_value_is_the_layer_s():
    def program():
        model = Sequential([LSTM(3, input_shape=(4, 2), name="lstm_1"), Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((2, 4, 2)), np.ones((2, 1)), verbose=0)

    text = piped(program, FIT, "tbreak lstm_1:ret", "c", "n")
    for command in ("c", "n"):
        assert any("last: lstm_1 f32[2,3] |x|=" in line for line in said(text, command))


def test_a_change_has_one_size_whoever_tells_it():
    text = piped(fit_toy, FIT, "catch ratio>0", "c")
    told = said(text, "c")
    size = told[-1].rpartition(" is ")[2]
    assert any(line.endswith(f"relative change {size}") for line in told)


def test_a_watch_whose_names_never_came_says_so_at_the_end():
    text = piped(
        fit_toy, "watch tensor_mpa", "watch len(tensor_map)", "watch 1 + 1", "disable 2", "c", "c"
    )
    first, second = answers(text, "c")
    assert "watch 1 of tensor_mpa: it never had a value. Did you mean 'tensor_map'?" in first
    assert not any(line.startswith(("watch 2", "watch 3")) for line in first)
    assert not any(line.startswith("watch 1") for line in second)
