"""A step as a picture that moves and as a strip of still ones: SVG without a script."""

import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from browser import OpenPage, browser

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.layers import Add, BatchNormalization, Dense, Input
from kerascope.models import Model
from kerascope.player.captions import Narrator
from kerascope.player.sentences import SENTENCES

BATCH = np.array([[1.0, 2.0]]), np.array([[3.0, 2.0]])
LANES = ["forward", "loss", "backward", "update", "commit"]
SVG = "{http://www.w3.org/2000/svg}"
# Of a moment of the loop: which sentences, flags and boxes are seen, and what is still to come.
SEEN = """(share) => {
  const moves = document.getAnimations();
  for (const one of moves) {
    one.pause();
    one.currentTime = share * one.effect.getTiming().duration;
  }
  const count = (kind) => [...document.querySelectorAll(kind)].filter((one) => {
    for (let at = one; at; at = at.parentElement)
      if (+getComputedStyle(at).opacity < 0.5) return false;
    return true;
  }).length;
  return {moving: moves.length, lane: count(".lane"), flag: count(".flag"),
    todo: count(".todo"), chip: count(".chip"), written: count(".rewritten")};
}"""


def small_model(optimizer="sgd"):
    x = Input((2,), name="x")
    hidden = Dense(2, activation="relu", name="hidden")(x)
    twist = Dense(2, name="twist")(hidden)
    model = Model(x, Add(name="sum")([hidden, twist]), name="small")
    model.compile(optimizer, "mse")
    model.set_weights([[[1, -1], [0.5, -1]], [0, 0], [[1, 0.5], [-1, 1]], [0, 0]])
    return model


def chain(layers):
    x = h = Input((2,), name="x")
    for number in range(layers):
        h = Dense(2 + number % 3, name=f"d{number}")(h)
    model = Model(x, Dense(2, name="last")(h), name="chain")
    model.compile("sgd", "mse")
    return model


@pytest.fixture(scope="module")
def small():
    return ks.play(small_model(), *BATCH)


def beats(svg):
    """Return the lane and the sentence of each beat, which the description tells."""
    told = re.search("<desc>(.*?)</desc>", svg, re.S)[1]
    return [tuple(one.split(": ", 1)) for one in re.split(r"; (?=\w+: )", told)]


def texts(svg, kind):
    return [one.text for one in ET.fromstring(svg).iter(f"{SVG}text") if one.get("class") == kind]


# --- what it tells --------------------------------------------------------------------------------


def test_each_call_is_a_beat_forward_and_back_and_each_card_is_one(small):
    found = beats(small.svg)
    assert [lane for lane, _ in found] == [
        *["forward"] * 4, "loss", *["backward"] * 3, *["update"] * 2, "commit",
    ]  # fmt: skip
    sentences = [told for _, told in found]
    assert sentences[1].startswith("hidden takes x = [1, 2], makes [2, \u22123], and relu gives")
    assert sentences[4] == "The loss is 1."
    assert sentences[7].startswith("In hidden relu lets 1.5 through and stops \u22123")
    assert sentences[8].endswith("Likewise hidden/bias.")


def test_the_sentences_are_those_of_the_page(small):
    narrator = Narrator({})
    keys = {narrator.tell(event)[0] for event in small.tape}
    begins = {SENTENCES[key][0].split("{")[0][:12] for key in keys}
    for _, sentence in beats(small.svg):
        assert any(sentence.startswith(words) for words in begins)


def test_what_a_call_gives_lies_on_its_arrows(small):
    numbers = texts(small.svg, "chip-text")
    # x, hidden on both of its ways, twist, the sum; then the gradients of the sum and of twist
    forward = [["1", "2"], ["2", "0"], ["2", "0"], ["2", "1"], ["4", "1"]]
    back = [["1", "\u22121"], ["1", "\u22121"]]
    pairs = [numbers[i : i + 2] for i in range(0, len(numbers), 2)]
    assert sorted(pairs) == sorted(forward + back)


def test_a_weight_says_what_it_is_before_the_commit_and_after_it(small):
    said = texts(small.svg, "quiet")
    assert said.count("\u2016w\u2016 0") == 2  # two biases, which the step moves
    assert "\u2016w\u2016 0.015" in said
    assert small.svg.count("rewritten") == 8  # four weights, and what SGD remembers of each


def test_it_has_no_script_and_is_the_same_each_time(small):
    assert "<script" not in small.svg
    assert " on" not in re.sub(">[^<]*<", "><", small.svg.split("</style>")[1])
    again = ks.play(small_model(), *BATCH)
    assert again.svg == small.svg
    assert again.strip == small.strip


def test_the_model_is_as_before(small):
    model = small_model("adam")
    before = model.get_weights()
    assert "Adam" in ks.play(model, *BATCH).svg
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_shared_layer_and_averages_that_a_layer_writes_have_their_beats():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    enc = Dense(2, name="enc")
    h = BatchNormalization(name="norm")(Add(name="sum")([enc(a), enc(b)]))
    model = Model([a, b], h, name="shared")
    model.compile("sgd", "mse")
    svg = ks.play(model, [BATCH[0], BATCH[0]], BATCH[1]).svg
    update = [told for lane, told in beats(svg) if lane == "update"]
    assert len(update) == 2
    assert "norm/moving_mean" in update[1]
    # Nothing is there from the first moment but weights, slots and the names of things.
    static = re.sub(r'<g class="moves.*?</g></g>|<g class="moves.*?</g>', "", svg, flags=re.S)
    assert 'class="box k-gradient' not in static
    assert 'class="box k-dense' not in static


