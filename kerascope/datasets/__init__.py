"""Data sets: `digits` comes with the package; the others are Keras's and are fetched once.

Each is a module with `load_data()`. Keras calls this package `keras.datasets`.
"""

from kerascope.datasets import (
    boston_housing,
    cifar10,
    cifar100,
    digits,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
)
from kerascope.missing_names import answer_missing_names

__all__ = [
    "boston_housing",
    "cifar10",
    "cifar100",
    "digits",
    "fashion_mnist",
    "imdb",
    "mnist",
    "reuters",
]

answer_missing_names(__name__)
