"""What chapters 19 and 20 say of Keras and PyTorch is asked of the real libraries.

Each function with the parameter `library` is an experiment of a chapter. It runs with kerascope and
with Keras 3, and the numbers are compared with those that a block of the chapter prints.
"""

import warnings

import numpy as np
import pytest
from keras_reference import answer, keras
from lesson_texts import chapter_of_the_course

import kerascope as ks
from kerascope import backend as K
from kerascope import config
from kerascope.errors import DtypeError
from kerascope.lessons.lesson import Block

pytestmark = pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning")


def output_of(chapter, name):
    """Return what a block of a chapter prints."""
    parts = chapter_of_the_course(chapter).main.parts
    return next(one.output.text for one in parts if isinstance(one, Block) and one.id == name)


def lists(array):
    return np.asarray(array, dtype="float64").round(4).tolist()


# --- chapter 19 -----------------------------------------------------------------------------------


PIXELS = np.arange(1, 7, dtype="float32").reshape(1, 6, 1)
TAPS = np.eye(3, dtype="float32").reshape(3, 1, 3)
SPOT = np.zeros((1, 5, 5, 1), "float32")
SPOT[0, 2, 2] = 1
NUMBERS = np.arange(1, 10, dtype="float32").reshape(3, 3, 1, 1)


def read_by(library, **options):
    """Return the pixels that a filter of three numbers reads, for each of its places."""
    layer = library.layers.Conv1D(3, 3, use_bias=False, **options)
    layer.build((None, 6, 1))
    layer.set_weights([TAPS])
    return lists(np.asarray(layer(PIXELS)))[0]


def one_pixel(library):
    """Return the map of an image with one white pixel, for a filter with the numbers 1 to 9."""
    layer = library.layers.Conv2D(1, 3, use_bias=False)
    layer.build((None, 5, 5, 1))
    layer.set_weights([NUMBERS])
    return lists(np.asarray(layer(SPOT)))[0]


def transposed(library):
    """Return what `Conv2DTranspose` makes of the gradient of the chapter's strided convolution."""
    layer = library.layers.Conv2DTranspose(1, 3, strides=2, use_bias=False)
    layer.build((None, 2, 2, 1))
    edge = np.array([[-1, 0, 1]] * 3, "float32").reshape(3, 3, 1, 1)
    layer.set_weights([edge])
    arriving = np.array([[0, 6], [0, 6]], "float32").reshape(1, 2, 2, 1)
    return lists(np.asarray(layer(arriving)))[0]


PLACES = [
    {"padding": "valid", "strides": 1},
    {"padding": "same", "strides": 1},
    {"padding": "same", "strides": 2},
    {"padding": "valid", "dilation_rate": 2},
    {"padding": "causal", "strides": 1},
]


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(("line", "options"), list(enumerate(PLACES)), ids=str)
def test_keras_reads_the_pixels_that_chapter_19_shows(line, options):
    shown = output_of("19", "places").splitlines()[line]
    theirs = answer(read_by, keras, **options)
    assert shown.endswith(" ".join(str([int(n) for n in place]) for place in theirs))
    assert read_by(ks, **options) == theirs


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("experiment", [one_pixel, transposed], ids=lambda one: one.__name__)
def test_keras_does_not_turn_a_filter_and_agrees_on_the_way_back(experiment):
    assert experiment(ks) == answer(experiment, keras)


def test_chapter_19_shows_the_filter_turned_and_the_gradient_of_a_strided_convolution():
    turned = output_of("19", "one-pixel").replace("[", "").replace("]", "").split()[:9]
    assert [float(n) for n in turned] == np.ravel(one_pixel(ks)).tolist()
    board = K.variable(np.array([[0, 0, 0, 1, 1]] * 5, "float32").reshape(1, 5, 5, 1))
    kernel = K.constant(np.array([[-1, 0, 1]] * 3, "float32").reshape(3, 3, 1, 1))
    loss = K.sum(K.square(K.conv2d(board, kernel, strides=2)))
    (slope,) = K.gradients(loss, [board])
    assert lists(K.eval(slope))[0] == transposed(ks)


@pytest.mark.live
def test_pytorch_pads_both_sides_and_does_not_turn_a_filter():
    torch = pytest.importorskip("torch")

    pixels = torch.tensor(PIXELS.reshape(1, 1, 6))
    taps = torch.tensor(TAPS.transpose(2, 1, 0).copy())
    places = torch.nn.functional.conv1d(pixels, taps, stride=2, padding=1)[0].T
    line = output_of("19", "places").splitlines()[-1]
    assert line.startswith("padding=1")
    assert line.endswith(" ".join(str([int(n) for n in place]) for place in places.tolist()))
    image = torch.tensor(SPOT[0, :, :, 0])[None, None]
    found = torch.nn.functional.conv2d(image, torch.tensor(NUMBERS[:, :, 0, 0])[None, None])
    assert found[0, 0].tolist() == [[n for (n,) in row] for row in one_pixel(ks)]
    assert "cross-correlation" in torch.nn.Conv2d.__doc__
    assert "all four sides" in torch.nn.Conv2d.__doc__


