"""`ks.play` and `kerascope play`: one step as a page, seen from outside."""

import json
import re
import subprocess
import sys
from itertools import groupby, pairwise

import numpy as np
import pytest
from browser import OpenPage, browser, wait_until
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.applications import ResNet50
from kerascope.errors import ArgumentError, NotCompiledError
from kerascope.layers import Add, Dense, Input
from kerascope.models import Model, Sequential
from kerascope.optimizers import SGD
from kerascope.player.captions import Narrator, sources_of
from kerascope.player.picture import DONE
from kerascope.player.sentences import SENTENCES
from kerascope.player.step_ladder import LadderFlows, LadderPicture, LadderStates
from kerascope.player.value_labels import value_label_of
from kerascope.viz.exports import page as page_module
from kerascope.viz.nesting import hiding_of

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
BATCH = np.array([[1.0, 2.0]]), np.array([[3.0, 2.0]])
SCRIPT = """\
import sys
import numpy as np
from keras.layers import Dense
from keras.models import Sequential
model = Sequential([Dense(3, activation="relu", input_shape=(2,), name="h"), Dense(1, name="y")])
model.compile("sgd", "mse")
model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, epochs=2, verbose=0)
print("arguments", sys.argv[1:])
"""
# Whether the middle of the box that is computed now is seen, at every step.
OUT_OF_VIEW = """() => {
  const frame = document.querySelector(".canvas"), slider = document.querySelector("#moment");
  const out = [];
  for (let i = 0; i <= +slider.max; i++) {
    slider.value = i;
    slider.dispatchEvent(new Event("input"));
    const box = document.querySelector(".box.focus .line");
    if (!box) continue;
    const one = box.getBoundingClientRect(), around = frame.getBoundingClientRect();
    if (one.left < around.left - 1 || one.right > around.right + 1 || one.top < around.top - 1
      || one.bottom > around.bottom + 1 || around.bottom > innerHeight + 1) out.push(i);
  }
  return out;
}"""
# At every step but the last: how many values are new in open tables, how far these are scrolled.
NEW_AND_PLACE = """() => {
  const slider = document.querySelector("#moment"), tables = document.querySelector(".tables");
  return Array.from({length: +slider.max}, (_, moment) => {
    slider.value = moment;
    slider.dispatchEvent(new Event("input"));
    return [tables.querySelectorAll("[open] .new").length, tables.scrollTop];
  });
}"""
NAMELESS = """() => [...document.querySelectorAll("button, select, input, [tabindex='0']")]
  .filter((one) => one.checkVisibility() && !one.getAttribute("aria-label")
    && !one.textContent.trim() && !one.labels?.length)
  .map((one) => one.outerHTML)"""


def small_model(optimizer="sgd"):
    x = Input((2,), name="x")
    hidden = Dense(2, activation="relu", name="hidden")(x)
    twist = Dense(2, name="twist")(hidden)
    model = Model(x, Add(name="sum")([hidden, twist]), name="small")
    model.compile(optimizer, "mse")
    model.set_weights(
        [np.array([[1, -1], [0.5, -1]]), np.zeros(2), np.array([[1, 0.5], [-1, 1]]), np.zeros(2)]
    )
    return model


def deep_model(layers=16):
    x = h = Input((8,), name="x")
    for number in range(layers):
        h = Dense(8, activation="relu", name=f"d{number}")(h)
    model = Model(x, Dense(1, name="y")(h), name="deep")
    model.compile("sgd", "mse")
    return model


def fifty_layers():
    return deep_model(50)


def resnet50():
    model = ResNet50(weights=None, input_shape=(32, 32, 3), classes=10)
    model.compile("adam", "categorical_crossentropy")
    return model


LARGE = (deep_model, fifty_layers, resnet50)


@pytest.fixture(scope="module")
def small():
    return ks.play(small_model(), *BATCH)


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium):
    found = []

    def open_page(path, address="", **options):
        found.append(OpenPage(chromium, path, address, **options))
        wait_until(found[-1].page, "document.querySelector('.runs') !== null")  # it is unpacked
        return found[-1].page

    yield open_page
    for one in found:
        assert len(set(one.requests)) == 1
        assert one.complaints == []
        one.close()


