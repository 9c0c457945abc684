"""Predict the targets and the metric names that compile makes.

    x = Input(shape=(4,))
    spam = Dense(1, activation="sigmoid", name="spam")(x)
    cost = Dense(1, name="cost")(x)

    one = Model(x, spam)
    one.compile("sgd", "binary_crossentropy", metrics=["accuracy"])

    two = Model(x, [spam, cost])
    two.compile("sgd", ["binary_crossentropy", "mse"], metrics={"spam": "accuracy"})

    half = Model(x, [spam, cost])
    half.compile("sgd", {"spam": "binary_crossentropy"})

A dict that names no loss for an output leaves it untrained. Write the names as lists of str: of the
placeholders in `.targets`, and `.metrics_names`.

Then write `needed_by(model, tensor)`: the names of all placeholders that must be fed to compute the
tensor, among the model's inputs and its targets, inputs first. S4:412 takes the target for the
prediction; your function shows the difference.
"""

targets_of_one = ...
names_of_one = ...
targets_of_two = ...
names_of_two = ...
targets_of_half = ...
names_of_half = ...


def needed_by(model, tensor):
    return ...
