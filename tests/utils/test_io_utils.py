"""HDF5 files piece by piece: `keras.utils.io_utils`."""

import numpy as np
import pytest

from kerascope import models
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.layers import Dense
from kerascope.utils.io_utils import H5Dict, HDF5Matrix, ask_to_proceed_with_overwrite

h5py = pytest.importorskip("h5py")
NUMBERS = np.arange(20.0).reshape(10, 2)


@pytest.fixture
def path(tmp_path):
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file["x"] = NUMBERS
        file["y"] = NUMBERS.sum(1)
    return tmp_path / "data.h5"


# --- HDF5Matrix -----------------------------------------------------------------------------------


def test_it_looks_like_an_array(path):
    matrix = HDF5Matrix(path, "x")
    assert (matrix.shape, matrix.ndim, matrix.size, len(matrix)) == ((10, 2), 2, 20, 10)
    assert matrix.dtype == np.float64


@pytest.mark.parametrize(
    "key", [3, -1, slice(2, 5), slice(None), slice(None, -2), [0, 4], slice(0)]
)
def test_rows_are_read_as_from_an_array(key, path):
    np.testing.assert_array_equal(HDF5Matrix(path, "x")[key], NUMBERS[key])


@pytest.mark.parametrize("key", [0, -1, slice(1, 3), slice(None), [0, 2]])
def test_a_part_of_the_rows_counts_from_its_start(key, path):
    part = HDF5Matrix(str(path), "x", start=3, end=7)
    assert part.shape == (4, 2)
    np.testing.assert_array_equal(part[key], NUMBERS[3:7][key])


@pytest.mark.parametrize("key", [4, -5, slice(-9, 2), [0, 4]])
def test_rows_outside_of_the_part_are_refused(key, path):
    with pytest.raises(IndexError, match=r"expected rows < 4, got"):
        HDF5Matrix(path, "x", start=3, end=7)[key]


def test_the_normalizer_sees_every_piece(path):
    matrix = HDF5Matrix(path, "x", normalizer=lambda rows: rows / 2)
    np.testing.assert_array_equal(matrix[2:4], NUMBERS[2:4] / 2)


def test_a_model_trains_on_it(path):
    model = models.Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    x, y = HDF5Matrix(path, "x"), HDF5Matrix(path, "y")
    history = model.fit(x, y, batch_size=4, epochs=2, shuffle="batch", verbose=0)
    assert len(history.history["loss"]) == 2
    assert model.predict(x, batch_size=3).shape == (10, 1)
    np.testing.assert_allclose(model.predict(x), model.predict(NUMBERS), rtol=1e-6)


def test_missing_files_and_data_sets_are_named(path, tmp_path):
    with pytest.raises(UnavailableError, match=r"HDF5Matrix: cannot open '.*none\.h5'"):
        HDF5Matrix(tmp_path / "none.h5", "x")
    with pytest.raises(DataError, match=r"has no data set 'z'. It has: 'x', 'y'\."):
        HDF5Matrix(path, "z")


# --- H5Dict ---------------------------------------------------------------------------------------


def fill(target):
    target["kernel"] = np.eye(2)
    target["names"] = ["a", "größe"]
    target["config"] = "{}"
    target["epoch"] = 3
    target["inner"]["bias"] = np.ones(3)
    target["more"] = {"deep": np.zeros(1)}


def check(target):
    np.testing.assert_array_equal(target["kernel"], np.eye(2))
    assert list(target["names"]) == ["a", "größe"]
    assert target["config"] == "{}"
    assert target["epoch"] == 3
    np.testing.assert_array_equal(target["inner"]["bias"], np.ones(3))
    np.testing.assert_array_equal(target["more"]["deep"], np.zeros(1))
    assert "epoch" in target
    assert "nothing" not in target
    assert target.get("nothing", 7) == 7
    assert {"kernel", "inner", "more"} <= set(target) & set(target.iter())
    assert len(target) >= 3


def test_a_file_is_a_dict_that_is_still_there_when_it_is_read(tmp_path):
    with H5Dict(tmp_path / "d.h5", "w") as target:
        fill(target)
        check(target)
    again = H5Dict(str(tmp_path / "d.h5"), "r")
    check(again)
    again.close()


def test_a_dict_in_memory_and_a_group_behave_the_same(tmp_path):
    memory = H5Dict({})
    fill(memory)
    check(memory)
    with h5py.File(tmp_path / "g.h5", "w") as file:
        fill(H5Dict(file.create_group("group")))
        check(H5Dict(file["group"]))


def test_an_array_is_written_over(tmp_path):
    with H5Dict(tmp_path / "d.h5") as target:
        target["x"] = np.ones(2)
        target["x"] = np.zeros(5)
        assert target["x"].shape == (5,)


def test_what_is_only_read_is_not_changed(tmp_path):
    with H5Dict(tmp_path / "d.h5", "w") as target:
        fill(target)
    with H5Dict(tmp_path / "d.h5", "r") as target:
        with pytest.raises(ArgumentError, match="cannot set 'x' with mode 'r'"):
            target["x"] = np.ones(2)
        with pytest.raises(ArgumentError, match="cannot set 'x'"):
            target["inner"]["x"] = np.ones(2)
        with pytest.raises(KeyError, match="nothing"):
            target["nothing"]
        check(target)


def test_update_takes_several_dicts():
    memory = H5Dict({})
    memory.update({"a": np.ones(1)}, {"b": np.ones(2)})
    assert sorted(memory) == ["a", "b"]


# --- asking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("typed", "answer"), [(["y"], True), (["what", " N "], False)])
def test_the_question_is_asked_until_it_is_answered(typed, answer, monkeypatch):
    answers = iter(typed)
    monkeypatch.setattr("builtins.input", lambda question: next(answers))
    assert ask_to_proceed_with_overwrite("m.h5") is answer
    assert list(answers) == []
