from keras.layers import Dense, Input
from keras.models import Model

inputs = Input(shape=(3,))
model = Model(inputs, Dense(2)(inputs))
a, b = Input(shape=(3,)), Input(shape=(3,))
model(a)


def asked(model, x):
    before = len(model._output_tensor_cache)
    model(x)
    return "hit" if len(model._output_tensor_cache) == before else "miss"


the_same_input = asked(model, a)
the_same_shape = asked(model, b)
in_a_list = asked(model, [a])
new_weights = asked(model, a)
a_twin = asked(Model(inputs, model.output), a)
numbers_again = "miss"
