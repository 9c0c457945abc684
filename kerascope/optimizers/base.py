"""The base classes of all optimizers: hyperparameters, gradients, slots, and updates.

Read `Optimizer.get_updates` first. `DecayingOptimizer` contains the loop that applies a rule to
each parameter, the learning rate (a constant, a decaying number, or a schedule) and weight decay.
The functions below them check and clip gradients, and remove Keras 3's arguments for features that
are switched off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kerascope import backend as K
from kerascope.backend.gradient import backpropagate, blocking_ops
from kerascope.backend.graph import Tensor, applies_between, as_tensor
from kerascope.backend.scopes import (
    UPDATES,
    Origin,
    current_scope,
    name_scope,
    origin_here,
    resuming_in,
)
from kerascope.backend.variables import Variable
from kerascope.configurable import Configured, configured_names, constructor_parameters, plain
from kerascope.errors import ArgumentError, GradientError, RefusedError
from kerascope.optimizers import schedules
from kerascope.optimizers.applying import Step, checked_gradients, step_for
from kerascope.optimizers.schedules import LearningRateSchedule
from kerascope.registry import did_you_mean
from kerascope.spellings import default_by_dialect, dialect_options, translate
from kerascope.stage import Stage
from kerascope.user_frames import boundary, warn

Pair = tuple[Variable, Tensor]
NewValues = tuple[Tensor, ...]
Constraints = Mapping[Variable, Callable[[Tensor], Tensor]]
Updates = Generator[Any, Any, list[Pair]]


class ParameterUpdate(NamedTuple):
    """The event that the update of one parameter was built.

    Attributes
    ----------
    param : Variable
    gradient : Tensor
        d loss / d param, after clipping.
    pairs : tuple of (Variable, Tensor)
        The pairs of a variable and its new value, for the slots and the parameter, in the order of
        computation.

    Examples
    --------
    >>> from kerascope.optimizers import SGD
    >>> w = K.variable(3.0, name="w")
    >>> for _, event in SGD(0.5).updates_stage(K.square(w), [w]).walk():
    ...     if isinstance(event, ParameterUpdate):
    ...         print(event.param, [variable.name for variable, _ in event.pairs])
    w ['w/momentum', 'w']
    """

    param: Variable
    gradient: Tensor
    pairs: tuple[Pair, ...]


class UpdatesStage(Stage):
    """The stage of `get_updates`. Its local names include those of the optimizer's formula.

    For Adam these are `m`, `v`, `new_m` and `new_v`, in addition to the loop's `p`, `g`, `new_p`.
    """

    @property
    def names(self) -> dict[str, Any]:
        """The local names to show: the variables of the loop over parameters, by name.

        The arguments and results of the optimizer's `step` are included.
        """
        names = super().names
        shared, own = names.get("shared", {}), names.get("own", {})
        new_slots = zip(own, names.get("new_slots", ()), strict=False)  # empty during the gradients
        return {**names, **shared, **own, **{f"new_{name}": value for name, value in new_slots}}


class SavedState(NamedTuple):
    """The state of an optimizer from a file, before its slots exist.

    Making the slots requires the gradients of the whole model. So they are made only when they are
    needed, not for a model that only predicts.

    Attributes
    ----------
    make_slots : callable
        Makes the train function and, with it, the slots.
    restore : callable
        Sets the slots.
    """

    make_slots: Callable[[], Any]
    restore: Callable[[], None]


def accepts_spellings(constructor: Callable[..., None]) -> Callable[..., None]:
    """Let an optimizer's constructor accept `learning_rate=` and use the dialect's defaults."""
    constructor = default_by_dialect(constructor)

    @functools.wraps(constructor)
    def translated(self: Any, *args: Any, **kwargs: Any) -> None:
        constructor(self, *args, **translate("optimizer", kwargs))

    return translated


def constrained(constraints: Constraints, p: Variable, new_p: Tensor) -> Tensor:
    """Apply the constraint of a parameter, if it has one, to its new value."""
    return constraints[p](new_p) if p in constraints else new_p


def naming(p: Variable) -> AbstractContextManager[Any]:
    """Return a context manager in which names begin with `update/` and the parameter's name."""
    return K.name_scope(f"update/{p.name}")


