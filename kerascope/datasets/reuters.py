"""Reuters: 11,228 news wires as lists of word numbers, in 46 topics.

Keras calls it `keras.datasets.reuters`. Source: the Reuters-21578 collection of 1987
(D. Lewis), turned into word numbers by the authors of Keras.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.datasets import local_files
from kerascope.missing_names import answer_missing_names

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/reuters.npz"
SHA256 = "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
INDEX_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/reuters_word_index.json"
INDEX_MD5 = "4d44cc38712099c9e383dc6e5f11a921"

Samples = tuple[np.ndarray, np.ndarray]


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **old_spellings: Any,
) -> tuple[Samples, Samples]:
    """Return the news wires, fetching them the first time.

    Parameters
    ----------
    path : str
        An absolute path to the file, or its name in the cache (`~/.keras/datasets`).
    num_words, skip_top, maxlen, start_char, oov_char, index_from
        Which words and texts are kept: see `kerascope.datasets.local_files.WordChoice`.
    test_split : float, from 0 to less than 1
        Share of the texts that becomes the test set.
    seed : int
        Seed of the shuffle before the split.
    **old_spellings
        Keras 1's `nb_words`.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (texts,), of lists of int. `y`: shape (texts,), int.

    Raises
    ------
    ArgumentError
        If `test_split` is out of its range.
    UnavailableError
        If the file is missing and cannot be downloaded.
    DataError
        If the file cannot be read, or no text is shorter than `maxlen`.

    Notes
    -----
    Without `num_words`, the rarest word is kept. Keras 2 replaces it with `oov_char`.
    """
    where = "reuters.load_data"
    num_words = local_files.with_old_spelling(where, num_words, old_spellings)
    local_files.checked_test_split(where, test_split)
    choice = local_files.WordChoice(num_words, skip_top, maxlen, start_char, oov_char, index_from)
    file = local_files.find_file(where, path, ORIGIN, SHA256)
    texts, labels = local_files.shuffled(
        np.random.RandomState(seed), *local_files.read_npz(where, file, ("x", "y"))
    )
    x, y = local_files.choose_words(where, texts, labels, choice)
    train_count = int(len(x) * (1 - test_split))
    return (x[:train_count], y[:train_count]), (x[train_count:], y[train_count:])


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Return the number of each word, where 1 is the most frequent word.

    Parameters
    ----------
    path : str
        An absolute path to the file, or its name in the cache (`~/.keras/datasets`).

    Returns
    -------
    dict of str to int
        The numbers before `load_data` adds `index_from`.

    Raises
    ------
    UnavailableError
        If the file is missing and cannot be downloaded.
    DataError
        If the file cannot be read.
    """
    where = "reuters.get_word_index"
    file = local_files.find_file(where, path, INDEX_ORIGIN, INDEX_MD5)
    return local_files.read_word_index(where, file)


answer_missing_names(__name__)
