import json
from collections import namedtuple

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.configurable import Configured, constructor_parameters, plain
from kerascope.errors import ConfigError


class Ramp(Configured):
    def __init__(self, start=0.0, *, stop=1.0, **kwargs):
        self.start = start
        self.stop = stop


class Forgetful(Configured):
    def __init__(self, rate=0.5):
        self.speed = rate


def test_config_holds_the_arguments_of_the_constructor_but_not_its_kwargs():
    assert constructor_parameters(Ramp) == ("start", "stop")
    assert Ramp(2.0, stop=3.0).get_config() == {"start": 2.0, "stop": 3.0}


def test_object_made_from_its_config_has_the_same_config():
    config = Ramp(2.0, stop=3.0).get_config()
    assert Ramp.from_config(config).get_config() == config


def test_class_without_constructor_has_an_empty_config():
    class Plain(Configured):
        pass

    assert Plain().get_config() == {}
    assert repr(Plain()) == "Plain()"


def test_repr_reads_like_the_call():
    assert repr(Ramp(2.0)) == "Ramp(start=2.0, stop=1.0)"


def test_argument_that_was_not_stored_is_named():
    with pytest.raises(ConfigError, match=r"Forgetful: get_config\(\) needs the argument 'rate'"):
        Forgetful().get_config()


def test_plain_values_survive_json():
    values = [np.float32(0.1), np.int64(3), np.bool_(True), np.ones((2, 2)), K.variable(0.01)]
    texts = [json.loads(json.dumps(plain(value))) for value in values]
    assert texts == [0.1, 3, True, [[1.0, 1.0], [1.0, 1.0]], 0.01]


def test_plain_float32_reads_back_as_the_same_float32():
    number = np.float32(1 / 3)
    assert np.float32(plain(number)) == number


def test_unknown_argument_of_a_config_is_left_out_only_if_it_is_off():
    class Speed(Configured):
        def __init__(self, speed=1.0):
            self.speed = speed

    assert Speed.from_config({"speed": 2.0, "limit": None}).speed == 2.0
    with pytest.raises(ConfigError, match="Speed: unknown argument limit=3. Use only: speed"):
        Speed.from_config({"speed": 2.0, "limit": 3})


def test_a_tuple_with_names_becomes_a_list():
    size = namedtuple("Size", "rows columns")(np.int64(2), (3,))
    assert plain(size) == [2, (3,)]
    assert Ramp(size).get_config()["start"] == [2, (3,)]
