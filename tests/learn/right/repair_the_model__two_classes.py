from keras.layers import Dense, Input
from keras.models import Model


def build():
    inputs = Input(shape=(20,))
    x = Dense(64, activation="relu")(inputs)
    x = Dense(64, activation="relu")(x)
    predictions = Dense(2, activation="softmax")(x)
    model = Model(inputs, predictions)
    model.compile(optimizer="rmsprop", loss="sparse_categorical_crossentropy")
    return model
