from keras import backend as K
from keras.metrics import binary_accuracy, categorical_accuracy, sparse_categorical_accuracy

kinds = [binary_accuracy, categorical_accuracy, binary_accuracy]
kinds += [sparse_categorical_accuracy, categorical_accuracy]
a, b, c, d, e = (kind.__name__ for kind in kinds)
accuracy_of_c = 1 - 0.1


def rows_right(y_true, y_pred):
    label, guess = K.argmax(y_true), K.argmax(y_pred)
    return K.mean(K.cast(K.equal(guess, label), K.floatx()), axis=-1)
