"""The lesson player: its data and page, what it does in a browser, where the course shows it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from browser import OpenPage, browser, wait_until
from lesson_texts import write_chapter

import kerascope as ks
from kerascope import backend as K
from kerascope.debugger.entry import replay
from kerascope.errors import ArgumentError
from kerascope.layers import Concatenate, Dense, Input
from kerascope.lessons.checking import accept, complaints_of
from kerascope.lessons.lesson import LessonError
from kerascope.lessons.notebook import notebook_text
from kerascope.lessons.parser import read_chapter
from kerascope.lessons.reading import chapter_text
from kerascope.lessons.render_html import chapter_page
from kerascope.lessons.runner import run_chapter
from kerascope.models import Model
from kerascope.player import Player
from kerascope.player.picture import DONE, GRADIENT, NOW, TODO, BoxStates, nodes_made
from kerascope.player.player import ShownPlayer, frame
from kerascope.player.steps import shown_value
from kerascope.player.words import KINDS, WORDS
from kerascope.trace.events import GRAIN_OF
from kerascope.trace.tape import Tape

TITLE = {"en": "One step of training", "zh": "训练的一步"}
GATE = {
    "at": "event:update.apply",
    "ask": {"en": "Which variable is first?", "zh": "先换哪个变量？"},
    "answer": "h/kernel",
    "choices": ["y/kernel", "h/kernel"],
}
PHONE = {"width": 360, "height": 740}
DESK = {"width": 1280, "height": 900}
PAUSE = 900  # milliseconds between two steps while it plays


def small_model():
    x = Input(shape=(4,), name="x")
    h = Dense(3, activation="relu", name="h", kernel_initializer="ones")(x)
    y = Dense(2, name="y", kernel_initializer="ones")(Concatenate(name="both")([h, x]))
    return Model(x, y, name="small")


@pytest.fixture(scope="module")
def trained():
    model = small_model()
    model.compile("sgd", "mse")
    with ks.trace(model) as tape:
        model.fit(np.ones((4, 4)), np.ones((4, 2)), epochs=1, verbose=0)
    return model, tape


@pytest.fixture(scope="module")
def called():
    model = small_model()
    with ks.trace() as tape:
        model.call(Input((4,), name="x2"))
    return model, tape


def data_of(player: Player) -> dict:
    held = re.search(r'id="data">\n(.*?)</script>', player.html, re.DOTALL)
    return json.loads(held[1])


def steps_in(html: str) -> list[str]:
    listed = html.partition('<details class="steps"')[2].partition("</details>")[0]
    return re.findall(r"<li>(.*?)</li>", listed)


# --- the data -------------------------------------------------------------------------------------


def played(side: dict) -> list[dict[str, dict[str, str]]]:
    """Play the changes as the script does; return all tables at each step."""
    tables: dict[str, dict[str, str]] = {}
    found = []
    for changes in [side["startTables"], *(step[7] for step in side["steps"])]:
        for table, *rest in changes:
            name = side["tables"][table]
            if not rest:
                del tables[name]
            elif len(rest) == 1:
                del tables[name][side["keys"][rest[0]]]
            else:
                rows = tables.setdefault(name, {})
                if rest[0] >= 0:
                    rows[side["keys"][rest[0]]] = side["values"][rest[1]][0]
        found.append({name: dict(rows) for name, rows in tables.items()})
    return found[1:]


def test_the_tables_at_each_step_are_what_the_tape_says(trained):
    _, tape = trained
    player = Player(tape, TITLE, from_="batch 0", until="batch 0")
    (side,) = data_of(player)["sides"]
    shown = played(side)
    assert len(shown) == len(player.events) > 100
    for event, tables in zip(player.events, shown, strict=True):
        names = tape.names_at(event.t)
        for name in ("tensor_map", "grads", "updates", "weights"):
            if isinstance(names.get(name), dict):
                told = {str(key): shown_value(value).short for key, value in names[name].items()}
                assert tables[name] == told, (event.t, name)
            else:
                assert name not in tables, (event.t, name)
        assert tables[""]["batch_index"] == "0"


def test_an_empty_container_is_a_table_too(called):
    _, tape = called
    player = Player(tape, from_="phase:run_internal_graph")
    (side,) = data_of(player)["sides"]
    assert [tables.get("tensor_map") for tables in played(side)[:2]] == [
        {},
        {"x": "<x2 float32[None, 4]>"},
    ]


def test_a_step_is_told_in_the_page_and_its_time_is_that_of_the_tape(called):
    _, tape = called
    player = Player(tape)
    (side,) = data_of(player)["sides"]
    told = steps_in(player.html)
    assert len(told) == len(side["steps"]) == len(tape)
    assert [step[0] for step in side["steps"]] == [event.t for event in tape]
    assert told[1] == "▸ run_internal_graph small"
    assert told[6] == "· tmap.set h: tensor_map[h] = (&lt;h/relu float32[None, 3]&gt;, None)"


def test_the_source_of_a_step_is_the_line_of_the_script_and_that_of_the_engine(called):
    _, tape = called
    player = Player(tape)
    (side,) = data_of(player)["sides"]
    place = next(i for i, event in enumerate(player.events) if event.kind == "tmap.set")
    step, event = side["steps"][place + 3], player.events[place + 3]
    for (piece, line), file, number in (
        (step[5], event.where.user_file, event.where.user_line),
        (step[6], event.where.file, event.where.line),
    ):
        source = side["sources"][piece]
        name, _, first = source["place"].rpartition(":")
        assert file.endswith(name)
        assert int(first) + line == number
    lines = side["sources"][step[5][0]]["lines"]
    assert 'name="h"' in lines[step[5][1]]


def test_no_path_of_this_machine_and_no_address_is_in_the_page(trained):
    _, tape = trained
    html = Player(tape, TITLE).html
    assert str(Path.cwd()) not in html
    assert not re.search(r"0x[0-9a-f]{6,}|file:|(?:src|href)=", html)
    assert "default-src 'none'" in html


SCRIPT = """\
import numpy as np
import kerascope as ks
from kerascope.layers import Dense
from kerascope.player import Player
from kerascope.models import Sequential