def sentences(player) -> list[str]:
    """Return what each event that is played says, without the stars."""
    narrator = Narrator(sources_of(LadderStates(player.picture).arrows))
    shown = {event.t for event in player.events}
    found = []
    for event in player.tape[: player.events[-1].t + 1]:
        key, *words = narrator.tell(event)
        if event.t in shown:
            found.append(SENTENCES[key][0].format(*words).replace("*", "").replace("\u2212", "-"))
    return found


# --- what is played -------------------------------------------------------------------------------


def test_a_step_is_played_and_the_model_is_as_before():
    model = small_model("adam")
    model.fit(*BATCH, epochs=2, verbose=0)
    before = [*model.get_weights(), *model.optimizer.get_weights()]
    ks.play(model, *BATCH)
    after = [*model.get_weights(), *model.optimizer.get_weights()]
    assert len(before) == len(after)
    assert all(map(np.array_equal, before, after))


@pytest.mark.parametrize("optimizer", ["adam", SGD(0.1, clipnorm=1.0)], ids=["plain", "clipped"])
def test_a_model_that_was_trained_or_played_before_has_the_same_gradients(optimizer):
    """The train function is not made again: what arrives at outputs was told only then."""

    def gradients(player):
        told = ((e.name, d) for e in player.events for d in e.deltas if d.name == "grads")
        return [(name, d.key, np.asarray(d.value).tolist()) for name, d in told if d.key]

    x, shared = Input((2,), name="x"), Dense(2, activation="relu", name="shared")
    model = Model(x, Add(name="sum")([shared(x), shared(shared(x))]), name="siamese")
    model.compile(optimizer, "mse")
    first = gradients(ks.play(model, *BATCH))
    assert {"sum", "shared@0", "shared@1", "shared/kernel"} <= {key for _, key, _ in first}
    assert gradients(ks.play(model, *BATCH)) == first
    weights = model.get_weights()
    other = Model.from_config(model.get_config())
    other.compile(optimizer if optimizer == "adam" else SGD(0.1, clipnorm=1.0), "mse")
    other.fit(*BATCH, verbose=0)
    other.set_weights(weights)
    assert gradients(ks.play(other, *BATCH)) == first


def test_the_lanes_are_those_of_the_step_in_the_order_in_which_they_run(small):
    assert [name for name, _ in small.lanes] == ["forward", "loss", "backward", "update", "commit"]
    assert small.events[0].name == "train_function"


def test_without_a_target_the_forward_pass_is_played():
    player = ks.play(small_model(), BATCH[0])
    assert [name for name, _ in player.lanes] == ["forward"]


def test_a_tape_is_played_whole():
    model = small_model()
    with ks.trace(model) as tape:
        model.predict(BATCH[0])
    assert len(ks.play(tape).moments) == len(tape)


def test_a_tape_with_the_building_of_the_model_opens_where_numbers_flow():
    """A reader who says where it begins is heeded; without a forward pass it opens at its start."""
    with ks.trace() as tape:
        model = small_model()
        model.train_on_batch(*BATCH)
    player = ks.play(tape, graph=model)
    opened_at = player.events[player.start]
    assert (opened_at.kind, opened_at.phase) == ("forward", "forward")
    page = ks.play(tape, graph=False, level="phase")  # a small one, which is not packed
    assert f'"start":{page.start}' in page.html.replace('"start": ', '"start":')
    assert page.start > 0
    assert {event.phase for event in player.events[: player.start]} >= {"build_map", "gradients"}
    assert ks.play(tape, graph=model, from_=0).start == 0
    with ks.trace() as tape:
        small_model()
    assert ks.play(tape).start == 0
    assert ks.play(model, *BATCH).start == 0


@pytest.mark.parametrize(
    ("subject", "batch", "error", "words"),
    [
        (None, (), ArgumentError, "a model with a batch"),
        ("model", (), ArgumentError, "expected a batch, got none"),
        ("bare", BATCH, NotCompiledError, "Compile it"),
    ],
)
def test_what_cannot_be_played_says_what_is_missing(subject, batch, error, words):
    x = Input((2,))
    models = {"model": small_model(), "bare": Model(x, Dense(2)(x))}
    with pytest.raises(error, match=words):
        ks.play(models.get(subject), *batch)


