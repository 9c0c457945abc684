"""The first axis of a batch is followed as far as that is certain, and rows become samples."""

import linecache

import numpy as np
import pytest
from debugger_transcripts import answer, debug_script
from piped import answers, piped

from kerascope import backend as K
from kerascope import layers as kl
from kerascope.debugger.session import Session
from kerascope.models import Model
from kerascope.trace.function_plan import FunctionPlan
from kerascope.trace.recorder import Recorder
from kerascope.trace.rows import tensors_with_rows


def many_layers():
    """Return a model of layers that keep rows apart, on images and on words."""
    picture, words = kl.Input((8, 8, 2)), kl.Input((5,), dtype="int32")
    x = kl.Conv2D(3, 3, activation="relu")(picture)
    x = kl.MaxPooling2D(2)(x)
    x = kl.BatchNormalization()(x)
    x = kl.Flatten()(x)
    y = kl.Embedding(7, 4)(words)
    y = kl.Conv1D(3, 2, activation="tanh")(y)
    y = kl.GlobalAveragePooling1D()(y)
    z = kl.concatenate([kl.Dense(4, activation="elu")(x), y])
    z = kl.Dropout(0.3)(z)
    z = kl.Lambda(lambda t: K.softmax(t) / (1 + K.sum(K.square(t), axis=-1, keepdims=True)))(z)
    z = kl.Reshape((7, 1))(z)
    z = kl.Permute((2, 1))(z)
    return Model([picture, words], kl.Dense(2, activation="sigmoid")(kl.Flatten()(z)))


def plan_of(model):
    recorder = Recorder()
    recorder.memory.know(model)
    model._make_train_function()
    return FunctionPlan(model.train_function, recorder.memory)


def values(plan, feeds):
    """Return each tensor's array in one call, each step of which is taken."""
    stage = plan.function.stage(feeds)
    found = {}
    for step in stage:
        if hasattr(step, "apply"):
            for tensor, slot in zip(step.apply.outputs, step.outputs, strict=True):
                found[tensor] = np.array(stage.names["values"][slot])
    return found


def test_what_is_followed_has_its_rows_in_the_order_of_what_is_fed():
    rng = np.random.default_rng(0)
    model = many_layers()
    model.compile("sgd", "binary_crossentropy")
    plan = plan_of(model)
    followed = tensors_with_rows(plan)
    n = 6
    feeds = [
        rng.normal(size=(n, 8, 8, 2)).astype("float32"),
        rng.integers(0, 7, size=(n, 5)).astype("int32"),
        rng.integers(0, 2, size=(n, 2)).astype("float32"),
        np.ones(n, "float32"),
        0.0,
    ]
    order = rng.permutation(n)
    weights = model.get_weights()
    before = values(plan, feeds)
    model.set_weights(weights)
    after = values(plan, [x if x is feeds[-1] else x[order] for x in feeds])
    own = [x for x in followed if x in before and x in after]
    assert len(own) > 40  # so it is not true of nothing
    for x in own:
        assert before[x].shape[0] == n, x
        assert np.allclose(before[x][order], after[x], rtol=1e-3, atol=1e-5), x
    assert model.outputs[0] in followed
    assert any(x.ndim == 1 and x.name.startswith(model.output_names[0] + "_loss") for x in own)


@pytest.mark.parametrize(
    "mix",
    [
        lambda t: K.reverse(t, 0),
        lambda t: K.reshape(t, (2, -1)),
        lambda t: t + K.reverse(t, 0),
        lambda t: K.dot(K.transpose(t), t),
        lambda t: K.cumsum(t, axis=0),
        lambda t: K.gather(t, K.cast(t[:, 0], "int32")),
    ],
)
def test_where_rows_are_mixed_or_moved_nothing_is_said(mix):
    x = kl.Input((4,))
    mixed = []

    def call(t):
        mixed.append(mix(t))
        return t + K.sum(mixed[-1])

    model = Model(x, kl.Lambda(call, output_shape=(4,))(x))
    model.compile("sgd", "mse")
    followed = tensors_with_rows(plan_of(model))
    assert mixed
    assert not any(tensor in followed for tensor in mixed)


SCRIPT = """\
import numpy as np
import kerascope as ks
from kerascope import backend as K
ks.utils.set_random_seed(1)


def loss(y_true, y_pred):
    return K.mean(K.log(y_true - 0.5) + K.square(y_pred), axis=-1)


x = np.arange(64.0).reshape(64, 1).astype("float32") / 64
y = np.ones((64, 1), "float32")
SPOILT
model = ks.Sequential([ks.layers.Dense(4, input_dim=1), ks.layers.Dropout(0.1), ks.layers.Dense(1)])
model.compile("sgd", loss)
model.fit(x, y, batch_size=8, epochs=3, verbose=0, shuffle=SHUFFLE)
"""