model = Sequential([Dense(2, input_shape=(3,), name="d", kernel_initializer="ones")])
model.compile("adam", "mse")
with ks.trace(model) as tape:
    model.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=1, verbose=0)
Player(tape, from_="batch 0", until="batch 0").save("out/a.html")
"""


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(tmp_path):
    pages = []
    for seed in ("0", "1"):
        folder = tmp_path / seed
        folder.mkdir()
        (folder / "out").mkdir()
        (folder / "train.py").write_text(SCRIPT)
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "train.py"], cwd=folder, env=environment, check=True)
        pages.append((folder / "out/a.html").read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize(
    ("value", "short", "full"),
    [
        (np.float32(0.5), "f32[] 0.5", ""),
        (np.arange(3), "i64[3] [0 1 2]", "i64[3]\n[0 1 2]"),
        (
            np.full((2, 3, 4), 1 / 3),
            "f64[2,3,4] |x|=1.633",
            "f64[2,3,4]\n|x|=1.633\nmin=0.333\nmean=0.333\nmax=0.333\n[0, :3, :3] =\n"
            "[[0.3333 0.3333 0.3333]\n [0.3333 0.3333 0.3333]\n [0.3333 0.3333 0.3333]]",
        ),
        (np.array([np.nan, 1.0]), "f64[2] 1 NaN! |x|=1", "f64[2]\n[nan   1]"),
        ((np.ones(2), None), "f64[2] [1 1]", "f64[2]\n[1 1]"),
        ((np.ones(2), np.ones(3)), "(f64[2], f64[3])", ""),
        ({"a": 1 / 3}, "{a: 0.3333}", ""),
        ("x" * 200, "'" + "x" * 88 + "…", "'" + "x" * 200 + "'"),
        (np.zeros((0, 3)), "f64[0,3]", None),
    ],
)
def test_small_arrays_are_whole_and_large_ones_figures_and_a_corner(value, short, full):
    shown = shown_value(value)
    assert shown.short == short
    assert full is None or shown.full == full


# --- the picture ----------------------------------------------------------------------------------


def states_at(player, *times):
    """Return the states of all boxes at some times; those of frames are not among them."""
    graph = player.picture.graph
    states = BoxStates(graph, player.picture.boxes_of_nodes, nodes_made(player.tape))
    found = {}
    for event in player.tape:
        states.feed(event)
        found[event.t] = "".join(str(states.now[node.id]) for node in graph.nodes)
    return [found[t] for t in times]


def test_boxes_are_to_do_then_now_then_done_and_at_last_have_their_gradient(trained):
    _, tape = trained
    player = Player(tape, TITLE, from_="batch 0", until="batch 0")
    assert list(player.picture.words) == ["x", "h", "both", "y"]
    node = {(e.name, e.ph, e.phase): e.t for e in player.events if e.kind == "node"}
    for name, phase, before, inside, after in (
        ("h", "forward", "2000", "2100", "2200"),
        ("y", "forward", "2220", "2221", "2222"),
        ("y", "backward", "2222", "2221", "2223"),
        ("both", "backward", "2223", "2213", "2233"),
    ):
        begin, end = node[name, "B", phase], node[name, "E", phase]
        assert states_at(player, begin - 1, begin, end) == [before, inside, after]
    assert (TODO, NOW, DONE, GRADIENT) == (0, 1, 2, 3)


def test_the_calls_of_a_shared_layer_are_told_apart_while_they_are_made():
    with ks.trace() as tape:
        x, shared = Input(shape=(4,), name="x"), Dense(4, name="s")
        inner_input = Input((4,), name="i")
        inner = Model(inner_input, shared(inner_input), name="inner")
        model = Model(x, shared(shared(inner(x))), name="outer")
        model.call(Input((4,), name="x2"))
    player = Player(tape)
    assert list(player.picture.words) == ["x", "inner", "s@0", "s@1"]
    calls = [e for e in tape if e.kind == "layer.call" and e.ph == "B" and e.name.startswith("s")]
    # The first is made for the model inside, the next two are those of the picture; then, when the
    # outer model is called, the call inside `inner` is not in the picture either.
    told = states_at(player, *(event.t for event in calls))
    assert [state[2:] for state in told] == ["00", "00", "10", "21", "00", "10", "21"]
    whole = Player(tape, graph=ks.draw(model, expand="all"))
    inside = [e.t for e in tape if e.kind == "layer.call" and e.name == "s" and e.phase][-1]
    assert states_at(whole, inside) == ["22200"]


def test_the_model_that_is_gone_is_drawn_from_the_tape():
    def build():
        with ks.trace() as tape:
            x = Input(shape=(4,), name="x")
            model = Model(x, Dense(2, name="y")(Dense(3, name="h")(x)), name="gone")
            model.call(Input((4,), name="other"))
        return tape

    tape = build()
    player = Player(tape, until="event:layer.call y")
    assert player.picture is not None
    assert [box.partition(":")[0] for box in player.picture.words] == ["x", "h", "y"]


def test_ops_of_one_name_make_no_picture():
    x = K.variable(2.0, name="x")
    with ks.trace() as tape:
        K.function([], [x * x * x])([])
    with pytest.raises(ArgumentError, match=r"several ops like 'multiply~2'.*K\.name_scope"):
        Player(tape, graph=x * x * x)
    assert "<svg" not in Player(tape, graph=False).html


def test_gradients_flow_back_through_a_picture_of_ops():
    x = K.variable(2.0, name="x")
    with ks.trace() as tape:
        loss = K.exp(K.square(x))
        K.gradients(loss, [x])
    player = Player(tape, graph=ks.draw(loss, level="gradient", wrt=[x]))
    boxes = [node.id for node in player.picture.graph.nodes]
    accum = {e.name: e.t for e in tape if e.kind == "grad.accum"}
    arrived = []
    for t in (accum["exp"], accum["square"], accum["x"] + 1):
        states = dict(zip(boxes, states_at(player, t)[0], strict=True))
        arrived.append([name for name in boxes if name.startswith("grad:") and states[name] != "0"])
    assert sorted(map(len, arrived)) == [1, 2, 3]


def contributions_after_each_accumulation(tape, drawn):
    """Return which boxes of contributions have been marked, after each event that tells of one."""
    player = Player(tape, graph=drawn)
    boxes = [node.id for node in player.picture.graph.nodes]
    told = [e.t for e in tape if e.kind == "grad.accum"]
    marked = []
    for states in states_at(player, *told):
        now = {box for box, state in zip(boxes, states, strict=True) if "#" in box and state != "0"}
        marked += [now] if now and now not in marked else []
    return marked


def test_at_a_fork_the_box_of_the_op_that_is_swept_is_marked():
    """Boxes are numbered as the forward pass reads the tensor; the sweep goes the other way."""
    x = K.variable(2.0, name="x")
    with ks.trace() as tape:
        loss = K.exp(x) + K.square(x)
        K.gradients(loss, [x])
    drawn = ks.draw(loss, level="gradient", wrt=[x])
    labels = {node.id: node.label for node in drawn.graph.nodes}
    swept = [e.name for e in tape if e.kind == "grad.op"]
    assert swept == ["add", "square", "exp"]
    assert labels["grad:x#2"] == "contribution 2 (from square)"
    first, both = contributions_after_each_accumulation(tape, drawn)
    assert first == {"grad:x#2"}
    assert both == {"grad:x#1", "grad:x#2"}


def test_an_op_that_reads_a_tensor_twice_marks_two_boxes():
    x = K.variable(2.0, name="x")
    with ks.trace() as tape:
        loss = K.exp(x * x)
        K.gradients(loss, [x])
    drawn = ks.draw(loss, level="gradient", wrt=[x])
    found = contributions_after_each_accumulation(tape, drawn)
    assert found == [{"grad:x#1"}, {"grad:x#1", "grad:x#2"}]


def test_each_call_of_a_shared_layer_marks_its_own_contribution():
    x, shared = Input(shape=(4,), name="x"), Dense(4, name="s", use_bias=False)
    model = Model(x, shared(shared(x)), name="m")
    model.compile("sgd", "mse")
    with ks.trace(model) as tape:
        model.train_on_batch(np.ones((2, 4)), np.ones((2, 4)))
    drawn = ks.draw(model, level="gradient")
    found = contributions_after_each_accumulation(tape, drawn)
    assert found == [{"grad:s/kernel#2"}, {"grad:s/kernel#1", "grad:s/kernel#2"}]


# --- what an author chooses -----------------------------------------------------------------------


def test_a_stretch_a_level_and_lanes_are_chosen(trained):
    _, tape = trained
    one = Player(tape, from_="phase:forward", until="phase:forward", level="node")
    assert [event.name for event in one.events if event.ph == "B"] == ["forward", "h", "both", "y"]
    assert Player(tape, from_="forward", until="forward", level="node").events == one.events
    lanes = data_of(Player(tape, lanes=["update"], from_="batch 0"))["lanes"]
    assert [name for name, _ in lanes] == ["update"]
    whole = [name for name, _ in data_of(Player(tape, from_="batch 0", until="batch 0"))["lanes"]]
    assert whole == ["forward", "loss", "backward", "update", "commit"]


def test_the_graph_of_the_gradients_is_built_before_anything_runs_backward(trained):
    _, tape = trained
    lanes = dict(Player(tape).lanes)
    assert list(lanes) == ["build", "forward", "loss", "backward", "update", "commit"]
    begins = [stretches[0][1] for stretches in lanes.values()]
    assert begins == sorted(begins)
    assert [word for word, *_ in lanes["build"]][:2] == ["get_updates", "gradients"]


def test_stop_points_are_the_phases_or_what_the_author_names(trained):
    _, tape = trained
    known = Player(tape, from_="batch 0", until="batch 0")
    names = [text["en"] for _, text in known.stops]
    assert names[:3] == ["batch 0", "function train_function", "forward"]
    named = Player(
        tape, from_="batch 0", stops={"y": {"en": "the last layer", "zh": "最后一层"}, "h:bwd": "b"}
    )
    assert [text["zh"] for _, text in named.stops] == ["最后一层", "b"]
    assert [named.events[moment].name for moment, _ in named.stops] == ["y", "h"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"title": {"en": "only English"}}, "Player: title: expected"),
        ({"level": "nodes"}, "Did you mean 'node'?"),
        ({"lanes": ["foward"]}, "Did you mean 'forward'?"),
        ({"from_": "phase:comit"}, "Did you mean 'commit'?"),
        ({"from_": "bothh"}, "Did you mean 'both'?"),
        ({"from_": 10**6}, "got 1000000"),
        ({"until": 2.5}, "expected a time such as 17"),
        ({"from_": "batch 7"}, "no event from t=0 on"),
        ({"stops": ["y"], "until": 2}, "is outside the shown events"),
        ({"gates": [{"ask": "?"}]}, r"gates\[0\]: expected 'at', 'ask', 'answer'"),
        ({"gates": [{**GATE, "at": 0}]}, "it hides the first step"),
        ({"gates": [{**GATE, "answer": {"en": "x"}}]}, r"gates\[0\]: answer"),
        ({"names": ["a"], "beside": Tape()}, "the tape is empty"),
        ({"graph": 7}, "expected a model"),
    ],
)
def test_what_makes_no_sense_is_refused(trained, options, words):
    with pytest.raises((ArgumentError, TypeError), match=words):
        Player(trained[1], **options)


def test_no_tape_and_a_wrong_name_are_refused(trained, tmp_path):
    with pytest.raises(ArgumentError, match="expected a tape from"):
        Player("t.jsonl")
    with pytest.raises(ArgumentError, match="expected a name like step.html"):
        Player(trained[1]).save(tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_two_traces_walk_side_by_side():
    tapes = []
    for activation in ("relu", None):
        x = Input(shape=(4,), name="x")
        h = Dense(3, activation=activation, name="h")(x)
        model = Model(x, Dense(2, name="y")(h), name="m")
        with ks.trace(model) as tape:
            model.predict(np.ones((2, 4)))
        tapes.append((tape, model))
    (one, first), (two, second) = tapes
    player = Player(one, beside=Player(two, graph=second), graph=first, names=("relu", "linear"))
    data = data_of(player)
    assert len(data["sides"]) == 2
    left, right = player.sides
    for ours, theirs in data["moments"]:
        mine, other = left.events[ours], right.events[theirs]
        assert mine.name == "h/relu" or (mine.kind, mine.name) == (other.kind, other.name)
    assert [len(side.events) - 1 for side in player.sides] == data["moments"][-1]
    with pytest.raises(ArgumentError, match="expected two"):
        Player(one, beside=two, names=("a",))


@pytest.mark.browser
@pytest.mark.slow
def test_a_long_trace_is_packed_and_not_refused(trained, opened, tmp_path):
    model = trained[0]
    with ks.trace(model) as long_tape:
        model.fit(np.ones((40, 4)), np.ones((40, 2)), batch_size=4, epochs=1, verbose=0)
    player = Player(long_tape)
    assert len(player.moments) > 1500
    player.save(tmp_path / "long.html")
    assert (tmp_path / "long.html").stat().st_size < 250_000
    page = opened(tmp_path / "long.html")
    wait_until(page, "document.querySelectorAll('.steps li').length > 1500")
    page.keyboard.press("End")
    assert page.inner_text(".said") == "◂ fit small"


def test_everything_is_said_in_both_languages():
    assert set(GRAIN_OF) - set(KINDS) == set()
    for texts in [*WORDS.values(), *KINDS.values()]:
        assert len(texts) == 2
        assert all(texts) or texts == ("", "")


def test_the_debugger_goes_where_the_copied_commands_say(trained, capsys):
    _, tape = trained
    event = next(e for e in tape if e.kind == "op" and e.ph == "E" and e.name == "h/relu")
    replay(tape, commands=[f"goto {event.t}", "info tensors", "q"])
    said = capsys.readouterr().out
    assert f"t={event.t}\n" in said
    assert re.search(r"^h +f32\[4,3\]", said, re.MULTILINE)


# --- in a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def page_file(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("player") / "train.html"
    span = {"from_": "batch 0", "until": "batch 0"}
    Player(trained[1], TITLE, **span, gates=[GATE], stops=["h", "phase:commit"]).save(path)
    return path


@pytest.fixture
def opened(chromium, page_file):
    found = []

    def open_page(path=page_file, address="", **options):
        found.append(OpenPage(chromium, path, address, **options))
        return found[-1].page

    yield open_page
    for one in found:
        assert len(set(one.requests)) == 1
        assert one.complaints == []
        one.close()


def press(page, name, times=1):
    for _ in range(times):
        page.click(f"[data-do={name}]")


def moment(page) -> int:
    return int(page.input_value("#moment"))


@pytest.mark.slow
@pytest.mark.browser
def test_next_previous_and_the_slider_go_to_a_moment(opened):
    page = opened()
    assert page.inner_text(".said") == "▸ batch 0"
    assert page.locator("[data-do=previous]").is_disabled()
    press(page, "next", 3)
    assert page.inner_text(".count") == "4 / 170"
    assert page.url.endswith("#step=4")
    assert page.get_attribute("#moment", "aria-valuetext").startswith("Step 4 of 170: ▸ depth 2")
    assert page.inner_text(".live") == page.get_attribute("#moment", "aria-valuetext")
    press(page, "previous")
    assert moment(page) == 2
    page.locator("#moment").fill("10")
    assert page.inner_text(".said") == "◂ op h/relu = relu -> f32[4,3] |x|=13.86"
    assert "batch 0 > train_function > forward > depth 2 > h" in page.inner_text(".path")


@pytest.mark.browser
def test_a_moment_is_the_same_from_both_directions(opened):
    there, back = opened().evaluate("""() => {
        const shown = () => [...document.querySelectorAll(".tables, .listed, .source")]
            .map((one) => one.innerText).slice(1);
        const press = (name) => document.querySelector(`[data-do=${name}]`).click();
        const there = [shown()], back = [];
        for (let i = 0; i < 16; i++) {
            press("next");
            there.push(shown());
        }
        for (let i = 0; i < 16; i++) {
            press("previous");
            back.push(shown());
        }
        return [there, back];
    }""")
    assert back == there[-2::-1]
    assert len({str(look) for look in there}) > 10


@pytest.mark.slow
@pytest.mark.browser
def test_new_rows_are_marked_in_words_and_a_value_is_looked_at(opened):
    page = opened()
    page.locator("#moment").fill("10")
    row = page.locator(".tables tr.new", has_text="h").first
    assert row.locator("strong").inner_text() == "new"
    assert (
        page.inner_text(".peek")
        == "tensor_map[h]\nf32[4,3]\n[[4 4 4]\n [4 4 4]\n [4 4 4]\n [4 4 4]]"
    )
    page.click(".tables button.key:text-is('x')")
    assert page.inner_text(".peek").startswith("tensor_map[x]\nf32[4,4]\n")
    assert page.evaluate("document.activeElement.textContent") == "x"
    press(page, "next")
    assert page.inner_text(".peek").startswith("tensor_map[x]")
    page.click(".tables button.key:text-is('x')")
    assert not page.inner_text(".peek").startswith("tensor_map[x]")
    page.locator("svg g.box[data-id=h]").click()
    assert page.inner_text(".peek").startswith("tensor_map[h]")


@pytest.mark.slow
@pytest.mark.browser
def test_a_table_stays_as_the_reader_left_it_but_opens_for_a_new_row(opened):
    page = opened()
    page.locator("#moment").fill("12")
    weights = page.locator(".tables details:has(summary:text('weights'))")
    assert weights.get_attribute("open") is None
    page.locator(".tables summary:text('tensor_map')").click()
    press(page, "next")
    assert page.locator(".tables details").first.get_attribute("open") is None
    page.locator("#moment").fill("169")
    page.click(".gate button")
    assert page.inner_text(".said").startswith("· update.apply")
    assert weights.get_attribute("open") is not None
    seen = "(row) => row.getBoundingClientRect().bottom <= row.closest('.tables')"
    new_row = weights.locator("tr.new").first
    assert new_row.evaluate(f"{seen}.getBoundingClientRect().bottom + 1")


@pytest.mark.browser
def test_boxes_say_their_state_by_shape_frame_and_words(opened):
    page = opened()
    page.locator("#moment").fill("10")
    looks = {}
    for name in ("x", "h", "both"):
        box = page.locator(f"svg g.box[data-id={name}]")
        line = box.locator(".line").first
        style_now = line.evaluate(
            "(x) => [getComputedStyle(x).strokeWidth, getComputedStyle(x).strokeDasharray]"
        )
        looks[box.locator(".state").text_content()] = tuple(style_now)
        words = box.locator(".state").text_content().partition(" ")[2]
        assert words in re.split(", |; ", box.get_attribute("aria-label"))
    assert list(looks) == ["● done", "▶ now", "○ to do"]
    assert len(set(looks.values())) == 3
    listed = page.locator(".listed .state").all_text_contents()
    assert listed == ["● done", "▶ now", "○ to do", "○ to do"]


@pytest.mark.slow
@pytest.mark.browser
def test_next_change_and_next_stop_point(opened):
    page = opened()
    press(page, "stop")
    assert page.inner_text(".said") == "▸ node h"
    before = moment(page)
    press(page, "change")
    assert moment(page) > before
    press(page, "stop")
    assert page.inner_text(".said") == "▸ commit"
    page.click("summary:has-text('Stop-points')")
    page.click("[data-go] >> nth=0")
    assert page.inner_text(".said") == "▸ node h"
    page.click(".track button >> nth=1")
    assert page.inner_text(".said") == "▸ loss"


@pytest.mark.browser
def test_keys_move_where_they_belong(opened):
    page = opened()
    page.focus("[data-do=next]")
    for key, said in (
        ("ArrowRight", 1),
        ("ArrowRight", 2),
        ("ArrowLeft", 1),
        ("Home", 0),
        ("s", 4),
    ):
        page.keyboard.press(key)
        assert moment(page) == said, key
    page.focus("#moment")
    page.keyboard.press("ArrowRight")
    assert moment(page) == 5
    page.keyboard.press("End")  # a gate is before it
    assert page.locator(".gate").is_visible()
    page.keyboard.press("Control+p")
    assert page.get_attribute("[data-do=play]", "aria-label") == "Play"


@pytest.mark.slow
@pytest.mark.browser
def test_a_gate_hides_what_comes_until_the_reader_has_answered(opened):
    page = opened()
    page.locator("#moment").fill("169")
    assert page.inner_text(".said") == "▸ commit"
    hidden = moment(page)
    assert page.inner_text(".ask") == "Which variable is first?"
    assert page.inner_text(".live") == "Which variable is first?"
    press(page, "next")
    assert moment(page) == hidden
    page.click("label:has-text('English')")
    page.click(".gate label:has-text('y/kernel')")
    page.click(".gate button")
    assert moment(page) == hidden + 1
    assert page.inner_text(".yours") == "You said: y/kernel"
    assert page.inner_text(".is") == "h/kernel"
    press(page, "next")
    assert not page.locator(".gate").is_visible()
    page.locator("#moment").fill("169")
    assert moment(page) == 169


@pytest.mark.browser
def test_the_address_holds_the_moment_and_the_language(opened):
    page = opened(address="#step=12&zh")
    assert moment(page) == 11
    assert page.locator("#language-zh").is_checked()
    assert page.inner_text("h1") == "训练的一步"
    page.evaluate("location.hash = 'step=160'")
    page.locator(".count:text-is('160 / 170')").wait_for()
    assert not page.locator(".gate").is_visible()  # who was there has passed it


def test_words_cannot_break_out_of_the_page_nor_out_of_a_frame(called):
    evil = '</script><b id="evil">"\'&quot;<!--'
    gate = {"at": "h", "ask": evil, "answer": evil, "choices": [evil, "other"]}
    player = Player(called[1], evil, stops={"h": evil}, gates=[gate])

    class Tags(HTMLParser):
        def __init__(self):
            super().__init__()
            self.found = []

        def handle_starttag(self, tag, attrs):
            self.found.append((tag, dict(attrs)))

    page, around = Tags(), Tags()
    page.feed(player.html)
    assert [tag for tag, _ in page.found].count("script") == 2
    assert not [tag for tag, attributes in page.found if attributes.get("id") == "evil"]
    around.feed(frame(player.html, evil))
    ((tag, attributes),) = around.found
    assert (tag, attributes["title"], attributes["srcdoc"]) == ("iframe", evil, player.html)


@pytest.mark.slow
@pytest.mark.browser
def test_the_language_is_switched_and_nothing_is_left_in_the_other(opened):
    page = opened()
    page.locator("#moment").fill("10")
    page.click("label:has(#language-zh)")
    assert page.evaluate("document.documentElement.lang") == "zh-Hans"
    assert page.title() == "训练的一步"
    assert page.get_attribute("[data-do=play]", "aria-label") == "播放"
    assert page.locator("svg g.box[data-id=h] .state").text_content() == "▶ 正在"
    assert page.url.endswith("#step=11&zh")
    assert page.locator(".in-en:visible").count() == 0
    lanes = set(page.locator(".track button").all_text_contents())
    assert lanes == {"前向", "损失", "反向", "更新", "提交"}
    assert opened(locale="zh-CN").locator("#language-zh").is_checked()


@pytest.mark.browser
@pytest.mark.slow
def test_playing_goes_on_by_itself_and_is_silent(opened):
    page = opened(locale="en-US")  # a tab of its own: its clock is turned by hand
    page.clock.install()
    press(page, "play")
    assert page.get_attribute("[data-do=play]", "aria-label") == "Pause"
    before = moment(page)
    said = page.inner_text(".live")
    page.clock.run_for(2 * PAUSE)
    assert moment(page) == before + 2
    assert page.inner_text(".live") == said == ""
    press(page, "play")
    page.clock.run_for(10 * PAUSE)
    assert moment(page) == before + 2


@pytest.mark.browser
def test_commands_for_the_debugger_are_copied(opened):
    page = opened()
    page.locator("#moment").fill("10")
    page.click(".copy")
    copied = page.evaluate("getSelection().toString()")
    assert re.fullmatch(r"goto \d+\ninfo tensors", copied.strip())
    assert page.inner_text(".live") == "Copied"


@pytest.mark.browser
@pytest.mark.parametrize(("wanted", "seconds"), [("reduce", "0s"), ("no-preference", "0.15s")])
def test_nothing_glides_for_a_reader_who_wants_no_motion(opened, wanted, seconds):
    cursor = opened(reduced_motion=wanted).locator(".cursor").first
    assert cursor.evaluate("(one) => getComputedStyle(one).transitionDuration") == seconds


@pytest.mark.slow
@pytest.mark.browser
def test_without_a_script_the_steps_are_a_list_and_gates_are_folded(opened):
    page = opened(java_script_enabled=False)
    assert page.locator(".steps li:visible").count() == 170
    assert page.locator("svg").is_visible()
    assert not page.locator(".controls").is_visible()
    assert page.locator("svg .state").all_text_contents() == ["○"] * 4
    page.click("summary:has-text('Which variable is first?')")
    assert page.locator("p:has-text('h/kernel'):visible").count() == 1
    page.click("label:has(#language-zh)")
    assert page.inner_text("h1") == "训练的一步"


@pytest.mark.browser
def test_on_paper_all_steps_are_there(opened):
    page = opened()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator(".steps li:visible").count() == 170
    assert not page.locator(".controls").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_nothing_is_wider_than_the_window_and_all_text_can_be_read(opened, viewport, scheme):
    page = opened(viewport=viewport, color_scheme=scheme)
    page.locator("#moment").fill("100")
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]
    assert page.evaluate(CONTRASTS) == []


# The texts whose contrast with what is behind them is below 4.5:1.
CONTRASTS = """() => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => numbers(color).slice(0, 3).map((x) => x / 255)
        .map((x) => (x <= .04045 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4))
        .reduce((sum, x, i) => sum + x * [.2126, .7152, .0722][i], 0);
    const behind = (place) => {
        for (let one = place; one; one = one.parentElement) {
            const color = getComputedStyle(one).backgroundColor;
            if ((numbers(color)[3] ?? 1) > 0) return color;
        }
        return "rgb(255, 255, 255)";
    };
    const poor = [];
    for (const place of document.querySelectorAll("main *:not(svg *)")) {
        if (![...place.childNodes].some((x) => x.nodeType === 3 && x.textContent.trim())) continue;
        if (!place.checkVisibility() || place.closest(":disabled")) continue;
        const [a, b] = [light(getComputedStyle(place).color), light(behind(place))].sort();
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < 4.5) poor.push(`${place.className} ${place.textContent.slice(0, 30)} ${ratio}`);
    }
    return poor;
}"""


@pytest.mark.slow
@pytest.mark.browser
def test_two_sides_move_together(opened, called, tmp_path):
    path = tmp_path / "two.html"
    Player(called[1], TITLE, beside=called[1]).save(path)
    page = opened(path)
    press(page, "next", 7)
    assert page.locator(".side").count() == 2
    one, two = page.locator(".said").all_text_contents()
    assert one == two == "◂ layer.call h -> <h/relu float32[None, 3]>"
    states = page.locator("svg .state").all_text_contents()
    assert states[:4] == states[4:] == ["● done", "● done", "○ to do", "○ to do"]


# --- in the course --------------------------------------------------------------------------------

LESSON = f"""\
# A walk {{#walk}}

