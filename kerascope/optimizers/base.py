"""What all optimizers share: hyperparameters, gradients, slots, and the stage of the updates.

The model calls `get_updates(loss, params)` once, when it builds its train function. Nothing is
computed then: the result is a list of pairs (variable, new value), the second of which is a tensor
that says how the new value follows from the gradient. `K.function` computes and writes them at each
step. The model itself adds the pair (iterations, iterations + 1) at the end.

Each optimizer is one generator, `_updates`, that reads like the formula in its paper. Keras keeps
all this in `optimizers.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from kerascope import backend as K
from kerascope.backend.gradient import backpropagate
from kerascope.backend.graph import Tensor, Variable, as_tensor
from kerascope.callers import warn
from kerascope.configured import Configured, constructor_parameters, plain
from kerascope.errors import ArgumentError
from kerascope.optimizers.gradients import all_present, clipped
from kerascope.optimizers.options import without_neutral
from kerascope.registry import did_you_mean
from kerascope.spellings import default_by_dialect, habits, translate
from kerascope.stage import Stage

Pair = tuple[Variable, Tensor]
Constraints = Mapping[Variable, Callable[[Tensor], Tensor]]
Updates = Generator[Any, Any, list[Pair]]


class ParameterUpdate(NamedTuple):
    """The event that the new value of one parameter has been written down.

    Attributes
    ----------
    param : Variable
    gradient : Tensor
        d loss / d param, clipped if the optimizer clips.
    pairs : tuple of (Variable, Tensor)
        The parameter's and its slots' new values, in the order in which they follow from each
        other.
    """

    param: Variable
    gradient: Tensor
    pairs: tuple[Pair, ...]


def accepts_spellings(constructor: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor of an optimizer take `learning_rate=` for `lr=`, and follow the dialect."""
    constructor = default_by_dialect(constructor)

    @functools.wraps(constructor)
    def translated(self: Any, *args: Any, **kwargs: Any) -> None:
        constructor(self, *args, **translate("optimizer", kwargs))

    return translated


def constrained(constraints: Constraints, p: Variable, new_p: Tensor) -> Tensor:
    """Return the new value of a parameter after its constraint, if it has one."""
    return constraints[p](new_p) if p in constraints else new_p


def naming(p: Variable) -> AbstractContextManager[Any]:
    """Name the ops of a parameter's update after it: `update/dense_1/kernel/square`."""
    return K.name_scope(f"update/{p.name}")


