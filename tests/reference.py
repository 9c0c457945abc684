"""What each K function must compute, in plain loops over single numbers.

Slow and independent of `kerascope.backend.ops`: only `math` and indexing. Arrays come in as NumPy
arrays of float64 (or ints, booleans); results go out the same way.
"""

import math
from itertools import product as places_of

import numpy as np

# --- helpers --------------------------------------------------------------------------------------


def all_places(shape):
    return places_of(*(range(size) for size in shape))


def each(function, *arrays):
    """Apply a function of single numbers, with NumPy's broadcasting."""
    arrays = [np.asarray(a) for a in arrays]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    stretched = [np.broadcast_to(a, shape) for a in arrays]
    values = [function(*(a[place].item() for a in stretched)) for place in all_places(shape)]
    return np.array(values).reshape(shape)


def collected(x, axes):
    """Yield (place without axes, numbers along the axes in order)."""
    kept = [a for a in range(x.ndim) if a not in axes]
    for place in all_places([x.shape[a] for a in kept]):
        index = [None] * x.ndim
        for a, i in zip(kept, place, strict=True):
            index[a] = i
        numbers = []
        for inner in all_places([x.shape[a] for a in axes]):
            for a, i in zip(axes, inner, strict=True):
                index[a] = i
            numbers.append(x[tuple(index)].item())
        yield place, numbers


def reduced(function, x, axes, keepdims=False):
    kept = [x.shape[a] for a in range(x.ndim) if a not in axes]
    result = np.array([function(numbers) for _, numbers in collected(x, axes)]).reshape(kept)
    if keepdims:
        return result.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])
    return result


def rowwise(function, x, axis):
    """Replace each row along an axis by a function of it."""
    result = np.empty(x.shape)
    for place, numbers in collected(x, (axis,)):
        for i, value in enumerate(function(numbers)):
            result[(*place[:axis], i, *place[axis:])] = value
    return result


# --- broadcasting ---------------------------------------------------------------------------------


def cast(x, dtype):
    kind = {"i": int, "f": float, "b": bool}[np.dtype(dtype).kind]
    return each(kind, x)


def full_like(x, value):
    return each(lambda _: value, x)


def sum_to(x, like):
    result = np.zeros(like.shape)
    extra = x.ndim - like.ndim
    for place in all_places(x.shape):
        target = [0 if n == 1 else i for i, n in zip(place[extra:], like.shape, strict=True)]
        result[tuple(target)] += x[place]
    return result


def broadcast_like(x, like, axes=None):
    result = np.empty(like.shape)
    for place in all_places(like.shape):
        source = [i for a, i in enumerate(place) if a not in (axes or ())]
        source = source[len(source) - x.ndim :]
        result[place] = x[tuple(0 if n == 1 else i for i, n in zip(source, x.shape, strict=True))]
    return result


# --- comparison -----------------------------------------------------------------------------------


def equal(x, y):
    return each(lambda a, b: a == b, x, y)


def not_equal(x, y):
    return each(lambda a, b: a != b, x, y)


def greater(x, y):
    return each(lambda a, b: a > b, x, y)


def greater_equal(x, y):
    return each(lambda a, b: a >= b, x, y)


def less(x, y):
    return each(lambda a, b: a < b, x, y)


def less_equal(x, y):
    return each(lambda a, b: a <= b, x, y)


def logical_and(x, y):
    return each(lambda a, b: bool(a) and bool(b), x, y)


def logical_or(x, y):
    return each(lambda a, b: bool(a) or bool(b), x, y)


def logical_not(x):
    return each(lambda a: not a, x)


# --- elementwise ----------------------------------------------------------------------------------


def add(x, y):
    return each(lambda a, b: a + b, x, y)


def subtract(x, y):
    return each(lambda a, b: a - b, x, y)


def multiply(x, y):
    return each(lambda a, b: a * b, x, y)


