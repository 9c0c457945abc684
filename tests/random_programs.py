"""Random functions, each called several times: as programs, and beside that by their events.

A `Recipe` is data: a list of instructions that make tensors, the functions of them, and the calls.
`recipe(seed)` draws one, `difference(recipe)` tells what its two roads disagree about, and `shrunk`
makes a recipe that fails as short as it can. What it prints is a test by itself::

    assert difference(Recipe(...)) is None

An instruction is (what, operands, parameter): operands are tensors by the number of the instruction
that made them.
"""

import dataclasses
import itertools
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.backend.program.checks import checked_loops
from kerascope.errors import VerificationError
from kerascope.optimizers import SGD, Adam, RMSprop
from kerascope.settings import config
from kerascope.stage import observing

Instruction = tuple[str, tuple[int, ...], Any]
FLOATS = ("float32", "float64", "float16")
CALLS = 8
# Which of two sizes the calls have: a program is written when one comes for the second time.
RHYTHMS = ("aaaabbba", "aaaaaaaa", "aabbaabb", "abababab", "aaabbbab", "abbbbbba")


@dataclasses.dataclass(frozen=True)
class Made:
    """What a function computes.

    Attributes
    ----------
    outputs : tuple of int
        Instructions.
    updates : tuple of (int, int)
        Variables, and their new values.
    optimizer : (str, int) or None
        What trains the variables, and the instruction whose squares it makes small.
    rewrites : tuple of str or None
    """

    outputs: tuple[int, ...]
    updates: tuple[tuple[int, int], ...] = ()
    optimizer: tuple[str, int] | None = None
    rewrites: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Call:
    """One call.

    Attributes
    ----------
    function : int
    size : int
        Of all axes whose size is open.
    seed : int
        Of the numbers that are fed.
    layout : str
        How the arrays lie, in what order, and who else has them.
    specials : bool
        Whether NaN, infinities, -0.0 and subnormal numbers are among them.
    phase : int
    overwrites : bool
        Whether the caller writes into the outputs afterwards.
    """

    function: int
    size: int
    seed: int
    layout: str = "plain"
    specials: bool = False
    phase: int = 0
    overwrites: bool = False


@dataclasses.dataclass(frozen=True)
class Recipe:
    """Instructions, functions, calls."""

    floatx: str
    instructions: tuple[Instruction, ...]
    functions: tuple[Made, ...]
    calls: tuple[Call, ...]

    def __str__(self) -> str:
        lines = [*(f"        {one!r}," for one in self.instructions)]
        functions = [f"        {_short(one)}," for one in self.functions]
        calls = [f"        {_short(one)}," for one in self.calls]
        return "\n".join(
            [
                "Recipe(",
                f"    {self.floatx!r},",
                *("    (", *lines, "    ),"),
                *("    (", *functions, "    ),"),
                *("    (", *calls, "    ),"),
                ")",
            ]
        )


def _short(one: Any) -> str:
    """Write a dataclass without what is as always."""
    fields = dataclasses.fields(one)
    values = [(field, getattr(one, field.name)) for field in fields]
    listed = [
        f"{field.name}={value!r}" if field.default is not dataclasses.MISSING else repr(value)
        for field, value in values
        if value != field.default
    ]
    return f"{type(one).__name__}({', '.join(listed)})"


# --- instructions ---------------------------------------------------------------------------------


class Asks(Op):
    """Somebody else's op, which calls a function of its own each time."""

    is_pure = True

    def __init__(self) -> None:
        x = K.placeholder(ndim=1, dtype="float64")
        object.__setattr__(self, "function", K.function([x], [K.exp(x) - 1, K.cumsum(x)]))

    def infer_shape(self, x: Any) -> Any:
        return x.shape

    def perform(self, x: Any) -> Any:
        flat = np.asarray(x).reshape(-1).astype("float64")
        return self.function([flat])[1].reshape(np.shape(x)).astype(x.dtype)


class Keeps(Op):
    """Somebody else's op, which hands its input back, and does not say so."""

    def infer_shape(self, x: Any) -> Any:
        return x.shape

    def perform(self, x: Any) -> Any:
        return x


def _number(x: Any) -> Any:
    """Return a scalar condition."""
    return K.greater(K.sum(K.cast(x, "float64")), 0.1)


def _floats(x: Any) -> Any:
    return x if x.dtype.startswith("f") else K.cast(x, config.floatx)