def test_one_step_of_adam_takes_less_than_200_kilobytes():
    x = h = Input((20,), name="x")
    for number in range(2):
        h = Dense(64, activation="relu", name=f"d{number}")(h)
    model = Model(x, Dense(1, name="y")(h))
    model.compile("adam", "mse")
    player = ks.play(model, np.ones((32, 20)), np.ones((32, 1)))
    assert len(player.html.encode()) < 200_000


def test_what_is_too_fine_for_a_page_is_left_out_and_the_page_says_so(monkeypatch):
    monkeypatch.setattr("kerascope.player.playing.MOST_STEPS", 100)
    player = ks.play(small_model(), *BATCH)
    assert {event.grain for event in player.events} == {"act", "phase", "node"}
    assert re.search(r"[\d,]+ finer events left out", player.about["en"])


# --- the ladder -----------------------------------------------------------------------------------


def states_after(player, last=None):
    """Return the states of the boxes, and the boxes of which what is shown speaks, in order."""
    states, focus = LadderStates(player.picture), []
    for event in player.tape[: player.events[-1].t + 1]:
        states.feed(event)
        is_shown = event.t > player.events[0].t
        if is_shown and states.focus and focus[-1:] != [states.focus]:
            focus.append(states.focus)
        if last is not None and last(event):
            break
    return states, focus


def test_a_step_of_training_is_a_ladder_and_a_prediction_is_not(small):
    assert isinstance(small.picture, LadderPicture)
    assert {"hidden", "grad:hidden", "update:twist/bias", "loss"} <= set(small.picture.words)
    assert not isinstance(ks.play(small_model(), BATCH[0]).picture, LadderPicture)
    model = small_model()
    with ks.trace(model) as tape:
        model.train_on_batch(*BATCH)
    assert isinstance(ks.play(tape).picture, LadderPicture)


def test_what_is_computed_goes_down_the_left_up_the_right_and_through_the_cards(small):
    states, focus = states_after(small)
    rails = [one for one, _ in groupby(box for box in focus if "/" not in box)]
    assert rails == ["hidden", "twist", "sum", "sum_loss", "loss", "sum_loss", "grad:sum",
                     "grad:twist", "grad:hidden"]  # fmt: skip
    cells = [box for box in focus if "/" in box]
    written = [f"{layer}/{name}" for layer in ("hidden", "twist") for name in ("kernel", "bias")]
    assert [box for box in cells if box in written] == written  # the commit comes last
    assert cells.index("grad:twist/bias") < cells.index("grad:hidden/bias")
    assert cells.index("grad:hidden/bias") < cells.index("update:hidden/kernel")
    assert {states.now[node.id] for node in small.picture.whole.nodes} == {DONE}


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_after_a_step_every_box_of_a_ladder_is_done_also_inside_nested_models(name):
    model, rng = ZOO[name](), np.random.default_rng(0)
    model.compile("adam", "mse")

    def some(tensor):
        shape = (2, *(size or 3 for size in tensor.shape[1:]))
        return rng.integers(0, 2, shape) if "int" in str(tensor.dtype) else rng.normal(size=shape)

    x = [some(tensor) for tensor in model.inputs]
    player = ks.play(model, x, model.predict_on_batch(x))
    states, focus = states_after(player)
    assert {states.now[node.id] for node in player.picture.whole.nodes} == {DONE}
    groups = player.picture.whole.groups
    nested = [one.id for one in groups if one.attrs["kind"] == "call" and not one.parent]
    assert all(any(box.startswith(f"{one}/") for box in focus) for one in nested)


def test_before_the_forward_pass_only_what_is_kept_and_what_is_fed_is_there(small):
    states, _ = states_after(small, lambda event: event.kind == "forward")
    there = {box for box, state in states.now.items() if state == DONE}
    kinds = {small.picture.graph.node(box).kind for box in there}
    assert there >= {"x", "sum_target", "hidden/kernel", "slot:hidden/kernel/momentum"}
    assert kinds == {"input", "placeholder", "variable", "slot"}


def test_the_values_of_a_step_stand_where_they_belong():
    model = small_model()
    player = ks.play(model, *BATCH)
    flows = LadderFlows(player.picture, player.tape)
    for event in player.tape[: player.events[-1].t + 1]:
        flows.feed(event)
        if event.kind == "backward" and event.ph == "B":
            assert flows.now["hidden/bias", 0][1:] == ["c", "0", "0"]
    assert flows.now["hidden", 0][1:] == ["c", "2", "0"]
    assert flows.now["sum_target", 0][1:] == ["c", "3", "2"]
    assert flows.now["grad:hidden", 1][1:] == ["c", "1.5", "-3"]
    assert flows.now["grad:hidden/bias", 1][1:] == ["c", "1.5", "0"]
    for box in ("update:hidden/bias", "hidden/bias"):  # the commit has written it
        assert flows.now[box, 0][1:] == ["c", "-0.015", "0"]


