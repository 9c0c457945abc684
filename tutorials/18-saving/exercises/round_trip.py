"""Make a model again from its configuration.

Write `twin_of(model)`: a second model with the same layers, connections and numbers, made from the
configuration and the weights of the first. It shares no layer and no weight with it; but a layer
that is shared inside the model is shared inside the twin.

And predict, for this model, the node indices of its two calls of `shared`, first in the model and
then in its twin, in the order of the calls:

    shared = Dense(3, name="shared")
    for _ in range(2):
        shared(Input(shape=(4,)))
    left, right = Input(shape=(4,)), Input(shape=(4,))
    model = Model([left, right], Add()([shared(left), shared(right)]))
"""

indices_in_the_model = ...
indices_in_the_twin = ...


def twin_of(model):
    return ...
