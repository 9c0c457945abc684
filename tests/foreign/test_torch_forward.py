"""Modules of PyTorch are drawn and recorded as they ran: calls, arrows, values, frames, lines."""

import copy
import gc
import operator
import warnings
import weakref
from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.live
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.nn.utils import prune  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch_models import MODELS, Loop, Packed, UNet, resnet18, unet, vit  # noqa: E402

import kerascope as ks  # noqa: E402
from kerascope.cli import main  # noqa: E402
from kerascope.errors import ArgumentError  # noqa: E402
from kerascope.foreign import TapeWriter  # noqa: E402
from kerascope.foreign.torch_modules import graph_of, record  # noqa: E402
from kerascope.foreign.torch_modules.tensors import numbers_of  # noqa: E402
from kerascope.trace.statistics import statistics_of  # noqa: E402


def recorded(module, *inputs, **options):
    writer = TapeWriter("all")
    result = record(module, *inputs, writer=writer, **options)
    return writer, result


def arrows_of(module, *inputs):
    return [(edge.source, edge.target) for edge in graph_of(module, *inputs).edges]


@pytest.fixture(params=MODELS)
def model(request):
    torch.manual_seed(0)
    return MODELS[request.param]()


# --- well-known architectures ---------------------------------------------------------------------


def test_only_inputs_and_constants_have_no_arrow_in(model):
    module, inputs = model
    graph = graph_of(module, *inputs)
    read = {edge.target for edge in graph.edges}
    alone = [box.id for box in graph.nodes if box.id not in read]
    assert {graph.node(one).kind for one in alone} <= {"input", "constant"}


def test_values_are_those_of_the_modules_to_the_bit(model):
    module, inputs = model
    given = {}

    def hear(name):
        def hook(module, args, output):
            output = output[0] if isinstance(output, tuple) else output
            if isinstance(output, torch.Tensor):
                given.setdefault(name, []).append(output.detach().clone().numpy())

        return hook

    handles = [one.register_forward_hook(hear(name)) for name, one in module.named_modules()]
    module(*inputs)
    for handle in handles:
        handle.remove()
    writer, _ = recorded(module, *inputs)
    paths = {name for name, _ in module.named_modules()}
    calls = [call for call in writer.calls if call.name in paths]
    assert len(calls) > 2
    for number, call in ((call.id.partition(":")[2], call) for call in calls):
        if len(call.outputs) == 1:
            expected = given[call.name][int(number or 1) - 1]
            np.testing.assert_array_equal(call.outputs[0].array, expected)


def test_each_module_that_holds_none_is_called_as_often_as_it_runs(model):
    module, inputs = model
    counts = Counter()

    def count(module, args):
        counts[names[module]] += 1

    names = {one: name for name, one in module.named_modules() if not list(one.children())}
    handles = [one.register_forward_pre_hook(count) for one in names]
    module(*inputs)
    for handle in handles:
        handle.remove()
    writer, _ = recorded(module, *inputs)
    found = Counter(call.name for call in writer.calls if call.name in counts)
    assert found == counts


@pytest.mark.parametrize("build", [resnet18, vit, unet])
def test_boxes_and_arrows_are_those_that_torch_fx_finds(build):
    """Which traces the module symbolically, and so by other means."""
    module, inputs = build()
    traced = torch.fx.symbolic_trace(module)
    values = {}

    class Interpreter(torch.fx.Interpreter):
        def run_node(self, node):
            values[node] = super().run_node(node)
            return values[node]

    Interpreter(traced).run(*inputs)

    def maker(node):  # one part of what a call gave is no call
        is_part = node.target is operator.getitem and isinstance(values[node.args[0]], tuple)
        return maker(node.args[0]) if is_part else node

    def is_box(node):
        parts = values[node] if isinstance(values[node], tuple) else (values[node],)
        tensors = any(isinstance(one, torch.Tensor) for one in parts)
        return node.op != "output" and tensors and maker(node) is node

    boxes = [node for node in values if is_box(node)]
    arrows = {(maker(one), node) for node in boxes for one in node.all_input_nodes}
    graph = graph_of(module, *inputs)
    assert len(graph.nodes) == len(boxes)
    found = {(edge.source, edge.target) for edge in graph.edges}
    assert len(found) == len([pair for pair in arrows if pair[0] in boxes])
    modules = {str(node.target) for node in boxes if node.op == "call_module"}
    assert modules <= {box.id for box in graph.nodes}


