"""Attention layers: weighted means of values. A weight measures how well a query matches a key.

`Attention` compares a query with a key by their product, `AdditiveAttention` by their sum. Both use
their inputs without projections. `MultiHeadAttention`, the core of the transformer, projects its
inputs several times, once for each head, and each position of one sequence attends to all positions
of another sequence. The layers come from tf.keras and Keras 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from string import ascii_lowercase
from typing import Any

from kerascope import backend as K
from kerascope import constraints, initializers, regularizers
from kerascope.backend.graph import Tensor, TensorLike
from kerascope.backend.shapes import Shape, Shapes, as_shape, normalize_axes
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, RefusedError, ShapeError
from kerascope.layers.arguments import Identifier, Masks, Tensors, Training, fraction, positive_int

__all__ = ["AdditiveAttention", "Attention", "MultiHeadAttention"]

# The score of a masked position. Its exponential is 0 compared with that of any usual score.
# The lowest float16 is -65504.
_NO_SCORE = {"float16": -3e4}


def causal_mask(scores: Tensor) -> Tensor:
    """Return a causal mask: True where the key's position (last axis) is not after the query's.

    Examples
    --------
    >>> K.eval(causal_mask(K.zeros((2, 3)))).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    ones = K.ones_like(scores)
    return K.greater_equal(K.cumsum(ones, axis=K.ndim(ones) - 2), K.cumsum(ones, axis=-1))


def masked_softmax(scores: Tensor, masks: Sequence[Tensor], axes: Iterable[int]) -> Tensor:
    """Return the softmax of scores over `axes` together, with 0 where a mask is False.

    If the masks exclude every position, all positions get the same weight.
    """
    axes = list(axes)
    for mask in masks:
        is_in = K.cast(mask, "bool")
        scores = K.switch(is_in, scores, _NO_SCORE.get(K.dtype(scores), -1e9))
    if len(axes) == 1:
        return K.softmax(scores, axis=axes[0])
    return K.exp(scores - K.logsumexp(scores, axis=axes, keepdims=True))


# --- one comparison -------------------------------------------------------------------------------


