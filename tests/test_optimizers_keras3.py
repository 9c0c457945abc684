"""Ten steps of every optimizer against the real Keras 3, on jax, in float32.

The arguments are chosen so that both formulas coincide:

- epsilon: Keras 3 puts it under the root in RMSprop and Adagrad, where it is as good as zero here;
- Adagrad starts its accumulator at 0.1 in Keras 3 unless told 0;
- Nadam's momentum schedule is fixed in Keras 3 to what we call schedule_decay=1;
- clipnorm bounds the norm of all gradients together here, which Keras 3 calls global_clipnorm;
- decay is InverseTimeDecay in Keras 3, with decay_steps=1;
- hyperparameters are float32 variables here, so Keras 3 is given the same rounded numbers:
  1 - beta_2 would differ by 1e-5 otherwise.
"""

from inspect import signature

import numpy as np
import pytest
from keras_reference import answer, keras
from optimizer_reference import Problem

from kerascope import backend as K
from kerascope import optimizers
from kerascope.errors import KerascopeError

pytestmark = pytest.mark.usefixtures("answers")

TINY = 1e-12
BETAS = {"beta_1": 0.9, "beta_2": 0.999}

# name, our arguments, those that Keras 3 calls otherwise
SETTINGS = [
    ("SGD", {"lr": 0.1}, {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9}, {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {}),
    ("SGD", {"lr": 0.1, "decay": 0.3}, {}),
    ("SGD", {"lr": 0.1, "clipnorm": 0.5}, {"global_clipnorm": 0.5}),
    ("SGD", {"lr": 0.1, "clipvalue": 0.2}, {}),
    ("RMSprop", {"lr": 0.05, "epsilon": TINY}, {}),
    ("RMSprop", {"lr": 0.05, "rho": 0.7, "epsilon": TINY, "decay": 0.2}, {}),
    ("Adagrad", {"lr": 0.2, "epsilon": TINY}, {"initial_accumulator_value": 0.0}),
    ("Adadelta", {"lr": 1.0, "epsilon": 1e-3}, {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.8, "epsilon": 1e-2, "decay": 0.2}, {}),
    ("Adam", {"lr": 0.1}, {}),
    ("Adam", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 1e-3, "decay": 0.2}, {}),
    ("Adam", {"lr": 0.5, "beta_2": 0.5, "amsgrad": True}, {}),
    ("Adamax", {"lr": 0.1}, {}),
    ("Adamax", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "epsilon": 1e-3}, {}),
    ("Nadam", {"lr": 0.1, "schedule_decay": 1.0}, {}),
    ("Nadam", {"lr": 0.1, "beta_1": 0.7, "beta_2": 0.8, "schedule_decay": 1.0}, {}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}, {}),
    ("SGD", {"lr": 0.1, "global_clipnorm": 0.5}, {}),
    ("Adam", {"lr": 0.1, "weight_decay": 0.05, "decay": 0.2}, {}),
    ("AdamW", {"lr": 0.1}, {}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True, "beta_1": 0.8}, {}),
    ("Lamb", {"lr": 0.01}, {}),
    ("Lamb", {"lr": 0.02, "beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1}, {}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.9, "epsilon": TINY}, {}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5, "epsilon": TINY}, {}),
    ("RMSprop", {"lr": 0.01, "centered": True, "epsilon": TINY}, {}),
    ("Lion", {"lr": 0.1}, {}),
    ("Lion", {"lr": 0.05, "beta_1": 0.8, "beta_2": 0.9, "weight_decay": 0.1}, {}),
    ("Ftrl", {"lr": 0.3}, {}),
    ("Ftrl", {"lr": 0.3, "l1_regularization_strength": 0.05, "beta": 0.1}, {}),
    (
        "Ftrl",
        {
            "lr": 0.2,
            "learning_rate_power": -0.7,
            "initial_accumulator_value": 0.5,
            "l2_regularization_strength": 0.1,
            "l2_shrinkage_regularization_strength": 0.2,
        },
        {},
    ),
]


def parameters_of(cls):
    return list(signature(cls).parameters)


def their_optimizer(name, options, renamed):
    cls = getattr(keras.optimizers, name)
    parameters = answer(parameters_of, cls)
    betas = {n: d for n, d in BETAS.items() if n in parameters}
    if name == "Lion":
        betas["beta_2"] = 0.99
    options = {**betas, **options}
    for beta in betas:
        options[beta] = float(np.float32(options[beta]))
    rate, decay = options.pop("lr"), options.pop("decay", 0.0)
    options.pop("schedule_decay", None)
    if "global_clipnorm" in renamed:
        options.pop("clipnorm")
    if decay:
        rate = keras.optimizers.schedules.InverseTimeDecay(rate, 1, decay)
    return cls(learning_rate=rate, **options, **renamed)


def train_theirs(optimizer, problem, steps):
    params = [keras.Variable(p.astype("float32")) for p in problem.start]
    for _ in range(steps):
        grads = problem.gradients([np.asarray(p.value, "float64") for p in params])
        optimizer.apply([keras.ops.convert_to_tensor(g.astype("float32")) for g in grads], params)
    return [np.asarray(p.value) for p in params]


def train_ours(optimizer, problem, steps):
    params = [K.variable(p) for p in problem.start]
    predicted = K.dot(K.constant(problem.x), params[0]) + params[1]
    loss = K.mean(K.square(predicted - K.constant(problem.y)))
    updates = optimizer.get_updates(loss, params)
    step = K.function([], [loss], [*updates, (optimizer.iterations, optimizer.iterations + 1)])
    for _ in range(steps):
        step([])
    return K.batch_get_value(params)


@pytest.mark.parametrize(("name", "options", "renamed"), SETTINGS)
def test_ten_steps_agree_with_keras_3(name, options, renamed):
    ours = train_ours(getattr(optimizers, name)(**options), Problem(), 10)
    theirs = train_theirs(their_optimizer(name, options, renamed), Problem(), 10)
    for mine, real, start in zip(ours, theirs, Problem().start, strict=True):
        assert abs(mine - start).max() > 0.01  # they have moved
        np.testing.assert_allclose(mine, real, rtol=2e-5, atol=2e-6)


SCHEDULES = [
    ("ExponentialDecay", {"decay_steps": 4, "decay_rate": 0.5}),
    ("ExponentialDecay", {"decay_steps": 4, "decay_rate": 0.5, "staircase": True}),
    ("InverseTimeDecay", {"decay_steps": 4, "decay_rate": 0.5}),
    ("InverseTimeDecay", {"decay_steps": 4, "decay_rate": 0.5, "staircase": True}),
    ("PolynomialDecay", {"decay_steps": 6, "end_learning_rate": 0.01}),
    ("PolynomialDecay", {"decay_steps": 4, "power": 2.0, "cycle": True}),
    ("CosineDecay", {"decay_steps": 8}),
    ("CosineDecay", {"decay_steps": 8, "alpha": 0.1, "warmup_target": 0.5, "warmup_steps": 4}),
    ("CosineDecayRestarts", {"first_decay_steps": 3}),
    ("CosineDecayRestarts", {"first_decay_steps": 4, "t_mul": 1, "m_mul": 0.5, "alpha": 0.1}),
    ("CosineDecayRestarts", {"first_decay_steps": 2, "t_mul": 1.5, "m_mul": 2.0}),
]


@pytest.mark.parametrize(("name", "options"), SCHEDULES)
def test_schedule_agrees_with_keras_3_and_is_followed(name, options):
    ours = getattr(optimizers.schedules, name)(0.2, **options)
    real = getattr(keras.optimizers.schedules, name)(0.2, **options)
    for step in range(12):
        found = float(K.eval(ours(K.constant(float(step)))))
        assert found == pytest.approx(float(real(step)), rel=1e-5, abs=1e-8)
    mine = train_ours(optimizers.SGD(learning_rate=ours), Problem(), 12)
    theirs = train_theirs(keras.optimizers.SGD(learning_rate=real), Problem(), 12)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def test_piecewise_constant_rate_agrees_with_keras_3():
    arguments = [2, 5], [0.3, 0.2, 0.1]
    ours = optimizers.schedules.PiecewiseConstantDecay(*arguments)
    real = keras.optimizers.schedules.PiecewiseConstantDecay(*arguments)
    for step in range(8):
        assert float(K.eval(ours(K.constant(float(step))))) == pytest.approx(float(real(step)))
    with pytest.raises(ValueError, match="one value more than boundaries"):
        optimizers.schedules.PiecewiseConstantDecay([1], [0.1])


def test_restarts_begin_at_the_top_however_late():
    for growth in (1.0, 1.5, 2.0, 3.0):
        schedule = optimizers.schedules.CosineDecayRestarts(0.1, 100, growth)
        start, length = 0.0, 100.0
        for _ in range(6):
            assert float(K.eval(schedule(K.constant(start)))) == pytest.approx(0.1, rel=1e-4)
            if start:
                assert float(K.eval(schedule(K.constant(start - 1)))) < 1e-4
            start, length = start + length, length * growth
    for wrong in ({"t_mul": 0.5}, {"first_decay_steps": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}: expected a number"):
            optimizers.schedules.CosineDecayRestarts(
                **{"initial_learning_rate": 0.1, "first_decay_steps": 4, **wrong}
            )


def test_schedule_is_kept_in_the_configuration():
    schedule = optimizers.schedules.ExponentialDecay(0.1, 5, 0.5)
    twin = optimizers.get(optimizers.serialize(optimizers.Adam(learning_rate=schedule)))
    assert twin.schedule.get_config() == schedule.get_config()


def test_features_of_keras_3_that_are_off_may_be_given_and_others_are_refused():
    optimizers.Adam(0.1, use_ema=False, loss_scale_factor=None, gradient_accumulation_steps=None)
    for option in ({"use_ema": True}, {"gradient_accumulation_steps": 4}):
        with pytest.raises(KerascopeError, match="is not supported. Leave it out"):
            optimizers.Adam(0.1, **option)


def test_rate_that_follows_a_schedule_cannot_be_set():
    optimizer = optimizers.SGD(optimizers.schedules.CosineDecay(0.1, 10))
    with pytest.raises(KerascopeError, match="the learning rate follows CosineDecay"):
        optimizer.lr = 0.5
    assert float(K.get_value(optimizer.lr)) == pytest.approx(0.1)
