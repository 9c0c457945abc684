from keras.layers import Activation, Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = inputs
    for _ in range(2):
        x = Dense(64, activation="relu")(x)
    predictions = Activation("sigmoid")(Dense(1)(x))
    model = Model(inputs, predictions)
    model.compile("rmsprop", "binary_crossentropy")
    return model
