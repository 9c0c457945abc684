"""`epochs` is the number at which training ends, not how many epochs there were.

en: expected batches_seen of the training with samples=50, batch_size=32, initial_epoch=3, epochs=8 to be 10, yours is 16
zh: 训练 samples=50, batch_size=32, initial_epoch=3, epochs=8 的 batches_seen 应为 10，你的是 16
"""


def best_epoch(history):
    losses = history.history["val_loss"]
    return history.epoch[losses.index(min(losses))]


def batches_seen(history):
    params = history.params
    return -(-params["samples"] // params["batch_size"]) * params["epochs"]
