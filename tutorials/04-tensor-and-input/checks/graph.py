"""Checks each op's calls, shapes, numbers and gradient (by differences), and the order of Applies."""

import random
from collections import Counter

import numpy as np

from kerascope.learn import Text, Unmet, check
from kerascope.learn.showing import shown

# For each op the shapes of its inputs, where b is the batch: None in a tensor, 5 in an array.
B = 5
SHAPES = {
    "Add": [("bk", "k"), ("bk", "b1"), ("bk", ""), ("k1", "1m"), ("k", "bk"), ("bk", "bk")],
    "Mul": [("bk", "bk"), ("bk", "k"), ("b1", "bk"), ("", "bk")],
    "Div": [("bk", "bk"), ("bk", "k"), ("bk", "b1"), ("", "bk")],
    "Dot": [("bk", "km"), ("kb", "bm")],
    "Transpose": [("bk",), ("km",)],
    "Relu": [("bk",), ("bkm",)],
    "Positive": [("bk",)],
    "Softmax": [("bk",), ("bkm",), ("b1",)],
    "Log": [("bk",)],
    "Sum": [("bk",), ("bkm",), ("k",), ("",)],
    "SumLike": [("bk", "k"), ("bk", "b1"), ("bk", ""), ("bk", "bk"), ("km", "1m"), ("bkm", "1m")],
    "BroadcastLike": [
        ("k", "bk"),
        ("b1", "bk"),
        ("", "bk"),
        ("bk", "bk"),
        ("1m", "km"),
        ("1m", "bkm"),
    ],
}
NO_GRADIENT = {("SumLike", 1), ("BroadcastLike", 1), ("Positive", 0)}


def sizes(rng):
    k, m = rng.sample((2, 3, 4, 6, 7), 2)
    return {"b": B, "k": k, "m": m, "1": 1}


def numbers(op, shape, rng):
    """Return an array that the op accepts; for Relu some of its numbers are 0."""
    array = np.array(np.random.default_rng(rng.randrange(999)).normal(size=shape))
    if op in ("Div", "Log"):
        return np.array(np.abs(array) + 0.5)
    if op in ("Relu", "Positive"):
        array.flat[::4] = 0.0
    return array


def summed(x, shape):
    total = np.zeros(shape)
    for index in np.ndindex(x.shape):
        last = index[x.ndim - len(shape) :]
        total[tuple(i if n > 1 else 0 for i, n in zip(last, shape, strict=True))] += x[index]
    return total