def divide(x, y):
    return each(lambda a, b: a / b, x, y)


def pow(x, y):
    return each(lambda a, b: a**b, x, y)


def maximum(x, y):
    return each(lambda a, b: a if a >= b else b, x, y)


def minimum(x, y):
    return each(lambda a, b: a if a <= b else b, x, y)


def negative(x):
    return each(lambda a: -a, x)


def abs(x):
    return each(lambda a: -a if a < 0 else a, x)


def sign(x):
    return each(lambda a: float((a > 0) - (a < 0)), x)


def round(x):
    def nearest(a):
        low = math.floor(a)
        if a - low == 0.5:
            return float(low if low % 2 == 0 else low + 1)
        return float(low if a - low < 0.5 else low + 1)

    return each(nearest, x)


def square(x):
    return each(lambda a: a * a, x)


def sqrt(x):
    return each(math.sqrt, x)


def exp(x):
    return each(math.exp, x)


def log(x):
    return each(math.log, x)


def log1p(x):
    return each(math.log1p, x)


def sin(x):
    return each(math.sin, x)


def cos(x):
    return each(math.cos, x)


def clip(x, low, high):
    return each(lambda a: low if a < low else high if a > high else a, x)


def identity(x):
    return each(lambda a: a, x)


# --- reduction ------------------------------------------------------------------------------------


def sum(x, axes, keepdims=False):
    return reduced(math.fsum, x, axes, keepdims)


def mean(x, axes, keepdims=False):
    return reduced(lambda numbers: math.fsum(numbers) / len(numbers), x, axes, keepdims)


def var(x, axes, keepdims=False):
    def variance(numbers):
        middle = math.fsum(numbers) / len(numbers)
        return math.fsum((a - middle) ** 2 for a in numbers) / len(numbers)

    return reduced(variance, x, axes, keepdims)


def std(x, axes, keepdims=False):
    return sqrt(var(x, axes, keepdims))


def prod(x, axes, keepdims=False):
    return reduced(math.prod, x, axes, keepdims)


def product_of_others(x, axes):
    result = np.empty(x.shape)
    for place in all_places(x.shape):
        others = 1.0
        for other in all_places(x.shape):
            same_row = all_equal(place, other, [a for a in range(x.ndim) if a not in axes])
            if other != place and same_row:
                others *= x[other]
        result[place] = others
    return result


def all_equal(place, other, axes):
    return [place[a] for a in axes] == [other[a] for a in axes]


def count_over(x, axes):
    return np.array(math.prod(x.shape[a] for a in axes))


def max(x, axes, keepdims=False):
    return reduced(lambda numbers: sorted(numbers)[-1], x, axes, keepdims)


def min(x, axes, keepdims=False):
    return reduced(lambda numbers: sorted(numbers)[0], x, axes, keepdims)


def any(x, axes, keepdims=False):
    return reduced(lambda numbers: True in map(bool, numbers), x, axes, keepdims)


def all(x, axes, keepdims=False):
    return reduced(lambda numbers: False not in map(bool, numbers), x, axes, keepdims)


def logsumexp(x, axes, keepdims=False):
    def one(numbers):
        top = sorted(numbers)[-1]
        return top + math.log(math.fsum(math.exp(a - top) for a in numbers))

    return reduced(one, x, axes, keepdims)


def argmax(x, axis):
    return reduced(lambda numbers: numbers.index(sorted(numbers)[-1]), x, (axis,))


def argmin(x, axis):
    return reduced(lambda numbers: numbers.index(sorted(numbers)[0]), x, (axis,))


def cumsum(x, axis, from_end=False):
    def running(numbers):
        if from_end:
            return [math.fsum(numbers[i:]) for i in range(len(numbers))]
        return [math.fsum(numbers[: i + 1]) for i in range(len(numbers))]

    return rowwise(running, x, axis)


def cumprod(x, axis):
    return rowwise(lambda row: [math.prod(row[: i + 1]) for i in range(len(row))], x, axis)


