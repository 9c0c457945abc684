"""The lowering of ops whose `perform` is written for NumPy only, one function for each op.

Each function takes the op and its arrays or tracers; `lowering.py` finds it by the op's class. Its
results equal those of `perform`, up to rounding. Tests compare both for every op.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from kerascope.backend.engines.lowering import (
    RULES,
    CannotLower,
    by_callback,
    is_known,
    require,
    require_one_device,
    requirements,
    rule,
    run,
    transposed,
)
from kerascope.backend.graph import Tensor
from kerascope.backend.ops import broadcasting as b
from kerascope.backend.ops import (
    control,
    ctc,
    fourier,
    image,
    indexing,
    linalg,
    loops,
    nn,
    places,
    scan,
    scan_graph,
    shaping,
    while_loop,
)
from kerascope.backend.ops import convolution as conv
from kerascope.backend.ops import decompositions as dec
from kerascope.backend.ops import elementwise as e
from kerascope.backend.ops import mathematics as m
from kerascope.backend.ops import pooling as pool
from kerascope.backend.ops import random as rand
from kerascope.backend.ops import reduction as red
from kerascope.backend.ops.windows import zeros_around

SMALL = 64  # constants with at most this many elements are part of the program's text

# --- rules of one expression ----------------------------------------------------------------------


RULES |= {
    shaping.Full: lambda op, shape: jnp.full(tuple(map(int, shape)), op.value, op.dtype),
    b.Sum: lambda op, x: x.sum(axis=op.axes, keepdims=op.keepdims, dtype=x.dtype),
    red.CumulativeSum: lambda op, x: lax.cumsum(x, op.axis % x.ndim, reverse=op.from_end),
    red.ArgExtreme: lambda op, x: getattr(jnp, op.of_numpy.__name__)(x, op.axis).astype("int64"),
    m.ViewAs: lambda op, x: lax.bitcast_convert_type(x, op.dtype),
    e.Erf: lambda op, x: lax.erf(x),
    m.Erfc: lambda op, x: lax.erfc(x),
    m.Erfinv: lambda op, x: lax.erf_inv(x),
    m.BesselI0: lambda op, x: jnp.i0(x),
    nn.Sigmoid: lambda op, x: jax.nn.sigmoid(x),
    linalg.TensorDot: lambda op, x, y: jnp.tensordot(x, y, (op.x_axes, op.y_axes)),
    linalg.Dot: lambda op, x, y: jnp.dot(x, y),
    linalg.Einsum: lambda op, *xs: jnp.einsum(op.subscripts, *xs),
    nn.Softmax: lambda op, x: jax.nn.softmax(x, op.axis),
    nn.LogSoftmax: lambda op, x: jax.nn.log_softmax(x, op.axis),
    red.LogSumExp: lambda op, x: jax.nn.logsumexp(x, op.axes, keepdims=op.keepdims),
    dec.Inverse: lambda op, x: _finite(jnp.linalg.inv(_wide(x)), x.dtype),
    dec.Solve: lambda op, a, c: _finite(jnp.linalg.solve(_wide(a), _wide(c)), c.dtype),
    while_loop.GivenGradient: lambda op, y, *others: y,
    places.TakePlaces: lambda op, x, indices: x[_where(indices, x.shape)],
    pool.MaxPool: lambda op, x: _greatest(op, x),
    pool.PutAtMaximum: lambda op, g, x, y: jax.vjp(partial(_greatest, op), x)[1](g)[0],
    conv.Convolve: lambda op, x, kernel: _convolved(op, x, kernel),
    image.Pad: lambda op, x: jnp.pad(x, op.padding),
    conv.Patches: lambda op, x: jnp.stack([x[cells] for _, cells in op.places(x.shape)], -2),
    ctc.CtcCost: lambda op, *xs: _ctc(*xs),
}


# --- rules: filling, summing ----------------------------------------------------------------------


@rule(b.FullLike)
def _(op: Any, x: Any) -> Any:
    make = np.full if math.prod(x.shape) <= SMALL else jnp.full
    return make(x.shape, op.value, op.dtype)


@rule(b.Cast)
def _(op: Any, x: Any) -> Any:
    kind = np.dtype(op.dtype)
    if kind.kind in "iu" and x.dtype.kind == "f":  # others become what the processor makes of them
        require((x > np.iinfo(kind).min - 1.0) & (x < np.iinfo(kind).max + 1.0))
    return x.astype(kind)


@rule(b.SumTo)
def _(op: Any, x: Any, like: Any) -> Any:
    axes = b.stretched_axes(x.shape, like.shape)
    return x if x.shape == like.shape else x.sum(axis=axes, dtype=x.dtype).reshape(like.shape)


_REDUCTIONS = {red.Prod: "prod", red.Max: "max", red.Min: "min", red.Any: "any", red.All: "all"}


@rule(*_REDUCTIONS)
def _(op: Any, x: Any) -> Any:
    function = getattr(jnp, _REDUCTIONS[type(op)])
    return function(x, axis=op.axes, keepdims=op.keepdims).astype(op.infer_dtype(x))


@rule(red.ProductOfOthers)
def _(op: Any, x: Any) -> Any:
    n = x.ndim - len(op.axes)
    last = jnp.moveaxis(x, op.axes, tuple(range(n, x.ndim)))
    rows = last.reshape(*last.shape[:n], -1)
    one = jnp.ones_like(rows[..., :1])
    before = jnp.concatenate([one, jnp.cumprod(rows[..., :-1], -1)], -1)
    after = jnp.concatenate([jnp.cumprod(rows[..., :0:-1], -1)[..., ::-1], one], -1)
    return jnp.moveaxis((before * after).reshape(last.shape), tuple(range(n, x.ndim)), op.axes)


# --- rules: other functions -----------------------------------------------------------------------


@rule(e.FloorDivide)
def _(op: Any, x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        require(y != 0)  # NumPy returns 0
    return jnp.floor_divide(x, y)


@rule(fourier.Fourier)
def _(op: Any, real: Any, imaginary: Any) -> Any:
    function = jnp.fft.ifftn if op.inverse else jnp.fft.fftn
    kind = "complex128" if real.dtype == np.float64 else "complex64"
    x = (real + 1j * imaginary).astype(kind)
    y = function(x, axes=op.axes, norm="forward" if op.inverse else "backward")
    return y.real.astype(real.dtype), y.imag.astype(real.dtype)


# --- rules: decompositions ------------------------------------------------------------------------


def _wide(x: Any) -> Any:
    return x.astype("float32") if x.dtype == np.float16 else x


def _finite(x: Any, kind: Any) -> Any:
    """Cast `x` to a dtype. Require finite values, because NumPy may raise where XLA gives NaN."""
    require(jnp.isfinite(x))
    return x.astype(kind)


@rule(dec.Cholesky)
def _(op: Any, x: Any) -> Any:
    return _finite(jnp.linalg.cholesky(_wide(x), symmetrize_input=False), x.dtype)


@rule(dec.LeastSquares)
def _(op: Any, a: Any, c: Any) -> Any:
    return _finite(jnp.linalg.lstsq(_wide(a), _wide(c), op.rcond)[0], c.dtype)


@rule(dec.Eigh)
def _(op: Any, x: Any) -> Any:
    found = jnp.linalg.eigh(_wide(x), symmetrize_input=False)
    return tuple(_finite(y, x.dtype) for y in found)


@rule(dec.Svd)
def _(op: Any, x: Any) -> Any:
    found = jnp.linalg.svd(_wide(x), full_matrices=op.full_matrices)
    return tuple(_finite(y, x.dtype) for y in found)


@rule(dec.LogDeterminant)
def _(op: Any, x: Any) -> Any:
    return tuple(y.astype(x.dtype) for y in jnp.linalg.slogdet(_wide(x)))


@rule(dec.Qr)
def _(op: Any, x: Any) -> Any:
    mode = "complete" if op.mode == "complete" else "reduced"
    return tuple(y.astype(x.dtype) for y in jnp.linalg.qr(_wide(x), mode))


@rule(dec.LuFactor)
def _(op: Any, x: Any) -> Any:
    lu, pivots, _ = lax.linalg.lu(x)
    return lu, pivots.astype("int32")


# --- rules: choosing ------------------------------------------------------------------------------


@rule(control.Switch)
def _(op: Any, condition: Any, x: Any, y: Any) -> Any:
    if is_known(condition):
        return x if condition else y
    if x is None or y is None or x.shape != y.shape:
        raise CannotLower("A branch of a switch is missing, or the branches differ in shape.")
    return jnp.where(condition, x, y)


@rule(control.PrintTensor)
def _(op: Any, x: Any) -> Any:
    require_one_device(op)
    jax.debug.callback(lambda y: op.perform(np.asarray(y)), x)
    return x


@rule(indexing.Gather)
def _(op: Any, x: Any, indices: Any) -> Any:
    require((indices >= 0) & (indices < x.shape[0]))
    return jnp.asarray(x).at[indices].get(mode="clip")


@rule(indexing.AddRows)
def _(op: Any, g: Any, indices: Any, like: Any) -> Any:
    return jnp.zeros(like.shape, g.dtype).at[indices].add(g)


@rule(indexing.PutItem)
def _(op: Any, x: Any, like: Any) -> Any:
    return jnp.zeros(like.shape, x.dtype).at[indexing.numpy_index(op.index)].set(x)


def _inside(start: Any, sizes: Sequence[int], whole: Sequence[int]) -> list[Any]:
    """Return the start of a slice as a list, and require that the slice is inside the array.

    XLA would shift a slice that is not inside.
    """
    for first, count, size in zip(start, sizes, whole, strict=True):
        require((first >= 0) & (first <= size - count))
    return list(start)


@rule(indexing.GetSlice)
def _(op: Any, x: Any, start: Any, size: Any) -> Any:
    if not is_known(size) or (np.any(np.asarray(size) == -1) and not is_known(start)):
        raise CannotLower("The size of a slice depends on values.")
    sizes = [int(n if n != -1 else x.shape[k] - start[k]) for k, n in enumerate(size)]
    return lax.dynamic_slice(x, _inside(start, sizes, x.shape), sizes)


@rule(indexing.Arange, places.PlacesWithPadding)
def _(op: Any, *xs: Any) -> Any:
    raise CannotLower("A size depends on values.")


@rule(indexing.PutSlice)
def _(op: Any, x: Any, start: Any, size: Any, like: Any) -> Any:
    whole = jnp.zeros(like.shape, x.dtype)
    return lax.dynamic_update_slice(whole, x, _inside(start, x.shape, like.shape))


def _picked(op: Any, x: Any, where: Any) -> Any:
    return jnp.take_along_axis(x, jnp.expand_dims(where, op.axis), op.axis).squeeze(op.axis)


@rule(nn.Pick)
def _(op: Any, x: Any, where: Any) -> Any:
    require((where >= 0) & (where < x.shape[op.axis]))
    return _picked(op, x, where)


@rule(nn.PutPicked)
def _(op: Any, g: Any, where: Any, like: Any) -> Any:
    require((where >= 0) & (where < like.shape[op.axis]))
    return transposed(lambda x: _picked(op, x, where), like.shape, g)


@rule(places.ArgSort)
def _(op: Any, x: Any) -> Any:
    return jnp.argsort(x, op.axis, stable=True, descending=op.descending).astype("int32")


def _along(op: Any, indices: Any, size: Any) -> Any:
    require((indices >= -size) & (indices < size))
    return jnp.where(indices < 0, indices + size, indices)


@rule(places.TakeAlongAxis)
def _(op: Any, x: Any, indices: Any) -> Any:
    return jnp.take_along_axis(x, _along(op, indices, x.shape[op.axis]), op.axis)


@rule(places.AddAlongAxis)
def _(op: Any, x: Any, indices: Any, like: Any) -> Any:
    where = list(np.indices(indices.shape, sparse=True))
    where[op.axis] = _along(op, indices, like.shape[op.axis])
    return jnp.zeros(like.shape, x.dtype).at[tuple(where)].add(x)


def _where(indices: Any, sizes: Any) -> Any:
    first = np.array(sizes[: indices.shape[-1]])
    require((-first <= indices) & (indices < first))
    return tuple(jnp.moveaxis(indices, -1, 0))


@rule(places.AddAtPlaces)
def _(op: Any, x: Any, indices: Any, like: Any) -> Any:
    return jnp.zeros(like.shape, x.dtype).at[_where(indices, like.shape)].add(x)


@rule(places.Scatter)
def _(op: Any, x: Any, indices: Any, shape: Any) -> Any:
    sizes = tuple(map(int, shape))
    return jnp.zeros(sizes, x.dtype).at[_where(indices, sizes)].add(x)


@rule(places.UpdatePlaces)
def _(op: Any, x: Any, indices: Any, updates: Any) -> Any:
    kind = {"mul": "multiply"}.get(op.reduction, op.reduction)
    return getattr(x.at[_where(indices, x.shape)], kind)(updates.astype(x.dtype))


@rule(places.UpdateSlice)
def _(op: Any, x: Any, start: Any, updates: Any) -> Any:
    start = _inside(start, updates.shape, x.shape)
    return lax.dynamic_update_slice(x, updates.astype(x.dtype), start)


@rule(places.SliceLike)
def _(op: Any, x: Any, start: Any, like: Any) -> Any:
    return lax.dynamic_slice(x, _inside(start, like.shape, x.shape), like.shape)


@rule(places.Histogram)
def _(op: Any, x: Any, borders: Any) -> Any:
    inside = (x >= borders[0]) & (x <= borders[-1])
    bins = borders.shape[0] - 1
    where = jnp.clip(jnp.searchsorted(borders, x, "right") - 1, 0, bins - 1)
    return jnp.zeros(bins, x.dtype).at[where.reshape(-1)].add(inside.reshape(-1).astype(x.dtype))


@rule(places.Nonzero, places.Bincount)
def _(op: Any, *xs: Any) -> Any:
    raise CannotLower("A size depends on values.")


@rule(places.Unique)
def _(op: Any, x: Any) -> Any:
    if op.size is None:
        raise CannotLower("A size depends on values.")
    wanted = dict.fromkeys(op.further, True)
    found = jnp.unique(x, axis=op.axis, size=op.size, fill_value=op.fill_value, **wanted)
    if not op.further:
        return found
    shape = x.shape if op.axis is None else (-1,)
    others = [
        y.reshape(shape) if name == "return_inverse" else y
        for name, y in zip(op.further, found[1:], strict=True)
    ]
    return (found[0], *(y.astype("int32") for y in others))


# --- rules: windows -------------------------------------------------------------------------------


def _folded(op: Any, x: Any, start: Any, fold: Any) -> Any:
    rest = x.ndim - op.axis - len(op.pool_size)

    def full(values, one):
        return (one,) * op.axis + tuple(values) + (one,) * rest

    facts = zip(x.shape[op.axis :], op.pool_size, op.strides, strict=False)
    pads = [zeros_around(n, k, op.padding, s, 1) for n, k, s in facts]
    sizes, steps = full(op.pool_size, 1), full(op.strides, 1)
    return lax.reduce_window(x, np.array(start, x.dtype), fold, sizes, steps, full(pads, (0, 0)))


def _greatest(op: Any, x: Any) -> Any:
    return _folded(op, x, -np.inf, lax.max)


@rule(pool.TakeAtMaximum)
def _(op: Any, g: Any, x: Any, y: Any) -> Any:
    put = pool.PutAtMaximum(**op.parameters)
    return transposed(lambda h: RULES[pool.PutAtMaximum](put, h, x, y), y.shape, g)


@rule(pool.AveragePool)
def _(op: Any, x: Any) -> Any:
    counts = _folded(op, np.ones(x.shape, x.dtype), 0.0, lax.add)
    return _folded(op, x, 0.0, lax.add) / counts


@rule(pool.SpreadAverage)
def _(op: Any, g: Any, like: Any) -> Any:
    return transposed(lambda x: RULES[pool.AveragePool](op, x), like.shape, g)


def _convolved(op: Any, x: Any, kernel: Any) -> Any:
    facts = zip(x.shape[1:-1], kernel.shape, op.strides, op.dilation_rate, strict=False)
    pads = [zeros_around(n, k, op.padding, s, d) for n, k, s, d in facts]
    letters = "DHW"[3 - op.axes :]
    return lax.conv_general_dilated(
        x,
        kernel,
        op.strides,
        pads,
        rhs_dilation=op.dilation_rate,
        feature_group_count=op.groups,
        dimension_numbers=(f"N{letters}C", f"{letters}IO", f"N{letters}C"),
    )


@rule(conv.ConvolveBack)
def _(op: Any, g: Any, kernel: Any, sizes: Any) -> Any:
    return transposed(lambda x: _convolved(op, x, kernel), sizes, g)


@rule(conv.ConvolutionKernelGradient)
def _(op: Any, x: Any, g: Any, sizes: Any) -> Any:
    return transposed(lambda k: _convolved(op, x, k), sizes, g)


@rule(image.Interpolate)
def _(op: Any, x: Any) -> Any:
    out = jnp.zeros(
        (*x.shape[: op.axis], x.shape[op.axis] * op.factor, *x.shape[op.axis + 1 :]), x.dtype
    )
    before = (slice(None),) * op.axis
    for weight, there, here in image.shares(x.shape[op.axis], op.factor):
        out = out.at[(*before, there)].add(x[(*before, here)] * x.dtype.type(weight))
    return out


@rule(image.SumInterpolated)
def _(op: Any, g: Any) -> Any:
    shape = op.infer_shape(g)
    forward = image.Interpolate(op.factor, op.axis)
    return transposed(lambda x: RULES[image.Interpolate](forward, x), shape, g)


@rule(conv.SumPatches)
def _(op: Any, g: Any, like: Any) -> Any:
    return transposed(lambda x: RULES[conv.Patches](op, x), like.shape, g)


# --- rules: random numbers, the same as NumPy's generator gives -----------------------------------
#
# A random op is a pure function of a seed and a count, by the counter-based generator Philox 4x64:
# block n of its numbers is computed from (n, 0, 0, count) alone, all of them at once. What is
# uniform comes out bit for bit; normal numbers are made by rejection, one after the other, so NumPy
# draws them while the program waits.

_MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_STEPS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def _product(a: int, x: Any) -> tuple[Any, Any]:
    """Return the upper and the lower 64 bits of the product of two 64-bit numbers."""
    a_low, a_high = np.uint64(a & 0xFFFFFFFF), np.uint64(a >> 32)
    x_low, x_high = x & _LOW, x >> _HALF
    low, middle, other = a_low * x_low, a_high * x_low, a_low * x_high
    carried = (low >> _HALF) + (middle & _LOW) + (other & _LOW)
    high = a_high * x_high + (middle >> _HALF) + (other >> _HALF) + (carried >> _HALF)
    return high, np.uint64(a) * x


def philox(seed: int, draws: Any, n: int) -> Any:
    """Return the first `n` 64-bit numbers of `np.random.Philox` for a seed and a count of draws."""
    blocks = -(-n // 4)
    counter = [jnp.arange(1, blocks + 1, dtype="uint64"), *(jnp.zeros(blocks, "uint64"),) * 2]
    counter.append(jnp.full(blocks, jnp.asarray(draws).astype("uint64")))
    keys = [seed & (2**64 - 1), seed >> 64]
    for _ in range(10):
        high_0, low_0 = _product(_MULTIPLIERS[0], counter[0])
        high_1, low_1 = _product(_MULTIPLIERS[1], counter[2])
        first, second = (np.uint64(key) for key in keys)
        counter = [high_1 ^ counter[1] ^ first, low_1, high_0 ^ counter[3] ^ second, low_0]
        keys = [(key + step) % 2**64 for key, step in zip(keys, _STEPS, strict=True)]
    return jnp.stack(counter, -1).reshape(-1)[:n]


def _uniform(seed: int, draws: Any, shape: tuple[int, ...], dtype: str) -> Any:
    n = math.prod(shape)
    if dtype == "float64":
        words = philox(seed, draws, n) >> np.uint64(11)
        return (words.astype("float64") * 2.0**-53).reshape(shape)
    words = philox(seed, draws, -(-n // 2))
    halves = jnp.stack([words & _LOW, words >> _HALF], -1).reshape(-1)[:n].astype("uint32")
    return ((halves >> np.uint32(8)).astype("float32") * np.float32(2**-24)).reshape(shape)


@rule(rand.RandomUniform)
def _(op: Any, shape: Any, draws: Any) -> Any:
    if op.dtype == "float16":
        return _drawn_by_numpy(op, shape, draws)
    return _uniform(op.seed, draws, tuple(map(int, shape)), op.dtype) * (op.high - op.low) + op.low


@rule(rand.RandomBinomial)
def _(op: Any, shape: Any, draws: Any) -> Any:
    return (_uniform(op.seed, draws, tuple(map(int, shape)), "float32") < op.p).astype(op.dtype)


@rule(rand.RandomNormal, rand.TruncatedNormal)
def _drawn_by_numpy(op: Any, shape: Any, draws: Any) -> Any:
    wanted = jax.ShapeDtypeStruct(tuple(map(int, shape)), op.dtype)
    return by_callback(op, lambda n: [op.perform(shape, n)], [wanted], draws)[0]


@rule(scan_graph.StepDraws)
def _(op: Any, draws: Any, step: Any) -> Any:
    mixed = jnp.asarray(draws, "uint64") * np.uint64(scan_graph.FACTOR)
    return ((mixed + jnp.asarray(step, "uint64") + 1) & np.uint64(2**63 - 1)).astype("int64")


# --- rules: loops ---------------------------------------------------------------------------------


@rule(loops.HoldLast)
def _(op: Any, x: Any, mask: Any) -> Any:
    steps = jnp.where(mask, jnp.arange(mask.shape[0])[:, None], -1)
    last = lax.cummax(steps, 0)
    held = x[jnp.maximum(last, 0), jnp.arange(x.shape[1])]
    return jnp.where(loops.spread(last < 0, x.ndim), 0, held)


@rule(loops.SumHeld)
def _(op: Any, g: Any, mask: Any) -> Any:
    return transposed(lambda x: RULES[loops.HoldLast](op, x, mask), g.shape, g)


def _inner(graph: Any, arrays: Sequence[Any]) -> tuple[list[Any], Any]:
    """Return the results of an `InnerGraph`, and whether its ops accept all values."""
    with requirements() as all_met:
        values = run(graph.schedule, arrays)
        is_met = all_met()
    results = [jnp.asarray(values[slot]) for slot in graph.schedule.results]
    return results, jnp.bool_(True) if is_met is None else is_met


def _as_tensors(arrays: Sequence[Any]) -> list[Tensor]:
    """Return tensors with the shapes and dtypes of arrays, as arguments of `InnerGraph.fitted`."""
    return [Tensor(x.shape, str(x.dtype), "x") for x in arrays]


@rule(scan.Scan)
def _(op: Any, *xs: Any) -> Any:
    inner = op.inner.fitted(_as_tensors(xs))
    n_sequences, n_outputs = len(inner.sequences), len(inner.results.outputs)
    n_states = len(inner.states)
    if xs[0].shape[0] < op.least_steps:
        raise CannotLower("A loop has too few steps.")
    sequences = [jnp.asarray(x) for x in xs[:n_sequences]]
    states = [jnp.asarray(x) for x in xs[n_sequences : n_sequences + n_states]]
    others = xs[n_sequences + n_states :]

    def step(states: Any, slices: Any) -> Any:
        """Return a step's outputs, new states, terms, and whether its ops accept all values."""
        got, is_met = _inner(inner, [*slices, *states, *others])
        new, terms = got[n_outputs : n_outputs + n_states], got[n_outputs + n_states :]
        return got[:n_outputs], new, terms, is_met

    def body(carry: Any, slices: Any) -> Any:
        states, sums, was_met = carry
        outputs, new, terms, is_met = step(states, slices)
        sums = [total + term for total, term in zip(sums, terms, strict=True)]
        return (new, sums, was_met & is_met), (outputs, states)

    slices = [jax.ShapeDtypeStruct(x.shape[1:], x.dtype) for x in sequences]
    terms = jax.eval_shape(lambda s, x: step(s, x)[2], states, slices)
    begin = (states, [jnp.zeros(t.shape, t.dtype) for t in terms], jnp.bool_(True))
    (last, sums, is_met), (outputs, history) = lax.scan(
        body, begin, sequences, reverse=op.backwards
    )
    require(is_met)
    got = [*outputs, *history, *last, *sums]
    return got[0] if len(got) == 1 else tuple(got)


