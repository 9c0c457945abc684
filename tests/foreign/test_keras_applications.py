"""Networks of keras.applications, live: converted and recorded, they compute the same."""

import numpy as np
import pytest

import kerascope as ks
from kerascope.foreign import keras_models
from kerascope.foreign.writer import TapeWriter

pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


@pytest.mark.parametrize(
    ("name", "options"), [("MobileNetV2", {"alpha": 0.35}), ("MobileNetV3Small", {})]
)
def test_an_application_predicts_and_is_drawn_the_same(keras, rng, name, options):
    make = getattr(keras.applications, name)
    model = make(weights=None, input_shape=(32, 32, 3), classes=10, **options)
    for variable in model.non_trainable_variables:  # moving averages that are not 0 and 1
        if "float" in variable.dtype:
            variable.assign(rng.uniform(0.5, 1.5, variable.shape))
    x = rng.uniform(0, 255, (2, 32, 32, 3)).astype("float32")
    theirs = model.predict(x, verbose=0)
    assert theirs.std() > 1e-4
    ours = ks.from_keras(model)
    np.testing.assert_allclose(ours.predict(x), theirs, rtol=1e-4, atol=1e-6)
    writer = TapeWriter("none")
    result = keras_models.record(model, x, writer=writer)
    np.testing.assert_allclose(np.asarray(result), theirs, rtol=1e-4, atol=1e-6)
    assert len(writer.calls) == len(model.operations)
    recorded, converted = writer.graph(name), ks.draw(ours, most=None).graph
    assert len(recorded.nodes) == len(converted.nodes)
    assert len(recorded.edges) == len(converted.edges)
    assert recorded.attrs["parameters"] == model.count_params()
