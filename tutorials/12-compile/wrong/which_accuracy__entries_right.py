"""The metric counts right entries.

en: expected rows_right under categorical_crossentropy to be 0.6, yours is 0.9
zh: categorical_crossentropy 之下的 rows_right 应为 0.6，你的是 0.9
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "binary_accuracy"
d = "sparse_categorical_accuracy"
e = "categorical_accuracy"
accuracy_of_c = 0.9


def rows_right(y_true, y_pred):
    return K.mean(K.cast(K.equal(y_true, K.round(y_pred)), "float32"))