def test_frames_are_the_modules_around():
    module, inputs = resnet18()
    graph = graph_of(module, *inputs)
    assert [group.id for group in graph.groups[:2]] == ["layer1", "layer1.0"]
    assert graph.node("layer1.0.conv1").group == "layer1.0"
    assert graph.node("layer1.0/add_").group == "layer1.0"
    assert graph.node("conv1").group == ""
    assert graph.node("conv1").attrs["settings"] == "kernel_size 7, stride 2, padding 3, …"
    assert graph.attrs["parameters"] == sum(one.numel() for one in module.parameters())


# --- what a module is called on -------------------------------------------------------------------


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x, mask=None, scale=None):
        h = self.layer(x)
        h = h if mask is None else h * mask
        return h if scale is None else h / scale


class OfDict(nn.Module):
    def forward(self, x, batch):
        return x * batch["scale"]


def table_of(module, *inputs, **options):
    lines = []
    ks.summary(module, *inputs, print_fn=lines.append, **options)
    return "\n".join(map(str, lines))


X, MASK, SCALE = torch.ones(2, 4), torch.full((3,), 0.5), torch.full((3,), 2.0)


@pytest.mark.parametrize(
    ("module", "inputs", "names"),
    [
        (Scaled(), (X, {"mask": MASK}), {"x", "mask"}),
        (Scaled(), (X, MASK, {"scale": SCALE}), {"x", "mask", "scale"}),
        (Scaled(), ({"x": X, "mask": MASK},), {"x", "mask"}),
        (Scaled(), {"x": X, "scale": MASK}, {"x", "scale"}),
        (Scaled(), (2, 4), {"x"}),
        (Scaled(), ((2, 4), (2, 3)), {"x", "mask"}),
        (Scaled(), torch.Size([2, 4]), {"x"}),
        (OfDict(), (X, {"scale": SCALE[:1]}), {"x", "batch"}),
    ],
)
def test_inputs_are_positional_with_names_or_shapes_for_every_verb(module, inputs, names):
    """A dict at the end has names if the module has arguments that are called so."""
    graph = ks.draw(module, inputs=inputs).graph
    assert {node.id for node in graph.nodes if node.kind == "input"} == names
    assert {node.id for node in ks.draw(module, inputs).graph.nodes} == {n.id for n in graph.nodes}
    assert next(ks.walk(module, inputs)).call.id == "x"
    assert ks.compare(module, copy.deepcopy(module), inputs).equal
    assert "x (Input)" in table_of(module, inputs)
    assert "x" in ks.to_networkx(module, inputs=inputs)


def test_inputs_may_be_given_in_the_words_of_torchinfo_and_torchview():
    module, expected = Scaled(), table_of(Scaled(), X)
    for options in ({"input_size": (2, 4)}, {"input_size": [2, 4]}, {"input_data": X}):
        assert table_of(module, **options) == expected
        graph = ks.draw(module, **options).graph
        assert [node.id for node in graph.nodes] == ["x", "layer"]
    for options in ({"input_size": [(2, 4), (2, 3)]}, {"input_data": [X, MASK]}):
        assert "mask (Input)" in table_of(module, **options)
    assert "mask (Input)" in table_of(module, input_data={"x": X, "mask": MASK})


def test_a_shape_stands_for_numbers_of_the_modules_own_type_and_draws_none_of_the_users():
    module = Scaled().double()
    torch.manual_seed(0)
    expected = torch.rand(1)
    torch.manual_seed(0)
    [step] = [step for step in ks.walk(module, (2, 4)) if step.call.op == "Input"]
    assert step.outputs[0].dtype == "float64"
    assert torch.equal(torch.rand(1), expected)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m: ks.draw(m, X, inputs=X), "expected the inputs once"),
        (lambda m: ks.draw(m, input_data=X, input_size=(2, 4)), "input_data and input_size"),
        (lambda m: ks.summary(m, X, input_size=(2, 4)), "inputs and input_size"),
        (lambda m: ks.summary(m, input_size=(2, None)), "input_size to be a shape"),
        (lambda m: ks.summary(m, input_size=()), "input_size to be a shape"),
        (lambda m: ks.draw(ks.Sequential(), X), "expected a path such as"),
        (lambda m: ks.summary(m, X, dtypes=["a"]), "'dtypes' is an unknown argument. For a rec"),
        (lambda m: ks.summary(m, X, flops=True), "'flops' only works for models of kerascope"),
    ],
)
def test_inputs_that_cannot_be_understood_say_so(call, words):
    with pytest.raises(ArgumentError, match=words):
        call(Scaled())


