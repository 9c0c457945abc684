"""Random models of kerascope and their ports to PyTorch: no false alarm, no weight is missed."""

import models_and_ports
import numpy as np
import pytest

import kerascope as ks

torch = pytest.importorskip("torch")
torch_ports = pytest.importorskip("torch_ports")
pytestmark = pytest.mark.live


def ported(seed, monkeypatch):
    """Return a model, its port with channels first, and an input for each."""
    monkeypatch.setattr(ks.config, "dialect", "3")  # the gates of an LSTM as PyTorch has them
    model = models_and_ports.fill(models_and_ports.Builder(seed).build(), seed)
    port = torch_ports.Port(model).eval()
    torch_ports.permute_flattened_rows(model, port)
    x = np.random.default_rng(seed).normal(size=(2, *model.input.shape[1:])).astype("float32")
    x_b = np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if x.ndim == 4 else x
    with torch.no_grad():
        gap = np.abs(model.predict(x) - port(torch.tensor(x_b)).numpy()).max()
    assert gap < 1e-4, "the port of this test is wrong"
    return model, port, x, x_b


def change_visibly(port, parameter, x, random):
    """Change a number of a parameter that this input reaches: gates may be shut for others."""
    with torch.no_grad():
        before = port(x)
        for place in random.permutation(parameter.numel()):
            parameter.view(-1)[int(place)] += 1.5
            if (port(x) - before).abs().max() > 1e-3:
                return
            parameter.view(-1)[int(place)] -= 1.5
    pytest.skip("no number of this parameter counts for this input")


@pytest.mark.parametrize("seed", range(14))
def test_a_port_is_equal_until_one_weight_changes(seed, monkeypatch):
    model, port, x, x_b = ported(seed, monkeypatch)
    found = ks.compare(model, port, x, x_b=x_b)
    assert found.equal, str(found)
    random = np.random.default_rng(seed)
    names = [name for name, _ in port.named_parameters()]
    name = names[int(random.integers(len(names)))]
    change_visibly(port, port.get_parameter(name), torch.tensor(x_b), random)
    found = ks.compare(model, port, x, x_b=x_b)
    assert found.first is not None, name
    assert found.first.a[0].id == name.split(".")[1], str(found)
