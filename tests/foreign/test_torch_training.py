"""Gradients and updates of PyTorch's modules, of one pass and of a loop of the user's own."""

import copy
import io
from contextlib import nullcontext
from functools import partial

import numpy as np
import pytest
from effort import calls_of

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.live
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.optim import optimizer as optimizers  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402
from torch_models import MODELS, UNet  # noqa: E402

import kerascope as ks  # noqa: E402
from kerascope.cli import main  # noqa: E402
from kerascope.errors import ArgumentError  # noqa: E402
from kerascope.foreign import TapeWriter  # noqa: E402
from kerascope.foreign.torch_modules import record, tracing, training  # noqa: E402


def events_of(tape, kind, ph="B"):
    return [event for event in tape if event.kind == kind and event.ph == ph]


def told(tape, event, name):
    """Return what a name is at an event."""
    return tape.names_at(event.t)[name]


def gradients_of(writer):
    """Return the gradients of the tape's only pass, by what they are with respect to."""
    tape = writer.tape
    [end] = events_of(tape, "backward", "E")
    return told(tape, end, "grads")


def recorded(module, *inputs, **options):
    writer = TapeWriter("all")
    record(module, *inputs, writer=writer, **options)
    return writer


# --- one pass -------------------------------------------------------------------------------------


def number_of(output):
    """Return one number that depends on all that a model gives."""
    if isinstance(output, torch.Tensor):
        return output.square().mean()
    parts = output.values() if isinstance(output, dict) else output
    return sum(one.square().mean() for one in parts if isinstance(one, torch.Tensor))


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_gradients_are_those_of_pytorch_to_the_bit(build):
    torch.manual_seed(0)
    module, inputs = build()
    kept = {}

    def keep(name):
        def hook(module, args, output):
            if isinstance(output, torch.Tensor) and output.requires_grad:
                output.register_hook(lambda gradient: kept.setdefault(name, []).append(gradient))

        return hook

    handles = [one.register_forward_hook(keep(name)) for name, one in module.named_modules()]
    number_of(module(*inputs)).backward()
    for handle in handles:
        handle.remove()
    expected = {n: p.grad.numpy() for n, p in module.named_parameters() if p.grad is not None}
    writer = recorded(module, *inputs, loss=number_of)
    gradients = gradients_of(writer)
    assert expected
    for name, gradient in expected.items():
        np.testing.assert_array_equal(gradients[name], gradient)
    single = [call for call in writer.calls if len(kept.get(call.name, ())) == 1]
    assert single
    for call in single:
        if len(call.outputs) == 1:
            np.testing.assert_array_equal(gradients[call.id], kept[call.name][0].numpy())


def test_gradients_before_an_activation_in_place_are_those_of_what_it_was():
    torch.manual_seed(0)
    layers = [nn.Linear(3, 4), nn.ReLU(inplace=True), nn.Linear(4, 1)]
    x = torch.randn(5, 3)
    h = layers[0](x)
    out = torch.relu(h)
    for one in (h, out):
        one.retain_grad()
    layers[2](out).sum().backward()
    gradients = gradients_of(recorded(nn.Sequential(*layers), x, loss=torch.sum))
    np.testing.assert_array_equal(gradients["0"], h.grad.numpy())
    np.testing.assert_array_equal(gradients["1"], out.grad.numpy())


def test_a_loss_with_a_target_is_a_box_and_the_modules_own_gradients_stay():
    module, x, y = nn.Linear(3, 4), torch.randn(2, 3), torch.tensor([1, 3])
    module.weight.grad = mine = torch.ones(4, 3)
    writer = recorded(module, x, loss=nn.CrossEntropyLoss(), target=y)
    loss = writer.calls[-1]
    assert (loss.id, loss.op, loss.kind) == ("loss", "CrossEntropyLoss", "loss")
    expected = F.cross_entropy(module(x), y).item()
    assert loss.outputs[0].array == pytest.approx(expected)
    assert module.weight.grad is mine
    assert module.bias.grad is None
    outputs = [box.id for box in writer.graph("model").nodes if box.attrs["outputs"]]
    assert outputs == ["Linear"]


def test_a_loss_that_is_no_number_is_named():
    module, x = nn.Linear(3, 4), torch.ones(1, 3)
    with pytest.raises(ArgumentError, match=r"loss: expected .* one number.*got \(1, 4\)"):
        recorded(module, x, loss=nn.Identity())
    with pytest.raises(ArgumentError, match="depends on no parameter"):
        recorded(module.requires_grad_(False), x, loss=torch.sum)


