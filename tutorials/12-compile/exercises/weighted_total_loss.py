"""Write the total loss of a network with several outputs.

    total_loss(targets, outputs, functions, loss_weights)

All four are lists of one entry per output: a tensor of labels, a tensor of predictions, a loss
function, a number. functions[i](targets[i], outputs[i]) gives one loss for each row; their mean is
the loss of that output. The total is the weighted sum of these losses, S0:553, and nothing else.

Return a symbolic tensor without axes. Do not compute anything here.
"""

from keras import backend as K


def total_loss(targets, outputs, functions, loss_weights):
    total = ...
    return total
