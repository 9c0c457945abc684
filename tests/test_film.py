"""`ks.play(model, x, y, steps=50)`: a training as a film, and the images on its arrows."""

import base64
import io
import re
import struct
import sys
import zlib
from itertools import pairwise

import numpy as np
import pytest
from browser import OpenPage, browser, wait_until

import kerascope as ks
from kerascope.cli import main
from kerascope.datasets import digits
from kerascope.errors import ArgumentError, MissingToolError, NotCompiledError
from kerascope.layers import (
    Conv2D,
    Dense,
    Embedding,
    Flatten,
    Input,
    MaxPooling2D,
    MultiHeadAttention,
)
from kerascope.models import Model, Sequential
from kerascope.player.flows import ATTENTION, FORWARD, GRADIENT, levels_of, spec_of
from kerascope.player.step_ladder import LadderFlows

(IMAGES, CLASSES), _ = digits.load_data()
X, Y = IMAGES[:8].reshape(-1, 8, 8, 1) / 16.0, CLASSES[:8]


def cnn():
    model = Sequential(name="digits")
    model.add(Conv2D(3, 3, activation="relu", input_shape=(8, 8, 1), name="edges"))
    model.add(MaxPooling2D(2, name="pool"))
    model.add(Flatten(name="flat"))
    model.add(Dense(10, activation="softmax", name="scores"))
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


def gpt():
    tokens = Input((12,), dtype="int32", name="tokens")
    h = Embedding(20, 16, name="embedding")(tokens)
    h = MultiHeadAttention(2, 8, name="attention")(h, h, use_causal_mask=True)
    model = Model(tokens, Dense(20, activation="softmax", name="scores")(h), name="gpt")
    model.compile("adam", "sparse_categorical_crossentropy")
    return model


TOKENS = np.arange(24).reshape(2, 12) % 20


@pytest.fixture(scope="module")
def film():
    return ks.play(cnn(), X, Y, steps=6)


# --- images ---------------------------------------------------------------------------------------


def numbers_of(spec, image=0):
    """Return the numbers that an image shows, as a share of the largest."""
    _, kind, _, letter, columns, *texts = spec
    assert (kind, letter) == ("i", "d")
    return (levels_of(texts[image], columns) - 125.0) / 125


def test_the_images_show_the_maps_of_the_first_sample_and_the_filters():
    model = cnn()
    with ks.trace(model) as tape:
        model.train_on_batch(X, Y)
    player = ks.play(tape, graph=model)
    flows = LadderFlows(player.picture, tape)
    for event in tape:
        flows.feed(event)
    result = {
        delta.key: np.asarray(delta.value[0] if isinstance(delta.value, tuple) else delta.value)
        for event in tape for delta in event.deltas
        if delta.name in ("tensor_map", "grads") and delta.key and event.act == "function"
    }  # fmt: skip
    gradient = result["edges/kernel"]
    for image in range(3):
        own = gradient[:, :, 0, image]
        shown = numbers_of(flows.now["grad:edges/kernel", GRADIENT], image)
        np.testing.assert_allclose(shown, own / np.abs(own).max(), atol=0.02)
    kernel = model.get_weights()[0][:, :, 0, 1]
    shown = numbers_of(flows.now["edges/kernel", FORWARD], 1)
    np.testing.assert_allclose(shown, kernel / np.abs(kernel).max(), atol=0.02)
    assert flows.now["edges_input", FORWARD][3] == "g"  # a grey digit
    assert [len(flows.now[box, FORWARD]) - 5 for box in ("edges", "pool", "flat")] == [3, 3, 1]


def test_attention_has_a_causal_map_for_each_head():
    player = ks.play(gpt(), TOKENS, TOKENS[..., None])
    flows = LadderFlows(player.picture, player.tape)
    for event in player.events:
        flows.feed(event)
    heads = [numbers_of(flows.now["attention", ATTENTION], head) for head in range(2)]
    assert [head.shape for head in heads] == [(12, 12)] * 2
    assert all((head[np.triu_indices(12, 1)] == 0).all() for head in heads)
    assert all(head[0, 0] == 1 for head in heads)


def test_nan_and_infinite_numbers_are_marked_and_large_arrays_are_thinned():
    value = np.zeros((10, 10))
    value[0, :3] = np.nan, np.inf, -np.inf
    size, kind, *_, text = spec_of(value)
    assert (size, kind, text[:4]) == (None, "i", "!+-V")
    assert len(spec_of(np.zeros((500, 700)))[-1]) <= 32 * 32
    assert spec_of(np.zeros((3, 4, 4, 4, 4)))[1] == "b"