Look.

```python {{#go}}
{SCRIPT.rstrip()}
```

![A step of training](out/a.html){{.player trace=go}}
"""
CHINESE = (
    LESSON.replace("# A walk", "# 走一遍")
    .replace("Look.", "看。")
    .replace("A step of training", "训练的一步")
)


@pytest.fixture(scope="module")
def chapter(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tutorials")
    made = write_chapter(folder, LESSON, CHINESE, name="01-walk")
    run = run_chapter(made)
    assert "01-walk/out/a.html: written" in accept(run, "both")
    return read_chapter(made.folder), replace(run, chapter=read_chapter(made.folder))


@pytest.mark.slow
def test_a_stored_player_is_compared_like_a_picture(chapter):
    lesson, run = chapter
    assert complaints_of(run, []) == []
    path = lesson.folder / "out/a.html"
    stored = path.read_text(encoding="utf-8")
    try:
        path.write_text(stored.replace("op d/dot", "op d/dut", 1), encoding="utf-8")
        (complaint, *_) = complaints_of(run, [])
        assert "picture 'out/a.html': it differs on line" in complaint
        place = re.search(r"kerascope/backend/function\.py:[\w.]+", stored)[0]
        assert place.endswith("Function._events")
        cut = stored.replace("[...place.querySelectorAll(name)]", "[...]", 1)
        assert cut != stored
        path.write_text(cut, encoding="utf-8")
        assert "it differs on line" in complaints_of(run, [])[0]  # nobody cuts a page by dots
        for other in (f"{place}_", "kerascope/backend/function.py:93"):
            path.write_text(stored.replace(place, other), encoding="utf-8")
            assert "it differs on line" in complaints_of(run, [])[0]
    finally:
        path.write_text(stored, encoding="utf-8")


def test_a_player_is_a_page_and_a_picture_is_not(tmp_path):
    with pytest.raises(LessonError, match=r"md:19: 'out/a.html': only a player"):
        write_chapter(tmp_path, LESSON.replace("{.player trace=go}", "{.gen from=go}"))


@pytest.mark.slow
@pytest.mark.browser
def test_the_chapter_page_holds_the_player_and_speaks_its_language(chapter, opened, tmp_path):
    path = tmp_path / "01-walk.html"
    path.write_text(chapter_page(chapter[0], None, None), encoding="utf-8")
    page = opened(path, viewport=PHONE)
    frame = page.frame_locator("iframe.player")
    assert page.get_attribute("iframe.player", "title") == "A step of training / 训练的一步"
    frame.locator("[data-do=next]").click()
    assert frame.locator(".count").inner_text().startswith("2 / ")
    assert not frame.locator("header").is_visible()
    page.evaluate("document.querySelector('iframe.player').style.height = '9px'")
    page.click("label:has(#language-zh)")  # it also says again how high it is
    frame.locator("button:has-text('下一次状态变化')").wait_for()
    assert frame.locator(".count").inner_text().startswith("2 / ")
    inside = page.frames[1]
    wait_until(inside, "document.documentElement.scrollHeight - innerHeight <= 1")
    assert page.evaluate("document.querySelector('iframe.player').clientHeight") > 1200
    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


@pytest.mark.slow
@pytest.mark.browser
def test_a_page_that_begins_in_chinese_has_a_chinese_player(chapter, opened, tmp_path):
    path = tmp_path / "01-walk.html"
    path.write_text(chapter_page(chapter[0], None, None), encoding="utf-8")
    page = opened(path, locale="zh-CN")
    page.frame_locator("iframe.player").locator("button:has-text('下一次状态变化')").wait_for()


def test_the_notebook_shows_it_and_the_terminal_says_how_to_open_it(chapter, monkeypatch):
    lesson = chapter[0]
    cells = json.loads(notebook_text(lesson, "zh"))["cells"]
    (source,) = ["".join(c["source"]) for c in cells if "ShownPlayer" in "".join(c["source"])]
    monkeypatch.chdir(lesson.folder)
    namespace: dict = {}
    exec(source.rpartition("\n")[0], namespace)
    shown = eval(source.rpartition("\n")[2], namespace)
    html = shown._repr_html_()
    assert 'title="训练的一步"' in html
    assert "&lt;html" not in html
    assert "&quot;zh&quot;" in html
    text = chapter_text(lesson.name, tutorials=lesson.folder.parent)
    assert "[Player, to be stepped through in a browser: A step of training" in text
    assert "out/a.html]" in text.replace("\n", " ")
    with pytest.raises(ArgumentError, match="First run the cell that saves it"):
        ShownPlayer("out/nowhere.html")