# --- shaping --------------------------------------------------------------------------------------


def reshape(x, shape):
    numbers = [x[place] for place in all_places(x.shape)]
    sizes = [n for n in shape if n != -1]
    left = len(numbers) // math.prod(sizes) if -1 in shape else None
    result = np.empty([left if n == -1 else n for n in shape])
    for place, number in zip(all_places(result.shape), numbers, strict=True):
        result[place] = number
    return result


def concatenate(tensors, axis):
    size = math.fsum(x.shape[axis] for x in tensors)
    shape = [int(size) if a == axis else n for a, n in enumerate(tensors[0].shape)]
    result, start = np.empty(shape), 0
    for x in tensors:
        for place in all_places(x.shape):
            result[(*place[:axis], start + place[axis], *place[axis + 1 :])] = x[place]
        start += x.shape[axis]
    return result


def stack(tensors, axis):
    x = tensors[0]
    result = np.empty((*x.shape[:axis], len(tensors), *x.shape[axis:]))
    for i, tensor in enumerate(tensors):
        for place in all_places(x.shape):
            result[(*place[:axis], i, *place[axis:])] = tensor[place]
    return result


def part(whole, axis, start, stop):
    shape = [stop - start if a == axis else n for a, n in enumerate(whole.shape)]
    result = np.empty(shape)
    for place in all_places(shape):
        result[place] = whole[(*place[:axis], start + place[axis], *place[axis + 1 :])]
    return result


def tile(x, n):
    result = np.empty([size * times for size, times in zip(x.shape, n, strict=True)])
    for place in all_places(result.shape):
        result[place] = x[tuple(i % size for i, size in zip(place, x.shape, strict=True))]
    return result


