"""Assumes that the node indices are kept.

en: expected indices_in_the_twin to be [0, 1], yours is [2, 3]: only calls within the model count
zh: indices_in_the_twin 应为 [0, 1]，你的是 [2, 3]：只算模型之内的调用
"""

indices_in_the_model = [2, 3]
indices_in_the_twin = [2, 3]


def twin_of(model):
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    return twin
