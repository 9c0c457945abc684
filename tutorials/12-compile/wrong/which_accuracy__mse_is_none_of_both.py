"""Assumes that mse has an accuracy of its own.

en: expected e to be 'categorical_accuracy', yours is 'binary_accuracy': any other loss counts as categorical
zh: e 应为 'categorical_accuracy'，你的是 'binary_accuracy'：其余的损失都按多分类算
"""

from keras import backend as K

a = "binary_accuracy"
b = "categorical_accuracy"
c = "binary_accuracy"
d = "sparse_categorical_accuracy"
e = "binary_accuracy"
accuracy_of_c = 0.9


def rows_right(y_true, y_pred):
    places = K.equal(K.argmax(y_true, axis=-1), K.argmax(y_pred, axis=-1))
    return K.mean(K.cast(places, "float32"))
