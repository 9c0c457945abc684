from keras import backend as K

answers = {"predictions": "made", "total_loss": "compile", "targets": "compile"}
answers |= {"train_function": "fit", "moved_weights": "fit"}
globals().update(answers, train_function_stays=False, weights_stay=True)


def loss_of(model, x, y):
    ((target,), (door,)) = model.targets, model.inputs
    return K.function([target, door], [model.total_loss])([y, x])[0]
