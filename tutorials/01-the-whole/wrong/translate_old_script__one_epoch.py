"""`nb_epoch=2` is left out.

en: expected the number of epochs to be 2, yours is 1
zh: 训练的轮数应为 2，你的是 1
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    return model.fit(x, y, batch_size=32, epochs=1, verbose=0)
