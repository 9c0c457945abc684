"""Read the History that fit returns.

`fit` returns a History. history.epoch lists the numbers of the epochs, history.history the figures
of each epoch by name, and history.params the settings of fit: "samples", "batch_size" and more.

`best_epoch(history)`: the number of the epoch with the smallest "val_loss". A training that
continues an earlier one, `fit(..., initial_epoch=3, epochs=8)`, counts its epochs 3, 4, 5, 6, 7.
`batches_seen(history)`: how many batches the model has learned from, in all these epochs together.
50 samples in batches of 32 are two batches, one of 32 and one of 18.

The checker trains models and counts along.
"""


def best_epoch(history):
    return ...


def batches_seen(history):
    return ...
