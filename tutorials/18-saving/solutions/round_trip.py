indices_in_the_model = [2, 3]
indices_in_the_twin = [0, 1]


def twin_of(model):
    twin = type(model).from_config(model.get_config())
    twin.set_weights(model.get_weights())
    return twin
