"""Modules of PyTorch for the tests: of the package transformers, and our own."""

import sys
from functools import cache

import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

torch.set_num_threads(1)


@cache
def transformers():
    """Return the package transformers; a torchvision that does not import is hidden from it.

    That is so where PyTorch is a build "+cpu" and torchvision is not: its operators are missing
    then. Transformers needs none of it, but imports it if it is installed.
    """
    try:
        __import__("torchvision")
    except ImportError:
        pass
    except RuntimeError:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules["torchvision"] = None
    return pytest.importorskip("transformers")


def resnet18():
    return ResNet18().eval(), (torch.randn(1, 3, 64, 64),)


def vit():
    return VisionTransformer().eval(), (torch.randn(1, 3, 32, 32),)


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


class Residual(nn.Module):
    """Two convolutions beside a skip, as in ResNet18."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(before, after, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(after)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(after)
        self.skip = None
        if stride > 1:
            short = nn.Conv2d(before, after, 1, stride, bias=False)
            self.skip = nn.Sequential(short, nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        y += x if self.skip is None else self.skip(x)
        return self.relu(y)


class ResNet18(nn.Module):
    """ResNet18 for 1,000 classes: 11,689,512 parameters."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, padding=3, bias=False)
        self.bn1, self.relu = nn.BatchNorm2d(64), nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        for number, (before, after) in enumerate([(64, 64), (64, 128), (128, 256), (256, 512)], 1):
            first = Residual(before, after, 1 if before == after else 2)
            setattr(self, f"layer{number}", nn.Sequential(first, Residual(after, after, 1)))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d(1), nn.Linear(512, 1000)

    def forward(self, image):
        x = self.maxpool(self.relu(self.bn1(self.conv1(image))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


class Encoder(nn.Module):
    """Attention and two dense layers, each with a norm before and a skip beside."""

    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, dropout=0.1, batch_first=True)
        self.dropout = nn.Dropout(0.1)
        self.dense = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        y = self.norm1(x)
        y, _ = self.attention(y, y, y, need_weights=False)
        x = x + self.dropout(y)
        return x + self.dense(self.norm2(x))


class VisionTransformer(nn.Module):
    """Patches of an image as words, with one in front of them that is classified."""

    def __init__(self, size=32, patch=8, width=16, heads=2):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.front = nn.Parameter(torch.zeros(1, 1, width))
        self.places = nn.Parameter(0.02 * torch.randn(1, (size // patch) ** 2 + 1, width))
        self.encoders = nn.Sequential(Encoder(width, heads), Encoder(width, heads))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 5)

    def forward(self, image):
        x = self.patches(image).flatten(2).permute(0, 2, 1)
        x = torch.cat([self.front.expand(x.shape[0], -1, -1), x], dim=1)
        x = self.encoders(x + self.places)
        return self.head(self.norm(x)[:, 0])


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
