"""Frozen weights and moving means keep their initial values.

en: expected the weights of frozen with other numbers to be [], yours is ['frozen/kernel', 'frozen/bias']
zh: frozen 中数值不同的权重应为 []，你的是 ['frozen/kernel', 'frozen/bias']
"""

from keras import backend as K

indices_in_the_model = [2, 3]
indices_in_the_twin = [0, 1]


def twin_of(model):
    twin = type(model).from_config(model.get_config())
    for own, other in zip(twin.trainable_weights, model.trainable_weights, strict=True):
        K.set_value(own, K.get_value(other))
    return twin