# --- the user's own loop --------------------------------------------------------------------------


def classifier():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(inplace=True), nn.Linear(8, 2))


def batches_of(number):
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(number, 6, 3, generator=draw)
    return [(one, (one.sum(1) > 0).long()) for one in x]


def train(module, optimizer, batches):
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()


def test_a_recorded_loop_computes_what_it_computes_alone():
    alone, module = classifier(), classifier()
    train(alone, torch.optim.Adam(alone.parameters()), batches_of(3))
    with ks.trace(module):
        train(module, torch.optim.Adam(module.parameters()), batches_of(3))
    for mine, other in zip(module.parameters(), alone.parameters(), strict=True):
        assert torch.equal(mine, other)


def test_each_step_is_a_batch_with_its_loss_gradients_and_updates():
    module = classifier()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.5)
    steps = []
    for x, y in batches_of(2):  # the same by hand, on a copy
        old = [one.detach().clone() for one in module.parameters()]
        train(module, optimizer, [(x, y)])
        gradients = [one.grad.clone() for one in module.parameters()]
        steps.append((old, gradients, [one.detach().clone() for one in module.parameters()]))
    module = classifier()
    writer = TapeWriter("all")
    with tracing(module, writer):
        train(module, torch.optim.SGD(module.parameters(), lr=0.5), batches_of(2))
    tape = writer.tape
    assert [event.name for event in events_of(tape, "batch")] == ["batch 0", "batch 1"]
    names = [name for name, _ in module.named_parameters()]
    updates = events_of(tape, "update.param", "E")
    assert [event.name for event in updates] == names * 2
    flat = [numbers for step in steps for numbers in zip(*step, strict=True)]
    for event, (old, gradient, new) in zip(updates, flat, strict=True):
        at = tape.names_at(event.t)
        np.testing.assert_array_equal(at["p"], old.numpy())
        np.testing.assert_array_equal(at["g"], gradient.numpy())
        np.testing.assert_array_equal(at["new_p"], new.numpy())
    assert [told(tape, event, "size") for event in events_of(tape, "batch")] == [6, 6]
    losses = [told(tape, event, "outs") for event in events_of(tape, "batch", "E")]
    assert [len(one) for one in losses] == [1, 1]
    loss = next(call for call in writer.calls if call.op == "cross_entropy")
    assert losses[1][0] == loss.outputs[0].array
    assert [call.id for call in writer.calls] == ["input", "0", "1", "2", "y", "cross_entropy"]


def test_two_optimizers_take_turns_in_batches_of_their_own():
    torch.manual_seed(0)

    class Gan(nn.Module):
        def __init__(self):
            super().__init__()
            self.make, self.judge = nn.Linear(2, 3), nn.Linear(3, 1)

    gan = Gan()
    first = torch.optim.Adam(gan.judge.parameters())
    second = torch.optim.Adam(gan.make.parameters())
    writer = TapeWriter()
    with tracing(gan, writer):
        for _ in range(2):
            first.zero_grad()
            fake = gan.make(torch.randn(4, 2))
            wrong = gan.judge(fake.detach())
            (wrong.mean() - gan.judge(torch.randn(4, 3)).mean()).backward()
            first.step()
            second.zero_grad()
            (-gan.judge(gan.make(torch.randn(4, 2))).mean()).backward()
            second.step()
    tape = writer.tape
    assert len(events_of(tape, "batch")) == 4
    assert [event.name for event in events_of(tape, "update")] == ["Adam", "Adam:2"] * 2
    updated = [event.name for event in events_of(tape, "update.param")]
    judge, make = ["judge.weight", "judge.bias"], ["make.weight", "make.bias"]
    assert updated == (judge + make) * 2
    assert [call.id for call in writer.calls if call.kind == "dense"] == ["make", "judge"]


def test_gradients_that_add_up_over_two_forward_passes_are_one_batch():
    module, writer = classifier(), TapeWriter("all")
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with tracing(module, writer):
        for x, y in batches_of(2):
            F.cross_entropy(module(x), y).backward()
        optimizer.step()
    assert len(events_of(writer.tape, "batch")) == 1
    assert [call.id for call in writer.calls if call.op == "Linear"] == ["0", "2", "0:2", "2:2"]
    last = {}
    for event in events_of(writer.tape, "node", "E"):
        if event.name == "0.weight":
            last[event.t] = told(writer.tape, event, "result")
    assert len(last) == 2
    np.testing.assert_array_equal(list(last.values())[-1], module[0].weight.grad.numpy())