def test_a_forward_pass_alone_is_drawn_without_rails():
    svg = ks.play(small_model(), BATCH[0]).svg
    assert {lane for lane, _ in beats(svg)} == {"forward"}
    assert "backward" not in svg.split("</style>")[1]


def test_many_beats_are_thinned_and_the_picture_says_so():
    svg = ks.play(chain(12), BATCH[0], np.ones((1, 2))).svg
    found = beats(svg)
    assert len(found) <= 30
    assert {lane for lane, _ in found} == set(LANES)
    assert re.search(r"thinned: \d+ steps in \d+ beats", svg)
    assert "others come with it" in found[2][1]


def test_a_closed_frame_is_one_beat():
    x = h = Input((2,), name="x")
    for number in range(30):
        h = Dense(2, name=f"d{number}")(h)
    model = Model(x, h, name="deep")
    model.compile("sgd", "mse")
    svg = ks.play(model, *BATCH).svg
    assert "some calls folded into frames" in svg
    assert ("forward", "d0 … d29: its 30 calls are computed.") in beats(svg)


def test_it_speaks_chinese_too(small, tmp_path):
    small.save(tmp_path / "step.svg", language="zh")
    svg = (tmp_path / "step.svg").read_text(encoding="utf-8")
    assert ("损失", "损失是 1。") in beats(svg)


# --- how it moves ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.fixture
def opened(chromium, small, tmp_path):
    found = []

    def open_svg(**options):
        path = tmp_path / "step.svg"
        small.save(path)
        found.append(OpenPage(chromium, path, **options))
        return found[-1].page

    yield open_svg
    for one in found:
        assert len(set(one.requests)) == 1
        assert one.complaints == []
        one.close()


@pytest.mark.slow
@pytest.mark.browser
def test_at_each_moment_one_sentence_is_seen_and_what_was_done_stays(opened):
    page = opened()
    moments = [page.evaluate(SEEN, share / 40) for share in range(1, 39)]
    assert all(one["lane"] == 1 and one["flag"] >= 1 for one in moments)
    for before, after in pairwise(moments):
        assert after["todo"] <= before["todo"]
        assert after["chip"] >= before["chip"]
    assert moments[0]["todo"] == 16
    assert moments[0]["written"] == 0
    assert (moments[-1]["todo"], moments[-1]["written"]) == (0, 8)


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_who_wants_no_motion_sees_the_whole_step(opened, scheme):
    page = opened(reduced_motion="reduce", color_scheme=scheme)
    seen = page.evaluate(SEEN, 0)
    assert seen == {"moving": 0, "lane": 1, "flag": seen["flag"], "todo": 0,
                    "chip": seen["chip"], "written": 8}  # fmt: skip
    assert seen["chip"] == 14
    ground = "getComputedStyle(document.querySelector('.ground')).fill"
    assert page.evaluate(ground) == (
        "rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 24, 29)"
    )


# --- the strip ------------------------------------------------------------------------------------


def test_a_strip_has_a_picture_for_the_end_of_each_lane(small):
    assert texts(small.strip, "lane") == LANES
    assert "@keyframes" not in small.strip
    pictures = small.strip.split('class="lane"')[1:]
    todo = [one.count("todo") for one in pictures]
    assert todo == sorted(todo, reverse=True)
    assert todo[-1] == 0
    assert [one.count("rewritten") for one in pictures] == [0, 0, 0, 0, 8]


# --- files ----------------------------------------------------------------------------------------


def test_the_name_of_the_file_says_what_is_written(tmp_path):
    model = small_model()
    for name, mark in (("a.html", "<!DOCTYPE html>"), ("a.svg", "@keyframes"),
                       ("a.strip.svg", "<svg")):  # fmt: skip
        ks.play(model, *BATCH, to=tmp_path / name)
        assert mark in (tmp_path / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["step.png", "step", ".svg", ".gif"])
def test_another_name_is_refused_before_anything_runs(tmp_path, name, monkeypatch):
    model = small_model()
    monkeypatch.setattr(model, "train_on_batch", None)
    with pytest.raises(ArgumentError, match=r"step\.svg .*step\.strip\.svg"):
        ks.play(model, *BATCH, to=tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_two_sides_an_unknown_language_and_no_picture_are_refused(small, tmp_path):
    both = ks.play(small_model(), *BATCH, beside=small_model("adam"))
    with pytest.raises(ArgumentError, match="expected one side for an SVG"):
        both.save(tmp_path / "a.svg")
    with pytest.raises(ArgumentError, match="expected a language of en, zh"):
        small.save(tmp_path / "a.svg", language="de")
    with pytest.raises(ArgumentError, match="shows one run of a model"):
        ks.play(small_model(), *BATCH, graph=False).save(tmp_path / "a.svg")
    assert not list(tmp_path.iterdir())


def test_the_command_writes_one_of_a_script(tmp_path):
    (tmp_path / "train.py").write_text(
        "import numpy as np\nfrom keras.layers import Dense\nfrom keras.models import Sequential\n"
        "model = Sequential([Dense(3, input_shape=(2,), name='h'), Dense(1, name='y')])\n"
        "model.compile('sgd', 'mse')\n"
        "model.fit(np.ones((8, 2)), np.ones((8, 1)), batch_size=2, epochs=2, verbose=0)\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "kerascope", "play", "train.py", "-o"]
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "check": False}
    done = subprocess.run([*command, "step.svg"], **options)
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "step.svg").read_text(encoding="utf-8")
    assert [lane for lane, _ in beats(svg)].count("backward") == 2
    refused = subprocess.run([*command, "step.png"], **options)
    assert refused.returncode == 2
    assert "step.strip.svg" in refused.stderr
