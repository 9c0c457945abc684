"""Measures how long it takes to build and run architectures such as ResNet50.

    python benchmarks/architectures.py [ResNet50 InceptionV3 ...]

Each architecture is built three times with new weights, and predicts one image after a warm-up. The
minimum times are printed, in seconds, and those of Keras 3 if it is installed.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

DEFAULT = ["ResNet50", "InceptionV3", "MobileNet", "DenseNet121", "VGG16"]


def least(work: Callable[[], Any], times: int = 3) -> float:
    """Return the shortest time of several runs of a function, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def measured(applications: Any, name: str) -> tuple[float, float]:
    """Return the shortest seconds to build an architecture, and to predict one image with it."""
    make = getattr(applications, name)
    build = least(lambda: make(weights=None))
    model = make(weights=None)
    size = model.inputs[0].shape[1]
    image = np.random.default_rng(0).normal(size=(1, size, size, 3)).astype("float32")
    arguments = {"verbose": 0}
    model.predict(image, **arguments)
    return build, least(lambda: model.predict(image, **arguments))


def main(names: list[str]) -> None:
    """Print a row for each architecture."""
    os.environ.setdefault("KERAS_BACKEND", "jax")
    libraries = ["kerascope.applications"]
    try:
        importlib.import_module("keras")
        libraries.append("keras.applications")
    except ImportError:
        pass
    print(f"{'':16}{'':24}{'build':>8}{'predict':>9}")
    for name in names:
        for library in libraries:
            build, predict = measured(importlib.import_module(library), name)
            print(f"{name:16}{library:24}{build:8.2f}{predict:9.3f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or DEFAULT)
