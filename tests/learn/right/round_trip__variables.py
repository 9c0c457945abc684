from keras import backend as K
from keras.models import Model

before = 2
indices_in_the_model = [before + call for call in (0, 1)]
indices_in_the_twin = [index - before for index in indices_in_the_model]


def twin_of(model):
    twin = Model.from_config(model.get_config())
    K.batch_set_value(list(zip(twin.weights, K.batch_get_value(model.weights))))
    return twin
