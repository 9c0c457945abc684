"""A small GPT reads nursery rhymes or Tang poems, one character at a time, and then writes.

python examples/small_gpt.py            trains on the English and on the Chinese text
python examples/small_gpt.py zh 2000    trains on one of them, for that many steps

Chapter 21 of the course explains it. The texts are in its folder, and in the public domain.
"""

import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: more threads only wait

import numpy as np

from kerascope import backend as K
from kerascope.layers import (
    Add,
    Dense,
    Embedding,
    Input,
    Layer,
    LayerNormalization,
    MultiHeadAttention,
)
from kerascope.lessons import tutorials_folder
from kerascope.models import Model
from kerascope.optimizers import Adam

TEXTS = {"en": "rhymes.txt", "zh": "tang.txt"}
STARTS = {"en": ("Little ", "The king ", "One "), "zh": ("春", "明月", "不知")}
TIMES, WIDTH, HEADS, BLOCKS, STEPS = 32, 64, 4, 2, 1500


def read(language):
    """Return a text, and the sorted list of its characters."""
    folder = tutorials_folder() / "21-attention-and-a-small-gpt" / "texts"
    text = (folder / TEXTS[language]).read_text(encoding="utf-8")
    return text, sorted(set(text))


class Positions(Layer):
    """A layer that adds a learned vector for each position."""

    def build(self, input_shape):
        self.table = self.add_weight(shape=input_shape[1:], initializer="uniform", name="table")
        super().build(input_shape)

    def call(self, inputs):
        return inputs + self.table


def block(x, number):
    """Return x after attention and a small network, each added to its own input."""
    y = LayerNormalization(name=f"norm_{number}a")(x)
    attention = MultiHeadAttention(HEADS, WIDTH // HEADS, name=f"attention_{number}")
    x = Add(name=f"add_{number}a")([x, attention(y, y, use_causal_mask=True)])
    y = LayerNormalization(name=f"norm_{number}b")(x)
    y = Dense(4 * WIDTH, activation="relu", name=f"wide_{number}")(y)
    return Add(name=f"add_{number}b")([x, Dense(WIDTH, name=f"narrow_{number}")(y)])


def gpt(characters):
    """Return a model: for each position the probabilities of the next character."""
    inputs = Input(shape=(TIMES,), dtype="int32", name="characters")
    x = Embedding(len(characters), WIDTH, name="vectors")(inputs)
    x = Positions(name="positions")(x)
    for number in range(1, BLOCKS + 1):
        x = block(x, number)
    x = LayerNormalization(name="norm")(x)
    outputs = Dense(len(characters), activation="softmax", name="next")(x)
    return Model(inputs, outputs, name="small_gpt")


def batches(text, characters, steps, rng, rows=16):
    """Yield batches of windows of the text, and the same windows one character later."""
    numbers = np.array([characters.index(one) for one in text])
    for _ in range(steps):
        starts = rng.integers(0, len(text) - TIMES, rows)
        windows = numbers[starts[:, None] + np.arange(TIMES + 1)]
        yield windows[:, :-1], windows[:, 1:, None]


def train(model, text, characters, steps=STEPS, rate=0.004):
    """Train the model, with a rate that falls to 0, and return the loss of each step."""
    model.compile(Adam(rate), "sparse_categorical_crossentropy")
    losses = []
    for x, y in batches(text, characters, steps, np.random.default_rng(0)):
        K.set_value(model.optimizer.lr, rate * (1 - len(losses) / steps))
        losses.append(model.train_on_batch(x, y))
    return losses


def probabilities(model, characters, words):
    """Return for each character the probability that it comes after these words."""
    seen = [characters.index(one) for one in words[-TIMES:]]
    row = np.zeros((1, TIMES), "int32")
    row[0, : len(seen)] = seen  # the zeros after them do not count: the mask is causal
    return model.predict_on_batch(row)[0, len(seen) - 1]


def write(model, characters, words, length, temperature=0.0, rng=None):
    """Return these words, continued up to a length: the likeliest character, or a drawn one."""
    while len(words) < length:
        found = probabilities(model, characters, words).astype("float64")
        if temperature:
            found = found ** (1 / temperature)
            words += characters[rng.choice(len(found), p=found / found.sum())]
        else:
            words += characters[found.argmax()]
    return words


def main(languages=("en", "zh"), steps=STEPS):
    """Train on each text, and print the losses, the time and what the model writes."""
    for language in languages:
        np.random.seed(0)
        text, characters = read(language)
        model = gpt(characters)
        print(f"{language}: {len(text):,} characters, {len(characters)} different ones, ", end="")
        print(f"{model.count_params():,} parameters")
        begun = time.perf_counter()
        losses = train(model, text, characters, steps)
        took = time.perf_counter() - begun
        print(f"loss {losses[0]:.2f} -> {np.mean(losses[-50:]):.2f} in {took:.0f} s")
        rng = np.random.default_rng(0)
        for start in STARTS[language]:
            print(write(model, characters, start, 100 if language == "en" else 40, 0.6, rng), "\n")


if __name__ == "__main__":
    chosen = sys.argv[1:2] or list(TEXTS)
    if not TEXTS.keys() >= {*chosen}:
        sys.exit(__doc__)
    main(chosen, int(sys.argv[2]) if len(sys.argv) > 2 else STEPS)
