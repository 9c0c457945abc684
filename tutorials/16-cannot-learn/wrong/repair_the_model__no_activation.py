"""Only softmax is removed, so predictions leave the range that the loss does not clip.

en: expected a loss below 0.01 after 100 epochs, yours is above 1
zh: 训练 100 轮之后损失应低于 0.01，你的高于 1
"""

from keras.layers import Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = Dense(64, activation="relu")(inputs)
    x = Dense(64, activation="relu")(x)
    predictions = Dense(1)(x)
    model = Model(inputs, predictions)
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model
