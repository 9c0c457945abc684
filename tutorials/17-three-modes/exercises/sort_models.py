"""Graph network or subclassed network?

Write `kind_of(*args, **kwargs)`: the kind of model that `Model(*args, **kwargs)` makes, "graph",
"subclassed" or "error". Do not make the model to find out. Keyword arguments can be inputs, outputs
and name.

And predict in which order these two models list their layers:

    layers_of_graph    x = Input(shape=(4,), name="x")
                       Model(x, c(b(a(x))))

    layers_of_own      class Own(Model):
                           def __init__(self):
                               super().__init__()
                               self.c = Dense(1, name="c")
                               self.a = Dense(8, name="a")
                               self.b = Dense(8, name="b")

                           def call(self, inputs):
                               return self.c(self.b(self.a(inputs)))

Give each as a list of names.
"""

layers_of_graph = ...
layers_of_own = ...


def kind_of(*args, **kwargs):
    return ...
