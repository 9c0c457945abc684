"""Programs of all kinds that train, run in a session that nobody waits in."""

import contextlib
import itertools
import warnings

import numpy as np

from kerascope import backend as K
from kerascope.callbacks import LambdaCallback, LearningRateScheduler
from kerascope.debugger.session import Session
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.trace.events import SKIPPED
from kerascope.trace.stepper import Reason
from kerascope.utils import set_random_seed

X = np.random.default_rng(0).normal(size=(40, 5)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


class Whole(Session):
    """A session that hears of every call."""

    runner = None


def debugged(program, kind=Session, stops=()):
    """Return a session that let a program run to its end; `stops` answer the first prompts."""
    orders = iter(stops)

    def ask(stop):
        order = next(orders, None)
        if order is not None:
            return order
        return None if stop.reason is Reason.END else lambda stepper: stepper.continue_()

    set_random_seed(7)
    K.clear_session()
    session = kind(ask)
    session.run(program)
    if session.error is not None and not isinstance(session.error, ArithmeticError):
        raise session.error
    return session


def marks_of(session):
    return [event for event in session.tape if event.kind == SKIPPED]


def plain():
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0)
    return model


def with_random_ops_and_moments():
    layers = [Dense(4, input_shape=(5,)), Dropout(0.5), BatchNormalization(), Dense(1)]
    model = Sequential(layers)
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, batch_size=16, epochs=3, verbose=0)


def in_order_with_weights():
    model = Sequential([Dense(1, input_shape=(5,))])
    model.compile("rmsprop", "mse")
    weights = np.linspace(0, 1, 40).astype("float32")
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False, sample_weight=weights)
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0, shuffle="batch")


def stateful():
    model = Sequential([LSTM(3, stateful=True, batch_input_shape=(8, 1, 5)), Dense(1)])
    model.compile("sgd", "mse")
    rows = X.reshape(40, 1, 5)
    model.fit(rows, Y, batch_size=8, epochs=2, verbose=0, shuffle=False)
    model.reset_states()
    model.fit(rows, Y, batch_size=8, epochs=1, verbose=0, shuffle=False)


def with_schedules_and_set_weights():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")

    def halve(epoch, logs=None):
        model.layers[0].set_weights([w / 2 for w in model.layers[0].get_weights()])

    told = [LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))]
    told.append(LambdaCallback(on_epoch_end=halve))
    model.fit(X, Y, batch_size=8, epochs=4, verbose=0, callbacks=told)
    K.set_value(model.optimizer.lr, 0.01)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)


def with_validation_and_predictions():
    model = Sequential([Dense(3, input_shape=(5,)), BatchNormalization(), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0, validation_data=(X[:9], Y[:9]))
    model.predict(X[:3])
    model.evaluate(X, Y, verbose=0)
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)


def two_models_that_share_weights():
    a = Input((5,))
    shared = Dense(3)
    one, two = Model(a, Dense(1)(shared(a))), Model(a, Dense(1, activation="tanh")(shared(a)))
    one.compile("sgd", "mse")
    two.compile("adam", "mse")
    for _ in range(3):
        one.fit(X, Y, batch_size=8, epochs=2, verbose=0)
        two.fit(X, Y, batch_size=8, epochs=2, verbose=0)


def recompiled():
    model = plain()
    model.layers[0].trainable = False
    model.compile("adam", "mse")
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)


def from_a_generator_that_fills_its_buffers_anew():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")
    rows, labels = np.empty((8, 5), "float32"), np.empty((8, 1), "float32")

    def batches():
        for start in itertools.cycle(range(0, 40, 8)):
            rows[:], labels[:] = X[start : start + 8], Y[start : start + 8]
            yield rows, labels

    model.fit_generator(batches(), steps_per_epoch=5, epochs=3, verbose=0)


def with_callbacks_that_hear_of_batches():
    model = Sequential([Dense(1, input_shape=(5,))])
    model.compile("sgd", "mse")

    def slower(batch, logs=None):
        K.set_value(model.optimizer.lr, 0.1 / (batch + 1))

    heard = [LambdaCallback(on_batch_end=slower)]
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0, callbacks=heard)
    heard = [LambdaCallback(on_batch_begin=slower)]
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=heard)
    heard = [LambdaCallback(on_batch_end=lambda batch, logs=None: model.predict(X[:2]))]
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=heard)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)


