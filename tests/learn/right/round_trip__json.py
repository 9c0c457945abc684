from keras.models import model_from_json

indices_in_the_model = (2, 3)
indices_in_the_twin = (0, 1)


def twin_of(model):
    twin = model_from_json(model.to_json())
    twin.set_weights(model.get_weights())
    return twin
