from keras import backend as K

made, compiled, trained = "made", "compile", "fit"
predictions = made
total_loss = targets = compiled
train_function = moved_weights = trained
train_function_stays = not True
weights_stay = not False


def loss_of(model, x, y):
    x, y, sample_weights = model._standardize_user_data(x, y)
    inputs = model.inputs + model.targets + model.sample_weights
    return K.function(inputs, model.total_loss)(x + y + sample_weights)
