"""`he_normal` becomes `he_uniform`.

en: expected the weights of Dense layer 1 to begin as he_normal
zh: 第 1 个 Dense 层的权重应以 he_normal 初始化
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(
        Dense(units=64, input_shape=(20,), kernel_initializer="he_uniform", activation="relu")
    )
    model.add(Dense(units=64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(units=1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