def softmax(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


EXPECTED = {
    "Add": np.add,
    "Mul": np.multiply,
    "Div": np.divide,
    "Dot": np.dot,
    "Transpose": np.transpose,
    "Relu": lambda x: np.where(x > 0, x, 0.0),
    "Positive": lambda x: np.where(x > 0, 1.0, 0.0),
    "Softmax": softmax,
    "Log": np.log,
    "Sum": np.sum,
    "SumLike": lambda x, like: summed(x, like.shape),
    "BroadcastLike": lambda x, like: x + np.zeros(like.shape),
}


def cases(student):
    """Yield (class name, op, text for messages, input tensors, arrays for them) for each test case."""
    for name, rows in SHAPES.items():
        for number, row in enumerate(rows):
            rng = random.Random(f"{name}{number}")
            size = sizes(rng)
            arrays = [numbers(name, tuple(size[axis] for axis in axes), rng) for axes in row]
            shapes = [tuple(None if a == "b" else size[a] for a in axes) for axes in row]
            tensors = [tensor(student, shape, f"x{n}") for n, shape in enumerate(shapes)]
            yield name, student.get(name)(), f"{name}()", tensors, arrays
    for axes in ("bk", "bkm"):
        rng = random.Random(axes)
        size = sizes(rng)
        shape = tuple(None if a == "b" else size[a] for a in axes)
        array = numbers("Sum", tuple(size[a] for a in axes), rng)
        yield "Sum", student.get("Sum")(axis=-1), "Sum(axis=-1)", [tensor(student, shape)], [array]


def tensor(student, shape, name="x"):
    return student.get("Tensor")(shape, name=name)


def output(student, op, words, inputs):
    """Call an op; return its output, which must be a tensor with an owner."""
    y = student.method(op, words)(*inputs)
    is_tensor = isinstance(y, student.get("Tensor"))
    student.require(
        is_tensor,
        en=f"expected {words}(...) to return a Tensor, yours is {type(y).__name__}",
        zh=f"{words}(...) 应返回一个 Tensor，你的是 {type(y).__name__}",
    )
    student.require(
        isinstance(y.owner, student.get("Apply")),
        en=f"expected the owner of the output of {words} to be its Apply, yours is {shown(y.owner)}",
        zh=f"{words} 的输出的 owner 应是它的 Apply，你的是 {shown(y.owner, 'zh')}",
    )
    return y


def computed(student, y, values):
    """Compute a tensor by calling `perform` of the student's ops; store the arrays in `values`."""
    if y in values:
        return values[y]
    if y.value is not None:
        return y.value
    arrays = [computed(student, x, values) for x in y.owner.inputs]
    perform = student.method(y.owner.op.perform, f"{type(y.owner.op).__name__}().perform")
    values[y] = perform(*arrays)
    return values[y]


@check
def a_tensor_and_a_constant(student):
    x = tensor(student, [2, 3])
    student.same("Tensor([2, 3]).shape", x.shape, (2, 3))
    student.require(
        isinstance(x.shape, tuple),
        en="expected Tensor([2, 3]).shape to be a tuple, yours is a list",
        zh="Tensor([2, 3]).shape 应是元组，你的是列表",
    )
    for name in ("value", "owner", "_keras_history"):
        student.same(f"Tensor((2, 3)).{name}", getattr(x, name, ...), None)
    student.same("Tensor((2, 3), name='x').name", x.name, "x")
    as_tensor = student.function("as_tensor")
    student.require(
        as_tensor(x) is x,
        en="expected as_tensor(x) to return x itself, if x is a Tensor already",
        zh="x 已经是 Tensor 时，as_tensor(x) 应原样返回 x",
    )
    two = as_tensor([1, 2])
    student.close("as_tensor([1, 2]).value", two.value, [1.0, 2.0])
    student.same("as_tensor([1, 2]).value.dtype.name", two.value.dtype.name, "float64")
    student.same("as_tensor([1, 2]).shape", two.shape, (2,))


@check
def a_call_computes_nothing(student):
    class Twice(student.get("Op")):
        performed = 0

        def perform(self, x, y):
            Twice.performed += 1
            return x

    x, op = tensor(student, (None, 3)), Twice()
    y = output(student, op, "op", [x, 2.0])
    student.same(
        Text("times that a call performs", "一次调用执行 perform 的次数"), Twice.performed, 0
    )
    apply = y.owner
    student.require(
        apply.op is op,
        en="expected y.owner.op to be the op that was called, yours is another object",
        zh="y.owner.op 应是被调用的那个运算，你的是别的对象",
    )
    inputs = student.listed("y.owner.inputs", apply.inputs, 2)
    student.require(
        inputs[0] is x,
        en="expected y.owner.inputs[0] to be the tensor x itself, yours is another object",
        zh="y.owner.inputs[0] 应是张量 x 本身，你的是别的对象",
    )
    is_tensor = isinstance(inputs[1], student.get("Tensor"))
    student.require(
        is_tensor,
        en=f"expected op(x, 2.0) to make a Tensor of the number 2.0, yours keeps {shown(inputs[1])}: "
        "use as_tensor",
        zh=f"op(x, 2.0) 应把数 2.0 变成 Tensor，你的留下了 {shown(inputs[1], 'zh')}：请用 as_tensor",
    )
    student.close("y.owner.inputs[1].value", inputs[1].value, 2.0)
    outputs = student.listed("y.owner.outputs", apply.outputs, 1)
    student.require(
        outputs[0] is y,
        en="expected y.owner.outputs[0] to be y itself, yours is another object",
        zh="y.owner.outputs[0] 应是 y 本身，你的是别的对象",
    )
    student.same("op.name", op.name, "twice")
    student.same(Text("the shape of op(x, 2.0)", "op(x, 2.0) 的形状"), y.shape, (None, 3))
    student.same(Text("the name of op(x, 2.0)", "op(x, 2.0) 的 name"), y.name, "twice")
    again = output(student, op, "op", [x, 2.0])
    student.require(
        again is not y and again.owner is not apply,
        en="expected a second call of an op to make a second Apply, yours returns the first again",
        zh="再次调用一个运算应产生第二个 Apply，你的返回了第一个",
    )
    student.same("Op().grad([x], [y], [g])", student.get("Op")().grad([x], [y], [y]), [None])


@check
def shapes(student):
    for _, op, words, tensors, arrays in cases(student):
        if "Sum(axis" in words:
            expected = (*tensors[0].shape[:-1], 1)
        else:
            whole = EXPECTED[type(op).__name__](*arrays)
            expected = tuple(None if size == B else size for size in np.shape(whole))
        y = output(student, op, words, tensors)
        given = ", ".join(str(x.shape) for x in tensors)
        what = Text(f"the output shape of {words} for {given}", f"{words} 对 {given} 的输出形状")
        student.same(what, y.shape, expected)
        student.require(
            isinstance(y.shape, tuple),
            en=f"expected {what.en} to be a tuple, yours is a list",
            zh=f"{what.zh} 应是元组，你的是列表",
        )


@check
def shapes_that_do_not_fit(student):
    for name, one, other in (
        ("Add", (None, 3), (4,)),
        ("Mul", (2, 3), (3, 2)),
        ("Dot", (None, 3), (4, 2)),
        ("Dot", (3, 4), (3, 4)),
    ):
        op, words = student.get(name)(), f"{name}()"
        try:
            op(tensor(student, one), tensor(student, other))
        except ValueError:
            student.require(True, en="", zh="")
            continue
        raise Unmet(
            Text(
                f"expected {words} of the shapes {one} and {other} to be a ValueError, "
                "yours makes a tensor",
                f"{words} 遇到形状 {one} 和 {other} 应抛出 ValueError，你的却造出了张量",
            )
        )


@check
def numbers_of_each_op(student):
    for name, op, words, tensors, arrays in cases(student):
        expected = EXPECTED[name](*arrays)
        if "Sum(axis" in words:
            expected = arrays[0].sum(axis=-1, keepdims=True)
        given = ", ".join(str(x.shape) for x in arrays)
        what = Text(f"{words}.perform for arrays {given}", f"{words}.perform（数组 {given}）")
        values = dict(zip(tensors, arrays, strict=True))
        student.close(
            what, computed(student, output(student, op, words, tensors), values), expected
        )
    large = np.array([[1000.0, 1001.0], [-1000.0, 3.0]])
    with np.errstate(all="ignore"):
        found = student.method(student.get("Softmax")().perform, "Softmax().perform")(large)
    what = Text("softmax of [[1000, 1001], [-1000, 3]]", "[[1000, 1001], [-1000, 3]] 的 softmax")
    student.close(what, found, softmax(large))


@check
def formulas(student):
    x, w = tensor(student, (None, 3)), tensor(student, (3,), "w")
    arrays = {x: np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]), w: np.array([2.0, -1.0, 0.5])}
    a, b = arrays[x], arrays[w]
    mean, ones_like = student.get("mean"), student.get("ones_like")
    for words, y, expected in (
        ("x + w", x + w, a + b),
        ("x * w", x * w, a * b),
        ("x / w", x / w, a / b),
        ("x - w", x - w, a - b),
        ("x - 1.0", x - 1.0, a - 1),
        ("-x", -x, -a),
        ("mean(x)", mean(x), a.mean()),
        ("ones_like(x)", ones_like(x), np.ones((2, 3))),
        (
            "(x * w + 1.0) / 2.0 - mean(x)",
            (x * w + 1.0) / 2.0 - mean(x),
            (a * b + 1) / 2 - a.mean(),
        ),
    ):
        student.close(words, computed(student, y, dict(arrays)), expected)


