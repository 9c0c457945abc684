"""Checks the student's names, and the placeholders that the student's function finds."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


def models():
    x = Input(shape=(4,), name="mail")
    spam = Dense(1, activation="sigmoid", name="spam")(x)
    cost = Dense(1, name="cost")(x)
    one = Model(x, spam)
    one.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    two = Model(x, [spam, cost])
    two.compile("sgd", ["binary_crossentropy", "mse"], metrics={"spam": "accuracy"})
    half = Model(x, [spam, cost])
    half.compile("sgd", {"spam": "binary_crossentropy"})
    return {"one": one, "two": two, "half": half}


WHY = {
    "targets_of_one": Text("a target is named after its output", "目标以其输出命名"),
    "names_of_one": Text("one output has no loss of its own", "只有一个输出时，没有单独的损失"),
    "names_of_two": Text(
        "the total, then a loss for each output, then the metrics",
        "先是总损失，再是每个输出的损失，最后是评价",
    ),
    "targets_of_half": Text("cost has no loss, so it needs no label", "cost 没有损失，用不着标签"),
    "names_of_half": Text("the model still has two outputs", "模型仍有两个输出"),
}


@check
def the_predictions(student):
    for name, model in models().items():
        for kind, names in (
            ("targets", [target.name for target in model.targets]),
            ("names", model.metrics_names),
        ):
            answer = f"{kind}_of_{name}"
            student.same(answer, student.get(answer), names, WHY.get(answer, Text("", "")))


@check
def what_needs_the_labels(student):
    needed_by = student.function("needed_by")
    for name, model in models().items():
        (mail,), targets = model.inputs, [target.name for target in model.targets]
        for what, tensor, names in (
            ("outputs[0]", model.outputs[0], [mail.name]),
            ("inputs[0]", mail, [mail.name]),
            ("total_loss", model.total_loss, [mail.name, *targets]),
            ("targets[0]", model.targets[0], targets[:1]),
        ):
            words = f"needed_by({name}, {name}.{what})"
            student.same(words, student.listed(words, needed_by(model, tensor)), names)


@check
def with_two_inputs(student):
    needed_by = student.function("needed_by")
    a, b = Input(shape=(4,), name="a"), Input(shape=(2,), name="b")
    left = Dense(1, name="left")(a)
    both = Add(name="both")([left, Dense(1, name="right")(b)])
    pair = Model([a, b], [left, both])
    pair.compile("sgd", "mse")
    first, second = pair.targets
    for what, tensor, names in (
        ("pair.inputs[1]", b, ["b"]),
        ("pair.outputs[0]", left, ["a"]),
        ("pair.outputs[1]", both, ["a", "b"]),
        ("pair.targets[1]", second, ["both_target"]),
        ("pair.outputs[0] - pair.targets[0]", left - first, ["a", "left_target"]),
        ("pair.total_loss", pair.total_loss, ["a", "b", "left_target", "both_target"]),
    ):
        words = f"needed_by(pair, {what})"
        student.same(words, student.listed(words, needed_by(pair, tensor)), names)
