"""Modules of PyTorch for the tests: of other packages, and small ones of our own."""

import importlib
import re
import sys
from functools import cache

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

torch.set_num_threads(1)
_OPERATORS = []


@cache
def torchvision():
    """Return torchvision.

    Where its compiled operators do not fit this PyTorch, it gets empty ones: no model here calls
    them, and without them it cannot be imported.
    """
    pytest.importorskip("PIL")
    while True:
        try:
            return importlib.import_module("torchvision")
        except ModuleNotFoundError:
            pytest.skip("torchvision is not installed")
        except RuntimeError as error:
            missing = re.match(r"operator torchvision::(\w+) does not exist", str(error))
            if missing is None:
                raise
            if not _OPERATORS:
                _OPERATORS.append(torch.library.Library("torchvision", "DEF"))
            _OPERATORS[0].define(f"{missing[1]}(Tensor x) -> Tensor")
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]


def transformers():
    """Return the package transformers, whose models know whether there is a torchvision."""
    torchvision()
    return pytest.importorskip("transformers")


def resnet18():
    return torchvision().models.resnet18().eval(), (torch.randn(1, 3, 64, 64),)


def vit():
    model = torchvision().models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=5)
    return model.eval(), (torch.randn(1, 3, 32, 32),)


def unet():
    return UNet(), (torch.randn(1, 3, 32, 32),)


def bert():
    package = transformers()
    config = package.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        vocab_size=100,
    )  # fmt: skip
    return package.BertModel(config).eval(), (torch.arange(7)[None],)


def gpt2():
    package = transformers()
    config = package.GPT2Config(n_embd=32, n_layer=2, n_head=4, vocab_size=100)
    return package.GPT2LMHeadModel(config).eval(), (torch.arange(7)[None],)


def lstm():
    return Packed(), (torch.randint(0, 10, (2, 5)), torch.tensor([3, 5]))


class UNet(nn.Module):
    """Two levels down and up, with in-place activations and skips by concatenation."""

    def __init__(self, width=4):
        super().__init__()
        self.down1, self.down2 = self._block(3, width), self._block(width, 2 * width)
        self.middle = self._block(2 * width, 4 * width)
        self.up2 = nn.ConvTranspose2d(4 * width, 2 * width, 2, 2)
        self.back2 = self._block(4 * width, 2 * width)
        self.up1 = nn.ConvTranspose2d(2 * width, width, 2, 2)
        self.back1 = self._block(2 * width, width)
        self.head = nn.Conv2d(width, 1, 1)

    def _block(self, before, after):
        return nn.Sequential(
            nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU(inplace=True),
            nn.Conv2d(after, after, 3, padding=1), nn.ReLU(inplace=True),
        )  # fmt: skip

    def forward(self, image):
        first = self.down1(image)
        second = self.down2(F.max_pool2d(first, 2))
        x = self.middle(F.max_pool2d(second, 2))
        x = self.back2(torch.cat([self.up2(x), second], 1))
        x = self.back1(torch.cat([self.up1(x), first], 1))
        return torch.sigmoid(self.head(x))


class Packed(nn.Module):
    """Words of several lengths through an LSTM."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 8)
        self.lstm = nn.LSTM(8, 6, batch_first=True)
        self.scores = nn.Linear(6, 3)

    def forward(self, words, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(
            self.words(words), lengths, batch_first=True, enforce_sorted=False
        )
        outputs, (h, _) = self.lstm(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(outputs, batch_first=True)
        return {"scores": self.scores(h[-1]), "all": padded, "nothing": None}


class Loop(nn.Module):
    """How often it goes around depends on what it is given."""

    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)

    def forward(self, x):
        while x.norm() < 10:
            x = x + torch.relu(self.cell(x)) + 1
        return x


MODELS = {one.__name__: one for one in (resnet18, vit, unet, bert, gpt2, lstm)}