def _layers(x: Any, n: int, width: int) -> Any:
    """Apply many equal layers."""
    x = K.reshape(_floats(x), (-1, width))
    for number in range(n):
        w = K.variable(np.linspace(-1, 1, width * width).reshape(width, width) + 0.1 * number)
        b = K.variable(np.linspace(0, 0.1 * number, width))
        x = K.tanh(K.dot(K.cast(x, w.dtype), w) + b)
    return x


def _fold(fold: Callable, how: str) -> Callable:
    steps = {
        "add": lambda a, b: a + b,
        "times": lambda a, b: a * b,
        "largest": K.maximum,
        "first": lambda a, b: a,
        "last": lambda a, b: b,
        "tanh": lambda a, b: K.tanh(a) - b * 0.5,
        "switch": lambda a, b: K.switch(_number(b), a, a - b),
        "where": lambda a, b: K.switch(K.greater(a, b), a * 0.5, b),
    }
    return lambda *operands: fold(steps[how], *operands)


def _pair(how: str, x: Any) -> Any:
    """Fold with two states."""
    first, second = K.foldl(lambda a, b: (a[1] + b, a[0] * 0.5), x[1:], (x[0], x[0] * 2))
    return first if how == "first" else second


def _map(how: str, x: Any, *others: Any) -> Any:
    steps: dict[str, Callable] = {
        "exp": lambda e: K.exp(-K.abs(e)),
        "sum": lambda e: e - K.sum(e),
        "same": lambda e: e,
        "inner": lambda e: K.foldl(lambda a, b: a + b, x, e),
        "other": lambda e: e * others[0] if others else e,
    }
    return K.map_fn(steps[how], x)


def _rnn(x: Any, start: Any, backwards: bool) -> Any:
    """Run over the second axis; the state is a row."""

    def step(slices: Any, states: Any) -> Any:
        new = K.tanh(slices + states[0] * 0.5)
        return new, [new]

    state = K.zeros_like(x[:, 0]) + start
    last, outputs, _ = K.rnn(step, x, [state], go_backwards=backwards)
    return K.concatenate([outputs, K.expand_dims(last, 1)], axis=1)


def _with_three_axes(x: Any) -> Any:
    while x.ndim < 3:
        x = K.stack([x, -x], axis=-1)
    return x


def _weights(*shape: int) -> Any:
    """Return fixed numbers of some shape."""
    count = int(np.prod(shape))
    return K.constant(np.linspace(-1, 1, count).reshape(shape))


def _convolved(x: Any, padding: str) -> Any:
    x = _floats(_with_three_axes(x))
    return K.conv1d(x, K.cast(_weights(2, x.shape[-1], 2), x.dtype), padding=padding)


def _pooled(x: Any, mode: str) -> Any:
    return K.pool1d(_floats(_with_three_axes(x)), 2, strides=1, padding="same", pool_mode=mode)


def _recurrent(x: Any, backwards: bool) -> Any:
    """Run a recurrent layer: a product of matrices at each step, and one for all steps."""
    x = _floats(_with_three_axes(x))
    w, u = (K.cast(_weights(x.shape[-1] if n else 3, 3), x.dtype) for n in (1, 0))

    def step(slices: Any, states: Any) -> Any:
        new = K.tanh(K.dot(slices, w) + K.dot(states[0], u))
        return new, [new]

    state = K.dot(K.zeros_like(x[:, 0]), w)
    return K.rnn(step, x, [state], go_backwards=backwards)[1]


def _crossentropy(kind: str, x: Any, y: Any) -> Any:
    x, y = _floats(x), _floats(y)
    if kind == "binary":
        return K.binary_crossentropy(K.sigmoid(y), K.sigmoid(x))
    if kind == "categorical":
        return K.categorical_crossentropy(K.softmax(y), K.softmax(x))
    return K.sparse_categorical_crossentropy(K.argmax(y, -1), K.softmax(x))


def _gradient(loss: Any, wrt: Any) -> Any:
    (found,) = K.gradients(K.sum(_floats(loss)), [wrt])
    return K.zeros_like(wrt) if found is None else found


def _reduced(name: str) -> Callable:
    def make(parameter: Any, x: Any) -> Any:
        axis, keepdims = parameter
        reduce = getattr(K, name)
        return reduce(x if name in ("any", "all") else _floats(x), axis, keepdims)

    return make


def _of_one(name: str) -> Callable:
    return lambda parameter, x: getattr(K, name)(x)


def _of_floats(name: str) -> Callable:
    return lambda parameter, x: getattr(K, name)(_floats(x))