BUFFERS = {
    "sparse": lambda: torch.eye(4).to_sparse(),
    "csr": lambda: torch.eye(4).to_sparse_csr(),
    "quantized": lambda: torch.quantize_per_tensor(torch.eye(4), 0.1, 0, torch.quint8),
    "complex": lambda: torch.eye(4, dtype=torch.complex64),
    "empty": lambda: torch.zeros(0),
}


@pytest.mark.parametrize("make", BUFFERS.values(), ids=BUFFERS)
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")
def test_a_buffer_may_be_of_any_kind(make):
    class Buffered(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)
            self.register_buffer("graph", make())

        def forward(self, x):
            dense = self.graph.to_dense() if self.graph.layout != torch.strided else self.graph
            return self.layer(x), dense

    graph = graph_of(Buffered(), torch.ones(4, 4))
    assert {"x", "layer"} <= {node.id for node in graph.nodes}


def test_a_sparse_buffer_is_given_back_what_it_was():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("counts", torch.eye(2).to_sparse())

        def forward(self, x):
            self.counts.mul_(2)
            return x @ self.counts.to_dense()

    module = Counting()
    recorded(module, torch.ones(1, 2))
    assert torch.equal(module.counts.to_dense(), torch.eye(2))


# --- what a module may do -------------------------------------------------------------------------


def test_a_loop_that_depends_on_data_is_recorded_as_it_ran():
    torch.manual_seed(0)
    module = Loop()
    for scale in (0.1, 3.0):
        x, rounds = torch.full((4,), scale), 0
        y = x
        while y.norm() < 10:
            y, rounds = y + torch.relu(module.cell(y)) + 1, rounds + 1
        writer, result = recorded(module, x)
        cells = [call.id for call in writer.calls if call.op == "Linear"]
        assert cells == ["cell", *(f"cell:{n}" for n in range(2, rounds + 1))]
        assert torch.equal(result, y)


def test_a_shared_module_is_one_set_of_weights_in_two_boxes():
    layer = nn.Linear(3, 3)
    graph = graph_of(nn.Sequential(layer, nn.ReLU(), layer), torch.ones(1, 3))
    assert [box.id for box in graph.nodes] == ["input", "0", "1", "0:2"]
    assert graph.attrs["parameters"] == 12
    assert graph.node("0:2").attrs["calls"] == 2


def module_of(forward, **parts):
    """Return a module that does what a function does."""

    class Made(nn.Module):
        def __init__(self):
            super().__init__()
            for name, part in parts.items():
                is_buffer = type(part) is torch.Tensor
                self.register_buffer(name, part) if is_buffer else setattr(self, name, part)

        def forward(self, x):
            return forward(self, x)

    return Made()


def test_an_index_and_a_write_at_an_index_are_calls():
    def forward(self, x):
        h = torch.zeros(2, 3)
        h[0] = x[-1]
        return h * 2

    assert arrows_of(module_of(forward), torch.ones(2, 3)) == [
        *(("x", "getitem"), ("zeros", "setitem"), ("getitem", "setitem"), ("setitem", "mul")),
    ]
    writer, _ = recorded(module_of(forward), torch.ones(2, 3))
    zeros, write = (call for call in writer.calls if call.op in ("zeros", "setitem"))
    np.testing.assert_array_equal(zeros.outputs[0].array, np.zeros((2, 3)))
    np.testing.assert_array_equal(write.outputs[0].array, [[1, 1, 1], [0, 0, 0]])
    assert write.settings == {"": "[0]"}


def test_a_write_through_a_view_changes_what_it_views_and_no_other_part():
    def forward(self, x):
        h = x + 1
        first, second = h[0], h[1]
        first.mul_(5)
        return second * 2, first + 1, h.sum()

    arrows = arrows_of(module_of(forward), torch.ones(2, 3))
    assert ("getitem", "mul_") in arrows
    assert ("add", "mul_") in arrows  # the other row of what it gives
    assert ("getitem:2", "mul") in arrows  # which nobody has written into
    assert ("mul_", "add:2") in arrows
    assert ("mul_", "sum") in arrows
    writer, _ = recorded(module_of(forward), torch.ones(2, 3))
    write = next(call for call in writer.calls if call.op == "mul_")
    assert [value.array.tolist() for value in write.outputs] == [[10] * 3, [[10] * 3, [2] * 3]]
    assert write.inputs[0].array.tolist() == [2] * 3


