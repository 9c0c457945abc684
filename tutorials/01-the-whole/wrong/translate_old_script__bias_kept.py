"""`bias=False` is lost in the translation.

en: expected use_bias of Dense layer 2 to be False, yours is True
zh: 第 2 个 Dense 层的 use_bias 应为 False，你的是 True
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(64, kernel_regularizer=l2(0.01), activation="relu"))
    model.add(Dense(1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
