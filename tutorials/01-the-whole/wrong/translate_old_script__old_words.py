"""One of the old names is left.

en: expected build() to use only today's names, kerascope warned: Dense: 'W_regularizer' is Keras 1's word; today it is 'kernel_regularizer'.
zh: build() 应全部使用今天的名字，但 kerascope 给出了警告：Dense: 'W_regularizer' is Keras 1's word; today it is 'kernel_regularizer'.
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(64, W_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