def test_gradients_that_are_handed_out_are_told_as_the_parameters():
    module, writer = classifier(), TapeWriter("all")
    (x, y), *_ = batches_of(1)
    weights = list(module.parameters())
    with tracing(module, writer):
        handed = torch.autograd.grad(F.cross_entropy(module(x), y), weights)
    events = events_of(writer.tape, "node", "E")
    for (name, _), gradient in zip(module.named_parameters(), handed, strict=True):
        (event,) = [one for one in events if one.name == name]
        np.testing.assert_array_equal(told(writer.tape, event, "result"), gradient.numpy())


def test_a_layer_that_comes_to_a_module_during_the_loop_is_heard():
    module, writer = classifier(), TapeWriter()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with tracing(module, writer):
        train(module, optimizer, batches_of(1))
        module.append(nn.Linear(2, 2))
        optimizer.add_param_group({"params": module[3].parameters()})
        train(module, optimizer, batches_of(1))
    assert [call.id for call in writer.calls][:5] == ["input", "0", "1", "2", "3"]
    assert "3.weight" in {event.name for event in events_of(writer.tape, "update.param")}
    assert not hooks_of(module)


def test_a_loss_for_each_sample_does_not_end_the_loop():
    module, writer = classifier(), TapeWriter()
    with tracing(module, writer):
        slopes = torch.vmap(torch.func.jacrev(module[0]))(torch.ones(4, 3))
        torch.func.vmap(torch.func.grad(lambda x: module[0](x).sum()))(torch.ones(4, 3))
    assert torch.equal(slopes[0], module[0].weight)
    assert not hooks_of(module)


def test_passes_without_gradients_are_batches_by_themselves():
    module, writer = classifier().eval(), TapeWriter()
    with tracing(module, writer), torch.no_grad():
        for x, _ in batches_of(3):
            module(x).argmax(1)
    assert len(events_of(writer.tape, "batch")) == 3
    assert [event.name for event in events_of(writer.tape, "function")] == ["test step"] * 3
    assert [call.id for call in writer.calls] == ["input", "0", "1", "2", "argmax"]


def test_a_closure_that_an_optimizer_calls_is_recorded():
    module, writer = classifier(), TapeWriter()
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=2)
    [(x, y)] = batches_of(1)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        return loss

    with tracing(module, writer):
        closure()
        optimizer.step(closure)
    assert len(events_of(writer.tape, "batch")) == 1
    assert len(events_of(writer.tape, "backward")) >= 2
    assert [event.name for event in events_of(writer.tape, "update.param")] == [
        name for name, _ in module.named_parameters()
    ]


def hooks_of(module):
    return [
        hook
        for one in module.modules()
        for hook in (*one._forward_hooks, *one._forward_pre_hooks, *one._backward_hooks)
    ]


def test_nothing_is_left_after_the_loop():
    module = classifier()
    x, y = batches_of(1)[0]
    for error in (None, ValueError, KeyboardInterrupt):
        writer = TapeWriter()
        try:
            with tracing(module, writer):
                train(module, torch.optim.SGD(module.parameters(), lr=0.1), [(x, y)])
                assert hooks_of(module)
                if error is not None:
                    raise error("stop")
        except (ValueError, KeyboardInterrupt) as raised:
            assert type(raised) is error  # noqa: PT017 (both kinds, and none)
        assert hooks_of(module) == []
        assert not optimizers._global_optimizer_pre_hooks
        assert not optimizers._global_optimizer_post_hooks
        assert torch.overrides._get_current_function_mode_stack() == []
        length = len(writer.tape)
        train(module, torch.optim.SGD(module.parameters(), lr=0.1), [(x, y)])
        assert len(writer.tape) == length


