"""The last layer starts at zero.

en: expected the weights of Dense layer 3 to begin as glorot_uniform
zh: 第 3 个 Dense 层的权重应以 glorot_uniform 初始化
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(units=64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(units=64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(units=1, kernel_initializer="zeros", activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
