from math import inf

from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.best = inf
        self.best_epoch = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("loss") < self.best:
            self.best, self.best_epoch = logs.get("loss"), epoch
        elif epoch - self.best_epoch >= self.patience:
            self.model.stop_training = True
