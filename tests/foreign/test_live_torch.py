"""A script that trains with PyTorch, watched while it does: nobody names its modules."""

import gc
import weakref

import pytest

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.live

from kerascope.cli import main  # noqa: E402
from kerascope.errors import KerascopeWarning  # noqa: E402
from kerascope.foreign import TapeWriter  # noqa: E402
from kerascope.foreign.torch_modules import watching  # noqa: E402
from kerascope.trace.tape import Tape  # noqa: E402

GAN = """
import torch
from torch import nn

torch.manual_seed(0)


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, z):
        return self.b(torch.relu(self.a(z)))


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(2, 8), nn.Linear(8, 1)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


g, d = G(), D()
og = torch.optim.Adam(g.parameters(), 1e-2)
od = torch.optim.Adam(d.parameters(), 1e-2)
bce = nn.BCEWithLogitsLoss()
for step in range(3):
    real, z = torch.randn(16, 2) + 3, torch.randn(16, 4)
    if step == 2:
        z[0, 0] = float("nan")
    od.zero_grad()
    loss = bce(d(real), torch.ones(16, 1)) + bce(d(g(z).detach()), torch.zeros(16, 1))
    loss.backward()
    od.step()
    og.zero_grad()
    bce(d(g(z)), torch.ones(16, 1)).backward()
    og.step()
    print(loss.item())
"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    (tmp_path / "gan.py").write_text(GAN, "utf-8")
    monkeypatch.chdir(tmp_path)
    return "gan.py"


def test_both_networks_of_a_gan_are_known_by_their_classes(script, capsys):
    assert main(["run", "--live", "--tape", "gan.jsonl", script]) == 0
    said = capsys.readouterr()
    assert len(said.out.split()) == 3
    assert "batch 4: z: Input" in said.err
    assert "gan.py:35" in said.err
    tape = Tape.load("gan.jsonl")
    assert len(list(tape.batches())) == 6
    updated = [event.name for event in tape.filter(kind="update.apply")]
    assert updated[:4] == ["D.a.weight", "D.a.bias", "D.b.weight", "D.b.bias"]
    assert updated[4:8] == ["G.a.weight", "G.a.bias", "G.b.weight", "G.b.bias"]


def test_its_losses_are_those_without_watching(script, capsys):
    assert main(["run", "--live", script]) == 0
    watched = capsys.readouterr().out
    assert main(["run", script]) == 0
    assert capsys.readouterr().out == watched


def test_nothing_is_left_of_it():
    module = torch.nn.Linear(2, 1)
    plain = torch.nn.Module.__call__
    with pytest.raises(RuntimeError, match="shapes"), watching(TapeWriter()):
        module(torch.ones(1, 5))
    assert torch.nn.Module.__call__ is plain
    assert not module._forward_hooks
    assert not module._forward_pre_hooks


def test_a_second_module_of_a_class_has_a_number():
    writer = TapeWriter("none")
    with watching(writer):
        one, two = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
        two(one(torch.ones(1, 2)))
    assert [call.id for call in writer.calls if call.kind != "input"] == ["Linear", "Linear_2"]
    assert ("Linear", "Linear_2") in {
        (edge.source, edge.target) for edge in writer.graph("two").edges
    }


@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
def test_what_cannot_be_recorded_is_said_once_and_runs():
    scripted = torch.jit.trace(torch.nn.Linear(2, 1), torch.ones(1, 2))
    writer = TapeWriter("none")
    with watching(writer):
        with pytest.warns(KerascopeWarning, match="TorchScript"):
            assert scripted(torch.ones(1, 2)).shape == (1, 1)
        scripted(torch.ones(1, 2))  # a warning would be an error here
    assert not writer.calls


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_script_that_compiles_a_function_runs_unheard(tmp_path, monkeypatch, capsys):
    (tmp_path / "compiled.py").write_text(COMPILED, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["run", "--live", "compiled.py"]) == 0
    assert capsys.readouterr().out.split() == ["trained"]


COMPILED = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)


@torch.compile(backend="eager")
def step(x):
    return net(x).sum()


for _ in range(2):
    optimizer.zero_grad()
    step(torch.ones(3, 2)).backward()
    optimizer.step()
print("trained")
"""


def test_a_script_that_makes_many_modules_does_not_keep_them_all():
    made = []
    with watching(TapeWriter()):
        for _ in range(40):
            module = torch.nn.Linear(2, 1)
            made.append(weakref.ref(module))
            module(torch.ones(1, 2))
            del module
        gc.collect()
        assert sum(one() is not None for one in made) <= 33