# --- what a step says -----------------------------------------------------------------------------


def test_the_cell_of_a_new_value_shows_the_change_where_the_value_would_look_like_the_old():
    """The size of a large weight is the same, to four digits, before the step and after it."""
    model = Sequential([Input((20,)), Dense(64, name="wide")])
    model.compile("adam", "mse")
    player = ks.play(model, np.ones((2, 20)), np.zeros((2, 64)))
    flows = LadderFlows(player.picture, player.tape)
    for event in player.tape:
        flows.feed(event)
    size, kind, shape, *_, sign = flows.now["update:wide/kernel", 0]
    assert (kind, shape, sign) == ("i", "(20, 64)", "\u0394")
    assert size == pytest.approx(0.001 * (20 * 64) ** 0.5, rel=0.01)  # Adam's first step
    assert "\u0394" not in flows.now["wide/kernel", 0]
    assert "\u2016\u0394\u2016" in value_label_of(flows.now["update:wide/kernel", 0]).image.name


def test_a_step_tells_its_numbers_and_the_reason(small):
    said = sentences(small)
    for sentence in (
        "The step begins with its inputs: x = [1, 2], sum_target = [3, 2].",
        "hidden takes x = [1, 2], makes [2, -3], and relu gives [2, 0]: numbers below 0 are "
        "silent.",
        "sum adds hidden = [2, 0], twist = [2, 1]: [4, 1].",
        "The loss is 1.",
        "An Add passes its gradient on unchanged: [1, -1] goes to each of hidden, twist.",
        "relu lets 1.5 through and stops -3 where it was silent: [1.5, 0].",
        "In hidden relu lets 1.5 through and stops -3 where it was silent; so d hidden/bias = "
        "[1.5, 0], d hidden/kernel = [[1.5, 0], [3, 0]].",
        "With the gradient [1.5, 0] and the rate 0.01, hidden/bias will change from [0, 0] to "
        "[-0.015, 0].",
    ):
        assert sentence in said


def test_a_gradient_that_is_zero_is_told_as_one():
    x = Input((2,), name="x")
    model = Model(x, Dense(1, activation="softmax", name="y")(Dense(2, name="h")(x)))
    model.compile("sgd", "binary_crossentropy")
    said = sentences(ks.play(model, BATCH[0], np.array([[0.0]])))
    assert any(text.startswith("What arrives at h is exactly 0") for text in said)


def test_an_op_of_two_inputs_says_which_is_which(small):
    said = sentences(small)
    assert "subtract: [4, 1] minus [3, 2] is [1, -1]." in said
    assert "dot: [2, 0] times [[1, 0.5], [-1, 1]], rows by columns, is [2, 1]." in said


def relu_model(bias, last):
    """Return a model of one relu with two units, which is silent below -bias."""
    x = Input((2,), name="x")
    h = Dense(2, activation="relu", name="h")(x)
    model = Model(x, Dense(1, name="y")(h), name="relu")
    model.compile("sgd", "mse")
    model.set_weights([np.eye(2), np.array(bias), np.array(last), np.zeros(1)])
    return model


def test_a_relu_that_is_silent_everywhere_says_so():
    said = sentences(ks.play(relu_model([-9, -9], [[1], [2]]), BATCH[0], np.ones((1, 1))))
    told = next(text for text in said if text.startswith("In h relu"))
    assert told.startswith("In h relu was silent everywhere and stops all, -2, -4; so d h/bias")
    assert "With a gradient of 0, h/kernel stays: [[1, 0], [0, 1]]." in said


def test_great_counts_of_a_relu_are_written_alike_forward_and_backward():
    x = Input((4,))
    model = Model(x, Dense(1500, activation="relu", kernel_initializer="zeros")(x))
    model.compile(SGD(), "mse")
    told = " ".join(sentences(ks.play(model, np.ones((1, 4)), np.ones((1, 1500)))))
    assert "relu silences *1,500* of 1,500" in told or "relu silences 1,500 of 1,500" in told
    assert "1500 " not in told


