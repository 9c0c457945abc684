"""Counts the epochs up to the last one requested, although training stopped early.

en: expected batches_seen of the training with samples=50, batch_size=32, initial_epoch=2, epochs=9, stops_after=4 to be 6, yours is 14
zh: 训练 samples=50, batch_size=32, initial_epoch=2, epochs=9, stops_after=4 的 batches_seen 应为 6，你的是 14
"""


def best_epoch(history):
    losses = history.history["val_loss"]
    return history.epoch[losses.index(min(losses))]


def batches_seen(history):
    in_one_epoch = -(-history.params["samples"] // history.params["batch_size"])
    return in_one_epoch * (history.params["epochs"] - history.epoch[0])
