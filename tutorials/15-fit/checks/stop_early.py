"""Passes losses to the student's callback one by one, then runs a real fit."""

from itertools import pairwise

import numpy as np

from kerascope.callbacks import EarlyStopping, LambdaCallback
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


class Asked:
    """An object in place of a model, with no attribute but stop_training."""

    stop_training = False


def epochs_until_stop(callback, losses):
    model = Asked()
    callback.set_model(model)
    callback.on_train_begin({})
    for epoch, loss in enumerate(losses):
        callback.on_epoch_end(epoch, {"loss": loss})
        if model.stop_training:
            return epoch + 1
    return None


CASES = (
    (2, [5.0, 4.0, 3.0, 2.0, 1.0], None),
    (2, [5.0, 6.0, 7.0, 8.0], 3),
    (1, [5.0, 5.0, 4.0], 2),
    (2, [5.0, 6.0, 4.0, 5.0, 3.0, 4.0, 2.0], None),
    (3, [5.0, 4.0, 4.5, 4.2, 4.1, 1.0], 5),
    (2, [5000.0, 4000.0, 3000.0, 2000.0], None),
    (2, [-1.0, -2.0, -1.5, -1.75, -3.0], 4),
    (1, [0.0, -1e-9, 0.0], 3),
    (1, [0.0, -1e-15, -2e-15, -3e-15], None),
    (1, [1e-30, 1e-31, 1e-31], 3),
)


@check
def written_by_hand(student):
    student.require(
        not isinstance(student.get("StopEarly")(1), EarlyStopping),
        en="expected StopEarly to be your own Callback, yours leaves the work to EarlyStopping",
        zh="StopEarly 应是你自己写的 Callback，你的把工作交给了 EarlyStopping",
    )


@check
def losses_one_by_one(student):
    for patience, losses, expected in CASES:
        callback = student.get("StopEarly")(patience)
        what = Text(
            f"epochs until StopEarly({patience}) stops at losses {losses}",
            f"损失为 {losses} 时 StopEarly({patience}) 停止前的轮数",
        )
        why = Text("each loss is a new best", "每个损失都是新的最佳值")
        falls = all(one > other for one, other in pairwise(losses))
        found = epochs_until_stop(callback, losses)
        student.same(what, found, expected, why if falls else Text("", ""))


@check
def patience_0(student):
    """Test that StopEarly(0) stops at the first epoch without a better loss."""
    losses = [5.0, 4.0, 6.0, 3.0]
    found = epochs_until_stop(student.get("StopEarly")(0), losses)
    student.require(
        found is not None and found <= 3,
        en=f"expected StopEarly(0) to stop at losses {losses} after 3 epochs, yours "
        f"{'goes on' if found is None else f'stops after {found}'}",
        zh=f"损失为 {losses} 时 StopEarly(0) 应在 3 轮后停止，你的"
        f"{'没有停' if found is None else f'在 {found} 轮后停止'}",
    )


@check
def a_second_training(student):
    callback = student.get("StopEarly")(2)
    epochs_until_stop(callback, [1.0, 2.0, 3.0])
    what = Text("epochs of a second training", "第二次训练的轮数")
    student.same(what, epochs_until_stop(callback, [5.0, 4.0, 5.0, 6.0, 7.0]), 4)


@check
def a_real_fit(student):
    inputs = Input(shape=(2,))
    model = Model(inputs, Dense(1)(inputs))
    model.compile("sgd", "mse")
    model.optimizer.lr = 0.0
    ended = []
    note = LambdaCallback(on_epoch_end=lambda epoch, logs: ended.append(epoch))
    x, y = np.ones((4, 2)), np.zeros((4, 1))
    model.fit(x, y, epochs=9, verbose=0, callbacks=[student.get("StopEarly")(3), note])
    what = Text("epochs of a fit that learns nothing", "什么也学不到的 fit 的轮数")
    student.same(what, len(ended), 4)
