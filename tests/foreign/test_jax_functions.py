"""Functions of JAX, modules of Flax and Equinox: drawn as JAX traces them, run step by step."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.foreign import adapter_of
from kerascope.foreign.writer import TapeWriter

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
jax_functions = pytest.importorskip("kerascope.foreign.jax_functions")
pytestmark = pytest.mark.live
graph_of = jax_functions.graph_of

KEY = jax.random.key(0)
X = jax.random.normal(jax.random.key(1), (2, 4))
PARAMS = {
    "first": {"kernel": jax.random.normal(KEY, (4, 8)), "bias": jnp.arange(8.0)},
    "last": {"kernel": jax.random.normal(KEY, (8, 3)), "bias": jnp.arange(3.0)},
}


def dense(layer, x):
    return x @ layer["kernel"] + layer["bias"]


def predict(params, x):
    with jax.named_scope("first"):
        h = jax.nn.relu(dense(params["first"], x))
    with jax.named_scope("last"):
        return jnp.tanh(dense(params["last"], h))


def loss(params, x):
    return (predict(params, x) ** 2).mean()


def boxes(graph):
    return {box.id: box for box in graph.nodes}


def arrows(graph):
    return {(edge.source, edge.target) for edge in graph.edges}


def recorded(function, *inputs, **named):
    writer = TapeWriter("all")
    result = jax_functions.record(function, *inputs, writer=writer, **named)
    return {call.id: call for call in writer.calls}, result


def given(call, number=0):
    return call.outputs[number].array


def assert_same(result, expected):
    assert jax.tree.structure(result) == jax.tree.structure(expected)
    for one, other in zip(jax.tree.leaves(result), jax.tree.leaves(expected), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


# --- the graph ------------------------------------------------------------------------------------


def test_equations_are_boxes_and_the_arrays_of_the_first_argument_are_with_who_reads_them():
    graph = graph_of(predict, PARAMS, X)
    found = boxes(graph)
    facts = {
        "x": ("input", 0),
        "first.dot_general": ("dense", 32),
        "first.add": ("function", 8),
        "first.relu": ("activation", 0),
        "last.dot_general": ("dense", 24),
        "last.add": ("function", 3),
        "last.tanh": ("activation", 0),
    }
    assert {name: (box.kind, box.attrs["parameters"]) for name, box in found.items()} == facts
    assert arrows(graph) == set(pairwise(facts))
    assert found["first.relu"].attrs["class_name"] == "relu"
    assert found["first.relu"].attrs["settings"] == "x max 0.0"
    assert found["last.add"].attrs["output_shapes"] == "(2, 3)"
    assert [(frame.id, frame.parent) for frame in graph.groups] == [("first", ""), ("last", "")]


def test_a_graph_needs_no_numbers():
    shapes = jax.tree.map(lambda one: jax.ShapeDtypeStruct(one.shape, one.dtype), (PARAMS, X))
    assert graph_of(predict, *shapes) == graph_of(predict, PARAMS, X)
    with pytest.raises(ArgumentError, match=r"params\.first\.bias: expected an array, got the"):
        recorded(predict, *shapes)


def test_the_same_function_has_the_same_graph_compiled_or_not():
    plain = graph_of(predict, PARAMS, X)
    assert graph_of(jax.jit(predict), PARAMS, X) == plain
    assert boxes(graph_of(lambda x: predict(PARAMS, x), X)).keys() == boxes(plain).keys()


def test_the_user_s_line_stands_in_each_box():
    box = boxes(graph_of(predict, PARAMS, X))["last.tanh"]
    line = predict.__code__.co_firstlineno + 4
    assert box.made_at == f"test_jax_functions.py:{line}"


def test_arrays_around_a_function_have_their_names():
    weights = {"kernel": jnp.ones((4, 2))}
    calls, _ = recorded(lambda x: x @ weights["kernel"], X)
    assert set(calls["dot_general"].parameters) == {"kernel"}
    calls, _ = recorded(partial(dense, PARAMS["first"]), X)
    assert set(calls["add"].parameters) == {"bias"}


def test_names_around_a_function_that_are_no_trees_do_not_matter():
    odd = {1: X, "one": X}

    def function(x):
        return x + odd[1] if later is None else x

    with pytest.raises(NameError, match="later"):
        recorded(function, X)
    later = None
    _, result = recorded(function, X)
    assert_same(result, X + X)


def test_gradients_by_whole_numbers_have_no_values():
    def scaled(x, n):
        return (x * n).sum()

    gradient = jax.grad(scaled, (0, 1), allow_int=True)
    _, result = recorded(gradient, X, jnp.int32(3))
    np.testing.assert_array_equal(result[0], np.full(X.shape, 3.0))
    assert result[1].dtype == jax.dtypes.float0


def test_a_gradient_is_a_function_like_any_other_and_its_way_back_a_frame():
    graph = graph_of(jax.grad(loss), PARAMS, X)
    frames = {frame.id for frame in graph.groups}
    assert {"first", "last", "gradient", "gradient.first", "gradient.last"} <= frames
    assert graph.attrs["parameters"] == 67
    _, result = recorded(jax.grad(loss), PARAMS, X)
    assert_same(result, jax.grad(loss)(PARAMS, X))


def test_branches_and_bodies_of_loops_are_frames():
    def flow(x):
        x = jax.lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x)
        x, ys = jax.lax.scan(lambda c, y: (c + y, c.sum()), x, jnp.ones((5, 4)))
        return jax.lax.while_loop(lambda x: x.sum() < 100, lambda x: x * 3, x), ys

    graph = graph_of(flow, X[0])
    parents = {frame.id: frame.parent for frame in graph.groups}
    assert parents == {
        **{"cond": "", "cond.branch0": "cond", "cond.branch1": "cond"},
        **{"scan": "", "scan.body": "scan"},
        **{"while": "", "while.test": "while", "while.body": "while"},
    }
    found = arrows(graph)
    assert {("x", "cond.branch0.neg"), ("cond.branch0.neg", "cond.result")} <= found
    assert ("cond.result", "scan.body.start") in found
    assert ("while.test.lt", "while.body.start") in found
    lonely = [
        box.id
        for box in graph.nodes
        if box.kind not in ("input", "constant") and box.id not in {end for _, end in found}
    ]
    assert lonely == []


# --- what runs ------------------------------------------------------------------------------------


def test_each_value_is_that_of_the_function_to_the_bit():
    calls, result = recorded(predict, PARAMS, X)
    assert_same(result, predict(PARAMS, X))
    h = X @ PARAMS["first"]["kernel"]
    np.testing.assert_array_equal(given(calls["first.dot_general"]), h)
    np.testing.assert_array_equal(given(calls["first.add"]), h + PARAMS["first"]["bias"])
    np.testing.assert_array_equal(
        calls["first.add"].parameters["bias"].array, PARAMS["first"]["bias"]
    )


def test_what_was_drawn_is_what_runs():
    for function in (predict, loss, jax.grad(loss)):
        calls, _ = recorded(function, PARAMS, X)
        assert set(calls) == set(boxes(graph_of(function, PARAMS, X)))


def test_trees_go_in_and_come_out():
    def tree(batch, scale=1.0, *, add):
        return {"sum": batch["a"] + batch["b"][0] * scale, "added": (add + 1, None)}

    batch = {"a": jnp.ones(2), "b": [jnp.zeros(2)]}
    calls, result = recorded(tree, batch, 2.0, add=jnp.ones(3))
    assert_same(result, tree(batch, 2.0, add=jnp.ones(3)))
    assert "add" in calls
    _, result = recorded(lambda x: x, X)
    assert_same(result, X)


@pytest.mark.parametrize("sign", [1, -1])
def test_only_the_branch_that_is_taken_runs(sign):
    def choose(x):
        return jax.lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: -x, x)

    calls, result = recorded(choose, jnp.full(3, sign * 1.0))
    assert_same(result, choose(jnp.full(3, sign * 1.0)))
    assert ("cond.branch1.mul" in calls) == (sign > 0)
    assert ("cond.branch0.neg" in calls) == (sign < 0)


@pytest.mark.parametrize("reverse", [False, True])
def test_each_turn_of_a_scan_runs(reverse):
    def sums(start, rows):
        return jax.lax.scan(lambda c, row: (c + row, c * row), start, rows, reverse=reverse)

    rows = jnp.arange(8.0).reshape(4, 2)
    calls, result = recorded(sums, jnp.ones(2), rows)
    assert_same(result, sums(jnp.ones(2), rows))
    order = [*rows][::-1] if reverse else [*rows]
    state = np.ones(2)
    for turn, row in enumerate(order):
        number = f":{turn + 1}" if turn else ""
        np.testing.assert_array_equal(given(calls[f"scan.body.start{number}"], 1), row)
        state = state + row
        np.testing.assert_array_equal(given(calls[f"scan.body.add{number}"]), state)
        assert calls[f"scan.body.add{number}"].frame == f"scan.body{number}"


def test_a_scan_without_rows_gives_none():
    def sums(start, rows):
        return jax.lax.scan(lambda c, row: (c + row, c * row), start, rows)

    _, result = recorded(sums, jnp.ones(2), jnp.ones((0, 2)))
    assert_same(result, sums(jnp.ones(2), jnp.ones((0, 2))))


def test_a_number_that_a_loop_begins_with_is_none_in_its_turns():
    def count(x):
        return jax.lax.fori_loop(0, 3, lambda i, x: x * i, x)

    calls, result = recorded(count, jnp.ones(2))
    assert_same(result, count(jnp.ones(2)))
    kinds = {call.kind for call in calls.values()}
    assert "constant" not in kinds
    assert calls["scan.body.start"].settings[""] == "0, x"


def test_a_while_asks_before_each_turn():
    def double(x):
        return jax.lax.while_loop(lambda x: x.sum() < 10, lambda x: x * 2, x)

    for size, turns in ((1.0, 3), (100.0, 0)):
        x = jnp.full(2, size)
        calls, result = recorded(double, x)
        assert_same(result, double(x))
        assert sum(name.startswith("while.body.mul") for name in calls) == turns
        assert sum(name.startswith("while.test.lt") for name in calls) == turns + 1


@pytest.mark.parametrize("limit", [10, 1000])
def test_samples_of_a_batch_that_are_done_keep_their_state(limit):
    def count(x):
        return jax.lax.while_loop(lambda s: s[1] < limit, lambda s: (s[0] + 1, s[1] + x), (0, x))

    batch = jnp.array([1.0, 2.0, 500.0])
    calls, result = recorded(jax.vmap(count), batch)
    assert_same(result, jax.vmap(count)(batch))
    assert "while.body.kept:2" in calls


def test_an_array_that_a_function_makes_itself_is_a_box():
    calls, result = recorded(lambda x: x * np.arange(4.0, dtype="float32"), X)
    assert_same(result, X * np.arange(4.0, dtype="float32"))
    assert calls["constant"].kind == "constant"
    graph = graph_of(lambda x: x * np.arange(4.0, dtype="float32"), X)
    assert arrows(graph) >= {("x", "mul")}
    assert graph.attrs["parameters"] == 0


def test_of_a_long_loop_the_first_turns_are_written_down_and_all_run():
    def long(x):
        x, ys = jax.lax.scan(lambda c, y: (c + y, c * 2), x, jnp.arange(250.0))
        return jax.lax.while_loop(lambda x: x < 1e5, lambda x: x + 10, x), ys

    calls, result = recorded(long, jnp.float32(0))
    assert_same(result, long(jnp.float32(0)))
    assert calls["scan.result"].settings == {"turns": 250, "shown": 100}
    assert calls["while.result"].settings["shown"] == 100
    assert calls["while.result"].settings["turns"] == -(-(1e5 - 31125) // 10)
    assert "scan.body.add:100" in calls
    assert "scan.body.add:101" not in calls


def test_keys_of_generators_flow_without_numbers():
    def noisy(key, x):
        return x + jax.random.normal(key, x.shape)

    calls, result = recorded(noisy, KEY, X)
    assert_same(result, noisy(KEY, X))
    assert calls["key"].outputs[0].array is None
    assert calls["_normal.erf_inv"].frame == "_normal"


def test_functions_with_derivatives_of_their_own_and_checkpoints_are_looked_into():
    @jax.custom_vjp
    def own(x):
        return jnp.sin(x) * 2

    own.defvjp(lambda x: (own(x), x), lambda x, g: (g * jnp.cos(x) * 2,))

    def both(x):
        return own(x) + jax.checkpoint(lambda x: jnp.exp(jnp.sin(x)))(x)

    calls, result = recorded(both, X)
    assert_same(result, both(X))
    assert {"sin", "exp"} <= {call.op for call in calls.values()}


def test_gradients_of_a_loss_are_written_down():
    writer = TapeWriter("all")
    jax_functions.record(predict, PARAMS, X, writer=writer, loss=lambda y: (y**2).mean())
    expected = jax.grad(loss, (0, 1))(PARAMS, X)
    grads = writer.tape.names_at(len(writer.tape) - 3)["grads"]
    found = {name: pair[0] if isinstance(pair, tuple) else pair for name, pair in grads.items()}
    np.testing.assert_allclose(
        found["params.last.kernel"], expected[0]["last"]["kernel"], rtol=1e-6
    )
    np.testing.assert_allclose(found["x"], expected[1], rtol=1e-6)


def test_half_precision_is_shown_in_numbers():
    calls, result = recorded(lambda x: x * 2, jnp.ones(3, jnp.bfloat16))
    assert result.dtype == jnp.bfloat16
    assert calls["mul"].outputs[0].dtype == "bfloat16"
    np.testing.assert_array_equal(given(calls["mul"]), np.full(3, 2.0, "float32"))


# --- modules --------------------------------------------------------------------------------------


def test_a_module_of_linen_is_drawn_and_run_with_its_variables():
    linen = pytest.importorskip("flax.linen")

    class Net(linen.Module):
        @linen.compact
        def __call__(self, images):
            hidden = linen.relu(linen.Dense(8, name="hidden")(images))
            return linen.Dense(3, name="scores")(linen.LayerNorm(name="norm")(hidden))

    net = Net()
    variables = net.init(KEY, X)
    graph = graph_of(net, variables, X)
    assert {frame.id for frame in graph.groups} == {"hidden", "norm", "scores"}
    assert boxes(graph)["images"].kind == "input"
    assert boxes(graph)["hidden.dot_general"].attrs["parameters"] == 32
    assert graph.attrs["parameters"] == sum(one.size for one in jax.tree.leaves(variables))
    calls, result = recorded(net, variables, X)
    assert_same(result, net.apply(variables, X))
    assert set(calls["scores.dot_general"].parameters) == {"kernel"}
    assert ks.draw(net.apply, values=(variables, X)).graph.node("scores.add").kind == "function"


def test_a_module_of_nnx_is_drawn_and_run_and_stays_as_it_was():
    nnx = pytest.importorskip("flax.nnx")

    class Net(nnx.Module):
        def __init__(self, rngs):
            self.hidden = nnx.Linear(4, 8, rngs=rngs)
            self.norm = nnx.BatchNorm(8, rngs=rngs)
            self.noise = nnx.Dropout(0.5, rngs=rngs)
            self.scores = nnx.Linear(8, 3, rngs=rngs)

        def __call__(self, x):
            return self.scores(self.noise(nnx.relu(self.norm(self.hidden(x)))))

    net = Net(nnx.Rngs(0))
    before = [np.asarray(one) for one in jax.tree.leaves(net) if one.dtype == jnp.float32]
    graph = graph_of(net, X)
    assert {"hidden", "norm", "noise", "scores"} <= {frame.id for frame in graph.groups}
    calls, result = recorded(net, X)
    after = [np.asarray(one) for one in jax.tree.leaves(net) if one.dtype == jnp.float32]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    assert set(calls["scores.add"].parameters) == {"bias"}
    assert_same(result, net(X))  # the first call of the net itself: with the same noise
    assert "__call__" in nnx.Linear.__dict__
    assert nnx.Linear.__call__.__qualname__ == "Linear.__call__"
    assert not hasattr(nnx.Linear.__call__, "__wrapped__")


def test_a_module_of_equinox_is_drawn_and_run_alone_or_for_a_batch():
    equinox = pytest.importorskip("equinox")
    net = equinox.nn.MLP(4, 3, 8, 2, key=KEY)
    before = equinox.nn.Linear.__call__
    for subject, x in ((net, X[0]), (jax.vmap(net), X)):
        graph = graph_of(subject, x)
        assert [frame.id for frame in graph.groups] == ["layers[0]", "layers[1]", "layers[2]"]
        assert graph.attrs["parameters"] == 139
        calls, result = recorded(subject, x)
        assert_same(result, subject(x))
        assert set(calls["layers[1].add"].parameters) == {"bias"}
    assert equinox.nn.Linear.__call__ is before


def test_modules_are_put_back_after_an_error():
    equinox = pytest.importorskip("equinox")
    net = equinox.nn.MLP(4, 3, 8, 2, key=KEY)
    before = equinox.nn.Linear.__call__
    with pytest.raises(TypeError):
        graph_of(net, jnp.ones(5))
    assert equinox.nn.Linear.__call__ is before


# --- found by what they are, and refused ----------------------------------------------------------


def test_what_is_of_jax_is_found():
    assert adapter_of(jax.jit(predict)) is jax_functions
    assert adapter_of(predict, PARAMS, np.ones(2)) is jax_functions
    assert adapter_of(jax.nn.relu) is jax_functions
    assert adapter_of(predict, np.ones(2)) is None
    assert adapter_of(partial(jax.jit(predict), PARAMS)) is jax_functions


def test_the_verbs_take_a_function():
    drawn = ks.draw(predict, values=(PARAMS, X))
    assert "value_mean" in drawn.graph.node("last.tanh").attrs
    steps = list(ks.walk(predict, (PARAMS, X)))
    np.testing.assert_array_equal(steps[-1].outputs[0], predict(PARAMS, X))
    lines: list[str] = []
    ks.summary(predict, (PARAMS, X), print_fn=lines.append)
    assert "67" in "\n".join(lines)


def test_a_function_without_inputs_is_refused():
    with pytest.raises(ArgumentError, match="expected inputs to trace predict with"):
        graph_of(predict)


def test_a_function_that_asks_for_numbers_is_refused():
    with pytest.raises(ArgumentError, match=r"depends on a number.*jax\.lax\.cond"):
        graph_of(lambda x: x if x.sum() > 0 else -x, X)


def test_a_module_that_is_not_called_is_refused():
    equinox = pytest.importorskip("equinox")

    class Pair(equinox.Module):
        weight: jax.Array

    with pytest.raises(ArgumentError, match=r"can be called, got Pair"):
        graph_of(Pair(X), X)


def test_an_error_of_the_function_itself_comes_through():
    with pytest.raises(TypeError, match="dot_general"):
        graph_of(predict, PARAMS, jnp.ones((2, 5)))
