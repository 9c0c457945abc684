"""Multiplies predictions by the labels, which gives 0 elsewhere.

en: expected rows_right under categorical_crossentropy, where all predictions are below 0, to be 0.6, yours is 0
zh: categorical_crossentropy 之下，预测值都小于 0 时的 rows_right 应为 0.6，你的是 0
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "binary_accuracy"
d = "sparse_categorical_accuracy"
e = "categorical_accuracy"
accuracy_of_c = 0.9


def rows_right(y_true, y_pred):
    places = K.equal(K.max(y_true * y_pred, axis=-1), K.max(y_pred, axis=-1))
    return K.mean(K.cast(places, "float32"))
