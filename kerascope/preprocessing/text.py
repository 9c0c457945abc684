"""Convert text to numbers: split it into words, hash words, or number them by `Tokenizer`."""

from __future__ import annotations

import hashlib
import json
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from kerascope.errors import ArgumentError, ConfigError, DataError, NotBuiltError
from kerascope.registry import did_you_mean
from kerascope.spellings import translate

__all__ = ["Tokenizer", "hashing_trick", "one_hot", "text_to_word_sequence", "tokenizer_from_json"]

DEFAULT_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
MODES = ("binary", "count", "tfidf", "freq")


def text_to_word_sequence(
    text: str, filters: str = DEFAULT_FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """Split a text into words.

    Parameters
    ----------
    text : str
    filters : str
        Characters that separate words, as `split` does. Default: punctuation, except the
        apostrophe.
    lower : bool
        Whether to convert the text to lower case.
    split : str
        The separator of words.

    Examples
    --------
    >>> text_to_word_sequence("The cat's tail: long, black.")
    ['the', "cat's", 'tail', 'long', 'black']
    """
    if lower:
        text = text.lower()
    separated = text.translate({ord(character): split for character in filters})
    return [word for word in separated.split(split) if word]


Text = str | list[str]  # a list contains separate words


def _check_texts(texts: Any, method: str) -> None:
    """Raise ArgumentError for a single string, whose characters would be used as texts."""
    if isinstance(texts, str):
        raise ArgumentError(
            f"Tokenizer: {method}: expected a list of texts, got one text. Write [text]."
        )


class Tokenizer:
    """Numbers the words of texts by frequency. The most frequent word is 1; 0 is not used.

    Parameters
    ----------
    num_words : int, optional
        Use only words whose numbers are less than this. Other words are counted, too.
    filters : str
        Characters that separate words, as `split` does.
    lower : bool
        Whether to convert texts to lower case.
    split : str
        The separator of words.
    char_level : bool
        Whether every character is a word.
    oov_token : str, optional
        The word used for unknown and unused words; it gets the number 1.
    document_count : int
        Number of texts that were counted before.
    **kwargs
        Keras 1's `nb_words`.

    Attributes
    ----------
    word_counts : Counter of str
        The number of occurrences of each word, in the order of first appearance.
    word_docs : Counter of str
        The number of texts with each word.
    word_index : dict of str to int
        The number of each word.
    index_word : dict of int to str
        The word with each number.
    index_docs : dict of int to int
        The number of texts with each word, by the number of the word.
    document_count : int
        The number of texts that were counted.

    Notes
    -----
    Of equally frequent words, the first to appear gets the smaller number, so the same texts always
    give the same numbers.

    Examples
    --------
    >>> tokenizer = Tokenizer(oov_token="?")
    >>> tokenizer.fit_on_texts(["The cat sat.", "The dog sat down."])
    >>> tokenizer.word_index
    {'?': 1, 'the': 2, 'sat': 3, 'cat': 4, 'dog': 5, 'down': 6}
    >>> tokenizer.texts_to_sequences(["the bird sat"])
    [[2, 1, 3]]
    >>> tokenizer.sequences_to_texts([[2, 5, 3]])
    ['the dog sat']
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = DEFAULT_FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        old = translate("Tokenizer", kwargs)
        num_words = old.pop("num_words", num_words)
        for name in old:
            known = ("num_words", "filters", "lower", "split", "char_level", "oov_token")
            raise ArgumentError(f"Tokenizer: no argument {name!r}. {did_you_mean(name, known)}")
        self.word_counts: Counter[str] = Counter()
        self.word_docs: Counter[str] = Counter()
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: dict[int, int] = {}
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    # --- counting ---------------------------------------------------------------------------------

    def _words(self, text: Any) -> Any:
        """Return the words of a text. A list is used as a list of words.

        Raises
        ------
        DataError
            The text is neither a string nor a list, for example None or NaN from a table.
        """
        if not isinstance(text, (str, list)):
            raise DataError(
                f"Tokenizer: expected texts or lists of words, got {text!r}, a "
                f"{type(text).__name__}. Use str(...), or remove it."
            )
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [word.lower() for word in text] if isinstance(text, list) else text.lower()
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Text]) -> None:
        """Count the words of texts, and number all words again.

        Parameters
        ----------
        texts : iterable of str, or of list of str
            A list contains separate words.

        Raises
        ------
        ArgumentError
            `texts` is one text, not a list.
        DataError
            An element is not a text. In this case no text is counted.
        """
        _check_texts(texts, "fit_on_texts")
        counts: Counter[str] = Counter()
        docs: Counter[str] = Counter()
        number = 0
        for text in texts:
            number += 1
            words = self._words(text)
            counts.update(words)
            docs.update(list(dict.fromkeys(words)))
        self.document_count += number
        self.word_counts.update(counts)
        self.word_docs.update(docs)
        self._number_words()

    def _number_words(self) -> None:
        by_count = sorted(self.word_counts.items(), key=operator.itemgetter(1), reverse=True)
        first = [] if self.oov_token is None else [self.oov_token]
        words = [*first, *(word for word, _ in by_count if word not in first)]
        self.word_index = {word: number for number, word in enumerate(words, start=1)}
        self.index_word = dict(enumerate(words, start=1))
        self.index_docs = {self.word_index[word]: count for word, count in self.word_docs.items()}

    def fit_on_sequences(self, sequences: Iterable[Iterable[int]]) -> None:
        """Count the sequences that contain each word number, for use in `sequences_to_matrix`."""
        for sequence in sequences:
            self.document_count += 1
            for number in dict.fromkeys(sequence):
                self.index_docs[number] = self.index_docs.get(number, 0) + 1

    # --- converting -------------------------------------------------------------------------------

    def texts_to_sequences(self, texts: Iterable[Text]) -> list[list[int]]:
        """Return each text as a list of word numbers.

        Unknown and unused words have the number of `oov_token`. Without `oov_token`, they are
        skipped.

        Raises
        ------
        ArgumentError
            `texts` is one text, not a list.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Text]) -> Iterator[list[int]]:
        """Yield the word numbers of each text, as `texts_to_sequences` returns them."""
        _check_texts(texts, "texts_to_sequences")
        used = self.word_index
        if self.num_words is not None:
            used = {word: number for word, number in used.items() if number < self.num_words}
        other = None if self.oov_token is None else self.word_index.get(self.oov_token)
        for text in texts:
            numbers = (used.get(word, other) for word in self._words(text))
            yield [number for number in numbers if number is not None]

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """Return the text for each list of word numbers, with spaces between words."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield the text for each list of word numbers, as `sequences_to_texts` returns it."""
        used = self.index_word
        if self.num_words is not None:
            used = {number: word for number, word in used.items() if number < self.num_words}
        for sequence in sequences:
            words = (used.get(number, self.oov_token) for number in sequence)
            yield " ".join(word for word in words if word is not None)

    # --- matrices ---------------------------------------------------------------------------------

    def texts_to_matrix(self, texts: Iterable[Text], mode: str = "binary") -> np.ndarray:
        """Return a matrix with a row for each text and a column for each word number.

        See `sequences_to_matrix`.
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> np.ndarray:
        r"""Return a matrix with a row for each list of word numbers and a column for each number.

        Parameters
        ----------
        sequences : list of list of int
            Lists of word numbers.
        mode : {"binary", "count", "freq", "tfidf"}
            The values: 1 if the word occurs, its number of occurrences :math:`c`, :math:`c` divided
            by the length of the list, or its weight (see Notes).

        Returns
        -------
        ndarray, shape (len(sequences), num_words), float64

        Raises
        ------
        ArgumentError
            The mode is unknown.
        NotBuiltError
            No texts were counted, so the number of words or of texts with a word is unknown.

        Notes
        -----
        "tfidf" of a word in :math:`n_w` of the N texts given to `fit_on_texts`:
        :math:`(1 + \ln c) \ln(1 + N / (1 + n_w))`.
        """
        if mode not in MODES:
            raise ArgumentError(
                f"Tokenizer: unknown mode {mode!r}. {did_you_mean(str(mode), MODES)}"
                f"Use one of: {', '.join(MODES)}."
            )
        columns = self._count_columns()
        if mode == "tfidf" and not self.document_count:
            raise NotBuiltError(
                "Tokenizer: mode 'tfidf' needs fit_on_texts (or fit_on_sequences) first."
            )
        lists = [np.asarray(sequence, dtype=np.int64) for sequence in sequences]
        matrix = np.zeros((len(lists), columns))
        if not lists:
            return matrix
        # Most words occur in few texts, so only the non-zero elements are computed.
        rows = np.repeat(np.arange(len(lists)), [len(numbers) for numbers in lists])
        numbers = np.concatenate(lists)
        used = (numbers >= 0) & (numbers < columns)
        places, counts = np.unique(rows[used] * columns + numbers[used], return_counts=True)
        matrix.flat[places] = self._values(mode, counts, places // columns, places % columns, lists)
        return matrix

    def _values(
        self, mode: str, counts: np.ndarray, rows: np.ndarray, words: np.ndarray, lists: Any
    ) -> np.ndarray:
        """Return the matrix element of each pair (text `rows[i]`, word `words[i]`).

        The word occurs `counts[i]` times in the text.
        """
        if mode == "binary":
            return np.ones(len(counts))
        if mode == "count":
            return counts
        if mode == "freq":
            lengths = np.array([len(numbers) for numbers in lists])
            return counts / lengths[rows]
        docs = np.array([self.index_docs.get(int(word), 0) for word in words])
        return (1 + np.log(counts)) * np.log(1 + self.document_count / (1 + docs))

    def _count_columns(self) -> int:
        if self.num_words:
            return self.num_words
        if self.word_index:
            return len(self.word_index) + 1
        raise NotBuiltError(
            "Tokenizer: the number of words is not known. Give num_words=..., or call "
            "fit_on_texts first."
        )

    # --- configuration ----------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return the arguments as a dict for JSON, with the counts as JSON text."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs: Any) -> str:
        """Return the tokenizer as JSON; `tokenizer_from_json` reads it."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


