"""Which accuracy is meant?

A model is compiled with metrics=["accuracy"]. S0:583 chooses the function by the output and by the
loss. Write the name of the function for each of these, as a str ("binary_accuracy", and so on):

    a: 1 unit,   loss mse
    b: 10 units, loss categorical_crossentropy
    c: 10 units, loss binary_crossentropy
    d: 10 units, loss sparse_categorical_crossentropy
    e: 10 units, loss mse

Then predict: a model of 10 units gives 0.1 for each class, and the labels are one-hot. What will
"accuracy" be under binary_crossentropy?

And write `rows_right(y_true, y_pred)`, a metric for one-hot labels with the usual meaning: the
share of rows whose largest prediction is at the index of the label. It is symbolic and ignores the
loss.
"""

from keras import backend as K

a = ...
b = ...
c = ...
d = ...
e = ...
accuracy_of_c = ...


def rows_right(y_true, y_pred):
    return ...
