"""Predicts the value of categorical_accuracy.

en: expected accuracy_of_c to be 0.9, yours is 0.1
zh: accuracy_of_c 应为 0.9，你的是 0.1
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "binary_accuracy"
d = "sparse_categorical_accuracy"
e = "categorical_accuracy"
accuracy_of_c = 0.1


def rows_right(y_true, y_pred):
    places = K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1))
    return K.mean(K.cast(places, "float32"))
