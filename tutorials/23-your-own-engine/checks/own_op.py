"""Checks Tanh's numbers and gradient, the layer Activation, and the function `gradient_error`."""

from importlib import import_module

import numpy as np

from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def value_of(y, x, array):
    return engine("function").Function([x], [y])([array])[0]


def tensor(shape, name="x"):
    return engine("graph").Tensor(shape, name=name)


@check
def the_numbers_of_tanh(student):
    op = student.get("Tanh")()
    array = np.array([[-2.0, 0.0, 0.5], [1.0, 3.0, -0.25]])
    student.close("Tanh().perform(x)", student.method(op.perform, "perform")(array), np.tanh(array))
    y = op(tensor((None, 3)))
    student.same(Text("the output shape of Tanh()", "Tanh() 的输出形状"), y.shape, (None, 3))


@check
def the_gradient_of_tanh(student):
    op, x = student.get("Tanh")(), tensor((2, 2))
    array = np.array([[0.5, -1.0], [2.0, 0.0]])
    loss = engine("graph").Sum()(op(x) * np.array([[1.0, 2.0], [3.0, -4.0]]))
    (slope,) = engine("gradient").gradients(loss, [x])
    student.require(
        isinstance(slope, engine("graph").Tensor),
        en=f"expected the gradient of Tanh to be a Tensor, yours is {shown(slope)}",
        zh=f"Tanh 的梯度应是 Tensor，你的是 {shown(slope, 'zh')}",
    )
    expected = (1 - np.tanh(array) ** 2) * [[1.0, 2.0], [3.0, -4.0]]
    what = Text(
        "the gradient of Tanh for unequal arriving gradients", "到达的梯度各不相同时 Tanh 的梯度"
    )
    student.close(what, value_of(slope, x, array), expected)
    (second,) = engine("gradient").gradients(slope, [x])
    y = np.tanh(array)
    what = Text("the derivative of that gradient", "这个梯度再求导")
    student.close(what, value_of(second, x, array), -2 * y * expected)


@check
def the_layer(student):
    layer = student.get("Activation")(student.get("Tanh")(), name="act")
    x = engine("layer").Input((3,), name="x")
    y = layer(x)
    student.same("Activation(op, name='act').name", layer.name, "act")
    student.same(
        Text("the weights of Activation", "Activation 的权重"), layer.trainable_weights, []
    )
    student.require(
        isinstance(y, engine("graph").Tensor),
        en=f"expected Activation(op)(x) to be a Tensor, yours is {shown(y)}",
        zh=f"Activation(op)(x) 应是 Tensor，你的是 {shown(y, 'zh')}",
    )
    array = np.array([[-2.0, 0.0, 0.5]])
    student.close("Activation(Tanh())(x)", value_of(y, x, array), np.tanh(array))
    relu = student.get("Activation")(engine("graph").Relu())
    student.close("Activation(Relu())(x)", value_of(relu(x), x, array), [[0.0, 0.0, 0.5]])


def with_slope(slope, at=None):
    """Return an op x ** 2 with the gradient slope * x; if `at` is given, only there, elsewhere 2 * x."""

    class Squares(engine("graph").Op):
        def perform(self, x):
            return x * x

        def grad(self, inputs, outputs, output_grads):
            if at is None:
                return [output_grads[0] * inputs[0] * slope]
            factor = np.full((2, 3), 2.0)
            factor[at] = slope
            return [output_grads[0] * inputs[0] * factor]

    return Squares()


@check
def the_check_of_gradients(student):
    error = student.function("gradient_error")
    array = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.5]])
    right = error(with_slope(2.0), array)
    student.close(
        Text("gradient_error of a right gradient", "梯度正确时的 gradient_error"), right, 0.0
    )
    student.require(
        0 <= float(right) < 1e-7,
        en=f"expected gradient_error of a right gradient to be below 1e-7, yours is {shown(right)}",
        zh=f"梯度正确时 gradient_error 应小于 1e-7，你的是 {shown(right, 'zh')}",
    )
    for slope, expected in ((3.0, 4.0), (1.0, 4.0), (0.0, 8.0)):
        what = Text(
            f"gradient_error of x ** 2 with the gradient {slope:g} * x",
            f"x ** 2 的梯度写成 {slope:g} * x 时的 gradient_error",
        )
        student.close(what, error(with_slope(slope), array), expected)
    for place in ((0, 0), (1, 2)):
        what = Text(
            f"gradient_error of a gradient that is wrong only at {list(place)}",
            f"梯度只在 {list(place)} 处有错时的 gradient_error",
        )
        student.close(what, error(with_slope(5.0, place), array), 3 * abs(array[place]))

    class Total(engine("graph").Op):
        def infer_shape(self, x):
            return (1,)

        def perform(self, x):
            return np.array([np.sum(x**3)])

        def grad(self, inputs, outputs, output_grads):
            return [inputs[0] * inputs[0] * 3.0 * output_grads[0]]

    what = Text("gradient_error of an op with one output", "只有一个输出的运算的 gradient_error")
    student.close(what, error(Total(), np.array([1.0, 2.0])), 0.0)
    student.require(
        error(student.get("Tanh")(), array) < 1e-7,
        en="expected gradient_error of your Tanh to be below 1e-7, yours is larger",
        zh="你的 Tanh 的 gradient_error 应小于 1e-7，结果却更大",
    )


@check
def a_network_with_tanh_trains(student):
    layer, fit, function = engine("layer"), engine("fit"), engine("function")
    x = layer.Input((4,))
    hidden = student.get("Activation")(student.get("Tanh")())(layer.Dense(6)(x))
    model = fit.Model(x, layer.Dense(1)(hidden))
    model.compile(function.SGD(0.1), "mean_squared_error")
    draw = np.random.default_rng(2)
    rows = draw.normal(size=(64, 4))
    losses = model.fit(rows, np.sin(rows[:, :1]), epochs=20)
    student.require(
        losses[-1] < 0.5 * losses[0],
        en=f"expected a network with your Tanh to learn sin(x), its loss went from "
        f"{losses[0]:.4f} to {losses[-1]:.4f}",
        zh=f"带有你的 Tanh 的网络应能学会 sin(x)，它的损失从 {losses[0]:.4f} 变为 {losses[-1]:.4f}",
    )
