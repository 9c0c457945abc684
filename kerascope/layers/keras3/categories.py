"""Layers that turn numbers, words and texts into categories, and categories into rows of 0 and 1.

`Discretization` returns the index of the interval that contains a number. `CategoryEncoding` turns
categories into rows of 0 and 1. Both work on arrays and inside a model. `IntegerLookup`,
`StringLookup` and `TextVectorization` look up words in a vocabulary; `TextVectorization` splits
texts into words first. These three prepare data: they take lists and arrays, and return arrays.
Since tensors cannot hold text, use them in front of a model, not inside:
`model.fit(vectorize(texts), labels)`.

In Keras 3, all of these layers are in `keras.layers` (source folder `preprocessing`), and the
layers that look up words need TensorFlow.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.indexing import OneHot
from kerascope.backend.shapes import Shape
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, DtypeError, NotYetError, RefusedError, ShapeError
from kerascope.layers.arguments import positive_int
from kerascope.layers.ops.numpy import digitize
from kerascope.layers.ops.on_anything import on_anything
from kerascope.printable import printable

__all__ = [
    "CategoryEncoding",
    "Discretization",
    "IntegerLookup",
    "StringLookup",
    "TextVectorization",
]


MODES = ("one_hot", "multi_hot", "count")


def check_mode(layer: Layer, mode: Any, sparse: bool, expected: Sequence[str] = MODES) -> Any:
    """Return `mode`; raise an error if the layer has no such mode, or if `sparse` is True."""
    if sparse:
        raise RefusedError(f"{layer.label}: sparse=True is not supported. Leave it out.")
    if mode not in expected:
        names = ", ".join(map(repr, expected))
        raise ArgumentError(f"{layer.label}: unknown output_mode {mode!r}. Use one of {names}.")
    return mode


def shape_of_encoded(shape: Shape, mode: str, depth: int, label: str) -> Shape:
    """Return the shape of the result of `encode` for categories of shape `shape`."""
    if mode == "one_hot":
        return (*(shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape or (1,)), depth)
    if len(shape) > 2 and shape[-1] == 1:
        raise ShapeError(
            f"{label}: expected categories with a last axis longer than 1, which are marked "
            f"together, got shape {shape}. Squeeze it, or use output_mode='one_hot'."
        )
    return (*shape[:-1], depth)


def encode(
    categories: Any, mode: str, depth: int, dtype: str, label: str, weights: Any = None
) -> Tensor:
    """Return a row of `depth` numbers for each category, or for each group of categories.

    The categories along the last axis form a group.

    Parameters
    ----------
    categories : Tensor or np.ndarray, of whole numbers
        A category outside [0, depth) is ignored.
    mode : {"one_hot", "multi_hot", "count"}
        "one_hot": a row for each category, with a 1 at its index. "multi_hot": a row for each
        group, with a 1 at the index of each category in it. "count": a row for each group, with the
        number of times that each category occurs.
    depth : int
        Number of categories, and length of a row.
    dtype : str
        Dtype of the rows.
    label : str
        The layer's label in errors.
    weights : Tensor, optional
        The number that each category adds to a count, instead of 1.

    Raises
    ------
    ShapeError
        With "multi_hot" or "count", `categories` has more than two axes, and the last axis has size
        1.
    """
    shape = shape_of_encoded(categories.shape, mode, depth, label)
    rows = OneHot(depth, dtype)(categories)
    if mode == "one_hot":
        squeezed = len(shape) < rows.ndim
        return K.squeeze(rows, -2) if squeezed else rows if rows.ndim > 1 else rows[None]
    if rows.ndim == 1:
        return rows
    if mode == "multi_hot":
        return K.max(rows, axis=-2)
    return K.sum(rows if weights is None else rows * K.expand_dims(weights, -1), axis=-2)


class CategoryEncoding(Layer):
    """Turns categories, given as whole numbers, into rows of zeros with ones at their indices.

    Parameters
    ----------
    num_tokens : int
        Number of categories.
    output_mode : {"multi_hot", "one_hot", "count"}
        Contents of the rows: see `encode`.
    sparse : bool
        An argument of Keras 3; only False is supported.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> CategoryEncoding(4)(np.array([[0, 1], [3, 3]])).tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        num_tokens: int | None = None,
        output_mode: str = "multi_hot",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.num_tokens = positive_int(num_tokens, f"{self.label}: num_tokens")
        self.output_mode = check_mode(self, output_mode, sparse)

    def call(self, inputs: Tensor, count_weights: Tensor | None = None) -> Tensor:
        """Return the categories as rows of zeros and ones, or in mode "count" as rows of counts.

        In mode "count", each category adds 1 to its count, or its number in `count_weights`.
        """
        if count_weights is not None:
            if self.output_mode != "count":
                raise ArgumentError(f"{self.label}: count_weights need output_mode='count'.")
            count_weights = K.cast(count_weights, self.dtype)
        return encode(
            inputs, self.output_mode, self.num_tokens, self.dtype, self.label, count_weights
        )

    def compute_output_shape(self, input_shape: Shape, count_weights_shape: Any = None) -> Shape:
        """Return the output shape, whose last axis has size `num_tokens`."""
        return shape_of_encoded(input_shape, self.output_mode, self.num_tokens, self.label)


