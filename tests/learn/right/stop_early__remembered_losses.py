import numpy as np
from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.losses = []

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(logs["loss"])
        since = len(self.losses) - 1 - int(np.argmin(self.losses))
        if since >= self.patience:
            self.model.stop_training = True
