"""Distributions: names and checks as in Keras 3, and training on several devices and processes."""

import json
import os
import pickle
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from engine_runs import NEAR
from kerascope.distribution import DataParallel, DeviceMesh, LayoutMap, ModelParallel, TensorLayout

from kerascope import backend as K
from kerascope import distribution
from kerascope.errors import ArgumentError
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.settings import config

FOUR = ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]


@pytest.fixture(autouse=True)
def _numpy_afterwards():
    yield
    distribution.set_distribution(None)
    config.engine = "numpy"


def mesh():
    return DeviceMesh((2, 2), ["batch", "model"], FOUR)


# --- without JAX ----------------------------------------------------------------------------------


def test_a_mesh_arranges_the_devices():
    assert mesh().devices.tolist() == [["cpu:0", "cpu:1"], ["cpu:2", "cpu:3"]]
    for devices in (FOUR[:3], FOUR[:3] + FOUR[:1], range(4), []):
        with pytest.raises(ArgumentError, match="names of 4 different devices, got"):
            DeviceMesh((2, 2), ["batch", "model"], devices)
    for names in (["batch"], ["batch", "batch"]):
        with pytest.raises(ArgumentError, match="a name for each axis"):
            DeviceMesh((2, 2), names, FOUR)


def test_a_layout_names_different_axes_of_its_mesh():
    assert TensorLayout((None, "model"), mesh()).axes == (None, "model")
    for axes in ((None, "modle"), ("model", "model")):
        with pytest.raises(ArgumentError, match="different axes of the mesh"):
            TensorLayout(axes, mesh())


def test_a_layout_map_finds_the_key_for_a_path():
    found = LayoutMap(mesh())
    found["dense.*kernel"] = (None, "model")
    found["conv.*"] = TensorLayout((None, None, "model", None))
    assert found["dense_1/kernel"].axes == (None, "model")
    assert found["dense_1/kernel"].device_mesh is found.device_mesh
    assert found["dense_1/bias"] is None
    assert list(found) == ["dense.*kernel", "conv.*"]
    with pytest.raises(ArgumentError, match="has a layout already"):
        found["conv.*"] = (None,)
    found["dense_1"] = (None, None)
    with pytest.raises(ArgumentError, match=r"one key for the variable 'dense_1/kernel'"):
        found["dense_1/kernel"]


def test_batches_are_divided_if_their_size_allows_it():
    data = DataParallel(devices=FOUR)
    assert data.get_data_layout((8, 3)).axes == ("batch", None)
    assert data.get_data_layout((7, 3)).axes == (None, None)
    assert data.get_data_layout(()).axes == ()
    assert data.get_variable_layout(K.variable(np.ones((4, 4)))).axes == (None, None)


def test_a_layout_must_fit_the_variable():
    found = LayoutMap(mesh())
    found["kernel"] = (None, "model")
    with pytest.raises(ArgumentError, match=r"axes of the mesh .*, got \('data',\)"):
        ModelParallel(layout_map=found, batch_dim_name="data")
    parallel = ModelParallel(layout_map=found, batch_dim_name="batch")
    assert parallel.get_variable_layout(K.variable(np.ones((3, 4)), name="kernel")).axes == (
        None,
        "model",
    )
    with pytest.raises(
        ArgumentError, match=r"does not fit the variable 'kernel' of shape \(3, 5\)"
    ):
        parallel.get_variable_layout(K.variable(np.ones((3, 5)), name="kernel"))
    with pytest.raises(ArgumentError, match="does not fit"):
        parallel.get_variable_layout(K.variable(np.ones(4), name="kernel"))
    slot = K.variable(np.ones(4), name="kernel/rows")  # of an optimizer; has fewer axes
    assert parallel.get_variable_layout(slot).axes == (None,)


def test_a_slot_is_divided_as_its_weight_is():
    found = LayoutMap(mesh())
    found["kernel$"] = (None, "model")
    parallel = ModelParallel(layout_map=found)
    slot = K.variable(np.ones((3, 4)), name="dense_1/kernel/momentum")
    assert parallel.get_variable_layout(slot).axes == (None, "model")
    other = K.variable(np.ones((3, 4)), name="dense_1/bias/momentum")
    assert parallel.get_variable_layout(other).axes == (None, None)


def test_only_a_distribution_can_be_set():
    for wrong in (mesh(), LayoutMap(mesh()), "cpu:0"):
        with pytest.raises(ArgumentError, match="expected a DataParallel or ModelParallel"):
            distribution.set_distribution(wrong)
    with pytest.raises(ArgumentError, match="compile: expected the engine"):
        Sequential([Dense(2, input_shape=(3,))]).compile("sgd", "mse", engine=LayoutMap(mesh()))


def test_numpy_has_no_devices():
    with pytest.raises(ArgumentError, match=r"Call K\.set_engine\('jax'\) first"):
        distribution.set_distribution(DataParallel(devices=FOUR))
    assert distribution.distribution() is None
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(ArgumentError, match="devices=4 needs the engine 'jax'"):
        model.compile("sgd", "mse", devices=4)


