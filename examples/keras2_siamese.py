"""Keras 2: a network decides if two images show the same digit. It is trained only on pairs.

kerascope run examples/keras2_siamese.py
"""

import random

import numpy as np
from keras import backend as K
from keras.layers import Dense, Dropout, Input, Lambda
from keras.models import Model
from keras.optimizers import RMSprop

from kerascope.datasets import digits

np.random.seed(1)
random.seed(1)
num_classes = 10


def euclidean_distance(vects):
    """Return the distance of each pair of rows."""
    x, y = vects
    return K.sqrt(K.maximum(K.sum(K.square(x - y), axis=1, keepdims=True), K.epsilon()))


def eucl_dist_output_shape(shapes):
    """Return the shape of the distances."""
    return (shapes[0][0], 1)


def contrastive_loss(y_true, y_pred):
    """Return a loss that pulls equal digits together and pushes others apart to a margin of 1."""
    margin = 1
    return K.mean(
        y_true * K.square(y_pred) + (1 - y_true) * K.square(K.maximum(margin - y_pred, 0))
    )


def create_pairs(x, digit_indices):
    """Return equal numbers of pairs of the same digit and of different digits."""
    pairs, labels = [], []
    n = min(len(digit_indices[d]) for d in range(num_classes)) - 1
    for d in range(num_classes):
        for i in range(n):
            z1, z2 = digit_indices[d][i], digit_indices[d][i + 1]
            pairs += [[x[z1], x[z2]]]
            dn = (d + random.randrange(1, num_classes)) % num_classes
            z1, z2 = digit_indices[d][i], digit_indices[dn][i]
            pairs += [[x[z1], x[z2]]]
            labels += [1, 0]
    return np.array(pairs), np.array(labels)


def create_base_network(input_dim):
    """Return the network that both images go through."""
    inputs = Input(shape=(input_dim,))
    x = Dense(64, activation="relu")(inputs)
    x = Dropout(0.1)(x)
    x = Dense(64, activation="relu")(x)
    return Model(inputs, Dense(32)(x))


def accuracy(y_true, y_pred):
    """Return the fraction of pairs that a distance below 0.5 classifies correctly."""
    return K.mean(K.equal(y_true, K.cast(y_pred < 0.5, y_true.dtype)))


(x_train, y_train), (x_test, y_test) = digits.load_data()
x_train = x_train.reshape(-1, 64).astype("float32") / 16
x_test = x_test.reshape(-1, 64).astype("float32") / 16
tr_pairs, tr_y = create_pairs(x_train, [np.where(y_train == i)[0] for i in range(num_classes)])
te_pairs, te_y = create_pairs(x_test, [np.where(y_test == i)[0] for i in range(num_classes)])

base_network = create_base_network(64)
input_a, input_b = Input(shape=(64,)), Input(shape=(64,))
processed_a, processed_b = base_network(input_a), base_network(input_b)
distance = Lambda(euclidean_distance, output_shape=eucl_dist_output_shape)(
    [processed_a, processed_b]
)
model = Model([input_a, input_b], distance)
model.summary()

model.compile(loss=contrastive_loss, optimizer=RMSprop(), metrics=[accuracy])
model.fit(
    [tr_pairs[:, 0], tr_pairs[:, 1]],
    tr_y,
    batch_size=64,
    epochs=20,
    verbose=2,
    validation_data=([te_pairs[:, 0], te_pairs[:, 1]], te_y),
)
y_pred = model.predict([te_pairs[:, 0], te_pairs[:, 1]])
print(f"Accuracy on test pairs: {np.mean((y_pred.ravel() < 0.5) == te_y):.3f}")