def test_an_activation_in_place_keeps_what_it_was_given():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 2))
    x = torch.randn(2, 3)
    writer, _ = recorded(module, x)
    linear, relu = writer.calls[1:3]
    expected = module[0](x).detach().numpy()
    np.testing.assert_array_equal(linear.outputs[0].array, expected)
    np.testing.assert_array_equal(relu.inputs[0].array, expected)
    np.testing.assert_array_equal(relu.outputs[0].array, np.maximum(expected, 0))
    assert arrows_of(module, x) == [("input", "0"), ("0", "1"), ("1", "2")]


def test_a_write_in_inference_mode_is_seen_too():
    def forward(self, x):
        h = self.linear(x)
        h.mul_(2)
        h[0] = 0
        F.relu(h, inplace=True)
        return h + 1

    module, x = module_of(forward, linear=nn.Linear(3, 3)), torch.ones(2, 3)
    expected = arrows_of(module, x)
    assert ("relu", "add") in expected
    with torch.inference_mode():
        assert arrows_of(module, x) == expected


def test_weights_that_are_read_without_their_module_have_a_box():
    def forward(self, x):
        return F.linear(self.words(x) + self.place, self.words.weight) * self.scale

    parts = {"words": nn.Embedding(5, 3), "place": nn.Parameter(torch.ones(3))}
    graph = graph_of(module_of(forward, **parts, scale=torch.tensor(2.0)), torch.tensor([1, 2]))
    constants = {box.id: box.attrs for box in graph.nodes if box.kind == "constant"}
    assert {name: attrs["class_name"] for name, attrs in constants.items()} == {
        "place": "Parameter",
        "words.weight": "Parameter",
        "scale": "Buffer",
    }
    assert constants["words.weight"]["shared_with"] == "words"
    assert graph.attrs["parameters"] == 18
    arrows = {(edge.source, edge.target) for edge in graph.edges}
    assert {("place", "add"), ("words.weight", "linear"), ("scale", "mul")} <= arrows


def functional(layer):
    def forward(self, x):
        weights = {name: one * 2 for name, one in self.layer.named_parameters()}
        return torch.func.functional_call(self.layer, weights, (x,))

    return module_of(forward, layer=layer)


def generated(layer):
    def forward(self, x):
        weight = self.maker(torch.ones(1)).reshape(self.layer.weight.shape)
        return torch.func.functional_call(self.layer, {"weight": weight}, (x,))

    return module_of(forward, layer=layer, maker=nn.Linear(1, layer.weight.numel()))


def assigned(layer):
    del layer.weight

    def forward(self, x):
        self.layer.weight = self.scale * 2
        return self.layer(x)

    return module_of(forward, layer=layer, scale=nn.Parameter(torch.ones(2, 3)))


def with_hooks(wrap):
    return lambda layer: module_of(lambda self, x: torch.relu(self.layer(x)), layer=wrap(layer))


class Doubled(nn.Linear):
    """A layer of the user's own."""


