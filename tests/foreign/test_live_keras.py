"""A script that trains with the real Keras, watched while it does."""

import os
import subprocess
import sys

import pytest

from kerascope.trace.tape import Tape

pytest.importorskip("keras")
pytestmark = pytest.mark.live

SCRIPT = """
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = x.sum(1, keepdims=True)
layers = [keras.Input((4,), name="x"), keras.layers.Dense(8, name="hidden"), keras.layers.Dense(1)]
model = keras.Sequential(layers)
model.compile(keras.optimizers.SGD(0.05), "mse")
x[40, 0] = np.nan
print(keras.__file__)
model.fit(x, y, batch_size=16, epochs=1, shuffle=False, verbose=0)
"""


@pytest.mark.parametrize(
    ("backend", "first"), [("jax", "sequential/hidden/kernel"), ("torch", "x")]
)
def test_the_real_keras_runs_and_the_batch_with_a_nan_is_told(tmp_path, backend, first):
    (tmp_path / "train.py").write_text(SCRIPT, "utf-8")
    words = ["run", "--live", "--tape", "run.jsonl", "train.py"]
    run = subprocess.run(
        [sys.executable, "-m", "kerascope", *words],
        cwd=tmp_path,
        env={**os.environ, "KERAS_BACKEND": backend},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    assert "site-packages" in run.stdout
    assert f"kerascope: batch 2: {first}" in run.stderr
    assert f" on {backend}: 4 batches watched" in run.stderr
    assert "epoch 0, batch 2: loss is nan" in run.stderr
    tape = Tape.load(tmp_path / "run.jsonl")
    assert [batch.number for batch in tape.batches()] == [0, 1, 2, 3]
