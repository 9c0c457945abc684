"""The model of `example.py` with sigmoid in place of softmax. It memorizes its 50 labels."""

import numpy as np

from kerascope.layers import Dense, Input
from kerascope.models import Model

np.random.seed(0)
random = np.random.default_rng(0)
data = random.normal(size=(50, 20))
labels = random.integers(0, 2, size=50)

inputs = Input(shape=(20,))
x = Dense(64, activation="relu")(inputs)
x = Dense(64, activation="relu")(x)
predictions = Dense(1, activation="sigmoid")(x)

model = Model(inputs=inputs, outputs=predictions)
model.compile(optimizer="rmsprop", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(data, labels, epochs=100, verbose=0)

loss, accuracy = history.history["loss"], history.history["acc"]
for epoch in (1, 10, 100):
    print(f"epoch {epoch:3}: loss {loss[epoch - 1]:.4f}, accuracy {accuracy[epoch - 1]:.2f}")
