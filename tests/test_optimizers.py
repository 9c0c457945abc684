import warnings

import numpy as np
import pytest
from optimizer_reference import Problem, train

from kerascope import backend as K
from kerascope import constraints, optimizers
from kerascope.errors import (
    ArgumentError,
    GradientError,
    KerascopeWarning,
    RefusedError,
    ShapeError,
    UnknownNameError,
)
from kerascope.optimizers import SGD, Adam, Nadam, Optimizer, ParameterUpdate, RMSprop
from kerascope.optimizers.base import DecayingOptimizer
from kerascope.settings import config
from kerascope.stage import Mark, Stage, observing

NAMES = ["SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam"]

# Arguments under which ten steps are compared with the loops of optimizer_reference.
SETTINGS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "decay": 0.5}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "decay": 0.1}),
    ("SGD", {"lr": 0.1, "clipnorm": 0.5}),
    ("SGD", {"lr": 0.1, "clipvalue": 0.2}),
    ("SGD", {"lr": 0.1, "clipnorm": 0.5, "clipvalue": 0.2}),
    ("RMSprop", {"lr": 0.05}),
    ("RMSprop", {"lr": 0.05, "rho": 0.7, "epsilon": 0.01, "decay": 0.2}),
    ("Adagrad", {"lr": 0.2}),
    ("Adagrad", {"lr": 0.2, "epsilon": 0.1, "decay": 0.2, "clipnorm": 1.0}),
    ("Adadelta", {"lr": 1.0, "epsilon": 1e-3}),
    ("Adadelta", {"lr": 0.7, "rho": 0.8, "epsilon": 0.01, "decay": 0.2}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.01, "decay": 0.2}),
    ("Adam", {"lr": 0.5, "beta_2": 0.5, "amsgrad": True, "clipvalue": 0.3}),
    ("Adamax", {"lr": 0.1}),
    ("Adamax", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 0.01, "decay": 0.2}),
    ("Nadam", {"lr": 0.1}),
    ("Nadam", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "schedule_decay": 0.5, "clipnorm": 0.5}),
]


def symbolic(problem, dtype=None):
    """Return the loss and the two parameters of a problem as tensors."""
    W = K.variable(problem.start[0], dtype=dtype, name="dense_1/kernel")
    b = K.variable(problem.start[1], dtype=dtype, name="dense_1/bias")
    x, y = K.constant(problem.x, dtype=dtype), K.constant(problem.y, dtype=dtype)
    return K.mean(K.square(K.dot(x, W) + b - y)), [W, b]


def train_function(optimizer, loss, params):
    """Return a train step as a model makes it: the count of steps comes last."""
    updates = optimizer.get_updates(loss, params)
    return K.function(
        [], [loss], updates=[*updates, (optimizer.iterations, optimizer.iterations + 1)]
    )


def trained(optimizer, problem, steps=10, dtype=None):
    loss, params = symbolic(problem, dtype)
    step = train_function(optimizer, loss, params)
    for _ in range(steps):
        step([])
    return K.batch_get_value(params)


