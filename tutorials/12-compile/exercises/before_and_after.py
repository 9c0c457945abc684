"""What exists before compile, after it, and after fit?

A model is made, compiled, and trained for one epoch. Write "made", "compile" or "fit": when does
each of these first exist, or become possible?

    predictions       model.predict(x) answers
    total_loss        model.total_loss is a tensor
    targets           model.targets holds a placeholder
    train_function    model.train_function is not None
    moved_weights     model.get_weights() differs from what it was at first

Then the model is compiled a second time. True or False: does it still have its train function?
Are its weights still the trained ones?

And write `loss_of(model, x, y)`: the value of model.total_loss for these arrays. compile has made
the graph; make a function from it yourself. It must not train the model, and model.train_function
must stay None.
"""

from keras import backend as K

predictions = ...
total_loss = ...
targets = ...
train_function = ...
moved_weights = ...
train_function_stays = ...
weights_stay = ...


def loss_of(model, x, y):
    return ...