@pytest.fixture
def debugged(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)

    def debugged(*commands, spoilt="", shuffle="True"):
        text = SCRIPT.replace("SPOILT", spoilt).replace("SHUFFLE", shuffle)
        (tmp_path / "train.py").write_text(text, encoding="utf-8")
        linecache.clearcache()
        options = ["--dialect", "2.2"]
        return debug_script(monkeypatch, capsys, "train.py", *commands, options=options)[1]

    return debugged


@pytest.mark.parametrize("shuffle", ["True", "False", "'batch'"])
def test_a_nan_is_told_with_its_row_and_its_sample_through_shuffling(debugged, shuffle):
    out = debugged("catch nan", "c", "row", "q", spoilt="y[37] = 0", shuffle=shuffle)
    (line,) = [line for line in answer(out, "c") if " = sample " in line]
    assert "= sample 37; `row " in line
    shown = answer(out, "row")
    assert shown[0] == line.strip().partition(";")[0]
    assert shown[1:3] == ["dense_1_input = [0.578125]", "dense_2_target = [0.]"]


def test_several_rows_are_listed(debugged):
    out = debugged("catch nan", "c", "q", spoilt="y[33:39] = 0", shuffle="False")
    assert "   rows 1, 2, 3, 4 and 2 more of batch 4; row 1 = sample 33; `row 1` shows" in out


def test_what_comes_with_the_data_is_told_with_its_sample(debugged):
    out = debugged("catch nan", "c", "q", spoilt="x[21] = np.nan")
    assert "= sample 21; `row " in out


@pytest.mark.parametrize("ways", [("goto epoch 1 batch 3",), ("b epoch 2", "c", "goto batch 3")])
def test_the_largest_loss_of_a_batch_is_told_in_the_past_too(debugged, ways):
    out = debugged(*ways, "unt backward", "row", "p ins_batch", "q", spoilt="y[:] = 1")
    told = answer(out, "row")
    row, sample = int(told[0].split()[1]), int(told[0].split("sample ")[1].split(",")[0])
    assert "which has the largest loss: " in told[0]
    assert float(told[1].removeprefix("dense_1_input = [").rstrip("]")) == sample / 64
    assert 0 <= row < 8


def test_outside_of_a_batch_row_says_so(debugged):
    out = debugged("row", "c", "row", "goto batch 2", "row", "row 8", "row 3", "q")
    assert "*** row: needs a batch of fit" in out
    assert "*** row: needs a number here, because the losses of the rows are not known" in out
    assert "*** row: batch 2 has rows 0 to 7, got '8'." in out
    assert answer(out, "row 3")[0].startswith("row 3 of batch 2 = sample ")


# --- ops that are asked for their rows, for no rule tells where they are -----------------------

FOLLOWED = {
    "time-major": lambda x: kl.GRU(3, return_sequences=True)(x),
    "several outputs": lambda x: kl.LSTM(3, return_sequences=True)(x),
    "flattened steps": lambda x: kl.TimeDistributed(kl.Dense(3))(x),
    "two with rows": lambda x: kl.MultiHeadAttention(2, 3)(x, x),
    "batches of matrices": lambda x: kl.Dot(axes=2)([x, x]),
    "a slice": lambda x: kl.Lambda(lambda t: t[:, 1:])(x),
    "a sum so far": lambda x: kl.Lambda(lambda t: K.cumsum(t, 1))(x),
}
MIXED = {
    "turned over": lambda x: kl.Lambda(lambda t: K.reverse(t, 0))(x),
    "a sum of rows so far": lambda x: kl.Lambda(lambda t: K.cumsum(t, 0))(x),
}


def said_of_a_spoilt_row(made):
    """Return what is said where sample 13, row 5 of batch 1, makes the first NaN."""

    def program():
        x, sign = kl.Input((4, 2), name="x"), kl.Input((1, 1), name="sign")
        root = kl.Lambda(lambda both: K.log((1 + K.square(both[0])) * both[1]), name="root")
        model = Model([x, sign], kl.Dense(1)(kl.Flatten()(root([made(x), sign]))))
        model.compile("sgd", "mse")
        signs = np.ones((24, 1, 1))
        signs[13] = -1
        rows = np.random.RandomState(0).normal(size=(24, 4, 2))
        model.fit([rows, signs], np.ones(24), batch_size=8, shuffle=False, verbose=0)

    return answers(piped(program, "catch nan", "c", "row"), "c")[0]


@pytest.mark.parametrize("made", FOLLOWED.values(), ids=FOLLOWED)
def test_a_nan_of_three_axes_names_its_row(made):
    told = said_of_a_spoilt_row(made)
    assert told[-1] == "   row 5 of batch 1 = sample 13; `row 5` shows its inputs"


@pytest.mark.parametrize("made", MIXED.values(), ids=MIXED)
def test_where_rows_are_mixed_none_is_named(made):
    assert said_of_a_spoilt_row(made)[-1].startswith("caught nan: ")