class _Attention(Layer):
    """Base class of attention layers; a subclass compares queries and keys in `scores`."""

    def __init__(self, dropout: float = 0.0, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = fraction(dropout, f"{self.label}: dropout")
        self.seed = seed
        self.supports_masking = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the score of each query with each key, of shape (batch, queries, keys)."""
        raise NotImplementedError(f"{type(self).__name__} must define scores(query, key).")

    def call(
        self,
        inputs: list[Tensor],
        mask: Masks = None,
        training: Training = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """Return, for each query, the mean of the values, weighted by the softmax of its scores.

        Parameters
        ----------
        inputs : list of two or three Tensors
            Query (batch, queries, features), value (batch, keys, features), and optionally the key,
            which defaults to the value.
        mask : list of Tensor or None, optional
            Masks of the queries and of the values: (batch, queries), (batch, keys).
        training : optional
            Whether dropout acts.
        return_attention_scores : bool
            Whether the attention weights, (batch, queries, keys), are returned too.
        use_causal_mask : bool
            Whether a query attends only to positions up to its own.
        """
        query, value, key = self._three(inputs)
        query_mask, value_mask = (*(mask or ()), None, None)[:2]
        scores = self.scores(query, key)
        masks = [causal_mask(scores)] if use_causal_mask else []
        if value_mask is not None:
            masks.append(K.expand_dims(value_mask, 1))
        weights = masked_softmax(scores, masks, axes=[2])
        if self.dropout:
            weights = K.in_train_phase(self._dropped(weights), weights, training=training)
        output = K.batch_dot(weights, value)
        if query_mask is not None:
            output = output * K.expand_dims(K.cast(query_mask, K.dtype(output)), -1)
        return [output, weights] if return_attention_scores else output

    def _dropped(self, weights: Tensor) -> Any:
        return lambda: K.dropout(weights, self.dropout, seed=self.seed)

    def _three(self, items: Any) -> tuple[Any, Any, Any]:
        """Return query, value and key from a list of two or three tensors or shapes.

        Raises
        ------
        ArgumentError
            `items` is not a list of two or three tensors (or shapes).
        """
        is_list = isinstance(items, (list, tuple)) and not _is_shape(items)
        if not is_list or len(items) not in (2, 3):
            came = f"a list of {len(items)}" if is_list else "a single tensor"
            raise ArgumentError(
                f"{self.label}: expected a list [query, value] or [query, value, key], got {came}.",
                subject=self,
            )
        query, value, *key = items
        return query, value, key[0] if key else value

    def _checked_shapes(self, input_shape: Shapes) -> tuple[Shape, Shape, Shape]:
        shapes = self._three(input_shape)
        for shape in shapes:
            if not isinstance(shape, (list, tuple)) or len(shape) != 3:
                raise ShapeError(
                    f"{self.label}: expected inputs with 3 axes (batch, positions, features), got "
                    f"one of shape {shape}. Reshape() it first.",
                    subject=self,
                )
        return shapes

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> Any:
        """Return the query's mask."""
        return mask[0] if isinstance(mask, (list, tuple)) and mask else None

    def compute_output_shape(self, input_shape: Shapes) -> Shape:
        """Return the output shape: (batch, queries, features of the value)."""
        query, value, _ = self._checked_shapes(input_shape)
        return (*query[:-1], value[-1])


class Attention(_Attention):
    """Weighted means of values; the weights come from products of query and key.

    Parameters
    ----------
    use_scale : bool
        Whether the scores are multiplied by a trained number.
    score_mode : {"dot", "concat"}
        "dot" compares by the product, "concat" by the sum of tanh(query + key).
    dropout : float
        Fraction of the attention weights that is dropped in training.
    seed : int, optional
        Makes the dropout repeatable.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Called on a list [query, value] or [query, value, key].
    output = softmax(scale * query key^T) value, as in Luong et al. [1].

    References
    ----------
    1. Luong, Pham, Manning: Effective Approaches to Attention-based Neural Machine Translation,
       EMNLP 2015.

    Examples
    --------
    >>> import numpy as np
    >>> query, value = np.array([[[9.0, 0.0]]]), np.array([[[9.0, 0.0], [0.0, 9.0]]])
    >>> Attention()([query, value]).round(2).tolist()
    [[[9.0, 0.0]]]
    """

    def __init__(
        self,
        use_scale: bool = False,
        score_mode: str = "dot",
        dropout: float = 0.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(dropout, seed, **kwargs)
        if score_mode not in ("dot", "concat"):
            raise ArgumentError(
                f"{self.label}: expected score_mode 'dot' or 'concat', got {score_mode!r}."
            )
        self.use_scale = bool(use_scale)
        self.score_mode = score_mode

    def build(self, input_shape: Shapes) -> None:
        """Create `scale` (with `use_scale`) and `concat_score_weight` (for score_mode "concat")."""
        self._checked_shapes(input_shape)
        self.scale = self.concat_score_weight = None
        if self.use_scale:
            self.scale = self.add_weight(name="scale", shape=(), initializer="ones")
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(
                name="concat_score_weight", shape=(), initializer="ones"
            )
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return products of queries and keys; in mode "concat", sums of tanh(query + key)."""
        if self.score_mode == "dot":
            products = K.batch_dot(query, key, axes=(2, 2))
            return products if self.scale is None else products * self.scale
        sums = K.expand_dims(query, 2) + K.expand_dims(key, 1)
        if self.scale is not None:
            sums = sums * self.scale
        return self.concat_score_weight * K.sum(K.tanh(sums), axis=-1)


class AdditiveAttention(_Attention):
    """Weighted means of values; the weights come from sums of query and key.

    Parameters
    ----------
    use_scale : bool
        Whether each feature has a trained factor.
    dropout : float
        Fraction of the attention weights that is dropped in training.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Called on a list [query, value] or [query, value, key].
    score(t, s) = sum_i scale_i tanh(query_ti + key_si), as in Bahdanau et al. [1].

    References
    ----------
    1. Bahdanau, Cho, Bengio: Neural Machine Translation by Jointly Learning to Align and
       Translate, ICLR 2015.

    Examples
    --------
    >>> import numpy as np
    >>> AdditiveAttention()([np.ones((1, 3, 2)), np.ones((1, 5, 2))]).shape
    (1, 3, 2)
    """

    def __init__(self, use_scale: bool = True, dropout: float = 0.0, **kwargs: Any) -> None:
        super().__init__(dropout, kwargs.pop("seed", None), **kwargs)
        self.use_scale = bool(use_scale)

    def build(self, input_shape: Shapes) -> None:
        """Create the weight `scale`, with one factor for each feature, if `use_scale` is True."""
        query, _, _ = self._checked_shapes(input_shape)
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(
                name="scale", shape=(query[-1],), initializer="glorot_uniform"
            )
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the sums over the features of scale * tanh(query + key)."""
        bent = K.tanh(K.expand_dims(query, 2) + K.expand_dims(key, 1))
        return K.sum(bent if self.scale is None else bent * self.scale, axis=-1)


def _is_shape(items: Any) -> bool:
    """Return whether `items` is the shape of one tensor, not a list of tensors or shapes."""
    return all(item is None or isinstance(item, int) for item in items)


# --- several heads --------------------------------------------------------------------------------
# Read `call`: four products, written as `einsum`. With batch b, query positions t, value positions
# s, heads h and features d, k:
#
#     query  (b, t, d), (d, h, k) -> (b, t, h, k)      and so for key and value
#     scores (b, t, h, k), (b, s, h, k) -> (b, h, t, s), then a softmax over s
#     output (b, h, t, s), (b, s, h, k) -> (b, t, h, k), (h, k, d) -> (b, t, d)


class MultiHeadAttention(Layer):
    """Attention with several heads, each with its own projections of query, key and value.

    Parameters
    ----------
    num_heads : int
        Number of heads; each has its own kernels.
    key_dim : int
        Features of a query and of a key in each head.
    value_dim : int, optional
        Features of a value in each head; default `key_dim`.
    dropout : float
        Fraction of the attention weights that is dropped in training.
    use_bias : bool
        Whether the projections of query, key, value and output add a bias.
    output_shape : int or tuple of int, optional
        Features of the output; default those of the query.
    attention_axes : int or tuple of int, optional
        Axes along which queries attend; default all but the first and the last.
    sliding_window, flash_attention, use_gate : object
        Arguments of Keras 3; only None and False are supported.
    kernel_initializer, bias_initializer : str, callable or object
        Initial values of the kernels and biases of the four projections.
    kernel_regularizer, bias_regularizer, activity_regularizer : str, callable or object, optional
        Penalties.
    kernel_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    seed : int, optional
        Makes the dropout repeatable.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Called as `layer(query, value)` or `layer(query, value, key)`; the key defaults to the value.
    Queries have shape (batch, ..., features). Values and keys may have a different length. Head h
    projects its inputs: q = query Q_h + a_h, k = key K_h + c_h, v = value V_h + e_h. Then::

        head_h = softmax(q k^T / sqrt(key_dim)) v,    output = sum_h head_h O_h + b.

    References
    ----------
    1. Vaswani et al.: Attention Is All You Need, NIPS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> layer = MultiHeadAttention(num_heads=2, key_dim=4)
    >>> layer(np.ones((1, 3, 8)), np.ones((1, 5, 6))).shape
    (1, 3, 8)
    """

    def __init__(
        self,
        num_heads: int,
        key_dim: int,
        value_dim: int | None = None,
        dropout: float = 0.0,
        use_bias: bool = True,
        output_shape: Any = None,
        attention_axes: int | Sequence[int] | None = None,
        sliding_window: int | None = None,
        flash_attention: bool | None = None,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        use_gate: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self._refuse(sliding_window=sliding_window, flash_attention=flash_attention, gate=use_gate)
        self.num_heads = positive_int(num_heads, f"{self.label}: num_heads")
        self.key_dim = positive_int(key_dim, f"{self.label}: key_dim")
        self.value_dim = positive_int(value_dim or key_dim, f"{self.label}: value_dim")
        self.dropout = fraction(dropout, f"{self.label}: dropout")
        self.use_bias = bool(use_bias)
        self._output_shape = None if output_shape is None else as_shape(output_shape)
        axes = attention_axes
        self.attention_axes = axes if axes is None or isinstance(axes, int) else list(axes)
        self.sliding_window = self.flash_attention = None
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.use_gate = False
        self.seed = seed
        self.supports_masking = True

    def _refuse(self, **arguments: Any) -> None:
        for argument, value in arguments.items():
            if value:
                raise RefusedError(
                    f"{self.label}: {argument}={value!r} of Keras 3 is not supported. Leave it out."
                )

    def __call__(  # type: ignore[override]
        self,
        query: TensorLike,
        value: TensorLike | None = None,
        key: TensorLike | None = None,
        **kwargs: Any,
    ) -> Any:
        """Call the layer on a query, a value and optionally a key, or on one list of them.

        Parameters
        ----------
        query : Tensor, shape (batch, ..., features), or list of two or three tensors
        value, key : Tensor, optional
        **kwargs
            As for `call`.
        """
        given = [*query] if isinstance(query, (list, tuple)) else [query, value, key]
        given = [x for x in given if x is not None]
        if len(given) not in (2, 3):
            raise ArgumentError(
                f"{self.label}: expected a query, a value and optionally a key, got {len(given)} "
                f"tensors. For self-attention, call layer(x, x).",
                subject=self,
            )
        names = dict(zip(("value", "key"), given[1:], strict=False))
        return super().__call__(given[0], **names, **kwargs)

    # --- weights ----------------------------------------------------------------------------------

    def build(
        self, query_shape: Shapes, value_shape: Shape | None = None, key_shape: Shape | None = None
    ) -> None:
        """Make the kernels and biases of the four projections: of query, key, value and output."""
        query_shape, value_shape, key_shape = _three(query_shape, value_shape, key_shape)
        every = tuple(range(1, len(query_shape) - 1))
        axes = every if self.attention_axes is None else self.attention_axes
        self._axes = normalize_axes(axes, len(query_shape), f"{self.label}: attention_axes")
        heads, shared = self.num_heads, self._heads_of_keys()
        self._query = self._make("query", self._features(query_shape), (heads, self.key_dim))
        self._key = self._make("key", self._features(key_shape), (shared, self.key_dim))
        self._value = self._make("value", self._features(value_shape), (shared, self.value_dim))
        features = self._output_shape or self._features(query_shape)
        self._output = self._make("attention_output", (heads, self.value_dim), features)
        self.built = True

    def _heads_of_keys(self) -> int:
        """Return the number of heads of the keys and values, which is `num_heads` by default."""
        return self.num_heads

    def _features(self, shape: Shape) -> tuple[int, ...]:
        if shape[-1] is None:
            raise ShapeError(
                f"{self.label}: the number of features of {shape} is not known. Give the Input its "
                f"last size.",
                subject=self,
            )
        return (shape[-1],)

    def _make(self, word: str, inputs: Shape, outputs: Shape) -> tuple[Tensor, Tensor | None]:
        """Create and return a projection's kernel and bias; the bias is None without `use_bias`."""
        kernel = self.add_weight(
            name=f"{word}/kernel",
            shape=(*inputs, *outputs),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        if not self.use_bias:
            return kernel, None
        bias = self.add_weight(
            name=f"{word}/bias",
            shape=outputs,
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
            constraint=self.bias_constraint,
        )
        return kernel, bias

    # --- computing --------------------------------------------------------------------------------

    def call(
        self,
        query: Tensor,
        value: Tensor,
        key: Tensor | None = None,
        query_mask: Tensor | None = None,
        value_mask: Tensor | None = None,
        key_mask: Tensor | None = None,
        attention_mask: Tensor | None = None,
        return_attention_scores: bool = False,
        training: Training = None,
        use_causal_mask: bool = False,
    ) -> Any:
        """Return the weighted mean of the values for each query.

        Parameters
        ----------
        query : Tensor, shape (batch, ..., features)
        value, key : Tensor, shape (batch, ..., features)
            The key defaults to the value.
        query_mask, value_mask, key_mask : Tensor, shape (batch, positions), optional
            Positions that count; by default the masks of the tensors. The output for a masked query
            is the plain mean of all values.
        attention_mask : Tensor, shape (batch, queries, values), optional
            True where a query may attend to a value.
        return_attention_scores : bool
            Whether the attention weights, (batch, heads, queries, values), are returned too.
        training : optional
            Whether dropout acts.
        use_causal_mask : bool
            Whether a query attends only to positions up to its own.
        """
        key = value if key is None else key
        queries = self._projected(query, *self._query) / math.sqrt(self.key_dim)
        keys = self._projected(key, *self._key)
        values = self._projected(value, *self._value)
        one, other, both = self._letters(K.ndim(query))
        scores = K.einsum(f"{one},{other}->{both}", queries, keys)
        masks = [
            *self._with_head_axes(_spread(query_mask, -1), K.ndim(scores)),
            *self._with_head_axes(_spread(value_mask, 1), K.ndim(scores)),
            *self._with_head_axes(_spread(key_mask, 1), K.ndim(scores)),
            *self._with_head_axes(attention_mask, K.ndim(scores)),
            *([self._causal_mask(scores)] if use_causal_mask else []),
        ]
        looked_at = range(len(both) - len(self._axes), len(both))
        weights = masked_softmax(scores, masks, axes=looked_at)
        kept = self._dropped(weights, training)
        found = K.einsum(f"{both},{other[:-1]}v->{one[:-1]}v", kept, values)
        output = self._output_of(found)
        return [output, weights] if return_attention_scores else output

    def _projected(self, x: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        places = ascii_lowercase[: K.ndim(x) - 1]
        product = K.einsum(f"{places}x,xyz->{places}yz", x, kernel)
        return product if bias is None else product + bias

    def _letters(self, ndim: int) -> tuple[str, str, str]:
        """Return the `einsum` subscripts of the projected query, the projected key, and the scores.

        The axes of the scores are: the axes without attention, the heads, the positions of the
        queries, and the positions of the keys.
        """
        places = ascii_lowercase[: ndim - 1]
        apart = [places[axis] for axis in self._axes]
        shared = "".join(letter for letter in places if letter not in apart)
        others = "".join(x.upper() if x in apart else x for x in places)
        looked_at = "".join(apart).upper()
        return f"{places}yz", f"{others}yz", f"{shared}y{''.join(apart)}{looked_at}"

    def _with_head_axes(self, mask: Tensor | None, ndim: int) -> list[Tensor]:
        """Return [mask], with axes of size 1 added up to `ndim` axes; [] if the mask is None."""
        if mask is None:
            return []
        while K.ndim(mask) < ndim:
            mask = K.expand_dims(mask, K.ndim(mask) - 2 * len(self._axes))
        return [mask]

    def _causal_mask(self, scores: Tensor) -> Tensor:
        if len(self._axes) > 1:
            raise ArgumentError(
                f"{self.label}: use_causal_mask=True expects attention along one axis, got "
                f"{len(self._axes)}. Give an attention_mask instead.",
                subject=self,
            )
        return causal_mask(scores)

    def _dropped(self, weights: Tensor, training: Training) -> Tensor:
        if self.dropout == 0:
            return weights
        return K.in_train_phase(
            lambda: K.dropout(weights, self.dropout, seed=self.seed), weights, training=training
        )

    def _output_of(self, found: Tensor) -> Tensor:
        kernel, bias = self._output
        letters = ascii_lowercase[: K.ndim(found)]
        features = ascii_lowercase[K.ndim(found) : K.ndim(found) + K.ndim(kernel) - 2]
        heads = letters[-2:]
        output = K.einsum(f"{letters},{heads}{features}->{letters[:-2]}{features}", found, kernel)
        return output if bias is None else output + bias

    # --- masks, shapes, configuration -------------------------------------------------------------

    def compute_mask(self, query: Tensor, mask: Masks = None) -> Any:
        """Return the query's mask."""
        return mask

    def compute_output_shape(
        self, query_shape: Shapes, value_shape: Shape | None = None, key_shape: Shape | None = None
    ) -> Shape:
        """Return the query's shape, with the number of output features as the last size."""
        query_shape, _, _ = _three(query_shape, value_shape, key_shape)
        return (*query_shape[:-1], *(self._output_shape or query_shape[-1:]))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        features = None if self._output_shape is None else list(self._output_shape)
        return {**super().get_config(), "output_shape": features}


def _three(query_shape: Any, value_shape: Any, key_shape: Any) -> tuple[Shape, Shape, Shape]:
    """Return the shapes of query, value and key; the first argument may be a list of all shapes."""
    if query_shape and isinstance(query_shape[0], (list, tuple)):
        query_shape, value_shape, *rest = query_shape
        key_shape = rest[0] if rest else None
    return query_shape, value_shape, value_shape if key_shape is None else key_shape


def _spread(mask: Tensor | None, axis: int) -> Tensor | None:
    """Return a mask with an axis of size 1 inserted at index `axis`; None if the mask is None."""
    return None if mask is None else K.expand_dims(mask, axis)