COMPUTED = {  # how weights are computed -> the boxes from which they lead into the call
    "functional_call": (functional, {"mul", "mul:2"}, 8),
    "hypernetwork": (generated, {"reshape"}, 14),
    "attribute": (assigned, {"mul"}, 8),
    "weight_norm": (with_hooks(nn.utils.weight_norm), {"weight_norm"}, 10),
    "spectral_norm": (with_hooks(nn.utils.spectral_norm), {"div"}, 8),
    "prune": (with_hooks(lambda m: prune.random_unstructured(m, "weight", 0.5)),
              {"mul"}, 8),
    "parametrization": (with_hooks(nn.utils.parametrizations.weight_norm), set(), 10),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
@pytest.mark.parametrize(
    ("how", "cls"),
    [
        *((how, nn.Linear) for how in COMPUTED),
        *((how, Doubled) for how in COMPUTED if how != "attribute"),
    ],
)
def test_weights_that_are_computed_lead_into_the_call(how, cls):
    """And each parameter is counted once; a parametrization lies inside of its module's box.

    Any attribute of a class of the user's own may be something else than a weight.
    """
    wrap, makers, parameters = COMPUTED[how]
    module = wrap(cls(3, 2))
    expected = module(torch.ones(1, 3))
    writer, result = recorded(module, torch.ones(1, 3))
    graph = writer.graph("model")
    into = {edge.source for edge in graph.edges if edge.target == "layer"}
    assert into == {"x", *makers}
    assert graph.attrs["parameters"] == parameters
    if how != "spectral_norm":  # it goes on with its iteration
        assert torch.equal(result, expected)
    counts = [int(box.attrs["parameters"]) for box in graph.nodes]
    assert sum(counts) == parameters


def test_a_tensor_that_a_layer_only_keeps_leads_nowhere():
    class Keeping(nn.Module):
        def forward(self, x):
            self.last = x * 2
            return self.last

    keeping = Keeping()
    arrows = arrows_of(nn.Sequential(keeping, nn.ReLU(), keeping), torch.ones(2))
    assert arrows == [("input", "0"), ("0", "1"), ("1", "0:2")]


def test_a_block_with_a_parametrized_weight_is_a_frame_as_without():
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight, self.last = nn.Parameter(torch.ones(3, 3)), nn.Linear(3, 2)

        def forward(self, x):
            return self.last(F.linear(x, self.weight))

    block = nn.utils.parametrizations.orthogonal(Block())
    graph = graph_of(nn.Sequential(block), torch.ones(1, 3))
    assert graph.groups[0].id == "0"
    assert {"0/linear", "0.last"} <= {box.id for box in graph.nodes}
    assert {("0/linear", "0.last")} <= {(edge.source, edge.target) for edge in graph.edges}


def test_a_weight_whose_module_is_not_called_says_so():
    def forward(self, x):
        return F.linear(x, self.words.weight)

    graph = graph_of(module_of(forward, words=nn.Embedding(5, 3)), torch.ones(1, 3))
    assert graph.node("words.weight").attrs["settings"] == "of Embedding, not called"
    writer, _ = recorded(module_of(forward, words=nn.Linear(3, 3)), torch.ones(1, 3))
    weight = next(call for call in writer.calls if call.name == "words.weight")
    assert weight.parameters["weight"].array.shape == (3, 3)


def test_a_weight_that_is_read_before_its_module_is_called_does_not_say_so():
    def forward(self, x):
        return self.fc(x + self.fc.bias) + self.other.bias

    module = module_of(forward, fc=nn.Linear(3, 3), other=nn.Linear(3, 3))
    writer, _ = recorded(module, torch.ones(1, 3))
    words = {call.id: dict(call.settings) for call in writer.calls if call.op == "Parameter"}
    assert words == {"fc.bias": {}, "other.bias": {"": "of Linear, not called"}}


class Leaky(nn.Module):
    """One box that keeps a view of what it gave, and writes into what it gave before."""

    def __init__(self):
        super().__init__()
        self.given = None

    def forward(self, x):
        if self.given is not None:
            self.given.add_(100)
        self.given = x * 2
        self.row = self.given[0]
        return self.given


def test_a_view_that_was_made_where_nobody_listens_stands_behind_what_it_views():
    def forward(self, x):
        self.leaky(x)
        return self.leaky.row + 1

    assert arrows_of(module_of(forward, leaky=Leaky()), torch.ones(2, 3)) == [
        *(("x", "leaky"), ("leaky", "view"), ("view", "add")),
    ]


def doubled(x, w):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(_doubled)(x, w)


def _doubled(x, w):
    return torch.tanh(x * w) * 2


UNHEARD = {
    "a function of TorchScript": (
        lambda self, x: self.last(doubled(self.first(x), self.scale)),
        [("first", "unrecorded"), ("scale", "unrecorded"), ("unrecorded", "last")],
    ),
    "vmap": (
        lambda self, x: self.last(torch.vmap(torch.sin)(self.first(x))),
        [("first", "sin"), ("sin", "last")],
    ),
    "vmap over columns": (
        lambda self, x: self.last(torch.vmap(torch.sin, in_dims=1)(self.first(x)).T),
        [("first", "sin"), ("sin", "view"), ("view", "T"), ("T", "last")],
    ),
    "torch.func.grad": (
        lambda self, x: self.last(torch.func.grad(lambda y: y.pow(2).sum())(self.first(x))),
        [
            *(("first", "pow"), ("pow", "sum"), ("sum", "grad"), ("first", "grad")),
            ("grad", "last"),
        ],
    ),
    "a copy": (
        lambda self, x: self.last(copy.deepcopy(self.first(x).detach())),
        [("first", "detach"), ("detach", "deepcopy"), ("deepcopy", "last")],
    ),
    "other data": (
        lambda self, x: self.last(rebound(self.first(x) + 1, self.second(x))),
        [("first", "add"), ("second", "data"), ("data", "data:2"), ("data:2", "last")],
    ),
}


def rebound(y, other):
    y.data = other.data
    return y


@pytest.mark.parametrize(("forward", "arrows"), UNHEARD.values(), ids=UNHEARD)
def test_what_is_computed_where_nobody_listens_has_its_arrows(forward, arrows):
    torch.manual_seed(0)
    parts = {name: nn.Linear(3, 3) for name in ("first", "second", "last")}
    module, x = module_of(forward, **parts, scale=nn.Parameter(torch.ones(3))), torch.ones(2, 3)
    writer, result = recorded(module, x)
    found = {(edge.source, edge.target) for edge in writer.graph("net").edges}
    assert {arrow for arrow in found if arrow[0] != "x"} == set(arrows)
    np.testing.assert_array_equal(writer.calls[-1].outputs[0].array, result.detach().numpy())
    given = next(call for call in writer.calls if call.id == "last").inputs[0]
    np.testing.assert_array_equal(module.last(torch.tensor(given.array)).detach(), result.detach())


@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_a_tensor_of_rows_of_several_lengths_is_recorded(layout):
    def forward(self, x):
        rows = torch.nested.nested_tensor([x, x[:1]], layout=layout)
        return self.fc((rows * 2).to_padded_tensor(0.0))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = module_of(forward, fc=nn.Linear(3, 3))
        writer, result = recorded(module, torch.ones(2, 3))
        assert torch.equal(result, module(torch.ones(2, 3)))
        with ks.trace(module) as tape:
            module(torch.ones(2, 3)).sum().backward()
    assert [c.op for c in writer.calls][-3:] == ["mul", "to_padded_tensor", "Linear"]
    assert next(c for c in writer.calls if c.op == "mul").outputs[0].shape == (2, None, None)
    assert len(list(tape.batches())) == 1


def test_a_write_where_nobody_listens_stands_between_what_was_and_what_is():
    def forward(self, x):
        first = self.leaky(x)
        self.leaky(x)
        return first + 1

    arrows = arrows_of(module_of(forward, leaky=Leaky()), torch.ones(2, 3))
    assert ("leaky", "write") in arrows
    assert ("write", "add") in arrows
    writer, _ = recorded(module_of(forward, leaky=Leaky()), torch.ones(2, 3))
    add = writer.calls[-1]
    assert add.inputs[0].array.tolist() == [[102.0] * 3] * 2
    assert writer.calls[1].outputs[0].array.tolist() == [[2.0] * 3] * 2


def test_a_buffer_that_the_forward_pass_counts_in_is_what_it_was_and_then_what_it_is():
    def forward(self, x):
        self.count += 1
        return x * self.count

    module = module_of(forward, count=torch.zeros(1))
    writer, _ = recorded(module, torch.ones(2))
    calls = {call.id: call for call in writer.calls}
    assert calls["count"].outputs[0].array.tolist() == [0]
    assert calls["add_"].outputs[0].array.tolist() == [1]
    assert calls["mul"].inputs[1].token == calls["add_"].outputs[0].token
    assert module.count.tolist() == [0]


def test_figures_of_what_is_only_reshaped_are_those_of_what_it_was():
    def forward(self, x):
        h = self.drop(x + 1)
        rows = h.T.reshape(100, 100).flip(0)
        h.mul_(2)
        return rows, h.view(50, 200), h[1:]

    writer = TapeWriter("statistics")
    x = torch.randn(100, 100)
    record(module_of(forward, drop=nn.Dropout()).eval(), x, writer=writer)
    exact = TapeWriter("all")
    record(module_of(forward, drop=nn.Dropout()).eval(), x, writer=exact)
    for call, other in zip(writer.calls, exact.calls, strict=True):
        for value, numbers in zip(call.outputs, other.outputs, strict=True):
            found, expected = value.array, statistics_of(numbers.array)
            assert found.kind == expected.kind
            assert found.mean == pytest.approx(expected.mean, rel=1e-6)
            assert (found.min, found.max) == (expected.min, expected.max)


def test_a_tensor_that_was_recorded_can_be_resized():
    def forward(self, x):
        given = torch.empty(0)
        for size in (1, 3):
            torch.add(x[:size], 1, out=given.resize_(0))
        return given * 2

    writer, result = recorded(module_of(forward), torch.ones(3, 2))
    assert result.tolist() == [[4.0] * 2] * 3
    assert [call.op for call in writer.calls if call.op in ("add", "mul")] == ["add", "add", "mul"]
    read = {edge.target for edge in writer.graph("model").edges}
    assert {"add", "add:2", "mul"} <= read


def test_what_nobody_else_needs_is_freed_while_it_is_recorded():
    alive = []

    def forward(self, x):
        alive.append(weakref.ref(x))
        x = self.linear(x)
        alive.append(weakref.ref(x))
        x = torch.relu(x)
        gc.collect()
        alive.append(alive[-1]() is None)
        return x

    with torch.no_grad():
        recorded(module_of(forward, linear=nn.Linear(3, 3)), torch.ones(1, 3))
    assert alive[-1]


def test_what_goes_on_unchanged_keeps_its_arrow():
    def forward(self, x):
        return self.drop(x.contiguous()) + self.same(x)

    module = module_of(forward, drop=nn.Dropout(), same=nn.Identity()).eval()
    assert arrows_of(module, torch.ones(2)) == [("x", "drop"), ("drop", "same"), ("same", "add")]


def test_iterating_over_a_tensor_is_one_call():
    def forward(self, x):
        return sum(row.square() for row in x)

    arrows = arrows_of(module_of(forward), torch.ones(3, 2))
    assert arrows.count(("x", "unbind")) == 1
    assert [pair for pair in arrows if pair[0] == "unbind"] == [
        ("unbind", "square"),
        ("unbind", "square:2"),
        ("unbind", "square:3"),
    ]


def test_packed_sequences_dicts_and_nothing_are_followed():
    torch.manual_seed(0)
    words, lengths = torch.randint(0, 10, (2, 5)), torch.tensor([3, 5])
    module = Packed()
    arrows = arrows_of(module, words, lengths)
    assert ("words_input", "words") in arrows
    assert ("words", "index_select") in arrows
    assert ("pack_padded_sequence", "lstm") in arrows
    assert ("lstm", "getitem:2") in arrows or ("lstm", "getitem") in arrows
    outputs = {box.id for box in graph_of(module, words, lengths).nodes if box.attrs["outputs"]}
    assert "scores" in outputs
    assert len(outputs) == 2


def test_a_box_knows_the_line_of_the_module_that_called_it():
    def forward(self, x):
        return torch.relu(self.linear(x))

    first = forward.__code__.co_firstlineno
    writer, _ = recorded(module_of(forward, linear=nn.Linear(3, 3)), torch.ones(1, 3))
    for call in writer.calls[1:]:
        assert call.line == (__file__, first + 1, "forward")


def test_a_path_that_a_function_shares_with_a_module_stays_the_modules():
    def forward(self, x):
        return torch.relu(self.relu(x))

    graph = graph_of(module_of(forward, relu=nn.ReLU()), torch.ones(1))
    assert [(box.id, box.attrs["class_name"]) for box in graph.nodes[1:]] == [
        ("relu", "ReLU"),
        ("Made/relu", "relu"),
    ]


# --- around it ------------------------------------------------------------------------------------


def hooks_of(module):
    return [
        hook
        for one in module.modules()
        for hook in (*one._forward_hooks, *one._forward_pre_hooks, *one._backward_hooks)
    ]


def test_a_module_is_afterwards_what_it_was():
    module = UNet().train()
    before = {name: one.clone() for name, one in module.state_dict().items()}
    state = torch.get_rng_state()
    recorded(module, torch.randn(2, 3, 16, 16, generator=torch.Generator()))
    assert hooks_of(module) == []
    for name, one in module.state_dict().items():
        assert torch.equal(one, before[name])
    assert torch.equal(torch.get_rng_state(), state)
    assert all(one.grad is None for one in module.parameters())


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_hooks_are_gone_after_an_error_which_the_tape_knows(error):
    def fail(self, x):
        raise error("no")

    module = nn.Sequential(nn.Linear(3, 3), module_of(fail, part=nn.ReLU()))
    writer = TapeWriter()
    with pytest.raises(error, match="no"):
        record(module, torch.ones(1, 3), writer=writer)
    assert hooks_of(module) == []
    assert [call.id for call in writer.calls] == ["input", "0"]
    assert any("error" in writer.tape.names_at(event.t) for event in writer.tape)
    assert torch.overrides._get_current_function_mode_stack() == []


def test_arrays_of_numpy_are_inputs_and_stay_what_they_are():
    module = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(3, 2))
    x = np.array([[-1.0, 0.0, 1.0]])
    _, result = recorded(module, x)
    assert result.dtype == torch.float32
    assert x.tolist() == [[-1.0, 0.0, 1.0]]


