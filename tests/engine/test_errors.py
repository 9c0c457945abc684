"""What is said when something is wrong: where, what, what was expected, what to do."""

import numpy as np
import pytest

from kerascope import Input, K, Model, Sequential, callbacks
from kerascope.errors import (
    ArgumentError,
    CycleError,
    DataError,
    DisconnectedGraphError,
    DtypeError,
    IllDefinedError,
    KerascopeError,
    NotCompiledError,
    NumericsWarning,
    ShapeError,
    UnknownNameError,
)
from kerascope.layers import Add, BatchNormalization, Dense, Embedding, Lambda
from kerascope.utils import Sequence

X, Y = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")


def compiled():
    model = Sequential([Dense(1, input_shape=(4,), name="only")], name="tiny")
    model.compile("sgd", "mse", metrics=["mae"])
    return model


# --- layers ---------------------------------------------------------------------------------------


def test_wrong_rank():
    layer = Dense(2, name="flat")
    with pytest.raises(
        ShapeError,
        match=r"Dense 'flat': expected an input with at least 2 axes, got 1 \(None,\)\. Add Resh",
    ):
        layer(Input(()))
    normal = BatchNormalization(name="normal")
    normal(Input((3,)))
    with pytest.raises(
        ShapeError, match=r"with 2 axes, got 3 \(None, 5, 3\)\. Add Flatten\(\) before it"
    ):
        normal(Input((5, 3)))


def test_wrong_feature_size():
    layer = Dense(2, name="fixed")
    layer(Input((4,)))
    with pytest.raises(
        ShapeError,
        match=r"Dense 'fixed': expected an input with size 4 on axis -1, as at the first call, "
        r"got 5 in \(None, 5\)",
    ):
        layer(Input((5,)))
    assert len(layer.inbound_nodes) == 1


def test_unknown_feature_size():
    with pytest.raises(
        ShapeError, match=r"weight 'kernel': expected a shape with known sizes, got \(None, 2\)"
    ):
        Dense(2)(Input((None,)))


def test_a_layer_called_on_no_tensor():
    with pytest.raises(
        DtypeError,
        match=r"isn't a symbolic tensor. Expected a tensor or an array, "
        r"got str 'x'\. Call it on Input",
    ):
        Dense(2)("x")


def test_a_layer_forgotten_to_be_called():
    with pytest.raises(DtypeError, match=r"got Dense <Dense inner>"):
        Dense(2)(Dense(3, name="inner"))


def test_a_misspelt_keyword_of_a_layer():
    with pytest.raises(
        TypeError, match=r"keyword argument not understood: 'activaton'. Did you mean 'activation'"
    ):
        Dense(2, activaton="relu")
    with pytest.raises(
        TypeError,
        match=r"keyword argument not understood: 'inputshape'. Did you mean 'input_shape'",
    ):
        Dense(2, inputshape=(3,))


def test_an_unknown_activation():
    with pytest.raises(UnknownNameError, match=r"Unknown activation 'rellu'. Did you mean 'relu'"):
        Dense(2, activation="rellu")


def test_a_misspelt_argument_of_a_call():
    with pytest.raises(TypeError, match="unexpected keyword argument 'traning'"):
        Dense(2)(Input((3,)), traning=True)


def test_shapes_that_do_not_merge():
    with pytest.raises(ShapeError, match="Add 'sum'"):
        Add(name="sum")([Input((3,)), Input((4,))])


def test_the_notion_of_output_is_ill_defined():
    layer = Dense(2, name="shared")
    layer(Input((4,)))
    layer(Input((4,)))
    with pytest.raises(
        IllDefinedError,
        match=r"Layer shared has multiple inbound nodes, "
        r'hence the notion of "layer output" is ill-defined\. '
        r"Use get_output_at\(node_index\) instead\.",
    ):
        _ = layer.output
    assert issubclass(IllDefinedError, AttributeError)


# --- graphs ---------------------------------------------------------------------------------------


def test_a_disconnected_graph():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    with pytest.raises(
        DisconnectedGraphError,
        match=r'Graph disconnected: cannot obtain value for tensor b at layer "b"',
    ) as caught:
        Model(a, Add()([a, b]))
    assert caught.value.subject.outbound_layer.name == "b"


def test_a_cycle():
    x = Input((2,), name="x")
    first, second = Dense(2, name="A"), Dense(2, name="B")
    y = second(first(x))
    first.inbound_nodes[0].input_tensors[0] = y
    with pytest.raises(CycleError, match=r'The tensor .* at layer "B" is part of a cycle'):
        Model(x, y)


def test_an_output_that_no_layer_made():
    x = Input((2,))
    with pytest.raises(ArgumentError, match="must be the output of a Keras `Layer`"):
        Model(x, K.square(x))


# --- compile and fit ------------------------------------------------------------------------------


def test_an_unknown_loss():
    with pytest.raises(
        UnknownNameError,
        match=r"Unknown loss 'mean_square_error'. Did you mean 'mean_squared_error'",
    ):
        compiled().compile("sgd", "mean_square_error")