class Discretization(Layer):
    """Returns for each number the index of the interval that contains it.

    Parameters
    ----------
    bin_boundaries : list of float, optional
        Boundaries of the intervals: n boundaries make n + 1 intervals. Each boundary belongs to the
        interval on its right.
    num_bins : int, optional
        Instead of boundaries: the number of intervals that `adapt` makes, with equally many numbers
        in each.
    epsilon : float
        Maximum error of the fraction of numbers in each interval.
    output_mode : {"int", "one_hot", "multi_hot", "count"}
        "int" returns indices of intervals. The other modes return rows as `CategoryEncoding` does.
    sparse : bool
        An argument of Keras 3; only False is supported.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        Both or neither of `bin_boundaries` and `num_bins` are given, or the layer is called without
        boundaries.

    Examples
    --------
    >>> Discretization([0.0, 1.0])(np.array([-1.0, 0.0, 0.5, 3.0])).tolist()
    [0, 1, 1, 2]
    """

    def __init__(
        self,
        bin_boundaries: Sequence[float] | None = None,
        num_bins: int | None = None,
        epsilon: float = 0.01,
        output_mode: str = "int",
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        given = bin_boundaries is not None
        if given == (num_bins is not None) and not given:
            raise ArgumentError(f"{self.label}: expected either bin_boundaries or num_bins.")
        self.output_mode = check_mode(self, output_mode, sparse, ("int", *MODES))
        self.bin_boundaries = None if bin_boundaries is None else [float(x) for x in bin_boundaries]
        self.num_bins, self.epsilon = num_bins, epsilon

    def adapt(self, data: Any) -> None:
        """Compute boundaries from an array, with equally many of its numbers in each interval.

        About 1 / epsilon of the sorted numbers are kept, at equal distances. Boundaries are
        interpolated linearly between neighbouring kept numbers.
        """
        if self.num_bins is None:
            raise ArgumentError(f"{self.label}: cannot adapt, since bin_boundaries were given.")
        numbers = np.sort(np.asarray(data, "float32"), axis=None)
        step = max(int(numbers.size / (1.0 / self.epsilon)), 1)
        kept = numbers[step - 1 :: step]
        shares = np.arange(1, len(kept) + 1) / len(kept)
        if len(kept) * self.epsilon >= 1:
            grid = self.epsilon + np.arange(0.0, 1.0, self.epsilon)
            kept, shares = np.interp(grid, shares, kept), np.clip(grid, shares[0], 1.0)
        wanted = np.arange(1, self.num_bins) / self.num_bins
        self.bin_boundaries = np.interp(wanted, shares, kept).tolist()

    def call(self, inputs: Tensor) -> Tensor:
        """Return the index of each number's interval.

        In other output modes than "int", return these indices encoded as by `CategoryEncoding`.
        """
        if self.bin_boundaries is None:
            raise ArgumentError(f"{self.label}: has no boundaries yet. Call adapt(data) first.")
        indices = digitize(inputs, np.asarray(self.bin_boundaries, "float32"))
        if self.output_mode == "int":
            return indices
        depth = len(self.bin_boundaries) + 1
        return encode(indices, self.output_mode, depth, self.dtype, self.label)


# --- vocabularies ---------------------------------------------------------------------------------


_encode_array = on_anything(encode)
_LOOKUP_MODES = ("int", *MODES, "tf_idf")


class _OnArrays(Layer):
    """Base class of layers that are called on arrays only; `_look_up` computes the output."""

    def _look_up(self, inputs: np.ndarray) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must define _look_up(inputs).")

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the output for a list or an array.

        Raises
        ------
        NotYetError
            `inputs` is a symbolic tensor.
        """
        if isinstance(inputs, Tensor):
            raise NotYetError(
                f"{self.label}: expected a list or an array, got the symbolic tensor "
                f"{inputs.name!r}. Call it on the data: model.fit(layer(data), ...).",
                subject=self,
            )
        return self._look_up(np.asarray(inputs))


class _Lookup(_OnArrays):
    """Base class of `StringLookup` and `IntegerLookup`; a subclass defines the type of its tokens.

    A vocabulary begins with the mask token, if the layer has one and its outputs are indices. Then
    come the tokens for unknown inputs, and then the known tokens.
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: Any = None,
        oov_token: Any = None,
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        **kwargs: Any,
    ) -> None:
        self._keywords_of_keras(kwargs)
        super().__init__(**kwargs)
        self.output_mode = check_mode(
            self, "multi_hot" if output_mode == "binary" else output_mode, sparse, _LOOKUP_MODES
        )
        if invert and output_mode != "int":
            raise ArgumentError(f"{self.label}: invert=True needs output_mode='int'.")
        self.max_tokens, self.num_oov_indices = max_tokens, num_oov_indices
        self.mask_token, self.oov_token = mask_token, oov_token
        self.invert, self.pad_to_max_tokens = bool(invert), bool(pad_to_max_tokens)
        self.built, self._is_given = True, vocabulary is not None
        self.vocabulary: list[Any] | None = None
        self.idf_weights: list[float] | None = None
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    def _keywords_of_keras(self, kwargs: dict[str, Any]) -> None:
        """Remove Keras 3's `vocabulary_size` and `salt` from `kwargs`.

        Raises
        ------
        RefusedError
            `salt` is given and not None.
        """
        kwargs.pop("vocabulary_size", None)
        if kwargs.pop("salt", None) is not None:
            raise RefusedError(f"{type(self).__name__}: salt is not supported. Leave it out.")

    def _tokens_of(self, array: np.ndarray) -> np.ndarray:
        """Return an array converted to tokens; raise DtypeError if a value has a wrong type."""
        raise NotImplementedError(f"{type(self).__name__} must define _tokens_of(array).")

    def _index_of_unknown(self, token: Any) -> int:
        return 0

    # --- the vocabulary ---------------------------------------------------------------------------

    @property
    def _special(self) -> list[Any]:
        has_mask = self.mask_token is not None and self.output_mode == "int"
        return [self.mask_token] * has_mask + [self.oov_token] * self.num_oov_indices

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[Any]:
        """Return the tokens in the order of their indices."""
        return [*(self._special if include_special_tokens else []), *(self.vocabulary or [])]

    def vocabulary_size(self) -> int:
        """Return the number of tokens, including the special ones."""
        return len(self.get_vocabulary())

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the vocabulary to a list of tokens, or to a file with one token on each line.

        Parameters
        ----------
        vocabulary : list, array, str or Path
            The tokens, with or without the special tokens (for padding and unknown inputs) at the
            beginning.
        idf_weights : list of float, optional
            The factor of each token's count in mode "tf_idf".

        Raises
        ------
        ArgumentError
            A token occurs twice, a special token is not at the beginning, there are more tokens
            than `max_tokens`, or `idf_weights` are missing in mode "tf_idf" or given in another
            mode.
        """
        if isinstance(vocabulary, (str, Path)):
            vocabulary = Path(vocabulary).read_text("utf-8").splitlines()
        tokens = self._tokens_of(np.asarray(vocabulary)).tolist()
        special = self._special
        if special and tokens[: len(special)] == special:
            tokens = tokens[len(special) :]
        if (idf_weights is None) == (self.output_mode == "tf_idf") or len(tokens) != len(
            tokens if idf_weights is None else idf_weights
        ):
            raise ArgumentError(
                f"{self.label}: expected as many idf_weights as tokens with output_mode='tf_idf', "
                f"and otherwise none."
            )
        twice = [token for token, count in Counter([*tokens, *set(special)]).items() if count > 1]
        if twice:
            raise ArgumentError(
                f"{self.label}: the vocabulary contains {printable(str(twice[0]))!r} twice, or a "
                f"special token {special} after others. Leave it out."
            )
        if self.max_tokens is not None and len(tokens) + len(special) > self.max_tokens:
            raise ArgumentError(
                f"{self.label}: expected at most max_tokens={self.max_tokens} tokens, got "
                f"{len(tokens)} and {len(special)} special ones."
            )
        self._hold(tokens, None if idf_weights is None else [float(x) for x in idf_weights])
        self._is_given = True

    def _hold(self, tokens: list[Any], idf_weights: list[float] | None) -> None:
        self.vocabulary, self.idf_weights = tokens, idf_weights
        self._indices = {token: n for n, token in enumerate(self.get_vocabulary())}
        has_mask = self.mask_token is not None
        self._first_unknown = int(has_mask and self.output_mode == "int")
        if has_mask:
            self._indices[self.mask_token] = self._first_unknown - 1  # not marked, or 0
        self._indices.pop(self.oov_token, None)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Make the vocabulary from the tokens in data, the most frequent first.

        Parameters
        ----------
        data : list or array
            The tokens. For "tf_idf", each entry along the first axis is a document.
        batch_size, steps : int, optional
            Arguments of Keras 3 without effect.
        """
        tokens = self._tokens_of(np.asarray(data))
        self.adapt_documents(tokens.reshape(len(tokens), -1).tolist())

    def adapt_documents(self, documents: Iterable[Sequence[Any]]) -> None:
        """Make the vocabulary from documents, each a list of tokens; see `adapt`.

        Raises
        ------
        ArgumentError
            The constructor was given a vocabulary.
        """
        if self._is_given:
            raise ArgumentError(f"{self.label}: cannot adapt, since a vocabulary was given.")
        documents = list(documents)
        counts = Counter(token for document in documents for token in document)
        for token in (self.mask_token, self.oov_token):
            counts.pop(token, None)
        ranked = sorted(counts, key=lambda token: (counts[token], token), reverse=True)
        room = None if self.max_tokens is None else max(self.max_tokens - len(self._special), 0)
        tokens, weights = ranked[:room], None
        if self.output_mode == "tf_idf":
            has = Counter(token for document in documents for token in set(document))
            weights = [float(np.log1p(len(documents) / (1 + has[token]))) for token in tokens]
        self._hold(tokens, weights)

    # --- looking up -------------------------------------------------------------------------------

    def _look_up(self, inputs: np.ndarray) -> np.ndarray:
        if self.vocabulary is None:
            raise ArgumentError(f"{self.label}: has no vocabulary yet. Call adapt(data) first.")
        if self.invert:
            tokens = np.array([*self.get_vocabulary(), self.oov_token])
            return tokens[np.where((inputs < 0) | (inputs >= len(tokens)), -1, inputs)]
        return self.encode(self.indices(self._tokens_of(inputs)))

    def indices(self, tokens: np.ndarray) -> np.ndarray:
        """Return the index of each token in the vocabulary.

        Raises
        ------
        ArgumentError
            A token is not in the vocabulary, and `num_oov_indices` is 0.
        """
        distinct, which = np.unique(tokens, return_inverse=True)
        known, found = self._indices, []
        for token in distinct.tolist():
            if token not in known and not self.num_oov_indices:
                raise ArgumentError(
                    f"{self.label}: {printable(str(token))!r} is not in the vocabulary, and "
                    f"num_oov_indices is 0."
                )
            unknown = self._first_unknown + self._index_of_unknown(token)
            found.append(known.get(token, unknown))
        return np.array(found, "int64")[which].reshape(tokens.shape)

    def encode(self, indices: np.ndarray) -> np.ndarray:
        """Return token indices unchanged in mode "int"; otherwise encode them as rows."""
        if self.output_mode == "int":
            return indices
        has_weights = self.output_mode == "tf_idf"
        depth = self.vocabulary_size()
        if self.pad_to_max_tokens and self.max_tokens is not None:
            depth = self.max_tokens
        mode, dtype = ("count", self.dtype) if has_weights else (self.output_mode, "int64")
        rows = _encode_array(indices, mode, depth, dtype, self.label)
        if not has_weights:
            return rows
        weights = np.zeros(depth, dtype)
        idf = self.idf_weights or []
        weights[: self.num_oov_indices] = np.mean(idf) if idf else 0.0
        weights[self.num_oov_indices : self.num_oov_indices + len(idf)] = idf
        return rows * weights


