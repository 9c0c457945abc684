"""Uses another optimizer than the old script.

en: expected the class of the optimizer to be 'RMSprop', yours is 'SGD'
zh: 优化器的类应为 'RMSprop'，你的是 'SGD'
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(units=64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(units=64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(units=1, activation="sigmoid"))
    model.compile(optimizer="sgd", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
