"""Fashion-MNIST: 70,000 pictures of clothes in 10 classes, 28x28 grey pixels.

Keras calls it `keras.datasets.fashion_mnist`. Source: H. Xiao, K. Rasul, R. Vollgraf,
*Fashion-MNIST*, Zalando SE, MIT licence, https://github.com/zalandoresearch/fashion-mnist
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kerascope.datasets.local_files import read_idx, unreadable
from kerascope.utils.data_utils import get_file

ORIGIN = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"
FOLDER = "datasets/fashion-mnist"
# The MD5 checksums published by the authors.
MD5 = {
    "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
}

Samples = tuple[np.ndarray, np.ndarray]


def load_data() -> tuple[Samples, Samples]:
    """Return Fashion-MNIST, fetching its four files the first time.

    Returns
    -------
    (x_train, y_train), (x_test, y_test) : tuples of arrays
        `x`: shape (60000 or 10000, 28, 28), uint8. `y`: shape (60000 or 10000,), uint8, 0 to 9:
        T-shirt, trouser, pullover, dress, coat, sandal, shirt, sneaker, bag, ankle boot.

    Raises
    ------
    UnavailableError
        If a file is not in `~/.keras/datasets/fashion-mnist` and cannot be downloaded.
    DataError
        If a file cannot be read.
    """
    return _read_part("train"), _read_part("t10k")


def _read_part(part: str) -> Samples:
    where = "fashion_mnist.load_data"
    images_path = _find(f"{part}-images-idx3-ubyte.gz")
    labels_path = _find(f"{part}-labels-idx1-ubyte.gz")
    images = read_idx(where, images_path, axes=3)
    labels = read_idx(where, labels_path, axes=1)
    if len(images) != len(labels):
        raise unreadable(where, labels_path, f"{len(images)} labels", len(labels))
    return images, labels


def _find(name: str) -> Path:
    return Path(get_file(name, ORIGIN + name, file_hash=MD5[name], cache_subdir=FOLDER))
