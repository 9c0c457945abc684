"""The weights are forgotten.

en: expected the weights with other numbers to be [], yours is ['shared/kernel', 'out/kernel']
zh: 数值不同的权重应为 []，你的是 ['shared/kernel', 'out/kernel']
"""

indices_in_the_model = [2, 3]
indices_in_the_twin = [0, 1]


def twin_of(model):
    twin = type(model).from_config(model.get_config())
    return twin
