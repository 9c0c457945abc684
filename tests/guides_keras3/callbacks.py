"""Writing your own callbacks: what they are told, early stopping, a schedule of learning rates."""

import keras
import numpy as np
from keras import layers

rng = np.random.default_rng(4)
x_train, y_train = rng.normal(size=(50, 6)), rng.normal(size=(50, 1))


def get_model():
    model = keras.Sequential([keras.Input((6,)), layers.Dense(1)])
    model.set_weights([np.linspace(-1, 1, 6)[:, None], np.zeros(1)])
    model.compile(
        optimizer=keras.optimizers.RMSprop(learning_rate=0.1),
        loss="mean_squared_error",
        metrics=["mean_absolute_error"],
    )
    return model


class CustomCallback(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print(f"Starting training; got log keys: {list(logs.keys())}")

    def on_train_end(self, logs=None):
        print(f"Stop training; got log keys: {list(logs.keys())}")

    def on_epoch_begin(self, epoch, logs=None):
        print(f"Start epoch {epoch} of training; got log keys: {list(logs.keys())}")

    def on_epoch_end(self, epoch, logs=None):
        print(f"End epoch {epoch} of training; got log keys: {list(logs.keys())}")

    def on_train_batch_begin(self, batch, logs=None):
        print(f"...Training: start of batch {batch}; got log keys: {list(logs.keys())}")

    def on_train_batch_end(self, batch, logs=None):
        print(f"...Training: end of batch {batch}; got log keys: {list(logs.keys())}")


class LossAndErrorPrintingCallback(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print(f"Up to batch {batch}, the average loss is {logs['loss']:7.4f}.")

    def on_epoch_end(self, epoch, logs=None):
        print(f"Epoch {epoch}: {logs['loss']:7.4f}, {logs['mean_absolute_error']:7.4f}.")


class EarlyStoppingAtMinLoss(keras.callbacks.Callback):
    def __init__(self, patience=0):
        super().__init__()
        self.patience = patience
        self.best_weights = None

    def on_train_begin(self, logs=None):
        self.wait = 0
        self.stopped_epoch = 0
        self.best = np.inf

    def on_epoch_end(self, epoch, logs=None):
        current = logs.get("loss")
        if np.less(current, self.best):
            self.best = current
            self.wait = 0
            self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            print("Restoring model weights from the end of the best epoch.")
            self.model.set_weights(self.best_weights)

    def on_train_end(self, logs=None):
        if self.stopped_epoch > 0:
            print(f"Epoch {self.stopped_epoch + 1}: early stopping")


class CustomLearningRateScheduler(keras.callbacks.Callback):
    def __init__(self, schedule):
        super().__init__()
        self.schedule = schedule

    def on_epoch_begin(self, epoch, logs=None):
        lr = self.model.optimizer.learning_rate
        self.model.optimizer.learning_rate = self.schedule(epoch, float(lr))
        print(f"Epoch {epoch}: Learning rate is {float(self.model.optimizer.learning_rate):6.4f}.")


arguments = {"batch_size": 20, "verbose": 0, "shuffle": False}
get_model().fit(
    x_train, y_train, epochs=1, validation_split=0.4, callbacks=[CustomCallback()], **arguments
)
get_model().fit(x_train, y_train, epochs=2, callbacks=[LossAndErrorPrintingCallback()], **arguments)
get_model().fit(
    x_train,
    y_train,
    epochs=30,
    callbacks=[LossAndErrorPrintingCallback(), EarlyStoppingAtMinLoss()],
    **arguments,
)
history = get_model().fit(
    x_train,
    y_train,
    epochs=4,
    callbacks=[CustomLearningRateScheduler(lambda epoch, lr: lr if epoch < 2 else lr / 10)],
    **arguments,
)
print(history.history)
model = get_model()
plateau = keras.callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=1)
stopping = keras.callbacks.EarlyStopping(monitor="val_loss", patience=3, restore_best_weights=True)
history = model.fit(
    x_train, y_train, epochs=8, validation_split=0.3, callbacks=[plateau, stopping], **arguments
)
print(history.history)
print(model.evaluate(x_train, y_train, verbose=0, return_dict=True))
