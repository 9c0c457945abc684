from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.best = float("inf")
        self.waited = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            self.waited = 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.model.stop_training = True
