def best_epoch(history):
    pairs = zip(history.history["val_loss"], history.epoch)
    return min(pairs)[1]


def batches_seen(history):
    samples, size = history.params["samples"], history.params["batch_size"]
    whole, rest = divmod(samples, size)
    return (whole + bool(rest)) * len(history.epoch)
