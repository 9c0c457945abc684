"""`history.plot()`, `tape.plot(...)`, `tape.gradient_flow()`: read back from their SVG."""

import base64
import io
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

import kerascope as ks
from kerascope.callbacks import History
from kerascope.errors import ArgumentError, MissingToolError
from kerascope.layers import Dense, Input
from kerascope.models import Model

SVG = "{http://www.w3.org/2000/svg}"


# --- an independent reader ------------------------------------------------------------------------


def lines_of(picture):
    """Return the numbers of each curve of a picture with one scale, by the words at its ticks."""
    root = ElementTree.fromstring(picture.svg)
    texts = list(root.iter(f"{SVG}text"))
    upward = [(float(t.get("y")) - 3, float(t.text)) for t in texts
              if t.get("text-anchor") == "end"]  # fmt: skip
    is_log = "log scale" in picture.svg
    heights, values = zip(*upward, strict=True)
    slope, start = np.polyfit(heights, np.log10(values) if is_log else values, 1)
    across = [(float(t.get("x")), float(t.text)) for t in texts
              if t.get("text-anchor") == "middle" and t.text.isdigit()]  # fmt: skip
    step, first = np.polyfit(*zip(*across, strict=True), 1)
    found = {}
    for line in root.iter(f"{SVG}path"):
        if line.get("data-name"):
            points = [tuple(map(float, p.split(","))) for p in line.get("d")[1:].split("L")]
            for x, y in points:
                number = start + slope * y
                place = round(first + step * x)
                found.setdefault(line.get("data-name"), {})[place] = (
                    10**number if is_log else number
                )
    return found


def history_of(**logs):
    history = History()
    for epoch in range(max(map(len, logs.values()))):
        history.on_epoch_end(epoch, {name: x[epoch] for name, x in logs.items()})
    return history


# --- epochs ---------------------------------------------------------------------------------------


def test_the_curves_of_a_history_are_its_numbers():
    logs = {"loss": [3.0, 2.0, 1.5, 1.25], "val_loss": [3.5, 2.5, 2.5, 2.75]}
    found = lines_of(history_of(**logs).plot())
    for name, numbers in logs.items():
        assert found[name] == pytest.approx(dict(enumerate(numbers)), abs=0.01)


def test_powers_of_ten_are_drawn_as_equal_steps():
    numbers = [1000.0, 10.0, 1.0, 0.01]
    found = lines_of(history_of(loss=numbers).plot(log=True))
    assert found["loss"] == pytest.approx(dict(enumerate(numbers)), rel=0.02)


def test_fit_gives_a_history_that_draws_itself_with_its_validation(tmp_path):
    x, y = np.random.default_rng(0).normal(size=(2, 40, 3))
    inputs = Input((3,))
    model = Model(inputs, Dense(3, name="d")(inputs))
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(x, y, epochs=3, validation_split=0.25, verbose=0)
    picture = history.plot("mae" if "mae" in history.history else "mean_absolute_error")
    (name,) = [n for n in lines_of(picture) if not n.startswith("val_")]
    assert lines_of(picture)[name] == pytest.approx(
        dict(enumerate(history.history[name])), abs=0.01
    )
    whole = history.plot()
    for metric in history.history:
        assert f'data-name="{metric}"' in whole.svg
        assert metric in whole.text()
    for suffix in ("svg", "png", "pdf", "html", "txt"):
        assert whole.save(tmp_path / f"h.{suffix}").stat().st_size > 100


