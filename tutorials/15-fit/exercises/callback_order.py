"""Which callbacks are called, and when?

    class Once(Callback):
        def on_epoch_end(self, epoch, logs=None):
            self.model.stop_training = True

    inputs = Input(shape=(3,))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse")
    model.fit(
        x, y, batch_size=2, epochs=3, callbacks=[Once(), Listener()], validation_data=(x, y)
    )

x has 5 rows. Listener is a callback that records each call, as "train_begin", "epoch_begin 0",
"batch_begin 0", "batch_end 0", and so on. Predict:

- calls: the list of all recorded calls;
- sizes: the list of logs["size"], one for each batch_begin;
- names: the list of the names in the logs of epoch_end, sorted.
"""

calls = ...
sizes = ...
names = ...
