"""Checks losses, compile, one step, batches, shuffling, predictions, and a fit against kerascope's."""

from importlib import import_module

import numpy as np

from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def tensor(value):
    value = np.array(value, dtype="float64")
    return engine("graph").Tensor(value.shape, name="given", value=value)


def small(student, loss="mean_squared_error", lr=0.1, units=3):
    """Return a compiled model of one Dense, with the same weights at each call."""
    layer, function = engine("layer"), engine("function")
    x = layer.Input((4,), name="x")
    activation = "softmax" if loss == "categorical_crossentropy" else None
    model = student.get("Model")(x, layer.Dense(units, activation)(x))
    draw = np.random.default_rng(5)
    model.set_weights([draw.normal(size=(4, units)), draw.normal(size=units)])
    student.method(model.compile, "model.compile")(function.SGD(lr), loss)
    return model


def data(rows=10):
    draw = np.random.default_rng(rows)
    return draw.normal(size=(rows, 4)), np.eye(3)[draw.integers(0, 3, rows)]


def loss_of(model, x, y, kind="mean_squared_error"):
    """Compute a model's loss for its present weights with NumPy."""
    z = x @ model.get_weights()[0] + model.get_weights()[1]
    if kind == "mean_squared_error":
        return np.mean((z - y) ** 2)
    p = np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True)
    return -np.mean(np.sum(y * np.log(p), axis=-1))


def step(student, model, x, y):
    """Make one training step; return the loss, which must be a float."""
    found = student.method(model.train_on_batch, "train_on_batch")(x, y)
    student.require(
        isinstance(found, float),
        en=f"expected train_on_batch to return a float, yours is a {type(found).__name__}",
        zh=f"train_on_batch 应返回 float，你的是 {type(found).__name__}",
    )
    return found


@check
def losses(student):
    function = engine("function")
    y_true, y_pred = [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], [[0.2, 0.5, 0.3], [0.7, 0.2, 0.1]]
    for name, expected in (
        ("categorical_crossentropy", -np.sum(np.array(y_true) * np.log(y_pred), axis=-1)),
        ("mean_squared_error", (np.array(y_pred) - y_true) ** 2),
    ):
        loss = student.function(name)(tensor(y_true), tensor(y_pred))
        student.require(
            isinstance(loss, engine("graph").Tensor),
            en=f"expected {name} to return a Tensor, yours is {shown(loss)}",
            zh=f"{name} 应返回 Tensor，你的是 {shown(loss, 'zh')}",
        )
        found = function.Function([], [loss])([])[0]
        if name == "categorical_crossentropy":
            expected = expected[:, None] if np.ndim(found) == 2 else expected
        student.close(name, found, expected)


@check
def compiling(student):
    layer, function = engine("layer"), engine("function")
    model = small(student)
    student.require(
        isinstance(model, engine("network").Network),
        en="expected Model to be a subclass of Network, yours is not",
        zh="Model 应是 Network 的子类，你的不是",
    )
    student.require(
        isinstance(model.optimizer, function.SGD),
        en=f"expected model.optimizer to be the optimizer, yours is {shown(model.optimizer)}",
        zh=f"model.optimizer 应是所给的优化器，你的是 {shown(model.optimizer, 'zh')}",
    )
    student.same("model.target.shape", model.target.shape, (None, 3))
    student.same("model.target.name", model.target.name, "target")
    student.same("model.total_loss.shape", model.total_loss.shape, ())
    student.require(
        isinstance(model.train_function, function.Function),
        en=f"expected model.train_function to be a Function, yours is {shown(model.train_function)}",
        zh=f"model.train_function 应是 Function，你的是 {shown(model.train_function, 'zh')}",
    )
    before = model.get_weights()
    student.method(model.compile, "model.compile")(function.SGD(0.1), "mean_squared_error")
    for one, other in zip(before, model.get_weights(), strict=True):
        student.close(Text("the weights after compile", "compile 之后的权重"), other, one)
    x = layer.Input((4,))
    own = student.get("Model")(x, layer.Dense(3)(x))

    def function_of_loss(y_true, y_pred):
        return (y_pred - y_true) * 0.0 + 7.0

    student.method(own.compile, "model.compile")(function.SGD(0.1), function_of_loss)
    rows, targets = data()
    student.close(
        Text(
            "the loss of a model compiled with a function that is always 7",
            "用恒为 7 的函数编译的模型的损失",
        ),
        step(student, own, rows, targets),
        7.0,
    )
    student.require(
        own.loss is function_of_loss,
        en=f"expected model.loss to be the loss function, yours is {shown(own.loss)}",
        zh=f"model.loss 应是损失函数，你的是 {shown(own.loss, 'zh')}",
    )


