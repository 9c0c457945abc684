import pytest
from piped import answers, fit_toy, gan, piped

from kerascope.debugger.tables import lines_of_table

AT_D2 = ["unt forward", "tbreak d2:ret", "c"]
TABLES = ("tensors", "nodes", "depths", "seen", "grads", "updates", "weights", "breaks", "counts")


def said(text, command, time=0):
    return answers(text, command)[time]


def test_the_tensor_map_fills():
    text = piped(fit_toy, *AT_D2, "info tensors", "unt backward", "info tensors")
    assert [line.split()[0] for line in said(text, "info tensors")] == ["key", "x", "d1", "d2"]
    assert said(text, "info tensors")[1].startswith("x    f32[4,3] |x|=")
    assert len(said(text, "info tensors", 1)) == 7


def test_nodes_and_depths_have_the_state_of_the_run():
    text = piped(fit_toy, *AT_D2, "info nodes", "info depths")
    assert said(text, "info nodes") == [
        "   node  layer         depth  takes",
        "●  x     InputLayer x  5      x",
        "●  d1    Dense d1      4      x",
        "●  d2    Dense d2      3      d1/relu",
        "○  sum   Add sum       2      d1/relu, d2/relu",
        "○  drop  Dropout drop  1      sum/add",
        "○  last  Dense last    0      drop/switch",
    ]
    assert said(text, "info depths")[:3] == ["depth  nodes", "5      ● x", "4      ● d1"]


def test_the_map_sees_one_node_after_the_other():
    at_the_map = ["tbreak event:map.visit", "c", "info seen", "tbreak phase:depth_sort", "c"]
    text = piped(fit_toy, *at_the_map, "info seen")
    assert said(text, "info seen")[0] == "no node has been seen yet"
    assert [line.split()[1] for line in said(text, "info seen", 1)[1:]] == [
        "x_ib-0", "d1_ib-0", "d2_ib-0", "sum_ib-0", "drop_ib-0", "last_ib-0",
    ]  # fmt: skip


def test_gradients_are_symbols_at_compile_and_numbers_in_a_batch():
    text = piped(fit_toy, "b event:grad.node", "c", "c", "c", "info grads", "clear 1", "unt commit",
                 "info grads", "info updates")  # fmt: skip
    assert said(text, "info grads")[0].startswith("symbols: the sweep made them at compile")
    numbers = said(text, "info grads", 1)
    assert numbers[0].startswith("gradient of")
    assert any(line.startswith("last/kernel") and "|x|=" in line for line in numbers)
    assert any(line.startswith("d1/kernel  ") for line in said(text, "info updates"))


def test_after_its_scope_a_table_is_shown_as_it_was_last():
    text = piped(fit_toy, "tbreak epoch 0:ret", "c", "info grads")
    assert said(text, "info grads")[0].startswith("as it was at t=")
    assert any(line.startswith("last/kernel") for line in said(text, "info grads"))


def test_weights_say_how_much_they_have_changed():
    text = piped(fit_toy, "tbreak batch 0:ret", "c", "info weights")
    header, kernel, *_ = said(text, "info weights")
    assert header.split() == ["weight", "value", "changed"]
    assert kernel.startswith("d1/kernel")
    assert 0 < float(kernel.split()[-1]) < 1


def test_a_weight_that_is_written_at_the_prompt_is_seen_at_once_and_not_in_the_past():
    at = ("tbreak batch 1", "c")
    write = "!K.set_value(model.get_layer('d1').kernel, np.zeros((3, 8)))"
    table, value = "info weights", "p float(norm(weights['d1/kernel']))"
    text = piped(fit_toy, *at, write, table, value, "rs", value, "s", "set d1/bias = 3", table)
    kernel = said(text, table)[1].split()
    assert kernel[:3] == ["d1/kernel", "f32[3,8]", "|x|=0"]
    assert said(text, value) == ["0.0"]
    assert answers(text, value)[1] != ["0.0"]
    bias = answers(text, table)[1][2].split()
    assert bias[:3] == ["d1/bias", "f32[8]", "|x|=8.485"]


def test_counts_tell_how_far_it_is():
    text = piped(fit_toy, *AT_D2, "info counts", "info breaks")
    assert said(text, "info counts")[0].split() == ["grain", "kind", "until", "here", "in", "all"]
    assert "node    map.visit      6           6" in said(text, "info counts")
    assert said(text, "info breaks") == ["no breakpoints. `b dense_1` makes one"]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("place", [[], ["s"], ["unt backward"], ["c"]])
def test_every_table_answers_everywhere_and_no_line_is_too_wide(table, place):
    text = piped(fit_toy, *place, f"info {table}")
    lines = said(text, f"info {table}")
    assert lines
    assert not lines[0].startswith("***")
    assert all(len(line) <= 100 for line in lines)


