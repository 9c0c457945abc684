"""The labels are not fed.

en: loss_of(...) stopped at line 19 with DisconnectedGraphError: function: 'dense_3_target' is needed by subtract(dense_3/add, dense_3_target) -> dense_3_loss/subtract but is not fed. Add it to the inputs, which are: input_3.
zh: loss_of(...) 中途出错（第 19 行）：DisconnectedGraphError: function: 'dense_3_target' is needed by subtract(dense_3/add, dense_3_target) -> dense_3_loss/subtract but is not fed. Add it to the inputs, which are: input_3.
"""

from keras import backend as K

predictions = "made"
total_loss = "compile"
targets = "compile"
train_function = "fit"
moved_weights = "fit"
train_function_stays = False
weights_stay = True


def loss_of(model, x, y):
    (loss,) = K.function(model.inputs, [model.total_loss])([x])
    return loss