def _of_two(name: str) -> Callable:
    return lambda parameter, x, y: getattr(K, name)(x, y)


INDICES: dict[str, Any] = {
    "0": 0,
    "-1": -1,
    "1:": slice(1, None),
    ":-1": slice(None, -1),
    "::2": slice(None, None, 2),
    "::-1": slice(None, None, -1),
    "None": None,
    "...,0": (Ellipsis, 0),
    ":0": slice(0, 0),
}

# What makes a tensor, from the parameter and the operands.
MAKERS: dict[str, Callable[..., Any]] = {
    **{name: _of_one(name) for name in ("abs", "sign", "square", "identity", "stop_gradient")},
    **{name: _of_one(name) for name in ("transpose", "zeros_like", "ones_like", "shape")},
    **{name: _of_one(name) for name in ("batch_flatten", "flatten", "logical_not")},
    **{name: _of_floats(name) for name in ("exp", "log", "sqrt", "sin", "cos", "sigmoid", "tanh")},
    **{name: _of_floats(name) for name in ("softmax", "log_softmax", "softplus", "softsign")},
    **{name: _of_floats(name) for name in ("elu", "relu", "hard_sigmoid", "round", "erf")},
    **{name: _reduced(name) for name in ("sum", "mean", "max", "min", "prod", "any", "all")},
    **{name: _reduced(name) for name in ("std", "var", "logsumexp")},
    **{name: _of_two(name) for name in ("maximum", "minimum", "dot", "batch_dot", "bias_add")},
    **{name: _of_two(name) for name in ("equal", "not_equal", "greater", "less_equal")},
    "+": lambda parameter, x, y: x + y,
    "-": lambda parameter, x, y: x - y,
    "*": lambda parameter, x, y: x * y,
    "/": lambda parameter, x, y: _floats(x) / _floats(y),
    "negative": lambda parameter, x: -x,
    "number": lambda parameter, x: {"+": x + parameter[1], "*": x * parameter[1]}[parameter[0]],
    "over": lambda parameter, x: parameter / _floats(x),
    "power": lambda parameter, x: _floats(x) ** parameter,
    "sloped": lambda parameter, x: K.relu(_floats(x), *parameter),
    "clip": lambda parameter, x: K.clip(x, *parameter),
    "cast": lambda parameter, x: K.cast(x, parameter),
    "reshape": lambda parameter, x: K.reshape(x, parameter),
    "reshape_to": lambda parameter, x, like: K.reshape(x, K.shape(like)),
    "expand_dims": lambda parameter, x: K.expand_dims(x, parameter),
    "squeeze": lambda parameter, x: K.squeeze(x, parameter),
    "permute": lambda parameter, x: K.permute_dimensions(x, parameter),
    "reverse": lambda parameter, x: K.reverse(x, parameter),
    "item": lambda parameter, x: x[INDICES[parameter]],
    "slice": lambda parameter, x: K.slice(x, [0] * x.ndim, [1] * x.ndim),
    "argmax": lambda parameter, x: K.argmax(x, parameter),
    "cumsum": lambda parameter, x: K.cumsum(x, parameter),
    "cumprod": lambda parameter, x: K.cumprod(x, parameter),
    "concatenate": lambda parameter, *several: K.concatenate(list(several), parameter),
    "stack": lambda parameter, *several: K.stack(list(several), parameter),
    "tile": lambda parameter, x: K.tile(x, parameter),
    "repeat_elements": lambda parameter, x: K.repeat_elements(x, *parameter),
    "pad": lambda parameter, x: K.temporal_padding(x, parameter),
    "gather": lambda parameter, x, y: K.gather(x, K.cast(K.clip(y, 0, 0), "int32")),
    "one_hot": lambda parameter, x: K.one_hot(K.cast(K.clip(x, 0, 2), "int32"), parameter),
    "einsum": lambda parameter, *several: K.einsum(parameter, *several),
    "in_train_phase": lambda parameter, x, y: K.in_train_phase(lambda: x * 2, lambda: y),
    "switch": lambda parameter, c, x, y: K.switch(_number(c), x, y),
    "choose": lambda parameter, x, y: K.switch(K.greater(x, y), x, y * 2),
    # What a rewrite looks for, and something near it.
    "minus_plus": lambda parameter, x, y: (-x + y) if parameter else (y + -x),
    "by_ones": lambda parameter, x: {
        "*": lambda: x * K.ones_like(x),
        "/": lambda: _floats(x) / K.ones_like(_floats(x)),
        "1*": lambda: 1 * x,
    }[parameter](),
    "turned_twice": lambda parameter, x: K.permute_dimensions(
        K.permute_dimensions(_with_three_axes(x), parameter[0]), parameter[1]
    ),
    "within": lambda parameter, x: (
        K.cast(K.logical_and(K.greater_equal(x, parameter), K.less_equal(x, 1.0)), config.floatx)
        * K.clip(x, parameter, 1.0)
    ),
    "switch_draw": lambda parameter, c, x, y: K.switch(
        _number(c), K.dropout(_floats(x), 0.4, seed=parameter), _floats(y)
    ),
    "dropout": lambda parameter, x: K.dropout(_floats(x), 0.4, seed=parameter),
    "draw": lambda parameter, x: x + K.random_normal(K.shape(x), dtype=x.dtype, seed=parameter),
    "fold": lambda parameter, *operands: _fold(K.foldl, parameter)(*operands),
    "fold_back": lambda parameter, *operands: _fold(K.foldr, parameter)(*operands),
    "fold_pair": _pair,
    "fold_numbers": lambda parameter, x: _fold(K.foldl, parameter)(K.flatten(x) * 2),
    "map": _map,
    "rnn": lambda parameter, x: _rnn(_floats(x), 0.5, parameter),
    "recurrent": lambda parameter, x: _recurrent(x, parameter),
    "convolved": lambda parameter, x: _convolved(x, parameter),
    "pooled": lambda parameter, x: _pooled(x, parameter),
    "crossentropy": _crossentropy,
    "l2_normalize": lambda parameter, x: K.l2_normalize(_floats(x), parameter),
    "gradient": lambda parameter, loss, wrt: _gradient(loss, wrt),
    "layers": lambda parameter, x: _layers(x, *parameter),
    "asks": lambda parameter, x: Asks()(x),
    "keeps": lambda parameter, x: Keeps()(x),
}

