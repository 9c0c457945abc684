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
from optimizer_reference import Problem

from kerascope import backend as K
from kerascope import optimizers

keras = pytest.importorskip("keras")

TINY = 1e-12

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
]


def their_optimizer(name, options, renamed):
    cls = getattr(keras.optimizers, name)
    betas = {n: 0.9 if n == "beta_1" else 0.999 for n in signature(cls).parameters if "beta" in n}
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