def sum_tiles(x, n):
    result = np.zeros([size // times for size, times in zip(x.shape, n, strict=True)])
    for place in all_places(x.shape):
        result[tuple(i % size for i, size in zip(place, result.shape, strict=True))] += x[place]
    return result


def repeat_elements(x, rep, axis):
    return concatenate(
        [part(x, axis, i, i + 1) for i in range(x.shape[axis]) for _ in range(rep)], axis
    )


def sum_repeated(x, rep, axis):
    shape = [size // rep if a == axis else size for a, size in enumerate(x.shape)]
    result = np.zeros(shape)
    for place in all_places(x.shape):
        result[(*place[:axis], place[axis] // rep, *place[axis + 1 :])] += x[place]
    return result


def reverse(x, axes):
    result = np.empty(x.shape)
    for place in all_places(x.shape):
        mirrored = [x.shape[a] - 1 - i if a in axes else i for a, i in enumerate(place)]
        result[tuple(mirrored)] = x[place]
    return result


def permute_dimensions(x, pattern):
    result = np.empty([x.shape[a] for a in pattern])
    for place in all_places(x.shape):
        result[tuple(place[a] for a in pattern)] = x[place]
    return result


# --- indexing -------------------------------------------------------------------------------------


def places_taken(index, shape):
    """Return for each axis of x the places that an index of ints and (start, stop, step) takes."""
    taken = []
    for i, size in zip([i for i in index if i is not None], shape, strict=True):
        if isinstance(i, tuple):
            start, stop, step = slice(*i).indices(size)
            taken.append(list(range(start, stop, step)))
        else:
            taken.append([i % size])
    return taken


def get_item(x, index):
    taken = places_taken(index, x.shape)
    numbers = [x[place] for place in places_of(*taken)]
    return np.array(numbers).reshape(index_shape(index, x.shape))


def index_shape(index, shape):
    lengths = iter([len(taken) for taken in places_taken(index, shape)])
    result = []
    for i in index:
        if i is None:
            result.append(1)
            continue
        length = next(lengths)
        if isinstance(i, tuple):
            result.append(length)
    return tuple(result)


def put_item(x, like, index):
    whole = np.zeros(like.shape)
    places = places_of(*places_taken(index, like.shape))
    for place, source in zip(places, all_places(x.shape), strict=True):
        whole[place] = x[source]
    return whole


def slice_spans(start, size, shape):
    return [
        (s, length if n == -1 else s + n, 1)
        for s, n, length in zip(start, size, shape, strict=True)
    ]


def gather(x, indices):
    result = np.empty((*indices.shape, *x.shape[1:]))
    for place in all_places(indices.shape):
        for inner in all_places(x.shape[1:]):
            result[(*place, *inner)] = x[(indices[place] % len(x), *inner)]
    return result


def add_rows(x, indices, like):
    total = np.zeros(like.shape)
    for place in all_places(indices.shape):
        for inner in all_places(like.shape[1:]):
            total[(indices[place] % len(like), *inner)] += x[(*place, *inner)]
    return total


def one_hot(indices, num_classes):
    result = np.zeros((*indices.shape, num_classes))
    for place in all_places(indices.shape):
        if 0 <= indices[place] < num_classes:
            result[(*place, indices[place])] = 1
    return result


def in_top_k(predictions, targets, k):
    return np.array(
        [
            len([p for p in row if p > row[target]]) < k and math.isfinite(row[target])
            for row, target in zip(predictions, targets, strict=True)
        ]
    )


def arange(start, stop, step):
    numbers, value = [], start
    while (value < stop) if step > 0 else (value > stop):
        numbers.append(value)
        value = value + step
    return np.array(numbers)


# --- linalg ---------------------------------------------------------------------------------------


def contraction(x, y, x_axes, y_axes, batch=0):
    """Sum the products over pairs of axes; the first `batch` axes go side by side."""
    x_free = [a for a in range(batch, x.ndim) if a not in x_axes]
    y_free = [b for b in range(batch, y.ndim) if b not in y_axes]
    sizes = [*x.shape[:batch], *(x.shape[a] for a in x_free), *(y.shape[b] for b in y_free)]
    result = np.zeros(sizes)
    for place in all_places(sizes):
        in_x, in_y = [0] * x.ndim, [0] * y.ndim
        in_x[:batch] = in_y[:batch] = place[:batch]
        for a, i in zip([*x_free, *(None for _ in y_free)], place[batch:], strict=True):
            if a is not None:
                in_x[a] = i
        for b, i in zip(y_free, place[batch + len(x_free) :], strict=True):
            in_y[b] = i
        for inner in all_places([x.shape[a] for a in x_axes]):
            for a, b, i in zip(x_axes, y_axes, inner, strict=True):
                in_x[a] = in_y[b] = i
            result[place] += x[tuple(in_x)] * y[tuple(in_y)]
    return result


def dot(x, y):
    inner = y.ndim - 2 if y.ndim > 1 else 0
    return contraction(x, y, (x.ndim - 1,), (inner,))


def batch_dot(x, y, axes):
    result = contraction(x, y, (axes[0],), (axes[1],), batch=1)
    return result.reshape(-1, 1) if result.ndim == 1 else result


def matmul(x, y):
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x = np.broadcast_to(x, (*batch, *x.shape[-2:]))
    y = np.broadcast_to(y, (*batch, *y.shape[-2:]))
    result = np.empty((*batch, x.shape[-2], y.shape[-1]))
    for place in all_places(batch):
        result[place] = dot(x[place], y[place])
    return result


# --- control --------------------------------------------------------------------------------------


def switch(condition, x, y):
    if np.ndim(condition) == 0:
        return x if condition else y
    return each(lambda c, a, b: a if c else b, condition, x, y)


# --- random ---------------------------------------------------------------------------------------


def generator_at(seed, draws):
    """Return the generator after `draws` draws: the counter's highest word counts them."""
    return np.random.Generator(np.random.Philox(key=seed).advance(draws << 192))


def random_uniform(shape, low, high, seed, draws, dtype):
    generator = generator_at(seed, draws)
    numbers = [low + (high - low) * generator.random(dtype=dtype) for _ in all_places(shape)]
    return np.array(numbers).reshape(shape)


def random_normal(shape, mean, stddev, seed, draws, dtype):
    generator = generator_at(seed, draws)
    numbers = [mean + stddev * generator.standard_normal(dtype=dtype) for _ in all_places(shape)]
    return np.array(numbers).reshape(shape)


def truncated_normal(shape, mean, stddev, seed, draws, dtype):
    generator = generator_at(seed, draws)
    numbers = [generator.standard_normal(dtype=dtype) for _ in all_places(shape)]
    far = [i for i, z in enumerate(numbers) if z < -2 or z > 2]
    while far:
        for i in far:
            numbers[i] = generator.standard_normal(dtype=dtype)
        far = [i for i in far if numbers[i] < -2 or numbers[i] > 2]
    return np.array([mean + stddev * z for z in numbers]).reshape(shape)


def random_binomial(shape, p, seed, draws):
    generator = generator_at(seed, draws)
    numbers = [float(generator.random(dtype="float32") < p) for _ in all_places(shape)]
    return np.array(numbers).reshape(shape)


# --- nn -------------------------------------------------------------------------------------------


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    def one(a):
        if max_value is not None and a >= max_value:
            return max_value
        return a if a >= threshold else alpha * (a - threshold)

    return each(one, x)


def relu_slope(x, alpha, max_value, threshold):
    def one(a):
        if max_value is not None and a >= max_value:
            return 0.0
        return 1.0 if a > threshold else alpha

    return each(one, x)


def elu(x, alpha=1.0):
    return each(lambda a: a if a > 0 else alpha * (math.exp(a) - 1), x)


def softplus(x):
    return each(lambda a: math.log(1 + math.exp(a)), x)


def softsign(x):
    return each(lambda a: a / (1 + math.fabs(a)), x)


def sigmoid(x):
    return each(lambda a: 1 / (1 + math.exp(-a)), x)


def hard_sigmoid(x):
    return clip(each(lambda a: 0.2 * a + 0.5, x), 0.0, 1.0)


def tanh(x):
    return each(math.tanh, x)


def softmax(x, axis=-1):
    def one(row):
        powers = [math.exp(a) for a in row]
        return [power / math.fsum(powers) for power in powers]

    return rowwise(one, x, axis % x.ndim)


def log_softmax(x, axis=-1):
    return log(softmax(x, axis))


def binary_crossentropy(target, output, margin=1e-7):
    def one(t, p):
        p = margin if p < margin else 1 - margin if p > 1 - margin else p
        return -(t * math.log(p) + (1 - t) * math.log(1 - p))

    return each(one, target, output)


def categorical_crossentropy(target, output, margin=1e-7):
    result = np.zeros(output.shape[:-1])
    for place in all_places(result.shape):
        total = math.fsum(output[place])
        for t, p in zip(target[place], output[place], strict=True):
            share = p / total
            share = margin if share < margin else 1 - margin if share > 1 - margin else share
            result[place] -= t * math.log(share)
    return result


def pick(x, places, axis):
    result = np.empty(places.shape)
    for place in all_places(places.shape):
        result[place] = x[(*place[:axis], places[place], *place[axis:])]
    return result


def put_picked(x, places, like, axis):
    result = np.zeros(like.shape)
    for place in all_places(places.shape):
        result[(*place[:axis], places[place], *place[axis:])] = x[place]
    return result


def l2_normalize(x, axes):
    length = np.sqrt(sum(square(x), axes, keepdims=True))
    return divide(x, length)


def batch_normalization(x, mean, var, beta, gamma, epsilon=1e-3):
    return each(
        lambda a, m, v, b, g: g * (a - m) / math.sqrt(v + epsilon) + b, x, mean, var, beta, gamma
    )