REDUCED = ("sum", "mean", "max", "min", "prod", "any", "all", "std", "var", "logsumexp")
MANY = ("concatenate", "stack")


def _n_operands(what: str, rng: np.random.Generator) -> int:
    if what in MANY:
        return int(rng.integers(1, 4))
    if what in ("fold", "fold_back", "map"):
        return int(rng.integers(1, 3))
    if what == "einsum":
        return 0
    make = MAKERS[what]
    code = getattr(make, "__code__", None)
    return (code.co_argcount if code is not None else 2) - 1


def _parameter(what: str, rng: np.random.Generator) -> Any:
    """Draw what an instruction needs besides its operands."""

    def one(*several: Any) -> Any:
        return several[int(rng.integers(len(several)))]

    axis = int(rng.integers(-1, 2))
    if what in REDUCED:
        return one(None, 0, -1, 1, (0, 1)), bool(rng.integers(2))
    choices: dict[str, Callable[[], Any]] = {
        "number": lambda: (one("+", "*"), one(0, 1, 2, -1, 0.5, 1.0, -0.0, 1e-3)),
        "over": lambda: one(1, 1.0, 2.5),
        "power": lambda: one(2, 0.5, -1, 0, 3.0),
        "sloped": lambda: one((0.1,), (0.0, 1.0), (0.2, 1.5, 0.5), (0.0, None, 0.3)),
        "clip": lambda: one((-1.0, 1.0), (0.0, 0.5), (-0.0, 0.0)),
        "cast": lambda: one(*FLOATS, "int32", "bool", "int64", "uint8"),
        "reshape": lambda: one((-1,), (-1, 1), (-1, 3), (1, -1), (3, -1), ()),
        "expand_dims": lambda: axis,
        "squeeze": lambda: axis,
        "permute": lambda: one((1, 0), (0, 1), (0, 2, 1), (2, 0, 1)),
        "reverse": lambda: one(0, 1),
        "item": lambda: one(*INDICES),
        "argmax": lambda: axis,
        "cumsum": lambda: axis,
        "cumprod": lambda: axis,
        "concatenate": lambda: axis,
        "stack": lambda: axis,
        "tile": lambda: one((2,), (1, 2), (2, 1), (1, 1)),
        "repeat_elements": lambda: (int(rng.integers(1, 3)), one(0, 1)),
        "pad": lambda: one((1, 1), (0, 0), (0, 2)),
        "one_hot": lambda: 3,
        "einsum": lambda: one("ij->ji", "ij->i", "i,ij->j", "ij,kj->ik", "ij,ij->ij", "i->i"),
        "minus_plus": lambda: bool(rng.integers(2)),
        "by_ones": lambda: one("*", "/", "1*"),
        "turned_twice": lambda: one(
            ((1, 0, 2), (1, 0, 2)), ((1, 2, 0), (1, 2, 0)), ((2, 0, 1), (1, 2, 0))
        ),
        "within": lambda: one(-1.0, 0.0, -0.0),
        "switch_draw": lambda: int(rng.integers(100)),
        "dropout": lambda: int(rng.integers(100)),
        "draw": lambda: int(rng.integers(100)),
        "fold": lambda: one("add", "times", "largest", "first", "last", "tanh", "switch", "where"),
        "fold_back": lambda: one("add", "times", "first", "last", "tanh"),
        "fold_numbers": lambda: one("add", "times", "tanh", "last"),
        "fold_pair": lambda: one("first", "second"),
        "map": lambda: one("exp", "sum", "same", "inner", "other"),
        "recurrent": lambda: bool(rng.integers(2)),
        "convolved": lambda: one("valid", "same", "causal"),
        "pooled": lambda: one("max", "avg"),
        "crossentropy": lambda: one("binary", "categorical", "sparse"),
        "l2_normalize": lambda: axis,
        "rnn": lambda: bool(rng.integers(2)),
        "layers": lambda: one((9, 3), (12, 2), (2, 3)),
    }
    return choices[what]() if what in choices else None


