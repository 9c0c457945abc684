"""Translate a script of 2016 into today's names.

This is how it was written for Keras 1.2:

    model = Sequential()
    model.add(Dense(output_dim=64, input_dim=20, init='he_normal', activation='relu'))
    model.add(Dense(output_dim=64, W_regularizer=l2(0.01), bias=False, activation='relu'))
    model.add(Dense(output_dim=1, activation='sigmoid'))
    model.compile(optimizer='rmsprop', loss='binary_crossentropy')
    model.fit(x, y, nb_epoch=2, batch_size=32)

Write `build`, which returns the same compiled model with the names of Keras 2, and `train`, which
fits it in the same way and returns the History that fit returns. kerascope accepts the old names
as well, with a warning that gives the new one; your answer must cause no warning.
"""

from keras.layers import Dense
from keras.models import Sequential
from keras.regularizers import l2


def build():
    model = Sequential()
    ...
    return model


def train(model, x, y):
    return ...
