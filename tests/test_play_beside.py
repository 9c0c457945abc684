"""`ks.play(model, x, y, beside={"lr": 0.1})`: two runs with one thing changed, from outside."""

import numpy as np
import pytest
from browser import OpenPage, browser, wait_until

import kerascope as ks
from kerascope.errors import ArgumentError, DataError, UnknownNameError
from kerascope.layers import Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.player.second_run import with_change
from kerascope.trace.events import BEGIN
from kerascope.trace.tape_store import alike

X = np.random.default_rng(0).normal(size=(4, 4)).astype("float32")
Y = np.eye(2, dtype="float32")[[0, 1, 0, 1]]
SIZES = [(1280, 800), (390, 844)]


def noisy_model(optimizer="adam"):
    """A model whose random numbers must be the same in both runs."""
    np.random.seed(0)  # with other weights, all units of "h" may be 0
    model = Sequential(
        [Dense(3, "relu", input_shape=(4,), name="h"), Dropout(0.5, name="drop"),
         Dense(2, "softmax", name="y")], name="noisy",
    )  # fmt: skip
    model.compile(optimizer, "categorical_crossentropy")
    model.fit(X, Y, epochs=2, verbose=0)  # so that the optimizer has state
    return model


def by_hand(player):
    """Compare the results on the two tapes one after the other, as a reader would."""
    first, second = (
        [event for event in side.tape[side.events[0].t :] if event.ph != BEGIN]
        for side in player.sides
    )
    for mine, theirs in zip(first, second, strict=False):
        if mine.name != theirs.name or not alike(mine.deltas, theirs.deltas):
            return (mine.kind, mine.name), (theirs.kind, theirs.name)
    return None


def on_the_page(player):
    if player.differs is None:
        return None
    events = [
        s.events[i] for s, i in zip(player.sides, player.moments[player.differs], strict=True)
    ]
    return tuple((event.kind, event.name) for event in events)


@pytest.mark.parametrize(
    ("change", "name", "phase"),
    [
        ({"lr": 0.1}, "multiply", "update"),
        ({"label": 1}, "y_loss/multiply", "loss"),
        ({"label": Y[::-1]}, "y_loss/multiply", "loss"),
        ({"h.activation": "tanh"}, "h/relu", "forward"),
        ({"h.kernel_initializer": "zeros"}, "h/dot", "forward"),
        ({"y.bias_initializer": "ones"}, "y/add", "forward"),
    ],
)
def test_the_page_marks_the_first_results_that_differ_on_the_two_tapes(change, name, phase):
    model = noisy_model()
    before = [*model.get_weights(), *model.optimizer.get_weights()]
    player = ks.play(model, X, Y, beside=change)
    assert on_the_page(player) == by_hand(player)
    first = player.events[player.moments[player.differs][0]]
    assert (first.name, first.phase) == (name, phase)
    after = [*model.get_weights(), *model.optimizer.get_weights()]
    assert all(map(np.array_equal, before, after))


def test_the_first_new_weight_differs_with_the_rate_of_plain_gradient_descent():
    model = noisy_model("sgd")
    player = ks.play(model, X, Y, beside={"lr": 0.1}, level="node")
    assert on_the_page(player) == (("update.param", "h/kernel"),) * 2
    assert [name["en"] for name in player.names] == ["lr = 0.01", "lr = 0.1"]
    changes = [
        next(d.value for d in event.deltas if d.name == "new") - model.layers[0].get_weights()[0]
        for side in player.sides
        for event in side.tape.filter(kind="update.apply") if event.name == "h/kernel"
    ]  # fmt: skip
    np.testing.assert_allclose(changes[1], 10 * changes[0], rtol=1e-3, atol=1e-6)


def test_the_learning_rate_has_its_new_name_too():
    one, other = (
        ks.play(noisy_model("sgd"), X, Y, beside={name: 0.1}) for name in ("lr", "learning_rate")
    )
    assert one.names == other.names
    assert on_the_page(one) == on_the_page(other)


def test_two_runs_with_nothing_changed_are_equal_although_they_draw_random_numbers():
    player = ks.play(noisy_model(), X, Y, beside={"h.activation": "relu"})
    assert (player.differs, by_hand(player)) == (None, None)
    assert any(event.kind == "rng.draw" for event in player.events)


def test_an_initializer_draws_the_same_numbers_again_and_leaves_numpys_alone():
    def kernel():
        player = ks.play(noisy_model(), X, Y, beside={"h.kernel_initializer": "he_normal"})
        return player.beside.tape.names_at(player.beside.events[0].t)["weights"]["h/kernel"]

    np.random.seed(7)
    expected = np.random.rand()
    model = noisy_model()
    np.random.seed(7)
    ks.play(model, X, Y, beside={"h.kernel_initializer": "he_normal"})
    assert np.random.rand() == expected
    assert np.array_equal(kernel(), kernel())


def test_a_layer_in_a_nested_model_is_changed_by_its_name():
    inner = Sequential([Dense(3, "relu", input_shape=(4,), name="deep")], name="inner")
    x = Input((4,), name="x")
    model = Model(x, Dense(2, name="y")(inner(x)), name="outer")
    model.compile("sgd", "mse")
    player = ks.play(model, X, Y, beside={"deep.activation": "tanh"})
    assert on_the_page(player) == by_hand(player)
    assert player.events[player.moments[player.differs][0]].name == "inner/deep/relu"


