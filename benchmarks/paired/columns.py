"""The columns of the table: engine, environment and file in `peers/`."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.paired.workloads import unknown


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    title : str
        The title in the report.
    module, variant : str
        The file in `peers/`, and one of its columns.
    needs : tuple of str
        The packages required in its environment.
    environment : str
        The optional environment with them; empty for the project's own.
    imports : str
        The import statements of a program that uses it, timed as a row of the cold start.
    on_numpy : bool
        Whether its arrays are NumPy arrays, whose bytes Python can count.
    """

    title: str
    module: str
    variant: str
    needs: tuple[str, ...]
    environment: str
    imports: str
    on_numpy: bool = False


COLUMNS = {
    "numpy": Column(
        "hand-written NumPy", "hand_numpy", "", ("numpy",), "", "import numpy", on_numpy=True
    ),
    "kerascope": Column(
        "kerascope",
        "keras_models",
        "kerascope",
        ("numpy", "rich", "h5py"),
        "",
        "from kerascope import Model; from kerascope.layers import Dense",
        on_numpy=True,
    ),
    "kerascope-function": Column(
        "kerascope, the train function alone",
        "keras_models",
        "kerascope-function",
        ("numpy", "rich", "h5py"),
        "",
        "import kerascope",
        on_numpy=True,
    ),
    "jax": Column("JAX jit", "jax_jit", "", ("jax",), "jax", "import jax.numpy"),
    "torch": Column("torch eager", "torch_eager", "", ("torch", "numpy"), "torch", "import torch"),
    "keras-jax": Column(
        "Keras 3 on JAX", "keras_models", "jax", ("keras", "jax"), "jax", "import keras"
    ),
    "keras-tf": Column(
        "Keras 3 on TensorFlow",
        "keras_models",
        "tensorflow",
        ("keras", "tensorflow"),
        "tf",
        "import keras",
    ),
    "keras-torch": Column(
        "Keras 3 on torch", "keras_models", "torch", ("keras", "torch"), "torch", "import keras"
    ),
    "keras-numpy": Column(
        "Keras 3 on NumPy",
        "keras_models",
        "numpy",
        ("keras", "jax"),
        "jax",
        "import keras",
        on_numpy=True,
    ),
    "autograd": Column(
        "autograd",
        "autograd_numpy",
        "",
        ("autograd",),
        "autograd",
        "import autograd.numpy",
        on_numpy=True,
    ),
}

REFERENCE = "numpy"
ALWAYS = "kerascope"


def chosen(words: list[str]) -> list[str]:
    """Return the named columns, always with kerascope and the reference, in table order.

    Raises
    ------
    Mistake
        If a name is unknown.

    Examples
    --------
    >>> chosen(["keras-jax"])
    ['numpy', 'kerascope', 'keras-jax']
    """
    by_lower_case = {name.lower(): name for name in COLUMNS}
    wanted = {REFERENCE, ALWAYS}
    for word in words:
        if word.lower() not in by_lower_case:
            raise unknown("column", word, COLUMNS)
        wanted.add(by_lower_case[word.lower()])
    return [name for name in COLUMNS if name in wanted]