class StringLookup(_Lookup):
    """Maps words to their indices in a vocabulary, which is given or made from data.

    Parameters
    ----------
    max_tokens : int, optional
        Maximum size of the vocabulary, including the special tokens.
    num_oov_indices : {0, 1}
        Number of indices for words that are not in the vocabulary.
    mask_token : str, optional
        The word for padding. Its index is 0.
    oov_token : str
        The word returned for unknown words if `invert` is True.
    vocabulary : list of str or path, optional
        Used instead of `adapt`.
    idf_weights : list of float, optional
        See `set_vocabulary`.
    invert : bool
        Whether the layer maps indices to words instead.
    output_mode : {"int", "one_hot", "multi_hot", "count", "tf_idf"}
        "int" returns indices. The other modes return rows of the size of the vocabulary, as
        `CategoryEncoding` does. "tf_idf" is the count of a word, multiplied by
        log(1 + documents / (1 + documents with the word)).
    pad_to_max_tokens : bool
        Whether rows have the size `max_tokens` even if the vocabulary is smaller.
    sparse, encoding : object
        Arguments of Keras 3; only False and "utf-8" are supported.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> StringLookup(vocabulary=["cat", "dog"])(["dog", "bird", "cat"]).tolist()
    [2, 0, 1]
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: str | None = None,
        oov_token: str = "[UNK]",
        vocabulary: Any = None,
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        pad_to_max_tokens: bool = False,
        sparse: bool = False,
        encoding: str = "utf-8",
        **kwargs: Any,
    ) -> None:
        if num_oov_indices > 1 or encoding != "utf-8":
            raise RefusedError(
                f"StringLookup: expected num_oov_indices 0 or 1 and encoding 'utf-8', since words "
                f"are not hashed, got {num_oov_indices} and {encoding!r}."
            )
        kwargs.pop("oov_method", None)
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
            output_mode, pad_to_max_tokens, sparse, **kwargs,
        )  # fmt: skip

    def _tokens_of(self, array: np.ndarray) -> np.ndarray:
        return as_text(array, self.label)


class IntegerLookup(_Lookup):
    """Maps whole numbers to their indices in a vocabulary, as `StringLookup` maps words.

    Parameters
    ----------
    max_tokens, mask_token, vocabulary, idf_weights, invert, output_mode, pad_to_max_tokens, sparse
        As for `StringLookup`.
    num_oov_indices : int
        Number n of indices for unknown inputs. Among these, an unknown input x gets index x modulo
        n.
    oov_token : int
        The number returned for unknown inputs if `invert` is True.
    vocabulary_dtype, oov_method : str
        Arguments of Keras 3; only "int64" and "floormod" are supported.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> IntegerLookup(vocabulary=[1000, 7])([7, 8, 1000]).tolist()
    [2, 0, 1]
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        num_oov_indices: int = 1,
        mask_token: int | None = None,
        oov_token: int = -1,
        vocabulary: Any = None,
        vocabulary_dtype: str = "int64",
        idf_weights: Any = None,
        invert: bool = False,
        output_mode: str = "int",
        sparse: bool = False,
        pad_to_max_tokens: bool = False,
        oov_method: str = "floormod",
        **kwargs: Any,
    ) -> None:
        if vocabulary_dtype != "int64" or oov_method != "floormod":
            raise RefusedError(
                f"IntegerLookup: expected vocabulary_dtype 'int64' and oov_method 'floormod', "
                f"got {vocabulary_dtype!r} and {oov_method!r}."
            )
        super().__init__(
            max_tokens, num_oov_indices, mask_token, oov_token, vocabulary, idf_weights, invert,
            output_mode, pad_to_max_tokens, sparse, **kwargs,
        )  # fmt: skip

    def _tokens_of(self, array: np.ndarray) -> np.ndarray:
        try:
            return array.astype("int64")
        except (TypeError, ValueError):
            raise DtypeError(f"{self.label}: expected whole numbers, got {array.dtype}.") from None

    def _index_of_unknown(self, token: Any) -> int:
        return int(token) % self.num_oov_indices


