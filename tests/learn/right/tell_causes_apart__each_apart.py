from keras import backend as K


def causes(model, x, y):
    z = model.layers[-1].input
    p = model.layers[-1].output
    feeds = model.inputs + model.targets + model.sample_weights
    x, y, sample_weights = model._standardize_user_data(x, y)

    def is_dead(of, at):
        slope = K.gradients(of, [at])[0]
        return slope is None or not K.function(feeds, [slope])(x + y + sample_weights)[0].any()

    found = ["loss"] if is_dead(model.total_loss, p) else []
    units = range(K.int_shape(p)[-1])
    if all(is_dead(K.sum(p[:, k]), z) for k in units):
        found.append("activation")
    return found
