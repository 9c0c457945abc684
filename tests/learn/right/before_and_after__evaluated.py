from keras import backend as K

predictions, total_loss, targets = "made", "compile", "compile"
train_function = moved_weights = "fit"
train_function_stays, weights_stay = False, True


def loss_of(model, x, y):
    f = K.function(model.inputs + model.targets, [model.total_loss], name="loss_of")
    return float(f([x, y])[0])