def test_the_curve_of_the_validation_is_dashed_and_both_have_names():
    root = ElementTree.fromstring(history_of(loss=[2.0, 1.0], val_loss=[2.0, 1.5]).plot().svg)
    dashes = {x.get("data-name"): x.get("stroke-dasharray") for x in root.iter(f"{SVG}path")}
    assert dashes["loss"] is None
    assert dashes["val_loss"]
    assert {"loss", "val_loss"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_numbers_that_are_not_finite_are_gaps_that_are_marked_and_counted():
    nan, inf = float("nan"), float("inf")
    picture = history_of(loss=[1.0, 2.0, nan, inf, 3.0, 4.0]).plot()
    assert set(lines_of(picture)["loss"]) == {0, 1, 4, 5}
    assert picture.svg.count(' l-nan"') == 2 * 2
    assert "(2 not finite)" in repr(picture)
    assert "! not finite" in picture.text()


@pytest.mark.parametrize(
    "numbers", [[1.0], [2.0, 2.0], [float("nan")], [0.0, 0.0], [1e300, -1e300], [1e308, -1e308]]
)
def test_odd_histories_have_a_picture(numbers):
    for log in (False, True):
        picture = history_of(loss=numbers).plot(log=log)
        assert picture.svg.endswith("</svg>\n")
        assert "loss" in picture.text(ascii_only=True)


def test_a_metric_that_begins_later_stands_at_its_own_epochs():
    history = history_of(loss=[3.0, 2.0, 1.0])
    history.history["lr"] = [0.5, 0.25]
    assert set(lines_of(history.plot("lr"))["lr"]) == {1, 2}


# --- batches --------------------------------------------------------------------------------------


class ByHand:
    """Two linear layers and the mean square of errors, trained in NumPy."""

    def __init__(self, x, y, weights, rate, size, epochs):
        a, b = (w.astype("float64") for w in weights)
        self.loss, self.gradients, self.weights, self.changes = [], [], [], []
        self.arrays = []
        for start in [*range(0, len(x), size)] * epochs:
            own, wanted = x[start : start + size], y[start : start + size]
            hidden = own @ a
            error = hidden @ b - wanted
            d_out = 2 * error / error.size
            grads = own.T @ (d_out @ b.T), hidden.T @ d_out
            new = a - rate * grads[0], b - rate * grads[1]
            self.loss.append((error**2).mean())
            self.gradients.append([np.linalg.norm(g) for g in grads])
            self.weights.append([np.linalg.norm(w) for w in new])
            self.arrays.append(new)
            self.changes.append([np.linalg.norm(n - o) / np.linalg.norm(o)
                                 for n, o in zip(new, (a, b), strict=True)])  # fmt: skip
            a, b = new


@pytest.fixture(scope="module")
def trained():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 3)).astype("float32"), rng.normal(size=(40, 2)).astype("float32")
    inputs = Input((3,))
    h = Dense(4, use_bias=False, name="first")(inputs)
    model = Model(inputs, Dense(2, use_bias=False, name="second")(h))
    weights = model.get_weights()
    with ks.trace() as tape:
        model.compile(ks.optimizers.SGD(0.1), "mse")
        model.fit(x, y, batch_size=8, epochs=4, shuffle=False, verbose=0)
    return tape, ByHand(x, y, weights, 0.1, 8, 4)


def test_the_loss_of_each_batch_is_that_of_numpy(trained):
    tape, by_hand = trained
    assert lines_of(tape.plot("loss"))["loss"] == pytest.approx(
        dict(enumerate(by_hand.loss)), abs=0.02
    )


@pytest.mark.parametrize(
    ("figure", "kept"), [("|g|", "gradients"), ("|w|", "weights"), ("change", "changes")]
)
def test_what_a_tape_draws_of_weights_is_that_of_numpy(trained, figure, kept):
    tape, by_hand = trained
    found = lines_of(tape.plot("*/kernel", figure, log=False))
    for place, name in enumerate(("first/kernel", "second/kernel")):
        wanted = [one[place] for one in getattr(by_hand, kept)]
        assert found[name] == pytest.approx(dict(enumerate(wanted)), abs=0.01 * max(wanted))


def test_gradient_flow_has_a_row_for_each_layer_and_a_column_for_each_batch(trained):
    tape, by_hand = trained
    picture = tape.gradient_flow(theme="light")
    (image,) = ElementTree.fromstring(picture.svg).iter(f"{SVG}image")
    levels = np.array(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))))
    wanted = np.log10(by_hand.gradients).T
    low, high = wanted.min(), wanted.max()  # whatever their signs: 0 means nothing here
    assert levels.shape == wanted.shape
    assert np.allclose(low + levels / 250 * (high - low), wanted, atol=(high - low) / 200)
    assert {"first", "second"} <= {t.text for t in ElementTree.fromstring(picture.svg).iter()}
    assert "first " in picture.text()


def test_a_histogram_of_each_batch_is_that_of_numpy(trained):
    tape, by_hand = trained
    picture = tape.plot("first/kernel", "histogram", theme="light")
    (image,) = ElementTree.fromstring(picture.svg).iter(f"{SVG}image")
    levels = np.array(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))))
    arrays = [one[0] for one in by_hand.arrays]
    ends = min(one.min() for one in arrays), max(one.max() for one in arrays)
    wanted = np.array([np.histogram(one, 24, ends)[0] for one in arrays]).T[::-1]
    # A number that lies on an edge may fall beside it: those of float32 are not those of float64.
    assert levels.shape == wanted.shape
    assert np.abs(levels / 250 * wanted.max() - wanted).sum() <= 4
    assert "12 numbers · 20 batches" in picture.text()
    both = tape.plot("*/kernel", "gradient histogram").text()
    assert "first/kernel" in both
    assert "second/kernel" in both


