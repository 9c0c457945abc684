from keras.layers import Dense
from keras.models import Sequential
from keras.optimizers import RMSprop
from keras.regularizers import l2


def build():
    model = Sequential()
    first = {"input_shape": (20,), "kernel_initializer": "he_normal"}
    second = {"kernel_regularizer": l2(0.01), "use_bias": False}
    for options in (first, second):
        model.add(Dense(64, activation="relu", **options))
    model.add(Dense(1, activation="sigmoid"))
    model.compile(optimizer=RMSprop(), loss="binary_crossentropy")
    return model


def train(model, x, y):
    settings = dict(epochs=2, batch_size=32, verbose=0)
    return model.fit(x, y, **settings)
