import numpy as np

from kerascope.layers import Concatenate, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.viz.extract.layers import CallFacts
from kerascope.viz.extract.networks import nested_run


def per_step():
    x = Input((None, 3), name="x")
    h = Dropout(0.5, name="drop")(Dense(2, name="d")(x))
    return Model(x, h, name="net")


def facts(*inputs, outputs=1):
    return CallFacts(inputs, [None] * outputs, "float32")


def test_a_call_on_the_models_own_shapes_runs_its_own_graph():
    net = per_step()
    run = nested_run(net, facts((None, None, 3)))
    assert (run.network, dict(run.shapes)) == (net, {})


def test_other_shapes_are_found_all_the_way_through():
    net = per_step()
    run = nested_run(net, facts((8, 5, 3)))
    shapes = {node.outbound_layer.name: run.shape_of(node.output_tensors[0])
              for nodes in net.nodes_by_depth.values() for node in nodes}  # fmt: skip
    assert shapes == {"x": (8, 5, 3), "d": (8, 5, 2), "drop": (8, 5, 2)}


def test_finding_shapes_draws_no_random_numbers_and_keeps_no_run():
    net = per_step()
    before = np.random.get_state()[1].tolist()
    nested_run(net, facts((8, 5, 3)))
    assert np.random.get_state()[1].tolist() == before
    assert len(net._output_tensor_cache) == 0


def test_shapes_that_do_not_fit_leave_the_models_own():
    net = per_step()
    assert dict(nested_run(net, facts((None, 5, 4))).shapes) == {}


def test_unknown_shapes_leave_the_models_own():
    assert dict(nested_run(per_step(), facts(None)).shapes) == {}


def test_a_call_with_other_ends_is_not_expanded():
    net = per_step()
    assert nested_run(net, facts((None, 5, 3), (None, 2))) is None
    assert nested_run(net, facts((None, 5, 3), outputs=2)) is None


def test_a_model_without_a_graph_is_not_expanded():
    assert nested_run(Sequential([Dense(2)]), facts(None)) is None
    assert nested_run(Sequential([Dense(2)]), facts((None, 3))) is None


def test_several_inputs_have_each_their_shape():
    a, b = Input((None, 3), name="a"), Input((None, 2), name="b")
    net = Model([a, b], Concatenate(name="c")([a, b]))
    run = nested_run(net, facts((None, 4, 3), (None, 4, 2)))
    assert run.shape_of(net.outputs[0]) == (None, 4, 5)
