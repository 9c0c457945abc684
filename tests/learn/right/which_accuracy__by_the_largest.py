from keras import backend as K

a, b, c, d, e = (
    "binary_accuracy",
    "categorical_accuracy",
    "binary_accuracy",
    "sparse_categorical_accuracy",
    "categorical_accuracy",
)
accuracy_of_c = sum([1] * 9 + [0]) / 10


def rows_right(y_true, y_pred):
    of_the_label = K.sum(y_true * y_pred, axis=-1)
    largest = K.max(y_pred, axis=-1)
    return K.mean(K.cast(K.equal(of_the_label, largest), "float32"))
