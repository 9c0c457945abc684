def best_epoch(history):
    losses = history.history["val_loss"]
    return history.epoch[losses.index(min(losses))]


def batches_seen(history):
    in_one_epoch = -(-history.params["samples"] // history.params["batch_size"])
    return in_one_epoch * len(history.epoch)