@rule(while_loop.While)
def _(op: Any, *xs: Any) -> Any:
    n = op.n_outputs
    first = n + len(op.condition.others)
    condition = op.condition.fitted(_as_tensors(xs[:first]))
    inner = op.body.fitted(_as_tensors([*xs[:n], *xs[first:]]))
    most = np.iinfo("int64").max if op.most_steps is None else op.most_steps

    def is_next(states: Any) -> tuple[Any, Any]:
        """Return a pair: whether the loop has another step, whether its ops accept all values."""
        (truth,), is_met = _inner(condition, [*states, *xs[n:first]])
        return truth, is_met

    def body(carry: Any) -> Any:
        step, _, _, states = carry
        new, is_met = _inner(inner, [*states, *xs[first:]])
        truth, was_met = is_next(new)
        return step + 1, truth, is_met & was_met, new

    states = [jnp.asarray(x) for x in xs[:n]]
    begin = (jnp.int64(0), *is_next(states), states)
    _, _, is_met, states = lax.while_loop(
        lambda carry: carry[1] & carry[2] & (carry[0] < most), body, begin
    )
    require(is_met)
    return tuple(states) if n > 1 else states[0]


# --- rules: CTC -----------------------------------------------------------------------------------


def _ctc(log_probabilities: Any, labels: Any, steps: Any, lengths: Any) -> Any:
    """Return the CTC cost of each sample, computed as in `ops/ctc.py`, with `lax.scan`."""
    batch, time, classes = log_probabilities.shape
    blank, n = classes - 1, 2 * labels.shape[1] + 1
    in_use = jnp.arange(labels.shape[1]) < lengths[:, None]
    require((steps >= 0) & (steps <= time))
    require((lengths >= 0) & (lengths <= labels.shape[1]))
    require(~in_use | ((labels >= 0) & (labels < blank)))
    extended = jnp.full((batch, n), blank).at[:, 1::2].set(jnp.where(in_use, labels, blank))
    emissions = jnp.take_along_axis(log_probabilities, extended[:, None], 2).swapaxes(0, 1)
    kind, none = log_probabilities.dtype, jnp.full((batch, 2), -jnp.inf, log_probabilities.dtype)
    two_back = jnp.pad(extended, ((0, 0), (2, 0)), constant_values=-1)[:, :-2]
    jumps = jnp.where((extended != two_back) & (extended != blank), 0, -jnp.inf).astype(kind)
    jumps = jumps.at[:, :2].set(-jnp.inf)
    ends = 2 * lengths[:, None] - jnp.arange(n)
    last = jnp.where((ends == 0) | (ends == 1), 0, -jnp.inf).astype(kind)

    def of_three(x, y, z):  # without NaN in the gradient where all are -inf
        top = jnp.maximum(jnp.maximum(x, y), z)
        top = jnp.where(jnp.isfinite(top), top, 0)
        total = jnp.exp(x - top) + jnp.exp(y - top) + jnp.exp(z - top)
        return jnp.where(total > 0, jnp.log(jnp.where(total > 0, total, 1)) + top, -jnp.inf)

    def body(before, emission):
        moved = jnp.concatenate([none, before], 1)
        new = of_three(before, moved[:, 1:-1], moved[:, :-2] + jumps) + emission
        return new, new

    first = jnp.full((batch, n), -jnp.inf, kind).at[:, 0].set(0)
    _, reached = lax.scan(body, first, emissions)
    start = jnp.full((batch, n), -jnp.inf, kind).at[:, 0].set(0)
    reached = jnp.concatenate([start[None], reached])
    at_end = reached[steps, jnp.arange(batch)] + last
    top = at_end.max(1)
    top = jnp.where(jnp.isfinite(top), top, 0)
    total = jnp.exp(at_end - top[:, None]).sum(1)
    return -jnp.where(total > 0, jnp.log(jnp.where(total > 0, total, 1)) + top, -jnp.inf)


@rule(ctc.CtcShares)
def _(op: Any, log_probabilities: Any, *others: Any) -> Any:
    with requirements():  # `CtcCost`, which is computed too, requires the same
        cost, back = jax.vjp(lambda x: _ctc(x, *others), log_probabilities)
        shares = -back(jnp.isfinite(cost).astype(cost.dtype))[0]
    require(jnp.isfinite(shares))
    return shares


@rule(ctc.CtcBestPath, ctc.CtcBeamSearch)
def _(op: Any, *xs: Any) -> Any:
    raise CannotLower("A size depends on values.")
