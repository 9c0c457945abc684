from keras.layers import Dense
from keras.models import Sequential


def build():
    layers = [Dense(64, activation="relu", input_shape=(20,)), Dense(64, activation="relu")]
    model = Sequential([*layers, Dense(1, activation="sigmoid")])
    model.compile(optimizer="rmsprop", loss="mean_squared_error")
    return model
