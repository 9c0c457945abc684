"""Assumes that ten units mean categorical_accuracy under any loss.

en: expected c to be 'binary_accuracy', yours is 'categorical_accuracy': the loss decides
zh: c 应为 'binary_accuracy'，你的是 'categorical_accuracy'：由损失决定
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "categorical_accuracy"
d = "sparse_categorical_accuracy"
e = "categorical_accuracy"
accuracy_of_c = 0.9


def rows_right(y_true, y_pred):
    places = K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1))
    return K.mean(K.cast(places, "float32"))
