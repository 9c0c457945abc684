"""The calls outside the model are not counted.

en: expected indices_in_the_model to be [2, 3], yours is [0, 1]: every call of the program counts
zh: indices_in_the_model 应为 [2, 3]，你的是 [0, 1]：程序里的每次调用都算
"""

indices_in_the_model = [0, 1]
indices_in_the_twin = [0, 1]


def twin_of(model):
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    return twin
