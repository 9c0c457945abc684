"""Custom objects, byte code and the small tools of `keras.utils.generic_utils`."""

import numpy as np
import pytest

from kerascope import activations, constraints, layers, models, utils
from kerascope.errors import ArgumentError, ConfigError, RefusedError, UnknownNameError
from kerascope.utils import generic_utils as gu


@pytest.fixture
def known():
    """Forget afterwards what a test registered."""
    before = dict(utils.get_custom_objects())
    yield utils.get_custom_objects()
    utils.get_custom_objects().clear()
    utils.get_custom_objects().update(before)


# --- custom objects -------------------------------------------------------------------------------


def test_a_registered_function_is_found_by_both_of_its_names(known):
    @gu.register_keras_serializable(package="mine", name="double")
    def twice(x):
        return 2 * x

    assert activations.get("double") is activations.get("mine>double") is twice
    assert gu.get_registered_name(twice) == "mine>double"
    assert gu.get_registered_object("mine>double") is twice
    assert gu.get_registered_object("mine>triple") is None
    assert gu.get_registered_object("other", {"other": 1}, {"other": 2}) == 1


def test_an_object_that_was_not_registered_has_its_own_name(known):
    assert gu.get_registered_name(gu.has_arg) == "has_arg"


def test_a_model_with_a_registered_function_is_read_without_custom_objects(known):
    @gu.register_keras_serializable()
    def half(x):
        return x / 2

    model = models.Sequential([layers.Dense(2, activation=half, input_shape=(3,))])
    again = models.model_from_json(model.to_json())
    again.set_weights(model.get_weights())
    x = np.ones((4, 3))
    np.testing.assert_allclose(again.predict(x), model.predict(x))


def test_objects_go_to_configurations_and_back():
    config = gu.serialize_keras_object(constraints.MaxNorm(3))
    assert config == {"class_name": "MaxNorm", "config": {"max_value": 3, "axis": 0}}
    again = gu.deserialize_keras_object(config, vars(constraints))
    assert isinstance(again, constraints.MaxNorm)
    assert again.max_value == 3
    assert gu.serialize_keras_object(None) is None
    assert gu.serialize_keras_object(activations.relu) == "relu"
    assert gu.deserialize_keras_object("relu", vars(activations)) is activations.relu


def test_your_own_objects_win_over_those_of_the_module(known):
    assert gu.deserialize_keras_object("relu", {"relu": 1}, {"relu": 2}) == 2
    known["relu"] = 3
    assert gu.deserialize_keras_object("relu", {"relu": 1}) == 3


def test_an_unknown_object_is_called_what_the_caller_says():
    with pytest.raises(UnknownNameError, match=r"Unknown shape 'rellu'\. Did you mean 'relu'"):
        gu.deserialize_keras_object("rellu", {"relu": 1}, printable_module_name="shape")
    with pytest.raises(UnknownNameError, match="Unknown shape 'Box'"):
        gu.deserialize_keras_object({"class_name": "Box", "config": {}}, {}, None, "shape")


# --- byte code ------------------------------------------------------------------------------------


def made_with(number):
    def add(x, more=10):
        return x + number + more

    return add


def test_a_dumped_function_is_refused_unless_safe_mode_is_off():
    code, defaults, closure = gu.func_dump(made_with(5))
    assert (defaults, closure) == ((10,), (5,))
    with pytest.raises(RefusedError, match=r"func_load: .*pass safe_mode=False\."):
        gu.func_load(code, defaults, closure)
    again = gu.func_load(code, defaults, closure, safe_mode=False)
    assert again(1) == 16
    assert again(1, more=0) == 6


def test_a_dump_can_be_loaded_as_a_whole_and_with_other_global_names():
    dumped = gu.func_dump(lambda x: x + NUMBER)  # noqa: F821 (the global names are given below)
    assert type(dumped) is tuple
    names = {"NUMBER": 3}
    again = gu.func_load(list(dumped), globs=names, safe_mode=False)
    assert again(4) == 7
    names["NUMBER"] = 5
    assert again(4) == 9


def test_a_dump_that_cannot_be_read_or_made_says_so():
    with pytest.raises(ConfigError, match="func_load: the byte code cannot be read"):
        gu.func_load("AAAA", safe_mode=False)
    with pytest.raises(ConfigError, match="func_dump: the function: .* got <built-in"):
        gu.func_dump(len)


# --- small tools ----------------------------------------------------------------------------------


def test_has_arg_counts_what_can_be_given_by_name():
    def function(x, /, y, *args, z=1, **kwargs): ...

    assert [gu.has_arg(function, name) for name in ("x", "y", "args", "z", "kwargs", "w")] == [
        *(False, True, False, True, False, False),
    ]
    assert gu.has_arg(function, "w", accept_all=True)
    assert not gu.has_arg(len, "w", accept_all=True)


def test_lists():
    given = [1]
    assert gu.to_list(given) is given
    assert gu.to_list((1, 2)) == [(1, 2)]
    assert gu.to_list((1, 2), allow_tuple=True) == [1, 2]
    assert gu.unpack_singleton((5,)) == 5
    assert gu.unpack_singleton([5, 6]) == [5, 6]
    assert gu.is_all_none((None, None))
    assert not gu.is_all_none([None, 0])


def test_the_uid_of_a_list_tells_its_objects():
    a, b = object(), object()
    assert gu.object_list_uid([a, b]) == gu.object_list_uid([a, b])
    assert gu.object_list_uid([a, b]) != gu.object_list_uid([b, a])
    assert gu.object_list_uid(a) == gu.object_list_uid([a])


@pytest.mark.parametrize(
    ("start", "stop", "expected"),
    [(2, 4, [2, 3]), (None, 2, [0, 1]), (3, None, [3, 4]), ([4, 0], None, [4, 0])],
)
def test_rows_of_arrays_are_cut_out(start, stop, expected):
    array = np.arange(5)
    assert gu.slice_arrays(array, start, stop).tolist() == expected
    first, nothing = gu.slice_arrays([array, None], start, stop)
    assert first.tolist() == expected
    assert nothing is None
    assert gu.slice_arrays(None, start, stop) == [None]


def test_a_list_of_rows_has_no_stop():
    with pytest.raises(ArgumentError, match="a list of rows cannot have stop=3"):
        gu.slice_arrays(np.arange(5), np.array([0, 1]), 3)


def test_a_shape_is_put_into_another_format():
    shape = (16, 128, 64, 32)
    assert gu.transpose_shape(shape, "channels_first", (1, 2)) == (16, 32, 128, 64)
    assert gu.transpose_shape(list(shape), "channels_first", (1, 2)) == [16, 32, 128, 64]
    assert gu.transpose_shape((128, 64, 32), "channels_first", (0, 1)) == (32, 128, 64)
    assert gu.transpose_shape(shape, "channels_last", (1, 2)) == shape
    with pytest.raises(ArgumentError, match="got 'channels_middle'"):
        gu.transpose_shape(shape, "channels_middle", (1, 2))
