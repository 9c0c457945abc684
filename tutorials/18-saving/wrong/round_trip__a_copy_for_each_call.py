"""Each call gets a copy of the layer.

en: expected the layers of the twin to be ['left', 'right', 'shared', 'added', 'out'], yours is ['left', 'right', 'shared', 'shared_again', 'added', 'out']
zh: 孪生模型的各层应为 ['left', 'right', 'shared', 'added', 'out']，你的是 ['left', 'right', 'shared', 'shared_again', 'added', 'out']
"""

from keras.layers import Add, Dense, Input
from keras.models import Model

indices_in_the_model = [2, 3]
indices_in_the_twin = [0, 1]


def twin_of(model):
    left, right = Input(shape=(4,), name="left"), Input(shape=(4,), name="right")
    first, second = (Dense(3, name=name) for name in ("shared", "shared_again"))
    added = Add(name="added")([first(left), second(right)])
    return Model([left, right], Dense(1, name="out")(added))
