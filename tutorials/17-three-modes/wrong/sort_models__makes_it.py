"""The model is made to find out.

en: expected kind_of to do the work itself, yours calls Model
zh: kind_of 应自己完成，你的把它交给了 Model
"""

from keras.models import Model

layers_of_graph = ["x", "a", "b", "c"]
layers_of_own = ["c", "a", "b"]


def kind_of(*args, **kwargs):
    try:
        model = Model(*args, **kwargs)
    except ValueError:
        return "error"
    return "graph" if model._is_graph_network else "subclassed"
