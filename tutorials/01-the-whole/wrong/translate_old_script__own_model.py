"""`train` makes and fits another model.

en: expected train(model, x, y) to fit the model that it gets, its weights have not changed
zh: train(model, x, y) 应训练交给它的模型，但它的权重没有变
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    model.add(Dense(units=64, input_shape=(20,), kernel_initializer="he_normal", activation="relu"))
    model.add(Dense(units=64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"))
    model.add(Dense(units=1, activation="sigmoid"))
    model.compile(optimizer="rmsprop", loss="binary_crossentropy")
    return model


def train(model, x, y):
    model = build()
    return model.fit(x, y, epochs=2, batch_size=32, verbose=0)
