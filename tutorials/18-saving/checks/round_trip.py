"""Compares a model with the student's copy: connections, numbers, shared layers and weights."""

import numpy as np

from kerascope.layers import Add, BatchNormalization, Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


def pair():
    shared = Dense(3, name="shared")
    for _ in range(2):
        shared(Input(shape=(4,)))
    left, right = Input(shape=(4,), name="left"), Input(shape=(4,), name="right")
    added = Add(name="added")([shared(left), shared(right)])
    return Model([left, right], Dense(1, name="out")(added))


def indices_of(model):
    (node,) = model.get_layer("added").inbound_nodes
    return [history.node_index for history in node.histories]


@check
def the_indices(student):
    model = pair()
    twin = Model.from_config(model.get_config())
    why = Text("every call of the program counts", "程序里的每次调用都算")
    student.same(
        "indices_in_the_model", student.get("indices_in_the_model"), indices_of(model), why
    )
    why = Text("only calls within the model count", "只算模型之内的调用")
    student.same("indices_in_the_twin", student.get("indices_in_the_twin"), indices_of(twin), why)


@check
def the_twin(student):
    model = pair()
    twin = student.function("twin_of")(model)
    student.require(
        isinstance(twin, Model),
        en=f"expected twin_of(model) to be a Model, yours is {type(twin).__name__}",
        zh=f"twin_of(model) 应是一个 Model，你的是 {type(twin).__name__}",
    )
    common = [w.name for w in twin.weights if any(w is own for own in model.weights)]
    student.same(Text("the weights in common", "两个模型共用的权重"), common, [])
    names = [layer.name for layer in twin.layers]
    student.same(
        Text("the layers of the twin", "孪生模型的各层"),
        names,
        [layer.name for layer in model.layers],
    )
    calls = Text('the number of calls of "shared" in the twin', "孪生模型里 shared 的调用次数")
    student.same(calls, len(twin.get_layer("shared").inbound_nodes), 2)
    pairs = zip(twin.weights, twin.get_weights(), model.get_weights(), strict=True)
    others = [w.name for w, found, expected in pairs if not np.array_equal(found, expected)]
    student.same(Text("the weights with other numbers", "数值不同的权重"), others, [])
    random = np.random.default_rng(0)
    arrays = [random.normal(size=(5, 4)) for _ in range(2)]
    what = Text("what the twin predicts", "孪生模型的预测")
    student.close(what, twin.predict(arrays), model.predict(arrays))


@check
def what_is_not_trained(student):
    inputs = Input(shape=(4,))
    frozen = Dense(3, name="frozen", trainable=False)(inputs)
    model = Model(inputs, BatchNormalization(name="norm")(frozen))
    random = np.random.default_rng(1)
    model.set_weights([random.uniform(0.5, 2.0, size=w.shape) for w in model.get_weights()])
    twin = student.function("twin_of")(model)
    for layer in ("frozen", "norm"):
        pairs = zip(
            model.get_layer(layer).weights,
            twin.get_layer(layer).get_weights(),
            model.get_layer(layer).get_weights(),
            strict=True,
        )
        others = [w.name for w, found, expected in pairs if not np.array_equal(found, expected)]
        what = Text(f"the weights of {layer} with other numbers", f"{layer} 中数值不同的权重")
        student.same(what, others, [])


@check
def each_goes_its_own_way(student):
    model = pair()
    before = model.get_weights()
    twin = student.function("twin_of")(model)
    twin.set_weights([w + 1 for w in twin.get_weights()])
    what = Text(
        "the model's own kernel, after the twin was changed", "改动孪生模型之后，原模型的 kernel"
    )
    student.close(what, model.get_weights()[0], before[0])