def test_an_unknown_table_is_told():
    text = piped(fit_toy, "info tensor", "info gradz", "info")
    assert said(text, "info tensor") == ["tensor_map is empty here"]  # a beginning is enough
    assert "Did you mean 'grads'?" in said(text, "info gradz")[0]
    assert "Use one of: tensors, nodes" in said(text, "info")[0]


def test_the_graph_is_drawn_in_its_present_state():
    text = piped(
        fit_toy, *AT_D2, "draw", "set out = out * 2", "draw term", "b last:bwd:ret", "c", "draw"
    )
    first, changed, later = said(text, "draw"), said(text, "draw term"), said(text, "draw", 1)
    assert first[0].startswith("toy")
    for sign, name in (("●", "d1"), ("●", "d2"), ("○", "sum")):
        assert any(f"{sign} {name} " in line for line in first), name
    assert any("◆ d2 " in line for line in changed)
    assert any("◂ last " in line for line in later)


def test_the_graph_is_drawn_into_files(tmp_path):
    svg, dot = tmp_path / "now.svg", tmp_path / "now.dot"
    text = piped(fit_toy, *AT_D2, f"draw svg {svg} -w", f"draw {dot}", "n", "draw off", "n")
    assert said(text, f"draw svg {svg} -w") == [f"{svg} written"]
    assert text.count(f"{svg} written") == 2  # at the next stop too, and not after `draw off`
    assert svg.read_text("utf-8").startswith("<?xml") or "<svg" in svg.read_text("utf-8")
    assert "digraph" in dot.read_text("utf-8")


@pytest.mark.parametrize("words", ["jpeg", "svg now.png", "term now.txt", "a b c"])
def test_what_cannot_be_drawn_is_told(words):
    text = piped(fit_toy, *AT_D2, f"draw {words}")
    assert said(text, f"draw {words}")[0].startswith("*** draw: ")


def test_a_graph_is_drawn_while_it_is_built():
    text = piped(fit_toy, "s", "draw", "b d2:ret", "c", "draw")
    assert "no layer has been called yet" in said(text, "draw")[0]
    lines = said(text, "draw", 1)
    assert lines[0] == "the calls so far"
    assert [line.split("│")[1].strip() for line in lines if "●" in line] == ["● x", "● d1", "● d2"]


def test_columns_stand_under_each_other():
    assert lines_of_table([("a", "b"), ("long", "c")]) == ["a     b", "long  c"]


# --- two models with optimizers of their own ------------------------------------------------------


def rates(text, time=0):
    lines = answers(text, "info weights")[time]
    return {line[:20].strip(): line.split()[4] for line in lines if line.startswith("lr ")}


def test_variables_of_one_name_are_told_by_their_models_now_and_in_the_past():
    text = piped(
        gan, "b phase:update", "c", "info weights", "c", "info weights", "c", "info weights",
        "p lr", "p iterations", "rc", "rc", "info weights",
    )  # fmt: skip
    assert answers(text, "info weights")[0][-1].split()[0] != "lr"
    assert rates(text, 1) == rates(text, 2) == {"lr of D": "0.01", "lr of gan": "0.02"}
    assert answers(text, "p lr") == [["f32[] 0.01"]]
    assert answers(text, "p iterations") == [
        ["*** 2 variables have the name 'iterations': see `info weights`."]
    ]
    last = answers(text, "info weights")[3]
    assert not any(line.startswith("lr of gan") for line in last)


def test_what_changed_of_variables_of_one_name_is_that_of_the_last_call():
    text = piped(gan, "b phase:update", "c", "c", "unt commit", "r", "info weights")
    lines = {line[:20].strip(): line.split()[4:] for line in answers(text, "info weights")[0]}
    assert lines["iterations of gan"] == ["1"] or lines["iterations of gan"][0] == "1"
    assert lines["iterations of D"] == ["1"]


def test_a_rate_of_which_there_are_two_is_set_only_in_a_call():
    text = piped(gan, "b phase:update", "c", "c", "unt commit", "r", "r", "set lr = 3")
    assert answers(text, "set lr = 3")[0][0].startswith("*** set: 2 variables have the name 'lr'.")


def test_spans_of_single_batches_name_the_model_and_count_the_calls():
    text = piped(gan, "b run:phase:forward", *["c"] * 6, "w")
    paths = [answers(text, "c")[time][2].split("   ")[1] for time in range(6)]
    train, test = (
        "train_function of {}, call {} > forward",
        "predict_function of {}, call {} > forward",
    )
    assert paths == [
        train.format("D", 1), train.format("gan", 1), test.format("gan", 1),
        train.format("D", 2), train.format("gan", 2), test.format("gan", 2),
    ]  # fmt: skip
    assert any("predict_function of gan, call 2" in line for line in answers(text, "w")[0])


def test_up_and_down_print_the_line_of_source_as_pdb_does():
    text = piped(fit_toy, "unt update", "u", "d")
    for command in ("u", "d"):
        span, source = answers(text, command)[0]
        assert span.startswith("> ")
        assert source.startswith("-> ")
