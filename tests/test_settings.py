import os
import subprocess
import sys

import pytest

from kerascope.errors import ArgumentError
from kerascope.settings import Config


def test_defaults_are_those_of_keras():
    config = Config()
    assert (config.floatx, config.epsilon) == ("float32", 1e-7)
    assert (config.image_data_format, config.dialect) == ("channels_last", "2.2")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("floatx", "float8"),
        ("image_data_format", "channels_middle"),
        ("dialect", "2.3"),
        ("epsilon", 0),
        ("epsilon", -1e-7),
        ("epsilon", 1),
        ("epsilon", "small"),
        ("epsilon", float("nan")),
    ],
)
def test_a_bad_value_is_refused_at_once_and_changes_nothing(name, value):
    config = Config()
    before = getattr(config, name)
    with pytest.raises(ArgumentError, match=rf"config\.{name}: .*expected .*, got {value!r}"):
        setattr(config, name, value)
    assert getattr(config, name) == before


def test_an_unknown_setting_lists_the_known_ones():
    with pytest.raises(ArgumentError, match="unknown setting 'float'. Use one of: floatx, "):
        Config().float = "float32"


def test_settings_print_as_they_are_written():
    assert repr(Config(dialect="3")) == (
        "Config(floatx='float32', epsilon=1e-07, image_data_format='channels_last', dialect='3', "
        "engine='numpy')"
    )


@pytest.mark.parametrize(("value", "expected"), [("1.2", "1.2"), ("3", "3")])
def test_the_environment_chooses_the_dialect(value, expected):
    code = "from kerascope.settings import config; print(config.dialect)"
    environment = {**os.environ, "KERASCOPE_DIALECT": value}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == expected


def test_a_dialect_that_is_none_is_told_at_its_first_use_and_the_usual_one_holds():
    code = "import kerascope; print('imported'); print(kerascope.config)"
    environment = {**os.environ, "KERASCOPE_DIALECT": "nonsense"}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("imported\nConfig(floatx=")
    assert "dialect='2.2'" in run.stdout
    assert run.stderr.count("KerascopeWarning") == 1
    assert "KERASCOPE_DIALECT: expected '1.2', '2.2' or '3', got 'nonsense'" in (run.stderr)


def test_a_setting_that_does_not_exist_cannot_be_read():
    assert not hasattr(Config(dialect=None), "float")