@check
def one_step(student):
    for kind in ("mean_squared_error", "categorical_crossentropy"):
        model = small(student, kind)
        x, y = data()
        before = model.get_weights()
        expected = loss_of(model, x, y, kind)
        found = step(student, model, x, y)
        student.close(
            Text(f"the loss of the first step ({kind})", f"第一步的损失（{kind}）"), found, expected
        )
        student.require(
            not np.allclose(before[0], model.get_weights()[0]),
            en="expected train_on_batch to change the weights, yours leaves them as they were",
            zh="train_on_batch 应改变权重，你的没有改变",
        )
        expected = loss_of(model, x, y, kind)
        student.close(
            Text(f"the loss of the second step ({kind})", f"第二步的损失（{kind}）"),
            model.train_on_batch(x, y),
            expected,
        )


@check
def predictions(student):
    model = small(student)
    x, y = data()
    kernel, bias = model.get_weights()
    found = student.method(model.predict, "predict")(x)
    student.close("predict(x)", found, x @ kernel + bias)
    student.close(
        Text("predict(x) of 3 rows", "3 行的 predict(x)"),
        model.predict(x[:3]),
        x[:3] @ kernel + bias,
    )
    student.close(
        Text("a weight after predict", "predict 之后的权重"), model.get_weights()[0], kernel
    )


@check
def sizes_of_batches(student):
    for rows, batch_size, expected in ((10, 4, [4, 4, 2]), (8, 4, [4, 4]), (3, 32, [3])):
        x, y = data(rows)
        model, sizes = small(student), []
        train_function = model.train_function

        def watched(arrays, sizes=sizes, train_function=train_function):
            sizes.append(len(arrays[0]))
            return train_function(arrays)

        model.train_function = watched
        student.method(model.fit, "fit")(x, y, batch_size=batch_size, shuffle=False)
        what = Text(
            f"the numbers of rows in the batches of {rows} rows with batch_size={batch_size}",
            f"{rows} 行、batch_size={batch_size} 时各批的行数",
        )
        student.same(what, sizes, expected)


@check
def batches_in_order(student):
    for rows, batch_size, epochs in ((10, 4, 3), (8, 4, 1), (5, 32, 2), (7, 1, 1)):
        x, y = data(rows)
        model, by_hand = small(student), small(student)
        found = student.method(model.fit, "fit")(
            x, y, batch_size=batch_size, epochs=epochs, shuffle=False
        )
        words = f"fit({rows} rows, batch_size={batch_size}, epochs={epochs}, shuffle=False)"
        words_zh = f"fit（{rows} 行，batch_size={batch_size}，epochs={epochs}，shuffle=False）"
        found = student.listed(words, found, epochs)
        for epoch in range(epochs):
            total = 0.0
            for start in range(0, rows, batch_size):
                part = slice(start, start + batch_size)
                total += by_hand.train_on_batch(x[part], y[part]) * len(x[part])
            student.close(
                Text(f"the loss of epoch {epoch} of {words}", f"{words_zh} 第 {epoch} 轮的损失"),
                found[epoch],
                total / rows,
            )
        for one, other in zip(model.get_weights(), by_hand.get_weights(), strict=True):
            student.close(Text(f"a weight after {words}", f"{words_zh} 之后的权重"), one, other)


@check
def the_usual_arguments(student):
    x, y = data(40)
    model, other = small(student), small(student)
    np.random.seed(3)
    found = student.listed("fit(x, y)", model.fit(x, y), 1)
    np.random.seed(3)
    expected = other.fit(x, y, batch_size=32, epochs=1, shuffle=True)
    student.close(
        Text(
            "fit(x, y), beside batch_size=32, epochs=1, shuffle=True",
            "fit(x, y) 与 batch_size=32、epochs=1、shuffle=True 对照",
        ),
        found,
        expected,
    )


