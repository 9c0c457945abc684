import numpy as np
from keras.callbacks import Callback
from keras.layers import Dense, Input
from keras.models import Model

calls, sizes, names = [], [], []


class Once(Callback):
    def on_epoch_end(self, epoch, logs=None):
        self.model.stop_training = True


class Listener(Callback):
    def on_train_begin(self, logs=None):
        calls.append("train_begin")

    def on_train_end(self, logs=None):
        calls.append("train_end")

    def on_epoch_begin(self, epoch, logs=None):
        calls.append("epoch_begin %d" % epoch)

    def on_epoch_end(self, epoch, logs=None):
        calls.append("epoch_end %d" % epoch)
        names.extend(sorted(logs))

    def on_batch_begin(self, batch, logs=None):
        calls.append("batch_begin %d" % batch)
        sizes.append(logs["size"])

    def on_batch_end(self, batch, logs=None):
        calls.append("batch_end %d" % batch)


x, y = np.ones((5, 3)), np.zeros((5, 1))
inputs = Input(shape=(3,))
model = Model(inputs, Dense(1)(inputs))
model.compile("sgd", "mse")
told = [Once(), Listener()]
model.fit(x, y, batch_size=2, epochs=3, verbose=0, callbacks=told, validation_data=(x, y))