def test_a_gradient_of_0_that_relu_stops_is_no_missing_one():
    said = sentences(ks.play(relu_model([0, -9], [[1], [0]]), BATCH[0], np.ones((1, 1)) * 3))
    told = next(text for text in said if text.startswith("In h relu"))
    assert told.startswith("In h relu lets -4 through and stops 0 where it was silent")


def test_every_sentence_has_the_same_words_in_both_languages():
    for key, (english, chinese) in SENTENCES.items():
        assert all((english, chinese)), key
        assert set(re.findall(r"{\d}", chinese)) == set(re.findall(r"{\d}", english)), key
        assert english.count("*") == chinese.count("*"), key


def test_what_is_called_inside_a_box_of_the_picture_tells_what_it_takes():
    said = sentences(ks.play(nested_model(), np.ones((1, 4)), np.ones((1, 1))))
    assert any(text.startswith("b takes inner/a = [") for text in said)
    assert not any(" takes ?" in text for text in said)


# --- the page in a browser ------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize(
    "make", [small_model, *(pytest.param(one, marks=pytest.mark.slow) for one in LARGE)]
)
def test_what_is_computed_now_is_in_view_at_every_step(opened, tmp_path, make, viewport):
    model = make()
    path = tmp_path / "step.html"
    batch = np.ones((2, *model.input_shape[1:])), np.ones((2, *model.output_shape[1:]))
    ks.play(model, *batch, path, level="node")
    assert path.stat().st_size < 1_500_000
    page = opened(path, viewport=viewport, reduced_motion="reduce")
    assert page.evaluate(OUT_OF_VIEW) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_box_that_is_computed_now_is_the_one_of_which_the_step_speaks():
    """When a slot took its value, its weight was marked."""
    player = ks.play(small_model("adam"), *BATCH)
    states, spoken = LadderStates(player.picture), set()
    for event in player.tape:
        states.feed(event)
        if event.kind == "update.apply" and event.name != "iterations":
            spoken.add(event.name)
            assert states.focus.removeprefix("slot:") == event.name
    assert len(spoken) == 4 * 3


def layer_from_elsewhere(units):
    return Dense(units)


def test_the_line_of_the_script_is_where_a_layer_is_called_when_it_runs_too():
    """While it ran it was the line inside the function that made the layer."""
    x = Input((2,), name="x")
    layer, last = layer_from_elsewhere(3), layer_from_elsewhere(2)
    y = last(layer(x))  # the line of both calls
    model = Model(x, y)
    model.compile("sgd", "mse")
    for player in (ks.play(model, *BATCH), ks.play(model, BATCH[0])):
        held = re.search(r'id="data">\n(.*?)</script>', player.html, re.DOTALL)
        side = json.loads(held[1])["sides"][0]
        lines = []
        for event, step in zip(player.events, side["steps"], strict=True):
            is_run = event.phase in ("forward", "backward") and "loss" not in event.name
            if is_run and event.kind in ("node", "op") and "dense" in event.name:
                piece, line = step[5]
                lines.append(side["sources"][piece]["lines"][line])
        assert len(lines) >= 2
        assert {line.strip() for line in lines} == {"y = last(layer(x))  # the line of both calls"}


@pytest.mark.browser
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_every_line_of_source_has_a_row_of_its_own(opened, small, tmp_path, viewport):
    """The line after the marked one stood at its end, out of view."""
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path, viewport=viewport)
    page.keyboard.press("ArrowRight")
    rows = page.evaluate("""() => [...document.querySelectorAll(".source code")]
      .filter((code) => code.checkVisibility())
      .map((code) => [...code.children].map((line) => line.getBoundingClientRect().top))""")
    assert rows
    for tops in rows:
        steps = [b - a for a, b in pairwise(tops)]
        assert min(steps) > 8
        assert max(steps) - min(steps) < 4