@check
def shuffled(student):
    x, y = data(12)
    kept = x.copy(), y.copy()
    still = small(student, lr=0.0)
    np.random.seed(1)
    found = student.method(still.fit, "fit")(x, y, batch_size=5, epochs=3)
    what = Text(
        "the loss of an epoch with lr = 0, whatever the order of the rows",
        "lr = 0 时一轮的损失（与行的次序无关）",
    )
    for loss in student.listed("fit(x, y)", found, 3):
        student.close(what, loss, loss_of(still, *kept))
    for array, before in zip((x, y), kept, strict=True):
        student.require(
            np.array_equal(array, before),
            en="expected fit not to change x and y, yours has moved their rows",
            zh="fit 不应改动 x 和 y，你的移动了它们的行",
        )
    weights = []
    for seed, shuffle in ((1, True), (1, True), (2, True), (1, False)):
        model = small(student)
        np.random.seed(seed)
        model.fit(x, y, batch_size=5, epochs=1, shuffle=shuffle)
        weights.append(model.get_weights()[0])
    student.close(
        Text("the weights of two fits with the same seed", "同一种子的两次 fit 的权重"),
        weights[1],
        weights[0],
    )
    student.require(
        not np.allclose(weights[0], weights[3]) and not np.allclose(weights[0], weights[2]),
        en="expected fit with shuffle=True to take the rows in a random order, yours does not",
        zh="shuffle=True 时 fit 应按随机次序取行，你的没有",
    )
    first = [rows_of_epochs(student, epochs=2, seed=seed) for seed in range(4)]
    student.require(
        any(one != other for one, other in first),
        en="expected fit to shuffle in each epoch, yours keeps the order of the first",
        zh="fit 应在每轮重新打乱，你的沿用了第一轮的次序",
    )


def rows_of_epochs(student, epochs, seed):
    """Return the order of the rows in each epoch. Each batch is one row, which its loss identifies."""
    x = np.zeros((6, 4))
    y = np.sqrt(np.arange(6.0))[:, None] * np.ones((6, 3))
    model = small(student, lr=0.0)
    model.set_weights([np.zeros((4, 3)), np.zeros(3)])
    seen, train_function = [], model.train_function

    def watched(arrays):
        found = train_function(arrays)
        seen.append(round(float(found[0])))
        return found

    model.train_function = watched
    np.random.seed(seed)
    model.fit(x, y, batch_size=1, epochs=epochs)
    return [tuple(seen[:6]), tuple(seen[6:])]


@check
def two_outputs(student):
    layer, function = engine("layer"), engine("function")
    x = layer.Input((4,))
    first, second, third = layer.Dense(3), layer.Dense(2), layer.Dense(3)
    model = student.get("Model")(x, [first(x), second(x)])
    rows, targets = data()
    found = student.method(model.predict, "predict")(rows)
    what = Text("predict(x), the first of two outputs", "predict(x)（两个输出中的第一个）")
    student.close(what, found, rows @ first.get_weights()[0])
    model = student.get("Model")(x, [third(second(x)), second(x)])
    student.method(model.compile, "model.compile")(function.SGD(0.0), "mean_squared_error")
    found = model.train_on_batch(rows, targets)
    loss = np.mean((rows @ second.get_weights()[0] @ third.get_weights()[0] - targets) ** 2)
    what = Text("the loss of the first of two outputs", "两个输出中第一个的损失")
    student.close(what, found, loss)


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` that uses the student's part; compare it with kerascope's."""
    from kerascope import backend as K
    from kerascope import layers, models, optimizers

    layer, function = engine("layer"), engine("function")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(21, 5)), np.eye(3)[draw.integers(0, 3, 21)]
    x = layer.Input((5,))
    own = student.get("Model")(x, layer.Dense(3, "softmax")(layer.Dense(4, "relu")(x)))
    own.compile(function.SGD(0.5), "categorical_crossentropy")
    K.set_floatx("float64")
    x = layers.Input((5,))
    theirs = models.Model(
        x, layers.Dense(3, activation="softmax")(layers.Dense(4, activation="relu")(x))
    )
    theirs.compile(optimizers.SGD(0.5), "categorical_crossentropy")
    theirs.set_weights(own.get_weights())
    found = own.fit(rows, targets, batch_size=8, epochs=3, shuffle=False)
    history = theirs.fit(rows, targets, batch_size=8, epochs=3, shuffle=False, verbose=0)
    student.close(
        Text("the losses of three epochs, beside kerascope's", "与 kerascope 对照，三轮的损失"),
        found,
        history.history["loss"],
        1e-6,
    )
    student.close("predict(x)", own.predict(rows), theirs.predict(rows))
