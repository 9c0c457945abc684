"""Every layer of `kerascope.layers` keeps the contract that stands in layer_contract.py."""

import inspect
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from layer_contract import LayerCase, hold_to_contract
from thinned import thinned

from kerascope import layers
from kerascope.backend import Op
from kerascope.layers import Layer


def all_cases() -> list[LayerCase]:
    """Return the CASES of every cases_*.py beside this file."""
    cases = []
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        spec = util.spec_from_file_location(path.stem, path)
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    return cases


CASES = all_cases()
NAMES = [case.name for case in CASES]
ARRAYS = [np.random.default_rng(0).normal(size=(3, 4))]


@pytest.mark.parametrize("case", thinned(CASES, lambda case: case.name), ids=NAMES)
def test_layer_keeps_the_contract(case: LayerCase) -> None:
    hold_to_contract(case)


def test_every_layer_has_a_case() -> None:
    classes = [value for value in vars(layers).values() if inspect.isclass(value)]
    public = {c.__name__ for c in classes if issubclass(c, Layer)} & set(layers.__all__)
    assert {"Dense", "Add", "Embedding"} < public
    # Layer is the base; InputLayer begins a graph and is called by nobody; a Merge is another one.
    assert public - {"Layer", "InputLayer", "Merge"} - set(NAMES) == set()


def test_contract_notices_a_wrong_shape() -> None:
    class Wrong(Layer):
        def call(self, inputs):
            return inputs * 2

        def compute_output_shape(self, input_shape):
            return (*input_shape, 1)

    with pytest.raises(ValueError, match="compute_output_shape says"):
        hold_to_contract(LayerCase(Wrong, ARRAYS))


def test_contract_notices_an_argument_that_is_lost() -> None:
    class Forgetful(Layer):
        def __init__(self, factor=1.0, **kwargs):
            super().__init__(**kwargs)
            self.factor = 2.0

        def call(self, inputs):
            return inputs * self._arguments["factor"]

    with pytest.raises(AssertionError):
        hold_to_contract(LayerCase(lambda: Forgetful(3.0), ARRAYS))


def test_contract_notices_a_wrong_gradient() -> None:
    class WrongSquare(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x**2

        def grad(self, inputs, outputs, output_grads):
            return [3 * inputs[0] * output_grads[0]]

    class Wrong(Layer):
        def call(self, inputs):
            return WrongSquare()(inputs)

    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        hold_to_contract(LayerCase(Wrong, ARRAYS))