@pytest.mark.slow
@pytest.mark.browser
def test_keys_work_as_soon_as_the_page_is_open_and_the_address_holds_the_step(
    opened, small, tmp_path
):
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path)
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".count").startswith("2 / ")
    there = page.url
    page.keyboard.press("End")
    assert "The step is done" in page.inner_text(".sentence")
    page.keyboard.press("Home")
    assert page.inner_text(".count").startswith("1 / ")
    page.keyboard.press(" ")
    assert page.get_attribute("[data-do=play]", "aria-label") == "Pause"
    page.keyboard.press(" ")
    assert page.get_attribute("[data-do=play]", "aria-label") == "Play"
    assert opened(path, "#" + there.partition("#")[2]).inner_text(".count").startswith("2 / ")


@pytest.mark.slow
@pytest.mark.browser
def test_call_by_call_the_loss_is_told_between_forward_and_backward(opened, small, tmp_path):
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path)
    told = []
    for _ in range(9):
        page.keyboard.press("ArrowRight")
        told.append(page.inner_text(".sentence"))
    loss = next(i for i, words in enumerate(told) if "loss is" in words)
    assert "gradient" in "".join(told[loss + 1 :])


@pytest.mark.browser
def test_the_cells_of_a_ladder_hold_their_values_and_are_read_aloud(opened, small, tmp_path):
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path)
    page.keyboard.press("End")
    values = page.locator(".flows .cells").evaluate_all(
        """all => all.map((one) => {
            const [a, b] = [one.getBoundingClientRect(), document.querySelector(
                '.box[data-id="update:twist/bias"] .line').getBoundingClientRect()];
            const inside = a.left >= b.left && a.right <= b.right && a.top >= b.top - 1
              && a.bottom <= b.bottom + 1;
            return inside ? [...one.querySelectorAll("text")].map((t) => t.textContent).join() : "";
        }).filter(Boolean)"""
    )
    assert values == ["\u22120.01,0.01"]
    assert page.get_attribute(".box[data-id=x]", "aria-label") == "x, InputLayer, (None, 2), done"
    label = page.get_attribute('.box[data-id="update:twist/bias"]', "aria-label")
    assert "\u2588" not in page.content()  # what keeps the places of values
    assert "twist/bias" in label
    assert label.endswith(": done")


@pytest.mark.browser
def test_values_lie_on_the_arrows_and_zero_is_a_broken_line(opened, tmp_path):
    x = Input((2,), name="x")
    model = Model(x, Dense(1, activation="softmax", name="y")(Dense(2, name="h")(x)), name="dead")
    model.compile("sgd", "binary_crossentropy")
    path = tmp_path / "dead.html"
    ks.play(model, BATCH[0], np.array([[0.0]]), path)
    page = opened(path)
    page.keyboard.press("End")
    cells = page.locator(".cells.way0 text").all_text_contents()
    assert cells[:2] == ["1", "2"]
    assert page.locator(".gradient.zero").count() >= 1
    dashes = "getComputedStyle(document.querySelector('.gradient.zero')).strokeDasharray"
    assert page.evaluate(dashes) not in ("none", "")


# --- frames that open while it plays --------------------------------------------------------------


def nested_model():
    inside = Input((4,), name="i")
    hidden = Dense(4, name="a")(inside)
    inner = Model(inside, Dense(3, activation="relu", name="b")(hidden), name="inner")
    x = Input((4,), name="x")
    model = Model(x, Dense(1, name="y")(inner(x)), name="outer")
    model.compile("sgd", "mse")
    return model


STATES = """() => Object.fromEntries([...document.querySelectorAll("g.box")]
  .map((box) => [box.dataset.id, box.dataset.state]))"""


def to_step(page, number):
    page.locator("#moment").fill(str(number))


def steps_of(player, **wanted):
    """Return the numbers of the steps with these facts."""
    events = enumerate(player.events)
    return [i for i, e in events if all(getattr(e, key) == x for key, x in wanted.items())]


@pytest.mark.browser
def test_a_nested_model_opens_while_it_plays_and_its_values_lie_on_the_arrows_inside(
    opened, tmp_path
):
    player = ks.play(nested_model(), np.ones((1, 4)))
    player.save(tmp_path / "step.html")
    page = opened(tmp_path / "step.html")
    to_step(page, steps_of(player, kind="node", name="b", ph="E")[0])
    shut = page.locator(".flows .cells").count()
    assert page.locator("g.box.focus").get_attribute("data-id") == "inner"
    page.locator("g.box[data-id=inner]").click()
    states = page.evaluate(STATES)
    assert {"inner/a", "inner/b"} <= set(states)
    assert (states["inner/i"], states["inner/a"], states["inner/b"]) == ("2", "2", "2")
    assert page.locator("g.box.focus").get_attribute("data-id") == "inner/b"
    assert page.locator(".flows .cells").count() == shut + 1  # what lies between a and b
    assert "inner/a" in page.inner_text(".told")
    listed = page.locator(".listed li").count()
    assert listed == len(states) == 5
    page.locator(".frame-title .title").click()
    assert page.locator(".flows .cells").count() == shut
    assert set(page.evaluate(STATES)) == {"x", "inner", "y"}


