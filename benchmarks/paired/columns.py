"""The columns of the report: the library, the environment and the file in `peers/` of each."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.paired.workloads import KINDS, unknown


@dataclass(frozen=True)
class Column:
    """A column of the report: a library with its environment, and the file that runs it.

    Attributes
    ----------
    title : str
        The title in the report.
    module, variant : str
        The file in `peers/`, and the name of this column among the columns of the file.
    needs : tuple of str
        The packages required in its environment.
    environment : str
        The optional environment in which these packages are installed; empty for the project's own.
    imports : str
        The import statements of a program that uses it, timed as a row of the cold start.
    on_numpy : bool
        Whether its arrays are NumPy arrays, whose bytes Python can count.
    kinds : tuple of str
        The kinds of nets that it can train: see `Workload.kind`.
    """

    title: str
    module: str
    variant: str
    needs: tuple[str, ...]
    environment: str
    imports: str
    on_numpy: bool = False
    kinds: tuple[str, ...] = KINDS


WITHOUT_GPT = KINDS[:-1]
COLUMNS = {
    "numpy": Column(
        "hand-written NumPy", "hand_numpy", "", ("numpy",), "", "import numpy", True, WITHOUT_GPT
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
    "kerascope-jax": Column(
        "kerascope on JAX",
        "keras_models",
        "kerascope-jax",
        ("numpy", "rich", "h5py", "jax"),
        "jax",
        "import kerascope, jax",
    ),
    "jax": Column("JAX jit", "jax_jit", "", ("jax",), "jax", "import jax.numpy"),
    "jax-waits": Column(
        "JAX jit, waiting for each loss", "jax_jit", "waits", ("jax",), "jax", "import jax.numpy"
    ),
    "torch": Column(
        "torch eager",
        "torch_eager",
        "",
        ("torch", "numpy"),
        "torch",
        "import torch",
        kinds=WITHOUT_GPT,
    ),
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
        True,
        WITHOUT_GPT,
    ),
}

REFERENCE = "numpy"
ALWAYS = "kerascope"


def known(word: str) -> str:
    """Return the name of a column. The case of the letters in `name` does not matter.

    Raises
    ------
    Mistake
        If the name is unknown.
    """
    for name in COLUMNS:
        if name.lower() == word.lower():
            return name
    raise unknown("column", word, COLUMNS)


def chosen(words: list[str]) -> list[str]:
    """Return the reference, kerascope and the columns with these names, in the table's order.

    Raises
    ------
    Mistake
        If a name is unknown.

    Examples
    --------
    >>> chosen(["keras-jax"])
    ['numpy', 'kerascope', 'keras-jax']
    """
    wanted = {REFERENCE, ALWAYS, *map(known, words)}
    return [name for name in COLUMNS if name in wanted]