def test_two_models_beside_each_other_have_the_mark_too():
    first, second = noisy_model(), noisy_model()
    second.set_weights(first.get_weights())
    second.layers[2].set_weights([np.zeros((3, 2)), np.zeros(2)])
    player = ks.play(first, X, beside=second)
    assert player.events[player.moments[player.differs][0]].name == "y/dot"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"lrr": 0.1}, ArgumentError, "got 'lrr'. Did you mean 'lr'?"),
        ({"h.activaton": "tanh"}, ArgumentError, "Did you mean 'h.activation'?"),
        ({"activation": "tanh"}, ArgumentError, "Did you mean '[hy].activation'?"),
        ({"h.activation": "tanhh"}, UnknownNameError, "Did you mean 'tanh'?"),
        ({"lr": "fast"}, ArgumentError, "lr: expected a number such as 0.1, got 'fast'"),
        ({"lr": 0.1, "label": 1}, ArgumentError, "expected one thing to change"),
        ({}, ArgumentError, "expected one thing to change"),
        ({"label": 2}, DataError, "expected a class from 0 to 1, got 2"),
        ({"label": np.zeros((3, 2))}, DataError, r"shape \(4, 2\), got \(3, 2\)"),
    ],
)
def test_a_change_that_cannot_be_made_is_explained(change, error, message):
    with pytest.raises(error, match=message):
        ks.play(noisy_model(), X, Y, beside=change)


def test_a_number_is_a_class_only_if_the_targets_are_one_hot():
    one_hot = with_change(noisy_model(), Y, {"label": 1}).y
    assert one_hot.tolist() == [[0, 1]] * 4
    numbers = with_change(noisy_model(), 3 * Y, {"label": 1}).y
    assert numbers.tolist() == [[1, 1]] * 4


def test_a_tape_or_a_forward_pass_cannot_be_changed():
    model = noisy_model()
    with ks.trace(model) as tape:
        model.predict(X)
    for given in ((tape,), (model, X)):
        with pytest.raises(ArgumentError, match="beside=other"):
            ks.play(*given, beside={"lr": 0.1})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.live
def test_a_live_model_of_keras_3_starts_from_the_same_weights_by_its_own_rules():
    keras = pytest.importorskip("keras", minversion="3")
    model = keras.Sequential(
        [keras.layers.Input((4,)), keras.layers.Dense(3, "relu", name="h"),
         keras.layers.Dropout(0.5, name="drop"), keras.layers.Dense(2, name="y")]
    )  # fmt: skip
    model.compile(keras.optimizers.SGD(0.01), "mse")
    player = ks.play(model, X, Y, beside={"lr": 0.1}, level="node")
    assert on_the_page(player) == (("update.param", "h/kernel"),) * 2
    player = ks.play(model, X, Y, beside={"h.activation": "tanh"})
    assert on_the_page(player) == (("op", "h/relu"), ("op", "h/tanh"))


@pytest.mark.live
def test_a_module_of_pytorch_is_recorded_beside_another():
    torch = pytest.importorskip("torch")
    first = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    second = torch.nn.Sequential(first[0], torch.nn.Tanh(), first[2])
    player = ks.play(first, torch.tensor(X), torch.sum, beside=second)
    assert player.events[player.moments[player.differs][0]].name == "1"
    assert all(side.picture is not None for side in player.sides)
    with pytest.raises(ArgumentError, match="beside=other"):
        ks.play(first, torch.tensor(X), torch.sum, beside={"lr": 0.1})


@pytest.fixture(scope="module")
def chromium():
    with browser() as running:
        yield running


@pytest.mark.browser
@pytest.mark.parametrize(
    "size", [SIZES[0], *(pytest.param(s, marks=pytest.mark.slow) for s in SIZES[1:])]
)
def test_the_page_says_where_the_two_runs_part_and_goes_there(size, chromium, tmp_path):
    path = tmp_path / "two.html"
    player = ks.play(noisy_model(), X, Y, beside={"h.activation": "tanh"}, to=path)
    width, height = size
    one = OpenPage(chromium, path, viewport={"width": width, "height": height})
    page = one.page
    wait_until(page, "document.querySelector('.runs') !== null")
    said = "document.querySelector('output.differing').textContent"
    assert page.evaluate(said) == "Equal so far."
    page.click("[data-do=differs]")
    assert page.evaluate(said) == "The runs first differ here."
    assert page.evaluate("+document.querySelector('#moment').value") == player.differs
    assert page.evaluate("document.querySelector('[data-do=differs]').disabled")
    page.keyboard.press("End")
    assert page.evaluate(said) == f"The runs differ since step {player.differs + 1}."
    assert page.evaluate("document.querySelectorAll('.track .parting').length") == 5
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert one.complaints == []
    one.close()


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_says_that_two_runs_are_equal(chromium, tmp_path):
    path = tmp_path / "equal.html"
    ks.play(noisy_model(), X, Y, beside={"lr": 0.001}, to=path)
    one = OpenPage(chromium, path)
    wait_until(one.page, "document.querySelector('.runs') !== null")
    said = "document.querySelector('output.differing').textContent"
    assert one.page.evaluate(said) == "The results are equal at every step."
    one.close()
