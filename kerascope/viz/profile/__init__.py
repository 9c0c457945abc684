"""`profile`: where a training or prediction step spends its time, by layer, by op and by phase.

    profile = ks.profile(model, x, y)   # or ks.profile(function), or `kerascope profile script.py`
    print(profile)                      # tables
    profile.draw("times.svg")           # the model, each box filled by its share of the time

This module selects the function of a model and the batch to measure. `rows` has the measured
numbers and their limits, `result` the tables and the picture. `backend.program.profiling` makes and
times the calls.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from typing import Any

from kerascope.backend.function import Function
from kerascope.backend.program.profiling import measure
from kerascope.engine.feeding import phase_flags, training_arrays
from kerascope.engine.model import Model
from kerascope.engine.network import Network
from kerascope.engine.training_data import inputs_as_arrays
from kerascope.errors import ArgumentError, DtypeError, NotCompiledError
from kerascope.model_files import opened
from kerascope.registry import did_you_mean
from kerascope.unsupported import described
from kerascope.viz.profile.result import Profile, check_order
from kerascope.viz.profile.rows import Roofline, measure_roofline

__all__ = ["Profile", "profile"]

BATCH_SIZE = 32  # the default batch size of `fit`


def profile(
    subject: Any,
    x: Any = None,
    y: Any = None,
    *,
    of: str | None = None,
    batch_size: int | None = BATCH_SIZE,
    sort: str = "time",
    most: int | None = 20,
    repeats: int | None = None,
    seconds: float = 1.0,
    roofline: Roofline | None = None,
    clock: Callable[[], int] = perf_counter_ns,
) -> Profile:
    """Measure the time and memory used by each op of a model's step, or of a function.

    The model does not change: no weight, state or random number.

    Parameters
    ----------
    subject : Model, path or Function
        The subject to measure. A path is the path of a model file.
    x, y : array_like, list of array_like or dict
        For a model: a batch as for `fit`, limited to its first `batch_size` rows. For a
        function, `x` is the list of its inputs; default: random numbers in the shapes of the last
        call.
    of : {"train", "test", "predict"}, optional
        The function of the model. Default: "train" with `y`, "predict" without.
    batch_size : int or None
        Maximum number of rows of the batch; None for all rows.
    sort : {"time", "memory", "limit", "name", "order"}
        How the ops are sorted in the tables.
    most : int or None
        How many ops the tables show; None shows all.
    repeats : int, optional
        How many calls are measured. Default: as many as fit into `seconds`.
    seconds : float
        About how long to measure if `repeats` is not given.
    roofline : Roofline, optional
        The limits of the machine. If they are not given, they are measured.
    clock : callable
        Returns nanoseconds.

    Returns
    -------
    Profile

    Raises
    ------
    DtypeError
        The subject is neither a model nor a function.
    ArgumentError
        An option is invalid, or the input is missing.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(1, name="sum")(inputs), name="small")
    >>> model.compile("sgd", "mse")
    >>> found = profile(model, np.ones((4, 3)), np.ones((4, 1)), repeats=3)
    >>> [row.phase for row in found.phases], [row.layer for row in found.layers][:2]
    (['forward', 'loss', 'backward', 'update', 'return'], ['sum', 'sum_loss'])
    """
    check_order(sort)
    subject = opened(subject, compile=y is not None)
    if isinstance(subject, Model):
        model: Network | None = subject
        function, inputs = function_of(subject, x, y, of, batch_size)
    elif isinstance(subject, Function):
        if y is not None or of is not None:
            raise ArgumentError(
                "profile: y and of are for models. Pass only a list x for a function."
            )
        function, inputs, model = subject, x, owner_of(subject)
    else:
        raise DtypeError(
            f"profile: expected a model or a function, got {described(subject)}. Write "
            f"ks.profile(model, x, y) or ks.profile(model.train_function)."
        )
    measured = measure(function, inputs, repeats=repeats, seconds=seconds, clock=clock)
    return Profile(measured, model, roofline or measure_roofline(clock), sort, most)


# --- functions of models --------------------------------------------------------------------------

FUNCTIONS = ("train", "test", "predict")


def owner_of(function: Function) -> Model | None:
    """Return the model that made a function, or None if the model no longer exists."""
    kinds = _with_subclasses(Model)  # a set lookup is faster than isinstance for all objects
    for one in gc.get_objects():
        if type(one) in kinds:
            names = vars(one)
            if any(names.get(f"{name}_function") is function for name in FUNCTIONS):
                return one
    return None


def _with_subclasses(cls: type) -> set[type]:
    """Return a class and all its subclasses."""
    return {cls}.union(*map(_with_subclasses, cls.__subclasses__()))


def function_of(
    model: Any, x: Any, y: Any, of: str | None, batch_size: int | None
) -> tuple[Function, Sequence[Any] | None]:
    """Return the function of a model, and the batch to call it with; None if `x` is None."""
    of = of or ("predict" if y is None and x is not None else "train")
    if of not in FUNCTIONS:
        raise ArgumentError(
            f"profile: unknown function {of!r}. {did_you_mean(str(of), FUNCTIONS)}"
            f"Use one of: {', '.join(FUNCTIONS)}."
        )
    if x is None:
        function = getattr(model, f"{of}_function")
        if function is None:
            raise ArgumentError(
                f"profile: {model.name} has no {of} function yet. Pass a batch: "
                f"profile(model, x, y)."
            )
        return function, None
    if of == "predict":
        model._make_ready(x, to_train=False)
        inputs = inputs_as_arrays(model, x) + phase_flags(model, 0.0)
        return model._make_predict_function(), _rows(inputs, batch_size)
    if not model.is_compiled:
        raise NotCompiledError(f"profile: {model.name} has no loss. Call model.compile(...) first.")
    model._make_ready(x, to_train=True)
    inputs = training_arrays(model, x, y, None, None, float(of == "train"), "profile")
    if of == "test":
        return model._make_test_function(), _rows(inputs, batch_size)
    model._make_train_function()
    return model.train_function, _rows(inputs, batch_size)


def _rows(inputs: Sequence[Any], batch_size: int | None) -> list[Any]:
    """Return the first `batch_size` rows of each array; the learning phase, a float, unchanged."""
    return [x if isinstance(x, float) else x[:batch_size] for x in inputs]
