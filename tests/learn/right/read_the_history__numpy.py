import math

import numpy as np


def best_epoch(history):
    return history.epoch[int(np.argmin(history.history["val_loss"]))]


def batches_seen(history):
    each = math.ceil(history.params["samples"] / history.params["batch_size"])
    return sum(each for _ in history.epoch)
