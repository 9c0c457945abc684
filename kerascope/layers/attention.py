"""Attention: means of values, with weights that say how well a query fits each key.

`Attention` and `AdditiveAttention` differ in how they compare a query with a key: by a product or
by a sum. Neither projects its inputs; `MultiHeadAttention` does. tf.keras and Keras 3 have them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import share

__all__ = ["AdditiveAttention", "Attention"]

# What stands for "no": its exponential is 0 beside that of any score. float16 ends at 65504.
_NO_SCORE = {"float16": -3e4}


def causal_mask(scores: Tensor) -> Tensor:
    """Return True where the place of the query (last axis but one) is not before that of the value.

    Examples
    --------
    >>> K.eval(causal_mask(K.zeros((2, 3)))).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """
    ones = K.ones_like(scores)
    return K.greater_equal(K.cumsum(ones, axis=K.ndim(ones) - 2), K.cumsum(ones, axis=-1))


def masked_softmax(scores: Tensor, masks: Sequence[Tensor], axes: Iterable[int]) -> Tensor:
    """Return the softmax over the axes together, with 0 where a mask says so.

    Where the masks leave nothing at all, every place gets the same weight.
    """
    axes = list(axes)
    for mask in masks:
        is_in = K.cast(mask, "bool")
        scores = K.switch(is_in, scores, _NO_SCORE.get(K.dtype(scores), -1e9))
    if len(axes) == 1:
        return K.softmax(scores, axis=axes[0])
    return K.exp(scores - K.logsumexp(scores, axis=axes, keepdims=True))


class _Attention(Layer):
    """Base: a subclass says in `scores` how queries and keys are compared."""

    def __init__(self, dropout: float = 0.0, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dropout = share(dropout, f"{self.label}: dropout")
        self.seed = seed
        self.supports_masking = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return how well each query fits each key: (batch, queries, keys)."""
        raise NotImplementedError(f"{type(self).__name__} does not define scores")

    def call(
        self,
        inputs: list[Tensor],
        mask: Any = None,
        training: Any = None,
        return_attention_scores: bool = False,
        use_causal_mask: bool = False,
    ) -> Any:
        """Return what each query finds.

        Parameters
        ----------
        inputs : list of two or three Tensors
            Query (batch, queries, features), value (batch, keys, features), and the key, which is
            the value if it is not given.
        mask : list of Tensor or None, optional
            Which queries count, and which values: (batch, queries), (batch, keys).
        training : optional
            Whether weights are dropped.
        return_attention_scores : bool
            Whether the weights, (batch, queries, keys), are returned too.
        use_causal_mask : bool
            Whether a query may look only at places up to its own.
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
        """Return query, value and key (or their shapes).

        Raises
        ------
        ArgumentError
            They are not a list of two or three.
        """
        is_list = isinstance(items, (list, tuple)) and not _is_shape(items)
        if not is_list or len(items) not in (2, 3):
            came = f"a list of {len(items)}" if is_list else "a single tensor"
            raise ArgumentError(
                f"{self.label}: expected a list [query, value] or [query, value, key]; got {came}.",
                subject=self,
            )
        query, value, *key = items
        return query, value, key[0] if key else value

    def _checked_shapes(self, input_shape: Any) -> tuple[Shape, Shape, Shape]:
        shapes = self._three(input_shape)
        for shape in shapes:
            if not isinstance(shape, (list, tuple)) or len(shape) != 3:
                raise ShapeError(
                    f"{self.label}: an input has shape {shape}; expected 3 axes: (batch, places, "
                    f"features). Reshape() it first.",
                    subject=self,
                )
        return shapes

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the query's mask."""
        return mask[0] if isinstance(mask, (list, tuple)) and mask else None

    def compute_output_shape(self, input_shape: Any) -> Shape:
        """Return (batch, queries, features of the value)."""
        query, value, _ = self._checked_shapes(input_shape)
        return (*query[:-1], value[-1])


def _is_shape(items: Any) -> bool:
    """Tell the shape of one tensor from a list of tensors or of shapes."""
    return all(item is None or isinstance(item, int) for item in items)


class Attention(_Attention):
    """Weighted means of values; the weights come from products of query and key.

    Parameters
    ----------
    use_scale : bool
        Whether the scores are multiplied by a number that is trained.
    score_mode : {"dot", "concat"}
        "dot" compares by the product, "concat" by the sum of tanh(query + key).
    dropout : float
        Share of the weights that is dropped in training.
    seed : int, optional
        Makes the dropout repeatable.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Called on a list [query, value] or [query, value, key].
    output = softmax(scale * query key^T) value. Luong et al. [1] compare so.

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
                f"{self.label}: score_mode {score_mode!r}; expected 'dot' or 'concat'."
            )
        self.use_scale = bool(use_scale)
        self.score_mode = score_mode

    def build(self, input_shape: Any) -> None:
        """Make the numbers `scale` and `concat_score_weight`, where they are asked for."""
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
        """Return the scaled products, or the sums of tanh."""
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
        Whether each feature has a factor that is trained.
    dropout : float
        Share of the weights that is dropped in training.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Called on a list [query, value] or [query, value, key].
    score(t, s) = sum_i scale_i tanh(query_ti + key_si), as Bahdanau et al. [1] compare.

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

    def build(self, input_shape: Any) -> None:
        """Make `scale`: one factor for each feature."""
        query, _, _ = self._checked_shapes(input_shape)
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight(
                name="scale", shape=(query[-1],), initializer="glorot_uniform"
            )
        self.built = True

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Return the sums of tanh, feature by feature scaled."""
        bent = K.tanh(K.expand_dims(query, 2) + K.expand_dims(key, 1))
        return K.sum(bent if self.scale is None else bent * self.scale, axis=-1)