def test_missing_inputs_are_named_with_the_way_to_give_them():
    with pytest.raises(ArgumentError, match=r"missing a required argument: 'image'.*inputs=x"):
        ks.draw(UNet())


def test_what_python_does_not_run_cannot_be_recorded_and_says_so():
    linear = nn.Linear(3, 3)
    compiled = nn.Linear(3, 3)
    with warnings.catch_warnings():  # of what PyTorch itself uses
        warnings.simplefilter("ignore")
        compiled.compile()
        scripted = torch.jit.script(linear)
    for module, words in (
        (scripted, "TorchScript"),
        (nn.Sequential(torch.compile(linear)), r"'0' is compiled by torch\.compile"),
        (compiled, "by its method `compile`"),
        (nn.DataParallel(linear), r"other threads.*`\.module`"),
        (torch.ones(3), r"expected a torch\.nn\.Module, got Tensor"),
    ):
        with pytest.raises(ArgumentError, match=words):
            graph_of(module, torch.ones(1, 3))


def test_numbers_that_numpy_has_no_type_for_are_recorded():
    module = nn.Linear(3, 2, dtype=torch.bfloat16)
    writer, result = recorded(module, torch.ones(1, 3, dtype=torch.bfloat16))
    value = writer.calls[-1].outputs[0]
    assert value.dtype == "bfloat16"
    np.testing.assert_array_equal(value.array, result.detach().float().numpy())


