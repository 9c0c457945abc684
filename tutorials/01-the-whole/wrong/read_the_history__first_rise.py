"""The best epoch is taken to be the last one before the loss rises.

en: expected best_epoch of the training with samples=12, batch_size=5, initial_epoch=4, epochs=11 to be 9, yours is 5: epochs [4, 5, 6, 7, 8, 9, 10], val_loss [0.9, 0.2, 0.5, 0.6, 0.7, 0.1, 0.3]
zh: 训练 samples=12, batch_size=5, initial_epoch=4, epochs=11 的 best_epoch 应为 9，你的是 5：epochs [4, 5, 6, 7, 8, 9, 10], val_loss [0.9, 0.2, 0.5, 0.6, 0.7, 0.1, 0.3]
"""


def best_epoch(history):
    losses = history.history["val_loss"]
    for place in range(len(losses) - 1):
        if losses[place + 1] > losses[place]:
            return history.epoch[place]
    return history.epoch[-1]


def batches_seen(history):
    in_one_epoch = -(-history.params["samples"] // history.params["batch_size"])
    return in_one_epoch * len(history.epoch)
