"""Every registry of row 2: what it holds is written as JSON, read back, and behaves the same."""

import json

import numpy as np
import pytest

from kerascope import (
    activations,
    constraints,
    initializers,
    losses,
    metrics,
    optimizers,
    regularizers,
)
from kerascope import backend as K

ARRAY = np.array([[0.2, 0.6, 0.1, 0.1], [0.4, 0.25, 0.25, 0.1]])
TARGETS = np.array([[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]])


def behaviour_of_function(function):
    if function is activations.threshold:
        return K.eval(function(K.constant(ARRAY), 0.2, -1.0))
    return K.eval(function(K.constant(ARRAY)) + 0.0)


def behaviour_of_loss(loss):
    name = getattr(loss, "__name__", type(loss).__name__)
    if name in ("CTC", "ctc"):
        return K.eval(loss(K.constant([[1, 0], [2, 3]]), K.constant(np.stack([ARRAY, ARRAY]))))
    sparse = name.lower().startswith("sparse") or losses.classes.takes_class_numbers(loss)
    targets = TARGETS.argmax(-1) if sparse else TARGETS
    return K.eval(loss(K.constant(targets), K.constant(ARRAY)) + 0.0)


def behaviour_of_initializer(initializer):
    return initializer((3, 3))


def behaviour_of_optimizer(optimizer):
    p = K.variable(ARRAY, name="p")
    step = K.function([], [], updates=optimizer.get_updates(K.sum(K.square(p)), [p]))
    for _ in range(3):
        step([])
    return K.get_value(p)


MODULES = {
    "activations": (activations, behaviour_of_function),
    "constraints": (constraints, behaviour_of_function),
    "initializers": (initializers, behaviour_of_initializer),
    "losses": (losses, behaviour_of_loss),
    "metrics": (metrics, behaviour_of_loss),
    "optimizers": (optimizers, behaviour_of_optimizer),
    "regularizers": (regularizers, behaviour_of_function),
}
CASES = [(kind, name) for kind, (module, _) in MODULES.items() for name in module._registry.names()]

