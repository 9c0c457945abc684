"""The last, smaller batch is not counted.

en: expected batches_seen of the training with samples=50, batch_size=32, initial_epoch=3, epochs=8 to be 10, yours is 5
zh: 训练 samples=50, batch_size=32, initial_epoch=3, epochs=8 的 batches_seen 应为 10，你的是 5
"""


def best_epoch(history):
    losses = history.history["val_loss"]
    return history.epoch[losses.index(min(losses))]


def batches_seen(history):
    in_one_epoch = history.params["samples"] // history.params["batch_size"]
    return in_one_epoch * len(history.epoch)