def test_a_misspelt_keyword_of_compile():
    with pytest.raises(
        ArgumentError, match=r"compile: unknown argument 'metric'. Did you mean 'metrics'"
    ):
        compiled().compile("sgd", "mse", metric=["mae"])


def test_a_misspelt_keyword_of_fit():
    with pytest.raises(
        ArgumentError,
        match=r"Sequential 'tiny': fit: unknown argument 'epoch'. Did you mean 'epochs'",
    ):
        compiled().fit(X, Y, epoch=3)


def test_a_misspelt_keyword_of_fit_generator():
    with pytest.raises(
        ArgumentError,
        match=r"fit_generator: unknown argument 'step_per_epoch'. Did you mean 'steps_per_epoch'",
    ):
        compiled().fit_generator(iter([]), step_per_epoch=3)


def test_an_argument_given_twice_or_too_many():
    with pytest.raises(ArgumentError, match="'epochs' is given by position and name|same argument"):
        compiled().fit(X, Y, epochs=1, nb_epoch=2)
    with pytest.raises(ArgumentError, match="'batch_size' is given by position and name"):
        compiled().fit_stage(X, Y, 32, batch_size=16)
    with pytest.raises(ArgumentError, match="expected 14 arguments, got 20"):
        compiled().fit_stage(X, Y, *range(20))


def test_fit_before_compile():
    model = Sequential([Dense(1, input_shape=(4,))], name="raw")
    for method in (model.fit, model.evaluate, model.train_on_batch, model.test_on_batch):
        with pytest.raises(
            NotCompiledError,
            match=r"Sequential 'raw': You must compile a model before training/testing\. "
            r"Use `model.compile\(optimizer, loss\)`",
        ):
            method(X, Y)


def test_x_and_y_of_different_length():
    with pytest.raises(
        DataError, match="fit: x and y must have the same number of samples: x has 8, y has 3"
    ):
        compiled().fit(X, Y[:3])
    with pytest.raises(DataError, match="validation_data: x and y must have the same number"):
        compiled().fit(X, Y, validation_data=(X, Y[:3]))


def test_sample_weights_of_a_wrong_length():
    with pytest.raises(
        DataError,
        match=r"sample_weight for 'only': expected an array of shape \(8,\), "
        r"one for each sample, got \(3,\)",
    ):
        compiled().fit(X, Y, sample_weight=np.ones(3))


@pytest.mark.parametrize("method", ["fit", "evaluate", "train_on_batch"])
def test_an_empty_data_set(method):
    with pytest.raises(
        DataError, match=f"{method}: expected at least one sample, got an empty data set"
    ):
        getattr(compiled(), method)(np.zeros((0, 4)), np.zeros((0, 1)))
    with pytest.raises(DataError, match="predict: expected at least one sample"):
        compiled().predict(np.zeros((0, 4)))


def test_an_empty_sequence():
    class Empty(Sequence):
        def __len__(self):
            return 0

        def __getitem__(self, index):
            raise IndexError(index)

    for method in ("fit_generator", "evaluate_generator", "predict_generator"):
        with pytest.raises(DataError, match="The Sequence is empty: expected at least one batch"):
            getattr(compiled(), method)(Empty())


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (
            np.ones((8, 5)),
            Y,
            r"x for 'only_input': expected .* \(None, 4\), got \(8, 5\)",
        ),
        (
            np.ones((8, 4, 1)),
            Y,
            r"x for 'only_input': expected .* 2 axes .*, got 3 \(8, 4, 1\)",
        ),
        (
            X,
            np.ones((8, 2)),
            r"y: loss .*: expected targets of the shape \(None, 1\) .*got \(8, 2\)",
        ),
        ([X, X], Y, r"x: expected one array for each of 1 tensors \['only_input'\], got 2"),
        (None, Y, r"x: expected arrays for \['only_input'\], got None"),
        (X, None, r"y: expected arrays for \['only'\], got None"),
        (
            {"only_inputs": X},
            Y,
            "there is no tensor 'only_inputs'. Did you mean 'only_input'",
        ),
        (X, 5.0, "y for 'only': expected an array of samples, got a single number"),
        ([[1.0], [2.0, 3.0]], Y, "the rows have different lengths .*Pad them first"),
        (np.array([["a"] * 4] * 8), Y, "expected numbers"),
        (Input((4,)), Y, "a symbolic tensor has no values. Pass arrays"),
        ((X for _ in range(3)), Y, "expected numbers"),
    ],
)
def test_data_that_do_not_fit(x, y, words):
    model = compiled()
    before = model.get_weights()
    with pytest.raises(KerascopeError, match=words):
        model.fit(x, y)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])
    assert model.optimizer.iterations.get_value() == 0


def test_class_numbers_where_one_hot_rows_are_expected():
    model = Sequential([Dense(3, activation="softmax", input_shape=(4,))])
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(
        DataError,
        match=r"expected one-hot rows of 3 entries, .*"
        r"Use to_categorical\(y\), or the loss 'sparse_categorical_crossentropy'",
    ):
        model.fit(X, np.zeros(8))


