import pytest

from kerascope.errors import ArgumentError, ConfigError, UnknownNameError
from kerascope.registry import Registry, custom_object_scope, did_you_mean


class Scale:
    """An object with a configuration."""

    def __init__(self, factor=2):
        self.factor = factor

    def get_config(self):
        return {"factor": self.factor}


class Rebuilt(Scale):
    @classmethod
    def from_config(cls, config):
        return cls(factor=config["factor"] * 10)


def relu(x):
    return max(x, 0)


@pytest.fixture
def registry():
    registry = Registry("activation")
    registry.register(relu, "rectifier")
    registry.register(Scale)
    registry.register(Rebuilt)
    return registry


def test_a_function_is_found_by_its_name_and_its_alias(registry):
    assert registry.get("relu") is relu
    assert registry.get("rectifier") is relu


def test_a_class_gives_an_instance(registry):
    assert registry.get("Scale").factor == 2
    assert registry.get(Scale).factor == 2


def test_what_is_an_object_already_stays_itself(registry):
    scale = Scale(5)
    assert registry.get(scale) is scale
    assert registry.get(relu) is relu
    assert registry.get(None) is None


def test_an_unknown_name_suggests_the_nearest(registry):
    with pytest.raises(
        UnknownNameError,
        match=r"Unknown activation 'rellu'\. Did you mean 'relu'\? Known: Rebuilt, Scale, relu\.",
    ):
        registry.get("rellu")


def test_nothing_is_suggested_for_what_is_not_near(registry):
    with pytest.raises(UnknownNameError, match=r"Unknown activation 'qqq'\. Known:"):
        registry.get("qqq")
    assert did_you_mean("qqq", ["relu"]) == ""


@pytest.mark.parametrize("name", ["Registry", "ArgumentError", "contextmanager", "__doc__"])
def test_names_of_a_module_are_no_registered_names(registry, name):
    with pytest.raises(UnknownNameError):
        registry.get(name)


def test_what_cannot_be_interpreted_is_refused(registry):
    with pytest.raises(ArgumentError, match="activation: expected a name, .* got 3"):
        registry.get(3)


def test_names_are_sorted_and_without_aliases(registry):
    assert registry.names() == ["Rebuilt", "Scale", "relu"]
    assert registry.items()[-1] == ("relu", relu)


def test_a_decorator_registers_further_names(registry):
    @registry.alias("twice", "double")
    def times_two(x):
        return 2 * x

    assert registry.get("double")(4) == 8
    assert registry.get("times_two") is times_two


def test_configurations_go_round(registry):
    saved = registry.serialize(Scale(7))
    assert saved == {"class_name": "Scale", "config": {"factor": 7}}
    assert registry.deserialize(saved).factor == 7
    assert registry.get(saved).factor == 7
    assert registry.serialize(relu) == "relu"
    assert registry.deserialize("relu") is relu
    assert registry.serialize(None) is None
    assert registry.deserialize(None) is None


def test_a_class_may_say_how_it_is_rebuilt(registry):
    assert registry.deserialize({"class_name": "Rebuilt", "config": {"factor": 3}}).factor == 30


def test_a_configuration_without_a_class_name_is_refused(registry):
    with pytest.raises(ConfigError, match="expected a configuration"):
        registry.deserialize({"config": {}})


def test_what_has_neither_name_nor_configuration_cannot_be_saved(registry):
    with pytest.raises(ConfigError, match="neither a name nor get_config"):
        registry.serialize(3)


def test_custom_objects_are_known_inside_their_block_only(registry):
    with custom_object_scope({"mine": relu}, {"mine": abs}):
        assert registry.get("mine") is abs
        with custom_object_scope({"other": relu}):
            assert registry.get("mine") is abs
            assert registry.get("other") is relu
        with pytest.raises(UnknownNameError):
            registry.get("other")
    with pytest.raises(UnknownNameError):
        registry.get("mine")


def test_custom_objects_may_come_with_the_call(registry):
    saved = {"class_name": "Mine", "config": {"factor": 4}}
    assert registry.deserialize(saved, {"Mine": Scale}).factor == 4
    with pytest.raises(UnknownNameError):
        registry.deserialize(saved)
