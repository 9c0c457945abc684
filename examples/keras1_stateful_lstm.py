"""Keras 1: a stateful LSTM remembers, from batch to batch, which way a switch was last turned.

The signal is cut into pieces of five steps. Most pieces do not contain the switch, whose last turn
was some pieces ago.

    kerascope run --dialect 1.2 examples/keras1_stateful_lstm.py
"""

import numpy as np
from keras.layers.core import Dense
from keras.layers.recurrent import LSTM
from keras.layers.wrappers import TimeDistributed
from keras.models import Sequential

np.random.seed(6)

tsteps = 5
batch_size = 25
pieces = 60
nb_epoch = 40

rng = np.random.default_rng(0)
steps = tsteps * pieces
turned = rng.choice([-1.0, 1.0], (batch_size, steps))
signal = np.where(rng.random((batch_size, steps)) < 0.08, turned, 0.0)  # mostly silence
expected = np.zeros_like(signal)
for t in range(steps):
    expected[:, t] = np.where(signal[:, t] != 0, signal[:, t], expected[:, t - 1] if t else 0)


def piece(data, number):
    """Return one piece, five steps long, of every row of a signal: (batch, steps, 1)."""
    return data[:, number * tsteps : (number + 1) * tsteps, None]


print("Creating Model")
model = Sequential()
model.add(LSTM(32, batch_input_shape=(batch_size, tsteps, 1), return_sequences=True, stateful=True))
model.add(TimeDistributed(Dense(output_dim=1)))
model.compile(loss="mse", optimizer="adam")

print("Training")
for i in range(nb_epoch):
    losses = [model.train_on_batch(piece(signal, n), piece(expected, n)) for n in range(pieces)]
    model.reset_states()
    if i % 8 == 0:
        print("Epoch", i, "loss %.4f" % np.mean(losses))

print("Predicting")
predicted = [model.predict(piece(signal, n), batch_size=batch_size) for n in range(pieces)]
silent = [n for n in range(1, pieces) if not piece(signal, n).any(axis=(1, 2)).all()]
right, counted = 0, 0
for n in silent:
    untold = ~piece(signal, n).any(axis=(1, 2)) & (piece(expected, n)[:, 0, 0] != 0)
    right += (np.sign(predicted[n]) == piece(expected, n))[untold].sum()
    counted += tsteps * untold.sum()
print(f"Right in pieces that say nothing: {right / counted:.3f}")