@pytest.mark.parametrize("trained", ["fit", "train_on_batch", "evaluate"])
def test_a_single_class_with_categorical_crossentropy_is_refused(trained):
    """As Keras 2.2.4: the loss would be 0 whatever is predicted."""
    model = Sequential([Dense(1, input_shape=(4,))])
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(DataError, match="It is always 0 for one class"):
        getattr(model, trained)(X, np.zeros((8, 1)))


def test_a_class_without_a_weight():
    with pytest.raises(ArgumentError, match=r"class_weight for 'only': .* There is none for \[1\]"):
        compiled().fit(X, Y, class_weight={0: 1.0})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"batch_size": 0}, "batch_size: expected a whole number >= 1, got 0"),
        ({"batch_size": 2.5}, "batch_size: expected a whole number >= 1, got 2.5"),
        ({"epochs": "3"}, "epochs: expected a whole number >= 0, got '3'"),
        (
            {"steps_per_epoch": 2, "batch_size": 4},
            "batch_size=4 and steps=2: each step",
        ),
        ({"steps_per_epoch": 0}, "steps: expected a number of batches >= 1, got 0"),
        ({"shuffle": "rows"}, "shuffle: expected True, False or 'batch', got 'rows'"),
        ({"validation_split": 1.5}, "validation_split: expected a share between 0 and 1, got 1.5"),
        ({"validation_split": 0.99}, "validation_split=0.99 of 8 samples leaves one side empty"),
        ({"validation_data": X}, r"validation_data: expected a tuple \(x, y\)"),
    ],
)
def test_arguments_of_fit_that_make_no_sense(arguments, words):
    with pytest.raises((ArgumentError, DataError), match=words):
        compiled().fit(X, Y, verbose=0, **arguments)


@pytest.mark.parametrize("data", [(X,), (X, Y, None, Y)], ids=["x alone", "four arrays"])
@pytest.mark.parametrize("road", ["fit", "fit_generator"])
def test_validation_data_of_neither_two_nor_three_parts_are_refused(road, data):
    given = (X, Y) if road == "fit" else (iter([(X, Y)]), 1)
    with pytest.raises(DataError, match=r"validation_data: expected a tuple \(x, y\) or"):
        getattr(compiled(), road)(*given, validation_data=data, verbose=0)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (
            [callbacks.History],
            r"callbacks\[0\]: expected an instance, got the class History\. Write History\(\)",
        ),
        (
            [callbacks.History(), print],
            r"callbacks\[1\]: expected a callback, .* Wrap a function: LambdaCallback",
        ),
        ("history", "callbacks: expected a list of callbacks, got str"),
    ],
)
def test_a_bad_callback_is_told_before_anything_is_trained(bad, words):
    model = compiled()
    with pytest.raises(TypeError, match=words):
        model.fit(X, Y, callbacks=bad, verbose=0)
    assert model.train_function is None


def test_nan_in_the_loss_names_the_epoch_and_the_batch():
    x = np.ones((8, 4), "float32")
    x[5] = np.nan
    model = compiled()
    with pytest.warns(NumericsWarning, match="the loss became nan in epoch 0, batch 2") as caught:
        model.fit(x, Y, batch_size=2, epochs=2, shuffle=False, verbose=0)
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_an_infinite_loss_is_told_too():
    model = Sequential([Lambda(lambda x: K.exp(x), input_shape=(4,)), Dense(1)])
    model.compile("sgd", "mse")
    with pytest.warns(NumericsWarning, match="the loss became (inf|nan) in epoch 0, batch 0"):
        model.fit(1000 * X, Y, verbose=0)


# --- at run time ----------------------------------------------------------------------------------


def test_an_index_beyond_the_embedding_says_which_layer_failed():
    model = Sequential([Embedding(3, 2, input_length=2, name="words")])
    with pytest.raises((IndexError, KerascopeError)) as caught:
        model.predict(np.array([[0, 7]]))
    notes = [str(caught.value), *getattr(caught.value, "__notes__", [])]
    assert any("words" in note for note in notes)
    assert any("test_errors.py" in note for note in notes)


def test_every_error_is_also_the_builtin_one_that_a_script_would_catch():
    with pytest.raises(ValueError, match="x and y"):
        compiled().fit(X, Y[:2])
    with pytest.raises(RuntimeError, match="compile"):
        Sequential([Dense(1, input_shape=(4,))]).fit(X, Y)
    with pytest.raises(AttributeError, match="never been called"):
        _ = Dense(1).output


# --- tracebacks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["arrays", "generator"])
def test_only_kerascope_is_between_fit_and_an_error_in_the_data(data):
    x = X[:, :3]
    arguments = {"x": x, "y": Y} if data == "arrays" else {"x": iter([(x, Y)])}
    with pytest.raises(DataError) as raised:
        compiled().fit(**arguments, verbose=0, steps_per_epoch=1)
    others = [entry.path for entry in raised.traceback[1:] if "kerascope" not in entry.path.parts]
    assert others == []