@pytest.mark.live
def test_the_gradients_of_pytorch_are_those_of_chapter_19():
    torch = pytest.importorskip("torch")

    image = torch.tensor([[[[0.0, 0, 0, 1, 1]] * 5]], requires_grad=True)
    edge = torch.tensor([[[[-1.0, 0, 1]] * 3]], requires_grad=True)
    torch.nn.functional.conv2d(image, edge).square().sum().backward()
    numbers = output_of("19", "two-convolutions").replace("[", "").replace("]", "").split()
    theirs = [*edge.grad.flatten().tolist(), *image.grad.flatten().tolist()]
    assert [float(n) for n in numbers] == theirs


# --- chapter 20 -----------------------------------------------------------------------------------


def reader(library, **options):
    """Return a layer that adds half of its state to its input, as in the chapter."""
    half = library.initializers.Constant(0.5)
    layer = library.layers.SimpleRNN(
        1, kernel_initializer="ones", recurrent_initializer=half, activation="linear", **options
    )
    layer.build((None, 4, 1))
    return layer


def masked(library, numbers, counts):
    """Return the outputs of all steps, and the last state."""
    layer = reader(library, return_sequences=True, return_state=True)
    x = np.array(numbers, "float32").reshape(1, -1, 1)
    outputs, state = layer(x, mask=np.array([counts]))
    return lists(np.ravel(np.asarray(outputs))), float(np.ravel(np.asarray(state))[0])


def with_mask_zero(library, words, **options):
    """Return the outputs for words whose vector is their own number; 0 is masked."""
    tokens = library.Input((len(words),), dtype="int32")
    embed = library.layers.Embedding(5, 1, mask_zero=True)
    model = library.Model(tokens, reader(library, **options)(embed(tokens)))
    embed.set_weights([np.arange(5.0).reshape(5, 1)])
    return lists(np.ravel(model.predict(np.array([words]), verbose=0)))


def biases_of_a_gru(library):
    """Return the shapes of the biases of a GRU, with and without `reset_after`."""
    shapes = []
    for reset_after in (True, False):
        layer = library.layers.GRU(1, reset_after=reset_after)
        layer.build((None, 3, 1))
        shapes.append(list(np.shape(layer.get_weights()[2])))
    return shapes


def what_passes_a_mask(library):
    """Return for each layer whether its output has a mask."""
    tokens = library.Input((6,), dtype="int32")
    vectors = library.layers.Embedding(5, 3, mask_zero=True)(tokens)
    sequence = library.layers.LSTM(4, return_sequences=True)
    mean = library.layers.GlobalAveragePooling1D()
    vector = mean(sequence(vectors))
    found = [sequence.supports_masking, mean.supports_masking]
    if library is ks:
        return [*found, sequence.output_mask is not None, mean.output_mask is not None]
    passed = [sequence(vectors), vector]
    return [*found, *(getattr(one, "_keras_mask", None) is not None for one in passed)]


def flattened(library):
    """Return the warnings about a layer that supports no mask, and whether its output has one."""
    tokens = library.Input((3,), dtype="int32")
    vectors = library.layers.Embedding(5, 1, mask_zero=True)(tokens)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        flat = library.layers.Flatten()
        output = flat(vectors)
    mask = flat.output_mask if library is ks else getattr(output, "_keras_mask", None)
    return sum("mask" in str(one.message) for one in caught), mask is not None


def masked_loss(library):
    tokens = library.Input((3,), dtype="int32")
    embed = library.layers.Embedding(5, 1, mask_zero=True, embeddings_initializer="ones")
    model = library.Model(tokens, embed(tokens))
    model.compile("sgd", "mse")
    targets = np.array([[[3.0], [9.0], [9.0]], [[1.0], [2.0], [9.0]]])
    rows = np.array([[1, 0, 0], [1, 1, 0]])
    return round(float(model.evaluate(rows, targets, verbose=0)), 4)


def forget_bias(library):
    layer = library.layers.LSTM(2)
    layer.build((None, 3, 1))
    return lists(np.asarray(layer.get_weights()[2]))