class Optimizer(Configured):
    """Base of the optimizers.

    Parameters
    ----------
    clipnorm : float, optional
        Greatest norm: all gradients are scaled together if their common norm is greater. With
        flavour "3" each gradient is scaled separately.
    clipvalue : float, optional
        Limit each element of a gradient to the range from -clipvalue to clipvalue.
    global_clipnorm : float, optional
        Greatest common norm of all gradients, with either flavour.
    weight_decay : float, optional
        Share of a parameter that is subtracted in each step, times the learning rate. As in AdamW,
        it does not enter the gradient. None or 0 means no decay.
    flavour : {"2", "3"}, optional
        Whether `clipnorm`, and epsilon in RMSprop and Adagrad, work as in Keras 2 or in Keras 3.
        Default: "3" in dialect "3", otherwise "2".

    Attributes
    ----------
    iterations : Variable, int64
        Number of train steps so far; the train function increases this number.
    updates : list of (Variable, Tensor)
        The result of the last `get_updates`.

    Notes
    -----
    Assigning a number to a hyperparameter sets the value of its variable, so `optimizer.lr = 0.001`
    takes effect in a compiled model. Hyperparameters that are not variables, such as `clipnorm` and
    `epsilon`, need a new `compile`; there is a warning.

    To write an optimizer of your own, derive it from `DecayingOptimizer` and define `slots` and
    `step`, as in `update_rules.py`. As in Keras 2, you may also define `get_updates(loss, params)`,
    which returns a list of pairs.

    Examples
    --------
    An optimizer of your own, whose steps use only the sign of a gradient:

    >>> class SignDescent(Optimizer):
    ...     def get_updates(self, loss, params):
    ...         grads = self.get_gradients(loss, params)
    ...         return [(p, p - 0.5 * K.sign(g)) for p, g in zip(params, grads)]
    >>> w = K.variable([3.0, 3.0])
    >>> SignDescent().apply([[70.0, -0.1]], [w])
    >>> w.get_value().tolist()
    [2.5, 3.5]
    """

    epsilon: float
    _depends_on_flavour = False  # whether `_updates` depends on the flavour
    _is_updating = False  # whether `get_updates` is running
    _saved_state: SavedState | None = None
    _applied: tuple[list[Variable], Step]

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
                    f"{type(self).__name__}: {name}: expected a number >= 0, got {value!r}."
                )
        if kwargs.get("clipnorm") is not None and kwargs.get("global_clipnorm") is not None:
            raise ArgumentError(
                f"{type(self).__name__}: clipnorm and global_clipnorm both limit the norm of "
                f"gradients. Leave one out."
            )
        self.clipnorm: float | None = kwargs.get("clipnorm")
        self.global_clipnorm: float | None = kwargs.get("global_clipnorm")
        if self.flavour == "2" and self.clipnorm is None:  # in Keras 2 they mean the same
            self.clipnorm, self.global_clipnorm = self.global_clipnorm, None
        self.clipvalue: float | None = kwargs.get("clipvalue")
        self.weight_decay: float | None = kwargs.get("weight_decay")
        self.iterations = K.variable(0, dtype="int64", name="iterations")
        self.weights = [self.iterations]
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
        """Return the names of the hyperparameters that the updates contain as plain numbers."""
        own = configured_names(type(self))
        names = (*own, "clipnorm", "clipvalue", "global_clipnorm", "weight_decay", "flavour")
        return [name for name in names if not isinstance(vars(self).get(name), Variable)]

    @property
    def learning_rate(self) -> Any:
        """Keras 3's name of `lr`. With a schedule, the current learning rate as a number."""
        schedule = vars(self).get("schedule")
        return self.lr if schedule is None else K.eval(schedule(K.constant(plain(self.iterations))))

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        self.lr = value

    @property
    def variables(self) -> list[Variable]:
        """The variables: `iterations`, the learning rate if it has no schedule, and the slots."""
        first, *slots = self.weights
        rate = getattr(self, "lr", None)
        return [first, *([rate] if type(rate) is Variable else []), *slots]

    # --- gradients --------------------------------------------------------------------------------

    def get_gradients(self, loss: Tensor, params: Sequence[Variable]) -> list[Tensor]:
        """Return d loss / d param for each parameter, clipped by `clipnorm` and `clipvalue`.

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
            A parameter has no gradient. The message says why.

        Notes
        -----
        First `clipnorm` limits the common norm of all gradients (with flavour "3" the norm of
        each), then `clipvalue` limits the elements.
        """
        return Stage("gradients", self._gradients(loss, params), loss).run()

    def gradients_stage(self, loss: Tensor, params: Sequence[Variable]) -> Stage:
        """Return `get_gradients` as a stage; its events are those of `K.gradients`."""
        origin = current_scope().origin or origin_here(UPDATES)
        if self._overrides("get_gradients"):
            swept = _call(self.get_gradients, loss, params)
            return Stage("gradients", swept, loss, around=resuming_in(origin))
        return Stage("gradients", self._gradients(loss, params, origin), loss)

    def _gradients(
        self, loss: Tensor, params: Sequence[Variable], origin: Origin | None = None
    ) -> Generator[Any, Any, list[Tensor]]:
        loss = as_tensor(loss)
        swept = yield from backpropagate(loss, list(params))
        grads = all_present(loss, params, swept, by_zeros=self.flavour == "3")
        with name_scope("clip", makes_graph=False, origin=origin):
            if self.flavour == "2":
                return clipped(grads, self.clipnorm, self.clipvalue)
            grads = [g for grad in grads for g in clipped([grad], self.clipnorm, None)]
            return clipped(grads, self.global_clipnorm, self.clipvalue)

    # --- updates ----------------------------------------------------------------------------------

    def get_updates(
        self, loss: Any, params: Any, constraints: Constraints | Tensor | None = None
    ) -> list[Pair]:
        """Return the update pairs (variable, new value) of one train step, as tensors.

        Parameters
        ----------
        loss : Tensor, scalar
        params : list of Variable
        constraints : dict of Variable to callable, optional
            Keras 1's argument: replaces a parameter's own `constraint`. Keras 1's order of
            arguments, `get_updates(params, constraints, loss)`, works too.

        Returns
        -------
        list of (Variable, Tensor)
            The pairs without that of `iterations`, which the model adds.

        Raises
        ------
        GradientError
            A parameter has no gradient.

        Notes
        -----
        Each call makes new slots (`weights`); the slots of an earlier call are not changed.
        """
        return self.updates_stage(loss, params, constraints).run()

    def updates_stage(
        self, loss: Any, params: Any, constraints: Constraints | Tensor | None = None
    ) -> Stage:
        """Return `get_updates` as a stage.

        It runs the stage of the gradients, then yields a `ParameterUpdate` for each parameter. If a
        user overrides `get_updates`, the stage calls the user's method and has no events.
        """
        around = resuming_in(current_scope().origin or origin_here(UPDATES))
        loss, params, given = _in_order(loss, params, constraints)
        if self._overrides("get_updates"):
            events: Updates = self._updating(_call(self.get_updates, loss, params))
            return Stage("get_updates", events, self, around=around)
        own = {p: p.constraint for p in params if p.constraint is not None}
        after = self._with_decay(params, {**own, **given})
        events = self._updates(loss, params, after)
        return UpdatesStage("get_updates", events, self, around=around)

    def _updating(self, events: Updates) -> Updates:
        """Run a user's `get_updates`, which may change hyperparameters without a warning."""
        self._is_updating = True
        try:
            return (yield from events)
        finally:
            self._is_updating = False

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        """Return `constraints` unchanged. A `DecayingOptimizer` adds weight decay to them."""
        return constraints

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        raise NotImplementedError(
            f"{type(self).__name__}: write the method get_updates, or _updates."
        )

    def _overrides(self, method: str) -> bool:
        """Return whether a subclass or an attribute replaces `Optimizer`'s method of this name."""
        return getattr(getattr(self, method), "__func__", None) is not getattr(Optimizer, method)

    # --- gradients from elsewhere -----------------------------------------------------------------

    def build(self, variables: Any) -> None:
        """Make the slots for these variables, which `apply` then changes by default.

        Warns
        -----
        KerascopeWarning
            There are slots already, such as those of `fit`. The new slots start at their first
            values.
        """
        if len(self.weights) > 1:
            warn(
                f"{type(self).__name__}: slots, such as moments, were made for another step. This "
                "step has its own slots, which start at their first values."
            )
        wanted = list(variables)
        self._applied = (wanted, step_for(self, wanted))

    def apply(self, grads: Any, trainable_variables: Any = None) -> None:
        """Take one step with gradients that were computed elsewhere, as arrays.

        Parameters
        ----------
        grads : list of ndarray
        trainable_variables : list of Variable, optional
            Default: the variables of `build` or of the last call.

        Raises
        ------
        ArgumentError
            The gradients do not fit the variables. No variable has changed.
        DtypeError
            A gradient is symbolic.

        Examples
        --------
        >>> import kerascope as ks
        >>> w = ks.K.variable([1.0, 2.0], name="w")
        >>> ks.optimizers.SGD(0.5).apply([np.array([1.0, -1.0])], [w])
        >>> w.get_value().tolist()
        [0.5, 2.5]
        """
        known: Any = vars(self).get("_applied")
        if trainable_variables is None and known is None:
            raise ArgumentError(
                f"{type(self).__name__}.apply: pass trainable_variables, or call build(variables) "
                "before."
            )
        wanted = known[0] if trainable_variables is None else list(trainable_variables)
        given = checked_gradients(self, grads, wanted)
        if known is None:
            self.build(wanted)
        elif list(map(id, known[0])) != list(map(id, wanted)):
            raise ArgumentError(
                f"{type(self).__name__}.apply: expected the {len(known[0])} variables of the first "
                "call, in the same order. Give other variables an optimizer of their own."
            )
        self._applied[1](given)

    def apply_gradients(self, grads_and_vars: Any) -> Any:
        """Call `apply` with pairs (gradient, variable); return the number of steps so far."""
        pairs = list(grads_and_vars)
        self.apply([grad for grad, _ in pairs], [variable for _, variable in pairs])
        return self.iterations

    # --- for the rules ----------------------------------------------------------------------------

    def _hyperparameter(self, name: str, value: Any) -> Variable:
        """Return a variable of type `floatx()` for a number that callbacks may change."""
        if isinstance(value, Variable):
            value = value.get_value()
        number = np.asarray(value)
        if number.ndim or number.dtype.kind not in "fiu":
            raise ArgumentError(
                f"{type(self).__name__}: {name}: expected a number, got {value!r}. For a rate that "
                f"changes with time use kerascope.optimizers.schedules."
            )
        return K.variable(number, name=name)

    def _make_slots(self, word: str, params: Sequence[Variable]) -> dict[Variable, Variable]:
        """Make a slot for each parameter that has one: a variable of the same shape and dtype.

        Return a dict from parameter to slot. A slot starts at 0. If the optimizer has an attribute
        `initial_accumulator_value`, a slot "accumulator" starts at this value.
        """
        first = getattr(self, f"initial_{word}_value", 0.0)
        return {
            p: K.variable(np.full(p.shape, first, p.dtype), dtype=p.dtype, name=f"{p.name}/{word}")
            for p in params
            if self.has_slot(word, p)
        }

    def has_slot(self, word: str, p: Variable) -> bool:
        """Return whether the parameter `p` has the slot `word`. A subclass may return False."""
        return True

    def _root(self, square: Tensor) -> Tensor:
        """Return sqrt(square) + epsilon, or with flavour "3" sqrt(square + epsilon)."""
        if self.flavour == "3":
            return K.sqrt(square + self.epsilon)
        return K.sqrt(square) + self.epsilon

    def _keep(self, slots: Sequence[Variable], pairs: list[Pair]) -> list[Pair]:
        """Store the slots and update pairs of one call of `get_updates`; return the pairs."""
        self.weights = [self.iterations, *slots]
        self.updates = pairs
        return pairs

    def _time(self) -> Tensor:
        """Return the number of the train step, counted from 1, as a float tensor."""
        return K.cast(self.iterations, K.floatx()) + 1

    # --- state ------------------------------------------------------------------------------------

    @property
    def weights(self) -> list[Variable]:
        """`iterations`, then the slots that the last `get_updates` made.

        Before the first `get_updates`, the list contains only `iterations`. But if there is a saved
        state from a file, reading this attribute makes the slots.
        """
        if self._saved_state is not None:
            self._saved_state.make_slots()
        return vars(self)["weights"]  # this name, because older pickles contain it

    @weights.setter
    def weights(self, variables: Sequence[Variable]) -> None:
        vars(self)["weights"] = list(variables)
        state, self._saved_state = self._saved_state, None
        if state is not None:
            state.restore()

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for `pickle` and `copy`. A saved state is first put into slots."""
        weights = self.weights
        state = {**vars(self), "weights": weights, "_saved_state": None}
        state.pop("_applied", None)  # a copy makes its own function
        return state

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of `weights`: the count of steps, then the slots."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the values of `weights`. The first value, the number of steps, may be missing.

        Then `iterations` does not change. (Keras 2 stores no number of steps for RMSprop, Adagrad
        and Adadelta.)

        Raises
        ------
        ArgumentError
            There are too few or too many arrays. No variable has changed.
        ShapeError
            An array has another shape than its variable. No variable has changed.
        """
        variables = self.weights
        slots = variables[1:]
        if [np.shape(array) for array in weights] == [slot.shape for slot in slots]:
            variables = slots
        if len(weights) != len(variables):
            raise ArgumentError(
                f"{type(self).__name__}.set_weights: expected {len(self.weights)} arrays, for "
                f"iterations and the slots, got {len(weights)}. Make the model's train function "
                f"first: it makes the slots."
            )
        K.batch_set_value(zip(variables, weights, strict=True))

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters as plain numbers."""
        clips: dict[str, Any] = {"clipnorm": self.clipnorm, "clipvalue": self.clipvalue}
        if self.flavour == "3":
            clips["global_clipnorm"] = self.global_clipnorm
        is_usual = self.flavour == dialect_options().optimizer_flavour == "2"
        if not is_usual and (self._depends_on_flavour or self.clipnorm is not None):
            clips["flavour"] = self.flavour
        if "weight_decay" not in configured_names(type(self)):
            clips["weight_decay"] = self.weight_decay
        given = {name: plain(value) for name, value in clips.items() if value is not None}
        return {**super().get_config(), **given}


def _checked_flavour(optimizer: Optimizer, flavour: str | None) -> str:
    flavour = flavour or dialect_options().optimizer_flavour
    if flavour not in ("2", "3"):
        raise ArgumentError(
            f"{type(optimizer).__name__}: flavour: expected '2' or '3', got {flavour!r}."
        )
    return flavour


@boundary
def _call(method: Callable[..., Any], *arguments: Any) -> Generator[Any, Any, Any]:
    """Return a generator that calls a method, yields nothing and returns the method's result."""
    yield from ()
    return method(*arguments)


