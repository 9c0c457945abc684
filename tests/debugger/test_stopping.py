from piped import answers, fit_toy, piped

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
    assert before == ["nothing is caught; for example `catch nan`"]
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


def test_a_watch_whose_names_never_came_says_so_at_the_end():
    text = piped(
        fit_toy, "watch tensor_mpa", "watch len(tensor_map)", "watch 1 + 1", "disable 2", "c", "c"
    )
    first, second = answers(text, "c")
    assert "watch 1 of tensor_mpa: it never had a value. Did you mean 'tensor_map'?" in first
    assert not any(line.startswith(("watch 2", "watch 3")) for line in first)
    assert not any(line.startswith("watch 1") for line in second)
