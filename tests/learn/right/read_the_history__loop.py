def best_epoch(history):
    best, smallest = None, None
    for number, loss in zip(history.epoch, history.history["val_loss"]):
        if smallest is None or loss < smallest:
            best, smallest = number, loss
    return best


def batches_seen(history):
    count = 0
    for _ in history.epoch:
        for _ in range(0, history.params["samples"], history.params["batch_size"]):
            count += 1
    return count
