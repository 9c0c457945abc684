"""The example of the original walkthroughs, line by line as it is printed there, with seeds.

It does not learn: softmax over one unit is always 1, so no gradient reaches a weight. The
walkthroughs say so too. `fixed_example.py` is the same model with sigmoid. The old arguments
`input=` and `output=` are accepted, with a note that gives the new names.
"""

# The lines below stay as the document has them.
# ruff: noqa: I001
# fmt: off

from kerascope.layers import Input, Dense
from kerascope.models import Model
import numpy as np

np.random.seed(0)  # not in the document: the same numbers at every run

data = np.random.normal(size=(50, 20))
labels = np.random.randint(0, 2, (50))

inputs = Input(shape=(20,))
x = Dense(64, activation='relu')(inputs)
x = Dense(64, activation='relu')(x)
predictions = Dense(1, activation='softmax')(x)

model = Model(input=inputs, output=predictions)
model.compile(optimizer='rmsprop',
              loss='binary_crossentropy',
              metrics=['accuracy'])
model.fit(data, labels)  # starts training