def gate_of_a_gru(library):
    """Return the last state of a GRU whose update gate is 1, which began with 7."""
    layer = library.layers.GRU(1, reset_after=False)
    layer.build((None, 50, 1))
    kernel, recurrent, bias = layer.get_weights()
    layer.set_weights([kernel, recurrent, np.array([100.0, *bias[1:]])])
    x = np.random.default_rng(0).normal(size=(1, 50, 1)).astype("float32")
    return lists(np.asarray(layer(x, initial_state=[np.array([[7.0]], "float32")])))


MASKED = [
    ([1.0, 2.0, 0.0, 0.0], [True, True, False, False]),
    ([9.0, 1.0, 9.0, 2.0], [False, True, False, True]),
]


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("line", range(len(MASKED)))
def test_keras_keeps_what_chapter_20_shows(line):
    outputs, state = answer(masked, keras, *MASKED[line])
    assert output_of("20", "masked").splitlines()[line] == f"({outputs}, {state})"


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    "words", [[1, 2, 0, 3], [0, 0, 1, 2], [4, 0, 0, 0], [0, 0, 0, 0], [3, 1, 2, 4]], ids=str
)
def test_masks_of_zeros_agree_with_keras(words):
    for options in ({}, {"return_sequences": True}, {"go_backwards": True}):
        assert with_mask_zero(ks, words, **options) == answer(
            with_mask_zero, keras, words, **options
        )


@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize(
    "experiment",
    [what_passes_a_mask, masked_loss, forget_bias, biases_of_a_gru, gate_of_a_gru],
    ids=lambda one: one.__name__,
)
def test_experiments_of_chapter_20_agree_with_keras(experiment):
    if experiment is gate_of_a_gru:
        assert answer(experiment, keras) == [[7.0]]
        assert output_of("20", "gate") == "[[7.]]\n"
    else:
        assert experiment(ks) == answer(experiment, keras)


@pytest.mark.usefixtures("answers")
def test_keras_3_warns_where_its_manual_says_that_an_exception_is_raised(monkeypatch):
    with pytest.raises(DtypeError, match="does not support masking"):
        flattened(ks)  # as in Keras 2
    monkeypatch.setattr(config, "dialect", "3")
    assert flattened(ks) == answer(flattened, keras) == (1, False)


@pytest.mark.live
def test_the_manual_of_keras_says_what_chapters_19_and_20_quote():
    layers = pytest.importorskip("keras").layers
    for name, words in (
        ("Conv2D", '`"same"` results in padding evenly to the left/right'),
        ("Masking", "an input mask, an exception will be raised"),
        ("LSTM", "add 1 to the bias of the forget gate at initialization"),
        ("RNN", "zero_output_for_mask: Boolean (default `False`)"),
        ("GRU", "separate biases for `kernel` and `recurrent_kernel`"),
        ("GRU", '`True` is `"after"` (default and cuDNN compatible)'),
    ):
        assert words in " ".join(getattr(layers, name).__doc__.split()), name


@pytest.mark.live
def test_a_packed_sequence_of_pytorch_ends_with_the_states_of_a_mask():
    torch = pytest.importorskip("torch")
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    rnn = torch.nn.RNN(1, 1, batch_first=True, bias=False, nonlinearity="relu")
    with torch.no_grad():
        rnn.weight_ih_l0.fill_(1.0)
        rnn.weight_hh_l0.fill_(0.5)
    x = torch.tensor([[[1.0], [2.0], [0.0], [0.0]]])
    outputs, last = rnn(pack_padded_sequence(x, [2], batch_first=True))
    padded, _ = rnn(x)
    assert last.item() == 2.5
    assert f", {last.item()})" in output_of("20", "masked")
    assert output_of("20", "padded").startswith(f"({padded.flatten().tolist()}")
    filled = pad_packed_sequence(outputs, batch_first=True, total_length=4)[0]
    assert filled.flatten().tolist() == [1.0, 2.5, 0.0, 0.0]  # where a mask repeats 2.5


@pytest.mark.live
def test_the_gradients_of_pytorch_are_those_of_chapter_20():
    torch = pytest.importorskip("torch")

    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    w = torch.tensor(0.5, requires_grad=True)
    for counts, block in (([1, 1, 1, 1], None), ([1, 1, 0, 1], "masked-gradient")):
        state = torch.tensor(0.0)
        for number, is_on in zip(x, counts, strict=True):
            state = number + w * state if is_on else state
        to_x, to_w = torch.autograd.grad(state, [x, w])
        if block is None:
            assert to_x.tolist() == [0.125, 0.25, 0.5, 1.0]
            assert f"w in all: {to_w.item()}" in output_of("20", "backward-by-hand")
        else:
            numbers = output_of("20", block).replace("[", "").replace("]", "").split()
            assert [float(n) for n in numbers] == [*to_x.tolist(), to_w.item()]
