"""The index in the list is taken for the number of the epoch.

en: expected best_epoch of the training with samples=50, batch_size=32, initial_epoch=3, epochs=8 to be 4, yours is 1: epochs [3, 4, 5, 6, 7], val_loss [0.9, 0.2, 0.5, 0.6, 0.7]
zh: 训练 samples=50, batch_size=32, initial_epoch=3, epochs=8 的 best_epoch 应为 4，你的是 1：epochs [3, 4, 5, 6, 7], val_loss [0.9, 0.2, 0.5, 0.6, 0.7]
"""


def best_epoch(history):
    losses = history.history["val_loss"]
    return losses.index(min(losses))


def batches_seen(history):
    in_one_epoch = -(-history.params["samples"] // history.params["batch_size"])
    return in_one_epoch * len(history.epoch)