@pytest.mark.parametrize("missing", [{}, {"KERAS_DISTRIBUTION_JOB_ADDRESSES": "localhost:1"}])
def test_initialize_needs_an_address_and_numbers(missing, monkeypatch):
    for name, value in missing.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ArgumentError, match="initialize: expected the address of process 0"):
        distribution.initialize()


# --- with JAX -------------------------------------------------------------------------------------


@pytest.mark.live
def test_devices_have_names_and_too_many_are_refused():
    pytest.importorskip("jax")
    K.set_engine("jax")
    assert distribution.list_devices()[0] == "cpu:0"
    assert distribution.list_devices("CPU") == distribution.list_devices()
    with pytest.raises(ArgumentError, match="no devices of type 'gpu'"):
        distribution.list_devices("gpu")
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(ArgumentError, match="got 99. To simulate more"):
        model.compile("sgd", "mse", devices=99)
    data = DataParallel(devices=["cpu:0"])
    with data.scope():
        assert distribution.distribution() is data
    assert distribution.distribution() is None
    distribution.set_distribution(DataParallel(devices=["cpu:77"]))
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="unknown device 'cpu:77'"):
        model.predict(np.ones((2, 3)))


@pytest.mark.live
def test_a_layout_that_does_not_fit_is_an_error_and_nothing_is_written():
    pytest.importorskip("jax")
    K.set_engine("jax")
    found = LayoutMap(DeviceMesh((1, 1), ["batch", "model"], FOUR[:1]))
    found["kernel"] = ("model",)
    distribution.set_distribution(ModelParallel(layout_map=found))
    model = Sequential([Dense(2, input_shape=(3,), name="d")])
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    with pytest.raises(ArgumentError, match="does not fit the variable 'd/kernel'"):
        model.train_on_batch(np.ones((2, 3)), np.ones((2, 2)))
    np.testing.assert_array_equal(model.get_weights()[0], before)


@pytest.mark.live
def test_a_pickle_can_be_loaded_where_the_devices_are_missing(monkeypatch):
    pytest.importorskip("jax")
    K.set_engine("jax")
    distribution.set_distribution(DataParallel(devices=["cpu:0"]))
    w = K.variable(2.0)
    double = K.function([], [w], updates=[(w, 2 * w)])
    double([])
    stored = pickle.dumps(double)
    placement = "kerascope.backend.engines.placement.devices_by_name"
    monkeypatch.setattr(placement, lambda device_type=None: {"gpu:0": None})
    found = pickle.loads(stored)
    with pytest.raises(ArgumentError, match=r"unknown device 'cpu:0'\. JAX has gpu:0"):
        found([])
    K.set_engine("numpy")
    assert [found([])[0], found([])[0], float(w.get_value())] == [4, 8, 4]


def run(*words):
    """Start `on_devices.py`."""
    program = Path(__file__).with_name("on_devices.py")
    devices = 2 if ":" in words[1] else 8
    environment = dict(os.environ)
    environment["XLA_FLAGS"] = (
        f"--xla_force_host_platform_device_count={devices} --xla_backend_optimization_level=0"
    )
    environment["PYTHONPATH"] = os.pathsep.join([str(program.parents[2]), str(program.parents[1])])
    return subprocess.Popen(
        [sys.executable, str(program), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    )


def found_by(process):
    """Return what it printed at its end."""
    out, error = process.communicate()
    assert process.returncode == 0, error
    return json.loads(out.splitlines()[-1])


def assert_near(found):
    distances = {key: far for key, far in found.items() if isinstance(far, float)}
    assert distances
    far = {key: x for key, x in distances.items() if not x <= NEAR[key.rpartition(" ")[2]]}
    assert not far


def assert_divided(facts):
    assert facts["parts"]
    for path, part in facts["parts"].items():
        assert np.prod(part) in (
            np.prod(facts["shapes"][path]) // 2,
            np.prod(facts["shapes"][path]) // 4,
        )
    assert facts["is saved"]
    assert facts["collectives"] > 2


@pytest.mark.live
@pytest.mark.parametrize(
    ("names", "devices"), [("W1,W3,W4,GPT", "4"), ("W2", "1,2,8")], ids=["models", "numbers"]
)
def test_models_trained_on_several_devices_are_the_same(names, devices):
    pytest.importorskip("jax")
    found = found_by(run(names, devices))
    assert_near(found)
    (warning,) = found["warnings"]  # Python would draw the numbers while devices wait
    assert "NumPy computes it, not JAX. Python computes its op random_normal" in warning
    for key, kinds in found.items():
        if key.endswith("collectives"):
            assert (set(kinds) == {"all-reduce"}) is (" 1 " not in key)


@pytest.mark.live
def test_an_embedding_and_a_dense_are_divided_by_a_layout():
    pytest.importorskip("jax")
    found = found_by(run("GPT", "layout"))
    assert_near(found)
    assert_divided(found["GPT facts"])


@pytest.mark.live
def test_two_processes_train_together():
    pytest.importorskip("jax")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    processes = [run("W2", f"{port}:{own}") for own in range(2)]
    results = [found_by(process) for process in processes]
    assert results[0] == results[1]
    assert results[0]["devices"] == 4
    assert_near(results[0])
    assert_divided(results[0]["W2 facts"])