def as_text(array: np.ndarray, label: str) -> np.ndarray:
    """Return an array of texts; bytes are decoded as UTF-8.

    Raises
    ------
    DtypeError
        The array contains values that are neither str nor bytes.
    """
    if array.dtype.kind == "S":
        return np.char.decode(array, "utf-8")
    is_text = array.dtype.kind == "U" or all(isinstance(x, str) for x in array.flat)
    if not is_text:
        raise DtypeError(f"{label}: expected texts, got an array of {array.dtype}.")
    return array.astype(str)


# --- texts ----------------------------------------------------------------------------------------

_PUNCTUATION = re.compile("[" + re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + "]")
_TO_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # as Keras: ASCII alone

_STANDARDIZE: dict[str | None, Callable[[str], str]] = {
    None: str,
    "lower": lambda text: text.translate(_TO_LOWER),
    "strip_punctuation": lambda text: _PUNCTUATION.sub("", text),
    "lower_and_strip_punctuation": lambda text: _PUNCTUATION.sub("", text.translate(_TO_LOWER)),
}
_SPLIT: dict[str, Callable[[str], list[str]]] = {
    "whitespace": lambda text: re.findall(r"[^ \t\n\v\f\r]+", text),
    "character": list,
}


class TextVectorization(_OnArrays):
    """Turns texts into indices of words: cleans and splits the texts, then looks up the words.

    Parameters
    ----------
    max_tokens : int, optional
        Maximum size of the vocabulary, including its special tokens: "" for padding (0, only with
        output_mode "int") and "[UNK]" for unknown words.
    standardize : str or callable, optional
        "lower_and_strip_punctuation", "lower", "strip_punctuation", None, or a function from an
        array of texts to another.
    split : {"whitespace", "character", None} or callable
        None leaves each text whole; a function returns a list of words for each text.
    ngrams : int or tuple of int, optional
        Also look up groups of neighbouring words: of at most n words for an int n, or of the given
        sizes for a tuple.
    output_mode : {"int", "multi_hot", "count", "tf_idf"}
        As for `StringLookup`.
    output_sequence_length : int, optional
        In mode "int", rows are cut or padded with 0 to this length; default: the length of the
        longest row.
    pad_to_max_tokens, vocabulary, idf_weights, sparse, encoding : object
        As for `StringLookup`.
    ragged : bool
        An argument of Keras 3; only False is supported.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> layer = TextVectorization()
    >>> layer.adapt(["The cat.", "the dog"])
    >>> layer.get_vocabulary()
    ['', '[UNK]', 'the', 'dog', 'cat']
    >>> layer(["a cat", "THE dog barks"]).tolist()
    [[1, 4, 0], [2, 3, 1]]
    """

    def __init__(
        self,
        max_tokens: int | None = None,
        standardize: Any = "lower_and_strip_punctuation",
        split: Any = "whitespace",
        ngrams: Any = None,
        output_mode: str = "int",
        output_sequence_length: int | None = None,
        pad_to_max_tokens: bool = False,
        vocabulary: Any = None,
        idf_weights: Any = None,
        sparse: bool = False,
        ragged: bool = False,
        encoding: str = "utf-8",
        **kwargs: Any,
    ) -> None:
        kwargs.pop("vocabulary_size", None)
        super().__init__(**kwargs)
        if ragged or (ngrams is not None and split is None):
            what = "ragged=True: every array has rows of one length here" if ragged else "ngrams"
            raise RefusedError(f"{self.label}: {what}. Leave it out, or give split.")
        for argument, value, known in (
            ("standardize", standardize, _STANDARDIZE),
            ("split", split, (None, *_SPLIT)),
        ):
            if not callable(value) and value not in [*known]:
                raise ArgumentError(
                    f"{self.label}: unknown {argument} {value!r}. Use a function or one of "
                    f"{', '.join(map(repr, known))}."
                )
        if output_sequence_length is not None and output_mode != "int":
            raise ArgumentError(f"{self.label}: output_sequence_length needs output_mode='int'.")
        self.standardize, self.split = standardize, split
        self.ngrams = list(ngrams) if isinstance(ngrams, (tuple, list)) else ngrams
        self.output_sequence_length = output_sequence_length
        self.built = True
        self._lookup_layer = StringLookup(
            max_tokens, 1, "", vocabulary=vocabulary, idf_weights=idf_weights, sparse=sparse,
            output_mode=output_mode, pad_to_max_tokens=pad_to_max_tokens, encoding=encoding,
            name=f"{self.name}_lookup", dtype=self.dtype,
        )  # fmt: skip

    @property
    def vocabulary(self) -> list[str] | None:
        """The words of the vocabulary, without the special tokens; None before it is made."""
        return self._lookup_layer.vocabulary

    @property
    def idf_weights(self) -> list[float] | None:
        """The factor of each word in mode "tf_idf"."""
        return self._lookup_layer.idf_weights

    def get_vocabulary(self, include_special_tokens: bool = True) -> list[str]:
        """Return the words in the order of their indices."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self) -> int:
        """Return the number of words, including the special tokens."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary: Any, idf_weights: Any = None) -> None:
        """Set the vocabulary to a list of words, or to the words in a file; see `StringLookup`."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights)

    def adapt(self, data: Any, batch_size: int | None = None, steps: int | None = None) -> None:
        """Make the vocabulary from the words in texts, the most frequent first."""
        documents = self._words(np.asarray(data))
        if isinstance(documents, np.ndarray):
            self._lookup_layer.adapt(documents)
        else:
            self._lookup_layer.adapt_documents(documents)

    def _words(self, texts: np.ndarray) -> Any:
        """Return a list of words for each cleaned text; the cleaned texts if `split` is None."""
        texts = as_text(texts, self.label)
        if callable(self.standardize):
            texts = as_text(np.asarray(self.standardize(texts)), self.label)
        else:
            cleaned = [_STANDARDIZE[self.standardize](text) for text in texts.ravel().tolist()]
            texts = np.array(cleaned, str).reshape(texts.shape)
        if self.split is None:
            return texts
        if texts.ndim > 2 or (texts.ndim == 2 and texts.shape[1] != 1):
            raise ArgumentError(
                f"{self.label}: expected texts of shape (texts,) or (texts, 1), got {texts.shape}.",
                subject=self,
            )
        texts = texts.ravel()
        if callable(self.split):
            lists = [[str(word) for word in words] for words in self.split(texts)]
        else:
            lists = [_SPLIT[self.split](text) for text in texts.tolist()]
        if self.ngrams is None:
            return lists
        sizes = range(1, self.ngrams + 1) if isinstance(self.ngrams, int) else self.ngrams
        return [
            [" ".join(words[i : i + n]) for n in sizes for i in range(len(words) - n + 1)]
            for words in lists
        ]

    def _look_up(self, inputs: np.ndarray) -> np.ndarray:
        words = self._words(inputs)
        lookup = self._lookup_layer
        if isinstance(words, np.ndarray):
            return lookup(words)
        is_int = lookup.output_mode == "int"
        width = max(map(len, words), default=0)
        width = self.output_sequence_length or (width if is_int else max(width, 1))
        rows = np.full((len(words), width), 0 if is_int else -1, "int64")
        lookup(np.array([""]))  # raises an error before there is a vocabulary
        indices = lookup.indices(np.array([word for line in words for word in line], str))
        starts = np.cumsum([0, *map(len, words)])
        for row, start, end in zip(rows, starts[:-1], starts[1:], strict=True):
            found = indices[start:end][:width]
            row[: len(found)] = found
        return lookup.encode(rows if inputs.ndim else rows[0])