class Optimizer(Configured):
    """Base of the optimizers.

    Parameters
    ----------
    clipnorm : float, optional
        Scale all gradients together so that the norm of all of them is at most this; with flavour
        "3" each gradient by itself.
    clipvalue : float, optional
        Cut each element of a gradient off at plus and minus this.
    global_clipnorm : float, optional
        Scale all gradients together, with either flavour.
    weight_decay : float, optional
        Share of a parameter that is taken away at each step, times the learning rate; apart from
        the gradient, as in AdamW. None or 0 is no decay.
    flavour : {"2", "3"}, optional
        Whether `clipnorm`, and epsilon in RMSprop and Adagrad, are those of Keras 2 or Keras 3. By
        default the dialect says: "3" in dialect "3", else "2".

    Attributes
    ----------
    iterations : Variable, int64
        Number of train steps so far; the model counts it up.
    weights : list of Variable
        `iterations`, then the slots that the last `get_updates` made; only `[iterations]` before.
    updates : list of (Variable, Tensor)
        What the last `get_updates` returned.

    Notes
    -----
    Assigning a number to a hyperparameter sets the number in its variable, so `optimizer.lr =
    0.001` takes effect in a model that is compiled already. Those that are no variables, such as
    `clipnorm` and `epsilon`, need another `compile`; a warning says so.

    To write an optimizer of your own, define `_updates(loss, params, constraints)` as the ones here
    do; Keras 2's way, a method `get_updates(loss, params)` that returns a list of pairs, works too.
    """

    epsilon: float
    _depends_on_flavour = False  # whether `_updates` does
    _is_updating = False  # whether `get_updates` runs now

    def __init__(self, **kwargs: Any) -> None:
        own = constructor_parameters(type(self))
        kwargs = without_neutral(type(self).__name__, own, kwargs)
        allowed = ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay")
        self.flavour: str = _checked_flavour(self, kwargs.pop("flavour", None))
        for name, value in kwargs.items():
            if name not in allowed:
                raise ArgumentError(
                    f"{type(self).__name__}: unexpected argument {name!r}. "
                    f"{did_you_mean(name, [*allowed, *own])}"
                    f"See help({type(self).__name__}) for its arguments."
                )
            if value is not None and not value >= 0:
                raise ArgumentError(
                    f"{type(self).__name__}: {name} is {value!r}; expected a number >= 0."
                )
        if kwargs.get("clipnorm") is not None and kwargs.get("global_clipnorm") is not None:
            raise ArgumentError(
                f"{type(self).__name__}: clipnorm and global_clipnorm both bound the norm of "
                f"gradients. Leave one out."
            )
        self.clipnorm: float | None = kwargs.get("clipnorm")
        self.global_clipnorm: float | None = kwargs.get("global_clipnorm")
        if self.flavour == "2" and self.clipnorm is None:  # two words for one thing
            self.clipnorm, self.global_clipnorm = self.global_clipnorm, None
        self.clipvalue: float | None = kwargs.get("clipvalue")
        self.weight_decay: float | None = kwargs.get("weight_decay")
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self.weights: list[Variable] = [self.iterations]
        self.updates: list[Pair] = []

    def __setattr__(self, name: str, value: Any) -> None:
        current = vars(self).get(name)
        is_late = vars(self).get("updates") and not self._is_updating
        if is_late and name in self._fixed() and plain(value) != plain(current):
            warn(
                f"{type(self).__name__}: the train function was made with {name}={plain(current)}; "
                f"{plain(value)} takes effect with the next compile()."
            )
        if isinstance(current, Variable) and not isinstance(value, Tensor):
            current.set_value(value)
        else:
            super().__setattr__(name, value)

    def _fixed(self) -> list[str]:
        """Return the hyperparameters that are written into the updates as they are now."""
        own = constructor_parameters(type(self))
        names = (*own, "clipnorm", "clipvalue", "global_clipnorm", "weight_decay", "flavour")
        return [name for name in names if not isinstance(vars(self).get(name), Variable)]

    @property
    def learning_rate(self) -> Variable:
        """The variable `lr`, by its name in Keras 3."""
        return self.lr

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.lr = value

    # --- gradients --------------------------------------------------------------------------------

    def get_gradients(self, loss: Tensor, params: Sequence[Variable]) -> list[Tensor]:
        """Return d loss / d param for each parameter, clipped as `clipnorm` and `clipvalue` say.

        Parameters
        ----------
        loss : Tensor, scalar
        params : list of Variable

        Returns
        -------
        list of Tensor

        Raises
        ------
        GradientError
            A parameter gets no gradient; the message says why.

        Notes
        -----
        `clipnorm` looks at the norm over all gradients together (with flavour "3" at that of each
        one), then `clipvalue` cuts what is left.
        """
        return Stage("gradients", self._gradients(loss, params), loss).run()

    def gradients_stage(self, loss: Tensor, params: Sequence[Variable]) -> Stage:
        """Return `get_gradients` as a stage; its events are those of `K.gradients`."""
        if self._overrides("get_gradients"):
            return Stage("gradients", _call(self.get_gradients, loss, params), loss)
        return Stage("gradients", self._gradients(loss, params), loss)

    def _gradients(
        self, loss: Tensor, params: Sequence[Variable]
    ) -> Generator[Any, Any, list[Tensor]]:
        loss = as_tensor(loss)
        swept = yield from backpropagate(loss, list(params))
        grads = all_present(loss, params, swept)
        with K.name_scope("clip"):
            if self.flavour == "2":
                return clipped(grads, self.clipnorm, self.clipvalue)
            grads = [g for grad in grads for g in clipped([grad], self.clipnorm, None)]
            return clipped(grads, self.global_clipnorm, self.clipvalue)

    # --- updates ----------------------------------------------------------------------------------

    def get_updates(
        self, loss: Any, params: Any, constraints: Constraints | Tensor | None = None
    ) -> list[Pair]:
        """Return the pairs (variable, new value) of one train step; nothing is computed yet.

        Parameters
        ----------
        loss : Tensor, scalar
        params : list of Variable
        constraints : dict of Variable to callable, optional
            Keras 1's; a parameter's own `constraint` applies without it. Keras 1's order of
            arguments, `get_updates(params, constraints, loss)`, is understood.

        Returns
        -------
        list of (Variable, Tensor)
            Without the pair of `iterations`, which the model adds.

        Raises
        ------
        GradientError
            A parameter gets no gradient.

        Notes
        -----
        Each call makes fresh slots (`weights`); those of an earlier call are left alone.
        """
        return self.updates_stage(loss, params, constraints).run()

    def updates_stage(
        self, loss: Any, params: Any, constraints: Constraints | Tensor | None = None
    ) -> Stage:
        """Return `get_updates` as a stage: the gradients' stage, then `ParameterUpdate`s."""
        loss, params, given = _in_order(loss, params, constraints)
        if self._overrides("get_updates"):
            events: Updates = _call(self.get_updates, loss, params)
            return Stage("get_updates", self._updating(events), self)
        own = {p: p.constraint for p in params if p.constraint is not None}
        after = self._with_decay(params, {**own, **given})
        return Stage("get_updates", self._updates(loss, params, after), self)

    def _updating(self, events: Updates) -> Updates:
        """Let a rule of one's own change hyperparameters: what it writes down follows them."""
        self._is_updating = True
        try:
            return (yield from events)
        finally:
            self._is_updating = False

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        """Return what happens to each new value; a `DecayingOptimizer` adds its weight decay."""
        return constraints

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        raise NotImplementedError(
            f"optimizer {type(self).__name__} defines neither _updates nor get_updates"
        )

    def _overrides(self, method: str) -> bool:
        """Tell whether a subclass, or an assignment, replaces a method of `Optimizer`."""
        return getattr(getattr(self, method), "__func__", None) is not getattr(Optimizer, method)

    # --- for the rules ----------------------------------------------------------------------------

    def _hyperparameter(self, name: str, value: Any) -> Variable:
        """Return a variable of type `floatx()` for a number that callbacks may change."""
        if isinstance(value, Variable):
            value = value.get_value()
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "fiu":
            raise ArgumentError(
                f"{type(self).__name__}: {name} is {value!r}; expected a number. "
                f"A rate that changes with time: see kerascope.optimizers.schedules."
            )
        return K.variable(number, name=name)

    def _make_slots(
        self, word: str, params: Sequence[Variable], first: float = 0.0
    ) -> list[Variable]:
        """Return a variable for each parameter, of its shape and dtype, that begins at `first`."""
        return [
            K.variable(np.full(p.shape, first, p.dtype), dtype=p.dtype, name=f"{p.name}/{word}")
            for p in params
        ]

    def _root(self, square: Tensor) -> Tensor:
        """Return the root of `square`, to divide by; with flavour "3" epsilon is under it."""
        if self.flavour == "3":
            return K.sqrt(square + self.epsilon)
        return K.sqrt(square) + self.epsilon

    def _keep(self, slots: Sequence[Variable], pairs: list[Pair]) -> list[Pair]:
        """Remember the slots and pairs of this `get_updates`; return the pairs."""
        self.weights = [self.iterations, *slots]
        self.updates = pairs
        return pairs

    def _time(self) -> Tensor:
        """Return the number of the step, counted from 1, as a float."""
        return K.cast(self.iterations, K.floatx()) + 1

    # --- state ------------------------------------------------------------------------------------

    def get_weights(self) -> list[np.ndarray]:
        """Return the numbers in `weights`: the count of steps, then the slots."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the numbers in `weights`.

        Raises
        ------
        ArgumentError
            There are too few arrays or too many; nothing is changed.
        ShapeError
            An array has another shape than its variable; nothing is changed.
        """
        if len(weights) != len(self.weights):
            raise ArgumentError(
                f"{type(self).__name__}.set_weights: {len(weights)} arrays; expected "
                f"{len(self.weights)}: iterations and the slots. The slots exist once the model's "
                f"train function is made."
            )
        K.batch_set_value(zip(self.weights, weights, strict=True))

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters as plain numbers."""
        clips: dict[str, Any] = {"clipnorm": self.clipnorm, "clipvalue": self.clipvalue}
        if self.flavour == "3":
            clips["global_clipnorm"] = self.global_clipnorm
        is_usual = self.flavour == habits().optimizer_flavour == "2"
        if not is_usual and (self._depends_on_flavour or self.clipnorm is not None):
            clips["flavour"] = self.flavour
        if "weight_decay" not in constructor_parameters(type(self)):
            clips["weight_decay"] = self.weight_decay
        given = {name: plain(value) for name, value in clips.items() if value is not None}
        return {**super().get_config(), **given}


def _checked_flavour(optimizer: Optimizer, flavour: str | None) -> str:
    flavour = flavour or habits().optimizer_flavour
    if flavour not in ("2", "3"):
        raise ArgumentError(
            f"{type(optimizer).__name__}: flavour is {flavour!r}; expected '2' or '3'."
        )
    return flavour


def _call(method: Callable[..., Any], *arguments: Any) -> Generator[Any, Any, Any]:
    """Make a generator of a plain method: it yields nothing and returns the method's result."""
    yield from ()
    return method(*arguments)


def _in_order(loss: Any, params: Any, constraints: Any) -> tuple[Tensor, list[Variable], dict]:
    """Bring Keras 1's `(params, constraints, loss)` and `(params, loss)` into today's order."""
    if isinstance(constraints, Tensor):
        loss, params, constraints = constraints, loss, params
    elif isinstance(params, Tensor):
        loss, params = params, loss
    if not isinstance(loss, Tensor) or not all(isinstance(p, Variable) for p in params):
        raise ArgumentError(
            f"get_updates: expected a loss tensor and a list of variables; "
            f"got {loss!r}, {params!r}."
        )
    return loss, list(params), dict(constraints or {})