def test_a_long_vector_is_an_image_that_is_as_high_as_a_dot_in_its_cell():
    vector = np.linspace(-1, 1, 64)
    spec = spec_of(vector, "weight")
    assert (spec[1], spec[4]) == ("i", 64)
    np.testing.assert_allclose(numbers_of(spec)[0], vector, atol=0.02)
    assert spec_of(vector[:16], "weight")[1] == "h"
    model = Sequential([Dense(64, input_shape=(3,), name="d"), Dense(1)])
    model.compile("sgd", "mse")
    svg = ks.play(model, np.ones((2, 3)), np.ones((2, 1)), steps=2).svg
    tags = re.findall(r'<image[^>]*data-name="\(64,\)[^>]*>', svg)
    sizes = [[float(re.search(rf' {side}="([\d.]+)"', tag)[1]) for side in ("width", "height")]
             for tag in tags]  # fmt: skip
    assert sizes
    assert all(50 < wide <= 64 and high > 4.5 for wide, high in sizes)


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.mark.browser
@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize(
    ("make", "x", "y"),
    [(cnn, X, Y), pytest.param(gpt, TOKENS, TOKENS[..., None], marks=pytest.mark.slow)],
)
def test_a_page_has_images_on_its_arrows_in_both_themes(make, x, y, size, chromium, tmp_path):
    path = tmp_path / "step.html"
    ks.play(make(), x, y, to=path)
    assert path.stat().st_size < 600_000
    one = OpenPage(chromium, path, viewport={"width": size[0], "height": size[1]})
    page = one.page
    wait_until(page, "document.querySelector('.runs') !== null")
    page.keyboard.press("End")
    hrefs = "[...document.querySelectorAll('.flows image')].map((x) => x.getAttribute('href'))"
    light = page.evaluate(hrefs)
    assert len(light) > 10
    assert all(href.startswith("data:image/png;base64,") for href in light)
    page.evaluate("document.getElementById('theme').click()")
    dark = page.evaluate(hrefs)
    assert len(dark) == len(light)
    assert dark != light
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert one.complaints == []
    one.close()


# --- the film -------------------------------------------------------------------------------------


def losses_by_hand(model, steps):
    return [float(model.train_on_batch(X, Y)) for _ in range(steps)]


def test_the_losses_are_those_of_a_training_and_the_model_is_as_before():
    model = cnn()
    model.train_on_batch(X, Y)
    before = [*model.get_weights(), *model.optimizer.get_weights()]
    film = ks.play(model, X, Y, steps=4)
    after = [*model.get_weights(), *model.optimizer.get_weights()]
    assert all(map(np.array_equal, before, after))
    assert [frame.loss for frame in film.frames] == losses_by_hand(model, 4)


@pytest.mark.slow
def test_a_gif_has_a_frame_for_each_step(film, tmp_path):
    images = pytest.importorskip("PIL.Image")
    film.save(tmp_path / "training.gif")
    data = (tmp_path / "training.gif").read_bytes()
    assert len(data) < 300_000
    gif = images.open(io.BytesIO(data))
    assert (gif.n_frames, gif.info["loop"]) == (6, 0)
    frames = []
    for place in range(6):
        gif.seek(place)
        frames.append(np.asarray(gif.convert("RGB")))
    assert all((one != other).any() for one, other in pairwise(frames))


def test_the_svg_has_no_script_and_shows_each_loss(film):
    svg = film.svg
    assert "<script" not in svg
    assert "prefers-reduced-motion" in svg
    losses = [float(found) for found in re.findall(r">loss ([\d.]+)<", svg)]
    assert losses == pytest.approx([frame.loss for frame in film.frames], rel=1e-3)
    assert re.findall(r">step (\d) of 6<", svg) == list("123456")


def test_a_training_with_nan_is_a_film_that_says_so():
    x = X.copy()
    x[0, 4, 4, 0] = np.nan
    svg = ks.play(cnn(), x, Y, steps=2).svg
    assert svg.count(">loss NaN<") == 2
    assert 'data-name="(8, 6, 6, 3)' in svg
    assert "NaN/Inf!" in svg