def test_a_fake_tensor_has_shapes_and_no_numbers():
    with FakeTensorMode():
        module, x = nn.Sequential(nn.Linear(3, 2), nn.ReLU()), torch.ones(4, 3)
        writer, _ = recorded(module, x)
    assert [call.outputs[0].shape for call in writer.calls] == [(4, 3), (4, 2), (4, 2)]
    assert [value.array for call in writer.calls for value in call.outputs] == [None] * 3


def test_a_module_without_numbers_is_drawn():
    module = nn.Sequential(nn.Linear(3, 2, device="meta"), nn.ReLU())
    writer, _ = recorded(module, torch.ones(1, 3, device="meta"))
    assert [call.outputs[0].array for call in writer.calls] == [None] * 3


def test_the_verbs_take_a_module(capsys):
    torch.manual_seed(0)
    module, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), torch.ones(1, 3)
    assert "Linear" in ks.draw(module, values=x).svg
    steps = list(ks.walk(module, x))
    assert [step.call.id for step in steps] == ["input", "0", "1", "2"]
    assert steps[-1].depth == 0
    assert sorted(ks.to_networkx(module, inputs=x).edges(keys=False)) == [
        ("0", "1"),
        ("1", "2"),
        ("input", "0"),
    ]
    ks.summary(module, x)
    assert "Total params: 26" in capsys.readouterr().out


