from keras.layers import Activation, Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential(
        [
            Dense(64, input_dim=20, kernel_initializer="he_normal", activation="relu"),
            Dense(64, kernel_regularizer=l2(0.01), use_bias=False, activation="relu"),
            Dense(1, activation="sigmoid"),
        ]
    )
    model.compile("rmsprop", "binary_crossentropy")
    return model


def train(model, x, y):
    history = model.fit(x, y, 32, 2)
    return history
