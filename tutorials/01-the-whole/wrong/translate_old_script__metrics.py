"""Adds metrics that are not in the old script.

en: expected model.metrics_names to be ['loss'], yours is ['loss', 'acc']
zh: model.metrics_names 应为 ['loss']，你的是 ['loss', 'acc']
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(units=64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(units=64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(units=1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
