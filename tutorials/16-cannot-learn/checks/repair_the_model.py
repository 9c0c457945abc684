"""Checks the student's model: its layers, a gradient at each weight, the loss after 100 epochs."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Dense
from kerascope.learn import Text, check
from kerascope.models import Model


def problem(seed):
    random = np.random.default_rng(seed)
    return random.normal(size=(50, 20)), random.integers(0, 2, size=50)


def built(student):
    np.random.seed(0)
    model = student.function("build")()
    student.require(
        isinstance(model, Model),
        en=f"expected build() to return a Model, yours is {type(model).__name__}",
        zh=f"build() 应返回 Model，你的是 {type(model).__name__}",
    )
    return model


@check
def what_stays(student):
    model = built(student)
    hidden = [layer.units for layer in model.layers if isinstance(layer, Dense)][:2]
    what = Text("the units of the two hidden layers", "两个隐藏层的单元数")
    student.same(what, hidden, [64, 64])
    activations = [layer.activation.__name__ for layer in model.layers if isinstance(layer, Dense)][
        :2
    ]
    what = Text("the activations of the two hidden layers", "两个隐藏层的激活函数")
    student.same(what, activations, ["relu", "relu"])
    what = Text("the optimizer", "优化器")
    student.same(what, type(model.optimizer).__name__, "RMSprop")


@check
def a_gradient_for_each_weight(student):
    model = built(student)
    x, y, sample_weights = model._standardize_user_data(*problem(0))
    feeds = model.inputs + model.targets + model.sample_weights
    slopes = K.gradients(model.total_loss, model.trainable_weights)
    dead = [
        w.name for w, slope in zip(model.trainable_weights, slopes, strict=True) if slope is None
    ]
    if not dead:
        arrays = K.function(feeds, slopes)(x + y + sample_weights)
        named = zip(model.trainable_weights, arrays, strict=True)
        dead = [weight.name for weight, array in named if not array.any()]
    student.require(
        not dead,
        en=f"expected a gradient at all {len(slopes)} weights, yours is 0 everywhere at {len(dead)}"
        " of them",
        zh=f"全部 {len(slopes)} 个权重都应得到梯度，你的有 {len(dead)} 个处处是 0",
    )


@check
def learnt_by_heart(student):
    for seed in (0, 1):
        model = built(student)
        data, labels = problem(seed)
        loss = model.fit(data, labels, epochs=100, verbose=0).history["loss"][-1]
        bound = next((bound for bound in (1, 0.1) if loss > bound), 0.01)  # the same everywhere
        student.require(
            loss < 0.01,
            en=f"expected a loss below 0.01 after 100 epochs, yours is above {bound}",
            zh=f"训练 100 轮之后损失应低于 0.01，你的高于 {bound}",
        )
