"""Text made into numbers: words, hashes of words, and `Tokenizer`, which numbers them."""

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
        Characters that separate words, as `split` does; by default punctuation, but not the
        apostrophe.
    lower : bool
        Make all letters small.
    split : str
        What stands between words.

    Examples
    --------
    >>> text_to_word_sequence("The cat's tail: long, black.")
    ['the', "cat's", 'tail', 'long', 'black']
    """
    if lower:
        text = text.lower()
    separated = text.translate({ord(character): split for character in filters})
    return [word for word in separated.split(split) if word]


Text = str | list[str]  # a list holds words that are separated already


def _check_texts(texts: Any, method: str) -> None:
    """Raise ArgumentError for one text, whose characters would be taken for texts."""
    if isinstance(texts, str):
        raise ArgumentError(
            f"Tokenizer: {method} got one text; expected a list of texts. Write [text]."
        )


class Tokenizer:
    """Numbers the words of texts: 1 for the most frequent one, and so on; 0 is no word.

    Parameters
    ----------
    num_words : int, optional
        Use only words with numbers less than this one; all are counted nevertheless.
    filters : str
        Characters that are left out of texts.
    lower : bool
        Make all letters small.
    split : str
        What stands between words.
    char_level : bool
        Every character is a word.
    oov_token : str, optional
        Stands for words that are not known or not used; it gets the number 1.
    document_count : int
        Number of texts seen so far.
    **kwargs
        Keras 1's `nb_words`.

    Attributes
    ----------
    word_counts : Counter of str
        How often each word came, in the order of first appearance.
    word_docs : Counter of str
        In how many texts it came.
    word_index : dict of str to int
    index_word : dict of int to str
    index_docs : dict of int to int
        `word_docs` by number.
    document_count : int

    Notes
    -----
    Of words that are equally frequent the one that came first gets the smaller number, so the same
    texts always give the same numbers.

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
        """Return the words of a text; a list of words is one already.

        Raises
        ------
        DataError
            It is neither, but a number or nothing, as tables have it where a text is missing.
        """
        if not isinstance(text, (str, list)):
            raise DataError(
                f"Tokenizer: one of the texts is {text!r}, a {type(text).__name__}; expected text, "
                "or a list of words. Write str(...), or leave it out."
            )
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [word.lower() for word in text] if isinstance(text, list) else text.lower()
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Iterable[Text]) -> None:
        """Count the words of texts, and number them anew.

        Parameters
        ----------
        texts : iterable of str, or of list of str
            A list holds words that are separated already.

        Raises
        ------
        ArgumentError
            It is one text, not a list of them.
        DataError
            One of them is no text. Nothing was counted.
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
        """Count in how many lists of word numbers each number comes; for `sequences_to_matrix`."""
        for sequence in sequences:
            self.document_count += 1
            for number in dict.fromkeys(sequence):
                self.index_docs[number] = self.index_docs.get(number, 0) + 1

    # --- translating ------------------------------------------------------------------------------

    def texts_to_sequences(self, texts: Iterable[Text]) -> list[list[int]]:
        """Return each text as a list of word numbers; words that are not used are left out.

        Raises
        ------
        ArgumentError
            It is one text, not a list of them.
        """
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Text]) -> Iterator[list[int]]:
        """Yield what `texts_to_sequences` returns, text by text."""
        _check_texts(texts, "texts_to_sequences")
        used = self.word_index
        if self.num_words is not None:
            used = {word: number for word, number in used.items() if number < self.num_words}
        other = None if self.oov_token is None else self.word_index.get(self.oov_token)
        for text in texts:
            numbers = (used.get(word, other) for word in self._words(text))
            yield [number for number in numbers if number is not None]

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """Return for each list of word numbers its words, with spaces between them."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Iterable[int]]) -> Iterator[str]:
        """Yield what `sequences_to_texts` returns, text by text."""
        used = self.index_word
        if self.num_words is not None:
            used = {number: word for number, word in used.items() if number < self.num_words}
        for sequence in sequences:
            words = (used.get(number, self.oov_token) for number in sequence)
            yield " ".join(word for word in words if word is not None)

    # --- matrices ---------------------------------------------------------------------------------

    def texts_to_matrix(self, texts: Iterable[Text], mode: str = "binary") -> np.ndarray:
        """Return a row for each text and a column for each word number.

        See `sequences_to_matrix`.
        """
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> np.ndarray:
        r"""Return a row for each list of word numbers and a column for each word number.

        Parameters
        ----------
        sequences : list of list of int
        mode : {"binary", "count", "freq", "tfidf"}
            Whether a word is there, how often (:math:`c`), :math:`c` divided by the length of the
            list, or how telling it is.

        Returns
        -------
        ndarray, shape (len(sequences), num_words), float64

        Raises
        ------
        ArgumentError
            There is no such mode.
        NotBuiltError
            Nobody knows how many words there are, or in how many texts each comes.

        Notes
        -----
        "tfidf" of word w, which is in :math:`n_w` of the N texts seen by `fit_on_texts`:
        :math:`(1 + \ln c) \ln(1 + N / (1 + n_w))`.
        """
        if mode not in MODES:
            raise ArgumentError(
                f"Tokenizer: unknown mode {mode!r}; expected one of {', '.join(MODES)}. "
                f"{did_you_mean(str(mode), MODES)}"
            )
        columns = self._count_columns()
        if mode == "tfidf" and not self.document_count:
            raise NotBuiltError(
                "Tokenizer: fit_on_texts (or fit_on_sequences) before mode 'tfidf'."
            )
        lists = [np.asarray(sequence, dtype=np.int64) for sequence in sequences]
        matrix = np.zeros((len(lists), columns))
        if not lists:
            return matrix
        # Most words are in few texts, so only the places with a word are computed.
        rows = np.repeat(np.arange(len(lists)), [len(numbers) for numbers in lists])
        numbers = np.concatenate(lists)
        used = (numbers >= 0) & (numbers < columns)
        places, counts = np.unique(rows[used] * columns + numbers[used], return_counts=True)
        matrix.flat[places] = self._values(mode, counts, places // columns, places % columns, lists)
        return matrix

    def _values(
        self, mode: str, counts: np.ndarray, rows: np.ndarray, words: np.ndarray, lists: Any
    ) -> np.ndarray:
        """Return what stands where word `words[i]` comes `counts[i]` times in text `rows[i]`."""
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
            "Tokenizer: the number of words is not known; expected num_words=..., or texts first: "
            "fit_on_texts."
        )

    # --- configuration ----------------------------------------------------------------------------

    def get_config(self) -> dict[str, Any]:
        """Return arguments and counts, as what JSON can hold; the counts as JSON text."""
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
    """Return the tokenizer that `Tokenizer.to_json` described.

    Raises
    ------
    ConfigError
        The text is no such description.

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
            f"tokenizer_from_json: no description of a Tokenizer; expected what to_json returned. "
            f"({type(error).__name__}: {error})"
        ) from error
    tokenizer = Tokenizer(**config)
    vars(tokenizer).update(counted)
    for name in ("word_counts", "word_docs"):
        setattr(tokenizer, name, Counter(counted[name]))
    for name in ("index_docs", "index_word"):  # JSON knows only text as keys
        by_number = {int(index): value for index, value in counted[name].items()}
        setattr(tokenizer, name, by_number)
    return tokenizer


# --- hashes of words ------------------------------------------------------------------------------


def one_hot(
    text: str, n: int, filters: str = DEFAULT_FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Return a number from 1 to n - 1 for each word of a text, by Python's `hash`.

    Two words may have the same number.

    Parameters
    ----------
    text : str
    n : int
        One more than the greatest number.
    filters, lower, split
        See `text_to_word_sequence`.

    Notes
    -----
    Python's `hash` of text is another one in each process (unless the environment variable
    PYTHONHASHSEED is set). Numbers that shall mean the same tomorrow come from
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
        One more than the greatest number; 0 stands for no word.
    hash_function : {"md5"} or callable, optional
        "md5" gives the same numbers on every machine and every day. Default: Python's `hash`, which
        is another one in each process.
    filters, lower, split
        See `text_to_word_sequence`.

    Raises
    ------
    ArgumentError
        `n` is less than 2, or there is no such hash function.

    Examples
    --------
    >>> hashing_trick("The cat and the dog", 200, hash_function="md5")
    [165, 20, 121, 165, 193]
    """
    if n < 2:
        raise ArgumentError(
            f"hashing_trick: n is {n}; expected 2 or more, since the numbers are 1 to n - 1."
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
        f"hashing_trick: hash_function is {chosen!r}; expected 'md5', a function or None."
    )


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)