def test_a_cast_to_bool_or_int_has_its_arrow():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.l = nn.Linear(2, 2)
            self.e = nn.Embedding(4, 2)

        def forward(self, x, mask):
            return self.l(x) * mask.bool() + self.e(mask.int()).sum(1)

    writer = TapeWriter("all")
    record(Masked(), torch.ones(3, 2), torch.ones(3, 2), writer=writer)
    edges = {(one.source, one.target) for one in writer.graph("masked").edges}
    assert {("mask", "bool"), ("bool", "mul"), ("mask", "int"), ("int", "e")} <= edges


def test_numbers_of_a_negated_view_have_their_sign():
    z = torch.complex(torch.tensor([1.0, 2.0]), torch.tensor([3.0, -4.0]))
    assert numbers_of(z.conj().imag).tolist() == [-3.0, 4.0]


def test_a_checkpointed_module_is_told_once_with_a_loss():
    class Checkpointed(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))

        def forward(self, x):
            return checkpoint(self.a, x, use_reentrant=False)

    writer = TapeWriter("all")
    record(Checkpointed(), torch.ones(3, 2), writer=writer, loss=lambda y: y.sum())
    assert [call.id for call in writer.calls if call.id.startswith("a.")] == ["a.0", "a.1", "a.2"]
    assert not [e for e in writer.tape for d in e.deltas if d.name == "error"]


def test_an_error_says_in_which_module_it_was_raised():
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(4, 1))
    with pytest.raises(RuntimeError, match="shapes") as raised:
        record(model, torch.ones(1, 2), writer=TapeWriter())
    assert raised.value.__notes__ == ["kerascope: this was raised in 2 (Linear)"]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ("all", "NaN comes in with its weight weight"),
        ("statistics", "its weights are not recorded"),
    ],
)
def test_a_weight_that_is_no_number_is_not_said_to_come_from_nowhere(
    tmp_path, capsys, arrays, said
):
    model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    with torch.no_grad():
        model[0].weight[0, 0] = torch.nan
    writer = TapeWriter(arrays)
    record(model, torch.ones(1, 2), writer=writer)
    writer.tape.save(tmp_path / "run.jsonl")
    words = ["-c", "catch nan", "-c", "c", "-c", "q", str(tmp_path / "run.jsonl")]
    assert main(["replay", *words]) == 0
    assert said in capsys.readouterr().out