def _in_order(loss: Any, params: Any, constraints: Any) -> tuple[Tensor, list[Variable], dict]:
    """Return loss, params and constraints, which may also be given in the orders of Keras 1."""
    if isinstance(constraints, Tensor):
        loss, params, constraints = constraints, loss, params
    elif isinstance(params, Tensor):
        loss, params = params, loss
    if not isinstance(loss, Tensor) or not all(isinstance(p, Variable) for p in params):
        raise ArgumentError(
            f"get_updates: expected a loss tensor and a list of variables, "
            f"got {loss!r}, {params!r}."
        )
    return loss, list(params), dict(constraints or {})


# --- a learning rate ------------------------------------------------------------------------------


class DecayingOptimizer(Optimizer):
    """An optimizer with a learning rate `lr`, which may decay with the number of the step.

    Notes
    -----
    The rate at step t (counted from 0) is lr / (1 + decay * t). `lr` may also be a
    `LearningRateSchedule`; then the variable `lr` contains its first value.

    A subclass names its slots and computes one step::

        class SGD(DecayingOptimizer):
            slots = {"m": "momentum"}

            def step(self, p, g, lr, m):
                new_m = self.momentum * m - lr * g
                return new_m, p + new_m

    Attributes
    ----------
    slots : dict of str to str
        Name of a slot in the formula -> last part of its variable's name.
    slots_by_parameter : bool
        Whether `weights` lists all slots of a parameter, then those of the next; otherwise one
        slot of all parameters, then the next slot.
    step : callable
        `step(p, g, **shared, **slots)` returns the new values of the slots, in the order of
        `slots`, and then of the parameter. A slot that a parameter does not have (see `has_slot`)
        is not passed.
    """

    slots: Mapping[str, str] = {}
    slots_by_parameter = False
    step: Callable[..., NewValues]

    def __init__(self, lr: Any, decay: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.schedule = _schedule_of(lr)
        if self.schedule is not None:
            lr = K.eval(self.schedule(K.constant(0)))
            self.lr: Variable = _FollowedRate(lr, self.schedule)
        else:
            self.lr = self._hyperparameter("lr", lr)
        self.decay = self._hyperparameter("decay", decay)
        self.initial_decay = plain(self.decay)

    def _fixed(self) -> list[str]:
        """Return the names of the hyperparameters that the updates contain as plain numbers.

        `decay` is one of them only if it is 0.
        """
        return [*super()._fixed(), *([] if self.initial_decay > 0 else ["decay"])]

    def _updates(
        self, loss: Tensor, params: Sequence[Variable], constraints: Constraints
    ) -> Updates:
        grads = yield self.gradients_stage(loss, params)
        lr = self._rate()
        updates: list[Pair] = []
        shared = self._shared(lr, updates)
        slots = {name: self._make_slots(word, params) for name, word in self.slots.items()}
        kept = [v for v, _ in updates]
        if self.slots_by_parameter:
            kept += [of[p] for p in params for of in slots.values()]
        else:
            kept += [v for of in slots.values() for v in of.values()]
        for p, g in zip(params, grads, strict=True):
            own = {name: of[p] for name, of in slots.items() if p in of}
            with naming(p):
                *new_slots, new_p = self.step(p, g, **shared, **own)
                new_p = constrained(constraints, p, new_p)
            new_values = zip([*own.values(), p], [*new_slots, new_p], strict=True)
            pairs = tuple(K.update(v, new_v) for v, new_v in new_values)
            updates.extend(pairs)
            yield ParameterUpdate(p, g, pairs)
        return self._keep(kept, updates)

    def _shared(self, lr: Tensor, updates: list[Pair]) -> dict[str, Tensor]:
        """Return the arguments of `step` that all parameters share, by name: the rate `lr`.

        A subclass may add arguments. If it has a variable for all parameters, such as a count, it
        appends the update pair of this variable to `updates`.
        """
        return {"lr": lr}

    def _rate(self) -> Tensor:
        """Return the learning rate of a step, from the schedule or else from `lr` and `decay`."""
        if self.schedule is not None:
            return self.schedule(K.cast(self.iterations, K.floatx()))
        self.initial_decay = plain(self.decay)
        if not self.initial_decay > 0:
            return self.lr
        return self.lr * (1.0 / (1.0 + self.decay * K.cast(self.iterations, K.dtype(self.decay))))

    def _with_decay(self, params: Sequence[Variable], constraints: Constraints) -> Constraints:
        """Return for each parameter a function that applies weight decay, then its constraint.

        Without weight decay, return the constraints unchanged.
        """
        if not self.weight_decay:
            return constraints
        share = self._rate() * self.weight_decay

        def decayed(p: Variable) -> Callable[[Tensor], Tensor]:
            constraint = constraints.get(p, lambda new_p: new_p)
            return lambda new_p: constraint(new_p - p * share)

        return {p: decayed(p) for p in params}

    def get_config(self) -> dict[str, Any]:
        """Return the hyperparameters as plain numbers, and a schedule as its configuration."""
        config = super().get_config()
        if self.schedule is not None:
            config["lr"] = {
                "class_name": type(self.schedule).__name__, "config": self.schedule.get_config()
            }  # fmt: skip
        return config


class _FollowedRate(Variable):
    """The variable `lr` of an optimizer with a schedule. Updates ignore it, so it cannot be set."""

    __slots__ = ("schedule",)

    def __init__(self, value: Any, schedule: LearningRateSchedule) -> None:
        super().__init__(value, name="lr")
        self.schedule = schedule

    def _checked(self, value: Any) -> NoReturn:
        """Raise an ArgumentError for any value.

        Raises
        ------
        ArgumentError
            Always.
        """
        raise ArgumentError(
            f"optimizer: the learning rate follows {self.schedule}, so it cannot be set to "
            f"{value!r}. To change it, make the optimizer with a number as learning rate."
        )


def _schedule_of(lr: Any) -> LearningRateSchedule | None:
    """Return the schedule if `lr` is a schedule or its configuration; otherwise None."""
    if isinstance(lr, dict):
        return schedules.deserialize(lr)
    return lr if isinstance(lr, LearningRateSchedule) else None


# --- gradients: missing ones, and clipping --------------------------------------------------------


def all_present(
    loss: Tensor, params: Sequence[Variable], grads: Sequence[Tensor | None], by_zeros: bool = False
) -> list[Tensor]:
    """Return the gradients. If a gradient is None, raise a GradientError that says why.

    With `by_zeros`, as in Keras 3, parameters on which the loss does not depend get gradients of
    zeros, with a warning.
    """
    present = []
    for p, g in zip(params, grads, strict=True):
        if g is None and by_zeros and not applies_between([p], [loss]):
            warn(f"'{p.name}' is not trained: the loss '{loss.name}' does not depend on it.")
            g = K.zeros_like(p)
        if g is None:
            raise _no_gradient(loss, p)
        present.append(g)
    return present


def _no_gradient(loss: Tensor, p: Variable) -> GradientError:
    """Return the error for a parameter without gradient, with the reason."""
    blocks = blocking_ops(loss, p)
    if blocks:
        listed = ", ".join(f"'{apply.name}' = {apply!r}" for apply in blocks)
        reason = f"It stops at {listed}. Use an op that has a derivative."
    elif applies_between([p], [loss]):
        reason = "It is only used as an op's argument that has no derivative."
    else:
        reason = (
            "The loss does not depend on it. Use it in the loss, or freeze it (trainable=False)."
        )
    return GradientError(
        f"get_gradients: parameter '{p.name}' gets no gradient from the loss '{loss.name}'. "
        f"An operation has `None` for gradient. {reason}",
        subject=blocks[0] if blocks else p,
    )


def clipped(
    grads: Sequence[Tensor], clipnorm: float | None, clipvalue: float | None
) -> list[Tensor]:
    """Limit the common norm of the gradients to `clipnorm`, and their elements to `clipvalue`."""
    grads = list(grads)
    if clipnorm and grads:
        squares = [K.sum(K.square(g)) for g in grads]
        norm = K.sqrt(functools.reduce(lambda total, square: total + square, squares))
        grads = [clip_norm(g, clipnorm, norm) for g in grads]
    if clipvalue:
        grads = [K.clip(g, -clipvalue, clipvalue) for g in grads]
    return grads


def clip_norm(g: Tensor, c: float, n: Tensor) -> Tensor:
    """Return `g` times `c / n` if the norm `n` is greater than `c`, otherwise `g` (also if c is 0).

    Examples
    --------
    >>> K.eval(clip_norm(K.constant([3.0, 4.0]), 1.0, K.constant(5.0))).round(2).tolist()
    [0.6..., 0.8...]
    """
    return g * (c / K.maximum(n, c)) if c > 0 else g


# --- arguments of Keras 3 for unsupported features ------------------------------------------------

# Argument -> the values that switch its feature off.
_OFF: dict[str, tuple[Any, ...]] = {
    "use_ema": (False, None),
    "ema_momentum": (0.99, None),
    "ema_overwrite_frequency": (None,),
    "loss_scale_factor": (None,),
    "gradient_accumulation_steps": (None, 1),
    "jit_compile": (True, False, "auto", None),
    "centered": (False,),
}


def without_neutral(where: str, own: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return `kwargs` without Keras 3's arguments of unsupported features.

    Parameters
    ----------
    where : str
        The optimizer's name, for errors.
    own : sequence of str
        Arguments that the optimizer supports.
    kwargs : dict
        The arguments that the script passed.

    Raises
    ------
    RefusedError
        An unsupported feature is switched on.

    Examples
    --------
    >>> without_neutral("Adam", [], {"use_ema": False, "clipnorm": 1.0})
    {'clipnorm': 1.0}
    """
    for name, off in _OFF.items():
        if name in kwargs and name not in own and kwargs[name] not in off:
            raise RefusedError(
                f"{where}: Keras 3's {name}={kwargs[name]!r} is not supported. Leave it out."
            )
    return {name: value for name, value in kwargs.items() if name in own or name not in _OFF}