class Interrupted(nn.Module):
    """Raises what it is told to, once."""

    def __init__(self):
        super().__init__()
        self.error = None
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        x = self.first(x)
        if self.error is not None:
            error, self.error = self.error, None
            raise error("stop")
        return self.last(x)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_the_loop_goes_on_after_an_error_inside_of_it(error):
    module, writer = nn.Sequential(Interrupted(), nn.ReLU()), TapeWriter()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    x, y = batches_of(1)[0]
    with tracing(module, writer):
        module[0].error = error
        with pytest.raises(error):
            module(x)
        train(module, optimizer, [(x, y)] * 2)
    frames = [frame.id for frame in writer.frames]
    assert frames == ["0"]
    assert [call.id for call in writer.calls] == [
        *("input", "0.first", "0.last", "1", "y", "cross_entropy"),
    ]
    assert [event.name for event in events_of(writer.tape, "update")] == ["SGD", "SGD"]


class Counting(torch.overrides.TorchFunctionMode):
    """A mode of the user's own, which counts the functions that it hears."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("is_inner", [True, False])
def test_a_mode_of_the_users_own_hears_as_much_as_without_a_recorder(is_inner):
    module, x = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 2)), torch.ones(4, 3)
    with Counting() as alone:
        torch.relu(module(x))
    around, inside = (nullcontext(), Counting()) if is_inner else (Counting(), nullcontext())
    writer = TapeWriter()
    with around, tracing(module, writer), inside:
        torch.relu(module(x))
    heard = inside if is_inner else around
    assert [name for name in heard.names if name in alone.names] == alone.names
    assert [call.id for call in writer.calls] == ["input", "0", "1", "relu"]
    assert torch.overrides._get_current_function_mode_stack() == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_functions_are_heard_again_after_an_error_inside_of_a_box(error):
    class Box(nn.Module):
        fails = True

        def forward(self, x):
            if self.fails:
                raise error("stop")
            return x * 2

    module, writer = nn.Sequential(Box(), nn.ReLU()), TapeWriter()
    with Counting() as mode, tracing(module, writer):
        with pytest.raises(error):
            module(torch.ones(2))
        module[0].fails = False
        torch.relu(module(torch.ones(2)))
        assert len(torch.overrides._get_current_function_mode_stack()) == 2
    assert [call.id for call in writer.calls][-3:] == [
        "0:2" if error is ValueError else "0",
        "1",
        "relu",
    ]
    assert "relu" in mode.names
    assert torch.overrides._get_current_function_mode_stack() == []


def test_the_first_number_that_is_none_is_found_with_its_module_line_and_batch():
    class Log(nn.Module):
        def __init__(self):
            super().__init__()
            self.scores = nn.Linear(3, 2)

        def forward(self, x):
            return self.scores(torch.log(x))  # the line

    line = Log.forward.__code__.co_firstlineno + 1
    module = Log()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    with ks.trace(module) as tape:
        for number in range(4):
            optimizer.zero_grad()
            x = torch.ones(2, 3) if number != 2 else -torch.ones(2, 3)
            module(x).sum().backward()
            optimizer.step()
    event = next(
        event
        for event in events_of(tape, "node", "E")
        for figures in [told(tape, event, "result")]
        if getattr(figures, "nans", 0)
    )
    assert event.name == "log"
    assert (event.where.user_file, event.where.user_line) == (__file__, line)
    assert told(tape, event, "batch_index") == 2
    gradient = [
        event.name
        for event in events_of(tape, "node", "E")
        if event.where.user_line and getattr(told(tape, event, "result"), "nans", 0)
    ]
    assert gradient[:2] == ["log", "scores"]


def test_a_module_can_be_copied_and_written_during_the_loop():
    module = classifier()
    with ks.trace(module) as tape:
        twin = copy.deepcopy(module)
        file = io.BytesIO()
        torch.save(module, file)
        length = len(tape)
        twin(torch.ones(1, 3))
        assert len(tape) == length
    file.seek(0)
    read = torch.load(file, weights_only=False)
    assert torch.equal(read(torch.ones(1, 3)), twin(torch.ones(1, 3)))


def test_what_is_computed_again_on_the_way_back_is_told_once():
    class Saving(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False)

    module, writer = Saving(), TapeWriter()
    with tracing(module, writer):
        module(torch.ones(2, 3, requires_grad=True)).sum().backward()
    assert [call.id for call in writer.calls if call.op != "Input"] == [
        *("block.0", "block.1", "sum"),
    ]


def test_a_penalty_on_gradients_stands_behind_what_they_are_gradients_of():
    module, writer = nn.Linear(3, 1), TapeWriter()
    x = torch.ones(2, 3, requires_grad=True)
    with tracing(module, writer):
        score = module(x).sum()
        [slope] = torch.autograd.grad(score, x, create_graph=True)
        (score + slope.norm()).backward()
    graph = writer.graph("model")
    assert ("grad", "norm") in {(edge.source, edge.target) for edge in graph.edges}


def test_modules_of_others_are_not_heard():
    module, other = classifier(), nn.Linear(3, 3)
    with ks.trace(module) as tape:
        optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
        other(torch.ones(1, 3)).sum().backward()
        optimizer.step()
    assert [event.kind for event in tape if event.ph == "B"] == ["fit"]


def test_a_unet_trains_under_the_scope_as_it_does_alone():
    def run(watch):
        torch.manual_seed(3)
        module = UNet()
        optimizer = torch.optim.AdamW(module.parameters())
        x = torch.randn(2, 3, 16, 16)
        with watch(module):
            for _ in range(2):
                optimizer.zero_grad()
                module(x).mean().backward()
                optimizer.step()
        return module.state_dict()

    expected = run(nullcontext)
    found = run(ks.trace)
    for name, one in expected.items():
        assert torch.equal(found[name], one), name


def test_the_tape_is_replayed_in_the_debugger(tmp_path, capsys):
    module = classifier()
    with ks.trace(module) as tape:
        train(module, torch.optim.SGD(module.parameters(), lr=0.1), batches_of(1))
        with torch.no_grad():
            module[2].weight[0, 0] = torch.nan
        train(module, torch.optim.SGD(module.parameters(), lr=0.1), batches_of(1))
    file = tmp_path / "loop.jsonl"
    tape.save(file)
    asked = ["catch nan", "c", "w", "p result", "q"]
    assert main(["replay", *(word for line in asked for word in ("-c", line)), str(file)]) == 0
    told = capsys.readouterr().out
    assert "caught nan: 2" in told
    line = train.__code__.co_firstlineno + 3
    assert f"test_torch_training.py:{line}" in told


# --- what a review has found ----------------------------------------------------------------------


def test_a_step_with_a_closure_begins_its_batch_itself():
    module, writer = classifier(), TapeWriter("all")
    optimizer = torch.optim.LBFGS(module.parameters(), max_iter=2)
    [(x, y)] = batches_of(1)

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        return loss

    with tracing(module, writer):
        for _ in range(5):
            optimizer.step(closure)
    assert len(events_of(writer.tape, "batch")) == 5
    names = [name for name, _ in module.named_parameters()]
    assert [event.name for event in events_of(writer.tape, "update.param")] == 5 * names


def numbers_told(tape):
    """Return the losses, gradients and updates on a tape, in order."""
    names = ("outs", "g", "new_p", "grads")
    return [
        (event.kind, event.name, delta.name, delta.value)
        for event in tape
        for delta in event.deltas
        if delta.name in names and not isinstance(delta.value, dict)
    ]


SCALED = {
    "one loss": lambda scaler, loss: scaler.scale(loss).backward(),
    "a part": lambda scaler, loss: (scaler.scale(loss) / 2).backward(),
    "a list": lambda scaler, loss: sum(scaler.scale([loss, loss])).backward(),
    "two passes": lambda scaler, loss: [
        scaler.scale(loss).backward(retain_graph=True),
        scaler.scale(loss).backward(),
    ],
}


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("backward", SCALED.values(), ids=SCALED)
def test_a_loop_with_a_grad_scaler_tells_what_it_tells_without(backward, fused):
    """The loss, the gradients of all outputs and weights, and no arithmetic of the scaler.

    A fused optimizer takes the factor out of the gradients itself.
    """

    def run(is_enabled):
        module, writer = classifier(), TapeWriter("all")
        optimizer = torch.optim.Adam(module.parameters(), lr=0.1, fused=fused)
        scaler = torch.amp.GradScaler("cpu", enabled=is_enabled)
        with tracing(module, writer):
            for x, y in batches_of(2):
                optimizer.zero_grad()
                backward(scaler, F.cross_entropy(module(x), y))
                scaler.step(optimizer)
                scaler.update()
        return numbers_told(writer.tape)

    scaled, plain = run(True), run(False)
    assert {name for *_, name, _ in plain} == {"outs", "g", "new_p", "grads"}
    skip = {"div", "radd", "add"}  # of the scaled loss; without a scaler, of the loss
    scaled, plain = (
        [one for one in two if one[1].partition(":")[0] not in skip] for two in (scaled, plain)
    )
    assert [one[:3] for one in scaled] == [one[:3] for one in plain]
    for (*what, a), (*_, b) in zip(scaled, plain, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6, err_msg=str(what))


def test_a_step_that_a_grad_scaler_skips_ends_its_batch():
    module, writer = classifier(), TapeWriter()
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    with tracing(module, writer):
        for number, (x, y) in enumerate(batches_of(3)):
            optimizer.zero_grad()
            loss = F.cross_entropy(module(x), y)
            scaler.scale(loss * torch.inf if number == 1 else loss).backward()
            scaler.step(optimizer)
            scaler.update()
    assert [event.name for event in events_of(writer.tape, "batch")] == [
        *("batch 0", "batch 1", "batch 2"),
    ]
    assert len(events_of(writer.tape, "update")) == 2


def test_an_error_in_a_grad_scaler_leaves_a_recorder_that_records():
    module, writer = classifier(), TapeWriter()
    optimizer, scaler = torch.optim.SGD(module.parameters(), lr=0.1), torch.amp.GradScaler("cpu")
    methods = [vars(torch.amp.GradScaler)[name] for name in ("scale", "step", "update")]
    [(x, y)] = batches_of(1)

    def fail(*_):
        raise OSError("disk")

    with tracing(module, writer):
        handle = optimizer.register_step_pre_hook(fail)
        scaler.scale(F.cross_entropy(module(x), y)).backward()
        with pytest.raises(OSError, match="disk"):
            scaler.step(optimizer)
        handle.remove()
        train(module, optimizer, [(x, y)])
    assert [call.op for call in writer.calls][-2:] == ["Linear", "cross_entropy"]
    assert len(events_of(writer.tape, "update.param")) == 4
    assert [vars(torch.amp.GradScaler)[name] for name in ("scale", "step", "update")] == methods


def test_a_loop_without_an_optimizer_does_not_grow_without_end(monkeypatch):
    monkeypatch.setattr(training, "MOST_CALLS", 20)
    module, writer = classifier(), TapeWriter()
    with tracing(module, writer):
        for x, _ in batches_of(50):
            module(x)
    assert len(writer.calls) <= 20 + 4
    assert len(events_of(writer.tape, "batch")) > 5


def test_a_weight_that_is_written_in_every_pass_is_listened_to_once():
    class Clamped(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(2))

        def forward(self, x):
            with torch.no_grad():
                self.w.clamp_(-1, 1)
            return (self.w * x).sum()

    module, writer = Clamped(), TapeWriter()
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    counts = []
    with tracing(module, writer):
        for _ in range(4):
            optimizer.zero_grad()
            before = len(events_of(writer.tape, "node"))
            module(torch.ones(2)).backward()
            optimizer.step()
            counts.append(len(events_of(writer.tape, "node")) - before)
            assert not module.w._backward_hooks
    assert len(set(counts[1:])) == 1


def test_losses_make_no_file_of_arrays_for_each_batch(tmp_path):
    module, writer = classifier(), TapeWriter(path=tmp_path / "run.jsonl")
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    with tracing(module, writer):
        for x, y in batches_of(4):
            optimizer.zero_grad()
            F.cross_entropy(module(x), y).backward()
            optimizer.step()
    writer.close()
    assert [one.name for one in tmp_path.iterdir()] == ["run.jsonl"]


def test_a_lazy_module_is_recorded_when_it_becomes_one():
    module, writer = nn.Sequential(nn.LazyLinear(3), nn.ReLU()), TapeWriter()
    with tracing(module, writer):
        assert module(torch.ones(2, 5)).shape == (2, 3)
    assert "1" in [call.id for call in writer.calls]


def test_a_recorded_call_takes_few_calls_of_python_and_its_events_are_made_when_they_are_read():
    x, takes = torch.ones(2, 4), []
    for length in (10, 30):
        chain = nn.Sequential(*[nn.Linear(4, 4) for _ in range(length)])
        chain(x)
        plain = calls_of(partial(chain, x))
        with ks.trace(chain) as tape:
            chain(x)
            recorded = calls_of(partial(chain, x))
        takes.append((recorded - plain, calls_of(partial(len, tape)) / 2))
    (few, read_few), (more, read_more) = takes
    assert (more - few) / 20 < 170  # it was 229 when the events were made at once
    assert (read_more - read_few) / 20 > 30
