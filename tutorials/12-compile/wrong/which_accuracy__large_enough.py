"""A row is right if its label gets more than a quarter.

en: expected rows_right under categorical_crossentropy, where labels get 0.2 and others up to 0.3, to be 0.4, yours is 0
zh: categorical_crossentropy 之下，标签得 0.2、其余最多 0.3 时的 rows_right 应为 0.4，你的是 0
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "binary_accuracy"
d = "sparse_categorical_accuracy"
e = "categorical_accuracy"
accuracy_of_c = 0.9


def rows_right(y_true, y_pred):
    at_label = K.sum(y_true * y_pred, axis=-1)
    return K.mean(K.cast(K.greater(at_label, 0.25), "float32"))