def test_a_histogram_counts_what_is_not_finite():
    model = Model(x := Input((2,)), Dense(1, use_bias=False, name="d")(x))
    model.compile(ks.optimizers.SGD(1e30), "mse")
    with ks.trace() as tape, np.errstate(all="ignore"):
        for _ in range(3):
            model.train_on_batch(np.full((1, 2), 1e20), np.ones((1, 1)))
    assert "are not finite and not drawn" in tape.plot("d/kernel", "histogram").text()


def test_of_many_batches_some_are_read_and_the_picture_says_so(trained):
    tape, _ = trained
    picture = tape.plot("first/kernel", most=5)
    assert set(lines_of(picture)["first/kernel"]) == {0, 4, 8, 12, 16}
    assert "5 of 20 batches are drawn: every 4th" in picture.svg
    assert "5 of 20 batches" in tape.gradient_flow(most=5).text()


def test_a_tape_that_was_saved_draws_the_same(trained, tmp_path):
    tape, _ = trained
    tape.save(tmp_path / "t.jsonl")
    again = ks.trace.tape.Tape.load(tmp_path / "t.jsonl")
    assert again.gradient_flow().svg == tape.gradient_flow().svg
    assert again.plot("second/kernel").svg == tape.plot("second/kernel").svg


def test_a_layer_without_a_gradient_is_said_to_have_none():
    inputs = Input((2,))
    h = Dense(2, kernel_initializer="zeros", use_bias=False, name="dead")(inputs)
    out = Dense(1, kernel_initializer="zeros", use_bias=False, name="out")(h)
    model = Model(inputs, out)
    with ks.trace() as tape:
        model.compile("sgd", "mse")
        model.fit(np.ones((40, 2)), np.ones((40, 1)), batch_size=2, verbose=0)
    picture = tape.gradient_flow()
    assert "40 of 0" in picture.svg
    assert "|g| = 0" in picture.svg
    assert "|g| = 0" in picture.text()


# --- matplotlib -----------------------------------------------------------------------------------


class Recorded:
    """Axes that write down what is drawn on them."""

    def __init__(self):
        self.lines, self.title, self.scale = {}, None, "linear"

    def plot(self, x, y, linestyle, label):
        self.lines[label] = (tuple(x), tuple(y), linestyle)

    def set_xlabel(self, text):
        self.x_label = text

    def set_title(self, text):
        self.title = text

    def set_yscale(self, scale):
        self.scale = scale

    def legend(self): ...


def test_axes_of_matplotlib_get_the_curves():
    history = history_of(loss=[2.0, 1.0], val_loss=[2.0, 1.5], acc=[0.5, 0.75])
    one, first, second = Recorded(), Recorded(), Recorded()
    assert history.plot(ax=one) is one
    assert set(one.lines) == {"loss", "val_loss", "acc"}
    history.plot(ax=[first, second], log=True)
    assert first.lines["loss"] == ((0.0, 1.0), (2.0, 1.0), "-")
    assert first.lines["val_loss"][2] == "--"
    assert (second.title, second.scale, second.x_label) == ("acc", "log", "epoch")
    with pytest.raises(
        ArgumentError, match="expected ax to be one or 2 axes, got 1. .*: loss, acc"
    ):
        history.plot(ax=[first])


def test_without_matplotlib_the_backend_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingToolError, match=r"pip install 'kerascope\[plot\]'"):
        history_of(loss=[1.0]).plot(backend="matplotlib")


def test_with_matplotlib_the_backend_gives_its_figure():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    figure = history_of(loss=[2.0, 1.0], val_loss=[2.0, 1.5], acc=[0.5, 0.75]).plot(
        backend="matplotlib"
    )
    first, second = figure.axes
    assert [line.get_label() for line in first.lines] == ["loss", "val_loss"]
    assert second.lines[0].get_ydata().tolist() == [0.5, 0.75]
    sys.modules["matplotlib.pyplot"].close(figure)


# --- wrong input ----------------------------------------------------------------------------------


def test_errors_say_what_was_expected(trained):
    tape, _ = trained
    history = history_of(loss=[1.0])
    for words, call in (
        ("no epochs yet", lambda: History().plot()),
        ("Did you mean 'loss'", lambda: history.plot("los")),
        ("kerascope, matplotlib", lambda: history.plot(backend="plotly")),
        ("Did you mean 'first/kernel'", lambda: tape.plot("first/kernal")),
        ("|g|, |w|, change, histogram", lambda: tape.plot("first/kernel", "|x|")),
        ("1 or more", lambda: tape.plot("first/kernel", most=0)),
        ("not a curve", lambda: tape.plot("first/kernel", "histogram", backend="matplotlib")),
        ("to be 'layer' or 'weight'", lambda: tape.gradient_flow(by="op")),
        ("no training batches", lambda: ks.trace.tape.Tape().plot()),
        ("no training batches", lambda: ks.trace.tape.Tape().gradient_flow()),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert words in str(caught.value)
