"""IMDB: 50,000 film reviews as lists of word numbers, each good (1) or bad (0).

Keras calls it `keras.datasets.imdb`. Source: A. Maas and others, *Learning Word Vectors for
Sentiment Analysis*, 2011, https://ai.stanford.edu/~amaas/data/sentiment/
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.datasets import local_files

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb.npz"
SHA256 = "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
INDEX_ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/imdb_word_index.json"
INDEX_MD5 = "bfafd718b763782e994055a2d397834f"

Samples = tuple[np.ndarray, np.ndarray]


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    **old_spellings: Any,
) -> tuple[Samples, Samples]:
    """Return the film reviews, fetching them the first time.

    Parameters
    ----------
    path : str
        An absolute path to the file, or its name in the cache (`~/.keras/datasets`).
    num_words, skip_top, maxlen, start_char, oov_char, index_from
        Which words and texts are kept: see `kerascope.datasets.local_files.WordChoice`.
    seed : int
        Seed of the shuffle.
    **old_spellings
        Keras 1's `nb_words`.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (25000,), of lists of int. `y`: shape (25000,), int.

    Raises
    ------
    UnavailableError
        If the file is missing and cannot be downloaded.
    DataError
        If the file cannot be read, or no text is shorter than `maxlen`.

    Notes
    -----
    Two errors of Keras 2 are corrected: without `num_words`, the rarest word is kept, and with
    `maxlen`, the test set contains only test texts.
    """
    where = "imdb.load_data"
    num_words = local_files.with_old_spelling(where, num_words, old_spellings)
    choice = local_files.WordChoice(num_words, skip_top, maxlen, start_char, oov_char, index_from)
    file = local_files.find_file(where, path, ORIGIN, SHA256)
    names = ("x_train", "y_train", "x_test", "y_test")
    x_train, y_train, x_test, y_test = local_files.read_npz(where, file, names)
    random_state = np.random.RandomState(seed)
    train = local_files.shuffled(random_state, x_train, y_train)
    test = local_files.shuffled(random_state, x_test, y_test)
    train, test = (local_files.choose_words(where, *part, choice) for part in (train, test))
    return train, test


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
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
    where = "imdb.get_word_index"
    file = local_files.find_file(where, path, INDEX_ORIGIN, INDEX_MD5)
    return local_files.read_word_index(where, file)