# --- drawing --------------------------------------------------------------------------------------

# What comes oftener than the rest.
FREQUENT = (
    *("+", "-", "*", "number", "exp", "tanh", "sum", "item", "item", "switch", "fold", "fold"),
    *("gradient", "gradient", "reshape", "transpose", "dot", "cast", "map", "relu", "concatenate"),
    *("reshape", "flatten", "in_train_phase", "switch_draw", "minus_plus"),
    *("by_ones", "by_ones", "by_ones", "by_ones"),
    *("turned_twice", "turned_twice", "within", "fold", "fold", "fold_pair", "fold_back", "exp"),
    *("fold_numbers", "fold_numbers", "fold_pair"),
)
WHATS = (*MAKERS, *FREQUENT, *FREQUENT)
SHAPES = (
    *((None,), (None, 3), (3,), (), (None, None), (2, 3), (None, 2, 3), (3, 1), (0,), (1,)),
    *((None,), (None, None, 2), (3, 3, 3)),
)


def recipe(seed: int) -> Recipe:
    """Draw a recipe; the float type is the next one with each seed."""
    rng = np.random.default_rng(seed)
    floatx = FLOATS[seed % len(FLOATS)]
    instructions: list[Instruction] = []
    with _quiet(floatx):
        tensors: list[Any] = []

        def add(instruction: Instruction) -> bool:
            try:
                tensor = _tensor(instruction, tensors)
            except Exception:  # not every op takes all tensors: another one is drawn
                return False
            instructions.append(instruction)
            tensors.append(tensor)
            return True

        for _ in range(int(rng.integers(1, 4))):
            shape = SHAPES[int(rng.integers(len(SHAPES)))]
            other = ("int32", "bool", *FLOATS, "int64", "uint8")[int(rng.integers(7))]
            add(("placeholder", (), (shape, floatx if rng.random() < 0.75 else other)))
        for _ in range(int(rng.integers(0, 4))):
            shape = [(), (3,), (3, 3), (2, 3), (1,)][int(rng.integers(5))]
            is_float = rng.random() < 0.9
            what = "variable" if rng.random() < 0.8 else "constant"
            add((what, (), (shape, floatx if is_float else "int32", int(rng.integers(1000)))))
        given = len(instructions)
        wanted = given + int(rng.integers(3, 25))
        for _ in range(100):
            if len(instructions) >= wanted:
                break
            what = WHATS[int(rng.integers(len(WHATS)))]
            if what in ("layers", "rnn", "recurrent", "convolved", "asks") and rng.random() < 0.6:
                continue  # these take longer
            parameter = _parameter(what, rng)
            n = parameter.count(",") + 1 if what == "einsum" else _n_operands(what, rng)
            near, far = [(max(0, len(tensors) - 4), len(tensors)), (0, given), (0, len(tensors))][
                int(rng.choice(3, p=[0.45, 0.2, 0.35]))
            ]
            operands = tuple(int(i) for i in rng.integers(near, far, n))
            add((what, operands, parameter))
        functions = tuple(_function(instructions, tensors, rng) for _ in range(_one_or_two(rng)))
    return Recipe(floatx, tuple(instructions), functions, _calls(len(functions), rng))


