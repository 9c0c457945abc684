"""Only the loss is replaced; softmax over one unit still stops the gradient.

en: expected a gradient at all 6 weights, yours is 0 everywhere at 6 of them
zh: 全部 6 个权重都应得到梯度，你的有 6 个处处是 0
"""

from keras.layers import Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = Dense(64, activation="relu")(inputs)
    x = Dense(64, activation="relu")(x)
    predictions = Dense(1, activation="softmax")(x)
    model = Model(inputs, predictions)
    model.compile(optimizer="rmsprop", loss="mse")
    return model
