"""Compares the student's kind_of and the predicted orders with those of real models."""

from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


class Own(Model):
    def __init__(self):
        super().__init__()
        self.c = Dense(1, name="c")
        self.a = Dense(8, name="a")
        self.b = Dense(8, name="b")

    def call(self, inputs):
        return self.c(self.b(self.a(inputs)))


def kind_made(args, kwargs):
    try:
        model = Model(*args, **kwargs)
    except ValueError:
        return "error"
    return "graph" if model._is_graph_network else "subclassed"


@check
def the_sorting(student):
    kind_of = student.function("kind_of")
    x = Input(shape=(4,))
    y = Dense(2)(x)
    cases = [
        ("x, y", (x, y), {}),
        ("x, outputs=y", (x,), {"outputs": y}),
        ("inputs=x, outputs=y", (), {"inputs": x, "outputs": y}),
        ('inputs=x, outputs=y, name="n"', (), {"inputs": x, "outputs": y, "name": "n"}),
        ('x, y, "n"', (x, y, "n"), {}),
        ("", (), {}),
        ('name="n"', (), {"name": "n"}),
        ("x", (x,), {}),
        ("inputs=x", (), {"inputs": x}),
        ('outputs=y, name="n"', (), {"outputs": y, "name": "n"}),
    ]
    for words, args, kwargs in cases:
        made = kind_made(args, kwargs)
        with student.without("kind_of", Model=Model.__init__):
            found = kind_of(*args, **kwargs)
        student.same(f"kind_of({words})", found, made)


@check
def the_orders(student):
    a, b, c = (Dense(size, name=name) for size, name in ((8, "a"), (8, "b"), (1, "c")))
    x = Input(shape=(4,), name="x")
    orders = {
        "layers_of_graph": (
            Model(x, c(b(a(x)))),
            Text("from the tensors, by falling depth", "来自张量，按深度下降"),
        ),
        "layers_of_own": (
            Own(),
            Text("from the attributes, as they were set", "来自属性，按赋值的先后"),
        ),
    }
    for name, (model, why) in orders.items():
        names = [layer.name for layer in model.layers]
        student.same(name, student.get(name), names, why)