@pytest.mark.slow
@pytest.mark.browser
def test_a_closed_frame_is_now_until_the_last_of_what_it_hides_is_done(
    opened, tmp_path, monkeypatch
):
    monkeypatch.setattr("kerascope.player.step_ladder.MOST_OPEN", 12)
    player = ks.play(deep_model(), np.ones((2, 8)), np.ones((2, 1)), tmp_path / "step.html")
    page = opened(tmp_path / "step.html")
    names = [event.name for event in player.events if event.kind == "node"]
    whole, shown = player.picture.whole, {node.id for node in player.picture.graph.nodes}
    hiding = hiding_of(whole, player.picture.closed)
    hidden: list[str] = []
    for frame in sorted(group.id for group in whole.groups if group.id in shown):
        found = [node.id for node in whole.nodes if hiding[node.group] == frame]
        hidden = max(hidden, [one for one in found if one in names], key=len)
    assert len(hidden) > 2
    frame = hiding[whole.node(hidden[0]).group]
    ends = {"kind": "node", "phase": "forward", "ph": "E"}
    for name, state in ((hidden[0], "1"), (hidden[-2], "1"), (hidden[-1], "2")):
        to_step(page, steps_of(player, name=name, **ends)[0])
        assert page.evaluate(STATES)[frame] == state, name
    page.keyboard.press("End")
    assert set(page.evaluate(STATES).values()) == {"2"}
    page.click("#expand-all")
    states = page.evaluate(STATES)
    assert set(hidden) <= set(states)
    assert set(states.values()) == {"2"}


@pytest.mark.slow
@pytest.mark.browser
def test_search_and_details_are_those_of_a_picture_and_keys_still_step(opened, tmp_path):
    player = ks.play(nested_model(), np.ones((1, 4)))
    player.save(tmp_path / "step.html")
    page = opened(tmp_path / "step.html")
    page.keyboard.press("/")
    page.keyboard.type("inner/b")
    assert page.inner_text("#count") == "1 of 1"
    assert page.locator("g.box.found").get_attribute("data-id") == "inner/b"
    page.keyboard.press("Escape")
    page.locator("g.box[data-id='inner/b']").click()
    assert "15" in page.inner_text("#details")
    before = page.input_value("#moment")
    page.keyboard.press("ArrowRight")
    assert page.input_value("#moment") != before
    page.keyboard.press("ArrowUp")
    focused = page.evaluate("document.activeElement.dataset.id")
    assert focused == "inner/a"
    page.keyboard.press("Backspace")
    assert set(page.evaluate(STATES)) == {"x", "inner", "y"}
    page.click("label:has(#language-zh)")
    page.locator("g.box[data-id=y]").click()
    assert "输入来自" in page.inner_text("#details")
    assert page.inner_text("#fit") == "适合"


@pytest.mark.slow
@pytest.mark.browser
def test_a_size_that_the_reader_chose_stays_while_it_plays(opened, small, tmp_path):
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path, viewport=DESK, reduced_motion="reduce")
    page.click("#zoom-in")
    chosen = page.evaluate("kerascopeViewer.view.zoom")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert page.evaluate("kerascopeViewer.view.zoom") == chosen
    page.keyboard.press("Home")
    assert page.evaluate(OUT_OF_VIEW) == []


def test_the_page_of_a_picture_is_that_of_a_step_with_parts_left_out(small):
    model = small_model()
    picture, step = ks.draw(model, level="training").html, ks.play(model, BATCH[0]).html
    node = ks.draw(model).html
    for name in page_module.SCRIPTS:
        assert page_module.lean(page_module.part(f"{name}.js")) in picture, name
        assert page_module.lean(page_module.part(f"{name}.js")) in step, name
    tools = re.compile(r'<button id="([\w-]+)"')
    assert tools.findall(node) == tools.findall(step)
    for only in ('id="moment"', 'class="tables"', 'class="told"', 'id="language-zh"'):
        assert only in step
        assert only not in node