def _one_or_two(rng: np.random.Generator) -> int:
    return 1 if rng.random() < 0.8 else 2


def _function(
    instructions: Sequence[Instruction], tensors: Sequence[Any], rng: np.random.Generator
) -> Made:
    """Draw what a function computes: mostly what was made last."""
    n = len(tensors)
    outputs = {int(n - 1 - min(rng.geometric(0.2) - 1, n - 1)) for _ in range(rng.integers(1, 6))}
    updates = []
    for v, (what, _, _) in enumerate(instructions):
        if what != "variable" or rng.random() < 0.4:
            continue
        fitting = [i for i, x in enumerate(tensors) if _is_new_value(x, tensors[v]) and i != v]
        if fitting:
            updates.append((v, fitting[int(rng.integers(len(fitting)))]))
    optimizer = None
    if not updates and rng.random() < 0.5:
        loss = int(rng.integers(n))
        optimizer = (("sgd", "momentum", "adam", "rmsprop")[int(rng.integers(4))], loss)
    rewrites = () if rng.random() < 0.25 else None
    return Made(tuple(sorted(outputs)), tuple(updates), optimizer, rewrites)


def _is_new_value(x: Any, variable: Any) -> bool:
    return x.shape == variable.shape and x.dtype == variable.dtype


def _calls(n_functions: int, rng: np.random.Generator) -> tuple[Call, ...]:
    rhythm = RHYTHMS[int(rng.integers(len(RHYTHMS)))]
    sizes = dict(zip("ab", (int(n) for n in rng.choice([0, 1, 1, 2, 3, 5], 2)), strict=True))
    layouts = ["plain"] * 3 + list(LAYOUTS)
    same_phase = rng.random() < 0.6
    one_function = n_functions == 1 or rng.random() < 0.3
    return tuple(
        Call(
            0 if one_function else int(rng.integers(n_functions)),
            sizes[letter],
            int(rng.integers(1000)),
            layouts[int(rng.integers(len(layouts)))],
            bool(rng.random() < 0.3),
            1 if same_phase else int(rng.integers(2)),
            bool(rng.random() < 0.3),
        )
        for letter in rhythm
    )


# --- making ---------------------------------------------------------------------------------------


class _quiet:
    """A fresh session with this float type, in which nothing is printed."""

    def __init__(self, floatx: str) -> None:
        self.floatx = floatx

    def __enter__(self) -> None:
        self._before = K.floatx()
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        # A program that cannot be written, or fails, says so in a warning: that is a difference.
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", ".*its NumPy program.*")
        K.clear_session()
        K.set_floatx(self.floatx)

    def __exit__(self, *error: Any) -> None:
        K.set_floatx(self._before)
        self._warnings.__exit__(*error)


def _tensor(instruction: Instruction, tensors: Sequence[Any]) -> Any:
    what, operands, parameter = instruction
    if what == "placeholder":
        shape, dtype = parameter
        return K.placeholder(shape, dtype=dtype)
    if what in ("variable", "constant"):
        shape, dtype, seed = parameter
        numbers = np.random.default_rng(seed).normal(size=shape) * 2
        return {"variable": K.variable, "constant": K.constant}[what](
            np.asarray(numbers, dtype), dtype=dtype
        )
    return MAKERS[what](parameter, *[tensors[i] for i in operands])


OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "sgd": lambda: SGD(lr=0.01),
    "momentum": lambda: SGD(lr=0.01, momentum=0.5),
    "adam": lambda: Adam(lr=0.01),
    "rmsprop": lambda: RMSprop(lr=0.01),
}


class World:
    """The functions of a recipe, with variables of their own."""

    def __init__(self, given: Recipe, verify: bool = False) -> None:
        K.clear_session()
        tensors: list[Any] = []
        for instruction in given.instructions:
            tensors.append(_tensor(instruction, tensors))
        whats = [what for what, _, _ in given.instructions]
        self.inputs = [x for what, x in zip(whats, tensors, strict=True) if what == "placeholder"]
        self.variables = [x for what, x in zip(whats, tensors, strict=True) if what == "variable"]
        self.functions = [self._function(one, tensors, verify) for one in given.functions]

    def _function(self, made: Made, tensors: Sequence[Any], verify: bool) -> Any:
        updates = [(tensors[v], tensors[new]) for v, new in made.updates]
        if made.optimizer is not None:
            name, place = made.optimizer
            loss = K.mean(K.square(K.cast(tensors[place], config.floatx)))
            weights = [v for v in self.variables if v.dtype == config.floatx]
            pairs = zip(K.gradients(loss, weights), weights, strict=True) if weights else ()
            weights = [v for g, v in pairs if g is not None]
            if weights:
                optimizer = OPTIMIZERS[name]()
                updates = optimizer.get_updates(loss=loss, params=weights)
                self.variables += [v for v in optimizer.weights if v not in self.variables]
        return K.function(
            [*self.inputs, K.learning_phase()],
            [tensors[i] for i in made.outputs],
            updates,
            rewrites=made.rewrites,
            **({"verify": True} if verify else {}),
        )

    def arrays(self, call: Call) -> list[Any]:
        """Return what is fed, in plain arrays."""
        rng = np.random.default_rng(call.seed)
        return [_numbers(x, call, rng) for x in self.inputs]


