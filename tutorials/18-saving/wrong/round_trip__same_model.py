"""The layers are used again, so the weights are the same variables.

en: expected the weights in common to be [], yours is ['shared/kernel', 'shared/bias', 'out/kernel', 'out/bias']
zh: 两个模型共用的权重应为 []，你的是 ['shared/kernel', 'shared/bias', 'out/kernel', 'out/bias']
"""

from keras.models import Model

indices_in_the_model = [2, 3]
indices_in_the_twin = [0, 1]


def twin_of(model):
    return Model(model.inputs, model.outputs)
