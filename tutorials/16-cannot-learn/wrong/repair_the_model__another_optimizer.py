"""Changes the optimizer, which is not the cause.

en: expected the optimizer to be 'RMSprop', yours is 'Adam'
zh: 优化器应为 'RMSprop'，你的是 'Adam'
"""

from keras.layers import Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = Dense(64, activation="relu")(inputs)
    x = Dense(64, activation="relu")(x)
    predictions = Dense(1, activation="softmax")(x)
    model = Model(inputs, predictions)
    model.compile(optimizer="adam", loss="binary_crossentropy")
    return model