@pytest.mark.slow
@pytest.mark.browser
def test_the_first_table_is_in_view_unless_a_later_one_has_new_rows(opened, small, tmp_path):
    """What is new is scrolled to for its step alone; what the reader scrolled to stays."""
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path)
    where = "document.querySelector('.tables').scrollTop"
    page.select_option("#unit", "all")
    places = dict(enumerate(page.evaluate(NEW_AND_PLACE)))
    assert {place for new, place in places.values() if not new} == {0}
    assert any(place > 0 for _, place in places.values())  # some are further down
    page.evaluate(f"{where} = 40")
    page.locator("#moment").fill(str(next(m for m, (new, _) in places.items() if not new)))
    assert page.evaluate(where) == 40


@pytest.mark.slow
@pytest.mark.browser
def test_a_step_makes_only_that_anew_which_changes(opened, tmp_path):
    """Of a large net there are thousands of rows: to make all of them took two seconds a step."""
    path = tmp_path / "step.html"
    ks.play(deep_model(), np.ones((2, 8)), np.ones((2, 1)), path)
    page = opened(path, viewport=DESK)
    mark = "all => { for (const one of all) one.isOld = true; return all.length; }"
    count = "all => all.filter((one) => !one.isOld).length"
    page.keyboard.press("End")
    for key in ("ArrowLeft", "ArrowRight"):
        rows, flows = page.locator(".tables tr"), page.locator(".flows > g")
        assert rows.evaluate_all(mark) > 100
        assert flows.evaluate_all(mark) > 20
        page.keyboard.press(key)
        assert rows.evaluate_all(count) < 10
        assert flows.evaluate_all(count) < 10


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_control_has_a_name_and_the_language_is_the_readers(opened, small, tmp_path, scheme):
    path = tmp_path / "step.html"
    small.save(path)
    page = opened(path, color_scheme=scheme, viewport=PHONE)
    assert page.evaluate(NAMELESS) == []
    headings = page.locator("h1, h2, h3, h4").evaluate_all(
        "all => all.map((one) => +one.tagName[1])"
    )
    assert set(headings) == {1, 2}  # none is skipped
    assert "call" in page.locator("option").all_inner_texts()
    page.click("label:has(#language-zh)")
    page.keyboard.press("End")
    assert "这一步完成了" in page.inner_text(".sentence")
    units = page.locator("option").all_inner_texts()
    assert "调用" in units
    assert "call" not in units


@pytest.mark.slow
@pytest.mark.browser
def test_two_tapes_are_played_side_by_side_and_linked_in_time(opened, tmp_path):
    left, right = small_model(), small_model("adam")
    path = tmp_path / "two.html"
    ks.play(left, *BATCH, path, beside=right, names=("sgd", "adam"))
    page = opened(path)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    first, second = page.locator(".told").all_inner_texts()
    assert first == second != ""


@pytest.mark.parametrize(
    ("names", "called"),
    [(("soft", "hard"), ["soft", "hard"]), (("same", "same"), ["left", "right"])],
)
def test_two_sides_are_called_as_their_models_where_these_differ(names, called):
    models = []
    for name in names:
        model = Sequential([Dense(1, input_shape=(3,), name="d")], name=name)
        model.compile("sgd", "mse")
        models.append(model)
    batch = np.ones((2, 3)), np.ones((2, 1))
    player = ks.play(models[0], *batch, beside=models[1])
    assert [name["en"] for name in player.names] == called


# --- the command ----------------------------------------------------------------------------------


def run(*words, folder):
    command = [sys.executable, "-m", "kerascope", "play", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_command_plays_the_first_step_of_a_script(tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    done = run("train.py", "-o", "page.html", "data.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "arguments ['data.csv']"
    assert re.match(r"wrote page\.html: \d+ events · 28 boxes", done.stdout.splitlines()[1])
    assert "<title>train.py</title>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_script_that_builds_nothing_leaves_no_page(tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n", encoding="utf-8")
    done = run("empty.py", folder=tmp_path)
    assert done.returncode == 1
    assert "built no model" in done.stderr
    assert not (tmp_path / "empty.html").exists()