@pytest.mark.parametrize(("name", "options"), SETTINGS)
def test_ten_steps_equal_the_loops(name, options, monkeypatch):
    monkeypatch.setattr(config, "floatx", "float64")
    result = trained(getattr(optimizers, name)(**options), Problem())
    expected = train(name, Problem(), 10, **options)
    for ours, reference in zip(result, expected, strict=True):
        np.testing.assert_allclose(ours, reference, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("floatx", ["float16", "float32", "float64"])
def test_types_follow_floatx_and_the_parameter(name, floatx, monkeypatch):
    monkeypatch.setattr(config, "floatx", floatx)
    # Adadelta's first steps have the size of the root of epsilon: too small for float16.
    options = {"lr": 1.0, "epsilon": 0.01} if name == "Adadelta" else {"lr": 0.05}
    optimizer = getattr(optimizers, name)(**options)
    loss, params = symbolic(Problem())
    step = train_function(optimizer, loss, params)
    losses = [float(step([])[0]) for _ in range(20)]
    assert optimizer.lr.dtype == floatx
    slots = [w.dtype for w in optimizer.weights if w.ndim]
    assert slots == [floatx] * len(slots)
    assert optimizer.iterations.dtype == "int64"
    assert np.isfinite(losses).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("name", NAMES)
def test_slots_have_the_dtype_of_their_parameter(name):
    optimizer = getattr(optimizers, name)()
    loss, params = symbolic(Problem(), dtype="float64")
    optimizer.get_updates(loss, params)
    slots = [w.dtype for w in optimizer.weights if w.ndim]
    assert slots
    assert set(slots) == {"float64"}
    assert optimizer.lr.dtype == "float32"


# --- what get_updates returns ---------------------------------------------------------------------


def documents_model():
    """Return loss and six parameters of the documents' model: 20-64-64-1."""
    rng = np.random.default_rng(0)
    h, params = K.constant(rng.random((50, 20))), []
    for layer, (inputs, units) in enumerate([(20, 64), (64, 64), (64, 1)], start=1):
        params.append(K.variable(rng.normal(size=(inputs, units)), name=f"dense_{layer}/kernel"))
        params.append(K.variable(np.zeros(units), name=f"dense_{layer}/bias"))
        h = K.tanh(K.dot(h, params[-2]) + params[-1])
    return K.mean(K.square(h)), params


def test_rmsprop_gives_twelve_pairs_accumulator_before_parameter():
    loss, params = documents_model()
    updates = RMSprop().get_updates(loss, params)
    assert len(updates) == 12
    assert [v for v, _ in updates[1::2]] == params
    assert [v.name for v, _ in updates[::2]] == [f"{p.name}/accumulator" for p in params]


def test_first_variable_of_rmsprop_is_a_zero_accumulator():
    loss, params = documents_model()
    v, nv = RMSprop().get_updates(loss, params)[0]
    assert v._keras_shape == (20, 64)
    assert v.get_value().dtype == "float32"
    assert not v.get_value().any()
    assert nv.shape == (20, 64)


@pytest.mark.parametrize("name", NAMES)
def test_count_of_steps_is_not_among_the_updates(name):
    optimizer = getattr(optimizers, name)()
    updates = optimizer.get_updates(*symbolic(Problem()))
    assert optimizer.iterations not in [v for v, _ in updates]
    assert optimizer.updates == updates


@pytest.mark.parametrize("name", NAMES)
def test_each_variable_is_updated_once(name):
    optimizer = getattr(optimizers, name)()
    loss, params = symbolic(Problem())
    updated = [v for v, _ in optimizer.get_updates(loss, params)]
    assert len(set(updated)) == len(updated)
    assert set(updated) == {*params, *optimizer.weights[1:]}


def test_weights_are_iterations_then_slots():
    optimizer = Adam(amsgrad=True)
    assert optimizer.weights == [optimizer.iterations]
    optimizer.get_updates(*symbolic(Problem()))
    assert [w.name for w in optimizer.weights] == [
        "iterations",
        "dense_1/kernel/m",
        "dense_1/bias/m",
        "dense_1/kernel/v",
        "dense_1/bias/v",
        "dense_1/kernel/v_max",
        "dense_1/bias/v_max",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_second_get_updates_makes_fresh_slots_and_leaves_the_old_ones(name):
    optimizer = getattr(optimizers, name)()
    loss, params = symbolic(Problem())
    step = train_function(optimizer, loss, params)
    step([])
    old = optimizer.weights
    numbers = K.batch_get_value(old)
    optimizer.get_updates(loss, params)
    assert not set(old[1:]) & set(optimizer.weights[1:])
    assert optimizer.iterations is old[0]
    for before, after in zip(numbers, K.batch_get_value(old), strict=True):
        assert np.array_equal(before, after)


@pytest.mark.parametrize("name", NAMES)
def test_state_set_again_continues_exactly(name):
    def make():
        return getattr(optimizers, name)(lr=0.1)

    whole = trained(make(), Problem(), steps=6)
    first = make()
    loss, params = symbolic(Problem())
    step = train_function(first, loss, params)
    for _ in range(3):
        step([])
    second, values = make(), K.batch_get_value(params)
    loss, params = symbolic(Problem())
    step = train_function(second, loss, params)
    K.batch_set_value(zip(params, values, strict=True))
    second.set_weights(first.get_weights())
    for _ in range(3):
        step([])
    for ours, reference in zip(K.batch_get_value(params), whole, strict=True):
        assert np.array_equal(ours, reference)


def test_parameters_constraint_is_applied_to_the_new_value():
    W = K.variable([[3.0], [4.0]], constraint=constraints.UnitNorm())
    updates = SGD(lr=0.0).get_updates(K.sum(W), [W])
    K.function([], [], updates=updates)([])
    np.testing.assert_allclose(K.get_value(W), [[0.6], [0.8]], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_every_optimizer_applies_the_constraint(name):
    W = K.variable([[3.0], [4.0]], constraint=lambda w: w * 0.0 + 5.0)
    updates = getattr(optimizers, name)().get_updates(K.sum(W), [W])
    K.function([], [], updates=updates)([])
    assert K.get_value(W).tolist() == [[5.0], [5.0]]


@pytest.mark.parametrize("name", NAMES)
def test_call_of_keras_1_is_understood(name):
    loss, params = symbolic(Problem())
    kernel, bias = params
    updates = getattr(optimizers, name)().get_updates(params, {bias: lambda b: b * 0.0 + 5.0}, loss)
    K.function([], [], updates=updates)([])
    assert K.get_value(bias).tolist() == [5.0, 5.0]
    assert 5.0 not in K.get_value(kernel)


def test_early_keras_2_order_is_understood():
    loss, params = symbolic(Problem())
    assert len(SGD().get_updates(params, loss)) == 4
    assert len(SGD().get_updates(params=params, loss=loss)) == 4


def test_something_else_than_loss_and_parameters_is_refused():
    with pytest.raises(ArgumentError, match="expected a loss tensor and a list of variables"):
        SGD().get_updates(3.0, [K.variable(1.0)])


# --- stages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_stage_yields_the_gradients_then_one_event_per_parameter(name):
    loss, params = symbolic(Problem())
    optimizer = getattr(optimizers, name)()
    stage = optimizer.updates_stage(loss, params)
    first, *rest = list(stage)
    assert isinstance(first, Stage)
    assert first.name == "gradients"
    assert [type(event) for event in rest] == [ParameterUpdate] * 2
    assert [event.param for event in rest] == params
    assert [event.gradient.shape for event in rest] == [(3, 2), (2,)]
    pairs = [pair for event in rest for pair in event.pairs]
    assert stage.result[-len(pairs) :] == pairs
    assert stage.result == optimizer.updates


def test_debugger_stop_sees_the_names_of_the_formula():
    loss, params = symbolic(Problem())
    stage = RMSprop().updates_stage(loss, params)
    events = iter(stage)
    next(events)
    event = next(events)
    names = stage.names
    assert names["loss"] is loss
    assert names["params"] == params
    assert names["p"] is params[0]
    assert names["g"] is event.gradient
    assert {"grads", "a", "new_a", "new_p", "lr"} <= names.keys()


def test_adam_stop_sees_its_own_names():
    stage = Adam().updates_stage(*symbolic(Problem()))
    events = iter(stage)
    next(events)
    next(events)
    shown = {"params", "grads", "loss", "p", "g", "m", "v", "new_m", "new_v", "new_p", "lr", "lr_t"}
    assert shown <= stage.names.keys()


def test_walked_updates_compute_the_same_as_drained_ones():
    walked, drained = Problem(), Problem()
    loss, params = symbolic(walked)
    stage = Adam(lr=0.1).updates_stage(loss, params)
    for _, _event in stage.walk():
        pass
    K.function([], [], updates=stage.result)([])
    for ours, reference in zip(
        K.batch_get_value(params), trained(Adam(lr=0.1), drained, steps=1), strict=True
    ):
        assert np.array_equal(ours, reference)


def test_observer_hears_the_gradient_sweep_inside():
    heard = []
    with observing(lambda stage, event: heard.append((stage.name, event))):
        SGD().get_updates(*symbolic(Problem()))
    started = [name for name, event in heard if event is Mark.started]
    assert started == ["get_updates", "gradients"]
    assert heard[-1] == ("get_updates", Mark.finished)


def test_ops_of_an_update_are_named_after_their_parameter():
    updates = dict(SGD().get_updates(*symbolic(Problem())))
    new_values = {v.name: nv.name for v, nv in updates.items()}
    assert new_values["dense_1/kernel"].startswith("update/dense_1/kernel/")


# --- gradients ------------------------------------------------------------------------------------


def test_gradients_are_clipped_by_their_common_norm_then_by_value():
    a, b = K.variable([3.0, 0.0]), K.variable(4.0)
    loss = K.sum(K.square(a)) / 2 + K.square(b) / 2
    plain = SGD().get_gradients(loss, [a, b])
    by_norm = SGD(clipnorm=1.0).get_gradients(loss, [a, b])
    loose = SGD(clipnorm=100.0).get_gradients(loss, [a, b])
    by_both = SGD(clipnorm=1.0, clipvalue=0.7).get_gradients(loss, [a, b])
    for grads, expected in [
        (plain, [[3.0, 0.0], 4.0]),
        (by_norm, [[0.6, 0.0], 0.8]),
        (loose, [[3.0, 0.0], 4.0]),
        (by_both, [[0.6, 0.0], 0.7]),
    ]:
        np.testing.assert_allclose(K.eval(grads[0]), expected[0], rtol=1e-6)
        np.testing.assert_allclose(K.eval(grads[1]), expected[1], rtol=1e-6)


def test_zero_gradients_stay_zero_under_clipnorm():
    p = K.variable(np.zeros(3))
    g = SGD(clipnorm=1.0).get_gradients(K.sum(K.square(p)), [p])[0]
    assert K.eval(g).tolist() == [0.0, 0.0, 0.0]


def test_missing_gradient_names_the_parameter_and_the_op():
    W = K.variable(np.eye(2), name="dense_1/kernel")
    loss = K.sum(K.round(W), axis=None)
    with pytest.raises(GradientError) as caught:
        SGD().get_gradients(loss, [W])
    message = str(caught.value)
    assert "parameter 'dense_1/kernel' gets no gradient" in message
    assert "An operation has `None` for gradient." in message
    assert "It stops at 'round'" in message
    assert caught.value.subject.op.name == "round"


def test_missing_gradient_of_an_unused_parameter_says_so():
    used, unused = K.variable(1.0, name="used"), K.variable(1.0, name="unused")
    with pytest.raises(
        GradientError, match=r"'unused' gets no .*loss does not depend on it"
    ) as caught:
        SGD().get_updates(K.square(used), [used, unused])
    assert "An operation has `None` for gradient." in str(caught.value)
    assert caught.value.subject is unused


def test_failed_get_updates_leaves_the_optimizer_as_it_was():
    optimizer = Adam()
    loss, params = symbolic(Problem())
    optimizer.get_updates(loss, params)
    weights, updates = optimizer.weights, optimizer.updates
    with pytest.raises(GradientError):
        optimizer.get_updates(loss, [*params, K.variable(1.0)])
    assert optimizer.weights is weights
    assert optimizer.updates is updates


# --- hyperparameters ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_learning_rate_is_another_name_of_lr(name):
    cls = getattr(optimizers, name)
    optimizer = cls(learning_rate=0.25)
    assert K.get_value(optimizer.lr) == 0.25
    assert optimizer.learning_rate is optimizer.lr
    with pytest.raises(ArgumentError, match="'learning_rate' and 'lr' are the same"):
        cls(lr=0.1, learning_rate=0.2)


def test_rate_can_be_changed_after_the_train_function_is_made():
    for change in (
        lambda optimizer: K.set_value(optimizer.lr, 0.0),
        lambda optimizer: setattr(optimizer, "lr", 0.0),
        lambda optimizer: setattr(optimizer, "learning_rate", 0.0),
    ):
        optimizer = SGD(lr=0.1)
        loss, params = symbolic(Problem())
        step = train_function(optimizer, loss, params)
        change(optimizer)
        before = K.batch_get_value(params)
        step([])
        assert all(map(np.array_equal, before, K.batch_get_value(params)))


def test_hyperparameters_are_variables_that_get_value_reads():
    optimizer = Nadam()
    assert K.get_value(optimizer.iterations) == 0
    assert K.get_value(optimizer.beta_1) == np.float32(0.9)
    assert K.get_value(Adam(decay=0.5).decay) == 0.5
    assert K.get_value(RMSprop().rho) == np.float32(0.9)


def test_default_arguments_are_those_of_keras_2():
    assert {name: getattr(optimizers, name)().get_config() for name in NAMES} == {
        "SGD": {"lr": 0.01, "momentum": 0.0, "decay": 0.0, "nesterov": False},
        "RMSprop": {"lr": 0.001, "rho": 0.9, "epsilon": 1e-7, "decay": 0.0},
        "Adagrad": {"lr": 0.01, "epsilon": 1e-7, "decay": 0.0},
        "Adadelta": {"lr": 1.0, "rho": 0.95, "epsilon": 1e-7, "decay": 0.0},
        "Adam": {
            "lr": 0.001,
            "beta_1": 0.9,
            "beta_2": 0.999,
            "epsilon": 1e-7,
            "decay": 0.0,
            "amsgrad": False,
        },
        "Adamax": {"lr": 0.002, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-7, "decay": 0.0},
        "Nadam": {
            "lr": 0.002,
            "beta_1": 0.9,
            "beta_2": 0.999,
            "epsilon": 1e-7,
            "schedule_decay": 0.004,
        },
    }


def test_unexpected_argument_is_named_with_the_nearest():
    with pytest.raises(
        ArgumentError, match=r"SGD: unexpected argument 'clipnrom'. Did you mean 'cl"
    ):
        SGD(clipnrom=1.0)


@pytest.mark.parametrize("value", ["fast", [0.1], None])
def test_rate_that_is_no_number_is_refused(value):
    with pytest.raises(ArgumentError, match=r"SGD: lr: expected a number"):
        SGD(lr=value)


def test_negative_clipping_is_refused():
    with pytest.raises(ArgumentError, match="SGD: clipnorm: expected a number >= 0, got -1"):
        SGD(clipnorm=-1)


def test_wrong_weights_are_refused_and_change_nothing():
    optimizer = SGD()
    optimizer.get_updates(*symbolic(Problem()))
    with pytest.raises(ArgumentError, match="expected 3 arrays, .*got 2"):
        optimizer.set_weights([0, np.zeros((3, 2))])
    with pytest.raises(ShapeError):
        optimizer.set_weights([5, np.ones((3, 2)), np.ones(7)])
    assert K.get_value(optimizer.iterations) == 0
    assert not optimizer.get_weights()[1].any()


def test_adam_reads_the_unused_slots_of_a_keras_2_file():
    optimizer = Adam()
    optimizer.get_updates(*symbolic(Problem()))
    slots = [np.full((3, 2), 1.0), np.full(2, 2.0), np.full((3, 2), 3.0), np.full(2, 4.0)]
    optimizer.set_weights([np.int64(9), *slots, np.zeros(1), np.zeros(1)])
    assert K.get_value(optimizer.iterations) == 9
    assert [float(array.flat[0]) for array in optimizer.get_weights()[1:]] == [1, 2, 3, 4]


# --- names and own optimizers ---------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("spelled", [str.lower, str.upper, str])
def test_capitals_in_a_name_do_not_matter(name, spelled):
    assert type(optimizers.get(spelled(name))).__name__ == name
    assert getattr(optimizers, name.lower()) is getattr(optimizers, name)


def test_unknown_optimizer_suggests_the_nearest():
    with pytest.raises(
        UnknownNameError, match=r"Unknown optimizer 'rmsporp'. Did you mean 'rmsprop'"
    ):
        optimizers.get("rmsporp")


def test_optimizer_object_passes_through():
    optimizer = SGD()
    assert optimizers.get(optimizer) is optimizer


def test_optimizer_of_tensorflow_is_refused():
    with pytest.raises(RefusedError, match=r"TFOptimizer: .*kerascope.optimizers"):
        optimizers.TFOptimizer(object())


class Halving(Optimizer):
    """An optimizer in the style of a Keras 2 script."""

    def __init__(self, lr=0.5, **kwargs):
        super().__init__(**kwargs)
        self.lr = K.variable(lr, name="lr")

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.updates = [K.update_add(self.iterations, 1)]
        for p, g in zip(params, grads, strict=True):
            self.updates.append(K.update(p, p - self.lr * g / 2))
        return self.updates


def test_optimizer_in_the_style_of_keras_2_works():
    p = K.variable(4.0)
    optimizer = Halving(clipvalue=2.0)
    stage = optimizer.updates_stage(K.square(p), [p])
    K.function([], [], updates=stage.run())([])
    assert K.get_value(p) == 3.5
    assert K.get_value(optimizer.iterations) == 1
    restored = optimizers.deserialize(optimizers.serialize(optimizer), {"Halving": Halving})
    assert restored.get_config() == {"lr": 0.5, "clipvalue": 2.0}


class Capped(DecayingOptimizer):
    """An optimizer of a user: its steps are no longer than a bound that doubles."""

    slots = {"r": "reach"}  # noqa: RUF012 (read only)
    initial_reach_value = 1.0

    def __init__(self, lr=0.5, decay=0.0, **kwargs):
        super().__init__(lr, decay, **kwargs)

    def step(self, p, g, lr, r):
        new_r = 2.0 * r
        return new_r, p - K.minimum(lr * g, new_r)


def test_an_optimizer_of_ones_own_is_its_slots_and_its_step():
    p = K.variable(8.0, name="p", constraint=lambda new_p: K.maximum(new_p, 3.0))
    optimizer = Capped()
    stage = optimizer.updates_stage(K.square(p), [p])
    *_, _ = iter(stage)
    step = K.function([], [], updates=stage.result)
    step([])
    assert K.get_value(p) == 6.0
    step([])
    assert K.get_value(p) == 3.0
    iterations, reach = optimizer.weights
    assert (iterations.name, reach.name, K.get_value(reach)) == ("iterations", "p/reach", 4.0)


def test_replaced_get_gradients_is_used_by_every_rule():
    p = K.variable(4.0)
    optimizer = SGD(lr=1.0)
    optimizer.get_gradients = lambda loss, params: [K.constant(0.25) for _ in params]
    K.function([], [], updates=optimizer.get_updates(K.square(p), [p]))([])
    assert K.get_value(p) == 3.75


def test_optimizer_without_a_rule_says_so():
    with pytest.raises(NotImplementedError, match="Optimizer: write the method get_upd"):
        Optimizer().get_updates(*symbolic(Problem()))


@pytest.mark.parametrize(
    ("name", "wrong", "meant"),
    [
        ("SGD", "momentm", "momentum"),
        ("Adam", "beta1", "beta_1"),
        ("RMSprop", "clipnrm", "clipnorm"),
    ],
)
def test_a_misspelt_argument_is_guessed_from_those_of_its_own_class(name, wrong, meant):
    with pytest.raises(ArgumentError, match=f"{wrong!r}. Did you mean {meant!r}"):
        getattr(optimizers, name)(**{wrong: 0.1})


@pytest.mark.parametrize(
    ("optimizer", "name", "value", "message"),
    [
        (SGD(momentum=0.5), "clipnorm", 1e-9, "made with clipnorm=None; 1e-09 takes effect"),
        (SGD(momentum=0.5), "clipvalue", 0.5, "with the next compile"),
        (SGD(momentum=0.5), "nesterov", True, "SGD: .* nesterov=False"),
        (SGD(), "decay", 1.0, "decay=0.0"),
        (SGD(), "weight_decay", 0.1, "weight_decay=None"),
        (Adam(0.5, beta_2=0.5), "amsgrad", True, "amsgrad=False"),
        (RMSprop(), "epsilon", 1.0, "epsilon=1e-07"),
    ],
)
def test_a_hyperparameter_that_comes_too_late_says_so(optimizer, name, value, message):
    p = K.variable([1.0, 2.0])

    def step():
        return K.function([], [], updates=optimizer.get_updates(K.sum(K.square(p)), [p]))

    def after(train):
        optimizer.iterations.set_value(3)
        p.set_value([1.0, 2.0])
        for _ in range(6):
            train([])
        return p.get_value()

    first = step()
    with pytest.warns(KerascopeWarning, match=message):
        setattr(optimizer, name, value)
    setattr(optimizer, name, value)  # nothing new, so no second warning
    assert not np.array_equal(after(first), after(step()))


class ChangingItself(SGD):
    """Keras 2's way: `get_updates` changes an argument of the constructor, after the updates."""

    def __init__(self, lr=0.1, share=1.0):
        super().__init__(lr)
        self.share = share

    def get_updates(self, loss, params):
        grads = self.get_gradients(loss, params)
        self.share = self.share / 2
        self.updates = [(p, p - self.share * g) for p, g in zip(params, grads, strict=True)]
        self.share = self.share / 2
        return self.updates


def test_a_rule_may_change_a_hyperparameter_while_it_runs():
    optimizer, p = ChangingItself(), K.variable(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            optimizer.updates_stage(K.square(p), [p]).run()
    assert optimizer.share == 1 / 16
    with pytest.warns(KerascopeWarning, match="made with share=0.0625; 1.0 takes effect"):
        optimizer.share = 1.0


@pytest.mark.parametrize("name", ["lr", "momentum", "decay"])
def test_a_hyperparameter_with_a_variable_takes_effect_at_once(name):
    optimizer, p = SGD(0.1, momentum=0.5, decay=0.1), K.variable(1.0)
    f = K.function([], [], updates=optimizer.get_updates(K.square(p), [p]))

    def after_two_steps():
        K.batch_set_value([(w, np.zeros_like(w.get_value())) for w in optimizer.weights])
        optimizer.iterations.set_value(3)
        p.set_value(1.0)
        f([])
        f([])
        return float(p.get_value())

    before = after_two_steps()
    setattr(optimizer, name, 0.9)
    assert after_two_steps() != before


def test_a_decay_that_is_set_before_the_first_step_counts():
    optimizer, p = SGD(0.1), K.variable(1.0)
    optimizer.decay = 1.0
    optimizer.iterations.set_value(1)
    K.function([], [], updates=optimizer.get_updates(K.square(p), [p]))([])
    assert float(p.get_value()) == pytest.approx(1.0 - 0.1 / 2 * 2)