_COUNTED = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Return the tokenizer from the JSON that `Tokenizer.to_json` returned.

    Raises
    ------
    ConfigError
        The JSON does not describe a tokenizer.

    Examples
    --------
    >>> tokenizer = Tokenizer()
    >>> tokenizer.fit_on_texts(["a cat", "a dog"])
    >>> tokenizer_from_json(tokenizer.to_json()).word_index
    {'a': 1, 'cat': 2, 'dog': 3}
    """
    try:
        config = dict(json.loads(json_string)["config"])
        counted = {name: json.loads(config.pop(name)) for name in _COUNTED}
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"tokenizer_from_json: expected the JSON of Tokenizer.to_json, got other text "
            f"({type(error).__name__}: {error})."
        ) from error
    tokenizer = Tokenizer(**config)
    vars(tokenizer).update(counted)
    for name in ("word_counts", "word_docs"):
        setattr(tokenizer, name, Counter(counted[name]))
    for name in ("index_docs", "index_word"):  # in JSON, keys are text
        by_number = {int(index): value for index, value in counted[name].items()}
        setattr(tokenizer, name, by_number)
    return tokenizer


# --- hashes of words ------------------------------------------------------------------------------


def one_hot(
    text: str, n: int, filters: str = DEFAULT_FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Return a number from 1 to n - 1 for each word of a text, by Python's `hash`.

    Different words may get the same number.

    Parameters
    ----------
    text : str
    n : int
        One more than the largest number.
    filters, lower, split
        See `text_to_word_sequence`.

    Notes
    -----
    Python's `hash` of a string differs in each process, unless the environment variable
    PYTHONHASHSEED is set. For repeatable numbers use
    `hashing_trick(text, n, hash_function="md5")`.

    Examples
    --------
    >>> numbers = one_hot("the cat and the dog", 50)
    >>> numbers[0] == numbers[3], len(numbers)
    (True, 5)
    """
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: str | Callable[[str], int] | None = None,
    filters: str = DEFAULT_FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Return a number from 1 to n - 1 for each word of a text, by a hash function.

    Parameters
    ----------
    text : str
    n : int
        One more than the largest number; 0 is not used.
    hash_function : {"md5"} or callable, optional
        "md5" gives the same numbers on every machine. Default: Python's `hash`, which differs in
        each process.
    filters, lower, split
        See `text_to_word_sequence`.

    Raises
    ------
    ArgumentError
        `n` is less than 2, or the hash function is unknown.

    Examples
    --------
    >>> hashing_trick("The cat and the dog", 200, hash_function="md5")
    [165, 20, 121, 165, 193]
    """
    if n < 2:
        raise ArgumentError(
            f"hashing_trick: expected n >= 2, because the numbers are 1 to n - 1, got {n}."
        )
    function = _hash_function(hash_function)
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [function(word) % (n - 1) + 1 for word in words]


def _hash_function(chosen: str | Callable[[str], int] | None) -> Callable[[str], int]:
    if chosen is None:
        return hash
    if chosen == "md5":
        return _md5
    if callable(chosen):
        return chosen
    raise ArgumentError(
        f"hashing_trick: expected hash_function 'md5', a function or None, got {chosen!r}."
    )


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
