from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.best, self.since = None, 0

    def on_epoch_end(self, epoch, logs=None):
        loss = logs["loss"]
        if self.best is None or loss < self.best:
            self.best, self.since = loss, 0
        else:
            self.since += 1
        if self.since >= self.patience:
            self.model.stop_training = True
