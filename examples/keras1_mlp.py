"""Keras 1: a perceptron of two hidden layers reads handwritten digits.

kerascope run examples/keras1_mlp.py
"""

import numpy as np
from keras.layers.core import Activation, Dense, Dropout
from keras.models import Sequential
from keras.optimizers import RMSprop
from keras.utils import np_utils

from kerascope.datasets import digits

np.random.seed(1337)

batch_size = 64
nb_classes = 10
nb_epoch = 30

(X_train, y_train), (X_test, y_test) = digits.load_data()
X_train = X_train.reshape(-1, 64).astype("float32") / 16
X_test = X_test.reshape(-1, 64).astype("float32") / 16
Y_train = np_utils.to_categorical(y_train, nb_classes)
Y_test = np_utils.to_categorical(y_test, nb_classes)

model = Sequential()
model.add(Dense(output_dim=128, input_dim=64, init="glorot_uniform"))
model.add(Activation("relu"))
model.add(Dropout(p=0.2))
model.add(Dense(output_dim=128, W_regularizer="l2"))
model.add(Activation("relu"))
model.add(Dropout(0.2))
model.add(Dense(nb_classes))
model.add(Activation("softmax"))
model.summary()

model.compile(loss="categorical_crossentropy", optimizer=RMSprop(lr=0.002), metrics=["accuracy"])
model.fit(
    X_train,
    Y_train,
    batch_size=batch_size,
    nb_epoch=nb_epoch,
    verbose=2,
    validation_data=(X_test, Y_test),
)
score = model.evaluate(X_test, Y_test, verbose=0)
print("Test score:", score[0])
print(f"Test accuracy: {score[1]:.3f}")
