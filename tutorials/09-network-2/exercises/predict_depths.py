"""Predict the depths of a model.

    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    b = Dense(4, name="b")(a)
    c = Dense(4, name="c")(a)
    d = Dense(4, name="d")(c)
    add = Add(name="add")([b, d])
    e = Dense(4, name="e")(b)
    model = Model(x, [add, e])

`depths`: the depth of each layer. `layers`: the names in the order of model.layers, by falling
depth; ties in the order in which the walk meets the layers, from the first output on. `post_order`:
the names in the order in which the walk finishes them.

Fill it in by hand, on paper if you like, and only then check it.
"""

depths = {"x": ..., "a": ..., "b": ..., "c": ..., "d": ..., "add": ..., "e": ...}
layers = [...]
post_order = [...]