def _numbers(x: Any, call: Call, rng: np.random.Generator) -> np.ndarray:
    shape = tuple(call.size if n is None else n for n in x.shape)
    drawn = np.asarray(rng.normal(size=shape) * 2)
    if not x.dtype.startswith("f"):
        return np.asarray(np.abs(drawn).astype("int64") % 3).astype(x.dtype)
    array = drawn.astype(x.dtype)
    if call.specials and array.size:
        tiny = np.finfo(x.dtype).smallest_subnormal * 3
        specials = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, tiny, 1.0], x.dtype)
        places = rng.integers(0, array.size, 5)
        array.reshape(-1)[places] = rng.choice(specials, 5)
    return array


# How a caller may hold an array; each returns one with the same numbers.
def _strided(array: np.ndarray) -> np.ndarray:
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array


def _backwards(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array[::-1])[::-1] if array.ndim else array


def _read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


def _mapped(array: np.ndarray) -> np.ndarray:
    if not array.size:
        return array
    with tempfile.TemporaryFile() as file:
        file.write(array.tobytes())
        file.flush()
        return np.memmap(file, array.dtype, "r", shape=array.shape)


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "fortran": lambda array: np.array(array, order="F"),
    "strided": _strided,
    "backwards": _backwards,
    "read only": _read_only,
    "mapped": _mapped,
    "list": lambda array: array.tolist() if array.size else array,
    "swapped": lambda array: array.astype(array.dtype.newbyteorder()),
    "aliased": lambda array: array,
}


def _laid(arrays: Sequence[np.ndarray], layout: str) -> list[Any]:
    if layout == "plain":
        return [array.copy() for array in arrays]
    laid = [LAYOUTS[layout](array) for array in arrays]
    if layout == "aliased":  # those that look alike are one
        first: dict[Any, Any] = {}
        laid = [first.setdefault((x.shape, x.dtype), x.copy()) for x in arrays]
    return laid


# --- comparing ------------------------------------------------------------------------------------


def bits(value: Any) -> tuple[Any, ...]:
    """Return type, shape and bytes; what is not a number has no bits of its own."""
    array = np.array(value)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.dtype.str, array.shape, array.tobytes()


def _quietly(stage: Any, event: Any) -> None:
    """Watch without looking: everything is stepped."""


def _called(function: Any, arrays: Sequence[Any], watched: bool) -> Any:
    """Return the outputs, or the kind of error."""
    try:
        if not watched:
            return function(arrays)
        with checked_loops(), observing(_quietly):
            return function(arrays)
    except Exception as error:
        return error


def difference(given: Recipe, verify: bool = False) -> str | None:
    """Return what differs between programs and events, or changes that must not; None if nothing.

    With `verify` the programs are verified ones: what they raise is a difference, too.

    Raises
    ------
    Exception
        The recipe cannot be made.
    """
    with _quiet(given.floatx):
        run = World(given, verify)
        stepped = World(given)
        kept: list[tuple[np.ndarray, bytes]] = []
        for number, call in enumerate(given.calls):
            plain = run.arrays(call)
            fed = _laid(plain, call.layout)
            if call.layout == "aliased":
                plain = [np.array(x) for x in fed]
            if call.layout == "list":  # the numbers of a list are rounded where they are fed
                plain = list(fed)
            before = [bits(x) for x in fed]
            wanted = _called(stepped.functions[call.function], [*plain, call.phase], True)
            got = _called(run.functions[call.function], [*fed, call.phase], False)
            told = _compared(got, wanted) or _variables(run, stepped)
            if told is None and [bits(x) for x in fed] != before:
                told = "an input was changed"
            if told is None and any(array.tobytes() != was for array, was in kept):
                told = "an output of an earlier call was changed"
            if told is not None:
                return f"call {number}: {told}"
            if isinstance(got, Exception):
                continue
            for output in got:
                if isinstance(output, np.ndarray):
                    if call.overwrites and output.flags.writeable:
                        output.fill(77)
                    kept.append((output, output.tobytes()))
    return None


