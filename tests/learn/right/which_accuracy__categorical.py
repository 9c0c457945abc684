from keras import backend as K
from keras import metrics

a = c = "binary_accuracy"
b = e = "categorical_accuracy"
d = "sparse_" + b
accuracy_of_c = 9 / 10


def rows_right(y_true, y_pred):
    return K.mean(metrics.categorical_accuracy(y_true, y_pred))