@check
def gradients(student):
    for name, op, words, tensors, arrays in cases(student):
        if "Relu" in words:
            arrays = [array + 0.3 * np.sign(array) + 0.3 for array in arrays]
        values = dict(zip(tensors, arrays, strict=True))
        y = output(student, op, words, tensors)
        arriving = tensor(student, y.shape, "arriving")
        values[arriving] = np.random.default_rng(7).normal(
            size=np.shape(computed(student, y, dict(values)))
        )
        found = student.method(op.grad, f"{words}.grad")(tensors, [y], [arriving])
        found = student.listed(f"{words}.grad(...)", found, len(tensors))
        for number, (x, gradient) in enumerate(zip(tensors, found, strict=True)):
            what = Text(f"{words}: d loss / d input {number}", f"{words}：d loss / d 输入 {number}")
            if (name, number) in NO_GRADIENT:
                student.same(what, gradient, None)
                continue
            student.require(
                isinstance(gradient, student.get("Tensor")),
                en=f"expected {what.en} to be a Tensor, yours is {shown(gradient)}",
                zh=f"{what.zh} 应是 Tensor，你的是 {shown(gradient, 'zh')}",
            )
            given = computed(student, gradient, dict(values))
            student.close(what, given, differences(student, y, x, arriving, values))