def test_an_image_of_the_film_shows_the_pixels_of_its_map(film):
    spec = film.frames[-1].values["edges/kernel", FORWARD]
    levels = np.hstack([levels_of(text, 3) for text in spec[5:]])
    name = f"{spec[2]} \N{DOUBLE VERTICAL LINE}\N{MIDDLE DOT}\N{DOUBLE VERTICAL LINE} {spec[0]:.4g}"
    last = film.svg.partition('class="moves m5 last"')[2]
    found = re.search(rf'data-name="{re.escape(name)}"[^>]*base64,([^"]+)"', last)
    png = base64.b64decode(found[1])
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT")
    length = struct.unpack(">I", png[start - 4 : start])[0]
    pixels = zlib.decompress(png[start + 4 : start + 4 + length])
    rows = np.frombuffer(pixels, "uint8").reshape(height, width + 1)[:, 1:]
    assert (width, height) == (11, 3)  # three filters with a line between two
    shades = np.delete(rows, [3, 7], axis=1)
    assert len(np.unique(shades)) == len(np.unique(levels))
    assert (
        np.argsort(shades.ravel(), kind="stable") == np.argsort(levels.ravel(), kind="stable")
    ).all()


@pytest.mark.browser
def test_one_frame_of_the_svg_is_visible_at_a_time_and_the_last_without_animation(
    film, chromium, tmp_path
):
    film.save(tmp_path / "training.svg")
    visible = (
        "[...document.querySelectorAll('.moves')]"
        ".filter((x) => getComputedStyle(x).visibility === 'visible')"
        ".map((x) => x.className.baseVal)"
    )
    one = OpenPage(chromium, tmp_path / "training.svg")
    assert len(one.page.evaluate(visible)) == 1
    one.close()
    one = OpenPage(chromium, tmp_path / "training.svg", reduced_motion="reduce")
    assert one.page.evaluate(visible) == ["moves m5 last"]
    one.close()


def test_a_recorded_fit_is_a_film_of_its_batches(tmp_path):
    with ks.trace() as tape:
        model = cnn()
        model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    film = ks.play(tape, graph=model, steps=3)
    assert len(film.frames) == 3
    ks.play(tape, graph=model, steps=10, to=tmp_path / "all.svg")
    assert ">step 4 of 4<" in (tmp_path / "all.svg").read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.live
def test_a_live_model_of_keras_3_has_a_film_and_is_not_changed():
    keras = pytest.importorskip("keras", minversion="3")
    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(2, name="d")])
    model.compile("sgd", "mse")
    before = model.get_weights()
    film = ks.play(model, np.ones((2, 4)), np.zeros((2, 2)), steps=3)
    losses = [frame.loss for frame in film.frames]
    assert losses[0] > losses[1] > losses[2]
    assert all(map(np.array_equal, before, model.get_weights()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": 3, "to": "film.html"}, r"training\.gif or training\.svg"),
        ({"to": "film.gif"}, "steps=50"),
        ({"steps": 0}, "expected a number such as 50, got 0"),
        ({"steps": 2, "beside": {"lr": 0.1}}, "a film has no beside"),
        ({"steps": 2, "level": "op"}, "a film has no level"),
    ],
)
def test_a_film_that_cannot_be_made_is_explained(options, message, tmp_path, monkeypatch):
    if options.get("to") == "film.gif":
        pytest.importorskip("PIL")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=message):
        ks.play(cnn(), X, Y, **options)
    assert not list(tmp_path.iterdir())


def test_a_gif_without_pil_is_refused_before_a_step_runs(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingToolError, match=r"kerascope\[image\]'. An .svg does"):
        ks.play(None, steps=3, to="film.gif")
    (tmp_path / "train.py").write_text("open('ran', 'w')", encoding="utf-8")
    assert main(["play", "train.py", "-o", "film.gif"]) == 2
    assert not (tmp_path / "ran").exists()


def test_a_film_needs_a_compiled_model_and_a_tape_with_steps():
    model = Sequential([Dense(1, input_shape=(2,))])
    with pytest.raises(NotCompiledError, match="has no loss"):
        ks.play(model, np.ones((1, 2)), np.ones((1, 1)), steps=2)
    with ks.trace(model) as tape:
        model.predict(np.ones((1, 2)))
    with pytest.raises(ArgumentError, match="expected training steps"):
        ks.play(tape, graph=model, steps=2)
