"""Small models of Keras 1, written to .h5 files by the real Keras 1.2.2 on Theano: files-1.2.2.zip.

    k122/bin/python tests/old_keras/files.py      (README.md says how it is made)

The zip holds `NAME.h5`, which has the weights too, and `NAME.npz` with what the model predicts.
tests/saving/test_files_of_keras1.py opens them here. It runs under Python 3.6, too.
"""

import os
import shutil
import tempfile
import zipfile

import numpy as np

import keras
from keras.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Bidirectional,
    Convolution1D,
    Convolution2D,
    Convolution3D,
    ConvLSTM2D,
    Cropping2D,
    Deconvolution2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    Highway,
    Input,
    LeakyReLU,
    LocallyConnected1D,
    MaxoutDense,
    MaxPooling2D,
    Merge,
    ParametricSoftplus,
    PReLU,
    SimpleRNN,
    SReLU,
    TimeDistributed,
    TimeDistributedDense,
    UpSampling2D,
    ZeroPadding2D,
    merge,
)
from keras.models import Model, Sequential

HERE = os.path.dirname(os.path.abspath(__file__))


def numbers(seed, *shape):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


def two_branches():
    left = Sequential([Dense(3, input_dim=2)])
    right = Sequential([Dense(3, input_dim=4, activation="relu")])
    return Sequential([Merge([left, right], mode="concat"), Dense(2)])


def shared():
    x = Input((3,))
    layer = Dense(3, name="shared", activation="tanh")
    first = layer(x)
    second = layer(first)
    outputs = [merge([first, second], mode="sum"), Dense(1)(merge([x, first], mode="mul"))]
    return Model(x, outputs)


def nested():
    inner = Sequential([Dense(4, input_dim=3, activation="relu"), Dense(2)])
    x = Input((3,))
    return Model(x, Dense(1)(inner(x)))


# Name -> the layers of a Sequential, or a function that makes a model.
MODELS = {
    "dense": lambda: [
        Dense(4, input_dim=3, activation="tanh", W_regularizer="l2", b_constraint="nonneg"),
        Dropout(0.5),
        Dense(2, activation="softmax", activity_regularizer="activity_l2"),
    ],
    "images": lambda: [
        Convolution2D(3, 3, 3, input_shape=(8, 8, 2), border_mode="same", activation="relu"),
        MaxPooling2D((2, 2)),
        BatchNormalization(),
        Flatten(),
        Dense(2),
    ],
    "strides": lambda: [
        Convolution2D(3, 3, 3, input_shape=(8, 8, 2), subsample=(2, 2), dim_ordering="tf"),
        UpSampling2D((2, 2)),
        ZeroPadding2D((1, 1)),
        Cropping2D(((1, 0), (0, 1))),
        GlobalAveragePooling2D(),
    ],
    "channels_first": lambda: [
        Convolution2D(3, 3, 3, input_shape=(2, 8, 8), dim_ordering="th"),
        MaxPooling2D(dim_ordering="th"),
        Flatten(),
        Dense(1),
    ],
    "lines": lambda: [Convolution1D(3, 3, input_shape=(9, 2)), GlobalMaxPooling1D(), Dense(2)],
    "volumes": lambda: [
        Convolution3D(2, 2, 2, 2, input_shape=(4, 4, 4, 1), dim_ordering="tf"),
        Flatten(),
        Dense(1),
    ],
    "transposed": lambda: [
        Deconvolution2D(2, 3, 3, output_shape=(None, 10, 10, 2), input_shape=(8, 8, 3))
    ],
    "local": lambda: [LocallyConnected1D(2, 3, input_shape=(6, 2)), Flatten(), Dense(1)],
    "lstm": lambda: [LSTM(3, input_shape=(4, 2), return_sequences=True), LSTM(2), Dense(1)],
    "lstm_in_one": lambda: [LSTM(3, input_shape=(4, 2), consume_less="gpu")],
    "gru": lambda: [GRU(3, input_shape=(4, 2), inner_activation="sigmoid"), Dense(1)],
    "rnn": lambda: [SimpleRNN(3, input_shape=(4, 2), go_backwards=True)],
    "both_ways": lambda: [
        Bidirectional(GRU(2, return_sequences=True), input_shape=(4, 3)),
        TimeDistributed(Dense(2)),
    ],
    "image_lstm": lambda: [
        ConvLSTM2D(2, 3, 3, input_shape=(3, 5, 5, 1), border_mode="same", dim_ordering="tf"),
        Flatten(),
        Dense(1),
    ],
    "words": lambda: [Embedding(10, 4, input_length=5, mask_zero=True), LSTM(2)],
    "highway": lambda: [Highway(input_dim=3, activation="tanh"), MaxoutDense(2, 3)],
    "activations": lambda: [
        Dense(3, input_dim=3),
        PReLU(),
        LeakyReLU(0.1),
        SReLU(),
        ParametricSoftplus(),
    ],
    "modes": lambda: [
        Dense(3, input_dim=3),
        BatchNormalization(mode=2),
        BatchNormalization(mode=1),
    ],
    "steps": lambda: [TimeDistributedDense(3, input_shape=(4, 2)), Flatten(), Dense(1)],
    "two_branches": two_branches,
    "shared": shared,
    "nested": nested,
}


def made(name):
    """Return a model with fresh weights."""
    model = MODELS[name]()
    return Sequential(model) if isinstance(model, list) else model


def inputs(model):
    """Return arrays for the inputs of a model."""
    if isinstance(model.layers[0], Embedding):
        return [np.random.RandomState(3).randint(0, 10, (4, 5))]
    return [numbers(3 + i, 4, *x[1:]) for i, x in enumerate(shapes_of(model))]


def shapes_of(model):
    shape = model.input_shape
    return shape if isinstance(shape, list) else [shape]


def predicted(model):
    arrays = inputs(model)
    found = model.predict(arrays if len(arrays) > 1 else arrays[0])
    return found if isinstance(found, list) else [found]


def write(folder):
    for name in sorted(MODELS):
        model = made(name)
        shapes = [w.shape for w in model.get_weights()]
        model.set_weights(
            [
                abs(numbers(5 + i, *s)) if len(s) == 1 else numbers(5 + i, *s)
                for i, s in enumerate(shapes)
            ]
        )
        model.compile("adam", "mse")
        model.save(os.path.join(folder, name + ".h5"))
        np.savez(os.path.join(folder, name + ".npz"), *predicted(model))


if __name__ == "__main__":
    if keras.__version__ != "1.2.2":
        raise SystemExit("files.py is run by the real Keras 1.2.2")
    keras.backend.set_image_dim_ordering("tf")
    folder = tempfile.mkdtemp()
    write(folder)
    with zipfile.ZipFile(os.path.join(HERE, "files-1.2.2.zip"), "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(os.listdir(folder)):
            file.write(os.path.join(folder, name), name)
    shutil.rmtree(folder)