# Arguments that differ from the defaults: a config that was lost would be noticed.
ARGUMENTS = {
    "Constant": {"value": 3.0},
    "Identity": {"gain": 2.0},
    "MaxNorm": {"max_value": 0.3, "axis": 1},
    "UnitNorm": {"axis": 1},
    "MinMaxNorm": {"min_value": 0.9, "max_value": 1.5, "rate": 0.5, "axis": 1},
    "L1L2": {"l1": 0.3, "l2": 0.2},
    "L1": {"l1": 0.3},
    "EigenvalueRegularizer": {"k": 0.3},
    "L2": {"l2": 0.3},
    "VarianceScaling": {"scale": 2.0, "mode": "fan_out", "distribution": "uniform", "seed": 3},
    "RandomNormal": {"mean": 1.0, "stddev": 2.0, "seed": 3},
    "RandomUniform": {"minval": 1.0, "maxval": 2.0, "seed": 3},
    "TruncatedNormal": {"mean": 1.0, "stddev": 2.0, "seed": 3},
    "Orthogonal": {"gain": 2.0, "seed": 3},
    "OrthogonalRegularizer": {"factor": 0.3, "mode": "columns"},
    "Huber": {"delta": 0.1, "reduction": "sum"},
    "AdamW": {"lr": 0.02, "weight_decay": 0.1},
    "Lamb": {"lr": 0.02, "beta_1": 0.8, "weight_decay": 0.1},
    "Lion": {"lr": 0.02, "beta_1": 0.8, "weight_decay": 0.1},
    "Ftrl": {"lr": 0.2, "beta": 0.1, "l1_regularization_strength": 0.01},
    "BinaryCrossentropy": {"from_logits": True, "label_smoothing": 0.1},
    "CategoricalFocalCrossentropy": {"alpha": 0.3, "gamma": 1.5},
    "CategoricalGeneralizedCrossEntropy": {"q": 0.2},
    "Circle": {"gamma": 5.0, "margin": 0.1, "remove_diagonal": False},
    "Dice": {"axis": [1]},
    "Tversky": {"alpha": 0.3, "beta": 0.9, "axis": -1},
    "MeanIoU": {"num_classes": 2},
    "IoU": {"num_classes": 3, "target_class_ids": [0, 1], "ignore_class": 2},
    "BinaryIoU": {"target_class_ids": [1], "threshold": 0.2},
    "OneHotIoU": {"num_classes": 4, "target_class_ids": [1, 2], "ignore_class": 2},
    "OneHotMeanIoU": {"num_classes": 4},
    "R2Score": {"class_aggregation": None, "num_regressors": 2},
    "PearsonCorrelation": {"axis": 0},
    "PrecisionAtRecall": {"recall": 0.3, "class_id": 1},
    "RecallAtPrecision": {"precision": 0.3, "num_thresholds": 5},
    "SensitivityAtSpecificity": {"specificity": 0.3},
    "SpecificityAtSensitivity": {"sensitivity": 0.3},
    "Precision": {"thresholds": [0.2, 0.5], "class_id": 1},
    "AUC": {"num_thresholds": 5, "curve": "PR"},
    "FBetaScore": {"average": "macro", "beta": 2.0},
    "SGD": {"lr": 0.02, "momentum": 0.8, "decay": 0.1, "nesterov": True, "clipnorm": 0.7},
    "RMSprop": {"lr": 0.02, "rho": 0.8, "epsilon": 1e-3, "decay": 0.1, "clipvalue": 0.6},
    "Adagrad": {"lr": 0.02, "epsilon": 1e-3, "decay": 0.1},
    "Adadelta": {"lr": 0.5, "rho": 0.8, "epsilon": 1e-3, "decay": 0.1},
    "Adam": {"lr": 0.02, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3, "amsgrad": True},
    "Adamax": {"lr": 0.02, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3, "decay": 0.1},
    "Nadam": {"lr": 0.02, "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-3, "schedule_decay": 0.1},
}
for _name in ["Glorot", "He", "Lecun"]:
    ARGUMENTS[f"{_name}Normal"] = ARGUMENTS[f"{_name}Uniform"] = {"seed": 3}


def example(module, name):
    found = module._registry.lookup(name)
    return found(**ARGUMENTS.get(name, {})) if isinstance(found, type) else found


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_what_a_registry_holds_survives_json(kind, name):
    module, behaviour = MODULES[kind]
    original = example(module, name)
    text = json.dumps(module.serialize(original))
    read = module.deserialize(json.loads(text))
    assert json.dumps(module.serialize(read)) == text
    np.testing.assert_array_equal(behaviour(read), behaviour(original))


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_config_keeps_the_arguments(kind, name):
    original = example(MODULES[kind][0], name)
    if isinstance(original, type) or not hasattr(original, "get_config"):
        assert callable(original)
        return
    assert original.get_config().items() >= ARGUMENTS.get(name, {}).items()


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_class_derived_from_one_keeps_what_it_passes_on(kind, name):
    module, behaviour = MODULES[kind]
    original = example(module, name)
    if not hasattr(original, "get_config") or isinstance(original, type):
        return
    derived = derived_from(type(original))
    made = derived(**ARGUMENTS.get(name, {}), extra=3)
    config = made.get_config()
    named = {"name": config["name"]} if "name" in config else {}  # that of the class
    assert config == {"extra": 3, **original.get_config(), **named}
    again = derived.from_config(config)
    assert again.get_config() == config
    np.testing.assert_array_equal(behaviour(again), behaviour(original))


def derived_from(base):
    """Return a class as users write it: an argument of its own, all others passed on."""

    class Derived(base):
        __name__ = getattr(base, "__name__", "derived")

        def __init__(self, extra=1, **kwargs):
            super().__init__(**kwargs)
            self.extra = extra

    return Derived


@pytest.mark.parametrize(
    ("base", "given"),
    [
        (losses.BinaryCrossentropy, {"label_smoothing": 0.25}),
        (metrics.BinaryAccuracy, {"threshold": 0.15}),
        (regularizers.L2, {"l2": 0.5}),
        (constraints.MaxNorm, {"max_value": 0.25}),
    ],
)
def test_argument_that_a_derived_class_sets_itself_counts(base, given):
    class Fixed(base):
        def __init__(self, **kwargs):
            super().__init__(**given, **kwargs)

    plain, fixed = base(**given), Fixed()
    _, compute = MODULES[base.__module__.split(".")[1]]
    np.testing.assert_array_equal(compute(fixed), compute(plain))
    again = Fixed.from_config(fixed.get_config())
    np.testing.assert_array_equal(compute(again), compute(plain))


@pytest.mark.parametrize("kind", MODULES)
def test_unknown_name_is_refused_with_a_list_of_the_known_ones(kind):
    module, _ = MODULES[kind]
    with pytest.raises(
        ValueError, match=f"Unknown {module._registry.kind} 'zzz'. (If it is yours, .*)?Known: "
    ):
        module.get("zzz")


@pytest.mark.parametrize("kind", MODULES)
def test_configuration_without_class_name_is_refused(kind):
    with pytest.raises(ValueError, match="expected a configuration"):
        MODULES[kind][0].get({"config": {}})


@pytest.mark.parametrize("kind", MODULES)
def test_number_is_no_identifier(kind):
    with pytest.raises(ValueError, match="expected a name, .* got 3"):
        MODULES[kind][0].get(3)