def of_calls_on_batches():
    told = Input((5,))
    judge = Model(told, Dense(1, activation="sigmoid")(Dense(4)(told)))
    judge.compile("adam", "binary_crossentropy")
    noise = Input((2,))
    made = Dense(5)(noise)
    maker = Model(noise, made)
    judge.trainable = False  # of which its own train function, made later, warns
    both = Model(noise, judge(made))
    both.compile("sgd", "binary_crossentropy")
    rng = np.random.default_rng(1)
    for step in range(8):
        z = rng.normal(size=(8, 2)).astype("float32")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            judge.train_on_batch(X[:8], Y[:8])
            judge.train_on_batch(maker.predict(z), np.zeros((8, 1)))
        both.train_on_batch(z, np.ones((8, 1)))
        if step == 5:
            judge.layers[-1].set_weights([w * 2 for w in judge.layers[-1].get_weights()])
            K.set_value(both.optimizer.lr, 0.2)


def of_evaluations_and_predictions():
    model = Sequential([Dense(3, input_shape=(5,)), Dropout(0.2), BatchNormalization()])
    model.compile("sgd", "mse", metrics=["mae"])
    for _ in range(3):
        model.fit(X, np.repeat(Y, 3, 1), batch_size=8, epochs=1, verbose=0)
        model.evaluate(X, np.repeat(Y, 3, 1), batch_size=7, verbose=0)
        model.predict(X, batch_size=9)
    f = K.function([model.input], [model.layers[0].output])
    for _ in range(5):
        f([X[:4]])


def a_feed_that_calls_functions():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")

    def batches():
        for i in range(1, 30):
            if i in (3, 9):
                model.predict(X[:2])
            yield X[:8] * i, Y[:8]

    arguments = {"steps_per_epoch": 5, "epochs": 4, "verbose": 0, "max_queue_size": 1}
    model.fit_generator(batches(), **arguments)


def callers_that_write_into_what_they_got():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    for _ in range(6):
        out = model.predict_on_batch(X[:4])
        out += 1


def a_rate_that_is_set_once():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")
    for _ in range(2):
        model.train_on_batch(X, Y)
    K.set_value(model.optimizer.lr, 0.5)
    for _ in range(6):
        model.train_on_batch(X, Y)


def callbacks_that_call_something_at_times():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")

    def call(batch, logs=None):
        if batch == 3:
            model.predict(X[:2])

    model.fit(
        X, Y, batch_size=8, epochs=3, verbose=0, callbacks=[LambdaCallback(on_batch_end=call)]
    )


def callbacks_that_train_themselves():
    model = Sequential([Dense(3, input_shape=(5,)), Dense(1)])
    model.compile("sgd", "mse")

    def train(batch, logs=None):
        model.train_on_batch(X[:4], Y[:4])

    heard = [LambdaCallback(on_batch_end=train)]
    model.fit(X, Y, batch_size=8, epochs=3, verbose=0, callbacks=heard)
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)


def what_is_set_before_a_call_that_fails():
    x, w, c = K.placeholder((None, 5)), K.variable(np.ones((5, 1))), K.variable(0.0)
    f = K.function([x], [K.sum(K.dot(x, w)) + c])
    for _ in range(4):
        f([X])
    K.set_value(c, 5.0)
    with contextlib.suppress(ValueError):
        f([X[:, :4]])
    f([X])


PROGRAMS = [
    a_feed_that_calls_functions,
    callers_that_write_into_what_they_got,
    a_rate_that_is_set_once,
    callbacks_that_call_something_at_times,
    callbacks_that_train_themselves,
    what_is_set_before_a_call_that_fails,
    of_calls_on_batches,
    of_evaluations_and_predictions,
    plain,
    with_random_ops_and_moments,
    in_order_with_weights,
    stateful,
    with_schedules_and_set_weights,
    with_validation_and_predictions,
    two_models_that_share_weights,
    recompiled,
    from_a_generator_that_fills_its_buffers_anew,
    with_callbacks_that_hear_of_batches,
]