def _compared(got: Any, wanted: Any) -> str | None:
    if isinstance(wanted, VerificationError):  # a loop is computed wrongly, on both roads
        return repr(wanted)
    if isinstance(got, Exception) or isinstance(wanted, Exception):
        return None if type(got) is type(wanted) else f"{got!r} for {wanted!r}"
    for number, (one, other) in enumerate(zip(got, wanted, strict=True)):
        if bits(one) != bits(other) or type(one) is not type(other):
            return f"output {number} is {one!r} for {other!r}"
    return None


def _variables(run: World, stepped: World) -> str | None:
    for number, (v, w) in enumerate(zip(run.variables, stepped.variables, strict=True)):
        if bits(v.get_value()) != bits(w.get_value()):
            return f"variable {number} is {v.get_value()!r} for {w.get_value()!r}"
    return None


# --- shrinking ------------------------------------------------------------------------------------


def shrunk(given: Recipe, fails: Callable[[Recipe], bool] | None = None) -> Recipe:
    """Return a recipe that fails as well and from which nothing more can be left out."""
    fails = _differs if fails is None else fails
    while True:
        smaller = next((one for one in _simpler(given) if fails(one)), None)
        if smaller is None:
            return given
        given = smaller


def _differs(given: Recipe) -> bool:
    try:
        return difference(given) is not None
    except Exception:  # what is left cannot be made
        return False


def _simpler(given: Recipe) -> Iterator[Recipe]:
    """Yield recipes with a little less, the largest cuts first."""
    replace = dataclasses.replace
    for place, call in enumerate(given.calls):
        if len(given.calls) > 1:
            yield replace(given, calls=(*given.calls[:place], *given.calls[place + 1 :]))
        plain = Call(0, call.size, call.seed)
        for name in ("layout", "specials", "overwrites", "phase", "function"):
            if getattr(call, name) != getattr(plain, name):
                other = replace(call, **{name: getattr(plain, name)})
                yield replace(given, calls=(*given.calls[:place], other, *given.calls[place + 1 :]))
    if len(given.functions) > 1 and all(call.function == 0 for call in given.calls):
        yield replace(given, functions=given.functions[:1])
    for place, made in enumerate(given.functions):
        for other in _fewer(made):
            functions = (*given.functions[:place], other, *given.functions[place + 1 :])
            yield replace(given, functions=functions)
    for place in reversed(range(len(given.instructions))):
        yield from _without(given, place)


def _fewer(made: Made) -> Iterator[Made]:
    replace = dataclasses.replace
    for i in range(len(made.outputs)):
        yield replace(made, outputs=made.outputs[:i] + made.outputs[i + 1 :])
    for i in range(len(made.updates)):
        yield replace(made, updates=made.updates[:i] + made.updates[i + 1 :])
    if made.optimizer is not None:
        yield replace(made, optimizer=None)
    if made.rewrites is not None:
        yield replace(made, rewrites=None)


def _without(given: Recipe, place: int) -> Iterator[Recipe]:
    """Yield the recipe without an instruction; its operands stand for it."""
    for stand_in in dict.fromkeys((*given.instructions[place][1], -1)):

        def new(i: int, stand_in: int = stand_in) -> int:
            i = stand_in if i == place else i
            return i - 1 if i > place else i

        rest = [x for i, x in enumerate(given.instructions) if i != place]
        instructions = [(what, tuple(map(new, xs)), parameter) for what, xs, parameter in rest]
        functions = [
            dataclasses.replace(
                made,
                outputs=tuple(map(new, made.outputs)),
                updates=tuple((new(v), new(x)) for v, x in made.updates),
                optimizer=made.optimizer and (made.optimizer[0], new(made.optimizer[1])),
            )
            for made in given.functions
        ]
        used = itertools.chain(*(xs for _, xs, _ in instructions), *(f.outputs for f in functions))
        also = itertools.chain(*(pair for f in functions for pair in f.updates))
        losses = (f.optimizer[1] for f in functions if f.optimizer)
        if -1 not in (*used, *also, *losses):
            yield dataclasses.replace(
                given, instructions=tuple(instructions), functions=tuple(functions)
            )
