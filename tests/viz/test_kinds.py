import pytest
from zoo import ZOO

import kerascope.layers
from kerascope.engine.base_layer import Layer
from kerascope.layers import Dense, Input, Operation
from kerascope.models import Model
from kerascope.viz.extract.layers import layer_attributes
from kerascope.viz.kinds import KINDS, kind_of
from kerascope.viz.theme import STYLES

PLAIN = {"Layer"}  # what has no nature of its own


def classes_of_layers():
    """Return every class of layer that the package has to offer."""
    named = {name: getattr(kerascope.layers, name) for name in dir(kerascope.layers)}
    found = {cls for cls in named.values() if isinstance(cls, type) and issubclass(cls, Layer)}
    return sorted(found, key=lambda cls: cls.__name__)


@pytest.mark.parametrize("cls", classes_of_layers())
def test_every_layer_of_the_package_has_a_fitting_kind(cls):
    kind = kind_of(object.__new__(cls)) if cls is not Operation else "function"
    assert kind in KINDS
    assert (kind == "layer") == (cls.__name__ in PLAIN)


def test_there_are_many():
    assert len(classes_of_layers()) > 90


def test_every_kind_has_a_style():
    assert set(STYLES) == set(KINDS)


def test_a_subclass_is_drawn_as_what_it_comes_from():
    class Mine(Dense): ...

    assert kind_of(Mine(2)) == "dense"
    assert kind_of(ZOO["subclassed"]()) == "model"


def test_operations_between_layers_say_what_they_do():
    model = ZOO["operations"]()
    said = {layer.name: layer_attributes(layer)["class_name"] for layer in model.layers}
    assert said["add_1"] == "Operation: add"
    assert said["multiply_1"] == "Operation: multiply"
    kinds = {layer.name: kind_of(layer) for layer in model.layers}
    assert kinds["add_1"] == "merge"
    assert kinds["multiply_1"] == "function"  # by a number: nothing is merged


def test_an_operation_on_a_list_of_tensors_merges():
    pattern = [[{"tensor": 0}, {"tensor": 1}]]
    assert kind_of(Operation("Concatenate", pattern, {"axis": -1}, name="c")) == "merge"
    one = Operation("Concatenate", [[{"tensor": 0}, 1.0]], {"axis": -1}, name="c")
    assert kind_of(one) == "function"


def test_an_op_that_keras_3_does_not_know_says_its_own_name():
    from kerascope import backend as K
    from kerascope.spellings import override_dialect

    with override_dialect(wraps_operations=True):
        x = Input((3,), name="x")
        model = Model(x, K.l2_normalize(x, axis=-1))
    names = [layer_attributes(layer)["class_name"] for layer in model.layers[1:]]
    assert names
    assert all(name.startswith("Operation: ") and ">" not in name for name in names)
