"""The layers that should stay are made larger.

en: expected the units of the two hidden layers to be [64, 64], yours is [512, 512]
zh: 两个隐藏层的单元数应为 [64, 64]，你的是 [512, 512]
"""

from keras.layers import Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = Dense(512, activation="relu")(inputs)
    x = Dense(512, activation="relu")(x)
    predictions = Dense(1, activation="softmax")(x)
    model = Model(inputs, predictions)
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model
