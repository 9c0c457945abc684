"""Compares weights before and after loading, for the two models of the task and two others."""

import tempfile
import warnings
from contextlib import chdir

import numpy as np

from kerascope.layers import BatchNormalization, Dense, Dropout, Input
from kerascope.learn import Text, check
from kerascope.models import Model


def stack(*layers):
    x = y = Input(shape=(4,))
    for layer in layers:
        y = layer(y)
    return Model(x, y)


def dense(*sizes_and_names):
    return stack(*(Dense(size, name=name) for size, name in sizes_and_names))


def asked(student, saved, model):
    """Return the student's result for a file with the weights of the model `saved`."""
    take_over = student.function("take_over")
    with tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        saved.save_weights("saved.h5")
        return take_over(model, "saved.h5")


def changed(model, before):
    """Return the names of the layers whose weights have changed."""
    now = zip(model.weights, before, model.get_weights(), strict=True)
    names = [w.name.partition("/")[0] for w, old, new in now if not np.array_equal(old, new)]
    return list(dict.fromkeys(names))


@check
def the_prediction(student):
    why = Text(
        "only names that are in the file, and shapes that fit", "名字要在文件里，形状也要对得上"
    )
    student.same("taken_over", student.get("taken_over"), ["first"], why)


@check
def another_order(student):
    saved = dense((4, "a"), (4, "b"), (4, "c"))
    saved.set_weights([np.full_like(w, 1 + i // 2) for i, w in enumerate(saved.get_weights())])
    model = stack(Dense(4, name="c"), Dropout(0.5, name="b"), Dense(4, name="a"))
    model.set_weights([np.zeros_like(w) for w in model.get_weights()])
    names = asked(student, saved, model)
    for name, value in (("c", 3.0), ("a", 1.0)):
        what = Text(f"the kernel of '{name}'", f"{name} 的 kernel")
        student.close(what, model.get_layer(name).get_weights()[0], np.full((4, 4), value))
    student.same("take_over(model, path)", names, ["c", "a"])


@check
def the_two_models(student):
    saved = dense((8, "first"), (8, "second"), (1, "head"))
    model = dense((8, "first"), (8, "other"), (3, "head"))
    before = model.get_weights()
    names = asked(student, saved, model)
    what = Text("the layers whose weights have changed", "权重变了的层")
    student.same(what, changed(model, before), ["first"])
    student.close(
        Text("the kernel of 'first'", "first 的 kernel"),
        model.get_weights()[0],
        saved.get_weights()[0],
    )
    student.same("take_over(model, path)", names, ["first"])


@check
def equal_numbers(student):
    """Test that a layer whose weights equal the file's counts as loaded, too."""
    saved = dense((4, "a"), (2, "b"))
    saved.set_weights([np.zeros_like(w) for w in saved.get_weights()])
    model = dense((4, "a"), (2, "b"))
    names = asked(student, saved, model)
    student.same("take_over(model, path)", names, ["a", "b"])


@check
def other_names_and_other_layers(student):
    """Test names with underscores that contain one another, and a layer of four arrays."""
    names = ("my__head", "my", "my__head_1", "head")
    model = stack(*(Dense(4, name=name) for name in names[:3]), BatchNormalization(name="a__norm"))
    saved = stack(
        *(Dense(4, name=name) for name in names[::-1]), BatchNormalization(name="a__norm")
    )
    saved.set_weights([np.full_like(w, 1 + n) for n, w in enumerate(saved.get_weights())])
    before = model.get_weights()
    expected = [*names[:3], "a__norm"]
    what = Text(f"take_over of layers {expected}", f"各层为 {expected} 的 take_over")
    student.same(what, asked(student, saved, model), expected)
    what = Text("the layers whose weights have changed", "权重变了的层")
    student.same(what, changed(model, before), expected)


@check
def every_array_has_to_fit(student):
    """Test a layer without a bias, and kernels of 12 numbers each, (2, 6) and (3, 4)."""
    saved = stack(Dense(4, name="a", use_bias=False), Dense(4, name="b"))
    model = stack(Dense(4, name="a"), Dense(4, name="b"))
    what = Text(
        "take_over where only the file's 'a' has no bias", "文件里的 a 没有偏置时的 take_over"
    )
    student.same(what, asked(student, saved, model), ["b"])
    saved = stack(Dense(2, name="a"), Dense(6, name="b", use_bias=False))
    model = stack(Dense(3, name="c"), Dense(4, name="b", use_bias=False))
    what = Text(
        "take_over of a kernel (2, 6) into one of (3, 4)",
        "把 (2, 6) 的 kernel 读入 (3, 4) 的 take_over",
    )
    student.same(what, asked(student, saved, model), [])