def differences(student, y, x, arriving, values, step=1e-6):
    slopes = np.zeros(values[x].shape)
    for index in np.ndindex(slopes.shape):
        sides = []
        for sign in (1, -1):
            moved = np.array(values[x])
            moved[index] += sign * step
            sides.append(
                np.sum(
                    y.owner.op.perform(*[{**values, x: moved}[t] for t in y.owner.inputs])
                    * values[arriving]
                )
            )
        slopes[index] = (sides[0] - sides[1]) / (2 * step)
    return slopes


@check
def the_order(student):
    for seed in range(12):
        rng = random.Random(seed)
        known = [tensor(student, (3,), f"x{n}") for n in range(2)]
        for _ in range(8):
            one, other = (rng.choice(known[-4:]) for _ in range(2))
            made = rng.choice(
                (lambda a, b: a + b, lambda a, b: a * b, lambda a, b: student.get("Relu")()(a))
            )
            known.append(made(one, other))
        order_of(student, rng.sample(known, rng.choice((1, 2, 3))))
    x = tensor(student, (3,))
    for _ in range(200):
        x = x * x
    order_of(student, [x])
    student.same(
        Text("applies_in_order of an input", "输入自身的 applies_in_order"),
        student.function("applies_in_order")([tensor(student, (3,))]),
        [],
    )


def order_of(student, outputs):
    """Check that the student's order has each needed Apply once, after those that make its inputs."""
    needed, waiting = [], [x.owner for x in outputs]
    while waiting:
        apply = waiting.pop()
        if apply is not None and apply not in needed:
            needed.append(apply)
            waiting.extend(x.owner for x in apply.inputs)
    found = student.function("applies_in_order")(outputs)
    found = student.listed("applies_in_order(outputs)", found)
    student.require(
        all(isinstance(apply, student.get("Apply")) for apply in found),
        en="expected applies_in_order to list objects of Apply, yours lists something else",
        zh="applies_in_order 应列出 Apply 对象，你的列出了别的东西",
    )
    ((most, times),) = Counter(found).most_common(1) or [(None, 1)]
    student.require(
        times == 1,
        en=f"expected applies_in_order to list each Apply once, yours lists one {times} times",
        zh=f"applies_in_order 应把每个 Apply 列出一次，你的把其中一个列出了 {times} 次",
    )
    missing, extra = len(set(needed) - set(found)), len(set(found) - set(needed))
    student.require(
        not missing,
        en=f"expected applies_in_order to list all that {len(outputs)} outputs need, "
        f"{len(needed)} Applies; yours leaves out {missing}",
        zh=f"applies_in_order 应列出 {len(outputs)} 个输出所需的全部 {len(needed)} 个 Apply；"
        f"你的漏掉了 {missing} 个",
    )
    student.require(
        not extra,
        en=f"expected applies_in_order to list only what the outputs need, yours has {extra} more",
        zh=f"applies_in_order 只应列出输出所需的，你的多出 {extra} 个",
    )
    done = set()
    for apply in found:
        late = [x for x in apply.inputs if x.owner is not None and x.owner not in done]
        student.require(
            not late,
            en=f"expected each Apply after those that compute its inputs, yours has `{apply.op.name}` "
            "before one of them",
            zh=f"每个 Apply 应排在计算其输入的 Apply 之后，你的把 `{apply.op.name}` 排在了其中一个之前",
        )
        done.add(apply)
