"""Each op knows the user's line that made it, or its layer, or compiled the model."""

import copy
import gc
import inspect
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.graph import Op, applies_in_order
from kerascope.backend.provenance import describe_line, provenance_of
from kerascope.layers import Bidirectional, Dense, Input, Lambda, Layer, SimpleRNN
from kerascope.models import Model, Sequential
from kerascope.user_frames import LIBRARY, OURS, USER, owner_of_file


def line_with(words):
    """Return the number of this file's line that holds these words, of which there is one."""
    lines = inspect.getsource(sys.modules[__name__]).split("\n")
    (found,) = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith(words)]
    return found


def steps_of(model):
    model._make_train_function()
    return [step.apply for step in model.train_function.schedule.steps]


def helper(x):
    return K.square(x)  # in the helper


def own_loss(y_true, y_pred):
    return K.mean(helper(y_true - y_pred), axis=-1)  # in the loss


class Norm(Layer):
    def call(self, x):
        centred = x - K.mean(x, axis=-1, keepdims=True)  # centred
        return centred / 2.0  # halved


class Around(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = Dense(2)  # inner made

    def call(self, x):
        return self.inner(x)  # inner called


@pytest.fixture(scope="module")
def applies():
    x = Input((4,))
    y = Dense(3, activation="relu", name="first")(x)  # first made
    y = Norm(name="norm")(y)
    y = Around(name="around")(y)
    y = Lambda(lambda t: t * 3.0, name="lam")(y)  # in the lambda
    made = Model(x, y)
    made.compile("sgd", own_loss, metrics=["mae"])  # compiled here
    return steps_of(made)


def found(applies, name):
    """Return the one provenance that all ops of a name have; they may be several."""
    (same,) = {provenance_of(apply) for apply in applies if apply.name == name}
    return same


def test_an_op_of_a_layers_own_call_has_the_line_in_it(applies):
    of_op = found(applies, "norm/divide")
    assert of_op.line[1:3] == (line_with("# halved"), "call")
    assert of_op.kind == "op"
    assert not of_op.words


def test_an_op_of_a_librarys_layer_has_the_line_that_made_the_layer(applies):
    of_op = found(applies, "first/dot")
    assert of_op.line.line == line_with("# first made")
    assert of_op.words == "made first"


def test_a_layer_inside_anothers_call_was_made_where_and_called_where(applies):
    of_op = found(applies, _inner_dot(applies))
    assert of_op.line.line == line_with("# inner made")
    assert of_op.called_from[0].line == line_with("# inner called")
    assert of_op.called_from[1].line == line_with('y = Around(name="around")(y)')


def _inner_dot(applies):
    (name,) = [a.name for a in applies if a.name.startswith("around/") and a.op.name == "dot"]
    return name


def test_a_lambda_has_its_own_line(applies):
    of_op = found(applies, "lam/multiply")
    assert of_op.line[1:3] == (line_with("# in the lambda"), "<lambda>")


def test_a_loss_has_its_lines_the_helpers_first_and_is_called_from_compile(applies):
    of_op = found(applies, "lam_loss/square")
    assert [line.function for line in of_op.made_by] == ["helper", "own_loss"]
    assert [line.line for line in of_op.made_by] == [
        line_with("# in the helper"),
        line_with("# in the loss"),
    ]
    assert of_op.called_from[0].line == line_with("# compiled here")


def test_updates_and_librarys_losses_have_the_line_of_compile_though_fit_made_them(applies):
    of_updates = [provenance_of(a) for a in applies if a.scope.name.startswith("update/")]
    assert len(of_updates) > 3
    assert {x.line.line for x in of_updates} == {line_with("# compiled here")}
    assert {x.kind for x in of_updates} == {"compile"}
    (of_metric,) = {
        provenance_of(a).line.line for a in applies if a.scope.name.startswith("lam_metrics")
    }
    assert of_metric == line_with("# compiled here")


def test_a_gradient_has_the_line_of_the_op_that_it_is_of_and_says_so(applies):
    own = [a for a in applies if a.name.startswith("gradients/lam/")]
    assert own
    for apply in own:
        of_op = provenance_of(apply)
        assert of_op.line.line == line_with("# in the lambda")
        assert of_op.gradient_of == "lam/multiply"
        assert not of_op.made_by  # his line has not made it itself


def test_every_op_of_a_train_step_has_a_line_in_the_script(applies):
    assert {provenance_of(apply).line.file for apply in applies} == {__file__}


class Cube(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x**3

    def grad(self, inputs, outputs, output_grads):
        return [3.0 * K.square(inputs[0]) * output_grads[0]]  # own gradient


def test_a_gradient_that_the_user_wrote_has_his_line():
    x = K.placeholder(shape=(2,))
    (gradient,) = K.gradients(Cube()(x), [x])
    of_op = provenance_of(gradient.owner)
    assert of_op.line.line == line_with("# own gradient")
    assert of_op.made_by[0] == of_op.line


def test_updates_that_are_asked_for_without_a_model_have_the_line_that_asks():
    from kerascope.optimizers import SGD

    w = K.variable(1.0)
    pairs = SGD().get_updates(K.square(w), [w])  # asked here
    of_op = provenance_of(pairs[0][1].owner)
    assert of_op.line.line == line_with("# asked here")


def test_an_op_between_layers_and_the_steps_of_a_loop_have_their_lines():
    x = Input((3, 2))
    total = x * 2.0  # between layers
    assert provenance_of(total.owner).line.line == line_with("# between layers")
    from kerascope.backend.ops.loops import foldl

    y = foldl(lambda a, b: a + b * 2.0, K.placeholder(shape=(5,)))  # of a step
    loops = applies_in_order([y])
    steps = [a for loop in loops if loop.op.name == "scan" for a in loop.op.inner.applies]
    assert steps
    lines = {provenance_of(a).line.line for a in (*loops, *steps)}
    assert lines == {line_with("# of a step")}


def test_layers_inside_a_wrapper_have_the_line_of_the_script():
    model = Sequential([
        Bidirectional(SimpleRNN(2), input_shape=(3, 2)),  # both ways
    ])  # fmt: skip
    applies = applies_in_order(model.outputs)
    assert {provenance_of(a).line.line for a in applies} == {line_with("# both ways")}


def test_a_layers_call_knows_where_it_was_called():
    x = Input((4,))
    shared = Dense(4)
    shared(x)  # first call
    shared(x)  # second call
    assert [node.called_at.first.line for node in shared.inbound_nodes] == [
        line_with("# first call"),
        line_with("# second call"),
    ]


def test_a_line_has_columns():
    y = K.exp(K.placeholder(shape=(2,))) + 1.0  # columns
    text = inspect.getsource(sys.modules[__name__]).split("\n")[line_with("# columns") - 1]
    exp = provenance_of(y.owner.inputs[0].owner).line
    assert text[exp.column : exp.end_column] == "K.exp(K.placeholder(shape=(2,)))"


class Big:
    """An object that tells when it is gone."""


def test_no_frame_and_nothing_in_it_is_held():
    def made():
        big = Big()
        y = K.exp(K.placeholder(shape=(2,)))
        assert Dense(2)(Input((3,))) is not None
        return y, weakref.ref(big)

    y, big = made()
    gc.collect()
    assert big() is None
    assert provenance_of(y.owner).line.function == "made"


def test_graphs_are_copied_and_pickled_with_their_lines():
    y = K.exp(K.placeholder(shape=(2,)))  # pickled
    for other in (copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        again = pickle.loads(pickle.dumps(other))
        assert provenance_of(again.owner) == provenance_of(y.owner)
    assert provenance_of(again.owner).line.line == line_with("# pickled")


def test_a_model_is_copied_and_pickled_as_before():
    model = Sequential([Dense(2, input_dim=3)])
    model.compile("sgd", "mse")
    x = np.ones((2, 3), "float32")
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(other.predict(x), model.predict(x))
        other.train_on_batch(x, np.ones((2, 2)))


def test_whose_a_file_is(tmp_path):
    import site

    assert owner_of_file(K.__file__) == OURS
    assert owner_of_file(inspect.__file__) == LIBRARY
    assert owner_of_file(np.__file__) == LIBRARY
    assert owner_of_file(site.getsitepackages()[0] + "/other/x.py") == LIBRARY
    assert owner_of_file(str(tmp_path / "train.py")) == USER
    assert owner_of_file("<ipython-input-3-abc>") == USER


def test_what_a_library_calls_has_the_users_line_behind_it():
    import functools

    y = functools.reduce(lambda a, b: a + b, [K.placeholder(shape=(2,))] * 2)  # reduced
    assert provenance_of(y.owner).line.line == line_with("# reduced")


def test_a_script_without_debug_ranges_has_lines_without_columns(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from kerascope import backend as K\n"
        "from kerascope.backend.provenance import provenance_of\n"
        "y = K.exp(K.placeholder(shape=(2,)))\n"
        "print(provenance_of(y.owner).line[1:])\n"
    )
    command = [sys.executable, "-X", "no_debug_ranges", str(script)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "(3, '<module>', None, None)\n"


def test_the_words_say_whose_line_it_is(applies):
    own = describe_line(found(applies, "norm/divide"))
    assert own == f"test_provenance.py:{line_with('# halved')} in call"
    made = describe_line(found(applies, "first/dot"))
    assert made == f"test_provenance.py:{line_with('# first made')} (made first)"


def test_a_warning_reaches_code_without_a_module_name():
    with pytest.warns(UserWarning, match="lost"):
        exec("from kerascope.user_frames import warn; warn('lost', UserWarning)", {})
